/* Figures in a terminal: one letter per solver on a grid of characters; `*` where curves meet. */
#include "bench/report.h"
#include "html/html.h"
#include "picture/chart_svg.h"

/* The two curves by which solvers are compared: performance profile and cactus. */

/* Times below this are the clock's noise: a ratio of two of them says nothing. */
#define LEAST_SECONDS 1e-6

/* Per problem that the solver hits: its time, or the ratio of that to the fastest; sorted. */
static void add_curve(const struct summary *s, size_t k, bool ratios, struct figure *f)
{
    VEC_PUSH(&f->curves, (struct curve){.name = s->solvers.at[k].label});
    struct curve *c = &f->curves.at[f->curves.count - 1];
    for (size_t p = 0; p < s->problems.count; p++) {
        const struct cell *e = summary_cell(s, p, k);
        if (e->runs == 0 || !isfinite(e->time)) continue;
        double t = fmax(e->time, LEAST_SECONDS);
        VEC_PUSH(&c->x, ratios ? t / fmax(s->problems.at[p].fastest, LEAST_SECONDS) : t);
    }
    if (c->x.count) qsort(c->x.at, c->x.count, sizeof *c->x.at, order_double);
    for (size_t i = 0; i < c->x.count; i++) VEC_PUSH(&c->y, (double)(i + 1));
}

void profile_figure(const struct summary *s, struct figure *f)
{
    *f = (struct figure){.title = "Performance profile",
                         .x_label = "time / fastest time",
                         .y_label = "share of instances",
                         .x_is_log = true,
                         .x_low = 1,
                         .x_high = 2,
                         .y_high = 1};
    for (size_t k = 0; k < s->solvers.count; k++) {
        add_curve(s, k, true, f);
        struct curve *c = &f->curves.at[f->curves.count - 1];
        for (size_t i = 0; i < c->x.count; i++) {
            c->y.at[i] /= (double)(s->problems.count - (size_t)s->bad_inputs);
            if (c->x.at[i] > f->x_high) f->x_high = c->x.at[i];
        }
    }
    f->x_high *= 1.1; /* room to see that the curves stay flat */
}

void cactus_figure(const struct summary *s, struct figure *f)
{
    *f = (struct figure){.title = "Cactus plot",
                         .x_label = "instances with the best value",
                         .y_label = "time, each",
                         .y_is_log = true,
                         .x_high = 1,
                         .y_low = INFINITY,
                         .y_high = LEAST_SECONDS};
    for (size_t k = 0; k < s->solvers.count; k++) {
        add_curve(s, k, false, f);
        struct curve *c = &f->curves.at[f->curves.count - 1];
        for (size_t i = 0; i < c->x.count; i++) {
            double seconds = c->x.at[i];
            c->x.at[i] = c->y.at[i];
            c->y.at[i] = seconds;
            if (seconds < f->y_low) f->y_low = seconds;
            if (seconds > f->y_high) f->y_high = seconds;
        }
    }
    f->x_high = (s->problems.count - (size_t)s->bad_inputs) > 1
                    ? (double)(s->problems.count - (size_t)s->bad_inputs)
                    : 1;
    if (!isfinite(f->y_low)) f->y_low = LEAST_SECONDS;
    f->y_low = pow(10, floor(log10(f->y_low)));
    f->y_high = pow(10, ceil(log10(f->y_high)));
    if (f->y_high <= f->y_low) f->y_high = f->y_low * 10;
}

void figure_free(struct figure *f)
{
    for (size_t i = 0; i < f->curves.count; i++) {
        VEC_FREE(&f->curves.at[i].x);
        VEC_FREE(&f->curves.at[i].y);
    }
    VEC_FREE(&f->curves);
}

enum { WIDTH = 72, HEIGHT = 18, MARGIN = 10, LETTERS = 26 };

/* The cell of a value among `cells` on an axis. */
static int plot_text_cell(double v, double low, double high, bool is_log, int cells)
{
    double share = is_log ? (log(v) - log(low)) / (log(high) - log(low)) : (v - low) / (high - low),
           at = share * (cells - 1) + 0.5;
    return at < 0 ? 0 : at > cells - 1 ? cells - 1 : (int)at;
}

struct canvas {
    char letter[HEIGHT][WIDTH];
    int owner[HEIGHT][WIDTH];
};

