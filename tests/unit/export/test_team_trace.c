/* Traces of teams, read back: a process per member, slices of a row apart, begins and ends those of the clock, bytes
 * those of the plan, and arrows that go forward in time. */
#include "support/export_plans.h"
#include "base/memory.h"
#include "support/sampled.h"
#include "export/export_rows.h"
#include "solvers.h"

#include <cjson/cJSON.h>
#include <math.h>

enum { OPS, WAITS, FIRST_AXIS, MOST = 1 << 16 };

/* What must have been among the traces, so that a test that passes has seen it. */
struct seen {
    int exchanges, combines, waits, idle;
};

struct slice {
    int pid, tid;
    int64_t from, to;
};

static int64_t ps_of(double us)
{
    return llround(us * PS_PER_US);
}

static bool has_phase(const cJSON *e, const char *phase)
{
    return strcmp(word_at(e, "ph"), phase) == 0;
}

static int by_row(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;
    if (x->pid != y->pid) return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid) return x->tid < y->tid ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static struct slice slice_of(const cJSON *e)
{
    int64_t from = ps_of(number_at(e, "ts"));
    return (struct slice){(int)number_at(e, "pid"), (int)number_at(e, "tid"), from,
                          from + ps_of(number_at(e, "dur"))};
}

static void slices_are_apart(const cJSON *events)
{
    static struct slice at[MOST];
    size_t n = 0;
    const cJSON *e;
    cJSON_ArrayForEach(e, events)
    {
        if (!has_phase(e, "X")) continue;
        assert_true(n < MOST);
        at[n++] = slice_of(e);
        assert_true(at[n - 1].to >= at[n - 1].from);
    }
    qsort(at, n, sizeof *at, by_row);
    for (size_t i = 1; i < n; i++)
        if (at[i].pid == at[i - 1].pid && at[i].tid == at[i - 1].tid) assert_true(at[i - 1].to <= at[i].from);
}

static int processes(const cJSON *events)
{
    int n = 0;
    const cJSON *e;
    cJSON_ArrayForEach(e, events) if (has_phase(e, "M") && !strcmp(word_at(e, "name"), "process_name"))
    {
        char wanted[40];
        snprintf(wanted, sizeof wanted, "device %d at ", n++);
        assert_true((int)number_at(e, "pid") == n);
        assert_true(strstr(word_at(item_at(e, "args"), "name"), wanted) != NULL);
    }
    return n;
}

/* Every op once, from when it has what it waits for to its end; before that the wait. Slices add up to the clock's sums. */
static void check_member(const struct lx_team_plans *p, const struct lx_team_times *t, int m,
                         const cJSON *events)
{
    double sum[3] = {0}, links = 0;
    int seen = 0, next = 0;
    const cJSON *e;
    cJSON_ArrayForEach(e, events)
    {
        if (!has_phase(e, "X") || (int)number_at(e, "pid") != m + 1) continue;
        struct slice s = slice_of(e);
        double us = (double)(s.to - s.from) / PS_PER_US;
        *(s.tid >= FIRST_AXIS ? &links : &sum[s.tid]) += us;
        if (s.tid >= FIRST_AXIS) {
            while (next < t->trip_count && !t->trips[next].axes) next++;
            assert_true(next < t->trip_count && s.from == ps_of(t->trips[next].begin) &&
                        s.to == ps_of(t->trips[next].end));
            next++;
            continue;
        }
        int o = (int)number_at(item_at(e, "args"), "tick");
        assert_in_range(o, 0, t->ops - 1);
        double us_of_op = p->plans[m]->traffic[o].end_to_end_us;
        if (s.tid == OPS) {
            assert_int_equal(o, seen++);
            assert_true(s.to == ps_of(t->end[o]));
            assert_true(fabs(us - us_of_op) < 1e-5);
            assert_string_equal(word_at(e, "name"), p->plans[m]->layouts->graph->ops[o].name);
        } else {
            assert_true(s.from == ps_of(t->begin[o]));
            assert_true(s.to == ps_of(t->trips[t->trip[o]].end));
            assert_true(fabs(us - (t->end[o] - t->begin[o] - us_of_op)) < 1e-5);
        }
    }
    assert_int_equal(seen, t->ops);
    assert_true(fabs(sum[OPS] - t->busy_us) <= 1e-6 * (1 + t->ops));
    assert_true(fabs(sum[WAITS] - t->waited_us) <= 1e-6 * (1 + t->ops));
    assert_true(fabs(links - t->link_us) <= 1e-6 * (1 + t->ops));
}

