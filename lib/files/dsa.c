/* Reads dsa-problem-v1: pools and buffers. Every object refuses keys that it does not have.
 *
 * Pools and buffers are called NAME#ID, since only ids are unique there; so the answer can be written for the
 * tools that the file came from. Times may be negative and are then shifted so that the first is 0. Profile
 * and fingerprint stay in the summary. */
#include "files/pattern.h"

FORMAT_READS(dsa_problem);

/* Ids: the file's numbers, in any order. */
struct dsa_id {
    int64_t id;
    int32_t number;
};

struct dsa_reader {
    const struct json *j;
    struct graph_builder b;
    VEC(struct dsa_id) pools, buffers; /* sorted by id */
    VEC(struct lx_buffer) list;
    VEC(struct place) places;
    struct lx_pool *rooms;
    int32_t room_count;
    int64_t earliest; /* the least time if negative: all times are shifted by it */
    lx_status *st;
};

ORDER(dsa_by_id, struct dsa_id, ORDER_UP(id));
ORDER(dsa_by_start, struct lx_life, ORDER_UP(start));

/* The index of the id in a value, or -1 with an error. `what`: "pool" or "buffer". */
static int32_t dsa_find(const struct dsa_reader *r, const struct json_value *value, const char *what)
{
    bool pool = strcmp(what, "pool") == 0;
    const struct dsa_id *at = pool ? r->pools.at : r->buffers.at;
    size_t count = pool ? r->pools.count : r->buffers.count;
    struct dsa_id key = {0};
    if (!value || !json_int_value(r->j, value, what, 0, LX_INT_MAX, &key.id, r->st)) return -1;
    const struct dsa_id *found = count ? bsearch(&key, at, count, sizeof key, dsa_by_id) : NULL;
    if (found) return found->number;
    json_error(r->j, value, r->st, LX_E_UNKNOWN_NAME,
               "there is no %s with the id %lld; name one of the file's", what, (long long)key.id);
    return -1;
}

/* Sorts the ids; false: a duplicate. */
static bool sort_ids(struct dsa_reader *r, struct dsa_id *at, size_t count, const struct json_value *array,
                     const char *what)
{
    if (count) qsort(at, count, sizeof *at, dsa_by_id);
    for (size_t k = 1; k < count; k++)
        if (at[k].id == at[k - 1].id)
            return json_error(r->j, json_item(array, at[k].number), r->st, LX_E_DUPLICATE,
                              "the id %lld stands twice; each %s needs its own", (long long)at[k].id, what);
    return true;
}

/* --- Pools. --- */

static bool read_ranges(struct dsa_reader *r, const struct json_value *v, struct lx_pool *pool)
{
    static const char *const keys[] = {"begin", "end", NULL};
    const struct json_value *array = NULL, *one;
    if (!json_opt_array(r->j, v, "reserved_ranges", &array, r->st)) return false;
    struct lx_reserved *ranges =
        arena_array(r->b.memory, (size_t)(array ? json_count(array) : 0), sizeof *ranges);
    int64_t most = pool->capacity == LX_NO_LIMIT ? LX_INT_MAX : pool->capacity;
    json_for_each(one, array) {
        struct lx_reserved range = {0, 0, INT64_MIN, INT64_MAX};
        if (!json_only_keys(r->j, one, "a reserved range", keys, r->st) ||
            !json_int(r->j, one, "begin", 0, most, &range.from, r->st) ||
            !json_int(r->j, one, "end", range.from + 1, most, &range.to, r->st))
            return false;
        ranges[pool->reserved_count++] = range;
    }
    pool->reserved = ranges;
    return true;
}

