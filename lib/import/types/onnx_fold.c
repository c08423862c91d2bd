/* Values of an ONNX model that are known before it runs: shapes that are computed as data, and small
 * constants.
 *
 * Exact: whole numbers as int64, others as double. Results of at most MODEL_MAX_KNOWN elements, and of some
 * millions in all, so that no file makes it long. */
#include "import/types/typing.h"

#include <math.h>
#include <string.h>

enum { MOST = MODEL_MAX_RANK };

/* One result under way. */
struct folding {
    struct typing *t;
    const struct model_type *y;
    int result;
    bool real;
    int64_t *ints;
    double *reals;
};

/* False: it is not known after all. */
typedef bool fold_of(struct folding *f);

struct fold_row {
    const char *kind;
    fold_of *fold;
};

static double fold_number(const struct model_data *d, int64_t i)
{
    return model_data_real(d, i);
}

/* Element `at` of the result is element i of d, in the type of the result. */
static void fold_put(struct folding *f, int64_t at, const struct model_data *d, int64_t i)
{
    enum model_element e = f->y->element;
    if (f->real)
        f->reals[at] = d->reals ? fold_kept_real(e, fold_number(d, i))
                                : fold_to_real(e, d->type->element, model_data_int(d, i));
    else
        f->ints[at] = d->reals ? fold_to_int(e, fold_number(d, i)) : fold_kept_int(e, model_data_int(d, i));
}

static void fold_next(int64_t *index, const struct model_type *t)
{
    for (int d = t->count - 1; d >= 0 && ++index[d] == t->extent[d]; d--) index[d] = 0;
}

static int64_t fold_offset(const int64_t *index, const struct model_type *t)
{
    int64_t at = 0;
    for (int d = 0; d < t->count; d++) at = at * t->extent[d] + index[d];
    return at;
}

/* Where the element of the result at `index` comes from, of an operand that is broadcast to it. */
static int64_t fold_spread(const int64_t *index, const struct model_type *y, const struct model_type *t)
{
    int64_t at = 0;
    for (int d = 0; d < t->count; d++)
        at = at * t->extent[d] + (t->extent[d] == 1 ? 0 : index[y->count - t->count + d]);
    return at;
}

static bool fold_copied(struct folding *f)
{
    const struct model_data *d = typing_data(f->t, 0);
    for (int64_t i = 0; i < f->y->elements; i++) fold_put(f, i, d, i);
    return true;
}

static bool fold_expand(struct folding *f)
{
    const struct model_data *d = typing_data(f->t, 0);
    int64_t index[MOST] = {0};
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y))
        fold_put(f, i, d, fold_spread(index, f->y, d->type));
    return true;
}

/* Turning or looking up fractions is work on a weight, which stays an op; here and in gather. */
static bool fold_transpose(struct folding *f)
{
    const struct model_data *d = typing_data(f->t, 0);
    int64_t index[MOST] = {0}, from[MOST], perm[MOST];
    int count;
    if (f->real || !typing_ints(f->t, "perm", -1, perm, MOST, &count)) return false;
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y)) {
        for (int k = 0; k < f->y->count; k++) from[count < 0 ? f->y->count - 1 - k : perm[k]] = index[k];
        fold_put(f, i, d, fold_offset(from, d->type));
    }
    return true;
}

static bool fold_slice(struct folding *f)
{
    const struct model_data *d = typing_data(f->t, 0);
    int64_t start[MOST], step[MOST], extent[MOST], index[MOST] = {0}, from[MOST];
    if (!onnx_slice(f->t, start, step, extent)) return false;
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y)) {
        for (int k = 0; k < f->y->count; k++) from[k] = start[k] + step[k] * index[k];
        fold_put(f, i, d, fold_offset(from, d->type));
    }
    return true;
}

static bool fold_gather(struct folding *f)
{
    const struct model_data *d = typing_data(f->t, 0), *pick = typing_data(f->t, 1);
    int axis = typing_dim(typing_int(f->t, "axis", 0), d->type->count), k = pick->type->count;
    int64_t index[MOST] = {0}, from[MOST];
    if (f->real) return false;
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y)) {
        int64_t at = model_data_int(pick, fold_offset(index + axis, pick->type));
        if (at < 0) at += d->type->extent[axis];
        if (at < 0 || at >= d->type->extent[axis]) return false;
        for (int e = 0; e < d->type->count; e++)
            from[e] = e < axis ? index[e] : e == axis ? at : index[e + k - 1];
        fold_put(f, i, d, fold_offset(from, d->type));
    }
    return true;
}

static bool fold_concat(struct folding *f)
{
    int axis = typing_dim(typing_int(f->t, "axis", f->t->opset < 4 ? 1 : 0), f->y->count);
    int64_t index[MOST] = {0};
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y)) {
        int64_t from[MOST];
        int part = 0;
        memcpy(from, index, sizeof from);
        while (from[axis] >= typing_data(f->t, part)->type->extent[axis])
            from[axis] -= typing_data(f->t, part++)->type->extent[axis];
        fold_put(f, i, typing_data(f->t, part), fold_offset(from, typing_data(f->t, part)->type));
    }
    return true;
}

