/* Is a team's plan right, whoever made it?
 *
 * Every element of a tensor has one owner. Who owns what an op writes computes it; partial results are computed
 * once for each value of the variable that is cut, and are joined unless all who read them are linear in them
 * (check_states.c). What an op reads on a device is owned there or brought by its exchange, whose contents are those
 * that the op means. The steps start an exchange when its tensor is written, and compute every piece of every op
 * once, when all that it reads is there. */
#include "team/team_checker.h"
#include "base/fail.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *team_check_op_name(const struct checker *c, int32_t o)
{
    return c->p->graph->ops[o].name;
}

/* The op whose result an op reads in an input; -1: it is given. */
static int32_t team_check_source_of(const struct checker *c, int32_t o, int32_t t)
{
    return tensor_ops_before(&c->writes, t, o);
}

/* Parts are where they were made, and of what was computed there. */
static bool team_check_has_part(const struct checker *c, int32_t o, int i, int m,
                                const struct lx_team_box *need)
{
    int32_t w = team_check_source_of(c, o, c->p->graph->ops[o].inputs[i]);
    struct op_index x;
    if (w < 0) return false;
    op_index_of(c->p->graph, &c->p->graph->ops[w], &x);
    struct lx_team_box part = team_result_box(c->p->graph, &c->p->graph->ops[w], &x, &c->p->ops[w].space[m]);
    return lx_team_box_within(need, &part);
}

/* What an input needs on a device while the cut variables run over `space`: is it there by now? */
static bool check_need(const struct checker *c, int32_t o, int i, int m, const struct lx_team_space *space,
                       bool arrived)
{
    const struct lx_op *op = &c->p->graph->ops[o];
    int32_t t = op->inputs[i], e = c->p->ops[o].exchange[i];
    struct lx_team_box need = lx_team_need(c->p->graph, op, i, space);
    struct lx_team_box own = lx_team_own(c->p, t, m);
    if (lx_team_space_empty(space)) return true;
    if (team_reads_partial(op, c->p->ops[o].var, i)) {
        if (team_check_has_part(c, o, i, m, &need)) return true;
    } else if (!lx_team_is_partial(&c->p->tensors[t]) && lx_team_box_within(&need, &own))
        return true;
    if (arrived && e >= 0 && !(c->p->exchanges[e].sides && team_beside(&need, &own) > 1) &&
        !lx_team_is_partial(&c->p->tensors[t]) && lx_team_box_within(&need, &c->p->exchanges[e].box[m]))
        return true;
    return status_set(c->st, LX_E_NO, "op %s: device %d neither owns nor has received what it reads of %s",
                      op->name, m, c->p->graph->tensors[t].name);
}

/* The contents that an exchange brings are those that the op reads. */
static bool check_contents(const struct checker *c, int32_t o, int i)
{
    int32_t e = c->p->ops[o].exchange[i], t = c->p->graph->ops[o].inputs[i];
    if (e < 0 || c->p->exchanges[e].after == c->writer[t]) return true;
    return status_set(c->st, LX_E_NO, "op %s reads %s by exchange %d, which brings other contents",
                      team_check_op_name(c, o), c->p->graph->tensors[t].name, (int)e);
}

static bool check_ops(struct checker *c)
{
    const struct lx_graph *g = c->p->graph;
    for (int32_t t = 0; t < g->tensor_count; t++) c->writer[t] = -1;
    for (int32_t o = 0; o < g->op_count; o++) {
        if (!check_mode(c, o)) return false;
        for (int i = 0; i < g->ops[o].input_count; i++) {
            if (!check_contents(c, o, i)) return false;
            for (int m = 0; m < c->p->devices; m++)
                if (!check_need(c, o, i, m, &c->p->ops[o].space[m], true)) return false;
        }
        for (int r = g->ops[o].input_count; r < op_operand_count(&g->ops[o]); r++)
            c->writer[op_operand(&g->ops[o], r)] = o;
    }
    return check_partial(c);
}

