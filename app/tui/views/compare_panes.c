/* Below the rows of Compare: two maps side by side with differences marked, the list of differences, and
 * best and bound over time. */
#include "export/nest_words.h"
#include "tui/draw/chart.h"
#include "tui/views/compared.h"
#include "tui/map/paint_map.h"

static int64_t panes_share_of(int64_t from, int64_t to, double share)
{
    return from + (int64_t)((double)(to - from) * share + 0.5);
}

static void compare_draw_map(const struct scene *on, struct box area, const struct rival *of,
                             const uint8_t *different, const struct compare_window *w, char side)
{
    const struct outcome *o = of->outcome;
    struct raster r;
    struct box title = box_cut_top(&area, 1);
    int64_t first = o->time.first, last = o->time.last, top = o->index.bands.top;
    bool all = w->to <= w->from;
    put_format(on->cells, title.row, title.column, title.columns, INK(TITLE), "%c %.40s  %s B%s", side,
               of->name, grouped(lx_plan_value(o->plan)).at, all ? "" : "  (zoomed)");
    if (area.rows < 1 || area.columns < 4 || last <= first) return;
    struct raster_view view = {.from_tick = all ? first : panes_share_of(first, last, w->from),
                               .to_tick = all ? last : panes_share_of(first, last, w->to),
                               .from_address = all ? 0 : panes_share_of(0, top, w->low),
                               .to_address = all ? top : panes_share_of(0, top, w->high),
                               .columns = area.columns,
                               .rows = map_rows(on, area.rows),
                               .by_edges = on->session->selection.by_edges,
                               .by_events = all && o->index.sparse,
                               .across = map_across(on),
                               .down = map_rows(on, 1)};
    view.to_tick = max_i64(view.to_tick, view.from_tick + 1);
    view.to_address = max_i64(view.to_address, view.from_address + 1);
    raster_make(&o->index, &view, &r);
    int32_t selected = same_buffer(o->plan, session_plan(on->session), on->session->selection.buffer);
    struct map_paint paint = {.outcome = o,
                              .raster = &r,
                              .selected = selected,
                              .different = different,
                              .heat = HEAT_OCCUPANCY,
                              .iteration = on->session->selection.iteration};
    map_paint(on, area, &paint);
    raster_free(&r);
}

void compare_maps_draw(const struct scene *on, struct box area, const struct rival *left,
                       const struct rival *right, struct comparison *c, const struct compare_window *w)
{
    comparison_make(c, left->outcome->plan, right->outcome->plan);
    int half = (area.columns - 3) / 2;
    struct box one = {area.row, area.column, area.rows, half};
    struct box other = {area.row, area.column + half + 3, area.rows, half};
    for (int k = 0; k < area.rows; k++)
        put(on->cells, area.row + k, area.column + half + 1, on->glyphs->vertical, INK(FRAME));
    compare_draw_map(on, one, left, c->only_left, w, 'L');
    compare_draw_map(on, other, right, c->only_right, w, 'R');
}

/* The sum: "-1,179,648  from L to R fewer: 3 on chip only left, ...". */
static void compare_draw_sum(const struct scene *on, struct box row, const struct comparison *c)
{
    SCOPED(text_free) struct text line = {0};
    /* "LX 100 KiB to 80 KiB; " */
    int64_t lx = c->left->problem.capacity, other = c->right->problem.capacity;
    int64_t cores = c->left->graph->device.cores, others = c->right->graph->device.cores;
    if (lx != other) text_format(&line, "LX %s to %s; ", in_short_bytes(lx).at, in_short_bytes(other).at);
    if (cores != others) text_format(&line, "%s to %s; ", grouped(cores).at, counted(others, "core").at);
    add_nests_change(c->left, c->right, &line);
    if (!nests_same(c->left, c->right)) text_add(&line, "; ");
    if (!c->diff.same_pattern && !(line.at && strcmp(c->left->graph->name, c->right->graph->name) == 0))
        text_add(&line, "the patterns differ; ");
    if (c->diff.count == 0 && c->diff.gain == 0)
        text_add(&line, "the same plan");
    else
        text_format(&line, "from L to R %s: %d on chip only left, %d only right, %d moved",
                    c->diff.gain == 0  ? "as many"
                    : c->diff.gain > 0 ? "fewer"
                                       : "more",
                    c->count_left, c->count_right, (int)c->diff.of_change[LX_MOVED]);
    char sum[100] = "";
    if (c->diff.gain)
        snprintf(sum, sizeof sum, "%s%s", c->diff.gain < 0 ? "+" : "", grouped(-c->diff.gain).at);
    put_right(on->cells, row.row, row.column, 15,
              (struct style){c->diff.gain < 0 ? TONE_BAD : TONE_GOOD, 0, MARK_BOLD}, sum);
    put_text(on->cells, row.row, row.column + 17, row.columns - 17, INK(TITLE), line.at ? line.at : "");
}

