/* Values of an ONNX model that are known before it runs: shapes that are computed as data, and small constants.
 *
 * Exact: whole numbers as int64, others as double. Results of at most MODEL_MAX_KNOWN elements, and of some millions in
 * all, so that no file makes it long. */
#include "import/types/fold_numbers.h"
#include "import/types/onnx_fold.h"

#include <math.h>
#include <string.h>

enum { MOST = MODEL_MAX_RANK };

static bool is_real(const struct model_type *t)
{
    return model_element_row(t->element)->number == MODEL_FLOAT;
}

double fold_number(const struct model_data *d, int64_t i)
{
    return model_data_real(d, i);
}

void fold_put(struct folding *f, int64_t at, const struct model_data *d, int64_t i)
{
    enum model_element e = f->y->element;
    if (f->real)
        f->reals[at] = d->reals ? fold_kept_real(e, fold_number(d, i))
                                : fold_to_real(e, d->type->element, model_data_int(d, i));
    else
        f->ints[at] = d->reals ? fold_to_int(e, fold_number(d, i)) : fold_kept_int(e, model_data_int(d, i));
}

void fold_next(int64_t *index, const struct model_type *t)
{
    for (int d = t->count - 1; d >= 0 && ++index[d] == t->extent[d]; d--) index[d] = 0;
}

int64_t fold_offset(const int64_t *index, const struct model_type *t)
{
    int64_t at = 0;
    for (int d = 0; d < t->count; d++) at = at * t->extent[d] + index[d];
    return at;
}

int64_t fold_spread(const int64_t *index, const struct model_type *y, const struct model_type *t)
{
    int64_t at = 0;
    for (int d = 0; d < t->count; d++)
        at = at * t->extent[d] + (t->extent[d] == 1 ? 0 : index[y->count - t->count + d]);
    return at;
}

static bool copied(struct folding *f)
{
    const struct model_data *d = shaper_data(f->x, 0);
    for (int64_t i = 0; i < f->y->elements; i++) fold_put(f, i, d, i);
    return true;
}

static bool expand(struct folding *f)
{
    const struct model_data *d = shaper_data(f->x, 0);
    int64_t index[MOST] = {0};
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y))
        fold_put(f, i, d, fold_spread(index, f->y, d->type));
    return true;
}

/* Turning or looking up fractions is work on a weight, which stays an op; here and in gather. */
static bool transpose(struct folding *f)
{
    const struct model_data *d = shaper_data(f->x, 0);
    int64_t index[MOST] = {0}, from[MOST], perm[MOST];
    int count;
    if (f->real || !shaper_ints(f->x, "perm", -1, perm, MOST, &count)) return false;
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y)) {
        for (int k = 0; k < f->y->count; k++) from[count < 0 ? f->y->count - 1 - k : perm[k]] = index[k];
        fold_put(f, i, d, fold_offset(from, d->type));
    }
    return true;
}

static bool slice(struct folding *f)
{
    const struct model_data *d = shaper_data(f->x, 0);
    int64_t start[MOST], step[MOST], extent[MOST], index[MOST] = {0}, from[MOST];
    if (!onnx_slice(f->x, start, step, extent)) return false;
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y)) {
        for (int k = 0; k < f->y->count; k++) from[k] = start[k] + step[k] * index[k];
        fold_put(f, i, d, fold_offset(from, d->type));
    }
    return true;
}

static bool gather(struct folding *f)
{
    const struct model_data *d = shaper_data(f->x, 0), *pick = shaper_data(f->x, 1);
    int axis = shaper_axis(shaper_int(f->x, "axis", 0), d->type->count), k = pick->type->count;
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

static bool concat(struct folding *f)
{
    int axis = shaper_axis(shaper_int(f->x, "axis", f->x->opset < 4 ? 1 : 0), f->y->count);
    int64_t index[MOST] = {0};
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y)) {
        int64_t from[MOST];
        int part = 0;
        memcpy(from, index, sizeof from);
        while (from[axis] >= shaper_data(f->x, part)->type->extent[axis])
            from[axis] -= shaper_data(f->x, part++)->type->extent[axis];
        fold_put(f, i, shaper_data(f->x, part), fold_offset(from, shaper_data(f->x, part)->type));
    }
    return true;
}

static bool split(struct folding *f)
{
    const struct model_data *d = shaper_data(f->x, 0);
    int64_t sizes[MODEL_MAX_KNOWN], index[MOST] = {0}, before = 0;
    int axis;
    if (!onnx_split(f->x, &axis, sizes)) return false;
    for (int r = 0; r < f->result; r++) before += sizes[r];
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y)) {
        int64_t from[MOST];
        memcpy(from, index, sizeof from);
        from[axis] += before;
        fold_put(f, i, d, fold_offset(from, d->type));
    }
    return true;
}

