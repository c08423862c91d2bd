/* The compute kernels of the device: fp32 arithmetic on blocks of memory, as fast as the processor allows.
 *
 * What is here: matrix products (one, or the sum over a batch) with their first and last touch fused into the
 * store; moves (zero, copy, relu, transpose) between any two 2-D layouts; pointwise functions; reductions along
 * an axis; conversions from and to fp16 and bf16.
 *
 * Everything is in elements, never in bytes, and every stride may be any integer (0 repeats an element, a
 * negative one walks backwards), as long as no two results share a place. Nothing allocates but a product
 * that has to pack a large operand, nothing prints, nothing fails on sizes: a size of 0 is no work.
 *
 * A *target* is an instruction set with the tile sizes that suit it. The library is built for the generic
 * architecture; kernels are compiled once a target and chosen at run time by kernel_target_best(), or forced
 * by name, so that each path can be tested on one machine.
 *
 * Same machine, same target, same input: same bits, whatever the number of threads. Two targets may differ in
 * the last bits of a product (one has fused multiply-add, one has not); all else is the same on all targets. */
#ifndef LX_DEVICE_KERNELS_KERNELS_H
#define LX_DEVICE_KERNELS_KERNELS_H

#include "device/kernels/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- targets ---- */

struct kernel_target;
const struct kernel_target *kernel_target_at(int i); /* best first, those this processor can run; NULL: no more */
const struct kernel_target *kernel_target_find(const char *name); /* NULL: unknown, or cannot run here */
const struct kernel_target *kernel_target_best(void);
const char *kernel_target_name(const struct kernel_target *t);

/* ---- matrix products ---- */

/* What an element of C is before the first sum into it: itself, zero, an element of `init`, or relu of itself. */
enum gemm_first { GEMM_FIRST_NONE, GEMM_FIRST_ZERO, GEMM_FIRST_COPY, GEMM_FIRST_RELU };
enum gemm_last { GEMM_LAST_NONE, GEMM_LAST_RELU };

/* C[i,j] = last(first(i,j) + sum of A_b[i,p] * B_b[p,j] over p < k and b < batch).
 * Strides are named by operand and index: a_m is the step in A from one row to the next. `init` has strides of
 * its own, so that a bias is an init with a stride of 0. With `first` zero or copy, C is never read. */
struct gemm {
    int64_t m, n, k, batch;
    int64_t a_m, a_k, a_batch;
    int64_t b_k, b_n, b_batch;
    int64_t c_m, c_n;
    int64_t init_m, init_n;
    enum gemm_first first;
    enum gemm_last last;
};

/* The lists, where given, hold the `batch` places of A_b and B_b; then a or b and its batch stride is unused. */
struct gemm_operands {
    const float *a, *b;
    const float *const *a_list, *const *b_list;
    const float *init;
    float *c;
};

/* A product prepared once and run often: what to pack, how to block and how to share are decided here. */
struct gemm_plan {
    struct gemm g; /* rows and columns may have changed places, so that C has unit stride along rows */
    const struct kernel_target *target;
    bool swapped, pack_a, pack_b, direct;
    bool needs_tile_copy; /* C or init cannot be touched by whole vectors */
    int64_t m_block, n_block;             /* rows and columns that are worked on at a time */
    int64_t chunks, k_parts, batch_block; /* a chunk is a k_parts-th of k, or all of k of batch_block matrices */
    int64_t depth;                        /* products that the longest chunk adds to an element */
    int64_t m_parts, n_parts; /* the grid of tasks */
    bool small;               /* one task, one chunk, one block: the columns in `tiles` tiles */
    int64_t tiles, tile_columns, wider_tiles;
    int vectors; /* rows of a tile */
};

void gemm_prepare(struct gemm_plan *plan, const struct gemm *g, const struct kernel_target *target, int threads);
/* False: memory for packing is out, C is as it was or partly summed. `pool` may be NULL: one thread. */
bool gemm_run(const struct gemm_plan *plan, const struct gemm_operands *o, struct pool *pool);

/* ---- moves ---- */

/* A matrix of `rows` x `columns`; each side has a step between rows and one between columns. */
void zero_2d(float *to, int64_t to_row, int64_t to_column, int64_t rows, int64_t columns);
void copy_2d(float *to, int64_t to_row, int64_t to_column, const float *from, int64_t from_row, int64_t from_column,
             int64_t rows, int64_t columns);
void relu_2d(float *to, int64_t to_row, int64_t to_column, const float *from, int64_t from_row, int64_t from_column,
             int64_t rows, int64_t columns);

#endif
