/* Images that are looked at between their pixels: GridSample, where a tensor says where, and AffineGrid, which makes such a
 * tensor. Each of the pixels around a place is picked out of its image and weighed by how near it is. */
#include "model/layers.h"

#include <string.h>

struct grid_look {
    int64_t n, channels, size[2], points; /* height, width */
    int32_t pixels;                       /* [N, H W, C] */
    bool nearest, zeros, aligned;
};

/* Places along one dimension, [N, P]: from -1 .. 1 to pixels. */
static int32_t place(struct layer *l, const struct grid_look *g, int axis)
{
    int32_t grid = layer_in(l, 1);
    double size = (double)g->size[axis];
    int32_t x =
        layer_reshape(l, layer_slice(l, grid, 3, 1 - axis, 2 - axis), 2, (int64_t[]){g->n, g->points});
    double by = g->aligned ? (size - 1) / 2 : size / 2, plus = (size - 1) / 2;
    x = layer_by(l, "Add", layer_by(l, "Mul", x, by), plus);
    return g->zeros ? x : layer_by(l, "Min", layer_by(l, "Max", x, 0), size - 1);
}

/* 1 where a pixel is one, else 0: [N, P]. */
static int32_t inside(struct layer *l, int32_t at, int64_t size)
{
    int32_t low = layer_by(l, "GreaterOrEqual", at, 0),
            high = layer_by(l, "LessOrEqual", at, (double)size - 1);
    return layer_cast(l, layer_two(l, "And", low, high), layer_element(l, at));
}

/* What stands in these pixels, by weight: [N, P, C]. */
static int32_t picked(struct layer *l, const struct grid_look *g, const int32_t at[2], int32_t weight)
{
    int32_t index[2];
    for (int i = 0; i < 2; i++) {
        int32_t held = layer_by(l, "Min", layer_by(l, "Max", at[i], 0), (double)g->size[i] - 1);
        index[i] = layer_cast(l, held, MODEL_I64);
        if (g->zeros) weight = layer_two(l, "Mul", weight, inside(l, at[i], g->size[i]));
    }
    int32_t flat = layer_two(l, "Add", layer_by(l, "Mul", index[0], (double)g->size[1]), index[1]);
    flat = layer_reshape(l, flat, 3, (int64_t[]){g->n, g->points, 1});
    layer_put(l, "batch_dims", 1);
    int32_t y = layer_two(l, "GatherND", g->pixels, flat);
    return layer_two(l, "Mul", y, layer_reshape(l, weight, 3, (int64_t[]){g->n, g->points, 1}));
}

static int32_t between(struct layer *l, const struct grid_look *g, const int32_t x[2])
{
    int32_t low[2], part[2], sum = -1;
    for (int i = 0; i < 2; i++) {
        low[i] = layer_one(l, "Floor", x[i]);
        part[i] = layer_two(l, "Sub", x[i], low[i]);
    }
    for (int k = 0; k < 4 && l->ok; k++) {
        int32_t at[2], weight[2];
        for (int i = 0; i < 2; i++) {
            bool next = k >> i & 1;
            at[i] = next ? layer_by(l, "Add", low[i], 1) : low[i];
            weight[i] = next ? part[i] : layer_by(l, "Add", layer_one(l, "Neg", part[i]), 1);
        }
        int32_t y = picked(l, g, at, layer_two(l, "Mul", weight[0], weight[1]));
        sum = sum < 0 ? y : layer_two(l, "Add", sum, y);
    }
    return sum;
}

