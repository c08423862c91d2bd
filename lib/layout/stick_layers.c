/* Repeated layers: compares them and copies their states without a search (see stick_search.h). */
#include "layout/stick_search.h"
#include "base/memory.h"

#include <string.h>

/* With fewer repeats, searching a layer is as fast as comparing it. */
enum { LEAST_TIMES = 4 };

void stick_layers_make(struct stick_layers *l, const struct lx_graph *g, const bool *alive,
                       const struct lx_repeat *runs, int32_t run_count)
{
    size_t tensors = (size_t)g->tensor_count + 1;
    *l = (struct stick_layers){.g = g};
    l->runs = mem_alloc(((size_t)run_count + 1) * sizeof *l->runs);
    l->twin = mem_alloc(tensors * sizeof *l->twin);
    l->of = mem_alloc(tensors * sizeof *l->of);
    memset(l->twin, 0xff, tensors * sizeof *l->twin);
    memset(l->of, 0xff, tensors * sizeof *l->of);
    for (int32_t i = 0; i < run_count; i++) {
        const struct lx_repeat *r = &runs[i];
        bool all = r->times >= LEAST_TIMES;
        for (int32_t o = r->first; all && o < r->first + r->ops * r->times; o++) all = alive[o];
        if (all) l->runs[l->run_count++] = *r;
    }
}

void stick_layers_free(struct stick_layers *l)
{
    mem_free(l->runs);
    mem_free(l->twin);
    mem_free(l->of);
    VEC_FREE(&l->touched);
    VEC_FREE(&l->last.states);
    VEC_FREE(&l->last.rows);
    VEC_FREE(&l->last.slot);
    VEC_FREE(&l->last.open_tensors);
}

void stick_layers_begin(struct stick_layers *l)
{
    l->at = l->again = 0;
    l->last.op = -1;
}

static void stick_layers_remember(struct stick_layers *l, struct stick_search *s, int32_t o)
{
    struct stick_border *b = &l->last;
    size_t count = (size_t)s->beam.count, rows = count * (size_t)s->slot_count;
    size_t tensors = (size_t)l->g->tensor_count;
    (void)VEC_RESERVE(&b->states, count + 1);
    (void)VEC_RESERVE(&b->rows, rows + 1);
    (void)VEC_RESERVE(&b->slot, tensors + 1);
    (void)VEC_RESERVE(&b->open_tensors, (size_t)s->beam.open_count + 1);
    memcpy(b->states.at, stick_node_of(s, 0), count * sizeof *b->states.at);
    memcpy(b->rows.at, beam_row_of(&s->beam, 0), rows * sizeof *b->rows.at);
    memcpy(b->slot.at, s->slot, tensors * sizeof *s->slot);
    b->states.count = count;
    b->open_tensors.count = (size_t)s->beam.open_count;
    for (int32_t k = 0; k < s->beam.open_count; k++) b->open_tensors.at[k] = s->tensor_at[s->beam.open[k]];
    b->op = o;
    s->peak = 0;
}

static bool stick_layers_pair_up(struct stick_layers *l, const struct stick_search *s, int32_t a, int32_t b,
                                 int32_t o, int32_t ops)
{
    if (l->twin[a] >= 0 || l->of[b] >= 0) return l->twin[a] == b;
    /* Can tensor `b` of the layer at `o + ops` take the place of `a` in the layer at `o`? */
    const struct lx_tensor *x = &s->g->tensors[a], *y = &s->g->tensors[b];
    const struct tensor_uses *u = &s->uses;
    bool dies = u->last_use[a] < o + ops;
    if (x->rank != y->rank || x->role != y->role || x->dtype != y->dtype ||
        (x->rank > 0 && memcmp(x->shape, y->shape, (size_t)x->rank * sizeof *x->shape) != 0) ||
        (x->rank >= 0 &&
         memcmp(s->costs.at[a], s->costs.at[b], ((size_t)x->rank + 1) * sizeof s->costs.at[a][0]) != 0) ||
        u->rigid[a] != u->rigid[b] || u->written[a] != u->written[b] ||
        (u->readers[a] == 1) != (u->readers[b] == 1) ||
        !(dies ? u->last_use[b] == u->last_use[a] + ops : u->last_use[b] >= o + 2 * ops))
        return false;
    (void)VEC_PUSH(&l->touched, a);
    l->twin[a] = b;
    l->of[b] = a;
    return true;
}

