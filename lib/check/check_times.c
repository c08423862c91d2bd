/* Predicted times are the maker's, as the model behind them is; but they are sums. The times of a bundle's
 * ops make the bundle's, those of the bundles the plan's, on both clocks; each is there, finite and not
 * below 0. */
#include "check/check.h"
#include "base/fail.h"

#include <math.h>

static bool is_time(double us)
{
    return isfinite(us) && us >= 0;
}

static bool check_times_sums_right(const struct checker *c, const char *what, double all, double parts)
{
    /* Numbers of files have nine digits. */
    if (is_time(all) && is_time(parts) && fabs(all - parts) <= 1e-8 * (fabs(all) + fabs(parts)) + 1e-12)
        return true;
    return status_set(c->st, LX_E_NO, "%s takes %.9g us, as the plan says, but its parts take %.9g", what,
                      all, parts);
}

static bool check_times_bundle_right(const struct checker *c, const struct lx_bundle *b)
{
    double device = 0, all = 0;
    for (int32_t o = b->first; o < b->first + b->count; o++) {
        const struct lx_op_traffic *t = &c->p->traffic[o];
        if (!is_time(t->device_us) || !is_time(t->end_to_end_us))
            return status_set(c->st, LX_E_NO, "op %s takes a time that is none", c->g->ops[o].name);
        device += t->device_us;
        all += t->end_to_end_us;
    }
    return check_times_sums_right(c, "a bundle", b->device_us, device) &&
           check_times_sums_right(c, "a bundle from end to end", b->end_to_end_us, all);
}

bool check_times(const struct checker *c)
{
    double device = 0, all = 0;
    for (int32_t i = 0; i < c->p->bundle_count; i++) {
        const struct lx_bundle *b = &c->p->bundles[i];
        if (!check_times_bundle_right(c, b)) return false;
        device += b->device_us;
        all += b->end_to_end_us;
    }
    return check_times_sums_right(c, "the plan", c->p->figures.device_us, device) &&
           check_times_sums_right(c, "the plan from end to end", c->p->figures.end_to_end_us, all);
}
