/* Reductions along the columns of a matrix.
 *
 * Element j of a row goes to lane j % LANES; lanes are joined in a tree at the end. That order is the same
 * for every layout, and both layouts have fast loops: along contiguous columns the lanes are a vector, along
 * contiguous rows a block of rows is. */
#include "kernels/kernels.h"
#include "base/checked.h"

#include <math.h>

enum { LANES = 16, ROWS = 16 };

#define JOIN_SUM(x, y) ((x) + (y))
/* A NaN on either side wins. */
#define JOIN_MAX(x, y) ((x) > (y) || (x) != (x) ? (x) : (y))
#define JOIN_MIN(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))

/* lane[r][l] joins elements l, l + LANES, ... of row r; `rows` of them, at most ROWS. */
typedef void lanes_fill(float (*lane)[LANES], struct const_view from, int64_t rows, int64_t columns);
typedef float lanes_join(const float *lane);

/* The transposed block of the row-contiguous case is across[l][r]: its inner loop is over rows. */
#define REDUCTION(OP, START)                                                                                 \
    static void fill_##OP(float(*lane)[LANES], struct const_view from, int64_t rows, int64_t columns)        \
    {                                                                                                        \
        const int64_t whole = columns / LANES * LANES;                                                       \
        if (from.row == 1 && from.column != 1 && rows == ROWS) {                                             \
            float across[LANES][ROWS];                                                                       \
            for (int l = 0; l < LANES; l++)                                                                  \
                for (int r = 0; r < ROWS; r++) across[l][r] = (START);                                       \
            for (int64_t j = 0; j < columns; j++) {                                                          \
                const float *x = from.at + j * from.column;                                                  \
                float *sum = across[j % LANES];                                                              \
                for (int r = 0; r < ROWS; r++) sum[r] = JOIN_##OP(sum[r], x[r]);                             \
            }                                                                                                \
            for (int l = 0; l < LANES; l++)                                                                  \
                for (int r = 0; r < ROWS; r++) lane[r][l] = across[l][r];                                    \
            return;                                                                                          \
        }                                                                                                    \
        for (int64_t r = 0; r < rows; r++) {                                                                 \
            const float *x = from.at + r * from.row;                                                         \
            float sum[LANES];                                                                                \
            for (int l = 0; l < LANES; l++) sum[l] = (START);                                                \
            if (from.column == 1) {                                                                          \
                for (int64_t j = 0; j < whole; j += LANES)                                                   \
                    for (int l = 0; l < LANES; l++) sum[l] = JOIN_##OP(sum[l], x[j + l]);                    \
            } else {                                                                                         \
                for (int64_t j = 0; j < whole; j += LANES)                                                   \
                    for (int l = 0; l < LANES; l++) sum[l] = JOIN_##OP(sum[l], x[(j + l) * from.column]);    \
            }                                                                                                \
            for (int64_t j = whole; j < columns; j++)                                                        \
                sum[j % LANES] = JOIN_##OP(sum[j % LANES], x[j * from.column]);                              \
            for (int l = 0; l < LANES; l++) lane[r][l] = sum[l];                                             \
        }                                                                                                    \
    }                                                                                                        \
    static float join_##OP(const float *lane)                                                                \
    {                                                                                                        \
        float sum[LANES];                                                                                    \
        for (int l = 0; l < LANES; l++) sum[l] = lane[l];                                                    \
        for (int half = LANES / 2; half > 0; half /= 2)                                                      \
            for (int l = 0; l < half; l++) sum[l] = JOIN_##OP(sum[l], sum[l + half]);                        \
        return sum[0];                                                                                       \
    }

REDUCTION(SUM, 0.0f)
REDUCTION(MAX, -INFINITY)
REDUCTION(MIN, INFINITY)

static const struct {
    lanes_fill *fill;
    lanes_join *join;
    bool divide; /* by the number of columns */
} reductions[REDUCE_OP_COUNT] = {
    [REDUCE_SUM] = {fill_SUM, join_SUM, false},
    [REDUCE_MAX] = {fill_MAX, join_MAX, false},
    [REDUCE_MIN] = {fill_MIN, join_MIN, false},
    [REDUCE_MEAN] = {fill_SUM, join_SUM, true},
};

void reduce_rows(enum reduce_op op, float *to, int64_t to_step, struct const_view from, int64_t rows,
                 int64_t columns)
{
    float lane[ROWS][LANES];
    for (int64_t i = 0; i < rows; i += ROWS) {
        const int64_t count = min_i64(ROWS, rows - i);
        const struct const_view block = {from.at + i * from.row, from.row, from.column};
        reductions[op].fill(lane, block, count, columns);
        for (int64_t r = 0; r < count; r++) {
            float x = reductions[op].join(lane[r]);
            to[(i + r) * to_step] = reductions[op].divide ? x / (float)columns : x;
        }
    }
}
