/* Tiles in the joint problem: what is cut, and what of a buffer is on chip then. */
#ifndef LX_COOPTIMISE_JOINT_TILES_H
#define LX_COOPTIMISE_JOINT_TILES_H

#include "cooptimise/joint.h"

struct joint_tile {
    bool tiled, cut; /* a loop makes it; it is needed outside of the run */
    int32_t label;   /* that those who have it on chip agree on, or -1 */
    int64_t end;     /* of its life on chip */
};

struct joint_tile joint_tile_of(const struct lx_joint_problem *p, const int32_t *choice, int32_t buffer);
/* All cuts, and the copies that they make necessary. */
int64_t joint_cut_cost(const struct lx_joint_problem *p, const int32_t *choice);
/* Size, life and reason of a buffer under these choices. */
void joint_tile_fill(const struct lx_joint_problem *p, const int32_t *choice, int32_t buffer,
                     struct lx_buffer *out);

#endif
