/* Two results files, cell by cell, and what changed. */
#ifndef LX_APP_BENCH_COMPARISON_H
#define LX_APP_BENCH_COMPARISON_H

#include "bench/who_is_best.h"

/* Pairs: a solver on an instance that both files have. */
struct comparison {
    struct table cells, sums;
    struct verdict verdict;
    int64_t pairs, better, worse, faster, slower;
    int64_t missing, added; /* only before, only after */
    size_t changed;         /* pairs with any change */
};

/* compare.c: rows in `memory`; only those that changed, or all of them. False: memory is out. */
bool compare_results(const struct results *before, const struct results *after, bool only_changed,
                     struct arena *memory, struct comparison *c);

/* nothing_shared.c: why there are no pairs; always false, with `st`. */
bool nothing_shared(const struct results *before, const struct results *after, lx_status *st);

#endif
