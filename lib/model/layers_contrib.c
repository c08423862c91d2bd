/* Kinds of com.microsoft and of older or newer files that are a few plain ones, each on its own: products of complex pairs,
 * distances, biases by distance, writes to caches, kinds that have another name. */
#include "model/layers.h"

#include <math.h>
#include <string.h>

/* The same kind of another name. */
static void renamed(struct layer *l, const char *kind)
{
    for (int i = 0; i < l->op->attrs.count && i < LAYER_MAX_ATTRS; i++)
        l->attr[l->attr_count++] = l->op->attrs.at[i];
    layer_result(l, 0, layer_part(l, kind, l->op->operand_count, l->op->operands));
}

static void scatter(struct layer *l)
{
    renamed(l, "ScatterElements");
}

/* Sizes of the parts are the second result. */
static void concat_training(struct layer *l)
{
    int64_t sizes[MODEL_MAX_KNOWN], axis = layer_int(l, "axis", 0);
    int rank = layer_type(l, layer_in(l, 0))->count, count = l->op->operand_count;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank || count > MODEL_MAX_KNOWN) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < count; i++) {
        const struct model_type *t = layer_type(l, layer_in(l, i));
        if (t->count != rank) {
            layer_fail(l);
            return;
        }
        sizes[i] = t->extent[axis];
    }
    layer_result(l, 0, layer_concat(l, (int)axis, count, l->op->operands));
    layer_result(l, 1, layer_list(l, count, sizes));
}

static void reshaped(struct layer *l)
{
    const struct model_type *y = model_type_of(l->m, l->op->results[0]);
    layer_result(l, 0, layer_reshape(l, layer_in(l, 0), y->count, y->extent));
}

static void embedded(struct layer *l)
{
    layer_result(l, 0, layer_two(l, "Gather", layer_in(l, 0), layer_in(l, 1)));
}

/* [.., 2]: (a + b i) (c + d i), or with -d. */
static void complex_product(struct layer *l)
{
    int32_t part[2][2];
    bool turned = strstr(l->op->kind, "Conj") != NULL;
    for (int i = 0; i < 2; i++) {
        const struct model_type *t = layer_type(l, layer_in(l, i));
        if (t->count < 1 || t->extent[t->count - 1] != 2) {
            layer_fail(l);
            return;
        }
        for (int k = 0; k < 2; k++) part[i][k] = layer_slice(l, layer_in(l, i), t->count - 1, k, k + 1);
    }
    int32_t ac = layer_two(l, "Mul", part[0][0], part[1][0]),
            bd = layer_two(l, "Mul", part[0][1], part[1][1]),
            ad = layer_two(l, "Mul", part[0][0], part[1][1]),
            bc = layer_two(l, "Mul", part[0][1], part[1][0]);
    int32_t both[] = {layer_two(l, turned ? "Add" : "Sub", ac, bd),
                      layer_two(l, turned ? "Sub" : "Add", bc, ad)};
    layer_result(l, 0, layer_concat(l, layer_type(l, both[0])->count - 1, 2, both));
}

/* a [m, d], b [n, d]: how far each row is from each. */
static void distances(struct layer *l)
{
    const struct model_type *a = layer_type(l, layer_in(l, 0)), *b = layer_type(l, layer_in(l, 1));
    if (a->count != 2 || b->count != 2) {
        layer_fail(l);
        return;
    }
    int32_t x = layer_reshape(l, layer_in(l, 0), 3, (int64_t[]){a->extent[0], 1, a->extent[1]}),
            y = layer_reshape(l, layer_in(l, 1), 3, (int64_t[]){1, b->extent[0], b->extent[1]});
    int32_t by = layer_two(l, "Sub", x, y);
    int32_t sum = layer_reduce(l, "ReduceSum", layer_two(l, "Mul", by, by), 1, (int64_t[]){2}, false);
    bool root = strcmp(model_attr_word(&l->op->attrs, "metric", "sqeuclidean"), "euclidean") == 0;
    layer_result(l, 0, root ? layer_one(l, "Sqrt", sum) : sum);
}

/* Which of `buckets` a distance falls into: the first half one by one, the rest by logarithms up to `most`. */
static int64_t bucket_of(int64_t distance, bool both, int64_t buckets, int64_t most)
{
    int64_t first = 0, n = -distance;
    if (both) {
        buckets /= 2;
        if (n < 0) first = buckets;
        n = n < 0 ? -n : n;
    } else if (n < 0)
        n = 0;
    int64_t exact = buckets / 2;
    if (n < exact) return first + n;
    double part =
        log((double)n / (double)exact) / log((double)most / (double)exact) * (double)(buckets - exact);
    int64_t far = exact + (int64_t)part;
    return first + (far < buckets ? far : buckets - 1);
}

/* table [buckets, H], lengths of queries and keys: [1, H, Q, K] by how far they are apart */
static void position_bias(struct layer *l)
{
    const struct model_type *t = layer_type(l, layer_in(l, 0)), *y = model_type_of(l->m, l->op->results[0]);
    int64_t list[MODEL_MAX_KNOWN], most = layer_int(l, "max_distance", 128);
    bool both = layer_int(l, "is_bidirectional", 0) != 0;
    if (t->count != 2 || t->extent[0] < 4 || t->extent[0] >= most || y->count != 4 ||
        y->extent[2] + y->extent[3] > MODEL_MAX_KNOWN) {
        layer_fail(l);
        return;
    }
    int64_t queries = y->extent[2], keys = y->extent[3], count = queries + keys - 1;
    for (int64_t i = 0; i < count; i++) list[i] = bucket_of(i - (queries - 1), both, t->extent[0], most);
    int32_t of = layer_gather(l, layer_in(l, 0), 0, count, list), line[2],
            one = layer_number(l, MODEL_I64, 1);
    for (int i = 0; i < 2; i++) {
        int32_t from = layer_number(l, MODEL_I64, 0),
                to = layer_number(l, MODEL_I64, (double)(i ? keys : queries));
        line[i] = layer_channels(l, layer_part(l, "Range", 3, (int32_t[]){from, to, one}), 2, i);
    }
    int32_t at = layer_by(l, "Add", layer_two(l, "Sub", line[1], line[0]), (double)(queries - 1));
    int32_t all = layer_two(l, "Gather", of, at); /* [Q, K, H] */
    layer_result(l, 0, layer_permute(l, all, 3, (int64_t[]){2, 0, 1}));
}

