/* The loop stage: one tile's contraction becomes a loop nest around a small matrix primitive.
 *
 * A nest is a list of loops, outermost first, over three operands: out[...] += in0[...] * in1[...]. Each loop
 * has a type that says which operands it walks (m: in0 and out, n: in1 and out, k: in0 and in1, summed away,
 * c: all three), an execution (shared: spread over threads, seq: one after the other, prim: inside the
 * primitive) and a stride in elements for each operand. Before the first sum into an output element `first`
 * touches it, after the last one `last` does.
 *
 * Six passes rewrite a nest; each keeps its result. A rule set makes their choices: "document" repeats the
 * source document's version, defects included; "lxplan" is the default.
 *
 * Typical nests have 3 to 12 loops, at most LX_LOOPS_MAX. Sizes and strides are at most 2^53, and so is the
 * extent of every operand (lx_loops_extent): no offset overflows. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LX_LOOPS_MAX = 64 };

#define LX_LOOP_TYPES(X)                                                                                     \
    X(LX_DIM_UNDEFINED, "undefined")                                                                         \
    X(LX_DIM_C, "c")                                                                                         \
    X(LX_DIM_M, "m")                                                                                         \
    X(LX_DIM_N, "n")                                                                                         \
    X(LX_DIM_K, "k")

#define LX_LOOP_EXECS(X)                                                                                     \
    X(LX_EXEC_SEQ, "seq")                                                                                    \
    X(LX_EXEC_PRIM, "prim")                                                                                  \
    X(LX_EXEC_SHARED, "shared")

/* Operations on an output element. As a first or last touch the unary ones work on the output itself. */
#define LX_TOUCHES(X)                                                                                        \
    X(LX_TOUCH_NONE, "none")                                                                                 \
    X(LX_TOUCH_ZERO, "zero")                                                                                 \
    X(LX_TOUCH_COPY, "copy")                                                                                 \
    X(LX_TOUCH_RELU, "relu")                                                                                 \
    X(LX_TOUCH_GEMM, "gemm")                                                                                 \
    X(LX_TOUCH_BRGEMM, "brgemm")

#define LX_LOOP_DTYPES(X)                                                                                    \
    X(LX_LOOP_FP32, "fp32")                                                                                  \
    X(LX_LOOP_FP64, "fp64")                                                                                  \
    X(LX_LOOP_FP16, "fp16")                                                                                  \
    X(LX_LOOP_BF16, "bf16")

#define LX_LOOP_ENUM(id, word) id,
enum lx_loop_type { LX_LOOP_TYPES(LX_LOOP_ENUM) LX_DIM_COUNT };
enum lx_loop_exec { LX_LOOP_EXECS(LX_LOOP_ENUM) LX_EXEC_COUNT };
enum lx_touch { LX_TOUCHES(LX_LOOP_ENUM) LX_TOUCH_COUNT };
enum lx_loop_dtype { LX_LOOP_DTYPES(LX_LOOP_ENUM) LX_LOOP_DTYPE_COUNT };
#undef LX_LOOP_ENUM

enum lx_loop_operand { LX_LOOP_IN0, LX_LOOP_IN1, LX_LOOP_OUT, LX_LOOP_OPERANDS };

struct lx_loop {
    enum lx_loop_type type;
    enum lx_loop_exec exec;
    int64_t size;
    int64_t stride[LX_LOOP_OPERANDS]; /* elements */
};

struct lx_loops {
    enum lx_touch first, main, last;
    enum lx_loop_dtype dtype;
    bool has_in1; /* false: a unary nest written without strides of in1 */
    int count;
    struct lx_loop loop[LX_LOOPS_MAX];
};

const char *lx_loop_type_word(enum lx_loop_type t);
const char *lx_loop_exec_word(enum lx_loop_exec e);
const char *lx_touch_word(enum lx_touch t);
const char *lx_loop_dtype_word(enum lx_loop_dtype d);
bool lx_touch_is_unary(enum lx_touch t);  /* zero, copy, relu */
bool lx_touch_contracts(enum lx_touch t); /* gemm, brgemm */

bool lx_loops_equal(const struct lx_loops *a, const struct lx_loops *b);
/* Elements of `operand` from offset 0 to the last one reached; -1: beyond 2^53. */
int64_t lx_loops_extent(const struct lx_loops *l, enum lx_loop_operand operand);
/* How often the innermost body runs: the product of all sizes; INT64_MAX on overflow. */
int64_t lx_loops_work(const struct lx_loops *l);

