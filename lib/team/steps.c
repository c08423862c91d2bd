/* Orders the steps: exchanges start as soon as their tensor is written and are awaited as late as possible.
 *
 * Consecutive element-wise ops and slices with equal ranges form a group. Its core on a device is the part
 * that needs no pending exchange. The steps compute the core first, for all ops of the group with the same
 * loop bounds; then they wait; then they compute the parts before and after the core, loop by loop. */
#include "team/team_private.h"

struct step_pass {
    struct team_draft *d;
    VEC(struct lx_team_step) steps;
    VEC(struct lx_team_group) groups;
    int32_t *written_in, *touched_in; /* per tensor: the last group that writes or accesses it, or -1 */
    bool *awaited;                    /* per exchange: its wait is listed */
};

static void steps_push(struct step_pass *p, enum lx_team_step_kind kind, int32_t op, int32_t exchange,
                       enum lx_team_piece piece, int along)
{
    VEC_PUSH(&p->steps, ((struct lx_team_step){kind, op, exchange, piece, along}));
}

/* Whether loops of the op may be split anywhere. */
static bool steps_may_split(const struct team_draft *d, int32_t o)
{
    const struct lx_op *op = &d->g->ops[o];
    bool view = op->offset && !op->map && !op_is_insert(op);
    return d->ops[o].mode == LX_TEAM_SPLIT && op->output_count <= 1 && (team_plain_index(op) || view);
}

/* Whether op `o` can be computed piece by piece with the ops of group `g`. Each piece may need only the same
 * piece of the group's results, and must not overwrite a tensor that a later piece of the group reads. */
static bool steps_joins(const struct step_pass *p, int32_t g, int32_t o)
{
    const struct team_draft *d = p->d;
    const struct lx_team_group *group = &p->groups.at[g];
    const struct lx_op *op = &d->g->ops[o];
    if (!steps_may_split(d, o) || !steps_may_split(d, group->first) || p->touched_in[op->output] == g)
        return false;
    for (int m = 0; m < d->devices; m++) {
        const struct lx_team_space *x = &d->ops[o].space[m], *y = &d->ops[group->first].space[m];
        if (x->loops != y->loops || memcmp(x->range, y->range, (size_t)x->loops * sizeof *x->range) != 0)
            return false;
    }
    struct op_index x;
    op_index_of(d->g, op, &x);
    for (int i = 0; i < op->input_count; i++) {
        int32_t t = op->inputs[i], e = d->ops[o].exchange[i];
        if (e >= 0 && d->exchanges[e].after >= group->first) return false;
        if (p->written_in[t] != g) continue;
        if (!team_plain_index(op) || e >= 0) return false;
        for (int a = 0; a < d->grid.axes; a++) { /* every axis must shard tensor and op alike */
            int dim = d->tensors[t].shard[a], var = d->ops[o].var[a];
            if (dim >= 0 ? x.var[i][dim] != var : var >= 0) return false;
        }
    }
    return true;
}

static void steps_form_groups(struct step_pass *p)
{
    struct team_draft *d = p->d;
    for (int32_t o = 0; o < d->g->op_count; o++) {
        const struct lx_op *op = &d->g->ops[o];
        int32_t g = (int32_t)p->groups.count - 1;
        if (g < 0 || !steps_joins(p, g, o)) {
            VEC_PUSH(&p->groups, ((struct lx_team_group){.first = o}));
            g++;
        }
        p->groups.at[g].last = o;
        d->ops[o].group = g;
        for (int i = 0; i < op->input_count; i++) p->touched_in[op->inputs[i]] = g;
        for (int r = op->input_count; r < op_operand_count(op); r++)
            p->touched_in[op_operand(op, r)] = p->written_in[op_operand(op, r)] = g;
    }
}

/* The values of `core` whose inputs the device owns, if it owns range `own` of dimension `dim` of input
 * `i`. */
