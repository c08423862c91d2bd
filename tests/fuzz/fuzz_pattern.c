/* Patterns as JSON: what is read can be written and read again as the same; what can be planned has a plan that the checker
 * accepts, and that its own file gives again. */
#include "fuzz/fuzz_target.h"
#include "base/memory.h"
#include "fuzz/whole_road.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    lx_status st = {0};
    char *text = fuzz_text(data, length);
    const struct lx_graph *g = lx_graph_of_text("fuzz", text, length, &st);
    if (g)
        fuzz_graph(g);
    else
        fuzz_refused(&st);
    lx_graph_free(g);
    mem_free(text);
    return 0;
}
