/* Nodes of ONNX: operands and results by name, attributes, inlined local functions; and the order of
 * nodes. */
#include "import/read/onnx.h"

static const char *node_prefixed(const struct onnx_building *b, const char *name)
{
    if (!*b->prefix || !*name) return name;
    return arena_format(&b->o->w.m->memory, "%s/%s", b->prefix, name);
}

/* The name of a node in errors: its first result. */
static const char *node_name(const struct lx_model *m, const struct model_op *op)
{
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i] >= 0) return m->values.at[op->results[i]].name;
    return "nothing";
}

/* ---- results ---- */

/* A name has one maker within a graph: a node, an input or an initializer; subgraphs may reuse it. Some
 * exporters make a constant again under its name: the last one counts. Until the nodes are made, the value's
 * `op` is -1 minus the number of further makers. Results of a function are already values of its call. */
static void node_declare(struct onnx_building *b, const struct wire_field *f, bool constant,
                         struct names *made)
{
    const char *name = wire_string(f);
    if (!*name) return;
    int32_t known = names_find(&b->scope->names, name), before = names_find(made, name);
    bool again = before == 1 && constant, of_call = false;
    for (int i = 0; b->call && i < b->call->result_count; i++) of_call |= b->call->results[i] == known;
    if (!again && (before >= 0 || (known >= 0 && !of_call)))
        wire_fail(&f->body, LX_E_DUPLICATE, "%.120s is made twice; rename one", name);
    names_add(made, name, constant);
    if (again) b->o->w.m->values.at[known].op--;
    if (known < 0)
        onnx_add_value(b, name, (struct model_value){.name = node_prefixed(b, name), .from = FROM_OP});
}

void onnx_declare_results(struct onnx_building *b, struct wire w)
{
    struct wire_field f, g;
    SCOPED(names_free) struct names made = {0};
    while (wire_next_of(&w, b->field, &f)) {
        bool constant = false;
        for (struct wire node = f.body; wire_next_of(&node, 4, &g);)
            constant |= strcmp(wire_string(&g), "Constant") == 0;
        for (struct wire node = f.body; wire_next(&node, &g);)
            if (g.number == 2) node_declare(b, &g, constant, &made);
    }
}

/* The value of a node's result, unless a later node makes it again. */
static int32_t node_made(struct onnx_building *b, int32_t v)
{
    struct model_value other = b->o->w.m->values.at[v];
    if (other.from == FROM_OP && other.op == -1) return v;
    if (other.from == FROM_OP) b->o->w.m->values.at[v].op++;
    other.from = FROM_OP;
    other.type = NULL;
    other.data = NULL;
    return onnx_add_value(b, NULL, other);
}

/* ---- attributes ---- */

/* Reads one attribute: its form follows from the field set, or from the stated type. `refers`: in a function,
 * the call's attribute that it stands for. */
static struct model_attr node_attr(struct onnx_building *b, struct wire w, const char **refers)
{
    static const enum model_attr_form by_field[] = {
        [2] = ATTR_REAL, [3] = ATTR_INT,   [4] = ATTR_WORD, [5] = ATTR_DATA,
        [6] = ATTR_BODY, [7] = ATTR_REALS, [8] = ATTR_INTS, [9] = ATTR_WORDS};
    struct model_attr a = {.key = "", .form = ATTR_TEXT, .body = -1};
    SCOPED(numbers_free) struct model_numbers n = {.most = INT64_MAX};
    VEC(const char *) words = {0};
    int word_count;
    struct arena *memory = &w.m->memory;
    const char *unused;
    struct wire_field f;
    uint64_t v, type = 0;
    while (wire_next(&w, &f)) {
        if (f.number >= 2 && f.number <= 9) a.form = by_field[f.number];
        if (f.number == 1) a.key = wire_string(&f);
        if (f.number == 2) a.real = model_float_of_bits(MODEL_F32, f.value);
        if (f.number == 3) a.number = (int64_t)f.value;
        if (f.number == 4) /* any length: some nodes carry whole programs */
            a.text = arena_copy(memory, (const char *)f.body.at, (size_t)(f.body.end - f.body.at));
        if (f.number == 5) a.data = onnx_tensor(f.body, &unused);
        if (f.number == 6) a.body = onnx_graph(b->o, f.body, b->scope);
        while (f.number == 7 && wire_number(&f, WIRE_4, &v))
            numbers_push(&n, 0, model_float_of_bits(MODEL_F32, v));
        while (f.number == 8 && wire_number(&f, WIRE_NUMBER, &v)) numbers_push(&n, (int64_t)v, 0);
        if (f.number == 9) VEC_PUSH(&words, wire_string(&f));
        if (f.number == 20) type = f.value;
        if (f.number == 21) *refers = wire_string(&f);
    }
    bool defaults = type >= 1 && type <= 8 && type != 4 && type != 5; /* of a field not written */
    if (defaults) a.form = by_field[type + 1];
    a.count = (int)n.ints.count;
    a.ints = arena_copy_array(memory, n.ints.at, n.ints.count, sizeof *n.ints.at);
    a.reals = arena_copy_array(memory, n.reals.at, n.reals.count, sizeof *n.reals.at);
    a.words = MODEL_KEEP(w.m, &words, &word_count);
    if (a.form == ATTR_WORDS) a.count = word_count;
    if (a.form == ATTR_WORD && !a.text) a.text = "";
    return a;
}

