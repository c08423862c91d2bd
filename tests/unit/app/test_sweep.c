/* The sizes of a sweep, its searches, its bound, and the marks of axes. */
#include "picture/ticks.h"
#include "sweep/sweep_lines.h"
#include "sweep/sweep_chart.h"
#include "text/format.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static sweep_numbers sizes_of(const char *text, int64_t steps)
{
    sweep_numbers n = {0};
    lx_status st = {0};
    assert_true(sweep_sizes_read("--lx", text, steps, &n, &st));
    for (size_t i = 1; i < n.count; i++) assert_true(n.at[i - 1] < n.at[i]);
    return n;
}

static void test_sizes(void **state)
{
    (void)state;
    sweep_numbers n = sizes_of("16k..2m", 40);
    assert_int_equal(n.count, 40);
    assert_int_equal(n.at[0], 16384);
    assert_int_equal(n.at[39], 2097152);
    for (size_t i = 1; i < n.count; i++) /* equal proportions, but for rounding to 128 bytes */
        assert_true(fabs(log((double)n.at[i] / (double)n.at[i - 1]) - log(128.0) / 39) < 0.02);
    VEC_FREE(&n);
    n = sizes_of("10..13", 40); /* no size twice */
    assert_int_equal(n.count, 4);
    VEC_FREE(&n);
    n = sizes_of("100k", 40);
    assert_int_equal(n.count, 1);
    VEC_FREE(&n);
    n = sizes_of("1k,2k,1m", 40);
    assert_int_equal(n.count, 3);
    VEC_FREE(&n);
    n = sizes_of("5k..6k", 1);
    assert_int_equal(n.at[0], 6144);
    VEC_FREE(&n);
}

static void test_wrong_ranges(void **state)
{
    static const char *const wrong[] = {"",     "..",  "1..", "..1",  "2..1",  "x",     "1..x",
                                        "0..4", "3,2", "3,3", "1,,2", "-1..4", "1...4", "1k..2k..3k"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sweep_numbers n = {0};
        lx_status st = {0};
        assert_false(sweep_sizes_read("--lx", wrong[i], 10, &n, &st));
        assert_int_equal(lx_code_exit(st.code), 2);
        assert_non_null(strstr(st.text, "--lx"));
        VEC_FREE(&n);
    }
}

static void test_cores(void **state)
{
    static const int64_t expected[] = {3, 6, 12, 20};
    sweep_numbers n = {0};
    lx_status st = {0};
    (void)state;
    assert_true(sweep_cores_read("--cores", "3..20", &n, &st));
    assert_int_equal(n.count, 4);
    assert_memory_equal(n.at, expected, sizeof expected);
    VEC_FREE(&n);
}

/* Three buffers of 100, 200 and 300 bytes that live at once: from 600 bytes on nothing spills. */
static const char list[] = "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"three\", \"capacity\": 1000, "
                           "\"alignment\": 1, \"objective\": \"spill\", \"buffers\": ["
                           "{\"name\": \"a\", \"size\": 100, \"start\": 0, \"end\": 2, \"cost\": 7},"
                           "{\"name\": \"b\", \"size\": 200, \"start\": 0, \"end\": 2, \"cost\": 11},"
                           "{\"name\": \"c\", \"size\": 300, \"start\": 1, \"end\": 3, \"cost\": 13}]}";

static void begin(struct sweep *s, const char *sizes, int64_t steps, const char *solver)
{
    lx_status st = {0};
    struct lx_settings how = {.solvers = lx_solvers()};
    const struct lx_graph *g = lx_graph_of_text("three", list, sizeof list - 1, &st);
    if (!g) print_error("%s\n", st.text);
    assert_non_null(g);
    assert_true(lx_settings_set(&how, "solver", solver, &st));
    sweep_numbers n = sizes_of(sizes, steps), none = {0};
    assert_true(sweep_begin(s, g, &how, 1, &n, &none, &st));
    VEC_FREE(&n);
    lx_graph_free(g);
}

