/* Reads plan files of format 1 (release 0.1): pattern, passes and decisions. Layouts and stays are made again
 * and must match the file. */
#include "planfile/plan_file.h"
#include "search/reorder.h"

/* A derived value in the file must equal ours. */
static bool plan_read_old_same_value(const struct json *j, const struct json_value *v, const char *key,
                                     int64_t ours, lx_status *st)
{
    int64_t theirs = 0;
    if (!json_int(j, v, key, -1, LX_INT_MAX, &theirs, st)) return false;
    if (theirs == ours) return true;
    return json_error(j, json_find(v, key), st, LX_E_MISMATCH, "%s is %lld here, but the pattern gives %lld",
                      key, (long long)theirs, (long long)ours);
}

static bool read_order(const struct json *j, const struct json_value *v, const struct lx_plan *p,
                       struct decisions *how, lx_status *st)
{
    const struct lx_graph *g = p->own_layouts->graph;
    int32_t n = g->op_count, t = 0;
    const struct json_value *item;
    if (!v) return true;
    if (!json_is_array(v) || json_count(v) != n)
        return json_error(j, v, st, LX_E_MISMATCH, "the order must name each of the %d ops once", (int)n);
    int32_t *order = arena_array(p->memory, (size_t)n, sizeof *order);
    bool *seen = arena_array(p->memory, (size_t)n, sizeof *seen);
    json_for_each(item, v) {
        int64_t o;
        if (!json_int_value(j, item, "order", 0, n - 1, &o, st)) return false;
        if (seen[o]) return json_error(j, item, st, LX_E_MISMATCH, "op %d stands twice", (int)o);
        seen[o] = true;
        order[t++] = (int32_t)o;
    }
    if (!reorder_legal(g, order))
        return json_error(j, v, st, LX_E_MISMATCH, "in this order an op would read what is not written yet");
    how->order = order;
    return true;
}

/* Reads the splits of an op in iteration order; `*same`: they equal the op's division. */
static bool read_splits(const struct json *j, const struct json_value *splits, const char *name,
                        const struct lx_division *d, int64_t wanted[LX_MAX_VARS], bool *same, lx_status *st)
{
    const struct json_value *item;
    *same = true;
    for (int i = 0; i < d->split_count; i++) {
        char key[2] = {d->splits[i].letter, 0};
        wanted[i] = 1;
        if (!json_opt_int(j, splits, key, 1, LX_INT_MAX, &wanted[i], st)) return false;
        *same &= wanted[i] == d->splits[i].split;
    }
    json_for_each(item, splits) {
        int i = 0;
        while (i < d->split_count && d->splits[i].letter != item->key[0]) i++;
        if (i == d->split_count || item->key[1])
            return json_error(j, item, st, LX_E_MISMATCH, "op %s has no variable %s", name, item->key);
    }
    return true;
}

/* `*divided`: the op's division if it differs from work division, else NULL. */
static bool plan_read_old_read_op(const struct json *j, const struct json_value *v, const struct lx_plan *p,
                                  int32_t op, const struct lx_division **divided, lx_status *st)
{
    const char *name, *ours = p->own_layouts->graph->ops[op].name;
    const struct json_value *splits = json_find(v, "splits");
    int64_t wanted[LX_MAX_VARS];
    bool same;
    if (!json_string(j, v, "name", &name, st)) return false;
    if (strcmp(name, ours) != 0 || !json_is_object(splits))
        return json_error(j, v, st, LX_E_MISMATCH, "op %s with its splits must stand here", ours);
    if (!read_splits(j, splits, name, &p->own_divisions->at[op], wanted, &same, st)) return false;
    if (same) return true;
    struct lx_division *other = arena_alloc(p->memory, sizeof *other);
    lx_status why = {0};
    *divided = other;
    return lx_division_with(p->own_divisions, op, wanted, p->memory, other, &why) ||
           json_error(j, splits, st, status_cause(&why, LX_E_MISMATCH), "%s", why.text);
}

