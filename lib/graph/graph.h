/* The first stage: reads a pattern file into tensors, ops and index maps, or a placement list.
 *
 * A graph is immutable and reference-counted. lx_graph_ref takes a reference, lx_graph_free returns one,
 * from any thread; the last one frees the graph. Ops are in execution order. Typical sizes: 5 to 6,000 ops;
 * at most LX_MAX_ITEMS of anything. */
#pragma once

#include "base/memory.h"
#include "graph/buffer.h"
#include "graph/kinds.h"
#include "graph/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LX_MAX_ITEMS = 1 << 19, LX_MAX_RANK = 8 };
/* Axes and devices of a team's grid (team/team.h). */
enum { LX_GRID_AXES = 3, LX_GRID_DEVICES = 1024 };

/* Element types: word, bits per element, and bits that LX_SHARING elements share in addition: the exponent
 * of a block float. Weights of bf16 may be stored as block floats; these are planned but never computed
 * with. */
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

/* Where a tensor is, and how it is distributed; words of patterns and launches. */
enum lx_memory { LX_MEMORY_HBM, LX_MEMORY_LX, LX_MEMORY_COUNT };
enum lx_placing { LX_INTERLEAVED, LX_SHARDED, LX_PLACING_COUNT };

/* Unknown words give the COUNT. Memories have synonyms. */
enum lx_memory lx_memory_find(const char *word);   /* hbm DRAM, lx L1 */
enum lx_placing lx_placing_find(const char *word); /* interleaved, sharded */
const char *lx_memory_word(enum lx_memory m);
const char *lx_placing_word(enum lx_placing p);

/* A state is in HBM before the first op, read and written by ops, and in HBM after the last op. */
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
    int rank; /* -1: only the bytes are known */
    const int64_t *shape;
    int64_t bytes;    /* whole tensor on the host */
    int line, column; /* position in the pattern; 0 if generated */
    /* Stated by the pattern: 0 nothing, otherwise 1 + enum lx_memory, 1 + enum lx_placing. */
    signed char memory, placing;
    /* cut[a]: the dimension sharded along axis a of the graph's grid, -1: none. Stated by the pattern if
     * `cut_stated`. */
    bool cut_stated;
    signed char cut[LX_GRID_AXES];
};

/* Letters name variables. Not isalpha: in every locale there are LX_MAX_VARS letters. */
enum { LX_MAX_VARS = 52 };

static inline bool lx_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* How an op iterates over a variable of its map. */
enum lx_nature {
    LX_ITERATED, /* index by index, independently: may be split, tiled, and the axis of a nest */
    LX_WINDOWED, /* `in` of a window: computed from output and tap variables, not iterated */
    LX_CHOSEN,   /* indexed by an index operand: never split, never the axis of a nest */
    LX_JOINED,   /* taken as a whole (the axis of a scan or sort): never split */
    LX_SHIFTED,  /* iterated, but shifted between operands: may be split, not the axis of a nest */
};

/* Index map of an operand whose dimensions are not plain variables: dimension d is (first + by * v) / hole
 * of its variable v. If that is not a whole number or outside the tensor, there is no element. The sticks
 * touched are at offset + stride * v, with a stride of at least 1. */
struct lx_walk {
    const int64_t *offset, *stride; /* per dimension; NULL: plain variables */
    const int64_t *first, *by, *hole;
};

/* A parsed einsum string. Variables are numbered by first appearance. */
struct lx_einsum {
    int var_count, operand_count; /* operands: inputs, then results */
    char letter[LX_MAX_VARS];
    signed char nature[LX_MAX_VARS]; /* enum lx_nature; read it with lx_var_nature */
    int64_t extent[LX_MAX_VARS];
    const signed char *const *index; /* per operand and dimension: the variable */
    const int *rank;                 /* per operand */
    const struct lx_walk *walks;     /* per operand; NULL: all plain */
};

