/* How far a solver is; see progress_words.h. */
#include "text/progress_words.h"
#include "text/format.h"

#include <stdio.h>

struct progress_words progress_words(double seconds, const struct lx_progress *so_far)
{
    struct progress_words w;
    int n = snprintf(w.at, sizeof w.at, "%.1f s, ", seconds);
    size_t room = sizeof w.at - (size_t)n;
    if (so_far->objective == INT64_MAX)
        snprintf(w.at + n, room, so_far->bound > 0 ? "no answer yet, bound %s" : "no answer yet",
                 grouped(so_far->bound).at);
    else if (so_far->bound <= 0) /* none is proved so far */
        snprintf(w.at + n, room, "best %s", grouped(so_far->objective).at);
    else
        snprintf(w.at + n, room, "best %s, bound %s, gap %s", grouped(so_far->objective).at,
                 grouped(so_far->bound).at, in_percent(lx_gap(so_far->objective, so_far->bound)).at);
    return w;
}
