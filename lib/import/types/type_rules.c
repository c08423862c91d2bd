/* Types that text formats state for results, against what their kinds make of the operands. A file that breaks a rule
 * says so itself wrongly, and nothing could be believed of it: the rule is named in the error. Each kind has one row:
 * the rule of extents, the operands it takes, the rule of element types. Kinds without a row are taken at their word,
 * and so is what a rule cannot judge: a legal file is never refused. */
#include "import/types/type_rules.h"
#include "import/types/rulings.h"
#include "base/fail.h"

#include <stdio.h>
#include <string.h>

/* Floats of all widths are one: files may mix them. Integers are told apart in HLO only. */
enum element_rule {
    E_ANY,
    E_LIKE,   /* the result as the first operand */
    E_EITHER, /* as one of the operands */
    E_ALL,    /* all the same */
    E_TRUTH,  /* operands the same, the result a truth */
    E_CHOICE, /* a truth chooses between operands of the result's type */
    E_INDEX,  /* as the first operand; from the second on integers */
    E_UPDATE, /* as the first two operands; then integers */
};

struct rule_row {
    const char *kind;
    rule_of *rule;
    const char *words;
    int least, most; /* operands */
    enum element_rule element;
};

enum { MANY = 1 << 20 };

#define POINT   rule_same_shape, "the shape of the operand", 1, 1
#define FIRST   rule_same_shape, "the shape of the first operand", 1, MANY
#define BINARY  rule_broadcasts, "operands are broadcast, aligned at the right", 2, 2
#define EQUAL_1 rule_equal_shapes, "operand and result have one shape", 1, 1
#define EQUAL_2 rule_equal_shapes, "operands and result have one shape", 2, 2
#define EQUAL_3 rule_equal_shapes, "operands and result have one shape", 3, 3
#define VIEWED  rule_same_elements, "as many elements as the operand", 1, 1
#define SUMMED  rule_reduces, "without the dimensions that go, or 1 for them", 1, 1
#define PRODUCT rule_multiplies, "rows of the left, columns of the right; what is between is equal"
#define DOT                                                                                                  \
    rule_contracts, "batch, then free dimensions of the left and the right; contracted ones are equal", 2, 2
#define SLID   "floor((n + low + high - dilation (k - 1) - 1) / stride) + 1 along each window"
#define JOINED rule_joined, "the parts one after the other, other extents equal", 1, MANY, E_LIKE
#define PICKED rule_gather, "dimensions of the index and, at offset_dims, of the box", 2, 2
#define CALLED rule_called, "operands and result are those of what is called", 0, MANY, E_ANY
#define CACHED "heads and width of the cache, within its rows and its length"
#define PARTS                                                                                                \
    rule_gathered_parts, "the shape of the operand, one extent by the number of devices", 1, MANY, E_LIKE

