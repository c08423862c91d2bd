/* Ops of the table that several devices do together. */
#include "graph/import/import_steps.h"

/* clang-format off */
const struct op_row import_collective_rows[] = {
    {.emit = NULL},
};
/* clang-format on */
