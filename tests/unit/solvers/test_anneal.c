/* The annealing: its incremental decoder against a full decode, and the answers against the checker, brute
 * force and themselves. */
#include "anneal/decode.h"
#include "anneal/annealing.h"
#include "base/checked.h"
#include "base/memory.h"
#include "common/first_answers.h"
#include "support/small_problem.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

extern const struct lx_solver lx_solver_anneal;

static struct lx_answer run_on(const struct lx_problem *p, const struct lx_run *run, int64_t *address)
{
    struct lx_answer answer = {.address = address};
    lx_status st;
    if (!lx_problem_solve(p, &lx_solver_anneal, run, &answer, &st)) fail_msg("%s", st.text);
    if (answer.status == LX_ERROR) fail_msg("%s", answer.message);
    return answer;
}

/* Decodes everything by the definition, item by item in key order, with none of the decoder's lists. */
static void decode_by_definition(const struct decoder *d, int64_t *base, int64_t *top)
{
    int32_t n = d->it->count;
    bool *done = mem_zeroed((size_t)n + 1, sizeof *done);
    for (int32_t i = 0; i < n; i++) top[i] = 0;
    for (;;) {
        int32_t root = NO_ITEM;
        for (int32_t i = 0; i < n; i++)
            if (!done[i] && d->donor[i] == NO_ITEM && (root == NO_ITEM || d->cell[i].key < d->cell[root].key))
                root = i;
        if (root == NO_ITEM) break;
        int64_t support = 0, align = 1, fixed = -1;
        for (int32_t m = root; m != NO_ITEM; m = d->heir[m]) {
            const struct item *b = &d->it->item[m];
            for (int32_t k = 0; k < n; k++) {
                const struct item *o = &d->it->item[k];
                if (done[k] && o->start < b->end && b->start < o->end && top[k] > support) support = top[k];
            }
            align = lcm_i64(align, b->align);
            if (b->fixed >= 0) fixed = b->fixed;
        }
        int64_t at = fixed >= 0 ? (support > fixed ? support : fixed) : (support + align - 1) / align * align;
        for (int32_t m = root; m != NO_ITEM; m = d->heir[m]) {
            done[m] = true;
            bool bad = at > d->last[m] || (fixed >= 0 && support > fixed);
            base[m] = bad ? NOT_PLACED : at;
            top[m] = bad && d->evicting ? 0 : at + d->it->item[m].size;
        }
    }
    mem_free(done);
}

static void assert_decoded(struct decoder *d, int64_t *saved)
{
    int64_t base[SMALL_MAX], top[SMALL_MAX], penalty = 0, spilled = 0;
    int32_t off = 0;
    decode_by_definition(d, base, top);
    decoder_save(d, saved);
    for (int32_t i = 0; i < d->it->count; i++) {
        assert_int_equal(saved[i], base[i]);
        assert_int_equal(d->cell[i].top, top[i]);
        penalty += d->item_penalty[i];
        if (base[i] < 0) {
            spilled += d->it->item[i].cost;
            off++;
        }
    }
    assert_int_equal(d->penalty, penalty);
    assert_int_equal(d->spilled, spilled);
    assert_int_equal(d->off.count, off);
}

static void test_incremental_is_full_decode(void **state)
{
    (void)state;
    struct rng rng = rng_seed(21);
    const struct move_mix mix = {400, 400, 300, 300, 500, 0};
    for (int round = 0; round < OFTEN(150); round++) {
        struct small s;
        struct items it;
        struct decoder d;
        int64_t base[SMALL_MAX], saved[SMALL_MAX];
        small_dense(&s, &rng, (int32_t)rng_between(&rng, 2, 30), LX_SPILL, 12, 9, rng_between(&rng, 5, 40));
        for (int32_t i = 0; round % 3 == 0 && i < s.problem.count; i++)
            if (s.buffer[i].fixed < 0) s.buffer[i].alignment = s.problem.alignment * rng_between(&rng, 1, 4);
        items_make(&it, &s.problem, 1000, NULL);
        if (it.count > 0) {
            decoder_make(&d, &it, round % 2 == 0);
            for (int32_t i = 0; i < it.count; i++) {
                d.fee[i] = d.evicting ? it.item[i].cost * 1000 + 1 : 0;
                d.slope[i] = 1 + round % 3;
            }
            start_by_score(&it, NULL, NULL, base);
            decoder_load(&d, base);
            decoder_decode_all(&d);
            assert_decoded(&d, saved);
            for (int move = 0; move < 60; move++) {
                struct cell before[SMALL_MAX];
                int64_t energy = d.penalty;
                memcpy(before, d.cell, (size_t)it.count * sizeof *before);
                bool tight = rng_below(&rng, 3) == 0;
                d.ceiling = tight ? energy + rng_between(&rng, 0, 5000) : INT64_MAX;
                try_move(&d, &mix, &rng);
                if (!d.hopeless) assert_decoded(&d, saved);
                if (d.hopeless || rng_below(&rng, 2)) {
                    decoder_undo(&d);
                    assert_int_equal(d.penalty, energy);
                    assert_memory_equal(before, d.cell, (size_t)it.count * sizeof *before);
                    assert_decoded(&d, saved);
                }
            }
            arena_free(&d.memory);
        }
        arena_free(&it.memory);
    }
}

