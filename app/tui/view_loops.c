/* Loops and launch: one core's part of the selected op as a loop nest, before and after each pass, and which
 * core gets which tiles with which runtime arguments. Drawn on a page that is scrolled. */
#include "tui/explorer.h"
#include "base/checked.h"

#include <stdio.h>
#include <string.h>

enum { PAGE = 300, MOST_SIZES = LX_MAX_VARS };

/* One core's extents of the op's variables, in the order in which the einsum names them. */
static int sizes_of(const struct explorer *x, const struct lx_op *op, int64_t *sizes)
{
    const struct lx_division *d = outcome_division(&x->session.shown, x->session.op);
    for (int v = 0; v < op->map->var_count; v++) {
        sizes[v] = op->map->extent[v];
        for (int i = 0; d && i < d->split_count; i++)
            if (d->splits[i].letter == op->map->letter[v]) sizes[v] = d->splits[i].per_core;
    }
    return op->map->var_count;
}

static int draw_nest(struct explorer *x, int row, int columns, const struct lx_loops *l)
{
    for (int i = 0; i < l->count; i++, row++) {
        const struct lx_loop *loop = &l->loop[i];
        static const uint8_t tones[LX_EXEC_COUNT] = {
            [LX_EXEC_SEQ] = TONE_PLAIN, [LX_EXEC_PRIM] = TONE_KEY, [LX_EXEC_SHARED] = TONE_GOOD};
        int indent = 2 + (i < 12 ? i : 12);
        put_format(&x->cells, row, indent, columns - indent, (struct style){.ink = tones[loop->exec]},
                   "%s %s 0..%lld   strides %lld %lld %lld", lx_loop_exec_word(loop->exec),
                   lx_loop_type_word(loop->type), (long long)loop->size, (long long)loop->stride[0],
                   (long long)loop->stride[1], (long long)loop->stride[2]);
    }
    return row;
}

static int draw_passes(struct explorer *x, int row, int columns, struct lx_loops *l)
{
    const struct lx_loop_rules *rules = lx_loop_rules_at(x->loops.rules);
    lx_status st = {0};
    put_format(&x->cells, row++, 0, columns, INK(TITLE), "as lowered: first %s, main %s, last %s",
               lx_touch_word(l->first), lx_touch_word(l->main), lx_touch_word(l->last));
    row = draw_nest(x, row, columns, l);
    for (int i = 0; i < LX_LOOP_PASSES && row < PAGE - 40; i++) {
        const struct lx_loop_pass *pass = lx_loop_pass_at(rules, i);
        struct lx_loops before = *l;
        bool ok = lx_loops_run_pass(l, pass, rules, 1, &st), changed = ok && !lx_loops_equal(&before, l);
        put_format(&x->cells, row, 0, columns, changed ? INK(TITLE) : INK(DIM), "%d %s: %s%s", i + 1,
                   pass->name, pass->summary,
                   !ok       ? ""
                   : changed ? ""
                             : " (nothing to do)");
        row++;
        if (!ok) put_text(&x->cells, row++, 2, columns - 2, INK(BAD), st.text);
        if (changed) row = draw_nest(x, row, columns, l);
    }
    int number = lx_loops_validate(l, rules, &st);
    put_format(&x->cells, row++, 0, columns, number ? INK(BAD) : INK(GOOD),
               number ? "not valid: %s" : "valid; rules %s%s", number ? st.text : lx_loop_rules_name(rules),
               "");
    return row;
}