static bool dsa_read_pool(struct dsa_reader *r, const struct json_value *v)
{
    static const char *const keys[] = {"id", "name", "capacity", "reserved_ranges", "bank_geometry", NULL};
    struct lx_pool *pool = &r->rooms[r->room_count];
    struct dsa_id id = {0, r->room_count++};
    const char *name = "pool";
    pool->capacity = LX_NO_LIMIT;
    const struct json_value *capacity = json_find(v, "capacity");
    if (!json_only_keys(r->j, v, "a pool", keys, r->st) ||
        !json_int(r->j, v, "id", 0, LX_INT_MAX, &id.id, r->st) ||
        !json_opt_string(r->j, v, "name", &name, r->st))
        return false;
    if (capacity && !json_is_null(capacity) &&
        !json_int(r->j, v, "capacity", 0, LX_INT_MAX, &pool->capacity, r->st))
        return false;
    pool->name = arena_format(r->b.memory, "%s#%lld", name, (long long)id.id);
    VEC_PUSH(&r->pools, id);
    static const char *const bank_keys[] = {"bank_size", "num_banks", NULL};
    const struct json_value *banks = json_find(v, "bank_geometry");
    int64_t ignored;
    if (!read_ranges(r, v, pool)) return false;
    return !banks || json_is_null(banks) ||
           (json_only_keys(r->j, banks, "a bank_geometry", bank_keys, r->st) &&
            json_int(r->j, banks, "bank_size", 1, LX_INT_MAX, &ignored, r->st) &&
            json_int(r->j, banks, "num_banks", 1, LX_INT_MAX, &ignored, r->st));
}

/* --- Buffers. --- */

static bool read_lives(struct dsa_reader *r, const struct json_value *v, struct lx_buffer *b)
{
    static const char *const keys[] = {"lower", "upper", NULL};
    const struct json_value *array = NULL, *one;
    if (!json_array(r->j, v, "live_intervals", &array, r->st)) return false;
    if (json_count(array) == 0)
        return json_error(r->j, array, r->st, LX_E_SCHEMA,
                          "a buffer without a live interval; remove it or add one");
    struct lx_life *lives = arena_array(r->b.memory, (size_t)json_count(array), sizeof *lives);
    int32_t n = 0;
    json_for_each(one, array) {
        struct lx_life *life = &lives[n++];
        if (!json_only_keys(r->j, one, "a live interval", keys, r->st) ||
            !json_int(r->j, one, "lower", -LX_INT_MAX / 2, LX_INT_MAX / 2 - 1, &life->start, r->st) ||
            !json_int(r->j, one, "upper", life->start + 1, LX_INT_MAX / 2, &life->end, r->st))
            return false;
        r->earliest = min_i64(r->earliest, life->start);
    }
    /* Sorts lives and joins overlapping ones. */
    int32_t kept = 0;
    qsort(lives, (size_t)n, sizeof *lives, dsa_by_start);
    for (int32_t k = 0; k < n; k++)
        if (kept && lives[kept - 1].end >= lives[k].start)
            lives[kept - 1].end = max_i64(lives[kept - 1].end, lives[k].end);
        else
            lives[kept++] = lives[k];
    n = kept;
    b->start = lives[0].start;
    b->end = lives[n - 1].end;
    b->lives = n > 1 ? lives : NULL;
    b->life_count = n > 1 ? n : 0;
    return true;
}

static bool dsa_read_buffer(struct dsa_reader *r, const struct json_value *v)
{
    static const char *const keys[] = {"id", "name", "size", "alignment", "live_intervals", "allowed_pools",
                                       NULL};
    struct dsa_id id = {0, (int32_t)r->list.count};
    struct lx_buffer b = {.fixed = -1, .must = true, .alignment = 1};
    const char *name = "buffer";
    struct json_place at = v->place;
    if (!json_only_keys(r->j, v, "a buffer", keys, r->st) ||
        !json_int(r->j, v, "id", 0, LX_INT_MAX, &id.id, r->st) ||
        !json_opt_string(r->j, v, "name", &name, r->st) ||
        !json_int(r->j, v, "size", 1, LX_INT_MAX, &b.size, r->st) ||
        !json_opt_int(r->j, v, "alignment", 1, LX_INT_MAX, &b.alignment, r->st) || !read_lives(r, v, &b))
        return false;
    const struct json_value *array = NULL, *one;
    if (!json_array(r->j, v, "allowed_pools", &array, r->st)) return false;
    int32_t *pools = arena_array(r->b.memory, (size_t)json_count(array), sizeof *pools);
    json_for_each(one, array) {
        int32_t pool = dsa_find(r, one, "pool");
        if (pool < 0) return false;
        for (int32_t k = 0; k < b.pool_count; k++)
            if (pools[k] == pool)
                return json_error(r->j, one, r->st, LX_E_DUPLICATE, "the pool stands twice; remove one");
        pools[b.pool_count++] = pool;
    }
    b.pools = pools;
    if (!b.pool_count)
        return json_error(r->j, array, r->st, LX_E_SCHEMA, "a buffer that no pool may hold; allow it one");
    b.name = arena_format(r->b.memory, "%s#%lld", name, (long long)id.id);
    VEC_PUSH(&r->list, b);
    VEC_PUSH(&r->buffers, id);
    VEC_PUSH(&r->places, (struct place){at.line, at.column});
    return true;
}

