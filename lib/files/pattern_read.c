/* Pattern files (patterns/README.md has the schema): JSON to builder. Checks only the text, with the place of
 * each value; builder_finish checks the graph. */
#include "graph/online.h"
#include "files/pattern_list.h"

FORMAT_READS(pattern);

struct place place_of(const struct json_value *value)
{
    return (struct place){value->place.line, value->place.column};
}

bool read_ints(struct reader *r, const struct json_value *array, const char *what, int64_t low, size_t most,
               int64_t **out, int *count)
{
    size_t n = (size_t)json_count(array), i = 0;
    if (n > most)
        return json_error(r->j, array, r->st, LX_E_LIMIT, "%zu entries here; at most %zu are allowed", n,
                          most);
    *out = arena_array(r->b.memory, n, sizeof **out);
    const struct json_value *v;
    json_for_each(v, array)
        if (!json_int_value(r->j, v, what, low, LX_INT_MAX, &(*out)[i++], r->st)) return false;
    *count = (int)n;
    return true;
}

/* "expect": {"greedy": "fail", ...} or {"error": {"stage": "divide", "code": "span"}}. */
static bool read_expect(struct reader *r, const struct json_value *v)
{
    static const char *const error_keys[] = {"stage", "code", NULL};
    struct lx_graph *g = r->b.graph;
    if (!json_is_object(v))
        return json_error(r->j, v, r->st, LX_E_SCHEMA,
                          "expect must be an object, such as {\"greedy\": \"pass\"}");
    const struct json_value *error = json_find(v, "error");
    if (error) {
        static const char *const alone[] = {"error", NULL};
        const char *stage, *code;
        if (!json_only_keys(r->j, v, "an expect with an \"error\"", alone, r->st) ||
            !json_only_keys(r->j, error, "an expected error", error_keys, r->st) ||
            !json_string(r->j, error, "stage", &stage, r->st) ||
            !json_string(r->j, error, "code", &code, r->st))
            return false;
        g->expect_stage = arena_string(r->b.memory, stage);
        g->expect_code = arena_string(r->b.memory, code);
        return true;
    }
    struct lx_expect *expects = arena_array(r->b.memory, (size_t)json_count(v), sizeof *expects);
    const struct json_value *item;
    json_for_each(item, v) {
        bool pass = json_is_string(item) && strcmp(item->text, "pass") == 0;
        if (!pass && !(json_is_string(item) && strcmp(item->text, "fail") == 0))
            return json_error(r->j, item, r->st, LX_E_SCHEMA,
                              "what is expected of %s must be \"pass\" or \"fail\"", item->key);
        struct json_place at = item->place;
        const char *solver = arena_string(r->b.memory, item->key);
        expects[g->expect_count++] = (struct lx_expect){solver, pass, at.line, at.column};
    }
    g->expects = expects;
    return true;
}

/* "passes": {"tile": "none", "no_in_place": true}, as in plan files. */
static bool pattern_read_passes(struct reader *r, const struct json_value *v)
{
    struct lx_graph *g = r->b.graph;
    const struct json_value *item;
    if (!json_is_object(v))
        return json_error(r->j, v, r->st, LX_E_SCHEMA,
                          "passes must be an object, such as {\"tile\": \"none\"}");
    struct lx_stated_pass *passes = arena_array(r->b.memory, (size_t)json_count(v), sizeof *passes);
    json_for_each(item, v) {
        if (!json_is_string(item) && !json_is_bool(item))
            return json_error(r->j, item, r->st, LX_E_SCHEMA, "a pass is a word, true or false");
        passes[g->pass_count++] =
            (struct lx_stated_pass){arena_string(r->b.memory, item->key),
                                    json_is_string(item) ? arena_string(r->b.memory, item->text)
                                    : json_is_true(item) ? "on"
                                                         : "off",
                                    item->place.line, item->place.column};
    }
    g->passes = passes;
    return true;
}

static bool read_origin(struct reader *r, const struct json_value *v)
{
    struct lx_graph *g = r->b.graph;
    const struct lx_graph *from = pattern_read_json(r->j, v, r->st);
    if (!from) return false;
    if (from->came_from || from->list || g->list) {
        lx_graph_free(from);
        return json_error(r->j, v, r->st, LX_E_SCHEMA,
                          "what a graph came from is a graph that came from nowhere; remove one of them");
    }
    g->came_from = from;
    return true;
}

