/* Solves a pile: independent parts one by one, each first by first fit in several orders, then by searches
 * from the root with varying rules and growing limits, since a lucky order is often a thousand times faster
 * than an unlucky one. */
#include "exact/general/pile.h"
#include "base/rng.h"

/* --- The exact search of a pile.
 *
 * Normal form: in some solution no single item can move to a lower address (a move down lowers the sum of
 * addresses, so moving ends). The search visits only such solutions. low[i] is a free address below which i
 * cannot be. A node picks an item i such that no unplaced partner fits below low[i] (the item with the least
 * low is one) and splits:
 *   placed   i is at low[i]; every unplaced partner lies above i;
 *   waiting  i is higher. As i could not move down to low[i], some partner k lies across that address, and i
 *            on top of k. So low[i] rises to the least end of an unplaced partner that can still lie across;
 *            if there is none, and no placed one does, the node is dead.
 * Equal items (twins) may be exchanged, so that the later one is never below the earlier.
 *
 * A clique is dead when for some t its unplaced members that are at t or above have no room below the
 * capacity. --- */

struct pile_change {
    int64_t *where, old;
};

struct pile_search {
    const struct pile *p;
    const struct cliques *cliques;
    int64_t *weight; /* per item in a clique: the least gap it needs below a partner */
    int64_t *low;    /* the address is at least this */
    int64_t *base;   /* the address, or -1 */
    int64_t *waits;  /* the free address that it skips, or -1: a partner will lie across it */
    int64_t *left;   /* per clique: the weight of its unplaced items */
    double *rank;
    int32_t *twin; /* an equal item that comes first, or -1 */
    int32_t *first_in, *in;
    bool *dirty;
    VEC(int32_t) queue;
    VEC(struct pile_change) trail;
    struct rng rng;
    int rule;
    int64_t nodes, most_nodes;
    bool (*stop)(void *context);
    void *context;
    struct arena memory;
};

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

/* Repeats until nothing rises. */
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
    /* The same for items above, by rising addresses. */
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
    /* The three rules weigh the lowest address against the rank of the item. */
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

/* Searches from the root; at most `nodes` nodes. */
static enum fit_result pile_search_run(struct pile_search *s, int rule, uint64_t seed, int64_t nodes)
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

/* The weight of an item in a clique: the least room it needs below a partner. */
static int64_t pile_weight(const struct pile *p, int32_t i)
{
    int64_t weight = p->items[i].size;
    for (int32_t k = 0; k < p->items[i].near_count; k++)
        weight = min_i64(weight, p->near[p->items[i].first_near + k].mine);
    return weight;
}

static void pile_search_open(struct pile_search *s, const struct pile *p, const struct cliques *cliques)
{
    *s = (struct pile_search){.p = p, .cliques = cliques};
    size_t n = (size_t)p->count + 2, q = (size_t)cliques->count + 1;
    s->weight = arena_array(&s->memory, n, sizeof *s->weight);
    s->low = arena_array(&s->memory, n, sizeof *s->low);
    s->base = arena_array(&s->memory, n, sizeof *s->base);
    s->waits = arena_array(&s->memory, n, sizeof *s->waits);
    s->left = arena_array(&s->memory, q, sizeof *s->left);
    s->rank = arena_array(&s->memory, n, sizeof *s->rank);
    s->twin = arena_array(&s->memory, n, sizeof *s->twin);
    s->first_in = arena_array(&s->memory, n, sizeof *s->first_in);
    s->in = arena_array(&s->memory, (size_t)cliques->used + 1, sizeof *s->in);
    s->dirty = arena_array(&s->memory, q, sizeof *s->dirty);
    for (int32_t i = 0; i < p->count; i++) s->weight[i] = pile_weight(p, i);

    /* Lists the cliques of each item; sums the weight of each clique. */
    for (int32_t k = 0; k < cliques->used; k++) s->first_in[cliques->members[k] + 1]++;
    for (int32_t i = 0; i < p->count; i++) s->first_in[i + 1] += s->first_in[i];
    for (int32_t c = cliques->count - 1; c >= 0; c--)
        for (int32_t k = cliques->first[c]; k < cliques->first[c + 1]; k++) {
            s->in[--s->first_in[cliques->members[k] + 1]] = c;
            s->left[c] += s->weight[cliques->members[k]];
        }
    for (int32_t i = 0; i < p->count; i++) s->first_in[i] = s->first_in[i + 1];
    s->first_in[p->count] = cliques->used;
    for (int32_t i = 0; i < s->p->count; i++) {
        s->twin[i] = -1;
        for (int32_t k = i - 1; k >= 0 && s->twin[i] < 0; k--)
            if (pile_search_is_twin(s->p, k, i)) s->twin[i] = k;
    }
}

