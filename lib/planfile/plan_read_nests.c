/* Reads the nests of a plan file, and the holds of buffers in them. An impossible nest is an error here. */
#include "planfile/plan_file.h"

static bool bad_nest(const struct graph_reader *r, const struct json_value *at, const char *what)
{
    return json_error(r->j, at, r->st, LX_E_NEST, "%s; correct it, or plan the pattern again", what);
}

bool plan_read_nests(const struct graph_reader *r)
{
    struct records from;
    if (!json_find(r->graph, "nests")) return true;
    if (!plan_read_records(r->j, r->graph, "nests", PLAN_NEST, r->p->memory, &from, r->st)) return false;
    struct lx_nest *nests = arena_array(r->p->memory, (size_t)from.count, sizeof *nests);
    for (int32_t i = 0; i < from.count; i++) {
        const struct plan_nest *x = (const struct plan_nest *)from.at + i;
        const struct json_value *at = from.where[i];
        struct lx_nest *out = &nests[i];
        lx_status why = {0};
        if (!plan_in_range(r, at, "first", x->first, i > 0 ? nests[i - 1].last + 1 : 0, r->ops.count) ||
            !plan_in_range(r, at, "last", x->last, x->first, r->ops.count))
            return false;
        int32_t ops = (int32_t)(x->last - x->first) + 1, levels = x->tiles.count;
        if (levels < 1 || levels > LX_MAX_LEVELS) return bad_nest(r, at, "a nest has one to three levels");
        if (x->vars.count != (int64_t)ops * levels)
            return bad_nest(r, at, "vars must have one variable per op of the nest and level");
        signed char(*var)[LX_MAX_LEVELS] = arena_array(r->p->memory, (size_t)ops, sizeof *var);
        for (int32_t k = 0; k < ops * levels; k++) {
            if (!plan_in_range(r, at, "an entry of vars", x->vars.at[k], 0, LX_MAX_VARS)) return false;
            var[k / levels][k % levels] = (signed char)x->vars.at[k];
        }
        *out = (struct lx_nest){.first = (int32_t)x->first, .last = (int32_t)x->last, .level_count = levels};
        for (int l = 0; l < levels; l++) out->tiles[l] = x->tiles.at[l];
        out->var = (const signed char(*)[LX_MAX_LEVELS])var;
        if (!nest_valid(r->p->layouts, out, &why)) return bad_nest(r, at, why.text);
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
            struct lx_buffer *b = &buffers[stay];
            int64_t *uses = arena_array(p->memory, (size_t)b->use_count + 2, sizeof *uses);
            int32_t count = 0;
            if (b->use_count > 0 && p->nests[n].first < b->uses[0]) uses[count++] = p->nests[n].first;
            for (int32_t k = 0; k < b->use_count; k++) uses[count++] = b->uses[k];
            if (count > 0 && p->nests[n].last > uses[count - 1]) uses[count++] = p->nests[n].last;
            b->uses = uses;
            b->use_count = count;
        }
}

/* The hold of a tensor in a nest is its buffer's hold. */
void plan_read_holds(const struct graph_reader *r, struct lx_access *accesses, struct decisions *how)
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
            if (n >= 0 && accesses[a].writes) {
                /* A partial sum is written and read back: `again` is the bytes read back. */
                struct nest_tensor t = nest_tensor_of(p->layouts, &p->nests[n], accesses[a].tensor);
                int64_t parts = nest_product(&p->nests[n], t.summed);
                accesses[a].again = accesses[a].bytes / (2 * parts - 1) * (parts - 1);
            }
            if (n >= 0 && stay >= 0)
                holds[how->hold_count++] = (struct hold){accesses[a].tensor, n, p->stays[stay].hold};
        }
}
