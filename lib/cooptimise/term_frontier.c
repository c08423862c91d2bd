/* Classes of the open variables, and per variable the plan by which nodes are stepped over it. */
#include "cooptimise/term_frontier.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>

/* Something that tells values of a variable apart until a variable is decided. */
struct interest {
    int32_t var, until;
    const int32_t *class_of;
    int32_t size, order;
};

typedef VEC(struct interest) interest_list;

static bool term_frontier_meet(const struct term_var *a, const struct term_var *b)
{
    return a->may_be_on && b->may_be_on && a->start < b->end && b->start < a->end;
}

static bool term_frontier_alive_at(const struct term_var *v, int64_t tick)
{
    return v->may_be_on && v->start <= tick && tick < v->end;
}

static bool add_tables(const struct term_network *n, interest_list *all)
{
    for (size_t t = 0; t < n->tables.count; t++)
        for (int32_t k = 0; k < n->tables.at[t].axis_count; k++) {
            const struct term_axis *a = &n->tables.at[t].axes[k];
            if (!VEC_PUSH(all, (struct interest){a->var, n->tables.at[t].last, a->class_of, a->size, 0}))
                return false;
        }
    return true;
}

/* The bytes of a variable matter until the last that is alive with it. */
static bool add_room(struct term_frontier *f, interest_list *all)
{
    const struct term_network *n = f->n;
    for (int32_t v = 0; v < n->count; v++) {
        int32_t until = -1, *class_of = arena_array(&f->memory, (size_t)n->vars[v].size, sizeof *class_of);
        if (!class_of) return false;
        for (int32_t k = v + 1; k < n->count; k++)
            if (term_frontier_meet(&n->vars[v], &n->vars[k])) until = k;
        int32_t size = term_classes(n->vars[v].bytes, sizeof *n->vars[v].bytes, n->vars[v].size, class_of);
        if (until >= 0 && !VEC_PUSH(all, (struct interest){v, until, class_of, size, 0})) return false;
    }
    return true;
}

/* Who takes whose place matters until the last that is alive on that tick. */
static bool add_handovers(const struct term_network *n, interest_list *all)
{
    for (size_t h = 0; h < n->handovers.count; h++) {
        const struct term_handover *one = &n->handovers.at[h];
        int32_t until = (int32_t)max_i64(one->parent, one->child);
        for (int32_t k = until + 1; k < n->count; k++)
            if (term_frontier_alive_at(&n->vars[k], n->vars[one->child].start)) until = k;
        for (int32_t k = 0; k < 2; k++) {
            const struct term_axis *a = &one->fits.axes[k];
            if (!VEC_PUSH(all, (struct interest){a->var, until, a->class_of, a->size, 0})) return false;
        }
    }
    return true;
}

static int by_variable_then_last(const void *a, const void *b)
{
    const struct interest *x = a, *y = b;
    if (x->var != y->var) return x->var - y->var;
    if (x->until != y->until) return y->until - x->until;
    return x->order - y->order;
}

/* The classes with one interest more. */
static bool term_frontier_split(struct term_frontier *f, const struct term_partition *from,
                                const struct interest *by, struct term_partition *out)
{
    int32_t values = f->n->vars[by->var].size;
    int32_t *class_of = arena_array(&f->memory, (size_t)values, sizeof *class_of);
    int32_t *member = arena_array(&f->memory, (size_t)values, sizeof *member);
    int32_t *seen = mem_zeroed((size_t)from->size * (size_t)by->size, sizeof *seen);
    bool ok = class_of && member && seen;
    *out = (struct term_partition){by->until, 0, class_of, member};
    for (int32_t v = 0; ok && v < values; v++) {
        int32_t *at = &seen[(from->class_of ? from->class_of[v] : 0) * by->size + by->class_of[v]];
        if (!*at) {
            member[out->size] = v;
            *at = ++out->size;
        }
        class_of[v] = *at - 1;
    }
    mem_free(seen);
    return ok;
}

static bool make_classes(struct term_frontier *f, const interest_list *all)
{
    struct term_partition now = {.size = 1};
    for (size_t i = 0; i < all->count; i++) {
        const struct interest *one = &all->at[i];
        int32_t var = one->var, *count = &f->class_count[var];
        if (i == 0 || all->at[i - 1].var != var) {
            size_t most = 0;
            while (i + most < all->count && all->at[i + most].var == var) most++;
            f->classes[var] = arena_array(&f->memory, most, sizeof **f->classes);
            if (!f->classes[var]) return false;
            now = (struct term_partition){.size = 1};
        }
        struct term_partition coarser = now;
        if (!term_frontier_split(f, &coarser, one, &now)) return false;
        bool same = *count > 0 && f->classes[var][*count - 1].until == now.until;
        f->classes[var][same ? *count - 1 : (*count)++] = now;
    }
    return true;
}

