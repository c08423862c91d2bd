/* What each axis does to each tensor, and with that how each op is computed.
 *
 * Inputs are cut along their first dimensions that are long enough, one for each axis, or all axes cut the first that is long
 * enough for all devices, whichever exchanges less; unless time is what counts, or all is to be whole: then they arrive as is
 * best. Weights and results are as is best. What the caller states is kept. An axis of one device cuts nothing: whatever is
 * stated of it, a tensor is whole along it. */
#include "team/shard/shard_search.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/words/names.h"
#include "base/stop.h"

#include <stdlib.h>
#include <string.h>

enum { EACH_INPUT = 30, EACH_OP = 200 }; /* work of base/stop.h */

static const struct shard_state whole = {{-1, -1, -1}};

static struct shard_state default_cuts(const struct lx_team_grid *grid, const struct lx_tensor *t)
{
    struct shard_state s = whole;
    unsigned used = 0;
    for (int a = 0; a < grid->axes && t->rank > 0; a++) {
        int dim = -1;
        if (grid->size[a] < 2) continue;
        for (int d = t->rank; d-- > 0;)
            if (!(used >> d & 1) && t->shape[d] >= grid->size[a]) dim = d;
        if (dim < 0 && a == 0) dim = 0;
        s.at[a] = (signed char)dim;
        if (dim >= 0) used |= 1u << dim;
    }
    return s;
}

/* The first dimension that is long enough for all devices is cut by all axes. */
static struct shard_state row_cuts(const struct lx_team_grid *grid, const struct lx_tensor *t)
{
    int devices = lx_team_device_count(grid), dim = 0;
    struct shard_state s = whole;
    while (dim < t->rank && t->shape[dim] < devices) dim++;
    if (dim >= t->rank) return default_cuts(grid, t);
    for (int a = 0; a < LX_TEAM_AXES && a < grid->axes; a++)
        if (grid->size[a] > 1) s.at[a] = (signed char)dim;
    return s;
}

static bool refuse_dimension(const struct lx_tensor *t, int cut, lx_status *st)
{
    if (t->rank < 1)
        return status_set(st, LX_E_RANGE,
                          "tensor %s is a single number and has no dimension %d; leave it whole", t->name,
                          cut);
    return status_set(st, LX_E_RANGE,
                      "tensor %s has no dimension %d that could be cut; it has %d, from 0 to %d", t->name,
                      cut, t->rank, t->rank - 1);
}

static bool apply_named(const struct team_draft *d, const struct names *tensors, bool *fixed,
                        struct shard_state *state, lx_status *st)
{
    for (int i = 0; i < d->how->choice_count; i++) {
        const struct lx_team_choice *c = &d->how->choices[i];
        int32_t t = names_find(tensors, c->tensor);
        if (t < 0)
            return status_set(st, LX_E_UNKNOWN_NAME, "no tensor of %s is named %s", d->g->name, c->tensor);
        fixed[t] = d->tensors[t].given = true;
        state[t] = whole;
        for (int a = 0; a < LX_TEAM_AXES && a < d->grid.axes; a++) {
            if (c->shard[a] < -1 || c->shard[a] >= d->g->tensors[t].rank)
                return refuse_dimension(&d->g->tensors[t], c->shard[a], st);
            if (d->grid.size[a] > 1) state[t].at[a] = (signed char)c->shard[a];
        }
    }
    return true;
}

static bool apply_choices(const struct team_draft *d, bool *fixed, struct shard_state *state, lx_status *st)
{
    struct names tensors = {0};
    if (d->how->choice_count == 0) return true;
    if (!names_reserve(&tensors, (uint32_t)d->g->tensor_count)) return status_no_memory(st);
    for (int32_t t = 0; t < d->g->tensor_count; t++) names_add(&tensors, d->g->tensors[t].name, t);
    bool ok = apply_named(d, &tensors, fixed, state, st);
    names_free(&tensors);
    return ok;
}

/* What has no shape has no parts. */
static bool choose_refuse(const struct lx_graph *g, lx_status *st)
{
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (g->tensors[t].rank < 0)
            return status_set_at(st, LX_E_UNSUPPORTED, g->file, g->tensors[t].line, g->tensors[t].column,
                                 "tensor %s is known by its bytes only and cannot be distributed over a "
                                 "team; give it a shape",
                                 g->tensors[t].name);
    return true;
}

static void choose_settle(struct team_draft *d, const struct shard_answer *answer)
{
    for (int32_t t = 0; t < d->g->tensor_count; t++)
        for (int a = 0; a < LX_TEAM_AXES; a++) d->tensors[t].shard[a] = answer->tensors[t].at[a];
    for (int32_t o = 0; o < d->g->op_count; o++) {
        struct op_index x;
        bool sums = false, cut = false, parts = false;
        stop_look(EACH_OP);
        op_index_of(d->g, &d->g->ops[o], &x);
        for (int a = 0; a < LX_TEAM_AXES; a++) {
            d->ops[o].var[a] = answer->ways[o].var.at[a];
            cut |= d->ops[o].var[a] >= 0;
            sums |= team_shards_sum(&x, d->ops[o].var, a);
            parts |= d->tensors[d->g->ops[o].output].shard[a] == LX_TEAM_PARTIAL;
        }
        d->ops[o].mode = parts  ? LX_TEAM_KEPT_PARTIAL
                         : sums ? LX_TEAM_COMBINE
                         : cut  ? LX_TEAM_SPLIT
                                : LX_TEAM_REPLICATED;
    }
}

