/* Time line: the engines of a core as lanes over the predicted time, each as high as the share of the time
 * that it is at work, so that what overlaps stands in one column; and what the core waits for while none is at work:
 * the launch, a sync, data. Lanes without any time are left out. Below them the ops with a bar each, and a second
 * bar where a run of this plan has measured them. A zoom stays around the selected op. */
#include "tui/core/explorer.h"
#include "export/nest_words.h"
#include "planning/buffer_table.h"
#include "tui/draw/chart.h"

enum engine {
    ENGINE_COMPUTE,
    ENGINE_STREAM,
    ENGINE_IN,
    ENGINE_OUT,
    ENGINE_RING,
    WAIT_LAUNCH,
    WAIT_SYNC,
    WAIT_DATA,
    ENGINES
};

static const struct {
    const char *word;
    uint8_t tone;
} engines[ENGINES] = {[ENGINE_COMPUTE] = {"compute", TONE_GOOD}, [ENGINE_STREAM] = {"streams", TONE_HIGH},
                      [ENGINE_IN] = {"copies in", TONE_LOW},     [ENGINE_OUT] = {"copies out", TONE_LOW},
                      [ENGINE_RING] = {"ring", TONE_WARN},       [WAIT_LAUNCH] = {"launch", TONE_DIM},
                      [WAIT_SYNC] = {"sync wait", TONE_DIM},     [WAIT_DATA] = {"data wait", TONE_DIM}};

enum { MOST_COLUMNS = 400, MOST_TIME_ZOOM = 16, GAP = 1 };

struct timeline_view {
    const struct lx_plan *plan; /* of the times: a reference */
    const struct lx_op_wait *waits;
    struct clock_times sum;
    struct clock_span *ops, *copies;
    struct lx_op_time *each;
    struct lx_bundle *bundles;
    double share[ENGINES]; /* of all the time */
    int zoom;
};

static void timeline_end(void *state)
{
    struct timeline_view *v = state;
    lx_plan_free(v->plan);
    mem_free(v->ops);
    mem_free(v->copies);
    mem_free(v->each);
    mem_free(v->bundles);
    v->plan = NULL;
}

/* The share of each engine in each cell. The rest is waited for: a bundle's launch is before it, a sync before its
 * op, and else there is no data yet. In a nest, whose iterations are spread evenly, the core waits as long as the
 * clock spends on syncs and loops. */
static void timeline_fill(const struct timeline_view *v, const struct spread *s, double *share)
{
    const struct lx_plan *p = v->plan;
    for (int i = 0; i < ENGINES * s->cells; i++) share[i] = 0;
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
        const struct clock_span *at = &v->ops[o];
        const struct lx_op_time *each = &v->each[o];
        double times = (double)plan_op_times(p, o), wide = at->end_us - at->start_us;
        const double work[ENGINES] = {[ENGINE_COMPUTE] = each->work_us + each->exposed_us,
                                      [ENGINE_STREAM] = each->stream_us,
                                      [ENGINE_RING] = each->ring_us};
        for (int e = 0; wide > 0 && e < ENGINES; e++)
            if (work[e] > 0)
                spread_add(s, at->start_us, at->end_us, times * work[e] / wide, &share[e * s->cells], 1);
    }
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        double wide = v->copies[i].end_us - v->copies[i].start_us,
               work = (double)transfer_times(p, t) * v->copies[i].each_us;
        int e = t->kind == LX_LOAD    ? ENGINE_IN
                : t->kind == LX_STORE ? ENGINE_OUT
                : t->kind == LX_RING  ? ENGINE_RING
                                      : ENGINE_COMPUTE;
        if (wide > 0)
            spread_add(s, v->copies[i].start_us, v->copies[i].end_us, work / wide, &share[e * s->cells], 1);
    }
    double *busy = &share[WAIT_DATA * s->cells], *sync = &share[WAIT_SYNC * s->cells], begin = 0;
    for (int32_t i = 0; i < p->nest_count; i++) {
        double from = v->ops[p->nests[i].first].start_us, to = v->ops[p->nests[i].last].end_us, idle = 0;
        for (int32_t o = p->nests[i].first; o <= p->nests[i].last; o++) idle += v->waits[o].us[LX_WAIT_SYNC];
        if (to <= from) continue;
        spread_add(s, from, to, fmax(0, 1 - idle / (to - from)), busy, 1);
        spread_add(s, from, to, idle / (to - from), sync, 1);
    }
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++)
        if (plan_nest_at(p, o) < 0)
            spread_add(s, v->ops[o].start_us - v->waits[o].us[LX_WAIT_SYNC], v->ops[o].start_us, 1, sync, 1);
    for (int32_t i = 0; i < p->bundle_count; begin += v->bundles[i++].end_to_end_us)
        spread_add(s, begin, begin + v->bundles[i].end_to_end_us - v->bundles[i].device_us, 1,
                   &share[WAIT_LAUNCH * s->cells], 1);
    for (int c = 0; c < s->cells; c++) {
        double left = 1 - busy[c];
        for (int e = 0; e < WAIT_LAUNCH; e++) {
            share[e * s->cells + c] = fmin(share[e * s->cells + c], 1);
            left = fmin(left, 1 - share[e * s->cells + c]);
        }
        busy[c] = fmax(left, 0);
        for (int e = WAIT_LAUNCH; e < WAIT_DATA; e++) {
            share[e * s->cells + c] = fmin(share[e * s->cells + c], busy[c]);
            busy[c] -= share[e * s->cells + c];
        }
    }
}

