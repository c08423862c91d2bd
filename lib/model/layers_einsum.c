/* Einsum of ONNX with one or two operands: sums of what one operand alone has, then one product of matrices, its letters
 * grouped: those of both and the result, of the left, of the right, and of both alone. */
#include "model/layers.h"

#include <ctype.h>
#include <string.h>

enum { MOST_LETTERS = 16 };

struct term {
    char letter[MOST_LETTERS + 1];
    int count;
    int32_t value;
};

struct einsum {
    struct term in[2], out;
    int operands;
};

/* "ij,jk->ik" without spaces, dots or a letter twice in a term. */
static bool read_term(const char **text, struct term *t)
{
    for (; isalpha((unsigned char)**text) || **text == ' '; (*text)++) {
        if (**text == ' ') continue;
        if (t->count == MOST_LETTERS || strchr(t->letter, **text)) return false;
        t->letter[t->count++] = **text;
    }
    return true;
}

static bool read_einsum(const char *text, struct einsum *e)
{
    if (!read_term(&text, &e->in[0])) return false;
    e->operands = 1;
    if (*text == ',') {
        text++;
        e->operands = 2;
        if (!read_term(&text, &e->in[1])) return false;
    }
    if (strncmp(text, "->", 2) != 0) return false;
    text += 2;
    return read_term(&text, &e->out) && !*text;
}

static bool has(const struct term *t, char c)
{
    return c && strchr(t->letter, c) != NULL;
}

/* Letters that nobody else has are summed at once. */
static void sum_own(struct layer *l, struct einsum *e, int side)
{
    struct term *t = &e->in[side], left = {.value = t->value};
    const struct term *other = e->operands == 2 ? &e->in[1 - side] : &e->out;
    int64_t axes[MOST_LETTERS];
    int count = 0;
    for (int i = 0; i < t->count; i++)
        if (has(&e->out, t->letter[i]) || has(other, t->letter[i]))
            left.letter[left.count++] = t->letter[i];
        else
            axes[count++] = i;
    if (count) left.value = layer_reduce(l, "ReduceSum", t->value, count, axes, false);
    *t = left;
}

/* Moves the letters of a term into the order of `to`, which has the same. */
static void reorder(struct layer *l, struct term *t, const char *to)
{
    int64_t perm[MOST_LETTERS];
    bool same = true;
    for (int i = 0; i < t->count; i++) {
        perm[i] = strchr(t->letter, to[i]) - t->letter;
        same = same && perm[i] == i;
    }
    if (!same) t->value = layer_permute(l, t->value, t->count, perm);
    memcpy(t->letter, to, (size_t)t->count + 1);
}

/* Letters of `t` that are (not) in `other` and (not) in the result, appended. */
static int group(const struct term *t, const struct term *other, bool in_other, const struct term *out,
                 bool in_out, char *to)
{
    int n = 0;
    for (int i = 0; i < t->count; i++)
        if (has(other, t->letter[i]) == in_other && has(out, t->letter[i]) == in_out) {
            char c[2] = {t->letter[i], 0};
            strcat(to, c);
            n++;
        }
    return n;
}

static int64_t extents(const struct layer *l, const struct term *t, int from, int count, int64_t *out)
{
    int64_t n = 1;
    for (int i = 0; i < count; i++) {
        out[i] = layer_type(l, t->value)->extent[from + i];
        n *= out[i];
    }
    return n;
}

/* Batch, left, right of the result; the left is [batch, left, sum], the right [batch, sum, right]. */
static void product(struct layer *l, struct einsum *e, struct term *y)
{
    struct term *a = &e->in[0], *b = &e->in[1];
    char left[2 * MOST_LETTERS] = "", right[2 * MOST_LETTERS] = "", shared[2 * MOST_LETTERS] = "";
    int64_t out[2 * MOST_LETTERS];
    int batch = group(a, b, true, &e->out, true, left), free_a = group(a, b, false, &e->out, true, left);
    strcpy(y->letter, left);
    group(a, b, true, &e->out, true, right);
    int sums = group(a, b, true, &e->out, false, shared);
    strcat(left, shared);
    strcat(right, shared);
    int free_b = group(b, a, false, &e->out, true, right);
    if (batch + free_a + free_b > MOST_LETTERS) {
        layer_fail(l);
        return;
    }
    strcat(y->letter, right + batch + sums);
    reorder(l, a, left);
    reorder(l, b, right);
    if (!l->ok) return;
    int64_t g = extents(l, a, 0, batch, out), m = extents(l, a, batch, free_a, out + batch);
    int64_t k = layer_type(l, a->value)->elements / g / m,
            n = extents(l, b, batch + sums, free_b, out + batch + free_a);
    int32_t x = layer_reshape(l, a->value, 3, (int64_t[]){g, m, k});
    int32_t w = layer_reshape(l, b->value, 3, (int64_t[]){g, k, n});
    y->count = batch + free_a + free_b;
    y->value = layer_reshape(l, layer_two(l, "MatMul", x, w), y->count, out);
}

static void einsum(struct layer *l)
{
    struct einsum e = {0};
    struct term y = {0};
    bool ok =
        read_einsum(model_attr_word(&l->op->attrs, "equation", ""), &e) && e.operands == l->op->operand_count;
    for (int i = 0; ok && i < e.operands; i++) {
        e.in[i].value = layer_in(l, i);
        ok = layer_type(l, e.in[i].value)->count == e.in[i].count;
    }
    for (int i = 0; ok && i < e.out.count; i++)
        ok = has(&e.in[0], e.out.letter[i]) || (e.operands == 2 && has(&e.in[1], e.out.letter[i]));
    if (!ok) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < e.operands; i++) sum_own(l, &e, i);
    if (e.operands == 2)
        product(l, &e, &y);
    else
        y = e.in[0];
    if (!l->ok || y.count != e.out.count) return;
    reorder(l, &y, e.out.letter);
    layer_result(l, 0, y.value == layer_in(l, 0) ? layer_one(l, "Identity", y.value) : y.value);
}

/* clang-format off */
const struct layer_row layers_einsum[] = {
    {{NULL, NULL, "Einsum"}, einsum},
    {{NULL}, NULL},
};
/* clang-format on */
