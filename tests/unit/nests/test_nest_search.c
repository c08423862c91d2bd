/* The search for nests: axes that go on through later ops, windows of what repeats, and plans that are found again, with less
 * traffic, whatever stops the search. */
#include "unstable.h"
#include "base/memory.h"
#include "layout/op_index.h"
#include "search/search_steps.h"
#include "search/nests/nest_edits.h"
#include "search/nests/nest_search.h"
#include "nests/nest_candidates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A graph with all that its plans are made of. */
struct subject {
    lx_status st;
    struct arena memory;
    const struct lx_graph *graph;
    struct lx_layouts *layouts;
    struct lx_divisions *divided;
    struct lx_plan_options options;
    struct search by;
};

/* One layer of 32 ops where `layers` is 1. */
static struct subject *blocks(int64_t layers, int64_t tokens)
{
    struct subject *s = mem_zeroed(1, sizeof *s);
    const struct lx_generator *make = lx_generator_find("block");
    int64_t values[] = {layers, 1024, 8, tokens, 0};
    assert_non_null(make);
    s->graph = make->build(values, &s->st);
    s->layouts = s->graph ? lx_layouts_make(s->graph, LX_WEIGHTS_FREE, &s->st) : NULL;
    s->divided = s->layouts ? lx_divide(s->layouts, NULL, &s->st) : NULL;
    s->options =
        (struct lx_plan_options){.solver = lx_solver_find("auto"), .quick_solver = lx_solver_find("bestfit")};
    s->by = (struct search){.divided = s->divided,
                            .request = &s->options,
                            .effort = effort_asked(&s->options),
                            .memory = &s->memory,
                            .st = &s->st};
    struct decisions how = {.passes = {.tile = LX_TILE_AUTO}};
    if (!s->divided || !try_with(&s->by, DRAFTS_MANY, &how, &s->by.best)) fail_msg("%s", s->st.text);
    return s;
}

static void subject_free(struct subject *s)
{
    attempt_free(&s->by.best);
    arena_free(&s->memory);
    lx_divisions_free(s->divided);
    lx_layouts_free(s->layouts);
    lx_graph_free(s->graph);
    mem_free(s);
}

static int32_t op_named(const struct lx_graph *g, const char *name)
{
    for (int32_t o = 0; o < g->op_count; o++)
        if (strcmp(g->ops[o].name, name) == 0) return o;
    fail_msg("no op %s", name);
    return -1;
}

static int var_named(const struct lx_graph *g, int32_t op, char letter)
{
    struct op_index x;
    op_index_of(g, &g->ops[op], &x);
    for (int v = 0; v < x.var_count; v++)
        if (x.letter[v] == letter) return v;
    return -1;
}

/* Keys and values share only the tokens with the queries; their heads are the same by way of the scores. */
static void axes_go_on_through_later_ops(void **state)
{
    (void)state;
    struct subject *s = blocks(1, 256);
    const struct lx_graph *g = s->layouts->graph;
    int32_t q = op_named(g, "l0_q"), k = op_named(g, "l0_k"), last = op_named(g, "l0_projected");
    signed char seed[1][LX_MAX_LEVELS] = {{(signed char)var_named(g, q, 'h')}};
    struct lx_nest one = {.first = q, .last = q, .level_count = 1, .tiles = {8}}, wide, less;
    one.var = (const signed char(*)[LX_MAX_LEVELS])seed;
    assert_true(nest_over(s->layouts, &one, q, last, &s->memory, &wide));
    assert_true(nest_valid(s->layouts, &wide, &s->st));
    assert_int_equal(wide.var[k - q][0], var_named(g, k, 'h'));
    assert_int_equal(wide.var[last - q][0], var_named(g, last, 'h'));
    assert_false(nest_over(s->layouts, &one, q, k, &s->memory, &less)); /* without them they are not */
    assert_false(nest_over(s->layouts, &wide, q, k, &s->memory, &less));
    assert_false(nest_over(s->layouts, &one, q, last + 1, &s->memory, &wide));
    subject_free(s);
}

static void levels_come_and_go(void **state)
{
    (void)state;
    struct subject *s = blocks(1, 256);
    const struct lx_graph *g = s->layouts->graph;
    int32_t first = op_named(g, "l0_scores"), last = op_named(g, "l0_mixed");
    signed char vars[16][LX_MAX_LEVELS] = {{0}};
    struct lx_nest none = {.first = first, .last = last}, one, two, swapped, back;
    none.var = (const signed char(*)[LX_MAX_LEVELS])vars;
    assert_true(nest_deeper(s->layouts, &none, 0, var_named(g, first, 's'), 4, &s->memory, &one));
    assert_true(nest_deeper(s->layouts, &one, 0, var_named(g, first, 'h'), 8, &s->memory, &two));
    assert_int_equal(two.level_count, 2);
    assert_int_equal(two.tiles[0], 8);
    assert_true(nest_valid(s->layouts, &two, &s->st));
    nest_swapped(&two, 0, 1, &s->memory, &swapped);
    assert_int_equal(swapped.tiles[0], 4);
    assert_int_equal(swapped.var[last - first][1], two.var[last - first][0]);
    nest_shallower(&swapped, 1, &s->memory, &back);
    assert_int_equal(back.level_count, 1);
    assert_memory_equal(back.var[0], one.var[0], 1);
    subject_free(s);
}

