/* Weights that are stored with common exponents: 8.5 and 4.5 bits an element in patterns, layouts, plans and what the
 * checker counts; only where products read them, or rows of them are picked; planned, not run; and of a model where
 * that is asked for. */
#include "base/text.h"
#include "base/memory.h"
#include "import/model_import.h"
#include "unstable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct lx_graph *graph_of(const char *type, const char *role, const char *op, lx_status *st)
{
    struct text t = {0};
    text_format(&t,
                "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": ["
                "{\"name\": \"x\", \"dtype\": \"bf16\", \"role\": \"input\", \"shape\": [64, 256]}, "
                "{\"name\": \"w\", \"dtype\": \"%s\", \"role\": \"%s\", \"shape\": [256, 512]}, "
                "{\"name\": \"i\", \"dtype\": \"int32\", \"role\": \"input\", \"shape\": [64]}, "
                "{\"name\": \"y\", \"dtype\": \"bf16\", \"role\": \"output\", \"shape\": [64, 512]}], "
                "\"ops\": [{\"name\": \"o\", %s, \"output\": \"y\"}]}",
                type, role, op);
    const struct lx_graph *g = lx_graph_of_text("t", t.at, t.length, st);
    text_free(&t);
    return g;
}

static const char
    product[] = "\"kind\": \"matmul\", \"inputs\": [\"x\", \"w\"], \"einsum\": \"mk,kn->mn\"",
    rows[] = "\"kind\": \"gather\", \"inputs\": [\"w\", \"i\"], \"axis\": 0, \"einsum\": \"vn,m->mn\"",
    sum[] = "\"kind\": \"sum\", \"inputs\": [\"w\"], \"einsum\": \"kn->n\"";

static struct lx_plan *plan_of(const struct lx_graph *g)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p || !lx_plan_check(p, &st)) fail_msg("%s", st.text);
    return p;
}

static int64_t traffic_of(const char *type, const char *op)
{
    lx_status st = {0};
    const struct lx_graph *g = graph_of(type, "weight", op, &st);
    if (!g) fail_msg("%s", st.text);
    struct lx_plan *p = plan_of(g);
    int64_t bytes = p->figures.hbm_bytes;
    lx_plan_free(p);
    lx_graph_free(g);
    return bytes;
}

static void bits_are_counted(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        int sixteenths; /* of a bit an element */
    } types[] = {{"bf16", 256}, {"bfp8", 136}, {"bfp4", 72}};
    for (int i = 0; i < 3; i++) {
        lx_status st = {0};
        const struct lx_graph *g = graph_of(types[i].type, "weight", product, &st);
        if (!g) fail_msg("%s", st.text);
        assert_int_equal(g->tensors[1].bytes, 256 * 512 / 16 / 8 * types[i].sixteenths);
        int64_t activations = 2 * 64 * (256 + 512);
        assert_int_equal(traffic_of(types[i].type, product), activations + g->tensors[1].bytes);
        int64_t picked = 64 * 512 / 16 / 8 * types[i].sixteenths;
        assert_int_equal(traffic_of(types[i].type, rows) - traffic_of("bf16", rows), picked - 64 * 512 * 2);
        lx_graph_free(g);
    }
}

static void others_do_not_have_them(void **state)
{
    (void)state;
    static const struct {
        const char *role, *op;
    } wrong[] = {{"weight", sum}, {"input", product}, {"input", rows}};
    for (int i = 0; i < 3; i++) {
        lx_status st = {0};
        assert_null(graph_of("bfp8", wrong[i].role, wrong[i].op, &st));
        assert_int_equal(st.code, LX_E_SCHEMA);
        assert_non_null(strstr(st.text, "bfp8"));
    }
}

static void they_are_not_run(void **state)
{
    (void)state;
    lx_status st = {0};
    const struct lx_graph *g = graph_of("bfp4", "weight", product, &st);
    struct lx_plan *p = plan_of(g);
    struct lx_device_options how = {.verify = LX_VERIFY_FULL};
    assert_null(lx_device_run(p, &how, &st));
    assert_int_equal(st.code, LX_E_UNSUPPORTED);
    assert_non_null(strstr(st.text, "run it as bf16"));
    lx_plan_free(p);
    lx_graph_free(g);
}

static const char model[] =
    "func.func @main(%arg0: tensor<64x256xbf16> {ttcore.argument_type = #ttcore.argument_type<input>}, "
    "%arg1: tensor<256x512xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>, "
    "ttcore.weight_dtype = "
    "\"bfp_bf8\"}, "
    "%arg2: tensor<512x64xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>, "
    "ttcore.weight_dtype = "
    "\"bfp_bf4\"}, "
    "%arg3: tensor<64x512xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>, "
    "ttcore.weight_dtype = "
    "\"bfp_bf8\"}) -> tensor<64x64xbf16> {\n"
    "%0 = \"ttir.matmul\"(%arg0, %arg1) : (tensor<64x256xbf16>, tensor<256x512xbf16>) -> "
    "tensor<64x512xbf16>\n"
    "%1 = \"ttir.add\"(%0, %arg3) : (tensor<64x512xbf16>, tensor<64x512xbf16>) -> tensor<64x512xbf16>\n"
    "%2 = \"ttir.matmul\"(%1, %arg2) : (tensor<64x512xbf16>, tensor<512x64xbf16>) -> tensor<64x64xbf16>\n"
    "return %2 : tensor<64x64xbf16>\n}\n";

/* What only products read is stored so; a bias is not. Without the option nothing is. */
static void models_have_them_if_asked(void **state)
{
    (void)state;
    static const enum lx_dtype want[2][4] = {{LX_BF16, LX_BF16, LX_BF16, LX_BF16},
                                             {LX_BF16, LX_BFP8, LX_BFP4, LX_BF16}};
    static const char *const names[] = {"arg0", "arg1", "arg2", "arg3"};
    for (int asked = 0; asked < 2; asked++) {
        lx_status st = {0};
        struct lx_import_options how = {.branch = -1, .weight_dtype = asked};
        char *report = NULL;
        const struct lx_graph *g = lx_model_import("m.mlir", model, strlen(model), &how, &report, &st);
        if (!g) fail_msg("%s", st.text);
        for (int32_t t = 0; t < g->tensor_count; t++)
            for (int i = 0; i < 4; i++)
                if (strstr(g->tensors[t].name, names[i]))
                    assert_int_equal(g->tensors[t].dtype, want[asked][i]);
        assert_true(!strstr(report, "weight types") == !asked);
        lx_plan_free(plan_of(g));
        mem_free(report);
        lx_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_counted),
        cmocka_unit_test(others_do_not_have_them),
        cmocka_unit_test(they_are_not_run),
        cmocka_unit_test(models_have_them_if_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
