/* The search of the joint problem: a beam (network/beam.h) over the ops in their order.
 *
 * A state says for every live variable whether it is on chip, and with which label. Its rank is the cost so
 * far plus the messages of joint_bound.c from later ops, a lower bound. Loads are counted without addresses.
 *
 * Two live buffers may meet at an op where no choice agrees with both. Then, for each choice, the buffer that
 * disagrees goes off chip after all and pays for its accesses so far. Another state stands for the same
 * answer and costs are never understated, so proofs stay valid. */
#include "cooptimise/joint_model.h"

enum { POLL_EVERY = 64 };

struct joint_node {
    struct beam_node base;
    int64_t cost, ahead; /* cost so far; messages still to come */
    int64_t load;        /* bytes of its live variables */
    int128 owed;         /* sum over the variables of load times the prices up to the variable's end */
};

struct joint_walk {
    const struct joint_model *m;
    const struct joint_beam_options *how;
    struct joint_beam_result *out;
    struct beam beam;
    int64_t *undo, *next_undo;   /* per state and slot: cost of moving that variable off chip after all */
    int64_t **left;              /* per variable and state: messages still to come */
    int32_t *ending, *ending_at; /* variables sorted by `to`; ending_at[o]: the first that ends after op o */
    /* slots that an op changes, and their new numbers: its touches, then other variables that end there */
    int32_t *slots, *numbers;
    int32_t o, from, slot_count;
    const struct joint_factor *f;
    const int32_t *row;
    struct joint_node base; /* the state without variables that end here and without this op's messages */
};

/* Room that a child saves by taking the place of a dying parent, even one that begins at the same op. */
static int64_t joint_shared_bytes(const struct joint_walk *b, const struct joint_var *child, int64_t size,
                                  const int32_t *own, unsigned on)
{
    const struct joint_factor *f = b->f;
    for (int32_t k = 0; k < child->parent_count; k++) {
        const struct joint_var *parent = &b->m->vars[child->parents[k]];
        int32_t state = parent->from < b->o ? b->row[parent->slot] : 0;
        for (int32_t t = f->old_count; t < f->touch_count; t++)
            if (f->touch[t].var == child->parents[k] && (on >> (t - f->old_count) & 1)) state = own[t];
        if (parent->size[state] >= size) return size;
    }
    return 0;
}

/* Adds (1) or removes (-1) variable v in state x to or from the live bytes of `s`. */
static void joint_add(const struct joint_model *m, const struct joint_var *v, int32_t x, int sign,
                      struct joint_node *s)
{
    s->load += sign * v->size[x];
    s->owed += sign * (int128)v->size[x] * m->room.before[v->to];
}

/* Moves the touches in `leaving` off chip after all; false: one cannot. `*load`: bytes on chip while the op
 * runs. */
static bool joint_leave(const struct joint_walk *b, uint64_t leaving, struct joint_node *then, int64_t *load)
{
    for (int32_t t = 0; leaving && t < b->f->old_count; t++) {
        if (!(leaving >> t & 1)) continue;
        const struct joint_var *v = &b->m->vars[b->f->touch[t].var];
        const int64_t *left = b->left[b->f->touch[t].var];
        int32_t x = b->row[v->slot];
        if (left[0] >= NETWORK_HOPELESS) return false;
        *load -= v->size[x];
        then->ahead += left[0] - left[x];
        if (v->to > b->o + 1) joint_add(b->m, v, x, -1, then);
        b->numbers[t] = 0;
    }
    return true;
}