static void timeline_ready(struct timeline_view *v, const struct outcome *o)
{
    const struct lx_plan *p = o->plan;
    v->waits = o->waits;
    if (v->plan == p) return;
    timeline_end(v);
    v->plan = lx_plan_ref(p);
    v->ops = mem_alloc(((size_t)p->layouts->graph->op_count + 1) * sizeof *v->ops);
    v->each = mem_alloc(((size_t)p->layouts->graph->op_count + 1) * sizeof *v->each);
    v->copies = mem_alloc(((size_t)p->transfer_count + 1) * sizeof *v->copies);
    v->bundles = mem_zeroed((size_t)p->bundle_count + 1, sizeof *v->bundles);
    v->sum = lx_plan_clock(
        p, &(struct clock_details){
               .op_times = v->each, .op_spans = v->ops, .copies = v->copies, .bundles = v->bundles});
    double share[ENGINES * MOST_COLUMNS] = {0};
    struct spread all = {0, v->sum.end_to_end_us / MOST_COLUMNS, MOST_COLUMNS};
    timeline_fill(v, &all, share);
    for (int e = 0; e < ENGINES; e++) {
        v->share[e] = 0;
        for (int c = 0; c < MOST_COLUMNS; c++) v->share[e] += share[e * MOST_COLUMNS + c] / MOST_COLUMNS;
    }
}

/* All of the time, or a part around the selected op. */
static struct spread timeline_scale(const struct timeline_view *v, int32_t op, int cells)
{
    double all = v->sum.end_to_end_us, wide = all / (double)(1 << v->zoom), from = 0;
    if (op >= 0) from = (v->ops[op].start_us + v->ops[op].end_us) / 2 - wide / 2;
    return (struct spread){fmax(0, fmin(from, all - wide)), wide / cells, cells};
}

static int timeline_cell(const struct spread *s, double us)
{
    return (int)fmax(0, fmin((us - s->from) / s->cell, s->cells - 1));
}

/* A bar from one time to another; at least one cell of what is seen. */
static void timeline_draw_bar(const struct scene *on, struct box row, const struct spread *s, double from,
                              double to, uint32_t code, struct style style)
{
    if (to < s->from || from > s->from + s->cell * s->cells) return;
    for (int c = timeline_cell(s, from), last = timeline_cell(s, to - s->cell / 2);
         c <= last || c == last + 1; c++) {
        put(on->cells, row.row, row.column + c, code, style);
        if (c >= last) break;
    }
}

/* Bars where all cores wait for each other, light inside a nest, where they do so in each iteration. */
static void timeline_draw_syncs(const struct scene *on, struct box row, const struct timeline_view *v,
                                const struct spread *s)
{
    const struct lx_plan *p = v->plan;
    for (int32_t i = 0; row.rows > 0 && i < p->sync_count; i++) {
        double at = v->ops[p->syncs[i].before].start_us;
        if (at < s->from || at > s->from + s->cell * s->cells) continue;
        put(on->cells, row.row, row.column + timeline_cell(s, at),
            p->syncs[i].in_loop ? ':' : on->glyphs->vertical, p->syncs[i].in_loop ? INK(DIM) : INK(KEY));
    }
}

