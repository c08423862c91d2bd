/* The exact search of a pile.
 *
 * Normal form: in some solution no item could be moved to a lower address with all others where they are (moving
 * one down lowers the sum of addresses, so this ends). Only such solutions are looked for. low[i] is a free address
 * below which i cannot be. A node picks an item i below which no unplaced partner finds room (the one with the
 * least low is such) and splits:
 *   placed   i is at low[i]; every unplaced partner lies above it;
 *   waiting  i is not there. Then it is above, and because it could not move down to low[i], some partner k lies
 *            across that address, and i on top of k. So low[i] rises to the least end of an unplaced partner that
 *            can still lie across; if there is none, and no placed one does, the node is dead.
 * Equal items (twins) may be exchanged, so that the later one is never below the earlier.
 *
 * A clique is dead when for some t its unplaced members that are at t or above have no room below the capacity. */
#include "exact/general/pile_search.h"
#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void pile_search_set(struct pile_search *s, int64_t *where, int64_t value)
{
    VEC_PUSH(&s->trail, (struct pile_change){where, *where});
    *where = value;
}

static void pile_search_undo(struct pile_search *s, size_t to)
{
    while (s->trail.count > to) {
        struct pile_change *c = &s->trail.at[--s->trail.count];
        *c->where = c->old;
    }
}

static void pile_search_touch(struct pile_search *s, int32_t item)
{
    for (int32_t k = s->first_in[item]; k < s->first_in[item + 1]; k++)
        if (!s->dirty[s->in[k]]) {
            s->dirty[s->in[k]] = true;
            VEC_PUSH(&s->queue, s->in[k]);
        }
}

static bool raise(struct pile_search *s, int32_t i, int64_t to)
{
    if (to <= s->low[i]) return true;
    to = pile_free_from(s->p, i, to);
    if (to > s->p->capacity - s->p->items[i].size) return false;
    pile_search_touch(s, i);
    pile_search_set(s, &s->low[i], to);
    return true;
}

/* --- Waiting items and twins. --- */

static bool find_support(struct pile_search *s, int32_t i)
{
    const struct pile_item *it = &s->p->items[i];
    int64_t at = s->waits[i], least = INT64_MAX;
    for (int32_t k = 0; k < it->near_count; k++) {
        const struct pile_near *n = &s->p->near[it->first_near + k];
        int64_t base = s->base[n->item];
        if (base < 0 && s->low[n->item] < at + n->mine) least = min_i64(least, s->low[n->item] + n->theirs);
        if (base >= 0 && base < at + n->mine && at < base + n->theirs) {
            pile_search_set(s, &s->waits[i], -1);
            return true;
        }
    }
    return least < INT64_MAX && raise(s, i, least);
}

/* Until nothing rises any more. */
static bool pile_search_settle(struct pile_search *s)
{
    for (bool again = true; again;) {
        size_t before = s->trail.count;
        for (int32_t i = 0; i < s->p->count; i++) {
            if (s->base[i] >= 0) continue;
            int32_t first = s->twin[i];
            if ((!(first < 0) && !raise(s, i, s->base[first] >= 0 ? s->base[first] : s->low[first])) ||
                (s->waits[i] >= 0 && !find_support(s, i)))
                return false;
        }
        again = s->trail.count > before;
    }
    return true;
}

/* --- Cliques. --- */

static bool clique_holds(struct pile_search *s, int32_t clique)
{
    const int32_t *members = s->cliques->members;
    int64_t least = INT64_MAX, sum = 0;
    for (int32_t k = s->cliques->first[clique]; k < s->cliques->first[clique + 1]; k++)
        if (s->base[members[k]] < 0) {
            least = min_i64(least, s->low[members[k]]);
            sum += s->weight[members[k]];
        }
    if (sum == 0) return true;
    if (least + sum > s->p->capacity) return false;
    /* The same for those above, by rising addresses. */
    while (least < INT64_MAX) {
        int64_t next = INT64_MAX, above = 0;
        for (int32_t k = s->cliques->first[clique]; k < s->cliques->first[clique + 1]; k++) {
            int64_t low = s->low[members[k]];
            if (s->base[members[k]] >= 0 || low <= least) continue;
            above += s->weight[members[k]];
            next = min_i64(next, low);
        }
        if (next < INT64_MAX && next + above > s->p->capacity) return false;
        least = next;
    }
    return true;
}

