/* Builds the new graph: live ops in order, each after the restickifies that its way needs. A copy serves
 * later ops until the tensor is written again. A matmul kernel's rows are padded to whole sticks of the
 * other operand; the host, or the op that writes the kernel, fills the padding with zeros. */
#include "layout/propagate.h"
#include "graph/builder.h"

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
    int *stick;     /* per old tensor: its stick dimension; -2: not chosen yet */
    VEC(struct lx_layout) layouts;
    VEC(int32_t) origin, op_origin;
    VEC(signed char) stick_var;
    VEC(struct copy) copies;
    int32_t *first_copy;    /* per old tensor: the newest of its copies, or -1 */
    VEC(int32_t) next_copy; /* per copy: the next older copy of the same tensor, or -1 */
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
    VEC_PUSH(&n->layouts, layout);
    VEC_PUSH(&n->origin, old);
    return *out >= 0;
}

static bool insert_restickifies_add_op(struct inserter *n, const struct lx_op *op, int32_t origin,
                                       int stick_var)
{
    n->b.here = (struct place){op->line, 1};
    n->b.here_einsum = n->b.here;
    VEC_PUSH(&n->op_origin, origin);
    VEC_PUSH(&n->stick_var, (signed char)stick_var);
    return builder_op(&n->b, op, n->st);
}

static int32_t find_copy(const struct inserter *n, int32_t old, int stick)
{
    for (int32_t c = n->first_copy[old]; c >= 0; c = n->next_copy.at[c])
        if (n->copies.at[c].valid && n->copies.at[c].stick == stick) return n->copies.at[c].to;
    return -1;
}

/* Sets `*out` to the new tensor that holds tensor `old` with its stick along `stick`: an earlier copy, or a
 * new one. */
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
    VEC_PUSH(&n->restickifies, r);
    VEC_PUSH(&n->copies, ((struct copy){old, stick, *out, true}));
    VEC_PUSH(&n->next_copy, n->first_copy[old]);
    n->first_copy[old] = (int32_t)n->copies.count - 1;
    return insert_restickifies_add_op(n, &op, -1, stick);
}

/* Padding of a kernel's rows to whole sticks of the other operand's type. */
struct rows {
    int dim;
    int64_t count, padded;
};

/* False: the rows need no padding. */
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

/* Pads the kernel's rows. If the kernel is a graph output that would at least double and the padded tensor
 * fits one core, a padded copy is used instead. */
static bool pad_kernel(struct inserter *n, const struct lx_op *op, const struct stick_way *w, int32_t *inputs)
{
    struct rows r;
    int32_t old = op->inputs[w->kernel], *kernel = &inputs[w->kernel];
    int64_t bytes;
    if (!kernel_rows(n, op, w, inputs, &r)) return true;
    bool copies =
        *kernel == n->fresh[old] && lx_role_leaves(n->g->tensors[old].role) && r.padded / r.count >= 2 &&
        mul_i64(lx_layout_bytes(&n->layouts.at[*kernel]), ceil_div_i64(r.padded, r.count), &bytes) &&
        bytes <= lx_device_usable(&n->g->device);
    if (copies && !restickified(n, old, n->stick[old], kernel)) return false;
    if (copies && !kernel_rows(n, op, w, inputs, &r)) return true;
    if (!lx_layout_pad(&n->layouts.at[*kernel], r.dim, r.padded))
        return status_set(n->st, LX_E_RANGE, "op %s: padded rows are beyond 2^53 bytes", op->name);
    VEC_PUSH(&n->paddings, ((struct lx_padding){(int32_t)n->b.ops.count, *kernel, r.dim, r.count, r.padded}));
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
    if (w->kernel >= 0 && !pad_kernel(n, op, w, inputs)) return false;
    for (size_t r = first; r < n->restickifies.count; r++)
        n->restickifies.at[r].before = (int32_t)n->b.ops.count;
    /* Results are tensors that an earlier op wrote, or new ones. */
    for (int i = op->input_count; i < op_operand_count(op); i++) {
        int32_t old = op_operand(op, i);
        const struct lx_tensor *t = &n->g->tensors[old];
        if (n->fresh[old] < 0) {
            n->stick[old] = w->need[i] == STICK_ANY ? stick_default(t) : stick_for_need(w->need[i]);
            if (!insert_restickifies_add_tensor(n, old, n->stick[old], "", t->role, &n->fresh[old]))
                return false;
        }
        for (int32_t c = n->first_copy[old]; c >= 0; c = n->next_copy.at[c]) n->copies.at[c].valid = false;
        outputs[i - op->input_count] = n->fresh[old];
    }
    struct lx_op copy = *op;
    copy.inputs = inputs;
    copy.output = outputs[0];
    copy.outputs = outputs;
    return insert_restickifies_add_op(n, &copy, o, w->stick_var);
}

/* Sort key: the tensor's number in the pattern; copies come last. */
struct rank {
    int64_t key;
    int32_t tensor;
};

ORDER(insert_restickifies_by_key, struct rank, ORDER_UP(key) ORDER_UP(tensor));

