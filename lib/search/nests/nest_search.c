/* Nests of one graph or window, added one by one.
 *
 * Candidates are ranked by load (nests/); the best are planned in full together with the nests so far, until
 * none helps. Then tile counts, ends, levels, holds and cuts are changed one at a time. A change is kept if
 * the whole plan moves less. */
#include "search/nests/nest_search.h"
#include "cost/op.h"
#include "cost/rates.h"

static bool is_tiny(const struct search *search)
{
    return search->best.draft.graph->op_count <= FEW_OPS && !search->whole && !asks_time(search) &&
           !search->effort.quick;
}

/* Plans to try for some thirty ops; fewer for a window if all are alike, more in total if several windows
 * share the effort. */
enum { EFFORT = 900, EFFORT_ALIKE = 600, EFFORT_SHARED = 1200, EFFORT_TIME = 400 };

int64_t nest_search_tries(const struct search *search, int32_t windows)
{
    int64_t ops = search->best.draft.graph->op_count, effort = windows > 1     ? EFFORT_SHARED
                                                               : search->whole ? EFFORT_ALIKE
                                                               : search->request->objective == LX_ASK_TIME
                                                                   ? EFFORT_TIME
                                                                   : EFFORT;
    if (is_tiny(search)) return max_i64(200, min_i64(4000, 20000 / (ops * ops / 8 + 1)));
    return max_i64(windows > 20 ? 10 : 40, effort * 30 / (ops + 10) / windows);
}

int64_t *nest_op_bytes(const struct attempt *a, struct arena *memory)
{
    size_t n = (size_t)a->draft.graph->op_count;
    struct lx_op_traffic *ops = arena_array(memory, n, sizeof *ops);
    int64_t *bytes = arena_array(memory, n, sizeof *bytes);
    struct traffic t;
    traffic_list(&a->draft, a->answer.address, memory, &t, ops);
    for (size_t o = 0; o < n; o++) bytes[o] = ops[o].hbm_read + ops[o].hbm_written;
    return bytes;
}

/* Plans a set of nests and adds the plan to the pool. */
static void nest_search_enter(struct search *search, struct nest_set *s, int64_t *tries,
                              struct nest_pool *next)
{
    int64_t before = s->menus->spent;
    struct attempt tried;
    s->limit = nest_pool_limit(next, s);
    s->changed = EVERY_NEST;
    nest_set_plan(search, s, true, &tried);
    *tries -= s->menus->spent - before;
    if (tried.memory) nest_pool_add(next, &tried);
}

/* Adds the disjoint candidates with the largest sum of gains: the best path over the ops. */
static void add_path(struct search *search, const struct nest_set *base, const struct nest_list *runs,
                     struct arena *memory, int64_t *tries, struct nest_pool *next)
{
    const struct nest_candidate *found = runs->at;
    size_t n = (size_t)base->op_count + 1;
    int64_t *most = arena_array(memory, n, sizeof *most);
    int32_t *taken = arena_array(memory, n, sizeof *taken);
    struct nest_set s = *base, with;
    for (int32_t o = 0; o < base->op_count; o++) {
        most[o + 1] = most[o];
        taken[o + 1] = -1;
        for (int32_t i = 0; i < runs->count; i++) {
            const struct nest_candidate *c = &found[i];
            if (c->nest.last != o || most[c->nest.first] + c->gain <= most[o + 1]) continue;
            most[o + 1] = most[c->nest.first] + c->gain;
            taken[o + 1] = i;
        }
    }
    for (int32_t o = base->op_count; o > 0;) {
        int32_t i = taken[o];
        o = i < 0 ? o - 1 : found[i].nest.first;
        if (i < 0) continue;
        nest_set_add(&s, &found[i], memory, &with);
        s = with;
    }
    if (s.nest_count > base->nest_count + 1) nest_search_enter(search, &s, tries, next);
}

