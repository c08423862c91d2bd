/* Solves a pile: parts that exclude nothing of each other one by one, each first by first fit in several
 * orders, then by searches from the root with other rules and growing limits, since a lucky order is
 * often a thousand times faster than an unlucky one. */
#include "exact/general/pile_search.h"
#include "base/arena.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_FIT_PASSES = 24, CLIQUE_STEPS = 2000, RULES = 3, FIRST_NODES = 400 };

void pile_cliques(const struct pile *p, int64_t steps, struct cliques *out, int64_t *heaviest)
{
    struct clique_graph g;
    *heaviest = 0;
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
        *heaviest = max_i64(*heaviest, sum);
    }
    clique_graph_close(&g);
}

/* --- First fit. --- */

struct ranked {
    double key;
    int32_t item;
};

ORDER(pile_compare_ranked, struct ranked, ORDER_DOWN(key) ORDER_UP(item));

ORDER(compare_from, struct span, ORDER_UP(from));

/* The least free address of the item among its placed partners. */
static int64_t first_gap(const struct pile *p, int32_t i, const int64_t *address, struct span *taken)
{
    const struct pile_item *it = &p->items[i];
    int32_t n = 0;
    for (int32_t k = 0; k < it->near_count; k++) {
        const struct pile_near *m = &p->near[it->first_near + k];
        if (address[m->item] >= 0)
            taken[n++] = (struct span){address[m->item] - m->mine, address[m->item] + m->theirs};
    }
    qsort(taken, (size_t)n, sizeof *taken, compare_from);
    int64_t at = pile_free_from(p, i, 0);
    for (int32_t k = 0; k < n; k++)
        if (taken[k].from < at && at < taken[k].to) at = pile_free_from(p, i, taken[k].to);
    return at;
}

int64_t pile_first_fit(const struct pile *p, int passes, uint64_t seed, int64_t *address)
{
    struct arena memory = {0};
    size_t n = (size_t)p->count + 1;
    struct ranked *order = arena_array(&memory, n, sizeof *order);
    struct span *taken = arena_array(&memory, n, sizeof *taken);
    int64_t *trial = arena_array(&memory, n, sizeof *trial), best = INT64_MAX;
    struct rng rng = rng_seed(seed);
    for (int pass = 0; pass < passes; pass++) {
        int64_t end = 0;
        for (int32_t i = 0; i < p->count; i++) {
            double size = (double)p->items[i].size, degree = p->items[i].near_count;
            double keys[] = {size, size * (degree + 1), degree, size * size * (degree + 1)};
            order[i] = (struct ranked){(keys[pass % 4] * (pass < 4 ? 1 : 0.6 + 0.8 * rng_unit(&rng))), i};
            trial[i] = -1;
        }
        qsort(order, (size_t)p->count, sizeof *order, pile_compare_ranked);
        for (int32_t k = 0; k < p->count && end < best && end <= p->capacity; k++) {
            int32_t i = order[k].item;
            trial[i] = first_gap(p, i, trial, taken);
            end = max_i64(end, trial[i] + p->items[i].size);
        }
        if (end >= best || end > p->capacity) continue;
        best = end;
        memcpy(address, trial, (size_t)p->count * sizeof *trial);
    }
    arena_free(&memory);
    return best;
}

/* --- Parts. --- */

/* The items of one part and all their partners, which are in it, too. */
static void pile_take_part(const struct pile *p, const int32_t *members, int32_t count, int32_t *number,
                           struct pile *part)
{
    size_t near = 0;
    for (int32_t k = 0; k < count; k++) near += (size_t)p->items[members[k]].near_count;
    *part = (struct pile){.capacity = p->capacity, .count = count, .bans = p->bans};
    part->items = mem_alloc(((size_t)count + 1) * sizeof *part->items);
    part->near = mem_alloc((near + 1) * sizeof *part->near);
    int32_t used = 0;
    for (int32_t k = 0; k < count; k++) number[members[k]] = k;
    for (int32_t k = 0; k < count; k++) {
        part->items[k] = p->items[members[k]];
        part->items[k].first_near = used;
        for (int32_t e = 0; e < part->items[k].near_count; e++) {
            part->near[used] = p->near[p->items[members[k]].first_near + e];
            part->near[used].item = number[part->near[used].item];
            used++;
        }
    }
}

static enum fit_result search_part(const struct pile *p, const struct fit_limits *limits, int64_t *address,
                                   int64_t *nodes)
{
    struct cliques cliques;
    struct pile_search s;
    int64_t heaviest, spent = 0, budget = FIRST_NODES;
    pile_cliques(p, CLIQUE_STEPS, &cliques, &heaviest);
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
    if (opened) pile_search_close(&s);
    cliques_free(&cliques);
    *nodes += spent + p->count;
    return result;
}

static enum fit_result pile_solve_part(const struct pile *p, const struct fit_limits *limits,
                                       int64_t *address, int64_t *nodes)
{
    *nodes += p->count;
    if (pile_first_fit(p, FIRST_FIT_PASSES, limits->seed, address) <= p->capacity) return FIT_YES;
    return search_part(p, limits, address, nodes);
}

static enum fit_result solve_members(const struct pile *p, int32_t *members, int32_t n, int32_t *number,
                                     const struct fit_limits *limits, int64_t *address, int64_t *nodes)
{
    struct pile part;
    int64_t *found = mem_alloc(((size_t)n + 1) * sizeof *found);
    qsort(members, (size_t)n, sizeof *members, order_i32);
    pile_take_part(p, members, n, number, &part);
    enum fit_result result = pile_solve_part(&part, limits, found, nodes);
    for (int32_t k = 0; result == FIT_YES && k < n; k++) address[members[k]] = found[k];
    mem_free(part.items);
    mem_free(part.near);
    mem_free(found);
    return result;
}

/* A part without an answer does not keep a later one from being proved impossible. */
enum fit_result pile_solve(const struct pile *p, const struct fit_limits *limits, int64_t *address,
                           int64_t *nodes)
{
    struct arena memory = {0};
    size_t n = (size_t)p->count + 1;
    int32_t *part = arena_array(&memory, n, sizeof *part),
            *members = arena_array(&memory, n, sizeof *members),
            *number = arena_array(&memory, n, sizeof *number);
    enum fit_result result = FIT_YES;
    for (int32_t i = 0; i < p->count && (result == FIT_YES || result == FIT_LIMIT); i++) {
        if (part[i]) continue;
        /* Everything that is connected to `from`, marked in `part`. */
        int32_t mark = i + 1;
        int32_t count = 0;
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
    arena_free(&memory);
    return result;
}
