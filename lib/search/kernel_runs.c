#include "search/kernel_runs.h"

struct kernel_run kernel_run_at(const struct lx_nest *nests, int32_t nest_count, int32_t first, int32_t end)
{
    struct kernel_run k = {first, first + 1, nest_runs(nests, nest_count, first)};
    if (nest_of_op(nests, nest_count, first) >= 0) return k;
    while (k.end < end && nest_of_op(nests, nest_count, k.end) < 0) k.end++;
    return k;
}
