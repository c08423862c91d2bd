#include "support/monotone.h"

struct lx_plan *monotone_plan(const struct lx_graph *g, const char *solver, const struct lx_passes *passes)
{
    lx_status st = {0};
    struct lx_plan_options how = {
        .solver = lx_solver_find(solver), .quick_solver = lx_solver_find("bestfit"), .passes = *passes};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p || !lx_plan_check(p, &st)) {
        printf("%s with %s: %s\n", g->name, solver, st.text);
        abort();
    }
    return p;
}

/* With `auto` at a level of effort. */
static struct lx_plan *monotone_level(const struct lx_graph *g, int64_t level)
{
    lx_status st = {0};
    const struct lx_solver *s = lx_solver_find("auto");
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    for (int i = 0; i < s->option_count; i++)
        values[i] = strcmp(s->options[i].name, "level") == 0 ? level : s->options[i].def;
    struct lx_plan_options how = {.solver = s,
                                  .quick_solver = lx_solver_find("bestfit"),
                                  .run = {.options = values},
                                  .passes = {.tile = LX_TILE_NONE}};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p || !lx_plan_check(p, &st)) {
        printf("%s at level %d: %s\n", g->name, (int)level, st.text);
        abort();
    }
    return p;
}

void monotone_compare(const struct lx_plan *wide, const struct lx_plan *narrow, const char *what,
                      struct monotone *m)
{
    bool worse = wide->figures.hbm_bytes > narrow->figures.hbm_bytes;
    bool below = lx_plan_least(wide) > narrow->figures.hbm_bytes;
    m->plans++;
    m->worse += worse;
    m->below += below;
    if ((worse || below) && m->print)
        printf("%s, %" PRId64 " B, %s: %s HBM %" PRId64 ", least %" PRId64 "; narrower HBM %" PRId64 "\n",
               wide->graph->name, wide->problem.capacity, what, lx_verdict_word(wide->answer.status),
               wide->figures.hbm_bytes, lx_plan_least(wide), narrow->figures.hbm_bytes);
}

static struct lx_passes monotone_passes(int number)
{
    return (struct lx_passes){.tile = LX_TILE_NONE, /* support/nest_monotone.h compares those */
                              .no_outputs = number & 1,
                              .no_in_place = number >> 1 & 1,
                              .no_dump = number >> 2 & 1,
                              .no_ring = number >> 3 & 1,
                              .clone = number >> 4};
}

/* Does `b` leave out all that `a` leaves out? */
static bool monotone_narrower(int a, int b)
{
    return (a & 15 & ~b) == 0 && (a >> 4 == LX_CLONE_AUTO || a >> 4 == b >> 4 || b >> 4 == LX_CLONE_NONE);
}

void monotone_point(const struct lx_graph *g, int step, bool searches, struct monotone *m)
{
    struct lx_passes all = {.tile = LX_TILE_NONE};
    struct lx_plan *best = monotone_plan(g, "auto", &all);
    m->points++;
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
        if (!((*s)->caps & LX_CAN_SPILL)) continue;
        struct lx_plan *p = monotone_plan(g, (*s)->name, &all);
        monotone_compare(best, p, (*s)->name, m);
        lx_plan_free(p);
    }
    for (int i = step; i < MONOTONE_PASSES; i += step) {
        struct lx_passes passes = monotone_passes(i);
        char what[40];
        struct lx_plan *p = monotone_plan(g, "auto", &passes);
        snprintf(what, sizeof what, "passes %d", i);
        monotone_compare(best, p, what, m);
        for (int k = i + step; k < MONOTONE_PASSES; k += step) {
            if (!monotone_narrower(i, k)) continue;
            struct lx_passes fewer = monotone_passes(k);
            struct lx_plan *q = monotone_plan(g, "auto", &fewer);
            snprintf(what, sizeof what, "passes %d and %d", i, k);
            monotone_compare(p, q, what, m);
            lx_plan_free(q);
        }
        lx_plan_free(p);
    }
    struct lx_plan *lower = monotone_level(g, 0);
    for (int level = 1; level <= 9; level += step > 1 ? 4 : 1) {
        struct lx_plan *p = monotone_level(g, level);
        monotone_compare(p, lower, "levels", m);
        lx_plan_free(lower);
        lower = p;
    }
    lx_plan_free(lower);
    for (int k = 0; searches && k < 3; k++) {
        static const char *const words[] = {"evict", "reorder", "cooptimise"};
        struct lx_passes more = {.tile = LX_TILE_NONE,
                                 .evict = k == 0,
                                 .reorder = k == 1,
                                 .cooptimise = k == 2 ? LX_COOPTIMISE_FULL : 0};
        struct lx_plan *p = monotone_plan(g, "auto", &more);
        monotone_compare(p, best, words[k], m);
        lx_plan_free(p);
    }
    lx_plan_free(best);
}
