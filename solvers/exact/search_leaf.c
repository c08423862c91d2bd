/* Leaves of the search: 0/1 points that satisfy every row. When are they packed, and what follows?
 *
 * Yes: a better plan. No: a cut (cut.c). No answer within the limit: a riddle; the choice is passed over,
 * its spill caps the bound that may be claimed, and the search goes on for what is dearer. Riddles are
 * asked again, and for longer, when the search has nothing better to do.
 *
 * A plunge makes a leaf by rounding: of the programme's fractional columns the one nearest to 0 or 1 is
 * decided, again and again; then whatever was spilled without need is kept. It finds choices where
 * the tree alone would take long to come to its first leaf. */
#include "exact/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Handovers where the choice leaves them open may help or harm: try as many as possible, then as few as
 * the point asks for. */
static enum fit_result pack_point(struct search *s, int64_t nodes)
{
    enum fit_result result = FIT_NO;
    bool differ = false;
    merge_greedily(s->m, s->kept, s->merged);
    for (int32_t e = 0; e < s->m->edge_count; e++) differ |= s->merged[e] != s->point[s->m->item_count + e];
    if (differ) {
        result = pack_exactly(&s->packer, s->kept, s->merged, nodes / 4 + 1, s->trial);
        if (result == FIT_YES || result == FIT_NO_MEMORY) return result;
    }
    for (int32_t e = 0; e < s->m->edge_count; e++) s->merged[e] = s->point[s->m->item_count + e];
    return pack_exactly(&s->packer, s->kept, s->merged, nodes, s->trial);
}

/* Nobody knows whether the choice packs: take what greedy placement makes of it and pass it over. */
static bool pass_over(struct search *s, int64_t spill)
{
    size_t items = (size_t)s->m->item_count, columns = (size_t)model_columns(s->m);
    struct model_term *terms = malloc((items + 1) * sizeof *terms);
    bool *copy = malloc(columns + 1);
    if (!terms || !copy || !VEC_PUSH(&s->riddles, (struct search_riddle){spill, copy})) {
        free(terms);
        free(copy);
        return false;
    }
    memcpy(copy, s->kept, items);
    memcpy(copy + items, s->merged, columns - items);
    s->stats.unresolved++;
    for (int order = 0; order < PLACE_ORDERS; order++) {
        place_greedily(&s->packer, s->kept, s->merged, (enum place_order)order, 0, s->trial);
        search_offer(s, s->trial);
    }
    int32_t n = 0;
    for (int32_t i = 0; i < s->m->item_count; i++)
        if (s->kept[i]) terms[n++] = (struct model_term){i, 1};
    bool ok = search_add_row(s, terms, n, 1);
    free(terms);
    return ok;
}

/* Leaves are packed in order of their spill: one that costs more than the least open bound waits, so that
 * the Fit engine is asked about the best choices first. The longer it was not asked, the more a leaf
 * may cost: a hundred-thousandth of the bound for every node. */
bool search_too_early(const struct search *s, int64_t spill)
{
    if (s->holds_leaves) return true;
    if (s->open.count == 0) return false;
    int64_t least = s->nodes.at[s->open.at[0]].bound;
    return (double)(spill - least) > 1e-5 * (double)least * (double)s->patience;
}

static int64_t keep_by_point(struct search *s)
{
    int64_t spill = 0;
    for (int32_t i = 0; i < s->m->item_count; i++) {
        s->kept[i] = !s->point[i];
        if (s->point[i]) spill += s->m->items[i].cost;
    }
    return spill;
}

/* Ask the Fit engine about the choice in `kept` and `point`, and draw the consequences. True: it packs. */
static bool try_point(struct search *s, int64_t spill)
{
    int64_t before = s->packer.nodes;
    s->patience = 0;
    /* A dive of the Fit engine takes a node an item; more of them as more choices resist. */
    int64_t growth = (int64_t)1 << min_i64(s->stats.unresolved / 2, 20),
            nodes = (8 * (int64_t)s->m->item_count + 1000) * growth;
    enum fit_result result = pack_point(s, min_i64(nodes, s->tuning.fit_nodes));
    bool ok = result != FIT_NO_MEMORY;
    if (result == FIT_YES)
        search_offer(s, s->trial);
    else if (result == FIT_NO)
        ok = search_cut_off(s);
    else if (result == FIT_LIMIT)
        ok = pass_over(s, spill);
    budget_charge_nodes(s->budget, s->packer.nodes - before, s->m->item_count);
    if (!ok) s->failed = true;
    if (result == FIT_YES) search_fix_at_root(s);
    return result == FIT_YES;
}

