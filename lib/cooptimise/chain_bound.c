/* A proven bound on what chains cost together.
 *
 * Ops are taken from the last to the first. What an op and all that follows costs at least is, for each choice, a sum
 * over its tensors: each takes its best step from the state it is in. The least over the choices is replaced by
 * something not larger: a constant `least`, and a message for each tensor that was there before, per state. One tensor
 * after the other takes what is left over the constant, so that constant + messages <= truth in all states, and the
 * constants add up to a bound.
 *
 * Room enters by prices: a byte on chip at a tick costs price >= 0, and capacity times price is given back. What fits
 * pays no more than before, so that the bound holds for any prices. Roundings are downwards. */
#include "cooptimise/chain.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/stop.h"

#include <stdlib.h>
#include <string.h>

enum { EACH_OP = 300, EACH_STEP = 20 }; /* work of base/stop.h */

#define MOST_PRICE 0x1p42

static int64_t chain_bound_add_capped(int64_t a, int64_t b)
{
    return min_i64(a + b, CHAIN_NEVER);
}

/* Of a step at op `o`: its bytes, its room, what follows. */
static int64_t step_value(const struct chain_model *m, int32_t o, const struct chain_touch *t,
                          const struct chain_step *s)
{
    int64_t value = chain_bound_add_capped(s->bytes, chain_future(m, t, s->next));
    if (m->price[o] > 0 && !(s->begins && t->may_share))
        value = chain_bound_add_capped(value, chain_floor_price((int128)s->room * m->price[o]));
    int64_t size = chain_size(&m->tensors[t->tensor], s->next);
    if (size == 0 || t->last) return value;
    int64_t between = m->price_before[t->next_op] - m->price_before[o + 1];
    return chain_bound_add_capped(value, chain_floor_price((int128)size * between));
}

/* The best step from a state; CHAIN_NEVER: there is none. */
static int64_t best_step(const struct chain_model *m, int32_t o, const struct chain_touch *t, int32_t choice,
                         int32_t from, struct chain_step *best)
{
    struct chain_step steps[CHAIN_MOST_STEPS];
    int64_t least = CHAIN_NEVER;
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
    int64_t *all;                       /* room for the first */
};

static int64_t low_of(const struct chain_touch *t, const int64_t *value, int32_t states)
{
    int64_t low = CHAIN_NEVER;
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
        if (k != but) sum = chain_bound_add_capped(sum, w->low[k * op->choice_count + c]);
    return sum;
}

/* Takes the message for touch k out of the tables. */
static void chain_bound_send(const struct chain_model *m, struct chain_op *op, struct tables *w, int32_t k)
{
    struct chain_touch *t = &op->touch[k];
    int32_t states = chain_states(&m->tensors[t->tensor]);
    for (int32_t x = 0; x < states; x++) t->value[x] = CHAIN_NEVER;
    for (int32_t c = 0; c < op->choice_count; c++) {
        int64_t rest = others(op, w, c, k) - op->least;
        const int64_t *value = &w->value[k][(int64_t)c * states];
        for (int32_t x = 0; x < states; x++)
            if (t->reached[x]) t->value[x] = min_i64(t->value[x], chain_bound_add_capped(value[x], rest));
    }
    for (int32_t c = 0; c < op->choice_count; c++) {
        int64_t *value = &w->value[k][(int64_t)c * states];
        for (int32_t x = 0; x < states; x++)
            if (t->reached[x] && value[x] < CHAIN_NEVER / 2 && t->value[x] < CHAIN_NEVER / 2)
                value[x] -= t->value[x];
        w->low[k * op->choice_count + c] = low_of(t, value, states);
    }
}

static void op_messages(struct chain_model *m, int32_t o, struct tables *w, int64_t *steps)
{
    struct chain_op *op = &m->ops[o];
    fill_tables(m, o, w, steps);
    op->least = CHAIN_NEVER;
    for (int32_t c = 0; c < op->choice_count; c++) op->least = min_i64(op->least, others(op, w, c, -1));
    for (int32_t k = op->touch_count; k-- > 0;)
        if (!op->touch[k].first) chain_bound_send(m, op, w, k);
}

static bool tables_make(const struct chain_model *m, struct tables *w)
{
    int64_t most = 1;
    for (int32_t o = 0; o < m->op_count; o++)
        most = max_i64(most, (int64_t)m->ops[o].choice_count * m->ops[o].touch_count);
    w->all = mem_alloc(((size_t)m->largest + 1) * sizeof *w->all);
    w->low = mem_alloc((size_t)most * sizeof *w->low);
    return w->all && w->low;
}

bool chain_messages(struct chain_model *m, int64_t *bound, int64_t *steps, lx_status *st)
{
    struct tables w = {0};
    int32_t n = m->op_count;
    bool ok = tables_make(m, &w);
    for (int32_t o = 0; o < n; o++) m->price_before[o + 1] = m->price_before[o] + m->price[o];
    m->rest[n] = 0;
    for (int32_t o = n; ok && o-- > 0;) {
        int64_t before = *steps;
        op_messages(m, o, &w, steps);
        stop_look(EACH_OP + EACH_STEP * (*steps - before));
        m->rest[o] = chain_bound_add_capped(m->rest[o + 1], m->ops[o].least);
    }
    *bound = m->constant + m->rest[0] + chain_floor_price(-(int128)m->capacity * m->price_before[n]);
    mem_free(w.all);
    mem_free(w.low);
    return ok ? true : status_no_memory(st);
}

