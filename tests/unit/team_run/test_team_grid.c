/* Teams in grids: members run what the plan says and agree with one device, exchanges are as few as they can be, and the
 * cuts that are chosen cost no more than any others. */
#include "unstable.h"
#include "base/memory.h"
#include "support/random_team.h"
#include "support/sampled.h"
#include "team/shard/shard_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct lx_team_grid grids[] = {{2, {2, 2}},    {2, {1, 3}}, {2, {3, 2}},
                                            {3, {2, 1, 2}}, {2, {2, 4}}, {3, {2, 2, 2}}};
enum { GRIDS = sizeof grids / sizeof *grids };

static const struct lx_graph *graph_of(const char *text)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("grid", text, strlen(text), &st);
    if (!g) fail_msg("%s\n%s", st.text, text);
    return g;
}

static struct lx_team_plan *plan_of(const struct lx_graph *g, struct lx_team_options how)
{
    lx_status st = {0};
    struct lx_team_plan *p = lx_team_make(g, &how, &st);
    if (!p || !lx_team_check(p, &st)) fail_msg("%s: %s", g->name, st.text);
    return p;
}

/* Runs it on devices; the largest difference to one device, of the largest element. */
static double run(const struct lx_team_plan *p)
{
    lx_status st = {0};
    struct lx_plan_options plan = {.solver = lx_solver_find("greedy")};
    struct lx_team_run_options how = {.seed = 3, .plan = &plan, .timeout_ms = 60000};
    struct lx_team_result r;
    if (!lx_team_run(p, &how, &r, &st)) fail_msg("%s: %s", p->graph->name, st.text);
    if (!r.ok)
        fail_msg("%s: %lld of %lld elements differ", p->graph->name, (long long)r.differing,
                 (long long)r.elements);
    assert_int_equal(r.total.bytes, p->bytes);
    assert_int_equal(r.total.combine_bytes, p->combine_bytes);
    double worst = r.worst / (r.largest > 0 ? r.largest : 1);
    lx_team_result_free(&r);
    return worst;
}

/* A file of it is read back as it was. */
static void expect_file(struct lx_team_plan *p)
{
    lx_status st = {0};
    size_t length = 0;
    struct lx_plan_options how = {.solver = lx_solver_find("greedy")};
    struct lx_team_plans *plans = lx_team_plans_make(p, &how, &st), *back;
    char *text = plans ? lx_team_plans_to_json(plans, &length) : NULL;
    if (!text) fail_msg("%s", st.text);
    back = lx_team_plans_parse("plan", text, length, &st);
    if (!back || !lx_team_plans_check(back, &st)) fail_msg("%s", st.text);
    assert_true(back->team->hash == plans->team->hash);
    mem_free(text);
    lx_team_plans_free(back);
    lx_team_plans_free(plans);
}

static void test_random(void **state)
{
    (void)state;
    for (int n = 0; n < (SANITIZED ? 6 : SAMPLED ? 10 : 300); n++) {
        struct rng r = rng_seed((uint64_t)(900 + n));
        char *text = random_team_pattern(&r, (enum random_sums)(n % 3), "fp32");
        const struct lx_graph *g = graph_of(text);
        struct lx_team_plan *p =
            plan_of(g, (struct lx_team_options){.grid = grids[n % GRIDS], .by_time = n % 4 == 3});
        assert_true(run(p) < 1e-4);
        expect_file(p);
        lx_graph_free(g);
        mem_free(text);
    }
}

