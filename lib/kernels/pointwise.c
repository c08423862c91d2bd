/* Pointwise functions. An operation is one expression in a table; a macro makes a loop over a row of it, once
 * for contiguous operands (which the compiler turns into vectors) and once for any steps. Transcendental
 * functions are those of the C library: the same bits on every target. */
#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

/* ---- the expressions ---- */

/* Bits are copied, so that a signalling NaN stays one. */
#define EXPRESSION_CLONE(x)      (x)
#define EXPRESSION_NEG(x)        (-(x))
#define EXPRESSION_ABS(x)        fabsf(x)
#define EXPRESSION_EXP(x)        expf(x)
#define EXPRESSION_LOG(x)        logf(x)
#define EXPRESSION_SQRT(x)       sqrtf(x)
#define EXPRESSION_RSQRT(x)      (1 / sqrtf(x))
#define EXPRESSION_RECIPROCAL(x) (1 / (x))
#define EXPRESSION_RELU(x)       ((x) > 0 ? (x) : 0)
#define EXPRESSION_GELU(x)       gelu(x)
#define EXPRESSION_SILU(x)       ((x) / (1 + expf(-(x))))
#define EXPRESSION_SIGMOID(x)    (1 / (1 + expf(-(x))))
#define EXPRESSION_TANH(x)       tanhf(x)

#define EXPRESSION_ADD(x, y) ((x) + (y))
#define EXPRESSION_SUB(x, y) ((x) - (y))
#define EXPRESSION_MUL(x, y) ((x) * (y))
#define EXPRESSION_DIV(x, y) ((x) / (y))
#define EXPRESSION_POW(x, y) powf(x, y)
/* A NaN on either side wins. */
#define EXPRESSION_MAX(x, y)     ((x) > (y) || (x) != (x) ? (x) : (y))
#define EXPRESSION_MIN(x, y)     ((x) < (y) || (x) != (x) ? (x) : (y))
#define EXPRESSION_GREATER(x, y) ((x) > (y) ? 1.0f : 0.0f)

/* sqrt(2 / pi) and the cubic term of the usual formula. */
static float gelu(float x)
{
    return 0.5f * x * (1 + tanhf(0.7978845608028654f * (x + 0.044715f * x * x * x)));
}

/* ---- the loops ---- */

typedef void unary_row(float *to, int64_t to_step, const float *x, int64_t x_step, int64_t count);
typedef void binary_row(float *to, int64_t to_step, const float *x, int64_t x_step, const float *y,
                        int64_t y_step, int64_t count);

#define UNARY_ROW(OP, name)                                                                                  \
    static void name(float *to, int64_t to_step, const float *x, int64_t x_step, int64_t count)              \
    {                                                                                                        \
        if (to_step == 1 && x_step == 1)                                                                     \
            for (int64_t i = 0; i < count; i++) to[i] = EXPRESSION_##OP(x[i]);                               \
        else                                                                                                 \
            for (int64_t i = 0; i < count; i++) to[i * to_step] = EXPRESSION_##OP(x[i * x_step]);            \
    }
/* A step of 0 is a broadcast: the value is read once, and the loop is as fast as a contiguous one. */
#define BINARY_ROW(OP, name)                                                                                 \
    static void name(float *to, int64_t to_step, const float *x, int64_t x_step, const float *y,             \
                     int64_t y_step, int64_t count)                                                          \
    {                                                                                                        \
        if (to_step == 1 && x_step == 1 && y_step == 1) {                                                    \
            for (int64_t i = 0; i < count; i++) to[i] = EXPRESSION_##OP(x[i], y[i]);                         \
        } else if (to_step == 1 && x_step == 1 && y_step == 0) {                                             \
            const float value = *y;                                                                          \
            for (int64_t i = 0; i < count; i++) to[i] = EXPRESSION_##OP(x[i], value);                        \
        } else {                                                                                             \
            for (int64_t i = 0; i < count; i++)                                                              \
                to[i * to_step] = EXPRESSION_##OP(x[i * x_step], y[i * y_step]);                             \
        }                                                                                                    \
    }

