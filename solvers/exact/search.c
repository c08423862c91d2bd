/* Branch and pack: keep/spill decisions by branch and bound over the linear programme, packing at the
 * leaves, cuts from what does not pack.
 *
 * The tree is explored best bound first, with a dive from each node: the child that agrees with the
 * programme's point is next, its sibling waits in a heap. Since the engine can restart from any basis, moving
 * to another node costs only a reset of bounds. Every prune rests on an integer certificate (certify.c);
 * floating point only guides. A column whose reduced cost alone closes the gap is decided, at the root for
 * the whole tree.
 *
 * At a leaf (a 0/1 point that satisfies every row) the Fit engine is asked. Yes: a better plan. No: a cut
 * (cover.c), and the same node again. No answer within its limit: the choice is passed over, its spill caps
 * the bound that the search may claim, and the search goes on with dearer choices. */
#include "exact/search.h"

/* --- State: the steps that touch both the model and the linear programme. --- */

/* Adds the model's row k to the linear programme. */
static void search_enter_row(struct search *s, int32_t k)
{
    const struct model_row *row = &s->m->rows[k];
    OWNED struct lp_entry *entries = mem_alloc(((size_t)row->count + 1) * sizeof *entries);
    double smallest = INFINITY;
    for (int32_t e = 0; e < row->count; e++)
        smallest = fmin(smallest, search_size(s->m, row->terms[e].column));
    for (int32_t e = 0; e < row->count; e++) {
        struct model_term term = row->terms[e];
        entries[e] =
            (struct lp_entry){term.column, term.coefficient * smallest / search_size(s->m, term.column)};
    }
    s->row_scale[k] = smallest;
    lp_add_row(s->lp, entries, row->count, (double)row->need * smallest);
}

void search_add_row(struct search *s, const struct model_term *terms, int32_t count, int64_t need)
{
    model_add_row(s->m, terms, count, need);
    if (s->row_dual_room < s->m->row_room) {
        s->row_dual_room = s->m->row_room;
        s->row_dual = mem_resize(s->row_dual, (size_t)s->m->row_room * sizeof *s->row_dual);
        s->row_scale = mem_resize(s->row_scale, (size_t)s->m->row_room * sizeof *s->row_scale);
    }
    search_enter_row(s, s->m->row_count - 1);
}

void search_offer(struct search *s, const int64_t *address)
{
    int64_t spill = model_value(s->m, address);
    if (spill >= s->best) return;
    LOG(exact, "better: %" PRId64 " instead of %" PRId64 " of this stretch", spill, s->best);
    s->best = spill;
    memcpy(s->address, address, (size_t)s->m->item_count * sizeof *address);
    budget_better(s->budget, s->m, address, spill);
}

void search_decide(struct search *s, int32_t j, bool low, bool high)
{
    double size = search_size(s->m, j);
    s->low[j] = low;
    s->high[j] = high;
    s->lp->low[j] = low ? size : 0;
    s->lp->high[j] = high ? size : 0;
}

