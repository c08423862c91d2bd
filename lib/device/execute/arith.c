/* One row of the table per kind of op. */
#include "device/execute/arith.h"

#define ROW(name, expression)                                                                                \
    static void name##_row(float *to, const float *a, const float *b, const float *c, int64_t count)         \
    {                                                                                                        \
        (void)b, (void)c;                                                                                    \
        for (int64_t i = 0; i < count; i++) to[i] = (expression);                                            \
    }

#define A a[i]
#define B b[i]

/* NaN stays NaN. */
#define LARGER(x, y)  ((x) > (y) || (x) != (x) ? (x) : (y))
#define SMALLER(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))

static float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

/* Kinds that are one expression of their elements: id, name, expression. */
#define ELEMENTS(X)                                                                                          \
    X(ADD, add, A + B)                                                                                       \
    X(SUB, sub, A - B)                                                                                       \
    X(MUL, mul, A *B)                                                                                        \
    X(DIV, div, A / B)                                                                                       \
    X(POW, pow, powf(A, B))                                                                                  \
    X(NEG, neg, -A)                                                                                          \
    X(ABS, abs, fabsf(A))                                                                                    \
    X(EXP, exp, expf(A))                                                                                     \
    X(LOG, log, logf(A))                                                                                     \
    X(SQRT, sqrt, sqrtf(A))                                                                                  \
    X(RSQRT, rsqrt, 1 / sqrtf(A))                                                                            \
    X(RECIPROCAL, reciprocal, 1 / A)                                                                         \
    X(RELU, relu, A > 0 ? A : 0)                                                                             \
    X(GELU, gelu, 0.5f * A * (1 + tanhf(0.7978845608f * (A + 0.044715f * A * A * A))))                       \
    X(SILU, silu, A *sigmoid(A))                                                                             \
    X(SIGMOID, sigmoid, sigmoid(A))                                                                          \
    X(TANH, tanh, tanhf(A))                                                                                  \
    X(GREATER, greater, A > B ? 1.0f : 0.0f)                                                                 \
    X(COS, cos, cosf(A))                                                                                     \
    X(SIN, sin, sinf(A))                                                                                     \
    X(ERF, erf, erff(A))                                                                                     \
    X(LOG1P, log1p, log1pf(A))                                                                               \
    X(EXPM1, expm1, expm1f(A))                                                                               \
    X(CBRT, cbrt, cbrtf(A))                                                                                  \
    X(ATAN2, atan2, atan2f(A, B))                                                                            \
    X(FLOOR, floor, floorf(A))                                                                               \
    X(CEIL, ceil, ceilf(A))                                                                                  \
    X(ROUND, round, rintf(A))                                                                                \
    X(SIGN, sign, A > 0 ? 1.0f : A < 0 ? -1.0f : A)                                                          \
    X(IS_FINITE, is_finite, isfinite(A) ? 1.0f : 0.0f)                                                       \
    X(GELU_ERF, gelu_erf, 0.5f * A * (1 + erff(A * 0.7071067812f)))                                          \
    X(EQ, eq, A == B ? 1.0f : 0.0f)                                                                          \
    X(NE, ne, A != B ? 1.0f : 0.0f)                                                                          \
    X(LT, lt, A < B ? 1.0f : 0.0f)                                                                           \
    X(LE, le, A <= B ? 1.0f : 0.0f)                                                                          \
    X(GE, ge, A >= B ? 1.0f : 0.0f)                                                                          \
    X(AND, and, A != 0 && B != 0 ? 1.0f : 0.0f)                                                              \
    X(OR, or, A != 0 || B != 0 ? 1.0f : 0.0f)                                                                \
    X(XOR, xor, (A != 0) != (B != 0) ? 1.0f : 0.0f)                                                          \
    X(NOT, not, A == 0 ? 1.0f : 0.0f)                                                                        \
    X(REM, rem, fmodf(A, B))                                                                                 \
    X(CLAMP, clamp, SMALLER(LARGER(A, B), c[i]))                                                             \
    X(WHERE, where, A != 0 ? B : c[i])                                                                       \
    X(CAST, copy, A)

