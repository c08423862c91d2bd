#include "support/kernel_operands.h"

float small_value(struct rng *r)
{
    return (float)rng_between(r, -64, 64) * 0x1p-6f;
}

struct operand operand_make(struct rng *r, int64_t rows, int64_t columns, int64_t count, int layout,
                            int64_t pad)
{
    struct operand o = {0};
    int64_t unit = layout == 2 ? 3 : 1;
    if (layout == 1)
        o.column = unit, o.row = columns * unit + pad;
    else
        o.row = unit, o.column = rows * unit + pad;
    o.batch = (layout == 1 ? rows * o.row : columns * o.column) + pad;
    o.floats = o.batch * count + 1;
    o.memory = mem_alloc((size_t)o.floats * sizeof *o.memory);
    assert_non_null(o.memory);
    for (int64_t i = 0; i < o.floats; i++) o.memory[i] = small_value(r);
    o.at = o.memory;
    if (layout == 3) {
        o.at += (rows - 1) * o.row;
        o.row = -o.row;
    }
    return o;
}

double operand_at(const float *p, int64_t row, int64_t column, int64_t i, int64_t j)
{
    return (double)p[i * row + j * column];
}

double operand_relu(double x)
{
    return x > 0 ? x : 0;
}
