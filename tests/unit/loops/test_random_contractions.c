/* A thousand random legal contractions, and moves beside them: the rules of lxplan reject none; each pass
 * alone, each after the others, and all of them twice keep the result, by executing before and after; and the
 * kernels compute what the scalar executor does, whatever the passes and the threads. */
#include "unstable.h"
#include "base/memory.h"
#include "support/random_nest.h"
#include "support/loop_rules.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { CONTRACTIONS = OFTEN(1000), MOVES = OFTEN(300) };

static const struct lx_loop_rules *ours(void)
{
    return rules_named("lxplan");
}

static void show(const struct lx_loops *l)
{
    size_t length;
    char *json = lx_loops_to_json(l, &length);
    if (json) fputs(json, stderr);
    mem_free(json);
}

/* Shows the nests in question before the test ends. */
static void broken(int i, const char *what, const struct lx_loops *a, const struct lx_loops *b,
                   const char *why)
{
    show(a);
    if (b) show(b);
    fail_msg("%d, %s: %s", i, what, why);
}

static void expect_same(int i, const char *what, const struct lx_loops *a, const struct lx_loops *b)
{
    lx_status st = {0};
    int64_t steps = 0;
    if (!lx_loops_same(a, b, (uint64_t)i, INT64_MAX, &steps, &st)) broken(i, what, a, b, st.text);
    assert_int_equal(steps, 2 * lx_loops_work(a)); /* all of it was run */
}

static void through_the_passes(int i, const struct lx_loops *input, int64_t threads, struct lx_loops *l)
{
    lx_status st = {0};
    *l = *input;
    for (int p = 0; p < LX_LOOP_PASSES; p++) {
        const struct lx_loop_pass *pass = lx_loop_pass_at(ours(), p);
        struct lx_loops before = *l, alone = *input;
        assert_true(lx_loops_run_pass(l, pass, ours(), threads, &st));
        expect_same(i, pass->name, &before, l);
        assert_true(lx_loops_run_pass(&alone, pass, ours(), threads, &st));
        expect_same(i, pass->name, input, &alone);
    }
    if (lx_loops_validate(l, ours(), &st) != 0) broken(i, "all passes", input, l, st.text);
    expect_same(i, "all passes", input, l);
    /* Once more: what has been through the passes can go through them again. */
    struct lx_loops again = *l;
    assert_true(lx_loops_optimise(&again, ours(), threads, &st));
    expect_same(i, "all passes again", l, &again);
    assert_int_equal(lx_loops_validate(&again, ours(), &st), 0);
}

static void on_the_kernels(int i, const struct lx_loops *l, const struct lx_loops *input, int threads)
{
    struct lx_nest_measure m;
    lx_status st = {0};
    if (!lx_nest_measure(l, input, threads, 0, INT64_MAX, &m, &st))
        broken(i, "the kernels", input, l, st.text);
    assert_false(m.sampled);
    assert_int_equal(m.runs, 1);
    int64_t written = 1;
    for (int k = 0; k < input->count; k++)
        if (input->loop[k].type != LX_DIM_K) written *= input->loop[k].size;
    assert_int_equal(m.compared, written);
    if (m.difference <= m.allowed) return;
    char why[200];
    snprintf(why, sizeof why, "off by %g, allowed %g, %d threads", m.difference, m.allowed, threads);
    broken(i, "the kernels", input, l, why);
}

struct seen {
    int nests, types[LX_DIM_COUNT], batched, without_m_or_n, without_k, no_unit_stride, shared, windows;
};

static void count(const struct lx_loops *input, const struct lx_loops *after, struct seen *s)
{
    bool has[LX_DIM_COUNT] = {false}, unit = false, window = false;
    for (int i = 0; i < input->count; i++) {
        has[input->loop[i].type] = true;
        unit |= input->loop[i].type == LX_DIM_M && input->loop[i].stride[LX_LOOP_IN0] == 1;
        for (int j = 0; j < i; j++)
            for (int o = 0; o < LX_LOOP_OUT; o++)
                window |= input->loop[i].size > 1 && input->loop[j].size > 1 &&
                          input->loop[i].stride[o] > 0 &&
                          input->loop[i].stride[o] == input->loop[j].stride[o];
    }
    for (int t = 0; t < LX_DIM_COUNT; t++) s->types[t] += has[t];
    s->nests++;
    s->batched += has[LX_DIM_C];
    s->without_m_or_n += !has[LX_DIM_M] || !has[LX_DIM_N];
    s->without_k += !has[LX_DIM_K];
    s->no_unit_stride += !unit;
    s->windows += window;
    s->shared += after->loop[0].exec == LX_EXEC_SHARED;
}

static void take_nests(int number, enum random_main which, uint64_t seed, struct seen *s)
{
    struct rng r = rng_seed(seed);
    while (s->nests < number) {
        struct lx_loops input = random_nest(&r, which), l;
        lx_status st = {0};
        int i = s->nests;
        if (which == ANY_MAIN && lx_touch_contracts(input.main)) continue;
        bool chosen = choose_some(&r, &input);
        int64_t threads = 1 + (int64_t)rng_below(&r, 9);
        if (!chosen && lx_loops_validate(&input, ours(), &st) != 0)
            broken(i, "the input", &input, NULL, st.text);
        through_the_passes(i, &input, threads, &l);
        on_the_kernels(i, &l, &input, 1 + i % 3);
        if (!chosen) on_the_kernels(i, &input, &input, 1); /* no pass has run */
        count(&input, &l, s);
    }
}

