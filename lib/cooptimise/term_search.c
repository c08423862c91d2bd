/* The search of terms.h: rounds of a bound (network/buckets.c), a sweep (network/sweep.c) and placement
 * trials (term_answers.c), each wider, until bound and answer are equal or the steps are used up. The clock
 * is only a safeguard. */
#include "cooptimise/term_network.h"

enum { DEFAULT_STEPS = 20000000 };

struct round {
    int64_t entries; /* limit on the entries of a message */
    int32_t width;
    int64_t solves; /* placement trials */
};

static const struct round rounds[] = {{1 << 10, 64, 8},
                                      {1 << 14, 512, 32},
                                      {1 << 17, 4096, 100},
                                      {1 << 20, 32768, 200},
                                      {1 << 20, 1 << 18, 400}};

struct searching {
    struct term_network n;
    struct net_frontier f;
    struct term_answers a;
    int64_t bound, steps, step_limit;
    double deadline;
    const struct lx_run *run;
    bool stopped;
};

static double term_search_value_of(const struct term_network *n, int64_t cost)
{
    return ldexp((double)cost, -n->shift);
}

static bool term_search_cancelled(const void *context)
{
    const struct searching *s = context;
    return lx_run_stopped(s->run) || (s->deadline > 0 && clock_seconds() > s->deadline);
}

static bool run_round(struct searching *s, const struct round *r, bool *whole, lx_status *st)
{
    SCOPED(net_bound_free) struct net_bound b;
    struct net_sweep sweep;
    int64_t least;
    bool ok = true;
    /* Limits the entries of each message so that all of them fit in the steps left. */
    int64_t left = max_i64(s->step_limit - s->steps, 0) / max_i64(s->n.net.count, 1);
    net_bound_make(&b, &s->n.net,
                   min_i64(r->entries, max_i64(rounds[0].entries, min_i64(left, INT64_MAX / 16) * 16)),
                   &s->steps);
    s->bound = max_i64(s->bound, b.least);
    if (s->bound < s->a.cost) {
        const struct net_sweep_options how = {r->width, s->a.cost, max_i64(s->step_limit - s->steps, 0),
                                              term_search_cancelled, s};
        net_sweep_make(&sweep, &s->f, &b, &how);
        ok = term_answers_of(&s->a, &sweep, r->solves, &least, st);
        if (ok) s->bound = max_i64(s->bound, min_i64(s->a.cost, min_i64(sweep.beam.dropped, least)));
        s->steps += sweep.steps;
        s->stopped |= sweep.cancelled;
        *whole = sweep.beam.dropped >= s->a.cost;
        beam_end(&sweep.beam);
    }
    if (ok) {
        /* Only steps: costs may be times, and are not the plan's bytes. */
        struct lx_progress now = {.steps = s->steps, .objective = INT64_MAX};
        if (s->run->progress) s->run->progress(s->run->context, &now);
        LOG(cooptimise, "terms: %.9g, bound %.9g, %" PRId64 " steps", term_search_value_of(&s->n, s->a.cost),
            term_search_value_of(&s->n, s->bound), s->steps);
    }
    return ok;
}

bool lx_term_search(const struct lx_term_problem *p, const struct lx_term_start *start,
                    const struct lx_solver *solver, const struct lx_run *run, struct arena *memory,
                    struct lx_term_answer *out, lx_status *st)
{
    struct searching s = {.bound = -NETWORK_NEVER, .run = run};
    s.step_limit = run->work_limit > 0 ? run->work_limit : DEFAULT_STEPS;
    if (run->time_limit > 0) s.deadline = clock_seconds() + run->time_limit;
    *out = (struct lx_term_answer){.status = LX_ERROR};
    bool ok = term_network_make(&s.n, p, st);
    if (ok) {
        net_frontier_make(&s.f, &s.n.net);
        term_answers_make(&s.a, &s.n, start, solver, run);
        /* The first round is short, for tight deadlines; a wider round runs only if the last one dropped
         * states. */
        bool whole = false, finished = false;
        for (size_t i = 0; ok && i < sizeof rounds / sizeof *rounds && !whole && !finished; i++) {
            ok = run_round(&s, &rounds[i], &whole, st);
            s.stopped |= term_search_cancelled(&s);
            finished = s.stopped || s.steps >= s.step_limit || s.bound >= s.a.cost;
        }
    }
    if (ok) {
        size_t count = (size_t)s.n.net.count;
        out->choice = arena_copy_array(memory, s.a.choice, count, sizeof *out->choice);
        out->address = arena_copy_array(memory, s.a.address, count, sizeof *out->address);
        bool proved = s.bound >= s.a.cost;
        out->objective = lx_term_cost(s.n.p, out->choice, out->address);
        /* Each term was rounded to a multiple of 2^-shift. */
        int64_t rounding = s.n.shift ? s.n.p->term_count : 0;
        out->bound =
            proved ? out->objective : fmin(out->objective, term_search_value_of(&s.n, s.bound - rounding));
        out->steps = s.steps;
        out->status = proved ? LX_OPTIMAL : s.stopped || s.steps >= s.step_limit ? LX_LIMIT : LX_FEASIBLE;
    }
    term_answers_free(&s.a);
    arena_free(&s.f.memory);
    network_free(&s.n.net);
    return ok;
}

double lx_term_cost(const struct lx_term_problem *p, const int32_t *choice, const int64_t *address)
{
    double sum = 0;
    for (int32_t i = 0; i < p->term_count; i++) {
        const struct lx_term *t = &p->terms[i];
        int64_t at = 0;
        for (int32_t k = 0; k < t->axis_count; k++) {
            int32_t b = t->axes[k].buffer;
            at =
                at * t->axes[k].size + (t->axes[k].is_bit ? address[b] >= 0 : t->axes[k].class_of[choice[b]]);
        }
        sum += t->values[at];
    }
    return sum;
}
