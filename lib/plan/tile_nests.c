/* Where runs of ops become nests.
 *
 * Candidates are guessed by load (scratchpad/nests) and the best of them planned in full, each beside the nests that there
 * are; the best becomes part of the plan, and so on until none helps. Then single things are changed: counts of tiles, ends
 * of runs, levels with which tensors are held, where whole tensors go on across the ends of nests. What is tried is solved, and
 * kept if the whole plan then moves less. */
#include "base/checked.h"
#include "base/clock.h"
#include "base/fail.h"
#include "plan/planner.h"
#include "plan/nest_pool.h"
#include "plan/nest_window.h"
#include "scratchpad/nests/alone.h"
#include "scratchpad/nests/nest_candidates.h"

#include <stdlib.h>
#include <string.h>

/* Ops of graphs so small that all that is possible is tried. */
enum { FEW = 12 };

static bool is_tiny(const struct planner *p)
{
    return p->best.draft.graph->op_count <= FEW && !p->is_window;
}

/* How much is tried, by the number of ops. */
static struct nest_asks asks_of(const struct planner *p, bool tiny)
{
    int32_t ops = p->best.draft.graph->op_count;
    return (struct nest_asks){.room = lx_device_usable(&p->best.draft.graph->device) * p->divided->cores,
                              .longest = tiny ? 12 : 40,
                              .levels = ops <= 100 ? 3 : 2,
                              .counts = tiny ? 64 : 8,
                              .most = tiny ? 200 : 24,
                              .most_runs = tiny ? 0 : 400,
                              .least_gain = tiny ? -LX_INT_MAX : 1};
}

/* Plans that are tried in all, of some thirty ops each. */
enum { EFFORT = 1200, WINDOW = 56, MOST_CUT = 40 };

/* Of a planner's ops, if as many such are looked at. */
static int64_t tries_of(const struct planner *p, int32_t windows)
{
    int64_t ops = p->best.draft.graph->op_count;
    if (is_tiny(p)) return max_i64(200, min_i64(4000, 20000 / (ops * ops / 8 + 1)));
    return max_i64(windows > 20 ? 10 : 40, EFFORT * 30 / (ops + 10) / windows);
}

/* What each op moves in an attempt. */
static int64_t *op_bytes(const struct planner *p, const struct attempt *a, struct arena *memory)
{
    size_t n = (size_t)a->draft.graph->op_count;
    struct lx_op_traffic *ops = arena_array(memory, n, sizeof *ops);
    int64_t *bytes = arena_array(memory, n, sizeof *bytes);
    struct traffic t;
    if (!ops || !bytes || !traffic_list(&a->draft, a->answer.address, memory, &t, ops, p->st)) return NULL;
    for (size_t o = 0; o < n; o++) bytes[o] = ops[o].hbm_read + ops[o].hbm_written;
    return bytes;
}

/* A set of nests planned, and into the pool. */
static bool enter(struct planner *p, struct nest_set *s, int64_t *tries, struct nest_pool *next)
{
    int64_t before = s->menus->spent;
    struct attempt tried;
    s->below = nest_pool_worst(next);
    s->changed = EVERY_NEST;
    if (!nest_set_plan(p, s, &tried)) return false;
    *tries -= s->menus->spent - before;
    if (tried.memory) nest_pool_add(next, &tried);
    return true;
}

