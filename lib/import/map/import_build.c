/* From sketches to a graph: storages become tensors whose dimensions are their pieces, ops what their
 * kinds need beside their letters. */
#include "import/map/import.h"
#include "import/map/import_together.h"
#include "graph/op_params.h"
#include "graph/graph.h"
#include "base/fail.h"
#include "base/text.h"

#include <string.h>

/* The word of ours for an element type. What we have no type for is planned as one of its width (two bits
 * as four). */
static enum lx_dtype build_dtype_of(enum model_element e)
{
    static const enum lx_dtype known[MODEL_ELEMENT_COUNT] = {
        [MODEL_F64] = LX_FP64,          [MODEL_F32] = LX_FP32,
        [MODEL_F16] = LX_FP16,          [MODEL_BF16] = LX_BF16,
        [MODEL_F8E4M3FN] = LX_FP8,      [MODEL_F8E4M3FNUZ] = LX_FP8,
        [MODEL_F8E5M2] = LX_FP8_E5M2,   [MODEL_F8E5M2FNUZ] = LX_FP8_E5M2,
        [MODEL_F8E4M3B11FNUZ] = LX_FP8, [MODEL_F8E4M3] = LX_FP8,
        [MODEL_F8E3M4] = LX_FP8,        [MODEL_F8E8M0FNU] = LX_FP8,
        [MODEL_F6E2M3FN] = LX_FP8,      [MODEL_F6E3M2FN] = LX_FP8,
        [MODEL_F4E2M1FN] = LX_INT4,     [MODEL_I2] = LX_INT4,
        [MODEL_U2] = LX_INT4,           [MODEL_I64] = LX_INT64,
        [MODEL_I32] = LX_INT32,         [MODEL_I16] = LX_INT16,
        [MODEL_I8] = LX_INT8,           [MODEL_I4] = LX_INT4,
        [MODEL_U64] = LX_UINT64,        [MODEL_U32] = LX_UINT32,
        [MODEL_U16] = LX_UINT16,        [MODEL_U8] = LX_UINT8,
        [MODEL_U4] = LX_INT4,           [MODEL_BOOL] = LX_BOOL,
        [MODEL_C64] = LX_INT64};
    return known[e];
}

/* A run computes with other numbers than the model would: the report says so. */
static void build_note_type(struct import *im, enum model_element e)
{
    static const enum model_element other[] = {
        MODEL_F8E4M3FNUZ, MODEL_F8E5M2FNUZ, MODEL_F8E4M3B11FNUZ, MODEL_F8E4M3, MODEL_F8E3M4, MODEL_F8E8M0FNU,
        MODEL_F6E2M3FN,   MODEL_F6E3M2FN,   MODEL_F4E2M1FN,      MODEL_I2,     MODEL_U2};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (other[i] == e)
            fact_add(&im->notes, "planned as a type of their width", model_element_word(im->m->format, e), 1);
}

static bool build_make_tensor(struct import *im, struct graph_builder *b, struct storage *s)
{
    int64_t shape[VIEW_MAX_CUTS];
    int rank = 0;
    if (s->tensor >= 0) return true;
    for (int k = s->cuts.count - 2; k >= 0; k--) shape[rank++] = s->cuts.at[k + 1] / s->cuts.at[k];
    if (!import_tensor_name(im, s)) return false;
    build_note_type(im, s->element);
    b->here = (struct place){s->line, s->column};
    s->tensor = builder_tensor(b, s->name, s->role, build_dtype_of(s->element), rank, shape, 0, im->st);
    if (s->tensor >= 0 && s->cut_stated && im->grid_axes > 0)
        import_cut_tensor(im, s, &b->tensors.at[s->tensor]);
    return s->tensor >= 0;
}

static const int64_t *build_kept(struct import *im, const int64_t *list)
{
    return arena_copy_array(&im->memory, list, LX_MAX_RANK, sizeof *list);
}

