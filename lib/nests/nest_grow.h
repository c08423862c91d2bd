/* Nests over other runs: with ops more or less at either end, with a level more. */
#ifndef LX_NESTS_NEST_GROW_H
#define LX_NESTS_NEST_GROW_H

#include "nests/axes.h"

/* The same levels over [first, last], which shares an op with the nest's own run; what is new has the
 * axes by the tensors that it shares. False: an op is not reached, or memory is out. What else makes it
 * no nest, nest_valid tells. */
bool nest_over(const struct lx_layouts *l, const struct lx_nest *n, int32_t first, int32_t last,
               struct arena *memory, struct lx_nest *out);
/* With a level more before level `at`, of the axis that variable `var` of the first op seeds. False: it
 * is no axis. */
bool nest_deeper(const struct lx_layouts *l, const struct lx_nest *n, int at, int var, int64_t tiles,
                 struct arena *memory, struct lx_nest *out);
/* Without level `at`; two levels changed for each other. False: memory is out. */
bool nest_shallower(const struct lx_nest *n, int at, struct arena *memory, struct lx_nest *out);
bool nest_swapped(const struct lx_nest *n, int one, int two, struct arena *memory, struct lx_nest *out);

#endif
