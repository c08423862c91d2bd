/* Two plans of teams compared: totals, tensors by name, devices by number. */
#include "team/team_diff.h"
#include "text/table.h"

static int32_t team_diff_tensor_of(const struct lx_graph *g, const char *name, int32_t guess)
{
    if (guess < g->tensor_count && strcmp(g->tensors[guess].name, name) == 0) return guess;
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (strcmp(g->tensors[t].name, name) == 0) return t;
    return -1;
}

static bool same_grid(const struct lx_team_grid *a, const struct lx_team_grid *b)
{
    return a->axes == b->axes && memcmp(a->size, b->size, sizeof *a->size * (size_t)a->axes) == 0;
}

static bool is_recut(const struct team_change_row *r)
{
    if (r->tensor_before < 0 || r->tensor_after < 0) return true;
    if (!same_grid(&r->before->grid, &r->after->grid)) return true;
    const struct lx_team_tensor *x = &r->before->tensors[r->tensor_before],
                                *y = &r->after->tensors[r->tensor_after];
    return memcmp(x->shard, y->shard, sizeof *x->shard * (size_t)r->before->grid.axes) != 0;
}

static void note_tensor(struct team_diff *d, struct team_change_row row)
{
    if (!is_recut(&row) &&
        team_tensor_bytes(row.before, row.tensor_before) == team_tensor_bytes(row.after, row.tensor_after))
        return;
    d->recut += is_recut(&row);
    d->tensors[d->tensor_count++] = row;
}

struct team_sums {
    int64_t messages, hbm_bytes, hbm_most;
    double waited, links;
};

static struct team_sums sums_of(const struct team_figures *f)
{
    struct team_sums s = {0};
    for (int i = 0; i < f->link_count; i++) s.messages += f->links[i].messages;
    for (int m = 0; m < f->plans->team->devices; m++) {
        const struct team_device_figures *x = &f->devices[m];
        s.hbm_bytes += x->hbm_bytes;
        if (x->hbm_bytes > s.hbm_most) s.hbm_most = x->hbm_bytes;
        if (x->waited > s.waited) s.waited = x->waited;
        if (x->links > s.links) s.links = x->links;
    }
    return s;
}

/* Do all devices take the same steps? */
static bool same_steps(const struct lx_team_plan *a, const struct lx_team_plan *b)
{
    bool same = a->step_count == b->step_count;
    for (int32_t s = 0; same && s < a->step_count; s++)
        same = a->steps[s].kind == b->steps[s].kind && a->steps[s].piece == b->steps[s].piece &&
               strcmp(team_step_name(a, s), team_step_name(b, s)) == 0;
    return same;
}

void team_diff_make(const struct team_figures *before, const struct team_figures *after,
                    struct team_diff *out)
{
    const struct lx_team_plan *a = before->plans->team, *b = after->plans->team;
    size_t tensors = (size_t)a->graph->tensor_count + (size_t)b->graph->tensor_count;
    *out = (struct team_diff){.before = before, .after = after};
    out->tensors = mem_alloc((tensors + 1) * sizeof *out->tensors);
    out->devices = mem_alloc((size_t)a->devices * sizeof *out->devices);
    out->same_grid = same_grid(&a->grid, &b->grid);
    out->same_steps = same_steps(a, b);
    struct team_sums x = sums_of(before), y = sums_of(after);
    const struct team_total_row rows[TEAM_TOTALS] = {
        {"exchanged_bytes", "exchanged", (double)a->bytes, (double)b->bytes, false},
        {"combine_bytes", "to combine", (double)a->combine_bytes, (double)b->combine_bytes, false},
        {"messages", "messages", (double)x.messages, (double)y.messages, false},
        {"hbm_bytes", "HBM of all", (double)x.hbm_bytes, (double)y.hbm_bytes, false},
        {"hbm_most", "of one device", (double)x.hbm_most, (double)y.hbm_most, false},
        {"link_us", "on links", x.links, y.links, true},
        {"waited_us", "waited", x.waited, y.waited, true},
        {"us", "predicted", before->clock->us, after->clock->us, true},
    };
    memcpy(out->totals, rows, sizeof rows);
    for (int32_t t = 0; t < a->graph->tensor_count; t++)
        note_tensor(out, (struct team_change_row){
                             a, b, t, team_diff_tensor_of(b->graph, a->graph->tensors[t].name, t)});
    for (int32_t t = 0; t < b->graph->tensor_count; t++)
        if (team_diff_tensor_of(a->graph, b->graph->tensors[t].name, t) < 0)
            note_tensor(out, (struct team_change_row){a, b, -1, t});
    for (int m = 0; a->devices == b->devices && m < a->devices; m++) {
        const struct team_device_figures *one = &before->devices[m], *two = &after->devices[m];
        if (one->us != two->us || one->busy != two->busy || one->hbm_bytes != two->hbm_bytes ||
            one->ops != two->ops || one->sent_bytes != two->sent_bytes)
            out->devices[out->device_count++] = (struct team_device_change){one, two};
    }
}

