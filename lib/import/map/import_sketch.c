/* Values of a model as views of storages, and sketches of ops with views of their results, before storages
 * are cut. */
#include "import/map/import_steps.h"

void import_force(struct import *im, struct op_class *owner, const struct sketch_operand *operand, int count,
                  int dim, const char *reason)
{
    const struct sketch_operand *least = NULL; /* the smallest is cheapest to copy */
    bool again = owner && owner->changed == im->round, sticks = strcmp(reason, "stick") == 0;
    for (int i = count - 1; i >= 0; i--) {
        const struct sketch_operand *o = &operand[i];
        if (!o->via || (dim >= 0 && o->view.first[dim] == o->view.first[dim + 1])) continue;
        again |= o->via->changed == im->round; /* for another op, or another call of the body */
        if (!o->via->forced &&
            (!least || im->storages.at[o->storage].elements < im->storages.at[least->storage].elements))
            least = o;
    }
    struct op_class *changed = least ? least->via : owner;
    if (again || !changed || (!least && im->last)) {
        im->retry |= again;
        return;
    }
    if (least)
        changed->forced = reason;
    else if (sticks)
        changed->shorts = true;
    else if (!changed->alone)
        changed->alone = true;
    else
        changed->unmapped = true;
    changed->changed = im->round;
    im->retry = true;
}

struct sketch_operand import_over(const struct import_value *v, int rank, const int *dims)
{
    struct sketch_operand o = {.storage = v->storage, .via = v->via};
    view_start(&o.view);
    view_keep_fixed(&o.view, &v->view);
    for (int d = 0; d < rank; d++) {
        int k = 0;
        while (k < v->view.rank && dims[k] != d) k++;
        if (k < v->view.rank)
            view_add_dim(&o.view, &v->view, k);
        else
            view_open_dim(&o.view);
    }
    return o;
}

struct sketch_operand import_aligned(struct import *im, struct import_value v, int rank)
{
    int dims[VIEW_MAX_RANK];
    import_stored(im, &v);
    for (int d = 0; d < v.view.rank; d++) dims[d] = rank - v.view.rank + d;
    return import_over(&v, rank, dims);
}

/* Does this operand's storage have the digits of dimension `dim` from `low` on? */
static bool sketch_has_piece(const struct sketch_operand *o, int dim, int64_t low)
{
    int64_t base = 1;
    for (int i = o->view.first[dim + 1] - 1; i >= o->view.first[dim]; i--) {
        if (low < base * o->view.atom[i].extent) return o->view.atom[i].low > 0;
        base *= o->view.atom[i].extent;
    }
    return false;
}

/* Pieces of the result: the cuts of each dimension, and which pieces some operand has. */
struct pieces {
    struct cuts cuts[VIEW_MAX_RANK];
    bool there[VIEW_MAX_RANK][VIEW_MAX_CUTS];
    int64_t elements;
};

static struct pieces sketch_pieces(struct import *im, const struct sketching *s, const int64_t *extent)
{
    struct pieces p = {.elements = 1};
    bool changed;
    for (int d = 0; d < s->type->count; d++) {
        int dim = s->dims ? s->dims[d] : d;
        struct cuts *c = &p.cuts[d];
        cuts_whole(c, dim < 0 ? 1 : extent[dim]);
        for (int i = 0; dim >= 0 && i < s->count; i++)
            if (!cuts_of_dim(c, &s->in[i].view, dim, &changed))
                import_force(im, im->owner, s->in, s->count, dim, "atoms");
        for (int k = 0; k + 1 < c->count; k++) {
            bool there = s->whole || s->count == 0;
            for (int i = 0; i < s->count; i++) there |= sketch_has_piece(&s->in[i], dim, c->at[k]);
            if (there) p.elements *= c->at[k + 1] / c->at[k];
            p.there[d][k] = there;
        }
    }
    return p;
}

/* Lays out the result over its own dimensions, its storage row-major in the present pieces. */
static bool sketch_lay_out(const struct pieces *p, int rank, struct view *v)
{
    int64_t low = p->elements;
    view_start(v);
    for (int d = 0; d < rank; d++) {
        const struct cuts *c = &p->cuts[d];
        if (!view_open_dim(v)) return false;
        for (int k = c->count - 2; k >= 0; k--) {
            int64_t extent = c->at[k + 1] / c->at[k];
            if (p->there[d][k]) low /= extent;
            if (!view_add(v, atom_of(p->there[d][k] ? low : 0, extent))) return false;
        }
    }
    return true;
}

