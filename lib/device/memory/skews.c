/* Cores out of step. Each core has a clock that advances with its tasks. Where all cores meet, at a sync or
 * at the begin of a bundle, all clocks become equal; then each is put forward at random, by more than all
 * tasks up to the next meeting take. So between two meetings the cores run one after the other, in an order
 * that depends on the seed.
 *
 * A stick remembers its last write, the core that wrote it, and the end of the last read by another core. A
 * core that reads or overwrites the stick before those times is early. Within one tick the op orders its
 * cores. */
#include "device/memory/machine.h"

enum { AHEAD_STEPS = 256 };
static const int64_t ahead = INT64_C(1) << 28; /* tasks between two meetings */

void skews_begin(struct machine *m, uint64_t seed)
{
    if (seed == 0) return;
    m->random = rng_seed(seed);
    m->clock = mem_zeroed((size_t)m->cores, sizeof *m->clock);
    m->hbm.times = mem_zeroed((size_t)m->hbm.sticks + 1, sizeof *m->hbm.times);
    for (int64_t c = 0; c < m->cores; c++)
        m->lx[c].times = mem_zeroed((size_t)m->lx[c].sticks + 1, sizeof *m->lx[c].times);
    skews_meet(m);
}

void skews_meet(struct machine *m)
{
    int64_t last = 0;
    for (int64_t c = 0; m->clock && c < m->cores; c++) last = max_i64(last, m->clock[c]);
    for (int64_t c = 0; m->clock && c < m->cores; c++)
        m->clock[c] = last + ahead * (int64_t)rng_below(&m->random, AHEAD_STEPS);
}

void skews_meet_at_tick(struct machine *m)
{
    const struct lx_plan *p = m->plan;
    for (int32_t i = 0; m->clock && i < p->sync_count; i++)
        if (p->syncs[i].before == m->tick && (p->syncs[i].in_loop || m->at.number == 0)) skews_meet(m);
    m->moment++;
}

void skews_step(struct machine *m)
{
    for (int64_t c = 0; m->clock && c < m->cores; c++) m->clock[c]++;
}

void skews_join(struct machine *m, const int64_t *cores, size_t count)
{
    int64_t last = 0;
    for (size_t i = 0; m->clock && i < count; i++) last = max_i64(last, m->clock[cores[i]]);
    for (size_t i = 0; m->clock && i < count; i++) m->clock[cores[i]] = last;
}

/* Did another core end it after this one begins, in an earlier tick? */
static bool skews_ends_later(const struct machine *m, const struct task_end *end)
{
    return end->time > m->clock[m->actor] && end->core != m->actor && end->moment != m->moment;
}

bool skews_read(struct machine *m, const struct place *p, int64_t local)
{
    if (!m->clock || m->actor < 0) return true;
    struct stick_times *t = &p->in->times[p->address / m->stick_bytes + local];
    int64_t end = m->clock[m->actor] + 1;
    bool early = skews_ends_later(m, &t->written);
    if (end > t->read.time) t->read = (struct task_end){end, (int32_t)m->actor, m->moment};
    return !early;
}

bool skews_write(struct machine *m, const struct place *p, int64_t local)
{
    if (!m->clock || m->actor < 0) return true;
    struct stick_times *t = &p->in->times[p->address / m->stick_bytes + local];
    bool early = skews_ends_later(m, &t->written) || skews_ends_later(m, &t->read);
    t->written = (struct task_end){m->clock[m->actor] + 1, (int32_t)m->actor, m->moment};
    t->read = (struct task_end){0};
    return !early;
}