/* clang-format off */
static const struct rule_row ttir_rules[] = {
    {"add", BINARY, E_EITHER}, {"subtract", BINARY, E_EITHER}, {"multiply", BINARY, E_EITHER}, {"div", BINARY, E_EITHER},
    {"pow", BINARY, E_EITHER}, {"maximum", BINARY, E_EITHER}, {"minimum", BINARY, E_EITHER},
    {"remainder", BINARY, E_EITHER}, {"atan2", BINARY, E_EITHER}, {"eq", BINARY, E_ANY}, {"ne", BINARY, E_ANY},
    {"lt", BINARY, E_ANY}, {"le", BINARY, E_ANY}, {"gt", BINARY, E_ANY}, {"ge", BINARY, E_ANY},
    {"logical_and", BINARY, E_ANY}, {"logical_or", BINARY, E_ANY}, {"logical_xor", BINARY, E_ANY},
    {"bitwise_and", BINARY, E_EITHER}, {"bitwise_or", BINARY, E_EITHER}, {"bitwise_xor", BINARY, E_EITHER},
    {"logical_left_shift", BINARY, E_EITHER}, {"logical_right_shift", BINARY, E_EITHER},
    {"where", rule_broadcasts, "operands are broadcast, aligned at the right", 3, 3, E_ANY},
    {"neg", POINT, E_LIKE}, {"abs", POINT, E_LIKE}, {"exp", POINT, E_LIKE}, {"expm1", POINT, E_LIKE},
    {"log", POINT, E_LIKE}, {"log1p", POINT, E_LIKE}, {"sqrt", POINT, E_LIKE}, {"rsqrt", POINT, E_LIKE},
    {"cbrt", POINT, E_LIKE}, {"reciprocal", POINT, E_LIKE}, {"tanh", POINT, E_LIKE}, {"sigmoid", POINT, E_LIKE},
    {"relu", POINT, E_LIKE}, {"relu6", POINT, E_LIKE}, {"cos", POINT, E_LIKE}, {"sin", POINT, E_LIKE},
    {"tan", POINT, E_LIKE}, {"atan", POINT, E_LIKE}, {"erf", POINT, E_LIKE}, {"floor", POINT, E_LIKE},
    {"ceil", POINT, E_LIKE}, {"round", POINT, E_LIKE}, {"sign", POINT, E_LIKE}, {"gelu", POINT, E_LIKE},
    {"silu", POINT, E_LIKE}, {"mish", POINT, E_LIKE}, {"elu", POINT, E_LIKE}, {"selu", POINT, E_LIKE},
    {"softplus", POINT, E_LIKE}, {"softsign", POINT, E_LIKE}, {"hardsigmoid", POINT, E_LIKE},
    {"hardswish", POINT, E_LIKE}, {"leaky_relu", POINT, E_LIKE}, {"clamp_scalar", POINT, E_LIKE},
    {"bitwise_not", POINT, E_LIKE}, {"isfinite", POINT, E_ANY}, {"logical_not", POINT, E_ANY},
    {"typecast", POINT, E_ANY}, {"softmax", POINT, E_LIKE}, {"reverse", POINT, E_LIKE}, {"cumsum", POINT, E_LIKE},
    {"dropout", POINT, E_LIKE}, {"clamp_tensor", FIRST, E_LIKE}, {"prelu", FIRST, E_LIKE},
    {"rms_norm", FIRST, E_LIKE}, {"layer_norm", FIRST, E_LIKE}, {"group_norm", FIRST, E_LIKE},
    {"batch_norm_inference", FIRST, E_LIKE}, {"rotary_embedding", FIRST, E_LIKE}, {"all_reduce", FIRST, E_LIKE},
    {"collective_permute", FIRST, E_LIKE},
    {"reshape", rule_reshaped, "as many elements as the operand", 1, 1, E_LIKE},
    {"squeeze", rule_squeezed, "the operand without that dimension", 1, 1, E_LIKE},
    {"unsqueeze", rule_unsqueezed, "the operand with one more dimension of 1", 1, 1, E_LIKE},
    {"permute", rule_permuted, "dimension i is dimension permutation[i] of the operand", 1, 1, E_LIKE},
    {"transpose", rule_swapped, "the operand with dim0 and dim1 exchanged", 1, 1, E_LIKE},
    {"broadcast", rule_repeated, "extents of the operand, or 1 repeated", 1, 1, E_LIKE},
    {"concat", JOINED},
    {"slice_static", rule_cut_out, "ceil((end - begin) / step)", 1, 1, E_LIKE},
    {"index", rule_index, "ceil((end - begin) / step) along dim", 1, 1, E_LIKE},
    {"pad", rule_ttir_pad, "low + n + high", 1, 1, E_LIKE},
    {"arange", rule_arange, "ceil((end - start) / step) along arange_dimension", 0, 0, E_ANY},
    {"constant", rule_constant, "the type of its value", 0, 0, E_ANY},
    {"dot_general", DOT, E_ANY}, {"matmul", PRODUCT, 2, 2, E_ANY}, {"linear", PRODUCT, 2, 3, E_ANY},
    {"conv2d", rule_conv2d, SLID, 2, 3, E_LIKE}, {"max_pool2d", rule_pool2d, SLID, 1, 1, E_LIKE},
    {"avg_pool2d", rule_pool2d, SLID, 1, 1, E_LIKE},
    {"sum", SUMMED, E_LIKE}, {"mean", SUMMED, E_ANY}, {"max", SUMMED, E_LIKE}, {"min", SUMMED, E_LIKE},
    {"prod", SUMMED, E_LIKE}, {"reduce_or", SUMMED, E_ANY}, {"reduce_and", SUMMED, E_ANY}, {"argmax", SUMMED, E_ANY},
    {"argmin", SUMMED, E_ANY},
    {"embedding", rule_embedding, "dimensions of the index, then a row of the table", 2, 2, E_ANY},
    {"gather", PICKED, E_LIKE}, {"scatter", FIRST, E_LIKE},
    {"fill_cache", rule_fill_cache, CACHED, 2, 2, E_ANY}, {"update_cache", rule_update_cache, CACHED, 3, 3, E_ANY},
    {"call", CALLED}, {"all_gather", PARTS}, {"reduce_scatter", PARTS},
    {NULL, NULL, NULL, 0, 0, E_ANY}};

