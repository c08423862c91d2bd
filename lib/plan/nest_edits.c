/* Editing sets of nests: they stand in order of time, and holds name them by their place. */
#include "plan/nest_edits.h"
#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

bool nest_set_of(const struct decisions *how, struct arena *memory, struct nest_set *out, lx_status *st)
{
    *out = (struct nest_set){.how = *how,
                             .nest_count = how->nest_count,
                             .hold_count = how->hold_count,
                             .cut_count = how->cut_count};
    out->nests = arena_copy_array(memory, how->nests, (size_t)how->nest_count, sizeof *out->nests);
    out->holds = arena_copy_array(memory, how->holds, (size_t)how->hold_count, sizeof *out->holds);
    out->cuts = arena_copy_array(memory, how->cuts, (size_t)how->cut_count, sizeof *out->cuts);
    if (!out->nests || !out->holds || !out->cuts) return status_no_memory(st);
    for (int32_t i = 0; i < out->nest_count; i++) {
        size_t ops = (size_t)(out->nests[i].last - out->nests[i].first + 1);
        out->nests[i].var = arena_copy_array(memory, out->nests[i].var, ops, sizeof *out->nests[i].var);
        if (!out->nests[i].var) return status_no_memory(st);
    }
    return true;
}

bool nest_set_add(const struct nest_set *s, const struct nest_candidate *c, struct arena *memory,
                  struct nest_set *out)
{
    int32_t at = 0, holds = s->hold_count + c->hold_count;
    *out = *s;
    out->nests = arena_array(memory, (size_t)s->nest_count + 1, sizeof *out->nests);
    out->holds = arena_array(memory, (size_t)holds, sizeof *out->holds);
    if (!out->nests || !out->holds) return false;
    while (at < s->nest_count && s->nests[at].first < c->nest.first) at++;
    for (int32_t i = 0; i < s->nest_count; i++) out->nests[i + (i >= at)] = s->nests[i];
    out->nests[at] = c->nest;
    for (int32_t i = 0; i < s->hold_count; i++) {
        out->holds[i] = s->holds[i];
        out->holds[i].nest += out->holds[i].nest >= at;
    }
    for (int32_t i = 0; i < c->hold_count; i++)
        out->holds[s->hold_count + i] = (struct hold){c->holds[i].tensor, at, c->holds[i].level};
    out->nest_count++;
    out->hold_count = holds;
    return true;
}

static struct decisions decisions_of(const struct nest_set *s)
{
    struct decisions how = s->how;
    how.nests = s->nests;
    how.nest_count = s->nest_count;
    how.holds = s->holds;
    how.hold_count = s->hold_count;
    how.cuts = s->cuts;
    how.cut_count = s->cut_count;
    return how;
}

bool nest_set_plan(struct planner *p, const struct nest_set *s, struct attempt *out)
{
    struct decisions how = decisions_of(s);
    lx_status st = {0}, *own = p->st;
    *out = (struct attempt){0};
    for (int32_t i = 0; i < s->nest_count; i++)
        if (!nest_valid(p->best.draft.layouts, &s->nests[i], &st)) return true;
    p->st = &st;
    bool ok = attempt_make(p, &how, out);
    p->st = own;
    if (ok) out->perfect_bytes = p->best.perfect_bytes;
    /* That a tile cannot be divided is no reason to stop. */
    return ok || st.code != LX_E_MEMORY ? true : status_no_memory(own);
}

bool nest_set_try(struct planner *p, const struct nest_set *s, bool *better)
{
    struct attempt next;
    *better = false;
    if (!nest_set_plan(p, s, &next)) return false;
    if (next.memory) *better = attempt_keep_better(&p->best, &next);
    return true;
}
