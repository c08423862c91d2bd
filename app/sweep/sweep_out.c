/* A sweep as text: what was asked, the chart, the knees in words, and the table. */
#include "sweep/sweep_out.h"
#include "sweep/sweep_chart.h"
#include "html/html.h"
#include "picture/chart_svg.h"

enum { WIDTH = 80, HEIGHT = 16 };

static void sweep_text(const struct sweep *s, const struct sweep_paper *how, struct text *out)
{
    int width = how->width ? how->width : WIDTH, height = how->height ? how->height : HEIGHT;
    bool as_one = s->cores.count > 1 && s->solver_count == 1;
    struct text line = {0};
    add_printable(&line, s->graph->name, 60);
    text_format(&line, ": %s against %s", sweep_value_name(s), s->graph->list ? "capacity" : "LX");
    paint_add(out, PAINT_HEADING, line.at ? line.at : "");
    text_format(out, ", %s from %s to %s\n", counted((int64_t)s->sizes.count, "size").at,
                in_bytes(s->sizes.at[0]).at, in_bytes(s->sizes.at[s->sizes.count - 1]).at);
    text_free(&line);
    text_add(out, "\n");
    if (as_one) sweep_add_chart(s, 0, height, width, how->ascii, out);
    for (size_t c = 0; c < s->cores.count; c++) {
        if (s->cores.count > 1) text_format(out, "\n%s\n", counted(s->cores.at[c], "core").at);
        if (!as_one) sweep_add_chart(s, s->cores.at[c], height, width, how->ascii, out);
        text_add(out, "\n");
        /* "auto      from 115 KiB nothing spills" */
        for (size_t l = 0; l < s->lines.count; l++) {
            const struct sweep_line *of = &s->lines.at[l];
            struct text words = {0};
            if (of->cores != s->cores.at[c]) continue;
            sweep_say(s, of, false, &words);
            if (words.length) text_format(out, "  %-9s %s\n", of->solver, words.at);
            text_free(&words);
        }
        text_add(out, "\n");
        sweep_add_table(s, s->cores.at[c], out);
    }
}

/* A sweep as a page: its JSON, and a script that draws it. */

static void sweep_html(const struct sweep *s, const struct sweep_paper *how, struct text *out)
{
    SCOPED(text_free) struct text json = {0};
    char *name = printable(s->graph->name, 0); /* it is the heading */
    (void)how;
    sweep_json_named(s, name ? name : "", &json);
    mem_free(name);
    html_page(s->graph->name, html_sweep_js, &json, NULL, out);
}

/* A sweep as a drawing: one panel per number of cores. */

enum { PANEL_WIDTH = 900, PANEL_HEIGHT = 440 };

/* The ends of both axes over all lines, so that panels compare. */
static void find_scales(const struct sweep *s, struct scale *x, struct scale *y)
{
    double low = INFINITY, high = -INFINITY, factor = s->by_time ? 1e-6 : 1;
    for (size_t l = 0; l < s->lines.count; l++)
        for (size_t i = 0; i < s->sizes.count; i++) {
            double v = sweep_shown(s, &s->lines.at[l].at[i]) * factor;
            double b = sweep_least(s, s->lines.at[l].cores, i) * factor;
            if (v > high) high = v;
            if (v < low) low = v;
            if (b < low) low = b;
        }
    if (!(low <= high)) low = 0, high = 1;
    double room = (high - low) * 0.06 + (high == low) * (fabs(high) * 0.1 + (high == 0));
    *y = (struct scale){.low = low < room || low < high / 2 ? 0 : low - room,
                        .high = high + room,
                        .unit = s->by_time       ? SCALE_SECONDS
                                : s->graph->list ? SCALE_PLAIN
                                                 : SCALE_BYTES};
    *x = (struct scale){.low = (double)s->sizes.at[0],
                        .high = (double)s->sizes.at[s->sizes.count - 1],
                        .is_log = true,
                        .unit = SCALE_BYTES};
    if (x->high <= x->low) x->high = x->low * 2;
}

/* The lines of one number of cores, and the proven least; the numbers live in `data`. */
static size_t sweep_svg_gather(const struct sweep *s, int64_t cores, double *data, struct svg_line *lines)
{
    size_t n = s->sizes.count, k = 0;
    double factor = s->by_time ? 1e-6 : 1, *x = data, *y = data + n;
    for (size_t i = 0; i < n; i++) x[i] = (double)s->sizes.at[i];
    for (size_t l = 0; l < s->lines.count; l++) {
        if (s->lines.at[l].cores != cores) continue;
        for (size_t i = 0; i < n; i++) y[i] = sweep_shown(s, &s->lines.at[l].at[i]) * factor;
        lines[k++] =
            (struct svg_line){.name = s->lines.at[l].solver, .x = x, .y = y, .count = n, .points = n <= 60};
        y += n;
    }
    for (size_t i = 0; i < n; i++) y[i] = sweep_least(s, cores, i) * factor;
    lines[k++] = (struct svg_line){.name = "proven least", .x = x, .y = y, .count = n, .dashed = true};
    return k;
}

static void sweep_svg_add_panel(const struct sweep *s, int64_t cores, int top, int width, int height,
                                struct text *out)
{
    size_t n = s->sizes.count, lines_most = (size_t)s->solver_count + 1, marks = 0;
    OWNED double *data = mem_zeroed((lines_most + 1) * n + 1, sizeof *data);
    struct svg_line *lines = mem_zeroed(lines_most, sizeof *lines);
    struct svg_mark *mark = mem_zeroed(lines_most, sizeof *mark);
    struct text *words = mem_zeroed(lines_most, sizeof *words), title = {0};
    struct svg_panel p = {.x_name = s->graph->list ? "capacity" : "scratchpad (LX) of each core",
                          .y_name = sweep_value_name(s),
                          .lines = lines,
                          .marks = mark};
    find_scales(s, &p.x, &p.y);
    p.line_count = sweep_svg_gather(s, cores, data, lines);
    for (size_t l = 0; l < s->lines.count; l++) {
        const struct sweep_line *of = &s->lines.at[l];
        if (of->cores != cores || of->found[FIND_FIT].state != SWEEP_PLANNED) continue;
        text_format(&words[marks], "%s: ", of->solver);
        sweep_say_fit(s, of, false, &words[marks]);
        mark[marks] =
            (struct svg_mark){(double)of->found[FIND_FIT].lx, words[marks].at ? words[marks].at : ""};
        marks++;
    }
    p.mark_count = marks;
    text_add(&title, s->graph->name);
    if (!s->graph->list) text_format(&title, " on %s", counted(cores, "core").at);
    p.title = title.at ? title.at : "";
    svg_add_panel(&p, top, width, height, out);

    for (size_t i = 0; i < lines_most; i++) text_free(&words[i]);
    text_free(&title);
    mem_free(words);
    mem_free(mark);
    mem_free(lines);
}

static void sweep_svg(const struct sweep *s, const struct sweep_paper *how, struct text *out)
{
    int width = how->width ? how->width : PANEL_WIDTH, height = how->height ? how->height : PANEL_HEIGHT;
    svg_begin(width, height * (int)s->cores.count, s->graph->name, out);
    for (size_t c = 0; c < s->cores.count; c++)
        sweep_svg_add_panel(s, s->cores.at[c], (int)c * height, width, height, out);
    svg_end(out);
}

/* The forms of a sweep's answer. */

const struct sweep_form sweep_forms[] = {
    {"text", sweep_text}, {"csv", sweep_csv},   {"json", sweep_json},
    {"svg", sweep_svg},   {"html", sweep_html}, {0},
};
