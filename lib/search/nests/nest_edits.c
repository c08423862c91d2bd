/* Edits sets of nests: nests are in order of time, and holds refer to them by index. */
#include "search/nests/nest_edits.h"

void nest_set_of(const struct draft *x, struct nest_menus *menus, struct arena *memory, struct nest_set *out)
{
    const struct decisions *how = &x->how;
    *out = (struct nest_set){.how = *how,
                             .limit = no_limit,
                             .menus = menus,
                             .op_count = x->graph->op_count,
                             .changed = -1,
                             .nest_count = how->nest_count,
                             .hold_count = how->hold_count,
                             .cut_count = how->cut_count};
    out->nests = arena_copy_array(memory, how->nests, (size_t)how->nest_count, sizeof *out->nests);
    out->holds = arena_copy_array(memory, how->holds, (size_t)how->hold_count, sizeof *out->holds);
    out->cuts = arena_copy_array(memory, how->cuts, (size_t)how->cut_count, sizeof *out->cuts);
    struct decisions *rest = &out->how;
    size_t ops = (size_t)out->op_count;
    if (rest->order) rest->order = arena_copy_array(memory, rest->order, ops, sizeof *rest->order);
    if (rest->divided) rest->divided = arena_copy_array(memory, rest->divided, ops, sizeof *rest->divided);
    if (rest->borders)
        rest->borders =
            arena_copy_array(memory, rest->borders, (size_t)rest->border_count, sizeof *rest->borders);
    rest->apart = arena_copy_array(memory, rest->apart, (size_t)rest->apart_count, sizeof *rest->apart);
    rest->move_count = rest->loaded_count = rest->kept_count = rest->early_count = 0; /* decided again */
    for (int32_t i = 0; i < out->nest_count; i++) {
        struct lx_nest *n = &out->nests[i];
        n->var = arena_copy_array(memory, n->var, (size_t)(n->last - n->first + 1), sizeof *n->var);
    }
}

void nest_set_add(const struct nest_set *s, const struct nest_candidate *c, struct arena *memory,
                  struct nest_set *out)
{
    int32_t at = 0, holds = s->hold_count + c->hold_count;
    *out = *s;
    out->nests = arena_array(memory, (size_t)s->nest_count + 1, sizeof *out->nests);
    out->holds = arena_array(memory, (size_t)holds, sizeof *out->holds);
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
}

void nest_set_drop(const struct nest_set *s, int32_t nest, struct arena *memory, struct nest_set *out)
{
    *out = *s;
    out->nests = arena_array(memory, (size_t)s->nest_count, sizeof *out->nests);
    out->holds = arena_array(memory, (size_t)s->hold_count, sizeof *out->holds);
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
}

void nest_set_replace(const struct lx_layouts *l, const struct nest_set *s, int32_t nest,
                      const struct lx_nest *by, struct arena *memory, struct nest_set *out)
{
    struct nest_set whole = *s;
    whole.nests = arena_copy_array(memory, s->nests, (size_t)s->nest_count, sizeof *s->nests);
    whole.nests[nest] = *by;
    whole.changed = nest;
    *out = whole;
    for (int32_t i = s->nest_count - 1; i >= 0; i--) {
        struct lx_nest *other = &whole.nests[i];
        int32_t first = other->first, last = other->last;
        if (i == nest || last < by->first || first > by->last) continue;
        if (first < by->first)
            last = by->first - 1;
        else
            first = by->last + 1;
        if (last <= first || !nest_over(l, other, first, last, memory, other))
            nest_set_drop(out, i, memory, out);
    }
}

void nest_set_forget_holds(struct nest_set *s, int32_t nest)
{
    int32_t count = 0;
    for (int32_t i = 0; i < s->hold_count; i++)
        if (s->holds[i].nest != nest) s->holds[count++] = s->holds[i];
    s->hold_count = count;
}

void nest_set_hold(const struct nest_set *s, struct hold h, struct arena *memory, struct nest_set *out)
{
    struct hold *holds = arena_array(memory, (size_t)s->hold_count + 1, sizeof *holds);
    int32_t count = 0;
    for (int32_t i = 0; i < s->hold_count; i++)
        if (s->holds[i].tensor != h.tensor || s->holds[i].nest != h.nest) holds[count++] = s->holds[i];
    holds[count++] = h;
    if (out != s) *out = *s;
    out->holds = holds;
    out->hold_count = count;
    out->changed = h.nest;
}
