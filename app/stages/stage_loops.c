/* lxplan plan --stage loops: the loop nest of a tile of each op of the plan, before and after the passes:
 * what a core does in one turn of its loop. */
#include "stages/stages.h"
#include "text/table.h"

/* A core has one thread: nothing is shared inside it. */
enum { CORE_THREADS = 1 };

/* One op and its nest, before and after the passes; without a nest only `how` says something: why. */
struct nest_row {
    const struct lx_op *op;
    int32_t tick;
    struct lx_op_nest nest;
    struct lx_loops after;
};

static bool has_nest(const struct nest_row *row)
{
    return row->nest.kind != LX_NEST_NONE;
}

/* "m 8, n 64 prim, ..." in the order of the loops. */
static void stage_loops_add_loops(const struct nest_row *row, const struct lx_loops *l, struct value *v)
{
    for (int i = 0; has_nest(row) && i < l->count; i++)
        value_format(v, "%s%s %lld%s%s", i ? ", " : "", lx_loop_type_word(l->loop[i].type),
                     (long long)l->loop[i].size, l->loop[i].exec == LX_EXEC_SEQ ? "" : " ",
                     l->loop[i].exec == LX_EXEC_SEQ ? "" : lx_loop_exec_word(l->loop[i].exec));
}

static void where_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct lx_op_nest *n = &((const struct nest_row *)row_of_table)->nest;
    (void)column;
    if (n->kind == LX_NEST_NONE) return;
    value_format(v, "%c%c%c", n->on_chip[LX_LOOP_IN0] ? 'L' : 'H',
                 n->kind == LX_NEST_MOVE   ? '-'
                 : n->on_chip[LX_LOOP_IN1] ? 'L'
                                           : 'H',
                 n->on_chip[LX_LOOP_OUT] ? 'L' : 'H');
}

static void stage_loops_how_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct lx_op_nest *n = &((const struct nest_row *)row_of_table)->nest;
    (void)column;
    v->paint = PAINT_DIM;
    if (n->kind == LX_NEST_NONE)
        v->words = n->why;
    else
        v->words = n->swapped ? "in0 is the second input" : "";
}

/* clang-format off */
VALUE_OF(kind_value,  struct nest_row, v->words = row->op->kind->name;)
VALUE_OF(main_value,  struct nest_row, v->words = has_nest(row) ? lx_touch_word(row->after.main) : "";)
VALUE_OF(loops_value, struct nest_row, stage_loops_add_loops(row, &row->nest.nest, v);)
VALUE_OF(after_value, struct nest_row, stage_loops_add_loops(row, &row->after, v);)

static const struct column nest_array[] = {
    {.key = "tick",      .heading = "tick",             .kind = VALUE_NUMBER, .flags = COLUMN_DIM, MEMBER(struct nest_row, tick)},
    {.key = "op",        .heading = "op",               .kind = VALUE_NAME,   VIA(struct nest_row, op, name)},
    {.key = "kind",      .heading = "kind",             .kind = VALUE_WORDS,  .value = kind_value},
    {.key = "main",      .heading = "main",             .kind = VALUE_WORDS,  .value = main_value},
    {.key = "where",     .heading = "where",            .kind = VALUE_WORDS,  .value = where_value},
    {.key = "input",     .heading = "a tile's loops",   .kind = VALUE_WORDS,  .value = loops_value},
    {.key = "optimised", .heading = "after the passes", .kind = VALUE_WORDS,  .value = after_value},
    {.key = "how",       .heading = "",                 .kind = VALUE_WORDS,  .value = stage_loops_how_value},
};
/* clang-format on */

const struct columns nest_columns = COLUMNS("nests", nest_array);

static void stage_loops_add_json(const struct nest_row *row, struct text *t)
{
    const struct lx_op_nest *n = &row->nest;
    text_format(t, "%s\n  {\"tick\": %d, \"op\": ", row->tick ? "," : "", (int)row->tick);
    text_json_string(t, row->op->name);
    text_format(t, ", \"kind\": \"%s\", \"nest\": \"%s\"", row->op->kind->name, lx_nest_kind_word(n->kind));
    if (n->kind == LX_NEST_NONE) {
        text_add(t, ", \"why\": ");
        text_json_string(t, n->why);
    } else {
        static const char *const names[] = {"in0", "in1", "out"};
        text_format(t, ", \"swapped\": %s, \"on_chip\": {", n->swapped ? "true" : "false");
        for (int i = 0; i < LX_LOOP_OPERANDS; i++)
            text_format(t, "%s\"%s\": %s", i ? ", " : "", names[i], n->on_chip[i] ? "true" : "false");
        text_add(t, "}");
        for (int k = 0; k < 2; k++) {
            size_t length = 0;
            OWNED char *json = lx_loops_to_json(k ? &row->after : &n->nest, &length);
            text_format(t, ",\n   \"%s\": ", k ? "optimised" : "input");
            text_add_n(t, json, length - 1); /* without the newline */
        }
    }
    text_add(t, "}");
}

bool write_nests(struct call *call, const struct lx_plan *p, struct text *out)
{
    const struct lx_graph *g = p->layouts->graph;
    OWNED struct nest_row *rows = mem_alloc(((size_t)g->op_count + 1) * sizeof *rows);
    bool ok = true;
    for (int32_t i = 0; ok && i < g->op_count; i++) {
        struct nest_row *row = &rows[i];
        row->op = &g->ops[i];
        row->tick = i;
        ok = lx_nest_of(p, i, &row->nest, &call->st);
        row->after = row->nest.nest;
        ok = ok &&
             (!has_nest(row) || lx_loops_optimise(&row->after, lx_loop_rules_at(0), CORE_THREADS, &call->st));
    }
    if (ok && wants_json(call)) {
        text_add(out, "{\"lxplan\": 1, \"kind\": \"nests\", \"pattern\": ");
        text_json_string(out, p->graph->name);
        text_format(out, ", \"rules\": \"%s\", \"ops\": [", lx_loop_rules_name(lx_loop_rules_at(0)));
        for (int32_t i = 0; i < g->op_count; i++) stage_loops_add_json(&rows[i], out);
        text_add(out, "\n]}\n");
    } else if (ok) {
        text_format(out, "%s; where: in0, in1, out, L on chip, H in HBM\n", counted(g->op_count, "op").at);
        table_add_text(&TABLE(nest_columns, rows, g->op_count), out);
    }
    return ok;
}
