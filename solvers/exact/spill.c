/* Spill: least cost off chip, with proof. Buffers that cannot be placed are paid for. Buffers worth nothing
 * stay off chip and empty ones are placed at once, unless linked to others. The rest splits in time:
 * stretches that share no live buffer, linked cost or group are solved alone, and costs and bounds add up.
 * Each part gets a first plan from greedy placements, then branch and pack (search.c), then, if no proof is
 * found, large-neighbourhood search (lns.c). */
#include "exact/exact.h"
#include "common/items.h"
#include "solvers.h"

/* --- Parts of a problem: stretches of time that share no live buffer, joined if a linked cost or a group has
 * members in several. O(n log n) plus the length of the bonds. --- */

struct parts {
    const struct lx_problem *p;
    int32_t count;
    int32_t *members, *first; /* part k: members[first[k]] to members[first[k + 1] - 1], by start */
    struct lx_linked_cost *linked_costs; /* by part */
    struct lx_group *groups;
    int32_t *linked_first, *group_first;
    int64_t paid;  /* for buffers in no part */
    bool hopeless; /* a buffer must be placed and cannot be */
    struct arena memory;
};

struct member {
    int64_t start, end;
    int32_t buffer, part;
};

struct finder {
    struct parts *parts;
    const struct lx_problem *p;
    bool *linked;
    struct member *members;
    int32_t *stretch; /* per buffer, or -1 */
    int32_t *root;    /* per stretch: union-find, a root is the smallest of its set */
    int32_t *part;    /* per stretch */
    int32_t count, stretches;
};

ORDER(parts_compare_members, struct member, ORDER_UP(part) ORDER_UP(start) ORDER_UP(buffer));

static void find_stretches(struct finder *f, int64_t *address)
{
    for (int32_t i = 0; i < f->p->count; i++) {
        const struct lx_buffer *b = &f->p->buffers[i];
        bool can = model_can_place(f->p, b);
        f->stretch[i] = -1;
        if (can && (f->linked[i] || model_wants(f->p, b))) {
            f->members[f->count++] = (struct member){b->start, b->end, i, 0};
            continue;
        }
        /* Needs no search: it cannot be placed, is worth nothing, or is empty. */
        bool place = can && b->size == 0 && (b->must || model_on_cost(b) <= b->spill_cost);
        if (place) address[i] = max_i64(b->fixed, 0);
        f->parts->paid += place ? model_on_cost(b) : b->spill_cost;
        f->parts->hopeless |= b->must && !place;
    }
    qsort(f->members, (size_t)f->count, sizeof *f->members, parts_compare_members);
    for (int32_t i = 0; i < f->count;) {
        int64_t until = f->members[i].end;
        for (; i < f->count && f->members[i].start < until; i++) {
            until = max_i64(until, f->members[i].end);
            f->stretch[f->members[i].buffer] = f->stretches;
        }
        f->root[f->stretches] = f->stretches;
        f->stretches++;
    }
}

/* Joins the stretches of a group's members with *last; the smaller root stays. */
static void parts_join(struct finder *f, const struct lx_group *g, int32_t *last)
{
    for (int32_t k = 0; k < g->count; k++) {
        int32_t s = f->stretch[g->at[k]];
        if (s < 0) continue;
        if (*last >= 0) sets_join(f->root, s, *last);
        *last = s;
    }
}

/* Sorts bonds stably by part: `part` has the part of each of `count` bonds, or -1. */
static void sort_by_part(const int32_t *part, int32_t count, int32_t parts, int32_t *first, int32_t *place)
{
    for (int32_t c = 0; c < count; c++)
        if (part[c] >= 0) first[part[c] + 1]++;
    for (int32_t k = 0; k < parts; k++) first[k + 1] += first[k];
    for (int32_t c = 0; c < count; c++) place[c] = part[c] >= 0 ? first[part[c]]++ : -1;
    for (int32_t k = parts; k > 0; k--) first[k] = first[k - 1];
    first[0] = 0;
}

