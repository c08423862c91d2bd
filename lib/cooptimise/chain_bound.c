/* A proved lower bound on the cost of all chains together.
 *
 * Ops are taken from the last to the first. Under each choice, an op and all later ones cost at least a sum
 * over its tensors: each takes its best step from its state. The minimum over the choices is replaced by a
 * smaller sum: a constant `least`, and one message per state for each tensor that was touched before. The
 * tensors take, one after the other, the cost left above the constant, so constant + messages <= truth in all
 * states, and the constants add up to a bound. Room enters through prices (network/room_prices.h). */
#include "cooptimise/chain.h"
#include "base/slot.h"

/* Value of a step at op `o`: its bytes, the price of its room, and the future. */
static int64_t step_value(const struct chain_model *m, int32_t o, const struct chain_touch *t,
                          const struct chain_step *s)
{
    int64_t value = add_capped(s->bytes, chain_future(m, t, s->next));
    if (m->room.price[o] > 0 && !(s->begins && t->may_share))
        value = add_capped(value, prices_floor(&m->room, (int128)s->room * m->room.price[o]));
    int64_t size = chain_size(&m->tensors[t->tensor], s->next);
    if (size == 0 || t->last) return value;
    return add_capped(value, prices_between(&m->room, size, o + 1, t->next_op));
}

/* The value of the best step from a state; NETWORK_NEVER: no step is possible. */
static int64_t best_step(const struct chain_model *m, int32_t o, const struct chain_touch *t, int32_t choice,
                         int32_t from, struct chain_step *best)
{
    struct chain_step steps[CHAIN_MOST_STEPS];
    int64_t least = NETWORK_NEVER;
    int n = chain_steps(m, t, choice, from, steps);
    for (int i = 0; i < n; i++) {
        int64_t value = step_value(m, o, t, &steps[i]);
        if (value >= least) continue;
        least = value;
        *best = steps[i];
    }
    return least;
}

struct tables {
    int64_t *value[CHAIN_MOST_TOUCHES]; /* per touch: per choice and state */
    int64_t *low;                       /* per touch and choice: the least over the states */
    int64_t *all;                       /* memory of `value` */
};

static int64_t low_of(const struct chain_touch *t, const int64_t *value, int32_t states)
{
    int64_t low = NETWORK_NEVER;
    for (int32_t x = 0; x < states; x++)
        if (t->reached[x]) low = min_i64(low, value[x]);
    return low;
}

static void fill_tables(const struct chain_model *m, int32_t o, struct tables *w, int64_t *steps)
{
    const struct chain_op *op = &m->ops[o];
    struct chain_step best;
    int64_t *at = w->all;
    for (int32_t k = 0; k < op->touch_count; k++) {
        const struct chain_touch *t = &op->touch[k];
        int32_t states = chain_states(&m->tensors[t->tensor]);
        w->value[k] = at;
        for (int32_t c = 0; c < op->choice_count; c++, at += states) {
            for (int32_t x = 0; x < states; x++)
                if (t->reached[x]) at[x] = best_step(m, o, t, c, x, &best), ++*steps;
            w->low[k * op->choice_count + c] = low_of(t, at, states);
        }
    }
}

static int64_t others(const struct chain_op *op, const struct tables *w, int32_t c, int32_t but)
{
    int64_t sum = 0;
    for (int32_t k = 0; k < op->touch_count; k++)
        if (k != but) sum = add_capped(sum, w->low[k * op->choice_count + c]);
    return sum;
}

