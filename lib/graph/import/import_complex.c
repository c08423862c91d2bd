/* Complex numbers: a tensor of them is one of real numbers with one more dimension of 2, the innermost. What has such an
 * operand or result is mapped here; the rest of the table never sees them. What computes is written in its parts before
 * (model/layers_complex.c). Parts that were joined are remembered: who wants them does not cut the pairs apart again, and
 * pairs that nobody else needs are never made. */
#include "graph/import/import_steps.h"
#include "base/fail.h"

#include <string.h>

const struct model_type *import_real_type(struct import *im, const struct model_type *t)
{
    int64_t extent[VIEW_MAX_RANK + 1];
    bool narrow = t->element == MODEL_C64;
    if ((!narrow && t->element != MODEL_C128) || t->count >= VIEW_MAX_RANK) return t;
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    extent[t->count] = 2;
    return import_type(im, narrow ? MODEL_F32 : MODEL_F64, t->count + 1, extent);
}

static bool is_complex(const struct import *im, int32_t value)
{
    const struct model_type *t = value >= 0 ? model_type_of(im->m, value) : NULL;
    return t && (t->element == MODEL_C64 || t->element == MODEL_C128);
}

bool import_is_complex(const struct import *im, const struct model_op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (is_complex(im, op->operands[i])) return true;
    for (int i = 0; i < op->result_count; i++)
        if (is_complex(im, op->results[i])) return true;
    return false;
}

/* The dimensions in front of the last, then `last`; 0: none. */
static const struct model_type *with_last(struct import *im, const struct model_type *t, int64_t last)
{
    int64_t extent[VIEW_MAX_RANK + 1];
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    extent[t->count - 1] = last;
    return import_type(im, t->element, t->count - (last == 0), extent);
}

/* For whoever wants them apart; not of what may be written before they are read. */
static bool remember(struct import *im, int32_t pairs, const struct import_value part[2])
{
    for (int i = 0; i < 2; i++)
        if (im->format == MODEL_TTIR && im->storages.at[part[i].storage].role != LX_ROLE_COUNT) return true;
    im->storages.at[pairs].parts = arena_copy_array(&im->memory, part, 2, sizeof *part);
    return im->storages.at[pairs].parts ? true : status_no_memory(im->st);
}

/* A copy, for they lie within sticks. */
static struct import_value cut_part(struct steps *s, struct import_value v, int which)
{
    struct import_value part = v;
    part.type = s->ok ? with_last(s->im, v.type, 1) : NULL;
    s->ok = part.type && view_slice(&v.view, v.type->count - 1, which, 1, 1, &part.view);
    part.via = NULL;
    s->ok = s->ok && import_plain(s->im, &part, s->op);
    return part;
}

/* All of the storage taken apart, unless it was before. */
static void take_apart(struct steps *s, const struct import_value *v)
{
    const struct storage *pairs = &s->im->storages.at[v->storage];
    int64_t extent[2] = {pairs->elements / 2, 2};
    struct import_value all = {.storage = v->storage, .name = v->name}, part[2];
    if (pairs->parts) return;
    all.type = import_type(s->im, v->type->element, 2, extent);
    s->ok = all.type && view_plain(&all.view, 2, extent);
    for (int i = 0; i < 2; i++) part[i] = cut_part(s, all, i);
    s->ok = s->ok && remember(s->im, v->storage, part);
}

/* Places of the parts, where the pairs had these: half of them. The last dimension is the two of a pair. */
static bool half_view(const struct view *v, struct view *out)
{
    int last = v->rank - 1, pair = v->first[last];
    bool ok = v->first[v->rank] == pair + 1 && v->atom[pair].low == 1 && v->atom[pair].extent == 2 &&
              v->atom[pair].span == 0;
    *out = *v;
    for (int i = 0; i < pair; i++) {
        ok = ok && out->atom[i].low % 2 == 0;
        out->atom[i].low /= 2;
    }
    for (int i = 0; i < v->fixed_count; i++) {
        ok = ok && out->fixed[i].low % 2 == 0;
        out->fixed[i].low /= 2;
    }
    out->first[v->rank] = (signed char)pair;
    return ok;
}

/* Their own shape, where the pairs just got another one; else a view like that of the pairs, of parts that are plain. */
static bool seen_part(struct steps *s, const struct import_value *v, int which, struct import_value *out)
{
    const struct storage *pairs = &s->im->storages.at[v->storage];
    *out = pairs->parts[which];
    out->type = with_last(s->im, v->type, 1);
    if (!out->type) return s->ok = false;
    if (view_is_plain(&v->view, pairs->elements) &&
        view_reshape(&pairs->parts[which].view, out->type->count, out->type->extent, &out->view))
        return true;
    struct import_value plain = pairs->parts[which];
    bool fits = half_view(&v->view, &out->view) && import_plain(s->im, &plain, s->op);
    out->storage = plain.storage;
    out->via = v->via;
    return fits;
}

