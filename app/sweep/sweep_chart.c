/* The lines of a sweep, the proven least and the knee on a chart. A line that is the same as one before it is
 * not drawn over it: the legend says so. */
#include "sweep/sweep_chart.h"
#include "picture/ticks.h"

enum { NAME = 48, Y_TICKS = 5, X_TICK_ROOM = 9 };

/* Data of a chart while it is drawn. */
struct drawing {
    struct chart_series *series;
    char (*names)[NAME];
    double *data; /* sizes, then the values of each line, then of each bound */
    int count;
    struct text knee;
    struct chart_mark mark;
    double x_ticks[MOST_TICKS], y_ticks[MOST_TICKS];
};

static void name_line(const struct sweep *s, int line, int64_t cores, char name[NAME])
{
    const struct sweep_line *l = &s->lines.at[line];
    int twin = sweep_twin(s, line);
    bool many = cores == 0 && s->cores.count > 1;
    if (twin >= 0)
        snprintf(name, NAME, "%.20s = %.20s", l->solver, s->lines.at[twin].solver);
    else if (many && s->solver_count == 1)
        snprintf(name, NAME, "%lld%s", (long long)l->cores,
                 line == 0                            ? (l->cores == 1 ? " core" : " cores")
                 : (size_t)line + 1 == s->lines.count ? " cores"
                                                      : "");
    else if (many)
        snprintf(name, NAME, "%.20s %lld", l->solver, (long long)l->cores);
    else
        snprintf(name, NAME, "%.20s", l->solver);
}

static void add_bound(const struct sweep *s, struct drawing *d, int64_t cores, bool named)
{
    double *y = d->data + ((size_t)d->count + 1) * s->sizes.count;
    bool any = false;
    for (size_t i = 0; i < s->sizes.count; i++) {
        y[i] = sweep_least(s, cores, i) * (s->by_time ? 1e-6 : 1);
        any |= isfinite(y[i]);
    }
    if (!any) return;
    d->series[d->count++] = (struct chart_series){.name = named ? "proven least" : NULL,
                                                  .x = d->data,
                                                  .y = y,
                                                  .count = (int)s->sizes.count,
                                                  .tone = TONE_DIM,
                                                  .dashed = true};
}

static void sweep_chart_begin(const struct sweep *s, int64_t cores, struct drawing *d)
{
    size_t most = s->lines.count + s->cores.count;
    *d = (struct drawing){0};
    d->series = mem_zeroed(most, sizeof *d->series);
    d->names = mem_zeroed(most, sizeof *d->names);
    d->data = mem_zeroed((most + 1) * s->sizes.count, sizeof *d->data);
    for (size_t i = 0; i < s->sizes.count; i++) d->data[i] = (double)s->sizes.at[i];
    for (size_t l = 0; l < s->lines.count; l++)
        if (!cores || s->lines.at[l].cores == cores) {
            int line = (int)l;
            double *y = d->data + ((size_t)d->count + 1) * s->sizes.count;
            bool twin = sweep_twin(s, line) >= 0;
            for (size_t i = 0; i < s->sizes.count; i++)
                y[i] = sweep_shown(s, &s->lines.at[line].at[i]) * (s->by_time ? 1e-6 : 1);
            name_line(s, line, cores, d->names[d->count]);
            d->series[d->count] =
                (struct chart_series){.name = d->names[d->count],
                                      .x = d->data,
                                      .y = y,
                                      .count = twin ? 0 : (int)s->sizes.count,
                                      .letter = (char)(cores || s->cores.count == 1 ? 0 : 'a' + line % 26),
                                      .tone = tone_of_identity(line)};
            d->count++;
        }
    bool named = true;
    for (size_t c = 0; c < s->cores.count; c++)
        if (!cores || s->cores.at[c] == cores) add_bound(s, d, s->cores.at[c], named), named = false;
    /* The least size in which a line of these has no spill. */
    const struct sweep_line *best = NULL;
    for (size_t l = 0; l < s->lines.count; l++) {
        const struct sweep_line *of = &s->lines.at[l];
        if ((cores && of->cores != cores) || of->found[FIND_FIT].state != SWEEP_PLANNED) continue;
        if (!best || of->found[FIND_FIT].lx < best->found[FIND_FIT].lx) best = of;
    }
    if (!best || (cores == 0 && s->cores.count > 1)) return;
    text_format(&d->knee, "from %s nothing spills", in_enough(best->found[FIND_FIT].lx, true).at);
    if (s->solver_count > 1) text_format(&d->knee, " (%s)", best->solver);
    d->mark = (struct chart_mark){(double)best->found[FIND_FIT].lx, d->knee.at};
}

