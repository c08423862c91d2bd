/* The search over chains: a beam (network/beam.h) over the ops in their order.
 *
 * A state holds the chain state of each live tensor. Its rank is the cost so far plus the messages from later
 * ops and the prices still owed, a lower bound. Room is checked at every tick, in bytes. The moves of a
 * tensor depend only on its own state and the op's choice; they are listed once and shared by all states. */
#include "cooptimise/chain.h"

enum { MOST_COMBINATIONS = 4096, POLL_EVERY = 64 };

struct chain_node {
    struct beam_node base;
    int64_t cost, ahead, load, time;
    int128 owed; /* sum over the tensors of load times the prices up to the next op of each */
};

/* A step of a tensor, and its contribution to a state. */
struct chain_move {
    struct chain_step step;
    int64_t future; /* cost of the later touches */
    int64_t load;   /* bytes on chip after the step */
    int128 owed;    /* load times the prices up to the tensor's next op */
    uint64_t kind;
};

struct chain_menu {
    int32_t first, count; /* first: -1, not listed yet */
    int64_t low;          /* least of cost and future; NETWORK_NEVER: no step */
};

struct chain_search {
    const struct chain_model *m;
    const struct chain_beam_options *how;
    struct chain_beam_result *out;
    struct beam beam;
    struct chain_menu *menus; /* of the op, per touch, choice and state */
    VEC(struct chain_move) moves;
    int64_t menus_at[CHAIN_MOST_TOUCHES];
    int32_t states[CHAIN_MOST_TOUCHES], slots[CHAIN_MOST_TOUCHES];
    int32_t o, choice, from;
    const struct chain_op *op;
    const int32_t *row;
    struct chain_node base; /* the state without its touched tensors */
    const struct chain_menu *menu[CHAIN_MOST_TOUCHES];
    int64_t low[CHAIN_MOST_TOUCHES + 1]; /* least of cost and messages from touch k on */
    int32_t taken[CHAIN_MOST_TOUCHES];   /* index of the move chosen, per touch */
    int64_t combinations;
};

static bool chain_before(const void *a, const void *b)
{
    const struct chain_node *x = a, *y = b;
    if (x->load != y->load) return x->load < y->load;
    if (x->time != y->time) return x->time < y->time;
    return x->cost > y->cost; /* a larger part of the rank is certain */
}

static int64_t chain_rank(const struct chain_model *m, int32_t o, const struct chain_node *s)
{
    return m->constant + s->cost + prices_ahead(&m->room, o, s->ahead, s->load, s->owed);
}

static const struct chain_menu *chain_menu_of(struct chain_search *s, int32_t k, int32_t state)
{
    struct chain_menu *menu = &s->menus[s->menus_at[k] + (int64_t)s->states[k] * s->choice + state];
    const struct chain_touch *t = &s->op->touch[k];
    const struct chain_tensor *tensor = &s->m->tensors[t->tensor];
    struct chain_step steps[CHAIN_MOST_STEPS];
    if (menu->first >= 0) return menu;
    *menu = (struct chain_menu){.first = (int32_t)s->moves.count, .low = NETWORK_NEVER};
    menu->count = chain_steps(s->m, t, s->choice, state, steps);
    for (int32_t i = 0; i < menu->count; i++) {
        struct chain_move v = {.step = steps[i], .future = chain_future(s->m, t, steps[i].next)};
        if (!t->last) {
            v.load = chain_size(tensor, steps[i].next);
            v.owed = (int128)v.load * s->m->room.before[t->next_op];
            v.kind = chain_on(tensor, steps[i].next / 2) ? beam_mix(tensor->slot, 1) : 0;
        }
        menu->low = min_i64(menu->low, v.step.bytes + v.future);
        (void)VEC_PUSH(&s->moves, v);
    }
    return menu;
}

/* Room that the output saves by taking the place of an input that leaves. */
static int64_t chain_shared_room(const struct chain_search *s)
{
    const struct chain_op *op = s->op;
    const struct chain_tensor *all = s->m->tensors;
    if (op->child < 0 || !s->moves.at[s->taken[op->child]].step.begins) return 0;
    const struct chain_step *child = &s->moves.at[s->taken[op->child]].step;
    int32_t view = all[op->touch[op->child].tensor].label[child->label];
    for (int32_t k = 0; k < op->touch_count; k++) {
        const struct chain_step *p = &s->moves.at[s->taken[k]].step;
        if (!(op->parents >> k & 1) || p->label < 0 || p->next / 2 == CHAIN_LABELS + p->label) continue;
        if (s->m->coarse || op->touch[k].access_count > 1 || all[op->touch[k].tensor].label[p->label] == view)
            return child->room;
    }
    return 0;
}

/* Offers the state after the op, once every touch has taken a step. */
static void chain_arrive(struct chain_search *s)
{
    struct chain_node then = s->base;
    int32_t next[CHAIN_MOST_TOUCHES];
    int64_t room = s->base.load, capacity = s->how->capacity;
    s->out->steps++;
    for (int32_t k = 0; k < s->op->touch_count; k++) {
        const struct chain_move *v = &s->moves.at[s->taken[k]];
        room += v->step.room;
        then.cost += v->step.bytes;
        then.ahead += v->future;
        then.load += v->load;
        then.owed += v->owed;
        then.base.kind ^= v->kind;
        next[k] = s->op->touch[k].last ? 0 : v->step.next;
    }
    if (room > capacity && room - chain_shared_room(s) > capacity) return;
    then.time += s->op->time[s->choice];
    then.base.rank = chain_rank(s->m, s->o + 1, &then);
    then.base.tie = s->how->by_time ? then.time : then.load;
    beam_offer(&s->beam, s->from, s->choice, &then, next);
}

