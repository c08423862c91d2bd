/* The split of an op over the cores, and its drawings. */
#ifndef LX_APP_TUI_CORE_CUT_H
#define LX_APP_TUI_CORE_CUT_H

#include "tui/core/explorer.h"

/* An op of the graph with layouts, one of its operands, and its core view. */
struct cut {
    const struct lx_divisions *all;
    const struct lx_graph *g;
    const struct lx_division *d;
    const struct lx_op *op;
    int32_t tensor;
    int operand;
    struct lx_core_view view;
    int64_t parts; /* different parts of the tensor */
};

/* core_tensor.c: the tensor as a rectangle; each part is a field with its number. */
void draw_cut_tensor(const struct scene *on, struct box area, const struct cut *c);

/* The quickest divisions of the op, timed with its operands where the plan has them. */
enum { MOST_CHOICES = 12 };
struct core_menu {
    uint64_t outcome; /* number of the outcome */
    int32_t op, count;
    int neighbours;
    struct lx_alternative at[MOST_CHOICES];
};
void draw_core_menu(const struct scene *on, struct box area, const struct cut *c, struct core_menu *m);

#endif
