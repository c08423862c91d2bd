/* Device files: what `lxplan devices` prints is the device, a plan states all of it, and mistakes have a
 * place. */
#include "unstable.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "cost/rates.h"
#include "planfile/plan_file.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* The file of a preset with one text in place of another. */
static char *changed(const char *preset, const char *from, const char *to)
{
    struct lx_device d;
    struct text t = {0};
    size_t length;
    assert_true(lx_device_preset(preset, &d));
    char *text = lx_device_to_json(&d, &length), *at = strstr(text, from);
    if (!at) fail_msg("the file of %s has no %s", preset, from);
    text_add_n(&t, text, (size_t)(at - text));
    text_add(&t, to);
    text_add(&t, at + strlen(from));
    mem_free(text);
    return t.at;
}

/* A device file on disk, until it is removed. */
static const char *kept(char *text, char name[40])
{
    snprintf(name, 40, "/tmp/lxplan_device_%ld.json", (long)getpid());
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0 && fclose(f) == 0);
    mem_free(text);
    return name;
}

/* The file of a preset is the preset, its cost table too. */
static void files_of_presets_are_presets(void **state)
{
    (void)state;
    for (int i = 0; lx_device_at(i); i++) {
        struct lx_device d;
        lx_status st = {0};
        size_t length;
        char *text = lx_device_to_json(lx_device_at(i), &length);
        if (!lx_device_of_text("d.json", text, length, &d, &st)) fail_msg("%s", st.text);
        assert_true(lx_device_same(&d, lx_device_at(i)));
        assert_string_equal(d.cost_table, lx_device_at(i)->cost_table);
        mem_free(text);
    }
}

/* What a file does not state is its preset's. */
static void presets_give_what_is_absent(void **state)
{
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"device\", \"name\": \"mine\", \"preset\": \"spyre\", "
        "\"cores\": 4, \"costs\": {\"name\": \"mine\", \"launch_us\": "
        "{\"value\": 3, \"origin\": \"a stop watch\"}}}";
    struct lx_device d;
    lx_status st = {0};
    (void)state;
    if (!lx_device_of_text("d.json", text, strlen(text), &d, &st)) fail_msg("%s", st.text);
    assert_string_equal(d.preset, "mine");
    assert_int_equal(d.cores, 4);
    assert_int_equal(d.lx_bytes, lx_device_at(0)->lx_bytes);
    assert_true(cost_rate(&d, COST_LAUNCH) == 3);
    assert_true(cost_rate(&d, COST_ONE_WAY) == 150);
    assert_true(cost_rate(&d, COST_SYNC) > 0 && cost_rate(&d, COST_LOOP) > 0);
}

/* A plan for a device of a file is read as it was made where there is no such file: same times, same
 * bytes. */
static void plans_stand_by_themselves(void **state)
{
    char name[40];
    lx_status st = {0};
    struct lx_settings o = {.solvers = lx_solvers()};
    char *text = changed("spyre", "{\"value\": 21.4", "{\"value\": 30");
    struct text own = {0};
    (void)state;
    char *at = strstr(text, "\"spyre\"");
    text_add_n(&own, text, (size_t)(at - text));
    text_format(&own, "\"mine\"%s", at + 7);
    mem_free(text);
    if (!lx_settings_set(&o, "device", kept(own.at, name), &st)) fail_msg("%s", st.text);
    assert_int_equal(unlink(name), 0);
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/softmax_512x1024.json", &st);
    const struct lx_graph *on = lx_settings_graph(&o, g, &st);
    assert_non_null(on);
    assert_true(g->hash != on->hash);
    struct lx_plan *p = lx_plan_make(on, &(struct lx_plan_options){.solver = lx_solver_find("bestfit")}, &st);
    assert_non_null(p);
    size_t n, m;
    char *file = lx_plan_to_json(p, &n), *again;
    struct lx_plan *q = lx_plan_of_text("plan", file, n, &st);
    if (!q) fail_msg("%s", st.text);
    again = lx_plan_to_json(q, &m);
    assert_string_equal(file, again);
    assert_true(lx_device_same(&q->graph->device, &on->device));
    assert_true(cost_rate(&q->graph->device, COST_LAUNCH) == 30);
    assert_true(fabs(q->figures.end_to_end_us / p->figures.end_to_end_us - 1) < 1e-8);
    mem_free(file);
    mem_free(again);
    lx_plan_free(p);
    lx_plan_free(q);
    lx_graph_free(on);
    lx_graph_free(g);
}

