/* What must hold for every solver on every problem: a legal answer, no better than the bound, the same
 * again for the same seed. And for the bound: never above the true optimum, found by trying everything. */
#include "support/random_problem.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { PROBLEMS = OFTEN(10000), MOST = 500 };

static struct problem_shape shape_of(struct rng *r, uint64_t seed)
{
    bool large = seed % 200 == 199;
    int32_t count = large ? MOST : (int32_t)rng_between(r, 0, random_chance(r, 50) ? 12 : 40);
    struct problem_shape s = {
        .count = count,
        .ticks = rng_between(r, 1,
                             large                  ? 300
                             : random_chance(r, 20) ? 3
                                                    : 40),
        .size_units = random_chance(r, 20) ? 1 : rng_between(r, 1, 60),
        .capacity_units = rng_between(r, 0, random_chance(r, 50) ? 60 : 400),
        .alignment = random_chance(r, 40)   ? 1
                     : random_chance(r, 50) ? 128
                                            : rng_between(r, 2, 7),
        .fixed_percent = random_chance(r, 30) ? (int)rng_between(r, 1, 50) : 0,
        .barred_percent = random_chance(r, 30) ? (int)rng_between(r, 1, 60) : 0,
    };
    return s;
}

static unsigned capability(enum lx_objective o)
{
    return o == LX_SPILL ? LX_CAN_SPILL : o == LX_FIT ? LX_CAN_FIT : LX_CAN_HEIGHT;
}

/* Those that search get few steps, and only small problems:
 * the test is of their answers, not of their speed. */
static bool is_searching(const struct lx_solver *s)
{
    return (s->caps & (LX_CAN_PROVE | LX_IS_SEEDED)) != 0;
}

#define MUST(what, ...)                                                                                      \
    do {                                                                                                     \
        if (!(what)) {                                                                                       \
            print_problem(p, seed);                                                                          \
            fail_msg(__VA_ARGS__);                                                                           \
        }                                                                                                    \
    } while (0)

static void check_solver(const struct lx_problem *p, const struct lx_solver *solver, uint64_t seed)
{
    static int64_t first[MOST], second[MOST];
    struct lx_answer a = {.address = first}, again = {.address = second};
    struct lx_run run = {.seed = seed, .work_limit = is_searching(solver) ? 2000 : 0};
    int64_t objective = -1, bound = -1;
    lx_status st = {0};
    MUST(lx_problem_solve(p, solver, &run, &a, &st), "%s: %s", solver->name, st.text);
    MUST(a.address == first && !strstr(a.message, "refused"), "%s: %s", solver->name, a.message);
    bound = lx_bound(p);
    if (p->objective == LX_HEIGHT && a.status == LX_LIMIT && is_searching(solver))
        return; /* stopped with nothing */
    MUST(a.status != LX_ERROR, "%s gave up: %s", solver->name, a.message);
    MUST(lx_problem_check(p, first, &objective, &st), "%s: %s", solver->name, st.text);
    MUST(objective == a.objective, "%s: objective %lld, really %lld", solver->name, (long long)a.objective,
         (long long)objective);
    MUST(a.bound >= bound && a.bound <= objective, "%s: bound %lld (ours %lld), objective %lld", solver->name,
         (long long)a.bound, (long long)bound, (long long)objective);
    if (p->objective != LX_FIT)
        MUST((a.status == LX_OPTIMAL) == (a.bound == objective), "%s: %s", solver->name,
             lx_verdict_word(a.status));
    MUST(lx_problem_solve(p, solver, &run, &again, &st), "%s: %s", solver->name, st.text);
    MUST(memcmp(first, second, (size_t)p->count * sizeof *first) == 0 && a.steps == again.steps &&
             a.status == again.status && a.bound == again.bound,
         "%s: two runs differ", solver->name);
}

static void every_solver_is_legal_and_deterministic(void **state)
{
    (void)state;
    int handed = 0;
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        struct rng r = rng_seed(seed);
        struct arena memory = {0};
        struct problem_shape shape = shape_of(&r, seed);
        struct lx_problem problem = random_problem(&r, &shape, (enum lx_objective)(seed % 3), &memory),
                          *p = &problem;
        if (p->objective == LX_HEIGHT) reconcile_fixed(p, &memory);
        for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
            if (!((*s)->caps & capability(p->objective))) continue;
            if (is_searching(*s) && (seed % 40 >= 3 || p->count > 12)) continue;
            check_solver(p, *s, seed);
        }
        for (int32_t i = 0; i < p->count; i++) handed += p->buffers[i].parent_count > 0;
        arena_free(&memory);
    }
    assert_true(handed > PROBLEMS); /* the generator makes in-place edges */
}

/* The best objective by trying every address for every buffer. */
struct search {
    const struct lx_problem *p;
    int64_t address[8], best;
};

