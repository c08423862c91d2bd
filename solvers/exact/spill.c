/* Spill: least cost off chip, with proof.
 *
 * Buffers that may not or can not be placed are paid for. Those worth nothing are left off
 * chip; those of size 0 are placed at once. The rest falls apart in
 * time: stretches between which nobody lives are solved alone, and costs and bounds add up. Each stretch
 * gets a first plan from greedy placements, then branch and pack (search.c), then, if the proof does not
 * come, large-neighbourhood search (lns.c). */
#include "exact/spill.h"
#include "base/log.h"
#include "exact/lns.h"
#include "exact/tighter_capacity.h"
#include "exact/strip.h"

#include <stdlib.h>
#include <string.h>

/* Beyond this, a placement of all items at once is unlikely to be found by exact packing. */
enum { MANY_ITEMS = 1000 };

struct member {
    int64_t start, end;
    int32_t buffer;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

struct stretch_result {
    int64_t spill, bound;
    bool ok;
};

/* Greedy plans from the incumbent of the caller and from each order. */
static int64_t first_plan(const struct model *m, struct budget *budget, int64_t *address)
{
    const struct lx_run *run = budget->run;
    struct packer k;
    size_t n = (size_t)m->item_count + 1;
    bool *kept = malloc(n), *merged = calloc((size_t)m->edge_count + 1, sizeof *merged);
    int64_t *trial = malloc(n * sizeof *trial), best = m->total_cost;
    for (int32_t i = 0; i < m->item_count; i++) address[i] = LX_OFF_CHIP;
    if (run->incumbent) {
        best = 0;
        for (int32_t i = 0; i < m->item_count; i++) {
            address[i] = run->incumbent[m->items[i].buffer];
            if (address[i] < 0) best += m->items[i].cost;
        }
    }
    bool ready = packer_new(&k, m, budget);
    if (ready && kept && merged && trial) {
        memset(kept, 1, n);
        merge_greedily(m, kept, merged);
        /* A placement costs O(n); beyond some thousand items the first orders must do. */
        int orders = m->item_count > 20000 ? 1 : PLACE_ORDERS;
        for (int order = 0; order < orders && best > 0; order++) {
            int64_t spill = place_greedily(&k, kept, merged, (enum place_order)order, 0, trial);
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
        if (stage == STRIP) ok = strip_plans(m, budget, &tuning, share, plan, &best, stats);
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

static struct stretch_result solve_stretch(const struct lx_problem *p, const int32_t *members, int32_t count,
                                           struct budget *budget, const struct spill_options *options,
                                           struct lx_answer *answer, struct search_stats *stats)
{
    struct stretch_result r = {0, 0, false};
    struct model *m = model_new(p, members, count);
    int64_t *address = malloc(((size_t)count + 1) * sizeof *address);
    if (m && address) {
        r.spill = first_plan(m, budget, address);
        r.ok = r.spill == 0 || prove_and_improve(m, budget, options, address, &r, stats);
        for (int32_t i = 0; i < m->item_count; i++) answer->address[m->items[i].buffer] = address[i];
    } else
        for (int32_t k = 0; k < count; k++) r.spill += p->buffers[members[k]].spill_cost;
    free(address);
    model_free(m);
    return r;
}

/* Buffers of no size conflict with nothing. */
static void place_empty(const struct lx_problem *p, struct lx_answer *answer)
{
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (b->size == 0 && !b->reason && b->fixed <= p->capacity) answer->address[i] = max_i64(b->fixed, 0);
    }
}

bool spill_solve(const struct lx_problem *p, const struct lx_run *run, const struct spill_options *options,
                 struct lx_answer *answer)
{
    struct member *members = malloc(((size_t)p->count + 1) * sizeof *members);
    int32_t *part = malloc(((size_t)p->count + 1) * sizeof *part);
    struct budget budget = budget_new(run, options->step_limit);
    struct search_stats stats = {0};
    int64_t spill = 0, bound = 0;
    int32_t n = 0;
    bool ok = members && part;
    for (int32_t i = 0; ok && i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        bool free_of_cost = b->size == 0 && !b->reason && b->fixed <= p->capacity;
        if (model_wants(p, b))
            members[n++] = (struct member){b->start, b->end, i};
        else if (!free_of_cost) {
            spill += b->spill_cost;
            bound += b->spill_cost;
        }
    }
    if (ok) qsort(members, (size_t)n, sizeof *members, compare_members);
    for (int32_t i = 0; ok && i < n;) {
        int32_t count = 0;
        for (int64_t until = INT64_MIN; i < n && (count == 0 || members[i].start < until); i++) {
            until = max_i64(until, members[i].end);
            part[count++] = members[i].buffer;
        }
        struct stretch_result r = solve_stretch(p, part, count, &budget, options, answer, &stats);
        ok = r.ok;
        spill += r.spill;
        bound += r.bound;
    }
    place_empty(p, answer);
    answer->bound = ok ? bound : 0;
    answer->objective = spill;
    answer->steps = budget.steps;
    answer->status = !ok ? LX_ERROR : bound == spill ? LX_OPTIMAL : LX_LIMIT;
    LOG(exact, "spill %" PRId64 ", proved %" PRId64, spill, answer->bound);
    exact_report(&stats, EXACT_STAT_COUNT, answer);
    free(members);
    free(part);
    return ok;
}
