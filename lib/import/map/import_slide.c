/* From roles to a sketch: views of operands over the dimensions of the op, windows that name these, and
 * the promise that no storage is ever cut within a dimension that slides. */
#include "import/map/import_slide.h"
#include "base/fail.h"

#include <string.h>

static bool slide_bounded(const struct model_window *w)
{
    const int64_t most = 1 << 30;
    return w->stride >= 1 && w->stride <= most && w->dilation != 0 && w->dilation >= -most &&
           w->dilation <= most && w->hole >= 1 && w->hole <= most && w->low >= -most && w->low <= most &&
           w->size >= 1 && w->size <= most;
}

/* Every element on its place: input and output are one dimension. */
static bool slide_is_identity(const struct model_window *w)
{
    return w->size == 1 && w->stride == 1 && w->low == 0 && w->hole == 1 && w->in == w->out;
}

/* One output that has all of the input, in its order: input and taps are one dimension. */
static bool slide_is_whole(const struct model_window *w)
{
    return w->out == 1 && w->low == 0 && w->dilation == 1 && w->hole == 1 && w->size == w->in;
}

bool slide_windows(struct slide *s, const struct model_window *w, int count)
{
    for (int i = 0; i < count; i++) {
        if (!slide_bounded(&w[i])) return false;
        if (slide_is_identity(&w[i]))
            s->stands_for[SLIDE_IN + i] = (unsigned char)(1 + SLIDE_OUT + i);
        else if (slide_is_whole(&w[i]))
            s->stands_for[SLIDE_IN + i] = (unsigned char)(1 + SLIDE_TAP + i);
        else {
            s->from[s->window_count] = i;
            s->window[s->window_count++] = (struct lx_window){.size = w[i].size,
                                                              .stride = w[i].stride,
                                                              .dilation = w[i].dilation,
                                                              .pad = w[i].low,
                                                              .hole = w[i].hole};
        }
    }
    return true;
}

int slide_dim(struct slide *s, int role, int64_t extent)
{
    if (s->stands_for[role]) role = s->stands_for[role] - 1;
    if (extent == 1) return -1;
    if (s->of_role[role]) return s->of_role[role] - 1;
    if (s->rank == VIEW_MAX_RANK) {
        s->full = true;
        return -1;
    }
    s->extent[s->rank] = extent;
    s->of_role[role] = (signed char)(s->rank + 1);
    return s->rank++;
}

void slide_result(struct slide *s, int role, int64_t extent)
{
    if (s->result_rank == VIEW_MAX_RANK) {
        s->full = true;
        return;
    }
    s->result_extent[s->result_rank] = extent;
    s->result[s->result_rank++] = slide_dim(s, role, extent);
}

static bool slide_repeats(const struct view *v)
{
    for (int i = 0; i < v->first[v->rank]; i++)
        if (v->atom[i].low == 0) return true;
    return false;
}

/* A storage of its own in the shape that the value has now. */
static bool slide_copy_value(struct import *im, const struct model_op *op, struct import_value *v)
{
    return import_plain(im, v, op);
}

bool slide_view(struct import *im, const struct model_op *op, struct import_value *v, const int64_t *perm,
                int count, const int64_t *shape, int rank)
{
    struct view turned, regrouped;
    int64_t extent[VIEW_MAX_RANK];
    if (!import_stored(im, v)) return false;
    for (int d = 0; d < count; d++) extent[d] = v->type->extent[perm[d]];
    const struct model_type *order = import_type(im, v->type->element, count, extent),
                            *type = import_type(im, v->type->element, rank, shape);
    if (!order || !type) return false;
    if (!view_permute(&v->view, perm, &turned)) return status_set(im->st, LX_E_LIMIT, "too many dimensions");
    v->view = turned;
    v->type = order;
    if (slide_repeats(&v->view) && !slide_copy_value(im, op, v)) return false;
    if (!view_reshape(&v->view, rank, shape, &regrouped)) {
        if (!slide_copy_value(im, op, v)) return false;
        if (!view_reshape(&v->view, rank, shape, &regrouped))
            return status_set(im->st, LX_E_LIMIT, "too many dimensions");
    }
    v->view = regrouped;
    v->type = type;
    return true;
}

static bool slide_slides(const struct slide *s, int dim)
{
    for (int i = 0; i < s->window_count; i++)
        if (dim >= 0 && (s->window[i].in == dim || s->window[i].out == dim || s->window[i].tap == dim))
            return true;
    return false;
}

