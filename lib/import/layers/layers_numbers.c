/* Ops whose meaning hangs on the type of their numbers: remainders with the sign of the divisor, logic of
 * integers, casts that do not overflow, numbers with the bits of another type. */
#include "import/layers/layers.h"

#include <math.h>
#include <string.h>

static bool number_is_integer(enum model_element e)
{
    enum model_number n = model_element_row(e)->number;
    return e != MODEL_BOOL && (n == MODEL_SIGNED || n == MODEL_UNSIGNED);
}

/* What is left of a / b toward zero, and b more where it has another sign than b; unsigned numbers have
 * one. */
void derive_modulo(struct layer *l)
{
    int32_t a = layer_in(l, 0), b = layer_in(l, 1);
    if (layer_int(l, "fmod", 0) != 0 || model_element_row(layer_element(l, a))->number == MODEL_UNSIGNED) {
        layer_fail(l);
        return;
    }
    layer_put(l, "fmod", 1);
    int32_t rest = layer_two(l, "Mod", a, b);
    int32_t other = layer_two(l, "Xor", layer_by(l, "Less", rest, 0), layer_by(l, "Less", b, 0));
    int32_t some = layer_cast(l, rest, MODEL_BOOL);
    int32_t parts[] = {layer_two(l, "And", other, some), layer_two(l, "Add", rest, b), rest};
    layer_result(l, 0, layer_part(l, "Where", 3, parts));
}

/* Of integers whether they are not 0; `and` alone would be of their bits. */
void derive_logic(struct layer *l)
{
    static const char *const kinds[][2] = {
        {"logical_and", "And"}, {"logical_or", "Or"}, {"logical_xor", "Xor"}, {"logical_not", "Not"}};
    int32_t in[2] = {-1, -1};
    int count = l->op->operand_count;
    bool whole = false;
    if (strncmp(l->op->kind, "logical_", 8) != 0) {
        derive_aligned(l);
        return;
    }
    for (int i = 0; i < count && i < 2; i++) whole |= number_is_integer(layer_element(l, layer_in(l, i)));
    if (!whole || count > 2) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < count; i++) in[i] = layer_cast(l, layer_in(l, i), MODEL_BOOL);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(kinds[k][0], l->op->kind) == 0) layer_result(l, 0, layer_part(l, kinds[k][1], count, in));
}

/* The largest number of a type of 8 bits; 0: of another. */
static double number_largest_of(enum model_element e)
{
    return e == MODEL_F8E4M3FN                          ? 448
           : e == MODEL_F8E4M3FNUZ                      ? 240
           : e == MODEL_F8E5M2 || e == MODEL_F8E5M2FNUZ ? 57344
                                                        : 0;
}

/* Four bits without a sign are stored as those with one: on the way in and out they go through int32. */
static bool number_four_bits(struct layer *l, int32_t x, enum model_element from, enum model_element to)
{
    bool out = from == MODEL_U4 && model_element_row(to)->bits > 4,
         in = to == MODEL_U4 && model_element_row(from)->bits > 4 && from != MODEL_I32;
    if ((!out && !in) || layer_int(l, "lxplan_bits", 0)) return false;
    if (out) {
        layer_put(l, "lxplan_bits", 1);
        x = layer_by(l, "BitwiseAnd", layer_cast(l, x, MODEL_I32), 15);
    } else
        x = layer_cast(l, x, MODEL_I32);
    layer_result(l, 0, to == MODEL_I32 ? x : layer_cast(l, x, to));
    return true;
}

/* To fp8 what is too large becomes the largest, unless the file says otherwise. */
void derive_saturated(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    enum model_element to = model_type_of(l->m, l->op->results[0])->element, from = layer_element(l, x);
    double most = number_largest_of(to);
    if (number_four_bits(l, x, from, to)) return;
    if (l->m->format != MODEL_ONNX || most == 0 || layer_int(l, "saturate", 1) == 0 ||
        number_largest_of(from) != 0 || model_element_row(from)->number != MODEL_FLOAT ||
        model_element_row(from)->bits < 16) {
        layer_fail(l);
        return;
    }
    x = layer_by(l, "Min", layer_by(l, "Max", x, -most), most);
    layer_put(l, "saturate", 0);
    layer_result(l, 0, layer_cast(l, x, to));
}
