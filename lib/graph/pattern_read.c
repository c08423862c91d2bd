/* Pattern files (patterns/README.md has the schema): JSON to builder. Only what has to do with the text
 * is checked here, with the place of each value; what the graph means is checked by builder_finish. */
#include "graph/pattern.h"
#include "graph/op_data.h"
#include "graph/op_params.h"
#include "graph/op_walks.h"
#include "graph/pattern_list.h"
#include "base/fail.h"
#include "base/checked.h"
#include "base/words.h"

#include <stdio.h>
#include <string.h>

FORMAT_READS(pattern);

struct place place_of(const struct reader *r, const cJSON *value)
{
    struct json_place p = json_place_of(r->j, value);
    return (struct place){p.line, p.column};
}

/* Room for a list of words in an error. */
enum { LIST = 700, MEANT = 80, MOST_WORDS = 2000 };

/* "known: a, b, c" for errors about words. */
static const char *list_words(char out[LIST], const char *(*word)(int), int count)
{
    size_t n = 0;
    out[0] = 0;
    for (int i = 0; i < count && n < LIST - 10; i++) {
        int wrote = snprintf(out + n, LIST - n, "%s%s", i ? ", " : "", word(i));
        n += wrote > 0 ? (size_t)wrote : 0;
    }
    return out;
}

static const char *dtype_word(int i)
{
    return lx_dtype_word((enum lx_dtype)i);
}

static const char *kind_word(int i)
{
    return lx_kind_at((enum lx_kind_id)i)->name;
}

static const char *role_word(int i)
{
    return lx_role_word((enum lx_role)i);
}

/* What is asked of a list; the first has two words. */
static const char *objective_word(int i)
{
    return i < LX_OBJECTIVE_COUNT ? lx_objective_word((enum lx_objective)i) : "cost";
}

static int find_word(const char *word, const char *(*nth)(int), int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(word, nth(i)) == 0) return i;
    return -1;
}

/* What other programs call a type that has another name here. */
static const char *other_name(const char *word)
{
    static const char *const names[][2] = {
        {"float16", "fp16"}, {"half", "fp16"},       {"f16", "fp16"},        {"float32", "fp32"},
        {"float", "fp32"},   {"f32", "fp32"},        {"bfloat16", "bf16"},   {"bfloat", "bf16"},
        {"i8", "int8"},      {"i32", "int32"},       {"float8", "fp8"},      {"f8", "fp8"},
        {"const", "weight"}, {"constant", "weight"}, {"parameter", "weight"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], word) == 0) return names[i][1];
    return NULL;
}

/* " did you mean \"fp16\"?" of a word that is in no table; empty where none is near. */
static const char *meant(const char *word, const char *(*nth)(int), int count, char *out, size_t size)
{
    const char *words[MOST_WORDS + 1] = {0};
    for (int i = 0; i < count && i < MOST_WORDS; i++) words[i] = nth(i);
    const char *other = other_name(word);
    if (other && find_word(other, nth, count) < 0) other = NULL;
    const char *near = other ? other : nearest(word, words);
    snprintf(out, size, near ? " did you mean \"%s\"?" : "%.0s", near ? near : "");
    return out;
}

/* An optional string that must be one of a table's words. */
static bool read_word(struct reader *r, const cJSON *object, const char *key, const char *(*nth)(int),
                      int count, enum lx_code code, int *out)
{
    const char *word = NULL;
    if (!json_opt_string(r->j, object, key, &word, r->st)) return false;
    if (!word) return true;
    int i = find_word(word, nth, count);
    char known[LIST], near[MEANT];
    if (i < 0)
        return json_error(r->j, json_find(object, key), r->st, code, "unknown %s \"%s\";%s known: %s", key,
                          word, meant(word, nth, count, near, sizeof near), list_words(known, nth, count));
    *out = i;
    return true;
}

bool read_ints(struct reader *r, const cJSON *array, const char *what, int64_t low, size_t most,
               int64_t **out, int *count)
{
    size_t n = (size_t)cJSON_GetArraySize(array), i = 0;
    if (n > most)
        return json_error(r->j, array, r->st, LX_E_LIMIT, "%zu entries here; at most %zu are allowed", n,
                          most);
    *out = arena_array(r->b.memory, n, sizeof **out);
    if (!*out) return status_no_memory(r->st);
    const cJSON *v;
    cJSON_ArrayForEach(
        v, array) if (!json_int_value(r->j, v, what, low, LX_INT_MAX, &(*out)[i++], r->st)) return false;
    *count = (int)n;
    return true;
}

