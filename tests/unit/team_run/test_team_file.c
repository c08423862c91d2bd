/* Files of team plans: written, read back, checked and run; and whatever number or step of one is changed, it is
 * refused. Run with --print, the program writes the tables of lib/plan-format.md. */
#include "support/field_tables.h"
#include "support/sampled.h"
#include "unstable.h"
#include "solvers.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/text.h"
#include "graph/builder.h"
#include "team/device_maker.h"
#include "team/team_fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const names[] = {"attention_rows",  "mlp_rows",     "slice_misses",
                                    "softmax_columns", "softmax_rows", "uneven_33",
                                    "uneven_44",       "uneven_8",     "stencil_3_steps"};

static struct lx_team_plans *make_grid(const char *name, struct lx_team_grid grid)
{
    int members = lx_team_device_count(&grid);
    char path[512];
    lx_status st = {0};
    snprintf(path, sizeof path, SOURCE_DIR "/patterns/team/%s.json", name);
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g) fail_msg("%s", st.text);
    struct lx_team_options how = {.grid = grid};
    struct lx_plan_options plan = {.solver = lx_solver_find("greedy")};
    struct lx_team_plan *team = lx_team_make(g, &how, &st);
    struct lx_team_plans *p = team ? lx_team_plans_make(team, &plan, &st) : NULL;
    if (!p) fail_msg("%s on %d: %s", name, members, st.text);
    lx_graph_free(g);
    return p;
}

static struct lx_team_plans *make(const char *name, int members)
{
    return make_grid(name, (struct lx_team_grid){1, {members}});
}

static void expect_runs(const struct lx_team_plans *p)
{
    lx_status st = {0};
    struct lx_plan_options plan = {.solver = lx_solver_find("greedy")};
    struct lx_team_run_options how = {.plan = &plan, .plans = p, .timeout_ms = 60000};
    struct lx_team_result r;
    if (!lx_team_run(p->team, &how, &r, &st)) fail_msg("%s", st.text);
    if (!r.ok)
        fail_msg("%s on %d: the plan of the file runs with another result", p->team->graph->name,
                 p->team->devices);
    lx_team_result_free(&r);
}

static void files_come_back(void **state)
{
    (void)state;
    static const struct lx_team_grid teams[] = {{1, {1}}, {1, {3}}, {2, {2, 2}}};
    for (size_t n = 0; n < sizeof names / sizeof *names; n += SAMPLED ? 2 : 1)
        for (int i = SAMPLED ? (int)n % 3 : 0; i < 3; i += SAMPLED ? 3 : 1) {
            struct lx_team_plans *p = make_grid(names[n], teams[i]);
            lx_status st = {0};
            size_t length, again;
            char *text = lx_team_plans_to_json(p, &length);
            assert_true(text && lx_is_team_plan(text, length) && !lx_is_plan(text, length));
            struct lx_team_plans *q = lx_team_plans_parse("team", text, length, &st);
            if (!q) fail_msg("%s, team %d: %s", names[n], i, st.text);
            assert_true(q->team->hash == p->team->hash && q->team->exact == p->team->exact);
            if (!lx_team_plans_check(q, &st)) fail_msg("%s, team %d: %s", names[n], i, st.text);
            char *other = lx_team_plans_to_json(q, &again);
            assert_true(other && again == length && memcmp(text, other, length) == 0);
            expect_runs(q);
            mem_free(text);
            mem_free(other);
            lx_team_plans_free(p);
            lx_team_plans_free(q);
        }
}

