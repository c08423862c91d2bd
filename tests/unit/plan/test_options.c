/* The table of options: every row changes what it sets and nothing else, takes back what it gives out, and is
 * refused in words that help. */
#include "plan/options.h"
#include "base/memory.h"
#include "unstable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A value of a row that is not its default. */
static const char *other_value(const struct lx_settings *o, int row)
{
    switch (row) {
    case LX_OPTION_SOLVER: return "greedy";
    case LX_OPTION_OF_SOLVER: return "level=3";
    case LX_OPTION_DEVICE: return "hbm_gb_per_s=100";
    case LX_OPTION_ORDER: return "morton";
    case LX_OPTION_TILES: return "64x128/32x32";
    case LX_OPTION_HINT: return "scores=s/8";
    case LX_OPTION_NESTS: return "scaled-masked:a/2";
    case LX_OPTION_CERTIFICATE: return "/tmp/lxplan_test_options_certificate";
    default:
        if (lx_settings_at(row).kind == LX_TAKES_WORD) return lx_settings_word(o, row, 1);
        return lx_settings_at(row).kind == LX_TAKES_NOTHING ? NULL : "7";
    }
}

/* What the options come to: a plan's options and a device. */
struct meaning {
    struct lx_plan_options how;
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    struct lx_device device;
    int hints;
};

static void mean(const struct lx_settings *o, struct meaning *m)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/gq_attention.json", &st),
                          *on = g ? lx_settings_graph(o, g, &st) : NULL;
    memset(m, 0, sizeof *m);
    if (!on || !lx_settings_plan(o, NULL, &m->how, m->values, &st)) fail_msg("%s", st.text);
    m->device = on->device;
    for (int32_t i = 0; i < on->op_count; i++) m->hints += on->ops[i].hint_count;
    m->how.run.options = NULL;
    lx_graph_free(on);
    lx_graph_free(g);
}

static bool same_meaning(const struct meaning *a, const struct meaning *b)
{
    const struct lx_run *x = &a->how.run, *y = &b->how.run;
    for (const struct lx_pass *p = lx_passes(); p->name; p++)
        if (lx_pass_get(&a->how.passes, p) != lx_pass_get(&b->how.passes, p)) return false;
    for (const struct lx_device_parameter *p = lx_device_parameters(); p->key; p++)
        if (lx_device_get(&a->device, p) != lx_device_get(&b->device, p)) return false;
    const struct lx_launch_options *l = &a->how.launch, *k = &b->how.launch;
    if (l->order != k->order || strcmp(l->by, k->by) != 0 || l->share != k->share || l->assign != k->assign ||
        l->tile[0] != k->tile[0] || l->inner[1] != k->inner[1])
        return false;
    return a->how.certify == b->how.certify && a->how.solver == b->how.solver &&
           a->how.objective == b->how.objective && x->seed == y->seed && x->work_limit == y->work_limit &&
           x->time_limit == y->time_limit && a->hints == b->hints &&
           strcmp(a->how.nests, b->how.nests) == 0 && memcmp(a->values, b->values, sizeof a->values) == 0;
}

static void every_row_has_an_effect(void **state)
{
    (void)state;
    struct lx_settings plain = {.solvers = lx_solvers()};
    struct meaning before, after;
    mean(&plain, &before);
    for (int i = 0; i < lx_settings_count(); i++) {
        struct lx_settings o = plain;
        lx_status st = {0};
        const char *name = lx_settings_at(i).name;
        if (!lx_settings_set(&o, name, other_value(&o, i), &st)) fail_msg("%s: %s", name, st.text);
        assert_true(lx_settings_is_set(&o, i));
        mean(&o, &after);
        if (same_meaning(&before, &after)) fail_msg("%s has no effect", name);
        if (lx_settings_same(&o, &plain)) fail_msg("%s: options differ, but are said to be the same", name);
        lx_settings_unset(&o, i);
        mean(&o, &after);
        if (!same_meaning(&before, &after)) fail_msg("%s cannot be taken back", name);
        assert_true(lx_settings_same(&o, &plain));
    }
}