static const char *device_word(int i)
{
    return lx_device_at(i)->preset;
}

static int device_count(void)
{
    int n = 0;
    while (lx_device_at(n)) n++;
    return n;
}

bool pattern_read_device(const struct json *j, const cJSON *value, struct lx_device *device, lx_status *st)
{
    const char *preset = lx_device_at(0)->preset;
    char known[LIST], near[MEANT];
    const cJSON *named = value;
    if (cJSON_IsObject(value)) {
        if (!json_opt_string(j, value, "preset", &preset, st)) return false;
        if (json_find(value, "preset")) named = json_find(value, "preset");
    } else if (cJSON_IsString(value))
        preset = value->valuestring;
    else
        return json_error(j, value, st, LX_E_SCHEMA,
                          "device must be the name of a preset or an object of parameters");
    if (!lx_device_preset(preset, device))
        return json_error(j, named, st, LX_E_UNKNOWN_NAME, "unknown device \"%s\";%s known: %s", preset,
                          meant(preset, device_word, device_count(), near, sizeof near),
                          lx_device_names(", ", known, sizeof known));
    if (!cJSON_IsObject(value)) return true;
    const cJSON *v;
    cJSON_ArrayForEach(v, value)
    {
        if (strcmp(v->string, "preset") == 0) continue;
        const struct lx_device_parameter *p = lx_device_parameter_find(v->string);
        if (!p)
            return json_key_error(j, v, st, LX_E_SCHEMA,
                                  "unknown key \"%s\" in device; `lxplan plan --help` lists the parameters",
                                  v->string);
        lx_status why;
        if (!cJSON_IsNumber(v)) return json_error(j, v, st, LX_E_SCHEMA, "%s must be a number", v->string);
        if (!lx_device_set(device, p, v->valuedouble, &why))
            return json_error(j, v, st, why.code, "%s", why.text);
    }
    return true;
}

/* Where the tensor shall be. A core reaches its own scratchpad only, so that what is on chip is sharded. */
static bool read_residency(struct reader *r, const cJSON *v, struct lx_tensor *t)
{
    const char *memory = NULL, *placing = NULL;
    if (!json_opt_string(r->j, v, "memory", &memory, r->st) ||
        !json_opt_string(r->j, v, "placing", &placing, r->st))
        return false;
    if (memory && lx_memory_find(memory) == LX_MEMORY_COUNT)
        return json_error(r->j, json_find(v, "memory"), r->st, LX_E_LAUNCH_MEMORY,
                          "tensor %s is in a memory \"%s\"; there are hbm (DRAM) and lx (L1)", t->name,
                          memory);
    if (placing && lx_placing_find(placing) == LX_PLACING_COUNT)
        return json_error(r->j, json_find(v, "placing"), r->st, LX_E_LAUNCH_LAYOUT,
                          "tensor %s is placed \"%s\"; there are interleaved and sharded", t->name, placing);
    if (memory) t->memory = (signed char)(1 + lx_memory_find(memory));
    if (placing) t->placing = (signed char)(1 + lx_placing_find(placing));
    if (t->memory == 1 + LX_MEMORY_LX && t->placing == 1 + LX_INTERLEAVED)
        return json_error(
            r->j, json_find(v, "placing"), r->st, LX_E_LAUNCH_LAYOUT,
            "tensor %s is interleaved in lx, but a core reads its own scratchpad only; say \"sharded\", or "
            "\"memory\": \"hbm\"",
            t->name);
    return true;
}

