/* What an op may do with operands that stand in some way: every way of it (or, if it is to be whole, that
 * one), every state of tensors that it is the first to touch, every join of what must be joined. It depends
 * on nothing else, so that it is found once for all choices that have the operands so, whatever else they
 * have. */
#include "team/shard/shard_layers.h"

#include <string.h>

/* One set of slots, and the outcome in the making: per place its slot, per first one its state, per operand
 * its join. */
struct maker {
    struct shard_operands *p;
    struct shard_slots *slots;
    struct layer *to;
    size_t begin; /* outcomes of other sets */
    const struct lx_op *op;
    const struct shard_way *way;
    int32_t way_number;
    struct slot stood[LX_MAX_OPERANDS], room[LX_MAX_OPERANDS];
    struct shard_state chosen[LX_MAX_OPERANDS], joins[LX_MAX_OPERANDS];
};

static void pay(struct shard_cost *sum, struct shard_cost one)
{
    sum->bytes += one.bytes;
    sum->us += one.us;
}

static void add_outcome(struct maker *k, struct outcome made, const int32_t *after)
{
    (void)VEC_PUSH(&k->to->outcomes, made);
    for (int i = 0; i < k->p->count; i++) (void)VEC_PUSH(&k->p->after, after[i]);
    for (int f = 0; f < k->to->first_count; f++) (void)VEC_PUSH(&k->to->firsts, k->chosen[f]);
    for (int i = 0; i < k->to->operand_count; i++) (void)VEC_PUSH(&k->to->joins, k->joins[i]);
}

/* Unless there is one that leaves the same and costs no more. */
static void shard_outcomes_keep(struct maker *k, struct shard_cost cost, const int32_t *after)
{
    struct layer *to = k->to;
    size_t width = (size_t)k->p->count, count = to->outcomes.count - k->begin;
    int32_t *place = shard_index_find(&k->p->index, k->p->after.at + k->begin * width, count, width, after);
    const struct outcome made = {cost, k->way_number};
    if (*place < 0) {
        *place = (int32_t)count;
        add_outcome(k, made, after);
        return;
    }
    size_t n = k->begin + (size_t)*place;
    if (!shard_cheaper(k->p->q, cost, to->outcomes.at[n].cost)) return;
    to->outcomes.at[n] = made;
    for (int i = 0; i < to->operand_count; i++)
        to->joins.at[n * (size_t)to->operand_count + (size_t)i] = k->joins[i];
    for (int f = 0; f < to->first_count; f++)
        to->firsts.at[n * (size_t)to->first_count + (size_t)f] = k->chosen[f];
}

/* The state that a result must have: it is fixed, or some of it is there already; NULL: any. */
static const struct shard_state *demanded(const struct maker *k, int operand)
{
    int32_t t = op_operand(k->op, operand);
    int at = k->p->at[operand];
    if (k->p->q->fixed[t]) return &k->p->q->state[t];
    return at < k->p->old && !shard_is_anyhow(k->stood[at].state) ? &k->stood[at].state : NULL;
}

static bool made_of_parts(const struct maker *k)
{
    for (int i = 0; i < k->op->input_count; i++)
        if (shard_reads_partial(k->op, i, k->way->var)) return true;
    return false;
}

/* What an operand lacks is brought, unless it was. */
static void shard_outcomes_read_input(const struct maker *k, int i, struct slot *slot,
                                      struct shard_cost *cost)
{
    if (shard_reads_partial(k->op, i, k->way->var) || shard_is_anyhow(slot->state)) return;
    pay(cost, shard_price_bring(k->p->prices, k->p->o, i, slot->state, k->way->var, slot->brought));
}

/* All is joined that must be: reads are paid for, results stand as they were made. */
static void shard_outcomes_finish(struct maker *k, struct shard_cost cost)
{
    const struct shard_operands *p = k->p;
    struct slot ends[LX_MAX_OPERANDS];
    int32_t after[LX_MAX_OPERANDS];
    memcpy(ends, k->room, (size_t)p->count * sizeof *ends);
    for (int i = 0; i < k->op->input_count; i++) shard_outcomes_read_input(k, i, &ends[p->at[i]], &cost);
    for (int i = k->op->input_count; i < op_operand_count(k->op); i++) {
        bool joins = k->joins[i].at[0] != SHARD_NOT_JOINED;
        ends[p->at[i]] = (struct slot){.made = k->way->out,
                                       .state = joins ? k->joins[i] : k->way->out,
                                       .joined = joins || !shard_is_partial(k->way->out),
                                       .apart = made_of_parts(k)};
    }
    for (int i = 0; i < p->count; i++) {
        bool goes_on = p->uses->last[p->tensor[i]] > p->o;
        after[i] = goes_on ? shard_slot_number(k->slots, &ends[i]) : -1;
    }
    shard_outcomes_keep(k, cost, after);
}

/* Must the operand be joined now, and from what state? */
static bool to_join(const struct maker *k, int operand, struct shard_state *made)
{
    const struct slot *slot = &k->room[k->p->at[operand]];
    bool result = operand >= k->op->input_count;
    *made = result ? k->way->out : slot->made;
    if (!result) return !slot->joined && !shard_reads_partial(k->op, operand, k->way->var);
    int32_t t = op_operand(k->op, operand);
    bool stays =
        lx_role_leaves(k->p->q->g->tensors[t].role) || k->p->uses->changed[t] || demanded(k, operand);
    return shard_is_partial(k->way->out) && stays;
}

