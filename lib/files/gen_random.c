/* A bare list of buffers, as a stress test for solvers: most lives short, a few long, some handed over in
 * place. About LIVE buffers are live at a time, and a buffer that would lift the load above PEAK_PERCENT of
 * the capacity is made smaller, so the pressure does not depend on the number of buffers. Integers only, for
 * equal results on all machines. */
#include "files/gen_common.h"
#include "base/rng.h"

enum { BUFFERS, SEED, CAPACITY, MEAN_LIFE, MAX_SIZE, IN_PLACE, TICKS, OPTIONS };

const struct lx_option gen_random_options[OPTIONS] = {
    [BUFFERS] = {"buffers", 1000, 1, LX_MAX_ITEMS, "buffers of the list"},
    [SEED] = {"seed", 1, 0, LX_INT_MAX, "of the random numbers"},
    [CAPACITY] = {"capacity", 0, 0, INT64_C(1) << 40, "bytes of the scratchpad; 0: the device's"},
    [MEAN_LIFE] = {"mean_life", 12, 2, 10000, "ticks that a buffer lives, on average"},
    [MAX_SIZE] = {"max_size", 0, 0, INT64_C(1) << 40,
                  "bytes of the largest buffer; 0: a sixth of the capacity"},
    [IN_PLACE] = {"in_place", 25, 0, 100,
                  "percent of the buffers that may take over another's place, where one ends"},
    [TICKS] = {"ticks", 0, 0, 1 << 30,
               "length of the program; 0: so that about 40 buffers are live at a time"},
};

enum {
    LIVE = 40,
    LONG_ONE_IN = 50,
    LONG_TIMES = 10,
    READ_FIRST_PERCENT = 8,
    OCTAVES = 7,
    PEAK_PERCENT = 175,
    MOST_USES = 8,
    MOST_LOOKED_AT = 64
};

/* Buffers by their last use: a list in a ring of ticks, long enough for any life. */
struct ending {
    int32_t next;
    int64_t size;
    bool is_read;
};

struct maker {
    struct graph_builder b;
    struct rng rng;
    const int64_t *v;
    int64_t capacity, max_size, ticks, load, now;
    int64_t longest;     /* no buffer lives longer */
    int32_t *ends_at;    /* per tick modulo `longest`: buffers with their last use then */
    struct ending *ends; /* per buffer */
};

/* Geometric with the given mean, at least two ticks: one to write and one to read. */
static int64_t draw_life(struct maker *m)
{
    int64_t mean = m->v[MEAN_LIFE], life = 2;
    if (rng_below(&m->rng, LONG_ONE_IN) == 0) mean *= LONG_TIMES;
    while (life < m->longest && mean > 2 && rng_below(&m->rng, (uint64_t)mean - 1) != 0) life++;
    return life;
}

/* Sorted distinct ticks from `start` to `last`, including both. */
static int32_t draw_uses(struct maker *m, int64_t start, int64_t last, int64_t *uses)
{
    int32_t count = 0, inner = (int32_t)rng_below(&m->rng, 4);
    uses[count++] = start;
    for (int32_t i = 1; i <= inner; i++) {
        int64_t from = uses[count - 1] + 1, to = start + (last - start) * i / (inner + 1);
        if (from <= to && to < last) uses[count++] = rng_between(&m->rng, from, to);
    }
    if (last > start) uses[count++] = last;
    return count;
}

/* Moves on to `tick`; passed ticks free their buffers' bytes. */
static void gen_random_move_on(struct maker *m, int64_t tick)
{
    for (int64_t stop = min_i64(tick, m->now + m->longest); m->now < stop; m->now++) {
        int32_t *slot = &m->ends_at[m->now % m->longest];
        for (int32_t i = *slot; i >= 0; i = m->ends[i].next) m->load -= m->ends[i].size;
        *slot = -1;
    }
    m->now = tick;
}

