/* The nests of a plan in words, for every command, picture and view: their loops, an iteration and its
 * slices of tensors, how often a tile is filled and saved.
 *
 * * Iterations are numbered from 0 on, the innermost level fastest; people see them counted from 1 on.
 * Letters of axes are those of the nest's first op that has an einsum. */
#pragma once

#include "base/base.h"
#include "plan/plan.h"

/* The nest of a tick; -1: none. */
int32_t plan_nest_at(const struct lx_plan *p, int64_t tick);
/* The number of runs of an op: the iterations of its nest, or 1. */
int64_t plan_op_times(const struct lx_plan *p, int32_t op);
/* Iterations of all nests together. */
int64_t plan_iterations(const struct lx_plan *p);

/* The letter of a level's axis. */
char nest_axis_letter(const struct lx_plan *p, const struct lx_nest *n, int level);
/* "3 nests, 96 iterations"; empty without nests. */
void add_nests_sum(const struct lx_plan *p, struct text *out);
/* Do two plans have the same loops around the same ticks? */
bool nests_same(const struct lx_plan *a, const struct lx_plan *b);
/* "no nest -> 3 nests, 96 iterations"; empty if equal. */
void add_nests_change(const struct lx_plan *before, const struct lx_plan *after, struct text *out);
/* "x16 over h, x64 over s". */
void add_nest_words(const struct lx_plan *p, const struct lx_nest *n, struct text *out);
/* "h/16,s/64". */
void add_nest_brief(const struct lx_plan *p, const struct lx_nest *n, struct text *out);
/* "nest 2, ticks 12 to 17: x16 over h, x64 over s". */
void add_nest_title(const struct lx_plan *p, int32_t nest, struct text *out);
/* "12-17:h/16,s/64", as for --nests: with the letters of its first op, and `tiles` instead of its tile counts
 * (NULL: its own). */
void add_nest_option(const struct lx_plan *p, const struct lx_nest *n, const int64_t *tiles,
                     struct text *out);

/* The index of a level in an iteration; levels from 0 on, the outermost first. */
int64_t iteration_index(const struct lx_nest *n, int64_t iteration, int level);
/* "iteration 5 of 1,024: h 0..1, s 256..320". */
void add_iteration_words(const struct lx_plan *p, const struct lx_nest *n, int64_t iteration,
                         struct text *out);
/* The slice of a tensor fixed by the levels up to `hold` in an iteration: "s 256..320"; empty: the whole
 * tensor. */
void add_slice_words(const struct lx_plan *p, const struct lx_nest *n, int32_t tensor, int hold,
                     int64_t iteration, struct text *out);

/* Elements of a tile along a level's axis. */
int64_t nest_tile_extent(const struct lx_plan *p, const struct lx_nest *n, int level);
/* The level whose axis is this variable of an op, from 0; -1: none. */
int nest_level_of(const struct lx_plan *p, int32_t op, char letter);

/* Does the buffer hold one tile of its tensor at a time? */
bool is_tile(const struct lx_plan *p, int32_t buffer);
/* The number of tiles of its tensor; 1: whole. */
int64_t tile_count(const struct lx_plan *p, int32_t buffer);
/* "tile 1 of 16 of k: held in level 1 of 2, loaded 16 times, 2,097,152 B in all"; the tile of the
 * iteration. */
void add_tile_words(const struct lx_plan *p, int32_t buffer, int64_t iteration, struct text *out);

/* A whole tensor during a nest: "whole in nest 2: this iteration uses s 256..320", "accumulator of nest 3
 * over f: 5 of 64 tiles summed"; empty if the nest does not touch it. */
void add_whole_words(const struct lx_plan *p, int32_t buffer, int32_t nest, int64_t iteration,
                     struct text *out);
/* "held in level 1 of 2, loaded 16 times, 2,097,152 B in all". */
void add_tile_copies(const struct lx_plan *p, int32_t buffer, struct text *out);

/* The number of times a copy is made over all iterations; does it happen in this one? */
int64_t transfer_times(const struct lx_plan *p, const struct lx_transfer *t);
bool transfer_happens(const struct lx_plan *p, const struct lx_transfer *t, int64_t iteration);