/* Has the output a letter that the input lacks? */
static bool build_repeats(const char *einsum)
{
    const char *arrow = strstr(einsum, "->"), *p = arrow + 2;
    while (*p && memchr(einsum, *p, (size_t)(arrow - einsum))) p++;
    return *p != 0;
}

/* Boxes as views of the op; a copy of a box is a slice. */
static bool build_add_boxes(struct import *im, const struct sketch *s, const struct boxes *b,
                            struct lx_op *op)
{
    if (!b->any || !op->einsum) return true;
    if (op->kind->id == LX_KIND_CLONE && !build_repeats(op->einsum)) {
        op->kind = lx_kind_at(LX_KIND_SLICE);
        op->offset = build_kept(im, b->offset[0]);
        op->stride = build_kept(im, b->step[0]);
        return true;
    }
    struct lx_view *views = arena_array(&im->memory, (size_t)s->input_count, sizeof *views);
    bool ok = views != NULL;
    for (int i = 0; ok && i < s->input_count; i++) {
        if (!b->part[i]) continue;
        views[i] = (struct lx_view){build_kept(im, b->offset[i]), build_kept(im, b->step[i]),
                                    build_kept(im, b->count[i])};
        ok = views[i].offset && views[i].stride && views[i].size;
    }
    op->views = views;
    return true;
}

/* Axis of a concat, amounts of a pad: by dimension of the tensors. */
static bool build_add_params(struct import *im, const struct sketch *s, const struct letters *l,
                             const char *einsum, struct lx_op *op)
{
    const char *result = strstr(einsum, "->") + 2;
    struct lx_op_params *p = arena_array(&im->memory, 1, sizeof *p);
    int64_t *lists = arena_array(&im->memory, 3 * LX_MAX_RANK, sizeof *lists);
    *p = op_params_none();
    for (int d = 0; d < s->rank; d++) {
        const struct cuts *c = &l->cuts[d];
        char letter = (s->apart >> d & 1) && c->count > 1 ? l->letter[d][c->count - 2] : 0;
        const char *at = letter ? strchr(result, letter) : NULL;
        if (!at) continue;
        if (!s->low) p->axis = at - result;
        if (!s->low) continue;
        lists[at - result] = s->low[d] / c->at[c->count - 2];
        lists[LX_MAX_RANK + (at - result)] = s->high[d] / c->at[c->count - 2];
        lists[2 * LX_MAX_RANK + (at - result)] = s->between[d];
    }
    if (s->low) {
        p->low = lists, p->high = lists + LX_MAX_RANK, p->interior = lists + 2 * LX_MAX_RANK;
        p->low_count = p->high_count = p->interior_count = (int)strlen(result);
    }
    op->params = p;
    return true;
}

/* The letter of a dimension that slides; one without a letter gets one that no operand has. */
static signed char build_slid_letter(struct letters *l, int dim)
{
    char letter = dim >= 0 ? l->letter[dim][0] : 0;
    return (signed char)(letter ? letter : import_new_letter(l));
}

/* False: there are no letters left. */
static bool build_name_windows(struct import *im, const struct sketch *s, struct letters *l, struct lx_op *op)
{
    struct lx_window *w = arena_copy_array(&im->memory, s->windows, (size_t)s->window_count, sizeof *w);
    bool ok = w != NULL;
    for (int i = 0; ok && i < s->window_count; i++) {
        bool taps = w[i].tap >= 0;
        w[i].in = build_slid_letter(l, w[i].in);
        w[i].out = build_slid_letter(l, w[i].out);
        w[i].tap = build_slid_letter(l, w[i].tap);
        if (taps) w[i].size = 0;
        ok = w[i].in && w[i].out && w[i].tap;
    }
    op->windows = w;
    op->window_count = s->window_count;
    return ok;
}

