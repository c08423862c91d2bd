/* Checks a team's plan from any source.
 *
 * Every element of a tensor has one owner, which computes it. Partial sums are computed once per value of a
 * sharded variable, and combined unless all readers are linear in them. Each input of an op is owned by the
 * device or brought by its exchange, with the right contents. The steps start an exchange after its tensor is
 * written, and compute every piece of every op once, after all its inputs are there. */
#include "team/team_private.h"

/* Readers of an exchange. */
struct served {
    int reads;
    int32_t first;
    int64_t separate; /* bytes that all devices lack, summed over operands */
};

struct checker {
    const struct lx_team_plan *p;
    lx_status *st;
    struct tensor_ops reads, writes;
    struct served *served;   /* per exchange */
    int32_t *writer;         /* per tensor: its last writer so far, or -1 */
    unsigned char *pieces;   /* per op: a bit per finished piece */
    bool *started, *arrived; /* per exchange */
    bool *combined;          /* per op */
};

/* --- States: sharded, replicated or partial sums, by the splits of ops. --- */

/* Every tensor is covered by blocks or partial sums. */
static bool check_bounds(const struct checker *c)
{
    const struct lx_graph *g = c->p->graph;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        const struct lx_team_tensor *x = &c->p->tensors[t];
        for (int a = 0; a < c->p->grid.axes; a++) {
            int dim = x->shard[a], blocks = lx_team_blocks(&c->p->grid, x->shard, dim);
            if (dim >= 0 && (x->bound[dim][0] != 0 || x->bound[dim][blocks] != g->tensors[t].shape[dim]))
                return status_set(c->st, LX_E_NO, "tensor %s: its blocks are not all of it",
                                  g->tensors[t].name);
        }
    }
    return true;
}

static bool same_range(struct lx_team_range a, struct lx_team_range b)
{
    return (a.begin == b.begin && a.end == b.end) || (a.end <= a.begin && b.end <= b.begin);
}

/* Whether every value of a summed variable runs in exactly one block, in block order, on all devices of that
 * block. */
static bool check_states_cover(const struct checker *c, int32_t o, int loop, int64_t extent)
{
    const struct lx_team_op *how = &c->p->ops[o];
    int var = how->space[0].var[loop], blocks = lx_team_blocks(&c->p->grid, how->var, var);
    int64_t at = 0;
    for (int b = 0; b < blocks; b++) {
        struct lx_team_range range = {0, 0};
        bool found = false;
        for (int m = 0; m < c->p->devices; m++) {
            if (lx_team_block(&c->p->grid, how->var, how->space[m].var[loop], m) != b) continue;
            if (found && !same_range(range, how->space[m].range[loop])) return false;
            range = how->space[m].range[loop];
            found = true;
        }
        if (!found) return false;
        if (range.end <= range.begin) continue;
        if (range.begin != at) return false;
        at = range.end;
    }
    return at == extent;
}

/* For an op that reads partial sums along an axis: it must be linear in them, and their writer must make
 * them along the same axes. */
static bool check_states_reads(const struct checker *c, int32_t o, int axis)
{
    const struct lx_graph *g = c->p->graph;
    const struct lx_op *op = &g->ops[o];
    const int *var = c->p->ops[o].var;
    int input = LX_TEAM_PARTIAL - var[axis];
    unsigned one = 0;
    bool linear = team_linear(g, op, &one) && input < op->input_count;
    if (!linear || (one ? !(one >> input & 1) : input != 0))
        return status_set(c->st, LX_E_NO, "op %s is not linear in the partial sums that it reads", op->name);
    for (int i = 0; i < op->input_count; i++) {
        if (!team_reads_partial_along(op, var[axis], i)) continue;
        int32_t w = c->writer[op->inputs[i]];
        struct op_index x;
        bool ok = w >= 0 && c->p->ops[o].exchange[i] < 0 && !team_picks(&g->ops[w]) &&
                  team_linear(g, &g->ops[w], &one);
        if (ok) op_index_of(g, &g->ops[w], &x);
        for (int a = 0; ok && a < c->p->grid.axes; a++)
            ok = team_reads_partial_along(op, var[a], i) == team_shards_sum(&x, c->p->ops[w].var, a);
        if (!ok)
            return status_set(c->st, LX_E_NO, "op %s reads partial sums of %s that there are not", op->name,
                              g->tensors[op->inputs[i]].name);
    }
    return true;
}