/* A cache, what is put into it along an axis, and at which row of each of the batch. */
static void tensor_scatter(struct layer *l)
{
    const struct model_type *t = layer_type(l, layer_in(l, 0)), *u = layer_type(l, layer_in(l, 1));
    int64_t axis = layer_int(l, "axis", -2), batch = t->count > 0 ? t->extent[0] : 0;
    bool ring = strcmp(model_attr_word(&l->op->attrs, "mode", "linear"), "circular") == 0;
    int32_t rows[64], zero = layer_number(l, MODEL_I64, 0), all[2 + MODEL_MAX_RANK];
    if (axis < 0) axis += t->count;
    if (axis < 1 || axis >= t->count || u->count != t->count || batch > 64 ||
        (ring && u->extent[axis] != 1)) {
        layer_fail(l);
        return;
    }
    for (int64_t b = 0; l->ok && b < batch; b++) {
        int32_t at =
            layer_has(l, 2) ? layer_cast(l, layer_slice(l, layer_in(l, 2), 0, b, b + 1), MODEL_I64) : zero;
        at = layer_reshape(l, at, 0, NULL);
        if (ring) at = layer_by(l, "Mod", at, (double)t->extent[axis]);
        all[0] = batch > 1 ? layer_slice(l, layer_in(l, 0), 0, b, b + 1) : layer_in(l, 0);
        all[1] = batch > 1 ? layer_slice(l, layer_in(l, 1), 0, b, b + 1) : layer_in(l, 1);
        for (int d = 0; d < t->count; d++) all[2 + d] = d == axis ? at : zero;
        rows[b] = layer_part(l, "lxplan:DynamicInsert", 2 + t->count, all);
    }
    layer_result(l, 0, layer_concat(l, 0, (int)batch, rows));
}

/* start + step i, where only the run knows them and the file says how many there are. */
static void range(struct layer *l)
{
    const struct model_type *y = model_type_of(l->m, l->op->results[0]);
    bool known = true;
    for (int i = 0; i < 3; i++) known = known && layer_has(l, i) && l->m->values.at[layer_in(l, i)].data;
    if (known || l->op->operand_count != 3 || y->count != 1) {
        layer_fail(l);
        return;
    }
    int32_t from = layer_number(l, MODEL_I64, 0), to = layer_number(l, MODEL_I64, (double)y->extent[0]),
            one = layer_number(l, MODEL_I64, 1);
    int32_t i = layer_cast(l, layer_part(l, "Range", 3, (int32_t[]){from, to, one}), y->element);
    layer_result(l, 0, layer_two(l, "Add", layer_two(l, "Mul", i, layer_in(l, 2)), layer_in(l, 0)));
}

/* (a - za) (b - zb) element by element in int32 */
static void mul_integer(struct layer *l)
{
    int32_t a = layer_cast(l, layer_in(l, 0), MODEL_I32), b = layer_cast(l, layer_in(l, 2), MODEL_I32);
    if (layer_has(l, 1)) a = layer_two(l, "Sub", a, layer_cast(l, layer_in(l, 1), MODEL_I32));
    if (layer_has(l, 3)) b = layer_two(l, "Sub", b, layer_cast(l, layer_in(l, 3), MODEL_I32));
    layer_result(l, 0, layer_two(l, "Mul", a, b));
}

static void matmul_wide(struct layer *l)
{
    layer_result(l, 0,
                 layer_two(l, "MatMul", layer_cast(l, layer_in(l, 0), MODEL_I32),
                           layer_cast(l, layer_in(l, 1), MODEL_I32)));
}

/* x times a number, of old files. */
static void scaled(struct layer *l)
{
    layer_result(l, 0, layer_by(l, "Mul", layer_in(l, 0), layer_real(l, "scale", 1)));
}

/* clang-format off */
const struct layer_row layers_contrib[] = {
    {{NULL, NULL, "Scatter"}, scatter},
    {{NULL, NULL, "Scale"}, scaled},
    {{NULL, NULL, "Range"}, range},
    {{NULL, NULL, "TensorScatter"}, tensor_scatter},
    {{NULL, NULL, "com.microsoft:ConcatTraining"}, concat_training},
    {{NULL, NULL, "com.microsoft:ExpandDims"}, reshaped},
    {{NULL, NULL, "com.microsoft:TorchEmbedding"}, embedded},
    {{NULL, NULL, "com.microsoft:ComplexMul"}, complex_product},
    {{NULL, NULL, "com.microsoft:ComplexMulConj"}, complex_product},
    {{NULL, NULL, "com.microsoft:CDist"}, distances},
    {{NULL, NULL, "com.microsoft:RelativePositionBias"}, position_bias},
    {{NULL, NULL, "com.microsoft:MulInteger"}, mul_integer},
    {{NULL, NULL, "com.microsoft:MatMulInteger16"}, matmul_wide},
    {{NULL}, NULL},
};
/* clang-format on */