static void test_answers_are_legal_and_good(void **state)
{
    (void)state;
    struct rng rng = rng_seed(22);
    int same = 0, rounds = 400;
    for (int round = 0; round < rounds; round++) {
        struct small s;
        int64_t address[SMALL_MAX];
        enum lx_objective objective = (enum lx_objective)(round % 3);
        small_dense(&s, &rng, (int32_t)rng_between(&rng, 1, 6), objective, 6, 5, rng_between(&rng, 4, 10));
        struct lx_run run = {.seed = 7, .work_limit = 2000};
        struct lx_answer a = run_on(&s.problem, &run, address);
        int64_t best = brute_force(&s.problem, objective == LX_HEIGHT ? 30 : s.problem.capacity);
        if (objective == LX_FIT) {
            assert_true(best == 0 || a.status == LX_LIMIT || a.status == LX_INFEASIBLE);
            same += (best == 0) == (a.status == LX_OPTIMAL);
        } else {
            assert_true(a.objective >= best);
            same += a.objective == best;
        }
    }
    assert_true(same >= rounds * 98 / 100);
}

static void test_larger_are_legal(void **state)
{
    (void)state;
    struct rng rng = rng_seed(23);
    for (int round = 0; round < OFTEN(150); round++) {
        struct small s;
        int64_t address[SMALL_MAX];
        small_dense(&s, &rng, 32, (enum lx_objective)(round % 3), 30, 60, rng_between(&rng, 40, 200));
        struct lx_run run = {.seed = (uint64_t)round, .work_limit = 3000};
        run_on(&s.problem, &run, address);
    }
}

static void test_seed_decides(void **state)
{
    (void)state;
    struct rng rng = rng_seed(24);
    for (int round = 0; round < 20; round++) {
        struct small s;
        int64_t address[SMALL_MAX], again[SMALL_MAX];
        small_dense(&s, &rng, 32, LX_SPILL, 30, 60, 90);
        struct lx_run run = {.seed = (uint64_t)round, .work_limit = 5000};
        struct lx_answer a = run_on(&s.problem, &run, address), b = run_on(&s.problem, &run, again);
        assert_memory_equal(address, again, sizeof address);
        assert_int_equal(a.steps, b.steps);
    }
}

static void test_never_below_the_incumbent(void **state)
{
    (void)state;
    struct rng rng = rng_seed(25);
    struct small s;
    int64_t address[SMALL_MAX], again[SMALL_MAX];
    small_dense(&s, &rng, 32, LX_SPILL, 30, 60, 90);
    struct lx_run run = {.seed = 3, .work_limit = 50000};
    struct lx_answer a = run_on(&s.problem, &run, address);
    struct lx_run shorter = {.seed = 4, .work_limit = 1, .incumbent = address};
    assert_true(run_on(&s.problem, &shorter, again).objective <= a.objective);
}

static bool stop_at_once(void *context)
{
    ++*(int *)context;
    return true;
}

static void test_stops(void **state)
{
    (void)state;
    struct rng rng = rng_seed(26);
    struct small s;
    int64_t address[SMALL_MAX];
    int asked = 0;
    small_dense(&s, &rng, 32, LX_SPILL, 10, 60, 60);
    struct lx_run run = {.stop = stop_at_once, .context = &asked};
    struct lx_answer a = run_on(&s.problem, &run, address);
    assert_true(asked > 0);
    assert_int_equal(a.steps, 0);
}

/* -ln(u) has mean 1: so has the allowance at temperature 2^20, in units of it. */
static void test_allowance_is_exponential(void **state)
{
    (void)state;
    struct schedule s;
    struct rng rng = rng_seed(27);
    cooling_make(&s);
    schedule_heat(&s, 1 << 20, 1, 1000);
    int64_t sum = 0, above = 0;
    for (int i = 0; i < 100000; i++) {
        int64_t allowance = schedule_allowance(&s, rng_next(&rng));
        sum += allowance;
        above += allowance > 1 << 20;
    }
    assert_in_range(sum / 100000, (1 << 20) * 99 / 100, (1 << 20) * 101 / 100);
    assert_in_range(above, 36000, 37600); /* exp(-1) = 0.368 */
    while (schedule_spend(&s, 1)) continue;
    assert_in_range(s.now, 1, 8);
}

/* A hundred thousand buffers, first with few conflicts, then with more than any list should hold. */
static void test_large_stays_bounded(void **state)
{
    (void)state;
    int32_t n = SAMPLED ? 30000 : 100000;
    struct rng rng = rng_seed(28);
    struct lx_buffer *b = mem_zeroed((size_t)n, sizeof *b);
    int64_t *address = mem_alloc((size_t)n * sizeof *address);
    for (int dense = 0; dense < 2; dense++) {
        for (int32_t i = 0; i < n; i++) {
            b[i].name = "b";
            b[i].size = rng_between(&rng, 1, 1000);
            b[i].start = rng_between(&rng, 0, dense ? 1000 : n);
            b[i].end = b[i].start + rng_between(&rng, 1, dense ? 1000 : 20);
            b[i].fixed = -1;
            b[i].spill_cost = b[i].size * rng_between(&rng, 1, 4);
        }
        struct lx_problem p = {.objective = LX_SPILL,
                               .capacity = dense ? 1000000 : 3000,
                               .alignment = 1,
                               .count = n,
                               .buffers = b};
        struct lx_run run = {.seed = 1, .work_limit = 20000};
        struct lx_answer a = run_on(&p, &run, address);
        assert_true(dense ? a.steps == 0 && a.message[0] : a.steps == 20000);
    }
    mem_free(b);
    mem_free(address);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_incremental_is_full_decode), cmocka_unit_test(test_answers_are_legal_and_good),
        cmocka_unit_test(test_larger_are_legal),           cmocka_unit_test(test_seed_decides),
        cmocka_unit_test(test_never_below_the_incumbent),  cmocka_unit_test(test_stops),
        cmocka_unit_test(test_allowance_is_exponential),   cmocka_unit_test(test_large_stays_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