static bool dsa_add_buffers(struct dsa_reader *r)
{
    for (size_t i = 0; i < r->list.count; i++) {
        struct lx_buffer *b = &r->list.at[i];
        struct lx_life *lives = arena_copy_array(r->b.memory, b->lives, (size_t)b->life_count, sizeof *lives);
        for (int32_t k = 0; k < b->life_count; k++) {
            lives[k].start -= r->earliest;
            lives[k].end -= r->earliest;
        }
        b->start -= r->earliest;
        b->end -= r->earliest;
        b->lives = b->life_count ? lives : NULL;
        r->b.here = r->places.at[i];
        if (!builder_buffer(&r->b, b, r->st)) return false;
    }
    return true;
}

/* Bonds of buffers, costs of reuse, and the objective.
 *
 * Colocations become groups of one place (they are transitive), separations become apart, temporal exclusions
 * exclusive. Of the objectives [total_peak, ...] is the height, [capacity_overflow, reuse_cost] the cost with
 * all buffers placed; an unknown term is refused by name. Reasons of separations and penalties, and
 * pypto_structure, are ignored. */

struct pair_list {
    const char *key, *what;
    const char *const *keys;
};

/* A pair of different buffers. */
static bool read_pair(struct dsa_reader *r, const struct json_value *v, const struct pair_list *list,
                      struct lx_pair *pair)
{
    if (!json_only_keys(r->j, v, list->what, list->keys, r->st)) return false;
    for (int k = 0; k < 2; k++) {
        const char *key = k ? "second" : "first";
        const struct json_value *id = json_find(v, key);
        if (!id)
            return json_error(r->j, v, r->st, LX_E_SCHEMA, "%s: the key \"%s\" is missing; add it",
                              list->what, key);
        int32_t number = dsa_find(r, id, "buffer");
        if (number < 0) return false;
        *(k ? &pair->b : &pair->a) = number;
    }
    if (pair->a != pair->b) return true;
    return json_error(r->j, v, r->st, LX_E_MODEL, "%s of a buffer with itself; name two", list->what);
}

static bool dsa_read_pairs(struct dsa_reader *r, const struct json_value *from, const struct pair_list *list,
                           struct lx_pair **out, int32_t *count)
{
    const struct json_value *array = NULL, *v;
    if (from && !json_opt_array(r->j, from, list->key, &array, r->st)) return false;
    *out = arena_array(r->b.memory, (size_t)(array ? json_count(array) : 0), sizeof **out);
    json_for_each(v, array)
        if (!read_pair(r, v, list, &(*out)[(*count)++])) return false;
    return true;
}

/* The classes that the pairs connect, each once. */
static void make_groups(struct dsa_reader *r, const struct lx_pair *pairs, int32_t count)
{
    size_t n = r->list.count;
    struct lx_bonds *s = &r->b.list->bonds;
    int32_t *up = arena_array(r->b.memory, n, sizeof *up),
            *sizes = arena_array(r->b.memory, n, sizeof *sizes);
    struct lx_group *groups = arena_array(r->b.memory, (size_t)count, sizeof *groups);
    sets_begin(up, (int32_t)n);
    for (int32_t k = 0; k < count; k++) up[sets_root(up, pairs[k].a)] = sets_root(up, pairs[k].b);
    for (size_t i = 0; i < n; i++) sizes[sets_root(up, (int32_t)i)]++;
    for (size_t i = 0; i < n; i++) {
        if (up[i] != (int32_t)i || sizes[i] < 2) continue;
        int32_t *members = arena_array(r->b.memory, (size_t)sizes[i], sizeof *members), found = 0;
        for (size_t k = 0; k < n; k++)
            if (sets_root(up, (int32_t)k) == (int32_t)i) members[found++] = (int32_t)k;
        groups[s->same_place_count++] = (struct lx_group){members, found};
    }
    s->same_place = groups;
}