/* Checks one axis of the op and its results. */
static bool check_axis(const struct checker *c, int32_t o, const struct op_index *x, int axis)
{
    const struct lx_op *op = &c->p->graph->ops[o];
    const struct lx_team_tensor *out = &c->p->tensors[op->output];
    int var = c->p->ops[o].var[axis];
    if (var <= LX_TEAM_PARTIAL) return check_states_reads(c, o, axis);
    if (var < 0 && out->shard[axis] >= 0)
        return status_set(c->st, LX_E_NO, "op %s writes all of %s on every device, but that is sharded",
                          op->name, c->p->graph->tensors[op->output].name);
    if (var < 0) return true;
    if (!team_may_shard(op, x, var))
        return status_set(c->st, LX_E_NO, "op %s cannot be sharded there", op->name);
    if (!op_index_reduced(x, var))
        return out->shard[axis] == op_index_dim(x, x->output, var)
                   ? true
                   : status_set(c->st, LX_E_NO, "op %s is not split as %s is", op->name,
                                c->p->graph->tensors[op->output].name);
    int loop = team_loop_of(&c->p->ops[o].space[0], var);
    if (loop >= 0 && check_states_cover(c, o, loop, x->extent[var])) return true;
    return status_set(c->st, LX_E_NO, "op %s: its partial sums are not each value of a summed variable once",
                      op->name);
}

/* The axes that shard a sum must all replicate the result, or all shard it, as its last axes. */
static bool check_scatter(const struct checker *c, int32_t o, const struct op_index *x)
{
    const struct lx_op *op = &c->p->graph->ops[o];
    const struct lx_team_tensor *out = &c->p->tensors[op->output];
    const int *var = c->p->ops[o].var;
    bool scatters = team_scatters(&c->p->grid, x, var, out);
    for (int a = 0; a < c->p->grid.axes; a++) {
        bool sums = team_shards_sum(x, var, a), late = true;
        for (int b = a + 1; b < c->p->grid.axes; b++)
            late = late && (out->shard[b] != out->shard[a] || team_shards_sum(x, var, b));
        if (sums && ((out->shard[a] >= 0) != scatters || (scatters && !late)))
            return status_set(c->st, LX_E_NO, "op %s: its partial sums do not become %s as that is sharded",
                              op->name, c->p->graph->tensors[op->output].name);
    }
    return true;
}

/* A device must own the part of the output it computes, or share its ownership with the devices it adds up
 * with. */
static bool check_space(const struct checker *c, int32_t o, const struct op_index *x, int m)
{
    const struct lx_op *op = &c->p->graph->ops[o];
    const struct lx_team_op *how = &c->p->ops[o];
    const struct lx_team_tensor *out = &c->p->tensors[op->output];
    for (int l = 0; l < how->space[m].loops; l++) {
        int var = how->space[m].var[l], dim = op_index_dim(x, x->output, var);
        if (dim < 0) continue;
        int further =
            lx_team_blocks(&c->p->grid, out->shard, dim) / lx_team_blocks(&c->p->grid, how->var, var);
        int first = lx_team_block(&c->p->grid, how->var, var, m) * further;
        struct lx_team_range block = {out->bound[dim][first], out->bound[dim][first + further]};
        if (!same_range(how->space[m].range[l], team_range_of_block(x, var, block)))
            return status_set(c->st, LX_E_NO, "op %s: device %d does not compute what it owns", op->name, m);
    }
    return true;
}

