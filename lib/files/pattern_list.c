/* Lists of buffers in patterns. Buffers and pools are named, or numbered from 0 in the order of the file. */
#include "files/pattern_list.h"

static bool read_taken(struct reader *r, const struct json_value *v, struct lx_pool *p)
{
    const struct json_value *reserved = NULL, *prefix = NULL, *one;
    if (!json_opt_array(r->j, v, "reserved", &reserved, r->st) ||
        !json_opt_array(r->j, v, "prefix", &prefix, r->st))
        return false;
    size_t n = (size_t)json_count(reserved) + (size_t)json_count(prefix);
    struct lx_reserved *taken = arena_array(r->b.memory, n, sizeof *taken), last;
    json_for_each(one, reserved) {
        struct lx_reserved *out = &taken[p->reserved_count++]; /* always, or during [start, end) */
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
        if (p->capacity >= 0 && out->to > p->capacity)
            return json_error(r->j, one, r->st, LX_E_MODEL,
                              "reserved: bytes [%lld, %lld) end beyond pool %s, which has %lld",
                              (long long)out->from, (long long)out->to, p->name, (long long)p->capacity);
    }
    json_for_each(one, prefix) {
        int64_t *x; /* the lowest bytes, on one tick */
        int count;
        if (!json_is_array(one) || !read_ints(r, one, "an entry of prefix", 0, 2, &x, &count) || count != 2 ||
            x[0] >= LX_INT_MAX)
            return json_error(r->j, one, r->st, LX_E_SCHEMA, "prefix is a list of [tick, bytes]");
        last = (struct lx_reserved){0, x[1], x[0], x[0] + 1};
        if (p->capacity >= 0 && last.to > p->capacity)
            return json_error(r->j, one, r->st, LX_E_MODEL, "prefix: more bytes than pool %s has", p->name);
        if (last.to > 0) taken[p->reserved_count++] = last;
    }
    p->reserved = taken;
    return true;
}

static bool list_read_pool(struct reader *r, const struct json_value *v, struct lx_pool *p)
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

static bool read_pools(struct reader *r, const struct json_value *root)
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
        if (!list_read_pool(r, v, &pools[list->pool_count])) return false;
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

static bool read_pool_name(struct reader *r, const struct json_value *v, const char *what, int32_t *out)
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

static bool read_buffer_name(struct reader *r, const struct json_value *v, const char *what, int32_t *out)
{
    double number = json_is_number(v) ? v->number : -1;
    *out = json_is_string(v) ? names_find(&r->b.buffer_names, v->text) : -1;
    if (number >= 0 && number < (double)r->b.buffers.count && number == (double)(int32_t)number)
        *out = (int32_t)number;
    if (*out >= 0) return true;
    return json_error(r->j, v, r->st, LX_E_UNKNOWN_NAME,
                      "%s: this must be the name of a buffer of this file, or its number", what);
}

/* "live": rising intervals instead of "start" and "end". */
static bool read_live(struct reader *r, const struct json_value *v, struct lx_buffer *b)
{
    const struct json_value *array = NULL, *one;
    if (!json_opt_array(r->j, v, "live", &array, r->st)) return false;
    if (!array) return true;
    if (b->start >= 0 || b->end >= 0)
        return json_error(r->j, array, r->st, LX_E_SCHEMA, "buffer %s: live goes without start and end",
                          b->name);
    int n = json_count(array);
    struct lx_life *lives = arena_array(r->b.memory, (size_t)n, sizeof *lives);
    if (n == 0)
        return json_error(r->j, array, r->st, LX_E_MODEL, "buffer %s: live: it has no interval", b->name);
    n = 0;
    json_for_each(one, array) {
        int64_t *ends;
        int count;
        if (!json_is_array(one))
            return json_error(r->j, one, r->st, LX_E_SCHEMA, "buffer %s: live is a list of [start, end)",
                              b->name);
        if (!read_ints(r, one, "an end of live", 0, 2, &ends, &count)) return false;
        if (count != 2 || ends[0] >= ends[1])
            return json_error(r->j, one, r->st, LX_E_MODEL,
                              "buffer %s: live: an interval has a start and an end above it", b->name);
        lives[n] = (struct lx_life){ends[0], ends[1]};
        if (n > 0 && lives[n].start < lives[n - 1].end)
            return json_error(r->j, one, r->st, LX_E_MODEL,
                              "buffer %s: live: the intervals must rise and not overlap", b->name);
        n++;
    }
    b->start = lives[0].start;
    b->end = lives[n - 1].end;
    if (n > 1) b->lives = lives, b->life_count = n;
    return true;
}

