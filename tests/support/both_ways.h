/* A model with its views folded and without: both graphs are planned for one core and run on the same data, told by the
 * names of arguments, and what leaves the device must be the same bit for bit. Data have all the digits of fp32, so that
 * sums in another order are other numbers, or are whole eighths, of which short sums are exact. There are no nests: those
 * that cut a sum add its parts. Memory of a comparison that fails is left to the end of the program. */
#ifndef LX_TESTS_SUPPORT_BOTH_WAYS_H
#define LX_TESTS_SUPPORT_BOTH_WAYS_H

#include "unstable.h"
#include "base/hash.h"
#include "base/memory.h"
#include "device/memory/dtypes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOTH_MOST_OUTPUTS = 256 };

struct one_way {
    const struct lx_graph *g;
    struct lx_run_result *run;
    int32_t tensor[BOTH_MOST_OUTPUTS];
    char *items[BOTH_MOST_OUTPUTS];
    int count;
    int64_t generic; /* ops */
    bool eighths;
};

struct both_ways {
    struct one_way way[2]; /* folded, not folded */
    char why[600];         /* the first difference; empty: there is none */
    double largest;        /* difference as a share of the largest number of its output */
};

int64_t both_items(const struct lx_tensor *t);
void both_take(void *context, int32_t tensor, const void *items);

/* False: one of them could not be run at all, `st` says why. */
bool both_ways(struct both_ways *b, const char *file, const char *text, size_t length,
               struct lx_import_options options, bool eighths, lx_status *st);
void both_free(struct both_ways *b);

#endif
