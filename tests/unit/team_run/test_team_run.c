/* Team plans: what they move, and that running them on teams of 1, 2, 3, 4 and 7 gives one device's results;
 * and that a member that dies, hangs, disagrees or sends nonsense ends the run with an error
 * that names it. */
#include "unstable.h"
#include "base/memory.h"
#include "solvers.h"
#include "support/random_team.h"
#include "support/sampled.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static const int teams[] = {1, 2, 3, 4, 7};
enum { TEAMS = sizeof teams / sizeof *teams };

static const struct lx_graph *read_pattern(const char *folder, const char *name)
{
    char path[512];
    lx_status st = {0};
    snprintf(path, sizeof path, SOURCE_DIR "/patterns/%s/%s", folder, name);
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g) fail_msg("%s: %s", name, st.text);
    return g;
}

static struct lx_team_plan *make_plan(const struct lx_graph *g, int members)
{
    lx_status st = {0};
    struct lx_team_options how = {.devices = members};
    struct lx_team_plan *p = lx_team_make(g, &how, &st);
    if (!p) fail_msg("%s on %d: %s", g->name, members, st.text);
    return p;
}

/* Greedy plans: it is their execution that counts here. */
static struct lx_plan_options plan_options(void)
{
    return (struct lx_plan_options){.solver = lx_solver_find("greedy")};
}

/* The team's run without its members' accounts. */
static struct lx_team_result run_plan(const struct lx_team_plan *p)
{
    lx_status st = {0};
    struct lx_plan_options plan = plan_options();
    struct lx_team_run_options how = {.seed = 7, .plan = &plan, .timeout_ms = 60000};
    struct lx_team_result r;
    if (!lx_team_run(p, &how, &r, &st)) fail_msg("%s on %d: %s", p->graph->name, p->devices, st.text);
    assert_true(r.compared);
    assert_true(r.elements > 0);
    for (int m = 0; m < r.device_count; m++)
        if (!r.devices[m].ok)
            fail_msg("%s, device %d of %d: %s", p->graph->name, m, p->devices, r.devices[m].why);
    if (!r.ok)
        fail_msg("%s on %d: %lld of %lld elements differ, by up to %g of %g", p->graph->name, p->devices,
                 (long long)r.differing, (long long)r.elements, r.worst, r.largest);
    assert_memory_equal(&r.total.counted.hbm_read, &r.total.planned.hbm_read, 6 * sizeof(int64_t));
    assert_int_equal(r.total.bytes, p->bytes);
    assert_int_equal(r.total.combine_bytes, p->combine_bytes);
    lx_team_result_free(&r);
    return r;
}

static int64_t size_of(const struct lx_team_space *s)
{
    int64_t size = 1;
    for (int l = 0; l < s->loops; l++) {
        assert_true(s->range[l].end >= s->range[l].begin);
        size *= s->range[l].end - s->range[l].begin;
    }
    return size;
}

/* Every block has one owner, and what is sent is what is received. */
static void expect_sound(const struct lx_team_plan *p)
{
    const struct lx_graph *g = p->graph;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        const struct lx_team_tensor *x = &p->tensors[t];
        for (int a = 0; a < p->grid.axes; a++) {
            int d = x->shard[a], blocks = lx_team_blocks(&p->grid, x->shard, d);
            if (d < 0) continue;
            assert_int_equal(x->bound[d][0], 0);
            assert_int_equal(x->bound[d][blocks], g->tensors[t].shape[d]);
            for (int b = 0; b < blocks; b++) assert_true(x->bound[d][b] <= x->bound[d][b + 1]);
        }
    }
    int64_t bytes = 0;
    for (int32_t e = 0; e < p->exchange_count; e++) {
        int64_t sent = 0, received = 0;
        for (int m = 0; m < p->devices; m++) {
            sent += p->exchanges[e].sent[m];
            received += p->exchanges[e].received[m];
        }
        assert_int_equal(sent, received);
        assert_true(received > 0);
        bytes += received;
    }
    assert_int_equal(bytes, p->bytes);
    /* where an op runs is covered by its pieces, once */
    for (int m = 0; m < p->devices; m++)
        for (int32_t o = 0; o < g->op_count; o++) {
            int64_t covered = 0;
            for (int32_t s = 0; s < p->step_count; s++) {
                if (p->steps[s].kind != LX_TEAM_COMPUTE || p->steps[s].op != o) continue;
                struct lx_team_space r = lx_team_step_space(p, &p->steps[s], m);
                covered += size_of(&r);
            }
            assert_int_equal(covered, size_of(&p->ops[o].space[m]));
        }
}

