/* The session's team: of how many members, which one is looked at, how the open pattern is cut over them and
 * how its last run ended. It is cut when somebody first looks, and anew when size or file change; until that
 * is done, the old one is shown. */
#ifndef LX_APP_TUI_TEAM_MODEL_H
#define LX_APP_TUI_TEAM_MODEL_H

#include "tui/team/team_cut.h"
#include "tui/core/worker.h"

enum { TEAM_AT_FIRST = 2 };

struct team_model {
    struct lx_team_grid grid; /* asked for */
    bool chosen;              /* by the user: else a grid that the pattern states goes before it */
    int members;              /* of the grid */
    int member;               /* selected */
    struct team_cut cut;
    bool asked, known; /* asked: for the open pattern; known: `cut` is of it */
    uint64_t number;   /* of what was asked for last; results of other numbers come too late */
    struct {
        bool known, stopped, ok; /* ok: it ran to its end; else `st` says why not */
        struct lx_team_result result;
        lx_status st;
        uint64_t number;
    } run;
};

struct session;

/* The slot of both is the number of members. */
extern const struct work team_work, team_run_work;

/* Shards the open pattern, unless that has been asked for; `again`: its file has changed. */
void session_team_want(struct session *s, bool again);
/* False: there is no such size, or it is that already. */
bool session_team_resize(struct session *s, const struct lx_team_grid *grid);
/* Another pattern is open. */
void session_team_forget(struct session *s);
/* False: there is nothing to run. */
bool session_team_run(struct session *s);

#endif
