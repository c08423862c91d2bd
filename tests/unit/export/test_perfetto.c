/* Traces of plans, read back: only known phases, slices of a row apart, and the area under each counter what the plan
 * says. */
#include "support/export_plans.h"
#include "base/memory.h"
#include "export/export_rows.h"

#include <math.h>

/* Microseconds to whole picoseconds. */
static int64_t ps_of(double us)
{
    return llround(us * PS_PER_US);
}

/* The area under a series of a counter, value times picoseconds; its last value must be 0. */
static double area(const cJSON *events, const char *name, const char *series)
{
    double sum = 0, value = 0;
    int64_t since = 0;
    const cJSON *e;
    cJSON_ArrayForEach(e, events)
    {
        if (strcmp(word_at(e, "ph"), "C") != 0 || strcmp(word_at(e, "name"), name) != 0) continue;
        int64_t at = ps_of(number_at(e, "ts"));
        if (at < since) fail_msg("%s goes back in time", name);
        sum += value * (double)(at - since);
        value = number_at(item_at(e, "args"), series);
        since = at;
    }
    if (value != 0) fail_msg("%s.%s ends at %g", name, series, value);
    return sum;
}

static void near(const char *what, double found, double wanted)
{
    if (fabs(found - wanted) > 1e-9 * fabs(wanted)) fail_msg("%s: %.17g, not %.17g", what, found, wanted);
}

static void check_use(const struct lx_plan *p, const cJSON *events, const struct tick_times *time)
{
    for (int32_t pool = 0; pool < lx_pool_count(&p->problem); pool++) {
        char name[300];
        double wanted = 0;
        bool named = p->problem.pool_count > 0 && p->problem.pools[pool].name;
        snprintf(name, sizeof name, "in use, %s", named ? p->problem.pools[pool].name : "each core");
        for (int64_t t = time->first; t < time->last; t++)
            wanted += (double)bytes_taken(p, pool, t) * (double)(tick_time(time, t + 1) - tick_time(time, t));
        near(name, area(events, name, "bytes"), wanted);
    }
}

static void check_rates(const struct lx_plan *p, const cJSON *events)
{
    double read = 0, written = 0, ring = 0, reduce = 0;
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
        read += (double)p->traffic[o].hbm_read;
        written += (double)p->traffic[o].hbm_written;
        ring += (double)p->traffic[o].ring;
        reduce += (double)p->traffic[o].reduce_ring;
    }
    near("read", area(events, "HBM GB/s", "read") / 1000, read);
    near("written", area(events, "HBM GB/s", "written") / 1000, written);
    near("total", area(events, "HBM GB/s", "total") / 1000, (double)p->figures.hbm_bytes);
    near("ring", area(events, "ring GB/s", "data") / 1000, ring);
    near("reduce", area(events, "ring GB/s", "reduce") / 1000, reduce);
}

struct slice_row {
    int64_t pid, tid, from, to;
};

static int by_row(const void *a, const void *b)
{
    const struct slice_row *x = a, *y = b;
    if (x->pid != y->pid) return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid) return x->tid < y->tid ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* Slices of a row follow each other; how many there are of buffers. */
static size_t check_slices(const cJSON *events)
{
    struct slice_row *rows = mem_zeroed((size_t)cJSON_GetArraySize(events) + 1, sizeof *rows);
    size_t n = 0, buffers = 0;
    const cJSON *e;
    cJSON_ArrayForEach(e, events)
    {
        const char *phase = word_at(e, "ph");
        if (!strchr("MXCi", *phase) || phase[1]) fail_msg("phase %s", phase);
        if (*phase != 'X') continue;
        int64_t from = ps_of(number_at(e, "ts"));
        rows[n++] = (struct slice_row){(int64_t)number_at(e, "pid"), (int64_t)number_at(e, "tid"), from,
                                       from + ps_of(number_at(e, "dur"))};
        buffers += cJSON_HasObjectItem(item_at(e, "args"), "buffer") ? 1 : 0;
    }
    if (n) qsort(rows, n, sizeof *rows, by_row);
    for (size_t i = 1; i < n; i++)
        if (rows[i].pid == rows[i - 1].pid && rows[i].tid == rows[i - 1].tid)
            assert_true(rows[i - 1].to <= rows[i].from);
    mem_free(rows);
    return buffers;
}

static void check_trace(const struct lx_plan *p)
{
    struct exported_tree j = exported_json(p, "perfetto");
    const cJSON *events = item_at(j.root, "traceEvents");
    struct tick_times time;
    size_t lives = 0;
    tick_times_make(p, &time);
    for (int32_t i = 0; i < p->problem.count; i++) lives += (size_t)lx_life_count(&p->problem.buffers[i]);
    assert_true(check_slices(events) <= lives);
    assert_true(check_slices(events) > 0);
    check_use(p, events, &time);
    if (p->traffic) check_rates(p, events);
    mem_free(time.at);
    cJSON_Delete(j.root);
}

static void traces_are_the_plan(void **state)
{
    (void)state;
    each_export_plan(check_trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(traces_are_the_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
