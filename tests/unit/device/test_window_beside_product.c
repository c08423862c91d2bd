/* Windows over a tensor that a contraction reads as well. The contraction pads what it sums to whole sticks (7 rows are
 * 32), so that the window's operand has positions behind its last index: a core that has all of it on chip reads them
 * too, and the device counts what the plan says. */
#include "base/rng.h"
#include "base/memory.h"
#include "support/device_plans.h"

#include <inttypes.h>

enum { TRIALS = 120, MOST_CORES = 8 };

struct slid {
    int64_t extent, taps, stride, pad, outs; /* taps 0: the letter stays as it is */
};

struct trial {
    struct slid side[2]; /* rows and columns of the tensor */
    int64_t beside, cores;
    bool rows_summed, made; /* made: by an op, else it is an input */
    const char *kind, *dtype;
};

static void draw_side(struct slid *s, bool slides, struct rng *rng)
{
    s->extent = rng_between(rng, 1, rng_below(rng, 2) ? 12 : 100);
    s->outs = s->extent;
    if (!slides) return;
    s->taps = rng_between(rng, 1, s->extent < 4 ? s->extent : 4);
    s->stride = rng_between(rng, 1, 3);
    s->pad = rng_between(rng, 0, s->taps - 1);
    s->outs = (s->extent + 2 * s->pad - s->taps) / s->stride + 1;
}

static struct trial draw(struct rng *rng)
{
    static const char *const kinds[] = {"sum", "max", "mean"}, *const types[] = {"fp32", "fp16"};
    struct trial t = {.kind = kinds[rng_below(rng, 3)], .dtype = types[rng_below(rng, 2)]};
    uint64_t which = rng_below(rng, 4);
    for (int i = 0; i < 2; i++) draw_side(&t.side[i], which == 3 || which % 2 == (uint64_t)i, rng);
    t.beside = rng_between(rng, 1, 48);
    t.cores = rng_between(rng, 1, MOST_CORES);
    t.rows_summed = rng_below(rng, 4) > 0;
    t.made = rng_below(rng, 2) > 0;
    return t;
}

static void add_tensor(struct text *s, const struct trial *t, const char *name, const char *role,
                       int64_t rows, int64_t columns)
{
    text_format(
        s, "%s{\"name\": \"%s\", \"dtype\": \"%s\", \"role\": \"%s\", \"shape\": [%" PRId64 ", %" PRId64 "]}",
        strcmp(name, "i") == 0 ? "" : ", ", name, t->dtype, role, rows, columns);
}

static void add_windows(struct text *s, const struct trial *t)
{
    const char *before = "";
    for (int i = 0; i < 2; i++) {
        const struct slid *w = &t->side[i];
        if (w->taps == 0) continue;
        text_format(s,
                    "%s{\"in\": \"%c\", \"out\": \"%c\", \"tap\": \"%c\", \"size\": %" PRId64
                    ", \"stride\": %" PRId64 ", \"pad\": %" PRId64 "}",
                    before, "hc"[i], "pq"[i], "kl"[i], w -> taps, w -> stride, w -> pad);
        before = ", ";
    }
}

/* The window is the op before the last. */
static char *pattern_of(const struct trial *t)
{
    struct text s = {0};
    const struct slid *h = &t->side[0], *c = &t->side[1];
    const char *x = t->made ? "x" : "i";
    text_format(&s,
                "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"device\": {\"preset\": \"spyre\", "
                "\"cores\": %" PRId64 "}, \"tensors\": [",
                t->cores);
    add_tensor(&s, t, "i", "input", h->extent, c->extent);
    if (t->made) add_tensor(&s, t, "x", "intermediate", h->extent, c->extent);
    add_tensor(&s, t, "y", "output", h->outs, c->outs);
    add_tensor(&s, t, "w", "weight", t->rows_summed ? t->beside : c->extent,
               t->rows_summed ? h->extent : t->beside);
    add_tensor(&s, t, "z", "output", t->rows_summed ? t->beside : h->extent,
               t->rows_summed ? c->extent : t->beside);
    text_format(&s, "], \"ops\": [%s{\"name\": \"v\", \"kind\": \"%s\", \"inputs\": [\"%s\"], ",
                t->made ? "{\"name\": \"n\", \"kind\": \"neg\", \"inputs\": [\"i\"], \"output\": \"x\"}, "
                        : "",
                t->kind, x);
    text_format(&s, "\"output\": \"y\", \"einsum\": \"hc->%c%c\", \"windows\": [", h->taps ? 'p' : 'h',
                c->taps ? 'q' : 'c');
    add_windows(&s, t);
    text_format(&s, "]}, {\"name\": \"d\", \"kind\": \"matmul\", \"inputs\": [\"%s\", \"%s\"], ",
                t->rows_summed ? "w" : x, t->rows_summed ? x : "w");
    text_format(&s, "\"output\": \"z\", \"einsum\": \"%s\"}]}", t->rows_summed ? "mh,hc->mc" : "hc,cn->hn");
    return s.at;
}

