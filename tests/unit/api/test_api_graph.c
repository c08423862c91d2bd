/* Graphs through the C interface: built, read, written, planned, run; and divisions chosen together with places. */
#include "lxplan.h"
#include "base/file.h"
#include "base/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/api_results.h"

/* y = softmax-like: exp of a product, scaled. */
static lx_builder *small(void)
{
    lx_builder *b = lx_builder_new("small");
    int64_t rows[] = {64, 128}, weights[] = {128, 128};
    assert_int_equal(lx_builder_device(b, "preset", "spyre", NULL), 0);
    assert_int_equal(lx_builder_device(b, "cores", "4", NULL), 0);
    assert_int_equal(lx_builder_tensor(b, "x", "fp16", 2, rows, "input", NULL), 0);
    assert_int_equal(lx_builder_tensor(b, "w", "fp16", 2, weights, "weight", NULL), 1);
    assert_int_equal(lx_builder_tensor(b, "h", "fp16", 2, rows, NULL, NULL), 2);
    assert_int_equal(lx_builder_tensor(b, "y", "fp16", 2, rows, "output", NULL), 3);
    assert_int_equal(lx_builder_op(b, "product", "matmul", "mk,kn->mn", (int32_t[]){0, 1}, 2, 2, NULL), 0);
    assert_int_equal(lx_builder_op(b, "scaled", "mul", "mn->mn", (int32_t[]){2}, 1, 3, NULL), 1);
    assert_int_equal(lx_builder_attribute(b, 1, "value", "0.5", NULL), 0);
    return b;
}

static void test_built(void **state)
{
    (void)state;
    lx_error *e = lx_error_new();
    lx_builder *b = small();
    lx_graph *g = lx_builder_finish(b, e);
    if (!g) fail_msg("%s", lx_error_text(e));
    double n = 0;
    assert_int_equal(lx_graph_number(g, "tensors", &n), 0);
    same(n, 4);
    assert_int_equal(lx_graph_number(g, "ops", &n), 0);
    same(n, 2);
    assert_int_equal(lx_graph_number(g, "cores", &n), 0);
    same(n, 4);
    assert_int_equal(lx_graph_number(g, "bytes", &n), 0);
    same(n, 3 * 64 * 128 * 2 + 128 * 128 * 2);
    assert_int_equal(lx_graph_number(g, "colours", &n), -1);
    assert_string_equal(lx_graph_word(g, "name"), "small");
    assert_null(lx_graph_word(g, "colour"));
    assert_int_equal(strlen(lx_graph_word(g, "hash")), 16);
    lx_text *text = lx_graph_write(g, NULL, e);
    lx_graph *again = lx_graph_parse(lx_text_data(text), lx_text_size(text), NULL, e);
    assert_string_equal(lx_graph_word(g, "hash"), lx_graph_word(again, "hash"));
    assert_null(lx_graph_write(g, "csv", e));    /* lists only */
    lx_graph *nothing = lx_builder_finish(b, e); /* the builder is empty again */
    assert_int_equal(lx_graph_number(nothing, "tensors", &n), 0);
    same(n, 0);
    lx_graph_free(nothing);
    lx_text_free(text);
    lx_graph_free(again);
    lx_graph_free(g);
    lx_builder_free(b);
    lx_error_free(e);
}

