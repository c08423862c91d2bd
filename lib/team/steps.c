/* The order of things: exchanges start as soon as their tensor is written and are awaited as late as
 * possible.
 *
 * Consecutive element-wise ops and slices that run over the same ranges form a group. Its core on a device is
 * where nothing that is still awaited is needed; it is computed first, for all ops of the group
 * with the same loop bounds, then come the waits, then what lies before and after the core, loop by loop. */
#include "team/team_private.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/stop.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

struct step_pass {
    struct team_draft *d;
    VEC(struct lx_team_step) steps;
    VEC(struct lx_team_group) groups;
    int32_t *written_in, *touched_in; /* per tensor: the group that last did so, or -1 */
    bool *awaited;                    /* per exchange: a wait stands in the list */
    int32_t *after, *after_at; /* exchanges by the op that they come after, and from where on, by op + 1 */
    bool ok;
};

static void steps_push(struct step_pass *p, enum lx_team_step_kind kind, int32_t op, int32_t exchange,
                       enum lx_team_piece piece, int along)
{
    p->ok = p->ok && VEC_PUSH(&p->steps, (struct lx_team_step){kind, op, exchange, piece, along});
}

/* Ops whose loops can be cut anywhere along their variables. */
static bool loops_cut(const struct team_draft *d, int32_t o)
{
    const struct lx_op *op = &d->g->ops[o];
    bool view = op->offset && !op->map && !op_is_insert(op);
    return d->ops[o].mode == LX_TEAM_SPLIT && op->output_count <= 1 && (team_plain_index(op) || view);
}

static bool same_ranges(const struct team_draft *d, int32_t a, int32_t b)
{
    for (int m = 0; m < d->devices; m++) {
        const struct lx_team_space *x = &d->ops[a].space[m], *y = &d->ops[b].space[m];
        if (x->loops != y->loops || memcmp(x->range, y->range, (size_t)x->loops * sizeof *x->range) != 0)
            return false;
    }
    return true;
}

/* Does every axis cut input `i` where it cuts the op? */
static bool cut_as_op(const struct team_draft *d, int32_t o, const struct op_index *x, int i)
{
    const struct lx_team_tensor *t = &d->tensors[d->g->ops[o].inputs[i]];
    for (int a = 0; a < d->grid.axes; a++) {
        if ((t->shard[a] >= 0) != (d->ops[o].var[a] >= 0)) return false;
        if (t->shard[a] >= 0 && x->var[i][t->shard[a]] != d->ops[o].var[a]) return false;
    }
    return true;
}

/* May op `o` be computed piece by piece together with the ops of group `g`? A piece of it must need only the
 * same piece of what the group writes, and may not overwrite what a later piece of the group reads. */
static bool steps_joins(const struct step_pass *p, int32_t g, int32_t o)
{
    const struct team_draft *d = p->d;
    const struct lx_team_group *group = &p->groups.at[g];
    const struct lx_op *op = &d->g->ops[o];
    const struct lx_team_op *how = &d->ops[o];
    if (!loops_cut(d, o) || !loops_cut(d, group->first) || p->touched_in[op->output] == g) return false;
    if (!same_ranges(d, o, group->first)) return false;
    struct op_index x;
    op_index_of(d->g, op, &x);
    for (int i = 0; i < op->input_count; i++) {
        int32_t t = op->inputs[i], e = how->exchange[i];
        if (e >= 0 && d->exchanges[e].after >= group->first) return false;
        if (p->written_in[t] != g) continue;
        if (!team_plain_index(op) || e >= 0 || !cut_as_op(d, o, &x, i)) return false;
    }
    return true;
}

static bool form_groups(struct step_pass *p)
{
    enum { EACH_OP = 50 };
    struct team_draft *d = p->d;
    for (int32_t o = 0; o < d->g->op_count; o++) {
        const struct lx_op *op = &d->g->ops[o];
        int32_t g = (int32_t)p->groups.count - 1;
        stop_look(EACH_OP + (int64_t)d->devices);
        if (g < 0 || !steps_joins(p, g, o)) {
            if (!VEC_PUSH(&p->groups, (struct lx_team_group){.first = o})) return false;
            g++;
        }
        p->groups.at[g].last = o;
        d->ops[o].group = g;
        for (int i = 0; i < op->input_count; i++) p->touched_in[op->inputs[i]] = g;
        for (int r = op->input_count; r < op_operand_count(op); r++)
            p->touched_in[op_operand(op, r)] = p->written_in[op_operand(op, r)] = g;
    }
    return true;
}

