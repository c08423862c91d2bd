/* Finds the obstacle of a buffer, and the buffers in its way. */
#include "explain/plan_explain.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/order.h"
#include "layout/op_index.h"
#include "plan/occupancy.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

struct neighbour {
    int64_t cost;
    int32_t buffer;
};

ORDER(plan_explain_by_cost, struct neighbour, ORDER_UP(cost) ORDER_UP(buffer));

void lx_plan_explain(const struct lx_plan *p, const char *name, struct lx_explanation *out)
{
    *out = (struct lx_explanation){.all = mem_zeroed((size_t)p->problem.count + 1, sizeof *out->all)};
    for (int32_t i = 0; i < p->problem.count; i++) {
        if (!(strcmp(p->problem.buffers[i].name, name) == 0 ||
              (p->stays && strcmp(p->layouts->graph->tensors[p->stays[i].tensor].name, name) == 0)))
            continue;
        struct lx_explained *e = &out->all[out->count++];
        const struct lx_buffer *b = &p->problem.buffers[i];
        *e = (struct lx_explained){.buffer = i,
                                   .obstacle = p->answer.address[i] >= 0          ? LX_NO_OBSTACLE
                                               : b->size > p->problem.capacity    ? LX_TOO_LARGE
                                               : lx_may_be_placed(&p->problem, b) ? LX_NO_ROOM
                                               : b->reason                        ? LX_BARRED
                                                                                  : LX_TOO_LARGE};
        out->off_chip += e->obstacle != LX_NO_OBSTACLE;
        if (e->obstacle == LX_NO_ROOM) {
            struct neighbour *found = mem_alloc(((size_t)p->problem.count + 1) * sizeof *found);
            e->others = mem_alloc(((size_t)p->problem.count + 1) * sizeof *e->others);
            for (int32_t k = 0; k < p->problem.count; k++) {
                const struct lx_buffer *o = &p->problem.buffers[k];
                int32_t pool = p->answer.pool ? p->answer.pool[k] : 0;
                if (p->answer.address[k] < 0 || !lx_lives_meet(o, b) || !lx_allows_pool(b, pool)) continue;
                found[e->other_count++] = (struct neighbour){o->spill_cost, k};
            }
            qsort(found, (size_t)e->other_count, sizeof *found, plan_explain_by_cost);
            for (int32_t k = 0; k < e->other_count; k++) e->others[k] = found[k].buffer;
            mem_free(found);
        }
    }
}

void lx_explanation_free(struct lx_explanation *e)
{
    for (int32_t i = 0; i < e->count; i++) mem_free(e->all[i].others);
    mem_free(e->all);
    *e = (struct lx_explanation){0};
}

const struct lx_division *lx_plan_divided_alone(const struct lx_plan *p, int32_t op)
{
    const struct lx_divisions *d = p->own_divisions;
    int32_t place = p->order ? p->order[op] : op;
    return d && p->lends && place < d->count ? &d->at[place] : NULL;
}

/* From the accesses and copies of a nest's ticks to what they mean. Some dozen tensors per nest. */

const char *lx_nest_use_words(enum lx_nest_use u, bool several)
{
    static const struct {
        const char *one, *several;
    } words[] = {
#define LX_NEST_USE_ROW(id, one, several) {one, several},
        LX_NEST_USES(LX_NEST_USE_ROW)
#undef LX_NEST_USE_ROW
    };
    if ((unsigned)u >= LX_NEST_USE_COUNT) return "?";
    return several ? words[u].several : words[u].one;
}

/* The HBM bytes of a tensor in a nest: of accesses off chip, and of copies. `stay`: the first that serves an
 * access; `kinds`: a bit for each kind of copy. */
static int64_t nest_explain_moved(const struct lx_plan *p, const struct lx_nest *n, int32_t tensor,
                                  int32_t *stay, int64_t *off, unsigned *kinds)
{
    int64_t bytes = 0;
    *stay = -1;
    *off = 0;
    *kinds = 0;
    for (int32_t a = p->access_at[n->first]; a < p->access_at[n->last + 1]; a++) {
        const struct lx_access *x = &p->accesses[a];
        bool on_chip = x->stay >= 0 && p->answer.address[x->stay] >= 0;
        if (x->tensor != tensor) continue;
        if (!on_chip)
            *off += x->bytes;
        else if (*stay < 0)
            *stay = x->stay;
    }
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        if (n->first > t->tick || t->tick > n->last || !lx_through_hbm(t->kind) ||
            p->stays[t->stay].tensor != tensor)
            continue;
        bytes += t->bytes;
        *kinds |= 1u << t->kind;
    }
    return bytes + *off;
}