enum leaf search_visit_leaf(struct search *s, int32_t node, int64_t bound)
{
    for (int32_t j = 0; j < model_columns(s->m); j++)
        s->point[j] = s->low[j] == s->high[j] ? s->low[j] : s->fraction[j] > 0.5;
    if (!model_holds(s->m, s->point)) return LEAF_SPLIT;
    int64_t spill = keep_by_point(s);
    if (spill >= s->best) return LEAF_SPLIT;
    if (s->nodes.at[node].leaf < 0 && search_too_early(s, spill)) {
        s->nodes.at[node].leaf = spill;
        if (!VEC_PUSH(&s->leaves, node)) s->failed = true;
        return LEAF_WAITS;
    }
    if (!try_point(s, spill)) return LEAF_AGAIN;
    return bound >= s->best ? LEAF_DONE : LEAF_SPLIT;
}

/* Keep what the point spills without need, dearest first. */
static void keep_what_fits(struct search *s)
{
    for (int32_t tries = 0; tries < 64; tries++) {
        int32_t best = -1;
        for (int32_t i = 0; i < s->m->item_count; i++)
            if (s->point[i] && !s->core[i] && (best < 0 || s->m->items[i].cost > s->m->items[best].cost))
                best = i;
        if (best < 0) return;
        s->point[best] = false;
        if (!model_holds(s->m, s->point)) s->point[best] = true;
        s->core[best] = true; /* used as a mark: has been tried */
    }
}

/* Decide the fractional column nearest to 0 or 1, rounding up where both are near. -1: none is left. */
static int32_t round_one(struct search *s)
{
    int32_t best = -1;
    double least = 1;
    for (int32_t j = 0; j < model_columns(s->m); j++) {
        double f = s->fraction[j] = lp_value(s->lp, j) / search_size(s->m, j);
        double away = f > 0.4 ? 1 - f : f;
        if (s->low[j] == s->high[j] || fmin(f, 1 - f) < 1e-6 || away >= least) continue;
        least = away;
        best = j;
    }
    if (best >= 0) search_decide(s, best, s->fraction[best] > 0.4, s->fraction[best] > 0.4);
    return best;
}

void search_plunge(struct search *s)
{
    enum lp_result result = LP_OPTIMAL;
    for (int32_t last = 0; last >= 0 && result == LP_OPTIMAL && !budget_spent(s->budget);) {
        int64_t pivots = lp_pivots(s->lp);
        result = lp_solve(s->lp, (double)s->best);
        s->budget->steps += lp_pivots(s->lp) - pivots + 1;
        if (result == LP_OPTIMAL)
            last = round_one(s);
        else if (result == LP_INFEASIBLE && !s->high[last]) { /* it must be spilled after all */
            search_decide(s, last, true, true);
            result = LP_OPTIMAL;
        }
    }
    if (result == LP_NO_MEMORY) s->failed = true;
    if (result != LP_OPTIMAL || s->budget->stopped) return;
    for (int32_t j = 0; j < model_columns(s->m); j++) s->point[j] = s->fraction[j] > 0.5;
    if (!model_holds(s->m, s->point)) return;
    memset(s->core, 0, (size_t)s->m->item_count);
    keep_what_fits(s);
    int64_t spill = keep_by_point(s);
    /* A choice that is far better than the plan is packed at once, another only in its turn. */
    if (spill < s->best && ((double)spill < 0.98 * (double)s->best || !search_too_early(s, spill)))
        try_point(s, spill);
}

bool search_riddles(struct search *s, int64_t nodes, int64_t steps)
{
    size_t left = 0;
    s->pause_at = s->budget->steps + min_i64(steps, s->budget->limit);
    s->riddles_until = INT64_MAX;
    for (size_t k = 0; k < s->riddles.count; k++) {
        struct search_riddle r = s->riddles.at[k];
        enum fit_result result = FIT_LIMIT;
        int64_t before = s->packer.nodes;
        if (r.spill < s->best && !search_paused(s) && !s->failed)
            result = pack_exactly(&s->packer, r.kept, r.kept + s->m->item_count, nodes, s->trial);
        /* A "no" settles the riddle only if the handovers could not be decided otherwise. */
        if (result == FIT_NO && s->m->edge_count > 0)
            result = search_pack_somehow(s, r.kept, nodes, s->trial);
        budget_charge_nodes(s->budget, s->packer.nodes - before, s->m->item_count);
        if (result == FIT_YES) search_offer(s, s->trial);
        if (result == FIT_NO_MEMORY) s->failed = true;
        if (r.spill >= s->best || result == FIT_NO)
            free(r.kept);
        else
            s->riddles.at[left++] = r;
    }
    s->riddles.count = left;
    return !s->failed;
}
