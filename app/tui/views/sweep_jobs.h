/* A sweep behind the screen: its sizes are planned by the worker, one job per size, and then its knees are searched for.
 *
 * What is swept belongs to the view and to every job under way, by a count of users that only the screen's thread touches;
 * jobs read the lines and the graph, which nobody changes, and values are kept on the screen's thread. */
#ifndef LX_APP_TUI_SWEEP_JOBS_H
#define LX_APP_TUI_SWEEP_JOBS_H

#include "sweep/sweep_lines.h"
#include "tui/core/session.h"

struct swept {
    struct sweep sweep;
    struct worker *worker;
    struct what_if how; /* that it was made with; size and solver do not count */
    int pattern;
    int users, left; /* left: jobs for sizes that are not done */
    bool stopped;
};

extern const struct work sweep_work;

/* Begins to sweep the pattern that is shown, with the solver of the settings and the quick ones. `range` NULL: its own.
 * NULL with `st`. Ends what is under way. */
struct swept *sweep_start(struct session *s, const char *range, lx_status *st);
void swept_release(struct swept *w);
/* Is it of the pattern and the settings of now? */
bool swept_is_new(const struct swept *w, const struct session *s);

#endif
