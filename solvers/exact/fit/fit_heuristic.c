/* First fit in several orders: solves easy parts of any size.
 *
 * Each item in turn goes to the lowest gap that is free over its whole life. Orders: decreasing size,
 * decreasing area, decreasing length of life; then the best order so far is repaired: items too high move to
 * the front, and all are packed again ("squeaky wheel"). On real graphs the first order is mostly at the
 * bound.
 *
 * Gaps are found by one walk over the placed rectangles in order of base, which ends at the first gap. To
 * keep the walk short, time is cut into strips; besides the list of all rectangles there is one for each
 * pair of neighbouring strips, and an item no longer than a strip walks only the pair that holds it. At
 * 60,000 items a pass takes about a second. */
#include "exact/fit/fit_core.h"

struct rectangle {
    fit_unit base, top;
    int32_t from, to;
};

typedef VEC(struct rectangle) rectangle_list;

enum { MOST_STRIPS = 64, ITEMS_A_STRIP = 256 };

struct strips {
    rectangle_list all, pair[MOST_STRIPS];
    int32_t count, width;
};

static void insert_sorted(rectangle_list *list, struct rectangle r)
{
    VEC_RESERVE(list, list->count + 1);
    int32_t i;
    BISECT(i, 0, (int32_t)list->count, list->at[i].base <= r.base);
    memmove(list->at + i + 1, list->at + i, (list->count - (size_t)i) * sizeof *list->at);
    list->at[i] = r;
    list->count++;
}

/* The lowest base at or above `low` where the stretch of time is free for `height`. */
static fit_unit lowest_gap(const struct strips *s, int32_t from, int32_t to, fit_unit height, fit_unit low,
                           fit_unit align)
{
    const rectangle_list *list = &s->all;
    if (s->count >= 2 && to - from <= s->width) list = &s->pair[from / s->width];
    fit_unit cursor = low;
    for (size_t i = 0; i < list->count; i++) {
        const struct rectangle *r = &list->at[i];
        if (r->from >= to || from >= r->to) continue;
        if (r->base >= cursor + height) break;
        if (r->top > cursor) cursor = fit_round_up(r->top, align);
    }
    return cursor;
}

static void fit_heuristic_put(const struct fit_part *part, struct strips *s, int32_t item, fit_unit base)
{
    for (int32_t k = part->first_step[item]; k < part->first_step[item + 1]; k++) {
        const struct fit_step *step = &part->steps[k];
        struct rectangle r = {base, base + step->size, step->from, step->to};
        insert_sorted(&s->all, r);
        if (s->count < 2) continue;
        int32_t first = r.from / s->width - 1, last = (r.to - 1) / s->width;
        for (int32_t i = first < 0 ? 0 : first; i <= last; i++) insert_sorted(&s->pair[i], r);
    }
}

/* One pass. A cancelled pass counts as far too high. */
static fit_unit fit_heuristic_pack(const struct fit_part *part, struct strips *s, const int32_t *order,
                                   const struct fit_heuristic_run *run, fit_unit *base)
{
    fit_unit excess = -FIT_FAR;
    s->all.count = 0;
    for (int32_t i = 0; i < s->count; i++) s->pair[i].count = 0;
    for (int32_t i = 0, fixed = 0; i < part->count; i++) {
        if (!part->fixed[i]) continue;
        if ((fixed++ & 63) == 63 && run->stop && run->stop(run->context)) return FIT_FAR;
        base[i] = part->low[i];
        if (lowest_gap(s, part->from[i], part->to[i], part->height[i], base[i], 1) != base[i])
            excess = FIT_FAR;
        fit_heuristic_put(part, s, i, base[i]);
    }
    for (int32_t k = 0; k < part->count; k++) {
        int32_t i = order[k];
        if (run->stop && (k & 63) == 63 && run->stop(run->context)) return FIT_FAR;
        if (!part->fixed[i]) {
            base[i] = lowest_gap(s, part->from[i], part->to[i], part->height[i], 0, part->align[i]);
            fit_heuristic_put(part, s, i, base[i]);
        }
        if (base[i] - part->high[i] > excess) excess = base[i] - part->high[i];
    }
    return excess;
}

struct keyed {
    double key, second;
    int32_t tie, item;
};

ORDER(fit_heuristic_by_key, struct keyed, ORDER_DOWN(key) ORDER_DOWN(second) ORDER_UP(tie));

/* The order of a pass: by size, area or length; later the previous order with too high items in front. */
static void fit_heuristic_sort(const struct fit_part *part, int pass, fit_unit enough, const fit_unit *base,
                               struct keyed *keyed, int32_t *order)
{
    for (int32_t k = 0; k < part->count; k++) {
        int32_t i = pass < 3 ? k : order[k];
        double height = (double)part->height[i], length = part->to[i] - part->from[i];
        double key[] = {height, height * length, length};
        if (pass < 3)
            keyed[k] = (struct keyed){key[pass], key[(pass + 1) % 3], i, i};
        else
            keyed[k] = (struct keyed){base[i] - part->high[i] > enough, 0, k, i};
    }
    qsort(keyed, (size_t)part->count, sizeof *keyed, fit_heuristic_by_key);
    for (int32_t i = 0; i < part->count; i++) order[i] = keyed[i].item;
}

void fit_first_fit(const struct fit_part *part, int passes, const struct fit_heuristic_run *run,
                   fit_unit *base, fit_unit *excess)
{
    SCOPED(arena_free) struct arena memory = {0};
    size_t n = (size_t)part->count;
    struct strips s = {0};
    s.count = part->count / ITEMS_A_STRIP < MOST_STRIPS ? part->count / ITEMS_A_STRIP : MOST_STRIPS;
    if (s.count > 1) {
        s.width = (part->sections + s.count - 1) / s.count;
        s.count = (part->sections + s.width - 1) / s.width;
    }
    struct keyed *keyed = arena_array(&memory, n, sizeof *keyed);
    int32_t *order = arena_array(&memory, n, sizeof *order);
    fit_unit *trial = arena_array(&memory, n, sizeof *trial);
    *excess = FIT_FAR;
    for (int pass = 0; pass<passes && * excess> run->enough; pass++) {
        if (pass > 0 && run->stop && run->stop(run->context)) break;
        fit_heuristic_sort(part, pass, run->enough, trial, keyed, order);
        fit_unit seen = fit_heuristic_pack(part, &s, order, run, trial);
        *run->steps += part->count;
        if (seen >= *excess) continue;
        *excess = seen;
        memcpy(base, trial, n * sizeof *base);
    }
    VEC_FREE(&s.all);
    for (int32_t i = 0; i < MOST_STRIPS; i++) VEC_FREE(&s.pair[i]);
}