static bool read_tensor(struct reader *r, const cJSON *v)
{
    static const char *const keys[] = {"name", "shape", "dtype", "bytes", "role", "memory", "placing", NULL};
    const struct json *j = r->j;
    const char *name;
    const cJSON *shape = NULL;
    int64_t bytes = -1, *extents = NULL;
    int dtype = LX_FP16, role = LX_ROLE_COUNT, rank = -1;
    if (!json_only_keys(j, v, "a tensor", keys, r->st) || !json_string(j, v, "name", &name, r->st) ||
        !json_opt_array(j, v, "shape", &shape, r->st) ||
        !json_opt_int(j, v, "bytes", 0, LX_INT_MAX, &bytes, r->st) ||
        !read_word(r, v, "dtype", dtype_word, LX_DTYPE_COUNT, LX_E_UNKNOWN_KIND, &dtype) ||
        !read_word(r, v, "role", role_word, LX_ROLE_COUNT, LX_E_ROLE, &role))
        return false;
    if ((shape != NULL) == (bytes >= 0))
        return json_error(j, v, r->st, LX_E_SCHEMA,
                          "tensor %s needs either \"shape\" (and \"dtype\") or \"bytes\"", name);
    if (bytes >= 0 && json_find(v, "dtype"))
        return json_error(j, v, r->st, LX_E_SCHEMA,
                          "tensor %s: \"dtype\" goes with \"shape\", not with \"bytes\"", name);
    if (shape && !read_ints(r, shape, "an extent of a shape", 1, LX_MAX_RANK, &extents, &rank)) return false;
    r->b.here = place_of(r, v);
    int32_t t =
        builder_tensor(&r->b, name, (enum lx_role)role, (enum lx_dtype)dtype, rank, extents, bytes, r->st);
    return t >= 0 && read_residency(r, v, &r->b.tensors.at[t]);
}

/* The tensor whose name is most like this one, of the first MOST_WORDS; NULL: none is near. */
static const char *nearest_tensor(const struct reader *r, const char *name)
{
    const char *names[MOST_WORDS + 1] = {0};
    for (size_t i = 0; i < r->b.tensors.count && i < MOST_WORDS; i++) names[i] = r->b.tensors.at[i].name;
    return name[0] && name[1] ? nearest(name, names) : NULL; /* every other letter would be near one */
}

static bool find_tensor(struct reader *r, const cJSON *v, const char *op, int32_t *out)
{
    if (!cJSON_IsString(v))
        return json_error(r->j, v, r->st, LX_E_SCHEMA,
                          "op %s: an operand must be the name of a tensor, a string", op);
    *out = names_find(&r->b.tensor_names, v->valuestring);
    if (*out >= 0) return true;
    const char *near = nearest_tensor(r, v->valuestring);
    return json_error(r->j, v, r->st, LX_E_UNKNOWN_NAME,
                      "op %s: there is no tensor named %s;%s%s%s declare it in \"tensors\"", op,
                      v->valuestring, near ? " did you mean \"" : "", near ? near : "", near ? "\"? Or" : "");
}

static bool strides_valid(struct reader *r, const cJSON *array)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, array) if (v->valuedouble == 0) return json_error(
        r->j, v, r->st, LX_E_RANGE, "stride is 0; 1 takes every element, a negative one goes backwards");
    return true;
}

/* `offset` and `stride` of a view: one entry per dimension of the larger operand. */
static bool read_view(struct reader *r, const cJSON *v, struct lx_op *op)
{
    static const char *const keys[] = {"offset", "stride"};
    int rank = r->b.tensors.at[op->output].rank;
    for (int i = 0; i < op->input_count; i++)
        if (r->b.tensors.at[op->inputs[i]].rank > rank) rank = r->b.tensors.at[op->inputs[i]].rank;
    for (int k = 0; k < 2; k++) {
        const cJSON *array = NULL;
        int64_t *entries;
        int count;
        if (!json_opt_array(r->j, v, keys[k], &array, r->st)) return false;
        if (!array) continue;
        if (!read_ints(r, array, keys[k], -LX_INT_MAX, LX_MAX_RANK, &entries, &count) ||
            (k == 1 && !strides_valid(r, array)))
            return false;
        if (count != rank)
            return json_error(r->j, array, r->st, LX_E_SHAPE,
                              "op %s: %s has %d entries, but its operands have %d dimensions", op->name,
                              keys[k], count, rank);
        *(k == 0 ? &op->offset : &op->stride) = entries;
    }
    return true;
}

/* Keys of an op; behind them the rows of op_params.c. */
static bool only_op_keys(struct reader *r, const cJSON *v)
{
    static const char *const own[] = {"name",   "kind",  "inputs",  "output",  "einsum",  "value", "offset",
                                      "stride", "hints", "inplace", "windows", "outputs", "views", "data"};
    enum { OWN = sizeof own / sizeof *own };
    const char *keys[OWN + OP_PARAM_COUNT + 1] = {0};
    for (int i = 0; i < OWN + OP_PARAM_COUNT; i++) keys[i] = i < OWN ? own[i] : op_param_key(i - OWN);
    return json_only_keys(r->j, v, "an op", keys, r->st);
}

