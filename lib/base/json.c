/* Values out of a parsed tree, each checked for type and range. Every node carries the number of its place in
 * the text (number_nodes), so that any of these can say line and column without keeping them in the tree. */
#include "base/json.h"
#include "base/fail.h"
#include "base/checked.h"
#include "base/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Walks the tree in the order of the text and writes into each node the number of its place.
 * `valueint` is free for that: numbers are read from `valuedouble`. Depth is bounded by the scan. */
static void number_nodes(cJSON *node, int *next)
{
    node->valueint = (*next)++;
    for (cJSON *child = node->child; child; child = child->next) number_nodes(child, next);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

static bool no_duplicate_keys(const struct json *j, const cJSON *node, lx_status *st)
{
    for (const cJSON *child = node->child; child; child = child->next)
        if (child->child && !no_duplicate_keys(j, child, st)) return false;
    if (!cJSON_IsObject(node) || !node->child || !node->child->next) return true;
    size_t n = (size_t)cJSON_GetArraySize(node), i = 0;
    const cJSON **keys = malloc(n * sizeof *keys);
    if (!keys) return status_no_memory(st);
    for (const cJSON *child = node->child; child; child = child->next) keys[i++] = child;
    qsort(keys, n, sizeof *keys, compare_keys);
    bool ok = true;
    for (i = 1; i < n && ok; i++)
        if (strcmp(keys[i - 1]->string, keys[i]->string) == 0) {
            const cJSON *second = keys[i - 1]->valueint > keys[i]->valueint ? keys[i - 1] : keys[i];
            ok = json_key_error(j, second, st, LX_E_DUPLICATE,
                                "the key \"%s\" stands twice in one object; remove one", second->string);
        }
    free(keys);
    return ok;
}

bool json_parse(struct json *j, const char *file, const char *text, size_t length, lx_status *st)
{
    *j = (struct json){0};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark says nothing in UTF-8 */
        text += 3;
        length -= 3;
    }
    if (!json_scan(j, file, text, length, st)) return false;
    j->file = strdup(file);
    j->root = cJSON_ParseWithLength(text, length);
    if (!j->file || !j->root) {
        json_free(j);
        return status_no_memory(st); /* the scan has accepted the text, so nothing else can fail */
    }
    int next = 0;
    number_nodes(j->root, &next);
    if (no_duplicate_keys(j, j->root, st)) return true;
    json_free(j);
    return false;
}

void json_free(struct json *j)
{
    cJSON_Delete(j->root);
    free(j->places);
    free(j->wide);
    free(j->file);
    *j = (struct json){0};
}

struct json_place json_place_of(const struct json *j, const cJSON *value)
{
    size_t i = (size_t)value->valueint;
    return i < j->place_count ? j->places[i] : (struct json_place){0};
}

bool json_error(const struct json *j, const cJSON *value, lx_status *st, enum lx_code code,
                const char *format, ...)
{
    struct json_place p = json_place_of(j, value);
    va_list args;
    va_start(args, format);
    status_vset_at(st, code, j->file, p.line, p.column, format, args);
    va_end(args);
    return false;
}

bool json_key_error(const struct json *j, const cJSON *value, lx_status *st, enum lx_code code,
                    const char *format, ...)
{
    struct json_place p = json_place_of(j, value);
    va_list args;
    va_start(args, format);
    status_vset_at(st, code, j->file, p.line, p.key ? p.key : p.column, format, args);
    va_end(args);
    return false;
}

static const char *type_name(const cJSON *v)
{
    return cJSON_IsObject(v)   ? "an object"
           : cJSON_IsArray(v)  ? "an array"
           : cJSON_IsString(v) ? "a string"
           : cJSON_IsNumber(v) ? "a number"
           : cJSON_IsNull(v)   ? "null"
                               : "true or false";
}

bool json_only_keys(const struct json *j, const cJSON *value, const char *what, const char *const *keys,
                    lx_status *st)
{
    if (!cJSON_IsObject(value))
        return json_error(j, value, st, LX_E_SCHEMA, "%s must be an object, not %s", what, type_name(value));
    for (const cJSON *child = value->child; child; child = child->next) {
        const char *const *k = keys;
        while (*k && strcmp(*k, child->string) != 0) k++;
        if (*k) continue;
        char known[400] = "";
        size_t n = 0;
        for (k = keys; *k && n < sizeof known; k++) {
            int wrote = snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", *k);
            n += wrote > 0 ? (size_t)wrote : 0;
        }
        const char *near = nearest(child->string, keys);
        return json_key_error(j, child, st, LX_E_SCHEMA, "unknown key \"%s\" in %s;%s%s%s it may have: %s",
                              child->string, what, near ? " did you mean \"" : "", near ? near : "",
                              near ? "\"?" : "", known);
    }
    return true;
}

