/* Programs of one device that works with others, as one of the whole team: what the devices get is what each op of several
 * devices is said to give, simulated here device by device; and such programs run on their grids. */
#include "unstable.h"
#include "solvers.h"
#include "base/rng.h"
#include "base/text.h"
#include "support/team_least.h"
#include "team/team_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 4096 };

/* One op of several devices, from x to y. */
struct one_op {
    const char *kind;
    int axes, grid[3];
    unsigned group, varies;
    int rank, axis, other;
    int64_t in[4], out[4], k;
    bool exclusive;
    const char *combine;
};

static int devices_of(const struct one_op *q)
{
    int n = 1;
    for (int a = 0; a < q->axes; a++) n *= q->grid[a];
    return n;
}

/* The number of a device counted along some axes only. */
static int place(const struct one_op *q, int device, unsigned axes)
{
    int at = 0, stride = devices_of(q);
    for (int a = 0; a < q->axes; a++) {
        stride /= q->grid[a];
        if (axes >> a & 1) at = at * q->grid[a] + device / stride % q->grid[a];
    }
    return at;
}

static int count_along(const struct one_op *q, unsigned axes)
{
    int n = 1;
    for (int a = 0; a < q->axes; a++) n *= axes >> a & 1 ? q->grid[a] : 1;
    return n;
}

/* The device of the same group whose number in it is j. */
static int peer(const struct one_op *q, int device, int j)
{
    unsigned rest = ((1u << q->axes) - 1) & ~q->group;
    for (int d = 0; d < devices_of(q); d++)
        if (place(q, d, rest) == place(q, device, rest) && place(q, d, q->group) == j) return d;
    return -1;
}

static int64_t product(const int64_t *extent, int from, int to)
{
    int64_t n = 1;
    for (int d = from; d < to; d++) n *= extent[d];
    return n;
}

/* Element i of a device's x: in the data of all devices those along axes that vary come first. */
static float x_of(const struct one_op *q, const float *data, int device, int64_t i)
{
    return data[place(q, device, q->varies) * product(q->in, 0, q->rank) + i];
}

static float sum_of(const struct one_op *q, const float *data, int device, int64_t i)
{
    float sum = 0;
    for (int j = 0; j < count_along(q, q->group); j++) {
        float x = x_of(q, data, peer(q, device, j), i);
        sum = j == 0 ? x : strcmp(q->combine, "max") == 0 ? (x > sum ? x : sum) : sum + x;
    }
    return sum;
}

/* What the op is said to give on a device: element `i` of y. */
static float expected(const struct one_op *q, const float *data, int device, int64_t i)
{
    int n = count_along(q, q->group), me = place(q, device, q->group);
    int64_t small = product(q->in, q->axis, q->rank), big = product(q->out, q->axis, q->rank);
    if (strcmp(q->kind, "all_reduce") == 0) return sum_of(q, data, device, i);
    if (strcmp(q->kind, "all_gather") == 0)
        return x_of(q, data, peer(q, device, (int)(i % big / small)), i / big * small + i % small);
    if (strcmp(q->kind, "reduce_scatter") == 0)
        return sum_of(q, data, device, i / big * small + me * big + i % big);
    if (strcmp(q->kind, "device_part") == 0)
        return x_of(q, data, device, i / big * small + me * big + i % big);
    if (strcmp(q->kind, "device_id") == 0) return (float)me;
    if (strcmp(q->kind, "device_permute") == 0) {
        int64_t from = me - q->k;
        if (from < 0 && q->exclusive) return 0;
        return x_of(q, data, peer(q, device, (int)((from + n) % n)), i);
    }
    /* all_to_all: along `other` the parts of all, of each the part of this device along `axis` */
    int64_t at[4], rest = i, index = 0;
    for (int d = q->rank - 1; d >= 0; d--) at[d] = rest % q->out[d], rest /= q->out[d];
    int64_t from = at[q->other] / (q->out[q->other] / n);
    at[q->other] %= q->out[q->other] / n;
    at[q->axis] += me * (q->in[q->axis] / n);
    for (int d = 0; d < q->rank; d++) index = index * q->in[d] + at[d];
    return x_of(q, data, peer(q, device, (int)from), index);
}

static void add_shape(struct text *t, const int64_t *extent, int rank)
{
    for (int d = 0; d < rank; d++) text_format(t, d ? ", %lld" : "%lld", (long long)extent[d]);
}

