/* Memory of the search state, and branching. */
#include "exact/fit/fit_search.h"

struct keyed {
    double area;
    fit_unit height;
    int32_t item;
};

ORDER(by_area, struct keyed, ORDER_DOWN(area) ORDER_DOWN(height) ORDER_UP(item));

/* Ranks stay the same in all runs: refuted sets may rely on the exchange rule, which uses ranks. */
static void rank_items(struct fit_search *s)
{
    const struct fit_part *part = s->part;
    OWNED struct keyed *keyed = mem_zeroed((size_t)part->count, sizeof *keyed);
    for (int32_t i = 0; i < part->count; i++) {
        keyed[i] = (struct keyed){0, part->height[i], i};
        for (int32_t k = part->first_step[i]; k < part->first_step[i + 1]; k++)
            keyed[i].area += (double)part->steps[k].size * (part->steps[k].to - part->steps[k].from);
    }
    qsort(keyed, (size_t)part->count, sizeof *keyed, by_area);
    for (int32_t i = 0; i < part->count; i++) s->rank[keyed[i].item] = i;
}

void fit_search_open(struct fit_search *s, const struct fit_part *part, uint64_t seed)
{
    size_t n = (size_t)part->count, m = (size_t)part->sections;
    *s = (struct fit_search){.part = part, .rng = rng_seed(seed)};
    struct arena *memory = &s->memory;
    s->low = arena_array(memory, n, sizeof *s->low);
    s->rest = arena_array(memory, n, sizeof *s->rest);
    s->waits = arena_array(memory, n, sizeof *s->waits);
    s->base = arena_array(memory, n, sizeof *s->base);
    s->room = arena_array(memory, n, sizeof *s->room);
    s->asked = arena_array(memory, n, sizeof *s->asked);
    s->explained = arena_array(memory, n, sizeof *s->explained);
    s->cursor = arena_array(memory, n, sizeof *s->cursor);
    s->placed = arena_array(memory, n, sizeof *s->placed);
    s->level = arena_array(memory, n, sizeof *s->level);
    s->placed_event = arena_array(memory, n, sizeof *s->placed_event);
    s->wait_level = arena_array(memory, n, sizeof *s->wait_level);
    s->witness = arena_array(memory, n, sizeof *s->witness);
    s->last_event = arena_array(memory, n, sizeof *s->last_event);
    s->free_items = arena_array(memory, n, sizeof *s->free_items);
    s->slot = arena_array(memory, n, sizeof *s->slot);
    s->rank = arena_array(memory, n, sizeof *s->rank);
    s->weight = arena_array(memory, n, sizeof *s->weight);
    s->bias = arena_array(memory, n, sizeof *s->bias);
    s->left = arena_array(memory, m, sizeof *s->left);
    s->lowest = arena_array(memory, m, sizeof *s->lowest);
    s->crossing = arena_array(memory, m, sizeof *s->crossing);
    s->sole = arena_array(memory, m, sizeof *s->sole);
    s->stale = arena_array(memory, m, sizeof *s->stale);
    s->is_dirty = arena_array(memory, m, sizeof *s->is_dirty);
    s->dirty = arena_array(memory, m, sizeof *s->dirty);
    /* On a path each item is placed once and postponed a few times; a deeper path ends the run. */
    s->most_depth = 8 * part->count + 1000;
    s->frames = arena_array(memory, (size_t)s->most_depth, sizeof *s->frames);
    s->waiting = arena_array(memory, (size_t)s->most_depth, sizeof *s->waiting);
    s->conflict_words = s->most_depth / 64 + 1;
    s->conflict = arena_array(memory, (size_t)s->conflict_words, sizeof *s->conflict);
    s->resolved = arena_array(memory, (size_t)s->conflict_words, sizeof *s->resolved);
    fit_nogood_open(s);
    rank_items(s);
}

void fit_search_close(struct fit_search *s)
{
    arena_free(&s->memory);
    VEC_FREE(&s->changes);
    VEC_FREE(&s->events);
    VEC_FREE(&s->reasons);
    VEC_FREE(&s->pending);
    VEC_FREE(&s->placements);
    VEC_FREE(&s->sets);
}

/* Branching affects only speed. Success hangs on the order in which items are put down, and run times are
 * heavy-tailed in it. So each run takes one of several styles, and runs are restarted early. Forced items
 * come first: if all others of a section are too high to be its lowest, the remaining one must be. Then the
 * score decides: the address at which the item would stand, mixed with how late the fullest of its sections
 * could start at all (capacity less the heights left to place there). Low and urgent items come first. Ties,
 * frequent at low addresses, go to the item whose sections have overflowed most often so far: weights persist
 * over runs and find the bottlenecks. That makes runs of the same style differ; after the first round a
 * little noise does too. The search stays within one window: a stretch of sections whose unplaced items hang
 * together. When it falls apart, the stretch with the least slack is next. Decisions in other windows are no
 * part of a conflict, so this keeps unrelated decisions off the stack. */

