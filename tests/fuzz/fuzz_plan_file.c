/* Plan files, and what is kept of them: what is read and legal is the same when it is written and read again, runs as it
 * says, is exported in every format, and explained. What is not legal is refused with words. */
#include "fuzz/fuzz_target.h"
#include "base/memory.h"
#include "fuzz/whole_road.h"

static void export_all(const struct lx_plan *p)
{
    struct lx_export row;
    for (int i = 0; lx_export_at(i, &row); i++) {
        lx_status st = {0};
        size_t n;
        char *out = lx_export_write(p, NULL, row.name, &n, &st);
        if (!out) fuzz_refused(&st);
        mem_free(out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    lx_status st = {0};
    char *text = fuzz_text(data, length);
    struct lx_plan *p = lx_plan_of_text("fuzz", text, length, &st);
    if (!p) {
        fuzz_refused(&st);
    } else if (!lx_plan_check(p, &st)) {
        fuzz_refused(&st);
    } else {
        fuzz_plan_again(p);
        fuzz_run(p);
        export_all(p);
    }
    lx_plan_free(p);
    mem_free(text);
    return 0;
}
