/* Nodes of ONNX that take sequences apart and put them together, once they read and make the members themselves
 * (onnx_shape_sequences.c). */
#include "model/layers.h"

/* One of them, or a number and all of them. */
static void member(struct layer *l)
{
    int count = l->op->operand_count - 1;
    if (count < 1) {
        layer_result(l, 0, layer_one(l, "Identity", layer_in(l, 0)));
        return;
    }
    int64_t extent[MODEL_MAX_RANK] = {1};
    const struct model_type *t = layer_type(l, layer_in(l, 1));
    int32_t *parts = arena_array(&l->m->memory, (size_t)count, sizeof *parts);
    if (!parts || t->count + 1 > MODEL_MAX_RANK) {
        layer_fail(l);
        return;
    }
    for (int d = 0; d < t->count; d++) extent[d + 1] = t->extent[d];
    for (int i = 0; i < count; i++) parts[i] = layer_reshape(l, layer_in(l, i + 1), t->count + 1, extent);
    int32_t at = layer_reshape(l, layer_in(l, 0), 0, NULL);
    layer_result(l, 0, layer_two(l, "Gather", layer_concat(l, 0, count, parts), at));
}

/* The body once a member. */
static void map(struct layer *l)
{
    const struct model_body *b = l->op->body_count == 1 ? &l->m->bodies.at[l->op->bodies[0]] : NULL;
    int in = b ? b->argument_count : 0, out = b ? b->result_count : 0;
    int32_t *results = arena_array(&l->m->memory, (size_t)out + 1, sizeof *results);
    if (in < 1 || out < 1 || !results || l->op->operand_count % in != 0 ||
        l->op->operand_count / in != l->op->result_count / out) {
        layer_fail(l);
        return;
    }
    for (int i = 0; l->ok && i < l->op->operand_count / in; i++) {
        if (!layer_call(l, l->op->bodies[0], in, l->op->operands + i * in, results)) return;
        for (int r = 0; r < out; r++) layer_result(l, i * out + r, results[r]);
    }
}

static int axis_of(const struct layer *l, int rank)
{
    int64_t axis = layer_int(l, "axis", 0);
    if (axis < 0) axis += rank;
    return axis < 0 || axis >= rank ? -1 : (int)axis;
}

/* Each its own part of a dimension, which goes where it is of one element and not kept: results have their own shapes. */
static void split(struct layer *l)
{
    const struct model_type *t = layer_type(l, layer_in(l, 0));
    int axis = axis_of(l, t->count);
    int64_t from = 0;
    if (axis < 0) layer_fail(l);
    for (int r = 0; l->ok && r < l->op->result_count; r++) {
        const struct model_type *y = l->op->results[r] < 0 ? NULL : model_type_of(l->m, l->op->results[r]);
        int64_t size = !y || y->count < t->count ? 1 : y->extent[axis];
        if (y) layer_result(l, r, layer_slice(l, layer_in(l, 0), axis, from, from + size));
        from += size;
    }
}

static void join(struct layer *l)
{
    const struct model_type *y = model_type_of(l->m, l->op->results[0]);
    int axis = axis_of(l, y->count), count = l->op->operand_count;
    int64_t extent[MODEL_MAX_RANK];
    int32_t *parts = arena_copy_array(&l->m->memory, l->op->operands, (size_t)count, sizeof *parts);
    if (axis < 0 || !parts || count < 1) {
        layer_fail(l);
        return;
    }
    for (int d = 0; d < y->count; d++) extent[d] = d == axis ? 1 : y->extent[d];
    for (int i = 0; i < count && layer_int(l, "new_axis", 0); i++)
        parts[i] = layer_reshape(l, parts[i], y->count, extent);
    layer_result(l, 0, count == 1 ? layer_one(l, "Identity", parts[0]) : layer_concat(l, axis, count, parts));
}

/* clang-format off */
const struct layer_row layers_sequences[] = {
    {{NULL, NULL, "SequenceAt"}, member},
    {{NULL, NULL, "SequenceMap"}, map},
    {{NULL, NULL, "Optional"}, member},
    {{NULL, NULL, "OptionalGetElement"}, member},
    {{NULL, NULL, "SplitToSequence"}, split},
    {{NULL, NULL, "ConcatFromSequence"}, join},
    {{NULL}, NULL},
};
/* clang-format on */