static void do_all(struct sweep *s, const sweep_tasks *tasks)
{
    const struct lx_plan *like = NULL;
    struct lx_run run = {0};
    for (size_t i = 0; i < tasks->count; i++) {
        struct sweep_value v;
        sweep_do(s, &tasks->at[i], &run, &like, &v);
        sweep_keep(s, &tasks->at[i], &v);
    }
    lx_plan_free(like);
}

static void run_sweep(struct sweep *s)
{
    sweep_tasks points = {0}, searches = {0};
    for (sweep_next(s, &points); points.count > 0; sweep_next(s, &points)) {
        do_all(s, &points);
        VEC_FREE(&points);
    }
    sweep_searches(s, &searches);
    do_all(s, &searches);
    VEC_FREE(&points);
    VEC_FREE(&searches);
}

static void give(struct sweep *s, int32_t size, int64_t hbm, double us, double limit_us)
{
    struct sweep_task t = {.find = SWEEP_POINT, .size = size, .lx = s->sizes.at[size]};
    struct sweep_value v = {.lx = t.lx, .hbm = hbm, .us = us, .limit_us = limit_us, .state = SWEEP_PLANNED};
    sweep_keep(s, &t, &v);
}

/* A plan of a smaller size is handed up, unless it takes longer than the limit. */
static void test_hand_up(void **state)
{
    static const int64_t bytes[] = {90, 80, 80, 80, 60}, within[] = {90, 80, 80, 85, 85};
    struct sweep s;
    (void)state;
    begin(&s, "50..1000", 5, "greedy");
    for (int times = 0; times < 2; times++) {
        const double limit = times ? 11 : INFINITY;
        give(&s, 0, 90, 10, limit);
        give(&s, 1, 80, 10, limit);
        give(&s, 2, 95, 10, limit);
        give(&s, 3, 85, 7, times ? 8 : limit);
        give(&s, 4, times ? 85 : 60, 8, times ? 8 : limit);
        sweep_tasks none = {0};
        sweep_next(&s, &none);
        assert_int_equal(none.count, 0);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(s.lines.at[0].at[i].hbm, (times ? within : bytes)[i]);
            assert_int_equal(s.lines.at[0].at[i].lx, s.sizes.at[i]);
        }
    }
    sweep_free(&s);
}

static void test_knee(void **state)
{
    static const char *const solvers[] = {"auto", "bestfit", "exact", "greedy"};
    (void)state;
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
        struct sweep s;
        struct text words = {0};
        begin(&s, "50..1000", 5, solvers[i]);
        run_sweep(&s);
        const struct sweep_line *l = &s.lines.at[0];
        assert_int_equal(l->found[FIND_FIT].state, SWEEP_PLANNED);
        assert_int_equal(l->found[FIND_FIT].lx, 600);
        assert_int_equal(l->at[0].hbm, 31); /* nothing fits */
        assert_int_equal(l->at[4].hbm, 0);
        sweep_say_fit(&s, l, false, &words);
        assert_string_equal(words.at, "from 600 B nothing spills");
        text_free(&words);
        for (size_t k = 0; k < s.sizes.count; k++) {
            assert_true(sweep_least(&s, s.cores.at[0], k) <= (double)l->at[k].hbm);
            if (k) assert_true(l->at[k].hbm <= l->at[k - 1].hbm);
        }
        sweep_free(&s);
    }
}