static bool slide_over_op(struct import *im, const struct model_op *op, struct slide *s, int i,
                          struct sketch_operand *o)
{
    struct import_value *v = &s->operand[i];
    bool whole = !view_is_part(&v->view);
    for (int d = 0; d < v->view.rank; d++)
        if (slide_slides(s, s->dim[i][d])) whole = whole && import_in_one_piece(im, v, d);
    if (!whole && !slide_copy_value(im, op, v)) return false;
    *o = (struct sketch_operand){.storage = v->storage, .via = v->via};
    for (int d = 0; d < v->view.rank;
         d++) /* in order, but cut by another shape of it, which must be a copy then */
        if (slide_slides(s, s->dim[i][d]) && !import_in_one_piece(im, v, d))
            import_force(im, im->owner, o, 1, "window");
    view_start(&o->view);
    for (int d = 0; d < s->rank; d++) {
        int k = 0;
        while (k < v->view.rank && s->dim[i][k] != d) k++;
        if (k < v->view.rank ? !view_add_dim(&o->view, &v->view, k) : !view_open_dim(&o->view))
            return status_set(im->st, LX_E_LIMIT, "too many dimensions");
    }
    return true;
}

static bool slide_add_windows(struct import *im, struct slide *s)
{
    struct sketch *k = &im->sketches.at[im->sketches.count - 1];
    k->windows = arena_copy_array(&im->memory, s->window, (size_t)s->window_count, sizeof *s->window);
    k->window_count = s->window_count;
    for (int i = 0; i < s->window_count; i++)
        for (int o = 0; o <= k->input_count; o++) {
            import_keep_dim(im, &k->operand[o], s->window[i].in);
            import_keep_dim(im, &k->operand[o], s->window[i].out);
            import_keep_dim(im, &k->operand[o], s->window[i].tap);
        }
    return true;
}

static int slide_role_dim(const struct slide *s, int role)
{
    return s->of_role[role] - 1;
}

bool slide_emit(struct import *im, const struct model_op *op, struct slide *s, const struct model_type *y,
                struct import_value *out, bool *generic)
{
    struct sketch_operand in[2];
    struct view regrouped;
    *generic = s->full;
    if (s->full) return true;
    for (int i = 0; i < s->window_count; i++) {
        s->window[i].in = (signed char)slide_role_dim(s, SLIDE_IN + s->from[i]);
        s->window[i].out = (signed char)slide_role_dim(s, SLIDE_OUT + s->from[i]);
        s->window[i].tap = (signed char)slide_role_dim(s, SLIDE_TAP + s->from[i]);
    }
    const struct model_type *type = import_type(im, y->element, s->result_rank, s->result_extent);
    if (!type) return false;
    for (int i = 0; i < s->operands; i++)
        if (!slide_over_op(im, op, s, i, &in[i])) return false;
    im->whole_result = true;
    bool ok = import_sketch(im, s->kind, op, s->rank, s->extent, in, s->operands, NULL, type, s->result, out);
    im->whole_result = false;
    if (!ok || (s->window_count && !slide_add_windows(im, s))) return false;
    if (!view_reshape(&out->view, y->count, y->extent, &regrouped))
        return status_set(im->st, LX_E_LIMIT, "too many dimensions");
    out->view = regrouped;
    out->type = y;
    return true;
}

bool slide_pool(struct import *im, const struct model_op *op, const char *kind, const struct model_window *w,
                const int *at, int count, bool count_all)
{
    const struct model_type *x = model_type_of(im->m, op->operands[0]), *y = import_type_out(im, op);
    struct slide s = {.kind = kind, .operands = 1, .operand = {*import_in(im, op, 0)}};
    struct import_value out;
    bool generic;
    int64_t perm[VIEW_MAX_RANK];
    if (x->count > VIEW_MAX_RANK || y->count != x->count) return import_generic(im, op, "rank");
    if (!slide_windows(&s, w, count)) return import_generic(im, op, "window");
    for (int i = 0; i < s.window_count; i++) s.window[i].count_all = count_all && strcmp(kind, "mean") == 0;
    for (int d = 0; d < x->count; d++) perm[d] = d;
    if (!slide_view(im, op, &s.operand[0], perm, x->count, x->extent, x->count)) return false;
    for (int d = 0; d < x->count; d++) {
        int k = 0;
        while (k < count && at[k] != d) k++;
        if (k == count && x->extent[d] != y->extent[d]) return import_generic(im, op, "schema");
        s.dim[0][d] = slide_dim(&s, k < count ? SLIDE_IN + k : SLIDE_OTHER + d, x->extent[d]);
        slide_result(&s, k < count ? SLIDE_OUT + k : SLIDE_OTHER + d, y->extent[d]);
    }
    if (!slide_emit(im, op, &s, y, &out, &generic)) return false;
    if (generic) return import_generic(im, op, "rank");
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_bind_one(im, op, &out);
}
