/* The passes beside brute force: tiny random graphs on one core, with little room on chip; and the bounds of all
 * combinations beside plans of larger ones.
 *
 *     bench_passes evict|reorder|both|move|evict_move|all|bounds [GRAPHS [FIRST_SEED]]
 *
 * One line per graph that is not best, whose bound is above the best, or whose bound is not the best; then the sums. */
#include "support/pass_bounds.h"
#include "support/tiny_plan.h"

#include <inttypes.h>

static int compare_bounds(int graphs, int first)
{
    int wrong = 0, done = 0, plans = 0, proved = 0, moves = 0;
    char text[300];
    for (int seed = first; done < graphs && seed < first + 10 * graphs; seed++) {
        struct pass_plans p = {0};
        lx_status st = {0};
        if (!pass_try((uint64_t)seed, &p, &st)) {
            if (st.code == LX_E_NO) printf("seed %d: %s\n", seed, st.text);
            continue;
        }
        done++;
        plans += p.plans;
        proved += p.proved;
        moves += p.moves;
        if (!pass_contradiction(&p, text, sizeof text)) continue;
        wrong++;
        printf("seed %d: %s\n", seed, text);
    }
    printf("bounds: %d graphs, %d plans, %d proved, %d moves, %d contradictions\n", done, plans, proved,
           moves, wrong);
    return wrong > 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "evict";
    int graphs = argc > 2 ? atoi(argv[2]) : 120, first = argc > 3 ? atoi(argv[3]) : 1;
    struct tiny_sums sums = {0};
    if (strcmp(what, "bounds") == 0) return compare_bounds(graphs, first);
    for (int seed = first; sums.graphs < graphs && seed < first + 100 * graphs; seed++) {
        struct tiny_result r;
        if (!tiny_try((uint64_t)seed, tiny_passes(what), &r)) continue;
        tiny_add(&sums, &r);
        if (r.plan != r.best || r.bound != r.best)
            printf("seed %d: plan %" PRId64 ", best %" PRId64 ", bound %" PRId64 ", without %" PRId64 "\n",
                   seed, r.plan, r.best, r.bound, r.plain);
    }
    printf("%s: %d graphs, %d with a gain, %d best, %d proved, %d bounds too high, %d worse than without\n",
           what, sums.graphs, sums.gains, sums.best, sums.proved, sums.wrong, sums.worse);
    return sums.best != sums.graphs || sums.wrong > 0;
}
