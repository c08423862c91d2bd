/* Alignments that do not divide each other: 2 beside 3, 96 beside 128. Two buffers of such alignments may
 * share a slot at a common multiple, of which 0 is one. Every solver that proves is held against brute force
 * on random problems of up to 5 buffers with handovers and fixed addresses, and on two that were answered
 * wrongly once because a model had left such a handover out. */
#include "base/checked.h"
#include "solvers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "support/problem_builder.h"
#include "support/small_problem.h"
#include "support/sampled.h"

enum { ROUNDS = OFTEN(3000), LARGER_ROUNDS = OFTEN(300), SOLVERS = 4, MOST_OPTIONS = 32 };

static const struct lx_solver *const solvers[SOLVERS] = {&lx_solver_ilp, &lx_solver_exact, &lx_solver_auto,
                                                         &lx_solver_anneal};

/* `start_steps`: how much annealing ilp may do before its model is asked; 0: as much as it likes. */
static struct lx_answer answer_of(const struct lx_solver *solver, const struct lx_problem *p,
                                  int64_t start_steps, int64_t *address)
{
    struct lx_answer a = {.address = address};
    int64_t options[MOST_OPTIONS];
    struct lx_run run = {.seed = 1, .options = options, .work_limit = solver == &lx_solver_anneal ? 500 : 0};
    lx_status st;
    assert_true(solver->option_count <= MOST_OPTIONS);
    for (int i = 0; i < solver->option_count; i++) {
        options[i] = solver->options[i].def;
        if (start_steps && strcmp(solver->options[i].name, "start-steps") == 0) options[i] = start_steps;
    }
    if (!lx_problem_solve(p, solver, &run, &a, &st)) fail_msg("%s: %s", solver->name, st.text);
    return a;
}

/* Is what the solver says true? `best` is small_optimum's. */
static void assert_true_claims(const struct lx_solver *solver, const struct lx_problem *p,
                               const struct lx_answer *a, int64_t best, int round)
{
    bool proved = a->status == LX_OPTIMAL, wrong = a->status == LX_ERROR;
    if (p->objective == LX_FIT)
        wrong |= best == 0 ? a->status == LX_INFEASIBLE : proved;
    else
        wrong |= a->objective < best || a->bound > best || (proved && a->objective != best) ||
                 a->status == LX_INFEASIBLE;
    if (wrong)
        fail_msg("round %d: %s says %s, %s %lld, bound %lld; the optimum is %lld", round, solver->name,
                 lx_verdict_word(a->status), lx_objective_word(p->objective), (long long)a->objective,
                 (long long)a->bound, (long long)best);
}

static bool is_proved(const struct lx_answer *a)
{
    return a->status == LX_OPTIMAL || a->status == LX_INFEASIBLE;
}

/* All lengths times `factor`, so that 3 and 4 become 96 and 128. */
static void scale(struct small *s, int64_t factor)
{
    s->problem.alignment *= factor;
    s->problem.capacity *= factor;
    for (int32_t i = 0; i < s->problem.count; i++) {
        s->buffer[i].size *= factor;
        if (s->buffer[i].fixed > 0) s->buffer[i].fixed *= factor;
        s->buffer[i].alignment *= factor;
    }
}

static void mixed_problem(struct small *s, struct rng *r, int32_t count, enum lx_objective objective)
{
    static const int64_t multiples[] = {1, 2, 3, 4, 5, 6, 8, 10, 12};
    small_random(s, r, count, objective);
    for (int32_t i = 0; i < count; i++) {
        struct lx_buffer *b = &s->buffer[i];
        b->alignment = s->problem.alignment * multiples[rng_below(r, sizeof multiples / sizeof *multiples)];
        if (b->fixed >= 0) b->fixed = rng_between(r, 0, 1) * b->alignment;
    }
    s->problem.capacity += rng_between(r, 0, 6) * s->problem.alignment;
    if (rng_below(r, 4) == 0) scale(s, 32);
}

static bool divide_each_other(int64_t a, int64_t b)
{
    return a % b == 0 || b % a == 0;
}

/* Without the handovers this test is about: whether they matter. */
static int64_t optimum_without(const struct small *s)
{
    struct small t = *s;
    t.problem.buffers = t.buffer;
    for (int32_t i = 0; i < t.problem.count; i++) {
        struct lx_buffer *b = &t.buffer[i];
        int32_t kept = 0;
        for (int32_t k = 0; k < b->parent_count; k++)
            if (divide_each_other(b->alignment, t.buffer[b->parents[k]].alignment))
                t.parents[i][kept++] = b->parents[k];
        b->parents = t.parents[i];
        b->parent_count = kept;
    }
    return small_optimum(&t.problem);
}