/* The numbers of a plan are its own, whatever its preset is by now. */
static void plans_keep_their_numbers(void **state)
{
    lx_status st = {0};
    size_t n;
    (void)state;
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/rms_norm.json", &st);
    struct lx_plan *p = lx_plan_make(g, &(struct lx_plan_options){.solver = lx_solver_find("bestfit")}, &st);
    char *file = lx_plan_to_json(p, &n), *at = strstr(file, "\"hbm_gb_per_s\": 204.8");
    assert_non_null(at);
    memcpy(at, "\"hbm_gb_per_s\": 102.4", 21);
    struct lx_plan *q = lx_plan_of_text("plan", file, n, &st);
    if (!q) fail_msg("%s", st.text);
    assert_true(q->graph->device.hbm_gb_per_s == 102.4);
    mem_free(file);
    lx_plan_free(p);
    lx_plan_free(q);
    lx_graph_free(g);
}

static void mistakes_have_a_place(void **state)
{
    static const struct {
        const char *from, *to, *words;
    } cases[] = {
        {"\"cores\": 32", "\"cores\": 0", "it must be from 1 to 1024"},
        {"\"cores\": 32", "\"cors\": 32", "unknown key \"cors\""},
        {"  \"cores\": 32,\n", "", "\"cores\" is missing"},
        {"\"name\": \"spyre\"", "\"name\": \"a b\"", "letters, digits"},
        {"\"name\": \"spyre\",", "", "\"name\" is missing"},
        {"\"sync_us\": {", "\"sync_ms\": {", "unknown key \"sync_ms\" in costs"},
        {"\"value\": 150", "\"value\": 0", "one_way_gb_per_s is 0; it must be from 1e-06"},
        {"\"value\": 150", "\"value\": \"fast\"", "one_way_gb_per_s must be a number"},
        {"\"value\": 150, ", "", "needs its \"value\" and its \"origin\""},
        {"by_hbm", "by_luck", "one_way_gb_per_s does not go with \"by_luck\"; it may with: fixed, by_hbm"},
        {"\"kind\": \"device\"", "\"kind\": \"pattern\"", "this file is a pattern, but a device"},
        {"\"lxplan\": 1", "\"lxplan\": 2", "format version 2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_status st = {0};
        struct lx_device d;
        char *text = changed("spyre", cases[i].from, cases[i].to);
        assert_false(lx_device_of_text("d.json", text, strlen(text), &d, &st));
        if (!strstr(st.text, cases[i].words)) fail_msg("\"%s\" does not say: %s", st.text, cases[i].words);
        assert_true(st.line > 0 && st.column > 0 && lx_code_exit(st.code) == 2);
        mem_free(text);
    }
}

/* Options of a device file: as text, taken back, and as a word that is no device. */
static void options_take_files(void **state)
{
    char name[40];
    lx_status st = {0};
    struct lx_settings a = {.solvers = lx_solvers()}, b = a;
    (void)state;
    kept(changed("spyre", "\"cores\": 32", "\"cores\": 16"), name);
    assert_true(lx_settings_set(&a, "device", name, &st));
    assert_true(lx_settings_set(&a, "device", "lx_bytes=65536", &st));
    char *text = lx_settings_get(&a, LX_OPTION_DEVICE);
    assert_true(lx_settings_set(&b, "device", text, &st));
    assert_true(lx_settings_same(&a, &b));
    mem_free(text);
    assert_true(lx_settings_set(&b, "device", "spyre", &st));
    assert_false(lx_settings_same(&a, &b));
    lx_settings_unset(&a, LX_OPTION_DEVICE);
    struct lx_settings none = {.solvers = lx_solvers()};
    assert_true(lx_settings_same(&a, &none));
    assert_int_equal(unlink(name), 0);
    assert_false(lx_settings_set(&a, "device", name, &st));
    assert_int_equal(lx_code_exit(st.code), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_presets_are_presets), cmocka_unit_test(presets_give_what_is_absent),
        cmocka_unit_test(plans_stand_by_themselves),    cmocka_unit_test(plans_keep_their_numbers),
        cmocka_unit_test(mistakes_have_a_place),        cmocka_unit_test(options_take_files),
    };
    return cmocka_run_group_tests_name("device files", tests, NULL, NULL);
}
