/* Roofline: the limits of ops. Gflop/s against flops per byte, both logarithmic; ops are points, the
 * limits of HBM, scratchpads and cores are lines. An op without HBM traffic stands at its flops per byte
 * of scratchpad. */
#include "tui/core/explorer.h"
#include "planning/buffer_table.h"
#include "tui/draw/chart.h"

struct roof_point {
    double intensity, gflops; /* 0: no flops, no point */
    bool on_chip;             /* no HBM traffic */
};

static struct roof_point roofline_point_of(const struct outcome *o, int32_t op)
{
    const struct lx_op_traffic *t = &o->plan->traffic[op];
    const struct lx_op_wait *w = &o->waits[op];
    bool on_chip = t->hbm_read + t->hbm_written == 0;
    double bytes = on_chip ? (double)(t->lx_read + t->lx_written) : w->hbm_bytes;
    if (!(w->flops > 0) || !(w->device_us > 0) || !(bytes > 0)) return (struct roof_point){0};
    return (struct roof_point){w->flops / bytes, w->flops / w->device_us * 1e-3, on_chip};
}

enum { ROOFS = 3, SERIES = ROOFS + LX_WAIT_COUNT };

static const struct {
    uint8_t tone;
    char letter;
    const char *name;
} point_looks[LX_WAIT_COUNT] = {
    [LX_WAIT_HBM] = {TONE_HIGH, 'H', "by HBM"},   [LX_WAIT_LX] = {TONE_LOW, 'L', "by LX"},
    [LX_WAIT_RING] = {TONE_WARN, 'r', "by ring"}, [LX_WAIT_COMPUTE] = {TONE_GOOD, 'c', "by compute"},
    [LX_WAIT_SYNC] = {TONE_DIM, 's', "by sync"},  [LX_WAIT_LAUNCH] = {TONE_DIM, 'l', "by launch"}};

/* The limit of a rate of bytes, up to the limit of the cores. */
static struct chart_series roofline_roof(const char *name, double rate, const struct lx_roofs *r, double left,
                                         double *x, double *y)
{
    x[0] = left, x[1] = fmax(r->gflop_per_s / rate, left);
    for (int i = 0; i < 2; i++) y[i] = fmin(x[i] * rate, r->gflop_per_s);
    return (struct chart_series){.name = name, .x = x, .y = y, .count = 2};
}

static struct plot roofline_draw_chart(const struct scene *on, struct box area, const struct lx_roofs *r)
{
    const struct outcome *o = &on->session->shown;
    size_t n = (size_t)outcome_graph(o)->op_count;
    double x[ROOFS][2], y[ROOFS][2], *at = mem_alloc((2 * n + 2) * LX_WAIT_COUNT * sizeof *at);
    struct chart_series series[SERIES], points[LX_WAIT_COUNT] = {{0}};
    /* Ends of the axes: all points, and where the roofs meet. */
    double left = r->gflop_per_s / r->lx_gb_per_s / 2, right = r->gflop_per_s / r->hbm_gb_per_s * 4,
           bottom = r->gflop_per_s / 100;
    for (size_t i = 0; i < n; i++) {
        struct roof_point p = roofline_point_of(o, (int32_t)i);
        if (!(p.gflops > 0)) continue;
        enum lx_wait wait = lx_wait_longest(&o->waits[i]);
        double *px = &at[(size_t)wait * 2 * n];
        px[points[wait].count] = p.intensity;
        px[n + (size_t)points[wait].count++] = p.gflops;
        left = fmin(left, p.intensity / 2);
        right = fmax(right, p.intensity * 2);
        bottom = fmin(bottom, p.gflops / 2);
    }
    series[0] = roofline_roof("HBM", r->hbm_gb_per_s, r, left, x[0], y[0]);
    series[1] = roofline_roof("LX", r->lx_gb_per_s, r, left, x[1], y[1]);
    series[2] = (struct chart_series){.name = "compute", .x = x[2], .y = y[2], .count = 2};
    x[2][0] = x[1][1], x[2][1] = right;
    y[2][0] = y[2][1] = r->gflop_per_s;
    series[0].tone = TONE_HIGH, series[0].letter = '/';
    series[1].tone = TONE_LOW, series[1].letter = '.', series[1].dashed = true;
    series[2].tone = TONE_GOOD, series[2].letter = '=';
    int count = ROOFS;
    for (int k = 0; k < LX_WAIT_COUNT; k++)
        if (points[k].count > 0)
            series[count++] = (struct chart_series){.name = point_looks[k].name,
                                                    .x = &at[(size_t)k * 2 * n],
                                                    .y = &at[(size_t)k * 2 * n + n],
                                                    .count = points[k].count,
                                                    .points = true,
                                                    .tone = point_looks[k].tone,
                                                    .letter = point_looks[k].letter};
    struct chart c = {.series = series,
                      .series_count = count,
                      .x = {.name = "flops per byte", .from = left, .to = right, .log = true},
                      .y = {.name = "Gflop/s", .from = bottom, .to = r->gflop_per_s * 2, .log = true}};
    struct plot where = chart_draw(on, area, &c);
    mem_free(at);
    return where;
}

