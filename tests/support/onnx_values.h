/* Single nodes of ONNX and what they give: each is imported, planned, run on the device, and compared with numbers that were
 * worked out apart from it. None may be generic.
 *
 * A row has the node ("Kind key=value ...", with ">" before it if its second result is meant), its operands
 * ("NAME:TYPE:EXTENTS=NUMBERS", "!" instead of "=" makes a constant of it, "-" is left out) and what comes out. Types: f
 * fp32, i int64, j int32, u uint8, b bool. */
#ifndef LX_TESTS_SUPPORT_ONNX_VALUES_H
#define LX_TESTS_SUPPORT_ONNX_VALUES_H

#include "support/both_ways.h"
#include "base/memory.h"
#include "support/onnx_bytes.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MOST_OPERANDS = 12, MOST_NUMBERS = 128 };

struct operand {
    char name[16], type;
    int64_t extents[8]; /* up to one of 0 */
    double number[MOST_NUMBERS];
    int count;
    bool constant, left_out;
};

struct node {
    struct operand operand[MOST_OPERANDS];
    int count;
};

struct row {
    const char *node;
    int64_t opset;
    const char *operands, *expected;
};

#define X6 "x:f:2,3=1,-2,3,-4,5,-6"

void read_operands(const char *text, struct node *n);
void put_constant(struct onnx_bytes *graph, const struct operand *o);
void put_argument(struct onnx_bytes *graph, const struct operand *o);
void put_node(struct onnx_bytes *graph, const char *text, const struct node *n);

struct running {
    struct one_way way;
    const struct node *node;
};

void try_rows(const struct row *rows, size_t count);

#endif
