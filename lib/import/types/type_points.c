/* Rules of result types: element by element, reductions, tuples and calls. */
#include "import/facts.h"
#include "import/types/typing.h"

#include <string.h>

enum typed type_of_same(struct typing *t)
{
    return typing_like(t, t->in[0]);
}

/* Right-aligned, extents of 1 repeated. HLO: equal shapes, or a number instead of a tensor in select and
 * clamp. ONNX below 7: the first operand has the shape. */
enum typed type_of_broadcast(struct typing *t)
{
    bool hlo = t->dialect == MODEL_HLO,
         numbers = strcmp(t->op->kind, "select") == 0 || strcmp(t->op->kind, "clamp") == 0;
    if (t->dialect == MODEL_ONNX && t->opset < 7 && !strchr(t->op->kind, ':'))
        return typing_like(t, t->in[0]);
    for (int i = 0; i < t->op->operand_count; i++) {
        const struct model_type *x = model_type_of(t->m, t->op->operands[i]);
        size_t size = (size_t)x->count * sizeof *x->extent;
        if (hlo && numbers && x->count == 0) continue;
        if (hlo && t->rank == 0 && (i == 0 || numbers))
            typing_like(t, x);
        else if (hlo ? x->count != t->rank || (size && memcmp(x->extent, t->want, size) != 0)
                     : !typing_spread(t, x->count, x->extent))
            return TYPE_WRONG;
    }
    return TYPED;
}

enum typed type_of_cast(struct typing *t)
{
    static const struct {
        const char *word;
        enum model_element element;
    } words[] = {{"FLOAT", MODEL_F32},  {"DOUBLE", MODEL_F64}, {"FLOAT16", MODEL_F16}, {"BOOL", MODEL_BOOL},
                 {"INT64", MODEL_I64},  {"INT32", MODEL_I32},  {"INT16", MODEL_I16},   {"INT8", MODEL_I8},
                 {"UINT64", MODEL_U64}, {"UINT32", MODEL_U32}, {"UINT16", MODEL_U16},  {"UINT8", MODEL_U8}};
    const char *word = model_attr_word(&t->op->attrs, "to", NULL); /* below 6 */
    if (t->dialect != MODEL_ONNX) return typing_like(t, t->in[0]);
    t->element = t->in[1] ? t->in[1]->element : model_element_of_onnx(typing_int(t, "to", 0));
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0) t->element = words[i].element;
    if (t->element == MODEL_ELEMENT_COUNT)
        return typing_wrong(t, "\"to\" is no element type that has a size");
    return typing_like(t, t->in[0]);
}

enum typed type_of_quantize(struct typing *t)
{
    enum model_element stated = model_element_of_onnx(typing_int(t, "output_dtype", 0));
    t->element = t->in[2] ? t->in[2]->element : stated != MODEL_ELEMENT_COUNT ? stated : MODEL_U8;
    return typing_like(t, t->in[0]);
}

enum typed type_of_dropout(struct typing *t)
{
    typing_result(t, 1, MODEL_BOOL, t->in[0]->count, t->in[0]->extent);
    return typing_like(t, t->in[0]);
}

enum typed type_of_along(struct typing *t)
{
    int64_t axis = typing_int(t, "axis", 0);
    int rank = t->in[0]->count;
    if (t->dialect == MODEL_ONNX && rank > 0 && typing_dim(axis, rank) < 0 &&
        !(t->opset < 13 && axis == rank))
        return typing_wrong(t, "there is no such axis");
    return typing_like(t, t->in[0]);
}

/* Mean and spread, results beyond the first, have an extent of 1 where it was averaged. */
enum typed type_of_layer_norm(struct typing *t)
{
    const struct model_type *x = t->in[0];
    int64_t extent[MODEL_MAX_RANK];
    if (t->dialect != MODEL_ONNX) return typing_like(t, x);
    int axis = typing_dim(typing_int(t, "axis", -1), x->count);
    if (axis < 0) return typing_wrong(t, "there is no such axis");
    bool skip = strncmp(t->op->kind, "com.microsoft:Skip", 18) == 0,
         plain = strcmp(t->op->kind, "LayerNormalization") == 0;
    typing_like(t, x);
    for (int i = 1; i < 3; i++)
        if (plain && t->in[i] && !typing_fits(t, t->in[i]->count, t->in[i]->extent, false)) return TYPE_WRONG;
    for (int d = 0; d < x->count; d++) extent[d] = d >= axis ? 1 : x->extent[d];
    for (int r = 1; r < 3; r++) typing_result(t, r, MODEL_F32, x->count, extent);
    if (skip) typing_result(t, 3, x->element, x->count, x->extent);
    return TYPED;
}

enum typed type_of_batch_norm(struct typing *t)
{
    const struct model_type *x = t->in[0], *scale = t->in[1];
    if (t->dialect != MODEL_ONNX) return typing_like(t, x);
    if (x->count < 1 || (x->count > 1 && scale->elements != x->extent[1])) return TYPE_WRONG;
    for (int r = 1; r < t->op->result_count; r++)
        typing_result(t, r, scale->element, scale->count, scale->extent);
    return typing_like(t, x);
}

/* Dimensions that go: `dim_arg`, `dimensions`, `axes` (an operand in newer versions), `axis` of ArgMax;
 * none is all. */
