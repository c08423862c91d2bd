/* Nests from and to files.
 *
 *     {"lxplan": 1, "kind": "loops", "first_touch": "zero", "main": "gemm", "last_touch": "none",
 *      "dtype": "fp32", "dim_types": ["m", "n", "k"], "exec_types": ["seq", "seq", "seq"],
 *      "dim_sizes": [64, 64, 64], "strides_in0": [1, 0, 64], "strides_in1": [0, 64, 1],
 *      "strides_out": [1, 64, 0]}
 *
 * first_touch, last_touch (none), dtype (fp32) and exec_types (all seq) may be left out; strides_in1 may be
 * left out or empty where nothing reads in1. Lists of unequal length are refused here, with the place of the
 * list that is off; everything else that may be wrong with a nest is for lx_loops_validate. */
#include "loops/nest.h"
#include "base/base.h"
#include "base/file.h"
#include "base/json/json.h"

struct reader {
    const struct json *json;
    struct lx_loops *out;
    lx_status *st;
};

/* Sets *out to the index of the value's text among `words`. */
static bool nest_json_read_word(const struct reader *r, const struct json_value *value, const char *what,
                                const char *const *words, int count, int *out)
{
    if (!json_is_string(value))
        return json_error(r->json, value, r->st, LX_E_SCHEMA, "%s must be a word in quotes", what);
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], value->text) == 0) {
            *out = i;
            return true;
        }
    SCOPED(text_free) struct text known = {0};
    for (int i = 0; i < count; i++) text_format(&known, "%s%s", i ? ", " : "", words[i]);
    json_error(r->json, value, r->st, LX_E_UNKNOWN_KIND, "there is no %s \"%.40s\"; there are: %s", what,
               value->text, known.at ? known.at : "");
    return false;
}

/* A word under an optional key. */
static bool read_key(const struct reader *r, const char *key, const char *const *words, int count, int *out)
{
    const struct json_value *v = json_find(r->json->root, key);
    return !v || nest_json_read_word(r, v, key, words, count, out);
}

/* Finds a list that needs one entry per loop. *list is NULL if it is optional and absent or empty. */
static bool find_list(const struct reader *r, const char *key, bool needed, const struct json_value **list)
{
    bool ok = needed ? json_array(r->json, r->json->root, key, list, r->st)
                     : json_opt_array(r->json, r->json->root, key, list, r->st);
    if (!ok) return false;
    int n = *list ? json_count(*list) : 0;
    if (!needed && n == 0) {
        *list = NULL;
        return true;
    }
    if (n != r->out->count)
        return json_error(r->json, *list, r->st, LX_E_LOOP_DIMENSION,
                          "%s has %d entries, but there are %d loops; every list needs one entry per loop",
                          key, n, r->out->count);
    return true;
}

/* Reads the sizes (`field` -1), or the strides of operand `field`. */
static bool nest_json_read_numbers(const struct reader *r, const char *key, int field)
{
    const struct json_value *list = NULL, *v;
    int i = 0;
    if (!find_list(r, key, field != LX_LOOP_IN1, &list)) return false;
    if (field == LX_LOOP_IN1) r->out->has_in1 = list != NULL;
    if (!list) return true;
    json_for_each(v, list) {
        struct lx_loop *loop = &r->out->loop[i++];
        int64_t *into = field < 0 ? &loop->size : &loop->stride[field];
        if (!json_int_value(r->json, v, field < 0 ? "a size" : "a stride", 0, LX_INT_MAX, into, r->st))
            return false;
    }
    return true;
}

