/* Repeated layers. An op's own hash covers all that determines its cost: everything except names, tensors,
 * numbers and offsets of boxes (weights of layers may be stacked). Mixing in a few producers makes most ops
 * of a layer unlike the layer's others, so the distance to the next equal hash is the length of the layer.
 * The most frequent distances are tried. A run continues while each op equals the op one layer above, and
 * reads the same tensor, the counterpart one layer above, or one from outside the run as well. Of
 * overlapping runs the largest is taken; a layer begins where the fewest tensors pass. O(n log n) for n
 * ops. */
#include "graph/graph.h"
#include "base/base.h"

enum { CONTEXT = 4, TRIED = 16, LEAST_OPS = 4, LEAST_RUN = 16 };

struct alike {
    uint64_t hash;
    int32_t op;
};

struct length {
    int32_t ops, votes;
};

struct run {
    struct lx_repeat is;
    int32_t span; /* equal ops, including those beside whole layers */
};

struct search {
    const struct lx_graph *g;
    int32_t *producer;    /* by tensor: the op that wrote it last; -1: none */
    int32_t *made;        /* by op and input (see at): the producer; -1: none */
    int32_t *at;          /* by op: its first entry in `made` */
    uint64_t *own, *hash; /* by op: hash without and with context */
    int32_t *passing;     /* by op: tensors made before it and read by it or later ops */
    struct alike *alike;
    struct length *lengths;
    VEC(struct run) runs;
    struct arena memory;
};

static uint64_t repeats_mix(uint64_t h, int64_t n)
{
    return hash_words(h, &n, sizeof n);
}

static uint64_t mix_list(uint64_t h, const int64_t *list, int count)
{
    h = repeats_mix(h, list ? count : -1);
    return list && count > 0 ? hash_words(h, list, (size_t)count * sizeof *list) : h;
}

/* Hash of an op without names and tensors. */
static uint64_t repeats_own_hash(const struct lx_graph *g, const struct lx_op *op)
{
    const struct lx_op_params *p = op->params;
    uint64_t h = repeats_mix(repeats_mix(HASH_START, (int64_t)op->kind->id), op->input_count);
    h = op->einsum ? hash_words(h, op->einsum, strlen(op->einsum)) : h;
    for (int i = 0; i < op_operand_count(op); i++) {
        const struct lx_tensor *t = &g->tensors[op_operand(op, i)];
        h = repeats_mix(repeats_mix(h, (int64_t)t->dtype), t->rank);
        h = t->rank < 0 ? repeats_mix(h, t->bytes) : mix_list(h, t->shape, t->rank);
    }
    h = repeats_mix(repeats_mix(repeats_mix(h, op->output_count), op->inplace), op->has_value);
    if (p) {
        h = mix_list(repeats_mix(h, p->axis), p->axes, p->axis_count);
        if (!(op->kind->traits & LX_CHOOSES)) h = mix_list(h, p->low, p->low_count);
        h = mix_list(mix_list(h, p->high, p->high_count), p->interior, p->interior_count);
        h = hash_words(hash_words(h, &p->start, sizeof p->start), &p->step, sizeof p->step);
        h = repeats_mix(h, p->k);
    }
    int flags = p ? p->descending + 2 * p->exclusive + 4 * p->reverse + 8 * (int)p->combine : -2;
    h = repeats_mix(h, flags);
    for (const struct lx_window *w = op->windows; w && w < op->windows + op->window_count; w++) {
        const int64_t all[] = {w->in,       w->out, w->tap,  w->size,     w->stride,
                               w->dilation, w->pad, w->hole, w->count_all};
        h = hash_words(h, all, sizeof all);
    }
    for (int i = 0; op->views && i < op->input_count; i++) {
        int rank = g->tensors[op->inputs[i]].rank;
        h = mix_list(mix_list(h, op->views[i].stride, rank), op->views[i].size, rank);
    }
    return repeats_mix(h, op->data ? op->data->count : -1);
}