/* "grid": [2, 4], of devices. */
static bool pattern_read_grid(struct reader *r, const struct json_value *root)
{
    const struct json_value *array = NULL;
    struct lx_graph *g = r->b.graph;
    int64_t *sizes, members = 1;
    if (!json_opt_array(r->j, root, "grid", &array, r->st)) return false;
    if (!array) return true;
    if (!read_ints(r, array, "an axis of the grid", 1, LX_GRID_AXES, &sizes, &g->grid_axes)) return false;
    for (int a = 0; a < g->grid_axes; a++) {
        if (sizes[a] > LX_GRID_DEVICES || (members *= sizes[a]) > LX_GRID_DEVICES)
            return json_error(r->j, array, r->st, LX_E_LIMIT, "a grid has at most %d devices",
                              LX_GRID_DEVICES);
        g->grid[a] = (int)sizes[a];
    }
    return true;
}

static bool pattern_read_all(struct reader *r, const struct json_value *root)
{
    static const char *const keys[] = {
        "lxplan", "kind",      "name",     "summary",   "device",    "tensors",
        "ops",    "buffers",   "capacity", "alignment", "objective", "target_hbm_bytes",
        "expect", "came_from", "grid",     "passes",    LIST_KEYS,   NULL};
    const struct json *j = r->j;
    struct lx_graph *g = r->b.graph;
    static const char *const only_lists[] = {"capacity", "alignment", "objective", LIST_KEYS, NULL};
    const struct json_value *tensors = NULL, *ops = NULL, *buffers = NULL, *v;
    const char *summary = "";
    if (!json_only_keys(j, root, "a pattern", keys, r->st) ||
        !json_opt_string(j, root, "summary", &summary, r->st) ||
        !json_opt_array(j, root, "tensors", &tensors, r->st) ||
        !json_opt_array(j, root, "ops", &ops, r->st) ||
        !json_opt_array(j, root, "buffers", &buffers, r->st) ||
        !json_opt_int(j, root, "target_hbm_bytes", 0, LX_INT_MAX, &g->target_hbm_bytes, r->st))
        return false;
    g->summary = arena_string(r->b.memory, summary);
    if ((v = json_find(root, "device")) && !device_read(j, v, &g->device, r->st)) return false;
    if (buffers ? tensors || ops : !tensors || !ops)
        return json_error(j, root, r->st, LX_E_SCHEMA,
                          "a pattern has either \"tensors\" and \"ops\", or \"buffers\"");
    if (!buffers)
        for (int i = 0; only_lists[i]; i++)
            if ((v = json_find(root, only_lists[i])))
                return json_error(j, v, r->st, LX_E_SCHEMA,
                                  "\"%s\" goes with \"buffers\"; a graph has its device's", only_lists[i]);
    if (buffers ? !read_list(r, root, buffers) : !pattern_read_grid(r, root)) return false;
    json_for_each(v, tensors)
        if (!read_tensor(r, v)) return false;
    json_for_each(v, ops)
        if (!read_op(r, v)) return false;
    v = json_find(root, "expect");
    if (v && !read_expect(r, v)) return false;
    v = json_find(root, "passes");
    if (v && !pattern_read_passes(r, v)) return false;
    v = json_find(root, "came_from");
    return !v || read_origin(r, v);
}

bool pattern_check_header(const struct json *j, const struct json_value *root, const char *wanted,
                          int64_t oldest, int64_t newest, int64_t *version, lx_status *st)
{
    const char *kind;
    if (!json_is_object(root))
        return json_error(j, root, st, LX_E_SCHEMA, "a %s is a JSON object that begins with \"lxplan\": %lld",
                          wanted, (long long)newest);
    if (!json_int(j, root, "lxplan", INT64_MIN, LX_INT_MAX, version, st) ||
        !json_string(j, root, "kind", &kind, st))
        return false;
    const char *meant = nearest(kind, (const char *const[]){wanted, "plan", "pattern", "team plan", "results",
                                                            "loops", "device", NULL});
    /* The kind first: each kind counts its versions for itself. */
    if (strcmp(kind, wanted) != 0)
        return json_error(j, json_find(root, "kind"), st, LX_E_SCHEMA,
                          meant && strcmp(meant, kind) ? "\"kind\" is \"%s\"; did you mean \"%s\"?"
                                                       : "this file is a %s, but a %s was expected",
                          kind, meant && strcmp(meant, kind) ? meant : wanted);
    if (*version < oldest || *version > newest)
        return json_error(j, json_find(root, "lxplan"), st, LX_E_SCHEMA,
                          "format version %lld; this program reads %s%.0lld%s%lld", (long long)*version,
                          oldest == newest ? "version" : "versions ",
                          (long long)(oldest == newest ? 0 : oldest), oldest == newest ? " " : " to ",
                          (long long)newest);
    return true;
}

