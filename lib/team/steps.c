/* The order of things: exchanges start as soon as their tensor is written and are awaited as late as
 * possible.
 *
 * Consecutive element-wise ops and slices that run over the same ranges form a group. Its core on a member is
 * the range for which nothing that is still awaited is needed; it is computed first, for all ops of the group
 * with the same loop bounds, then come the waits, then what lies before and after the core. */
#include "team/team_private.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

struct step_pass {
    struct team_draft *d;
    VEC(struct lx_team_step) steps;
    VEC(struct lx_team_group) groups;
    int32_t *written_in, *touched_in; /* per tensor: the group that last did so, or -1 */
    bool *awaited;                    /* per exchange: a wait stands in the list */
    bool ok;
};

static void push(struct step_pass *p, enum lx_team_step_kind kind, int32_t op, int32_t exchange,
                 enum lx_team_piece piece)
{
    p->ok = p->ok && VEC_PUSH(&p->steps, (struct lx_team_step){kind, op, exchange, piece});
}

/* Ops whose loops can be cut anywhere along the variable. */
static bool loops_cut(const struct team_draft *d, int32_t o)
{
    const struct lx_op *op = &d->g->ops[o];
    return d->ops[o].mode == LX_TEAM_SPLIT && (team_plain_index(op) || (op->offset && !op_is_insert(op)));
}

/* May op `o` be computed piece by piece together with the ops of group `g`? A piece of it must need only the
 * same piece of what the group writes, and may not overwrite what a later piece of the group reads. */
static bool joins(const struct step_pass *p, int32_t g, int32_t o)
{
    const struct team_draft *d = p->d;
    const struct lx_team_group *group = &p->groups.at[g];
    const struct lx_op *op = &d->g->ops[o];
    const struct lx_team_op *how = &d->ops[o];
    if (!loops_cut(d, o) || !loops_cut(d, group->first) || p->touched_in[op->output] == g) return false;
    if (memcmp(how->range, d->ops[group->first].range, (size_t)d->members * sizeof *how->range) != 0)
        return false;
    struct op_index x;
    op_index_of(d->g, op, &x);
    for (int i = 0; i < op->input_count; i++) {
        int32_t t = op->inputs[i], e = how->exchange[i];
        if (e >= 0 && d->exchanges[e].after >= group->first) return false;
        if (p->written_in[t] != g) continue;
        int cut = d->tensors[t].cut;
        if (!team_plain_index(op) || e >= 0 || cut < 0 || x.var[i][cut] != how->var) return false;
    }
    return true;
}

static bool form_groups(struct step_pass *p)
{
    struct team_draft *d = p->d;
    for (int32_t o = 0; o < d->g->op_count; o++) {
        const struct lx_op *op = &d->g->ops[o];
        int32_t g = (int32_t)p->groups.count - 1;
        if (g < 0 || !joins(p, g, o)) {
            if (!VEC_PUSH(&p->groups, (struct lx_team_group){.first = o})) return false;
            g++;
        }
        p->groups.at[g].last = o;
        d->ops[o].group = g;
        for (int i = 0; i < op->input_count; i++) p->touched_in[op->inputs[i]] = g;
        p->touched_in[op->output] = p->written_in[op->output] = g;
    }
    return true;
}

/* Of the values `core` of the op's variable those for which member `m` owns what input `i` reads. */
static struct lx_team_range owned_core(const struct team_draft *d, int32_t o, const struct op_index *x, int i,
                                       int m, struct lx_team_range core)
{
    const struct lx_op *op = &d->g->ops[o];
    const struct lx_team_tensor *t = &d->tensors[op->inputs[i]];
    int64_t extent = d->g->tensors[op->inputs[i]].shape[t->cut], begin = t->bound[m], end = t->bound[m + 1];
    if (x->var[i][t->cut] != d->ops[o].var) return (struct lx_team_range){core.begin, core.begin};
    if (op_index_shifted(x, i) && team_is_shift(op)) {
        /* its box includes the place that is written; beyond the ends there are zeros, which everybody owns */
        core = (struct lx_team_range){max_i64(core.begin, begin), min_i64(core.end, end)};
        if (begin == 0) begin = -extent;
        if (end == extent) end = 2 * extent;
    }
    struct lx_team_box own = team_box_along((struct lx_team_range){begin, end}),
                       target = team_box_along(core);
    struct lx_team_array part = lx_team_array_of_box(1, &extent, 0, &own);
    struct lx_team_view view = team_view_along(x, i, t->cut);
    struct lx_team_box found = lx_team_local_core(&part, &view, &target, NULL);
    return (struct lx_team_range){found.offset[0], found.offset[0] + found.size[0]};
}

