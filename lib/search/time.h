/* Predicted times of drafts, and the search for the fastest plan. */
#pragma once

#include "clock/replay.h"
#include "search/plan_search.h"

/* least_time.c, a step: other divisions and fewer passes, if the plan takes less time. */
bool least_time_search(struct search *search);

/* agree.c: divisions under which neighbours have their tensors in the same parts. */
bool agree_search(struct search *search);

/* time_bound.c: a lower bound on end-to-end time with divisions `d`; NULL: with any. */
double time_bound_divided(const struct draft *x, const struct lx_divisions *d);

/* predict_time.c: prices buffers in nanoseconds on one of three clocks; each clock is tried. Bars buffers
 * that take more time on chip. */
enum price { PRICE_LAUNCH, PRICE_DEVICE, PRICE_SLOW, PRICE_COUNT };
void price_buffers(struct draft *x, enum price clock, struct lx_buffer *out);

/* predict_time.c: the time by which a solved draft is compared; if it is above `most`, only a lower bound
 * that is above, too. */
double attempt_us(const struct search *search, const struct draft *x, const int64_t *address, double most);
/* predict_time.c: no placement of the draft takes less time. */
double draft_least_us(struct draft *x);
/* predict_time.c: computes the work of each op once, for all replays of the draft, and keeps ring pulls. */
void draft_weigh(struct draft *x);
/* predict_time.c: sets the times of each op, whose traffic is given, and of each bundle of the draft. */
void predict_times(const struct draft *x, const int64_t *address, const struct traffic *t,
                   struct lx_op_traffic *ops, struct lx_bundle *bundles);
/* The time of a program with the syncs that it needs. */
double program_us(struct plan_program p);
/* The times of a placement; unless NULL, `bundles` receives those of the draft. */
struct clock_times draft_times(const struct draft *x, const int64_t *address, struct lx_bundle *bundles);
