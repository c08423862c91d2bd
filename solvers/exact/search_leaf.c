/* Leaves of the search: 0/1 points that satisfy every row.
 *
 * Yes: a better plan. No: a cut (cover.c). No answer within the limit: a riddle; the choice is passed over,
 * its spill caps the bound, and the search goes on with dearer choices. Riddles are retried with more nodes
 * when the search has nothing better to do.
 *
 * A plunge makes a leaf by rounding: of the programme's fractional columns the one nearest to 0 or 1 is
 * decided, again and again; then items spilled without need are kept. It helps when the tree takes long to
 * reach its first leaf. */
#include "exact/search.h"

enum { LEVELS_FROM = 200, LEVELS_ONLY = 2000, LEVEL_TRIES = 18 };

/* Handovers that the choice leaves open may help or harm: tries as many as possible, then only the
 * point's. */
static enum fit_result pack_point(struct search *s, int64_t nodes)
{
    enum fit_result result = FIT_NO;
    bool differ = false;
    merge_greedily(s->m, s->kept, s->merged);
    for (int32_t e = 0; e < s->m->edge_count; e++) differ |= s->merged[e] != s->point[s->m->item_count + e];
    if (differ) {
        result = pack_exactly(&s->packer, s->kept, s->merged, nodes / 4 + 1, s->trial);
        if (result == FIT_YES) return result;
    }
    for (int32_t e = 0; e < s->m->edge_count; e++) s->merged[e] = s->point[s->m->item_count + e];
    return pack_exactly(&s->packer, s->kept, s->merged, nodes, s->trial);
}

/* A lower bound on the cost of any choice that keeps all of `kept`: assumes kept every spilled item that has
 * room in its sections with all handovers there. */
static int64_t superset_floor(const struct search *s, int64_t spill)
{
    const struct model *m = s->m;
    int64_t *room = mem_zeroed((size_t)m->section_count + 2, sizeof *room), floor = spill;
    for (int32_t i = 0; i < m->item_count; i++)
        if (!s->kept[i] && m->items[i].first <= m->items[i].last) {
            room[m->items[i].first] += m->items[i].size;
            room[m->items[i].last + 1] -= m->items[i].size;
        }
    for (int32_t t = 0; t < m->section_count; t++) room[t + 1] += room[t];
    for (int32_t t = 0; t < m->section_count; t++) room[t] -= m->need[t];
    for (int32_t e = 0; e < m->edge_count; e++)
        if (m->edges[e].section >= 0) room[m->edges[e].section] += m->items[m->edges[e].child].size;
    for (int32_t i = 0; i < m->item_count; i++) {
        bool fits = !s->kept[i] && !m->items[i].never;
        for (int32_t t = m->items[i].first; fits && t <= m->items[i].last; t++)
            fits = room[t] >= m->items[i].size;
        if (!fits) continue;
        floor -= max_i64(m->items[i].cost, 0);
        for (int32_t k = m->linked ? m->linked_first[i] : 0; m->linked && k < m->linked_first[i + 1]; k++)
            if (m->linked_of[k] < m->priced_count) floor -= m->linked_costs[m->linked_of[k]].cost;
    }
    mem_free(room);
    return max_i64(floor, 0);
}

/* Unknown whether the choice packs: offers its greedy placements and passes it over. */
static void search_leaf_pass_over(struct search *s, int64_t spill)
{
    size_t items = (size_t)s->m->item_count, choices = (size_t)model_choices(s->m);
    struct search_riddle riddle = {spill, superset_floor(s, spill), mem_alloc(choices + 1), false};
    memcpy(riddle.kept, s->kept, items);
    memcpy(riddle.kept + items, s->merged, choices - items);
    VEC_PUSH(&s->riddles, riddle);
    s->stats.unresolved++;
    for (int order = 0; order < PLACE_ORDERS; order++) {
        place_greedily(&s->packer, s->kept, s->merged, (enum place_order)order, s->trial);
        search_offer(s, s->trial);
    }
    OWNED struct model_term *terms = mem_alloc((items + 1) * sizeof *terms);
    int32_t n = 0;
    for (int32_t i = 0; i < s->m->item_count; i++)
        if (s->kept[i]) terms[n++] = (struct model_term){i, 1};
    search_add_row(s, terms, n, 1);
}

/* Packs leaves in order of spill: a leaf that costs more than the least open bound waits, so that the Fit
 * engine gets the best choices first. Each node since the last question raises the limit by a
 * hundred-thousandth of the bound. */
