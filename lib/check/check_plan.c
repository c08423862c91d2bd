/* A plan of anybody's from scratch: is it legal, are its figures true, and what of its claims is a fact? */
#include "check/check.h"
#include "base/fail.h"
#include "base/words/words.h"

LX_WORDS(lx_bound_word, enum lx_bound_state, LX_BOUND_STATES)

/* A solver that was stopped before it had a complete placement for the height question has nothing to be
 * checked; one that was stopped later has. */
static bool has_plan(const struct lx_plan *p, lx_status *st)
{
    bool height =
        p->problem.objective == LX_HEIGHT && p->answer.status == LX_LIMIT && p->figures.height_bytes == 0;
    if (p->answer.status != LX_ERROR && !height) return true;
    return status_set(st, LX_E_NO, "solver %s gave no plan: %s", p->solver,
                      p->answer.message[0] ? p->answer.message : lx_verdict_word(p->answer.status));
}

static bool check_graph(struct checker *c)
{
    struct parts *parts = arena_array(c->memory, (size_t)c->p->problem.count, sizeof *parts);
    c->traffic = arena_array(c->memory, (size_t)c->g->op_count, sizeof *c->traffic);
    if (!check_origin(c) || !check_layouts(c) || !check_values(c) || !check_nests(c) || !check_cuts(c) ||
        !check_buffers(c, parts) || !check_replay(c, parts) || !count_traffic(c, parts) ||
        !check_bundles(c) || !check_launches(c) || !check_figures(c) || !check_claims(c, parts) ||
        !check_prices(c) || !check_times(c))
        return false;
    c->figures.perfect_hbm_bytes = compulsory_bytes(c);
    return true;
}

bool lx_plan_check_report(const struct lx_plan *p, struct lx_check_report *out, lx_status *st)
{
    struct arena memory = {0};
    struct checker c = {
        .p = p, .l = p->layouts, .g = p->layouts ? p->layouts->graph : NULL, .memory = &memory, .st = st};
    *out = (struct lx_check_report){0};
    bool ok = has_plan(p, st) && (p->graph->list ? check_list(p, st) : check_graph(&c)) &&
              check_bound(p, c.figures.perfect_hbm_bytes, out, st);
    out->hbm_bytes = p->figures.hbm_bytes;
    out->compulsory_bytes = c.figures.perfect_hbm_bytes;
    arena_free(&memory);
    return ok;
}

bool lx_plan_check(const struct lx_plan *p, lx_status *st)
{
    struct lx_check_report ignored;
    return lx_plan_check_report(p, &ignored, st);
}
