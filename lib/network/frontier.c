/* Classes of the open variables, and the layer by which states step over each variable. While tables, room or
 * handovers of a variable are open, its values are distinguished by their classes there; as these close,
 * classes merge. A state of the sweep is the classes of the open variables. */
#include "network/network.h"

/* A partition of a variable's values that matters until variable `until` is decided. */
struct interest {
    int32_t var, until;
    const int32_t *class_of;
    int32_t size, order;
};

typedef VEC(struct interest) interest_list;

ORDER(frontier_by_variable, struct interest, ORDER_UP(var) ORDER_DOWN(until) ORDER_UP(order));

static bool frontier_alive_at(const struct net_var *v, int64_t tick)
{
    return v->may_be_on && v->start <= tick && tick < v->end;
}

static void frontier_add(interest_list *all, const struct net_axis *a, int32_t until)
{
    (void)VEC_PUSH(all, (struct interest){a->var, until, a->class_of, a->size, (int32_t)all->count});
}

static void frontier_make_classes(struct net_frontier *f, const interest_list *all)
{
    struct net_partition now = {.size = 1};
    for (size_t i = 0; i < all->count; i++) {
        const struct interest *one = &all->at[i];
        int32_t var = one->var, *count = &f->class_count[var];
        if (i == 0 || all->at[i - 1].var != var) {
            size_t most = 0;
            while (i + most < all->count && all->at[i + most].var == var) most++;
            f->classes[var] = arena_array(&f->memory, most, sizeof **f->classes);
            now = (struct net_partition){.size = 1};
        }
        struct net_partition coarser = now;
        SCOPED(arena_free) struct arena scratch = {0};
        int32_t values = f->n->vars[one->var].size;
        int32_t *class_of = arena_array(&f->memory, (size_t)values, sizeof *class_of);
        int32_t *member = arena_array(&f->memory, (size_t)values, sizeof *member);
        int32_t *seen = arena_array(&scratch, (size_t)coarser.size * (size_t)one->size, sizeof *seen);
        struct net_partition out = {one->until, 0, class_of, member};
        for (int32_t v = 0; v < values; v++) {
            int32_t *at = &seen[(coarser.class_of ? coarser.class_of[v] : 0) * one->size + one->class_of[v]];
            if (!*at) {
                member[out.size] = v;
                *at = ++out.size;
            }
            class_of[v] = *at - 1;
        }
        now = out;
        bool same = *count > 0 && f->classes[var][*count - 1].until == now.until;
        f->classes[var][same ? *count - 1 : (*count)++] = now;
    }
}

/* The classes of variable `of` before `var` is decided; NULL: all its values are equivalent. */
static const struct net_partition *frontier_open_at(const struct net_frontier *f, int32_t of, int32_t var)
{
    const struct net_partition *found = NULL;
    for (int32_t i = 0; i < f->class_count[of] && f->classes[of][i].until >= var; i++)
        found = &f->classes[of][i];
    return found && found->size > 1 ? found : NULL;
}

