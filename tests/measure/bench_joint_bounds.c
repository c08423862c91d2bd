/* Bounds over all divisions of random graphs, under all passes, against real drafts.
 *
 *     build/bin/bench_joint_bounds [GRAPHS [DRAFTS [FIRST_SEED]]]
 *
 * Exit status 1: a draft moves less than a bound says. */
#include "support/joint_bounds.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int graphs = argc > 1 ? atoi(argv[1]) : 400, drafts = argc > 2 ? atoi(argv[2]) : 8;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    struct joint_bounds all = {.print = true};
    for (int k = 0; k < graphs; k++) try_graph(first + (uint64_t)k, drafts, &all);
    printf(
        "%d graphs, %d drafts: %d below the bound of all divisions, %d below that of their own, %d at it\n",
        all.graphs, all.drafts, all.above_all, all.above_fixed, all.met_fixed);
    return all.above_all + all.above_fixed > 0;
}
