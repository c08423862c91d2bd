/* What a plan takes on chip, against counting tick by tick and byte by byte; and the difference of two plans. */
#include "unstable.h"
#include "base/rng.h"
#include "support/problem_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 12, TICKS = 10, HEIGHT = 24 };

/* A plan made by hand: only what the functions look at. */
struct made {
    struct lx_plan plan;
    struct lx_graph graph;
    struct problem_builder list;
    int64_t address[MOST];
    int32_t slot[MOST];
    const char *reason[MOST];
    struct lx_pair pairs[MOST * MOST];
};

static void join(struct made *m)
{
    m->plan.problem = m->list.problem;
    m->plan.answer.address = m->address;
    m->plan.took_slot_of = m->slot;
    m->plan.reason = m->reason;
    m->plan.graph = &m->graph;
}

/* Buffers anywhere, on top of each other too: nothing here needs a legal plan. A handover now and then. */
static void make_random(struct made *m, struct rng *r)
{
    int32_t count = (int32_t)rng_between(r, 0, MOST);
    *m = (struct made){.list = problem_begin(LX_SPILL, HEIGHT, 1)};
    for (int32_t i = 0; i < count; i++) {
        int64_t start = rng_between(r, 0, TICKS - 1), end = rng_between(r, start + 1, TICKS);
        struct lx_buffer *b = problem_add(&m->list, rng_between(r, 0, 8), start, end, 0);
        b->reason = rng_below(r, 8) == 0 ? "barred" : NULL;
        m->address[i] = b->reason || rng_below(r, 3) == 0 ? LX_OFF_CHIP : rng_between(r, 0, HEIGHT - 8);
        m->slot[i] = i > 0 && m->address[i] >= 0 && rng_below(r, 4) == 0 ? 0 : -1;
    }
    join(m);
}

/* Buffers that may share bytes count once, byte by byte; those of an answer that is not legal as often as they are there. */
static int64_t taken_at(const struct made *m, int64_t tick)
{
    bool shared = m->plan.problem.bonds.exclusive_count > 0, used[HEIGHT + 8] = {false};
    int64_t sum = 0, bytes = 0;
    for (int32_t i = 0; i < m->plan.problem.count; i++) {
        const struct lx_buffer *b = &m->list.buffers[i];
        if (m->address[i] < 0 || tick < b->start + (m->slot[i] >= 0) || tick >= b->end) continue;
        sum += b->size;
        for (int64_t k = 0; k < b->size; k++) used[m->address[i] + k] = true;
    }
    for (int k = 0; k < HEIGHT + 8; k++) bytes += used[k];
    return shared ? bytes : sum;
}

/* Nobody is ever alive with anybody else. */
static void make_exclusive(struct made *m)
{
    int32_t n = 0;
    for (int32_t a = 0; a < m->plan.problem.count; a++)
        for (int32_t b = 0; b < a; b++) m->pairs[n++] = (struct lx_pair){a, b};
    m->plan.problem.bonds.exclusive = m->pairs;
    m->plan.problem.bonds.exclusive_count = n;
}

static void test_occupancy(void **state)
{
    (void)state;
    struct rng r = rng_seed(7);
    for (int round = 0; round < 2000; round++) {
        struct made m;
        struct lx_occupancy o;
        int64_t peak = 0;
        make_random(&m, &r);
        if (round % 2) make_exclusive(&m);
        lx_occupancy_make(&m.plan, LX_ALL_POOLS, &o);
        for (int64_t from = -1; from <= TICKS; from++) {
            int64_t most = 0;
            for (int64_t to = from + 1; to <= TICKS + 1; to++) {
                int64_t now = taken_at(&m, to - 1);
                if (now > most) most = now;
                assert_int_equal(lx_occupancy_most(&o, from, to), most);
            }
            if (most > peak) peak = most;
        }
        assert_int_equal(o.peak, peak);
        assert_int_equal(peak ? taken_at(&m, o.peak_tick) : 0, peak);
        for (int32_t i = 0; i < m.plan.problem.count; i++)
            if (!m.list.buffers[i].reason)
                assert_true(o.first <= m.list.buffers[i].start && m.list.buffers[i].end <= o.last);
        lx_occupancy_free(&o);
        problem_end(&m.list);
    }
}

static bool holds(const struct made *m, int32_t i, int64_t tick, int64_t address)
{
    const struct lx_buffer *b = &m->list.buffers[i];
    return m->address[i] >= 0 && tick >= b->start && tick < b->end && address >= m->address[i] &&
           address < m->address[i] + b->size;
}

