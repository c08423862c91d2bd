/* The coverage report of an import as a table, on standard output. */
#ifndef LX_APP_COMMANDS_IMPORT_TABLE_H
#define LX_APP_COMMANDS_IMPORT_TABLE_H

#include "command.h"

bool show_import(struct call *call, const char *report);

#endif