/* Sizes that nobody names go beyond the knee, whatever the pattern's own size is, which is one of them. */
static void test_own_sizes_reach_the_knee(void **state)
{
    static const char *const files[] = {SOURCE_DIR "/patterns/showcase/moe_tight.json",
                                        SOURCE_DIR "/patterns/showcase/attention_tight.json",
                                        SOURCE_DIR "/patterns/targets/simple_fragmentation.json",
                                        SOURCE_DIR "/patterns/graphs/rms_norm.json"};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct lx_settings how = {.solvers = lx_solvers()};
        struct lx_plan_options options = {0};
        int64_t values[LX_MOST_SOLVER_OPTIONS];
        sweep_numbers n = {0}, none = {0};
        struct sweep s;
        lx_status st = {0};
        bool has_own = false;
        const struct lx_graph *g = lx_graph_read(files[i], &st);
        assert_non_null(g);
        assert_true(lx_settings_set(&how, "solver", "bestfit", &st));
        assert_true(lx_settings_set(&how, "tile", "none", &st)); /* nests make do with any size */
        assert_true(lx_settings_plan(&how, NULL, &options, values, &st));
        const struct lx_plan *p = lx_plan_make(g, &options, &st);
        assert_non_null(p);
        assert_true(sweep_sizes_own(g, sweep_need(g, &how), 12, &n, &st));
        for (size_t k = 0; k < n.count; k++) has_own |= n.at[k] == p->problem.capacity;
        assert_true(has_own);
        assert_true(sweep_begin(&s, g, &how, 1, &n, &none, &st));
        run_sweep(&s);
        assert_int_equal(s.lines.at[0].found[FIND_FIT].state, SWEEP_PLANNED);
        sweep_free(&s);
        VEC_FREE(&n);
        lx_plan_free(p);
        lx_graph_free(g);
    }
}

/* A size in words is never less than the size. */
static void test_sizes_in_words(void **state)
{
    (void)state;
    assert_string_equal(in_enough(117248, false).at, "117,248 B (114.5 KiB)");
    assert_string_equal(in_enough(117249, true).at, "114.6 KiB");
    assert_string_equal(in_enough(139264, true).at, "136 KiB");
    assert_string_equal(in_enough(4194304, true).at, "4 MiB");
    assert_string_equal(in_enough(4194305, true).at, "4.01 MiB");
    assert_string_equal(in_enough(600, true).at, "600 B");
}

/* Lines of which nothing is known yet are not the same as another. */
static void test_no_twins_before_data(void **state)
{
    struct sweep s;
    lx_status st = {0};
    struct lx_settings how[2] = {{.solvers = lx_solvers()}, {.solvers = lx_solvers()}};
    const struct lx_graph *g = lx_graph_of_text("three", list, sizeof list - 1, &st);
    (void)state;
    assert_true(lx_settings_set(&how[0], "solver", "bestfit", &st));
    assert_true(lx_settings_set(&how[1], "solver", "firstfit", &st));
    sweep_numbers n = sizes_of("50..1000", 5), none = {0};
    assert_true(sweep_begin(&s, g, how, 2, &n, &none, &st));
    assert_int_equal(sweep_twin(&s, 1), -1);
    struct text chart = {0};
    sweep_add_chart(&s, 0, 16, 80, true, &chart);
    assert_non_null(strstr(chart.at, "firstfit"));
    assert_null(strstr(chart.at, " = "));
    assert_null(strstr(chart.at, "0.5")); /* an axis of values that nobody knows */
    text_free(&chart);
    run_sweep(&s);
    assert_int_equal(sweep_twin(&s, 1), 0);
    sweep_free(&s);
    VEC_FREE(&n);
    lx_graph_free(g);
}

/* Where there is no knee inside, the words say what is known. */
static void test_no_knee(void **state)
{
    struct sweep s;
    struct text words = {0};
    (void)state;
    begin(&s, "50..500", 3, "auto");
    run_sweep(&s);
    sweep_say_fit(&s, &s.lines.at[0], false, &words);
    assert_non_null(strstr(words.at, "still"));
    text_free(&words);
    sweep_free(&s);
    begin(&s, "700..1000", 3, "auto");
    run_sweep(&s);
    sweep_say_fit(&s, &s.lines.at[0], false, &words);
    assert_string_equal(words.at, "nothing spills with 700 B or more, the least that was tried");
    text_free(&words);
    sweep_free(&s);
}

