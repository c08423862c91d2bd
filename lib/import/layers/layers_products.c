/* Products with more to them than a contraction, and moves made of simpler ones. */
#include "import/layers/layers.h"

#include <string.h>

/* The last two dimensions swapped. */
static int32_t turned(struct layer *l, int32_t a, bool turn)
{
    int64_t perm[MODEL_MAX_RANK];
    int rank = layer_type(l, a)->count;
    if (!turn || !l->ok) return a;
    if (rank < 2) return layer_fail(l), -1;
    for (int d = 0; d < rank; d++) perm[d] = d < rank - 2 ? d : 2 * rank - 3 - d;
    return layer_permute(l, a, rank, perm);
}

static int32_t scaled(struct layer *l, int32_t a, double by)
{
    return by == 1 ? a : layer_by(l, "Mul", a, by);
}

/* alpha * A' B' + beta * C; below 7 C is aligned by numbers too. */
void derive_gemm(struct layer *l)
{
    int32_t a = turned(l, layer_in(l, 0), layer_int(l, "transA", 0) != 0);
    int32_t b = turned(l, layer_in(l, 1), layer_int(l, "transB", 0) != 0);
    int32_t y = scaled(l, layer_two(l, "MatMul", a, b), layer_real(l, "alpha", 1));
    if (layer_has(l, 2) && layer_real(l, "beta", 1) != 0)
        y = layer_two(l, "Add", y, scaled(l, layer_in(l, 2), layer_real(l, "beta", 1)));
    if (strcmp(l->op->kind, "com.microsoft:GemmFastGelu") == 0) y = layer_one(l, "com.microsoft:FastGelu", y);
    layer_result(l, 0, y);
}

/* A (or x) W + b of TTIR. */
void derive_linear(struct layer *l)
{
    int32_t a = turned(l, layer_in(l, 0), layer_int(l, "transpose_a", 0) != 0);
    int32_t b = turned(l, layer_in(l, 1), layer_int(l, "transpose_b", 0) != 0);
    int32_t y = layer_two(l, "MatMul", a, b);
    if (layer_has(l, 2)) y = layer_two(l, "Add", y, layer_in(l, 2));
    layer_result(l, 0, y);
}
