/* Custom calls of HLO whose targets have a meaning of their own: functions, and products of libraries. */
#include "model/layers.h"
#include "model/shardings.h"

#include <stdlib.h>
#include <string.h>

/* `"key":["1","2"]` of a configuration; -1: it is not there. */
static int config_dims(const char *config, const char *key, int64_t *to)
{
    const char *at = config ? strstr(config, key) : NULL;
    int count = 0;
    at = at ? strchr(at, '[') : NULL;
    for (at = at ? at + 1 : NULL; at && *at && *at != ']' && count < MODEL_MAX_RANK; at++) {
        if (*at < '0' || *at > '9') continue;
        char *end;
        to[count++] = strtoll(at, &end, 10);
        at = end - 1;
    }
    return at ? count : -1;
}

static double config_number(const char *config, const char *key, double otherwise)
{
    const char *at = config ? strstr(config, key) : NULL;
    at = at ? strchr(at, ':') : NULL;
    return at ? strtod(at + 1 + strspn(at + 1, " \""), NULL) : otherwise;
}

/* Batch dimensions, then those that stay (or go), then the others, each kind as one: [B, rows, columns]. */
static int32_t as_matrix(struct layer *l, int32_t x, const int64_t *batch, int batches, const int64_t *goes,
                         int gone, bool gone_last)
{
    const struct model_type *t = layer_type(l, x);
    int64_t perm[MODEL_MAX_RANK], shape[3] = {1, 1, 1};
    bool used[MODEL_MAX_RANK] = {false};
    int n = 0, stays = gone_last ? 1 : 2;
    for (int i = 0; i < batches + gone; i++) {
        int64_t d = i < batches ? batch[i] : goes[i - batches];
        if (d < 0 || d >= t->count || used[d]) return layer_fail(l), -1;
        used[d] = true;
        shape[i < batches ? 0 : 3 - stays] *= t->extent[d];
    }
    for (int i = 0; i < batches; i++) perm[n++] = batch[i];
    for (int i = 0; !gone_last && i < gone; i++) perm[n++] = goes[i];
    for (int d = 0; d < t->count; d++)
        if (!used[d]) {
            perm[n++] = d;
            shape[stays] *= t->extent[d];
        }
    for (int i = 0; gone_last && i < gone; i++) perm[n++] = goes[i];
    return layer_reshape(l, layer_permute(l, x, t->count, perm), 3, shape);
}

/* Room that the library works in is nobody's result. */
static void rooms(struct layer *l)
{
    for (int r = 1; r < l->result_count; r++) {
        const struct model_type *t = model_leaf_type(model_type_of(l->m, l->op->results[0]), r);
        if (t->elements > 0)
            layer_result(l, r, layer_expand_to(l, layer_number(l, t->element, 0), t->count, t->extent));
    }
}

static int32_t finished(struct layer *l, int32_t y, const char *config, int bias)
{
    const char *at = config ? strstr(config, "\"epilogue\"") : NULL, *word = at ? strchr(at, ':') : NULL;
    word = word ? word + 1 + strspn(word + 1, " \"") : "DEFAULT";
    if (strncmp(word, "BIAS", 4) == 0) {
        if (!layer_has(l, bias)) return layer_fail(l), -1;
        y = layer_two(l, "Add", y, layer_in(l, bias));
        word += word[4] == '_' ? 5 : 4;
    }
    size_t n = strcspn(word, "\",} ");
    if (n == 4 && strncmp(word, "RELU", 4) == 0) return layer_one(l, "Relu", y);
    if (n == 4 && strncmp(word, "GELU", 4) == 0) {
        l->attr[l->attr_count++] =
            (struct model_attr){.key = "approximate", .form = ATTR_WORD, .text = "tanh"};
        return layer_one(l, "Gelu", y);
    }
    if (n != 0 && strncmp(word, "DEFAULT", 7) != 0) layer_fail(l);
    return y;
}

/* alpha a b + beta c, then a bias and a function */
static void gemm(struct layer *l, const char *config)
{
    static const char *const keys[] = {"lhs_batch_dimensions", "rhs_batch_dimensions",
                                       "lhs_contracting_dimensions", "rhs_contracting_dimensions"};
    int64_t dims[4][MODEL_MAX_RANK];
    int count[4];
    double alpha = config_number(config, "\"alpha_real\"", 1), beta = config_number(config, "\"beta\"", 0);
    const struct model_type *y = model_leaf_type(model_type_of(l->m, l->op->results[0]), 0);
    for (int i = 0; i < 4; i++) count[i] = config_dims(config, keys[i], dims[i]);
    if (count[2] < 1 || count[3] != count[2] || count[0] < 0 || count[0] != count[1] || !layer_has(l, 1) ||
        config_number(config, "\"alpha_imag\"", 0) != 0) {
        layer_fail(l);
        return;
    }
    int32_t a = as_matrix(l, layer_in(l, 0), dims[0], count[0], dims[2], count[2], true);
    int32_t b = as_matrix(l, layer_in(l, 1), dims[1], count[1], dims[3], count[3], false);
    int32_t x = layer_reshape(l, layer_two(l, "MatMul", a, b), y->count, y->extent);
    if (alpha != 1) x = layer_by(l, "Mul", x, alpha);
    if (beta != 0) {
        int32_t c = layer_in(l, 2);
        x = layer_two(l, "Add", x, beta == 1 ? c : layer_by(l, "Mul", c, beta));
    }
    layer_result(l, 0, finished(l, x, config, beta != 0 ? 3 : 2));
    rooms(l);
}

