/* A graph of ONNX: initializers, inputs, nodes, outputs; those within nodes see the names of those around
 * them. */
#include "import/read/onnx.h"

#include <stdlib.h>
#include <string.h>

static bool graph_add_initializer(struct onnx_building *b, const struct wire_field *f)
{
    struct lx_model *m = b->o->w.m;
    struct model_value v = {.name = "", .from = FROM_FILE, .body = b->body, .op = -1};
    v.data = onnx_tensor(f->body, &v.name);
    if (!v.data) return false;
    v.type = v.data->type;
    int32_t number = model_add_value(m, &v, b->o->w.st);
    if (number < 0) return b->o->failed = true, false;
    VEC_PUSH(&m->constants, number);
    return onnx_bind(b->o, b->scope, v.name, number);
}

/* `--value NAME=N` makes a constant of an input. */
static bool graph_fix_value(struct onnx *o, struct model_value *v)
{
    for (int i = 0; i < o->options->fixed_count; i++) {
        if (strcmp(o->options->fixed[i].name, v->name) != 0 || !v->type) continue;
        struct model_data *d = arena_alloc(&o->w.m->memory, sizeof *d);
        int64_t *whole = arena_alloc(&o->w.m->memory, sizeof *whole);
        double *real = arena_alloc(&o->w.m->memory, sizeof *real);
        *whole = o->options->fixed[i].value;
        *real = (double)*whole;
        bool is_real = model_element_row(v->type->element)->number == MODEL_FLOAT;
        *d = (struct model_data){.form = DATA_SPLAT,
                                 .type = v->type,
                                 .ints = is_real ? NULL : whole,
                                 .reals = is_real ? real : NULL};
        v->data = d;
        o->w.m->fixed_used[i] = true;
    }
    return true;
}

typedef VEC(int32_t) value_list;

/* Old files list initializers among the inputs. */
static bool graph_add_input(struct onnx_building *b, const struct wire_field *f, value_list *arguments)
{
    struct onnx_info info;
    bool outermost = !b->scope->outer;
    struct wire_field name;
    for (struct wire w = f->body; wire_next(&w, &name);)
        if (name.number == 1) {
            const char *known = wire_string(&name);
            if (!known) return false;
            if (names_find(&b->scope->names, known) >= 0) return true;
        }
    if (!onnx_value_info(b->o, f->body, &info, outermost)) return false;
    struct model_value v = {
        .name = info.name, .type = info.type, .from = FROM_ARGUMENT, .body = b->body, .op = -1};
    if (outermost && !graph_fix_value(b->o, &v)) return false;
    int32_t number = model_add_value(b->o->w.m, &v, b->o->w.st);
    if (number < 0) return b->o->failed = true, false;
    VEC_PUSH(arguments, number);
    return onnx_bind(b->o, b->scope, info.name, number);
}

static bool graph_declare_type(struct onnx_building *b, const struct wire_field *f)
{
    struct onnx_info info;
    if (!onnx_value_info(b->o, f->body, &info, false)) return false;
    int32_t v = names_find(&b->scope->names, info.name);
    if (v < 0 || !info.type) return true;
    b->o->w.m->values.at[v].declared = info.type;
    b->o->w.m->values.at[v].declared_exact = info.exact;
    return true;
}

static bool graph_add_output(struct onnx_building *b, const struct wire_field *f, value_list *results)
{
    struct onnx_info info;
    if (!onnx_value_info(b->o, f->body, &info, false)) return false;
    int32_t v = onnx_look_up(b->scope, info.name);
    if (v < 0) return wire_fail(&f->body, LX_E_UNKNOWN_NAME, "nobody makes the output %.120s", info.name);
    VEC_PUSH(results, v);
    return true;
}

struct ends {
    value_list arguments, results;
    const char *name;
};

/* Fields come in any order, and each step needs those before it: initializers, inputs, results of nodes,
 * declared types, nodes, outputs. */
static bool graph_fields(struct onnx_building *b, struct wire w, struct ends *e)
{
    static const int steps[] = {5, 11, 1, 13, 12, -1, -12};
    struct wire_field f;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i] == 1 && !onnx_declare_results(b, w)) return false;
        if (steps[i] == -1 && !onnx_make_nodes(b, w)) return false;
        bool ok = true;
        for (struct wire at = w; ok && wire_next(&at, &f);) {
            if (f.number == 2 && i == 0) ok = (e->name = wire_string(&f)) != NULL;
            if (f.number != abs(steps[i]) || f.kind != WIRE_BYTES) continue;
            if (steps[i] == 5) ok = graph_add_initializer(b, &f);
            if (steps[i] == 11) ok = graph_add_input(b, &f, &e->arguments);
            if (steps[i] == 13 || steps[i] == 12) ok = graph_declare_type(b, &f);
            if (steps[i] == -12) ok = graph_add_output(b, &f, &e->results);
        }
        if (!ok || b->o->failed) return false;
    }
    return true;
}

static bool graph_finish(struct onnx_building *b, const struct ends *e)
{
    struct lx_model *m = b->o->w.m;
    struct model_body body = {.name = e->name ? e->name : ""};
    if (!onnx_sort(b->o, b->nodes, b->body, body.name, &body.rearranged)) return false;
    struct model_op *ops = arena_array(&m->memory, b->nodes->count, sizeof *ops);
    body.ops = ops;
    body.op_count = (int)b->nodes->count;
    for (size_t i = 0; ops && i < b->nodes->count; i++) ops[i] = b->nodes->at[i].op;
    body.argument_count = (int)e->arguments.count;
    body.result_count = (int)e->results.count;
    body.arguments = arena_copy_array(&m->memory, e->arguments.at, e->arguments.count, sizeof(int32_t));
    body.results = arena_copy_array(&m->memory, e->results.at, e->results.count, sizeof(int32_t));
    m->bodies.at[b->body] = body;
    return true;
}

/* Names of graphs around this one that it uses: the node that has it waits for them. */
static bool graph_hand_out(struct onnx *o, const struct onnx_scope *s)
{
    for (size_t i = 0; i < s->outside.count; i++) VEC_PUSH(&o->captured, s->outside.at[i]);
    return true;
}

int32_t onnx_graph(struct onnx *o, struct wire w, struct onnx_scope *outer)
{
    struct onnx_scope scope = {.outer = outer, .body = (int32_t)o->w.m->bodies.count};
    onnx_nodes nodes = {0};
    struct onnx_building b = {
        .o = o, .scope = &scope, .nodes = &nodes, .body = scope.body, .field = 1, .prefix = ""};
    struct ends e = {0};
    bool ok = ++o->depth <= MODEL_MAX_DEPTH
                  ? true
                  : wire_fail(&w, LX_E_LIMIT, "graphs nest more than %d deep", MODEL_MAX_DEPTH);
    if (ok) VEC_PUSH(&o->w.m->bodies, (struct model_body){0});
    ok = ok && graph_fields(&b, w, &e) && graph_finish(&b, &e) && graph_hand_out(o, &scope);
    o->depth--;
    for (size_t i = 0; i < nodes.count; i++) VEC_FREE(&nodes.at[i].waits);
    VEC_FREE(&nodes);
    VEC_FREE(&e.arguments);
    VEC_FREE(&e.results);
    VEC_FREE(&scope.outside);
    names_free(&scope.names);
    return ok ? b.body : -1;
}
