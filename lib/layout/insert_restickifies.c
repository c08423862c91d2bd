/* The new graph: the live ops in their order, before each the restickifies that its way needs.
 *
 * A copy is made once for each layout and serves all later ops until the tensor is written again. Rows of a
 * matmul's kernel are padded in the kernel's own layout, up to whole sticks of the other operand: the host,
 * or the op that writes the kernel, fills them with zeros. */
#include "layout/propagate.h"
#include "base/fail.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/vec.h"
#include "graph/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct copy {
    int32_t from; /* old tensor */
    int stick;
    int32_t to; /* new tensor */
    bool valid;
};

struct inserter {
    const struct lx_graph *g;
    const struct stick_costs *costs;
    struct lx_layouts *out;
    lx_status *st;
    struct graph_builder b;
    int32_t *fresh; /* per old tensor: its number in the new graph */
    int *stick;     /* per old tensor: where its stick is; -2: not settled */
    VEC(struct lx_layout) layouts;
    VEC(int32_t) origin, op_origin;
    VEC(signed char) stick_var;
    VEC(struct copy) copies;
    int32_t *first_copy;    /* per old tensor: the newest of its copies, or -1 */
    VEC(int32_t) next_copy; /* chain of the copies of one tensor */
    VEC(struct lx_restickify) restickifies;
    VEC(struct lx_padding) paddings;
};

static bool insert_restickifies_add_tensor(struct inserter *n, int32_t old, int stick, const char *suffix,
                                           enum lx_role role, int32_t *out)
{
    const struct lx_tensor *t = &n->g->tensors[old];
    char name[300];
    struct lx_layout layout = {0};
    if (t->rank >= 0 &&
        !lx_layout_with_stick(t->dtype, t->rank, t->shape, stick, n->g->device.stick_bytes, &layout, n->st)) {
        char why[300];
        snprintf(why, sizeof why, "%.290s", n->st ? n->st->text : "");
        return status_set_at(n->st, LX_E_LAYOUT, n->g->file, t->line, 1, "tensor %s: %s", t->name, why);
    }
    snprintf(name, sizeof name, "%.250s%s", t->name, suffix);
    while (*suffix && names_find(&n->b.tensor_names, name) >= 0 && strlen(name) < 290) strcat(name, "'");
    n->b.here = (struct place){t->line, 1};
    *out =
        builder_tensor(&n->b, *suffix ? name : t->name, role, t->dtype, t->rank, t->shape, t->bytes, n->st);
    if (*out >= 0 && !*suffix) {
        n->b.tensors.at[*out].memory = t->memory;
        n->b.tensors.at[*out].placing = t->placing;
    }
    return *out >= 0 &&
           (VEC_PUSH(&n->layouts, layout) && VEC_PUSH(&n->origin, old) ? true : status_no_memory(n->st));
}

static bool insert_restickifies_add_op(struct inserter *n, const struct lx_op *op, int32_t origin,
                                       int stick_var)
{
    n->b.here = (struct place){op->line, 1};
    n->b.here_einsum = n->b.here;
    if (!builder_op(&n->b, op, n->st)) return false;
    return VEC_PUSH(&n->op_origin, origin) && VEC_PUSH(&n->stick_var, (signed char)stick_var)
               ? true
               : status_no_memory(n->st);
}

static int32_t find_copy(const struct inserter *n, int32_t old, int stick)
{
    for (int32_t c = n->first_copy[old]; c >= 0; c = n->next_copy.at[c])
        if (n->copies.at[c].valid && n->copies.at[c].stick == stick) return n->copies.at[c].to;
    return -1;
}

/* The new tensor that holds old tensor `old` with its stick along `stick`: an earlier copy, or a new one. */
static bool restickified(struct inserter *n, int32_t old, int stick, int32_t *out)
{
    const struct lx_kind *kind = lx_kind_at(LX_KIND_RESTICKIFY);
    char suffix[24], name[320];
    if ((*out = find_copy(n, old, stick)) >= 0) return true;
    if (stick < 0)
        snprintf(suffix, sizeof suffix, ".sparse");
    else
        snprintf(suffix, sizeof suffix, ".stick%d", stick);
    if (!insert_restickifies_add_tensor(n, old, stick, suffix, LX_INTERMEDIATE, out)) return false;
    snprintf(name, sizeof name, "%.290s.turn", n->b.tensors.at[*out].name);
    while (names_find(&n->b.op_names, name) >= 0 && strlen(name) < 310) strcat(name, "'");
    unsigned have = 1u << (n->stick[old] + 1);
    for (int32_t c = n->first_copy[old]; c >= 0; c = n->next_copy.at[c])
        if (n->copies.at[c].valid) have |= 1u << (n->copies.at[c].stick + 1);
    int source = stick_source(n->costs, old, have, n->stick[old]);
    int32_t from = source == n->stick[old] ? n->fresh[old] : find_copy(n, old, source);
    struct lx_op op = {.name = name, .kind = kind, .input_count = 1, .inputs = &from, .output = *out};
    op.line = n->g->tensors[old].line;
    struct lx_restickify r = {(int32_t)n->b.ops.count, -1, from, *out,
                              stick_move_cost(n->costs, old, have, stick)};
    if (!insert_restickifies_add_op(n, &op, -1, stick)) return false;
    bool ok = VEC_PUSH(&n->restickifies, r) && VEC_PUSH(&n->copies, (struct copy){old, stick, *out, true}) &&
              VEC_PUSH(&n->next_copy, n->first_copy[old]);
    if (!ok) return status_no_memory(n->st);
    n->first_copy[old] = (int32_t)n->copies.count - 1;
    return true;
}

