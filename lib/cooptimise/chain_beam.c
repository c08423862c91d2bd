/* A state holds, for each live tensor, the state of its chain; all that happened before meets in it, so that of two ways
 * to the same state the cheaper one stays. Its rank is the cost so far plus the messages from the ops to come and the
 * prices still owed, which never say too much: what ranks at or above `cut` is dropped for good, and the least rank that
 * had no room proves how much better an answer could be. Room is checked at every tick, in bytes. */
#include "cooptimise/chain_beam.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/stop.h"
#include "cooptimise/chain_candidates.h"
#include "cooptimise/chain_moves.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COMBINATIONS = 4096 };
enum { EACH_CHOICE = 100, EACH_TRIED = 60 }; /* work of base/stop.h */

struct origin {
    int32_t from, choice;
};

struct beam {
    const struct chain_model *m;
    const struct chain_beam_options *how;
    struct chain_beam_result *out;
    int32_t width;
    struct chain_node *now, *then;
    int32_t *now_x, *then_x; /* per state and slot */
    int32_t now_count;
    struct chain_candidate *found;
    int32_t *nexts; /* per candidate: CHAIN_MOST_TOUCHES states */
    size_t found_count, found_room;
    struct chain_candidate *others; /* room for as many, their kinds and numbers */
    uint64_t *kind_of;
    int32_t *count_of;
    struct chain_key *keys; /* and to sort them */
    int32_t *untouched;     /* slots */
    int32_t untouched_count;
    struct chain_moves moves;
    bool failed; /* memory is out */
    uint32_t *table;
    size_t table_room;
    int64_t limit, dropped;
    struct origin **trace; /* per op */
    int64_t combinations;  /* of the choice under way */
};

/* One state at one op under one choice. */
struct branch {
    int32_t o, choice, from;
    const struct chain_op *op;
    const int32_t *x;
    struct chain_node base; /* without what the touched tensors add */
    int64_t room;           /* of what is not touched */
    const struct chain_menu *menu[CHAIN_MOST_TOUCHES];
    int64_t low[CHAIN_MOST_TOUCHES + 1]; /* least of cost and messages from touch k on */
    const struct chain_move *taken[CHAIN_MOST_TOUCHES];
};

static int64_t chain_beam_rank_of(const struct chain_model *m, int32_t o, const struct chain_node *s)
{
    int64_t end = m->price_before[m->op_count], here = m->price_before[o];
    int128 owed = s->owed - (int128)s->load * here - (int128)m->capacity * (end - here);
    return m->constant + s->cost + s->ahead + m->rest[o] + chain_floor_price(owed);
}

/* A touched tensor leaves what is live at op `o`. */
static void chain_beam_leave(const struct chain_model *m, int32_t tensor, int32_t x, int32_t o,
                             struct chain_node *s)
{
    const struct chain_tensor *t = &m->tensors[tensor];
    s->load -= chain_size(t, x);
    s->owed -= (int128)chain_size(t, x) * m->price_before[o];
    s->hash ^= chain_mix(t->slot, x);
    if (chain_on(t, x / 2)) s->kind ^= chain_mix(t->slot, 1);
}

/* Slots that the op does not touch: there states are what they were. */
static void list_untouched(struct beam *b, int32_t o)
{
    const struct chain_op *op = &b->m->ops[o];
    b->untouched_count = 0;
    for (int32_t s = 0; s < b->m->slot_count; s++) {
        bool touched = false;
        for (int32_t k = 0; k < op->touch_count && !touched; k++)
            touched = b->m->tensors[op->touch[k].tensor].slot == s;
        if (!touched) b->untouched[b->untouched_count++] = s;
    }
}

static bool same_states(const struct beam *b, int32_t o, const struct chain_candidate *p,
                        const struct chain_candidate *q)
{
    const int32_t *next = &b->nexts[p->nexts], *other = &b->nexts[q->nexts];
    if (p->then.hash != q->then.hash || p->then.load != q->then.load) return false;
    for (int32_t k = 0; k < b->m->ops[o].touch_count; k++)
        if (next[k] != other[k]) return false;
    const int32_t *x = &b->now_x[(int64_t)p->from * b->m->slot_count],
                  *y = &b->now_x[(int64_t)q->from * b->m->slot_count];
    bool same = true;
    for (int32_t i = 0; i < b->untouched_count && same && x != y; i++)
        same = x[b->untouched[i]] == y[b->untouched[i]];
    return same;
}

