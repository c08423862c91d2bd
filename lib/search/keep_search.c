/* The cheapest choices of the tensors to keep: a beam over ticks (network/beam.h).
 *
 * A node has the bytes on chip and the cost so far. A lower bound on the remaining cost is the sum over the
 * tensors alone: at the prices of keep_prices.c, or, in any order, the unavoidable bytes. Each op is expanded
 * by all outcomes of its uses that fit. A row has the state of each live tensor; in any order of all tensors,
 * and the ops done. */
#include "search/keep.h"
#include "network/beam.h"
#include "search/reorder.h"

enum { MOST_LEAVES = 512, POLL_EVERY = 16 };

struct keep_node {
    struct beam_node base; /* rank: `least` as an integer */
    int64_t cost, bytes;   /* cost so far; bytes on chip */
    double rest;           /* priced cost still to come */
    double least;          /* lower bound on any choice from here */
    uint64_t done;         /* bits: ops that are done; any order only */
};

struct keep_walk {
    const struct keep_model *m;
    const struct keep_limits *l;
    struct beam beam;
    int32_t *slot, slot_count;  /* per tensor */
    int32_t *changed, *numbers; /* slots that a step changes: of the op's uses; in any order all slots */
    double dropped;             /* least bound of outcomes that were not offered */
    bool stopped;
    uint64_t *before; /* per op: bits of the ops that must come first */
    struct arena memory;
    /* The node being expanded. */
    int32_t at, op;
    const struct keep_node *node;
    uint64_t done; /* bits: ops done before this op */
    int32_t uses[LX_MAX_OPERANDS];
    enum keep_state states[LX_MAX_OPERANDS];
    struct keep_outcome now[LX_MAX_OPERANDS];
    int count, leaves, wanted; /* wanted: the leaf to copy into `chosen`; -1: offer all leaves */
    struct keep_outcome chosen[LX_MAX_OPERANDS];
};

/* The later uses of the tensor of use u, once the ops in `done` are over. */
static struct keep_later later_of(const struct keep_walk *s, const struct keep_use *u, uint64_t done)
{
    const struct keep_model *m = s->m;
    const struct keep_tensor *t = &m->tensors[u->tensor];
    struct keep_later x = {u->may_keep, u->needed, u->goes_on};
    if (!s->l->any_order) return x;
    bool written_on = false;
    x = (struct keep_later){0};
    for (int32_t k = t->first; k < t->first + t->count; k++) {
        const struct keep_use *v = &m->uses[k];
        if (done >> v->op & 1) continue;
        written_on |= v->writes;
        x.goes_on |= v->run == u->run && v->label >= 0;
        if (v->version != u->leaves || !keep_reads(v)) continue;
        x.needed = true;
        x.may_keep |= v->run == u->run && keep_serves(v);
    }
    x.needed |= t->output && !written_on;
    return x;
}

/* In any order: a lower bound on the bytes that a tensor still moves. */
static double still_moves(const struct keep_walk *s, int32_t tensor, enum keep_state state, uint64_t done)
{
    const struct keep_model *m = s->m;
    const struct keep_tensor *t = &m->tensors[tensor];
    int64_t served = 0, sum = 0;
    int32_t version = 0;
    const struct keep_use *writes = NULL;
    for (int32_t k = t->first; k < t->first + t->count; k++)
        if (done >> m->uses[k].op & 1) version = m->uses[k].leaves > version ? m->uses[k].leaves : version;
    for (int32_t k = t->first; k < t->first + t->count; k++) {
        const struct keep_use *u = &m->uses[k];
        if (done >> u->op & 1) continue;
        sum += u->forced;
        if (u->writes) writes = u;
        if (u->version == version) served += u->served;
        if (u->writes && !u->write_may) sum += u->written;
    }
    if (!keep_on_chip(state)) sum += min_i64(served, t->whole);
    if (t->output && writes && writes->write_may) sum += min_i64(writes->written, t->whole);
    if (t->output && !writes && state == KEEP_CHIP) sum += t->whole;
    return (double)sum;
}