static bool constant_of_shape(struct folding *f)
{
    const struct model_attr *a = model_attr_find(&f->x->op->attrs, "value");
    const struct model_data *d = a && a->form == ATTR_DATA ? a->data : NULL;
    for (int64_t i = 0; d && (d->ints || d->reals) && d->type->elements > 0 && i < f->y->elements; i++)
        fold_put(f, i, d, 0);
    return true;
}

static bool shape(struct folding *f)
{
    const struct model_type *t = shaper_in(f->x, 0);
    int64_t start = shaper_int(f->x, "start", 0);
    if (start < 0) start = start < -t->count ? 0 : start + t->count;
    for (int64_t i = 0; i < f->y->elements; i++) f->ints[i] = t->extent[start + i];
    return true;
}

static bool size(struct folding *f)
{
    f->ints[0] = shaper_in(f->x, 0)->elements;
    return true;
}

static bool range(struct folding *f)
{
    const struct model_data *from = shaper_data(f->x, 0), *step = shaper_data(f->x, 2);
    for (int64_t i = 0; i < f->y->elements; i++) {
        if (f->real)
            f->reals[i] = fold_number(from, 0) + fold_number(step, 0) * (double)i;
        else if (__builtin_mul_overflow(model_data_int(step, 0), i, &f->ints[i]) ||
                 __builtin_add_overflow(model_data_int(from, 0), f->ints[i], &f->ints[i]))
            return false;
    }
    return true;
}

static bool element(struct folding *f, enum binary op, const struct model_data *b, int64_t i, int64_t at)
{
    const struct model_data *a = shaper_data(f->x, 0);
    int64_t from = at;
    double y;
    if (!a->reals && !f->real)
        return fold_whole(a->type->element, op, f->ints[i], model_data_int(b, from),
                          shaper_int(f->x, "fmod", 0) != 0, &f->ints[i]);
    double left = f->real ? f->reals[i] : (double)f->ints[i];
    if (!fold_fraction(op, left, fold_number(b, from), &y)) return false;
    if (f->real)
        f->reals[i] = y;
    else
        f->ints[i] = (int64_t)y;
    return true;
}

/* The first operand is laid out, then each further one is combined with what is there. Comparisons of fractions would
 * lose them in whole results: these are compared where they stand. */
static bool combined(struct folding *f, enum binary op)
{
    const struct model_data *a = shaper_data(f->x, 0);
    bool compares = a->reals && !f->real;
    int64_t index[MOST] = {0};
    if (f->x->opset < 7) return false; /* aligned otherwise */
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y)) {
        int64_t first = fold_spread(index, f->y, a->type);
        double y;
        if (f->real)
            fold_put(f, i, a, first);
        else
            f->ints[i] = model_data_int(a, first); /* a truth may come of it */
        for (int k = 1; k < f->x->op->operand_count; k++) {
            const struct model_data *b = shaper_data(f->x, k);
            int64_t at = fold_spread(index, f->y, b->type);
            if (compares ? !fold_fraction(op, fold_number(a, first), fold_number(b, at), &y)
                         : !element(f, op, b, i, at))
                return false;
            if (compares) f->ints[i] = y != 0;
        }
    }
    return true;
}

#define COMBINED(name, op)                                                                                   \
    static bool name(struct folding *f)                                                                      \
    {                                                                                                        \
        return combined(f, op);                                                                              \
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

static bool not(struct folding * f)
{
    const struct model_data *d = shaper_data(f->x, 0);
    for (int64_t i = 0; i < f->y->elements; i++) f->ints[i] = !model_data_int(d, i);
    return true;
}

static bool where(struct folding *f)
{
    const struct model_data *c = shaper_data(f->x, 0);
    int64_t index[MOST] = {0};
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y)) {
        const struct model_data *d =
            shaper_data(f->x, model_data_int(c, fold_spread(index, f->y, c->type)) ? 1 : 2);
        fold_put(f, i, d, fold_spread(index, f->y, d->type));
    }
    return true;
}

static bool floored(struct folding *f)
{
    const struct model_data *d = shaper_data(f->x, 0);
    bool up = f->x->op->kind[0] == 'C';
    for (int64_t i = 0; f->real && i < f->y->elements; i++)
        f->reals[i] = up ? ceil(fold_number(d, i)) : floor(fold_number(d, i));
    return f->real;
}

