/* Convolutions of models: files with one convolution drawn at random (any order of dimensions, groups of features and of
 * batches, strides, dilations of both sides, taps from the end, pads that may cut) are imported, planned and run, and the
 * device's result compared with loops that follow the file's own definition. Whole numbers keep sums exact. */
#include "base/rng.h"
#include "base/text.h"
#include "base/memory.h"
#include "device/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { TRIALS = 80, IMAGES = 4, SPATIAL = 2, RANK = SPATIAL + 2 };

/* Part 0 is the batch (of the weight its outputs), 1 the features (its inputs), from 2 on the spatial ones. */
struct side {
    int place[RANK]; /* dimension of each part */
    int64_t extent[RANK];
    float *data;
};

struct conv {
    struct side x, w, y;
    int64_t groups, batch_groups;
    int64_t stride[SPATIAL], low[SPATIAL], high[SPATIAL], base[SPATIAL], dilation[SPATIAL];
    bool reversed[SPATIAL];
    bool bias; /* in TTIR: output channel k begins at k */
    bool pads; /* in HLO: the padding is an op of its own */
};

static int64_t draw(struct rng *r, int64_t low, int64_t high)
{
    return rng_between(r, low, high);
}

static void draw_places(struct side *s, struct rng *r)
{
    for (int i = 0; i < RANK; i++) s->place[i] = i;
    for (int i = RANK - 1; i > 0; i--) {
        int k = (int)draw(r, 0, i), keep = s->place[i];
        s->place[i] = s->place[k];
        s->place[k] = keep;
    }
}

static bool draw_window(struct conv *c, int s, bool plain, struct rng *r)
{
    int64_t n = draw(r, 1, 12), k = draw(r, 1, 4);
    c->stride[s] = draw(r, 1, 3);
    c->low[s] = draw(r, plain ? 0 : -1, 3);
    c->high[s] = draw(r, plain ? 0 : -1, 3);
    c->base[s] = plain ? 1 : draw(r, 1, 3);
    c->dilation[s] = draw(r, 1, 3);
    c->reversed[s] = !plain && draw(r, 0, 1);
    int64_t room = (n - 1) * c->base[s] + 1 + c->low[s] + c->high[s] - (k - 1) * c->dilation[s] - 1;
    c->x.extent[2 + s] = n;
    c->w.extent[2 + s] = k;
    c->y.extent[2 + s] = room / c->stride[s] + 1;
    return room >= 0;
}

static void draw_conv(struct conv *c, bool plain, struct rng *r)
{
    *c = (struct conv){.groups = 1, .batch_groups = 1};
    int64_t how = draw(r, 0, plain ? 1 : 2), g = draw(r, 2, 4);
    if (how == 1) c->groups = g;
    if (how == 2) c->batch_groups = g;
    for (int s = 0; s < SPATIAL; s++)
        while (!draw_window(c, s, plain, r)) {
        }
    int64_t channels = draw(r, 1, 5), outs = draw(r, 1, 5) * g, batch = draw(r, 1, 3);
    c->x.extent[0] = batch * c->batch_groups;
    c->x.extent[1] = channels * c->groups;
    c->w.extent[0] = c->y.extent[1] = outs;
    c->w.extent[1] = channels;
    c->y.extent[0] = batch;
    for (int i = 0; i < 3; i++) draw_places(i == 0 ? &c->x : i == 1 ? &c->w : &c->y, r);
}

/* A large image of few channels, whose last position a window reaches; `patches`: windows side by side. */
static void draw_image(struct conv *c, bool patches, struct rng *r)
{
    *c = (struct conv){.groups = 1, .batch_groups = 1, .base = {1, 1}, .dilation = {1, 1}};
    static const int64_t strides[][SPATIAL] = {{2, 2}, {2, 1}, {1, 3}, {1, 4}, {2, 2}};
    int64_t how = draw(r, 0, 4);
    for (int s = 0; s < SPATIAL; s++) {
        int64_t n = c->x.extent[2 + s] = s ? draw(r, 1100, 1110) : draw(r, 32, 37);
        int64_t k = c->w.extent[2 + s] = draw(r, 1, 5), by = c->stride[s] = strides[how][s];
        c->low[s] = draw(r, 0, 3);
        if (patches) by = c->stride[s] = k = c->w.extent[2 + s] = draw(r, 3, 4), c->low[s] = 0;
        if (patches) n = c->x.extent[2 + s] = n / k * k + k;
        while ((n + c->low[s] + c->high[s] - k) % by) c->high[s]++;
        c->y.extent[2 + s] = (n + c->low[s] + c->high[s] - k) / by + 1;
    }
    c->x.extent[0] = c->y.extent[0] = 1;
    c->x.extent[1] = c->w.extent[1] = draw(r, 1, 3);
    c->w.extent[0] = c->y.extent[1] = 2;
    c->bias = true;
    for (int i = 0; i < 3; i++) draw_places(i == 0 ? &c->x : i == 1 ? &c->w : &c->y, r);
}

