/* Ops of HLO in smaller ones: gradients of pools, computations that are applied element by element, calls that libraries
 * stand behind. */
#include "model/layers.h"
#include "model/meshes.h"
#include "model/windows.h"
#include "base/fail.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TAPS = 64, MOST_STEPS = 64 };

static const struct model_type *shaped(struct layer *l, enum model_element e, const struct model_type *like)
{
    return l->ok ? model_type_make(l->m, e, like->count, like->extent, l->st) : NULL;
}

/* An op of HLO with operands of its own. */
static int32_t native(struct layer *l, const struct model_op *like, int count, const int32_t *operands,
                      const struct model_type *type)
{
    struct model_op op = *like;
    op.native = true;
    op.instead = 0;
    return type ? layer_like(l, &op, count, operands, type) : -1;
}

/* Is the operand that number everywhere? */
static bool is_number(const struct layer *l, int operand, double number)
{
    const struct model_data *d =
        layer_has(l, operand) ? l->m->values.at[l->op->operands[operand]].data : NULL;
    if (!d || (d->form != DATA_SPLAT && d->type->elements != 1)) return false;
    return d->reals ? d->reals[0] == number : d->ints && (double)d->ints[0] == number;
}

/* ---- the element that a pool took gets what comes back ---- */

/* The only op of a computation of two numbers, in their order. */
static const struct model_op *only_op(const struct layer *l, int body)
{
    const struct model_body *b = body < l->op->body_count ? &l->m->bodies.at[l->op->bodies[body]] : NULL;
    if (!b || b->op_count != 3 || b->argument_count != 2) return NULL;
    for (int i = 0; i < 3; i++) {
        const struct model_op *o = &b->ops[i];
        if (o->operand_count == 2 && o->operands[0] == b->arguments[0] && o->operands[1] == b->arguments[1] &&
            o->results[0] == b->results[0])
            return o;
    }
    return NULL;
}

/* Where taps of a pool stand. */
struct taps {
    int rank, count;
    struct model_window w[MODEL_MAX_WINDOWS];
    int64_t at[MODEL_MAX_WINDOWS]; /* of the tap under way */
};

static bool taps_of(struct layer *l, struct taps *t)
{
    const struct model_type *x = layer_type(l, layer_in(l, 0)), *from = layer_type(l, layer_in(l, 1));
    *t = (struct taps){.rank = x->count, .count = 1};
    bool ok =
        x->count <= MODEL_MAX_WINDOWS && from->count == x->count && hlo_windows(l->op, t->w) == x->count;
    for (int d = 0; ok && d < x->count; d++) {
        struct model_window *w = &t->w[d];
        w->in = x->extent[d];
        w->out = from->extent[d];
        ok = w->size >= 1 && w->size <= MOST_TAPS && w->stride >= 1 && w->stride <= INT16_MAX &&
             w->dilation == 1 && w->hole == 1 && w->low >= 0 && w->high >= 0 && w->low < INT16_MAX &&
             w->high < INT16_MAX && w->out >= 1 &&
             (w->out - 1) * w->stride + w->size <= w->in + w->low + w->high;
        t->count *= ok ? (int)w->size : 1;
        ok = ok && t->count <= MOST_TAPS;
    }
    return ok;
}

static void tap_at(struct taps *t, int number)
{
    for (int d = t->rank - 1; d >= 0; d--) {
        t->at[d] = number % t->w[d].size;
        number /= (int)t->w[d].size;
    }
}

static int32_t padded(struct layer *l, int32_t x, const struct taps *t)
{
    int64_t pads[2 * MODEL_MAX_WINDOWS], any = 0;
    for (int d = 0; d < t->rank; d++) {
        any |= (pads[d] = t->w[d].low);
        any |= (pads[t->rank + d] = t->w[d].high);
    }
    if (!any) return x;
    int32_t parts[] = {x, layer_list(l, 2 * t->rank, pads), layer_number(l, layer_element(l, x), -INFINITY)};
    return layer_part(l, "Pad", 3, parts);
}

