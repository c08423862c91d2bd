/* Candidates for nests: tries all runs from every op on, with their axes and levels; keeps the best in short
 * lists. */
#include "nests/nest_candidates.h"
#include "layout/op_index.h"

/* --- Guesses of a nest's traffic, from the load of the scratchpads alone. --- */

struct run_tensor {
    int32_t tensor, first, last; /* ticks of its accesses in the run */
    int32_t reads, writes;       /* accesses in the run, but for those by indices */
    int64_t picked;              /* bytes that ops of the run read by indices, whatever the tiles */
    int64_t bytes;               /* of the whole tensor */
    bool made, wanted;           /* an op of the run makes it; a later op or the outside needs it */
    bool gives_way;              /* the last op may write over it */
    signed char dim[MOST_AXES];  /* per axis of the run: the dimension that it indexes, or -1 */
    bool summed[MOST_AXES];      /* per axis: the op that makes the tensor sums over it */
};

struct hold_way {
    bool is;
    int64_t bytes, cost;
    int32_t from, to; /* ticks on chip */
};

/* The ways to hold a tensor at each level, and the cheapest that fits. */
struct tensor_ways {
    struct hold_way at[LX_MAX_LEVELS + 1];
    int64_t off;  /* bytes moved if in HBM */
    int best;     /* level; -1: HBM */
    double worth; /* bytes saved by `best` per byte held and tick */
};

/* A guess for a nest with levels that cut axes `axis` into `tiles`. */
struct guessing {
    const struct run_tensor *t;
    int32_t count, first, last; /* tensors; ops of the run */
    int levels;
    const int *axis;
    const int64_t *tiles;
    int64_t room;
    int64_t *load;            /* per op of the run */
    struct tensor_ways *ways; /* per tensor */
    signed char *hold;        /* per tensor: its level; -1: HBM; -2: undecided */
};

enum levels_of { INDEXING, OTHER, SUMMED };

/* Product of the tile counts up to `level` over levels that index the tensor, that do not, or that its op
 * sums over. */
static int64_t nest_guess_product(const struct guessing *g, const struct run_tensor *t, int level,
                                  enum levels_of of)
{
    int64_t all = 1;
    for (int l = 0; l < level; l++)
        if (of == SUMMED ? t->summed[g->axis[l]] : (t->dim[g->axis[l]] >= 0) == (of == INDEXING))
            all *= g->tiles[l];
    return all;
}

static int64_t nest_guess_off_chip(const struct guessing *g, const struct run_tensor *t)
{
    int64_t times = nest_guess_product(g, t, g->levels, OTHER);
    return t->picked +
           t->bytes * (t->reads * times + t->writes * (2 * nest_guess_product(g, t, g->levels, SUMMED) - 1));
}

static struct hold_way way_of(const struct guessing *g, const struct run_tensor *t, int level)
{
    struct hold_way w = {.from = g->first, .to = g->last};
    if (level > 0 && t->dim[g->axis[level - 1]] < 0) return w;
    if (t->made && level > 0 && level < g->levels && nest_guess_product(g, t, g->levels, SUMMED) == 1)
        return w;
    int64_t parts = nest_guess_product(g, t, level, SUMMED);
    w.is = true;
    w.bytes = t->bytes / nest_guess_product(g, t, level, INDEXING);
    if (level == g->levels) w.from = t->first, w.to = t->last - t->gives_way;
    if (!t->made)
        w.cost = t->bytes * nest_guess_product(g, t, level, OTHER);
    else if (parts > 1)
        w.cost = t->bytes * (2 * parts - 1);
    else if (t->wanted)
        w.cost = t->bytes;
    return w;
}

static bool nest_guess_fits(const struct guessing *g, const struct hold_way *w)
{
    for (int32_t k = w->from; k <= w->to; k++)
        if (g->load[k - g->first] + w->bytes > g->room) return false;
    return true;
}

static void nest_guess_put(const struct guessing *g, const struct hold_way *w, int64_t sign)
{
    for (int32_t k = w->from; k <= w->to; k++) g->load[k - g->first] += sign * w->bytes;
}

static int64_t nest_guess_cost_of(const struct tensor_ways *y, int level)
{
    return level < 0 ? y->off : y->at[level].cost;
}

