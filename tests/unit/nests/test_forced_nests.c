/* Nests that are asked for: in the plan as asked, legal and proved no better than they are; and what cannot be is told with
 * what would help. */
#include "unstable.h"
#include "plan/options.h"
#include "support/nest_plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const struct lx_graph *attention(void)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/gq_attention.json", &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

static struct lx_plan *forced(const struct lx_graph *g, const char *nests, bool evict, lx_status *st)
{
    struct lx_plan_options how = {.solver = lx_solver_find("auto"),
                                  .passes = {.evict = evict, .online = LX_ONLINE_NONE}};
    snprintf(how.nests, sizeof how.nests, "%s", nests);
    return lx_plan_make(g, &how, st);
}

static void as_asked(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int32_t nests, first, last, levels;
        int64_t iterations;
    } cases[] = {
        {"scores-y:g/8", 1, 1, 9, 1, 8},
        {"scores-y:g/8,r/4", 1, 1, 9, 2, 32},
        {"1-9:r/2,g/4", 1, 1, 9, 2, 8},
        {"scores-scaled:s/2;p-y:g/2", 2, 1, 2, 1, 2},
        {"p-y:g/2;scores-scaled:s/2", 2, 1, 2, 1, 2},
        {"scaled-masked:a/2,b/2,c/4", 1, 2, 3, 3, 16},
        {"p-y:g/4", 1, 8, 9, 1, 4},
    };
    const struct lx_graph *g = attention();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int evict = 0; evict < 2; evict++) {
            lx_status st = {0};
            struct lx_plan *p = forced(g, cases[i].text, evict, &st);
            if (!p) fail_msg("%s: %s", cases[i].text, st.text);
            assert_int_equal(p->nest_count, cases[i].nests);
            assert_int_equal(p->nests[0].first, cases[i].first);
            assert_int_equal(p->nests[0].last, cases[i].last);
            assert_int_equal(p->nests[0].level_count, cases[i].levels);
            assert_int_equal(nest_iterations(&p->nests[0]), cases[i].iterations);
            if (!lx_plan_check(p, &st)) fail_msg("%s: %s", cases[i].text, st.text);
            lx_plan_free(p);
        }
    lx_graph_free(g);
}

static void told(const char *nests, const char *what)
{
    const struct lx_graph *g = attention();
    lx_status st = {0};
    struct lx_plan *p = forced(g, nests, false, &st);
    if (p) fail_msg("%s was planned", nests);
    if (!strstr(st.text, what)) fail_msg("%s: %s", nests, st.text);
    assert_int_equal(lx_code_exit(st.code), 2);
    lx_graph_free(g);
}

static void what_cannot_be_is_told(void **state)
{
    (void)state;
    told("scores-z:g/2", "are no two ops of the graph");
    told("y-scores:g/2", "first op runs after its last");
    told("scores-y:x/2", "has no variable x; it has grsdt");
    told("scores-y:g/3", "3 tiles do not divide the extent 8 of g");
    told("scores-y:t/128", "128 tiles do not divide the ");
    told("scores-y:d/2",
         "is no axis that tiles could cut in op scaled: no tensor of the run brings it there");
    told("scores-max:g/2;max-y:g/2", "is in two of them");
    told("y:t/2", "alone in it and accesses no tensor twice");
    told("scores-y:t/2", "complete only when the nest has ended");
}

/* Ops that no nest takes, each for its own reason. */
static void ops_of_no_nest_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *nests, *why;
    } cases[] = {
        {"steps-less:a/2", "op steps can be in no nest: which elements it takes from where is not known"},
        {"less-put:a/2", "op put can be in no nest: it changes a tensor of which it keeps the rest"},
        {"host:a/2", "op host can be in no nest: it runs off the device"},
    };
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": ["
        "{\"name\": \"x\", \"dtype\": \"fp16\", \"role\": \"input\", \"shape\": [8, 64]}, "
        "{\"name\": \"k\", \"dtype\": \"fp16\", \"role\": \"state\", \"shape\": [32, 64]}, "
        "{\"name\": \"y\", \"dtype\": \"fp16\", \"shape\": [8, 64]}, "
        "{\"name\": \"z\", \"dtype\": \"fp16\", \"shape\": [8, 64]}, "
        "{\"name\": \"h\", \"dtype\": \"fp16\", \"role\": \"output\", \"shape\": [8, 64]}], \"ops\": ["
        "{\"name\": \"steps\", \"kind\": \"scan\", \"inputs\": [\"x\"], \"output\": \"y\", \"axis\": 0}, "
        "{\"name\": \"less\", \"kind\": \"neg\", \"inputs\": [\"y\"], \"output\": \"z\", \"einsum\": "
        "\"ab->ab\"}, "
        "{\"name\": \"put\", \"kind\": \"dynamic_insert\", \"inputs\": [\"k\", \"z\"], \"inplace\": 0, "
        "\"output\": \"k\", \"einsum\": \"rb,ab->rb\", \"axes\": [0], \"low\": [3]}, "
        "{\"name\": \"host\", \"kind\": \"extern\", \"inputs\": [\"z\"], \"output\": \"h\"}]}";
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("t", text, strlen(text), &st);
    if (!g) fail_msg("%s", st.text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (forced(g, cases[i].nests, false, &st)) fail_msg("%s was planned", cases[i].nests);
        if (!strstr(st.text, cases[i].why)) fail_msg("%s: %s", cases[i].nests, st.text);
    }
    lx_graph_free(g);
}

