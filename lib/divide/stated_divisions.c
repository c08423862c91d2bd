/* Divisions that a file states: checked, recorded, and nothing chosen. */
#include "divide/space.h"
#include "base/fail.h"

/* An op as a file states its splits; what runs off the device, or whose index map is unknown, has none. */
static bool divide_as_stated(const struct lx_layouts *l, int32_t op, int64_t cores,
                             const struct lx_coeff_splits *stated, struct lx_divisions *d, lx_status *st)
{
    int64_t splits[LX_MAX_VARS];
    struct arena scratch = {0};
    struct space s;
    struct lx_division *v = &d->at[op];
    *v = (struct lx_division){.op = op, .cores = cores, .cores_used = 1, .contiguous = -1};
    space_of_op(l, op, cores, &scratch, &s);
    bool ok = true;
    bool is_extern = l->graph->ops[op].kind->traits & LX_EXTERN;
    v->kind = is_extern ? LX_UNDIVIDED_EXTERN : s.operand_count == 0 ? LX_UNDIVIDED_OPAQUE : LX_DIVIDED;
    if (v->kind != LX_DIVIDED && stated->output_count + stated->reduction_count > 0)
        ok = status_set(st, LX_E_DOMAIN, "op %s: it cannot be divided", l->graph->ops[op].name);
    else if (v->kind != LX_DIVIDED) {
        int64_t none[LX_MAX_VARS] = {0};
        struct cost_work w = work_of(l, v, &s, none);
        struct cost_rates rates = cost_rates_of(&l->graph->device);
        v->predicted_us = cost_op(&rates, &w);
    } else
        ok = lx_division_decode(l, op, stated, splits, st) &&
             lx_division_ordered(d, op, splits, coeff_front(l, op, stated), d->memory, v, st);
    arena_free(&scratch);
    return ok;
}

struct lx_divisions *lx_divisions_stated(const struct lx_layouts *l, int64_t cores,
                                         const struct lx_nest *nests, int32_t nest_count,
                                         const struct lx_coeff_splits *splits, int32_t *wrong, lx_status *st)
{
    int32_t count = l->graph->op_count;
    *wrong = -1;
    if (!lx_cores_valid(&l->graph->device, cores, st)) return NULL;
    struct lx_divisions *d = divisions_new(l, cores);
    d->nests = nests;
    d->nest_count = nest_count;
    for (int32_t o = 0; o < count; o++)
        if (!divide_as_stated(l, o, cores, &splits[o], d, st)) {
            *wrong = o;
            lx_divisions_free(d);
            return NULL;
        }
    for (int32_t o = 0; o < count; o++) d->predicted_us += d->at[o].predicted_us;
    return d;
}
