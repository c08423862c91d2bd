/* Where there are more choices than the search can take along, what it answers is beaten by nothing that is easily said: whole
 * tensors, one axis, all axes as one row, or one tensor that is cut as somebody states. */
#include "unstable.h"
#include "support/sampled.h"
#include "team/shard/shard_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Searches that drop choices take long under the sanitizer: there one grid, and nothing stated. */
enum { TENSORS = 32, EACH = 151, PLAIN_ONES = 4, STATED = SANITIZED ? 0 : 2 };

struct asked {
    const struct lx_graph *g;
    struct shard_question q;
    struct shard_prices *prices;
    bool fixed[TENSORS];
    struct shard_state state[TENSORS], tensors[TENSORS];
    struct shard_way ways[TENSORS];
    struct shard_cost chosen;
    int seen;
};

static bool beats(struct asked *a, struct shard_cost cost)
{
    cost.us += 1e-9 * a->chosen.us;
    a->seen++;
    return shard_cheaper(&a->q, cost, a->chosen) && (!a->q.by_time || cost.us < a->chosen.us);
}

static void try_along(struct asked *a, enum shard_along along, const char *what)
{
    struct shard_answer answer = {.tensors = a->tensors, .ways = a->ways};
    bool dropped;
    if (!shard_search_along(&a->q, a->prices, along, 1500, &answer, &dropped)) return;
    if (beats(a, answer.cost)) fail_msg("%s is cheaper", what);
}

/* As if --cut had asked for it. */
static void try_one(struct asked *a, int32_t t, struct shard_state state)
{
    struct shard_answer answer = {.tensors = a->tensors, .ways = a->ways};
    if (a->fixed[t]) return;
    a->fixed[t] = true;
    a->state[t] = state;
    if (shard_search(&a->q, &answer) && beats(a, answer.cost))
        fail_msg("%s cut along %d and %d is cheaper: %g us, not %g", a->g->tensors[t].name, state.at[0],
                 state.at[1], answer.cost.us, a->chosen.us);
    a->fixed[t] = false;
}

static void try_whole(struct asked *a)
{
    bool before[TENSORS];
    memcpy(before, a->fixed, sizeof before);
    for (int32_t t = 0; t < a->g->tensor_count; t++) {
        if (!before[t]) a->state[t] = (struct shard_state){{-1, -1, -1}};
        a->fixed[t] = true;
    }
    try_along(a, SHARD_FREELY, "all whole");
    memcpy(a->fixed, before, sizeof before);
}

static void test_nothing_said_is_cheaper(const struct lx_team_grid *grid)
{
    struct asked a = {0};
    lx_status st = {0};
    a.g = lx_graph_read(SOURCE_DIR "/patterns/team/attention_grid.json", &st);
    if (!a.g) fail_msg("%s", st.text);
    assert_true(a.g->tensor_count <= TENSORS && a.g->op_count <= TENSORS);
    a.q =
        (struct shard_question){.g = a.g, .grid = *grid, .by_time = true, .fixed = a.fixed, .state = a.state};
    a.prices = shard_prices_make(a.g, grid, false, NULL);
    assert_non_null(a.prices);
    struct shard_answer answer = {.tensors = a.tensors, .ways = a.ways};
    bool dropped = false;
    assert_true(shard_search_along(&a.q, a.prices, SHARD_FREELY, 1500, &answer, &dropped) && dropped);
    assert_true(shard_search(&a.q, &answer));
    a.chosen = answer.cost;
    assert_int_equal(a.chosen.bytes, 0); /* sequences and heads never meet */
    try_along(&a, SHARD_TOGETHER, "one row");
    try_along(&a, (enum shard_along)0, "the first axis");
    try_along(&a, (enum shard_along)1, "the second axis");
    try_whole(&a);
    for (int32_t t = 0, n = 0; STATED > 0 && t < a.g->tensor_count; t++)
        for (int i = -1; i < a.g->tensors[t].rank; i++)
            for (int k = -1; k < a.g->tensors[t].rank; k++)
                if (n++ % EACH == 0)
                    try_one(&a, t, (struct shard_state){{(signed char)i, (signed char)k, -1}});
    assert_true(a.seen >= PLAIN_ONES + STATED);
    shard_prices_free(a.prices);
    lx_graph_free(a.g);
}

static void test_two_by_two(void **state)
{
    (void)state;
    test_nothing_said_is_cheaper(&(struct lx_team_grid){2, {2, 2}});
}

static void test_two_by_four(void **state)
{
    (void)state;
    if (!SAMPLED) test_nothing_said_is_cheaper(&(struct lx_team_grid){2, {2, 4}});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_by_two), cmocka_unit_test(test_two_by_four)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
