/* Do these blocks fit into one pool? The question that all searches of this folder end in. */
#ifndef LX_SOLVERS_EXACT_GENERAL_POOL_PACK_H
#define LX_SOLVERS_EXACT_GENERAL_POOL_PACK_H

#include "exact/fit/fit.h"
#include "exact/general/block_model.h"

struct pool_question {
    const struct blocks *b;
    int32_t pool;
    int64_t capacity;
    const int32_t *members; /* blocks */
    int32_t count;
    const bool *soft_apart; /* per soft pair: keep it apart; NULL: none */
    struct fit_limits limits;
    int64_t nodes; /* spent */
};

/* On FIT_YES the addresses of the members are in `address`, which has one per block of the problem. */
enum fit_result pack_into_pool(struct pool_question *q, int64_t *address);

/* What no packing is below: the heaviest clique, a block above reserved bytes, a pin; INT64_MAX: there is
 * none. */
void pool_least_height(const struct blocks *b, int32_t pool, const int32_t *members, int32_t count,
                       int64_t *least);

/* Do the two share a byte? */
static inline bool blocks_touch(const struct blocks *b, int32_t i, int32_t k, const int64_t *address)
{
    return address[i] < address[k] + b->at[k].size && address[k] < address[i] + b->at[i].size;
}

#endif