/* Rows, columns and batch of an output: its last two dimensions, and the others. */
static bool launch_of(const struct explorer *x, const struct lx_op *op, struct lx_launch **out, lx_status *st)
{
    const struct outcome *o = &x->session.shown;
    const struct lx_graph *g = outcome_graph(o);
    const struct lx_tensor *t = &g->tensors[op->output];
    struct lx_launch_operand operands[LX_MAX_INPUTS + 1];
    struct lx_launch_request r = {.operands = operands, .operand_count = op->input_count + 1, .batch = 1};
    for (int k = 0; k <= op->input_count; k++)
        operands[k] = (struct lx_launch_operand){
            .name = g->tensors[operand_tensor(op, k)].name,
            .memory = outcome_on_chip(o, x->session.op, k) ? LX_MEMORY_LX : LX_MEMORY_HBM,
            .placing = LX_INTERLEAVED};
    for (int i = 0; i < t->rank; i++) {
        if (i < t->rank - 2)
            r.batch *= t->shape[i];
        else
            r.output[i - (t->rank - 2) < 0 ? 1 : i - (t->rank - 2)] = t->shape[i];
    }
    if (t->rank == 1) r.output[0] = 1, r.output[1] = t->shape[0];
    if (t->rank < 1) r.output[0] = r.output[1] = 1;
    for (int v = 0; op->map && v < op->map->var_count; v++) {
        bool in_output = false;
        for (int i = 0; i < op->map->rank[op->input_count]; i++)
            in_output |= op->map->index[op->input_count][i] == v;
        if (!in_output) r.k_tiles = max_i64(r.k_tiles, ceil_div_i64(op->map->extent[v], LX_LAUNCH_TILE));
    }
    r.core_grid[0] = g->device.grid_y;
    r.core_grid[1] = g->device.grid_x;
    *out = lx_launch_make(&r, st);
    return *out != NULL;
}

static int draw_launch(struct explorer *x, int row, int columns, const struct lx_op *op)
{
    struct lx_launch *l = NULL;
    lx_status st = {0};
    put_text(&x->cells, row++, 0, columns, INK(TITLE), "launch");
    if (!launch_of(x, op, &l, &st)) {
        put_wrapped(&x->cells, (struct box){row, 2, 3, columns - 2}, INK(BAD), st.text);
        return row + 3;
    }
    put_format(&x->cells, row++, 2, columns - 2, INK(PLAIN),
               "%s, %s: %lld x %lld tiles, batch %lld, k %lld, on %lld x %lld cores",
               lx_partition_word(l->mode), lx_tile_order_word(l->order), (long long)l->mt, (long long)l->nt,
               (long long)l->batch, (long long)l->kt, (long long)l->core_grid[0], (long long)l->core_grid[1]);
    int64_t per_row = max_i64(l->core_grid[1], 1);
    while (per_row > 1 && per_row * 6 > columns - 2) per_row = (per_row + 1) / 2;
    put_text(&x->cells, row++, 2, columns - 2, INK(DIM), "tiles of each core:");
    for (int32_t i = 0; i < l->core_count && row + i / per_row < PAGE - 30; i++)
        put_format(&x->cells, row + (int)(i / per_row), 2 + (int)(i % per_row) * 6, 6,
                   i == x->cores.core  ? INK_ON(CURSOR, CURSOR)
                   : l->cores[i].count ? INK(PLAIN)
                                       : INK(FREE),
                   "%5lld", (long long)l->cores[i].count);
    row += (int)min_i64(ceil_div_i64(l->core_count, per_row), 100);
    if (x->cores.core < l->core_count) {
        int64_t values[LX_LAUNCH_ARGS];
        const struct lx_launch_core *core = &l->cores[x->cores.core];
        struct text line = {0};
        lx_launch_args(l, core, values);
        text_format(&line, "core %lld (%d, %d) is told:", (long long)x->cores.core, core->y, core->x);
        for (int i = 0; i < lx_launch_arg_count(l); i++)
            text_format(&line, " %s %lld", lx_launch_arg_name(i), (long long)values[i]);
        row +=
            put_wrapped(&x->cells, (struct box){row, 2, 3, columns - 2}, INK(PLAIN), line.at ? line.at : "");
        text_free(&line);
    }
    lx_launch_free(l);
    return row;
}

