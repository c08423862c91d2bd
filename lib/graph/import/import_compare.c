/* What the computations of HLO sorts and of reductions of pairs do: found by reading and by trying them. Bodies are small;
 * those of more than LARGEST ops are not looked at. */
#include "graph/import/import_choose.h"

#include <math.h>
#include <string.h>

enum { LARGEST = 48 };

static const struct model_body *body_of(const struct import *im, const struct model_op *op, int arguments)
{
    const struct model_body *b = op->body_count == 1 ? &im->m->bodies.at[op->bodies[0]] : NULL;
    return b && b->argument_count == arguments && b->op_count <= LARGEST && b->result_count == 1 ? b : NULL;
}

static const struct model_op *maker(const struct import *im, const struct model_body *b, int32_t value)
{
    const struct model_value *v = &im->m->values.at[value];
    return v->op >= 0 && v->op < b->op_count && b->ops[v->op].result_count == 1 &&
                   b->ops[v->op].results[0] == value
               ? &b->ops[v->op]
               : NULL;
}

static bool constant(const struct import *im, int32_t value, double *number)
{
    struct import_value v = {.storage = -1, .type = model_type_of(im->m, value)};
    v.known = im->m->values.at[value].data;
    return import_splat(&v, number);
}

/* select(x == 0, 0, x) and select(x != x, nan, x) make zeros and NaNs alike; they order as x does. */
static int32_t without_likeness(const struct import *im, const struct model_body *b, int32_t value)
{
    for (int i = 0; i < LARGEST; i++) {
        const struct model_op *s = maker(im, b, value);
        if (!s || strcmp(s->kind, "select") != 0 || s->operand_count != 3) return value;
        const struct model_op *c = maker(im, b, s->operands[0]);
        double kept, zero;
        if (!c || strcmp(c->kind, "compare") != 0 || c->operand_count != 2 ||
            !constant(im, s->operands[1], &kept))
            return value;
        const char *direction = model_attr_word(&c->attrs, "direction", "");
        bool zeros =
            strcmp(direction, "EQ") == 0 && kept == 0 && constant(im, c->operands[1], &zero) && zero == 0;
        bool nans = strcmp(direction, "NE") == 0 && isnan(kept) && c->operands[0] == c->operands[1];
        if (!zeros && !nans) return value;
        value = s->operands[2];
    }
    return value;
}

bool compare_orders(const struct import *im, const struct model_op *op, bool *descending)
{
    const struct model_body *b = body_of(im, op, 2 * op->operand_count);
    const struct model_op *c = b ? maker(im, b, b->results[0]) : NULL;
    if (!c || strcmp(c->kind, "compare") != 0 || c->operand_count != 2) return false;
    const char *direction = model_attr_word(&c->attrs, "direction", "");
    int32_t left = without_likeness(im, b, c->operands[0]), right = without_likeness(im, b, c->operands[1]);
    bool turned = left == b->arguments[1] && right == b->arguments[0];
    if (!turned && !(left == b->arguments[0] && right == b->arguments[1])) return false;
    *descending = (strcmp(direction, "GT") == 0) != turned;
    return strcmp(direction, "GT") == 0 || strcmp(direction, "LT") == 0;
}

/* ---- by trying ---- */

struct trial {
    const struct import *im;
    const struct model_body *b;
    double value[LARGEST]; /* by op of the body */
};

static bool read_value(const struct trial *t, int32_t value, const double *arguments, double *out)
{
    const struct model_op *op;
    for (int i = 0; i < t->b->argument_count; i++)
        if (t->b->arguments[i] == value) return *out = arguments[i], true;
    if (constant(t->im, value, out)) return true;
    op = maker(t->im, t->b, value);
    if (!op) return false;
    *out = t->value[op - t->b->ops];
    return true;
}

static bool compared(const char *direction, double a, double b, double *y)
{
    static const char words[] = "LT LE GT GE EQ NE ";
    const bool is[] = {a<b, a <= b, a> b, a >= b, a == b, a != b};
    const char *at = strlen(direction) == 2 ? strstr(words, direction) : NULL;
    if (!at || (at - words) % 3 != 0) return false;
    *y = is[(at - words) / 3];
    return true;
}

static bool try_op(struct trial *t, const struct model_op *op, const double *arguments, double *y)
{
    double a[3] = {0};
    if (op->operand_count > 3 || strcmp(op->kind, "parameter") == 0 || strcmp(op->kind, "constant") == 0)
        return true;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] < 0 || !read_value(t, op->operands[i], arguments, &a[i])) return false;
    if (strcmp(op->kind, "compare") == 0)
        return compared(model_attr_word(&op->attrs, "direction", ""), a[0], a[1], y);
    if (strcmp(op->kind, "tuple") == 0) return true;
    struct {
        const char *kind;
        double y;
    } rows[] = {{"select", a[0] != 0 ? a[1] : a[2]}, {"and", a[0] != 0 && a[1] != 0},
                {"or", a[0] != 0 || a[1] != 0},      {"not", a[0] == 0},
                {"maximum", fmax(a[0], a[1])},       {"minimum", fmin(a[0], a[1])}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].kind, op->kind) == 0) return *y = rows[i].y, true;
    return false;
}

/* Which of two pairs stays: 0 or 1; -1: none of them, or it cannot be told. */
static int winner(struct trial *t, double first, double second)
{
    const double arguments[4] = {first, 3, second, 5};
    const struct model_op *root = maker(t->im, t->b, t->b->results[0]);
    double value, place;
    memset(t->value, 0, sizeof t->value);
    for (int i = 0; i < t->b->op_count; i++)
        if (!try_op(t, &t->b->ops[i], arguments, &t->value[i])) return -1;
    if (!root || strcmp(root->kind, "tuple") != 0 || root->operand_count != 2 ||
        !read_value(t, root->operands[0], arguments, &value) ||
        !read_value(t, root->operands[1], arguments, &place))
        return -1;
    if (value == first && place == 3) return 0;
    return value == second && place == 5 ? 1 : -1;
}

bool compare_picks(const struct import *im, const struct model_op *op, bool *least)
{
    struct trial t = {.im = im, .b = body_of(im, op, 4)};
    if (!t.b) return false;
    int up = winner(&t, 1, 2), down = winner(&t, 2, 1), far = winner(&t, -7, 100);
    *least = up == 0;
    return up >= 0 && down == 1 - up && far == up && winner(&t, 4, 4) >= 0;
}
