/* The session: which patterns there are, which one is open, with which settings, what came out of it and what
 * is selected. No drawing; nothing global; every view shows the same session. What is made in the background
 * has a file and a `struct work` of its own. */
#ifndef LX_APP_TUI_SESSION_H
#define LX_APP_TUI_SESSION_H

#include "tui/core/change.h"
#include "tui/views/pattern_facts.h"
#include "tui/core/planned.h"
#include "tui/core/selection.h"
#include "tui/team/team_model.h"
#include "tui/core/worker.h"

/* The last time that a pattern was planned. */
struct last_plan {
    bool known, failed, met, proved, stopped;
    char solver[24];
    int64_t hbm_bytes, saved_from; /* saved_from: with everything off chip */
    double seconds;
};

struct pattern {
    char *path;
    const char *shown; /* the part of the path that tells patterns apart */
    struct pattern_source *source;
    const struct model_options *models; /* how a model is read; NULL: as it is */
    bool is_read;
    struct facts facts;
    struct last_plan last;
};

/* One solver of a race. */
enum race_state { RACE_NONE, RACE_RUNNING, RACE_DONE, RACE_STOPPED, RACE_FAILED };
struct racer {
    const struct lx_solver *solver;
    enum race_state state;
    struct outcome outcome;
    struct curve curve; /* best and bound over time, when it is done */
};

/* A plan that is kept to compare with. */
struct held {
    char name[64];
    struct outcome outcome;
};

struct session {
    struct worker *worker;
    VEC(struct pattern) patterns;
    int current;                        /* the open pattern, or -1 */
    const struct model_options *models; /* of files that are added; NULL: as they are */

    struct what_if now;
    VEC(struct what_if) undo, redo;
    uint64_t reread;  /* of the one that was asked for as the file had changed */
    uint64_t wanted;  /* number of the plan that was asked for last */
    uint64_t settled; /* of the last one that is there for good; they differ while one is being made */
    uint64_t
        shown_for; /* of the one that is shown: an older one, an interim one of `wanted`, or that itself */
    uint64_t got;  /* counts what has been shown: another number, another plan */
    struct outcome shown; /* may be an older one: see session_is_stale */
    bool has_shown;
    int shown_pattern;           /* that `shown` belongs to */
    struct selection first_look; /* the selection as the first plan of a pattern chose it */
    uint64_t first_look_for;     /* the number of that plan */
    struct curve curve;          /* best and bound over time, of the plan that is shown */

    const struct lx_plan
        *before;          /* a reference: the last plan there for good, which a change is compared with */
    struct change change; /* from that one to the one that is shown; known until the next key */
    const uint8_t *moved; /* per buffer that is shown: it did not stay where it was. NULL: none */

    struct held pinned; /* A; without a plan: nothing is pinned */
    VEC(struct held) files;
    int file_last; /* the file that was read last, and how many were */
    uint64_t files_read;
    struct text news; /* what went wrong in the background, to be said; empty: nothing */

    VEC(struct racer) racers;
    uint64_t race;          /* number of the race; 0: none yet */
    struct what_if race_by; /* its settings but for the solver */

    struct {
        const struct lx_plan *plan;   /* that was run: a reference */
        struct lx_run_result *result; /* NULL: none, or `st` says why */
        lx_status st;
        bool known;
        uint64_t of;     /* the number of its plan */
        uint64_t number; /* of the run that was asked for last */
    } run;

    struct team_model team;
    struct selection selection;
};

/* False when there are no threads or no memory. */
bool session_begin(struct session *s, const struct what_if *how);
void session_end(struct session *s);
/* A pattern, a plan, or all below a folder. False, with `st`, if there is nothing. */
bool session_add(struct session *s, const char *path, lx_status *st);

void session_open(struct session *s, int pattern);
/* Read and plan it again. */
void session_reload(struct session *s);
/* Only what the list says of a pattern that is not open. */
void session_read_again(struct session *s, int pattern);
/* Other settings: what was is kept for undo; the plan is made again. False: nothing changed. */
bool session_change(struct session *s, const struct what_if *how);
bool session_undo(struct session *s);
bool session_redo(struct session *s);
/* What a setting that is left to the pattern is at present; -1: not known. */
int64_t session_actual(const struct session *s, int setting);
/* A key was pressed: what the change before it did has been seen. */
void session_seen(struct session *s);
/* Takes what the workers have finished. True: there is something new to see. */
bool session_take_results(struct session *s);
bool session_save(const struct session *s, const char *path, lx_status *st);

/* The plan that is shown, or NULL. */
static inline const struct lx_plan *session_plan(const struct session *s)
{
    return s->has_shown ? s->shown.plan : NULL;
}

/* session_plans.c: patterns read and planned. A slot is the number of a pattern. */
extern const struct work read_work, plan_work, fill_work;
bool session_read(struct session *s, int pattern);
/* Asks for the plan of the open pattern. What is shown stays until the new one is there. `as_it_is`: a plan
 * file is not planned anew. */
void session_ask(struct session *s, bool as_it_is);
/* A plan is being made; what is shown is of other settings, or interim. */
bool session_is_stale(const struct session *s);
/* What is shown is of other settings than those of now, or there is nothing. */
bool session_shows_old(const struct session *s);
/* How far the plan is that is being made. */
struct progress session_planning(const struct session *s);
void session_plan_all(struct session *s);

/* session_race.c: every solver on the open pattern. A slot is the number of a solver. */
extern const struct work race_work;
void session_race(struct session *s);
void session_race_forget(struct session *s);
/* Are its results of other settings than those of now? Which solver makes the plan that is shown is no setting of a
 * race of all. */
bool session_race_is_old(const struct session *s);
/* The last racer whose plan is as good as any (among equals one that is proved is better), or -1; and is one as good
 * as that? The clock does not decide: it would tell another winner tomorrow. */
int session_winner(const struct session *s);
bool session_wins(const struct session *s, int racer);
/* The race and the planning of all patterns. */
void session_race_stop(struct session *s);

/* Everything that runs; the best so far is kept. False: nothing ran. */
bool session_stop(struct session *s);

/* session_held.c: plans kept to compare with. The plan that is shown becomes A; a plan file is read. False: there is none,
 * or no memory. */
extern const struct work hold_work;
bool session_pin(struct session *s);
bool session_hold_file(struct session *s, const char *path);
void session_held_free(struct session *s);

/* session_run.c: the plan that is shown, executed on the simulated device; slot 0. */
extern const struct work run_work;
void session_run(struct session *s);
void session_run_forget(struct session *s);
/* Is what was run another plan than the one that is shown? */
bool session_run_is_old(const struct session *s);

/* Planning, as jobs of several sorts do it; whose they are, `done` says. One that is staged hands over interim plans, each
 * a plan_job of its own: at once a heuristic's, then what the solver finds on its way. */
struct plan_job {
    struct session *session;
    struct pattern_source *source;
    uint64_t number; /* results of an older one come too late */
    int slot;
    struct what_if how;
    bool as_it_is, staged;
    const struct lx_plan *like;   /* the plan that was shown when it was asked for: a reference */
    const struct lx_plan *before; /* to compare with: a reference, or NULL */
    struct outcome outcome;
    struct change change;
    struct curve curve;
};
bool plan_job_post(struct session *s, const struct work *work, int pattern, const struct plan_job *what);
void plan_job_run(void *data, void *watch);
void plan_job_free(void *data);

#endif