static int draw_page(struct explorer *x, int columns)
{
    const struct lx_graph *g = outcome_graph(&x->session.shown);
    const struct lx_op *op = &g->ops[x->session.op];
    int64_t sizes[MOST_SIZES];
    lx_status st = {0};
    struct lx_loops nest;
    int row = 0;
    put_format(&x->cells, row++, 0, columns, INK(TITLE), "%s = %s %s, one core's part", op->name,
               op->kind->name, op->einsum ? op->einsum : "");
    if (!op->map || !(op->kind->traits & LX_CONTRACTS)) {
        row +=
            put_wrapped(&x->cells, (struct box){row, 0, 3, columns}, INK(DIM),
                        "Not a contraction: the loop passes have nothing to do here. ] goes to the next op.");
        return draw_launch(x, row + 1, columns, op);
    }
    int n = sizes_of(x, op, sizes);
    struct lx_tree *t = lx_tree_parse(op->einsum, sizes, n, &st);
    if (t && lx_tree_lower(t, t->node_count - 1, &nest, NULL, &st))
        row = draw_passes(x, row, columns, &nest);
    else
        row += 1 + put_wrapped(&x->cells, (struct box){row, 0, 4, columns}, INK(DIM), st.text);
    lx_tree_free(t);
    return draw_launch(x, row + 1, columns, op);
}

static void draw(struct explorer *x, struct box area)
{
    const struct lx_graph *g = outcome_graph(&x->session.shown);
    struct cells page = {.ascii = x->cells.ascii};
    if (!g || x->session.op < 0) {
        put_wrapped(&x->cells, area, INK(PLAIN),
                    g ? "No op is selected: 2 lists them."
                      : "This pattern is a list of buffers: it has no ops and no loops.");
        return;
    }
    if (!cells_resize(&page, PAGE, area.columns)) return;
    struct cells screen = x->cells;
    x->cells = page;
    int lines = draw_page(x, area.columns);
    page = x->cells;
    x->cells = screen;
    x->loops.lines = lines;
    list_show(&x->loops.list, lines, 1);
    int most = lines > area.rows ? lines - area.rows : 0;
    if (x->loops.list.cursor > most) x->loops.list.cursor = most;
    for (int r = 0; r < area.rows && x->loops.list.cursor + r < PAGE; r++)
        memcpy(&x->cells.at[(area.row + r) * x->cells.columns + area.column],
               &page.at[(x->loops.list.cursor + r) * page.columns], (size_t)area.columns * sizeof *page.at);
    if (x->loops.list.cursor < most)
        put_right(&x->cells, area.row + area.rows - 1, area.column, area.columns, INK(KEY),
                  " more below: j ");
    cells_free(&page);
}

static bool request(struct explorer *x, enum request r, const char *argument)
{
    (void)argument;
    if (list_move(&x->loops.list, r, x->loops.lines, 10)) return true;
    switch (r) {
    case REQ_PASS_RULES:
        x->loops.rules = lx_loop_rules_at(x->loops.rules + 1) ? x->loops.rules + 1 : 0;
        return true;
    case REQ_LEFT:
        if (x->cores.core > 0) x->cores.core--;
        return true;
    case REQ_RIGHT:
        if (x->cores.core + 1 < session_plan(&x->session)->graph->device.cores) x->cores.core++;
        return true;
    default:
        return false;
    }
}

static int count(struct explorer *x)
{
    const struct lx_graph *g = outcome_graph(&x->session.shown);
    return g ? g->op_count : 0;
}

static const char *item(struct explorer *x, int i)
{
    return outcome_graph(&x->session.shown)->ops[i].name;
}

static int selected(struct explorer *x)
{
    return x->session.op;
}

static void select_item(struct explorer *x, int i)
{
    session_select_op(&x->session, i);
}

const struct view view_loops = {
    .name = "Loops",
    .purpose = "the op's loop nest pass by pass, and its launch",
    .needs_plan = true,
    .hints = {{REQ_NEXT_ITEM, "next op"},
              {REQ_DOWN, "scroll"},
              {REQ_RIGHT, "core"},
              {REQ_PASS_RULES, "rules"},
              {REQ_GRAPH, "graph"},
              {REQ_BACK, "back"}},
    .draw = draw,
    .request = request,
    .count = count,
    .item = item,
    .selected = selected,
    .select = select_item,
};