/* Two steps of a star of radius 1 on 64 x 64: each member gets the rows and columns next to its own, and no corner twice. */
static void test_perimeter(void **state)
{
    (void)state;
    const struct lx_graph *g = graph_of(
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"star\", \"tensors\": [{\"name\": \"x\", "
        "\"shape\": [64, 64]}, "
        "{\"name\": \"n\", \"shape\": [64, 64]},"
        "{\"name\": \"w\", \"shape\": [64, 64]}, {\"name\": \"y\", \"shape\": [64, 64], \"role\": "
        "\"output\"}],"
        "\"ops\": [{\"name\": \"n\", \"kind\": \"shift\", \"inputs\": [\"x\"], \"output\": \"n\", "
        "\"offset\": [1, 0]},"
        "{\"name\": \"w\", \"kind\": \"shift\", \"inputs\": [\"x\"], \"output\": \"w\", \"offset\": [0, 1]},"
        "{\"name\": \"y\", \"kind\": \"add\", \"inputs\": [\"n\", \"w\"], \"output\": \"y\"}]}");
    struct lx_team_plan *p = plan_of(g, (struct lx_team_options){.grid = {2, {2, 2}}});
    assert_int_equal(p->exchange_count, 1);
    /* two members get a row of 32, two a column of 32, and nobody the corner of both */
    assert_int_equal(p->bytes, 4 * 32 * 2);
    assert_int_equal(p->exchanges[0].pattern, LX_TEAM_HALO);
    assert_true(run(p) == 0);
    lx_team_free(p);
    lx_graph_free(g);
}

/* Columns of the first matrix are cut: then rows of the second are, and one sum of the output crosses the links, in two
 * rounds, and nothing else. */
static void test_column_row(void **state)
{
    (void)state;
    const struct lx_graph *g =
        graph_of("{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"mlp\", \"tensors\": [{\"name\": \"x\", "
                 "\"shape\": [1, 256]},"
                 "{\"name\": \"a\", \"shape\": [256, 1024], \"role\": \"weight\"}, {\"name\": \"b\", "
                 "\"shape\": [1024, 256], \"role\": \"weight\"},"
                 "{\"name\": \"h\", \"shape\": [1, 1024]}, {\"name\": \"s\", \"shape\": [1, 1024]}, "
                 "{\"name\": \"y\", \"shape\": [1, 256], \"role\": \"output\"}],"
                 "\"ops\": [{\"name\": \"up\", \"kind\": \"matmul\", \"inputs\": [\"x\", \"a\"], \"output\": "
                 "\"h\", \"einsum\": \"mk,kn->mn\"},"
                 "{\"name\": \"silu\", \"kind\": \"silu\", \"inputs\": [\"h\"], \"output\": \"s\"},"
                 "{\"name\": \"down\", \"kind\": \"matmul\", \"inputs\": [\"s\", \"b\"], \"output\": \"y\", "
                 "\"einsum\": \"mk,kn->mn\"}]}");
    struct lx_team_choice choices[] = {{"x", {-1, -1, -1}}, {"a", {1, -1, -1}}, {"y", {-1, -1, -1}}};
    struct lx_team_plan *p =
        plan_of(g, (struct lx_team_options){.devices = 4, .choices = choices, .choice_count = 3});
    assert_int_equal(p->tensors[2].shard[0], 0);
    assert_int_equal(p->bytes, 0);
    assert_int_equal(p->combine_bytes, 2 * 3 * 256 * 2);
    assert_true(run(p) < 1e-2);
    lx_team_free(p);
    lx_graph_free(g);
}

/* An axis of one member gives the search nothing to choose: no op has more ways for it, and the plan is that of the grid
 * without it, whatever is stated along it. */