/* The candidates without a common op that promise most together: the best path over the ops. */
static bool add_path(struct planner *p, const struct nest_set *base, const struct nest_list *runs,
                     struct arena *memory, int64_t *tries, struct nest_pool *next)
{
    const struct nest_candidate *found = runs->at;
    size_t n = (size_t)base->op_count + 1;
    int64_t *most = arena_array(memory, n, sizeof *most);
    int32_t *taken = arena_array(memory, n, sizeof *taken);
    struct nest_set s = *base, with;
    if (!most || !taken) return status_no_memory(p->st);
    for (int32_t o = 0; o < base->op_count; o++) {
        most[o + 1] = most[o];
        taken[o + 1] = -1;
        for (int32_t i = 0; i < runs->count; i++) {
            const struct nest_candidate *c = &found[i];
            if (c->nest.last != o || most[c->nest.first] + c->gain <= most[o + 1]) continue;
            most[o + 1] = most[c->nest.first] + c->gain;
            taken[o + 1] = i;
        }
    }
    for (int32_t o = base->op_count; o > 0;) {
        int32_t i = taken[o];
        o = i < 0 ? o - 1 : found[i].nest.first;
        if (i < 0) continue;
        if (!nest_set_add(&s, &found[i], memory, &with)) return status_no_memory(p->st);
        s = with;
    }
    return s.nest_count <= base->nest_count + 1 || enter(p, &s, tries, next);
}

/* Is the tensor on chip before or behind the nest as well, in one stay with what the nest accesses? */
static bool goes_through(const struct attempt *a, const struct lx_nest *n, int32_t tensor)
{
    for (int32_t i = 0; i < a->draft.problem.count; i++) {
        const struct lx_stay *s = &a->draft.stays[i];
        if (s->tensor == tensor && a->answer.address[i] >= 0 && s->first <= n->last && s->last >= n->first &&
            (s->first < n->first || s->last > n->last))
            return true;
    }
    return false;
}

/* Nest `at` with all held whole that is whole on chip without it: so much less is left to be gained, but none is lost. */
static bool enter_whole(struct planner *p, const struct attempt *from, const struct nest_set *with,
                        int32_t at, struct arena *memory, int64_t *tries, struct nest_pool *next)
{
    struct nest_set s = *with;
    int32_t whole = 0;
    for (int32_t t = 0; t < from->draft.graph->tensor_count; t++) {
        if (!nest_tensor_of(from->draft.layouts, &with->nests[at], t).accessed ||
            !goes_through(from, &with->nests[at], t))
            continue;
        if (!nest_set_hold(&s, (struct hold){t, at, 0}, memory, &s)) return status_no_memory(p->st);
        whole++;
    }
    return whole == 0 || *tries <= 0 || enter(p, &s, tries, next);
}

/* One nest more than `from` has, at most `most` of those that promise most; or many at once. */
static bool add_nests(struct planner *p, const struct attempt *from, struct nest_menus *menus, int32_t most,
                      int64_t *tries, struct nest_pool *next)
{
    struct arena memory = {0};
    struct nest_asks asks = asks_of(p, next->width == WIDEST_POOL);
    struct nest_list all = {0}, runs = {0};
    struct nest_set base, with;
    asks.now = &from->draft;
    asks.op_bytes = op_bytes(p, from, &memory);
    bool ok = asks.op_bytes && nest_candidates(&asks, &memory, &all, &runs, p->st) &&
              nest_set_of(&from->draft, menus, &memory, &base, p->st) &&
              (asks.most_runs == 0 || add_path(p, &base, &runs, &memory, tries, next));
    for (int32_t i = 0; ok && *tries > 0 && i < all.count && i < most; i++) {
        if (lx_run_stopped(&p->options->run)) break;
        ok = nest_set_add(&base, &all.at[i], &memory, &with) ? true : status_no_memory(p->st);
        int32_t at = with.changed;
        ok = ok && enter(p, &with, tries, next) &&
             (from->draft.graph->op_count > FEW || enter_whole(p, from, &with, at, &memory, tries, next));
    }
    arena_free(&memory);
    return ok;
}

