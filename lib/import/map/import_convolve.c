/* Convolutions. Whatever a format calls its dimensions, one is here x[group, batch, channel, in..] *
 * w[group, out channel, channel, tap..] -> y[batch, group, out channel, out..]. A window that is none (one
 * tap on its place) or that has all of the input (one output) needs no letters of its own: its dimensions
 * are the same. */
#include "import/map/import_slide.h"
#include "base/checked.h"
#include "base/fail.h"

/* Extents of windows from the types, and do the groups fit? */
static bool conv_fits(struct model_conv *k, const struct model_type *x, const struct model_type *w,
                      const struct model_type *y)
{
    int rank = k->count + 2;
    if (k->count < 0 || x->count != rank || w->count != rank || y->count != rank || k->groups < 1 ||
        k->batch_groups < 1 || (k->groups > 1 && k->batch_groups > 1))
        return false;
    int64_t groups = k->groups * k->batch_groups, o = conv_extent(w, k->out_channel), c;
    bool ok = mul_i64(conv_extent(w, k->in_channel), k->groups, &c) && c == conv_extent(x, k->channel) &&
              o == conv_extent(y, k->y_channel) && o % groups == 0 &&
              conv_extent(x, k->batch) % k->batch_groups == 0 &&
              conv_extent(x, k->batch) / k->batch_groups == conv_extent(y, k->y_batch);
    for (int s = 0; ok && s < k->count; s++) {
        struct model_window *win = &k->window[s];
        win->in = conv_extent(x, k->x[s]);
        win->size = conv_extent(w, k->w[s]);
        win->out = conv_extent(y, k->y[s]);
        ok = win->in > 0 && win->size > 0 && win->out > 0;
    }
    return ok;
}

/* The operand with its parts in our order. */
static bool conv_input(struct import *im, const struct model_op *op, const struct model_conv *k,
                       struct slide *s)
{
    struct import_value v = *import_in(im, op, 0);
    int64_t perm[VIEW_MAX_RANK], shape[VIEW_MAX_RANK];
    int rank = 0, n = 0;
    int64_t groups = k->groups * k->batch_groups;
    perm[n++] = k->batch;
    perm[n++] = k->channel;
    for (int i = 0; i < k->count; i++) perm[n++] = k->x[i];
    shape[rank++] = k->batch_groups;
    shape[rank++] = v.type->extent[k->batch] / k->batch_groups;
    shape[rank++] = k->groups;
    shape[rank++] = v.type->extent[k->channel] / k->groups;
    for (int i = 0; i < k->count; i++) shape[rank++] = k->window[i].in;
    if (!slide_view(im, op, &v, perm, n, shape, rank)) return false;
    s->dim[0][0] = k->batch_groups > 1 ? slide_dim(s, SLIDE_GROUP, groups) : -1;
    s->dim[0][1] = slide_dim(s, SLIDE_BATCH, shape[1]);
    s->dim[0][2] = k->groups > 1 ? slide_dim(s, SLIDE_GROUP, groups) : -1;
    s->dim[0][3] = slide_dim(s, SLIDE_CHANNEL, shape[3]);
    for (int i = 0; i < k->count; i++) s->dim[0][4 + i] = slide_dim(s, SLIDE_IN + i, shape[4 + i]);
    s->operand[0] = v;
    return true;
}

static bool conv_weight(struct import *im, const struct model_op *op, const struct model_conv *k,
                        struct slide *s)
{
    struct import_value v = *import_in(im, op, 1);
    int64_t perm[VIEW_MAX_RANK], shape[VIEW_MAX_RANK], groups = k->groups * k->batch_groups;
    int rank = 0, n = 0;
    perm[n++] = k->out_channel;
    perm[n++] = k->in_channel;
    for (int i = 0; i < k->count; i++) perm[n++] = k->w[i];
    shape[rank++] = groups;
    shape[rank++] = v.type->extent[k->out_channel] / groups;
    shape[rank++] = v.type->extent[k->in_channel];
    for (int i = 0; i < k->count; i++) shape[rank++] = k->window[i].size;
    if (!slide_view(im, op, &v, perm, n, shape, rank)) return false;
    s->dim[1][0] = slide_dim(s, SLIDE_GROUP, groups);
    s->dim[1][1] = slide_dim(s, SLIDE_OUT_CHANNEL, shape[1]);
    s->dim[1][2] = slide_dim(s, SLIDE_CHANNEL, shape[2]);
    for (int i = 0; i < k->count; i++) s->dim[1][3 + i] = slide_dim(s, SLIDE_TAP + i, shape[3 + i]);
    s->operand[1] = v;
    return true;
}

