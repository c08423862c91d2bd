/* The checker of plans from any source: is a plan legal, are its figures true, which of its claims are
 * facts? */
#include "check/proof.h"
#include "base/words/words.h"

/* A plan's claim of a bound. A bound above the plan's own value is refuted; a bound that is not above one
 * known here is a fact; anything between is a claim.
 *
 * Known here: for a graph its compulsory traffic (graph inputs come from HBM, outputs go there, and so does
 * everything that an extern op touches); for a bare list, and for heights, the bounds of placement. */

/* Compulsory traffic of one tensor. */
struct need {
    int64_t extern_bytes;  /* every access off the device */
    int64_t read, written; /* the largest access on the device */
    bool extern_reads, extern_writes;
    bool overwritten; /* by an op that keeps nothing: the value may never have been in HBM */
};

static int64_t compulsory_bytes(const struct checker *c, int64_t *must)
{
    struct need *needs = arena_array(c->memory, (size_t)c->g->tensor_count, sizeof *needs);
    bool *live = arena_array(c->memory, (size_t)c->g->op_count, sizeof *live);
    bool *wanted = arena_array(c->memory, (size_t)c->g->tensor_count, sizeof *wanted);
    int64_t sum = 0;
    /* Ops that something depends on: another plan may leave the others out. */

    for (int32_t o = c->g->op_count - 1; o >= 0; o--) {
        const struct lx_op *op = &c->g->ops[o];
        live[o] = op->kind->traits & LX_EXTERN;
        for (int i = op->input_count; i < op_operand_count(op); i++)
            live[o] |= wanted[op_operand(op, i)] || lx_role_leaves(c->g->tensors[op_operand(op, i)].role);
        for (int i = 0; live[o] && i < op->input_count; i++) wanted[op->inputs[i]] = true;
    }
    for (int32_t o = 0; o < c->g->op_count; o++) {
        const struct lx_op *op = &c->g->ops[o];
        struct cut k;
        if (live[o]) cut_of_op(c, o, &k);
        for (int i = 0; live[o] && i < op_operand_count(op); i++) {
            struct need *n = &needs[op_operand(op, i)];
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
    }
    for (int32_t t = 0; t < c->g->tensor_count; t++) {
        /* Only the pattern's own tensors count: another plan may need no copy that layout added. */
        bool given = lx_role_arrives(c->g->tensors[t].role), leaves = lx_role_leaves(c->g->tensors[t].role);
        int64_t bytes = needs[t].extern_bytes;
        if ((given && !needs[t].overwritten) || needs[t].extern_writes) bytes += needs[t].read;
        if (leaves || needs[t].extern_reads) bytes += needs[t].written;
        must[t] = bytes;
        sum += bytes;
    }
    return sum;
}

/* Times are predictions: a bound on them, and optimality by it, are claims of the planner. */
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
    if (!out) return true;
    out->bound = bound > 0 ? LX_BOUND_CLAIMED : LX_BOUND_NONE;
    out->optimality = p->answer.status == LX_OPTIMAL ? LX_BOUND_CLAIMED : LX_BOUND_NONE;
    return true;
}

/* Refutes false claims. */
static bool claims_possible(const struct lx_plan *p, lx_status *st)
{
    int64_t objective = p->problem.objective == LX_HEIGHT ? p->figures.height_bytes : p->figures.spill_bytes;
    int64_t bound = p->figures.bound_bytes;
    if (bound > objective)
        return status_set(st, LX_E_NO,
                          "the plan claims a bound of %lld bytes above its own objective of %lld",
                          (long long)bound, (long long)objective);
    if (p->answer.status == LX_OPTIMAL && p->problem.objective != LX_FIT && !p->asks_time &&
        bound != objective)
        return status_set(st, LX_E_NO,
                          "the plan claims to be optimal, but its bound is %lld and its objective %lld",
                          (long long)bound, (long long)objective);
    return true;
}

/* The claimed bound as what a certificate proves. */
static struct proof_claim claim_of_plan(const struct checker *c, const int64_t *must)
{
    const struct lx_plan *p = c->p;
    struct proof_claim q = {
        .least = p->figures.bound_bytes, .list = p->problem, .memory = c->memory, .st = c->st};
    if (p->graph->list) {
        q.list.buffers = p->graph->list->buffers;
        q.list.count = p->graph->list->buffer_count;
    } else if (p->problem.objective != LX_HEIGHT) {
        q.c = c;
        q.must = must;
        q.compulsory = c->figures.perfect_hbm_bytes;
        q.least += p->figures.perfect_hbm_bytes; /* only traffic is compared with traffic */
    }
    return q;
}