static void what_is_told_can_be_set(void **state)
{
    (void)state;
    struct lx_settings plain = {.solvers = lx_solvers()};
    for (int i = 0; i < lx_settings_count(); i++) {
        struct lx_settings o = plain, again = plain;
        lx_status st = {0};
        assert_true(lx_settings_set_row(&o, i, other_value(&o, i), &st));
        char *text = lx_settings_get(&o, i);
        assert_non_null(text);
        if (!lx_settings_set_row(&again, i, text, &st)) fail_msg("%s: %s", text, st.text);
        if (!lx_settings_same(&o, &again))
            fail_msg("%s: \"%s\" is not what it was", lx_settings_at(i).name, text);
        mem_free(text);
    }
}

static void every_word_is_taken(void **state)
{
    (void)state;
    for (int i = 0; i < lx_settings_count(); i++) {
        struct lx_settings o = {.solvers = lx_solvers()};
        struct lx_option_row row = lx_settings_at(i);
        lx_status st = {0};
        for (int64_t k = 0; lx_settings_word(&o, i, k); k++) {
            const char *word = lx_settings_word(&o, i, k);
            if (!lx_settings_set_row(&o, i, word, &st)) fail_msg("%s %s: %s", row.name, word, st.text);
        }
        bool has_words = row.kind == LX_TAKES_WORD || row.kind == LX_TAKES_NOTHING;
        assert_true(!has_words || lx_settings_word(&o, i, 1));
    }
}

/* Names are of one row each, and every row says what it is; no row is lost for want of room. */
static void rows_are_whole(void **state)
{
    (void)state;
    int passes = 0, parameters = 0;
    while (lx_passes()[passes].name) passes++;
    while (lx_device_parameters()[parameters].key) parameters++;
    assert_int_equal(lx_settings_count(), LX_OPTION_PASSES + passes);
    assert_true(parameters <= LX_MOST_DEVICE_PARAMETERS);
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++)
        assert_true((*s)->option_count <= LX_MOST_SOLVER_OPTIONS);
    for (int i = 0; i < lx_settings_count(); i++) {
        struct lx_option_row row = lx_settings_at(i);
        assert_int_equal(lx_settings_find(row.name), i);
        assert_true(row.help && *row.help && row.brief && *row.brief);
        assert_true((row.argument == NULL) == (row.kind == LX_TAKES_NOTHING));
        assert_true(row.low <= row.high && row.group < LX_GROUP_COUNT);
    }
}

/* Every parameter of a device is set below `device`, every option of a solver below `option`. */
static void rows_below_rows(void **state)
{
    (void)state;
    char pair[100];
    lx_status st = {0};
    for (const struct lx_device_parameter *p = lx_device_parameters(); p->key; p++) {
        struct lx_settings o = {.solvers = lx_solvers()};
        snprintf(pair, sizeof pair, "%s=%.17g", p->key, p->high < 1e6 ? p->high : p->low);
        if (!lx_settings_set(&o, "device", pair, &st)) fail_msg("%s: %s", pair, st.text);
        assert_true(lx_settings_is_set(&o, LX_OPTION_DEVICE));
    }
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++)
        for (int i = 0; i < (*s)->option_count; i++) {
            struct lx_settings o = {.solvers = lx_solvers()};
            struct lx_plan_options how = {0};
            int64_t values[LX_MOST_SOLVER_OPTIONS], wanted = (*s)->options[i].high;
            if (wanted == (*s)->options[i].def) wanted = (*s)->options[i].low;
            snprintf(pair, sizeof pair, "%s=%lld", (*s)->options[i].name, (long long)wanted);
            assert_true(lx_settings_set(&o, "solver", (*s)->name, &st));
            if (!lx_settings_set(&o, "option", pair, &st)) fail_msg("%s: %s", pair, st.text);
            assert_true(lx_settings_plan(&o, NULL, &how, values, &st));
            assert_int_equal(how.run.options[i], wanted);
        }
}

