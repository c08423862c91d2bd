/* Cuts over a whole graph: op by op, with every choice so far that can still matter.
 *
 * A choice so far matters by the states of the tensors that are still to be read, and by what was brought of them; of those
 * that agree in this the cheapest is kept. The best of them go on (cut_beam.c), so that the answer is the best of all
 * choices unless some were dropped. Equal ones are told apart by their order, so that the answer is the same everywhere. */
#include "team/cut_layers.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { BROUGHT = CUT_BROUGHT, NOT_JOINED = -100 };

struct searcher {
    const struct cut_question *q;
    struct cut_prices *prices;
    struct layer *layers;    /* one more than ops */
    int32_t *last, *readers; /* per tensor: the last op that touches it; how many inputs it is */
    int32_t *writer;         /* per tensor: the last op so far that wrote it */
    bool *parts, *changed,
        *settled; /* per tensor: may be read as parts; some of it is changed later; its state is in the answer */
    cut_ways ways;
    /* Of the op at hand. */
    int32_t o;
    struct op_index x;
    int slot_of[LX_MAX_OPERANDS], slot_count; /* per operand */
    struct cut_state *chosen, *joins;         /* of first ones; per operand that is joined now */
    int32_t *table;
    size_t room;
    struct cut_repeats repeats;
    enum cut_along along;
    size_t most;
    bool dropped;
};

static bool cheaper(const struct searcher *s, struct cut_cost a, struct cut_cost b)
{
    return cut_cheaper(s->q, a, b);
}

static void note_uses(struct searcher *s)
{
    for (int32_t o = 0; o < s->q->g->op_count; o++) {
        const struct lx_op *op = &s->q->g->ops[o];
        for (int i = 0; i < op->input_count; i++) {
            s->last[op->inputs[i]] = o;
            s->readers[op->inputs[i]]++;
        }
        for (int i = op->input_count; i < op_operand_count(op); i++) {
            s->last[op_operand(op, i)] = o;
            s->changed[op_operand(op, i)] |= op_keeps_rest(op);
        }
    }
}

static int find_tensor(const struct layer *l, int32_t t)
{
    for (int k = 0; k < l->live; k++)
        if (l->tensors[k] == t) return k;
    return -1;
}

/* Slots of the op's operands, and which of them are new. */
static void place_operands(struct searcher *s, const struct layer *from, struct layer *to)
{
    const struct lx_op *op = &s->q->g->ops[s->o];
    to->first_count = 0;
    s->slot_count = from->live;
    for (int i = 0; i < op_operand_count(op); i++) {
        int32_t t = op_operand(op, i);
        int at = find_tensor(from, t);
        for (int f = 0; at < 0 && f < to->first_count; f++)
            if (to->first[f] == t) at = from->live + f;
        if (at < 0) at = s->slot_count++, to->first[to->first_count++] = t;
        s->slot_of[i] = at;
    }
}

/* The tensors that are live afterwards, as slots of the hypothesis at hand. */
static bool list_live(struct searcher *s, const struct layer *from, struct layer *to, int *kept)
{
    to->tensors = calloc((size_t)s->slot_count + 1, sizeof *to->tensors);
    if (!to->tensors) return false;
    for (int k = 0; k < s->slot_count; k++) {
        int32_t t = k < from->live ? from->tensors[k] : to->first[k - from->live];
        if (s->last[t] <= s->o) continue;
        kept[to->live] = k;
        to->tensors[to->live++] = t;
    }
    return true;
}

static bool grow_table(struct searcher *s, const struct layer *to)
{
    size_t room = s->room ? 2 * s->room : 4096;
    int32_t *table = malloc(room * sizeof *table);
    if (!table) return false;
    memset(table, 0xff, room * sizeof *table);
    for (size_t h = 0; h < to->all.count; h++) {
        size_t at = (size_t)cut_hash_slots(to->slots.at + h * (size_t)to->live, to->live) & (room - 1);
        while (table[at] >= 0) at = (at + 1) & (room - 1);
        table[at] = (int32_t)h;
    }
    free(s->table);
    s->table = table;
    s->room = room;
    return true;
}

