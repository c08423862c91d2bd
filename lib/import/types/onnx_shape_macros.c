/* Shapes of whole layers that are one node: attention, recurrent layers, embeddings, and of If. */
#include "import/facts.h"
#include "import/read/onnx.h"

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
    const struct model_body *b = &x->m->bodies.at[body[taken]];
    if (b->result_count < x->op->result_count) return shaper_wrong(x, "a branch gives fewer results");
    for (int r = 0; r < x->op->result_count; r++) {
        const struct model_type *t = model_type_of(x->m, b->results[r]);
        if (!t) return SHAPE_UNKNOWN;
        if (shaper_set(x, r, t->element, t->count, t->extent) != SHAPED) return SHAPE_WRONG;
    }
    return SHAPED;
}

onnx_shape_of *onnx_shape_macro(const char *kind)
{
    /* clang-format off */
    static const struct onnx_shape_row rows[] = {
        {"LSTM", recurrent},
        {"com.microsoft:GroupQueryAttention", group_query}, {"If", branch}, {NULL, NULL}};
    /* clang-format on */
    return onnx_shape_find(rows, kind);
}
