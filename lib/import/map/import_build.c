/* Builds the graph from sketches: storages become tensors whose dimensions are their pieces; ops get the
 * parameters of their kinds beside letters. */
#include "import/map/import.h"
#include "graph/op_params.h"

/* ---- letters: each piece of an op's dimensions has one, and an operand has the letters of its storage's
 * pieces, in the storage's order ---- */

/* Letters of the pieces of an op's dimensions. */
struct letters {
    struct cuts cuts[VIEW_MAX_RANK];
    char letter[VIEW_MAX_RANK][VIEW_MAX_CUTS];
    int count;
};

/* The box of an operand, if any. */
struct boxes {
    int64_t offset[LX_MAX_INPUTS + 1][LX_MAX_RANK], step[LX_MAX_INPUTS + 1][LX_MAX_RANK];
    int64_t count[LX_MAX_INPUTS + 1][LX_MAX_RANK];
    bool part[LX_MAX_INPUTS + 1], any;
    char fixed[LX_MAX_VARS + 1]; /* letters of single elements */
};

/* An unused letter; 0: none left. */
static char letter_new(struct letters *l)
{
    if (l->count == LX_MAX_VARS) return 0;
    char letter = (char)(l->count < 26 ? 'a' + l->count : 'A' + l->count - 26);
    l->count++;
    return letter;
}

/* The letter of the piece of dimension d that begins at `at`; 0: it has another extent. */
static char letter_of(const struct sketch *s, struct letters *l, int d, int64_t at, int64_t extent)
{
    const struct cuts *c = &l->cuts[d];
    int j = 0;
    while (j + 2 < c->count && c->at[j] < at) j++;
    bool own = (s->apart >> d & 1) && j + 2 == c->count; /* operands have their own extents */
    if (c->at[j] != at || (!own && c->at[j + 1] / c->at[j] != extent)) return 0;
    if (!l->letter[d][j]) l->letter[d][j] = letter_new(l);
    return l->letter[d][j];
}

/* An operand's share of a piece of its storage. */
struct piece {
    char letter; /* 0: no dimension of the op */
    int64_t offset, step, count;
    bool part; /* a part only */
};

/* The digits of an atom among the `extent` digits from place `at` on. */
static void letter_part_of_piece(const struct atom *a, int64_t at, int64_t extent, struct piece *p)
{
    p->step = 1;
    if (!a->span) {
        p->count = extent;
        return;
    }
    if (a->step != 1) {
        *p = (struct piece){0, a->offset, a->step, at == 1 && extent == a->span ? a->extent : 0, true};
        return;
    }
    bool all = a->offset % (at * extent) == 0 && a->extent % (at * extent) == 0;
    bool some = a->offset % at == 0 && a->extent % at == 0;
    p->part = !all;
    p->offset = all ? 0 : a->offset / at % extent;
    p->count = all ? extent : some ? a->extent / at : 1;
    if (p->offset + p->count > extent) p->count = 0;
}

static struct piece letter_piece_at(const struct sketch *s, struct letters *l, const struct sketch_operand *o,
                                    int64_t low, int64_t extent)
{
    struct piece p = {.step = 1};
    for (int i = 0; i < o->view.fixed_count; i++) {
        struct atom a = o->view.fixed[i];
        if (low < a.low || low >= atom_end(&a)) continue;
        p = (struct piece){letter_new(l), a.offset / (low / a.low) % extent, 1, 1, true};
        return p;
    }
    for (int d = 0; d < s->rank; d++) {
        int64_t base = 1;
        for (int k = o->view.first[d + 1] - 1; k >= o->view.first[d]; k--) {
            const struct atom *a = &o->view.atom[k];
            if (a->low > 0 && low >= a->low && low < atom_end(a)) {
                letter_part_of_piece(a, low / a->low, extent, &p);
                bool one = p.part && p.count == 1;
                if (p.count > 0)
                    p.letter = one ? letter_new(l) : letter_of(s, l, d, base * (low / a->low), p.count);
                return p;
            }
            base *= a->extent;
        }
    }
    return p;
}

