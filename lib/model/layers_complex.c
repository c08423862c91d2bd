/* Complex numbers in steps on their parts. What moves numbers, or adds them up, does so with real and imaginary parts by
 * themselves; products are made of four. Kinds that look the same in the file's format are copies of the op with other
 * operands, whatever attributes they have. What is a view of pairs is left to the op mapping (graph/import/import_complex.c). */
#include "model/layers.h"

#include <string.h>

enum { MOST_OPERANDS = 64 };

static bool is_complex(const struct layer *l, int32_t value)
{
    return model_real_part(layer_element(l, value)) != layer_element(l, value);
}

/* The type of the parts of a complex one. */
static const struct model_type *real_type(struct layer *l, const struct model_type *t)
{
    return l->ok ? model_type_make(l->m, model_real_part(t->element), t->count, t->extent, l->st) : NULL;
}

static const struct model_type *type_out(const struct layer *l)
{
    return model_type_of(l->m, l->op->results[0]);
}

/* Its real (0) or imaginary (1) part; what is real is itself. */
static int32_t part(struct layer *l, int32_t value, int which)
{
    struct model_op op = {.kind = which ? "lxplan:Imag" : "lxplan:Real"};
    if (value < 0 || !is_complex(l, value)) return value;
    return layer_like(l, &op, 1, &value, real_type(l, layer_type(l, value)));
}

static void complex_result(struct layer *l, int32_t re, int32_t im)
{
    struct model_op op = {.kind = "lxplan:Complex"};
    if (!is_complex(l, l->op->results[0])) layer_fail(l);
    l->results[0] = layer_like(l, &op, 2, (int32_t[]){re, im}, type_out(l));
}

/* The op of the file, on parts. */
static int32_t same_of(struct layer *l, const int *which)
{
    struct model_op like = *l->op;
    int32_t operands[MOST_OPERANDS];
    int count = l->op->operand_count;
    if (count > MOST_OPERANDS) return layer_fail(l), -1;
    for (int i = 0; i < count; i++) operands[i] = part(l, layer_in(l, i), which[i]);
    like.native = true;
    bool made = type_out(l)->element == MODEL_BOOL;
    return layer_like(l, &like, count, operands, made ? type_out(l) : real_type(l, type_out(l)));
}

static int32_t same_of_part(struct layer *l, int which)
{
    int all[MOST_OPERANDS];
    for (int i = 0; i < MOST_OPERANDS; i++) all[i] = which;
    return same_of(l, all);
}

static void by_parts(struct layer *l)
{
    int32_t re = same_of_part(l, 0), im = same_of_part(l, 1);
    complex_result(l, re, im);
}

/* What the op does with two numbers: just add them, or take one? */
static bool adds(const struct layer *l)
{
    const struct model_body *b = l->op->body_count == 1 ? &l->m->bodies.at[l->op->bodies[0]] : NULL;
    const struct model_value *v = b && b->result_count == 1 ? &l->m->values.at[b->results[0]] : NULL;
    const char *kind = v && v->from == FROM_OP && v->body == l->op->bodies[0] ? b->ops[v->op].kind : "";
    return v && (v->from == FROM_ARGUMENT || strcmp(kind, "add") == 0 || strcmp(kind, "parameter") == 0);
}

static void added(struct layer *l)
{
    if (!adds(l)) layer_fail(l);
    if (l->ok) by_parts(l);
}

/* Of a: re re - im im, re im + im re. */
static void product(struct layer *l)
{
    int32_t p[2][2];
    if (!is_complex(l, layer_in(l, 0)) || !is_complex(l, layer_in(l, 1))) {
        by_parts(l);
        return;
    }
    for (int i = 0; i < 4; i++) p[i / 2][i % 2] = same_of(l, (const int[MOST_OPERANDS]){i / 2, i % 2});
    complex_result(l, layer_two(l, "Sub", p[0][0], p[1][1]), layer_two(l, "Add", p[0][1], p[1][0]));
}

static int32_t norm(struct layer *l, int32_t re, int32_t im)
{
    return layer_two(l, "Add", layer_two(l, "Mul", re, re), layer_two(l, "Mul", im, im));
}

/* (a + bi)(c - di) / (cc + dd) */
static void quotient(struct layer *l)
{
    int32_t x = layer_in(l, 0), y = layer_in(l, 1);
    if (!is_complex(l, x) || !is_complex(l, y)) {
        layer_fail(l);
        return;
    }
    int32_t a = part(l, x, 0), b = part(l, x, 1), c = part(l, y, 0), d = part(l, y, 1), n = norm(l, c, d);
    int32_t re = layer_two(l, "Add", layer_two(l, "Mul", a, c), layer_two(l, "Mul", b, d));
    int32_t im = layer_two(l, "Sub", layer_two(l, "Mul", b, c), layer_two(l, "Mul", a, d));
    complex_result(l, layer_two(l, "Div", re, n), layer_two(l, "Div", im, n));
}

static void magnitude(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    if (is_complex(l, l->op->results[0])) layer_fail(l);
    layer_result(l, 0, layer_one(l, "Sqrt", norm(l, part(l, x, 0), part(l, x, 1))));
}

static void power_of_e(struct layer *l)
{
    int32_t b = part(l, layer_in(l, 0), 1), e = layer_one(l, "Exp", part(l, layer_in(l, 0), 0));
    complex_result(l, layer_two(l, "Mul", e, layer_one(l, "Cos", b)),
                   layer_two(l, "Mul", e, layer_one(l, "Sin", b)));
}

