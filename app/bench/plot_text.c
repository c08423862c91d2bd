/* Figures in a terminal: one letter per solver on a grid of characters; `*` where curves meet. */
#include "bench/report.h"
#include "base/memory.h"
#include "picture/ticks.h"
#include "text/format.h"

#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 72, HEIGHT = 18, MARGIN = 10, LETTERS = 26 };

static double plot_text_position(double v, double low, double high, bool is_log)
{
    if (is_log) return (log(v) - log(low)) / (log(high) - log(low));
    return (v - low) / (high - low);
}

static int plot_text_clamp(double v, int most)
{
    return v < 0 ? 0 : v > most ? most : (int)v;
}

struct canvas {
    char letter[HEIGHT][WIDTH];
    int owner[HEIGHT][WIDTH];
};

/* A step function: each column shows the last point at or left of it. */
static void plot_text_draw(struct canvas *g, const struct figure *f, int curve)
{
    const struct curve *c = &f->curves.at[curve];
    bool holds = !f->y_is_log; /* a profile stays where it is; a cactus ends with its last instance */
    for (size_t i = 0; i < c->x.count; i++) {
        int from = plot_text_clamp(
                plot_text_position(c->x.at[i], f->x_low, f->x_high, f->x_is_log) * (WIDTH - 1) + 0.5,
                WIDTH - 1),
            to = from;
        if (i + 1 < c->x.count)
            to = plot_text_clamp(
                     plot_text_position(c->x.at[i + 1], f->x_low, f->x_high, f->x_is_log) * (WIDTH - 1) + 0.5,
                     WIDTH - 1) -
                 1;
        else if (holds)
            to = WIDTH - 1;
        int row = HEIGHT - 1 -
                  plot_text_clamp(
                      plot_text_position(c->y.at[i], f->y_low, f->y_high, f->y_is_log) * (HEIGHT - 1) + 0.5,
                      HEIGHT - 1);
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
    return (struct scale){.low = low,
                          .high = high,
                          .is_log = is_log,
                          .unit = is_seconds ? SCALE_SECONDS : SCALE_PLAIN,
                          .ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0};
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
    struct canvas *g = mem_alloc(sizeof *g);
    if (!g) {
        out->failed = true;
        return;
    }
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
    mem_free(g);
}