/* Fills producers and own hashes, and counts the tensors that pass each op. */
static void repeats_follow(struct search *s)
{
    const struct lx_graph *g = s->g;
    int32_t n = g->op_count, *last = s->passing;
    for (int32_t t = 0; t < g->tensor_count; t++) s->producer[t] = -1;
    for (int32_t o = 0; o < n; o++) {
        const struct lx_op *op = &g->ops[o];
        for (int i = 0; i < op->input_count; i++) s->made[s->at[o] + i] = s->producer[op->inputs[i]];
        for (int i = 0; i < op->output_count; i++) s->producer[op->outputs[i]] = o;
        s->own[o] = s->hash[o] = repeats_own_hash(g, op);
    }
    /* A tensor passes from the op after its producer to its last reader: +1 at the begin, -1 at the end. */
    for (int32_t t = 0; t < g->tensor_count; t++) s->producer[t] = -1;
    for (int32_t o = n - 1; o >= 0; o--) {
        for (int i = 0; i < g->ops[o].input_count; i++) {
            int32_t t = g->ops[o].inputs[i];
            if (s->made[s->at[o] + i] < 0 || s->producer[t] >= 0) continue;
            s->producer[t] = o;
            last[s->made[s->at[o] + i] + 1]++;
            last[o + 1]--;
        }
        for (int i = 0; i < g->ops[o].output_count; i++) s->producer[g->ops[o].outputs[i]] = -1;
    }
    for (int32_t o = 1; o <= n; o++) s->passing[o] += s->passing[o - 1];
}

ORDER(repeats_by_hash, struct alike, ORDER_UP(hash) ORDER_UP(op));
ORDER(repeats_by_ops, struct length, ORDER_UP(ops));
ORDER(repeats_by_votes, struct length, ORDER_DOWN(votes) ORDER_UP(ops));
ORDER(repeats_by_first, struct lx_repeat, ORDER_UP(first));

/* Fills `lengths` with distances between equal ops, most frequent first; returns their number. */
static int32_t vote(struct search *s)
{
    int32_t n = s->g->op_count, count = 0, kept = 0;
    for (int32_t o = 0; o < n; o++) s->alike[o] = (struct alike){s->hash[o], o};
    qsort(s->alike, (size_t)n, sizeof *s->alike, repeats_by_hash);
    for (int32_t i = 1; i < n; i++) {
        int32_t ops = s->alike[i].op - s->alike[i - 1].op;
        if (s->alike[i].hash == s->alike[i - 1].hash && ops >= LEAST_OPS)
            s->lengths[count++] = (struct length){ops, 1};
    }
    qsort(s->lengths, (size_t)count, sizeof *s->lengths, repeats_by_ops);
    for (int32_t i = 0; i < count; i++)
        if (kept && s->lengths[kept - 1].ops == s->lengths[i].ops)
            s->lengths[kept - 1].votes++;
        else
            s->lengths[kept++] = s->lengths[i];
    qsort(s->lengths, (size_t)kept, sizeof *s->lengths, repeats_by_votes);
    return kept < TRIED ? kept : TRIED;
}

/* Whether op `o` equals the op `ops` above it, in a run that begins at `first`. Inputs from above the run
 * may be any tensors of equal type, like weights. */
static bool repeats_goes_on(const struct search *s, int32_t o, int32_t ops, int32_t first)
{
    const struct lx_op *here = &s->g->ops[o], *above = &s->g->ops[o - ops];
    if (s->own[o] != s->own[o - ops]) return false;
    for (int i = 0; i < here->input_count; i++) {
        int32_t a = s->made[s->at[o] + i], b = s->made[s->at[o - ops] + i];
        if (here->inputs[i] == above->inputs[i] || (a >= 0 && b >= 0 && a - b == ops)) continue;
        /* from above the run, or an input of its first layer */
        bool enters = a < first || o < first + 2 * ops;
        if (b >= first || !enters) return false;
    }
    return true;
}

static void repeats_add_run(struct search *s, int32_t first, int32_t ops, int32_t end)
{
    int32_t span = end - first;
    if (span / ops < 2 || span / ops * ops < LEAST_RUN) return;
    VEC_PUSH(&s->runs, (struct run){{first, ops, span / ops}, span});
}

