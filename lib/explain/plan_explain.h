/* The reason of a buffer's place, and the buffers in its way. */
#pragma once

#include "plan/plan.h"

enum lx_obstacle {
    LX_NO_OBSTACLE, /* it is on chip */
    LX_TOO_LARGE,   /* larger than the scratchpad */
    LX_BARRED,      /* the plan's reason says why */
    LX_NO_ROOM      /* other buffers are in the way */
};

struct lx_explained {
    int32_t buffer;
    enum lx_obstacle obstacle;
    int32_t *others; /* with LX_NO_ROOM: buffers on chip at the same time, smallest saving first */
    int32_t other_count;
};

/* The buffers with one name; for a tensor's name, one per stay of the tensor. */
struct lx_explanation {
    struct lx_explained *all;
    int32_t count;
    int32_t off_chip; /* how many are off chip */
};

/* `count` is 0 if no buffer or tensor has that name. */
void lx_plan_explain(const struct lx_plan *p, const char *name, struct lx_explanation *out);
void lx_explanation_free(struct lx_explanation *e);

/* The division of op `op` by work division alone; NULL: unknown. */
const struct lx_division *lx_plan_divided_alone(const struct lx_plan *p, int32_t op);

/* X(id, words for one tensor, words for several), in the order of display. */
/* clang-format off */
#define LX_NEST_USES(X)                                                                                      \
    X(LX_NEST_INSIDE,   "never leaves LX",             "never leave LX")                                     \
    X(LX_NEST_SUM,      "adds up on chip",             "add up on chip")                                     \
    X(LX_NEST_HELD,     "held",                        "held")                                               \
    X(LX_NEST_KEPT,     "made here and kept whole",    "made here and kept whole")                           \
    X(LX_NEST_STORED,   "stored tile by tile",         "stored tile by tile")                                \
    X(LX_NEST_LOADED,   "loaded tile by tile",         "loaded tile by tile")                                \
    X(LX_NEST_PARTS,    "adds up, its parts in HBM",   "add up, their parts in HBM")                         \
    X(LX_NEST_HBM,      "through HBM",                 "through HBM")
/* clang-format on */

#define LX_NEST_USE_ENUM(id, one, several) id,
enum lx_nest_use { LX_NEST_USES(LX_NEST_USE_ENUM) LX_NEST_USE_COUNT };
#undef LX_NEST_USE_ENUM

const char *lx_nest_use_words(enum lx_nest_use u, bool several);

struct lx_nest_part {
    int32_t tensor;
    int32_t stay; /* the stay that serves the nest's first access on chip; -1: none */
    enum lx_nest_use use;
    int64_t hbm_bytes; /* moved by the nest for the tensor, in all iterations */
};

struct lx_nest_explained {
    struct lx_nest_part *parts; /* by use, then by tensor */
    int32_t count;
    int64_t free_bytes; /* least free bytes of a scratchpad while the nest runs */
    int64_t hbm_bytes;
    double device_us, end_to_end_us;
};

void lx_plan_explain_nest(const struct lx_plan *p, int32_t nest, struct lx_nest_explained *out);
void lx_nest_explained_free(struct lx_nest_explained *e);