static const struct rule_row hlo_rules[] = {
    {"add", EQUAL_2, E_ALL}, {"subtract", EQUAL_2, E_ALL}, {"multiply", EQUAL_2, E_ALL}, {"divide", EQUAL_2, E_ALL},
    {"power", EQUAL_2, E_ALL}, {"maximum", EQUAL_2, E_ALL}, {"minimum", EQUAL_2, E_ALL}, {"remainder", EQUAL_2, E_ALL},
    {"atan2", EQUAL_2, E_ALL}, {"and", EQUAL_2, E_ALL}, {"or", EQUAL_2, E_ALL}, {"xor", EQUAL_2, E_ALL},
    {"shift-left", EQUAL_2, E_ALL}, {"shift-right-logical", EQUAL_2, E_ALL},
    {"shift-right-arithmetic", EQUAL_2, E_ALL}, {"compare", EQUAL_2, E_TRUTH}, {"select", EQUAL_3, E_CHOICE},
    {"clamp", EQUAL_3, E_ALL}, {"complex", EQUAL_2, E_ANY}, {"real", EQUAL_1, E_ANY}, {"imag", EQUAL_1, E_ANY},
    {"negate", EQUAL_1, E_LIKE}, {"abs", EQUAL_1, E_LIKE}, {"exponential", EQUAL_1, E_LIKE},
    {"exponential-minus-one", EQUAL_1, E_LIKE}, {"log", EQUAL_1, E_LIKE}, {"log-plus-one", EQUAL_1, E_LIKE},
    {"sqrt", EQUAL_1, E_LIKE}, {"rsqrt", EQUAL_1, E_LIKE}, {"cbrt", EQUAL_1, E_LIKE}, {"tanh", EQUAL_1, E_LIKE},
    {"tan", EQUAL_1, E_LIKE}, {"erf", EQUAL_1, E_LIKE}, {"logistic", EQUAL_1, E_LIKE}, {"cosine", EQUAL_1, E_LIKE},
    {"sine", EQUAL_1, E_LIKE}, {"floor", EQUAL_1, E_LIKE}, {"ceil", EQUAL_1, E_LIKE},
    {"round-nearest-even", EQUAL_1, E_LIKE}, {"round-nearest-afz", EQUAL_1, E_LIKE}, {"sign", EQUAL_1, E_LIKE},
    {"not", EQUAL_1, E_LIKE}, {"popcnt", EQUAL_1, E_LIKE}, {"count-leading-zeros", EQUAL_1, E_LIKE},
    {"convert", EQUAL_1, E_ANY}, {"copy", EQUAL_1, E_LIKE}, {"reverse", EQUAL_1, E_LIKE}, {"is-finite", EQUAL_1, E_TRUTH},
    {"reduce-precision", EQUAL_1, E_LIKE}, {"optimization-barrier", EQUAL_1, E_LIKE}, {"reshape", VIEWED, E_LIKE},
    {"transpose", rule_permuted, "dimension i is dimension dimensions[i] of the operand", 1, 1, E_LIKE},
    {"broadcast", rule_placed, "dimension i of the operand is dimension dimensions[i] of the result, equally long", 1, 1, E_LIKE},
    {"concatenate", JOINED}, {"slice", rule_hlo_slice, "ceil((end - begin) / step), within the operand", 1, 1, E_LIKE},
    {"pad", rule_hlo_pad, "low + n + high + interior (n - 1)", 2, 2, E_ALL},
    {"iota", rule_iota, "a dimension of the result counts", 0, 0, E_ANY}, {"dot", DOT, E_ANY},
    {"convolution", rule_hlo_conv, SLID, 2, 2, E_ANY}, {"reduce-window", rule_hlo_window, SLID, 2, MANY, E_LIKE},
    {"reduce", rule_hlo_reduce, "the operand without the dimensions that go", 2, MANY, E_LIKE},
    {"gather", PICKED, E_INDEX}, {"scatter", FIRST, E_LIKE}, {"select-and-scatter", FIRST, E_LIKE},
    {"dynamic-slice", rule_dynamic_slice, "dynamic_slice_sizes, within the operand", 1, MANY, E_INDEX},
    {"dynamic-update-slice", rule_dynamic_update, "the first operand, in which the second has room", 2, MANY, E_UPDATE},
    {"sort", FIRST, E_LIKE}, {"all-reduce", FIRST, E_LIKE}, {"collective-permute", FIRST, E_LIKE},
    {"all-gather", PARTS}, {"reduce-scatter", PARTS},
    {"call", CALLED}, {"fusion", CALLED}, {"while", CALLED}, {"tuple", rule_tuple, "the types of its operands", 0, MANY, E_ANY},
    {"get-tuple-element", rule_part, "the type of that part of the tuple", 1, 1, E_ANY},
    {NULL, NULL, NULL, 0, 0, E_ANY}};
