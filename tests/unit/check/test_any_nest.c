/* Nests that nobody would choose: random runs, variables and counts on random graphs, on various cores and with little
 * room; and those that are found. What the planner takes is legal by the checker, is the same plan when its file is read again, and runs
 * on the device with the counts of the plan. `test_any_nest N` takes N graphs instead of the usual few. */
#include "layout/op_index.h"
#include "base/memory.h"
#include "support/device_plans.h"
#include "support/random_graph.h"
#include "support/sampled.h"

enum { USUAL = 100, TRIES = SAMPLED ? 7 : 14 };

static int wanted = USUAL;

struct seen {
    int asked, planned, found, levels[4];
};

/* A loop over a variable of the first op of a run, as text. */
static int write_level(char *to, size_t size, const struct op_index *x, struct rng *r)
{
    static const int64_t counts[] = {2, 2, 3, 4, 8, 16};
    int v = (int)rng_below(r, (uint64_t)(x->var_count > 0 ? x->var_count : 1));
    return snprintf(to, size, "%c/%d", x->letter[v], (int)counts[rng_below(r, 6)]);
}

static bool write_nest(const struct lx_layouts *l, char *to, size_t size, struct rng *r)
{
    int32_t first = (int32_t)rng_below(r, (uint64_t)l->graph->op_count),
            last = first + (int32_t)rng_below(r, 4);
    struct op_index x;
    if (last >= l->graph->op_count) last = l->graph->op_count - 1;
    op_index_of(l->graph, &l->graph->ops[first], &x);
    if (!x.known || x.var_count == 0) return false;
    int n = snprintf(to, size, "%d-%d:", (int)first, (int)last), levels = 1 + (int)rng_below(r, 3);
    for (int i = 0; i < levels; i++) {
        if (i > 0) n += snprintf(to + n, size - (size_t)n, ",");
        n += write_level(to + n, size - (size_t)n, &x, r);
    }
    return true;
}

static void expect_legal_and_true(const struct lx_plan *p, const char *what)
{
    lx_status st = {0};
    size_t length, again_length;
    char *text = lx_plan_to_json(p, &length);
    struct lx_device_options how = {0};
    if (!lx_plan_check(p, &st)) fail_msg("%s: %s", what, st.text);
    struct lx_plan *again = lx_plan_of_text("again", text, length, &st);
    if (!again || !lx_plan_check(again, &st)) fail_msg("%s, read again: %s", what, st.text);
    char *second = lx_plan_to_json(again, &again_length);
    if (length != again_length || memcmp(text, second, length) != 0) fail_msg("%s: the file changes", what);
    struct lx_run_result *run = lx_device_run(again, &how, &st);
    if (!run || !run->ok) fail_msg("%s: %s", what, run ? what_is_wrong(run) : st.text);
    lx_run_result_free(run);
    lx_plan_free(again);
    mem_free(second);
    mem_free(text);
}

static void try_graph(const struct lx_graph *g, struct rng *r, struct seen *s, int number)
{
    lx_status st = {0};
    struct lx_layouts *l = lx_layouts_make(g, LX_WEIGHTS_FREE, &st);
    char nests[80], what[200];
    if (!l) fail_msg("%s", st.text);
    for (int i = 0; i < TRIES; i++) {
        struct lx_plan_options how = {.solver = lx_solver_find("bestfit"),
                                      .passes = {.evict = rng_below(r, 4) == 0,
                                                 .no_ring = rng_below(r, 5) == 0,
                                                 .clone = (int)rng_below(r, 3)}};
        if (i == 0) {
            how.passes.tile = LX_TILE_AUTO;
            snprintf(nests, sizeof nests, "those that are found");
        } else if (write_nest(l, nests, sizeof nests, r))
            snprintf(how.nests, sizeof how.nests, "%s", nests);
        else
            continue;
        s->asked += i > 0;
        struct lx_plan *p = lx_plan_make(g, &how, &st);
        if (!p) {
            if (st.code == LX_E_INTERNAL || i == 0) fail_msg("graph %d, %s: %s", number, nests, st.text);
            continue;
        }
        s->planned += i > 0;
        s->found += i == 0 && p->nest_count > 0;
        if (i > 0) s->levels[p->nests[0].level_count]++;
        snprintf(what, sizeof what, "graph %d on %d cores, %d bytes, %s", number, (int)g->device.cores,
                 (int)p->problem.capacity, nests);
        expect_legal_and_true(p, what);
        lx_plan_free(p);
    }
    lx_layouts_free(l);
}

