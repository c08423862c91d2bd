/* Placement problems through the C interface: built, solved, checked, written and read; and every way to hold it wrong. */
#include "lxplan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/api_results.h"

static double item(const lx_result *r, int64_t i, const char *name)
{
    double value = NAN;
    if (lx_result_item_number(r, "buffers", i, name, &value) != 0) fail_msg("no number %s of a buffer", name);
    return value;
}

static lx_result *solved(const lx_placement *p, const lx_options *o)
{
    lx_error *e = lx_error_new();
    lx_result *r = lx_solve(p, o, e);
    if (!r) fail_msg("%s: %s", lx_error_code(e), lx_error_text(e));
    if (lx_result_check(r, e) != 1 && strcmp(lx_result_word(r, "status"), "infeasible") != 0)
        fail_msg("%s", lx_error_text(e));
    lx_error_free(e);
    return r;
}

/* Three buffers of 40 bytes that live at once in a pool of 100. */
static lx_placement *three(const char *objective, int64_t capacity)
{
    lx_placement *p = lx_placement_new(objective, 1, NULL);
    assert_int_equal(lx_placement_pool(p, "LX", capacity, NULL), 0);
    assert_int_equal(lx_placement_buffer(p, "a", 40, 0, 3, 10, NULL), 0);
    assert_int_equal(lx_placement_buffer(p, "b", 40, 0, 3, 20, NULL), 1);
    assert_int_equal(lx_placement_buffer(p, "c", 40, 0, 3, 30, NULL), 2);
    return p;
}

static void test_example(void **state)
{
    (void)state;
    lx_placement *p = three("cost", 100);
    lx_result *r = solved(p, NULL);
    lx_placement_free(p); /* the result stands by itself */
    assert_string_equal(lx_result_word(r, "status"), "optimal");
    assert_string_equal(lx_result_word(r, "solver"), "auto");
    same(number(r, "objective"), 10);
    same(number(r, "bound"), 10);
    same(number(r, "gap"), 0);
    assert_int_equal(lx_result_count(r, "buffers"), 3);
    same(item(r, 0, "address"), -1);
    same(item(r, 0, "pool"), -1);
    assert_string_equal(lx_result_item_word(r, "buffers", 1, "pool"), "LX");
    assert_string_equal(lx_result_item_word(r, "buffers", 2, "name"), "c");
    assert_true(*lx_result_item_word(r, "buffers", 0, "reason"));
    int32_t pools[3] = {7, 7, 7};
    int64_t addresses[3] = {7, 7, 7};
    assert_int_equal(lx_result_places(r, pools, addresses, 2), 3);
    assert_int_equal(pools[0], -1);
    assert_int_equal(pools[1], 0);
    assert_int_equal(addresses[0], -1);
    assert_int_equal(addresses[2], 7); /* beyond what was asked for */
    lx_result_free(r);
}

static void test_questions(void **state)
{
    (void)state;
    lx_placement *fit = three("fit", 100), *height = three("height", -1), *room = three("fit", 120);
    lx_result *r = solved(fit, NULL);
    assert_string_equal(lx_result_word(r, "status"), "infeasible");
    assert_true(isinf(number(r, "objective")));
    lx_result_free(r);
    r = solved(height, NULL);
    same(number(r, "objective"), 120);
    same(number(r, "height"), 120);
    lx_result_free(r);
    r = solved(room, NULL);
    assert_string_equal(lx_result_word(r, "status"), "optimal");
    same(number(r, "objective"), 0);
    lx_result_free(r);
    lx_placement_free(fit);
    lx_placement_free(height);
    lx_placement_free(room);
}

