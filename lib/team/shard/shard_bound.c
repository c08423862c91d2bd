/* Bytes that no plan of a graph on a grid goes below.
 *
 * The search for cuts once more, with prices that blocks and coalescing cannot beat (shard_least.c), and with
 * every choice that could cost less than the plan that there is. What arrives and is not fixed lies whatever
 * way suits. Where there are too many choices, some go on as one that is as good as any of them: the bound
 * gets lower then, and stays true. */
#include "team/shard/shard_least.h"
#include "team/shard/shard_layers.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/stop.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 64000, EACH_CHOICE = 100, EACH_LIVE = 5 }; /* nanoseconds */

const struct shard_state shard_anyhow = {{SHARD_ANYHOW, SHARD_ANYHOW, SHARD_ANYHOW}};

struct ranked {
    int64_t bytes;
    int32_t h;
};

static int shard_bound_by_bytes(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return x->h < y->h ? -1 : 1;
}

/* Must a live tensor be as it is, because somebody writes it later, or it is fixed? */
static bool must_stay(const struct shard_merger *k, int32_t tensor)
{
    bool stays = k->q->fixed[tensor];
    for (int32_t o = k->o + 1; !stays && o <= k->uses->last[tensor]; o++)
        stays = op_operand_made(&k->q->g->ops[o], tensor) >= 0;
    return stays;
}

/* Is there a choice that differs by a tensor that is whole there, and costs no more? Who has all of it needs
 * nothing of it any more; but parts can be read as such. */
static bool is_dominated(const struct shard_merger *k, size_t h, int32_t whole, const bool *stays,
                         int32_t *row)
{
    const struct layer *l = k->l;
    size_t live = (size_t)l->live;
    memcpy(row, l->slots.at + h * live, live * sizeof *row);
    for (size_t i = 0; i < live; i++) {
        const struct slot *s = &k->slots->all.at[row[i]];
        int32_t was = row[i];
        if (was == whole || stays[i] || !s->joined || shard_is_partial(s->made)) continue;
        row[i] = whole;
        const int32_t *place = shard_index_find(k->index, l->slots.at, l->all.count, live, row);
        row[i] = was;
        if (place && *place >= 0 && l->all.at[*place].cost.bytes <= l->all.at[h].cost.bytes) return true;
    }
    return false;
}

/* Those from rank `from` on become one row: where they differ, a tensor is as suits. */
static bool merge_rows(const struct shard_merger *k, const struct ranked *rank, size_t from, int32_t *row)
{
    const struct slot suits = {.made = shard_anyhow, .state = shard_anyhow, .joined = true};
    const struct layer *l = k->l;
    int32_t any = shard_slot_number(k->slots, &suits);
    size_t live = (size_t)l->live;
    for (size_t i = 0; i < live; i++) {
        row[i] = l->slots.at[(size_t)rank[from].h * live + i];
        for (size_t n = from + 1; n < l->all.count && row[i] != any; n++)
            if (l->slots.at[(size_t)rank[n].h * live + i] != row[i]) row[i] = any;
    }
    return any >= 0;
}

static bool merge_dear_ones(const struct shard_merger *k, struct ranked *rank, bool *goes, int32_t *row)
{
    struct layer *l = k->l;
    size_t n = l->all.count, live = (size_t)l->live;
    for (size_t h = 0; h < n; h++) {
        rank[h] = (struct ranked){l->all.at[h].cost.bytes, (int32_t)h};
        goes[h] = false;
    }
    qsort(rank, n, sizeof *rank, shard_bound_by_bytes);
    for (size_t h = 0; h + 1 < k->most; h++) goes[rank[h].h] = true;
    const struct hypothesis merged = l->all.at[rank[k->most - 1].h];
    if (!merge_rows(k, rank, k->most - 1, row)) return false;
    shard_layer_keep(l, goes);
    for (size_t i = 0; i < live; i++) l->slots.at[l->slots.count++] = row[i];
    l->all.at[l->all.count++] = merged;
    return true;
}