/* A hypothesis behind the op, unless there is one like it that costs no more. */
static bool keep(struct searcher *s, struct layer *to, const struct slot *slots, struct hypothesis h)
{
    if (2 * to->all.count >= s->room && !grow_table(s, to)) return false;
    size_t live = (size_t)to->live, at = (size_t)cut_hash_slots(slots, to->live) & (s->room - 1);
    while (s->table[at] >= 0 && !cut_same_slots(to->slots.at + (size_t)s->table[at] * live, slots, to->live))
        at = (at + 1) & (s->room - 1);
    int32_t old = s->table[at];
    if (old >= 0 && !cheaper(s, h.cost, to->all.at[old].cost)) return true;
    bool ok = true;
    if (old < 0) {
        s->table[at] = (int32_t)to->all.count;
        ok = VEC_PUSH(&to->all, h);
        for (size_t k = 0; ok && k < live; k++) ok = VEC_PUSH(&to->slots, slots[k]);
        for (int f = 0; ok && f < to->first_count; f++) ok = VEC_PUSH(&to->firsts, s->chosen[f]);
        for (int i = 0; ok && i < to->operand_count; i++) ok = VEC_PUSH(&to->joins, s->joins[i]);
        return ok;
    }
    to->all.at[old] = h;
    for (int i = 0; i < to->operand_count; i++)
        to->joins.at[(size_t)old * (size_t)to->operand_count + (size_t)i] = s->joins[i];
    for (int f = 0; f < to->first_count; f++)
        to->firsts.at[(size_t)old * (size_t)to->first_count + (size_t)f] = s->chosen[f];
    return true;
}

static bool is_brought(const struct slot *slot, uint32_t what)
{
    for (int b = 0; b < BROUGHT; b++)
        if (slot->brought[b] == what) return true;
    return false;
}

/* A choice in the making: what stood before, the way, the slots behind it. */
struct attempt {
    const struct layer *from;
    struct layer *to;
    int32_t parent, way;
    const int *kept;
    struct slot *room;
};

static void pay(struct cut_cost *sum, struct cut_cost one)
{
    sum->bytes += one.bytes;
    sum->us += one.us;
}

/* The state that a result must have: it is fixed, or some of it is there already; NULL: any. */
static const struct cut_state *demanded(const struct searcher *s, const struct attempt *a, int operand)
{
    int32_t t = op_operand(&s->q->g->ops[s->o], operand);
    size_t at = (size_t)s->slot_of[operand], live = (size_t)a->from->live;
    if (s->q->fixed[t]) return &s->q->state[t];
    return at < live ? &a->from->slots.at[(size_t)a->parent * live + at].state : NULL;
}

static bool made_of_parts(const struct lx_op *op, const struct cut_way *way)
{
    for (int i = 0; i < op->input_count; i++)
        if (cut_reads_parts(op, i, way->var)) return true;
    return false;
}

/* All is joined that must be: reads are paid for, results stand as they were made. */
static bool finish(struct searcher *s, const struct attempt *a, struct cut_cost cost)
{
    const struct lx_op *op = &s->q->g->ops[s->o];
    const struct cut_way *way = &s->ways.at[a->way];
    struct slot *after = a->room + s->slot_count, *ends = after + s->slot_count;
    memcpy(ends, a->room, (size_t)s->slot_count * sizeof *ends);
    for (int i = 0; i < op->input_count; i++) {
        struct slot *slot = &ends[s->slot_of[i]];
        if (cut_reads_parts(op, i, way->var)) continue;
        struct cut_price price = cut_price_read(s->prices, s->o, i, slot->state, way->var);
        if (!price.brings || is_brought(slot, price.brings)) continue;
        pay(&cost, price.cost);
        memmove(slot->brought + 1, slot->brought, (BROUGHT - 1) * sizeof *slot->brought);
        slot->brought[0] = price.brings;
    }
    for (int i = op->input_count; i < op_operand_count(op); i++) {
        bool joins = s->joins[i].at[0] != NOT_JOINED;
        ends[s->slot_of[i]] = (struct slot){.made = way->out,
                                            .state = joins ? s->joins[i] : way->out,
                                            .joined = joins || !cut_has_parts(way->out),
                                            .apart = made_of_parts(op, way)};
    }
    for (int k = 0; k < a->to->live; k++) after[k] = ends[a->kept[k]];
    return keep(s, a->to, after, (struct hypothesis){cost, a->parent, a->way});
}

