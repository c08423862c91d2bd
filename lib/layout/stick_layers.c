/* Layers told alike, their borders compared, and what was found for one made again for the next: see stick_layers.h. */
#include "layout/stick_layers.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/stop.h"

#include <stdlib.h>
#include <string.h>

/* Fewer times a layer is searched as soon as compared. */
enum { LEAST_TIMES = 4 };

bool stick_layers_make(struct stick_layers *l, const struct lx_graph *g, const bool *alive,
                       const struct lx_repeat *runs, int32_t run_count, lx_status *st)
{
    size_t tensors = (size_t)g->tensor_count + 1;
    *l = (struct stick_layers){.g = g};
    l->runs = mem_alloc(((size_t)run_count + 1) * sizeof *l->runs);
    l->twin = mem_alloc(tensors * sizeof *l->twin);
    l->of = mem_alloc(tensors * sizeof *l->of);
    if (!l->runs || !l->twin || !l->of) return status_no_memory(st);
    memset(l->twin, 0xff, tensors * sizeof *l->twin);
    memset(l->of, 0xff, tensors * sizeof *l->of);
    for (int32_t i = 0; i < run_count; i++) {
        const struct lx_repeat *r = &runs[i];
        bool all = r->times >= LEAST_TIMES;
        for (int32_t o = r->first; all && o < r->first + r->ops * r->times; o++) all = alive[o];
        if (all) l->runs[l->run_count++] = *r;
    }
    return true;
}

void stick_layers_free(struct stick_layers *l)
{
    mem_free(l->runs);
    mem_free(l->twin);
    mem_free(l->of);
    VEC_FREE(&l->touched);
    VEC_FREE(&l->last.states);
    VEC_FREE(&l->last.keys);
    VEC_FREE(&l->last.slot);
    VEC_FREE(&l->last.open_tensors);
}

void stick_layers_begin(struct stick_layers *l, const struct stick_search *s)
{
    l->at = l->again = 0;
    l->last.op = -1;
    if (!s) l->at = l->run_count;
}

static bool stick_layers_remember(struct stick_layers *l, struct stick_search *s, int32_t o)
{
    struct stick_border *b = &l->last;
    size_t keys = s->now.count * (size_t)s->slot_count, tensors = (size_t)l->g->tensor_count;
    if (!VEC_RESERVE(&b->states, s->now.count + 1) || !VEC_RESERVE(&b->keys, keys + 1) ||
        !VEC_RESERVE(&b->slot, tensors + 1) || !VEC_RESERVE(&b->open_tensors, s->open.count + 1))
        return false;
    memcpy(b->states.at, s->now.at, s->now.count * sizeof *s->now.at);
    memcpy(b->keys.at, s->now_keys.at, keys * sizeof *s->now_keys.at);
    memcpy(b->slot.at, s->slot, tensors * sizeof *s->slot);
    b->states.count = s->now.count;
    b->open_tensors.count = s->open.count;
    for (size_t k = 0; k < s->open.count; k++) b->open_tensors.at[k] = s->tensor_at[s->open.at[k]];
    b->op = o;
    s->peak = 0;
    return true;
}

static void forget_twins(struct stick_layers *l)
{
    for (size_t i = 0; i < l->touched.count; i++) {
        l->of[l->twin[l->touched.at[i]]] = -1;
        l->twin[l->touched.at[i]] = -1;
    }
    l->touched.count = 0;
}

/* May tensor `b` of the layer at `o + ops` be for it what `a` is for the layer at `o`? */
static bool stick_layers_may_be_twins(const struct stick_search *s, int32_t a, int32_t b, int32_t o,
                                      int32_t ops)
{
    const struct lx_tensor *x = &s->g->tensors[a], *y = &s->g->tensors[b];
    const struct tensor_uses *u = &s->uses;
    bool dies = u->last_use[a] < o + ops;
    return x->rank == y->rank && x->role == y->role && x->dtype == y->dtype &&
           (x->rank <= 0 || memcmp(x->shape, y->shape, (size_t)x->rank * sizeof *x->shape) == 0) &&
           (x->rank < 0 ||
            memcmp(s->costs.at[a], s->costs.at[b], ((size_t)x->rank + 1) * sizeof s->costs.at[a][0]) == 0) &&
           u->rigid[a] == u->rigid[b] && u->written[a] == u->written[b] &&
           (u->readers[a] == 1) == (u->readers[b] == 1) &&
           (dies ? u->last_use[b] == u->last_use[a] + ops : u->last_use[b] >= o + 2 * ops);
}

