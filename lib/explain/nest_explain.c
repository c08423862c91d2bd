/* From the accesses and copies of a nest's ticks to what they mean. Some dozen tensors per nest. */
#include "explain/nest_explain.h"
#include "base/fail.h"
#include "base/memory.h"
#include "layout/op_index.h"
#include "plan/occupancy.h"

#include <stdlib.h>

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

/* What the copies of the nest's ticks move of a tensor through HBM, and of which kinds they are: a bit each. */
static int64_t nest_explain_copied(const struct lx_plan *p, const struct lx_nest *n, int32_t tensor,
                                   unsigned *kinds)
{
    int64_t bytes = 0;
    *kinds = 0;
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        if (n->first > t->tick || t->tick > n->last || !lx_through_hbm(t->kind) ||
            p->stays[t->stay].tensor != tensor)
            continue;
        bytes += t->bytes;
        *kinds |= 1u << t->kind;
    }
    return bytes;
}

/* Its accesses by ops of the nest: bytes off chip, and the first stay that serves one. */
static int64_t accessed(const struct lx_plan *p, const struct lx_nest *n, int32_t tensor, int32_t *stay)
{
    int64_t bytes = 0;
    *stay = -1;
    for (int32_t a = p->access_at[n->first]; a < p->access_at[n->last + 1]; a++) {
        const struct lx_access *x = &p->accesses[a];
        bool on_chip = x->stay >= 0 && p->answer.address[x->stay] >= 0;
        if (x->tensor != tensor) continue;
        if (!on_chip)
            bytes += x->bytes;
        else if (*stay < 0)
            *stay = x->stay;
    }
    return bytes;
}

static bool used_after(const struct lx_plan *p, const struct lx_nest *n, int32_t tensor)
{
    int32_t end = p->access_at[p->layouts->graph->op_count];
    for (int32_t a = p->access_at[n->last + 1]; a < end; a++)
        if (p->accesses[a].tensor == tensor) return true;
    return false;
}

static enum lx_nest_use use_of(const struct lx_plan *p, const struct lx_nest *n, const struct nest_tensor *t,
                               int32_t stay, unsigned kinds)
{
    bool loads = kinds & 1u << LX_LOAD, stores = kinds & 1u << LX_STORE;
    if (stay < 0) return LX_NEST_HBM;
    if (t->summed) return loads ? LX_NEST_PARTS : LX_NEST_SUM;
    if (t->made && stores) return LX_NEST_STORED;
    if (t->made) return used_after(p, n, p->stays[stay].tensor) ? LX_NEST_KEPT : LX_NEST_INSIDE;
    return p->stays[stay].hold == n->level_count ? LX_NEST_LOADED : LX_NEST_HELD;
}

static struct lx_nest_part nest_explain_part_of(const struct lx_plan *p, const struct lx_nest *n,
                                                int32_t tensor, const struct nest_tensor *t)
{
    unsigned kinds;
    int32_t stay;
    int64_t off = accessed(p, n, tensor, &stay), moved = off + nest_explain_copied(p, n, tensor, &kinds);
    struct lx_nest_part part = {.tensor = tensor, .stay = stay, .hbm_bytes = moved};
    /* Some of it on chip, some of it not: what is paid is told. */
    part.use = off > 0 ? LX_NEST_HBM : use_of(p, n, t, stay, kinds);
    return part;
}

static int nest_explain_by_use(const void *a, const void *b)
{
    const struct lx_nest_part *x = a, *y = b;
    if (x->use != y->use) return x->use < y->use ? -1 : 1;
    return (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

bool lx_plan_explain_nest(const struct lx_plan *p, int32_t nest, struct lx_nest_explained *out, lx_status *st)
{
    const struct lx_nest *n = &p->nests[nest];
    struct lx_occupancy taken = {0};
    int32_t tensors = p->layouts->graph->tensor_count;
    *out = (struct lx_nest_explained){.parts = mem_zeroed((size_t)tensors + 1, sizeof *out->parts)};
    if (!out->parts || !lx_occupancy_make(p, LX_ALL_POOLS, &taken))
        return lx_nest_explained_free(out), status_no_memory(st);
    for (int32_t t = 0; t < tensors; t++) {
        struct nest_tensor in = nest_tensor_of(p->layouts, n, t);
        if (in.accessed) out->parts[out->count++] = nest_explain_part_of(p, n, t, &in);
    }
    qsort(out->parts, (size_t)out->count, sizeof *out->parts, nest_explain_by_use);
    for (int32_t i = 0; i < out->count; i++) out->hbm_bytes += out->parts[i].hbm_bytes;
    for (int32_t o = n->first; o <= n->last; o++) {
        out->device_us += p->traffic[o].device_us;
        out->end_to_end_us += p->traffic[o].end_to_end_us;
    }
    out->free_bytes = p->problem.capacity - lx_occupancy_most(&taken, n->first, (int64_t)n->last + 1);
    lx_occupancy_free(&taken);
    return true;
}

void lx_nest_explained_free(struct lx_nest_explained *e)
{
    mem_free(e->parts);
    *e = (struct lx_nest_explained){0};
}
