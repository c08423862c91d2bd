/* Proof: what makes the lower bound. The bytes that must cross HBM whatever is planned, and the ticks at which
 * more wants to be on chip than there is room for, dearest first, with what leaves at the least cost. */
#include "tui/core/explorer.h"

struct proof_row {
    double price;
    int32_t number; /* in outcome.prices */
};

struct proof_view {
    struct list list;
    struct proof_row *rows;
    int count;
    uint64_t of; /* the plan of the rows */
};

ORDER(proof_dearest_first, struct proof_row, ORDER_DOWN(price) ORDER_UP(number));

static void proof_view_end(void *state)
{
    mem_free(((struct proof_view *)state)->rows);
}

static void proof_arrange(struct proof_view *v, const struct session *s)
{
    const struct outcome *o = &s->shown;
    if (v->of == o->number) return;
    v->of = o->number;
    v->count = o->price_count;
    v->rows = mem_resize(v->rows, ((size_t)v->count + 1) * sizeof *v->rows);
    for (int32_t i = 0; i < v->count; i++) v->rows[i] = (struct proof_row){o->prices[i].per_byte, i};
    if (v->count) qsort(v->rows, (size_t)v->count, sizeof *v->rows, proof_dearest_first);
}

/* "k 262,144, v 262,144 ...": what is alive at a tick and saves least per byte, until `need` bytes are gone. */
static void proof_add_leaving(const struct plan_index *x, int64_t tick, int64_t need, struct text *out)
{
    enum { MOST_NAMED = 6 };
    const struct lx_plan *p = x->plan;
    double least = -1;
    int32_t last = -1, count, *alive = plan_index_alive(x, tick, tick + 1, true, &count);
    for (int n = 0; n < MOST_NAMED && need > 0; n++) {
        int32_t best = -1;
        double cheapest = 0;
        for (int32_t k = 0; k < count; k++) {
            int32_t i = alive[k];
            double each = (double)p->problem.buffers[i].spill_cost / (double)p->problem.buffers[i].size;
            if (each < least || (each <= least && i <= last)) continue;
            if (best < 0 || each < cheapest || (each <= cheapest && i < best)) best = i, cheapest = each;
        }
        if (best < 0) break;
        least = cheapest, last = best;
        text_add(out, n ? ", " : "");
        add_printable(out, p->problem.buffers[best].name, 24);
        text_format(out, " %s", in_short_bytes(p->problem.buffers[best].spill_cost).at);
        need -= p->problem.buffers[best].size;
    }
    mem_free(alive);
    if (need > 0 && last >= 0) text_add(out, ", ...");
}

static void proof_draw_head(const struct scene *on, struct box *in)
{
    const struct lx_plan *p = session_plan(on->session);
    int64_t least = lx_plan_least(p), must = p->figures.perfect_hbm_bytes;
    const char *split = p->graph->list ? "" : ", in this work split";
    struct text line = {0};
    text_format(&line, "%s; proven least %s", in_bytes(lx_plan_value(p)).at, in_bytes(least).at);
    if (must > 0 && must <= least)
        text_format(&line, ": %s must cross HBM once however large the scratchpads are",
                    in_short_bytes(must).at);
    if (must > 0 && must < least)
        text_format(&line, ", %s more by what does not fit, or may not be on chip%s",
                    in_short_bytes(least - must).at, split);
    if (p->unproved && p->answer.status != LX_OPTIMAL) text_format(&line, "; %s", p->unproved);
    box_cut_top(in, put_paragraph(on->cells, (struct box){in->row, in->column, in->rows, in->columns},
                                  INK(TITLE), &line));
}

static void proof_draw(const struct scene *on, void *state, struct box area)
{
    struct proof_view *v = state;
    const struct outcome *o = &on->session->shown;
    const struct lx_graph *g = outcome_graph(o);
    struct box in = frame_window(on, "Why not lower: what makes the bound", area.rows, area.columns);
    proof_arrange(v, on->session);
    proof_draw_head(on, &in);
    box_cut_top(&in, 1);
    if (v->count == 0) {
        put_wrapped(on->cells, in, INK(PLAIN),
                    g ? "At every tick there is room for all that may be on chip in this work split: more "
                        "scratchpad would not lower the bound."
                      : "At every tick there is room for all that may be on chip: more scratchpad would not "
                        "lower the bound.");
        return;
    }
    struct box head = box_cut_top(&in, 1);
    put_format(on->cells, head.row, head.column, head.columns, INK(DIM), "%8s %10s %12s %12s  %s", "tick",
               "must go", "alone forces", "1 KiB saves",
               g ? "at op; cheapest to leave" : "cheapest to leave");
    list_show(&v->list, v->count, in);
    for (int i = 0; i < in.rows && v->list.top + i < v->count; i++) {
        const struct lx_price *x = &o->prices[v->rows[v->list.top + i].number];
        struct box row = {in.row + i, in.column, 1, in.columns};
        struct text line = {0};
        text_format(&line, "%8lld %10s %12s %12s  ", (long long)x->tick, in_short_bytes(x->need).at,
                    in_short_bytes(x->forced).at, in_short_bytes((int64_t)(x->per_byte * 1024)).at);
        if (g && x->tick >= 0 && x->tick < g->op_count) {
            add_printable(&line, g->ops[x->tick].name, 20);
            text_add(&line, "; ");
        }
        proof_add_leaving(&o->index, x->tick, x->need, &line);
        put_line(on->cells, row, x->per_byte > 0 ? INK(PLAIN) : INK(DIM), &line);
        if (v->list.top + i == v->list.cursor) put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
    }
}

static int proof_count(struct explorer *x, void *state)
{
    proof_arrange(state, &x->session);
    return ((struct proof_view *)state)->count;
}

/* <Enter> shows the tick in the map. */
static bool proof_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct proof_view *v = state;
    if (r != REQ_OPEN || argument || v->list.cursor >= proof_count(x, v)) return false;
    explorer_show(x, VIEW_MAP);
    session_point(&x->session, x->session.shown.prices[v->rows[v->list.cursor].number].tick,
                  x->session.selection.address);
    return true;
}

static const char *proof_item(struct explorer *x, void *state, int i)
{
    const struct lx_graph *g = outcome_graph(&x->session.shown);
    int64_t tick = x->session.shown.prices[((struct proof_view *)state)->rows[i].number].tick;
    return g && tick >= 0 && tick < g->op_count ? g->ops[tick].name : "";
}

const struct view view_proof = {
    .name = "Proof",
    .purpose = "what makes the lower bound",
    .needs_plan = true,
    .state_size = sizeof(struct proof_view),
    .end = proof_view_end,
    .hints = {{REQ_OPEN, "show in the map"},
              {REQ_SEARCH, "search"},
              {REQ_WHY, "remedies"},
              {REQ_WHAT_IF, "what if"},
              {REQ_BACK, "close"}},
    .draw = proof_draw,
    .request = proof_request,
    .count = proof_count,
    .item = proof_item,
    .is_list = true,
};
