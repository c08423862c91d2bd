/* Layers that repeat are laid out once, and that is what a search through all of them finds: random layers, several times one
 * behind the other, with weights of their own, tensors that all share, and links over one layer or two. */
#include "base/rng.h"
#include "base/text.h"
#include "base/memory.h"
#include "layout/propagate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_OPS = 9 };

struct layer_op {
    int form,
        from[2]; /* from: an op of the layer; -1: its input, -2: one layer up, -3: a weight, -4: what all share */
};

static const struct {
    const char *kind, *einsum;
} forms[] = {{"matmul", "ab,bc->ac"}, {"matmul", "ab,cb->ac"}, {"matmul", "ba,bc->ac"},
             {"matmul", "ba,cb->ac"}, {"add", "ab,ab->ab"},    {"mul", "ab,ba->ab"}};
enum { FORMS = sizeof forms / sizeof *forms };

static int draw_layer(struct rng *r, struct layer_op *ops)
{
    int count = (int)rng_between(r, 4, MOST_OPS);
    for (int i = 0; i < count; i++) {
        ops[i].form = (int)rng_below(r, FORMS);
        for (int k = 0; k < 2; k++) ops[i].from[k] = (int)rng_between(r, k ? -4 : -2, i - 1);
    }
    ops[count - 1].from[0] = count - 2;
    return count;
}

static void add_input(struct text *t, const struct layer_op *op, int k, int layer, int count, int o)
{
    int from = op->from[k];
    if (from == -3)
        text_format(t, "\"w%d_%d\"", layer, o);
    else if (from == -4)
        text_add(t, "\"all\"");
    else if (from >= 0)
        text_format(t, "\"t%d_%d\"", layer, from);
    else if (layer == 0)
        text_add(t, "\"x\"");
    else /* the last op of the layer above, or the one before it */
        text_format(t, "\"t%d_%d\"", layer - 1, count + from);
}

static const struct lx_graph *layered(const struct layer_op *ops, int count, int layers, int size)
{
    struct text tensors = {0}, all = {0};
    lx_status st = {0};
    text_format(&tensors, "{\"name\": \"x\", \"shape\": [%d, %d]}, {\"name\": \"all\", \"shape\": [%d, %d]}",
                size, size, size, size);
    for (int l = 0; l < layers; l++)
        for (int o = 0; o < count; o++) {
            text_format(&tensors, ", {\"name\": \"t%d_%d\", \"shape\": [%d, %d]}", l, o, size, size);
            if (ops[o].from[1] == -3)
                text_format(&tensors, ", {\"name\": \"w%d_%d\", \"shape\": [%d, %d], \"role\": \"weight\"}",
                            l, o, size, size);
            text_format(&all, "%s{\"name\": \"o%d_%d\", \"kind\": \"%s\", \"einsum\": \"%s\", \"inputs\": [",
                        l + o ? ", " : "", l, o, forms[ops[o].form].kind, forms[ops[o].form].einsum);
            add_input(&all, &ops[o], 0, l, count, o);
            text_add(&all, ", ");
            add_input(&all, &ops[o], 1, l, count, o);
            text_format(&all, "], \"output\": \"t%d_%d\"}", l, o);
        }
    struct text t = {0};
    text_format(&t,
                "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": [%s], \"ops\": [%s]}",
                tensors.at, all.at);
    const struct lx_graph *g = lx_graph_of_text("t", t.at, t.length, &st);
    if (!g) fail_msg("%s", st.text);
    text_free(&tensors);
    text_free(&all);
    text_free(&t);
    return g;
}

static bool same_way(const struct stick_way *a, const struct stick_way *b)
{
    return a->stick_var == b->stick_var && memcmp(a->need, b->need, 3) == 0;
}

/* The same with the layers that the graph is known to repeat, and without; how many were not searched. */
static int32_t compare(const struct lx_graph *g)
{
    struct arena memory = {0};
    lx_status st = {0};
    bool *alive = mem_zeroed((size_t)g->op_count + 1, sizeof *alive);
    int32_t count;
    struct lx_repeat *runs = lx_repeats(g, &count);
    struct stick_plan with, without;
    assert_true(alive && runs);
    struct lx_op *ops = arena_copy_array(&memory, g->ops, (size_t)g->op_count, sizeof *ops);
    assert_non_null(ops);
    find_dead_ops(g, alive, ops, &memory);
    assert_true(propagate_sticks(g, alive, runs, count, LX_WEIGHTS_FREE, &memory, &with, &st));
    assert_true(propagate_sticks(g, alive, runs, 0, LX_WEIGHTS_FREE, &memory, &without, &st));
    assert_int_equal(with.moved, without.moved);
    assert_int_equal(with.bound, without.bound);
    assert_int_equal(without.repeated, 0);
    for (int32_t o = 0; o < g->op_count; o++)
        if (alive[o]) assert_true(same_way(&with.way[o], &without.way[o]));
    mem_free(alive);
    mem_free(runs);
    arena_free(&memory);
    return with.repeated;
}

static void test_the_same(void **state)
{
    (void)state;
    struct rng r = rng_seed(5);
    int32_t repeated = 0;
    for (int round = 0; round < 120; round++) {
        struct layer_op ops[MOST_OPS];
        int count = draw_layer(&r, ops), layers = (int)rng_between(&r, 4, 14);
        const struct lx_graph *g = layered(ops, count, layers, round % 3 ? 256 : 96);
        repeated += compare(g);
        lx_graph_free(g);
    }
    assert_true(repeated > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
