/* The search for the fastest plan. Fewer cores launch sooner; a copy, a relayout or an output on chip may
 * cost more time than it saves. So every rule to divide ops is planned with every subset of the optional
 * passes, and the fastest plan stays. Most combinations are skipped because their bound is too slow. */
#include "search/time.h"
#include "cooptimise/cooptimise.h"

struct way {
    const struct lx_division *const *divided; /* per op; NULL: unchanged */
    double least_us;                          /* lower bound on plans with these divisions */
    size_t number;
};

struct least_time {
    struct search *search;
    const struct lx_passes *passes; /* of the request */
    VEC(struct way) ways;
    int64_t left; /* tries left */
    bool small;   /* small graph: everything is tried */
    int level;    /* of co-optimisation; a level adds ways to the lower levels' ones */
};

/* Passes that one plan may disable; a bit each. */
enum { NO_CLONES = 1, NO_OUTPUTS = 2, NO_IN_PLACE = 4, NO_RING = 8, NO_DUMP = 16, ALL_BITS = 32 };

static bool try_one(struct least_time *s, const struct decisions *how)
{
    struct attempt next;
    struct effort effort = s->search->effort;
    const struct attempt *best = &s->search->best;
    effort.drafts = DRAFTS_MANY;
    s->left--;
    if (!try_decisions(s->search, how, &effort, (struct limit){useful_us(s->search), best->hbm_bytes - 1},
                       &next))
        return false;
    if (next.memory) offer_attempt(s->search, &next);
    return true;
}

/* Tries all subsets of the passes on a small graph, else single passes; then the stage of reductions. */
static bool try_passes(struct least_time *s, const struct way *way, const struct lx_passes *passes)
{
    struct decisions how = {.divided = way->divided};
    bool ok = true;
    for (int bits = 0; ok && bits < ALL_BITS && s->left > 0 && way->least_us < useful_us(s->search); bits++) {
        struct lx_passes p = *passes;
        bool wipes = s->search->best.draft.bundle_count > 1;
        bool changes = !(bits & NO_CLONES && p.clone == LX_CLONE_NONE) &&
                       !(bits & NO_OUTPUTS && p.no_outputs) && !(bits & NO_IN_PLACE && p.no_in_place) &&
                       !(bits & NO_RING && p.no_ring) && !(bits & NO_DUMP && (p.no_dump || !wipes));
        if (!changes || (!s->small && bits & (bits - 1))) continue;
        if (search_is_over(s->search)) s->left = 0;
        if (bits & NO_CLONES) p.clone = LX_CLONE_NONE;
        p.no_outputs |= (bits & NO_OUTPUTS) != 0;
        p.no_in_place |= (bits & NO_IN_PLACE) != 0;
        p.no_ring |= (bits & NO_RING) != 0;
        p.no_dump |= (bits & NO_DUMP) != 0;
        how.passes = p;
        ok = try_one(s, &how);
    }
    if (!ok || passes->stage != LX_STAGE_ALL || s->left <= 0 || way->least_us >= useful_us(s->search))
        return ok;
    struct lx_passes early = *passes;
    early.stage = LX_STAGE_REDUCTIONS;
    how.passes = passes_of_stage(&early);
    return try_one(s, &how);
}

/* Adds a way. Ops with hints keep their divisions. */
static void least_time_add_way(struct least_time *s, const struct lx_divisions *d,
                               const struct lx_division *const *other)
{
    const struct lx_graph *g = s->search->divided->layouts->graph;
    struct lx_divisions as = *s->search->divided;
    const struct lx_division **divided = arena_array(s->search->memory, (size_t)g->op_count, sizeof *divided);
    struct way way = {.divided = divided, .number = s->ways.count};
    as.at = mem_alloc(((size_t)g->op_count + 1) * sizeof *as.at);
    for (int32_t o = 0; o < g->op_count; o++) {
        if (g->ops[o].hint_count == 0) divided[o] = other && other[o] ? other[o] : &d->at[o];
        as.at[o] = divided[o] ? *divided[o] : s->search->divided->at[o];
    }
    way.least_us = time_bound_divided(&s->search->best.draft, &as);
    VEC_PUSH(&s->ways, way);
    mem_free(as.at);
}