/* Offers every on/off pattern of the variables that begin here. `off`: old touches that are off chip now. */
static void joint_extend(struct joint_walk *b, int32_t c, bool *off, uint64_t leaving, int64_t penalty)
{
    const struct joint_model *m = b->m;
    const struct joint_factor *f = b->f;
    const int32_t *own = &f->state[(int64_t)c * f->touch_count];
    const struct joint_node *s = beam_node_of(&b->beam, b->from);
    struct joint_node left = b->base;
    int64_t left_load = s->load;
    int32_t fresh = f->touch_count - f->old_count;
    if (fresh > JOINT_MASK_TOUCHES) {
        fresh = JOINT_MASK_TOUCHES;
        beam_drop(&b->beam, s->base.rank); /* a lower bound on the patterns left out */
    }
    for (int32_t t = 0; t < f->old_count; t++) {
        const struct joint_var *v = &m->vars[f->touch[t].var];
        b->numbers[t] = v->to > b->o + 1 ? b->row[v->slot] : 0;
    }
    for (int32_t t = f->old_count; t < f->touch_count; t++) off[t] = true;
    bool leaves = joint_leave(b, leaving, &left, &left_load);
    for (unsigned on = 0; on < 1u << fresh; on++) {
        struct joint_node then = left;
        int64_t load = left_load;
        bool possible = leaves;
        for (int32_t i = 0; i < fresh && possible; i++) {
            int32_t t = f->old_count + i, x = on >> i & 1 ? own[t] : 0;
            const struct joint_var *v = &m->vars[f->touch[t].var];
            possible = (!(on >> i & 1) || x > 0) && v->future[x] < NETWORK_HOPELESS;
            off[t] = x == 0;
            then.ahead += v->future[x];
            b->numbers[t] = v->to > b->o + 1 ? x : 0;
            if (x == 0) continue;
            load += v->size[x] - joint_shared_bytes(b, v, v->size[x], own, on);
            if (v->to > b->o + 1) joint_add(m, v, x, 1, &then);
        }
        if (!possible || load > b->how->capacity) continue;
        int64_t cost = joint_factor_cost(f, c, off);
        if (cost >= NETWORK_HOPELESS) continue;
        then.cost += penalty + cost;
        then.base.rank = then.cost + prices_ahead(&m->room, b->o + 1, then.ahead, then.load, then.owed);
        then.base.tie = -then.cost; /* a larger part of the rank is certain */
        b->out->steps++;
        beam_offer(&b->beam, b->from, c, &then, b->numbers);
    }
}

/* Expands all choices; `force`: even if a variable on chip disagrees. True if any choice was possible. */
static bool joint_branch_out(struct joint_walk *b, bool force)
{
    const struct joint_factor *f = b->f;
    const int64_t *undo = &b->undo[(int64_t)b->from * b->m->slot_count];
    bool any = false, off[JOINT_MAX_TOUCHES];
    for (int32_t c = 0; c < f->choice_count; c++) {
        const int32_t *own = &f->state[(int64_t)c * f->touch_count];
        uint64_t leaving = 0;
        int64_t penalty = 0;
        for (int32_t t = 0; t < f->old_count; t++) {
            int32_t slot = b->m->vars[f->touch[t].var].slot, x = b->row[slot];
            off[t] = x == 0 || x != own[t];
            if (x == 0 || x == own[t]) continue;
            leaving |= (uint64_t)1 << t;
            penalty += undo[slot];
        }
        if (leaving && !force) continue;
        any = true;
        joint_extend(b, c, off, leaving, penalty);
    }
    return any;
}

static void joint_expand(struct joint_walk *b, int32_t from)
{
    const struct joint_model *m = b->m;
    b->from = from;
    b->row = beam_row_of(&b->beam, from);
    memcpy(&b->base, beam_node_of(&b->beam, from), sizeof b->base);
    for (int32_t t = 0; t < b->f->old_count; t++)
        b->base.ahead -= b->f->message[b->f->message_at[t] + b->row[m->vars[b->f->touch[t].var].slot]];
    for (int32_t i = b->ending_at[b->o]; i < b->ending_at[b->o + 1]; i++) {
        const struct joint_var *v = &m->vars[b->ending[i]];
        if (v->from < b->o) joint_add(m, v, b->row[v->slot], -1, &b->base);
    }
    if (!joint_branch_out(b, false)) joint_branch_out(b, true);
}

/* Begins op `o`: sets its slots, and subtracts its messages from `left`. */
static void joint_begin_op(struct joint_walk *b, int32_t o)
{
    const struct joint_factor *f = b->f = &b->m->factors[b->o = o];
    b->slot_count = 0;
    for (int32_t t = 0; t < f->touch_count; t++) {
        int32_t v = f->touch[t].var;
        b->numbers[b->slot_count] = 0;
        b->slots[b->slot_count++] = b->m->vars[v].slot;
        for (int32_t x = 0; t < f->old_count && x < b->m->vars[v].state_count; x++) {
            int64_t message = f->message[f->message_at[t] + x];
            if (b->left[v][x] < NETWORK_HOPELESS && message < NETWORK_HOPELESS) b->left[v][x] -= message;
        }
    }
    for (int32_t i = b->ending_at[o]; i < b->ending_at[o + 1]; i++) {
        bool touched = false;
        for (int32_t t = 0; t < f->touch_count; t++) touched |= f->touch[t].var == b->ending[i];
        if (touched) continue;
        b->numbers[b->slot_count] = 0;
        b->slots[b->slot_count++] = b->m->vars[b->ending[i]].slot;
    }
    beam_step(&b->beam, b->slots, b->slot_count);
}

