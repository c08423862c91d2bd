/* A graph with its softmaxes rewritten: what is found first, then all tensors and ops once more, but for
 * those that are gone. Names stay; the logarithm of the sum has that of the maximum, with _lse behind it. It
 * is fp32 whatever the scores are: an error of it is an error of every weight of its row. */
#include "graph/online.h"
#include "base/fail.h"
#include "graph/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What becomes of an op. */
enum fate { STAYS, GOES, TO_LSE, TO_BLEND, TO_CLONE };

struct rewriting {
    const struct lx_graph *g;
    struct arena memory;
    struct softmax *found;
    int32_t found_count;
    enum fate *fate; /* per op */
    int32_t *lse_of,
        *gives;      /* per op: the softmax whose logarithm it makes or reads, or -1; its output now */
    int32_t *tensor; /* per tensor: its number in the new graph; -1: gone */
    int32_t *lse;    /* per softmax: the tensor with the logarithm, in the new graph */
    struct graph_builder b;
    lx_status *st;
};

/* An op is gone, and its result. */
static void online_drop(struct rewriting *r, int32_t op)
{
    if (op < 0) return;
    r->fate[op] = GOES;
    r->tensor[r->g->ops[op].output] = -1;
}

static void online_mark(struct rewriting *r, int32_t number)
{
    const struct softmax *s = &r->found[number];
    const struct lx_op *ops = r->g->ops;
    r->fate[s->max] = TO_LSE;
    r->lse_of[s->max] = number;
    r->tensor[ops[s->max].output] = -1;
    online_drop(r, s->sum);
    online_drop(r, s->log);
    if (s->product_count == 0) {
        /* Only the logarithm of the sum is wanted: it takes the place of the maximum. */
        online_drop(r, s->sub);
        online_drop(r, s->exp);
        r->fate[s->add] = GOES;
        r->gives[s->max] = ops[s->add].output;
        return;
    }
    r->lse_of[s->sub] = number;
    online_drop(r, s->reciprocal);
    if (s->div >= 0) {
        r->tensor[ops[s->exp].output] = -1;
        r->gives[s->exp] = ops[s->div].output;
        r->fate[s->div] = GOES;
    }
    if (s->add >= 0) {
        r->fate[s->add] = TO_CLONE;
        r->lse_of[s->add] = number;
    }
    for (int i = 0; i < s->product_count; i++) {
        int32_t product = s->product[i], after = s->after[i];
        r->fate[product] = TO_BLEND;
        if (after < 0) continue;
        r->tensor[ops[product].output] = -1;
        r->fate[after] = GOES;
        r->gives[product] = ops[after].output;
    }
}

static void find_all(struct rewriting *r)
{
    size_t ops = (size_t)r->g->op_count, tensors = (size_t)r->g->tensor_count;
    struct online_uses u;
    r->found = arena_array(&r->memory, ops, sizeof *r->found);
    r->fate = arena_array(&r->memory, ops, sizeof *r->fate);
    r->lse_of = arena_array(&r->memory, ops, sizeof *r->lse_of);
    r->gives = arena_array(&r->memory, ops, sizeof *r->gives);
    r->tensor = arena_array(&r->memory, tensors, sizeof *r->tensor);
    r->lse = arena_array(&r->memory, ops, sizeof *r->lse);
    online_uses_make(r->g, &r->memory, &u);
    for (int32_t o = 0; o < r->g->op_count; o++) {
        struct softmax *s = &r->found[r->found_count];
        r->lse_of[o] = -1;
        r->gives[o] = r->g->ops[o].output;
        if (!softmax_find(&u, o, s)) continue;
        /* Tensors of ops that move up in the order are written once: the ops see what they saw. */
        int32_t scores = u.ops[s->max].inputs[0];
        enum lx_dtype dtype = r->g->tensors[scores].dtype;
        bool safe = u.writer[scores] != -2 && (dtype == LX_FP16 || dtype == LX_BF16 || dtype == LX_FP32);
        for (int i = 0; i < s->product_count; i++)
            if (s->after[i] >= 0) safe = safe && u.writer[u.ops[s->after[i]].output] >= 0;
        if (s->product_count == 0) safe = safe && u.writer[u.ops[s->add].output] >= 0;
        r->found_count += safe;
    }
    for (int32_t i = 0; i < r->found_count; i++) online_mark(r, i);
}

/* A name that nobody has. */
static bool name_lse(const struct rewriting *r, const struct names *taken, const char *from, char *out,
                     size_t size)
{
    for (int n = 1; n < 1000; n++) {
        if (n == 1)
            snprintf(out, size, "%.200s_lse", from);
        else
            snprintf(out, size, "%.200s_lse%d", from, n);
        bool is_op = false;
        for (int32_t o = 0; o < r->g->op_count && !is_op; o++) is_op = strcmp(r->g->ops[o].name, out) == 0;
        if (names_find(taken, out) < 0 && !is_op) return true;
    }
    return false;
}

