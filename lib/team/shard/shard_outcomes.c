/* The outcomes of an op for given operand states: every way (or only the replicated one), every state of
 * tensors it touches first, every necessary join of partial sums. Outcomes depend on nothing else, so they
 * are found once for all hypotheses with the same operand states. */
#include "team/shard/shard_layers.h"

/* One set of slots, and an outcome under construction: slot per place, state per first-touched tensor, join
 * per operand. */
struct maker {
    struct shard_operands *p;
    struct shard_slots *slots;
    struct layer *to;
    size_t begin; /* outcomes before it belong to other sets */
    const struct lx_op *op;
    const struct shard_way *way;
    int32_t way_number;
    struct slot stood[LX_MAX_OPERANDS], room[LX_MAX_OPERANDS];
    struct shard_state chosen[LX_MAX_OPERANDS], joins[LX_MAX_OPERANDS];
};

/* Keeps the outcome unless another has the same slots and costs no more. */
static void shard_outcomes_keep(struct maker *k, struct shard_cost cost, const int32_t *after)
{
    struct layer *to = k->to;
    size_t width = (size_t)k->p->count, count = to->outcomes.count - k->begin;
    size_t operands = (size_t)to->operand_count, firsts = (size_t)to->first_count;
    int32_t *place = shard_index_find(&k->p->index, k->p->after.at + k->begin * width, count, width, after);
    bool known = *place >= 0;
    size_t n = k->begin + (known ? (size_t)*place : count);
    if (known && !shard_cheaper(k->p->q, cost, to->outcomes.at[n].cost)) return;
    if (!known) {
        *place = (int32_t)count;
        to->outcomes.count = n + 1;
        VEC_RESERVE(&to->outcomes, n + 1);
        VEC_RESERVE(&to->joins, (n + 1) * operands);
        VEC_RESERVE(&to->firsts, (n + 1) * firsts);
        for (size_t i = 0; i < width; i++) VEC_PUSH(&k->p->after, after[i]);
        to->joins.count = (n + 1) * operands;
        to->firsts.count = (n + 1) * firsts;
    }
    to->outcomes.at[n] = (struct outcome){cost, k->way_number};
    for (size_t i = 0; i < operands; i++) to->joins.at[n * operands + i] = k->joins[i];
    for (size_t f = 0; f < firsts; f++) to->firsts.at[n * firsts + f] = k->chosen[f];
}

/* The required state of a result: it is fixed, or part of the tensor exists already; NULL: free. */
static const struct shard_state *shard_outcomes_demanded(const struct maker *k, int operand)
{
    int32_t t = op_operand(k->op, operand);
    int at = k->p->at[operand];
    if (k->p->q->fixed[t]) return &k->p->q->state[t];
    return at < k->p->old && !shard_is_anyhow(k->stood[at].state) ? &k->stood[at].state : NULL;
}

static bool shard_outcomes_of_partial(const struct maker *k)
{
    for (int i = 0; i < k->op->input_count; i++)
        if (team_reads_partial(k->op, k->way->var.at, i)) return true;
    return false;
}

/* All necessary joins are made: adds read costs and final slots. */
static void shard_outcomes_finish(struct maker *k, struct shard_cost cost)
{
    const struct shard_operands *p = k->p;
    struct slot ends[LX_MAX_OPERANDS];
    int32_t after[LX_MAX_OPERANDS];
    memcpy(ends, k->room, (size_t)p->count * sizeof *ends);
    for (int i = 0; i < k->op->input_count; i++) {
        struct slot *slot = &ends[p->at[i]];
        if (team_reads_partial(k->op, k->way->var.at, i) || shard_is_anyhow(slot->state)) continue;
        cost = shard_cost_sum(cost,
                              shard_price_bring(p->prices, p->o, i, slot->state, k->way->var, slot->brought));
    }
    for (int i = k->op->input_count; i < op_operand_count(k->op); i++) {
        bool joins = k->joins[i].at[0] != SHARD_NOT_JOINED;
        ends[p->at[i]] = (struct slot){.made = k->way->out,
                                       .state = joins ? k->joins[i] : k->way->out,
                                       .joined = joins || !shard_is_partial(k->way->out),
                                       .apart = shard_outcomes_of_partial(k)};
    }
    for (int i = 0; i < p->count; i++) {
        bool goes_on = p->uses->last[p->tensor[i]] > p->o;
        after[i] = goes_on ? shard_slot_number(k->slots, &ends[i]) : -1;
    }
    shard_outcomes_keep(k, cost, after);
}

/* Whether the operand must be joined now; *made is the state to join from. */
static bool shard_outcomes_must_join(const struct maker *k, int operand, struct shard_state *made)
{
    const struct slot *slot = &k->room[k->p->at[operand]];
    bool result = operand >= k->op->input_count;
    *made = result ? k->way->out : slot->made;
    if (!result) return !slot->joined && !team_reads_partial(k->op, k->way->var.at, operand);
    int32_t t = op_operand(k->op, operand);
    bool stays = lx_role_leaves(k->p->q->g->tensors[t].role) || k->p->uses->changed[t] ||
                 shard_outcomes_demanded(k, operand);
    return shard_is_partial(k->way->out) && stays;
}

