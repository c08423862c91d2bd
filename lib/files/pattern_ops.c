/* Tensors and ops of a pattern, key by key, with the place of each value. */
#include "files/pattern_list.h"
#include "graph/op_params.h"
#include "graph/op_walks.h"

static const char *const dtype_words[] = {LX_DTYPES(LX_WORD_ROW) NULL};
static const char *const role_words[] = {LX_ROLES(LX_WORD_ROW) NULL};
static const char *const kind_words[] = {
#define LX_KIND(id, name, ...) name,
#include "graph/kinds.def"
#undef LX_KIND
    NULL};

/* Reads the wanted residency of a tensor. A core reaches only its own scratchpad, so a tensor on chip is
 * sharded. */
static bool read_residency(struct reader *r, const struct json_value *v, struct lx_tensor *t)
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

/* Reads the dimension that each grid axis shards. */
static bool read_cut(struct reader *r, const struct json_value *v, struct lx_tensor *t)
{
    const struct json_value *array = NULL;
    const struct lx_graph *g = r->b.graph;
    int64_t *cut;
    int count;
    if (!json_opt_array(r->j, v, "cut", &array, r->st)) return false;
    if (!array) return true;
    if (!read_ints(r, array, "a dimension that is cut", -1, LX_GRID_AXES, &cut, &count)) return false;
    if (count != g->grid_axes)
        return json_error(
            r->j, array, r->st, LX_E_SCHEMA,
            "tensor %s: the \"grid\" of the pattern has %d axes, and \"cut\" an entry for each: "
            "the dimension that it cuts, or -1",
            t->name, g->grid_axes);
    for (int a = 0; a < LX_GRID_AXES && a < count; a++) {
        if (cut[a] >= t->rank)
            return json_error(r->j, array, r->st, LX_E_RANGE,
                              "tensor %s has no dimension %d that could be cut", t->name, (int)cut[a]);
        t->cut[a] = (signed char)cut[a];
    }
    return t->cut_stated = true;
}

bool read_tensor(struct reader *r, const struct json_value *v)
{
    static const char *const keys[] = {"name", "shape",  "dtype",   "bytes", "role",
                                       "cut",  "memory", "placing", NULL};
    const struct json *j = r->j;
    const char *name;
    const struct json_value *shape = NULL;
    int64_t bytes = -1, *extents = NULL;
    int dtype = LX_FP16, role = LX_ROLE_COUNT, rank = -1;
    if (!json_only_keys(j, v, "a tensor", keys, r->st) || !json_string(j, v, "name", &name, r->st) ||
        !json_opt_array(j, v, "shape", &shape, r->st) ||
        !json_opt_int(j, v, "bytes", 0, LX_INT_MAX, &bytes, r->st) ||
        !read_word(r, v, "dtype", dtype_words, LX_E_UNKNOWN_KIND, &dtype) ||
        !read_word(r, v, "role", role_words, LX_E_ROLE, &role))
        return false;
    if ((shape != NULL) == (bytes >= 0))
        return json_error(j, v, r->st, LX_E_SCHEMA,
                          "tensor %s needs either \"shape\" (and \"dtype\") or \"bytes\"", name);
    if (bytes >= 0 && json_find(v, "dtype"))
        return json_error(j, v, r->st, LX_E_SCHEMA,
                          "tensor %s: \"dtype\" goes with \"shape\", not with \"bytes\"", name);
    if (shape && !read_ints(r, shape, "an extent of a shape", 1, LX_MAX_RANK, &extents, &rank)) return false;
    r->b.here = place_of(v);
    int32_t t =
        builder_tensor(&r->b, name, (enum lx_role)role, (enum lx_dtype)dtype, rank, extents, bytes, r->st);
    return t >= 0 && read_residency(r, v, &r->b.tensors.at[t]) && read_cut(r, v, &r->b.tensors.at[t]);
}

static bool ops_find_tensor(struct reader *r, const struct json_value *v, const char *op, int32_t *out)
{
    if (!json_is_string(v))
        return json_error(r->j, v, r->st, LX_E_SCHEMA,
                          "op %s: an operand must be the name of a tensor, a string", op);
    *out = names_find(&r->b.tensor_names, v->text);
    if (*out >= 0) return true;
    /* Suggests the most similar tensor name of the first WORDS_MOST; NULL: none is near. */
    const char *names[WORDS_MOST + 1] = {0};
    for (size_t i = 0; i < r->b.tensors.count && i < WORDS_MOST; i++) names[i] = r->b.tensors.at[i].name;
    const char *near = v->text[0] && v->text[1] ? nearest(v->text, names) : NULL;
    return json_error(r->j, v, r->st, LX_E_UNKNOWN_NAME,
                      "op %s: there is no tensor named %s;%s%s%s declare it in \"tensors\"", op, v->text,
                      near ? " did you mean \"" : "", near ? near : "", near ? "\"? Or" : "");
}

