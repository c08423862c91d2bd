#include "planfile/plan_fields.h"

#include <stddef.h>

#define PLAN_FIELD(KIND, key, need, standing, width, absent, help)                                           \
    {#key, FIELD_##KIND, FIELD_##need, FIELD_##standing, width, absent, offsetof(struct CURRENT, key), help},

// clang-format off
#define CURRENT plan_root
static const struct field root_fields[] = {PLAN_ROOT_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_solver
static const struct field solver_fields[] = {PLAN_SOLVER_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_graph
static const struct field graph_fields[] = {PLAN_GRAPH_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_tensor
static const struct field tensor_fields[] = {PLAN_TENSOR_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_op
static const struct field op_fields[] = {PLAN_OP_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_nest
static const struct field nest_fields[] = {PLAN_NEST_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_bundle
static const struct field bundle_fields[] = {PLAN_BUNDLE_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_launch
static const struct field launch_fields[] = {PLAN_LAUNCH_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_transfer
static const struct field transfer_fields[] = {PLAN_TRANSFER_FIELDS(PLAN_FIELD)};
#undef CURRENT
#define CURRENT plan_buffer
static const struct field buffer_fields[] = {PLAN_BUFFER_FIELDS(PLAN_FIELD)};
#undef CURRENT
// clang-format on

#define PLAN_SECTION(ID, name, what, heading)                                                                \
    {what, heading, name##_fields, sizeof name##_fields / sizeof *name##_fields, sizeof(struct plan_##name)},
const struct plan_section plan_sections[PLAN_SECTION_COUNT] = {PLAN_SECTIONS(PLAN_SECTION)};
