/* What kinds of ONNX give that move pixels and channels or are made of functions, and slopes of them
 * (support/onnx_values.h says how rows are read); numbers come from straight loops over the definitions. */
#include "support/onnx_values.h"

/* clang-format off */
static const struct row rows[] = {
    {"DepthToSpace blocksize=2", 13, "x:f:1,4,1,2=1,2,3,4,5,6,7,8", "1 3 2 4 5 7 6 8"},
    {"DepthToSpace blocksize=2 mode=CRD", 13, "x:f:1,8,1,2=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", "0 2 1 3 4 6 5 7 8 10 9 11 12 14 13 15"},
    {"DepthToSpace blocksize=2 mode=DCR", 13, "x:f:1,8,1,2=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", "0 4 1 5 8 12 9 13 2 6 3 7 10 14 11 15"},
    {"SpaceToDepth blocksize=2", 13, "x:f:1,2,2,4=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", "0 2 8 10 1 3 9 11 4 6 12 14 5 7 13 15"},
    {"BatchNormalization epsilon=0.5", 15, "x:f:2,2,2=1,-2,3,0.5,4,-1,2,0 s:f:2=2,3 b:f:2=1,-1 m:f:2=0.5,1 v:f:2=1,2", "1.81649658 -3.0824829 2.79473319 -1.9486833 6.71547607 -1.44948974 0.897366596 -2.8973666"},
    {"Resize mode=cubic", 13, "x:f:1,1,1,4=1,3,2,6 - - z:i:4!1,1,1,6", "0.826388889 2.09375 2.96064815 1.83101852 3.90625 6.34722222"},
    {"Resize mode=cubic cubic_coeff_a=-0.5 exclude_outside=1", 13, "x:f:1,1,1,4=1,3,2,6 - - z:i:4!1,1,1,8", "0.823529412 1.40145985 2.6259542 2.84375 1.96875 2.81679389 5.2189781 6.35294118"},
    {"Resize mode=nearest coordinate_transformation_mode=asymmetric nearest_mode=floor", 13, "x:f:1,1,1,4=1,3,2,6 - - z:i:4!1,1,1,8", "1 1 3 3 2 2 6 6"},
    {"Resize mode=nearest coordinate_transformation_mode=asymmetric nearest_mode=ceil", 13, "x:f:1,1,1,4=1,3,2,6 - - z:i:4!1,1,1,8", "1 3 3 2 2 6 6 6"},
    {"Resize mode=nearest coordinate_transformation_mode=asymmetric nearest_mode=round_prefer_ceil", 13, "x:f:1,1,1,4=1,3,2,6 - - z:i:4!1,1,1,8", "1 3 3 2 2 6 6 6"},
    {"Resize mode=linear coordinate_transformation_mode=pytorch_half_pixel", 13, "x:f:1,1,1,4=1,3,2,6 - - z:i:4!1,1,1,2", "2 4"},
    {"Resize mode=linear coordinate_transformation_mode=half_pixel_symmetric", 19, "x:f:1,1,1,4=1,3,2,6 - - z:i:4!1,1,1,2", "2 4"},
    {"Tan", 13, "x:f:2,3=0.5,-0.25,3,-4,0,-1.5", "0.54630249 -0.255341921 -0.142546543 -1.15782128 0 -14.1014199"},
    {"Sinh", 13, "x:f:2,3=0.5,-0.25,3,-4,0,-1.5", "0.521095305 -0.252612317 10.0178749 -27.2899172 0 -2.12927946"},
    {"Cosh", 13, "x:f:2,3=0.5,-0.25,3,-4,0,-1.5", "1.12762597 1.0314131 10.067662 27.3082328 1 2.35240962"},
    {"Asinh", 13, "x:f:2,3=0.5,-0.25,3,-4,2,-1.5", "0.481211825 -0.247466462 1.81844646 -2.09471255 1.44363548 -1.19476322"},
    {"Acosh", 13, "x:f:2,3=1,1.25,3,4,2,9", "0 0.693147181 1.76274717 2.06343707 1.3169579 2.88727095"},
    {"Atanh", 13, "x:f:2,3=0.5,-0.25,0.75,-0.875,0,0.125", "0.549306144 -0.255412812 0.972955075 -1.3540251 0 0.125657214"},
    {"Round", 13, "x:f:2,3=0.5,-0.25,3,-4,0,-1.5", "0 0 3 -4 0 -2"},
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
