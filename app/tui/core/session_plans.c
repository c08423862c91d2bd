/* Plans, made in the background: of the open pattern, of all patterns, of all solvers; and the facts of
 * the list.
 *
 * The job of the open pattern is staged: it first hands over a heuristic's plan, then interim plans of its
 * solver. For a list these are the solver's answers so far. For a graph, whose answers are to drafts, the
 * same solver plans with as many steps as it has made. Interim plans come at least EVERY seconds apart and
 * take at most a SHARE of the time. */
#include "tui/core/session.h"

static const double EVERY = 0.2; /* seconds between two interim plans, at least */
enum { SHARE = 10 };
static void plan_job_post(struct session *s, const struct work *work, int pattern,
                          const struct plan_job *what)
{
    struct plan_job *p = mem_alloc(sizeof *p);
    *p = *what;
    p->session = s;
    p->source = s->patterns.at[pattern].source;
    p->like = lx_plan_ref(session_plan(s));
    lx_plan_ref(p->before);
    worker_post(s->worker, work, what->slot, p);
}

static void plan_job_free(void *data)
{
    OWNED struct plan_job *p = data;
    outcome_free(&p->outcome);
    change_free(&p->change);
    lx_plan_free(p->like);
    lx_plan_free(p->before);
}

/* The state of a running plan_job for the solver's callbacks. */
struct stage {
    struct plan_job *job;
    void *watch;
    const struct source_content *from;
    double next;   /* no interim plan before that time */
    int64_t shown; /* the least value that was handed over; INT64_MAX: none */
};

static bool plan_job_must_stop(void *context)
{
    const struct stage *s = context;
    return watch_stop(s->watch);
}

/* Hands an interim plan to the screen, which then owns it. */
static void plan_job_hand_over(const struct stage *s, const struct outcome *made)
{
    struct plan_job *p = mem_zeroed(1, sizeof *p);
    *p = (struct plan_job){.session = s->job->session,
                           .number = s->job->number,
                           .slot = s->job->slot,
                           .how = s->job->how,
                           .outcome = *made};
    watch_hand_over(s->watch, p);
}

/* Shows the progress, and hands over an interim plan that is better than those before. Values of a graph
 * count where they are less than the value on the screen. */
static void plan_job_report(void *context, const struct lx_progress *so_far)
{
    struct stage *s = context;
    const struct plan_job *p = s->job;
    struct outcome made = {0};
    double began = clock_seconds();
    watch_progress(s->watch, so_far);
    bool graph = s->from->graph && !s->from->graph->list,
         better = graph ? so_far->steps > 0 && so_far->objective < s->shown : so_far->address != NULL;
    if (!p->staged || began < s->next || watch_stop(s->watch) || !better) return;
    struct lx_run again = {.work_limit = so_far->steps,
                           .time_limit = watch_seconds(s->watch),
                           .stop = plan_job_must_stop,
                           .context = s};
    bool ok = so_far->address ? outcome_of_answer(s->from, &p->how, so_far, &made)
                              : outcome_make_hastily(s->from, &p->how, &again, p->like, &made) &&
                                    lx_plan_value(made.plan) < s->shown;
    if (ok) {
        s->shown = lx_plan_value(made.plan);
        plan_job_hand_over(s, &made);
    } else
        outcome_free(&made);
    double took = clock_seconds() - began;
    s->next = began + took + (took * SHARE > EVERY ? took * SHARE : EVERY);
}