/* A step function: each column shows the last point up to it. */
static void plot_text_draw(struct canvas *g, const struct figure *f, int curve)
{
    const struct curve *c = &f->curves.at[curve];
    bool holds = !f->y_is_log; /* a profile stays where it is; a cactus ends with its last instance */
    for (size_t i = 0; i < c->x.count; i++) {
        int from = plot_text_cell(c->x.at[i], f->x_low, f->x_high, f->x_is_log, WIDTH), to = from;
        if (i + 1 < c->x.count)
            to = plot_text_cell(c->x.at[i + 1], f->x_low, f->x_high, f->x_is_log, WIDTH) - 1;
        else if (holds)
            to = WIDTH - 1;
        int row = HEIGHT - 1 - plot_text_cell(c->y.at[i], f->y_low, f->y_high, f->y_is_log, HEIGHT);
        if (to < from && i + 1 < c->x.count) continue; /* the next point stands in the same column */
        for (int column = from; column <= to; column++) {
            char *at = &g->letter[row][column];
            if (*at != ' ' && g->owner[row][column] != curve)
                *at = '*';
            else
                *at = (char)('a' + curve % LETTERS);
            g->owner[row][column] = curve;
        }
    }
}

/* Marks of an axis at steps of 1, 2 and 5, in units that people read. */
static struct scale plot_text_scale_of(double low, double high, bool is_log, bool is_seconds)
{
    return (struct scale){
        .low = low,
        .high = high,
        .is_log = is_log,
        .unit = is_seconds ? SCALE_SECONDS : SCALE_PLAIN,
    };
}

static void plot_text_add_rows(const struct figure *f, const struct canvas *g, struct text *out)
{
    struct scale s = plot_text_scale_of(f->y_low, f->y_high, f->y_is_log, f->y_is_log);
    struct tick ticks[SCALE_TICKS];
    int count = ticks_make(&s, HEIGHT / 3, ticks);
    for (int row = 0; row < HEIGHT; row++) {
        const char *mark = "";
        for (int i = 0; i < count; i++)
            if (HEIGHT - 1 - (int)(scale_share(&s, ticks[i].at) * (HEIGHT - 1) + 0.5) == row)
                mark = ticks[i].words.at;
        text_pad(out, ' ', (size_t)(MARGIN - columns_of(mark)));
        text_format(out, "%s |", mark);
        text_add_n(out, g->letter[row], WIDTH);
        while (out->length && out->at[out->length - 1] == ' ') out->at[--out->length] = 0;
        text_add(out, "\n");
    }
}

/* The marks below, each in the middle under its place, as many as do not touch. */
static void add_below(const struct figure *f, struct text *out)
{
    struct scale s = plot_text_scale_of(f->x_low, f->x_high, f->x_is_log, false);
    struct tick ticks[SCALE_TICKS];
    int count = ticks_make(&s, 8, ticks), used = 0;
    text_pad(out, ' ', MARGIN + 1);
    text_add(out, "+");
    text_pad(out, '-', WIDTH);
    text_add(out, "\n");
    text_pad(out, ' ', MARGIN + 2);
    for (int i = 0; i < count; i++) {
        int width = columns_of(ticks[i].words.at),
            at = (int)(scale_share(&s, ticks[i].at) * (WIDTH - 1) + 0.5) - width / 2;
        if (at < 0) at = 0;
        if (at + width > WIDTH || (i && at < used + 1)) continue;
        text_pad(out, ' ', (size_t)(at - used));
        text_add(out, ticks[i].words.at);
        used = at + width;
    }
    text_add(out, "\n");
}

void plot_as_text(const struct figure *f, struct text *out)
{
    OWNED struct canvas *g = mem_alloc(sizeof *g);
    memset(g->letter, ' ', sizeof g->letter);
    memset(g->owner, -1, sizeof g->owner);
    for (size_t k = 0; k < f->curves.count; k++) plot_text_draw(g, f, (int)k);
    text_add(out, "\n");
    paint_add(out, PAINT_HEADING, f->title);
    text_format(out, ": %s against %s%s\n\n", f->y_label, f->x_label, f->x_is_log ? " (logarithmic)" : "");
    plot_text_add_rows(f, g, out);
    add_below(f, out);
    for (size_t k = 0; k < f->curves.count; k++) {
        text_format(out, "%s%c ", k ? ", " : "  ", (char)('a' + (int)k % LETTERS));
        add_printable(out, f->curves.at[k].name, 0);
    }
    text_add(out, "; * several\n");
    if (!f->y_is_log)
        text_add(out, "  Only the leading curve may be read as a ranking: leaving a solver out can reorder "
                      "the others.\n");
}

/* Figures as SVG: one panel below the other (picture/chart_svg.h), steps as stairs. */

enum { PANEL_WIDTH = 760, PANEL_HEIGHT = 400 };