/* Members that do the same, but for offsets that a plan does not depend on, have one plan; each still has its own of that. */
static void expect_own_plans(const char *name, struct lx_team_grid grid, int *shared)
{
    struct lx_team_plans *p = make_grid(name, grid);
    for (int m = 0; m < p->team->devices; m++) {
        lx_status st = {0};
        for (int k = 0; k < m && p->plans[m]; k++) {
            if (p->plans[k] != p->plans[m]) continue;
            assert_true(p->devices[k]->shape == p->devices[m]->shape);
            ++*shared;
        }
        const struct lx_plan *own = p->plans[m] ? lx_team_plan_of(p, m, &st) : NULL;
        if (!own && p->plans[m]) fail_msg("%s, device %d: %s", name, m, st.text);
        if (!own) continue;
        assert_true(own->graph->hash == p->devices[m]->graph->hash);
        if (!lx_plan_check(own, &st)) fail_msg("%s, device %d: %s", name, m, st.text);
        assert_int_equal(own->figures.hbm_bytes, p->plans[m]->figures.hbm_bytes);
        lx_plan_free(own);
    }
    lx_team_plans_free(p);
}

static void shapes_are_planned_once(void **state)
{
    static const struct lx_team_grid grids[] = {{1, {6}}, {1, {5}}, {2, {2, 3}}};
    (void)state;
    int shared = 0;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (int i = SAMPLED ? (int)n % 3 : 0; i < 3; i += SAMPLED ? 3 : 1)
            expect_own_plans(names[n], grids[i], &shared);
    assert_true(shared > (SAMPLED ? 20 : 60));
}

static struct device_shape shape_of(const struct lx_graph *g)
{
    struct device_shape shape = {0};
    struct text t = {0};
    pattern_write_body(g, &(struct record_taker){device_shape_take, &shape}, &t);
    text_free(&t);
    return shape;
}

/* Where a slice begins in its stick is what a plan depends on, along the dimension that lies in sticks; elsewhere it may begin
 * anywhere. */