const struct lx_graph *pattern_read_json(const struct json *j, const struct json_value *root, lx_status *st)
{
    struct reader r = {.j = j, .st = st};
    const char *name;
    int64_t version;
    if (!pattern_check_header(j, root, "pattern", 1, 1, &version, st) ||
        !json_string(j, root, "name", &name, st))
        return NULL;
    builder_begin(&r.b, j->file, name);
    bool ok = pattern_read_all(&r, root);
    const struct lx_graph *from = r.b.graph->came_from, *g = ok ? builder_finish(&r.b, st) : NULL;
    if (!ok) builder_abandon(&r.b);
    if (!g) lx_graph_free(from);
    /* A derived graph has the inputs and outputs of its original. */
    for (int32_t i = 0; g && from && i < g->tensor_count; i++) {
        const struct lx_tensor *t = &g->tensors[i];
        int32_t k = graph_origin_tensor(g, i);
        const struct lx_tensor *x = k >= 0 ? &from->tensors[k] : NULL;
        if (t->role == LX_INTERMEDIATE ||
            (x && x->role == t->role && x->dtype == t->dtype && x->rank == t->rank && x->bytes == t->bytes &&
             (x->rank <= 0 || memcmp(x->shape, t->shape, (size_t)x->rank * sizeof *x->shape) == 0)))
            continue;
        json_error(j, json_find(root, "came_from"), st, LX_E_SCHEMA,
                   "tensor %s is not what it is in the graph this one came from", t->name);
        lx_graph_free(g);
        return NULL;
    }
    return g;
}

bool pattern_sniff(const char *text, size_t length)
{
    while (length && strchr(" \t\r\n", *text)) text++, length--;
    return length && *text == '{' && json_is_kind(text, length, "pattern");
}

const struct lx_graph *pattern_read(const char *file, const char *text, size_t length, lx_status *st)
{
    struct json j;
    if (!json_parse(&j, file, text, length, st)) return NULL;
    const struct json_value *name = json_is_object(j.root) ? json_find(j.root, "name") : NULL;
    const struct lx_graph *g = NULL;
    if (json_is_string(name) && !*name->text)
        json_error(&j, name, st, LX_E_SCHEMA, "the name of the pattern is empty; give it one");
    else
        g = pattern_read_json(&j, j.root, st);
    json_free(&j);
    return g;
}

const char *words_meant(const char *word, const char *const *words, char *out, size_t size)
{
    /* Names in other programs. */
    static const char *const names[][2] = {
        {"float16", "fp16"}, {"half", "fp16"},       {"f16", "fp16"},        {"float32", "fp32"},
        {"float", "fp32"},   {"f32", "fp32"},        {"bfloat16", "bf16"},   {"bfloat", "bf16"},
        {"i8", "int8"},      {"i32", "int32"},       {"float8", "fp8"},      {"f8", "fp8"},
        {"const", "weight"}, {"constant", "weight"}, {"parameter", "weight"}};
    const char *near = nearest(word, words);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (const char *const *w = words; *w && strcmp(names[i][0], word) == 0; w++)
            if (strcmp(*w, names[i][1]) == 0) near = *w;
    snprintf(out, size, near ? " did you mean \"%s\"?" : "%.0s", near ? near : "");
    return out;
}

bool read_word(struct reader *r, const struct json_value *object, const char *key, const char *const *words,
               enum lx_code code, int *out)
{
    const char *word = NULL;
    char known[WORDS_LIST], near[WORDS_MEANT];
    if (!json_opt_string(r->j, object, key, &word, r->st)) return false;
    if (!word) return true;
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0) return *out = i, true;
    return json_error(r->j, json_find(object, key), r->st, code, "unknown %s \"%s\";%s known: %s", key, word,
                      words_meant(word, words, near, sizeof near), words_listed(words, known, sizeof known));
}