/* "pin": [pool, address], or "fixed" for the first pool; "pools" and "costs". */
static bool list_read_places(struct reader *r, const struct json_value *v, struct lx_buffer *b)
{
    const struct json_value *pin = NULL, *pools = NULL, *costs = NULL, *one;
    int64_t *ints = NULL;
    int count = 0;
    if (!json_opt_array(r->j, v, "pools", &pools, r->st) || !json_opt_array(r->j, v, "costs", &costs, r->st))
        return false;
    int32_t *at = arena_array(r->b.memory, (size_t)json_count(pools), sizeof *at);
    json_for_each(one, pools)
        if (!read_pool_name(r, one, "pools", &at[b->pool_count++])) return false;
    if (pools) b->pools = at;
    if (costs) {
        if (!read_ints(r, costs, "one of costs", 0, LX_MAX_ITEMS, &ints, &count)) return false;
        int wanted = pools ? b->pool_count : r->b.list->pool_count ? r->b.list->pool_count : 1;
        if (count != wanted)
            return json_error(r->j, costs, r->st, LX_E_MODEL, "buffer %s: %d costs for %d pools", b->name,
                              count, wanted);
        b->on_costs = ints;
        b->pool_count = count;
    }
    if (!json_opt_int(r->j, v, "fixed", 0, LX_INT_MAX, &b->fixed, r->st) ||
        !json_opt_array(r->j, v, "pin", &pin, r->st) || !json_opt_bool(r->j, v, "alone", &b->alone, r->st))
        return false;
    if (!pin) return true;
    if (b->fixed >= 0 || json_count(pin) != 2)
        return json_error(r->j, pin, r->st, LX_E_SCHEMA,
                          "buffer %s: a pin is [pool, address], and goes without \"fixed\"", b->name);
    return read_pool_name(r, json_item(pin, 0), "pin", &b->fixed_pool) &&
           json_int_value(r->j, json_item(pin, 1), "the address of a pin", 0, LX_INT_MAX, &b->fixed, r->st);
}

/* "off" and "cost" are the same; "off": null means must be placed. Without either, uses imply the cost:
 * (reads + 1) times its size for a computed buffer, (reads - 1) times if it is read first, because one read
 * remains when it is cloned. */
static bool list_read_cost(struct reader *r, const struct json_value *v, struct lx_buffer *b)
{
    const struct json_value *off = json_find(v, "off");
    if (off && json_find(v, "cost"))
        return json_error(r->j, off, r->st, LX_E_SCHEMA,
                          "buffer %s: \"off\" and \"cost\" are the same; say one", b->name);
    b->must = json_is_null(off);
    if (off && !b->must) return json_int_value(r->j, off, "off", 0, LX_INT_MAX, &b->spill_cost, r->st);
    if (b->must || json_find(v, "instead_of")) b->spill_cost = 0;
    if (b->spill_cost >= 0) return true;
    int64_t times = b->use_count == 0 ? 1 : b->first_use_is_read ? b->use_count - 1 : b->use_count;
    if (mul_i64(times, b->size, &b->spill_cost) && b->spill_cost <= LX_INT_MAX) return true;
    return json_error(r->j, v, r->st, LX_E_RANGE, "buffer %s: size times uses is beyond 2^53", b->name);
}