/* Which claims are facts: by what is known here, by the plan's certificate, or by a proof found here. */
static bool check_bound(struct proof_claim *q, const struct lx_plan *p, struct lx_check_report *out)
{
    bool graph = q->c, height = p->problem.objective == LX_HEIGHT;
    int64_t value = height ? p->figures.height_bytes : graph ? p->figures.hbm_bytes : p->figures.spill_bytes;
    int64_t known = graph ? q->compulsory : lx_bound(&q->list);
    out->bound_bytes = p->figures.bound_bytes;
    out->proof = graph ? "compulsory" : height ? "load" : "dual";
    if (p->certificate && !p->asks_time) {
        if (!certificate_check(q, p->certificate, &out->proof)) return false;
        known = max_i64(known, q->least);
    } else if (q->least > known && !height && !p->asks_time && certificate_make(q, &out->proof))
        known = q->least;
    out->least = known;
    out->known_bytes = max_i64(graph ? known - p->figures.perfect_hbm_bytes : known, 0);
    out->bound = q->least <= known ? LX_BOUND_VERIFIED : LX_BOUND_CLAIMED;
    out->optimality = value <= known      ? LX_BOUND_VERIFIED
                      : value <= q->least ? LX_BOUND_CLAIMED
                                          : LX_BOUND_NONE;
    out->compulsory_bytes = q->compulsory;
    if (out->bound != LX_BOUND_VERIFIED || p->problem.objective == LX_FIT) out->proof = NULL;
    return true;
}

LX_WORDS(lx_bound_word, enum lx_bound_state, LX_BOUND_STATES)

static bool check_graph(struct checker *c, int64_t **must)
{
    struct parts *parts = arena_array(c->memory, (size_t)c->p->problem.count, sizeof *parts);
    c->traffic = arena_array(c->memory, (size_t)c->g->op_count, sizeof *c->traffic);
    if (!check_origin(c) || !check_layouts(c) || !check_values(c) || !check_nests(c) || !check_cuts(c) ||
        !check_issues(c) || !check_buffers(c, parts) || !check_replay(c, parts) || !count_traffic(c, parts) ||
        !check_bundles(c) || !check_launches(c) || !check_syncs(c, parts) || !check_figures(c) ||
        !check_claims(c, parts) || !check_prices(c) || !check_times(c))
        return false;
    *must = arena_array(c->memory, (size_t)c->g->tensor_count, sizeof **must);
    c->figures.perfect_hbm_bytes = compulsory_bytes(c, *must);
    return true;
}

/* `certified`: receives a certificate of the bound, or NULL. */
static bool check_all(const struct lx_plan *p, struct lx_check_report *out, const char **certified,
                      struct arena *memory, lx_status *st)
{
    struct checker c = {
        .p = p, .l = p->layouts, .g = p->layouts ? p->layouts->graph : NULL, .memory = memory, .st = st};
    int64_t *must = NULL;
    /* A solver that was cancelled before it had a complete placement for the height has nothing to check. */
    bool no_height =
        p->problem.objective == LX_HEIGHT && p->answer.status == LX_LIMIT && p->figures.height_bytes == 0;
    if (p->answer.status == LX_ERROR || no_height)
        return status_set(st, LX_E_NO, "solver %s gave no plan: %s", p->solver,
                          p->answer.message[0] ? p->answer.message : lx_verdict_word(p->answer.status));
    if (!(p->graph->list ? check_list(p, st) : check_graph(&c, &must)) || !claims_possible(p, st))
        return false;
    struct proof_claim q = claim_of_plan(&c, must);
    const char *class;
    if (certified) *certified = p->asks_time ? NULL : certificate_make(&q, &class);
    return (!out || check_bound(&q, p, out)) && (!p->asks_time || check_time_bound(p, out, st));
}

bool lx_plan_check_report(const struct lx_plan *p, struct lx_check_report *out, lx_status *st)
{
    SCOPED(arena_free) struct arena memory = {0};
    *out = (struct lx_check_report){.hbm_bytes = p->figures.hbm_bytes};
    return check_all(p, out, NULL, &memory, st);
}

bool lx_plan_check(const struct lx_plan *p, lx_status *st)
{
    SCOPED(arena_free) struct arena memory = {0};
    return check_all(p, NULL, NULL, &memory, st);
}

void lx_plan_certify(struct lx_plan *p)
{
    SCOPED(arena_free) struct arena memory = {0};
    lx_status ignored = {0};
    const char *certificate = NULL;
    check_all(p, NULL, &certificate, &memory, &ignored);
    p->certificate = certificate ? arena_string(p->memory, certificate) : NULL;
}
