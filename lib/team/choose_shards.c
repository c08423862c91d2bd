/* Chooses the dimension of each tensor that each grid axis shards, and with that the mode of each op.
 *
 * Two defaults for inputs are tried, and the one with fewer exchanged bytes is kept: a long enough dimension
 * per axis, in order, or one dimension for all axes. If time is the objective, or everything is to be
 * replicated, inputs are free, like weights and results. Shards given by the caller are kept. An axis of one
 * device shards nothing: tensors are replicated along it, whatever is stated. */
#include "team/shard/shard_search.h"
#include "base/words/words.h"

/* Default shards: a dimension per axis; with `rows` one dimension for all axes, if one is long enough. */
static struct shard_state choose_default(const struct lx_team_grid *grid, const struct lx_tensor *t,
                                         bool rows)
{
    int devices = lx_team_device_count(grid), row = 0;
    struct shard_state s = shard_replicated;
    unsigned used = 0;
    while (row < t->rank && t->shape[row] < devices) row++;
    rows = rows && row < t->rank;
    for (int a = 0; a < grid->axes && t->rank > 0; a++) {
        int dim = rows ? row : -1;
        if (grid->size[a] < 2) continue;
        for (int d = t->rank; d-- > 0 && !rows;)
            if (!(used >> d & 1) && t->shape[d] >= grid->size[a]) dim = d;
        if (dim < 0 && a == 0) dim = 0;
        s.at[a] = dim;
        if (dim >= 0) used |= 1u << dim;
    }
    return s;
}

static bool choose_apply(const struct team_draft *d, const struct names *tensors, bool *fixed,
                         struct shard_state *state, lx_status *st)
{
    for (int i = 0; i < d->how->choice_count; i++) {
        const struct lx_team_choice *c = &d->how->choices[i];
        int32_t t = names_find(tensors, c->tensor);
        if (t < 0)
            return status_set(st, LX_E_UNKNOWN_NAME, "no tensor of %s is named %s", d->g->name, c->tensor);
        fixed[t] = d->tensors[t].given = true;
        state[t] = shard_replicated;
        for (int a = 0; a < LX_TEAM_AXES && a < d->grid.axes; a++) {
            if (c->shard[a] < -1 || c->shard[a] >= d->g->tensors[t].rank)
                return status_set(st, LX_E_RANGE,
                                  "tensor %s has no dimension %d that could be sharded; it has %d", c->tensor,
                                  c->shard[a], d->g->tensors[t].rank);
            if (d->grid.size[a] > 1) state[t].at[a] = c->shard[a];
        }
    }
    return true;
}

static void choose_settle(struct team_draft *d, const struct shard_answer *answer)
{
    for (int32_t t = 0; t < d->g->tensor_count; t++)
        memcpy(d->tensors[t].shard, answer->tensors[t].at, sizeof d->tensors[t].shard);
    for (int32_t o = 0; o < d->g->op_count; o++) {
        struct op_index x;
        bool sums = false, split = false, partial = false;
        op_index_of(d->g, &d->g->ops[o], &x);
        memcpy(d->ops[o].var, answer->ways[o].var.at, sizeof d->ops[o].var);
        for (int a = 0; a < LX_TEAM_AXES; a++) {
            split |= d->ops[o].var[a] >= 0;
            sums |= team_shards_sum(&x, d->ops[o].var, a);
            partial |= d->tensors[d->g->ops[o].output].shard[a] == LX_TEAM_PARTIAL;
        }
        d->ops[o].mode = partial ? LX_TEAM_KEPT_PARTIAL
                         : sums  ? LX_TEAM_COMBINE
                         : split ? LX_TEAM_SPLIT
                                 : LX_TEAM_REPLICATED;
    }
    d->predicted_us = answer->cost.us;
    d->unsharded = answer->unsharded;
}

struct choice_room {
    bool *fixed;
    struct shard_state *state;
    struct shard_answer answer;
};