/* A member's plan is one like any other. */
static void expect_checked(const struct lx_team_plan *p)
{
    struct lx_plan_options how = plan_options();
    for (int m = 0; m < p->devices; m++) {
        lx_status st = {0};
        struct lx_team_device *does = lx_team_device_make(p, m, &st);
        if (!does) fail_msg("%s, device %d of %d: %s", p->graph->name, m, p->devices, st.text);
        struct lx_plan *plan = does->graph ? lx_plan_make(does->graph, &how, &st) : NULL;
        if (does->graph && !plan) fail_msg("%s, device %d of %d: %s", p->graph->name, m, p->devices, st.text);
        if (plan && !lx_plan_check(plan, &st)) fail_msg("%s, device %d: %s", p->graph->name, m, st.text);
        lx_plan_free(plan);
        lx_team_device_free(does);
    }
}

static bool is_pattern(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".json") == 0;
}

static void test_patterns(void **state)
{
    (void)state;
    DIR *folder = opendir(SOURCE_DIR "/patterns/team");
    assert_non_null(folder);
    int seen = 0;
    for (struct dirent *e; (e = readdir(folder));) {
        if (!is_pattern(e->d_name)) continue;
        const struct lx_graph *g = read_pattern("team", e->d_name);
        for (int i = 0; i < TEAMS; i++) {
            if (SAMPLED && (i + seen) % 4) continue;
            struct lx_team_plan *p = make_plan(g, teams[i]);
            expect_sound(p);
            expect_checked(p);
            struct lx_team_result r = run_plan(p);
            assert_true(r.worst <= 1e-6 * r.largest); /* sums in another order */
            if (teams[i] == 1) assert_true(p->bytes == 0 && p->combine_bytes == 0);
            assert_true(p->bytes <= p->plain_bytes);
            lx_team_free(p);
        }
        lx_graph_free(g);
        seen++;
    }
    closedir(folder);
    assert_true(seen >= 8);
}

/* Other types than fp32: messages have their bytes, and results their bits. */
static void test_dtypes(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"fp16", "bf16", "fp8", "int32", "int8", "int4"};
    for (int n = 0; n < 6; n++)
        for (int i = 0; i < TEAMS; i++) {
            char text[1024];
            lx_status st = {0};
            snprintf(text, sizeof text,
                     "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"%s\", \"tensors\": ["
                     "{\"name\": \"a\", \"shape\": [21, 70], \"dtype\": \"%s\"}, "
                     "{\"name\": \"b\", \"shape\": [21, 70], \"dtype\": \"%s\"}, "
                     "{\"name\": \"y\", \"shape\": [21, 70], \"dtype\": \"%s\"}], \"ops\": ["
                     "{\"name\": \"b\", \"kind\": \"shift\", \"inputs\": [\"a\"], \"output\": \"b\", "
                     "\"offset\": [1, 0]}, "
                     "{\"name\": \"y\", \"kind\": \"max\", \"inputs\": [\"a\", \"b\"], \"output\": "
                     "\"y\"}]}",
                     dtypes[n], dtypes[n], dtypes[n], dtypes[n]);
            const struct lx_graph *g = lx_graph_of_text("dtype", text, strlen(text), &st);
            if (!g) fail_msg("%s", st.text);
            struct lx_team_plan *p = make_plan(g, teams[i]);
            struct lx_team_result r = run_plan(p);
            assert_true(r.exact);
            assert_int_equal(p->bytes, (teams[i] - 1) * 70 * (n < 2 ? 4 : n == 3 ? 8 : n == 5 ? 1 : 2) / 2);
            lx_team_free(p);
            lx_graph_free(g);
        }
}

