/* Softmax by running sums in nests: over heads, rows and columns, of one to three levels, planned or stated at random; each
 * is legal, runs on the device with every op within its bounds and every byte as planned, ends near what the graph as it
 * was written gives, and never moves more than without. */
#include "support/nest_runs.h"
#include "base/memory.h"
#include "support/softmax_graphs.h"
#include "divide/op_nest.h"
#include "graph/online.h"
#include "support/sampled.h"

#include <math.h>

static struct softmax_form random_form(struct rng *r)
{
    static const char *const dtypes[] = {"fp16", "bf16", "fp32"};
    static const long columns[] = {128, 192, 256};
    return (struct softmax_form){.heads = (long)rng_between(r, 1, 3),
                                 .groups = rng_below(r, 4) == 0 ? 2 : 0,
                                 .rows = 8 * (long)rng_between(r, 1, 6),
                                 .columns = columns[rng_below(r, 3)],
                                 .width = rng_below(r, 2) ? 64 : 32,
                                 .dtype = dtypes[rng_below(r, 3)],
                                 .division = (enum softmax_division)rng_below(r, SOFTMAX_DIVISIONS),
                                 .scaled = rng_below(r, 2),
                                 .masked = rng_below(r, 2),
                                 .swapped = rng_below(r, 2),
                                 .products = rng_below(r, 4) == 0 ? 2 : 1,
                                 .logged = rng_below(r, 4) == 0};
}

/* Does a nest cut a sum that is read while it runs? */
static bool runs_sums(const struct lx_plan *p)
{
    for (int32_t n = 0; n < p->nest_count; n++)
        for (int32_t o = p->nests[n].first; o <= p->nests[n].last; o++) {
            const struct lx_op *op = &p->layouts->graph->ops[o];
            if (op->kind->id == LX_KIND_BLEND && nest_tensor_of(p->layouts, &p->nests[n], op->output).summed)
                return true;
        }
    return false;
}

static double tolerance(const char *dtype)
{
    return strcmp(dtype, "fp32") == 0 ? 1e-5 : strcmp(dtype, "fp16") == 0 ? 0.02 : 0.15;
}

static void run_well(const struct lx_plan *p, const struct softmax_form *f)
{
    lx_status st = {0};
    if (!lx_plan_check(p, &st)) fail_msg("refused: %s", st.text);
    struct lx_run_result *r = lx_device_run(p, NULL, &st);
    if (!r) fail_msg("%s", st.text);
    if (!r->ok) fail_msg("%s", what_is_wrong(r));
    if (!(r->relative_error >= 0 && r->relative_error < tolerance(f->dtype)))
        fail_msg("%s: off by %g from end to end", f->dtype, r->relative_error);
    lx_run_result_free(r);
}

