/* Ops with windows: convolutions and pools of all formats, running sums of HLO.
 *
 * Each dimension of the op has a role, whichever operands have it. A convolution is x[group, batch, channel,
 * in..] * w[group, out channel, channel, tap..] -> y[batch, group, out channel, out..]. A window of one tap
 * at its own place, or of the whole input, needs no letters. No storage is ever cut within a sliding
 * dimension. */
#include "import/map/import_steps.h"
#include "import/types/windows.h"

enum slide_role {
    SLIDE_BATCH,
    SLIDE_GROUP,
    SLIDE_OUT_CHANNEL,
    SLIDE_CHANNEL,
    SLIDE_OUT, /* of window 0, 1, ... */
    SLIDE_TAP = SLIDE_OUT + MODEL_MAX_WINDOWS,
    SLIDE_IN = SLIDE_TAP + MODEL_MAX_WINDOWS,
    SLIDE_OTHER = SLIDE_IN + MODEL_MAX_WINDOWS, /* dimension 0, 1, ... of a pool */
    SLIDE_ROLES = SLIDE_OTHER + VIEW_MAX_RANK
};

struct slide {
    const char *kind;
    int operands;
    struct import_value operand[2];
    int dim[2][VIEW_MAX_RANK];             /* of the op, by dimension of the operand; -1: extent 1 */
    signed char of_role[SLIDE_ROLES];      /* 1 + dimension of the op; 0: none yet */
    unsigned char stands_for[SLIDE_ROLES]; /* 1 + the role it equals; 0: itself */
    int rank;
    int64_t extent[VIEW_MAX_RANK];
    int result_rank, result[VIEW_MAX_RANK];
    int64_t result_extent[VIEW_MAX_RANK];
    int window_count, from[MODEL_MAX_WINDOWS]; /* the windows kept, and their numbers in the op */
    struct lx_window window[MODEL_MAX_WINDOWS];
    unsigned slides; /* sliding dimensions of the op (bits) */
    bool full;       /* too many dimensions */
};

/* Keeps the windows that need letters. False: a number is out of range. */
static bool slide_windows(struct slide *s, const struct model_window *w, int count)
{
    const int64_t most = 1 << 30;
    for (int i = 0; i < count; i++, w++) {
        bool one = w->hole == 1 && w->low == 0,
             identity = one && w->size == 1 && w->stride == 1 && w->in == w->out,
             whole = one && w->out == 1 && w->dilation == 1 && w->size == w->in;
        if (w->stride < 1 || w->stride > most || w->dilation == 0 || w->dilation < -most ||
            w->dilation > most || w->hole < 1 || w->hole > most || w->low < -most || w->low > most ||
            w->size < 1 || w->size > most)
            return false;
        if (identity || whole) {
            s->stands_for[SLIDE_IN + i] = (unsigned char)(1 + (identity ? SLIDE_OUT : SLIDE_TAP) + i);
            continue;
        }
        s->from[s->window_count] = i;
        s->window[s->window_count++] = (struct lx_window){
            .size = w->size, .stride = w->stride, .dilation = w->dilation, .pad = w->low, .hole = w->hole};
    }
    return true;
}

/* The op's dimension for a role; -1: extent 1. */
static int slide_dim(struct slide *s, int role, int64_t extent)
{
    if (s->stands_for[role]) role = s->stands_for[role] - 1;
    if (extent == 1) return -1;
    if (s->of_role[role]) return s->of_role[role] - 1;
    if (s->rank == VIEW_MAX_RANK) s->full = true;
    if (s->full) return -1;
    s->extent[s->rank] = extent;
    s->of_role[role] = (signed char)(s->rank + 1);
    return s->rank++;
}

static void slide_result(struct slide *s, int role, int64_t extent)
{
    if (s->result_rank == VIEW_MAX_RANK) s->full = true;
    if (s->full) return;
    s->result_extent[s->result_rank] = extent;
    s->result[s->result_rank++] = slide_dim(s, role, extent);
}