/* Rounds of one nest more each, from the best few on. */
static bool add_rounds(struct planner *p, struct nest_menus *menus, int64_t *tries, struct nest_pool *now)
{
    enum { FIRST = 24, OTHERS = 6 };
    bool better = true, ok = true, wide = now->width == WIDEST_POOL;
    struct nest_pool next = {.width = now->width};
    int64_t each = 0;
    while (ok && better && *tries > 0 && !nests_suffice(p)) {
        if (wide) each = *tries / max_i64(now->count, 1);
        for (int i = 0; ok && i < now->count; i++) {
            int64_t left = wide ? each : *tries, had = left;
            ok = add_nests(p, &now->at[i], menus, wide ? INT32_MAX : i == 0 ? FIRST : OTHERS, &left, &next);
            if (!wide) *tries -= had - left;
        }
        ok = ok && nest_pool_take_best(p, &next, &better);
        if (!better && ok) break;
        nest_pool_free(now);
        *now = next;
        next = (struct nest_pool){.width = now->width};
    }
    nest_pool_free(&next);
    return ok;
}

/* The ops divided together, as those of nests are, with the nests that there are: often none. */
static bool divide_first(struct planner *p, struct nest_menus *menus, int64_t *tries, struct nest_pool *pool)
{
    struct arena memory = {0};
    struct nest_set as_it_is;
    bool better, ok = nest_set_of(&p->best.draft, menus, &memory, &as_it_is, p->st) &&
                      enter(p, &as_it_is, tries, pool) && nest_pool_take_best(p, pool, &better);
    arena_free(&memory);
    return ok;
}

/* All of the search, with the planner's solver. Each part may take what the ones before left, but for a share of it. */
static bool search_nests(struct planner *p, struct nest_menus *menus, int64_t tries)
{
    bool few = is_tiny(p);
    struct nest_pool pool = {.width = few ? WIDEST_POOL : 4, .count = 1};
    int64_t kept = few ? 0 : tries / 5, left = tries - 2 * kept;
    bool better, ok = attempt_copy(p, &p->best, &pool.at[0]);
    if (!ok) pool.count = 0;
    ok = ok && divide_first(p, menus, &left, &pool) && add_rounds(p, menus, &left, &pool);
    left = few ? tries : left + kept;
    ok = ok && nest_pool_chase(p, menus, &pool, &left) && nest_pool_take_best(p, &pool, &better);
    nest_pool_free(&pool);
    left = few ? tries : left + kept;
    return ok && nest_set_refine(p, menus, &left);
}

/* With the solver that is asked for, but less of its effort for each of the many plans. */
static struct lx_plan_options brief_options(const struct planner *p)
{
    enum { STEPS = 150 };
    struct lx_plan_options brief = p->asked ? *p->asked : *p->options;
    int64_t most = brief.run.work_limit;
    brief.run.work_limit = most > 0 ? min_i64(most, STEPS) : STEPS;
    if (p->divided->count > FEW) brief.run.hasty = true;
    return brief;
}

static void keep_better(struct attempt *best, struct attempt *next)
{
    if (nest_set_is_better(next, best)) {
        struct attempt old = *best;
        *best = *next;
        *next = old;
    }
    attempt_free(next);
}

/* Windows one after the other; of those that are alike the first. */
struct windows {
    struct planner *p;
    struct nest_menus *menus;
    struct arena memory;
    struct nest_window *at;
    struct attempt *found; /* per window, of those that are not like an earlier one */
    int32_t *like;         /* per window: the first that looks the same */
    int32_t count, kinds;
};

static bool make_windows(struct windows *w)
{
    const struct draft *x = &w->p->best.draft;
    int32_t *last;
    if (!nest_windows_cut(x, MOST_CUT, &w->memory, &last, &w->count, w->p->st)) return false;
    w->at = arena_array(&w->memory, (size_t)w->count, sizeof *w->at);
    w->found = arena_array(&w->memory, (size_t)w->count, sizeof *w->found);
    w->like = arena_array(&w->memory, (size_t)w->count, sizeof *w->like);
    if (!w->at || !w->found || !w->like) return status_no_memory(w->p->st);
    for (int32_t i = 0; i < w->count; i++) {
        if (!nest_window_make(x, i ? last[i - 1] + 1 : 0, last[i], &w->memory, &w->at[i], w->p->st))
            return false;
        w->like[i] = i;
        for (int32_t k = 0; k < i && w->like[i] == i; k++)
            if (w->like[k] == k && nest_windows_alike(&w->at[k], &w->at[i])) w->like[i] = k;
        w->kinds += w->like[i] == i;
    }
    return true;
}