/* A nest from and to a file of kind "loops". The writer's text is malloc'ed; NULL when memory is out. */
bool lx_loops_read(const char *path, struct lx_loops *out, lx_status *st);
bool lx_loops_parse(const char *file, const char *text, size_t length, struct lx_loops *out, lx_status *st);
char *lx_loops_to_json(const struct lx_loops *l, size_t *length);

struct lx_loop_rules;
const struct lx_loop_rules *lx_loop_rules_at(int i); /* NULL behind the last; 0: the default */
const char *lx_loop_rules_name(const struct lx_loop_rules *r);
const char *lx_loop_rules_summary(const struct lx_loop_rules *r);

/* Returns the source document's number of the first fault, 0 if there is none, and sets `st` to its code and
 * loop. The rule set orders the checks. */
int lx_loops_validate(const struct lx_loops *l, const struct lx_loop_rules *rules, lx_status *st);

/* The passes. `threads`: at least 1. */
struct lx_loop_pass {
    const char *name, *summary;
    void (*run)(struct lx_loops *l, const struct lx_loop_rules *rules, int64_t threads);
};

enum { LX_LOOP_PASSES = 6 };
/* The i-th pass in the order in which a rule set runs them. */
const struct lx_loop_pass *lx_loop_pass_at(const struct lx_loop_rules *rules, int i);
const struct lx_loop_pass *lx_loop_pass_find(const char *name);
/* Runs one pass, or all in order. False: offsets of the nest would overflow; it is unchanged. */
bool lx_loops_run_pass(struct lx_loops *l, const struct lx_loop_pass *pass, const struct lx_loop_rules *rules,
                       int64_t threads, lx_status *st);
bool lx_loops_optimise(struct lx_loops *l, const struct lx_loop_rules *rules, int64_t threads, lx_status *st);

/* The reference: runs the nest in double, one element at a time. The arrays have lx_loops_extent elements;
 * in1 may be NULL where the main primitive does not contract. */
void lx_loops_execute(const struct lx_loops *l, const double *in0, const double *in1, double *out);

/* Do two nests compute the same? If not, LX_E_NO with the difference in words. Compares the index sets (by a
 * polynomial identity) and results on small integers, whose sums are exact in any order: all results if that
 * takes at most `work` steps, else a sample. `*steps` (may be NULL): steps run. */
bool lx_loops_same(const struct lx_loops *a, const struct lx_loops *b, uint64_t seed, int64_t work,
                   int64_t *steps, lx_status *st);

/* Contraction trees: "[[0,1],[1,2]->[0,2]],[2,3]->[0,3]", indices as numbers, or a plain einsum string
 * "ab,bc->ac" whose letters are numbered in order of first appearance. A node without a second operand moves
 * elements ("[0,1]->[1,0]"). `sizes` has one extent per index. */
struct lx_tree_node {
    int left, right; /* nodes; -1: none. A leaf has neither, a transposition only a left one. */
    int leaf;        /* number of the leaf in order of the text; -1: an inner node */
    int rank;
    const int *index; /* row-major, the last one fastest */
    int64_t elements;
};

struct lx_tree {
    struct lx_tree_node *nodes; /* children before their parent: the root is the last one */
    int node_count, leaf_count, size_count;
    const int64_t *sizes;
    int64_t flops; /* 2 for each product that is summed; INT64_MAX on overflow */
    struct arena *memory;
};

struct lx_tree *lx_tree_parse(const char *text, const int64_t *sizes, int size_count, lx_status *st);
/* Number of indices in `text`: the largest number + 1, or the letters; -1: bad text. */
int lx_tree_indices(const char *text, lx_status *st);
void lx_tree_free(struct lx_tree *t);
/* Lowers an inner node to a nest that sets its output. in0 is the operand with the output's fastest index;
 * `*swapped` (may be NULL) says whether that is the right one. */
bool lx_tree_lower(const struct lx_tree *t, int node, struct lx_loops *out, bool *swapped, lx_status *st);
/* Computes the root's elements into `out` from the leaves' elements. `rules` NULL: no pass runs. */
bool lx_tree_execute(const struct lx_tree *t, const struct lx_loop_rules *rules, int64_t threads,
                     const double *const *leaves, double *out, lx_status *st);