/* Permutes, then regroups the value's dimensions; copies it if views cannot. */
static void slide_view(struct import *im, const struct model_op *op, struct import_value *v,
                       const int64_t *perm, const int64_t *shape, int rank)
{
    struct view next;
    int64_t extent[VIEW_MAX_RANK];
    int count = v->type->count;
    bool repeats = false;
    import_stored(im, v);
    for (int d = 0; d < count; d++) extent[d] = v->type->extent[perm[d]];
    view_permute(&v->view, perm, &next);
    v->view = next;
    v->type = import_type(im, v->type->element, count, extent);
    for (int i = 0; i < v->view.first[v->view.rank]; i++) repeats |= v->view.atom[i].low == 0;
    if (repeats || !view_reshape(&v->view, rank, shape, &next)) {
        import_plain(im, v, op);
        view_reshape(&v->view, rank, shape, &next);
    }
    v->view = next;
    v->type = import_type(im, v->type->element, rank, shape);
}

static bool slide_in_pieces(const struct import *im, const struct slide *s, int i)
{
    const struct import_value *v = &s->operand[i];
    for (int d = 0; d < v->view.rank; d++)
        if (s->dim[i][d] >= 0 && (s->slides >> s->dim[i][d] & 1) && !import_in_one_piece(im, v, d))
            return true;
    return false;
}

/* Sketches the op; its result has shape `y`, and slide_result takes its parts. */
static bool slide_emit(struct import *im, const struct model_op *op, struct slide *s,
                       const struct model_type *y, struct import_value *out)
{
    struct sketch_operand in[2];
    struct view regrouped;
    if (s->full) return false;
    for (int i = 0; i < s->window_count; i++) {
        struct lx_window *w = &s->window[i];
        signed char *dims[] = {&w->in, &w->out, &w->tap};
        const int roles[] = {SLIDE_IN, SLIDE_OUT, SLIDE_TAP};
        for (int k = 0; k < 3; k++) {
            *dims[k] = (signed char)(s->of_role[roles[k] + s->from[i]] - 1);
            if (*dims[k] >= 0) s->slides |= 1u << *dims[k];
        }
    }
    for (int i = 0; i < s->operands; i++) {
        struct import_value *v = &s->operand[i];
        if (view_is_part(&v->view) || slide_in_pieces(im, s, i)) import_plain(im, v, op);
        in[i] = import_over(v, s->rank, s->dim[i]);
        /* In order, but cut by another shape: force a copy. */
        if (slide_in_pieces(im, s, i)) import_force(im, im->owner, &in[i], 1, -1, "window");
    }
    struct sketching how = {.kind = s->kind, .from = op, .in = in, .count = s->operands, .whole = true};
    how.rank = s->rank, how.extent = s->extent, how.dims = s->result;
    how.type = import_type(im, y->element, s->result_rank, s->result_extent);
    struct sketch *k = import_sketch(im, &how, out);
    if (s->window_count)
        k->windows = arena_copy_array(&im->memory, s->window, (size_t)s->window_count, sizeof *s->window);
    k->window_count = s->window_count;
    for (int d = 0; d < s->rank; d++)
        for (int o = 0; (s->slides >> d & 1) && o <= k->input_count; o++)
            import_keep_dim(im, &k->operand[o], d);
    if (!view_reshape(&out->view, y->count, y->extent, &regrouped)) {
        import_plain(im, out, op);
        view_plain(&regrouped, y->count, y->extent);
    }
    out->view = regrouped;
    out->type = y;
    return true;
}

/* The dimension of a pad's op that is dimension d of a view of its result; -1: none is. */
static int slide_padded_dim(const struct view *v, int d, const struct view *result)
{
    for (int e = 0; e < result->rank; e++) {
        int count = v->first[d + 1] - v->first[d];
        bool same = count > 0 && count == result->first[e + 1] - result->first[e];
        for (int i = 0; same && i < count; i++) {
            const struct atom *a = &v->atom[v->first[d] + i], *b = &result->atom[result->first[e] + i];
            same = a->low == b->low && a->extent == b->extent;
        }
        if (same) return e;
    }
    return -1;
}

