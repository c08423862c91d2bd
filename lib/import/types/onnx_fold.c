/* Values of an ONNX model known ahead of the run: computed shapes and small constants. Exact: whole numbers
 * as int64, others as double. Results have at most MODEL_MAX_KNOWN elements, some millions in all, which
 * bounds the time. */
#include "import/types/typing.h"

enum { MOST = MODEL_MAX_RANK };

/* ---- numbers ---- */

bool fold_whole(enum model_element e, enum fold_op op, int64_t a, int64_t b, bool fmod, int64_t *y)
{
    bool wide = e == MODEL_U64 && (a < 0 || b < 0); /* beyond the signed range */
    const int64_t plain[] = {
        [MIN] = a < b ? a : b, [MAX] = a > b ? a : b, [EQ] = a == b,  [LT] = (a < b), [GT] = (a > b),
        [LE] = a <= b,         [GE] = a >= b,         [AND] = a && b, [OR] = a || b,  [NOT] = !a};
    if (op == ADD) return !__builtin_add_overflow(a, b, y);
    if (op == SUB) return !__builtin_sub_overflow(a, b, y);
    if (op == MUL) return !__builtin_mul_overflow(a, b, y);
    if (op == NEG || (op == ABS && a < 0)) return !wide && !__builtin_sub_overflow(0, a, y);
    bool divides = op == DIV || op == MOD;
    if ((wide && op != EQ) || op > ABS || (divides && (b == 0 || (b == -1 && (op == MOD || a == INT64_MIN)))))
        return false;
    *y = op == DIV ? a / b : op == MOD ? a % b : op == ABS ? a : plain[op];
    if (op == MOD && !fmod && *y != 0 && (*y < 0) != (b < 0)) *y += b;
    return true;
}

/* NaN wins in min and max: a comparison with NaN is false, so b is taken. */
bool fold_fraction(enum fold_op op, double a, double b, double *y)
{
    const double all[] = {[ADD] = a + b,
                          [SUB] = a - b,
                          [MUL] = a * b,
                          [DIV] = a / b,
                          [MOD] = op == MOD ? fmod(a, b) : 0,
                          [MIN] = a < b || isnan(a) ? a : b,
                          [MAX] = a > b || isnan(a) ? a : b,
                          [EQ] = a == b,
                          [LT] = (a < b),
                          [GT] = (a > b),
                          [LE] = a <= b,
                          [GE] = a >= b,
                          [NEG] = -a,
                          [ABS] = fabs(a),
                          [FLOOR] = floor(a),
                          [CEIL] = ceil(a)};
    *y = all[op];
    return op != AND && op != OR && op != NOT;
}

int64_t fold_kept_int(enum model_element e, int64_t n)
{
    int bits = model_element_row(e)->bits;
    if (e == MODEL_BOOL) return n != 0;
    if (bits >= 64) return n;
    uint64_t low = (uint64_t)n & ((UINT64_C(1) << bits) - 1);
    bool negative = model_element_row(e)->number == MODEL_SIGNED && low >> (bits - 1);
    return (int64_t)(negative ? low | ~((UINT64_C(1) << bits) - 1) : low);
}

double fold_kept_real(enum model_element e, double x)
{
    const struct model_element_row *row = model_element_row(e);
    int exponent, least = 1 - row->bias - row->fraction; /* of the last digit */
    if (row->odd != ODD_IEEE || row->bits > 32 || !isfinite(x) || x == 0) return x;
    frexp(x, &exponent);
    int step = exponent - row->fraction - 1 > least ? exponent - row->fraction - 1 : least;
    x = ldexp(rint(ldexp(x, -step)), step);
    return fabs(x) >= ldexp(1, row->bias + 1) ? copysign(INFINITY, x) : x;
}

int64_t fold_to_int(enum model_element e, double x)
{
    bool with_sign = model_element_row(e)->number == MODEL_SIGNED;
    int bits = model_element_row(e)->bits - with_sign;
    double top = ldexp(1, bits), low = with_sign ? -top : 0;
    uint64_t most = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    if (e == MODEL_BOOL) return x != 0;
    if (isnan(x)) return 0;
    if (x >= top) return (int64_t)most;
    if (x <= low) return with_sign ? -(int64_t)most - 1 : 0;
    return x < 0 ? (int64_t)x : (int64_t)(uint64_t)x;
}

