/* Walking the loops of nests; see machine.h. */
#include "device/memory/machine.h"

bool iterations_valid(const struct lx_plan *p, lx_status *st)
{
    bool ok = p->nest_count == p->divisions->nest_count;
    for (int32_t n = 0; ok && n < p->nest_count; n++) {
        if (!nest_valid(p->layouts, &p->nests[n], st)) return false;
        const struct lx_nest *a = &p->nests[n], *b = &p->divisions->nests[n];
        ok = a->first == b->first && a->last == b->last && a->level_count == b->level_count &&
             memcmp(a->tiles, b->tiles, (size_t)a->level_count * sizeof *a->tiles) == 0 &&
             (n == 0 || a->first > a[-1].last);
        for (int32_t o = a->first; ok && o <= a->last; o++) {
            /* The division must be for one tile of the op. */
            const struct lx_division *d = &p->divisions->at[o];
            struct op_index x;
            int64_t tiles[LX_MAX_VARS];
            op_index_of(p->layouts->graph, &p->layouts->graph->ops[o], &x);
            nest_op_tiles(a, o, tiles);
            for (int s = 0; s < d->split_count; s++)
                for (int v = 0; v < x.var_count; v++)
                    if (x.letter[v] == d->splits[s].letter && d->splits[s].tiles != tiles[v])
                        return status_set(st, LX_E_NEST, "op %s is divided for other tiles than its nest has",
                                          p->layouts->graph->ops[o].name);
        }
    }
    return ok ? true
              : status_set(st, LX_E_NEST,
                           "nests overlap, are out of order, or are not those that the ops are divided for");
}

struct iteration iteration_at(const struct lx_plan *p, int32_t op)
{
    int32_t n = nest_of_op(p->nests, p->nest_count, op);
    return (struct iteration){.nest = n >= 0 ? &p->nests[n] : NULL};
}

bool iteration_next(struct iteration *i)
{
    for (int l = i->nest ? i->nest->level_count - 1 : -1; l >= 0; l--) {
        if (++i->index[l] < i->nest->tiles[l]) {
            i->number++;
            return true;
        }
        i->index[l] = 0;
    }
    return false;
}

bool iteration_inner_first(const struct iteration *i, int level)
{
    for (int l = level; i->nest && l < i->nest->level_count; l++)
        if (i->index[l] != 0) return false;
    return true;
}

bool iteration_inner_last(const struct iteration *i, int level)
{
    for (int l = level; i->nest && l < i->nest->level_count; l++)
        if (i->index[l] != i->nest->tiles[l] - 1) return false;
    return true;
}

void iteration_offsets(const struct iteration *i, const struct lx_launch *l, int64_t offset[LX_MAX_VARS])
{
    for (int v = 0; v < LX_MAX_VARS; v++) offset[v] = 0;
    for (int k = 0; i->nest && l && k < l->level_count && k < i->nest->level_count; k++)
        if (l->level[k].var >= 0 && l->level[k].var < LX_MAX_VARS)
            offset[l->level[k].var] += l->level[k].step * i->index[k];
}

uint32_t iteration_parts_before(const struct iteration *i, unsigned summed)
{
    int64_t parts = 0;
    for (int l = 0; i->nest && l < i->nest->level_count; l++)
        if (summed & level_bit(l)) parts = parts * i->nest->tiles[l] + i->index[l];
    return (uint32_t)parts;
}

uint32_t iteration_parts_after(const struct iteration *i, unsigned summed)
{
    int64_t parts = (int64_t)iteration_parts_before(i, summed) + 1;
    return !i->nest || parts == nest_product(i->nest, summed) ? 0 : (uint32_t)parts;
}