/* Everybody's answer: legal ones with their value, others with the rule. */
static void test_check(void **state)
{
    (void)state;
    lx_placement *p = three("cost", 100);
    lx_error *e = lx_error_new();
    double value = -1;
    int64_t good[] = {-1, 0, 60}, clash[] = {-1, 0, 39}, high[] = {-1, 0, 61}, all_off[] = {-1, -1, -1};
    assert_int_equal(lx_check(p, NULL, good, 3, &value, e), 1);
    same(value, 10);
    assert_string_equal(lx_error_code(e), "ok");
    assert_int_equal(lx_check(p, NULL, all_off, 3, &value, e), 1);
    same(value, 60);
    assert_int_equal(lx_check(p, NULL, clash, 3, &value, e), 0);
    assert_non_null(strstr(lx_error_text(e), "overlap: "));
    assert_string_equal(lx_error_code(e), "no");
    assert_int_equal(lx_check(p, NULL, high, 3, &value, e), 0);
    assert_non_null(strstr(lx_error_text(e), "capacity: "));
    int32_t pools[] = {0, 1, 0};
    assert_int_equal(lx_check(p, pools, good, 3, &value, e), 0);
    assert_non_null(strstr(lx_error_text(e), "pool: "));
    assert_true(lx_check(p, NULL, good, 2, &value, e) < 0);
    assert_string_equal(lx_error_code(e), "usage");
    lx_error_free(e);
    lx_placement_free(p);
}

/* One problem with every key; its text read back is the same problem. */
static lx_placement *everything(void)
{
    lx_placement *p = lx_placement_new("cost", 2, NULL);
    int64_t uses[] = {0, 2}, child_uses[] = {2, 4};
    int32_t group[] = {4, 5}, pair[] = {6, 7}, one[] = {0}, other[] = {6};
    assert_int_equal(lx_placement_pool(p, "fast", 64, NULL), 0);
    assert_int_equal(lx_placement_pool(p, "slow", 256, NULL), 1);
    assert_int_equal(lx_placement_reserve(p, 0, 0, 8, 0, 0, NULL), 0);
    assert_int_equal(lx_placement_reserve(p, 1, 0, 16, 1, 2, NULL), 0);
    for (int i = 0; i < 10; i++) {
        int64_t size = 8 + 2 * (i % 3), start = i == 1 ? 2 : 0, off = i == 3 || i == 9 ? 0 : 50 + i;
        if (i == 1) size = 8;
        assert_int_equal(lx_placement_buffer(p, NULL, size, start, start + 3, i == 8 ? -1 : off, NULL), i);
    }
    assert_int_equal(lx_placement_uses(p, 0, uses, 2, 0, NULL), 0);
    assert_int_equal(lx_placement_uses(p, 1, child_uses, 2, 0, NULL), 0);
    assert_int_equal(lx_placement_set(p, 1, "parent", "0", NULL), 0);
    assert_int_equal(lx_placement_live(p, 2, 5, 9, NULL), 0);
    assert_int_equal(lx_placement_set(p, 3, "barred", "it is shared", NULL), 0);
    assert_int_equal(lx_placement_set(p, 2, "alignment", "16", NULL), 0);
    assert_int_equal(lx_placement_allow(p, 6, 1, 3, NULL), 0);
    assert_int_equal(lx_placement_allow(p, 6, 0, 0, NULL), 0);
    assert_int_equal(lx_placement_pin(p, 8, 1, 32, 1, NULL), 0);
    assert_int_equal(lx_placement_set(p, 9, "instead_of", "7", NULL), 0);
    assert_int_equal(lx_placement_pair(p, "apart", 0, 7, 0, NULL), 0);
    assert_int_equal(lx_placement_pair(p, "exclusive", 6, 0, 0, NULL), 0);
    assert_int_equal(lx_placement_pair(p, "reuse", 1, 6, 5, NULL), 0);
    assert_int_equal(lx_placement_group(p, "same_place", group, 2, NULL), 0);
    assert_int_equal(lx_placement_group(p, "together", pair, 2, NULL), 0);
    assert_int_equal(lx_placement_charge(p, 4, one, 1, NULL, 0, NULL, 0, other, 1, NULL), 0);
    assert_int_equal(lx_placement_charge(p, -1, NULL, 0, one, 1, other, 1, NULL, 0, NULL), 0);
    return p;
}

