/* Questions of divisions and placement together (lx_joint_solve): what is taken has an answer, a choice for each
 * buffer, and no bound above it. */
#include "fuzz/fuzz_target.h"
#include "base/memory.h"
#include "lxplan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    lx_error *e = lx_error_new();
    lx_options *o = lx_options_new();
    char *text = fuzz_text(data, length);
    double objective = 0, bound = 0;
    lx_options_set(o, "work", "300", e);
    lx_result *r = lx_joint_solve(text, (int64_t)length, o, e);
    fuzz_must(r || *lx_error_text(e), "refused without a word", NULL);
    if (r) {
        lx_result_number(r, "objective", &objective);
        lx_result_number(r, "bound", &bound);
        fuzz_must(bound <= objective, "a bound is above its answer", NULL);
        for (int64_t i = 0; i < lx_result_count(r, "buffers"); i++)
            fuzz_must(lx_result_item_number(r, "buffers", i, "choice", &bound) == 0,
                      "a buffer without a choice", NULL);
    }
    lx_result_free(r);
    lx_options_free(o);
    lx_error_free(e);
    mem_free(text);
    return 0;
}
