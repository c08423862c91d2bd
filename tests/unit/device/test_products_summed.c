/* Contractions without columns: both inputs have the same variables, so that they are multiplied element by
 * element and summed. They need no copy in another layout, whatever is summed and however it fills the sticks: the
 * traffic is that of the operands, and the device, which counts its own, gets the right numbers. */
#include "support/device_plans.h"

struct product {
    const char *first, *output; /* the letters of both inputs, and of what is left */
    int64_t extent[4];
};

static const struct product products[] = {
    {"k", "", {2048}},
    {"k", "", {77}},
    {"mk", "m", {96, 192}},
    {"mk", "m", {33, 100}},
    {"mk", "k", {96, 192}},
    {"mk", "", {40, 130}},
    {"bmk", "bm", {3, 40, 128}},
    {"bmk", "b", {5, 12, 64}},
    {"bmk", "bk", {2, 64, 65}},
    {"bmk", "k", {4, 16, 320}},
    {"bhmk", "bhm", {2, 3, 20, 96}},
};

enum { PRODUCTS = sizeof products / sizeof *products };

static void add_tensor(struct text *t, const char *name, const char *role, const char *letters,
                       const struct product *p)
{
    text_format(t, "{\"name\": \"%s\", \"role\": \"%s\", \"shape\": [", name, role);
    for (int i = 0; letters[i]; i++)
        text_format(t, "%s%lld", i ? ", " : "",
                    (long long)p->extent[strchr(p->first, letters[i]) - p->first]);
    text_add(t, "]}");
}

static const struct lx_graph *graph_of(const struct product *p)
{
    struct text t = {0};
    lx_status st = {0};
    text_add(&t, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"product\", \"tensors\": [");
    add_tensor(&t, "a", "input", p->first, p);
    text_add(&t, ", ");
    add_tensor(&t, "b", "input", p->first, p);
    text_add(&t, ", ");
    add_tensor(&t, "y", "output", p->output, p);
    text_format(
        &t,
        "], \"ops\": [{\"name\": \"dot\", \"kind\": \"matmul\", \"inputs\": [\"a\", \"b\"], \"output\": "
        "\"y\", \"einsum\": \"%s,%s->%s\"}]}",
        p->first, p->first, p->output);
    const struct lx_graph *g = lx_graph_of_text("product", t.at, t.length, &st);
    if (!g) fail_msg("%s", st.text);
    text_free(&t);
    return g;
}

/* Takes the graph over. */
static int64_t check_traffic(const struct lx_graph *g, int64_t cores)
{
    struct lx_passes passes = {0};
    int64_t operands = 0;
    g = with_cores(g, cores);
    struct lx_plan *p = plan_graph(g, "greedy", &passes);
    const struct lx_layouts *l = p->layouts;
    const struct lx_op *op = &l->graph->ops[l->graph->op_count - 1];
    assert_int_equal(l->restickify_count, 0);
    for (int i = 0; i < op->input_count; i++) operands += lx_layout_bytes(&l->layouts[op->inputs[i]]);
    operands += lx_layout_bytes(&l->layouts[op->output]);
    assert_int_equal(p->figures.hbm_bytes, operands);
    struct lx_device_options how = {.threads = 1};
    lx_status st = {0};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    if (!r) fail_msg("%s", st.text);
    if (!r->ok) fail_msg("%s on %lld cores: %s", g->name, (long long)cores, what_is_wrong(r));
    lx_run_result_free(r);
    lx_plan_free(p);
    return operands;
}

static void test_products(void **state)
{
    (void)state;
    static const int64_t cores[] = {1, 3, 32};
    for (int i = 0; i < PRODUCTS; i++)
        for (int k = 0; k < 3; k++) check_traffic(graph_of(&products[i]), cores[k]);
}

/* Two inputs of 4 MiB, and an output of 1,024 sums along the stick: one element per stick. */
static void test_batched_dot(void **state)
{
    (void)state;
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/tests/data/graphs/batched_dot.json", &st);
    if (!g) fail_msg("%s", st.text);
    assert_int_equal(check_traffic(g, 32), 2 * 4194304 + 1024 * 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_batched_dot)};
    return cmocka_run_group_tests_name("products_summed", tests, NULL, NULL);
}
