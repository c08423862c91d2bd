/* Values of a model as views of storages. */
#include "import/map/import.h"
#include "import/map/import_steps.h"
#include "base/checked.h"
#include "base/fail.h"

#include <stdio.h>
#include <string.h>

int32_t import_storage(struct import *im, const char *name, enum model_element e, int64_t elements,
                       const struct model_op *at)
{
    struct storage s = {.role = LX_ROLE_COUNT, .element = e, .elements = elements, .tensor = -1};
    s.name = name;
    s.line = at ? at->line : 0;
    s.column = at ? at->column : 0;
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

bool import_fresh(struct import *im, const char *name, const struct model_type *type,
                  const struct model_op *at, struct import_value *out)
{
    *out = (struct import_value){.storage = -1, .type = type};
    if (type->elements == 0 || type->bytes == 0) return true;
    if (!view_plain(&out->view, type->count, type->extent))
        return status_set(im->st, LX_E_LIMIT, "%.100s has more than %d dimensions", name ? name : "a tensor",
                          VIEW_MAX_RANK);
    out->storage = import_storage(im, name, type->element, type->elements, at);
    if (out->storage < 0) return false;
    value_cut_by_shape(&im->storages.at[out->storage], type);
    return true;
}

/* For those that are written where they are. */
static void value_note_alias(struct import *im, int32_t value, int part, int32_t storage)
{
    struct storage *s = storage >= 0 ? &im->storages.at[storage] : NULL;
    if (!s || s->role == LX_WEIGHT) return;
    struct alias a = {value, part, s->seen_by};
    VEC_PUSH(&im->aliases, a);
    s->seen_by = (int32_t)im->aliases.count;
}

bool import_bind(struct import *im, int32_t value, const struct import_value *leaves, int count)
{
    int32_t first = (int32_t)im->leaves.count;
    const char *name = count == 1 ? import_value_name(im, value) : NULL;
    for (int i = 0; i < count; i++) {
        struct import_value copy = leaves[i]; /* the list may move */
        if (name) copy.name = name;
        VEC_PUSH(&im->leaves, copy);
        value_note_alias(im, value, i, copy.storage);
    }
    im->leaf[value] = first;
    return true;
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

/* An integer that a double has not is no number that all its readers could take. */
bool import_splat(const struct import_value *v, double *number)
{
    int64_t whole, back;
    return import_splat_exact(v, number, &whole) &&
           (!v->known->ints || (whole_of_double(*number, &back) && back == whole));
}

/* Each constant is stored once, however many ops read it and however often its body is walked through. */
static bool value_find_stored(const struct import *im, const struct model_data *d, int32_t *storage)
{
    char key[32];
    snprintf(key, sizeof key, "%p", (const void *)d);
    *storage = d ? names_find(&im->constants, key) : -1;
    return *storage >= 0;
}

static void value_keep_stored(struct import *im, const struct model_data *d, int32_t storage)
{
    const char *key = d ? arena_format(&im->memory, "%p", (const void *)d) : NULL;
    if (!d) return;
    names_add(&im->constants, key, storage);
}

static bool value_fresh_constant(struct import *im, struct import_value *v, bool one)
{
    struct label_place at = {im->sketches.count, im->storages.count, NULL};
    v->storage = import_storage(im, "constant", v->type->element, one ? 1 : v->type->elements, NULL);
    if (v->storage < 0) return false;
    bool made;
    import_made_constant(im, v, v->storage, &made);
    if (v->name) import_call_it(im, &at, v->name);
    if (!made) im->storages.at[v->storage].role = LX_WEIGHT;
    im->storages.at[v->storage].constant = true;
    if (!one) value_cut_by_shape(&im->storages.at[v->storage], v->type);
    value_keep_stored(im, v->known, v->storage);
    return true;
}

bool import_stored(struct import *im, struct import_value *v)
{
    double number;
    if (v->storage >= 0 || v->type->elements == 0) return true;
    bool one = import_splat(v, &number), ok;
    if (!value_find_stored(im, v->known, &v->storage) && !value_fresh_constant(im, v, one)) return false;
    if (!one) {
        ok = view_plain(&v->view, v->type->count, v->type->extent);
    } else { /* one element, repeated */
        view_start(&v->view);
        ok = true;
        for (int d = 0; ok && d < v->type->count; d++)
            ok = view_open_dim(&v->view) && view_add(&v->view, atom_of(0, v->type->extent[d]));
    }
    return ok ? true : status_set(im->st, LX_E_LIMIT, "a constant of more than %d dimensions", VIEW_MAX_RANK);
}

bool import_plain(struct import *im, struct import_value *v, const struct model_op *at)
{
    int dims[VIEW_MAX_RANK];
    struct sketch_operand in;
    struct import_value copy;
    if (!import_stored(im, v)) return false;
    if (v->storage < 0 || view_is_plain(&v->view, im->storages.at[v->storage].elements)) return true;
    for (int d = 0; d < v->type->count; d++) dims[d] = d;
    in = (struct sketch_operand){v->storage, v->view, v->via};
    im->whole_result = true;
    bool ok =
        import_sketch(im, "clone", at, v->type->count, v->type->extent, &in, 1, NULL, v->type, dims, &copy);
    im->whole_result = false;
    copy.name = v->name;
    if (ok) im->sketches.at[im->sketches.count - 1].why = "reader";
    if (ok) *v = copy;
    return ok;
}

static bool value_copied(struct import *im, struct import_value *v, const struct model_op *at)
{
    struct sketch_operand in = {v->storage, v->view, v->via};
    struct import_value copy;
    struct label_place place = {im->sketches.count, im->storages.count, NULL};
    int dims[VIEW_MAX_RANK];
    for (int d = 0; d < v->type->count; d++) dims[d] = d;
    if (!import_sketch(im, "clone", at, v->type->count, v->type->extent, &in, 1, NULL, v->type, dims, &copy))
        return false;
    import_call_it(im, &place, v->name);
    copy.name = v->name;
    *v = copy;
    return true;
}

/* Copies that nobody reads are not built. */
bool import_keep_old(struct import *im, int32_t storage, int32_t written, const struct model_op *at)
{
    int32_t next = im->storages.at[storage].seen_by;
    im->storages.at[storage].seen_by = 0;
    while (next > 0) {
        struct alias a = im->aliases.at[next - 1];
        struct import_value v = *import_leaf(im, a.value, a.part);
        next = a.before;
        if (a.value == written || v.storage != storage) continue;
        if (!value_copied(im, &v, at)) return false;
        *import_leaf(im, a.value, a.part) = v;
    }
    return true;
}
