/* Small random problems of the second version, against brute force: every answer passes the checker and is no better
 * than the optimum, what is called optimal or infeasible is, the checker agrees with enumeration about the optimum,
 * and the bound is never above it. tests/torture/torture_problems.c does the same for any number of problems. */
#include "support/random_v2.h"
#include "support/v2_oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { PROBLEMS = 1500, MOST = 6, TRIES = 100000 };

static void judge(const struct lx_problem *p, const struct oracle *o, const struct lx_solver *s,
                  const struct lx_answer *a, uint64_t seed)
{
    int64_t value = 0;
    enum lx_rule rule;
    lx_status why = {0};
    bool legal = lx_check_places(p, a->pool, a->address, &value, &rule, &why);
    if (a->status == LX_ERROR || (a->status == LX_INFEASIBLE && o->found))
        fail_msg("seed %d, %s: %s: %s", (int)seed, s->name, lx_verdict_word(a->status), a->message);
    if (a->status == LX_INFEASIBLE || (!legal && a->status == LX_LIMIT)) return;
    if (!legal) fail_msg("seed %d, %s: %s", (int)seed, s->name, why.text);
    if (!o->found || value < o->best || (a->status == LX_OPTIMAL && value > o->best) ||
        (p->objective != LX_FIT && value != a->objective))
        fail_msg("seed %d, %s: %s, %lld (said to be %lld), but the optimum is %lld", (int)seed, s->name,
                 lx_verdict_word(a->status), (long long)value, (long long)a->objective, (long long)o->best);
}

static int ask_all(const struct lx_problem *p, const struct oracle *o, uint64_t seed)
{
    int asked = 0;
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
        int64_t address[V2_MOST];
        int32_t pool[V2_MOST];
        struct lx_answer a = {.address = address, .pool = pool};
        struct lx_run run = {.seed = seed, .work_limit = 2000};
        lx_status st = {0};
        if (lx_problem_solve(p, *s, &run, &a, &st)) {
            judge(p, o, *s, &a, seed);
            asked++;
        } else if (st.code != LX_E_USAGE || !strstr(st.text, (*s)->name))
            fail_msg("seed %d, %s: %s", (int)seed, (*s)->name, st.text);
    }
    return asked;
}

static void check_oracle(const struct lx_problem *p, const struct oracle *o, uint64_t seed)
{
    int64_t value = 0, bound = lx_bound(p);
    enum lx_rule rule;
    lx_status st = {0};
    if (!o->found) return;
    if (!lx_check_places(p, o->best_pool, o->best_address, &value, &rule, &st))
        fail_msg("seed %d: the checker refuses the optimum: %s", (int)seed, st.text);
    if (value != o->best)
        fail_msg("seed %d: worth %lld, not %lld", (int)seed, (long long)value, (long long)o->best);
    if (p->objective == LX_FIT ? bound == INT64_MAX : bound > o->best)
        fail_msg("seed %d: a bound of %lld above the optimum %lld", (int)seed, (long long)bound,
                 (long long)o->best);
}

static void solvers_agree_with_brute_force(void **state)
{
    (void)state;
    static struct v2_problem v;
    static struct oracle o;
    int valid = 0, without = 0, asked = 0;
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        struct rng r = rng_seed(seed);
        lx_status st;
        random_v2(&v, &r, MOST);
        if (!lx_problem_validate(&v.p, &st) || !oracle_solve(&o, &v.p, TRIES)) continue;
        valid++;
        without += !o.found;
        check_oracle(&v.p, &o, seed);
        asked += ask_all(&v.p, &o, seed);
    }
    assert_true(valid > PROBLEMS / 2 && without > 50 && asked > 3 * valid); /* all of it was exercised */
}

/* Answers at random: legal here is legal there, and worth the same. */
static void checker_agrees_with_brute_force(void **state)
{
    (void)state;
    static struct v2_problem v;
    static struct oracle o;
    int legal = 0, illegal = 0;
    for (uint64_t seed = 0; seed < 20 * PROBLEMS; seed++) {
        struct rng r = rng_seed(seed);
        lx_status st;
        random_v2(&v, &r, 3);
        if (!lx_problem_validate(&v.p, &st)) continue;
        int64_t address[V2_MOST], value = 0, cost = 0;
        int32_t pool[V2_MOST];
        enum lx_rule rule;
        memset(&o, 0, sizeof o);
        o.p = &v.p;
        oracle_blocks(&o);
        oracle_relations(&o);
        bool expected = true;
        for (int32_t i = 0; i < v.p.count; i++) {
            const struct lx_buffer *b = &v.b[i];
            pool[i] = (int32_t)rng_below(&r, (uint64_t)v.p.pool_count);
            address[i] = v2_chance(&r, 35) ? LX_OFF_CHIP : rng_between(&r, 0, 4);
            o.address[i] = address[i];
            o.pool[i] = pool[i];
            bool must = b->must || (v.p.objective != LX_SPILL && !b->reason && !o.is_staging[i]);
            int64_t capacity = v.pool[pool[i]].capacity, step = b->alignment ? b->alignment : v.p.alignment;
            if (address[i] < 0)
                expected = expected && !must;
            else
                expected = expected && !b->reason && oracle_allows(b, pool[i]) && address[i] % step == 0 &&
                           (b->fixed < 0 || b->fixed == address[i]) && !oracle_reserved(&o, i) &&
                           (capacity == LX_NO_LIMIT || address[i] + o.bytes[i] <= capacity);
            expected = expected && oracle_pairs_legal(&o, i);
            cost += oracle_here(&o, i);
        }
        expected = expected && oracle_bonds_legal(&o, &cost);
        bool got = lx_check_places(&v.p, pool, address, &value, &rule, &st);
        if (got != expected)
            fail_msg("seed %d: %d, not %d: %s", (int)seed, got, expected, got ? "" : st.text);
        if (v.p.objective == LX_HEIGHT) cost = oracle_height(&o, v.p.count);
        if (got && v.p.objective != LX_FIT) assert_int_equal(value, cost);
        assert_true(got == (rule == LX_RULE_NONE));
        legal += got;
        illegal += !got;
    }
    assert_true(legal > 2000 && illegal > 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvers_agree_with_brute_force),
        cmocka_unit_test(checker_agrees_with_brute_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
