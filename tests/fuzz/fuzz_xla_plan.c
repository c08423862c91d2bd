/* The two texts of a plan of XLA's memory-space assignment, bufferinfo and allocinfo, with an empty line between them: what
 * is found legal without a capacity stays legal in the height that was found, and is not in less. */
#include "fuzz/fuzz_target.h"
#include "base/memory.h"
#include "check/check_xla.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    lx_status st = {0};
    struct lx_xla_report report, again;
    char *text = fuzz_text(data, length), *border = memmem(text, length, "\n\n", 2);
    size_t first = border ? (size_t)(border - text) + 1 : length;
    char *second = fuzz_text(data + first + (border != NULL), length - first - (border != NULL));
    struct lx_xla_text bufferinfo = {"bufferinfo", text, first},
                       allocinfo = {"allocinfo", second, length - first - (border != NULL)};
    lx_is_allocinfo(second, allocinfo.length);
    if (!lx_check_xla(&bufferinfo, &allocinfo, -1, &report, &st)) {
        fuzz_refused(&st);
    } else {
        int64_t height = report.height_bytes;
        fuzz_must(lx_check_xla(&bufferinfo, &allocinfo, height, &again, &st), "not legal in its own height",
                  &st);
        fuzz_must(height == 0 || !lx_check_xla(&bufferinfo, &allocinfo, height - 1, &again, &st),
                  "legal in less than its own height", NULL);
    }
    mem_free(second);
    mem_free(text);
    return 0;
}