static int64_t ahead_of(const struct keep_walk *s, int32_t u)
{
    return s->l->any_order ? s->m->tensors[s->m->uses[u].tensor].between : s->m->uses[u - 1].between;
}

/* The bytes on chip while the op runs; `*after`: the bytes kept after it. */
static int64_t keep_load_of(const struct keep_walk *s, int64_t *after)
{
    const struct keep_model *m = s->m;
    int64_t load = s->node->bytes, shared = 0;
    for (int i = 0; i < s->count; i++)
        if (keep_on_chip(s->states[i])) load -= ahead_of(s, s->uses[i]);
    *after = load;
    int out = 0; /* the output that may be written over an input */
    while (out < s->count && !m->uses[s->uses[out]].takes) out++;
    bool written = out < s->count && s->now[out].on && s->now[out].fresh;
    for (int i = 0; i < s->count; i++) {
        const struct keep_use *u = &m->uses[s->uses[i]];
        load += s->l->any_order && s->now[i].on ? min_i64(s->now[i].size, u->size) : s->now[i].size;
        /* bytes kept after use u */
        if (keep_on_chip(s->now[i].after))
            *after += s->l->any_order ? s->m->tensors[s->m->uses[s->uses[i]].tensor].between
                                      : s->m->uses[s->uses[i]].between;
        if (u->gives && s->now[i].on && !keep_on_chip(s->now[i].after) && written)
            shared = m->uses[s->uses[out]].size;
    }
    return load - shared;
}

static double keep_total(const struct keep_walk *s, const struct keep_node *n)
{
    const struct keep_model *m = s->m;
    if (s->l->any_order) return (double)n->cost + n->rest;
    return (double)n->cost + n->rest - (m->sums[m->op_count] - m->sums[s->op + 1]) * (double)m->capacity;
}

/* Rounds up to whole grains, after subtracting the rounding error of doubles. */
static int64_t keep_grains(const struct keep_walk *s, double least)
{
    double safe = least - 1e-9 * fabs(least) - 1e-3;
    return safe > 0 ? (int64_t)ceil(safe / (double)s->m->grain) * s->m->grain : 0;
}

static void keep_add_child(struct keep_walk *s, int32_t choice)
{
    const struct keep_node *n = s->node;
    struct keep_node child = {.cost = n->cost, .rest = n->rest};
    child.done = s->l->any_order ? n->done | (uint64_t)1 << s->op : 0;
    if (keep_load_of(s, &child.bytes) > s->m->capacity) return;
    int64_t untouched = n->bytes;
    for (int i = 0; i < s->count; i++) {
        int32_t u = s->uses[i];
        if (keep_on_chip(s->states[i])) untouched -= ahead_of(s, u);
        child.cost += s->now[i].cost;
        child.rest -= s->l->any_order ? still_moves(s, s->m->uses[u].tensor, s->states[i], n->done)
                                      : s->m->ahead[KEEP_STATES * u + (int)s->states[i]];
        child.rest += s->l->any_order ? still_moves(s, s->m->uses[u].tensor, s->now[i].after, child.done)
                                      : keep_from_then(s->m, u, s->now[i].after);
    }
    if (!s->l->any_order) child.rest -= s->m->price[s->op] * (double)untouched;
    child.least = fmax(keep_total(s, &child), n->least);
    if (keep_grains(s, child.least) >= s->l->below) return;
    /* Maps the double to an integer of the same order; keep_list_all maps it back. */
    double least = child.least;
    int64_t bits;
    memcpy(&bits, &least, sizeof bits);
    child.base.rank = bits ^ ((bits >> 63) & INT64_MAX);
    child.base.tie = -child.cost; /* a larger part of the rank is certain */
    /* Numbers of the changed slots. */
    uint64_t done = child.done;
    if (s->l->any_order) {
        memcpy(s->numbers, beam_row_of(&s->beam, s->at), (size_t)s->slot_count * sizeof *s->numbers);
        s->numbers[s->slot_count - 2] = (int32_t)(uint32_t)done;
        s->numbers[s->slot_count - 1] = (int32_t)(uint32_t)(done >> 32);
    }
    for (int i = 0; i < s->count; i++) {
        int32_t slot = s->slot[s->m->uses[s->uses[i]].tensor];
        s->numbers[s->l->any_order ? slot : i] = (int32_t)s->now[i].after;
    }
    beam_offer(&s->beam, s->at, choice, &child, s->numbers);
}

