/* Ops of the table that choose by indices: gathers, scatters, caches, the largest of many. */
#include "graph/import/import_steps.h"

/* clang-format off */
const struct op_row import_index_rows[] = {
    {.emit = NULL},
};
/* clang-format on */
