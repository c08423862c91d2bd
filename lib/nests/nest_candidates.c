/* All runs from every op on, their axes, and the levels that can be made of them; the best are kept in a
 * heap-less list, which is short. */
#include "nests/nest_guess.h"
#include "base/cancel.h"
#include "base/fail.h"
#include "base/memory.h"
#include "divide/op_nest.h"
#include "layout/op_index.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COUNTS = 64 };

struct finding {
    const struct nest_asks *asks;
    const struct lx_layouts *l;
    struct arena *memory, *scratch; /* of what is kept; of a run */
    struct nest_list all, runs;
    struct nest_candidate one; /* the best of the run under way; level_count 0: none */
    /* Of the run under way: */
    int32_t first, last;
    int axis_count;
    struct axis_found axes[MOST_AXES];
    int64_t counts[MOST_AXES][MOST_COUNTS];
    int count_of[MOST_AXES];
    struct run_tensor *tensors, *groups; /* and those that are alike for the axes under way as one */
    int32_t tensor_count, group_count;
    int64_t now, must; /* bytes that its ops move; and that any nest moves */
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

/* Variables of the levels, and the holds, copied for good. */
static bool nest_candidates_settle(struct finding *f, const int *axis, struct nest_candidate *c)
{
    int32_t ops = f->last - f->first + 1;
    signed char(*var)[LX_MAX_LEVELS] = arena_array(f->memory, (size_t)ops, sizeof *var);
    struct hold *holds = arena_array(f->memory, (size_t)f->tensor_count, sizeof *holds);
    if (!var) return false;
    for (int32_t o = 0; o < ops; o++)
        for (int l = 0; l < c->nest.level_count; l++) var[o][l] = f->axes[axis[l]].var[o];
    for (int32_t i = 0; i < f->tensor_count; i++)
        if (f->hold[i] >= 0) holds[c->hold_count++] = (struct hold){f->tensors[i].tensor, 0, f->hold[i]};
    c->nest.var = (const signed char(*)[LX_MAX_LEVELS])var;
    c->holds = holds;
    return true;
}

static bool nest_candidates_is_wanted(const struct nest_list *l, const struct nest_candidate *c)
{
    return l->most > 0 && (l->count < l->most || nest_candidates_is_better(c, &l->at[l->most - 1]));
}

/* Into its place in the list; what falls out at the end is the worst. */
static void nest_candidates_insert(struct nest_list *l, const struct nest_candidate *c)
{
    int32_t at = l->count == l->most ? l->most - 1 : l->count++;
    for (; at > 0 && nest_candidates_is_better(c, &l->at[at - 1]); at--) l->at[at] = l->at[at - 1];
    l->at[at] = *c;
}

/* The best of its run so far, where these are wanted. */
static bool leads(const struct finding *f, const struct nest_candidate *c)
{
    return nest_candidates_is_wanted(&f->runs, c) &&
           (!f->one.nest.level_count || nest_candidates_is_better(c, &f->one));
}

static bool nest_candidates_is_of_use(const struct finding *f, const struct nest_candidate *c)
{
    return c->gain >= f->asks->least_gain && (nest_candidates_is_wanted(&f->all, c) || leads(f, c));
}

static void nest_candidates_keep(struct finding *f, const int *axis, struct nest_candidate c)
{
    if (!nest_candidates_is_of_use(f, &c)) return;
    nest_candidates_settle(f, axis, &c);
    if (leads(f, &c)) f->one = c;
    if (nest_candidates_is_wanted(&f->all, &c)) nest_candidates_insert(&f->all, &c);
}

static struct guessing guess_of(const struct finding *f, int levels, const int *axis, const int64_t *tiles)
{
    return (struct guessing){f->tensors, f->tensor_count, f->first, f->last, levels, axis,
                             tiles,      f->asks->room,   f->load,  f->ways, f->hold};
}

/* All counts of the levels from `level` on, as long as there is time. */
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
    c.gain = f->now - nest_guess_least(&g, f->groups, f->group_count);
    if (!nest_candidates_is_of_use(f, &c)) return;
    c.bytes = nest_guess(&g);
    c.gain = f->now - c.bytes;
    nest_candidates_keep(f, axis, c);
}

static bool is_summed(const struct run_tensor *t, int levels, const int *axis)
{
    bool sum = false;
    for (int l = 0; l < levels; l++) sum |= t->made && t->summed[axis[l]];
    return sum;
}

/* Does the op sum what may be summed so, and read no sum that is incomplete but those that may be read? */
static bool op_sums_right(const struct finding *f, const struct lx_nest *n, const int *axis, int32_t op)
{
    const struct lx_op *o = &f->l->graph->ops[op];
    for (int32_t i = 0; i < f->tensor_count; i++)
        for (int k = 0; k < o->input_count && is_summed(&f->tensors[i], n->level_count, axis); k++)
            if (o->inputs[k] == f->tensors[i].tensor && !nest_reads_running(f->l, n, op, o->inputs[k]))
                return false;
    return nest_sums_op(f->l, n, op);
}