/* The state that it must then have, or NULL; may its joined blocks be other than those of its parts? */
static const struct shard_state *shard_outcomes_wanted(const struct maker *k, int operand, bool *apart)
{
    int32_t t = op_operand(k->op, operand);
    bool result = operand >= k->op->input_count;
    *apart = result ? made_of_parts(k) : k->room[k->p->at[operand]].apart;
    if (result) return demanded(k, operand);
    return k->p->q->fixed[t] ? &k->p->q->state[t] : NULL;
}

/* Operands from `operand` on are joined in every way that there is. */
static void join_from(struct maker *k, int operand, struct shard_cost cost)
{
    const struct shard_operands *p = k->p;
    struct shard_state made, joins[SHARD_JOINS];
    while (operand < op_operand_count(k->op) && !to_join(k, operand, &made)) operand++;
    if (operand == op_operand_count(k->op)) {
        shard_outcomes_finish(k, cost);
        return;
    }
    int32_t t = op_operand(k->op, operand);
    bool result = operand >= k->op->input_count, apart;
    const struct shard_state *must = shard_outcomes_wanted(k, operand, &apart);
    struct slot *slot = &k->room[p->at[operand]];
    const struct slot before = *slot;
    int count = shard_joins_of(&p->q->g->tensors[t], &p->q->grid, made, joins);
    for (int n = 0; n < count; n++) {
        struct shard_cost all = cost;
        if ((must && !shard_same(*must, joins[n])) || (apart && shard_shares(made, joins[n]))) continue;
        pay(&all, shard_price_join(p->prices, result ? p->o : p->uses->writer[t], made, joins[n]));
        k->joins[operand] = joins[n];
        if (!result) slot->joined = true, slot->state = joins[n];
        join_from(k, operand + 1, all);
        k->joins[operand].at[0] = SHARD_NOT_JOINED;
        *slot = before;
    }
}

/* Do parts that the way reads lie where it reads them? */
static bool parts_are_there(struct maker *k)
{
    struct shard_state var = k->way->var;
    for (int i = 0; i < k->op->input_count; i++) {
        struct slot *slot = &k->room[k->p->at[i]];
        if (!shard_reads_partial(k->op, i, var) || shard_is_anyhow(slot->state)) continue;
        if (!shard_takes_partial(k->op, i, var, slot->made)) return false;
        if (slot->joined && shard_shares(slot->made, slot->state)) return false;
        if (shard_price_read(k->p->prices, k->p->o, i, slot->made, var).brings) return false;
        slot->apart = true;
    }
    return true;
}

/* The way taken, with states of first ones as they are chosen. */
static void take_way(struct maker *k)
{
    const struct shard_operands *p = k->p;
    memcpy(k->room, k->stood, (size_t)p->old * sizeof *k->room);
    for (int i = p->old; i < p->count; i++) {
        struct shard_state state = k->chosen[i - p->old];
        k->room[i] = (struct slot){state, state, true, false, {0}};
    }
    if (parts_are_there(k)) join_from(k, 0, shard_price_op(p->prices, p->o, k->way));
}

/* Chooses states of the tensors that the op is the first to touch, one after the other. */
static void choose_firsts(struct maker *k, int f)
{
    const struct shard_operands *p = k->p;
    static const struct shard_state whole = {{-1, -1, -1}};
    if (f == p->count - p->old) {
        take_way(k);
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
    choose_firsts(k, f + 1);
    if (p->q->fixed[t] || made || p->q->least || tensor_ops_count(&p->uses->reads, t) < 2 ||
        shard_same(k->chosen[f], whole))
        return;
    k->chosen[f] = whole;
    choose_firsts(k, f + 1);
}

static bool shard_outcomes_goes_along(const struct shard_operands *p, struct shard_state var)
{
    int first = -1; /* axis of several devices */
    for (int axis = 0; p->along != SHARD_FREELY && axis < p->q->grid.axes; axis++) {
        if (p->q->grid.size[axis] < 2) continue;
        if (first < 0) first = axis;
        if (p->along == SHARD_TOGETHER ? var.at[axis] != var.at[first]
                                       : axis != (int)p->along && var.at[axis] != -1)
            return false;
    }
    return true;
}

/* Can the results be in states that they must have? What is joined is looked at then. */
static bool shard_outcomes_fits(const struct maker *k)
{
    for (int i = k->op->input_count; i < op_operand_count(k->op); i++) {
        const struct shard_state *must = demanded(k, i);
        if (must && !shard_is_partial(k->way->out) && !shard_same(k->way->out, *must)) return false;
    }
    return shard_outcomes_goes_along(k->p, k->way->var);
}

static bool shard_outcomes_is_whole(struct shard_state var)
{
    return shard_same(var, (struct shard_state){{-1, -1, -1}});
}

/* Outcomes of all ways, or of those alone that compute the op whole. */
static void shard_outcomes_add_ways(struct maker *k, bool plain)
{
    for (size_t w = 0; w < k->p->ways.count; w++) {
        k->way = &k->p->ways.at[w];
        k->way_number = (int32_t)w;
        if ((!plain || shard_outcomes_is_whole(k->way->var)) && shard_outcomes_fits(k)) choose_firsts(k, 0);
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