/* Real (0) or imaginary (1) parts, with a last dimension of 1. */
static struct import_value part_of(struct steps *s, struct import_value v, int which)
{
    struct import_value part = v;
    s->ok = s->ok && import_stored(s->im, &v);
    if (s->ok) take_apart(s, &v);
    if (s->ok && s->im->storages.at[v.storage].parts && seen_part(s, &v, which, &part)) return part;
    s->ok = s->ok && import_plain(s->im, &v, s->op);
    return cut_part(s, v, which);
}

static struct import_value both(struct steps *s, struct import_value re, struct import_value im)
{
    struct import_value part[2] = {re, im}, out = re;
    const struct model_type *type = s->ok ? with_last(s->im, re.type, 2) : NULL;
    s->ok = type && import_join(s->im, s->op, part, 2, type->count - 1, type, &out);
    out.type = type;
    bool plain = s->ok && view_is_plain(&out.view, s->im->storages.at[out.storage].elements);
    if (plain) s->ok = remember(s->im, out.storage, (struct import_value[2]){re, im});
    return out;
}

static bool result(struct steps *s, struct import_value y, enum import_class class)
{
    if (!s->ok && s->im->st->code == LX_OK) return import_generic(s->im, s->op, "rank"); /* or atoms */
    if (s->ok) import_class(s->im, s->op, class, NULL);
    return s->ok && import_bind_one(s->im, s->op, &y);
}

static bool make(struct import *im, const struct model_op *op, const char *ours)
{
    struct steps s = {im, op, true};
    struct import_value v[2] = {{.storage = -1}, {.storage = -1}};
    (void)ours;
    for (int i = 0; s.ok && i < 2; i++) {
        v[i] = step_operand(&s, i);
        const struct model_type *whole = import_real_type(im, import_type_out(im, op));
        s.ok = s.ok && whole && import_plain(im, &v[i], op) && view_open_dim(&v[i].view);
        if (s.ok) v[i].type = with_last(im, whole, 1);
        s.ok = s.ok && v[i].type;
    }
    return result(&s, both(&s, v[0], v[1]), CLASS_MAPPED);
}

static bool take(struct import *im, const struct model_op *op, const char *ours)
{
    struct steps s = {im, op, true};
    int which = strcmp(op->kind, "imag") == 0 || strcmp(op->kind, "lxplan:Imag") == 0;
    struct import_value v = part_of(&s, step_operand(&s, 0), which), out = v;
    (void)ours;
    out.type = import_type_out(im, op);
    s.ok = s.ok && view_reshape(&v.view, out.type->count, out.type->extent, &out.view);
    return result(&s, out, CLASS_MAPPED);
}

/* A view of its pairs: as such, or copied where that is wanted. */
static bool seen_as(struct import *im, const struct model_op *op, struct import_value v)
{
    struct op_class *c = import_class_of(im, op);
    const char *why = c->forced ? c->forced : im->options.no_fold ? "no-fold" : NULL;
    v.type = import_real_type(im, import_type_out(im, op));
    if (!v.type) return false;
    v.via = why ? NULL : c;
    import_class(im, op, why ? CLASS_COPIED : CLASS_FREE, why ? why : "view");
    return (!why || import_plain(im, &v, op)) && import_bind_one(im, op, &v);
}

static bool reshape(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_real_type(im, import_type_out(im, op));
    struct import_value v = *import_in(im, op, 0), out = v;
    if (!type) return false;
    if (!import_class_of(im, op)->forced && !im->options.no_fold &&
        view_reshape(&v.view, type->count, type->extent, &out.view))
        return seen_as(im, op, out);
    import_class(im, op, CLASS_COPIED, "atoms");
    return import_opaque_leaf(im, ours, op, v, type, &out) && import_bind_one(im, op, &out);
}

static bool transpose(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value v = *import_in(im, op, 0), out = v;
    int64_t order[VIEW_MAX_RANK];
    int count;
    const int64_t *list = model_attr_ints(&op->attrs, "dimensions", &count);
    (void)ours;
    if (count != v.type->count - 1) return import_generic(im, op, "schema");
    for (int d = 0; d < count; d++) order[d] = list[d];
    order[count] = count;
    return view_permute(&v.view, order, &out.view) ? seen_as(im, op, out) : import_generic(im, op, "rank");
}