/* Computes `undo` of the states that the beam kept. */
static void joint_carry_undo(struct joint_walk *b)
{
    const struct joint_factor *f = b->f;
    size_t slots = (size_t)b->m->slot_count;
    for (int32_t i = 0; i < b->beam.count; i++) {
        struct beam_origin from = beam_origin_of(&b->beam, (size_t)b->o, i);
        int64_t *undo = &b->next_undo[(size_t)i * slots];
        memcpy(undo, &b->undo[(size_t)from.from * slots], slots * sizeof *undo);
        for (int32_t t = 0; t < f->touch_count; t++) {
            int32_t slot = b->m->vars[f->touch[t].var].slot;
            if (t >= f->old_count) undo[slot] = 0;
            undo[slot] += f->touch[t].toll + f->memory[(int64_t)from.choice * f->touch_count + t];
        }
    }
    int64_t *old = b->undo;
    b->undo = b->next_undo;
    b->next_undo = old;
}

static bool joint_cancelled(const struct joint_walk *b)
{
    return lx_run_stopped(b->how->run) || (b->how->deadline > 0 && clock_seconds() > b->how->deadline);
}

static void joint_walk_ops(struct joint_walk *b)
{
    const struct joint_model *m = b->m;
    for (int32_t o = 0; o < m->factor_count; o++) {
        joint_begin_op(b, o);
        for (int32_t i = 0; i < b->beam.count; i++) {
            if (i % POLL_EVERY == POLL_EVERY - 1 && (b->out->stopped = joint_cancelled(b))) return;
            joint_expand(b, i);
        }
        beam_settle(&b->beam);
        if (b->beam.count == 0) return; /* no state costs less than the cut */
        joint_carry_undo(b);
        if ((b->out->stopped = joint_cancelled(b))) return;
        if (b->out->steps > b->how->step_limit) b->beam.width = 1; /* finish quickly */
    }
    b->out->found = true;
    b->out->cost = ((const struct joint_node *)beam_node_of(&b->beam, 0))->cost;
    beam_trace(&b->beam, 0, b->out->choice);
    for (int32_t o = 0; o < m->factor_count; o++) b->out->choice[o] = m->factors[o].origin[b->out->choice[o]];
}

/* Sorts the variables by their ends; sets `left` to the sum of all messages. */
static void joint_list_endings(struct joint_walk *b, struct arena *memory)
{
    const struct joint_model *m = b->m;
    b->ending = arena_array(memory, (size_t)m->var_count, sizeof *b->ending);
    b->ending_at = arena_array(memory, (size_t)m->factor_count + 2, sizeof *b->ending_at);
    b->left = arena_array(memory, (size_t)m->var_count, sizeof *b->left);
    for (int32_t v = 0; v < m->var_count; v++) b->ending_at[m->vars[v].to]++;
    for (int32_t o = 0; o < m->factor_count; o++) b->ending_at[o + 1] += b->ending_at[o];
    for (int32_t v = m->var_count; v-- > 0;) b->ending[--b->ending_at[m->vars[v].to]] = v;
    /* ending_at[to] is now the start of variables that end at `to`: shift it by one, to index by the last
     * op. */
    for (int32_t o = 0; o < m->factor_count; o++) b->ending_at[o] = b->ending_at[o + 1];
    b->ending_at[m->factor_count] = m->var_count;
    for (int32_t v = 0; v < m->var_count; v++)
        b->left[v] =
            arena_copy_array(memory, m->vars[v].future, (size_t)m->vars[v].state_count, sizeof **b->left);
}

void joint_beam(const struct joint_model *m, const struct joint_beam_options *how,
                struct joint_beam_result *out)
{
    const struct beam_rules rules = {.width = how->width,
                                     .slots = m->slot_count,
                                     .room = 4 * how->width + 64,
                                     .node_size = sizeof(struct joint_node),
                                     .cut = how->cut};
    struct joint_walk b = {.m = m, .how = how, .out = out};
    struct joint_node root = {.base.rank = prices_ahead(&m->room, 0, 0, 0, 0)};
    SCOPED(arena_free) struct arena memory = {0};
    size_t cells = ((size_t)how->width + 1) * (size_t)m->slot_count;
    *out = (struct joint_beam_result){.choice = out->choice};
    b.undo = arena_array(&memory, cells, sizeof *b.undo);
    b.next_undo = arena_array(&memory, cells, sizeof *b.next_undo);
    b.slots = arena_array(&memory, (size_t)m->slot_count + JOINT_MAX_TOUCHES, sizeof *b.slots);
    b.numbers = arena_array(&memory, (size_t)m->slot_count + JOINT_MAX_TOUCHES, sizeof *b.numbers);
    joint_list_endings(&b, &memory);
    beam_begin(&b.beam, &rules, &root, NULL);
    joint_walk_ops(&b);
    out->exact = b.beam.exact;
    out->bound = min_i64(b.beam.dropped, min_i64(how->cut, out->found ? out->cost : NETWORK_NEVER));
    if (out->stopped) out->bound = 0;
    beam_end(&b.beam);
}