/* Partial sums must be made by an op and must not be an output. */
static bool check_partial(const struct checker *c)
{
    const struct lx_graph *g = c->p->graph;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        if (!lx_team_is_partial(&c->p->tensors[t])) continue;
        bool made = c->writer[t] >= 0 && c->p->ops[c->writer[t]].mode == LX_TEAM_KEPT_PARTIAL;
        if (!made || lx_role_leaves(g->tensors[t].role))
            return status_set(c->st, LX_E_NO, "tensor %s is partial sums that nobody makes, or joins",
                              g->tensors[t].name);
    }
    return true;
}

/* Op `o` computes its results in their states from operands in theirs; needs a current `writer`. */
static bool check_mode(const struct checker *c, int32_t o)
{
    const struct lx_op *op = &c->p->graph->ops[o];
    const struct lx_team_op *how = &c->p->ops[o];
    struct op_index x;
    op_index_of(c->p->graph, op, &x);
    bool split = false, sums = false, partial = false, kept = true; /* kept: along all axes of partial sums */
    for (int a = 0; a < c->p->grid.axes; a++) {
        bool makes = team_shards_sum(&x, how->var, a),
             has = c->p->tensors[op->output].shard[a] == LX_TEAM_PARTIAL;
        split |= how->var[a] >= 0;
        sums |= makes;
        partial |= has;
        kept = kept && has == makes;
        if (!check_axis(c, o, &x, a)) return false;
    }
    if (how->mode != (partial && kept ? LX_TEAM_KEPT_PARTIAL
                      : sums          ? LX_TEAM_COMBINE
                      : split         ? LX_TEAM_SPLIT
                                      : LX_TEAM_REPLICATED))
        return status_set(c->st, LX_E_NO, "op %s is not computed as its mode says", op->name);
    if (!check_scatter(c, o, &x)) return false;
    /* All results of an op must be sharded alike; replicated ones may differ in shape. */
    const struct lx_team_tensor *first = &c->p->tensors[op->output];
    for (int r = op->input_count + 1; r < op_operand_count(op); r++) {
        const struct lx_team_tensor *t = &c->p->tensors[op_operand(op, r)];
        bool same = memcmp(first->shard, t->shard, sizeof t->shard) == 0;
        if (lx_team_is_replicated(first) && lx_team_is_replicated(t)) continue;
        for (int m = 0; same && m < c->p->devices; m++) {
            struct lx_team_box a = lx_team_own(c->p, op->output, m),
                               b = lx_team_own(c->p, op_operand(op, r), m);
            same = lx_team_box_equal(&a, &b);
        }
        if (!same) return status_set(c->st, LX_E_NO, "op %s: its results are not sharded alike", op->name);
    }
    for (int m = 0; m < c->p->devices; m++)
        if (!check_space(c, o, &x, m)) return false;
    return true;
}

/* --- Needs, exchanges and steps. --- */

static const char *team_check_op_name(const struct checker *c, int32_t o)
{
    return c->p->graph->ops[o].name;
}

/* Whether device `m` has input `i` for the ranges `space` by now. Partial sums must come from the same
 * device and cover those ranges. */
static bool check_need(const struct checker *c, int32_t o, int i, int m, const struct lx_team_space *space,
                       bool arrived)
{
    const struct lx_graph *g = c->p->graph;
    const struct lx_op *op = &g->ops[o];
    int32_t t = op->inputs[i], e = c->p->ops[o].exchange[i], w = tensor_ops_before(&c->writes, t, o);
    struct lx_team_box need = lx_team_need(g, op, i, space), own = lx_team_own(c->p, t, m);
    bool partial = lx_team_is_partial(&c->p->tensors[t]), there;
    if (lx_team_space_empty(space)) return true;
    if (team_reads_partial(op, c->p->ops[o].var, i)) {
        struct op_index x;
        if (w >= 0) op_index_of(g, &g->ops[w], &x);
        struct lx_team_box part = w < 0 ? own : team_result_box(g, &g->ops[w], &x, &c->p->ops[w].space[m]);
        there = w >= 0 && lx_team_box_within(&need, &part);
    } else {
        there = !partial && lx_team_box_within(&need, &own);
    }
    if (there || (arrived && e >= 0 && !(c->p->exchanges[e].sides && team_beside(&need, &own) > 1) &&
                  !partial && lx_team_box_within(&need, &c->p->exchanges[e].box[m])))
        return true;
    return status_set(c->st, LX_E_NO, "op %s: device %d neither owns nor has received its part of %s",
                      op->name, m, g->tensors[t].name);
}

