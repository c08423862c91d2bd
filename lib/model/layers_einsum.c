/* Einsum of ONNX: operands one after the other, each a product of matrices with what is there already, letters grouped:
 * those of both that are still needed, of the left, of the right, and those that are summed. */
#include "model/layers.h"
#include "model/onnx_einsum.h"

#include <string.h>

enum { MOST_LETTERS = EINSUM_LETTERS };

struct term {
    char letter[MOST_LETTERS + 1];
    int count;
    int32_t value;
};

static bool has(const char *letters, char c)
{
    return c && strchr(letters, c) != NULL;
}

/* A letter twice: only where both are the same the elements stay. */
static void take_diagonal(struct layer *l, struct term *t, int first, int second)
{
    const struct model_type *x = layer_type(l, t->value);
    int32_t zero = layer_number(l, MODEL_I64, 0), one = layer_number(l, MODEL_I64, 1), n, count;
    n = layer_number(l, MODEL_I64, (double)x->extent[first]);
    count = layer_part(l, "Range", 3, (int32_t[]){zero, n, one});
    int32_t same = layer_two(l, "Equal", layer_channels(l, count, x->count, first),
                             layer_channels(l, count, x->count, second));
    int32_t other = layer_number(l, x->element, 0);
    int32_t kept = layer_part(l, "Where", 3, (int32_t[]){same, t->value, other});
    t->value = layer_reduce(l, "ReduceSum", kept, 1, (int64_t[]){second}, false);
    memmove(t->letter + second, t->letter + second + 1, (size_t)(t->count - second));
    t->count--;
}

static void take_diagonals(struct layer *l, struct term *t)
{
    for (int i = 0; l->ok && i < t->count; i++)
        for (int k = i + 1; l->ok && k < t->count;)
            if (t->letter[k] != t->letter[i])
                k++;
            else if (layer_type(l, t->value)->extent[i] != layer_type(l, t->value)->extent[k])
                layer_fail(l);
            else
                take_diagonal(l, t, i, k);
}

/* Dimensions of one element that are longer elsewhere are repeated: without them the term says the same. */
static void drop_ones(struct layer *l, struct term *t, const int64_t *extent)
{
    const struct model_type *x = layer_type(l, t->value);
    int64_t shape[MOST_LETTERS];
    struct term left = {.value = t->value};
    for (int i = 0; l->ok && i < t->count; i++)
        if (x->extent[i] != 1 || extent[(unsigned char)t->letter[i]] == 1) {
            shape[left.count] = x->extent[i];
            left.letter[left.count++] = t->letter[i];
        }
    if (l->ok && left.count < t->count) left.value = layer_reshape(l, t->value, left.count, shape);
    *t = left;
}