static int sweep_chart_ticks_of(struct scale scale, int most, double out[MOST_TICKS])
{
    struct tick ticks[SCALE_TICKS];
    int n = ticks_make(&scale, most < MOST_TICKS ? most : MOST_TICKS, ticks);
    for (int i = 0; i < n; i++) out[i] = ticks[i].at;
    return n;
}

/* The ends of the upward axis: those of the values with some air, or from 0. */
static struct scale value_scale(const struct sweep *s, const struct drawing *d)
{
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < d->count; k++)
        for (int i = 0; i < d->series[k].count; i++) {
            double y = d->series[k].y[i];
            if (y > high) high = y;
            if (y < low) low = y;
        }
    if (!(low <= high)) low = 0, high = 1;
    double air = high > low ? (high - low) * 0.05 : fabs(high) * 0.1 + (high == 0);
    return (struct scale){.low = low <= air ? 0 : low - air,
                          .high = high + air,
                          .unit = s->by_time       ? SCALE_SECONDS
                                  : s->graph->list ? SCALE_PLAIN
                                                   : SCALE_BYTES};
}

struct plot sweep_draw(const struct scene *on, struct box area, const struct sweep *s, int64_t cores)
{
    struct drawing d;
    struct plot p = {0};
    if (s->sizes.count > 0) {
        sweep_chart_begin(s, cores, &d);
        double low = (double)s->sizes.at[0], high = (double)s->sizes.at[s->sizes.count - 1];
        struct scale x = {low, high > low ? high : low * 2, true, SCALE_BYTES}, y = value_scale(s, &d);
        bool any = false; /* a height to draw: before that an axis would say what nobody knows */
        for (int n = 0; n < d.count; n++)
            for (int i = 0; i < d.series[n].count; i++) any |= isfinite(d.series[n].y[i]) != 0;
        struct chart c = {.series = d.series,
                          .series_count = d.count,
                          .x = {.name = s->graph->list ? "capacity" : "LX per core",
                                .from = x.low,
                                .to = x.high,
                                .log = true,
                                .label = chart_bytes,
                                .ticks = d.x_ticks},
                          .y = {.from = y.low,
                                .to = y.high,
                                .label = s->by_time       ? chart_seconds
                                         : s->graph->list ? chart_number
                                                          : chart_bytes,
                                .ticks = d.y_ticks},
                          .marks = &d.mark,
                          .mark_count = d.knee.length > 0};
        c.x.tick_count = sweep_chart_ticks_of(x, area.columns / X_TICK_ROOM, d.x_ticks);
        c.y.tick_count =
            !any ? 0 : sweep_chart_ticks_of(y, area.rows / 2 < Y_TICKS ? area.rows / 2 : Y_TICKS, d.y_ticks);
        p = chart_draw(on, area, &c);
    }
    mem_free(d.series);
    mem_free(d.names);
    mem_free(d.data);
    text_free(&d.knee);
    return p;
}

/* A run of cells in one ink. */
static void sweep_chart_add_run(const struct cells *g, int row, int from, int to, struct text *out)
{
    SCOPED(text_free) struct text words = {0};
    uint8_t ink = g->at[row * g->columns + from].style.ink;
    for (int c = from; c < to; c++) {
        char bytes[4];
        uint32_t code = g->at[row * g->columns + c].code;
        if (code) text_add_n(&words, bytes, (size_t)encode_character(code, bytes));
    }
    const char *at = words.at ? words.at : "";
    if (ink >= TONE_ID0)
        paint_identity(out, ink - TONE_ID0, at);
    else
        paint_add(out,
                  ink == TONE_DIM || ink == TONE_FRAME ? PAINT_DIM
                  : ink == TONE_KEY                    ? PAINT_WARN
                                                       : PAINT_PLAIN,
                  at);
}

void sweep_add_chart(const struct sweep *s, int64_t cores, int rows, int columns, bool ascii,
                     struct text *out)
{
    SCOPED(cells_free) struct cells g = {.ascii = ascii};
    cells_resize(&g, rows, columns);
    g.ascii = ascii;
    cells_clear(&g);
    struct scene on = {.cells = &g,
                       .theme = theme_for(paint_is_on() ? 8 : 0, false),
                       .glyphs = ascii ? &glyphs_ascii : &glyphs_unicode,
                       .search = "",
                       .filter = ""};
    sweep_draw(&on, (struct box){0, 0, rows, columns}, s, cores);
    for (int r = 0; r < g.rows; r++) {
        const struct cell_glyph *row = &g.at[r * g.columns];
        int last = g.columns;
        while (last > 0 && row[last - 1].code == ' ') last--;
        for (int c = 0, from = 0; c < last; from = c) {
            while (c < last && row[c].style.ink == row[from].style.ink) c++;
            sweep_chart_add_run(&g, r, from, c, out);
        }
        text_add(out, "\n");
    }
}
