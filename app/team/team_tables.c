/* A team's plan for people: tables of tensors, ops, exchanges and devices, and totals. */
#include "team/team_show.h"
#include "commands/team_commands.h"
#include "text/table.h"

enum { MOST_ROWS = 40 };

/* One tensor, op or exchange of a team's plan, by its number. */
struct team_row {
    const struct lx_team_plan *plan;
    int32_t i;
};

/* At most MOST_ROWS of n rows, and how many more there are. */
static void team_tables_write_rows(const struct lx_team_plan *p, struct columns columns, int32_t n,
                                   const char *thing, struct text *out)
{
    int32_t shown = n < MOST_ROWS ? n : MOST_ROWS;
    OWNED struct team_row *rows = mem_alloc(((size_t)shown + 1) * sizeof *rows);
    for (int32_t i = 0; i < shown; i++) rows[i] = (struct team_row){p, i};
    table_add_text(&TABLE(columns, rows, shown), out);
    if (thing && n > shown) text_format(out, "  ... %s more\n", counted(n - shown, thing).at);
}

#define TENSOR  (&row->plan->graph->tensors[row->i])
#define OP      (&row->plan->graph->ops[row->i])
#define TEAM_OP (&row->plan->ops[row->i])
#define XCHANGE (&row->plan->exchanges[row->i])

static void cut_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct team_row *row = row_of_table;
    (void)column;
    /* "dimension 0: 171 + 171" */
    int32_t tensor = row->i;
    const struct lx_team_tensor *x = &row->plan->tensors[tensor];
    bool any = false;
    if (lx_team_is_replicated(x)) text_add(&v->made, "replicated");
    for (int d = 0; d < row->plan->graph->tensors[tensor].rank; d++) {
        const int64_t *bound = x->bound[d];
        int blocks = lx_team_blocks(&row->plan->grid, x->shard, d);
        if (!bound) continue;
        text_format(&v->made, "%sdimension %d: ", any ? ", " : "", d);
        any = true;
        for (int b = 0; b < blocks && b < 8; b++)
            text_format(&v->made, "%s%lld", b ? " + " : "", (long long)(bound[b + 1] - bound[b]));
        if (blocks > 8) text_add(&v->made, " + ...");
    }
    if (lx_team_is_partial(x)) text_add(&v->made, any ? ", partial sums" : "partial sums on every device");
    v->words = v->made.at;
    v->paint = lx_team_is_replicated(&row->plan->tensors[row->i]) ? PAINT_DIM : PAINT_PLAIN;
}

static void core_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct team_row *row = row_of_table;
    const struct lx_team_group *g = TEAM_OP->group >= 0 ? &row->plan->groups[TEAM_OP->group] : NULL;
    (void)column;
    v->paint = PAINT_DIM;
    for (int m = 0; g && g->core && m < row->plan->devices && m < 4; m++)
        for (int l = 0; l < g->core[m].loops; l++)
            value_format(v, "%s%lld",
                         l   ? " x "
                         : m ? ", "
                             : "",
                         (long long)(g->core[m].range[l].end - g->core[m].range[l].begin));
}

static void received_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct team_row *row = row_of_table;
    (void)column;
    for (int m = 0; m < row->plan->devices && m < 8; m++)
        value_format(v, "%s%s", m ? ", " : "", grouped(XCHANGE->received[m]).at);
}

/* clang-format off */
VALUE_OF(tensor_value, struct team_row, v->words = TENSOR->name;)
VALUE_OF(role_value,   struct team_row, v->words = lx_role_word(TENSOR->role); v->paint = PAINT_DIM;)

static const struct column cut_array[] = {
    {.key = "tensor", .heading = "tensor", .kind = VALUE_NAME,  .value = tensor_value},
    {.key = "role",   .heading = "role",   .kind = VALUE_WORDS, .value = role_value},
    {.key = "cut",    .heading = "shards", .kind = VALUE_WORDS, .value = cut_value},
};

VALUE_OF(op_value,     struct team_row, v->words = OP->name;)
VALUE_OF(kind_value,   struct team_row, v->words = OP->kind->name; v->paint = PAINT_DIM;)
VALUE_OF(how_value,    struct team_row, v->words = lx_team_mode_word(TEAM_OP->mode);)
VALUE_OF(bytes_value,  struct team_row, value_dim(v, TEAM_OP->bytes);)

static const struct column op_array[] = {
    {.key = "op",    .heading = "op",             .kind = VALUE_NAME,  .value = op_value},
    {.key = "kind",  .heading = "kind",           .kind = VALUE_WORDS, .value = kind_value},
    {.key = "mode",  .heading = "how",            .kind = VALUE_WORDS, .value = how_value},
    {.key = "bytes", .heading = "bytes received", .kind = VALUE_BYTES, .value = bytes_value},
    {.key = "core",  .heading = "inner",          .kind = VALUE_WORDS, .value = core_value},
};