bool term_frontier_make(struct term_frontier *f, const struct term_network *n, lx_status *st)
{
    interest_list all = {0};
    *f = (struct term_frontier){.n = n};
    f->classes = arena_array(&f->memory, (size_t)n->count, sizeof *f->classes);
    f->class_count = arena_array(&f->memory, (size_t)n->count, sizeof *f->class_count);
    bool ok =
        f->classes && f->class_count && add_tables(n, &all) && add_room(f, &all) && add_handovers(n, &all);
    for (size_t i = 0; i < all.count; i++) all.at[i].order = (int32_t)i;
    if (ok && all.count) qsort(all.at, all.count, sizeof *all.at, by_variable_then_last);
    ok = ok && make_classes(f, &all);
    VEC_FREE(&all);
    return ok || status_no_memory(st);
}

void term_frontier_free(struct term_frontier *f)
{
    arena_free(&f->memory);
}

/* --- Layers. --- */

/* The classes of a variable before `var` is decided; NULL: none of its values matters more than another. */
static const struct term_partition *open_at(const struct term_frontier *f, int32_t of, int32_t var)
{
    const struct term_partition *found = NULL;
    for (int32_t i = 0; i < f->class_count[of] && f->classes[of][i].until >= var; i++)
        found = &f->classes[of][i];
    return found && found->size > 1 ? found : NULL;
}

/* The variables of a node's slots, rising. */
struct slots {
    int32_t *var, count;
    const struct term_partition **classes;
};

static bool find_slots(const struct term_frontier *f, int32_t var, struct arena *memory, struct slots *out)
{
    *out = (struct slots){arena_array(memory, (size_t)var, sizeof *out->var), 0,
                          arena_array(memory, (size_t)var, sizeof *out->classes)};
    if (!out->var || !out->classes) return false;
    for (int32_t v = 0; v < var; v++) {
        const struct term_partition *c = open_at(f, v, var);
        if (!c) continue;
        out->var[out->count] = v;
        out->classes[out->count++] = c;
    }
    return true;
}

static int32_t term_frontier_slot_of(const struct slots *s, int32_t var)
{
    for (int32_t i = 0; i < s->count; i++)
        if (s->var[i] == var) return i;
    return -1;
}

/* A plan being made. */
struct layering {
    const struct term_frontier *f;
    struct arena *memory;
    int32_t var;
    struct slots slots;
};

static int64_t *term_frontier_offsets_of(struct layering *l, const struct term_axis *a, int64_t stride,
                                         const struct term_partition *classes)
{
    int32_t count = classes ? classes->size : l->f->n->vars[a->var].size;
    int64_t *out = arena_array(l->memory, (size_t)count, sizeof *out);
    for (int32_t i = 0; out && i < count; i++)
        out[i] = stride * a->class_of[classes ? classes->member[i] : i];
    return out;
}

static bool make_lookup(struct layering *l, const struct term_table *t, struct term_lookup *out)
{
    int32_t *slots = arena_array(l->memory, (size_t)t->axis_count, sizeof *slots);
    const int64_t **offset = arena_array(l->memory, (size_t)t->axis_count, sizeof *offset);
    int64_t stride = 1;
    *out = (struct term_lookup){.values = t->values, .slots = slots, .offset = offset};
    if (!slots || !offset) return false;
    for (int32_t k = t->axis_count - 1; k >= 0; stride *= t->axes[k].size, k--) {
        const struct term_axis *a = &t->axes[k];
        int32_t slot = term_frontier_slot_of(&l->slots, a->var);
        if (a->var != l->var && slot < 0) {
            out->fixed += stride * a->class_of[0];
            continue;
        }
        int64_t *offsets =
            term_frontier_offsets_of(l, a, stride, a->var == l->var ? NULL : l->slots.classes[slot]);
        if (!offsets) return false;
        if (a->var == l->var) {
            out->own = offsets;
            continue;
        }
        slots[out->count] = slot;
        offset[out->count++] = offsets;
    }
    return true;
}

static bool make_costs(struct layering *l, struct term_layer *out)
{
    const struct term_network *n = l->f->n;
    struct term_lookup *costs = arena_array(l->memory, n->tables.count, sizeof *costs);
    if (!costs) return false;
    for (size_t i = 0; i < n->tables.count; i++)
        if (n->tables.at[i].last == l->var && !make_lookup(l, &n->tables.at[i], &costs[out->cost_count++]))
            return false;
    out->costs = costs;
    return true;
}

static bool make_least(struct layering *l, const struct term_bound *b, struct term_layer *out)
{
    struct term_lookup *least = arena_array(l->memory, b->messages.count, sizeof *least);
    if (!least) return false;
    for (size_t i = 0; i < b->messages.count; i++) {
        const struct term_message *m = &b->messages.at[i];
        if (m->from > l->var && m->table.last <= l->var &&
            !make_lookup(l, &m->table, &least[out->least_count++]))
            return false;
    }
    out->least = least;
    return true;
}

/* --- Room. --- */

