/* The buffers that clash in an infeasible problem: two with pins on the same bytes, or all of one tick that need more
 * than there is. Other proofs are searches and have no short words. */
#include "base/base.h"
#include "placement/problem.h"

static bool clash_of_pins(const struct lx_problem *p, char *out, size_t size)
{
    for (int32_t i = 0; i < p->count; i++)
        for (int32_t k = 0; p->buffers[i].fixed >= 0 && k < i; k++) {
            const struct lx_buffer *a = &p->buffers[k], *b = &p->buffers[i];
            int64_t from = max_i64(a->fixed, b->fixed), to = min_i64(a->fixed + a->size, b->fixed + b->size);
            if (a->fixed < 0 || from >= to || !lx_lives_meet(a, b)) continue;
            snprintf(out, size, "%.40s and %.40s are fixed on the same bytes [%lld, %lld) at tick %lld",
                     a->name, b->name, (long long)from, (long long)to,
                     (long long)max_i64(a->start, b->start));
            return true;
        }
    return false;
}

static bool clash_lives(const struct lx_buffer *b, int64_t tick)
{
    for (int32_t i = 0; i < lx_life_count(b); i++)
        if (lx_life_at(b, i).start <= tick && tick < lx_life_at(b, i).end) return true;
    return false;
}

/* The start of a buffer at which most bytes are needed. */
static int64_t clash_tick(const struct lx_problem *p, int64_t *most)
{
    int64_t tick = -1;
    *most = 0;
    for (int32_t i = 0; i < p->count; i++) {
        int64_t bytes = 0;
        for (int32_t k = 0; k < p->count; k++)
            if (!p->buffers[k].reason && clash_lives(&p->buffers[k], p->buffers[i].start))
                bytes += p->buffers[k].size;
        if (bytes > *most) *most = bytes, tick = p->buffers[i].start;
    }
    return tick;
}

void lx_clash_words(const struct lx_problem *p, char *out, size_t size)
{
    enum { MOST = 4000, NAMES = 3 }; /* buffers; names that are written */
    const struct lx_buffer *largest[NAMES] = {0};
    int64_t bytes, tick;
    int32_t others = 0;
    bool shares = false;
    *out = 0;
    for (int32_t i = 0; i < p->count; i++) shares |= p->buffers[i].parent_count > 0;
    if (p->pool_count || p->count > MOST || clash_of_pins(p, out, size)) return;
    tick = clash_tick(p, &bytes);
    if (shares || lx_problem_needs(p) || p->objective == LX_HEIGHT || bytes <= p->capacity) return;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (b->reason || !clash_lives(b, tick)) continue;
        for (int k = 0; b && k < NAMES; k++)
            if (!largest[k] || largest[k]->size < b->size) {
                const struct lx_buffer *next = largest[k];
                largest[k] = b;
                b = next;
            }
        others += b != NULL;
    }
    int n = snprintf(out, size, "%lld bytes of %lld at tick %lld:", (long long)bytes, (long long)p->capacity,
                     (long long)tick);
    for (int k = 0; k < NAMES && largest[k]; k++)
        n += snprintf(out + n, size - (size_t)n, "%s %.24s", k ? "," : "", largest[k]->name);
    if (others) snprintf(out + n, size - (size_t)n, " and %d more", (int)others);
}