/* 512 x 512, radius 2, three members: the middle one owns 171 rows, gets two from each side, and the fused
 * core has 167 rows; a step moves each halo row once, and of it only the columns that are read. */
static void test_stencil(void **state)
{
    (void)state;
    const struct lx_graph *g = read_pattern("team", "stencil_3_steps.json");
    struct lx_team_plan *p = make_plan(g, 3);
    assert_int_equal(p->exchange_count, 3);
    for (int32_t e = 0; e < 3; e++) {
        const struct lx_team_exchange *x = &p->exchanges[e];
        struct lx_team_box own = lx_team_own(p, x->tensor, 1);
        assert_int_equal(own.size[0], 171);
        assert_int_equal(x->box[1].offset[0], own.offset[0] - 2);
        assert_int_equal(x->box[1].size[0], 171 + 4);
        assert_int_equal(x->pattern, LX_TEAM_HALO);
        assert_int_equal(x->bytes, (2 + 4 + 2) * 508 * 4);
        assert_true(x->separate_bytes > x->bytes);
    }
    int cores = 0;
    for (int32_t i = 0; i < p->group_count; i++) {
        const struct lx_team_group *group = &p->groups[i];
        if (!group->core) continue;
        assert_int_equal(group->core[1].range[0].end - group->core[1].range[0].begin, 167);
        assert_int_equal(g->tensors[g->ops[group->last].output].shape[1], 508);
        assert_int_equal(group->last - group->first + 1, 26); /* nine slices, nine products, eight sums */
        cores++;
    }
    assert_int_equal(cores, 3);
    /* overlap: between the start of an exchange and its wait, cores are computed */
    for (int32_t e = 0; e < 3; e++) {
        int32_t start = -1, wait = -1, between = 0;
        for (int32_t s = 0; s < p->step_count; s++) {
            if (p->steps[s].kind == LX_TEAM_START && p->steps[s].exchange == e) start = s;
            if (p->steps[s].kind == LX_TEAM_WAIT && p->steps[s].exchange == e) wait = s;
            between += start >= 0 && wait < 0 && p->steps[s].piece == LX_TEAM_CORE;
        }
        assert_true(start >= 0 && wait > start);
        assert_int_equal(between, 26);
    }
    lx_team_free(p);
    lx_graph_free(g);
}

/* Other dimensions, by wish; wishes that cannot be. */
static void test_choices(void **state)
{
    (void)state;
    const struct lx_graph *g = read_pattern("team", "softmax_rows.json");
    struct lx_team_choice columns = {"x", {1, -1, -1}}, whole = {"x", {-1, -1, -1}}, bad = {"x", {2, -1, -1}},
                          nobody = {"z", {0, -1, -1}};
    struct lx_team_options how = {.devices = 3, .choices = &columns, .choice_count = 1};
    lx_status st = {0};
    struct lx_team_plan *p = lx_team_make(g, &how, &st);
    assert_non_null(p);
    assert_true(p->combine_bytes > 0 && !p->exact);
    run_plan(p);
    lx_team_free(p);
    how.choices = &whole;
    p = lx_team_make(g, &how, &st);
    assert_non_null(p);
    assert_int_equal(p->bytes, 0);
    run_plan(p);
    lx_team_free(p);
    how.choices = &bad;
    assert_null(lx_team_make(g, &how, &st));
    assert_int_equal(st.code, LX_E_RANGE);
    how.choices = &nobody;
    assert_null(lx_team_make(g, &how, &st));
    assert_int_equal(st.code, LX_E_UNKNOWN_NAME);
    how = (struct lx_team_options){.devices = 0};
    assert_null(lx_team_make(g, &how, &st));
    assert_int_equal(st.code, LX_E_RANGE);
    lx_graph_free(g);
    g = read_pattern("targets", "staircase.json");
    how.devices = 2;
    assert_null(lx_team_make(g, &how, &st));
    assert_int_equal(st.code, LX_E_UNSUPPORTED);
    lx_graph_free(g);
}

