/* Single changes to the nests of the best plan. */
#include "plan/nest_edits.h"
#include "base/fail.h"

#include <stdlib.h>

struct refining {
    struct planner *p;
    struct arena *memory;
    struct nest_set base;
    int64_t *tries;
    bool better, ok;
};

static void attempt_set(struct refining *r, const struct nest_set *s)
{
    bool now = false;
    if (!r->ok || *r->tries <= 0) return;
    --*r->tries;
    r->ok = nest_set_try(r->p, s, &now);
    r->better |= now;
}

/* Another count of tiles for a level: any that the extents allow is legal or is refused. */
static void change_counts(struct refining *r)
{
    for (int32_t n = 0; n < r->base.nest_count; n++)
        for (int l = 0; l < r->base.nests[n].level_count; l++) {
            int64_t old = r->base.nests[n].tiles[l];
            for (int64_t t = 2; r->ok && t <= 4 * old && *r->tries > 0; t = t < 8 ? t + 1 : t * 2) {
                r->base.nests[n].tiles[l] = t;
                if (t != old) attempt_set(r, &r->base);
            }
            r->base.nests[n].tiles[l] = old;
        }
}

/* One op less at either end. */
static void shorten_runs(struct refining *r)
{
    for (int32_t n = 0; n < r->base.nest_count; n++) {
        struct lx_nest *nest = &r->base.nests[n], old = *nest;
        if (old.first == old.last) continue;
        nest->last--;
        attempt_set(r, &r->base);
        *nest = old;
        nest->first++;
        nest->var++;
        attempt_set(r, &r->base);
        *nest = old;
    }
}

/* Without one of the levels. */
static void drop_levels(struct refining *r)
{
    for (int32_t n = 0; n < r->base.nest_count; n++) {
        struct lx_nest *nest = &r->base.nests[n], old = *nest;
        int32_t ops = old.last - old.first + 1;
        for (int l = 0; l < old.level_count && old.level_count > 1; l++) {
            signed char(*var)[LX_MAX_LEVELS] = arena_array(r->memory, (size_t)ops, sizeof *var);
            if (!var) {
                r->ok = status_no_memory(r->p->st);
                return;
            }
            nest->level_count = 0;
            for (int k = 0; k < old.level_count; k++) {
                if (k == l) continue;
                nest->tiles[nest->level_count] = old.tiles[k];
                for (int32_t o = 0; o < ops; o++) var[o][nest->level_count] = old.var[o][k];
                nest->level_count++;
            }
            nest->var = (const signed char(*)[LX_MAX_LEVELS])var;
            struct nest_set s = r->base;
            s.hold_count = 0; /* levels have other numbers now */
            attempt_set(r, &s);
            *nest = old;
        }
    }
}

static struct nest_set with_hold(struct refining *r, struct hold h)
{
    struct nest_set s = r->base;
    s.holds = arena_array(r->memory, (size_t)s.hold_count + 1, sizeof *s.holds);
    s.hold_count = 0;
    for (int32_t i = 0; s.holds && i < r->base.hold_count; i++)
        if (r->base.holds[i].tensor != h.tensor || r->base.holds[i].nest != h.nest)
            s.holds[s.hold_count++] = r->base.holds[i];
    if (s.holds) s.holds[s.hold_count++] = h;
    if (!s.holds) r->ok = status_no_memory(r->p->st);
    return s;
}

static struct nest_set with_cuts(struct refining *r, const struct nest_set *from, int32_t tensor,
                                 const int32_t *before, int count)
{
    struct nest_set s = *from;
    s.cuts = arena_array(r->memory, (size_t)(s.cut_count + count), sizeof *s.cuts);
    if (!s.cuts) {
        r->ok = status_no_memory(r->p->st);
        return s;
    }
    for (int32_t i = 0; i < s.cut_count; i++) s.cuts[i] = from->cuts[i];
    for (int k = 0; k < count; k++) s.cuts[s.cut_count++] = (struct cut){tensor, before[k]};
    qsort(s.cuts, (size_t)s.cut_count, sizeof *s.cuts, cut_compare);
    return s;
}

/* The first access of a tensor behind op `after`; -1: none. */
static int32_t next_access(const struct draft *x, int32_t tensor, int32_t after)
{
    for (int32_t k = x->tensor_at[tensor]; k < x->tensor_at[tensor + 1]; k++)
        if (x->access_op[x->tensor_access[k]] > after) return x->access_op[x->tensor_access[k]];
    return -1;
}

/* Held whole: as one stay with what is before and behind, or apart from either. */
static void hold_whole(struct refining *r, int32_t tensor, int32_t nest)
{
    const struct draft *x = &r->p->best.draft;
    struct nest_set s = with_hold(r, (struct hold){tensor, nest, 0});
    int32_t before[2], first = x->access_op[x->tensor_access[x->tensor_at[tensor]]];
    int32_t in = next_access(x, tensor, r->base.nests[nest].first - 1);
    int32_t behind = next_access(x, tensor, r->base.nests[nest].last);
    for (int sides = 0; r->ok && sides < 4; sides++) {
        int count = 0;
        if (((sides & 1) && first >= r->base.nests[nest].first) || ((sides & 2) && behind < 0)) continue;
        if (sides & 1) before[count++] = in;
        if (sides & 2) before[count++] = behind;
        struct nest_set t = with_cuts(r, &s, tensor, before, count);
        if (r->ok) attempt_set(r, &t);
    }
}

static void change_holds(struct refining *r)
{
    struct draft *x = &r->p->best.draft;
    int32_t tensors = x->graph->tensor_count;
    for (int32_t n = 0; r->ok && n < r->base.nest_count; n++)
        for (int32_t t = 0; r->ok && t<tensors && * r->tries> 0; t++) {
            struct nest_tensor in = nest_tensor_of(x->layouts, &r->base.nests[n], t);
            if (!in.accessed) continue;
            hold_whole(r, t, n);
            for (int l = 1; r->ok && l <= r->base.nests[n].level_count; l++) {
                if (!(in.indexed & level_bit(l - 1))) continue;
                struct nest_set s = with_hold(r, (struct hold){t, n, l});
                if (r->ok) attempt_set(r, &s);
            }
        }
}

bool nest_set_refine(struct planner *p, int64_t *tries)
{
    bool again = true, ok = true;
    while (ok && again && *tries > 0 && p->best.draft.how.nest_count > 0) {
        struct arena memory = {0};
        struct refining r = {.p = p, .memory = &memory, .tries = tries, .ok = true};
        ok = nest_set_of(&p->best.draft.how, &memory, &r.base, p->st);
        if (ok) {
            change_holds(&r);
            change_counts(&r);
            shorten_runs(&r);
            drop_levels(&r);
        }
        again = r.better;
        ok = ok && r.ok;
        arena_free(&memory);
    }
    return ok;
}
