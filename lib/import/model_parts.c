/* Parts of models: types with their sizes, values, and attributes by name. */
#include "import/model_parts.h"

#define MODEL_ELEMENT(id, mlir, hlo, cast, onnx, bits, number, exponent, fraction, bias, odd)                \
    [MODEL_##id] = {{mlir, hlo, cast}, onnx, bits, MODEL_##number, exponent, fraction, bias, ODD_##odd},
static const struct model_element_row elements[MODEL_ELEMENT_COUNT] = {
#include "import/element_types.def"
    [MODEL_TUPLE] = {.word = {"tuple", "tuple", ""}},
};
#undef MODEL_ELEMENT

const struct model_element_row *model_element_row(enum model_element e)
{
    return &elements[e];
}

const char *model_element_word(enum model_format format, enum model_element e)
{
    return elements[e].word[format == MODEL_HLO];
}

enum model_element model_element_find(enum model_format format, const char *word)
{
    for (int e = 0; e < MODEL_TUPLE; e++)
        if (strcmp(elements[e].word[format], word) == 0) return (enum model_element)e;
    return MODEL_ELEMENT_COUNT;
}

enum model_element model_element_of_onnx(int64_t number)
{
    for (int e = 0; number > 0 && e < MODEL_TUPLE; e++)
        if (elements[e].onnx == number) return (enum model_element)e;
    return MODEL_ELEMENT_COUNT;
}

const struct model_type *model_type_make(struct lx_model *m, enum model_element element, int rank,
                                         const int64_t *extent, lx_status *st)
{
    struct model_type *t = arena_alloc(&m->memory, sizeof *t);
    int64_t bits, product = 1;
    bool known = true, empty = false, fits = true;
    *t = (struct model_type){.element = element, .count = rank, .leaves = 1, .elements = -1, .bytes = -1};
    t->extent = arena_copy_array(&m->memory, extent, (size_t)rank, sizeof *extent);
    for (int d = 0; d < rank; d++) { /* counts the extents beside a 0 */
        known &= extent[d] >= 0;
        empty |= extent[d] == 0;
        if (fits && extent[d] > 0) fits = mul_i64(product, extent[d], &product) && product <= LX_INT_MAX;
    }
    if (fits && known) {
        t->elements = empty ? 0 : product;
        fits = mul_i64(t->elements, elements[element].bits, &bits);
        t->bytes = fits ? ceil_div_i64(bits, 8) : 0;
    }
    if (!fits || t->bytes > LX_INT_MAX)
        return status_set(st, LX_E_LIMIT, "a tensor of more than 2^53 bytes"), NULL;
    return t;
}

const struct model_type *model_tuple_make(struct lx_model *m, const struct model_type *const *parts,
                                          int count, lx_status *st)
{
    struct model_type *t = arena_alloc(&m->memory, sizeof *t);
    *t = (struct model_type){.element = MODEL_TUPLE, .count = count};
    t->parts = arena_copy_array(&m->memory, parts, (size_t)count, sizeof(struct model_type *));
    for (int i = 0; i < count; i++) {
        bool known = parts[i]->bytes >= 0 && t->bytes >= 0;
        t->leaves += parts[i]->leaves;
        t->elements = known ? t->elements + parts[i]->elements : -1;
        t->bytes = known ? t->bytes + parts[i]->bytes : -1;
        if (t->bytes > LX_INT_MAX) return status_set(st, LX_E_LIMIT, "a tuple of more than 2^53 bytes"), NULL;
    }
    return t;
}

void *model_keep(struct lx_model *m, void **at, size_t *count, size_t *room, size_t size, int *kept)
{
    void *copy = arena_copy_array(&m->memory, *at, *count, size);
    *kept = (int)*count;
    mem_free(*at);
    *at = NULL;
    *count = *room = 0;
    return copy;
}

int32_t model_add_value(struct lx_model *m, const struct model_value *v, lx_status *st)
{
    if (m->values.count >= MODEL_MAX_OPS * 4)
        return status_set(st, LX_E_LIMIT, "more than %d values", MODEL_MAX_OPS * 4), -1;
    VEC_PUSH(&m->values, *v);
    return (int32_t)m->values.count - 1;
}

const struct model_type *model_leaf_type(const struct model_type *type, int leaf)
{
    while (type->element == MODEL_TUPLE) {
        int i = 0;
        for (; leaf >= type->parts[i]->leaves; i++) leaf -= type->parts[i]->leaves;
        type = type->parts[i];
    }
    return type;
}

void model_shape_words(int rank, const int64_t *extent, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "[");
    for (int d = 0; d < rank && n + 24 < size; d++)
        n += (size_t)snprintf(out + n, size - n, "%s%lld", d ? "," : "", (long long)extent[d]);
    snprintf(out + n, size - n, "]");
}

bool model_same_shape(const struct model_type *a, const struct model_type *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->extent, b->extent, (size_t)a->count * sizeof *a->extent) == 0);
}

enum { MOST_COMPARED = 1024 }; /* tensors of a tuple compared: each lookup starts at the front */