/* Nests that are asked for where none are allowed. */
static void none_and_some_are_at_odds(void **state)
{
    (void)state;
    const struct lx_graph *g = attention();
    lx_status st = {0};
    struct lx_plan_options how = {
        .solver = lx_solver_find("auto"), .nests = "scores-y:g/2", .passes = {.tile = LX_TILE_NONE}};
    assert_null(lx_plan_make(g, &how, &st));
    assert_non_null(strstr(st.text, "leave one of them out"));
    assert_int_equal(lx_code_exit(st.code), 2);
    lx_graph_free(g);
}

/* The same run can be tiled along its rows once it is written with running sums. */
static void rows_are_cut_with_running_sums(void **state)
{
    (void)state;
    const struct lx_graph *g = attention();
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("auto"), .nests = "scores-y:t/2"};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s", st.text);
    assert_non_null(p->graph->came_from);
    assert_int_equal(p->nest_count, 1);
    if (!lx_plan_check(p, &st)) fail_msg("%s", st.text);
    lx_plan_free(p);
    lx_graph_free(g);
}

static void text_is_read_with_care(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "x",
                                        "a-b",
                                        "a-b:",
                                        ":s/2",
                                        "a:s",
                                        "a:s/",
                                        "a:s/1",
                                        "a:s/2,",
                                        "a:s/2 t/2",
                                        "a:/2",
                                        "a:s/2,s/4",
                                        "a:a/2,b/2,c/2,d/2",
                                        "a:s/99999999999"};
    struct lx_settings o = {.solvers = lx_solvers()};
    lx_status st = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (lx_settings_set(&o, "nests", wrong[i], &st)) fail_msg("%s was taken", wrong[i]);
        assert_true(o.nests[0] == 0);
    }
    assert_true(lx_settings_set(&o, "nests", "a-b:s/2;c-d:t/4", &st));
    assert_true(lx_settings_set(&o, "nests", "e:s/2", &st));
    assert_true(lx_settings_set(&o, "nests", "a-b:s/8", &st));
    assert_string_equal(o.nests, "c-d:t/4;e:s/2;a-b:s/8");
}

static struct lx_plan *made(const char *pattern, const char *nests, enum lx_ask objective)
{
    char path[200];
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("auto"),
                                  .quick_solver = lx_solver_find("bestfit"),
                                  .passes = {.cooptimise = LX_COOPTIMISE_FULL, .by_time = true},
                                  .objective = objective};
    snprintf(how.nests, sizeof how.nests, "%s", nests);
    snprintf(path, sizeof path, SOURCE_DIR "/patterns/graphs/%s.json", pattern);
    const struct lx_graph *g = lx_graph_read(path, &st);
    struct lx_plan *p = g ? lx_plan_make(g, &how, &st) : NULL;
    if (!p || !lx_plan_check(p, &st)) fail_msg("%s", st.text);
    lx_graph_free(g);
    return p;
}

/* One needs the last bytes of the scratchpads; a search by time comes to the other and leaves it. */
static void what_could_be_asked_for_is_found(void **state)
{
    (void)state;
    struct lx_plan *p = made("mlp_2048", "", LX_ASK_TIME);
    assert_true(lx_plan_gap(p) <= 0.08);
    lx_plan_free(p);
    p = made("mlp_small", "", LX_ASK_BALANCED);
    struct lx_plan *asked = made("mlp_small", "up-gelu:f/4", LX_ASK_BALANCED);
    assert_true(asked->figures.end_to_end_us <= p->limit_us);
    assert_true(p->figures.hbm_bytes <= asked->figures.hbm_bytes);
    lx_plan_free(p);
    lx_plan_free(asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_asked),
                                       cmocka_unit_test(what_cannot_be_is_told),
                                       cmocka_unit_test(ops_of_no_nest_are_told),
                                       cmocka_unit_test(none_and_some_are_at_odds),
                                       cmocka_unit_test(rows_are_cut_with_running_sums),
                                       cmocka_unit_test(text_is_read_with_care),
                                       cmocka_unit_test(what_could_be_asked_for_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
