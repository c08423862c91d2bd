/* The search: ops in their order, and for each op the best `width` states of what is live behind it.
 *
 * A state says for every live variable whether it is on chip and with which label. All that happened before
 * meets in it: two ways to the same state are merged, the cheaper one stays. Its rank is the cost so far plus
 * the messages of joint_bound.c from the ops to come, which never say too much; so states at or above `cut`
 * are dropped for good, and the least rank among those that had no room proves how much better an answer
 * could still be. Loads count as on a scratchpad without addresses.
 *
 * Two live buffers may meet at an op of which no choice agrees with both. Such a state is not lost: for each
 * choice, what disagrees goes off chip after all, at the price of its accesses so far. That is an answer that
 * another state stands for too, and its cost is never understated, so nothing that is proved changes. */
#include "cooptimise/joint_beam.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/stop.h"

#include <stdlib.h>
#include <string.h>

static uint64_t joint_beam_mix(int32_t slot, int32_t x)
{
    uint64_t z = ((uint64_t)(uint32_t)slot << 32 | (uint32_t)x) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ? z ^ (z >> 31) : 0;
}

/* The room that a child saves by sitting on a dying parent, whether that was there or begins here too. */
static int64_t shared_bytes(const struct beam *b, int32_t o, const struct joint_var *child, int64_t size,
                            const int32_t *x, const int32_t *own, unsigned on)
{
    const struct joint_factor *f = &b->m->factors[o];
    for (int32_t k = 0; k < child->parent_count; k++) {
        const struct joint_var *parent = &b->m->vars[child->parents[k]];
        int32_t state = parent->from < o ? x[parent->slot] : 0;
        for (int32_t t = f->old_count; t < f->touch_count; t++)
            if (f->touch[t].var == child->parents[k] && (on >> (t - f->old_count) & 1)) state = own[t];
        if (parent->size[state] >= size) return size;
    }
    return 0;
}

/* What a state has in common for all its successors at op o. */
struct branch {
    int32_t from;
    const int32_t *x;
    const int64_t *undo;
    struct state base; /* without what dies here and without this op's messages */
};

/* Variable v in state x joins (1) or leaves (-1) what is live. */
static void state_adds(const struct joint_model *m, const struct joint_var *v, int32_t x, int sign,
                       struct state *s)
{
    s->load += sign * v->size[x];
    s->owed += sign * (int128)v->size[x] * m->price_before[v->to];
    s->hash ^= joint_beam_mix(v->slot, x);
}

/* No completion from position `o` on costs less in all. */
static int64_t joint_beam_rank_of(const struct joint_model *m, int32_t o, const struct state *s)
{
    int64_t end = m->price_before[m->factor_count], here = m->price_before[o];
    int128 owed = s->owed - (int128)s->load * here - (int128)m->capacity * (end - here);
    return s->cost + s->ahead + m->rest[o] + joint_floor_price(m, owed);
}

/* All patterns of the variables that begin here. `off`: old touches that are off chip now. */
static void extend(struct beam *b, int32_t o, int32_t c, const struct branch *r, bool *off, uint64_t leaving,
                   int64_t penalty)
{
    enum { EACH_PATTERN = 100 };
    const struct joint_model *m = b->m;
    const struct joint_factor *f = &m->factors[o];
    const int32_t *own = &f->state[(int64_t)c * f->touch_count];
    const struct state *s = &b->now.at[r->from];
    int32_t fresh = f->touch_count - f->old_count;
    if (fresh > JOINT_MASK_TOUCHES) {
        fresh = JOINT_MASK_TOUCHES;
        b->out->exact = false;
        b->dropped = min_i64(b->dropped, s->rank); /* what is not tried is no better than this */
    }
    for (int32_t t = f->old_count; t < f->touch_count; t++) off[t] = true;
    stop_look((int64_t)EACH_PATTERN << fresh);
    int64_t gone = 0;
    for (int32_t t = 0; t < f->old_count; t++)
        if (leaving >> t & 1) {
            const struct joint_var *v = &m->vars[f->touch[t].var];
            gone += v->size[r->x[v->slot]];
        }
    for (unsigned on = 0; on < 1u << fresh; on++) {
        struct candidate e = {.from = r->from, .choice = c, .on = on, .off = leaving, .then = r->base};
        struct state *then = &e.then;
        int64_t load = s->load - gone;
        bool possible = true;
        for (int32_t i = 0; i < fresh && possible; i++) {
            int32_t t = f->old_count + i, x = on >> i & 1 ? own[t] : 0;
            const struct joint_var *v = &m->vars[f->touch[t].var];
            possible = (!(on >> i & 1) || x > 0) && v->future[x] < JOINT_HOPELESS;
            off[t] = x == 0;
            then->ahead += v->future[x];
            if (x == 0) continue;
            load += v->size[x] - shared_bytes(b, o, v, v->size[x], r->x, own, on);
            if (v->to > o + 1) state_adds(m, v, x, 1, then);
        }
        if (!possible || load > b->how->capacity) continue;
        for (int32_t t = 0; leaving && t < f->old_count; t++) {
            if (!(leaving >> t & 1)) continue;
            const struct joint_var *v = &m->vars[f->touch[t].var];
            int32_t x = r->x[v->slot];
            possible &= b->left[f->touch[t].var][0] < JOINT_HOPELESS;
            if (!possible) break;
            then->ahead += b->left[f->touch[t].var][0] - b->left[f->touch[t].var][x];
            if (v->to > o + 1) state_adds(m, v, x, -1, then);
        }
        int64_t cost = possible ? joint_factor_cost(f, c, off) : JOINT_NEVER;
        if (cost >= JOINT_HOPELESS) continue;
        then->cost += penalty + cost;
        then->rank = joint_beam_rank_of(m, o + 1, then);
        beam_offer(b, o, &e);
    }
}

