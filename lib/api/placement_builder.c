/* Placement problems under construction: each call appends to lists and checks only its own arguments (names,
 * numbers). Solving checks the whole, by the same rules for every entry. */
#include "api/api_handles.h"

lx_placement *lx_placement_new(const char *objective, int64_t alignment, lx_error *e)
{
    API_CALL(e, NULL);
    int asked = 0;
    const char *word = !objective                       ? ""
                       : strcmp(objective, "cost") == 0 ? lx_objective_word(LX_SPILL)
                                                        : objective;
    while (asked < LX_OBJECTIVE_COUNT && strcmp(lx_objective_word((enum lx_objective)asked), word) != 0)
        asked++;
    if (asked == LX_OBJECTIVE_COUNT)
        return status_set(st, LX_E_UNKNOWN_NAME, "the objective is \"cost\", \"fit\" or \"height\""), NULL;
    if (alignment < 1 || alignment > LX_INT_MAX)
        return status_set(st, LX_E_RANGE, "the alignment is from 1 to 2^53, not %lld", (long long)alignment),
               NULL;
    lx_placement *p = mem_zeroed(1, sizeof *p);
    p->name = "placement";
    p->summary = "";
    p->objective = (enum lx_objective)asked;
    p->alignment = alignment;
    return p;
}

void lx_placement_free(lx_placement *p)
{
    if (!p) return;
    for (size_t i = 0; i < p->pools.count; i++) VEC_FREE(&p->pools.at[i].reserved);
    for (size_t i = 0; i < p->buffers.count; i++) {
        struct placement_buffer *b = &p->buffers.at[i];
        VEC_FREE(&b->lives);
        VEC_FREE(&b->uses);
        VEC_FREE(&b->parents);
        VEC_FREE(&b->allowed);
    }
    VEC_FREE(&p->pools);
    VEC_FREE(&p->buffers);
    VEC_FREE(&p->ids);
    VEC_FREE(&p->apart);
    VEC_FREE(&p->exclusive);
    VEC_FREE(&p->staging);
    VEC_FREE(&p->same_place);
    VEC_FREE(&p->together);
    VEC_FREE(&p->linked_costs);
    VEC_FREE(&p->reuse);
    names_free(&p->pool_names);
    names_free(&p->buffer_names);
    arena_free(&p->memory);
    mem_free(p);
}

static bool placement_is_there(const lx_placement *p, lx_status *st)
{
    return p || status_set(st, LX_E_USAGE, "there is no placement; lx_placement_new makes one");
}

/* A copy of the name, or a number as name; NULL with `st`. */
static const char *placement_builder_own_name(lx_placement *p, const char *what, const char *name,
                                              size_t number, lx_status *st)
{
    if (!api_is_utf8(what, name, st)) return NULL;
    return name ? arena_string(&p->memory, name) : arena_format(&p->memory, "#%zu", number);
}

static bool placement_builder_add_name(struct names *names, const char *what, const char *own, size_t number,
                                       lx_status *st)
{
    if (!own) return false;
    if (number >= LX_MAX_ITEMS) return status_set(st, LX_E_LIMIT, "more than %d %ss", LX_MAX_ITEMS, what);
    if (!*own) return status_set(st, LX_E_SCHEMA, "the name of a %s is empty; give it one", what);
    if (names_add(names, own, (int32_t)number) == NAMES_ADDED) return true;
    return status_set(st, LX_E_DUPLICATE, "two %ss are named %.200s; rename one", what, own);
}

int32_t lx_placement_pool(lx_placement *p, const char *name, int64_t capacity, lx_error *e)
{
    API_CHANGE(e, -LX_E_MEMORY);
    if (!placement_is_there(p, st)) return api_code(st);
    if (capacity < LX_NO_LIMIT || capacity > LX_INT_MAX)
        return status_set(st, LX_E_RANGE, "a pool has a capacity from 0 to 2^53, or -1: none"), api_code(st);
    struct placement_pool pool = {.capacity = capacity};
    VEC_RESERVE(&p->pools, p->pools.count + 1);
    pool.name = placement_builder_own_name(p, "pool", name, p->pools.count, st);
    if (!placement_builder_add_name(&p->pool_names, "pool", pool.name, p->pools.count, st))
        return api_code(st);
    p->plain = false;
    p->pools.at[p->pools.count++] = pool;
    return (int32_t)p->pools.count - 1;
}