/* Do the ops from `o` on equal those from `o + ops` on for the search? Pairs their tensors in twin and of. */
static bool stick_layers_alike(struct stick_layers *l, const struct stick_search *s, int32_t o, int32_t ops)
{
    bool alike = true;
    for (size_t i = 0; i < l->touched.count; i++) {
        l->of[l->twin[l->touched.at[i]]] = -1;
        l->twin[l->touched.at[i]] = -1;
    }
    l->touched.count = 0;
    for (int32_t k = o; alike && k < o + ops; k++) {
        const struct lx_op *a = &s->g->ops[k], *b = &s->g->ops[k + ops];
        struct op_index x, y;
        struct stick_way p[MAX_STICK_WAYS], q[MAX_STICK_WAYS];
        op_index_of(s->g, a, &x);
        op_index_of(s->g, b, &y);
        int count = stick_ways(s->g, a, &x, p);
        alike = a->input_count == b->input_count && op_operand_count(a) == op_operand_count(b) &&
                count == stick_ways(s->g, b, &y, q);
        for (int i = 0; alike && i < count; i++)
            alike = p[i].stick_var == q[i].stick_var && p[i].realigns == q[i].realigns &&
                    p[i].turns == q[i].turns &&
                    memcmp(p[i].need, q[i].need, (size_t)op_operand_count(a) * sizeof *p[i].need) == 0;
        for (int i = 0; alike && i < op_operand_count(a); i++)
            alike = stick_layers_pair_up(l, s, op_operand(a, i), op_operand(b, i), o, ops);
    }
    return alike;
}

/* Do all states agree on tensor `now` with the last border's states on tensor `then`? */
static bool known_alike(const struct stick_border *b, const struct stick_search *s, int32_t then, int32_t now)
{
    size_t n = (size_t)s->slot_count;
    int32_t p = b->slot.at[then], q = s->slot[now];
    bool alike = (p < 0) == (q < 0);
    for (size_t i = 0; alike && p >= 0 && i < b->states.count; i++)
        alike = b->rows.at[i * n + (size_t)p] == beam_row_of(&s->beam, (int32_t)i)[q];
    return alike;
}

/* Do the states equal the last border's up to a constant cost? Tensors outside the layers must agree, too. */
static bool states_alike(const struct stick_layers *l, const struct stick_search *s)
{
    const struct stick_border *b = &l->last;
    const struct stick_node *now = stick_node_of(s, 0), *then = b->states.at;
    bool alike = b->states.count == (size_t)s->beam.count;
    for (size_t i = 0; alike && i < b->states.count; i++)
        alike = then[i].moved - then[0].moved == now[i].moved - now[0].moved &&
                then[i].footprint - then[0].footprint == now[i].footprint - now[0].footprint;
    for (size_t i = 0; alike && i < l->touched.count; i++)
        alike = known_alike(b, s, l->touched.at[i], l->twin[l->touched.at[i]]);
    for (size_t i = 0; alike && i < b->open_tensors.count; i++) {
        int32_t t = b->open_tensors.at[i];
        alike = l->twin[t] >= 0 || known_alike(b, s, t, t);
    }
    for (int32_t i = 0; alike && i < s->beam.open_count; i++) {
        int32_t t = s->tensor_at[s->beam.open[i]];
        alike = l->of[t] >= 0 || known_alike(b, s, t, t);
    }
    return alike;
}

/* The highest rank in the layer from `o` on if it repeats the one before; INT64_MAX: unknown. */
static int64_t next_peak(const struct stick_layers *l, const struct stick_search *s, int32_t o, int32_t ops)
{
    enum { SPARE = 4 }; /* keeps sums far from overflow */
    int64_t more = stick_node_of(s, 0)->moved - l->last.states.at[0].moved -
                   (s->least_after[o - ops] - s->least_after[o]);
    bool known = s->peak < INT64_MAX / SPARE && more >= 0 && more < INT64_MAX / SPARE;
    return known ? s->peak + more : INT64_MAX;
}

bool stick_layers_go(struct stick_layers *l, struct stick_search *s, int32_t *o, int32_t width)
{
    while (l->at < l->run_count && *o >= l->runs[l->at].first + l->runs[l->at].ops * l->runs[l->at].times) {
        l->at++;
        l->last.op = -1;
    }
    const struct lx_repeat *r = l->at < l->run_count ? &l->runs[l->at] : NULL;
    if (!r || *o < r->first || (*o - r->first) % r->ops != 0) return false;
    bool known = l->last.op >= 0 && l->last.op == *o - r->ops;
    int64_t peak = known ? next_peak(l, s, *o, r->ops) : INT64_MAX;
    bool again = peak < INT64_MAX && peak < s->beam.rules.cut &&
                 stick_layers_alike(l, s, *o - r->ops, r->ops) && states_alike(l, s);
    stick_layers_remember(l, s, *o);
    /* Each op takes the states and ways of the op one layer before, in the same order. */
    for (int32_t end = *o + r->ops; again && *o < end; ++*o) {
        size_t layer = s->beam.layers.count - (size_t)r->ops;
        int32_t count = beam_count_of(&s->beam, layer);
        stick_begin_op(s, *o);
        for (int32_t i = 0; i < count; i++) {
            struct beam_origin was = beam_origin_of(&s->beam, layer, i);
            stick_offer(s, *o, was.from, was.choice);
        }
        s->beam.rules.dominates = NULL; /* no state of the earlier layer was dominated */
        stick_end_op(s, *o, width);
        s->beam.rules.dominates = stick_dominates;
    }
    s->peak = again ? peak : 0;
    l->again += again;
    return again;
}