static void test_axis_of_one(void **state)
{
    (void)state;
    static const struct lx_team_grid with = {3, {2, 1, 3}}, without = {2, {2, 3}};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/team/attention_grid.json", NULL);
    assert_non_null(g);
    bool *parts = mem_zeroed((size_t)g->tensor_count, sizeof *parts);
    shard_ways a = {0}, b = {0};
    shard_find_partial(g, NULL, parts);
    for (int32_t o = 0; o < g->op_count; o++) {
        shard_ways_of(g, &with, o, parts, &a);
        shard_ways_of(g, &without, o, parts, &b);
        assert_int_equal(a.count, b.count);
    }
    struct lx_team_choice choice = {g->tensors[0].name, {-1, 0, 1}}, same = {g->tensors[0].name, {-1, 1, -1}};
    struct lx_team_plan *p =
        plan_of(g, (struct lx_team_options){.grid = with, .choices = &choice, .choice_count = 1});
    struct lx_team_plan *q =
        plan_of(g, (struct lx_team_options){.grid = without, .choices = &same, .choice_count = 1});
    assert_int_equal(p->bytes, q->bytes);
    assert_int_equal(p->combine_bytes, q->combine_bytes);
    for (int32_t t = 0; t < g->tensor_count; t++) {
        assert_int_equal(p->tensors[t].shard[0], q->tensors[t].shard[0]);
        assert_int_equal(p->tensors[t].shard[1], -1);
        assert_int_equal(p->tensors[t].shard[2], q->tensors[t].shard[1]);
    }
    VEC_FREE(&a);
    VEC_FREE(&b);
    mem_free(parts);
    lx_team_free(p);
    lx_team_free(q);
    lx_graph_free(g);
}

/* Rows of the input, cut by both axes, exchange nothing; blocks of it, one dimension for each axis, would. */
static void test_rows_of_inputs(void **state)
{
    (void)state;
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/team/mlp_grid.json", NULL);
    assert_non_null(g);
    struct lx_team_choice blocks = {"x", {0, 1, -1}};
    struct lx_team_plan *p = plan_of(g, (struct lx_team_options){.grid = {2, {2, 2}}});
    struct lx_team_plan *q =
        plan_of(g, (struct lx_team_options){.grid = {2, {2, 2}}, .choices = &blocks, .choice_count = 1});
    assert_int_equal(p->bytes + p->combine_bytes, 0);
    assert_true(q->bytes + q->combine_bytes > 0);
    assert_int_equal(q->tensors[0].shard[1], 1);
    lx_team_free(p);
    lx_team_free(q);
    lx_graph_free(g);
}

/* Every choice of states and ways, one after the other; of what is made in parts, every state that it may be joined in, or
 * none. */
struct brute {
    const struct shard_question *q;
    struct shard_prices *prices;
    bool parts[16];
    struct shard_state made[16], state[16];
    bool known[16], joined[16];
    struct {
        int32_t tensor;
        uint32_t brings;
    } brought[64];
    int brought_count;
    struct shard_cost best;
    int64_t tried;
};

static void try_ops(struct brute *b, int32_t o, struct shard_cost cost);

static bool worse(const struct brute *b, struct shard_cost cost)
{
    if (b->q->by_time) return cost.us >= b->best.us;
    return cost.bytes > b->best.bytes || (cost.bytes == b->best.bytes && cost.us >= b->best.us);
}

static void pay(struct shard_cost *sum, struct shard_cost one)
{
    sum->bytes += one.bytes;
    sum->us += one.us;
}

/* Pays for what an input takes; false: it is not there in the way in which it is read. */
static bool read_input(struct brute *b, int32_t o, int i, const struct shard_way *way,
                       struct shard_cost *cost)
{
    const struct lx_op *op = &b->q->g->ops[o];
    int32_t t = op->inputs[i];
    if (team_reads_partial(op, way->var.at, i)) {
        if (!shard_takes_partial(op, i, way->var, b->made[t])) return false;
        if (b->joined[t] && shard_shares(b->made[t], b->state[t])) return false;
        return shard_price_read(b->prices, o, i, b->made[t], way->var).brings == 0;
    }
    if (!b->joined[t]) return false;
    struct shard_price price = shard_price_read(b->prices, o, i, b->state[t], way->var);
    bool there = price.brings == 0;
    for (int k = 0; k < b->brought_count; k++)
        there |= b->brought[k].tensor == t && b->brought[k].brings == price.brings;
    if (there) return true;
    b->brought[b->brought_count].tensor = t;
    b->brought[b->brought_count++].brings = price.brings;
    pay(cost, price.cost);
    return true;
}

