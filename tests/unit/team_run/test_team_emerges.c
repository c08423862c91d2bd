/* Ways of sharing out a model that have names come out by themselves where they are best: nobody asks for them here, time is
 * all that counts. What is chosen costs what the names say: one join of an output, shares of it around norms, no weights on
 * their way. */
#include "unstable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Apostrophes stand for quotation marks. */
static const struct lx_graph *graph_of(const char *tensors, const char *ops)
{
    char text[8192];
    lx_status st = {0};
    int n = snprintf(text, sizeof text,
                     "{'lxplan': 1, 'kind': 'pattern', 'name': 'model', 'device': {'preset': 'spyre', "
                     "'link_us': 1}, 'tensors': [%s], 'ops': [%s]}",
                     tensors, ops);
    assert_in_range(n, 1, sizeof text - 1);
    for (int i = 0; i < n; i++)
        if (text[i] == '\'') text[i] = '"';
    const struct lx_graph *g = lx_graph_of_text("model", text, (size_t)n, &st);
    if (!g) fail_msg("%s\n%s", st.text, text);
    return g;
}

static struct lx_team_plan *plan_of(const struct lx_graph *g, int members)
{
    lx_status st = {0};
    struct lx_team_options how = {.devices = members, .by_time = true};
    struct lx_team_plan *p = lx_team_make(g, &how, &st);
    if (!p || !lx_team_check(p, &st)) fail_msg("%s", st.text);
    return p;
}

static void expect_cut(const struct lx_team_plan *p, const char *tensor, int cut)
{
    for (int32_t t = 0; t < p->graph->tensor_count; t++) {
        if (strcmp(p->graph->tensors[t].name, tensor) != 0) continue;
        if (p->tensors[t].shard[0] == cut) return;
        fail_msg("%s is cut along %d, not %d", tensor, p->tensors[t].shard[0], cut);
    }
    fail_msg("there is no tensor %s", tensor);
}

static int joined(const struct lx_team_plan *p)
{
    int count = 0;
    for (int32_t s = 0; s < p->step_count; s++) count += p->steps[s].kind == LX_TEAM_REDUCE;
    return count;
}

/* Columns of the first matrix, rows of the second. */
static void test_column_row(void **state)
{
    (void)state;
    const struct lx_graph *g = graph_of(
        "{'name': 'x', 'shape': [16, 1024]}, {'name': 'a', 'shape': [1024, 8192], 'role': 'weight'}, "
        "{'name': "
        "'b', 'shape': [8192, 1024], 'role': 'weight'}, {'name': 'h', 'shape': [16, 8192]}, {'name': 's', "
        "'shape': [16, 8192]}, {'name': 'y', 'shape': [16, 1024], 'role': 'output'}",
        "{'name': 'up', 'kind': 'matmul', 'inputs': ['x', 'a'], 'output': 'h', 'einsum': 'mk,kn->mn'}, "
        "{'name': 's', 'kind': 'silu', 'inputs': ['h'], 'output': 's'}, {'name': 'y', 'kind': 'matmul', "
        "'inputs': ['s', 'b'], 'output': 'y', 'einsum': 'mk,kn->mn'}");
    for (int n = 2; n <= 8; n *= 2) {
        struct lx_team_plan *p = plan_of(g, n);
        expect_cut(p, "a", 1);
        expect_cut(p, "h", 1);
        expect_cut(p, "b", 0);
        assert_int_equal(p->bytes, 0);
        assert_int_equal(joined(p), 1);
        assert_true(p->combine_bytes <= 2 * (n - 1) * 16 * 1024 * 2);
        lx_team_free(p);
    }
    lx_graph_free(g);
}

