/* Spill: least cost off chip, with proof.
 *
 * Buffers that may not or can not be placed are paid for. Those worth nothing are left off
 * chip; those of size 0 are placed at once, unless something links them to others. The rest falls apart in
 * time: stretches between which nobody lives, and no charge or group leads from one to the other, are solved
 * alone (parts.c), and costs and bounds add up. Each part gets a first plan from greedy placements, then branch and pack (search.c), then, if the proof does not
 * come, large-neighbourhood search (lns.c). */
#include "exact/spill.h"
#include "base/log.h"
#include "exact/lns.h"
#include "exact/parts.h"
#include "exact/tighter_capacity.h"
#include "exact/strip.h"

#include <stdlib.h>
#include <string.h>

/* Beyond this, a placement of all items at once is unlikely to be found by exact packing. */
enum { MANY_ITEMS = 1000 };

struct stretch_result {
    int64_t spill, bound;
    bool ok, none; /* none: no legal answer was found */
};

/* Is there any choice in which being placed saves something? */
static bool may_be_worth_it(const struct model *m, int32_t i)
{
    const struct model_item *it = &m->items[i];
    int64_t most = it->cost;
    for (int32_t k = m->linked ? m->charge_first[i] : 0; m->linked && k < m->charge_first[i + 1]; k++)
        most += m->charges[m->charge_of[k]].cost == LX_FORBIDDEN ? m->total_cost
                                                                 : m->charges[m->charge_of[k]].cost;
    return !it->never && (it->must || it->ring != i || most > 0);
}

/* Greedy plans from the incumbent of the caller and from each order. */
static int64_t first_plan(const struct model *m, struct budget *budget, int64_t *address)
{
    const struct lx_run *run = budget->run;
    struct packer k;
    size_t n = (size_t)m->item_count + 1;
    bool *kept = malloc(n), *merged = calloc((size_t)m->edge_count + 1, sizeof *merged);
    int64_t *trial = malloc(n * sizeof *trial), best;
    for (int32_t i = 0; i < m->item_count; i++)
        address[i] = run->incumbent ? run->incumbent[m->items[i].buffer] : LX_OFF_CHIP;
    best = model_value(m, address);
    for (int32_t i = 0; i < m->item_count && best == model_none(m); i++) address[i] = LX_OFF_CHIP;
    if (run->incumbent) best = min_i64(best, model_value(m, address));
    bool ready = packer_new(&k, m, budget);
    if (ready && kept && merged && trial) {
        for (int32_t i = 0; i < m->item_count; i++) kept[i] = may_be_worth_it(m, i);
        merge_greedily(m, kept, merged);
        /* A placement costs O(n); beyond some thousand items the first orders must do. */
        int orders = m->item_count > 20000 ? 1 : PLACE_ORDERS;
        for (int order = 0; order < orders && best > m->base; order++) {
            int64_t spill = place_greedily(&k, kept, merged, (enum place_order)order, 0, trial);
            if (m->linked && spill < INT64_MAX) spill = fill_gaps(&k, trial);
            if (spill >= best) continue;
            best = spill;
            memcpy(address, trial, (n - 1) * sizeof *trial);
        }
    }
    packer_free(&k);
    free(kept);
    free(merged);
    free(trial);
    return best;
}

