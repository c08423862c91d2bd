/* Editing sets of nests: they stand in order of time, and holds name them by their place. */
#include "plan/nest_edits.h"
#include "base/fail.h"
#include "scratchpad/nests/nest_grow.h"

#include <stdlib.h>
#include <string.h>

static bool copy_rest(struct nest_set *s, struct arena *memory)
{
    size_t ops = (size_t)s->op_count;
    struct decisions *how = &s->how;
    if (how->order) how->order = arena_copy_array(memory, how->order, ops, sizeof *how->order);
    if (how->divided) how->divided = arena_copy_array(memory, how->divided, ops, sizeof *how->divided);
    if (how->borders)
        how->borders =
            arena_copy_array(memory, how->borders, (size_t)how->border_count, sizeof *how->borders);
    how->apart = arena_copy_array(memory, how->apart, (size_t)how->apart_count, sizeof *how->apart);
    how->move_count = how->loaded_count = how->kept_count = 0; /* decided anew */
    return how->apart;
}

bool nest_set_of(const struct draft *x, struct nest_menus *menus, struct arena *memory, struct nest_set *out,
                 lx_status *st)
{
    const struct decisions *how = &x->how;
    *out = (struct nest_set){.how = *how,
                             .menus = menus,
                             .op_count = x->graph->op_count,
                             .changed = -1,
                             .nest_count = how->nest_count,
                             .hold_count = how->hold_count,
                             .cut_count = how->cut_count};
    out->nests = arena_copy_array(memory, how->nests, (size_t)how->nest_count, sizeof *out->nests);
    out->holds = arena_copy_array(memory, how->holds, (size_t)how->hold_count, sizeof *out->holds);
    out->cuts = arena_copy_array(memory, how->cuts, (size_t)how->cut_count, sizeof *out->cuts);
    if (!out->nests || !out->holds || !out->cuts || !copy_rest(out, memory)) return status_no_memory(st);
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
    out->changed = at;
    return true;
}

bool nest_set_drop(const struct nest_set *s, int32_t nest, struct arena *memory, struct nest_set *out)
{
    *out = *s;
    out->nests = arena_array(memory, (size_t)s->nest_count, sizeof *out->nests);
    out->holds = arena_array(memory, (size_t)s->hold_count, sizeof *out->holds);
    if (!out->nests || !out->holds) return false;
    out->nest_count = out->hold_count = 0;
    out->changed = s->changed == nest ? -1 : s->changed - (s->changed > nest);
    for (int32_t i = 0; i < s->nest_count; i++)
        if (i != nest) out->nests[out->nest_count++] = s->nests[i];
    for (int32_t i = 0; i < s->hold_count; i++) {
        struct hold h = s->holds[i];
        if (h.nest == nest) continue;
        h.nest -= h.nest > nest;
        out->holds[out->hold_count++] = h;
    }
    return true;
}

/* What a run leaves of another nest; false: nothing. */
static bool leave_rest(const struct lx_layouts *l, const struct lx_nest *run, struct lx_nest *other,
                       struct arena *memory)
{
    int32_t first = other->first, last = other->last;
    if (last < run->first || first > run->last) return true;
    if (first < run->first)
        last = run->first - 1;
    else
        first = run->last + 1;
    return last > first && nest_over(l, other, first, last, memory, other);
}

bool nest_set_replace(const struct lx_layouts *l, const struct nest_set *s, int32_t nest,
                      const struct lx_nest *by, struct arena *memory, struct nest_set *out)
{
    struct nest_set whole = *s;
    *out = *s;
    whole.nests = arena_copy_array(memory, s->nests, (size_t)s->nest_count, sizeof *s->nests);
    if (!whole.nests) return false;
    whole.nests[nest] = *by;
    whole.changed = nest;
    *out = whole;
    for (int32_t i = s->nest_count - 1; i >= 0; i--) {
        if (i == nest || leave_rest(l, by, &whole.nests[i], memory)) continue;
        if (!nest_set_drop(out, i, memory, out)) return false;
    }
    return true;
}

