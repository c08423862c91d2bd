/* The compute kernels of the device: fp32 arithmetic on blocks of memory, as fast as the processor allows.
 *
 * Matrix products (one, or the sum over a batch) with their first and last touch fused into the store; moves
 * (zero, copy, relu) between any two 2-D layouts; conversions from and to fp16 and bf16. All other arithmetic
 * of ops is in device/execute/arith.c.
 *
 * Everything is in elements, never in bytes, and every stride may be any integer (0 repeats an element, a
 * negative one walks backwards), as long as no two results share a place. Nothing allocates but a product
 * that has to pack an operand, nothing prints, nothing fails on sizes: a size of 0 is no work.
 *
 * A *target* is an instruction set with the tile sizes that suit it. The library is built for the generic
 * architecture; kernels are compiled once per target and chosen at run time by kernel_target_best(), or
 * forced by name, so that each path can be tested on one machine.
 *
 * Same machine, same target, same input: same bits, whatever the number of threads. Two targets may differ in
 * the last bits of a product (one has fused multiply-add, one has not); all else is the same on all
 * targets. */
#pragma once

#include "kernels/thread_pool.h"

/* ---- targets ---- */

struct kernel_target;
const struct kernel_target *kernel_target_at(int i); /* usable on this processor, best first; NULL: no more */
const struct kernel_target *kernel_target_best(void);
/* Floats of an operand that stays in the second-level cache while others stream past it. */
int kernel_target_near_floats(const struct kernel_target *t);
const char *kernel_target_name(const struct kernel_target *t);

/* ---- matrix products ---- */

/* An element of C before the first sum: itself, zero, an element of `init`, or relu of itself. */
enum gemm_first { GEMM_FIRST_NONE, GEMM_FIRST_ZERO, GEMM_FIRST_COPY, GEMM_FIRST_RELU };
enum gemm_last { GEMM_LAST_NONE, GEMM_LAST_RELU };

/* C[i,j] = last(first(i,j) + sum of A_b[i,p] * B_b[p,j] over p < k and b < batch).
 * Strides are named by operand and index: a_m is the step in A from one row to the next. `init` has strides
 * of its own, so that a bias is an init with a stride of 0. With `first` zero or copy, C is never read. */
struct gemm {
    int64_t m, n, k, batch;
    int64_t a_m, a_k, a_batch;
    int64_t b_k, b_n, b_batch;
    int64_t c_m, c_n;
    int64_t init_m, init_n;
    enum gemm_first first;
    enum gemm_last last;
    bool even_sums; /* sums are split by k and batch alone: an element has the same bits whatever m and n */
};

/* The lists, if given, hold the `batch` places of A_b and B_b; then a or b and its batch stride is unused. */
struct gemm_operands {
    const float *a, *b;
    const float *const *a_list, *const *b_list;
    const float *init;
    float *c;
};

/* A product prepared once and run often: it fixes packing, blocking and sharing. */
struct gemm_plan {
    struct gemm g; /* rows and columns may have changed places, so that C has unit stride along rows */
    const struct kernel_target *target;
    bool swapped, pack_a, pack_b, prefetch;
    bool block_a;             /* A is packed a block of panels at a time, not panel by panel */
    bool needs_tile_copy;     /* C or init cannot be touched by whole vectors */
    int64_t m_block, n_block; /* rows and columns that are worked on at a time */
    int64_t chunks, k_parts,
        batch_block;          /* a chunk is a k_parts-th of k, or all of k of batch_block matrices */
    int64_t depth;            /* products that the longest chunk adds to an element */
    int64_t m_parts, n_parts; /* the grid of tasks, or of runs of tasks that get smaller, one per thread */
    int64_t runs, run_tasks;  /* runs 0: the tasks are all alike */
    int64_t own_rows;         /* the first rows of C, with which runs begin: the grid covers the others */
    int64_t own_tasks;        /* tasks of a run in its own rows */
    bool in_place;            /* one chunk, one block, nothing is copied, rows fill their vectors */
    bool small;               /* and one task; its columns are in `tiles` tiles */
    int64_t tiles, tile_columns, wider_tiles;
    int vectors; /* vectors in a column of a tile */
};

void gemm_prepare(struct gemm_plan *plan, const struct gemm *g, const struct kernel_target *target,
                  int threads);
/* `pool` may be NULL: one thread. */
void gemm_run(const struct gemm_plan *plan, const struct gemm_operands *o, struct pool *pool);

/* Steps from one product's operands to the next. */
struct gemm_steps {
    int64_t a, b, init, c;
};

/* `count` products in a row, the first at `o`, which has no lists. */
void gemm_run_row(const struct gemm_plan *plan, const struct gemm_operands *o, int64_t count,
                  const struct gemm_steps *steps, struct pool *pool);

/* ---- moves ---- */

/* A matrix in memory: element (i, j) is at[i * row + j * column]. Results may be written over an operand of
 * the same layout; any other overlap is the caller's mistake. */
struct view {
    float *at;
    int64_t row, column;
};
struct const_view {
    const float *at;
    int64_t row, column;
};

void zero_2d(struct view to, int64_t rows, int64_t columns);
void copy_2d(struct view to, struct const_view from, int64_t rows, int64_t columns); /* bit for bit */
void relu_2d(struct view to, struct const_view from, int64_t rows, int64_t columns); /* x > 0 ? x : 0 */

/* ---- half precision ---- */

/* IEEE binary16 and bfloat16, to nearest even, subnormals kept; a NaN becomes a quiet one with the upper bits
 * of its payload. All targets give the same bits. */
void fp16_from_fp32(const struct kernel_target *t, uint16_t *to, const float *from, int64_t count);
void fp32_from_fp16(const struct kernel_target *t, float *to, const uint16_t *from, int64_t count);
void bf16_from_fp32(uint16_t *to, const float *from, int64_t count);
void fp32_from_bf16(float *to, const uint16_t *from, int64_t count);
