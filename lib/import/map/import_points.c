/* Element-wise ops: sketched, or computed ahead if their operands are known whole-number splats (loop
 * counters and the like). */
#include "import/map/import_steps.h"
#include "import/types/typing.h"

struct import_value import_whole(struct import *im, const struct model_type *type, const int64_t *numbers,
                                 int count)
{
    struct model_data *d = arena_alloc(&im->memory, sizeof *d);
    *d = (struct model_data){.form = count == 1 ? DATA_SPLAT : DATA_LIST, .type = type};
    d->ints = arena_copy_array(&im->memory, numbers, (size_t)count, sizeof *numbers);
    return (struct import_value){.storage = -1, .type = type, .known = d};
}

struct import_value import_point(struct import *im, const struct model_op *op, const char *kind,
                                 struct import_value a, const struct import_value *b)
{
    int rank = a.type->count;
    double number;
    bool splat = import_splat(b, &number);
    struct sketch_operand in[2] = {import_aligned(im, a, rank)};
    if (!splat) in[1] = import_aligned(im, *b, rank);
    struct sketching s = {.kind = kind, .from = op, .in = in, .count = splat ? 1 : 2, .type = a.type};
    if (splat) s.value = &number;
    import_sketch(im, &s, &a);
    return a;
}

/* A splat operand becomes the op's parameter. */
bool map_pointwise(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const commute[] = {"add", "mul", "max", "min"};
    const struct model_type *type = import_type_out(im, op);
    const struct lx_kind *kind = lx_kind_find(ours);
    struct sketch_operand operand[LX_MAX_INPUTS];
    struct import_value out;
    int count = 0, splat = -1;
    double number = 0;
    int64_t whole = 0;
    bool commutes = false;
    if (!kind || op->operand_count < kind->least_inputs || op->operand_count > kind->most_inputs)
        return import_generic(im, op, "kind");
    for (int i = 0; i < op->operand_count; i++)
        if (import_in(im, op, i)->type->count > type->count) return import_generic(im, op, "schema");
    for (size_t i = 0; i < sizeof commute / sizeof *commute; i++) commutes |= strcmp(ours, commute[i]) == 0;
    if (kind->takes_value && op->operand_count == 2) {
        if (import_splat_exact(import_in(im, op, 1), &number, &whole))
            splat = 1;
        else if (commutes && import_splat_exact(import_in(im, op, 0), &number, &whole))
            splat = 0;
    }
    for (int i = 0; i < op->operand_count; i++)
        if (i != splat) operand[count++] = import_aligned(im, *import_in(im, op, i), type->count);
    struct sketching s = {.kind = ours, .from = op, .in = operand, .count = count, .type = type};
    if (splat >= 0) s.value = &number;
    import_sketch(im, &s, &out)->whole = whole;
    return import_mapped(im, op, &out);
}

/* Total order differs from the usual one for floats only. */
bool map_compare(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const words[][2] = {{"GT", "greater"}, {"EQ", "eq"}, {"NE", "ne"},
                                           {"LT", "lt"},      {"LE", "le"}, {"GE", "ge"}};
    const char *direction = model_attr_word(&op->attrs, "direction", "");
    bool total = strcmp(model_attr_word(&op->attrs, "type", ""), "TOTALORDER") == 0 &&
                 model_element_row(import_in(im, op, 0)->type->element)->number == MODEL_FLOAT;
    for (size_t i = 0; !ours && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], direction) == 0) ours = words[i][1];
    if (!ours) return import_generic(im, op, "kind");
    return total ? import_generic(im, op, "total order") : map_pointwise(im, op, ours);
}

/* Bits stay in place only between equal widths. */
bool map_bitcast(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *from = import_in(im, op, 0)->type, *to = import_type_out(im, op);
    bool same = model_element_row(from->element)->bits == model_element_row(to->element)->bits &&
                (from->element == MODEL_BOOL) == (to->element == MODEL_BOOL) && from->count == to->count;
    return same ? map_pointwise(im, op, ours) : import_generic(im, op, "width");
}

bool map_gelu(struct import *im, const struct model_op *op, const char *ours)
{
    bool tanh = strcmp(model_attr_word(&op->attrs, "approximate", "none"), "tanh") == 0;
    return map_pointwise(im, op, tanh ? "gelu" : ours);
}

/* ---- computed ahead ---- */