/* Names an operand's pieces; a single element has no letter. */
static bool letter_name_pieces(const struct import *im, const struct sketch *s, struct letters *l,
                               struct boxes *b, struct text *t)
{
    for (int d = 0; d < s->rank; d++) {
        cuts_whole(&l->cuts[d], s->extent[d]);
        for (int i = 0; i <= s->input_count; i++)
            if (!import_cuts_of(im, &s->operand[i], d, &l->cuts[d])) return false;
    }
    for (int i = 0; i <= s->input_count; i++) {
        const struct sketch_operand *o = &s->operand[i];
        const struct cuts *c = &im->storages.at[o->storage].cuts;
        if (i > 0) text_add(t, i == s->input_count ? "->" : ",");
        for (int k = c->count - 2, d = 0; k >= 0; k--, d++) {
            struct piece p = letter_piece_at(s, l, o, c->at[k], c->at[k + 1] / c->at[k]);
            if (!p.letter || d == LX_MAX_RANK) return false;
            text_add(t, (char[]){p.letter, 0});
            b->offset[i][d] = p.offset;
            b->step[i][d] = p.step;
            b->count[i][d] = p.count;
            b->part[i] |= p.part;
            b->any |= p.part;
            if (p.part && p.count == 1) strncat(b->fixed, &p.letter, 1);
        }
    }
    return true;
}

/* Lower-case letters come first, as they are handed out. */
static int letter_rank(char letter)
{
    return letter >= 'a' ? letter - 'a' : letter - 'A' + 26;
}

/* Terms are added in the order of letters. It must be the order of the op's dimensions, the most significant
 * piece first, so that a sum does not depend on its operands' storage: permutes the letters that the result
 * lacks. */
static bool letter_index_string(const struct import *im, const struct sketch *s, struct letters *l,
                                struct boxes *b, struct text *t)
{
    char *list[VIEW_MAX_RANK * VIEW_MAX_CUTS], sorted[VIEW_MAX_RANK * VIEW_MAX_CUTS], turned[128];
    int count = 0;
    if (!letter_name_pieces(im, s, l, b, t)) return false;
    const char *result = strstr(t->at, "->");
    for (int d = 0; d < s->rank; d++)
        for (int j = l->cuts[d].count - 2; j >= 0; j--)
            if (l->letter[d][j] && !strchr(result, l->letter[d][j])) list[count++] = &l->letter[d][j];
    for (int i = 0; i < 128; i++) turned[i] = (char)i;
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && letter_rank(sorted[at - 1]) > letter_rank(*list[i]); at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = *list[i];
    }
    for (int i = 0; i < count; i++) turned[(int)*list[i]] = sorted[i];
    for (int i = 0; i < count; i++) *list[i] = sorted[i];
    for (char *at = t->at; *at; at++) *at = turned[(int)*at];
    return true;
}

/* ---- tensors and ops ---- */

/* The pattern's type for an element type. An unknown type is planned as one of its width (two bits as four)
 * and noted in the report: a run computes with other numbers than the model. */
static enum lx_dtype build_dtype(struct import *im, enum model_element e)
{
    static const enum lx_dtype types[][5] = {
        [MODEL_FLOAT] = {LX_INT4, LX_FP8, LX_FP16, LX_FP32, LX_FP64},
        [MODEL_SIGNED] = {LX_INT4, LX_INT8, LX_INT16, LX_INT32, LX_INT64},
        [MODEL_UNSIGNED] = {LX_INT4, LX_UINT8, LX_UINT16, LX_UINT32, LX_UINT64},
        [MODEL_COMPLEX] = {LX_INT4, LX_INT8, LX_INT16, LX_INT32, LX_INT64}};
    const struct model_element_row *row = model_element_row(e);
    int width = row->bits <= 4 ? 0 : row->bits <= 8 ? 1 : row->bits <= 16 ? 2 : row->bits <= 32 ? 3 : 4;
    bool narrow = row->number == MODEL_FLOAT && row->bits < 16 && e != MODEL_F8E4M3FN && e != MODEL_F8E5M2;
    if (narrow || row->bits == 2)
        fact_add(&im->notes, "planned as a type of their width", model_element_word(im->m->format, e), 1);
    if (e == MODEL_BOOL || e == MODEL_BF16) return e == MODEL_BOOL ? LX_BOOL : LX_BF16;
    return e == MODEL_F8E5M2 || e == MODEL_F8E5M2FNUZ ? LX_FP8_E5M2 : types[row->number][width];
}

static bool build_tensor(struct import *im, struct graph_builder *b, struct storage *s)
{
    int64_t shape[VIEW_MAX_CUTS];
    int rank = 0;
    if (s->tensor >= 0) return true;
    for (int k = s->cuts.count - 2; k >= 0; k--) shape[rank++] = s->cuts.at[k + 1] / s->cuts.at[k];
    import_tensor_name(im, s);
    b->here = (struct place){s->line, s->column};
    s->tensor = builder_tensor(b, s->name, s->role, build_dtype(im, s->element), rank, shape, 0, im->st);
    if (s->tensor >= 0 && s->cut_stated && im->grid_axes > 0)
        import_cut_tensor(im, s, &b->tensors.at[s->tensor]);
    return s->tensor >= 0;
}