/* Must the operand be joined now, and from what state? */
static bool to_join(const struct searcher *s, const struct attempt *a, int operand, struct cut_state *made)
{
    const struct lx_op *op = &s->q->g->ops[s->o];
    const struct cut_way *way = &s->ways.at[a->way];
    const struct slot *slot = &a->room[s->slot_of[operand]];
    *made = operand < op->input_count ? slot->made : way->out;
    if (operand < op->input_count) return !slot->joined && !cut_reads_parts(op, operand, way->var);
    int32_t t = op_operand(op, operand);
    bool stays = lx_role_leaves(s->q->g->tensors[t].role) || s->changed[t] || demanded(s, a, operand);
    return cut_has_parts(way->out) && stays;
}

/* The state that it must then have, or NULL; may its joined blocks be other than those of its parts? */
static const struct cut_state *wanted(const struct searcher *s, const struct attempt *a, int operand,
                                      bool *apart)
{
    const struct lx_op *op = &s->q->g->ops[s->o];
    int32_t t = op_operand(op, operand);
    bool result = operand >= op->input_count;
    *apart = result ? made_of_parts(op, &s->ways.at[a->way]) : a->room[s->slot_of[operand]].apart;
    if (result) return demanded(s, a, operand);
    return s->q->fixed[t] ? &s->q->state[t] : NULL;
}

/* Operands from `operand` on are joined in every way that there is. */
static bool join_from(struct searcher *s, const struct attempt *a, int operand, struct cut_cost cost)
{
    const struct lx_op *op = &s->q->g->ops[s->o];
    struct cut_state made, joins[CUT_JOINS];
    while (operand < op_operand_count(op) && !to_join(s, a, operand, &made)) operand++;
    if (operand == op_operand_count(op)) return finish(s, a, cost);
    int32_t t = op_operand(op, operand);
    bool result = operand >= op->input_count, ok = true, apart;
    const struct cut_state *must = wanted(s, a, operand, &apart);
    struct slot *slot = &a->room[s->slot_of[operand]];
    const struct slot before = *slot;
    int count = cut_joins_of(&s->q->g->tensors[t], &s->q->grid, made, joins);
    for (int n = 0; ok && n < count; n++) {
        struct cut_cost all = cost;
        if ((must && !cut_same(*must, joins[n])) || (apart && cut_shares(made, joins[n]))) continue;
        pay(&all, cut_price_join(s->prices, result ? s->o : s->writer[t], made, joins[n]));
        s->joins[operand] = joins[n];
        if (!result) slot->joined = true, slot->state = joins[n];
        ok = join_from(s, a, operand + 1, all);
        s->joins[operand].at[0] = NOT_JOINED;
        *slot = before;
    }
    return ok;
}

/* Do parts that the way reads lie where it reads them? */
static bool parts_are_there(struct searcher *s, const struct attempt *a)
{
    const struct lx_op *op = &s->q->g->ops[s->o];
    struct cut_state var = s->ways.at[a->way].var;
    for (int i = 0; i < op->input_count; i++) {
        struct slot *slot = &a->room[s->slot_of[i]];
        if (!cut_reads_parts(op, i, var)) continue;
        if (!cut_takes_parts(op, i, var, slot->made) || (slot->joined && cut_shares(slot->made, slot->state)))
            return false;
        if (cut_price_read(s->prices, s->o, i, slot->made, var).brings) return false;
        slot->apart = true;
    }
    return true;
}

/* The way taken, with states of first ones as they are chosen. */
static bool take_way(struct searcher *s, const struct layer *from, struct layer *to, int32_t parent,
                     int32_t w, const int *kept, struct slot *room)
{
    struct attempt a = {from, to, parent, w, kept, room};
    struct cut_cost cost = from->all.at[parent].cost;
    for (int k = 0; k < from->live; k++)
        room[k] = from->slots.at[(size_t)parent * (size_t)from->live + (size_t)k];
    for (int f = 0; f < to->first_count; f++)
        room[from->live + f] = (struct slot){s->chosen[f], s->chosen[f], true, false, {0}};
    if (!parts_are_there(s, &a)) return true;
    pay(&cost, cut_price_op(s->prices, s->o, &s->ways.at[w]));
    return join_from(s, &a, 0, cost);
}