/* How rows of a kernel are padded: up to whole sticks of the other operand's type. */
struct rows {
    int dim;
    int64_t count, padded;
};

/* False: they stay as they are. */
static bool kernel_rows(const struct inserter *n, const struct lx_op *op, const struct stick_way *w,
                        const int32_t *inputs, struct rows *out)
{
    struct op_index x;
    op_index_of(n->g, op, &x);
    const struct lx_layout *l = &n->layouts.at[inputs[w->kernel]];
    out->dim = op_index_dim(&x, w->kernel, w->kernel_row);
    out->count = x.extent[w->kernel_row];
    out->padded = round_up_i64(out->count, n->layouts.at[inputs[1 - w->kernel]].stick_elements);
    if (out->count == 1 || out->padded == out->count || out->dim == l->stick_dim) return false;
    for (int i = 0; i < l->rank - 1; i++)
        if (l->host_dim[i] == out->dim && l->size[i] >= out->padded) return false;
    return true;
}

static bool pad_kernel(struct inserter *n, const struct lx_op *op, const struct stick_way *w,
                       const int32_t *inputs)
{
    struct rows r;
    if (!kernel_rows(n, op, w, inputs, &r)) return true;
    if (!lx_layout_pad(&n->layouts.at[inputs[w->kernel]], r.dim, r.padded))
        return status_set(n->st, LX_E_RANGE, "op %s: padded rows are beyond 2^53 bytes", op->name);
    struct lx_padding p = {(int32_t)n->b.ops.count, inputs[w->kernel], r.dim, r.count, r.padded};
    return VEC_PUSH(&n->paddings, p) ? true : status_no_memory(n->st);
}

/* What leaves the graph goes through HBM as it lies. Where padding at least doubles it, and one core could
 * hold a copy, that is padded instead. */
static bool pads_a_copy(const struct inserter *n, const struct lx_op *op, const struct stick_way *w,
                        const int32_t *inputs)
{
    int32_t old = op->inputs[w->kernel];
    const struct lx_layout *l = &n->layouts.at[inputs[w->kernel]];
    struct rows r;
    int64_t bytes;
    if (inputs[w->kernel] != n->fresh[old] || !lx_role_leaves(n->g->tensors[old].role) ||
        !kernel_rows(n, op, w, inputs, &r) || r.padded / r.count < 2)
        return false;
    return mul_i64(lx_layout_bytes(l), ceil_div_i64(r.padded, r.count), &bytes) &&
           bytes <= lx_device_usable(&n->g->device);
}

/* The tensor that an op writes: the one that was written before, or a new one. */
static bool insert_restickifies_add_result(struct inserter *n, int32_t old, int need, int32_t *out)
{
    if (n->fresh[old] < 0) {
        const struct lx_tensor *t = &n->g->tensors[old];
        n->stick[old] = need == STICK_ANY ? stick_default(t) : stick_for_need(need);
        if (!insert_restickifies_add_tensor(n, old, n->stick[old], "", t->role, &n->fresh[old])) return false;
    }
    for (int32_t c = n->first_copy[old]; c >= 0; c = n->next_copy.at[c]) n->copies.at[c].valid = false;
    *out = n->fresh[old];
    return true;
}

