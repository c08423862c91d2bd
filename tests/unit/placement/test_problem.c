/* The data model, rule by rule; the bound and the small functions on cases that are worked out by hand. */
#include "unstable.h"
#include "base/checked.h"
#include "support/problem_builder.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define FIXED(at, ...) ((struct lx_buffer){.name = "b", .fixed = at, __VA_ARGS__})
#define BUFFER(...)    FIXED(-1, __VA_ARGS__)

static void assert_valid(const struct lx_problem *p)
{
    lx_status st = {0};
    if (!lx_problem_validate(p, &st)) fail_msg("refused: %s", st.text);
}

static void assert_invalid(const struct lx_problem *p, enum lx_code code, const char *says)
{
    lx_status st = {0};
    assert_false(lx_problem_validate(p, &st));
    if (st.code != code || !strstr(st.text, says))
        fail_msg("%s: \"%s\" and not \"%s\"", lx_code_word(st.code), st.text, says);
}

/* One buffer in a problem of alignment 4. */
static void assert_buffer(struct lx_buffer b, const char *says)
{
    struct lx_problem p = {.objective = LX_SPILL, .capacity = 100, .alignment = 4, .count = 1, .buffers = &b};
    if (says)
        assert_invalid(&p, LX_E_MODEL, says);
    else
        assert_valid(&p);
}

static void frame_is_checked(void **state)
{
    (void)state;
    struct lx_problem p = {.objective = LX_SPILL, .capacity = 0, .alignment = 1, .count = 0, .buffers = NULL};
    assert_valid(&p);
    p.capacity = LX_INT_MAX;
    assert_valid(&p);
    p.capacity = -1;
    assert_invalid(&p, LX_E_MODEL, "capacity");
    p.capacity = LX_INT_MAX + 1;
    assert_invalid(&p, LX_E_MODEL, "capacity");
    p.capacity = 0, p.alignment = 0;
    assert_invalid(&p, LX_E_MODEL, "alignment");
    p.alignment = 1, p.count = -1;
    assert_invalid(&p, LX_E_MODEL, "");
}

static void buffers_are_checked(void **state)
{
    (void)state;
    static const int64_t good[] = {2, 3, 7}, again[] = {2, 2}, back[] = {5, 3};
    assert_buffer(BUFFER(.size = 0, .end = 1), NULL);
    assert_buffer(BUFFER(.size = 500, .end = 1), NULL); /* larger than the scratchpad: off chip, not wrong */
    assert_buffer(BUFFER(.size = -1, .end = 1), "size");
    assert_buffer(BUFFER(.size = LX_INT_MAX + 1, .end = 1), "size");
    assert_buffer(BUFFER(.spill_cost = -1, .end = 1), "cost");
    assert_buffer(BUFFER(.start = 3, .end = 3), "life [3, 3)");
    assert_buffer(BUFFER(.start = -1, .end = 3), "life [-1, 3)");
    assert_buffer(BUFFER(.end = LX_INT_MAX + 1), "life ends at 9007199254740993, beyond 2^53");
    assert_buffer(BUFFER(.end = 1, .alignment = 8), NULL);
    assert_buffer(BUFFER(.end = 1, .alignment = 6), "not a multiple of the problem's 4");
    assert_buffer(BUFFER(.end = 1, .alignment = -4), "alignment");
    assert_buffer(FIXED(8, .end = 1), NULL);
    assert_buffer(FIXED(6, .end = 1), "fixed address 6");
    assert_buffer(FIXED(12, .end = 1, .alignment = 8), "multiple of the alignment 8");
    assert_buffer(FIXED(-2, .end = 1), "fixed");
    assert_buffer(BUFFER(.start = 2, .end = 8, .uses = good, .use_count = 3), NULL);
    assert_buffer(BUFFER(.start = 2, .end = 99, .uses = good, .use_count = 3), NULL);
    assert_buffer(BUFFER(.start = 2, .end = 7, .uses = good, .use_count = 3), "at least 8");
    assert_buffer(BUFFER(.start = 1, .end = 8, .uses = good, .use_count = 3), "first used at 2");
    assert_buffer(BUFFER(.start = 2, .end = 8, .uses = again, .use_count = 2), "strictly increasing");
    assert_buffer(BUFFER(.start = 5, .end = 8, .uses = back, .use_count = 2), "3 follows 5");
}

