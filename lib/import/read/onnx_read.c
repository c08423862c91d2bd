/* Reading ONNX: op sets, local functions, the graph and those within its nodes, then all shapes. */
#include "import/read/onnx.h"
#include "import/types/typing.h"

/* ---- the wire format: no length is believed beyond the remaining bytes ---- */

bool wire_fail(const struct wire *w, enum lx_code code, const char *format, ...)
{
    char words[512];
    va_list args;
    if (*w->failed) return false;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    *w->failed = true;
    return status_set_at(w->st, code, w->m->file, 0, 0, "at byte %zu: %s", (size_t)(w->at - w->base), words);
}

static bool wire_varint(struct wire *w, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (w->at >= w->end) return wire_fail(w, LX_E_SYNTAX, "a number that does not end");
        unsigned char byte = *w->at++;
        if (shift < 64) *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return true;
    }
    return wire_fail(w, LX_E_SYNTAX, "a number of more than 10 bytes");
}

static bool wire_value(struct wire *w, enum wire_kind kind, uint64_t *out)
{
    size_t size = kind == WIRE_4 ? 4 : 8;
    if (kind == WIRE_NUMBER || kind == WIRE_BYTES) return wire_varint(w, out);
    if (kind != WIRE_4 && kind != WIRE_8)
        return wire_fail(w, LX_E_SYNTAX, "a field of kind %d, which this is no model with", (int)kind);
    if ((size_t)(w->end - w->at) < size) return wire_fail(w, LX_E_SYNTAX, "the file ends within a number");
    *out = 0;
    for (size_t i = size; i-- > 0;) *out = *out << 8 | w->at[i];
    w->at += size;
    return true;
}

bool wire_next(struct wire *w, struct wire_field *f)
{
    uint64_t tag;
    if (*w->failed || w->at >= w->end || !wire_varint(w, &tag)) return false;
    if (tag >> 3 == 0 || tag >> 3 > 1 << 29) return wire_fail(w, LX_E_SYNTAX, "a field without a number");
    *f = (struct wire_field){.number = (int)(tag >> 3), .kind = (enum wire_kind)(tag & 7)};
    if (!wire_value(w, f->kind, &f->value)) return false;
    f->body = *w;
    f->body.end = w->at;
    if (f->kind != WIRE_BYTES) return true;
    if (f->value > (uint64_t)(w->end - w->at))
        return wire_fail(w, LX_E_SYNTAX, "a length of %llu bytes where %zu are left",
                         (unsigned long long)f->value, (size_t)(w->end - w->at));
    w->at = f->body.end = w->at + f->value;
    return true;
}

bool wire_next_of(struct wire *w, int number, struct wire_field *f)
{
    while (wire_next(w, f))
        if (f->number == number && f->kind == WIRE_BYTES) return true;
    return false;
}

bool wire_number(struct wire_field *f, enum wire_kind packed, uint64_t *out)
{
    if (f->kind == WIRE_BYTES) return f->body.at < f->body.end && wire_value(&f->body, packed, out);
    *out = f->value;
    f->kind = WIRE_BYTES; /* without any left */
    return true;
}

const char *wire_string(const struct wire_field *f)
{
    size_t n = (size_t)(f->body.end - f->body.at);
    if (n > MODEL_MAX_NAME) wire_fail(&f->body, LX_E_LIMIT, "a name of more than %d bytes", MODEL_MAX_NAME);
    return *f->body.failed ? "" : arena_copy(&f->body.m->memory, (const char *)f->body.at, n);
}

/* Adds op sets as attributes of the model: domain ("" for ONNX itself) and version. */
static void onnx_opsets(struct onnx *o)
{
    struct model_attr all[MODEL_MAX_DEPTH];
    struct wire_field f, g;
    int count = 0;
    for (struct wire w = o->w; wire_next_of(&w, 8, &f);) {
        struct model_attr a = {.key = "", .form = ATTR_INT, .body = -1};
        for (struct wire at = f.body; wire_next(&at, &g);) {
            if (g.number == 1) a.key = wire_string(&g);
            if (g.number == 2) a.number = (int64_t)g.value;
        }
        if (strcmp(a.key, "ai.onnx") == 0) a.key = "";
        for (int i = 0; i < count; i++)
            if (strcmp(all[i].key, a.key) == 0 && all[i].number != a.number)
                wire_fail(&f.body, LX_E_SCHEMA, "two versions of op set \"%.80s\"", a.key);
        if (count == MODEL_MAX_DEPTH) wire_fail(&f.body, LX_E_LIMIT, "too many op sets");
        if (!o->failed) all[count++] = a;
    }
    o->w.m->attrs.count = count;
    o->w.m->attrs.at = arena_copy_array(&o->w.m->memory, all, (size_t)count, sizeof *all);
}

