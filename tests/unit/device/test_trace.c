/* The trace of a run: valid JSON, both clocks, and counters that end where the run's own do. */
#include "support/device_plans.h"
#include "base/memory.h"

#include <cjson/cJSON.h>
#include <math.h>

static struct lx_run_result *executed(const struct lx_plan *p)
{
    struct lx_device_options how = {.threads = 1, .in_use = true};
    lx_status st = {0};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    if (!r) fail_msg("%s", st.text);
    if (!r->ok) fail_msg("%s", what_is_wrong(r));
    return r;
}

static double number(const cJSON *object, const char *key)
{
    const cJSON *x = cJSON_GetObjectItem(object, key);
    return cJSON_IsNumber(x) ? x->valuedouble : NAN;
}

static bool is(const cJSON *event, const char *key, const char *text)
{
    const cJSON *x = cJSON_GetObjectItem(event, key);
    return cJSON_IsString(x) && strcmp(x->valuestring, text) == 0;
}

/* What a counter track of a process says last, and where. */
static double last_of(const cJSON *events, int pid, const char *track, const char *key, double *at)
{
    const cJSON *e;
    double value = NAN, before = -1;
    cJSON_ArrayForEach(e, events)
    {
        if (!is(e, "ph", "C") || !is(e, "name", track) || number(e, "pid") != pid) continue;
        assert_true(number(e, "ts") >= before);
        before = number(e, "ts");
        value = number(cJSON_GetObjectItem(e, "args"), key);
    }
    *at = before;
    return value;
}

static double most_of(const cJSON *events, int pid, const char *track)
{
    const cJSON *e;
    double most = 0;
    cJSON_ArrayForEach(e, events) if (is(e, "name", track) && number(e, "pid") == pid) most =
        fmax(most, number(cJSON_GetObjectItem(e, "args"), "bytes"));
    return most;
}

static int count_of(const cJSON *events, int pid, const char *category)
{
    const cJSON *e;
    int n = 0;
    cJSON_ArrayForEach(e, events) n += is(e, "cat", category) && number(e, "pid") == pid;
    return n;
}

static void check_trace(const struct lx_plan *p, const struct lx_run_result *r)
{
    size_t length;
    char *text = lx_run_trace(p, r, &length);
    assert_non_null(text);
    cJSON *trace = cJSON_ParseWithLength(text, length);
    assert_non_null(trace);
    const cJSON *events = cJSON_GetObjectItem(trace, "traceEvents");
    const double ends[] = {r->device_us, r->end_to_end_us};
    for (int pid = 1; pid <= 2; pid++) {
        double at, end = ends[pid - 1];
        assert_true(last_of(events, pid, "HBM bytes", "read", &at) == (double)r->total.hbm_read);
        assert_true(fabs(at - end) < 1e-3 + 1e-6 * end);
        assert_true(last_of(events, pid, "HBM bytes", "written", &at) == (double)r->total.hbm_written);
        assert_true(last_of(events, pid, "ring bytes", "data", &at) == (double)r->total.ring);
        assert_true(last_of(events, pid, "ring bytes", "reduce", &at) == (double)r->total.reduce_ring);
        assert_true(last_of(events, pid, "HBM GB/s", "read", &at) == 0);
        assert_true(last_of(events, pid, "LX core 0", "bytes", &at) == 0);
        double most = most_of(events, pid, "LX core 0");
        assert_true(most > 0 && most <= (double)r->height_bytes);
        assert_int_equal(count_of(events, pid, "bundle"), p->bundle_count);
    }
    cJSON_Delete(trace);
    mem_free(text);
}

static void counters_end_where_the_run_does(void **state)
{
    static const char *const paths[] = {"graphs/softmax_512x1024.json", "graphs/gq_attention.json"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct lx_plan *p = plan_graph(with_cores(device_test_graph(paths[i / 2]), i % 2 ? 32 : 4), "bestfit",
                                       &(struct lx_passes){0});
        struct lx_run_result *r = executed(p);
        check_trace(p, r);
        lx_run_result_free(r);
        lx_plan_free(p);
    }
}

/* At each tick a scratchpad holds no more than the plan's live buffers there, and all of them on a core that has a part
 * of each. */
static void scratchpads_hold_what_lives(void **state)
{
    (void)state;
    struct lx_plan *p = plan_graph(with_cores(device_test_graph("graphs/softmax_512x1024.json"), 1),
                                   "bestfit", &(struct lx_passes){0});
    struct lx_run_result *r = executed(p);
    for (int32_t o = 0; o < r->op_count; o++) {
        int64_t live = 0;
        for (int32_t i = 0; i < p->problem.count; i++) {
            const struct lx_buffer *b = &p->problem.buffers[i];
            int32_t parent = p->took_slot_of[i];
            bool shared = parent >= 0 && p->problem.buffers[parent].end > o;
            if (p->answer.address[i] >= 0 && b->start <= o && o < b->end && !shared) live += b->size;
        }
        assert_int_equal(r->lx_in_use[o], live);
    }
    lx_run_result_free(r);
    lx_plan_free(p);
}

/* A slice per nest, in its bundle, and as long as its ops take in all iterations. */
static void nests_are_slices(void **state)
{
    (void)state;
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/tests/data/graphs/tiled_attention.json", &st);
    const struct lx_graph *small = g ? lx_graph_with_capacity(g, 6144, &st) : NULL;
    struct lx_plan *p = plan_graph(small, "auto", &(struct lx_passes){.tile = LX_TILE_AUTO});
    lx_graph_free(g);
    struct lx_run_result *r = executed(p);
    size_t length;
    char *text = lx_run_trace(p, r, &length);
    cJSON *trace = cJSON_ParseWithLength(text, length);
    const cJSON *events = cJSON_GetObjectItem(trace, "traceEvents"), *e;
    int at = 0;
    assert_true(p->nest_count > 0);
    cJSON_ArrayForEach(e, events)
    {
        if (!is(e, "cat", "nest") || number(e, "pid") != 1) continue;
        const struct lx_nest *n = &p->nests[at++];
        double from = 0, us = 0;
        for (int32_t o = 0; o <= n->last; o++) *(o < n->first ? &from : &us) += r->ops[o].device_us;
        assert_true(fabs(number(e, "ts") - from) < 1e-3 && fabs(number(e, "dur") - us) < 1e-3);
        assert_int_equal((int64_t)number(cJSON_GetObjectItem(e, "args"), "iterations"), nest_iterations(n));
    }
    assert_int_equal(at, p->nest_count);
    cJSON_Delete(trace);
    mem_free(text);
    lx_run_result_free(r);
    lx_plan_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counters_end_where_the_run_does),
                                       cmocka_unit_test(nests_are_slices),
                                       cmocka_unit_test(scratchpads_hold_what_lives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
