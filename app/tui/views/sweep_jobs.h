/* A sweep in the background: one job per size, then jobs that search for the knees.
 *
 * The view and every job share it, by a count of users that only the screen's thread changes. Jobs read
 * the lines and the graph, which are constant; the screen's thread keeps the values. */
#ifndef LX_APP_TUI_SWEEP_JOBS_H
#define LX_APP_TUI_SWEEP_JOBS_H

#include "sweep/sweep_lines.h"
#include "tui/core/session.h"

struct swept {
    struct sweep sweep;
    struct worker *worker;
    struct what_if how; /* its settings; size and solver do not count */
    int pattern;
    int users, left; /* left: jobs of sizes */
    bool stopped;
};

extern const struct work sweep_work;

/* Sweeps the open pattern, with the solver of the settings and the quick ones. `range` NULL: the pattern's
 * own. NULL with `st`. Cancels the sweep before. */
struct swept *sweep_start(struct session *s, const char *range, lx_status *st);
void swept_release(struct swept *w);
/* Does it have the present pattern and settings? */
bool swept_is_new(const struct swept *w, const struct session *s);

#endif
