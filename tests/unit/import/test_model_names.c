/* Names of the file: of outputs whatever they were folded from or expanded to, of parts, of what is inlined. */
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

/* "op=tensor op=tensor" in the order of ops; outputs have a ! behind them. */
static void assert_names(const char *model, const char *names)
{
    static const struct lx_import_options plain = {.branch = -1};
    lx_status st = {0};
    struct text t = {0};
    const struct lx_graph *g = lx_model_import("here", model, strlen(model), &plain, NULL, &st);
    if (!g) print_error("%d:%d: %s\n", st.line, st.column, st.text);
    assert_non_null(g);
    for (int32_t i = 0; i < g->op_count; i++) {
        const struct lx_tensor *made = &g->tensors[g->ops[i].output];
        text_format(&t, "%s%s=%s%s", i ? " " : "", g->ops[i].name, made->name,
                    made->role == LX_OUTPUT ? "!" : "");
    }
    assert_string_equal(t.at ? t.at : "", names);
    text_free(&t);
    lx_graph_free(g);
}

#define T          "tensor<64x128xf32>"
#define ONE(op, a) "\"ttir." op "\"(" a ") : (" T ") -> " T

static void test_locations_and_numbers(void **state)
{
    (void)state;
    assert_names("func.func @f(%x: " T ") -> " T " {\n  %0 = " ONE("exp", "%x") " loc(\"up\")\n  %1 = " ONE(
                     "neg", "%0") "\n  %last = " ONE("abs", "%1") "\n  return %last : " T "\n}",
                 "up=up neg%1=%1 last=last!");
    /* One location for several: they are kept apart, in order. */
    assert_names("func.func @f(%x: " T ") -> " T " {\n  %0 = " ONE("exp", "%x") " loc(\"a\")\n  %1 = " ONE(
                     "neg", "%0") " loc(\"a\")\n  %2 = " ONE("abs", "%1") " loc(\"a\")\n  return %2 : " T
                                                                          "\n}",
                 "a=a#2 a#2=a#3 a#3=a!");
}

static void test_expansions(void **state)
{
    (void)state;
    assert_names("func.func @f(%x: " T ") -> " T
                 " {\n  %0 = \"ttir.softmax\"(%x) <{dimension = 1 : si32}> : (" T ") -> " T
                 "\n  return %0 : " T "\n}",
                 "softmax%0/max=%0/max softmax%0/sub=%0/sub softmax%0/exp=%0/exp softmax%0/sum=%0/sum "
                 "softmax%0=%0!");
}

/* A view that is returned is a copy with its own name, and so is what a cache had before it was written. */
static void test_views(void **state)
{
    (void)state;
    assert_names("func.func @f(%x: " T ") -> tensor<128x64xf32> {\n  %e = " ONE(
                     "exp", "%x") "\n  %t = \"ttir.permute\"(%e) <{permutation = array<i64: 1, 0>}> : (" T
                                  ") -> tensor<128x64xf32>\n  return %t : tensor<128x64xf32>\n}",
                 "e=e t=t!");
    assert_names("func.func @f(%x: " T ") -> tensor<8192xf32> {\n  %e = " ONE(
                     "exp", "%x") "\n  %t = \"ttir.reshape\"(%e) <{shape = [8192 : i32]}> : (" T
                                  ") -> tensor<8192xf32>\n  return %t : tensor<8192xf32>\n}",
                 "e=t!");
}

static void test_inlined(void **state)
{
    (void)state;
    assert_names(
        "HloModule m\nf {\n  x = f32[64,128]{1,0} parameter(0)\n  e = f32[64,128]{1,0} exponential(x)\n"
        "  ROOT y = f32[64,128]{1,0} negate(e)\n}\nENTRY main {\n  x = f32[64,128]{1,0} parameter(0)\n"
        "  a = f32[64,128]{1,0} call(x), to_apply=f\n  ROOT b = f32[64,128]{1,0} call(a), to_apply=f\n}\n",
        "a/e=a/e a/y=a/y b/e=b/e b/y=b!");
}

/* Trips of a loop have numbers, the same for all that a trip does. */
static void test_trips(void **state)
{
    (void)state;
    assert_names(
        "HloModule m\nc {\n  p = (s32[], f32[64,128]{1,0}) parameter(0)\n  i = s32[] get-tuple-element(p), "
        "index=0\n  n = s32[] constant(2)\n  ROOT l = pred[] compare(i, n), direction=LT\n}\n"
        "b {\n  p = (s32[], f32[64,128]{1,0}) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
        "  o = s32[] constant(1)\n  j = s32[] add(i, o)\n  v = f32[64,128]{1,0} get-tuple-element(p), "
        "index=1\n  e = f32[64,128]{1,0} exponential(v)\n  g = f32[64,128]{1,0} negate(e)\n"
        "  ROOT t = (s32[], f32[64,128]{1,0}) tuple(j, g)\n}\n"
        "ENTRY main {\n  x = f32[64,128]{1,0} parameter(0)\n  z = s32[] constant(0)\n"
        "  s = (s32[], f32[64,128]{1,0}) tuple(z, x)\n  w = (s32[], f32[64,128]{1,0}) while(s), "
        "condition=c, body=b\n  ROOT r = f32[64,128]{1,0} get-tuple-element(w), index=1\n}\n",
        "w/e=w/e w/g=w/g w/e#2=w/e#2 w/g#2=r!");
}

