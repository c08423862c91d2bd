/* The counters of a run by hand: what the cores touch in their scratchpads, stick by stick, the sums that go to and
 * fro on the reduce ring, and the flops. */
#include "support/device_plans.h"

static struct lx_plan *planned(const char *text, int64_t cores, bool no_ring)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("counters.json", text, strlen(text), &st);
    if (!g) fail_msg("%s", st.text);
    return plan_graph(with_cores(g, cores), "bestfit", &(struct lx_passes){.no_ring = no_ring});
}

static struct lx_run_result *run(const struct lx_plan *p)
{
    struct lx_device_options how = {.threads = 1};
    lx_status st = {0};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    if (!r) fail_msg("%s", st.text);
    if (!r->ok) fail_msg("%s", what_is_wrong(r));
    return r;
}

/* y = exp(x) of 64 sticks is on chip; the slice reads 16 of its 64 rows. */
static void a_slice_reads_what_it_takes(void **state)
{
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"slice\", \"tensors\": ["
        "{\"name\": \"x\", \"shape\": [64, 64], \"role\": \"input\"}, {\"name\": \"y\", \"shape\": [64, 64]},"
        "{\"name\": \"z\", \"shape\": [16, 64], \"role\": \"output\"}],"
        "\"ops\": [{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": \"y\"},"
        "{\"name\": \"s\", \"kind\": \"slice\", \"inputs\": [\"y\"], \"output\": \"z\", \"offset\": [8, "
        "0]}]}";
    (void)state;
    struct lx_plan *p = planned(text, 1, false);
    struct lx_run_result *r = run(p);
    assert_int_equal(r->ops[0].counted.lx_written, 64 * 128);
    assert_int_equal(r->ops[1].counted.lx_read, 16 * 128);
    assert_int_equal(p->traffic[1].lx_read, 16 * 128);
    assert_int_equal(r->ops[0].counted.flops, 64 * 64);
    assert_int_equal(r->ops[1].counted.flops, 0);
    lx_run_result_free(r);
    lx_plan_free(p);
}

/* c = a b over 4 slices of K: three parts of 8 KiB travel. On chip the total goes back to those three; to HBM one core
 * writes it. */
static void totals_go_back_on_the_ring(void **state)
{
    static const char text[] = "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"sums\", \"tensors\": ["
                               "{\"name\": \"a\", \"shape\": [64, 256], \"role\": \"input\"}, "
                               "{\"name\": \"b\", \"shape\": [256, 64], \"role\": \"weight\"}, {\"name\": "
                               "\"c\", \"shape\": [64, 64]},"
                               "{\"name\": \"d\", \"shape\": [64, 64], \"role\": \"output\"}],"
                               "\"ops\": [{\"name\": \"m\", \"kind\": \"matmul\", \"einsum\": \"mk,kn->mn\", "
                               "\"inputs\": [\"a\", \"b\"], "
                               "\"output\": \"c\", \"hints\": {\"k\": 4}},"
                               "{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"c\"], \"output\": \"d\", "
                               "\"hints\": {\"a\": 4}}]}";
    (void)state;
    for (int on_chip = 0; on_chip < 2; on_chip++) {
        struct lx_plan *p = planned(text, 4, !on_chip);
        struct lx_run_result *r = run(p);
        assert_true((lx_plan_place(p, 0, 2) >= 0) == on_chip);
        assert_int_equal(r->ops[0].counted.reduce_ring, (on_chip ? 6 : 3) * 8192);
        assert_int_equal(r->ops[0].counted.lx_written, on_chip ? 4 * 8192 : 0);
        assert_int_equal(r->ops[0].counted.flops, 2 * 64 * 64 * 256);
        lx_run_result_free(r);
        lx_plan_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_slice_reads_what_it_takes),
                                       cmocka_unit_test(totals_go_back_on_the_ring)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
