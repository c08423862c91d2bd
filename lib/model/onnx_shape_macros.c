/* Shapes of whole layers that are one node: attention, recurrent layers, embeddings, and of If. */
#include "model/facts.h"
#include "model/onnx.h"

#include <string.h>

/* X [T,B,I], R [dirs,gates H,H]: Y [T,dirs,B,H], then the last states [dirs,B,H]. */
static enum shaped recurrent(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *r = shaper_in(x, 2);
    if (!t || !r) return SHAPE_UNKNOWN;
    if (t->count != 3 || r->count != 3) return shaper_wrong(x, "X and R must have three dimensions");
    bool batch_first = shaper_int(x, "layout", 0) != 0;
    int64_t steps = t->extent[batch_first], batch = t->extent[!batch_first], dirs = r->extent[0],
            h = r->extent[2];
    int64_t y[] = {steps, dirs, batch, h}, last[] = {dirs, batch, h};
    int64_t y_first[] = {batch, steps, dirs, h}, last_first[] = {batch, dirs, h};
    for (int i = 1; i < 3; i++)
        if (shaper_set(x, i, t->element, 3, batch_first ? last_first : last) != SHAPED) return SHAPE_WRONG;
    return shaper_set(x, 0, t->element, 4, batch_first ? y_first : y);
}

/* q [B,S,Hq D] (packed: all of q, k, v), caches [B,Hk,P,D] that become [B,Hk,total,D]. */
static enum shaped group_query(struct shaper *x)
{
    const struct model_type *q = shaper_in(x, 0), *past = shaper_in(x, 3);
    const struct model_data *total = shaper_data(x, 6);
    int64_t heads = shaper_int(x, "num_heads", 0), kv = shaper_int(x, "kv_num_heads", 0);
    if (!q || heads < 1 || kv < 1 || q->count != 3) return SHAPE_UNKNOWN;
    int64_t width = shaper_has(x, 1) ? q->extent[2] : q->extent[2] / (heads + 2 * kv) * heads;
    int64_t out[] = {q->extent[0], q->extent[1], width};
    if (shaper_set(x, 0, q->element, 3, out) != SHAPED) return SHAPE_WRONG;
    if (past && past->count != 4) return shaper_wrong(x, "a cache must have four dimensions");
    int64_t before = past ? past->extent[2] : 0, length = before + q->extent[1];
    if (total) length = model_data_int(total, 0) > before ? model_data_int(total, 0) : before;
    int64_t cache[] = {q->extent[0], kv, length, width / heads};
    for (int r = 1; r < 3; r++) {
        int32_t result = r < x->op->result_count ? x->op->results[r] : -1;
        const struct model_type *declared = result < 0 ? NULL : x->m->values.at[result].declared;
        if (declared && declared->count == 4 && declared->extent[2] >= 0) cache[2] = declared->extent[2];
        if (shaper_set(x, r, past ? past->element : q->element, 4, cache) != SHAPED) return SHAPE_WRONG;
    }
    return SHAPED;
}

/* x [B,S,I], w [I,3 H]: [B,S,H]; present [2,B,heads,P + S,D]. */
static enum shaped attention(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *w = shaper_in(x, 1), *past = shaper_in(x, 4);
    int64_t heads = shaper_int(x, "num_heads", 0), sizes[3];
    int count;
    if (!t || !w || t->count != 3 || w->count != 2 || heads < 1) return SHAPE_UNKNOWN;
    if (!shaper_ints(x, "qkv_hidden_sizes", -1, sizes, 3, &count)) return SHAPE_UNKNOWN;
    int64_t width = count == 3 ? sizes[2] : w->extent[1] / 3,
            before = past && past->count == 5 ? past->extent[3] : 0;
    int64_t out[] = {t->extent[0], t->extent[1], width};
    int64_t present[] = {2, t->extent[0], heads, before + t->extent[1], width / heads};
    if (shaper_set(x, 1, t->element, 5, present) != SHAPED) return SHAPE_WRONG;
    return shaper_set(x, 0, t->element, 3, out);
}