/* Unknown extents match any. */
bool model_same_types(const struct model_type *a, const struct model_type *b)
{
    bool same = a->leaves == b->leaves;
    for (int i = 0; same && i < a->leaves && i < MOST_COMPARED; i++) {
        const struct model_type *x = model_leaf_type(a, i), *y = model_leaf_type(b, i);
        same = x->element == y->element && x->count == y->count;
        for (int d = 0; same && d < x->count; d++)
            same = x->extent[d] == y->extent[d] || x->extent[d] < 0 || y->extent[d] < 0;
    }
    return same;
}

/* ---- numbers ---- */

double model_float_of_bits(enum model_element element, uint64_t bits)
{
    const struct model_element_row *b = &elements[element];
    uint64_t one = (uint64_t)1 << b->fraction, fraction = bits & (one - 1);
    uint64_t top = ((uint64_t)1 << b->exponent) - 1, power = bits >> b->fraction & top;
    bool minus = b->odd != ODD_FNU && (bits >> (b->exponent + b->fraction) & 1);
    double sign = minus ? -1.0 : 1.0;
    if (b->odd == ODD_IEEE && power == top) return fraction ? NAN : sign * INFINITY;
    if ((b->odd == ODD_FN || b->odd == ODD_FNU) && power == top && fraction == one - 1) return NAN;
    if (b->odd == ODD_FNUZ && minus && power == 0 && fraction == 0) return NAN;
    if (power == 0 && b->odd != ODD_FNU) return sign * ldexp((double)fraction, 1 - b->bias - b->fraction);
    return sign * ldexp((double)(fraction | one), (int)power - b->bias - b->fraction);
}

void numbers_push(struct model_numbers *n, int64_t whole, double real)
{
    if (n->count >= n->most) return;
    VEC_PUSH(&n->ints, whole);
    VEC_PUSH(&n->reals, real);
}

void numbers_add_bits(struct model_numbers *n, enum model_element element, uint64_t bits)
{
    const struct model_element_row *row = model_element_row(element);
    int shift = 64 - (row->bits < 8 ? 8 : row->bits);
    int64_t whole = row->number == MODEL_SIGNED ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
    numbers_push(n, whole, row->number == MODEL_FLOAT ? model_float_of_bits(element, bits) : (double)whole);
    n->count++;
}

bool numbers_keep(struct lx_model *m, const struct model_numbers *n, struct model_data *d)
{
    enum model_number number = model_element_row(d->type->element)->number;
    if (n->count != (d->form == DATA_SPLAT ? 1 : d->type->elements)) return false;
    bool pairs = number == MODEL_COMPLEX;
    if (n->count > n->most || (pairs && (int64_t)n->reals.count < 2 * n->count)) return true;
    if (number == MODEL_FLOAT || pairs)
        d->reals = arena_copy_array(&m->memory, n->reals.at, n->reals.count, sizeof *n->reals.at);
    else
        d->ints = arena_copy_array(&m->memory, n->ints.at, n->ints.count, sizeof *n->ints.at);
    return true;
}

void numbers_free(struct model_numbers *n)
{
    VEC_FREE(&n->ints);
    VEC_FREE(&n->reals);
}

/* ---- attributes ---- */

const struct model_attr *model_attr_find(const struct model_attrs *attrs, const char *key)
{
    for (int i = 0; i < attrs->count; i++)
        if (strcmp(attrs->at[i].key, key) == 0) return &attrs->at[i];
    return NULL;
}

int64_t model_attr_int(const struct model_attrs *attrs, const char *key, int64_t otherwise)
{
    const struct model_attr *a = model_attr_find(attrs, key);
    return a && (a->form == ATTR_INT || a->form == ATTR_BOOL) ? a->number : otherwise;
}

const char *model_attr_word(const struct model_attrs *attrs, const char *key, const char *otherwise)
{
    const struct model_attr *a = model_attr_find(attrs, key);
    return a && a->text ? a->text : otherwise;
}

const int64_t *model_attr_ints(const struct model_attrs *attrs, const char *key, int *count)
{
    const struct model_attr *a = model_attr_find(attrs, key);
    bool list = a && a->form == ATTR_INTS, one = a && a->form == ATTR_INT;
    *count = list ? a->count : one;
    return list ? a->ints : one ? &a->number : NULL;
}

const struct model_type *model_type_of(const struct lx_model *m, int32_t value)
{
    return value < 0 ? NULL : m->values.at[value].type;
}

int64_t model_data_int(const struct model_data *d, int64_t element)
{
    int64_t i = d->form == DATA_SPLAT ? 0 : element;
    return d->ints ? d->ints[i] : (int64_t)d->reals[i];
}

double model_data_real(const struct model_data *d, int64_t element)
{
    int64_t i = d->form == DATA_SPLAT ? 0 : element;
    if (d->reals) return d->reals[i];
    return d->type->element == MODEL_U64 ? (double)(uint64_t)d->ints[i] : (double)d->ints[i];
}

void lx_model_free(struct lx_model *m)
{
    if (!m) return;
    VEC_FREE(&m->values);
    VEC_FREE(&m->bodies);
    VEC_FREE(&m->constants);
    VEC_FREE(&m->causal);
    arena_free(&m->memory);
    mem_free(m);
}
