/* Loops and launch: one core's part of the selected op as a loop nest, before and after each pass, and the
 * tiles and kernel arguments of each core. Drawn on a page that scrolls. */
#include "tui/core/explorer.h"
#include "export/nest_words.h"

enum { PAGE = 300 };

struct loops_view {
    struct list list; /* lines of the page; its cursor is the first visible one */
    int rules, lines;
};

static int loops_draw_nest(const struct scene *on, int row, int columns, const struct lx_loops *l)
{
    for (int i = 0; i < l->count; i++, row++) {
        const struct lx_loop *loop = &l->loop[i];
        static const uint8_t tones[LX_EXEC_COUNT] = {
            [LX_EXEC_SEQ] = TONE_PLAIN, [LX_EXEC_PRIM] = TONE_KEY, [LX_EXEC_SHARED] = TONE_GOOD};
        int indent = 2 + (i < 12 ? i : 12);
        put_format(on->cells, row, indent, columns - indent, (struct style){.ink = tones[loop->exec]},
                   "%s %s 0..%lld   strides %lld %lld %lld", lx_loop_exec_word(loop->exec),
                   lx_loop_type_word(loop->type), (long long)loop->size, (long long)loop->stride[0],
                   (long long)loop->stride[1], (long long)loop->stride[2]);
    }
    return row;
}

static int loops_draw_passes(const struct scene *on, int row, int columns, struct lx_loops *l,
                             const struct lx_loop_rules *rules)
{
    lx_status st = {0};
    put_format(on->cells, row++, 0, columns, INK(TITLE), "as lowered: first %s, main %s, last %s",
               lx_touch_word(l->first), lx_touch_word(l->main), lx_touch_word(l->last));
    row = loops_draw_nest(on, row, columns, l);
    for (int i = 0; i < LX_LOOP_PASSES && row < PAGE - 40; i++) {
        const struct lx_loop_pass *pass = lx_loop_pass_at(rules, i);
        struct lx_loops before = *l;
        bool ok = lx_loops_run_pass(l, pass, rules, 1, &st), changed = ok && !lx_loops_equal(&before, l);
        put_format(on->cells, row, 0, columns, changed ? INK(TITLE) : INK(DIM), "%d %s: %s%s", i + 1,
                   pass->name, pass->summary,
                   !ok       ? ""
                   : changed ? ""
                             : " (nothing to do)");
        row++;
        if (!ok) put_text(on->cells, row++, 2, columns - 2, INK(BAD), st.text);
        if (changed) row = loops_draw_nest(on, row, columns, l);
    }
    int number = lx_loops_validate(l, rules, &st);
    put_format(on->cells, row++, 0, columns, number ? INK(BAD) : INK(GOOD),
               number ? "not valid: %s" : "valid; rules %s%s", number ? st.text : lx_loop_rules_name(rules),
               "");
    return row;
}

int launch_draw_tiles(const struct scene *on, struct box area, int64_t cores, const struct lx_op_launch *o)
{
    const struct lx_launch *l = o->launch;
    int64_t per_row = 16;
    struct box all = area;
    if (area.rows < 1) return 0;
    struct box line = box_cut_top(&area, 1);
    put_format(on->cells, line.row, line.column, line.columns, INK(PLAIN),
               "%s, %s: %lld x %lld tiles of %lld x %lld, batch %lld, k %lld, on %d cores",
               lx_partition_word(l->mode), lx_tile_order_word(l->order), (long long)l->mt, (long long)l->nt,
               (long long)(o->rank > 1 ? o->dim[o->rank - 2].side : 1),
               (long long)(o->rank > 0 ? o->dim[o->rank - 1].side : 1), (long long)l->batch, (long long)l->kt,
               (int)l->core_count);
    line = box_cut_top(&area, o->k_slices > 1);
    if (line.rows)
        put_format(on->cells, line.row, line.column, line.columns, INK(PLAIN),
                   "%lld groups of cores add up one output", (long long)o->k_slices);
    while (per_row > 1 && per_row * 6 > area.columns) per_row /= 2;
    int64_t values[LX_LAUNCH_ARGS], selected = on->session->selection.core;
    const struct lx_launch_core *core = lx_op_launch_core(o, selected);
    struct text words = {0};
    text_format(&words, "core %lld", (long long)selected);
    if (!core)
        text_add(&words, " is idle in this op");
    else {
        lx_launch_args(o->launch, core, values);
        text_format(&words, " at [%d, %d], kernel arguments:", core->y, core->x);
        for (int i = 0; i < lx_launch_arg_count(o->launch); i++)
            text_format(&words, " %s %lld", lx_launch_arg_name(i), (long long)values[i]);
        if (o->k_slices > 1) text_format(&words, "; slice %d of the partial sums", core->k_slice);
    }
    /* The core's arguments come first where there is no room for all cores. */
    int64_t rows = min_i64(ceil_div_i64(cores, per_row), 60);
    if (area.rows < rows + 4)
        return all.rows - area.rows + put_paragraph(on->cells, area, INK(PLAIN), &words);
    line = box_cut_top(&area, 1);
    put_text(on->cells, line.row, line.column, line.columns, INK(DIM), "tiles of each core:");
    for (int64_t i = 0; i < cores && i / per_row < rows; i++) {
        const struct lx_launch_core *each = lx_op_launch_core(o, i);
        put_format(on->cells, area.row + (int)(i / per_row), area.column + (int)(i % per_row) * 6, 6,
                   i == selected ? INK_ON(CURSOR, CURSOR)
                   : each        ? INK(PLAIN)
                                 : INK(FREE),
                   "%5lld", each ? (long long)each->count : 0);
    }
    box_cut_top(&area, (int)rows);
    box_cut_top(&area, put_paragraph(on->cells, area, INK(PLAIN), &words));
    return all.rows - area.rows;
}