static bool add_tensors(struct rewriting *r)
{
    for (int32_t t = 0; t < r->g->tensor_count; t++) {
        const struct lx_tensor *x = &r->g->tensors[t];
        if (r->tensor[t] < 0) continue;
        r->b.here = (struct place){x->line, x->column};
        int32_t to = builder_tensor(&r->b, x->name, x->role, x->dtype, x->rank, x->shape, x->bytes, r->st);
        if (to < 0) return false;
        r->b.tensors.at[to].memory = x->memory;
        r->b.tensors.at[to].placing = x->placing;
        r->tensor[t] = to;
    }
    for (int32_t i = 0; i < r->found_count; i++) {
        const struct lx_tensor *m = &r->g->tensors[r->g->ops[r->found[i].max].output];
        char name[240];
        if (r->found[i].product_count == 0) {
            r->lse[i] = r->tensor[r->gives[r->found[i].max]];
            continue;
        }
        if (!name_lse(r, &r->b.tensor_names, m->name, name, sizeof name))
            return status_set(r->st, LX_E_DUPLICATE, "too many tensors are named as %s", name);
        r->b.here = (struct place){m->line, m->column};
        r->lse[i] = builder_tensor(&r->b, name, LX_INTERMEDIATE, LX_FP32, m->rank, m->shape, 0, r->st);
        if (r->lse[i] < 0) return false;
    }
    return true;
}

/* The weights stand first. */
static void make_blend(struct rewriting *r, int32_t number, struct lx_op *op, int32_t *inputs)
{
    const struct softmax *s = NULL;
    for (int32_t i = 0; i < r->found_count && !s; i++)
        for (int k = 0; k < r->found[i].product_count; k++)
            if (r->found[i].product[k] == number) s = &r->found[i];
    int32_t weights = r->tensor[r->gives[s->exp]];
    op->kind = lx_kind_at(LX_KIND_BLEND);
    if (inputs[0] == weights) return;
    inputs[1] = inputs[0];
    inputs[0] = weights;
    /* "a,b->c" as "b,a->c". */
    const char *comma = strchr(op->einsum, ','), *arrow = strstr(op->einsum, "->");
    op->einsum = arena_format(&r->memory, "%.*s,%.*s%s", (int)(arrow - comma - 1), comma + 1,
                              (int)(comma - op->einsum), op->einsum, arrow);
}

/* Weights that were divided late stand in the tensor of the powers, which every product reads as it did. */
static bool add_op(struct rewriting *r, int32_t number)
{
    struct lx_op op = r->g->ops[number];
    int32_t inputs[LX_MAX_INPUTS], outputs[LX_MAX_OUTPUTS], softmax = r->lse_of[number];
    char name[240];
    for (int i = 0; i < op.input_count; i++) inputs[i] = r->tensor[op.inputs[i]];
    op.inputs = inputs;
    for (int i = 0; i < op.output_count; i++) outputs[i] = r->tensor[op.outputs[i]];
    op.outputs = outputs;
    op.output = r->tensor[r->gives[number]]; /* of an op with several results the first */
    r->b.here = (struct place){op.line, 0};
    switch (r->fate[number]) {
    case TO_LSE:
        if (!name_lse(r, &r->b.op_names, op.name, name, sizeof name))
            return status_set(r->st, LX_E_DUPLICATE, "too many ops are named as %s", name);
        op.kind = lx_kind_at(LX_KIND_LOGSUMEXP);
        op.output = r->lse[softmax];
        op.name = name;
        break;
    case TO_BLEND:
        make_blend(r, number, &op, inputs);
        break;
    case TO_CLONE:
        op.kind = lx_kind_at(LX_KIND_CLONE);
        op.input_count = 1;
        op.einsum = NULL;
        inputs[0] = r->lse[softmax];
        break;
    case STAYS:
    case GOES:
        if (softmax >= 0) inputs[1] = r->lse[softmax];
    }
    return builder_op(&r->b, &op, r->st);
}

bool graph_online(const struct lx_graph *g, const struct lx_graph **out, lx_status *st)
{
    struct rewriting r = {.g = g, .st = st};
    bool ok = true;
    *out = NULL;
    if (!g->list) find_all(&r);
    if (r.found_count > 0) {
        builder_begin(&r.b, g->file, g->name);
        struct lx_graph *to = r.b.graph;
        to->summary = arena_string(r.b.memory, g->summary);
        to->device = g->device;
        to->target_hbm_bytes = g->target_hbm_bytes;
        ok = add_tensors(&r);
        for (int32_t o = 0; ok && o < g->op_count; o++)
            if (r.fate[o] != GOES) ok = add_op(&r, o);
        if (!ok) builder_abandon(&r.b);
        ok = ok && builder_finish(&r.b, st);
        if (ok) to->came_from = lx_graph_ref(g);
        if (ok) *out = to;
    }
    arena_free(&r.memory);
    return ok;
}

int32_t graph_origin_tensor(const struct lx_graph *g, int32_t tensor)
{
    const struct lx_graph *from = g->came_from;
    int32_t t = 0;
    if (!from) return tensor;
    while (t < from->tensor_count && strcmp(from->tensors[t].name, g->tensors[tensor].name) != 0) t++;
    return t < from->tensor_count ? t : -1;
}

int32_t graph_origin_op(const struct lx_graph *g, int32_t op)
{
    const struct lx_graph *from = g->came_from;
    int32_t o = 0;
    if (!from) return op;
    while (o < from->op_count && strcmp(from->ops[o].name, g->ops[op].name) != 0) o++;
    return o < from->op_count ? o : -1;
}