/* What each window has at the tap: [out.., 1] */
static int32_t tap_values(struct layer *l, int32_t x, const struct taps *t)
{
    int64_t end[MODEL_MAX_WINDOWS], axis[MODEL_MAX_WINDOWS], step[MODEL_MAX_WINDOWS],
        shape[MODEL_MAX_WINDOWS + 1];
    for (int d = 0; d < t->rank; d++) {
        axis[d] = d;
        step[d] = t->w[d].stride;
        shape[d] = t->w[d].out;
        end[d] = t->at[d] + (t->w[d].out - 1) * t->w[d].stride + 1;
    }
    shape[t->rank] = 1;
    int32_t parts[] = {x, layer_list(l, t->rank, t->at), layer_list(l, t->rank, end),
                       layer_list(l, t->rank, axis), layer_list(l, t->rank, step)};
    return layer_reshape(l, layer_part(l, "Slice", 5, parts), t->rank + 1, shape);
}

/* Elements of windows at the places of the tap in the whole. */
static int32_t tap_back(struct layer *l, int32_t values, const struct taps *t, const struct model_type *whole)
{
    char text[MODEL_MAX_WINDOWS * 64];
    size_t n = 0;
    for (int d = 0; d < t->rank; d++) {
        int64_t low = t->at[d] - t->w[d].low, span = (t->w[d].out - 1) * t->w[d].stride + 1;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld_%lld_%lld", d ? "x" : "", (long long)low,
                              (long long)(t->w[d].in - low - span), (long long)(t->w[d].stride - 1));
    }
    struct model_attr *padding = arena_alloc(&l->m->memory, sizeof *padding);
    const char *kept = arena_string(&l->m->memory, text);
    if (!padding || !kept) return layer_fail(l), -1;
    *padding = (struct model_attr){.key = "padding", .form = ATTR_TEXT, .text = kept};
    struct model_op pad = {.kind = "pad", .attrs = {padding, 1}};
    int32_t zero = layer_number(l, whole->element, 0);
    return native(l, &pad, 2, (int32_t[]){values, zero}, whole);
}

/* Of each window the first of the largest (or least) elements; sums of what comes back to them. */
static void select_and_scatter(struct layer *l)
{
    const struct model_op *select = only_op(l, 0), *scatter = only_op(l, 1);
    const char *way = select && strcmp(select->kind, "compare") == 0
                          ? model_attr_word(&select->attrs, "direction", "")
                          : "";
    struct taps t;
    int32_t values[MOST_TAPS], sum = -1;
    if (strcmp(way, "GE") != 0 || !scatter || strcmp(scatter->kind, "add") != 0 ||
        l->op->operand_count != 3 || !is_number(l, 2, 0) || !taps_of(l, &t) ||
        model_element_row(layer_element(l, layer_in(l, 0)))->number != MODEL_FLOAT) {
        layer_fail(l);
        return;
    }
    const struct model_type *whole = model_type_of(l->m, l->op->results[0]);
    int32_t x = padded(l, layer_in(l, 0), &t), zero = layer_number(l, whole->element, 0);
    for (int i = 0; i < t.count; i++) {
        tap_at(&t, i);
        values[i] = tap_values(l, x, &t);
    }
    int32_t all = layer_concat(l, t.rank, t.count, values);
    layer_put(l, "axis", t.rank);
    layer_put(l, "keepdims", 0);
    int32_t first = layer_one(l, "ArgMax", all);
    for (int i = 0; i < t.count && l->ok; i++) {
        tap_at(&t, i);
        int32_t parts[] = {layer_by(l, "Equal", first, i), layer_in(l, 1), zero};
        int32_t back = tap_back(l, layer_part(l, "Where", 3, parts), &t, whole);
        sum = sum < 0 ? back : layer_two(l, "Add", sum, back);
    }
    layer_result(l, 0, sum);
}

/* ---- a computation for each element ---- */

static int32_t known_step(struct layer *l, const struct model_op *op)
{
    const struct model_data *d = l->m->values.at[op->results[0]].data;
    if (!d || (!d->reals && !d->ints)) return layer_fail(l), -1;
    return layer_number(l, layer_element(l, op->results[0]), d->reals ? d->reals[0] : (double)d->ints[0]);
}