/* The convolution that the same attributes say. */
static void conv_forward(struct layer *l)
{
    struct model_op like = *l->op;
    const struct model_type *y = model_leaf_type(model_type_of(l->m, l->op->results[0]), 0);
    like.kind = "convolution";
    like.native = true;
    like.instead = 0;
    if (l->op->operand_count != 2) {
        layer_fail(l);
        return;
    }
    layer_result(l, 0, layer_like(l, &like, 2, l->op->operands, y));
    rooms(l);
}

/* What is said of how the whole is shared out: of the call that makes it, or of where it comes from. */
static const char *said_of_whole(const struct layer *l, bool gathers)
{
    const struct model_value *v = &l->m->values.at[l->op->operands[0]];
    if (gathers) return model_sharding_text(&l->op->attrs);
    return model_sharding_text(v->from == FROM_OP ? &l->m->bodies.at[v->body].ops[v->op].attrs : &v->attrs);
}

/* How far devices with neighbouring parts are apart, per dimension of which there are so many parts: as is said; else devices
 * are counted along the dimensions, and those that have the same part stand together. */
static void strides_of_parts(const struct layer *l, const char *said, const int64_t *parts, int rank,
                             int64_t *stride)
{
    struct device_group groups[MESH_MAX_AXES + 1];
    int64_t all = model_device_count(l->m);
    bool known = said && model_sharding(l->m, said, groups) == rank;
    for (int d = 0; d < rank; d++) all /= parts[d];
    for (int d = 0; known && d < rank; d++) known = groups[d].size == parts[d];
    for (int d = rank - 1; d >= 0; d--) {
        stride[d] = known ? groups[d].stride : all;
        all *= parts[d];
    }
}

/* From the whole to one device's part, or all parts together: in each dimension as many as its extents say. */
static void reshard(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *from = layer_type(l, x), *to = model_type_of(l->m, l->op->results[0]);
    bool gathers = to->elements > from->elements;
    int64_t parts[MESH_MAX_AXES], stride[MESH_MAX_AXES], all = model_device_count(l->m), product = 1;
    bool ok = from->count == to->count && from->count <= MESH_MAX_AXES && l->result_count == 1;
    for (int d = 0; ok && d < from->count; d++) {
        int64_t large = gathers ? to->extent[d] : from->extent[d],
                small = gathers ? from->extent[d] : to->extent[d];
        ok = small > 0 && large % small == 0 && (product *= parts[d] = large / small) <= 1 << 20;
    }
    if (!ok || all % product != 0) {
        layer_fail(l);
        return;
    }
    strides_of_parts(l, said_of_whole(l, gathers), parts, from->count, stride);
    for (int d = from->count - 1; d >= 0 && l->ok; d--) {
        if (parts[d] == 1) continue;
        if (!gathers && !l->limits->team) {
            int64_t at = l->limits->device / stride[d] % parts[d];
            x = layer_slice(l, x, d, at * to->extent[d], (at + 1) * to->extent[d]);
            continue;
        }
        layer_put(l, "axis", d);
        layer_put(l, "lxplan_group", parts[d]);
        layer_put(l, "lxplan_stride", stride[d]);
        x = layer_one(l, gathers ? "lxplan:AllGather" : "lxplan:DevicePart", x);
    }
    layer_result(l, 0, x == layer_in(l, 0) ? layer_one(l, "Identity", x) : x);
}

/* An op of HLO, or one that has rows among those. */
static void function(struct layer *l, const char *kind)
{
    static const char *const kinds[] = {"erf",   "tan",   "acos", "asin", "atan", "acosh",
                                        "asinh", "atanh", "sinh", "cosh", "atan2"};
    struct model_op like = *l->op;
    bool known = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) known |= strcmp(kinds[i], kind) == 0;
    like.kind = kind;
    like.native = true;
    like.instead = 0;
    if (!known || l->result_count != 1)
        layer_fail(l);
    else
        layer_result(l, 0,
                     layer_like(l, &like, l->op->operand_count, l->op->operands,
                                model_type_of(l->m, l->op->results[0])));
}

static void custom_call(struct layer *l)
{
    const char *target = model_attr_word(&l->op->attrs, "custom_call_target", "");
    const struct model_attr *config = model_attr_find(&l->op->attrs, "backend_config");
    target += *target == '"';
    size_t length = strcspn(target, "\"");
    char word[64] = {0};
    if (length < sizeof word) memcpy(word, target, length);
    if (strncmp(word, "mhlo.", 5) == 0 || strncmp(word, "chlo.", 5) == 0)
        function(l, arena_string(&l->m->memory, word + 5));
    else if (strcmp(word, "__cublas$gemm") == 0 || strcmp(word, "__cublas$lt$matmul") == 0)
        gemm(l, config ? config->text : NULL);
    else if (strcmp(word, "__cudnn$convForward") == 0)
        conv_forward(l);
    else if (strcmp(word, "SPMDFullToShardShape") == 0 || strcmp(word, "SPMDShardToFullShape") == 0 ||
             strstr(word, "sdy.GlobalToLocalShape") || strstr(word, "sdy.LocalToGlobalShape"))
        reshard(l);
    else
        layer_fail(l);
}

/* clang-format off */
const struct layer_row layers_hlo_calls[] = {
    {{NULL, "custom-call", NULL}, custom_call},
    {{NULL}, NULL},
};
/* clang-format on */
