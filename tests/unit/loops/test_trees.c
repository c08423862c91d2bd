/* Contraction trees and einsum strings: results by hand, and texts that are refused. */
#include "unstable.h"
#include "support/loop_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void test_trees(void **state)
{
    (void)state;
    static const int64_t sizes[] = {2, 3, 4, 5};
    static const double a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 2, 0, 0, 1, 0, 3, 1, 1, 1, 1};
    static const double product[] = {4, 5, 5, 9, 10, 11, 14, 21};
    const double *leaves[] = {a, b};
    static const char *const same[] = {"ab,bc->ac", "[0,1],[1,2]->[0,2]", " [ 0 , 1 ] , [1,2] -> [0, 2] ",
                                       "[0,1],[[1,2]->[2,1]]->[0,2]"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        for (int rules = 0; rules < 2; rules++) {
            lx_status st = {0};
            double out[8] = {99};
            struct lx_tree *t = lx_tree_parse(same[i], sizes, 4, &st);
            if (!t) fail_msg("%s: %s", same[i], st.text);
            assert_true(lx_tree_execute(t, rules ? rules_named("lxplan") : NULL, 2, leaves, out, &st));
            for (int e = 0; e < 8; e++) assert_true(out[e] == product[e]);
            assert_int_equal(t->flops, 48);
            lx_tree_free(t);
        }
    /* A sum over an index of one operand, a scalar result, a diagonal. */
    lx_status st = {0};
    double scalar = 7, row[3];
    struct lx_tree *t = lx_tree_parse("ab,ab->", sizes, 2, &st);
    assert_non_null(t);
    assert_true(lx_tree_execute(t, rules_named("lxplan"), 1, (const double *const[]){a, a}, &scalar, &st));
    assert_true(scalar == 91);
    lx_tree_free(t);
    t = lx_tree_parse("[0,1],[0]->[1]", sizes, 2, &st);
    assert_non_null(t);
    assert_true(lx_tree_execute(t, rules_named("lxplan"), 1, (const double *const[]){a, a}, row, &st));
    assert_true(row[0] == 9 && row[1] == 12 && row[2] == 15);
    lx_tree_free(t);
    static const int64_t square[] = {2, 3};
    double trace[3];
    t = lx_tree_parse("aa,b->b", square, 2, &st);
    assert_non_null(t);
    assert_true(lx_tree_execute(t, rules_named("lxplan"), 1, (const double *const[]){a, a}, trace, &st));
    assert_true(trace[0] == 5 && trace[1] == 10 && trace[2] == 15);
    lx_tree_free(t);
}

static void test_bad_trees(void **state)
{
    (void)state;
    static const int64_t sizes[] = {2, 3, 4};
    static const char *const bad[] = {
        "",
        "[",
        "[0,1]",
        "[0,1],[1,2]",
        "[0,1],[1,2]->",
        "[0,1],[1,2]->[0,2",
        "[0],->[0]",
        "[0,1]->[0]",
        "[0]->[0,1]",
        "[0],[1]->[2]",
        "[0],[1]->[0,0]",
        "[0],[1]->[0]x",
        "[0,9]->[9,0]",
        "[a]->[a]",
        "ab,bc-ac",
        "ab->a",
        "[[0]->[0],[1]->[1]",
        "[0],[1],[2]->[0]",
        "[99999999999999999999]->[0]",
        "abcd->dcba",
        "[-1]->[-1]",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lx_status st = {0};
        struct lx_tree *t = lx_tree_parse(bad[i], sizes, 3, &st);
        if (t) fail_msg("\"%s\" is accepted", bad[i]);
        if (st.code != LX_E_EINSUM) fail_msg("\"%s\": %s: %s", bad[i], lx_code_word(st.code), st.text);
    }
    char deep[600];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    lx_status st = {0};
    assert_null(lx_tree_parse(deep, sizes, 3, &st));
    assert_int_equal(st.code, LX_E_EINSUM);
    static const int64_t zero[] = {0, 1}, huge[] = {(int64_t)1 << 40, (int64_t)1 << 40};
    assert_null(lx_tree_parse("ab->ba", zero, 2, &st));
    assert_int_equal(st.code, LX_E_RANGE);
    assert_null(lx_tree_parse("ab->ba", huge, 2, &st));
    assert_int_equal(st.code, LX_E_RANGE);
    assert_int_equal(lx_tree_indices("[0,7],[7,3]->[0,3]", &st), 8);
    assert_int_equal(lx_tree_indices("ab,bc->ac", &st), 3);
    assert_int_equal(lx_tree_indices("ab,bc", &st), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_trees), cmocka_unit_test(test_bad_trees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