double fold_to_real(enum model_element to, enum model_element from, int64_t n)
{
    bool above = from == MODEL_U64;
    if (to == MODEL_F32) return above ? (double)(float)(uint64_t)n : (double)(float)n;
    return fold_kept_real(to, above ? (double)(uint64_t)n : (double)n);
}

/* ---- tensors ---- */

/* A result being computed. */
struct folding {
    struct typing *t;
    const struct fold_row *row;
    const struct model_type *y;
    int result;
    bool real;
    int64_t *ints;
    double *reals;
    int64_t at[MOST]; /* the current element, by dimension */
};

/* The source of the current element: an operand and its element. False: unknown. */
typedef bool fold_from(struct folding *f, int *operand, int64_t *element);

struct fold_row {
    const char *kind;
    bool (*fold)(struct folding *f); /* false: unknown after all */
    enum fold_op op;
    fold_from *from;
    bool whole_only; /* fractions come from a weight, whose ops stay */
};

/* Element `at` of the result is element i of d, in the result's type. */
static void fold_put(struct folding *f, int64_t at, const struct model_data *d, int64_t i)
{
    enum model_element e = f->y->element;
    if (f->real)
        f->reals[at] = d->reals ? fold_kept_real(e, model_data_real(d, i))
                                : fold_to_real(e, d->type->element, model_data_int(d, i));
    else
        f->ints[at] =
            d->reals ? fold_to_int(e, model_data_real(d, i)) : fold_kept_int(e, model_data_int(d, i));
}

static void fold_next(struct folding *f)
{
    for (int d = f->y->count - 1; d >= 0 && ++f->at[d] == f->y->extent[d]; d--) f->at[d] = 0;
}

static int64_t fold_offset(const int64_t *index, const struct model_type *t)
{
    int64_t at = 0;
    for (int d = 0; d < t->count; d++) at = at * t->extent[d] + index[d];
    return at;
}

/* The current element in an operand that is broadcast or tiled to the result. */
static int64_t fold_spread(const struct folding *f, const struct model_type *t)
{
    int64_t at = 0;
    for (int d = 0; d < t->count; d++)
        at = at * t->extent[d] + f->at[f->y->count - t->count + d] % t->extent[d];
    return at;
}

static bool fold_moved(struct folding *f)
{
    int operand = 0;
    int64_t from;
    if (f->row->whole_only && f->real) return false;
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(f)) {
        from = i;
        if (f->row->from && !f->row->from(f, &operand, &from)) return false;
        fold_put(f, i, typing_data(f->t, operand), from);
    }
    return true;
}

static bool from_spread(struct folding *f, int *operand, int64_t *element)
{
    *element = fold_spread(f, typing_data(f->t, *operand)->type);
    return true;
}

static bool from_where(struct folding *f, int *operand, int64_t *element)
{
    const struct model_data *c = typing_data(f->t, 0);
    *operand = model_data_int(c, fold_spread(f, c->type)) ? 1 : 2;
    return from_spread(f, operand, element);
}

static bool from_transpose(struct folding *f, int *operand, int64_t *element)
{
    int64_t from[MOST] = {0}, perm[MOST];
    if (typing_permutation(f->t, perm) != TYPED) return false;
    for (int k = 0; k < f->y->count; k++) from[perm[k]] = f->at[k];
    *element = fold_offset(from, f->t->in[*operand]);
    return true;
}

static bool from_slice(struct folding *f, int *operand, int64_t *element)
{
    int64_t start[MOST], step[MOST];
    if (typing_slice(f->t, start, step) != TYPED) return false;
    for (int k = 0; k < f->y->count; k++) start[k] += step[k] * f->at[k];
    *element = fold_offset(start, f->t->in[*operand]);
    return true;
}

