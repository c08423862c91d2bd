/* The nests of a plan file, and what its buffers hold of tensors in them. A nest that cannot be is an error here: nothing
 * behind it (divisions of tiles, views, launches) would have a meaning. Some nests of some hundred ops. */
#include "planfile/plan_file.h"
#include "base/fail.h"

static bool bad_nest(const struct graph_reader *r, const struct json_value *at, const char *what)
{
    return json_error(r->j, at, r->st, LX_E_NEST, "%s; correct it, or plan the pattern again", what);
}

/* Are its lists those of a run with one to three levels? */
static bool whole_nest(const struct graph_reader *r, const struct json_value *at, const struct plan_nest *x,
                       int64_t least)
{
    if (!plan_in_range(r, at, "first", x->first, least, r->ops.count) ||
        !plan_in_range(r, at, "last", x->last, x->first, r->ops.count))
        return false;
    if (x->tiles.count < 1 || x->tiles.count > LX_MAX_LEVELS)
        return bad_nest(r, at, "a nest has one to three levels");
    if (x->vars.count != (x->last - x->first + 1) * x->tiles.count)
        return bad_nest(r, at, "vars must have one variable per op of the nest and level");
    for (int32_t i = 0; i < x->vars.count; i++)
        if (!plan_in_range(r, at, "an entry of vars", x->vars.at[i], 0, LX_MAX_VARS)) return false;
    return true;
}

static bool take_nest(const struct graph_reader *r, const struct json_value *at, const struct plan_nest *x,
                      struct lx_nest *out)
{
    int32_t ops = (int32_t)(x->last - x->first) + 1, levels = x->tiles.count;
    signed char(*var)[LX_MAX_LEVELS] = arena_array(r->p->memory, (size_t)ops, sizeof *var);
    lx_status why = {0};
    *out = (struct lx_nest){.first = (int32_t)x->first, .last = (int32_t)x->last, .level_count = levels};
    for (int l = 0; l < levels; l++) out->tiles[l] = x->tiles.at[l];
    for (int32_t i = 0; i < ops * levels; i++) var[i / levels][i % levels] = (signed char)x->vars.at[i];
    out->var = (const signed char(*)[LX_MAX_LEVELS])var;
    if (nest_valid(r->p->layouts, out, &why)) return true;
    return bad_nest(r, at, why.text);
}

bool plan_read_nests(const struct graph_reader *r)
{
    struct records from;
    if (!json_find(r->graph, "nests")) return true;
    if (!plan_read_records(r->j, r->graph, "nests", PLAN_NEST, r->p->memory, &from, r->st)) return false;
    struct lx_nest *nests = arena_array(r->p->memory, (size_t)from.count, sizeof *nests);
    for (int32_t i = 0; i < from.count; i++) {
        const struct plan_nest *x = (const struct plan_nest *)from.at + i;
        if (!whole_nest(r, from.where[i], x, i > 0 ? nests[i - 1].last + 1 : 0) ||
            !take_nest(r, from.where[i], x, &nests[i]))
            return false;
    }
    r->p->nests = nests;
    r->p->nest_count = from.count;
    return true;
}

bool plan_read_hold(const struct graph_reader *r, const struct json_value *at, const struct plan_buffer *x,
                    struct lx_stay *out)
{
    int32_t n = nest_of_op(r->p->nests, r->p->nest_count, (int32_t)x->view_op);
    int levels = n < 0 ? 0 : r->p->nests[n].level_count;
    out->hold = (int)x->hold;
    return plan_in_range(r, at, "hold", x->hold, 0, levels + 1);
}

void plan_cover_nests(const struct graph_reader *r, struct lx_buffer *buffers)
{
    const struct lx_plan *p = r->p;
    for (int32_t o = 0; p->nest_count > 0 && o < r->ops.count; o++)
        for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++) {
            int32_t n = nest_of_op(p->nests, p->nest_count, o), stay = p->accesses[a].stay;
            if (n < 0 || stay < 0 || p->stays[stay].hold == p->nests[n].level_count) continue;
            int64_t first = p->nests[n].first;
            int64_t last = p->nests[n].last;
            int32_t i = buffers[stay].use_count, before = i > 0 &&
                                                          first<buffers[stay].uses[0], after = i> 0 &&
                                                          last > buffers[stay].uses[i - 1];
            int64_t *uses = arena_array(p->memory, (size_t)i + 2, sizeof *uses);
            if (before) uses[0] = first;
            for (int32_t k = 0; k < i; k++) uses[before + k] = buffers[stay].uses[k];
            if (after) uses[before + i] = last;
            buffers[stay].uses = uses;
            buffers[stay].use_count += before + after;
        }
}

/* A written sum goes out and comes back: of its bytes, those that are read back. */
static void find_again(const struct lx_plan *p, int32_t op, struct lx_access *a)
{
    int32_t n = nest_of_op(p->nests, p->nest_count, op);
    if (n < 0 || !a->writes) return;
    struct nest_tensor t = nest_tensor_of(p->layouts, &p->nests[n], a->tensor);
    int64_t parts = nest_product(&p->nests[n], t.summed);
    a->again = a->bytes / (2 * parts - 1) * (parts - 1);
}

/* What was decided of a tensor in a nest is what its buffer holds there. */
bool plan_read_holds(const struct graph_reader *r, struct lx_access *accesses, struct decisions *how)
{
    const struct lx_plan *p = r->p;
    int32_t ops = r->ops.count;
    struct hold *holds = arena_array(p->memory, (size_t)p->access_at[ops], sizeof *holds);
    how->nests = p->nests;
    how->nest_count = p->nest_count;
    how->holds = holds;
    for (int32_t o = 0; p->nest_count > 0 && o < ops; o++)
        for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++) {
            int32_t n = nest_of_op(p->nests, p->nest_count, o), stay = accesses[a].stay;
            find_again(p, o, &accesses[a]);
            if (n >= 0 && stay >= 0)
                holds[how->hold_count++] = (struct hold){accesses[a].tensor, n, p->stays[stay].hold};
        }
    return true;
}
