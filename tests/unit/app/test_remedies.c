/* What helps, tried against the planner itself: each row's bytes are those of the plan that its options make, the least
 * scratchpad is the least, rows come best first, and a try ends when it is told to. */
#include "planning/remedies.h"
#include "base/text.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define PATTERN(file) SOURCE_DIR "/patterns/" file

struct asked {
    const char *file, *lx, *solver;
    const char *buffer; /* NULL: the plan as a whole; "": the dearest that is off chip */
};

static struct lx_settings options_of(const struct asked *a)
{
    struct lx_settings o = {.solvers = lx_solvers()};
    lx_status st = {0};
    assert_true(lx_settings_set(&o, "tile", "none", &st)); /* rows of nests have a test of their own */
    if (a->lx) assert_true(lx_settings_set(&o, "lx", a->lx, &st));
    if (a->solver) assert_true(lx_settings_set(&o, "solver", a->solver, &st));
    return o;
}

static const struct lx_graph *read_it(const char *file)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(file, &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

/* As the command line makes it. */
static const struct lx_plan *plan_of(const struct lx_graph *g, const struct lx_settings *o)
{
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    lx_status st = {0};
    struct lx_plan_options how = {0};
    const struct lx_graph *sized = lx_settings_graph(o, g, &st);
    if (!sized) fail_msg("%s", st.text);
    assert_true(lx_settings_plan(o, sized, &how, values, &st));
    const struct lx_plan *p = lx_plan_make(sized, &how, &st);
    if (!p) fail_msg("%s", st.text);
    lx_graph_free(sized);
    return p;
}

static const char *dearest(const struct lx_plan *p)
{
    int32_t best = -1;
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] < 0 && !(p->reason[i] && strncmp(p->reason[i], "compulsory", 10) == 0) &&
            (best < 0 || p->problem.buffers[i].spill_cost > p->problem.buffers[best].spill_cost))
            best = i;
    assert_true(best >= 0);
    return p->problem.buffers[best].name;
}

/* One step of the alignment less is not enough. */
static void check_least(const struct remedies *r, const struct remedy *it, const struct lx_graph *g)
{
    struct lx_settings less = it->options;
    char text[24];
    snprintf(text, sizeof text, "%lld",
             (long long)(it->options.value[LX_OPTION_LX] - r->plan->problem.alignment));
    lx_status st = {0};
    if (!lx_settings_set(&less, "lx", text, &st)) return;
    const struct lx_plan *p = plan_of(g, &less);
    bool enough =
        it->goal == GOAL_BUFFER ? presence_in(p, r->name) == PRESENCE_YES : p->figures.spill_bytes == 0;
    assert_false(enough);
    lx_plan_free(p);
}

static void check_row(const struct remedies *r, const struct remedy *it, const struct lx_graph *g)
{
    if (it->state != REMEDY_TRIED) return;
    const struct lx_plan *p = plan_of(g, &it->options);
    if (lx_plan_value(p) != it->value) fail_msg("%s: %s", g->name, it->what);
    assert_int_equal(presence_in(p, r->name), it->presence);
    assert_int_equal(p->answer.status == LX_OPTIMAL, it->proved);
    if (it->goal == GOAL_BUFFER) assert_int_equal(it->presence, PRESENCE_YES);
    if (it->goal == GOAL_ALL) assert_int_equal(p->figures.spill_bytes, 0);
    if (it->goal != GOAL_NONE) check_least(r, it, g);
    lx_plan_free(p);
}

static void check_order(const struct remedies *r)
{
    for (size_t i = 1; i < r->all.count; i++) {
        const struct remedy *a = &r->all.at[i - 1], *b = &r->all.at[i];
        assert_true((a->state <= REMEDY_CUT) >= (b->state <= REMEDY_CUT));
        if (b->state <= REMEDY_CUT) assert_true(a->value <= b->value);
    }
}

