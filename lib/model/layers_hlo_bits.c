/* Bits of whole numbers: how many are 1, and reductions that combine them one by one, which no kind of ours does: halves of what
 * goes are combined until one element is left. */
#include "model/layers.h"

#include <string.h>

static int32_t shifted(struct layer *l, int32_t x, int by)
{
    return layer_by(l, "BitShift", x, by);
}

/* Sums of neighbours, twice as wide each time. */
static int32_t ones(struct layer *l, int32_t x, int bits)
{
    static const double pairs[] = {0x55, 0x5555, 0x55555555}, fours[] = {0x33, 0x3333, 0x33333333},
                        eights[] = {0x0f, 0x0f0f, 0x0f0f0f0f};
    int w = bits == 8 ? 0 : bits == 16 ? 1 : 2;
    x = layer_two(l, "Sub", x, layer_by(l, "BitwiseAnd", shifted(l, x, 1), pairs[w]));
    int32_t high = layer_by(l, "BitwiseAnd", shifted(l, x, 2), fours[w]);
    x = layer_two(l, "Add", layer_by(l, "BitwiseAnd", x, fours[w]), high);
    x = layer_by(l, "BitwiseAnd", layer_two(l, "Add", x, shifted(l, x, 4)), eights[w]);
    for (int by = 8; by < bits; by *= 2) x = layer_two(l, "Add", x, shifted(l, x, by));
    return bits > 8 ? layer_by(l, "BitwiseAnd", x, 0x3f) : x;
}

/* How many are 1; or how many are 0 before the first 1: behind it all are made 1. */
static void count_bits(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    int bits = model_element_row(layer_element(l, x))->bits;
    if ((bits != 8 && bits != 16 && bits != 32) || layer_element(l, x) == MODEL_BOOL) {
        layer_fail(l);
        return;
    }
    if (strcmp(l->op->kind, "popcnt") != 0) {
        for (int by = 1; by < bits; by *= 2) x = layer_two(l, "BitwiseOr", x, shifted(l, x, by));
        x = layer_one(l, "BitwiseNot", x);
    }
    layer_result(l, 0, ones(l, x, bits));
}

/* ---- reductions ---- */

static const struct {
    const char *theirs, *numbers, *truths; /* of truths the importer has all but one */
    int64_t neutral;
} folds[] = {{"and", "BitwiseAnd", NULL, -1}, {"or", "BitwiseOr", NULL, 0}, {"xor", "BitwiseXor", "Xor", 0}};

/* What the computation does with two numbers; NULL: something else. */
static const char *fold_of(const struct layer *l, int64_t *neutral)
{
    const struct model_body *b = l->op->body_count == 1 ? &l->m->bodies.at[l->op->bodies[0]] : NULL;
    bool truths = layer_element(l, l->op->results[0]) == MODEL_BOOL;
    if (!b || b->op_count > 3 || b->argument_count != 2 || b->result_count != 1) return NULL;
    for (int i = 0; i < b->op_count; i++)
        for (size_t k = 0; k < sizeof folds / sizeof *folds; k++) {
            const struct model_op *o = &b->ops[i];
            bool both = o->operand_count == 2 && o->results[0] == b->results[0] &&
                        o->operands[0] != o->operands[1] && strcmp(o->kind, folds[k].theirs) == 0;
            for (int p = 0; both && p < 2; p++)
                both = o->operands[p] == b->arguments[0] || o->operands[p] == b->arguments[1];
            *neutral = folds[k].neutral;
            if (both) return truths ? folds[k].truths : folds[k].numbers;
        }
    return NULL;
}

/* One dimension to a single element: its first half with its second, what is odd by itself. */
static int32_t halves(struct layer *l, const char *kind, int32_t x, int axis)
{
    int32_t rest = -1;
    for (int64_t n = layer_type(l, x)->extent[axis]; n > 1 && l->ok; n /= 2) {
        int32_t first = layer_slice(l, x, axis, 0, n / 2), second = layer_slice(l, x, axis, n / 2, n / 2 * 2);
        int32_t odd = n % 2 ? layer_slice(l, x, axis, n - 1, n) : -1;
        if (odd >= 0) rest = rest < 0 ? odd : layer_two(l, kind, rest, odd);
        x = layer_two(l, kind, first, second);
    }
    return rest < 0 ? x : layer_two(l, kind, x, rest);
}

static bool begins_with(const struct layer *l, int64_t number)
{
    const struct model_data *d = l->m->values.at[layer_in(l, 1)].data;
    return d && d->ints && d->type->elements == 1 && d->ints[0] == number;
}

void layer_reduce_bits(struct layer *l)
{
    int64_t neutral;
    int count;
    const int64_t *axes = model_attr_ints(&l->op->attrs, "dimensions", &count);
    const char *kind = layer_has(l, 1) ? fold_of(l, &neutral) : NULL;
    int32_t x = layer_in(l, 0);
    if (!kind || layer_type(l, layer_in(l, 1))->elements != 1) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < count && l->ok; i++)
        if (axes[i] < 0 || axes[i] >= layer_type(l, x)->count)
            layer_fail(l);
        else
            x = halves(l, kind, x, (int)axes[i]);
    if (l->ok && !begins_with(l, neutral)) x = layer_two(l, kind, x, layer_in(l, 1));
    layer_result(l, 0, x == layer_in(l, 0) ? layer_one(l, "Identity", x) : x);
}

/* clang-format off */
const struct layer_row layers_hlo_bits[] = {
    {{NULL, "popcnt", NULL}, count_bits},
    {{NULL, "count-leading-zeros", NULL}, count_bits},
    {{NULL}, NULL},
};
/* clang-format on */