static void plan_job_run(void *data, void *watch)
{
    struct plan_job *p = data;
    SCOPED(source_content_free) struct source_content from = source_read(p->source);
    struct stage s = {p, watch, &from, 0, INT64_MAX};
    struct lx_run run = {.stop = plan_job_must_stop, .progress = plan_job_report, .context = &s};
    /* The first interim plan, by a heuristic. A plan file that is shown unchanged needs none. */
    struct outcome made;
    if (p->staged && from.graph && !(from.plan && p->as_it_is)) {
        if (outcome_make_hastily(&from, &p->how, NULL, p->like, &made)) {
            struct lx_progress best = {.objective = lx_plan_value(made.plan)};
            s.shown = best.objective;
            watch_progress(watch, &best);
            plan_job_hand_over(&s, &made);
        } else
            outcome_free(&made);
        s.next = clock_seconds() + EVERY;
    }
    outcome_make(&from, &p->how, &run, p->as_it_is, p->like, &p->outcome);
    const struct lx_plan *plan = p->outcome.plan;
    p->curve = watch_curve(watch);
    if (plan && !p->outcome.was_read) { /* the curve ends with the plan's value */
        curve_add(&p->curve, watch_seconds(watch), lx_plan_value(plan),
                  plan->asks_time ? 0 : lx_plan_least(plan));
        if (p->before && p->before->graph) change_make(p->before, plan, &p->change);
    }
}

static void plans_remember(struct plan_job *r, bool stopped)
{
    struct last_plan *last = &r->session->patterns.at[r->slot].last;
    const struct lx_plan *p = r->outcome.plan;
    *last = (struct last_plan){.known = true, .failed = !p, .stopped = stopped};
    if (!p) return;
    last->failed = !r->outcome.is_legal;
    last->met = lx_plan_meets_target(p);
    last->proved = p->answer.status == LX_OPTIMAL;
    last->hbm_bytes = p->problem.objective == LX_HEIGHT ? p->figures.height_bytes : p->figures.hbm_bytes;
    last->saved_from = p->figures.baseline_hbm_bytes;
    last->seconds = p->seconds;
    snprintf(last->solver, sizeof last->solver, "%s", p->solver);
}

static void plans_filled(void *data, bool stopped)
{
    struct plan_job *p = data;
    plans_remember(p, stopped);
    if (p->slot != p->session->current) source_forget(p->source);
}

void session_saw(struct session *s, const struct remedy *it)
{
    enum { MOST_SEEN = 300 };
    size_t i = 0;
    while (i < s->seen.count && !lx_settings_same(&s->seen.at[i].options, &it->options)) i++;
    if (i == MOST_SEEN || (i < s->seen.count && s->seen.at[i].state < it->state)) return;
    if (i == s->seen.count) VEC_PUSH(&s->seen, (struct remedy){0});
    struct remedy *row = &s->seen.at[i];
    *row = *it;
    row->made = NULL;
    row->order = (int)i;
    s->saw++;
}

static void plans_saw(struct session *s, const struct outcome *o, bool stopped)
{
    struct remedy it = {.options = o->how.options, .state = stopped ? REMEDY_CUT : REMEDY_TRIED};
    if (!o->plan || o->was_read || o->plan->answer.status == LX_INFEASIBLE) return;
    remedy_take_figures(&it, o->plan, NULL);
    session_saw(s, &it);
}

const struct work fill_work = {6, plan_job_run, plans_filled, plan_job_free};

/* Shows an outcome; the job gets the old one, to be freed. A selection that an interim plan chose is
 * chosen again unless the user has moved it. */
static void plans_show(struct session *s, struct plan_job *r)
{
    struct outcome old = s->shown;
    const struct selection *a = &s->selection, *b = &s->first_look;
    bool again = s->shown_pattern == r->slot && s->shown.interim && s->first_look_for == r->number &&
                 a->buffer == b->buffer && a->op == b->op && !a->pointed;
    bool fresh = s->shown_pattern != r->slot || !old.plan || again;
    bool followed = again && a->moves != b->moves;
    s->shown = r->outcome;
    s->has_shown = true;
    s->shown_pattern = r->slot;
    s->shown_for = r->number;
    s->got++;
    session_keep_selection(s, fresh ? NULL : old.plan);
    if (followed) session_show_buffer(s);
    if (fresh) {
        s->first_look = s->selection;
        s->first_look_for = r->number;
    }
    r->outcome = old;
}

