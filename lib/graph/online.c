/* Rewrites the softmaxes of a graph: finds them first, then copies all other tensors and ops. Names stay;
 * the log-sum is named like the maximum with _lse appended. It is always fp32: its error affects every
 * weight of its row. */
#include "graph/online.h"
#include "graph/builder.h"

enum { MOST_PRODUCTS = 16 };

/* Op numbers; -1: none. */
struct softmax {
    int32_t max, sub, exp, sum;
    int32_t reciprocal;             /* 1 / sum, if the graph multiplies by it */
    int32_t div;                    /* powers divided by the sum; -1: the products are divided instead */
    int32_t log, add;               /* log(sum), and log(sum) + max */
    int32_t product[MOST_PRODUCTS]; /* contractions with the weights */
    int32_t after[MOST_PRODUCTS];   /* division of each product, or -1 */
    int product_count;
};

/* Readers and writers of tensors. */
struct online_uses {
    const struct lx_graph *g;
    const struct lx_op *ops; /* ops of g */
    /* readers of tensor t: from reader_at[t] to reader_at[t + 1], each op once */
    int32_t *reader_at, *readers;
    int32_t *writer; /* per tensor; -1: none, -2: several */
};

static void online_uses_make(const struct lx_graph *g, struct arena *memory, struct online_uses *u)
{
    size_t tensors = (size_t)g->tensor_count, all = 0;
    for (int32_t o = 0; o < g->op_count; o++) all += (size_t)g->ops[o].input_count;
    *u = (struct online_uses){.g = g,
                              .ops = g->ops,
                              .reader_at = arena_array(memory, tensors + 2, sizeof *u->reader_at),
                              .readers = arena_array(memory, all, sizeof *u->readers),
                              .writer = arena_array(memory, tensors, sizeof *u->writer)};
    int32_t *last = arena_array(memory, tensors, sizeof *last);
    for (int32_t t = 0; t < g->tensor_count; t++) u->writer[t] = last[t] = -1;
    for (int32_t o = 0; o < g->op_count; o++) {
        for (int i = 0; i < g->ops[o].output_count; i++) {
            int32_t t = g->ops[o].outputs[i];
            u->writer[t] = u->writer[t] == -1 ? o : -2;
        }
        for (int i = 0; i < g->ops[o].input_count; i++) {
            int32_t in = g->ops[o].inputs[i];
            if (last[in] != o) u->reader_at[in + 1]++;
            last[in] = o;
        }
    }
    for (int32_t t = 0; t < g->tensor_count; t++) u->reader_at[t + 1] += u->reader_at[t];
    for (int32_t t = 0; t < g->tensor_count; t++) last[t] = u->reader_at[t];
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < g->ops[o].input_count; i++) {
            int32_t in = g->ops[o].inputs[i];
            if (last[in] == u->reader_at[in] || u->readers[last[in] - 1] != o) u->readers[last[in]++] = o;
        }
}

static int reader_count(const struct online_uses *u, int32_t tensor)
{
    return u->reader_at[tensor + 1] - u->reader_at[tensor];
}

/* Whether the tensor is an intermediate with one writer and no placement stated by the pattern. */
static bool online_is_inside(const struct online_uses *u, int32_t tensor)
{
    const struct lx_tensor *t = &u->g->tensors[tensor];
    return u->writer[tensor] >= 0 && t->role == LX_INTERMEDIATE && !t->memory && !t->placing;
}

/* The only reader of kind `kind` whose operand `place` is the tensor; -1: none or several. */
static int32_t online_reader(const struct online_uses *u, int32_t tensor, enum lx_kind_id kind, int place)
{
    int32_t found = -1;
    for (int32_t k = u->reader_at[tensor]; k < u->reader_at[tensor + 1]; k++) {
        const struct lx_op *op = &u->ops[u->readers[k]];
        if (op->kind->id != kind || place >= op->input_count || op->inputs[place] != tensor) continue;
        if (found >= 0) return -1;
        found = u->readers[k];
    }
    return found;
}

static bool online_is_plain(const struct lx_op *op, int inputs)
{
    return op->map && op->input_count == inputs && op->output_count == 1 && !op->has_value;
}

