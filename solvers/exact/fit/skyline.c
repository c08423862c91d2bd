/* Packings from the ground up: the lowest stretch of the skyline takes the weightiest item that lies within
 * it. The skyline, the fill height of each section, is kept as stretches of equal height, in a heap by
 * height. The lowest one either takes an item or, where no unplaced item lies within it, is raised to its
 * lower neighbour and that room is lost. Room lost in a section whose load is near the goal is lost for good,
 * so an item with a fuller section weighs more; styles differ in how much more, and in whether area or size
 * counts. After a packing items above the goal weigh more, and all are packed again (a "squeaky wheel").
 * Items stand in order of their first section as leaves of a tree, whose nodes know the earliest end and the
 * greatest weight below: the weightiest item within a stretch is found by a descent that skips subtrees that
 * end too late or are too light. Stretches are named by their first section. A packing takes about a
 * microsecond for each item at 60,000 items. Items with fixed bases are not supported. */
#include "exact/fit/fit_core.h"

struct style {
    bool by_area;
    int fullness; /* exponent */
};

static const struct style styles[] = {{true, 20}, {true, 1000}, {false, 100}};

/* Styles take turns. A packing counts the nodes that its descents visit, plus PACK_NODES per item; all
 * packings together get MOST_NODES per item, at least two rounds and at most MOST_ROUNDS. */
enum { STYLE_COUNT = sizeof styles / sizeof *styles, PACK_NODES = 30, MOST_NODES = 2500, MOST_ROUNDS = 14 };

/* See skyline_pack. */
enum { FIRST_IN_FULL = 60000 };

/* Factor on the weight of items too high, for the next round. */
#define PROMOTION 16.0

/* Weights stay below this, so products of promotions stay bounded. */
#define HEAVIEST 1e200

struct leaf {
    int32_t end;   /* earliest end of the unplaced items below */
    double weight; /* their greatest weight */
};

struct skyline {
    const struct fit_part *part;
    /* A stretch [s, end[s]) is named by its first section s; `before` is the first section of its left
     * neighbour. */
    int32_t *end, *before, *slot;
    fit_unit *top;
    int32_t *heap, heap_count;
    struct leaf *leaves;
    int32_t width;
    int32_t *first;                        /* per section: the first item that starts there or later */
    double *fullness;                      /* per item: load of its fullest section over the largest load */
    double *weights[STYLE_COUNT], *weight; /* per item in each style, and in the current style */
    int64_t visits;                        /* nodes visited */
    struct arena memory;
};

static bool is_lower(const struct skyline *s, int32_t a, int32_t b)
{
    return s->top[a] != s->top[b] ? s->top[a] < s->top[b] : a < b;
}

