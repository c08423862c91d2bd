/* Reads lxplan-lifetimes, the buffers of a compiler whose programs have loops:
 *   {"lxplan": 1, "kind": "lifetimes", "name": "...", "maker": "...", "alignment": 32,
 *    "pools": [{"name": "UB", "capacity": 196608}, ...],
 *    "program": [2, {"loop": "i", "times": 8, "body": [3]}, 1],
 *    "buffers": [{"name": "w", "size": 4096, "pool": "UB", "address": 0, "first": 1, "last": 2}, ...]}
 * A number in the program stands for so many steps, which are numbered through; `first` writes a buffer,
 * `last` is the last step that uses the value. A step is a tick. Needed are program and buffers, and of these
 * name, size, first and last; a buffer without an address is off chip, in a loop without `times` nobody knows
 * how often it runs.
 *
 * Lives go around loops. A loop that has the last use but not the first needs the value again in its next
 * iteration: the life lasts to the end of the outermost such loop. Where `last` is before `first`, the next
 * iteration of the innermost loop around both uses the value: it lives from `first` to the end of the loop,
 * and from its begin to `last`. */
#include "files/pattern.h"

FORMAT_READS(lifetimes);

struct lifetimes_reader {
    const struct json *j;
    struct graph_builder b;
    VEC(struct lx_list_loop) loops;
    VEC(int64_t) addresses;
    VEC(int32_t) pools;
    int64_t steps;
    lx_status *st;
};

static bool read_program(struct lifetimes_reader *r, const struct json_value *array, int depth)
{
    static const char *const keys[] = {"loop", "times", "body", NULL};
    enum { DEEPEST_LOOP = 64 };
    const struct json_value *v, *body = NULL;
    json_for_each(v, array) {
        int64_t count = 1;
        struct lx_list_loop loop = {.name = "", .first = r->steps, .times = LX_NO_LIMIT};
        size_t at = r->loops.count;
        if (json_is_object(v)) {
            if (depth == DEEPEST_LOOP)
                return json_error(r->j, v, r->st, LX_E_LIMIT, "more than %d loops in each other",
                                  DEEPEST_LOOP);
            if (!json_only_keys(r->j, v, "a loop", keys, r->st) ||
                !json_string(r->j, v, "loop", &loop.name, r->st) ||
                !json_opt_int(r->j, v, "times", 1, LX_INT_MAX, &loop.times, r->st) ||
                !json_array(r->j, v, "body", &body, r->st))
                return false;
            loop.name = arena_string(r->b.memory, loop.name);
            VEC_PUSH(&r->loops, loop);
            if (!read_program(r, body, depth + 1)) return false;
            r->loops.at[at].end = r->steps;
            continue;
        }
        if (!json_int_value(r->j, v, "a number of steps", 1, LX_INT_MAX / 2 - r->steps, &count, r->st))
            return false;
        r->steps += count;
    }
    return true;
}

static bool loop_has(const struct lx_list_loop *l, int64_t step)
{
    return l->first <= step && step < l->end;
}

/* The life of a value that step `first` writes and step `last` uses last. */
static bool extend_life(struct lifetimes_reader *r, const struct json_value *v, int64_t first, int64_t last,
                        struct lx_buffer *b)
{
    const struct lx_list_loop *around = NULL;
    int64_t to = last;
    for (size_t k = 0; k < r->loops.count; k++) {
        const struct lx_list_loop *l = &r->loops.at[k];
        if (l->times == 1 || !loop_has(l, last)) continue;
        if (loop_has(l, first)) around = l;
        if (!loop_has(l, first)) to = max_i64(to, l->end - 1);
    }
    int64_t *uses = arena_array(r->b.memory, 2, sizeof *uses);
    uses[0] = min_i64(first, last);
    uses[1] = max_i64(first, last);
    b->uses = uses;
    b->use_count = first == last ? 1 : 2;
    b->start = first;
    b->end = to + 1;
    if (first <= last) return true;
    if (!around)
        return json_error(
            r->j, v, r->st, LX_E_MODEL,
            "buffer %s is used last at %lld, before its first use at %lld, and no loop has both", b->name,
            (long long)last, (long long)first);
    struct lx_life *lives = arena_array(r->b.memory, 2, sizeof *lives);
    lives[0] = (struct lx_life){around->first, to + 1};
    lives[1] = (struct lx_life){first, around->end};
    b->start = around->first;
    b->end = around->end;
    b->first_use_is_read = true;
    if (to + 1 < first) b->lives = lives, b->life_count = 2;
    return true;
}