/* Whole tensors only: what shapes are made of. Kept or not, the result is one number. */
static bool reduced(struct folding *f)
{
    const struct model_data *d = shaper_data(f->x, 0);
    bool product = strcmp(f->x->op->kind, "ReduceProd") == 0;
    if (f->y->elements != 1 || d->type->elements < 1) return false;
    fold_put(f, 0, d, 0);
    for (int64_t i = 1; i < d->type->elements; i++)
        if (f->real ? !fold_fraction(product ? MUL : MAX, f->reals[0], fold_number(d, i), &f->reals[0])
                    : !fold_whole(f->y->element, product ? MUL : MAX, f->ints[0], model_data_int(d, i), false,
                                  &f->ints[0]))
            return false;
    return true;
}

/* *beyond: it is not among the kinds that are counted. */
static fold_of *fold_find(const char *kind, bool *beyond)
{
    /* clang-format off */
    static const struct fold_row rows[] = {
        {"Identity", copied}, {"Reshape", copied}, {"Squeeze", copied}, {"Unsqueeze", copied}, {"Cast", copied},
        {"Expand", expand}, {"Transpose", transpose}, {"Slice", slice}, {"Gather", gather}, {"Concat", concat},
        {"Split", split}, {"ConstantOfShape", constant_of_shape}, {"Shape", shape}, {"Size", size}, {"Range", range},
        {"Add", add}, {"Sub", sub}, {"Mul", mul}, {"Div", divide}, {"Mod", mod}, {"Min", least}, {"Max", most},
        {"Equal", equal}, {"Less", less}, {"Greater", greater}, {"And", and}, {"Or", or}, {"Not", not},
        {"Where", where}, {"Floor", floored}, {"Ceil", floored}, {"ReduceProd", reduced}, {"ReduceMax", reduced}};
    /* clang-format on */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].kind, kind) == 0) return rows[i].fold;
    *beyond = true;
    for (const struct fold_row *r = onnx_fold_more; r->fold; r++)
        if (strcmp(r->kind, kind) == 0) return r->fold;
    return NULL;
}

/* Shapes need no data of their operand. */
static bool all_known(const struct shaper *x)
{
    if (strcmp(x->op->kind, "Shape") == 0 || strcmp(x->op->kind, "Size") == 0) return shaper_in(x, 0) != NULL;
    for (int i = 0; i < x->op->operand_count; i++)
        if (shaper_has(x, i) ? !shaper_data(x, i) : i == 0) return false;
    return true;
}

static bool keep(struct folding *f, bool folded, bool beyond)
{
    struct model_data *d = arena_alloc(&f->x->m->memory, sizeof *d);
    if (!d) return false;
    for (int64_t i = 0; folded && i < f->y->elements; i++)
        if (f->real)
            f->reals[i] = fold_kept_real(f->y->element, f->reals[i]);
        else
            f->ints[i] = fold_kept_int(f->y->element, f->ints[i]);
    *d = (struct model_data){.form = DATA_LIST,
                             .type = f->y,
                             .beyond = beyond,
                             .ints = f->real ? NULL : f->ints,
                             .reals = f->real ? f->reals : NULL};
    if (folded) f->x->m->values.at[f->x->op->results[f->result]].data = d;
    return true;
}

static bool fold_result(struct shaper *x, fold_of *fold, int result, bool beyond)
{
    struct folding f = {.x = x, .y = model_type_of(x->m, x->op->results[result]), .result = result};
    if (f.y->elements > MODEL_MAX_KNOWN || f.y->elements > x->budget || f.y->count > MOST) return true;
    enum model_number n = model_element_row(f.y->element)->number;
    if (n == MODEL_COMPLEX || n == MODEL_NO_NUMBER) return true;
    f.real = is_real(f.y);
    x->budget -= f.y->elements + 1;
    if (f.real)
        f.reals = arena_array(&x->m->memory, (size_t)f.y->elements, sizeof *f.reals);
    else
        f.ints = arena_array(&x->m->memory, (size_t)f.y->elements, sizeof *f.ints);
    if (!f.reals && !f.ints) return false;
    return keep(&f, fold(&f), beyond);
}

bool onnx_fold(struct shaper *x)
{
    bool beyond = false;
    fold_of *fold = fold_find(x->op->kind, &beyond);
    if (!fold || x->budget <= 0 || !all_known(x) || (x->op->result_count != 1 && fold != split)) return true;
    for (int i = 0; i < x->op->operand_count; i++) beyond |= shaper_data(x, i) && shaper_data(x, i)->beyond;
    for (int r = 0; r < x->op->result_count; r++)
        if (x->op->results[r] >= 0 && !fold_result(x, fold, r, beyond)) return false;
    return true;
}
