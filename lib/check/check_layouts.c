/* Can the ops run with the layouts that the plan states? The device steps through sticks along one variable
 * of an op:
 *
 *   restickify     its output may have any sticks; it turns its input's
 *   contraction    of two inputs that each have, or may have, a variable of their own: the sticks of one run
 *                  along a summed variable; those of the other, the kernel, and of the output along one that
 *                  only the kernel has, or along none, where the kernel has a single column. The kernel's
 *                  rows go up to whole sticks of the other. Where the device turns what it reads, the
 *                  kernel's sticks may run along the same summed variable
 *   all others     every operand that has the variable has its sticks along it, the others have none
 *   choices        the source, and the elements taken from or put into it, have them along a variable of
 *                  both; indices have any. Where the plan states none, elements go one by one
 *   orders         any: ops that order go element by element
 *   unknown        any
 *   windows        no variable of a window
 *
 * A variable of one element needs no sticks: its operands have none. The target of an insertion may still
 * have its sticks along such a variable. */
#include "check/check.h"
#include "graph/choice.h"

enum { NO_VARIABLE = -1 };

struct sticks {
    const struct checker *c;
    const struct lx_op *op;
    struct op_index x;
    int variable; /* stated by the plan */
};

/* Do the sticks of operand i run along variable v, or along nothing with more than one element? */
static bool runs_along(const struct sticks *s, int i, int v)
{
    int32_t t = op_operand(s->op, i);
    const struct lx_layout *l = &s->c->l->layouts[t];
    int stick = l->rank > 0 ? l->stick_dim : -1;
    int wanted = v < 0 || s->x.extent[v] == 1 ? -1 : op_index_dim(&s->x, i, v);
    bool none = stick < 0 || s->c->g->tensors[t].shape[stick] == 1;
    return wanted < 0 ? none : stick == wanted;
}

/* Do only the kernel and the output have the variable? */
static bool kernel_owns(const struct op_index *x, int kernel, int v)
{
    return op_index_dim(x, kernel, v) >= 0 && op_index_dim(x, 1 - kernel, v) < 0 && !op_index_reduced(x, v);
}

static bool rows_padded(const struct sticks *s, int kernel, int k)
{
    const struct lx_layout *l = &s->c->l->layouts[s->op->inputs[kernel]];
    int64_t whole = round_up_i64(s->x.extent[k], s->c->l->layouts[s->op->inputs[1 - kernel]].stick_elements);
    int h = op_index_dim(&s->x, kernel, k);
    if (s->x.extent[k] == 1 || h == l->stick_dim) return true;
    for (int d = 0; d < l->rank - 1; d++)
        if (l->host_dim[d] == h) return l->size[d] >= whole;
    return false;
}

/* An input with a variable of several elements that the other lacks makes rows or columns. */
static bool check_layouts_has_own(const struct op_index *x, int input)
{
    for (int v = 0; v < x->var_count; v++)
        if (x->extent[v] > 1 && op_index_dim(x, input, v) >= 0 && op_index_dim(x, 1 - input, v) < 0 &&
            !op_index_slides(x, v))
            return true;
    return false;
}

static bool check_layouts_op_right(const struct sticks *s)
{
    if (!s->x.known) return s->variable == NO_VARIABLE;
    if (s->variable < NO_VARIABLE || s->variable >= s->x.var_count) return false;
    if (s->variable >= 0 && op_index_slides(&s->x, s->variable)) return false;
    if (op_is_restickify(s->op)) {
        const struct lx_layout *out = &s->c->l->layouts[s->op->output];
        return s->variable == (out->rank > 0 ? out->stick_dim : -1) || runs_along(s, 1, s->variable);
    }
    /* With sums over taps of windows only, elements are multiplied where they stand. */
    bool only_taps = s->x.window_count > 0;
    for (int v = 0; v < s->x.var_count; v++)
        only_taps &= !op_index_reduced(&s->x, v) || op_index_slides(&s->x, v);
    if ((s->op->kind->traits & LX_CONTRACTS) && s->op->reduces && !only_taps &&
        (check_layouts_has_own(&s->x, 0) || check_layouts_has_own(&s->x, 1))) {
        for (int kernel = 0; kernel < 2; kernel++) {
            /* Columns of the kernel: the stated variable; none only where there is one column. */
            bool owned = false, single = false;
            for (int v = 0; s->variable < 0 && v < s->x.var_count; v++)
                if (kernel_owns(&s->x, kernel, v)) {
                    owned = true;
                    single |= s->x.extent[v] == 1;
                }
            bool columns = s->variable < 0
                               ? single || !owned
                               : kernel_owns(&s->x, kernel, s->variable) && s->x.extent[s->variable] > 1;
            if (!columns || !runs_along(s, 2, s->variable)) continue;
            for (int k = 0; k < s->x.var_count; k++) {
                bool turned = s->c->g->device.turns && s->variable >= 0 && runs_along(s, kernel, k);
                if (op_index_reduced(&s->x, k) && !op_index_slides(&s->x, k) &&
                    (turned || runs_along(s, kernel, s->variable)) && runs_along(s, 1 - kernel, k) &&
                    rows_padded(s, kernel, k))
                    return true;
            }
        }
        return false;
    }
    if (s->op->kind->traits & LX_RANKS) return s->variable == NO_VARIABLE;
    struct lx_choice c;
    if (lx_choice_of(s->op, &c))
        return s->variable < 0 ||
               (op_index_dim(&s->x, c.operand, s->variable) >= 0 &&
                op_index_dim(&s->x, c.other, s->variable) >= 0 && runs_along(s, c.operand, s->variable) &&
                runs_along(s, c.other, s->variable));
    if (s->variable >= 0 && s->x.extent[s->variable] == 1) return false;
    /* An insertion without sticks of its own puts single elements into sticks of the target. */
    const struct lx_layout *out = &s->c->l->layouts[s->op->output];
    bool puts = op_is_insert(s->op) && s->variable < 0 && out->rank > 0 && out->stick_dim >= 0 &&
                s->x.extent[s->x.var[1][out->stick_dim]] == 1;
    for (int i = 0; i < s->x.operand_count; i++)
        if (!runs_along(s, i, s->variable) && !(puts && i == s->x.output)) return false;
    return true;
}

/* Graph inputs come with their sticks along the last dimension, as in the file. Weights may be packed. */
static bool comes_as_it_is(const struct checker *c, int32_t t)
{
    const struct lx_tensor *x = &c->g->tensors[t];
    const struct lx_layout *y = &c->l->layouts[t];
    bool packed = x->role == LX_WEIGHT && c->p->passes.weights == LX_WEIGHTS_FREE && y->stick_dim >= 0;
    return !lx_role_arrives(x->role) || y->rank == 0 || y->stick_dim == x->rank - 1 || packed;
}

bool check_layouts(const struct checker *c)
{
    for (int32_t t = 0; t < c->g->tensor_count; t++)
        if (!comes_as_it_is(c, t))
            return status_set(c->st, LX_E_NO, "tensor %s does not come with such sticks",
                              c->g->tensors[t].name);
    for (int32_t o = 0; o < c->g->op_count; o++) {
        struct sticks s = {.c = c, .op = &c->g->ops[o], .variable = c->l->stick_var[o]};
        op_index_of(c->g, s.op, &s.x);
        if (!check_layouts_op_right(&s))
            return status_set(c->st, LX_E_NO, "op %s cannot run with the layouts of its operands",
                              s.op->name);
    }
    return true;
}