enum { FIRST_FIT_PASSES = 24, CLIQUE_STEPS = 2000, RULES = 3, FIRST_NODES = 400 };

int64_t pile_cliques(const struct pile *p, int64_t steps, struct cliques *out)
{
    struct clique_graph g;
    int64_t heaviest = 0;
    clique_graph_open(&g, p->count);
    for (int32_t i = 0; i < p->count; i++) {
        g.weight[i] = pile_weight(p, i);
        for (int32_t k = 0; k < p->items[i].near_count; k++)
            clique_graph_join(&g, i, p->near[p->items[i].first_near + k].item);
    }
    cliques_find(&g, steps, out);
    for (int32_t q = 0; q < out->count; q++) {
        int64_t sum = 0;
        for (int32_t k = out->first[q]; k < out->first[q + 1]; k++) sum += g.weight[out->members[k]];
        heaviest = max_i64(heaviest, sum);
    }
    clique_graph_close(&g);
    return heaviest;
}

/* --- First fit. --- */

struct ranked {
    double key;
    int32_t item;
};

ORDER(pile_compare_ranked, struct ranked, ORDER_DOWN(key) ORDER_UP(item));

/* First fit in `passes` orders; returns the end of the lowest pile found, or INT64_MAX if an item never had a
 * place below the capacity. */
static int64_t pile_first_fit(const struct pile *p, int passes, uint64_t seed, int64_t *address)
{
    SCOPED(arena_free) struct arena memory = {0};
    size_t n = (size_t)p->count + 1;
    struct ranked *order = arena_array(&memory, n, sizeof *order);
    struct byte_range *taken = arena_array(&memory, n, sizeof *taken);
    int64_t *trial = arena_array(&memory, n, sizeof *trial), best = INT64_MAX;
    struct rng rng = rng_seed(seed);
    for (int pass = 0; pass < passes; pass++) {
        int64_t end = 0;
        for (int32_t i = 0; i < p->count; i++) {
            double size = (double)p->items[i].size, degree = p->items[i].near_count;
            double keys[] = {size, size * (degree + 1), degree, size * size * (degree + 1)};
            order[i] = (struct ranked){keys[pass % 4] * (pass < 4 ? 1 : 0.6 + 0.8 * rng_unit(&rng)), i};
            trial[i] = -1;
        }
        qsort(order, (size_t)p->count, sizeof *order, pile_compare_ranked);
        for (int32_t k = 0; k < p->count && end < best && end <= p->capacity; k++) {
            /* The least free address among the placed partners. */
            int32_t i = order[k].item;
            const struct pile_item *it = &p->items[i];
            size_t count = 0;
            for (int32_t e = 0; e < it->near_count; e++) {
                const struct pile_near *m = &p->near[it->first_near + e];
                int64_t at = trial[m->item];
                if (at >= 0) taken[count++] = (struct byte_range){at - m->mine, at + m->theirs};
            }
            range_sort(taken, count);
            trial[i] = pile_free_from(p, i, 0);
            for (size_t e = 0; e < count; e++)
                if (taken[e].from < trial[i] && trial[i] < taken[e].to)
                    trial[i] = pile_free_from(p, i, taken[e].to);
            end = max_i64(end, trial[i] + p->items[i].size);
        }
        if (end >= best || end > p->capacity) continue;
        best = end;
        memcpy(address, trial, (size_t)p->count * sizeof *trial);
    }
    return best;
}

/* --- Parts. --- */

