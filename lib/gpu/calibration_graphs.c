/* Graphs whose programs tell what ops take: each exercises few numbers of the cost table. */
#include "files/gen_common.h"
#include "gpu/gpu.h"

enum calibration_shape { CHAIN, COLUMNS, SOFTMAX, NORM, PRODUCT, PRODUCTS };

static const struct calibration_row {
    enum calibration_shape shape;
    const char *kind; /* of a chain's ops */
    int64_t rows, columns, terms, length;
} calibration_rows[] = {
    {CHAIN, "neg", 4096, 4096, 0, 1},  {CHAIN, "neg", 256, 1024, 0, 4},    {CHAIN, "neg", 256, 1024, 0, 16},
    {CHAIN, "exp", 256, 1024, 0, 12},  {CHAIN, "neg", 1024, 4096, 0, 6},   {SOFTMAX, "", 2048, 512, 0, 1},
    {SOFTMAX, "", 256, 4096, 0, 1},    {SOFTMAX, "", 512, 512, 0, 4},      {NORM, "", 512, 1024, 0, 1},
    {NORM, "", 128, 4096, 0, 3},       {PRODUCT, "", 128, 2048, 2048, 1},  {PRODUCT, "", 1024, 1024, 1024, 1},
    {PRODUCT, "", 32, 512, 8192, 1},   {PRODUCT, "", 16, 8192, 4096, 1},   {PRODUCTS, "", 256, 1024, 1024, 3},
    {PRODUCTS, "", 64, 2048, 2048, 3}, {PRODUCT, "", 2048, 2048, 2048, 1}, {PRODUCTS, "", 512, 4096, 4096, 2},
    {COLUMNS, "", 1024, 512, 0, 1},    {COLUMNS, "", 256, 1024, 0, 3},
};

enum { CALIBRATION_ROWS = sizeof calibration_rows / sizeof *calibration_rows };

/* One step of a graph: from what the step before has made to the next. */
static int32_t calibration_step(struct gen *g, const struct calibration_row *r, int64_t step, int32_t x)
{
    gen_scope(g, "s%d_", (int)step);
    if (r->shape == CHAIN) return gen_unary(g, r->kind, r->kind, "mn->mn", x);
    if (r->shape == COLUMNS) {
        int32_t sum = gen_unary(g, "sum", "sum", "mn->n", x);
        return gen_binary(g, "sub", "sub", "mn,n->mn", x, sum);
    }
    if (r->shape == SOFTMAX) return gen_softmax(g, "softmax", x, "mn");
    if (r->shape == NORM) return gen_rms_norm(g, "norm", x);
    int32_t w = gen_tensor(g, "w", LX_WEIGHT, SHAPE(r->terms, r->columns));
    int32_t y = gen_binary(g, "product", "matmul", "mk,kn->mn", x, w);
    return r->shape == PRODUCTS ? gen_unary(g, "relu", "relu", "mn->mn", y) : y;
}

const struct lx_graph *lx_calibration_graph(int i, lx_status *st)
{
    if (i < 0 || i >= CALIBRATION_ROWS) return NULL;
    const struct calibration_row *r = &calibration_rows[i];
    struct gen g;
    char name[80];
    snprintf(name, sizeof name, "calibration_%d", i);
    gen_begin(&g, name, "A graph that tells what some ops take.", st);
    int32_t x = gen_tensor(&g, "x", LX_INPUT, SHAPE(r->rows, r->terms ? r->terms : r->columns));
    for (int64_t step = 0; step < r->length; step++) x = calibration_step(&g, r, step, x);
    return gen_finish(&g);
}
