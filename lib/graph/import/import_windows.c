/* Ops of the table that slide windows: convolutions and pools. */
#include "graph/import/import_steps.h"

/* clang-format off */
const struct op_row import_window_rows[] = {
    {.emit = NULL},
};
/* clang-format on */
