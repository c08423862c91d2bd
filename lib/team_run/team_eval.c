/* Plain evaluation: loops over the output's variables, inside them over those that are summed away. */
#include "team_run/team_eval.h"
#include "base/checked.h"
#include "base/fail.h"
#include "layout/op_index.h"
#include "device/reference/meaning.h"

#include <string.h>

/* The loops of one evaluation. Operand i at the present indices is element at[i] of its block. */
struct loops {
    int kept, gone;       /* variables of the output (innermost last), and the others */
    int var[LX_MAX_VARS]; /* the kept ones, then the others */
    int64_t low[LX_MAX_VARS], high[LX_MAX_VARS], value[LX_MAX_VARS]; /* by variable */
    int64_t step[LX_MAX_INPUTS + 1][LX_MAX_VARS];                    /* by operand and variable */
    int64_t at[LX_MAX_INPUTS + 1];
    int operands;
};

static void set_steps(struct loops *l, const struct op_index *x, int operand, const struct team_block *b)
{
    int64_t step = 1;
    for (int k = x->rank[operand] - 1; k >= 0; k--) {
        int v = x->var[operand][k];
        bool shifted = x->shifted == operand;
        int64_t first = shifted ? x->offset[k] + x->stride[k] * l->low[v] : l->low[v];
        l->step[operand][v] += step * (shifted ? x->stride[k] : 1);
        l->at[operand] += step * (first - b->box.offset[k]);
        step *= b->box.size[k];
    }
}

static bool make_loops(struct loops *l, const struct op_index *x, const struct team_block *const *in,
                       const struct team_block *out, const struct team_region *how)
{
    bool any = true;
    int o = x->operand_count - 1;
    memset(l, 0, sizeof *l);
    l->operands = x->operand_count;
    for (int k = 0; k < x->rank[o]; k++) l->var[l->kept++] = x->var[o][k];
    for (int v = 0; v < x->var_count; v++) {
        l->high[v] = x->extent[v];
        if (v == how->var) {
            l->low[v] = how->range.begin;
            l->high[v] = how->range.end;
        }
        l->value[v] = l->low[v];
        if (op_index_reduced(x, v))
            l->var[l->kept + l->gone++] = v;
        else
            any = any && l->high[v] > l->low[v];
    }
    for (int i = 0; i < l->operands; i++) set_steps(l, x, i, i < o ? in[i] : out);
    return any;
}

/* To the next values of variables first .. last - 1 of the list;
 * false: they are through, and at the start. */
static bool next(struct loops *l, int first, int last)
{
    for (int k = last - 1; k >= first; k--) {
        int v = l->var[k];
        for (int i = 0; i < l->operands; i++) l->at[i] += l->step[i][v];
        if (++l->value[v] < l->high[v]) return true;
        for (int i = 0; i < l->operands; i++) l->at[i] -= l->step[i][v] * (l->high[v] - l->low[v]);
        l->value[v] = l->low[v];
    }
    return false;
}

struct reading {
    const struct team_block *const *in;
    int inputs;
    const struct lx_op *op;
    bool zero_outside; /* a shift */
    const struct op_index *x;
};

static double element(const struct reading *r, const struct loops *l, double (*f)(const double *))
{
    double v[LX_MAX_INPUTS + 1];
    for (int k = 0; r->zero_outside && k < r->x->rank[0]; k++) {
        int64_t index = l->value[r->x->var[0][k]] + r->x->offset[k];
        if (index < 0 || index >= r->x->extent[k]) return 0;
    }
    for (int i = 0; i < r->inputs; i++) v[i] = r->in[i]->at[l->at[i]];
    v[r->inputs] = r->op->value;
    return f(v);
}

/* The innermost of the variables that go, from its low to its high value. Products and sums, which are nearly
 * all of the work, have loops of their own; the order is the same. */