static void test_built_wrong(void **state)
{
    (void)state;
    lx_error *e = lx_error_new();
    lx_builder *b = small();
    int32_t outside[] = {4}, line;
    assert_true(lx_builder_op(b, "o", "exp", NULL, outside, 1, 2, e) < 0);
    assert_string_equal(lx_error_code(e), "unknown_name");
    assert_true(lx_builder_op(b, "o", "exp", NULL, NULL, 1, 2, e) < 0);
    assert_true(lx_builder_tensor(b, "t", "fp16", 9, NULL, NULL, e) < 0);
    assert_true(lx_builder_attribute(b, 0, "value", "1, \"kind\": \"add\"", e) < 0);
    assert_true(lx_builder_attribute(b, 2, "value", "1", e) < 0);
    assert_true(lx_builder_tensor(b, "t\xff", "fp16", 0, NULL, NULL, e) < 0);
    assert_non_null(strstr(lx_error_text(e), "UTF-8"));
    assert_true(lx_builder_op(b, "\xc3", "exp", NULL, (int32_t[]){0}, 1, 2, e) < 0);
    assert_string_equal(lx_error_code(e), "syntax");
    assert_true(lx_builder_device(b, "cores", "many", e) < 0);
    assert_true(lx_builder_op(b, "again", "no_such_kind", NULL, (int32_t[]){3}, 1, 3, e) < 0);
    assert_string_equal(lx_error_code(e), "unknown_kind");
    assert_true(lx_builder_tensor(b, "t", "fp17", 0, NULL, NULL, e) < 0);
    assert_non_null(strstr(lx_error_text(e), "fp16"));
    assert_true(lx_builder_tensor(b, "t", NULL, 0, NULL, "result", e) < 0);
    assert_true(lx_builder_tensor(b, "t", NULL, 1, (int64_t[]){0}, NULL, e) < 0);
    /* Names and index strings are judged when they come, what they mean together at the end. */
    assert_true(lx_builder_op(b, "product", "exp", NULL, (int32_t[]){3}, 1, 3, e) < 0);
    assert_string_equal(lx_error_text(e), "two ops are named product; rename one");
    assert_true(lx_builder_tensor(b, "y", "fp16", 0, NULL, NULL, e) < 0);
    assert_string_equal(lx_error_code(e), "duplicate");
    static const char *const einsums[] = {"mk->mn", "mk,kn,nn->mn", "mk,kn->m",
                                          "mk,kn",  "mk;kn->mn",    "mk,kn->mnx"};
    for (int i = 0; i < 6; i++) {
        assert_true(lx_builder_op(b, "o", "matmul", einsums[i], (int32_t[]){0, 1}, 2, 2, e) < 0);
        assert_string_equal(lx_error_code(e), "einsum");
    }
    assert_int_equal(lx_builder_op(b, "o", "exp", NULL, (int32_t[]){3}, 1, 0, e), 2);
    assert_string_equal(lx_error_code(e), "ok"); /* the call had none */
    assert_string_equal(lx_error_text(e), "");
    assert_null(lx_builder_finish(b, e)); /* an op writes an input */
    assert_null(lx_error_place(e, &line, NULL));
    assert_int_equal(line, 0); /* there is no file */
    lx_builder_free(b);
    lx_builder_free(NULL);
    assert_null(lx_builder_finish(NULL, e));
    assert_null(lx_graph_parse("{}", 2, "no such", e));
    assert_null(lx_graph_write(NULL, NULL, e));
    assert_null(lx_plan(NULL, NULL, e));
    assert_null(lx_plan_parse("{}", 2, e));
    assert_null(lx_run(NULL, NULL, e));
    assert_int_equal(lx_graph_number(NULL, "ops", NULL), -1);
    assert_null(lx_graph_word(NULL, "name"));
    lx_error_free(e);
}