/* Adds divisions of the joint search, with the passes of the request and with fewer. */
static bool add_joints(struct least_time *s, const struct lx_divisions *d)
{
    const struct lx_passes *passes = s->passes;
    struct search *search = s->search;
    for (int k = 0; k < (s->small ? 4 : 1); k++) {
        bool clones = passes->clone != LX_CLONE_NONE, outputs = !passes->no_outputs;
        if ((k & 1 && !clones) || (k & 2 && !outputs)) continue; /* equal to an earlier round */
        struct lx_cooptimise_options how = {.mode = s->level == LX_COOPTIMISE_FLIP ? LX_JOINT_FLIP
                                                                                   : LX_JOINT_FULL,
                                            .without_flip = true,
                                            .goal = LX_GOAL_TIME,
                                            .solver = search->effort.solver,
                                            .run = search->effort.run,
                                            .clone_inputs = clones && !(k & 1),
                                            .outputs_on_chip = outputs && !(k & 2)};
        struct lx_cooptimised found;
        how.run.work_limit = 0; /* the limit counts the solver's steps */
        if (!lx_cooptimise(d, &how, &found, search->st)) return false;
        if (found.changed > 0) least_time_add_way(s, d, found.divided);
        arena_adopt(search->memory, found.memory); /* decisions point to the divisions */
        lx_cooptimised_free(&found);
    }
    return true;
}

static int64_t fewer(int64_t cores)
{
    for (int64_t k = 2; k <= cores; k++)
        if (cores % k == 0) return cores / k;
    return 0;
}

/* Lists the ways of this level. Without co-optimisation: the divisions, those for fewer cores, and those by
 * the other rule; else the results of co-optimisation. */
static bool least_time_list_ways(struct least_time *s)
{
    struct search *search = s->search;
    bool joint = s->level != LX_COOPTIMISE_NONE, by_rule = s->passes->matmul == LX_MATMUL_RULE, ok = true;
    if (joint)
        ok = add_joints(s, search->divided);
    else
        least_time_add_way(s, search->divided, NULL);
    for (int64_t cores = search->divided->cores; ok && cores > 0; cores = joint ? 0 : fewer(cores))
        for (int rule = by_rule; ok && rule < 2; rule++) {
            struct lx_divide_options how = {.cores = cores, .no_cost = rule == 1};
            lx_status why = {0};
            if (cores == search->divided->cores && rule == by_rule) continue;
            struct lx_divisions *d = lx_divide(search->divided->layouts, &how, &why);
            if (!d) continue; /* skip divisions that are impossible */
            if (joint)
                ok = add_joints(s, d);
            else
                least_time_add_way(s, d, NULL);
            arena_adopt(search->memory, d->memory);
            lx_divisions_free(d);
        }
    return ok;
}

ORDER(by_least, struct way, ORDER_UP(least_us) ORDER_UP(number));

/* Each level has its own tries, so a higher level includes the plans of the lower ones. */
static bool least_time_levels(struct search *search)
{
    enum { SMALL = 120 };
    struct lx_passes passes = passes_of_stage(&search->request->passes);
    /* A search that starts from a plan need not find its divisions again. */
    const int last = search->given ? LX_COOPTIMISE_NONE : passes.cooptimise;
    struct least_time s = {.search = search, .passes = &passes, .small = search->divided->count <= SMALL};
    bool ok = true;
    for (; ok && s.level <= last; s.level++) {
        s.left = s.small ? 2000 : max_i64(12, 40000 / search->divided->count);
        s.ways.count = 0;
        if (search->runners) search->runners->level = s.level;
        ok = least_time_list_ways(&s);
        if (s.ways.count) qsort(s.ways.at, s.ways.count, sizeof *s.ways.at, by_least);
        for (size_t i = 0; ok && i < s.ways.count; i++) ok = try_passes(&s, &s.ways.at[i], &passes);
        LOG(attempt, "%d ways to divide, %.2f us", (int)s.ways.count, search->best.us);
    }
    if (search->runners) search->runners->level = RUNNER_LEVELS - 1;
    VEC_FREE(&s.ways);
    return ok;
}

/* Tries by a solver that searches would take long: the quick solver makes them, and the request's solver
 * places the best once more. */
bool least_time_search(struct search *search)
{
    const struct effort asked = search->effort;
    const struct lx_passes *passes = &search->request->passes;
    bool quickly = asked.solver->option_count > 0 && search->request->quick_solver;
    struct attempt next;
    if (quickly) search->effort = effort_quick_solver(search);
    bool ok = least_time_levels(search) && (passes->cooptimise == LX_COOPTIMISE_NONE || agree_search(search));
    search->effort = asked;
    if (!ok || !quickly) return ok;
    if (!try_with(search, DRAFTS_MANY, &search->best.draft.how, &next)) return false;
    offer_attempt(search, &next);
    return true;
}
