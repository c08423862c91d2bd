/* The person's own file of the explorer (theme, keys, settings): read, or refused with words and a place. */
#include "fuzz/in_process.h"
#include "tui/core/main_loop.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct config c;
    lx_status st = {0};
    fuzz_enter();
    fuzz_put("config", (const char *)data, length);
    if (!config_read("config", &c, &st)) fuzz_refused(&st);
    return 0;
}
