/* Plan files that were damaged on purpose: whatever makes a plan illegal or its figures false, reading or the checker
 * says; and whatever is executed otherwise, the device says, too.
 *
 * Plans of patterns and of random graphs, on various cores and with various passes, are changed in one of the ways of
 * support/plan_sabotage.h. A change that check accepts must be harmless: the device runs the plan, all is verified, and
 * every count is the plan's. One that check refuses must be noticed by the device, unless it runs as before: the same
 * results, the same bytes moved. `test_plan_sabotage N` makes N instead of the usual few, and prints a table. */
#include "support/device_plans.h"
#include "support/plan_sabotage.h"
#include "support/random_graph.h"

enum { USUAL = 700, SUBJECTS = 90, MOST_RUN_BYTES = 6 << 20 };

static int wanted = USUAL;

struct subject {
    char name[120];
    cJSON *plan;
    bool runs;                  /* small enough to be run each time */
    struct lx_run_result *good; /* of those that run */
};

struct tally {
    int counted, unread, refused, harmless, run, unchanged, missed, unseen;
};

static struct lx_run_result *run_it(const struct lx_plan *p)
{
    struct lx_device_options how = {0};
    lx_status st = {0};
    return lx_device_run(p, &how, &st);
}

static bool small_enough(const struct lx_plan *p)
{
    int64_t bytes = 0;
    for (int32_t t = 0; t < p->graph->tensor_count; t++) bytes += p->graph->tensors[t].bytes;
    return bytes < MOST_RUN_BYTES && p->graph->op_count < 60;
}

/* Gives the plan back. */
static void take_subject(struct subject *s, struct lx_plan *p)
{
    size_t length;
    char *text = lx_plan_to_json(p, &length);
    lx_status st = {0};
    s->plan = cJSON_Parse(text);
    assert_non_null(s->plan);
    struct lx_plan *again = lx_plan_parse(s->name, text, length, &st);
    if (!again || !lx_plan_check(again, &st)) fail_msg("%s: %s", s->name, st.text);
    if ((s->runs = small_enough(p))) {
        s->good = run_it(again);
        if (!s->good || !s->good->ok)
            fail_msg("%s: %s", s->name, s->good ? what_is_wrong(s->good) : "does not run");
    }
    free(text);
    lx_plan_free(again);
    lx_plan_free(p);
}

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
    const struct lx_graph *g = with_cores(read_graph(path), cores[rng_below(r, 4)]);
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
                                       .cores = cores[rng_below(r, 4)]};
    lx_status st = {0};
    const struct lx_graph *g = random_graph(r, &shape, &st);
    if (!g) fail_msg("%s", st.text);
    snprintf(s->name, sizeof s->name, "random graph %d on %d cores", number, (int)shape.cores);
    if (rng_below(r, 2)) g = with_capacity(g, 128 * rng_between(r, 20, 800));
    struct lx_passes passes = some_passes(r);
    take_subject(s, plan_graph(g, "bestfit", &passes));
}

static bool same_run(const struct lx_run_result *a, const struct lx_run_result *b)
{
    return a->output_hash == b->output_hash && memcmp(&a->total, &b->total, sizeof a->total) == 0;
}

static void tell(const struct subject *s, const struct sabotage *k, const char *what, const char *why)
{
    print_message("%s, %s: %s (%s)\n", s->name, k->name, what, why);
}

/* The device's word on a plan that check has judged. */
static void judge_run(const struct subject *s, const struct sabotage *k, const struct lx_plan *p, bool legal,
                      const char *why, struct tally *t)
{
    struct lx_run_result *r = run_it(p);
    t->run++;
    bool ok = r && r->ok, same = ok && same_run(r, s->good);
    if (legal && !ok) {
        t->missed++;
        tell(s, k, "accepted, but it does not run", r ? what_is_wrong(r) : "not at all");
    } else if (!legal && ok && (!same || k->runs_wrong)) {
        t->unseen++;
        tell(s, k, "refused, but the device sees nothing", why);
    } else if (!legal && ok)
        t->unchanged++;
    if (r) lx_run_result_free(r);
}

static void judge(const struct subject *s, const struct sabotage *k, const char *text, struct tally *t)
{
    lx_status st = {0};
    struct lx_plan *p = lx_plan_parse("sabotaged", text, strlen(text), &st);
    if (!p) {
        t->unread++;
        t->counted++;
        if (st.code == LX_E_INTERNAL) fail_msg("%s, %s: %s", s->name, k->name, st.text);
        return;
    }
    bool legal = lx_plan_check(p, &st);
    t->harmless += legal;
    t->refused += !legal;
    t->counted += !legal;
    if (s->runs) judge_run(s, k, p, legal, st.text, t);
    lx_plan_free(p);
}

static bool sabotage_once(const struct subject *s, const struct sabotage *k, struct rng *r, struct tally *t)
{
    cJSON *plan = cJSON_Duplicate(s->plan, true);
    struct damage d = damage_of(plan, r);
    bool done = k->act(&d);
    char *text = done ? cJSON_PrintUnformatted(plan) : NULL;
    if (text) judge(s, k, text, t);
    free(text);
    cJSON_Delete(plan);
    return done;
}

static void print_tally(const struct tally *tally)
{
    print_message("%-42s %7s %7s %7s %8s %7s %9s %6s %6s\n", "", "counted", "unread", "refused", "harmless",
                  "run", "unchanged", "missed", "unseen");
    for (int k = 0; k < SABOTAGES; k++)
        print_message("%-42s %7d %7d %7d %8d %7d %9d %6d %6d\n", sabotages[k].name, tally[k].counted,
                      tally[k].unread, tally[k].refused, tally[k].harmless, tally[k].run, tally[k].unchanged,
                      tally[k].missed, tally[k].unseen);
}

static void every_sabotage_is_found(void **state)
{
    (void)state;
    struct rng rng = rng_seed(17);
    int count = wanted > USUAL ? SUBJECTS : SUBJECTS / 3, counted = 0, missed = 0, unseen = 0, idle = 0;
    struct subject *subjects = calloc((size_t)count, sizeof *subjects);
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
    if (wanted > USUAL) print_tally(tally);
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
    free(subjects);
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
