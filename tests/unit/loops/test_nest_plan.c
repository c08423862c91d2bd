/* Loop nests of whole plans: every op of every bundled pattern has a nest that is valid, stays inside the
 * memory that the plan gives it and keeps its result through the passes, or says why it has none; on one core
 * it computes the einsum. */
#include "support/each_plan.h"
#include "support/host_copy.h"

struct totals {
    int plans, ops, contractions, moves, row_major, padded;
};

static int64_t elements_of(const struct lx_plan *p, int32_t op, int operand)
{
    const struct lx_op *o = &p->layouts->graph->ops[op];
    const struct lx_tensor *t =
        &p->layouts->graph->tensors[operand < o->input_count ? o->inputs[operand] : o->output];
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++) n *= t->shape[d];
    return n;
}

static void check_nests(const struct lx_plan *p, void *totals)
{
    struct totals *t = totals;
    t->plans++;
    const struct lx_loop_rules *rules = lx_loop_rules_at(0);
    for (int32_t op = 0; op < p->layouts->graph->op_count; op++) {
        struct lx_op_nest n;
        lx_status st = {0};
        const struct lx_op *o = &p->layouts->graph->ops[op];
        if (!lx_nest_of(p, op, &n, &st)) fail_msg("%s: %s", o->name, st.text);
        t->ops++;
        t->contractions += n.kind == LX_NEST_CONTRACTION;
        t->moves += n.kind == LX_NEST_MOVE;
        t->row_major += n.row_major;
        t->padded += n.padded;
        assert_true((n.kind == LX_NEST_NONE) == (n.why != NULL));
        if (strcmp(o->kind->name, "matmul") == 0) assert_int_equal(n.kind, LX_NEST_CONTRACTION);
        if (n.kind == LX_NEST_NONE) continue;
        struct lx_loops after = n.nest;
        if (lx_loops_validate(&n.nest, rules, &st)) fail_msg("%s: %s", o->name, st.text);
        assert_true(lx_loops_optimise(&after, rules, 1, &st));
        if (lx_loops_validate(&after, rules, &st)) fail_msg("%s: %s", o->name, st.text);
        if (!lx_loops_same(&n.nest, &after, 1, 1 << 16, NULL, &st)) fail_msg("%s: %s", o->name, st.text);
        /* An operand stays within what the core may touch: its box on chip, the whole layout in HBM. */
        for (int i = 0; i < LX_LOOP_OPERANDS && !n.row_major; i++) {
            int operand = i == LX_LOOP_OUT ? o->input_count : (i == LX_LOOP_IN1) != n.swapped;
            if (i == LX_LOOP_IN1 && n.kind == LX_NEST_MOVE) continue;
            const struct lx_layout *y =
                &p->layouts->layouts[operand < o->input_count ? o->inputs[operand] : o->output];
            int64_t item = y->stick_bytes / y->stick_elements, room = lx_layout_elements(y);
            int32_t stay = lx_plan_place(p, op, operand);
            assert_true(n.on_chip[i] == (stay >= 0));
            if (stay >= 0) room = p->problem.buffers[stay].size / item;
            assert_true(lx_loops_extent(&n.nest, (enum lx_loop_operand)i) <= room);
        }
        /* The cores together turn at least once for each output element, and for each product. */
        int64_t turns = lx_loops_work(&n.nest) * p->divisions->at[op].cores_used;
        assert_true(turns >= elements_of(p, op, o->input_count));
        if (n.kind == LX_NEST_CONTRACTION) {
            int64_t products = 1;
            for (int v = 0; v < o->map->var_count; v++) products *= o->map->extent[v];
            assert_true(turns >= products);
            assert_true(n.padded || turns == products || n.row_major);
        }
    }
}

static void test_nests(void **state)
{
    (void)state;
    struct totals t = {0};
    each_plan(check_nests, &t);
    print_message("%d plans, %d ops: %d contractions, %d moves; %d padded, %d row-major\n", t.plans, t.ops,
                  t.contractions, t.moves, t.padded, t.row_major);
    assert_true(t.contractions > 100 && t.moves > 0);
}

