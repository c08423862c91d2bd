/* First fit of lives into lanes, the costliest spilled buffer first. At most MOST_SPILLED are tried and
 * MOST_LANES lanes opened, so that a drawing of any plan stays small; the others are counted. */
#include "picture/lanes.h"

void assign_lanes(const struct lx_plan *p, const int32_t *spilled, int32_t count, struct lanes *l)
{
    int32_t tried = count < MOST_SPILLED ? count : MOST_SPILLED;
    *l = (struct lanes){.left_over = count - tried};
    for (int32_t k = 0; k < tried; k++) {
        const struct lx_buffer *b = &p->problem.buffers[spilled[k]];
        bool taken[MOST_LANES] = {false};
        for (int32_t i = 0; i < l->drawn; i++) {
            const struct lx_buffer *o = &p->problem.buffers[l->buffer[i]];
            if (o->start < b->end && b->start < o->end) taken[l->lane[i]] = true;
        }
        int lane = 0;
        while (lane < MOST_LANES && taken[lane]) lane++;
        if (lane == MOST_LANES) {
            l->left_over++;
            continue;
        }
        l->buffer[l->drawn] = spilled[k];
        l->lane[l->drawn++] = lane;
        if (lane >= l->used) l->used = lane + 1;
    }
}
