/* One small model an op, run on the device with its views folded and without: what comes out is what a few lines of C say
 * that the op means. Inputs are a, b, c: floats in eighths from -1 to 1, whole numbers from 0 to 3. */
#ifndef LX_TESTS_SUPPORT_OP_MEANINGS_H
#define LX_TESTS_SUPPORT_OP_MEANINGS_H

#include "device/device.h"
#include "device/memory/dtypes.h"
#include "import/model_import.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 4096 };

/* What the device got and gave. */
struct tried {
    const struct lx_graph *g;
    double in[3][MOST], out[MOST], want[MOST];
    int64_t count;
};

struct meaning {
    const char *name, *text;
    void (*of)(struct tried *n); /* fills in `want` */
};

void meaning_run(const struct meaning *m, bool no_fold, struct tried *n);

#define HLO(body) "HloModule m\n" REDUCERS "ENTRY e {\n" body "}\n"
#define REDUCERS                                                                                             \
    "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n"             \
    "most {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] maximum(x, y)\n}\n"
/* A model of TTIR from a (and b, c) to a result. */
#define TTIR(args, result, body)                                                                             \
    "func.func @main(" args ") -> tensor<" result "> {\n" body "  return %y : tensor<" result ">\n}\n"

void try_meanings(const struct meaning *all, size_t count);

#endif