static void sketch_result(struct import *im, const struct sketching *s, const int64_t *extent,
                          struct import_value *out)
{
    struct pieces p = sketch_pieces(im, s, extent);
    bool changed, plain;
    *out = (struct import_value){.type = s->type};
    if (!sketch_lay_out(&p, s->type->count, &out->view)) {
        import_force(im, im->owner, s->in, s->count, -1, "rank");
        *out = import_fresh(im, s->type, s->from);
    } else { /* a storage is first cut by its own dimensions, however short */
        out->storage = import_storage(im, s->type->element, p.elements, s->from);
        struct cuts *c = &im->storages.at[out->storage].cuts;
        for (int i = out->view.first[out->view.rank] - 1; i >= 0; i--)
            if (out->view.atom[i].low > 1 && c->count <= LX_MAX_RANK)
                cuts_add(c, out->view.atom[i].low, &changed);
    }
    /* If a result is cut other than by its own dimensions, an operand's view is the cause. */
    plain = out->view.first[out->view.rank] <= out->view.rank;
    for (int i = 0; i < out->view.first[out->view.rank]; i++) plain &= out->view.atom[i].low > 0;
    for (int i = s->count - 1; !plain && !out->via && i >= 0; i--)
        if (s->in[i].via && !s->in[i].via->forced) out->via = s->in[i].via;
}

static struct sketch *sketch_push(struct import *im, const struct sketch *s)
{
    VEC_PUSH(&im->sketches, *s);
    return &im->sketches.at[im->sketches.count - 1];
}

struct sketch *import_opaque_sketch(struct import *im, const char *kind, const struct model_op *op,
                                    const int32_t *inputs, int count, int32_t output)
{
    struct sketch s = {.kind = kind, .from = op, .rank = -1, .input_count = count, .owner = im->owner};
    s.operand = arena_array(&im->memory, (size_t)count + 1, sizeof *s.operand);
    for (int i = 0; i <= count; i++) s.operand[i].storage = i < count ? inputs[i] : output;
    return sketch_push(im, &s);
}

struct sketch *import_sketch(struct import *im, const struct sketching *s, struct import_value *out)
{
    int rank = s->extent ? s->rank : s->type->count, there = 0, own[VIEW_MAX_RANK];
    const int64_t *extent = s->extent ? s->extent : s->type->extent;
    struct sketch k = {
        .kind = s->kind, .from = s->from, .rank = rank, .input_count = s->count, .owner = im->owner};
    int32_t *inputs = arena_array(&im->memory, (size_t)s->count + 1, sizeof *inputs);
    for (int i = 0; i < s->count; i++)
        if (s->in[i].storage >= 0) inputs[there++] = s->in[i].storage;
    if (there < s->count) { /* an empty operand has no place in an index map */
        *out = import_fresh(im, s->type, s->from);
        return import_opaque_sketch(im, "generic", s->from, inputs, there, out->storage);
    }
    if (s->type) sketch_result(im, s, extent, out);
    memcpy(k.extent, extent, (size_t)rank * sizeof *extent);
    k.has_value = s->value != NULL;
    if (s->value) k.value = *s->value;
    k.operand = arena_array(&im->memory, (size_t)s->count + 1, sizeof *k.operand);
    memcpy(k.operand, s->in, (size_t)s->count * sizeof *s->in);
    k.in_place = !s->type;
    for (int d = 0; s->type && d < s->type->count; d++) own[d] = s->dims ? s->dims[d] : d;
    k.operand[s->count] = s->type ? import_over(out, rank, own) : s->in[0];
    if (s->type) k.operand[s->count].via = NULL;
    return sketch_push(im, &k);
}

typedef VEC(int32_t) storage_list;

/* Stores all operands in their own order. Operands beyond an op's limit are read by further ops that make one
 * element each. */