static void plans_planned(void *data, bool stopped)
{
    struct plan_job *r = data;
    struct session *s = r->session;
    bool interim = r->outcome.interim;
    bool is_wanted = r->number == s->wanted && r->number != s->settled && r->slot == s->current;
    if (!interim && (is_wanted || !stopped)) plans_remember(r, stopped);
    if (!interim && r->slot == s->current) plans_saw(s, &r->outcome, stopped);
    if (!is_wanted) return;
    s->moved = NULL;
    if (s->shown_for != r->number && r->outcome.plan) s->took = r->outcome.plan->seconds;
    /* An interim plan may be better than the plan of a job that was cancelled. */
    const struct lx_plan *now = s->shown_for == r->number && s->shown.interim ? s->shown.plan : NULL,
                         *new = r->outcome.plan;
    if (!interim && stopped && now && now->answer.status != LX_INFEASIBLE &&
        (!new ||
         (now->problem.objective == new->problem.objective &&lx_plan_value(now) < lx_plan_value(new))))
        change_free(&r->change);
    else
        plans_show(s, r);
    if (interim) return;
    s->settled = r->number;
    s->shown.interim = false;
    s->shown.stopped = stopped;
    s->curve = r->curve;
    lx_plan_free(s->before);
    s->before = lx_plan_ref(s->shown.plan);
    change_free(&s->change);
    s->change = r->change; /* shown until the next key */
    s->moved = s->change.marks;
    r->change = (struct change){0};
    if (s->shown.unread && r->number == s->reread) { /* the error itself is shown instead of the plan */
        text_free(&s->news);
        add_printable(&s->news, s->patterns.at[s->current].shown, 60);
        text_add(&s->news, " has changed and cannot be read");
    }
}

const struct work plan_work = {0, plan_job_run, plans_planned, plan_job_free};

void session_ask(struct session *s, bool as_it_is)
{
    if (s->current < 0) return;
    worker_stop(s->worker, &plan_work);
    struct plan_job what = {.number = ++s->wanted,
                            .slot = s->current,
                            .how = s->now,
                            .as_it_is = as_it_is,
                            .staged = true,
                            .before = s->before};
    plan_job_post(s, &plan_work, s->current, &what);
}

bool session_is_stale(const struct session *s)
{
    return s->wanted != s->settled;
}

bool session_shows_old(const struct session *s)
{
    return s->wanted != s->shown_for;
}

struct progress session_planning(const struct session *s)
{
    struct progress none = {.so_far = {.objective = INT64_MAX}};
    return session_is_stale(s) ? worker_progress(s->worker, &plan_work, s->current) : none;
}

/* The facts of a pattern for the list. */
struct reading {
    struct session *session;
    struct pattern_source *source;
    int pattern;
    struct facts facts;
};

static void reading_run(void *data, void *watch)
{
    struct reading *r = data;
    (void)watch;
    SCOPED(source_content_free) struct source_content from = source_read(r->source);
    facts_of(&from, &r->facts);
}

static void reading_done(void *data, bool stopped)
{
    struct reading *r = data;
    struct pattern *p = &r->session->patterns.at[r->pattern];
    struct facts old = p->facts;
    (void)stopped;
    p->facts = r->facts;
    p->is_read = true;
    r->facts = old;                                                  /* to be freed */
    if (r->pattern != r->session->current) source_forget(p->source); /* the facts are enough */
}

static void reading_free(void *data)
{
    OWNED struct reading *r = data;
    facts_free(&r->facts);
}

const struct work read_work = {5, reading_run, reading_done, reading_free};

void session_read(struct session *s, int pattern)
{
    struct reading *r = mem_zeroed(1, sizeof *r);
    *r = (struct reading){.session = s, .source = s->patterns.at[pattern].source, .pattern = pattern};
    worker_post(s->worker, &read_work, pattern, r);
}

static void race_done(void *data, bool stopped)
{
    struct plan_job *r = data;
    if (r->number != r->session->race) return; /* of another race, or of another pattern */
    struct racer *racer = &r->session->racers.at[r->slot];
    struct outcome old = racer->outcome;
    racer->outcome = r->outcome;
    r->outcome = old; /* to be freed */
    racer->outcome.stopped = stopped;
    racer->curve = r->curve;
    racer->state = !racer->outcome.plan ? RACE_FAILED : stopped ? RACE_STOPPED : RACE_DONE;
    plans_saw(r->session, &racer->outcome, stopped);
}