static bool known_less(int64_t a, int64_t b, bool wide)
{
    return wide ? (uint64_t)a < (uint64_t)b : a < b;
}

/* Computes an op on whole numbers in two's complement of 64 bits; `wide`: u64. False: not done. HLO
 * comparisons have a direction. */
static bool known_compute(enum model_format format, const char *kind, int operands, const int64_t *a,
                          bool wide, uint64_t *y)
{
    uint64_t p = (uint64_t)a[0], q = (uint64_t)a[1];
    bool less = known_less(a[0], a[1], wide), more = known_less(a[1], a[0], wide),
         divides = known_less(0, a[1], wide);
    uint64_t part = !divides ? 0 : wide ? p / q : (uint64_t)(a[0] / a[1]), at_least = less ? q : p;
    bool above = known_less(a[2], (int64_t)at_least, wide); /* the upper bound decides: clamp(7, 5, 3) is 3 */
    const struct {
        int operands;
        const char *name[2]; /* TTIR, HLO */
        uint64_t y;
    } rows[] = {{2, {"add", "add"}, p + q},
                {2, {"subtract", "subtract"}, p - q},
                {2, {"multiply", "multiply"}, p * q},
                {divides ? 2 : -1, {"div", "divide"}, part},
                {divides ? 2 : -1, {"remainder", "remainder"}, p - part * q},
                {2, {"maximum", "maximum"}, at_least},
                {2, {"minimum", "minimum"}, more ? q : p},
                {2, {"logical_and", "and"}, p & q},
                {2, {"logical_or", "or"}, p | q},
                {1, {"neg", "negate"}, 0 - p},
                {1, {"typecast", "convert"}, p},
                {3, {"where", "select"}, p ? q : (uint64_t)a[2]},
                {3, {"", "clamp"}, above ? (uint64_t)a[2] : at_least},
                {2, {"lt", "LT"}, less},
                {2, {"le", "LE"}, !more},
                {2, {"gt", "GT"}, more},
                {2, {"ge", "GE"}, !less},
                {2, {"eq", "EQ"}, p == q},
                {2, {"ne", "NE"}, p != q}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].operands == operands && strcmp(rows[i].name[format], kind) == 0)
            return *y = rows[i].y, true;
    return false;
}

/* A cast of a number that every float type of 16 bits or more holds exactly. */
static bool known_converted(struct import *im, const struct model_op *op)
{
    const struct import_value *x = import_in(im, op, 0);
    const struct model_type *type = import_type_out(im, op);
    const struct model_element_row *row = model_element_row(type->element);
    double number;
    if (!import_splat(x, &number) || model_element_row(x->type->element)->number == MODEL_COMPLEX ||
        row->number != MODEL_FLOAT || row->bits < 16 ||
        !(isinf(number) || (fabs(number) <= 256 && number == floor(number))))
        return false;
    struct model_data *d = arena_alloc(&im->memory, sizeof *d);
    *d = (struct model_data){.form = DATA_SPLAT, .type = type};
    d->reals = arena_copy_array(&im->memory, &number, 1, sizeof number);
    struct import_value v = {.storage = -1, .type = type, .known = d};
    return import_done(im, op, CLASS_FOLDED, NULL, &v);
}

bool import_computed(struct import *im, const struct model_op *op)
{
    const char *kind = op->kind;
    int64_t a[3] = {0, 0, 0};
    uint64_t y;
    int count = op->operand_count;
    if (im->format == MODEL_ONNX || count < 1 || count > 3 || op->result_count != 1 ||
        !import_is_tensor(im, op->results[0]))
        return false;
    if (im->format == MODEL_HLO && strcmp(kind, "compare") == 0)
        kind = model_attr_word(&op->attrs, "direction", "");
    enum model_element e = import_type_out(im, op)->element;
    enum model_number n = model_element_row(e)->number;
    bool known = n == MODEL_SIGNED || n == MODEL_UNSIGNED;
    for (int i = 0; i < count; i++) {
        if (!import_is_tensor(im, op->operands[i])) return false;
        const struct import_value *v = import_in(im, op, i);
        known = known && import_known(v, &a[i]);
    }
    bool wide = import_in(im, op, 0)->type->element == MODEL_U64;
    if (known && known_compute(im->format, kind, count, a, wide, &y))
        return import_number(im, op, fold_kept_int(e, (int64_t)y));
    return strcmp(kind, im->format == MODEL_HLO ? "convert" : "typecast") == 0 && known_converted(im, op);
}
