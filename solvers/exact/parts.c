/* Parts of a problem: stretches of time between which nobody lives, joined where a linked cost or a group has
 * members in several. O(n log n) and the length of the bonds. */
#include "exact/parts.h"
#include "base/arena.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/union_find.h"

#include <stdlib.h>
#include <string.h>

struct member {
    int64_t start, end;
    int32_t buffer, part;
};

struct finder {
    struct parts *parts;
    const struct lx_problem *p;
    bool *linked;
    struct member *members;
    int32_t *stretch; /* per buffer, or -1 */
    int32_t *root;    /* per stretch: union-find, a root is the smallest of its set */
    int32_t *part;    /* per stretch */
    int32_t count, stretches;
};

ORDER(parts_compare_members, struct member, ORDER_UP(part) ORDER_UP(start) ORDER_UP(buffer));

/* Buffers that need no search: those that cannot be placed, are worth nothing, or have no size. */
static bool parts_settle(struct finder *f, int32_t i, int64_t *address)
{
    const struct lx_buffer *b = &f->p->buffers[i];
    bool can = model_can_place(f->p, b);
    if (can && (f->linked[i] || model_wants(f->p, b))) return false;
    bool place = can && b->size == 0 && (b->must || model_on_cost(b) <= b->spill_cost);
    if (place) address[i] = max_i64(b->fixed, 0);
    f->parts->paid += place ? model_on_cost(b) : b->spill_cost;
    f->parts->hopeless |= b->must && !place;
    return true;
}

static void find_stretches(struct finder *f, int64_t *address)
{
    for (int32_t i = 0; i < f->p->count; i++) {
        f->stretch[i] = -1;
        if (!parts_settle(f, i, address))
            f->members[f->count++] = (struct member){f->p->buffers[i].start, f->p->buffers[i].end, i, 0};
    }
    qsort(f->members, (size_t)f->count, sizeof *f->members, parts_compare_members);
    for (int32_t i = 0; i < f->count;) {
        int64_t until = f->members[i].end;
        for (; i < f->count && f->members[i].start < until; i++) {
            until = max_i64(until, f->members[i].end);
            f->stretch[f->members[i].buffer] = f->stretches;
        }
        f->root[f->stretches] = f->stretches;
        f->stretches++;
    }
}

/* Join the stretches of a group with that of *last; the smaller root stays. */
static void parts_join(struct finder *f, const struct lx_group *g, int32_t *last)
{
    for (int32_t k = 0; k < g->count; k++) {
        int32_t s = f->stretch[g->at[k]];
        if (s < 0) continue;
        if (*last >= 0) sets_join(f->root, s, *last);
        *last = s;
    }
}

static int32_t join_charge(struct finder *f, const struct lx_charge *c)
{
    int32_t last = -1;
    parts_join(f, &c->all_on, &last);
    parts_join(f, &c->all_off, &last);
    parts_join(f, &c->any_on, &last);
    parts_join(f, &c->any_off, &last);
    return last;
}

/* Bonds by part: `part` has the part of each of `count`, or -1; the order within a part stays. */
static void sort_by_part(const int32_t *part, int32_t count, int32_t parts, int32_t *first, int32_t *place)
{
    for (int32_t c = 0; c < count; c++)
        if (part[c] >= 0) first[part[c] + 1]++;
    for (int32_t k = 0; k < parts; k++) first[k + 1] += first[k];
    for (int32_t c = 0; c < count; c++) place[c] = part[c] >= 0 ? first[part[c]]++ : -1;
    for (int32_t k = parts; k > 0; k--) first[k] = first[k - 1];
    first[0] = 0;
}

static void parts_deal_bonds(struct finder *f, int32_t *charge_part, int32_t *group_part)
{
    const struct lx_bonds *bonds = &f->p->bonds;
    struct parts *parts = f->parts;
    for (int32_t c = 0; c < bonds->charge_count; c++)
        if (charge_part[c] >= 0) charge_part[c] = f->part[charge_part[c]];
    for (int32_t g = 0; g < bonds->together_count; g++)
        if (group_part[g] >= 0) group_part[g] = f->part[group_part[g]];
    int32_t most = bonds->charge_count > bonds->together_count ? bonds->charge_count : bonds->together_count;
    int32_t *place = mem_alloc(((size_t)most + 1) * sizeof *place);
    sort_by_part(charge_part, bonds->charge_count, parts->count, parts->charge_first, place);
    for (int32_t c = 0; c < bonds->charge_count; c++)
        if (place[c] >= 0) parts->charges[place[c]] = bonds->charges[c];
    sort_by_part(group_part, bonds->together_count, parts->count, parts->group_first, place);
    for (int32_t g = 0; g < bonds->together_count; g++)
        if (place[g] >= 0) parts->groups[place[g]] = bonds->together[g];
    mem_free(place);
}

