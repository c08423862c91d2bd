/* The values of a sweep as tables: for programs a row per value and a row per size that was searched for; for
 * people a row per size with a column per solver. */
#include "sweep/sweep_out.h"

static const char *const find_words[FIND_COUNT] = {[FIND_PLAN] = "plan", [FIND_FIT] = "fit"};

static bool is_planned(const struct sweep_value *v)
{
    return v->state == SWEEP_PLANNED;
}

static void sweep_tables_bytes_of(const struct sweep_row *row, int64_t n, struct value *v)
{
    v->number = NAN;
    if (is_planned(row->value)) value_whole(v, n);
}

/* clang-format off */
VALUE_OF(state_value,  struct sweep_row, v->words = sweep_state_word((enum sweep_state)row->value->state);)
VALUE_OF(find_value,   struct sweep_row, v->words = find_words[row->find];)
VALUE_OF(hbm_value,    struct sweep_row, sweep_tables_bytes_of(row, row->value->hbm, v);)
VALUE_OF(least_value,  struct sweep_row, sweep_tables_bytes_of(row, row->value->least, v);)
VALUE_OF(gap_value,    struct sweep_row,
    const struct sweep_value *at = row->value;
    double shown = sweep_shown(row->sweep, at), least = row->sweep->by_time ? at->least_us : (double)at->least;
    v->number = !is_planned(at) ? NAN : shown <= least ? 0 : least > 0 ? (shown - least) / least : NAN;)
VALUE_OF(spill_value,  struct sweep_row, sweep_tables_bytes_of(row, row->value->spill, v);)
VALUE_OF(height_value, struct sweep_row, sweep_tables_bytes_of(row, row->value->height, v);)
VALUE_OF(us_value,     struct sweep_row, v->number = is_planned(row->value) && !row->sweep->graph->list ? row->value->us : NAN;)
VALUE_OF(least_us_value, struct sweep_row, v->number = is_planned(row->value) && row->value->least_us > 0 ? row->value->least_us : NAN;)
VALUE_OF(proved_value, struct sweep_row, v->number = is_planned(row->value) ? row->value->proved : NAN;)
VALUE_OF(fits_value,   struct sweep_row, v->number = is_planned(row->value) ? row->value->fits : NAN;)
VALUE_OF(nests_value,  struct sweep_row, sweep_tables_bytes_of(row, row->value->nests, v);)
VALUE_OF(iterations_value, struct sweep_row, sweep_tables_bytes_of(row, row->value->iterations, v);)

static const struct column point_array[] = {
    {.key = "cores",         .heading = "cores",      .kind = VALUE_NUMBER, VIA(struct sweep_row, line, cores)},
    {.key = "lx",            .heading = "LX",         .kind = VALUE_BYTES,  VIA(struct sweep_row, value, lx)},
    {.key = "solver",        .heading = "solver",     .kind = VALUE_NAME,   VIA(struct sweep_row, line, solver)},
    {.key = "state",         .heading = "state",      .kind = VALUE_WORDS,  .value = state_value},
    {.key = "hbm_bytes",     .heading = "HBM bytes",  .kind = VALUE_BYTES,  .value = hbm_value},
    {.key = "least_bytes",   .heading = "proven least", .kind = VALUE_BYTES, .value = least_value},
    {.key = "gap",           .heading = "gap",        .kind = VALUE_SHARE,  .digits = 6, .value = gap_value},
    {.key = "spill_bytes",   .heading = "spill",      .kind = VALUE_BYTES,  .value = spill_value},
    {.key = "height_bytes",  .heading = "height",     .kind = VALUE_BYTES,  .value = height_value},
    {.key = "end_to_end_us", .heading = "end to end", .kind = VALUE_MICROS, .digits = 9, .value = us_value},
    {.key = "least_us",      .heading = "least",      .kind = VALUE_MICROS, .digits = 9, .value = least_us_value},
    {.key = "proved",        .heading = "proved",     .kind = VALUE_BOOL,   .value = proved_value},
    {.key = "fits",          .heading = "no spill",   .kind = VALUE_BOOL,   .value = fits_value},
    {.key = "nests",         .heading = "nests",      .kind = VALUE_COUNT,  .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, .value = nests_value},
    {.key = "iterations",    .heading = "iterations", .kind = VALUE_COUNT,  .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, .value = iterations_value},
    {.key = "why",           .heading = "why",        .kind = VALUE_WORDS,  .flags = COLUMN_MAY_LACK, VIA(struct sweep_row, value, why)},
};
static const struct column knee_array[] = {
    {.key = "cores",  .heading = "cores",     .kind = VALUE_NUMBER, VIA(struct sweep_row, line, cores)},
    {.key = "solver", .heading = "solver",    .kind = VALUE_NAME,   VIA(struct sweep_row, line, solver)},
    {.key = "from",   .heading = "from here", .kind = VALUE_WORDS,  .value = find_value},
    {.key = "lx",     .heading = "LX",        .kind = VALUE_BYTES,  VIA(struct sweep_row, value, lx)},
    {.key = "hbm_bytes", .heading = "HBM bytes", .kind = VALUE_BYTES, .value = hbm_value},
};
/* clang-format on */