/* Searches with default inputs. */
static bool choose_search(struct team_draft *d, bool rows, struct choice_room *r, lx_status *st)
{
    const struct lx_graph *g = d->g;
    struct shard_question q = {.g = g,
                               .grid = d->grid,
                               .by_time = d->how->by_time,
                               .spills = d->how->spills,
                               .fixed = r->fixed,
                               .state = r->state,
                               .replicated = d->how->replicated};
    struct names tensors = {0};
    for (int32_t t = 0; t < g->tensor_count; t++) {
        const struct lx_tensor *x = &g->tensors[t];
        r->fixed[t] = !d->how->by_time && !d->how->replicated && x->role == LX_INPUT;
        r->state[t] = choose_default(&d->grid, x, rows);
        if (d->how->choice_count > 0) names_add(&tensors, x->name, t);
    }
    bool ok = choose_apply(d, &tensors, r->fixed, r->state, st);
    names_free(&tensors);
    if (!ok || shard_search(&q, &r->answer)) return ok;
    const struct lx_op *op = &g->ops[r->answer.stuck];
    return status_set_at(st, LX_E_UNSUPPORTED, g->file, op->line, 0,
                         "op %s (%s) cannot be computed so that %s is sharded as it is asked; let it be "
                         "replicated, or leave it to the planner",
                         op->name, op->kind->name, g->tensors[op->output].name);
}

/* When minimizing bytes, also tries inputs sharded in rows. */
static bool choose_best(struct team_draft *d, struct choice_room r[2], lx_status *st)
{
    const struct shard_question by = {.by_time = d->how->by_time};
    const struct shard_answer *best = &r[0].answer;
    bool differ = false;
    if (!choose_search(d, false, &r[0], st)) return false;
    for (int32_t t = 0; t < d->g->tensor_count; t++) {
        const struct lx_tensor *x = &d->g->tensors[t];
        differ |= x->role == LX_INPUT &&
                  !shard_same(choose_default(&d->grid, x, false), choose_default(&d->grid, x, true));
    }
    if (differ && best->cost.bytes > 0 && !d->how->by_time && !d->how->replicated && !cancel_requested() &&
        choose_search(d, true, &r[1], NULL) && shard_cheaper(&by, r[1].answer.cost, best->cost))
        best = &r[1].answer;
    choose_settle(d, best);
    return true;
}

bool team_choose_shards(struct team_draft *d, lx_status *st)
{
    const struct lx_graph *g = d->g;
    const struct lx_team_plan *like = d->like;
    size_t tensors = (size_t)g->tensor_count + 1;
    struct choice_room r[2] = {0};
    for (int32_t t = 0; like && t < g->tensor_count; t++) {
        memcpy(d->tensors[t].shard, like->tensors[t].shard, sizeof d->tensors[t].shard);
        d->tensors[t].given = like->tensors[t].given;
    }
    for (int32_t o = 0; like && o < g->op_count; o++) {
        memcpy(d->ops[o].var, like->ops[o].var, sizeof d->ops[o].var);
        d->ops[o].mode = like->ops[o].mode;
    }
    if (like) {
        d->predicted_us = like->predicted_us;
        d->unsharded = like->unsharded;
        return true;
    }
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (g->tensors[t].rank < 0)
            return status_set_at(st, LX_E_UNSUPPORTED, g->file, g->tensors[t].line, g->tensors[t].column,
                                 TEAM_NO_SHAPE, g->tensors[t].name);
    for (int i = 0; i < 2; i++) {
        r[i].fixed = mem_zeroed(tensors, sizeof *r[i].fixed);
        r[i].state = mem_zeroed(tensors, sizeof *r[i].state);
        r[i].answer.tensors = mem_zeroed(tensors, sizeof *r[i].answer.tensors);
        r[i].answer.ways = mem_zeroed((size_t)g->op_count + 1, sizeof *r[i].answer.ways);
    }
    bool ok = choose_best(d, r, st);
    for (int i = 0; i < 2; i++) {
        mem_free(r[i].fixed);
        mem_free(r[i].state);
        mem_free(r[i].answer.tensors);
        mem_free(r[i].answer.ways);
    }
    return ok;
}
