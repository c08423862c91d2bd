/* Memory of the search state: all arrays of one part, in one place. */
#include "exact/fit/fit_search.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void *fit_state_array(size_t count, size_t size)
{
    return mem_zeroed(count + 1, size);
}

struct keyed {
    double area;
    fit_unit height;
    int32_t item;
};

static int by_area(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->area != y->area) return x->area > y->area ? -1 : 1;
    if (x->height != y->height) return x->height > y->height ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* Ranks stay the same in all runs: refuted sets may rest on the exchange rule, which refers to them. */
static void rank_items(struct fit_search *s)
{
    const struct fit_part *part = s->part;
    struct keyed *keyed = mem_zeroed((size_t)part->count, sizeof *keyed);
    for (int32_t i = 0; i < part->count; i++) {
        keyed[i] = (struct keyed){0, part->height[i], i};
        for (int32_t k = part->first_step[i]; k < part->first_step[i + 1]; k++)
            keyed[i].area += (double)part->steps[k].size * (part->steps[k].to - part->steps[k].from);
    }
    qsort(keyed, (size_t)part->count, sizeof *keyed, by_area);
    for (int32_t i = 0; i < part->count; i++) s->rank[keyed[i].item] = i;
    mem_free(keyed);
}

void fit_search_open(struct fit_search *s, const struct fit_part *part, uint64_t seed)
{
    size_t n = (size_t)part->count, m = (size_t)part->sections;
    *s = (struct fit_search){.part = part, .rng = rng_seed(seed)};
    s->low = fit_state_array(n, sizeof *s->low);
    s->rest = fit_state_array(n, sizeof *s->rest);
    s->waits = fit_state_array(n, sizeof *s->waits);
    s->base = fit_state_array(n, sizeof *s->base);
    s->room = fit_state_array(n, sizeof *s->room);
    s->asked = fit_state_array(n, sizeof *s->asked);
    s->explained = fit_state_array(n, sizeof *s->explained);
    s->cursor = fit_state_array(n, sizeof *s->cursor);
    s->placed = fit_state_array(n, sizeof *s->placed);
    s->level = fit_state_array(n, sizeof *s->level);
    s->placed_event = fit_state_array(n, sizeof *s->placed_event);
    s->wait_level = fit_state_array(n, sizeof *s->wait_level);
    s->witness = fit_state_array(n, sizeof *s->witness);
    s->last_event = fit_state_array(n, sizeof *s->last_event);
    s->free_items = fit_state_array(n, sizeof *s->free_items);
    s->slot = fit_state_array(n, sizeof *s->slot);
    s->rank = fit_state_array(n, sizeof *s->rank);
    s->weight = fit_state_array(n, sizeof *s->weight);
    s->bias = fit_state_array(n, sizeof *s->bias);
    s->left = fit_state_array(m, sizeof *s->left);
    s->lowest = fit_state_array(m, sizeof *s->lowest);
    s->crossing = fit_state_array(m, sizeof *s->crossing);
    s->sole = fit_state_array(m, sizeof *s->sole);
    s->stale = fit_state_array(m, sizeof *s->stale);
    s->is_dirty = fit_state_array(m, sizeof *s->is_dirty);
    s->dirty = fit_state_array(m, sizeof *s->dirty);
    /* Each item is placed once and postponed a few times on a path; a deeper one ends the run. */
    s->most_depth = 8 * part->count + 1000;
    s->frames = fit_state_array((size_t)s->most_depth, sizeof *s->frames);
    s->waiting = fit_state_array((size_t)s->most_depth, sizeof *s->waiting);
    s->conflict_words = s->most_depth / 64 + 1;
    s->conflict = fit_state_array((size_t)s->conflict_words, sizeof *s->conflict);
    s->resolved = fit_state_array((size_t)s->conflict_words, sizeof *s->resolved);
    fit_nogood_open(s);
    rank_items(s);
}

void fit_search_close(struct fit_search *s)
{
    void *all[] = {s->low,        s->rest,     s->waits,        s->base,       s->room,    s->asked,
                   s->placed,     s->level,    s->placed_event, s->wait_level, s->witness, s->last_event,
                   s->slot,       s->rank,     s->weight,       s->bias,       s->left,    s->lowest,
                   s->crossing,   s->is_dirty, s->dirty,        s->frames,     s->waiting, s->conflict,
                   s->free_items, s->resolved, s->bucket,       s->explained,  s->cursor,  s->sole,
                   s->stale};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mem_free(all[i]);
    VEC_FREE(&s->changes);
    VEC_FREE(&s->events);
    VEC_FREE(&s->reasons);
    VEC_FREE(&s->pending);
    VEC_FREE(&s->placements);
    VEC_FREE(&s->sets);
}