/* With t = tanh a and u = tan b: (t (1 + uu) + u (1 - tt) i) / (1 + ttuu) */
static void tangent(struct layer *l)
{
    int32_t a = part(l, layer_in(l, 0), 0), b = part(l, layer_in(l, 0), 1), t = layer_one(l, "Tanh", a);
    int32_t u = layer_two(l, "Div", layer_one(l, "Sin", b), layer_one(l, "Cos", b));
    int32_t tt = layer_two(l, "Mul", t, t), uu = layer_two(l, "Mul", u, u);
    int32_t n = layer_by(l, "Add", layer_two(l, "Mul", tt, uu), 1);
    int32_t re = layer_two(l, "Mul", t, layer_by(l, "Add", uu, 1));
    int32_t im = layer_two(l, "Mul", u, layer_one(l, "Neg", layer_by(l, "Sub", tt, 1)));
    complex_result(l, layer_two(l, "Div", re, n), layer_two(l, "Div", im, n));
}

/* sqrt((|z| + a) / 2), and sqrt((|z| - a) / 2) with the sign of b */
static void root(struct layer *l)
{
    int32_t a = part(l, layer_in(l, 0), 0), b = part(l, layer_in(l, 0), 1);
    int32_t size = layer_one(l, "Sqrt", norm(l, a, b));
    int32_t re = layer_one(l, "Sqrt", layer_by(l, "Mul", layer_two(l, "Add", size, a), 0.5));
    int32_t im = layer_one(l, "Sqrt", layer_by(l, "Mul", layer_two(l, "Sub", size, a), 0.5));
    int32_t below = layer_by(l, "Less", b, 0);
    complex_result(l, re, layer_part(l, "Where", 3, (int32_t[]){below, layer_one(l, "Neg", im), im}));
}

/* Real numbers have no imaginary part; of complex ones real types have the real part. */
static void converted(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *y = type_out(l);
    enum model_element e = model_real_part(y->element);
    bool from = is_complex(l, x), to = e != y->element;
    int32_t re = layer_cast(l, part(l, x, 0), e);
    if (!to) {
        layer_result(l, 0, re == x ? layer_one(l, "Identity", re) : re);
        return;
    }
    int32_t im = from ? layer_cast(l, part(l, x, 1), e)
                      : layer_expand_to(l, layer_number(l, e, 0), y->count, y->extent);
    complex_result(l, re, im);
}

/* Equal where both parts are, not equal where one is not. */
static void compared(struct layer *l)
{
    const char *way = model_attr_word(&l->op->attrs, "direction", l->op->kind);
    const struct model_attr *a = model_attr_find(&l->op->attrs, "direction");
    if (a && a->text) way = a->text;
    bool equal = strcmp(way, "EQ") == 0 || strcmp(way, "eq") == 0;
    if (!equal && strcmp(way, "NE") != 0 && strcmp(way, "ne") != 0) layer_fail(l);
    int32_t re = same_of_part(l, 0), im = same_of_part(l, 1);
    layer_result(l, 0, layer_two(l, equal ? "And" : "Or", re, im));
}

static void conjugate(struct layer *l)
{
    complex_result(l, part(l, layer_in(l, 0), 0), layer_one(l, "Neg", part(l, layer_in(l, 0), 1)));
}

/* clang-format off */
const struct layer_row layers_complex[] = {
    {{"add", "add", NULL}, by_parts}, {{"subtract", "subtract", NULL}, by_parts}, {{"neg", "negate", NULL}, by_parts},
    {{"multiply", "multiply", NULL}, product}, {{"div", "divide", NULL}, quotient}, {{"abs", "abs", NULL}, magnitude},
    {{"conj", "conj", NULL}, conjugate}, {{"exp", "exponential", NULL}, power_of_e}, {{"tanh", "tanh", NULL}, tangent},
    {{"sqrt", "sqrt", NULL}, root}, {{"typecast", "convert", NULL}, converted},
    {{"eq", "compare", NULL}, compared}, {{"ne", NULL, NULL}, compared},
    {{"where", "select", NULL}, by_parts}, {{"slice_static", "slice", NULL}, by_parts}, {{"index", NULL, NULL}, by_parts},
    {{"concat", "concatenate", NULL}, by_parts}, {{"reverse", "reverse", NULL}, by_parts}, {{NULL, "pad", NULL}, by_parts},
    {{"reshape", NULL, NULL}, by_parts}, {{"squeeze", NULL, NULL}, by_parts}, {{"unsqueeze", NULL, NULL}, by_parts},
    {{"permute", NULL, NULL}, by_parts}, {{"transpose", NULL, NULL}, by_parts}, {{"broadcast", NULL, NULL}, by_parts},
    {{"repeat_interleave", NULL, NULL}, by_parts}, {{"repeat", NULL, NULL}, by_parts},
    {{"gather", "gather", NULL}, by_parts}, {{"embedding", "dynamic-slice", NULL}, by_parts},
    {{"index_select", "dynamic-update-slice", NULL}, by_parts}, {{NULL, "scatter", NULL}, added},
    {{"sum", "reduce", NULL}, added}, {{"mean", "reduce-window", NULL}, added}, {{NULL, "all-reduce", NULL}, added},
    {{"all_gather", "all-gather", NULL}, by_parts}, {{NULL, "all-to-all", NULL}, by_parts}, {{NULL, "collective-permute", NULL}, by_parts},
    {{"matmul", "dot", NULL}, product}, {{"dot_general", NULL, NULL}, product}, {{NULL, "convolution", NULL}, product},
    {{NULL}, NULL},
};
/* clang-format on */