#define ELEMENT_ROW(id, name, expression) ROW(name, expression)
ELEMENTS(ELEMENT_ROW)

ROW(max, LARGER(A, B))
ROW(min, SMALLER(A, B))

/* Sums run in LANES lanes, so that the compiler can use vectors; the order is fixed. */
enum { LANES = 16 };

#define REDUCE_ROW(name, start, combine)                                                                     \
    static float name##_all(const float *row, int64_t count)                                                 \
    {                                                                                                        \
        float lane[LANES], x;                                                                                \
        int64_t i = 0;                                                                                       \
        for (int k = 0; k < LANES; k++) lane[k] = (start);                                                   \
        for (; i + LANES <= count; i += LANES)                                                               \
            for (int k = 0; k < LANES; k++) {                                                                \
                x = lane[k];                                                                                 \
                lane[k] = combine(x, row[i + k]);                                                            \
            }                                                                                                \
        for (int k = 0; i < count; i++, k++) lane[k] = combine(lane[k], row[i]);                             \
        x = lane[0];                                                                                         \
        for (int k = 1; k < LANES; k++) x = combine(x, lane[k]);                                             \
        return x;                                                                                            \
    }                                                                                                        \
    static void name##_join(float *to, const float *from, int64_t count)                                     \
    {                                                                                                        \
        for (int64_t i = 0; i < count; i++) to[i] = combine(to[i], from[i]);                                 \
    }

#define PLUS(x, y)   ((x) + (y))
#define TIMES(x, y)  ((x) * (y))
#define EITHER(x, y) ((x) != 0 || (y) != 0 ? 1.0f : 0.0f)
#define BOTH(x, y)   ((x) != 0 && (y) != 0 ? 1.0f : 0.0f)

REDUCE_ROW(sum, 0, PLUS)
REDUCE_ROW(largest, -INFINITY, LARGER)
REDUCE_ROW(smallest, INFINITY, SMALLER)
REDUCE_ROW(product, 1, TIMES)
REDUCE_ROW(any, 0, EITHER)
REDUCE_ROW(all, 1, BOTH)

/* The neutral element of a logarithm of a sum: below all numbers, but finite, so that numbers can be
 * subtracted from it. */
#define LEAST (-FLT_MAX)

static float powers_all(const float *row, int64_t count)
{
    float lane[LANES] = {0}, top = largest_all(row, count), sum = 0;
    int64_t i = 0;
    if (!(top > LEAST) && top == top) return LEAST;
    if (!(top < INFINITY)) return top;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++) lane[k] += expf(row[i + k] - top);
    for (int k = 0; i < count; i++, k++) lane[k] += expf(row[i] - top);
    for (int k = 0; k < LANES; k++) sum += lane[k];
    return top + logf(sum);
}

static void powers_join(float *to, const float *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        float x = to[i];
        float y = from[i];
        float top = LARGER(x, y), low = top == x ? y : x;
        to[i] = low <= LEAST || !(top < INFINITY) ? top : top + log1pf(expf(low - top));
    }
}

const struct reduction reduction_sum = {0, sum_all, sum_join, false};
static const struct reduction reduction_mean = {0, sum_all, sum_join, true};
static const struct reduction reduction_powers = {LEAST, powers_all, powers_join, false};
static const struct reduction reduction_product = {1, product_all, product_join, false};
static const struct reduction reduction_any = {0, any_all, any_join, false};
static const struct reduction reduction_all = {1, all_all, all_join, false};
static const struct reduction reduction_max = {-INFINITY, largest_all, largest_join, false};
static const struct reduction reduction_min = {INFINITY, smallest_all, smallest_join, false};