static int64_t count(const struct side *s)
{
    int64_t n = 1;
    for (int i = 0; i < RANK; i++) n *= s->extent[i];
    return n;
}

static int64_t place(const struct side *s, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < RANK; d++)
        for (int i = 0; i < RANK; i++)
            if (s->place[i] == d) at = at * s->extent[i] + index[i];
    return at;
}

static void add_shape(struct text *t, const struct side *s, const char *between)
{
    for (int d = 0; d < RANK; d++)
        for (int i = 0; i < RANK; i++)
            if (s->place[i] == d) text_format(t, "%s%lld", d ? between : "", (long long)s->extent[i]);
}

static void add_labels(struct text *t, const struct side *s, const char *words)
{
    for (int d = 0; d < RANK; d++)
        for (int i = 0; i < RANK; i++)
            if (s->place[i] == d) text_format(t, "%c", words[i]);
}

static void add_pairs(struct text *t, const char *key, const int64_t *v)
{
    text_format(t, " %s=%lldx%lld", key, (long long)v[0], (long long)v[1]);
}

static void add_pad(struct text *t, const struct conv *c)
{
    struct side p = c->x;
    for (int s = 0; s < SPATIAL; s++) p.extent[2 + s] += c->low[s] + c->high[s];
    text_add(t, "  z = f32[] constant(0)\n  p = f32[");
    add_shape(t, &p, ",");
    text_add(t, "] pad(x, z), padding=");
    for (int d = 0; d < RANK; d++)
        for (int i = 0; i < RANK; i++)
            if (p.place[i] == d)
                text_format(t, "%s%lld_%lld", d ? "x" : "", i < 2 ? 0 : (long long)c->low[i - 2],
                            i < 2 ? 0 : (long long)c->high[i - 2]);
    text_add(t, "\n");
}

static char *hlo_of(const struct conv *c)
{
    struct text t = {0};
    text_add(&t, "HloModule m\n\nENTRY e {\n  x = f32[");
    add_shape(&t, &c->x, ",");
    text_add(&t, "] parameter(0)\n  w = f32[");
    add_shape(&t, &c->w, ",");
    text_add(&t, "] parameter(1)\n");
    if (c->pads) add_pad(&t, c);
    text_add(&t, "  ROOT y = f32[");
    add_shape(&t, &c->y, ",");
    text_format(&t, "] convolution(%s, w), window={size=%lldx%lld", c->pads ? "p" : "x",
                (long long)c->w.extent[2], (long long)c->w.extent[3]);
    add_pairs(&t, "stride", c->stride);
    if (!c->pads)
        text_format(&t, " pad=%lld_%lldx%lld_%lld", (long long)c->low[0], (long long)c->high[0],
                    (long long)c->low[1], (long long)c->high[1]);
    add_pairs(&t, "lhs_dilate", c->base);
    add_pairs(&t, "rhs_dilate", c->dilation);
    text_format(&t, " rhs_reversal=%dx%d}, dim_labels=", c->reversed[0], c->reversed[1]);
    add_labels(&t, &c->x, "bf01");
    text_add(&t, "_");
    add_labels(&t, &c->w, "oi01");
    text_add(&t, "->");
    add_labels(&t, &c->y, "bf01");
    if (c->groups > 1) text_format(&t, ", feature_group_count=%lld", (long long)c->groups);
    if (c->batch_groups > 1) text_format(&t, ", batch_group_count=%lld", (long long)c->batch_groups);
    text_add(&t, "\n}\n");
    return t.at;
}

