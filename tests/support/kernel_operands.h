/* Operands for the tests of kernels: matrices of small values in any layout. */
#ifndef LX_TESTS_SUPPORT_KERNEL_OPERANDS_H
#define LX_TESTS_SUPPORT_KERNEL_OPERANDS_H

#include "kernels/kernels.h"
#include "base/memory.h"
#include "base/rng.h"

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* `count` matrices of rows x columns in a buffer with a margin of its own value around every
 * element in use. */
struct operand {
    float *memory, *at;
    int64_t row, column, batch, floats;
};

float small_value(struct rng *r);

/* Layouts: 0 column-major, 1 row-major, 2 neither contiguous, 3 rows backwards. `pad` elements between
 * vectors. */
enum { LAYOUTS = 4 };

struct operand operand_make(struct rng *r, int64_t rows, int64_t columns, int64_t count, int layout,
                            int64_t pad);
double operand_at(const float *p, int64_t row, int64_t column, int64_t i, int64_t j);
double operand_relu(double x);

#endif