/* At most so many of one kind come first; the others, in their order, behind them. */
static void diversify(struct beam *b)
{
    size_t mask = b->table_room - 1, first = 0;
    struct chain_candidate *others = b->others;
    size_t left = 0;
    memset(b->table, 0, b->table_room * sizeof *b->table);
    memset(b->count_of, 0, b->found_count * sizeof *b->count_of);
    for (size_t i = 0; i < b->found_count; i++) {
        size_t h = (size_t)b->found[i].then.kind & mask;
        stop_look(EACH_CHOICE);
        while (b->table[h] && b->kind_of[b->table[h] - 1] != b->found[i].then.kind) h = (h + 1) & mask;
        if (!b->table[h]) {
            b->table[h] = (uint32_t)i + 1;
            b->kind_of[i] = b->found[i].then.kind;
        }
        if (++b->count_of[b->table[h] - 1] <= b->how->of_a_kind)
            b->found[first++] = b->found[i];
        else
            others[left++] = b->found[i];
    }
    memcpy(&b->found[first], others, left * sizeof *others);
}

/* Merges what leads to the same state, then leaves the best `width`, in order. */
static void condense(struct beam *b, int32_t o)
{
    size_t mask = b->table_room - 1, kept = 0, width = (size_t)b->width;
    memset(b->table, 0, b->table_room * sizeof *b->table);
    for (size_t i = 0; i < b->found_count; i++) {
        size_t h = (size_t)b->found[i].then.hash & mask;
        stop_look(EACH_CHOICE + (int64_t)b->m->slot_count);
        for (; b->table[h]; h = (h + 1) & mask) {
            struct chain_candidate *other = &b->found[b->table[h] - 1];
            if (!same_states(b, o, other, &b->found[i])) continue;
            if (chain_before(&b->found[i], other)) {
                struct chain_candidate t = *other;
                *other = b->found[i];
                b->found[i] = t;
            }
            break;
        }
        if (b->table[h]) continue;
        struct chain_candidate t = b->found[kept];
        b->found[kept] = b->found[i];
        b->found[i] = t; /* its room for states is used again */
        b->table[h] = (uint32_t)++kept;
    }
    b->found_count = kept;
    chain_sort(b->found, kept, b->keys);
    if (kept <= width) return;
    if (b->how->of_a_kind > 0) diversify(b);
    int64_t least = CHAIN_NEVER;
    for (size_t i = width; i < kept; i++) least = min_i64(least, b->found[i].then.rank);
    b->dropped = min_i64(b->dropped, least);
    if (b->how->of_a_kind == 0) b->limit = min_i64(b->limit, least);
    b->out->exact = false;
    b->found_count = width;
}

static void chain_beam_drop(struct beam *b, int64_t rank)
{
    if (rank >= b->how->cut) return;
    b->dropped = min_i64(b->dropped, rank);
    b->out->exact = false;
}

static void chain_beam_offer(struct beam *b, const struct branch *r, const struct chain_node *then)
{
    if (then->rank >= b->how->cut) return;
    if (then->rank >= b->limit) {
        chain_beam_drop(b, then->rank);
        return;
    }
    if (b->found_count == b->found_room) condense(b, r->o);
    struct chain_candidate *c = &b->found[b->found_count++];
    *c = (struct chain_candidate){*then, r->from, r->choice, c->nexts};
    for (int32_t k = 0; k < r->op->touch_count; k++)
        b->nexts[c->nexts + k] = r->op->touch[k].last ? 0 : r->taken[k]->step.next;
}

/* The room that the output saves by taking the place of an input that leaves. */
static int64_t shared(const struct chain_model *m, const struct branch *r)
{
    const struct chain_op *op = r->op;
    if (op->child < 0 || !r->taken[op->child]->step.begins) return 0;
    const struct chain_tensor *all = m->tensors;
    const struct chain_step *child = &r->taken[op->child]->step;
    int32_t view = all[op->touch[op->child].tensor].label[child->label];
    for (int32_t k = 0; k < op->touch_count; k++) {
        const struct chain_step *p = &r->taken[k]->step;
        if (!(op->parents >> k & 1) || p->label < 0 || p->next / 2 == CHAIN_LABELS + p->label) continue;
        if (m->coarse || op->touch[k].access_count > 1 || all[op->touch[k].tensor].label[p->label] == view)
            return child->room;
    }
    return 0;
}

/* All touches have taken a step. */
static void arrive(struct beam *b, const struct branch *r)
{
    const struct chain_model *m = b->m;
    struct chain_node then = r->base;
    int64_t room = r->room;
    b->out->steps++;
    for (int32_t k = 0; k < r->op->touch_count; k++) {
        const struct chain_move *v = r->taken[k];
        room += v->step.room;
        then.cost += v->step.bytes;
        then.ahead += v->future;
        then.load += v->load;
        then.owed += v->owed;
        then.hash ^= v->hash;
        then.kind ^= v->kind;
    }
    if (room > b->how->capacity && room - shared(m, r) > b->how->capacity) return;
    then.rank = chain_beam_rank_of(m, r->o + 1, &then);
    then.time += r->op->time[r->choice];
    then.tie = b->how->by_time ? then.time : then.load;
    chain_beam_offer(b, r, &then);
}