static double reduced_run(const struct reading *r, struct loops *l, const struct meaning_fold *fold,
                          double sum)
{
    int v = l->var[l->kept + l->gone - 1];
    int64_t n = l->high[v] - l->low[v];
    const double *a = r->in[0]->at + l->at[0];
    int64_t step = l->step[0][v];
    if (r->inputs == 1 && fold->adds) {
        for (int64_t i = 0; i < n; i++) sum += a[i * step];
    } else if (r->inputs == 1) {
        for (int64_t i = 0; i < n; i++) sum = fold->in_double((double[]){sum, a[i * step]});
    } else {
        const double *b = r->in[1]->at + l->at[1];
        int64_t other = l->step[1][v];
        for (int64_t i = 0; i < n; i++) sum += a[i * step] * b[i * other];
    }
    return sum;
}

static double reduced(const struct reading *r, struct loops *l, const struct meaning_fold *fold)
{
    double sum = fold->start;
    for (int k = 0; k < l->gone; k++)
        if (l->high[l->var[l->kept + k]] <= l->low[l->var[l->kept + k]]) return sum;
    do sum = reduced_run(r, l, fold, sum);
    while (next(l, l->kept, l->kept + l->gone - 1));
    return sum;
}

/* A fault of the plan must not become one of memory. */
static bool within(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                   const struct team_block *const *in, const struct team_block *out,
                   const struct team_region *how, lx_status *st)
{
    int o = x->operand_count - 1;
    for (int i = 0; i < o; i++) {
        struct lx_team_box need = lx_team_need(g, op, i, how->var, how->range);
        if (!lx_team_box_empty(&need) && (!in[i]->at || !lx_team_box_within(&need, &in[i]->box)))
            return status_set(st, LX_E_INTERNAL, "op %s reads more of %s than is there", op->name,
                              g->tensors[op->inputs[i]].name);
    }
    for (int k = 0; k < x->rank[o]; k++) {
        int v = x->var[o][k];
        struct lx_team_range r = v == how->var ? how->range : (struct lx_team_range){0, x->extent[v]};
        if (x->shifted == o)
            r = (struct lx_team_range){x->offset[k] + x->stride[k] * r.begin,
                                       x->offset[k] + x->stride[k] * (r.end - 1) + 1};
        if (r.begin < out->box.offset[k] || r.end > out->box.offset[k] + out->box.size[k])
            return status_set(st, LX_E_INTERNAL, "op %s writes outside of what is owned", op->name);
    }
    return true;
}

double team_divisor(const struct lx_graph *g, const struct lx_op *op)
{
    struct op_index x;
    double count = 1;
    if (!meaning_of(op->kind)->fold->divides) return count;
    op_index_of(g, op, &x);
    for (int v = 0; v < x.var_count; v++)
        if (op_index_reduced(&x, v)) count *= (double)x.extent[v];
    return count;
}

bool team_eval(const struct lx_graph *g, const struct lx_op *op, const struct team_block *const *in,
               struct team_block *out, const struct team_region *how, lx_status *st)
{
    struct op_index x;
    struct loops l;
    const struct meaning *m = meaning_of(op->kind);
    op_index_of(g, op, &x);
    if (!m || !x.known)
        return status_set_at(st, LX_E_UNSUPPORTED, g->file, op->line, 0,
                             "op %s (%s): what it computes is not known, so it cannot be run", op->name,
                             op->kind->name);
    if (how->var >= 0 && how->range.end <= how->range.begin && !op_index_reduced(&x, how->var)) return true;
    if (!within(g, op, &x, in, out, how, st)) return false;
    if (!make_loops(&l, &x, in, out, how)) return true;
    struct reading r = {in, op->input_count, op, op->kind->id == LX_KIND_SHIFT, &x};
    bool reduces = op->map && op->reduces;
    double divisor = reduces && !how->partial ? team_divisor(g, op) : 1;
    do {
        double v = reduces ? reduced(&r, &l, m->fold) : element(&r, &l, m->in_double);
        v /= divisor;
        out->at[l.at[x.operand_count - 1]] = how->fp32 ? (double)(float)v : v;
    } while (next(&l, 0, l.kept));
    return true;
}
