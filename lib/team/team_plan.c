/* Makes a team's plan: the passes in order, and queries of the result. */
#include "team/team_file.h"
#include "graph/builder.h"

struct lx_team_box lx_team_own(const struct lx_team_plan *plan, int32_t tensor, int device)
{
    return team_own_box(&plan->grid, &plan->graph->tensors[tensor], &plan->tensors[tensor], device);
}

bool lx_team_all_replicated(const struct lx_team_plan *plan)
{
    for (int32_t t = 0; t < plan->graph->tensor_count; t++)
        if (!lx_team_is_replicated(&plan->tensors[t])) return false;
    for (int32_t o = 0; o < plan->graph->op_count; o++)
        if (plan->ops[o].mode != LX_TEAM_REPLICATED) return false;
    return true;
}

struct lx_team_space lx_team_step_space(const struct lx_team_plan *plan, const struct lx_team_step *step,
                                        int device)
{
    const struct lx_team_op *op = &plan->ops[step->op];
    const struct lx_team_space *core = plan->groups[op->group].core;
    struct lx_team_space s = op->space[device];
    if (!core || step->piece == LX_TEAM_ALL) return s;
    int inner = step->piece == LX_TEAM_CORE ? s.loops : step->along;
    for (int l = 0; l < inner; l++) s.range[l] = core[device].range[l];
    if (step->piece == LX_TEAM_BEFORE) s.range[inner].end = core[device].range[inner].begin;
    if (step->piece == LX_TEAM_AFTER) s.range[inner].begin = core[device].range[inner].end;
    return s;
}

int lx_team_tag_exchange(const struct lx_team_plan *p, int32_t exchange)
{
    (void)p;
    return 1 + exchange;
}

int lx_team_tag_combine(const struct lx_team_plan *p, int32_t op, int round)
{
    return 1 + p->exchange_count + 2 * op + round;
}

int lx_team_tag_output(const struct lx_team_plan *p, int32_t tensor)
{
    return 1 + p->exchange_count + 2 * p->graph->op_count + tensor;
}

/* Bytes of a combine. Each device sends its partial sums of a share to the share's device; then each share
 * goes to all devices that want the whole result. */
static int64_t team_plan_combine_bytes(const struct lx_team_plan *p, int32_t o)
{
    const struct lx_team_op *how = &p->ops[o];
    const struct lx_op *op = &p->graph->ops[o];
    struct op_index x;
    int64_t bytes = 0;
    op_index_of(p->graph, op, &x);
    for (int m = 0; m < p->devices; m++) {
        struct lx_team_box share = team_share_of(p->graph, &p->grid, p->tensors, how->var, o, m);
        int64_t copies = 0;
        for (int other = 0; other < p->devices; other++) {
            if (other == m || !team_adds_with(&p->grid, &x, how->var, m, other)) continue;
            copies += !lx_team_space_empty(&how->space[other]);
            copies += !team_scatters(&p->grid, &x, how->var, &p->tensors[op->output]);
        }
        bytes += team_bytes(&p->graph->tensors[op->output], &share) * copies;
    }
    return bytes;
}

void team_sum_up(struct lx_team_plan *p, struct lx_team_op *ops)
{
    p->exact = true;
    p->bytes = p->combine_bytes = 0;
    for (int32_t o = 0; o < p->graph->op_count; o++) {
        bool combines = ops[o].mode == LX_TEAM_COMBINE;
        ops[o].bytes = combines ? team_plan_combine_bytes(p, o) : 0;
        p->combine_bytes += ops[o].bytes;
        /* Sums depend on the order of addition; a maximum does not. */
        if ((combines && !team_picks(&p->graph->ops[o])) || ops[o].mode == LX_TEAM_KEPT_PARTIAL)
            p->exact = false;
    }
    for (int32_t e = 0; e < p->exchange_count; e++) {
        p->bytes += p->exchanges[e].bytes;
        ops[p->exchanges[e].first_reader].bytes += p->exchanges[e].bytes;
    }
}

void team_identify(struct lx_team_plan *p)
{
    struct lx_team_plan bare = *p; /* the hash covers no predictions and bounds */
    SCOPED(text_free) struct text t = {0};
    bare.plain_bytes = 0;
    bare.predicted_us = bare.bound_us = 0;
    bare.bound_bytes = -1;
    team_write_decided(&bare, "team", &t);
    p->hash = hash_bytes(HASH_START, t.at, t.length);
}

static struct lx_team_plan *team_plan_make(const struct lx_graph *g, const struct lx_team_options *how,
                                           const struct lx_team_plan *like, lx_status *st)
{
    struct arena *memory = mem_zeroed(1, sizeof *memory);
    struct team_draft d = {
        .g = g, .how = how, .devices = how->devices, .grid = how->grid, .memory = memory, .like = like};
    d.spaces = arena_array(memory, (size_t)g->op_count + 1, sizeof *d.spaces);
    d.tensors = arena_array(memory, (size_t)g->tensor_count, sizeof *d.tensors);
    d.ops = arena_array(memory, (size_t)g->op_count, sizeof *d.ops);
    if (!team_choose_shards(&d, st)) {
        arena_free(memory);
        mem_free(memory);
        return NULL;
    }
    team_settle_bounds(&d);
    team_add_exchanges(&d);
    team_order_steps(&d);
    struct lx_team_plan *p = arena_alloc(memory, sizeof *p);
    *p = (struct lx_team_plan){.graph = lx_graph_ref(g),
                               .devices = d.devices,
                               .grid = d.grid,
                               .tensors = d.tensors,
                               .ops = d.ops,
                               .exchanges = d.exchanges,
                               .exchange_count = d.exchange_count,
                               .groups = d.groups,
                               .group_count = d.group_count,
                               .steps = d.steps,
                               .step_count = d.step_count,
                               .predicted_us = d.predicted_us,
                               .bound_bytes = -1,
                               .unsharded = d.unsharded,
                               .memory = memory};
    team_sum_up(p, d.ops);
    return p;
}

