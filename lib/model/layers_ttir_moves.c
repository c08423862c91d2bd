/* Ops of TTIR that take, pick and put parts, in kinds of ONNX: tensors that StableHLO or PyTorch has other words for. */
#include "model/layers.h"

#include <string.h>

enum { MOST_PARTS = 256 };

static int64_t from_end(int64_t axis, int rank)
{
    return axis < 0 ? axis + rank : axis;
}

/* Every `step`th element, `count` of them. */
static int32_t every(struct layer *l, int32_t x, int64_t axis, int64_t begin, int64_t step, int64_t count)
{
    const int64_t end = begin + (count - 1) * step + 1;
    int32_t parts[] = {x, layer_list(l, 1, &begin), layer_list(l, 1, &end), layer_list(l, 1, &axis),
                       layer_list(l, 1, &step)};
    return layer_part(l, "Slice", 5, parts);
}

/* `length` elements each `stride`, from `begin` on; or rows that an operand names. */
static void index_select(struct layer *l)
{
    int32_t x = layer_in(l, 0), parts[MOST_PARTS];
    const struct model_type *t = layer_type(l, x), *y = model_type_of(l->m, l->op->results[0]);
    int64_t axis = from_end(layer_int(l, "dim", 0), t->count);
    int64_t begin = layer_int(l, "begin", 0), length = layer_int(l, "length", 1),
            stride = layer_int(l, "stride", 0);
    if (axis < 0 || axis >= t->count || y->count != t->count) {
        layer_fail(l);
        return;
    }
    if (l->op->operand_count == 2) {
        layer_put(l, "axis", axis);
        layer_result(l, 0, layer_two(l, "Gather", x, layer_in(l, 1)));
        return;
    }
    if (stride == 0) stride = t->extent[axis];
    int64_t count = length > 0 ? y->extent[axis] / length : 0;
    if (count < 1 || (length > 1 && count > MOST_PARTS) || count * length != y->extent[axis] ||
        stride < length || begin < 0) {
        layer_fail(l);
        return;
    }
    if (length == 1) {
        layer_result(l, 0, every(l, x, axis, begin, stride, count));
        return;
    }
    for (int64_t i = 0; i < count; i++)
        parts[i] = layer_slice(l, x, (int)axis, begin + i * stride, begin + i * stride + length);
    layer_result(l, 0, layer_concat(l, (int)axis, (int)count, parts));
}

/* y[.., i, ..] = x[.., index[.., i, ..], ..]; dimensions of the index may be shorter than those of x. */
static void gather_dim(struct layer *l)
{
    int32_t x = layer_in(l, 0), index = layer_in(l, 1);
    const struct model_type *t = layer_type(l, x), *i = layer_type(l, index);
    int64_t axis = from_end(layer_int(l, "dim", 0), t->count);
    if (model_attr_find(&l->op->attrs, "offset_dims") || l->op->operand_count != 2 || i->count != t->count ||
        axis < 0 || axis >= t->count) {
        layer_fail(l);
        return;
    }
    for (int d = 0; d < t->count; d++)
        if (d != axis && i->extent[d] < t->extent[d]) x = layer_slice(l, x, d, 0, i->extent[d]);
    layer_put(l, "axis", axis);
    layer_result(l, 0, layer_two(l, "GatherElements", x, index));
}

/* The word in `#ttcore.reduce_type<sum>`, as ONNX has it; NULL: none that it has. */
static const char *reduction(const struct layer *l)
{
    static const char *const words[][2] = {{"sum", "add"},      {"add", "add"}, {"prod", "mul"},
                                           {"multiply", "mul"}, {"max", "max"}, {"min", "min"},
                                           {"invalid", "none"}};
    const struct model_attr *a = model_attr_find(&l->op->attrs, "scatter_reduce_type");
    if (!a) return "none";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (a->text && strcasestr(a->text, words[i][0])) return words[i][1];
    return NULL;
}

