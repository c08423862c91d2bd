/* Of plans that move the same the quicker. While nests are looked for, ops are divided as if all that they use were on chip, so
 * that those agree which share something; in the end they are divided once more with what their other operands take in HBM. */
#include "search/nests/nest_edits.h"
#include "search/time.h"

static bool is_quicker(const struct attempt *a, const struct attempt *than, bool *quicker, lx_status *st)
{
    struct clocks one, two;
    if (!draft_clocks(&a->draft, a->answer.address, &one, st) ||
        !draft_clocks(&than->draft, than->answer.address, &two, st))
        return false;
    *quicker = one.end_to_end_us < two.end_to_end_us;
    return true;
}

static bool keep_quicker(struct search *p, struct attempt *next)
{
    bool better = next->hbm_bytes < p->best.hbm_bytes, ok = true;
    if (next->hbm_bytes == p->best.hbm_bytes) ok = is_quicker(next, &p->best, &better, p->st);
    if (ok && better) {
        struct attempt old = p->best;
        p->best = *next;
        *next = old;
    }
    attempt_free(next);
    return ok;
}

bool nest_set_quicken(struct search *p, struct nest_menus *menus)
{
    struct arena memory = {0};
    struct nest_set s;
    struct attempt next = {0};
    bool by_memory = menus->by_memory;
    if (by_memory || asks_time(p) || search_is_over(p)) return true;
    bool ok = nest_set_of(&p->best.draft, menus, &memory, &s, p->st);
    if (ok) {
        menus->by_memory = true;
        s.changed = EVERY_NEST;
        s.below = p->best.hbm_bytes;
        ok = nest_set_plan(p, &s, &next);
        menus->by_memory = false;
    }
    if (ok && next.memory) ok = keep_quicker(p, &next);
    arena_free(&memory);
    return ok;
}