static void test_round(void **state)
{
    (void)state;
    lx_placement *p = everything();
    lx_error *e = lx_error_new();
    lx_text *text = lx_placement_write(p, "pattern", e);
    if (!text) fail_msg("%s", lx_error_text(e));
    assert_int_equal(strlen(lx_text_data(text)), lx_text_size(text));
    lx_placement *again = lx_placement_parse(lx_text_data(text), lx_text_size(text), NULL, e);
    if (!again) fail_msg("%s", lx_error_text(e));
    lx_text *second = lx_placement_write(again, NULL, e);
    assert_string_equal(lx_text_data(text), lx_text_data(second));
    lx_result *a = solved(p, NULL), *b = solved(again, NULL);
    lx_text *plan_a = lx_result_write(a, "plan", NULL, e), *plan_b = lx_result_write(b, NULL, NULL, e);
    assert_string_equal(lx_text_data(plan_a), lx_text_data(plan_b));
    assert_string_equal(lx_result_word(a, "status"), "optimal");
    int32_t pools[10];
    int64_t addresses[10];
    double value;
    assert_int_equal(lx_result_places(a, pools, addresses, 10), 10);
    assert_int_equal(lx_check(again, pools, addresses, 10, &value, e), 1);
    same(value, number(a, "objective"));
    assert_int_equal(addresses[8], 32);
    assert_int_equal(addresses[4], addresses[5]);
    lx_text_free(plan_a);
    lx_text_free(plan_b);
    lx_text_free(text);
    lx_text_free(second);
    lx_result_free(a);
    lx_result_free(b);
    lx_placement_free(p);
    lx_placement_free(again);
    lx_error_free(e);
}

static void test_formats(void **state)
{
    (void)state;
    static const char csv[] = "id,lower,upper,size\na,0,3,40\nb,0,3,40\n";
    lx_error *e = lx_error_new();
    lx_placement *p = lx_placement_parse(csv, sizeof csv - 1, "csv", e);
    if (!p) fail_msg("%s", lx_error_text(e));
    lx_text *back = lx_placement_write(p, "csv", e);
    assert_non_null(strstr(lx_text_data(back), "a,0,3,40"));
    lx_text_free(back);
    assert_null(lx_placement_write(p, "d2m", e)); /* only read */
    assert_string_equal(lx_error_code(e), "unsupported");
    assert_null(lx_placement_write(p, "no such", e));
    assert_string_equal(lx_error_code(e), "unknown_name");
    assert_null(lx_placement_parse("{\n  \"x\"", 7, NULL, e));
    int32_t line = 0, column = 0;
    assert_null(lx_error_place(e, &line, &column));
    assert_int_equal(line, 2);
    lx_placement_free(p);
    lx_error_free(e);
}

/* --- Held wrong. --- */

static int32_t stop_at_once(void *context)
{
    ++*(int *)context;
    return 1;
}

static void see_progress(void *context, int64_t steps, double objective, double bound)
{
    (void)steps;
    if (objective < bound) ++*(int *)context;
}

/* Two children of one parent that are never there at once may both take its place, and the result says so. */
static void test_two_branches(void **state)
{
    (void)state;
    lx_placement *p = lx_placement_new("cost", 1, NULL);
    int64_t uses[] = {0, 2};
    assert_int_equal(lx_placement_pool(p, "LX", 4, NULL), 0);
    assert_int_equal(lx_placement_buffer(p, "p", 4, 0, 3, 9, NULL), 0);
    assert_int_equal(lx_placement_uses(p, 0, uses, 2, 0, NULL), 0);
    for (int32_t i = 1; i < 3; i++) {
        assert_int_equal(lx_placement_buffer(p, i == 1 ? "c" : "d", 4, 2, 5, 7 - i, NULL), i);
        assert_int_equal(lx_placement_set(p, i, "parent", "0", NULL), 0);
    }
    assert_int_equal(lx_placement_pair(p, "exclusive", 1, 2, 0, NULL), 0);
    lx_result *r = solved(p, NULL); /* checks it, too */
    same(number(r, "objective"), 0);
    same(item(r, 2, "in_place_of"), 0);
    /* what a list for other tools cannot say is no list */
    lx_error *e = lx_error_new();
    assert_null(lx_placement_write(p, "csv", e));
    assert_non_null(strstr(lx_error_text(e), "exclusive"));
    assert_non_null(strstr(lx_error_text(e), "taken over"));
    lx_error_free(e);
    lx_result_free(r);
    lx_placement_free(p);
}