static bool stick_layers_pair_up(struct stick_layers *l, const struct stick_search *s, int32_t a, int32_t b,
                                 int32_t o, int32_t ops)
{
    if (l->twin[a] >= 0 || l->of[b] >= 0) return l->twin[a] == b;
    if (!stick_layers_may_be_twins(s, a, b, o, ops) || !VEC_PUSH(&l->touched, a)) return false;
    l->twin[a] = b;
    l->of[b] = a;
    return true;
}

static bool ways_alike(const struct stick_search *s, const struct lx_op *a, const struct lx_op *b)
{
    struct op_index x, y;
    struct stick_way p[MAX_STICK_WAYS], q[MAX_STICK_WAYS];
    op_index_of(s->g, a, &x);
    op_index_of(s->g, b, &y);
    int count = stick_ways(s->g, a, &x, p);
    bool alike = count == stick_ways(s->g, b, &y, q);
    for (int i = 0; alike && i < count; i++)
        alike = p[i].stick_var == q[i].stick_var && p[i].realigns == q[i].realigns &&
                p[i].turns == q[i].turns &&
                memcmp(p[i].need, q[i].need, (size_t)op_operand_count(a) * sizeof *p[i].need) == 0;
    return alike;
}

/* Are the ops from `o` on like those from `o + ops` on, in all that the search looks at? The tensors are then paired up. */
static bool stick_layers_alike(struct stick_layers *l, const struct stick_search *s, int32_t o, int32_t ops)
{
    bool alike = true;
    forget_twins(l);
    for (int32_t k = o; alike && k < o + ops; k++) {
        const struct lx_op *a = &s->g->ops[k], *b = &s->g->ops[k + ops];
        alike = a->input_count == b->input_count && op_operand_count(a) == op_operand_count(b) &&
                ways_alike(s, a, b);
        for (int i = 0; alike && i < op_operand_count(a); i++)
            alike = stick_layers_pair_up(l, s, op_operand(a, i), op_operand(b, i), o, ops);
    }
    return alike;
}

/* Do all states know the same of tensor `now` as those at the last border did of tensor `then`? */
static bool known_alike(const struct stick_border *b, const struct stick_search *s, int32_t then, int32_t now)
{
    size_t n = (size_t)s->slot_count;
    int32_t p = b->slot.at[then], q = s->slot[now];
    bool alike = (p < 0) == (q < 0);
    for (size_t i = 0; alike && p >= 0 && i < s->now.count; i++)
        alike = b->keys.at[i * n + (size_t)p] == s->now_keys.at[i * n + (size_t)q];
    return alike;
}

/* Are the states those of the last border, at the same distance from the cheapest one? Tensors that no layer touches and in which all
 * states agree do not matter. */
static bool states_alike(const struct stick_layers *l, const struct stick_search *s)
{
    const struct stick_border *b = &l->last;
    bool alike = b->states.count == s->now.count;
    for (size_t i = 0; alike && i < s->now.count; i++)
        alike = b->states.at[i].moved - b->states.at[0].moved == s->now.at[i].moved - s->now.at[0].moved &&
                b->states.at[i].footprint - b->states.at[0].footprint ==
                    s->now.at[i].footprint - s->now.at[0].footprint;
    for (size_t i = 0; alike && i < l->touched.count; i++)
        alike = known_alike(b, s, l->touched.at[i], l->twin[l->touched.at[i]]);
    for (size_t i = 0; alike && i < b->open_tensors.count; i++) {
        int32_t t = b->open_tensors.at[i];
        alike = l->twin[t] >= 0 || known_alike(b, s, t, t);
    }
    for (size_t i = 0; alike && i < s->open.count; i++) {
        int32_t t = s->tensor_at[s->open.at[i]];
        alike = l->of[t] >= 0 || known_alike(b, s, t, t);
    }
    return alike;
}