void plots_as_svg(const struct figure figures[2], struct text *out)
{
    svg_begin(PANEL_WIDTH, 2 * PANEL_HEIGHT, "Benchmark", out);
    for (int i = 0; i < 2; i++) {
        const struct figure *f = &figures[i];
        struct svg_line *lines = mem_zeroed(f->curves.count + 1, sizeof *lines);
        for (size_t k = 0; k < f->curves.count; k++) {
            const struct curve *c = &f->curves.at[k];
            lines[k] = (struct svg_line){.name = c->name,
                                         .x = c->x.at,
                                         .y = c->y.at,
                                         .count = c->x.count,
                                         .stairs = !f->y_is_log,
                                         .points = f->y_is_log && c->x.count <= 60};
        }
        svg_add_panel(&(struct svg_panel){.title = f->title,
                                          .x_name = f->x_label,
                                          .y_name = f->y_label,
                                          .x = {f->x_low, f->x_high, f->x_is_log, SCALE_PLAIN},
                                          .y = {f->y_low, f->y_high, f->y_is_log,
                                                f->y_is_log ? SCALE_SECONDS : SCALE_PLAIN},
                                          .lines = lines,
                                          .line_count = f->curves.count},
                      i * PANEL_HEIGHT, PANEL_WIDTH, PANEL_HEIGHT, out);
        mem_free(lines);
    }
    svg_end(out);
}

/* --- The page of a report: its tables as JSON, then its figures, and a script that draws them. --- */

static void report_page_say(const char *words, const char *lines, enum paint paint, struct text *out)
{
    (void)paint;
    text_json_string(out, words ? words : "");
    if (!lines || !*lines) return;
    text_add(out, ", ");
    text_json_string(out, lines);
}

static void report_page_add(const struct table *t, struct text *out)
{
    if (t->row_count == 0) return;
    text_add(out, out->length && out->at[out->length - 1] == '}' ? ",\n" : "], \"tables\": [\n");
    html_table(t, out);
}

static void report_page_end(struct text *out)
{
    text_add(out, out->length && out->at[out->length - 1] == '}' ? "]" : "], \"tables\": []");
}

const struct exporter html_exporter = {.name = "html",
                                       .whole = true,
                                       .begin = "{\"lxplan\": 1, \"kind\": \"page\", \"words\": [",
                                       .say = report_page_say,
                                       .add = report_page_add,
                                       .end = report_page_end};

static void report_page_add_numbers(const char *key, const double *at, size_t count, struct text *out)
{
    text_format(out, ", \"%s\": [", key);
    for (size_t i = 0; i < count; i++)
        text_format(out, isfinite(at[i]) ? "%s%.9g" : "%snull", i ? "," : "", at[i]);
    text_add(out, "]");
}

static void add_figure(const struct figure *f, struct text *out)
{
    static const char *const truth[] = {"false", "true"};
    text_add(out, "{\"title\": ");
    text_json_string(out, f->title);
    text_add(out, ", \"x_label\": ");
    text_json_string(out, f->x_label);
    text_add(out, ", \"y_label\": ");
    text_json_string(out, f->y_label);
    text_format(out, ", \"x_log\": %s, \"y_log\": %s", truth[f->x_is_log], truth[f->y_is_log]);
    text_format(out, ", \"x_low\": %.9g, \"x_high\": %.9g, \"y_low\": %.9g, \"y_high\": %.9g, \"curves\": [",
                f->x_low, f->x_high, f->y_low, f->y_high);
    for (size_t i = 0; i < f->curves.count; i++) {
        const struct curve *c = &f->curves.at[i];
        text_add(out, i ? ",\n{\"name\": " : "\n{\"name\": ");
        text_json_string(out, c->name);
        report_page_add_numbers("x", c->x.at, c->x.count, out);
        report_page_add_numbers("y", c->y.at, c->y.count, out);
        text_add(out, "}");
    }
    text_add(out, "]}");
}

void report_page(const char *title, const struct summary *s, const struct figure *figures, size_t count,
                 struct text *out)
{
    SCOPED(text_free) struct text json = *out;
    *out = (struct text){0};
    text_add(&json, ",\n\"title\": \"Benchmark\", \"subtitle\": ");
    text_json_string(&json, title);
    text_add(&json, ",\n\"figures\": [");
    for (size_t i = 0; i < count; i++) {
        if (i) text_add(&json, ",\n");
        add_figure(&figures[i], &json);
    }
    text_add(&json, "], \"maps\": {");
    if (s) suite_maps(s, &json);
    text_add(&json, "}}\n");
    html_page(title, html_report_js, &json, NULL, out);
}
