/* The first stage: a pattern file becomes tensors, ops and index maps, or a placement list.
 *
 * A graph is constant once it has been made, and shared: lx_graph_ref takes a reference, lx_graph_free gives
 * one back, from any thread, and the last one ends it with all that is in it. Ops stand in the order in which
 * they run. Typical sizes: 5 to 6,000 ops; at most LX_MAX_ITEMS of anything. */
#ifndef LX_GRAPH_GRAPH_H
#define LX_GRAPH_GRAPH_H

#include "base/status.h"
#include "graph/buffer.h"
#include "graph/kinds.h"
#include "graph/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LX_MAX_ITEMS = 1 << 19, LX_MAX_RANK = 8 };
/* Axes of a grid of devices (team/team.h). */
enum { LX_GRID_AXES = 3, LX_GRID_DEVICES = 1024 };

/* Element types: word, bits of an element, and bits that LX_SHARING elements share beside their own: the
 * exponent of blocks, as which weights of bf16 may be stored. These are planned and never computed with. */
enum { LX_SHARING = 16 };
#define LX_DTYPES(X)                                                                                         \
    X(LX_FP16, "fp16", 16, 0)                                                                                \
    X(LX_BF16, "bf16", 16, 0)                                                                                \
    X(LX_FP32, "fp32", 32, 0)                                                                                \
    X(LX_FP8, "fp8", 8, 0)                                                                                   \
    X(LX_INT64, "int64", 64, 0)                                                                              \
    X(LX_INT32, "int32", 32, 0)                                                                              \
    X(LX_INT8, "int8", 8, 0)                                                                                 \
    X(LX_INT4, "int4", 4, 0)                                                                                 \
    X(LX_BOOL, "bool", 8, 0)                                                                                 \
    X(LX_FP64, "fp64", 64, 0)                                                                                \
    X(LX_INT16, "int16", 16, 0)                                                                              \
    X(LX_UINT8, "uint8", 8, 0)                                                                               \
    X(LX_UINT16, "uint16", 16, 0)                                                                            \
    X(LX_UINT32, "uint32", 32, 0)                                                                            \
    X(LX_UINT64, "uint64", 64, 0)                                                                            \
    X(LX_FP8_E5M2, "fp8_e5m2", 8, 0)                                                                         \
    X(LX_BFP8, "bfp8", 8, 8)                                                                                 \
    X(LX_BFP4, "bfp4", 4, 8)

#define LX_DTYPE_ENUM(id, word, bits, shared) id,
enum lx_dtype { LX_DTYPES(LX_DTYPE_ENUM) LX_DTYPE_COUNT };
#undef LX_DTYPE_ENUM

/* Where a tensor is, and how it lies there: words of patterns and of launches. */
enum lx_memory { LX_MEMORY_HBM, LX_MEMORY_LX, LX_MEMORY_COUNT };
enum lx_placing { LX_INTERLEAVED, LX_SHARDED, LX_PLACING_COUNT };

/* Unknown words give the COUNT. Memories go by their names elsewhere, too. */
enum lx_memory lx_memory_find(const char *word);   /* hbm DRAM, lx L1 */
enum lx_placing lx_placing_find(const char *word); /* interleaved, sharded */
const char *lx_memory_word(enum lx_memory m);
const char *lx_placing_word(enum lx_placing p);

/* A state arrives in HBM, is read and written by ops, and leaves in HBM. */
#define LX_ROLES(X)                                                                                          \
    X(LX_INPUT, "input")                                                                                     \
    X(LX_WEIGHT, "weight")                                                                                   \
    X(LX_INTERMEDIATE, "intermediate")                                                                       \
    X(LX_OUTPUT, "output")                                                                                   \
    X(LX_STATE, "state")
#define LX_ROLE_ENUM(id, word) id,
enum lx_role { LX_ROLES(LX_ROLE_ENUM) LX_ROLE_COUNT };
#undef LX_ROLE_ENUM

