/* Orders of dimensions for the span limit: a chain of large tensors follows where one of them must, what is given stays. */
#include "unstable.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* A turned copy, one op that goes along with it and one that sums. */
static const char turned[] =
    "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"turned\", \"tensors\": ["
    "{\"name\": \"x\", \"shape\": [64, 16, 64], \"dtype\": \"fp32\", \"role\": \"input\"},"
    "{\"name\": \"y\", \"shape\": [16, 64, 64], \"dtype\": \"fp32\"},"
    "{\"name\": \"z\", \"shape\": [16, 64, 64], \"dtype\": \"fp32\"},"
    "{\"name\": \"u\", \"shape\": [64, 64], \"dtype\": \"fp32\", \"role\": \"output\"}], \"ops\": ["
    "{\"name\": \"turn\", \"kind\": \"clone\", \"inputs\": [\"x\"], \"output\": \"y\", \"einsum\": "
    "\"abc->bac\"},"
    "{\"name\": \"next\", \"kind\": \"exp\", \"inputs\": [\"y\"], \"output\": \"z\"},"
    "{\"name\": \"all\", \"kind\": \"sum\", \"inputs\": [\"z\"], \"output\": \"u\", \"einsum\": "
    "\"bac->ac\"}]}";

static const struct lx_graph *with_span(int64_t bytes)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("t", turned, strlen(turned), &st);
    assert_non_null(g);
    struct lx_device device = g->device;
    device.span_bytes = bytes;
    const struct lx_graph *limited = lx_graph_with_device(g, &device);
    assert_non_null(limited);
    lx_graph_free(g);
    return limited;
}

static int outermost(const struct lx_layouts *l, int32_t tensor)
{
    return l->layouts[tensor].host_dim[0];
}

/* `y` and `z` have b, their dimension 0, outermost then; `x` is as it was. */
static void test_chain_follows(void **state)
{
    (void)state;
    lx_status st = {0};
    const struct lx_graph *g = with_span(16384);
    struct lx_layouts *l = lx_layouts_make(g, LX_WEIGHTS_FREE, &st);
    struct lx_divide_options how = {.cores = 16};
    assert_non_null(l);
    int before = outermost(l, 0);
    assert_null(lx_divide(l, &how, &st));
    assert_int_equal(st.code, LX_E_SPAN);
    lx_layouts_fit_spans(l, &how);
    struct lx_divisions *d = lx_divide(l, &how, &st);
    assert_non_null(d);
    assert_int_equal(outermost(l, 0), before);
    assert_int_equal(outermost(l, 1), 0);
    assert_int_equal(outermost(l, 2), 0);
    lx_divisions_free(d);
    lx_layouts_free(l);
    lx_graph_free(g);
}

/* Where every op fits nothing changes; where none can be helped nothing does either, and it is refused. */
static void test_else_as_it_was(void **state)
{
    (void)state;
    static const int64_t spans[] = {1 << 20, 4096};
    for (int i = 0; i < 2; i++) {
        lx_status st = {0};
        const struct lx_graph *g = with_span(spans[i]);
        struct lx_layouts *l = lx_layouts_make(g, LX_WEIGHTS_FREE, &st);
        assert_non_null(l);
        lx_layouts_fit_spans(l, NULL);
        for (int32_t t = 1; t <= 2; t++) assert_int_equal(outermost(l, t), 1);
        struct lx_divisions *d = lx_divide(l, NULL, &st);
        assert_true((d != NULL) == (i == 0));
        lx_divisions_free(d);
        lx_layouts_free(l);
        lx_graph_free(g);
    }
}

static void test_planned_and_checked(void **state)
{
    (void)state;
    lx_status st = {0};
    const struct lx_graph *g = with_span(16384);
    struct lx_plan_options options = {.solver = lx_solver_find("bestfit")};
    struct lx_plan *p = lx_plan_make(g, &options, &st);
    size_t length;
    assert_non_null(p);
    char *text = lx_plan_to_json(p, &length);
    struct lx_plan *read = lx_plan_of_text("plan", text, length, &st);
    assert_non_null(read);
    assert_true(lx_plan_check(read, &st));
    lx_plan_free(read);
    mem_free(text);
    lx_plan_free(p);
    lx_graph_free(g);
}