static bool list_read_uses(struct reader *r, const struct json_value *v, struct lx_buffer *b)
{
    const struct json_value *uses = NULL;
    int64_t *ticks = NULL;
    int count = 0;
    if (!json_opt_array(r->j, v, "uses", &uses, r->st) ||
        (uses && !read_ints(r, uses, "a use", 0, LX_MAX_ITEMS, &ticks, &count)) ||
        !json_opt_bool(r->j, v, "first_use_is_read", &b->first_use_is_read, r->st))
        return false;
    b->uses = ticks;
    b->use_count = count;
    for (int i = 1; i < count; i++)
        if (ticks[i] <= ticks[i - 1])
            return json_error(r->j, v, r->st, LX_E_MODEL,
                              "buffer %s: its uses must be strictly increasing, but %lld follows %lld",
                              b->name, (long long)ticks[i], (long long)ticks[i - 1]);
    return true;
}

#define BUFFER_KEYS                                                                                          \
    "name", "id", "size", "uses", "start", "end", "first_use_is_read", "in_place_parents", "reason",         \
        "fixed", "alignment", "cost", "live", "pools", "costs", "off", "barred", "pin", "alone", "parents",  \
        "instead_of"

static bool list_read_buffer(struct reader *r, const struct json_value *v)
{
    static const char *const keys[] = {BUFFER_KEYS, NULL};
    const struct json *j = r->j;
    struct lx_buffer b = {.fixed = -1, .start = -1, .end = -1, .spill_cost = -1};
    int64_t id = 0;
    if (!json_only_keys(j, v, "a buffer", keys, r->st) || !json_string(j, v, "name", &b.name, r->st) ||
        !json_int(j, v, "size", 0, LX_INT_MAX, &b.size, r->st) || !list_read_uses(r, v, &b) ||
        !json_opt_int(j, v, "start", 0, LX_INT_MAX, &b.start, r->st) ||
        !json_opt_int(j, v, "end", 1, LX_INT_MAX, &b.end, r->st))
        return false;
    if (json_find(v, "barred") && json_find(v, "reason"))
        return json_error(j, v, r->st, LX_E_SCHEMA,
                          "buffer %s: \"barred\" and \"reason\" are the same; say one", b.name);
    if (!json_opt_string(j, v, "reason", &b.reason, r->st) ||
        !json_opt_string(j, v, "barred", &b.reason, r->st) ||
        !json_opt_int(j, v, "alignment", json_find(v, "live") ? 0 : 1, LX_INT_MAX, &b.alignment, r->st) ||
        !json_opt_int(j, v, "cost", 0, LX_INT_MAX, &b.spill_cost, r->st) || !read_live(r, v, &b) ||
        !list_read_cost(r, v, &b) || !list_read_places(r, v, &b) ||
        !json_opt_int(j, v, "id", -LX_INT_MAX, LX_INT_MAX, &id, r->st))
        return false;
    if (b.use_count > 0 && b.start < 0) b.start = b.uses[0];
    if (b.use_count > 0 && b.end < 0) b.end = b.uses[b.use_count - 1] + 1;
    if (b.start < 0 || b.end < 0)
        return json_error(j, v, r->st, LX_E_SCHEMA,
                          "buffer %s needs \"uses\", or \"start\" and \"end\", or \"live\"", b.name);
    r->b.here = place_of(v);
    if (!builder_buffer(&r->b, &b, r->st)) return false;
    if (json_find(v, "id")) VEC_PUSH(&r->b.buffer_ids, id);
    return true;
}

/* Parents may come later in the file, so they are resolved after all buffers. */
static bool list_read_parents(struct reader *r, const struct json_value *buffers)
{
    size_t i = 0;
    const struct json_value *v, *name;
    json_for_each(v, buffers) {
        struct lx_buffer *b = &r->b.buffers.at[i++];
        const struct json_value *array = NULL;
        if (!json_opt_array(r->j, v, "in_place_parents", &array, r->st) ||
            !json_opt_array(r->j, v, "parents", &array, r->st))
            return false;
        if (!array) continue;
        int32_t *parents = arena_array(r->b.memory, (size_t)json_count(array), sizeof *parents);
        json_for_each(name, array) {
            lx_status why;
            struct reader quiet = *r;
            quiet.st = &why;
            bool may_be = json_is_string(name) || json_find(v, "parents"); /* the old key takes names only */
            if (!may_be || !read_buffer_name(&quiet, name, "parents", &parents[b->parent_count++]))
                return json_error(r->j, name, r->st, LX_E_UNKNOWN_NAME,
                                  "buffer %s: an in-place parent must be the name of a buffer of this file",
                                  b->name);
        }
        b->parents = parents;
    }
    return true;
}