int64_t onnx_opset(const struct lx_model *m, const char *kind)
{
    char domain[MODEL_MAX_NAME + 1];
    const char *colon = strchr(kind, ':');
    size_t n = colon ? (size_t)(colon - kind) : 0;
    memcpy(domain, kind, n);
    domain[n] = 0;
    return model_attr_int(&m->attrs, domain, 1);
}

const char *onnx_kind(struct lx_model *m, const char *domain, const char *kind)
{
    bool plain = !*domain || strcmp(domain, "ai.onnx") == 0;
    return plain ? kind : arena_format(&m->memory, "%s:%s", domain, kind);
}

static void onnx_functions(struct onnx *o)
{
    struct wire_field f, g;
    for (struct wire w = o->w; wire_next_of(&w, 25, &f);) {
        struct onnx_function fn = {.text = f.body};
        const char *name = "", *domain = "";
        for (struct wire at = f.body; wire_next(&at, &g);) {
            if (g.number == 1) name = wire_string(&g);
            if (g.number == 10) domain = wire_string(&g);
        }
        fn.kind = onnx_kind(o->w.m, domain, name);
        names_add(&o->function_names, fn.kind, (int32_t)o->functions.count);
        VEC_PUSH(&o->functions, fn);
    }
    o->w.m->function_count = (int)o->functions.count;
}

/* ---- graphs ---- */

int32_t onnx_look_up(struct onnx_scope *s, const char *name)
{
    struct onnx_scope *from = s;
    int32_t v = -1;
    while (s && (v = names_find(&s->names, name)) < 0) s = s->outer;
    for (; s && from != s; from = from->outer)
        VEC_PUSH(&from->outside, v); /* all graphs in between depend on it */
    return v;
}

void onnx_bind(struct onnx_building *b, const char *name, int32_t value)
{
    if (names_add(&b->scope->names, name, value) == NAMES_KNOWN)
        wire_fail(&b->o->w, LX_E_DUPLICATE, "%.120s is made twice", name);
}

int32_t onnx_add_value(struct onnx_building *b, const char *name, struct model_value v)
{
    v.body = b->body;
    v.op = -1;
    int32_t number = b->o->failed ? -1 : model_add_value(b->o->w.m, &v, b->o->w.st);
    b->o->failed |= number < 0;
    if (name && number >= 0) onnx_bind(b, name, number);
    return number;
}

/* `--value NAME=N` makes a constant of an input. */
static const struct model_data *graph_fixed_value(struct onnx *o, const struct onnx_info *input)
{
    struct lx_model *m = o->w.m;
    for (int i = 0; i < o->options->fixed_count; i++) {
        if (strcmp(o->options->fixed[i].name, input->name) != 0 || !input->type) continue;
        struct model_data *d = arena_alloc(&m->memory, sizeof *d);
        SCOPED(numbers_free) struct model_numbers n = {.most = 1};
        numbers_push(&n, o->options->fixed[i].value, (double)o->options->fixed[i].value);
        n.count = 1;
        *d = (struct model_data){.form = DATA_SPLAT, .type = input->type};
        numbers_keep(m, &n, d);
        m->fixed_used[i] = true;
        return d;
    }
    return NULL;
}

struct graph_ends {
    onnx_values arguments, results;
    const char *name;
};