static void edges_are_checked(void **state)
{
    (void)state;
    static const int64_t once[] = {2}, later[] = {3, 4};
    static const int32_t nobody[] = {1, 2, -1};
    struct problem_builder list = problem_begin(LX_SPILL, 64, 1);
    problem_add(&list, 8, 0, 3, 0);
    problem_add(&list, 8, 2, 5, 0);
    problem_uses(&list, 0, 0, 2);
    problem_uses(&list, 1, 2, 4);
    problem_parent(&list, 1, 0);
    const struct lx_problem *p = &list.problem;
    struct lx_buffer *both = list.buffers, parent = both[0], child = both[1];
    assert_valid(p);
    both[1].size = 3;
    assert_valid(p);
    both[1].size = 9;
    assert_invalid(p, LX_E_MODEL, "larger (9 > 8 bytes)");
    both[1] = child;
    for (int i = 0; i < 3; i++) {
        both[1].parents = &nobody[i];
        assert_invalid(p, LX_E_MODEL, "another buffer");
    }
    both[1] = child;
    both[1].first_use_is_read = true;
    assert_invalid(p, LX_E_MODEL, "read first");
    both[1] = child;
    both[0].end = 4; /* two shared ticks */
    assert_invalid(p, LX_E_MODEL, "parent's end (4)");
    both[0] = parent;
    both[1].start = 3, both[1].uses = later;
    assert_invalid(p, LX_E_MODEL, "start + 1 (4)"); /* none */
    both[1] = child;
    both[0].start = 2, both[0].uses = once, both[0].use_count = 1;
    assert_invalid(p, LX_E_MODEL, "never read"); /* written by the very op that would overwrite it */
    both[0].first_use_is_read = true;
    assert_valid(p);
    both[0].first_use_is_read = false, both[0].use_count = 0;
    assert_invalid(p, LX_E_MODEL, "never read");
    problem_end(&list);
}

static void sums_are_checked(void **state)
{
    (void)state;
    struct problem_builder list = problem_begin(LX_HEIGHT, 0, 1);
    problem_add(&list, LX_INT_MAX, 0, 1, 0);
    problem_add(&list, 1, 0, 1, 0);
    struct lx_buffer *both = list.buffers;
    both[1].line = 7, both[1].column = 3;
    assert_invalid(&list.problem, LX_E_RANGE, "beyond 2^53");
    lx_status st;
    lx_problem_validate(&list.problem, &st);
    assert_int_equal(st.line * 10 + st.column, 73);
    both[1].size = 0;
    assert_valid(&list.problem);
    both[0].size = 1, both[0].alignment = LX_INT_MAX; /* alignment is room, too */
    assert_valid(&list.problem);
    both[1] = both[0];
    assert_invalid(&list.problem, LX_E_RANGE, "beyond 2^53");
    both[0] = BUFFER(.end = 1, .spill_cost = LX_INT_MAX);
    both[1] = BUFFER(.end = 1, .spill_cost = 1);
    list.problem.objective = LX_SPILL;
    assert_invalid(&list.problem, LX_E_RANGE, "beyond 2^53");
    problem_end(&list);
}

static void assert_bound(const struct problem_builder *list, enum lx_objective objective, int64_t capacity,
                         int64_t alignment, int64_t expected)
{
    struct lx_problem p = list->problem;
    p.objective = objective;
    p.capacity = capacity;
    p.alignment = alignment;
    assert_valid(&p);
    assert_int_equal(lx_bound(&p), expected);
}