static enum fit_result search_part(const struct pile *p, const struct fit_limits *limits, int64_t *address,
                                   int64_t *nodes)
{
    SCOPED(cliques_free) struct cliques cliques;
    struct pile_search s;
    int64_t heaviest = pile_cliques(p, CLIQUE_STEPS, &cliques), spent = 0, budget = FIRST_NODES;
    enum fit_result result = heaviest > p->capacity ? FIT_NO : FIT_LIMIT;
    if (result == FIT_LIMIT) pile_search_open(&s, p, &cliques);
    bool opened = heaviest <= p->capacity;
    if (opened) s.stop = limits->stop, s.context = limits->context;
    for (int run = 0; result == FIT_LIMIT && (!limits->nodes || spent < limits->nodes); run++) {
        if (limits->stop && limits->stop(limits->context)) break;
        int64_t most = limits->nodes ? min_i64(budget, limits->nodes - spent) : budget, before = s.nodes;
        result = pile_search_run(&s, run % RULES, run < RULES ? 0 : limits->seed + (uint64_t)run, most);
        spent += s.nodes - before;
        if (run % RULES == RULES - 1) budget += budget / 2;
    }
    if (result == FIT_YES) memcpy(address, s.base, (size_t)p->count * sizeof *address);
    if (opened) {
        arena_free(&s.memory);
        VEC_FREE(&s.queue);
        VEC_FREE(&s.trail);
    }
    *nodes += spent + p->count;
    return result;
}

/* Solves the part with these items, which contains all their partners. */
static enum fit_result solve_members(const struct pile *p, int32_t *members, int32_t n, int32_t *number,
                                     const struct fit_limits *limits, int64_t *address, int64_t *nodes)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct pile part = {.capacity = p->capacity, .count = n, .bans = p->bans};
    size_t near = 0;
    for (int32_t k = 0; k < n; k++) near += (size_t)p->items[members[k]].near_count;
    part.items = arena_array(&memory, (size_t)n + 1, sizeof *part.items);
    part.near = arena_array(&memory, near + 1, sizeof *part.near);
    int64_t *found = arena_array(&memory, (size_t)n + 1, sizeof *found);
    int32_t used = 0;
    qsort(members, (size_t)n, sizeof *members, order_i32);
    for (int32_t k = 0; k < n; k++) number[members[k]] = k;
    for (int32_t k = 0; k < n; k++) {
        part.items[k] = p->items[members[k]];
        part.items[k].first_near = used;
        for (int32_t e = 0; e < part.items[k].near_count; e++, used++) {
            part.near[used] = p->near[p->items[members[k]].first_near + e];
            part.near[used].item = number[part.near[used].item];
        }
    }
    *nodes += n;
    enum fit_result result = FIT_YES;
    if (pile_first_fit(&part, FIRST_FIT_PASSES, limits->seed, found) > part.capacity)
        result = search_part(&part, limits, found, nodes);
    for (int32_t k = 0; result == FIT_YES && k < n; k++) address[members[k]] = found[k];
    return result;
}

/* An unsolved part does not prevent a later one from being proved impossible. */
enum fit_result pile_solve(const struct pile *p, const struct fit_limits *limits, int64_t *address,
                           int64_t *nodes)
{
    SCOPED(arena_free) struct arena memory = {0};
    size_t n = (size_t)p->count + 1;
    int32_t *part = arena_array(&memory, n, sizeof *part),
            *members = arena_array(&memory, n, sizeof *members),
            *number = arena_array(&memory, n, sizeof *number);
    enum fit_result result = FIT_YES;
    for (int32_t i = 0; i < p->count && (result == FIT_YES || result == FIT_LIMIT); i++) {
        if (part[i]) continue;
        /* Marks all items connected to i in `part`. */
        int32_t mark = i + 1, count = 0;
        part[i] = mark;
        members[count++] = i;
        for (int32_t k = 0; k < count; k++) {
            const struct pile_item *it = &p->items[members[k]];
            for (int32_t e = 0; e < it->near_count; e++) {
                int32_t other = p->near[it->first_near + e].item;
                if (part[other]) continue;
                part[other] = mark;
                members[count++] = other;
            }
        }
        enum fit_result one = solve_members(p, members, count, number, limits, address, nodes);
        if (one != FIT_YES) result = one;
    }
    return result;
}