/* clang-format on */

static const struct rule_row *row_of(const struct lx_model *m, const char *kind)
{
    for (const struct rule_row *r = m->format == MODEL_HLO ? hlo_rules : ttir_rules; r->kind; r++)
        if (r->kind[0] == kind[0] && strcmp(r->kind, kind) == 0) return r;
    return NULL;
}

/* ---- words ---- */

static void words_of(int rank, const int64_t *extent, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "[");
    for (int d = 0; d < rank && n + 24 < size; d++)
        n += (size_t)snprintf(out + n, size - n, "%s%lld", d ? "," : "", (long long)extent[d]);
    snprintf(out + n, size - n, "]");
}

/* " of [2,3] and [3,4]": the first operands. */
static void operands_of(const struct ruling *r, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (int i = 0; i < r->op->operand_count && i < 3; i++) {
        char one[100];
        if (!r->in[i] || r->in[i]->element == MODEL_TUPLE) continue;
        words_of(r->in[i]->count, r->in[i]->extent, one, sizeof one);
        n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : " of ", one);
    }
}

static const char *name_of(const struct ruling *r)
{
    const char *name =
        r->op->result_count > 0 && r->op->results[0] >= 0 ? r->m->values.at[r->op->results[0]].name : NULL;
    return name ? name : "an op";
}

