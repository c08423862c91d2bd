/* Why a buffer is where it is, and who is in its way. */
#ifndef LX_EXPLAIN_PLAN_EXPLAIN_H
#define LX_EXPLAIN_PLAN_EXPLAIN_H

#include "plan/plan.h"

enum lx_obstacle {
    LX_NO_OBSTACLE, /* it is on chip */
    LX_TOO_LARGE,   /* for the scratchpad, whatever else is there */
    LX_BARRED,      /* the plan's reason says by what */
    LX_NO_ROOM      /* others are in the way */
};

struct lx_explained {
    int32_t buffer;
    enum lx_obstacle obstacle;
    int32_t *others; /* with LX_NO_ROOM: who is on chip while it lives, those that save least first */
    int32_t other_count;
};

/* The buffers of one name: one per stay of a tensor of that name, too. */
struct lx_explanation {
    struct lx_explained *all;
    int32_t count;
    int32_t off_chip; /* of them */
};

/* `count` is 0 when nothing has that name. False with `st` when memory is out. */
bool lx_plan_explain(const struct lx_plan *p, const char *name, struct lx_explanation *out, lx_status *st);
void lx_explanation_free(struct lx_explanation *e);

/* How work division alone divides op `op` of the plan; NULL: not known. */
const struct lx_division *lx_plan_divided_alone(const struct lx_plan *p, int32_t op);

#endif
