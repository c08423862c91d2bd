/* A run of a team plan: members over a transport, and one device to compare with. */
#include "team_run/team_run.h"
#include "team_run/team_member.h"
#include "base/fail.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_MS = 5000 };

struct team_context {
    const struct lx_team_plan *p;
    const struct lx_team_run_options *how;
    struct lx_team_result *result;
    struct team_block *whole; /* per tensor; member 0 alone touches it */
    pthread_mutex_t lock;     /* of the counts in `result` */
};

static bool member_work(struct lx_link *link, void *context, lx_status *st)
{
    struct team_context *c = context;
    struct team_member m = {.p = c->p, .how = c->how, .link = link, .fp32 = !c->how->fp64};
    bool ok = team_member_begin(&m, st) && team_member_agree(&m, st) && team_member_steps(&m, st) &&
              team_member_gather(&m, c->whole, st);
    if (ok && link->member == 0) c->result->compared = true;
    pthread_mutex_lock(&c->lock);
    c->result->messages += m.counts.messages;
    c->result->bytes += m.counts.bytes;
    c->result->combine_bytes += m.counts.combine_bytes;
    pthread_mutex_unlock(&c->lock);
    team_member_end(&m);
    return ok;
}

static void free_blocks(struct team_block *blocks, int32_t count)
{
    for (int32_t t = 0; blocks && t < count; t++) team_block_free(&blocks[t]);
    free(blocks);
}

/* Op after op, all of each. Blocks go when nobody reads them any more; outputs stay. */
static bool eval_whole(const struct lx_graph *g, const struct lx_team_run_options *how,
                       struct team_block *blocks, int32_t *last, lx_status *st)
{
    struct team_region all = {-1, {0, 1}, !how->fp64, false};
    for (int32_t o = 0; o < g->op_count; o++) {
        last[g->ops[o].output] = o;
        for (int i = 0; i < g->ops[o].input_count; i++) last[g->ops[o].inputs[i]] = o;
    }
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        const struct team_block *in[LX_MAX_INPUTS];
        if (team_stopped(how, st)) return false;
        for (int i = 0; i <= op->input_count; i++) {
            int32_t t = i < op->input_count ? op->inputs[i] : op->output;
            const struct lx_tensor *x = &g->tensors[t];
            struct lx_team_box box = lx_team_box_of(x->rank, x->shape);
            bool fresh = !blocks[t].at;
            if (fresh && !team_block_make(&blocks[t], &box, st)) return false;
            if (fresh && (x->role == LX_INPUT || x->role == LX_WEIGHT))
                team_block_seed(&blocks[t], x, how->seed, all.fp32);
            if (i < op->input_count) in[i] = &blocks[t];
        }
        if (!team_eval(g, op, in, &blocks[op->output], &all, st)) return false;
        for (int32_t t = 0; t < g->tensor_count; t++)
            if (blocks[t].at && last[t] <= o && g->tensors[t].role != LX_OUTPUT) team_block_free(&blocks[t]);
    }
    return true;
}

static void compare_tensor(const struct team_block *got, const struct team_block *wanted,
                           struct lx_team_result *r)
{
    int64_t n = lx_team_box_elements(&wanted->box);
    for (int64_t i = 0; i < n; i++) {
        double a = got->at[i], b = wanted->at[i];
        if (isfinite(b) && fabs(b) > r->largest) r->largest = fabs(b);
        r->elements++;
        if (memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b))) continue;
        r->differing++;
        double difference = fabs(a - b);
        /* a number against none is as far apart as can be */
        if (isnan(difference)) difference = INFINITY;
        if (difference > r->worst) r->worst = difference;
    }
}

static bool compare(struct team_context *c, lx_status *st)
{
    const struct lx_graph *g = c->p->graph;
    struct lx_team_result *r = c->result;
    size_t tensors = (size_t)g->tensor_count + 1;
    struct team_block *wanted = calloc(tensors, sizeof *wanted);
    int32_t *last = calloc(tensors, sizeof *last);
    bool ok = wanted && last ? eval_whole(g, c->how, wanted, last, st) : status_no_memory(st);
    for (int32_t t = 0; ok && t < g->tensor_count; t++)
        if (g->tensors[t].role == LX_OUTPUT) compare_tensor(&c->whole[t], &wanted[t], r);
    r->tolerance = c->p->exact ? 0 : c->how->fp64 ? LX_TEAM_TOLERANCE_FP64 : LX_TEAM_TOLERANCE_FP32;
    r->equal = r->tolerance > 0 ? r->worst <= r->tolerance * r->largest : r->differing == 0;
    free_blocks(wanted, g->tensor_count);
    free(last);
    return ok;
}

bool lx_team_run(const struct lx_team_plan *plan, const struct lx_team_run_options *how,
                 struct lx_team_result *result, lx_status *st)
{
    const struct lx_transport *t = how->transport ? how->transport : &lx_transport_threads;
    int32_t tensors = plan->graph->tensor_count;
    struct team_context c = {.p = plan, .how = how, .result = result};
    *result = (struct lx_team_result){0};
    c.whole = calloc((size_t)tensors + 1, sizeof *c.whole);
    if (!c.whole) return status_no_memory(st);
    pthread_mutex_init(&c.lock, NULL);
    int timeout = how->timeout_ms > 0 ? how->timeout_ms : TIMEOUT_MS;
    bool ok = t->run(t, plan->members, timeout, member_work, &c, st);
    if (ok && result->compared) ok = compare(&c, st);
    pthread_mutex_destroy(&c.lock);
    free_blocks(c.whole, tensors);
    return ok;
}
