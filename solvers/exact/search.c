/* Branch and pack: keep/spill decisions by branch and bound over the linear programme, packing at the
 * leaves, cuts from what does not pack.
 *
 * The tree is explored best bound first, with a dive from each node taken: the child that agrees with the
 * programme's point is followed at once, its sibling waits in a heap. Since the engine can restart from
 * any basis, moving to another node costs only a reset of bounds. Every prune rests on an integer
 * certificate (certify.c); floating point only guides. A column whose reduced cost alone closes the gap is
 * decided, at the root for the whole tree.
 *
 * At a leaf (a 0/1 point that satisfies every row) the Fit engine is asked. Yes: a better plan. No: a cut
 * (cut.c), and the same node again. No answer within its limit: the choice is passed over, its spill
 * caps the bound that the search may claim, and the search goes on for what is dearer. */
#include "exact/search.h"
#include "base/heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A node looks at all columns several times. */
enum { PLUNGE_EVERY = 300, COLUMNS_A_STEP = 512 };

/* The certificate of the engine's current duals over the current box. */
static int64_t search_prove(struct search *s)
{
    lp_duals(s->lp, s->section_dual, s->row_dual);
    for (int32_t k = 0; k < s->m->row_count; k++) s->row_dual[k] *= s->row_scale[k];
    certify(&s->proof, s->m, s->section_dual, s->row_dual, s->low, s->high);
    return certified_bound(&s->proof, s->m);
}

/* With the bound `value`, would moving a column with this reduced cost off its bound reach the best? */
static bool closes_gap(const struct search *s, int128 value, int128 reduced, int128 scale)
{
    int128 step = s->m->cost_step, far = value + (reduced > 0 ? reduced : -reduced);
    return far > (s->best - s->m->base - step) * scale;
}

/* The same for the whole tree, from the root's certificate, whenever the best improves. */
void search_fix_at_root(struct search *s)
{
    if (s->root_scale == 0) return;
    for (int32_t j = 0; j < model_columns(s->m); j++)
        if (s->fixed_low[j] != s->fixed_high[j] && s->root_reduced[j] != 0 &&
            closes_gap(s, s->root_value, s->root_reduced[j], s->root_scale))
            s->fixed_low[j] = s->fixed_high[j] = s->root_reduced[j] < 0;
}

static bool node_before(const struct search *s, int32_t a, int32_t b)
{
    const struct search_node *x = &s->nodes.at[a], *y = &s->nodes.at[b];
    if (x->bound != y->bound) return x->bound < y->bound;
    return a > b;
}

static void open_push(struct search *s, int32_t node)
{
    VEC_PUSH(&s->open, node);
    HEAP_RISE(int32_t, s->open.at, s->open.count - 1, node_before, s);
}

static int32_t open_pop(struct search *s)
{
    int32_t top = s->open.at[0];
    s->open.at[0] = s->open.at[--s->open.count];
    HEAP_SINK(int32_t, s->open.at, s->open.count, 0, node_before, s);
    return top;
}

/* Set the box to that of a node. False: it contradicts what is decided for the whole tree. */
static bool enter_node(struct search *s, int32_t node)
{
    for (int32_t j = 0; j < model_columns(s->m); j++) search_decide(s, j, s->fixed_low[j], s->fixed_high[j]);
    for (int32_t v = node; v >= 0; v = s->nodes.at[v].parent) {
        const struct search_node *n = &s->nodes.at[v];
        if (n->column < 0) continue;
        if (s->low[n->column] > n->value || s->high[n->column] < n->value) return false;
        search_decide(s, n->column, n->value, n->value);
    }
    return true;
}

double search_stake(const struct model *m, int32_t j)
{
    if (j >= m->item_count) return 1e-3;
    double stake = fabs((double)m->items[j].cost);
    for (int32_t k = m->linked ? m->charge_first[j] : 0; m->linked && k < m->charge_first[j + 1]; k++)
        if (m->charge_of[k] < m->priced_count) stake += (double)m->charges[m->charge_of[k]].cost;
    return stake + 1e-3;
}

static int32_t any_undecided(const struct search *s)
{
    for (int32_t j = 0; j < model_choices(s->m); j++)
        if (s->low[j] != s->high[j]) return j;
    return -1;
}

