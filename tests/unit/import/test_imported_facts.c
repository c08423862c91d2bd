/* What a plan says of the model that it was made from: ops of the file, copies, and what the file's own arguments
 * and results must cross once; also when it is read again. */
#include "unstable.h"
#include "base/memory.h"
#include "import/model_import.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct lx_graph *imported(const char *text, char **report)
{
    struct lx_import_options options = {.branch = -1};
    lx_status st = {0};
    const struct lx_graph *g = lx_model_import("m.hlo", text, strlen(text), &options, report, &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

/* Of the table 8 rows of 64 are read; the indices, x and y cross whole, and once. */
static const char rows_of_a_table[] =
    "HloModule m\n"
    "ENTRY main {\n"
    "  table = f32[1000,64] parameter(0)\n"
    "  rows = s32[8] parameter(1)\n"
    "  x = f32[64,32] parameter(2)\n"
    "  g = f32[8,64] gather(table, rows), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
    "index_vector_dim=1, slice_sizes={1,64}\n"
    "  t = f32[8,32] dot(g, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  n = f32[8,32] negate(t)\n"
    "  ROOT y = f32[8,32] add(n, t)\n"
    "}\n";
enum { MUST = 8 * 64 * 4 + 8 * 4 + 64 * 32 * 4 + 8 * 32 * 4 };

static void the_file_must_cross_what_it_reads(void **state)
{
    (void)state;
    char *report;
    const struct lx_graph *g = imported(rows_of_a_table, &report);
    assert_int_equal(g->imported.ops, 4);
    assert_int_equal(g->imported.mapped, 4);
    assert_int_equal(g->imported.copies, 0);
    assert_int_equal(g->imported.must_bytes, MUST);
    assert_non_null(strstr(report, "\"bytes that must cross\": 11296"));
    mem_free(report);
    lx_graph_free(g);
}

static void plan_files_keep_it(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("greedy")};
    const struct lx_graph *g = imported(rows_of_a_table, NULL);
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    size_t length;
    lx_graph_free(g);
    if (!p) fail_msg("%s", st.text);
    assert_true(p->figures.hbm_bytes >= p->imported.must_bytes);
    char *text = lx_plan_to_json(p, &length);
    struct lx_plan *again = lx_plan_of_text("m.plan.json", text, length, &st);
    if (!again) fail_msg("%s", st.text);
    assert_memory_equal(&again->imported, &p->imported, sizeof p->imported);
    assert_int_equal(again->imported.must_bytes, MUST);
    mem_free(text);
    lx_plan_free(again);
    lx_plan_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_must_cross_what_it_reads),
        cmocka_unit_test(plan_files_keep_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