struct lx_tensor {
    const char *name;
    enum lx_role role;
    enum lx_dtype dtype;
    int rank; /* -1: known by its bytes only */
    const int64_t *shape;
    int64_t bytes;    /* of the whole tensor on the host */
    int line, column; /* where the pattern declares it; 0 if it was generated */
    /* What the pattern states: 0 nothing, else 1 + enum lx_memory, 1 + enum lx_placing. */
    signed char memory, placing;
    /* What each axis of the graph's grid cuts it along, -1: nothing; stated by the pattern if
     * `cut_stated`. */
    bool cut_stated;
    signed char cut[LX_GRID_AXES];
};

/* Letters name variables. Not isalpha: LX_MAX_VARS letters there are, in every locale. */
enum { LX_MAX_VARS = 52 };

static inline bool lx_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* How an op goes along a variable of its map. */
enum lx_nature {
    LX_ITERATED, /* index by index, each by itself: may be split, tiled, and the axis of a nest */
    LX_WINDOWED, /* `in` of a window: follows from the variables of its outputs and taps, is not gone along itself */
    LX_CHOSEN,  /* an index operand picks from it: never split, never the axis of a nest */
    LX_JOINED,  /* taken as a whole (the axis of a scan, of a sort): never split either */
    LX_SHIFTED, /* iterated, but operands have it at other places: may be split, is no axis of a nest */
};

/* How an operand is walked whose dimensions are not just variables: dimension d is (first + by * v) / hole of
 * its variable v; where that is no whole number, or outside of the tensor, there is nothing of it. The sticks
 * that are touched are those of offset + stride * v, with a stride of at least 1. */
struct lx_walk {
    const int64_t *offset, *stride; /* per dimension; NULL: the operand has plain variables */
    const int64_t *first, *by, *hole;
};

/* An einsum string taken apart. Variables are numbered in order of first appearance. */
struct lx_einsum {
    int var_count, operand_count; /* operands: the inputs, then the results */
    char letter[LX_MAX_VARS];
    signed char nature[LX_MAX_VARS]; /* of enum lx_nature; ask lx_var_nature */
    int64_t extent[LX_MAX_VARS];
    const signed char *const *index; /* per operand, per dimension: its variable */
    const int *rank;                 /* per operand */
    const struct lx_walk *walks;     /* per operand; NULL: all are plain */
};

/* The box of an input that an op reads: one entry per dimension. A stride below 0 goes backwards. */
struct lx_view {
    const int64_t *offset; /* NULL: all of the tensor */
    const int64_t *stride; /* NULL: 1 */
    const int64_t *size;   /* NULL: as another operand; else 1, or, if it is reduced, all that is left */
};

/* A split that the pattern asks for: dimension `letter` of the op's einsum into `split` slices. */
struct lx_split_hint {
    char letter;
    int64_t split;
};

/* How a scatter combines an element with an update. */
enum lx_combine {
    LX_COMBINE_REPLACE,
    LX_COMBINE_ADD,
    LX_COMBINE_MUL,
    LX_COMBINE_MIN,
    LX_COMBINE_MAX,
    LX_COMBINE_COUNT
};

/* Parameters of some kinds beside their operands; op_params.c has which kind takes what. */
struct lx_op_params {
    int64_t axis; /* -1: none */
    const int64_t *axes;
    int axis_count;
    const int64_t *low, *high, *interior; /* of a pad, one per dimension of its output; NULL: 0 everywhere */
    int low_count, high_count, interior_count;
    double start, step; /* of an iota; 0 and 1 where nothing is said */
    int64_t k;
    bool descending, exclusive, reverse;
    enum lx_combine combine;
    const int64_t *group; /* of what devices do together: the axes of the grid along which these differ */
    int group_count;
};

/* Numbers of a constant, in order; one of them is for all elements. */
struct lx_op_data {
    int64_t count;
    const double *numbers;
    const int64_t
        *wholes; /* the same exactly where they are integers: 64 bits, from 2^63 on unsigned; else 0 */
    const char *written; /* as a pattern has them whose tensor is of this type; NULL: that is not known yet */
    enum lx_dtype dtype;
};
enum { LX_MAX_DATA = 4096 };

/* A window: variable `in` of the first input is not iterated. It is (stride * out + dilation * tap - pad) /
 * hole; where that is no whole number or outside, there is no term. */
struct lx_window {
    signed char in, out, tap; /* variables of the op's map */
    int64_t size;             /* taps */
    int64_t stride, dilation, pad, hole;
    bool count_all; /* of a mean: taps that are left out count, as zeros */
};