static bool from_gather(struct folding *f, int *operand, int64_t *element)
{
    const struct model_type *x = f->t->in[0], *index = f->t->in[1];
    int axis = typing_dim(typing_int(f->t, "axis", 0), x->count);
    int64_t from[MOST] = {0}, at = model_data_int(typing_data(f->t, 1), fold_offset(f->at + axis, index));
    if (at < 0) at += x->extent[axis];
    for (int d = 0; d < x->count; d++)
        from[d] = d < axis ? f->at[d] : d == axis ? at : f->at[d + index->count - 1];
    *element = fold_offset(from, f->t->in[*operand]);
    return at >= 0 && at < x->extent[axis];
}

static bool from_concat(struct folding *f, int *operand, int64_t *element)
{
    int axis = typing_dim(typing_int(f->t, "axis", f->t->opset < 4 ? 1 : 0), f->y->count);
    int64_t from[MOST];
    memcpy(from, f->at, sizeof from);
    for (*operand = 0; from[axis] >= typing_data(f->t, *operand)->type->extent[axis]; ++*operand)
        from[axis] -= typing_data(f->t, *operand)->type->extent[axis];
    *element = fold_offset(from, typing_data(f->t, *operand)->type);
    return true;
}

static bool from_split(struct folding *f, int *operand, int64_t *element)
{
    int64_t sizes[MODEL_MAX_KNOWN], from[MOST] = {0};
    int axis;
    if (!onnx_split(f->t, &axis, sizes)) return false;
    memcpy(from, f->at, sizeof from);
    for (int r = 0; r < f->result; r++) from[axis] += sizes[r];
    *element = fold_offset(from, f->t->in[*operand]);
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

/* Shape and Size. */
static bool fold_shape(struct folding *f)
{
    const struct model_type *t = f->t->in[0];
    int64_t start = typing_int(f->t, "start", 0);
    if (start < 0) start = start < -t->count ? 0 : start + t->count;
    for (int64_t i = 0; i < f->y->elements; i++)
        f->ints[i] = f->y->count ? t->extent[start + i] : t->elements;
    return true;
}

static bool fold_range(struct folding *f)
{
    const struct model_data *from = typing_data(f->t, 0), *step = typing_data(f->t, 2);
    for (int64_t i = 0; i < f->y->elements; i++) {
        if (f->real)
            f->reals[i] = model_data_real(from, 0) + model_data_real(step, 0) * (double)i;
        else if (__builtin_mul_overflow(model_data_int(step, 0), i, &f->ints[i]) ||
                 __builtin_add_overflow(model_data_int(from, 0), f->ints[i], &f->ints[i]))
            return false;
    }
    return true;
}

/* Combines a number or boolean with element i of an operand. */
static bool fold_combine(struct folding *f, int64_t *whole, double *real, const struct model_data *d,
                         int64_t i)
{
    bool fmod = typing_int(f->t, "fmod", 0) != 0;
    return d->reals ? fold_fraction(f->row->op, *real, model_data_real(d, i), real)
                    : fold_whole(d->type->element, f->row->op, *whole, model_data_int(d, i), fmod, whole);
}

static void fold_keep(struct folding *f, int64_t at, const struct model_data *of, int64_t whole, double real)
{
    if (f->real)
        f->reals[at] = real;
    else
        f->ints[at] = of->reals ? real != 0 : whole;
}

/* Operands one after the other, broadcast; a single operand with itself. */
static bool fold_elements(struct folding *f)
{
    const struct model_data *a = typing_data(f->t, 0);
    int count = f->t->op->operand_count;
    if (count > 1 && f->t->opset < 7) return false; /* aligned differently */
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(f)) {
        int64_t from = fold_spread(f, a->type), whole = a->reals ? 0 : model_data_int(a, from);
        double real = a->reals ? model_data_real(a, from) : 0;
        if (f->row->op >= NOT && !fold_combine(f, &whole, &real, a, from)) return false;
        for (int k = 1; k < count; k++) {
            const struct model_data *b = typing_data(f->t, k);
            if (!fold_combine(f, &whole, &real, b, fold_spread(f, b->type))) return false;
        }
        fold_keep(f, i, a, whole, real);
    }
    return true;
}