/* Letters that nobody needs any more are summed. */
static void sum_own(struct layer *l, struct term *t, const char *needed)
{
    struct term left = {.value = t->value};
    int64_t axes[MOST_LETTERS];
    int count = 0;
    for (int i = 0; i < t->count; i++)
        if (has(needed, t->letter[i]))
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

/* Letters of `t` that are (not) in `other` and (not) needed, appended. */
static int group(const struct term *t, const char *other, bool in_other, const char *needed, bool in_needed,
                 char *to)
{
    int n = 0;
    for (int i = 0; i < t->count; i++)
        if (has(other, t->letter[i]) == in_other && has(needed, t->letter[i]) == in_needed) {
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

/* A term with ones for the letters of `all` that it lacks; its own are in that order. */
static int32_t spread(struct layer *l, const struct term *t, const char *all)
{
    int64_t shape[2 * MOST_LETTERS];
    int rank = (int)strlen(all), next = 0;
    for (int i = 0; i < rank; i++)
        shape[i] = has(t->letter, all[i]) ? layer_type(l, t->value)->extent[next++] : 1;
    return layer_reshape(l, t->value, rank, shape);
}

/* Batch, left, right of the result; the left is [batch, left, sum], the right [batch, sum, right]. */
static struct term product(struct layer *l, struct term *a, struct term *b, const char *needed)
{
    char left[2 * MOST_LETTERS] = "", right[2 * MOST_LETTERS] = "", shared[2 * MOST_LETTERS] = "";
    int64_t out[2 * MOST_LETTERS];
    struct term y = {.value = -1};
    int batch = group(a, b->letter, true, needed, true, left),
        free_a = group(a, b->letter, false, needed, true, left);
    group(a, b->letter, true, needed, true, right);
    int sums = group(a, b->letter, true, needed, false, shared);
    strcat(right, shared);
    int free_b = group(b, a->letter, false, needed, true, right);
    if (batch + free_a + free_b > MOST_LETTERS) return layer_fail(l), y;
    strcpy(y.letter, left);
    strcat(y.letter, right + batch + sums);
    y.count = batch + free_a + free_b;
    strcat(left, shared);
    reorder(l, a, left);
    reorder(l, b, right);
    if (!l->ok) return y;
    if (sums == 0) {
        y.value = layer_two(l, "Mul", spread(l, a, y.letter), spread(l, b, y.letter));
        return y;
    }
    int64_t g = extents(l, a, 0, batch, out), m = extents(l, a, batch, free_a, out + batch);
    int64_t k = layer_type(l, a->value)->elements / g / m,
            n = extents(l, b, batch + sums, free_b, out + batch + free_a);
    int32_t x = layer_reshape(l, a->value, 3, (int64_t[]){g, m, k});
    int32_t w = layer_reshape(l, b->value, 3, (int64_t[]){g, k, n});
    y.value = layer_reshape(l, layer_two(l, "MatMul", x, w), y.count, out);
    return y;
}

/* Letters of the result and of all terms from `from` on. */
static void still_needed(const struct einsum *e, const struct term *t, int from, char *to)
{
    strcpy(to, e->out.letter);
    for (int i = from; i < e->count; i++) strcat(to, t[i].letter);
}

static bool begin(struct layer *l, struct einsum *e, struct term *t)
{
    int rank[EINSUM_TERMS];
    int64_t extent[256] = {0};
    if (l->op->operand_count > EINSUM_TERMS) return false;
    for (int i = 0; i < l->op->operand_count; i++) rank[i] = layer_type(l, layer_in(l, i))->count;
    if (!einsum_read(model_attr_word(&l->op->attrs, "equation", ""), l->op->operand_count, rank, e))
        return false;
    for (int i = 0; i < e->count; i++) {
        t[i] = (struct term){.count = e->in[i].count, .value = layer_in(l, i)};
        memcpy(t[i].letter, e->in[i].letter, sizeof t[i].letter);
        take_diagonals(l, &t[i]);
        for (int k = 0; l->ok && k < t[i].count; k++) {
            int64_t *all = &extent[(unsigned char)t[i].letter[k]], n = layer_type(l, t[i].value)->extent[k];
            if (*all > 1 && n > 1 && *all != n) return false;
            if (n > *all) *all = n;
        }
    }
    for (int i = 0; i < e->count; i++) drop_ones(l, &t[i], extent);
    return l->ok;
}

static void einsum(struct layer *l)
{
    struct einsum e;
    struct term t[EINSUM_TERMS], y;
    char needed[(EINSUM_TERMS + 1) * MOST_LETTERS + 1];
    if (!begin(l, &e, t)) {
        layer_fail(l);
        return;
    }
    y = t[0];
    for (int i = 1; i <= e.count && l->ok; i++) {
        still_needed(&e, t, i, needed);
        sum_own(l, &y, needed);
        if (i == e.count) break;
        strcat(needed, y.letter);
        sum_own(l, &t[i], needed);
        still_needed(&e, t, i + 1, needed);
        y = product(l, &y, &t[i], needed);
    }
    if (!l->ok || y.count != e.out.count) {
        layer_fail(l);
        return;
    }
    reorder(l, &y, e.out.letter);
    layer_result(l, 0, y.value == layer_in(l, 0) ? layer_one(l, "Identity", y.value) : y.value);
}

/* clang-format off */
const struct layer_row layers_einsum[] = {
    {{NULL, NULL, "Einsum"}, einsum},
    {{NULL}, NULL},
};
/* clang-format on */
