/* What the command line says about models of other compilers (TTIR, HLO, ONNX): of `import`, and of every command that
 * takes the file of a pattern. */
#ifndef LX_APP_PLANNING_MODEL_READING_H
#define LX_APP_PLANNING_MODEL_READING_H

#include "command.h"
#include "unstable.h"

extern const struct option_row model_rows[];

/* Constant once read, so that threads may share it; lists live as long as the command line. */
struct model_options {
    struct lx_import_options import;
    const char *given;               /* one of those that were given; NULL: none */
    const struct given_option *list; /* all of them, as they were given */
    int count;
    bool folders; /* files come from folders, where others may lie beside models */
};

/* False with `call->st`. */
bool read_model_options(struct call *call, struct model_options *o);
/* The name of one that was given, or NULL. */
const char *model_option_given(const struct call *call);

/* The graph of whatever the file is. Options with a file that is no model are an error, unless it is one of a folder: then it
 * is read as ever. `how` may be NULL. *report: of a model, as lx_model_import has it; `report` may be NULL. */
const struct lx_graph *graph_of_text(const struct model_options *how, const char *file, const char *text,
                                     size_t length, char **report, lx_status *st);
const struct lx_graph *graph_of_file(const struct model_options *how, const char *path, char **report,
                                     lx_status *st);
/* By the options of the call. */
const struct lx_graph *read_graph(struct call *call, const char *path);
const struct lx_graph *parse_graph(struct call *call, const char *file, const char *text, size_t length);

#endif
