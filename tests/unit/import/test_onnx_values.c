/* What single nodes of ONNX give (support/onnx_values.h says how rows are read). */
#include "support/onnx_values.h"

/* clang-format off */
static const struct row rows[] = {
    {"Softplus", 13, "x:f:3=100,0,-200", "100 0.69314718 0"},
    {"Mod", 13, "x:i:4=-7,7,-6,5 y:i:4=3,-3,3,3", "2 -2 0 2"},
    {"Gather axis=1", 13, "x:f:2,1=5,7 i:i:3=0,-1,0", "5 5 5 7 7 7"},
    {"Pad mode=reflect", 13, "x:f:1,3=1,2,3 p:i:4!0,2,0,1", "3 2 1 2 3 2"},
    {"Pad mode=edge", 13, "x:f:1,3=1,2,3 p:i:4!0,1,1,2", "1 1 2 3 3 3 1 1 2 3 3 3"},
    {"Pad mode=wrap", 19, "x:f:1,3=1,2,3 p:i:4!0,1,0,2", "3 1 2 3 1 2"},
};
/* clang-format on */

static void test_values(void **state)
{
    (void)state;
    try_rows(rows, sizeof rows / sizeof *rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
