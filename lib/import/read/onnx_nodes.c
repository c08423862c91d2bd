/* Nodes of ONNX: operands and results by name, local functions put in the place of their calls. */
#include "import/read/onnx.h"

#include <stdlib.h>
#include <string.h>

int32_t onnx_look_up(struct onnx_scope *s, const char *name)
{
    struct onnx_scope *from = s;
    for (; s; s = s->outer) {
        int32_t v = names_find(&s->names, name);
        if (v < 0) continue;
        /* Whoever is in between waits for it, too. */
        for (struct onnx_scope *t = from; t != s; t = t->outer)
            if (!VEC_PUSH(&t->outside, v)) return -1;
        return v;
    }
    return -1;
}

bool onnx_bind(struct onnx *o, struct onnx_scope *s, const char *name, int32_t value)
{
    enum names_result added = names_add(&s->names, name, value);
    if (added == NAMES_KNOWN) return wire_fail(&o->w, LX_E_DUPLICATE, "%.120s is made twice", name);
    return true;
}

static const char *node_prefixed(const struct onnx_building *b, const char *name)
{
    if (!*b->prefix || !*name) return name;
    return arena_format(&b->o->w.m->memory, "%s/%s", b->prefix, name);
}

/* Results of a function have the values of the call already. */
static bool node_is_of_call(const struct onnx_building *b, int32_t value)
{
    for (int i = 0; b->call && i < b->call->result_count; i++)
        if (b->call->results[i] == value) return true;
    return false;
}

/* A name has one maker within a graph: a node, an input or an initializer; graphs within nodes may use it
 * anew. Some exporters make a constant again under its name: the last one counts. Until its nodes are
 * made, `op` is -1 less one for each further. */
static bool node_declare(struct onnx_building *b, const struct wire_field *f, bool constant,
                         struct names *made)
{
    const char *name = wire_string(f);
    if (!name) return false;
    if (!*name) return true;
    int32_t known = names_find(&b->scope->names, name), before = names_find(made, name);
    bool again = before == 1 && constant;
    if (!again && (before >= 0 || (known >= 0 && !node_is_of_call(b, known))))
        return wire_fail(&f->body, LX_E_DUPLICATE, "%.120s is made twice; rename one", name);
    names_add(made, name, constant);
    if (again) b->o->w.m->values.at[known].op--;
    if (known >= 0) return true;
    struct model_value v = {.name = node_prefixed(b, name), .from = FROM_OP, .body = b->body, .op = -1};
    int32_t number = model_add_value(b->o->w.m, &v, b->o->w.st);
    if (number < 0) return b->o->failed = true, false;
    return onnx_bind(b->o, b->scope, name, number);
}

static bool node_is_constant(struct wire node)
{
    struct wire_field f;
    bool constant = false;
    while (wire_next(&node, &f)) {
        const char *kind = f.number == 4 && f.kind == WIRE_BYTES ? wire_string(&f) : NULL;
        constant |= kind && strcmp(kind, "Constant") == 0;
    }
    return constant;
}

bool onnx_declare_results(struct onnx_building *b, struct wire w)
{
    struct wire_field f, g;
    struct names made = {0};
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        if (f.number != b->field) continue;
        bool constant = node_is_constant(f.body);
        for (struct wire node = f.body; ok && wire_next(&node, &g);)
            if (g.number == 2) ok = node_declare(b, &g, constant, &made);
    }
    names_free(&made);
    return ok && !b->o->failed;
}

typedef VEC(int32_t) value_list;

/* The value that a node makes: the one of that name, unless it is made once more later. */
static int32_t node_made_by(struct onnx_building *b, int32_t v)
{
    struct model_value other = b->o->w.m->values.at[v];
    if (other.from == FROM_OP && other.op == -1) return v;
    if (other.from == FROM_OP) b->o->w.m->values.at[v].op++;
    other.from = FROM_OP;
    other.op = -1;
    other.type = NULL;
    other.data = NULL;
    return model_add_value(b->o->w.m, &other, b->o->w.st);
}

/* A name of the node as a value; "" is none. */
static bool node_named(struct onnx_building *b, const struct wire_field *f, value_list *to)
{
    const char *name = wire_string(f);
    if (!name) return false;
    int32_t v = *name ? onnx_look_up(b->scope, name) : -1;
    if (*name && v < 0)
        return wire_fail(&f->body, LX_E_UNKNOWN_NAME,
                         "nobody makes %.120s, and it is no input or initializer", name);
    if (f->number == 2 && *name && (v = node_made_by(b, v)) < 0) return b->o->failed = true, false;
    VEC_PUSH(to, v);
    return true;
}

static const char *node_kind_of(struct lx_model *m, const char *domain, const char *kind)
{
    if (!*domain || strcmp(domain, "ai.onnx") == 0) return kind;
    return arena_format(&m->memory, "%s:%s", domain, kind);
}