/* Of the values `core` of a variable those for which a device that has [begin, end) of dimension `dim` of input `i` has
 * what is read. */
static struct lx_team_range owned_range(const struct team_draft *d, int32_t o, const struct op_index *x,
                                        int i, int dim, struct lx_team_range own, struct lx_team_range core)
{
    const struct lx_op *op = &d->g->ops[o];
    int64_t extent = d->g->tensors[op->inputs[i]].shape[dim];
    if (op_index_shifted(x, i) && team_is_shift(op)) {
        /* its box includes the place that is written; beyond the ends there are zeros, which everybody owns */
        core = (struct lx_team_range){max_i64(core.begin, own.begin), min_i64(core.end, own.end)};
        if (own.begin == 0) own.begin = -extent;
        if (own.end == extent) own.end = 2 * extent;
    }
    struct lx_team_box part = team_box_along(own), target = team_box_along(core);
    struct lx_team_array array = lx_team_array_of_box(1, &extent, 0, &part);
    struct lx_team_view view = team_view_along(x, i, dim);
    struct lx_team_box found = lx_team_local_core(&array, &view, &target, NULL);
    return (struct lx_team_range){found.offset[0], found.offset[0] + found.size[0]};
}

/* Leaves of a core that for which device `m` owns what input `i` reads: nothing, where that is more than the loops walk. */
static void keep_owned(const struct team_draft *d, int32_t o, const struct op_index *x, int i, int m,
                       struct lx_team_space *core)
{
    int32_t t = d->g->ops[o].inputs[i];
    struct lx_team_box own = team_own_box(&d->grid, &d->g->tensors[t], &d->tensors[t], m);
    for (int dim = 0; dim < own.rank; dim++) {
        if (!d->tensors[t].bound[dim]) continue;
        int loop = team_loop_of(&d->ops[o].space[m], x->var[i][dim]);
        struct lx_team_range *r = &core->range[loop < 0 ? 0 : loop];
        struct lx_team_range have = {own.offset[dim], own.offset[dim] + own.size[dim]};
        *r = loop < 0 ? (struct lx_team_range){r->begin, r->begin} : owned_range(d, o, x, i, dim, have, *r);
    }
}

/* Everything lies after an empty core. */
static bool settle_core(const struct lx_team_space *all, struct lx_team_space *core)
{
    if (!lx_team_space_empty(core)) return true;
    *core = *all;
    core->range[0].end = core->range[0].begin;
    return false;
}

/* Common core of a group, one per device; NULL where no device has one, or memory is out. */
static const struct lx_team_space *common_core(struct step_pass *p, const struct lx_team_group *group)
{
    struct team_draft *d = p->d;
    struct lx_team_space *core =
        arena_copy_array(d->memory, d->ops[group->first].space, (size_t)d->devices, sizeof *core);
    bool any = false;
    if (!core) return p->ok = false, NULL;
    for (int32_t o = group->first; o <= group->last; o++) {
        const struct lx_op *op = &d->g->ops[o];
        struct op_index x;
        op_index_of(d->g, op, &x);
        for (int i = 0; i < op->input_count; i++) {
            int32_t e = d->ops[o].exchange[i];
            for (int m = 0; e >= 0 && !p->awaited[e] && m < d->devices; m++)
                keep_owned(d, o, &x, i, m, &core[m]);
        }
    }
    for (int m = 0; m < d->devices; m++) any |= settle_core(&d->ops[group->first].space[m], &core[m]);
    return any ? core : NULL;
}

static void steps_compute(struct step_pass *p, const struct lx_team_group *group, enum lx_team_piece piece,
                          int along)
{
    for (int32_t o = group->first; o <= group->last; o++) steps_push(p, LX_TEAM_COMPUTE, o, -1, piece, along);
}

static void await(struct step_pass *p, const struct lx_team_group *group)
{
    for (int32_t o = group->first; o <= group->last; o++)
        for (int i = 0; i < p->d->g->ops[o].input_count; i++) {
            int32_t e = p->d->ops[o].exchange[i];
            if (e < 0 || p->awaited[e]) continue;
            p->awaited[e] = true;
            steps_push(p, LX_TEAM_WAIT, -1, e, LX_TEAM_ALL, 0);
        }
}

