/* Teams compared, and their time. */
#include "team/run/team_contest.h"
#include "base/cancel.h"

#include <math.h>

int64_t team_moved(const struct lx_team_plan *p)
{
    return p->bytes + p->combine_bytes;
}

bool team_better(bool by_time, double us, int64_t bytes, double than_us, int64_t than_bytes)
{
    if (by_time) return us != than_us ? us < than_us : bytes < than_bytes;
    return bytes != than_bytes ? bytes < than_bytes : us < than_us;
}

bool team_was_left(const struct lx_team_plans *p)
{
    return p->team->unsharded && p->alike;
}

struct lx_team_plans *team_best_of(struct lx_team_plans *a, struct lx_team_plans *b, bool by_time)
{
    bool second = !a || (b && team_better(by_time, b->team->predicted_us, team_moved(b->team),
                                          a->team->predicted_us, team_moved(a->team)));
    if (a && b && !by_time && team_was_left(a) != team_was_left(b)) second = team_was_left(a);
    lx_team_plans_free(second ? a : b);
    return second ? b : a;
}

double team_search_seconds(const struct lx_team_options *how)
{
    int devices = how->grid.axes > 0 ? lx_team_device_count(&how->grid) : how->devices;
    double left = cancel_seconds_left();
    return isinf(left) ? 0 : fmax(left, 1e-3) / (how->by_time ? 4 : 2 + devices / 2);
}
