/* Ops kept apart from what others do to the storages that they share.
 *
 * Concat, pad and slices that copy have dimensions along which operands are of different extents: what
 * others cut there may not fit them. In the round after that was found out they are kept apart by copies:
 * first operands that are cut themselves, or, if none is, the result from its readers; then all of them, and
 * nobody else's cut reaches them. */
#include "import/map/import_steps.h"

enum { APART_SOME = 1, APART_ALL = 2 };

bool import_more_apart(struct import *im, struct op_class *c)
{
    if (c->apart == APART_ALL) return false;
    c->apart++;
    im->retry = true;
    return true;
}

/* A tensor of its own, cut by its own dimensions only: a reshape has no index map that cuts would go
 * through. */
static bool set_apart(struct import *im, const struct model_op *op, struct import_value *v)
{
    struct import_value copy;
    if (!import_opaque_leaf(im, "reshape", op, *v, v->type, &copy)) return false;
    *v = copy;
    return true;
}

static bool apart_in_pieces(const struct import_value *v, unsigned dims)
{
    for (int d = 0; d < v->view.rank; d++)
        if ((dims >> d & 1) && v->view.first[d + 1] - v->view.first[d] > 1) return true;
    return false;
}

bool import_apart_operands(struct import *im, const struct model_op *op, struct import_value *v, int count,
                           unsigned dims)
{
    int how = import_class_of(im, op)->apart;
    bool some = false, ok = true;
    for (int i = 0; i < count; i++) some |= apart_in_pieces(&v[i], dims);
    im->apart_result = how == APART_ALL || (how == APART_SOME && !some);
    for (int i = 0; ok && i < count; i++)
        if (how == APART_ALL || (how == APART_SOME && apart_in_pieces(&v[i], dims)))
            ok = set_apart(im, op, &v[i]);
    return ok;
}

bool import_apart_result(struct import *im, const struct model_op *op, struct import_value *v)
{
    bool copies = im->apart_result;
    im->apart_result = false;
    return !copies || set_apart(im, op, v);
}

/* Numbers that are the same everywhere have no storage that could be cut. */
static bool apart_copy_operand(struct import *im, const struct model_op *op, int32_t value)
{
    struct import_value v = *import_leaf(im, value, 0);
    const struct model_data *known = v.known;
    double number;
    if (import_splat(&v, &number)) return true;
    if (!set_apart(im, op, &v)) return false;
    v.known = known;
    return import_bind(im, value, &v, 1);
}

/* An op without a result writes its first operand: a copy of that would be lost. */
static bool apart_is_written(const struct model_op *op, int i)
{
    return op->result_count == 0 && op->operands[i] == op->operands[0];
}

bool import_alone(struct import *im, const struct model_op *op, int32_t *was)
{
    bool ok = true;
    for (int i = 0; i < op->operand_count; i++) {
        was[i] = op->operands[i] >= 0 ? im->leaf[op->operands[i]] : -1;
        if (ok && !apart_is_written(op, i) && import_is_tensor(im, op->operands[i]))
            ok = apart_copy_operand(im, op, op->operands[i]);
    }
    return ok;
}

bool import_together(struct import *im, const struct model_op *op, const int32_t *was)
{
    bool ok = true;
    for (int i = op->operand_count - 1; i >= 0; i--)
        if (op->operands[i] >= 0 && !apart_is_written(op, i)) im->leaf[op->operands[i]] = was[i];
    for (int r = 0; ok && r < op->result_count; r++)
        if (import_is_tensor(im, op->results[r])) ok = apart_copy_operand(im, op, op->results[r]);
    return ok;
}