/* The cheapest level that fits in the room left; -1: HBM. */
static int cheapest(const struct guessing *g, const struct tensor_ways *y)
{
    int level = -1;
    for (int h = g->levels; h >= 0; h--)
        if (y->at[h].is && y->at[h].cost < nest_guess_cost_of(y, level) && nest_guess_fits(g, &y->at[h]))
            level = h;
    return level;
}

static void nest_guess_judge(const struct guessing *g, struct tensor_ways *y)
{
    y->best = cheapest(g, y);
    y->worth = 0;
    if (y->best < 0) return;
    const struct hold_way *w = &y->at[y->best];
    y->worth =
        (double)(y->off - w->cost) / ((double)w->bytes + 1) / (double)(max_i64(w->to - w->from, 0) + 1);
}

/* Merges tensors whose cost per byte is equal for all tile counts, into `groups`; returns their number. */
static int32_t nest_guess_groups(const struct guessing *g, struct run_tensor *groups)
{
    int32_t count = 0;
    for (int32_t i = 0; i < g->count; i++) {
        int32_t k = 0;
        for (bool alike = false; k < count; k++) {
            const struct run_tensor *a = &groups[k], *b = &g->t[i];
            alike = a->made == b->made && a->wanted == b->wanted && a->reads == b->reads &&
                    a->writes == b->writes && !a->picked && !b->picked;
            for (int l = 0; alike && l < g->levels; l++)
                alike = (a->dim[g->axis[l]] < 0) == (b->dim[g->axis[l]] < 0) &&
                        a->summed[g->axis[l]] == b->summed[g->axis[l]];
            if (alike) break;
        }
        if (k < count)
            groups[k].bytes += g->t[i].bytes;
        else
            groups[count++] = g->t[i];
    }
    return count;
}

/* Guesses the bytes that a nest moves. Tensors go on chip greedily, the most bytes saved per byte and tick
 * first, each with the cheapest hold that fits; then holds are improved. */
static int64_t nest_guess(const struct guessing *g)
{
    int64_t bytes = 0;
    for (int32_t k = g->first; k <= g->last; k++) g->load[k - g->first] = 0;
    for (int32_t i = 0; i < g->count; i++) {
        struct tensor_ways *y = &g->ways[i];
        y->off = nest_guess_off_chip(g, &g->t[i]);
        for (int h = 0; h <= g->levels; h++) y->at[h] = way_of(g, &g->t[i], h);
        g->hold[i] = -2;
        nest_guess_judge(g, y);
    }
    for (int32_t n = 0; n < g->count; n++) {
        /* The undecided tensor with the largest worth. */
        int32_t i = -1;
        for (int32_t j = 0; j < g->count; j++)
            if (g->hold[j] == -2 && (i < 0 || g->ways[j].worth > g->ways[i].worth)) i = j;
        struct tensor_ways *y = &g->ways[i];
        g->hold[i] = (signed char)y->best;
        bytes += nest_guess_cost_of(y, y->best);
        if (y->best < 0) continue;
        nest_guess_put(g, &y->at[y->best], 1);
        /* The load only grows: a way stays the cheapest while it fits. */
        const struct hold_way *put = &y->at[y->best];
        for (int32_t k = 0; k < g->count; k++) {
            struct tensor_ways *other = &g->ways[k];
            if (g->hold[k] != -2 || other->best < 0) continue;
            const struct hold_way *w = &other->at[other->best];
            if (w->from <= put->to && put->from <= w->to && !nest_guess_fits(g, w))
                nest_guess_judge(g, other);
        }
    }
    bool any = true;
    for (int k = 0; k < 3 && any; k++) { /* improve single holds */
        any = false;
        for (int32_t i = 0; i < g->count; i++) {
            const struct tensor_ways *y = &g->ways[i];
            int64_t before = nest_guess_cost_of(y, g->hold[i]);
            if (g->hold[i] >= 0) nest_guess_put(g, &y->at[g->hold[i]], -1);
            int level = cheapest(g, y);
            if (nest_guess_cost_of(y, level) < before) {
                bytes += nest_guess_cost_of(y, level) - before;
                g->hold[i] = (signed char)level;
                any = true;
            }
            if (g->hold[i] >= 0) nest_guess_put(g, &y->at[g->hold[i]], 1);
        }
    }
    return bytes;
}

/* --- Runs and axes. --- */

enum { MOST_COUNTS = 64 };