static void search_new(struct search *s)
{
    struct arena memory = {0};
    const struct model *m = s->m;
    int32_t n = model_columns(m);
    size_t columns = (size_t)n + 1, sections = (size_t)m->section_count + 1;
    double *upper = arena_array(&memory, columns, sizeof *upper),
           *cost = arena_array(&memory, columns, sizeof *cost);
    double *need = arena_array(&memory, sections, sizeof *need);
    int32_t *first = arena_array(&memory, columns, sizeof *first),
            *last = arena_array(&memory, columns, sizeof *last);
    for (int32_t j = 0; j < n; j++) {
        upper[j] = search_size(m, j);
        if (j < m->item_count) {
            cost[j] = (double)m->items[j].cost / upper[j];
            first[j] = m->items[j].first;
            last[j] = m->items[j].last;
        } else if (j >= model_choices(m)) {
            cost[j] = (double)m->linked_costs[j - model_choices(m)].cost / upper[j];
            last[j] = -1;
        } else {
            first[j] = m->edges[j - m->item_count].section;
            last[j] = first[j] < 0 ? -1 : first[j];
            if (first[j] < 0) first[j] = 0;
        }
    }
    for (int32_t t = 0; t < m->section_count; t++) need[t] = (double)m->need[t];
    s->lp = lp_new(&(struct lp_shape){n, m->section_count, first, last, upper, cost, need});
    arena_free(&memory);
    bool **flags[] = {&s->low,   &s->high, &s->fixed_low, &s->fixed_high,
                      &s->point, &s->kept, &s->merged,    &s->core};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        *flags[k] = arena_array(&s->memory, columns, sizeof **flags[k]);
    memset(s->fixed_high, 1, columns);
    for (int32_t i = 0; i < m->item_count; i++) {
        if (m->items[i].must) s->fixed_high[i] = false;
        if (m->items[i].never) s->fixed_low[i] = true;
    }
    s->section_dual = arena_array(&s->memory, sections, sizeof *s->section_dual);
    s->rise = arena_array(&s->memory, columns, sizeof *s->rise);
    s->fraction = arena_array(&s->memory, columns, sizeof *s->fraction);
    s->root_reduced = arena_array(&s->memory, columns, sizeof *s->root_reduced);
    s->trial = arena_array(&s->memory, columns, sizeof *s->trial);
    s->row_dual_room = m->row_room;
    s->row_dual = mem_zeroed((size_t)m->row_room + 1, sizeof *s->row_dual);
    s->row_scale = mem_zeroed((size_t)m->row_room + 1, sizeof *s->row_scale);
    packer_new(&s->packer, m, s->budget);
    s->proof.section = arena_array(&s->memory, sections, sizeof *s->proof.section);
    s->proof.reduced = arena_array(&s->memory, columns, sizeof *s->proof.reduced);
    s->proof.prefix = arena_array(&s->memory, sections, sizeof *s->proof.prefix);
}

void search_open(struct search *s, struct model *m, struct budget *budget, const struct search_tuning *tuning,
                 int64_t *address, int64_t best)
{
    *s = (struct search){.m = m, .budget = budget, .tuning = *tuning, .best = best, .address = address};
    search_new(s);
    for (int32_t k = 0; k < m->row_count; k++) search_enter_row(s, k);
    VEC_PUSH(&s->nodes, (struct search_node){.parent = -1, .column = -1, .leaf = -1});
    if (!m->hopeless) VEC_PUSH(&s->open, 0);
    s->packer.capacity += tuning->reserve;
    s->lp->stop = budget_stopped;
    s->lp->stop_context = budget;
}

void search_close(struct search *s, struct search_stats *stats)
{
    s->stats.pivots = s->lp->effort;
    s->stats.fit_calls = s->packer.calls;
    s->stats.fit_nodes = s->packer.nodes;
    int64_t *to = (int64_t *)stats, *from = (int64_t *)&s->stats;
    for (size_t k = 0; k < sizeof s->stats / sizeof *from; k++) to[k] += from[k];
    lp_free(s->lp);
    arena_free(&s->packer.memory);
    mem_free(s->proof.row);
    arena_free(&s->memory);
    mem_free(s->row_dual);
    mem_free(s->row_scale);
    for (size_t k = 0; k < s->riddles.count; k++) mem_free(s->riddles.at[k].kept);
    VEC_FREE(&s->riddles);
    VEC_FREE(&s->nodes);
    VEC_FREE(&s->open);
    VEC_FREE(&s->leaves);
}

/* --- Branching. Branches on the column whose two sides raise the bound most, judged by earlier branches. Per
 * column and side the mean rise of the linear programme's objective for each unit of fraction is kept
 * (pseudo-costs). A column with too few samples is tried out: both sides are solved for a few pivots (strong
 * branching), the best-looking columns first. The score of a column is the product of its two rises, so that
 * both sides count. Rises are floating point and only guide; nothing is decided here. --- */

enum { RELIABLE = 4, MOST_TRIALS = 8, TRIAL_PIVOTS = 40 };

/* The cost that depends on a column's value. */
static double search_stake(const struct model *m, int32_t j)
{
    if (j >= m->item_count) return 1e-3;
    double stake = fabs((double)m->items[j].cost);
    for (int32_t k = m->linked ? m->linked_first[j] : 0; m->linked && k < m->linked_first[j + 1]; k++)
        if (m->linked_of[k] < m->priced_count) stake += (double)m->linked_costs[m->linked_of[k]].cost;
    return stake + 1e-3;
}

