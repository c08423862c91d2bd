/* Random small models as text of HLO or TTIR: views, boxes, sums, products and elements one by one, chained at random, so that
 * most ops read what was reshaped, turned, repeated or cut before. 4 to 20 ops on tensors of at most 8,192 elements; the
 * last values that nobody reads, up to four of them, go through one more op and are returned. The same seed gives the same model. */
#ifndef LX_TESTS_SUPPORT_RANDOM_MODELS_H
#define LX_TESTS_SUPPORT_RANDOM_MODELS_H

#include "base/rng.h"
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

enum { RANDOM_RANK = 6, RANDOM_VALUES = 64, RANDOM_ELEMENTS = 8192 };

struct random_value {
    int rank;
    int64_t extent[RANDOM_RANK];
    bool used, half, argument; /* half: bf16 */
};

struct random_model {
    struct rng *r;
    bool hlo;
    struct text arguments, ops;
    struct random_value value[RANDOM_VALUES];
    int count;
};

/* ---- ops: each appends one, or nothing where it does not fit ---- */

void random_model(struct rng *r, bool hlo, struct text *out);

#endif