static void skyline_sift_up(struct skyline *s, int32_t at)
{
    int32_t x = s->heap[at];
    for (; at > 0 && is_lower(s, x, s->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        s->heap[at] = s->heap[(at - 1) / 2];
        s->slot[s->heap[at]] = at;
    }
    s->heap[at] = x;
    s->slot[x] = at;
}

static void heap_remove(struct skyline *s, int32_t stretch)
{
    int32_t at = s->slot[stretch], x = s->heap[--s->heap_count];
    if (at == s->heap_count) return;
    s->heap[at] = x;
    skyline_sift_up(s, at);
    at = s->slot[x];
    for (int32_t child; (child = 2 * at + 1) < s->heap_count; at = child) {
        if (child + 1 < s->heap_count && is_lower(s, s->heap[child + 1], s->heap[child])) child++;
        if (!is_lower(s, s->heap[child], x)) break;
        s->heap[at] = s->heap[child];
        s->slot[s->heap[at]] = at;
    }
    s->heap[at] = x;
    s->slot[x] = at;
}

/* Adds a stretch to the heap and the links; merges it into the left neighbour if that is as high. */
static void add_stretch(struct skyline *s, int32_t from, int32_t to, fit_unit top)
{
    int32_t left = s->before[from];
    if (left >= 0 && s->top[left] == top)
        from = left;
    else {
        s->top[from] = top;
        s->heap[s->heap_count++] = from;
        skyline_sift_up(s, s->heap_count - 1);
    }
    s->end[from] = to;
    if (to < s->part->sections) s->before[to] = from;
}

/* Merges the stretch that begins at `from` into its left neighbour if that is as high. */
static void join_before(struct skyline *s, int32_t from)
{
    if (from >= s->part->sections || s->top[s->before[from]] != s->top[from]) return;
    heap_remove(s, from);
    s->end[s->before[from]] = s->end[from];
    if (s->end[from] < s->part->sections) s->before[s->end[from]] = s->before[from];
}

static struct leaf skyline_better_of(struct leaf a, struct leaf b)
{
    return (struct leaf){a.end < b.end ? a.end : b.end, a.weight > b.weight ? a.weight : b.weight};
}

struct wanted {
    int32_t from, to; /* items */
    int32_t end;      /* latest end allowed */
    int32_t best;
    double weight;
};

/* Puts the item on the stretch that it lies within. */
static void skyline_put_on(struct skyline *s, int32_t stretch, int32_t item, fit_unit base)
{
    const struct fit_part *part = s->part;
    int32_t end = s->end[stretch], leaf = s->width + item;
    fit_unit ground = s->top[stretch];
    s->leaves[leaf] = (struct leaf){INT32_MAX, -1};
    for (leaf /= 2; leaf > 0; leaf /= 2)
        s->leaves[leaf] = skyline_better_of(s->leaves[2 * leaf], s->leaves[2 * leaf + 1]);
    heap_remove(s, stretch);
    if (stretch < part->from[item]) add_stretch(s, stretch, part->from[item], ground);
    for (int32_t k = part->first_step[item]; k < part->first_step[item + 1]; k++)
        add_stretch(s, part->steps[k].from, part->steps[k].to, base + part->steps[k].size);
    if (part->to[item] < end) add_stretch(s, part->to[item], end, ground);
    join_before(s, end);
}

/* Visits the heavier half first: the other may then be skipped. */
static void find_within(struct skyline *s, int32_t node, int32_t left, int32_t width, struct wanted *w)
{
    const struct leaf *leaf = &s->leaves[node];
    if (left >= w->to || left + width <= w->from || leaf->end > w->end || leaf->weight <= w->weight) return;
    s->visits++;
    if (width == 1) {
        w->weight = leaf->weight;
        w->best = left;
        return;
    }
    int32_t half = width / 2;
    bool right_first = s->leaves[2 * node + 1].weight > s->leaves[2 * node].weight;
    for (int turn = 0; turn < 2; turn++) {
        bool right = right_first != (turn == 1);
        find_within(s, 2 * node + right, right ? left + half : left, half, w);
    }
}

/* One packing; far too high when cancelled. The first packing of at most FIRST_IN_FULL items ignores a
 * cancel: it takes a tenth of a second and is an answer. */
static fit_unit skyline_pack(struct skyline *s, const struct fit_heuristic_run *run, bool is_first,
                             fit_unit *base)
{
    const struct fit_part *part = s->part;
    fit_unit excess = -FIT_FAR;
    s->heap_count = 0;
    s->before[0] = -1;
    add_stretch(s, 0, part->sections, 0);
    for (int32_t i = 0; i < s->width; i++)
        s->leaves[s->width + i] =
            i < part->count ? (struct leaf){part->to[i], s->weight[i]} : (struct leaf){INT32_MAX, -1};
    for (int32_t at = s->width - 1; at > 0; at--)
        s->leaves[at] = skyline_better_of(s->leaves[2 * at], s->leaves[2 * at + 1]);
    for (int32_t placed = 0; placed < part->count;) {
        int32_t stretch = s->heap[0];
        struct wanted w = {s->first[stretch], s->first[s->end[stretch]], s->end[stretch], -1, 0};
        find_within(s, 1, 0, s->width, &w);
        if (w.best < 0) {
            /* No item lies within the stretch: raise it to its lower neighbour. */
            int32_t left = stretch > 0 ? s->before[stretch] : -1, right = s->end[stretch];
            fit_unit to = left >= 0 ? s->top[left] : FIT_FAR;
            if (right < s->part->sections && s->top[right] < to) to = s->top[right];
            heap_remove(s, stretch);
            add_stretch(s, stretch, right, to);
            join_before(s, right);
            continue;
        }
        base[w.best] = fit_round_up(s->top[stretch], part->align[w.best]);
        if (base[w.best] - part->high[w.best] > excess) excess = base[w.best] - part->high[w.best];
        skyline_put_on(s, stretch, w.best, base[w.best]);
        bool stopped = (++placed & 1023) == 0 && run->stop && run->stop(run->context);
        if (stopped && (!is_first || part->count > FIRST_IN_FULL)) return FIT_FAR;
    }
    return excess;
}

/* The load of each item's fullest section, by a tree of maxima over the sections. */
static void measure_fullness(struct skyline *s)
{
    const struct fit_part *part = s->part;
    int32_t m = part->sections;
    OWNED fit_unit *most = mem_alloc(2 * (size_t)m * sizeof *most);
    memcpy(most + m, part->total, (size_t)m * sizeof *most);
    for (int32_t t = m - 1; t > 0; t--)
        most[t] = most[2 * t] > most[2 * t + 1] ? most[2 * t] : most[2 * t + 1];
    fit_unit all = 1;
    for (int32_t t = 0; t < m; t++) all = part->total[t] > all ? part->total[t] : all;
    for (int32_t i = 0; i < part->count; i++) {
        fit_unit fullest = 0;
        for (int32_t a = part->from[i] + m, z = part->to[i] + m; a < z; a /= 2, z /= 2) {
            if (a % 2 && most[a] > fullest) fullest = most[a];
            if (z % 2 && most[z - 1] > fullest) fullest = most[z - 1];
            a += a % 2;
        }
        s->fullness[i] = (double)fullest / (double)all;
    }
}

static void skyline_open(struct skyline *s, const struct fit_part *part)
{
    size_t n = (size_t)part->count, m = (size_t)part->sections + 1;
    *s = (struct skyline){.part = part, .width = 1};
    while (s->width < part->count) s->width *= 2;
    s->end = arena_array(&s->memory, m, sizeof *s->end);
    s->before = arena_array(&s->memory, m, sizeof *s->before);
    s->slot = arena_array(&s->memory, m, sizeof *s->slot);
    s->top = arena_array(&s->memory, m, sizeof *s->top);
    s->heap = arena_array(&s->memory, m, sizeof *s->heap);
    s->leaves = arena_array(&s->memory, 2 * (size_t)s->width, sizeof *s->leaves);
    s->first = arena_array(&s->memory, m, sizeof *s->first);
    s->fullness = arena_array(&s->memory, n, sizeof *s->fullness);
    for (int k = 0; k < STYLE_COUNT; k++) s->weights[k] = arena_array(&s->memory, n, sizeof **s->weights);
    for (int32_t t = 0, i = 0; t <= part->sections; t++) {
        while (i < part->count && part->from[i] < t) i++;
        s->first[t] = i;
    }
    measure_fullness(s);
}

/* The initial weights of a style. */
static void skyline_weigh(struct skyline *s, const struct style *style)
{
    const struct fit_part *part = s->part;
    for (int32_t i = 0; i < part->count; i++) {
        double length = part->to[i] - part->from[i], full = s->fullness[i];
        double weight = (double)part->height[i] * (style->by_area ? length : sqrt(length)), power = 1;
        for (int exponent = style->fullness; exponent > 0; exponent /= 2, full *= full)
            if (exponent % 2) power *= full;
        weight *= power;
        s->weight[i] = weight > 1e-200 ? weight : 1e-200; /* never 0 */
    }
}

static void skyline_run_rounds(struct skyline *s, const struct fit_heuristic_run *run, fit_unit *trial,
                               fit_unit *base, fit_unit *excess)
{
    const struct fit_part *part = s->part;
    int64_t count = part->count;
    for (int round = 0; round < MOST_ROUNDS; round++)
        for (int k = 0; k < STYLE_COUNT; k++) {
            int64_t spent = s->visits + (round * STYLE_COUNT + k) * PACK_NODES * count;
            if (*excess <= run->enough || (round >= 2 && spent > MOST_NODES * count)) return;
            s->weight = s->weights[k];
            if (round == 0) skyline_weigh(s, &styles[k]);
            fit_unit seen = skyline_pack(s, run, *excess >= FIT_FAR, trial);
            *run->steps += count;
            if (seen >= FIT_FAR) return;
            if (seen < *excess) {
                *excess = seen;
                memcpy(base, trial, (size_t)count * sizeof *base);
            }
            for (int32_t i = 0; i < part->count; i++)
                if (trial[i] - part->high[i] > run->enough && s->weight[i] < HEAVIEST)
                    s->weight[i] *= PROMOTION;
        }
}

void fit_skyline(const struct fit_part *part, const struct fit_heuristic_run *run, fit_unit *base,
                 fit_unit *excess)
{
    struct skyline s;
    *excess = FIT_FAR;
    for (int32_t i = 0; i < part->count; i++)
        if (part->fixed[i]) return;
    skyline_open(&s, part);
    fit_unit *trial = arena_array(&s.memory, (size_t)part->count, sizeof *trial);
    skyline_run_rounds(&s, run, trial, base, excess);
    arena_free(&s.memory);
}