void compare_lines_draw(const struct scene *on, struct box area, const struct rival *left,
                        const struct rival *right, struct comparison *c, int *top)
{
    struct differing d;
    if (area.rows < 1) return;
    comparison_make(c, left->outcome->plan, right->outcome->plan);
    compare_draw_sum(on, box_cut_top(&area, 1), c);
    const struct lx_plan *plans[] = {c->left,
                                     c->right}; /* "L nests: 10-17:h/8,s/16; ..." where they differ */
    for (int k = 0; k < 2 && area.rows > 4 && !nests_same(c->left, c->right); k++) {
        struct box row = box_cut_top(&area, 1);
        struct text line = {0};
        text_format(&line, "%c nests:%s", "LR"[k], plans[k] -> nest_count ? "" : " none");
        for (int32_t i = 0; i < plans[k]->nest_count; i++) {
            const struct lx_nest *n = &plans[k]->nests[i];
            text_format(&line, "%s ticks %d to %d ", i ? "," : "", (int)n->first, (int)n->last);
            add_nest_brief(plans[k], n, &line);
        }
        put_line(on->cells, box_behind(row, 17), INK(PLAIN), &line);
    }
    while (*top > 0 && !comparison_line(c, *top, &d)) --*top;
    for (int i = 0; i < area.rows && comparison_line(c, *top + i, &d); i++) {
        struct box row = {area.row + i, area.column, 1, area.columns};
        if (i == area.rows - 1 && comparison_line(c, *top + i + 1, &d)) {
            int more = 0;
            while (comparison_line(c, *top + i + more, &d) && more < 100000) more++;
            put_format(on->cells, row.row, row.column + 17, row.columns - 17, INK(DIM), "... %s more",
                       grouped(more).at);
            break;
        }
        int name = row.columns / 2 > 40 ? 40 : row.columns / 2;
        char shown[100];
        snprintf(shown, sizeof shown, "%s%s", d.gain < 0 ? "+" : "", grouped(-d.gain).at);
        put_right(on->cells, row.row, row.column, 15,
                  d.gain < 0 ? INK(BAD)
                  : d.gain   ? INK(GOOD)
                             : INK(DIM),
                  shown);
        bool is_share = !*d.words;
        double rate = c->right->graph->list ? 0 : lx_device_roofs(&c->right->graph->device).hbm_gb_per_s;
        if (d.gain && rate > 0 && row.columns >= 100)
            put_format(on->cells, row.row, row.column + row.columns - 14, 14, INK(DIM), "%s%s HBM",
                       d.gain < 0 ? "+" : "-", in_micros(fabs((double)d.gain) / rate * 1e-3).at);
        put_text(on->cells, row.row, row.column + 17, is_share ? row.columns - 17 : name, INK(PLAIN), d.name);
        if (!is_share)
            put_text(on->cells, row.row, row.column + 18 + name, row.columns - 18 - name, INK(DIM), d.words);
    }
}

/* A curve as two lines of a chart. */
struct lines {
    double x[CURVE_MOST], best[CURVE_MOST], bound[CURVE_MOST];
};

void compare_curves_draw(const struct scene *on, struct box area, const struct rivals *all, int marked)
{
    OWNED struct lines *lines = mem_zeroed((size_t)all->count, sizeof *lines);
    struct chart_series *s = mem_zeroed(2 * (size_t)all->count, sizeof *s);
    int n = 0;
    for (int i = 0; i < all->count; i++) {
        struct curve c = rival_curve(on->session, &all->at[i]);
        bool racing = all->at[i].kind == RIVAL_RACER;
        if (c.count == 0 || (!racing && i != marked)) continue;
        struct lines *l = &lines[i];
        for (int k = 0; k < c.count; k++) {
            l->x[k] = c.at[k].seconds;
            l->best[k] = c.at[k].best == INT64_MAX ? NAN : (double)c.at[k].best;
            l->bound[k] = c.at[k].bound > 0 ? (double)c.at[k].bound : NAN;
        }
        uint8_t tone = i == marked ? TONE_KEY : tone_of_identity(i);
        s[n++] = (struct chart_series){.name = all->at[i].name,
                                       .x = lines[i].x,
                                       .y = lines[i].best,
                                       .count = c.count,
                                       .tone = tone,
                                       .stairs = true};
        if (i == marked || c.count > 1)
            s[n++] = (struct chart_series){.name = i == marked ? "bound" : NULL,
                                           .x = lines[i].x,
                                           .y = lines[i].bound,
                                           .count = c.count,
                                           .tone = i == marked ? TONE_WARN : TONE_DIM,
                                           .dashed = true,
                                           .stairs = true};
    }
    struct chart chart = {.series = s,
                          .series_count = n,
                          .x = {.label = chart_seconds, .name = "time", .log = n > 3, .from_zero = true},
                          .y = {.label = chart_bytes}};
    if (n > 0) chart_draw(on, area, &chart);
    mem_free(s);
}