static bool plan_read_old_read_ops(const struct json *j, const struct json_value *graph,
                                   const struct lx_plan *p, struct decisions *how, lx_status *st)
{
    int32_t count = p->own_divisions->count, t = 0;
    const struct lx_division **divided = arena_array(p->memory, (size_t)count, sizeof *divided);
    const struct json_value *ops, *v;
    if (!json_array(j, graph, "ops", &ops, st)) return false;
    if (json_count(ops) != count)
        return json_error(j, ops, st, LX_E_MISMATCH, "the plan must have the pattern's %d ops", (int)count);
    json_for_each(v, ops) {
        int32_t op = how->order ? how->order[t] : t;
        if (!plan_read_old_read_op(j, v, p, op, &divided[op], st)) return false;
        if (divided[op]) how->divided = divided;
        t++;
    }
    return true;
}

struct name_lists {
    struct names tensors, ops;
};

static bool plan_read_old_read_decisions(const struct json *j, const struct json_value *v, struct lx_plan *p,
                                         const struct name_lists *names, struct decisions *how, lx_status *st)
{
    const struct json_value *cuts = NULL, *apart = NULL, *item;
    if (!json_opt_array(j, v, "cuts", &cuts, st) || !json_opt_array(j, v, "apart", &apart, st)) return false;
    struct cut *c = arena_array(p->memory, (size_t)json_count(cuts), sizeof *c);
    int32_t *a = arena_array(p->memory, (size_t)json_count(apart), sizeof *a);
    json_for_each(item, cuts) {
        const char *tensor, *op;
        if (!json_string(j, item, "tensor", &tensor, st) || !json_string(j, item, "before", &op, st))
            return false;
        c[how->cut_count] = (struct cut){names_find(&names->tensors, tensor), names_find(&names->ops, op)};
        if (c[how->cut_count].tensor < 0 || c[how->cut_count].before < 0)
            return json_error(j, item, st, LX_E_MISMATCH, "no tensor %s, or no op %s", tensor, op);
        how->cut_count++;
    }
    json_for_each(item, apart) {
        a[how->apart_count] = json_is_string(item) ? names_find(&names->tensors, item->text) : -1;
        if (a[how->apart_count++] < 0) return json_error(j, item, st, LX_E_MISMATCH, "no such tensor");
    }
    qsort(c, (size_t)how->cut_count, sizeof *c, cut_compare);
    qsort(a, (size_t)how->apart_count, sizeof *a, order_i32);
    how->cuts = c;
    how->apart = a;
    return true;
}

/* Makes layouts, divisions and stays. */
static bool make_structure(const struct json *j, const struct json_value *root, struct lx_plan *p,
                           enum lx_objective objective, lx_status *st)
{
    const struct json_value *v = json_find(root, "graph");
    struct name_lists names = {0};
    struct decisions how = {0};
    struct draft x = {0};
    if (!v)
        return json_error(j, root, st, LX_E_SCHEMA,
                          "the key \"graph\" is missing here; plan the pattern again");
    if (!plan_read_passes(j, v, &how.passes, st) || !plan_divide(p, &how.passes, NULL, st) ||
        !read_order(j, json_find(v, "order"), p, &how, st) || !plan_read_old_read_ops(j, v, p, &how, st))
        return false;
    const struct lx_graph *g = p->own_layouts->graph;
    for (int32_t t = 0; t < g->tensor_count; t++) names_add(&names.tensors, g->tensors[t].name, t);
    for (int32_t t = 0; t < g->op_count; t++)
        names_add(&names.ops, g->ops[how.order ? how.order[t] : t].name, t);
    bool ok = plan_read_old_read_decisions(j, v, p, &names, &how, st) &&
              draft_make(p->own_divisions, &how, p->memory, &x, st);
    names_free(&names.tensors);
    names_free(&names.ops);
    if (!ok) return false;
    x.problem.objective = objective;
    plan_adopt(p, &x);
    plan_off_chip(p);
    return true;
}

static bool read_addresses(const struct json *j, const struct json_value *root, struct lx_plan *p,
                           lx_status *st)
{
    const struct json_value *array, *v;
    int32_t i = 0;
    if (!json_array(j, root, "buffers", &array, st)) return false;
    if (json_count(array) != p->problem.count)
        return json_error(j, array, st, LX_E_MISMATCH, "%d buffers, but the pattern has %d",
                          json_count(array), (int)p->problem.count);
    json_for_each(v, array) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        const struct json_value *address = json_find(v, "address");
        const char *name;
        if (!json_string(j, v, "name", &name, st)) return false;
        if (strcmp(name, b->name) != 0)
            return json_error(j, json_find(v, "name"), st, LX_E_MISMATCH,
                              "buffer %s where the pattern has %s", name, b->name);
        if (!plan_read_old_same_value(j, v, "size", b->size, st) ||
            !plan_read_old_same_value(j, v, "start", b->start, st) ||
            !plan_read_old_same_value(j, v, "end", b->end, st)) /* cost had another definition */
            return false;
        if (!address)
            return json_error(j, v, st, LX_E_SCHEMA, "buffer %s has no \"address\"; null means off chip",
                              name);
        if (!json_is_null(address) && !json_int(j, v, "address", 0, LX_INT_MAX, &p->answer.address[i], st))
            return false;
        i++;
    }
    return true;
}