VALUE_OF(of_value,       struct team_row, v->words = row->plan->graph->tensors[XCHANGE->tensor].name;)
VALUE_OF(pattern_value,  struct team_row, v->words = lx_team_pattern_word(XCHANGE->pattern); v->paint = PAINT_DIM;)
VALUE_OF(for_value,      struct team_row, v->words = row->plan->graph->ops[XCHANGE->first_reader].name;)
VALUE_OF(reads_value,    struct team_row, v->number = XCHANGE->reads;)
VALUE_OF(moved_value,    struct team_row, value_whole(v, XCHANGE->bytes);)
VALUE_OF(separate_value, struct team_row, value_whole(v, XCHANGE->separate_bytes); v->paint = PAINT_DIM;)

static const struct column exchange_array[] = {
    {.key = "tensor",         .heading = "exchange of",             .kind = VALUE_NAME,   .value = of_value},
    {.key = "pattern",        .heading = "pattern",                 .kind = VALUE_WORDS,  .value = pattern_value},
    {.key = "first_reader",   .heading = "for",                     .kind = VALUE_NAME,   .value = for_value},
    {.key = "reads",          .heading = "reads",                   .kind = VALUE_NUMBER, .value = reads_value},
    {.key = "bytes",          .heading = "bytes",                   .kind = VALUE_BYTES,  .value = moved_value},
    {.key = "separate_bytes", .heading = "one by one",              .kind = VALUE_BYTES,  .value = separate_value},
    {.key = "received",       .heading = "received by each device", .kind = VALUE_WORDS,  .value = received_value},
};
/* clang-format on */

#undef TENSOR
#undef OP
#undef TEAM_OP
#undef XCHANGE

const struct columns team_cut_columns = COLUMNS("cuts of a team", cut_array);
const struct columns team_op_columns = COLUMNS("ops of a team", op_array);
const struct columns team_exchange_columns = COLUMNS("exchanges of a team", exchange_array);

void show_exchanges(const struct lx_team_plan *p, struct text *out)
{
    if (p->exchange_count) team_tables_write_rows(p, team_exchange_columns, p->exchange_count, NULL, out);
}

/* The proven bound. */
static void show_least(const struct lx_team_plan *p, struct text *out)
{
    int64_t moved = p->bytes + p->combine_bytes, least = p->bound_bytes;
    if (least < 0 || moved == 0) return;
    if (least == moved)
        text_add(out, "\nproved    least exchange for these input shards and the shards given");
    else if (least > 0)
        text_format(out, "\nbound     %s for these input shards and the shards given; this is %s above it",
                    in_bytes(least).at, in_percent((double)(moved - least) / (double)least).at);
    else
        text_add(out, "\nbound     none proved: devices may compute more themselves and exchange less");
}

void show_totals(const struct lx_team_plan *p, struct text *out)
{
    text_format(out, "exchanged %s in %s", in_bytes(p->bytes).at, counted(p->exchange_count, "exchange").at);
    if (p->combine_bytes) text_format(out, ", %s to combine partial results", in_bytes(p->combine_bytes).at);
    if (p->plain_bytes >= 0) text_format(out, "; without the passes %s", in_bytes(p->plain_bytes).at);
    if (p->plain_bytes > 0)
        text_format(out, ", saved %s",
                    in_percent((double)(p->plain_bytes - p->bytes) / (double)p->plain_bytes).at);
    show_least(p, out);
    if (p->predicted_us > 0 && p->bound_us > 0)
        text_format(out, "\npredicted %s; lower bound %s %s", in_micros(p->predicted_us).at,
                    in_micros(p->bound_us).at,
                    p->bound_bytes > 0 ? "for these input shards and the shards given" : "on this grid");
    text_format(out, "\nexpected  %s\n",
                lx_team_is_exact(p) ? "no sums: results equal one device's bit for bit"
                : p->exact ? "no sum is split over devices, but its cores may group it differently than one "
                             "device does; last bits may differ"
                           : "a sum is split: partial sums are added in the order of the devices");
}

void show_team(const struct lx_team_plans *p, struct text *out)
{
    add_printable(out, p->team->graph->name, 0);
    text_add(out, ": ");
    add_grid(p->team, out);
    text_add(out, "\n\n");
    team_tables_write_rows(p->team, team_cut_columns, p->team->graph->tensor_count, "tensor", out);
    text_add(out, "\n");
    team_tables_write_rows(p->team, team_op_columns, p->team->graph->op_count, "op", out);
    text_add(out, "\n");
    show_exchanges(p->team, out);
    show_totals(p->team, out);
    text_add(out, "\n");
    OWNED struct lx_team_account *accounts = mem_zeroed((size_t)p->team->devices, sizeof *accounts);
    for (int m = 0; m < p->team->devices; m++) accounts[m] = lx_team_planned(p, m);
    show_devices(accounts, p->team->devices, false, out);
}
