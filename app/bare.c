/* In place of the commands that need cJSON, where the program is built from libc alone (LXPLAN_BARE). */
#include "base/fail.h"
#include "command.h"

static int bare_run(struct call *call)
{
    return status_set(
               &call->st, LX_E_UNSUPPORTED,
               "this program was built without cJSON, which %s needs; build it without -DLXPLAN_BARE=ON",
               call->command->name),
           FAILED;
}

static const struct option_row *const tables[] = {NULL};

const struct command command_bench = {
    .name = "bench",
    .synopsis = "FILE|DIR ...",
    .summary = "Compare solvers (not in this build: it needs cJSON)",
    .options = tables,
    .most_files = 1 << 20,
    .file_word = "FILE",
    .open = true,
    .run = bare_run,
};

const struct command command_report = {
    .name = "report",
    .synopsis = "RESULTS ...",
    .summary = "Read results of bench (not in this build: it needs cJSON)",
    .options = tables,
    .most_files = 1 << 20,
    .file_word = "RESULTS",
    .open = true,
    .run = bare_run,
};