/* q [B,S,H D] or packed [B,S,H,3,D]; k and v likewise, packed [B,T,H,2,D], or [B,H,T,D]; then the caches, longer by them. */
static enum shaped multi_head(struct shaper *x)
{
    const struct model_type *q = shaper_in(x, 0), *k = shaper_in(x, 1), *v = shaper_in(x, 2);
    int64_t heads = shaper_int(x, "num_heads", 0);
    if (!q || heads < 1 || (q->count != 3 && q->count != 5)) return SHAPE_UNKNOWN;
    bool packed = q->count == 5;
    int64_t width = packed ? q->extent[2] * q->extent[4] : q->extent[2], each = width / heads;
    int64_t rows = packed ? q->extent[1] : !k ? 0 : k->count == 4 ? k->extent[2] : k->extent[1];
    int64_t own = v && v->count == 3 ? v->extent[2] / heads : v && v->count == 4 ? v->extent[3] : each;
    for (int i = 0; i < 2; i++) {
        const struct model_type *past = shaper_in(x, 6 + i);
        int64_t before = past && past->count == 4 ? past->extent[2] : 0;
        int64_t cache[] = {q->extent[0], heads, before + rows, i ? own : each};
        if (shaper_set(x, 1 + i, q->element, 4, cache) != SHAPED) return SHAPE_WRONG;
    }
    return shaper_set(x, 0, q->element, 3, (int64_t[]){q->extent[0], q->extent[1], own * heads});
}

/* q, k, v of four dimensions, or of three with the numbers of heads; then the caches, longer by k's rows. */
static enum shaped plain_attention(struct shaper *x)
{
    const struct model_type *q = shaper_in(x, 0), *k = shaper_in(x, 1), *v = shaper_in(x, 2);
    int64_t heads = shaper_int(x, "q_num_heads", 0), kv = shaper_int(x, "kv_num_heads", 0);
    if (!q || !k || !v || q->count != v->count || k->count != v->count) return SHAPE_UNKNOWN;
    bool flat = q->count == 3;
    if ((q->count != 4 && !flat) || (flat && (heads < 1 || kv < 1))) return SHAPE_UNKNOWN;
    for (int i = 0; i < 2; i++) {
        const struct model_type *t = i ? v : k, *past = shaper_in(x, 4 + i);
        int64_t before = past && past->count == 4 ? past->extent[2] : 0;
        int64_t four[] = {t->extent[0], flat ? kv : t->extent[1], before + t->extent[flat ? 1 : 2],
                          flat ? t->extent[2] / kv : t->extent[3]};
        if (shaper_set(x, 1 + i, t->element, 4, four) != SHAPED) return SHAPE_WRONG;
    }
    const struct model_type *past = shaper_in(x, 4);
    int64_t keys = (past && past->count == 4 ? past->extent[2] : 0) + k->extent[flat ? 1 : 2];
    int64_t scores[] = {q->extent[0], flat ? heads : q->extent[1], q->extent[flat ? 1 : 2], keys};
    if (shaper_set(x, 3, q->element, 4, scores) != SHAPED) return SHAPE_WRONG;
    int64_t y3[] = {q->extent[0], q->extent[1], flat ? v->extent[2] / kv * heads : 0};
    int64_t y4[] = {q->extent[0], flat ? 0 : q->extent[1], flat ? 0 : q->extent[2], flat ? 0 : v->extent[3]};
    return shaper_set(x, 0, q->element, flat ? 3 : 4, flat ? y3 : y4);
}

/* ids [B,S], tables [vocabulary,H]: [B,S,H], mask index [B], the sum. */
static enum shaped embed(struct shaper *x)
{
    const struct model_type *ids = shaper_in(x, 0), *table = shaper_in(x, 2);
    if (!ids || !table || ids->count != 2 || table->count != 2) return SHAPE_UNKNOWN;
    int64_t out[] = {ids->extent[0], ids->extent[1], table->extent[1]};
    if (shaper_set(x, 1, MODEL_I32, 1, ids->extent) != SHAPED) return SHAPE_WRONG;
    if (shaper_set(x, 2, table->element, 3, out) != SHAPED) return SHAPE_WRONG;
    return shaper_set(x, 0, table->element, 3, out);
}