static double side_rise(const struct search *s, int32_t j, bool up)
{
    const struct search_rise *r = &s->rise[j][up];
    double distance = up ? 1 - s->fraction[j] : s->fraction[j];
    if (r->count > 0) return r->sum / r->count * distance;
    const struct search_rise *all = &s->rise_of_all[up];
    double stake = search_stake(s->m, j);
    return stake * distance * (all->count > 0 ? all->sum / all->count : 1);
}

static void search_learn(struct search *s, int32_t j, bool up, double distance, double rise)
{
    if (distance < 1e-6) return;
    struct search_rise *r = &s->rise[j][up], *all = &s->rise_of_all[up];
    rise = fmax(rise, 0);
    r->sum += rise / distance;
    r->count++;
    all->sum += rise / distance / search_stake(s->m, j);
    all->count++;
}

static double score_of(const struct search *s, double down, double up)
{
    double least = 1e-6 * (fabs((double)s->best) + 1);
    return fmax(down, least) * fmax(up, least);
}

/* The objective of one side after some pivots; at least the cutoff if the side is refuted. */
static double try_side(struct search *s, int32_t j, bool value)
{
    int64_t pivots = s->lp->effort;
    search_decide(s, j, value, value);
    s->lp->most_pivots = s->lp->pivots + TRIAL_PIVOTS;
    enum lp_result result = lp_solve(s->lp, search_cutoff(s));
    s->lp->most_pivots = 0;
    s->budget->steps += s->lp->effort - pivots + 1;
    double objective = lp_objective(s->lp), end = search_cutoff(s);
    return result == LP_INFEASIBLE || result == LP_CUTOFF ? fmax(objective, end) : objective;
}

struct choice {
    double score;
    int32_t column;
};

ORDER(compare_choices, struct choice, ORDER_DOWN(score) ORDER_UP(column));

/* The column to branch on at a node with point `fraction` and objective `now`; -1: none. */
static int32_t search_choose(struct search *s, double now)
{
    OWNED struct choice *choices = mem_alloc(((size_t)model_choices(s->m) + 1) * sizeof *choices);
    int32_t n = 0, tried = 0;
    for (int32_t j = 0; j < model_choices(s->m); j++) {
        double f = s->fraction[j];
        if (fmin(f, 1 - f) < 1e-6 || s->low[j] == s->high[j]) continue;
        choices[n++] = (struct choice){score_of(s, side_rise(s, j, false), side_rise(s, j, true)), j};
    }
    qsort(choices, (size_t)n, sizeof *choices, compare_choices);

    int32_t best = n > 0 ? choices[0].column : -1;
    double most = -1;
    for (int32_t k = 0; k < n && tried < MOST_TRIALS && !budget_spent(s->budget); k++, tried++) {
        int32_t j = choices[k].column;
        double score = choices[k].score, f = s->fraction[j];
        if (s->rise[j][0].count < RELIABLE || s->rise[j][1].count < RELIABLE) {
            double down = try_side(s, j, false) - now, up = try_side(s, j, true) - now;
            search_decide(s, j, false, true);
            search_learn(s, j, false, f, down);
            search_learn(s, j, true, 1 - f, up);
            score = score_of(s, down, up);
        }
        if (score <= most) continue;
        most = score;
        best = j;
    }
    return best;
}

/* A node visits all columns several times. */
enum { PLUNGE_EVERY = 300, COLUMNS_A_STEP = 512 };

/* The certified bound of the engine's current duals over the current box. */
static int64_t search_prove(struct search *s)
{
    lp_duals(s->lp, s->section_dual, s->row_dual);
    for (int32_t k = 0; k < s->m->row_count; k++) s->row_dual[k] *= s->row_scale[k];
    certify(&s->proof, s->m, s->section_dual, s->row_dual, s->low, s->high);
    return certified_bound(&s->proof, s->m);
}

/* With bound `value`, would moving a column with this reduced cost off its bound reach the best? */
static bool closes_gap(const struct search *s, int128 value, int128 reduced, int128 scale)
{
    int128 step = s->m->cost_step, far = value + (reduced > 0 ? reduced : -reduced);
    return far > (s->best - s->m->base - step) * scale;
}

/* Fixes columns for the whole tree by the root's certificate, whenever the best improves. */
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