static void parts_divide(struct finder *f, int64_t *address)
{
    const struct lx_bonds *bonds = &f->p->bonds;
    int32_t *charge_part = mem_alloc(((size_t)bonds->charge_count + 1) * sizeof *charge_part);
    int32_t *group_part = mem_alloc(((size_t)bonds->together_count + 1) * sizeof *group_part);
    model_mark_linked(bonds, f->linked);
    find_stretches(f, address);
    for (int32_t c = 0; c < bonds->charge_count; c++)
        if ((charge_part[c] = join_charge(f, &bonds->charges[c])) < 0) {
            /* A linked cost on buffers of no part: is it triggered, all of them being off? */
            if (bonds->charges[c].all_on.count <= 0 &&
                !((bonds->charges[c].any_on.count > 0 && bonds->charges[c].any_off.count == 0))) {
                f->parts->hopeless |= bonds->charges[c].cost == LX_FORBIDDEN;
                f->parts->paid += max_i64(bonds->charges[c].cost, 0);
            }
        }
    for (int32_t g = 0; g < bonds->together_count; g++) {
        group_part[g] = -1;
        parts_join(f, &bonds->together[g], &group_part[g]);
    }
    for (int32_t s = 0; s < f->stretches; s++) {
        int32_t r = sets_root(f->root, s);
        f->part[s] = r == s ? f->parts->count++ : f->part[r];
    }
    struct parts *parts = f->parts;
    for (int32_t k = 0; k < f->count; k++) f->members[k].part = f->part[f->stretch[f->members[k].buffer]];
    qsort(f->members, (size_t)f->count, sizeof *f->members, parts_compare_members);
    for (int32_t k = 0; k < f->count; k++) {
        parts->members[k] = f->members[k].buffer;
        parts->first[f->members[k].part + 1] = k + 1;
    }
    parts_deal_bonds(f, charge_part, group_part);
    mem_free(charge_part);
    mem_free(group_part);
}

void parts_find(struct parts *parts, const struct lx_problem *p, int64_t *address)
{
    struct arena memory = {0};
    size_t n = (size_t)p->count + 2;
    *parts = (struct parts){.p = p};
    parts->members = mem_zeroed(n, sizeof *parts->members);
    parts->first = mem_zeroed(n, sizeof *parts->first);
    parts->charges = mem_zeroed((size_t)p->bonds.charge_count + 1, sizeof *parts->charges);
    parts->groups = mem_zeroed((size_t)p->bonds.together_count + 1, sizeof *parts->groups);
    parts->charge_first = mem_zeroed(n, sizeof *parts->charge_first);
    parts->group_first = mem_zeroed(n, sizeof *parts->group_first);
    struct finder f = {.parts = parts, .p = p};
    f.linked = arena_array(&memory, n, sizeof *f.linked);
    f.members = arena_array(&memory, n, sizeof *f.members);
    f.stretch = arena_array(&memory, n, sizeof *f.stretch);
    f.root = arena_array(&memory, n, sizeof *f.root);
    f.part = arena_array(&memory, n, sizeof *f.part);
    parts_divide(&f, address);
    arena_free(&memory);
}

struct part parts_take(const struct parts *parts, int32_t k)
{
    struct part part = {*parts->p, parts->members + parts->first[k], parts->first[k + 1] - parts->first[k]};
    struct lx_bonds *bonds = &part.p.bonds;
    *bonds = (struct lx_bonds){
        .charges = parts->charges + parts->charge_first[k],
        .charge_count = parts->charge_first[k + 1] - parts->charge_first[k],
        .together = parts->groups + parts->group_first[k],
        .together_count = parts->group_first[k + 1] - parts->group_first[k],
    };
    return part;
}

void parts_free(struct parts *parts)
{
    mem_free(parts->members);
    mem_free(parts->first);
    mem_free(parts->charges);
    mem_free(parts->groups);
    mem_free(parts->charge_first);
    mem_free(parts->group_first);
}
