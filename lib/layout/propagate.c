/* Chooses a way for each op with a beam search over ops in execution order (network/beam.h).
 *
 * A state holds the stick and the copies of each live tensor. Its cost is the elements that restickifies
 * move, then memory. A state is dropped if a cheaper one could make the same copies for no more. The search
 * is exact up to WIDTH states per layer.
 *
 * The least movement may mean sparse layouts everywhere. If the layouts of an answer are TOO_LARGE times the
 * least, a second search minimizes moved plus laid-out elements. Inputs with one reader take no part in
 * states. */
#include "layout/stick_search.h"

enum { NARROW = 12, WIDTH = 200, MAX_NODES = 20000000 };
/* Limit on slots over all states: more ops and slots mean a narrower beam. */
enum { MAX_SLOTS = 300000000 };
/* Layouts are too large at this multiple of the least elements. */
enum { TOO_LARGE = 4 };

/* A lower bound on the cost of an op: its graph inputs that need a restickify in every way. */
static int64_t least_cost(const struct stick_search *s, int32_t o)
{
    const struct lx_op *op = &s->g->ops[o];
    struct op_index x;
    struct stick_way ways[MAX_STICK_WAYS];
    op_index_of(s->g, op, &x);
    int count = stick_ways(s->g, op, &x, ways);
    int64_t least = INT64_MAX;
    for (int w = 0; w < count && least > 0; w++) {
        int64_t cost = stick_realign_cost(s, op, &ways[w]);
        for (int i = 0; i < op->input_count; i++) {
            const struct lx_tensor *t = &s->g->tensors[op->inputs[i]];
            bool fixed = !s->uses.written[op->inputs[i]] && s->uses.readers[op->inputs[i]] == 1 &&
                         t->rank >= 0 && !s->uses.packed[op->inputs[i]];
            int stick = stick_default(t);
            int wanted = stick_for_need(ways[w].need[i]);
            if (fixed && !stick_satisfies(t, stick, ways[w].need[i]))
                cost = add_saturated(cost,
                                     stick_move_cost(&s->costs, op->inputs[i], COPIES(FRESH(stick)), wanted));
        }
        least = min_i64(least, cost);
    }
    return least;
}

/* Gives slots to tensors that exist before the first op, and fills least_after. */
static void propagate_prepare(struct stick_search *s)
{
    const struct lx_graph *g = s->g;
    size_t tensors = (size_t)g->tensor_count;
    tensor_uses_make(g, s->alive, s->weights, &s->uses);
    s->slot_count = s->uses.most_live;
    s->slot = arena_array(&s->memory, tensors, sizeof *s->slot);
    s->tensor_at = arena_array(&s->memory, (size_t)s->slot_count, sizeof *s->tensor_at);
    s->free_slots = arena_array(&s->memory, (size_t)s->slot_count, sizeof *s->free_slots);
    s->row = arena_array(&s->memory, (size_t)s->slot_count, sizeof *s->row);
    s->least_after = arena_array(&s->memory, (size_t)g->op_count + 1, sizeof *s->least_after);
    for (int32_t i = s->slot_count; i-- > 0;) s->free_slots[s->free_count++] = i;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        s->slot[t] = -1;
        if ((s->uses.written[t] || s->uses.readers[t] < 2) &&
            (g->tensors[t].role != LX_STATE || s->uses.first[t] < 0))
            continue;
        stick_take_slot(s, t);
        s->row[s->slot[t]] = s->uses.packed[t] ? 0 : FRESH(stick_default(&g->tensors[t]));
    }
    for (int32_t o = g->op_count; o-- > 0;)
        s->least_after[o] = add_saturated(s->least_after[o + 1], s->alive[o] ? least_cost(s, o) : 0);
}

/* Arguments of one search. */
struct stick_question {
    const struct lx_graph *g;
    const bool *alive;
    int32_t width;
    enum lx_weights weights;
    bool by_size;
};

/* One search. `limit` is the cost of a known answer. On cancellation it fails if an answer is known;
 * otherwise it goes on with a beam of one. */
