/* Values of a model as views of storages. */
#include "import/map/import.h"
#include "import/map/import_steps.h"
#include "base/checked.h"

#include <stdio.h>

int32_t import_storage(struct import *im, enum model_element e, int64_t elements, const struct model_op *at)
{
    struct storage s = {.name = im->result_name,
                        .role = LX_ROLE_COUNT,
                        .element = e,
                        .elements = elements,
                        .tensor = -1,
                        .line = at ? at->line : 0,
                        .column = at ? at->column : 0};
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

/* Its own shape is the first way in which a storage is cut. */
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

/* Each constant is stored once, however many ops read it and however often its body is walked through. */
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

void import_copy(struct import *im, struct import_value *v, const struct model_op *at, bool whole)
{
    struct sketch_operand in = {v->storage, v->view, v->via};
    struct sketching s = {
        .kind = "clone", .from = at, .in = &in, .count = 1, .type = v->type, .whole = whole};
    const char *name = v->name;
    import_sketch(im, &s, v);
    v->name = name;
}

void import_copy_named(struct import *im, struct import_value *v, const struct model_op *at, bool whole)
{
    struct label_place place = import_here(im);
    import_copy(im, v, at, whole);
    import_call_it(im, &place, v->name);
}

void import_plain(struct import *im, struct import_value *v, const struct model_op *at)
{
    import_stored(im, v);
    if (v->storage < 0 || view_is_plain(&v->view, im->storages.at[v->storage].elements)) return;
    import_copy(im, v, at, true);
    im->sketches.at[im->sketches.count - 1].why = "reader";
}

/* Copies that nobody reads are not built. */
void import_keep_old(struct import *im, int32_t storage, int32_t written, const struct model_op *at)
{
    int32_t next = im->storages.at[storage].seen_by;
    im->storages.at[storage].seen_by = 0;
    while (next > 0) {
        struct alias a = im->aliases.at[next - 1];
        struct import_value v = *import_leaf(im, a.value, a.part);
        next = a.before;
        if (a.value == written || v.storage != storage) continue;
        import_copy_named(im, &v, at, false);
        *import_leaf(im, a.value, a.part) = v;
    }
}