/* --- Branching. --- */

static bool is_lowest(const struct pile_search *s, int32_t i)
{
    const struct pile_item *it = &s->p->items[i];
    if (s->twin[i] >= 0 && s->base[s->twin[i]] < 0) return false;
    for (int32_t k = 0; k < it->near_count; k++) {
        const struct pile_near *n = &s->p->near[it->first_near + k];
        if (s->base[n->item] < 0 && s->low[n->item] + n->theirs <= s->low[i]) return false;
    }
    return true;
}

static bool pile_search_place(struct pile_search *s, int32_t i)
{
    const struct pile_item *it = &s->p->items[i];
    pile_search_touch(s, i);
    pile_search_set(s, &s->base[i], s->low[i]);
    for (int32_t k = 0; k < it->near_count; k++) {
        const struct pile_near *n = &s->p->near[it->first_near + k];
        if (s->base[n->item] < 0 && !raise(s, n->item, s->low[i] + n->mine)) return false;
    }
    return true;
}

static enum fit_result pile_search(struct pile_search *s, int depth);

static enum fit_result descend(struct pile_search *s, bool alive, int depth)
{
    alive = alive && pile_search_settle(s);
    bool hold = true;
    for (size_t k = 0; k < s->queue.count; k++) {
        if (hold) hold = clique_holds(s, s->queue.at[k]);
        s->dirty[s->queue.at[k]] = false;
    }
    s->queue.count = 0;
    alive = hold && alive;
    return alive ? pile_search(s, depth + 1) : FIT_NO;
}

enum { MOST_DEPTH = 20000 };

static enum fit_result pile_search(struct pile_search *s, int depth)
{
    /* Rules: the lowest first; or where an item has the least room left above it. */
    int32_t i = -1;
    double best_key = 0;
    for (int32_t k = 0; k < s->p->count; k++) {
        if (s->base[k] >= 0) continue;
        double low = (double)s->low[k] / (double)max_i64(s->p->capacity, 1);
        double key = s->rule == 0   ? 4 * low - s->rank[k]
                     : s->rule == 1 ? low - s->rank[k]
                                    : 1000 * low - s->rank[k];
        if ((i < 0 || key < best_key) && is_lowest(s, k)) {
            i = k;
            best_key = key;
        }
    }
    if (i < 0) return FIT_YES;
    if (++s->nodes > s->most_nodes || depth > MOST_DEPTH) return FIT_LIMIT;
    if (s->nodes % 256 == 0 && s->stop && s->stop(s->context)) return FIT_LIMIT;
    size_t mark = s->trail.count;
    enum fit_result result = descend(s, pile_search_place(s, i), depth);
    if (result != FIT_NO) return result;
    pile_search_undo(s, mark);
    s->rank[i] += 0.02;
    pile_search_set(s, &s->waits[i], s->low[i]);
    result = descend(s, true, depth);
    if (result == FIT_NO) pile_search_undo(s, mark);
    return result;
}

enum fit_result pile_search_run(struct pile_search *s, int rule, uint64_t seed, int64_t nodes)
{
    const struct pile *p = s->p;
    s->rng = rng_seed(seed);
    s->rule = rule;
    s->most_nodes = s->nodes + nodes;
    s->trail.count = s->queue.count = 0;
    memset(s->dirty, 0, (size_t)s->cliques->count);
    bool alive = true;
    int64_t heaviest = 1;
    for (int32_t q = 0; q < s->cliques->count; q++) heaviest = max_i64(heaviest, s->left[q]);
    for (int32_t i = 0; i < p->count; i++) {
        int64_t fullest = 0;
        s->base[i] = s->waits[i] = -1;
        s->low[i] = pile_free_from(p, i, 0);
        alive &= s->low[i] <= p->capacity - p->items[i].size;
        for (int32_t k = s->first_in[i]; k < s->first_in[i + 1]; k++)
            fullest = max_i64(fullest, s->left[s->in[k]]);
        s->rank[i] = (double)fullest / (double)heaviest +
                     0.5 * (double)p->items[i].size / (double)max_i64(p->capacity, 1) +
                     (seed ? 0.3 * rng_unit(&s->rng) : 0);
        pile_search_touch(s, i);
    }
    return descend(s, alive, 0);
}