/* "output": one tensor, or "outputs": several. */
static bool read_outputs(struct reader *r, const cJSON *v, const char *op, int32_t *outputs, int *count)
{
    const cJSON *one = json_find(v, "output"), *list = NULL, *item;
    if (!json_opt_array(r->j, v, "outputs", &list, r->st)) return false;
    if ((one != NULL) == (list != NULL))
        return json_error(r->j, v, r->st, LX_E_SCHEMA,
                          list ? "op %s has both \"output\" and \"outputs\"; remove one"
                               : "op %s: the key \"output\" is missing; add it",
                          op);
    *count = list ? cJSON_GetArraySize(list) : 1;
    if (*count < 1 || *count > LX_MAX_INPUTS)
        return json_error(r->j, list, r->st, LX_E_LIMIT, "op %s has %d outputs; 1 to %d are allowed", op,
                          *count, LX_MAX_INPUTS);
    if (one) return find_tensor(r, one, op, &outputs[0]);
    int n = 0;
    cJSON_ArrayForEach(item, list) if (!find_tensor(r, item, op, &outputs[n++])) return false;
    return true;
}

static bool read_op(struct reader *r, const cJSON *v)
{
    const struct json *j = r->j;
    struct lx_op op = {0};
    const cJSON *inputs = NULL;
    const char *kind;
    int32_t numbers[LX_MAX_INPUTS], outputs[LX_MAX_INPUTS];
    int results = 0;
    char known[LIST], near[MEANT];
    if (!only_op_keys(r, v) || !json_string(j, v, "name", &op.name, r->st) ||
        !json_string(j, v, "kind", &kind, r->st) || !json_array(j, v, "inputs", &inputs, r->st) ||
        !json_opt_string(j, v, "einsum", &op.einsum, r->st) || !op_value_read(j, v, &op, r->st))
        return false;
    op.kind = lx_kind_find(kind);
    if (!op.kind)
        return json_error(j, json_find(v, "kind"), r->st, LX_E_UNKNOWN_KIND,
                          "op %s: unknown kind \"%s\";%s known: %s", op.name, kind,
                          meant(kind, kind_word, LX_KIND_COUNT, near, sizeof near),
                          list_words(known, kind_word, LX_KIND_COUNT));
    op.input_count = cJSON_GetArraySize(inputs);
    if (op.input_count > LX_MAX_INPUTS)
        return json_error(j, inputs, r->st, LX_E_LIMIT, "op %s has %d inputs; at most %d are allowed",
                          op.name, op.input_count, LX_MAX_INPUTS);
    const cJSON *item;
    int n = 0;
    cJSON_ArrayForEach(item, inputs) if (!find_tensor(r, item, op.name, &numbers[n++])) return false;
    op.inputs = numbers;
    if (!read_outputs(r, v, op.name, outputs, &results)) return false;
    op.output = outputs[0];
    if (!read_view(r, v, &op) || !read_hints(r, v, &op) || !read_inplace(r, v, &op) ||
        !read_windows(r, v, &op) || !op_views_read(j, v, &r->b, &op, r->st) ||
        !op_params_read(j, v, op.name, op.kind, r->b.memory, &op.params, r->st) ||
        !op_data_read(j, v, &op, r->b.memory, r->st))
        return false;
    r->b.here = place_of(r, v);
    r->b.here_einsum = op.einsum ? place_of(r, json_find(v, "einsum")) : (struct place){0};
    if (results > 1) return builder_results(&r->b, &op, outputs, results, r->st);
    return op.kind->traits & LX_ALTERS ? builder_altering(&r->b, &op, r->st) : builder_op(&r->b, &op, r->st);
}

static bool read_items(struct reader *r, const cJSON *array, bool (*read_one)(struct reader *, const cJSON *))
{
    const cJSON *v;
    cJSON_ArrayForEach(v, array) if (!read_one(r, v)) return false;
    return true;
}