/* Enumerates the outcomes of use i and later uses. */
static void keep_go_through(struct keep_walk *s, int i)
{
    struct keep_outcome all[KEEP_OUTCOMES];
    if (i == s->count) {
        int leaf = s->leaves++;
        if (leaf == s->wanted)
            memcpy(s->chosen, s->now, sizeof s->now);
        else if (s->wanted < 0 && leaf < MOST_LEAVES)
            keep_add_child(s, s->l->any_order ? s->op * MOST_LEAVES + leaf : leaf);
        else if (s->wanted < 0)
            s->dropped = fmin(s->dropped, s->node->least);
        return;
    }
    if (s->leaves > MOST_LEAVES) return;
    const struct keep_use *u = &s->m->uses[s->uses[i]];
    uint64_t done = s->l->any_order ? s->done | (uint64_t)1 << s->op : 0;
    int count = keep_outcomes(s->m, u, s->states[i], later_of(s, u, done), all);
    for (int k = 0; k < count; k++) {
        s->now[i] = all[k];
        keep_go_through(s, i + 1);
    }
}

/* Expands a row by one op. */
static void keep_expand(struct keep_walk *s, const int32_t *row, int32_t op, int wanted)
{
    const struct keep_model *m = s->m;
    s->op = op;
    s->count = m->op_at[op + 1] - m->op_at[op];
    s->leaves = 0;
    s->wanted = wanted;
    for (int i = 0; i < s->count; i++) {
        s->uses[i] = m->op_use[m->op_at[op] + i];
        s->states[i] = (enum keep_state)row[s->slot[m->uses[s->uses[i]].tensor]];
    }
    keep_go_through(s, 0);
}

/* Assigns slots to the tensors; in any order one each, and two for the bits of the ops done. */
static void keep_make_slots(struct keep_walk *s)
{
    const struct keep_model *m = s->m;
    size_t tensors = (size_t)m->tensor_count;
    int32_t *from = arena_array(&s->memory, tensors, sizeof *from), count = 0;
    int32_t *to = arena_array(&s->memory, tensors, sizeof *to),
            *nth = arena_array(&s->memory, tensors, sizeof *nth);
    int32_t *slot = arena_array(&s->memory, tensors, sizeof *slot);
    s->slot = arena_array(&s->memory, tensors, sizeof *s->slot);
    for (int32_t o = 0; o < m->op_count; o++)
        for (int32_t k = m->op_at[o]; k < m->op_at[o + 1]; k++) {
            int32_t tensor = m->uses[m->op_use[k]].tensor;
            const struct keep_tensor *t = &m->tensors[tensor];
            if (m->op_use[k] != t->first) continue;
            nth[tensor] = count;
            from[count] = o;
            to[count++] = m->uses[t->first + t->count - 1].op + 1;
        }
    s->slot_count = s->l->any_order ? m->tensor_count + 2 : beam_slots(from, to, count, slot);
    for (int32_t t = 0; t < m->tensor_count; t++) s->slot[t] = s->l->any_order ? t : slot[nth[t]];
    s->changed = arena_array(&s->memory, (size_t)s->slot_count + LX_MAX_OPERANDS, sizeof *s->changed);
    s->numbers = arena_array(&s->memory, (size_t)s->slot_count + LX_MAX_OPERANDS, sizeof *s->numbers);
    for (int32_t k = 0; k < s->slot_count; k++) s->changed[k] = k;
}

