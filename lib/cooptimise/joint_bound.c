/* A proved lower bound on the joint problem, which also guides the search.
 *
 * Ops are taken from the last to the first. The least cost of an op and all later ones is a table over the
 * states of its buffers. Buffers that begin at the op are minimised out; the table is replaced by a smaller
 * sum: first the constant `least`, then one message for each older buffer, the minimum of the remainder in
 * each of its states. So constant + messages <= table everywhere, and the constants add up to a bound. On a
 * tree of ops and buffers the bound is exact.
 *
 * Capacity enters through prices (network/room_prices.h). A child may take the place of its parent at its
 * first position and pays nothing there. On/off patterns are listed for the first JOINT_MASK_TOUCHES buffers
 * of an op; further buffers are on chip for free, which can only lower the bound. */
#include "cooptimise/joint_model.h"

struct entry {
    int32_t choice;
    unsigned on; /* bits: old touches on chip */
    int64_t value;
};

int64_t joint_life_price(const struct joint_model *m, const struct joint_var *v, int32_t state)
{
    int32_t from = v->from + (v->parent_count > 0);
    if (from >= v->to) return 0;
    return prices_between(&m->room, v->size[state], from, v->to);
}

/* Messages to the variables that begin here, plus the prices of their lives; `on`: bits of the variables on
 * chip. */
static int64_t joint_bound_begin(const struct joint_model *m, const struct joint_factor *f, int32_t c,
                                 unsigned on, int32_t count, bool *off)
{
    const int32_t *state = &f->state[(int64_t)c * f->touch_count];
    int64_t value = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t t = f->old_count + i, x = on >> i & 1 ? state[t] : 0;
        const struct joint_var *v = &m->vars[f->touch[t].var];
        if ((on >> i & 1) && x == 0) value = NETWORK_NEVER;
        off[t] = x == 0;
        value = add_capped(value, v->future[x]);
        if (x > 0) value = add_capped(value, joint_life_price(m, v, x));
    }
    return value;
}

static size_t joint_bound_list_entries(const struct joint_model *m, const struct joint_factor *f,
                                       struct entry *out, int64_t *steps)
{
    bool off[JOINT_MAX_TOUCHES] = {false}; /* unlisted touches: free */
    int32_t listed = f->touch_count < JOINT_MASK_TOUCHES ? f->touch_count : JOINT_MASK_TOUCHES;
    int32_t old = f->old_count < listed ? f->old_count : listed;
    size_t count = 0;
    for (int32_t c = 0; c < f->choice_count; c++) {
        const int32_t *state = &f->state[(int64_t)c * f->touch_count];
        for (unsigned on = 0; on < 1u << old; on++) {
            bool possible = true;
            for (int32_t t = 0; t < old; t++) {
                off[t] = !(on >> t & 1);
                possible &= off[t] || state[t] > 0;
            }
            if (!possible) continue;
            int64_t best = NETWORK_NEVER; /* over on and off of the buffers that begin here */
            for (unsigned fresh = 0; fresh < 1u << (listed - old); fresh++) {
                int64_t value = joint_bound_begin(m, f, c, fresh, listed - old, off);
                if (value >= best) continue;
                ++*steps;
                best = min_i64(best, add_capped(value, joint_factor_cost(f, c, off)));
            }
            if (best < NETWORK_HOPELESS) out[count++] = (struct entry){c, on, best};
        }
    }
    return count;
}

static void factor_messages(struct joint_model *m, struct joint_factor *f, struct entry *entries,
                            int64_t *steps)
{
    size_t count = joint_bound_list_entries(m, f, entries, steps);
    f->least = NETWORK_NEVER;
    for (size_t i = 0; i < count; i++) f->least = min_i64(f->least, entries[i].value);
    for (size_t i = 0; i < count; i++) entries[i].value -= f->least;
    for (int32_t t = f->old_count; t-- > 0;) {
        if (t < JOINT_MASK_TOUCHES) {
            /* Takes the message for touch t out of the entries. */
            struct joint_var *v = &m->vars[f->touch[t].var];
            int64_t *message = &f->message[f->message_at[t]];
            for (int32_t x = 0; x < v->state_count; x++) message[x] = NETWORK_NEVER;
            for (size_t i = 0; i < count; i++) {
                int32_t x =
                    entries[i].on >> t & 1 ? f->state[(int64_t)entries[i].choice * f->touch_count + t] : 0;
                message[x] = min_i64(message[x], entries[i].value);
            }
            for (size_t i = 0; i < count; i++) {
                int32_t x =
                    entries[i].on >> t & 1 ? f->state[(int64_t)entries[i].choice * f->touch_count + t] : 0;
                entries[i].value -= message[x];
            }
            for (int32_t x = 0; x < v->state_count; x++) v->future[x] = add_capped(v->future[x], message[x]);
        } else
            memset(&f->message[f->message_at[t]], 0,
                   (size_t)m->vars[f->touch[t].var].state_count * sizeof *f->message);
    }
}