static void test_contractions(void **state)
{
    (void)state;
    struct seen s = {0};
    take_nests(CONTRACTIONS, ONLY_CONTRACTIONS, 2025, &s);
    print_message(
        "%d contractions, none rejected: %d with c, %d with m, %d with n, %d with k; %d without m or n, "
        "%d without k, %d without unit stride in in0, %d with windows; %d shared\n",
        s.nests, s.types[LX_DIM_C], s.types[LX_DIM_M], s.types[LX_DIM_N], s.types[LX_DIM_K], s.without_m_or_n,
        s.without_k, s.no_unit_stride, s.windows, s.shared);
    for (int t = LX_DIM_C; t <= LX_DIM_K; t++) assert_true(s.types[t] > CONTRACTIONS / 4);
    assert_true(s.without_m_or_n > CONTRACTIONS / 50 && s.without_k > CONTRACTIONS / 50);
    assert_true(s.no_unit_stride > CONTRACTIONS / 10 && s.windows > CONTRACTIONS / 50);
    assert_true(s.shared > CONTRACTIONS / 4);
}

static void test_moves(void **state)
{
    (void)state;
    struct seen s = {0};
    take_nests(MOVES, ANY_MAIN, 77, &s);
}

/* Blocks that were cut go back into the product; tasks and shared products give the same bits. */
static void test_threads_keep_the_bits(void **state)
{
    (void)state;
    static const struct {
        const char *einsum;
        int64_t sizes[5];
        int count;
    } rows[] = {{"mk,kn->mn", {192, 160, 130}, 3},
                {"bmk,bkn->bmn", {7, 64, 48, 80}, 4},
                {"abcd,dcbe->ea", {24, 6, 8, 4, 40}, 5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lx_status st = {0};
        struct lx_tree *t = lx_tree_parse(rows[i].einsum, rows[i].sizes, rows[i].count, &st);
        struct lx_loops l;
        assert_non_null(t);
        assert_true(lx_tree_lower(t, t->node_count - 1, &l, NULL, &st));
        assert_true(lx_loops_optimise(&l, ours(), 4, &st));
        lx_tree_free(t);
        float *data[LX_LOOP_OPERANDS], *other;
        for (int o = 0; o < LX_LOOP_OPERANDS; o++) {
            int64_t n = lx_loops_extent(&l, (enum lx_loop_operand)o);
            data[o] = mem_alloc((size_t)n * sizeof(float));
            assert_non_null(data[o]);
            for (int64_t k = 0; k < n; k++) data[o][k] = (float)((k * 7919 + o) % 1013) / 1013;
        }
        int64_t n = lx_loops_extent(&l, LX_LOOP_OUT);
        other = mem_alloc((size_t)n * sizeof(float));
        assert_non_null(other);
        for (int threads = 1; threads <= 4; threads++) {
            struct lx_nest_runner *r = lx_nest_runner_make(&l, threads, &st);
            assert_non_null(r);
            lx_nest_runner_run(r, data[0], data[1], threads == 1 ? data[2] : other);
            lx_nest_runner_free(r);
            if (threads > 1) assert_memory_equal(data[2], other, (size_t)n * sizeof(float));
        }
        for (int o = 0; o < LX_LOOP_OPERANDS; o++) mem_free(data[o]);
        mem_free(other);
    }
}

static void test_what_cannot_run(void **state)
{
    (void)state;
    struct lx_loops l = {.main = LX_TOUCH_GEMM, .has_in1 = true, .count = 1};
    struct lx_nest_measure m;
    lx_status st = {0};
    l.loop[0] = (struct lx_loop){LX_DIM_K, LX_EXEC_SHARED, 4, {1, 1, 0}};
    assert_null(lx_nest_runner_make(&l, 1, &st));
    assert_int_equal(st.code, LX_E_LOOP_SHARED_K);
    l.loop[0] = (struct lx_loop){LX_DIM_M, LX_EXEC_SEQ, (int64_t)1 << 40, {1, 0, 1}};
    assert_false(lx_nest_measure(&l, &l, 1, 0, 1, &m, &st));
    assert_int_equal(st.code, LX_E_LIMIT);
    /* A reference that would take too long is cut down, and a wrong one is noticed. */
    l.loop[0] = (struct lx_loop){LX_DIM_M, LX_EXEC_SEQ, 5000, {1, 0, 1}};
    struct lx_loops wrong = l;
    wrong.first = LX_TOUCH_ZERO;
    assert_true(lx_nest_measure(&l, &l, 1, 0, 100, &m, &st));
    assert_true(m.sampled && m.compared > 0 && m.compared <= 100 && m.difference <= m.allowed);
    assert_true(lx_nest_measure(&l, &wrong, 1, 0, 100, &m, &st));
    assert_true(m.difference > m.allowed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contractions),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_threads_keep_the_bits),
        cmocka_unit_test(test_what_cannot_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
