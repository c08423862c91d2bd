/* One op with windows on its way to a sketch: which dimension of the op each dimension of its operands is. */
#ifndef LX_IMPORT_IMPORT_SLIDE_H
#define LX_IMPORT_IMPORT_SLIDE_H

#include "import/map/import_steps.h"
#include "import/types/windows.h"

/* What a dimension is for. One role is one dimension of the op, in whichever operands it stands. */
enum slide_role {
    SLIDE_BATCH,
    SLIDE_GROUP,
    SLIDE_OUT_CHANNEL,
    SLIDE_CHANNEL,
    SLIDE_OUT, /* of window 0, 1, ... */
    SLIDE_TAP = SLIDE_OUT + MODEL_MAX_WINDOWS,
    SLIDE_IN = SLIDE_TAP + MODEL_MAX_WINDOWS,
    SLIDE_OTHER = SLIDE_IN + MODEL_MAX_WINDOWS, /* dimension 0, 1, ... of a pool */
    SLIDE_ROLES = SLIDE_OTHER + VIEW_MAX_RANK
};

struct slide {
    const char *kind;
    int operands;
    struct import_value operand[2];
    int dim[2][VIEW_MAX_RANK];        /* of the op, by dimension of the operand; -1: it has one element */
    signed char of_role[SLIDE_ROLES]; /* 1 + dimension of the op; 0: none yet */
    unsigned char stands_for[SLIDE_ROLES]; /* 1 + the role it is the same as; 0: itself */
    int rank;
    int64_t extent[VIEW_MAX_RANK];
    int result_rank, result[VIEW_MAX_RANK];
    int64_t result_extent[VIEW_MAX_RANK];
    int window_count, from[MODEL_MAX_WINDOWS]; /* those that are left, and which of the op's they are */
    struct lx_window window[MODEL_MAX_WINDOWS];
    bool full; /* more dimensions than there may be */
};

/* What is left of the windows when those that need none are taken out. False: numbers beyond what a window
 * has. */
bool slide_windows(struct slide *s, const struct model_window *w, int count);
/* The dimension of the op for a role; -1: one element. */
int slide_dim(struct slide *s, int role, int64_t extent);
void slide_result(struct slide *s, int role, int64_t extent);
/* The value with its dimensions permuted, then regrouped; it is copied where views cannot do that. */
bool slide_view(struct import *im, const struct model_op *op, struct import_value *v, const int64_t *perm,
                int count, const int64_t *shape, int rank);
/* The op; `out` has the shape `y`, of which slide_result has the parts. *generic: it cannot be one of
 * ours. */
bool slide_emit(struct import *im, const struct model_op *op, struct slide *s, const struct model_type *y,
                struct import_value *out, bool *generic);
/* A pool: dimension at[i] slides by window i, the others stay. */
bool slide_pool(struct import *im, const struct model_op *op, const char *kind, const struct model_window *w,
                const int *at, int count, bool count_all);

#endif