/* If a pad with a window's own padding made the value, the value before the pad, whose windows `w` along
 * dimensions `at` begin earlier. */
static void slide_before_pad(struct import *im, struct import_value *v, double padding,
                             struct model_window *w, const int *at, int count)
{
    const struct sketch *pad = NULL;
    struct view before;
    int64_t extent[VIEW_MAX_RANK], low[MODEL_MAX_WINDOWS] = {0};
    for (size_t i = im->sketches.count; v->storage >= 0 && !pad && i-- > 0;) {
        const struct sketch *s = &im->sketches.at[i];
        if (s->operand[s->input_count].storage == v->storage) pad = s;
    }
    if (!pad || !pad->low || !pad->has_value || pad->value != padding || view_is_part(&v->view)) return;
    view_start(&before);
    for (int d = 0; d < v->view.rank; d++) {
        const struct view *from = &pad->operand[0].view;
        int e = slide_padded_dim(&v->view, d, &pad->operand[1].view), k = 0;
        bool one = v->view.first[d] == v->view.first[d + 1];
        while (k < count && at[k] != d) k++;
        bool changed = !one && e >= 0 && (pad->low[e] || pad->high[e] || pad->between[e]);
        if ((!one && e < 0) || (changed && (k == count || pad->low[e] < 0 || pad->high[e] < 0)) ||
            (changed && pad->between[e]))
            return;
        if (changed) low[k] = pad->low[e];
        if (one ? !view_open_dim(&before) : !view_add_dim(&before, from, e)) return;
        extent[d] = view_extent(&before, d);
    }
    for (int k = 0; k < count; k++) {
        w[k].low += low[k] * w[k].hole;
        w[k].in = extent[at[k]];
    }
    v->storage = pad->operand[0].storage;
    v->via = pad->operand[0].via;
    v->view = before;
    v->type = import_type(im, v->type->element, before.rank, extent);
}

/* ---- pools ---- */

/* Dimension at[i] slides by window i, other dimensions stay. */
static bool pool_emit(struct import *im, const struct model_op *op, const char *kind, struct model_window *w,
                      const int *at, int count, bool count_all)
{
    const struct model_type *y = import_type_out(im, op);
    struct slide s = {.kind = kind, .operands = 1, .operand = {*import_in(im, op, 0)}};
    struct import_value out;
    int64_t perm[VIEW_MAX_RANK];
    if (strcmp(kind, "max") == 0) slide_before_pad(im, &s.operand[0], -INFINITY, w, at, count);
    const struct model_type *x = s.operand[0].type;
    if (!slide_windows(&s, w, count)) return import_generic(im, op, "window");
    for (int i = 0; i < s.window_count; i++) s.window[i].count_all = count_all && strcmp(kind, "mean") == 0;
    for (int d = 0; d < x->count; d++) perm[d] = d;
    slide_view(im, op, &s.operand[0], perm, x->extent, x->count);
    for (int d = 0; d < x->count; d++) {
        int k = 0;
        while (k < count && at[k] != d) k++;
        if (k == count && x->extent[d] != y->extent[d]) return import_generic(im, op, "schema");
        s.dim[0][d] = slide_dim(&s, k < count ? SLIDE_IN + k : SLIDE_OTHER + d, x->extent[d]);
        slide_result(&s, k < count ? SLIDE_OUT + k : SLIDE_OTHER + d, y->extent[d]);
    }
    if (!slide_emit(im, op, &s, y, &out)) return import_generic(im, op, "rank");
    return import_mapped(im, op, &out);
}

bool map_pool(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = import_in(im, op, 0)->type, *y = import_type_out(im, op);
    struct model_window w[MODEL_MAX_WINDOWS];
    int at[MODEL_MAX_WINDOWS], count = op_pool(im->format, op, x, w, at);
    bool count_all = model_attr_int(&op->attrs, "count_include_pad", im->format == MODEL_TTIR) != 0;
    for (int r = 1; r < op->result_count; r++)
        if (op->results[r] >= 0) return import_generic(im, op, "several results");
    if (count < 1 || y->count != x->count) return import_generic(im, op, "window");
    for (int i = 0; i < count; i++) {
        w[i].out = y->extent[at[i]];
        int64_t end = (w[i].out - 1) * w[i].stride + w[i].dilation * (w[i].size - 1) + 1;
        if (im->format == MODEL_ONNX && count_all && end > w[i].in + w[i].low + w[i].high)
            return import_generic(im, op, "ceil_mode");
    }
    return pool_emit(im, op, ours, w, at, count, count_all);
}

