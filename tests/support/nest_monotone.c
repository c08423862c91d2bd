#include "support/nest_monotone.h"

static struct lx_passes nest_passes(int number)
{
    return (struct lx_passes){.evict = number & 1,
                              .reorder = number >> 1 & 1,
                              .move = number >> 2 & 1,
                              .no_ring = number >> 3 & 1,
                              .clone = (number >> 4) % LX_CLONE_COUNT,
                              .cooptimise = (number >> 4) / LX_CLONE_COUNT};
}

static struct lx_plan *nest_monotone_plan(const struct lx_graph *g, const char *solver,
                                          struct lx_passes passes, int tile, enum lx_ask objective,
                                          lx_status *st)
{
    passes.tile = tile;
    struct lx_plan_options how = {.solver = lx_solver_find(solver),
                                  .quick_solver = lx_solver_find("bestfit"),
                                  .objective = objective,
                                  .passes = passes};
    return lx_plan_make(g, &how, st);
}

static struct nest_value nest_value_of(const struct lx_plan *p, enum lx_ask objective)
{
    if (objective == LX_ASK_TIME)
        return (struct nest_value){p->figures.end_to_end_us, p->figures.bound_us * (1 - 1e-9)};
    return (struct nest_value){(double)p->figures.hbm_bytes, (double)lx_plan_least(p)};
}

void nest_monotone_passes(const struct lx_graph *g, const char *solver, struct lx_passes passes,
                          const char *words, enum lx_ask objective, struct nest_monotone *m)
{
    lx_status st = {0};
    struct lx_plan *with = nest_monotone_plan(g, solver, passes, LX_TILE_AUTO, objective, &st),
                   *without = nest_monotone_plan(g, solver, passes, LX_TILE_NONE, objective, &st);
    if (!with || !without) {
        bool none = !with && !without;
        m->impossible += none;
        m->refused += !none;
        if (!none) printf("%s with %s, passes %s: %s\n", g->name, solver, words, st.text);
        lx_plan_free(with);
        lx_plan_free(without);
        return;
    }
    struct nest_value a = nest_value_of(with, objective), b = nest_value_of(without, objective);
    bool legal = lx_plan_check(with, &st), worse = a.is > b.is, below = a.least > a.is || a.least > b.is;
    m->plans++;
    m->nested += with->nest_count > 0;
    m->better += a.is < b.is;
    m->optimal += with->answer.status == LX_OPTIMAL;
    m->worse += worse;
    m->below += below;
    m->refused += !legal;
    if (worse || below || !legal)
        printf("%s, %" PRId64 " B, %s, passes %s: %.3f with nests, %.3f without, least %.3f; %s\n", g->name,
               with->problem.capacity, solver, words, a.is, b.is, a.least, legal ? "legal" : st.text);
    lx_plan_free(with);
    lx_plan_free(without);
}

void nest_monotone_pair(const struct lx_graph *g, const char *solver, int number, enum lx_ask objective,
                        struct nest_monotone *m)
{
    char words[20];
    snprintf(words, sizeof words, "%d", number);
    nest_monotone_passes(g, solver, nest_passes(number), words, objective, m);
}

void nest_monotone_say(const struct nest_monotone *m)
{
    printf("%d pairs, %d with nests, %d move less, %d proved; %d worse, %d below a bound, %d refused; %d "
           "cannot be "
           "planned\n",
           m->plans, m->nested, m->better, m->optimal, m->worse, m->below, m->refused, m->impossible);
}
