/* A builder for generators that names, shapes and declares tensors by itself.
 *
 * A generator is a sequence of calls; each adds one op and returns its output. The output's shape follows
 * from the op's index string. A tensor is declared in the graph when an op first uses it, so a truncated
 * graph declares only used tensors. Failures are remembered: calls after one do nothing, and gen_finish
 * reports it. */
#pragma once

#include "graph/builder.h"
#include "files/generate.h"

/* Name, number of options, summary. Each has a file gen_NAME.c. */
#define GENERATORS(X)                                                                                        \
    X(flash, 7, "tiled attention with a running softmax, one op per step of each tile")                      \
    X(block, 5, "transformer blocks in a row: attention, MLP, norms and residuals")                          \
    X(decode, 7, "one token step of a decoder against its key and value caches, cut at a number of ops")     \
    X(staircase, 3, "pairs of growing or shrinking buffers that fit only without gaps")                      \
    X(random, 7, "a bare list of buffers with lives, sizes and in-place edges drawn from a seed")            \
    X(cut, 6, "a list whose least height is known: a rectangle cut into buffers without gaps")               \
    X(d2m, 6,                                                                                                \
      "variables in scratch memory or spilled with stream buffers at their uses: chains with skip edges")

#define GENERATOR_DECLARE(name, count, summary)                                                              \
    extern const struct lx_option gen_##name##_options[count];                                               \
    const struct lx_graph *gen_##name(const int64_t *values, lx_status *st);
GENERATORS(GENERATOR_DECLARE)
#undef GENERATOR_DECLARE

/* Limit on ops, so that tensors fit into LX_MAX_ITEMS as well. */
enum { GEN_MAX_OPS = 300000 };

struct gen_tensor {
    const char *name;
    enum lx_role role;
    int rank; /* -1: sized by `bytes` */
    int64_t shape[LX_MAX_RANK], bytes;
    int32_t number; /* in the builder; -1: unused so far */
};

struct gen {
    struct graph_builder b;
    VEC(struct gen_tensor) tensors;
    const char *scope; /* prefix of every name */
    int64_t op_limit;  /* further ops are left out; 0: none */
    bool failed;
    lx_status *st;
};

/* `rank, shape` from the extents. */
#define SHAPE(...)                                                                                           \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[])                             \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }

/* Errors are sticky: only gen_finish needs a check. */
void gen_begin(struct gen *g, const char *name, const char *summary, lx_status *st);
void gen_scope(struct gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
const struct lx_graph *gen_finish(struct gen *g);

/* Tensors are numbers for these functions only; -1: the result of an op left out, and an op with such an
 * input is left out too. Role LX_ROLE_COUNT: derived from use. */
int32_t gen_tensor(struct gen *g, const char *name, enum lx_role role, int rank, const int64_t *shape);
int32_t gen_bytes(struct gen *g, const char *name, enum lx_role role, int64_t bytes);

/* Adds an op that writes a new tensor named like the op. */
int32_t gen_unary(struct gen *g, const char *name, const char *kind, const char *einsum, int32_t a);
int32_t gen_binary(struct gen *g, const char *name, const char *kind, const char *einsum, int32_t a,
                   int32_t b);
/* Pointwise with a constant. */
int32_t gen_constant(struct gen *g, const char *name, const char *kind, int32_t a, double value);
/* The part of `whole` at `offset`. */
int32_t gen_slice(struct gen *g, const char *name, int32_t whole, const int64_t *offset, int rank,
                  const int64_t *shape);
/* Writes `part` into `whole`. */
void gen_insert(struct gen *g, const char *name, int32_t part, int32_t whole, const int64_t *offset);
/* Any op on existing tensors, without an index string. */
void gen_plain(struct gen *g, const char *name, const char *kind, int count, const int32_t *inputs,
               int32_t output);

/* Divides rows of [s, m] by the root of their mean square, times a weight [m]: six ops. */
int32_t gen_rms_norm(struct gen *g, const char *name, int32_t x);
/* Softmax over the last index, `letters[last]`, of the scores: five ops. */
int32_t gen_softmax(struct gen *g, const char *name, int32_t scores, const char *letters);