/* The report of a model has these words. */
static void assert_report(const char *model, const char *const *words, int tensors)
{
    static const struct lx_import_options plain = {.branch = -1};
    lx_status st = {0};
    char *report = NULL;
    const struct lx_graph *g = lx_model_import("here", model, strlen(model), &plain, &report, &st);
    if (!g) print_error("%d:%d: %s\n", st.line, st.column, st.text);
    assert_non_null(g);
    assert_int_equal(g->tensor_count, tensors);
    for (; *words; words++) {
        if (!strstr(report, *words)) print_error("no %s in %s\n", *words, report);
        assert_non_null(strstr(report, *words));
    }
    mem_free(report);
    lx_graph_free(g);
}

#define H "f32[64,128]{1,0}"

/* A copy that is returned is one; an argument that is returned unchanged is a tensor and a note. */
static void test_returned(void **state)
{
    (void)state;
    assert_names("HloModule m\nENTRY main {\n  x = " H " parameter(0)\n  ROOT r = " H " copy(x)\n}\n",
                 "r=r!");
    assert_report("HloModule m\nENTRY main {\n  x = " H " parameter(0)\n  y = " H " negate(x)\n  ROOT t = (" H
                  ", " H ", " H ") tuple(x, y, y)\n}\n",
                  (const char *const[]){"\"arguments returned unchanged\": {\"x\": 1}",
                                        "\"outputs returned twice\": {\"y\": 1}", NULL},
                  2);
    assert_report("func.func @f(%x: " T ") -> " T " {\n  return %x : " T "\n}",
                  (const char *const[]){"\"arguments returned unchanged\": {\"x\": 1}", NULL}, 1);
}

/* Roles in the report are those in the pattern, whatever the rule said at first. */
static void test_reported_roles(void **state)
{
    (void)state;
    static const char alias[] =
        "HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }\nENTRY main {\n  s = " H
        " parameter(0)\n  x = " H " parameter(1)\n";
    static const struct {
        const char *ops, *words[3];
        int tensors;
    } rows[] = {
        /* Element by element in its place. */
        {"  ROOT n = " H " add(s, x)\n}\n",
         {"\"arguments\": {\"state\": 1, \"input\": 1}", "\"alias\": 1"},
         2},
        {"  ROOT n = " H " tanh(x)\n}\n", {"\"arguments\": {\"state\": 1, \"input\": 1}", "\"alias\": 1"}, 2},
        /* Read twice before it is written. */
        {"  a = " H " add(s, x)\n  ROOT n = " H " multiply(a, s)\n}\n",
         {"\"arguments\": {\"state\": 1, \"input\": 1}", "\"alias\": 1"},
         3},
        /* Each element of the new one needs others of the old one: copied in the end. */
        {"  ROOT n = " H " reverse(s), dimensions={0}\n}\n",
         {"\"arguments\": {\"state\": 1, \"input\": 1}", "\"alias\": 1"},
         2},
        /* Returned as it was too: the new one is another tensor. */
        {"  a = " H " add(s, x)\n  ROOT n = (" H ", " H ") tuple(a, s)\n}\n",
         {"\"arguments\": {\"input\": 2}", "\"not written in place\": 1"},
         3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[600];
        snprintf(text, sizeof text, "%s%s", alias, rows[i].ops);
        assert_report(text, rows[i].words, rows[i].tensors);
    }
    assert_report("func.func @f(%c: tensor<2x3x8x64xbf16>, %n: tensor<1x3x2x64xbf16>, %p: tensor<1xi32>) -> "
                  "tensor<2x3x8x64xbf16> {\n  \"ttir.update_cache\"(%c, %n, %p) <{batch_offset = 0 : i32}> : "
                  "(tensor<2x3x8x64xbf16>, tensor<1x3x2x64xbf16>, tensor<1xi32>) -> ()\n  return %c : "
                  "tensor<2x3x8x64xbf16>\n}",
                  (const char *const[]){"\"arguments\": {\"state\": 1, \"input\": 2}", "\"written\": 1",
                                        "\"states returned\": {\"c\": 1}", NULL},
                  3);
}

/* Branches and loops are told of one by one; copies of views say why. */
static void test_reported_choices(void **state)
{
    (void)state;
    assert_report("HloModule m\nt {\n  x = " H " parameter(0)\n  ROOT y = " H
                  " exponential(x)\n}\nf {\n  x = " H " parameter(0)\n  ROOT y = " H
                  " tanh(x)\n}\nENTRY main {\n  x = " H " parameter(0)\n  k = s32[] constant(1)\n  a = " H
                  " conditional(k, x, x), branch_computations={t, f}\n  ROOT b = " H
                  " conditional(k, a, a), branch_computations={t, f}\n}\n",
                  (const char *const[]){"\"branches known\": {\"a\": 1, \"b\": 1}", NULL}, 3);
    assert_report("HloModule m\nENTRY main {\n  x = f32[64]{0} parameter(0)\n  k = " H
                  " parameter(1)\n  b = " H
                  " broadcast(x), dimensions={0}\n  ROOT d = f32[64,64]{1,0} dot(b, k), "
                  "lhs_contracting_dims={1}, rhs_contracting_dims={1}\n}\n",
                  (const char *const[]){"\"views copied\": {\"repeats\": 1}", NULL}, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_locations_and_numbers),
        cmocka_unit_test(test_expansions),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_inlined),
        cmocka_unit_test(test_trips),
        cmocka_unit_test(test_returned),
        cmocka_unit_test(test_reported_roles),
        cmocka_unit_test(test_reported_choices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