/* clang-format off */
#define ELEMENT_ENTRY(id, name, expression) [LX_KIND_##id] = {.row = name##_row},
static const struct arith table[LX_KIND_COUNT] = {
    ELEMENTS(ELEMENT_ENTRY)
    [LX_KIND_MAX]        = {.row = max_row, .sum = &reduction_max},
    [LX_KIND_MIN]        = {.row = min_row, .sum = &reduction_min},
    [LX_KIND_SUM]        = {.sum = &reduction_sum},
    [LX_KIND_MEAN]       = {.sum = &reduction_mean},
    [LX_KIND_LOGSUMEXP]  = {.sum = &reduction_powers},
    [LX_KIND_PROD]       = {.sum = &reduction_product},
    [LX_KIND_ANY]        = {.sum = &reduction_any},
    [LX_KIND_ALL]        = {.sum = &reduction_all},
    [LX_KIND_ARGMAX]     = {.sum = &reduction_max, .whole = true},
    [LX_KIND_ARGMIN]     = {.sum = &reduction_min, .whole = true},
    [LX_KIND_SCAN]       = {.row = copy_row, .made = true},
    [LX_KIND_IOTA]       = {.row = copy_row, .made = true},
    [LX_KIND_CONSTANT]   = {.row = copy_row, .made = true},
    [LX_KIND_CLONE]      = {.row = copy_row, .moves = true},
    [LX_KIND_SHL]        = {.row = copy_row, .whole = true},
    [LX_KIND_SHR]        = {.row = copy_row, .whole = true},
    [LX_KIND_SAR]        = {.row = copy_row, .whole = true},
    [LX_KIND_BITCAST]    = {.row = copy_row, .whole = true},
    [LX_KIND_MATMUL]     = {.sum = &reduction_sum},
    [LX_KIND_BLEND]      = {.sum = &reduction_sum},
    [LX_KIND_RESTICKIFY] = {.row = copy_row, .moves = true},
    [LX_KIND_SLICE]      = {.row = copy_row, .moves = true},
    [LX_KIND_SHIFT]      = {.row = copy_row, .moves = true},
    [LX_KIND_INSERT]     = {.row = copy_row, .moves = true},
    [LX_KIND_RESHAPE]    = {.row = copy_row, .moves = true},
    [LX_KIND_CONCAT]     = {.row = copy_row, .moves = true},
    [LX_KIND_PAD]        = {.row = copy_row, .moves = true},
    [LX_KIND_TOPK]       = {.row = copy_row, .moves = true},
    [LX_KIND_TOPK_INDEX] = {.row = copy_row, .moves = true},
    [LX_KIND_SORT]       = {.row = copy_row, .moves = true},
    [LX_KIND_SORT_INDEX] = {.row = copy_row, .moves = true},
    [LX_KIND_GATHER]     = {.row = copy_row, .moves = true},
    [LX_KIND_DYNAMIC_SLICE] = {.row = copy_row, .moves = true},
    [LX_KIND_DYNAMIC_INSERT] = {.row = copy_row, .moves = true},
    [LX_KIND_SCATTER]    = {.row = copy_row, .moves = true},
};
/* clang-format on */

const struct arith *arith_of(const struct lx_kind *kind)
{
    if ((unsigned)kind->id >= LX_KIND_COUNT) return NULL;
    const struct arith *a = &table[kind->id];
    bool sums = kind->traits & (LX_REDUCES | LX_CONTRACTS), rows = !sums || kind->traits & LX_POINTWISE;
    return (a->row || !rows) && (a->sum || !sums) ? a : NULL;
}