/* Does this pool, or buffer, exist? */
static bool is_pool(const lx_placement *p, int32_t pool, lx_status *st)
{
    if (!placement_is_there(p, st)) return false;
    if (pool >= 0 && (size_t)pool < p->pools.count) return true;
    return status_set(st, LX_E_UNKNOWN_NAME, "there is no pool number %d; lx_placement_pool adds them",
                      (int)pool);
}

static bool is_buffer(const lx_placement *p, int64_t b, lx_status *st)
{
    if (!placement_is_there(p, st)) return false;
    if (b >= 0 && (uint64_t)b < p->buffers.count) return true;
    return status_set(st, LX_E_UNKNOWN_NAME, "there is no buffer number %lld; lx_placement_buffer adds them",
                      (long long)b);
}

int32_t lx_placement_reserve(lx_placement *p, int32_t pool, int64_t from, int64_t to, int64_t start,
                             int64_t end, lx_error *e)
{
    API_CHANGE(e, -LX_E_MEMORY);
    if (!is_pool(p, pool, st)) return api_code(st);
    struct lx_reserved r = {from, to, start, end};
    if (start == 0 && end == 0) r.start = INT64_MIN, r.end = INT64_MAX;
    p->plain = false;
    VEC_PUSH(&p->pools.at[pool].reserved, r);
    return 0;
}

static bool is_size(const char *name, int64_t size, int64_t off, lx_status *st)
{
    if (size >= 0 && size <= LX_INT_MAX && off >= -1 && off <= LX_INT_MAX) return true;
    return status_set(st, LX_E_RANGE,
                      "buffer %.200s: a size is 0 to 2^53, a cost too, or -1 where it must be placed",
                      name ? name : "without a name");
}

/* `own`: a name that lives as long as the placement. */
static int32_t placement_builder_add_buffer(lx_placement *p, const char *own, int64_t size, int64_t start,
                                            int64_t end, int64_t off, lx_status *st)
{
    struct placement_buffer b = {.b = {.name = own,
                                       .size = size,
                                       .start = start,
                                       .end = end,
                                       .fixed = -1,
                                       .must = off < 0,
                                       .spill_cost = max_i64(off, 0)}};
    /* Reserve before taking the name: a name without a buffer would stay taken. */
    VEC_RESERVE(&p->buffers, p->buffers.count + 1);
    if (!placement_builder_add_name(&p->buffer_names, "buffer", own, p->buffers.count, st))
        return api_code(st);
    p->buffers.at[p->buffers.count++] = b;
    return (int32_t)p->buffers.count - 1;
}

int32_t lx_placement_buffer(lx_placement *p, const char *name, int64_t size, int64_t start, int64_t end,
                            int64_t off, lx_error *e)
{
    API_CHANGE(e, -LX_E_MEMORY);
    if (!placement_is_there(p, st)) return api_code(st);
    if (!is_size(name, size, off, st)) return api_code(st);
    const char *own = placement_builder_own_name(p, "buffer", name, p->buffers.count, st);
    return own ? placement_builder_add_buffer(p, own, size, start, end, off, st) : api_code(st);
}

/* Makes names for unnamed buffers, and room, so that all are added or none; NULL with `st`. */
static const char **make_names(lx_placement *p, int32_t first, int32_t count, lx_status *st)
{
    enum { LONGEST = 16 };
    size_t all = (size_t)count;
    if ((size_t)first + all > LX_MAX_ITEMS)
        return status_set(st, LX_E_LIMIT, "more than %d buffers", LX_MAX_ITEMS), NULL;
    const char **names = arena_array(&p->memory, all + 1, sizeof *names);
    char *words = arena_array(&p->memory, all + 1, LONGEST);
    VEC_RESERVE(&p->buffers, (size_t)first + all);
    for (int32_t i = 0; i < count; i++) {
        char *own = words + (size_t)i * LONGEST;
        snprintf(own, LONGEST, "#%d", (int)(first + i));
        if (names_find(&p->buffer_names, own) >= 0)
            return status_set(st, LX_E_DUPLICATE, "two buffers are named %s; rename one", own), NULL;
        names[i] = own;
    }
    return names;
}