static bool broken(const struct ruling *r, const struct rule_row *row, lx_status *st)
{
    char have[200] = "a tuple", want[240] = "", from[340], shape[200];
    bool tuple = r->y->element == MODEL_TUPLE;
    const char *more = r->schema ? r->schema : r->why;
    if (!tuple) words_of(r->y->count, r->y->extent, have, sizeof have);
    words_of(r->rank, r->want, shape, sizeof shape);
    operands_of(r, from, sizeof from);
    if (more)
        snprintf(want, sizeof want, ": %s", more);
    else if (r->told && !tuple && strcmp(have, shape) != 0)
        snprintf(want, sizeof want, ": it would be %s", shape);
    return status_set_at(st, r->schema ? LX_E_SCHEMA : LX_E_SHAPE, r->m->file, r->op->line, r->op->column,
                         "%.60s (%.40s)%s is %s, which breaks the rule of its kind (%s)%s", name_of(r),
                         r->op->kind, from, have, row->words, want);
}

/* ---- operands ---- */

static bool wrong_count(const struct ruling *r, const struct rule_row *row, lx_status *st)
{
    char most[40] = "";
    if (row->most != row->least)
        snprintf(most, sizeof most, row->most == MANY ? " or more" : " to %d", row->most);
    return status_set_at(st, LX_E_SCHEMA, r->m->file, r->op->line, r->op->column,
                         "%.60s (%.40s) has %d operands; it takes %d%s", name_of(r), r->op->kind,
                         r->op->operand_count, row->least, most);
}

/* Tensors with known extents, of at most the rank that rules have room for. */
static bool judged(struct ruling *r, const struct rule_row *row, bool open)
{
    bool tuples = row->rule == rule_tuple || row->rule == rule_part || row->rule == rule_called,
         can = tuples || r->op->result_count <= 1;
    for (int i = -1; can && i < r->op->operand_count; i++) {
        if (i < 0 && r->op->result_count == 0) continue;
        const struct model_type *t = model_type_of(r->m, i < 0 ? r->op->results[0] : r->op->operands[i]);
        can = t && (tuples || (t->element != MODEL_TUPLE && t->count <= RULE_RANK &&
                               (t->elements >= 0 || (open && i < 0))));
        if (i >= 0 && i < RULE_OPERANDS) r->in[i] = t;
        if (i < 0) r->y = t;
    }
    if (can && !r->y) r->y = r->in[0];
    return can && r->y;
}

/* ---- element types ---- */

/* Equal numbers: the types may stand for each other. */
static int family(const struct lx_model *m, const struct model_type *t)
{
    enum model_number n = model_element_row(t->element)->number;
    if (n == MODEL_FLOAT || n == MODEL_COMPLEX || n == MODEL_NO_NUMBER) return -(int)n - 1;
    return m->format == MODEL_HLO ? (int)t->element : 0;
}

static bool is_integer(const struct lx_model *m, const struct model_type *t)
{
    return family(m, t) >= 0;
}

/* Are operands from .. to - 1 of the result's family? */
static bool as_result(const struct ruling *r, int from, int to)
{
    bool all = true;
    for (int i = from; i < to && i < r->op->operand_count && i < RULE_OPERANDS; i++)
        all = all && family(r->m, r->in[i]) == family(r->m, r->y);
    return all;
}

static bool rest_counts(const struct ruling *r, int from)
{
    bool all = true;
    for (int i = from; i < r->op->operand_count && i < RULE_OPERANDS; i++)
        all = all && is_integer(r->m, r->in[i]);
    return all;
}

/* Sizes of complex numbers are no complex numbers. */
static bool first_fits(const struct ruling *r)
{
    bool size =
        model_element_row(r->in[0]->element)->number == MODEL_COMPLEX && strcmp(r->op->kind, "abs") == 0;
    return size || as_result(r, 0, 1);
}

