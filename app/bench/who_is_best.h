/* A report in one line, and how much faster one solver is than another. */
#ifndef LX_APP_BENCH_WHO_IS_BEST_H
#define LX_APP_BENCH_WHO_IS_BEST_H

#include "bench/report.h"
#include "bench/statistics.h"

/* "1.12 ± 0.03 times faster than", of times that are so many times those of the leader. */
void add_ratio(struct text *out, struct ratio r);

/* Who is best in one line, and below it one line for every other solver. In the arena. */
struct verdict {
    const char *words, *lines;
    enum paint paint; /* of the words: good, bad or neither */
};

/* The verdict, and the figures of every solver beside the one that leads. False: memory is out. */
bool verdict_make(const struct summary *s, struct arena *memory, struct verdict *v, struct table *figures);

#endif