/* x with source[.., i, ..] at index[.., i, ..] along a dimension. */
static void scatter_dim(struct layer *l)
{
    const char *how = reduction(l);
    int64_t axis = from_end(layer_int(l, "dim", 0), layer_type(l, layer_in(l, 0))->count);
    if (!how || l->op->operand_count != 3 || !model_attr_find(&l->op->attrs, "dim") || axis < 0) {
        layer_fail(l);
        return;
    }
    layer_put(l, "axis", axis);
    l->attr[l->attr_count++] = (struct model_attr){.key = "reduction", .form = ATTR_WORD, .text = how};
    layer_result(l, 0, layer_part(l, "ScatterElements", 3, l->op->operands));
}

/* What comes back goes to the rows that were looked up: sums of them, in a table of zeros. */
static void embedding_back(struct layer *l)
{
    int32_t index = layer_in(l, 0), grad = layer_in(l, 2);
    const struct model_type *y = model_type_of(l->m, l->op->results[0]), *i = layer_type(l, index);
    int64_t width = y->count ? y->extent[y->count - 1] : 0, n = i->elements;
    if (l->op->operand_count != 3 || y->count < 2 || y->elements != y->extent[y->count - 2] * width ||
        layer_type(l, grad)->elements != n * width) {
        layer_fail(l);
        return;
    }
    int64_t rows[] = {y->extent[y->count - 2], width};
    int32_t zeros = layer_expand_to(l, layer_number(l, y->element, 0), 2, rows);
    int32_t parts[] = {zeros, layer_reshape(l, index, 2, (int64_t[]){n, 1}),
                       layer_cast(l, layer_reshape(l, grad, 2, (int64_t[]){n, width}), y->element)};
    l->attr[l->attr_count++] = (struct model_attr){.key = "reduction", .form = ATTR_WORD, .text = "add"};
    layer_result(l, 0, layer_part(l, "ScatterND", 3, parts));
}

static void running_product(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *t = layer_type(l, x);
    int64_t axis = from_end(layer_int(l, "dim", 0), t->count);
    if (axis < 0 || axis >= t->count || layer_int(l, "exclusive", 0) || layer_int(l, "reverse", 0))
        layer_fail(l);
    else
        layer_result(l, 0, layer_running_product(l, x, (int)axis, false));
}

/* Where in the left side "b h w c" of a pattern stands a name; -1: not, or the side has groups. */
static int name_at(const char *left, const char *end, const char *name, size_t length)
{
    int at = 0;
    for (const char *p = left; p < end; at++) {
        size_t n = strcspn(p, " ()-");
        if (n == 0) return -1;
        if (n == length && strncmp(p, name, n) == 0) return at;
        p += n;
        p += strspn(p, " ");
    }
    return -1;
}

/* "b n h d -> b h (n d)": the dimensions in another order, groups of them merged. Splitting ones say no sizes. */
static void rearrange(struct layer *l)
{
    const char *left = model_attr_word(&l->op->attrs, "pattern", ""), *arrow = strstr(left, "->");
    const struct model_type *t = layer_type(l, layer_in(l, 0));
    int64_t perm[MODEL_MAX_RANK];
    int count = 0;
    left += strspn(left, " ");
    for (const char *p = arrow ? arrow + 2 : ""; *p && l->ok;) {
        size_t n = strcspn(p, " ()");
        int at = n ? name_at(left, arrow, p, n) : 0;
        if (n && (at < 0 || at >= t->count || count == t->count)) layer_fail(l);
        if (n && l->ok) perm[count++] = at;
        p += n ? n : 1;
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            if (perm[i] == perm[k]) layer_fail(l);
    if (!arrow || count != t->count) layer_fail(l);
    if (l->ok) layer_result(l, 0, layer_permute(l, layer_in(l, 0), count, perm));
}

/* clang-format off */
const struct layer_row layers_ttir_moves[] = {
    {{"index_select", NULL, NULL}, index_select},
    {{"select", NULL, NULL}, index_select},
    {{"gather_dim", NULL, NULL}, gather_dim},
    {{"gather", NULL, NULL}, gather_dim},
    {{"scatter", NULL, NULL}, scatter_dim},
    {{"scatter_in_dim", NULL, NULL}, scatter_dim},
    {{"embedding_backward", NULL, NULL}, embedding_back},
    {{"cumprod", NULL, NULL}, running_product},
    {{"rearrange", NULL, NULL}, rearrange},
    {{NULL}, NULL},
};
/* clang-format on */