/* The box of an input that an op reads, one entry per dimension. A negative stride goes backwards. */
struct lx_view {
    const int64_t *offset; /* NULL: the whole tensor */
    const int64_t *stride; /* NULL: 1 */
    /* NULL: as in another operand; otherwise 1 or, for a reduced variable, all from the offset on */
    const int64_t *size;
};

/* A split requested by the pattern: dimension `letter` of the op's einsum into `split` slices. */
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

/* Parameters of an op besides its operands; op_params.c lists the kinds that take each. */
struct lx_op_params {
    int64_t axis; /* -1: none */
    const int64_t *axes;
    int axis_count;
    const int64_t *low, *high, *interior; /* pad: one per dimension of the output; NULL: 0 everywhere */
    int low_count, high_count, interior_count;
    double start, step; /* iota; default 0 and 1 */
    int64_t k;
    bool descending, exclusive, reverse;
    enum lx_combine combine;
    const int64_t *group; /* collectives: the grid axes along which the participating devices differ */
    int group_count;
};

/* Elements of a constant, in order; a single one applies to all elements. */
struct lx_op_data {
    int64_t count;
    const double *numbers;
    const int64_t *wholes; /* exact integer values: 64 bits, unsigned from 2^63 on; 0 for fractions */
    const char *written;   /* text in a pattern whose tensor has type `dtype`; NULL: not written yet */
    enum lx_dtype dtype;
};
enum { LX_MAX_DATA = 4096 };

/* A window. Variable `in` of the first input is not iterated: in = (stride * out + dilation * tap - pad) /
 * hole. If that is not a whole number or outside the tensor, there is no term. */
struct lx_window {
    signed char in, out, tap; /* variables in the op's map */
    int64_t size;             /* number of taps */
    int64_t stride, dilation, pad, hole;
    bool count_all; /* mean: missing taps count as zeros */
};

struct lx_op {
    const char *name;
    const struct lx_kind *kind;
    int input_count;
    const int32_t *inputs;  /* tensor numbers */
    int32_t output;         /* tensor number of the first result */
    const int32_t *outputs; /* all results, `output` first */
    int output_count;
    int inplace;                 /* the input that shares the result's storage; -1: none */
    const char *einsum;          /* as written or implied; NULL for opaque ops, views and byte tensors */
    const struct lx_einsum *map; /* NULL if einsum is NULL */
    bool reduces;                /* some input variable is absent from the output */
    bool has_value;
    double value;                      /* the constant, if has_value */
    int64_t whole;                     /* its exact integer value, as in lx_op_data; otherwise 0 */
    const int64_t *offset, *stride;    /* view: one per dimension of the larger operand; otherwise NULL */
    const struct lx_view *views;       /* one per input; NULL: whole inputs */
    const struct lx_op_params *params; /* NULL: no parameters given */
    const struct lx_op_data *data;     /* constant: its elements; otherwise NULL */
    const struct lx_split_hint *hints;
    int hint_count;
    const struct lx_window *windows; /* contraction or reduction: its windows; NULL: none */
    int window_count;
    int line;
};

struct lx_expect {
    const char *solver; /* name as in the file; the caller checks that the solver exists */
    bool pass;
    int line, column; /* 0: not from a file */
};

/* A pass that a pattern states, in words; the options give them a meaning (plan/options.h). */
struct lx_stated_pass {
    const char *name, *value; /* a switch: "on" or "off" */
    int line, column;
};

struct arena;
struct users;

/* A placement list: buffers with given lives. */
/* A loop over ticks [first, end); one in another stands behind it. */
struct lx_list_loop {
    const char *name;
    int64_t first, end;
    int64_t times; /* LX_NO_LIMIT: unknown, but more than once */
};