static void chain_bound_send(const struct chain_model *m, struct chain_op *op, struct tables *w, int32_t k)
{
    struct chain_touch *t = &op->touch[k];
    int32_t states = chain_states(&m->tensors[t->tensor]);
    for (int32_t x = 0; x < states; x++) t->value[x] = NETWORK_NEVER;
    for (int32_t c = 0; c < op->choice_count; c++) {
        int64_t rest = others(op, w, c, k) - op->least;
        const int64_t *value = &w->value[k][(int64_t)c * states];
        for (int32_t x = 0; x < states; x++)
            if (t->reached[x]) t->value[x] = min_i64(t->value[x], add_capped(value[x], rest));
    }
    for (int32_t c = 0; c < op->choice_count; c++) {
        int64_t *value = &w->value[k][(int64_t)c * states];
        for (int32_t x = 0; x < states; x++)
            if (t->reached[x] && value[x] < NETWORK_HOPELESS && t->value[x] < NETWORK_HOPELESS)
                value[x] -= t->value[x];
        w->low[k * op->choice_count + c] = low_of(t, value, states);
    }
}

int64_t chain_messages(struct chain_model *m, int64_t *steps)
{
    struct tables w = {0};
    int64_t most = 1;
    for (int32_t o = 0; o < m->op_count; o++)
        most = max_i64(most, (int64_t)m->ops[o].choice_count * m->ops[o].touch_count);
    w.all = mem_alloc(((size_t)m->largest + 1) * sizeof *w.all);
    w.low = mem_alloc((size_t)most * sizeof *w.low);
    prices_sum(&m->room);
    for (int32_t o = m->op_count; o-- > 0;) {
        struct chain_op *op = &m->ops[o];
        slot_end_abandoned();
        fill_tables(m, o, &w, steps);
        op->least = NETWORK_NEVER;
        for (int32_t c = 0; c < op->choice_count; c++) op->least = min_i64(op->least, others(op, &w, c, -1));
        for (int32_t k = op->touch_count; k-- > 0;)
            if (!op->touch[k].first) chain_bound_send(m, op, &w, k);
        m->room.rest[o] = add_capped(m->room.rest[o + 1], m->ops[o].least);
    }
    mem_free(w.all);
    mem_free(w.low);
    return m->constant + prices_ahead(&m->room, 0, 0, 0, 0);
}

/* Decodes a plan from the messages alone, op by op; `load` gets its room. */
static void chain_bound_decode(void *model, int64_t *load, int64_t *steps)
{
    const struct chain_model *m = model;
    OWNED int32_t *state = mem_zeroed((size_t)m->tensor_count + 1, sizeof *state);
    struct chain_step step, best[CHAIN_MOST_TOUCHES], now[CHAIN_MOST_TOUCHES];
    memset(load, 0, ((size_t)m->op_count + 1) * sizeof *load);
    for (int32_t o = 0; o < m->op_count; o++) {
        const struct chain_op *op = &m->ops[o];
        int64_t least = INT64_MAX;
        for (int32_t c = 0; c < op->choice_count; c++) {
            int64_t sum = 0;
            for (int32_t k = 0; k < op->touch_count; k++, ++*steps) {
                int64_t value = best_step(m, o, &op->touch[k], c, state[op->touch[k].tensor], &step);
                sum = add_capped(sum, value);
                now[k] = step;
            }
            if (sum >= least) continue;
            least = sum;
            memcpy(best, now, sizeof best);
        }
        for (int32_t k = 0; least < NETWORK_NEVER && k < op->touch_count; k++) {
            state[op->touch[k].tensor] = best[k].next;
            /* Adds the room of a step, at op `o` and after it, to the differences of loads. */
            int64_t room = best[k].begins && op->touch[k].may_share ? 0 : best[k].room;
            load[o] += room;
            load[o + 1] -= room;
            if (op->touch[k].last) continue;
            int64_t size = chain_size(&m->tensors[op->touch[k].tensor], best[k].next);
            load[o + 1] += size;
            load[op->touch[k].next_op] -= size;
        }
    }
    for (int32_t o = 1; o <= m->op_count; o++) load[o] += load[o - 1];
}

static int64_t chain_priced_bound(void *model, int64_t *steps)
{
    return chain_messages(model, steps);
}

int64_t chain_price(struct chain_model *m, int64_t target, int rounds, int64_t step_limit, int64_t *steps)
{
    const struct priced of = {m, chain_priced_bound, chain_bound_decode};
    return prices_improve(&m->room, &of, target, rounds, step_limit, steps);
}
