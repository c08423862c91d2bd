/* Charges of a part of a model: literals of what is not free are decided. A charge that is decided altogether
 * is left out; the part's value then differs from the whole's by a constant. */
#include "exact/region_bonds.h"
#include "base/memory.h"

#include <stdlib.h>

void region_bonds_new(struct region_bonds *r, const struct model *m)
{
    size_t literals = (size_t)m->item_count;
    for (int32_t c = 0; c < m->charge_count; c++) literals += (size_t)(m->charges[c].all + m->charges[c].any);
    *r = (struct region_bonds){0};
    r->charges = mem_zeroed((size_t)m->charge_count + 1, sizeof *r->charges);
    r->groups = mem_zeroed((size_t)m->item_count + 1, sizeof *r->groups);
    r->numbers = mem_zeroed(literals + 1, sizeof *r->numbers);
}

void region_bonds_free(struct region_bonds *r)
{
    mem_free(r->charges);
    mem_free(r->groups);
    mem_free(r->numbers);
}

struct filler {
    struct region_bonds *r;
    const struct model *m;
    const bool *free_item;
    const int32_t *index;
    const int64_t *address;
    int32_t used;
};

/* The free literals of a kind among `count`; *holds counts those that are decided and hold. */
static struct lx_group region_bonds_take(struct filler *f, const int32_t *literals, int32_t count, bool off,
                                         int32_t *holds)
{
    struct lx_group g = {f->r->numbers + f->used, 0};
    for (int32_t k = 0; k < count; k++) {
        int32_t i = literals[k] / 2;
        if ((literals[k] & 1) != off) continue;
        if (f->free_item[i]) {
            f->r->numbers[f->used++] = f->index[i];
            g.count++;
        } else
            *holds += (f->address[i] < 0) == off;
    }
    return g;
}

static void fill_charge(struct filler *f, const struct model_charge *c)
{
    const int32_t *all = f->m->literals + c->first, *any = all + c->all;
    int32_t before = f->used, certain = 0, some = 0;
    struct lx_charge to = {.cost = c->cost};
    to.all_on = region_bonds_take(f, all, c->all, false, &certain);
    to.all_off = region_bonds_take(f, all, c->all, true, &certain);
    bool possible = certain + to.all_on.count + to.all_off.count == c->all;
    int32_t needed = f->used;
    to.any_on = region_bonds_take(f, any, c->any, false, &some);
    to.any_off = region_bonds_take(f, any, c->any, true, &some);
    if (some > 0) {
        to.any_on.count = to.any_off.count = 0;
        f->used = needed;
    } else if (c->any > 0)
        possible &= to.any_on.count + to.any_off.count > 0;
    if (possible && f->used > before)
        f->r->charges[f->r->bonds.charge_count++] = to;
    else
        f->used = before;
}

static void fill_group(struct filler *f, int32_t i)
{
    const struct model_item *items = f->m->items;
    struct lx_group g = {f->r->numbers + f->used, 0};
    for (int32_t k = items[i].ring; k != i; k = items[k].ring)
        if (k < i) return; /* the ring has been taken from there */
    int32_t k = i;
    do {
        f->r->numbers[f->used++] = f->index[k];
        g.count++;
    } while ((k = items[k].ring) != i);
    f->r->groups[f->r->bonds.together_count++] = g;
}

void region_bonds_fill(struct region_bonds *r, const struct model *m, const bool *free_item,
                       const int32_t *index, const int64_t *address)
{
    struct filler f = {r, m, free_item, index, address, 0};
    r->bonds = (struct lx_bonds){.charges = r->charges, .together = r->groups};
    for (int32_t c = 0; c < m->charge_count; c++) fill_charge(&f, &m->charges[c]);
    for (int32_t i = 0; m->linked && i < m->item_count; i++)
        if (m->items[i].ring != i && free_item[i]) fill_group(&f, i);
}