struct lx_list {
    enum lx_objective objective;
    int64_t capacity, alignment; /* capacity -1: the device's usable scratchpad */
    const struct lx_buffer *buffers;
    int32_t buffer_count;
    const int64_t *buffer_ids;   /* distinct numbers from another tool; NULL: none */
    const struct lx_pool *pools; /* NULL: one pool of `capacity` bytes */
    int32_t pool_count;
    struct lx_bonds bonds;
    /* The placement that the file states, if it does: addresses (-1: off chip), pools (NULL: all in the first)
     * and who made it (NULL: unknown). */
    const int64_t *address;
    const int32_t *address_pool;
    const char *maker;
    bool pins_are_places; /* its fixed addresses are these, and no constraints where it is read as a plan */
    const struct lx_list_loop *loops; /* the program's, by first tick */
    int32_t loop_count;
};

/* What became of a model. Copies: ops of the graph that the import made to move data. `must_bytes`: of the
 * file's arguments what is read or changed, and its results, dense and once each. */
struct lx_imported {
    int64_t ops, mapped; /* ops of the file that are in use; of these with a meaning. 0: no model */
    int64_t copies, copied_bytes;
    int64_t must_bytes;
};

struct lx_graph {
    const char *name, *summary, *file;
    struct lx_device device;
    const struct lx_tensor *tensors;
    int32_t tensor_count;
    const struct lx_op *ops;
    int32_t op_count;
    /* The grid of devices for stated shards and groups; 0 axes: none. */
    int grid_axes;
    int grid[LX_GRID_AXES];

    const struct lx_list *list; /* the placement list of a pattern without tensors and ops; NULL: a graph */

    int64_t target_hbm_bytes; /* -1: none */
    const struct lx_expect *expects;
    int expect_count;
    const struct lx_stated_pass *passes;
    int pass_count;
    const char *expect_stage; /* the stage that must reject this pattern, or NULL */
    const char *expect_code;  /* the expected error code; may be from a later version */

    /* Covers the planned content: device, tensors, ops, buffers. File name, expectations and passes are left out. */
    uint64_t hash;
    char hash_word[17]; /* `hash` in hex digits */
    struct arena *memory;
    struct users *users;
    struct lx_imported imported;
    const struct lx_graph *came_from; /* the graph before rewriting (online.h); NULL: not rewritten */
    const struct lx_graph *sharing;   /* the graph that owns shared parts; NULL: nothing is shared */
    const char *report;               /* JSON of lx_graph_import, or NULL */
};

/* The pattern's objective. */
static inline enum lx_objective lx_graph_objective(const struct lx_graph *g)
{
    return g->list ? g->list->objective : LX_SPILL;
}

/* The number of buffer `i` in the tool that made the list; `otherwise` if there is none. */
static inline int64_t lx_graph_buffer_id(const struct lx_graph *g, int32_t i, int64_t otherwise)
{
    return g->list && g->list->buffer_ids ? g->list->buffer_ids[i] : otherwise;
}

/* The number of pools in the pattern's list. */
static inline int32_t lx_graph_pools(const struct lx_graph *g)
{
    return g->list ? g->list->pool_count : 0;
}

/* Operands of an op are its inputs, then its results; those from `input_count` on are written. All results
 * are made in one tick and indexed alike. */
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
/* The operand number of result `tensor`; -1: the op does not write `tensor`. */
static inline int op_operand_made(const struct lx_op *op, int32_t tensor)
{
    for (int i = op->input_count; i < op_operand_count(op); i++)
        if (op_operand(op, i) == tensor) return i;
    return -1;
}

/* The kind of op that makes only this result; NULL: the kind has no such result. */
const struct lx_kind *lx_result_kind(const struct lx_kind *kind, int result);
/* The op with this result alone; it shares the arrays of `op`. */
struct lx_op op_of_result(const struct lx_op *op, int result);
/* The op with only the results `which` (in rising order), written to `outputs`. False: there is no such
 * op. */
bool op_with_results(const struct lx_op *op, const int *which, const int32_t *outputs, int count,
                     struct lx_op *out);