/* What all devices lack of an operand that an exchange serves. */
static int64_t lacked(const struct checker *c, int32_t o, int i, int32_t e)
{
    const struct lx_graph *g = c->p->graph;
    int32_t t = c->p->exchanges[e].tensor;
    int64_t bytes = 0;
    for (int m = 0; m < c->p->devices; m++) {
        const struct lx_team_space *space = &c->p->ops[o].space[m];
        if (lx_team_space_empty(space)) continue;
        struct lx_team_box own = lx_team_own(c->p, t, m), need = lx_team_need(g, &g->ops[o], i, space);
        bytes += team_missing_bytes(&g->tensors[t], &need, &own);
    }
    return bytes;
}

static void count_served(struct checker *c)
{
    for (int32_t o = 0; o < c->p->graph->op_count; o++)
        for (int i = 0; i < c->p->graph->ops[o].input_count; i++) {
            int32_t e = c->p->ops[o].exchange[i];
            if (e < 0) continue;
            struct served *s = &c->served[e];
            s->first = s->reads++ ? s->first : o;
            s->separate += lacked(c, o, i, e);
        }
}

static bool check_readers(const struct checker *c, int32_t e)
{
    int reads = c->served[e].reads;
    int32_t first = reads ? c->served[e].first : -1;
    if (c->p->exchanges[e].reads == reads && c->p->exchanges[e].first_reader == first) return true;
    return status_set(c->st, LX_E_NO, "exchange %d serves %d operands, the first of them of op %d", (int)e,
                      reads, (int)first);
}

/* A device's box is the least around what its readers need there. `hull`: room for one per exchange. */
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

static bool check_exchanges(struct checker *c)
{
    struct lx_team_box *hull = mem_alloc(((size_t)c->p->exchange_count + 1) * sizeof *hull);
    bool ok = hull ? true : status_no_memory(c->st);
    count_served(c);
    for (int32_t e = 0; ok && e < c->p->exchange_count; e++) ok = check_readers(c, e);
    for (int m = 0; ok && m < c->p->devices; m++) ok = check_boxes(c, m, hull);
    mem_free(hull);
    return ok;
}

/* A bit per piece: all, the core, then what is before and after it along each loop. */
enum { BIT_ALL = 1 };

static unsigned bit_of(const struct lx_team_step *s)
{
    if (s->piece == LX_TEAM_ALL || s->piece == LX_TEAM_CORE) return s->piece == LX_TEAM_ALL ? BIT_ALL : 2;
    return (s->piece == LX_TEAM_BEFORE ? 4u : 8u) << 2 * s->along;
}

static bool computed(const struct checker *c, int32_t o)
{
    unsigned cut = (1u << (2 + 2 * c->p->ops[o].space[0].loops)) - 2;
    return c->pieces[o] == BIT_ALL || c->pieces[o] == cut;
}

static bool team_check_done(const struct checker *c, int32_t o)
{
    if (o < 0) return true;
    return computed(c, o) && (c->p->ops[o].mode != LX_TEAM_COMBINE || c->combined[o]);
}