/* Renumbers tensors in the pattern's order, which people, solvers and files know. */
static void in_pattern_order(struct inserter *n)
{
    size_t count = n->b.tensors.count;
    SCOPED(arena_free) struct arena memory = {0};
    if (count == 0) return; /* a model whose ops were all folded may have no tensors */
    struct rank *rank = arena_array(&memory, count, sizeof *rank);
    int32_t *now = arena_array(&memory, count, sizeof *now);
    struct lx_tensor *tensors = arena_copy_array(&memory, n->b.tensors.at, count, sizeof *tensors);
    struct place *places = arena_copy_array(&memory, n->b.tensor_places.at, count, sizeof *places);
    struct lx_layout *layouts = arena_copy_array(&memory, n->layouts.at, count, sizeof *layouts);
    int32_t *origin = arena_copy_array(&memory, n->origin.at, count, sizeof *origin);
    for (size_t i = 0; i < count; i++) {
        bool copy = n->fresh[origin[i]] != (int32_t)i;
        rank[i] = (struct rank){copy ? (int64_t)n->g->tensor_count + (int64_t)i : origin[i], (int32_t)i};
    }
    qsort(rank, count, sizeof *rank, insert_restickifies_by_key);
    for (size_t i = 0; i < count; i++) {
        int32_t old = rank[i].tensor;
        now[old] = (int32_t)i;
        n->b.tensors.at[i] = tensors[old];
        n->b.tensor_places.at[i] = places[old];
        n->layouts.at[i] = layouts[old];
        n->origin.at[i] = origin[old];
    }
    for (size_t o = 0; o < n->b.ops.count; o++) {
        struct lx_op *op = &n->b.ops.at[o];
        int32_t *inputs = arena_array(n->b.memory, (size_t)op->input_count, sizeof *inputs);
        int32_t *outputs = arena_array(n->b.memory, (size_t)op->output_count, sizeof *outputs);
        for (int i = 0; i < op->input_count; i++) inputs[i] = now[op->inputs[i]];
        for (int i = 0; i < op->output_count; i++) outputs[i] = now[op->outputs[i]];
        op->inputs = inputs;
        op->output = now[op->output];
        op->outputs = outputs;
    }
    for (size_t i = 0; i < n->restickifies.count; i++) {
        struct lx_restickify *r = &n->restickifies.at[i];
        r->from = now[r->from], r->to = now[r->to];
    }
    for (size_t i = 0; i < n->paddings.count; i++) n->paddings.at[i].tensor = now[n->paddings.at[i].tensor];
}

static bool insert_restickifies_finish(struct inserter *n)
{
    struct lx_layouts *out = n->out;
    struct arena *m = out->memory;
    const struct lx_graph *old = n->g, *g;
    n->b.graph->device = old->device;
    n->b.graph->summary = arena_string(n->b.memory, old->summary);
    n->b.graph->target_hbm_bytes = old->target_hbm_bytes;
    size_t tensors = n->layouts.count, ops = n->op_origin.count;
    in_pattern_order(n);
    if (!(g = builder_finish(&n->b, n->st))) return false;
    out->graph = g;
    bool *again = arena_array(m, tensors, sizeof *again), *once = mem_zeroed(tensors + 1, sizeof *once);
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < g->ops[o].output_count; i++) {
            int32_t t = g->ops[o].outputs[i];
            again[t] |= once[t];
            once[t] = true;
        }
    mem_free(once);
    out->rewritten = again;
    out->layouts = arena_copy_array(m, n->layouts.at, tensors, sizeof *out->layouts);
    out->origin = arena_copy_array(m, n->origin.at, tensors, sizeof *out->origin);
    out->op_origin = arena_copy_array(m, n->op_origin.at, ops, sizeof *out->op_origin);
    out->stick_var = arena_copy_array(m, n->stick_var.at, ops, sizeof *out->stick_var);
    out->restickifies =
        arena_copy_array(m, n->restickifies.at, n->restickifies.count, sizeof *out->restickifies);
    out->restickify_count = (int32_t)n->restickifies.count;
    out->paddings = arena_copy_array(m, n->paddings.at, n->paddings.count, sizeof *out->paddings);
    out->padding_count = (int32_t)n->paddings.count;
    return true;
}

bool insert_restickifies(const struct lx_graph *g, const bool *alive, const struct stick_plan *plan,
                         struct lx_layouts *out, lx_status *st)
{
    struct inserter n = {.g = g, .costs = &plan->costs, .out = out, .st = st};
    SCOPED(arena_free) struct arena memory = {0};
    size_t tensors = (size_t)g->tensor_count;
    bool *made = arena_array(&memory, tensors, sizeof *made), ok = true;
    n.fresh = arena_array(&memory, tensors, sizeof *n.fresh);
    n.stick = arena_array(&memory, tensors, sizeof *n.stick);
    n.first_copy = arena_array(&memory, tensors, sizeof *n.first_copy);
    memset(n.fresh, 0xff, tensors * sizeof *n.fresh);
    memset(n.first_copy, 0xff, tensors * sizeof *n.first_copy);
    builder_begin(&n.b, g->file, g->name);
    n.b.unhashed = true;
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; alive[o] && i < g->ops[o].output_count; i++) made[g->ops[o].outputs[i]] = true;
    /* Graph inputs stay, even if only dead ops read them. */
    for (int32_t t = 0; t < g->tensor_count && ok; t++) {
        enum lx_role role = g->tensors[t].role;
        if ((made[t] && role != LX_STATE) || !lx_role_arrives(role)) continue;
        n.stick[t] = plan->stick[t];
        ok = insert_restickifies_add_tensor(&n, t, n.stick[t], "", role, &n.fresh[t]);
    }
    for (int32_t o = 0; ok && o < g->op_count; o++)
        if (alive[o]) ok = insert_op(&n, o, &plan->way[o]);
    if (ok) ok = insert_restickifies_finish(&n);
    builder_abandon(&n.b); /* the builder is empty on success, half full on failure */
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