static void roofline_draw(const struct scene *on, void *state, struct box area)
{
    (void)state;
    struct box in = frame_window(on, "What bounds the ops", area.rows, area.columns);
    if (!outcome_graph(&on->session->shown)) {
        put_wrapped(on->cells, in, INK(PLAIN),
                    "This pattern is a list of buffers: it has no ops that compute.");
        return;
    }
    struct lx_roofs r = lx_device_roofs(&outcome_graph(&on->session->shown)->device);
    struct box below = box_cut_bottom(&in, in.rows >= 12 ? 3 : in.rows >= 6);
    struct text line = {0};
    const struct outcome *o = &on->session->shown;
    int32_t op = on->session->selection.op;
    add_wait_sums(&on->session->shown.waits_sum, &line);
    put_paragraph(on->cells, box_cut_top(&in, in.rows >= 12 ? 2 : 1), INK(TITLE), &line);
    struct plot where = roofline_draw_chart(on, in, &r);
    /* The selected op, and its distance to its roof. */
    int row, column;
    if (op < 0 || below.rows < 1) return;
    struct roof_point p = roofline_point_of(o, op);
    add_printable(&line, outcome_graph(o)->ops[op].name, 30);
    if (p.gflops > 0) {
        text_format(&line, ": %s Gflop/s in %s on the device", grouped(llround(p.gflops)).at,
                    in_micros(o->waits[op].device_us).at);
        text_format(&line, ", %.3g flops per byte %s", p.intensity,
                    p.on_chip ? "of LX (nothing through HBM)" : "of HBM");
        double roof = fmin(r.gflop_per_s, p.intensity * (p.on_chip ? r.lx_gb_per_s : r.hbm_gb_per_s));
        text_format(&line, "; %s of its roof", in_percent(fmin(p.gflops / roof, 1)).at);
        text_format(&line, " of %s; ", grouped(llround(roof)).at);
    } else
        text_add(&line, ": computes nothing; ");
    add_wait_sums(&o->waits[op], &line);
    put_paragraph(on->cells, below, INK(PLAIN), &line);
    if (p.gflops > 0 && where.box.rows > 0 && plot_cell(&where, p.intensity, p.gflops, &row, &column))
        put(on->cells, row, column, on->glyphs->ascii ? '@' : 0x25c9,
            (struct style){TONE_CURSOR, TONE_CURSOR, MARK_BOLD});
}

/* The next op with a point: by intensity to the sides, in order up and down. */
static bool roofline_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    const struct outcome *o = &x->session.shown;
    int by = r == REQ_DOWN || r == REQ_RIGHT ? 1 : r == REQ_UP || r == REQ_LEFT ? -1 : 0;
    int n = view_count(x, VIEW_ROOFLINE), at = x->session.selection.op;
    (void)argument, (void)state;
    if (by == 0 || n == 0) return false;
    for (int k = 0; k < n; k++) {
        at = (at + by + n) % n;
        if (roofline_point_of(o, at).gflops > 0) break;
    }
    session_select_op(&x->session, at);
    return true;
}

const struct view view_roofline = {
    .name = "Roofline",
    .purpose = "what bounds the ops: HBM, scratchpads, cores",
    .needs_plan = true,
    .hints = {{REQ_DOWN, "next op"},
              {REQ_SEARCH, "search"},
              {REQ_GRAPH, "graph"},
              {REQ_WHAT_IF, "what if"},
              {REQ_EXPORT, "export"},
              {REQ_BACK, "back"}},
    .draw = roofline_draw,
    .request = roofline_request,
    .items = ITEMS_OPS,
};