static void node_attrs(struct onnx_building *b, struct wire node, struct model_op *op)
{
    struct wire_field f;
    VEC(struct model_attr) all = {0};
    onnx_values bodies = {0};
    while (wire_next_of(&node, 5, &f)) {
        const char *refers = NULL;
        struct model_attr a = node_attr(b, f.body, &refers);
        const struct model_attr *given = refers && b->call ? model_attr_find(&b->call->attrs, refers) : NULL;
        const char *key = a.key;
        if (given) a = *given;
        a.key = key;
        if (!refers || given) VEC_PUSH(&all, a); /* else the call omits it */
        if (a.form == ATTR_BODY) VEC_PUSH(&bodies, a.body);
    }
    op->attrs.at = MODEL_KEEP(b->o->w.m, &all, &op->attrs.count);
    op->bodies = MODEL_KEEP(b->o->w.m, &bodies, &op->body_count);
}

/* ---- nodes ---- */

/* Reads everything of a node but its attributes. */
static void node_plain_parts(struct onnx_building *b, struct wire w, struct model_op *op)
{
    struct wire_field f;
    onnx_values lists[2] = {{0}};
    const char *kind = "", *domain = "", *name = "";
    struct lx_model *m = b->o->w.m;
    while (wire_next(&w, &f)) {
        if (f.number == 3) name = wire_string(&f);
        if (f.number == 4) kind = wire_string(&f);
        if (f.number == 7) domain = wire_string(&f);
        if (f.number != 1 && f.number != 2) continue;
        const char *value = wire_string(&f); /* "": none */
        int32_t v = *value ? onnx_look_up(b->scope, value) : -1;
        if (*value && v < 0)
            wire_fail(&f.body, LX_E_UNKNOWN_NAME, "nobody makes %.120s, and it is no input or initializer",
                      value);
        if (f.number == 2 && v >= 0) v = node_made(b, v);
        VEC_PUSH(&lists[f.number - 1], v);
    }
    if (!*kind) wire_fail(&w, LX_E_SCHEMA, "a node without op_type");
    op->operands = MODEL_KEEP(m, &lists[0], &op->operand_count);
    op->results = MODEL_KEEP(m, &lists[1], &op->result_count);
    op->kind = onnx_kind(m, domain, kind);
    op->location = *name ? node_prefixed(b, name) : NULL;
}

/* `captured`: where in the list of outer names its subgraphs' names begin. */
static void node_add(struct onnx_building *b, const struct wire *at, const struct model_op *op,
                     size_t captured)
{
    struct onnx *o = b->o;
    struct onnx_node n = {.op = *op, .at = *at};
    size_t count = (size_t)op->operand_count + o->captured.count - captured;
    if (b->nodes->count >= MODEL_MAX_OPS) wire_fail(&o->w, LX_E_LIMIT, "more than %d nodes", MODEL_MAX_OPS);
    n.waits = arena_array(&o->w.m->memory, count, sizeof *n.waits);
    for (int i = 0; i < op->operand_count; i++) n.waits[n.wait_count++] = op->operands[i];
    for (size_t i = captured; i < o->captured.count; i++) n.waits[n.wait_count++] = o->captured.at[i];
    o->captured.count = captured;
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i] >= 0) o->w.m->values.at[op->results[i]].op = (int32_t)b->nodes->count;
    VEC_PUSH(b->nodes, n);
}