bool search_too_early(const struct search *s, int64_t spill)
{
    if (s->holds_leaves) return true;
    if (s->open.count == 0) return false;
    int64_t least = s->nodes.at[s->open.at[0]].bound;
    return (double)(spill - least) > 1e-5 * (double)least * (double)s->patience;
}

/* Sets `kept` to the point's choice; returns its value. */
static int64_t keep_by_point(struct search *s)
{
    for (int32_t i = 0; i < s->m->item_count; i++) {
        s->kept[i] = !s->point[i];
        s->trial[i] = s->kept[i] ? 0 : LX_OFF_CHIP;
    }
    return model_value(s->m, s->trial);
}

static bool by_levels(const struct search *s)
{
    return !s->tuning.light && s->m->edge_count == 0 && s->m->item_count >= LEVELS_FROM;
}

/* Asks the Fit engine about the choice in `kept` and `point`; keeps the plan, cuts the choice off or passes
 * it over. True: it packs. */
static bool try_point(struct search *s, int64_t spill)
{
    int64_t before = s->packer.nodes;
    s->patience = 0;
    /* A dive of the Fit engine takes a node per item; unresolved choices raise the limit. */
    int64_t growth = (int64_t)1 << min_i64(s->stats.unresolved / 2, 20),
            nodes = (8 * (int64_t)s->m->item_count + 1000) * growth;
    /* Even one dive takes long for so many items: levels_plan packs the large ones. */
    if (by_levels(s) && s->m->item_count > LEVELS_ONLY) nodes = s->m->item_count / 4;
    enum fit_result result = pack_point(s, min_i64(nodes, s->tuning.fit_nodes));
    if (result == FIT_YES)
        search_offer(s, s->trial);
    else if (result == FIT_LIMIT && by_levels(s)) {
        /* Packs large items first, small ones into the gaps. FIT_NO: `core` has large items that do not
         * pack. */
        int64_t value = levels_plan(&s->packer, s->kept, LEVEL_TRIES, spill, s->trial, s->core, &result);
        s->budget->steps += (int64_t)LEVEL_TRIES * s->m->item_count * s->m->item_count / 5000;
        if (result == FIT_NO) memcpy(s->kept, s->core, (size_t)s->m->item_count);
        if (value < INT64_MAX) search_offer(s, s->trial);
        result = value <= spill ? FIT_YES : result == FIT_NO ? FIT_NO : FIT_LIMIT;
    }
    if (result == FIT_NO)
        search_cut_off(s);
    else if (result == FIT_LIMIT)
        search_leaf_pass_over(s, spill);
    budget_spend_nodes(s->budget, s->packer.nodes - before, s->m->item_count);
    if (result == FIT_YES) search_fix_at_root(s);
    return result == FIT_YES;
}

enum leaf search_visit_leaf(struct search *s, int32_t node, int64_t bound)
{
    for (int32_t j = 0; j < model_choices(s->m); j++)
        s->point[j] = s->low[j] == s->high[j] ? s->low[j] : s->fraction[j] > 0.5;
    model_linked_columns(s->m, s->point);
    if (!model_holds(s->m, s->point)) return LEAF_SPLIT;
    int64_t spill = keep_by_point(s);
    if (spill >= s->best) return LEAF_SPLIT;
    if (s->nodes.at[node].leaf < 0 && search_too_early(s, spill)) {
        s->nodes.at[node].leaf = spill;
        VEC_PUSH(&s->leaves, node);
        return LEAF_WAITS;
    }
    if (!try_point(s, spill)) return LEAF_AGAIN;
    return bound >= s->best ? LEAF_DONE : LEAF_SPLIT;
}

/* Keeps items that the point spills without need, dearest first. */
static void keep_what_fits(struct search *s)
{
    keep_by_point(s); /* sets `trial` to the choice */
    for (int32_t tries = 0; tries < 64; tries++) {
        int32_t best = -1;
        int128 most = 0;
        for (int32_t i = 0; i < s->m->item_count; i++) {
            /* The saving from keeping an item that the point spills. */
            int128 saved = s->point[i] && !s->core[i]
                               ? (s->m->linked ? -model_flip(s->m, s->trial, i) : s->m->items[i].cost)
                               : 0;
            if (saved <= most) continue;
            best = i;
            most = saved;
        }
        if (best < 0) return;
        s->point[best] = false;
        model_linked_columns(s->m, s->point);
        if (!model_holds(s->m, s->point))
            s->point[best] = true;
        else
            s->trial[best] = 0;
        s->core[best] = true; /* used as a mark: tried */
    }
}

