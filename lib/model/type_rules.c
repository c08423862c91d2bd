/* Types that text formats state for results, against what their kinds make of the operands. A file that breaks a rule
 * says so itself wrongly, and nothing could be believed of it: the rule is named in the error. Kinds without a row are
 * taken at their word. */
#include "model/type_rules.h"
#include "base/fail.h"

#include <stdio.h>
#include <string.h>

enum { MOST = MODEL_MAX_RANK };

/* One op under the rule; `want` is what the result would have to be. */
struct ruling {
    const struct lx_model *m;
    const struct model_op *op;
    const struct model_type *in[3], *y;
    int64_t want[MOST];
    int rank;
};

/* False: the rule is broken. What the rule cannot judge (attributes that are not as they must be) it lets pass. */
typedef bool rule_of(struct ruling *r);

static void like(struct ruling *r, const struct model_type *t)
{
    r->rank = t->count;
    for (int d = 0; d < t->count; d++) r->want[d] = t->extent[d];
}

static bool as_wanted(const struct ruling *r)
{
    bool same = r->rank == r->y->count;
    for (int d = 0; same && d < r->rank; d++) same = r->want[d] == r->y->extent[d];
    return same;
}

static bool same_shape(struct ruling *r)
{
    like(r, r->in[0]);
    return as_wanted(r);
}

/* Right-aligned, extents of 1 repeated. */
static bool broadcasts(struct ruling *r)
{
    for (int i = 0; i < r->op->operand_count; i++)
        if (r->in[i]->count > r->rank) r->rank = r->in[i]->count;
    for (int d = 0; d < r->rank; d++) r->want[d] = 1;
    for (int i = 0; i < r->op->operand_count; i++)
        for (int d = 0; d < r->in[i]->count; d++) {
            int64_t *e = &r->want[r->rank - r->in[i]->count + d], n = r->in[i]->extent[d];
            if (*e != n && *e != 1 && n != 1) return false;
            if (*e == 1) *e = n;
        }
    return as_wanted(r);
}

/* Equal shapes; a number may stand for a tensor in select and clamp. */
static bool equal_shapes(struct ruling *r)
{
    bool scalars = strcmp(r->op->kind, "select") == 0 || strcmp(r->op->kind, "clamp") == 0, same = true;
    like(r, r->y);
    for (int i = 0; i < r->op->operand_count; i++)
        same = same && (model_same_shape(r->in[i], r->y) || (scalars && r->in[i]->count == 0));
    return same;
}

static bool same_elements(struct ruling *r)
{
    like(r, r->in[0]);
    return r->in[0]->elements == r->y->elements;
}

static bool permuted(struct ruling *r)
{
    int count;
    const int64_t *perm =
        model_attr_ints(&r->op->attrs, r->m->format == MODEL_HLO ? "dimensions" : "permutation", &count);
    if (count != r->in[0]->count) return count == 0;
    r->rank = count;
    for (int d = 0; d < count; d++) {
        if (perm[d] < 0 || perm[d] >= count) return true;
        r->want[d] = r->in[0]->extent[perm[d]];
    }
    return as_wanted(r);
}

/* x dim i is y dim d[i], of equal extent */
static bool placed(struct ruling *r)
{
    int count;
    const int64_t *dims = model_attr_ints(&r->op->attrs, "dimensions", &count);
    like(r, r->y);
    if (count != r->in[0]->count) return count == 0 && r->in[0]->count == 0;
    for (int d = 0; d < count; d++) {
        if (dims[d] < 0 || dims[d] >= r->rank) return false;
        r->want[dims[d]] = r->in[0]->extent[d];
    }
    return as_wanted(r);
}

/* Each dimension is a multiple of the operand's, one of the two factors being 1. */
static bool repeated(struct ruling *r)
{
    like(r, r->in[0]);
    if (r->in[0]->count != r->y->count) return false;
    bool fits = true;
    for (int d = 0; d < r->rank; d++) fits = fits && (r->y->extent[d] == r->want[d] || r->want[d] == 1);
    return fits;
}

