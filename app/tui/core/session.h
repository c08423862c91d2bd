/* The session: which patterns there are, which one is open, with which settings, what came out of it and what
 * is selected. No drawing; nothing global; every view shows the same session. What is made in the background
 * has a file and a `struct work` of its own. */
#ifndef LX_APP_TUI_SESSION_H
#define LX_APP_TUI_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/views/pattern_source.h"
#include "tui/core/planned.h"
#include "tui/team/team_model.h"
#include "tui/core/worker.h"
#include "unstable.h"
#include "base/text.h"

/* What is looked at, by every view alike. Views read it; they change it through these setters only, which
 * keep its parts in agreement with each other and inside the plan that is shown. */
struct selection {
    int32_t buffer, op; /* -1: none */
    int64_t tick;
    int64_t address; /* with the tick: the cursor of maps; a picture address (bands.h) */
    bool pointed;    /* the cursor was moved there, be it to a hole; else it is where the buffer is */
    uint64_t moves;  /* of the cursor: a window that follows it knows by this when to */
    int64_t core;
    int64_t iteration; /* of the nest that is looked at, from 0 on; one with fewer is at its last */
    bool by_edges;     /* the scale of addresses: cut at the edges of buffers, and not in proportion */
};

struct session;
struct lx_plan;

/* Selecting a buffer selects the op that writes (or first reads) it, if none that uses it is. */
void session_select_buffer(struct session *s, int32_t buffer);
/* Selecting an op selects its output, and the tick at which it runs. */
void session_select_op(struct session *s, int32_t op);
/* By name: a buffer, else an op; the cursor goes there. False: nothing has this name. */
bool session_goto(struct session *s, const char *name);
/* The cursor on the selected buffer: at its address, and at a tick of its life. */
void session_show_buffer(struct session *s);
/* The cursor at a place, and the buffer that lies there selected, if one does. */
void session_point(struct session *s, int64_t tick, int64_t address);
/* One that the device does not have leaves it as it was. */
void session_select_core(struct session *s, int64_t core);
/* The nest at the cursor, else that of the selected op; -1: none. */
int32_t session_nest(const struct session *s);
/* The iteration that a nest of the plan is seen in. */
int64_t session_iteration(const struct session *s, int32_t nest);
/* The cursor into the plan that is shown. */
void session_keep_cursor(struct session *s);
/* A new plan is shown: what had a name in the old one (NULL: there was none) still has it. */
void session_keep_selection(struct session *s, const struct lx_plan *old);
void session_select_nothing(struct session *s);

/* The effect of a change of settings on the plan, in figures and buffer by buffer. It is made on a worker's thread, shown in
 * the status line, and marked in the map until the next key. */
struct change_figures {
    int64_t value; /* HBM bytes, of a list its cost, or the height */
    int64_t spill;
    double us; /* end to end; 0 for a list */
};

struct change {
    bool known;
    const char *what; /* "HBM", "cost" or "height" */
    struct change_figures before, after;
    int32_t came, went, moved,
        other;         /* buffers: on chip, off chip, to another address; else changed or new */
    int32_t resplit;   /* ops with another division */
    struct text nests; /* the change of nests in words; empty: none */
    uint8_t *marks;    /* per buffer of the plan after: 1 where it changed; NULL: none */
};

/* `known` is false where the plans answer different questions. */
void change_make(const struct lx_plan *before, const struct lx_plan *after, struct change *out);
void change_free(struct change *c);
/* "HBM 14,483,456 -> 13,303,808 (-8.1 %)", the time, the spill, the nests, moved buffers: most important first. `brief`:
 * numbers of three digits. Returns the number of pieces. */
enum { CHANGE_PIECES = 5 };
int change_words(const struct change *c, bool brief, struct text pieces[CHANGE_PIECES]);

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

/* False when there are no threads. */
bool session_begin(struct session *s, const struct what_if *how);
void session_end(struct session *s);
/* A pattern, a plan, or all below a folder. False, with `st`, if there is nothing. */
bool session_add(struct session *s, const char *path, lx_status *st);

void session_open(struct session *s, int pattern);
/* Reads a pattern again, and plans it if it is the open one. */
void session_reload(struct session *s, int pattern);
/* Other settings: what was is kept for undo; the plan is made again. False: nothing changed. */
bool session_change(struct session *s, const struct what_if *how);
bool session_undo(struct session *s);
bool session_redo(struct session *s);
/* What a setting that is left to the pattern is at present; -1: not known. */
int64_t session_actual(const struct session *s, int setting);
/* A key was pressed: what the change before it did has been seen. */
void session_seen(struct session *s);
bool session_save(const struct session *s, const char *path, lx_status *st);

/* The plan that is shown, or NULL. */
static inline const struct lx_plan *session_plan(const struct session *s)
{
    return s->has_shown ? s->shown.plan : NULL;
}

/* session_plans.c: patterns read and planned. A slot is the number of a pattern. */
extern const struct work read_work, plan_work, fill_work;
void session_read(struct session *s, int pattern);
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

/* Every solver on the open pattern. A slot is the number of a solver. */
extern const struct work race_work;
void session_race(struct session *s);
void session_race_forget(struct session *s);
/* Do its settings differ from the present ones? The solver does not count. */
bool session_race_is_old(const struct session *s);
/* The last racer with the best plan (proved ones before others), or -1; and is a racer's plan as good? Time does not decide: it
 * would give another winner tomorrow. */
int session_winner(const struct session *s);
bool session_wins(const struct session *s, int racer);
/* The race and the planning of all patterns. */
void session_race_stop(struct session *s);

/* Cancels everything that runs; the best plans so far are kept. False: nothing ran. */
bool session_stop(struct session *s);

/* Plans to compare with. The plan on the screen becomes A (false: there is none); a plan file is read. */
extern const struct work hold_work;
bool session_pin(struct session *s);
void session_hold_file(struct session *s, const char *path);

/* The plan on the screen, executed on the simulated device; slot 0. */
extern const struct work run_work;
void session_run(struct session *s);
void session_run_forget(struct session *s);
/* Is the plan that was run another one than the plan on the screen? */
bool session_run_is_old(const struct session *s);

/* Planning. One that is staged hands over interim plans, each as a plan_job. */
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
void plan_job_post(struct session *s, const struct work *work, int pattern, const struct plan_job *what);
void plan_job_run(void *data, void *watch);
void plan_job_free(void *data);

#endif
