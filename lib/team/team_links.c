/* Times of rings and trees: see team_private.h. */
#include "team/team_private.h"

struct link {
    double rate, us; /* bytes per microsecond; microseconds per message */
};

static struct link link_of(const struct lx_device *d, const struct lx_team_grid *grid, int axis)
{
    double rate, us;
    lx_device_link(d, grid->axes - 1 - axis, &rate, &us);
    return (struct link){rate * 1e3, us};
}

static double doublings(int n)
{
    return ceil(log2((double)n));
}

double team_gather_us(const struct lx_device *d, const struct lx_team_grid *grid, unsigned axes, double bytes)
{
    double us = 0;
    for (int a = 0; a < grid->axes; a++) { /* in reverse: with all bytes of the axes before it */
        int n = grid->size[a];
        if (!(axes >> a & 1) || n < 2) continue;
        struct link l = link_of(d, grid, a);
        double ring = (n - 1) * l.us + bytes * (n - 1) / n / l.rate;
        us += fmin(ring, doublings(n) * (l.us + bytes / l.rate));
        bytes /= n;
    }
    return us;
}

double team_combine_us(const struct lx_device *d, const struct lx_team_grid *grid, unsigned axes,
                       double bytes, bool scatters)
{
    /* shares are computed while they are spread */
    return (scatters ? 1 : 2) * team_gather_us(d, grid, axes, bytes);
}

double team_swap_us(const struct lx_device *d, const struct lx_team_grid *grid, unsigned axes, double bytes,
                    bool near)
{
    double peers = 1, rounds = 0, steps = 0, rate = HUGE_VAL, us = 0;
    for (int a = 0; a < grid->axes; a++) {
        if (!(axes >> a & 1) || grid->size[a] < 2) continue;
        struct link l = link_of(d, grid, a);
        peers *= grid->size[a];
        steps++;
        rounds += doublings(grid->size[a]);
        rate = fmin(rate, l.rate);
        us = fmax(us, l.us);
    }
    if (steps == 0 || bytes <= 0) return 0;
    if (near) return steps * us + bytes / rate;
    return fmin((peers - 1) * us + bytes / rate, rounds * (us + bytes / rate));
}