void net_frontier_make(struct net_frontier *f, const struct network *n)
{
    OWNED interest_list all = {0};
    *f = (struct net_frontier){.n = n};
    f->classes = arena_array(&f->memory, (size_t)n->count, sizeof *f->classes);
    f->class_count = arena_array(&f->memory, (size_t)n->count, sizeof *f->class_count);
    for (size_t t = 0; t < n->tables.count; t++)
        for (int32_t k = 0; k < n->tables.at[t].axis_count; k++)
            frontier_add(&all, &n->tables.at[t].axes[k], n->tables.at[t].last);
    /* The bytes of a variable matter until the last variable alive with it. */
    const struct network *i = f->n;
    for (int32_t v = 0; v < i->count; v++) {
        const struct net_var *a = &i->vars[v];
        int32_t until = -1, *class_of = arena_array(&f->memory, (size_t)a->size, sizeof *class_of);
        for (int32_t k = v + 1; k < i->count; k++)
            if (a->may_be_on && i->vars[k].may_be_on && a->start < i->vars[k].end &&
                i->vars[k].start < a->end)
                until = k;
        struct net_axis axis = {v, net_classes(a->bytes, sizeof *a->bytes, a->size, class_of), class_of};
        if (until >= 0) frontier_add(&all, &axis, until);
    }
    /* A handover matters until the last variable alive on its tick. */
    for (size_t h = 0; h < n->handovers.count; h++) {
        const struct net_handover *one = &n->handovers.at[h];
        int32_t until = (int32_t)max_i64(one->parent, one->child);
        for (int32_t k = until + 1; k < n->count; k++)
            if (frontier_alive_at(&n->vars[k], n->vars[one->child].start)) until = k;
        for (int32_t k = 0; k < 2; k++) frontier_add(&all, &one->fits.axes[k], until);
    }
    if (all.count) qsort(all.at, all.count, sizeof *all.at, frontier_by_variable);
    frontier_make_classes(f, &all);
    int32_t *from = arena_array(&f->memory, (size_t)n->count, sizeof *from);
    int32_t *to = arena_array(&f->memory, (size_t)n->count, sizeof *to);
    f->slot = arena_array(&f->memory, (size_t)n->count, sizeof *f->slot);
    for (int32_t v = 0; v < n->count; v++)
        for (from[v] = v, to[v] = v + 1; to[v] < n->count && frontier_open_at(f, v, to[v]);) to[v]++;
    f->slot_count = beam_slots(from, to, n->count, f->slot);
}

/* --- Layers. --- */

/* A layer being made: the open variables before `var`, ascending. */
struct layering {
    const struct net_frontier *f;
    struct arena *memory;
    int32_t var, *open, open_count;
    const struct net_partition **classes;
};

static struct net_lookup layer_lookup(struct layering *l, const struct net_table *t)
{
    int32_t *slots = arena_array(l->memory, (size_t)t->axis_count, sizeof *slots);
    const int64_t **offset = arena_array(l->memory, (size_t)t->axis_count, sizeof *offset);
    int64_t stride = 1;
    struct net_lookup out = {.values = t->values, .slots = slots, .offset = offset};
    for (int32_t k = t->axis_count - 1; k >= 0; stride *= t->axes[k].size, k--) {
        const struct net_axis *a = &t->axes[k];
        bool own = a->var == l->var;
        const struct net_partition *classes = own ? NULL : frontier_open_at(l->f, a->var, l->var);
        if (!own && !classes) {
            out.fixed += stride * a->class_of[0];
            continue;
        }
        int32_t count = own ? l->f->n->vars[a->var].size : classes->size;
        int64_t *offsets = arena_array(l->memory, (size_t)count, sizeof *offsets);
        for (int32_t i = 0; i < count; i++) offsets[i] = stride * a->class_of[own ? i : classes->member[i]];
        if (own) {
            out.own = offsets;
            continue;
        }
        slots[out.count] = l->f->slot[a->var];
        offset[out.count++] = offsets;
    }
    return out;
}

/* Open variable i, or the current one (-1), at a tick. */
static struct net_resident layer_resident(struct layering *l, int32_t i, int64_t tick)
{
    const struct network *n = l->f->n;
    int32_t var = i < 0 ? l->var : l->open[i], count = i < 0 ? n->vars[var].size : l->classes[i]->size;
    struct net_lookup *handovers = arena_array(l->memory, n->handovers.count, sizeof *handovers);
    int64_t *bytes = arena_array(l->memory, (size_t)count, sizeof *bytes);
    struct net_resident out = {i < 0 ? -1 : l->f->slot[var], bytes, handovers, 0};
    for (int32_t c = 0; c < count; c++) bytes[c] = n->vars[var].bytes[i < 0 ? c : l->classes[i]->member[c]];
    for (size_t h = 0; h < n->handovers.count && n->vars[var].start == tick; h++) {
        const struct net_handover *one = &n->handovers.at[h];
        if (one->child == var && one->parent <= l->var)
            handovers[out.handover_count++] = layer_lookup(l, &one->fits);
    }
    return out;
}

