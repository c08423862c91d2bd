/* The search for a plan within the limit, op by op. A state has the place of each tensor and, in a nest, its
 * number, the bytes that stay on chip up to its end though no later op uses them, and the most bytes of its
 * ops so far, to which a tensor that covers the nest and comes on chip later adds. Equal states merge; a state
 * is closed if its cost and the least priced cost of all later uses are above the limit. */
#include "check/proof.h"

enum { PROOF_STATES = 1 << 16 };

struct proof_state {
    int64_t idle, most, nest; /* nest: -1: none */
    int128 cost;
};

struct proof_layer {
    struct proof_state *at;
    unsigned char *places; /* per state and tensor */
    int32_t *slots;        /* hash table: 1 + number of a state */
    int32_t count, room;
};

struct proof_step {
    struct proof *p;
    size_t tensors;
    struct proof_layer now, then;
    int32_t *next; /* per op and tensor: its first use from there on, or -1 */
    /* The state being expanded. */
    int32_t op, nest;
    struct proof_state from;
    int64_t through;
    unsigned char *places;
    struct proof_way way[LX_MAX_OPERANDS];
};

static void proof_layer_new(struct proof_layer *l, int32_t room, size_t tensors)
{
    *l = (struct proof_layer){.room = room};
    l->at = mem_alloc((size_t)room * sizeof *l->at);
    l->places = mem_alloc((size_t)room * tensors + 1);
    l->slots = mem_zeroed(2 * (size_t)room, sizeof *l->slots);
}

static void proof_layer_free(struct proof_layer *l)
{
    mem_free(l->at);
    mem_free(l->places);
    mem_free(l->slots);
}

static bool proof_layer_offer(struct proof_layer *l, const struct proof_state *s, const unsigned char *places,
                              size_t tensors)
{
    const int64_t numbers[] = {s->idle, s->most, s->nest};
    uint64_t hash = hash_words(hash_bytes(HASH_START, numbers, sizeof numbers), places, tensors);
    size_t mask = 2 * (size_t)l->room - 1, k = hash & mask;
    for (; l->slots[k]; k = (k + 1) & mask) {
        struct proof_state *old = &l->at[l->slots[k] - 1];
        if (old->idle != s->idle || old->most != s->most || old->nest != s->nest ||
            memcmp(&l->places[(size_t)(l->slots[k] - 1) * tensors], places, tensors) != 0)
            continue;
        if (s->cost < old->cost) old->cost = s->cost;
        return true;
    }
    if (l->count == l->room) return false;
    memcpy(&l->places[(size_t)l->count * tensors], places, tensors);
    l->at[l->count++] = *s;
    l->slots[k] = l->count;
    return true;
}

static const struct proof_nest *proof_step_nest(const struct proof_step *s, int64_t nest)
{
    return nest < 0 ? NULL : &s->p->nests.at[nest];
}

/* The holds of a use, of a nest if it is in one. */
static struct proof_holds proof_step_holds(const struct proof_step *s, const struct proof_nest *n,
                                           int32_t use)
{
    bool inside = n && s->p->uses[use].op <= n->last;
    return inside ? n->holds[use - s->p->use_at[n->first]] : proof_plain(&s->p->uses[use]);
}

/* Bytes on chip of a tensor that waits for this use. */
static int64_t proof_step_bytes(const struct proof_step *s, const struct proof_nest *n, int32_t use,
                                int place)
{
    const struct proof_use *u = &s->p->uses[use];
    if (place == 0 || (place == PROOF_NEVER && !u->of->cuts)) return 0;
    return proof_step_holds(s, n, use).size[(place - 1) / 2];
}

/* The least priced cost of all uses from op `o` on. */
static int128 proof_step_rest(const struct proof_step *s, int32_t o, const struct proof_nest *n, int64_t idle,
                              const unsigned char *places)
{
    const struct proof *p = s->p;
    const int128 *sums = n ? n->sums : p->sums;
    int128 sum = p->beyond[n ? n->last + 1 : o] - p->f->room * (sums[p->f->op_count] - sums[o]);
    if (n) sum += idle * (sums[n->last + 1] - sums[o]);
    for (size_t t = 0; t < s->tensors; t++) {
        int32_t k = s->next[(size_t)o * s->tensors + t];
        if (k < 0) continue;
        bool inside = n && p->uses[k].op <= n->last;
        sum += inside ? n->ahead[PROOF_PLACES * (k - p->use_at[n->first]) + places[t]]
                      : p->ahead[PROOF_PLACES * k + places[t]];
        if (places[t]) sum += proof_step_bytes(s, n, k, places[t]) * (sums[p->uses[k].op] - sums[o]);
    }
    return sum;
}

