/* See tick_times.h. */
#include "export/tick_times.h"
#include "base/checked.h"
#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static int64_t length_of(const struct lx_plan *p, int32_t op)
{
    double ps = p->traffic[op].device_us * PS_PER_US;
    if (!(ps > 0)) return PS_PER_NS;
    return ps < 0x1p53 ? max_i64(llround(ps), 1) : (int64_t)1 << 53;
}

bool tick_times_make(const struct lx_plan *p, struct tick_times *out)
{
    *out = (struct tick_times){0};
    if (!p->traffic) {
        out->first = p->problem.count ? INT64_MAX : 0;
        for (int32_t i = 0; i < p->problem.count; i++) {
            out->first = min_i64(out->first, p->problem.buffers[i].start);
            out->last = max_i64(out->last, p->problem.buffers[i].end);
        }
        return true;
    }
    out->last = p->layouts->graph->op_count;
    out->at = mem_zeroed((size_t)out->last + 1, sizeof *out->at);
    for (int32_t o = 0; out->at && o < out->last; o++) out->at[o + 1] = out->at[o] + length_of(p, o);
    return out->at != NULL;
}

void tick_times_free(struct tick_times *t)
{
    mem_free(t->at);
    t->at = NULL;
}

int64_t tick_time(const struct tick_times *t, int64_t tick)
{
    tick = max_i64(t->first, min_i64(tick, t->last));
    return t->at ? t->at[tick] : (tick - t->first) * PS_PER_US;
}

void add_us(struct text *out, int64_t ps)
{
    text_format(out, "%" PRId64 ".%06" PRId64, ps / PS_PER_US, ps % PS_PER_US);
}