/* Planned, written, read, run: the same figures all the way, and every op verified. */
static void test_planned(void **state)
{
    (void)state;
    lx_error *e = lx_error_new();
    lx_builder *b = small();
    lx_graph *g = lx_builder_finish(b, e);
    lx_options *o = lx_options_new();
    lx_options_set(o, "objective", "bytes", e); /* by time one core is enough */
    lx_result *plan = lx_plan(g, o, e);
    if (!plan) fail_msg("%s", lx_error_text(e));
    lx_graph_free(g);
    assert_int_equal(lx_result_check(plan, e), 1);
    assert_true(number(plan, "bound") <= number(plan, "objective"));
    assert_true(number(plan, "us") > 0);
    assert_int_equal(lx_result_count(plan, "ops"), 2);
    assert_string_equal(lx_result_item_word(plan, "ops", 0, "name"), "product");
    assert_true(strlen(lx_result_item_word(plan, "ops", 0, "splits")) >= 3);
    double cores = 0, moved = 0, all = 0;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lx_result_item_number(plan, "ops", i, "cores", &cores), 0);
        assert_true(cores >= 1 && cores <= 4);
        assert_int_equal(lx_result_item_number(plan, "ops", i, "traffic", &moved), 0);
        all += moved;
    }
    same(all, number(plan, "hbm_bytes"));
    lx_text *text = lx_result_write(plan, "plan", NULL, e);
    lx_result *again = lx_plan_parse(lx_text_data(text), lx_text_size(text), e);
    if (!again) fail_msg("%s", lx_error_text(e));
    assert_int_equal(lx_result_check(again, e), 1);
    lx_text *words = lx_result_write(plan, "explain", NULL, e),
            *diff = lx_result_write(again, "diff", plan, e);
    assert_non_null(strstr(lx_text_data(words), "on chip"));
    assert_non_null(strstr(lx_text_data(diff), "saves 0 bytes; 0 buffers differ"));
    assert_null(lx_result_write(plan, "diff", NULL, e));
    assert_null(lx_result_write(plan, "trace", NULL, e));
    lx_text_free(words);
    lx_text_free(diff);
    assert_int_equal(lx_options_set(o, "threads", "2", e), 0);
    lx_result *run = lx_run(again, o, e);
    if (!run) fail_msg("%s", lx_error_text(e));
    assert_string_equal(lx_result_word(run, "status"), "ok");
    same(number(run, "ok"), 1);
    same(number(run, "hbm_read") + number(run, "hbm_written"), number(plan, "hbm_bytes"));
    assert_int_equal(lx_result_count(run, "faults"), 0);
    lx_text *trace = lx_result_write(run, "trace", NULL, e);
    assert_non_null(strstr(lx_text_data(trace), "traceEvents"));
    lx_text_free(trace);
    assert_int_equal(lx_result_number(plan, "flops", NULL), -1); /* it was not run */
    lx_options_free(o);
    lx_result_free(run);
    lx_result_free(again);
    lx_result_free(plan);
    lx_text_free(text);
    lx_builder_free(b);
    lx_error_free(e);
}

/* The program's own plan of a bundled pattern, byte for byte. */
/* Every name that a result lists is answered, by the getter of its type and, an integer, as a number too. */
static int names_answered(const lx_result *r, const char *list)
{
    const char *name, *type = NULL;
    int n = 0;
    for (; (name = lx_result_name_at(r, list, n, &type)); n++) {
        double real;
        int64_t whole;
        bool word = strcmp(type, "word") == 0, integer = strcmp(type, "integer") == 0;
        if (strcmp(type, "list") == 0) {
            assert_true(names_answered(r, name) > 0);
            continue;
        }
        if (list && lx_result_count(r, list) == 0) continue;
        if (!word) assert_int_equal(lx_result_item_number(r, list, 0, name, &real), 0);
        if (word) assert_non_null(lx_result_item_word(r, list, 0, name));
        assert_int_equal(word ? 0 : lx_result_item_integer(r, list, 0, name, &whole),
                         word || integer ? 0 : -1);
        if (integer) assert_true(real == (double)whole);
    }
    assert_null(lx_result_name_at(r, list, n, NULL));
    assert_null(lx_result_name_at(r, list, -1, NULL));
    return n;
}

