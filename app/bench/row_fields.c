/* The members of a run's line, in the order of the line. A member that may be unknown names the flag that
 * says so. */
#include "bench/row_fields.h"

#include <stddef.h>

#define AT(member)    offsetof(struct row, member)
#define KNOWN(member) offsetof(struct row, member)

/* clang-format off */
const struct row_field row_fields[] = {
    {"instance",       FIELD_WORD,    AT(instance), 0},
    {"hash",           FIELD_WORD,    AT(hash),     0},
    {"name",           FIELD_WORD,    AT(name),     0},
    {"buffers",        FIELD_WHOLE,   AT(buffers),  0},
    {"capacity",       FIELD_WHOLE,   AT(capacity), 0},
    {"objective",      FIELD_WORD,    AT(question), 0},
    {"solver",         FIELD_WORD,    AT(solver),   0},
    {"seed",           FIELD_WHOLE,   AT(seed),     0},
    {"repeat",         FIELD_WHOLE,   AT(repeat),   0},
    {"config",         FIELD_WORD,    AT(config),   0},
    {"outcome",        FIELD_OUTCOME, AT(outcome),  0},
    {"status",         FIELD_WORD,    AT(status),   0},
    {"claim",          FIELD_WORD,    AT(claim),    0},
    {"value",          FIELD_WHOLE,   AT(value),    KNOWN(has_value)},
    {"bound",          FIELD_WHOLE,   AT(bound),    KNOWN(has_bound)},
    {"gap",            FIELD_GAP,     0,            0},
    {"device_us",      FIELD_MICROS,  AT(device_us), KNOWN(has_clocks)},
    {"end_to_end_us",  FIELD_MICROS,  AT(end_to_end_us), KNOWN(has_clocks)},
    {"steps",          FIELD_WHOLE,   AT(steps),    0},
    {"stats",          FIELD_OBJECT,  AT(stats),    0},
    {"solver_seconds", FIELD_SECONDS, AT(seconds),  KNOWN(has_seconds)},
    {"wall_seconds",   FIELD_SECONDS, AT(wall),     0},
    {"cpu_seconds",    FIELD_SECONDS, AT(cpu),      0},
    {"peak_kb",        FIELD_WHOLE,   AT(peak_kb),  0},
    {"message",        FIELD_MESSAGE, AT(message),  0},
    {0},
};
/* clang-format on */