static bool propagate_search(const struct stick_question *q, int32_t width, int64_t limit,
                             struct stick_plan *out, lx_status *st)
{
    struct stick_search s = {
        .g = q->g, .alive = q->alive, .weights = q->weights, .costs = out->costs, .by_size = q->by_size};
    propagate_prepare(&s);
    int64_t most = MAX_SLOTS / ((int64_t)(s.slot_count + 1) * (q->g->op_count + 1));
    if (width > most) width = (int32_t)max_i64(most, NARROW);
    const struct beam_rules rules = {.width = width,
                                     .slots = s.slot_count,
                                     .node_size = sizeof(struct stick_node),
                                     .cut = limit < INT64_MAX ? limit + 1 : INT64_MAX,
                                     .dominates = stick_dominates,
                                     .context = &s,
                                     .first_place = true};
    beam_begin(&s.beam, &rules, &(struct stick_node){.moved = 0}, s.row);
    bool ok = true;
    for (int32_t o = 0; ok && o < q->g->op_count;)
        if (!q->alive[o])
            o++;
        else if (limit < INT64_MAX && cancel_requested())
            ok = status_cancelled(st);
        else {
            const struct lx_op *op = &q->g->ops[o];
            stick_begin_op(&s, o);
            for (int32_t i = 0; i < s.beam.count; i++)
                for (int w = 0; w < s.way_count; w++) stick_offer(&s, o, i, w);
            stick_end_op(&s, o++, cancel_requested() ? 1 : width);
            ok =
                s.beam.count > 0 ||
                status_set_at(
                    st, LX_E_LAYOUT, q->g->file, op->line, 1,
                    "op %s (%s): no layout of %s lets it be written; write the parts to tensors of their own",
                    op->name, op->kind->name, q->g->tensors[op->output].name);
        }
    if (ok) {
        out->moved = stick_node_of(&s, 0)->moved;
        out->footprint = stick_node_of(&s, 0)->footprint;
        out->bound = min_i64(out->moved, s.beam.dropped);
        /* The ways of the cheapest state. */
        int32_t *ways = arena_array(&s.memory, s.beam.layers.count, sizeof *ways);
        beam_trace(&s.beam, 0, ways);
        for (int32_t o = 0; o < s.g->op_count; o++) {
            struct op_index x;
            if (!s.alive[o]) continue;
            op_index_of(s.g, &s.g->ops[o], &x);
            stick_ways(s.g, &s.g->ops[o], &x, s.ways);
            out->way[o] = s.ways[*ways++];
        }
    }
    beam_end(&s.beam);
    tensor_uses_free(&s.uses);
    arena_free(&s.memory);
    return ok;
}

/* Searches with a narrow beam first: it often proves its answer, otherwise it limits the wide search. */
static bool search_twice(const struct stick_question *q, struct stick_plan *out, lx_status *st)
{
    lx_status none = {0};
    bool found = propagate_search(q, NARROW, INT64_MAX, out, &none);
    if (found && (out->bound == out->moved || cancel_requested())) return true;
    if (found) {
        /* All states of the wide beam may end above the limit; then the narrow answer stands. */
        if (!propagate_search(q, q->width, out->moved, out, st)) *st = none;
        return true;
    }
    bool cancelled = cancel_requested(); /* the search went on with a beam of one */
    struct cancel shield;                /* there is no answer yet: ignore the cancellation */
    cancel_shield(&shield);
    bool ok = (cancelled && propagate_search(q, NARROW, INT64_MAX, out, &none)) ||
              propagate_search(q, q->width, INT64_MAX, out, st);
    cancel_end(&shield);
    return ok;
}

/* If the layouts of `out` are too large, replaces it by the answer of a search by size, if that is smaller
 * in sum. */
static bool search_by_size(struct stick_question q, struct arena *memory, struct stick_plan *out,
                           lx_status *st)
{
    struct stick_plan other = *out;
    int64_t all = add_saturated(out->moved, out->footprint);
    /* Elements of all results, each in its smallest layout. */
    int64_t sum = 0;
    for (int32_t o = 0; o < q.g->op_count; o++) {
        const struct lx_op *op = &q.g->ops[o];
        for (int i = op->input_count; q.alive[o] && i < op_operand_count(op); i++) {
            int32_t t = op_operand(op, i);
            int64_t least = INT64_MAX;
            for (int stick = -1; stick < q.g->tensors[t].rank; stick++)
                least = min_i64(least, stick_elements_of(&out->costs, t, stick));
            if (q.g->tensors[t].rank >= 0) sum = add_saturated(sum, least);
        }
    }
    if (all / TOO_LARGE <= sum) return true;
    q.by_size = true;
    other.way = arena_array(memory, (size_t)q.g->op_count, sizeof *other.way);
    if (!search_twice(&q, &other, st)) return false;
    if (other.moved >= all) return true;
    other.moved -= other.footprint;
    other.bound = out->bound;
    *out = other;
    return true;
}

/* The sticks of graph inputs: those of free ones by their first readers. */
static int *sticks_of_inputs(const struct lx_graph *g, const bool *alive, enum lx_weights weights,
                             const struct stick_way *way, struct arena *memory)
{
    int *stick = arena_array(memory, (size_t)g->tensor_count, sizeof *stick);
    SCOPED(tensor_uses_free) struct tensor_uses uses;
    tensor_uses_make(g, alive, weights, &uses);
    for (int32_t t = 0; t < g->tensor_count; t++) {
        const struct lx_op *op = uses.first[t] >= 0 ? &g->ops[uses.first[t]] : NULL;
        stick[t] = stick_default(&g->tensors[t]);
        for (int i = 0; op && uses.packed[t] && i < op->input_count; i++)
            if (op->inputs[i] == t) {
                stick[t] = stick_first(&g->tensors[t], way[uses.first[t]].need[i]);
                break;
            }
    }
    return stick;
}

bool propagate_sticks(const struct lx_graph *g, const bool *alive, enum lx_weights weights,
                      struct arena *memory, struct stick_plan *out, lx_status *st)
{
    int32_t width = g->op_count > MAX_NODES / WIDTH ? MAX_NODES / g->op_count : WIDTH;
    out->way = arena_array(memory, (size_t)g->op_count, sizeof *out->way);
    stick_costs_make(g, memory, &out->costs);
    const struct stick_question q = {g, alive, width, weights, false};
    bool ok = search_twice(&q, out, st) && search_by_size(q, memory, out, st);
    if (ok) out->stick = sticks_of_inputs(g, alive, weights, out->way, memory);
    return ok;
}