/* Does op "v" read a tensor on chip that has positions behind the last index of a letter that slides? */
static bool reads_padding(const struct lx_plan *p, const struct lx_run_result *r)
{
    const struct lx_graph *g = p->layouts->graph;
    bool padded = false;
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_layout *l = &p->layouts->layouts[g->ops[o].inputs[0]];
        if (strcmp(g->ops[o].name, "v") != 0 || r->ops[o].counted.lx_read == 0) continue;
        for (int k = 0; k < l->rank - 1; k++)
            padded |=
                l->host_dim[k] >= 0 && l->step[k] == 1 && l->size[k] > l->host_shape[(int)l->host_dim[k]];
    }
    return padded;
}

/* Runs the pattern, which it takes over; the bytes that op "v" has read on chip. */
static int64_t run_text(char *text, bool *padded)
{
    lx_status st = {0};
    int64_t bytes = 0;
    const struct lx_passes passes = {0};
    const struct lx_graph *g = lx_graph_of_text("t", text, strlen(text), &st);
    if (!g) fail_msg("%s: %s", st.text, text);
    struct lx_plan *p = plan_graph(g, "auto", &passes);
    if (!lx_plan_check(p, &st)) fail_msg("%s: %s", st.text, text);
    struct lx_device_options how = {.threads = 1};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    if (!r) fail_msg("%s: %s", st.text, text);
    if (!r->ok) fail_msg("%s: %s", what_is_wrong(r), text);
    for (int32_t o = 0; o < r->op_count; o++)
        if (strcmp(p->layouts->graph->ops[o].name, "v") == 0) bytes = r->ops[o].counted.lx_read;
    *padded = reads_padding(p, r);
    lx_run_result_free(r);
    lx_plan_free(p);
    mem_free(text);
    return bytes;
}

/* 7 rows, of which the product makes 32: each of the window's six cores reads all of them. */
static void test_seven_rows(void **state)
{
    (void)state;
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"device\": \"spyre\", \"tensors\": ["
        "{\"name\": \"x\", \"dtype\": \"fp32\", \"role\": \"input\", \"shape\": [7, 7]}, "
        "{\"name\": \"y\", \"dtype\": \"fp32\", \"role\": \"intermediate\", \"shape\": [6, 7]}, "
        "{\"name\": \"z\", \"dtype\": \"fp32\", \"role\": \"output\", \"shape\": [6, 7]}], \"ops\": ["
        "{\"name\": \"v\", \"kind\": \"sum\", \"inputs\": [\"x\"], \"output\": \"y\", \"einsum\": "
        "\"hc->pc\", "
        "\"windows\": [{\"in\": \"h\", \"out\": \"p\", \"tap\": \"k\", \"size\": 2}]}, "
        "{\"name\": \"d\", \"kind\": \"matmul\", \"inputs\": [\"y\", \"x\"], \"output\": \"z\", "
        "\"einsum\": \"pk,kn->pn\"}]}";
    bool padded;
    char *own = mem_alloc(sizeof text);
    assert_non_null(own);
    memcpy(own, text, sizeof text);
    assert_int_equal(run_text(own, &padded), 6 * 32 * 128);
    assert_true(padded);
}

static void test_random(void **state)
{
    (void)state;
    struct rng rng = rng_seed(7);
    int seen = 0;
    for (int i = 0; i < TRIALS; i++) {
        struct trial t = draw(&rng);
        bool padded;
        run_text(pattern_of(&t), &padded);
        seen += padded;
    }
    assert_in_range(seen, TRIALS / 10, TRIALS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_seven_rows), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests_name("window_beside_product", tests, NULL, NULL);
}