/* The weight is in the order of its parts, the result in the input's. */
static char *ttir_of(struct conv *c)
{
    struct text t = {0}, types = {0};
    for (int i = 0; i < RANK; i++) c->w.place[i] = i;
    memcpy(c->y.place, c->x.place, sizeof c->y.place);
    text_add(&t, "func.func @f(%arg0: tensor<");
    add_shape(&t, &c->x, "x");
    text_add(&t, "xf32>, %arg1: tensor<");
    add_shape(&t, &c->w, "x");
    if (c->bias) text_format(&t, "xf32>, %%arg2: tensor<1x1x1x%lld", (long long)c->y.extent[1]);
    text_add(&t, "xf32>) -> tensor<");
    add_shape(&t, &c->y, "x");
    text_format(
        &t,
        "xf32> {\n  %%0 = \"ttir.conv2d\"(%%arg0, %%arg1%s) <{batch_dim = %d : i64, channel_dim = %d : i64, "
        "height_dim = %d : i64, width_dim = %d : i64, groups = %lld : i32, ",
        c->bias ? ", %arg2" : "", c->x.place[0], c->x.place[1], c->x.place[2], c->x.place[3],
        (long long)c->groups);
    text_format(&t, "stride = array<i32: %lld, %lld>, dilation = array<i32: %lld, %lld>, ",
                (long long)c->stride[0], (long long)c->stride[1], (long long)c->dilation[0],
                (long long)c->dilation[1]);
    text_format(&t, "padding = array<i32: %lld, %lld, %lld, %lld>}> : (tensor<", (long long)c->low[0],
                (long long)c->low[1], (long long)c->high[0], (long long)c->high[1]);
    add_shape(&t, &c->x, "x");
    text_add(&t, "xf32>, tensor<");
    add_shape(&t, &c->w, "x");
    if (c->bias) text_format(&t, "xf32>, tensor<1x1x1x%lld", (long long)c->y.extent[1]);
    text_add(&types, "tensor<");
    add_shape(&types, &c->y, "x");
    text_add(&types, "xf32>");
    text_format(&t, "xf32>) -> %s\n  return %%0 : %s\n}\n", types.at, types.at);
    text_free(&types);
    return t.at;
}

/* One term: the weight's element times the input's, if there is one. */
static float term(const struct conv *c, const int64_t *y, int64_t i, const int64_t *tap)
{
    int64_t x[RANK], w[RANK] = {y[1], i};
    int64_t group = y[1] / (c->y.extent[1] / (c->groups * c->batch_groups));
    x[0] = c->batch_groups > 1 ? group * c->y.extent[0] + y[0] : y[0];
    x[1] = c->groups > 1 ? group * c->w.extent[1] + i : i;
    for (int s = 0; s < SPATIAL; s++) {
        int64_t low = c->low[s] * (c->pads ? c->base[s] : 1); /* a pad's rows are apart, too */
        int64_t at = y[2 + s] * c->stride[s] + tap[s] * c->dilation[s] - low;
        if (at < 0 || at % c->base[s] || at / c->base[s] >= c->x.extent[2 + s]) return 0;
        x[2 + s] = at / c->base[s];
        w[2 + s] = c->reversed[s] ? c->w.extent[2 + s] - 1 - tap[s] : tap[s];
    }
    return c->x.data[place(&c->x, x)] * c->w.data[place(&c->w, w)];
}

static float naive(const struct conv *c, bool bias, const int64_t *y)
{
    float sum = bias ? (float)y[1] : 0;
    int64_t tap[SPATIAL];
    for (int64_t i = 0; i < c->w.extent[1]; i++)
        for (tap[0] = 0; tap[0] < c->w.extent[2]; tap[0]++)
            for (tap[1] = 0; tap[1] < c->w.extent[3]; tap[1]++) sum += term(c, y, i, tap);
    return sum;
}

struct link {
    const struct lx_graph *g;
    struct conv *c;
};

static void put(void *context, int32_t tensor, void *items)
{
    const struct link *k = context;
    const char *name = k->g->tensors[tensor].name;
    if (strstr(name, "arg2"))
        for (int64_t i = 0; i < k->c->y.extent[1]; i++) ((float *)items)[i] = (float)i;
    if (strstr(name, "arg2")) return;
    bool second = strcmp(name, "w") == 0 || strstr(name, "arg1");
    const struct side *s = second ? &k->c->w : &k->c->x;
    memcpy(items, s->data, (size_t)count(s) * sizeof(float));
}

static void take(void *context, int32_t tensor, const void *items)
{
    const struct link *k = context;
    (void)tensor;
    memcpy(k->c->y.data, items, (size_t)count(&k->c->y) * sizeof(float));
}

static void fill(struct side *s, struct rng *r)
{
    s->data = mem_zeroed((size_t)count(s) + 1, sizeof *s->data);
    for (int64_t i = 0; i < count(s); i++) s->data[i] = (float)draw(r, -6, 6);
}

static void compare(const struct conv *c, bool bias, const char *text)
{
    int64_t y[RANK];
    for (int64_t n = 0; n < count(&c->y); n++) {
        int64_t rest = n;
        for (int i = RANK - 1; i >= 0; i--) {
            y[i] = rest % c->y.extent[i];
            rest /= c->y.extent[i];
        }
        float want = naive(c, bias, y), got = c->y.data[place(&c->y, y)];
        if (got != want) fail_msg("%g, but it is %g: %s", (double)got, (double)want, text);
    }
}