/* An iteration waits for all cores twice or so, and each op begins anew. */
static void nest_search_weigh(const struct lx_device *d, struct nest_asks *asks)
{
    const double rate = cost_hbm_rate(d);
    asks->loop_bytes = (int64_t)fmin(1e12, rate * (cost_rate(d, COST_LOOP) + 2 * cost_rate(d, COST_SYNC)));
    asks->tick_bytes = (int64_t)fmin(1e12, rate * (cost_rate(d, COST_TICK) + cost_rate(d, COST_LATENCY)));
}

/* Of a plan of few ops: also holds whole, in nest `at`, every tensor that is on chip across the nest without
 * it. */
static void nest_search_hold_across(struct search *search, const struct attempt *from,
                                    const struct nest_set *with, int32_t at, struct arena *memory,
                                    int64_t *tries, struct nest_pool *next)
{
    const struct lx_nest *n = &with->nests[at];
    struct nest_set s = *with;
    int32_t whole = 0;
    for (int32_t t = 0; t < from->draft.graph->tensor_count; t++) {
        bool across = false; /* a stay of the tensor spans an end of the nest */
        for (int32_t k = 0; k < from->draft.problem.count && !across; k++) {
            const struct lx_stay *stay = &from->draft.stays[k];
            across = stay->tensor == t && from->answer.address[k] >= 0 && stay->first <= n->last &&
                     stay->last >= n->first && (stay->first < n->first || stay->last > n->last);
        }
        if (!across || !nest_tensor_of(from->draft.layouts, n, t).accessed) continue;
        nest_set_hold(&s, (struct hold){t, at, 0}, memory, &s);
        whole++;
    }
    if (whole > 0 && *tries > 0) nest_search_enter(search, &s, tries, next);
}

/* Plans `from` with one more nest, for at most `most` candidates of largest gain; or with a path of nests. */
static void nest_search_add_nests(struct search *search, const struct attempt *from, struct nest_menus *menus,
                                  int quarters, int32_t most, int64_t *tries, struct nest_pool *next)
{
    SCOPED(arena_free) struct arena memory = {0};
    /* The effort depends on the number of ops. */
    bool tiny = next->width == WIDEST_POOL;
    int32_t ops = search->best.draft.graph->op_count;
    struct nest_asks asks = (struct nest_asks){.room = lx_device_usable(&search->best.draft.graph->device) *
                                                       search->divided->cores,
                                               .longest = tiny ? 12 : 40,
                                               .levels = ops <= 100 ? 3 : 2,
                                               .counts = tiny ? 64 : 8,
                                               .most = tiny ? 200 : 24,
                                               .most_runs = tiny ? 0 : 400,
                                               .least_gain = tiny || asks_time(search) ? -LX_INT_MAX : 1};
    struct nest_list all, runs;
    struct nest_set base, with;
    asks.now = &from->draft;
    asks.room = asks.room / 4 * quarters;
    asks.op_bytes = nest_op_bytes(from, &memory);
    nest_set_of(&from->draft, menus, &memory, &base);
    if (menus->pays) nest_search_weigh(&search->best.draft.graph->device, &asks);
    nest_candidates(&asks, &memory, &all, &runs);
    if (asks.most_runs > 0) add_path(search, &base, &runs, &memory, tries, next);
    for (int32_t i = 0; *tries > 0 && i < all.count && i < most && !search_is_over(search); i++) {
        nest_set_add(&base, &all.at[i], &memory, &with);
        int32_t at = with.changed;
        nest_search_enter(search, &with, tries, next);
        if (ops <= FEW_OPS) nest_search_hold_across(search, from, &with, at, &memory, tries, next);
    }
}

/* Adds one nest to each plan of the pool. */
static bool add_round(struct nest_search *s)
{
    enum { FIRST = 24, OTHERS = 6 };
    struct nest_pool *now = &s->pool, next = {.width = now->width};
    bool wide = now->width == WIDEST_POOL;
    int64_t each = wide ? s->left / max_i64(now->count, 1) : 0;
    for (int i = 0; i < now->count; i++) {
        int64_t left = wide ? each : s->left, had = left;
        nest_search_add_nests(s->search, &now->at[i], s->menus, s->quarters,
                              wide     ? INT32_MAX
                              : i == 0 ? FIRST
                                       : OTHERS,
                              &left, &next);
        if (!wide) s->left -= had - left;
    }
    bool ok = nest_pool_take_best(s->search, &next, &s->better);
    if (!ok || !s->better) {
        nest_pool_free(&next);
        return ok;
    }
    nest_pool_free(now);
    *now = next;
    return true;
}

