/* The session's team: its devices, the selected one, the sharded pattern and its last run. The pattern is
 * sharded when the view is first shown, and again when the size or the file changes; until then the old
 * one is shown. */
#pragma once

#include "tui/team/team_cut.h"
#include "tui/core/worker.h"

enum { TEAM_AT_FIRST = 2 };

struct team_model {
    struct lx_team_grid grid; /* asked for */
    bool chosen;              /* by the user; else the pattern's grid goes before it */
    int members;              /* of the grid */
    int member;               /* selected */
    struct team_cut cut;
    bool asked, known; /* asked: for the open pattern; known: `cut` belongs to it */
    uint64_t number;   /* of the last request; results of others are dropped */
    struct {
        bool known, stopped, ok; /* ok: it ran to its end; else see `st` */
        struct lx_team_result result;
        lx_status st;
        uint64_t number;
    } run;
};

struct session;

/* The slot of both is the number of devices. */
extern const struct work team_work, team_run_work;

/* Shards the open pattern, unless requested already; `again`: its file has changed. */
void session_team_want(struct session *s, bool again);
/* False: a team cannot have this size, or has it already. */
bool session_team_resize(struct session *s, const struct lx_team_grid *grid);
/* Another pattern is open. */
void session_team_forget(struct session *s);
/* False: there is nothing to run. */
bool session_team_run(struct session *s);