static void test_options(void **state)
{
    (void)state;
    lx_error *e = lx_error_new();
    lx_options *o = lx_options_new();
    lx_placement *p = three("cost", 100);
    int asked = 0, wrong = 0, rows = 0;
    assert_int_equal(lx_options_set(o, "solver", "greedy", e), 0);
    assert_int_equal(lx_options_set(o, "seed", "7", e), 0);
    assert_true(lx_options_set(o, "no_such", "7", e) < 0);
    assert_string_equal(lx_error_code(e), "unknown_name");
    assert_true(lx_options_set(o, "seed", "x", e) < 0);
    assert_true(lx_options_set(o, "verify", "x", e) < 0);
    assert_true(lx_options_set(o, "plugins", "/no/such.so", e) < 0);
    assert_string_equal(lx_error_code(e), "io");
    assert_int_equal(lx_options_set(o, "verify", "none", e), 0);
    assert_int_equal(lx_options_set(o, "threads", "2", e), 0);
    lx_result *r = solved(p, o);
    assert_string_equal(lx_result_word(r, "solver"), "greedy");
    lx_result_free(r);
    assert_int_equal(lx_options_set(o, "solver", "auto", e), 0);
    assert_int_equal(lx_options_set(o, "level", "9", e), 0);
    lx_options_on_stop(o, stop_at_once, &asked);
    lx_options_on_progress(o, see_progress, &wrong);
    r = solved(p, o);
    assert_int_equal(wrong, 0);
    lx_result_free(r);
    for (; lx_options_at(rows, "name"); rows++) {
        assert_non_null(lx_options_at(rows, "default"));
        assert_non_null(lx_options_at(rows, "low"));
        assert_non_null(lx_options_at(rows, "high"));
        assert_true(*lx_options_at(rows, "help"));
    }
    assert_true(rows > 20);
    assert_null(lx_options_at(-1, "name"));
    assert_null(lx_options_at(0, "no such"));
    lx_placement_free(p);
    lx_options_free(o);
    lx_error_free(e);
}

static void test_library(void **state)
{
    (void)state;
    int solvers = 0;
    assert_string_equal(lx_version(), LXPLAN_VERSION);
    assert_int_equal(lx_abi(), 0);
    assert_int_equal(lx_has("threads"), 1);
    assert_int_equal(lx_has("no such"), 0);
    for (; lx_solver_at(solvers, "name"); solvers++) {
        assert_true(*lx_solver_at(solvers, "summary"));
        assert_true(*lx_solver_at(solvers, "can"));
        assert_null(lx_solver_at(solvers, "no such"));
    }
    assert_true(solvers >= 6);
    assert_null(lx_solver_at(-1, "name"));
}

