/* Bytes that programs ask for, those of DRAM in ncu's words, and the plan of a solver's answer. */
#include "support/device_plans.h"
#include "gpu/machines.h"
#include "plan/question.h"

static const struct lx_graph *on_h200(const struct lx_graph *g)
{
    struct lx_device device;
    assert_true(lx_device_preset("h200", &device));
    device.cores = 12; /* each is a thread here */
    const struct lx_graph *here = lx_graph_with_device(g, &device);
    lx_graph_free(g);
    return here;
}

static struct lx_run_result *run_on_host(const struct lx_plan *p, struct lx_measured *measured)
{
    lx_status st = {0};
    struct lx_program_options how = {.machine = "host", .launches = 1};
    struct lx_run_result *r = lx_program_run(p, &how, measured, &st);
    if (!r) fail_msg("%s", st.text);
    return r;
}

/* One op that reads a tensor of HBM and writes another asks for these bytes, no more. */
static void a_copy_asks_for_what_is_planned(void **state)
{
    (void)state;
    static const char pattern[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"neg\", \"device\": {\"preset\": \"h200\"},\n"
        " \"tensors\": [{\"name\": \"x\", \"shape\": [512, 1024], \"dtype\": \"fp16\", \"role\": "
        "\"input\"},\n"
        "  {\"name\": \"y\", \"shape\": [512, 1024], \"dtype\": \"fp16\", \"role\": \"output\"}],\n"
        " \"ops\": [{\"name\": \"y\", \"kind\": \"neg\", \"inputs\": [\"x\"], \"output\": \"y\", "
        "\"einsum\": \"ab->ab\"}]}";
    lx_status st = {0};
    struct lx_measured m;
    const struct lx_graph *g = lx_graph_of_text("neg.json", pattern, sizeof pattern - 1, &st);
    if (!g) fail_msg("%s", st.text);
    struct lx_plan *p = plan_graph(g, "bestfit", &(struct lx_passes){0});
    struct lx_run_result *r = run_on_host(p, &m);
    assert_true(r->ok);
    assert_int_equal(m.asked_bytes, 2 * 512 * 1024 * 2);
    assert_int_equal(p->figures.hbm_bytes, m.asked_bytes);
    assert_int_equal(r->ops[0].asked_bytes, m.asked_bytes);
    lx_run_result_free(r);
    lx_plan_free(p);
}

/* What cores share is asked for by each of them, and ops add up to the whole. */
static void cores_ask_for_no_less_than_is_planned(void **state)
{
    (void)state;
    struct lx_measured m;
    struct lx_plan *p =
        plan_graph(on_h200(device_test_graph("graphs/mlp_small.json")), "bestfit", &(struct lx_passes){0});
    struct lx_run_result *r = run_on_host(p, &m);
    int64_t sum = 0;
    for (int32_t o = 0; o < r->op_count; o++) sum += r->ops[o].asked_bytes;
    assert_true(r->ok && m.asked_bytes >= p->figures.hbm_bytes);
    assert_int_equal(sum, m.asked_bytes);
    lx_run_result_free(r);
    lx_plan_free(p);
}

static void bytes_of_dram_are_read(void **state)
{
    (void)state;
    static const char said[] = "==PROF== Connected to process 1\n\"ID\",\"Process ID\",\"Metric "
                               "Name\",\"Metric Unit\",\"Metric Value\"\n"
                               "\"0\",\"1\",\"dram__bytes_read.sum\",\"byte\",\"1,234,567\"\n"
                               "\"0\",\"1\",\"dram__bytes_write.sum\",\"byte\",\"89.00\"\n";
    struct lx_measured m = {0};
    lx_status st = {0};
    assert_true(dram_read_said(said, &m, &st));
    assert_int_equal(m.dram_read, 1234567);
    assert_int_equal(m.dram_written, 89);
    assert_false(dram_read_said("==ERROR== ERR_NVGPUCTRPERM - no permission\n", &m, &st));
    assert_non_null(strstr(st.text, "ERR_NVGPUCTRPERM"));
}

/* The plan of an answer has the bytes and the times that the question predicts for it, and a program. */
static void an_answer_becomes_a_plan(void **state)
{
    (void)state;
    lx_status st = {0};
    const struct lx_graph *g = on_h200(device_test_graph("graphs/mlp_small.json"));
    struct lx_question *q = lx_problem_of(g, &(struct lx_plan_options){0}, &st);
    if (!q) fail_msg("%s", st.text);
    const struct lx_solver *greedy = lx_solver_find("greedy");
    int64_t *address = mem_zeroed((size_t)q->problem.count + 1, sizeof *address);
    struct lx_answer answer = {.address = address};
    assert_true(lx_problem_solve(&q->problem, greedy, &(struct lx_run){0}, &answer, &st));
    struct lx_plan *p = lx_question_plan(q, address, greedy, &st);
    if (!p) fail_msg("%s", st.text);
    double device_us, us;
    assert_true(lx_question_clocks(q, address, &device_us, &us));
    assert_int_equal(p->figures.hbm_bytes, q->base_bytes + answer.objective);
    assert_true(p->figures.end_to_end_us > 0.9 * us && p->figures.end_to_end_us < 1.1 * us);
    struct lx_measured m;
    lx_run_result_free(run_on_host(p, &m));
    assert_int_equal(m.outputs_lost + m.outputs_differing, 0);
    lx_plan_free(p);
    lx_question_free(q);
    lx_graph_free(g);
    mem_free(address);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_asks_for_what_is_planned),
        cmocka_unit_test(cores_ask_for_no_less_than_is_planned),
        cmocka_unit_test(bytes_of_dram_are_read),
        cmocka_unit_test(an_answer_becomes_a_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
