/* Ops of the table that work element by element. */
#include "import/map/import_steps.h"

#include <math.h>
#include <string.h>

static bool point_commutes(const char *ours)
{
    return strcmp(ours, "add") == 0 || strcmp(ours, "mul") == 0 || strcmp(ours, "max") == 0 ||
           strcmp(ours, "min") == 0;
}

/* Element by element. One operand that is a number for all elements goes into the op itself. */
bool map_pointwise(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_type_out(im, op);
    const struct lx_kind *kind = lx_kind_find(ours);
    struct sketch_operand operand[LX_MAX_INPUTS];
    struct import_value out;
    int dims[VIEW_MAX_RANK], count = 0, splat = -1;
    double number = 0;
    int64_t whole = 0;
    if (!kind || op->operand_count < kind->least_inputs || op->operand_count > kind->most_inputs ||
        type->count > VIEW_MAX_RANK)
        return import_generic(im, op, "kind");
    if (kind->takes_value && op->operand_count == 2) {
        if (import_splat_exact(import_in(im, op, 1), &number, &whole))
            splat = 1;
        else if (point_commutes(ours) && import_splat_exact(import_in(im, op, 0), &number, &whole))
            splat = 0;
    }
    for (int i = 0; i < op->operand_count; i++)
        if (i != splat && !import_aligned(im, *import_in(im, op, i), type->count, &operand[count++]))
            return false;
    for (int d = 0; d < type->count; d++) dims[d] = d;
    if (!import_sketch(im, ours, op, type->count, type->extent, operand, count, splat >= 0 ? &number : NULL,
                       type, dims, &out))
        return false;
    if (splat >= 0 && count > 0 && operand[0].storage >= 0)
        im->sketches.at[im->sketches.count - 1].whole = whole;
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_bind_one(im, op, &out);
}

/* In the order of all floats only where they are floats: that of integers is one anyway. */
bool map_compare(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const words[][2] = {{"GT", "greater"}, {"EQ", "eq"}, {"NE", "ne"},
                                           {"LT", "lt"},      {"LE", "le"}, {"GE", "ge"}};
    const char *direction = model_attr_word(&op->attrs, "direction", "");
    const struct model_type *t = model_type_of(im->m, op->operands[0]);
    bool all = strcmp(model_attr_word(&op->attrs, "type", ""), "TOTALORDER") == 0 &&
               model_element_row(t->element)->number == MODEL_FLOAT;
    (void)ours;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], direction) == 0)
            return all ? import_generic(im, op, "total order") : map_pointwise(im, op, words[i][1]);
    return import_generic(im, op, "kind");
}

/* Only of equal widths the bits stay in place. */
bool map_bitcast(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *from = model_type_of(im->m, op->operands[0]), *to = import_type_out(im, op);
    bool same = model_element_row(from->element)->bits == model_element_row(to->element)->bits &&
                (from->element == MODEL_BOOL) == (to->element == MODEL_BOOL) && from->count == to->count;
    return same ? map_pointwise(im, op, ours) : import_generic(im, op, "width");
}

/* The formula that the op asks for. */
bool map_gelu(struct import *im, const struct model_op *op, const char *ours)
{
    const char *how = model_attr_word(&op->attrs, "approximate", "none");
    return map_pointwise(im, op, strcmp(how, "tanh") == 0 ? "gelu" : ours);
}