static const struct lx_graph *graph_of(const struct one_op *q)
{
    struct text t = {0};
    lx_status st = {0};
    bool number = strcmp(q->kind, "device_id") == 0;
    text_add(&t, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"one\", \"grid\": [");
    for (int a = 0; a < q->axes; a++) text_format(&t, a ? ", %d" : "%d", q->grid[a]);
    text_add(&t, "], \"tensors\": [{\"name\": \"x\", \"dtype\": \"fp32\", \"role\": \"input\", \"shape\": [");
    add_shape(&t, q->in, q->rank);
    text_add(&t, "], \"cut\": [");
    for (int a = 0; a < q->axes; a++) text_format(&t, a ? ", %d" : "%d", q->varies >> a & 1 ? 0 : -1);
    text_format(&t, "]}, {\"name\": \"c\", \"dtype\": \"fp32\", \"shape\": [");
    add_shape(&t, q->out, number ? 0 : q->rank);
    text_format(&t, "]}, {\"name\": \"y\", \"dtype\": \"fp32\", \"role\": \"output\", \"shape\": [");
    add_shape(&t, q->out, q->rank);
    text_format(&t,
                "]}], \"ops\": [{\"name\": \"c\", \"kind\": \"%s\", \"inputs\": [%s], \"output\": \"c\", "
                "\"group\": [",
                q->kind, number ? "" : "\"x\"");
    for (int a = 0, n = 0; a < q->axes; a++)
        if (q->group >> a & 1) text_format(&t, n++ ? ", %d" : "%d", a);
    text_add(&t, "]");
    if (strcmp(q->kind, "all_to_all") == 0)
        text_format(&t, ", \"axes\": [%d, %d]", q->axis, q->other);
    else if (strcmp(q->kind, "device_permute") == 0)
        text_format(&t, ", \"k\": %lld%s", (long long)q->k, q->exclusive ? ", \"exclusive\": true" : "");
    else if (!number && strcmp(q->kind, "all_reduce") != 0)
        text_format(&t, ", \"axis\": %d", q->axis);
    if (strstr(q->kind, "reduce")) text_format(&t, ", \"combine\": \"%s\"", q->combine);
    text_format(&t, "}, {\"name\": \"y\", \"kind\": \"%s\", \"inputs\": [\"c\"%s], \"output\": \"y\"%s}]}",
                number ? "add" : "clone", number ? ", \"x\"" : "",
                number && q->rank == 2 ? ", \"einsum\": \",ab->ab\""
                : number               ? ", \"einsum\": \",a->a\""
                                       : "");
    const struct lx_graph *g = lx_graph_of_text("one", t.at, t.length, &st);
    if (!g) fail_msg("%s\n%s", st.text, t.at);
    text_free(&t);
    return g;
}

struct data {
    float x[MOST], y[MOST];
    int64_t count, results;
};

static void give(void *context, int32_t tensor, void *items)
{
    struct data *d = context;
    (void)tensor;
    memcpy(items, d->x, (size_t)d->count * sizeof *d->x);
}

static void take(void *context, int32_t tensor, const void *items)
{
    struct data *d = context;
    (void)tensor;
    memcpy(d->y, items, sizeof d->y[0] * (size_t)d->results);
}

static int64_t elements(const struct lx_graph *g, const char *name)
{
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (strcmp(g->tensors[t].name, name) == 0) return product(g->tensors[t].shape, 0, g->tensors[t].rank);
    return 0;
}

/* All devices' results at once on one device, beside what each is said to have. */
static void expect_whole(const struct one_op *q, const struct lx_graph *whole)
{
    static struct data d;
    lx_status st = {0};
    struct lx_plan_options plan = {.solver = lx_solver_find("greedy")};
    struct lx_device_options run = {.verify = LX_VERIFY_OPS, .input = give, .output = take, .context = &d};
    struct rng r = rng_seed(5);
    d.count = elements(whole, "x");
    d.results = elements(whole, "y");
    assert_true(d.count <= MOST && d.results <= MOST);
    for (int64_t i = 0; i < d.count; i++) d.x[i] = (float)rng_below(&r, 64);
    struct lx_plan *p = lx_plan_make(whole, &plan, &st);
    struct lx_run_result *result = p ? lx_device_run(p, &run, &st) : NULL;
    if (!result || !result->ok) fail_msg("%s: %s", q->kind, st.text);
    int64_t own = product(q->out, 0, q->rank);
    bool number = strcmp(q->kind, "device_id") == 0;
    for (int device = 0; device < devices_of(q); device++)
        for (int64_t i = 0; i < own; i++) {
            unsigned front = strcmp(q->kind, "all_reduce") == 0 || strcmp(q->kind, "all_gather") == 0
                                 ? q->varies & ~q->group
                             : strcmp(q->kind, "device_permute") == 0 ? q->varies
                                                                      : q->varies | q->group;
            float got = d.y[place(q, device, front) * own + i], want = expected(q, d.x, device, i);
            if (number) want += x_of(q, d.x, device, i);
            if (got != want)
                fail_msg("%s: element %lld of device %d is %g instead of %g", q->kind, (long long)i, device,
                         got, want);
        }
    lx_run_result_free(result);
    lx_plan_free(p);
}

