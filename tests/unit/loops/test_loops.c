/* Loop nests: both rule sets on the document's own example, the document's passes on random nests, the checks
 * one by one, files that are wrong, and a comparison that must notice sabotage. test_random_contractions.c
 * has ours. */
#include "unstable.h"
#include "base/memory.h"
#include "support/random_nest.h"
#include "support/loop_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { DOCUMENT_NESTS = 500 };

#define HEAD "{\"lxplan\": 1, \"kind\": \"loops\",\n"

static const struct lx_loop_rules *document(void)
{
    return rules_named("document");
}

static const struct lx_loop_rules *ours(void)
{
    return rules_named("lxplan");
}

/* A short way to write a nest: "m-16(1,0,1) nP8(0,4,16)", - seq, P prim, S shared. */
static struct lx_loops nest(enum lx_touch first, enum lx_touch main, enum lx_touch last, const char *text)
{
    struct lx_loops l = {.first = first, .main = main, .last = last, .has_in1 = true};
    char type, exec;
    long long size, in0, in1, out;
    int used;
    while (sscanf(text, " %c%c%lld(%lld,%lld,%lld)%n", &type, &exec, &size, &in0, &in1, &out, &used) == 6) {
        struct lx_loop *loop = &l.loop[l.count++];
        *loop = (struct lx_loop){.size = size, .stride = {in0, in1, out}};
        loop->type = type == 'c' ? LX_DIM_C : type == 'm' ? LX_DIM_M : type == 'n' ? LX_DIM_N : LX_DIM_K;
        loop->exec = exec == 'P' ? LX_EXEC_PRIM : exec == 'S' ? LX_EXEC_SHARED : LX_EXEC_SEQ;
        text += used;
    }
    return l;
}

#define GEMM(text) nest(LX_TOUCH_NONE, LX_TOUCH_GEMM, LX_TOUCH_NONE, text)

static void test_example_of_the_document(void **state)
{
    (void)state;
    struct lx_loops l =
        GEMM("n-32(0,8192,1024) k-8(1024,1024,0) m-32(1,0,1) n-5(0,262144,32768) n-32(0,32,32) "
             "k-32(32,1,0)");
    struct lx_loops before = l;
    struct lx_loops wanted =
        GEMM("nS160(0,8192,1024) k-8(1024,1024,0) mP32(1,0,1) nP32(0,32,32) kP32(32,1,0)");
    lx_status st;
    assert_true(lx_loops_optimise(&l, document(), 4, &st));
    assert_true(lx_loops_equal(&l, &wanted));
    assert_int_equal(lx_loops_validate(&l, document(), &st), 0);
    int64_t steps;
    assert_true(lx_loops_same(&before, &l, 3, (int64_t)1 << 28, &steps, &st));
    assert_true(steps >= 2 * lx_loops_work(&l));
}

static void show(const struct lx_loops *l)
{
    size_t length;
    char *json = lx_loops_to_json(l, &length);
    if (json) fputs(json, stderr);
    mem_free(json);
}

/* Shows the nests in question before the test ends. */
static void broken(int i, const char *what, const struct lx_loops *a, const struct lx_loops *b,
                   const char *why)
{
    show(a);
    if (b) show(b);
    fail_msg("%d, %s: %s", i, what, why);
}

/* The document's rules need not accept, but must not change a result either. */
static void test_document_keeps_results(void **state)
{
    (void)state;
    struct rng r = rng_seed(606);
    for (int i = 0; i < DOCUMENT_NESTS; i++) {
        struct lx_loops input = random_nest(&r, ANY_MAIN), l = input;
        lx_status st = {0};
        assert_true(lx_loops_optimise(&l, document(), 1 + (int64_t)rng_below(&r, 8), &st));
        if (!lx_loops_same(&input, &l, (uint64_t)i, INT64_MAX, NULL, &st))
            broken(i, "all passes", &input, &l, st.text);
        (void)lx_loops_validate(&l, document(), &st);
    }
}

/* Seed 004, reordering for sharing: "value/2 if we have the same dimension type as the last dimension, but not for
 * c dimension". Of m 6,400 only 3,200 are left behind an m, less than the 3,600 of n. */
static void test_a_repeated_type_counts_half(void **state)
{
    (void)state;
    static const char *const nests[][2] = {
        {"m-2(80,0,0) m-2(100,0,0) n-2(0,60,0)", "m-2(100,0,0) n-2(0,60,0) m-2(80,0,0)"},
        {"c-2(80,0,0) c-2(100,0,0) n-2(0,60,0)", "c-2(100,0,0) c-2(80,0,0) n-2(0,60,0)"}};
    for (int i = 0; i < 2; i++) {
        struct lx_loops l = GEMM(nests[i][0]), wanted = GEMM(nests[i][1]);
        lx_status st;
        assert_true(lx_loops_run_pass(&l, lx_loop_pass_find("reorder_shared"), document(), 4, &st));
        assert_true(lx_loops_equal(&l, &wanted));
    }
}