static const int64_t *build_kept(struct import *im, const int64_t *list)
{
    return arena_copy_array(&im->memory, list, LX_MAX_RANK, sizeof *list);
}

/* Adds boxes as views of the op; a copy of a box without repetition is a slice. */
static void build_boxes(struct import *im, const struct sketch *s, const struct boxes *b, struct lx_op *op)
{
    if (!b->any || !op->einsum) return;
    const char *arrow = strstr(op->einsum, "->"), *p = arrow + 2;
    while (*p && memchr(op->einsum, *p, (size_t)(arrow - op->einsum))) p++;
    if (op->kind->id == LX_KIND_CLONE && *p == 0) {
        op->kind = lx_kind_at(LX_KIND_SLICE);
        op->offset = build_kept(im, b->offset[0]);
        op->stride = build_kept(im, b->step[0]);
        return;
    }
    struct lx_view *views = arena_array(&im->memory, (size_t)s->input_count, sizeof *views);
    for (int i = 0; i < s->input_count; i++)
        if (b->part[i])
            views[i] = (struct lx_view){build_kept(im, b->offset[i]), build_kept(im, b->step[i]),
                                        build_kept(im, b->count[i])};
    op->views = views;
}

/* Axis of a concat, amounts of a pad, by dimension of the tensors. */
static void build_apart(struct import *im, const struct sketch *s, const struct letters *l,
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
        if (!s->low) {
            p->axis = at - result;
            continue;
        }
        lists[at - result] = s->low[d] / c->at[c->count - 2];
        lists[LX_MAX_RANK + (at - result)] = s->high[d] / c->at[c->count - 2];
        lists[2 * LX_MAX_RANK + (at - result)] = s->between[d];
    }
    if (s->low) {
        p->low = lists, p->high = lists + LX_MAX_RANK, p->interior = lists + 2 * LX_MAX_RANK;
        p->low_count = p->high_count = p->interior_count = (int)strlen(result);
    }
    op->params = p;
}

/* Gives sliding dimensions without a letter one that no operand has. False: none left. */
static bool build_windows(struct import *im, const struct sketch *s, struct letters *l, struct lx_op *op)
{
    if (s->window_count == 0) return true;
    struct lx_window *w = arena_copy_array(&im->memory, s->windows, (size_t)s->window_count, sizeof *w);
    op->windows = w;
    op->window_count = s->window_count;
    for (int i = 0; i < s->window_count; i++, w++) {
        signed char *dims[] = {&w->in, &w->out, &w->tap};
        if (w->tap >= 0) w->size = 0;
        for (int k = 0; k < 3; k++) {
            char letter = *dims[k] >= 0 ? l->letter[(int)*dims[k]][0] : 0;
            *dims[k] = (signed char)(letter ? letter : letter_new(l));
            if (!*dims[k]) return false;
        }
    }
    return true;
}

/* Positions of the chosen dimensions in the first operand. False: one has no letter. */
static bool build_choices(struct import *im, const struct sketch *s, const struct letters *l,
                          const char *einsum, struct lx_op *op)
{
    struct lx_op_params p = op_params_none();
    int64_t axes[LX_MAX_RANK];
    if (s->choice_count == 0) return true;
    for (int i = 0; i < s->choice_count; i++) {
        char letter = l->letter[(int)s->choice[i]][0];
        const char *at = letter ? memchr(einsum, letter, strcspn(einsum, ",-")) : NULL;
        if (!at) return false;
        axes[i] = at - einsum;
    }
    if (lx_kind_find(s->kind)->traits & LX_RANKS) { /* one axis */
        p.axis = axes[0];
        p.k = s->k;
        p.descending = s->descending;
    } else {
        p.axes = arena_copy_array(&im->memory, axes, (size_t)s->choice_count, sizeof *axes);
        p.axis_count = s->choice_count;
        p.low = s->starts;
        p.low_count = s->starts ? s->choice_count : 0;
        p.combine = s->combine;
    }
    op->params = arena_copy_array(&im->memory, &p, 1, sizeof p);
    return true;
}

/* Parameters whose axes are dimensions of the tensors. */
static const struct lx_op_params *build_params(struct import *im, const struct sketch *s)
{
    int64_t axes[] = {-1, -1};
    if (!s->axis_from[0] && !s->axis_from[1]) return s->params;
    struct lx_op_params *p = arena_copy_array(&im->memory, s->params, 1, sizeof *p);
    for (int i = 0; i < 2; i++)
        if (s->axis_from[i])
            axes[i] = import_piece_from(&im->storages.at[s->operand[i].storage].cuts, s->axis_from[i]);
    if (s->axis_from[0] && s->axis_from[1]) {
        p->axes = arena_copy_array(&im->memory, axes, 2, sizeof *axes);
        p->axis_count = 2;
    } else
        p->axis = axes[s->axis_from[1] ? 1 : 0];
    return p;
}