static void test_random_mixtures(void **state)
{
    (void)state;
    struct rng rng = rng_seed(96128);
    int proved[SOLVERS] = {0}, matters = 0, asked = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct small s;
        int64_t address[SMALL_MAX];
        mixed_problem(&s, &rng, (int32_t)rng_between(&rng, 2, 5), (enum lx_objective)(round % 3));
        int64_t best = small_optimum(&s.problem);
        bool possible = best != INT64_MAX; /* fixed addresses may exclude each other: then no height exists */
        asked += possible;
        matters += possible && optimum_without(&s) != best;
        for (int k = 0; k < SOLVERS && possible; k++) {
            struct lx_answer a = answer_of(solvers[k], &s.problem, round / 3 % 2, address);
            assert_true_claims(solvers[k], &s.problem, &a, best, round);
            proved[k] += is_proved(&a);
        }
    }
    print_message("%d problems, of %d the handovers matter; proved: ilp %d, exact %d, auto %d, anneal %d\n",
                  asked, matters, proved[0], proved[1], proved[2], proved[3]);
    assert_true(matters > ROUNDS / 50);
    assert_true(proved[0] > asked * 99 / 100);
    assert_true(proved[1] > asked * 99 / 100);
}

/* Too large for brute force: whatever one of the two proves, the other's answer must not refute. */
static void test_provers_agree(void **state)
{
    (void)state;
    struct rng rng = rng_seed(128096);
    int both = 0;
    for (int round = 0; round < LARGER_ROUNDS; round++) {
        struct small s;
        struct lx_answer a[2];
        int64_t address[2][SMALL_MAX];
        mixed_problem(&s, &rng, (int32_t)rng_between(&rng, 6, 14), (enum lx_objective)(round % 3));
        s.problem.capacity += rng_between(&rng, 0, 12) * s.problem.alignment;
        for (int k = 0; k < 2; k++) a[k] = answer_of(solvers[k], &s.problem, 1, address[k]);
        bool settled = is_proved(&a[0]) && is_proved(&a[1]);
        both += settled;
        if (settled) assert_int_equal(a[0].status, a[1].status);
        if (s.problem.objective == LX_FIT) continue;
        assert_true(a[0].bound <= a[1].objective && a[1].bound <= a[0].objective);
        if (settled) assert_int_equal(a[0].objective, a[1].objective);
    }
    print_message("both proved %d of %d\n", both, LARGER_ROUNDS);
    assert_true(both > LARGER_ROUNDS * 8 / 10);
}

/* The optimum of the given height; one unit less does not fit, and something must be spilled. */
static void assert_height(struct lx_problem p, int64_t height)
{
    int64_t address[SMALL_MAX];
    for (int k = 0; k < SOLVERS; k++) {
        p.objective = LX_HEIGHT;
        struct lx_answer a = answer_of(solvers[k], &p, 0, address);
        assert_int_equal(a.objective, height);
        for (int less = 0; less < 2; less++) {
            p.capacity = height - less;
            for (int spill = 0; spill < 2; spill++) {
                p.objective = spill ? LX_SPILL : LX_FIT;
                a = answer_of(solvers[k], &p, 0, address);
                assert_true_claims(solvers[k], &p, &a, small_optimum(&p), 0);
                if (solvers[k]->caps & LX_CAN_PROVE) assert_true(is_proved(&a));
            }
        }
    }
}

/* A child of the first alignment that may take over the slot of a parent of the second. */
static struct problem_builder two_buffers(int64_t child, int64_t parent)
{
    struct problem_builder list = problem_begin(LX_HEIGHT, 100, 1);
    problem_add(&list, 1, 3, 7, 2)->alignment = child;
    problem_add(&list, 1, 2, 4, 3)->alignment = parent;
    problem_uses(&list, 0, 3, 4);
    problem_uses(&list, 1, 2, 3);
    problem_parent(&list, 0, 1);
    return list;
}

static void test_two_buffers(void **state)
{
    (void)state;
    struct problem_builder list = two_buffers(6, 8);
    assert_height(list.problem, 1);
    problem_end(&list);
}

/* A chain of three, the last two of 8 and 6. */
static void test_five_buffers(void **state)
{
    (void)state;
    struct problem_builder list = problem_begin(LX_HEIGHT, 1, 2);
    problem_add(&list, 2, 2, 3, 1);
    problem_add(&list, 2, 3, 7, 4)->alignment = 6;
    problem_add(&list, 2, 2, 4, 2)->alignment = 8;
    problem_add(&list, 5, 3, 5, 15);
    problem_add(&list, 3, 0, 3, 10);
    problem_uses(&list, 1, 3, 4);
    problem_uses(&list, 2, 2, 3);
    problem_uses(&list, 4, 0, 1);
    problem_parent(&list, 1, 2);
    problem_parent(&list, 2, 4);
    assert_height(list.problem, 7);
    problem_end(&list);
}

/* Their least common multiple but 0 does not fit into 64 bits. */
static void test_widest_alignments(void **state)
{
    (void)state;
    int64_t address[SMALL_MAX];
    struct problem_builder list = two_buffers(LX_INT_MAX / 2 - 1, LX_INT_MAX / 2 - 3);
    for (int k = 0; k < SOLVERS; k++) {
        struct lx_answer a = answer_of(solvers[k], &list.problem, 0, address);
        assert_true_claims(solvers[k], &list.problem, &a, 1, 0);
    }
    problem_end(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_buffers),       cmocka_unit_test(test_five_buffers),
        cmocka_unit_test(test_widest_alignments), cmocka_unit_test(test_random_mixtures),
        cmocka_unit_test(test_provers_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