/* The result in its own order, the channels in groups. */
static void conv_result(const struct model_conv *k, const struct model_type *y, struct slide *s)
{
    int64_t groups = k->groups * k->batch_groups;
    for (int d = 0; d < y->count; d++) {
        int w = 0;
        while (w < k->count && k->y[w] != d) w++;
        if (d == k->y_batch)
            slide_result(s, SLIDE_BATCH, y->extent[d]);
        else if (d == k->y_channel) {
            slide_result(s, SLIDE_GROUP, groups);
            slide_result(s, SLIDE_OUT_CHANNEL, y->extent[d] / groups);
        } else
            slide_result(s, SLIDE_OUT + w, y->extent[d]);
    }
}

/* One number a channel, whatever dimensions of one element are around it. */
static bool conv_add_bias(struct import *im, const struct model_op *op, int channel, struct import_value *y)
{
    struct import_value b = *import_in(im, op, 2), sum;
    struct sketch_operand in[2] = {{y->storage, y->view, y->via}};
    struct view line;
    int dims[VIEW_MAX_RANK];
    int64_t n = y->type->extent[channel];
    if (b.type->elements != n || !import_stored(im, &b) || !view_reshape(&b.view, 1, &n, &line))
        return status_set(im->st, LX_E_SHAPE, "a bias of %lld elements for %lld channels",
                          (long long)b.type->elements, (long long)n);
    in[1] = (struct sketch_operand){.storage = b.storage, .via = b.via};
    view_start(&in[1].view);
    for (int d = 0; d < y->type->count; d++) {
        dims[d] = d;
        if (d == channel ? !view_add_dim(&in[1].view, &line, 0) : !view_open_dim(&in[1].view))
            return status_set(im->st, LX_E_LIMIT, "too many dimensions");
    }
    if (!import_sketch(im, "add", op, y->type->count, y->type->extent, in, 2, NULL, y->type, dims, &sum))
        return false;
    *y = sum;
    import_class(im, op, CLASS_EXPANDED, NULL);
    return true;
}

bool map_convolution(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = model_type_of(im->m, op->operands[0]),
                            *w = model_type_of(im->m, op->operands[1]), *y = import_type_out(im, op);
    struct slide s = {.kind = ours, .operands = 2};
    struct model_conv k;
    struct import_value out;
    bool generic;
    if (!op_conv(im->format, op, x, w, &k) || k.count > VIEW_MAX_RANK - 8)
        return import_generic(im, op, "window");
    if (!conv_fits(&k, x, w, y)) return import_generic(im, op, "schema");
    for (int i = 0; i < k.count; i++) { /* taps from the end */
        if (!k.window[i].reversed) continue;
        k.window[i].low -= k.window[i].dilation * (k.window[i].size - 1);
        k.window[i].dilation = -k.window[i].dilation;
    }
    if (!slide_windows(&s, k.window, k.count)) return import_generic(im, op, "window");
    if (!conv_input(im, op, &k, &s) || !conv_weight(im, op, &k, &s)) return false;
    conv_result(&k, y, &s);
    if (!slide_emit(im, op, &s, y, &out, &generic)) return false;
    if (generic) return import_generic(im, op, "rank");
    import_class(im, op, CLASS_MAPPED, NULL);
    if (import_has(op, 2) && !conv_add_bias(im, op, k.y_channel, &out)) return false;
    return import_bind_one(im, op, &out);
}