/* Sets the box of a node. False: it contradicts the columns fixed for the whole tree. */
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
    int64_t bound = s->nodes.at[node].bound, pivots = s->lp->effort;
    *result = lp_solve(s->lp, search_cutoff(s));
    s->budget->steps += s->lp->effort - pivots + 1 + model_columns(s->m) / COLUMNS_A_STEP;
    bound = max_i64(bound, search_prove(s));
    if (bound < s->best && (double)bound > (double)s->best * (1 - 1e-6)) {
        s->lp->cost = s->lp->true_cost;
        *result = lp_solve(s->lp, INFINITY);
        bound = max_i64(bound, search_prove(s));
        s->lp->cost = s->lp->perturbed_cost;
    } else if (bound < s->best && *result == LP_CUTOFF)
        *result = lp_solve(s->lp, INFINITY);
    *now = lp_objective(s->lp);
    struct search_node *here = &s->nodes.at[node];
    here->bound = bound;
    if (here->column >= 0 && here->distance > 0)
        search_learn(s, here->column, here->value, here->distance,
                     fmin(*now, search_cutoff(s)) - here->objective);
    here->distance = 0; /* learn only once */
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
    if (node == 0 && result == LP_OPTIMAL && search_add_covers(s) > 0) return LEAF_AGAIN;
    /* The column to branch on: the fractional one with the highest stake, items before handovers. Linked
     * costs follow from these. -1: none. */
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
    if (node == 0) { /* decisions at the root hold everywhere */
        memcpy(s->fixed_low, s->low, (size_t)model_columns(s->m));
        memcpy(s->fixed_high, s->high, (size_t)model_columns(s->m));
    }
    if (*column >= 0 && s->low[*column] == s->high[*column]) return LEAF_AGAIN;
    if (*column < 0) {
        enum leaf leaf = search_visit_leaf(s, node, s->nodes.at[node].bound);
        if (leaf != LEAF_SPLIT) return leaf;
        /* Any undecided column; none: a single point, which is no better or breaks a row. */
        for (int32_t j = 0; j < model_choices(s->m) && *column < 0; j++)
            if (s->low[j] != s->high[j]) *column = j;
    } else if (!s->tuning.light)
        *column = search_choose(s, now);
    return *column < 0 ? LEAF_DONE : LEAF_SPLIT;
}

/* Works on one node and dives, each time into the child nearer to the relaxation. Other children and
 * unfinished nodes go to the heap. */
static void search_dive(struct search *s, int32_t node)
{
    int32_t sibling = -1; /* of `node`, not yet in the heap: next if `node` is empty */
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
        /* A cheaper leaf waits: dearer ones are not urgent. */
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

void search_continue(struct search *s, int64_t steps, int32_t riddles)
{
    s->pause_at = s->budget->steps + min_i64(steps, s->budget->limit);
    s->riddles_until = s->stats.unresolved + riddles;
    search_fix_at_root(s);
    while (s->open.count + s->leaves.count > 0 && !search_paused(s)) {
        size_t where = 0;
        int64_t leaf = cheapest_leaf(s, &where),
                least = s->open.count ? s->nodes.at[s->open.at[0]].bound : leaf;
        int64_t floor = min_i64(least, leaf), proved = floor;
        if (floor >= s->best) break;
        for (size_t k = 0; k < s->riddles.count; k++) proved = min_i64(proved, s->riddles.at[k].floor);
        budget_bound(s->budget, s->m, max_i64(proved, 0));
        if ((double)(s->best - floor) <= s->tuning.tolerance * (double)s->best) break;
        if (s->holds_leaves && leaf <= least) break; /* the relaxation is solved */
        int32_t node;
        if (leaf < INT64_MAX && (leaf <= least || !search_too_early(s, leaf))) {
            node = s->leaves.at[where];
            s->leaves.at[where] = s->leaves.at[--s->leaves.count];
        } else {
            node = s->open.at[0];
            s->open.at[0] = s->open.at[--s->open.count];
            HEAP_SINK(int32_t, s->open.at, s->open.count, 0, node_before, s);
        }
        /* Plunges at the root, and now and then while no leaf is in sight. */
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

int64_t search_bound(const struct search *s)
{
    int64_t proved = s->best;
    for (size_t k = 0; k < s->riddles.count; k++) proved = min_i64(proved, s->riddles.at[k].floor);
    for (size_t k = 0; k < s->open.count; k++) proved = min_i64(proved, s->nodes.at[s->open.at[k]].bound);
    for (size_t k = 0; k < s->leaves.count; k++) proved = min_i64(proved, s->nodes.at[s->leaves.at[k]].bound);
    return max_i64(proved, 0);
}