static bool elements_fit(const struct ruling *r, enum element_rule rule)
{
    int count = r->op->operand_count;
    bool same = count < 2 || family(r->m, r->in[0]) == family(r->m, r->in[1]);
    switch (rule) {
    case E_ANY:
        return true;
    case E_LIKE:
        return count == 0 || first_fits(r);
    case E_EITHER:
        return as_result(r, 0, 1) || as_result(r, 1, 2);
    case E_ALL:
        return as_result(r, 0, count);
    case E_TRUTH:
        return r->y->element == MODEL_BOOL && same;
    case E_CHOICE:
        return r->in[0]->element == MODEL_BOOL && as_result(r, 1, 3);
    case E_INDEX:
        return as_result(r, 0, 1) && rest_counts(r, 1);
    case E_UPDATE:
        return as_result(r, 0, 2) && rest_counts(r, 2);
    }
    return true;
}

static bool wrong_elements(const struct ruling *r, enum element_rule rule, lx_status *st)
{
    static const char *const words[] = {[E_ANY] = "",
                                        [E_LIKE] = "the type of the operand",
                                        [E_EITHER] = "the type of an operand",
                                        [E_ALL] = "all of one type",
                                        [E_TRUTH] = "operands of one type make a truth",
                                        [E_CHOICE] = "a truth chooses between operands of the result's type",
                                        [E_INDEX] = "the type of the first operand, the others are integers",
                                        [E_UPDATE] =
                                            "the type of the first two operands, the others are integers"};
    char types[RULE_OPERANDS * 20 + 8] = "";
    size_t n = 0;
    for (int i = 0; i < r->op->operand_count && i < RULE_OPERANDS; i++)
        n += (size_t)snprintf(types + n, sizeof types - n, "%s%.15s", i ? ", " : " of ",
                              model_element_word(r->m->format, r->in[i]->element));
    return status_set_at(st, LX_E_SHAPE, r->m->file, r->op->line, r->op->column,
                         "%.60s (%.40s)%s is %s, which breaks the rule of its kind (elements: %s)",
                         name_of(r), r->op->kind, types, model_element_word(r->m->format, r->y->element),
                         words[rule]);
}

/* ---- asked ---- */

static bool check_op(const struct lx_model *m, const struct model_op *op, lx_status *st)
{
    const struct rule_row *row = row_of(m, op->kind);
    struct ruling r = {.m = m, .op = op};
    if (!row) return true;
    if (op->operand_count < row->least || op->operand_count > row->most) return wrong_count(&r, row, st);
    if (!judged(&r, row, false)) return true;
    if (!row->rule(&r)) return broken(&r, row, st);
    return elements_fit(&r, row->element) ? true : wrong_elements(&r, row->element, st);
}

bool model_check_types(const struct lx_model *m, lx_status *st)
{
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++)
            if (!check_op(m, &m->bodies.at[b].ops[i], st)) return false;
    return true;
}

/* Rules that begin with the result leave its open extents as they are: those are the operand's of the same rank. A row
 * that repeats an extent of 1 says nothing of how often. */
static int64_t followed(const struct ruling *r, const struct rule_row *row, int d)
{
    bool open = r->want[d] < 0 || (row->rule == rule_repeated && r->want[d] == 1);
    if (!open) return r->want[d];
    bool like_operands = row->rule == rule_equal_shapes;
    for (int i = 0; like_operands && i < RULE_OPERANDS && i < r->op->operand_count; i++)
        if (r->in[i]->count == r->rank && r->in[i]->extent[d] != 1) return r->in[i]->extent[d];
    return like_operands && r->in[0]->count == r->rank ? r->in[0]->extent[d] : -1;
}

void model_follow_types(const struct lx_model *m, const struct model_op *op, int64_t *extent)
{
    const struct rule_row *row = row_of(m, op->kind);
    struct ruling r = {.m = m, .op = op};
    if (!row || op->operand_count < row->least || op->operand_count > row->most || !judged(&r, row, true))
        return;
    row->rule(&r);
    if (r.rank != r.y->count || r.schema || r.why) return;
    for (int d = 0; d < r.rank; d++)
        if (extent[d] < 0) extent[d] = followed(&r, row, d);
}
