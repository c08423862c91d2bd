/* What a plan claims about the best that is possible. A claim above the plan's own value is refuted; one
 * that is not above a bound that is known here holds as a fact; anything between is a claim.
 *
 * Known here: of a graph the traffic that no plan avoids (graph inputs come from HBM, outputs go there, and
 * so does all that an extern op touches); of a bare list, and of heights, the bounds of placement. */
#include "check/check.h"
#include "base/checked.h"
#include "base/fail.h"

/* What must move of one tensor. */
struct need {
    int64_t extern_bytes;  /* every access off the device */
    int64_t read, written; /* the most that one access on the device touches */
    bool extern_reads, extern_writes;
    bool overwritten; /* by an op that keeps nothing: what is read may never have been in HBM */
};

/* A copy that layout added need not be there in another plan, so that only the pattern's own tensors
 * count. */
static int64_t bytes_of_need(const struct lx_tensor *t, const struct need *n)
{
    bool given = lx_role_arrives(t->role), leaves = lx_role_leaves(t->role);
    int64_t bytes = n->extern_bytes;
    if ((given && !n->overwritten) || n->extern_writes) bytes += n->read;
    if (leaves || n->extern_reads) bytes += n->written;
    return bytes;
}

int64_t compulsory_bytes(const struct checker *c)
{
    struct need *needs = arena_array(c->memory, (size_t)c->g->tensor_count, sizeof *needs);
    bool *live = arena_array(c->memory, (size_t)c->g->op_count, sizeof *live);
    bool *wanted = arena_array(c->memory, (size_t)c->g->tensor_count, sizeof *wanted);
    int64_t sum = 0;
    /* Ops that something depends on: another plan may leave the others out. */
    if (!live || !wanted) return 0;
    for (int32_t o = c->g->op_count - 1; o >= 0; o--) {
        const struct lx_op *op = &c->g->ops[o];
        live[o] = op->kind->traits & LX_EXTERN;
        for (int i = op->input_count; i < op_operand_count(op); i++)
            live[o] |= wanted[op_operand(op, i)] || lx_role_leaves(c->g->tensors[op_operand(op, i)].role);
        for (int i = 0; live[o] && i < op->input_count; i++) wanted[op->inputs[i]] = true;
    }
    for (int32_t o = 0; o < c->g->op_count; o++)
        for (int i = 0; live[o] && i < op_operand_count(&c->g->ops[o]); i++) {
            struct need *n = &needs[op_operand(&c->g->ops[o], i)];
            const struct lx_op *op = &c->g->ops[o];
            struct cut k;
            cut_of_op(c, o, &k);
            int64_t bytes = touched_bytes(c, &k, o, i);
            bool writes = i >= op->input_count;
            if (op->kind->traits & LX_EXTERN) {
                n->extern_bytes += bytes;
                *(writes ? &n->extern_writes : &n->extern_reads) = true;
                n->overwritten |= writes;
            } else if (writes) {
                n->written = max_i64(n->written, bytes);
                n->overwritten |= !op_keeps_rest(op);
            } else
                n->read = max_i64(n->read, bytes);
        }
    for (int32_t t = 0; t < c->g->tensor_count; t++) sum += bytes_of_need(&c->g->tensors[t], &needs[t]);
    return sum;
}

/* The placement's own bound, of a list or of a height. */
static int64_t placement_bound(const struct lx_plan *p)
{
    const struct lx_graph *g = p->graph;
    struct lx_problem own = p->problem;
    if (!g->list && own.objective != LX_HEIGHT) return 0;
    if (g->list) {
        own.buffers = g->list->buffers;
        own.count = g->list->buffer_count;
    }
    return lx_bound(&own);
}

static bool refuted(const struct lx_plan *p, int64_t objective, lx_status *st)
{
    int64_t bound = p->figures.bound_bytes;
    if (bound > objective)
        return !status_set(st, LX_E_NO,
                           "the plan claims a bound of %lld bytes above its own objective of %lld",
                           (long long)bound, (long long)objective);
    if (p->answer.status == LX_OPTIMAL && p->problem.objective != LX_FIT && !p->asks_time &&
        bound != objective)
        return !status_set(st, LX_E_NO,
                           "the plan claims to be optimal, but its bound is %lld and its objective %lld",
                           (long long)bound, (long long)objective);
    return false;
}

/* Times are predictions: a bound on them, and that it is met, are claims of whoever planned. */
static bool check_time_bound(const struct lx_plan *p, struct lx_check_report *out, lx_status *st)
{
    double us = p->figures.end_to_end_us, bound = p->figures.bound_us;
    if (bound < 0)
        return status_set(st, LX_E_NO, "the plan claims a bound of %.3f us, but no time is below 0", bound);
    if (bound > us * (1 + 1e-7))
        return status_set(st, LX_E_NO, "the plan claims a bound of %.3f us above its own time of %.3f", bound,
                          us);
    if (p->answer.status == LX_OPTIMAL && lx_plan_gap(p) > 0)
        return status_set(st, LX_E_NO,
                          "the plan claims to be optimal, but its bound is %.3f us and its time %.3f", bound,
                          us);
    out->bound = bound > 0 ? LX_BOUND_CLAIMED : LX_BOUND_NONE;
    out->optimality = p->answer.status == LX_OPTIMAL ? LX_BOUND_CLAIMED : LX_BOUND_NONE;
    return true;
}

bool check_bound(const struct lx_plan *p, int64_t least, struct lx_check_report *out, lx_status *st)
{
    int64_t objective = p->problem.objective == LX_HEIGHT ? p->figures.height_bytes : p->figures.spill_bytes,
            known;
    if (refuted(p, objective, st)) return false;
    known = placement_bound(p);
    bool by_traffic = !p->graph->list && p->problem.objective != LX_HEIGHT;
    /* The bytes that a spill counts from are a claim, too: only traffic is compared with traffic. */
    if (by_traffic) known = least - p->figures.perfect_hbm_bytes;
    bool best = by_traffic ? p->figures.hbm_bytes <= least : objective <= known;
    out->bound_bytes = p->figures.bound_bytes;
    out->known_bytes = max_i64(known, 0);
    out->bound = p->figures.bound_bytes <= known ? LX_BOUND_VERIFIED : LX_BOUND_CLAIMED;
    out->optimality = best                                  ? LX_BOUND_VERIFIED
                      : p->figures.bound_bytes == objective ? LX_BOUND_CLAIMED
                                                            : LX_BOUND_NONE;
    return !p->asks_time || check_time_bound(p, out, st);
}