static void parts_deal_bonds(struct finder *f, int32_t *linked_part, int32_t *group_part)
{
    const struct lx_bonds *bonds = &f->p->bonds;
    struct parts *parts = f->parts;
    int32_t most =
        bonds->linked_cost_count > bonds->together_count ? bonds->linked_cost_count : bonds->together_count;
    OWNED int32_t *place = mem_alloc(((size_t)most + 1) * sizeof *place);
    for (int32_t c = 0; c < bonds->linked_cost_count; c++)
        if (linked_part[c] >= 0) linked_part[c] = f->part[linked_part[c]];
    sort_by_part(linked_part, bonds->linked_cost_count, parts->count, parts->linked_first, place);
    for (int32_t c = 0; c < bonds->linked_cost_count; c++)
        if (place[c] >= 0) parts->linked_costs[place[c]] = bonds->linked_costs[c];
    for (int32_t g = 0; g < bonds->together_count; g++)
        if (group_part[g] >= 0) group_part[g] = f->part[group_part[g]];
    sort_by_part(group_part, bonds->together_count, parts->count, parts->group_first, place);
    for (int32_t g = 0; g < bonds->together_count; g++)
        if (place[g] >= 0) parts->groups[place[g]] = bonds->together[g];
}

static void parts_divide(struct finder *f, int64_t *address)
{
    const struct lx_bonds *bonds = &f->p->bonds;
    struct parts *parts = f->parts;
    OWNED int32_t *linked_part = mem_alloc(((size_t)bonds->linked_cost_count + 1) * sizeof *linked_part);
    OWNED int32_t *group_part = mem_alloc(((size_t)bonds->together_count + 1) * sizeof *group_part);
    model_mark_linked(bonds, f->linked);
    find_stretches(f, address);
    for (int32_t c = 0; c < bonds->linked_cost_count; c++) {
        const struct lx_linked_cost *linked = &bonds->linked_costs[c];
        linked_part[c] = -1;
        parts_join(f, &linked->all_on, &linked_part[c]);
        parts_join(f, &linked->all_off, &linked_part[c]);
        parts_join(f, &linked->any_on, &linked_part[c]);
        parts_join(f, &linked->any_off, &linked_part[c]);
        /* A linked cost on buffers in no part, which are all off: is it paid? */
        bool paid = linked->all_on.count == 0 && (linked->any_on.count == 0 || linked->any_off.count > 0);
        if (linked_part[c] >= 0 || !paid) continue;
        parts->hopeless |= linked->cost == LX_FORBIDDEN;
        parts->paid += max_i64(linked->cost, 0);
    }
    for (int32_t g = 0; g < bonds->together_count; g++) {
        group_part[g] = -1;
        parts_join(f, &bonds->together[g], &group_part[g]);
    }
    for (int32_t s = 0; s < f->stretches; s++) {
        int32_t r = sets_root(f->root, s);
        f->part[s] = r == s ? parts->count++ : f->part[r];
    }
    for (int32_t k = 0; k < f->count; k++) f->members[k].part = f->part[f->stretch[f->members[k].buffer]];
    qsort(f->members, (size_t)f->count, sizeof *f->members, parts_compare_members);
    for (int32_t k = 0; k < f->count; k++) {
        parts->members[k] = f->members[k].buffer;
        parts->first[f->members[k].part + 1] = k + 1;
    }
    parts_deal_bonds(f, linked_part, group_part);
}

/* Finds the parts; gives unlinked empty buffers their addresses. The caller frees `memory`. */
static void parts_find(struct parts *parts, const struct lx_problem *p, int64_t *address)
{
    SCOPED(arena_free) struct arena memory = {0};
    size_t n = (size_t)p->count + 2;
    *parts = (struct parts){.p = p};
    parts->members = arena_array(&parts->memory, n, sizeof *parts->members);
    parts->first = arena_array(&parts->memory, n, sizeof *parts->first);
    parts->linked_costs =
        arena_array(&parts->memory, (size_t)p->bonds.linked_cost_count + 1, sizeof *parts->linked_costs);
    parts->groups = arena_array(&parts->memory, (size_t)p->bonds.together_count + 1, sizeof *parts->groups);
    parts->linked_first = arena_array(&parts->memory, n, sizeof *parts->linked_first);
    parts->group_first = arena_array(&parts->memory, n, sizeof *parts->group_first);
    struct finder f = {.parts = parts, .p = p};
    f.linked = arena_array(&memory, n, sizeof *f.linked);
    f.members = arena_array(&memory, n, sizeof *f.members);
    f.stretch = arena_array(&memory, n, sizeof *f.stretch);
    f.root = arena_array(&memory, n, sizeof *f.root);
    f.part = arena_array(&memory, n, sizeof *f.part);
    parts_divide(&f, address);
}

/* Above MANY_ITEMS, exact packing seldom places all items at once. Above SOME_ITEMS a short annealing starts
 * better than greedy orders; above MOST_ITEMS only annealing runs: a linear programme would take minutes. */
