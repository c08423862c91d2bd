/* Loop nests of whole plans: every op of every bundled pattern has a nest of its first tile that is valid and keeps its
 * result through the passes, or says why it has none; and a nest computes the einsum of its op on dense
 * operands. */
#include "support/each_plan.h"
#include "base/memory.h"
#include "loops/nest_of_op.h"

struct totals {
    int plans, ops, contractions, moves;
};

/* Elements of an operand within a tile. */
static int64_t tile_elements(const struct op_index *x, int operand, const struct lx_launch_piece *t)
{
    int64_t n = 1;
    for (int d = 0; d < x->rank[operand]; d++)
        n *= t->to[(int)x->var[operand][d]] - t->from[(int)x->var[operand][d]];
    return n;
}

/* The first tile of an op's launch. */
static bool tile_of(const struct lx_plan *p, int32_t op, const struct op_index *x, struct lx_launch_piece *t)
{
    lx_status st = {0};
    struct lx_op_launch *o = lx_plan_launch(p, op, NULL, &st);
    bool found = false;
    for (int32_t i = 0; o && o->launch && i < o->launch->core_count && !found; i++)
        found = lx_op_launch_turns(o, o->launch->cores[i].core) > 0 &&
                lx_op_launch_piece(o, x, o->launch->cores[i].core, 0, t);
    lx_op_launch_free(o);
    return found;
}

static void check_nests(const struct lx_plan *p, void *totals)
{
    struct totals *t = totals;
    t->plans++;
    const struct lx_loop_rules *rules = lx_loop_rules_at(0);
    for (int32_t op = 0; op < p->layouts->graph->op_count; op++) {
        struct lx_op_nest n;
        struct op_index x;
        struct lx_launch_piece tile;
        lx_status st = {0};
        const struct lx_op *o = &p->layouts->graph->ops[op];
        if (!lx_nest_of(p, op, &n, &st)) fail_msg("%s: %s", o->name, st.text);
        t->ops++;
        t->contractions += n.kind == LX_NEST_CONTRACTION;
        t->moves += n.kind == LX_NEST_MOVE;
        assert_true((n.kind == LX_NEST_NONE) == (n.why != NULL));
        if (strcmp(o->kind->name, "matmul") == 0 && !o->window_count)
            assert_int_equal(n.kind, LX_NEST_CONTRACTION);
        if (n.kind == LX_NEST_NONE) continue;
        struct lx_loops after = n.nest;
        if (lx_loops_validate(&n.nest, rules, &st)) fail_msg("%s: %s", o->name, st.text);
        assert_true(lx_loops_optimise(&after, rules, 1, &st));
        if (lx_loops_validate(&after, rules, &st)) fail_msg("%s: %s", o->name, st.text);
        if (!lx_loops_same(&n.nest, &after, 1, 1 << 16, NULL, &st)) fail_msg("%s: %s", o->name, st.text);
        /* Each operand is dense: the nest walks its elements in the tile, all of them and no others. */
        op_index_of(p->layouts->graph, o, &x);
        assert_true(tile_of(p, op, &x, &tile));
        int64_t products = 1;
        for (int v = 0; v < x.var_count; v++) products *= tile.to[v] - tile.from[v];
        assert_int_equal(lx_loops_work(&n.nest), products);
        for (int i = 0; i < LX_LOOP_OPERANDS; i++) {
            int operand = i == LX_LOOP_OUT ? o->input_count : (i == LX_LOOP_IN1) != n.swapped;
            if (i == LX_LOOP_IN1 && n.kind == LX_NEST_MOVE) continue;
            assert_true(n.on_chip[i] == (lx_plan_place(p, op, operand) >= 0));
            assert_int_equal(lx_loops_extent(&n.nest, (enum lx_loop_operand)i),
                             tile_elements(&x, operand, &tile));
        }
    }
}

static void test_nests(void **state)
{
    (void)state;
    struct totals t = {0};
    each_plan(check_nests, &t);
    print_message("%d plans, %d ops: %d contractions, %d moves\n", t.plans, t.ops, t.contractions, t.moves);
    assert_true(t.contractions > 100 && t.moves > 0);
}