static void proof_step_child(struct proof_step *s, int32_t count)
{
    struct proof *p = s->p;
    const struct proof_nest *n = proof_step_nest(s, s->nest);
    const struct proof_use *u = &p->uses[p->use_at[s->op]];
    int64_t load = s->through, late = 0, given = 0, shared = 0;
    struct proof_state child = s->from;
    for (int32_t i = 0; i < count; i++) {
        const struct proof_way *w = &s->way[i];
        load += w->size;
        child.cost += w->cost;
        if (u[i].gives && w->after == 0 && !w->covers) given = max_i64(given, w->size);
        if (w->begins && w->covers) late += w->size;
        if (w->covers && w->after == 0) child.idle += w->size;
        s->places[u[i].tensor] = (unsigned char)w->after;
    }
    for (int32_t i = 0; i < count; i++)
        if (u[i].takes && s->way[i].in_turn) shared = max_i64(shared, min_i64(given, s->way[i].size));
    child.most = max_i64(load - shared, s->from.most + late);
    if (child.most > p->f->room) return;
    if (!n || n->last == s->op) child.idle = child.most = 0, child.nest = -1, n = NULL;
    int128 cost = child.cost << PROOF_BITS;
    proof_work(p, (int64_t)s->tensors / 4 + 1);
    if (cost + proof_step_rest(s, s->op + 1, n, child.idle, s->places) > p->top) return;
    p->gives_up |= !proof_layer_offer(&s->then, &child, s->places, s->tensors);
}

static void proof_step_uses(struct proof_step *s, int32_t i, const unsigned char *from)
{
    struct proof *p = s->p;
    const struct proof_nest *n = proof_step_nest(s, s->nest);
    int32_t use = p->use_at[s->op] + i;
    if (use == p->use_at[s->op + 1]) {
        proof_step_child(s, i);
        return;
    }
    const struct proof_use *u = &p->uses[use];
    struct proof_holds y = proof_step_holds(s, n, use);
    struct proof_way all[PROOF_WAYS];
    int count = proof_ways(u, &y, n && u->next >= 0 && p->uses[u->next].op <= n->last, from[u->tensor], all);
    for (int k = 0; k < count && !p->gives_up; k++) {
        s->way[i] = all[k];
        proof_step_uses(s, i + 1, from);
    }
}

/* Expands state `at` in nest `nest`. */
static void proof_step_in(struct proof_step *s, int32_t at, int32_t nest)
{
    const struct proof *p = s->p;
    const unsigned char *from = &s->now.places[(size_t)at * s->tensors];
    const struct proof_nest *n = proof_step_nest(s, nest);
    s->nest = nest;
    s->from = s->now.at[at];
    s->from.nest = nest;
    s->through = s->from.idle;
    memcpy(s->places, from, s->tensors);
    for (size_t t = 0; t < s->tensors; t++) {
        int32_t k = s->next[(size_t)s->op * s->tensors + t];
        if (k >= 0 && p->uses[k].op > s->op) s->through += proof_step_bytes(s, n, k, from[t]);
    }
    proof_step_uses(s, 0, from);
}

static void proof_step_op(struct proof_step *s)
{
    struct proof *p = s->p;
    for (int32_t at = 0; at < s->now.count && !p->gives_up; at++) {
        int32_t nest = (int32_t)s->now.at[at].nest;
        proof_step_in(s, at, nest);
        for (size_t i = 0; nest < 0 && i < p->nests.count; i++)
            if (p->nests.at[i].first == s->op) proof_step_in(s, at, (int32_t)i);
    }
    struct proof_layer swap = s->now;
    s->now = s->then;
    s->then = swap;
    s->then.count = 0;
    memset(s->then.slots, 0, 2 * (size_t)s->then.room * sizeof *s->then.slots);
}

bool proof_walk(struct proof *p)
{
    int32_t ops = p->f->op_count;
    struct proof_step s = {.p = p, .tensors = (size_t)p->f->tensor_count};
    s.next = arena_array(&p->memory, ((size_t)ops + 1) * s.tensors, sizeof *s.next);
    s.places = arena_array(&p->memory, s.tensors, sizeof *s.places);
    for (size_t t = 0; t < s.tensors; t++) s.next[(size_t)ops * s.tensors + t] = -1;
    for (int32_t o = ops - 1; o >= 0; o--) {
        int32_t *next = &s.next[(size_t)o * s.tensors];
        memcpy(next, next + s.tensors, s.tensors * sizeof *next);
        for (int32_t k = p->use_at[o]; k < p->use_at[o + 1]; k++) next[p->uses[k].tensor] = k;
    }
    proof_layer_new(&s.now, PROOF_STATES, s.tensors);
    proof_layer_new(&s.then, PROOF_STATES, s.tensors);
    struct proof_state root = {.nest = -1};
    if (proof_step_rest(&s, 0, NULL, 0, s.places) <= p->top)
        proof_layer_offer(&s.now, &root, s.places, s.tensors);
    for (s.op = 0; s.op < ops && s.now.count > 0 && !p->gives_up; s.op++) proof_step_op(&s);
    bool closed = s.now.count == 0 && !p->gives_up;
    proof_layer_free(&s.now);
    proof_layer_free(&s.then);
    return closed;
}