static void offsets_within_sticks_differ(void **state)
{
    static const char pattern[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"moved\", \"device\": \"spyre\", \"tensors\": ["
        "{\"name\": \"x\", \"shape\": [64, 256], \"role\": \"input\"},"
        "{\"name\": \"y\", \"shape\": [8, 32], \"role\": \"output\"}], \"ops\": [{\"name\": \"cut\", "
        "\"kind\": \"slice\","
        " \"inputs\": [\"x\"], \"output\": \"y\", \"offset\": [%d, %d]}]}";
    static const struct {
        int row, column;
        bool fits;
    } at[] = {{0, 0, true}, {3, 0, true}, {56, 64, true}, {0, 32, false}, {5, 96, false}, {9, 192, true}};
    const struct lx_graph *g[6];
    lx_status st = {0};
    (void)state;
    for (int i = 0; i < 6; i++) {
        char text[1000];
        int length = snprintf(text, sizeof text, pattern, at[i].row, at[i].column);
        g[i] = lx_graph_of_text("moved", text, (size_t)length, &st);
        if (!g[i]) fail_msg("%s", st.text);
    }
    struct lx_plan *p =
        lx_plan_make(g[0], &(struct lx_plan_options){.solver = lx_solver_find("greedy")}, &st);
    if (!p) fail_msg("%s", st.text);
    for (int i = 0; i < 6; i++) {
        struct device_shape shape = shape_of(g[i]), first = shape_of(g[0]);
        assert_true(shape.shape == first.shape);
        assert_int_equal(shape.likely == first.likely, at[i].fits);
        assert_int_equal(team_fits_twin(p, g[i]), at[i].fits);
    }
    lx_plan_free(p);
    for (int i = 0; i < 6; i++) lx_graph_free(g[i]);
}

/* What one sends the other receives. */
static void single_messages_are_refused(void **state)
{
    (void)state;
    struct lx_team_plans *p = make("stencil_3_steps", 3);
    int tried = 0, twice = 0;
    for (int m = 0; m < 3; m++)
        for (int32_t i = 0; i < p->devices[m]->message_count; i++, tried++) {
            lx_status st = {0};
            union {
                const struct lx_team_message *shown;
                struct lx_team_message *own;
            } at = {&p->devices[m]->messages[i]};
            struct lx_team_message was = *at.own;
            at.own->bytes++;
            assert_false(lx_team_plans_check(p, &st));
            assert_int_equal(st.code, LX_E_NO);
            assert_non_null(strstr(st.text, "does not"));
            *at.own = was;
            at.own->tag += 1000;
            assert_false(lx_team_plans_check(p, &st));
            *at.own = was;
            for (const struct lx_team_message *x = p->devices[m]->messages; x < at.shown; x++) {
                if (x->peer != was.peer || (x->operand < 0) != (was.operand < 0)) continue;
                *at.own = *x; /* that is then there twice */
                assert_false(lx_team_plans_check(p, &st));
                *at.own = was;
                twice++;
            }
            if (!lx_team_plans_check(p, &st)) fail_msg("%s", st.text);
        }
    assert_true(tried >= 6 && twice > 0);
    lx_team_plans_free(p);
}

/* Is the file refused, by the reader or by the checker? Neither may fall over. */
static bool refused(const char *text)
{
    lx_status st = {0};
    struct lx_team_plans *p = lx_team_plans_parse("team", text, strlen(text), &st);
    if (!p) {
        assert_true(lx_code_exit(st.code) == 2 || st.code == LX_E_NO);
        assert_true(strlen(st.text) > 10);
        return true;
    }
    bool ok = lx_team_plans_check(p, &st);
    if (!ok) assert_int_equal(st.code, LX_E_NO);
    lx_team_plans_free(p);
    return !ok;
}

/* The part of the file that says what the team does. */
static char *end_of_team(char *text)
{
    char *end = strstr(text, "\"pattern\": {");
    assert_non_null(end);
    return end;
}

/* Changes each number of the team's part by one, in turn; bound_us is a claim. */
static int change_numbers(char *text, int each)
{
    int changed = 0, seen = 0;
    char *begin = strstr(text, "\"members\": "), *end = end_of_team(text);
    for (char *at = begin; at < end; at++) {
        char copy = *at;
        bool digit = *at >= '0' && *at <= '9', before = at[-1] == ' ' || at[-1] == '[' || at[-1] == '-',
             claim = strncmp(at - 12, "\"bound_us\": ", 12) == 0;
        const char *line = at;
        while (line > text && *line != '\n') line--;
        if (!digit || !before || claim || seen++ % each != 0) continue;
        *at = copy == '9' ? '8' : (char)(copy + 1);
        if (!refused(text)) fail_msg("not noticed: %.*s", (int)(strchr(line + 1, '\n') - line), line);
        *at = copy;
        changed++;
    }
    return changed;
}

/* Changes each word of the team's part in turn: how an op is computed, what kind a step is, ... */
static int change_words(char *text)
{
    int changed = 0;
    char *begin = strstr(text, "\"members\": "), *end = end_of_team(text);
    for (char *at = begin; at < end; at++) {
        if (strncmp(at, ": \"", 3) != 0) continue;
        const char *line = at;
        char copy = at[3];
        while (line > text && *line != '\n') line--;
        at[3] = copy == 'z' ? 'y' : 'z';
        if (!refused(text)) fail_msg("not noticed: %.*s", (int)(strchr(line + 1, '\n') - line), line);
        at[3] = copy;
        changed++;
    }
    return changed;
}

static void changed_numbers_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct lx_team_grid grid;
        int each;
    } rows[] = {{"uneven_44", {1, {3}}, 1},         {"softmax_columns", {1, {2}}, 1},
                {"uneven_8", {1, {3}}, 2},          {"slice_misses", {1, {4}}, 2},
                {"uneven_44", {2, {2, 2}}, 3},      {"mlp_rows", {2, {2, 2}}, 3},
                {"softmax_columns", {2, {1, 3}}, 1}};
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        struct lx_team_plans *p = make_grid(rows[n].name, rows[n].grid);
        size_t length;
        char *text = lx_team_plans_to_json(p, &length);
        assert_non_null(text);
        assert_true(change_numbers(text, rows[n].each) > 40);
        assert_true(change_words(text) > 20);
        mem_free(text);
        lx_team_plans_free(p);
    }
}

