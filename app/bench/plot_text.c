/* Figures in a terminal: one letter per solver on a grid of characters; `*` where curves meet. */
#include "bench/report.h"
#include "text/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 72, HEIGHT = 18, MARGIN = 10, LETTERS = 26 };

static double position(double v, double low, double high, bool is_log)
{
    if (is_log) return (log(v) - log(low)) / (log(high) - log(low));
    return (v - low) / (high - low);
}

static int clamp(double v, int most)
{
    return v < 0 ? 0 : v > most ? most : (int)v;
}

struct canvas {
    char letter[HEIGHT][WIDTH];
    int owner[HEIGHT][WIDTH];
};

static void set(struct canvas *g, int row, int column, int curve)
{
    char *at = &g->letter[row][column];
    if (*at != ' ' && g->owner[row][column] != curve)
        *at = '*';
    else
        *at = (char)('a' + curve % LETTERS);
    g->owner[row][column] = curve;
}

/* A step function: each column shows the last point at or left of it. */
static void draw(struct canvas *g, const struct figure *f, int curve)
{
    const struct curve *c = &f->curves.at[curve];
    bool holds = !f->y_is_log; /* a profile stays where it is; a cactus ends with its last instance */
    for (size_t i = 0; i < c->x.count; i++) {
        int from =
                clamp(position(c->x.at[i], f->x_low, f->x_high, f->x_is_log) * (WIDTH - 1) + 0.5, WIDTH - 1),
            to = from;
        if (i + 1 < c->x.count)
            to = clamp(position(c->x.at[i + 1], f->x_low, f->x_high, f->x_is_log) * (WIDTH - 1) + 0.5,
                       WIDTH - 1) -
                 1;
        else if (holds)
            to = WIDTH - 1;
        int row =
            HEIGHT - 1 -
            clamp(position(c->y.at[i], f->y_low, f->y_high, f->y_is_log) * (HEIGHT - 1) + 0.5, HEIGHT - 1);
        if (to < from && i + 1 < c->x.count) continue; /* the next point stands in the same column */
        for (int column = from; column <= to; column++) set(g, row, column, curve);
    }
}

static void format_mark(bool is_seconds, double v, char *out, size_t size)
{
    if (is_seconds)
        snprintf(out, size, "%s", in_time(v).at);
    else
        snprintf(out, size, "%.3g", v);
}

static double value_at(double share, double low, double high, bool is_log)
{
    return is_log ? exp(log(low) + share * (log(high) - log(low))) : low + share * (high - low);
}

void plot_as_text(const struct figure *f, struct text *out)
{
    struct canvas *g = malloc(sizeof *g);
    if (!g) {
        out->failed = true;
        return;
    }
    memset(g->letter, ' ', sizeof g->letter);
    memset(g->owner, -1, sizeof g->owner);
    for (size_t k = 0; k < f->curves.count; k++) draw(g, f, (int)k);
    text_add(out, "\n");
    paint_add(out, PAINT_HEADING, f->title);
    text_format(out, ": %s against %s%s\n\n", f->y_label, f->x_label, f->x_is_log ? " (logarithmic)" : "");
    for (int row = 0; row < HEIGHT; row++) {
        char mark[80] = "";
        double share = 1 - (double)row / (HEIGHT - 1);
        if (row % 4 == 0 || row == HEIGHT - 1)
            format_mark(f->y_is_log, value_at(share, f->y_low, f->y_high, f->y_is_log), mark, sizeof mark);
        text_format(out, "%*s |", MARGIN, mark);
        text_add_n(out, g->letter[row], WIDTH);
        while (out->length && out->at[out->length - 1] == ' ') out->at[--out->length] = 0;
        text_add(out, "\n");
    }
    text_pad(out, ' ', MARGIN + 1);
    text_add(out, "+");
    text_pad(out, '-', WIDTH);
    char low[40], middle[40], high[40];
    format_mark(false, f->x_low, low, sizeof low);
    format_mark(false, value_at(0.5, f->x_low, f->x_high, f->x_is_log), middle, sizeof middle);
    format_mark(false, f->x_high, high, sizeof high);
    text_format(out, "\n%*s%-*s%-*s%*s\n", MARGIN + 2, "", WIDTH / 2, low, WIDTH / 4, middle, WIDTH / 4,
                high);
    for (size_t k = 0; k < f->curves.count; k++)
        text_format(out, "%s%c %s", k ? ", " : "  ", (char)('a' + (int)k % LETTERS), f->curves.at[k].name);
    text_add(out, "; * several\n");
    if (!f->y_is_log)
        text_add(out, "  Only the leading curve may be read as a ranking: leaving a solver out can reorder "
                      "the others.\n");
    free(g);
}