/* The dimension of an operand that variable `v` indexes, or -1. */
static inline int lx_einsum_dim(const struct lx_einsum *m, int operand, int v)
{
    int d = m->rank[operand] - 1;
    while (d >= 0 && m->index[operand][d] != v) d--;
    return d;
}

/* The window with variable `v`, or NULL. */
const struct lx_window *lx_window_of(const struct lx_op *op, int v);
bool lx_windows_equal(const struct lx_op *a, const struct lx_op *b);
/* The input index of tap `tap` at output index `out`; -1: none, or before the input. It may be past the
 * end. */
int64_t lx_window_at(const struct lx_window *w, int64_t out, int64_t tap);
const char *lx_dtype_word(enum lx_dtype d);
int lx_dtype_bits(enum lx_dtype d);
/* Bits of `elements` elements including shared ones; false on overflow of 2^63. */
bool lx_dtype_size(enum lx_dtype d, int64_t elements, int64_t *bits);
/* Whether elements of this type share exponents. */
bool lx_dtype_shares(enum lx_dtype d);
/* Whether the op may read this input in a block-float type: contractions may, and the table of a gather. */
bool lx_takes_blocks(const struct lx_op *op, int input);
const char *lx_role_word(enum lx_role r);
/* Whether it is in HBM before the first op; whether it must be there after the last. */
bool lx_role_arrives(enum lx_role r);
bool lx_role_leaves(enum lx_role r);
const char *lx_combine_word(enum lx_combine c);
/* The nature of variable `v` in the op's map. Ops without a map iterate over their dimensions. */
enum lx_nature lx_var_nature(const struct lx_op *op, int v);

/* Reads a pattern in any format of formats.h, recognized by content. "-" is standard input. NULL: `st` has
 * error, place and remedy. */
const struct lx_graph *lx_graph_read(const char *path, lx_status *st);
const struct lx_graph *lx_graph_of_text(const char *file, const char *text, size_t length, lx_status *st);
/* Adds a reference; NULL gives NULL. */
const struct lx_graph *lx_graph_ref(const struct lx_graph *g);
__attribute__((visibility("default"))) void lx_graph_free(const struct lx_graph *g); /* also in lxplan.h */
FREED_AT(graph_free_at, const struct lx_graph *, lx_graph_free)

/* The same graph for another device, or with other usable bytes per core (for a list: another capacity).
 * Shares everything else with `g`; has its own hash and reference. */
const struct lx_graph *lx_graph_with_device(const struct lx_graph *g, const struct lx_device *device);
/* A copy with the facts of its import. */
const struct lx_graph *lx_graph_with_imported(const struct lx_graph *g, const struct lx_imported *facts);
/* The graph with split hints for one op. */
const struct lx_graph *lx_graph_with_hints(const struct lx_graph *g, int32_t op,
                                           const struct lx_split_hint *hints, int count);
/* The graph with tensor `i`, of a list buffer `i`, in this memory. */
const struct lx_graph *lx_graph_with_memory(const struct lx_graph *g, int32_t i, enum lx_memory memory);
/* A list with a placement by somebody else, in its `address`, and without pins that are
 * such places. The arrays are copied; NULL: those of the list. */
const struct lx_graph *lx_graph_with_places(const struct lx_graph *g, const int64_t *address,
                                            const int32_t *pool);
const struct lx_graph *lx_graph_with_capacity(const struct lx_graph *g, int64_t usable_bytes, lx_status *st);

/* The pattern as JSON text from malloc, or NULL when out of memory. Reading it gives the same graph and
 * hash. */
char *lx_graph_to_json(const struct lx_graph *g, size_t *length);

/* Repeated layers: runs of ops with equal kinds, index maps, extents, parameters and links. */

/* Ops first to first + ops * times - 1. */
struct lx_repeat {
    int32_t first, ops, times;
};

/* Disjoint runs in the order of ops; result from malloc, `*count` entries. */
struct lx_repeat *lx_repeats(const struct lx_graph *g, int32_t *count);