void nest_set_forget_holds(struct nest_set *s, int32_t nest)
{
    int32_t count = 0;
    for (int32_t i = 0; i < s->hold_count; i++)
        if (s->holds[i].nest != nest) s->holds[count++] = s->holds[i];
    s->hold_count = count;
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

/* Ops that are divided together; of more only those in nests are. */
enum { MOST_TOGETHER = 64 };

/* Divisions of the ops in nests, so that they agree. */
static bool divide_nests(struct planner *p, const struct nest_set *s, struct decisions *how,
                         struct arena *memory)
{
    size_t ops = (size_t)p->divided->count;
    const struct lx_division **divided = how->divided
                                             ? arena_copy_array(memory, how->divided, ops, sizeof *divided)
                                             : arena_array(memory, ops, sizeof *divided);
    struct draft x;
    if (!divided) return status_no_memory(p->st);
    if (!draft_make(p->divided, how, memory, &x, p->st)) return false;
    bool ok = true;
    if (s->op_count <= MOST_TOGETHER)
        ok = nest_divide(&x, 0, s->op_count - 1, s->menus, divided, p->st);
    else
        for (int32_t i = 0; ok && i < s->nest_count; i++)
            if (i == s->changed || s->changed == EVERY_NEST)
                ok = nest_divide(&x, s->nests[i].first, s->nests[i].last, s->menus, divided, p->st);
    how->divided = divided;
    draft_free(&x);
    return ok;
}

/* Steps of a solver that take as long as all the rest of a try. */
enum { STEPS_OF_A_TRY = 150 };

/* Would it move too much, even if it had all room? */
static bool is_hopeless(const struct planner *p, const struct nest_set *s, const struct decisions *how,
                        struct arena *memory, bool *hopeless)
{
    struct draft x;
    *hopeless = false;
    if (s->below <= 0 || asks_time(p)) return true;
    if (!draft_make(p->divided, how, memory, &x, p->st)) return false;
    *hopeless = x.least_bytes > s->below;
    draft_free(&x);
    return true;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t hash_nest(uint64_t hash, const struct lx_nest *n)
{
    hash = mix(mix(hash, (uint64_t)n->first), (uint64_t)n->last);
    for (int l = 0; l < n->level_count; l++)
        hash = mix(mix(hash, (uint64_t)n->tiles[l]), (uint64_t)n->var[0][l]);
    return hash;
}

/* Of nests, holds (in any order) and cuts. */
static uint64_t hash_of(const struct nest_set *s)
{
    uint64_t hash = 1, holds = 0;
    for (int32_t i = 0; i < s->nest_count; i++) hash = hash_nest(hash, &s->nests[i]);
    for (int32_t i = 0; i < s->hold_count; i++) {
        const struct hold *h = &s->holds[i];
        holds += mix(mix(mix(3, (uint64_t)h->tensor), (uint64_t)h->nest), (uint64_t)h->level);
    }
    for (int32_t i = 0; i < s->cut_count; i++)
        hash = mix(mix(hash, (uint64_t)s->cuts[i].tensor), (uint64_t)s->cuts[i].before);
    return mix(hash, holds);
}

/* What was planned once was kept then, or is of no use. */
static bool was_tried(const struct nest_set *s, bool *tried)
{
    uint64_t hash = hash_of(s);
    *tried = false;
    for (size_t i = 0; i < s->menus->tried.count && !*tried; i++) *tried = s->menus->tried.at[i] == hash;
    return *tried || VEC_PUSH(&s->menus->tried, hash);
}

static bool plan_set(struct planner *p, const struct nest_set *s, bool divide, struct attempt *out)
{
    struct decisions how = decisions_of(s);
    struct arena memory = {0};
    lx_status st = {0}, *own = p->st;
    bool tried, in_haste = p->options->run.hasty && !asks_time(p);
    *out = (struct attempt){0};
    if (!was_tried(s, &tried)) return status_no_memory(p->st);
    if (tried) return true;
    s->menus->spent++;
    for (int32_t i = 0; i < s->nest_count; i++)
        if (!nest_valid(p->best.draft.layouts, &s->nests[i], &st)) return true;
    p->st = &st;
    bool hopeless, ok = (!divide || divide_nests(p, s, &how, &memory)) &&
                        is_hopeless(p, s, &how, &memory, &hopeless) &&
                        (hopeless || attempt_make(p, &how, out)) &&
                        (!out->memory || !in_haste || nest_let_go(p, s->below, out));
    p->st = own;
    if (out->memory) {
        out->perfect_bytes = p->best.perfect_bytes;
        s->menus->spent += out->answer.steps / STEPS_OF_A_TRY;
    }
    arena_free(&memory);
    /* That a tile cannot be divided is no reason to stop. */
    return ok || st.code != LX_E_MEMORY ? true : status_no_memory(own);
}

bool nest_set_force(struct planner *p, const struct nest_set *s, struct attempt *out)
{
    struct decisions how = decisions_of(s);
    struct nest_set all = *s;
    struct arena memory = {0};
    *out = (struct attempt){0};
    all.changed = EVERY_NEST;
    bool ok = divide_nests(p, &all, &how, &memory) && attempt_make(p, &how, out);
    if (ok) out->perfect_bytes = p->best.perfect_bytes;
    arena_free(&memory);
    return ok;
}

bool nest_set_hold(const struct nest_set *s, struct hold h, struct arena *memory, struct nest_set *out)
{
    struct hold *holds = arena_array(memory, (size_t)s->hold_count + 1, sizeof *holds);
    int32_t count = 0;
    if (!holds) return false;
    for (int32_t i = 0; i < s->hold_count; i++)
        if (s->holds[i].tensor != h.tensor || s->holds[i].nest != h.nest) holds[count++] = s->holds[i];
    holds[count++] = h;
    *out = *s;
    out->holds = holds;
    out->hold_count = count;
    out->changed = h.nest;
    return true;
}

bool nest_set_plan(struct planner *p, const struct nest_set *s, struct attempt *out)
{
    return plan_set(p, s, true, out);
}

bool nest_set_plan_as_is(struct planner *p, const struct nest_set *s, struct attempt *out)
{
    return plan_set(p, s, false, out);
}

bool nests_suffice(const struct planner *p)
{
    return !asks_time(p) && p->nested && p->best.hbm_bytes <= p->bound;
}

/* Iterations, then levels of all nests. */
static int64_t walks(const struct draft *x, int64_t *levels)
{
    int64_t sum = 0;
    *levels = 0;
    for (int32_t i = 0; i < x->how.nest_count; i++) {
        sum += nest_iterations(&x->how.nests[i]);
        *levels += x->how.nests[i].level_count;
    }
    return sum;
}

bool nest_set_is_better(const struct attempt *a, const struct attempt *b)
{
    int64_t one, two, first = walks(&a->draft, &one), second = walks(&b->draft, &two);
    if (a->us != b->us) return a->us < b->us;
    if (a->hbm_bytes != b->hbm_bytes) return a->hbm_bytes < b->hbm_bytes;
    return first != second ? first < second : one < two;
}

bool nest_set_try(struct planner *p, const struct nest_set *s, bool *better)
{
    struct attempt next;
    struct nest_set from = *s;
    *better = false;
    from.below = p->best.hbm_bytes;
    if (!nest_set_plan(p, &from, &next)) return false;
    if (!next.memory) return true;
    *better = nest_set_is_better(&next, &p->best);
    if (*better) {
        struct attempt old = p->best;
        p->best = next;
        next = old;
    }
    attempt_free(&next);
    return true;
}