static int64_t cheapest_leaf(const struct search *s, size_t *where)
{
    int64_t spill = INT64_MAX;
    for (size_t k = 0; k < s->leaves.count; k++)
        if (s->nodes.at[s->leaves.at[k]].leaf < spill) {
            spill = s->nodes.at[s->leaves.at[k]].leaf;
            *where = k;
        }
    return spill;
}

/* Solves the relaxation of a node and raises the node's bound, which is returned; `*now`: the
 * relaxation's value. */
static int64_t dive_relax(struct search *s, int32_t node, enum lp_result *result, double *now)
{
    int64_t bound = s->nodes.at[node].bound, pivots = lp_pivots(s->lp);
    *result = lp_solve(s->lp, search_cutoff(s));
    s->budget->steps += lp_pivots(s->lp) - pivots + 1 + model_columns(s->m) / COLUMNS_A_STEP;
    bound = max_i64(bound, search_prove(s));
    if (bound < s->best && (double)bound > (double)s->best * (1 - 1e-6)) {
        lp_exact_costs(s->lp, true);
        *result = lp_solve(s->lp, INFINITY);
        bound = max_i64(bound, search_prove(s));
        lp_exact_costs(s->lp, false);
    } else if (bound < s->best && *result == LP_CUTOFF)
        *result = lp_solve(s->lp, INFINITY);
    *now = lp_objective(s->lp);
    struct search_node *here = &s->nodes.at[node];
    here->bound = bound;
    if (here->column >= 0 && here->distance > 0)
        search_learn(s, here->column, here->value, here->distance,
                     fmin(*now, search_cutoff(s)) - here->objective);
    here->distance = 0; /* once is enough */
    return bound;
}

/* LEAF_SPLIT: the node is to be split by `*column`; LEAF_AGAIN: rows or columns have changed, solve it
 * again. */
static enum leaf dive_choose(struct search *s, int32_t node, enum lp_result result, double now,
                             int32_t *column)
{
    if (node == 0) {
        s->root_value = s->proof.value;
        s->root_scale = s->proof.scale;
        for (int32_t j = 0; j < model_columns(s->m); j++)
            s->root_reduced[j] = s->low[j] == s->high[j] ? 0 : s->proof.reduced[j];
    }
    int32_t covers = 0;
    if (node == 0 && result == LP_OPTIMAL) search_add_covers(s, &covers);
    if (covers > 0) return LEAF_AGAIN;
    /* The column to branch on: the fractional one with most cost at stake, items before handovers.
     * Charges follow from them. -1: none. */
    int32_t best = -1;
    double most = 0;
    for (int32_t j = 0; j < model_choices(s->m); j++) {
        double f = s->fraction[j] = lp_value(s->lp, j) / search_size(s->m, j);
        double away = fmin(f, 1 - f);
        if (away < 1e-6 || s->low[j] == s->high[j]) continue;
        double stake = away * search_stake(s->m, j);
        if (best < 0 || stake > most) {
            best = j;
            most = stake;
        }
    }
    *column = best;
    for (int32_t j = 0; j < model_columns(s->m); j++)
        if (s->low[j] != s->high[j] && s->proof.reduced[j] != 0 &&
            closes_gap(s, s->proof.value, s->proof.reduced[j], s->proof.scale)) {
            bool value = s->proof.reduced[j] < 0;
            search_decide(s, j, value, value);
        }
    if (node == 0) { /* what is decided at the root holds everywhere */
        memcpy(s->fixed_low, s->low, (size_t)model_columns(s->m));
        memcpy(s->fixed_high, s->high, (size_t)model_columns(s->m));
    }
    if (*column >= 0 && s->low[*column] == s->high[*column]) return LEAF_AGAIN;
    if (*column < 0) {
        enum leaf leaf = search_visit_leaf(s, node, s->nodes.at[node].bound);
        if (leaf != LEAF_SPLIT) return leaf;
        *column = any_undecided(s); /* none: one point, and it is no better or breaks a row */
    } else if (!s->tuning.light)
        *column = search_choose(s, now);
    return *column < 0 ? LEAF_DONE : LEAF_SPLIT;
}

/* Work on one node and dive: into the child that the relaxation is nearer to, and so on. The other
 * children, and nodes that are not finished, go to the heap. */
