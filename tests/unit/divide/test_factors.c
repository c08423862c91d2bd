/* Divisors are those that trying all of them gives. */
#include "divide/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static void expect_all_tried(int64_t size)
{
    struct factor_set found = factors_of_divisors(size);
    for (int64_t f = 0; f <= MAX_FACTOR; f++)
        assert_int_equal(factor_in(&found, f), f >= 1 && f <= size && size % f == 0);
}

static void divisors(void **state)
{
    (void)state;
    static const int64_t large[] = {1 << 20, 1024 * 1023, 1023 * 1023, 1025 * 1024, 7 * 11 * 13 * 1021};
    for (int64_t size = 0; size <= 300; size++) expect_all_tried(size);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) expect_all_tried(large[i]);
    expect_all_tried(INT64_C(1) << 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(divisors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
