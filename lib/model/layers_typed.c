/* Ops of TTIR on tensors whose type says what their numbers stand for (!quant.uniform): scales and zero points out of the
 * types become constants. `quantize`, `dequantize` and `requantize` are the steps in between; other ops work on what the
 * numbers stand for and give numbers again. What only moves numbers moves them as they are, and so do ops whose scales
 * are operands. */
#include "model/layers_typed.h"

#include <math.h>
#include <string.h>

enum { MOST_OPERANDS = 64 };

/* Blocks: [n0, 1, n1, 1, ..], each repeated as often as its block is long. */
static int32_t over_blocks(struct layer *l, const struct model_quant *q, const struct model_type *t,
                           const double *numbers)
{
    int64_t few[MODEL_MAX_RANK], open[MODEL_MAX_RANK], full[MODEL_MAX_RANK], count = 1;
    if (t->count > MODEL_MAX_RANK / 2) return layer_fail(l), -1;
    for (int d = 0; d < t->count; d++) {
        int64_t block = t->extent[d];
        for (int i = 0; i < q->axis_count; i++)
            if (q->axis[i] == d) block = q->block[i];
        if (block < 1 || t->extent[d] % block != 0) return layer_fail(l), -1;
        few[d] = open[2 * d] = full[2 * d] = t->extent[d] / block;
        open[2 * d + 1] = 1;
        full[2 * d + 1] = block;
        if (few[d] > MODEL_MAX_KNOWN || (count *= few[d]) > MODEL_MAX_KNOWN) return layer_fail(l), -1;
    }
    if (count != q->count) return layer_fail(l), -1;
    int32_t y = layer_reals(l, q->stands_for, t->count, few, numbers);
    y = layer_expand_to(l, layer_reshape(l, y, 2 * t->count, open), 2 * t->count, full);
    return layer_reshape(l, y, t->count, t->extent);
}

/* Scales, or zero points, ready to be combined with a tensor of that type. */
static int32_t spread(struct layer *l, const struct model_quant *q, const struct model_type *t,
                      const double *numbers)
{
    int axis = q->axis[0];
    if (q->count == 1) return layer_number(l, q->stands_for, numbers[0]);
    bool channels = q->axis_count == 1 && axis < t->count && q->block[0] == 1 && t->extent[axis] == q->count;
    if (!channels || q->count > MODEL_MAX_KNOWN) return over_blocks(l, q, t, numbers);
    int32_t vector = layer_reals(l, q->stands_for, 1, (int64_t[]){q->count}, numbers);
    return layer_channels(l, vector, t->count, axis);
}

static int32_t zeros_of(struct layer *l, const struct model_quant *q, const struct model_type *t)
{
    double zero[MODEL_MAX_KNOWN];
    bool any = false;
    if (q->count > MODEL_MAX_KNOWN) return layer_fail(l), -1;
    for (int i = 0; i < q->count; i++) {
        zero[i] = (double)q->zero[i];
        any |= q->zero[i] != 0;
    }
    return any ? spread(l, q, t, zero) : -1;
}

/* (number - zero) * scale */
static int32_t meant(struct layer *l, int32_t x)
{
    const struct model_type *t = layer_type(l, x);
    const struct model_quant *q = t->quant;
    if (!q) return x;
    if (q->count == 0) return layer_fail(l), -1;
    int32_t zero = zeros_of(l, q, t), y = layer_cast(l, x, q->stands_for);
    if (zero >= 0) y = layer_two(l, "Sub", y, zero);
    return layer_two(l, "Mul", y, spread(l, q, t, q->scale));
}

