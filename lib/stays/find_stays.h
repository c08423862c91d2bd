/* How stays are found: what the files of it share. Private to the stage. */
#ifndef LX_STAYS_FIND_STAYS_H
#define LX_STAYS_FIND_STAYS_H

#include "base/fail.h"
#include "base/vec.h"
#include "stays/draft.h"

enum { LABEL_EXTERN = -2, LABEL_NONE = -1 };

/* One access of the tensor under way. */
struct seen {
    int32_t access, op;
    int label; /* number of its view among the tensor's, or one of the two above */
    int run;
};

struct found_stay {
    struct lx_stay stay;
    struct lx_buffer buffer;
    int64_t life_first, life_last; /* ticks */
    VEC(int64_t) uses;
};

struct builder {
    struct draft *x;
    lx_status *st;
    VEC(struct lx_core_view) views;
    VEC(struct seen) seen;
    VEC(struct found_stay) found; /* of the tensor under way */
    VEC(struct found_stay) later; /* those after the first, of all tensors */
    int32_t next_cut;
};

/* One run: seen[from, to), all of one tensor. */
struct run {
    int32_t tensor;
    size_t from, to;
    size_t first; /* the first access that could be on chip; `to`: none could */
    bool many_views;
    bool writes_later; /* beyond the first access */
    bool must_store;   /* HBM needs what is written here */
};

static inline const struct lx_op *op_of(const struct builder *b, int32_t op)
{
    return &b->x->graph->ops[op];
}

/* Are two ops in different bundles? Extern ops have bundles of their own. */
static inline bool wiped_between(const struct builder *b, int32_t first, int32_t second)
{
    return b->x->bundle_of[second] != b->x->bundle_of[first];
}

/* bars.c: the first reason that holds for every stay of the run, or NONE; `*text` is NULL with a reason
 * only when memory is out. */
enum lx_bar bar_of_run(struct builder *b, const struct run *r, const char **text);

#endif