static bool index_equal(const struct lx_op *op, int a, int b)
{
    const struct lx_einsum *m = op->map;
    return m->rank[a] == m->rank[b] && memcmp(m->index[a], m->index[b], (size_t)m->rank[a]) == 0;
}

/* Elementwise, without moving elements. */
static bool is_same_index(const struct lx_op *op)
{
    for (int i = 0; i < op->input_count; i++)
        if (!index_equal(op, i, op->input_count)) return false;
    return true;
}

static bool has_twice(const struct lx_einsum *m, int operand)
{
    for (int d = 0; d < m->rank[operand]; d++)
        if (lx_einsum_dim(m, operand, m->index[operand][d]) != d) return true;
    return false;
}

/* Whether operand `rows` is indexed by `whole` as the output of `max` is by its input. */
static bool is_like_rows(const struct lx_op *max, const struct lx_op *op, int whole, int rows)
{
    const struct lx_einsum *m = max->map, *x = op->map;
    if (x->rank[whole] != m->rank[0] || x->rank[rows] != m->rank[1] || has_twice(x, whole)) return false;
    for (int d = 0; d < m->rank[1]; d++)
        if (x->index[rows][d] != x->index[whole][lx_einsum_dim(m, 0, m->index[1][d])]) return false;
    return true;
}

/* Whether the op is a op b with one element of b per row, and a result indexed like a. */
static bool is_by_rows(const struct online_uses *u, const struct lx_op *max, int32_t op, int rows)
{
    const struct lx_op *o = &u->ops[op];
    return online_is_plain(o, 2) && index_equal(o, 1 - rows, 2) && is_like_rows(max, o, 1 - rows, rows);
}

/* Whether the op is a matmul that sums exactly the variables of the maximum, with the weights as one
 * factor. */
static bool is_product(const struct online_uses *u, const struct lx_op *max, int32_t op, int32_t weights)
{
    const struct lx_op *o = &u->ops[op];
    if (!online_is_plain(o, 2) || o->kind->id != LX_KIND_MATMUL || o->inputs[0] == o->inputs[1]) return false;
    int side = o->inputs[1] == weights;
    const struct lx_einsum *m = max->map, *x = o->map;
    if (x->rank[side] != m->rank[0] || has_twice(x, 0) || has_twice(x, 1)) return false;
    for (int d = 0; d < m->rank[0]; d++) {
        bool kept = lx_einsum_dim(m, 1, m->index[0][d]) >= 0;
        if (kept != (lx_einsum_dim(x, 2, x->index[side][d]) >= 0)) return false;
    }
    for (int v = 0; v < x->var_count; v++)
        if (lx_einsum_dim(x, 2, v) < 0 && lx_einsum_dim(x, side, v) < 0) return false;
    return true;
}

/* Collects the readers of the weights except `but` (-1: none); they must all be such products. */
static bool take_products(const struct online_uses *u, int32_t weights, int32_t but, struct softmax *s)
{
    for (int32_t k = u->reader_at[weights]; k < u->reader_at[weights + 1]; k++) {
        int32_t op = u->readers[k];
        if (op == but) continue;
        if (s->product_count == MOST_PRODUCTS || !is_product(u, &u->ops[s->max], op, weights)) return false;
        s->after[s->product_count] = -1;
        s->product[s->product_count++] = op;
    }
    return s->product_count > 0;
}

/* The divisor of the powers: the sum, or its reciprocal with a multiplication. */
struct divisor {
    enum lx_kind_id kind;
    int32_t tensor;
};

/* The op that divides tensor `t` by the sum; -1: none. A multiplication may have either operand order. */
static int32_t division_of(const struct online_uses *u, const struct softmax *s, int32_t t, int *rows)
{
    struct divisor d = s->reciprocal < 0 ? (struct divisor){LX_KIND_DIV, u->ops[s->sum].output}
                                         : (struct divisor){LX_KIND_MUL, u->ops[s->reciprocal].output};
    for (int side = 0; side < (d.kind == LX_KIND_MUL ? 2 : 1); side++) {
        int32_t op = online_reader(u, t, d.kind, side);
        *rows = 1 - side;
        if (op >= 0 && online_is_plain(&u->ops[op], 2) && u->ops[op].inputs[*rows] == d.tensor) return op;
    }
    return -1;
}