/* Its ops one after the other, on tensors instead of numbers. */
static void mapped(struct layer *l)
{
    const struct model_body *b = l->op->body_count == 1 ? &l->m->bodies.at[l->op->bodies[0]] : NULL;
    const struct model_type *y = model_type_of(l->m, l->op->results[0]);
    int32_t from[2 * MOST_STEPS], to[2 * MOST_STEPS], in[4];
    int known = 0;
    if (!b || b->op_count > MOST_STEPS || b->argument_count != l->op->operand_count || b->result_count != 1 ||
        b->argument_count > MOST_STEPS) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < b->argument_count; i++) from[known] = b->arguments[i], to[known++] = layer_in(l, i);
    for (int i = 0; i < b->op_count && l->ok; i++) {
        const struct model_op op = l->m->bodies.at[l->op->bodies[0]].ops[i];
        if (strcmp(op.kind, "parameter") == 0) continue;
        if (op.operand_count > 4 || op.body_count || op.result_count != 1) layer_fail(l);
        for (int k = 0; l->ok && k < op.operand_count; k++) {
            int at = 0;
            while (at < known && from[at] != op.operands[k]) at++;
            if (at == known) layer_fail(l);
            in[k] = l->ok ? to[at] : -1;
        }
        bool constant = strcmp(op.kind, "constant") == 0;
        if (!l->ok) return;
        int32_t made =
            constant ? known_step(l, &op)
                     : native(l, &op, op.operand_count, in, shaped(l, layer_element(l, op.results[0]), y));
        from[known] = op.results[0];
        to[known++] = made;
    }
    int at = 0;
    int32_t last = l->m->bodies.at[l->op->bodies[0]].results[0];
    while (at < known && from[at] != last) at++;
    if (at < known)
        layer_result(l, 0, layer_expand_to(l, to[at], y->count, y->extent));
    else
        layer_fail(l);
}

/* ---- several reductions at once, each by itself ---- */

/* ONNX has a kind for it; and what it begins with, if that changes nothing. */
static const struct {
    const char *theirs, *kind, *two;
    double neutral;
} folds[] = {{"add", "ReduceSum", "Add", 0},
             {"multiply", "ReduceProd", "Mul", 1},
             {"maximum", "ReduceMax", "Max", -INFINITY},
             {"minimum", "ReduceMin", "Min", INFINITY}};

static const struct model_op *maker(const struct layer *l, const struct model_body *b, int32_t value)
{
    const struct model_value *v = &l->m->values.at[value];
    return v->from == FROM_OP && v->op >= 0 && v->op < b->op_count && b->ops[v->op].results[0] == value
               ? &b->ops[v->op]
               : NULL;
}

/* Which of the folds number `i` of `n` is; -1: it looks at others as well. */
static int fold_of(const struct layer *l, const struct model_body *b, const struct model_op *root, int i,
                   int n)
{
    const struct model_op *o = maker(l, b, root->operands[i]);
    int32_t x = b->arguments[i], y = b->arguments[n + i];
    bool own = o && o->operand_count == 2 &&
               ((o->operands[0] == x && o->operands[1] == y) || (o->operands[0] == y && o->operands[1] == x));
    for (int k = 0; own && k < (int)(sizeof folds / sizeof *folds); k++)
        if (strcmp(folds[k].theirs, o->kind) == 0) return k;
    return -1;
}

static void reduce_all(struct layer *l)
{
    const struct model_body *b = l->op->body_count == 1 ? &l->m->bodies.at[l->op->bodies[0]] : NULL;
    int n = l->op->operand_count / 2, count, fold[MOST_STEPS];
    const int64_t *axes = model_attr_ints(&l->op->attrs, "dimensions", &count);
    const struct model_op *root = b && b->result_count == 1 ? maker(l, b, b->results[0]) : NULL;
    if (n == 1) { /* the importer has the others */
        layer_reduce_bits(l);
        return;
    }
    bool ok = n > 1 && n <= MOST_STEPS && l->op->operand_count == 2 * n && root && count > 0 &&
              strcmp(root->kind, "tuple") == 0 && root->operand_count == n && b->argument_count == 2 * n &&
              l->result_count == n;
    for (int i = 0; ok && i < n; i++) ok = (fold[i] = fold_of(l, b, root, i, n)) >= 0;
    if (!ok) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < n; i++) {
        int32_t y = layer_reduce(l, folds[fold[i]].kind, layer_in(l, i), count, axes, false);
        if (!is_number(l, n + i, folds[fold[i]].neutral))
            y = layer_two(l, folds[fold[i]].two, y, layer_in(l, n + i));
        layer_result(l, i, y);
    }
}

