/* Graphs from texts, as texts, and under construction. A builder keeps the records of a pattern file and
 * parses them at the end, so every entry has the same rules and messages. Errors leave out places in that
 * text, which mean nothing to the caller. */
#include "api/api_handles.h"
#include "base/json/json.h"

/* A list of buffers is a pattern too, and can be planned. */
lx_graph *lx_graph_parse(const char *bytes, int64_t size, const char *format, lx_error *e)
{
    API_CALL(e, NULL);
    union {
        const struct lx_graph *in;
        struct lx_graph *out;
    } g = {.in = api_read(bytes, size, format, st)}; /* constant for both sides */
    return g.out;
}

lx_graph *lx_graph_import(const char *bytes, int64_t size, const lx_options *o, lx_error *e)
{
    API_CALL(e, NULL);
    if (!bytes || size < 0 || !lx_model_sniff(bytes, (size_t)size))
        return lx_graph_parse(bytes, size, NULL, e);
    struct lx_import_options how = o ? o->import : (struct lx_import_options){.branch = -1};
    OWNED char *report = NULL;
    union {
        const struct lx_graph *in;
        struct lx_graph *out;
    } g = {.in = lx_model_import("", bytes, (size_t)size, &how, &report, st)};
    if (g.in && report) g.out->report = arena_string(g.out->memory, report);
    return g.out;
}

lx_text *lx_graph_write(const lx_graph *g, const char *format, lx_error *e)
{
    API_CALL(e, NULL);
    if (!g) return status_set(st, LX_E_USAGE, "there is no graph to write"), NULL;
    if (format && strcmp(format, "report") == 0)
        return g->report
                   ? api_text(mem_string(g->report), strlen(g->report))
                   : (status_set(st, LX_E_USAGE, "only lx_graph_import of a model gives a report"), NULL);
    return api_write(g, format, st);
}

int32_t lx_graph_number(const lx_graph *g, const char *name, double *value)
{
    double found;
    if (!g || !name) return -1;
    if (strcmp(name, "tensors") == 0)
        found = g->tensor_count;
    else if (strcmp(name, "ops") == 0)
        found = g->op_count;
    else if (strcmp(name, "buffers") == 0)
        found = g->list ? g->list->buffer_count : 0;
    else if (strcmp(name, "cores") == 0)
        found = (double)g->device.cores;
    else if (strcmp(name, "bytes") == 0) {
        found = 0;
        for (int32_t i = 0; i < g->tensor_count; i++) found += (double)g->tensors[i].bytes;
        for (int32_t i = 0; g->list && i < g->list->buffer_count; i++)
            found += (double)g->list->buffers[i].size;
    } else
        return -1;
    if (value) *value = found;
    return 0;
}

const char *lx_graph_word(const lx_graph *g, const char *name)
{
    if (!g || !name) return NULL;
    if (strcmp(name, "name") == 0) return g->name;
    if (strcmp(name, "hash") == 0) return g->hash_word;
    if (strcmp(name, "summary") == 0) return g->summary;
    return strcmp(name, "device") == 0 ? g->device.preset : NULL;
}

struct lx_builder {
    struct text name;
    struct text device;            /* `"key": value` and so on */
    VEC(struct text) tensors;      /* whole records */
    VEC(struct text) tensor_names; /* with their quotes */
    VEC(struct text) ops;          /* `"name": ..., "kind": ...` and later attributes */
};

/* Lists keep their room: growing blocks come from outside a call's border. */
static void api_builder_empty(lx_builder *b)
{
    for (size_t i = 0; i < b->tensors.count; i++) text_free(&b->tensors.at[i]);
    for (size_t i = 0; i < b->tensor_names.count; i++) text_free(&b->tensor_names.at[i]);
    for (size_t i = 0; i < b->ops.count; i++) text_free(&b->ops.at[i]);
    b->tensors.count = b->tensor_names.count = b->ops.count = 0;
    text_free(&b->device);
    b->device = (struct text){0};
}