void team_diff_free(struct team_diff *d)
{
    mem_free(d->tensors);
    mem_free(d->devices);
    *d = (struct team_diff){0};
}

bool team_diff_is_equal(const struct team_diff *d)
{
    return d->same_grid && d->same_steps && d->tensor_count == 0 && d->device_count == 0;
}

/* Differences of two teams' plans as tables, in words and as JSON. */

static void total_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct team_total_row *row = row_of_table;
    double n = column->argument == 0   ? row->before
               : column->argument == 1 ? row->after
                                       : row->before - row->after;
    const char *sign = column->argument == 2 && n > 0 ? "+" : "";
    if (column->argument == 2 && n < 0) v->paint = PAINT_BAD;
    if (row->is_time) {
        v->number = n;
        value_format(v, "%s%s", sign, in_micros(n).at);
    } else {
        value_whole(v, llround(n));
        value_format(v, "%s%s", sign, grouped(llround(n)).at);
    }
}

/* clang-format off */
VALUE_OF(total_key_value,   struct team_total_row, v->words = row->key;)
VALUE_OF(total_words_value, struct team_total_row, v->words = row->words;)

static const struct column total_array[] = {
    {.key = "what",                       .kind = VALUE_WORDS, .value = total_key_value},
    {.key = "words",  .heading = "team",  .kind = VALUE_WORDS, .flags = COLUMN_PEOPLE, .value = total_words_value},
    {.key = "before", .heading = "before",.kind = VALUE_RATIO, .digits = 12, .argument = 0, .value = total_value},
    {.key = "after",  .heading = "after", .kind = VALUE_RATIO, .digits = 12, .argument = 1, .value = total_value},
    {.key = "gain",   .heading = "gain",  .kind = VALUE_RATIO, .digits = 12, .argument = 2, .value = total_value},
};
/* clang-format on */

static void team_diff_words_state_value(const void *row_of_table, const struct column *column,
                                        struct value *v)
{
    const struct team_change_row *row = row_of_table;
    bool second = column->argument == 1;
    const struct lx_team_plan *p = second ? row->after : row->before;
    int32_t tensor = second ? row->tensor_after : row->tensor_before;
    if (tensor < 0)
        text_add(&v->made, "not there");
    else
        add_state(&p->grid, p->tensors[tensor].shard, &v->made);
    v->words = v->made.at;
}

static int64_t team_diff_words_bytes_of(const struct lx_team_plan *p, int32_t tensor)
{
    return tensor < 0 ? 0 : team_tensor_bytes(p, tensor);
}

static void team_diff_words_gain_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct team_change_row *row = row_of_table;
    int64_t gain = team_diff_words_bytes_of(row->before, row->tensor_before) -
                   team_diff_words_bytes_of(row->after, row->tensor_after);
    (void)column;
    value_whole(v, gain);
    v->paint = gain < 0 ? PAINT_BAD : PAINT_PLAIN;
    value_format(v, "%s%s", gain > 0 ? "+" : "", grouped(gain).at);
}

static const char *team_diff_words_name_of(const struct team_change_row *row)
{
    return row->tensor_before >= 0 ? row->before->graph->tensors[row->tensor_before].name
                                   : row->after->graph->tensors[row->tensor_after].name;
}

/* clang-format off */
VALUE_OF(name_value,   struct team_change_row, v->words = team_diff_words_name_of(row);)
VALUE_OF(before_value, struct team_change_row, value_dim(v, team_diff_words_bytes_of(row->before, row->tensor_before));)
VALUE_OF(after_value,  struct team_change_row, value_dim(v, team_diff_words_bytes_of(row->after, row->tensor_after));)

static const struct column change_array[] = {
    {.key = "tensor",       .heading = "tensor",         .kind = VALUE_NAME,  .value = name_value},
    {.key = "cut_before",   .heading = "before",         .kind = VALUE_WORDS, .argument = 0, .value = team_diff_words_state_value},
    {.key = "cut_after",    .heading = "after",          .kind = VALUE_WORDS, .argument = 1, .value = team_diff_words_state_value},
    {.key = "bytes_before", .heading = "received before",.kind = VALUE_BYTES, .value = before_value},
    {.key = "bytes_after",  .heading = "after",          .kind = VALUE_BYTES, .value = after_value},
    {.key = "gain_bytes",   .heading = "gain",           .kind = VALUE_BYTES, .value = team_diff_words_gain_value},
};

VALUE_OF(device_value,     struct team_device_change, v->number = row->before->device;)
VALUE_OF(hbm_before_value, struct team_device_change, value_whole(v, row->before->hbm_bytes);)
VALUE_OF(hbm_after_value,  struct team_device_change, value_whole(v, row->after->hbm_bytes);)
VALUE_OF(busy_before_value,struct team_device_change, v->number = row->before->busy;)
VALUE_OF(busy_after_value, struct team_device_change, v->number = row->after->busy;)
VALUE_OF(wait_before_value,struct team_device_change, v->number = row->before->waited;)
VALUE_OF(wait_after_value, struct team_device_change, v->number = row->after->waited;)
VALUE_OF(us_before_value,  struct team_device_change, v->number = row->before->us;)
VALUE_OF(us_after_value,   struct team_device_change, v->number = row->after->us;)