static const struct lx_graph *made(const struct softmax_form *f, int64_t usable)
{
    lx_status st = {0};
    const struct lx_graph *g = softmax_graph(f, usable, &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

/* The plan, and the same read back from its file. */
static void run_with_file(const struct lx_plan *p, const struct softmax_form *f)
{
    lx_status st = {0};
    size_t length = 0;
    char *text = lx_plan_to_json(p, &length);
    struct lx_plan *again = lx_plan_of_text("plan", text, length, &st);
    if (!again) fail_msg("%s", st.text);
    run_well(again, f);
    lx_plan_free(again);
    mem_free(text);
}

static struct lx_plan *planned(const struct lx_graph *g, enum lx_online_mode mode)
{
    struct lx_plan_options how = {.solver = lx_solver_find("auto"),
                                  .passes = {.tile = LX_TILE_AUTO, .online = (int)mode}};
    lx_status st = {0};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s", st.text);
    return p;
}

static void plans_run_and_are_no_worse(void **state)
{
    (void)state;
    enum { PLANS = 4 };
    struct rng r = rng_seed(31);
    int online = 0, cut = 0;
    for (int i = 0; i < PLANS; i++) {
        struct softmax_form f = random_form(&r);
        f.rows *= 8;
        f.columns *= 2;
        const struct lx_graph *g = made(&f, 128 * rng_between(&r, 4, 40));
        struct lx_plan *plain = planned(g, LX_ONLINE_NONE), *best = planned(g, LX_ONLINE_AUTO);
        assert_null(plain->graph->came_from);
        assert_true(best->figures.hbm_bytes <= plain->figures.hbm_bytes);
        assert_true(lx_plan_least(best) <= best->figures.hbm_bytes);
        online += best->graph->came_from != NULL;
        cut += runs_sums(best);
        run_with_file(best, &f);
        lx_plan_free(plain);
        lx_plan_free(best);
        lx_graph_free(g);
    }
    print_message("%d plans, %d with running sums, %d in nests over them\n", PLANS, online, cut);
    assert_true(online >= 3 && cut >= 3);
}

/* What scratchpads without limit would move is that of other nests. */
static void forget_bound(struct lx_plan *p)
{
    if (p->figures.perfect_hbm_bytes <= p->figures.hbm_bytes) return;
    p->figures.perfect_hbm_bytes = p->figures.hbm_bytes;
    p->figures.spill_bytes = 0;
}

/* Nests at random, holds as they come. */
static void stated_nests_run(void **state)
{
    (void)state;
    enum { TRIES = OFTEN(90) };
    struct rng r = rng_seed(7);
    struct nests_seen seen = {0};
    int cut = 0;
    for (int i = 0; i < TRIES; i++) {
        struct softmax_form f = random_form(&r);
        const struct lx_graph *g = made(&f, 128 * rng_between(&r, 4, 400)), *to = NULL;
        lx_status st = {0};
        struct lx_passes passes = {.no_ring = rng_below(&r, 2), .no_in_place = rng_below(&r, 4) == 0};
        assert_true(graph_online(g, &to, &st));
        struct lx_plan *p = plan_stated(to, &passes, "auto", state_random, &r, &st);
        if (p && runs_sums(p)) {
            cut++;
            forget_bound(p);
            see_nests(p, &seen);
            run_well(p, &f);
        }
        lx_plan_free(p);
        lx_graph_free(to);
        lx_graph_free(g);
    }
    say_nests(&seen);
    assert_true(cut >= TRIES / 8 && seen.levels[1] > 0 && seen.levels[2] > 0);
}

/* A mask that leaves nothing of the first columns: whole tiles of minus infinity, which is nothing at all. */
struct masking {
    const struct lx_graph *g;
    float largest; /* of the outputs; what is no number is infinite */
};

static void give_masked(void *context, int32_t tensor, void *items)
{
    const struct masking *m = context;
    const struct lx_tensor *t = &m->g->tensors[tensor];
    int64_t count = t->bytes / 4, columns = t->shape[t->rank - 1];
    bool mask = strcmp(t->name, "mask") == 0;
    for (int64_t i = 0; i < count; i++)
        ((float *)items)[i] =
            mask ? (i % columns < columns / 2 ? -INFINITY : 0) : (float)(i * 7 % 13) * 0.1f - 0.6f;
}

static void see_masked(void *context, int32_t tensor, const void *items)
{
    struct masking *m = context;
    int64_t count = m->g->tensors[tensor].bytes / 4;
    assert_int_equal(m->g->tensors[tensor].role, LX_OUTPUT);
    for (int64_t i = 0; i < count; i++) {
        float x = fabsf(((const float *)items)[i]);
        m->largest = x < INFINITY ? fmaxf(m->largest, x) : INFINITY;
    }
}

static void masked_tiles_are_nothing(void **state)
{
    (void)state;
    struct softmax_form f = {
        .heads = 2, .rows = 128, .columns = 512, .width = 32, .dtype = "fp32", .masked = true};
    const struct lx_graph *g = made(&f, 2048);
    struct lx_plan *p = planned(g, LX_ONLINE_AUTO);
    struct masking m = {.g = g};
    struct lx_device_options how = {.input = give_masked, .output = see_masked, .context = &m};
    lx_status st = {0};
    assert_true(p->graph->came_from && runs_sums(p));
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    if (!r) fail_msg("%s", st.text);
    if (!r->ok) fail_msg("%s", what_is_wrong(r));
    assert_true(m.largest > 0 && m.largest <= 0.7f); /* an average of numbers from -0.6 to 0.6 */
    lx_run_result_free(r);
    lx_plan_free(p);
    lx_graph_free(g);
}

static int32_t op_named(const struct lx_graph *g, const char *name)
{
    for (int32_t o = 0; o < g->op_count; o++)
        if (strcmp(g->ops[o].name, name) == 0) return o;
    return -1;
}

/* A nest over the columns that leaves out a reader of the weights, the sum, or the blend is none. */
static void parts_of_it_are_refused(void **state)
{
    (void)state;
    struct softmax_form f = {
        .heads = 2, .rows = 16, .columns = 256, .width = 64, .products = 2, .dtype = "fp16"};
    const struct lx_graph *g = made(&f, 8192), *to = NULL;
    lx_status st = {0};
    assert_true(graph_online(g, &to, &st));
    struct lx_layouts *l = lx_layouts_make(to, LX_WEIGHTS_FREE, &st);
    if (!l) fail_msg("%s", st.text);
    int32_t lse = op_named(l->graph, "max_lse"), last = op_named(l->graph, "y0_1");
    int32_t first_y = op_named(l->graph, "y0_0"), sub = op_named(l->graph, "sub");
    assert_true(lse >= 0 && sub > lse && first_y > sub && last > first_y);
    signed char var[64][LX_MAX_LEVELS] = {{0}};
    for (int32_t first = lse; first <= sub; first++)
        for (int32_t end = sub; end <= last; end++) {
            for (int32_t o = first; o <= end; o++) {
                struct op_index x;
                op_index_of(l->graph, &l->graph->ops[o], &x);
                int t = 0; /* the variable of 256 */
                while (t < x.var_count && x.extent[t] != 256) t++;
                var[o - first][0] = (signed char)t;
            }
            struct lx_nest n = {.first = first,
                                .last = end,
                                .level_count = 1,
                                .tiles = {2},
                                .var = (const signed char(*)[LX_MAX_LEVELS])var};
            /* Complete sums may be read by anybody; a blend needs its sum along. One op alone is no nest. */
            bool whole = first == lse ? end == last : end < first_y && first < end;
            if (nest_valid(l, &n, &st) != whole)
                fail_msg("ops %d to %d of %d to %d: %s", (int)first, (int)end, (int)lse, (int)last,
                         whole ? st.text : "taken for a nest");
        }
    lx_layouts_free(l);
    lx_graph_free(to);
    lx_graph_free(g);
}

/* A plan that says it came from another graph is refused by the checker. */
static void forged_origins_are_found(void **state)
{
    (void)state;
    struct softmax_form f = {
        .heads = 4, .rows = 512, .columns = 512, .width = 64, .dtype = "fp16", .scaled = true};
    struct softmax_form other = f;
    other.scaled = false;
    const struct lx_graph *g = made(&f, 4096), *h = made(&other, 4096);
    struct lx_plan *p = planned(g, LX_ONLINE_AUTO);
    lx_status st = {0};
    assert_non_null(p->graph->came_from);
    struct lx_graph forged = *p->graph;
    struct lx_plan copy = *p;
    assert_true(lx_plan_check(p, &st));
    forged.came_from = h;
    copy.graph = &forged;
    assert_false(lx_plan_check(&copy, &st));
    lx_plan_free(p);
    lx_graph_free(g);
    lx_graph_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_run_and_are_no_worse), cmocka_unit_test(stated_nests_run),
        cmocka_unit_test(masked_tiles_are_nothing),   cmocka_unit_test(parts_of_it_are_refused),
        cmocka_unit_test(forged_origins_are_found),
    };
    return cmocka_run_group_tests_name("online_nests", tests, NULL, NULL);
}