int32_t lx_placement_buffers(lx_placement *p, int32_t count, const int64_t *sizes, const int64_t *starts,
                             const int64_t *ends, const int64_t *offs, lx_error *e)
{
    API_CHANGE(e, -LX_E_MEMORY);
    if (!placement_is_there(p, st)) return api_code(st);
    if (count < 0 || (count > 0 && (!sizes || !starts || !ends)))
        return status_set(st, LX_E_USAGE, "buffers need sizes, starts and ends"), api_code(st);
    int32_t first = (int32_t)p->buffers.count;
    for (int32_t i = 0; i < count; i++)
        if (!is_size(NULL, sizes[i], offs ? offs[i] : 0, st)) return api_code(st);
    const char **names = make_names(p, first, count, st);
    for (int32_t i = 0; names && i < count; i++)
        placement_builder_add_buffer(p, names[i], sizes[i], starts[i], ends[i], offs ? offs[i] : sizes[i],
                                     st);
    return names ? first : api_code(st);
}

int32_t lx_placement_live(lx_placement *p, int32_t b, int64_t start, int64_t end, lx_error *e)
{
    API_CHANGE(e, -LX_E_MEMORY);
    if (!is_buffer(p, b, st)) return api_code(st);
    struct placement_buffer *at = &p->buffers.at[b];
    struct lx_life first = {at->b.start, at->b.end}, next = {start, end};
    if (start < at->b.end || start >= end)
        return status_set(st, LX_E_MODEL, "buffer %.200s: live: [%lld, %lld) is not behind what it has",
                          at->b.name, (long long)start, (long long)end),
               api_code(st);
    if (at->lives.count == 0) VEC_PUSH(&at->lives, first);
    VEC_PUSH(&at->lives, next);
    at->b.end = end;
    return 0;
}

int32_t lx_placement_uses(lx_placement *p, int32_t b, const int64_t *uses, int32_t count,
                          int32_t first_is_read, lx_error *e)
{
    API_CHANGE(e, -LX_E_MEMORY);
    if (!is_buffer(p, b, st)) return api_code(st);
    struct placement_buffer *at = &p->buffers.at[b];
    if (count < 0 || (count > 0 && !uses))
        return status_set(st, LX_E_USAGE, "buffer %.200s: uses: there are none", at->b.name), api_code(st);
    VEC_RESERVE(&at->uses, (size_t)count);
    for (int32_t i = 0; i < count; i++) at->uses.at[i] = uses[i];
    at->uses.count = (size_t)count;
    at->b.first_use_is_read = first_is_read != 0;
    return 0;
}

int32_t lx_placement_allow(lx_placement *p, int32_t b, int32_t pool, int64_t cost, lx_error *e)
{
    API_CHANGE(e, -LX_E_MEMORY);
    if (!is_buffer(p, b, st) || !is_pool(p, pool, st)) return api_code(st);
    VEC_PUSH(&p->buffers.at[b].allowed, (struct placement_allowed){pool, cost});
    return 0;
}

int32_t lx_placement_pin(lx_placement *p, int32_t b, int32_t pool, int64_t address, int32_t alone,
                         lx_error *e)
{
    API_CHANGE(e, -LX_E_MEMORY);
    if (!is_buffer(p, b, st) || !is_pool(p, pool, st)) return api_code(st);
    if (address < 0 || address > LX_INT_MAX)
        return status_set(st, LX_E_RANGE, "a pin is an address from 0 to 2^53"), api_code(st);
    p->buffers.at[b].b.fixed = address;
    p->buffers.at[b].b.fixed_pool = pool;
    p->buffers.at[b].b.alone = alone != 0;
    p->plain = false;
    return 0;
}

