/* What the command line says about models that are imported. */
#ifndef LX_APP_COMMANDS_IMPORT_MODELS_H
#define LX_APP_COMMANDS_IMPORT_MODELS_H

#include "command.h"
#include "lxplan.h"

extern const struct option_row model_rows[];

/* import_table.c: the report as a table, on standard output. */
bool show_import(struct call *call, const char *report);

/* The model as a graph, and its report where one is asked for. NULL: call->st says why. */
const struct lx_graph *import_model_file(struct call *call, const char *file, const char *text,
                                         size_t length);

#endif
