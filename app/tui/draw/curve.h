/* Best and bound over time, of something that is being solved: a few dozen points that thin out as it goes on. */
#ifndef LX_APP_TUI_CURVE_H
#define LX_APP_TUI_CURVE_H

#include "unstable.h"

enum { CURVE_MOST = 128 };

struct curve_point {
    double seconds;
    int64_t best, bound; /* best INT64_MAX: none so far; bound 0: none */
};

/* Best never rises and bound never falls. All zero: empty. */
struct curve {
    int count;
    struct curve_point at[CURVE_MOST];
};

/* A point where something is new; the oldest but the first make room. */
void curve_add(struct curve *c, double seconds, int64_t best, int64_t bound);
/* Up to a moment: it is as good then as it was when it was found. An empty one stays empty. */
void curve_reach(struct curve *c, double seconds);
/* INT64_MAX: none. */
int64_t curve_best(const struct curve *c);
int64_t curve_bound(const struct curve *c);

#endif