static void keep_walk_ops(struct keep_walk *s)
{
    const struct keep_model *m = s->m;
    for (int32_t tick = 0; tick < m->op_count && s->beam.count > 0; tick++) {
        int32_t count = s->slot_count;
        if (!s->l->any_order) {
            count = m->op_at[tick + 1] - m->op_at[tick];
            for (int32_t i = 0; i < count; i++)
                s->changed[i] = s->slot[m->uses[m->op_use[m->op_at[tick] + i]].tensor];
        }
        beam_step(&s->beam, s->changed, count);
        for (s->at = 0; s->at < s->beam.count; s->at++) {
            const int32_t *row = beam_row_of(&s->beam, s->at);
            s->node = beam_node_of(&s->beam, s->at);
            s->done = s->node->done;
            if (s->at % POLL_EVERY == 0 && (s->stopped = lx_run_stopped(s->l->run))) return;
            if (!s->l->any_order) keep_expand(s, row, tick, -1);
            for (int32_t o = 0; s->l->any_order && o < m->op_count; o++)
                if (!(s->done >> o & 1) && (s->before[o] & ~s->done) == 0) keep_expand(s, row, o, -1);
        }
        beam_settle(&s->beam);
    }
}

/* Makes the choice that led to last state `at`, by replaying the outcome of each op. */
static void list_choice(struct keep_walk *s, int32_t at, struct arena *memory, struct keep_choice *out)
{
    const struct keep_model *m = s->m;
    size_t ops = (size_t)m->op_count, uses = (size_t)m->use_count;
    int32_t *order = arena_array(memory, ops, sizeof *order),
            *place = arena_array(memory, ops, sizeof *place),
            *choices = arena_array(memory, ops, sizeof *choices),
            *row = arena_array(memory, (size_t)s->slot_count, sizeof *row);
    bool *kept = arena_array(memory, uses, sizeof *kept),
         *alone = arena_array(memory, uses, sizeof *alone); /* loaded for the reads of this use */
    int32_t *by_time = arena_array(memory, uses, sizeof *by_time);
    *out = (struct keep_choice){.cost = ((const struct keep_node *)beam_node_of(&s->beam, at))->cost,
                                .order = s->l->any_order ? order : NULL,
                                .kept = kept,
                                .cuts = arena_array(memory, uses, sizeof *out->cuts)};
    beam_trace(&s->beam, at, choices);
    s->done = 0;
    for (int32_t tick = 0; tick < m->op_count; tick++) {
        int32_t op = s->l->any_order ? choices[tick] / MOST_LEAVES : tick;
        keep_expand(s, row, op, choices[tick] % MOST_LEAVES);
        order[tick] = op;
        place[op] = tick;
        for (int i = 0; i < s->count; i++) {
            const struct keep_outcome *now = &s->chosen[i];
            kept[s->uses[i]] = keep_on_chip(now->after);
            alone[s->uses[i]] = now->on && !now->fresh && !keep_on_chip(s->states[i]);
            row[s->slot[m->uses[s->uses[i]].tensor]] = (int32_t)s->chosen[i].after;
        }
        if (s->l->any_order) s->done |= (uint64_t)1 << op;
    }
    /* A tensor that is not kept between two uses is cut there, if it is on chip at one of them. */
    for (int32_t t = 0; m->cuts && t < m->tensor_count; t++) {
        const struct keep_tensor *tensor = &m->tensors[t];
        for (int32_t k = 0; k < tensor->count; k++) { /* sort the uses by tick: ops may be reordered */
            int32_t to = k, tick = place[m->uses[tensor->first + k].op];
            for (; to > 0 && place[m->uses[by_time[to - 1]].op] > tick; to--) by_time[to] = by_time[to - 1];
            by_time[to] = tensor->first + k;
        }
        for (int32_t k = 0; k + 1 < tensor->count; k++) {
            const struct keep_use *next = &m->uses[by_time[k + 1]];
            bool before = alone[by_time[k]] || (k > 0 && kept[by_time[k - 1]]),
                 behind = alone[by_time[k + 1]] || kept[by_time[k + 1]];
            if (kept[by_time[k]] || next->run != m->uses[by_time[k]].run || !(before || behind)) continue;
            out->cuts[out->cut_count++] = (struct cut){t, place[next->op]};
        }
    }
}