struct finding {
    const struct nest_asks *asks;
    const struct lx_layouts *l;
    struct arena *memory, *scratch; /* memory: for results; scratch: for one run */
    struct nest_list all, runs;
    struct nest_candidate one; /* best candidate of the current run; level_count 0: none */
    int32_t first, last;
    int axis_count;
    struct axis_found axes[MOST_AXES];
    int64_t counts[MOST_AXES][MOST_COUNTS];
    int count_of[MOST_AXES];
    struct run_tensor *tensors, *groups; /* groups: tensors merged for the current axes */
    int32_t tensor_count, group_count;
    int64_t now; /* bytes that the run's ops move now */
    int64_t *load;
    struct tensor_ways *ways;
    signed char *hold;
};

static bool nest_candidates_is_better(const struct nest_candidate *a, const struct nest_candidate *b)
{
    int64_t one = nest_iterations(&a->nest), two = nest_iterations(&b->nest);
    if (a->gain != b->gain) return a->gain > b->gain;
    if (one != two) return one < two;
    if (a->nest.level_count != b->nest.level_count) return a->nest.level_count < b->nest.level_count;
    return a->nest.first != b->nest.first ? a->nest.first < b->nest.first : a->nest.last < b->nest.last;
}

static bool nest_candidates_is_wanted(const struct nest_list *l, const struct nest_candidate *c)
{
    return l->most > 0 && (l->count < l->most || nest_candidates_is_better(c, &l->at[l->most - 1]));
}

/* Inserts a candidate at its place; a full list drops its worst. */
static void nest_candidates_insert(struct nest_list *l, const struct nest_candidate *c)
{
    int32_t at = l->count == l->most ? l->most - 1 : l->count++;
    for (; at > 0 && nest_candidates_is_better(c, &l->at[at - 1]); at--) l->at[at] = l->at[at - 1];
    l->at[at] = *c;
}

/* True if the candidate would be the best of its run, if those are collected. */
static bool leads(const struct finding *f, const struct nest_candidate *c)
{
    return nest_candidates_is_wanted(&f->runs, c) &&
           (!f->one.nest.level_count || nest_candidates_is_better(c, &f->one));
}

static bool nest_candidates_is_of_use(const struct finding *f, const struct nest_candidate *c)
{
    return c->gain >= f->asks->least_gain && (nest_candidates_is_wanted(&f->all, c) || leads(f, c));
}

static struct guessing guess_of(const struct finding *f, int levels, const int *axis, const int64_t *tiles)
{
    return (struct guessing){f->tensors, f->tensor_count, f->first, f->last, levels, axis,
                             tiles,      f->asks->room,   f->load,  f->ways, f->hold};
}

typedef const signed char (*level_vars)[LX_MAX_LEVELS];

/* Per op: its variable at each level. */
static level_vars vars_of_axes(const struct finding *f, int levels, const int *axis, struct arena *memory)
{
    int32_t ops = f->last - f->first + 1;
    signed char(*var)[LX_MAX_LEVELS] = arena_array(memory, (size_t)ops, sizeof *var);
    for (int32_t o = 0; o < ops; o++)
        for (int l = 0; l < levels; l++) var[o][l] = f->axes[axis[l]].var[o];
    return (level_vars)var;
}

