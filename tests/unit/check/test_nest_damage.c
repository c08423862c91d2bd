/* Plans with nests, damaged on purpose: check refuses what is not legal or not true, and the device runs what it accepts.
 *
 * Plans of the tiny cases of nests, of attention and of random graphs with little room, on various cores, are changed in the ways of
 * support/nest_damage.h, and in every other turn in those that any plan can be (support/plan_sabotage.h). The device
 * is the judge, as in test_plan_sabotage. As the reader finds much of that before the checker is asked, plans are changed
 * in memory as well (support/nest_forgery.h). `test_nest_damage N` makes N instead of the usual few, and prints a table. */
#include "support/nest_damage.h"
#include "base/memory.h"
#include "support/nest_forgery.h"
#include "support/nest_plans.h"
#include "support/random_graph.h"
#include "support/sabotage_trials.h"
#include "support/sampled.h"

enum { USUAL = SAMPLED ? 100 : 400, SUBJECTS = SAMPLED ? 18 : 36, ALL = NEST_SABOTAGES + SABOTAGES };

static int wanted = USUAL;

/* False: the plan has no nest. */
static bool take_nested(struct subject *s, struct lx_plan *p, const lx_status *st)
{
    if (!p) fail_msg("%s: %s", s->name, st->text);
    if (p->nest_count > 0) {
        take_subject(s, p);
        return true;
    }
    lx_plan_free(p);
    return false;
}

static bool case_subject(struct subject *s, const cJSON *all, struct rng *r)
{
    const cJSON *list = case_array(all);
    int n = (int)rng_below(r, (uint64_t)cJSON_GetArraySize(list));
    lx_status st = {0};
    snprintf(s->name, sizeof s->name, "case %d", n);
    return take_nested(s, plan_of_case(cJSON_GetArrayItem(list, n), LX_ASK_TRAFFIC, &st), &st);
}

static bool random_subject(struct subject *s, struct rng *r)
{
    static const int64_t cores[] = {1, 2, 4, 8};
    struct random_graph_shape shape = {.ops = 3 + (int)rng_below(r, 7),
                                       .with_views = rng_below(r, 4) == 0,
                                       .with_externs = rng_below(r, 6) == 0,
                                       .with_results = rng_below(r, 3) == 0,
                                       .cores = cores[rng_below(r, 4)]};
    lx_status st = {0};
    const struct lx_graph *g = random_graph(r, &shape, &st);
    if (!g) fail_msg("%s", st.text);
    g = with_capacity(g, 128 * rng_between(r, 2, 160));
    snprintf(s->name, sizeof s->name, "random graph on %d cores", (int)shape.cores);
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit"),
                                  .passes = {.tile = LX_TILE_AUTO, .evict = rng_below(r, 3) == 0}};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    return take_nested(s, p, &st);
}

/* Attention and the like: several levels, relayouts, sums that run along. */
static bool pattern_subject(struct subject *s, struct rng *r)
{
    static const char *const paths[] = {"graphs/mha_4h.json", "graphs/sdpa.json", "graphs/swiglu.json",
                                        "graphs/rms_norm.json"};
    const char *path = paths[rng_below(r, wanted > USUAL ? 4 : 1)];
    const struct lx_graph *g = with_cores(device_test_graph(path), rng_below(r, 2) ? 8 : 32);
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit"), .passes = {.tile = LX_TILE_AUTO}};
    lx_status st = {0};
    g = with_capacity(g, 128 * rng_between(r, 16, 128));
    snprintf(s->name, sizeof s->name, "%s on %d cores", path, (int)g->device.cores);
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    return take_nested(s, p, &st);
}

static int make_subjects(struct subject *subjects, int most, struct rng *r)
{
    cJSON *all = tiling_cases();
    int count = 0;
    assert_non_null(all);
    for (int tries = 0; count < most && tries < 30 * most; tries++)
        count += wanted > USUAL && count % 12 == 5 ? pattern_subject(&subjects[count], r)
                 : count % 2                       ? random_subject(&subjects[count], r)
                                                   : case_subject(&subjects[count], all, r);
    cJSON_Delete(all);
    return count;
}