static void test_enough_blocks(void **state)
{
    (void)state;
    for (int64_t side = 64; side <= 1024; side *= 2)
        for (int64_t threads = 1; threads <= 8; threads++) {
            struct lx_loops l = {.first = LX_TOUCH_ZERO, .main = LX_TOUCH_GEMM, .has_in1 = true, .count = 3};
            l.loop[0] = (struct lx_loop){LX_DIM_M, LX_EXEC_SEQ, side, {1, 0, 1}};
            l.loop[1] = (struct lx_loop){LX_DIM_N, LX_EXEC_SEQ, side, {0, side, side}};
            l.loop[2] = (struct lx_loop){LX_DIM_K, LX_EXEC_SEQ, side, {side, 1, 0}};
            lx_status st;
            int64_t tasks = 1;
            assert_true(lx_loops_optimise(&l, ours(), threads, &st));
            for (int i = 0; i < l.count; i++)
                if (l.loop[i].exec == LX_EXEC_SHARED) tasks *= l.loop[i].size;
            assert_true(tasks >= threads);
            assert_int_equal(lx_loops_validate(&l, ours(), &st), 0);
        }
}

static void test_checks(void **state)
{
    (void)state;
    static const char good[] = "mP16(1,0,1) nP8(0,4,16) kP4(16,1,0)";
    static const struct {
        enum lx_touch first, main, last;
        const char *text;
        int document, ours;
        enum lx_code code; /* of the document's answer */
    } rows[] = {
        {LX_TOUCH_NONE, LX_TOUCH_GEMM, LX_TOUCH_NONE, good, 0, 0, LX_OK},
        {LX_TOUCH_NONE, LX_TOUCH_GEMM, LX_TOUCH_NONE, "", 2, 2, LX_E_LOOP_DIMENSION},
        {LX_TOUCH_NONE, LX_TOUCH_GEMM, LX_TOUCH_NONE, "kS5(64,32,0) mP16(1,0,1) nP8(0,4,16) kP4(16,1,0)", 14,
         14, LX_E_LOOP_SHARED_K},
        {LX_TOUCH_NONE, LX_TOUCH_GEMM, LX_TOUCH_NONE, "mP16(1,0,1) n-8(0,4,16)", 12, 12, LX_E_LOOP_ORDER},
        {LX_TOUCH_NONE, LX_TOUCH_GEMM, LX_TOUCH_NONE, "m-16(1,0,1) nP8(0,4,16) kP4(16,1,0)", 8, 0,
         LX_E_LOOP_PRIMITIVE},
        {LX_TOUCH_NONE, LX_TOUCH_GEMM, LX_TOUCH_NONE, "mP2(64,0,128) mP16(1,0,1) nP8(0,4,16) kP4(16,1,0)", 8,
         8, LX_E_LOOP_PRIMITIVE},
        {LX_TOUCH_NONE, LX_TOUCH_GEMM, LX_TOUCH_NONE, "mP16(2,0,1) nP8(0,4,16) kP4(32,1,0)", 8, 0,
         LX_E_LOOP_PRIMITIVE},
        {LX_TOUCH_NONE, LX_TOUCH_BRGEMM, LX_TOUCH_NONE, "kP4(16,1,0) mP16(1,0,1) nP8(0,4,16) kP3(64,32,0)", 8,
         0, LX_E_LOOP_PRIMITIVE},
        {LX_TOUCH_NONE, LX_TOUCH_GEMM, LX_TOUCH_NONE, "mP16(1,1,1) nP8(0,4,16) kP4(16,1,0)", 13, 13,
         LX_E_LOOP_STRIDE},
        {LX_TOUCH_NONE, LX_TOUCH_GEMM, LX_TOUCH_NONE, "c-5(64,32,0) mP16(1,0,1) nP8(0,4,16) kP4(16,1,0)", 0,
         13, LX_OK},
        {LX_TOUCH_NONE, LX_TOUCH_GEMM, LX_TOUCH_NONE, "c-5(0,32,128) mP16(1,0,1) nP8(0,4,16) kP4(16,1,0)", 0,
         0, LX_OK},
        {LX_TOUCH_NONE, LX_TOUCH_GEMM, LX_TOUCH_NONE, "c-5(64,32,8) mP16(1,0,1) nP8(0,4,16) kP4(16,1,0)", 0,
         13, LX_OK}, /* c and m write the same elements */
        {LX_TOUCH_NONE, LX_TOUCH_GEMM, LX_TOUCH_NONE, "mP2(1,0,3) nP3(0,4,2) kP4(2,1,0)", 8, 0,
         LX_E_LOOP_PRIMITIVE}, /* 3 x 2 beside 2 x 3: interleaved, but each element once */
        {LX_TOUCH_GEMM, LX_TOUCH_GEMM, LX_TOUCH_NONE, good, 4, 4, LX_E_LOOP_FIRST_TOUCH},
        {LX_TOUCH_NONE, LX_TOUCH_GEMM, LX_TOUCH_BRGEMM, good, 6, 6, LX_E_LOOP_LAST_TOUCH},
        {LX_TOUCH_ZERO, LX_TOUCH_GEMM, LX_TOUCH_NONE, "mP0(1,0,1) nP8(0,4,16) kP4(16,1,0)", 9, 9,
         LX_E_LOOP_FIRST_EMPTY},
        {LX_TOUCH_NONE, LX_TOUCH_GEMM, LX_TOUCH_NONE, "mP16(1,0,1) nP8(0,4,16) kP0(16,1,0)", 10, 10,
         LX_E_LOOP_MAIN_EMPTY},
        {LX_TOUCH_NONE, LX_TOUCH_NONE, LX_TOUCH_ZERO, "mP0(1,0,1) nP8(0,4,16)", 11, 11, LX_E_LOOP_LAST_EMPTY},
        {LX_TOUCH_NONE, LX_TOUCH_RELU, LX_TOUCH_NONE, "mP16(1,0,8) nP8(16,0,1)", 8, 0, LX_E_LOOP_PRIMITIVE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lx_loops l = nest(rows[i].first, rows[i].main, rows[i].last, rows[i].text);
        lx_status st = {0};
        int got = lx_loops_validate(&l, document(), &st);
        if (got != rows[i].document || st.code != rows[i].code)
            fail_msg("row %zu: document says %d, %s", i, got, st.text);
        got = lx_loops_validate(&l, ours(), &st);
        if (got != rows[i].ours) fail_msg("row %zu: lxplan says %d, %s", i, got, got ? st.text : "");
    }
    struct lx_loops l = GEMM(good);
    lx_status st = {0};
    l.dtype = LX_LOOP_FP64;
    assert_int_equal(lx_loops_validate(&l, document(), &st), 1);
    assert_int_equal(st.code, LX_E_LOOP_DTYPE);
    assert_int_equal(lx_loops_validate(&l, ours(), &st), 1);
    l = GEMM(good);
    l.has_in1 = false;
    assert_int_equal(lx_loops_validate(&l, document(), &st), 2);
}

static void test_sabotage_is_noticed(void **state)
{
    (void)state;
    struct rng r = rng_seed(9);
    int tried = 0;
    for (int i = 0; i < 400; i++) {
        struct lx_loops a = random_nest(&r, ANY_MAIN), b = a;
        struct lx_loop *loop = &b.loop[rng_below(&r, (uint64_t)b.count)];
        lx_status st = {0};
        if (loop->size < 2 || !lx_touch_contracts(a.main)) continue;
        if (rng_below(&r, 2))
            loop->size--;
        else
            loop->stride[LX_LOOP_OUT] += loop->type != LX_DIM_K;
        if (lx_loops_equal(&a, &b)) continue;
        tried++;
        if (lx_loops_same(&a, &b, 1, INT64_MAX, NULL, &st)) broken(i, "sabotage", &a, &b, "not noticed");
        assert_int_equal(st.code, LX_E_NO);
    }
    assert_true(tried > 100);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct rng r = rng_seed(5);
    for (int i = 0; i < 200; i++) {
        struct lx_loops a = random_nest(&r, ANY_MAIN), b;
        lx_status st = {0};
        size_t length;
        a.has_in1 = !lx_touch_is_unary(a.main);
        char *json = lx_loops_to_json(&a, &length);
        assert_non_null(json);
        assert_true(lx_loops_parse("t", json, length, &b, &st));
        assert_true(lx_loops_equal(&a, &b));
        mem_free(json);
    }
}

#define LISTS(types, sizes, in0, in1, out)                                                                   \
    "\"main\": \"gemm\",\n\"dim_types\": " types ",\n\"dim_sizes\": " sizes ",\n\"strides_in0\": " in0       \
    ",\n\"strides_in1\": " in1 ",\n\"strides_out\": " out "}"

static void test_malformed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum lx_code code;
        int line;
    } bad[] = {
        {"", LX_E_SYNTAX, 1},
        {"[]", LX_E_SCHEMA, 1},
        {HEAD "\"main\": \"gemm\"", LX_E_SYNTAX, 0},
        {"{\"lxplan\": 1, \"kind\": \"pattern\", \"main\": \"gemm\"}", LX_E_SCHEMA, 1},
        {"{\"lxplan\": 2, \"kind\": \"loops\", \"main\": \"gemm\"}", LX_E_RANGE, 1},
        {HEAD "\"dim_types\": []}", LX_E_SCHEMA, 1},
        {HEAD "\"main\": \"conv\", \"dim_types\": []}", LX_E_UNKNOWN_KIND, 2},
        {HEAD "\"main\": 4, \"dim_types\": []}", LX_E_SCHEMA, 2},
        {HEAD "\"speed\": 4, \"main\": \"gemm\"}", LX_E_SCHEMA, 2},
        {HEAD LISTS("[\"x\"]", "[1]", "[1]", "[1]", "[1]"), LX_E_UNKNOWN_KIND, 3},
        {HEAD LISTS("[\"m\", 3]", "[1, 1]", "[1, 1]", "[1, 1]", "[1, 1]"), LX_E_SCHEMA, 3},
        {HEAD LISTS("[\"m\"]", "[1, 2]", "[1]", "[0]", "[1]"), LX_E_LOOP_DIMENSION, 4},
        {HEAD LISTS("[\"m\"]", "[1]", "[]", "[0]", "[1]"), LX_E_LOOP_DIMENSION, 5},
        {HEAD LISTS("[\"m\"]", "[1]", "[1]", "[0, 0]", "[1]"), LX_E_LOOP_DIMENSION, 6},
        {HEAD LISTS("[\"m\"]", "[1]", "[1]", "[0]", "7"), LX_E_SCHEMA, 7},
        {HEAD LISTS("[\"m\"]", "[-1]", "[1]", "[0]", "[1]"), LX_E_RANGE, 4},
        {HEAD LISTS("[\"m\"]", "[1.5]", "[1]", "[0]", "[1]"), LX_E_SCHEMA, 4},
        {HEAD LISTS("[\"m\"]", "[9007199254740992]", "[9007199254740992]", "[0]", "[1]"), LX_E_RANGE, 5},
        {HEAD LISTS("[\"m\", \"m\"]", "[4, 9007199254740992]", "[1, 1]", "[0, 0]", "[1, 1]"), LX_E_RANGE, 5},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct lx_loops l;
        lx_status st = {0};
        if (lx_loops_parse("bad.json", bad[i].text, strlen(bad[i].text), &l, &st))
            fail_msg("%zu is accepted", i);
        if (st.code != bad[i].code || (bad[i].line && st.line != bad[i].line))
            fail_msg("%zu: %s, line %d: %s", i, lx_code_word(st.code), st.line, st.text);
    }
    static const char good[] = HEAD LISTS("[\"m\"]", "[4]", "[1]", "[0]", "[1]");
    for (size_t n = 0; n < sizeof good; n++) { /* cut off anywhere */
        struct lx_loops l;
        lx_status st = {0};
        assert_int_equal(lx_loops_parse("cut.json", good, n, &l, &st), n == sizeof good - 1);
    }
    struct {
        char at[4000];
    } many = {HEAD "\"main\": \"gemm\", \"dim_types\": [\"m\""};
    for (int i = 0; i < LX_LOOPS_MAX; i++) strcat(many.at, ", \"m\"");
    strcat(many.at, "]}");
    struct lx_loops l;
    lx_status st = {0};
    assert_false(lx_loops_parse("many.json", many.at, strlen(many.at), &l, &st));
    assert_int_equal(st.code, LX_E_LIMIT);
}