/* Matches max, sub, exp and sum. */
static bool take_chain(const struct online_uses *u, struct softmax *s)
{
    const struct lx_op *max = &u->ops[s->max];
    if (max->kind->id != LX_KIND_MAX || !max->reduces || !online_is_plain(max, 1) || has_twice(max->map, 0) ||
        !online_is_inside(u, max->output))
        return false;
    s->sub = online_reader(u, max->output, LX_KIND_SUB, 1);
    if (s->sub < 0 || u->ops[s->sub].inputs[0] != max->inputs[0] || !is_by_rows(u, max, s->sub, 1))
        return false;
    int32_t moved = u->ops[s->sub].output;
    s->exp = online_reader(u, moved, LX_KIND_EXP, 0);
    if (s->exp < 0 || !online_is_inside(u, moved) || reader_count(u, moved) != 1 ||
        !is_same_index(&u->ops[s->exp]))
        return false;
    int32_t powers = u->ops[s->exp].output;
    s->sum = online_reader(u, powers, LX_KIND_SUM, 0);
    return s->sum >= 0 && online_is_inside(u, powers) && online_is_inside(u, u->ops[s->sum].output) &&
           is_like_rows(max, &u->ops[s->sum], 0, 1);
}

/* Matches log(sum) + max in either order. False: another use of the logarithm. */
static bool take_log(const struct online_uses *u, struct softmax *s)
{
    s->log = online_reader(u, u->ops[s->sum].output, LX_KIND_LOG, 0);
    if (s->log < 0) return true;
    int32_t log = u->ops[s->log].output;
    for (int side = 0; side < 2 && s->add < 0; side++) s->add = online_reader(u, log, LX_KIND_ADD, side);
    if (s->add < 0 || !online_is_inside(u, log) || reader_count(u, log) != 1) return false;
    const struct lx_op *add = &u->ops[s->add];
    return online_is_plain(&u->ops[s->log], 1) && is_same_index(&u->ops[s->log]) && online_is_plain(add, 2) &&
           is_same_index(add) && add->inputs[0] + add->inputs[1] == log + u->ops[s->max].output;
}

/* Matches powers that are divided by the sum, then multiplied. */
static bool take_early_division(const struct online_uses *u, struct softmax *s)
{
    int rows;
    int32_t powers = u->ops[s->exp].output;
    s->div = division_of(u, s, powers, &rows);
    if (s->div < 0 || reader_count(u, powers) != 2 || !is_by_rows(u, &u->ops[s->max], s->div, rows))
        return false;
    int32_t weights = u->ops[s->div].output;
    return online_is_inside(u, weights) && take_products(u, weights, -1, s);
}

/* Matches powers that are multiplied first; each product is divided by its rows' sums. */
static bool take_late_divisions(const struct online_uses *u, struct softmax *s)
{
    const struct lx_einsum *max = u->ops[s->max].map;
    int32_t powers = u->ops[s->exp].output;
    if (!take_products(u, powers, s->sum, s)) return false;
    for (int i = 0; i < s->product_count; i++) {
        const struct lx_op *product = &u->ops[s->product[i]];
        int rows, side = product->inputs[1] == powers;
        s->after[i] = division_of(u, s, product->output, &rows);
        if (s->after[i] < 0 || !online_is_inside(u, product->output) || reader_count(u, product->output) != 1)
            return false;
        const struct lx_op *div = &u->ops[s->after[i]];
        const struct lx_einsum *m = div->map;
        if (!index_equal(div, 1 - rows, 2) || m->rank[rows] != max->rank[1] || has_twice(m, 2)) return false;
        for (int d = 0; d < max->rank[1]; d++) {
            int from = lx_einsum_dim(max, 0, max->index[1][d]); /* dimension of the weights */
            int to = lx_einsum_dim(product->map, 2, product->map->index[side][from]);
            if (to < 0 || m->index[rows][d] != m->index[1 - rows][to]) return false;
        }
    }
    return true;
}

