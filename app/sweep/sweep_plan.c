/* One task of a sweep: a plan with a size of scratchpad, or the search for the least size that is enough. */
#include "sweep/sweep.h"
#include "export/nest_words.h"

#include <stdio.h>
#include <string.h>

/* A plan of one size. The old `like` gives way to it, so that the next one finds layouts and divisions made. */
static void sweep_plan_with(const struct sweep *s, const struct sweep_line *l, int64_t lx,
                            const struct lx_run *run, const struct lx_plan **like, struct sweep_value *out)
{
    struct lx_settings how = l->how;
    struct lx_plan_options options = {.run = *run, .like = *like};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    lx_status st = {0};
    char word[24];
    *out = (struct sweep_value){.lx = lx};
    snprintf(word, sizeof word, "%lld", (long long)lx);
    const struct lx_graph *g =
        lx_settings_set_row(&how, LX_OPTION_LX, word, &st) ? lx_settings_graph(&how, s->graph, &st) : NULL;
    const struct lx_plan *p = NULL;
    if (g && lx_settings_plan(&how, g->is_list ? g->objective : LX_SPILL, &options, values, &st))
        p = lx_plan_make(g, &options, &st);
    if (p && lx_plan_check(p, &st)) {
        const struct lx_figures *f = &p->figures;
        out->state = SWEEP_PLANNED;
        out->hbm = f->hbm_bytes;
        out->least = lx_plan_least(p);
        out->spill = f->spill_bytes;
        out->height = f->height_bytes;
        out->nests = p->nest_count;
        out->iterations = plan_iterations(p);
        out->us = f->end_to_end_us;
        out->least_us = p->asks_time ? f->bound_us : 0;
        out->proved = p->answer.status == LX_OPTIMAL;
        out->fits = f->spill_bytes == 0;
        for (int32_t i = 0; p->graph->is_list && out->fits && i < p->problem.count; i++)
            out->fits = p->answer.address[i] >= 0 || p->problem.buffers[i].reason;
    } else {
        out->state = SWEEP_REFUSED;
        out->code = (int32_t)st.code;
        snprintf(out->why, sizeof out->why, "%.*s", (int)sizeof out->why - 1, st.text);
    }
    lx_graph_free(g);
    if (!p) return;
    lx_plan_free(*like);
    *like = p;
}

static bool sweep_plan_has(const struct sweep_value *v, enum sweep_find find)
{
    return v->state == SWEEP_PLANNED && (find == FIND_PLAN || v->fits);
}

/* The size to look at next. A plan in which nothing spills says itself how much of the scratchpad it needs: first that
 * is tried, then one byte less, and only then the middle. */
static int64_t guess(const struct sweep_value *best, int64_t below, enum sweep_find find, bool tried_less)
{
    if (find == FIND_FIT && best->height > below && best->height < best->lx) return best->height;
    if (find == FIND_FIT && best->height == best->lx && !tried_less) return best->lx - 1;
    return below + (best->lx - below) / 2;
}

void sweep_do(const struct sweep *s, const struct sweep_task *t, const struct lx_run *run,
              const struct lx_plan **like, struct sweep_value *out)
{
    const struct sweep_line *l = &s->lines.at[t->line];
    struct sweep_value best, now;
    sweep_plan_with(s, l, t->lx, run, like, &best);
    *out = best;
    if (t->find == SWEEP_POINT) return;
    int64_t below = t->below;
    bool tried_less = false;
    while (sweep_plan_has(&best, (enum sweep_find)t->find) && best.lx - below > 1 &&
           (!run->stop || !run->stop(run->context))) {
        int64_t lx = guess(&best, below, (enum sweep_find)t->find, tried_less);
        sweep_plan_with(s, l, lx, run, like, &now);
        tried_less = lx == best.lx - 1 || tried_less;
        if (sweep_plan_has(&now, (enum sweep_find)t->find))
            best = now, tried_less = false;
        else if (lx == best.height && best.height < best.lx)
            below = lx, best.height = best.lx; /* it does not find it there: look between */
        else
            below = lx;
    }
    *out = best;
}