/* What a nest computes is the einsum of its op, element for element: here one tile is all of the op. */
static void test_nests_compute_the_einsum(void **state)
{
    (void)state;
    static const struct {
        const char *einsum;
        int64_t shape[3][4], sizes[5]; /* shapes end with 0; sizes by first appearance */
    } rows[] = {
        {"mk,kn->mn", {{12, 128, 0}, {128, 192, 0}, {12, 192, 0}}, {12, 128, 192}},
        {"mk,kn->mn", {{9, 100, 0}, {100, 70, 0}, {9, 70, 0}}, {9, 100, 70}},
        {"mk,nk->mn", {{9, 100, 0}, {70, 100, 0}, {9, 70, 0}}, {9, 100, 70}},
        {"mk,kn->nm", {{97, 80, 0}, {80, 65, 0}, {65, 97, 0}}, {97, 80, 65}},
        {"bmk,bkn->bmn", {{3, 8, 64, 0}, {3, 64, 96, 0}, {3, 8, 96, 0}}, {3, 8, 64, 96}},
        {"bmk,bkn->mn", {{5, 3, 70, 0}, {5, 70, 33, 0}, {3, 33, 0}}, {5, 3, 70, 33}},
        {"sm,mhd->hsd", {{6, 70, 0}, {70, 3, 66, 0}, {3, 6, 66, 0}}, {6, 70, 3, 66}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char tensors[400], ops[300];
        int used = 0;
        for (int k = 0; k < 3; k++) {
            used += snprintf(tensors + used, sizeof tensors - (size_t)used,
                             "%s{\"name\": \"%c\", \"shape\": [", k ? ", " : "", 'a' + k);
            for (int d = 0; rows[i].shape[k][d]; d++)
                used += snprintf(tensors + used, sizeof tensors - (size_t)used, "%s%d", d ? ", " : "",
                                 (int)rows[i].shape[k][d]);
            used += snprintf(tensors + used, sizeof tensors - (size_t)used, "]}");
        }
        snprintf(ops, sizeof ops,
                 "{\"name\": \"c\", \"kind\": \"matmul\", \"inputs\": [\"a\", \"b\"], \"output\": \"c\", "
                 "\"einsum\": \"%s\"}",
                 rows[i].einsum);
        struct lx_plan *p = plan_with(tensors, ops, &(struct lx_passes){.undivided = true});
        int32_t op = p->layouts->graph->op_count - 1; /* restickifies stand before it */
        const struct lx_op *o = &p->layouts->graph->ops[op];
        struct lx_op_nest n;
        struct op_index x;
        lx_status st = {0};
        op_index_of(p->layouts->graph, o, &x);
        assert_true(lx_nest_of_tile(p->layouts, op, &x, x.extent, &n, &st));
        assert_int_equal(n.kind, LX_NEST_CONTRACTION);
        struct lx_tree *tree =
            lx_tree_parse(rows[i].einsum, rows[i].sizes, lx_tree_indices(rows[i].einsum, &st), &st);
        assert_non_null(tree);
        double *host[3], *dense[3];
        for (int k = 0; k < 3; k++) {
            int order[LX_MAX_VARS];
            int64_t stride[LX_MAX_VARS], count = tree->nodes[k].elements;
            host[k] = mem_alloc((size_t)count * sizeof *host[k]);
            dense[k] = mem_zeroed((size_t)count, sizeof *dense[k]);
            assert_true(host[k] && dense[k]);
            for (int64_t e = 0; e < count; e++) host[k][e] = (double)((e * 31 + k) % 17) - 8;
            int vars = tile_operand_order(&x, true, &p->layouts->layouts[op_operand(o, k)], k, order);
            tile_operand_strides(order, vars, &x, x.extent, stride);
            for (int64_t e = 0; e < count && k < 2; e++) {
                int64_t at = 0, left = e;
                for (int d = x.rank[k]; d-- > 0; left /= x.extent[(int)x.var[k][d]])
                    at += left % x.extent[(int)x.var[k][d]] * stride[(int)x.var[k][d]];
                dense[k][at] = host[k][e];
            }
        }
        assert_true(lx_tree_execute(tree, NULL, 1, (const double *const *)host, host[2], &st));
        struct lx_loops after = n.nest;
        assert_true(lx_loops_optimise(&after, lx_loop_rules_at(0), 1, &st));
        lx_loops_execute(&after, dense[n.swapped ? 1 : 0], dense[n.swapped ? 0 : 1], dense[2]);
        for (int64_t e = 0; e < tree->nodes[2].elements; e++)
            if (dense[2][e] != host[2][e])
                fail_msg("%s, element %d: %g, not %g", rows[i].einsum, (int)e, dense[2][e], host[2][e]);
        for (int k = 0; k < 3; k++) mem_free(host[k]), mem_free(dense[k]);
        lx_tree_free(tree);
        lx_plan_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nests),
                                       cmocka_unit_test(test_nests_compute_the_einsum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