/* `offset` and `stride` of a view: one entry per dimension of the larger operand. */
static bool read_view(struct reader *r, const struct json_value *v, struct lx_op *op)
{
    static const char *const keys[] = {"offset", "stride"};
    int rank = r->b.tensors.at[op->output].rank;
    for (int i = 0; i < op->input_count; i++)
        if (r->b.tensors.at[op->inputs[i]].rank > rank) rank = r->b.tensors.at[op->inputs[i]].rank;
    for (int k = 0; k < 2; k++) {
        const struct json_value *array = NULL;
        int64_t *entries;
        int count;
        if (!json_opt_array(r->j, v, keys[k], &array, r->st)) return false;
        if (!array) continue;
        if (!read_ints(r, array, keys[k], -LX_INT_MAX, LX_MAX_RANK, &entries, &count)) return false;
        for (int i = 0; k == 1 && i < count; i++)
            if (entries[i] == 0)
                return json_error(r->j, json_item(array, i), r->st, LX_E_RANGE,
                                  "stride is 0; 1 takes every element, a negative one goes backwards");
        if (count != rank)
            return json_error(r->j, array, r->st, LX_E_SHAPE,
                              "op %s: %s has %d entries, but its operands have %d dimensions", op->name,
                              keys[k], count, rank);
        *(k == 0 ? &op->offset : &op->stride) = entries;
    }
    return true;
}

/* An offset "?" is known only when it runs: an input NAME.offset0 of the graph, for dimension 0. The slice
 * becomes a dynamic_slice, the insert a dynamic_insert, which clamp it; the other dimensions are whole. */
struct open_offset {
    int32_t large, small;                                                        /* tensors */
    char whole[LX_MAX_RANK + 1], part[LX_MAX_RANK + 1], starts[LX_MAX_RANK + 1]; /* of the einsum */
};

static bool ops_open_start(struct reader *r, const struct json_value *v, int d, struct open_offset *x,
                           struct lx_op *op, int32_t *inputs, int64_t *axes, int *axis_count)
{
    const struct lx_tensor *all = r->b.tensors.at;
    int64_t low;
    x->whole[d] = x->part[d] = (char)('a' + d);
    if (!json_is_string(v) || strcmp(v->text, "?") != 0) {
        if (!json_int_value(r->j, v, "offset", 0, 0, &low, r->st)) return false;
        return all[x->large].shape[d] == all[x->small].shape[d] ||
               json_error(r->j, v, r->st, LX_E_SHAPE,
                          "op %s: beside an offset \"?\" dimension %d must be whole", op->name, d);
    }
    int32_t start = builder_tensor(&r->b, arena_format(r->b.memory, "%s.offset%d", op->name, d), LX_INPUT,
                                   LX_INT32, 0, NULL, 0, r->st);
    x->part[d] = (char)('A' + d);
    x->starts[*axis_count] = ',';
    axes[(*axis_count)++] = d;
    inputs[op->input_count++] = start;
    return start >= 0;
}

static bool ops_open_offset(struct reader *r, const struct json_value *object, struct lx_op *op,
                            int32_t *inputs)
{
    const struct json_value *array = json_find(object, "offset"), *v;
    bool inserts = strcmp(op->kind->name, "insert") == 0, slices = strcmp(op->kind->name, "slice") == 0;
    struct lx_op_params *params = arena_alloc(r->b.memory, sizeof *params);
    int64_t *axes = arena_array(r->b.memory, LX_MAX_RANK, sizeof *axes);
    int32_t from = op->input_count == 1 ? inputs[0] : op->output;
    struct open_offset x = {inserts ? op->output : from, inserts ? from : op->output, {0}, {0}, {0}};
    int rank = r->b.tensors.at[x.large].rank, d = 0;
    if (!(inserts || slices) || op->einsum || json_find(object, "stride") || op->input_count != 1 ||
        r->b.tensors.at[x.small].rank != rank || json_count(array) != rank)
        return json_error(
            r->j, array, r->st, LX_E_SCHEMA,
            "op %s: an offset \"?\" goes with a slice or an insert of one rank, without stride and einsum",
            op->name);
    if (inserts) inputs[0] = op->output, inputs[1] = from, op->input_count = 2, op->inplace = 0;
    r->b.here = place_of(array);
    *params = op_params_none();
    json_for_each(v, array)
        if (!ops_open_start(r, v, d++, &x, op, inputs, axes, &params->axis_count)) return false;
    params->axes = axes;
    op->params = params;
    op->kind = lx_kind_find(inserts ? "dynamic_insert" : "dynamic_slice");
    op->einsum = inserts ? arena_format(r->b.memory, "%s,%s%s->%s", x.whole, x.part, x.starts, x.whole)
                         : arena_format(r->b.memory, "%s%s->%s", x.whole, x.starts, x.part);
    return true;
}

