/* Core ranges: the launched cores as rectangles of the grid, each core in one of them.
 *
 * Runs of neighbours in a row; a run that the next rows repeat, between the same columns, grows downwards. */
#include "launch/launch.h"
#include "base/memory.h"

#include <stdlib.h>

static bool row_has(const char *launched, const struct lx_launch *l, int64_t y, int64_t x, int64_t width)
{
    if (y >= l->core_grid[0]) return false;
    for (int64_t i = 0; i < width; i++)
        if (!launched[y * l->core_grid[1] + x + i]) return false;
    return true;
}

struct lx_core_range *lx_launch_ranges(const struct lx_launch *l, int *count)
{
    int64_t all = l->core_grid[0] * l->core_grid[1];
    char *launched = mem_zeroed((size_t)all + 1, 1);
    struct lx_core_range *ranges = mem_zeroed((size_t)l->core_count + 1, sizeof *ranges);
    *count = 0;
    for (int32_t i = 0; launched && i < l->core_count; i++)
        if (l->cores[i].y >= 0 && l->cores[i].y < l->core_grid[0] && l->cores[i].x >= 0 &&
            l->cores[i].x < l->core_grid[1])
            launched[l->cores[i].y * l->core_grid[1] + l->cores[i].x] = 1;
    for (int64_t c = 0; launched && ranges && c < all; c++)
        if (launched[c]) {
            /* The rectangle whose first core is [y, x]; its cores are taken. */
            int64_t y = c / l->core_grid[1];
            int64_t x = c % l->core_grid[1];
            int64_t width = 1, height = 1;
            while (x + width < l->core_grid[1] && launched[y * l->core_grid[1] + x + width]) width++;
            while (row_has(launched, l, y + height, x, width)) height++;
            for (int64_t i = 0; i < height; i++)
                for (int64_t k = 0; k < width; k++) launched[(y + i) * l->core_grid[1] + x + k] = 0;
            ranges[(*count)++] = (struct lx_core_range){y, x, height, width};
        }
    mem_free(launched);
    return ranges;
}
