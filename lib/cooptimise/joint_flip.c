/* Searches that place one combination of choices after the other. joint_flip is the published co-optimiser,
 * for comparison: an op whose seed splits one output dimension may split another one instead; the combination
 * with the fewest bytes off chip wins, the first among equals. Variants of an op are capped as published;
 * leaves are capped too. */
#include "cooptimise/joint_model.h"

/* variants of an op, with the seed; combinations in joint_walk */
enum { VARIANT_CAP = 6, MOST_COMBINATIONS = 4096 };

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
        more = false; /* the next combination, the last op fastest */
        for (int32_t o = p->op_count; !more && o-- > 0;) {
            int32_t next = next_variant(&p->ops[o], leaf.choice[o]);
            more = next >= 0;
            leaf.choice[o] = more ? next : p->ops[o].seed;
        }
    }
    mem_free(leaf.choice);
    mem_free(leaf.address);
    return ok;
}

/* True if a placement of least cost also has the least objective: all savings are tolls, none rounded. */
static bool placements_exact(const struct lx_joint_problem *p)
{
    int64_t tolls = 0;
    for (int32_t i = 0; i < p->buffer_count; i++)
        for (int32_t k = 0; k < p->buffers[i].access_count; k++) {
            if (p->buffers[i].accesses[k].memory) return false;
            tolls += p->buffers[i].accesses[k].toll;
        }
    return tolls <= LX_INT_MAX / 2;
}

/* Problems with tiles: the choice of one op changes the lives and costs of others, so bounds per op do not
 * hold. Places all combinations if they are few; else improves one op after the other. */
bool joint_walk(struct joint_search *s, lx_status *st)
{
    int64_t before = INT64_MAX, all = 1;
    size_t bytes = (size_t)s->p->op_count * sizeof *s->trial.choice;
    for (int32_t o = 0; o < s->p->op_count && all <= MOST_COMBINATIONS; o++) all *= s->p->ops[o].choice_count;
    if (all <= MOST_COMBINATIONS) {
        OWNED int32_t *choice = mem_zeroed((size_t)s->p->op_count + 1, sizeof *choice);
        bool proved = placements_exact(s->p), more = true, ok = true;
        while (ok && more && s->steps < s->step_limit) {
            memcpy(s->trial.choice, choice, bytes);
            ok = joint_try_leaf(s, st);
            proved &= ok && s->last->proved;
            int32_t o = s->p->op_count - 1; /* the next combination, the last op fastest */
            for (; o >= 0 && choice[o] == s->p->ops[o].choice_count - 1; o--) choice[o] = 0;
            more = o >= 0;
            if (more) choice[o]++;
        }
        if (ok && !more && proved) s->bound = s->best.objective;
        return ok;
    }
    while (s->best.objective < before && s->steps < s->step_limit) {
        before = s->best.objective;
        for (int32_t o = 0; o < s->p->op_count; o++)
            for (int32_t c = 0; c < s->p->ops[o].choice_count && s->steps < s->step_limit; c++) {
                if (s->best.choice[o] == c) continue;
                memcpy(s->trial.choice, s->best.choice, bytes);
                s->trial.choice[o] = c;
                if (!joint_try_leaf(s, st)) return false;
            }
    }
    return true;
}