static void every_damage_is_found(void **state)
{
    (void)state;
    struct rng rng = rng_seed(23);
    struct subject subjects[SUBJECTS] = {{.runs = false}};
    struct sabotage table[ALL];
    struct tally tally[ALL] = {{0}};
    int counted = 0, missed = 0, unseen = 0, count = make_subjects(subjects, SUBJECTS, &rng);
    memcpy(table, nest_sabotages, sizeof nest_sabotages);
    memcpy(table + NEST_SABOTAGES, sabotages, sizeof sabotages);
    assert_int_equal(count, SUBJECTS);
    for (int tries = 0; counted < wanted && tries < 20 * wanted; tries++) {
        int k = tries % 2 ? (int)rng_below(&rng, ALL) : tries / 2 % NEST_SABOTAGES;
        sabotage_once(&subjects[rng_below(&rng, (uint64_t)count)], &table[k], &rng, &tally[k]);
        counted = 0;
        for (int i = 0; i < ALL; i++) counted += tally[i].counted;
    }
    if (wanted > USUAL) print_tally(table, ALL, tally);
    for (int i = 0; i < ALL; i++) missed += tally[i].missed, unseen += tally[i].unseen;
    print_message("%d kinds, %d damaged plans with nests: %d accepted that do not run, %d refused that the "
                  "device did not see\n",
                  (int)ALL, counted, missed, unseen);
    for (int i = 0; i < count; i++) {
        cJSON_Delete(subjects[i].plan);
        lx_run_result_free(subjects[i].good);
    }
    assert_true(counted >= wanted);
    for (int i = 0; i < NEST_SABOTAGES; i++) assert_true(tally[i].counted > 0);
    assert_int_equal(missed, 0);
    assert_int_equal(unseen, 0);
}

struct forged {
    int done, refused, ran;
};

/* What is accepted runs, with the very counts of the plan. */
static void forge_once(const struct lx_plan *p, const char *name, int k, struct rng *r, struct forged *n)
{
    struct forgery f;
    lx_status st = {0};
    forge_begin(&f, p, r);
    if (forgeries[k].act(&f)) {
        n->done++;
        if (!lx_plan_check(&f.plan, &st)) {
            n->refused++;
            assert_int_equal(st.code, LX_E_NO);
        } else if (forgeries[k].never)
            fail_msg("%s: %s: accepted", name, forgeries[k].name);
        else {
            struct lx_run_result *result = run_it(&f.plan);
            n->ran++;
            if (!result || !result->ok)
                fail_msg("%s: %s: accepted, but: %s", name, forgeries[k].name,
                         result ? what_is_wrong(result) : "it does not run");
            lx_run_result_free(result);
        }
    }
    forge_end(&f);
}

static void every_forgery_is_found(void **state)
{
    (void)state;
    struct rng rng = rng_seed(29);
    struct subject subjects[SUBJECTS] = {{.runs = false}};
    struct forged n[FORGERIES] = {{0}};
    int count = make_subjects(subjects, SUBJECTS / 2, &rng), done = 0, refused = 0;
    for (int i = 0; i < count; i++) {
        char *text = cJSON_PrintUnformatted(subjects[i].plan);
        lx_status st = {0};
        struct lx_plan *p = lx_plan_of_text(subjects[i].name, text, strlen(text), &st);
        assert_non_null(p);
        for (int k = 0; k < FORGERIES; k++)
            for (int times = 0; times < 2 + wanted / 500; times++)
                forge_once(p, subjects[i].name, k, &rng, &n[k]);
        free(text);
        lx_plan_free(p);
        cJSON_Delete(subjects[i].plan);
        lx_run_result_free(subjects[i].good);
    }
    for (int k = 0; k < FORGERIES; k++) {
        done += n[k].done;
        refused += n[k].refused;
        if (wanted > USUAL)
            print_message("%-24s %6d, refused %6d, ran %5d\n", forgeries[k].name, n[k].done, n[k].refused,
                          n[k].ran);
        assert_true(n[k].done > 0);
    }
    print_message("%d forged plans with nests: %d refused, the others run\n", done, refused);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_damage_is_found),
                                       cmocka_unit_test(every_forgery_is_found)};
    if (argc == 2 && atoi(argv[1]) > 0) wanted = atoi(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