int64_t team_plain_bytes(const struct lx_team_plan *p)
{
    const struct lx_team_options how = {.devices = p->devices, .grid = p->grid, .plain = true};
    struct lx_team_plan *plain = team_plan_make(p->graph, &how, p, NULL);
    int64_t bytes = plain->bytes;
    lx_team_free(plain);
    return bytes;
}

void team_begin_copy(struct graph_builder *b, const struct lx_graph *g)
{
    builder_begin(b, g->file, g->name);
    b->graph->device = g->device;
    b->graph->summary = arena_string(b->memory, g->summary);
    b->graph->grid_axes = g->grid_axes;
    memcpy(b->graph->grid, g->grid, sizeof g->grid);
}

/* Whether the team matches the pattern's grid. */
static bool team_plan_fits_grid(const struct lx_graph *g, const struct lx_team_options *how, lx_status *st)
{
    bool same = g->grid_axes == how->grid.axes, stated = team_is_device_program(g);
    char words[40] = "";
    for (int32_t t = 0; t < g->tensor_count; t++) stated |= g->tensors[t].cut_stated;
    for (int a = 0; a < g->grid_axes; a++) {
        size_t n = strlen(words);
        same = same && g->grid[a] == how->grid.size[a];
        snprintf(words + n, sizeof words - n, a ? "x%d" : "%d", g->grid[a]);
    }
    if (same || !stated) return true;
    return status_set_at(
        st, LX_E_USAGE, g->file, 0, 0,
        "%s states shards for a grid of %s devices; ask for that team, or plan it for one device", g->name,
        words);
}

/* Makes the plan, and one without the passes for comparison. Shards in the pattern override the caller's. */
static struct lx_team_plan *team_plan_make_both(const struct lx_graph *g, const struct lx_team_options *asked,
                                                lx_status *st)
{
    struct lx_team_options how = *asked, plainly;
    size_t most = (size_t)g->tensor_count + (size_t)asked->choice_count + 1;
    struct lx_team_choice *choices = mem_alloc(most * sizeof *choices);
    how.choices = choices;
    how.choice_count = 0;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        const struct lx_tensor *x = &g->tensors[t];
        if (!x->cut_stated) continue;
        struct lx_team_choice *c = &choices[how.choice_count++];
        c->tensor = x->name;
        for (int a = 0; a < LX_TEAM_AXES; a++) c->shard[a] = a < g->grid_axes ? x->cut[a] : -1;
    }
    for (int i = 0; i < asked->choice_count; i++) choices[how.choice_count++] = asked->choices[i];
    plainly = how;
    plainly.plain = true;
    struct lx_team_plan *plain = team_plan_make(g, &plainly, NULL, st),
                        *p = plain ? team_plan_make(g, &how, plain, st) : NULL;
    if (p) {
        p->plain_bytes = plain->bytes;
        team_identify(p);
    }
    lx_team_free(plain);
    mem_free(choices);
    return p;
}

struct lx_team_plan *lx_team_make(const struct lx_graph *g, const struct lx_team_options *asked,
                                  lx_status *st)
{
    if (g->list) {
        status_set(st, LX_E_UNSUPPORTED, "%s is a list of buffers; only a graph can be distributed", g->name);
        return NULL;
    }
    struct lx_team_options how = *asked;
    int64_t devices = 1;
    if (how.grid.axes == 0) how.grid = (struct lx_team_grid){1, {how.devices}}; /* a row */
    for (int a = 0; a < how.grid.axes; a++) {
        if (how.grid.size[a] < 1 || how.grid.size[a] > LX_TEAM_DEVICES) devices = 0;
        devices *= how.grid.size[a];
    }
    if (devices < 1 || devices > LX_TEAM_DEVICES) {
        status_set(st, LX_E_RANGE, "a team has 1 to %d devices, not %d", LX_TEAM_DEVICES, how.devices);
        return NULL;
    }
    how.devices = (int)devices;
    if (!team_plan_fits_grid(g, &how, st)) return NULL;
    SCOPED(graph_free_at)
    const struct lx_graph *all =
        team_is_device_program(g) ? team_global_program(g, st) : team_with_copies(g, &how.grid, st);
    struct lx_team_plan *p = all ? team_plan_make_both(all, &how, st) : NULL;
    return p;
}

void lx_team_free(struct lx_team_plan *plan)
{
    if (!plan) return;
    OWNED struct arena *memory = plan->memory; /* also contains the plan */
    lx_graph_free(plan->graph);
    arena_free(memory);
}
