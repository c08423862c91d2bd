/* What single nodes of ONNX give (support/onnx_values.h says how rows are read). */
#include "support/onnx_values.h"

/* clang-format off */
static const struct row rows[] = {
    {"ReduceSumSquare noop_with_empty_axes=1", 18, X6 " -", "1 4 9 16 25 36"},
    {"ReduceL1 keepdims=0", 18, X6 " a:i:1!0", "5 7 9"},
    {"ReduceL2 axes=1", 13, "x:f:2,2=3,4,-6,8", "5 10"},
    {"ReduceLogSumExp axes=1", 13, "x:f:2,2=100,-300,-200,-200", "100 -199.3068528"},
    {"ArgMax axis=1 select_last_index=1", 13, "x:f:2,3=7,7,1,2,1,2", "1 2"},
    {"Hardmax axis=1", 13, "x:f:2,3=7,7,1,2,1,3", "1 0 0 0 0 1"},
    {"LpNormalization axis=1 p=1", 13, "x:f:1,2=-3,1", "-0.75 0.25"},
    {"Softplus", 13, "x:f:3=100,0,-200", "100 0.69314718 0"},
    {"Shrink lambd=1.5 bias=0.5", 13, X6, "0 -1.5 2.5 -3.5 4.5 -5.5"},
    {"PRelu", 6, "x:f:1,2,2=1,-2,-3,4 s:f:2=10,100", "1 -20 -300 4"},
    {"OneHot axis=-1", 13, "i:i:3=0,-1,5 d:i:!3 v:f:2=4,9", "9 4 4 4 4 9 4 4 4"},
    {"Trilu upper=0", 14, "x:f:2,3=1,2,3,4,5,6 k:i:!1", "1 2 0 4 5 6"},
    {"EyeLike k=1", 13, "x:f:2,3=9,9,9,9,9,9", "0 1 0 0 0 1"},
    {"Gather axis=1", 13, "x:f:2,1=5,7 i:i:3=0,-1,0", "5 5 5 7 7 7"},
    {"GatherElements axis=1", 13, "x:f:3,2=1,2,3,4,5,6 i:i:2,1=1,-2", "2 3"},
    {"ScatterElements axis=1", 13, "x:f:3,2=1,2,3,4,5,6 i:i:1,1=-1 u:f:1,1=9", "1 9 3 4 5 6"},
    {"Compress axis=1", 13, "x:f:2,3=1,2,3,4,5,6 c:b:3!1,0,1", "1 3 4 6"},
    {"ReverseSequence time_axis=1 batch_axis=0", 13, "x:f:2,3=1,2,3,4,5,6 l:i:2=2,3", "2 1 3 6 5 4"},
    {"Pad mode=reflect", 13, "x:f:1,3=1,2,3 p:i:4!0,2,0,1", "3 2 1 2 3 2"},
    {"Pad mode=edge", 13, "x:f:1,3=1,2,3 p:i:4!0,1,1,2", "1 1 2 3 3 3 1 1 2 3 3 3"},
    {"Pad mode=wrap", 19, "x:f:1,3=1,2,3 p:i:4!0,1,0,2", "3 1 2 3 1 2"},
    {"CenterCropPad", 18, "x:f:1,3=1,2,3 s:i:2!3,2", "0 0 1 2 0 0"},
    {"Resize mode=linear", 13, "x:f:1,1,1,2=1,3 - - z:i:4!1,1,1,4", "1 1.5 2.5 3"},
    {"Resize mode=nearest coordinate_transformation_mode=align_corners", 13, "x:f:1,1,1,3=1,2,3 - - z:i:4!1,1,1,5", "1 1 2 2 3"},
    {"Resize mode=linear coordinate_transformation_mode=asymmetric", 13, "x:f:1,1,1,2=1,3 - s:f:4!1,1,1,2", "1 2 3 3"},
    {"Einsum equation=...ij,...jk->...ik", 13, "x:f:2,1,2=1,2,3,4 z:f:2,1=5,6", "17 39"},
    {"Einsum equation=ii->i", 13, "x:f:2,2=1,2,3,4", "1 4"},
    {"Einsum equation=ij,jk,kl", 13, "x:f:1,2=1,2 y:f:2,2=1,2,3,4 z:f:2,1=1,-1", "-3"},
    {"LRN size=3 alpha=3.0 beta=1.0 bias=1.0", 13, "x:f:1,3,1=1,2,3", "0.166666667 0.133333333 0.214285714"},
    {"LpPool kernel_shape=2 p=2", 13, "x:f:1,1,3=3,4,3", "5 5"},
    {"AveragePool kernel_shape=3 strides=2 pads=1,1 ceil_mode=1 count_include_pad=1", 19, "x:f:1,1,4=2,4,6,8", "2 6 4"},
    {">MaxPool kernel_shape=2,2 strides=2,2", 12, "x:f:1,2,2,4=1,9,3,2,5,6,7,8,4,3,2,1,0,9,9,8", "1 7 13 14"},
    {">MaxPool kernel_shape=3 pads=1,1", 12, "x:f:1,1,3=3,1,2", "0 0 2"},
    {"MaxUnpool kernel_shape=2 strides=2", 11, "x:f:1,1,2=5,7 i:i:1,1,2=1,2", "0 5 7 0"},
    {"ConvTranspose strides=3 output_shape=5", 13, "x:f:1,1,1=2 w:f:1,1,3=1,2,3", "2 4 6 0 0"},
    {"DequantizeLinear axis=1 block_size=2", 21, "x:u:1,3=10,20,30 s:f:1,2=0.5,2 z:u:1,2=0,10", "5 10 40"},
    {"RNN hidden_size=1 activations=Relu", 14, "x:f:2,1,1=1,-3 w:f:1,1,1=2 r:f:1,1,1=1", "2 0"},
    {"RNN hidden_size=1 activations=Relu direction=reverse", 14, "x:f:2,1,1=1,3 w:f:1,1,1=2 r:f:1,1,1=1 - l:j:1=1", "2 0"},
    {"GRU hidden_size=1 activations=HardSigmoid,Relu", 14, "x:f:1,1,1=1 w:f:1,3,1=0,0,4 r:f:1,3,1=0,0,1 - - h:f:1,1,1=2", "3.5"},
    {"Attention is_causal=1", 23, "q:f:1,1,2,1=0,0 k:f:1,1,4,1=1,2,3,4 v:f:1,1,4,1=2,4,6,8", "2 3"},
    {"RotaryEmbedding", 23, "x:f:1,1,1,4=1,2,3,4 c:f:1,1,2=0,1 s:f:1,1,2=1,0", "-3 2 1 4"},
    {"com.microsoft:MultiHeadAttention num_heads=1", 13, "q:f:1,1,1=0 k:f:1,3,1=1,2,3 v:f:1,3,1=3,5,9 - m:j:1,3=1,1,0", "4"},
    {"com.microsoft:QLinearAdd", 13, "a:u:2=10,20 p:f:=0.5 q:u:=10 b:u:2=4,6 r:f:=0.25 s:u:=4 t:f:=0.5 w:u:=7", "7 18"},
    {"com.microsoft:MatMulNBits K=2 N=1 bits=4 block_size=16", 13, "a:f:1,2=1,10 b:u:1,1,8=171,0,0,0,0,0,0,0 s:f:1=0.5", "11.5"},
    {"com.microsoft:FusedConv activation=Relu", 13, "x:f:1,1,2=1,2 w:f:1,1,1=-1 b:f:1=1.5", "0.5 0"},
    {"com.microsoft:BiasSplitGelu", 13, "x:f:1,1,2=3,0 b:f:2=1,0", "0"},
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