/* Windows that cover one dimension on one side of each element, including it or not (*exclusive), are a scan
 * along *axis. */
static bool pool_is_running(const struct model_window *w, int count, int *axis, bool *exclusive,
                            bool *reverse)
{
    *axis = -1;
    for (int i = 0; i < count; i++, w++) {
        bool plain = w->stride == 1 && w->hole == 1;
        if (plain && w->size == 1 && w->low == 0 && w->high == 0) continue;
        bool side = w->low + w->high == w->size - 1;
        *exclusive = w->low == -1 || w->high == -1;
        if (!plain || !side || *axis >= 0 || w->dilation != 1 || w->in != w->out || w->in < 2 ||
            w->size < w->in || !(w->low == 0 || w->high == 0 || *exclusive))
            return false;
        *axis = i;
        *reverse = w->high > w->low;
    }
    return *axis >= 0;
}

/* A non-neutral first number is combined at the end: for a maximum it may count twice; a sum must have no
 * padding. */
bool map_reduce_window(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = import_in(im, op, 0)->type, *y = import_type_out(im, op);
    struct model_window w[MODEL_MAX_WINDOWS];
    int at[MODEL_MAX_WINDOWS], count = op_pool(MODEL_HLO, op, x, w, at), axis;
    const struct reducer *r = op->operand_count == 2 ? import_reducer(im, op) : NULL;
    bool exclusive, reverse, none = true;
    if (!r || strcmp(r->ours, "prod") == 0) return import_generic(im, op, "reducer");
    if (count < 1 || x->count != count || y->count != count) return import_generic(im, op, "window");
    for (int i = 0; i < count; i++) {
        w[i].out = y->extent[i];
        none = none && w[i].low <= 0 && w[i].high <= 0 && w[i].hole == 1;
    }
    ours = r->ours;
    bool sums = strcmp(ours, "sum") == 0, any = strcmp(ours, "any") == 0, all = strcmp(ours, "all") == 0;
    struct import_value first = *import_in(im, op, 1);
    bool neutral = import_neutral(&first, r);
    if (!neutral && (any || all || (sums && !none))) return import_generic(im, op, "init");
    if ((any || all) && x->element != MODEL_BOOL) return import_generic(im, op, "reducer");
    if (any || all) ours = any ? "max" : "min"; /* max or min of booleans */
    if (neutral && sums && pool_is_running(w, count, &axis, &exclusive, &reverse))
        return import_scan(im, op, axis, exclusive, reverse);
    pool_emit(im, op, ours, w, at, count, false);
    if (neutral || import_class_of(im, op)->class == CLASS_GENERIC) return true;
    struct import_value out = import_point(im, op, r->two, *import_leaf(im, op->results[0], 0), &first);
    return import_mapped(im, op, &out);
}

/* ---- convolutions ---- */

/* Sets the extents of windows from the types; false: the groups do not fit. */
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
        if (!win->reversed) continue; /* taps from the end */
        win->low -= win->dilation * (win->size - 1);
        win->dilation = -win->dilation;
    }
    return ok;
}

