/* Forms in which other people's files come: dialects of MLIR by the names they had, definitions that are no functions; instructions of HLO over several lines or side by side. Each text is read, and what
 * it has is counted. */
#include "import/model_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define T "tensor<4x8xf32>"

struct form {
    const char *text;
    int ops, arguments; /* of the entry */
};

static const struct form forms[] = {
    /* the dialect when it was called tt; devices and meshes; rooms for results */
    {"#layout = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #system>>\n"
     "module @jit attributes {tt.meshes = #tt.meshes<[<\"mesh\" = 1x1>]>} {\n tt.device_module {\n"
     "  builtin.module @jit {\n"
     "   tt.device @d = <workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0)[s0] -> (0, d0 "
     "floordiv s0), "
     "chipIds = [0]>\n"
     "   sdy.mesh @mesh = <[\"model\"=1, \"batch\"=1]>\n"
     "   func.func private @ext(" T ") -> " T "\n"
     "   func.func public @\"my main\"(%arg0: " T " {tt.argument_type = #tt.argument_type<parameter>}) -> (" T
     " {jax.result_info = \"\"}) {\n"
     "    %0 = ttir.empty() : " T "\n"
     "    %1 = \"ttir.relu\"(%arg0, %0) : (" T ", " T ") -> " T "\n"
     "    return %1 : " T "\n   }\n  }\n }\n}\n",
     2, 1},
    /* an instruction over several lines */
    {"HloModule m\nENTRY e (x: f32[4,8]) -> f32[4,8] {\n  %x = f32[4,8]{1,0}\n    parameter(0),\n"
     "    metadata={op_name=\"x\"\n source_line=3}\n"
     "  ROOT %r = f32[4,8]{1,0} add(\n %x, %x\n ), metadata={op_name=\"r, s = t\"},\n"
     "    backend_config=\"{\\\"x\\\": [1, 2], \\\"y\\\": \\\"}\\\"}\"\n}\n",
     2, 1},
    /* several in a line, with attributes between them */
    {"HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1), metadata={op_name=\"b\"} ROOT r = "
     "f32[] add(a, "
     "b), metadata={op_name=\"x y\"} }\n"
     "ENTRY e { x = f32[8] parameter(0) z = f32[] constant(0) ROOT s = f32[] reduce(x, z), dimensions={0}, "
     "to_apply=add }\n",
     3, 1},
    /* layouts with tiles and memory spaces, numbers that are none, threads of computations */
    {"HloModule m, is_scheduled=true\n"
     "%c (p: f32[16,256]) -> f32[16,256] {\n  ROOT %p = f32[16,256]{1,0:T(8,128)(2,1)S(1)} parameter(0)\n}, "
     "execution_thread=\"host\"\n"
     "ENTRY %e (p: f32[16,256]) -> f32[16,256] {\n"
     "  %p = f32[16,256]{1,0:T(8,128)} parameter(0), sharding={devices=[4,1]<=[4]}\n"
     "  %n = f32[]{:T(128)} constant(-nan(0x7fc01))\n"
     "  %b = f32[16,256]{1,0:T(8,128)S(1)} broadcast(%n), dimensions={}\n"
     "  ROOT %s = f32[16,256]{1,0:T(8,128)} add(%p, %b)\n}\n",
     4, 1},
};

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        lx_status st = {0};
        struct lx_model *m = lx_model_read("here", forms[i].text, strlen(forms[i].text), NULL, &st);
        if (!m) fail_msg("form %zu: %d:%d: %s", i, st.line, st.column, st.text);
        assert_int_equal(m->bodies.at[m->entry].op_count, forms[i].ops);
        assert_int_equal(m->bodies.at[m->entry].argument_count, forms[i].arguments);
        lx_model_free(m);
    }
}

/* Attributes of arguments are those of today, wherever they stood. */
static void test_attributes_of_arguments(void **state)
{
    lx_status st = {0};
    (void)state;
    struct lx_model *m = lx_model_read("here", forms[0].text, strlen(forms[0].text), NULL, &st);
    const struct model_body *b = &m->bodies.at[m->entry];
    assert_string_equal(b->name, "my main");
    assert_non_null(model_attr_find(&m->values.at[b->arguments[0]].attrs, "ttcore.argument_type"));
    assert_non_null(model_attr_find(&m->attrs, "ttcore.meshes"));
    lx_model_free(m);
}

/* Cut anywhere, doubled anywhere: a model or an error with a place, never more. */
static void test_damaged_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (size_t n = 0; n < strlen(forms[i].text); n += 3) {
            char text[4000];
            lx_status st = {0};
            size_t all = strlen(forms[i].text);
            memcpy(text, forms[i].text, all + 1);
            lx_model_free(lx_model_read("here", text, n, NULL, &st));
            memmove(text + n + 7, text + n, all - n);
            lx_model_free(lx_model_read("here", text, all + 7, NULL, &st));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms),
                                       cmocka_unit_test(test_attributes_of_arguments),
                                       cmocka_unit_test(test_damaged_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
