/* Joint questions with copies, terms and pairs that are no labels: what is answered, and what is refused with words. */
#include "lxplan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#define HEAD                                                                                                 \
    "{\"lxplan\": 1, \"kind\": \"joint\", \"capacity\": 1024, \"objective\": \"cost\", \"buffers\": ["
#define TWO "\"menu\": [{\"bytes\": 128}, {\"bytes\": 256}]"
#define A(pairs)                                                                                             \
    "{\"name\": \"a\", \"live\": [0, 2], \"off\": 2000, " TWO                                                \
    ", \"readers\": [{\"buffer\": 1, \"pairs\": " pairs "}]}"
#define B "{\"name\": \"b\", \"live\": [1, 2], \"off\": 0, " TWO "}"
#define COPY(rest)                                                                                           \
    "{\"name\": \"copy\", \"live\": [1, 2], \"off\": 0, \"menu\": [{\"bytes\": 128}], \"copy_of\": 0" rest "}"
#define SERVES ", \"readers\": [{\"buffer\": 1, \"pairs\": [[0, 1], [1, 0]]}]"

static double number(const lx_result *r, const char *name)
{
    double value = NAN;
    assert_int_equal(lx_result_number(r, name, &value), 0);
    return value;
}

static double item(const lx_result *r, int32_t i, const char *name)
{
    double value = NAN;
    assert_int_equal(lx_result_item_number(r, "buffers", i, name, &value), 0);
    return value;
}

static void same(double a, double b)
{
    if (!(fabs(a - b) < 1e-9)) fail_msg("%.12g is not %.12g", a, b);
}

static lx_result *solved(const char *text)
{
    lx_error *e = lx_error_new();
    lx_result *r = lx_joint_solve(text, (int64_t)strlen(text), NULL, e);
    if (!r) fail_msg("%s", lx_error_text(e));
    assert_string_equal(lx_result_word(r, "status"), "optimal");
    same(number(r, "bound"), number(r, "objective"));
    same(number(r, "gap"), 0);
    lx_error_free(e);
    return r;
}

/* Choices 0 and 1 of b both read choice 0 of a, and choice 1 of b choice 1 of a as well: no parts are equal like that. */
static void pairs_that_are_no_labels(void **unused)
{
    (void)unused;
    lx_result *r = solved(HEAD A("[[0, 0], [0, 1], [1, 1]]") ", " B "]}");
    same(number(r, "objective"), 0);
    same(item(r, 0, "address"), 0);
    lx_result_free(r);
}

/* Without a pair, a is on chip only beside its copy, by the cheaper of the two prices. */
static void copies_have_their_price(void **unused)
{
    (void)unused;
    lx_result *r = solved(HEAD A("[]") ", " B ", " COPY(SERVES ", \"prices\": [70.5, 30.25]") "]}");
    same(number(r, "objective"), 30.25);
    same(item(r, 0, "choice"), 1);
    same(item(r, 1, "choice"), 0);
    assert_true(item(r, 0, "address") >= 0 && item(r, 2, "address") >= 0);
    lx_result_free(r);
    r = solved(HEAD A("[]") ", " B ", " COPY(SERVES ", \"prices\": [2070.5, 2030.25]") "]}");
    same(number(r, "objective"), 2000);
    assert_string_equal(lx_result_item_word(r, "buffers", 0, "reason"), "its readers cut it otherwise");
    assert_string_equal(lx_result_item_word(r, "buffers", 2, "reason"), "it would serve nobody");
    lx_result_free(r);
}

/* A term over a bit and two choices; the axis of b does not tell its choices apart. */
static void terms_are_added_up(void **unused)
{
    (void)unused;
    static const char term[] =
        HEAD A("[[0, 0], [1, 1]]") ", " B "], \"terms\": ["
                                   "{\"axes\": [{\"buffer\": 0, \"on\": true}, {\"buffer\": 0}, "
                                   "{\"buffer\": 1, \"classes\": [0, 0]}], \"values\": [-1, 3, 0.5, 0.25]}, "
                                   "{\"axes\": [], \"values\": [7]}]}";
    lx_result *r = solved(term);
    same(number(r, "objective"), 7.25);
    same(item(r, 0, "choice"), 1);
    lx_result_free(r);
}

static void refused_with_words(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *word;
    } wrong[] = {
        {HEAD A("[[2, 0]]") ", " B "]}", "on no menu"},
        {HEAD A("[]") ", " B ", " COPY(SERVES ", \"prices\": [1]") "]}", "price per choice"},
        {HEAD A("[]") ", " B ", " COPY(", \"readers\": [{\"buffer\": 1, \"pairs\": [[2, 0]]}]") "]}",
         "on no menu"},
        {HEAD A("[]") ", " B ", " COPY(", \"prices\": [1, \"x\"]") "]}", "number"},
        {HEAD "{\"name\": \"a\", \"live\": [0, 1], \"off\": 1, " TWO ", \"prices\": [1, 2]}]}", "copy_of"},
        {HEAD "{\"name\": \"a\", \"live\": [0, 1], \"off\": 1, " TWO ", \"copy_of\": 0}]}", "copy"},
        {HEAD "{\"name\": \"a\", \"live\": [0, 1], \"off\": 1, " TWO ", \"parents\": [0]}]}", "own place"},
        {HEAD B "], \"terms\": [{\"axes\": [{\"buffer\": 0}], \"values\": [1]}]}", "1 values for 2"},
        {HEAD B "], \"terms\": [{\"axes\": [{\"buffer\": 1}], \"values\": [1, 2]}]}", "buffer"},
        {HEAD B "], \"terms\": [{\"axes\": [{\"buffer\": 0, \"classes\": [0]}], \"values\": [1]}]}",
         "2 choices"},
        {HEAD B "], \"terms\": [{\"axes\": [{\"buffer\": 0, \"on\": true, \"classes\": [0, 1]}], \"values\": "
                "[1, 2]}]}",
         "not of both"},
        {"{\"lxplan\": 1, \"kind\": \"joint\", \"capacity\": 1024, \"buffers\": [" B
         "], \"terms\": [{\"axes\": [], \"values\": [1]}]}",
         "objective"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lx_error *e = lx_error_new();
        assert_null(lx_joint_solve(wrong[i].text, (int64_t)strlen(wrong[i].text), NULL, e));
        if (!strstr(lx_error_text(e), wrong[i].word)) fail_msg("%zu: %s", i, lx_error_text(e));
        lx_error_free(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_that_are_no_labels),
        cmocka_unit_test(copies_have_their_price),
        cmocka_unit_test(terms_are_added_up),
        cmocka_unit_test(refused_with_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