struct lx_op {
    const char *name;
    const struct lx_kind *kind;
    int input_count;
    const int32_t *inputs;  /* tensors */
    int32_t output;         /* tensor */
    const int32_t *outputs; /* all results; the first is `output` */
    int output_count;
    int inplace;                 /* the input whose storage the result is; -1: none */
    const char *einsum;          /* as written or implied; NULL for opaque ops, views and byte tensors */
    const struct lx_einsum *map; /* NULL where einsum is */
    bool reduces;                /* some variable of the inputs is not in the output */
    bool has_value;
    double value;                      /* the constant, where has_value */
    int64_t whole;                     /* the same exactly if it is an integer, as in lx_op_data; else 0 */
    const int64_t *offset, *stride;    /* of a view: one per dimension of the larger operand; else NULL */
    const struct lx_view *views;       /* one per input; NULL: all are read as they are */
    const struct lx_op_params *params; /* NULL: the pattern says nothing of the kind */
    const struct lx_op_data *data;     /* of a constant; else NULL */
    const struct lx_split_hint *hints;
    int hint_count;
    const struct lx_window *windows; /* of a contraction or a reduction; NULL: none */
    int window_count;
    int line;
};

struct lx_expect {
    const char *solver; /* as the file has it: whether there is one of this name is for the caller to say */
    bool pass;
    int line, column; /* 0: from no file */
};

struct arena;
struct users;

/* A placement list: buffers whose lives are given. */
struct lx_list {
    enum lx_objective objective;
    int64_t capacity, alignment; /* capacity -1: the device's usable scratchpad */
    const struct lx_buffer *buffers;
    int32_t buffer_count;
    const int64_t *buffer_ids;   /* that their maker knows them by, all different; NULL: none */
    const struct lx_pool *pools; /* NULL: one, of `capacity` bytes */
    int32_t pool_count;
    struct lx_bonds bonds;
};

struct lx_graph {
    const char *name, *summary, *file;
    struct lx_device device;
    const struct lx_tensor *tensors;
    int32_t tensor_count;
    const struct lx_op *ops;
    int32_t op_count;
    /* The grid of devices for which cuts and groups are stated; 0 axes: none is. */
    int grid_axes;
    int grid[LX_GRID_AXES];

    const struct lx_list *list; /* the pattern is a placement list, without tensors and ops; NULL: a graph */

    int64_t target_hbm_bytes; /* -1: none */
    const struct lx_expect *expects;
    int expect_count;
    const char *expect_stage; /* the stage that must refuse this pattern, or NULL */
    const char *expect_code;  /* the word of the code it must give; may be one of a later version */

    /* Of what is planned: device, tensors, ops, buffers; not of names of files or expectations. */
    uint64_t hash;
    char hash_word[17]; /* the same in hex digits */
    struct arena *memory;
    struct users *users;
    const struct lx_graph
        *came_from;                 /* what it is a rewriting of (online.h); NULL: it is as it was written */
    const struct lx_graph *sharing; /* whose parts it shares; NULL: all are its own */
};

/* The objective that the pattern asks for. */
static inline enum lx_objective lx_graph_objective(const struct lx_graph *g)
{
    return g->list ? g->list->objective : LX_SPILL;
}

/* The number that the maker of a list knows buffer `i` by. */
static inline int64_t lx_graph_buffer_id(const struct lx_graph *g, int32_t i, int64_t otherwise)
{
    return g->list && g->list->buffer_ids ? g->list->buffer_ids[i] : otherwise;
}

/* Pools with capacities of their own. */
static inline int32_t lx_graph_pools(const struct lx_graph *g)
{
    return g->list ? g->list->pool_count : 0;
}

/* Operands of an op are its inputs, then its results, in order; those from `input_count` on are written. All
 * results are made in the one tick of the op, and are indexed alike. */
static inline int op_operand_count(const struct lx_op *op)
{
    return op->input_count + (op->output_count > 1 ? op->output_count : 1);
}
/* Tensor number of an operand. */
static inline int32_t op_operand(const struct lx_op *op, int operand)
{
    if (operand < op->input_count) return op->inputs[operand];
    return op->output_count > 1 ? op->outputs[operand - op->input_count] : op->output;
}
/* The operand as which the op writes a tensor; -1: it does not. */
static inline int op_operand_made(const struct lx_op *op, int32_t tensor)
{
    for (int i = op->input_count; i < op_operand_count(op); i++)
        if (op_operand(op, i) == tensor) return i;
    return -1;
}