static int32_t branch_body(const struct shaper *x, int k)
{
    const struct model_attr *a = model_attr_find(&x->op->attrs, k ? "else_branch" : "then_branch");
    return a && a->form == ATTR_BODY ? a->body : -1;
}

/* Does it give what the file declares of the results? */
static bool is_as_declared(const struct shaper *x, int32_t body)
{
    const struct model_body *b = &x->m->bodies.at[body];
    for (int r = 0; r < x->op->result_count && r < b->result_count; r++) {
        const struct model_value *v = x->op->results[r] < 0 ? NULL : &x->m->values.at[x->op->results[r]];
        const struct model_type *t = model_type_of(x->m, b->results[r]);
        if (v && t && v->declared && v->declared_exact && !model_same_shape(t, v->declared)) return false;
    }
    return true;
}

/* As the predicate says, else as is asked for, else what the file declares, else the one with most bytes. */
static int choose(struct shaper *x, const int32_t *body)
{
    const struct model_data *known = shaper_data(x, 0);
    int64_t asked = x->options ? x->options->branch : 0;
    x->op->by_data = !known;
    if (known) return model_data_int(known, 0) == 0;
    if (asked == 1 || asked == 2) return (int)asked - 1;
    bool fits[] = {is_as_declared(x, body[0]), is_as_declared(x, body[1])};
    if (fits[0] != fits[1]) return fits[1];
    return fact_body_bytes(x->m, body[1]) > fact_body_bytes(x->m, body[0]);
}

/* The shapes are those of one branch, and the importer takes that one. */
static enum shaped branch(struct shaper *x)
{
    const int32_t body[] = {branch_body(x, 0), branch_body(x, 1)};
    if (body[0] < 0 || body[1] < 0) return shaper_wrong(x, "a branch is missing");
    int taken = choose(x, body);
    x->op->taken = 1 + taken;
    enum shaped lists = onnx_branch_sequences(x, body[taken]);
    if (lists != SHAPED) return lists;
    const struct model_body *b = &x->m->bodies.at[body[taken]];
    if (b->result_count < x->op->result_count) return shaper_wrong(x, "a branch gives fewer results");
    for (int r = 0; r < x->op->result_count; r++) {
        const struct model_type *t = model_type_of(x->m, b->results[r]);
        if (!t) return SHAPE_UNKNOWN;
        if (shaper_set(x, r, t->element, t->count, t->extent) != SHAPED) return SHAPE_WRONG;
    }
    return SHAPED;
}

static const struct model_body *only_body(const struct shaper *x)
{
    return x->op->body_count == 1 ? &x->m->bodies.at[x->op->bodies[0]] : NULL;
}

/* With `steps` in front of dimension `axis`. */
static enum shaped joined(struct shaper *x, int result, const struct model_type *t, int64_t steps, int axis)
{
    int64_t extent[MODEL_MAX_RANK];
    if (!t || t->count + 1 > MODEL_MAX_RANK || axis < 0 || axis > t->count) return SHAPE_UNKNOWN;
    for (int d = 0; d <= t->count; d++)
        extent[d] = d < axis ? t->extent[d] : d == axis ? steps : t->extent[d - 1];
    return shaper_set(x, result, t->element, t->count + 1, extent);
}

/* What is carried, then what is joined step by step; of a loop that data ends that may be declared. */
static enum shaped loop(struct shaper *x)
{
    const struct model_body *b = only_body(x);
    int carried = x->op->operand_count - 2;
    if (!b || carried < 0 || b->result_count < 1 + x->op->result_count) return SHAPE_UNKNOWN;
    if (!onnx_count_trips(x)) return SHAPE_WRONG;
    for (int r = 0; r < x->op->result_count; r++) {
        const struct model_type *t = model_type_of(x->m, b->results[1 + r]);
        const struct model_value *own = x->op->results[r] < 0 ? NULL : &x->m->values.at[x->op->results[r]];
        bool declared = own && own->declared && own->declared->elements >= 0;
        if (t && r >= carried && x->op->by_data && declared) continue;
        enum shaped s = !t            ? SHAPE_UNKNOWN
                        : r < carried ? shaper_set(x, r, t->element, t->count, t->extent)
                                      : joined(x, r, t, x->op->taken - 1, 0);
        if (s != SHAPED) return s;
    }
    return SHAPED;
}