static bool gen_random_add_buffer(struct maker *m, int32_t i, lx_status *st)
{
    int64_t start = (int64_t)(((int128)m->ticks - 1) * i / m->v[BUFFERS]), uses[MOST_USES];
    char name[24];
    gen_random_move_on(m, start);
    int64_t life = min_i64(draw_life(m), m->ticks - start), room = m->capacity * PEAK_PERCENT / 100 - m->load;
    snprintf(name, sizeof name, "b%d", (int)i);
    struct lx_buffer b = {.name = name, .start = start, .end = start + life, .fixed = -1, .uses = uses};
    /* Each octave below the largest size is equally likely: few large buffers, many small ones. */
    int64_t high = max_i64(m->max_size >> rng_below(&m->rng, OCTAVES), 1);
    b.size = max_i64(1, min_i64(rng_between(&m->rng, high / 2 + 1, high), room));
    b.first_use_is_read = (int64_t)rng_below(&m->rng, 100) < READ_FIRST_PERCENT;
    b.use_count = draw_uses(m, b.start, b.end - 1, uses);
    int32_t parent = -1;
    if ((int64_t)rng_below(&m->rng, 100) < m->v[IN_PLACE] && !b.first_use_is_read) {
        /* Picks a buffer last used on this tick that has been read. If many end at once, looks only at the
         * latest. */
        for (int32_t k = m->ends_at[start % m->longest], seen = 0, looked = 0;
             k >= 0 && looked < MOST_LOOKED_AT; k = m->ends[k].next, looked++)
            if (m->ends[k].is_read && rng_below(&m->rng, (uint64_t)++seen) == 0) parent = k;
    }
    if (parent >= 0) {
        /* Mostly the same size, as of a pointwise op; a smaller child leaves bytes above it. */
        int64_t whole = m->ends[parent].size;
        b.size = rng_below(&m->rng, 4) ? min_i64(whole, max_i64(room, 1)) : min_i64(b.size, whole);
        b.parents = &parent;
        b.parent_count = 1;
    }
    b.spill_cost = b.size * (b.first_use_is_read ? b.use_count - 1 : b.use_count);
    int32_t *slot = &m->ends_at[(b.end - 1) % m->longest];
    m->ends[i] = (struct ending){*slot, b.size, b.use_count > 1 || b.first_use_is_read};
    *slot = i;
    m->load += b.size;
    return builder_buffer(&m->b, &b, st);
}

const struct lx_graph *gen_random(const int64_t *v, lx_status *st)
{
    struct maker m = {.rng = rng_seed((uint64_t)v[SEED]), .v = v};
    char name[80];
    snprintf(name, sizeof name, "random_%lld_%lld", (long long)v[BUFFERS], (long long)v[SEED]);
    builder_begin(&m.b, "generated", name);
    struct lx_graph *g = m.b.graph;
    g->summary = "Random buffers: most lives short, a few long, some handed over in place.";
    struct lx_list *list = builder_list(&m.b);
    list->alignment = g->device.stick_bytes;
    if (v[CAPACITY]) list->capacity = v[CAPACITY];
    m.capacity = v[CAPACITY] ? v[CAPACITY] : lx_device_usable(&g->device);
    m.max_size = v[MAX_SIZE] ? v[MAX_SIZE] : max_i64(m.capacity / 6, 1);
    /* One buffer in LONG_ONE_IN lives LONG_TIMES the mean, which lifts the mean by about a sixth. */
    m.ticks = v[TICKS] ? max_i64(v[TICKS], 2) : max_i64(v[BUFFERS] * v[MEAN_LIFE] * 7 / 6 / LIVE, 2);
    m.longest = min_i64(m.ticks, v[MEAN_LIFE] * LONG_TIMES * 4) + 1;
    m.ends_at = mem_alloc((size_t)m.longest * sizeof *m.ends_at);
    m.ends = mem_alloc((size_t)v[BUFFERS] * sizeof *m.ends);
    for (int64_t i = 0; i < m.longest; i++) m.ends_at[i] = -1;
    bool ok = true;
    for (int32_t i = 0; ok && i < v[BUFFERS]; i++) ok = gen_random_add_buffer(&m, i, st);
    mem_free(m.ends_at);
    mem_free(m.ends);
    if (ok) return builder_finish(&m.b, st);
    builder_abandon(&m.b);
    return NULL;
}
