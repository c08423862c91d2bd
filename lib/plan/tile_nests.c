/* Where runs of ops become nests.
 *
 * Candidates are guessed by load (scratchpad/nests) and the best of them planned in full, each beside the nests that there
 * are; the best becomes part of the plan, and so on until none helps. Then single things are changed: counts of tiles, ends
 * of runs, levels with which tensors are held, where whole tensors go on across the ends of nests. What is tried is solved, and
 * kept if the whole plan then moves less. */
#include "base/checked.h"
#include "base/fail.h"
#include "plan/planner.h"
#include "plan/nest_pool.h"
#include "scratchpad/nests/nest_candidates.h"

#include <stdlib.h>
#include <string.h>

/* How much is tried, by the number of ops. */
static struct nest_asks asks_of(const struct planner *p)
{
    int32_t ops = p->best.draft.graph->op_count;
    bool tiny = ops <= 12, small = ops <= 60;
    return (struct nest_asks){.room = lx_device_usable(&p->best.draft.graph->device) * p->divided->cores,
                              .longest = tiny    ? 12
                                         : small ? 40
                                                 : 24,
                              .levels = ops <= 100 ? 3 : 2,
                              .counts = tiny    ? 64
                                        : small ? 8
                                                : 5,
                              .most = tiny    ? 200
                                      : small ? 24
                                              : 12,
                              .least_gain = tiny ? -LX_INT_MAX : 1};
}

static int64_t tries_of(const struct planner *p)
{
    int32_t ops = p->best.draft.graph->op_count;
    return max_i64(40, min_i64(4000, 20000 / (ops * ops / 8 + 1)));
}

/* What each op moves in an attempt. */
static int64_t *op_bytes(const struct planner *p, const struct attempt *a, struct arena *memory)
{
    size_t n = (size_t)a->draft.graph->op_count;
    struct lx_op_traffic *ops = arena_array(memory, n, sizeof *ops);
    int64_t *bytes = arena_array(memory, n, sizeof *bytes);
    struct traffic t;
    if (!ops || !bytes || !traffic_list(&a->draft, a->answer.address, memory, &t, ops, p->st)) return NULL;
    for (size_t o = 0; o < n; o++) bytes[o] = ops[o].hbm_read + ops[o].hbm_written;
    return bytes;
}

/* One nest more than `from` has. */
static bool add_nests(struct planner *p, const struct attempt *from, struct nest_menus *menus, int64_t *tries,
                      struct nest_pool *next)
{
    struct arena memory = {0};
    struct nest_asks asks = asks_of(p);
    struct nest_candidate *found = NULL;
    struct nest_set base, with;
    int32_t count = 0;
    asks.now = &from->draft;
    asks.op_bytes = op_bytes(p, from, &memory);
    bool ok = asks.op_bytes && nest_candidates(&asks, &memory, &found, &count, p->st) &&
              nest_set_of(&from->draft, menus, &memory, &base, p->st);
    for (int32_t i = 0; ok && i<count && * tries> 0; i++, --*tries) {
        struct attempt tried;
        ok = nest_set_add(&base, &found[i], &memory, &with) ? true : status_no_memory(p->st);
        ok = ok && nest_set_plan(p, &with, &tried);
        if (ok && tried.memory) nest_pool_add(next, &tried);
    }
    arena_free(&memory);
    return ok;
}

/* Rounds of one nest more each, from the best few on. */
static bool add_rounds(struct planner *p, struct nest_menus *menus, struct nest_pool *now)
{
    bool better = true, ok = true;
    struct nest_pool next = {.width = now->width};
    int64_t tries = tries_of(p);
    while (ok && better) {
        int64_t each = tries / max_i64(now->count, 1);
        for (int i = 0; ok && i < now->count; i++) {
            int64_t left = each;
            ok = add_nests(p, &now->at[i], menus, &left, &next);
        }
        ok = ok && nest_pool_take_best(p, &next, &better);
        if (!better && ok) break;
        nest_pool_free(now);
        *now = next;
        next = (struct nest_pool){.width = now->width};
    }
    nest_pool_free(&next);
    return ok;
}

/* All of the search, with the planner's solver. */
static bool search_nests(struct planner *p, struct nest_menus *menus)
{
    int64_t tries = tries_of(p);
    int width = p->best.draft.graph->op_count <= 12 ? WIDEST_POOL : 4;
    struct nest_pool pool = {.width = width, .count = 1};
    bool better, ok = attempt_copy(p, &p->best, &pool.at[0]);
    if (!ok) pool.count = 0;
    ok = ok && add_rounds(p, menus, &pool) && nest_pool_chase(p, menus, &pool, &tries) &&
         nest_pool_take_best(p, &pool, &better);
    nest_pool_free(&pool);
    tries = tries_of(p);
    return ok && nest_set_refine(p, menus, &tries);
}

/* With the solver that is asked for, but less of its effort for each of the many plans. */
static struct lx_plan_options brief_options(const struct planner *p)
{
    enum { STEPS = 3000 };
    struct lx_plan_options brief = *p->options;
    int64_t most = brief.run.work_limit;
    brief.run.work_limit = most > 0 ? min_i64(most, STEPS) : STEPS;
    return brief;
}

/* The best that was found, with all effort. */
static bool solve_in_full(struct planner *p, struct attempt *found)
{
    struct attempt full;
    if (!attempt_make(p, &found->draft.how, &full)) return false;
    full.perfect_bytes = p->best.perfect_bytes;
    if (nest_set_is_better(&full, &p->best)) {
        struct attempt old = p->best;
        p->best = full;
        full = old;
    }
    attempt_free(&full);
    return true;
}

bool tile_search(struct planner *p)
{
    struct nest_menus menus = {0};
    struct lx_plan_options brief = brief_options(p);
    struct planner tries = *p;
    tries.options = &brief;
    bool ok = attempt_copy(p, &p->best, &tries.best) && search_nests(&tries, &menus);
    if (ok && tries.best.draft.how.nest_count > 0) ok = solve_in_full(p, &tries.best);
    if (ok && nest_set_is_better(&tries.best, &p->best)) {
        struct attempt old = p->best;
        p->best = tries.best;
        tries.best = old;
    }
    attempt_free(&tries.best);
    arena_adopt(p->memory, &menus.memory); /* decisions point to the divisions */
    nest_menus_free(&menus);
    return ok;
}