static bool stuck(const struct lx_graph *g, int32_t o, lx_status *st)
{
    return status_set_at(
        st, LX_E_UNSUPPORTED, g->file, g->ops[o].line, 0,
        "op %s (%s) cannot be computed so that %s is cut as it is asked; let it be whole, or leave it to "
        "the planner",
        g->ops[o].name, g->ops[o].kind->name, g->tensors[g->ops[o].output].name);
}

/* A search, with inputs as they are by default. */
typedef struct shard_state input_cuts(const struct lx_team_grid *grid, const struct lx_tensor *t);

struct room {
    bool *fixed;
    struct shard_state *state;
    struct shard_answer answer;
};

static bool choose_search(struct team_draft *d, input_cuts *cuts, struct room *r, lx_status *st)
{
    const struct shard_question q = {.g = d->g,
                                     .grid = d->grid,
                                     .by_time = d->how->by_time,
                                     .spills = d->how->spills,
                                     .fixed = r->fixed,
                                     .state = r->state,
                                     .replicated = d->how->replicated};
    for (int32_t t = 0; t < d->g->tensor_count; t++) {
        const struct lx_tensor *x = &d->g->tensors[t];
        r->fixed[t] = !d->how->by_time && !d->how->replicated && x->role == LX_INPUT;
        r->state[t] = cuts(&d->grid, x);
        (void)stop_round(t, EACH_INPUT);
    }
    if (!apply_choices(d, r->fixed, r->state, st)) return false;
    if (shard_search(&q, &r->answer)) return true;
    return r->answer.stuck < 0 ? status_no_memory(st) : stuck(d->g, r->answer.stuck, st);
}

/* May inputs that are cut otherwise save some of what is exchanged? */
static bool other_inputs_may_help(const struct team_draft *d, const struct shard_answer *a)
{
    bool differ = false;
    for (int32_t t = 0; t < d->g->tensor_count; t++) {
        const struct lx_tensor *x = &d->g->tensors[t];
        (void)stop_round(t, EACH_INPUT);
        differ |= x->role == LX_INPUT && !shard_same(default_cuts(&d->grid, x), row_cuts(&d->grid, x));
    }
    return differ && a->cost.bytes > 0 && !d->how->by_time && !d->how->replicated && !stop_is_now();
}

static bool search_both(struct team_draft *d, struct room r[2], lx_status *st)
{
    const struct shard_question by = {.by_time = d->how->by_time};
    const struct shard_answer *best = &r[0].answer;
    lx_status none = {0};
    if (!choose_search(d, default_cuts, &r[0], st)) return false;
    if (other_inputs_may_help(d, best)) {
        bool found = choose_search(d, row_cuts, &r[1], &none);
        if (!found && none.code == LX_E_MEMORY) return status_no_memory(st);
        if (found && shard_cheaper(&by, r[1].answer.cost, best->cost)) best = &r[1].answer;
    }
    choose_settle(d, best);
    d->predicted_us = best->cost.us;
    d->unsharded = best->unsharded;
    return true;
}

/* The same question has been answered. */
static bool choose_take_cuts(struct team_draft *d)
{
    for (int32_t t = 0; t < d->g->tensor_count; t++) {
        memcpy(d->tensors[t].shard, d->like->tensors[t].shard, sizeof d->tensors[t].shard);
        d->tensors[t].given = d->like->tensors[t].given;
    }
    for (int32_t o = 0; o < d->g->op_count; o++) {
        memcpy(d->ops[o].var, d->like->ops[o].var, sizeof d->ops[o].var);
        d->ops[o].mode = d->like->ops[o].mode;
    }
    d->predicted_us = d->like->predicted_us;
    d->unsharded = d->like->unsharded;
    return true;
}

bool team_choose_shards(struct team_draft *d, lx_status *st)
{
    if (d->like) return choose_take_cuts(d);
    size_t tensors = (size_t)d->g->tensor_count + 1;
    struct room r[2] = {0};
    bool ok = true;
    if (!choose_refuse(d->g, st)) return false;
    for (int i = 0; i < 2; i++) {
        r[i].fixed = mem_zeroed(tensors, sizeof *r[i].fixed);
        r[i].state = mem_zeroed(tensors, sizeof *r[i].state);
        r[i].answer.tensors = mem_zeroed(tensors, sizeof *r[i].answer.tensors);
        r[i].answer.ways = mem_zeroed((size_t)d->g->op_count + 1, sizeof *r[i].answer.ways);
        ok = ok && r[i].fixed && r[i].state && r[i].answer.tensors && r[i].answer.ways;
    }
    ok = ok ? search_both(d, r, st) : status_no_memory(st);
    for (int i = 0; i < 2; i++) {
        mem_free(r[i].fixed);
        mem_free(r[i].state);
        mem_free(r[i].answer.tensors);
        mem_free(r[i].answer.ways);
    }
    return ok;
}
