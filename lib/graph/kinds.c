/* The tables of what there is: element types, roles and kinds of ops. */
#include "graph/graph.h"
#include "base/checked.h"

#include <string.h>

static const struct {
    const char *word;
    int bits, shared;
} dtypes[LX_DTYPE_COUNT] = {
#define LX_DTYPE_ROW(id, word, bits, shared) [id] = {word, bits, shared},
    LX_DTYPES(LX_DTYPE_ROW)
#undef LX_DTYPE_ROW
};

static const char *const roles[LX_ROLE_COUNT] = {[LX_INPUT] = "input",
                                                 [LX_WEIGHT] = "weight",
                                                 [LX_INTERMEDIATE] = "intermediate",
                                                 [LX_OUTPUT] = "output",
                                                 [LX_STATE] = "state"};

static const struct lx_kind kinds[LX_KIND_COUNT] = {
#define LX_KIND(id, ...) [LX_KIND_##id] = {LX_KIND_##id, __VA_ARGS__},
#include "graph/kinds.def"
#undef LX_KIND
};

const char *lx_dtype_word(enum lx_dtype d)
{
    return (unsigned)d < LX_DTYPE_COUNT ? dtypes[d].word : "unknown";
}

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

const char *lx_role_word(enum lx_role r)
{
    return (unsigned)r < LX_ROLE_COUNT ? roles[r] : "unknown";
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

const char *lx_objective_word(enum lx_objective o)
{
    static const char *const words[] = {[LX_SPILL] = "spill", [LX_FIT] = "fit", [LX_HEIGHT] = "height"};
    return (unsigned)o < LX_OBJECTIVE_COUNT ? words[o] : "unknown";
}