static bool dsa_read_pin(struct dsa_reader *r, const struct json_value *v)
{
    static const char *const keys[] = {"buffer", "pool", "offset", "exclusive_for_all_time", NULL};
    int64_t offset;
    bool alone = false;
    if (!json_only_keys(r->j, v, "a pinned allocation", keys, r->st) ||
        !json_int(r->j, v, "offset", 0, LX_INT_MAX, &offset, r->st) ||
        !json_opt_bool(r->j, v, "exclusive_for_all_time", &alone, r->st))
        return false;
    if (!json_find(v, "buffer") || !json_find(v, "pool"))
        return json_error(r->j, v, r->st, LX_E_SCHEMA, "a pinned allocation needs \"buffer\" and \"pool\"");
    int32_t buffer = dsa_find(r, json_find(v, "buffer"), "buffer");
    int32_t pool = buffer < 0 ? -1 : dsa_find(r, json_find(v, "pool"), "pool");
    if (pool < 0) return false;
    struct lx_buffer *b = &r->list.at[buffer];
    if (b->fixed >= 0)
        return json_error(r->j, v, r->st, LX_E_DUPLICATE, "the buffer %s is pinned twice; remove one",
                          b->name);
    b->fixed = offset;
    b->fixed_pool = pool;
    b->alone = alone;
    return true;
}

static bool read_penalties(struct dsa_reader *r, const struct json_value *problem)
{
    static const char *const model_keys[] = {"reuse_penalties", NULL};
    static const char *const keys[] = {"first", "second", "cost", "reason", NULL};
    static const struct pair_list list = {"reuse_penalties", "a reuse penalty", keys};
    const struct json_value *model = json_find(problem, "cost_model"), *array = NULL, *v;
    struct lx_bonds *s = &r->b.list->bonds;
    if (!model || json_is_null(model)) return true;
    if (!json_only_keys(r->j, model, "a cost_model", model_keys, r->st) ||
        !json_opt_array(r->j, model, "reuse_penalties", &array, r->st))
        return false;
    struct lx_reuse *reuse = arena_array(r->b.memory, (size_t)(array ? json_count(array) : 0), sizeof *reuse);
    json_for_each(v, array) {
        struct lx_pair pair = {0};
        struct lx_reuse *one = &reuse[s->reuse_count++];
        if (!read_pair(r, v, &list, &pair) || !json_int(r->j, v, "cost", 0, LX_INT_MAX, &one->cost, r->st))
            return false;
        one->a = pair.a;
        one->b = pair.b;
    }
    s->reuse = reuse;
    return true;
}

static bool dsa_read_bonds(struct dsa_reader *r, const struct json_value *problem)
{
    static const char *const keys[] = {"colocations", "separations", "temporal_exclusions",
                                       "pinned_allocations", NULL};
    static const char *const plain[] = {"first", "second", NULL};
    static const char *const reasoned[] = {"first", "second", "reasons", NULL};
    static const struct pair_list same = {"colocations", "a colocation", plain},
                                  apart = {"separations", "a separation", reasoned},
                                  never = {"temporal_exclusions", "a temporal exclusion", plain};
    const struct json_value *constraints = json_find(problem, "constraints");
    struct lx_bonds *s = &r->b.list->bonds;
    struct lx_pair *pairs, *separate, *exclusive;
    int32_t count = 0;
    if (constraints && !json_only_keys(r->j, constraints, "constraints", keys, r->st)) return false;
    if (!dsa_read_pairs(r, constraints, &same, &pairs, &count)) return false;
    make_groups(r, pairs, count);
    if (!dsa_read_pairs(r, constraints, &apart, &separate, &s->apart_count) ||
        !dsa_read_pairs(r, constraints, &never, &exclusive, &s->exclusive_count))
        return false;
    s->apart = separate;
    s->exclusive = exclusive;
    const struct json_value *array = NULL, *v;
    if (constraints && !json_opt_array(r->j, constraints, "pinned_allocations", &array, r->st)) return false;
    json_for_each(v, array)
        if (!dsa_read_pin(r, v)) return false;
    return read_penalties(r, problem);
}