static enum lx_nest_use use_of(const struct lx_plan *p, const struct lx_nest *n, const struct nest_tensor *t,
                               int32_t stay, unsigned kinds)
{
    bool loads = kinds & 1u << LX_LOAD, stores = kinds & 1u << LX_STORE;
    if (stay < 0) return LX_NEST_HBM;
    if (t->summed) return loads ? LX_NEST_PARTS : LX_NEST_SUM;
    if (t->made && stores) return LX_NEST_STORED;
    if (t->made) {
        int32_t end = p->access_at[p->layouts->graph->op_count], a = p->access_at[n->last + 1];
        while (a < end && p->accesses[a].tensor != p->stays[stay].tensor) a++;
        return a < end ? LX_NEST_KEPT : LX_NEST_INSIDE;
    }
    return p->stays[stay].hold == n->level_count ? LX_NEST_LOADED : LX_NEST_HELD;
}

ORDER(nest_explain_by_use, struct lx_nest_part, ORDER_UP(use) ORDER_UP(tensor));

void lx_plan_explain_nest(const struct lx_plan *p, int32_t nest, struct lx_nest_explained *out)
{
    const struct lx_nest *n = &p->nests[nest];
    struct lx_occupancy taken = {0};
    int32_t tensors = p->layouts->graph->tensor_count;
    *out = (struct lx_nest_explained){.parts = mem_zeroed((size_t)tensors + 1, sizeof *out->parts)};
    lx_occupancy_make(p, LX_ALL_POOLS, &taken);
    for (int32_t t = 0; t < tensors; t++) {
        struct nest_tensor in = nest_tensor_of(p->layouts, n, t);
        if (in.accessed) {
            unsigned kinds;
            int32_t stay;
            int64_t off, moved = nest_explain_moved(p, n, t, &stay, &off, &kinds);
            struct lx_nest_part part = {.tensor = t, .stay = stay, .hbm_bytes = moved};
            /* Partly on chip: HBM traffic decides. */
            part.use = off > 0 ? LX_NEST_HBM : use_of(p, n, &in, stay, kinds);
            out->parts[out->count++] = part;
        }
    }
    qsort(out->parts, (size_t)out->count, sizeof *out->parts, nest_explain_by_use);
    for (int32_t i = 0; i < out->count; i++) out->hbm_bytes += out->parts[i].hbm_bytes;
    for (int32_t o = n->first; o <= n->last; o++) {
        out->device_us += p->traffic[o].device_us;
        out->end_to_end_us += p->traffic[o].end_to_end_us;
    }
    out->free_bytes = p->problem.capacity - lx_occupancy_most(&taken, n->first, (int64_t)n->last + 1);
    lx_occupancy_free(&taken);
}

void lx_nest_explained_free(struct lx_nest_explained *e)
{
    mem_free(e->parts);
    *e = (struct lx_nest_explained){0};
}

/* Free ranges between the buffers of a tick. */

struct stretch {
    int64_t from, to;
};

ORDER(holes_by_from, struct stretch, ORDER_UP(from));

static int32_t count_reserved(const struct lx_plan *p, int32_t pool)
{
    return p->problem.pool_count ? p->problem.pools[pool].reserved_count : 0;
}

/* Its capacity; where height is asked for, where its highest buffer ends. */
static int64_t holes_pool_end(const struct lx_plan *p, int32_t pool)
{
    int64_t end = 0;
    if (p->problem.objective != LX_HEIGHT) return lx_pool_capacity(&p->problem, pool);
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] >= 0 && lx_pool_of(p, i) == pool)
            end = max_i64(end, p->answer.address[i] + p->problem.buffers[i].size);
    return end;
}

bool lx_holes_at(const struct lx_plan *p, int32_t pool, int64_t tick, int64_t address, struct lx_holes *out)
{
    size_t room = (size_t)p->problem.count + (size_t)count_reserved(p, pool) + 1;
    struct stretch *taken = mem_alloc(room * sizeof *taken);
    int64_t top = holes_pool_end(p, pool), end = 0;
    *out = (struct lx_holes){.from = -1, .to = -1};
    /* The stretches that are taken at a tick, in order of address. A buffer of no bytes parts no hole. */
    size_t k = 0;
    for (int32_t i = 0; i < count_reserved(p, pool); i++) {
        const struct lx_reserved *r = &p->problem.pools[pool].reserved[i];
        if (tick >= r->start && tick < r->end) taken[k++] = (struct stretch){r->from, r->to};
    }
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        int64_t at = p->answer.address[i];
        if (at >= 0 && b->size > 0 && lx_pool_of(p, i) == pool && lx_is_alive(b, tick))
            taken[k++] = (struct stretch){at, at + b->size};
    }
    if (k) qsort(taken, k, sizeof *taken, holes_by_from);
    size_t n = k;
    taken[n] = (struct stretch){max_i64(top, 0), max_i64(top, 0)};
    for (size_t i = 0; i <= n; i++) {
        if (taken[i].from > end) {
            int64_t to = taken[i].from;
            out->count++;
            out->free_bytes += to - end;
            if (to - end > out->largest_to - out->largest_from) out->largest_from = end, out->largest_to = to;
            if (address >= end && address < to) out->from = end, out->to = to;
        }
        end = max_i64(end, taken[i].to);
    }
    mem_free(taken);
    return true;
}