struct style {
    int low_share, room_share;
};

/* Small parts are hard if tight, large ones because of many wrong choices: large parts do best from the
 * ground up. */
static const struct style styles[] = {{2, 2}, {2, 2}, {4, 0}, {2, 2}, {2, 2}, {1, 3}, {2, 2}, {3, 1}};
static const struct style styles_of_large[] = {{4, 0}, {4, 0}, {4, 0}, {2, 2},
                                               {4, 0}, {4, 0}, {4, 0}, {2, 2}};

enum { STYLE_COUNT = sizeof styles / sizeof *styles, LARGE = 500 };

/* Width of the random factors on the weights in each run. */
#define NOISE 0.3

/* No unplaced neighbour could be under the item: see fit_search.c. */
static bool may_be_placed(const struct fit_search *s, int32_t j)
{
    const struct fit_part *part = s->part;
    fit_unit low = s->low[j];
    if (low != s->rest[j] && !part->fixed[j]) return false;
    for (int32_t i = part->first_near[j]; i < part->first_near[j + 1]; i++)
        if (s->low[part->near[i]] + fit_theirs(part, i) <= low) return false;
    return true;
}

void fit_branch_blame(struct fit_search *s, int32_t section)
{
    const struct fit_part *part = s->part;
    for (int32_t i = part->first_in_section[section]; i < part->first_in_section[section + 1]; i++)
        s->weight[part->in_section[i]] += 1;
}

void fit_branch_focus(struct fit_search *s)
{
    const struct fit_part *part = s->part;
    int32_t from = s->window_from, to = s->window_to, best_from = -1, best_to = -1;
    for (int pass = 0; pass < 2 && best_from < 0; pass++) {
        fit_unit least = FIT_FAR;
        for (int32_t a = from, b; a < to; a = b) {
            fit_unit slack = FIT_FAR;
            b = a;
            do {
                if (s->lowest[b] < FIT_FAR && part->capacity - s->lowest[b] - s->left[b] < slack)
                    slack = part->capacity - s->lowest[b] - s->left[b];
                b++;
            } while (b < to && s->crossing[b] > 0);
            if (slack >= least) continue;
            least = slack;
            best_from = a;
            best_to = b;
        }
        from = 0;
        to = part->sections;
    }
    s->window_from = best_from;
    s->window_to = best_to;
    s->split = false;
}

void fit_branch_prepare(struct fit_search *s, int64_t run)
{
    const struct fit_part *part = s->part;
    const struct style *style = &(part->count < LARGE ? styles : styles_of_large)[run % STYLE_COUNT];
    s->low_share = style->low_share;
    s->room_share = style->room_share;
    /* One factor for all items with the same life: among these the rank decides, as in the exchange rule. */
    uint64_t salt = rng_next(&s->rng);
    for (int32_t i = 0; i < part->count; i++) {
        struct rng life = rng_seed(salt ^ ((uint64_t)part->from[i] << 32 | (uint64_t)part->to[i]));
        s->bias[i] = run < STYLE_COUNT ? 1 : 1 + NOISE * (rng_unit(&life) - 0.5);
    }
}

/* The only unplaced item that can be the section's lowest, or -1: all others would leave too little room. */
static int32_t find_sole(const struct fit_search *s, int32_t section)
{
    const struct fit_part *part = s->part;
    fit_unit most = part->capacity - s->left[section];
    int32_t sole = -1;
    for (int32_t i = part->first_in_section[section]; i < part->first_in_section[section + 1]; i++) {
        int32_t k = part->in_section[i];
        if (s->low[k] > most) continue;
        if (sole >= 0) return -1;
        sole = k;
    }
    return sole;
}

int32_t fit_branch_choose(struct fit_search *s)
{
    const struct fit_part *part = s->part;
    int32_t best = -1;
    /* The lowest item that must be the lowest of one of its sections: postponing it fails at once, so it
     * costs no branch. */
    for (int32_t t = s->window_from; t < s->window_to; t++) {
        if (s->stale[t]) {
            s->sole[t] = find_sole(s, t);
            s->stale[t] = false;
        }
        int32_t k = s->sole[t];
        if (k >= 0 && (best < 0 || s->low[k] < s->low[best]) && may_be_placed(s, k)) best = k;
    }
    if (best >= 0) return best;
    fit_unit best_score = 0;
    double best_key = 0;
    for (int32_t f = 0; f < s->free_count; f++) {
        int32_t i = s->free_items[f];
        if (part->from[i] < s->window_from || part->from[i] >= s->window_to) continue;
        fit_unit score = s->low[i] * s->low_share - s->room[i] * s->room_share;
        if (best >= 0 && score > best_score) continue;
        double key = s->weight[i] * s->bias[i];
        if (best >= 0 && score == best_score &&
            (key < best_key || (key == best_key && s->rank[i] > s->rank[best])))
            continue;
        if (!may_be_placed(s, i)) continue;
        best = i;
        best_score = score;
        best_key = key;
    }
    return best;
}
