#include "team/team_fields.h"
#include "base/base.h"

#define TEAM_FIELD(KIND, key, need, standing, width, absent, help)                                           \
    {#key, FIELD_##KIND, FIELD_##need, FIELD_##standing, width, absent, offsetof(struct CURRENT, key), help},

// clang-format off
#define CURRENT team_file_root
static const struct field root_fields[] = {TEAM_ROOT_FIELDS(TEAM_FIELD)};
#undef CURRENT
#define CURRENT team_file_tensor
static const struct field tensor_fields[] = {TEAM_TENSOR_FIELDS(TEAM_FIELD)};
#undef CURRENT
#define CURRENT team_file_op
static const struct field op_fields[] = {TEAM_OP_FIELDS(TEAM_FIELD)};
#undef CURRENT
#define CURRENT team_file_exchange
static const struct field exchange_fields[] = {TEAM_EXCHANGE_FIELDS(TEAM_FIELD)};
#undef CURRENT
#define CURRENT team_file_group
static const struct field group_fields[] = {TEAM_GROUP_FIELDS(TEAM_FIELD)};
#undef CURRENT
#define CURRENT team_file_step
static const struct field step_fields[] = {TEAM_STEP_FIELDS(TEAM_FIELD)};
#undef CURRENT
// clang-format on

#define TEAM_SECTION(ID, name, what, heading)                                                                \
    {what, heading, name##_fields, sizeof name##_fields / sizeof *name##_fields,                             \
     sizeof(struct team_file_##name)},
const struct team_section team_sections[TEAM_SECTION_COUNT] = {TEAM_SECTIONS(TEAM_SECTION)};