static bool insert_op(struct inserter *n, int32_t o, const struct stick_way *w)
{
    const struct lx_op *op = &n->g->ops[o];
    int32_t inputs[LX_MAX_INPUTS], outputs[LX_MAX_OUTPUTS];
    size_t first = n->restickifies.count;
    for (int i = 0; i < op->input_count; i++) {
        int32_t t = op->inputs[i];
        const struct lx_tensor *tensor = &n->g->tensors[t];
        inputs[i] = n->fresh[t];
        if (tensor->rank < 0 || stick_satisfies(tensor, n->stick[t], w->need[i])) continue;
        if (!restickified(n, t, stick_for_need(w->need[i]), &inputs[i])) return false;
    }
    if (w->kernel >= 0 && pads_a_copy(n, op, w, inputs) &&
        !restickified(n, op->inputs[w->kernel], n->stick[op->inputs[w->kernel]], &inputs[w->kernel]))
        return false;
    for (size_t r = first; r < n->restickifies.count; r++)
        n->restickifies.at[r].before = (int32_t)n->b.ops.count;
    if (w->kernel >= 0 && !pad_kernel(n, op, w, inputs)) return false;
    for (int i = op->input_count; i < op_operand_count(op); i++)
        if (!insert_restickifies_add_result(n, op_operand(op, i), w->need[i], &outputs[i - op->input_count]))
            return false;
    struct lx_op copy = *op;
    copy.inputs = inputs;
    copy.output = outputs[0];
    copy.outputs = outputs;
    return insert_restickifies_add_op(n, &copy, o, w->stick_var);
}

static bool add_given(struct inserter *n, const bool *alive)
{
    bool *used = mem_zeroed((size_t)n->g->tensor_count + 1, sizeof *used);
    if (!used) return status_no_memory(n->st);
    bool ok = true;
    for (int32_t o = 0; o < n->g->op_count; o++)
        for (int i = 0; alive[o] && i < n->g->ops[o].output_count; i++) used[n->g->ops[o].outputs[i]] = true;
    /* Inputs keep their places, also those that only dead ops read. */
    for (int32_t t = 0; t < n->g->tensor_count && ok; t++) {
        enum lx_role role = n->g->tensors[t].role;
        if ((used[t] && role != LX_STATE) || !lx_role_arrives(role)) continue;
        n->stick[t] = stick_default(&n->g->tensors[t]);
        ok = insert_restickifies_add_tensor(n, t, n->stick[t], "", role, &n->fresh[t]);
    }
    mem_free(used);
    return ok;
}

/* Sorts by where a tensor stands in the pattern; copies come behind all others. */
struct rank {
    int64_t key;
    int32_t tensor;
};

