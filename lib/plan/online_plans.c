/* The pass `online`: where nests are allowed, a graph with softmax is planned as written and with running
 * sums (graph/online.h); the better plan is kept, with a bound for both. A rewritten graph is planned from
 * its origin. */
#include "graph/online.h"
#include "plan/plan_make.h"
#include "plan/plan_slot.h"
#include "search/search_steps.h"
#include "search/time.h"
#include "nests/nest_candidates.h"

static bool online_plans_is_better(const struct lx_plan *p, const struct lx_plan *than)
{
    const bool met = lx_plan_stated_met(p, NULL);
    if (met != lx_plan_stated_met(than, NULL)) return met;
    if (p->asks_time) return p->figures.end_to_end_us < than->figures.end_to_end_us;
    return p->figures.hbm_bytes < than->figures.hbm_bytes;
}

/* Lowers the plan's bound to another graph's. */
static void online_plans_lower(struct lx_plan *p, int64_t least)
{
    if (least >= lx_plan_least(p)) return;
    p->figures.perfect_hbm_bytes = min_i64(p->figures.perfect_hbm_bytes, least);
    p->figures.bound_bytes = least - p->figures.perfect_hbm_bytes;
    p->figures.spill_bytes = p->figures.hbm_bytes - p->figures.perfect_hbm_bytes;
}

static void online_plans_settle(struct lx_plan *p)
{
    plan_settle(p);
    if (p->answer.status != LX_OPTIMAL && !p->unproved)
        p->unproved = "not proved optimal: the bound holds with and without running sums";
}

static struct lx_plan *online_plans_better_of(struct lx_plan *p, struct lx_plan *online)
{
    struct lx_plan *kept = online_plans_is_better(online, p) ? online : p, *other = kept == p ? online : p;
    kept->seconds = p->seconds + online->seconds;
    /* The smaller of the two bounds holds for plans of both graphs. */
    if (!kept->asks_time)
        online_plans_lower(kept, lx_plan_least(other));
    else if (other->figures.bound_us < kept->figures.bound_us)
        kept->figures.bound_us = other->figures.bound_us;
    online_plans_settle(kept);
    lx_plan_free(other);
    return kept;
}

/* A lower bound on the time of plans of a graph; 0: unknown. */
static double online_plans_least_us(const struct lx_graph *g, const struct lx_plan_options *how)
{
    SCOPED(plan_free_at) struct lx_plan *q = plan_new(g);
    struct decisions decisions = {.passes = passes_of_stage(&how->passes)};
    struct draft x;
    lx_status ignored = {0};
    double us = 0;
    if (plan_divide(q, &decisions.passes, how, &ignored) &&
        draft_make(q->own_divisions, &decisions, q->memory, &x, &ignored)) {
        us = time_bound_divided(&x, NULL);
        draft_free(&x);
    }
    return us;
}

double plan_other_least_us(const struct lx_plan *p, const struct lx_plan_options *how)
{
    struct lx_passes passes = passes_of_stage(&how->passes);
    const struct lx_graph *from = p->graph->came_from, *other = NULL;
    lx_status ignored = {0};
    if (passes.tile == LX_TILE_NONE || passes.online != LX_ONLINE_AUTO) return INFINITY;
    if (from)
        other = lx_graph_with_device(from, &p->graph->device);
    else if (!graph_online(p->graph, &other, &ignored))
        other = NULL;
    double us = other ? online_plans_least_us(other, how) : INFINITY;
    lx_graph_free(other);
    return us;
}

/* The rewritten graph is not planned, but its bound counts. */
static void online_plans_bound(struct lx_plan *p, const struct lx_graph *rewritten,
                               const struct lx_plan_options *how)
{
    if (p->asks_time) {
        p->figures.bound_us = fmin(p->figures.bound_us, online_plans_least_us(rewritten, how));
        online_plans_settle(p);
    }
    if (p->asks_time || rewritten->op_count > NESTS_TOGETHER) return;
    SCOPED(plan_free_at) struct lx_plan *q = plan_new(rewritten);
    struct lx_passes passes = passes_of_stage(&how->passes);
    lx_status ignored = {0};
    int64_t least = 0;
    if (plan_divide(q, &passes, how, &ignored)) {
        struct search search = {.divided = q->own_divisions, .request = how, .st = &ignored};
        search.best.draft.how.passes = passes;
        if (nest_bound_below(&search, p->figures.hbm_bytes, &least)) online_plans_lower(p, least);
        online_plans_settle(p);
    }
}

