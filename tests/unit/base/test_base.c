/* lib/base: what every stage stands on, at its edges. */
#include "base/arena.h"
#include "base/checked.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/words/words.h"
#include "base/option.h"
#include "base/rng.h"
#include "base/fail.h"
#include "base/text.h"
#include "base/vec.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* The arena is asked for more than any machine has; the sanitizer's allocator must say no as malloc does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void status_describes(void **state)
{
    (void)state;
    lx_status st;
    char out[1200];
    assert_false(status_set(&st, LX_E_RANGE, "%d is too many", 7));
    assert_string_equal(lx_status_describe(&st, out, sizeof out), "7 is too many");
    assert_false(status_set_at(&st, LX_E_RANGE, "a.json", 0, 0, "empty"));
    assert_string_equal(lx_status_describe(&st, out, sizeof out), "a.json: empty");
    assert_false(status_set_at(&st, LX_E_SCHEMA, "a.json", 3, 14, "x"));
    assert_string_equal(lx_status_describe(&st, out, sizeof out), "a.json:3:14: x");
    assert_string_equal(lx_status_describe(&st, out, 5), "a.js");
    assert_false(status_set(NULL, LX_E_RANGE, "nobody listens"));
    assert_false(status_no_memory(&st));
    assert_int_equal(st.code, LX_E_MEMORY);
}

static void status_codes_have_words(void **state)
{
    (void)state;
    for (int i = 0; i < LX_CODE_COUNT; i++) {
        const char *word = lx_code_word((enum lx_code)i);
        for (int k = 0; k < i; k++) assert_string_not_equal(lx_code_word((enum lx_code)k), word);
        assert_int_equal(word[strspn(word, "abcdefghijklmnopqrstuvwxyz_")], 0);
        if (i == LX_E_STOPPED)
            assert_int_equal(lx_code_exit((enum lx_code)i), 130); /* as of a program that SIGINT ends */
        else
            assert_in_range(lx_code_exit((enum lx_code)i), 0, 3);
    }
    assert_string_equal(lx_code_word((enum lx_code) - 1), "unknown");
    assert_int_equal(lx_code_exit((enum lx_code)1000), 3);
}

static void status_is_safe_on_a_terminal(void **state)
{
    (void)state;
    lx_status st;
    status_set_at(&st, LX_E_SCHEMA, "a\nb", 1, 1, "name \033[31m\a\x7f\t");
    assert_string_equal(st.file, "a?b");
    assert_string_equal(st.text, "name ?[31m???");
}

/* A text that is cut to size ends at a whole character, whatever the offset of the cut. */
static void status_is_cut_between_characters(void **state)
{
    (void)state;
    lx_status st;
    char name[3000];
    for (size_t shift = 0; shift < 4; shift++) {
        memset(name, 'a', shift);
        for (size_t i = shift; i + 3 < sizeof name; i += 3) memcpy(name + i, "\xe2\x82\xac", 4);
        status_set_at(&st, LX_E_SCHEMA, name, 1, 1, "%s", name);
        const char *both[] = {st.text, st.file};
        size_t rooms[] = {sizeof st.text, sizeof st.file};
        for (int k = 0; k < 2; k++) {
            size_t n = strlen(both[k]), i = 0;
            assert_true(n < rooms[k] && n + 4 >= rooms[k]);
            for (int step; i < n; i += (size_t)step)
                assert_int_not_equal(step = utf8_length(both[k] + i, n - i), 0);
        }
    }
}

static void arena_gives_aligned_zeroed_memory(void **state)
{
    (void)state;
    struct arena a = {0};
    unsigned char *kept[2000];
    for (size_t i = 0; i < 2000; i++) {
        size_t size = i * 7 % 301;
        unsigned char *p = kept[i] = arena_alloc(&a, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t k = 0; k < size; k++) assert_int_equal(p[k], 0);
        memset(p, (int)(i & 0xff), size);
    }
    for (size_t i = 0; i < 2000; i++)
        for (size_t k = 0; k < i * 7 % 301; k++) assert_int_equal(kept[i][k], i & 0xff);
    unsigned char *large = arena_alloc(&a, (size_t)5 << 20);
    assert_non_null(large);
    assert_int_equal(large[((size_t)5 << 20) - 1], 0);
    assert_string_equal(arena_string(&a, "text"), "text");
    assert_string_equal(arena_copy(&a, "text", 2), "te");
    assert_string_equal(arena_format(&a, "%d-%s", 5, "x"), "5-x");
    assert_non_null(arena_array(&a, 0, 8));
    assert_non_null(arena_copy_array(&a, NULL, 0, 8));
    arena_free(&a);
    assert_null(a.head);
    arena_free(&a);
}

static void vec_grows(void **state)
{
    (void)state;
    VEC(int) v = {0};
    for (int i = 0; i < 100000; i++) assert_true(VEC_PUSH(&v, i));
    for (int i = 0; i < 100000; i++) assert_int_equal(v.at[i], i);
    assert_int_equal(v.count, 100000);
    VEC_FREE(&v);
    assert_null(v.at);
    assert_int_equal(v.count + v.room, 0);
}