lx_builder *lx_builder_new(const char *name)
{
    API_CALL(NULL, NULL);
    lx_builder *b = mem_zeroed(1, sizeof *b);
    text_json_string(&b->name, name ? name : "graph");
    VEC_RESERVE(&b->tensors, 8);
    VEC_RESERVE(&b->tensor_names, 8);
    VEC_RESERVE(&b->ops, 8);
    return b;
}

void lx_builder_free(lx_builder *b)
{
    if (!b) return;
    api_builder_empty(b);
    VEC_FREE(&b->tensors);
    VEC_FREE(&b->tensor_names);
    VEC_FREE(&b->ops);
    text_free(&b->name);
    mem_free(b);
}

static int32_t api_builder_refuse(lx_status *st, const char *words)
{
    status_set(st, LX_E_USAGE, "%s", words);
    return api_code(st);
}

/* Is it one JSON value, legal after a key? */
static bool is_value(const char *key, const char *value, lx_status *st)
{
    struct json j;
    lx_status why = {0};
    if (json_parse(&j, "", value, strlen(value), &why)) return json_free(&j), true;
    return status_set(st, status_cause(&why, LX_E_SYNTAX),
                      "%.60s: \"%.60s\" is no value as a pattern file has it: %.200s", key, value, why.text);
}

/* Appends `"key": value`, quoting a bare string. If memory is out, `to` is unchanged. */
static int32_t api_builder_add_pair(struct text *to, const char *key, const char *value, bool quoted)
{
    struct text longer = {0};
    if (to->length) text_format(&longer, "%s, ", to->at);
    text_json_string(&longer, key);
    text_add(&longer, ": ");
    if (quoted)
        text_add(&longer, value);
    else
        text_json_string(&longer, value);
    text_free(to);
    *to = longer;
    return 0;
}

int32_t lx_builder_device(lx_builder *b, const char *key, const char *value, lx_error *e)
{
    API_CALL(e, -LX_E_MEMORY);
    if (!b || !key || !value) return api_builder_refuse(st, "a device has keys with values");
    bool preset = strcmp(key, "preset") == 0;
    if (!preset && !is_value(key, value, st)) return api_code(st);
    return api_builder_add_pair(&b->device, key, value, !preset);
}

static void add_string(struct text *t, const char *key, const char *value)
{
    if (!value) return;
    text_format(t, ", \"%s\": ", key);
    text_json_string(t, value);
}

/* Is it a word of the list, or NULL? */
static bool api_is_word(const char *what, const char *given, const char *(*word)(int k), lx_status *st)
{
    SCOPED(text_free) struct text all = {0};
    for (int k = 0; given && word(k); k++) {
        if (strcmp(word(k), given) == 0) return true;
        text_format(&all, "%s%s", k ? ", " : "", word(k));
    }
    if (given)
        status_set(st, LX_E_UNKNOWN_NAME, "there is no %s \"%.60s\"; there are: %.400s", what, given, all.at);
    return !given;
}

static const char *api_graph_dtype(int k)
{
    return k < LX_DTYPE_COUNT ? lx_dtype_word((enum lx_dtype)k) : NULL;
}

static const char *api_graph_role(int k)
{
    return k < LX_ROLE_COUNT ? lx_role_word((enum lx_role)k) : NULL;
}

int32_t lx_builder_tensor(lx_builder *b, const char *name, const char *dtype, int32_t rank,
                          const int64_t *shape, const char *role, lx_error *e)
{
    API_CALL(e, -LX_E_MEMORY);
    struct text t = {0}, quoted = {0};
    if (!b || !name || rank < 0 || rank > LX_MAX_RANK || (rank > 0 && !shape))
        return api_builder_refuse(st, "a tensor has a name and a shape of at most 8 extents");
    if (!api_is_utf8("tensor", name, st) || !api_is_word("dtype", dtype, api_graph_dtype, st) ||
        !api_is_word("role", role, api_graph_role, st))
        return api_code(st);
    for (int32_t i = 0; i < rank; i++)
        if (shape[i] < 1)
            return status_set(st, LX_E_RANGE, "tensor %.80s: extent %d is %lld; it is 1 or more", name,
                              (int)i, (long long)shape[i]),
                   api_code(st);
    text_json_string(&quoted, name);
    text_format(&t, "{\"name\": %s, \"shape\": [", quoted.at ? quoted.at : "");
    for (int32_t i = 0; i < rank; i++) text_format(&t, "%s%" PRId64, i ? ", " : "", shape[i]);
    text_add(&t, "]");
    add_string(&t, "dtype", dtype);
    add_string(&t, "role", role);
    text_add(&t, "}");
    VEC_RESERVE(&b->tensor_names, b->tensors.count + 1);
    VEC_RESERVE(&b->tensors, b->tensors.count + 1); /* the last call that can fail */
    VEC_PUSH(&b->tensor_names, quoted);
    VEC_PUSH(&b->tensors, t);
    return (int32_t)b->tensors.count - 1;
}