/* The result is left in parts, or joined. */
static void make_result(struct brute *b, int32_t o, const struct shard_way *way, struct shard_cost cost)
{
    const struct lx_op *op = &b->q->g->ops[o];
    struct shard_state joins[SHARD_JOINS];
    int32_t t = op->output;
    bool parts = shard_is_partial(way->out), reads = false;
    int count = shard_joins_of(&b->q->g->tensors[t], &b->q->grid, way->out, joins);
    for (int i = 0; i < op->input_count; i++) reads |= team_reads_partial(op, way->var.at, i);
    b->made[t] = way->out;
    for (int n = parts && !lx_role_leaves(b->q->g->tensors[t].role) && !b->q->fixed[t] ? -1 : 0; n < count;
         n++) {
        struct shard_cost all = cost;
        b->joined[t] = n >= 0;
        b->state[t] = n >= 0 ? joins[n] : way->out;
        if (n >= 0 && b->q->fixed[t] && !shard_same(b->state[t], b->q->state[t])) continue;
        if (n >= 0 && reads && shard_shares(way->out, joins[n])) continue;
        if (n >= 0 && parts) pay(&all, shard_price_join(b->prices, o, way->out, joins[n]));
        try_ops(b, o + 1, all);
    }
}

static void take(struct brute *b, int32_t o, const struct shard_way *way, struct shard_cost cost)
{
    const struct lx_op *op = &b->q->g->ops[o];
    int count = b->brought_count;
    bool ok = true;
    pay(&cost, shard_price_op(b->prices, o, way));
    for (int i = 0; ok && i < op->input_count; i++) ok = read_input(b, o, i, way, &cost);
    bool first = !b->known[op->output];
    b->known[op->output] = true;
    if (ok) make_result(b, o, way, cost);
    b->brought_count = count;
    b->known[op->output] = !first;
}

/* All states of the inputs that nobody has read yet. */
static void try_inputs(struct brute *b, int32_t o, const struct shard_way *way, int i, struct shard_cost cost)
{
    const struct lx_op *op = &b->q->g->ops[o];
    if (i == op->input_count) {
        take(b, o, way, cost);
        return;
    }
    int32_t t = op->inputs[i];
    if (b->known[t]) {
        try_inputs(b, o, way, i + 1, cost);
        return;
    }
    int rank = b->q->g->tensors[t].rank, all = 1;
    for (int a = 0; a < b->q->grid.axes; a++) all *= rank + 1;
    b->known[t] = true;
    for (int n = 0; n < (b->q->fixed[t] ? 1 : all); n++) {
        struct shard_state s = {{-1, -1, -1}};
        for (int a = 0, rest = n; a < b->q->grid.axes; a++, rest /= rank + 1)
            s.at[a] = (signed char)(rest % (rank + 1) - 1);
        b->made[t] = b->state[t] = b->q->fixed[t] ? b->q->state[t] : s;
        b->joined[t] = true;
        try_inputs(b, o, way, i + 1, cost);
    }
    b->known[t] = false;
}

static void try_ops(struct brute *b, int32_t o, struct shard_cost cost)
{
    if (worse(b, cost)) return;
    if (o == b->q->g->op_count) {
        b->best = cost;
        return;
    }
    shard_ways ways = {0};
    shard_ways_of(b->q->g, &b->q->grid, o, b->parts, &ways);
    for (size_t w = 0; w < ways.count; w++) try_inputs(b, o, &ways.at[w], 0, cost);
    b->tried += (int64_t)ways.count;
    VEC_FREE(&ways);
}

/* Which op comes next of which tensors: any; of twins, two products of one tensor and their sum or difference first. */
struct small_op {
    int kind, from, other;
};