static bool check_ops(struct checker *c)
{
    const struct lx_graph *g = c->p->graph;
    for (int32_t t = 0; t < g->tensor_count; t++) c->writer[t] = -1;
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        if (!check_mode(c, o)) return false;
        for (int i = 0; i < op->input_count; i++) {
            int32_t e = c->p->ops[o].exchange[i], t = op->inputs[i];
            if (e >= 0 && c->p->exchanges[e].after != c->writer[t])
                return status_set(c->st, LX_E_NO,
                                  "op %s reads %s by exchange %d, which brings other contents", op->name,
                                  g->tensors[t].name, (int)e);
            for (int m = 0; m < c->p->devices; m++)
                if (!check_need(c, o, i, m, &c->p->ops[o].space[m], true)) return false;
        }
        for (int r = op->input_count; r < op_operand_count(op); r++) c->writer[op_operand(op, r)] = o;
    }
    return check_partial(c);
}

/* Counts the operands of each exchange, and the bytes of them that devices lack. */
static void check_count_served(struct checker *c)
{
    const struct lx_graph *g = c->p->graph;
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < g->ops[o].input_count; i++) {
            int32_t e = c->p->ops[o].exchange[i];
            if (e < 0) continue;
            struct served *s = &c->served[e];
            s->first = s->reads++ ? s->first : o;
            for (int m = 0; m < c->p->devices; m++) {
                const struct lx_team_space *space = &c->p->ops[o].space[m];
                int32_t t = c->p->exchanges[e].tensor;
                if (lx_team_space_empty(space)) continue;
                struct lx_team_box own = lx_team_own(c->p, t, m),
                                   need = lx_team_need(g, &g->ops[o], i, space);
                s->separate += team_missing_bytes(&g->tensors[t], &need, &own);
            }
        }
}

/* Each device's box must be the hull of its readers' needs. `hull` has room for one box per exchange. */
static bool check_boxes(const struct checker *c, int m, struct lx_team_box *hull)
{
    const struct lx_graph *g = c->p->graph;
    for (int32_t e = 0; e < c->p->exchange_count; e++)
        hull[e] = (struct lx_team_box){.rank = g->tensors[c->p->exchanges[e].tensor].rank};
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < g->ops[o].input_count; i++) {
            const struct lx_team_space *space = &c->p->ops[o].space[m];
            int32_t e = c->p->ops[o].exchange[i];
            if (e < 0 || lx_team_space_empty(space)) continue;
            struct lx_team_box need = lx_team_need(g, &g->ops[o], i, space);
            hull[e] = lx_team_box_hull(&hull[e], &need);
        }
    for (int32_t e = 0; e < c->p->exchange_count; e++) {
        const struct lx_team_box *box = &c->p->exchanges[e].box[m];
        if (lx_team_box_empty(&hull[e]) ? lx_team_box_empty(box) : lx_team_box_equal(&hull[e], box)) continue;
        return status_set(c->st, LX_E_NO,
                          "exchange %d: the box of device %d is not the least around what is read there",
                          (int)e, m);
    }
    return true;
}

/* One bit per piece: all, the core, then before and after it along each loop. */
enum { BIT_ALL = 1 };

static unsigned check_bit_of(const struct lx_team_step *s)
{
    if (s->piece == LX_TEAM_ALL || s->piece == LX_TEAM_CORE) return s->piece == LX_TEAM_ALL ? BIT_ALL : 2;
    return (s->piece == LX_TEAM_BEFORE ? 4u : 8u) << 2 * s->along;
}