/* Sizes that are no whole sticks: padding where operands have room for it, row-major boxes where not. */
static void test_odd_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *tensors, *ops;
    } rows[] = {
        {"{\"name\": \"a\", \"shape\": [96, 200]}, {\"name\": \"b\", \"shape\": [200, 130]}, {\"name\": "
         "\"c\", "
         "\"shape\": [96, 130]}",
         "{\"name\": \"c\", \"kind\": \"matmul\", \"inputs\": [\"a\", \"b\"], \"output\": \"c\", \"einsum\": "
         "\"mk,kn->mn\"}"},
        {"{\"name\": \"a\", \"shape\": [97, 200]}, {\"name\": \"b\", \"shape\": [200, 130]}, {\"name\": "
         "\"c\", "
         "\"shape\": [130, 97]}",
         "{\"name\": \"c\", \"kind\": \"matmul\", \"inputs\": [\"a\", \"b\"], \"output\": \"c\", \"einsum\": "
         "\"mk,kn->nm\"}"},
        {"{\"name\": \"a\", \"shape\": [5, 3, 70]}, {\"name\": \"b\", \"shape\": [5, 70, 33]}, {\"name\": "
         "\"c\", "
         "\"shape\": [3, 33]}",
         "{\"name\": \"c\", \"kind\": \"matmul\", \"inputs\": [\"a\", \"b\"], \"output\": \"c\", \"einsum\": "
         "\"bmk,bkn->mn\"}"},
        {"{\"name\": \"a\", \"shape\": [70, 90]}, {\"name\": \"b\", \"shape\": [70, 90]}",
         "{\"name\": \"b\", \"kind\": \"restickify\", \"inputs\": [\"a\"], \"output\": \"b\"}"},
        {"{\"name\": \"a\", \"shape\": [4]}, {\"name\": \"b\", \"shape\": [4]}, {\"name\": \"c\", \"shape\": "
         "[]}",
         "{\"name\": \"c\", \"kind\": \"matmul\", \"inputs\": [\"a\", \"b\"], \"output\": \"c\", \"einsum\": "
         "\"k,k->\"}"},
    };
    struct totals t = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lx_plan *p = plan_text(rows[i].tensors, rows[i].ops);
        check_nests(p, &t);
        lx_plan_free(p);
    }
    print_message("%d contractions, %d moves; %d padded, %d row-major\n", t.contractions, t.moves, t.padded,
                  t.row_major);
    assert_true(t.padded > 0 && t.row_major > 0);
}

/* An operand in the memory that the nest walks: a device layout with zeros as padding, or row-major. */
static double *stored(const struct lx_layout *y, bool row_major, const double *host, int64_t count)
{
    double *device = calloc((size_t)(row_major ? count : lx_layout_elements(y)), sizeof *device);
    assert_non_null(device);
    for (int64_t i = 0; i < count; i++) {
        int64_t index[LX_MAX_RANK], at[LX_MAX_DEVICE_RANK], strides[LX_MAX_DEVICE_RANK], offset = 0, left = i;
        for (int d = y->host_rank; d-- > 0; left /= y->host_shape[d]) index[d] = left % y->host_shape[d];
        layout_to_device(y, index, at);
        layout_strides(y, strides);
        for (int d = 0; d < y->rank; d++) offset += at[d] * strides[d];
        device[row_major ? i : offset] = host[i];
    }
    return device;
}

