/* Why a buffer is where it is, and what would bring it on chip. What is said about other solvers and passes is
 * tried, not guessed. */
#ifndef LX_PLAN_PLAN_EXPLAIN_H
#define LX_PLAN_PLAN_EXPLAIN_H

#include "plan/options.h"

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

/* One thing to do otherwise: another solver, or one pass with another value. */
struct lx_remedy {
    const struct lx_solver *solver; /* NULL: the same */
    const struct lx_pass *pass;     /* NULL: the same */
    int value;                      /* of the pass */
    int64_t hbm_bytes;              /* traffic of the plan that it gives */
};

/* Beyond this many buffers trying would take too long for a question. */
enum { LX_MOST_TO_TRY = 2000 };

struct lx_remedies {
    struct lx_remedy *all;
    int32_t count;
    bool tried; /* false: there are more buffers than LX_MOST_TO_TRY */
};

/* Makes a plan: lx_plan_make, or what a caller puts around it (clocks, interrupts). */
typedef struct lx_plan *lx_planner(void *context, const struct lx_graph *g, const struct lx_plan_options *how,
                                   lx_status *st);

/* Plans the plan's graph again with each other solver of `asked`, then with each other value of each pass, and keeps
 * what has every buffer of that name on chip. `p` was made as `asked` says. A try that fails is none. */
bool lx_plan_remedies(const struct lx_plan *p, const struct lx_options *asked, const char *name,
                      lx_planner *planner, void *context, struct lx_remedies *out, lx_status *st);
void lx_remedies_free(struct lx_remedies *r);

#endif
