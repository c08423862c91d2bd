/* The body of a nest as the choice of its divisions sees it: ops with their menus, accesses with a label for each way to see
 * their tensor. Private to the stage. */
#ifndef LX_SCRATCHPAD_NESTS_NEST_BODY_H
#define LX_SCRATCHPAD_NESTS_NEST_BODY_H

#include "scratchpad/nests/nest_divide.h"

/* A tensor of the body. */
struct body_tensor {
    int32_t tensor;
    bool wanted;        /* on chip it would save something */
    bool covers;        /* held for inner loops: there all the time */
    int before, behind; /* labels with which it comes from outside and goes on there; -1: it does not */
    int64_t fills;      /* how often it is filled */
    VEC(struct lx_core_view) views;
};

struct body_access {
    int32_t of;     /* its tensor, among those of the body */
    int32_t op;     /* of the body */
    int *label;     /* per choice of the op; -1: no buffer can be so */
    int64_t *bytes; /* per choice: a core's part */
    int64_t lost;   /* of a core, if it cannot be on chip */
    int gives_way;  /* of an output: an input that it may be written over, by operand; -1: none */
};

struct body {
    const struct draft *x;
    const struct lx_nest *nest;
    int32_t op_count, tensor_count, access_count;
    struct nest_menu *menus;      /* per op */
    int32_t *access_at;           /* per op, and one more */
    struct body_access *accesses; /* by op, operands in order */
    struct body_tensor *tensors;
    int64_t *load; /* per op: of what else is there */
    int64_t capacity;
};

bool nest_body_make(const struct draft *x, int32_t nest, struct nest_menus *menus, struct arena *memory,
                    struct body *out, lx_status *st);
void nest_body_free(struct body *b);

#endif