static void test_holes(void **state)
{
    (void)state;
    struct rng r = rng_seed(7);
    for (int round = 0; round < 2000; round++) {
        struct made m;
        make_random(&m, &r);
        int64_t tick = rng_between(&r, 0, TICKS - 1), free_bytes = 0, run = 0, longest = 0, count = 0;
        for (int64_t at = 0; at <= HEIGHT; at++) {
            bool taken = at == HEIGHT;
            for (int32_t i = 0; i < m.plan.problem.count; i++) taken |= holds(&m, i, tick, at);
            run = taken ? 0 : run + 1;
            free_bytes += !taken;
            count += run == 1;
            if (run > longest) longest = run;
            if (at == HEIGHT) break;
            struct lx_holes h;
            lx_holes_at(&m.plan, NULL, 0, 0, tick, at, &h);
            assert_int_equal(h.from >= 0, !taken);
            if (!taken) assert_true(h.from <= at && at < h.to);
        }
        struct lx_holes h;
        lx_holes_at(&m.plan, NULL, 0, 0, tick, 0, &h);
        assert_int_equal(h.free_bytes, free_bytes);
        assert_int_equal(h.count, count);
        assert_int_equal(h.largest_to - h.largest_from, longest);
        problem_end(&m.list);
    }
}

static void add(struct made *m, const char *name, int64_t address, int64_t cost)
{
    int32_t i = m->list.problem.count;
    problem_add(&m->list, 4, 0, 3, cost)->name = name;
    m->address[i] = address;
    m->slot[i] = -1;
    m->reason[i] = address < 0 ? "no room" : NULL;
}

static void test_diff(void **state)
{
    (void)state;
    struct made a = {.list = problem_begin(LX_SPILL, HEIGHT, 1)},
                b = {.list = problem_begin(LX_SPILL, HEIGHT, 1)};
    struct lx_diff d;
    add(&a, "same", 0, 10), add(&b, "new", LX_OFF_CHIP, 50);
    add(&a, "in", LX_OFF_CHIP, 20), add(&b, "out", LX_OFF_CHIP, 30);
    add(&a, "out", 8, 30), add(&b, "in", 4, 20);
    add(&a, "gone", LX_OFF_CHIP, 40), add(&b, "same", 0, 10);
    add(&a, "moves", 12, 60), add(&b, "moves", 16, 60);
    add(&a, "grows", 20, 70), add(&b, "grows", 20, 71);
    add(&a, "heir", 0, 80), add(&b, "heir", 0, 80);
    b.slot[6] = 3;
    join(&a), join(&b);
    a.plan.figures.hbm_bytes = 60, b.plan.figures.hbm_bytes = 80;
    lx_plan_diff(&a.plan, &b.plan, &d);
    static const struct {
        const char *name;
        enum lx_change change;
        int64_t gain;
    } expected[] = {{"in", LX_CAME_ON_CHIP, 20}, {"out", LX_WENT_OFF_CHIP, -30},
                    {"moves", LX_MOVED, 0},      {"heir", LX_IN_PLACE_CHANGED, 0},
                    {"grows", LX_CHANGED, 0},    {"gone", LX_ONLY_BEFORE, 40},
                    {"new", LX_ONLY_AFTER, -50}};
    assert_int_equal(d.count, 7);
    assert_int_equal(d.gain, -20);
    for (int32_t i = 0; i < d.count; i++) {
        assert_string_equal(d.all[i].name, expected[i].name);
        assert_int_equal(d.all[i].change, expected[i].change);
        assert_int_equal(d.all[i].gain, expected[i].gain);
        assert_int_equal(d.of_change[expected[i].change], 1);
    }
    assert_string_equal(d.all[0].reason, "no room"); /* why it was off chip before */
    assert_string_equal(d.all[3].in_place_of, "same");
    lx_diff_free(&d);
    lx_plan_diff(&a.plan, &a.plan, &d);
    assert_int_equal(d.count, 0);
    assert_true(d.same_pattern);
    lx_diff_free(&d);
    problem_end(&a.list);
    problem_end(&b.list);
}

/* Every change has its own word. */
static void test_change_words(void **state)
{
    (void)state;
    for (int i = 0; i < LX_CHANGE_COUNT; i++) {
        assert_true(*lx_change_word((enum lx_change)i) && *lx_change_words((enum lx_change)i));
        for (int k = 0; k < i; k++)
            assert_string_not_equal(lx_change_word((enum lx_change)i), lx_change_word((enum lx_change)k));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_occupancy),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_diff),
        cmocka_unit_test(test_change_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