/* Reduces whole tensors only, as shape computations do, to one number. */
static bool fold_reduced(struct folding *f)
{
    const struct model_data *d = typing_data(f->t, 0);
    if (f->y->elements != 1 || d->type->elements < 1) return false;
    int64_t whole = d->reals ? 0 : model_data_int(d, 0);
    double real = d->reals ? model_data_real(d, 0) : 0;
    for (int64_t i = 1; i < d->type->elements; i++)
        if (!fold_combine(f, &whole, &real, d, i)) return false;
    fold_keep(f, 0, d, whole, real);
    return true;
}

/* clang-format off */
#define MOVES(name, source, whole) {.kind = name, .fold = fold_moved, .from = source, .whole_only = whole}
#define MADE(name, by)             {.kind = name, .fold = by}
#define EACH(name, by)             {.kind = name, .fold = fold_elements, .op = by}
#define REDUCES(name, by)          {.kind = name, .fold = fold_reduced, .op = by}
static const struct fold_row fold_rows[] = {
    MOVES("Identity", NULL, false), MOVES("Reshape", NULL, false), MOVES("Squeeze", NULL, false),
    MOVES("Unsqueeze", NULL, false), MOVES("Cast", NULL, false), MOVES("Expand", from_spread, false),
    MOVES("Tile", from_spread, false), MOVES("Where", from_where, false), MOVES("Slice", from_slice, false),
    MOVES("Concat", from_concat, false), MOVES("Split", from_split, false),
    MOVES("Gather", from_gather, true), MOVES("Transpose", from_transpose, true),
    MADE("ConstantOfShape", fold_constant_of_shape), MADE("Shape", fold_shape), MADE("Size", fold_shape),
    MADE("Range", fold_range),
    EACH("Add", ADD), EACH("Sub", SUB), EACH("Mul", MUL), EACH("Div", DIV), EACH("Mod", MOD),
    EACH("Min", MIN), EACH("Max", MAX), EACH("Equal", EQ), EACH("Less", LT), EACH("Greater", GT),
    EACH("LessOrEqual", LE), EACH("GreaterOrEqual", GE), EACH("And", AND), EACH("Or", OR),
    EACH("Not", NOT), EACH("Neg", NEG), EACH("Abs", ABS), EACH("Floor", FLOOR), EACH("Ceil", CEIL),
    REDUCES("ReduceProd", MUL), REDUCES("ReduceSum", ADD), REDUCES("ReduceMax", MAX),
    REDUCES("ReduceMin", MIN)};
/* clang-format on */

static void fold_result(struct typing *t, const struct fold_row *row, int result)
{
    struct folding f = {
        .t = t, .row = row, .y = model_type_of(t->m, t->op->results[result]), .result = result};
    enum model_number n = model_element_row(f.y->element)->number;
    size_t count = (size_t)f.y->elements;
    if (f.y->elements > MODEL_MAX_KNOWN || f.y->elements > t->budget || n == MODEL_COMPLEX ||
        n == MODEL_NO_NUMBER)
        return;
    f.real = n == MODEL_FLOAT;
    t->budget -= f.y->elements + 1;
    if (f.real)
        f.reals = arena_array(&t->m->memory, count, sizeof *f.reals);
    else
        f.ints = arena_array(&t->m->memory, count, sizeof *f.ints);
    if (!row->fold(&f)) return;
    for (size_t i = 0; i < count; i++)
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
    const struct fold_row *row = fold_rows, *end = row + sizeof fold_rows / sizeof *fold_rows;
    while (row < end && strcmp(row->kind, t->op->kind) != 0) row++;
    if (row == end || t->budget <= 0 || (t->op->result_count != 1 && row->from != from_split)) return;
    bool by_type = row->fold == fold_shape;
    for (int i = 0; i < t->op->operand_count && !by_type; i++)
        if (typing_has(t, i) ? !typing_data(t, i) : i == 0) return;
    for (int r = 0; r < t->op->result_count; r++)
        if (t->op->results[r] >= 0) fold_result(t, row, r);
}
