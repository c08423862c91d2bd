/* Tensors and types of ONNX. Numbers stand in raw bytes or in a field by type, packed or one by one. */
#include "import/read/onnx.h"
#include "base/memory.h"
#include "import/types/typing.h"
#include "import/read/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tensor_parts {
    VEC(int64_t) dims;
    VEC(int64_t) ints;
    VEC(double) reals;
    uint64_t count; /* of numbers in typed fields */
    int64_t type;
    enum model_element element;
    struct wire raw;
    struct onnx_external beside;
    bool has_raw, external;
};

static bool tensor_add_dim(void *to, uint64_t v)
{
    struct tensor_parts *p = to;
    return VEC_PUSH(&p->dims, (int64_t)v);
}

static bool tensor_add_number(struct tensor_parts *p, int64_t whole, double real)
{
    if (++p->count > MODEL_MAX_KNOWN) return true;
    return VEC_PUSH(&p->ints, whole) && VEC_PUSH(&p->reals, real);
}

static bool tensor_add_float(void *to, uint64_t v)
{
    return tensor_add_number(to, 0, (double)wire_float(v));
}

static bool tensor_add_double(void *to, uint64_t v)
{
    return tensor_add_number(to, 0, wire_double(v));
}

/* Whole numbers, and the bits of narrow floats. */
static bool tensor_add_whole(void *to, uint64_t v)
{
    struct tensor_parts *p = to;
    bool bits = p->element < MODEL_TUPLE && model_element_row(p->element)->number == MODEL_FLOAT;
    return tensor_add_number(p, (int64_t)v, bits ? model_float_of_bits(p->element, v) : (double)(int64_t)v);
}

static int64_t tensor_whole_of(const struct tensor_parts *p, uint64_t bits, int size)
{
    int shift = 64 - size * 8;
    bool is_signed = model_element_row(p->element)->number == MODEL_SIGNED;
    return is_signed ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
}

static bool tensor_add_raw(struct tensor_parts *p)
{
    size_t size = (size_t)model_element_row(p->element)->bits / 8;
    size_t bytes = (size_t)(p->raw.end - p->raw.at);
    if (size == 0 || size > 8) return true;
    p->count = bytes / size;
    for (size_t i = 0; i < p->count && i < MODEL_MAX_KNOWN; i++) {
        uint64_t bits = 0;
        for (size_t k = size; k-- > 0;) bits = bits << 8 | p->raw.at[i * size + k];
        bool real = model_element_row(p->element)->number == MODEL_FLOAT;
        int64_t whole = real ? 0 : tensor_whole_of(p, bits, (int)size);
        if (!VEC_PUSH(&p->ints, whole) ||
            !VEC_PUSH(&p->reals, real ? model_float_of_bits(p->element, bits) : (double)whole))
            return false;
    }
    return true;
}

/* The type must be known before numbers are: fields come in any order. */
static bool tensor_first_look(struct wire w, struct tensor_parts *p, const char **name)
{
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.number == 1 && !wire_numbers(&f, WIRE_NUMBER, tensor_add_dim, p)) return false;
        if (f.number == 2) p->type = (int64_t)f.value;
        if (f.number == 8 && !(*name = wire_string(&f))) return false;
        if (f.number == 13 && f.kind == WIRE_BYTES && !onnx_external_entry(&p->beside, f.body)) return false;
        if (f.number == 14) p->external = f.value == 1;
        if (f.number == 9 && f.kind == WIRE_BYTES) {
            p->raw = f.body;
            p->has_raw = true;
        }
    }
    p->element = model_element_of_onnx(p->type);
    return !*w.failed;
}

static bool tensor_second_look(struct wire w, struct tensor_parts *p)
{
    struct wire_field f;
    while (wire_next(&w, &f)) {
        bool ok = f.number == 4    ? wire_numbers(&f, WIRE_4, tensor_add_float, p)
                  : f.number == 10 ? wire_numbers(&f, WIRE_8, tensor_add_double, p)
                  : f.number == 5 || f.number == 7 || f.number == 11
                      ? wire_numbers(&f, WIRE_NUMBER, tensor_add_whole, p)
                      : true;
        if (!ok) return false;
    }
    return !*w.failed;
}