/* How many rows were tried. */
static int try_question(const struct asked *a)
{
    struct lx_settings o = options_of(a);
    const struct lx_graph *g = read_it(a->file);
    const struct lx_plan *p = plan_of(g, &o);
    const char *name = a->buffer && !*a->buffer ? dearest(p) : a->buffer;
    struct remedy_watch forever = {0};
    struct remedies r;
    int tried = 0;
    remedies_list(p, &o, name, &r);
    for (size_t i = 0; i < r.all.count; i++) {
        assert_int_equal(r.all.at[i].state, REMEDY_OPEN);
        remedy_try(&r, &r.all.at[i], g, &forever);
        check_row(&r, &r.all.at[i], g);
        tried += r.all.at[i].state == REMEDY_TRIED;
    }
    remedies_sort(&r);
    check_order(&r);
    remedies_free(&r);
    lx_plan_free(p);
    lx_graph_free(g);
    return tried;
}

static void rows_are_what_plans_give(void **state)
{
    (void)state;
    static const struct asked questions[] = {
        {PATTERN("graphs/gq_attention.json"), "60k", NULL, ""},
        {PATTERN("graphs/gq_attention.json"), "60k", NULL, "p"},
        {PATTERN("graphs/gq_attention.json"), "100k", NULL, NULL},
        {PATTERN("targets/simple_fragmentation.json"), NULL, "greedy", ""},
        {PATTERN("targets/gqattention.json"), "1000000", "firstfit", ""},
        {PATTERN("lists/store_once.json"), NULL, NULL, NULL},
        {PATTERN("lists/two_pools.json"), NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i += SAMPLED ? 2 : 1)
        assert_true(try_question(&questions[i]) > 1);
}

static const struct remedy *row_named(const struct remedies *r, const char *beginning)
{
    for (size_t i = 0; i < r->all.count; i++)
        if (strncmp(r->all.at[i].what, beginning, strlen(beginning)) == 0) return &r->all.at[i];
    return NULL;
}

/* Every solver and every pass of the tables has its rows; a list has no cores and no passes. */
static void every_table_is_walked(void **state)
{
    (void)state;
    struct lx_settings o = options_of(&(struct asked){.lx = "60k"});
    const struct lx_graph *g = read_it(PATTERN("graphs/gq_attention.json"));
    const struct lx_plan *p = plan_of(g, &o);
    struct remedies r;
    char what[80];
    remedies_list(p, &o, NULL, &r);
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
        snprintf(what, sizeof what, "-s %.40s", (*s)->name);
        bool listed = row_named(&r, what) != NULL;
        assert_int_equal(listed, strcmp((*s)->name, p->solver) != 0 && lx_can(*s, LX_SPILL));
    }
    for (const struct lx_pass *pass = lx_passes(); pass->name; pass++) {
        snprintf(what, sizeof what, "--%.40s", pass->option);
        assert_int_equal(row_named(&r, what) != NULL, strcmp(pass->name, "stage") != 0);
    }
    assert_non_null(row_named(&r, "--cores 16"));
    remedies_free(&r);
    remedies_list(p, &o, "p", &r); /* between two ops that cut it differently */
    assert_non_null(row_named(&r, "--hint y="));
    assert_non_null(row_named(&r, "--lx"));
    remedies_free(&r);
    lx_plan_free(p);
    lx_graph_free(g);
    g = read_it(PATTERN("lists/store_once.json"));
    p = plan_of(g, &o);
    remedies_list(p, &o, NULL, &r);
    assert_non_null(row_named(&r, "--lx"));
    assert_null(row_named(&r, "--cores"));
    assert_null(row_named(&r, "--evict"));
    remedies_free(&r);
    lx_plan_free(p);
    lx_graph_free(g);
}