static bool check_is_computed(const struct checker *c, int32_t o)
{
    unsigned cut = (1u << (2 + 2 * c->p->ops[o].space[0].loops)) - 2;
    return c->pieces[o] == BIT_ALL || c->pieces[o] == cut;
}

static bool team_check_done(const struct checker *c, int32_t o)
{
    if (o < 0) return true;
    return check_is_computed(c, o) && (c->p->ops[o].mode != LX_TEAM_COMBINE || c->combined[o]);
}

/* Whether the piece's inputs are there: complete, or the same piece of an op of its group. */
static bool check_piece_ready(const struct checker *c, const struct lx_team_step *s)
{
    const struct lx_op *op = &c->p->graph->ops[s->op];
    const struct lx_team_op *how = &c->p->ops[s->op];
    for (int i = 0; i < op->input_count; i++) {
        int32_t w = tensor_ops_before(&c->writes, op->inputs[i], s->op), e = how->exchange[i];
        bool parts = w >= 0 && team_reads_partial(op, how->var, i) && check_is_computed(c, w);
        bool together = w >= 0 && c->p->ops[w].group == how->group && e < 0 && team_plain_index(op) &&
                        c->pieces[w] & check_bit_of(s);
        if (w >= 0 && !team_check_done(c, w) && !together && !parts)
            return status_set(c->st, LX_E_NO, "op %s is computed before %s, which it reads", op->name,
                              team_check_op_name(c, w));
        for (int m = 0; m < c->p->devices; m++) {
            struct lx_team_space space = lx_team_step_space(c->p, s, m);
            if (!check_need(c, s->op, i, m, &space, e >= 0 && c->arrived[e])) return false;
        }
    }
    return true;
}

static bool team_check_compute(struct checker *c, const struct lx_team_step *s)
{
    bool cut = s->piece != LX_TEAM_ALL;
    unsigned before = c->pieces[s->op], bit = check_bit_of(s);
    if (before & bit || (before && cut != !(before & BIT_ALL)))
        return status_set(c->st, LX_E_NO, "op %s is computed twice", team_check_op_name(c, s->op));
    if (!check_piece_ready(c, s)) return false;
    /* All readers of the overwritten contents must be done. */
    int32_t o = s->op;
    const struct lx_op *op = &c->p->graph->ops[o];
    for (int k = op->input_count; k < op_operand_count(op); k++)
        for (int32_t r = -1; (r = tensor_ops_after(&c->reads, op_operand(op, k), r)) >= 0 && r < o;)
            if (!team_check_done(c, r))
                return status_set(c->st, LX_E_NO, "op %s writes over what op %s has yet to read",
                                  team_check_op_name(c, o), team_check_op_name(c, r));
    c->pieces[s->op] = (unsigned char)(before | bit);
    return true;
}

static bool team_check_step(struct checker *c, const struct lx_team_step *s)
{
    int32_t e = s->exchange;
    const struct lx_team_exchange *x = e >= 0 ? &c->p->exchanges[e] : NULL;
    bool over = false;
    switch (s->kind) {
    case LX_TEAM_START: /* its tensor must be written, and not yet overwritten */
        for (int32_t o = x->after; (o = tensor_ops_after(&c->writes, x->tensor, o)) >= 0;)
            over |= c->pieces[o];
        if (c->started[e] || (x->after >= 0 && !team_check_done(c, x->after)) || over)
            return status_set(c->st, LX_E_NO, "exchange %d starts twice, too early or too late", (int)e);
        return c->started[e] = true;
    case LX_TEAM_WAIT:
        if (!c->started[e] || c->arrived[e])
            return status_set(c->st, LX_E_NO, "exchange %d is awaited twice, or never started", (int)e);
        return c->arrived[e] = true;
    case LX_TEAM_COMPUTE: return team_check_compute(c, s);
    default:
        if (c->pieces[s->op] != BIT_ALL || c->combined[s->op] || c->p->ops[s->op].mode != LX_TEAM_COMBINE)
            return status_set(c->st, LX_E_NO, "op %s is combined twice, or before it is computed",
                              team_check_op_name(c, s->op));
        return c->combined[s->op] = true;
    }
}

