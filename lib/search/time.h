/* Predicted times of drafts, and plans that take the least. */
#ifndef LX_SEARCH_TIME_H
#define LX_SEARCH_TIME_H

#include "divide/op_nest.h"
#include "search/plan_search.h"

/* least_time.c, a step: from the best attempt on, other divisions and passes left out, where that takes less time. */
bool least_time_search(struct search *search);

/* time_bound.c: end-to-end time that no plan of the graph goes below, with these divisions (`x`: a draft of the same ops); NULL:
 * however it is divided. */
double time_bound_divided(const struct draft *x, const struct lx_divisions *d);

/* predict_time.c: what a buffer is worth in nanoseconds on one of three clocks. Which one counts depends on all of the plan, so
 * that each is tried. `out`: the buffers of the draft, priced; those that cost time on chip are barred. */
enum price { PRICE_LAUNCH, PRICE_DEVICE, PRICE_SLOW, PRICE_COUNT };
void price_buffers(const struct draft *x, enum price clock, struct lx_buffer *out);

/* predict_time.c: the times of each op, whose traffic is known, and of each bundle of the draft. */
void predict_times(const struct draft *x, const int64_t *address, const struct traffic *t,
                   struct lx_op_traffic *ops, struct lx_bundle *bundles);
/* The same of a placement; `bundles`: zeros, one per bundle of the draft. */
void draft_bundle_times(const struct draft *x, const int64_t *address, struct lx_bundle *bundles);
/* Both clocks of a placement. */
struct clocks {
    double device_us, end_to_end_us;
};
struct clocks bundle_clocks(const struct lx_bundle *bundles, int32_t count);
struct clocks draft_clocks(const struct draft *x, const int64_t *address);
/* What is launched at once: of a bundle each run of ops between nests, and in a nest every op by itself, once per
 * iteration. */
struct kernel_run {
    int32_t first, end; /* ops [first, end) */
    int64_t times;      /* that it is launched */
};

/* The run that begins with op `first` of a bundle whose ops end before `end`. */
struct kernel_run kernel_run_at(const struct lx_nest *nests, int32_t nest_count, int32_t first, int32_t end);

#endif