bool arith_known(const struct lx_graph *g, lx_status *st)
{
    /* Tensors with shared exponents are planned, not run. */
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (lx_dtype_shares(g->tensors[t].dtype))
            return status_set_at(
                st, LX_E_UNSUPPORTED, g->file, g->tensors[t].line, g->tensors[t].column,
                "tensor %s is of type %s, which is planned and checked, but not computed with; "
                "run it as bf16 (of a model: without --weight-dtype)",
                g->tensors[t].name, lx_dtype_word(g->tensors[t].dtype));
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        bool known = true;
        for (int i = 0; i < op->output_count && known; i++) {
            struct lx_op one = op_of_result(op, i);
            const struct arith *a = arith_of(one.kind);
            enum numbers n = op_numbers(g, &one);
            int from = one.input_count ? number_types[g->tensors[one.inputs[0]].dtype].bits : 0;
            if (one.kind->traits & LX_MIXES) continue;
            /* Some types have other widths on the device than in files; a bitcast takes whole bytes only. */
            if (one.kind->id == LX_KIND_BITCAST)
                known = from == number_types[g->tensors[one.output].dtype].bits && from >= 8 && from <= 64;
            if (one.kind->id == LX_KIND_RESHAPE)
                known = a != NULL; /* any bytes */
            else
                known = known && a &&
                        (a->made || (n == NUMBERS_FP32 ? !a->whole : wide_arith_of(&one, n) != NULL));
        }
        if (known) continue;
        return status_set_at(st, LX_E_UNSUPPORTED, g->file, op->line, 0,
                             "op %s: the device has no arithmetic for the kind %s with elements of type %s; "
                             "cast its operands first",
                             op->name, op->kind->name, lx_dtype_word(g->tensors[op->output].dtype));
    }
    return true;
}

static uint64_t stir(uint64_t h)
{
    h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 31);
}

static uint64_t arith_word_at(const struct mix_operand *x, int64_t w)
{
    uint64_t u;
    memcpy(&u, (const char *)x->items + w * 8, sizeof u);
    return u;
}

/* Sets the seed of result `result`. False: the op only moves, and the items are copied. */
static bool mix_begin(const struct lx_op *op, int result, const struct mix_operand *inputs, void *to,
                      int64_t bytes, uint64_t *seed)
{
    const struct arith *a = arith_of(op->kind);
    *seed = hash_bytes(HASH_START, op->name, strlen(op->name));
    if (result) *seed = stir(*seed + (uint64_t)result);
    if (!a || !a->moves || op->input_count != 1 || inputs[0].bytes != bytes) return true;
    memcpy(to, inputs[0].items, (size_t)bytes);
    return false;
}

/* Word j of `words`: mixes the words j, j + words, ... of the inputs; short inputs repeat. */
static uint64_t mix_word(const struct lx_op *op, uint64_t name, const struct mix_operand *inputs, int64_t j,
                         int64_t words)
{
    uint64_t h = stir(name + (uint64_t)j * UINT64_C(0x9e3779b97f4a7c15));
    for (int i = 0; i < op->input_count; i++) {
        int64_t n = (inputs[i].bytes + 7) / 8;
        if (n == 0) continue;
        if (j >= n) h = stir(h ^ arith_word_at(&inputs[i], j % n));
        for (int64_t w = j; w < n; w += words) h = stir(h ^ arith_word_at(&inputs[i], w)) + 1;
    }
    return h;
}

void mix_bytes(const struct lx_op *op, int result, const struct mix_operand *inputs, void *to, int64_t bytes)
{
    uint64_t name;
    if (!mix_begin(op, result, inputs, to, bytes, &name)) return;
    int64_t words = (bytes + 7) / 8;
    for (int64_t j = 0; j < words; j++) {
        uint64_t h = mix_word(op, name, inputs, j, words);
        memcpy((char *)to + j * 8, &h, (size_t)(bytes - j * 8 < 8 ? bytes - j * 8 : 8));
    }
}

void mix_elements(const struct lx_op *op, int result, const struct mix_operand *inputs, enum lx_dtype dtype,
                  void *items, int64_t count)
{
    const struct number_type *t = &number_types[dtype];
    uint64_t name;
    if (!mix_begin(op, result, inputs, items, count * t->item, &name)) return;
    for (int64_t j = 0; j < count; j++) {
        uint64_t h = mix_word(op, name, inputs, j, count);
        float f = t->integer ? (float)(h >> 61) : (float)((double)(h >> 11) * 0x1p-52 - 1);
        items_encode(t, &f, 1, (char *)items + j * t->item);
    }
}