static bool read_group(struct reader *r, const struct json_value *array, const char *what, struct lx_group *g)
{
    const struct json_value *v;
    if (!json_is_array(array))
        return json_error(r->j, array, r->st, LX_E_SCHEMA, "%s: this must be a list of buffers", what);
    int32_t *at = arena_array(r->b.memory, (size_t)json_count(array), sizeof *at);
    json_for_each(v, array)
        if (!read_buffer_name(r, v, what, &at[g->count++])) return false;
    g->at = at;
    return true;
}

/* A list of groups under a key. */
static bool list_read_groups(struct reader *r, const struct json_value *root, const char *key,
                             const struct lx_group **out, int32_t *count)
{
    const struct json_value *array = NULL, *v;
    if (!json_opt_array(r->j, root, key, &array, r->st)) return false;
    if (!array) return true;
    struct lx_group *groups = arena_array(r->b.memory, (size_t)json_count(array), sizeof *groups);
    json_for_each(v, array) {
        if (!read_group(r, v, key, &groups[*count])) return false;
        if (groups[(*count)++].count < 2)
            return json_error(r->j, v, r->st, LX_E_MODEL, "%s: a group has at least two buffers", key);
    }
    *out = groups;
    return true;
}

static bool list_read_pairs(struct reader *r, const struct json_value *root, const char *key,
                            const struct lx_pair **out, int32_t *count)
{
    const struct json_value *array = NULL, *v;
    if (!json_opt_array(r->j, root, key, &array, r->st)) return false;
    if (!array) return true;
    struct lx_pair *pairs = arena_array(r->b.memory, (size_t)json_count(array), sizeof *pairs);
    json_for_each(v, array) {
        if (!json_is_array(v) || json_count(v) != 2)
            return json_error(r->j, v, r->st, LX_E_SCHEMA, "%s is a list of pairs of buffers", key);
        struct lx_pair *p = &pairs[(*count)++];
        if (!read_buffer_name(r, json_item(v, 0), key, &p->a) ||
            !read_buffer_name(r, json_item(v, 1), key, &p->b))
            return false;
        if (p->a == p->b)
            return json_error(r->j, v, r->st, LX_E_MODEL, "%s: a buffer is paired with itself", key);
    }
    *out = pairs;
    return true;
}

/* "cost": null: forbidden. */
static bool read_linked(struct reader *r, const struct json_value *v, struct lx_linked_cost *c)
{
    static const char *const keys[] = {"cost", "all_on", "all_off", "any_on", "any_off", NULL};
    struct lx_group *groups[] = {&c->all_on, &c->all_off, &c->any_on, &c->any_off};
    if (!json_only_keys(r->j, v, "a charge", keys, r->st)) return false;
    const struct json_value *cost = json_find(v, "cost");
    c->cost = LX_FORBIDDEN;
    if (!cost)
        return json_error(r->j, v, r->st, LX_E_SCHEMA,
                          "this charge has no \"cost\"; null forbids what it describes");
    if (!json_is_null(cost) &&
        !json_int_value(r->j, cost, "the cost of a charge", 0, LX_INT_MAX, &c->cost, r->st))
        return false;
    for (int k = 0; k < 4; k++)
        if (json_find(v, keys[k + 1]) && !read_group(r, json_find(v, keys[k + 1]), "charge", groups[k]))
            return false;
    if (c->all_on.count + c->all_off.count + c->any_on.count + c->any_off.count == 0)
        return json_error(r->j, v, r->st, LX_E_MODEL,
                          "this charge has no condition; name buffers in all_on, all_off, any_on or any_off");
    return true;
}

