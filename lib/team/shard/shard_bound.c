/* A lower bound on exchanged bytes.
 *
 * The shard search runs with prices that no blocks and no coalescing can beat (shard_least.c), and with
 * every choice that could cost less than the present plan. Inputs that are not fixed have a state that suits
 * every reader. If there are too many choices, some are merged into one that is as good as each: the bound
 * is then lower, but still valid. */
#include "team/shard/shard_layers.h"

enum { MOST = 64000 };

const struct shard_state shard_anyhow = {{SHARD_ANYHOW, SHARD_ANYHOW, SHARD_ANYHOW}};

struct ranked {
    int64_t bytes;
    int32_t h;
};

ORDER(shard_bound_by_bytes, struct ranked, ORDER_UP(bytes) ORDER_UP(h));

/* Whether another choice costs no more and differs only in tensors that it has replicated. A replicated
 * tensor needs no further exchange; but partial sums may be read directly. */
static bool shard_bound_is_dominated(const struct shard_merger *k, size_t h, int32_t replicated,
                                     const bool *stays, int32_t *row)
{
    const struct layer *l = k->l;
    size_t live = (size_t)l->live;
    memcpy(row, l->slots.at + h * live, live * sizeof *row);
    for (size_t i = 0; i < live; i++) {
        const struct slot *s = &k->slots->all.at[row[i]];
        int32_t was = row[i];
        if (was == replicated || stays[i] || !s->joined || shard_is_partial(s->made)) continue;
        row[i] = replicated;
        int32_t place = *shard_index_find(k->index, l->slots.at, l->all.count, live, row);
        row[i] = was;
        if (place >= 0 && l->all.at[place].cost.bytes <= l->all.at[h].cost.bytes) return true;
    }
    return false;
}

/* Merges all but the cheapest into one choice. Tensors with differing states get the state that suits every
 * reader. */
static void shard_bound_merge_rest(const struct shard_merger *k, bool *goes, int32_t *row)
{
    const struct slot suits = {.made = shard_anyhow, .state = shard_anyhow, .joined = true};
    struct layer *l = k->l;
    size_t n = l->all.count, live = (size_t)l->live, from = k->most - 1;
    int32_t any = shard_slot_number(k->slots, &suits);
    OWNED struct ranked *rank = mem_alloc(n * sizeof *rank);
    for (size_t h = 0; h < n; h++) {
        rank[h] = (struct ranked){l->all.at[h].cost.bytes, (int32_t)h};
        goes[h] = false;
    }
    qsort(rank, n, sizeof *rank, shard_bound_by_bytes);
    for (size_t h = 0; h < from; h++) goes[rank[h].h] = true;
    const struct hypothesis merged = l->all.at[rank[from].h];
    for (size_t i = 0; i < live; i++) {
        row[i] = l->slots.at[(size_t)rank[from].h * live + i];
        for (size_t h = from + 1; h < n && row[i] != any; h++)
            if (l->slots.at[(size_t)rank[h].h * live + i] != row[i]) row[i] = any;
    }
    shard_layer_keep(l, goes);
    for (size_t i = 0; i < live; i++) l->slots.at[l->slots.count++] = row[i];
    l->all.at[l->all.count++] = merged;
}

bool shard_merge(const struct shard_merger *k, bool *merged)
{
    static const struct slot all_of_it = {.made = {{-1, -1, -1}}, .state = {{-1, -1, -1}}, .joined = true};
    struct layer *l = k->l;
    size_t n = l->all.count;
    OWNED bool *goes = mem_zeroed(n + 1, sizeof *goes),
               *stays = mem_zeroed((size_t)l->live + 1, sizeof *stays);
    int32_t *row = mem_zeroed((size_t)l->live + 1, sizeof *row),
            replicated = shard_slot_number(k->slots, &all_of_it);
    bool ok = true;
    for (int i = 0; i < l->live; i++) { /* a tensor keeps its state if it is fixed, or a later op writes it */
        stays[i] = k->q->fixed[l->tensors[i]];
        for (int32_t o = k->o + 1; !stays[i] && o <= k->uses->last[l->tensors[i]]; o++)
            stays[i] = op_operand_made(&k->q->g->ops[o], l->tensors[i]) >= 0;
    }
    for (size_t h = 0; ok && h < n; h++) {
        ok = !cancel_requested();
        goes[h] = l->live == 0 || !shard_bound_is_dominated(k, h, replicated, stays, row);
    }
    if (ok) shard_layer_keep(l, goes);
    if (ok && l->all.count > k->most) {
        *merged = true;
        shard_bound_merge_rest(k, goes, row);
    }
    mem_free(row);
    return ok;
}

bool shard_bound_bytes(const struct lx_graph *g, const struct lx_team_grid *grid, const bool *fixed,
                       const struct shard_state *state, int64_t below, int64_t *bytes)
{
    const struct shard_question q = {
        .g = g, .grid = *grid, .fixed = fixed, .state = state, .least = true, .below = below};
    if (cancel_requested()) return false; /* the setup takes long */
    struct shard_least *least = shard_least_make(g, grid);
    struct shard_prices *prices = shard_prices_make(g, grid, false, least);
    struct shard_answer answer = {.tensors = mem_zeroed((size_t)g->tensor_count + 1, sizeof *answer.tensors),
                                  .ways = mem_zeroed((size_t)g->op_count + 1, sizeof *answer.ways)};
    bool merged, found = shard_search_along(&q, prices, SHARD_FREELY, MOST, &answer, &merged);
    /* With no choice left, every choice costs as much as the present plan. */
    bool ok = found || (answer.stuck >= 0 && answer.beyond);
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
    OWNED struct shard_state *state = mem_zeroed(tensors, sizeof *state);
    int64_t bytes = 0, below = p->bytes + p->combine_bytes;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        fixed[t] = p->tensors[t].given || g->tensors[t].role == LX_INPUT;
        for (int a = 0; a < LX_TEAM_AXES;
             a++) /* an axis of one device shards nothing, whatever a file states */
            state[t].at[a] = a < p->grid.axes && p->grid.size[a] > 1 ? p->tensors[t].shard[a] : -1;
        any |= fixed[t] && !lx_team_is_replicated(&p->tensors[t]);
    }
    /* If nothing is sharded, every device can do everything. */
    if (any && below > 0 && !shard_bound_bytes(g, &p->grid, fixed, state, below, &bytes)) bytes = 0;
    mem_free(fixed);
    return bytes;
}
