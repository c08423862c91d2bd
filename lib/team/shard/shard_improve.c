/* Anytime search: a first answer at once, better ones while there is time.
 *
 * The replicated answer comes first, without a search. Then a narrow beam and a wide beam run; if neither
 * drops a choice, the answer is optimal. Otherwise it is compared with answers that replicate tensors, use
 * each axis alone, or all axes as one row. Then each tensor in turn is freed, together with the tensors that
 * share an op with it, while all others are fixed, until the cost stops falling. A limit on searched ops
 * makes this end at the same point on every machine. */
#include "team/shard/shard_search.h"

enum { MOST = 1500, FEW = 8, MOST_NEAR = 200, MOST_OPS = 2000, MOST_ROUNDS = 8 };

struct improver {
    const struct shard_question *q;
    struct shard_prices *prices;
    struct shard_answer *best, other;
    bool *fixed;
    struct shard_state *state;
    int64_t ops;         /* searched ops */
    bool found, dropped; /* of the last search: it found an answer; it dropped choices */
    bool any;            /* there is a best answer */
};

/* Runs one search and keeps its answer if better. False: cancelled. */
static bool shard_improve_try(struct improver *p, enum shard_along along, size_t most)
{
    const struct lx_graph *g = p->q->g;
    const struct shard_question q = {
        .g = g, .grid = p->q->grid, .by_time = p->q->by_time, .fixed = p->fixed, .state = p->state};
    p->found = shard_search_along(&q, p->prices, along, most, &p->other, &p->dropped);
    p->ops += p->other.searched;
    if (!p->found) return p->other.stuck >= 0;
    if (p->any && !shard_cheaper(p->q, p->other.cost, p->best->cost)) return true;
    p->any = true;
    p->best->unsharded = false;
    memcpy(p->best->tensors, p->other.tensors, (size_t)g->tensor_count * sizeof *p->other.tensors);
    memcpy(p->best->ways, p->other.ways, (size_t)g->op_count * sizeof *p->other.ways);
    p->best->cost = p->other.cost;
    return true;
}

static void shard_improve_fix(struct improver *p)
{
    for (int32_t t = 0; t < p->q->g->tensor_count; t++) {
        p->fixed[t] = p->q->fixed[t];
        p->state[t] = p->q->state[t];
    }
}

/* A narrow beam; if it gets stuck, wider ones. If replication is impossible this is the first answer, and
 * cancellation is ignored. */
static bool shard_improve_few(struct improver *p, size_t *most)
{
    struct cancel shield;
    bool first = !p->any;
    if (first) cancel_shield(&shield);
    shard_improve_fix(p);
    bool ok = shard_improve_try(p, SHARD_FREELY, *most = FEW);
    while (ok && !p->found && p->dropped && *most < MOST)
        ok = shard_improve_try(p, SHARD_FREELY, *most = *most * FEW < MOST ? *most * FEW : MOST);
    if (ok) p->best->unsharded = false; /* a better answer was searched for */
    p->best->stuck = ok && !p->any ? p->other.stuck : -1;
    if (first) cancel_end(&shield);
    return ok;
}

static bool shard_improve_plain(struct improver *p)
{
    const struct lx_team_grid *grid = &p->q->grid;
    int cutting = 0;
    for (int a = 0; a < grid->axes; a++) cutting += grid->size[a] > 1;
    shard_improve_fix(p);
    bool several = cutting > 1, ok = !several || shard_improve_try(p, SHARD_TOGETHER, MOST);
    for (int a = 0; several && ok && a < grid->axes; a++)
        if (grid->size[a] > 1) ok = shard_improve_try(p, (enum shard_along)a, MOST);
    for (int32_t t = 0; t < p->q->g->tensor_count; t++) {
        if (p->fixed[t]) continue;
        p->fixed[t] = true;
        p->state[t] = shard_replicated;
    }
    return ok && shard_improve_try(p, SHARD_FREELY, MOST);
}

/* Fixes all tensors but `t` and tensors that share an op with `t`. Partial sums stay free: an op makes them,
 * no caller requests them. */
static void shard_improve_free(struct improver *p, int32_t t)
{
    const struct lx_graph *g = p->q->g;
    for (int32_t i = 0; i < g->tensor_count; i++) {
        p->fixed[i] = p->q->fixed[i] || !shard_is_partial(p->best->tensors[i]);
        p->state[i] = p->q->fixed[i] ? p->q->state[i] : p->best->tensors[i];
    }
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        bool meets = false;
        for (int i = 0; i < op_operand_count(op); i++) meets |= op_operand(op, i) == t;
        for (int i = 0; meets && i < op_operand_count(op); i++)
            p->fixed[op_operand(op, i)] = p->q->fixed[op_operand(op, i)];
    }
}

static void shard_improve_rounds(struct improver *p)
{
    bool ok = true, better = true;
    for (int round = 0; ok && better && round < MOST_ROUNDS; round++) {
        struct shard_cost before = p->best->cost;
        for (int32_t t = 0; ok && t < p->q->g->tensor_count && p->ops < MOST_OPS; t++) {
            if (p->q->fixed[t]) continue;
            shard_improve_free(p, t);
            ok = shard_improve_try(p, SHARD_FREELY, MOST_NEAR);
        }
        better = shard_cheaper(p->q, p->best->cost, before);
    }
}

bool shard_search(const struct shard_question *q, struct shard_answer *out)
{
    size_t tensors = (size_t)q->g->tensor_count + 1;
    struct improver p = {.q = q,
                         .prices = shard_prices_make(q->g, &q->grid, q->spills, NULL),
                         .best = out,
                         .other = {.tensors = mem_zeroed(tensors, sizeof *p.other.tensors),
                                   .ways = mem_zeroed((size_t)q->g->op_count + 1, sizeof *p.other.ways)},
                         .fixed = mem_zeroed(tensors, sizeof *p.fixed),
                         .state = mem_zeroed(tensors, sizeof *p.state)};
    struct shard_question replicated = *q;
    struct cancel shield;
    replicated.replicated = true;
    cancel_shield(&shield); /* fast: cancellation is ignored */
    p.any = shard_search_along(&replicated, p.prices, SHARD_FREELY, 1, out, &p.dropped);
    cancel_end(&shield);
    out->unsharded = p.any && !q->replicated && lx_team_device_count(&q->grid) > 1;
    size_t most;
    if (!(q->replicated && p.any) && shard_improve_few(&p, &most) && p.any && p.dropped &&
        (most >= MOST || shard_improve_try(&p, SHARD_FREELY, MOST)) && p.dropped) {
        p.ops = 0;
        if (shard_improve_plain(&p)) shard_improve_rounds(&p);
    }
    shard_prices_free(p.prices);
    mem_free(p.other.tensors);
    mem_free(p.other.ways);
    mem_free(p.fixed);
    mem_free(p.state);
    return p.any;
}
