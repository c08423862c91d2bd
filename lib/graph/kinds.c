/* Tables of element types, roles, memories and kinds of ops; and the results of kinds that have several. */
#include "graph/graph.h"
#include "base/base.h"
#include "base/words/words.h"

static const struct {
    int bits, shared;
} dtypes[LX_DTYPE_COUNT] = {
#define LX_DTYPE_ROW(id, word, bits, shared) [id] = {bits, shared},
    LX_DTYPES(LX_DTYPE_ROW)
#undef LX_DTYPE_ROW
};

LX_WORDS(lx_role_word, enum lx_role, LX_ROLES)
LX_WORDS(lx_dtype_word, enum lx_dtype, LX_DTYPES)

static const struct lx_kind kinds[LX_KIND_COUNT] = {
#define LX_KIND(id, ...) [LX_KIND_##id] = {LX_KIND_##id, __VA_ARGS__},
#include "graph/kinds.def"
#undef LX_KIND
};

int lx_dtype_bits(enum lx_dtype d)
{
    return (unsigned)d < LX_DTYPE_COUNT ? dtypes[d].bits : 0;
}

bool lx_dtype_shares(enum lx_dtype d)
{
    return (unsigned)d < LX_DTYPE_COUNT && dtypes[d].shared > 0;
}

bool lx_dtype_size(enum lx_dtype d, int64_t elements, int64_t *bits)
{
    int64_t own, shared;
    return mul_i64(elements, lx_dtype_bits(d), &own) &&
           mul_i64(ceil_div_i64(elements, LX_SHARING), dtypes[d].shared, &shared) &&
           add_i64(own, shared, bits);
}

bool lx_takes_blocks(const struct lx_op *op, int input)
{
    return op->kind->traits & LX_CONTRACTS || (op->kind->id == LX_KIND_GATHER && input == 0);
}

bool lx_role_arrives(enum lx_role r)
{
    return r == LX_INPUT || r == LX_WEIGHT || r == LX_STATE;
}

bool lx_role_leaves(enum lx_role r)
{
    return r == LX_OUTPUT || r == LX_STATE;
}

const struct lx_kind *lx_kind_at(enum lx_kind_id id)
{
    return (unsigned)id < LX_KIND_COUNT ? &kinds[id] : NULL;
}

const struct lx_kind *lx_kind_find(const char *name)
{
    for (int i = 0; i < LX_KIND_COUNT; i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}

static const struct {
    const char *word;
    enum lx_memory memory;
} memories[] = {{"hbm", LX_MEMORY_HBM}, {"DRAM", LX_MEMORY_HBM}, {"lx", LX_MEMORY_LX}, {"L1", LX_MEMORY_LX}};

enum lx_memory lx_memory_find(const char *word)
{
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        if (strcmp(memories[i].word, word) == 0) return memories[i].memory;
    return LX_MEMORY_COUNT;
}

#define OBJECTIVES(X) X(LX_SPILL, "spill") X(LX_FIT, "fit") X(LX_HEIGHT, "height")
LX_WORDS(lx_objective_word, enum lx_objective, OBJECTIVES)
#define MEMORIES(X) X(LX_MEMORY_HBM, "hbm") X(LX_MEMORY_LX, "lx")
LX_WORDS(lx_memory_word, enum lx_memory, MEMORIES)
#define PLACINGS(X) X(LX_INTERLEAVED, "interleaved") X(LX_SHARDED, "sharded")
LX_WORDS(lx_placing_word, enum lx_placing, PLACINGS)

enum lx_placing lx_placing_find(const char *word)
{
    int i = 0;
    while (i < LX_PLACING_COUNT && strcmp(lx_placing_word((enum lx_placing)i), word) != 0) i++;
    return (enum lx_placing)i;
}

/* Ops with several results, and the ops that make one of them alone.
 *
 * All results are made in one tick from inputs that are read once, and indexed alike; each is a tensor with
 * its own residency. An unused result can be dropped: the rest is an op of the same kind with fewer results,
 * or of another kind with one. */

const struct lx_kind *lx_result_kind(const struct lx_kind *kind, int result)
{
    static const struct {
        enum lx_kind_id of, further;
        int most;
    } rows[] = {{LX_KIND_MAX, LX_KIND_ARGMAX, 2},
                {LX_KIND_MIN, LX_KIND_ARGMIN, 2},
                {LX_KIND_TOPK, LX_KIND_TOPK_INDEX, 2},
                {LX_KIND_SORT, LX_KIND_SORT_INDEX, 2},
                {LX_KIND_GENERIC, LX_KIND_GENERIC, LX_MAX_OUTPUTS}};
    if (result == 0) return kind;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].of == kind->id && result < rows[i].most) return lx_kind_at(rows[i].further);
    return NULL;
}

struct lx_op op_of_result(const struct lx_op *op, int result)
{
    struct lx_op one = *op;
    const struct lx_kind *kind = lx_result_kind(op->kind, result);
    if (kind) one.kind = kind;
    one.output = op_operand(op, op->input_count + result);
    one.outputs = op->output_count > 1 ? &op->outputs[result] : op->outputs;
    one.output_count = 1;
    return one;
}

bool op_with_results(const struct lx_op *op, const int *which, const int32_t *outputs, int count,
                     struct lx_op *out)
{
    *out = *op;
    if (count < 1 || !(out->kind = lx_result_kind(op->kind, which[0]))) return false;
    for (int i = 0; i < count; i++)
        if (which[i] >= op_operand_count(op) - op->input_count || (i > 0 && which[i] <= which[i - 1]) ||
            lx_result_kind(op->kind, which[i]) != lx_result_kind(out->kind, i))
            return false;
    out->output = outputs[0];
    out->outputs = outputs;
    out->output_count = count;
    return true;
}