enum typed type_of_reduce(struct typing *t)
{
    static const char *const keys[] = {
        [MODEL_TTIR] = "dim_arg", [MODEL_HLO] = "dimensions", [MODEL_ONNX] = "axes"};
    const struct model_type *x = t->in[0];
    bool onnx = t->dialect == MODEL_ONNX, picks = onnx && strncmp(t->op->kind, "Arg", 3) == 0,
         goes[MODEL_MAX_RANK] = {false}, keep = typing_int(t, onnx ? "keepdims" : "keep_dim", onnx) != 0;
    int64_t axes[MODEL_MAX_RANK] = {0};
    int count = 1;
    if (t->dialect == MODEL_HLO && t->op->operand_count != 2) return TYPE_OPEN;
    if (t->dialect == MODEL_HLO && t->in[1]->elements != 1)
        return typing_wrong(t, "its second operand is the number it begins with");
    if (picks) {
        t->element = MODEL_I64;
        axes[0] = typing_int(t, "axis", 0);
    } else if (!typing_ints(t, keys[t->dialect], onnx ? 1 : -1, axes, MODEL_MAX_RANK, &count))
        return TYPE_OPEN;
    bool all = count < 1 && t->dialect != MODEL_HLO && !typing_int(t, "noop_with_empty_axes", 0);
    for (int d = 0; d < x->count; d++) goes[d] = all;
    for (int i = 0; i < count; i++) {
        int d = typing_dim(axes[i], x->count);
        if (d < 0) return typing_wrong(t, "a dimension that goes is none of the operand's");
        goes[d] = true;
    }
    for (int d = 0; d < x->count; d++)
        if (!goes[d] || keep) typing_want(t, goes[d] ? 1 : x->extent[d]);
    return TYPED;
}

enum typed type_of_tuple(struct typing *t)
{
    const struct model_type *y = t->stated;
    bool same = y->element == MODEL_TUPLE && y->count == t->op->operand_count;
    for (int i = 0; same && i < y->count; i++)
        same = model_same_types(y->parts[i], model_type_of(t->m, t->op->operands[i]));
    return same ? TYPE_OPEN : TYPE_WRONG;
}

enum typed type_of_tuple_part(struct typing *t)
{
    int64_t index = typing_int(t, "index", -1);
    const struct model_type *whole = t->in[0];
    if (whole->element != MODEL_TUPLE || index < 0 || index >= whole->count)
        return typing_schema(t, "it needs a tuple and an index=N within it");
    const struct model_type *part = whole->parts[index];
    if (part->element == MODEL_TUPLE || t->stated->element == MODEL_TUPLE)
        return model_same_types(part, t->stated) ? TYPE_OPEN : TYPE_WRONG;
    return typing_like(t, part);
}

/* A body takes the operands and gives the results; a loop gives to itself. */
enum typed type_of_call(struct typing *t)
{
    const struct model_op *op = t->op;
    bool loops = strcmp(op->kind, "while") == 0, fits = true;
    for (int i = 0; fits && i < op->body_count; i++) {
        const struct model_body *b = &t->m->bodies.at[op->bodies[i]];
        fits = b->argument_count == op->operand_count;
        for (int k = 0; fits && k < b->argument_count; k++)
            fits =
                model_same_types(model_type_of(t->m, b->arguments[k]), model_type_of(t->m, op->operands[k]));
        const struct model_type *gives = b->result_count > 0 ? model_type_of(t->m, b->results[0]) : NULL;
        bool decides = loops && gives && gives->element == MODEL_BOOL && gives->count == 0;
        for (int k = 0; fits && !decides && k < b->result_count && k < op->result_count; k++)
            fits = model_same_types(model_type_of(t->m, b->results[k]), model_type_of(t->m, op->results[k]));
    }
    return fits && (!loops || model_same_types(t->in[0], t->stated)) ? TYPE_OPEN : TYPE_WRONG;
}

static bool type_is_as_declared(const struct typing *t, int32_t body)
{
    const struct model_body *b = &t->m->bodies.at[body];
    for (int r = 0; r < t->op->result_count && r < b->result_count; r++) {
        const struct model_value *v = t->op->results[r] < 0 ? NULL : &t->m->values.at[t->op->results[r]];
        const struct model_type *gives = model_type_of(t->m, b->results[r]);
        if (v && v->declared && gives && v->declared_exact && !model_same_shape(gives, v->declared))
            return false;
    }
    return true;
}

/* If: the results of one branch, which the importer takes: as the predicate says, as --branch asks, as the
 * file declares, or the one with most bytes. */
enum typed type_of_branch(struct typing *t)
{
    const struct model_data *known = typing_data(t, 0);
    int64_t asked = t->options ? t->options->branch : 0;
    const struct model_attr *branch[] = {model_attr_find(&t->op->attrs, "then_branch"),
                                         model_attr_find(&t->op->attrs, "else_branch")};
    int32_t body[2];
    for (int i = 0; i < 2; i++) {
        if (!branch[i] || branch[i]->form != ATTR_BODY) return typing_wrong(t, "a branch is missing");
        body[i] = branch[i]->body;
    }
    bool fits[] = {type_is_as_declared(t, body[0]), type_is_as_declared(t, body[1])};
    int taken = known                      ? model_data_int(known, 0) == 0
                : asked == 1 || asked == 2 ? (int)asked - 1
                : fits[0] != fits[1]       ? fits[1]
                                           : fact_body_bytes(t->m, body[1]) > fact_body_bytes(t->m, body[0]);
    t->op->by_data = !known;
    t->op->taken = 1 + taken;
    const struct model_body *b = &t->m->bodies.at[body[taken]];
    if (b->result_count < t->op->result_count) return typing_wrong(t, "a branch gives fewer results");
    for (int r = 0; r < t->op->result_count; r++) {
        const struct model_type *gives = model_type_of(t->m, b->results[r]);
        if (!gives) return TYPE_OPEN;
        typing_result(t, r, gives->element, gives->count, gives->extent);
        if (r == 0) t->element = gives->element;
        if (r == 0) typing_like(t, gives);
    }
    return TYPED;
}
