/* Two results files brought together cell by cell, and what changed in each beyond noise. */
#ifndef LX_APP_BENCH_PAIRS_H
#define LX_APP_BENCH_PAIRS_H

#include "bench/summary.h"

struct side {
    VEC(double) times, values;
    int64_t runs, solved, proved, wrong;
};

struct pair {
    const struct row *first; /* one row of it, for the names */
    struct side side[2];
};

typedef VEC(struct pair) pairs;

enum change { UNCHANGED, UNSURE, GAINED, LOST };

/* One cell on both sides: before is 0, after 1. */
struct pair_row {
    const char *measure;                         /* what the value is */
    const char *instance, *solver, *name, *path; /* instance: the name, or what tells it from others */
    int64_t runs[2], proved[2];
    double seconds[2], value[2]; /* medians */
    double p;                    /* NAN: too few runs for a test */
    enum change speed, quality;
};

/* Adds the rows of one side. False: memory is out. */
bool pairs_gather(pairs *all, const struct results *r, int which);
/* Has it enough runs on both sides for a test? */
bool pair_is_tested(const struct pair *p);
/* Sorts the samples. */
struct pair_row pair_row_of(struct pair *p);
void pairs_free(pairs *all);

#endif