static int insert_restickifies_by_key(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

static bool rename_operands(struct inserter *n, struct lx_op *op, const int32_t *now)
{
    int32_t *inputs = arena_array(n->b.memory, (size_t)op->input_count, sizeof *inputs);
    if (!inputs) return false;
    for (int i = 0; i < op->input_count; i++) inputs[i] = now[op->inputs[i]];
    op->inputs = inputs;
    op->output = now[op->output];
    int32_t *outputs = arena_array(n->b.memory, (size_t)op->output_count, sizeof *outputs);
    for (int i = 0; outputs && i < op->output_count; i++) outputs[i] = now[op->outputs[i]];
    op->outputs = outputs;
    return outputs != NULL;
}

/* Tensors were numbered as ops asked for them. People, solvers and files know them in the pattern's order. */
static bool in_pattern_order(struct inserter *n)
{
    size_t count = n->b.tensors.count;
    if (count == 0) return true; /* a model whose ops were all folded may leave nothing */
    struct rank *rank = mem_alloc((count + 1) * sizeof *rank);
    int32_t *now = mem_alloc((count + 1) * sizeof *now);
    struct lx_tensor *tensors = mem_alloc((count + 1) * sizeof *tensors);
    struct place *places = mem_alloc((count + 1) * sizeof *places);
    struct lx_layout *layouts = mem_alloc((count + 1) * sizeof *layouts);
    int32_t *origin = mem_alloc((count + 1) * sizeof *origin);
    bool ok = rank && now && tensors && places && layouts && origin;
    for (size_t i = 0; ok && i < count; i++) {
        bool copy = n->fresh[n->origin.at[i]] != (int32_t)i;
        rank[i] =
            (struct rank){copy ? (int64_t)n->g->tensor_count + (int64_t)i : n->origin.at[i], (int32_t)i};
    }
    if (ok) {
        qsort(rank, count, sizeof *rank, insert_restickifies_by_key);
        memcpy(tensors, n->b.tensors.at, count * sizeof *tensors);
        memcpy(places, n->b.tensor_places.at, count * sizeof *places);
        memcpy(layouts, n->layouts.at, count * sizeof *layouts);
        memcpy(origin, n->origin.at, count * sizeof *origin);
        for (size_t i = 0; i < count; i++) {
            int32_t old = rank[i].tensor;
            now[old] = (int32_t)i;
            n->b.tensors.at[i] = tensors[old];
            n->b.tensor_places.at[i] = places[old];
            n->layouts.at[i] = layouts[old];
            n->origin.at[i] = origin[old];
        }
        for (size_t o = 0; ok && o < n->b.ops.count; o++) ok = rename_operands(n, &n->b.ops.at[o], now);
        for (size_t i = 0; i < n->restickifies.count; i++) {
            struct lx_restickify *r = &n->restickifies.at[i];
            r->from = now[r->from], r->to = now[r->to];
        }
        for (size_t i = 0; i < n->paddings.count; i++)
            n->paddings.at[i].tensor = now[n->paddings.at[i].tensor];
    }
    mem_free(rank);
    mem_free(now);
    mem_free(tensors);
    mem_free(places);
    mem_free(layouts);
    mem_free(origin);
    return ok ? true : status_no_memory(n->st);
}

static const bool *find_rewritten(const struct lx_graph *g, struct arena *memory)
{
    size_t tensors = (size_t)g->tensor_count;
    bool *again = arena_array(memory, tensors, sizeof *again), *once = mem_zeroed(tensors + 1, sizeof *once);
    for (int32_t o = 0; again && once && o < g->op_count; o++)
        for (int i = 0; i < g->ops[o].output_count; i++) {
            int32_t t = g->ops[o].outputs[i];
            again[t] |= once[t];
            once[t] = true;
        }
    bool ok = again && once;
    mem_free(once);
    return ok ? again : NULL;
}

static bool insert_restickifies_finish(struct inserter *n)
{
    struct lx_layouts *out = n->out;
    struct arena *m = out->memory;
    const struct lx_graph *old = n->g, *g;
    n->b.graph->device = old->device;
    n->b.graph->summary = arena_string(n->b.memory, old->summary);
    n->b.graph->target_hbm_bytes = old->target_hbm_bytes;
    n->b.graph->alignment = old->alignment;
    size_t tensors = n->layouts.count, ops = n->op_origin.count;
    if (!in_pattern_order(n)) return false;
    if (!(g = builder_finish(&n->b, n->st))) return false;
    out->graph = g;
    out->rewritten = find_rewritten(g, m);
    out->layouts = arena_copy_array(m, n->layouts.at, tensors, sizeof *out->layouts);
    out->origin = arena_copy_array(m, n->origin.at, tensors, sizeof *out->origin);
    out->op_origin = arena_copy_array(m, n->op_origin.at, ops, sizeof *out->op_origin);
    out->stick_var = arena_copy_array(m, n->stick_var.at, ops, sizeof *out->stick_var);
    out->restickifies =
        arena_copy_array(m, n->restickifies.at, n->restickifies.count, sizeof *out->restickifies);
    out->restickify_count = (int32_t)n->restickifies.count;
    out->paddings = arena_copy_array(m, n->paddings.at, n->paddings.count, sizeof *out->paddings);
    out->padding_count = (int32_t)n->paddings.count;
    bool ok = out->rewritten && out->layouts && out->origin && out->op_origin && out->stick_var &&
              out->restickifies && out->paddings;
    return ok ? true : status_no_memory(n->st);
}

bool insert_restickifies(const struct lx_graph *g, const bool *alive, const struct stick_plan *plan,
                         struct lx_layouts *out, lx_status *st)
{
    struct inserter n = {.g = g, .costs = &plan->costs, .out = out, .st = st};
    size_t tensors = (size_t)g->tensor_count + 1;
    n.fresh = mem_alloc(tensors * sizeof *n.fresh);
    n.stick = mem_zeroed(tensors, sizeof *n.stick);
    n.first_copy = mem_alloc(tensors * sizeof *n.first_copy);
    bool ok = n.fresh && n.stick && n.first_copy ? true : status_no_memory(st);
    if (ok) {
        memset(n.fresh, 0xff, tensors * sizeof *n.fresh);
        memset(n.first_copy, 0xff, tensors * sizeof *n.first_copy);
        builder_begin(&n.b, g->file, g->name);
        n.b.unhashed = true;
        builder_reserve(&n.b, g->tensor_count + g->tensor_count / 2, g->op_count + g->op_count / 2);
        ok = add_given(&n, alive);
    }
    for (int32_t o = 0; ok && o < g->op_count; o++)
        if (alive[o]) ok = insert_op(&n, o, &plan->way[o]);
    if (ok) ok = insert_restickifies_finish(&n);
    builder_abandon(&n.b); /* spent, or given up half way */
    mem_free(n.fresh);
    mem_free(n.stick);
    mem_free(n.first_copy);
    VEC_FREE(&n.layouts);
    VEC_FREE(&n.origin);
    VEC_FREE(&n.op_origin);
    VEC_FREE(&n.stick_var);
    VEC_FREE(&n.copies);
    VEC_FREE(&n.next_copy);
    VEC_FREE(&n.restickifies);
    VEC_FREE(&n.paddings);
    return ok;
}
