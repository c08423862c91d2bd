/* Bytes that no plan goes below: none does, whatever is cut, by whatever it was chosen, with the passes and without; and where
 * the least is known, the bound is just that. */
#include "unstable.h"
#include "base/memory.h"
#include "support/random_team.h"
#include "support/sampled.h"
#include "support/team_least.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct lx_team_grid grids[] = {{1, {2}},    {1, {3}},    {2, {2, 2}},   {1, {4}},
                                            {2, {3, 2}}, {2, {2, 4}}, {3, {2, 1, 2}}};
enum { GRIDS = sizeof grids / sizeof *grids, TENSORS = 40 };

struct seen {
    int plans, tight, above_0, combined;
};

/* What was planned is no less than what every such plan takes, with its other cuts free and as they are. */
static int64_t expect_above(const struct lx_team_plan *p, struct seen *seen)
{
    int64_t bytes = p->bytes + p->combine_bytes, free_ones = team_least_of(p, false),
            all = team_least_of(p, true);
    if (free_ones < 0 || free_ones > bytes || all < 0 || all > bytes)
        fail_msg("%s on %d devices exchanges %lld B, at least %lld, or %lld with these cuts", p->graph->name,
                 p->devices, (long long)bytes, (long long)free_ones, (long long)all);
    assert_true(lx_team_least_bytes(p) <= bytes);
    seen->plans++;
    seen->tight += free_ones == bytes;
    seen->above_0 += free_ones > 0;
    seen->combined += p->combine_bytes > 0;
    return free_ones;
}

/* Some tensors are cut as it happens: what a way of an op does not give is refused, and is no plan. */
static struct lx_team_plan *random_plan(struct rng *r, const struct lx_graph *g, struct lx_team_options how)
{
    struct lx_team_choice choices[TENSORS];
    lx_status st = {0};
    int each = 1 + (int)rng_below(r, 5);
    assert_true(g->tensor_count <= TENSORS);
    for (int32_t t = 0; t < g->tensor_count; t++) {
        struct lx_team_choice *c = &choices[how.choice_count];
        if (rng_below(r, (uint64_t)each) > 0) continue;
        *c = (struct lx_team_choice){g->tensors[t].name, {-1, -1, -1}};
        for (int a = 0; a < how.grid.axes; a++)
            c->shard[a] = (int)rng_below(r, (uint64_t)g->tensors[t].rank + 1) - 1;
        how.choice_count++;
    }
    how.choices = choices;
    how.by_time = rng_below(r, 3) == 0;
    how.plain = rng_below(r, 4) == 0;
    struct lx_team_plan *p = lx_team_make(g, &how, &st);
    if (p && !lx_team_check(p, &st)) fail_msg("%s", st.text);
    return p;
}

/* Slices, shifts, products, means and insertions on odd shapes. */
static void test_random(void **state)
{
    (void)state;
    struct seen seen = {0};
    for (int n = 0; n < (SANITIZED ? 5 : SAMPLED ? 14 : 1000); n++) {
        struct rng r = rng_seed((uint64_t)(100 + n));
        char *text = random_team_pattern(&r, (enum random_sums)(n % 3), "fp32");
        lx_status st = {0};
        const struct lx_graph *g = lx_graph_of_text("random", text, strlen(text), &st);
        if (!g) fail_msg("%s\n%s", st.text, text);
        for (int k = 0; k < 4; k++) {
            struct lx_team_plan *p =
                random_plan(&r, g, (struct lx_team_options){.grid = grids[(n + k) % GRIDS]});
            if (p) expect_above(p, &seen);
            lx_team_free(p);
        }
        lx_graph_free(g);
        mem_free(text);
    }
    printf("%d plans, %d with sums that are joined; %d bounds above 0, %d of them reached\n", seen.plans,
           seen.combined, seen.above_0, seen.tight);
    assert_true(seen.plans > 5 && seen.above_0 > 2);
}

struct known {
    const char *name, *cuts[10];
};

/* The table of grids (tests/shell/team_grids.sh), whose bytes are the known least: so they are proved to be. */
static const struct known table[] = {
    {"mlp_grid", {"x 0 -1", "w1 -1 1", "y 0 -1"}},
    {"attention_grid", {"x 0 -1", "wq -1 1", "wk -1 1", "wv -1 1", "wo -1 0", "y 0 -1"}},
    {"gq_decode_grid",
     {"x 0 -1", "pos -1 -1", "mask -1 -1", "k_cache 0 1", "v_cache 0 1", "wq -1 1", "wo -1 0", "y 0 -1"}},
    {"moe_grid", {"x 0 -1", "w_up -1 0", "y 0 -1"}},
    {"stencil_grid", {"x0 0 1"}},
};

static void expect_known(const struct known *k, struct lx_team_grid grid, struct seen *seen)
{
    struct lx_team_choice choices[10];
    struct lx_team_options how = {.grid = grid, .choices = choices};
    char path[256], names[10][16];
    lx_status st = {0};
    snprintf(path, sizeof path, "%s/patterns/team/%s.json", SOURCE_DIR, k->name);
    for (int i = 0; i < 10 && k->cuts[i]; i++) {
        struct lx_team_choice *c = &choices[how.choice_count++];
        *c = (struct lx_team_choice){names[i], {-1, -1, -1}};
        assert_int_equal(sscanf(k->cuts[i], "%15s %d %d", names[i], &c->shard[0], &c->shard[1]), 3);
    }
    const struct lx_graph *g = lx_graph_read(path, &st);
    struct lx_team_plan *p = g ? lx_team_make(g, &how, &st) : NULL;
    if (!p) fail_msg("%s: %s", k->name, st.text);
    assert_int_equal(expect_above(p, seen), p->bytes + p->combine_bytes);
    lx_team_free(p);
    lx_graph_free(g);
}

static void test_table(void **state)
{
    (void)state;
    struct seen seen = {0};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        expect_known(&table[k], (struct lx_team_grid){2, {1, 2}}, &seen);
        expect_known(&table[k], (struct lx_team_grid){2, {2, 2}}, &seen);
        if (!SAMPLED) expect_known(&table[k], (struct lx_team_grid){2, {2, 4}}, &seen);
    }
    assert_int_equal(seen.tight, seen.plans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
