/* Softmax is found however it is written, and left alone where a part of it is wanted for itself; what it becomes is
 * the same in real numbers, keeps its names, and reads back. */
#include "support/softmax_graphs.h"
#include "base/memory.h"
#include "base/text.h"
#include "device/reference/reference.h"
#include "graph/online.h"
#include "support/made_reference.h"

#include <math.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>

static const struct softmax_form found[] = {
    {.heads = 2, .rows = 8, .columns = 96, .width = 64},
    {.heads = 2, .rows = 8, .columns = 64, .width = 64, .scaled = true, .masked = true, .dtype = "bf16"},
    {.heads = 1, .rows = 8, .columns = 64, .width = 32, .division = DIVIDED_LATE, .dtype = "fp32"},
    {.heads = 2, .rows = 4, .columns = 64, .width = 64, .division = BY_RECIPROCAL, .swapped = true},
    {.heads = 2, .rows = 4, .columns = 64, .width = 64, .division = RECIPROCAL_LATE, .products = 2},
    {.heads = 2, .groups = 3, .rows = 4, .columns = 64, .width = 64, .masked = true, .dtype = "fp32"},
    {.heads = 2,
     .groups = 3,
     .rows = 4,
     .columns = 64,
     .width = 64,
     .division = DIVIDED_LATE,
     .swapped = true},
    {.heads = 2, .rows = 4, .columns = 64, .width = 64, .products = 3, .swapped = true},
    {.heads = 2, .rows = 64, .columns = 64, .width = 64, .layers = 3, .scaled = true, .dtype = "fp32"},
    {.heads = 2, .rows = 4, .columns = 64, .width = 64, .logged = true, .dtype = "fp32"},
    {.heads = 2, .rows = 4, .columns = 64, .width = 64, .logged = true, .division = DIVIDED_LATE},
};
enum { FOUND = sizeof found / sizeof *found };

static const struct softmax_form left[] = {
    {.heads = 2, .rows = 8, .columns = 64, .width = 64, .weights_out = true},
    {.heads = 2, .rows = 8, .columns = 64, .width = 64, .max_out = true},
    {.heads = 2, .rows = 8, .columns = 64, .width = 64, .sum_read = true},
    {.heads = 2, .rows = 8, .columns = 64, .width = 64, .exp_read = true},
    {.heads = 2, .rows = 8, .columns = 64, .width = 64, .exp_read = true, .division = DIVIDED_LATE},
    {.heads = 2, .rows = 8, .columns = 64, .width = 64, .masked = true, .other_scores = true},
    {.heads = 2, .rows = 8, .columns = 64, .width = 64, .sum_read = true, .division = RECIPROCAL_LATE},
};
enum { LEFT = sizeof left / sizeof *left };