static void one(struct conv *c, char *text, int most_strides, struct rng *r)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("t", text, strlen(text), &st);
    if (!g) fail_msg("%s: %s", st.text, text);
    for (int32_t o = 0; o < g->op_count; o++)
        if (g->ops[o].kind->id == LX_KIND_GENERIC) fail_msg("%s is generic: %s", g->ops[o].name, text);
    int strides = 0;
    for (int32_t o = 0; o < g->op_count && c->pads; o++)
        if (g->ops[o].kind->id == LX_KIND_PAD) fail_msg("%s is left: %s", g->ops[o].name, text);
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < g->ops[o].window_count; i++) strides += g->ops[o].windows[i].stride > 1;
    if (strides > most_strides) fail_msg("%d strides: %s", strides, text);
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p || !lx_plan_check(p, &st)) fail_msg("%s: %s", st.text, text);
    struct link link = {g, c};
    fill(&c->x, r);
    fill(&c->w, r);
    fill(&c->y, r);
    struct lx_device_options run = {.verify = LX_VERIFY_FULL, .input = put, .output = take, .context = &link};
    struct lx_run_result *result = lx_device_run(p, &run, &st);
    if (!result || !result->ok) fail_msg("%s: %s", result ? "wrong" : st.text, text);
    compare(c, strstr(text, "arg2") != NULL, text);
    lx_run_result_free(result);
    lx_plan_free(p);
    lx_graph_free(g);
    mem_free(c->x.data);
    mem_free(c->w.data);
    mem_free(c->y.data);
    mem_free(text);
}

static void of_hlo(void **state)
{
    (void)state;
    struct rng r = rng_seed(5);
    for (int i = 0; i < TRIALS; i++) {
        struct conv c;
        draw_conv(&c, false, &r);
        one(&c, hlo_of(&c), SPATIAL, &r);
    }
}

static void of_ttir(void **state)
{
    (void)state;
    struct rng r = rng_seed(6);
    for (int i = 0; i < TRIALS; i++) {
        struct conv c;
        draw_conv(&c, true, &r);
        one(&c, ttir_of(&c), SPATIAL, &r);
    }
}

/* The windows of a convolution have the zeros that a pad puts before them. */
static void of_pads(void **state)
{
    (void)state;
    struct rng r = rng_seed(8);
    for (int i = 0; i < TRIALS / 4; i++) {
        struct conv c;
        draw_conv(&c, true, &r);
        c.pads = true;
        for (int s = 0; s < SPATIAL; s++) {
            int64_t n = c.x.extent[2 + s] + c.low[s] + c.high[s];
            c.base[s] = draw(&r, 1, 2);
            int64_t room = (n - 1) * c.base[s] - (c.w.extent[2 + s] - 1) * c.dilation[s];
            c.y.extent[2 + s] = room / c.stride[s] + 1;
        }
        one(&c, hlo_of(&c), SPATIAL, &r);
    }
}

/* Blocks of an image become channels, and no stride is left; patches do but along the last dimension. */
static void of_images(void **state)
{
    (void)state;
    struct rng r = rng_seed(7);
    for (int i = 0; i < IMAGES; i++) {
        struct conv c;
        draw_image(&c, i >= IMAGES / 2, &r);
        one(&c, i % 2 ? ttir_of(&c) : hlo_of(&c), i >= IMAGES / 2, &r);
    }
}

/* Sums of bytes need more than a byte. */
static void wide_sums_stay_wide(void **state)
{
    static const char text[] =
        "HloModule m\n\nENTRY main {\n  x = s8[1,3,224,224] parameter(0)\n  w = s8[8,3,7,7] parameter(1)\n"
        "  ROOT c = s32[1,8,112,112] convolution(x, w), window={size=7x7 stride=2x2 pad=3_3x3_3}, "
        "dim_labels=bf01_oi01->bf01\n}\n";
    (void)state;
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("t.hlo", text, sizeof text - 1, &st);
    if (!g) fail_msg("%s", st.text);
    for (int32_t o = 0; o < g->op_count; o++)
        if (g->ops[o].kind->id == LX_KIND_MATMUL)
            assert_int_equal(g->tensors[g->ops[o].output].dtype, LX_INT32);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_hlo), cmocka_unit_test(of_ttir),
                                       cmocka_unit_test(of_pads), cmocka_unit_test(of_images),
                                       cmocka_unit_test(wide_sums_stay_wide)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
