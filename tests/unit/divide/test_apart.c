/* Dimensions that distribution leaves whole although they could be cut: slices of a joined dimension, or of rows that are
 * padded for a product, are no parts of some operand on chip, and what passes through the op goes through HBM then. Where
 * an op is large and has no other work for the cores, it is cut all the same. */
#include "support/device_plans.h"

static struct lx_plan *plan_of(const char *pattern, bool spread)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("pattern", pattern, strlen(pattern), &st);
    struct lx_plan_options how = {.solver = lx_solver_find("greedy")};
    how.passes.tile = LX_TILE_NONE;
    if (!g) fail_msg("%s", st.text);
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p || !lx_plan_check(p, &st)) fail_msg("%s", st.text);
    lx_graph_free(g);
    assert_true((p->divisions->at[2].cores_used > 2) == spread);
    return p;
}

/* A cache of %d places behind which another comes; the product reads it as its kernel, the graph gives it back. */
#define JOINED(past, all, role)                                                                              \
    "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"cache\", \"tensors\": ["                             \
    "{\"name\": \"x\", \"shape\": [2, 64], \"role\": \"input\"},"                                            \
    "{\"name\": \"p\", \"shape\": [2, " #past ", 64], \"role\": \"input\"},"                                 \
    "{\"name\": \"old\", \"shape\": [2, " #past ", 64]}, {\"name\": \"new\", \"shape\": [2, 64]},"           \
    "{\"name\": \"w\", \"shape\": [2, " #all "], \"role\": \"input\"},"                                      \
    "{\"name\": \"all\", \"shape\": [2, " #all ", 64], \"role\": \"" role "\"},"                             \
    "{\"name\": \"y\", \"shape\": [2, 64], \"role\": \"output\"}], \"ops\": ["                               \
    "{\"name\": \"new\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": \"new\"},"                      \
    "{\"name\": \"old\", \"kind\": \"exp\", \"inputs\": [\"p\"], \"output\": \"old\"},"                      \
    "{\"name\": \"join\", \"kind\": \"concat\", \"einsum\": \"abc,ac->abc\", \"axis\": 1, "                  \
    "\"inputs\": [\"old\", \"new\"], \"output\": \"all\"},"                                                  \
    "{\"name\": \"sum\", \"kind\": \"matmul\", \"einsum\": \"ab,abc->ac\", \"inputs\": [\"w\", \"all\"], "   \
    "\"output\": \"y\"}]}"

static int64_t compulsory(const struct lx_plan *p)
{
    lx_status st = {0};
    struct lx_check_report r;
    if (!lx_plan_check_report(p, &r, &st)) fail_msg("%s", st.text);
    return r.compulsory_bytes;
}

/* Rows of 16, padded to 64: join is cut along neither, so that nothing but given tensors and results crosses. */
static void small_ones_stay_whole(void **state)
{
    (void)state;
    struct lx_plan *p = plan_of(JOINED(15, 16, "intermediate"), false);
    assert_int_equal(p->figures.hbm_bytes, compulsory(p));
    lx_plan_free(p);
}

/* A result of 16 rows leaves as 16 rows; what the product reads is a copy with 64. */
static void results_leave_unpadded(void **state)
{
    (void)state;
    struct lx_plan *p = plan_of(JOINED(15, 16, "output"), false);
    int64_t rows = 2 * 16 * 128; /* of 64 fp16, a stick each */
    assert_int_equal(p->figures.hbm_bytes, 2 * 128 + 2 * 15 * 128 + 2 * 128 + 2 * 128 + rows);
    lx_plan_free(p);
}

/* Four megabytes: all cores share the joined dimension, as nothing else is there to be cut. */
static void large_ones_are_cut(void **state)
{
    (void)state;
    lx_plan_free(plan_of(JOINED(16383, 16384, "intermediate"), true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ones_stay_whole),
        cmocka_unit_test(results_leave_unpadded),
        cmocka_unit_test(large_ones_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