UNARY_ROW(CLONE, row_clone)
UNARY_ROW(NEG, row_neg)
UNARY_ROW(ABS, row_abs)
UNARY_ROW(EXP, row_exp)
UNARY_ROW(LOG, row_log)
UNARY_ROW(SQRT, row_sqrt)
UNARY_ROW(RSQRT, row_rsqrt)
UNARY_ROW(RECIPROCAL, row_reciprocal)
UNARY_ROW(RELU, row_relu)
UNARY_ROW(GELU, row_gelu)
UNARY_ROW(SILU, row_silu)
UNARY_ROW(SIGMOID, row_sigmoid)
UNARY_ROW(TANH, row_tanh)
BINARY_ROW(ADD, row_add)
BINARY_ROW(SUB, row_sub)
BINARY_ROW(MUL, row_mul)
BINARY_ROW(DIV, row_div)
BINARY_ROW(POW, row_pow)
BINARY_ROW(MAX, row_max)
BINARY_ROW(MIN, row_min)
BINARY_ROW(GREATER, row_greater)

static unary_row *const unary_rows[UNARY_OP_COUNT] = {
    [UNARY_CLONE] = row_clone, [UNARY_NEG] = row_neg,   [UNARY_ABS] = row_abs,
    [UNARY_EXP] = row_exp,     [UNARY_LOG] = row_log,   [UNARY_SQRT] = row_sqrt,
    [UNARY_RSQRT] = row_rsqrt, [UNARY_RELU] = row_relu, [UNARY_RECIPROCAL] = row_reciprocal,
    [UNARY_GELU] = row_gelu,   [UNARY_SILU] = row_silu, [UNARY_SIGMOID] = row_sigmoid,
    [UNARY_TANH] = row_tanh,
};
static binary_row *const binary_rows[BINARY_OP_COUNT] = {
    [BINARY_ADD] = row_add, [BINARY_SUB] = row_sub, [BINARY_MUL] = row_mul, [BINARY_DIV] = row_div,
    [BINARY_POW] = row_pow, [BINARY_MAX] = row_max, [BINARY_MIN] = row_min, [BINARY_GREATER] = row_greater,
};

/* ---- names ---- */

#define OP_WORD(id, word) [id] = word,
static const char *const unary_words[] = {UNARY_OPS(OP_WORD)};
static const char *const binary_words[] = {BINARY_OPS(OP_WORD)};
static const char *const reduce_words[] = {REDUCE_OPS(OP_WORD)};

static int find(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0) return i;
    return -1;
}

int unary_op_find(const char *word)
{
    return find(word, unary_words, UNARY_OP_COUNT);
}

int binary_op_find(const char *word)
{
    return find(word, binary_words, BINARY_OP_COUNT);
}

int reduce_op_find(const char *word)
{
    return find(word, reduce_words, REDUCE_OP_COUNT);
}

/* ---- matrices ---- */

/* Rows and columns change places when that makes the writes contiguous or the rows longer than one. */
static bool should_turn(struct view to, int64_t rows, int64_t columns)
{
    return (to.row == 1 && to.column != 1) || (columns == 1 && rows > 1);
}

static struct const_view turned(struct const_view v)
{
    return (struct const_view){v.at, v.column, v.row};
}

void unary_2d(enum unary_op op, struct view to, struct const_view from, int64_t rows, int64_t columns)
{
    if (should_turn(to, rows, columns)) {
        to = (struct view){to.at, to.column, to.row};
        from = turned(from);
        int64_t n = rows;
        rows = columns, columns = n;
    }
    unary_row *run = unary_rows[op];
    for (int64_t i = 0; i < rows; i++)
        run(to.at + i * to.row, to.column, from.at + i * from.row, from.column, columns);
}

void binary_2d(enum binary_op op, struct view to, struct const_view a, struct const_view b, int64_t rows,
               int64_t columns)
{
    if (should_turn(to, rows, columns)) {
        to = (struct view){to.at, to.column, to.row};
        a = turned(a), b = turned(b);
        int64_t n = rows;
        rows = columns, columns = n;
    }
    binary_row *run = binary_rows[op];
    for (int64_t i = 0; i < rows; i++)
        run(to.at + i * to.row, to.column, a.at + i * a.row, a.column, b.at + i * b.row, b.column, columns);
}

void where_2d(struct view to, struct const_view condition, struct const_view a, struct const_view b,
              int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const struct const_view *chosen =
                condition.at[i * condition.row + j * condition.column] != 0 ? &a : &b;
            to.at[i * to.row + j * to.column] = chosen->at[i * chosen->row + j * chosen->column];
        }
}