/* ---- running products: windows that have all of a dimension on one side; the importer has other windows ---- */

static void running(struct layer *l)
{
    const struct model_op *o = only_op(l, 0);
    struct model_window w[MODEL_MAX_WINDOWS];
    const struct model_type *x = layer_type(l, layer_in(l, 0));
    int count = hlo_windows(l->op, w), axis = -1, slides = 0;
    bool ok = o && strcmp(o->kind, "multiply") == 0 && l->op->operand_count == 2 && is_number(l, 1, 1) &&
              count == x->count && count <= MODEL_MAX_WINDOWS;
    for (int d = 0; ok && d < count; d++) {
        if (w[d].size == 1 && w[d].stride == 1 && w[d].low == 0 && w[d].high == 0 && w[d].hole == 1) continue;
        axis = d;
        slides++;
        ok = w[d].size == x->extent[d] && w[d].stride == 1 && w[d].dilation == 1 && w[d].hole == 1 &&
             w[d].low + w[d].high == w[d].size - 1 && (w[d].low == 0 || w[d].high == 0);
    }
    if (ok && slides == 1)
        layer_result(l, 0, layer_running_product(l, layer_in(l, 0), axis, w[axis].high > 0));
    else
        layer_fail(l);
}

/* ---- extents ---- */

static void dimension_size(struct layer *l)
{
    const struct model_type *x = layer_type(l, layer_in(l, 0));
    int count;
    const int64_t *d = model_attr_ints(&l->op->attrs, "dimensions", &count);
    if (count != 1 || d[0] < 0 || d[0] >= x->count)
        layer_fail(l);
    else
        layer_result(l, 0, layer_number(l, layer_element(l, l->op->results[0]), (double)x->extent[d[0]]));
}

/* A bounded extent is its bound. */
static void same(struct layer *l)
{
    layer_result(l, 0, layer_one(l, "Identity", layer_in(l, 0)));
}

/* ---- devices ---- */

/* The attributes of the op, and along which dimension it goes. */
static struct model_attrs along_first(struct layer *l)
{
    struct model_attrs all = {NULL, l->op->attrs.count + 1};
    struct model_attr *at = arena_array(&l->m->memory, (size_t)all.count, sizeof *at);
    int64_t *first = arena_array(&l->m->memory, 1, sizeof *first);
    if (!at || !first) {
        l->ok = status_no_memory(l->st);
        return l->op->attrs;
    }
    *first = 0;
    memcpy(at, l->op->attrs.at, (size_t)l->op->attrs.count * sizeof *at);
    at[all.count - 1] =
        (struct model_attr){.key = "dimensions", .form = ATTR_INTS, .count = 1, .ints = first};
    all.at = at;
    return all;
}

/* For a team: as many operands as devices, one for each of them, are rows of one that is shared out. */
static void shared_rows(struct layer *l)
{
    int n = l->op->operand_count;
    const struct model_type *x = layer_type(l, layer_in(l, 0));
    int64_t row[] = {1, x->elements}, all[] = {n, x->elements};
    struct model_op like = *l->op;
    int32_t *rows = arena_array(&l->m->memory, (size_t)n + 1, sizeof *rows);
    if (!l->limits->team || n < 2 || l->result_count != n || n != model_group_size(l->m, l->op) || !rows) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < n; i++) rows[i] = layer_reshape(l, layer_in(l, i), 2, row);
    int32_t joined = layer_concat(l, 0, n, rows);
    like.native = true;
    like.attrs = along_first(l);
    int32_t y = layer_like(l, &like, 1, &joined, model_type_make(l->m, x->element, 2, all, l->st));
    for (int i = 0; i < n; i++) layer_result(l, i, layer_slice(l, y, 0, i, i + 1));
}

/* clang-format off */
const struct layer_row layers_hlo[] = {
    {{NULL, "all-to-all", NULL}, shared_rows},
    {{NULL, "select-and-scatter", NULL}, select_and_scatter},
    {{NULL, "map", NULL}, mapped},
    {{NULL, "reduce", NULL}, reduce_all},
    {{NULL, "reduce-window", NULL}, running},
    {{NULL, "get-dimension-size", NULL}, dimension_size},
    {{NULL, "set-dimension-size", NULL}, same},
    {{NULL, "dynamic-reshape", NULL}, same},
    {{NULL}, NULL},
};
/* clang-format on */