/* "output": one tensor, or "outputs": several. */
static bool read_outputs(struct reader *r, const struct json_value *v, const char *op, int32_t *outputs,
                         int *count)
{
    const struct json_value *one = json_find(v, "output"), *list = NULL, *item;
    if (!json_opt_array(r->j, v, "outputs", &list, r->st)) return false;
    if ((one != NULL) == (list != NULL))
        return json_error(r->j, v, r->st, LX_E_SCHEMA,
                          list ? "op %s has both \"output\" and \"outputs\"; remove one"
                               : "op %s: the key \"output\" is missing; add it",
                          op);
    *count = list ? json_count(list) : 1;
    if (*count < 1 || *count > LX_MAX_OUTPUTS)
        return json_error(r->j, list, r->st, LX_E_LIMIT, "op %s has %d outputs; 1 to %d are allowed", op,
                          *count, LX_MAX_OUTPUTS);
    if (one) return ops_find_tensor(r, one, op, &outputs[0]);
    int n = 0;
    json_for_each(item, list)
        if (!ops_find_tensor(r, item, op, &outputs[n++])) return false;
    return true;
}

/* "hints": {"m": 8, "n": 4}, in order of priority. */
static bool read_hints(struct reader *r, const struct json_value *v, struct lx_op *op)
{
    const struct json_value *object = json_find(v, "hints"), *item;
    if (!object) return true;
    if (!json_is_object(object))
        return json_error(r->j, object, r->st, LX_E_SCHEMA,
                          "op %s: hints must be an object of splits, such as {\"m\": 8}", op->name);
    struct lx_split_hint *hints = arena_array(r->b.memory, (size_t)json_count(object), sizeof *hints);
    json_for_each(item, object) {
        struct lx_split_hint *h = &hints[op->hint_count];
        if (!lx_is_letter(item->key[0]) || item->key[1])
            return json_error(
                r->j, item, r->st, LX_E_HINT,
                "op %s: a hint names a dimension by its letter, not \"%s\"; without an einsum the "
                "dimensions are a, b, c, ...",
                op->name, item->key);
        if (!json_int_value(r->j, item, "a split", 1, LX_MAX_ITEMS, &h->split, r->st)) return false;
        h->letter = item->key[0];
        op->hint_count++;
    }
    op->hints = hints;
    return true;
}

static bool read_letter(struct reader *r, const struct json_value *v, const char *key, signed char *out)
{
    const char *letter = NULL;
    if (!json_string(r->j, v, key, &letter, r->st)) return false;
    if (!lx_is_letter(letter[0]) || letter[1])
        return json_error(r->j, json_find(v, key), r->st, LX_E_EINSUM,
                          "\"%s\" of a window is a letter of the index string, not \"%s\"", key, letter);
    *out = (signed char)letter[0];
    return true;
}

static bool read_window(struct reader *r, const struct json_value *v, struct lx_window *w)
{
    static const char *const keys[] = {"in",       "out", "tap",  "size",      "stride",
                                       "dilation", "pad", "hole", "count_all", NULL};
    *w = (struct lx_window){.stride = 1, .dilation = 1, .hole = 1};
    const struct json_value *all = json_find(v, "count_all");
    if (!json_only_keys(r->j, v, "a window", keys, r->st) || !read_letter(r, v, "in", &w->in) ||
        !read_letter(r, v, "out", &w->out) || !read_letter(r, v, "tap", &w->tap) ||
        !json_opt_int(r->j, v, "size", 1, LX_INT_MAX, &w->size, r->st) ||
        !json_opt_int(r->j, v, "stride", 1, LX_INT_MAX, &w->stride, r->st) ||
        !json_opt_int(r->j, v, "dilation", -LX_INT_MAX, LX_INT_MAX, &w->dilation, r->st) ||
        !json_opt_int(r->j, v, "pad", -LX_INT_MAX, LX_INT_MAX, &w->pad, r->st) ||
        !json_opt_int(r->j, v, "hole", 1, LX_INT_MAX, &w->hole, r->st))
        return false;
    if (all && !json_is_bool(all))
        return json_error(r->j, all, r->st, LX_E_SCHEMA, "\"count_all\" is true or false");
    w->count_all = json_is_true(all);
    return true;
}