/* Inlines a call of a local function: its inputs are the call's operands, its outputs the results. */
static void node_inline(struct onnx_building *b, const struct wire *at, int32_t function,
                        const struct model_op *call)
{
    struct onnx *o = b->o;
    struct onnx_function *fn = &o->functions.at[function];
    struct onnx_scope scope = {0};
    struct onnx_building in = *b;
    struct wire_field f;
    int inputs = 0, outputs = 0;
    in.scope = &scope;
    in.field = 7;
    in.call = call;
    in.prefix = call->location ? call->location : call->kind;
    if (++o->calls > MODEL_MAX_OPS) wire_fail(&o->w, LX_E_LIMIT, "more than %d calls", MODEL_MAX_OPS);
    if (fn->under_way || o->depth > MODEL_MAX_DEPTH)
        wire_fail(at, LX_E_CYCLE, "function %.120s calls itself: the node within that makes %.80s", fn->kind,
                  node_name(o->w.m, call));
    fn->under_way = true;
    o->depth++;
    for (struct wire w = fn->text; wire_next(&w, &f);) {
        int i = f.number == 4 ? inputs++ : f.number == 5 ? outputs++ : -1;
        if (i < 0) continue;
        const int32_t *values = f.number == 4 ? call->operands : call->results;
        int count = f.number == 4 ? call->operand_count : call->result_count;
        if (i < count && values[i] >= 0) onnx_bind(&in, wire_string(&f), values[i]);
    }
    onnx_declare_results(&in, fn->text);
    onnx_make_nodes(&in, fn->text);
    o->depth--;
    fn->under_way = false;
    names_free(&scope.names);
    VEC_FREE(&scope.outside);
}

void onnx_make_nodes(struct onnx_building *b, struct wire w)
{
    struct wire_field f;
    while (wire_next_of(&w, b->field, &f)) {
        struct model_op op = {0};
        size_t captured = b->o->captured.count;
        node_plain_parts(b, f.body, &op);
        node_attrs(b, f.body, &op);
        int32_t function = names_find(&b->o->function_names, op.kind);
        if (b->o->failed) return;
        if (function >= 0)
            node_inline(b, &f.body, function, &op);
        else
            node_add(b, &f.body, &op, captured);
    }
}

/* ---- order ---- */

enum { SORT_UNSEEN, SORT_UNDER_WAY, SORT_PLACED };

struct sort_state {
    char seen;
    size_t next; /* the next dependency */
};

/* Places everything that `root` depends on, then `root`; without recursion. Returns the new length of the
 * order. */
static size_t sort_place(struct onnx_building *b, int32_t root, struct sort_state *state, int32_t *stack,
                         int32_t *order, size_t placed, const char *graph)
{
    const struct lx_model *m = b->o->w.m;
    size_t depth = 0;
    stack[depth++] = root;
    state[root].seen = SORT_UNDER_WAY;
    while (depth > 0 && !b->o->failed) {
        int32_t node = stack[depth - 1];
        const struct onnx_node *n = &b->nodes->at[node];
        if (state[node].next == n->wait_count) {
            state[node].seen = SORT_PLACED;
            order[placed++] = node;
            depth--;
            continue;
        }
        int32_t value = n->waits[state[node].next++];
        const struct model_value *v = value < 0 ? NULL : &m->values.at[value];
        int32_t maker = v && v->from == FROM_OP && v->body == b->body ? v->op : -1;
        if (maker < 0 || state[maker].seen == SORT_PLACED) continue;
        if (state[maker].seen == SORT_UNDER_WAY)
            wire_fail(&b->nodes->at[maker].at, LX_E_CYCLE,
                      "graph %.80s: the node that makes %.80s (%.40s) needs its own result", graph,
                      node_name(m, &b->nodes->at[maker].op), b->nodes->at[maker].op.kind);
        state[maker].seen = SORT_UNDER_WAY;
        if (!b->o->failed) stack[depth++] = maker;
    }
    return placed;
}

const int32_t *onnx_sort(struct onnx_building *b, const char *graph)
{
    size_t count = b->nodes->count, placed = 0;
    OWNED struct sort_state *state = mem_zeroed(count + 1, sizeof *state);
    int32_t *order = arena_array(&b->o->w.m->memory, count, sizeof *order),
            *stack = mem_zeroed(count + 1, sizeof *stack);
    for (size_t i = 0; !b->o->failed && i < count; i++)
        if (state[i].seen == SORT_UNSEEN)
            placed = sort_place(b, (int32_t)i, state, stack, order, placed, graph);
    mem_free(stack);
    return order;
}