static void test_bound_of_other_divisions(void **state)
{
    struct sweep s = {0};
    struct sweep_line lines[2] = {{.cores = 1}, {.cores = 1}};
    struct sweep_value a = {.state = SWEEP_PLANNED, .hbm = 100, .least = 90},
                       b = {.state = SWEEP_PLANNED, .hbm = 80, .least = 70};
    (void)state;
    lines[0].at = &a;
    lines[1].at = &b;
    s.lines.at = lines;
    s.lines.count = 2;
    assert_true(sweep_least(&s, 1, 0) == 70); /* 90 is above a plan that there is */
    b.hbm = 95;
    assert_true(sweep_least(&s, 1, 0) == 90);
    assert_true(isnan(sweep_least(&s, 2, 0)));
}

static void expect_ticks(struct scale s, int most, const char *expected)
{
    struct tick ticks[SCALE_TICKS];
    char got[400] = "";
    int n = ticks_make(&s, most, ticks);
    assert_true(n <= most);
    for (int i = 0; i < n; i++) {
        if (i) strcat(got, ", ");
        strcat(got, ticks[i].words.at);
    }
    assert_string_equal(got, expected);
}

static void test_ticks(void **state)
{
    (void)state;
    expect_ticks((struct scale){16384, 2097152, true, SCALE_BYTES}, 8,
                 "16 KiB, 32 KiB, 64 KiB, 128 KiB, 256 KiB, 512 KiB, 1 MiB, 2 MiB");
    expect_ticks((struct scale){16384, 2097152, true, SCALE_BYTES}, 4, "16 KiB, 64 KiB, 256 KiB, 1 MiB");
    expect_ticks((struct scale){12e6, 22e6, false, SCALE_BYTES}, 5, "12 MiB, 14 MiB, 16 MiB, 18 MiB, 20 MiB");
    expect_ticks((struct scale){4e-5, 2e-2, true, SCALE_SECONDS}, 9,
                 "50 us, 100 us, 200 us, 500 us, 1 ms, 2 ms, 5 ms, 10 ms, 20 ms");
    expect_ticks((struct scale){1, 1.7, true, SCALE_PLAIN}, 5, "1, 1.2, 1.4, 1.6");
    expect_ticks((struct scale){0, 1, false, SCALE_PLAIN}, 6, "0, 0.2, 0.4, 0.6, 0.8, 1");
    expect_ticks((struct scale){1, 1, false, SCALE_PLAIN}, 6, "");
}

/* Whatever the ends: marks rise, are inside, and are no more than asked for. */
static void test_any_ticks(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double low = pow(10, (double)(seed >> 40 & 0xffff) / 65535 * 20 - 8),
               high = low * (1 + pow(10, (double)(seed >> 20 & 0xffff) / 65535 * 14 - 6));
        struct scale s = {low, high, seed >> 60 & 1, (enum scale_unit)(seed >> 57 & 3) % 3};
        struct tick ticks[SCALE_TICKS];
        int most = 1 + (int)(seed >> 12 & 15), n = ticks_make(&s, most, ticks);
        assert_true(n >= 0 && n <= most);
        for (int k = 0; k < n; k++) {
            assert_true(ticks[k].at >= low * (1 - 1e-6) && ticks[k].at <= high * (1 + 1e-6));
            assert_true(k == 0 || ticks[k].at > ticks[k - 1].at);
            assert_true(strlen(ticks[k].words.at) < 20);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_sizes_reach_the_knee),
        cmocka_unit_test(test_sizes_in_words),
        cmocka_unit_test(test_no_twins_before_data),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_wrong_ranges),
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_hand_up),
        cmocka_unit_test(test_knee),
        cmocka_unit_test(test_no_knee),
        cmocka_unit_test(test_bound_of_other_divisions),
        cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_any_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