/* And on its team; the bytes that travel. */
static int64_t expect_team(const struct one_op *q, const struct lx_graph *g)
{
    lx_status st = {0};
    struct lx_team_options how = {.grid = {q->axes, {q->grid[0], q->grid[1], q->grid[2]}}};
    struct lx_plan_options plan = {.solver = lx_solver_find("greedy")};
    struct lx_team_run_options run = {.seed = 3, .plan = &plan, .timeout_ms = 60000};
    struct lx_team_result r;
    struct lx_team_plan *p = lx_team_make(g, &how, &st);
    if (!p || !lx_team_check(p, &st)) fail_msg("%s: %s", q->kind, st.text);
    for (int32_t t = 0; t < p->graph->tensor_count; t++)
        for (int a = 0; p->graph->tensors[t].cut_stated && a < q->axes; a++)
            assert_int_equal(p->tensors[t].shard[a], p->graph->tensors[t].cut[a]);
    if (!lx_team_run(p, &run, &r, &st)) fail_msg("%s: %s", q->kind, st.text);
    assert_true(r.ok);
    int64_t bytes = p->bytes + p->combine_bytes;
    assert_in_range(team_least_of(p, false), 0, bytes);
    assert_in_range(team_least_of(p, true), 0, bytes);
    lx_team_result_free(&r);
    lx_team_free(p);
    return bytes;
}

/* An op of any kind over any axes, with any of them alike: what it gives by its definition, and on a team. */
static void expect_random(struct rng *r)
{
    static const char *const kinds[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                        "device_part"};
    static const int64_t extents[] = {1, 2, 4, 6, 12};
    lx_status st = {0};
    struct one_op q = {.kind = kinds[rng_below(r, 5)], .axes = 1 + (int)rng_below(r, 3), .grid = {2, 2, 2}};
    q.grid[rng_below(r, 3)] = 2 + (int)rng_below(r, 2);
    q.combine = rng_below(r, 2) ? "add" : "max";
    q.varies = (unsigned)rng_below(r, 1ull << q.axes);
    q.group = 1 + (unsigned)rng_below(r, (1ull << q.axes) - 1);
    q.rank = 2 + (int)rng_below(r, 2);
    q.axis = (int)rng_below(r, (uint64_t)q.rank);
    q.other = (q.axis + 1) % q.rank;
    for (int d = 0; d < q.rank; d++) q.in[d] = q.out[d] = extents[rng_below(r, 5)];
    int n = count_along(&q, q.group);
    bool gathers = strcmp(q.kind, "all_gather") == 0;
    if (strcmp(q.kind, "all_reduce") != 0) q.in[q.axis] = gathers ? q.in[q.axis] : q.out[q.axis] * n;
    if (gathers) q.out[q.axis] *= n;
    if (strcmp(q.kind, "all_to_all") == 0) q.out[q.other] *= n;
    int64_t most = 2 * devices_of(&q) * product(q.in, 0, q.rank) + devices_of(&q) * product(q.out, 0, q.rank);
    if (most > MOST) return;
    const struct lx_graph *g = graph_of(&q), *whole = team_global_program(g, &st);
    if (!whole) fail_msg("%s of group %u, %u vary: %s", q.kind, q.group, q.varies, st.text);
    expect_whole(&q, whole);
    struct lx_team_options how = {.grid = {q.axes, {q.grid[0], q.grid[1], q.grid[2]}}};
    struct lx_team_plan *p = lx_team_make(g, &how, &st);
    if (!p || !lx_team_check(p, &st)) fail_msg("%s: %s", q.kind, st.text);
    lx_team_free(p);
    lx_graph_free(whole);
    lx_graph_free(g);
}

static void test_any(void **state)
{
    struct rng r = rng_seed(17);
    (void)state;
    for (int i = 0; i < 150; i++) expect_random(&r);
}

static int64_t expect(struct one_op q)
{
    lx_status st = {0};
    if (!q.combine) q.combine = "add";
    const struct lx_graph *g = graph_of(&q), *whole = team_global_program(g, &st);
    assert_true(team_is_device_program(g));
    if (!whole) fail_msg("%s: %s", q.kind, st.text);
    expect_whole(&q, whole);
    int64_t bytes = expect_team(&q, g);
    lx_graph_free(whole);
    lx_graph_free(g);
    return bytes;
}

