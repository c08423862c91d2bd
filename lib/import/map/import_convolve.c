/* Convolutions. Whatever a format calls its dimensions, one is here x[group, batch, channel, in..] * w[group, out channel,
 * channel, tap..] -> y[batch, group, out channel, out..]. A window that is none (one tap on its place) or that has all of
 * the input (one output) needs no letters of its own: its dimensions are the same. */
#include "import/map/import_convolve.h"
#include "base/checked.h"
#include "base/fail.h"

int64_t conv_extent(const struct model_type *t, int d)
{
    return d >= 0 && d < t->count ? t->extent[d] : -1;
}

/* Extents of windows from the types, and do the groups fit? */
static bool conv_fits(struct conv *k, const struct model_type *x, const struct model_type *w,
                      const struct model_type *y)
{
    const struct conv_labels *at = &k->at;
    int rank = k->count + 2;
    if (k->count < 0 || x->count != rank || w->count != rank || y->count != rank || k->groups < 1 ||
        k->batch_groups < 1 || (k->groups > 1 && k->batch_groups > 1))
        return false;
    int64_t groups = k->groups * k->batch_groups, c = conv_extent(x, at->channel);
    int64_t o = conv_extent(w, at->out_channel), i = conv_extent(w, at->in_channel), all_o, all_i;
    bool ok = mul_i64(o, k->by_channel ? groups : 1, &all_o) &&
              mul_i64(i, k->by_channel ? 1 : k->groups, &all_i) && all_i == c &&
              all_o == conv_extent(y, at->y_channel) && all_o % groups == 0 &&
              (k->by_channel ? i : o) % groups == 0 && conv_extent(x, at->batch) % k->batch_groups == 0 &&
              conv_extent(x, at->batch) / k->batch_groups == conv_extent(y, at->y_batch);
    for (int s = 0; ok && s < k->count; s++) {
        struct model_window *win = &k->window[s];
        win->in = conv_extent(x, at->x[s]);
        win->size = conv_extent(w, at->w[s]);
        win->out = conv_extent(y, at->y[s]);
        ok = win->in > 0 && win->size > 0 && win->out > 0;
    }
    return ok;
}

/* The operand with its parts in our order. */
static bool conv_input(struct import *im, const struct model_op *op, const struct conv *k, struct slide *s)
{
    struct import_value v = *import_in(im, op, 0);
    int64_t perm[VIEW_MAX_RANK], shape[VIEW_MAX_RANK];
    int rank = 0, n = 0;
    int64_t groups = k->groups * k->batch_groups;
    perm[n++] = k->at.batch;
    perm[n++] = k->at.channel;
    for (int i = 0; i < k->count; i++) perm[n++] = k->at.x[i];
    shape[rank++] = k->batch_groups;
    shape[rank++] = v.type->extent[k->at.batch] / k->batch_groups;
    shape[rank++] = k->groups;
    shape[rank++] = v.type->extent[k->at.channel] / k->groups;
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

static bool conv_weight(struct import *im, const struct model_op *op, const struct conv *k, struct slide *s)
{
    struct import_value v = *import_in(im, op, 1);
    int64_t perm[VIEW_MAX_RANK], shape[VIEW_MAX_RANK], groups = k->groups * k->batch_groups;
    int first = k->by_channel ? k->at.in_channel : k->at.out_channel,
        second = k->by_channel ? k->at.out_channel : k->at.in_channel, rank = 0, n = 0;
    perm[n++] = first;
    perm[n++] = second;
    for (int i = 0; i < k->count; i++) perm[n++] = k->at.w[i];
    shape[rank++] = groups;
    shape[rank++] = v.type->extent[first] / groups;
    shape[rank++] = v.type->extent[second];
    for (int i = 0; i < k->count; i++) shape[rank++] = k->window[i].size;
    if (!slide_view(im, op, &v, perm, n, shape, rank)) return false;
    s->dim[1][0] = slide_dim(s, SLIDE_GROUP, groups);
    s->dim[1][1] = slide_dim(s, k->by_channel ? SLIDE_CHANNEL : SLIDE_OUT_CHANNEL, shape[1]);
    s->dim[1][2] = slide_dim(s, k->by_channel ? SLIDE_OUT_CHANNEL : SLIDE_CHANNEL, shape[2]);
    for (int i = 0; i < k->count; i++) s->dim[1][3 + i] = slide_dim(s, SLIDE_TAP + i, shape[3 + i]);
    s->operand[1] = v;
    return true;
}

/* The result in its own order, the channels in groups. */
static void conv_result(const struct conv *k, const struct model_type *y, struct slide *s)
{
    int64_t groups = k->groups * k->batch_groups;
    for (int d = 0; d < y->count; d++) {
        int w = 0;
        while (w < k->count && k->at.y[w] != d) w++;
        if (d == k->at.y_batch)
            slide_result(s, SLIDE_BATCH, y->extent[d]);
        else if (d == k->at.y_channel) {
            slide_result(s, SLIDE_GROUP, groups);
            slide_result(s, SLIDE_OUT_CHANNEL, y->extent[d] / groups);
        } else
            slide_result(s, SLIDE_OUT + w, y->extent[d]);
    }
}

/* One number a channel, whatever dimensions of one element are around it. */
static bool add_bias(struct import *im, const struct model_op *op, int channel, struct import_value *y)
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

bool conv_emit(struct import *im, const struct model_op *op, struct conv *k)
{
    const struct model_type *y = import_type_out(im, op);
    struct slide s = {.kind = "matmul", .operands = 2};
    struct import_value out;
    bool generic;
    if (!conv_fits(k, model_type_of(im->m, op->operands[0]), model_type_of(im->m, op->operands[1]), y))
        return import_generic(im, op, "schema");
    if (!slide_windows(&s, k->window, k->count)) return import_generic(im, op, "window");
    if (!conv_input(im, op, k, &s) || !conv_weight(im, op, k, &s)) return false;
    conv_result(k, y, &s);
    if (!slide_emit(im, op, &s, y, &out, &generic)) return false;
    if (generic) return import_generic(im, op, "rank");
    import_class(im, op, CLASS_MAPPED, NULL);
    if (import_has(op, 2) && !add_bias(im, op, k->at.y_channel, &out)) return false;
    return import_bind_one(im, op, &out);
}

void conv_plain_labels(struct conv *k, int batch, int channel, int out, int in)
{
    struct conv_labels *at = &k->at;
    at->batch = at->y_batch = batch;
    at->channel = at->y_channel = channel;
    at->out_channel = out;
    at->in_channel = in;
}