int32_t lx_placement_set(lx_placement *p, int32_t b, const char *key, const char *value, lx_error *e)
{
    static const char *const keys[] = {"barred", "alignment", "parent", "instead_of"};
    enum { BARRED, ALIGNMENT, PARENT, INSTEAD_OF, KEYS };
    API_CHANGE(e, -LX_E_MEMORY);
    if (!is_buffer(p, b, st)) return api_code(st);
    struct placement_buffer *at = &p->buffers.at[b];
    int k = 0;
    int64_t other;
    while (k < KEYS && (!key || strcmp(keys[k], key) != 0)) k++;
    if (k == KEYS)
        return status_set(st, LX_E_UNKNOWN_NAME,
                          "a buffer has no key \"%.60s\"; it has barred, alignment, parent and instead_of",
                          key ? key : ""),
               api_code(st);
    if (!value) return status_set(st, LX_E_USAGE, "the key %s needs a value", key), api_code(st);
    if (k == BARRED) {
        if (!api_is_utf8("reason", value, st)) return api_code(st);
        at->b.reason = arena_string(&p->memory, value);
        return 0;
    }
    if (k == ALIGNMENT)
        return lx_parse_int(key, value, 1, LX_INT_MAX, &at->b.alignment, st) ? 0 : api_code(st);
    if (!lx_parse_int(key, value, 0, LX_MAX_ITEMS, &other, st) || !is_buffer(p, other, st))
        return api_code(st);
    if (k == PARENT) {
        VEC_PUSH(&at->parents, (int32_t)other);
        return 0;
    }
    for (size_t i = 0; i < p->staging.count; i++)
        if (p->staging.at[i].a == b)
            return status_set(st, LX_E_DUPLICATE, "buffer %.200s: instead_of is said twice", at->b.name),
                   api_code(st);
    VEC_PUSH(&p->staging, (struct lx_pair){b, (int32_t)other});
    return 0;
}

/* --- Bonds between buffers. --- */

int32_t lx_placement_pair(lx_placement *p, const char *kind, int32_t a, int32_t b, int64_t cost, lx_error *e)
{
    API_CHANGE(e, -LX_E_MEMORY);
    struct lx_pair pair = {a, b};
    if (!is_buffer(p, a, st) || !is_buffer(p, b, st)) return api_code(st);
    if (kind && strcmp(kind, "apart") == 0)
        VEC_PUSH(&p->apart, pair);
    else if (kind && strcmp(kind, "exclusive") == 0)
        VEC_PUSH(&p->exclusive, pair);
    else if (kind && strcmp(kind, "reuse") == 0)
        VEC_PUSH(&p->reuse, (struct lx_reuse){a, b, cost});
    else
        return status_set(st, LX_E_UNKNOWN_NAME, "a pair is \"apart\", \"exclusive\" or \"reuse\""),
               api_code(st);
    return 0;
}

/* A copy of the members; false with `st`: one is no buffer. */
static bool placement_take_group(lx_placement *p, const int32_t *members, int32_t count, struct lx_group *out,
                                 lx_status *st)
{
    if (count < 0 || (count > 0 && !members))
        return status_set(st, LX_E_USAGE, "a group without members; give their numbers");
    for (int32_t i = 0; i < count; i++)
        if (!is_buffer(p, members[i], st)) return false;
    *out = (struct lx_group){arena_copy_array(&p->memory, members, (size_t)count, sizeof *members), count};
    return true;
}

int32_t lx_placement_group(lx_placement *p, const char *kind, const int32_t *members, int32_t count,
                           lx_error *e)
{
    API_CHANGE(e, -LX_E_MEMORY);
    bool same = kind && strcmp(kind, "same_place") == 0;
    if (!placement_is_there(p, st)) return api_code(st);
    if (!same && (!kind || strcmp(kind, "together") != 0))
        return status_set(st, LX_E_UNKNOWN_NAME, "a group is \"same_place\" or \"together\""), api_code(st);
    struct lx_group group;
    if (!placement_take_group(p, members, count, &group, st)) return api_code(st);
    if (same)
        VEC_PUSH(&p->same_place, group);
    else
        VEC_PUSH(&p->together, group);
    return 0;
}

int32_t lx_placement_charge(lx_placement *p, int64_t cost, const int32_t *all_on, int32_t all_on_count,
                            const int32_t *all_off, int32_t all_off_count, const int32_t *any_on,
                            int32_t any_on_count, const int32_t *any_off, int32_t any_off_count, lx_error *e)
{
    API_CHANGE(e, -LX_E_MEMORY);
    if (!placement_is_there(p, st)) return api_code(st);
    struct lx_linked_cost linked = {.cost = cost};
    if (!placement_take_group(p, all_on, all_on_count, &linked.all_on, st) ||
        !placement_take_group(p, all_off, all_off_count, &linked.all_off, st) ||
        !placement_take_group(p, any_on, any_on_count, &linked.any_on, st) ||
        !placement_take_group(p, any_off, any_off_count, &linked.any_off, st))
        return api_code(st);
    VEC_PUSH(&p->linked_costs, linked);
    return 0;
}