static void mistakes_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *words;
    } cases[] = {
        {"solver", "gredy", "did you mean \"greedy\"?"},
        {"solver", "", "there are: greedy"},
        {"objective", "hieght", "did you mean \"height\"?"},
        {"clone", "sometimes", "--clone: there is no \"sometimes\""},
        {"evict", "maybe", "there are: off, on"},
        {"level", "11", "level is 11; it must be from 0 to 9"},
        {"level", "high", "\"high\" is not an integer"},
        {"option", "level", "it must be NAME=VALUE"},
        {"option", "lvl=3", "auto has no option \"lvl\"; it has: level"},
        {"device", "core=3", "did you mean \"cores\"?"},
        {"device", "cores", "it must be NAME=VALUE, a preset (spyre"},
        {"device", "preset=moon", "there is no device preset \"moon\"; there are: spyre"},
        {"device", "hbm_gb_per_s=fast", "is not a number"},
        {"device", "lx_reserved_fraction=2", "it must be from 0 to 1"},
        {"cores", "0", "--cores is 0; it must be from 1 to 1024"},
        {"time", "-1", "--time -1: it must be above 0"},
        {"time", "soon", "is not a number"},
        {"work", NULL, "--work needs a value (N)"},
        {"hint", "scores=s8", "it must be splits such as s/8,t/4"},
        {"hint", "scores=s/8,s/4", "'s' is split twice"},
        {"hint", "scores=s/99999999999999999999", "a split is at most 524288"},
        {"solvr", "auto", "did you mean \"solver\"?"},
    };
    struct lx_settings o = {.solvers = lx_solvers(), .prefix = "--"}, before = o;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_status st = {0};
        assert_false(lx_settings_set(&o, cases[i].name, cases[i].text, &st));
        if (!strstr(st.text, cases[i].words)) fail_msg("\"%s\" does not say: %s", st.text, cases[i].words);
        assert_int_equal(lx_code_exit(st.code), 2);
        assert_memory_equal(&o, &before, sizeof o);
    }
}

/* A split beyond the cores that the plan is for is refused, and not left out. */
static void hints_stay_within_the_cores(void **state)
{
    (void)state;
    static const struct {
        const char *hint, *cores;
        bool fits;
    } cases[] = {{"scores=s/32", "32", true},    {"scores=s/64", "32", false},
                 {"scores=s/8,t/4", "32", true}, {"scores=s/8,t/8", "32", false},
                 {"scores=s/8", "4", false},     {"scores=s/4", "4", true}};
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/gq_attention.json", &st);
    for (size_t i = 0; g && i < sizeof cases / sizeof *cases; i++) {
        struct lx_settings o = {.solvers = lx_solvers(), .prefix = "--"};
        assert_true(lx_settings_set(&o, "hint", cases[i].hint, &st));
        assert_true(lx_settings_set(&o, "cores", cases[i].cores, &st));
        const struct lx_graph *on = lx_settings_graph(&o, g, &st);
        if (!on != !cases[i].fits) fail_msg("%s on %s cores: %s", cases[i].hint, cases[i].cores, st.text);
        if (!on) assert_non_null(strstr(st.text, "more slices than the"));
        if (!on) assert_int_equal(lx_code_exit(st.code), 2);
        lx_graph_free(on);
    }
    assert_non_null(g);
    lx_graph_free(g);
}

/* An op and its tensor have one name: a hint of the one leaves that of the other. */
static void hints_place_tensors(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_settings o = {.solvers = lx_solvers()};
    static const char *const hints[][2] = {{"scores=s/8", "scores=s/8"},
                                           {"scores=lx", "scores=s/8 scores=lx"},
                                           {"scores=hbm", "scores=s/8 scores=hbm"},
                                           {"scores=t/4", "scores=hbm scores=t/4"}};
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        assert_true(lx_settings_set(&o, "hint", hints[i][0], &st));
        assert_string_equal(o.hints, hints[i][1]);
    }
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/gq_attention.json", &st);
    const struct lx_graph *on = lx_settings_graph(&o, g, &st);
    for (int32_t i = 0; i < g->tensor_count; i++) {
        bool is_it = strcmp(g->tensors[i].name, "scores") == 0;
        assert_int_equal(on->tensors[i].memory, is_it ? 1 + LX_MEMORY_HBM : g->tensors[i].memory);
    }
    lx_graph_free(on);
    assert_true(lx_settings_set(&o, "hint", "score=lx", &st));
    assert_null(lx_settings_graph(&o, g, &st));
    assert_non_null(strstr(st.text, "a hint names tensor \"score\", which is not there"));
    assert_int_equal(lx_code_exit(st.code), 2);
    lx_graph_free(g);
}

static void set_all(struct lx_settings *o, const char *const (*pairs)[2])
{
    lx_status st = {0};
    *o = (struct lx_settings){.solvers = lx_solvers()};
    for (; (*pairs)[0]; pairs++)
        if (!lx_settings_set(o, (*pairs)[0], (*pairs)[1], &st)) fail_msg("%s", st.text);
}