static bool joined(struct ruling *r)
{
    int64_t dim = model_attr_int(&r->op->attrs, "dim", -1);
    int count;
    const int64_t *dims = model_attr_ints(&r->op->attrs, "dimensions", &count);
    if (r->m->format == MODEL_HLO && count == 1) dim = dims[0];
    const struct model_type *first = r->in[0];
    if (dim < 0) dim += first->count;
    if (dim < 0 || dim >= first->count) return true;
    like(r, first);
    for (int i = 1; i < r->op->operand_count; i++) {
        const struct model_type *t = model_type_of(r->m, r->op->operands[i]);
        if (t->count != first->count) return false;
        for (int d = 0; d < t->count; d++)
            if (d == dim)
                r->want[d] += t->extent[d];
            else if (t->extent[d] != first->extent[d])
                return false;
    }
    return as_wanted(r);
}

/* ceil((end - begin) / step) */
static bool cut_out(struct ruling *r)
{
    int counts[3];
    static const char *const keys[] = {"begins", "ends", "step"};
    const int64_t *list[3];
    for (int i = 0; i < 3; i++) list[i] = model_attr_ints(&r->op->attrs, keys[i], &counts[i]);
    r->rank = r->in[0]->count;
    for (int i = 0; i < 3; i++)
        if (counts[i] != r->rank) return true;
    for (int d = 0; d < r->rank; d++) {
        int64_t n = r->in[0]->extent[d], b = list[0][d], e = list[1][d], s = list[2][d];
        if (b < -n || e < -n || b > n || e > n || s < 1) return true;
        b += b < 0 ? n : 0;
        e += e < 0 ? n : 0;
        r->want[d] = e > b ? (e - b + s - 1) / s : 0;
    }
    return as_wanted(r);
}

/* Batch, free of the left, free of the right; what is contracted is equally long. */
static bool contracts(struct ruling *r)
{
    static const char *const keys[2][4] = {
        {"batch_dims_lhs", "batch_dims_rhs", "contract_dims_lhs", "contract_dims_rhs"},
        {"lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims"}};
    bool used[2][MOST] = {{false}};
    const int64_t *list[4];
    int count[4];
    for (int i = 0; i < 4; i++) {
        list[i] = model_attr_ints(&r->op->attrs, keys[r->m->format == MODEL_HLO][i], &count[i]);
        for (int k = 0; k < count[i]; k++) {
            if (list[i][k] < 0 || list[i][k] >= r->in[i % 2]->count) return true;
            used[i % 2][list[i][k]] = true;
        }
    }
    if (count[0] != count[1] || count[2] != count[3]) return true;
    for (int i = 0; i < 4; i += 2)
        for (int k = 0; k < count[i]; k++) {
            int64_t a = r->in[0]->extent[list[i][k]], b = r->in[1]->extent[list[i + 1][k]];
            if (i == 0 && r->rank < MOST) r->want[r->rank++] = a;
            if (a != b) return false;
        }
    for (int s = 0; s < 2; s++)
        for (int d = 0; d < r->in[s]->count; d++)
            if (!used[s][d] && r->rank < MOST) r->want[r->rank++] = r->in[s]->extent[d];
    return as_wanted(r);
}

static bool multiplies(struct ruling *r)
{
    const struct model_type *a = r->in[0], *b = r->in[1];
    bool turn_a = model_attr_int(&r->op->attrs, "transpose_a", 0),
         turn_b = model_attr_int(&r->op->attrs, "transpose_b", 0);
    like(r, r->y);
    if (a->count < 2 || b->count < 2 || r->y->count < 2) return true;
    r->want[r->rank - 2] = a->extent[a->count - (turn_a ? 1 : 2)];
    r->want[r->rank - 1] = b->extent[b->count - (turn_b ? 2 : 1)];
    if (a->extent[a->count - (turn_a ? 2 : 1)] != b->extent[b->count - (turn_b ? 1 : 2)]) return false;
    return as_wanted(r);
}

/* Dimensions that go are 1 long if they are kept. */
static bool reduces(struct ruling *r)
{
    bool hlo = r->m->format == MODEL_HLO, goes[MOST] = {false},
         keep = model_attr_int(&r->op->attrs, "keep_dim", 0) != 0;
    int count;
    const int64_t *dims = model_attr_ints(&r->op->attrs, hlo ? "dimensions" : "dim_arg", &count);
    const struct model_type *x = r->in[0];
    for (int d = 0; d < x->count; d++) goes[d] = count == 0 && !hlo;
    for (int i = 0; i < count; i++) {
        int64_t d = dims[i] < 0 ? dims[i] + x->count : dims[i];
        if (d < 0 || d >= x->count) return true;
        goes[d] = true;
    }
    for (int d = 0; d < x->count; d++)
        if (!goes[d] || keep) r->want[r->rank++] = goes[d] ? 1 : x->extent[d];
    return as_wanted(r);
}

