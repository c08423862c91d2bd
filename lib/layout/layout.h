/* The layout stage: where each element of a tensor stands in device memory.
 *
 * Device memory is read in sticks (128 bytes on Spyre). A layout is a row-major box of sticks: its last
 * dimension is the inside of a stick, the others count sticks. For a host tensor of rank r and a dimension
 * order o the device dimensions are o[1], ..., o[r-2], tiles of o[r-1], o[0], inside of o[r-1]. So the stick
 * runs along host dimension o[r-1], and device bytes = stick bytes * product of all sizes but the last. A
 * sparse layout has one element per stick and no stick dimension.
 *
 * The stage gives every tensor one layout. It puts a restickify op before each op that needs an operand's
 * stick along another dimension. The result is a new graph, where later stages see these copies as ordinary
 * ops. */
#pragma once

#include "graph/graph.h"

/* Host dimensions, the tiles of the stick and, in sparse layouts, a synthetic inside. */
enum { LX_MAX_DEVICE_RANK = LX_MAX_RANK + 2 };

struct lx_layout {
    enum lx_dtype dtype;
    int rank; /* device dimensions, the inside of the stick last; 0: only the tensor's bytes are known */
    int64_t size[LX_MAX_DEVICE_RANK];
    int64_t stride_map[LX_MAX_DEVICE_RANK];   /* host elements per step; -1: synthetic, or host extent 1 */
    int64_t step[LX_MAX_DEVICE_RANK];         /* host indices per step */
    signed char host_dim[LX_MAX_DEVICE_RANK]; /* -1: synthetic */
    int host_rank;
    int64_t host_shape[LX_MAX_RANK];
    int stick_dim; /* the host dimension along which sticks run; -1: none (sparse, or a scalar) */
    int64_t stick_elements;
    int64_t stick_bytes; /* stored bytes; less than the device's for blocks (bfp8, bfp4) */
};

/* Elements per stick. A bool takes 16 bits on the device. */
int64_t lx_stick_elements(enum lx_dtype dtype, int64_t stick_bytes);

/* `stride` NULL: row-major. `order` NULL: identity. An `order` of rank + 1 entries ending in -1 is sparse,
 * in LX_ROW_BY_ROW row by row. */
bool lx_layout_make(enum lx_dtype dtype, int rank, const int64_t *shape, const int64_t *stride,
                    const int *order, int order_count, int64_t stick_bytes, struct lx_layout *out,
                    lx_status *st);
/* Natural order, with `stick_dim` swapped with the last dimension. `stick_dim` -1: sparse. */
bool lx_layout_with_stick(enum lx_dtype dtype, int rank, const int64_t *shape, int stick_dim,
                          int64_t stick_bytes, struct lx_layout *out, lx_status *st);
/* Pads host dimension `dim` to `extent` positions. `dim` must not be the stick dimension. */
bool lx_layout_pad(struct lx_layout *l, int dim, int64_t extent);

/* Device elements and bytes including padding; INT64_MAX on overflow. */
int64_t lx_layout_elements(const struct lx_layout *l);
int64_t lx_layout_bytes(const struct lx_layout *l);
bool lx_layout_equal(const struct lx_layout *a, const struct lx_layout *b);

/* One restickify op that the stage added. */
struct lx_restickify {
    int32_t op;       /* in the new graph */
    int32_t before;   /* the op of the new graph that reads the copy */
    int32_t from, to; /* tensors of the new graph */
    int64_t elements; /* device elements moved: the cost */
};

/* Rows of a matmul's second operand, rounded up to whole sticks of its first. */
struct lx_padding {
    int32_t op, tensor;
    int dim;
    int64_t from, to;
};

struct lx_layouts {
    const struct lx_graph *graph;    /* owned: without dead ops, with restickify ops */
    const struct lx_layout *layouts; /* per tensor of the new graph */
    const int32_t *origin;           /* per tensor of the new graph: the old tensor whose values it holds */
    const int32_t *op_origin;        /* per op of the new graph: the old op, or -1 for an added restickify */
    /* Per op: the einsum variable (or view dimension) along which its output's sticks run; -1: none. */
    const signed char *stick_var;
    const bool *rewritten; /* per tensor: more than one op writes it; NULL: unknown */
    const bool *too_wide;  /* per op: only tiles of a nest keep its spans within the limit; NULL: no op */
    const struct lx_restickify *restickifies;
    int32_t restickify_count;
    const struct lx_padding *paddings;
    int32_t padding_count;
    int32_t dead_ops; /* ops left out */
    /* By the added restickifies and by views with unaligned offsets, and what padding adds to kernels. */
    int64_t moved_elements;
    int64_t moved_bound; /* lower bound on moved_elements over all layouts; equal: proved optimal */
    struct arena *memory;
};

/* With LX_WEIGHTS_FREE a weight's sticks run where its readers want them: the host packs it so. */
enum lx_weights { LX_WEIGHTS_FREE, LX_WEIGHTS_FIXED };

/* NULL: `st` names the op that has no layout. The caller keeps `g`. */
struct lx_layouts *lx_layouts_make(const struct lx_graph *g, enum lx_weights weights, lx_status *st);
void lx_layouts_free(struct lx_layouts *l);
/* JSON text from malloc, or NULL when out of memory. */
char *lx_layouts_to_json(const struct lx_layouts *l, size_t *length);