static void test_json(void **state)
{
    (void)state;
    const struct lx_graph *g = read_pattern("team", "uneven_44.json");
    struct lx_team_plan *p = make_plan(g, 4), *q = make_plan(g, 4), *other = make_plan(g, 3);
    assert_true(p->hash == q->hash && p->hash != other->hash);
    size_t n = 0, k = 0;
    char *a = lx_team_to_json(p, &n), *b = lx_team_to_json(q, &k);
    assert_true(a && b && n == k && strcmp(a, b) == 0);
    mem_free(a);
    mem_free(b);
    lx_team_free(p);
    lx_team_free(q);
    lx_team_free(other);
    lx_graph_free(g);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void test_faults(void **state)
{
    (void)state;
    static const struct {
        enum lx_team_fault_kind kind;
        const char *says;
    } faults[] = {
        {LX_TEAM_DIES, "device 1"},
        {LX_TEAM_HANGS, "device 1 did not send"},
        {LX_TEAM_OTHER_PLAN, "device 1 runs another plan"},
        {LX_TEAM_WRONG_SIZE, "from device 1 has"},
        {LX_TEAM_WRONG_WIRE, "does not arrive as device 1 has sent it"},
    };
    static const char *const patterns[] = {"uneven_44.json", "softmax_columns.json"};
    for (int n = 0; n < 2; n++) {
        const struct lx_graph *g = read_pattern("team", patterns[n]);
        struct lx_team_plan *p = make_plan(g, 3);
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
            if (faults[i].kind == LX_TEAM_WRONG_SIZE && p->exchange_count == 0) continue;
            lx_status st = {0};
            struct lx_team_result r;
            struct lx_plan_options plan = plan_options();
            struct lx_team_run_options how = {
                .timeout_ms = 8000, .plan = &plan, .fault = {.kind = faults[i].kind, .device = 1}};
            if (faults[i].kind == LX_TEAM_HANGS) how.timeout_ms = 1000; /* the others are seen at once */
            double begin = seconds();
            assert_false(lx_team_run(p, &how, &r, &st));
            assert_true(seconds() - begin < 10);
            assert_int_equal(lx_code_exit(st.code), 1);
            if (!strstr(st.text, faults[i].says))
                fail_msg("\"%s\" does not say \"%s\"", st.text, faults[i].says);
        }
        lx_team_free(p);
        lx_graph_free(g);
    }
}

/* On a grid, in every phase: who ends is named by the others at once, who hangs within the time limit. */
static void test_phases(void **state)
{
    (void)state;
    static const int32_t steps[LX_TEAM_PHASES] = {2};
    const struct lx_graph *g = read_pattern("team", "uneven_44.json");
    lx_status st = {0};
    struct lx_team_options grid = {.grid = {2, {2, 2}}};
    struct lx_team_plan *p = lx_team_make(g, &grid, &st);
    assert_non_null(p);
    for (int phase = 0; phase < 2 * LX_TEAM_PHASES; phase++) {
        struct lx_team_result r;
        struct lx_plan_options plan = plan_options();
        bool hangs = phase >= LX_TEAM_PHASES;
        struct lx_team_run_options how = {.timeout_ms = hangs ? 700 : 8000,
                                          .plan = &plan,
                                          .fault = {.kind = hangs ? LX_TEAM_HANGS : LX_TEAM_DIES,
                                                    .device = 3,
                                                    .step = steps[phase % LX_TEAM_PHASES],
                                                    .phase = (enum lx_team_phase)(phase % LX_TEAM_PHASES)}};
        double begin = seconds();
        st = (lx_status){0};
        assert_false(lx_team_run(p, &how, &r, &st));
        assert_true(seconds() - begin < 10);
        if (st.code != LX_E_NO || !strstr(st.text, "device 3"))
            fail_msg("phase %d: \"%s\" does not name device 3", phase, st.text);
    }
    lx_team_free(p);
    lx_graph_free(g);
}