/* Op `o` with the states and ways that the op a layer above it had. */
static bool repeat_op(struct stick_search *s, int32_t o, int32_t ops)
{
    const struct lx_op *op = &s->g->ops[o];
    struct op_index x;
    struct stick_way ways[MAX_STICK_WAYS];
    size_t n = (size_t)s->slot_count, layer = s->layer_begin.count - (size_t)ops;
    size_t first = (size_t)s->layer_begin.at[layer],
           end = ops > 1 ? (size_t)s->layer_begin.at[layer + 1] : s->nodes.count, count = end - first;
    stop_look(stick_work(s, count));
    op_index_of(s->g, op, &x);
    stick_ways(s->g, op, &x, ways);
    stick_begin_op(s, op);
    if (!VEC_RESERVE(&s->next, count) || !VEC_RESERVE(&s->next_keys, count * n + 1) ||
        !VEC_RESERVE(&s->nodes, s->nodes.count + count) ||
        !VEC_PUSH(&s->layer_begin, (int32_t)s->nodes.count))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct stick_node node = s->nodes.at[first + i];
        const tensor_state *from = &s->now_keys.at[(size_t)node.parent * n];
        tensor_state *key = &s->next_keys.at[i * n];
        struct stick_state to = s->now.at[node.parent];
        memcpy(key, from, n * sizeof *key);
        stick_apply(s, op, &ways[node.way], key, &to);
        stick_forget(s, o, from, key, &to);
        to.parent = node.parent;
        to.way = node.way;
        s->next.at[i] = to;
        s->nodes.at[s->nodes.count++] = node;
    }
    s->next.count = count;
    stick_take_next(s);
    stick_end_op(s, o);
    return true;
}

/* The most that states of the layer from `o` on could come to at least if it goes like the one before it; INT64_MAX: not known. */
static int64_t next_peak(const struct stick_layers *l, const struct stick_search *s, int32_t o, int32_t ops)
{
    enum { SPARE = 4 }; /* far from where sums end */
    int64_t more =
        s->now.at[0].moved - l->last.states.at[0].moved - (s->least_after[o - ops] - s->least_after[o]);
    bool known = s->peak < INT64_MAX / SPARE && more >= 0 && more < INT64_MAX / SPARE;
    return known ? s->peak + more : INT64_MAX;
}

/* Does the layer that begins at op `o` go like the one before it? */
static bool goes_like_the_last(struct stick_layers *l, const struct stick_search *s, int32_t o, int32_t ops)
{
    if (l->last.op != o - ops || l->last.op < 0) return false;
    int64_t peak = next_peak(l, s, o, ops);
    return peak < INT64_MAX && peak <= s->limit && stick_layers_alike(l, s, o - ops, ops) &&
           states_alike(l, s);
}

/* The run that op `o` is in; NULL: it is in none, or not where a layer begins. */
static const struct lx_repeat *stick_layers_run_at(struct stick_layers *l, int32_t o)
{
    while (l->at < l->run_count && o >= l->runs[l->at].first + l->runs[l->at].ops * l->runs[l->at].times) {
        l->at++;
        l->last.op = -1;
    }
    const struct lx_repeat *r = l->at < l->run_count ? &l->runs[l->at] : NULL;
    return r && o >= r->first && (o - r->first) % r->ops == 0 ? r : NULL;
}

bool stick_layers_go(struct stick_layers *l, struct stick_search *s, int32_t *o, bool *ok)
{
    const struct lx_repeat *r = stick_layers_run_at(l, *o);
    if (!r) return false;
    bool again = goes_like_the_last(l, s, *o, r->ops);
    int64_t peak = again ? next_peak(l, s, *o, r->ops) : 0;
    *ok = stick_layers_remember(l, s, *o);
    for (int32_t end = *o + r->ops; *ok && again && *o < end; ++*o) *ok = repeat_op(s, *o, r->ops);
    if (!*ok) status_no_memory(s->st);
    s->peak = peak;
    l->again += again;
    return again;
}
