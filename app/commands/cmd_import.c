/* lxplan import: a buffer list of another tool becomes a pattern. */
#include "command.h"
#include "base/fail.h"
#include "base/checked.h"

static const struct option_row rows[] = {
    {"capacity", 0, "BYTES",
     "the scratchpad that the buffers must share (default: the number in the name of the file, "
     "as in NAME.1048576.csv; without one the least height is asked for)"},
    {0},
};

static int run(struct call *call)
{
    int64_t capacity = -1;
    size_t length = 0;
    if (!option_int(call, "capacity", 0, LX_INT_MAX, &capacity)) return FAILED;
    const struct lx_graph *g = lx_graph_read(call->line.files.at[0], &call->st);
    if (!g) return FAILED;
    if (!g->is_list) {
        status_set_at(&call->st, LX_E_USAGE, g->file, 0, 0,
                      "a pattern with tensors and ops; import takes buffer lists");
        lx_graph_free(g);
        return FAILED;
    }
    const struct lx_graph *list =
        capacity < 0 ? lx_graph_ref(g) : lx_graph_with_capacity(g, capacity, &call->st);
    char *json = list ? lx_graph_to_json(list, &length) : NULL;
    lx_graph_free(g);
    bool ok = list != NULL;
    lx_graph_free(list);
    return ok && deliver(call, json, length) ? EXIT_YES : FAILED;
}

static const struct option_row *const tables[] = {rows, output_rows, json_error_rows, help_rows, NULL};

const struct command command_import = {
    .name = "import",
    .synopsis = "FILE.csv [--capacity BYTES] [-o FILE.json]",
    .summary = "Turn a buffer list (MiniMalloc or XLA CSV) into a pattern",
    .details = "MiniMalloc: id,lower,upper,size with upper exclusive, and optional columns offset (a fixed "
               "address),\n"
               "alignment and weight (the cost of being off chip; without it the size). XLA: the "
               "memory-space dump with\n"
               "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,is_scoped.\n",
    .options = tables,
    .least_files = 1,
    .most_files = 1,
    .file_word = "FILE",
    .run = run,
};
