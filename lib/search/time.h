/* Predicted times of drafts, and the search for the fastest plan. */
#ifndef LX_SEARCH_TIME_H
#define LX_SEARCH_TIME_H

#include "divide/op_nest.h"
#include "search/plan_search.h"

/* least_time.c, a step: other divisions and fewer passes, if the plan takes less time. */
bool least_time_search(struct search *search);

/* time_bound.c: a lower bound on end-to-end time with divisions `d`; NULL: with any. */
double time_bound_divided(const struct draft *x, const struct lx_divisions *d);

/* predict_time.c: prices buffers in nanoseconds on one of three clocks; each clock is tried. Bars buffers
 * that take more time on chip. */
enum price { PRICE_LAUNCH, PRICE_DEVICE, PRICE_SLOW, PRICE_COUNT };
void price_buffers(const struct draft *x, enum price clock, struct lx_buffer *out);

/* predict_time.c: sets the times of each op, whose traffic is given, and of each bundle of the draft. */
void predict_times(const struct draft *x, const int64_t *address, const struct traffic *t,
                   struct lx_op_traffic *ops, struct lx_bundle *bundles);
/* The same for a placement; `bundles`: zeros, one per bundle of the draft. */
void draft_bundle_times(const struct draft *x, const int64_t *address, struct lx_bundle *bundles);
/* Both clocks of a placement. */
struct clocks {
    double device_us, end_to_end_us;
};
struct clocks bundle_clocks(const struct lx_bundle *bundles, int32_t count);
struct clocks draft_clocks(const struct draft *x, const int64_t *address);
/* Ops launched together: a run of ops between nests; in a nest each op, once per iteration. */
struct kernel_run {
    int32_t first, end; /* ops [first, end) */
    int64_t times;      /* launches */
};

/* The run that begins with op `first`, in a bundle whose ops end before `end`. */
struct kernel_run kernel_run_at(const struct lx_nest *nests, int32_t nest_count, int32_t first, int32_t end);

#endif