bool shard_merge(const struct shard_merger *k, bool *merged)
{
    static const struct slot all_of_it = {.made = {{-1, -1, -1}}, .state = {{-1, -1, -1}}, .joined = true};
    struct layer *l = k->l;
    size_t n = l->all.count;
    struct ranked *rank = mem_alloc((n + 1) * sizeof *rank);
    bool *goes = mem_zeroed(n + 1, sizeof *goes), *stays = mem_zeroed((size_t)l->live + 1, sizeof *stays);
    int32_t *row = mem_zeroed((size_t)l->live + 1, sizeof *row),
            whole = shard_slot_number(k->slots, &all_of_it);
    bool ok = rank && goes && stays && row && whole >= 0;
    for (int i = 0; ok && i < l->live; i++) stays[i] = must_stay(k, l->tensors[i]);
    for (size_t h = 0; ok && h < n; h++) {
        ok = !stop_work(EACH_CHOICE + EACH_LIVE * (int64_t)l->live * l->live);
        goes[h] = l->live == 0 || !is_dominated(k, h, whole, stays, row);
    }
    if (ok) shard_layer_keep(l, goes);
    if (ok && l->all.count > k->most) *merged = true, ok = merge_dear_ones(k, rank, goes, row);
    mem_free(rank);
    mem_free(goes);
    mem_free(stays);
    mem_free(row);
    return ok;
}

bool shard_bound_bytes(const struct lx_graph *g, const struct lx_team_grid *grid, const bool *fixed,
                       const struct shard_state *state, int64_t below, int64_t *bytes)
{
    const struct shard_question q = {
        .g = g, .grid = *grid, .fixed = fixed, .state = state, .least = true, .below = below};
    if (stop_work(STOP_EACH)) return false; /* what it takes to begin is much for who has no time */
    struct shard_least *least = shard_least_make(g, grid);
    struct shard_prices *prices = least ? shard_prices_make(g, grid, false, least) : NULL;
    struct shard_answer answer = {.tensors = mem_zeroed((size_t)g->tensor_count + 1, sizeof *answer.tensors),
                                  .ways = mem_zeroed((size_t)g->op_count + 1, sizeof *answer.ways),
                                  .stuck = -1};
    bool merged, ok = prices && answer.tensors && answer.ways;
    bool found = ok && shard_search_along(&q, prices, SHARD_FREELY, MOST, &answer, &merged);
    /* No choice is left: all take as much as the plan that there is. */
    ok = ok && (found || (answer.stuck >= 0 && answer.beyond)) && !shard_least_failed(least);
    *bytes = !ok ? 0 : found ? min_i64(answer.cost.bytes, below) : below;
    shard_prices_free(prices);
    shard_least_free(least);
    mem_free(answer.tensors);
    mem_free(answer.ways);
    return ok;
}

int64_t lx_team_least_bytes(const struct lx_team_plan *p)
{
    const struct lx_graph *g = p->graph;
    size_t tensors = (size_t)g->tensor_count + 1;
    bool *fixed = mem_zeroed(tensors, sizeof *fixed), any = false;
    struct shard_state *state = mem_zeroed(tensors, sizeof *state);
    int64_t bytes = 0, below = p->bytes + p->combine_bytes;
    for (int32_t t = 0; fixed && state && t < g->tensor_count; t++) {
        fixed[t] = p->tensors[t].given || g->tensors[t].role == LX_INPUT;
        for (int a = 0; a < LX_TEAM_AXES; a++) /* an axis of one device cuts nothing, whatever a file says */
            state[t].at[a] =
                (signed char)(a < p->grid.axes && p->grid.size[a] > 1 ? p->tensors[t].shard[a] : -1);
        any |= fixed[t] && !lx_team_is_replicated(&p->tensors[t]);
    }
    /* With nothing to bring, every device can do everything. */
    if (any && below > 0 && !shard_bound_bytes(g, &p->grid, fixed, state, below, &bytes)) bytes = 0;
    mem_free(fixed);
    mem_free(state);
    return bytes;
}
