/* The session: the patterns, the open one, its settings, its plan and the selection. It draws nothing;
 * every view shows the same session. Background work is done by jobs, a `struct work` for each sort. */
#pragma once

#include "tui/core/tries.h"
#include "tui/core/planned.h"
#include "tui/team/team_model.h"

/* The selection, shared by all views. Views change it through these setters, which keep its parts
 * consistent and inside the plan. */
struct selection {
    int32_t buffer, op; /* -1: none */
    int64_t tick;
    int64_t address; /* with the tick: the cursor of maps; a picture address */
    bool pointed;    /* the cursor was moved there, maybe to a hole; else it is on the buffer */
    uint64_t moves;  /* counts moves of the cursor, for windows that follow it */
    int64_t core;
    int64_t iteration; /* of the selected nest, from 0 on; a nest with fewer shows its last one */
    bool by_edges;     /* rows are cut at the edges of buffers, not to scale */
};

struct session;
struct lx_plan;

/* Selects also the op that writes (or first reads) the buffer, unless the selected op uses it. */
void session_select_buffer(struct session *s, int32_t buffer);
/* Selects also the op's output, and its tick. */
void session_select_op(struct session *s, int32_t op);
/* By name: a buffer, else an op; the cursor goes there. False: nothing has this name. */
bool session_goto(struct session *s, const char *name);
/* The cursor on the selected buffer: at its address, and at a tick of its life. */
void session_show_buffer(struct session *s);
/* The cursor at a place; selects the buffer there, if there is one. */
void session_point(struct session *s, int64_t tick, int64_t address);
/* A core that the device does not have is ignored. */
void session_select_core(struct session *s, int64_t core);
/* The nest at the cursor, else the nest of the selected op; -1: none. */
int32_t session_nest(const struct session *s);
/* The selected iteration of a nest. */
int64_t session_iteration(const struct session *s, int32_t nest);
/* Moves the cursor into the plan. */
void session_keep_cursor(struct session *s);
/* After a new plan: finds the selection of the old one (NULL: none) by name. */
void session_keep_selection(struct session *s, const struct lx_plan *old);
void session_select_nothing(struct session *s);

/* The effect of a change of settings on the plan, in figures and buffer by buffer. It is made on a
 * worker's thread, shown in the status line, and marked in the map until the next key. */
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
/* "HBM 14,483,456 -> 13,303,808 (-8.1 %)", the time, the spill, the nests, moved buffers: most important
 * first. `brief`: numbers of three digits. Returns the number of pieces. */
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
    const char *shown; /* the part of the path that is shown */
    struct pattern_source *source;
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

/* A plan to compare with. */
struct held {
    char name[64];
    struct outcome outcome;
};

struct session {
    struct worker *worker;
    VEC(struct pattern) patterns;
    int current;                        /* the open pattern, or -1 */
    uint64_t opened;                    /* counts patterns opened, and read again */
    const struct model_options *models; /* of files that are added; NULL: the default */

    struct what_if now;
    VEC(struct what_if) undo, redo;
    uint64_t reread;    /* number of the plan after the file had changed */
    uint64_t wanted;    /* number of the last plan that was requested */
    uint64_t settled;   /* of the last finished one; they differ while a plan is made */
    uint64_t shown_for; /* of the one on the screen: an older one, an interim one of `wanted`, or `wanted` */
    uint64_t got;       /* counts plans on the screen */
    struct outcome shown; /* may be outdated: see session_is_stale */
    bool has_shown;
    int shown_pattern;           /* the pattern of `shown` */
    struct selection first_look; /* the selection that the first plan of a pattern chose */
    uint64_t first_look_for;     /* the number of that plan */
    struct curve curve;          /* best and bound over time, of the plan on the screen */

    const struct lx_plan *before; /* a reference: the last finished plan, for comparing */
    struct change change;         /* from `before` to the plan on the screen; known until the next key */
    const uint8_t *moved;         /* per buffer on the screen: it was moved; NULL: none */

    struct held pinned; /* A; without a plan: nothing is pinned */
    VEC(struct held) files;
    int file_last; /* the last file, and the number of files */
    uint64_t files_read;
    struct text news;  /* of the background; empty: none */
    bool news_is_good; /* else an error */