/* The room that a step takes at op `o` and behind it, into differences of loads. */
static void chain_bound_add_load(const struct chain_model *m, int32_t o, const struct chain_touch *t,
                                 const struct chain_step *s, int64_t *load)
{
    int64_t room = s->begins && t->may_share ? 0 : s->room;
    load[o] += room;
    load[o + 1] -= room;
    if (t->last) return;
    int64_t size = chain_size(&m->tensors[t->tensor], s->next);
    load[o + 1] += size;
    load[t->next_op] -= size;
}

/* A plan by the messages alone, op by op, and the room it takes. `state`: per tensor, all 0. */
static void chain_bound_decode(const struct chain_model *m, int32_t *state, int64_t *load, int64_t *steps)
{
    struct chain_step step, best[CHAIN_MOST_TOUCHES], now[CHAIN_MOST_TOUCHES];
    memset(load, 0, ((size_t)m->op_count + 1) * sizeof *load);
    memset(state, 0, (size_t)m->tensor_count * sizeof *state);
    for (int32_t o = 0; o < m->op_count; o++) {
        const struct chain_op *op = &m->ops[o];
        int64_t least = INT64_MAX;
        stop_look(EACH_OP + EACH_STEP * (int64_t)op->choice_count * op->touch_count);
        for (int32_t c = 0; c < op->choice_count; c++) {
            int64_t sum = 0;
            for (int32_t k = 0; k < op->touch_count; k++, ++*steps) {
                int64_t value = best_step(m, o, &op->touch[k], c, state[op->touch[k].tensor], &step);
                sum = chain_bound_add_capped(sum, value);
                now[k] = step;
            }
            if (sum >= least) continue;
            least = sum;
            memcpy(best, now, sizeof best);
        }
        for (int32_t k = 0; least < CHAIN_NEVER && k < op->touch_count; k++) {
            state[op->touch[k].tensor] = best[k].next;
            chain_bound_add_load(m, o, &op->touch[k], &best[k], load);
        }
    }
    for (int32_t o = 1; o <= m->op_count; o++) load[o] += load[o - 1];
}

/* One step along the overload; false: nothing to do. */
static bool chain_bound_raise_prices(struct chain_model *m, const int64_t *load, double distance,
                                     double share)
{
    double norm = 0;
    bool any = false;
    for (int32_t o = 0; o < m->op_count; o++) {
        double over = (double)(load[o] - m->capacity);
        if (over > 0 || m->price[o] > 0) norm += over * over;
    }
    if (norm <= 0 || distance <= 0) return false;
    double scale = share * distance / norm * (double)((int64_t)1 << CHAIN_PRICE_BITS);
    for (int32_t o = 0; o < m->op_count; o++) {
        double over = (double)(load[o] - m->capacity);
        if (over <= 0 && m->price[o] == 0) continue;
        double price = (double)m->price[o] + scale * over;
        price = price < 0 ? 0 : price > MOST_PRICE ? MOST_PRICE : price;
        any |= (int64_t)price != m->price[o];
        m->price[o] = (int64_t)price;
    }
    return any;
}

struct pricing {
    int32_t *state;
    int64_t *load, *best;
};

static bool price_rounds(struct chain_model *m, struct pricing *w, int64_t target, int rounds,
                         int64_t step_limit, int64_t *bound, int64_t *steps, lx_status *st)
{
    size_t bytes = (size_t)m->op_count * sizeof *m->price;
    double share = 1;
    int stale = 0;
    int64_t here;
    memcpy(w->best, m->price, bytes);
    for (int r = 0; r < rounds && *bound < target && *steps < step_limit && !stop_is_now(); r++) {
        chain_bound_decode(m, w->state, w->load, steps);
        if (!chain_bound_raise_prices(m, w->load, (double)(target - *bound), share)) break;
        if (!chain_messages(m, &here, steps, st)) return false;
        if (here > *bound) {
            *bound = here;
            memcpy(w->best, m->price, bytes);
            stale = 0;
        } else if (++stale % 3 == 0)
            share /= 2;
    }
    memcpy(m->price, w->best, bytes);
    return chain_messages(m, bound, steps, st);
}

bool chain_price(struct chain_model *m, int64_t target, int rounds, int64_t step_limit, int64_t *bound,
                 int64_t *steps, lx_status *st)
{
    size_t n = (size_t)m->op_count + 1;
    struct pricing w = {.state = mem_zeroed((size_t)m->tensor_count + 1, sizeof *w.state),
                        .load = mem_zeroed(n, sizeof *w.load),
                        .best = mem_zeroed(n, sizeof *w.best)};
    bool ok = w.state && w.load && w.best ? true : status_no_memory(st);
    ok = ok && chain_messages(m, bound, steps, st);
    ok = ok && price_rounds(m, &w, target, rounds, step_limit, bound, steps, st);
    mem_free(w.state);
    mem_free(w.load);
    mem_free(w.best);
    return ok;
}