static void test_kinds(void **state)
{
    (void)state;
    /* clang-format off */
    assert_int_equal(expect((struct one_op){"all_gather", 1, {4}, 1, 1, 2, 0, 0, {2, 8}, {8, 8}, .k = 0}), 4 * 3 * 16 * 4);
    expect((struct one_op){"all_gather", 2, {2, 3}, 2, 3, 2, 1, 0, {4, 2}, {4, 6}, .k = 0});
    expect((struct one_op){"all_gather", 2, {2, 2}, 3, 3, 2, 0, 0, {2, 8}, {8, 8}, .k = 0});
    expect((struct one_op){"all_gather", 2, {2, 2}, 1, 3, 3, 1, 0, {2, 3, 4}, {2, 6, 4}, .k = 0});
    assert_in_range(expect((struct one_op){"all_reduce", 1, {4}, 1, 1, 2, 0, 0, {8, 4}, {8, 4}, .k = 0}), 1, 2 * 3 * 32 * 4 * 2);
    expect((struct one_op){"all_reduce", 3, {2, 2, 2}, 5, 7, 1, 0, 0, {8}, {8}, .k = 0});
    expect((struct one_op){"all_reduce", 2, {2, 2}, 1, 3, 2, 0, 0, {4, 4}, {4, 4}, .combine = "max"});
    expect((struct one_op){"all_reduce", 2, {2, 2}, 1, 2, 2, 0, 0, {4, 4}, {4, 4}, .k = 0}); /* the same on all: doubled */
    expect((struct one_op){"reduce_scatter", 1, {4}, 1, 1, 2, 0, 0, {8, 4}, {2, 4}, .k = 0});
    expect((struct one_op){"reduce_scatter", 2, {2, 3}, 2, 3, 2, 1, 0, {4, 6}, {4, 2}, .k = 0});
    expect((struct one_op){"all_to_all", 1, {4}, 1, 1, 2, 0, 1, {8, 3}, {2, 12}, .k = 0});
    expect((struct one_op){"all_to_all", 2, {2, 3}, 2, 3, 3, 1, 0, {2, 6, 2}, {6, 2, 2}, .k = 0});
    expect((struct one_op){"device_part", 2, {2, 3}, 2, 1, 2, 1, 0, {4, 6}, {4, 2}, .k = 0});
    expect((struct one_op){"device_part", 1, {4}, 1, 0, 1, 0, 0, {16}, {4}, .k = 0});
    /* contents that differ where a part is taken, or are the same on some of those that join theirs */
    assert_int_equal(expect((struct one_op){"device_part", 1, {4}, 1, 1, 2, 0, 0, {8, 3}, {2, 3}, .k = 0}), 0);
    assert_int_equal(expect((struct one_op){"device_part", 2, {2, 3}, 3, 3, 2, 1, 0, {4, 12}, {4, 2}, .k = 0}), 0);
    expect((struct one_op){"device_part", 2, {2, 3}, 3, 2, 1, 0, 0, {12}, {2}, .k = 0});
    expect((struct one_op){"all_reduce", 2, {2, 3}, 3, 2, 1, 0, 0, {8}, {8}, .k = 0});
    expect((struct one_op){"all_reduce", 2, {2, 2}, 3, 1, 1, 0, 0, {8}, {8}, .combine = "max"});
    expect((struct one_op){"all_reduce", 2, {2, 2}, 1, 2, 1, 0, 0, {8}, {8}, .combine = "max"});
    expect((struct one_op){"all_gather", 1, {4}, 1, 1, 2, 0, 0, {1, 4}, {4, 4}, .k = 0}); /* one element of each */
    expect((struct one_op){"all_to_all", 1, {4}, 1, 1, 2, 0, 1, {4, 1}, {1, 4}, .k = 0});
    expect((struct one_op){"reduce_scatter", 2, {2, 3}, 3, 1, 2, 1, 0, {4, 6}, {4, 1}, .k = 0});
    expect((struct one_op){"all_to_all", 2, {2, 2}, 1, 2, 2, 0, 1, {4, 3}, {2, 6}, .k = 0});
    expect((struct one_op){"all_to_all", 2, {2, 2}, 3, 1, 2, 0, 1, {4, 3}, {1, 12}, .k = 0});
    expect((struct one_op){"device_permute", 1, {4}, 1, 1, 2, 0, 0, {4, 4}, {4, 4}, .k = 1});
    expect((struct one_op){"device_permute", 2, {2, 3}, 2, 3, 1, 0, 0, {8}, {8}, .k = 2});
    expect((struct one_op){"device_permute", 1, {4}, 1, 1, 1, 0, 0, {8}, {8}, .k = 1, .exclusive = true});
    expect((struct one_op){"device_id", 2, {2, 3}, 3, 3, 1, 0, 0, {8}, {8}, .k = 0});
    expect((struct one_op){"device_id", 2, {2, 3}, 2, 3, 2, 0, 0, {2, 4}, {2, 4}, .k = 0});
    /* clang-format on */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_any)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
