/* What lx_joint_solve gave, in the caller's order and units. Private to the room. */
#ifndef LX_API_JOINT_RESULT_H
#define LX_API_JOINT_RESULT_H

#include "api/api_handles.h"

struct joint_item {
    const char *name, *reason; /* reason: why it is off chip, "" if it is not */
    int32_t choice;
    int64_t address, size, start, end, cost;
};

struct joint_result {
    enum lx_verdict status;
    const char *solver;
    double objective, bound;
    int64_t cores, squares, steps;
    int32_t count;
    struct joint_item *items;
};

/* joint_fields.c: as the functions of lxplan.h, of such a result. */
int32_t joint_number(const struct joint_result *r, const char *name, double *value);
const char *joint_word(const struct joint_result *r, const char *name);
int32_t joint_item_number(const struct joint_result *r, int64_t i, const char *name, double *value);
const char *joint_item_word(const struct joint_result *r, int64_t i, const char *name);

#endif
