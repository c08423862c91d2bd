/* Launches and nests of whole plans: of every bundled pattern, on several devices, every op is launched with
 * no tile dropped and none doubled, what a core is told to compute is what the plan's division gives it, and
 * the nest of its part is valid and keeps its result through the passes. */
#include "lxplan.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct totals {
    int plans, ops, sharded, folded, split_sums, fallbacks, whole;
    int contractions, moves, row_major, padded;
};

typedef void plan_check(const struct lx_plan *p, struct totals *t);

static struct lx_plan *plan_of(struct lx_graph *g, const struct lx_passes *passes)
{
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit"), .objective = -1, .passes = *passes};
    lx_status st = {0};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s", st.text);
    return p;
}

/* A device by preset and number of cores; 0: all. */
static bool set_device(struct lx_graph *g, const char *preset, int64_t cores)
{
    struct lx_device device;
    lx_status st = {0};
    assert_true(lx_device_preset(preset, &device));
    if (cores > 0) device.cores = cores;
    return lx_graph_set_device(g, &device, &st);
}

static void each_plan_of(const char *path, plan_check *check, struct totals *t)
{
    static const struct {
        const char *preset;
        int64_t cores;
    } devices[] = {{"spyre", 0},  {"spyre", 1},       {"spyre", 4},
                   {"spyre", 24}, {"tenstorrent", 0}, {"tenstorrent", 62}};
    static const struct lx_passes passes[] = {
        {0}, {.cooptimise = LX_COOPTIMISE_FLIP}, {.stage = LX_STAGE_BASELINE}};
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
        for (size_t k = 0; k < sizeof passes / sizeof *passes; k++) {
            lx_status st = {0};
            struct lx_graph *g = lx_graph_read(path, &st);
            if (!g) fail_msg("%s", st.text);
            assert_true(set_device(g, devices[d].preset, devices[d].cores));
            struct lx_layouts *l = lx_layouts_make(g, &st);
            struct lx_divisions *v = l ? lx_divide(l, NULL, &st) : NULL;
            bool divides = v != NULL; /* some need more than four cores */
            lx_divisions_free(v);
            lx_layouts_free(l);
            if (!divides) {
                lx_graph_free(g);
                continue;
            }
            struct lx_plan *p = plan_of(g, &passes[k]);
            check(p, t);
            t->plans++;
            lx_plan_free(p);
        }
}

static void each_plan(plan_check *check, struct totals *t)
{
    static const char *const folders[] = {SOURCE_DIR "/patterns/graphs", SOURCE_DIR "/patterns/targets"};
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
        DIR *dir = opendir(folders[f]);
        assert_non_null(dir);
        for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
            char path[1200];
            if (!strstr(e->d_name, ".json")) continue;
            snprintf(path, sizeof path, "%s/%s", folders[f], e->d_name);
            each_plan_of(path, check, t);
        }
        closedir(dir);
    }
}

static int64_t elements_of(const struct lx_plan *p, int32_t op, int operand)
{
    const struct lx_op *o = &p->layouts->graph->ops[op];
    const struct lx_tensor *t =
        &p->layouts->graph->tensors[operand < o->input_count ? o->inputs[operand] : o->output];
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++) n *= t->shape[d];
    return n;
}

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
        const struct lx_launch_core *c = lx_op_launch_core(o, p, core, &slice);
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
    assert_null(lx_op_launch_core(o, p, d->cores_used, NULL));
    assert_int_equal(d->cores_used, l->core_count * o->k_slices);
}

static void check_launches(const struct lx_plan *p, struct totals *t)
{
    for (int32_t op = 0; op < p->layouts->graph->op_count; op++)
        for (int order = 0; order < LX_TILE_ORDERS; order++) {
            struct lx_launch_options how = {.order = (enum lx_tile_order)order};
            lx_status st = {0};
            struct lx_op_launch *o = lx_launch_of(p, op, &how, &st);
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
                if (!local) assert_non_null(lx_op_launch_core(o, p, 0, NULL));
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

static void check_nests(const struct lx_plan *p, struct totals *t)
{
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

static void test_lists_have_neither(void **state)
{
    (void)state;
    static const char list[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"l\", \"buffers\": [{\"name\": "
        "\"a\", \"size\": 128, \"uses\": [0, 1]}]}";
    lx_status st = {0};
    struct lx_op_nest nest;
    struct lx_plan *p = plan_of(lx_graph_parse("list", list, sizeof list - 1, &st), &(struct lx_passes){0});
    assert_null(lx_launch_of(p, 0, NULL, &st));
    assert_int_equal(st.code, LX_E_USAGE);
    assert_false(lx_nest_of(p, 0, &nest, &st));
    assert_int_equal(st.code, LX_E_USAGE);
    lx_plan_free(p);
}

static struct lx_plan *plan_with(const char *tensors, const char *ops, const struct lx_passes *passes)
{
    char text[2000];
    lx_status st = {0};
    int n =
        snprintf(text, sizeof text,
                 "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": [%s], \"ops\": [%s]}",
                 tensors, ops);
    struct lx_graph *g = lx_graph_parse("t", text, (size_t)n, &st);
    if (!g) fail_msg("%s", st.text);
    return plan_of(g, passes);
}

static struct lx_plan *plan_text(const char *tensors, const char *ops)
{
    return plan_with(tensors, ops, &(struct lx_passes){0});
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
        check_launches(p, &t);
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
        lx_layout_to_device(y, index, at);
        lx_layout_device_strides(y, strides);
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
        struct lx_op_launch *o = lx_launch_of(p, 0, NULL, &st);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches),          cmocka_unit_test(test_nests),
        cmocka_unit_test(test_odd_sizes),         cmocka_unit_test(test_nests_compute_the_einsum),
        cmocka_unit_test(test_ops_without_tiles), cmocka_unit_test(test_lists_have_neither)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