/* Steps of touch k and those behind it; `so_far`: a bound on the rank without them. */
static void chain_beam_combine(struct beam *b, struct branch *r, int32_t k, int64_t so_far)
{
    if (k == r->op->touch_count) arrive(b, r);
    if (k == r->op->touch_count) return;
    const struct chain_move *v = &b->moves.moves.at[r->menu[k]->first];
    for (int32_t i = 0; i < r->menu[k]->count; i++, v++) {
        int64_t here = so_far + v->step.bytes + v->future;
        if (here + r->low[k + 1] >= b->how->cut) continue;
        if (here + r->low[k + 1] >= b->limit || ++b->combinations > MOST_COMBINATIONS) {
            chain_beam_drop(b, here + r->low[k + 1]);
            continue;
        }
        r->taken[k] = v;
        chain_beam_combine(b, r, k + 1, here);
    }
}

/* The steps of all touches, and the least of them; false: one has none, or memory is out. */
static bool list_steps(struct beam *b, struct branch *r)
{
    int32_t n = r->op->touch_count;
    r->low[n] = 0;
    for (int32_t k = n; k-- > 0;) {
        const struct chain_touch *t = &r->op->touch[k];
        int32_t x = t->first ? 0 : r->x[b->m->tensors[t->tensor].slot];
        r->menu[k] = chain_moves_from(&b->moves, k, r->choice, x);
        b->failed |= !r->menu[k];
        if (!r->menu[k] || r->menu[k]->low >= CHAIN_NEVER / 2) return false;
        r->low[k] = r->low[k + 1] + r->menu[k]->low;
    }
    return true;
}

/* What a state at op `o` has in common for all choices. */
static void begin_branch(const struct beam *b, int32_t o, int32_t from, struct branch *r)
{
    const struct chain_model *m = b->m;
    r->o = o;
    r->from = from;
    r->op = &m->ops[o];
    r->x = &b->now_x[(int64_t)from * m->slot_count];
    r->base = b->now[from];
    for (int32_t k = 0; k < r->op->touch_count; k++) {
        const struct chain_touch *t = &r->op->touch[k];
        int32_t x = r->x[m->tensors[t->tensor].slot];
        if (t->first) continue;
        r->base.ahead -= t->value[x];
        chain_beam_leave(m, t->tensor, x, o, &r->base);
    }
    r->room = r->base.load;
}

static void chain_beam_expand(struct beam *b, int32_t o, int32_t from, struct branch *r)
{
    const struct chain_model *m = b->m;
    begin_branch(b, o, from, r);
    int64_t least = chain_beam_rank_of(m, o + 1, &r->base); /* of what is not touched */
    for (r->choice = 0; r->choice < r->op->choice_count; r->choice++) {
        b->out->steps++;
        if (!list_steps(b, r) || least + r->low[0] >= b->how->cut) continue;
        if (least + r->low[0] >= b->limit) {
            chain_beam_drop(b, least + r->low[0]);
            continue;
        }
        b->combinations = 0;
        chain_beam_combine(b, r, 0, least);
        stop_look(EACH_CHOICE + EACH_TRIED * b->combinations);
    }
}

/* The candidates that were kept become the states behind op `o`. */
static bool chain_beam_settle(struct beam *b, int32_t o)
{
    const struct chain_model *m = b->m;
    const struct chain_op *op = &m->ops[o];
    size_t slots = (size_t)m->slot_count;
    struct origin *trace = mem_alloc((b->found_count + 1) * sizeof *trace);
    if (!trace) return false;
    b->trace[o] = trace;
    for (size_t i = 0; i < b->found_count; i++) {
        const struct chain_candidate *c = &b->found[i];
        int32_t *x = &b->then_x[i * slots];
        stop_look(EACH_CHOICE + (int64_t)slots);
        trace[i] = (struct origin){c->from, c->choice};
        memcpy(x, &b->now_x[(size_t)c->from * slots], slots * sizeof *x);
        for (int32_t k = 0; k < op->touch_count; k++)
            x[m->tensors[op->touch[k].tensor].slot] = b->nexts[c->nexts + k];
        b->then[i] = c->then;
    }
    struct chain_node *n = b->now;
    int32_t *x = b->now_x;
    b->now = b->then, b->then = n;
    b->now_x = b->then_x, b->then_x = x;
    b->now_count = (int32_t)b->found_count;
    return true;
}

