/* Files as graphs, whatever format they have: for the commands and for the explorer, which has no command line. */
#include "planning/model_reading.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

const struct lx_graph *graph_of_text(const struct model_options *how, const char *file, const char *text,
                                     size_t length, char **report, lx_status *st)
{
    if (!how || !(how->given || (how->import.team && lx_model_sniff(text, length))))
        return lx_graph_of_text(file, text, length, st);
    if (lx_model_sniff(text, length)) return lx_model_import(file, text, length, &how->import, report, st);
    if (how->folders) return lx_graph_of_text(file, text, length, st);
    status_set_at(st, LX_E_USAGE, file, 0, 0,
                  "--%s says how a model (TTIR, HLO or ONNX) is imported, and this is none; leave it out",
                  how->given);
    return NULL;
}

const struct lx_graph *graph_of_file(const struct model_options *how, const char *path, char **report,
                                     lx_status *st)
{
    size_t length;
    char *text = file_read(path, &length, st);
    if (!text) return NULL;
    const char *file = strcmp(path, "-") == 0 ? "standard input" : path;
    const struct lx_graph *g = graph_of_text(how, file, text, length, report, st);
    mem_free(text);
    return g;
}
