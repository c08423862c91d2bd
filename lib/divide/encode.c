/* Splits that survive renaming. The key of a variable is its step in memory: in the write index for output
 * variables, in the first read index for the others. Variables of more than one value have different keys,
 * because a step of one dimension exceeds all of the next. */
#include "divide/space.h"

static int64_t encode_stored(const struct lx_coeff_split *list, int count, int64_t coefficient, int *found)
{
    for (int i = 0; i < count; i++)
        if (list[i].coefficient == coefficient) {
            ++*found;
            return list[i].split;
        }
    return 1;
}

void coeff_encode(const struct coeff_var *vars, int count, struct lx_coeff_splits *out)
{
    *out = (struct lx_coeff_splits){0};
    for (int i = 0; i < count; i++) {
        const struct coeff_var *v = &vars[i];
        if (v->split <= 1 || v->range == 1) continue;
        if (v->write != 0 && out->output_count < LX_MAX_RANK)
            out->output[out->output_count++] = (struct lx_coeff_split){v->write, v->split};
        else if (v->write == 0 && v->read != 0 && out->reduction_count < LX_MAX_RANK)
            out->reduction[out->reduction_count++] = (struct lx_coeff_split){v->read, v->split};
    }
}

int coeff_decode(const struct lx_coeff_splits *from, struct coeff_var *vars, int count)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        struct coeff_var *v = &vars[i];
        if (v->range == 1)
            v->split = 1;
        else if (v->write != 0)
            v->split = encode_stored(from->output, from->output_count, v->write, &found);
        else
            v->split = encode_stored(from->reduction, from->reduction_count, v->read, &found);
    }
    return found;
}

/* Host stride of the dimension that `v` indexes in an operand; 0: none. */
static int64_t coefficient_of(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                              int operand, int v)
{
    int d = op_index_dim(x, operand, v);
    if (d < 0) return 0;
    const struct lx_tensor *t = &g->tensors[op_operand(op, operand)];
    int64_t stride = op_index_stride(x, operand, d);
    for (int e = d + 1; e < t->rank; e++) stride *= t->shape[e];
    return stride;
}

/* Fills `vars` in iteration order. Returns their number; -1: the index map is unknown. */
static int encode_gather(const struct lx_graph *g, int32_t op_number, struct coeff_var *vars)
{
    const struct lx_op *op = &g->ops[op_number];
    struct op_index x;
    op_index_of(g, op, &x);
    if (!x.known) return -1;
    int n = 0, out = x.output, order[LX_MAX_VARS];
    for (int d = 0; d < x.rank[out]; d++) order[n++] = x.var[out][d];
    for (int v = 0; v < x.var_count; v++)
        if (op_index_reduced(&x, v)) order[n++] = v;
    for (int i = 0; i < n; i++) {
        vars[i] = (struct coeff_var){
            .range = x.extent[order[i]], .write = coefficient_of(g, op, &x, out, order[i]), .split = 1};
        vars[i].read = coefficient_of(g, op, &x, 0, order[i]);
    }
    return n;
}

bool lx_division_encode(const struct lx_layouts *l, int32_t op, const int64_t *splits,
                        struct lx_coeff_splits *out)
{
    struct coeff_var vars[LX_MAX_VARS];
    int n = encode_gather(l->graph, op, vars);
    for (int i = 0; i < n; i++) vars[i].split = splits[i];
    coeff_encode(vars, n, out);
    return n >= 0;
}

bool lx_division_state(const struct lx_layouts *l, const struct lx_division *v, struct lx_coeff_splits *out)
{
    struct coeff_var vars[LX_MAX_VARS];
    int front = lx_division_front(v), n = encode_gather(l->graph, v->op, vars);
    for (int i = 0; i < n; i++) vars[i].split = v->splits[i].split;
    coeff_encode(vars, n, out);
    if (n > 0 && front >= 0) out->front = vars[front].write;
    return n >= 0;
}

bool lx_division_decode(const struct lx_layouts *l, int32_t op, const struct lx_coeff_splits *from,
                        int64_t *splits, lx_status *st)
{
    struct coeff_var vars[LX_MAX_VARS];
    int n = encode_gather(l->graph, op, vars);
    bool all = coeff_decode(from, vars, n) == from->output_count + from->reduction_count;
    for (int i = 0; i < n; i++) splits[i] = vars[i].split;
    if (all) return true;
    const struct lx_op *o = &l->graph->ops[op];
    return status_set_at(st, LX_E_DOMAIN, l->graph->file, o->line, 1,
                         "op %s: a stored split has a coefficient that none of its variables has; the splits "
                         "are those of another op or of another shape, divide it again",
                         o->name);
}

/* --- Divisions from a file: checked and recorded, nothing is chosen. --- */

/* Divides one op by the splits of a file. Ops on the host and ops with an unknown index map have none. */
static bool divide_as_stated(const struct lx_layouts *l, int32_t op, int64_t cores,
                             const struct lx_coeff_splits *stated, struct lx_divisions *d, lx_status *st)
{
    int64_t splits[LX_MAX_VARS];
    SCOPED(arena_free) struct arena scratch = {0};
    struct space s;
    struct lx_division *v = &d->at[op];
    *v = (struct lx_division){.op = op, .cores = cores, .cores_used = 1, .contiguous = -1};
    space_of_op(l, op, cores, NULL, &scratch, &s);
    bool ok = true, is_extern = l->graph->ops[op].kind->traits & LX_EXTERN;
    v->kind = is_extern ? LX_UNDIVIDED_EXTERN : s.operand_count == 0 ? LX_UNDIVIDED_OPAQUE : LX_DIVIDED;
    if (v->kind != LX_DIVIDED && stated->output_count + stated->reduction_count > 0)
        ok = status_set(st, LX_E_DOMAIN, "op %s: it cannot be divided", l->graph->ops[op].name);
    else if (v->kind != LX_DIVIDED) {
        int64_t none[LX_MAX_VARS] = {0};
        struct cost_work w = work_of(l, v, &s, none);
        struct cost_rates rates = cost_rates_of(&l->graph->device);
        v->predicted_us = cost_op(&rates, &w);
    } else {
        struct coeff_var vars[LX_MAX_VARS];
        int n = stated->front ? encode_gather(l->graph, op, vars) : 0, front = 0;
        while (front < n && (vars[front].range == 1 || vars[front].write != stated->front)) front++;
        if (front == n)
            front = stated->front ? LX_MAX_VARS : -1; /* LX_MAX_VARS: no variable has that coefficient */
        ok = lx_division_decode(l, op, stated, splits, st) &&
             lx_division_ordered(d, op, splits, front, d->memory, v, st);
    }
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