static struct small_op next_op(struct rng *r, int n, bool twins)
{
    struct small_op o = {(int)rng_below(r, 8) % 6, rng_below(r, 2) ? n - 1 : (int)rng_below(r, (uint64_t)n),
                         (int)rng_below(r, (uint64_t)n)};
    if (twins && n <= 2) o = (struct small_op){0, 0, 0};
    if (twins && n == 3) o = (struct small_op){rng_below(r, 2) ? 1 : 4, 2, 1};
    return o;
}

/* Up to six ops with weights, sums and differences of what was there before, and multiples. */
static char *small_pattern(struct rng *r, bool twins)
{
    static const char *const dims[] = {"1", "2", "3", "4", "6", "8"};
    struct text tensors = {0}, ops = {0}, all = {0};
    int rows = (int)rng_below(r, 4), columns = 2 + (int)rng_below(r, 4), count = 2 + (int)rng_below(r, 5);
    int width[8] = {columns};
    text_format(&tensors, "{\"name\": \"t0\", \"shape\": [%s, %s]}", dims[rows], dims[columns]);
    for (int n = 1; n <= count; n++) {
        const struct small_op next = next_op(r, n, twins);
        int from = next.from, kind = next.kind, other = next.other;
        int to = kind != 0 ? width[from] : twins && n == 2 ? width[1] : 2 + (int)rng_below(r, 4);
        text_format(&tensors, ", {\"name\": \"t%d\", \"shape\": [%s, %s]}", n, dims[rows], dims[to]);
        text_format(&ops, "%s{\"name\": \"o%d\", \"output\": \"t%d\", ", n > 1 ? ", " : "", n, n);
        if (kind == 0) {
            text_format(&tensors, ", {\"name\": \"w%d\", \"shape\": [%s, %s], \"role\": \"weight\"}", n,
                        dims[width[from]], dims[to]);
            text_format(&ops,
                        "\"kind\": \"matmul\", \"inputs\": [\"t%d\", \"w%d\"], \"einsum\": \"mk,kn->mn\"}",
                        from, n);
        } else if (kind == 1 && width[other] == width[from])
            text_format(&ops, "\"kind\": \"add\", \"inputs\": [\"t%d\", \"t%d\"]}", from, other);
        else if (kind == 4 && width[other] == width[from])
            text_format(&ops, "\"kind\": \"sub\", \"inputs\": [\"t%d\", \"t%d\"]}", other, from);
        else if (kind == 5)
            text_format(&ops, "\"kind\": \"mul\", \"inputs\": [\"t%d\"], \"value\": 0.5}", from);
        else if (kind == 2)
            text_format(&ops, "\"kind\": \"shift\", \"inputs\": [\"t%d\"], \"offset\": [1, 0]}", from);
        else
            text_format(&ops, "\"kind\": \"tanh\", \"inputs\": [\"t%d\"]}", from);
        width[n] = to;
    }
    text_format(
        &all, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"small\", \"tensors\": [%s], \"ops\": [%s]}",
        tensors.at, ops.at);
    text_free(&tensors);
    text_free(&ops);
    return all.at;
}

/* Of every second graph the weights lie as they happen to, so that sums are cut. */
static void fix_weights(struct rng *r, const struct lx_graph *g, int axes, bool *fixed,
                        struct shard_state *states)
{
    for (int32_t t = 0; t < g->tensor_count; t++) {
        if (g->tensors[t].role != LX_WEIGHT || rng_below(r, 8) == 0) continue;
        fixed[t] = true;
        states[t] = (struct shard_state){{-1, -1, -1}};
        for (int a = 0; a < axes; a++) states[t].at[a] = rng_below(r, 4) ? 0 : 1;
    }
}

/* Ops that read parts. */
static int reads_of_parts(const struct lx_graph *g, const struct shard_way *ways)
{
    int count = 0;
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < g->ops[o].input_count; i++)
            count += team_reads_partial(&g->ops[o], ways[o].var.at, i);
    return count;
}

