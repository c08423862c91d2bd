/* Plans and runs that have a deadline, or are asked to stop: a legal plan or none, soon, and the same plan
 * where nobody stops. */
#include "unstable.h"
#include "base/clock.h"
#include "base/memory.h"
#include "solvers.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Seconds that a machine with much else to do may need in place of the 50 ms of
 * tests/measure/bench_cancel.c. */
static const double PATIENCE = 10;

struct watch {
    pthread_t thread;
    int asked, stop_at; /* the question that is answered with yes; 0: none */
    double told;
};

static bool stop(void *context)
{
    struct watch *w = context;
    assert_true(pthread_equal(w->thread, pthread_self())); /* callbacks stay on the calling thread */
    if (w->stop_at == 0 || ++w->asked < w->stop_at) return false;
    if (w->told <= 0) w->told = clock_seconds();
    return true;
}

static void progress(void *context, const struct lx_progress *so_far)
{
    struct watch *w = context;
    (void)so_far;
    assert_true(pthread_equal(w->thread, pthread_self()));
}

static const struct lx_graph *generate(const char *name, const char *key, const char *value)
{
    const struct lx_generator *g = lx_generator_find(name);
    int64_t values[64];
    lx_status st = {0};
    lx_values_default(g->options, g->option_count, values);
    assert_true(lx_values_set(g->name, g->options, g->option_count, key, value, values, &st));
    const struct lx_graph *made = g->build(values, &st);
    if (!made) fail_msg("%s", st.text);
    return made;
}

static void same_where_nobody_stops(void **state)
{
    (void)state;
    static const char *const files[] = {"graphs/rms_norm", "graphs/attention_small", "graphs/mlp_small"};
    for (int i = 0; i < 3; i++) {
        char path[300];
        lx_status st = {0};
        snprintf(path, sizeof path, SOURCE_DIR "/patterns/%s.json", files[i]);
        const struct lx_graph *g = lx_graph_read(path, &st);
        struct watch w = {.thread = pthread_self()};
        struct lx_plan_options alone = {.solver = lx_solver_find("auto")}, watched = alone;
        watched.run = (struct lx_run){.stop = stop, .progress = progress, .context = &w};
        struct lx_plan *p = lx_plan_make(g, &alone, &st), *q = lx_plan_make(g, &watched, &st);
        if (!p || !q) fail_msg("%s", st.text);
        p->seconds = q->seconds = 0;
        size_t n, m;
        char *a = lx_plan_to_json(p, &n), *b = lx_plan_to_json(q, &m);
        assert_string_equal(a, b);
        mem_free(a);
        mem_free(b);
        lx_plan_free(p);
        lx_plan_free(q);
        lx_graph_free(g);
    }
}

static void deadlines(void **state)
{
    (void)state;
    const struct lx_graph *inputs[] = {generate("decode", "ops", "1500"),
                                       generate("random", "buffers", "3000")};
    for (int i = 0; i < 2; i++) {
        lx_status st = {0};
        struct lx_plan_options how = {.solver = lx_solver_find("auto"), .run = {.time_limit = 0.2}};
        double began = clock_seconds();
        struct lx_plan *p = lx_plan_make(inputs[i], &how, &st);
        if (!p) fail_msg("%s", st.text);
        assert_true(clock_seconds() - began < PATIENCE);
        assert_true(lx_plan_check(p, &st));
        lx_plan_free(p);
        lx_graph_free(inputs[i]);
    }
}

static atomic_bool let_go;

/* Hears nothing. */
static bool deaf(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *a)
{
    (void)p, (void)run, (void)a;
    while (!atomic_load(&let_go)) usleep(1000);
    return true;
}

static const struct lx_solver deaf_solver = {
    .abi = LX_SOLVER_ABI, .name = "deaf", .summary = "hears nothing", .caps = LX_CAN_SPILL, .solve = deaf};

/* Nobody waits for a solver that does not listen; it goes on with what is its own, and ends. */
static void interrupts(void **state)
{
    (void)state;
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/mlp_small.json", &st);
    struct watch w = {.thread = pthread_self(), .stop_at = 2};
    struct lx_plan_options how = {.solver = &deaf_solver, .run = {.stop = stop, .context = &w}};
    assert_null(lx_plan_make(g, &how, &st));
    assert_int_equal(st.code, LX_E_STOPPED);
    assert_true(clock_seconds() - w.told < PATIENCE);
    lx_graph_free(g);
    atomic_store(&let_go, true);
    usleep(50000);
}

static void runs(void **state)
{
    (void)state;
    lx_status st = {0};
    const struct lx_graph *g = generate("block", "layers", "2");
    struct lx_plan_options how = {.solver = lx_solver_find("greedy")};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s", st.text);
    struct watch w = {.thread = pthread_self(), .stop_at = 2};
    struct lx_device_options run = {.threads = 2, .stop = stop, .context = &w};
    struct lx_run_result *r = lx_device_run(p, &run, &st);
    if (w.told > 0 && !r) assert_int_equal(st.code, LX_E_STOPPED);
    if (w.told > 0) assert_true(clock_seconds() - w.told < PATIENCE);
    lx_run_result_free(r);
    lx_plan_free(p);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_where_nobody_stops),
        cmocka_unit_test(deadlines),
        cmocka_unit_test(interrupts),
        cmocka_unit_test(runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