static bool read_nest(const struct reader *r)
{
    static const char *const known[] = {
        "lxplan",    "kind",       "name",      "first_touch", "main",        "last_touch",  "dtype",
        "dim_types", "exec_types", "dim_sizes", "strides_in0", "strides_in1", "strides_out", NULL};
    const struct json *j = r->json;
    int64_t version;
    const char *kind, *name;
    if (!json_only_keys(j, j->root, "a loop nest", known, r->st) ||
        !json_int(j, j->root, "lxplan", 1, 1, &version, r->st) ||
        !json_string(j, j->root, "kind", &kind, r->st) || !json_opt_string(j, j->root, "name", &name, r->st))
        return false;
    if (strcmp(kind, "loops") != 0)
        return json_error(j, json_find(j->root, "kind"), r->st, LX_E_SCHEMA,
                          "this is a file of kind \"%.40s\"; a loop nest is of kind \"loops\"", kind);
    int first = LX_TOUCH_NONE, last = LX_TOUCH_NONE, main = LX_TOUCH_NONE, dtype = LX_LOOP_FP32;
    const char *asked;
    if (!json_string(j, j->root, "main", &asked, r->st) ||
        !read_key(r, "main", loop_touch_words, LX_TOUCH_COUNT, &main) ||
        !read_key(r, "first_touch", loop_touch_words, LX_TOUCH_COUNT, &first) ||
        !read_key(r, "last_touch", loop_touch_words, LX_TOUCH_COUNT, &last) ||
        !read_key(r, "dtype", loop_dtype_words, LX_LOOP_DTYPE_COUNT, &dtype))
        return false;
    r->out->first = (enum lx_touch)first;
    r->out->main = (enum lx_touch)main;
    r->out->last = (enum lx_touch)last;
    r->out->dtype = (enum lx_loop_dtype)dtype;
    const struct json_value *list = NULL, *v;
    if (!json_array(r->json, r->json->root, "dim_types", &list, r->st)) return false;
    int n = json_count(list), i = 0;
    if (n > LX_LOOPS_MAX)
        return json_error(r->json, list, r->st, LX_E_LIMIT, "%d loops; a nest has at most %d", n,
                          LX_LOOPS_MAX);
    r->out->count = n;
    json_for_each(v, list) {
        int type = 0;
        if (!nest_json_read_word(r, v, "dimension type", loop_type_words, LX_DIM_COUNT, &type)) return false;
        r->out->loop[i++].type = (enum lx_loop_type)type;
    }
    list = NULL;
    if (!find_list(r, "exec_types", false, &list)) return false;
    i = 0;
    if (list)
        json_for_each(v, list) {
            int exec = 0;
            if (!nest_json_read_word(r, v, "execution type", loop_exec_words, LX_EXEC_COUNT, &exec))
                return false;
            r->out->loop[i++].exec = (enum lx_loop_exec)exec;
        }
    static const char *const keys[] = {"strides_in0", "strides_in1", "strides_out"};
    if (!nest_json_read_numbers(r, "dim_sizes", -1)) return false;
    for (int o = 0; o < LX_LOOP_OPERANDS; o++)
        if (!nest_json_read_numbers(r, keys[o], o)) return false;
    for (int o = 0; o < LX_LOOP_OPERANDS; o++)
        if (lx_loops_extent(r->out, (enum lx_loop_operand)o) < 0)
            return json_error(j, json_find(j->root, keys[o]), r->st, LX_E_RANGE,
                              "with these sizes the last element lies beyond 2^53; make them smaller");
    return true;
}

static void nest_json_write_words(struct text *t, const struct lx_loops *l, const char *key, bool execs)
{
    text_format(t, ",\n \"%s\": [", key);
    for (int i = 0; i < l->count; i++)
        text_format(t, "%s\"%s\"", i ? ", " : "",
                    execs ? lx_loop_exec_word(l->loop[i].exec) : lx_loop_type_word(l->loop[i].type));
    text_add(t, "]");
}

static void nest_json_write_numbers(struct text *t, const struct lx_loops *l, const char *key, int field)
{
    text_format(t, ",\n \"%s\": [", key);
    for (int i = 0; i < l->count; i++)
        text_format(t, "%s%" PRId64, i ? ", " : "", field < 0 ? l->loop[i].size : l->loop[i].stride[field]);
    text_add(t, "]");
}

bool lx_loops_parse(const char *file, const char *text, size_t length, struct lx_loops *out, lx_status *st)
{
    struct json json;
    *out = (struct lx_loops){0};
    if (!json_parse(&json, file, text, length, st)) return false;
    struct reader r = {&json, out, st};
    bool ok = read_nest(&r);
    json_free(&json);
    return ok;
}

bool lx_loops_read(const char *path, struct lx_loops *out, lx_status *st)
{
    size_t length;
    OWNED char *text = file_read(path, &length, st);
    if (!text) return false;
    return lx_loops_parse(strcmp(path, "-") == 0 ? "standard input" : path, text, length, out, st);
}

char *lx_loops_to_json(const struct lx_loops *l, size_t *length)
{
    struct text t = {0};
    text_add(&t, "{\"lxplan\": 1, \"kind\": \"loops\",\n");
    text_format(&t, " \"first_touch\": \"%s\", \"main\": \"%s\", \"last_touch\": \"%s\", \"dtype\": \"%s\"",
                lx_touch_word(l->first), lx_touch_word(l->main), lx_touch_word(l->last),
                lx_loop_dtype_word(l->dtype));
    nest_json_write_words(&t, l, "dim_types", false);
    nest_json_write_words(&t, l, "exec_types", true);
    nest_json_write_numbers(&t, l, "dim_sizes", -1);
    nest_json_write_numbers(&t, l, "strides_in0", LX_LOOP_IN0);
    if (l->has_in1) nest_json_write_numbers(&t, l, "strides_in1", LX_LOOP_IN1);
    nest_json_write_numbers(&t, l, "strides_out", LX_LOOP_OUT);
    text_add(&t, "}\n");
    *length = t.length;
    return t.at;
}