static void test_wrong(void **state)
{
    (void)state;
    lx_error *e = lx_error_new();
    int32_t outside[] = {0, 3};
    assert_null(lx_placement_new("least", 1, e));
    assert_null(lx_placement_new("cost", 0, e));
    assert_string_equal(lx_error_code(e), "range");
    lx_placement *p = three("cost", 100);
    assert_true(lx_placement_pool(p, "LX", 100, e) < 0);
    assert_string_equal(lx_error_code(e), "duplicate");
    assert_true(lx_placement_pool(p, "x", -2, e) < 0);
    assert_true(lx_placement_reserve(p, 1, 0, 8, 0, 0, e) < 0);
    assert_true(lx_placement_buffer(p, "a", 1, 0, 1, 0, e) < 0);
    assert_true(lx_placement_buffer(p, "", 1, 0, 1, 0, e) < 0);
    assert_true(lx_placement_buffer(p, "n", -1, 0, 1, 0, e) < 0);
    assert_true(lx_placement_live(p, 3, 4, 5, e) < 0);
    assert_true(lx_placement_live(p, 0, 2, 5, e) < 0);
    assert_true(lx_placement_uses(p, 0, NULL, 2, 0, e) < 0);
    assert_true(lx_placement_allow(p, 0, 9, 0, e) < 0);
    assert_true(lx_placement_pin(p, 0, 0, -4, 0, e) < 0);
    assert_true(lx_placement_set(p, 0, "colour", "red", e) < 0);
    assert_true(lx_placement_set(p, 0, "parent", "x", e) < 0);
    assert_true(lx_placement_set(p, 0, "parent", "9", e) < 0);
    assert_true(lx_placement_pair(p, "near", 0, 1, 0, e) < 0);
    assert_true(lx_placement_pair(p, "apart", 0, 3, 0, e) < 0);
    assert_true(lx_placement_group(p, "together", outside, 2, e) < 0);
    assert_true(lx_placement_group(p, "heap", outside, 1, e) < 0);
    assert_true(lx_placement_charge(p, 1, outside, 2, NULL, 0, NULL, 0, NULL, 0, e) < 0);
    lx_result *r = solved(p, NULL); /* none of it has left a trace */
    same(number(r, "objective"), 10);
    assert_int_equal(lx_result_number(r, "colour", NULL), -1);
    assert_int_equal(lx_result_number(r, "us", NULL), -1); /* a list takes no time */
    assert_null(lx_result_word(r, "colour"));
    assert_int_equal(lx_result_count(r, "colours"), -1);
    assert_int_equal(lx_result_count(r, "ops"), 0);
    assert_int_equal(lx_result_item_number(r, "buffers", 3, "size", NULL), -1);
    assert_int_equal(lx_result_item_number(r, "buffers", 0, "colour", NULL), -1);
    assert_null(lx_result_item_word(r, "buffers", -1, "name"));
    assert_null(lx_result_write(r, "no such", NULL, e));
    lx_result_free(r);
    lx_placement_free(p);
    lx_error_free(e);
}

/* A problem that no rule allows is refused when it is solved, with the rule in words. */
static void says(const lx_error *e, const char *words)
{
    if (!strstr(lx_error_text(e), words)) fail_msg("\"%s\" does not say: %s", lx_error_text(e), words);
}

/* What is wrong is said as it is, and the words of spec and files are those of the library. */
static void test_words_of_errors(void **state)
{
    (void)state;
    lx_error *e = lx_error_new();
    int64_t address = 0;
    lx_placement *p = three("cost", 100);
    assert_null(lx_placement_new("cost", INT64_MAX, e));
    says(e, "from 1 to 2^53");
    assert_true(lx_placement_set(p, 0, "barred", NULL, e) < 0);
    says(e, "barred needs a value");
    assert_true(lx_placement_buffer(p, "a\xff", 1, 0, 1, 0, e) < 0);
    says(e, "UTF-8");
    assert_true(lx_placement_pool(p, "\xe2\x82", 1, e) < 0);
    says(e, "UTF-8");
    assert_true(lx_placement_set(p, 0, "barred", "\x80", e) < 0);
    says(e, "UTF-8");
    assert_true(lx_placement_buffer(p, "\xc3\xa4", 1, 0, 1, 0, e) == 3);
    assert_true(lx_check(NULL, NULL, &address, 1, NULL, e) < 0);
    says(e, "no placement");
    assert_true(lx_check(p, NULL, NULL, 4, NULL, e) < 0);
    says(e, "no addresses");
    assert_true(lx_check(p, NULL, &address, 1, NULL, e) < 0);
    says(e, "1 addresses for 4 buffers");
    assert_true(lx_placement_pool(NULL, "x", 1, e) < 0);
    says(e, "no placement");
    assert_true(lx_placement_set(NULL, 0, "barred", "x", e) < 0);
    says(e, "no placement");
    assert_true(lx_placement_charge(NULL, 1, NULL, 0, NULL, 0, NULL, 0, NULL, 0, e) < 0);
    says(e, "no placement");
    lx_placement_free(p);
    p = three("cost", 100);
    assert_true(lx_placement_buffer(p, "empty", 1, 4, 4, 0, e) >= 0);
    assert_null(lx_solve(p, NULL, e));
    says(e, "live");
    lx_placement_free(p);
    lx_error_free(e);
}

