/* Gets values from a parsed tree, checking type and range; checks that no object has a key twice. */
#include "base/json/json.h"
#include "base/base.h"
#include "base/words/words.h"

/* Finds the first value with a repeated key. Most objects have few keys, which are compared pairwise. */
static bool keys_stand_once(const struct json *j, const struct json_value *object, lx_status *st)
{
    enum { FEW = 12 };
    const struct json_value *v, *before, *second = NULL;
    if (json_count(object) <= FEW) {
        for (v = object->child; v && !second; v = v->next)
            for (before = object->child; before != v && !second; before = before->next)
                if (strcmp(before->key, v->key) == 0) second = v;
    } else {
        SCOPED(names_free) struct names keys = {0};
        for (v = object->child; v && !second; v = v->next)
            if (names_add(&keys, v->key, 0) == NAMES_KNOWN) second = v;
    }
    return !second || json_key_error(j, second, st, LX_E_DUPLICATE,
                                     "the key \"%s\" stands twice in one object; remove one", second->key);
}

/* Checks inner objects first. The scan bounds the depth. */
static bool no_duplicate_keys(const struct json *j, const struct json_value *value, lx_status *st)
{
    const struct json_value *v;
    json_for_each(v, value)
        if (v->child && !no_duplicate_keys(j, v, st)) return false;
    return !json_is_object(value) || keys_stand_once(j, value, st);
}

bool json_parse(struct json *j, const char *file, const char *text, size_t length, lx_status *st)
{
    *j = (struct json){0};
    if (length >= 3 &&
        memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* skip a byte order mark, meaningless in UTF-8 */
        text += 3;
        length -= 3;
    }
    j->file = arena_string(&j->memory, file);
    if (json_scan(j, text, length, st) && no_duplicate_keys(j, j->root, st)) return true;
    json_free(j);
    return false;
}

void json_free(struct json *j)
{
    arena_free(&j->memory);
    *j = (struct json){0};
}

int json_count(const struct json_value *v)
{
    int n = 0;
    json_for_each(v, v) n++;
    return n;
}

const struct json_value *json_item(const struct json_value *v, int n)
{
    json_for_each(v, v)
        if (n-- == 0) break;
    return v;
}

bool json_error(const struct json *j, const struct json_value *value, lx_status *st, enum lx_code code,
                const char *format, ...)
{
    struct json_place p = value->place;
    va_list args;
    va_start(args, format);
    status_vset_at(st, code, j->file, p.line, p.column, format, args);
    va_end(args);
    return false;
}

bool json_key_error(const struct json *j, const struct json_value *value, lx_status *st, enum lx_code code,
                    const char *format, ...)
{
    struct json_place p = value->place;
    va_list args;
    va_start(args, format);
    status_vset_at(st, code, j->file, p.line, p.key ? p.key : p.column, format, args);
    va_end(args);
    return false;
}

static const char *const kind_names[] = {
    [JSON_NULL] = "null",       [JSON_FALSE] = "true or false", [JSON_TRUE] = "true or false",
    [JSON_NUMBER] = "a number", [JSON_STRING] = "a string",     [JSON_ARRAY] = "an array",
    [JSON_OBJECT] = "an object"};

bool json_only_keys(const struct json *j, const struct json_value *value, const char *what,
                    const char *const *keys, lx_status *st)
{
    if (!json_is_object(value))
        return json_error(j, value, st, LX_E_SCHEMA, "%s must be an object, not %s", what,
                          kind_names[value->kind]);
    for (const struct json_value *child = value->child; child; child = child->next) {
        const char *const *k = keys;
        while (*k && strcmp(*k, child->key) != 0) k++;
        if (*k) continue;
        char known[400];
        const char *near = nearest(child->key, keys);
        return json_key_error(j, child, st, LX_E_SCHEMA, "unknown key \"%s\" in %s;%s%s%s it may have: %s",
                              child->key, what, near ? " did you mean \"" : "", near ? near : "",
                              near ? "\"?" : "", words_listed(keys, known, sizeof known));
    }
    return true;
}

