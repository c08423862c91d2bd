/* Parts of a drawing: their places, and colours, names and tooltips of buffers. */
#ifndef LX_APP_PICTURE_SVG_FRAME_H
#define LX_APP_PICTURE_SVG_FRAME_H

#include "picture/plan_index.h"
#include "base/text.h"

/* The place of a part, and the range of its sides. Bands are the pools of the plan, with a heading each if
 * there are several. */
struct frame {
    double x, y, width, height;
    int64_t first, last;
    const struct plan_index *index;
    struct svg_band {
        double y, height;
    } * bands;
};

/* Shares the height out among the pools. */
void svg_bands(struct frame *f);
double x_of(const struct frame *f, int64_t tick);
double y_of(const struct frame *f, int32_t pool, int64_t address);

/* A name or a text from a file, cut to so many columns (0: not cut). */
void add_xml(struct text *t, const char *s, int columns);
/* The colour comes from the tensor's name: all its stays have it, in every drawing. */
void add_colour(struct text *t, const struct lx_plan *p, int32_t buffer);
void add_tooltip(const struct lx_plan *p, int32_t i, struct text *t);
/* A name inside a rectangle, if three of its letters fit. */
void add_label(const char *name, double x, double y, double width, double height, struct text *t);

/* The map and its axes. */
void svg_buffers(const struct frame *f, struct text *t);
void svg_reserved(const struct frame *f, struct text *t);
void svg_addresses(const struct frame *f, struct text *t);
void svg_ticks(const struct frame *f, struct text *t);
/* The nests as brackets, `y` their top; rows of NEST_ROW. */
enum { NEST_ROW = 20 };
void svg_nests(const struct frame *f, double y, struct text *t);
/* Are the ticks ops with names? */
bool svg_names_ops(const struct lx_plan *p);

#endif
