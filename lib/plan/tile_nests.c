/* Where runs of ops become nests.
 *
 * Candidates are guessed by load (scratchpad/nests) and the best of them planned in full, each beside the nests that there
 * are; the best becomes part of the plan, and so on until none helps. Then single things are changed: counts of tiles, ends
 * of runs, levels with which tensors are held, where whole tensors go on across the ends of nests. What is tried is solved, and
 * kept if the whole plan then moves less. */
#include "base/checked.h"
#include "base/fail.h"
#include "plan/planner.h"
#include "plan/nest_edits.h"
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

enum { WIDEST = 12 };

/* The attempts that are gone on from: the best few of a round, least bytes first. */
struct beam {
    struct attempt at[WIDEST];
    int count, width;
};

static void beam_free(struct beam *b)
{
    for (int i = 0; i < b->count; i++) attempt_free(&b->at[i]);
    b->count = 0;
}

/* Less time where that is asked for (else it is 0), less bytes. */
static bool moves_less(const struct attempt *a, const struct attempt *b)
{
    return a->us < b->us || (a->us == b->us && a->hbm_bytes < b->hbm_bytes);
}

/* Takes the attempt over. */
static void beam_add(struct beam *b, struct attempt *a)
{
    int at = b->count;
    if (at == b->width && !moves_less(a, &b->at[at - 1])) {
        attempt_free(a);
        return;
    }
    if (at == b->width)
        attempt_free(&b->at[--at]);
    else
        b->count++;
    for (; at > 0 && moves_less(a, &b->at[at - 1]); at--) b->at[at] = b->at[at - 1];
    b->at[at] = *a;
}

/* One nest more than `from` has. */
static bool add_nests(struct planner *p, const struct attempt *from, struct nest_menus *menus, int64_t *tries,
                      struct beam *next)
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
        if (ok && tried.memory) beam_add(next, &tried);
    }
    arena_free(&memory);
    return ok;
}

/* The best of a round becomes the best of all. */
static bool take_best(struct planner *p, const struct beam *b, bool *better)
{
    struct attempt copy;
    *better = b->count > 0 && moves_less(&b->at[0], &p->best);
    if (!*better) return true;
    if (!attempt_copy(p, &b->at[0], &copy)) return false;
    attempt_keep_better(&p->best, &copy);
    return true;
}

bool tile_search(struct planner *p)
{
    int64_t tries = tries_of(p);
    struct nest_menus menus = {0};
    int width = p->best.draft.graph->op_count <= 12 ? WIDEST : 1;
    struct beam now = {.width = width, .count = 1}, next = {.width = width};
    bool better = true, ok = attempt_copy(p, &p->best, &now.at[0]);
    if (!ok) now.count = 0;
    while (ok && better) {
        int64_t each = tries / max_i64(now.count, 1);
        for (int i = 0; ok && i < now.count; i++) {
            int64_t left = each;
            ok = add_nests(p, &now.at[i], &menus, &left, &next);
        }
        ok = ok && take_best(p, &next, &better);
        beam_free(&now);
        now = next;
        next = (struct beam){.width = width};
    }
    beam_free(&now);
    tries = tries_of(p);
    ok = ok && nest_set_refine(p, &menus, &tries);
    arena_adopt(p->memory, &menus.memory); /* decisions point to the divisions */
    nest_menus_free(&menus);
    return ok;
}