int64_t joint_messages(struct joint_model *m, int64_t *steps)
{
    /* The largest number of entries of any op. */
    size_t most = 1;
    for (int32_t o = 0; o < m->factor_count; o++) {
        const struct joint_factor *f = &m->factors[o];
        int32_t listed = f->old_count < JOINT_MASK_TOUCHES ? f->old_count : JOINT_MASK_TOUCHES;
        size_t n = (size_t)f->choice_count << listed;
        if (n > most) most = n;
    }
    OWNED struct entry *entries = mem_zeroed(most, sizeof *entries);
    for (int32_t v = 0; v < m->var_count; v++)
        for (int32_t x = 0; x < m->vars[v].state_count; x++)
            m->vars[v].future[x] = m->vars[v].fixed * (x > 0 ? 1 : -1) < 0 ? NETWORK_NEVER : 0;
    prices_sum(&m->room);
    for (int32_t o = m->factor_count; o-- > 0;) {
        factor_messages(m, &m->factors[o], entries, steps);
        m->room.rest[o] = add_capped(m->room.rest[o + 1], m->factors[o].least);
    }
    return m->room.rest[0] >= NETWORK_HOPELESS ? NETWORK_NEVER : prices_ahead(&m->room, 0, 0, 0, 0);
}

/* Decodes one answer from the messages alone, op by op; buffers that disagree with the choice go off chip.
 * Adds up loads. */
static void joint_bound_decode(void *model, int64_t *load, int64_t *steps)
{
    const struct joint_model *m = model;
    OWNED int32_t *state = mem_zeroed((size_t)m->var_count + 1, sizeof *state);
    memset(load, 0, ((size_t)m->factor_count + 1) * sizeof *load);
    for (int32_t o = 0; o < m->factor_count; o++) {
        const struct joint_factor *f = &m->factors[o];
        int64_t best = INT64_MAX;
        int32_t best_choice = 0;
        unsigned best_mask = 0;
        int32_t fresh = f->touch_count - f->old_count;
        if (fresh > JOINT_MASK_TOUCHES) fresh = JOINT_MASK_TOUCHES;
        for (int32_t c = 0; c < f->choice_count; c++) {
            const int32_t *own = &f->state[(int64_t)c * f->touch_count];
            bool off[JOINT_MAX_TOUCHES];
            int64_t clash = 0;
            for (int32_t t = 0; t < f->touch_count; t++) off[t] = true;
            for (int32_t t = 0; t < f->old_count; t++) {
                int32_t x = state[f->touch[t].var];
                off[t] = x == 0 || x != own[t];
                if (x != 0 && x != own[t]) clash = NETWORK_NEVER / 4;
            }
            for (unsigned mask = 0; mask < 1u << fresh; mask++) {
                int64_t value = add_capped(clash, joint_bound_begin(m, f, c, mask, fresh, off));
                if (value >= best) continue;
                ++*steps;
                value = add_capped(value, joint_factor_cost(f, c, off));
                if (value >= best) continue;
                best = value;
                best_choice = c;
                best_mask = mask;
            }
        }
        const int32_t *own = &f->state[(int64_t)best_choice * f->touch_count];
        for (int32_t t = 0; t < f->touch_count; t++) {
            int32_t v = f->touch[t].var, i = t - f->old_count;
            if (t < f->old_count)
                state[v] = state[v] == own[t] ? own[t] : 0;
            else
                state[v] = i < fresh && (best_mask >> i & 1) ? own[t] : 0;
        }
    }
    for (int32_t i = 0; i < m->var_count; i++) {
        const struct joint_var *v = &m->vars[i];
        int32_t from = v->from + (v->parent_count > 0);
        if (from >= v->to) continue;
        load[from] += v->size[state[i]];
        load[v->to] -= v->size[state[i]];
    }
    for (int32_t o = 1; o < m->factor_count; o++) load[o] += load[o - 1];
}

static int64_t joint_priced_bound(void *model, int64_t *steps)
{
    return joint_messages(model, steps);
}

int64_t joint_price(struct joint_model *m, int64_t target, int rounds, int64_t step_limit, int64_t *steps)
{
    const struct priced of = {m, joint_priced_bound, joint_bound_decode};
    return prices_improve(&m->room, &of, target, rounds, step_limit, steps);
}