/* Splits both operands into roles in our order, and the result in its own order, the channels in groups. */
static void conv_parts(struct import *im, const struct model_op *op, const struct model_conv *k,
                       const struct model_type *y, struct slide *s)
{
    struct import_value *x = &s->operand[0], *w = &s->operand[1];
    int64_t groups = k->groups * k->batch_groups, of_x[VIEW_MAX_RANK] = {k->batch, k->channel},
            of_w[VIEW_MAX_RANK] = {k->out_channel, k->in_channel};
    *w = *import_in(im, op, 1);
    int64_t batch = x->type->extent[k->batch] / k->batch_groups,
            channels = x->type->extent[k->channel] / k->groups,
            out_channels = w->type->extent[k->out_channel] / groups;
    int64_t x_shape[VIEW_MAX_RANK] = {k->batch_groups, batch, k->groups, channels},
            w_shape[VIEW_MAX_RANK] = {groups, out_channels, channels};
    for (int i = 0; i < k->count; i++) {
        of_x[2 + i] = k->x[i];
        of_w[2 + i] = k->w[i];
        x_shape[4 + i] = k->window[i].in;
        w_shape[3 + i] = k->window[i].size;
    }
    slide_view(im, op, x, of_x, x_shape, 4 + k->count);
    s->dim[0][0] = k->batch_groups > 1 ? slide_dim(s, SLIDE_GROUP, groups) : -1;
    s->dim[0][1] = slide_dim(s, SLIDE_BATCH, batch);
    s->dim[0][2] = k->groups > 1 ? slide_dim(s, SLIDE_GROUP, groups) : -1;
    s->dim[0][3] = slide_dim(s, SLIDE_CHANNEL, channels);
    for (int i = 0; i < k->count; i++) s->dim[0][4 + i] = slide_dim(s, SLIDE_IN + i, x_shape[4 + i]);
    slide_view(im, op, w, of_w, w_shape, 3 + k->count);
    s->dim[1][0] = slide_dim(s, SLIDE_GROUP, groups);
    s->dim[1][1] = slide_dim(s, SLIDE_OUT_CHANNEL, out_channels);
    s->dim[1][2] = slide_dim(s, SLIDE_CHANNEL, channels);
    for (int i = 0; i < k->count; i++) s->dim[1][3 + i] = slide_dim(s, SLIDE_TAP + i, w_shape[3 + i]);
    for (int d = 0; d < y->count; d++) {
        int window = 0;
        while (window < k->count && k->y[window] != d) window++;
        if (d == k->y_channel) slide_result(s, SLIDE_GROUP, groups);
        slide_result(s,
                     d == k->y_batch     ? SLIDE_BATCH
                     : d == k->y_channel ? SLIDE_OUT_CHANNEL
                                         : SLIDE_OUT + window,
                     d == k->y_channel ? out_channels : y->extent[d]);
    }
}

/* A bias has one number per channel, with any dimensions of extent 1 around it. */
bool map_convolution(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = import_in(im, op, 0)->type, *w = import_in(im, op, 1)->type,
                            *y = import_type_out(im, op);
    struct slide s = {.kind = ours, .operands = 2};
    struct model_conv k;
    struct import_value out;
    struct view line;
    if (!op_conv(im->format, op, x, w, &k) || k.count > VIEW_MAX_RANK - 8)
        return import_generic(im, op, "window");
    if (!conv_fits(&k, x, w, y)) return import_generic(im, op, "schema");
    if (import_has(op, 2) && import_in(im, op, 2)->type->elements != y->extent[k.y_channel])
        return import_generic(im, op, "schema");
    s.operand[0] = *import_in(im, op, 0);
    slide_before_pad(im, &s.operand[0], 0, k.window, k.x, k.count);
    if (!slide_windows(&s, k.window, k.count)) return import_generic(im, op, "window");
    conv_parts(im, op, &k, y, &s);
    if (!slide_emit(im, op, &s, y, &out)) return import_generic(im, op, "rank");
    if (!import_has(op, 2)) return import_mapped(im, op, &out);
    struct import_value bias = *import_in(im, op, 2);
    import_stored(im, &bias);
    if (!view_reshape(&bias.view, 1, &y->extent[k.y_channel], &line)) {
        import_plain(im, &bias, op);
        view_plain(&line, 1, &y->extent[k.y_channel]);
    }
    bias.view = line;
    struct sketch_operand in[2] = {{out.storage, out.view, out.via},
                                   import_over(&bias, y->count, &k.y_channel)};
    struct sketching add = {.kind = "add", .from = op, .in = in, .count = 2, .type = y};
    import_sketch(im, &add, &out);
    return import_mapped(im, op, &out);
}
