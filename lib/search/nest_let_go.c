/* Relayouts of plans made in haste, of which nothing was decided: the source of a copy waits for it on chip. Where it found no
 * room, the copies are loaded instead, so that it may be there for its own uses only, and the plan is solved once more. */
#include "search/nest_edits.h"
#include "base/fail.h"

#include <stdlib.h>

/* Would a source that is off chip save something, and were copies made from it? */
static bool waits_in_vain(const struct attempt *a, int32_t stay)
{
    const struct draft *x = &a->draft;
    int32_t source = x->stays[stay].ring_source;
    return source >= 0 && a->answer.address[source] < 0 && x->stays[source].bar == LX_BAR_NONE &&
           x->buffers[source].spill_cost > 0 && x->buffers[source].end > x->stays[stay].first;
}

/* Those copies, in order; and what their sources would save. */
static int32_t find_copies(const struct attempt *a, struct cut *out, int64_t *saved)
{
    int32_t count = 0;
    *saved = 0;
    for (int32_t i = 0; i < a->draft.problem.count; i++) {
        if (!waits_in_vain(a, i)) continue;
        *saved += a->draft.buffers[a->draft.stays[i].ring_source].spill_cost;
        out[count++] = (struct cut){a->draft.stays[i].tensor, a->draft.stays[i].first};
    }
    if (count > 1) qsort(out, (size_t)count, sizeof *out, cut_compare);
    return count;
}

bool nest_let_go(const struct planner *p, int64_t below, struct attempt *a)
{
    struct arena memory = {0};
    struct decisions how = a->draft.how;
    struct attempt next;
    int64_t saved;
    struct cut *copies = arena_array(&memory, (size_t)a->draft.problem.count, sizeof *copies);
    bool ok = copies ? true : status_no_memory(p->st);
    how.loaded_count = ok ? find_copies(a, copies, &saved) : 0;
    how.loaded = copies;
    bool worth = how.loaded_count > 0 && (below <= 0 || a->hbm_bytes - saved <= below);
    ok = ok && (!worth || attempt_below(p, &how, a->hbm_bytes - 1, &next));
    if (ok && worth && next.memory) attempt_keep_better(a, &next);
    arena_free(&memory);
    return ok;
}