/* Rows around the norms, columns and rows of the weights between them: the sum is joined in shares. */
static void test_sequence(void **state)
{
    (void)state;
    const struct lx_graph *g = graph_of(
        "{'name': 'x', 'shape': [512, 1024]}, {'name': 'a', 'shape': [1024, 8192], 'role': 'weight'}, "
        "{'name': "
        "'b', 'shape': [8192, 1024], 'role': 'weight'}, {'name': 'h', 'shape': [512, 8192]}, {'name': 's', "
        "'shape': [512, 8192]}, {'name': 'd', 'shape': [512, 1024]}, {'name': 'r', 'shape': [512, 1024]}, "
        "{'name': 'q', 'shape': [512, 1024]}, {'name': 'v', 'shape': [512]}, {'name': 'i', 'shape': [512]}, "
        "{'name': 'n', 'shape': [512, 1024]}, {'name': 'c', 'shape': [1024, 8192], 'role': 'weight'}, "
        "{'name': 'y', 'shape': [512, 8192], 'role': 'output'}",
        "{'name': 'h', 'kind': 'matmul', 'inputs': ['x', 'a'], 'output': 'h', 'einsum': 'mk,kn->mn'}, "
        "{'name': "
        "'s', 'kind': 'gelu', 'inputs': ['h'], 'output': 's'}, {'name': 'd', 'kind': 'matmul', 'inputs': "
        "['s', "
        "'b'], 'output': 'd', 'einsum': 'mk,kn->mn'}, {'name': 'r', 'kind': 'add', 'inputs': ['d', 'x'], "
        "'output': 'r'}, {'name': 'q', 'kind': 'mul', 'inputs': ['r', 'r'], 'output': 'q'}, {'name': 'v', "
        "'kind': 'mean', 'inputs': ['q'], 'output': 'v', 'einsum': 'mn->m'}, {'name': 'i', 'kind': 'rsqrt', "
        "'inputs': ['v'], 'output': 'i'}, {'name': 'n', 'kind': 'mul', 'inputs': ['r', 'i'], 'output': 'n', "
        "'einsum': 'mn,m->mn'}, {'name': 'y', 'kind': 'matmul', 'inputs': ['n', 'c'], 'output': 'y', "
        "'einsum': "
        "'mk,kn->mn'}");
    struct lx_team_plan *p = plan_of(g, 4);
    expect_cut(p, "a", 1);
    expect_cut(p, "b", 0);
    expect_cut(p, "d", 0);
    expect_cut(p, "r", 0);
    expect_cut(p, "n", 0);
    expect_cut(p, "c", 1);
    assert_int_equal(joined(p), 1);
    assert_int_equal(p->combine_bytes, 3 * 512 * 1024 * 2); /* one round: everyone's share */
    assert_int_equal(p->bytes, 3 * 512 * 1024 * 2);         /* and the gather before the next weights */
    lx_team_free(p);
    lx_graph_free(g);
}

/* Experts: each member has its own, with a function of each expert's result that no part of a sum could take. */
static void test_experts(void **state)
{
    (void)state;
    const struct lx_graph *g = graph_of(
        "{'name': 'x', 'shape': [32, 1024]}, {'name': 'w', 'shape': [1024, 16], 'role': 'weight'}, {'name': "
        "'g', 'shape': [32, 16]}, {'name': 'k', 'shape': [32, 16]}, {'name': 'a', 'shape': [16, 1024, 1024], "
        "'role': 'weight'}, {'name': 'b', 'shape': [16, 1024, 1024], 'role': 'weight'}, {'name': 'h', "
        "'shape': "
        "[16, 32, 1024]}, {'name': 's', 'shape': [16, 32, 1024]}, {'name': 'e', 'shape': [16, 32, 1024]}, "
        "{'name': 't', 'shape': [16, 32, 1024]}, {'name': 'y', 'shape': [32, 1024], 'role': 'output'}",
        "{'name': 'g', 'kind': 'matmul', 'inputs': ['x', 'w'], 'output': 'g', 'einsum': 'td,de->te'}, "
        "{'name': "
        "'k', 'kind': 'sigmoid', 'inputs': ['g'], 'output': 'k'}, {'name': 'h', 'kind': 'matmul', 'inputs': "
        "['x', 'a'], 'output': 'h', 'einsum': 'td,edf->etf'}, {'name': 's', 'kind': 'silu', 'inputs': ['h'], "
        "'output': 's'}, {'name': 'e', 'kind': 'matmul', 'inputs': ['s', 'b'], 'output': 'e', 'einsum': "
        "'etf,efd->etd'}, {'name': 't', 'kind': 'tanh', 'inputs': ['e'], 'output': 't'}, {'name': 'y', "
        "'kind': "
        "'matmul', 'inputs': ['t', 'k'], 'output': 'y', 'einsum': 'etd,te->td'}");
    for (int n = 2; n <= 8; n *= 2) {
        struct lx_team_plan *p = plan_of(g, n);
        expect_cut(p, "a", 0);
        expect_cut(p, "b", 0);
        expect_cut(p, "e", 0);
        /* of results of all experts, or of their sums: and no weight travels */
        assert_int_equal(joined(p) + p->exchange_count, 1);
        for (int32_t e = 0; e < p->exchange_count; e++) assert_true(p->exchanges[e].after >= 0);
        lx_team_free(p);
    }
    lx_graph_free(g);
}

/* Heads, with their caches and their rows of the output matrix. */
static void test_heads(void **state)
{
    (void)state;
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/gq_decode.json", &st);
    assert_non_null(g);
    struct lx_team_plan *p = plan_of(g, 4);
    static const char *const second[] = {"w_q", "w_k", "w_v", "k_cache", "v_cache", "scores", "p", "o"};
    for (size_t i = 0; i < sizeof second / sizeof *second; i++) expect_cut(p, second[i], 1);
    assert_true(p->exchange_count + joined(p) == 1); /* of what all heads gave, or of the output */
    lx_team_free(p);
    lx_graph_free(g);
}

/* Parts of four experts' results, weighted and added up, are joined once, at the end. */
static void test_parts(void **state)
{
    (void)state;
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/moe_mlp.json", &st);
    assert_non_null(g);
    struct lx_team_plan *p = plan_of(g, 4);
    assert_int_equal(joined(p), 1);
    assert_int_equal(p->bytes, 0);
    lx_team_free(p);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_column_row), cmocka_unit_test(test_sequence), cmocka_unit_test(test_experts),
        cmocka_unit_test(test_heads),      cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