static void test_names_and_lists(void **state)
{
    (void)state;
    lx_builder *b = small();
    lx_graph *g = lx_builder_finish(b, NULL);
    lx_options *o = lx_options_new();
    lx_options_set(o, "objective", "bytes", NULL);
    lx_result *plan = lx_plan(g, o, NULL), *run = lx_run(plan, NULL, NULL);
    assert_true(names_answered(plan, NULL) > 25);
    assert_true(names_answered(run, NULL) > names_answered(plan, NULL));
    assert_null(lx_result_name_at(plan, "no such list", 0, NULL));
    assert_int_equal(lx_result_count(plan, "layouts"), 4);
    assert_int_equal(lx_result_count(plan, "bundles"), 1);
    int64_t parts = 1, value, cores;
    for (int64_t i = 0; i < lx_result_count(plan, "splits"); i++)
        if (lx_result_item_integer(plan, "splits", i, "op", &value) == 0 && value == 0)
            parts *= (assert_int_equal(lx_result_item_integer(plan, "splits", i, "parts", &value), 0), value);
    assert_int_equal(lx_result_item_integer(plan, "ops", 0, "cores", &cores), 0);
    assert_int_equal(parts, cores);
    double last = 0, end;
    for (int64_t i = 0; i < lx_result_count(plan, "time_line"); i++) {
        assert_int_equal(lx_result_item_number(plan, "time_line", i, "end_us", &end), 0);
        last = fmax(last, end);
    }
    assert_true(fabs(last - number(plan, "us")) <= 1e-6 * last);
    int64_t launched = lx_result_count(plan, "launches");
    assert_true(launched >= cores);
    lx_result_free(run);
    lx_result_free(plan);
    lx_options_free(o);
    lx_graph_free(g);
    lx_builder_free(b);
}

/* Models with open extents, and what became of them. */
static void test_imported(void **state)
{
    static const char model[] =
        "func.func @forward(%x: tensor<?x256xf32>, %w: tensor<256x64xf32>) -> tensor<?x64xf32> {\n"
        "  %0 = \"ttir.matmul\"(%x, %w) : (tensor<?x256xf32>, tensor<256x64xf32>) -> tensor<?x64xf32>\n"
        "  return %0 : tensor<?x64xf32>\n}\n";
    (void)state;
    lx_error *e = lx_error_new();
    lx_options *o = lx_options_new();
    assert_null(lx_graph_import(model, sizeof model - 1, NULL, e)); /* the extent is open */
    assert_true(lx_options_set(o, "dim", "%x:0", e) < 0);
    assert_true(lx_options_set(o, "role", "%w=nothing", e) < 0);
    assert_true(lx_options_set(o, "trips", "many", e) < 0);
    assert_int_equal(lx_options_set(o, "dim", "%x:0=128", e), 0);
    assert_int_equal(lx_options_set(o, "branch", "-1", e), 0);
    assert_int_equal(lx_options_set(o, "role", "a\\,b\\\\\\c=input,w=weight", e), 0); /* commas of names */
    assert_null(lx_graph_import(model, sizeof model - 1, o, e));
    assert_non_null(strstr(lx_error_text(e), "a,b\\\\c"));
    assert_int_equal(lx_options_set(o, "role", "w=weight", e), 0);
    lx_graph *g = lx_graph_import(model, sizeof model - 1, o, e);
    if (!g) fail_msg("%s", lx_error_text(e));
    double bytes = 0;
    lx_graph_number(g, "bytes", &bytes);
    same(bytes, 4 * (128 * 256 + 256 * 64 + 128 * 64));
    lx_text *report = lx_graph_write(g, "report", e);
    assert_non_null(report);
    assert_non_null(strstr(lx_text_data(report), "matmul"));
    lx_text *pattern = lx_graph_write(g, NULL, e);
    lx_graph *again =
        lx_graph_import(lx_text_data(pattern), lx_text_size(pattern), o, e); /* no model: as it is */
    assert_string_equal(lx_graph_word(g, "hash"), lx_graph_word(again, "hash"));
    assert_null(lx_graph_write(again, "report", e));
    bool listed = false;
    for (int i = 0; lx_options_at(i, "name"); i++) listed |= strcmp(lx_options_at(i, "name"), "dim") == 0;
    assert_true(listed);
    lx_text_free(report);
    lx_text_free(pattern);
    lx_graph_free(again);
    lx_graph_free(g);
    lx_options_free(o);
    lx_error_free(e);
}