static bool fold_split(struct folding *f)
{
    const struct model_data *d = typing_data(f->t, 0);
    int64_t sizes[MODEL_MAX_KNOWN], index[MOST] = {0}, before = 0;
    int axis;
    if (!onnx_split(f->t, &axis, sizes)) return false;
    for (int r = 0; r < f->result; r++) before += sizes[r];
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y)) {
        int64_t from[MOST];
        memcpy(from, index, sizeof from);
        from[axis] += before;
        fold_put(f, i, d, fold_offset(from, d->type));
    }
    return true;
}

static bool fold_constant_of_shape(struct folding *f)
{
    const struct model_attr *a = model_attr_find(&f->t->op->attrs, "value");
    const struct model_data *d = a && a->form == ATTR_DATA ? a->data : NULL;
    for (int64_t i = 0; d && (d->ints || d->reals) && d->type->elements > 0 && i < f->y->elements; i++)
        fold_put(f, i, d, 0);
    return true;
}

static bool fold_shape(struct folding *f)
{
    const struct model_type *t = f->t->in[0];
    int64_t start = typing_int(f->t, "start", 0);
    if (start < 0) start = start < -t->count ? 0 : start + t->count;
    for (int64_t i = 0; i < f->y->elements; i++) f->ints[i] = t->extent[start + i];
    return true;
}

static bool fold_size(struct folding *f)
{
    f->ints[0] = f->t->in[0]->elements;
    return true;
}

static bool fold_range(struct folding *f)
{
    const struct model_data *from = typing_data(f->t, 0), *step = typing_data(f->t, 2);
    for (int64_t i = 0; i < f->y->elements; i++) {
        if (f->real)
            f->reals[i] = fold_number(from, 0) + fold_number(step, 0) * (double)i;
        else if (__builtin_mul_overflow(model_data_int(step, 0), i, &f->ints[i]) ||
                 __builtin_add_overflow(model_data_int(from, 0), f->ints[i], &f->ints[i]))
            return false;
    }
    return true;
}

static bool fold_element(struct folding *f, enum binary op, const struct model_data *b, int64_t i, int64_t at)
{
    const struct model_data *a = typing_data(f->t, 0);
    int64_t from = at;
    double y;
    if (!a->reals && !f->real)
        return fold_whole(a->type->element, op, f->ints[i], model_data_int(b, from),
                          typing_int(f->t, "fmod", 0) != 0, &f->ints[i]);
    double left = f->real ? f->reals[i] : (double)f->ints[i];
    if (!fold_fraction(op, left, fold_number(b, from), &y)) return false;
    if (f->real)
        f->reals[i] = y;
    else
        f->ints[i] = (int64_t)y;
    return true;
}

/* The first operand is laid out, then each further one is combined with what is there. Comparisons of
 * fractions would lose them in whole results: these are compared where they stand. */
static bool fold_combined(struct folding *f, enum binary op)
{
    const struct model_data *a = typing_data(f->t, 0);
    bool compares = a->reals && !f->real;
    int64_t index[MOST] = {0};
    if (f->t->opset < 7) return false; /* aligned otherwise */
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y)) {
        int64_t first = fold_spread(index, f->y, a->type);
        double y;
        if (f->real)
            fold_put(f, i, a, first);
        else
            f->ints[i] = model_data_int(a, first); /* a truth may come of it */
        for (int k = 1; k < f->t->op->operand_count; k++) {
            const struct model_data *b = typing_data(f->t, k);
            int64_t at = fold_spread(index, f->y, b->type);
            if (compares ? !fold_fraction(op, fold_number(a, first), fold_number(b, at), &y)
                         : !fold_element(f, op, b, i, at))
                return false;
            if (compares) f->ints[i] = y != 0;
        }
    }
    return true;
}

#define COMBINED(name, op)                                                                                   \
    static bool fold_##name(struct folding *f)                                                               \
    {                                                                                                        \
        return fold_combined(f, op);                                                                         \
    }
COMBINED(add, ADD)
COMBINED(sub, SUB)
COMBINED(mul, MUL)
COMBINED(divide, DIV)
COMBINED(mod, MOD)
COMBINED(least, MIN)
COMBINED(most, MAX)
COMBINED(equal, EQUAL)
COMBINED(less, LESS)
COMBINED(greater, GREATER)
COMBINED(and, AND)
COMBINED(or, OR)

static bool fold_not(struct folding *f)
{
    const struct model_data *d = typing_data(f->t, 0);
    for (int64_t i = 0; i < f->y->elements; i++) f->ints[i] = !model_data_int(d, i);
    return true;
}

static bool fold_where(struct folding *f)
{
    const struct model_data *c = typing_data(f->t, 0);
    int64_t index[MOST] = {0};
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y)) {
        const struct model_data *d =
            typing_data(f->t, model_data_int(c, fold_spread(index, f->y, c->type)) ? 1 : 2);
        fold_put(f, i, d, fold_spread(index, f->y, d->type));
    }
    return true;
}