/* Of a plan with a nest: without any, and with other counts, each a nest that can be planned. */
static void nests_have_rows(void **state)
{
    (void)state;
    struct lx_settings o = options_of(&(struct asked){.lx = "6k"});
    struct remedies r;
    lx_status st = {0};
    int counts = 0;
    assert_true(lx_settings_set(&o, "tile", "auto", &st) && lx_settings_set(&o, "online", "none", &st));
    const struct lx_graph *g = read_it(SOURCE_DIR "/tests/data/graphs/tiled_attention.json");
    const struct lx_plan *p = plan_of(g, &o);
    assert_true(p->nest_count > 0);
    remedies_list(p, &o, NULL, &r);
    assert_non_null(row_named(&r, "--tile none"));
    for (size_t i = 0; i < r.all.count; i++) {
        struct remedy *it = &r.all.at[i];
        if (strncmp(it->what, "--nests", 7) != 0) continue;
        remedy_try(&r, it, g, &(struct remedy_watch){0});
        if (it->state != REMEDY_TRIED) fail_msg("%s: %s", it->what, it->note);
        check_row(&r, it, g);
        assert_true(strstr(it->note, "iteration") && strstr(it->note, " tiles over "));
        counts++;
    }
    assert_true(counts > 0);
    remedies_free(&r);
    lx_plan_free(p);
    lx_graph_free(g);
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static bool never(void *context)
{
    (void)context;
    return false;
}

/* Its time was up, before or after there was a plan. */
static bool was_cut(const struct remedy *it)
{
    return it->state == REMEDY_CUT || it->state == REMEDY_STOPPED;
}

/* Stopped, and with a fuse that has burnt down: no row claims to have been tried to its end. */
static void tries_end(void **state)
{
    (void)state;
    struct lx_settings o = options_of(&(struct asked){.lx = "60k"});
    const struct lx_graph *g = read_it(PATTERN("graphs/moe_mlp.json"));
    const struct lx_plan *p = plan_of(g, &o);
    struct remedy_watch stopped = {.stop = at_once}, burnt = {.polls = 1};
    struct remedies r;
    int cut = 0;
    remedies_list(p, &o, NULL, &r);
    struct remedy reorder = *row_named(&r, "--reorder"), again = reorder;
    remedy_try(&r, &reorder, g, &stopped);
    assert_int_equal(reorder.state, REMEDY_STOPPED);
    remedy_try(&r, &again, g, &burnt);
    assert_true(was_cut(&again));
    /* A fuse in the middle of a balanced plan: the same plan every time. */
    struct remedy_watch half = {.stop = never, .polls = 3000};
    struct remedy first = *row_named(&r, "--objective balanced"), second = first;
    int64_t polls = remedy_try(&r, &first, g, &half);
    assert_int_equal(remedy_try(&r, &second, g, &half), polls);
    assert_int_equal(first.state, REMEDY_CUT);
    assert_true(polls >= half.polls && first.value == second.value && first.syncs == second.syncs);
    for (size_t i = 0; i < r.all.count; i++) {
        remedy_try(&r, &r.all.at[i], g, &burnt);
        cut += was_cut(&r.all.at[i]);
    }
    assert_true(cut > 1);
    remedies_free(&r);
    lx_plan_free(p);
    lx_graph_free(g);
}

/* A weight that is read once: every plan moves it, and no row is listed. Beside it one that a plan could keep. */
static void compulsory_traffic_has_no_remedies(void **state)
{
    (void)state;
    struct lx_settings o = options_of(&(struct asked){.lx = "60k"});
    const struct lx_graph *g = read_it(PATTERN("graphs/gq_attention.json"));
    const struct lx_plan *p = plan_of(g, &o);
    static const char *const names[] = {"q", "p", NULL};
    for (int i = 0; i < 3; i++) {
        struct remedies r;
        remedies_list(p, &o, names[i], &r);
        assert_int_equal(r.compulsory, i == 0);
        assert_int_equal(r.all.count > 0, i > 0);
        for (size_t k = 1; k < r.all.count; k++) assert_true(r.all.at[k - 1].promise >= r.all.at[k].promise);
        remedies_free(&r);
    }
    lx_plan_free(p);
    lx_graph_free(g);
}

/* What was tried about a buffer answers the question about the whole plan, and about it again. */
static void results_answer_the_next_question(void **state)
{
    (void)state;
    struct lx_settings o = options_of(&(struct asked){.lx = "60k"});
    const struct lx_graph *g = read_it(PATTERN("graphs/gq_attention.json"));
    const struct lx_plan *p = plan_of(g, &o);
    static const char *const names[] = {"p", NULL, "p"};
    struct remedies r[3];
    struct remedy_watch forever = {0};
    for (int q = 0; q < 3; q++) {
        remedies_list(p, &o, names[q], &r[q]);
        r[q].keeps = true;
        if (q > 0) remedies_carry(&r[q], &r[q - 1]);
        for (size_t i = 0; i < r[q].all.count; i++) {
            struct remedy *it = &r[q].all.at[i];
            if (q == 0 && it->goal == GOAL_NONE) remedy_try(&r[q], it, g, &forever);
            if (strcmp(it->what, "--cooptimise full") == 0) assert_int_equal(it->state, REMEDY_TRIED);
            if (it->state == REMEDY_TRIED) check_row(&r[q], it, g);
        }
    }
    for (int q = 0; q < 3; q++) remedies_free(&r[q]);
    lx_plan_free(p);
    lx_graph_free(g);
}

/* The verdict speaks of bytes, time and syncs, each with what it costs otherwise. */
static void the_verdict_speaks_of_all(void **state)
{
    (void)state;
    const struct lx_graph *g = read_it(PATTERN("graphs/gq_attention.json"));
    struct lx_settings o = options_of(&(struct asked){0});
    const struct lx_plan *p = plan_of(g, &o);
    struct lx_plan now = *p;
    now.figures.hbm_bytes = 1000, now.figures.end_to_end_us = 180, now.figures.sync_times = 480;
    struct remedies r = {.plan = &now, .presence = PRESENCE_YES};
    struct remedy none = {.what = "--tile none",
                          .value = 1620,
                          .us = 10,
                          .syncs = 500,
                          .cores = p->graph->device.cores,
                          .capacity = p->problem.capacity};
    struct remedy larger = {.what = "--lx 9m", .value = 1, .us = 1, .syncs = 1, .cores = none.cores};
    VEC_PUSH(&r.all, none);
    VEC_PUSH(&r.all, larger); /* another device */
    struct text words = {0};
    add_remedies_verdict(&r, &words);
    assert_string_equal(
        words.at,
        "no fewer bytes; --tile none: 18x faster, bytes +62.0 %, 500 syncs (now 480); no fewer syncs");
    text_free(&words);
    r.all.at[0].value = 500, r.all.at[0].syncs = 100;
    r.all.at[1].state = REMEDY_LARGE;
    add_remedies_verdict(&r, &words);
    assert_string_equal(words.at, "--tile none: 2.0x fewer bytes, 18x faster, 100 syncs (now 480)");
    text_free(&words);
    add_remedies_tried(&r, &words);
    assert_string_equal(words.at, "1 of 2 tried; 1 too large to try unasked");
    text_free(&words);
    r.all.at[0].value = 1000;
    add_remedies_tried(&r, &words);
    assert_string_equal(words.at, "1 of 2 tried, none of them helps; 1 too large to try unasked");
    text_free(&words);
    VEC_FREE(&r.all);
    lx_plan_free(p);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_what_plans_give),
        cmocka_unit_test(every_table_is_walked),
        cmocka_unit_test(nests_have_rows),
        cmocka_unit_test(tries_end),
        cmocka_unit_test(compulsory_traffic_has_no_remedies),
        cmocka_unit_test(results_answer_the_next_question),
        cmocka_unit_test(the_verdict_speaks_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
