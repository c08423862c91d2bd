/* Finds what keeps a buffer off chip, who is in its way, and tries what could change that: other solvers,
 * then other passes, one at a time. */
#include "plan/plan_explain.h"
#include "base/fail.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* A buffer answers to its own name and to that of its tensor. */
static bool is_of(const struct lx_plan *p, int32_t i, const char *name)
{
    if (strcmp(p->problem.buffers[i].name, name) == 0) return true;
    return p->stays && strcmp(p->layouts->graph->tensors[p->stays[i].tensor].name, name) == 0;
}

static enum lx_obstacle obstacle_of(const struct lx_plan *p, int32_t i)
{
    if (p->answer.address[i] >= 0) return LX_NO_OBSTACLE;
    if (p->problem.buffers[i].size > p->problem.capacity) return LX_TOO_LARGE;
    return p->problem.buffers[i].reason ? LX_BARRED : LX_NO_ROOM;
}

struct neighbour {
    int64_t cost;
    int32_t buffer;
};

static int by_cost(const void *a, const void *b)
{
    const struct neighbour *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

static bool find_others(const struct lx_plan *p, struct lx_explained *e)
{
    const struct lx_buffer *b = &p->problem.buffers[e->buffer];
    struct neighbour *found = malloc(((size_t)p->problem.count + 1) * sizeof *found);
    e->others = malloc(((size_t)p->problem.count + 1) * sizeof *e->others);
    bool ok = found && e->others;
    for (int32_t k = 0; ok && k < p->problem.count; k++) {
        const struct lx_buffer *o = &p->problem.buffers[k];
        if (p->answer.address[k] < 0 || o->start >= b->end || o->end <= b->start) continue;
        found[e->other_count++] = (struct neighbour){o->spill_cost, k};
    }
    if (ok && e->other_count) qsort(found, (size_t)e->other_count, sizeof *found, by_cost);
    for (int32_t k = 0; ok && k < e->other_count; k++) e->others[k] = found[k].buffer;
    free(found);
    return ok;
}

bool lx_plan_explain(const struct lx_plan *p, const char *name, struct lx_explanation *out, lx_status *st)
{
    *out = (struct lx_explanation){.all = calloc((size_t)p->problem.count + 1, sizeof *out->all)};
    bool ok = out->all != NULL;
    for (int32_t i = 0; ok && i < p->problem.count; i++) {
        if (!is_of(p, i, name)) continue;
        struct lx_explained *e = &out->all[out->count++];
        *e = (struct lx_explained){.buffer = i, .obstacle = obstacle_of(p, i)};
        out->off_chip += e->obstacle != LX_NO_OBSTACLE;
        ok = e->obstacle != LX_NO_ROOM || find_others(p, e);
    }
    if (ok) return true;
    lx_explanation_free(out);
    return status_no_memory(st);
}

void lx_explanation_free(struct lx_explanation *e)
{
    for (int32_t i = 0; i < e->count; i++) free(e->all[i].others);
    free(e->all);
    *e = (struct lx_explanation){0};
}

/* What all tries have in common. */
struct trying {
    const struct lx_plan *plan;
    const char *name;
    lx_planner *planner;
    void *context;
    VEC(struct lx_remedy) found;
};

static bool all_on_chip(const struct lx_plan *p, const char *name)
{
    bool any = false;
    for (int32_t i = 0; i < p->problem.count; i++) {
        if (!is_of(p, i, name)) continue;
        if (p->answer.address[i] < 0) return false;
        any = true;
    }
    return any;
}

/* False only when the answer finds no memory. */
static bool try_it(struct trying *t, const struct lx_plan_options *how, struct lx_remedy remedy)
{
    lx_status why = {0};
    bool ok = true;
    struct lx_plan *other = t->planner(t->context, t->plan->graph, how, &why);
    if (other && all_on_chip(other, t->name)) {
        remedy.hbm_bytes = other->figures.hbm_bytes;
        ok = VEC_PUSH(&t->found, remedy);
    }
    lx_plan_free(other);
    return ok;
}

static bool try_solvers(struct trying *t, const struct lx_options *asked, const struct lx_plan_options *how)
{
    bool ok = true;
    for (const struct lx_solver *const *s = asked->solvers; ok && *s; s++) {
        struct lx_plan_options other = *how;
        if (strcmp((*s)->name, t->plan->solver) == 0 || !((*s)->caps & LX_CAN_SPILL)) continue;
        other.solver = *s;
        other.run.options = NULL;
        ok = try_it(t, &other, (struct lx_remedy){.solver = *s});
    }
    return ok;
}

static int value_count(const struct lx_pass *row)
{
    int n = 0;
    if (!row->words) return 2;
    while (row->words[n]) n++;
    return n;
}

/* One at a time. What is on chip at all (`stage`) is a question of its own. */
static bool try_passes(struct trying *t, const struct lx_plan_options *how)
{
    bool ok = true;
    for (const struct lx_pass *row = lx_passes(); ok && row->name; row++) {
        if (t->plan->graph->is_list || strcmp(row->name, "stage") == 0) continue;
        for (int v = 0; ok && v < value_count(row); v++) {
            struct lx_plan_options other = *how;
            if (v == lx_pass_get(&how->passes, row)) continue;
            lx_pass_set(&other.passes, row, v);
            ok = try_it(t, &other, (struct lx_remedy){.pass = row, .value = v});
        }
    }
    return ok;
}

bool lx_plan_remedies(const struct lx_plan *p, const struct lx_options *asked, const char *name,
                      lx_planner *planner, void *context, struct lx_remedies *out, lx_status *st)
{
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    struct lx_plan_options how = {0};
    struct trying t = {.plan = p, .name = name, .planner = planner, .context = context};
    *out = (struct lx_remedies){.tried = p->problem.count <= LX_MOST_TO_TRY};
    if (!out->tried) return true;
    if (!lx_options_plan(asked, p->graph->is_list ? p->graph->objective : LX_SPILL, &how, values, st))
        return false;
    bool ok = try_solvers(&t, asked, &how) && try_passes(&t, &how);
    out->all = t.found.at;
    out->count = (int32_t)t.found.count;
    if (ok) return true;
    lx_remedies_free(out);
    return status_no_memory(st);
}

void lx_remedies_free(struct lx_remedies *r)
{
    free(r->all);
    *r = (struct lx_remedies){0};
}