/* Patterns are generated from seeds on every machine: these numbers may never change. */
static void rng_has_one_stream(void **state)
{
    (void)state;
    static const uint64_t zero[] = {UINT64_C(0x99ec5f36cb75f2b4), UINT64_C(0xbf6e1f784956452a),
                                    UINT64_C(0x1a5f849d4933e6e0), UINT64_C(0x6aa594f1262d2d2c)};
    static const uint64_t one[] = {UINT64_C(0xb3f2af6d0fc710c5), UINT64_C(0x853b559647364cea),
                                   UINT64_C(0x92f89756082a4514), UINT64_C(0x642e1c7bc266a3a7)};
    struct rng a = rng_seed(0), b = rng_seed(1);
    for (int i = 0; i < 4; i++) {
        assert_true(rng_next(&a) == zero[i]);
        assert_true(rng_next(&b) == one[i]);
    }
}

static void rng_stays_in_bounds(void **state)
{
    (void)state;
    struct rng r = rng_seed(5);
    static const uint64_t limits[] = {1, 2, 3, 10, UINT64_C(1) << 32, (UINT64_C(1) << 63) + 1, UINT64_MAX};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
        for (int i = 0; i < 1000; i++) assert_true(rng_below(&r, limits[k]) < limits[k]);
    /* Of 3/4 of the range a biased remainder would land in the lowest third twice as often as elsewhere. */
    uint64_t limit = UINT64_C(3) << 62;
    int low = 0, counts[7] = {0};
    for (int i = 0; i < 30000; i++) low += rng_below(&r, limit) < limit / 3;
    assert_in_range(low, 9600, 10400);
    for (int i = 0; i < 70000; i++) counts[rng_below(&r, 7)]++;
    for (int i = 0; i < 7; i++) assert_in_range(counts[i], 9500, 10500);
    bool seen_low = false, seen_high = false;
    for (int i = 0; i < 1000; i++) {
        int64_t v = rng_between(&r, -3, 3);
        assert_true(v >= -3 && v <= 3);
        seen_low |= v == -3;
        seen_high |= v == 3;
        double u = rng_unit(&r);
        assert_true(u >= 0 && u < 1);
    }
    assert_true(seen_low && seen_high);
    assert_true(rng_between(&r, 9, 9) == 9);
}

static void checked_arithmetic_at_the_edges(void **state)
{
    (void)state;
    int64_t v;
    assert_true(add_i64(INT64_MAX, 0, &v) && v == INT64_MAX);
    assert_false(add_i64(INT64_MAX, 1, &v));
    assert_false(add_i64(INT64_MIN, -1, &v));
    assert_true(mul_i64(INT64_MAX, 1, &v) && v == INT64_MAX);
    assert_false(mul_i64(INT64_MAX / 2 + 1, 2, &v));
    assert_false(mul_i64(INT64_MIN, -1, &v));
    assert_true(ceil_div_i64(0, 7) == 0 && ceil_div_i64(7, 7) == 1 && ceil_div_i64(8, 7) == 2);
    assert_true(ceil_div_i64(INT64_MAX, 2) == INT64_MAX / 2 + 1);
    assert_true(ceil_div_i64(INT64_MAX, 1) == INT64_MAX);
    assert_true(round_up_i64(0, 128) == 0 && round_up_i64(1, 128) == 128 && round_up_i64(128, 128) == 128);
    assert_true(round_up_i64(INT64_MAX - 1, 128) == INT64_MAX);
    assert_true(min_i64(-1, 1) == -1 && max_i64(-1, 1) == 1);
}

static void text_escapes(void **state)
{
    (void)state;
    struct text t = {0};
    text_json_string(&t, "a\"\\\n\t\r\x01\x7f\xc3\xa9");
    assert_string_equal(t.at, "\"a\\\"\\\\\\n\\t\\u000d\\u0001\\u007f\xc3\xa9\"");
    text_free(&t);
    text_json_string(&t, "\xff"
                         "a\xc3");
    assert_string_equal(t.at, "\"\xef\xbf\xbd"
                              "a\xef\xbf\xbd\"");
    text_free(&t);
    text_xml(&t, "<a href=\"x\">&'\x1b</a>");
    assert_string_equal(t.at, "&lt;a href=&quot;x&quot;&gt;&amp;&apos;?&lt;/a&gt;");
    text_free(&t);
    static const int64_t numbers[] = {0, 7, -1, 10, INT64_MAX, INT64_MIN, -9007199254740991};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char want[32];
        snprintf(want, sizeof want, "%" PRId64, numbers[i]);
        text_int(&t, numbers[i]);
        assert_string_equal(t.at, want);
        text_free(&t);
    }
    for (int length = 0; length < 700; length += 7) { /* whether there is room for it or not */
        text_format(&t, "%*s|", length, "");
        text_format(&t, "%s", "");
        assert_true(t.length == (size_t)length + 1 && t.at[length] == '|' && strlen(t.at) == t.length);
        text_free(&t);
    }
    for (int i = 0; i < 10000; i++) text_format(&t, "%d,", i % 10);
    text_pad(&t, '-', 5000);
    text_add_n(&t, "xyz", 2);
    assert_int_equal(t.length, 25002);
    assert_int_equal(strlen(t.at), 25002);
    text_free(&t);
}