static bool read_reuse(struct reader *r, const struct json_value *root, struct lx_bonds *b)
{
    const struct json_value *array = NULL, *v;
    if (!json_opt_array(r->j, root, "reuse", &array, r->st)) return false;
    struct lx_reuse *reuse = arena_array(r->b.memory, (size_t)json_count(array), sizeof *reuse);
    json_for_each(v, array) {
        struct lx_reuse *x = &reuse[b->reuse_count++];
        if (!json_is_array(v) || json_count(v) != 3)
            return json_error(r->j, v, r->st, LX_E_SCHEMA, "reuse is a list of [buffer, buffer, cost]");
        if (!read_buffer_name(r, json_item(v, 0), "reuse", &x->a) ||
            !read_buffer_name(r, json_item(v, 1), "reuse", &x->b) ||
            !json_int_value(r->j, json_item(v, 2), "the cost of reuse", 0, LX_INT_MAX, &x->cost, r->st))
            return false;
    }
    b->reuse = reuse;
    return true;
}

static bool read_bonds(struct reader *r, const struct json_value *root, const struct json_value *buffers)
{
    struct lx_bonds *b = &r->b.list->bonds;
    const struct json_value *array = NULL, *v;
    if (!list_read_pairs(r, root, "apart", &b->apart, &b->apart_count) ||
        !list_read_pairs(r, root, "exclusive", &b->exclusive, &b->exclusive_count) ||
        !list_read_groups(r, root, "same_place", &b->same_place, &b->same_place_count) ||
        !list_read_groups(r, root, "together", &b->together, &b->together_count) ||
        !json_opt_array(r->j, root, "charges", &array, r->st))
        return false;
    struct lx_linked_cost *linked_costs =
        arena_array(r->b.memory, (size_t)json_count(array), sizeof *linked_costs);
    int64_t sum = 0;
    json_for_each(v, array) {
        struct lx_linked_cost *c = &linked_costs[b->linked_cost_count++];
        if (!read_linked(r, v, c)) return false;
        sum += c->cost == LX_FORBIDDEN ? 0 : c->cost;
        if (sum > LX_INT_MAX)
            return json_error(r->j, v, r->st, LX_E_RANGE, "charges: the costs up to here add up beyond 2^53");
    }
    b->linked_costs = linked_costs;
    if (!read_reuse(r, root, b)) return false;
    /* Reads "instead_of" of the buffers. */
    int32_t i = 0;
    struct lx_pair *pairs = arena_array(r->b.memory, r->b.buffers.count, sizeof *pairs);
    json_for_each(v, buffers) {
        const struct json_value *owner = json_find(v, "instead_of");
        struct lx_pair *p = &pairs[b->staging_count];
        p->a = i++;
        if (owner && !read_buffer_name(r, owner, "instead_of (staging)", &p->b)) return false;
        b->staging_count += owner != NULL;
    }
    b->staging = pairs;
    return true;
}

bool read_list(struct reader *r, const struct json_value *root, const struct json_value *buffers)
{
    static const char *const objectives[] = {"spill", "fit", "height", "cost", NULL}; /* "cost" is "spill" */
    struct lx_list *list = builder_list(&r->b);
    const struct json_value *grid = json_find(root, "grid"), *v;
    int objective = LX_SPILL;
    list->alignment = r->b.graph->device.stick_bytes;
    if (!json_opt_int(r->j, root, "capacity", 0, LX_INT_MAX, &list->capacity, r->st) ||
        !json_opt_int(r->j, root, "alignment", 1, LX_INT_MAX, &list->alignment, r->st) ||
        !read_word(r, root, "objective", objectives, LX_E_SCHEMA, &objective))
        return false;
    if (objective != LX_OBJECTIVE_COUNT) list->objective = (enum lx_objective)objective;
    if (grid) return json_error(r->j, grid, r->st, LX_E_SCHEMA, "\"grid\" goes with \"ops\"; remove it");
    if (!read_pools(r, root)) return false;
    json_for_each(v, buffers)
        if (!list_read_buffer(r, v)) return false;
    return list_read_parents(r, buffers) && read_bonds(r, root, buffers);
}