/* What comes over links: of each exchange what each member receives, and all that combines. */
static void check_bytes(const struct lx_team_plan *p, const cJSON *events, struct seen *seen)
{
    int64_t exchanged = 0, combined = 0;
    const cJSON *e;
    cJSON_ArrayForEach(e, events)
    {
        if (!has_phase(e, "X") || (int)number_at(e, "tid") < FIRST_AXIS) continue;
        int tag = (int)number_at(item_at(e, "args"), "tag"), m = (int)number_at(e, "pid") - 1;
        int64_t bytes = (int64_t)number_at(item_at(e, "args"), "bytes");
        *(tag <= p->exchange_count ? &exchanged : &combined) += bytes;
        *(tag <= p->exchange_count ? &seen->exchanges : &seen->combines) += 1;
        if (tag <= p->exchange_count) assert_true(bytes == p->exchanges[tag - 1].received[m]);
    }
    assert_true(exchanged == p->bytes);
    assert_true(combined == p->combine_bytes);
}

/* An arrow begins in an op of one member, and ends at the begin of a trip to another. */
static int check_flows(const cJSON *events)
{
    int n = 0;
    const cJSON *e, *start = NULL;
    cJSON_ArrayForEach(e, events)
    {
        if (has_phase(e, "s")) start = e;
        if (!has_phase(e, "f")) continue;
        n++;
        assert_true(start && number_at(start, "id") == number_at(e, "id") && (int)number_at(e, "id") == n);
        assert_true(number_at(start, "pid") != number_at(e, "pid"));
        assert_true((int)number_at(start, "tid") == OPS && (int)number_at(e, "tid") >= FIRST_AXIS);
        assert_true(number_at(start, "ts") <= number_at(e, "ts"));
    }
    return n;
}

static int messages_between(const struct lx_team_plans *p)
{
    int n = 0;
    for (int m = 0; m < p->team->devices; m++)
        for (int32_t i = 0; i < p->devices[m]->message_count; i++) {
            const struct lx_team_message *x = &p->devices[m]->messages[i];
            n += x->operand < 0 && x->peer != m;
        }
    return n;
}

static struct lx_team_plans *plans_of(const char *name, const char *grid, bool by_time)
{
    char path[512];
    lx_status st = {0};
    struct lx_team_options how = {.by_time = by_time};
    struct lx_plan_options plan = {.solver = lx_solver_find("greedy")};
    snprintf(path, sizeof path, SOURCE_DIR "/patterns/%s.json", name);
    assert_true(lx_team_grid_of_text(grid, &how.grid, &st));
    const struct lx_graph *g = lx_graph_read(path, &st);
    struct lx_team_plan *team = g ? lx_team_make(g, &how, &st) : NULL;
    struct lx_team_plans *p = team ? lx_team_plans_make(team, &plan, &st) : NULL;
    if (!p) fail_msg("%s on %s: %s", name, grid, st.text);
    lx_graph_free(g);
    return p;
}

static void check_trace(const struct lx_team_plans *p, struct seen *seen)
{
    size_t length = 0;
    char *text = lx_team_trace(p, &length);
    struct lx_team_clock *c = lx_team_clock_make(p);
    assert_true(text && c && strlen(text) == length);
    cJSON *root = cJSON_Parse(text);
    const cJSON *events = item_at(root, "traceEvents");
    assert_string_equal(word_at(root, "kind"), "trace");
    assert_int_equal(processes(events), p->team->devices);
    slices_are_apart(events);
    for (int m = 0; m < c->devices; m++) {
        check_member(p, &c->at[m], m, events);
        seen->waits += c->at[m].waited_us > 0;
        seen->idle += c->at[m].ops == 0;
    }
    check_bytes(p->team, events, seen);
    assert_int_equal(check_flows(events), messages_between(p));
    cJSON_Delete(root);
    lx_team_clock_free(c);
    mem_free(text);
}

static void traces_are_the_clock(void **state)
{
    (void)state;
    static const char *const names[] = {"team/stencil_3_steps", "team/mlp_rows",       "team/uneven_33",
                                        "team/softmax_columns", "team/attention_rows", "graphs/gq_attention",
                                        "graphs/moe_routed"};
    static const char *const grids[] = {"1", "3", "2x2", "2x1x3"};
    struct seen seen = {0};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
            if (SAMPLED && n > 3 && k != 2) continue; /* they take longest */
            struct lx_team_plans *p = plans_of(names[n], grids[k], (n + k) % 2);
            check_trace(p, &seen);
            lx_team_plans_free(p);
        }
    assert_true(seen.exchanges > 0 && seen.combines > 0 && seen.waits > 0);
    assert_true(SAMPLED || (seen.exchanges > 20 && seen.combines > 10 && seen.waits > 10));
}

/* More devices than rows: some have nothing to do, and are there all the same. */
static void idle_members_are_there(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct lx_team_plans *p = plans_of("team/uneven_8", "12", false);
    check_trace(p, &seen);
    assert_true(seen.idle > 0);
    lx_team_plans_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(traces_are_the_clock),
                                       cmocka_unit_test(idle_members_are_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