static bool timeline_has(const struct timeline_view *v, int engine)
{
    return v->share[engine] >= 0.0005;
}

static void timeline_draw_lanes(const struct scene *on, struct box area, const struct timeline_view *v,
                                const struct spread *s, int high, int left)
{
    OWNED double *share = mem_alloc((size_t)(ENGINES * s->cells) * sizeof *share);
    timeline_fill(v, s, share);
    for (int e = 0; e < ENGINES; e++) {
        if (!timeline_has(v, e)) continue;
        struct box lane = box_cut_top(&area, high);
        struct style style = {.ink = engines[e].tone};
        if (lane.rows == 0) break;
        int below = lane.row + lane.rows - 1;
        put_text(on->cells, below, lane.column, 10, style, engines[e].word);
        put_right(on->cells, below, lane.column + 10, left - 11, INK(DIM), in_percent(v->share[e]).at);
        for (int c = 0; c < s->cells; c++)
            put_level(on, (struct box){lane.row, lane.column + left + c, lane.rows, 1},
                      share[e * s->cells + c], style);
    }
}

/* Ops from the selected one's neighbourhood on; measured times of a run follow each other. */
static void timeline_draw_ops(const struct scene *on, struct box area, const struct timeline_view *v,
                              const struct spread *s, int left)
{
    const struct session *now = on->session;
    const struct lx_graph *g = v->plan->layouts->graph;
    const struct lx_run_result *run = now->run.of == now->got ? now->run.result : NULL;
    double measured = g->op_count ? v->ops[0].start_us : 0;
    bool timed = false;
    for (int32_t o = 0; run && o < g->op_count; o++) timed |= run->ops[o].measured_us > 0;
    int each = 1 + timed, room = area.rows / each;
    int32_t first = now->selection.op - room / 2;
    if (first > g->op_count - room) first = g->op_count - room;
    if (first < 0) first = 0;
    for (int32_t o = 0; o < g->op_count && o < first + room; o++) {
        double us = timed ? run->ops[o].measured_us : 0, wait = timed ? run->ops[o].measured_wait_us : 0;
        measured += wait + us;
        if (o < first) continue;
        struct box row = box_cut_top(&area, each), bar = box_behind(row, left);
        const struct clock_span *at = &v->ops[o];
        bool here = o == now->selection.op;
        put_name(on->cells, row.row, row.column, left - 11, here ? INK(TITLE) : INK(PLAIN), g->ops[o].name);
        put_right(on->cells, row.row, row.column + left - 10, 9, INK(DIM),
                  in_micros(at->end_us - at->start_us).at);
        timeline_draw_bar(on, bar, s, at->start_us, at->end_us, on->glyphs->full,
                          (struct style){.ink = wait_looks[lx_wait_longest(&now->shown.waits[o])].tone});
        if (timed) {
            put_text(on->cells, row.row + 1, row.column + 1, left - 11, INK(DIM), "measured");
            put_right(on->cells, row.row + 1, row.column + left - 10, 9, INK(TITLE), in_micros(us).at);
            bar.row++;
            timeline_draw_bar(on, bar, s, measured - us, measured, on->glyphs->shade, INK(TITLE));
        }
        if (here) put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
    }
}