/* Reads a field in its step; outputs are read twice, for types and for values. */
static void graph_field(struct onnx_building *b, const struct wire_field *f, int step, struct graph_ends *e)
{
    struct lx_model *m = b->o->w.m;
    bool input = step == 11;
    if (step == 2) {
        e->name = wire_string(f);
        return;
    }
    if (step == 5) {
        struct model_value v = {.name = "", .from = FROM_FILE};
        v.data = onnx_tensor(f->body, &v.name);
        v.type = v.data->type;
        int32_t number = onnx_add_value(b, v.name, v);
        VEC_PUSH(&m->constants, number);
        return;
    }
    struct onnx_info info =
        onnx_value_info(b->o, f->body, input && !b->scope->outer ? &b->scope->names : NULL);
    int32_t known = step < 0 ? onnx_look_up(b->scope, info.name) : names_find(&b->scope->names, info.name);
    if (input && known < 0) { /* old files list initializers among the inputs */
        struct model_value v = {.name = info.name, .type = info.type, .from = FROM_ARGUMENT};
        if (!b->scope->outer) v.data = graph_fixed_value(b->o, &info);
        int32_t number = onnx_add_value(b, info.name, v);
        VEC_PUSH(&e->arguments, number);
    } else if (step < 0) {
        if (known < 0) wire_fail(&f->body, LX_E_UNKNOWN_NAME, "nobody makes the output %.120s", info.name);
        VEC_PUSH(&e->results, known);
    } else if (!input && known >= 0 && info.type) {
        m->values.at[known].declared = info.type;
        m->values.at[known].declared_exact = info.exact;
    }
}

/* Fields come in any order, and each step needs the previous ones: name, initializers, inputs, results of
 * nodes, declared types, nodes, outputs. */
int32_t onnx_graph(struct onnx *o, struct wire w, struct onnx_scope *outer)
{
    struct lx_model *m = o->w.m;
    struct onnx_scope scope = {.outer = outer};
    OWNED onnx_nodes nodes = {0};
    struct onnx_building b = {
        .o = o, .scope = &scope, .body = (int32_t)m->bodies.count, .field = 1, .prefix = ""};
    struct graph_ends e = {.name = ""};
    static const int steps[] = {2, 5, 11, 1, 13, 12, -1, -12};
    struct wire_field f;
    b.nodes = &nodes;
    if (++o->depth > MODEL_MAX_DEPTH)
        wire_fail(&w, LX_E_LIMIT, "graphs nest more than %d deep", MODEL_MAX_DEPTH);
    VEC_PUSH(&m->bodies, (struct model_body){0});
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i] == 1) onnx_declare_results(&b, w);
        if (steps[i] == -1) onnx_make_nodes(&b, w);
        for (struct wire at = w; abs(steps[i]) != 1 && wire_next_of(&at, abs(steps[i]), &f);)
            graph_field(&b, &f, steps[i], &e);
    }
    const int32_t *order = onnx_sort(&b, e.name);
    struct model_body body = {.name = e.name, .op_count = o->failed ? 0 : (int)nodes.count};
    body.ops = arena_array(&m->memory, nodes.count, sizeof *body.ops);
    for (int i = 0; i < body.op_count; i++) {
        const struct model_op *op = &nodes.at[order[i]].op;
        body.ops[i] = *op;
        body.rearranged |= order[i] != i;
        for (int r = 0; r < op->result_count; r++)
            if (op->results[r] >= 0) m->values.at[op->results[r]].op = i;
    }
    body.arguments = MODEL_KEEP(m, &e.arguments, &body.argument_count);
    body.results = MODEL_KEEP(m, &e.results, &body.result_count);
    m->bodies.at[b.body] = body;
    for (size_t i = 0; i < scope.outside.count; i++) VEC_PUSH(&o->captured, scope.outside.at[i]);
    o->depth--;
    VEC_FREE(&scope.outside);
    names_free(&scope.names);
    return b.body;
}

bool onnx_read(struct lx_model *m, const char *text, size_t length, const struct lx_model_options *options,
               lx_status *st)
{
    const unsigned char *from = (const unsigned char *)text;
    SCOPED(text_free) struct text unbound = {0};
    struct onnx o = {.options = options, .unbound = &unbound};
    struct wire_field f, graph = {0};
    o.w =
        (struct wire){.at = from, .end = from + length, .base = from, .m = m, .st = st, .failed = &o.failed};
    onnx_functions(&o);
    onnx_opsets(&o);
    for (struct wire w = o.w; wire_next_of(&w, 7, &f);) graph = f;
    if (graph.number != 7) wire_fail(&o.w, LX_E_SYNTAX, "no graph in field 7");
    if (!o.failed) m->entry = onnx_graph(&o, graph.body, NULL);
    bool ok = !o.failed && model_extents_told(m, &unbound, st) && onnx_infer_types(m, options, st);
    VEC_FREE(&o.functions);
    VEC_FREE(&o.captured);
    names_free(&o.function_names);
    return ok;
}