/* A slice of a tensor that is far too large: a core addresses the slice alone. Not so where `window` is too much of it. */
static const struct lx_graph *with_slice(int window, lx_status *st)
{
    char text[1200];
    int n = snprintf(
        text, sizeof text,
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"slice\", "
        "\"device\": {\"preset\": \"spyre\", \"span_bytes\": 65536}, "
        "\"tensors\": [{\"name\": \"x\", \"shape\": [64, 32, 64], \"dtype\": \"fp16\", \"role\": \"input\"}, "
        "{\"name\": \"s\", \"shape\": [64, 32, 64], \"dtype\": \"fp16\", \"role\": \"state\"}, "
        "{\"name\": \"y\", \"shape\": [64, %d, 64], \"dtype\": \"fp16\", \"role\": \"output\"}], "
        "\"ops\": [{\"name\": \"pick\", \"kind\": \"dynamic_slice\", \"inputs\": [\"x\"], \"output\": \"y\", "
        "\"einsum\": \"abc->adc\", \"axes\": [1], \"low\": [3]}, "
        "{\"name\": \"put\", \"kind\": \"dynamic_insert\", \"inputs\": [\"s\", \"y\"], \"inplace\": 0, "
        "\"output\": \"s\", \"einsum\": \"abc,adc->abc\", \"axes\": [1], \"low\": [5]}]}",
        window);
    return lx_graph_of_text("slice", text, (size_t)n, st);
}

static void test_slices_alone_are_addressed(void **state)
{
    (void)state;
    static const int windows[] = {1, 8, 16};
    for (int i = 0; i < 3; i++) {
        lx_status st = {0};
        const struct lx_graph *g = with_slice(windows[i], &st);
        struct lx_plan_options options = {.solver = lx_solver_find("bestfit")};
        if (!g) fail_msg("%s", st.text);
        struct lx_plan *p = lx_plan_make(g, &options, &st);
        assert_int_equal(p != NULL, windows[i] <= 8);
        assert_true(!p || lx_plan_check(p, &st));
        if (!p) assert_int_equal(st.code, LX_E_DOMAIN);
        lx_plan_free(p);
        lx_graph_free(g);
    }
}

/* A kernel of 19 sticks of columns, which no cores share: its sticks run along the sum. Its span would cut the sum, if
 * it were not packed row by row. */
static void test_packed_rows(void **state)
{
    (void)state;
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"head\", \"device\": {\"preset\": \"spyre\", "
        "\"cores\": 16, \"lx_bytes\": 262144, \"span_bytes\": 500000}, \"tensors\": ["
        "{\"name\": \"x\", \"shape\": [8, 17, 384], \"dtype\": \"fp16\", \"role\": \"input\"},"
        "{\"name\": \"w\", \"shape\": [1216, 384], \"dtype\": \"fp16\", \"role\": \"weight\"},"
        "{\"name\": \"y\", \"shape\": [8, 17, 1216], \"dtype\": \"fp16\", \"role\": \"output\"}], \"ops\": ["
        "{\"name\": \"head\", \"kind\": \"matmul\", \"inputs\": [\"x\", \"w\"], \"output\": \"y\", "
        "\"einsum\": "
        "\"abc,dc->abd\"}]}";
    for (int packs = 0; packs < 2; packs++) {
        lx_status st = {0};
        const struct lx_graph *g = lx_graph_of_text("t", text, strlen(text), &st);
        if (!g) fail_msg("%s", st.text);
        struct lx_layouts *l = lx_layouts_make(g, LX_WEIGHTS_FREE, &st);
        struct lx_divide_options how = {.packs = packs};
        lx_layouts_fit_spans(l, &how);
        struct lx_divisions *d = lx_divide(l, &how, &st);
        if (!d) fail_msg("%s", st.text);
        int64_t sum = 1;
        const struct lx_division *v = &d->at[d->count - 1];
        for (int i = 0; i < v->split_count; i++)
            if (v->splits[i].is_summed) sum *= v->splits[i].split;
        assert_int_equal(sum, packs ? 1 : 2);
        lx_divisions_free(d);
        lx_layouts_free(l);
        struct lx_plan_options options = {.solver = lx_solver_find("bestfit"),
                                          .passes.weights = packs ? LX_WEIGHTS_FREE : LX_WEIGHTS_FIXED};
        struct lx_plan *p = lx_plan_make(g, &options, &st);
        if (!p) fail_msg("%s", st.text);
        size_t length;
        char *file = lx_plan_to_json(p, &length);
        struct lx_plan *read = lx_plan_of_text("plan", file, length, &st);
        if (!read || !lx_plan_check(read, &st)) fail_msg("%s", st.text);
        for (int32_t t = 0; t < g->tensor_count; t++)
            assert_true(lx_layout_equal(&read->layouts->layouts[t], &p->layouts->layouts[t]));
        struct lx_device_options run = {.verify = LX_VERIFY_FULL};
        struct lx_run_result *r = lx_device_run(read, &run, &st);
        if (!r || !r->ok) fail_msg("%s", r && r->fault_count ? r->faults[0].text : st.text);
        lx_run_result_free(r);
        lx_plan_free(read);
        mem_free(file);
        lx_plan_free(p);
        lx_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain_follows), cmocka_unit_test(test_packed_rows),
        cmocka_unit_test(test_slices_alone_are_addressed), cmocka_unit_test(test_else_as_it_was),
        cmocka_unit_test(test_planned_and_checked)};
    return cmocka_run_group_tests_name("span_orders", tests, NULL, NULL);
}
