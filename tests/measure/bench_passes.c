/* The passes beside brute force: tiny random graphs on one core, with little room on chip.
 *
 *     bench_passes evict|reorder|move|both|all [GRAPHS [FIRST_SEED]]
 *
 * One line per graph that is not best, whose bound is above the best, or whose bound is not the best; then the sums. */
#include "support/tiny_plan.h"

#include <inttypes.h>

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "evict";
    int graphs = argc > 2 ? atoi(argv[2]) : 120, first = argc > 3 ? atoi(argv[3]) : 1;
    struct tiny_sums sums = {0};
    for (int seed = first; sums.graphs < graphs && seed < first + 100 * graphs; seed++) {
        struct tiny_result r;
        if (!tiny_try((uint64_t)seed, tiny_passes(what), &r)) continue;
        tiny_add(&sums, &r);
        if (r.plan != r.best || r.bound != r.best)
            printf("seed %d: plan %" PRId64 ", best %" PRId64 ", bound %" PRId64 ", without %" PRId64 "\n", seed, r.plan,
                   r.best, r.bound, r.plain);
    }
    printf("%s: %d graphs, %d with a gain, %d best, %d proved, %d bounds too high, %d worse than without\n", what,
           sums.graphs, sums.gains, sums.best, sums.proved, sums.wrong, sums.worse);
    return sums.best != sums.graphs || sums.wrong > 0;
}