/* Tries all tile counts of the levels from `level` on, until cancelled. */
static void nest_candidates_try_counts(struct finding *f, int levels, const int *axis, int level,
                                       int64_t *tiles)
{
    if (level < levels && level < LX_MAX_LEVELS) {
        for (int i = 0; i < f->count_of[axis[level]]; i++) {
            tiles[level] = f->counts[axis[level]][i];
            nest_candidates_try_counts(f, levels, axis, level + 1, tiles);
        }
        return;
    }
    if (cancel_requested()) return;
    struct guessing g = guess_of(f, levels, axis, tiles);
    struct nest_candidate c = {.nest = {.first = f->first, .last = f->last, .level_count = levels}};
    memcpy(c.nest.tiles, tiles, (size_t)levels * sizeof *tiles);
    int64_t least;
    if (!mul_i64(nest_iterations(&c.nest),
                 f->asks->loop_bytes + (f->last - f->first + 1) * f->asks->tick_bytes, &least) ||
        least > f->now)
        return; /* its iterations alone take longer */
    const int64_t turns = least;
    for (int32_t i = 0; i < f->group_count; i++) {
        int64_t best = nest_guess_off_chip(&g, &f->groups[i]);
        for (int h = 0; h <= g.levels; h++) {
            struct hold_way w = way_of(&g, &f->groups[i], h);
            if (w.is) best = min_i64(best, w.cost);
        }
        least += best;
    }
    c.gain = f->now - least;
    if (!nest_candidates_is_of_use(f, &c)) return;
    c.gain = f->now - nest_guess(&g) - turns;
    if (!nest_candidates_is_of_use(f, &c)) return;
    /* Copies variables and holds to the result's memory. */
    struct hold *holds = arena_array(f->memory, (size_t)f->tensor_count, sizeof *holds);
    for (int32_t i = 0; i < f->tensor_count; i++)
        if (f->hold[i] >= 0) holds[c.hold_count++] = (struct hold){f->tensors[i].tensor, 0, f->hold[i]};
    c.nest.var = vars_of_axes(f, levels, axis, f->memory);
    c.holds = holds;
    if (leads(f, &c)) f->one = c;
    if (nest_candidates_is_wanted(&f->all, &c)) nest_candidates_insert(&f->all, &c);
}

static bool is_summed(const struct run_tensor *t, int levels, const int *axis)
{
    bool sum = false;
    for (int l = 0; l < levels; l++) sum |= t->made && t->summed[axis[l]];
    return sum;
}

static bool nest_candidates_sums_right(struct finding *f, int levels, const int *axis)
{
    bool any = false, right = true;
    for (int32_t i = 0; i < f->tensor_count; i++) any |= is_summed(&f->tensors[i], levels, axis);
    if (!any) return true;
    const struct lx_nest n = {.first = f->first,
                              .last = f->last,
                              .level_count = levels,
                              .var = vars_of_axes(f, levels, axis, f->scratch)};
    for (int32_t op = f->first; right && op <= f->last; op++) {
        const struct lx_op *o = &f->l->graph->ops[op];
        for (int32_t i = 0; i < f->tensor_count && right; i++)
            for (int k = 0; right && k < o->input_count && is_summed(&f->tensors[i], levels, axis); k++)
                right =
                    o->inputs[k] != f->tensors[i].tensor || nest_reads_running(f->l, &n, op, o->inputs[k]);
        right = right && nest_sums_op(f->l, &n, op);
    }
    return right;
}

static void try_axes(struct finding *f, int levels, int level, int *axis)
{
    int64_t tiles[LX_MAX_LEVELS];
    if (level == levels || level >= LX_MAX_LEVELS) {
        if (!nest_candidates_sums_right(f, levels, axis)) return;
        struct guessing g = guess_of(f, levels, axis, tiles);
        f->group_count = nest_guess_groups(&g, f->groups);
        nest_candidates_try_counts(f, levels, axis, 0, tiles);
        return;
    }
    for (int a = 0; a < f->axis_count; a++) {
        bool used = false;
        for (int l = 0; l < level; l++) used |= axis[l] == a;
        axis[level] = a;
        if (!used) try_axes(f, levels, level + 1, axis);
    }
}