static void sketch_inputs(struct import *im, const struct model_op *op, storage_list *list)
{
    for (int i = 0; i < op->operand_count; i++)
        for (int k = 0; op->operands[i] >= 0 && k < model_type_of(im->m, op->operands[i])->leaves; k++) {
            struct import_value v = *import_leaf(im, op->operands[i], k);
            import_plain(im, &v, op);
            if (v.storage >= 0) VEC_PUSH(list, v.storage);
        }
    while (list->count > LX_MAX_INPUTS) {
        size_t kept = 0;
        for (size_t at = 0; at < list->count; at += LX_MAX_INPUTS) {
            size_t n = list->count - at < LX_MAX_INPUTS ? list->count - at : LX_MAX_INPUTS;
            int32_t note = import_storage(im, MODEL_I32, 1, op);
            import_opaque_sketch(im, "generic", op, list->at + at, (int)n, note);
            list->at[kept++] = note;
        }
        list->count = kept;
    }
}

static void sketch_opaque_value(struct import *im, const char *kind, const struct model_op *op,
                                const storage_list *inputs, int32_t value)
{
    const struct model_type *type = model_type_of(im->m, value);
    OWNED VEC(struct import_value) leaves = {0};
    for (int i = 0; i < type->leaves; i++) {
        struct import_value v = import_fresh(im, model_leaf_type(type, i), op);
        if (v.storage >= 0) import_opaque_sketch(im, kind, op, inputs->at, (int)inputs->count, v.storage);
        VEC_PUSH(&leaves, v);
    }
    import_bind(im, value, leaves.at, (int)leaves.count);
}

void import_opaque(struct import *im, const char *kind, const struct model_op *op)
{
    OWNED storage_list list = {0};
    sketch_inputs(im, op, &list);
    /* An op without a result writes its first operand: later readers see the new content. */
    if (op->result_count == 0 && op->operand_count > 0)
        sketch_opaque_value(im, kind, op, &list, op->operands[0]);
    for (int r = 0; r < op->result_count; r++)
        if (op->results[r] >= 0) sketch_opaque_value(im, kind, op, &list, op->results[r]);
}

struct import_value import_opaque_leaf(struct import *im, const char *kind, const struct model_op *op,
                                       struct import_value in, const struct model_type *type)
{
    import_plain(im, &in, op);
    struct import_value out = import_fresh(im, type, op);
    if (out.storage >= 0) import_opaque_sketch(im, kind, op, &in.storage, in.storage >= 0, out.storage);
    return out;
}

/* ---- values ---- */

int32_t import_storage(struct import *im, enum model_element e, int64_t elements, const struct model_op *at)
{
    struct storage s = {.role = LX_ROLE_COUNT, .element = e, .elements = elements, .tensor = -1};
    s.name = im->result_name;
    if (at) s.line = at->line, s.column = at->column;
    cuts_whole(&s.cuts, elements);
    VEC_PUSH(&im->storages, s);
    return (int32_t)im->storages.count - 1;
}

const struct model_type *import_type(struct import *im, enum model_element e, int rank, const int64_t *extent)
{
    struct model_type *t = arena_alloc(&im->memory, sizeof *t);
    int64_t *own = arena_copy_array(&im->memory, extent, (size_t)rank, sizeof *extent);
    *t = (struct model_type){.element = e, .count = rank, .extent = own, .elements = 1, .leaves = 1};
    for (int d = 0; d < rank; d++) t->elements *= extent[d];
    t->bytes = (t->elements * model_element_row(e)->bits + 7) / 8;
    return t;
}

struct import_value *import_leaf(struct import *im, int32_t value, int part)
{
    return &im->leaves.at[im->leaf[value] + part];
}

/* A storage is first cut by its own shape. */
static void value_cut_by_shape(struct storage *s, const struct model_type *type)
{
    int64_t low = 1;
    bool changed;
    for (int d = type->count - 1; d >= 0; d--) {
        low *= type->extent[d];
        if (low > 1 && low < s->elements && s->cuts.count <= LX_MAX_RANK) cuts_add(&s->cuts, low, &changed);
    }
}

struct import_value import_fresh(struct import *im, const struct model_type *type, const struct model_op *at)
{
    struct import_value v = {.storage = -1, .type = type};
    if (type->elements == 0 || type->bytes == 0) return v;
    view_plain(&v.view, type->count, type->extent);
    v.storage = import_storage(im, type->element, type->elements, at);
    value_cut_by_shape(&im->storages.at[v.storage], type);
    return v;
}

