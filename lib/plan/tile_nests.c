/* Where runs of ops become nests: of few ops by one search, of many in windows, polished as a whole. */
#include "base/checked.h"
#include "base/clock.h"
#include "plan/nest_search.h"

/* With the solver that is asked for, but less of its effort for each of the many plans. */
static struct lx_plan_options brief_options(const struct planner *p)
{
    enum { STEPS = 150 };
    struct lx_plan_options brief = p->asked ? *p->asked : *p->options;
    int64_t most = brief.run.work_limit;
    brief.run.work_limit = most > 0 ? min_i64(most, STEPS) : STEPS;
    if (p->divided->count > FEW_OPS) brief.run.hasty = true;
    return brief;
}

void nest_keep_better(struct attempt *best, struct attempt *next)
{
    if (nest_set_is_better(next, best)) {
        struct attempt old = *best;
        *best = *next;
        *next = old;
    }
    attempt_free(next);
}

static bool search_whole(struct planner *p, struct nest_menus *menus)
{
    struct nest_search s;
    bool ok = nest_search_begin(&s, p, menus, nest_search_tries(p, 1)) && nest_search_end(&s);
    nest_search_free(&s);
    return ok && nest_search_hastily(p, menus);
}

/* Of many ops nests are looked for in windows, and the whole is only polished. */
static bool search_any(struct planner *p, struct nest_menus *menus)
{
    enum {
        POLISH = 24,
        USUAL = 400,
        LEAST = 2,
        WINDOW = 56
    }; /* plans of the whole; of more ops fewer, for each takes longer */
    int64_t ops = p->best.draft.graph->op_count, tries = max_i64(LEAST, POLISH * USUAL / max_i64(USUAL, ops));
    if (is_large(p)) tries = 0;
    if (ops <= WINDOW) return search_whole(p, menus);
    return (p->best.draft.how.nest_count > 0 || nest_search_windows(p, menus)) &&
           nest_set_refine(p, menus, &tries);
}

/* Where time is limited the search as a whole ends with it, too. */
struct fuse {
    const struct lx_run *run;
    double until;
};

static bool fuse_out(void *context)
{
    const struct fuse *f = context;
    return lx_run_stopped(f->run) || clock_seconds() >= f->until;
}

static void fuse_progress(void *context, const struct lx_progress *so_far)
{
    const struct fuse *f = context;
    f->run->progress(f->run->context, so_far);
}

static void light_fuse(struct fuse *f, const struct lx_run *run, struct lx_run *to)
{
    *f = (struct fuse){run, clock_seconds() + run->time_limit};
    if (run->time_limit <= 0) return;
    to->stop = fuse_out;
    to->progress = run->progress ? fuse_progress : NULL;
    to->context = f;
}

bool attempt_nested(const struct planner *p, const struct decisions *how, struct attempt *out)
{
    enum { STEPS = 600, STEPS_AROUND = 2000 };
    struct lx_plan_options options = *p->options;
    struct planner by = *p;
    int64_t most = options.run.work_limit, steps = how->nest_count > 0 ? STEPS : STEPS_AROUND;
    if (p->divided->count > FEW_OPS && (how->nest_count > 0 || p->nested))
        options.run.work_limit = most > 0 ? min_i64(most, steps) : steps;
    by.options = &options;
    return attempt_make(&by, how, out);
}

bool tile_search(struct planner *p)
{
    struct nest_menus menus = {0};
    struct lx_plan_options brief = brief_options(p);
    struct planner tries = *p;
    struct attempt full;
    struct fuse fuse;
    if (nests_suffice(p)) return true;
    light_fuse(&fuse, &p->options->run, &brief.run);
    tries.options = &brief;
    bool ok = attempt_copy(p, &p->best, &tries.best) && search_any(&tries, &menus);
    if (ok && tries.best.draft.how.nest_count > 0 && attempt_nested(p, &tries.best.draft.how, &full)) {
        full.perfect_bytes = p->best.perfect_bytes;
        nest_keep_better(&p->best, &full);
    }
    if (ok)
        nest_keep_better(&p->best, &tries.best);
    else
        attempt_free(&tries.best);
    arena_adopt(p->memory, &menus.memory); /* decisions point to the divisions */
    nest_menus_free(&menus);
    return ok;
}
