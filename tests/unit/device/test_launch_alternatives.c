/* Launches that differ and compute the same: tiles of other sides, in other orders, dealt to other cores. Each runs
 * without a fault, and no bit of any result depends on which tile or core an element is in. */
#include "support/device_plans.h"
#include "base/memory.h"
#include "support/random_graph.h"
#include "support/sampled.h"
#include "support/made_reference.h"

static struct lx_run_result *execute(const struct lx_plan *p, const struct lx_reference *ref, int threads)
{
    struct lx_device_options how = {.reference = ref, .threads = threads};
    lx_status st = {0};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    if (!r) fail_msg("%s", st.text);
    if (!r->ok) fail_msg("%s: %s", p->graph->name, what_is_wrong(r));
    return r;
}

/* The launches of a plan with global ones in some order; freed by `forget`. */
static struct lx_op_launch **launches_of(const struct lx_plan *p, enum lx_tile_order order)
{
    int32_t ops = p->layouts->graph->op_count;
    struct lx_op_launch **list = mem_zeroed((size_t)ops, sizeof *list);
    assert_non_null(list);
    for (int32_t o = 0; o < ops; o++) {
        lx_status st = {0};
        list[o] = lx_plan_launch(p, o, &(struct lx_launch_options){.order = order}, &st);
        if (!list[o]) fail_msg("%s", st.text);
    }
    return list;
}

static void forget(const struct lx_plan *p, struct lx_op_launch **list)
{
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) lx_op_launch_free(list[o]);
    mem_free(list);
}

static struct lx_run_result *run_launches(const struct lx_plan *p, struct lx_op_launch **list,
                                          const struct lx_reference *ref, int threads)
{
    int32_t ops = p->layouts->graph->op_count;
    struct lx_op_launch *flat = mem_zeroed((size_t)(uint32_t)ops, sizeof *flat);
    assert_non_null(flat);
    for (int32_t o = 0; o < ops; o++) flat[o] = *list[o];
    struct lx_plan copy = *p;
    copy.launches = flat;
    struct lx_run_result *r = execute(&copy, ref, threads);
    mem_free(flat);
    return r;
}

/* Two cores of one group change places. True: something changed. */
static bool swap_runs(struct lx_op_launch *o, struct rng *r)
{
    struct lx_launch *l = o->launch;
    if (!l || l->mode != LX_PARTITION_GLOBAL || l->core_count < 2) return false;
    struct lx_launch_core *a = &l->cores[rng_below(r, (uint64_t)l->core_count)],
                          *b = &l->cores[rng_below(r, (uint64_t)l->core_count)];
    if (a->k_slice != b->k_slice || a == b) return false;
    int64_t start = a->start, count = a->count;
    a->start = b->start;
    a->count = b->count;
    b->start = start;
    b->count = count;
    return true;
}

static void check_bits(const struct lx_run_result *a, const struct lx_run_result *b, const char *what)
{
    assert_int_equal(a->op_count, b->op_count);
    for (int32_t o = 0; o < a->op_count; o++)
        if (a->ops[o].hash != b->ops[o].hash) fail_msg("%s: op %d has other bits", what, (int)o);
}

static const int64_t tiles[][2] = {{1, 64}, {32, 32}, {5, 64}, {8, 128}, {3, 192}};

struct totals {
    int runs, swaps, split_sums;
};

/* Takes the graph over. */
static void each_launch(const struct lx_graph *g, struct rng *r, struct totals *t)
{
    lx_status st = {0};
    struct lx_reference *ref = made_reference(g, 0, 1, &st);
    struct lx_run_result *first = NULL;
    assert_non_null(ref);
    for (size_t k = 0; k < sizeof tiles / sizeof *tiles; k++) {
        struct lx_device device = g->device;
        device.tile_rows = tiles[k][0];
        device.tile_columns = tiles[k][1];
        struct lx_plan *p =
            plan_graph(with_device(lx_graph_ref(g), &device), "greedy", &(struct lx_passes){0});
        struct lx_op_launch **list = launches_of(p, (enum lx_tile_order)(k % LX_LISTED));
        for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
            bool swapped = swap_runs(list[o], r);
            t->swaps += swapped;
            t->split_sums += swapped && list[o]->k_slices > 1;
        }
        struct lx_run_result *run = run_launches(p, list, ref, 1 + (int)(k % 3));
        t->runs++;
        if (first) check_bits(first, run, g->name);
        if (first)
            lx_run_result_free(run);
        else
            first = run;
        forget(p, list);
        lx_plan_free(p);
    }
    lx_run_result_free(first);
    lx_reference_free(ref);
    lx_graph_free(g);
}

static void bits_do_not_depend_on_tiles(void **state)
{
    (void)state;
    static const char *const patterns[] = {"graphs/mha_4h.json", "graphs/softmax_512x1024.json"};
    struct totals t = {0};
    struct rng r = rng_seed(3);
    for (size_t i = SAMPLED; i < sizeof patterns / sizeof *patterns; i++)
        for (int on_chip = 0; on_chip < 2; on_chip++) {
            const struct lx_graph *g = with_cores(device_test_graph(patterns[i]), on_chip ? 8 : 32);
            each_launch(on_chip ? g : with_capacity(g, 0), &r, &t);
        }
    for (int i = 0; i < (SAMPLED ? 4 : 40); i++) {
        lx_status st = {0};
        struct random_graph_shape shape = {
            .ops = 8, .with_views = true, .again = true, .cores = i % 2 ? 8 : 32};
        const struct lx_graph *g = random_graph(&r, &shape, &st);
        if (!g) fail_msg("%s", st.text);
        each_launch(i % 4 ? with_capacity(g, 0) : g, &r, &t);
    }
    print_message("%d runs; %d launches with two cores swapped, %d of them with split sums\n", t.runs,
                  t.swaps, t.split_sums);
    assert_true(SAMPLED || (t.swaps > 50 && t.split_sums > 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_do_not_depend_on_tiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