/* --- The objective. --- */

static bool refuse_term(struct dsa_reader *r, const struct json_value *term, const char *why)
{
    return json_error(r->j, term, r->st, LX_E_UNSUPPORTED, "the objective term \"%.40s\" %s; known: %s",
                      json_is_string(term) ? term->text : "?", why,
                      "total_peak, max_peak after it, capacity_overflow, reuse_cost");
}

/* A term settles the objective, or leaves it to the next term (capacity_overflow: the capacity holds
 * anyway). */
static bool dsa_read_term(struct dsa_reader *r, const struct json_value *term, bool *settled)
{
    const char *word = json_is_string(term) ? term->text : "";
    enum lx_objective *objective = &r->b.list->objective;
    if (strcmp(word, "capacity_overflow") == 0) {
        *objective = LX_FIT;
        return true;
    }
    bool peak = strcmp(word, "total_peak") == 0, most = strcmp(word, "max_peak") == 0;
    if (!peak && !most && strcmp(word, "reuse_cost") != 0)
        return refuse_term(r, term, "cannot be asked for here");
    if (most && r->room_count > 1)
        return refuse_term(r, term, "of several pools comes only after total_peak");
    *objective = peak || most ? LX_HEIGHT : LX_SPILL;
    *settled = true;
    return true;
}

static bool dsa_read_objective(struct dsa_reader *r, const struct json_value *problem)
{
    static const char *const keys[] = {"aggregation", "terms", NULL};
    const struct json_value *objective = json_find(problem, "objective"), *terms = NULL, *term;
    const char *aggregation = "lexicographic";
    bool settled = false;
    r->b.list->objective = LX_HEIGHT;
    if (!objective) return true;
    if (!json_only_keys(r->j, objective, "an objective", keys, r->st) ||
        !json_opt_string(r->j, objective, "aggregation", &aggregation, r->st) ||
        !json_array(r->j, objective, "terms", &terms, r->st))
        return false;
    if (strcmp(aggregation, "lexicographic") != 0)
        return json_error(r->j, json_find(objective, "aggregation"), r->st, LX_E_UNSUPPORTED,
                          "the aggregation \"%.40s\" cannot be asked for; known: lexicographic", aggregation);
    json_for_each(term, terms) {
        if (json_is_string(term) && strcmp(term->text, "bank_cost") == 0)
            return refuse_term(r, term, "is not counted here");
        if (!settled && !dsa_read_term(r, term, &settled)) return false;
    }
    return true;
}

/* --- The file. --- */