static void bound_of_spills(void **state)
{
    (void)state;
    struct problem_builder none = {0}, two = problem_begin(LX_SPILL, 20, 1);
    assert_bound(&none, LX_SPILL, 0, 1, 0);
    /* Two on one tick, room for one: the cheaper leaves. Density, not cost, decides what leaves in part. */
    problem_add(&two, 10, 0, 2, 7);
    problem_add(&two, 10, 1, 3, 9);
    assert_bound(&two, LX_SPILL, 20, 1, 0);
    assert_bound(&two, LX_SPILL, 10, 1, 7);
    assert_bound(&two, LX_SPILL, 15, 1, 7); /* half would do, but a buffer leaves whole */
    assert_bound(&two, LX_SPILL, 9, 1, 16); /* neither fits alone */
    assert_bound(&two, LX_FIT, 10, 1, 7);
    two.buffers[1].start = 2;
    assert_bound(&two, LX_SPILL, 10, 1, 0); /* half-open lives: they never meet */
    problem_end(&two);
    /* Independent ticks add up; a tick that shares a buffer with another does not. */
    struct problem_builder apart = problem_begin(LX_SPILL, 8, 1);
    for (int i = 0; i < 4; i++) problem_add(&apart, 8, i / 2 * 5, i / 2 * 5 + 1, 3 + i);
    assert_bound(&apart, LX_SPILL, 8, 1, 8);
    apart.buffers[0].end = 6; /* lives through both: spilling it alone would do for both ticks but one */
    assert_bound(&apart, LX_SPILL, 16, 1, 3);
    /* Barred ones are paid in full and take no room. */
    apart.buffers[1].reason = "barred";
    assert_bound(&apart, LX_SPILL, 24, 1, 4);
    problem_end(&apart);
    /* Sizes count in whole alignment units, and so does the capacity. */
    struct problem_builder odd = problem_begin(LX_SPILL, 8, 1);
    for (int i = 0; i < 2; i++) problem_add(&odd, 5, 0, 1, 3);
    assert_bound(&odd, LX_SPILL, 13, 8, 0); /* at 0 and at 8: ends at 13 */
    assert_bound(&odd, LX_SPILL, 8, 8, 3);
    assert_bound(&odd, LX_SPILL, 10, 1, 0);
    problem_end(&odd);
}

static void bound_with_handovers(void **state)
{
    (void)state;
    struct problem_builder chain = problem_begin(LX_SPILL, 8, 1);
    for (int i = 0; i < 2; i++) {
        problem_add(&chain, 8, i, i + 2, 16);
        problem_uses(&chain, i, i, i + 1);
    }
    assert_bound(&chain, LX_SPILL, 8, 1, 16);
    assert_bound(&chain, LX_HEIGHT, 0, 1, 16);
    problem_parent(&chain, 1, 0);
    assert_bound(&chain, LX_SPILL, 8, 1, 0);
    assert_bound(&chain, LX_HEIGHT, 0, 1, 8);
    problem_end(&chain);
}

static void bound_of_heights(void **state)
{
    (void)state;
    struct problem_builder list = problem_begin(LX_HEIGHT, 5, 1);
    problem_add(&list, 10, 0, 2, 0);
    problem_add(&list, 20, 1, 3, 0);
    problem_add(&list, 25, 2, 4, 0);
    problem_add(&list, 999, 0, 9, 0)->reason = "barred";
    assert_bound(&list, LX_HEIGHT, 5, 1, 45);
    assert_bound(&list, LX_HEIGHT, 5, 16, 52); /* 25 takes 32 bytes, and 20 stands on it */
    problem_end(&list);
}