/* Chooses states of the tensors that the op is the first to touch, one after the other. */
static bool choose_firsts(struct searcher *s, const struct layer *from, struct layer *to, int32_t parent,
                          int32_t w, const int *kept, struct slot *room, int f)
{
    if (f == to->first_count) return take_way(s, from, to, parent, w, kept, room);
    const struct lx_op *op = &s->q->g->ops[s->o];
    int32_t t = to->first[f];
    int input = 0;
    struct cut_state whole = {{-1, -1, -1}};
    while (input < op->input_count && op->inputs[input] != t) input++;
    s->chosen[f] = s->q->fixed[t]             ? s->q->state[t]
                   : input == op->input_count ? s->ways.at[w].out
                                              : cut_need_of(&s->x, op, input, s->ways.at[w].var);
    if (!choose_firsts(s, from, to, parent, w, kept, room, f + 1)) return false;
    if (s->q->fixed[t] || input == op->input_count || s->readers[t] < 2 || cut_same(s->chosen[f], whole))
        return true;
    s->chosen[f] = whole;
    return choose_firsts(s, from, to, parent, w, kept, room, f + 1);
}

/* Can the results be in states that they must have? What is joined is looked at then. */
static bool fits(const struct searcher *s, const struct layer *from, int32_t parent, int32_t w)
{
    const struct lx_op *op = &s->q->g->ops[s->o];
    const struct attempt a = {.from = from, .parent = parent};
    struct cut_state out = s->ways.at[w].out, var = s->ways.at[w].var;
    if (s->along != CUT_FREELY)
        for (int axis = 0; axis < s->q->grid.axes; axis++) {
            if (s->along == CUT_TOGETHER ? var.at[axis] != var.at[0]
                                         : axis != (int)s->along && var.at[axis] != -1)
                return false;
        }
    for (int i = op->input_count; i < op_operand_count(op); i++) {
        const struct cut_state *must = demanded(s, &a, i);
        if (must && !cut_has_parts(out) && !cut_same(out, *must)) return false;
    }
    return true;
}

static bool expand(struct searcher *s, struct layer *from, struct layer *to)
{
    const struct lx_op *op = &s->q->g->ops[s->o];
    op_index_of(s->q->g, op, &s->x);
    place_operands(s, from, to);
    size_t slots = (size_t)s->slot_count + 1;
    int *kept = calloc(slots, sizeof *kept);
    struct slot *room = calloc(3 * slots, sizeof *room);
    struct cut_state chosen[LX_MAX_OPERANDS], joins[LX_MAX_OPERANDS];
    for (int i = 0; i < LX_MAX_OPERANDS; i++) joins[i] = (struct cut_state){{NOT_JOINED, 0, 0}};
    s->chosen = chosen;
    s->joins = joins;
    to->operand_count = op_operand_count(op);
    if (s->room) memset(s->table, 0xff, s->room * sizeof *s->table);
    bool ok = kept && room && list_live(s, from, to, kept) &&
              cut_ways_of(s->q->g, &s->q->grid, s->o, s->parts, &s->ways);
    for (size_t h = 0; ok && h < from->all.count; h++)
        for (size_t w = 0; ok && w < s->ways.count; w++)
            if (fits(s, from, (int32_t)h, (int32_t)w))
                ok = choose_firsts(s, from, to, (int32_t)h, (int32_t)w, kept, room, 0);
    for (int i = op->input_count; i < op_operand_count(op); i++) s->writer[op_operand(op, i)] = s->o;
    free(kept);
    free(room);
    if (!cut_repeats_border(&s->repeats, s->o)) VEC_FREE(&from->slots);
    return ok &&
           cut_drop(&(struct cut_beam){s->q, s->prices, s->o, s->parts, s->writer, s->most}, to, &s->dropped);
}

/* What is told last of a tensor holds: how it was joined, else how it was made. */
static void settle(struct searcher *s, struct cut_answer *out, int32_t t, struct cut_state state)
{
    if (s->settled[t] || s->q->fixed[t]) return;
    s->settled[t] = true;
    out->tensors[t] = state;
}