const cJSON *json_find(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static const cJSON *require(const struct json *j, const cJSON *object, const char *key, lx_status *st)
{
    const cJSON *v = json_find(object, key);
    if (!v) json_error(j, object, st, LX_E_SCHEMA, "the key \"%s\" is missing here; add it", key);
    return v;
}

static bool wrong_type(const struct json *j, const cJSON *v, const char *what, const char *wanted,
                       lx_status *st)
{
    return json_error(j, v, st, LX_E_SCHEMA, "%s must be %s, not %s", what, wanted, type_name(v));
}

/* NULL: a double holds it. */
static const struct json_wide *wide_of(const struct json *j, const cJSON *v)
{
    size_t low = 0, high = j->wide_count, place = (size_t)v->valueint;
    if (fabs(v->valuedouble) < (double)LX_INT_MAX) return NULL;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (j->wide[mid].place < place)
            low = mid + 1;
        else
            high = mid;
    }
    return low < j->wide_count && j->wide[low].place == place ? &j->wide[low] : NULL;
}

static bool too_wide(const struct json *j, const cJSON *v, lx_status *st)
{
    if (!wide_of(j, v)) return false;
    json_error(j, v, st, LX_E_RANGE, "an integer beyond 2^53 (9007199254740992), the largest that is exact");
    return true;
}

bool json_whole(const struct json *j, const cJSON *v, int64_t *bits)
{
    const struct json_wide *w = cJSON_IsNumber(v) ? wide_of(j, v) : NULL;
    if (w) return *bits = w->bits, true;
    return cJSON_IsNumber(v) && whole_of_double(v->valuedouble, bits);
}

bool json_int_value(const struct json *j, const cJSON *v, const char *what, int64_t low, int64_t high,
                    int64_t *out, lx_status *st)
{
    if (!cJSON_IsNumber(v)) return wrong_type(j, v, what, "an integer", st);
    if (too_wide(j, v, st)) return false;
    double d = v->valuedouble;
    if (d != floor(d)) return json_error(j, v, st, LX_E_SCHEMA, "%s must be an integer, not %g", what, d);
    if (d < (double)low || d > (double)high || fabs(d) > (double)LX_INT_MAX)
        return json_error(j, v, st, LX_E_RANGE, "%s is %.0f; it must be from %lld to %lld", what, d,
                          (long long)low, (long long)high);
    *out = (int64_t)d;
    return true;
}

bool json_int(const struct json *j, const cJSON *object, const char *key, int64_t low, int64_t high,
              int64_t *out, lx_status *st)
{
    const cJSON *v = require(j, object, key, st);
    return v && json_int_value(j, v, key, low, high, out, st);
}

bool json_opt_int(const struct json *j, const cJSON *object, const char *key, int64_t low, int64_t high,
                  int64_t *out, lx_status *st)
{
    const cJSON *v = json_find(object, key);
    return !v || json_int_value(j, v, key, low, high, out, st);
}

bool json_opt_number(const struct json *j, const cJSON *object, const char *key, double low, double high,
                     double *out, lx_status *st)
{
    const cJSON *v = json_find(object, key);
    if (!v) return true;
    if (!cJSON_IsNumber(v)) return wrong_type(j, v, key, "a number", st);
    if (too_wide(j, v, st)) return false;
    if (!(v->valuedouble >= low && v->valuedouble <= high))
        return json_error(j, v, st, LX_E_RANGE, "%s is %g; it must be from %g to %g", key, v->valuedouble,
                          low, high);
    *out = v->valuedouble;
    return true;
}

bool json_opt_string(const struct json *j, const cJSON *object, const char *key, const char **out,
                     lx_status *st)
{
    const cJSON *v = json_find(object, key);
    if (!v) return true;
    if (!cJSON_IsString(v)) return wrong_type(j, v, key, "a string", st);
    *out = v->valuestring;
    return true;
}

bool json_string(const struct json *j, const cJSON *object, const char *key, const char **out, lx_status *st)
{
    return require(j, object, key, st) && json_opt_string(j, object, key, out, st);
}

bool json_opt_bool(const struct json *j, const cJSON *object, const char *key, bool *out, lx_status *st)
{
    const cJSON *v = json_find(object, key);
    if (!v) return true;
    if (!cJSON_IsBool(v)) return wrong_type(j, v, key, "true or false", st);
    *out = cJSON_IsTrue(v);
    return true;
}

bool json_opt_array(const struct json *j, const cJSON *object, const char *key, const cJSON **out,
                    lx_status *st)
{
    const cJSON *v = json_find(object, key);
    if (!v) return true;
    if (!cJSON_IsArray(v)) return wrong_type(j, v, key, "an array", st);
    *out = v;
    return true;
}

bool json_array(const struct json *j, const cJSON *object, const char *key, const cJSON **out, lx_status *st)
{
    return require(j, object, key, st) && json_opt_array(j, object, key, out, st);
}