static void test_same_as_program(void **state)
{
    (void)state;
    lx_error *e = lx_error_new();
    lx_status st;
    size_t length;
    char *pattern = file_read(SOURCE_DIR "/patterns/graphs/rms_norm.json", &length, &st);
    FILE *f = popen(LXPLAN_PROGRAM " plan --json " SOURCE_DIR "/patterns/graphs/rms_norm.json", "r");
    char *theirs = mem_zeroed(1, 1 << 20);
    size_t n = fread(theirs, 1, (1 << 20) - 1, f);
    pclose(f);
    lx_graph *g = lx_graph_parse(pattern, (int64_t)length, NULL, e);
    lx_result *r = g ? lx_plan(g, NULL, e) : NULL;
    lx_text *t = r ? lx_result_write(r, "plan", NULL, e) : NULL;
    if (!t) fail_msg("%s", lx_error_text(e));
    assert_int_equal(lx_text_size(t), n);
    assert_memory_equal(lx_text_data(t), theirs, n);
    lx_text_free(t);
    lx_result_free(r);
    lx_graph_free(g);
    lx_error_free(e);
    mem_free(theirs);
    mem_free(pattern);
}

/* --- Joint. --- */

#define HEAD "{\"lxplan\": 1, \"kind\": \"joint\", \"capacity\": 1024, \"alignment\": 128, \"buffers\": ["

static lx_result *joint(const char *text, lx_error *e)
{
    return lx_joint_solve(text, (int64_t)strlen(text), NULL, e);
}

static double chosen(const lx_result *r, int64_t i, const char *name)
{
    double value = NAN;
    assert_int_equal(lx_result_item_number(r, "buffers", i, name, &value), 0);
    return value;
}

/* With the option team: members, what they exchange, a file that is read back, and a run. */
static void test_team(void **state)
{
    (void)state;
    lx_error *e = lx_error_new();
    lx_builder *b = small();
    lx_graph *g = lx_builder_finish(b, e);
    lx_options *o = lx_options_new();
    assert_true(lx_options_set(o, "team", "2y2", e) < 0);
    assert_int_equal(lx_options_set(o, "team", "2x2", e), 0);
    lx_result *plan = lx_plan(g, o, e);
    if (!plan) fail_msg("%s", lx_error_text(e));
    same(number(plan, "members"), 4);
    assert_int_equal(lx_result_count(plan, "members"), 4);
    assert_int_equal(lx_result_count(plan, "buffers"), -1);
    double ops = 0;
    assert_int_equal(lx_result_item_number(plan, "members", 3, "ops", &ops), 0);
    assert_true(ops >= 2 && number(plan, "hbm_bytes") > 0);
    assert_int_equal(lx_result_check(plan, e), 1);
    lx_text *text = lx_result_write(plan, "plan", NULL, e);
    lx_result *again = lx_plan_parse(lx_text_data(text), lx_text_size(text), e);
    if (!again) fail_msg("%s", lx_error_text(e));
    same(number(again, "exchanged_bytes"), number(plan, "exchanged_bytes"));
    same(number(again, "exchange_bound"), number(plan, "exchange_bound"));
    assert_true(number(plan, "exchange_bound") <=
                number(plan, "exchanged_bytes") + number(plan, "combined_bytes"));
    assert_null(lx_result_write(plan, "html", NULL, e));
    lx_result_free(plan); /* runs do not need it */
    lx_result *run = lx_run(again, NULL, e);
    if (!run) fail_msg("%s", lx_error_text(e));
    assert_string_equal(lx_result_word(run, "status"), "ok");
    same(number(run, "ok"), 1);
    lx_result_free(again);
    lx_result_free(run);
    lx_text_free(text);
    lx_options_free(o);
    lx_graph_free(g);
    lx_builder_free(b);
    lx_error_free(e);
}