static bool build_alters(const struct sketch *s)
{
    const struct lx_kind *kind = lx_kind_find(s->kind);
    return kind && kind->traits & LX_ALTERS;
}

/* The kind that fits the letters; NULL: none. A sum needs summed letters, a contraction summed letters in
 * both operands; a changed operand is indexed like the result. */
static const struct lx_kind *build_kind(const struct sketch *s, const char *einsum, const struct boxes *b)
{
    const struct lx_kind *kind = lx_kind_find(s->kind);
    const char *arrow = strstr(einsum, "->"), *comma = strchr(einsum, ',');
    bool summed = false, one_sided = false;
    size_t first = strcspn(einsum, ",-");
    if (!kind || !arrow) return NULL;
    if (build_alters(s) && (strlen(arrow + 2) != first || strncmp(einsum, arrow + 2, first) != 0))
        return NULL;
    for (const char *p = einsum; p < arrow && !s->window_count && !s->choice_count; p++) {
        if (*p == ',' || strchr(arrow, *p) || strchr(b->fixed, *p)) continue;
        summed = true;
        const char *other = comma && p < comma ? memchr(comma, *p, (size_t)(arrow - comma))
                            : comma            ? memchr(einsum, *p, (size_t)(comma - einsum))
                                               : NULL;
        one_sided |= !other;
    }
    if (!s->window_count && !s->choice_count) {
        if (kind->traits & LX_CONTRACTS)
            kind = one_sided ? NULL : summed ? kind : lx_kind_at(LX_KIND_MUL);
        else if ((kind->traits & LX_REDUCES) && s->input_count == 1 && !s->has_value)
            kind = summed ? kind : lx_kind_at(LX_KIND_CLONE);
        else if (summed)
            kind = NULL;
    }
    bool boxed = kind && kind->traits & (LX_POINTWISE | LX_REDUCES | LX_CONTRACTS);
    return b->any && !boxed ? NULL : kind;
}

/* Reports a failed mapping as generic. An op that changes an operand may be built in place already: sketches
 * it again as an op that reads all its operands and makes another tensor. */
static void build_without_letters(struct import *im, const struct sketch *s)
{
    if (s->owner && !s->owner->unmapped && build_alters(s)) s->owner->unmapped = im->retry = true;
    if (!s->owner || s->owner->class == CLASS_GENERIC) return;
    s->owner->class = CLASS_GENERIC;
    s->owner->reason = "letters";
}

/* Makes an op generic if the graph would refuse its index map. */
static bool build_check(struct import *im, struct graph_builder *b, const struct sketch *s)
{
    struct lx_op *op = &b->ops.at[b->ops.count - 1], as_built = *op;
    lx_status why = {0};
    if (op->window_count > 0) return true; /* mapped only once */
    if (builder_map_op(b, b->ops.count - 1, &why)) {
        *op = as_built;
        return true;
    }
    if (op->kind->id == LX_KIND_GENERIC) {
        *im->st = why;
        return false;
    }
    *op = (struct lx_op){.name = op->name, .kind = lx_kind_at(LX_KIND_GENERIC), .inplace = -1};
    op->inputs = as_built.inputs, op->input_count = as_built.input_count;
    op->outputs = as_built.outputs, op->output_count = as_built.output_count;
    op->output = as_built.output, op->line = as_built.line;
    build_without_letters(im, s);
    return true;
}

/* If the same op of the file made another tensor from the same operands, adds this result to it. */
static bool build_join_result(struct import *im, struct graph_builder *b, const struct sketch *s,
                              const struct lx_op *op)
{
    struct lx_op *last = b->ops.count > 0 ? &b->ops.at[b->ops.count - 1] : NULL;
    size_t inputs = (size_t)op->input_count * sizeof *op->inputs;
    lx_status ignored = {0};
    if (!last || !im->built || !s->from || im->built->from != s->from) return false;
    if (last->window_count || last->views || last->data || last->has_value || op->window_count || op->views ||
        op->data || op->has_value || lx_result_kind(last->kind, last->output_count) != op->kind ||
        last->input_count != op->input_count || op_operand_made(last, op->output) >= 0 ||
        (inputs && memcmp(last->inputs, op->inputs, inputs) != 0) || !last->einsum != !op->einsum ||
        (op->einsum && strcmp(last->einsum, op->einsum) != 0) || !op_params_equal(last->params, op->params))
        return false;
    struct lx_op alone = *last;
    int32_t *outputs = arena_array(b->memory, (size_t)last->output_count + 1, sizeof *outputs);
    memcpy(outputs, last->outputs, (size_t)last->output_count * sizeof *outputs);
    outputs[last->output_count] = op->output;
    last->outputs = outputs;
    last->output_count++;
    struct lx_op joined = *last;
    bool fits = builder_map_op(b, b->ops.count - 1, &ignored);
    *last = fits ? joined : alone;
    return fits;
}

