/* Finds the obstacle of a buffer, and the buffers in its way. */
#include "explain/plan_explain.h"
#include "base/base.h"
#include "plan/occupancy.h"

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
        const struct lx_buffer *one = &p->problem.buffers[i];
        enum lx_obstacle obstacle = p->answer.address[i] >= 0            ? LX_NO_OBSTACLE
                                    : one->size > p->problem.capacity    ? LX_TOO_LARGE
                                    : lx_may_be_placed(&p->problem, one) ? LX_NO_ROOM
                                    : one->reason                        ? LX_BARRED
                                                                         : LX_TOO_LARGE;
        *e = (struct lx_explained){.buffer = i, .obstacle = obstacle};
        out->off_chip += e->obstacle != LX_NO_OBSTACLE;
        if (e->obstacle == LX_NO_ROOM) {
            const struct lx_buffer *b = &p->problem.buffers[e->buffer];
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

/* The use of each tensor in a nest, from accesses and copies on the nest's ticks. Some dozen tensors per
 * nest. */

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

/* The use of a tensor in a nest: from accesses by ops of the nest and copies on their ticks. */
static struct lx_nest_part explain_part(const struct lx_plan *p, const struct lx_nest *n, int32_t tensor,
                                        const struct nest_tensor *in)
{
    struct lx_nest_part part = {.tensor = tensor, .stay = -1};
    bool copied[LX_TRANSFER_KINDS] = {false}, after = false;
    for (int32_t a = p->access_at[n->first]; a < p->access_at[n->last + 1]; a++) {
        const struct lx_access *x = &p->accesses[a];
        if (x->tensor != tensor) continue;
        if (x->stay < 0 || p->answer.address[x->stay] < 0)
            part.hbm_bytes += x->bytes;
        else if (part.stay < 0)
            part.stay = x->stay;
    }
    bool off_chip = part.hbm_bytes > 0 || part.stay < 0; /* any HBM traffic decides */
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        if (n->first > t->tick || t->tick > n->last || !lx_through_hbm(t->kind) ||
            p->stays[t->stay].tensor != tensor)
            continue;
        part.hbm_bytes += t->bytes;
        copied[t->kind] = true;
    }
    int32_t end = p->access_at[p->layouts->graph->op_count];
    for (int32_t a = p->access_at[n->last + 1]; a < end; a++) after |= p->accesses[a].tensor == tensor;
    part.use = off_chip                                     ? LX_NEST_HBM
               : in->summed                                 ? (copied[LX_LOAD] ? LX_NEST_PARTS : LX_NEST_SUM)
               : in->made && copied[LX_STORE]               ? LX_NEST_STORED
               : in->made                                   ? (after ? LX_NEST_KEPT : LX_NEST_INSIDE)
               : p->stays[part.stay].hold == n->level_count ? LX_NEST_LOADED
                                                            : LX_NEST_HELD;
    return part;
}

ORDER(nest_explain_by_use, struct lx_nest_part, ORDER_UP(use) ORDER_UP(tensor));

void lx_plan_explain_nest(const struct lx_plan *p, int32_t nest, struct lx_nest_explained *out)
{
    const struct lx_nest *n = &p->nests[nest];
    SCOPED(lx_occupancy_free) struct lx_occupancy taken = {0};
    int32_t tensors = p->layouts->graph->tensor_count;
    *out = (struct lx_nest_explained){.parts = mem_zeroed((size_t)tensors + 1, sizeof *out->parts)};
    lx_occupancy_make(p, LX_ALL_POOLS, &taken);
    for (int32_t t = 0; t < tensors; t++) {
        struct nest_tensor in = nest_tensor_of(p->layouts, n, t);
        if (in.accessed) out->parts[out->count++] = explain_part(p, n, t, &in);
    }
    qsort(out->parts, (size_t)out->count, sizeof *out->parts, nest_explain_by_use);
    for (int32_t i = 0; i < out->count; i++) out->hbm_bytes += out->parts[i].hbm_bytes;
    for (int32_t o = n->first; o <= n->last; o++) {
        out->device_us += p->traffic[o].device_us;
        out->end_to_end_us += p->traffic[o].end_to_end_us;
    }
    out->free_bytes = p->problem.capacity - lx_occupancy_most(&taken, n->first, (int64_t)n->last + 1);
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

void lx_holes_at(const struct lx_plan *p, int32_t pool, int64_t tick, int64_t address, struct lx_holes *out)
{
    int32_t reserved = p->problem.pool_count ? p->problem.pools[pool].reserved_count : 0;
    size_t room = (size_t)p->problem.count + (size_t)reserved + 1;
    OWNED struct stretch *taken = mem_alloc(room * sizeof *taken);
    /* Top: the pool's capacity; if the objective is height, the end of its highest buffer. */
    bool height = p->problem.objective == LX_HEIGHT;
    int64_t top = height ? 0 : lx_pool_capacity(&p->problem, pool), end = 0;
    for (int32_t i = 0; height && i < p->problem.count; i++)
        if (p->answer.address[i] >= 0 && lx_pool_of(p, i) == pool)
            top = max_i64(top, p->answer.address[i] + p->problem.buffers[i].size);
    *out = (struct lx_holes){.from = -1, .to = -1};
    /* Ranges in use at the tick, sorted by address. An empty buffer does not split a hole. */
    size_t k = 0;
    for (int32_t i = 0; i < reserved; i++) {
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
}