static void nest_candidates_take_tensors(struct finding *f)
{
    size_t most = 0;
    for (int32_t o = f->first; o <= f->last; o++) most += (size_t)op_operand_count(&f->l->graph->ops[o]);
    f->tensors = arena_array(f->scratch, most, sizeof *f->tensors);
    f->groups = arena_array(f->scratch, most, sizeof *f->groups);
    f->hold = arena_array(f->scratch, most, sizeof *f->hold);
    f->ways = arena_array(f->scratch, most, sizeof *f->ways);
    f->load = arena_array(f->scratch, (size_t)(f->last - f->first + 1), sizeof *f->load);
    f->tensor_count = 0;
    f->now = 0;
    for (int32_t o = f->first; o <= f->last; o++) {
        struct op_index x;
        op_index_of(f->l->graph, &f->l->graph->ops[o], &x);
        for (int i = 0; i < x.operand_count; i++) {
            const struct lx_op *op = &f->l->graph->ops[o];
            struct run_tensor *t = f->tensors;
            bool writes = i >= op->input_count;
            while (t < f->tensors + f->tensor_count && t->tensor != op_operand(op, i)) t++;
            if (t == f->tensors + f->tensor_count) {
                const struct draft *now = f->asks->now;
                int32_t tensor = op_operand(op, i), k = now->tensor_at[tensor + 1] - 1;
                *t = (struct run_tensor){.tensor = tensor, .bytes = tensor_bytes(f->l, tensor), .first = o};
                t->wanted = lx_role_leaves(now->graph->tensors[tensor].role) ||
                            now->access_op[now->tensor_access[k]] > f->last;
                memset(t->dim, -1, sizeof t->dim);
                f->tensor_count++;
            }
            t->last = o;
            t->made |= writes;
            if (access_is_picked(f->asks->now, f->asks->now->access_at[o] + i))
                t->picked += access_once_bytes(f->l, o, i);
            else
                *(writes ? &t->writes : &t->reads) += 1;
            for (int a = 0; a < f->axis_count; a++) {
                int dim = op_index_dim(&x, i, f->axes[a].var[o - f->first]);
                t->dim[a] = (signed char)dim;
                if (writes) t->summed[a] = dim < 0;
            }
        }
        f->now += f->asks->op_bytes[o];
    }
    for (int32_t i = 0; i < f->tensor_count; i++) {
        struct run_tensor *t = &f->tensors[i];
        const struct lx_op *op = &f->l->graph->ops[t->last];
        t->gives_way =
            !t->wanted && op_operand_made(op, t->tensor) < 0 && runs_in_place_of(f->l, op, t->tensor);
    }
}

static void try_run(struct finding *f, const struct axis_run *r)
{
    int axis[LX_MAX_LEVELS];
    f->last = axis_run_last(r);
    f->axis_count = axis_run_axes(r, f->axes, f->scratch);
    if (f->axis_count == 0) return;
    nest_candidates_take_tensors(f);
    bool worth = f->first < f->last; /* a single op only if it accesses a tensor twice */
    for (int32_t i = 0; i < f->tensor_count; i++) worth |= f->tensors[i].reads + f->tensors[i].writes > 1;
    if (!worth || f->now == 0) return;
    for (int a = 0; a < f->axis_count; a++) {
        /* Divisors from 2 on; if too many, evenly spaced ones. */
        int64_t all[256], n = f->axes[a].divides;
        int count = 0;
        for (int64_t t = 2; t <= n && t <= 4096 && count < 256; t++)
            if (n % t == 0) all[count++] = t;
        int most = f->asks->counts < MOST_COUNTS ? f->asks->counts : MOST_COUNTS,
            taken = count < most ? count : most;
        for (int i = 0; i < taken; i++)
            f->counts[a][i] = all[taken == count ? i : taken == 1 ? 0 : i * (count - 1) / (taken - 1)];
        f->count_of[a] = taken;
    }
    f->one.nest.level_count = 0;
    for (int levels = 1; levels <= LX_MAX_LEVELS && levels <= f->asks->levels && levels <= f->axis_count;
         levels++)
        try_axes(f, levels, 0, axis);
    if (f->one.nest.level_count && nest_candidates_is_wanted(&f->runs, &f->one))
        nest_candidates_insert(&f->runs, &f->one);
}

void nest_candidates(const struct nest_asks *a, struct arena *memory, struct nest_list *all,
                     struct nest_list *runs)
{
    OWNED struct finding *f = mem_zeroed(1, sizeof *f);
    *f = (struct finding){.asks = a, .l = a->now->layouts, .memory = memory};
    f->all = (struct nest_list){arena_array(memory, (size_t)a->most, sizeof *f->all.at), 0, a->most};
    f->runs =
        (struct nest_list){arena_array(memory, (size_t)a->most_runs, sizeof *f->runs.at), 0, a->most_runs};
    for (int32_t o = 0; o < a->now->graph->op_count && !cancel_requested(); o++) {
        SCOPED(arena_free) struct arena scratch = {0};
        f->scratch = &scratch;
        struct axis_run *r = axis_run_begin(f->l, o, &scratch);
        bool grows = true;
        f->first = o;
        for (int32_t last = o; grows && last < o + a->longest && last < f->l->graph->op_count &&
                               nest_of_op(a->now->how.nests, a->now->how.nest_count, last) < 0;
             last++) {
            grows = axis_run_grow(r) && a->now->bundle_of[o] == a->now->bundle_of[last];
            if (grows) try_run(f, r);
        }
    }
    *all = f->all, *runs = f->runs;
}