struct rule_row {
    const char *kind;
    rule_of *rule;
    const char *words;
};

#define UNARY  same_shape, "the shape of the operand"
#define BINARY broadcasts, "operands are broadcast, aligned at the right"
#define EQUAL  equal_shapes, "operands and result have one shape"
#define VIEWED same_elements, "as many elements as the operand"
#define SUMMED reduces, "without the dimensions that go, or 1 for them"

/* clang-format off */
static const struct rule_row ttir_rules[] = {
    {"add", BINARY}, {"subtract", BINARY}, {"multiply", BINARY}, {"div", BINARY}, {"pow", BINARY}, {"maximum", BINARY},
    {"minimum", BINARY}, {"remainder", BINARY}, {"eq", BINARY}, {"ne", BINARY}, {"lt", BINARY}, {"le", BINARY},
    {"gt", BINARY}, {"ge", BINARY}, {"logical_and", BINARY}, {"logical_or", BINARY}, {"logical_xor", BINARY},
    {"where", BINARY}, {"neg", UNARY}, {"abs", UNARY}, {"exp", UNARY}, {"log", UNARY}, {"sqrt", UNARY}, {"rsqrt", UNARY},
    {"reciprocal", UNARY}, {"tanh", UNARY}, {"sigmoid", UNARY}, {"relu", UNARY}, {"cos", UNARY}, {"sin", UNARY},
    {"erf", UNARY}, {"floor", UNARY}, {"ceil", UNARY}, {"sign", UNARY}, {"isfinite", UNARY}, {"gelu", UNARY},
    {"logical_not", UNARY}, {"typecast", UNARY}, {"softmax", UNARY}, {"reverse", UNARY},
    {"reshape", VIEWED}, {"squeeze", VIEWED}, {"unsqueeze", VIEWED},
    {"permute", permuted, "dimension i is dimension permutation[i] of the operand"},
    {"broadcast", repeated, "extents of the operand, or 1 repeated"},
    {"concat", joined, "the parts one after the other, other extents equal"},
    {"slice_static", cut_out, "ceil((end - begin) / step)"},
    {"dot_general", contracts, "batch, then free dimensions of the left and the right; contracted ones are equal"},
    {"matmul", multiplies, "rows of the left, columns of the right; what is between is equal"},
    {"sum", SUMMED}, {"mean", SUMMED}, {"max", SUMMED}, {"min", SUMMED}, {"prod", SUMMED}, {"reduce_or", SUMMED},
    {"reduce_and", SUMMED}, {NULL, NULL, NULL}};

static const struct rule_row hlo_rules[] = {
    {"add", EQUAL}, {"subtract", EQUAL}, {"multiply", EQUAL}, {"divide", EQUAL}, {"power", EQUAL}, {"maximum", EQUAL},
    {"minimum", EQUAL}, {"remainder", EQUAL}, {"and", EQUAL}, {"or", EQUAL}, {"xor", EQUAL}, {"compare", EQUAL},
    {"select", EQUAL}, {"clamp", EQUAL}, {"negate", EQUAL}, {"abs", EQUAL}, {"exponential", EQUAL}, {"log", EQUAL},
    {"sqrt", EQUAL}, {"rsqrt", EQUAL}, {"tanh", EQUAL}, {"logistic", EQUAL}, {"cosine", EQUAL}, {"sine", EQUAL},
    {"floor", EQUAL}, {"ceil", EQUAL}, {"sign", EQUAL}, {"not", EQUAL}, {"convert", EQUAL}, {"copy", EQUAL},
    {"reverse", EQUAL}, {"is-finite", EQUAL}, {"reshape", VIEWED},
    {"transpose", permuted, "dimension i is dimension dimensions[i] of the operand"},
    {"broadcast", placed, "dimension i of the operand is dimension dimensions[i] of the result, equally long"},
    {"concatenate", joined, "the parts one after the other, other extents equal"},
    {"dot", contracts, "batch, then free dimensions of the left and the right; contracted ones are equal"},
    {NULL, NULL, NULL}};
/* clang-format on */