const struct columns sweep_point_columns = COLUMNS("values of a sweep", point_array);
const struct columns sweep_knee_columns = COLUMNS("knees of a sweep", knee_array);

/* All values, line by line. */
static struct sweep_row *point_rows(const struct sweep *s, size_t *count)
{
    *count = s->lines.count * s->sizes.count;
    struct sweep_row *rows = mem_alloc((*count + 1) * sizeof *rows);
    for (size_t l = 0, n = 0; l < s->lines.count; l++)
        for (size_t i = 0; i < s->sizes.count; i++, n++)
            rows[n] = (struct sweep_row){s, &s->lines.at[l], &s->lines.at[l].at[i], i, FIND_PLAN};
    return rows;
}

void sweep_csv(const struct sweep *s, const struct sweep_paper *how, struct text *out)
{
    size_t count;
    OWNED struct sweep_row *rows = point_rows(s, &count);
    (void)how;
    exporter_find("csv")->add(&TABLE(sweep_point_columns, rows, count), out);
}

void sweep_json_named(const struct sweep *s, const char *name, struct text *out)
{
    size_t points, knees = 0;
    OWNED struct sweep_row *rows = point_rows(s, &points),
                           *found = mem_alloc((s->lines.count * FIND_COUNT + 1) * sizeof *found);
    for (size_t l = 0; l < s->lines.count; l++)
        for (int f = 0; f < FIND_COUNT; f++)
            if (is_planned(&s->lines.at[l].found[f]))
                found[knees++] =
                    (struct sweep_row){s, &s->lines.at[l], &s->lines.at[l].found[f], 0, (enum sweep_find)f};
    text_add(out, "{\"lxplan\": 1, \"kind\": \"sweep\",\n\"pattern\": ");
    text_json_string(out, name);
    text_format(out, ",\n\"value\": \"%s\",\n\"of\": ", s->by_time ? "end_to_end_us" : "hbm_bytes");
    text_json_string(out, sweep_value_name(s));
    text_add(out, ",\n\"words\": [");
    for (size_t l = 0; l < s->lines.count; l++) {
        SCOPED(text_free) struct text words = {0};
        sweep_say(s, &s->lines.at[l], false, &words);
        text_add(out, l ? ", " : "");
        text_json_string(out, words.at ? words.at : "");
    }
    text_add(out, "],\n\"knees\": [\n");
    table_add_json_rows(&TABLE(sweep_knee_columns, found, knees), 2, out);
    text_add(out, "],\n\"points\": [\n");
    table_add_json_rows(&TABLE(sweep_point_columns, rows, points), 2, out);
    text_add(out, "]}\n");
}

void sweep_json(const struct sweep *s, const struct sweep_paper *how, struct text *out)
{
    (void)how;
    sweep_json_named(s, s->graph->name, out);
}

/* A row per size. */
struct size_row {
    const struct sweep *sweep;
    const struct sweep_line *lines; /* of its cores */
    size_t size;
};