static void any_nest_is_understood(void **state)
{
    (void)state;
    static const int64_t cores[] = {1, 2, 4, 8};
    struct rng r = rng_seed(31);
    struct seen s = {0};
    for (int i = 0; i < wanted; i++) {
        struct random_graph_shape shape = {.ops = 3 + (int)rng_below(&r, 6),
                                           .with_views = rng_below(&r, 4) == 0,
                                           .with_externs = rng_below(&r, 8) == 0,
                                           .again = rng_below(&r, 3) == 0,
                                           .cores = cores[rng_below(&r, 4)]};
        lx_status st = {0};
        const struct lx_graph *g = random_graph(&r, &shape, &st);
        if (!g) fail_msg("%s", st.text);
        g = with_capacity(g, 128 * rng_between(&r, 2, 400));
        try_graph(g, &r, &s, i);
        lx_graph_free(g);
    }
    print_message("%d nests asked for, %d planned (%d, %d and %d levels), and %d graphs that have some of "
                  "themselves: all "
                  "legal, all run\n",
                  s.asked, s.planned, s.levels[1], s.levels[2], s.levels[3], s.found);
    assert_true(s.levels[1] > 0 && s.levels[2] > 0 && s.found > 0);
}

/* Rows of an input, beginning with one of them, compared with numbers. */
static const struct lx_graph *graph_of_rows(int from, int rows)
{
    char text[1200];
    lx_status st = {0};
    int n = snprintf(
        text, sizeof text,
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"rows\", \"device\": {\"preset\": "
        "\"tenstorrent\"}, "
        "\"tensors\": [{\"name\": \"x\", \"shape\": [4, 64], \"dtype\": \"int32\", \"role\": \"input\"}, "
        "{\"name\": \"k\", \"shape\": [128], \"dtype\": \"int32\", \"role\": \"input\"}, "
        "{\"name\": \"e\", \"shape\": [%d, 64, 128], \"dtype\": \"bool\", \"role\": \"intermediate\"}, "
        "{\"name\": \"z\", \"shape\": [%d, 64, 128], \"dtype\": \"fp32\", \"role\": \"input\"}, "
        "{\"name\": \"f\", \"shape\": [%d, 64, 128], \"dtype\": \"fp32\", \"role\": \"output\"}], "
        "\"ops\": [{\"name\": \"eq\", \"kind\": \"eq\", \"inputs\": [\"x\", \"k\"], \"output\": \"e\", "
        "\"einsum\": \"ab,c->abc\", \"views\": [{\"offset\": [%d, 0], \"stride\": [1, 1], \"size\": [%d, "
        "64]}, null]}, "
        "{\"name\": \"w\", \"kind\": \"where\", \"inputs\": [\"e\", \"z\", \"z\"], \"output\": \"f\"}]}",
        rows, rows, rows, from, rows);
    const struct lx_graph *g = lx_graph_of_text("rows", text, (size_t)n, &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

/* What an op reads is less than the tile that lies on chip. */
static void rows_of_a_tensor_are_read_in_nests(void **state)
{
    (void)state;
    static const char *const nests[] = {"eq-w:b/4", "eq-w:c/2", "eq-w:b/2,c/2", "eq-w:c/2,b/8"};
    int planned = 0;
    for (int i = 0; i < 24; i++) {
        const struct lx_graph *g = graph_of_rows(i % 3, i % 3 == 2 || i % 2 ? 2 : 3);
        struct lx_plan_options how = {.solver = lx_solver_find("bestfit")};
        lx_status st = {0};
        snprintf(how.nests, sizeof how.nests, "%s", nests[i % 4]);
        if (i >= 12) g = with_cores(g, 4);
        struct lx_plan *p = lx_plan_make(g, &how, &st);
        planned += p != NULL;
        if (p) expect_legal_and_true(p, how.nests);
        lx_plan_free(p);
        lx_graph_free(g);
    }
    assert_true(planned >= 12);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_nest_is_understood),
                                       cmocka_unit_test(rows_of_a_tensor_are_read_in_nests)};
    if (argc == 2 && atoi(argv[1]) > 0) wanted = atoi(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