static void test_sizes_beyond_reach(void **state)
{
    (void)state;
    struct lx_loops l = GEMM("m-9007199254740992(9007199254740992,0,1) n-4(0,1,1)"), kept = l;
    lx_status st = {0};
    assert_int_equal(lx_loops_extent(&l, LX_LOOP_IN0), -1);
    assert_false(lx_loops_optimise(&l, ours(), 2, &st));
    assert_int_equal(st.code, LX_E_RANGE);
    assert_true(lx_loops_equal(&l, &kept));
    assert_false(lx_loops_same(&l, &kept, 1, 100, NULL, &st));
    /* Large, but in range: never run in full, and quick. */
    l = GEMM("m-1000000(1,0,1) n-1000000(0,1,1000000) k-100(1000000,1000000,0)");
    kept = l;
    assert_true(lx_loops_optimise(&l, ours(), 7, &st));
    assert_int_equal(lx_loops_validate(&l, ours(), &st), 0);
    int64_t steps;
    assert_true(lx_loops_same(&kept, &l, 1, 1 << 20, &steps, &st));
    assert_true(steps > 0 && steps < 1 << 21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example_of_the_document),
        cmocka_unit_test(test_document_keeps_results),
        cmocka_unit_test(test_a_repeated_type_counts_half),
        cmocka_unit_test(test_enough_blocks),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_sabotage_is_noticed),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_sizes_beyond_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