/* clang-format off */
VALUE_OF(bound_value, struct size_row,
    v->number = sweep_least(row->sweep, row->lines->cores, row->size);
    v->paint = PAINT_DIM;
    if (!row->sweep->by_time && isfinite(v->number)) value_whole(v, (int64_t)v->number);)
VALUE_OF(shown_value, struct size_row,
    const struct sweep_value *at = &row->lines[column->argument].at[row->size];
    v->number = sweep_shown(row->sweep, at);
    if (is_planned(at) && !row->sweep->by_time) value_whole(v, at->hbm);
    if (is_planned(at) && at->proved && !row->sweep->by_time) v->paint = PAINT_GOOD;
    if (at->state == SWEEP_REFUSED || at->state == SWEEP_LOST)
        v->words = sweep_state_word((enum sweep_state)at->state), v->paint = PAINT_BAD;)
VALUE_OF(size_value, struct size_row, value_whole(v, row->sweep->sizes.at[row->size]);)
/* clang-format on */

static bool same_at(const struct sweep *s, size_t first, size_t a, size_t b)
{
    bool same = true;
    for (size_t k = 0; same && k < (size_t)s->solver_count; k++) {
        const struct sweep_value *at = s->lines.at[first + k].at;
        same = at[a].state == at[b].state && at[a].hbm == at[b].hbm && at[a].us == at[b].us &&
               at[a].least == at[b].least && at[a].proved == at[b].proved;
    }
    return same;
}

/* The sizes worth a row, and a note about the others. */
static size_t shown_sizes(const struct sweep *s, size_t first, struct size_row *rows, struct text *notes)
{
    size_t shown = 0, unplanned = 0;
    for (size_t i = 0; i < s->sizes.count; i++) {
        int k = 0; /* the first line that has got to it */
        while (k < s->solver_count && s->lines.at[first + (size_t)k].at[i].state == SWEEP_UNKNOWN) k++;
        if (k == s->solver_count)
            unplanned++;
        else if (i <= 0 || i + 1 >= s->sizes.count || !same_at(s, first, i, i - 1) ||
                 !same_at(s, first, i, i + 1))
            rows[shown++] = (struct size_row){s, &s->lines.at[first], i};
    }
    size_t between = s->sizes.count - shown - unplanned;
    if (between)
        text_format(notes, "  %s between equal ones left out; --format csv has all\n",
                    counted((int64_t)between, "size").at);
    if (unplanned) text_format(notes, "  %s not planned\n", counted((int64_t)unplanned, "size").at);
    return shown;
}

void sweep_add_table(const struct sweep *s, int64_t cores, struct text *out)
{
    enum value_kind kind = s->by_time ? VALUE_MICROS : VALUE_BYTES;
    size_t n = (size_t)s->solver_count + 2, first = 0;
    OWNED struct column *columns = mem_zeroed(n, sizeof *columns);
    OWNED struct size_row *rows = mem_zeroed(s->sizes.count + 1, sizeof *rows);
    while (first < s->lines.count && s->lines.at[first].cores != cores) first++;
    if (first < s->lines.count) {
        columns[0] = (struct column){.key = "lx",
                                     .heading = s->graph->list ? "capacity" : "LX bytes",
                                     .kind = VALUE_BYTES,
                                     .value = size_value};
        for (int k = 0; k < s->solver_count; k++)
            columns[k + 1] = (struct column){.key = s->lines.at[first + (size_t)k].solver,
                                             .heading = s->lines.at[first + (size_t)k].solver,
                                             .kind = kind,
                                             .argument = k,
                                             .value = shown_value};
        columns[n - 1] = (struct column){.key = "least",
                                         .heading = "proven least",
                                         .kind = kind,
                                         .flags = COLUMN_MAY_HIDE,
                                         .value = bound_value};
        SCOPED(text_free) struct text notes = {0};
        size_t shown = shown_sizes(s, first, rows, &notes);
        if (shown) table_add_text(&TABLE(((struct columns){"sizes", columns, n}), rows, shown), out);
        text_add(out, notes.at ? notes.at : "");
    }
}