static const struct column device_array[] = {
    {.key = "member",           .heading = "device",      .kind = VALUE_NUMBER, .value = device_value},
    {.key = "hbm_bytes_before", .heading = "HBM before",  .kind = VALUE_BYTES,  .value = hbm_before_value},
    {.key = "hbm_bytes_after",  .heading = "after",       .kind = VALUE_BYTES,  .value = hbm_after_value},
    {.key = "busy_us_before",   .heading = "busy",    .kind = VALUE_MICROS, .digits = 9, .value = busy_before_value},
    {.key = "busy_us_after",    .heading = "after",       .kind = VALUE_MICROS, .digits = 9, .value = busy_after_value},
    {.key = "waited_us_before", .heading = "waits",       .kind = VALUE_MICROS, .digits = 9, .value = wait_before_value},
    {.key = "waited_us_after",  .heading = "after",       .kind = VALUE_MICROS, .digits = 9, .value = wait_after_value},
    {.key = "us_before",        .heading = "done at",     .kind = VALUE_MICROS, .digits = 9, .value = us_before_value},
    {.key = "us_after",         .heading = "after",       .kind = VALUE_MICROS, .digits = 9, .value = us_after_value},
};
/* clang-format on */

const struct columns team_total_columns = COLUMNS("totals of two teams", total_array);
const struct columns team_change_columns = COLUMNS("tensors that two teams shard differently", change_array);
const struct columns team_device_change_columns = COLUMNS("devices of two teams", device_array);

static void team_diff_words_add_side(const char *word, const struct team_figures *f, struct text *out)
{
    const struct lx_team_plan *p = f->plans->team;
    text_add(out, word);
    add_grid(p, out);
    text_format(out, ": %s received", in_bytes(p->bytes + p->combine_bytes).at);
    text_format(out, ", %s predicted\n", in_micros(f->clock->us).at);
}

void team_diff_text(const struct team_diff *d, struct text *out)
{
    if (d->before->plans->team->graph->hash != d->after->plans->team->graph->hash)
        text_add(out, "The patterns have one name but differ; tensors are compared by name.\n");
    team_diff_words_add_side("before: ", d->before, out);
    team_diff_words_add_side("after:  ", d->after, out);
    if (team_diff_is_equal(d)) {
        text_add(out, "Every tensor is sharded as before, and every device does the same.\n");
        return;
    }
    const struct lx_team_plan *a = d->before->plans->team, *b = d->after->plans->team;
    int64_t bytes = a->bytes + a->combine_bytes - b->bytes - b->combine_bytes;
    double us = d->before->clock->us - d->after->clock->us;
    text_format(out, "%s %s", in_bytes(bytes < 0 ? -bytes : bytes).at,
                bytes < 0 ? "more exchanged" : "less exchanged");
    text_format(out, ", %s %s", in_micros(fabs(us)).at, us < 0 ? "slower" : "faster");
    text_format(out, ", %s sharded differently\n", counted(d->recut, "tensor").at);
    text_add(out, "\n");
    table_add_text(&TABLE(team_total_columns, d->totals, TEAM_TOTALS), out);
    if (d->tensor_count) {
        text_add(out, "\n");
        table_add_text(&TABLE(team_change_columns, d->tensors, d->tensor_count), out);
    }
    if (d->device_count) {
        text_add(out, "\n");
        table_add_text(&TABLE(team_device_change_columns, d->devices, d->device_count), out);
    }
    if (!d->tensor_count && !d->same_steps)
        text_add(out, "\nDevices take other steps, or in another order.\n");
}

static void team_diff_words_add_list(const char *key, const struct table *t, bool last, struct text *out)
{
    text_format(out, "  \"%s\": [\n", key);
    table_add_json_rows(t, 4, out);
    text_format(out, "%s  ]%s\n", t->row_count ? "\n" : "", last ? "" : ",");
}

void team_diff_json(const struct team_diff *d, struct text *out)
{
    static const char *const truth[] = {"false", "true"};
    const struct lx_team_plan *a = d->before->plans->team, *b = d->after->plans->team;
    text_add(out, "{\n  \"lxplan\": 1,\n  \"kind\": \"team diff\",\n  \"pattern\": ");
    text_json_string(out, b->graph->name);
    text_format(out, ",\n  \"same_pattern\": %s,\n  \"same_grid\": %s,\n  \"equal\": %s,\n",
                truth[a->graph->hash == b->graph->hash], truth[d->same_grid], truth[team_diff_is_equal(d)]);
    team_diff_words_add_list("totals", &TABLE(team_total_columns, d->totals, TEAM_TOTALS), false, out);
    team_diff_words_add_list("tensors", &TABLE(team_change_columns, d->tensors, d->tensor_count), false, out);
    team_diff_words_add_list("members", &TABLE(team_device_change_columns, d->devices, d->device_count), true,
                             out);
    text_add(out, "}\n");
}