static int64_t listed(const struct shaper *x, const char *key, int i)
{
    int count;
    const int64_t *list = model_attr_ints(&x->op->attrs, key, &count);
    return i >= 0 && i < count ? list[i] : 0;
}

static enum shaped scan(struct shaper *x)
{
    const struct model_body *b = only_body(x);
    int64_t taken = shaper_int(x, "num_scan_inputs", 0), carried = x->op->operand_count - taken;
    if (!b || taken < 1 || carried < 0 || b->result_count < x->op->result_count) return SHAPE_UNKNOWN;
    const struct model_type *first = shaper_in(x, (int)carried);
    int axis = first ? shaper_axis(listed(x, "scan_input_axes", 0), first->count) : -1;
    if (axis < 0) return SHAPE_UNKNOWN;
    for (int r = 0; r < x->op->result_count; r++) {
        const struct model_type *t = model_type_of(x->m, b->results[r]);
        int at = t ? shaper_axis(listed(x, "scan_output_axes", r - (int)carried), t->count + 1) : -1;
        enum shaped s = !t            ? SHAPE_UNKNOWN
                        : r < carried ? shaper_set(x, r, t->element, t->count, t->extent)
                                      : joined(x, r, t, first->extent[axis], at);
        if (s != SHAPED) return s;
    }
    return SHAPED;
}

static bool give(struct shaper *x, int32_t argument, enum model_element e, int rank, const int64_t *extent)
{
    struct model_value *v = &x->m->values.at[argument];
    if (v->type && v->type->elements >= 0) return true;
    const struct model_type *t = model_type_make(x->m, e, rank, extent, x->st);
    if (t) x->m->values.at[argument].type = t;
    return t != NULL;
}

/* Arguments of the bodies of loops often have no shape of their own: they have those of what they are given. */
bool onnx_give_types(struct shaper *x)
{
    const struct model_body *b = only_body(x);
    bool loops = strcmp(x->op->kind, "Loop") == 0, scans = strcmp(x->op->kind, "Scan") == 0,
         maps = strcmp(x->op->kind, "SequenceMap") == 0;
    int64_t taken = scans ? shaper_int(x, "num_scan_inputs", 0) : 0, carried = x->op->operand_count - taken;
    if (!b || (!loops && !scans && !maps) || b->argument_count != x->op->operand_count) return true;
    for (int i = 0; i < b->argument_count; i++) {
        const struct model_type *t = maps ? onnx_mapped_type(x, i) : shaper_in(x, i);
        int64_t extent[MODEL_MAX_RANK];
        int axis, rank = 0;
        if (loops && i < 2) {
            if (!give(x, b->arguments[i], i ? MODEL_BOOL : MODEL_I64, 0, NULL)) return false;
            continue;
        }
        if (!t) continue;
        axis = i >= carried ? shaper_axis(listed(x, "scan_input_axes", i - (int)carried), t->count) : -1;
        for (int d = 0; d < t->count; d++)
            if (d != axis) extent[rank++] = t->extent[d];
        if (!give(x, b->arguments[i], t->element, rank, extent)) return false;
    }
    return true;
}

onnx_shape_of *onnx_shape_macro(const char *kind)
{
    /* clang-format off */
    static const struct onnx_shape_row rows[] = {
        {"LSTM", recurrent}, {"GRU", recurrent}, {"RNN", recurrent},
        {"com.microsoft:GroupQueryAttention", group_query}, {"com.microsoft:Attention", attention},
        {"com.microsoft:MultiHeadAttention", multi_head}, {"com.microsoft:EmbedLayerNormalization", embed},
        {"If", branch}, {"Loop", loop}, {"Scan", scan}, {"Attention", plain_attention}, {NULL, NULL}};
    /* clang-format on */
    return onnx_shape_find(rows, kind);
}
