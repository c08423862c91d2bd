/* What binds the buffers of a list to one another: pairs, groups, charges, staging, reuse. */
#include "files/pattern_list.h"
#include "base/checked.h"
#include "base/fail.h"

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
static bool pattern_bonds_read_groups(struct reader *r, const struct json_value *root, const char *key,
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

static bool pattern_bonds_read_pairs(struct reader *r, const struct json_value *root, const char *key,
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

/* "cost": null forbids. */
static bool read_charge(struct reader *r, const struct json_value *v, struct lx_charge *c)
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

/* All costs of charges add up to a number that a pattern can have. */
static bool pattern_bonds_add_cost(struct reader *r, const struct json_value *v, const struct lx_charge *c,
                                   int64_t *sum)
{
    *sum += c->cost == LX_FORBIDDEN ? 0 : c->cost;
    return *sum <= LX_INT_MAX ||
           json_error(r->j, v, r->st, LX_E_RANGE, "charges: the costs up to here add up beyond 2^53");
}

static bool read_charges(struct reader *r, const struct json_value *root, struct lx_bonds *b)
{
    const struct json_value *array = NULL, *v;
    if (!json_opt_array(r->j, root, "charges", &array, r->st)) return false;
    if (!array) return true;
    struct lx_charge *charges = arena_array(r->b.memory, (size_t)json_count(array), sizeof *charges);
    int64_t sum = 0;
    json_for_each(v, array) {
        struct lx_charge *c = &charges[b->charge_count++];
        if (!read_charge(r, v, c) || !pattern_bonds_add_cost(r, v, c, &sum)) return false;
    }
    b->charges = charges;
    return true;
}

static bool read_reuse(struct reader *r, const struct json_value *root, struct lx_bonds *b)
{
    const struct json_value *array = NULL, *v;
    if (!json_opt_array(r->j, root, "reuse", &array, r->st)) return false;
    if (!array) return true;
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

bool read_bonds(struct reader *r, const struct json_value *root, const struct json_value *buffers)
{
    struct lx_bonds *b = &r->b.list->bonds;
    if (!pattern_bonds_read_pairs(r, root, "apart", &b->apart, &b->apart_count) ||
        !pattern_bonds_read_pairs(r, root, "exclusive", &b->exclusive, &b->exclusive_count) ||
        !pattern_bonds_read_groups(r, root, "same_place", &b->same_place, &b->same_place_count) ||
        !pattern_bonds_read_groups(r, root, "together", &b->together, &b->together_count) ||
        !read_charges(r, root, b) || !read_reuse(r, root, b))
        return false;
    /* "instead_of" of the buffers. */
    int32_t i = 0;
    const struct json_value *v;
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