static bool fold_floored(struct folding *f)
{
    const struct model_data *d = typing_data(f->t, 0);
    bool up = f->t->op->kind[0] == 'C';
    for (int64_t i = 0; f->real && i < f->y->elements; i++)
        f->reals[i] = up ? ceil(fold_number(d, i)) : floor(fold_number(d, i));
    return f->real;
}

/* Whole tensors only: what shapes are made of. Kept or not, the result is one number. */
static bool fold_reduced(struct folding *f)
{
    const struct model_data *d = typing_data(f->t, 0);
    bool product = strcmp(f->t->op->kind, "ReduceProd") == 0;
    if (f->y->elements != 1 || d->type->elements < 1) return false;
    fold_put(f, 0, d, 0);
    for (int64_t i = 1; i < d->type->elements; i++)
        if (f->real ? !fold_fraction(product ? MUL : MAX, f->reals[0], fold_number(d, i), &f->reals[0])
                    : !fold_whole(f->y->element, product ? MUL : MAX, f->ints[0], model_data_int(d, i), false,
                                  &f->ints[0]))
            return false;
    return true;
}

static bool fold_at_least(struct folding *f)
{
    const struct model_data *a = typing_data(f->t, 0), *b = typing_data(f->t, 1);
    bool less = f->t->op->kind[0] == 'L';
    int64_t index[MOST] = {0};
    if (a->reals || b->reals) return false;
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y)) {
        int64_t p = model_data_int(a, fold_spread(index, f->y, a->type)),
                q = model_data_int(b, fold_spread(index, f->y, b->type));
        f->ints[i] = less ? p <= q : p >= q;
    }
    return a->type->element != MODEL_U64;
}

static fold_of *fold_find(const char *kind)
{
    /* clang-format off */
    static const struct fold_row rows[] = {
        {"Identity", fold_copied}, {"Reshape", fold_copied}, {"Squeeze", fold_copied}, {"Unsqueeze", fold_copied}, {"Cast", fold_copied},
        {"Expand", fold_expand}, {"Transpose", fold_transpose}, {"Slice", fold_slice}, {"Gather", fold_gather}, {"Concat", fold_concat},
        {"Split", fold_split}, {"ConstantOfShape", fold_constant_of_shape}, {"Shape", fold_shape}, {"Size", fold_size}, {"Range", fold_range},
        {"Add", fold_add}, {"Sub", fold_sub}, {"Mul", fold_mul}, {"Div", fold_divide}, {"Mod", fold_mod}, {"Min", fold_least}, {"Max", fold_most},
        {"Equal", fold_equal}, {"Less", fold_less}, {"Greater", fold_greater}, {"GreaterOrEqual", fold_at_least}, {"LessOrEqual", fold_at_least},
        {"And", fold_and}, {"Or", fold_or}, {"Not", fold_not},
        {"Where", fold_where}, {"Floor", fold_floored}, {"Ceil", fold_floored}, {"ReduceProd", fold_reduced}, {"ReduceMax", fold_reduced}};
    /* clang-format on */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].kind, kind) == 0) return rows[i].fold;
    return NULL;
}

/* Shapes need no data of their operand. */
static bool fold_knows_all(const struct typing *t)
{
    if (strcmp(t->op->kind, "Shape") == 0 || strcmp(t->op->kind, "Size") == 0) return t->in[0] != NULL;
    for (int i = 0; i < t->op->operand_count; i++)
        if (typing_has(t, i) ? !typing_data(t, i) : i == 0) return false;
    return true;
}

static void fold_result(struct typing *t, fold_of *fold, int result)
{
    struct folding f = {.t = t, .y = model_type_of(t->m, t->op->results[result]), .result = result};
    enum model_number n = model_element_row(f.y->element)->number;
    if (f.y->elements > MODEL_MAX_KNOWN || f.y->elements > t->budget || n == MODEL_COMPLEX ||
        n == MODEL_NO_NUMBER)
        return;
    f.real = n == MODEL_FLOAT;
    t->budget -= f.y->elements + 1;
    if (f.real)
        f.reals = arena_array(&t->m->memory, (size_t)f.y->elements, sizeof *f.reals);
    else
        f.ints = arena_array(&t->m->memory, (size_t)f.y->elements, sizeof *f.ints);
    if (!fold(&f)) return;
    for (int64_t i = 0; i < f.y->elements; i++)
        if (f.real)
            f.reals[i] = fold_kept_real(f.y->element, f.reals[i]);
        else
            f.ints[i] = fold_kept_int(f.y->element, f.ints[i]);
    struct model_data *d = arena_alloc(&t->m->memory, sizeof *d);
    *d = (struct model_data){.form = DATA_LIST, .type = f.y, .ints = f.ints, .reals = f.reals};
    t->m->values.at[t->op->results[result]].data = d;
}

void onnx_fold(struct typing *t)
{
    fold_of *fold = fold_find(t->op->kind);
    if (!fold || t->budget <= 0 || !fold_knows_all(t) || (t->op->result_count != 1 && fold != fold_split))
        return;
    for (int r = 0; r < t->op->result_count; r++)
        if (t->op->results[r] >= 0) fold_result(t, fold, r);
}
