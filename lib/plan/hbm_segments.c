/* Where tensors are in HBM: graph inputs, weights and outputs have places of their own; the intermediates
 * that go through HBM share one segment, packed by the same solvers as the scratchpad,
 * for the least height. */
#include "plan/planner.h"
#include "base/checked.h"
#include "base/fail.h"

#include <stdlib.h>

/* Per tensor: is its first access a read? */
static bool *first_reads(const struct lx_plan *p)
{
    const struct lx_graph *g = p->layouts->graph;
    bool *reads = calloc((size_t)g->tensor_count + 1, sizeof *reads);
    for (int32_t a = p->access_at[g->op_count]; reads && a-- > 0;)
        reads[p->accesses[a].tensor] = p->accesses[a].reads;
    return reads;
}

/* What the ops of a nest have in HBM is there in all of its iterations. */
static void cover_nests(const struct lx_plan *p, struct lx_buffer *b)
{
    for (int32_t i = 0; i < p->nest_count && b->start < b->end; i++) {
        const struct lx_nest *n = &p->nests[i];
        if (b->start > n->last || b->end <= n->first) continue;
        b->start = min_i64(b->start, n->first);
        b->end = max_i64(b->end, n->last + 1);
    }
}

/* The intermediates in HBM as buffers: from the first to the last tick on which they are touched there. One
 * that is read before it is wholly written, by an insert that keeps the rest of it, holds zeros until then:
 * its bytes are nobody else's from the start. */
static struct lx_buffer *lives_in_hbm(const struct lx_plan *p)
{
    const struct lx_graph *g = p->layouts->graph;
    struct lx_buffer *b = calloc((size_t)g->tensor_count + 1, sizeof *b);
    bool *read_first = first_reads(p);
    if (!read_first) {
        free(b);
        return NULL;
    }
    for (int32_t t = 0; b && t < g->tensor_count; t++)
        b[t] = (struct lx_buffer){
            .name = g->tensors[t].name, .size = tensor_bytes(p->layouts, t), .start = INT64_MAX, .fixed = -1};
    for (int32_t o = 0; b && o < g->op_count; o++)
        for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++) {
            const struct lx_access *x = &p->accesses[a];
            if (x->stay >= 0 && p->answer.address[x->stay] >= 0) continue;
            b[x->tensor].start = min_i64(b[x->tensor].start, o);
            b[x->tensor].end = o + 1;
        }
    for (int32_t i = 0; b && i < p->transfer_count; i++) {
        const struct lx_transfer *x = &p->transfers[i];
        struct lx_buffer *one = &b[p->stays[x->stay].tensor];
        if (!lx_through_hbm(x->kind)) continue;
        one->start = min_i64(one->start, x->tick);
        one->end = max_i64(one->end, x->tick + 1);
    }
    for (int32_t t = 0; b && t < g->tensor_count; t++) {
        if (b[t].start != INT64_MAX && read_first[t]) b[t].start = 0;
        cover_nests(p, &b[t]);
        if (g->tensors[t].role != LX_INTERMEDIATE || b[t].start == INT64_MAX) {
            b[t].reason = "not in the pool";
            if (b[t].start == INT64_MAX) b[t].start = 0, b[t].end = 0;
        }
    }
    free(read_first);
    return b;
}

static bool in_pool(const struct lx_buffer *b)
{
    return b->reason == NULL;
}

static struct lx_problem pool_problem(const struct lx_plan *p, struct lx_buffer *all, int32_t *number)
{
    int32_t n = 0;
    for (int32_t t = 0; t < p->layouts->graph->tensor_count; t++) {
        number[t] = -1;
        if (!in_pool(&all[t])) continue;
        number[t] = n;
        all[n++] = all[t];
    }
    return (struct lx_problem){.objective = LX_HEIGHT,
                               .alignment = p->layouts->graph->device.stick_bytes,
                               .count = n,
                               .buffers = all};
}

/* Graph inputs, weights and outputs, one behind the other. */
static bool lay_out_given(struct lx_plan *p, const struct lx_buffer *all, int64_t *end)
{
    const struct lx_graph *g = p->layouts->graph;
    *end = 0;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        p->hbm_address[t] = -1;
        if (g->tensors[t].role == LX_INTERMEDIATE) continue;
        p->hbm_address[t] = *end;
        if (!add_i64(*end, round_up_i64(all[t].size, g->device.stick_bytes), end) || *end > LX_INT_MAX)
            return false;
    }
    return true;
}

bool pool_pack(struct lx_plan *p, const struct lx_solver *solver, lx_status *st)
{
    const struct lx_graph *g = p->layouts->graph;
    struct lx_buffer *all = lives_in_hbm(p);
    int32_t *number = malloc(((size_t)g->tensor_count + 1) * sizeof *number);
    p->hbm_address = arena_array(p->memory, (size_t)g->tensor_count, sizeof *p->hbm_address);
    bool ok = all && number && p->hbm_address ? true : status_no_memory(st);
    if (ok && !lay_out_given(p, all, &p->pool_at))
        ok = status_set(st, LX_E_RANGE, "the tensors together are beyond 2^53 bytes");
    struct lx_answer answer = {0};
    if (ok) {
        struct lx_problem problem = pool_problem(p, all, number);
        answer.address = calloc((size_t)problem.count + 1, sizeof *answer.address);
        ok = answer.address ? true : status_no_memory(st);
        bool able = solver && (solver->caps & LX_CAN_HEIGHT);
        struct lx_run run = {0};
        if (ok && able) ok = lx_problem_solve(&problem, solver, &run, &answer, st);
        if (ok && (!able || answer.status == LX_ERROR)) { /* one behind the other is always right */
            int64_t at = 0;
            for (int32_t i = 0; i < problem.count; i++) {
                answer.address[i] = at;
                at += round_up_i64(problem.buffers[i].size, problem.alignment);
            }
        }
        p->pool_bytes = 0;
        for (int32_t t = 0; ok && t < g->tensor_count; t++) {
            if (number[t] < 0) continue;
            int64_t at = answer.address[number[t]];
            p->hbm_address[t] = p->pool_at + at;
            p->pool_bytes = max_i64(p->pool_bytes, at + problem.buffers[number[t]].size);
        }
        p->segment_bytes = p->pool_at + p->pool_bytes;
    }
    free(answer.address);
    free(number);
    free(all);
    return ok;
}
