/* Plan files that were damaged on purpose: whatever makes a plan illegal or its figures false, reading or the checker
 * says; and whatever is executed otherwise, the device says, too.
 *
 * Plans of patterns and of random graphs, on various cores and with various passes, are changed in one of the ways of
 * support/plan_sabotage.h. A change that check accepts must be harmless: the device runs the plan, all is verified, and
 * every count is the plan's. One that check refuses must be noticed by the device, unless it runs as before: the same
 * results, the same bytes moved. `test_plan_sabotage N` makes N instead of the usual few, and prints a table. */
#include "support/random_graph.h"
#include "base/memory.h"
#include "support/sabotage_trials.h"
#include "support/sampled.h"

enum { USUAL = SAMPLED ? 100 : 700, SUBJECTS = SAMPLED ? 45 : 90 };

static int wanted = USUAL;

static struct lx_passes some_passes(struct rng *r)
{
    return (struct lx_passes){.evict = rng_below(r, 2),
                              .reorder = rng_below(r, 3) == 0,
                              .no_ring = rng_below(r, 6) == 0,
                              .no_in_place = rng_below(r, 6) == 0,
                              .clone = (int)rng_below(r, 3)};
}

static const char *const patterns[] = {"graphs/gq_attention.json",
                                       "graphs/layernorm.json",
                                       "graphs/lm_head.json",
                                       "graphs/mha_4h.json",
                                       "graphs/mlp.json",
                                       "graphs/moe_mlp.json",
                                       "graphs/rms_norm.json",
                                       "graphs/sdpa.json",
                                       "graphs/softmax_1024x2048.json",
                                       "graphs/softmax_512x1024.json",
                                       "graphs/stencil_star.json",
                                       "graphs/swiglu.json",
                                       "graphs/transformer_block.json",
                                       "targets/downward_staircase.json",
                                       "targets/eviction_reallocation.json",
                                       "targets/gqattention.json",
                                       "targets/moe_mlp.json",
                                       "targets/simple_eviction.json",
                                       "targets/simple_fragmentation.json",
                                       "targets/staircase.json",
                                       "team/attention_rows.json",
                                       "team/mlp_rows.json",
                                       "team/slice_misses.json",
                                       "team/softmax_columns.json",
                                       "team/softmax_rows.json",
                                       "team/stencil_3_steps.json",
                                       "team/uneven_33.json",
                                       "team/uneven_44.json",
                                       "team/uneven_8.json"};

static void pattern_subject(struct subject *s, struct rng *r, int number)
{
    static const int64_t cores[] = {1, 4, 8, 32};
    const char *path = patterns[number % (int)(sizeof patterns / sizeof *patterns)];
    const struct lx_graph *g = with_cores(device_test_graph(path), cores[rng_below(r, 4)]);
    if (strstr(path, "lm_head")) g = with_cores(g, 32); /* fewer address too much of it */
    if (rng_below(r, 2)) g = with_capacity(g, 128 * rng_between(r, 100, 4000));
    snprintf(s->name, sizeof s->name, "%s on %d cores", path, (int)g->device.cores);
    struct lx_passes passes = some_passes(r);
    take_subject(s, plan_graph(g, "bestfit", &passes));
}

static void random_subject(struct subject *s, struct rng *r, int number)
{
    static const int64_t cores[] = {1, 2, 4, 8};
    struct random_graph_shape shape = {.ops = 4 + (int)rng_below(r, 9),
                                       .with_views = rng_below(r, 2),
                                       .with_externs = rng_below(r, 3) == 0,
                                       .again = rng_below(r, 3) == 0,
                                       .with_results = number % 2 == 0,
                                       .cores = cores[rng_below(r, 4)]};
    lx_status st = {0};
    const struct lx_graph *g = random_graph(r, &shape, &st);
    if (!g) fail_msg("%s", st.text);
    snprintf(s->name, sizeof s->name, "random graph %d on %d cores", number, (int)shape.cores);
    if (rng_below(r, 2)) g = with_capacity(g, 128 * rng_between(r, 20, 800));
    struct lx_passes passes = some_passes(r);
    take_subject(s, plan_graph(g, "bestfit", &passes));
}

static void every_sabotage_is_found(void **state)
{
    (void)state;
    struct rng rng = rng_seed(17);
    int count = wanted > USUAL ? SUBJECTS : SUBJECTS / 3, counted = 0, missed = 0, unseen = 0, idle = 0;
    struct subject *subjects = mem_zeroed((size_t)count, sizeof *subjects);
    struct tally tally[SABOTAGES] = {{0}};
    for (int i = 0; i < count; i++)
        if (i % 3 == 0)
            pattern_subject(&subjects[i], &rng, i / 3);
        else
            random_subject(&subjects[i], &rng, i);
    for (int tries = 0; counted < wanted && tries < 20 * wanted; tries++) {
        int k = tries % SABOTAGES;
        sabotage_once(&subjects[rng_below(&rng, (uint64_t)count)], &sabotages[k], &rng, &tally[k]);
        counted = 0;
        for (int i = 0; i < SABOTAGES; i++) counted += tally[i].counted;
    }
    if (wanted > USUAL) print_tally(sabotages, SABOTAGES, tally);
    for (int i = 0; i < SABOTAGES; i++) {
        missed += tally[i].missed;
        unseen += tally[i].unseen;
        idle += tally[i].counted == 0;
        if (tally[i].counted == 0 && wanted > USUAL) print_message("%s: never done\n", sabotages[i].name);
    }
    print_message(
        "%d kinds, %d sabotaged plans: %d accepted that do not run, %d refused that the device did not see\n",
        (int)SABOTAGES, counted, missed, unseen);
    for (int i = 0; i < count; i++) {
        cJSON_Delete(subjects[i].plan);
        lx_run_result_free(subjects[i].good);
    }
    mem_free(subjects);
    assert_true(counted >= wanted && (idle == 0 || wanted == USUAL));
    assert_int_equal(missed, 0);
    assert_int_equal(unseen, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_sabotage_is_found)};
    if (argc == 2 && atoi(argv[1]) > 0) wanted = atoi(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