/* "expect": {"greedy": "fail", ...} or {"error": {"stage": "divide", "code": "span"}}. */
static bool read_expect(struct reader *r, const cJSON *v)
{
    static const char *const error_keys[] = {"stage", "code", NULL};
    struct lx_graph *g = r->b.graph;
    if (!cJSON_IsObject(v))
        return json_error(r->j, v, r->st, LX_E_SCHEMA,
                          "expect must be an object, such as {\"greedy\": \"pass\"}");
    const cJSON *error = json_find(v, "error");
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
        return g->expect_stage && g->expect_code ? true : status_no_memory(r->st);
    }
    struct lx_expect *expects = arena_array(r->b.memory, (size_t)cJSON_GetArraySize(v), sizeof *expects);
    if (!expects) return status_no_memory(r->st);
    const cJSON *item;
    cJSON_ArrayForEach(item, v)
    {
        bool pass = cJSON_IsString(item) && strcmp(item->valuestring, "pass") == 0;
        if (!pass && !(cJSON_IsString(item) && strcmp(item->valuestring, "fail") == 0))
            return json_error(r->j, item, r->st, LX_E_SCHEMA,
                              "what is expected of %s must be \"pass\" or \"fail\"", item->string);
        struct json_place at = json_place_of(r->j, item);
        const char *solver = arena_string(r->b.memory, item->string);
        if (!solver) return status_no_memory(r->st);
        expects[g->expect_count++] = (struct lx_expect){solver, pass, at.line, at.column};
    }
    g->expects = expects;
    return true;
}

/* Where a graph came from must have the inputs and outputs that it has. */
static bool is_origin(const struct lx_graph *from, const struct lx_tensor *t)
{
    for (int32_t i = 0; i < from->tensor_count; i++) {
        const struct lx_tensor *x = &from->tensors[i];
        if (strcmp(x->name, t->name) != 0) continue;
        return x->role == t->role && x->dtype == t->dtype && x->rank == t->rank && x->bytes == t->bytes &&
               (x->rank <= 0 || memcmp(x->shape, t->shape, (size_t)x->rank * sizeof *x->shape) == 0);
    }
    return false;
}

static bool read_origin(struct reader *r, const cJSON *v)
{
    struct lx_graph *g = r->b.graph;
    const struct lx_graph *from = pattern_read_json(r->j, v, r->st);
    if (!from) return false;
    if (from->came_from || from->is_list || g->is_list) {
        lx_graph_free(from);
        return json_error(r->j, v, r->st, LX_E_SCHEMA,
                          "what a graph came from is a graph that came from nowhere; remove one of them");
    }
    g->came_from = from;
    return true;
}

static const struct lx_graph *with_origin(const struct json *j, const cJSON *root, const struct lx_graph *g,
                                          lx_status *st)
{
    for (int32_t t = 0; g && g->came_from && t < g->tensor_count; t++) {
        if (g->tensors[t].role == LX_INTERMEDIATE || is_origin(g->came_from, &g->tensors[t])) continue;
        json_error(j, json_find(root, "came_from"), st, LX_E_SCHEMA,
                   "tensor %s is not what it is in the graph this one came from", g->tensors[t].name);
        lx_graph_free(g);
        return NULL;
    }
    return g;
}