/* Lines of the file's steps: one away, one twice, two in the wrong order. What is not refused must run. */
static void changed_steps_are_found(void **state)
{
    (void)state;
    struct lx_team_plans *p = make("uneven_44", 3);
    size_t length;
    char *text = lx_team_plans_to_json(p, &length), *copy = mem_alloc(length + 200);
    assert_true(text && copy);
    char *first = strstr(strstr(text, "\"steps\": ["), "\n") + 1, *end = strstr(first, "  ],");
    int gone = 0;
    for (char *line = first; line < end;) {
        char *next = strchr(line, '\n') + 1;
        size_t before = (size_t)(line - text), n = (size_t)(next - line);
        if (line[n - 2] == ',') { /* not the last: commas stay right */
            snprintf(copy, length + 200, "%.*s%s", (int)before, text, next);
            assert_true(refused(copy));
            snprintf(copy, length + 200, "%.*s%.*s%s", (int)before, text, (int)n, line, line);
            assert_true(refused(copy));
            gone++;
        }
        line = next;
    }
    assert_true(gone > 10);
    mem_free(copy);
    mem_free(text);
    lx_team_plans_free(p);
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    struct lx_team_plans *p = make("uneven_33", 3);
    size_t length;
    char *text = lx_team_plans_to_json(p, &length), *plans = strstr(text, "\"plans\": ["),
         *copy = mem_alloc(length + 99);
    assert_true(text && plans && copy);
    for (size_t n = 0; n < length; n += length / 97) { /* cut off anywhere */
        memcpy(copy, text, n);
        copy[n] = 0;
        assert_true(refused(copy));
    }
    snprintf(copy, length + 99, "%.*s\"plans\": []}", (int)(plans - text), text);
    assert_true(refused(copy)); /* no plans */
    snprintf(copy, length + 99, "%.*s\"plans\": [null, null, null]}", (int)(plans - text), text);
    assert_true(refused(copy));
    memcpy(copy, text, length + 1);
    char *first = strstr(copy, "\"plans\": ["), *name = first ? strstr(first, "\"address\": ") : NULL;
    if (name) { /* a member's own plan */
        name[11] = '1';
        assert_true(refused(copy));
    }
    mem_free(copy);
    mem_free(text);
    lx_team_plans_free(p);
}

static void tables_are_documented(void **state)
{
    (void)state;
    lx_status st;
    size_t length;
    char *readme = file_read(SOURCE_DIR "/lib/plan-format.md", &length, &st);
    assert_non_null(readme);
    for (int i = 0; i < TEAM_SECTION_COUNT; i++) {
        struct text t = {0};
        describe_fields(team_sections[i].heading, team_sections[i].fields, team_sections[i].count, &t);
        if (!strstr(readme, t.at))
            fail_msg("lib/plan-format.md lacks this (test_team_file --print writes all):\n%s", t.at);
        text_free(&t);
    }
    mem_free(readme);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_come_back),
                                       cmocka_unit_test(shapes_are_planned_once),
                                       cmocka_unit_test(offsets_within_sticks_differ),
                                       cmocka_unit_test(single_messages_are_refused),
                                       cmocka_unit_test(changed_numbers_are_found),
                                       cmocka_unit_test(changed_steps_are_found),
                                       cmocka_unit_test(damaged_files_are_refused),
                                       cmocka_unit_test(tables_are_documented)};
    if (argc == 2 && strcmp(argv[1], "--print") == 0) {
        struct text t = {0};
        for (int i = 0; i < TEAM_SECTION_COUNT; i++)
            describe_fields(team_sections[i].heading, team_sections[i].fields, team_sections[i].count, &t);
        fputs(t.at, stdout);
        text_free(&t);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
