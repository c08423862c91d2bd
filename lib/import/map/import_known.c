/* Ops whose operands are whole numbers that are known, the same for all elements: counters of loops, and
 * what is made of them. They are computed here instead of being ops, in two's complement of the result's
 * width. */
#include "import/map/import_steps.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

static bool known_whole(const struct import_value *v, int64_t *number)
{
    const struct model_data *d = v->known;
    double unused;
    return d && d->ints && import_splat_exact(v, &unused, number);
}

/* What is left of a number in an element of that type. */
static int64_t known_wrapped(enum model_element e, uint64_t n)
{
    int bits = model_element_row(e)->bits;
    if (e == MODEL_BOOL) return n != 0;
    if (bits >= 64) return (int64_t)n;
    n &= (UINT64_C(1) << bits) - 1;
    bool negative = model_element_row(e)->number == MODEL_SIGNED && n >> (bits - 1);
    return negative ? (int64_t)(n | ~((UINT64_C(1) << bits) - 1)) : (int64_t)n;
}

/* Operands are what 64 bits hold; `wide`: they are of u64, so that those above 2^63 are no negative
 * numbers. */
typedef bool compute(const int64_t *a, bool wide, uint64_t *y);

static bool known_before(int64_t a, int64_t b, bool wide)
{
    return wide ? (uint64_t)a < (uint64_t)b : a < b;
}

#define COMPUTE(name, needs, value)                                                                          \
    static bool known_##name(const int64_t *a, bool wide, uint64_t *y)                                       \
    {                                                                                                        \
        (void)wide;                                                                                          \
        *y = (needs) ? (uint64_t)(value) : 0;                                                                \
        return needs;                                                                                        \
    }
COMPUTE(add, true, (uint64_t)a[0] + (uint64_t)a[1])
COMPUTE(subtract, true, (uint64_t)a[0] - (uint64_t)a[1])
COMPUTE(multiply, true, (uint64_t)a[0] * (uint64_t)a[1])
COMPUTE(divide, known_before(0, a[1], wide), wide ? (uint64_t)a[0] / (uint64_t)a[1] : (uint64_t)(a[0] / a[1]))
COMPUTE(remainder_of, known_before(0, a[1], wide),
        wide ? (uint64_t)a[0] % (uint64_t)a[1] : (uint64_t)(a[0] % a[1]))
COMPUTE(most, true, known_before(a[0], a[1], wide) ? a[1] : a[0])
COMPUTE(least, true, known_before(a[1], a[0], wide) ? a[1] : a[0])
COMPUTE(both, true, a[0] & a[1])
COMPUTE(either, true, a[0] | a[1])
COMPUTE(negated, true, 0 - (uint64_t)a[0])
COMPUTE(same, true, a[0])
COMPUTE(chosen, true, a[0] ? a[1] : a[2])
COMPUTE(less, true, known_before(a[0], a[1], wide))
COMPUTE(at_most, true, !known_before(a[1], a[0], wide))
COMPUTE(greater, true, known_before(a[1], a[0], wide))
COMPUTE(at_least, true, !known_before(a[0], a[1], wide))
COMPUTE(equal, true, a[0] == a[1])
COMPUTE(unequal, true, a[0] != a[1])

/* The upper bound is the last word: clamp(7, 5, 3) is 3. */
static bool known_clamped(const int64_t *a, bool wide, uint64_t *y)
{
    int64_t above = known_before(a[0], a[1], wide) ? a[1] : a[0];
    *y = (uint64_t)(known_before(a[2], above, wide) ? a[2] : above);
    return true;
}

struct known_row {
    const char *name[2]; /* TTIR, HLO; comparisons of HLO by their direction */
    compute *compute;
    int operands;
};