/* All choices; `force`: also those that an on-chip variable disagrees with. True if any was possible. */
static bool branch_out(struct beam *b, int32_t o, const struct branch *r, bool force)
{
    enum { EACH_CHOICE = 100 };
    const struct joint_factor *f = &b->m->factors[o];
    bool any = false, off[JOINT_MAX_TOUCHES];
    stop_look(EACH_CHOICE * (int64_t)f->choice_count);
    for (int32_t c = 0; c < f->choice_count; c++) {
        const int32_t *own = &f->state[(int64_t)c * f->touch_count];
        uint64_t leaving = 0;
        int64_t penalty = 0;
        for (int32_t t = 0; t < f->old_count; t++) {
            const struct joint_var *v = &b->m->vars[f->touch[t].var];
            int32_t x = r->x[v->slot];
            off[t] = x == 0 || x != own[t];
            if (x == 0 || x == own[t]) continue;
            leaving |= (uint64_t)1 << t;
            penalty += r->undo[v->slot];
        }
        if (leaving && !force) continue;
        any = true;
        extend(b, o, c, r, off, leaving, penalty);
    }
    return any;
}

static void joint_beam_expand(struct beam *b, int32_t o, int32_t from)
{
    const struct joint_model *m = b->m;
    const struct joint_factor *f = &m->factors[o];
    const struct state *s = &b->now.at[from];
    struct branch r = {.from = from,
                       .x = &b->now.x[(int64_t)from * m->slot_count],
                       .undo = &b->now.undo[(int64_t)from * m->slot_count],
                       .base = *s};
    for (int32_t t = 0; t < f->old_count; t++)
        r.base.ahead -= f->message[f->message_at[t] + r.x[m->vars[f->touch[t].var].slot]];
    for (int32_t i = b->ending_at[o]; i < b->ending_at[o + 1]; i++) {
        const struct joint_var *v = &m->vars[b->ending[i]];
        if (v->from < o) state_adds(m, v, r.x[v->slot], -1, &r.base);
    }
    if (!branch_out(b, o, &r, false)) branch_out(b, o, &r, true);
}

/* The chosen candidates become the next layer. */
static bool joint_beam_settle(struct beam *b, int32_t o)
{
    enum { EACH_SETTLED = 50 };
    const struct joint_model *m = b->m;
    const struct joint_factor *f = &m->factors[o];
    struct step *steps = mem_alloc((b->found_count + 1) * sizeof *steps);
    if (!steps) return false;
    b->trace[o] = steps;
    b->next.count = (int32_t)b->found_count;
    for (int32_t i = 0; i < b->next.count; i++) {
        const struct candidate *c = &b->found[i];
        int32_t *x = &b->next.x[(int64_t)i * m->slot_count];
        int64_t *undo = &b->next.undo[(int64_t)i * m->slot_count];
        b->next.at[i] = c->then;
        steps[i] = (struct step){c->from, f->origin[c->choice]};
        beam_successor(b, o, c, x);
        stop_look(EACH_SETTLED + 2 * (int64_t)m->slot_count);
        memcpy(undo, &b->now.undo[(int64_t)c->from * m->slot_count], (size_t)m->slot_count * sizeof *undo);
        for (int32_t t = 0; t < f->touch_count; t++) {
            int32_t slot = m->vars[f->touch[t].var].slot;
            if (t >= f->old_count) undo[slot] = 0;
            undo[slot] += f->touch[t].toll + f->memory[(int64_t)c->choice * f->touch_count + t];
        }
    }
    return true;
}

static void swap_layers(struct beam *b)
{
    struct layer t = b->now;
    b->now = b->next;
    b->next = t;
}

static bool joint_beam_out_of_time(const struct beam *b)
{
    if (lx_run_stopped(b->how->run)) return true;
    return b->how->deadline > 0 && clock_seconds() > b->how->deadline;
}

/* Messages of op o have been counted; they are no longer to come. */
static void consume_messages(struct beam *b, int32_t o)
{
    const struct joint_factor *f = &b->m->factors[o];
    for (int32_t t = 0; t < f->old_count; t++) {
        int32_t v = f->touch[t].var;
        for (int32_t x = 0; x < b->m->vars[v].state_count; x++) {
            int64_t message = f->message[f->message_at[t] + x];
            if (b->left[v][x] < JOINT_HOPELESS && message < JOINT_HOPELESS) b->left[v][x] -= message;
        }
    }
}