/* The search goes on between the other ways to better plans, each of which helps it to prune. */
static bool prove_and_improve(struct model *m, struct budget *budget, const struct spill_options *options,
                              int64_t *address, struct stretch_result *r, struct search_stats *stats)
{
    struct search_tuning tuning = {.fit_nodes = options->fit_nodes, .core_nodes = options->core_nodes};
    struct search s;
    int64_t *plan = malloc(((size_t)m->item_count + 1) * sizeof *plan);
    bool ok = plan && search_open(&s, m, budget, &tuning, address, r->spill, 0);
    /* On many items the Fit engine has little hope with all of them at once: regions first. */
    enum { QUICK, RELAXATION, STRIP, LONGER, SLACK, RIDDLES, REGIONS, REST, STAGES };
    static const char *const words[STAGES] = {"quick", "relaxation", "strip",   "longer",
                                              "slack", "riddles",    "regions", "rest"};
    static const int orders[2][STAGES] = {{QUICK, RELAXATION, STRIP, LONGER, SLACK, RIDDLES, REGIONS, REST},
                                          {QUICK, RELAXATION, STRIP, LONGER, REGIONS, SLACK, RIDDLES, REST}};
    const int *order = orders[m->item_count > MANY_ITEMS];
    int64_t all = INT64_MAX / 4, share = budget->limit / 4;
    for (int turn = 0; ok && turn < STAGES && search_bound(&s) < s.best && !budget_spent(budget); turn++) {
        int stage = order[turn];
        int64_t best = s.best;
        memcpy(plan, address, (size_t)m->item_count * sizeof *plan);
        LOG(exact, "%s: %" PRId64 ", bound %" PRId64 ", %d items, %" PRId64 " steps so far", words[stage],
            s.best, search_bound(&s), (int)m->item_count, budget->steps);
        if (stage == QUICK) ok = search_continue(&s, 20000, 1);
        if (stage == RELAXATION) ok = search_relaxation(&s, share / 20);
        if (stage == STRIP && !m->linked) ok = strip_plans(m, budget, &tuning, share, plan, &best, stats);
        if (stage == LONGER) ok = search_continue(&s, share / 8, m->item_count > MANY_ITEMS ? 2 : 8);
        if (stage == SLACK) ok = slack_plans(m, budget, &tuning, share / 4, plan, &best, stats);
        if (stage == RIDDLES) ok = search_riddles(&s, options->fit_nodes, share);
        if (stage == REGIONS && options->improve)
            ok = lns_improve(m, budget, plan, &best, search_bound(&s), stats);
        if (stage == REST)
            ok = search_continue(&s, all, INT32_MAX) && search_riddles(&s, options->fit_nodes, all);
        search_offer(&s, plan);
    }
    if (plan) {
        r->spill = s.best;
        r->bound = ok ? search_bound(&s) : 0;
        search_close(&s, stats);
    }
    free(plan);
    return ok;
}

/* Without memory everything stays off chip. */
static struct stretch_result solve_part(const struct lx_problem *p, const int32_t *members, int32_t count,
                                        struct budget *budget, const struct spill_options *options,
                                        struct lx_answer *answer, struct search_stats *stats)
{
    struct stretch_result r = {0, 0, false, false};
    struct model *m = model_new(p, members, count);
    int64_t *address = malloc(((size_t)count + 1) * sizeof *address);
    if (m && address) {
        r.spill = first_plan(m, budget, address);
        r.bound = r.spill;
        r.ok = r.spill == 0 || prove_and_improve(m, budget, options, address, &r, stats);
        r.none = r.spill == model_none(m);
        for (int32_t i = 0; i < m->item_count; i++) answer->address[m->items[i].buffer] = address[i];
    } else
        for (int32_t k = 0; k < count; k++) r.spill += p->buffers[members[k]].spill_cost;
    free(address);
    model_free(m);
    return r;
}

bool spill_solve(const struct lx_problem *p, const struct lx_run *run, const struct spill_options *options,
                 struct lx_answer *answer)
{
    struct budget budget = budget_new(run, options->step_limit);
    struct search_stats stats = {0};
    struct parts parts;
    bool ok = parts_find(&parts, p, answer->address), none = parts.hopeless, proved = true;
    int64_t spill = parts.paid, bound = parts.paid;
    for (int32_t k = 0; ok && k < parts.count; k++) {
        struct part part = parts_take(&parts, k);
        struct stretch_result r =
            solve_part(&part.p, part.members, part.count, &budget, options, answer, &stats);
        ok = r.ok;
        none |= r.none && r.bound == r.spill;
        proved &= r.bound == r.spill && !r.none;
        spill += r.spill;
        bound += r.bound;
    }
    answer->bound = ok ? bound : 0;
    answer->objective = spill;
    answer->steps = budget.steps;
    answer->status = !ok ? LX_ERROR : none ? LX_INFEASIBLE : proved ? LX_OPTIMAL : LX_LIMIT;
    LOG(exact, "spill %" PRId64 ", proved %" PRId64, spill, answer->bound);
    exact_report(&stats, EXACT_STAT_COUNT, answer);
    parts_free(&parts);
    return ok;
}