static void timeline_draw(const struct scene *on, void *state, struct box area)
{
    struct timeline_view *v = state;
    struct box in = frame_window(on, "Time line of a core, predicted", area.rows, area.columns);
    if (!outcome_graph(&on->session->shown)) {
        put_wrapped(on->cells, in, INK(PLAIN),
                    "This pattern is a list of buffers: it has no ops that take time.");
        return;
    }
    timeline_ready(v, &on->session->shown);
    int left = in.columns >= 100 ? 30 : 20, cells = in.columns - left - GAP;
    if (cells > MOST_COLUMNS) cells = MOST_COLUMNS;
    if (cells < 8 || in.rows < 3) return;
    int32_t op = on->session->selection.op;
    struct spread s = timeline_scale(v, op, cells);
    double engines_us = v->sum.hbm_us + v->sum.ring_us + v->sum.compute_us,
           hidden = engines_us - (v->sum.device_us - on->session->shown.waits_sum.us[LX_WAIT_SYNC]);
    struct text line = {0};
    text_format(&line, "%s end to end, ", in_micros(v->sum.end_to_end_us).at);
    text_format(&line, "%s of it on the device; ", in_micros(v->sum.device_us).at);
    if (hidden > 0.005 * engines_us)
        text_format(&line, "of %s of work ", in_micros(engines_us).at),
            text_format(&line, "%s are hidden behind other work; ", in_micros(hidden).at);
    text_format(&line, "%s", counted(v->plan->sync_count, "sync").at);
    put_paragraph(on->cells, box_cut_top(&in, in.rows >= 14 ? 2 : 1), INK(TITLE), &line);
    struct box words = box_cut_bottom(&in, in.rows >= 12 ? 2 : 0), axis, syncs;
    int high = in.rows >= 44 ? 4 : in.rows >= 30 ? 3 : in.rows >= 22 ? 2 : 1, count = 0;
    for (int e = 0; e < ENGINES; e++) count += timeline_has(v, e);
    struct box lanes = box_cut_top(&in, high * count);
    syncs = box_cut_top(&in, 1), axis = box_cut_top(&in, 1);
    timeline_draw_lanes(on, lanes, v, &s, high, left);
    put_text(on->cells, syncs.row, syncs.column, left, INK(KEY), syncs.rows ? "syncs" : "");
    timeline_draw_syncs(on, box_behind(syncs, left), v, &s);
    if (axis.rows) {
        put_text(on->cells, axis.row, axis.column + left, cells, INK(DIM), in_micros(s.from).at);
        put_right(on->cells, axis.row, axis.column + left, cells, INK(DIM),
                  in_micros(s.from + s.cell * cells).at);
        if (op >= 0)
            put(on->cells, axis.row, axis.column + left + timeline_cell(&s, v->ops[op].start_us),
                on->glyphs->peak, INK(KEY));
    }
    timeline_draw_ops(on, in, v, &s, left);
    if (op < 0 || words.rows == 0) return;
    const struct lx_op_time *each = &v->each[op];
    add_printable(&line, v->plan->layouts->graph->ops[op].name, 30);
    text_format(&line, ": from %s", in_micros(v->ops[op].start_us).at);
    text_format(&line, " to %s", in_micros(v->ops[op].end_us).at);
    if (plan_op_times(v->plan, op) > 1)
        text_format(&line, " in %s", counted(plan_op_times(v->plan, op), "iteration").at);
    text_format(&line, "; streams %s", in_micros(each->stream_us).at);
    text_format(&line, ", computes %s", in_micros(each->work_us + each->exposed_us).at);
    text_format(&line, ", ring %s%s; ", in_micros(each->ring_us).at,
                plan_op_times(v->plan, op) > 1 ? " in each" : "");
    add_wait_sums(&on->session->shown.waits[op], &line);
    put_paragraph(on->cells, words, INK(PLAIN), &line);
}

static bool timeline_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct timeline_view *v = state;
    int by = r == REQ_DOWN || r == REQ_RIGHT ? 1 : r == REQ_UP || r == REQ_LEFT ? -1 : 0;
    (void)argument;
    if (r == REQ_ZOOM_TIME_IN || r == REQ_ZOOM_IN) v->zoom += v->zoom < MOST_TIME_ZOOM;
    if (r == REQ_ZOOM_TIME_OUT || r == REQ_ZOOM_OUT) v->zoom -= v->zoom > 0;
    if (r == REQ_ZOOM_ALL) v->zoom = 0;
    if (by) session_select_op(&x->session, x->session.selection.op + by);
    return by || r == REQ_ZOOM_TIME_IN || r == REQ_ZOOM_TIME_OUT || r == REQ_ZOOM_ALL;
}

const struct view view_timeline = {
    .name = "Time line",
    .purpose = "the engines of a core against time: work, overlap, syncs",
    .needs_plan = true,
    .state_size = sizeof(struct timeline_view),
    .end = timeline_end,
    .hints = {{REQ_DOWN, "next op"},
              {REQ_ZOOM_TIME_IN, "zoom"},
              {REQ_ZOOM_TIME_OUT, "out"},
              {REQ_ZOOM_ALL, "all"},
              {REQ_SEARCH, "search"},
              {REQ_GRAPH, "graph"},
              {REQ_WHAT_IF, "what if"},
              {REQ_BACK, "back"}},
    .draw = timeline_draw,
    .request = timeline_request,
    .items = ITEMS_OPS,
};
