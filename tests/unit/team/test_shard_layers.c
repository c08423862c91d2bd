/* Layers that repeat are searched once: every one more costs the same, whether it was searched or taken, and the plan is right. */
#include "unstable.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct lx_graph *blocks(int64_t layers)
{
    static const struct {
        const char *name;
        int64_t value;
    } set[] = {{"d_model", 64}, {"heads", 4}, {"seq", 32}};
    const struct lx_generator *gen = lx_generator_find("block");
    int64_t values[16];
    lx_status st = {0};
    assert_true(gen && gen->option_count <= 16);
    lx_values_default(gen->options, gen->option_count, values);
    for (int i = 0; i < gen->option_count; i++) {
        if (strcmp(gen->options[i].name, "layers") == 0) values[i] = layers;
        for (size_t k = 0; k < sizeof set / sizeof *set; k++)
            if (strcmp(gen->options[i].name, set[k].name) == 0) values[i] = set[k].value;
    }
    const struct lx_graph *g = gen->build(values, &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

static void cost_of(struct lx_team_grid grid, int64_t layers, bool by_time, double *us, int64_t *bytes)
{
    const struct lx_graph *g = blocks(layers);
    struct lx_team_options how = {.grid = grid, .by_time = by_time};
    lx_status st = {0};
    struct lx_team_plan *p = lx_team_make(g, &how, &st);
    if (!p || !lx_team_check(p, &st)) fail_msg("%d layers: %s", (int)layers, st.text);
    *us = p->predicted_us;
    *bytes = p->bytes + p->combine_bytes;
    lx_team_free(p);
    lx_graph_free(g);
}

/* Three are too few to be taken from each other. */
static void expect_the_same(struct lx_team_grid grid, bool by_time)
{
    double us[3];
    int64_t bytes[3];
    static const int64_t layers[] = {3, 4, 12};
    for (int i = 0; i < 3; i++) cost_of(grid, layers[i], by_time, &us[i], &bytes[i]);
    assert_true(us[1] > us[0]);
    assert_int_equal(bytes[2] - bytes[1], 8 * (bytes[1] - bytes[0]));
    assert_true(fabs(us[2] - us[1] - 8 * (us[1] - us[0])) < 1e-6 * us[2]);
}

/* On two axes choices grow by different times, and a layer far ahead is searched to check those that are passed. */
static void layers_cost_the_same(void **state)
{
    (void)state;
    expect_the_same((struct lx_team_grid){1, {4}}, false);
    expect_the_same((struct lx_team_grid){1, {4}}, true);
    expect_the_same((struct lx_team_grid){2, {2, 2}}, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers_cost_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
