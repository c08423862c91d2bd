/* Does every op of the running graph compute the same as the pattern's op? Both are walked in their own
 * order; a tensor's value is identified by the pattern's op that wrote it. Restickifies pass values on. This
 * finds an order that changes an op's inputs, a swapped operand, and a missing op. */
#include "check/check.h"
#include "graph/online.h"

enum { NEVER_WRITTEN = -1 };

struct values {
    const struct lx_graph *pattern;
    const struct lx_layouts *l;
    int32_t *writer; /* per tensor of the running graph: the pattern's op whose value it has */
    int32_t
        *before; /* per operand of the pattern's ops, from first[op] on: the op whose value it has before */
    int32_t *first;
    int32_t *last; /* per pattern tensor: the last op that writes it */
    bool *done;    /* per pattern op */
    lx_status *st;
};

static void check_values_begin(struct values *v)
{
    const struct lx_graph *g = v->pattern;
    size_t operands = 0;
    for (int32_t o = 0; o < g->op_count; o++) operands += (size_t)op_operand_count(&g->ops[o]);
    v->writer = mem_alloc(((size_t)v->l->graph->tensor_count + 1) * sizeof *v->writer);
    v->before = mem_alloc((operands + 1) * sizeof *v->before);
    v->first = mem_alloc(((size_t)g->op_count + 1) * sizeof *v->first);
    v->last = mem_alloc(((size_t)g->tensor_count + 1) * sizeof *v->last);
    v->done = mem_zeroed((size_t)g->op_count + 1, sizeof *v->done);
    for (int32_t t = 0; t < v->l->graph->tensor_count; t++) v->writer[t] = NEVER_WRITTEN;
    for (int32_t t = 0; t < g->tensor_count; t++) v->last[t] = NEVER_WRITTEN;
    int32_t n = 0;
    for (int32_t o = 0; o < g->op_count; o++) {
        v->first[o] = n;
        for (int i = 0; i < op_operand_count(&g->ops[o]); i++)
            v->before[n++] = v->last[op_operand(&g->ops[o], i)];
        for (int i = 0; i < g->ops[o].output_count; i++) v->last[g->ops[o].outputs[i]] = o;
    }
}

/* The output counts as read where the op keeps elements that it does not write. */
static bool run_op(const struct values *v, const struct lx_op *op, int32_t origin)
{
    const struct lx_op *old = &v->pattern->ops[origin];
    if (v->done[origin]) return status_set(v->st, LX_E_NO, "op %s runs twice", op->name);
    v->done[origin] = true;
    for (int i = 0; i < op_operand_count(op); i++) {
        /* Some of several results may not be made: the pattern's operand is the result with the same
         * tensor. */
        int32_t tensor = op_operand(op, i);
        int made = op_operand_made(old, v->l->origin[tensor]);
        bool several = i >= op->input_count && op_operand_count(old) > old->input_count + 1;
        int32_t wanted = op_operand(old, several && made >= 0 ? made : i);
        const char *name = v->pattern->tensors[wanted].name;
        if (v->l->origin[tensor] != wanted)
            return status_set(v->st, LX_E_NO, "op %s has another tensor than %s as operand %d", op->name,
                              name, i);
        if ((i < op->input_count || op_keeps_rest(op)) &&
            v->writer[tensor] != v->before[v->first[origin] + i])
            return status_set(v->st, LX_E_NO,
                              "op %s would read a value of %s that is not the one of the pattern", op->name,
                              name);
    }
    for (int i = op->input_count; i < op_operand_count(op); i++) v->writer[op_operand(op, i)] = origin;
    return true;
}

/* Outputs of the graph and extern ops must have been computed. */
static bool check_values_all_there(const struct values *v)
{
    const struct lx_graph *g = v->l->graph;
    for (int32_t o = 0; o < v->pattern->op_count; o++)
        if ((v->pattern->ops[o].kind->traits & LX_EXTERN) && !v->done[o])
            return status_set(v->st, LX_E_NO, "op %s of the pattern does not run", v->pattern->ops[o].name);
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (lx_role_leaves(g->tensors[t].role) && v->writer[t] != v->last[v->l->origin[t]])
            return status_set(v->st, LX_E_NO, "output %s does not end with the value of the pattern",
                              g->tensors[t].name);
    for (int32_t t = 0, outputs = 0; t < v->pattern->tensor_count; t++) {
        if (!lx_role_leaves(v->pattern->tensors[t].role)) continue;
        outputs = 0;
        for (int32_t r = 0; r < g->tensor_count; r++)
            outputs += v->l->origin[r] == t && lx_role_leaves(g->tensors[r].role);
        if (outputs != 1)
            return status_set(v->st, LX_E_NO, "output %s of the pattern is not computed",
                              v->pattern->tensors[t].name);
    }
    return true;
}

bool check_values(const struct checker *c)
{
    const struct lx_layouts *l = c->l;
    struct values v = {.pattern = c->p->graph, .l = l, .st = c->st};
    bool ok = true;
    check_values_begin(&v);
    for (int32_t o = 0; ok && o < l->graph->op_count; o++) {
        const struct lx_op *op = &l->graph->ops[o];
        if (l->op_origin[o] >= 0)
            ok = run_op(&v, op, l->op_origin[o]);
        else if (l->origin[op->inputs[0]] == l->origin[op->output])
            v.writer[op->output] = v.writer[op->inputs[0]];
        else
            ok = status_set(v.st, LX_E_NO, "op %s does not copy the tensor that its output stands for",
                            op->name);
    }
    ok = ok && check_values_all_there(&v);
    mem_free(v.writer);
    mem_free(v.before);
    mem_free(v.first);
    mem_free(v.last);
    mem_free(v.done);
    return ok;
}

bool check_origin(const struct checker *c)
{
    const struct lx_graph *g = c->p->graph, *again = NULL;
    if (!g->came_from) return true;
    SCOPED(graph_free_at) const struct lx_graph *origin = lx_graph_with_device(g->came_from, &g->device);
    bool ok = graph_online(origin, &again, c->st), same = again && again->hash == g->hash;
    lx_graph_free(again);
    if (!ok || same) return ok;
    return status_set(c->st, LX_E_NO, "the pattern is not what running sums make of the one it came from");
}
