/* Log lines as "pass     what it says", written at once: a crash must not swallow the line that explains it. */
#include "log_lines.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/memory.h"
#include "text/format.h"

#include <stdio.h>
#include <stdlib.h>

static const char remedy[] = "this lxplan was built without a log; configure with -DLXPLAN_LOGGING=ON";

static void print_line(void *context, const char *pass, const char *line)
{
    char *clean = printable(line, 0);
    (void)context;
    fprintf(stderr, "%-10s %s\n", pass, clean ? clean : "(out of memory)");
    mem_free(clean);
}

bool begin_log(struct call *call)
{
    bool by_option = option_given(&call->line, "log");
    const char *wish = getenv("LXPLAN_LOG");
    if (!by_option && !(wish && *wish)) return true;
    if (log_to(print_line, NULL)) return true;
    log_to(NULL, NULL);
    if (by_option) return status_set(&call->st, LX_E_USAGE, "--log: %s", remedy);
    note(call, "LXPLAN_LOG is set, but %s", remedy);
    return true;
}
