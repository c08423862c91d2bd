/* An op cut over the cores, as Cores shows it, and its drawings. */
#ifndef LX_APP_TUI_CORE_CUT_H
#define LX_APP_TUI_CORE_CUT_H

#include "tui/core/explorer.h"

/* What is looked at: an op of the graph with layouts, one of its operands, and how cores see it. */
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

/* core_tensor.c: the tensor as a rectangle of which each part is a field with its number. */
void draw_cut_tensor(const struct scene *on, struct box area, const struct cut *c);

/* core_menu.c: the quickest divisions that the op could have, weighed with its operands where the plan has them. */
enum { MOST_CHOICES = 12 };
struct core_menu {
    uint64_t outcome; /* that it is of */
    int32_t op, count;
    int neighbours;
    struct lx_alternative at[MOST_CHOICES];
};
void draw_core_menu(const struct scene *on, struct box area, const struct cut *c, struct core_menu *m);

#endif