static bool api_builder_is_tensor(const lx_builder *b, int32_t t, lx_status *st)
{
    if (t >= 0 && (size_t)t < b->tensors.count) return true;
    return status_set(st, LX_E_UNKNOWN_NAME, "there is no tensor number %d; lx_builder_tensor adds them",
                      (int)t);
}

int32_t lx_builder_op(lx_builder *b, const char *name, const char *kind, const char *einsum,
                      const int32_t *inputs, int32_t count, int32_t output, lx_error *e)
{
    API_CALL(e, -LX_E_MEMORY);
    struct text op = {0}, *t = &op;
    if (!b || !name || !kind || count < 0 || (count > 0 && !inputs))
        return api_builder_refuse(st, "an op has a name, a kind and inputs");
    if (!api_is_utf8("op", name, st)) return api_code(st);
    if (!lx_kind_find(kind))
        return status_set(st, LX_E_UNKNOWN_KIND, "there is no kind of op \"%.60s\"", kind), api_code(st);
    for (int32_t i = 0; i < count; i++)
        if (!api_builder_is_tensor(b, inputs[i], st)) return api_code(st);
    if (!api_builder_is_tensor(b, output, st)) return api_code(st);
    text_add(t, "\"name\": ");
    text_json_string(t, name);
    add_string(t, "kind", kind);
    add_string(t, "einsum", einsum);
    text_format(t, ", \"output\": %s, \"inputs\": [", b->tensor_names.at[output].at);
    for (int32_t i = 0; i < count; i++)
        text_format(t, "%s%s", i ? ", " : "", b->tensor_names.at[inputs[i]].at);
    text_add(t, "]");
    VEC_PUSH(&b->ops, op);
    return (int32_t)b->ops.count - 1;
}

int32_t lx_builder_attribute(lx_builder *b, int32_t op, const char *key, const char *value, lx_error *e)
{
    API_CALL(e, -LX_E_MEMORY);
    if (!b || !key || !value || op < 0 || (size_t)op >= b->ops.count)
        return api_builder_refuse(st, "an attribute belongs to an op and has a key and a value");
    if (!is_value(key, value, st)) return api_code(st);
    return api_builder_add_pair(&b->ops.at[op], key, value, true);
}

lx_graph *lx_builder_finish(lx_builder *b, lx_error *e)
{
    API_CALL(e, NULL);
    SCOPED(text_free) struct text t = {0};
    lx_graph *g = NULL;
    if (!b) return api_builder_refuse(st, "there is no builder"), NULL;
    text_format(&t, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": %s", b->name.at ? b->name.at : "\"\"");
    if (b->device.length) text_format(&t, ", \"device\": {%s}", b->device.at);
    text_add(&t, ", \"tensors\": [");
    for (size_t i = 0; i < b->tensors.count; i++) text_format(&t, "%s%s", i ? ", " : "", b->tensors.at[i].at);
    text_add(&t, "], \"ops\": [");
    for (size_t i = 0; i < b->ops.count; i++) text_format(&t, "%s{%s}", i ? ", " : "", b->ops.at[i].at);
    text_add(&t, "]}");
    g = lx_graph_parse(t.at, (int64_t)t.length, "pattern", e ? e : &(lx_error){0});
    if (!g) st->line = st->column = 0;
    if (g || st->code != LX_E_MEMORY) api_builder_empty(b);
    return g;
}
