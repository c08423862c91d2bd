/* Calibration without a GPU: programs that measure rates run on the host, a machine with a made-up clock gives
 * the rates that it was made with, and the fit finds a table again by the times that its clock predicts. */
#include "support/device_plans.h"
#include "explain/op_waits.h"
#include "gpu/rate_programs.h"
#include "support/sampled.h"

static void programs_that_measure_rates_run(void **state)
{
    (void)state;
    for (int i = 0; i < RATE_PROGRAMS; i += SAMPLED ? 2 : 1) {
        const struct rate_program *r = &rate_programs[i];
        const int64_t cores = 4;
        const int times = 2;
        lx_status st = {0};
        struct text program = {0};
        struct emit_facts facts;
        rate_program_write(r, cores, EMIT_HOST, &program, &facts);
        void *machine = machine_kind_host.open(&program, &facts, &st);
        if (!machine) fail_msg("%s: %s", r->what, st.text);
        char *hbm = mem_zeroed((size_t)facts.hbm_bytes, 1);
        memcpy(hbm, &times, sizeof times);
        if (!machine_kind_host.run(machine, hbm, NULL, &st)) fail_msg("%s: %s", r->what, st.text);
        machine_kind_host.close(machine);
        text_free(&program);
        rate_program_write(r, cores, EMIT_CUDA, &program, &facts);
        assert_non_null(strstr(program.at, "KERNEL plan("));
        text_free(&program);
        mem_free(hbm);
    }
}

/* A launch takes 2 us, and each repetition 1 us. */
static void *clockwork_open(const struct text *program, const struct emit_facts *facts, lx_status *st)
{
    static char any;
    (void)program, (void)facts, (void)st;
    return &any;
}

static bool clockwork_time(void *machine, const void *hbm, int launches, struct lx_measured *out,
                           lx_status *st)
{
    int times;
    (void)machine, (void)st;
    memcpy(&times, hbm, sizeof times);
    out->launches = launches;
    out->median_us = 2 + times;
    return true;
}

static void clockwork_close(void *machine)
{
    (void)machine;
}

static double number_of(const struct lx_calibration *c, enum cost_constant_id id)
{
    assert_non_null(strstr(c->device.own_costs.number[id].origin, "measured on a machine: "));
    return c->device.own_costs.number[id].value;
}

static void rates_are_what_the_clock_says(void **state)
{
    (void)state;
    const struct machine_kind clockwork = {
        .open = clockwork_open, .time = clockwork_time, .close = clockwork_close};
    const struct machine_room room = {.cores = 100, .lx_bytes = 200000};
    struct lx_calibration c = {.machine = "a machine"};
    lx_status st = {0};
    assert_true(lx_device_preset("h200", &c.device));
    c.device.own_costs = *lx_device_costs(&c.device);
    assert_true(calibrate_rates(&clockwork, &room, &(struct lx_calibrate_options){0}, &c, &st));
    assert_int_equal(c.device.cores, 100);
    assert_int_equal(c.device.lx_bytes, 200000);
    assert_int_equal(c.rate_count, RATE_PROGRAMS - 1); /* 128 cores are not there */
    assert_float_equal(number_of(&c, COST_SYNC), 1, 1e-9);
    assert_float_equal(number_of(&c, COST_LAUNCH), 2, 1e-9);
    assert_float_equal(number_of(&c, COST_CORE_PORT), 1049, 1e-9); /* 1 MiB per us, to four digits */
    assert_float_equal(c.device.hbm_gb_per_s, 104900, 1e-9);
    assert_float_equal(number_of(&c, COST_MACS), 1049000, 1e-9);
}

/* Another table predicts the times; the fit starts at the preset's. */
static void the_fit_finds_a_table_again(void **state)
{
    enum { PLANS = 6 };
    static const int graphs[PLANS] = {1, 2, 3, 7, 9, 12};
    (void)state;
    struct lx_calibration c = {.machine = "a machine"};
    struct lx_device other;
    struct lx_plan *plans[PLANS];
    double us[PLANS];
    lx_status st = {0};
    assert_true(lx_device_preset("h200", &c.device));
    c.device.own_costs = *lx_device_costs(&c.device);
    c.device.cost_table = NULL;
    c.device.own_costs.number[COST_TICK].value = 0.1;
    other = c.device;
    other.own_costs.number[COST_TICK].value *= 3;
    other.own_costs.number[COST_BEGIN].value /= 2;
    other.own_costs.number[COST_STEP].value *= 1.5;
    for (int i = 0; i < PLANS; i++) {
        const struct lx_graph *g = lx_calibration_graph(graphs[i], &st),
                              *here = g ? lx_graph_with_device(g, &other) : NULL;
        if (!here) fail_msg("%s", st.text);
        plans[i] = plan_graph(here, "bestfit", &(struct lx_passes){0});
        us[i] = lx_plan_clock(plans[i], NULL).end_to_end_us;
        lx_graph_free(g);
    }
    lx_calibration_fit(&c, (const struct lx_plan *const *)plans, us, PLANS);
    assert_true(c.median_off < 0.03 && c.worst_off < 0.08);
    assert_true(number_of(&c, COST_TICK) > 0.5 * other.own_costs.number[COST_TICK].value);
    for (int i = 0; i < PLANS; i++) lx_plan_free(plans[i]);
}

/* Each has a program. */
static void graphs_can_be_written(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_device device;
    const struct lx_graph *g;
    int count = 0;
    assert_true(lx_device_preset("h200", &device));
    for (; (g = lx_calibration_graph(count, &st)); count++) {
        struct text text = {0};
        struct lx_plan *p = plan_graph(lx_graph_with_device(g, &device), "bestfit", &(struct lx_passes){0});
        if (!emit_program(p, &(struct emit_options){.on = EMIT_CUDA}, &text, NULL, &st))
            fail_msg("%s", st.text);
        text_free(&text);
        lx_plan_free(p);
        lx_graph_free(g);
    }
    assert_int_equal(st.code, LX_OK);
    assert_true(count >= 12);
}

static void a_machine_without_a_clock_is_refused(void **state)
{
    (void)state;
    struct lx_calibration c;
    struct lx_device device;
    lx_status st = {0};
    assert_true(lx_device_preset("h200", &device));
    struct lx_calibrate_options how = {.machine = "host", .like = &device};
    assert_false(lx_calibrate(&how, &c, &st));
    assert_int_equal(st.code, LX_E_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_that_measure_rates_run),
        cmocka_unit_test(rates_are_what_the_clock_says),
        cmocka_unit_test(the_fit_finds_a_table_again),
        cmocka_unit_test(graphs_can_be_written),
        cmocka_unit_test(a_machine_without_a_clock_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