static struct lx_team_range steps_owned_range(const struct team_draft *d, int32_t o, const struct op_index *x,
                                              int i, int dim, struct lx_team_range own,
                                              struct lx_team_range core)
{
    const struct lx_op *op = &d->g->ops[o];
    int64_t extent = d->g->tensors[op->inputs[i]].shape[dim];
    if (op_index_shifted(x, i) && team_is_shift(op)) {
        /* a shift's box includes the written positions; zeros beyond the ends are owned by all devices */
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

/* Reduces a core to the part whose elements of input `i` device `m` owns; to nothing if no loop runs along a
 * sharded dimension. */
static void steps_keep_owned(const struct team_draft *d, int32_t o, const struct op_index *x, int i, int m,
                             struct lx_team_space *core)
{
    int32_t t = d->g->ops[o].inputs[i];
    struct lx_team_box own = team_own_box(&d->grid, &d->g->tensors[t], &d->tensors[t], m);
    for (int dim = 0; dim < own.rank; dim++) {
        if (!d->tensors[t].bound[dim]) continue;
        int loop = team_loop_of(&d->ops[o].space[m], x->var[i][dim]);
        struct lx_team_range *r = &core->range[loop < 0 ? 0 : loop];
        struct lx_team_range have = {own.offset[dim], own.offset[dim] + own.size[dim]};
        *r = loop < 0 ? (struct lx_team_range){r->begin, r->begin}
                      : steps_owned_range(d, o, x, i, dim, have, *r);
    }
}

/* The common core of a group, one per device; NULL if no device has one. After an empty core, all work is in
 * the piece `after`. */
static const struct lx_team_space *steps_core(struct step_pass *p, const struct lx_team_group *group)
{
    struct team_draft *d = p->d;
    const struct lx_team_space *all = d->ops[group->first].space;
    struct lx_team_space *core = arena_copy_array(d->memory, all, (size_t)d->devices, sizeof *core);
    bool any = false;
    for (int32_t o = group->first; o <= group->last; o++) {
        const struct lx_op *op = &d->g->ops[o];
        struct op_index x;
        op_index_of(d->g, op, &x);
        for (int i = 0; i < op->input_count; i++) {
            int32_t e = d->ops[o].exchange[i];
            for (int m = 0; e >= 0 && !p->awaited[e] && m < d->devices; m++)
                steps_keep_owned(d, o, &x, i, m, &core[m]);
        }
    }
    for (int m = 0; m < d->devices; m++) {
        bool empty = lx_team_space_empty(&core[m]);
        any |= !empty;
        if (!empty) continue;
        core[m] = all[m];
        core[m].range[0].end = core[m].range[0].begin;
    }
    return any ? core : NULL;
}

static void steps_compute(struct step_pass *p, const struct lx_team_group *group, enum lx_team_piece piece,
                          int along)
{
    for (int32_t o = group->first; o <= group->last; o++) steps_push(p, LX_TEAM_COMPUTE, o, -1, piece, along);
}

/* Adds waits for the group's pending exchanges; returns whether there are any. `only_ask` adds nothing. */
static bool steps_await(struct step_pass *p, const struct lx_team_group *group, bool only_ask)
{
    bool any = false;
    for (int32_t o = group->first; o <= group->last; o++)
        for (int i = 0; i < p->d->g->ops[o].input_count; i++) {
            int32_t e = p->d->ops[o].exchange[i];
            if (e < 0 || p->awaited[e]) continue;
            any = true;
            if (only_ask) continue;
            p->awaited[e] = true;
            steps_push(p, LX_TEAM_WAIT, -1, e, LX_TEAM_ALL, 0);
        }
    return any;
}

/* Starts the exchanges that follow ops first to last, by number. */
static void steps_start(struct step_pass *p, int32_t *after, const int32_t *after_at, int32_t first,
                        int32_t last)
{
    int32_t from = after_at[first + 1], to = after_at[last + 2];
    if (to - from > 1) qsort(after + from, (size_t)(to - from), sizeof *after, order_i32);
    for (int32_t k = from; k < to; k++) steps_push(p, LX_TEAM_START, -1, after[k], LX_TEAM_ALL, 0);
}

static void steps_emit(struct step_pass *p)
{
    struct team_draft *d = p->d;
    OWNED int32_t *after = mem_zeroed((size_t)d->exchange_count + 1, sizeof *after);
    OWNED int32_t *after_at = mem_zeroed((size_t)d->g->op_count + 2, sizeof *after_at);
    /* Sorts exchanges by the op they follow: those of op o begin at at[o + 1]. */
    int32_t ops = d->g->op_count;
    for (int32_t e = 0; e < d->exchange_count; e++) after_at[d->exchanges[e].after + 2]++;
    for (int32_t o = 0; o <= ops; o++) after_at[o + 1] += after_at[o];
    for (int32_t e = 0; e < d->exchange_count; e++) after[after_at[d->exchanges[e].after + 1]++] = e;
    for (int32_t o = ops + 1; o > 0; o--)
        after_at[o] = after_at[o - 1]; /* each entry is the begin of the next */
    after_at[0] = 0;
    steps_start(p, after, after_at, -1, -1);
    for (size_t g = 0; g < p->groups.count; g++) {
        struct lx_team_group *group = &p->groups.at[g];
        if (steps_await(p, group, true) && steps_may_split(d, group->first) && !d->how->plain)
            group->core = steps_core(p, group);
        if (group->core) steps_compute(p, group, LX_TEAM_CORE, 0);
        steps_await(p, group, false);
        for (int l = 0; group->core && l < group->core[0].loops; l++) {
            steps_compute(p, group, LX_TEAM_BEFORE, l);
            steps_compute(p, group, LX_TEAM_AFTER, l);
        }
        if (!group->core) steps_compute(p, group, LX_TEAM_ALL, 0);
        if (d->ops[group->first].mode == LX_TEAM_COMBINE)
            steps_push(p, LX_TEAM_REDUCE, group->first, -1, LX_TEAM_ALL, 0);
        steps_start(p, after, after_at, group->first, group->last);
    }
}

void team_order_steps(struct team_draft *d)
{
    size_t tensors = (size_t)d->g->tensor_count;
    struct step_pass p = {.d = d,
                          .written_in = mem_alloc((tensors + 1) * sizeof *p.written_in),
                          .touched_in = mem_alloc((tensors + 1) * sizeof *p.touched_in),
                          .awaited = mem_zeroed((size_t)d->exchange_count + 1, sizeof *p.awaited)};
    for (size_t t = 0; t < tensors; t++) p.written_in[t] = p.touched_in[t] = -1;
    steps_form_groups(&p);
    steps_emit(&p);
    d->groups = arena_copy_array(d->memory, p.groups.at, p.groups.count, sizeof *p.groups.at);
    d->steps = arena_copy_array(d->memory, p.steps.at, p.steps.count, sizeof *p.steps.at);
    d->group_count = (int32_t)p.groups.count;
    d->step_count = (int32_t)p.steps.count;
    VEC_FREE(&p.groups);
    VEC_FREE(&p.steps);
    mem_free(p.written_in);
    mem_free(p.touched_in);
    mem_free(p.awaited);
}
