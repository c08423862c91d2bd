/* The parts of a target; only for the kernels themselves. */
#pragma once

#include "kernels/kernels.h"

/* Vectors of rows and columns of the largest register tile of any target; the longest chunk of a sum for
 * which a single panel of A is packed, on the stack. */
enum { TILE_VECTORS_MAX = 4, TILE_COLUMNS_MAX = 16, TILE_ROWS_MAX = 64, PANEL_DEPTH = 512 };

/* Where the first values of a tile come from. */
enum tile_init { TILE_INIT_ZERO, TILE_INIT_ROWS, TILE_INIT_SPLAT };

/* Register tiles in a row, side by side or one below the other: each is c[i + j * c_n] for all rows i of its
 * vectors and its columns j, and the next has everything *_tile further. A has unit stride along rows. */
struct gemm_tile {
    int64_t tiles, k, batch;
    const float *a, *b;
    const float *const *a_list, *const *b_list; /* or NULL; else an operand is at list[i] + offset */
    int64_t a_offset, b_offset;
    int64_t a_k, a_batch, a_tile, b_k, b_n, b_batch, b_tile;
    const float *init; /* TILE_INIT_ROWS: init[i + j * init_n]; TILE_INIT_SPLAT: init[j * init_n] */
    int64_t init_n, init_tile;
    float *c;
    int64_t c_n, c_tile;
    enum tile_init init_kind;
    bool first_relu, last_relu, prefetch;
};

typedef void gemm_kernel(const struct gemm_tile *t);

/* packed[p * width + i] = from[i * step_i + p * step_p] for i < count, 0 for count <= i < width. May write up
 * to PACK_SLACK floats behind the last one. */
enum { PACK_SLACK = 16 };
typedef void pack_panel(float *packed, int width, const float *from, int64_t step_i, int64_t step_p,
                        int count, int64_t k);

typedef void fp16_narrow(uint16_t *to, const float *from, int64_t count);
typedef void fp16_widen(float *to, const uint16_t *from, int64_t count);
fp16_narrow fp16_narrow_in_integers;
fp16_widen fp16_widen_in_integers;

struct kernel_target {
    const char *name;
    bool (*supported)(void);
    int vector_floats;
    int tile_vectors;                   /* of the tile for large products */
    int tile_columns[TILE_VECTORS_MAX]; /* the most columns of a tile of 1, 2, ... vectors; 0: no such tile */
    int m_block;     /* rows of a block of A that, with k_block columns, stays in the second-level cache */
    int n_block;     /* columns of a block of B that, with k_block rows, stays in the last-level cache */
    int k_block;     /* rows of a column tile of B that stays in the first-level cache */
    int near_floats; /* floats that stay in the second-level cache while others stream past */
    gemm_kernel *const (*kernel)[TILE_COLUMNS_MAX]; /* [vectors - 1][columns - 1] */
    pack_panel *pack;
    fp16_narrow *narrow; /* NULL: in integers */
    fp16_widen *widen;
};

extern const struct kernel_target kernel_target_avx512, kernel_target_avx2, kernel_target_vector128,
    kernel_target_portable;
