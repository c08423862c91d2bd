/* The session: which patterns there are, which one is open, with which settings, what came out of it and what
 * is selected. No drawing; nothing global; every view shows the same session. */
#ifndef LX_APP_TUI_SESSION_H
#define LX_APP_TUI_SESSION_H

#include "tui/selection.h"
#include "tui/team_model.h"
#include "tui/worker.h"

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
};

struct session {
    struct worker *worker;
    VEC(struct pattern) patterns;
    int current; /* the open pattern, or -1 */

    struct what_if now;
    VEC(struct what_if) undo, redo;
    uint64_t wanted;      /* number of the plan that was asked for last */
    uint64_t got;         /* of the one that is shown; they differ while it is being made */
    struct outcome shown; /* may be an older one: see session_is_stale */
    bool has_shown;
    int shown_pattern; /* that `shown` belongs to */

    VEC(struct racer) racers;
    uint64_t race;    /* number of the race */
    bool race_is_old; /* of other settings than those of now */
    struct what_if race_how;

    struct {
        struct lx_run_result *result; /* NULL: none, or `st` says why */
        struct outcome outcome;       /* of the plan that was run */
        lx_status st;
        bool known, is_old; /* is_old: of another plan than the one that is asked for now */
        uint64_t number;
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
/* Other settings: what was is kept for undo; the plan is made again. False: nothing changed. */
bool session_change(struct session *s, const struct what_if *how);
bool session_undo(struct session *s);
bool session_redo(struct session *s);
/* What a setting that is left to the pattern is at present; -1: not known. */
int64_t session_actual(const struct session *s, int setting);

/* Takes what the workers have finished. True: there is something new to see. */
bool session_take_results(struct session *s);
bool session_is_stale(const struct session *s);
void session_plan_all(struct session *s);
void session_race(struct session *s);
void session_stop(struct session *s);
/* Executes the plan of now on the simulated device. */
void session_run(struct session *s);

/* The plan that is shown, or NULL. */
static inline const struct lx_plan *session_plan(const struct session *s)
{
    return s->has_shown ? s->shown.plan : NULL;
}

bool session_save(const struct session *s, const char *path, lx_status *st);

#endif