enum { SOME_ITEMS = 300, MANY_ITEMS = 1000, MOST_ITEMS = 20000, STEPS_AN_ITEM = 40 };

/* A plan this near to the bound needs no annealing. */
#define NEAR 0.02

/* A plan of all buffers by annealing, made when a part first needs it. */
struct annealed {
    const struct lx_problem *p;
    int64_t *address; /* NULL before that */
    int64_t steps;
};

/* A part being solved: its model, its best plan (per item), and its proved bound. */
struct stretch {
    struct lx_problem p;
    struct model *model;
    int64_t *address;
    int64_t value, bound;
};

/* The best greedy plan over all orders and the `known` plan (per buffer; NULL: none). */
static int64_t spill_first_plan(const struct model *m, struct budget *budget, const int64_t *known,
                                int64_t *address)
{
    struct packer k;
    size_t n = (size_t)m->item_count + 1;
    packer_new(&k, m, budget);
    bool *kept = arena_array(&k.memory, n, sizeof *kept);
    bool *merged = arena_array(&k.memory, (size_t)m->edge_count + 1, sizeof *merged);
    int64_t *trial = arena_array(&k.memory, n, sizeof *trial), best;
    for (int32_t i = 0; i < m->item_count; i++) address[i] = known ? known[m->items[i].buffer] : LX_OFF_CHIP;
    best = model_value(m, address);
    for (int32_t i = 0; i < m->item_count && best == model_none(m); i++) address[i] = LX_OFF_CHIP;
    if (known) best = min_i64(best, model_value(m, address));
    for (int32_t i = 0; i < m->item_count; i++) {
        /* Does any choice save something by placing this item? */
        const struct model_item *it = &m->items[i];
        int64_t most = it->cost;
        for (int32_t j = m->linked ? m->linked_first[i] : 0; m->linked && j < m->linked_first[i + 1]; j++)
            most += m->linked_costs[m->linked_of[j]].cost == LX_FORBIDDEN
                        ? m->total_cost
                        : m->linked_costs[m->linked_of[j]].cost;
        kept[i] = !it->never && (it->must || it->ring != i || most > 0);
    }
    merge_greedily(m, kept, merged);
    /* A placement costs O(n) per item; with many items the known plan must do. */
    int orders = m->item_count > MOST_ITEMS ? 0 : PLACE_ORDERS;
    for (int order = 0; order < orders && best > m->base; order++) {
        int64_t spill = place_greedily(&k, kept, merged, (enum place_order)order, trial);
        if (m->linked) spill = fill_gaps(&k, trial);
        if (spill >= best) continue;
        best = spill;
        memcpy(address, trial, (n - 1) * sizeof *trial);
    }
    arena_free(&k.memory);
    return best;
}

void budget_better(struct budget *b, const struct model *m, const int64_t *address, int64_t value)
{
    if (m != b->part || value >= b->value) return;
    b->lacking -= b->value == model_none(m);
    b->value = value;
    for (int32_t i = 0; i < m->item_count; i++) b->address[m->items[i].buffer] = address[i];
    if (b->run->progress) budget_report(b, b->address);
}

enum stage { QUICK, SWEEP, RELAXATION, STRIP, LONGER, SLACK, RIDDLES, REGIONS, REST, STAGES };

/* The order of stages. If much is missing, the plan is improved first, by regions. With many items the Fit
 * engine seldom packs all at once: regions before questions to it. */
static const enum stage *stages_in_order(const struct model *m, int64_t best, int64_t bound)
{
    static const enum stage orders[3][STAGES] = {
        {QUICK, SWEEP, RELAXATION, STRIP, LONGER, SLACK, RIDDLES, REGIONS, REST},
        {QUICK, SWEEP, RELAXATION, STRIP, LONGER, REGIONS, SLACK, RIDDLES, REST},
        {QUICK, SWEEP, RELAXATION, REGIONS, STRIP, LONGER, SLACK, RIDDLES, REST}};
    bool far = m->item_count > MANY_ITEMS / 2 && (double)(best - bound) > 0.05 * (double)best;
    /* After a sweep, a gap is for what does not pack. */
    bool loose = !m->linked && m->edge_count == 0 && (double)(best - bound) > 0.01 * (double)best;
    return orders[far ? 2 : loose || m->item_count > MANY_ITEMS];
}

