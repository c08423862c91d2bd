/* Reads dsa-problem-v1: what binds buffers to each other, what reuse costs, and what is asked.
 *
 * Colocations become groups of one place (they are transitive), separations are kept apart, temporal
 * exclusions are never alive at once. Of the objectives [total_peak, ...] is the height, [capacity_overflow,
 * reuse_cost] the cost with all buffers placed; a term that is not known is refused by name. Reasons of
 * separations and penalties, and pypto_structure, have no meaning for the answer. */
#include "files/dsa_problem.h"
#include "base/checked.h"
#include "base/fail.h"

#include <string.h>

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

static bool dsa_bonds_read_pairs(struct dsa_reader *r, const struct json_value *from,
                                 const struct pair_list *list, struct lx_pair **out, int32_t *count)
{
    const struct json_value *array = NULL, *v;
    if (from && !json_opt_array(r->j, from, list->key, &array, r->st)) return false;
    *out = arena_array(r->b.memory, (size_t)(array ? json_count(array) : 0), sizeof **out);
    json_for_each(v, array)
        if (!read_pair(r, v, list, &(*out)[(*count)++])) return false;
    return true;
}

static int32_t dsa_bonds_leader(int32_t *up, int32_t i)
{
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

/* The classes that the pairs span, each once. */
static void make_groups(struct dsa_reader *r, const struct lx_pair *pairs, int32_t count)
{
    size_t n = r->list.count;
    struct lx_bonds *s = &r->b.list->bonds;
    int32_t *up = arena_array(r->b.memory, n, sizeof *up),
            *sizes = arena_array(r->b.memory, n, sizeof *sizes);
    struct lx_group *groups = arena_array(r->b.memory, (size_t)count, sizeof *groups);
    for (size_t i = 0; i < n; i++) up[i] = (int32_t)i;
    for (int32_t k = 0; k < count; k++)
        up[dsa_bonds_leader(up, pairs[k].a)] = dsa_bonds_leader(up, pairs[k].b);
    for (size_t i = 0; i < n; i++) sizes[dsa_bonds_leader(up, (int32_t)i)]++;
    for (size_t i = 0; i < n; i++) {
        if (up[i] != (int32_t)i || sizes[i] < 2) continue;
        int32_t *members = arena_array(r->b.memory, (size_t)sizes[i], sizeof *members), found = 0;
        for (size_t k = 0; k < n; k++)
            if (dsa_bonds_leader(up, (int32_t)k) == (int32_t)i) members[found++] = (int32_t)k;
        groups[s->same_place_count++] = (struct lx_group){members, found};
    }
    s->same_place = groups;
}

static bool dsa_bonds_read_pin(struct dsa_reader *r, const struct json_value *v)
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

bool dsa_read_bonds(struct dsa_reader *r, const struct json_value *problem)
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
    if (!dsa_bonds_read_pairs(r, constraints, &same, &pairs, &count)) return false;
    make_groups(r, pairs, count);
    if (!dsa_bonds_read_pairs(r, constraints, &apart, &separate, &s->apart_count) ||
        !dsa_bonds_read_pairs(r, constraints, &never, &exclusive, &s->exclusive_count))
        return false;
    s->apart = separate;
    s->exclusive = exclusive;
    const struct json_value *array = NULL, *v;
    if (constraints && !json_opt_array(r->j, constraints, "pinned_allocations", &array, r->st)) return false;
    json_for_each(v, array)
        if (!dsa_bonds_read_pin(r, v)) return false;
    return read_penalties(r, problem);
}

/* --- What is asked. --- */

static bool refuse_term(struct dsa_reader *r, const struct json_value *term, const char *why)
{
    return json_error(r->j, term, r->st, LX_E_UNSUPPORTED, "the objective term \"%.40s\" %s; known: %s",
                      json_is_string(term) ? term->text : "?", why,
                      "total_peak, max_peak after it, capacity_overflow, reuse_cost");
}

/* A term settles the question, or leaves it to the next (capacity_overflow: the capacity holds anyway). */
static bool dsa_bonds_read_term(struct dsa_reader *r, const struct json_value *term, bool *settled)
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

bool dsa_read_objective(struct dsa_reader *r, const struct json_value *problem)
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
        if (!settled && !dsa_bonds_read_term(r, term, &settled)) return false;
    }
    return true;
}