/* Of a file beside the model only what is small enough to be known is read; of the rest, is there any? */
static bool tensor_look_beside(const struct wire *w, struct tensor_parts *p, struct model_data *d,
                               bool wanted)
{
    size_t size = (size_t)d->type->bytes;
    if (!wanted) {
        d->missing = !onnx_external_there(&p->beside, w->m->file);
        return true;
    }
    unsigned char *bytes = onnx_external_bytes(&p->beside, w->m->file, size);
    d->missing = !bytes;
    if (!bytes) return true;
    p->raw = *w;
    p->raw.at = bytes;
    p->raw.end = bytes + size;
    bool ok = tensor_add_raw(p);
    mem_free(bytes);
    return ok;
}

static bool tensor_copy_numbers(const struct wire *w, const struct tensor_parts *p, struct model_data *d,
                                bool real)
{
    if (p->count != (uint64_t)d->type->elements)
        return wire_fail(w, LX_E_SHAPE, "%llu numbers for a tensor of %lld", (unsigned long long)p->count,
                         (long long)d->type->elements);
    if (d->type->elements > MODEL_MAX_KNOWN) return true;
    if (real)
        d->reals = arena_copy_array(&w->m->memory, p->reals.at, p->reals.count, sizeof *p->reals.at);
    else
        d->ints = arena_copy_array(&w->m->memory, p->ints.at, p->ints.count, sizeof *p->ints.at);
    return true;
}

static bool tensor_keep(const struct wire *w, struct tensor_parts *p, struct model_data *d)
{
    const struct model_element_row *row = model_element_row(p->element);
    bool numbers = row->number != MODEL_COMPLEX && row->number != MODEL_NO_NUMBER && row->bits >= 8;
    bool known = numbers && d->type->elements <= MODEL_MAX_KNOWN;
    d->form = p->external ? DATA_EXTERNAL : p->has_raw || p->count ? DATA_BYTES : DATA_ABSENT;
    if (d->type->elements == 0) d->form = DATA_BYTES;
    if (d->form == DATA_EXTERNAL && (!tensor_look_beside(w, p, d, known) || d->missing || !known))
        return !*w->failed;
    if (d->form == DATA_ABSENT || !numbers) return true;
    return tensor_copy_numbers(w, p, d, row->number == MODEL_FLOAT);
}

static bool tensor_make(const struct wire *w, struct tensor_parts *p, struct model_data *d)
{
    if (p->element == MODEL_ELEMENT_COUNT)
        return wire_fail(w, LX_E_UNKNOWN_KIND, "a tensor of data type %lld, which has no size",
                         (long long)p->type);
    if (p->dims.count > MODEL_MAX_RANK)
        return wire_fail(w, LX_E_LIMIT, "more than %d dimensions", MODEL_MAX_RANK);
    for (size_t i = 0; i < p->dims.count; i++)
        if (p->dims.at[i] < 0) return wire_fail(w, LX_E_RANGE, "an extent below 0");
    d->type = model_type_make(w->m, p->element, (int)p->dims.count, p->dims.at, w->st);
    if (!d->type) return *w->failed = true, false;
    return tensor_keep(w, p, d);
}

const struct model_data *onnx_tensor(struct wire w, const char **name)
{
    struct tensor_parts p = {0};
    struct model_data *d = arena_alloc(&w.m->memory, sizeof *d);
    bool ok = tensor_first_look(w, &p, name);
    if (ok && p.external)
        p.has_raw = false; /* whatever stands there besides */
    else if (ok && p.has_raw && p.element != MODEL_ELEMENT_COUNT)
        ok = tensor_add_raw(&p);
    else if (ok)
        ok = tensor_second_look(w, &p);
    ok = ok && tensor_make(&w, &p, d);
    VEC_FREE(&p.dims);
    VEC_FREE(&p.ints);
    VEC_FREE(&p.reals);
    return ok ? d : NULL;
}