/* Larger number of repeated ops first. */
static int repeats_by_size(const void *a, const void *b)
{
    const struct lx_repeat *x = &((const struct run *)a)->is, *y = &((const struct run *)b)->is;
    int64_t p = (int64_t)x->ops * (x->times - 1), q = (int64_t)y->ops * (y->times - 1);
    if (p != q) return p > q ? -1 : 1;
    if (x->ops != y->ops) return x->ops < y->ops ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Takes the largest runs first; a run that overlaps a taken one is dropped. */
static int32_t repeats_take_apart(struct search *s, struct lx_repeat *out)
{
    int32_t count = 0, *taken = s->at; /* reuses its memory */
    memset(taken, 0, (size_t)s->g->op_count * sizeof *taken);
    if (s->runs.count) qsort(s->runs.at, s->runs.count, sizeof *s->runs.at, repeats_by_size);
    for (size_t i = 0; i < s->runs.count; i++) {
        const struct run *run = &s->runs.at[i];
        /* Whole layers may be shifted within the span: begin where the fewest tensors pass. */
        struct lx_repeat r = run->is;
        for (int32_t at = r.first + 1; at <= run->is.first + run->span - r.ops * r.times; at++)
            if (s->passing[at + r.ops] < s->passing[r.first + r.ops]) r.first = at;
        bool is_free = true;
        for (int32_t o = r.first; is_free && o < r.first + r.ops * r.times; o++) is_free = !taken[o];
        for (int32_t o = r.first; is_free && o < r.first + r.ops * r.times; o++) taken[o] = 1;
        if (is_free) out[count++] = r;
    }
    qsort(out, (size_t)count, sizeof *out, repeats_by_first);
    return count;
}

struct lx_repeat *lx_repeats(const struct lx_graph *g, int32_t *count)
{
    struct search s = {.g = g};
    struct lx_repeat *out = mem_zeroed((size_t)g->op_count / LEAST_OPS + 1, sizeof *out);
    size_t n = (size_t)s.g->op_count, links = 0;
    s.at = arena_array(&s.memory, n + 1, sizeof *s.at);
    for (size_t o = 0; o < n; o++) {
        s.at[o] = (int32_t)links;
        links += (size_t)s.g->ops[o].input_count;
    }
    s.made = arena_array(&s.memory, links + 1, sizeof *s.made);
    s.producer = arena_array(&s.memory, (size_t)s.g->tensor_count + 1, sizeof *s.producer);
    s.own = arena_array(&s.memory, n + 1, sizeof *s.own);
    s.hash = arena_array(&s.memory, n + 1, sizeof *s.hash);
    s.passing = arena_array(&s.memory, n + 2, sizeof *s.passing);
    s.alike = arena_array(&s.memory, n + 1, sizeof *s.alike);
    s.lengths = arena_array(&s.memory, n + 1, sizeof *s.lengths);
    repeats_follow(&s);
    /* From the last op up, so that each round uses the hashes of the previous one. */
    for (int round = 0; round < CONTEXT; round++)
        for (int32_t o = s.g->op_count - 1; o >= 0; o--) {
            for (int i = 0; i < s.g->ops[o].input_count; i++) {
                int32_t from = s.made[s.at[o] + i];
                s.hash[o] = repeats_mix(s.hash[o], from < 0 ? -1 : (int64_t)s.hash[from]);
            }
        }
    int32_t tried = vote(&s);
    for (int32_t i = 0; i < tried; i++) {
        int32_t ops = s.lengths[i].ops;
        int32_t first = -1;
        for (int32_t o = ops; o < s.g->op_count; o++) {
            bool on = repeats_goes_on(&s, o, ops, first < 0 ? o - ops : first);
            if (!on && first >= 0) repeats_add_run(&s, first, ops, o);
            first = !on ? -1 : first < 0 ? o - ops : first;
        }
        if (first >= 0) repeats_add_run(&s, first, ops, s.g->op_count);
    }
    *count = repeats_take_apart(&s, out);
    VEC_FREE(&s.runs);
    arena_free(&s.memory);
    return out;
}