static void try_all(struct search *s, int32_t i, int64_t value)
{
    const struct lx_problem *p = s->p;
    if (value >= s->best) return;
    if (i == p->count) {
        s->best = value;
        return;
    }
    const struct lx_buffer *b = &p->buffers[i];
    bool height = p->objective == LX_HEIGHT;
    int64_t step = b->alignment ? b->alignment : p->alignment;
    int64_t from = b->fixed >= 0 ? b->fixed : 0, last = (height ? s->best : p->capacity) - b->size;
    if (b->fixed >= 0) last = min_i64(last, b->fixed);
    for (int64_t at = from; at <= last && !b->reason; at += step) {
        bool legal = true;
        for (int32_t k = 0; k < i && legal; k++)
            legal = s->address[k] < 0 || pair_is_legal(p, i, at, k, s->address[k]);
        if (!legal) continue;
        s->address[i] = at;
        try_all(s, i + 1, height ? max_i64(value, at + b->size) : value);
    }
    s->address[i] = LX_OFF_CHIP;
    if (!height || b->reason) try_all(s, i + 1, height ? value : value + b->spill_cost);
}

static void bound_is_below_the_optimum(void **state)
{
    (void)state;
    int tight = 0, forced = 0;
    for (uint64_t seed = 0; seed < OFTEN(3000); seed++) {
        struct rng r = rng_seed(seed + 1000000);
        struct arena memory = {0};
        bool height = seed % 3 == 2;
        struct problem_shape shape = {.count = (int32_t)rng_between(&r, 1, height ? 6 : 7),
                                      .ticks = rng_between(&r, 1, 8),
                                      .size_units = rng_between(&r, 1, height ? 3 : 5),
                                      .capacity_units = rng_between(&r, 0, 8),
                                      .alignment = random_chance(&r, 50) ? 1 : rng_between(&r, 2, 5),
                                      .fixed_percent = random_chance(&r, 20) ? 20 : 0,
                                      .barred_percent = random_chance(&r, 20) ? 20 : 0};
        struct lx_problem problem = random_problem(&r, &shape, (enum lx_objective)(seed % 3), &memory),
                          *p = &problem;
        if (height) reconcile_fixed(p, &memory);
        /* One above anything: all costs, or for the height all sizes on top of the highest fixed end. */
        struct search s = {.p = p, .best = 1};
        for (int32_t i = 0; i < p->count; i++) {
            const struct lx_buffer *b = &p->buffers[i];
            int64_t step = b->alignment ? b->alignment : p->alignment;
            s.best += height ? 2 * round_up_i64(b->size, step) + step + max_i64(b->fixed, 0) : b->spill_cost;
        }
        int64_t most = s.best, bound = -1;
        lx_status st;
        try_all(&s, 0, 0);
        MUST(s.best < most, "no placement found at all");
        bound = lx_bound(p);
        MUST(bound >= 0 && bound <= s.best, "the bound %lld is above the optimum %lld", (long long)bound,
             (long long)s.best);
        tight += bound == s.best;
        forced += s.best > 0;
        for (const struct lx_solver *const *solver = lx_solvers(); *solver; solver++) {
            int64_t address[8];
            struct lx_answer a = {.address = address};
            struct lx_run run = {.work_limit = is_searching(*solver) ? 20000 : 0};
            if (!((*solver)->caps & capability(p->objective)) || (is_searching(*solver) && seed % 10 > 2))
                continue;
            MUST(lx_problem_solve(p, *solver, &run, &a, &st), "%s: %s", (*solver)->name, st.text);
            MUST(a.objective >= s.best, "%s found %lld, better than the optimum %lld", (*solver)->name,
                 (long long)a.objective, (long long)s.best);
            MUST(a.bound <= s.best, "%s proved %lld, above the optimum %lld", (*solver)->name,
                 (long long)a.bound, (long long)s.best);
            MUST(a.status != LX_OPTIMAL || p->objective == LX_FIT || a.objective == s.best,
                 "%s: a false optimum", (*solver)->name);
            if (p->objective == LX_FIT && a.status == LX_INFEASIBLE) {
                bool possible =
                    s.best == 0; /* all placed costs nothing, but so may buffers that cost nothing */
                for (int32_t i = 0; i < p->count; i++)
                    possible = possible && (p->buffers[i].spill_cost > 0 || p->buffers[i].reason);
                MUST(!possible, "%s: a false proof of infeasibility", (*solver)->name);
            }
        }
        arena_free(&memory);
    }
    assert_true(tight > OFTEN(3000) / 3 &&
                forced > OFTEN(3000) / 3); /* the bound says something, and there was something to say */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_solver_is_legal_and_deterministic),
        cmocka_unit_test(bound_is_below_the_optimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
