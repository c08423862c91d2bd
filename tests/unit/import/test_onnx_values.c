/* What single nodes of ONNX give (support/onnx_values.h says how rows are read). */
#include "support/onnx_values.h"

/* clang-format off */
static const struct row rows[] = {
    {"Softplus", 13, "x:f:3=100,0,-200", "100 0.69314718 0"},
    {"Mod", 13, "x:i:4=-7,7,-6,5 y:i:4=3,-3,3,3", "2 -2 0 2"},
    {"Gather axis=1", 13, "x:f:2,1=5,7 i:i:3=0,-1,0", "5 5 5 7 7 7"},
    {"Tile", 13, "x:f:1,3=1,2,3 t:i:2!2,2", "1 2 3 1 2 3 1 2 3 1 2 3"},
    {"Resize", 13, "x:f:1,1,1,2=3,4 - s:f:4!1,1,2,2", "3 3 4 4 3 3 4 4"},
    {"Upsample mode=nearest", 9, "x:f:1,1,1,2=3,4 s:f:4!1,1,1,3", "3 3 3 4 4 4"},
    {"TopK", 13, "x:f:2,4=1,7,3,5,8,2,9,4 k:i:1!2", "7 5 9 8"},
    {">TopK", 13, "x:f:2,4=1,7,3,5,8,2,9,4 k:i:1!2", "1 3 2 0"},
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