/* True if the ops around rewritten ops move more than their operands once: running sums can save that. */
static bool moves_more(const struct lx_plan *p, const struct lx_graph *rewritten)
{
    const struct lx_graph *g = p->layouts->graph;
    int64_t moved = 0, once = 0;
    OWNED bool *touched = mem_zeroed((size_t)p->graph->tensor_count + 1, 2 * sizeof *touched);
    bool *seen = touched + p->graph->tensor_count;
    for (int32_t o = 0; o < p->graph->op_count; o++) {
        const struct lx_op *op = &p->graph->ops[o];
        int32_t k = 0;
        while (k < rewritten->op_count &&
               (rewritten->ops[k].kind != op->kind || strcmp(rewritten->ops[k].name, op->name) != 0))
            k++;
        if (k < rewritten->op_count) continue;
        for (int i = 0; i < op_operand_count(op); i++) touched[op_operand(op, i)] = true;
    }
    for (int32_t o = 0; o < g->op_count; o++) {
        bool of_it = false;
        for (int i = 0; i < op_operand_count(&g->ops[o]); i++)
            of_it |= touched[p->layouts->origin[op_operand(&g->ops[o], i)]];
        if (!of_it) continue;
        moved += p->traffic[o].hbm_read + p->traffic[o].hbm_written;
        for (int i = 0; i < op_operand_count(&g->ops[o]); i++) {
            int32_t t = op_operand(&g->ops[o], i), origin = p->layouts->origin[t];
            if (seen[origin] || p->hbm_address[t] < 0 ||
                (touched[origin] && p->graph->tensors[origin].role == LX_INTERMEDIATE))
                continue;
            seen[origin] = true;
            once += lx_layout_bytes(&p->layouts->layouts[t]);
        }
    }
    return moved > once;
}

/* Consumes `p`. */
static struct lx_plan *with_online(struct lx_plan *p, const struct lx_plan_options *how, lx_status *st)
{
    const struct lx_graph *rewritten = NULL;
    /* Skip unless nests are allowed and the plan is above its lower bound. */
    struct lx_passes passes = passes_of_stage(&how->passes);
    if (passes.tile == LX_TILE_NONE || passes.online != LX_ONLINE_AUTO || p->graph->list || how->run.quick ||
        p->problem.objective != LX_SPILL)
        return p;
    const int64_t bytes = p->figures.hbm_bytes, rival = how->rival_bytes;
    bool suffices = !p->asks_time && bytes <= max_i64(p->figures.perfect_hbm_bytes, how->enough_bytes);
    if (suffices && p->graph->op_count > NESTS_TOGETHER) return p;
    bool ok = graph_online(p->graph, &rewritten, st);
    /* ops; a larger graph is planned twice only if softmax moves more than it must */
    enum { SMALL = 12 };
    if (ok && (!rewritten || suffices || (p->graph->op_count > SMALL && !moves_more(p, rewritten)))) {
        if (rewritten) online_plans_bound(p, rewritten, how);
        lx_graph_free(rewritten);
        return p;
    }
    if (!how->keeps_quiet) p = plan_offer_twin(p);
    int64_t known = p->asks_time ? 0 : rival > 0 ? min_i64(bytes, rival) : bytes;
    struct lx_plan *online = rewritten ? plan_as_written(rewritten, how, known, st) : NULL;
    lx_graph_free(rewritten);
    if (online && cancel_requested()) {
        bool better = online_plans_is_better(online, p);
        lx_plan_free(better ? p : online);
        return better ? online : p;
    }
    if (online) return online_plans_better_of(p, online);
    if (st->code == LX_E_HINT) { /* ops of the rewritten graph do not allow a split that those written do */
        *st = (lx_status){0};
        return p;
    }
    lx_plan_free(p);
    return NULL;
}

/* Given nests name ops of the given graph. If they fit only the rewritten graph, that one is planned. */
static struct lx_plan *online_plans_plan_asked(const struct lx_graph *g, const struct lx_plan_options *how,
                                               lx_status *st)
{
    struct lx_passes passes = passes_of_stage(&how->passes);
    struct lx_plan *p = plan_as_written(g, how, 0, st);
    SCOPED(graph_free_at) const struct lx_graph *rewritten = NULL;
    lx_status why = {0};
    if (p || passes.online != LX_ONLINE_AUTO || g->came_from || g->list) return p;
    if (st->code != LX_E_NEST && st->code != LX_E_UNKNOWN_NAME) return NULL;
    if (graph_online(g, &rewritten, &why) && rewritten) p = plan_as_written(rewritten, how, 0, &why);
    return p;
}

struct lx_plan *plan_best(const struct lx_graph *g, const struct lx_plan_options *options, lx_status *st)
{
    struct cancel token;
    cancel_begin(&token, options->run.time_limit);
    if (lx_run_stopped(&options->run)) atomic_store(&token.requested, true);
    struct lx_plan *p = NULL;
    if (*options->nests && options->passes.tile == LX_TILE_NONE) {
        status_set(st, LX_E_USAGE, "--nests asks for nests and --tile none for none; leave one of them out");
    } else if (options->from) {
        p = plan_as_written(options->from->graph, options, 0, st);
    } else if (*options->nests) {
        p = online_plans_plan_asked(g, options, st);
    } else { /* the graph, or its origin, on this device */
        SCOPED(graph_free_at)
        const struct lx_graph *from =
            g->came_from ? lx_graph_with_device(g->came_from, &g->device) : lx_graph_ref(g);
        p = from ? plan_as_written(from, options, options->rival_bytes, st) : NULL;
        if (p) p = with_online(p, options, st);
    }
    cancel_end(&token);
    return p;
}