/* At most `most` rounds, while they help. If no nest helps, the next round guesses with less room: such a
 * nest is easier to pack. */
static bool add_rounds(struct nest_search *s, int most)
{
    bool ok = true;
    for (int i = 0; ok && i < most; i++) {
        bool less = !s->better && s->search->best.draft.how.nest_count == 0 && s->quarters > LEAST_ROOM;
        s->quarters -= less;
        if ((!s->better && !less) || s->left <= 0 || nests_suffice(s->search)) break;
        ok = add_round(s);
    }
    return ok;
}

/* Adds the best plan's decisions without nests: the search goes on from there as well. */
static bool nest_search_add_plain(struct nest_search *s)
{
    struct decisions plain = {.passes = passes_of_stage(&s->search->request->passes)};
    struct attempt a;
    if (!try_with(s->search, DRAFTS_FEW, &plain, &a)) return false;
    a.perfect_bytes = s->search->best.perfect_bytes;
    nest_pool_add(&s->pool, &a);
    return true;
}

/* Starts the pool. Each later part may use the tries that earlier parts left, plus a reserved share. */
static bool begin_divided(struct nest_search *s, struct search *search, struct nest_menus *menus,
                          int64_t tries, int quarters)
{
    bool few = is_tiny(search);
    *s = (struct nest_search){
        .search = search, .menus = menus, .tries = tries, .quarters = quarters, .better = true};
    s->pool.width = few ? WIDEST_POOL : 4;
    s->kept = few ? 0 : tries / 5;
    s->left = tries - 2 * s->kept;
    if (!attempt_copy(search, &search->best, &s->pool.at[0])) return false;
    s->pool.count = 1;
    if (search->given && search->best.draft.how.nest_count > 0 && !nest_search_add_plain(s)) return false;
    /* Divides the ops together, as for nests, with the present nests: often none. */
    SCOPED(arena_free) struct arena memory = {0};
    struct nest_set as_it_is;
    bool better;
    nest_set_of(&search->best.draft, menus, &memory, &as_it_is);
    nest_search_enter(search, &as_it_is, &s->left, &s->pool);
    return nest_pool_take_best(search, &s->pool, &better);
}

bool nest_search_begin(struct nest_search *s, struct search *search, struct nest_menus *menus, int64_t tries,
                       int quarters)
{
    return begin_divided(s, search, menus, tries, quarters) && add_rounds(s, 1);
}

void nest_search_free(struct nest_search *s)
{
    nest_pool_free(&s->pool);
}

bool nest_search_end(struct nest_search *s)
{
    bool better, few = is_tiny(s->search), ok = add_rounds(s, INT_MAX);
    s->left = few ? s->tries : s->left + s->kept;
    if (ok) nest_pool_chase(s->search, s->menus, &s->pool, &s->left);
    ok = ok && nest_pool_take_best(s->search, &s->pool, &better);
    nest_search_free(s);
    s->left = few ? s->tries : s->left + s->kept;
    if (ok) nest_set_refine(s->search, s->menus, &s->left);
    return ok;
}

bool nest_search_last(struct search *search, struct nest_menus *menus)
{
    enum { PLANS = 3 }; /* plans with nests */
    struct search by = *search;
    struct nest_search s;
    if (search->best.draft.how.nest_count > 0 || !search_is_over(search)) return true;
    by.effort = effort_last(search);
    VEC_FREE(&menus->tried); /* a cancelled solver tried them */
    bool ok = begin_divided(&s, &by, menus, PLANS, ALL_ROOM);
    s.left = PLANS;
    ok = ok && add_rounds(&s, 1);
    nest_search_free(&s);
    search->best = by.best;
    return ok;
}