/* Joins operands from `operand` on in every legal way. */
static void shard_outcomes_join(struct maker *k, int operand, struct shard_cost cost)
{
    const struct shard_operands *p = k->p;
    struct shard_state made, joins[SHARD_JOINS];
    while (operand < op_operand_count(k->op) && !shard_outcomes_must_join(k, operand, &made)) operand++;
    if (operand == op_operand_count(k->op)) {
        shard_outcomes_finish(k, cost);
        return;
    }
    int32_t t = op_operand(k->op, operand);
    bool result = operand >= k->op->input_count;
    struct slot *slot = &k->room[p->at[operand]];
    const struct slot before = *slot;
    const struct shard_state *must = result           ? shard_outcomes_demanded(k, operand)
                                     : p->q->fixed[t] ? &p->q->state[t]
                                                      : NULL;
    bool apart = result ? shard_outcomes_of_partial(k) : slot->apart; /* blocks must be the default ones */
    int count = shard_joins_of(&p->q->g->tensors[t], &p->q->grid, made, joins);
    for (int n = 0; n < count; n++) {
        if ((must && !shard_same(*must, joins[n])) || (apart && shard_shares(made, joins[n]))) continue;
        int32_t writer = result ? p->o : p->uses->writer[t];
        k->joins[operand] = joins[n];
        if (!result) slot->joined = true, slot->state = joins[n];
        shard_outcomes_join(k, operand + 1,
                            shard_cost_sum(cost, shard_price_join(p->prices, writer, made, joins[n])));
        k->joins[operand].at[0] = SHARD_NOT_JOINED;
        *slot = before;
    }
}

/* Whether the partial sums that the way reads are on the devices that read them. */
static bool shard_outcomes_partial_there(struct maker *k)
{
    struct shard_state var = k->way->var;
    for (int i = 0; i < k->op->input_count; i++) {
        struct slot *slot = &k->room[k->p->at[i]];
        if (!team_reads_partial(k->op, var.at, i) || shard_is_anyhow(slot->state)) continue;
        if (!shard_takes_partial(k->op, i, var, slot->made)) return false;
        if (slot->joined && shard_shares(slot->made, slot->state)) return false;
        if (shard_price_read(k->p->prices, k->p->o, i, slot->made, var).brings) return false;
        slot->apart = true;
    }
    return true;
}

/* Chooses a state for each first-touched tensor in turn, then applies the way. */
static void shard_outcomes_choose(struct maker *k, int f)
{
    const struct shard_operands *p = k->p;
    if (f == p->count - p->old) {
        memcpy(k->room, k->stood, (size_t)p->old * sizeof *k->room);
        for (int i = p->old; i < p->count; i++) {
            struct shard_state state = k->chosen[i - p->old];
            k->room[i] = (struct slot){state, state, true, false, {0}};
        }
        if (shard_outcomes_partial_there(k))
            shard_outcomes_join(k, 0, shard_price_op(p->prices, p->o, k->way));
        return;
    }
    int32_t t = p->tensor[p->old + f];
    int input = 0;
    while (input < k->op->input_count && k->op->inputs[input] != t) input++;
    bool made = input == k->op->input_count;
    k->chosen[f] = p->q->fixed[t] ? p->q->state[t]
                   : made         ? k->way->out
                   : p->q->least  ? shard_anyhow
                                  : shard_need_of(&p->x, k->op, input, k->way->var);
    shard_outcomes_choose(k, f + 1);
    if (p->q->fixed[t] || made || p->q->least || tensor_ops_count(&p->uses->reads, t) < 2 ||
        shard_same(k->chosen[f], shard_replicated))
        return;
    k->chosen[f] = shard_replicated;
    shard_outcomes_choose(k, f + 1);
}

/* Whether the way respects `along` and the required states of its results. */
static bool shard_outcomes_fits(const struct maker *k)
{
    const struct shard_operands *p = k->p;
    const int *var = k->way->var.at;
    int first = -1; /* first axis with several devices */
    for (int i = k->op->input_count; i < op_operand_count(k->op); i++) {
        const struct shard_state *must = shard_outcomes_demanded(k, i);
        if (must && !shard_is_partial(k->way->out) && !shard_same(k->way->out, *must)) return false;
    }
    for (int axis = 0; p->along != SHARD_FREELY && axis < p->q->grid.axes; axis++) {
        if (p->q->grid.size[axis] < 2) continue;
        if (first < 0) first = axis;
        if (p->along == SHARD_TOGETHER ? var[axis] != var[first] : axis != (int)p->along && var[axis] != -1)
            return false;
    }
    return true;
}

/* Adds outcomes of all ways; with `plain` only of the replicated way. */
static void shard_outcomes_add_ways(struct maker *k, bool plain)
{
    for (size_t w = 0; w < k->p->ways.count; w++) {
        k->way = &k->p->ways.at[w];
        k->way_number = (int32_t)w;
        if ((!plain || shard_same(k->way->var, shard_replicated)) && shard_outcomes_fits(k))
            shard_outcomes_choose(k, 0);
    }
}

void shard_outcomes_add(struct shard_operands *p, struct shard_slots *slots, const int32_t *old,
                        struct layer *to)
{
    struct maker k = {
        .p = p, .slots = slots, .to = to, .begin = to->outcomes.count, .op = &p->q->g->ops[p->o]};
    for (int i = 0; i < p->old; i++) k.stood[i] = slots->all.at[old[i]];
    for (int i = 0; i < LX_MAX_OPERANDS; i++) k.joins[i] = (struct shard_state){{SHARD_NOT_JOINED, 0, 0}};
    shard_index_clear(&p->index);
    if (p->q->replicated) shard_outcomes_add_ways(&k, true);
    if (to->outcomes.count == k.begin) shard_outcomes_add_ways(&k, false);
}
