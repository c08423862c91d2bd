/* The second stage: where each element of a tensor stands in device memory.
 *
 * Device memory is read in sticks (128 bytes on Spyre). A layout is a row-major box of sticks: its last
 * dimension is the inside of a stick, the others count sticks. For a host tensor of rank r and a dimension
 * order o the device dimensions are o[1], ..., o[r-2], tiles of o[r-1], o[0], inside of o[r-1]; so the stick
 * runs along host dimension o[r-1] and device bytes = stick bytes * product of all sizes but the last. A
 * sparse layout has one element per stick and no dimension along which sticks run.
 *
 * The stage gives every tensor one layout and puts a restickify op before each op whose operands would not
 * have their sticks where the op needs them. Its result is a new graph, so that later stages see those
 * copies as ordinary ops. */
#ifndef LX_LAYOUT_LAYOUT_H
#define LX_LAYOUT_LAYOUT_H

#include "graph/graph.h"

/* Host dimensions, the tiles of the stick and, in sparse layouts, its synthetic inside. */
enum { LX_MAX_DEVICE_RANK = LX_MAX_RANK + 2 };

struct lx_layout {
    enum lx_dtype dtype;
    int rank; /* device dimensions, the inside of the stick last; 0: the tensor is known by its bytes only */
    int64_t size[LX_MAX_DEVICE_RANK];
    int64_t stride_map[LX_MAX_DEVICE_RANK];   /* host elements per step; -1: synthetic, or host extent 1 */
    int64_t step[LX_MAX_DEVICE_RANK];         /* indices of the host dimension per step */
    signed char host_dim[LX_MAX_DEVICE_RANK]; /* -1: synthetic */
    int host_rank;
    int64_t host_shape[LX_MAX_RANK];
    int stick_dim; /* the host dimension along which sticks run; -1: none (sparse, or a scalar) */
    int64_t stick_elements;
    int64_t stick_bytes; /* as it is stored: of blocks (bfp8, bfp4) less than the device's */
};

/* Elements of a stick: what the device stores, which is 16 bits for bool. */
int64_t lx_stick_elements(enum lx_dtype dtype, int64_t stick_bytes);

/* `stride` NULL: row-major. `order` NULL: identity; with rank + 1 entries of which the last is -1: sparse. */
bool lx_layout_make(enum lx_dtype dtype, int rank, const int64_t *shape, const int64_t *stride,
                    const int *order, int order_count, int64_t stick_bytes, struct lx_layout *out,
                    lx_status *st);
/* The natural order with the stick along `stick_dim`, which changes places with the last; -1: sparse. */
bool lx_layout_with_stick(enum lx_dtype dtype, int rank, const int64_t *shape, int stick_dim,
                          int64_t stick_bytes, struct lx_layout *out, lx_status *st);
/* Pads host dimension `dim`, which is not the stick's, to `extent` positions. */
bool lx_layout_pad(struct lx_layout *l, int dim, int64_t extent);

/* Device elements and bytes with all padding; INT64_MAX if beyond it. */
int64_t lx_layout_elements(const struct lx_layout *l);
int64_t lx_layout_bytes(const struct lx_layout *l);
bool lx_layout_equal(const struct lx_layout *a, const struct lx_layout *b);

/* One restickify op that the stage added. */
struct lx_restickify {
    int32_t op;       /* of the new graph */
    int32_t before;   /* the op of the new graph that needs it */
    int32_t from, to; /* tensors of the new graph */
    int64_t elements; /* device elements moved: its cost */
};

/* Rows of a matmul's second operand that were rounded up to whole sticks of its first. */
struct lx_padding {
    int32_t op, tensor;
    int dim;
    int64_t from, to;
};

struct lx_layouts {
    const struct lx_graph *graph;    /* owned: without dead ops, with restickify ops */
    const struct lx_layout *layouts; /* per tensor of the new graph */
    const int32_t *origin;    /* per tensor of the new graph: that of the old one it holds the values of */
    const int32_t *op_origin; /* per op of the new graph: the old op, or -1 for an added restickify */
    const signed char *stick_var; /* per op: the einsum variable (or dimension of a view) its sticks run
                                     along; of a contraction the output's; -1: none */
    const bool *rewritten;        /* per tensor: more than one op writes it; NULL: not looked for */
    const struct lx_restickify *restickifies;
    int32_t restickify_count;
    const struct lx_padding *paddings;
    int32_t padding_count;
    int32_t dead_ops;       /* that were left out */
    int64_t moved_elements; /* by the added restickifies and by views with unaligned offsets */
    int64_t moved_bound;    /* no choice of layouts moves less; equal to the former: proven cheapest */
    struct arena *memory;
};

/* NULL: `st` says which op cannot be laid out. The old graph stays the caller's. */
struct lx_layouts *lx_layouts_make(const struct lx_graph *g, lx_status *st);
void lx_layouts_free(struct lx_layouts *l);
/* As JSON: malloc'ed, or NULL when memory is out. */
char *lx_layouts_to_json(const struct lx_layouts *l, size_t *length);

#endif