const struct json_value *json_find(const struct json_value *object, const char *key)
{
    const struct json_value *v;
    json_for_each(v, object)
        if (v->key && strcmp(v->key, key) == 0) break;
    return v;
}

/* The value of a key if of the wanted kind. False: an error; `*v` NULL: absent and optional. */
static bool json_typed(const struct json *j, const struct json_value *object, const char *key, bool needed,
                       enum json_kind kind, const struct json_value **v, lx_status *st)
{
    *v = json_find(object, key);
    if (!*v)
        return !needed ||
               json_error(j, object, st, LX_E_SCHEMA, "the key \"%s\" is missing here; add it", key);
    if ((*v)->kind == kind || (kind == JSON_TRUE && json_is_bool(*v))) return true;
    return json_error(j, *v, st, LX_E_SCHEMA, "%s must be %s, not %s", key, kind_names[kind],
                      kind_names[(*v)->kind]);
}

static bool too_wide(const struct json *j, const struct json_value *v, lx_status *st)
{
    if (!v->wide) return false;
    json_error(j, v, st, LX_E_RANGE, "an integer beyond 2^53 (9007199254740992), the largest that is exact");
    return true;
}

bool json_whole(const struct json_value *v, int64_t *bits)
{
    if (json_is_number(v) && v->wide) return *bits = v->bits, true;
    return json_is_number(v) && whole_of_double(v->number, bits);
}

bool json_int_value(const struct json *j, const struct json_value *v, const char *what, int64_t low,
                    int64_t high, int64_t *out, lx_status *st)
{
    if (!json_is_number(v))
        return json_error(j, v, st, LX_E_SCHEMA, "%s must be an integer, not %s", what, kind_names[v->kind]);
    if (too_wide(j, v, st)) return false;
    double d = v->number;
    if (d != floor(d)) return json_error(j, v, st, LX_E_SCHEMA, "%s must be an integer, not %g", what, d);
    if (d < (double)low || d > (double)high || fabs(d) > (double)LX_INT_MAX)
        return json_error(j, v, st, LX_E_RANGE, "%s is %.*g; it must be from %lld to %lld", what,
                          fabs(d) < 1e18 ? 18 : 6, d, (long long)low, (long long)high);
    *out = (int64_t)d;
    return true;
}

bool json_int(const struct json *j, const struct json_value *object, const char *key, int64_t low,
              int64_t high, int64_t *out, lx_status *st)
{
    if (json_find(object, key)) return json_opt_int(j, object, key, low, high, out, st);
    return json_error(j, object, st, LX_E_SCHEMA, "the key \"%s\" is missing here; add it", key);
}

bool json_opt_int(const struct json *j, const struct json_value *object, const char *key, int64_t low,
                  int64_t high, int64_t *out, lx_status *st)
{
    const struct json_value *v = json_find(object, key);
    return !v || json_int_value(j, v, key, low, high, out, st);
}

bool json_opt_number(const struct json *j, const struct json_value *object, const char *key, double low,
                     double high, double *out, lx_status *st)
{
    const struct json_value *v;
    if (!json_typed(j, object, key, false, JSON_NUMBER, &v, st)) return false;
    if (!v) return true;
    if (too_wide(j, v, st)) return false;
    if (!(v->number >= low && v->number <= high))
        return json_error(j, v, st, LX_E_RANGE, "%s is %g; it must be from %g to %g", key, v->number, low,
                          high);
    *out = v->number;
    return true;
}

bool json_opt_string(const struct json *j, const struct json_value *object, const char *key, const char **out,
                     lx_status *st)
{
    const struct json_value *v;
    bool ok = json_typed(j, object, key, false, JSON_STRING, &v, st);
    if (ok && v) *out = v->text;
    return ok;
}

