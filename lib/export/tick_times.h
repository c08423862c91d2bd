/* When ticks are, in whole picoseconds, so that lengths add up exactly and rates can be turned back into bytes. A tick is
 * as long as the device is predicted to work on its op; one without a prediction takes a nanosecond, and ticks of lists
 * a microsecond. Private to the stage. */
#ifndef LX_EXPORT_TICK_TIMES_H
#define LX_EXPORT_TICK_TIMES_H

#include "base/text.h"
#include "plan/plan.h"

enum { PS_PER_NS = 1000, PS_PER_US = 1000000 };

struct tick_times {
    int64_t first, last; /* ticks of [first, last) have a length */
    int64_t *at;         /* per tick of [first, last]: when it begins; NULL: one microsecond each */
};

bool tick_times_make(const struct lx_plan *p, struct tick_times *out);
void tick_times_free(struct tick_times *t);
/* Ticks outside are at the next end. */
int64_t tick_time(const struct tick_times *t, int64_t tick);
/* As microseconds: "12.000345". */
void add_us(struct text *out, int64_t ps);

#endif