/* Rules between rows. */
static void options_go_together(void **state)
{
    (void)state;
    struct lx_settings o;
    struct meaning m;
    set_all(&o, (const char *const[][2]){{"objective", "time"}, {0}});
    assert_true(lx_settings_passes(&o).by_time);
    assert_int_equal(lx_settings_passes(&o).cooptimise, LX_COOPTIMISE_FULL);
    set_all(&o, (const char *const[][2]){{"objective", "time"}, {"cooptimise", "none"}, {0}});
    assert_int_equal(lx_settings_passes(&o).cooptimise, LX_COOPTIMISE_NONE);
    set_all(&o, (const char *const[][2]){{"objective", "spill"}, {0}});
    assert_int_equal(lx_settings_ask(&o), LX_ASK_TRAFFIC);
    /* A preset comes before parameters, wherever it stands; cores behind both. */
    set_all(&o, (const char *const[][2]){
                    {"device", "tile_rows=4"}, {"cores", "12"}, {"device", "preset=tenstorrent"}, {0}});
    mean(&o, &m);
    assert_string_equal(m.device.preset, "tenstorrent");
    assert_true(m.device.tile_rows == 4 && m.device.cores == 12 && m.device.grid_y * m.device.grid_x == 12);
    /* The options of a solver go with it; the level is everyone's who has one. */
    set_all(&o, (const char *const[][2]){{"level", "2"}, {"option", "level=3"}, {"solver", "greedy"}, {0}});
    assert_false(lx_settings_is_set(&o, LX_OPTION_OF_SOLVER));
    set_all(&o, (const char *const[][2]){{"level", "2"}, {0}});
    mean(&o, &m);
    assert_int_equal(m.values[0], 2);
}

static void defaults_follow_the_question(void **state)
{
    (void)state;
    struct lx_settings o = {.solvers = lx_solvers()}, none = {0};
    lx_status st = {0};
    struct meaning m;
    assert_string_equal(lx_settings_solver(&o, LX_HEIGHT)->name, "auto");
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
        const struct lx_solver *const only[] = {*s, NULL};
        o.solvers = only;
        assert_ptr_equal(lx_settings_solver(&o, LX_FIT), *s);
    }
    assert_null(lx_settings_solver(&none, LX_SPILL));
    assert_false(lx_settings_plan(&none, NULL, &m.how, m.values, &st));
    assert_non_null(strstr(st.text, "without solvers"));
}

/* The command line, the explorer and the benchmark know the same options. What is about the search for a plan
 * has no say in the problems that the benchmark compares solvers on. */
static void every_part_of_the_program_takes_it(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "plan '%s' --%s %s --quiet >/dev/null 2>&1",
        "explore '%s' --%s %s --script '<wait>' >/dev/null 2>&1",
        "bench '%s' --%s %s --time 5 --quiet >/dev/null 2>&1",
    };
    static const char plain[] = SOURCE_DIR "/patterns/targets/staircase.json",
                      divided[] = SOURCE_DIR "/patterns/graphs/gq_attention.json";
    struct lx_settings o = {.solvers = lx_solvers()};
    for (int i = 0; i < lx_settings_count(); i++)
        for (int k = 0; k < 3; k++) {
            const char *value = other_value(&o, i),
                       *of_auto = k == 2 && i == LX_OPTION_OF_SOLVER ? "auto." : "";
            char given[100], arguments[500], line[900];
            snprintf(given, sizeof given, "%s%s", of_auto, value ? value : "");
            snprintf(arguments, sizeof arguments, lines[k],
                     i == LX_OPTION_HINT || i == LX_OPTION_NESTS ? divided : plain, lx_settings_at(i).name,
                     given);
            snprintf(line, sizeof line, "'%s' %s", LXPLAN_PROGRAM, arguments);
            bool refused = k == 2 && lx_settings_at(i).of_search;
            int code = system(line);
            if (code != (refused ? 2 << 8 : 0)) fail_msg("%s ends with %d", line, code >> 8);
        }
    remove("/tmp/lxplan_test_options_certificate");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hints_stay_within_the_cores),
        cmocka_unit_test(hints_place_tensors),
        cmocka_unit_test(every_row_has_an_effect),
        cmocka_unit_test(what_is_told_can_be_set),
        cmocka_unit_test(every_word_is_taken),
        cmocka_unit_test(rows_are_whole),
        cmocka_unit_test(rows_below_rows),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(options_go_together),
        cmocka_unit_test(defaults_follow_the_question),
        cmocka_unit_test(every_part_of_the_program_takes_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
