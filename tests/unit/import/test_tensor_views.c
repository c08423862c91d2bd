/* Views of imported tensors: every view is compared with the elements that numpy's rules would give, one by one. */
#include "import/tensor_views.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Where the element of a value at `index` (counted through its dimensions, row by row) is in the storage. */
static int64_t place_of(const struct view *v, int64_t index)
{
    int64_t at = 0;
    for (int i = v->first[v->rank] - 1; i >= 0; i--) {
        const struct atom *a = &v->atom[i];
        int64_t digit = index % a->extent;
        at += (a->span ? a->offset + a->step * digit : digit) * a->low;
        index /= v->atom[i].extent;
    }
    for (int i = 0; i < v->fixed_count; i++) at += v->fixed[i].offset * v->fixed[i].low;
    return at;
}

static void expect_places(const struct view *v, const int64_t *places, int64_t count)
{
    for (int64_t i = 0; i < count; i++) assert_int_equal(place_of(v, i), places[i]);
}

static void test_plain(void **state)
{
    struct view v;
    (void)state;
    assert_true(view_plain(&v, 3, (int64_t[]){4, 1, 6}));
    assert_true(view_is_plain(&v, 24));
    assert_int_equal(view_extent(&v, 0), 4);
    assert_int_equal(view_extent(&v, 1), 1);
    for (int64_t i = 0; i < 24; i++) assert_int_equal(place_of(&v, i), i);
}

/* A transposed matrix that is regrouped keeps the order of its elements. */
static void test_reshape_of_permuted(void **state)
{
    struct view v, turned, cut;
    int64_t wanted[24];
    (void)state;
    assert_true(view_plain(&v, 2, (int64_t[]){4, 6}));
    assert_true(view_permute(&v, (int64_t[]){1, 0}, &turned));
    assert_false(view_is_plain(&turned, 24));
    for (int64_t i = 0; i < 24; i++) wanted[i] = i % 4 * 6 + i / 4;
    expect_places(&turned, wanted, 24);
    assert_true(view_reshape(&turned, 3, (int64_t[]){3, 2, 4}, &cut));
    expect_places(&cut, wanted, 24);
    assert_true(view_reshape(&turned, 1, (int64_t[]){24}, &cut));
    expect_places(&cut, wanted, 24);
    assert_false(view_reshape(&turned, 2, (int64_t[]){4, 6}, &cut)); /* 4 does not divide 6 */
}

static void test_back_to_plain(void **state)
{
    struct view v, a, b;
    (void)state;
    assert_true(view_plain(&v, 1, (int64_t[]){24}));
    assert_true(view_reshape(&v, 3, (int64_t[]){2, 3, 4}, &a));
    assert_true(view_permute(&a, (int64_t[]){1, 0, 2}, &b));
    assert_false(view_is_plain(&b, 24));
    assert_true(view_permute(&b, (int64_t[]){1, 0, 2}, &a));
    assert_true(view_reshape(&a, 2, (int64_t[]){6, 4}, &b));
    assert_true(view_is_plain(&b, 24));
}

/* The heads of grouped queries: [2,3] repeated to [2,4,3], then [8,3]. */
static void test_broadcast(void **state)
{
    struct view v, spread, merged;
    int64_t wanted[24];
    (void)state;
    assert_true(view_plain(&v, 2, (int64_t[]){2, 3}));
    assert_true(view_broadcast(&v, (int[]){0, 2}, 3, (int64_t[]){2, 4, 3}, &spread));
    for (int64_t i = 0; i < 24; i++) wanted[i] = i / 12 * 3 + i % 3;
    expect_places(&spread, wanted, 24);
    assert_true(view_reshape(&spread, 2, (int64_t[]){8, 3}, &merged));
    expect_places(&merged, wanted, 24);
    assert_int_equal(view_extent(&merged, 0), 8);
    assert_false(view_is_plain(&merged, 6));
}

/* Parts of dimensions, of parts, and of dimensions that were put together; regrouped where nothing is cut apart. */
static void test_slices(void **state)
{
    struct view v, half, heads, row, back;
    int64_t wanted[48];
    bool within;
    (void)state;
    assert_true(view_plain(&v, 2, (int64_t[]){2, 24}));
    assert_true(view_slice(&v, 1, 8, 1, 8, &half) && view_is_part(&half));
    for (int64_t i = 0; i < 16; i++) wanted[i] = i / 8 * 24 + 8 + i % 8;
    expect_places(&half, wanted, 16);
    assert_true(view_reshape(&half, 3, (int64_t[]){2, 2, 4}, &heads));
    expect_places(&heads, wanted, 16);
    assert_false(view_reshape(&half, 1, (int64_t[]){16}, &row) && view_is_plain(&row, 48));
    assert_true(view_slice(&heads, 1, 1, 1, 1, &row)); /* the second head of the part */
    for (int64_t i = 0; i < 8; i++) wanted[i] = i / 4 * 24 + 12 + i % 4;
    expect_places(&row, wanted, 8);
    assert_true(view_slice(&v, 1, 23, -1, 24, &back));
    for (int64_t i = 0; i < 48; i++) wanted[i] = i / 24 * 24 + 23 - i % 24;
    expect_places(&back, wanted, 48);
    assert_true(atom_allows(&half.atom[1], 8, &within) && within); /* all of it is in one block of 8 */
    assert_true(atom_allows(&half.atom[1], 4, &within) && !within);
    assert_false(atom_allows(&half.atom[1], 6, &within)); /* 8 to 15 is no number of blocks of 6 */
}

static void test_cuts(void **state)
{
    struct cuts c;
    bool changed = false;
    (void)state;
    cuts_whole(&c, 24);
    assert_true(cuts_add(&c, 6, &changed) && changed);
    changed = false;
    assert_true(cuts_add(&c, 6, &changed) && !changed);
    assert_true(cuts_add(&c, 12, &changed));
    assert_false(cuts_add(&c, 4, &changed)); /* does not divide 6 */
    assert_true(cuts_add(&c, 3, &changed));
    assert_int_equal(c.count, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),         cmocka_unit_test(test_reshape_of_permuted),
        cmocka_unit_test(test_back_to_plain), cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_slices),        cmocka_unit_test(test_cuts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
