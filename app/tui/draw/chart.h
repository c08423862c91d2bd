/* A chart on cells: two axes with labels, lines, points and a legend. Lines are dots of the Braille block;
 * in ASCII, and for several lines without colours, each has a letter. */
#pragma once

#include "tui/core/views.h"

enum { MOST_TICKS = 12 };

struct chart_label {
    char at[24];
};
/* A value as words at an axis. */
typedef struct chart_label chart_label(double value);
/* "73.4 M" */
chart_label chart_number;
/* "1.5 MiB", "512" */
chart_label chart_bytes;
/* "12 s", "40 ms", "7 us" */
chart_label chart_seconds;

struct chart_axis {
    const char *name;    /* may be NULL */
    double from, to;     /* both 0: by the data */
    bool log;            /* values must then be above 0; others are at the lower end */
    bool from_zero;      /* of a linear axis by the data */
    chart_label *label;  /* NULL: chart_number */
    const double *ticks; /* NULL: at steps of 1, 2, 5 */
    int tick_count;
};

struct chart_series {
    const char *name;    /* in the legend; NULL: not there */
    const double *x, *y; /* a y that is no number breaks the line */
    int count;
    uint8_t tone;
    char letter; /* in ASCII; 0: the first of its name that no other has */
    bool dashed;
    bool stairs; /* the value holds until the next one */
    bool points; /* no line: a mark at each */
};

/* A vertical dashed line with words at its head. */
struct chart_mark {
    double x;
    const char *words;
};

struct chart {
    const struct chart_series *series;
    int series_count;
    struct chart_axis x, y;
    const struct chart_mark *marks;
    int mark_count;
    bool no_legend;
};

/* The place of values on the screen: for a cursor, and for words beside points. */
struct plot {
    struct box box;         /* inside the axes; no rows: there was no room */
    struct chart_axis x, y; /* with their ends */
};

struct plot chart_draw(const struct scene *on, struct box area, const struct chart *c);
/* The cell of a point; false where it is outside. */
bool plot_cell(const struct plot *p, double x, double y, int *row, int *column);
/* The value of a column of the screen. */
double plot_x(const struct plot *p, int column);

/* A bar of parts that add up: in colours, or in letters. */
/* The tone of a part, and its letter without colours. */
struct part_look {
    uint8_t tone;
    char letter;
};

/* Looks of lx_wait and of lx_byte_kind. */
extern const struct part_look wait_looks[], byte_looks[];

/* Parts of a bar of length `whole`, from the left of a row on; each cell shows the part that has most of
 * it. */
void put_stack(const struct scene *on, struct box row, const double *parts, const struct part_look *looks,
               int count, double whole);
/* A share from 0 to 1 as a bar upwards in a column; one above 0 is seen. */
void put_level(const struct scene *on, struct box column, double share, struct style style);
/* The names of waits, each with its look, at the right of a row; nothing if there is no room for all. */
void put_wait_legend(const struct scene *on, struct box row);