static int loops_draw_page(const struct scene *on, int columns, const struct lx_loop_rules *rules)
{
    const struct lx_op *op = &outcome_graph(&on->session->shown)->ops[on->session->selection.op];
    struct lx_op_nest nest;
    lx_status st = {0};
    int row = 0;
    put_format(on->cells, row++, 0, columns, INK(TITLE), "%s = %s %s, one tile", op->name, op->kind->name,
               op->einsum ? op->einsum : "");
    const struct lx_plan *p = session_plan(on->session);
    int32_t loops = plan_nest_at(p, on->session->selection.op);
    if (loops >= 0) { /* of the plan, outside the launch */
        struct text line = {0};
        add_nest_title(p, loops, &line);
        text_add(&line, "\n");
        add_iteration_words(p, &p->nests[loops], session_iteration(on->session, loops), &line);
        text_add(&line, "; the loops are outside the launch, which is one tile's");
        row += put_paragraph(on->cells, (struct box){row, 0, 3, columns}, INK(KEY), &line);
    }
    bool known = lx_nest_of(session_plan(on->session), on->session->selection.op, &nest, &st);
    if (known && nest.kind != LX_NEST_NONE)
        row = loops_draw_passes(on, row, columns, &nest.nest, rules);
    else
        row += put_wrapped(on->cells, (struct box){row, 0, 4, columns}, INK(DIM),
                           known && nest.why ? nest.why : st.text);
    row++;
    const struct lx_op_launch *o = &p->launches[on->session->selection.op];
    put_format(on->cells, row++, 0, columns, INK(TITLE), "launch: %s", lx_launch_kind_word(o->kind));
    if (o->why) row += put_wrapped(on->cells, (struct box){row, 2, 3, columns - 2}, INK(DIM), o->why);
    struct box rest = {row, 2, PAGE - row, columns - 2};
    return o->launch ? row + launch_draw_tiles(on, rest, p->graph->device.cores, o) : row;
}

static void loops_draw(const struct scene *on, void *state, struct box area)
{
    struct loops_view *v = state;
    const struct lx_graph *g = outcome_graph(&on->session->shown);
    struct cells page = {.ascii = on->cells->ascii};
    struct scene on_page = *on;
    on_page.cells = &page;
    if (!g || on->session->selection.op < 0) {
        if (g)
            put_wrapped_format(on->cells, area, INK(PLAIN), "No op is selected: %s lists them.",
                               KEY_OF(GRAPH));
        else
            put_wrapped(on->cells, area, INK(PLAIN),
                        "This pattern is a list of buffers: it has no ops and no loops.");
        return;
    }
    cells_resize(&page, PAGE, area.columns);
    int lines = v->lines = loops_draw_page(&on_page, area.columns, lx_loop_rules_at(v->rules));
    list_show(&v->list, lines, (struct box){.rows = 1});
    int most = lines > area.rows ? lines - area.rows : 0;
    if (v->list.cursor > most) v->list.cursor = most;
    for (int r = 0; r < area.rows && v->list.cursor + r < PAGE; r++)
        memcpy(&on->cells->at[(area.row + r) * on->cells->columns + area.column],
               &page.at[(v->list.cursor + r) * page.columns], (size_t)area.columns * sizeof *page.at);
    if (v->list.cursor < most) {
        char more[60];
        snprintf(more, sizeof more, " more below: %s ", KEY_OF(DOWN));
        put_right(on->cells, area.row + area.rows - 1, area.column, area.columns, INK(KEY), more);
    }
    cells_free(&page);
}

static bool loops_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct loops_view *v = state;
    (void)argument;
    if (list_move(&v->list, r, v->lines, 10)) return true;
    if (r == REQ_PASS_RULES) v->rules = lx_loop_rules_at(v->rules + 1) ? v->rules + 1 : 0;
    if (r == REQ_LEFT || r == REQ_RIGHT)
        session_select_core(&x->session, x->session.selection.core + (r == REQ_LEFT ? -1 : 1));
    return r == REQ_PASS_RULES || r == REQ_LEFT || r == REQ_RIGHT;
}

const struct view view_loops = {
    .name = "Loops",
    .purpose = "the op's loop nest pass by pass, and its launch",
    .needs_plan = true,
    .state_size = sizeof(struct loops_view),
    .hints = {{REQ_NEXT_ITEM, "next op"},
              {REQ_DOWN, "scroll"},
              {REQ_NEXT_ITERATION, "iteration"},
              {REQ_RIGHT, "core"},
              {REQ_PASS_RULES, "rules"},
              {REQ_GRAPH, "graph"},
              {REQ_BACK, "back"}},
    .draw = loops_draw,
    .request = loops_request,
    .items = ITEMS_OPS,
};