const struct work race_work = {4, plan_job_run, race_done, plan_job_free};

void session_race(struct session *s)
{
    if (s->current < 0) return;
    session_race_stop(s);
    s->race++;
    s->race_by = s->now;
    settings_take_solver(&s->race_by, 0);
    for (size_t i = 0; i < s->racers.count; i++) {
        struct plan_job what = {.number = s->race, .slot = (int)i, .how = s->now};
        settings_take_solver(&what.how, (int)i);
        s->racers.at[i].state = RACE_RUNNING;
        s->racers.at[i].curve = (struct curve){0};
        outcome_free(&s->racers.at[i].outcome);
        plan_job_post(s, &race_work, s->current, &what);
    }
}

void session_race_forget(struct session *s)
{
    s->race++; /* results of still running jobs come too late */
    for (size_t i = 0; i < s->racers.count; i++) {
        outcome_free(&s->racers.at[i].outcome);
        s->racers.at[i].curve = (struct curve){0};
        s->racers.at[i].state = RACE_NONE;
    }
}

/* Less than 0: the first is better. A plan without an answer is worst. */
static int race_compare(const struct lx_plan *a, const struct lx_plan *b)
{
    bool a_fails = a->answer.status == LX_INFEASIBLE || a->answer.status == LX_ERROR;
    bool b_fails = b->answer.status == LX_INFEASIBLE || b->answer.status == LX_ERROR;
    double p = a->asks_time ? a->figures.end_to_end_us : (double)lx_plan_value(a);
    double q = b->asks_time ? b->figures.end_to_end_us : (double)lx_plan_value(b);
    if (a_fails != b_fails) return a_fails - b_fails;
    return (p > q) - (p < q);
}

int session_winner(const struct session *s)
{
    int best = -1;
    for (size_t i = 0; i < s->racers.count; i++) {
        const struct lx_plan *p = s->racers.at[i].outcome.plan;
        const struct lx_plan *other = best < 0 ? NULL : s->racers.at[best].outcome.plan;
        if (!p) continue;
        int order = other ? race_compare(p, other) : -1;
        bool proved = other && p->answer.status != LX_OPTIMAL && other->answer.status == LX_OPTIMAL;
        if (order < 0 || (order == 0 && !proved)) best = (int)i;
    }
    return best;
}

bool session_wins(const struct session *s, int racer)
{
    int best = session_winner(s);
    const struct lx_plan *p = s->racers.at[racer].outcome.plan;
    return best >= 0 && p && race_compare(p, s->racers.at[best].outcome.plan) == 0;
}

/* Racers that were cancelled before they ran. */
static void race_forget_dropped(struct session *s)
{
    for (size_t i = 0; i < s->racers.count; i++) {
        struct progress p = worker_progress(s->worker, &race_work, (int)i);
        struct racer *racer = &s->racers.at[i];
        if (racer->state == RACE_RUNNING && !p.running && !racer->outcome.plan) racer->state = RACE_NONE;
    }
}

void session_race_stop(struct session *s)
{
    worker_stop(s->worker, &race_work);
    worker_stop(s->worker, &fill_work);
    race_forget_dropped(s);
}

bool session_stop(struct session *s)
{
    bool any = worker_busy(s->worker, NULL) > worker_busy(s->worker, &read_work);
    worker_cancel(s->worker, NULL, &read_work, true);
    race_forget_dropped(s);
    return any;
}

void session_plan_all(struct session *s)
{
    worker_stop(s->worker, &fill_work);
    for (size_t i = 0; i < s->patterns.count; i++) {
        struct plan_job what = {.slot = (int)i, .how = s->now, .as_it_is = true};
        if (!s->patterns.at[i].facts.refused) plan_job_post(s, &fill_work, (int)i, &what);
    }
}