/* clang-format off */
static const struct known_row rows[] = {
    {{"add", "add"}, known_add, 2}, {{"subtract", "subtract"}, known_subtract, 2}, {{"multiply", "multiply"}, known_multiply, 2},
    {{"div", "divide"}, known_divide, 2}, {{"remainder", "remainder"}, known_remainder_of, 2}, {{"maximum", "maximum"}, known_most, 2},
    {{"minimum", "minimum"}, known_least, 2}, {{"logical_and", "and"}, known_both, 2}, {{"logical_or", "or"}, known_either, 2},
    {{"neg", "negate"}, known_negated, 1}, {{"typecast", "convert"}, known_same, 1}, {{"where", "select"}, known_chosen, 3},
    {{NULL, "clamp"}, known_clamped, 3}, {{"lt", "LT"}, known_less, 2}, {{"le", "LE"}, known_at_most, 2}, {{"gt", "GT"}, known_greater, 2},
    {{"ge", "GE"}, known_at_least, 2}, {{"eq", "EQ"}, known_equal, 2}, {{"ne", "NE"}, known_unequal, 2}};
/* clang-format on */

static const struct known_row *known_row_of(const struct import *im, const struct model_op *op)
{
    const char *kind = op->kind;
    if (im->format == MODEL_ONNX) return NULL;
    if (im->format == MODEL_HLO && strcmp(kind, "compare") == 0)
        kind = model_attr_word(&op->attrs, "direction", "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].name[im->format] && strcmp(rows[i].name[im->format], kind) == 0) return &rows[i];
    return NULL;
}

void import_whole(struct import *im, const struct model_type *type, int64_t number, struct import_value *out)
{
    struct model_data *d = arena_alloc(&im->memory, sizeof *d);
    int64_t *at = arena_alloc(&im->memory, sizeof *at);
    *out = (struct import_value){.storage = -1, .type = type, .known = d};
    *at = number;
    *d = (struct model_data){.form = DATA_SPLAT, .type = type, .ints = at};
}

bool import_number(struct import *im, const struct model_op *op, int64_t number)
{
    struct import_value v;
    import_whole(im, import_type_out(im, op), number, &v);
    import_class(im, op, CLASS_FOLDED, NULL);
    return import_bind_one(im, op, &v);
}

/* A number that every float type of 16 bits or more has. */
static bool known_exact_everywhere(double n)
{
    return isinf(n) || (fabs(n) <= 256 && n == floor(n));
}

/* The same number in another float type. */
static bool known_converted(struct import *im, const struct model_op *op, bool *done)
{
    const struct model_type *type = op->result_count == 1 ? model_type_of(im->m, op->results[0]) : NULL;
    bool casts = strcmp(op->kind, im->format == MODEL_HLO ? "convert" : "typecast") == 0;
    double number;
    *done = casts && im->format != MODEL_ONNX && op->operand_count == 1 &&
            import_is_tensor(im, op->results[0]) && import_is_tensor(im, op->operands[0]) &&
            import_splat(import_in(im, op, 0), &number) &&
            model_element_row(import_in(im, op, 0)->type->element)->number != MODEL_COMPLEX &&
            model_element_row(type->element)->number == MODEL_FLOAT &&
            model_element_row(type->element)->bits >= 16 && known_exact_everywhere(number);
    if (!*done) return true;
    struct import_value v = {.storage = -1, .type = type};
    struct model_data *d = arena_alloc(&im->memory, sizeof *d);
    const double *copy = arena_copy_array(&im->memory, &number, 1, sizeof number);
    *d = (struct model_data){.form = DATA_SPLAT, .type = type, .reals = copy};
    v.known = d;
    import_class(im, op, CLASS_FOLDED, NULL);
    return import_bind_one(im, op, &v);
}

bool import_computed(struct import *im, const struct model_op *op, bool *done)
{
    const struct known_row *row = known_row_of(im, op);
    int64_t a[3];
    uint64_t y;
    *done = row && op->operand_count == row->operands && op->result_count == 1 &&
            import_is_tensor(im, op->results[0]);
    for (int i = 0; *done && i < op->operand_count; i++)
        *done = import_is_tensor(im, op->operands[i]) && known_whole(import_in(im, op, i), &a[i]);
    if (!*done) return known_converted(im, op, done);
    enum model_element e = import_type_out(im, op)->element;
    enum model_number n = model_element_row(e)->number;
    bool wide = import_in(im, op, 0)->type->element == MODEL_U64;
    *done = (n == MODEL_SIGNED || n == MODEL_UNSIGNED) && row->compute(a, wide, &y);
    return *done ? import_number(im, op, known_wrapped(e, y)) : known_converted(im, op, done);
}