/* Common core of a group, one range per member; NULL where no member has one, or memory is out. */
static const struct lx_team_range *common_core(struct step_pass *p, const struct lx_team_group *group)
{
    struct team_draft *d = p->d;
    struct lx_team_range *core =
        arena_copy_array(d->memory, d->ops[group->first].range, (size_t)d->members, sizeof *core);
    bool any = false;
    if (!core) return p->ok = false, NULL;
    for (int32_t o = group->first; o <= group->last; o++) {
        const struct lx_op *op = &d->g->ops[o];
        struct op_index x;
        op_index_of(d->g, op, &x);
        for (int i = 0; i < op->input_count; i++) {
            int32_t e = d->ops[o].exchange[i];
            for (int m = 0; e >= 0 && !p->awaited[e] && m < d->members; m++)
                core[m] = owned_core(d, o, &x, i, m, core[m]);
        }
    }
    for (int m = 0; m < d->members; m++) {
        struct lx_team_range all = d->ops[group->first].range[m];
        if (core[m].end > core[m].begin)
            any = true;
        else /* everything lies after an empty core */
            core[m] = (struct lx_team_range){all.begin, all.begin};
    }
    return any ? core : NULL;
}

static void compute(struct step_pass *p, const struct lx_team_group *group, enum lx_team_piece piece)
{
    for (int32_t o = group->first; o <= group->last; o++) push(p, LX_TEAM_COMPUTE, o, -1, piece);
}

static void await(struct step_pass *p, const struct lx_team_group *group)
{
    for (int32_t o = group->first; o <= group->last; o++)
        for (int i = 0; i < p->d->g->ops[o].input_count; i++) {
            int32_t e = p->d->ops[o].exchange[i];
            if (e < 0 || p->awaited[e]) continue;
            p->awaited[e] = true;
            push(p, LX_TEAM_WAIT, -1, e, LX_TEAM_ALL);
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
static void start_exchanges(struct step_pass *p, int32_t first, int32_t last)
{
    for (int32_t e = 0; e < p->d->exchange_count; e++)
        if (p->d->exchanges[e].after >= first && p->d->exchanges[e].after <= last)
            push(p, LX_TEAM_START, -1, e, LX_TEAM_ALL);
}

static void emit(struct step_pass *p)
{
    struct team_draft *d = p->d;
    start_exchanges(p, -1, -1);
    for (size_t g = 0; g < p->groups.count && p->ok; g++) {
        struct lx_team_group *group = &p->groups.at[g];
        bool overlap = anything_awaited(p, group) && loops_cut(d, group->first) && !d->how->plain;
        if (overlap) group->core = common_core(p, group);
        if (group->core) compute(p, group, LX_TEAM_CORE);
        await(p, group);
        if (group->core) {
            compute(p, group, LX_TEAM_BEFORE);
            compute(p, group, LX_TEAM_AFTER);
        } else
            compute(p, group, LX_TEAM_ALL);
        if (d->ops[group->first].mode == LX_TEAM_COMBINE)
            push(p, LX_TEAM_REDUCE, group->first, -1, LX_TEAM_ALL);
        start_exchanges(p, group->first, group->last);
    }
}

bool team_order_steps(struct team_draft *d, lx_status *st)
{
    size_t tensors = (size_t)d->g->tensor_count;
    struct step_pass p = {.d = d,
                          .written_in = malloc((tensors + 1) * sizeof *p.written_in),
                          .touched_in = malloc((tensors + 1) * sizeof *p.touched_in),
                          .awaited = calloc((size_t)d->exchange_count + 1, sizeof *p.awaited)};
    p.ok = p.written_in && p.touched_in && p.awaited;
    for (size_t t = 0; p.ok && t < tensors; t++) p.written_in[t] = p.touched_in[t] = -1;
    p.ok = p.ok && form_groups(&p);
    if (p.ok) emit(&p);
    if (p.ok) {
        d->groups = arena_copy_array(d->memory, p.groups.at, p.groups.count, sizeof *p.groups.at);
        d->steps = arena_copy_array(d->memory, p.steps.at, p.steps.count, sizeof *p.steps.at);
        d->group_count = (int32_t)p.groups.count;
        d->step_count = (int32_t)p.steps.count;
        p.ok = d->groups && d->steps;
    }
    VEC_FREE(&p.groups);
    VEC_FREE(&p.steps);
    free(p.written_in);
    free(p.touched_in);
    free(p.awaited);
    return p.ok ? true : status_no_memory(st);
}
