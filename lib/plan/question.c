/* The problem that a solver sees: a list unchanged; a graph laid out, divided and drafted. */
#include "plan/question.h"
#include "plan/plan_make.h"
#include "search/time.h"
#include "search/trial.h"

bool problem_of_list(const struct lx_graph *g, enum lx_objective objective, struct lx_problem *out,
                     lx_status *st)
{
    int64_t sum = 0; /* over all pools; an unlimited pool counts 0 */
    for (int32_t k = 0; k < g->list->pool_count; k++) sum += max_i64(g->list->pools[k].capacity, 0);
    *out = (struct lx_problem){.objective = objective,
                               .capacity = g->list->pool_count      ? sum
                                           : g->list->capacity >= 0 ? g->list->capacity
                                                                    : lx_device_usable(&g->device),
                               .alignment = g->list->alignment,
                               .count = g->list->buffer_count,
                               .buffers = g->list->buffers,
                               .pools = g->list->pools,
                               .pool_count = g->list->pool_count,
                               .bonds = g->list->bonds};
    lx_status why;
    if (lx_problem_validate(out, &why)) return true;
    return status_set_at(st, why.code, g->file, why.line, why.column, "%s", why.text);
}

static bool ask_graph(struct lx_question *q, const struct lx_plan_options *options, lx_status *st)
{
    struct decisions how = {.passes = passes_of_stage(&options->passes)};
    struct lx_divide_options divide = lx_passes_divide(&how.passes);
    q->passes = how.passes;
    q->layouts = lx_layouts_make(q->graph, (enum lx_weights)how.passes.weights, st);
    if (q->layouts) lx_layouts_fit_spans(q->layouts, &divide);
    q->divisions = q->layouts ? lx_divide(q->layouts, &divide, st) : NULL;
    if (!q->divisions) return false;
    q->draft = arena_alloc(q->memory, sizeof *q->draft);
    if (!draft_make(q->divisions, &how, q->memory, q->draft, st)) return false;
    q->draft->problem.objective = lx_asked(options->objective, q->draft->problem.objective);
    if (q->draft->problem.objective != LX_SPILL) q->draft->problem.bonds = (struct lx_bonds){0};
    q->problem = q->draft->problem;
    q->base_bytes = q->draft->base_bytes;
    return draft_valid(q->draft, st);
}

struct lx_question *lx_problem_of(const struct lx_graph *g, const struct lx_plan_options *options,
                                  lx_status *st)
{
    struct arena *memory = mem_zeroed(1, sizeof *memory);
    struct lx_question *q = arena_alloc(memory, sizeof *q);
    q->memory = memory;
    q->graph = lx_graph_ref(g);
    if (g->list ? problem_of_list(g, lx_asked(options->objective, g->list->objective), &q->problem, st)
                : ask_graph(q, options, st))
        return q;
    lx_question_free(q);
    return NULL;
}

void lx_question_free(struct lx_question *q)
{
    if (!q) return;
    OWNED struct arena *memory = q->memory; /* owns the question itself */
    if (q->draft) draft_free(q->draft);
    lx_divisions_free(q->divisions);
    lx_layouts_free(q->layouts);
    lx_graph_free(q->graph);
    arena_free(memory);
}

bool lx_question_clocks(const struct lx_question *q, const int64_t *address, double *device_us,
                        double *end_to_end_us)
{
    if (!q->draft) return false;
    struct clock_times now = draft_times(q->draft, address, NULL);
    *device_us = now.device_us;
    *end_to_end_us = now.end_to_end_us;
    return true;
}

struct lx_plan *lx_question_plan(const struct lx_question *q, const int64_t *address,
                                 const struct lx_solver *packer, lx_status *st)
{
    struct decisions how = {.passes = q->passes};
    struct draft draft = {0};
    if (!q->draft) return status_set(st, LX_E_UNSUPPORTED, "a bare list of buffers has no program"), NULL;
    struct lx_plan *p = plan_new(q->graph);
    bool ok = draft_make(q->divisions, &how, p->memory, &draft, st);
    if (ok) {
        plan_adopt(p, &draft);
        p->solver = packer->name;
        p->passes = q->passes;
        plan_off_chip(p);
        memcpy(p->answer.address, address, (size_t)p->problem.count * sizeof *address);
        plan_complete(p, true);
        ok = pool_pack(p, packer, true, st) && plan_launch_ops(p, st);
    }
    if (ok) return p;
    lx_plan_free(p);
    return NULL;
}
