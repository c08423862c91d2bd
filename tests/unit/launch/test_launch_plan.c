/* Launches of whole plans: of every bundled pattern, on several devices, every op is launched in every way with
 * each element computed once, and what a core on shards computes is what the plan's division gives it. */
#include "support/each_plan.h"
#include "base/memory.h"
#include "support/listed_pieces.h"

enum { MOST_LISTED = 1 << 14 };

struct totals {
    int plans, ops, sharded, cut_twice, split_sums, global, listed, whole, two_levels;
};

static void count(struct totals *t, const struct lx_op_launch *o)
{
    bool local = o->launch && o->launch->mode == LX_PARTITION_LOCAL_SHARD;
    int cut = 0;
    for (int d = 0; d < o->rank; d++) cut += o->dim[d].parts > 1;
    t->ops++;
    t->whole += o->kind == LX_LAUNCH_WHOLE;
    t->sharded += local;
    t->global += o->launch && !local;
    t->cut_twice += cut > 1;
    t->split_sums += o->k_slices > 1;
}

static bool has_on_chip(const struct lx_plan *p, int32_t op)
{
    for (int i = 0; i < op_operand_count(&p->layouts->graph->ops[op]); i++)
        if (lx_plan_place(p, op, i) >= 0) return true;
    return false;
}

/* Ways to launch that residency does not decide. */
static const struct lx_launch_options ways[] = {
    {.order = LX_ROW_MAJOR},
    {.order = LX_COLUMN_MAJOR},
    {.order = LX_BLOCK},
    {.order = LX_MATCH_SHARD},
    {.order = LX_MORTON, .share = LX_SHARE_CHUNKS},
    {.order = LX_COLUMN_MAJOR, .tile = {8, 64}},
    {.order = LX_MORTON, .assign = LX_ASSIGN_DYNAMIC, .tile = {5, 100}, .inner = {2, 64}},
    {.tile = {16, 64}, .inner = {3, 32}},
};
enum { WAYS = sizeof ways / sizeof *ways };

static void check_launch(const struct lx_plan *p, int32_t op, int way, struct totals *t)
{
    const struct lx_launch_options *how = &ways[way];
    const struct lx_division *d = &p->divisions->at[op];
    const char *name = p->layouts->graph->ops[op].name;
    lx_status st = {0};
    struct op_index x;
    op_index_of(p->layouts->graph, &p->layouts->graph->ops[op], &x);
    struct lx_op_launch *o = lx_plan_launch(p, op, how, &st);
    if (!o && (st.code == LX_E_LAUNCH_TILE_BYTES || st.code == LX_E_USAGE) && how->tile[0]) return;
    if (!o) fail_msg("%s: %s", name, st.text);
    if (way == 0) count(t, o);
    if (o->kind == LX_LAUNCH_TILES) {
        bool local = o->launch->mode == LX_PARTITION_LOCAL_SHARD;
        assert_true(local == has_on_chip(p, op));
        assert_int_equal(o->launch->order, local                          ? LX_MATCH_SHARD
                                           : how->assign                  ? LX_LISTED
                                           : how->order == LX_MATCH_SHARD ? LX_ROW_MAJOR
                                                                          : how->order);
        assert_int_equal(o->launch->core_count, d->cores_used);
        t->two_levels += lx_op_launch_two_levels(o);
        if (all_points(&x) <= MOST_LISTED) {
            t->listed++;
            if (!listed_once(o, &x, d->cores_used)) fail_msg("%s, way %d: not each point once", name, way);
            if (local && !inside_slices(o, &x, d)) fail_msg("%s, way %d: not its slice", name, way);
        }
    } else
        assert_non_null(o->why);
    lx_op_launch_free(o);
}

/* The checker goes by its own rules: it must agree, whatever the way. */
static void check_checker(const struct lx_plan *p, int way)
{
    int32_t count = p->layouts->graph->op_count;
    struct lx_op_launch **made = mem_zeroed((size_t)count + 1, sizeof *made),
                        *all = mem_zeroed((size_t)count + 1, sizeof *all);
    struct lx_plan other = *p;
    lx_status st = {0};
    bool ok = made && all;
    if (!lx_plan_check(p, &st)) fail_msg("%s as it was made: %s", p->graph->name, st.text);
    for (int32_t o = 0; ok && o < count; o++) {
        made[o] = lx_plan_launch(p, o, &ways[way], &st);
        if (!made[o]) break;
        all[o] = *made[o];
    }
    other.launches = all;
    other.launch = ways[way];
    if (ok && (count == 0 || made[count - 1]) && !lx_plan_check(&other, &st))
        fail_msg("%s, way %d: %s", p->graph->name, way, st.text);
    for (int32_t o = 0; o < count; o++) lx_op_launch_free(made[o]);
    mem_free(made);
    mem_free(all);
}

static void check_launches(const struct lx_plan *p, void *totals)
{
    struct totals *t = totals;
    t->plans++;
    for (int way = 0; way < WAYS; way++) check_checker(p, way);
    for (int32_t op = 0; op < p->layouts->graph->op_count; op++)
        for (int way = 0; way < WAYS; way++) check_launch(p, op, way, t);
}