void import_bind(struct import *im, int32_t value, const struct import_value *leaves, int count)
{
    int32_t first = (int32_t)im->leaves.count;
    const char *name = count == 1 ? import_value_name(im, value) : NULL;
    for (int i = 0; i < count; i++) {
        struct import_value copy = leaves[i]; /* the list may move */
        if (name) copy.name = name;
        VEC_PUSH(&im->leaves, copy);
        struct storage *s = copy.storage >= 0 ? &im->storages.at[copy.storage] : NULL;
        if (!s || s->role == LX_WEIGHT) continue;
        VEC_PUSH(&im->aliases, (struct alias){value, i, s->seen_by});
        s->seen_by = (int32_t)im->aliases.count;
    }
    im->leaf[value] = first;
}

bool import_splat_exact(const struct import_value *v, double *number, int64_t *whole)
{
    const struct model_data *d = v->known;
    if (!d || v->storage >= 0 || (!d->reals && !d->ints)) return false;
    if (d->form != DATA_SPLAT && d->type->elements != 1) return false;
    *number = model_data_real(d, 0);
    *whole = d->ints ? d->ints[0] : 0;
    return true;
}

bool import_splat(const struct import_value *v, double *number)
{
    int64_t whole, back;
    return import_splat_exact(v, number, &whole) &&
           (!v->known->ints || (whole_of_double(*number, &back) && back == whole));
}

bool import_known(const struct import_value *v, int64_t *number)
{
    double unused;
    return v->known && v->known->ints && import_splat_exact(v, &unused, number);
}

/* Each constant is stored once, for all ops and all calls of its body. */
void import_stored(struct import *im, struct import_value *v)
{
    double number;
    char key[32];
    if (v->storage >= 0 || v->type->elements == 0) return;
    bool one = import_splat(v, &number);
    snprintf(key, sizeof key, "%p", (const void *)v->known);
    if (v->known) v->storage = names_find(&im->constants, key);
    if (v->storage < 0) {
        struct label_place at = import_here(im);
        v->storage = import_storage(im, v->type->element, one ? 1 : v->type->elements, NULL);
        bool made = import_made_constant(im, v, v->storage);
        if (v->name) import_call_it(im, &at, v->name);
        struct storage *s = &im->storages.at[v->storage];
        if (!made) s->role = LX_WEIGHT;
        s->constant = true;
        if (!one) value_cut_by_shape(s, v->type);
        if (v->known) names_add(&im->constants, arena_string(&im->memory, key), v->storage);
    }
    view_plain(&v->view, v->type->count, v->type->extent);
    if (!one) return;
    view_start(&v->view); /* one element, repeated */
    for (int d = 0; d < v->type->count; d++) {
        view_open_dim(&v->view);
        view_add(&v->view, atom_of(0, v->type->extent[d]));
    }
}

void import_copy(struct import *im, struct import_value *v, const struct model_op *at, bool whole, bool named)
{
    struct label_place place = import_here(im);
    struct sketch_operand in = {v->storage, v->view, v->via};
    struct sketching s = {
        .kind = "clone", .from = at, .in = &in, .count = 1, .type = v->type, .whole = whole};
    const char *name = v->name;
    import_sketch(im, &s, v);
    v->name = name;
    if (named) import_call_it(im, &place, name);
}

void import_plain(struct import *im, struct import_value *v, const struct model_op *at)
{
    import_stored(im, v);
    if (v->storage < 0 || view_is_plain(&v->view, im->storages.at[v->storage].elements)) return;
    import_copy(im, v, at, true, false);
    im->sketches.at[im->sketches.count - 1].why = "reader";
}

/* Unread copies are not built. */
void import_keep_old(struct import *im, int32_t storage, int32_t written, const struct model_op *at)
{
    int32_t next = im->storages.at[storage].seen_by;
    im->storages.at[storage].seen_by = 0;
    while (next > 0) {
        struct alias a = im->aliases.at[next - 1];
        struct import_value v = *import_leaf(im, a.value, a.part);
        next = a.before;
        if (a.value == written || v.storage != storage) continue;
        import_copy(im, &v, at, false, true);
        *import_leaf(im, a.value, a.part) = v;
    }
}