/* From the best at the end back to the first op. */
static bool trace_back(struct searcher *s, struct cut_answer *out)
{
    const struct lx_graph *g = s->q->g;
    struct layer *end = &s->layers[g->op_count];
    size_t best = 0;
    for (size_t h = 1; h < end->all.count; h++)
        if (cheaper(s, end->all.at[h].cost, end->all.at[best].cost)) best = h;
    out->cost = end->all.at[best].cost;
    for (int32_t o = g->op_count; o-- > 0;) {
        const struct layer *l = &s->layers[o + 1];
        const struct hypothesis *h = &l->all.at[best];
        if (!cut_ways_of(g, &s->q->grid, o, s->parts, &s->ways)) return false;
        out->ways[o] = s->ways.at[h->way];
        for (int i = 0; i < l->operand_count; i++) {
            struct cut_state joined = l->joins.at[best * (size_t)l->operand_count + (size_t)i];
            if (joined.at[0] != NOT_JOINED) settle(s, out, op_operand(&g->ops[o], i), joined);
        }
        for (int i = g->ops[o].input_count; i < op_operand_count(&g->ops[o]); i++)
            settle(s, out, op_operand(&g->ops[o], i), out->ways[o].out);
        for (int f = 0; f < l->first_count; f++)
            settle(s, out, l->first[f], l->firsts.at[best * (size_t)l->first_count + (size_t)f]);
        best = (size_t)h->parent;
    }
    return true;
}

static void free_layer(struct layer *l)
{
    if (!l->borrowed) {
        VEC_FREE(&l->all);
        VEC_FREE(&l->firsts);
        VEC_FREE(&l->joins);
    }
    VEC_FREE(&l->slots);
    free(l->tensors);
}

/* Layers that go as the one before. */
static bool pass_layers(struct searcher *s)
{
    bool ok = true;
    int32_t from = s->o;
    s->o = cut_repeats_go(&s->repeats, s->o, &ok);
    for (int32_t o = from; o < s->o; o++) {
        const struct lx_op *op = &s->q->g->ops[o];
        for (int i = op->input_count; i < op_operand_count(op); i++) s->writer[op_operand(op, i)] = o;
    }
    return ok;
}

bool cut_search_along(const struct cut_question *q, struct cut_prices *prices, enum cut_along along,
                      size_t most, struct cut_answer *out, bool *dropped)
{
    size_t ops = (size_t)q->g->op_count, tensors = (size_t)q->g->tensor_count + 1;
    struct searcher s = {.q = q,
                         .prices = prices,
                         .along = along,
                         .most = most,
                         .layers = calloc(ops + 1, sizeof *s.layers),
                         .last = calloc(tensors, sizeof *s.last),
                         .readers = calloc(tensors, sizeof *s.readers),
                         .writer = calloc(tensors, sizeof *s.writer),
                         .parts = calloc(tensors, sizeof *s.parts),
                         .changed = calloc(tensors, sizeof *s.changed),
                         .settled = calloc(tensors, sizeof *s.settled)};
    bool ok = s.layers && s.last && s.readers && s.writer && s.parts && s.changed && s.settled &&
              VEC_PUSH(&s.layers[0].all, ((struct hypothesis){{0, 0}, -1, -1}));
    for (int32_t t = 0; t < q->g->tensor_count; t++)
        out->tensors[t] = q->fixed[t] ? q->state[t] : (struct cut_state){{-1, -1, -1}};
    if (ok) note_uses(&s);
    if (ok) cut_find_parts(q->g, s.parts);
    s.repeats = (struct cut_repeats){.q = q,
                                     .layers = s.layers,
                                     .class = ok ? cut_classes(s.prices) : NULL,
                                     .last = s.last,
                                     .readers = s.readers,
                                     .flags = {s.parts, s.changed}};
    ok = ok && cut_repeats_find(&s.repeats);
    out->stuck = -1;
    for (s.o = 0; ok && s.o < q->g->op_count; s.o++) {
        ok = pass_layers(&s);
        if (!ok || s.o == q->g->op_count) break;
        ok = expand(&s, &s.layers[s.o], &s.layers[s.o + 1]);
        if (ok && s.layers[s.o + 1].all.count == 0) ok = false, out->stuck = s.o;
    }
    ok = ok && trace_back(&s, out);
    *dropped = s.dropped;
    for (size_t l = 0; s.layers && l <= ops; l++) free_layer(&s.layers[l]);
    cut_repeats_free(&s.repeats);
    VEC_FREE(&s.ways);
    free(s.layers);
    free(s.last);
    free(s.readers);
    free(s.writer);
    free(s.parts);
    free(s.changed);
    free(s.settled);
    free(s.table);
    return ok;
}
