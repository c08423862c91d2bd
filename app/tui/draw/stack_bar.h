/* A bar made of parts that add up: in colours, or in letters where there are none. */
#ifndef LX_APP_TUI_STACK_BAR_H
#define LX_APP_TUI_STACK_BAR_H

#include "tui/core/views.h"

/* What a part looks like: its tone, and its letter where colours do not tell parts apart. */
struct part_look {
    uint8_t tone;
    char letter;
};

/* Looks of lx_wait and of lx_byte_kind. */
extern const struct part_look wait_looks[], byte_looks[];

/* Parts of a bar that is `whole` long, from the left of a row on; each cell is the part that has most of it. */
void put_stack(const struct scene *on, struct box row, const double *parts, const struct part_look *looks,
               int count, double whole);
/* The parts by name, each with its look, at the right of a row; nothing where there is no room for all. */
void put_legend(const struct scene *on, struct box row, const struct part_look *looks,
                const char *(*word)(int part), int count);

/* Of what ops wait for, scaled to the longest of `most`. */
void put_waits(const struct scene *on, struct box row, const struct lx_op_wait *w, double most);
void put_wait_legend(const struct scene *on, struct box row);

#endif