static const struct lx_graph *made(const struct softmax_form *f)
{
    lx_status st = {0};
    const struct lx_graph *g = softmax_graph(f, 8192, &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

static const struct lx_graph *online(const struct lx_graph *g)
{
    lx_status st = {0};
    const struct lx_graph *out = NULL;
    if (!graph_online(g, &out, &st)) fail_msg("%s: %s", g->name, st.text);
    return out;
}

static int count_kind(const struct lx_graph *g, enum lx_kind_id kind)
{
    int n = 0;
    for (int32_t o = 0; o < g->op_count; o++) n += g->ops[o].kind->id == kind;
    return n;
}

static int32_t named(const struct lx_graph *g, const char *name)
{
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (strcmp(g->tensors[t].name, name) == 0) return t;
    return -1;
}

static void all_forms_are_found(void **state)
{
    (void)state;
    for (int i = 0; i < FOUND; i++) {
        const struct softmax_form *f = &found[i];
        const struct lx_graph *g = made(f), *to = online(g);
        int layers = f->layers ? f->layers : 1, products = f->products ? f->products : 1;
        if (!to) fail_msg("form %d is not found", i);
        assert_int_equal(count_kind(to, LX_KIND_LOGSUMEXP), layers);
        assert_int_equal(count_kind(to, LX_KIND_BLEND), layers * products);
        static const enum lx_kind_id gone[] = {LX_KIND_MAX, LX_KIND_SUM, LX_KIND_DIV, LX_KIND_RECIPROCAL,
                                               LX_KIND_LOG};
        for (size_t k = 0; k < sizeof gone / sizeof *gone; k++) assert_int_equal(count_kind(to, gone[k]), 0);
        assert_ptr_equal(to->came_from, g);
        assert_true(named(to, "max_lse") >= 0 && to->tensors[named(to, "max_lse")].dtype == LX_FP32);
        lx_graph_free(to);
        lx_graph_free(g);
    }
}

static void what_is_wanted_stays(void **state)
{
    (void)state;
    for (int i = 0; i < LEFT; i++) {
        const struct lx_graph *g = made(&left[i]), *to = online(g);
        if (to) fail_msg("form %d is rewritten, though a part of it is wanted", i);
        lx_graph_free(g);
    }
}

/* Inputs and outputs are the same, and a name that is taken is not taken twice. */
static void names_survive(void **state)
{
    (void)state;
    for (int i = 0; i < FOUND; i++) {
        const struct lx_graph *g = made(&found[i]), *to = online(g);
        for (int32_t t = 0; t < g->tensor_count; t++) {
            if (g->tensors[t].role == LX_INTERMEDIATE) continue;
            int32_t now = named(to, g->tensors[t].name);
            assert_true(now >= 0 && to->tensors[now].role == g->tensors[t].role);
            assert_int_equal(to->tensors[now].dtype, g->tensors[t].dtype);
        }
        lx_graph_free(to);
        lx_graph_free(g);
    }
}

/* `alone`: the graph as if it came from nowhere; lives as long as the reference. */
static struct lx_reference *exactly(const struct lx_graph *g, struct lx_graph *alone)
{
    lx_status st = {0};
    *alone = *g;
    alone->came_from = NULL;
    struct lx_reference *r = made_reference(alone, 3, 1, &st);
    if (!r) fail_msg("%s", st.text);
    return r;
}

static void assert_equal_numbers(const struct reference_output *a, const struct reference_output *b)
{
    assert_true(a->numbers && b->numbers && a->count == b->count);
    for (int64_t k = 0; k < a->count; k++)
        if (!(fabs(a->numbers[k] - b->numbers[k]) <= 1e-12 * (1 + fabs(a->numbers[k]))))
            fail_msg("%.17g became %.17g", a->numbers[k], b->numbers[k]);
}

static void equal_in_real_numbers(void **state)
{
    (void)state;
    for (int i = 0; i < FOUND; i++) {
        const struct lx_graph *g = made(&found[i]), *to = online(g);
        struct lx_graph plain, rewritten;
        struct lx_reference *before = exactly(g, &plain), *after = exactly(to, &rewritten);
        int outputs = 0;
        for (int32_t t = 0; t < g->tensor_count; t++) {
            if (g->tensors[t].role != LX_OUTPUT) continue;
            assert_equal_numbers(&before->outputs[t], &after->outputs[named(to, g->tensors[t].name)]);
            outputs++;
        }
        assert_true(outputs > 0);
        lx_reference_free(before);
        lx_reference_free(after);
        lx_graph_free(to);
        lx_graph_free(g);
    }
}

static void reads_back(void **state)
{
    (void)state;
    for (int i = 0; i < FOUND; i++) {
        const struct lx_graph *g = made(&found[i]), *to = online(g);
        size_t length = 0;
        lx_status st = {0};
        char *text = lx_graph_to_json(to, &length);
        const struct lx_graph *again = lx_graph_of_text("again", text, length, &st);
        if (!again) fail_msg("%s", st.text);
        assert_true(again->hash == to->hash && again->came_from && again->came_from->hash == g->hash);
        mem_free(text);
        lx_graph_free(again);
        lx_graph_free(to);
        lx_graph_free(g);
    }
}

/* A graph that did not come from where it says: an output of another shape. */
static void other_origins_are_refused(void **state)
{
    (void)state;
    const struct lx_graph *g = made(&found[0]), *to = online(g), *other = made(&found[1]);
    struct lx_graph forged = *to;
    size_t length = 0;
    lx_status st = {0};
    forged.came_from = other;
    char *text = lx_graph_to_json(&forged, &length);
    assert_null(lx_graph_of_text("forged", text, length, &st));
    assert_int_equal((int)st.code, (int)LX_E_SCHEMA);
    mem_free(text);
    lx_graph_free(other);
    lx_graph_free(to);
    lx_graph_free(g);
}

static void patterns_have_it(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int softmaxes;
    } rows[] = {
        {"sdpa", 1},    {"gq_attention", 1}, {"mha_4h", 1}, {"transformer_block", 1}, {"softmax_512x1024", 0},
        {"moe_mlp", 0}, {"layernorm", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[1400];
        lx_status st = {0};
        snprintf(path, sizeof path, "%s/patterns/graphs/%s.json", SOURCE_DIR, rows[i].name);
        const struct lx_graph *g = lx_graph_read(path, &st), *to = g ? online(g) : NULL;
        if (!g) fail_msg("%s", st.text);
        assert_int_equal(to ? count_kind(to, LX_KIND_LOGSUMEXP) : 0, rows[i].softmaxes);
        lx_graph_free(to);
        lx_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_forms_are_found),
        cmocka_unit_test(what_is_wanted_stays),
        cmocka_unit_test(names_survive),
        cmocka_unit_test(equal_in_real_numbers),
        cmocka_unit_test(reads_back),
        cmocka_unit_test(patterns_have_it),
        cmocka_unit_test(other_origins_are_refused),
    };
    return cmocka_run_group_tests_name("online", tests, NULL, NULL);
}