/* Everything of a node but its attributes. */
static bool node_plain_parts(struct onnx_building *b, struct wire w, struct model_op *op)
{
    struct wire_field f;
    value_list in = {0}, out = {0};
    const char *kind = "", *domain = "", *name = NULL;
    struct arena *memory = &b->o->w.m->memory;
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        if (f.number == 1) ok = node_named(b, &f, &in);
        if (f.number == 2) ok = node_named(b, &f, &out);
        if (f.number == 3) ok = (name = wire_string(&f)) != NULL;
        if (f.number == 4) ok = (kind = wire_string(&f)) != NULL;
        if (f.number == 7) ok = (domain = wire_string(&f)) != NULL;
    }
    op->operand_count = (int)in.count;
    op->result_count = (int)out.count;
    op->operands = arena_copy_array(memory, in.at, in.count, sizeof *in.at);
    op->results = arena_copy_array(memory, out.at, out.count, sizeof *out.at);
    VEC_FREE(&in);
    VEC_FREE(&out);
    if (!ok || b->o->failed) return false;
    op->kind = node_kind_of(b->o->w.m, domain, kind);
    op->location = name && *name ? node_prefixed(b, name) : NULL;
    if (!*kind) return wire_fail(&w, LX_E_SCHEMA, "a node without op_type");
    return true;
}

const char *onnx_node_name(const struct lx_model *m, const struct model_op *op)
{
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i] >= 0) return m->values.at[op->results[i]].name;
    return "nothing";
}

static void node_waits_for(struct onnx_node *n, const int32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] >= 0) VEC_PUSH(&n->waits, values[i]);
}

/* `captured`: where in the list of names of outer graphs those of its subgraphs begin. */
static bool add_node(struct onnx_building *b, const struct wire *at, const struct model_op *op,
                     size_t captured)
{
    struct onnx_node n = {.op = *op, .at = *at};
    int32_t number = (int32_t)b->nodes->count;
    if (b->nodes->count >= MODEL_MAX_OPS)
        return wire_fail(&b->o->w, LX_E_LIMIT, "more than %d nodes", MODEL_MAX_OPS);
    node_waits_for(&n, op->operands, (size_t)op->operand_count);
    node_waits_for(&n, b->o->captured.at + captured, b->o->captured.count - captured);
    b->o->captured.count = captured;
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i] >= 0) b->o->w.m->values.at[op->results[i]].op = number;
    VEC_PUSH(b->nodes, n);
    return true;
}

/* Inputs of the function are the operands of the call, its outputs the results. */
static bool node_bind_ends(struct onnx_building *in, struct wire w, const struct model_op *call)
{
    struct wire_field f;
    int inputs = 0, outputs = 0;
    while (wire_next(&w, &f)) {
        if (f.number != 4 && f.number != 5) continue;
        const char *name = wire_string(&f);
        bool input = f.number == 4;
        int i = input ? inputs++ : outputs++;
        if (!name) return false;
        int32_t v = input ? (i < call->operand_count ? call->operands[i] : -1)
                          : (i < call->result_count ? call->results[i] : -1);
        if (v >= 0 && !onnx_bind(in->o, in->scope, name, v)) return false;
    }
    return !in->o->failed;
}

/* A call of a local function becomes its nodes. */
static bool node_inline_call(struct onnx_building *b, const struct wire *at, int32_t function,
                             const struct model_op *call)
{
    struct onnx_function *fn = &b->o->functions.at[function];
    struct onnx_scope scope = {.body = b->body};
    struct onnx_building in = *b;
    in.scope = &scope;
    in.field = 7;
    in.call = call;
    in.prefix = call->location ? call->location : call->kind;
    if (++b->o->calls > MODEL_MAX_OPS)
        return wire_fail(&b->o->w, LX_E_LIMIT, "more than %d calls", MODEL_MAX_OPS);
    if (fn->under_way || b->o->depth > MODEL_MAX_DEPTH)
        return wire_fail(at, LX_E_CYCLE, "function %.120s calls itself: the node within that makes %.80s",
                         fn->kind, onnx_node_name(b->o->w.m, call));
    fn->under_way = true;
    b->o->depth++;
    bool ok = node_bind_ends(&in, fn->text, call) && onnx_declare_results(&in, fn->text) &&
              onnx_make_nodes(&in, fn->text);
    b->o->depth--;
    b->o->functions.at[function].under_way = false;
    names_free(&scope.names);
    VEC_FREE(&scope.outside);
    return ok;
}

static bool make_node(struct onnx_building *b, struct wire w)
{
    struct model_op op = {0};
    size_t captured = b->o->captured.count;
    if (!node_plain_parts(b, w, &op) || !onnx_attrs(b, w, &op.attrs, &op)) return false;
    int32_t function = names_find(&b->o->function_names, op.kind);
    return function >= 0 ? node_inline_call(b, &w, function, &op) : add_node(b, &w, &op, captured);
}

bool onnx_make_nodes(struct onnx_building *b, struct wire w)
{
    struct wire_field f;
    while (wire_next(&w, &f))
        if (f.number == b->field && f.kind == WIRE_BYTES && !make_node(b, f.body)) return false;
    return !b->o->failed;
}