static bool read_all(struct reader *r, const cJSON *root)
{
    static const char *const keys[] = {
        "lxplan",   "kind",      "name",      "summary",          "device", "tensors",   "ops",     "buffers",
        "capacity", "alignment", "objective", "target_hbm_bytes", "expect", "came_from", LIST_KEYS, NULL};
    const struct json *j = r->j;
    struct lx_graph *g = r->b.graph;
    static const char *const only_lists[] = {"capacity", "alignment", "objective", LIST_KEYS, NULL};
    const cJSON *tensors = NULL, *ops = NULL, *buffers = NULL, *v;
    const char *summary = "";
    int objective = LX_SPILL;
    if (!json_only_keys(j, root, "a pattern", keys, r->st) ||
        !json_opt_string(j, root, "summary", &summary, r->st) ||
        !json_opt_array(j, root, "tensors", &tensors, r->st) ||
        !json_opt_array(j, root, "ops", &ops, r->st) ||
        !json_opt_array(j, root, "buffers", &buffers, r->st) ||
        !json_opt_int(j, root, "target_hbm_bytes", 0, LX_INT_MAX, &g->target_hbm_bytes, r->st))
        return false;
    g->summary = arena_string(r->b.memory, summary);
    if (!g->summary) return status_no_memory(r->st);
    if ((v = json_find(root, "device")) && !pattern_read_device(j, v, &g->device, r->st)) return false;
    if (buffers ? tensors || ops : !tensors || !ops)
        return json_error(j, root, r->st, LX_E_SCHEMA,
                          "a pattern has either \"tensors\" and \"ops\", or \"buffers\"");
    g->is_list = buffers != NULL;
    g->alignment = g->device.stick_bytes;
    if (!g->is_list)
        for (int i = 0; only_lists[i]; i++)
            if ((v = json_find(root, only_lists[i])))
                return json_error(j, v, r->st, LX_E_SCHEMA,
                                  "\"%s\" goes with \"buffers\"; a graph has its device's", only_lists[i]);
    if (!json_opt_int(j, root, "capacity", 0, LX_INT_MAX, &g->capacity, r->st) ||
        !json_opt_int(j, root, "alignment", 1, LX_INT_MAX, &g->alignment, r->st) ||
        !read_word(r, root, "objective", objective_word, LX_OBJECTIVE_COUNT + 1, LX_E_SCHEMA, &objective))
        return false;
    g->objective = objective == LX_OBJECTIVE_COUNT ? LX_SPILL : (enum lx_objective)objective;
    if (buffers) {
        if (!read_list(r, root, buffers)) return false;
    } else if (!read_items(r, tensors, read_tensor) || !read_items(r, ops, read_op))
        return false;
    v = json_find(root, "expect");
    if (v && !read_expect(r, v)) return false;
    v = json_find(root, "came_from");
    return !v || read_origin(r, v);
}

bool pattern_check_header(const struct json *j, const cJSON *root, const char *wanted, int64_t oldest,
                          int64_t newest, int64_t *version, lx_status *st)
{
    const char *kind;
    if (!cJSON_IsObject(root))
        return json_error(j, root, st, LX_E_SCHEMA, "a %s is a JSON object that begins with \"lxplan\": %lld",
                          wanted, (long long)newest);
    if (!json_int(j, root, "lxplan", INT64_MIN, LX_INT_MAX, version, st) ||
        !json_string(j, root, "kind", &kind, st))
        return false;
    /* The kind first: each kind counts its versions for itself. */
    if (strcmp(kind, wanted) != 0)
        return json_error(j, json_find(root, "kind"), st, LX_E_SCHEMA,
                          nearest(kind, (const char *const[]){wanted, NULL})
                              ? "\"kind\" is \"%s\"; did you mean \"%s\"?"
                              : "this file is a %s, but a %s was expected",
                          kind, wanted);
    if (*version < oldest || *version > newest)
        return json_error(j, json_find(root, "lxplan"), st, LX_E_SCHEMA,
                          "format version %lld; this program reads %s%.0lld%s%lld", (long long)*version,
                          oldest == newest ? "version" : "versions ",
                          (long long)(oldest == newest ? 0 : oldest), oldest == newest ? " " : " to ",
                          (long long)newest);
    return true;
}

const struct lx_graph *pattern_read_json(const struct json *j, const cJSON *root, lx_status *st)
{
    struct reader r = {.j = j, .st = st};
    const char *name;
    int64_t version;
    if (!pattern_check_header(j, root, "pattern", 1, 1, &version, st) ||
        !json_string(j, root, "name", &name, st))
        return NULL;
    bool ok = builder_begin(&r.b, j->file, name, st) && read_all(&r, root);
    const struct lx_graph *from = r.b.graph ? r.b.graph->came_from : NULL;
    if (ok) {
        const struct lx_graph *g = builder_finish(&r.b, st);
        if (g) return with_origin(j, root, g, st);
    } else
        builder_abandon(&r.b);
    lx_graph_free(from);
    return NULL;
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
    const cJSON *name = cJSON_IsObject(j.root) ? json_find(j.root, "name") : NULL;
    const struct lx_graph *g = NULL;
    if (cJSON_IsString(name) && !*name->valuestring)
        json_error(&j, name, st, LX_E_SCHEMA, "the name of the pattern is empty; give it one");
    else
        g = pattern_read_json(&j, j.root, st);
    json_free(&j);
    return g;
}