/* What the kind demands of letters: a sum has something to sum, a contraction sums what both have. */
static const struct lx_kind *build_kind_that_fits(const struct sketch *s, const char *einsum,
                                                  const char *fixed)
{
    const struct lx_kind *kind = lx_kind_find(s->kind);
    const char *arrow = strstr(einsum, "->"), *comma = strchr(einsum, ',');
    bool summed = false, one_sided = false;
    if (!kind || !arrow) return NULL;
    if (s->window_count || s->choice_count) return kind;
    for (const char *p = einsum; p < arrow; p++) {
        if (*p == ',' || strchr(arrow, *p) || strchr(fixed, *p)) continue;
        summed = true;
        const char *other = comma && p < comma ? memchr(comma, *p, (size_t)(arrow - comma))
                            : comma            ? memchr(einsum, *p, (size_t)(comma - einsum))
                                               : NULL;
        one_sided |= !other;
    }
    if (kind->traits & LX_CONTRACTS) return one_sided ? NULL : summed ? kind : lx_kind_at(LX_KIND_MUL);
    if ((kind->traits & LX_REDUCES) && s->input_count == 1 && !s->has_value)
        return summed ? kind : lx_kind_at(LX_KIND_CLONE);
    return summed ? NULL : kind;
}

/* The parameters with the axis as a dimension of the tensor. */
static const struct lx_op_params *build_axis_param(struct import *im, const struct sketch *s)
{
    if (s->parts_from[0] || s->parts_from[1]) return import_parts_param(im, s);
    if (s->axis_low == 0) return s->params;
    struct lx_op_params *p = arena_copy_array(&im->memory, s->params, 1, sizeof *p);
    const struct cuts *c = &im->storages.at[s->operand[0].storage].cuts;
    for (int k = 0; p && k + 1 < c->count; k++)
        if (c->at[k] == s->axis_low) p->axis = c->count - 2 - k;
    return p;
}

/* What has no index map: a kind that needs none. */
static const struct lx_kind *build_opaque_kind(const struct sketch *s)
{
    const struct lx_kind *kind = lx_kind_find(s->kind);
    return kind && kind->traits & LX_OPAQUE && s->input_count <= kind->most_inputs ? kind : NULL;
}

static bool build_alters(const struct sketch *s)
{
    const struct lx_kind *kind = lx_kind_find(s->kind);
    return kind && kind->traits & LX_ALTERS;
}

/* It should have been mapped: the report says that it is not. What changes an operand may stand in its
 * place already: it is sketched again as an op that reads all of its operands and makes another tensor. */
static void build_without_letters(struct import *im, const struct sketch *s)
{
    if (s->owner && !s->owner->unmapped && build_alters(s)) s->owner->unmapped = im->retry = true;
    if (!s->owner || s->owner->class == CLASS_GENERIC) return;
    s->owner->class = CLASS_GENERIC;
    s->owner->reason = "letters";
}

/* Where the dimensions that are chosen along stand in the first operand. False: one of them has no letter. */
static bool build_name_choices(struct import *im, const struct sketch *s, const struct letters *l,
                               const char *einsum, struct lx_op *op)
{
    struct lx_op_params p = op_params_none();
    int64_t axes[LX_MAX_RANK];
    for (int i = 0; i < s->choice_count; i++) {
        char letter = l->letter[(int)s->choice[i]][0];
        const char *at = letter ? memchr(einsum, letter, strcspn(einsum, ",-")) : NULL;
        if (!at) return false;
        axes[i] = at - einsum;
    }
    p.axes = arena_copy_array(&im->memory, axes, (size_t)s->choice_count, sizeof *axes);
    if (!p.axes) return false;
    p.axis_count = s->choice_count;
    p.low = s->starts;
    p.low_count = s->starts ? s->choice_count : 0;
    p.combine = s->combine;
    if (lx_kind_find(s->kind)->traits & LX_RANKS) { /* one axis */
        p = op_params_none();
        p.axis = axes[0];
        p.k = s->k;
        p.descending = s->descending;
    }
    op->params = arena_copy_array(&im->memory, &p, 1, sizeof p);
    return op->params != NULL;
}

