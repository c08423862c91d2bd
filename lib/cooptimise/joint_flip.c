/* The search of the published co-optimiser, for comparison: every op that its seed splits along one output
 * dimension may have that split on another one; all combinations are tried depth first, the last op fastest,
 * each is placed by the solver, and the one with the fewest bytes left off chip wins, the first of equals.
 *
 * It has no pruning and shares nothing between combinations. Two caps keep it finite: variants of an op, as
 * published, and leaves, of which the published search has no number;
 * ours is in the header of the results. */
#include "cooptimise/joint_search.h"
#include "base/memory.h"

#include <string.h>

enum { VARIANT_CAP = 6 }; /* the document's, the seed included */

/* The next variant of an op after choice `c`; -1: none. The seed comes first, then flips in menu order. */
static int32_t next_variant(const struct lx_joint_op *op, int32_t c)
{
    int32_t seen = 1;
    if (!op->flip) return -1;
    for (int32_t i = 0; i < op->choice_count; i++) {
        if (!op->flip[i] || i == op->seed) continue;
        if (++seen > VARIANT_CAP) return -1;
        if (c == op->seed || i > c) return i;
    }
    return -1;
}

/* Counts one up, the last op fastest; false when all combinations have been. */
static bool next_combination(const struct lx_joint_problem *p, int32_t *choice)
{
    for (int32_t o = p->op_count; o-- > 0;) {
        int32_t next = next_variant(&p->ops[o], choice[o]);
        if (next >= 0) return choice[o] = next, true;
        choice[o] = p->ops[o].seed;
    }
    return false;
}

bool joint_flip(const struct lx_joint_problem *p, const struct lx_joint_options *how, int64_t leaf_cap,
                struct joint_leaf *best, int64_t *leaves, lx_status *st)
{
    struct joint_leaf leaf = {.choice = mem_zeroed((size_t)p->op_count + 1, sizeof *leaf.choice),
                              .address = mem_zeroed((size_t)p->buffer_count + 1, sizeof *leaf.address)};
    bool ok = true, more = true;
    for (int32_t o = 0; o < p->op_count; o++) leaf.choice[o] = p->ops[o].seed;
    for (int64_t n = 0; ok && more && n < leaf_cap && !lx_run_stopped(&how->run); n++) {
        ok = joint_leaf_solve(p, how, &leaf, st);
        ++*leaves;
        if (ok && (n == 0 || leaf.unpinned < best->unpinned)) {
            memcpy(best->choice, leaf.choice, (size_t)p->op_count * sizeof *best->choice);
            memcpy(best->address, leaf.address, (size_t)p->buffer_count * sizeof *best->address);
            best->objective = leaf.objective;
            best->unpinned = leaf.unpinned;
        }
        more = next_combination(p, leaf.choice);
    }
    mem_free(leaf.choice);
    mem_free(leaf.address);
    return ok;
}