/* Do both tensors have one shape? A copy between them has an index map, so that cores can share it. */
static bool build_is_clone(const struct graph_builder *b, int32_t from, int32_t to)
{
    const struct lx_tensor *x = &b->tensors.at[from], *y = &b->tensors.at[to];
    return x->rank > 0 && x->rank == y->rank && x->dtype == y->dtype &&
           memcmp(x->shape, y->shape, (size_t)x->rank * sizeof *x->shape) == 0;
}

static bool build_op(struct import *im, struct graph_builder *b, const struct sketch *s)
{
    int32_t inputs[LX_MAX_INPUTS];
    SCOPED(text_free) struct text einsum = {0};
    struct letters letters = {.count = 0};
    struct boxes boxes = {.any = false};
    struct lx_op op = {.inputs = inputs, .input_count = s->input_count, .inplace = s->in_place ? 0 : -1};
    op.name = import_op_name(im, s);
    op.has_value = s->has_value, op.value = s->value, op.whole = s->whole, op.data = s->data;
    for (int i = 0; i <= s->input_count; i++) {
        struct storage *storage = &im->storages.at[s->operand[i].storage];
        if (!build_tensor(im, b, storage)) return false;
        *(i < s->input_count ? &inputs[i] : &op.output) = storage->tensor;
    }
    bool indexed = s->rank >= 0 && letter_index_string(im, s, &letters, &boxes, &einsum) &&
                   build_windows(im, s, &letters, &op) && build_choices(im, s, &letters, einsum.at, &op);
    if (s->params) op.params = build_params(im, s);
    op.kind = indexed ? build_kind(s, einsum.at, &boxes) : s->rank < 0 ? lx_kind_find(s->kind) : NULL;
    if (s->rank < 0 && op.kind && !(op.kind->traits & LX_OPAQUE && s->input_count <= op.kind->most_inputs))
        op.kind = NULL;
    if (op.kind && op.kind->id == LX_KIND_RESHAPE && build_is_clone(b, inputs[0], op.output))
        op.kind = lx_kind_at(LX_KIND_CLONE);
    op.einsum = indexed && op.kind ? einsum.at : NULL;
    if (!op.kind) {
        op.kind = lx_kind_at(LX_KIND_GENERIC);
        if (s->rank >= 0) build_without_letters(im, s);
        op.has_value = false;
        op.window_count = 0;
        op.params = NULL;
    }
    build_boxes(im, s, &boxes, &op);
    if (s->apart && op.einsum) build_apart(im, s, &letters, einsum.at, &op);
    b->here = b->here_einsum = (struct place){s->from ? s->from->line : 0, s->from ? s->from->column : 0};
    bool alters = op.kind->traits & LX_ALTERS;
    bool ok =
        (!alters && build_join_result(im, b, s, &op)) ||
        ((alters ? builder_altering(b, &op, im->st) : builder_op(b, &op, im->st)) && build_check(im, b, s));
    im->built = s;
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
    bool ok = true;
    for (size_t i = 0; i < im->storages.count; i++) /* name arguments and outputs first */
        if (im->storages.at[i].needed && im->storages.at[i].role != LX_ROLE_COUNT)
            import_tensor_name(im, &im->storages.at[i]);
    for (int a = 0; ok && a < im->grid_axes; a++) b.graph->grid[b.graph->grid_axes++] = (int)im->grid[a];
    const int32_t *order = import_early(im);
    for (size_t i = 0; ok && i < im->sketches.count; i++) {
        const struct sketch *s = &im->sketches.at[order[i]];
        if (s->needed) ok = build_op(im, &b, s);
    }
    for (size_t i = 0; ok && i < im->storages.count; i++)
        if (im->storages.at[i].stays) ok = build_tensor(im, &b, &im->storages.at[i]);
    if (ok && im->options.weight_dtype) ok = import_store_blocks(im, &b);
    if (ok && !im->retry) return builder_finish(&b, im->st);
    builder_abandon(&b);
    return NULL;
}