static bool make_resident(struct layering *l, int32_t var, int64_t tick, struct term_resident *out)
{
    const struct term_network *n = l->f->n;
    struct term_lookup *handovers = arena_array(l->memory, n->handovers.count, sizeof *handovers);
    int32_t slot = var == l->var ? -1 : term_frontier_slot_of(&l->slots, var);
    int32_t count = slot < 0 ? n->vars[var].size : l->slots.classes[slot]->size;
    int64_t *bytes = arena_array(l->memory, (size_t)count, sizeof *bytes);
    if (!handovers || !bytes) return false;
    *out = (struct term_resident){slot, bytes, handovers, 0};
    for (int32_t i = 0; i < count; i++)
        bytes[i] = n->vars[var].bytes[slot < 0 ? i : l->slots.classes[slot]->member[i]];
    for (size_t h = 0; h < n->handovers.count && n->vars[var].start == tick; h++) {
        const struct term_handover *one = &n->handovers.at[h];
        if (one->child != var || one->parent > l->var) continue;
        if (!make_lookup(l, &one->fits, &handovers[out->handover_count++])) return false;
    }
    return true;
}

static bool make_tick(struct layering *l, int64_t tick, struct term_tick *out)
{
    struct term_resident *residents = arena_array(l->memory, (size_t)l->slots.count + 1, sizeof *residents);
    if (!residents || !make_resident(l, l->var, tick, &residents[0])) return false;
    *out = (struct term_tick){residents, 1};
    for (int32_t i = 0; i < l->slots.count; i++)
        if (term_frontier_alive_at(&l->f->n->vars[l->slots.var[i]], tick) &&
            !make_resident(l, l->slots.var[i], tick, &residents[out->count++]))
            return false;
    return true;
}

static int term_frontier_compare_ticks(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Most is alive where somebody begins, or behind the tick on which somebody took another's place. */
static bool make_ticks(struct layering *l, struct term_layer *out)
{
    const struct term_var *v = &l->f->n->vars[l->var];
    size_t count = 0, most = 2 * ((size_t)l->slots.count + 1);
    int64_t *at = arena_array(l->memory, most, sizeof *at);
    struct term_tick *ticks = arena_array(l->memory, most, sizeof *ticks);
    if (!at || !ticks) return false;
    for (int32_t i = -1; i < l->slots.count && v->may_be_on; i++) {
        int64_t start = i < 0 ? v->start : l->f->n->vars[l->slots.var[i]].start;
        if (term_frontier_alive_at(v, start)) at[count++] = start;
        if (term_frontier_alive_at(v, start + 1)) at[count++] = start + 1;
    }
    if (count) qsort(at, count, sizeof *at, term_frontier_compare_ticks);
    for (size_t i = 0; i < count; i++)
        if ((i == 0 || at[i] != at[i - 1]) && !make_tick(l, at[i], &ticks[out->tick_count++])) return false;
    out->ticks = ticks;
    return true;
}

/* --- Slots behind the variable. --- */

static bool make_next_bytes(struct layering *l, const struct slots *next, struct term_layer *out)
{
    const int64_t **bytes = arena_array(l->memory, (size_t)next->count, sizeof *bytes);
    for (int32_t i = 0; bytes && i < next->count; i++) {
        int64_t *of = arena_array(l->memory, (size_t)next->classes[i]->size, sizeof *of);
        if (!of) return false;
        for (int32_t c = 0; c < next->classes[i]->size; c++)
            of[c] = l->f->n->vars[next->var[i]].bytes[next->classes[i]->member[c]];
        bytes[i] = of;
    }
    out->next_bytes = bytes;
    return bytes;
}

static bool make_next(struct layering *l, struct term_layer *out)
{
    struct slots next;
    if (!find_slots(l->f, l->var + 1, l->memory, &next)) return false;
    int32_t *from = arena_array(l->memory, (size_t)next.count, sizeof *from);
    const int32_t **map = arena_array(l->memory, (size_t)next.count, sizeof *map);
    if (!from || !map) return false;
    for (int32_t i = 0; i < next.count; i++) {
        from[i] = term_frontier_slot_of(&l->slots, next.var[i]);
        map[i] = next.classes[i]->class_of;
        if (from[i] < 0) continue;
        const struct term_partition *before = l->slots.classes[from[i]];
        int32_t *classes = arena_array(l->memory, (size_t)before->size, sizeof *classes);
        if (!classes) return false;
        for (int32_t c = 0; c < before->size; c++) classes[c] = map[i][before->member[c]];
        map[i] = classes;
    }
    out->from = from;
    out->class_map = map;
    out->next_count = next.count;
    return make_next_bytes(l, &next, out);
}

bool term_layer_make(const struct term_frontier *f, const struct term_bound *b, int32_t var,
                     struct arena *memory, struct term_layer *out)
{
    struct layering l = {.f = f, .memory = memory, .var = var};
    *out = (struct term_layer){0};
    if (!find_slots(f, var, memory, &l.slots)) return false;
    out->slot_count = l.slots.count;
    return make_costs(&l, out) && make_least(&l, b, out) && make_ticks(&l, out) && make_next(&l, out);
}
