/* Every number and word of a plan and of its run, by name, through the C interface: those that must agree do. */
#include "lxplan.h"
#include "base/file.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/api_results.h"

static lx_result *plan, *ran;

static int make(void **state)
{
    lx_status st = {0};
    size_t size = 0;
    lx_error *e = lx_error_new();
    char *text = file_read(SOURCE_DIR "/patterns/graphs/rms_norm.json", &size, &st);
    lx_graph *g = text ? lx_graph_parse(text, (int64_t)size, NULL, e) : NULL;
    lx_options *o = lx_options_new();
    (void)state;
    lx_options_set(o, "lx", "20k", e);          /* too little for all of it at once, */
    lx_options_set(o, "objective", "bytes", e); /* so that some of it comes and goes */
    plan = lx_plan(g, o, e);
    ran = plan ? lx_run(plan, NULL, e) : NULL;
    if (!ran) fail_msg("%s", lx_error_text(e));
    lx_options_free(o);
    lx_graph_free(g);
    lx_error_free(e);
    mem_free(text);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    lx_result_free(ran);
    lx_result_free(plan);
    return 0;
}

static double item(const lx_result *r, const char *list, int64_t i, const char *name)
{
    double value = NAN;
    if (lx_result_item_number(r, list, i, name, &value) != 0) fail_msg("%s: no number %s", list, name);
    return value;
}

static double sum(const lx_result *r, const char *list, const char *name)
{
    double all = 0;
    for (int64_t i = 0; i < lx_result_count(r, list); i++) all += item(r, list, i, name);
    return all;
}

static void figures_of_a_plan(void **state)
{
    (void)state;
    assert_true(number(plan, "objective") >= number(plan, "bound") && number(plan, "gap") >= 0);
    assert_true(number(plan, "hbm_bytes") > 0 &&
                number(plan, "hbm_bytes") <= number(plan, "baseline_hbm_bytes"));
    assert_true(number(plan, "spill_bytes") >= 0 && number(plan, "height") > 0 &&
                number(plan, "height") <= 20480);
    assert_true(number(plan, "device_us") > 0 && number(plan, "us") > 0);
    assert_true(number(plan, "steps") > 0 && number(plan, "seconds") >= 0 && number(plan, "ring_bytes") >= 0);
    assert_int_equal(lx_result_number(plan, "faults", NULL), -1);
    assert_int_equal(lx_result_number(plan, "no such number", NULL), -1);
    assert_string_equal(lx_result_word(plan, "solver"), "auto");
    assert_null(lx_result_word(plan, "no such word"));
}

/* The device moves what the plan says. */
static void figures_of_a_run(void **state)
{
    (void)state;
    same(number(ran, "ok"), 1);
    same(number(ran, "hbm_read") + number(ran, "hbm_written"), number(plan, "hbm_bytes"));
    same(number(ran, "faults") + number(ran, "wrong_ops") + number(ran, "unequal_ops"), 0);
    assert_true(number(ran, "lx_read") > 0 && number(ran, "lx_written") > 0 && number(ran, "flops") > 0);
    assert_true(number(ran, "ring") + number(ran, "reduce_ring") >= 0 && number(ran, "seconds") >= 0);
    assert_true(number(ran, "share") <= 1 && number(ran, "relative_error") < 0.1);
    assert_string_equal(lx_result_word(ran, "status"), "ok");
    assert_int_equal(lx_result_count(ran, "faults"), 0);
}

static void buffers(void **state)
{
    int64_t count = lx_result_count(plan, "buffers");
    (void)state;
    assert_true(count > 0);
    for (int64_t i = 0; i < count; i++) {
        assert_true(item(plan, "buffers", i, "start") < item(plan, "buffers", i, "end"));
        assert_true(item(plan, "buffers", i, "size") > 0 && item(plan, "buffers", i, "cost") >= 0);
        same(item(plan, "buffers", i, "pool"), item(plan, "buffers", i, "address") < 0 ? -1 : 0);
        assert_true(strlen(lx_result_item_word(plan, "buffers", i, "name")) > 0);
    }
    assert_int_equal(lx_result_item_number(plan, "buffers", count, "size", NULL), -1);
    assert_int_equal(lx_result_count(plan, "no such list"), -1);
}

static void ops_and_transfers(void **state)
{
    (void)state;
    for (int64_t i = 0; i < lx_result_count(plan, "ops"); i++) {
        same(item(plan, "ops", i, "traffic"),
             item(plan, "ops", i, "hbm_read") + item(plan, "ops", i, "hbm_written"));
        assert_true(item(plan, "ops", i, "cores") >= 1 && item(plan, "ops", i, "us") > 0);
        assert_true(item(plan, "ops", i, "device_us") > 0 && item(plan, "ops", i, "reduce_ring") >= 0);
        assert_true(strlen(lx_result_item_word(plan, "ops", i, "kind")) > 0);
        assert_non_null(lx_result_item_word(plan, "ops", i, "splits"));
    }
    assert_true(sum(plan, "ops", "traffic") <= number(plan, "hbm_bytes"));
    assert_true(sum(plan, "ops", "ring") >= 0 && lx_result_count(plan, "transfers") > 0);
    for (int64_t i = 0; i < lx_result_count(plan, "transfers"); i++) {
        int64_t buffer = (int64_t)item(plan, "transfers", i, "buffer");
        assert_true(item(plan, "transfers", i, "bytes") > 0 && item(plan, "transfers", i, "tick") >= 0);
        assert_true(item(plan, "transfers", i, "source") >= -1);
        assert_string_equal(lx_result_item_word(plan, "transfers", i, "buffer"),
                            lx_result_item_word(plan, "buffers", buffer, "name"));
        assert_true(strlen(lx_result_item_word(plan, "transfers", i, "kind")) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(figures_of_a_plan),
                                       cmocka_unit_test(figures_of_a_run), cmocka_unit_test(buffers),
                                       cmocka_unit_test(ops_and_transfers)};
    return cmocka_run_group_tests(tests, make, drop);
}