/* Can these axes be cut, as far as sums go? */
static bool nest_candidates_sums_right(struct finding *f, int levels, const int *axis)
{
    int32_t ops = f->last - f->first + 1;
    bool any = false, right = true;
    for (int32_t i = 0; i < f->tensor_count; i++) any |= is_summed(&f->tensors[i], levels, axis);
    if (!any) return true;
    signed char(*var)[LX_MAX_LEVELS] = arena_array(f->scratch, (size_t)ops, sizeof *var);
    for (int32_t o = 0; o < ops; o++)
        for (int l = 0; l < levels; l++) var[o][l] = f->axes[axis[l]].var[o];
    const struct lx_nest n = {.first = f->first,
                              .last = f->last,
                              .level_count = levels,
                              .var = (const signed char(*)[LX_MAX_LEVELS])var};
    for (int32_t o = f->first; right && o <= f->last; o++) right = op_sums_right(f, &n, axis, o);
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

static struct run_tensor *nest_candidates_tensor_of(struct finding *f, int32_t tensor)
{
    for (int32_t i = 0; i < f->tensor_count; i++)
        if (f->tensors[i].tensor == tensor) return &f->tensors[i];
    struct run_tensor *t = &f->tensors[f->tensor_count++];
    *t = (struct run_tensor){.tensor = tensor, .bytes = tensor_bytes(f->l, tensor), .first = -1};
    /* Has somebody after the run a use for it? */
    int32_t last = f->last;
    int32_t k = f->asks->now->tensor_at[tensor + 1] - 1;
    t->wanted = lx_role_leaves(f->asks->now->graph->tensors[tensor].role) ||
                f->asks->now->access_op[f->asks->now->tensor_access[k]] > last;
    memset(t->dim, -1, sizeof t->dim);
    return t;
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
    f->now = f->must = 0;
    for (int32_t o = f->first; o <= f->last; o++) {
        struct op_index x;
        op_index_of(f->l->graph, &f->l->graph->ops[o], &x);
        for (int i = 0; i < x.operand_count; i++) {
            const struct lx_op *op = &f->l->graph->ops[o];
            struct run_tensor *t = nest_candidates_tensor_of(f, op_operand(op, i));
            bool writes = i >= op->input_count;
            if (t->first < 0) t->first = o;
            t->last = o;
            t->made |= writes;
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

/* A single op only if it accesses a tensor twice. */
static bool worth_a_nest(const struct finding *f)
{
    for (int32_t i = 0; i < f->tensor_count && f->first == f->last; i++)
        if (f->tensors[i].reads + f->tensors[i].writes > 1) return true;
    return f->first < f->last;
}

static void try_run(struct finding *f, const struct axis_run *r)
{
    int axis[LX_MAX_LEVELS];
    f->last = axis_run_last(r);
    f->axis_count = axis_run_axes(r, f->axes, f->scratch);
    if (f->axis_count == 0) return;
    nest_candidates_take_tensors(f);
    if (!worth_a_nest(f) || f->now == 0) return;
    for (int a = 0; a < f->axis_count; a++) {
        /* Divisors from 2 on; if they are too many, evenly spread ones. */
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

static void runs_from(struct finding *f, int32_t first)
{
    const struct nest_asks *a = f->asks;
    struct axis_run *r = axis_run_begin(f->l, first, f->scratch);
    bool grows = true;
    f->first = first;
    for (int32_t n = 0; grows && n < a->longest && first + n < f->l->graph->op_count &&
                        nest_of_op(a->now->how.nests, a->now->how.nest_count, first + n) < 0;
         n++) {
        grows = axis_run_grow(r) && a->now->bundle_of[first] == a->now->bundle_of[first + n];
        if (grows) try_run(f, r);
    }
}

static void nest_candidates_reserve(struct nest_list *l, int32_t most, struct arena *memory)
{
    *l = (struct nest_list){.at = arena_array(memory, (size_t)most, sizeof *l->at), .most = most};
}

void nest_candidates(const struct nest_asks *a, struct arena *memory, struct nest_list *all,
                     struct nest_list *runs)
{
    struct finding *f = mem_zeroed(1, sizeof *f);
    *f = (struct finding){.asks = a, .l = a->now->layouts, .memory = memory};
    nest_candidates_reserve(&f->all, a->most, memory);
    nest_candidates_reserve(&f->runs, a->most_runs, memory);
    for (int32_t o = 0; o < a->now->graph->op_count && !cancel_requested(); o++) {
        struct arena scratch = {0};
        f->scratch = &scratch;
        runs_from(f, o);
        arena_free(&scratch);
    }
    *all = f->all, *runs = f->runs;
    mem_free(f);
}