static bool anything_awaited(const struct step_pass *p, const struct lx_team_group *group)
{
    for (int32_t o = group->first; o <= group->last; o++)
        for (int i = 0; i < p->d->g->ops[o].input_count; i++) {
            int32_t e = p->d->ops[o].exchange[i];
            if (e >= 0 && !p->awaited[e]) return true;
        }
    return false;
}

/* Exchanges are numbered by their first reader, so those of one writer need not be neighbours. */
static void list_exchanges(struct step_pass *p)
{
    const struct team_draft *d = p->d;
    int32_t *at = p->after_at, ops = d->g->op_count;
    for (int32_t e = 0; e < d->exchange_count; e++) at[d->exchanges[e].after + 2]++;
    for (int32_t o = 0; o <= ops; o++) at[o + 1] += at[o];
    for (int32_t e = 0; e < d->exchange_count; e++) p->after[at[d->exchanges[e].after + 1]++] = e;
    for (int32_t o = ops + 1; o > 0; o--) at[o] = at[o - 1]; /* each stands where the next one begins */
    at[0] = 0;
}

static int steps_by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Those after ops first to last, as they are numbered. */
static void start_exchanges(struct step_pass *p, int32_t first, int32_t last)
{
    int32_t from = p->after_at[first + 1], to = p->after_at[last + 2];
    if (to - from > 1) qsort(p->after + from, (size_t)(to - from), sizeof *p->after, steps_by_number);
    for (int32_t k = from; k < to; k++) steps_push(p, LX_TEAM_START, -1, p->after[k], LX_TEAM_ALL, 0);
}

static void steps_emit(struct step_pass *p)
{
    enum { EACH_GROUP = 50 };
    struct team_draft *d = p->d;
    list_exchanges(p);
    start_exchanges(p, -1, -1);
    for (size_t g = 0; g < p->groups.count && p->ok; g++) {
        struct lx_team_group *group = &p->groups.at[g];
        stop_look(EACH_GROUP * (int64_t)(group->last - group->first + 1));
        bool overlap = anything_awaited(p, group) && loops_cut(d, group->first) && !d->how->plain;
        if (overlap) group->core = common_core(p, group);
        if (group->core) steps_compute(p, group, LX_TEAM_CORE, 0);
        await(p, group);
        for (int l = 0; group->core && l < group->core[0].loops; l++) {
            steps_compute(p, group, LX_TEAM_BEFORE, l);
            steps_compute(p, group, LX_TEAM_AFTER, l);
        }
        if (!group->core) steps_compute(p, group, LX_TEAM_ALL, 0);
        if (d->ops[group->first].mode == LX_TEAM_COMBINE)
            steps_push(p, LX_TEAM_REDUCE, group->first, -1, LX_TEAM_ALL, 0);
        start_exchanges(p, group->first, group->last);
    }
}

bool team_order_steps(struct team_draft *d, lx_status *st)
{
    size_t tensors = (size_t)d->g->tensor_count;
    struct step_pass p = {.d = d,
                          .written_in = mem_alloc((tensors + 1) * sizeof *p.written_in),
                          .touched_in = mem_alloc((tensors + 1) * sizeof *p.touched_in),
                          .awaited = mem_zeroed((size_t)d->exchange_count + 1, sizeof *p.awaited),
                          .after = mem_zeroed((size_t)d->exchange_count + 1, sizeof *p.after),
                          .after_at = mem_zeroed((size_t)d->g->op_count + 2, sizeof *p.after_at)};
    p.ok = p.written_in && p.touched_in && p.awaited && p.after && p.after_at;
    for (size_t t = 0; p.ok && t < tensors; t++) p.written_in[t] = p.touched_in[t] = -1;
    p.ok = p.ok && form_groups(&p);
    if (p.ok) steps_emit(&p);
    if (p.ok) {
        d->groups = arena_copy_array(d->memory, p.groups.at, p.groups.count, sizeof *p.groups.at);
        d->steps = arena_copy_array(d->memory, p.steps.at, p.steps.count, sizeof *p.steps.at);
        d->group_count = (int32_t)p.groups.count;
        d->step_count = (int32_t)p.steps.count;
        p.ok = d->groups && d->steps;
    }
    VEC_FREE(&p.groups);
    VEC_FREE(&p.steps);
    mem_free(p.written_in);
    mem_free(p.touched_in);
    mem_free(p.awaited);
    mem_free(p.after);
    mem_free(p.after_at);
    return p.ok ? true : status_no_memory(st);
}