static void test_impossible_model(void **state)
{
    (void)state;
    lx_error *e = lx_error_new();
    lx_placement *p = lx_placement_new("cost", 1, e);
    lx_placement_buffer(p, "a", 8, 0, 2, 1, e);
    assert_null(lx_solve(p, NULL, e));
    assert_string_equal(lx_error_code(e), "model");
    assert_non_null(strstr(lx_error_text(e), "no pool"));
    lx_placement_pool(p, "LX", 64, e);
    lx_placement_buffer(p, "b", 8, 3, 3, 1, e);
    assert_null(lx_solve(p, NULL, e));
    assert_non_null(strstr(lx_error_text(e), "buffer b"));
    lx_placement_free(p);
    p = three("cost", 100);
    lx_placement_pin(p, 0, 0, 80, 0, e); /* beyond the pool */
    assert_null(lx_solve(p, NULL, e));
    assert_non_null(strstr(lx_error_text(e), "pin"));
    lx_placement_free(p);
    lx_error_free(e);
}

static void test_nothing(void **state)
{
    (void)state;
    lx_error_free(NULL);
    lx_text_free(NULL);
    lx_options_free(NULL);
    lx_placement_free(NULL);
    lx_result_free(NULL);
    lx_graph_free(NULL);
    assert_string_equal(lx_error_code(NULL), "ok");
    assert_string_equal(lx_error_text(NULL), "");
    assert_null(lx_error_place(NULL, NULL, NULL));
    assert_int_equal(lx_text_size(NULL), 0);
    assert_null(lx_solve(NULL, NULL, NULL));
    assert_true(lx_check(NULL, NULL, NULL, 0, NULL, NULL) < 0);
    assert_true(lx_placement_pool(NULL, "x", 1, NULL) < 0);
    assert_true(lx_placement_buffer(NULL, "x", 1, 0, 1, 1, NULL) < 0);
    assert_true(lx_options_set(NULL, "seed", "1", NULL) < 0);
    assert_int_equal(lx_result_number(NULL, "objective", NULL), -1);
    assert_int_equal(lx_result_places(NULL, NULL, NULL, 0), -1);
    assert_null(lx_placement_parse(NULL, 0, NULL, NULL));
    assert_null(lx_placement_write(NULL, NULL, NULL));
    assert_null(lx_result_write(NULL, NULL, NULL, NULL));
}

static void test_many(void **state)
{
    (void)state;
    enum { N = 500 };
    int64_t sizes[N], starts[N], ends[N], offs[N];
    for (int i = 0; i < N; i++) {
        sizes[i] = 1 + i % 7;
        starts[i] = i;
        ends[i] = i + 5;
        offs[i] = sizes[i];
    }
    lx_placement *p = lx_placement_new("cost", 1, NULL);
    lx_placement_pool(p, "LX", 16, NULL);
    assert_int_equal(lx_placement_buffers(p, N, sizes, starts, ends, offs, NULL), 0);
    assert_int_equal(lx_placement_buffers(p, 1, sizes, starts, ends, NULL, NULL), N);
    assert_true(lx_placement_buffers(p, 1, NULL, starts, ends, offs, NULL) < 0);
    lx_options *quick = lx_options_new();
    assert_int_equal(lx_options_set(quick, "solver", "bestfit", NULL), 0);
    lx_result *r = solved(p, quick);
    lx_options_free(quick);
    assert_int_equal(lx_result_places(r, NULL, NULL, 0), N + 1);
    assert_string_equal(lx_result_item_word(r, "buffers", 7, "name"), "#7");
    lx_result_free(r);
    lx_placement_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_round),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_two_branches),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_words_of_errors),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_impossible_model),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