/* A dimension: a number, or a name; one without either is called "input:axis". */
static bool tensor_dimension(struct onnx *o, struct wire w, struct onnx_info *of, int axis, bool ask,
                             int64_t *out)
{
    struct wire_field f;
    const char *name = NULL;
    char unnamed[MODEL_MAX_NAME + 24];
    *out = -1;
    while (wire_next(&w, &f)) {
        if (f.number == 1) *out = (int64_t)f.value;
        if (f.number == 2 && f.body.at < f.body.end && !(name = wire_string(&f))) return false;
    }
    if (o->failed) return false;
    if (*out >= 0 && !name) return true;
    *out = -1;
    of->exact = false;
    snprintf(unnamed, sizeof unnamed, "%s:%d", of->name, axis);
    if (!model_extent_given(o->w.m, o->options, name ? name : unnamed, out) && ask)
        model_extent_ask(o->unbound, name ? name : unnamed);
    return true;
}

static bool tensor_shape(struct onnx *o, struct wire w, struct onnx_info *of, bool ask, int64_t *extent,
                         int *rank)
{
    struct wire_field f;
    for (*rank = 0; wire_next(&w, &f);) {
        if (f.number != 1) continue;
        if (*rank == MODEL_MAX_RANK) return wire_fail(&w, LX_E_LIMIT, "more than %d dimensions", *rank);
        if (!tensor_dimension(o, f.body, of, *rank, ask, &extent[*rank])) return false;
        (*rank)++;
    }
    return !o->failed;
}

/* What an optional type is of. */
static struct wire tensor_inside(struct wire w)
{
    struct wire_field f, g;
    struct wire found = w;
    for (struct wire at = w; wire_next(&at, &f);)
        if (f.number == 9 && f.kind == WIRE_BYTES)
            for (struct wire t = f.body; wire_next(&t, &g);)
                if (g.number == 1 && g.kind == WIRE_BYTES) found = g.body;
    return found;
}

static bool tensor_no_size(const struct wire *w, const struct onnx_info *of)
{
    return wire_fail(
        w, LX_E_UNKNOWN_KIND,
        "input %.80s is a sequence, a map or sparse: it has no size; export the model with tensors as "
        "inputs, one for each member",
        of->name);
}

/* A type: that of a tensor, which may be optional, or none that has a size. */
static bool tensor_type_of(struct onnx *o, struct wire w, struct onnx_info *of, bool ask)
{
    struct wire_field f, g;
    int64_t extent[MODEL_MAX_RANK], number = 0;
    int rank = -1;
    for (struct wire at = tensor_inside(w); wire_next(&at, &f);) {
        if (f.number != 1 && f.kind == WIRE_BYTES && f.number <= 9 && f.number != 6 && ask)
            return tensor_no_size(&w, of);
        if (f.number != 1) continue;
        for (struct wire t = f.body; wire_next(&t, &g);) {
            if (g.number == 1) number = (int64_t)g.value;
            if (g.number == 2 && !tensor_shape(o, g.body, of, ask, extent, &rank)) return false;
        }
    }
    enum model_element e = model_element_of_onnx(number);
    if (o->failed) return false;
    if (rank < 0 || e == MODEL_ELEMENT_COUNT) return true;
    of->type = model_type_make(o->w.m, e, rank, extent, o->w.st);
    o->failed |= !of->type;
    return of->type != NULL;
}

bool onnx_value_info(struct onnx *o, struct wire w, struct onnx_info *info, bool ask)
{
    struct wire_field f;
    struct wire again = w;
    *info = (struct onnx_info){.name = "", .exact = true};
    while (wire_next(&w, &f))
        if (f.number == 1 && !(info->name = wire_string(&f))) return false;
    while (wire_next(&again, &f))
        if (f.number == 2 && f.kind == WIRE_BYTES && !tensor_type_of(o, f.body, info, ask)) return false;
    return !o->failed;
}