static void search_dive(struct search *s, int32_t node)
{
    int32_t sibling = -1; /* of `node`, not yet in the heap: it is next if the node turns out to be empty */
    for (;;) {
        enum lp_result result;
        double now;
        int64_t bound = dive_relax(s, node, &result, &now);
        if (bound >= s->best) {
            if (sibling < 0) return;
            node = sibling;
            sibling = -1;
            search_decide(s, s->nodes.at[node].column, s->nodes.at[node].value, s->nodes.at[node].value);
            continue;
        }
        if (sibling >= 0) open_push(s, sibling);
        sibling = -1;
        /* Where a cheaper leaf waits there is no haste to find dearer ones. */
        size_t where;
        bool later = s->nodes.at[node].leaf < 0 && bound >= cheapest_leaf(s, &where);
        if (later || search_paused(s)) {
            open_push(s, node);
            return;
        }
        int32_t column;
        enum leaf leaf = dive_choose(s, node, result, now, &column);
        if (leaf == LEAF_AGAIN) continue;
        if (leaf != LEAF_SPLIT) return;
        double fraction = s->fraction[column], far[2] = {fraction, 1 - fraction}; /* to 0, to 1 */
        bool first = fraction > 0.5;
        s->stats.nodes++;
        s->patience++;
        VEC_PUSH(&s->nodes, (struct search_node){node, column, bound, now, far[first], -1, first});
        VEC_PUSH(&s->nodes, (struct search_node){node, column, bound, now, far[!first], -1, !first});
        search_decide(s, column, first, first);
        sibling = (int32_t)s->nodes.count - 1;
        node = sibling - 1;
    }
}

/* What is proved where no open node is below `least`. */
static int64_t riddle_floor(const struct search *s, int64_t least)
{
    for (size_t k = 0; k < s->riddles.count; k++) least = min_i64(least, s->riddles.at[k].floor);
    return max_i64(least, s->bound);
}

void search_continue(struct search *s, int64_t steps, int32_t riddles)
{
    s->pause_at = s->budget->steps + min_i64(steps, s->budget->limit);
    s->riddles_until = s->stats.unresolved + riddles;
    search_fix_at_root(s);
    while (s->open.count + s->leaves.count > 0 && !search_paused(s)) {
        size_t where = 0;
        int64_t leaf = cheapest_leaf(s, &where),
                least = s->open.count ? s->nodes.at[s->open.at[0]].bound : leaf;
        if (min_i64(least, leaf) >= s->best) break;
        budget_bound(s->budget, s->m, riddle_floor(s, min_i64(least, leaf)));
        if ((double)(s->best - min_i64(least, leaf)) <= s->tuning.tolerance * (double)s->best) break;
        if (s->holds_leaves && leaf <= least) break; /* the relaxation is solved */
        int32_t node;
        if (leaf < INT64_MAX && (leaf <= least || !search_too_early(s, leaf))) {
            node = s->leaves.at[where];
            s->leaves.at[where] = s->leaves.at[--s->leaves.count];
        } else
            node = open_pop(s);
        /* At the root, and now and then while no leaf is in sight, look ahead. */
        bool ahead = node == 0 ? !s->plunged : s->patience >= s->next_plunge;
        if (!s->holds_leaves && ahead && enter_node(s, node)) {
            s->plunged = true;
            s->next_plunge = s->patience + PLUNGE_EVERY;
            search_plunge(s);
        }
        s->next_plunge = min_i64(s->next_plunge, s->patience + PLUNGE_EVERY);
        if (enter_node(s, node)) search_dive(s, node);
    }
}

void search_relaxation(struct search *s, int64_t steps)
{
    s->holds_leaves = true;
    search_continue(s, steps, INT32_MAX);
    s->holds_leaves = false;
}

int64_t search_bound(const struct search *s)
{
    int64_t proved = s->best;
    for (size_t k = 0; k < s->riddles.count; k++) proved = min_i64(proved, s->riddles.at[k].floor);
    for (size_t k = 0; k < s->open.count; k++) proved = min_i64(proved, s->nodes.at[s->open.at[k]].bound);
    for (size_t k = 0; k < s->leaves.count; k++) proved = min_i64(proved, s->nodes.at[s->leaves.at[k]].bound);
    return max_i64(proved, s->bound);
}
