/* A list whose least height is known: a rectangle of `ticks` by `capacity` is cut into buffers, by straight cuts
 * and by pinwheels of five, which no straight cut takes apart. Every tick is full, so that the load equals the
 * capacity; `drop` leaves buffers out. With `answer` every buffer is fixed where it was cut. */
#include "files/gen_common.h"
#include "base/rng.h"

enum { BUFFERS, SEED, CAPACITY, TICKS, DROP, ANSWER, OPTIONS };

const struct lx_option gen_cut_options[OPTIONS] = {
    [BUFFERS] = {"buffers", 100, 1, LX_MAX_ITEMS, "buffers before some are left out"},
    [SEED] = {"seed", 1, 0, LX_INT_MAX, "of the random numbers"},
    [CAPACITY] = {"capacity", 0, 0, INT64_C(1) << 40, "bytes of the scratchpad; 0: the device's"},
    [TICKS] = {"ticks", 0, 0, 1 << 30,
               "length of the program; 0: so that about 12 buffers are live at a time"},
    [DROP] = {"drop", 0, 0, 90, "percent of the buffers that are left out"},
    [ANSWER] = {"answer", 0, 0, 1, "1: every buffer is fixed to its address in the cut rectangle"},
};

enum { LIVE_OF_CUT = 12, TICKS_OF_BUFFER = 6, LOOKS = 4, PINWHEEL_ONE_IN = 4, MOST_MISSES = 1000 };

/* In ticks, and in alignment units of addresses. */
struct piece {
    int64_t start, end, low, high;
    uint64_t key; /* their order among those that start together, which must not give the answer away */
};

struct cutter {
    VEC(struct piece) pieces;
    struct rng rng;
};

/* Strictly between the ends, away from them where there is room. */
static int64_t cut_between(struct cutter *c, int64_t from, int64_t to)
{
    int64_t margin = (to - from) / 5;
    return rng_between(&c->rng, from + (margin ? margin : 1), to - (margin ? margin : 1));
}

/* The largest of a few pieces, so that no piece stays far larger than the others. */
static struct piece *cut_choose(struct cutter *c)
{
    struct piece *best = NULL;
    for (int i = 0; i < LOOKS; i++) {
        struct piece *p = &c->pieces.at[rng_below(&c->rng, c->pieces.count)];
        double area = (double)(p->end - p->start) * (double)(p->high - p->low);
        if (!best || area > (double)(best->end - best->start) * (double)(best->high - best->low)) best = p;
    }
    return best;
}

/* Four arms around a middle. */
static void cut_pinwheel(struct cutter *c, struct piece *p)
{
    struct piece w = *p;
    int64_t t = rng_between(&c->rng, w.start + 1, w.end - 2), u = rng_between(&c->rng, t + 1, w.end - 1),
            a = rng_between(&c->rng, w.low + 1, w.high - 2), b = rng_between(&c->rng, a + 1, w.high - 1);
    *p = (struct piece){t, u, a, b, 0};
    VEC_PUSH(&c->pieces, (struct piece){w.start, u, w.low, a, 0});
    VEC_PUSH(&c->pieces, (struct piece){u, w.end, w.low, b, 0});
    VEC_PUSH(&c->pieces, (struct piece){t, w.end, b, w.high, 0});
    VEC_PUSH(&c->pieces, (struct piece){w.start, t, a, w.high, 0});
}

static bool cut_once(struct cutter *c, int64_t left)
{
    struct piece *p = cut_choose(c), rest = *p;
    int64_t width = p->end - p->start, height = p->high - p->low;
    if (left >= 4 && width > 2 && height > 2 && rng_below(&c->rng, PINWHEEL_ONE_IN) == 0)
        return cut_pinwheel(c, p), true;
    bool in_time = rng_below(&c->rng, 2) ? width > 1 : height < 2;
    if (width < 2 && height < 2) return false;
    if (in_time)
        p->end = rest.start = cut_between(c, p->start, p->end);
    else
        p->high = rest.low = cut_between(c, p->low, p->high);
    VEC_PUSH(&c->pieces, rest);
    return true;
}

static int pieces_by_start(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    int by_start = (x->start > y->start) - (x->start < y->start);
    return by_start ? by_start : (x->key > y->key) - (x->key < y->key);
}

static bool cut_add_buffers(struct cutter *c, struct graph_builder *b, const int64_t *v, int64_t unit,
                            lx_status *st)
{
    for (size_t i = 0; i < c->pieces.count; i++) {
        const struct piece *p = &c->pieces.at[i];
        int64_t uses[] = {p->start, p->end - 1};
        char name[24];
        snprintf(name, sizeof name, "b%zu", i);
        struct lx_buffer buffer = {.name = name,
                                   .size = (p->high - p->low) * unit,
                                   .start = p->start,
                                   .end = p->end,
                                   .uses = uses,
                                   .use_count = p->end - p->start > 1 ? 2 : 1,
                                   .fixed = v[ANSWER] ? p->low * unit : -1};
        buffer.spill_cost = buffer.size * buffer.use_count;
        if ((int64_t)rng_below(&c->rng, 100) < v[DROP]) continue;
        if (!builder_buffer(b, &buffer, st)) return false;
    }
    return true;
}

const struct lx_graph *gen_cut(const int64_t *v, lx_status *st)
{
    struct graph_builder b;
    struct cutter c = {.rng = rng_seed((uint64_t)v[SEED])};
    char name[80];
    snprintf(name, sizeof name, "cut_%lld_%lld", (long long)v[BUFFERS], (long long)v[SEED]);
    builder_begin(&b, "generated", name);
    struct lx_graph *g = b.graph;
    g->summary = "A rectangle cut into buffers: they fit without a gap.";
    struct lx_list *list = builder_list(&b);
    list->alignment = g->device.stick_bytes;
    int64_t units = (v[CAPACITY] ? v[CAPACITY] : lx_device_usable(&g->device)) / list->alignment, misses = 0;
    list->capacity = units * list->alignment;
    VEC_PUSH(
        &c.pieces,
        (struct piece){0, v[TICKS] ? v[TICKS] : v[BUFFERS] * TICKS_OF_BUFFER / LIVE_OF_CUT + 1, 0, units, 0});
    while ((int64_t)c.pieces.count < v[BUFFERS] && misses < MOST_MISSES)
        misses = cut_once(&c, v[BUFFERS] - (int64_t)c.pieces.count) ? 0 : misses + 1;
    bool ok = misses < MOST_MISSES && units > 0;
    if (!ok)
        status_set(
            st, LX_E_USAGE,
            "a rectangle of %lld ticks by %lld times %lld B is too small for %lld buffers; raise ticks or "
            "capacity",
            (long long)c.pieces.at[0].end, (long long)units, (long long)list->alignment,
            (long long)v[BUFFERS]);
    for (size_t i = 0; i < c.pieces.count; i++) c.pieces.at[i].key = rng_next(&c.rng);
    qsort(c.pieces.at, c.pieces.count, sizeof *c.pieces.at, pieces_by_start);
    ok = ok && cut_add_buffers(&c, &b, v, list->alignment, st);
    VEC_FREE(&c.pieces);
    if (ok) return builder_finish(&b, st);
    builder_abandon(&b);
    return NULL;
}