/* An index map that the graph would refuse is none: the op is generic, and the report says so. */
static bool build_believed(struct import *im, struct graph_builder *b, const struct sketch *s)
{
    struct lx_op *op = &b->ops.at[b->ops.count - 1], as_told = *op;
    lx_status why = {0};
    if (op->window_count > 0) return true; /* these are mapped once */
    if (builder_map_op(b, b->ops.count - 1, &why)) {
        *op = as_told;
        return true;
    }
    if (op->kind->id == LX_KIND_GENERIC) {
        *im->st = why;
        return false;
    }
    *op = (struct lx_op){.name = op->name,
                         .kind = lx_kind_at(LX_KIND_GENERIC),
                         .input_count = op->input_count,
                         .inputs = op->inputs,
                         .output = op->output,
                         .outputs = op->outputs,
                         .output_count = op->output_count,
                         .inplace = -1,
                         .line = op->line};
    build_without_letters(im, s);
    return true;
}

/* Is the result indexed as the first operand, which it is with some of it changed? */
static bool build_changes_first(const char *einsum)
{
    const char *result = strstr(einsum, "->") + 2;
    size_t length = strcspn(einsum, ",-");
    return strlen(result) == length && strncmp(einsum, result, length) == 0;
}

/* Is it a further result of the op that was built last? */
static bool build_goes_with(const struct lx_op *last, const struct lx_op *op)
{
    bool plain = !last->window_count && !last->views && !last->data && !last->has_value &&
                 !op->window_count && !op->views && !op->data && !op->has_value;
    return plain && lx_result_kind(last->kind, last->output_count) == op->kind &&
           last->input_count == op->input_count && op_operand_made(last, op->output) < 0 &&
           (op->input_count == 0 ||
            memcmp(last->inputs, op->inputs, (size_t)op->input_count * sizeof *op->inputs) == 0) &&
           !last->einsum == !op->einsum && (!op->einsum || strcmp(last->einsum, op->einsum) == 0) &&
           op_params_equal(last->params, op->params);
}

/* The same op of the file has made another tensor of the same operands: it is one op with both. */
static bool build_join_result(struct import *im, struct graph_builder *b, const struct sketch *s,
                              const struct lx_op *op)
{
    const struct sketch *before = im->built;
    struct lx_op *last = b->ops.count > 0 ? &b->ops.at[b->ops.count - 1] : NULL;
    if (!last || !before || !s->from || before->from != s->from || !build_goes_with(last, op)) return false;
    struct lx_op alone = *last;
    int32_t *outputs = arena_array(b->memory, (size_t)last->output_count + 1, sizeof *outputs);
    lx_status ignored = {0};
    if (!outputs) return false;
    memcpy(outputs, last->outputs, (size_t)last->output_count * sizeof *outputs);
    outputs[last->output_count] = op->output;
    last->outputs = outputs;
    last->output_count++;
    struct lx_op joined = *last;
    bool fits = builder_map_op(b, b->ops.count - 1, &ignored);
    *last = fits ? joined : alone;
    return fits;
}

static bool build_add_built(struct import *im, struct graph_builder *b, const struct sketch *s,
                            const struct lx_op *op)
{
    if (op->kind->traits & LX_ALTERS) return builder_altering(b, op, im->st) && build_believed(im, b, s);
    return build_join_result(im, b, s, op) || (builder_op(b, op, im->st) && build_believed(im, b, s));
}