/* clamp(round(x / scale) + zero), for result `r` of the op. */
static void stored(struct layer *l, int r, int32_t x)
{
    const struct model_type *t = model_type_of(l->m, l->op->results[r]);
    const struct model_quant *q = t->quant;
    if (!q) {
        layer_result(l, r, x);
        return;
    }
    if (q->count == 0) {
        layer_fail(l);
        return;
    }
    int32_t y = layer_two(l, "Div", layer_cast(l, x, q->stands_for), spread(l, q, t, q->scale));
    if (model_element_row(t->element)->number != MODEL_FLOAT) y = layer_one(l, "Round", y);
    int32_t zero = zeros_of(l, q, t);
    if (zero >= 0) y = layer_two(l, "Add", y, zero);
    if (isfinite(q->low)) y = layer_by(l, "Min", layer_by(l, "Max", y, q->low), q->high);
    layer_result(l, r, y);
}

static void changed(struct layer *l)
{
    if (l->op->operand_count != 1 || l->op->result_count != 1) {
        layer_fail(l);
        return;
    }
    stored(l, 0, meant(l, layer_in(l, 0)));
}

/* The op itself, on what its operands stand for. */
static void wrapped(struct layer *l)
{
    struct model_op like = *l->op;
    int32_t operands[MOST_OPERANDS];
    int count = l->op->operand_count;
    if (count > MOST_OPERANDS || l->op->result_count != 1 || l->op->body_count > 0) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < count; i++) operands[i] = layer_in(l, i) < 0 ? -1 : meant(l, layer_in(l, i));
    const struct model_type *y = model_type_of(l->m, l->op->results[0]);
    enum model_element e = y->quant ? y->quant->stands_for : y->element;
    like.native = true;
    if (!l->ok) return;
    stored(l, 0, layer_like(l, &like, count, operands, model_type_make(l->m, e, y->count, y->extent, l->st)));
}

static bool listed(const char *const *words, const char *kind)
{
    while (*words && strcmp(*words, kind) != 0) words++;
    return *words != NULL;
}

/* Every tensor of the op stands for numbers in the same way: one scale and zero point for all. */
static bool alike(const struct lx_model *m, const struct model_op *op)
{
    const struct model_quant *first = NULL;
    bool same = true;
    for (int i = 0; same && i < op->operand_count + op->result_count; i++) {
        int32_t v = i < op->operand_count ? op->operands[i] : op->results[i - op->operand_count];
        const struct model_quant *q = v < 0 ? NULL : model_type_of(m, v)->quant;
        if (!first) first = q;
        same =
            v < 0 || (q && q->count == 1 && q->scale[0] == first->scale[0] && q->zero[0] == first->zero[0]);
    }
    return same;
}

bool layer_is_typed(const struct lx_model *m, const struct model_op *op)
{
    bool any = false;
    for (int i = 0; !any && i < op->operand_count; i++)
        any = op->operands[i] >= 0 && model_type_of(m, op->operands[i])->quant;
    for (int i = 0; !any && i < op->result_count; i++)
        any = op->results[i] >= 0 && model_type_of(m, op->results[i])->quant;
    return any;
}

layer_expand *layer_typed(const struct lx_model *m, const struct model_op *op)
{
    static const char *const steps[] = {"quantize", "dequantize", "requantize", "typecast", NULL};
    /* One operand, or scales beside it: numbers stay as they are, wherever they go. */
    static const char *const moves[] = {"reshape",
                                        "permute",
                                        "transpose",
                                        "squeeze",
                                        "unsqueeze",
                                        "broadcast",
                                        "repeat",
                                        "repeat_interleave",
                                        "index",
                                        "slice_static",
                                        "slice",
                                        "reverse",
                                        "constant",
                                        "quantize_unrolled",
                                        "dequantize_unrolled",
                                        "requantize_unrolled",
                                        "empty",
                                        "to_layout",
                                        "mesh_shard",
                                        "mesh_partition",
                                        "call",
                                        "all_gather",
                                        "collective_permute",
                                        "all_to_all",
                                        NULL};
    static const char *const joins[] = {"concat", "max_pool2d", "maximum", "minimum",
                                        "max",    "min",        "sort",    NULL};
    if (listed(steps, op->kind)) return changed;
    if (listed(moves, op->kind) || (listed(joins, op->kind) && alike(m, op))) return NULL;
    return wrapped;
}