    VEC(struct remedy) seen; /* plans of this pattern so far, their settings and figures */
    uint64_t saw;            /* counts changes of `seen` */
    double took;             /* seconds that the first plan of the last request took */

    VEC(struct racer) racers;
    uint64_t race;          /* number of the race; 0: none yet */
    struct what_if race_by; /* its settings without the solver */

    struct {
        const struct lx_plan *plan;   /* that was run: a reference */
        struct lx_run_result *result; /* NULL: none, or see `st` */
        lx_status st;
        bool known;
        uint64_t of;     /* the number of its plan: `got` if that is on the screen */
        uint64_t number; /* of the last run that was requested */
    } run;

    /* The plan with a buffer, tries.of_what, forced on chip: a list of one row, whose plan the map compares with the
     * one on the screen. */
    struct forced {
        struct tries tries;
        int64_t address;      /* there; -1: it has no buffer of this name */
        struct change change; /* known once `leaves` is */
        uint8_t *leaves;      /* per buffer on the screen: it leaves; NULL: not known yet */
        struct text left;     /* their names */
    } forced;

    struct team_model team;
    struct selection selection;
};

void session_forget_forced(struct session *s);
/* False when there are no threads. */
bool session_begin(struct session *s, const struct what_if *how);
void session_end(struct session *s);
/* A pattern, a plan, or all below a folder. False, with `st`, if there is nothing. */
bool session_add(struct session *s, const char *path, lx_status *st);

void session_open(struct session *s, int pattern);
/* Reads a pattern again, and plans it if it is the open one. */
void session_reload(struct session *s, int pattern);
/* Other settings: keeps the old ones for undo, and plans again. False: nothing changed. */
bool session_change(struct session *s, const struct what_if *how);
/* To the settings before the last change, or back again. False: there are none. */
bool session_undo(struct session *s, bool redo);
/* The present value of a setting that is left to the pattern; -1: not known. */
int64_t session_actual(const struct session *s, int setting);
bool session_save(const struct session *s, const char *path, lx_status *st);

/* The plan on the screen, or NULL. */
static inline const struct lx_plan *session_plan(const struct session *s)
{
    return s->has_shown ? s->shown.plan : NULL;
}

/* session_plans.c: patterns read and planned. A slot is the number of a pattern. */
extern const struct work read_work, plan_work, fill_work;
void session_read(struct session *s, int pattern);
/* Requests the plan of the open pattern. The old plan stays on the screen until the new one is ready.
 * `as_it_is`: a plan file is not planned again. */
void session_ask(struct session *s, bool as_it_is);
/* A plan is being made; the one on the screen is outdated or interim. */
bool session_is_stale(const struct session *s);
/* The plan on the screen is outdated, or there is none. */
bool session_shows_old(const struct session *s);
/* The progress of planning. */
struct progress session_planning(const struct session *s);

/* Keeps the figures of a plan of the open pattern, to compare all that were seen: made again with the same
 * settings, it takes the place of the old one. */
void session_saw(struct session *s, const struct remedy *it);

/* Every pattern, with the present settings. */
void session_plan_all(struct session *s);

/* Every solver on the open pattern. A slot is the number of a solver. */
extern const struct work race_work;
void session_race(struct session *s);
void session_race_forget(struct session *s);
/* The last racer with the best plan (proved ones before others), or -1; and is a racer's plan as good?
 * Time does not decide: it would give another winner tomorrow. */
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

/* The plan on the screen, executed; slot 0. */
extern const struct work run_work;
/* `machine`: of lx_machine_kind_at; NULL: the simulated device. */
void session_run(struct session *s, const char *machine);

/* Planning. A staged job hands over interim plans, each as a plan_job. */
struct plan_job {
    struct session *session;
    struct pattern_source *source;
    uint64_t number; /* results of older ones are dropped */
    int slot;
    struct what_if how;
    bool as_it_is, staged;
    const struct lx_plan *like;   /* the plan on the screen when it was requested: a reference */
    const struct lx_plan *before; /* to compare with: a reference, or NULL */
    struct outcome outcome;
    struct change change;
    struct curve curve;
};
