/* How long exchanges take on the links of a team, in microseconds.
 *
 * Neighbours along an axis of the grid are joined by links of one rate and latency (lx_device_link). What all devices along
 * axes do together goes axis by axis, the last first where parts grow, in rings or trees: a ring of n takes n - 1
 * messages and moves no byte twice; a tree takes log2(n), each with all there is; the cheaper is taken. */
#ifndef LX_TEAM_TEAM_LINKS_H
#define LX_TEAM_TEAM_LINKS_H

#include "team/team.h"

/* Axes are bits: 1 << axis. `bytes`: of a device, when it has all of it. */
double team_gather_us(const struct lx_device *d, const struct lx_team_grid *grid, unsigned axes,
                      double bytes);
/* Parts of so many bytes become one, of which each has his share (`scatters`) or all. */
double team_combine_us(const struct lx_device *d, const struct lx_team_grid *grid, unsigned axes,
                       double bytes, bool scatters);
/* Each device gets `bytes` from others along these axes: all from all, or with `near` from neighbours. */
double team_swap_us(const struct lx_device *d, const struct lx_team_grid *grid, unsigned axes, double bytes,
                    bool near);
#endif