/* Combines the steps of touches k, k + 1, ...; `so_far`: a bound on the rank without them. */
static void chain_combine(struct chain_search *s, int32_t k, int64_t so_far)
{
    if (k == s->op->touch_count) chain_arrive(s);
    if (k == s->op->touch_count) return;
    for (int32_t i = s->menu[k]->first; i < s->menu[k]->first + s->menu[k]->count; i++) {
        int64_t here = so_far + s->moves.at[i].step.bytes + s->moves.at[i].future;
        if (here + s->low[k + 1] >= s->how->cut) continue;
        if (here + s->low[k + 1] >= s->beam.limit || ++s->combinations > MOST_COMBINATIONS) {
            beam_drop(&s->beam, here + s->low[k + 1]);
            continue;
        }
        s->taken[k] = i;
        chain_combine(s, k + 1, here);
    }
}

static void chain_expand(struct chain_search *s, int32_t from)
{
    const struct chain_model *m = s->m;
    s->from = from;
    s->row = beam_row_of(&s->beam, from);
    memcpy(&s->base, beam_node_of(&s->beam, from), sizeof s->base);
    for (int32_t k = 0; k < s->op->touch_count; k++) { /* remove the touched tensors from the live ones */
        const struct chain_touch *t = &s->op->touch[k];
        const struct chain_tensor *tensor = &m->tensors[t->tensor];
        int32_t x = s->row[s->slots[k]];
        if (t->first) continue;
        s->base.ahead -= t->value[x];
        s->base.load -= chain_size(tensor, x);
        s->base.owed -= (int128)chain_size(tensor, x) * m->room.before[s->o];
        if (chain_on(tensor, x / 2)) s->base.base.kind ^= beam_mix(tensor->slot, 1);
    }
    int64_t least = chain_rank(m, s->o + 1, &s->base); /* rank of the untouched tensors */
    for (s->choice = 0; s->choice < s->op->choice_count; s->choice++) {
        s->out->steps++;
        bool possible = true;
        s->low[s->op->touch_count] = 0;
        for (int32_t k = s->op->touch_count; possible && k-- > 0;) {
            s->menu[k] = chain_menu_of(s, k, s->op->touch[k].first ? 0 : s->row[s->slots[k]]);
            possible = s->menu[k]->low < NETWORK_HOPELESS;
            s->low[k] = s->low[k + 1] + s->menu[k]->low;
        }
        if (!possible || least + s->low[0] >= s->how->cut) continue;
        if (least + s->low[0] >= s->beam.limit) {
            beam_drop(&s->beam, least + s->low[0]);
            continue;
        }
        s->combinations = 0;
        chain_combine(s, 0, least);
    }
}

static void chain_walk(struct chain_search *s)
{
    for (int32_t o = 0; o < s->m->op_count && s->beam.count > 0; o++) {
        if (s->out->steps > s->how->step_limit) s->beam.width = 1; /* finish quickly */
        const struct chain_op *op = s->op = &s->m->ops[s->o = o];
        int64_t all = 0;
        s->moves.count = 0;
        for (int32_t k = 0; k < op->touch_count; k++) {
            const struct chain_tensor *t = &s->m->tensors[op->touch[k].tensor];
            s->menus_at[k] = all;
            s->states[k] = chain_states(t);
            s->slots[k] = t->slot;
            all += (int64_t)s->states[k] * op->choice_count;
        }
        for (int64_t i = 0; i < all; i++) s->menus[i].first = -1;
        beam_step(&s->beam, s->slots, op->touch_count);
        for (int32_t i = 0; i < s->beam.count; i++) {
            if (i % POLL_EVERY == 0 &&
                (s->out->stopped = lx_run_stopped(s->how->run) ||
                                   (s->how->deadline > 0 && clock_seconds() > s->how->deadline)))
                return;
            chain_expand(s, i);
        }
        beam_settle(&s->beam);
    }
    for (; s->out->found < s->how->answers && s->out->found < s->beam.count; s->out->found++) {
        const struct chain_node *end = beam_node_of(&s->beam, s->out->found);
        s->out->bytes[s->out->found] = end->base.rank;
        beam_trace(&s->beam, s->out->found, &s->out->choice[(int64_t)s->out->found * s->m->op_count]);
    }
}

void chain_beam(const struct chain_model *m, const struct chain_beam_options *how,
                struct chain_beam_result *out)
{
    const struct beam_rules rules = {.width = how->width,
                                     .slots = m->slot_count,
                                     .room = 4 * how->width + 256,
                                     .of_a_kind = how->of_a_kind,
                                     .node_size = sizeof(struct chain_node),
                                     .cut = how->cut,
                                     .before = chain_before,
                                     .vary = true};
    OWNED struct chain_search *s = mem_zeroed(1, sizeof *s);
    struct chain_node root = {.cost = 0};
    s->m = m, s->how = how, s->out = out;
    s->menus = mem_alloc(((size_t)m->largest + 1) * sizeof *s->menus);
    out->stopped = false;
    out->found = 0;
    out->steps = 0;
    beam_begin(&s->beam, &rules, &root, NULL);
    chain_walk(s);
    out->exact = s->beam.exact;
    out->bound = min_i64(s->beam.dropped, min_i64(how->cut, out->found ? out->bytes[0] : NETWORK_NEVER));
    if (out->stopped || how->capacity < m->room.capacity) out->bound = 0;
    beam_end(&s->beam);
    VEC_FREE(&s->moves);
    mem_free(s->menus);
}