/* The same graphs on devices, with weights that lie as they happen to: parts are read by whatever comes behind them. */
static void test_run_parts(void **state)
{
    (void)state;
    static const struct lx_team_grid small[] = {{1, {2}}, {1, {3}}, {2, {2, 2}}, {2, {2, 3}}};
    int parts = 0;
    for (int n = 0; n < (SAMPLED ? 20 : 1000); n++) {
        struct rng r = rng_seed((uint64_t)(7000 + n));
        char *text = small_pattern(&r, n % 4 != 0);
        const struct lx_graph *g = graph_of(text);
        struct lx_team_options how = {.grid = small[n / 4 % 4], .by_time = n % 8 == 7};
        bool fixed[16] = {0};
        struct shard_state states[16];
        struct lx_team_choice choices[16];
        fix_weights(&r, g, how.grid.axes, fixed, states);
        for (int32_t t = 0; t < g->tensor_count; t++) {
            if (!fixed[t]) continue;
            struct lx_team_choice *c = &choices[how.choice_count++];
            c->tensor = g->tensors[t].name;
            for (int a = 0; a < LX_TEAM_AXES; a++) c->shard[a] = states[t].at[a];
        }
        how.choices = choices;
        struct lx_team_plan *p = plan_of(g, how);
        for (int32_t o = 0; o < g->op_count; o++) parts += p->ops[o].mode == LX_TEAM_KEPT_PARTIAL;
        assert_true(run(p) < 2e-2);
        lx_team_free(p);
        lx_graph_free(g);
        mem_free(text);
    }
    assert_true(parts > 10);
}

static void test_brute(void **state)
{
    (void)state;
    static const struct lx_team_grid small[] = {{1, {2}}, {1, {3}}, {1, {4}}, {2, {2, 2}}};
    int64_t tried = 0;
    int parts = 0;
    for (int n = 0; n < (SANITIZED ? 12 : 200); n++) {
        struct rng r = rng_seed((uint64_t)(4000 + n));
        char *text = small_pattern(&r, n / 4 % 2);
        const struct lx_graph *g = graph_of(text);
        bool fixed[16] = {0};
        struct shard_state states[16] = {{{0, -1, -1}}}, tensors[16];
        struct shard_way ways[16];
        struct shard_question q = {
            .g = g, .grid = small[n % 4], .by_time = n % 2, .fixed = fixed, .state = states};
        fixed[0] = n % 3 == 0;
        if (n / 4 % 2) fix_weights(&r, g, q.grid.axes, fixed, states);
        struct shard_answer answer = {.tensors = tensors, .ways = ways};
        assert_true(g->tensor_count <= 16 && shard_search(&q, &answer));
        struct brute b = {
            .q = &q, .prices = shard_prices_make(g, &q.grid, false, NULL), .best = {INT64_MAX, 1e300}};
        shard_find_partial(g, NULL, b.parts);
        try_ops(&b, 0, (struct shard_cost){0, 0});
        if (q.by_time)
            assert_true(answer.cost.us <= b.best.us * (1 + 1e-12) &&
                        answer.cost.us >= b.best.us * (1 - 1e-12));
        else
            assert_int_equal(answer.cost.bytes, b.best.bytes);
        tried += b.tried;
        parts += reads_of_parts(g, ways);
        shard_prices_free(b.prices);
        lx_graph_free(g);
        mem_free(text);
    }
    printf("%lld ways tried; %d reads of parts\n", (long long)tried, parts);
    assert_true(SANITIZED || parts > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),      cmocka_unit_test(test_perimeter),
        cmocka_unit_test(test_column_row),  cmocka_unit_test(test_run_parts),
        cmocka_unit_test(test_brute),       cmocka_unit_test(test_rows_of_inputs),
        cmocka_unit_test(test_axis_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