static bool dsa_read_problem(struct dsa_reader *r, const struct json_value *root)
{
    static const char *const keys[] = {"pools",     "buffers",         "constraints", "cost_model",
                                       "objective", "pypto_structure", NULL};
    const struct json_value *problem = json_find(root, "problem");
    if (!problem) return json_error(r->j, root, r->st, LX_E_SCHEMA, "the key \"problem\" is missing; add it");
    if (!json_only_keys(r->j, problem, "a problem", keys, r->st)) return false;
    const struct json_value *array = NULL, *v;
    if (!json_array(r->j, problem, "pools", &array, r->st)) return false;
    if (json_count(array) == 0)
        return json_error(r->j, array, r->st, LX_E_SCHEMA,
                          "there is no pool; buffers need one to be placed in");
    r->rooms = arena_array(r->b.memory, (size_t)json_count(array), sizeof *r->rooms);
    json_for_each(v, array)
        if (!dsa_read_pool(r, v)) return false;
    if (!sort_ids(r, r->pools.at, r->pools.count, array, "pool")) return false;
    if (!json_array(r->j, problem, "buffers", &array, r->st)) return false;
    json_for_each(v, array)
        if (!dsa_read_buffer(r, v)) return false;
    if (!sort_ids(r, r->buffers.at, r->buffers.count, array, "buffer") || !dsa_read_objective(r, problem))
        return false;
    /* If capacity counts, a pool without a limit has room for everything. */
    int64_t all = 1;
    for (size_t i = 0; i < r->list.count; i++) {
        int64_t whole;
        if (!add_i64(r->list.at[i].size, r->list.at[i].alignment, &whole) || !add_i64(all, whole, &all) ||
            all > LX_INT_MAX)
            return json_error(r->j, r->j->root, r->st, LX_E_RANGE, "the sizes add up to more than 2^53");
    }
    for (int32_t k = 0; r->b.list->objective != LX_HEIGHT && k < r->room_count; k++)
        if (r->rooms[k].capacity == LX_NO_LIMIT) {
            r->rooms[k].capacity = all;
            for (int32_t e = 0; e < r->rooms[k].reserved_count; e++)
                r->rooms[k].capacity = max_i64(r->rooms[k].capacity, all + r->rooms[k].reserved[e].to);
        }
    if (!dsa_read_bonds(r, problem)) return false;
    r->b.list->pools = r->rooms;
    r->b.list->pool_count = r->room_count;
    return dsa_add_buffers(r);
}

static const char *const profiles[] = {"standard_dsa",      "dsa_rp_v1",        "pypto_hard_v1",
                                       "pypto_research_v1", "pypto_structured", "pypto_core_relaxation"};

static bool dsa_read_root(struct dsa_reader *r, const struct json_value *root)
{
    static const char *const keys[] = {"schema_version", "profile",          "instance", "metadata",
                                       "relaxed_from",   "relaxed_features", "problem",  NULL};
    const char *instance = "dsa", *profile, *fingerprint = NULL;
    int64_t version;
    if (!json_only_keys(r->j, root, "a dsa-problem", keys, r->st) ||
        !json_int(r->j, root, "schema_version", 1, 1, &version, r->st) ||
        !json_string(r->j, root, "profile", &profile, r->st))
        return false;
    bool known = false, relaxed = strcmp(profile, "pypto_core_relaxation") == 0;
    for (size_t k = 0; k < sizeof profiles / sizeof *profiles; k++)
        known |= strcmp(profile, profiles[k]) == 0;
    if (!known)
        return json_error(r->j, json_find(root, "profile"), r->st, LX_E_SCHEMA,
                          "unknown profile \"%.40s\"; known: standard_dsa, dsa_rp_v1, pypto_hard_v1, "
                          "pypto_research_v1, pypto_structured, pypto_core_relaxation",
                          profile);
    const struct json_value *from = json_find(root, "relaxed_from"),
                            *features = json_find(root, "relaxed_features");
    if (!relaxed && (from || features))
        return json_error(r->j, from ? from : features, r->st, LX_E_SCHEMA,
                          "only the profile pypto_core_relaxation has this key; remove it");
    if (relaxed && !from)
        return json_error(r->j, root, r->st, LX_E_SCHEMA, "the key \"relaxed_from\" is missing; add it");
    if (!json_opt_string(r->j, root, "instance", &instance, r->st)) return false;
    const struct json_value *metadata = json_find(root, "metadata"), *v; /* strings; one is used */
    if (metadata && !json_is_object(metadata))
        return json_error(r->j, metadata, r->st, LX_E_SCHEMA, "metadata must be an object of strings");
    json_for_each(v, metadata) {
        if (!json_is_string(v))
            return json_error(r->j, v, r->st, LX_E_SCHEMA, "a value of metadata must be a string");
        if (strcmp(v->key, "corpus_problem_fingerprint_fnv1a64") == 0) fingerprint = v->text;
    }
    builder_begin(&r->b, r->j->file, *instance ? instance : "dsa");
    builder_list(&r->b);
    r->b.graph->summary =
        fingerprint
            ? arena_format(r->b.memory, "dsa-problem-v1, profile %s, fingerprint %s", profile, fingerprint)
            : arena_format(r->b.memory, "dsa-problem-v1, profile %s", profile);
    return dsa_read_problem(r, root);
}