static bool plan_read_old_read_hbm(const struct json *j, const struct json_value *root, struct lx_plan *p,
                                   lx_status *st)
{
    const struct lx_graph *g = p->layouts->graph;
    const struct json_value *v = json_find(root, "graph"), *pool = json_find(v, "pool"),
                            *hbm = json_find(v, "hbm"), *item;
    SCOPED(names_free) struct names names = {0};
    if (!json_is_object(hbm) || !json_is_object(pool))
        return json_error(j, v, st, LX_E_SCHEMA, "\"hbm\" and \"pool\" must be objects");
    if (!json_int(j, pool, "at", 0, LX_INT_MAX, &p->pool_at, st) ||
        !json_int(j, pool, "bytes", 0, LX_INT_MAX, &p->pool_bytes, st) ||
        !json_int(j, pool, "segment_bytes", 0, LX_INT_MAX, &p->segment_bytes, st))
        return false;
    p->hbm_address = arena_array(p->memory, (size_t)g->tensor_count, sizeof *p->hbm_address);
    bool ok = true;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        p->hbm_address[t] = -1;
        (void)names_add(&names, g->tensors[t].name, t);
    }
    for (item = hbm->child; ok && item; item = item->next) {
        int32_t t = names_find(&names, item->key);
        ok = t < 0 ? json_error(j, item, st, LX_E_MISMATCH, "there is no tensor %s", item->key)
                   : json_int_value(j, item, item->key, 0, LX_INT_MAX, &p->hbm_address[t], st);
    }
    return ok;
}

static bool same_word(const struct json *j, const struct json_value *v, const char *key, const char *ours,
                      lx_status *st)
{
    const char *theirs = "";
    if (!json_opt_string(j, v, key, &theirs, st)) return false;
    if (strcmp(theirs, ours) == 0) return true;
    return json_error(j, *theirs ? json_find(v, key) : v, st, LX_E_MISMATCH,
                      "%s is \"%s\" here, but pattern and addresses give \"%s\"", key, theirs, ours);
}

/* Compares derived values that no release changes. lx_plan_check judges traffic and times. */
static bool same_derived(const struct json *j, const struct json_value *root, const struct lx_plan *p,
                         lx_status *st)
{
    int32_t i = 0;
    const struct json_value *v;
    if (!plan_read_old_same_value(j, root, "capacity", p->problem.capacity, st) ||
        !plan_read_old_same_value(j, root, "alignment", p->problem.alignment, st))
        return false;
    json_for_each(v, json_find(root, "buffers")) {
        enum lx_exclusion exclusion = p->stays ? p->stays[i].exclusion : LX_EXCLUDED_NONE;
        int32_t parent = p->took_slot_of[i++];
        if (!same_word(j, v, "in_place_of", parent < 0 ? "" : p->problem.buffers[parent].name, st) ||
            (json_find(v, "bar") &&
             !same_word(j, v, "bar", exclusion ? lx_exclusion_word(exclusion) : "", st)))
            return false;
    }
    return true;
}

bool plan_read_old(const struct json *j, const struct json_value *root, struct lx_plan *p,
                   enum lx_objective objective, lx_status *st)
{
    bool list = p->graph->list;
    if (!(list ? plan_of_list(p, objective, st) : make_structure(j, root, p, objective, st)) ||
        !read_addresses(j, root, p, st))
        return false;
    plan_complete(p, false);
    p->syncs = NULL; /* they depend on its addresses in HBM */
    p->figures.sync_times = -1;
    return (list || (plan_read_old_read_hbm(j, root, p, st) && plan_launch_ops(p, st))) &&
           same_derived(j, root, p, st);
}
