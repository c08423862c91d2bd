/* Launches of whole plans: of every bundled pattern, on several devices, every op is launched with no tile
 * dropped and none doubled, and what a core is told to compute is what the plan's division gives it. */
#include "support/each_plan.h"

struct totals {
    int plans, ops, sharded, folded, split_sums, fallbacks, whole;
};

/* Each tile once; the cores together have all of them. */
static void expect_each_once(const struct lx_launch *l)
{
    int64_t tiles = l->batch * l->mt * l->nt;
    unsigned char *seen = calloc((size_t)tiles, 1);
    assert_non_null(seen);
    for (int32_t i = 0; i < l->core_count; i++)
        for (int64_t t = 0; t < l->cores[i].count; t++)
            assert_int_equal(seen[lx_launch_tile(l, &l->cores[i], t).id]++, 0);
    for (int64_t t = 0; t < tiles; t++) assert_int_equal(seen[t], 1);
    free(seen);
}

/* The split of output dimension `dim`: splits stand in the order of the output's dimensions, the summed ones
 * apart. */
static int split_of(const struct lx_division *d, int dim)
{
    for (int i = 0, nth = 0; i < d->split_count; i++)
        if (!d->splits[i].is_summed && nth++ == dim) return i;
    fail_msg("output dimension %d has no split", dim);
    return 0;
}

static int64_t in_tiles(int64_t elements, int64_t side)
{
    return (elements + side - 1) / side;
}

/* A shard must be the part of the output that the division gives to each core of the device. */
static void expect_shards_are_slices(const struct lx_plan *p, const struct lx_op_launch *o)
{
    const struct lx_launch *l = o->launch;
    const struct lx_division *d = &p->divisions->at[o->op];
    int64_t groups = 0;
    for (int64_t core = 0; core < d->cores_used; core++) {
        int64_t slice, from = 0, rows = 1, a, b;
        const struct lx_launch_core *c = lx_op_launch_core(o, p->divisions, core, &slice);
        assert_non_null(c);
        assert_true(slice >= 0 && slice < o->k_slices);
        groups += slice == 0;
        for (int dim = o->fold_from; dim >= 0 && dim <= o->row_dim; dim++) {
            int i = split_of(d, dim);
            int64_t side = dim == o->row_dim ? o->tile[0] : 1;
            lx_division_slice(d, i, core, &a, &b);
            assert_int_equal(a % side, 0);
            from = from * in_tiles(d->splits[i].extent, side) + a / side;
            rows *= in_tiles(b - a, side);
        }
        if (c->count == 0) {
            assert_int_equal(rows, 0);
            continue;
        }
        assert_int_equal(c->row, from);
        assert_int_equal(c->rows, rows);
        if (o->column_dim < 0) continue;
        lx_division_slice(d, split_of(d, o->column_dim), core, &a, &b);
        assert_int_equal(c->column, a / o->tile[1]);
        assert_int_equal(c->columns, in_tiles(b - a, o->tile[1]));
    }
    assert_int_equal(groups, l->core_count);
    assert_null(lx_op_launch_core(o, p->divisions, d->cores_used, NULL));
    assert_int_equal(d->cores_used, l->core_count * o->k_slices);
}

static void check_launches(const struct lx_plan *p, void *totals)
{
    struct totals *t = totals;
    t->plans++;
    for (int32_t op = 0; op < p->layouts->graph->op_count; op++)
        for (int order = 0; order < LX_TILE_ORDERS; order++) {
            struct lx_launch_options how = {.order = (enum lx_tile_order)order};
            lx_status st = {0};
            struct lx_op_launch *o = lx_plan_launch(p, op, &how, &st);
            if (!o) fail_msg("%s: %s", p->layouts->graph->ops[op].name, st.text);
            bool on_chip = false;
            for (int i = 0; i <= p->layouts->graph->ops[op].input_count; i++)
                on_chip |= lx_plan_place(p, op, i) >= 0;
            t->ops += order == 0;
            t->whole += order == 0 && o->kind == LX_LAUNCH_WHOLE;
            if (o->kind == LX_LAUNCH_TILES) {
                bool local = o->launch->mode == LX_PARTITION_LOCAL_SHARD;
                assert_true(local == (on_chip && !o->why));
                assert_true(order == 0 || local || o->launch->order == how.order || order == LX_MATCH_SHARD);
                expect_each_once(o->launch);
                if (!local) assert_non_null(lx_op_launch_core(o, p->divisions, 0, NULL));
                if (local && order == 0) expect_shards_are_slices(p, o);
                t->sharded += order == 0 && local;
                t->folded += order == 0 && local && o->fold_from < o->row_dim;
                t->split_sums += order == 0 && o->k_slices > 1;
                t->fallbacks += order == 0 && on_chip && !local;
            } else {
                assert_non_null(o->why);
            }
            lx_op_launch_free(o);
        }
}

static void test_launches(void **state)
{
    (void)state;
    struct totals t = {0};
    each_plan(check_launches, &t);
    print_message(
        "%d plans, %d ops: %d local_shard (%d folded, %d with a split sum), %d fell back, %d whole\n",
        t.plans, t.ops, t.sharded, t.folded, t.split_sums, t.fallbacks, t.whole);
    assert_true(t.sharded > 0 && t.folded > 0 && t.split_sums > 0 && t.fallbacks > 0 && t.whole > 0);
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
    struct lx_plan *p = plan_of(lx_graph_parse("list", list, sizeof list - 1, &st), &(struct lx_passes){0});
    assert_null(lx_plan_launch(p, 0, NULL, &st));
    assert_int_equal(st.code, LX_E_USAGE);
    assert_false(lx_nest_of(p, 0, &nest, &st));
    assert_int_equal(st.code, LX_E_USAGE);
    lx_plan_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_launches),
                                       cmocka_unit_test(test_ops_without_tiles),
                                       cmocka_unit_test(test_lists_have_neither)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