static bool check_steps(struct checker *c)
{
    struct lx_team_box *hull = mem_alloc(((size_t)c->p->exchange_count + 1) * sizeof *hull);
    bool ok = true;
    check_count_served(c);
    for (int32_t e = 0; ok && e < c->p->exchange_count; e++) {
        int reads = c->served[e].reads;
        int32_t first = reads ? c->served[e].first : -1;
        if (c->p->exchanges[e].reads != reads || c->p->exchanges[e].first_reader != first)
            ok = status_set(c->st, LX_E_NO, "exchange %d serves %d operands, the first of them of op %d",
                            (int)e, reads, (int)first);
    }
    for (int m = 0; ok && m < c->p->devices; m++) ok = check_boxes(c, m, hull);
    mem_free(hull);
    if (!ok) return false;
    for (int32_t s = 0; s < c->p->step_count; s++)
        if (!team_check_step(c, &c->p->steps[s])) return false;
    for (int32_t o = 0; o < c->p->graph->op_count; o++)
        if (!team_check_done(c, o))
            return status_set(c->st, LX_E_NO, "the steps do not compute all of op %s",
                              team_check_op_name(c, o));
    for (int32_t e = 0; e < c->p->exchange_count; e++)
        if (!c->arrived[e]) return status_set(c->st, LX_E_NO, "exchange %d is never awaited", (int)e);
    return true;
}

/* Checks figures that the plan states for comparison; negative: absent. Everything else has been checked. */
static bool team_check_figures(const struct checker *c)
{
    for (int32_t e = 0; e < c->p->exchange_count; e++) {
        int64_t bytes = c->served[e].separate, stated = c->p->exchanges[e].separate_bytes;
        if (stated >= 0 && stated != bytes)
            return status_set(c->st, LX_E_NO,
                              "exchange %d would bring %" PRId64 " bytes one by one, not %" PRId64, (int)e,
                              bytes, stated);
    }
    int64_t plain = c->p->plain_bytes < 0 ? c->p->plain_bytes : team_plain_bytes(c->p);
    if (plain == c->p->plain_bytes) return true;
    return status_set(c->st, LX_E_NO,
                      "without the passes the team would exchange %" PRId64 " bytes, not %" PRId64, plain,
                      c->p->plain_bytes);
}

bool lx_team_check(const struct lx_team_plan *plan, lx_status *st)
{
    size_t ops = (size_t)plan->graph->op_count + 1, exchanges = (size_t)plan->exchange_count + 1;
    struct checker c = {.p = plan,
                        .st = st,
                        .served = mem_zeroed(exchanges, sizeof *c.served),
                        .writer = mem_zeroed((size_t)plan->graph->tensor_count + 1, sizeof *c.writer),
                        .pieces = mem_zeroed(ops, sizeof *c.pieces),
                        .started = mem_zeroed(exchanges, sizeof *c.started),
                        .arrived = mem_zeroed(exchanges, sizeof *c.arrived),
                        .combined = mem_zeroed(ops, sizeof *c.combined)};
    tensor_ops_make(&c.reads, plan->graph, false);
    tensor_ops_make(&c.writes, plan->graph, true);
    bool ok = check_bounds(&c) && check_ops(&c) && check_steps(&c) && team_check_figures(&c);
    tensor_ops_free(&c.reads);
    tensor_ops_free(&c.writes);
    mem_free(c.served);
    mem_free(c.writer);
    mem_free(c.pieces);
    mem_free(c.started);
    mem_free(c.arrived);
    mem_free(c.combined);
    return ok;
}
