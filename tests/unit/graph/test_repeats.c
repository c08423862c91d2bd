/* Repeated layers: found with their length and number wherever they begin, and nothing that is not repeated. */
#include "unstable.h"
#include "base/memory.h"
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Residual blocks: up, act, down, add, of which one may be otherwise. */
struct stack {
    int layers, before; /* layers; ops in front of them */
    int odd;            /* a layer whose activation is another kind; -1: none */
    int crossed;        /* a layer that adds the very first tensor instead of its own input; -1: none */
};

static void add_op(struct text *t, bool *any, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add_op(struct text *t, bool *any, const char *format, ...)
{
    char line[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_format(t, "%s%s", *any ? ",\n" : "\n", line);
    *any = true;
}

static const struct lx_graph *stack_graph(const struct stack *s)
{
    struct text tensors = {0}, ops = {0}, all = {0};
    bool any_tensor = false, any_op = false;
    lx_status st = {0};
    for (int i = 0; i <= s->before + s->layers; i++)
        add_op(&tensors, &any_tensor, "{\"name\": \"x%d\", \"shape\": [64, 128], \"dtype\": \"fp16\"}", i);
    for (int i = 0; i < s->before; i++)
        add_op(&ops, &any_op,
               "{\"name\": \"p%d\", \"kind\": \"exp\", \"inputs\": [\"x%d\"], \"output\": \"x%d\"}", i, i,
               i + 1);
    for (int l = 0; l < s->layers; l++) {
        int in = s->before + l, from = l == s->crossed ? 0 : in;
        add_op(&tensors, &any_tensor,
               "{\"name\": \"w%d\", \"shape\": [128, 256], \"dtype\": \"fp16\", \"role\": \"weight\"},\n"
               "{\"name\": \"v%d\", \"shape\": [256, 128], \"dtype\": \"fp16\", \"role\": \"weight\"},\n"
               "{\"name\": \"u%d\", \"shape\": [64, 256], \"dtype\": \"fp16\"},\n"
               "{\"name\": \"a%d\", \"shape\": [64, 256], \"dtype\": \"fp16\"},\n"
               "{\"name\": \"d%d\", \"shape\": [64, 128], \"dtype\": \"fp16\"}",
               l, l, l, l, l);
        add_op(
            &ops, &any_op,
            "{\"name\": \"up%d\", \"kind\": \"matmul\", \"inputs\": [\"x%d\", \"w%d\"], \"output\": \"u%d\", "
            "\"einsum\": \"mk,kn->mn\"}",
            l, in, l, l);
        add_op(&ops, &any_op,
               "{\"name\": \"act%d\", \"kind\": \"%s\", \"inputs\": [\"u%d\"], \"output\": \"a%d\"}", l,
               l == s->odd ? "tanh" : "relu", l, l);
        add_op(&ops, &any_op,
               "{\"name\": \"down%d\", \"kind\": \"matmul\", \"inputs\": [\"a%d\", \"v%d\"], \"output\": "
               "\"d%d\", "
               "\"einsum\": \"mk,kn->mn\"}",
               l, l, l, l);
        add_op(
            &ops, &any_op,
            "{\"name\": \"add%d\", \"kind\": \"add\", \"inputs\": [\"x%d\", \"d%d\"], \"output\": \"x%d\"}",
            l, from, l, in + 1);
    }
    text_format(
        &all,
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"s\", \"device\": \"spyre\", \"tensors\": [%s], "
        "\"ops\": [%s]}",
        tensors.at, ops.at);
    const struct lx_graph *g = lx_graph_of_text("s", all.at, all.length, &st);
    if (!g) print_error("%s\n", st.text);
    assert_non_null(g);
    text_free(&tensors);
    text_free(&ops);
    text_free(&all);
    return g;
}

static void assert_repeats(const struct stack *s, const struct lx_repeat *wanted, int32_t wanted_count)
{
    const struct lx_graph *g = stack_graph(s);
    int32_t count;
    struct lx_repeat *r = lx_repeats(g, &count);
    assert_int_equal(count, wanted_count);
    for (int32_t i = 0; i < count; i++) {
        assert_int_equal(r[i].first, wanted[i].first);
        assert_int_equal(r[i].ops, wanted[i].ops);
        assert_int_equal(r[i].times, wanted[i].times);
    }
    mem_free(r);
    lx_graph_free(g);
}

static void test_layers(void **state)
{
    (void)state;
    for (int layers = 4; layers <= 40; layers += 9)
        for (int before = 0; before <= 3; before++)
            assert_repeats(&(struct stack){layers, before, -1, -1}, &(struct lx_repeat){before, 4, layers},
                           1);
    assert_repeats(&(struct stack){3, 2, -1, -1}, NULL, 0); /* too little to be worth a word */
}

/* A layer of another kind parts the run. */
static void test_odd_layer(void **state)
{
    (void)state;
    assert_repeats(&(struct stack){12, 1, 6, -1}, (struct lx_repeat[]){{1, 4, 6}, {29, 4, 5}}, 2);
}

/* So does one that is linked otherwise: it may begin the next, whose first layer reads what there is. */
static void test_other_link(void **state)
{
    (void)state;
    assert_repeats(&(struct stack){12, 1, -1, 6}, (struct lx_repeat[]){{1, 4, 6}, {25, 4, 6}}, 2);
}

static void test_nothing(void **state)
{
    (void)state;
    assert_repeats(&(struct stack){0, 300, -1, -1}, NULL, 0);
    assert_repeats(&(struct stack){1, 0, -1, -1}, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layers), cmocka_unit_test(test_odd_layer),
                                       cmocka_unit_test(test_other_link), cmocka_unit_test(test_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