static bool chain_beam_out_of_time(const struct beam *b)
{
    return lx_run_stopped(b->how->run) || (b->how->deadline > 0 && clock_seconds() > b->how->deadline);
}

static bool chain_beam_search(struct beam *b, struct branch *r)
{
    b->now_count = 1;
    b->now[0] = (struct chain_node){0};
    for (int32_t o = 0; o < b->m->op_count && b->now_count > 0; o++) {
        b->found_count = 0;
        b->limit = CHAIN_NEVER;
        if ((b->out->stopped = chain_beam_out_of_time(b))) return true;
        if (b->out->steps > b->how->step_limit) b->width = 1;
        chain_moves_of(&b->moves, &b->m->ops[o]);
        list_untouched(b, o);
        for (int32_t i = 0; i < b->now_count; i++) chain_beam_expand(b, o, i, r);
        condense(b, o);
        if (b->failed || !chain_beam_settle(b, o)) return false;
    }
    return true;
}

/* Back from the best of the last states. */
static void chain_beam_trace_back(struct beam *b)
{
    struct chain_beam_result *out = b->out;
    int32_t n = b->m->op_count;
    for (; out->found < b->how->answers && out->found < b->now_count; out->found++) {
        int32_t at = out->found;
        out->bytes[at] = b->now[at].rank;
        for (int32_t o = n; o-- > 0;) {
            out->choice[(int64_t)out->found * n + o] = b->trace[o][at].choice;
            at = b->trace[o][at].from;
        }
    }
}

static bool beam_make(struct beam *b)
{
    size_t width = (size_t)b->how->width, slots = (size_t)b->m->slot_count + 1;
    b->width = b->how->width;
    b->found_room = 4 * width + 256;
    for (b->table_room = 1; b->table_room < 2 * b->found_room;) b->table_room *= 2;
    b->now = mem_zeroed(width + 1, sizeof *b->now);
    b->then = mem_zeroed(width + 1, sizeof *b->then);
    b->now_x = mem_zeroed((width + 1) * slots, sizeof *b->now_x);
    b->then_x = mem_zeroed((width + 1) * slots, sizeof *b->then_x);
    b->found = mem_zeroed(b->found_room + 1, sizeof *b->found);
    b->nexts = mem_zeroed((b->found_room + 1) * CHAIN_MOST_TOUCHES, sizeof *b->nexts);
    b->table = mem_zeroed(b->table_room, sizeof *b->table);
    b->others = mem_zeroed(b->found_room + 1, sizeof *b->others);
    b->kind_of = mem_zeroed(b->found_room + 1, sizeof *b->kind_of);
    b->count_of = mem_zeroed(b->found_room + 1, sizeof *b->count_of);
    b->keys = mem_zeroed(2 * (b->found_room + 1), sizeof *b->keys);
    b->untouched = mem_zeroed(slots, sizeof *b->untouched);
    b->trace = mem_zeroed((size_t)b->m->op_count + 1, sizeof *b->trace);
    for (size_t i = 0; b->found && i < b->found_room; i++)
        b->found[i].nexts = (int32_t)i * CHAIN_MOST_TOUCHES;
    return b->now && b->then && b->now_x && b->then_x && b->found && b->nexts && b->table && b->trace &&
           b->others && b->kind_of && b->count_of && b->keys && b->untouched &&
           chain_moves_make(&b->moves, b->m);
}

static void beam_free(struct beam *b)
{
    for (int32_t o = 0; b->trace && o < b->m->op_count; o++) mem_free(b->trace[o]);
    mem_free(b->trace);
    mem_free(b->now);
    mem_free(b->then);
    mem_free(b->now_x);
    mem_free(b->then_x);
    mem_free(b->found);
    mem_free(b->nexts);
    mem_free(b->table);
    mem_free(b->others);
    mem_free(b->kind_of);
    mem_free(b->count_of);
    mem_free(b->keys);
    mem_free(b->untouched);
    chain_moves_free(&b->moves);
}

bool chain_beam(const struct chain_model *m, const struct chain_beam_options *how,
                struct chain_beam_result *out, lx_status *st)
{
    struct beam b = {.m = m, .how = how, .out = out, .dropped = CHAIN_NEVER};
    struct branch *r = mem_alloc(sizeof *r);
    out->exact = true;
    out->stopped = false;
    out->found = 0;
    out->steps = 0;
    bool ok = r && beam_make(&b) && chain_beam_search(&b, r);
    if (ok && !out->stopped) chain_beam_trace_back(&b);
    out->bound = min_i64(b.dropped, min_i64(how->cut, out->found ? out->bytes[0] : CHAIN_NEVER));
    if (out->stopped || how->capacity < m->capacity) out->bound = 0;
    beam_free(&b);
    mem_free(r);
    return ok ? true : status_no_memory(st);
}