struct keep_last {
    int64_t cost;
    int32_t from, at;
};

ORDER(keep_by_cost, struct keep_last, ORDER_UP(cost) ORDER_UP(from) ORDER_UP(at));

static void keep_list_all(struct keep_walk *s, struct arena *memory, struct keep_found *out)
{
    size_t count = (size_t)s->beam.count;
    struct keep_last *last = arena_array(memory, count, sizeof *last);
    bool all = s->beam.count <= s->l->choices;
    for (int32_t i = 0; i < s->beam.count; i++) {
        const struct keep_node *n = beam_node_of(&s->beam, i);
        int32_t from = s->m->op_count ? beam_origin_of(&s->beam, (size_t)s->m->op_count - 1, i).from : 0;
        last[i] = (struct keep_last){n->cost, from, i};
    }
    if (count) qsort(last, count, sizeof *last, keep_by_cost);
    if (s->beam.dropped < INT64_MAX) {
        int64_t rank = s->beam.dropped ^ ((s->beam.dropped >> 63) & INT64_MAX);
        double least;
        memcpy(&least, &rank, sizeof least);
        s->dropped = fmin(s->dropped, least);
    }
    out->count = all ? s->beam.count : s->l->choices;
    out->at = arena_array(memory, (size_t)out->count, sizeof *out->at);
    out->complete = all && !s->beam.merged && isinf(s->dropped);
    out->bound = isinf(s->dropped) ? s->l->below : min_i64(s->l->below, keep_grains(s, s->dropped));
    if (count) out->bound = min_i64(out->bound, last[0].cost);
    for (int32_t i = 0; i < out->count; i++) list_choice(s, last[i].at, memory, &out->at[i]);
}

int32_t keep_width(const struct draft *x)
{
    return (int32_t)max_i64(16, min_i64(20000, 100000 / (x->graph->op_count + 1)));
}

void keep_search(const struct keep_model *m, const struct keep_limits *l, struct arena *memory,
                 struct keep_found *out)
{
    struct keep_walk s = {.m = m, .l = l, .dropped = INFINITY, .op = -1};
    struct keep_node root = {.cost = 0};
    *out = (struct keep_found){0};
    keep_make_slots(&s);
    if (l->any_order) {
        /* Per op, the bits of the ops that must come before it. */
        struct op_order order;
        s.before = arena_array(&s.memory, (size_t)s.m->op_count, sizeof *s.before);
        op_order_make(&order, s.m->x->graph);
        for (size_t e = 0; e < order.edges.count; e++)
            s.before[order.edges.at[e].after] |= (uint64_t)1 << order.edges.at[e].before;
        op_order_free(&order);
    }
    const struct beam_rules rules = {.width = l->width,
                                     .slots = s.slot_count,
                                     .room = 4 * l->width + 64,
                                     .node_size = sizeof root,
                                     .cut = INT64_MAX,
                                     .by_tie = true, /* the tie is -cost: keep the cheaper */
                                     .histories = !l->no_history};
    for (int32_t t = 0; t < m->tensor_count; t++)
        if (m->tensors[t].count)
            root.rest += l->any_order ? still_moves(&s, t, KEEP_HBM, 0)
                                      : m->ahead[KEEP_STATES * m->tensors[t].first + KEEP_HBM];
    root.least = keep_total(&s, &root);
    beam_begin(&s.beam, &rules, &root, NULL);
    keep_walk_ops(&s);
    if (!s.stopped) keep_list_all(&s, memory, out);
    beam_end(&s.beam);
    arena_free(&s.memory);
}