/* Rounding may leave a section a few bytes short: spills the cheapest item that helps. */
static void mend_point(struct search *s)
{
    const struct model *m = s->m;
    OWNED int64_t *load = mem_alloc(((size_t)m->section_count + 1) * sizeof *load);
    for (int32_t tries = 0; tries < m->section_count + 8; tries++) {
        /* The section with the largest lack. */
        int32_t worst = -1, best = -1;
        int64_t lack = 0;
        model_loads(m, s->point, load);
        for (int32_t t = 0; t < m->section_count; t++)
            if (m->need[t] - load[t] > lack) lack = m->need[t] - load[t], worst = t;
        if (worst < 0) break;
        double least = 0;
        for (int32_t i = 0; i < m->item_count; i++) {
            const struct model_item *it = &m->items[i];
            if (s->point[i] || it->must || it->first > worst || it->last < worst) continue;
            double price = it->worth / (double)min_i64(it->size, lack);
            if (best >= 0 && price >= least) continue;
            best = i;
            least = price;
        }
        if (best < 0) break;
        s->point[best] = true;
    }
    model_linked_columns(m, s->point);
}

void search_plunge(struct search *s)
{
    enum lp_result result = LP_OPTIMAL;
    for (int32_t last = 0; last >= 0 && result == LP_OPTIMAL && !budget_spent(s->budget);) {
        int64_t pivots = s->lp->effort;
        result = lp_solve(s->lp, search_cutoff(s));
        s->budget->steps += s->lp->effort - pivots + 1;
        if (result == LP_OPTIMAL) {
            /* Decides the fractional column nearest to 0 or 1; rounds up if both are near. -1: none left. */
            int32_t best = -1;
            double least = 1;
            for (int32_t j = 0; j < model_choices(s->m); j++) {
                double f = s->fraction[j] = lp_value(s->lp, j) / search_size(s->m, j);
                double away = f > 0.4 ? 1 - f : f;
                if (s->low[j] == s->high[j] || fmin(f, 1 - f) < 1e-6 || away >= least) continue;
                least = away;
                best = j;
            }
            if (best >= 0) search_decide(s, best, s->fraction[best] > 0.4, s->fraction[best] > 0.4);
            last = best;
        } else if (result == LP_INFEASIBLE && !s->high[last]) { /* it must be spilled after all */
            search_decide(s, last, true, true);
            result = LP_OPTIMAL;
        }
    }
    if (result != LP_OPTIMAL || s->budget->stopped) return;
    for (int32_t j = 0; j < model_choices(s->m); j++) s->point[j] = s->fraction[j] > 0.5;
    model_linked_columns(s->m, s->point);
    if (!model_holds(s->m, s->point)) mend_point(s);
    if (!model_holds(s->m, s->point)) return;
    memset(s->core, 0, (size_t)s->m->item_count);
    keep_what_fits(s);
    int64_t spill = keep_by_point(s);
    /* A choice far better than the plan is packed at once, others in their turn. */
    if (spill < s->best && ((double)spill < 0.98 * (double)s->best || !search_too_early(s, spill)))
        try_point(s, spill);
}

void search_riddles(struct search *s, int64_t nodes, int64_t steps)
{
    size_t left = 0;
    s->pause_at = s->budget->steps + min_i64(steps, s->budget->limit);
    s->riddles_until = INT64_MAX;
    for (size_t k = 0; k < s->riddles.count; k++) {
        struct search_riddle r = s->riddles.at[k];
        enum fit_result result = FIT_LIMIT;
        int64_t before = s->packer.nodes;
        if (r.spill < s->best && !r.packs && !search_paused(s))
            result = pack_exactly(&s->packer, r.kept, r.kept + s->m->item_count, nodes, s->trial);
        /* FIT_NO settles the riddle only if no other handovers are possible. */
        if (result == FIT_NO && s->m->edge_count > 0)
            result = search_pack_somehow(s, r.kept, nodes, s->trial);
        budget_spend_nodes(s->budget, s->packer.nodes - before, s->m->item_count);
        r.packs |= result == FIT_YES;
        if (result == FIT_YES) search_offer(s, s->trial);
        if (r.floor >= s->best || result == FIT_NO)
            mem_free(r.kept);
        else
            s->riddles.at[left++] = r;
    }
    s->riddles.count = left;
}