/* Loads peak where a variable begins, or one tick later, when a handover no longer applies. */
static void layer_make_ticks(struct layering *l, struct net_layer *out)
{
    const struct net_var *all = l->f->n->vars, *v = &all[l->var];
    size_t count = 0, most = 2 * ((size_t)l->open_count + 1);
    int64_t *at = arena_array(l->memory, most, sizeof *at);
    struct net_tick *ticks = arena_array(l->memory, most, sizeof *ticks);
    for (int32_t i = -1; i < l->open_count && v->may_be_on; i++) {
        int64_t start = i < 0 ? v->start : all[l->open[i]].start;
        if (frontier_alive_at(v, start)) at[count++] = start;
        if (frontier_alive_at(v, start + 1)) at[count++] = start + 1;
    }
    if (count) qsort(at, count, sizeof *at, order_i64);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && at[i] == at[i - 1]) continue;
        struct net_resident *residents = arena_array(l->memory, (size_t)l->open_count + 1, sizeof *residents);
        struct net_tick *tick = &ticks[out->tick_count++];
        *tick = (struct net_tick){residents, 0};
        for (int32_t k = -1; k < l->open_count; k++)
            if (k < 0 || frontier_alive_at(&all[l->open[k]], at[i]))
                residents[tick->count++] = layer_resident(l, k, at[i]);
    }
    out->ticks = ticks;
}

/* Sets the slots after the variable: their classes, and the maps from the classes before. */
static void layer_make_next(struct layering *l, struct net_layer *out)
{
    const struct net_frontier *f = l->f;
    size_t most = (size_t)l->open_count + 1;
    int32_t *open = arena_array(l->memory, most, sizeof *open);
    out->changed = arena_array(l->memory, most, sizeof *out->changed);
    out->class_map = arena_array(l->memory, most, sizeof *out->class_map);
    out->open_bytes = arena_array(l->memory, most, sizeof *out->open_bytes);
    out->open = open;
    out->own = -1;
    for (int32_t i = 0; i <= l->open_count; i++) {
        bool own = i == l->open_count;
        int32_t var = own ? l->var : l->open[i];
        const struct net_partition *before = own ? NULL : l->classes[i],
                                   *behind = frontier_open_at(f, var, l->var + 1);
        if (behind) {
            int64_t *bytes = arena_array(l->memory, (size_t)behind->size, sizeof *bytes);
            for (int32_t c = 0; c < behind->size; c++) bytes[c] = f->n->vars[var].bytes[behind->member[c]];
            out->open_bytes[out->open_count] = bytes;
            open[out->open_count++] = f->slot[var];
        }
        if (before == behind) continue;
        if (own) out->own = out->changed_count;
        if (own) out->class_map[out->changed_count] = behind->class_of;
        if (!own && behind) {
            int32_t *map = arena_array(l->memory, (size_t)before->size, sizeof *map);
            for (int32_t c = 0; c < before->size; c++) map[c] = behind->class_of[before->member[c]];
            out->class_map[out->changed_count] = map;
        }
        out->changed[out->changed_count++] = f->slot[var];
    }
}

void net_layer_make(const struct net_frontier *f, const struct net_bound *b, int32_t var,
                    struct arena *memory, struct net_layer *out)
{
    struct layering l = {.f = f, .memory = memory, .var = var};
    l.open = arena_array(memory, (size_t)var, sizeof *l.open);
    l.classes = arena_array(memory, (size_t)var, sizeof *l.classes);
    for (int32_t v = 0; v < var; v++) {
        const struct net_partition *c = frontier_open_at(f, v, var);
        if (!c) continue;
        l.open[l.open_count] = v;
        l.classes[l.open_count++] = c;
    }
    *out = (struct net_layer){0};
    const struct network *n = l.f->n;
    struct net_lookup *costs = arena_array(l.memory, n->tables.count, sizeof *costs);
    struct net_lookup *least = arena_array(l.memory, b->messages.count, sizeof *least);
    for (size_t i = 0; i < n->tables.count; i++)
        if (n->tables.at[i].last == l.var) costs[out->cost_count++] = layer_lookup(&l, &n->tables.at[i]);
    for (size_t i = 0; i < b->messages.count; i++) {
        const struct net_message *m = &b->messages.at[i];
        if (m->from > l.var && m->table.last <= l.var)
            least[out->least_count++] = layer_lookup(&l, &m->table);
    }
    out->costs = costs;
    out->least = least;
    layer_make_ticks(&l, out);
    layer_make_next(&l, out);
}