/* Matches a softmax that starts at op `max`. Every tensor inside it must have the softmax's readers only, be
 * no output, and be indexed like the scores. */
static bool softmax_find(const struct online_uses *u, int32_t max, struct softmax *out)
{
    struct softmax s = {
        .max = max, .sub = -1, .exp = -1, .sum = -1, .reciprocal = -1, .div = -1, .log = -1, .add = -1};
    if (!take_chain(u, &s)) return false;
    int32_t sum = u->ops[s.sum].output;
    s.reciprocal = online_reader(u, sum, LX_KIND_RECIPROCAL, 0);
    if (s.reciprocal >= 0 && !is_same_index(&u->ops[s.reciprocal])) return false;
    if (!take_log(u, &s)) return false;
    bool alone = s.add >= 0 && reader_count(u, u->ops[s.exp].output) == 1;
    struct softmax late = s;
    if (!alone && !take_early_division(u, &s)) {
        s = late;
        if (!take_late_divisions(u, &s)) return false;
    }
    *out = s;
    /* Maximum, sum and reciprocal have no other readers. */
    int divisions = s.div >= 0 ? 1 : s.product_count;
    if (s.reciprocal >= 0) {
        int32_t r = u->ops[s.reciprocal].output;
        if (!online_is_inside(u, r) || reader_count(u, r) != divisions) return false;
        divisions = 1;
    }
    return reader_count(u, u->ops[max].output) == 1 + (s.add >= 0) &&
           reader_count(u, sum) == divisions + (s.log >= 0);
}

/* --- The rewriting. --- */

/* Treatment of an op. */
enum fate { STAYS, GOES, TO_LSE, TO_BLEND, TO_CLONE };

struct rewriting {
    const struct lx_graph *g;
    struct arena memory;
    struct softmax *found;
    int32_t found_count;
    enum fate *fate; /* per op */
    /* per op: the softmax whose log-sum it makes or reads, or -1; its output after rewriting */
    int32_t *lse_of, *gives;
    int32_t *tensor; /* per tensor: its number in the new graph, or -1 */
    int32_t *lse;    /* per softmax: its log-sum tensor in the new graph */
    struct graph_builder b;
    lx_status *st;
};

/* Removes an op and its result. */
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
        /* Only log(sum) + max is used: it replaces the maximum. */
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
        /* Ops move up in the order, so their tensors must have one writer. */
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

/* Finds an unused name. */
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

/* Turns a product into a blend, with the weights as first input. */
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
    /* "a,b->c" becomes "b,a->c" */
    const char *comma = strchr(op->einsum, ','), *arrow = strstr(op->einsum, "->");
    op->einsum = arena_format(&r->memory, "%.*s,%.*s%s", (int)(arrow - comma - 1), comma + 1,
                              (int)(comma - op->einsum), op->einsum, arrow);
}

/* With late division the weights are in the powers' tensor, which every product still reads. */
static bool add_op(struct rewriting *r, int32_t number)
{
    struct lx_op op = r->g->ops[number];
    int32_t inputs[LX_MAX_INPUTS], outputs[LX_MAX_OUTPUTS], softmax = r->lse_of[number];
    char name[240];
    for (int i = 0; i < op.input_count; i++) inputs[i] = r->tensor[op.inputs[i]];
    op.inputs = inputs;
    for (int i = 0; i < op.output_count; i++) outputs[i] = r->tensor[op.outputs[i]];
    op.outputs = outputs;
    op.output = r->tensor[r->gives[number]]; /* the first of several results */
    r->b.here = (struct place){op.line, 0};
    switch (r->fate[number]) {
    case TO_LSE:
        if (!name_lse(r, &r->b.op_names, op.name, name, sizeof name))
            return status_set(r->st, LX_E_DUPLICATE, "too many ops are named as %s", name);
        op.kind = lx_kind_at(LX_KIND_LOGSUMEXP);
        op.output = r->lse[softmax];
        op.name = name;
        break;
    case TO_BLEND: make_blend(r, number, &op, inputs); break;
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