static bool lifetimes_read_buffer(struct lifetimes_reader *r, const struct json_value *v)
{
    static const char *const keys[] = {"name", "size", "pool", "address", "first", "last", NULL};
    const struct lx_list *list = r->b.list;
    struct lx_buffer b = {.fixed = -1};
    const char *pool = NULL;
    int64_t address = -1, first, last;
    int32_t k = 0;
    if (!json_only_keys(r->j, v, "a buffer", keys, r->st) || !json_string(r->j, v, "name", &b.name, r->st) ||
        !json_int(r->j, v, "size", 0, LX_INT_MAX, &b.size, r->st) ||
        !json_opt_string(r->j, v, "pool", &pool, r->st) ||
        !json_opt_int(r->j, v, "address", -1, LX_INT_MAX, &address, r->st) ||
        !json_int(r->j, v, "first", 0, r->steps - 1, &first, r->st) ||
        !json_int(r->j, v, "last", 0, r->steps - 1, &last, r->st) || !extend_life(r, v, first, last, &b))
        return false;
    while (pool && k < list->pool_count && strcmp(list->pools[k].name, pool) != 0) k++;
    if (pool && k == list->pool_count)
        return json_error(r->j, json_find(v, "pool"), r->st, LX_E_UNKNOWN_NAME,
                          "buffer %s: there is no pool %s; \"pools\" lists them", b.name, pool);
    int32_t *only = arena_array(r->b.memory, 1, sizeof *only);
    *only = k;
    if (list->pool_count > 1) b.pools = only, b.pool_count = 1;
    b.spill_cost = b.size;
    VEC_PUSH(&r->addresses, address);
    VEC_PUSH(&r->pools, k);
    r->b.here = (struct place){v->place.line, v->place.column};
    return builder_buffer(&r->b, &b, r->st);
}

static bool lifetimes_read_pools(struct lifetimes_reader *r, const struct json_value *root)
{
    static const char *const keys[] = {"name", "capacity", NULL};
    const struct json_value *array = NULL, *v;
    struct lx_list *list = r->b.list;
    if (!json_opt_array(r->j, root, "pools", &array, r->st)) return false;
    struct lx_pool *pools = arena_array(r->b.memory, (size_t)json_count(array), sizeof *pools);
    list->objective = array ? LX_SPILL : LX_HEIGHT;
    json_for_each(v, array) {
        struct lx_pool *p = &pools[list->pool_count++];
        if (!json_only_keys(r->j, v, "a pool", keys, r->st) ||
            !json_string(r->j, v, "name", &p->name, r->st) ||
            !json_int(r->j, v, "capacity", 0, LX_INT_MAX, &p->capacity, r->st))
            return false;
        p->name = arena_string(r->b.memory, p->name);
    }
    list->pools = list->pool_count ? pools : NULL;
    return true;
}

static bool lifetimes_read_root(struct lifetimes_reader *r, const struct json_value *root)
{
    static const char *const keys[] = {"lxplan", "kind",    "name",    "maker", "alignment",
                                       "pools",  "program", "buffers", NULL};
    const struct json_value *program, *buffers, *v;
    const char *name = "lifetimes", *maker = NULL;
    int64_t version;
    if (!pattern_check_header(r->j, root, "lifetimes", 1, 1, &version, r->st) ||
        !json_only_keys(r->j, root, "a file of lifetimes", keys, r->st) ||
        !json_opt_string(r->j, root, "name", &name, r->st) ||
        !json_opt_string(r->j, root, "maker", &maker, r->st))
        return false;
    builder_begin(&r->b, r->j->file, *name ? name : "lifetimes");
    struct lx_list *list = builder_list(&r->b);
    list->maker = maker ? arena_string(r->b.memory, maker) : NULL;
    if (!json_opt_int(r->j, root, "alignment", 1, LX_INT_MAX, &list->alignment, r->st) ||
        !lifetimes_read_pools(r, root) || !json_array(r->j, root, "program", &program, r->st) ||
        !read_program(r, program, 0) || !json_array(r->j, root, "buffers", &buffers, r->st))
        return false;
    json_for_each(v, buffers)
        if (!lifetimes_read_buffer(r, v)) return false;
    list->address =
        arena_copy_array(r->b.memory, r->addresses.at, r->addresses.count, sizeof *r->addresses.at);
    list->address_pool = arena_copy_array(r->b.memory, r->pools.at, r->pools.count, sizeof *r->pools.at);
    if (list->pool_count == 1) {
        list->capacity = list->pools->capacity;
        list->pools = NULL;
        list->pool_count = 0;
    }
    list->loops = arena_copy_array(r->b.memory, r->loops.at, r->loops.count, sizeof *r->loops.at);
    list->loop_count = (int32_t)r->loops.count;
    return true;
}

bool lifetimes_sniff(const char *text, size_t length)
{
    return json_is_kind(text, length, "lifetimes");
}

const struct lx_graph *lifetimes_read(const char *file, const char *text, size_t length, lx_status *st)
{
    struct json j;
    struct lifetimes_reader r = {.j = &j, .st = st};
    if (!json_parse(&j, file, text, length, st)) return NULL;
    const struct lx_graph *made = NULL;
    if (lifetimes_read_root(&r, j.root))
        made = builder_finish(&r.b, st);
    else
        builder_abandon(&r.b);
    VEC_FREE(&r.loops);
    VEC_FREE(&r.addresses);
    VEC_FREE(&r.pools);
    json_free(&j);
    return made;
}