/* The plan is so near to the bound that only the proof, or the last unit, is missing: regions seldom help. */
static bool is_next_to(const struct search *s)
{
    return (double)(s->best - search_bound(s)) < 1e-7 * (double)s->best;
}

static void spill_run_stage(enum stage stage, struct search *s, const struct exact_options *options,
                            int64_t *plan, struct search_stats *stats)
{
    struct model *m = s->m;
    struct budget *budget = s->budget;
    int64_t all = INT64_MAX / 4, share = budget->limit / 4, best = s->best;
    switch (stage) {
    case QUICK:
        if (s->stats.unresolved == 0) search_continue(s, share / 10, 1);
        return;
    case SWEEP: { /* what it takes is not missing afterwards */
        int64_t before = budget->steps;
        search_sweep(s, share);
        search_riddles(s, options->fit_nodes / 8, share / 8);
        if (!budget->run->work_limit) budget->limit += budget->steps - before;
        return;
    }
    case RELAXATION:
        s->holds_leaves = true;
        search_continue(s, share / 4, INT32_MAX);
        s->holds_leaves = false;
        return;
    case STRIP: /* STRIP and SLACK build their own models, which takes time */
        if (!m->linked && m->item_count <= LONG_LIST)
            strip_plans(m, budget, &s->tuning, share, plan, &best, stats);
        return;
    case LONGER: search_continue(s, share / 8, m->item_count > MANY_ITEMS ? 2 : 8); return;
    case SLACK:
        if (m->item_count <= LONG_LIST) slack_plans(m, budget, &s->tuning, share / 4, plan, &best, stats);
        return;
    case RIDDLES: search_riddles(s, options->fit_nodes, share); return;
    case REGIONS:
        if (options->improve && !is_next_to(s))
            lns_improve(m, budget, 3 * share, plan, &best, search_bound(s), stats);
        return;
    default:
        if (is_next_to(s) && m->item_count > MANY_ITEMS) all = share / 2;
        search_continue(s, all, INT32_MAX);
        search_riddles(s, budget_nodes(budget, all, m->item_count), all);
        return;
    }
}

static void spill_anneal(struct annealed *a, struct budget *budget)
{
    struct lx_run brief = *budget->run;
    /* Of a long list all of annealing, as if it were asked alone. */
    bool whole = a->p->count > LONG_LIST && !budget->run->work_limit;
    brief.work_limit = whole ? 0 : min_i64(STEPS_AN_ITEM * (int64_t)a->p->count, budget->limit);
    if (budget->deadline > 0) brief.time_limit = fmax(1e-3, budget->deadline - clock_seconds());
    brief.options = NULL;
    brief.progress = NULL;
    a->address = mem_alloc(((size_t)a->p->count + 1) * sizeof *a->address);
    for (int32_t i = 0; i < a->p->count; i++) a->address[i] = LX_OFF_CHIP;
    struct lx_answer answer = {.address = a->address};
    lx_solver_anneal.solve(a->p, &brief, &answer);
    a->steps = answer.steps;
}

/* Alternates the search with other ways to better plans, which help it to prune. */
static void prove_and_improve(struct model *m, struct budget *budget, const struct exact_options *options,
                              struct stretch *r, struct annealed *annealed, struct search_stats *stats)
{
    static const char *const words[STAGES] = {"quick", "sweep",   "relaxation", "strip", "longer",
                                              "slack", "riddles", "regions",    "rest"};
    struct search_tuning tuning = {.fit_nodes = options->fit_nodes, .core_nodes = options->core_nodes};
    struct search s;
    OWNED int64_t *plan = mem_alloc(((size_t)m->item_count + 1) * sizeof *plan);
    search_open(&s, m, budget, &tuning, r->address, r->value);
    const enum stage *order = stages_in_order(m, 0, 0);
    /* If the rounded point is not near the bound, annealing starts better than greedy orders. */
    bool some = annealed->p->count > SOME_ITEMS && annealed->p->count <= LONG_LIST;
    if (some && !budget->run->incumbent) {
        search_continue(&s, 1, 1);
        if ((double)(s.best - search_bound(&s)) >= NEAR * (double)s.best) {
            if (!annealed->address) spill_anneal(annealed, budget);
            for (int32_t i = 0; i < m->item_count; i++) plan[i] = annealed->address[m->items[i].buffer];
            search_offer(&s, plan);
        }
    }
    for (int turn = 0;
         turn < STAGES && search_bound(&s) < s.best && !budget_is_useless(budget) && !budget_spent(budget);
         turn++) {
        if (turn == RELAXATION + 1) order = stages_in_order(m, s.best, search_bound(&s));
        memcpy(plan, r->address, (size_t)m->item_count * sizeof *plan);
        LOG(exact, "%s: %" PRId64 ", bound %" PRId64 ", %d items, %" PRId64 " steps so far",
            words[order[turn]], s.best, search_bound(&s), (int)m->item_count, budget->steps);
        spill_run_stage(order[turn], &s, options, plan, stats);
        search_offer(&s, plan);
        budget_bound(budget, m, search_bound(&s));
    }
    r->value = s.best;
    r->bound = search_bound(&s);
    search_close(&s, stats);
}