bool dsa_problem_sniff(const char *text, size_t length)
{
    return json_has_key(text, length, "schema_version") && json_has_key(text, length, "problem");
}

const struct lx_graph *dsa_problem_read(const char *file, const char *text, size_t length, lx_status *st)
{
    struct json j;
    struct dsa_reader r = {.j = &j, .st = st};
    if (!json_parse(&j, file, text, length, st)) return NULL;
    const struct lx_graph *made = NULL;
    if (dsa_read_root(&r, j.root))
        made = builder_finish(&r.b, st);
    else
        builder_abandon(&r.b);
    VEC_FREE(&r.pools);
    VEC_FREE(&r.buffers);
    VEC_FREE(&r.list);
    VEC_FREE(&r.places);
    json_free(&j);
    return made;
}

/* Writes the placement of a dsa-problem-v1 as dsa-solution-v1. Ids are at the end of the names, profile and
 * fingerprint in the summary. The format's tools refuse a solution without its problem's fingerprint, so
 * nothing is written without one. */

FORMAT_WRITES_ANSWERS(dsa_solution);

/* The id in NAME#ID, or -1. */
static int64_t dsa_id_of(const char *name)
{
    const char *mark = strrchr(name, '#');
    char *end;
    int64_t id = mark ? strtoll(mark + 1, &end, 10) : -1;
    return mark && mark[1] && !*end ? id : -1;
}

/* The word after `key` in the summary. False: none. */
static bool word_after(const struct lx_graph *g, const char *key, char *out, size_t room)
{
    const char *at = g->summary ? strstr(g->summary, key) : NULL;
    size_t n = at ? strcspn(at + strlen(key), ", ") : 0;
    if (n == 0 || n >= room) return false;
    memcpy(out, at + strlen(key), n);
    out[n] = 0;
    return true;
}

static bool add_places(const struct lx_graph *g, const int64_t *address, const int32_t *pool, struct text *t,
                       lx_status *st)
{
    int written = 0;
    for (int32_t i = 0; i < g->list->buffer_count; i++) {
        if (address[i] < 0) continue;
        int64_t buffer = dsa_id_of(g->list->buffers[i].name);
        int64_t where = g->list->pool_count ? dsa_id_of(g->list->pools[pool ? pool[i] : 0].name) : -1;
        if (buffer < 0 || where < 0)
            return status_set(st, LX_E_UNSUPPORTED,
                              "buffer %s or its pool has no id, as NAME#ID; only plans of a "
                              "dsa-problem have such solutions",
                              g->list->buffers[i].name);
        text_format(t, "%s\n    {\"buffer\": %lld, \"pool\": %lld, \"offset\": %lld}", written++ ? "," : "",
                    (long long)buffer, (long long)where, (long long)address[i]);
    }
    return true;
}

char *dsa_solution_write(const struct lx_graph *g, const int64_t *address, const int32_t *pool,
                         size_t *length, lx_status *st)
{
    char profile[64], fingerprint[64];
    struct text t = {0};
    if (!g->list || !word_after(g, "profile ", profile, sizeof profile) ||
        !word_after(g, "fingerprint ", fingerprint, sizeof fingerprint)) {
        status_set(st, LX_E_UNSUPPORTED,
                   "no solution can be written: its problem has no corpus_problem_fingerprint_fnv1a64 in its "
                   "metadata");
        return NULL;
    }
    text_add(&t, "{\n  \"schema_version\": 1,\n  \"profile\": ");
    text_json_string(&t, profile);
    text_add(&t, ",\n  \"instance\": ");
    text_json_string(&t, g->name);
    text_add(&t, ",\n  \"problem_fingerprint\": ");
    text_json_string(&t, fingerprint);
    text_add(&t, ",\n  \"metadata\": {\"solver\": \"lxplan\"},\n  \"placements\": [");
    bool ok = add_places(g, address, pool, &t, st);
    text_add(&t, "\n  ]\n}\n");
    if (ok) {
        *length = t.length;
        return t.at;
    }
    text_free(&t);
    return NULL;
}