/* Numbers of the caller's own file are those of the answer. */
static void test_ids(void **state)
{
    static const char text[] =
        "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,"
        "is_scoped\n41,a,9,64,0,5,,false\n-7,b,9,64,1,5,,false\n";
    double id = 0;
    (void)state;
    lx_placement *p = lx_placement_parse(text, (int64_t)sizeof text - 1, "xla", NULL);
    lx_result *r = lx_solve(p, NULL, NULL);
    lx_text *list = lx_placement_write(p, "xla", NULL), *alloc = lx_result_write(r, "allocinfo", NULL, NULL);
    assert_string_equal(lx_text_data(list), text);
    assert_non_null(strstr(lx_text_data(alloc), "\n41,64,"));
    assert_non_null(strstr(lx_text_data(alloc), "\n-7,64,"));
    assert_int_equal(lx_result_item_number(r, "buffers", 1, "id", &id), 0);
    same(id, -7);
    assert_int_equal(lx_placement_buffer(p, "mine", 64, 0, 3, 1, NULL), 2); /* which has none */
    lx_text *more = lx_placement_write(p, "xla", NULL);
    assert_non_null(strstr(lx_text_data(more), "\n0,a,"));
    lx_text_free(list), lx_text_free(alloc), lx_text_free(more);
    lx_result_free(r), lx_placement_free(p);
}

/* Whoever chooses alone takes 8 cores; then b reads a otherwise, and a is off chip. Together 4 cores are better. */
static void test_joint(void **state)
{
    (void)state;
    static const char text[] = HEAD "{\"name\": \"a\", \"live\": [0, 2], \"off\": 2048, \"menu\": "
                                    "[{\"bytes\": 128, \"cores\": 8, \"squares\": 64}, "
                                    "{\"bytes\": 256, \"cores\": 4, \"squares\": 16}], \"readers\": "
                                    "[{\"buffer\": 1, \"pairs\": [[1, 1]]}]},"
                                    "{\"name\": \"b\", \"live\": [1, 2], \"off\": 1024, \"menu\": "
                                    "[{\"bytes\": 128, \"cores\": 8, \"squares\": 64}, "
                                    "{\"bytes\": 256, \"cores\": 4, \"squares\": 16}]}]}";
    lx_error *e = lx_error_new();
    lx_result *r = joint(text, e);
    if (!r) fail_msg("%s", lx_error_text(e));
    assert_string_equal(lx_result_word(r, "status"), "optimal");
    same(number(r, "objective"), 1024); /* b has no reader and is off */
    same(number(r, "bound"), 1024);
    same(number(r, "cores"), 8);
    same(number(r, "squares"), 32);
    same(chosen(r, 0, "choice"), 1);
    same(chosen(r, 1, "choice"), 1);
    same(chosen(r, 0, "pool"), 0);
    same(chosen(r, 1, "address"), -1);
    assert_true(*lx_result_item_word(r, "buffers", 1, "reason"));
    int64_t addresses[2];
    assert_int_equal(lx_result_places(r, NULL, addresses, 2), 2);
    assert_int_equal(lx_result_count(r, "ops"), -1);
    assert_null(lx_result_write(r, "plan", NULL, e));
    assert_true(lx_result_check(r, e) < 0);
    lx_result_free(r);
    lx_error_free(e);
}

static void test_joint_wrong(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "{}",
        HEAD "{\"name\": \"a\", \"live\": [0, 1], \"off\": 1, \"menu\": []}]}",
        HEAD "{\"name\": \"a\", \"live\": [1, 1], \"off\": 1, \"menu\": [{\"bytes\": 1}]}]}",
        HEAD "{\"name\": \"a\", \"live\": [0, 1], \"off\": 1, \"menu\": [{\"bytes\": 1}], \"colour\": 1}]}",
        HEAD
        "{\"name\": \"a\", \"live\": [0, 1], \"off\": 1, \"menu\": [{\"bytes\": 1}], \"parents\": [1]}]}",
    };
    lx_error *e = lx_error_new();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(joint(wrong[i], e));
        assert_true(*lx_error_text(e));
    }
    assert_null(lx_joint_solve(NULL, 0, NULL, e));
    lx_error_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_built),
        cmocka_unit_test(test_built_wrong),
        cmocka_unit_test(test_planned),
        cmocka_unit_test(test_names_and_lists),
        cmocka_unit_test(test_imported),
        cmocka_unit_test(test_same_as_program),
        cmocka_unit_test(test_team),
        cmocka_unit_test(test_joint),
        cmocka_unit_test(test_joint_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