/* --- Memory. --- */

/* Equal to an earlier item, with equal partners but for each other. */
static bool pile_search_is_twin(const struct pile *p, int32_t a, int32_t b)
{
    const struct pile_item *x = &p->items[a], *y = &p->items[b];
    if (x->size != y->size || x->align != y->align || x->ban_count != y->ban_count) return false;
    for (int32_t k = 0; k < x->ban_count; k++)
        if (p->bans[x->first_ban + k].from != p->bans[y->first_ban + k].from ||
            p->bans[x->first_ban + k].to != p->bans[y->first_ban + k].to)
            return false;
    int32_t i = 0, k = 0;
    for (;; i++, k++) {
        const struct pile_near *n = &p->near[x->first_near + i], *m = &p->near[y->first_near + k];
        if (i < x->near_count && n->item == b) n++, i++;
        if (k < y->near_count && m->item == a) m++, k++;
        if (i >= x->near_count || k >= y->near_count) return i >= x->near_count && k >= y->near_count;
        if (n->item != m->item || n->mine != m->mine || n->theirs != m->theirs) return false;
    }
}

static void find_memberships(struct pile_search *s)
{
    const struct cliques *c = s->cliques;
    int32_t n = s->p->count;
    for (int32_t k = 0; k < c->used; k++) s->first_in[c->members[k] + 1]++;
    for (int32_t i = 0; i < n; i++) s->first_in[i + 1] += s->first_in[i];
    for (int32_t q = c->count - 1; q >= 0; q--)
        for (int32_t k = c->first[q]; k < c->first[q + 1]; k++) {
            s->in[--s->first_in[c->members[k] + 1]] = q;
            s->left[q] += s->weight[c->members[k]];
        }
    for (int32_t i = 0; i < n; i++) s->first_in[i] = s->first_in[i + 1];
    s->first_in[n] = c->used;
}

int64_t pile_weight(const struct pile *p, int32_t i)
{
    int64_t weight = p->items[i].size;
    for (int32_t k = 0; k < p->items[i].near_count; k++)
        weight = min_i64(weight, p->near[p->items[i].first_near + k].mine);
    return weight;
}

void pile_search_open(struct pile_search *s, const struct pile *p, const struct cliques *cliques)
{
    *s = (struct pile_search){.p = p, .cliques = cliques};
    size_t n = (size_t)p->count + 2, q = (size_t)cliques->count + 1;
    s->weight = mem_zeroed(n, sizeof *s->weight);
    s->low = mem_zeroed(n, sizeof *s->low);
    s->base = mem_zeroed(n, sizeof *s->base);
    s->waits = mem_zeroed(n, sizeof *s->waits);
    s->left = mem_zeroed(q, sizeof *s->left);
    s->rank = mem_zeroed(n, sizeof *s->rank);
    s->twin = mem_zeroed(n, sizeof *s->twin);
    s->first_in = mem_zeroed(n, sizeof *s->first_in);
    s->in = mem_zeroed((size_t)cliques->used + 1, sizeof *s->in);
    s->dirty = mem_zeroed(q, sizeof *s->dirty);
    for (int32_t i = 0; i < p->count; i++) s->weight[i] = pile_weight(p, i);
    find_memberships(s);
    for (int32_t i = 0; i < s->p->count; i++) {
        s->twin[i] = -1;
        for (int32_t k = i - 1; k >= 0 && s->twin[i] < 0; k--)
            if (pile_search_is_twin(s->p, k, i)) s->twin[i] = k;
    }
}

void pile_search_close(struct pile_search *s)
{
    mem_free(s->weight);
    mem_free(s->low);
    mem_free(s->base);
    mem_free(s->waits);
    mem_free(s->left);
    mem_free(s->rank);
    mem_free(s->twin);
    mem_free(s->first_in);
    mem_free(s->in);
    mem_free(s->dirty);
    VEC_FREE(&s->queue);
    VEC_FREE(&s->trail);
}