/* The kind of an op that makes only this result of an op of that kind; NULL: it has fewer. */
const struct lx_kind *lx_result_kind(const struct lx_kind *kind, int result);
/* The op with this result alone; it points to what `op` points to. */
struct lx_op op_of_result(const struct lx_op *op, int result);
/* The op with the results `which` alone, which are in order and are written to `outputs`. False: there is no
 * such op. */
bool op_with_results(const struct lx_op *op, const int *which, const int32_t *outputs, int count,
                     struct lx_op *out);

/* The dimension of an operand that variable `v` indexes; -1: none does. */
static inline int lx_einsum_dim(const struct lx_einsum *m, int operand, int v)
{
    int d = m->rank[operand] - 1;
    while (d >= 0 && m->index[operand][d] != v) d--;
    return d;
}

/* The window that variable `v` is a part of; NULL: none. */
const struct lx_window *lx_window_of(const struct lx_op *op, int v);
bool lx_windows_equal(const struct lx_op *a, const struct lx_op *b);
/* Where in the input a tap of an output index lies; -1: nowhere, or before it. It may be behind its end. */
int64_t lx_window_at(const struct lx_window *w, int64_t out, int64_t tap);
const char *lx_dtype_word(enum lx_dtype d);
int lx_dtype_bits(enum lx_dtype d);
/* Bits of elements with what they share; false: beyond 2^63. */
bool lx_dtype_size(enum lx_dtype d, int64_t elements, int64_t *bits);
/* Elements of these have exponents in common. */
bool lx_dtype_shares(enum lx_dtype d);
/* May the op read this input as such? Products may, and who picks rows of a table. */
bool lx_takes_blocks(const struct lx_op *op, int input);
const char *lx_role_word(enum lx_role r);
/* Is it in HBM before the first op; and must it be there behind the last? */
bool lx_role_arrives(enum lx_role r);
bool lx_role_leaves(enum lx_role r);
const char *lx_combine_word(enum lx_combine c);
/* Variable `v` of the op's map (of an op without one: a dimension, which is iterated). */
enum lx_nature lx_var_nature(const struct lx_op *op, int v);

/* Read a pattern: any format of formats.h, by content. "-" is standard input. NULL: `st` says what is wrong,
 * where, and what to do. */
const struct lx_graph *lx_graph_read(const char *path, lx_status *st);
const struct lx_graph *lx_graph_of_text(const char *file, const char *text, size_t length, lx_status *st);
/* One more reference to the same graph; NULL gives NULL. */
const struct lx_graph *lx_graph_ref(const struct lx_graph *g);
__attribute__((visibility("default"))) void lx_graph_free(const struct lx_graph *g); /* also of lxplan.h */

/* The same graph on another device, or with other usable bytes per core (of a list: another capacity). It
 * shares everything else with `g`, which stays as it is; it has a hash and a reference of its own. */
const struct lx_graph *lx_graph_with_device(const struct lx_graph *g, const struct lx_device *device);
/* One op divided as these ask for. */
const struct lx_graph *lx_graph_with_hints(const struct lx_graph *g, int32_t op,
                                           const struct lx_split_hint *hints, int count);
const struct lx_graph *lx_graph_with_capacity(const struct lx_graph *g, int64_t usable_bytes, lx_status *st);

/* The pattern as our JSON: malloc'ed, or NULL when memory is out. Reading it back gives the same graph and
 * hash. */
char *lx_graph_to_json(const struct lx_graph *g, size_t *length);

/* Layers that a graph has several times, one behind the other: runs of ops that are alike in kinds, index
 * maps, extents and parameters, and linked alike. */

/* Ops first to first + ops * times - 1. */
struct lx_repeat {
    int32_t first, ops, times;
};

/* In the order of ops, none of them overlapping; malloc'ed, *count of them. */
struct lx_repeat *lx_repeats(const struct lx_graph *g, int32_t *count);

#endif
