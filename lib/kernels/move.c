/* Moves between two layouts of a matrix. Rows and columns change places if that makes the writes contiguous;
 * then reads are contiguous too (plain loops, which compilers turn into vectors), or contiguous along the
 * other index (a transposition, in squares of registers), or neither (one by one). */
#include "kernels/kernels.h"

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

/* Side of a square in a transposition: 32 lines to read and 32 to write stay in the first-level cache. */
enum { SQUARE = 32, QUAD = 4 };

/* relu fetches RELU_AHEAD floats ahead in rows of RELU_FAR_FROM floats or more; rows of RELU_PAST_FROM would
 * stay in no cache of one core. */
enum { LINE_FLOATS = 16, RELU_AHEAD = 2048, RELU_FAR_FROM = 8192, RELU_PAST_FROM = 1 << 20 };

typedef float quad __attribute__((vector_size(16)));
typedef int32_t quad_bits __attribute__((vector_size(16)));
typedef float quad_memory __attribute__((vector_size(16), aligned(4), may_alias));

/* The index with contiguous writes becomes the column; a single row or column is laid along the columns. */
static void orient(struct view *to, struct const_view *from, int64_t *rows, int64_t *columns)
{
    if ((to->column == 1 || to->row != 1) && !(*columns == 1 && *rows > 1)) return;
    int64_t n = *rows, step = to->row, from_step = from->row;
    *rows = *columns, *columns = n;
    to->row = to->column, to->column = step;
    from->row = from->column, from->column = from_step;
}

static void transpose_quad(float *to, int64_t to_row, const float *from, int64_t from_column)
{
    quad r0 = *(const quad_memory *)from, r1 = *(const quad_memory *)(from + from_column);
    quad r2 = *(const quad_memory *)(from + 2 * from_column),
         r3 = *(const quad_memory *)(from + 3 * from_column);
    quad low01 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5),
         high01 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
    quad low23 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5),
         high23 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
    *(quad_memory *)to = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
    *(quad_memory *)(to + to_row) = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
    *(quad_memory *)(to + 2 * to_row) = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
    *(quad_memory *)(to + 3 * to_row) = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

static void copy_elements(struct view to, struct const_view from, int64_t i, int64_t rows, int64_t j,
                          int64_t columns)
{
    for (int64_t y = i; y < i + rows; y++)
        for (int64_t x = j; x < j + columns; x++)
            to.at[y * to.row + x * to.column] = from.at[y * from.row + x * from.column];
}

/* Writes contiguous along columns, reads along rows. */
static void copy_across(struct view to, struct const_view from, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i += SQUARE) {
        const int64_t height = min_i64(SQUARE, rows - i), quads_high = height / QUAD * QUAD;
        for (int64_t j = 0; j < columns; j += SQUARE) {
            const int64_t width = min_i64(SQUARE, columns - j), quads_wide = width / QUAD * QUAD;
            for (int64_t y = i; y < i + quads_high; y += QUAD)
                for (int64_t x = j; x < j + quads_wide; x += QUAD)
                    transpose_quad(to.at + y * to.row + x, to.row, from.at + y + x * from.column,
                                   from.column);
            copy_elements(to, from, i, quads_high, j + quads_wide, width - quads_wide);
            copy_elements(to, from, i + quads_high, height - quads_high, j, width);
        }
    }
}

void zero_2d(struct view to, int64_t rows, int64_t columns)
{
    struct const_view none = {0};
    if (rows <= 0 || columns <= 0) return;
    orient(&to, &none, &rows, &columns);
    if (to.column == 1 && to.row == columns) columns *= rows, rows = 1;
    for (int64_t i = 0; i < rows; i++) {
        float *row = to.at + i * to.row;
        if (to.column == 1)
            memset(row, 0, (size_t)columns * sizeof *row);
        else
            for (int64_t j = 0; j < columns; j++) row[j * to.column] = 0;
    }
}

void copy_2d(struct view to, struct const_view from, int64_t rows, int64_t columns)
{
    if (rows <= 0 || columns <= 0) return;
    orient(&to, &from, &rows, &columns);
    if (to.column == 1 && from.row == 1 && from.column != 1 && rows >= QUAD && columns >= QUAD) {
        copy_across(to, from, rows, columns);
        return;
    }
    if (to.column == 1 && from.column == 1) {
        for (int64_t i = 0; i < rows; i++)
            memmove(to.at + i * to.row, from.at + i * from.row, (size_t)columns * sizeof *to.at);
        return;
    }
    copy_elements(to, from, 0, rows, 0, columns);
}

static void relu_elements(float *to, const float *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) to[i] = from[i] > 0 ? from[i] : 0;
}

static quad relu_quad(const float *from)
{
    quad x = *(const quad_memory *)from;
    return (quad)((quad_bits)x & (x > (quad){0}));
}

/* Rows that leave the nearer caches: there the processor's own prefetching keeps too few lines on their way,
 * especially of the output, which has to be read before it can be written. */
static void relu_far_row(float *to, const float *from, int64_t count)
{
    int64_t i = 0;
    for (; i + LINE_FLOATS <= count; i += LINE_FLOATS) {
        __builtin_prefetch(from + i + RELU_AHEAD);
        __builtin_prefetch(to + i + RELU_AHEAD, 1);
        for (int64_t j = i; j < i + LINE_FLOATS; j += QUAD) *(quad_memory *)(to + j) = relu_quad(from + j);
    }
    relu_elements(to + i, from + i, count - i);
}

#ifdef __SSE2__
/* Rows longer than the caches: written past them, and so not read before. */
static void relu_past_row(float *to, const float *from, int64_t count)
{
    const int64_t odd = (int64_t)(-((uintptr_t)to / sizeof *to) % LINE_FLOATS);
    relu_elements(to, from, odd);
    int64_t i = odd;
    for (; i + LINE_FLOATS <= count; i += LINE_FLOATS) {
        __builtin_prefetch(from + i + RELU_AHEAD);
        for (int64_t j = i; j < i + LINE_FLOATS; j += QUAD) _mm_stream_ps(to + j, relu_quad(from + j));
    }
    relu_elements(to + i, from + i, count - i);
    _mm_sfence(); /* such stores are unordered, even with the one that reports the task as done */
}
#else
static void relu_past_row(float *to, const float *from, int64_t count)
{
    relu_far_row(to, from, count);
}
#endif

void relu_2d(struct view to, struct const_view from, int64_t rows, int64_t columns)
{
    if (rows <= 0 || columns <= 0) return;
    orient(&to, &from, &rows, &columns);
    if (to.column == 1 && from.column == 1 && to.row == columns && from.row == columns)
        columns *= rows, rows = 1;
    if (to.column != 1 || from.column != 1 || columns < RELU_FAR_FROM) {
        for (int64_t i = 0; i < rows; i++) {
            float *row = to.at + i * to.row;
            const float *source = from.at + i * from.row;
            if (to.column == 1 && from.column == 1)
                relu_elements(row, source, columns);
            else
                for (int64_t j = 0; j < columns; j++) {
                    float x = source[j * from.column];
                    row[j * to.column] = x > 0 ? x : 0;
                }
        }
        return;
    }
    for (int64_t i = 0; i < rows; i++) {
        float *const row = to.at + i * to.row;
        const float *const source = from.at + i * from.row;
        if (columns >= RELU_PAST_FROM && row != source)
            relu_past_row(row, source, columns);
        else
            relu_far_row(row, source, columns);
    }
}
