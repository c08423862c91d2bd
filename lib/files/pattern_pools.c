/* The pools of a list: "pools": [{"name", "capacity", "reserved", "prefix"}]. */
#include "files/pattern_list.h"
#include "base/checked.h"
#include "base/fail.h"

#include <string.h>

static bool read_taken(struct reader *r, const struct json_value *v, struct lx_pool *p)
{
    const struct json_value *reserved = NULL, *prefix = NULL, *one;
    if (!json_opt_array(r->j, v, "reserved", &reserved, r->st) ||
        !json_opt_array(r->j, v, "prefix", &prefix, r->st))
        return false;
    size_t n = (size_t)json_count(reserved) + (size_t)json_count(prefix);
    struct lx_reserved *taken = arena_array(r->b.memory, n, sizeof *taken), last;
    json_for_each(one, reserved) {
        struct lx_reserved *next = &taken[p->reserved_count++];
        /* [from, to] for all time, or [from, to, start, end]. */
        struct lx_reserved *out = next;
        int64_t *x;
        int count;
        if (!json_is_array(one) || !read_ints(r, one, "an entry of reserved", 0, 4, &x, &count) ||
            (count != 2 && count != 4))
            return json_error(r->j, one, r->st, LX_E_SCHEMA,
                              "reserved is a list of [from, to] or [from, to, start, end]");
        *out = (struct lx_reserved){x[0], x[1], INT64_MIN, INT64_MAX};
        if (count == 4) out->start = x[2], out->end = x[3];
        if (out->from >= out->to || out->start >= out->end)
            return json_error(r->j, one, r->st, LX_E_MODEL, "reserved: nothing lies between these ends");
        if (p->capacity >= 0 && next->to > p->capacity)
            return json_error(r->j, one, r->st, LX_E_MODEL,
                              "reserved: bytes [%lld, %lld) end beyond pool %s, which has %lld",
                              (long long)next->from, (long long)next->to, p->name, (long long)p->capacity);
    }
    json_for_each(one, prefix) {
        /* [tick, bytes]: the lowest bytes, on that tick. */
        struct lx_reserved *out = &last;
        int64_t *x;
        int count;
        if (!json_is_array(one) || !read_ints(r, one, "an entry of prefix", 0, 2, &x, &count) || count != 2 ||
            x[0] >= LX_INT_MAX)
            return json_error(r->j, one, r->st, LX_E_SCHEMA, "prefix is a list of [tick, bytes]");
        *out = (struct lx_reserved){0, x[1], x[0], x[0] + 1};
        if (p->capacity >= 0 && last.to > p->capacity)
            return json_error(r->j, one, r->st, LX_E_MODEL, "prefix: more bytes than pool %s has", p->name);
        if (last.to > 0) taken[p->reserved_count++] = last;
    }
    p->reserved = taken;
    return true;
}

static bool pattern_pools_read_pool(struct reader *r, const struct json_value *v, struct lx_pool *p)
{
    static const char *const keys[] = {"name", "capacity", "reserved", "prefix", NULL};
    const char *name;
    if (!json_only_keys(r->j, v, "a pool", keys, r->st) || !json_string(r->j, v, "name", &name, r->st))
        return false;
    const struct json_value *capacity = json_find(v, "capacity");
    p->name = arena_string(r->b.memory, name);
    p->capacity = LX_NO_LIMIT;
    if (!capacity || (json_is_null(capacity) && r->b.list->objective != LX_HEIGHT))
        return json_error(r->j, v, r->st, LX_E_MODEL,
                          "pool %s has no capacity; null is allowed where the height is asked for", name);
    if (!json_is_null(capacity) &&
        !json_int_value(r->j, capacity, "capacity", 0, LX_INT_MAX, &p->capacity, r->st))
        return false;
    return read_taken(r, v, p);
}

bool read_pools(struct reader *r, const struct json_value *root)
{
    struct lx_list *list = r->b.list;
    const struct json_value *array = NULL, *v;
    if (!json_opt_array(r->j, root, "pools", &array, r->st)) return false;
    if (!array) return true;
    if (json_find(root, "capacity"))
        return json_error(r->j, json_find(root, "capacity"), r->st, LX_E_SCHEMA,
                          "\"capacity\" goes without \"pools\": each pool has its own");
    struct lx_pool *pools = arena_array(r->b.memory, (size_t)json_count(array), sizeof *pools);
    json_for_each(v, array) {
        if (!pattern_pools_read_pool(r, v, &pools[list->pool_count])) return false;
        for (int32_t k = 0; k < list->pool_count; k++)
            if (strcmp(pools[k].name, pools[list->pool_count].name) == 0)
                return json_error(r->j, v, r->st, LX_E_DUPLICATE, "two pools have the name %s; rename one",
                                  pools[k].name);
        list->pool_count++;
    }
    list->pools = pools;
    if (list->pool_count) return true;
    return json_error(r->j, array, r->st, LX_E_MODEL, "there is no pool; leave \"pools\" out or name one");
}

bool read_pool_name(struct reader *r, const struct json_value *v, const char *what, int32_t *out)
{
    const struct lx_list *list = r->b.list;
    int32_t count = list->pool_count ? list->pool_count : 1;
    double number = json_is_number(v) ? v->number : -1;
    *out = -1;
    for (int32_t k = 0; json_is_string(v) && k < list->pool_count; k++)
        if (strcmp(list->pools[k].name, v->text) == 0) *out = k;
    if (number >= 0 && number < count && number == (double)(int32_t)number) *out = (int32_t)number;
    if (*out >= 0) return true;
    return json_error(r->j, v, r->st, LX_E_UNKNOWN_NAME,
                      "%s: this must be the name of a pool of this file, or its number", what);
}