/* Solves the parts one after the other; reports carry the sum. */
static void solve_all(struct stretch *at, int32_t count, struct budget *budget,
                      const struct exact_options *options, struct annealed *annealed,
                      struct search_stats *stats)
{
    for (int32_t k = 0; k < count; k++) {
        budget->part = at[k].model;
        budget->rest -= at[k].value;
        budget->value = at[k].value;
        budget->bound = 0;
        if (at[k].value != 0 && at[k].model->item_count <= MOST_ITEMS && !budget_is_useless(budget))
            prove_and_improve(at[k].model, budget, options, &at[k], annealed, stats);
        for (int32_t i = 0; i < at[k].model->item_count; i++)
            budget->address[at[k].model->items[i].buffer] = at[k].address[i];
        budget->rest += at[k].value;
        budget->rest_bound += at[k].bound;
    }
}

void spill_solve(const struct lx_problem *p, const struct lx_run *run, const struct exact_options *options,
                 struct lx_answer *answer)
{
    struct budget budget = budget_new(run, options->step_limit);
    struct search_stats stats = {0};
    struct parts parts;
    struct annealed annealed = {.p = p};
    parts_find(&parts, p, answer->address);
    /* The known plan: the caller's incumbent, or for many buffers an annealed one. */
    if (!run->incumbent && p->count > LONG_LIST) spill_anneal(&annealed, &budget);
    const int64_t *known = run->incumbent ? run->incumbent : annealed.address;
    struct stretch *at = arena_array(&parts.memory, (size_t)parts.count + 1, sizeof *at);
    budget.rest = budget.rest_bound = parts.paid;
    for (int32_t k = 0; k < parts.count; k++) {
        int32_t count = parts.first[k + 1] - parts.first[k];
        at[k].p = *p;
        at[k].p.bonds =
            (struct lx_bonds){.linked_costs = parts.linked_costs + parts.linked_first[k],
                              .linked_cost_count = parts.linked_first[k + 1] - parts.linked_first[k],
                              .together = parts.groups + parts.group_first[k],
                              .together_count = parts.group_first[k + 1] - parts.group_first[k]};
        at[k].model = model_new(&at[k].p, parts.members + parts.first[k], count);
        at[k].address = arena_array(&parts.memory, (size_t)count + 1, sizeof *at[k].address);
        at[k].value = spill_first_plan(at[k].model, &budget, known, at[k].address);
        budget.rest += at[k].value;
        budget.lacking += at[k].value == model_none(at[k].model);
        for (int32_t i = 0; i < at[k].model->item_count; i++)
            answer->address[at[k].model->items[i].buffer] = at[k].address[i];
    }
    budget.address = answer->address;
    if (run->progress) budget_report(&budget, answer->address);
    solve_all(at, parts.count, &budget, options, &annealed, &stats);
    answer->bound = budget.rest_bound;
    answer->objective = budget.rest;
    answer->steps = budget.steps + annealed.steps;
    bool none = parts.hopeless, proved = true, missing = false;
    for (int32_t k = 0; k < parts.count; k++) {
        bool legal = at[k].value < model_none(at[k].model);
        none |= !legal && at[k].bound >= at[k].value;
        missing |= !legal;
        proved &= at[k].bound >= at[k].value;
    }
    answer->status = none ? LX_INFEASIBLE : proved && !missing ? LX_OPTIMAL : LX_LIMIT;
    LOG(exact, "spill %" PRId64 ", proved %" PRId64, answer->objective, answer->bound);
    exact_report(&stats, EXACT_STAT_COUNT, answer);
    for (int32_t k = 0; k < parts.count; k++) model_free(at[k].model);
    mem_free(annealed.address);
    arena_free(&parts.memory);
}