static bool build_op(struct import *im, struct graph_builder *b, const struct sketch *s)
{
    int32_t inputs[LX_MAX_INPUTS];
    struct text einsum = {0};
    struct lx_op op = {.name = import_op_name(im, s),
                       .input_count = s->input_count,
                       .inputs = inputs,
                       .has_value = s->has_value,
                       .value = s->value,
                       .whole = s->whole};
    bool ok = op.name != NULL;
    for (int i = 0; ok && i <= s->input_count; i++)
        ok = build_make_tensor(im, b, &im->storages.at[s->operand[i].storage]);
    for (int i = 0; ok && i < s->input_count; i++) inputs[i] = im->storages.at[s->operand[i].storage].tensor;
    op.output = im->storages.at[s->operand[s->input_count].storage].tensor;
    struct letters letters = {.count = 0};
    struct boxes boxes = {.any = false};
    bool indexed = s->rank >= 0 && import_index_string(im, s, &letters, &boxes, &einsum) &&
                   (s->window_count == 0 || build_name_windows(im, s, &letters, &op)) &&
                   (s->choice_count == 0 || build_name_choices(im, s, &letters, einsum.at, &op));
    if (s->params) op.params = build_axis_param(im, s);
    op.data = s->data;
    op.kind = indexed       ? build_kind_that_fits(s, einsum.at, boxes.fixed)
              : s->rank < 0 ? build_opaque_kind(s)
                            : NULL;
    if (op.kind && boxes.any && !(op.kind->traits & (LX_POINTWISE | LX_REDUCES | LX_CONTRACTS)))
        op.kind = NULL;
    if (op.kind && build_alters(s) && !build_changes_first(einsum.at)) op.kind = NULL;
    op.einsum = indexed && op.kind ? einsum.at : NULL;
    if (!op.kind) {
        op.kind = lx_kind_at(LX_KIND_GENERIC);
        if (s->rank >= 0) build_without_letters(im, s);
        op.has_value = false;
        op.window_count = 0;
        op.params = NULL;
    }
    ok = ok && build_add_boxes(im, s, &boxes, &op) &&
         (!s->apart || !op.einsum || build_add_params(im, s, &letters, einsum.at, &op));
    b->here = b->here_einsum = (struct place){s->from ? s->from->line : 0, s->from ? s->from->column : 0};
    op.inplace = s->in_place ? 0 : -1;
    ok = ok && build_add_built(im, b, s, &op);
    im->built = s;
    text_free(&einsum);
    return ok;
}

void import_mark_needed(struct import *im, const int32_t *results, int count)
{
    for (int i = 0; i < count; i++)
        if (results[i] >= 0) im->storages.at[results[i]].needed = true;
    for (size_t i = 0; i < im->storages.count; i++)
        if (im->storages.at[i].role == LX_STATE) im->storages.at[i].needed = true;
    for (size_t i = im->sketches.count; i-- > 0;) {
        struct sketch *s = &im->sketches.at[i];
        s->needed = im->storages.at[s->operand[s->input_count].storage].needed;
        for (int k = 0; s->needed && k < s->input_count; k++)
            im->storages.at[s->operand[k].storage].needed = true;
    }
}

const struct lx_graph *import_build(struct import *im)
{
    struct graph_builder b;
    const char *name = im->m->bodies.at[im->m->entry].name;
    im->built = NULL;
    builder_begin(&b, im->m->file, name && *name ? name : "model");
    bool ok = import_names_first(im);
    for (int a = 0; ok && a < im->grid_axes; a++) b.graph->grid[b.graph->grid_axes++] = (int)im->grid[a];
    for (size_t i = 0; ok && i < im->sketches.count; i++) {
        const struct sketch *s = &im->sketches.at[im->order ? (size_t)im->order[i] : i];
        if (s->needed) ok = build_op(im, &b, s);
    }
    for (size_t i = 0; ok && i < im->storages.count; i++)
        if (im->storages.at[i].stays) ok = build_make_tensor(im, &b, &im->storages.at[i]);
    if (ok && im->options.weight_dtype) ok = import_store_blocks(im, &b);
    if (ok && !im->retry) return builder_finish(&b, im->st);
    builder_abandon(&b);
    return NULL;
}