bool json_string(const struct json *j, const struct json_value *object, const char *key, const char **out,
                 lx_status *st)
{
    const struct json_value *v;
    bool ok = json_typed(j, object, key, true, JSON_STRING, &v, st);
    if (ok) *out = v->text;
    return ok;
}

bool json_opt_bool(const struct json *j, const struct json_value *object, const char *key, bool *out,
                   lx_status *st)
{
    const struct json_value *v;
    bool ok = json_typed(j, object, key, false, JSON_TRUE, &v, st);
    if (ok && v) *out = json_is_true(v);
    return ok;
}

bool json_opt_array(const struct json *j, const struct json_value *object, const char *key,
                    const struct json_value **out, lx_status *st)
{
    const struct json_value *v;
    bool ok = json_typed(j, object, key, false, JSON_ARRAY, &v, st);
    if (ok && v) *out = v;
    return ok;
}

bool json_array(const struct json *j, const struct json_value *object, const char *key,
                const struct json_value **out, lx_status *st)
{
    return json_typed(j, object, key, true, JSON_ARRAY, out, st);
}

bool json_same(const struct json_value *a, const struct json_value *b)
{
    if (!a || !b || a->kind != b->kind || json_count(a) != json_count(b)) return a == b;
    if (json_is_string(a)) return strcmp(a->text, b->text) == 0;
    if (json_is_number(a)) return a->number == b->number && a->bits == b->bits;
    const struct json_value *item, *other = b->child;
    json_for_each(item, a) {
        if (!json_same(item, item->key ? json_find(b, item->key) : other)) return false;
        other = other->next;
    }
    return true;
}

void json_add(const struct json_value *v, struct text *t)
{
    static const char *const open[] = {"null", "false", "true", [JSON_ARRAY] = "[", [JSON_OBJECT] = "{"};
    const struct json_value *item;
    int64_t whole;
    if (open[v->kind]) text_add(t, open[v->kind]);
    if (json_is_string(v)) text_json_string(t, v->text);
    if (json_whole(v, &whole))
        text_format(t, "%lld", (long long)whole);
    else if (json_is_number(v))
        text_format(t, "%.17g", v->number);
    json_for_each(item, v) {
        if (item != v->child) text_add(t, ",");
        if (item->key) text_json_string(t, item->key);
        if (item->key) text_add(t, ":");
        json_add(item, t);
    }
    if (v->kind >= JSON_ARRAY) text_add(t, json_is_array(v) ? "]" : "}");
}

/* --- The kind of a JSON file before it is parsed. --- */

static const char *json_skip_blank(const char *at, const char *end)
{
    while (at < end && memchr(" \t\r\n", *at, 4)) at++;
    return at;
}

/* Is the string at `at` exactly this word? */
static bool json_is_word(const char *at, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - at) >= n + 2 && *at == '"' && memcmp(at + 1, word, n) == 0 && at[n + 1] == '"';
}

/* The value of a key of the outermost object, or NULL. */
static const char *json_outer_value(const char *text, const char *end, const char *key)
{
    const char *at = text;
    for (int64_t depth = 0; at < end; at++) {
        if (*at != '"') {
            depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
            continue;
        }
        bool found = depth == 1 && json_is_word(at, end, key);
        for (at++; at < end && *at != '"'; at++)
            if (*at == '\\' && at + 1 < end) at++;
        if (at == end) break;
        const char *value = json_skip_blank(at + 1, end);
        if (found && value < end && *value == ':') return json_skip_blank(value + 1, end);
    }
    return NULL;
}

bool json_is_kind(const char *text, size_t length, const char *kind)
{
    const char *value = json_outer_value(text, text + length, "kind");
    return value && json_is_word(value, text + length, kind);
}

bool json_has_key(const char *text, size_t length, const char *key)
{
    const char *at = json_skip_blank(text, text + length);
    return at < text + length && *at == '{' && json_outer_value(text, text + length, key);
}
