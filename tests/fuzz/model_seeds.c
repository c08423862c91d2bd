/* model_seeds hlo|ttir|onnx FOLDER: models for the fuzzer to begin with. Of HLO and TTIR random ones; of ONNX one for each
 * kind of node of the table below, and one with several of them. */
#include "support/onnx_bytes.h"
#include "support/random_models.h"

#include <stdio.h>

enum { MODELS = 60 };

/* Operands: x is 2x8x16, v a vector of 16, m 16x8, p an image 1x3x12x12, k 8x3x3x3, i two indices; constants: shape, axes,
 * one, two, pads. */
static const struct {
    const char *kind, *inputs, *key;
    int64_t value;
} nodes[] = {
    {"Relu", "x", NULL, 0},
    {"Add", "x v", NULL, 0},
    {"MatMul", "x m", NULL, 0},
    {"Softmax", "x", "axis", -1},
    {"Reshape", "x shape", NULL, 0},
    {"Transpose", "x", NULL, 0},
    {"Conv", "p k", "group", 1},
    {"MaxPool", "p", "ceil_mode", 1},
    {"GlobalAveragePool", "p", NULL, 0},
    {"Gather", "x i", "axis", 1},
    {"Concat", "x x", "axis", 2},
    {"Slice", "x one two axes", NULL, 0},
    {"Split", "x", "axis", 1},
    {"ReduceMean", "x", "keepdims", 0},
    {"LayerNormalization", "x v v", "axis", -1},
    {"Gemm", "m m", "transB", 1},
    {"Unsqueeze", "x one", NULL, 0},
    {"Squeeze", "x", NULL, 0},
    {"Expand", "v shape", NULL, 0},
    {"Pad", "x pads", NULL, 0},
    {"Cast", "x", "to", 10},
    {"Where", "i v v", NULL, 0},
    {"CumSum", "x one", NULL, 0},
    {"TopK", "x one", "axis", 1},
    {"Resize", "p - - shape", NULL, 0},
    {"LSTM", "x m m", "hidden_size", 4},
    {"Einsum", "m m", NULL, 0},
    {"QuantizeLinear", "x v", "axis", 2},
    {"ScatterND", "x i x", NULL, 0},
    {"Attention", "x m v", "num_heads", 2},
    {"Shape", "x", NULL, 0},
    {"Flatten", "x", "axis", 1},
    {"Tile", "x shape", NULL, 0},
    {"OneHot", "i one v", "axis", 0},
    {"Range", "one two one", NULL, 0},
    {"Identity", "x", NULL, 0},
};

enum { NODES = sizeof nodes / sizeof *nodes };

static struct onnx_bytes onnx_with(int first, int last)
{
    struct onnx_bytes graph = {.n = 0}, weight = onnx_tensor_of("m", 1, (int64_t[]){16, 8, 0});
    char output[16];
    onnx_message(&graph, 5, &weight);
    weight = onnx_tensor_of("k", 1, (int64_t[]){8, 3, 3, 3, 0});
    onnx_message(&graph, 5, &weight);
    onnx_ints(&graph, "shape", (int64_t[]){2, 8, 16}, 3);
    onnx_ints(&graph, "axes", (int64_t[]){1}, 1);
    onnx_ints(&graph, "one", (int64_t[]){1}, 1);
    onnx_ints(&graph, "two", (int64_t[]){2}, 1);
    onnx_ints(&graph, "pads", (int64_t[]){0, 1, 0, 0, 1, 0}, 6);
    for (int k = first; k <= last; k++) {
        snprintf(output, sizeof output, "y%d", k);
        onnx_node_of(&graph, nodes[k].kind, nodes[k].inputs, output, nodes[k].key, nodes[k].value);
    }
    onnx_end(&graph, 11, "x", (int64_t[]){2, 8, 16, 0});
    onnx_end(&graph, 11, "v", (int64_t[]){16, 0});
    onnx_end(&graph, 11, "p", (int64_t[]){1, 3, 12, 12, 0});
    onnx_end(&graph, 11, "i", (int64_t[]){2, 0});
    for (int k = first; k <= last; k++) {
        snprintf(output, sizeof output, "y%d", k);
        struct onnx_bytes info = {.n = 0}; /* whose shape follows */
        onnx_word(&info, 1, output);
        onnx_message(&graph, 12, &info);
    }
    return onnx_model_of(&graph, 17);
}

static bool put(const char *folder, int number, const void *bytes, size_t length)
{
    char path[1400];
    snprintf(path, sizeof path, "%s/made_%d", folder, number);
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(bytes, 1, length, f) == length;
    return (!f || fclose(f) == 0) && ok;
}

int main(int argc, char **argv)
{
    bool ok = argc == 3, onnx = ok && strcmp(argv[1], "onnx") == 0;
    for (int i = 0; ok && i < (onnx ? NODES + 4 : MODELS); i++) {
        struct rng r = rng_seed((uint64_t)i);
        struct text t = {0};
        struct onnx_bytes b = {.n = 0};
        if (onnx)
            b = i < NODES ? onnx_with(i, i) : onnx_with((i - NODES) * 5, (i - NODES) * 5 + 4);
        else
            random_model(&r, strcmp(argv[1], "hlo") == 0, &t);
        ok = onnx ? put(argv[2], i, b.at, b.n) : t.at && put(argv[2], i, t.at, t.length);
        text_free(&t);
    }
    if (!ok) fprintf(stderr, "usage: model_seeds hlo|ttir|onnx FOLDER\n");
    return ok ? 0 : 2;
}