static void small_functions(void **state)
{
    (void)state;
    assert_true(lx_gap(100, 80) == 0.25 && lx_gap(100, 100) == 0 && lx_gap(0, 0) == 0);
    assert_true(lx_gap(5, 9) == 0 && isinf(lx_gap(100, 0)) && isinf(lx_gap(INT64_MAX, 0)));
    struct lx_problem p = {
        .objective = LX_SPILL, .capacity = 100, .alignment = 4, .count = 0, .buffers = NULL};
    struct lx_buffer b = BUFFER(.size = 100, .end = 1);
    assert_true(lx_may_be_placed(&p, &b));
    b.size = 101;
    assert_false(lx_may_be_placed(&p, &b));
    p.objective = LX_FIT;
    assert_false(lx_may_be_placed(&p, &b));
    p.objective = LX_HEIGHT;
    assert_true(lx_may_be_placed(&p, &b));
    b.reason = "barred";
    assert_false(lx_may_be_placed(&p, &b));
    assert_int_equal(lx_alignment_of(&p, &b), 4);
    b.alignment = 12;
    assert_int_equal(lx_alignment_of(&p, &b), 12);
    b.use_count = 3;
    assert_int_equal(lx_read_count(&b), 2);
    b.first_use_is_read = true;
    assert_int_equal(lx_read_count(&b), 3);
    b.use_count = 0;
    assert_int_equal(lx_read_count(&b), 0);
    for (int v = 0; v < LX_VERDICT_COUNT; v++)
        assert_string_not_equal(lx_verdict_word((enum lx_verdict)v), "unknown");
    assert_string_equal(lx_verdict_word(LX_VERDICT_COUNT), "unknown");
    assert_string_equal(lx_objective_word(LX_FIT), "fit");
    assert_string_equal(lx_objective_word((enum lx_objective)3), "unknown");
}

static void usable_scratchpad(void **state)
{
    (void)state;
    struct lx_device d;
    lx_status st;
    assert_false(lx_device_preset("unheard of", &d));
    assert_true(lx_device_preset("tenstorrent", &d));
    assert_int_equal(lx_device_usable(&d), 1464 << 10);
    assert_true(lx_device_preset("spyre", &d));
    assert_int_equal(lx_device_usable(&d), 1625344); /* ((2 MiB - 64 KiB) * 0.8, up to 128 */
    d.lx_reserved_fraction = 0;
    assert_int_equal(lx_device_usable(&d), (2 << 20) - (64 << 10));
    d.lx_reserved_fraction = 1;
    assert_int_equal(lx_device_usable(&d), 0);
    d.lx_reserved_fraction = 0.2;
    d.lx_reserved_bytes = 4 << 20;
    assert_int_equal(lx_device_usable(&d), 0);
    d.lx_usable_bytes = 1000; /* outright, and not rounded */
    assert_int_equal(lx_device_usable(&d), 1000);
    const struct lx_device_parameter *cores = lx_device_parameter_find("cores");
    assert_false(lx_device_set(&d, cores, 0, &st));
    assert_false(lx_device_set(&d, cores, 1.5, &st));
    assert_false(lx_device_set(&d, cores, NAN, &st));
    assert_false(lx_device_set(&d, cores, INFINITY, &st));
    assert_true(lx_device_set(&d, cores, 7, &st) && d.cores == 7 && lx_device_get(&d, cores) == 7);
    assert_null(lx_device_parameter_find("core"));
    for (const struct lx_device_parameter *q = lx_device_parameters(); q->key; q++) {
        assert_ptr_equal(lx_device_parameter_find(q->key), q);
        for (int i = 0; lx_device_at(i); i++) { /* every preset keeps its own ranges */
            d = *lx_device_at(i);
            assert_true(lx_device_set(&d, q, lx_device_get(&d, q), &st));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frame_is_checked),  cmocka_unit_test(buffers_are_checked),
        cmocka_unit_test(edges_are_checked), cmocka_unit_test(sums_are_checked),
        cmocka_unit_test(bound_of_spills),   cmocka_unit_test(bound_with_handovers),
        cmocka_unit_test(bound_of_heights),  cmocka_unit_test(small_functions),
        cmocka_unit_test(usable_scratchpad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