static bool search_window(struct windows *w, int32_t i)
{
    struct lx_plan_options options = *w->p->options;
    struct planner by = {.divided = &w->at[i].divided,
                         .options = &options,
                         .memory = w->p->memory,
                         .st = w->p->st,
                         .is_window = true};
    struct decisions how = {.passes = w->p->best.draft.how.passes};
    struct nest_menus menus = {0};
    bool help = false;
    options.run.progress = NULL; /* what a part moves is not what is asked for */
    if (!attempt_make(&by, &how, &by.best)) return false;
    bool ok = nests_help(&by.best.draft, false, &help, by.st);
    if (ok && help) ok = search_nests(&by, &menus, tries_of(&by, w->kinds));
    w->found[i] = by.best;
    arena_adopt(&w->memory, &menus.memory);
    nest_menus_free(&menus);
    return ok;
}

/* All that was found, as one plan. */
static bool join_windows(struct windows *w)
{
    struct planner *p = w->p;
    struct nest_set all;
    struct attempt next;
    size_t ops = (size_t)p->divided->count;
    const struct lx_division **divided = arena_array(p->memory, ops, sizeof *divided);
    if (!divided) return status_no_memory(p->st);
    if (!nest_set_of(&p->best.draft, w->menus, &w->memory, &all, p->st)) return false;
    if (all.how.divided) memcpy(divided, all.how.divided, ops * sizeof *divided);
    for (int32_t i = 0; i < w->count; i++)
        if (!nest_window_carry(&w->at[i], &p->best.draft, &w->found[w->like[i]].draft.how, p->memory, &all,
                               divided, p->st))
            return false;
    all.how.divided = divided;
    if (!nest_set_plan_as_is(p, &all, &next)) return false;
    if (next.memory) keep_better(&p->best, &next);
    return true;
}

/* Stopped, of those that it came to: that one plan is made all the same. */
static bool join_to_the_end(struct windows *w)
{
    struct planner *by = w->p, joining = *by;
    struct lx_plan_options options = *by->options;
    if (!lx_run_stopped(&options.run)) return join_windows(w);
    options.run.stop = NULL;
    options.run.time_limit = 0;
    joining.options = &options;
    w->p = &joining;
    bool ok = join_windows(w);
    w->p = by;
    by->best = joining.best;
    return ok;
}

static bool search_windows(struct planner *p, struct nest_menus *menus)
{
    struct windows w = {.p = p, .menus = menus};
    bool ok = make_windows(&w);
    for (int32_t i = 0; ok && i < w.count && !lx_run_stopped(&p->options->run); i++)
        if (w.like[i] == i) ok = search_window(&w, i);
    ok = ok && join_to_the_end(&w);
    for (int32_t i = 0; w.found && i < w.count; i++) attempt_free(&w.found[i]);
    arena_free(&w.memory);
    return ok;
}

/* Of many ops nests are looked for in windows, and the whole is only polished. */
static bool search_any(struct planner *p, struct nest_menus *menus)
{
    enum {
        POLISH = 24,
        USUAL = 400,
        LEAST = 2
    }; /* plans of the whole; of more ops fewer, for each takes longer */
    int64_t ops = p->best.draft.graph->op_count, tries = max_i64(LEAST, POLISH * USUAL / max_i64(USUAL, ops));
    if (ops <= WINDOW) return search_nests(p, menus, tries_of(p, 1));
    return (p->best.draft.how.nest_count > 0 || search_windows(p, menus)) &&
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
    if (p->divided->count > FEW && (how->nest_count > 0 || p->nested))
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
        keep_better(&p->best, &full);
    }
    if (ok)
        keep_better(&p->best, &tries.best);
    else
        attempt_free(&tries.best);
    arena_adopt(p->memory, &menus.memory); /* decisions point to the divisions */
    nest_menus_free(&menus);
    return ok;
}