/* What a nest computes on one core is the einsum of its op, element for element. */
static void test_nests_compute_the_einsum(void **state)
{
    (void)state;
    static const struct {
        const char *einsum;
        int64_t a[4], b[4], c[4], sizes[5]; /* shapes end with 0; sizes by first appearance */
    } rows[] = {
        {"mk,kn->mn", {12, 128, 0}, {128, 192, 0}, {12, 192, 0}, {12, 128, 192}},
        {"mk,kn->mn", {9, 100, 0}, {100, 70, 0}, {9, 70, 0}, {9, 100, 70}},
        {"mk,nk->mn", {9, 100, 0}, {70, 100, 0}, {9, 70, 0}, {9, 100, 70}},
        {"mk,kn->nm", {97, 80, 0}, {80, 65, 0}, {65, 97, 0}, {97, 80, 65}},
        {"bmk,bkn->bmn", {3, 8, 64, 0}, {3, 64, 96, 0}, {3, 8, 96, 0}, {3, 8, 64, 96}},
        {"sm,mhd->hsd", {6, 70, 0}, {70, 3, 66, 0}, {3, 6, 66, 0}, {6, 70, 3, 66}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text_room {
            char tensors[400], ops[300];
        } t;
        const int64_t *shapes[3] = {rows[i].a, rows[i].b, rows[i].c};
        int used = 0;
        for (int k = 0; k < 3; k++) {
            used += snprintf(t.tensors + used, sizeof t.tensors - (size_t)used,
                             "%s{\"name\": \"%c\", \"shape\": [", k ? ", " : "", 'a' + k);
            for (int d = 0; shapes[k][d]; d++)
                used += snprintf(t.tensors + used, sizeof t.tensors - (size_t)used, "%s%d", d ? ", " : "",
                                 (int)shapes[k][d]);
            used += snprintf(t.tensors + used, sizeof t.tensors - (size_t)used, "]}");
        }
        snprintf(t.ops, sizeof t.ops,
                 "{\"name\": \"c\", \"kind\": \"matmul\", \"inputs\": [\"a\", \"b\"], \"output\": \"c\", "
                 "\"einsum\": "
                 "\"%s\"}",
                 rows[i].einsum);
        struct lx_plan *p = plan_with(t.tensors, t.ops, &(struct lx_passes){.undivided = true});
        int32_t op = p->layouts->graph->op_count - 1; /* restickifies stand before it */
        const struct lx_op *o = &p->layouts->graph->ops[op];
        struct lx_op_nest n;
        lx_status st = {0};
        assert_true(lx_nest_of(p, op, &n, &st));
        assert_int_equal(n.kind, LX_NEST_CONTRACTION);
        int vars = lx_tree_indices(rows[i].einsum, &st);
        struct lx_tree *tree = lx_tree_parse(rows[i].einsum, rows[i].sizes, vars, &st);
        assert_non_null(tree);
        double *host[3], *device[3];
        for (int k = 0; k < 3; k++) {
            int64_t count = tree->nodes[k].elements;
            host[k] = malloc((size_t)count * sizeof *host[k]);
            assert_non_null(host[k]);
            for (int64_t e = 0; e < count; e++) host[k][e] = (double)((e * 31 + k) % 17) - 8;
            int32_t tensor = k < 2 ? o->inputs[k] : o->output;
            device[k] = stored(&p->layouts->layouts[tensor], n.row_major, host[k], count);
        }
        assert_true(lx_tree_execute(tree, NULL, 1, (const double *const *)host, host[2], &st));
        struct lx_loops after = n.nest;
        assert_true(lx_loops_optimise(&after, lx_loop_rules_at(0), 1, &st));
        lx_loops_execute(&after, device[n.swapped ? 1 : 0], device[n.swapped ? 0 : 1], device[2]);
        const struct lx_layout *y = &p->layouts->layouts[o->output];
        double *wanted = stored(y, n.row_major, host[2], tree->nodes[2].elements);
        int64_t count = n.row_major ? tree->nodes[2].elements : lx_layout_elements(y);
        for (int64_t e = 0; e < count; e++)
            if (device[2][e] != wanted[e])
                fail_msg("%s, element %d: %g, not %g", rows[i].einsum, (int)e, device[2][e], wanted[e]);
        for (int k = 0; k < 3; k++) free(host[k]), free(device[k]);
        free(wanted);
        lx_tree_free(tree);
        lx_plan_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nests), cmocka_unit_test(test_odd_sizes),
                                       cmocka_unit_test(test_nests_compute_the_einsum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
