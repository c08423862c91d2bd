/* Sums that are read before they are complete: what each tensor of a run stands for, op by op.
 *
 * The logarithm of a sum of powers over levels of the nest is *running*: it is that of the tiles so far.
 * Only scores less such a logarithm of themselves may be made of it; of these only powers, the weights of a
 * tile among the tiles so far; of the weights only blends over the same levels, which make up for what comes
 * later; and copies of all these. Nobody outside the run may see differences or weights: they are of no use
 * without the loops. Every other sum over levels is read by nobody in the run. */
#include "check/check.h"
#include "base/fail.h"

enum meaning { COMPLETE, PARTIAL, RUNNING, DIFFERENCE, WEIGHT };

struct label {
    enum meaning is;
    unsigned levels; /* over which it runs */
    int32_t scores;  /* that it is of */
};

struct labels {
    const struct checker *c;
    const struct lx_nest *n;
    struct label *of; /* per tensor */
    int32_t *source;  /* per tensor: what it is a copy of, with other sticks */
};

static bool check_running_refuse(const struct labels *b, int32_t op, const char *why)
{
    return status_set(b->c->st, LX_E_NO, "op %s cannot be in its nest: %s", b->c->g->ops[op].name, why);
}

/* What an op makes of an input that is not complete; false: it may not read that. */
static bool check_running_derive(const struct labels *b, const struct lx_op *op, int operand, unsigned sums,
                                 struct label *out)
{
    const struct label *in = &b->of[op->inputs[operand]];
    bool difference = op->kind->id == LX_KIND_SUB && operand == 1 && op->input_count == 2;
    *out = *in;
    switch (in->is) {
    case RUNNING:
        out->is = DIFFERENCE;
        return difference && b->source[op->inputs[0]] == in->scores;
    case DIFFERENCE:
        out->is = op_is_restickify(op) ? DIFFERENCE : WEIGHT;
        return op_is_restickify(op) || op->kind->id == LX_KIND_EXP;
    case WEIGHT:
        if (op_is_restickify(op)) return true;
        *out = (struct label){.is = PARTIAL, .levels = sums};
        return op->kind->id == LX_KIND_BLEND && operand == 0 && sums == in->levels;
    case COMPLETE:
    case PARTIAL:
        break;
    }
    return false;
}

static bool check_running_take_op(const struct labels *b, int32_t o)
{
    const struct lx_op *op = &b->c->g->ops[o];
    unsigned sums = b->c->looped[b->c->p->access_at[o] + b->c->g->ops[o].input_count].summed;
    struct label made = {.is = sums ? PARTIAL : COMPLETE, .levels = sums};
    bool weighted = false;
    if (sums && op->kind->id == LX_KIND_LOGSUMEXP)
        made = (struct label){RUNNING, sums, b->source[op->inputs[0]]};
    for (int i = 0; i < op->input_count; i++) {
        if (b->of[op->inputs[i]].is == COMPLETE) continue;
        if (!check_running_derive(b, op, i, sums, &made))
            return check_running_refuse(b, o,
                                        "it reads a sum that is complete only when the loops have ended");
        weighted |= b->of[op->inputs[i]].is == WEIGHT;
    }
    if (sums && op->kind->id == LX_KIND_BLEND && !weighted)
        return check_running_refuse(b, o, "it blends with weights that do not run along with its sum");
    for (int i = op->input_count; i < op_operand_count(op); i++) b->of[op_operand(op, i)] = made;
    if (op_is_restickify(op)) b->source[op->output] = b->source[op->inputs[0]];
    return true;
}

static bool check_running_is_inner(const struct label *l)
{
    return l->is == DIFFERENCE || l->is == WEIGHT;
}

/* Differences and weights stay in the run. */
static bool stays_inside(const struct labels *b)
{
    const struct lx_graph *g = b->c->g;
    for (int32_t o = 0; o < g->op_count; o++) {
        bool inside = b->n->first <= o && o <= b->n->last;
        for (int i = 0; i < g->ops[o].output_count && inside; i++)
            if (check_running_is_inner(&b->of[g->ops[o].outputs[i]]) &&
                g->tensors[g->ops[o].outputs[i]].role != LX_INTERMEDIATE)
                return check_running_refuse(
                    b, o, "its output is complete only when the loops have ended, and wanted as it is");
        for (int i = 0; i < g->ops[o].input_count && !inside; i++)
            if (check_running_is_inner(&b->of[g->ops[o].inputs[i]]))
                return status_set(b->c->st, LX_E_NO,
                                  "op %s reads %s, which is right in the loops of a nest only",
                                  g->ops[o].name, g->tensors[g->ops[o].inputs[i]].name);
    }
    return true;
}

bool check_running(const struct checker *c, const struct lx_nest *n)
{
    size_t tensors = (size_t)c->g->tensor_count;
    struct labels b = {.c = c,
                       .n = n,
                       .of = arena_array(c->memory, tensors, sizeof *b.of),
                       .source = arena_array(c->memory, tensors, sizeof *b.source)};
    const struct lx_graph *g = b.c->g;
    for (int32_t t = 0; t < g->tensor_count; t++) b.source[t] = t;
    for (int32_t o = 0; o < b.n->first; o++)
        if (op_is_restickify(&g->ops[o])) b.source[g->ops[o].output] = b.source[g->ops[o].inputs[0]];
    for (int32_t o = n->first; o <= n->last; o++)
        if (!check_running_take_op(&b, o)) return false;
    return stays_inside(&b);
}