static bool broadcast(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_real_type(im, import_type_out(im, op));
    struct import_value v = *import_in(im, op, 0), out = v;
    int to[VIEW_MAX_RANK], count;
    const int64_t *list = model_attr_ints(&op->attrs, "dimensions", &count);
    (void)ours;
    if (!type) return false;
    if (count != v.type->count - 1) return import_generic(im, op, "schema");
    for (int d = 0; d < count; d++) to[d] = (int)list[d];
    to[count] = type->count - 1;
    bool ok = view_broadcast(&v.view, to, type->count, type->extent, &out.view);
    return ok ? seen_as(im, op, out) : import_generic(im, op, "rank");
}

static bool same(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value v = *import_in(im, op, 0);
    (void)ours;
    import_class(im, op, CLASS_FREE, "names");
    return import_bind_one(im, op, &v);
}

/* Pairs of real numbers as complex ones, and back. */
static bool paired(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value v = *import_in(im, op, 0);
    const struct model_type *type = import_real_type(im, import_type_out(im, op));
    (void)ours;
    if (!type) return false;
    if (!model_same_shape(type, v.type) || type->element != v.type->element)
        return import_generic(im, op, "schema");
    v.type = type;
    import_class(im, op, CLASS_FREE, "names");
    return import_bind_one(im, op, &v);
}

/* One number everywhere is a pair that is repeated. */
static bool constant(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_attr *a = model_attr_find(&op->attrs, "value");
    const struct model_data *d = im->m->values.at[op->results[0]].data;
    const struct model_type *type = import_real_type(im, import_type_out(im, op));
    if (!d && a && a->form == ATTR_DATA) d = a->data;
    if (!d || !d->reals || !type || d->type->element != import_type_out(im, op)->element)
        return type ? import_unknown_constant(im, op, ours) : false;
    struct model_data *pairs = arena_copy_array(&im->memory, d, 1, sizeof *d);
    struct import_value v = {.storage = -1, .type = type, .known = pairs}, out;
    if (!pairs) return status_no_memory(im->st);
    bool splat = d->form == DATA_SPLAT;
    pairs->form = DATA_LIST;
    pairs->type = v.type = splat ? import_type(im, type->element, 1, (int64_t[]){2}) : type;
    if (!pairs->type || !import_stored(im, &v)) return false;
    out = v;
    out.type = type;
    if (splat && !view_broadcast(&v.view, (int[]){type->count - 1}, type->count, type->extent, &out.view))
        return import_generic(im, op, "rank");
    import_class(im, op, CLASS_FOLDED, NULL);
    return import_bind_one(im, op, &out);
}

static const struct complex_row {
    const char *name[MODEL_FORMAT_COUNT], *ours;
    import_emit *emit;
    int operands;
} rows[] = {
    {{"complex", "complex", "lxplan:Complex"}, "concat", make, 2},
    {{"real", "real", "lxplan:Real"}, "slice", take, 1},
    {{"imag", "imag", "lxplan:Imag"}, "slice", take, 1},
    {{"view_as_complex", NULL, NULL}, "clone", paired, 1},
    {{"view_as_real", NULL, NULL}, "clone", paired, 1},
    {{NULL, "reshape", NULL}, "reshape", reshape, 1},
    {{NULL, "bitcast", NULL}, "reshape", reshape, 1},
    {{NULL, "transpose", NULL}, "clone", transpose, 1},
    {{NULL, "broadcast", NULL}, "clone", broadcast, 1},
    {{NULL, "copy", NULL}, "clone", same, 1},
    {{NULL, "opt-barrier", NULL}, "clone", same, 1},
    {{"constant", "constant", NULL}, "constant", constant, 0},
};

static bool is_stored_real(const struct import_value *v)
{
    return v->type->element != MODEL_C64 && v->type->element != MODEL_C128;
}

bool import_complex(struct import *im, const struct model_op *op)
{
    bool fits = op->result_count == 1 && import_is_tensor(im, op->results[0]) &&
                import_type_out(im, op)->count < VIEW_MAX_RANK;
    for (int i = 0; i < op->operand_count; i++)
        fits = fits && import_is_tensor(im, op->operands[i]) && is_stored_real(import_in(im, op, i));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].name[im->format] && strcmp(rows[i].name[im->format], op->kind) == 0 &&
            op->operand_count >= rows[i].operands)
            return fits || rows[i].operands == 0 ? rows[i].emit(im, op, rows[i].ours)
                                                 : import_generic(im, op, "form");
    return import_generic(im, op, "complex");
}