static bool joint_beam_search(struct beam *b, lx_status *st)
{
    const struct joint_model *m = b->m;
    b->now.count = 1;
    b->now.at[0] = (struct state){.rank = m->rest[0]};
    b->now.at[0].rank = joint_beam_rank_of(m, 0, &b->now.at[0]);
    memset(b->now.x, 0, (size_t)m->slot_count * sizeof *b->now.x);
    memset(b->now.undo, 0, (size_t)m->slot_count * sizeof *b->now.undo);
    for (int32_t o = 0; o < m->factor_count; o++) {
        b->found_count = 0;
        b->limit = JOINT_NEVER;
        consume_messages(b, o);
        for (int32_t i = 0; i < b->now.count; i++) joint_beam_expand(b, o, i);
        beam_condense(b, o);
        if (b->found_count == 0) return true; /* nothing below the cut */
        if (!joint_beam_settle(b, o)) return status_no_memory(st);
        swap_layers(b);
        if (joint_beam_out_of_time(b)) return b->out->stopped = true;
        if (b->out->steps > b->how->step_limit) b->width = 1; /* to an end, by the shortest way */
    }
    b->out->found = true;
    b->out->cost = b->now.at[0].cost;
    for (int32_t o = m->factor_count, i = 0; o-- > 0;) {
        b->out->choice[o] = b->trace[o][i].choice;
        i = b->trace[o][i].from;
    }
    return true;
}

static bool layer_make(struct layer *l, size_t width, size_t slots)
{
    l->at = mem_zeroed(width, sizeof *l->at);
    l->x = mem_zeroed(width * slots + 1, sizeof *l->x);
    l->undo = mem_zeroed(width * slots + 1, sizeof *l->undo);
    return l->at && l->x && l->undo;
}

static void layer_free(struct layer *l)
{
    mem_free(l->at);
    mem_free(l->x);
    mem_free(l->undo);
}

static bool list_endings(struct beam *b, struct arena *memory)
{
    const struct joint_model *m = b->m;
    b->ending = arena_array(memory, (size_t)m->var_count, sizeof *b->ending);
    b->ending_at = arena_array(memory, (size_t)m->factor_count + 2, sizeof *b->ending_at);
    b->trace = arena_array(memory, (size_t)m->factor_count, sizeof *b->trace);
    b->left = arena_array(memory, (size_t)m->var_count, sizeof *b->left);
    if (!b->ending || !b->ending_at || !b->trace || !b->left) return false;
    for (int32_t v = 0; v < m->var_count; v++) b->ending_at[m->vars[v].to]++;
    for (int32_t o = 0; o < m->factor_count; o++) b->ending_at[o + 1] += b->ending_at[o];
    for (int32_t v = m->var_count; v-- > 0;) b->ending[--b->ending_at[m->vars[v].to]] = v;
    /* Now ending_at[to] is where those that end before `to` begin: one to the left, by the last op. */
    for (int32_t o = 0; o < m->factor_count; o++) b->ending_at[o] = b->ending_at[o + 1];
    b->ending_at[m->factor_count] = m->var_count;
    for (int32_t v = 0; v < m->var_count; v++) {
        b->left[v] =
            arena_copy_array(memory, m->vars[v].future, (size_t)m->vars[v].state_count, sizeof **b->left);
        if (!b->left[v]) return false;
    }
    return true;
}

bool joint_beam(const struct joint_model *m, const struct joint_beam_options *how,
                struct joint_beam_result *out, lx_status *st)
{
    struct beam b = {.m = m, .how = how, .out = out, .dropped = JOINT_NEVER};
    struct arena memory = {0};
    size_t width = (size_t)how->width, slots = (size_t)m->slot_count;
    int32_t *choice = out->choice;
    *out = (struct joint_beam_result){.exact = true, .choice = choice};
    b.found_room = 4 * width + 64;
    b.table_room = 1;
    while (b.table_room < 2 * b.found_room) b.table_room *= 2;
    b.found = mem_zeroed(b.found_room + 1, sizeof *b.found);
    b.table = mem_zeroed(b.table_room, sizeof *b.table);
    b.scratch = mem_zeroed(2 * slots + 1, sizeof *b.scratch);
    b.width = how->width;
    bool ok = b.found && b.table && b.scratch && layer_make(&b.now, width, slots) &&
              layer_make(&b.next, width, slots) && list_endings(&b, &memory);
    ok = ok ? joint_beam_search(&b, st) : status_no_memory(st);
    out->bound = min_i64(b.dropped, min_i64(how->cut, out->found ? out->cost : JOINT_NEVER));
    if (out->stopped) out->bound = 0;
    for (int32_t o = 0; b.trace && o < m->factor_count; o++) mem_free(b.trace[o]);
    layer_free(&b.now);
    layer_free(&b.next);
    mem_free(b.found);
    mem_free(b.table);
    mem_free(b.scratch);
    arena_free(&memory);
    return ok;
}