static void test_launches(void **state)
{
    (void)state;
    struct totals t = {0};
    each_plan(check_launches, &t);
    print_message("%d plans, %d ops: %d local_shard (%d cut in two dimensions or more), %d with a split sum, "
                  "%d global, "
                  "%d whole; %d listed, %d of two levels\n",
                  t.plans, t.ops, t.sharded, t.cut_twice, t.split_sums, t.global, t.whole, t.listed,
                  t.two_levels);
    assert_true(t.sharded > 0 && t.cut_twice > 0 && t.split_sums > 0 && t.global > 0 && t.whole > 0 &&
                t.listed > 0 && t.two_levels > 0);
}

/* Ops of which nothing is known, and ops that run elsewhere. */
static void test_ops_without_tiles(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        enum lx_launch_kind launch;
    } rows[] = {{"generic", LX_LAUNCH_WHOLE}, {"extern", LX_LAUNCH_NONE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char ops[300];
        lx_status st = {0};
        struct lx_op_nest n;
        snprintf(ops, sizeof ops,
                 "{\"name\": \"o\", \"kind\": \"%s\", \"inputs\": [\"a\"], \"output\": \"b\"}", rows[i].kind);
        struct lx_plan *p =
            plan_text("{\"name\": \"a\", \"shape\": [64, 64]}, {\"name\": \"b\", \"shape\": [64, 64]}", ops);
        struct lx_op_launch *o = lx_plan_launch(p, 0, NULL, &st);
        assert_non_null(o);
        assert_int_equal(o->kind, rows[i].launch);
        assert_non_null(o->why);
        assert_true((o->launch == NULL) == (o->kind == LX_LAUNCH_NONE));
        if (o->launch) assert_int_equal(o->launch->cores[0].count, 1);
        assert_true(lx_nest_of(p, 0, &n, &st) && n.kind == LX_NEST_NONE && n.why);
        lx_op_launch_free(o);
        lx_plan_free(p);
    }
}

static void test_lists_have_neither(void **state)
{
    (void)state;
    static const char list[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"l\", \"buffers\": [{\"name\": "
        "\"a\", \"size\": 128, \"uses\": [0, 1]}]}";
    lx_status st = {0};
    struct lx_op_nest nest;
    struct lx_plan *p = plan_of(lx_graph_of_text("list", list, sizeof list - 1, &st), &(struct lx_passes){0});
    assert_null(lx_plan_launch(p, 0, NULL, &st));
    assert_int_equal(st.code, LX_E_USAGE);
    assert_false(lx_nest_of(p, 0, &nest, &st));
    assert_int_equal(st.code, LX_E_USAGE);
    lx_plan_free(p);
}

#define STATED(half, y)                                                                                      \
    "{\"name\": \"x\", \"shape\": [256, 256]}, {\"name\": \"half\", \"shape\": [256, 256]" half              \
    "}, {\"name\": \"y\", \"shape\": [256, 256]" y "}, {\"name\": \"z\", \"shape\": [256, 256]}"

/* What a pattern states of its tensors decides where they are, and with that the mode of the launches. */
static void test_stated_memories(void **state)
{
    (void)state;
    static const char ops[] =
        "{\"name\": \"h\", \"kind\": \"mul\", \"inputs\": [\"x\"], \"output\": \"half\", \"value\": 0.5}, "
        "{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"half\"], \"output\": \"y\"}, "
        "{\"name\": \"r\", \"kind\": \"relu\", \"inputs\": [\"y\"], \"output\": \"z\"}";
    static const struct {
        const char *tensors;
        bool local[3], met;
    } rows[] = {
        {STATED("", ""), {true, true, true}, true},
        {STATED(", \"memory\": \"DRAM\"", ", \"memory\": \"L1\", \"placing\": \"sharded\""),
         {false, true, true},
         true},
        {STATED("", ", \"placing\": \"interleaved\""), {true, true, false}, true},
        {STATED(", \"memory\": \"hbm\"", ", \"memory\": \"hbm\""), {false, false, false}, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lx_status st = {0};
        struct lx_plan *p = plan_text(rows[i].tensors, ops);
        for (int o = 0; o < 3; o++)
            assert_int_equal(p->launches[o].launch->mode,
                             rows[i].local[o] ? LX_PARTITION_LOCAL_SHARD : LX_PARTITION_GLOBAL);
        assert_true(lx_plan_stated_met(p, &st) == rows[i].met);
        if (!lx_plan_check(p, &st)) fail_msg("%s", st.text);
        lx_plan_free(p);
    }
    /* A graph input is on chip only as a copy, which saves nothing where it is read once. */
    lx_status st = {0};
    struct lx_plan *p =
        plan_text("{\"name\": \"x\", \"shape\": [256, 256], \"memory\": \"lx\"}, {\"name\": \"half\", "
                  "\"shape\": [256, 256]}, {\"name\": \"y\", \"shape\": [256, 256]}, {\"name\": \"z\", "
                  "\"shape\": [256, 256]}",
                  ops);
    assert_false(lx_plan_stated_met(p, &st));
    assert_int_equal(st.code, LX_E_NO);
    assert_non_null(strstr(st.text, "x is in lx, but op h has it in HBM"));
    lx_plan_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches), cmocka_unit_test(test_ops_without_tiles),
        cmocka_unit_test(test_lists_have_neither), cmocka_unit_test(test_stated_memories)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