static const struct rule_row *row_of(const struct lx_model *m, const struct model_op *op)
{
    for (const struct rule_row *r = m->format == MODEL_HLO ? hlo_rules : ttir_rules; r->kind; r++)
        if (strcmp(r->kind, op->kind) == 0) return r;
    return NULL;
}

static void words_of(int rank, const int64_t *extent, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "[");
    for (int d = 0; d < rank && n + 24 < size; d++)
        n += (size_t)snprintf(out + n, size - n, "%s%lld", d ? "," : "", (long long)extent[d]);
    snprintf(out + n, size - n, "]");
}

static bool broken(const struct ruling *r, const struct rule_row *row, lx_status *st)
{
    char have[200], want[200];
    const char *name = r->m->values.at[r->op->results[0]].name;
    words_of(r->y->count, r->y->extent, have, sizeof have);
    words_of(r->rank, r->want, want, sizeof want);
    return status_set_at(st, LX_E_SHAPE, r->m->file, r->op->line, r->op->column,
                         "%.60s (%.40s) is %s, which breaks the rule of its kind (%s)%s%s",
                         name ? name : "a result", r->op->kind, have, row->words,
                         strcmp(have, want) ? ": it would be " : "", strcmp(have, want) ? want : "");
}

/* Tensors with known extents, of at most the rank that rules have room for. */
static bool judged(struct ruling *r, bool open)
{
    bool can = r->op->result_count == 1 && r->op->operand_count > 0;
    for (int i = -1; can && i < r->op->operand_count; i++) {
        const struct model_type *t = model_type_of(r->m, i < 0 ? r->op->results[0] : r->op->operands[i]);
        can = t && t->element != MODEL_TUPLE && (t->elements >= 0 || (open && i < 0)) && t->count <= MOST;
        if (i >= 0 && i < 3) r->in[i] = t;
        if (i < 0) r->y = t;
    }
    return can;
}

/* As many operands as the rule looks at. */
static bool fits(const struct rule_row *row, const struct model_op *op)
{
    bool pointwise = row->rule == broadcasts || row->rule == equal_shapes;
    bool two = row->rule == contracts || row->rule == multiplies;
    return !(pointwise && op->operand_count > 3) && !(two && op->operand_count < 2);
}

static bool check_op(const struct lx_model *m, const struct model_op *op, lx_status *st)
{
    const struct rule_row *row = row_of(m, op);
    struct ruling r = {.m = m, .op = op};
    if (!row || !judged(&r, false) || !fits(row, op)) return true;
    return row->rule(&r) ? true : broken(&r, row, st);
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
    bool open = r->want[d] < 0 || (row->rule == repeated && r->want[d] == 1);
    if (!open) return r->want[d];
    bool like_operands = row->rule == equal_shapes || row->rule == multiplies;
    for (int i = 0; like_operands && i < 3 && i < r->op->operand_count; i++)
        if (r->in[i]->count == r->rank && r->in[i]->extent[d] != 1) return r->in[i]->extent[d];
    return like_operands && r->in[0]->count == r->rank ? r->in[0]->extent[d] : -1;
}

/* Kinds that are not judged, because other shapes are accepted of them, and have their first operand's all the same. */
static const struct rule_row alike[] = {
    {"rms_norm", UNARY},     {"layer_norm", UNARY}, {"batch_norm_inference", UNARY},
    {"clamp_scalar", UNARY}, {"silu", UNARY},       {"leaky_relu", UNARY},
    {"cumsum", UNARY},       {"dropout", UNARY},    {NULL, NULL, NULL}};

static const struct rule_row *row_to_follow(const struct lx_model *m, const struct model_op *op)
{
    const struct rule_row *row = row_of(m, op);
    for (const struct rule_row *r = alike; !row && m->format == MODEL_TTIR && r->kind; r++)
        if (strcmp(r->kind, op->kind) == 0) row = r;
    return row;
}

void model_follow_types(const struct lx_model *m, const struct model_op *op, int64_t *extent)
{
    const struct rule_row *row = row_to_follow(m, op);
    struct ruling r = {.m = m, .op = op};
    if (!row || !judged(&r, true) || !fits(row, op)) return;
    row->rule(&r);
    if (r.rank != r.y->count) return;
    for (int d = 0; d < r.rank; d++)
        if (extent[d] < 0) extent[d] = followed(&r, row, d);
}