/* Where an op takes time to begin, fewer iterations that save less come first. */
static void iterations_are_paid_for(void **state)
{
    (void)state;
    struct subject *s = blocks(1, 256);
    struct nest_list dear, cheap, none;
    int64_t *bytes = arena_array(&s->memory, (size_t)s->layouts->graph->op_count, sizeof *bytes);
    for (int32_t o = 0; o < s->layouts->graph->op_count; o++) bytes[o] = INT64_C(1) << 23;
    struct nest_asks asks = {.now = &s->by.best.draft,
                             .op_bytes = bytes,
                             .room = INT64_C(1) << 18,
                             .longest = 12,
                             .levels = 2,
                             .counts = 8,
                             .most = 4,
                             .least_gain = -LX_INT_MAX};
    nest_candidates(&asks, &s->memory, &cheap, &none);
    asks.tick_bytes = INT64_C(1) << 20;
    nest_candidates(&asks, &s->memory, &dear, &none);
    const struct lx_nest *few = &dear.at[0].nest, *many = &cheap.at[0].nest;
    assert_true(nest_iterations(few) < nest_iterations(many));
    assert_true(dear.at[0].gain + nest_iterations(few) * (few->last - few->first + 1) * asks.tick_bytes <=
                cheap.at[0].gain);
    subject_free(s);
}

static void layers_are_windows_that_look_alike(void **state)
{
    (void)state;
    struct subject *s = blocks(4, 256);
    const struct draft *x = &s->by.best.draft;
    int32_t *last, count, alike = 0;
    nest_windows_cut(x, 40, &s->memory, &last, &count);
    assert_int_equal(last[count - 1], x->graph->op_count - 1);
    struct nest_window *w = arena_array(&s->memory, (size_t)count, sizeof *w);
    for (int32_t i = 0; i < count; i++) {
        assert_true(last[i] - (i ? last[i - 1] : -1) <= 40);
        nest_window_make(x, i ? last[i - 1] + 1 : 0, last[i], &s->memory, &w[i]);
        alike += i > 0 && nest_windows_alike(&w[i - 1], &w[i]);
    }
    assert_true(alike >= 2); /* the first and the last have other ends */
    subject_free(s);
}

/* Layers that read their weights as parts of one tensor: alike wherever the part lies, but where the tensor begins. */
static void parts_of_stacked_weights_look_alike(void **state)
{
    (void)state;
    enum { OPS = 4 };
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"stack\", \"tensors\": ["
        "{\"name\": \"w\", \"shape\": [4, 64, 256], \"role\": \"weight\"},"
        "{\"name\": \"x\", \"shape\": [64, 128], \"role\": \"input\"},"
        "{\"name\": \"a\", \"shape\": [64, 128]}, {\"name\": \"b\", \"shape\": [64, 128]},"
        "{\"name\": \"c\", \"shape\": [64, 128]},"
        "{\"name\": \"d\", \"shape\": [64, 128], \"role\": \"output\"}], \"ops\": ["
        "{\"name\": \"a\", \"kind\": \"add\", \"einsum\": \"abc,bc->bc\", \"inputs\": [\"w\", \"x\"],"
        "\"views\": [{\"offset\": [0, 0, 0], \"size\": [1, 64, 128]}, null], \"output\": \"a\"},"
        "{\"name\": \"b\", \"kind\": \"add\", \"einsum\": \"abc,bc->bc\", \"inputs\": [\"w\", \"a\"],"
        "\"views\": [{\"offset\": [1, 0, 64], \"size\": [1, 64, 128]}, null], \"output\": \"b\"},"
        "{\"name\": \"c\", \"kind\": \"add\", \"einsum\": \"abc,bc->bc\", \"inputs\": [\"w\", \"b\"],"
        "\"views\": [{\"offset\": [2, 0, 64], \"size\": [1, 64, 128]}, null], \"output\": \"c\"},"
        "{\"name\": \"d\", \"kind\": \"add\", \"einsum\": \"abc,bc->bc\", \"inputs\": [\"w\", \"c\"],"
        "\"views\": [{\"offset\": [3, 0, 128], \"size\": [1, 64, 128]}, null], \"output\": \"d\"}]}";
    lx_status st = {0};
    struct arena memory = {0};
    const struct lx_graph *g = lx_graph_of_text("stack", text, strlen(text), &st);
    struct lx_plan_options how = {.solver = lx_solver_find("greedy"), .passes = {.tile = LX_TILE_NONE}};
    struct lx_plan *p = g ? lx_plan_make(g, &how, &st) : NULL;
    if (!p) fail_msg("%s", st.text);
    assert_non_null(p->draft);
    struct nest_window w[OPS];
    for (int32_t o = 0; o < OPS; o++) nest_window_make(p->draft, o, o, &memory, &w[o]);
    w[3].graph.tensors = w[2].graph.tensors; /* a result and one on the way do not look alike */
    assert_true(nest_windows_alike(&w[1], &w[2]));
    assert_true(nest_windows_alike(&w[2], &w[1]));
    assert_false(nest_windows_alike(&w[0], &w[1]));
    assert_true(nest_windows_alike(&w[2], &w[3])); /* other sticks of the row */
    arena_free(&memory);
    lx_plan_free(p);
    lx_graph_free(g);
}