static void names_of_many(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    char(*keys)[16] = mem_zeroed(MANY, sizeof *keys);
    struct names n = {0};
    assert_int_equal(names_find(&n, "x"), -1);
    for (int32_t i = 0; i < MANY; i++) {
        snprintf(keys[i], sizeof keys[i], "t%d", (int)i);
        assert_int_equal(names_add(&n, keys[i], i), NAMES_ADDED);
    }
    assert_int_equal(names_add(&n, "t99999", 5), NAMES_KNOWN);
    for (int32_t i = 0; i < MANY; i++) assert_int_equal(names_find(&n, keys[i]), i);
    assert_int_equal(names_find(&n, "t100000"), -1);
    assert_int_equal(names_find(&n, ""), -1);
    names_free(&n);
    mem_free(keys);
}

static void options_are_parsed(void **state)
{
    (void)state;
    static const struct lx_option rows[] = {{"moves", 30, 1, 1000000, "help"},
                                            {"bytes", 0, -5, INT64_MAX, "help"}};
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } cases[] = {
        {"7", true, 7},
        {"-5", true, -5},
        {"2k", true, 2048},
        {"3M", true, 3 << 20},
        {"1g", true, 1 << 30},
        {"-6", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"k", false, 0},
        {"1kk", false, 0},
        {"1kb", false, 0},
        {"1.5k", false, 0},
        {" 1", false, 0},
        {"0x10", false, 0},
        {"+1", false, 0},
        {"1e3", false, 0},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"8589934591g", true, INT64_C(8589934591) << 30},
        {"8589934592g", false, 0},
        {"99999999999999999999999999", false, 0},
    };
    int64_t values[2];
    lx_status st = {0};
    lx_values_default(rows, 2, values);
    assert_true(values[0] == 30 && values[1] == 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        values[1] = 42;
        bool ok = lx_values_set("sa", rows, 2, "bytes", cases[i].text, values, &st);
        assert_int_equal(ok, cases[i].ok);
        assert_true(values[1] == (ok ? cases[i].value : 42));
        if (!ok) assert_int_equal(st.code, LX_E_USAGE);
    }
    assert_false(lx_values_set("sa", rows, 2, "moves", "0", values, &st));
    assert_non_null(strstr(st.text, "from 1 to 1000000"));
    assert_false(lx_values_set("sa", rows, 2, "nothing", "1", values, &st));
    assert_string_equal(st.text, "sa has no option \"nothing\"; it has: moves, bytes");
    assert_false(lx_values_set("greedy", rows, 0, "x", "1", values, &st));
    assert_non_null(strstr(st.text, "none"));
    assert_true(values[0] == 30);
}

static void hash_is_fnv1a(void **state)
{
    (void)state;
    assert_true(hash_bytes(HASH_START, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(hash_bytes(HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8)); /* a published value */
}

/* Three digits, in the unit that fits them, on both sides of each border. */
static void times_have_units(void **state)
{
    static const struct {
        double seconds;
        const char *words;
    } cases[] = {{0, "0 s"},           {3e-10, "0.30 ns"},    {8.12e-7, "812 ns"},
                 {9.994e-7, "999 ns"}, {9.996e-7, "1.00 us"}, {9.996e-6, "10.0 us"},
                 {4.534e-4, "453 us"}, {2.923e-2, "29.2 ms"}, {0.9996, "1.00 s"},
                 {99.96, "100 s"},     {1234.4, "1234 s"},    {-2.5e-3, "-2.50 ms"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(in_time(cases[i].seconds).at, cases[i].words);
        assert_string_equal(in_micros(cases[i].seconds * 1e6).at, cases[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_describes),
        cmocka_unit_test(status_codes_have_words),
        cmocka_unit_test(status_is_safe_on_a_terminal),
        cmocka_unit_test(status_is_cut_between_characters),
        cmocka_unit_test(arena_gives_aligned_zeroed_memory),
        cmocka_unit_test(vec_grows),
        cmocka_unit_test(rng_has_one_stream),
        cmocka_unit_test(rng_stays_in_bounds),
        cmocka_unit_test(checked_arithmetic_at_the_edges),
        cmocka_unit_test(text_escapes),
        cmocka_unit_test(names_of_many),
        cmocka_unit_test(options_are_parsed),
        cmocka_unit_test(hash_is_fnv1a),
        cmocka_unit_test(times_have_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
