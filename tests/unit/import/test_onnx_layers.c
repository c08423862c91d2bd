/* What functions of elements, norms, sums with a function behind them and quantised kinds of ONNX give
 * (support/onnx_values.h says how rows are read); numbers come from straight loops over the definitions. */
#include "support/onnx_values.h"

/* clang-format off */
static const struct row rows[] = {
    {"Clip", 13, "x:f:2,3=0.5,-0.25,3,-4,0,-1.5 a:f:=-3 b:f:=2", "0.5 -0.25 2 -3 0 -1.5"},
    {"Clip", 13, "x:f:2,3=0.5,-0.25,3,-4,0,-1.5 - b:f:=2", "0.5 -0.25 2 -4 0 -1.5"},
    {"Clip min=-1.5 max=0.25", 6, "x:f:2,3=0.5,-0.25,3,-4,0,-1.5", "0.25 -0.25 0.25 -1.5 0 -1.5"},
    {"HardSigmoid", 13, "x:f:2,3=0.5,-0.25,3,-4,0,-1.5", "0.6 0.45 1 0 0.5 0.2"},
    {"HardSigmoid alpha=0.25 beta=0.75", 13, "x:f:2,3=0.5,-0.25,3,-4,0,-1.5", "0.875 0.6875 1 0 0.75 0.375"},
    {"HardSwish", 14, "x:f:2,3=0.5,-0.25,3,-4,0,-1.5", "0.291666667 -0.114583333 3 0 0 -0.375"},
    {"LeakyRelu alpha=0.5", 13, "x:f:2,3=0.5,-0.25,3,-4,0,-1.5", "0.5 -0.125 3 -2 0 -0.75"},
    {"Swish alpha=2.0", 24, "x:f:2,3=0.5,-0.25,3,-4,0,-1.5", "0.365529289 -0.0943851672 2.99258213 -0.00134140052 0 -0.0711388098"},
    {"Max", 13, "x:f:2,3=1,-2,3,-4,5,-6 y:f:2,3=2,-3,0.5,1,6,-7 z:f:2,3=0,4,1,-9,5.5,-6.5", "2 4 3 1 6 -6"},
    {"Min", 13, "x:f:2,3=1,-2,3,-4,5,-6 y:f:2,3=2,-3,0.5,1,6,-7 z:f:2,3=0,4,1,-9,5.5,-6.5", "0 -3 0.5 -9 5 -7"},
    {"Sum", 13, "x:f:2,3=1,-2,3,-4,5,-6 y:f:2,3=2,-3,0.5,1,6,-7 z:f:2,3=0,4,1,-9,5.5,-6.5", "3 -1 4.5 -12 16.5 -19.5"},
    {"CastLike", 15, "x:f:3=1.75,-2.5,7 y:j:1=0", "1 -2 7"},
    {">Dropout", 13, "x:f:2,3=0.5,-0.25,3,-4,0,-1.5", "1 1 1 1 1 1"},
    {"Add axis=0 broadcast=1", 6, "x:f:2,3=1,-2,3,-4,5,-6 b:f:2=10,20", "11 8 13 16 25 14"},
    {"Greater axis=0 broadcast=1", 6, "x:f:2,3=1,-2,3,-4,5,-6 b:f:2=2,4", "0 0 1 0 1 0"},
    {">LayerNormalization axis=1 epsilon=0.5", 17, "x:f:2,3=1,-2,3,0.5,4,-1 s:f:3=1,2,3", "0.666666667 1.16666667"},
    {">SimplifiedLayerNormalization epsilon=0.5", 17, "x:f:2,3=1,-2,3,0.5,4,-1 s:f:3=1,2,3", "0.439941345 0.4"},
    {"com.microsoft:SkipLayerNormalization epsilon=0.5", 13, "x:f:1,2,3=1,-2,3,0.5,4,-1 s:f:1,2,3=0.5,1,-1,2,0,1 g:f:3=1,2,3 b:f:3=0.5,-0.5,0 c:f:3=0.25,0,-1", "1.35839508 -2.82992949 0.919709009 0.872161464 1.36080732 -3.90769537"},
    {"com.microsoft:SkipSimplifiedLayerNormalization epsilon=0.5", 13, "x:f:1,2,3=1,-2,3,0.5,4,-1 s:f:1,2,3=0.5,1,-1,2,0,1 g:f:3=1,2,3 c:f:3=0.25,0,-1", "1.18321596 -1.35224681 2.02837021 0.933007823 2.71420457 -1.01782672"},
    {"BatchNormalization training_mode=1 epsilon=0.5", 15, "x:f:2,2,2=1,-2,3,0.5,4,-1,2,0 s:f:2=2,3 b:f:2=1,-1 m:f:2=0.5,1 v:f:2=1,2", "1.41702883 -1.08514414 2.51651158 -2.89350623 3.9192018 -0.251086484 0.352504452 -3.97550979"},
    {">BatchNormalization training_mode=1 epsilon=0.5 momentum=0.75", 15, "x:f:2,2,2=1,-2,3,0.5,4,-1,2,0 s:f:2=2,3 b:f:2=1,-1 m:f:2=0.5,1 v:f:2=1,2", "0.5 1.09375"},
    {"QuantizeLinear axis=0", 13, "x:f:2,2=1,-2,300,0.26 s:f:2=0.5,0.25 z:u:2=10,3", "12 6 255 4"},
    {"QuantizeLinear", 13, "x:f:3=1,-2,300 s:f:=0.5 z:u:=10", "12 6 255"},
    {"DequantizeLinear", 13, "x:u:3=1,200,30 s:f:=0.5 z:u:=10", "-4.5 95 10"},
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