/* Of four layers each moves what one alone does. */
static void windows_find_what_the_whole_would(void **state)
{
    (void)state;
    struct subject *one = blocks(1, 4096), *four = blocks(4, 4096);
    int64_t plain = one->by.best.hbm_bytes, all = four->by.best.hbm_bytes;
    assert_true(nests_search(&one->by) && nests_search(&four->by));
    assert_true(one->by.best.hbm_bytes < plain / 2);
    assert_true(four->by.best.hbm_bytes < all / 2);
    assert_true(four->by.best.hbm_bytes <= 4 * one->by.best.hbm_bytes * 11 / 10);
    subject_free(one);
    subject_free(four);
}

static void the_same_is_found_again(void **state)
{
    (void)state;
    struct subject *a = blocks(1, 1024), *b = blocks(1, 1024);
    assert_true(nests_search(&a->by) && nests_search(&b->by));
    const struct decisions *one = &a->by.best.draft.how, *two = &b->by.best.draft.how;
    assert_int_equal(a->by.best.hbm_bytes, b->by.best.hbm_bytes);
    assert_int_equal(one->nest_count, two->nest_count);
    assert_int_equal(one->hold_count, two->hold_count);
    for (int32_t i = 0; i < one->nest_count; i++) {
        assert_int_equal(one->nests[i].first, two->nests[i].first);
        assert_int_equal(one->nests[i].last, two->nests[i].last);
        assert_memory_equal(one->nests[i].tiles, two->nests[i].tiles,
                            (size_t)one->nests[i].level_count * sizeof *one->nests[i].tiles);
    }
    subject_free(a);
    subject_free(b);
}

/* Stops after so many questions. */
struct patience {
    int left;
};

static bool is_out(void *context)
{
    struct patience *p = context;
    return p->left-- <= 0;
}

static void whatever_stops_it_leaves_a_plan(void **state)
{
    (void)state;
    for (int left = 0; left < 3000; left = left * 3 + 1) {
        struct subject *s = blocks(left % 2 ? 3 : 1, 1024);
        struct patience p = {left};
        int64_t plain = s->by.best.hbm_bytes, moved;
        s->options.run.stop = is_out;
        s->options.run.context = &p;
        assert_true(nests_search(&s->by));
        assert_true(s->by.best.hbm_bytes <= plain);
        assert_true(lx_problem_check(&s->by.best.draft.problem, s->by.best.answer.address, &moved, &s->st));
        assert_true(traffic_count(&s->by.best.draft, s->by.best.answer.address, &moved));
        assert_int_equal(moved, s->by.best.hbm_bytes);
        subject_free(s);
    }
}

/* Stopped at once: the most of what nests save is found all the same, in windows and without them. */
static void stopped_at_once_it_has_nests(void **state)
{
    (void)state;
    for (int layers = 1; layers <= 3; layers += 2) {
        struct subject *s = blocks(layers, 4096);
        struct patience p = {0};
        int64_t plain = s->by.best.hbm_bytes;
        s->options.run.stop = is_out;
        s->options.run.context = &p;
        assert_true(nests_search(&s->by));
        assert_true(s->by.best.draft.how.nest_count >= layers);
        assert_true(s->by.best.hbm_bytes < plain / 2);
        subject_free(s);
    }
}

/* Among plans that move the same the quicker: not one that divides a product so that HBM serves it slowly. */
static void ties_go_to_the_quicker(void **state)
{
    (void)state;
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/gq_attention.json", &st);
    const struct lx_graph *sized = g ? lx_graph_with_capacity(g, 96 * 1024, &st) : NULL;
    struct lx_plan_options how = {.solver = lx_solver_find("auto"),
                                  .quick_solver = lx_solver_find("bestfit")};
    struct lx_plan *p = sized ? lx_plan_make(sized, &how, &st) : NULL;
    if (!p) fail_msg("%s", st.text);
    assert_int_equal(p->figures.hbm_bytes, 2654208);
    assert_true(p->figures.end_to_end_us < 60);
    lx_plan_free(p);
    lx_graph_free(sized);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(axes_go_on_through_later_ops),
                                       cmocka_unit_test(levels_come_and_go),
                                       cmocka_unit_test(iterations_are_paid_for),
                                       cmocka_unit_test(layers_are_windows_that_look_alike),
                                       cmocka_unit_test(parts_of_stacked_weights_look_alike),
                                       cmocka_unit_test(windows_find_what_the_whole_would),
                                       cmocka_unit_test(the_same_is_found_again),
                                       cmocka_unit_test(ties_go_to_the_quicker),
                                       cmocka_unit_test(whatever_stops_it_leaves_a_plan),
                                       cmocka_unit_test(stopped_at_once_it_has_nests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
