/* A graph of one op under test, drawn by a test, on the whole way: planned, checked, run on several numbers of cores, and
 * the output compared bit for bit with what plain loops of the test say. The first input is copied on chip before and the
 * result after it, so that both can be there. Tensors: at most 8 of at most 6 dimensions. */
#ifndef LX_TESTS_EXACT_TRIAL_H
#define LX_TESTS_EXACT_TRIAL_H

#include "base/rng.h"
#include "base/text.h"
#include "base/memory.h"
#include "device/device.h"
#include "device/memory/dtypes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { TRIAL_TENSORS = 8, TRIAL_RANK = 6 };

struct trial_tensor {
    enum lx_dtype type;
    int rank;
    int64_t shape[TRIAL_RANK];
    wide_number *data; /* what it has, or should have */
};

struct trial {
    int inputs;
    struct trial_tensor in[TRIAL_TENSORS], out;
    char op[1200]; /* kind and all else but inputs and output, as JSON */
    void *got;
};

int64_t trial_count(const struct trial_tensor *t);

/* The element with these indices. */
wide_number *trial_at(const struct trial_tensor *t, const int64_t *index);

/* Indices one after the other; false: that was the last. */
bool trial_next(const struct trial_tensor *t, int64_t *index);
void trial_fill(struct trial_tensor *t, struct rng *rng);

/* On 1, 4 and 32 cores, and frees what it has. */
void trial_run_all(struct trial *t);

#endif