/* Is what the piece reads there: all of it, or the same piece of an op of its own group? */
static bool piece_ready(const struct checker *c, const struct lx_team_step *s)
{
    const struct lx_op *op = &c->p->graph->ops[s->op];
    const struct lx_team_op *how = &c->p->ops[s->op];
    for (int i = 0; i < op->input_count; i++) {
        int32_t w = team_check_source_of(c, s->op, op->inputs[i]), e = how->exchange[i];
        bool parts = w >= 0 && team_reads_partial(op, how->var, i) && computed(c, w);
        bool together = w >= 0 && c->p->ops[w].group == how->group && e < 0 && team_plain_index(op) &&
                        c->pieces[w] & bit_of(s);
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

/* Whoever reads what the op writes over has read it. */
static bool may_overwrite(const struct checker *c, int32_t o)
{
    const struct lx_op *op = &c->p->graph->ops[o];
    for (int k = op->input_count; k < op_operand_count(op); k++)
        for (int32_t r = -1; (r = tensor_ops_after(&c->reads, op_operand(op, k), r)) >= 0 && r < o;)
            if (!team_check_done(c, r))
                return status_set(c->st, LX_E_NO, "op %s writes over what op %s has yet to read",
                                  team_check_op_name(c, o), team_check_op_name(c, r));
    return true;
}

static bool team_check_compute(struct checker *c, const struct lx_team_step *s)
{
    bool cut = s->piece != LX_TEAM_ALL;
    unsigned before = c->pieces[s->op], bit = bit_of(s);
    if (before & bit || (before && cut != !(before & BIT_ALL)))
        return status_set(c->st, LX_E_NO, "op %s is computed twice", team_check_op_name(c, s->op));
    if (!piece_ready(c, s) || !may_overwrite(c, s->op)) return false;
    c->pieces[s->op] = (unsigned char)(before | bit);
    return true;
}

/* What an exchange sends must be written, and not yet be written over. */
static bool team_check_start(struct checker *c, int32_t e)
{
    const struct lx_team_exchange *x = &c->p->exchanges[e];
    bool over = false;
    for (int32_t o = x->after; (o = tensor_ops_after(&c->writes, x->tensor, o)) >= 0;) over |= c->pieces[o];
    if (c->started[e] || (x->after >= 0 && !team_check_done(c, x->after)) || over)
        return status_set(c->st, LX_E_NO, "exchange %d starts twice, too early or too late", (int)e);
    return c->started[e] = true;
}

static bool team_check_take(struct checker *c, const struct lx_team_step *s)
{
    switch (s->kind) {
    case LX_TEAM_START:
        return team_check_start(c, s->exchange);
    case LX_TEAM_WAIT:
        if (!c->started[s->exchange] || c->arrived[s->exchange])
            return status_set(c->st, LX_E_NO, "exchange %d is awaited twice, or never started",
                              (int)s->exchange);
        return c->arrived[s->exchange] = true;
    case LX_TEAM_COMPUTE:
        return team_check_compute(c, s);
    default:
        if (c->pieces[s->op] != BIT_ALL || c->combined[s->op] || c->p->ops[s->op].mode != LX_TEAM_COMBINE)
            return status_set(c->st, LX_E_NO, "op %s is combined twice, or before it is computed",
                              team_check_op_name(c, s->op));
        return c->combined[s->op] = true;
    }
}

static bool check_steps(struct checker *c)
{
    if (!check_exchanges(c)) return false;
    for (int32_t s = 0; s < c->p->step_count; s++)
        if (!team_check_take(c, &c->p->steps[s])) return false;
    for (int32_t o = 0; o < c->p->graph->op_count; o++)
        if (!team_check_done(c, o))
            return status_set(c->st, LX_E_NO, "the steps do not compute all of op %s",
                              team_check_op_name(c, o));
    for (int32_t e = 0; e < c->p->exchange_count; e++)
        if (!c->arrived[e]) return status_set(c->st, LX_E_NO, "exchange %d is never awaited", (int)e);
    return true;
}

/* What is told of a plan that it is compared with; less than 0: nothing. All else holds by now. */
static bool team_check_told(const struct checker *c)
{
    int64_t plain = 0;
    for (int32_t e = 0; e < c->p->exchange_count; e++) {
        int64_t bytes = c->served[e].separate, told = c->p->exchanges[e].separate_bytes;
        if (told >= 0 && told != bytes)
            return status_set(c->st, LX_E_NO,
                              "exchange %d would bring %" PRId64 " bytes one by one, not %" PRId64, (int)e,
                              bytes, told);
    }
    if (c->p->plain_bytes < 0) return true;
    if (!team_plain_bytes(c->p, &plain, c->st)) return false;
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
    bool room = c.served && c.writer && c.pieces && c.started && c.arrived && c.combined;
    bool ok =
        tensor_ops_make(&c.reads, plan->graph, false) && tensor_ops_make(&c.writes, plan->graph, true) && room
            ? true
            : status_no_memory(st);
    ok = ok && check_bounds(&c) && check_ops(&c) && check_steps(&c) && team_check_told(&c);
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