/* "windows": [{"in": "h", "out": "p", "tap": "k", "stride": 2, "pad": 1}, ...] */
static bool read_windows(struct reader *r, const struct json_value *v, struct lx_op *op)
{
    const struct json_value *list = NULL, *item;
    if (!json_opt_array(r->j, v, "windows", &list, r->st)) return false;
    if (!list) return true;
    int count = json_count(list);
    if (count < 1 || count > LX_MAX_RANK)
        return json_error(r->j, list, r->st, LX_E_LIMIT, "op %s has %d windows; 1 to %d are allowed",
                          op->name, count, LX_MAX_RANK);
    struct lx_window *w = arena_array(r->b.memory, (size_t)count, sizeof *w);
    json_for_each(item, list)
        if (!read_window(r, item, &w[op->window_count++])) return false;
    op->windows = w;
    return true;
}

/* "inplace": the number of the input whose storage the result takes. */
static bool read_inplace(struct reader *r, const struct json_value *v, struct lx_op *op)
{
    int64_t inplace = -1;
    const struct json_value *given = json_find(v, "inplace");
    op->inplace = -1;
    if (!given) return true;
    if (!(op->kind->traits & LX_ALTERS))
        return json_key_error(r->j, given, r->st, LX_E_SCHEMA,
                              "op %s: the kind %s makes a result of its own; remove \"inplace\"", op->name,
                              op->kind->name);
    if (!json_int(r->j, v, "inplace", 0, op->input_count - 1, &inplace, r->st)) return false;
    op->inplace = (int)inplace;
    return true;
}

bool read_op(struct reader *r, const struct json_value *v)
{
    const struct json *j = r->j;
    struct lx_op op = {0};
    const struct json_value *inputs = NULL;
    const char *kind;
    int32_t numbers[LX_MAX_INPUTS], outputs[LX_MAX_OUTPUTS];
    int results = 0;
    char known[WORDS_LIST], near[WORDS_MEANT];
    /* Keys of an op; the rows of op_params.c follow. */
    static const char *const own[] = {"name",   "kind",  "inputs",  "output",  "einsum",  "value", "offset",
                                      "stride", "hints", "inplace", "windows", "outputs", "views", "data"};
    enum { OWN = sizeof own / sizeof *own };
    const char *keys[OWN + OP_PARAM_COUNT + 1] = {0};
    for (int i = 0; i < OWN + OP_PARAM_COUNT; i++) keys[i] = i < OWN ? own[i] : op_param_key(i - OWN);
    if (!json_only_keys(r->j, v, "an op", keys, r->st) || !json_string(j, v, "name", &op.name, r->st) ||
        !json_string(j, v, "kind", &kind, r->st) || !json_array(j, v, "inputs", &inputs, r->st) ||
        !json_opt_string(j, v, "einsum", &op.einsum, r->st) || !op_value_read(j, v, &op, r->st))
        return false;
    op.kind = lx_kind_find(kind);
    if (!op.kind)
        return json_error(j, json_find(v, "kind"), r->st, LX_E_UNKNOWN_KIND,
                          "op %s: unknown kind \"%s\";%s known: %s", op.name, kind,
                          words_meant(kind, kind_words, near, sizeof near),
                          words_listed(kind_words, known, sizeof known));
    op.input_count = json_count(inputs);
    if (op.input_count > LX_MAX_INPUTS)
        return json_error(j, inputs, r->st, LX_E_LIMIT, "op %s has %d inputs; at most %d are allowed",
                          op.name, op.input_count, LX_MAX_INPUTS);
    const struct json_value *item;
    int n = 0;
    json_for_each(item, inputs)
        if (!ops_find_tensor(r, item, op.name, &numbers[n++])) return false;
    op.inputs = numbers;
    if (!read_outputs(r, v, op.name, outputs, &results)) return false;
    op.output = outputs[0];
    op.outputs = outputs;
    op.output_count = results;
    bool open = false;
    const struct json_value *offset = json_find(v, "offset");
    if (json_is_array(offset))
        json_for_each(item, offset) open |= json_is_string(item);
    if (!(open || read_view(r, v, &op)) || !read_hints(r, v, &op) || !read_inplace(r, v, &op) ||
        !read_windows(r, v, &op) || !op_views_read(j, v, &r->b, &op, r->st) ||
        !op_params_read(j, v, op.name, op.kind, r->b.memory, &op.params, r->st) ||
        !op_data_read(j, v, &op, r->b.memory, r->st) || (open && !ops_open_offset(r, v, &op, numbers)))
        return false;
    r->b.here = place_of(v);
    r->b.here_einsum = json_find(v, "einsum") ? place_of(json_find(v, "einsum")) : (struct place){0};
    return op.kind->traits & LX_ALTERS ? builder_altering(&r->b, &op, r->st) : builder_op(&r->b, &op, r->st);
}