/* A byte that changes on its way: every device is right by itself, and together they are not. */
static void test_wrong_byte(void **state)
{
    (void)state;
    static const char *const patterns[] = {"uneven_44.json", "slice_misses.json", "stencil_3_steps.json"};
    for (int n = 0; n < 3; n++) {
        const struct lx_graph *g = read_pattern("team", patterns[n]);
        struct lx_team_plan *p = make_plan(g, 3);
        struct lx_plan_options plan = plan_options();
        struct lx_team_run_options how = {.timeout_ms = 60000,
                                          .plan = &plan,
                                          .fault = {.kind = LX_TEAM_WRONG_BYTE, .device = n == 1 ? 2 : 1}};
        lx_status st = {0};
        struct lx_team_result r;
        assert_true(lx_team_run(p, &how, &r, &st));
        assert_true(r.exact && !r.ok && r.differing > 0 && r.bad_device < 0);
        lx_team_result_free(&r);
        lx_team_free(p);
        lx_graph_free(g);
    }
}

static void test_transports(void **state)
{
    (void)state;
    lx_status st = {0};
    assert_ptr_equal(lx_transport_find("threads", &st), &lx_transport_threads);
    assert_null(lx_transport_find("mpi", &st)); /* the program lxplan has it */
    assert_int_equal(st.code, LX_E_UNSUPPORTED);
    assert_non_null(strstr(st.text, "has no transport mpi"));
    assert_null(lx_transport_find("pigeons", &st));
    assert_int_equal(st.code, LX_E_UNKNOWN_NAME);
}

/* Without sums a team has one device's bits; with them, nearly its numbers. */
static void test_random(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"fp32", "fp16", "bf16"};
    struct rng r = rng_seed(11);
    int moved = 0, exact = 0, combined = 0;
    for (int n = 0; n < (SANITIZED ? 6 : SAMPLED ? 15 : 240); n++) {
        lx_status st = {0};
        char *text = random_team_pattern(&r, (enum random_sums)(n % 3), dtypes[n / 3 % 3]);
        assert_non_null(text);
        const struct lx_graph *g = lx_graph_of_text("random", text, strlen(text), &st);
        if (!g) fail_msg("%s\n%s", st.text, text);
        struct lx_team_plan *p = make_plan(g, teams[n % TEAMS]);
        expect_sound(p);
        struct lx_team_result result = run_plan(p);
        if (n % 3 == NO_SUMS) assert_true(result.exact);
        exact += result.exact && p->bytes > 0;
        moved += p->bytes > 0;
        combined += p->combine_bytes > 0;
        if (n / 3 % 3 == 0 && result.largest < 1e30 && result.worst > 1e-3 * result.largest)
            fail_msg("off by %g of %g\n%s", result.worst, result.largest, text);
        lx_team_free(p);
        lx_graph_free(g);
        mem_free(text);
    }
    assert_true(SAMPLED || (moved > 80 && exact > 20 && combined > 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns), cmocka_unit_test(test_dtypes),     cmocka_unit_test(test_stencil),
        cmocka_unit_test(test_choices),  cmocka_unit_test(test_json),       cmocka_unit_test(test_faults),
        cmocka_unit_test(test_phases),   cmocka_unit_test(test_wrong_byte), cmocka_unit_test(test_transports),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