static bool look_of(struct layer *l, struct grid_look *g)
{
    const struct model_type *x = layer_type(l, layer_in(l, 0)), *grid = layer_type(l, layer_in(l, 1));
    const char *mode = model_attr_word(&l->op->attrs, "mode", "linear"),
               *beyond = model_attr_word(&l->op->attrs, "padding_mode", "zeros");
    bool linear = strcmp(mode, "linear") == 0 || strcmp(mode, "bilinear") == 0;
    if (x->count != 4 || grid->count != 4 || grid->extent[3] != 2 || strcmp(beyond, "reflection") == 0)
        return false;
    *g = (struct grid_look){.n = x->extent[0],
                            .channels = x->extent[1],
                            .size = {x->extent[2], x->extent[3]},
                            .points = grid->extent[1] * grid->extent[2]};
    g->nearest = strcmp(mode, "nearest") == 0;
    g->zeros = strcmp(beyond, "border") != 0;
    g->aligned = layer_int(l, "align_corners", 0) != 0;
    return linear || g->nearest;
}

/* x [N,C,H,W], places [N,P,Q,2] of width and height in -1 .. 1 */
static void grid_sample(struct layer *l)
{
    struct grid_look g;
    if (!look_of(l, &g)) {
        layer_fail(l);
        return;
    }
    int64_t flat[] = {g.n, g.channels, g.size[0] * g.size[1]};
    g.pixels = layer_permute(l, layer_reshape(l, layer_in(l, 0), 3, flat), 3, (int64_t[]){0, 2, 1});
    int32_t x[2] = {place(l, &g, 0), place(l, &g, 1)}, y;
    if (g.nearest) {
        int32_t at[2] = {layer_one(l, "Round", x[0]), layer_one(l, "Round", x[1])};
        int32_t one =
            layer_expand_to(l, layer_number(l, layer_element(l, x[0]), 1), 2, (int64_t[]){g.n, g.points});
        y = picked(l, &g, at, one);
    } else
        y = between(l, &g, x);
    layer_result(l, 0, layer_permute(l, y, 3, (int64_t[]){0, 2, 1}));
}

/* -1 .. 1 along a dimension, between corners or between the middles of pixels. */
static int32_t coordinates(struct layer *l, enum model_element e, int64_t n, bool aligned)
{
    double at[MODEL_MAX_KNOWN];
    if (n > MODEL_MAX_KNOWN) return layer_fail(l), -1;
    for (int64_t i = 0; i < n; i++)
        at[i] = !aligned ? (2 * (double)i + 1) / (double)n - 1
                : n == 1 ? -1
                         : 2 * (double)i / (double)(n - 1) - 1;
    return layer_reals(l, e, 1, &n, at);
}

/* theta [N, d, d + 1]: what it makes of (x, y, .., 1) of every pixel. */
static void affine_grid(struct layer *l)
{
    const struct model_type *theta = layer_type(l, layer_in(l, 0)),
                            *y = model_type_of(l->m, l->op->results[0]);
    int d = y->count - 2;
    int32_t parts[4];
    int64_t extent[MODEL_MAX_RANK], points = 1;
    if (d < 2 || d > 3 || theta->count != 3 || theta->extent[1] != d || theta->extent[2] != d + 1) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < d; i++) {
        extent[i] = y->extent[i + 1];
        points *= extent[i];
    }
    extent[d] = 1;
    for (int i = 0; i <= d; i++) { /* the last dimension is x */
        bool one = i == d;
        int32_t line =
            one ? layer_number(l, theta->element, 1)
                : coordinates(l, theta->element, extent[d - 1 - i], layer_int(l, "align_corners", 0) != 0);
        if (!one) line = layer_channels(l, line, d + 1, d - 1 - i);
        parts[i] = layer_expand_to(l, line, d + 1, extent);
    }
    int32_t base = layer_reshape(l, layer_concat(l, d, d + 1, parts), 3, (int64_t[]){1, points, d + 1});
    layer_result(l, 0,
                 layer_two(l, "MatMul", base, layer_permute(l, layer_in(l, 0), 3, (int64_t[]){0, 2, 1})));
}

/* clang-format off */
const struct layer_row layers_sampling[] = {
    {{NULL, NULL, "GridSample"}, grid_sample},
    {{NULL, NULL, "com.microsoft:GridSample"}, grid_sample},
    {{NULL, NULL, "AffineGrid"}, affine_grid},
    {{NULL}, NULL},
};
/* clang-format on */
