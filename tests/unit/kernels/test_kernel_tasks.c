/* How products are dealt out: whatever the tasks and whoever runs them, C has the bits of one thread, and
 * nothing but C is written. */
#include "support/kernel_operands.h"
#include "base/memory.h"

/* Operands of all products of a test, random; C of one thread and of several, with room behind. */
enum { ROOM = 64, THREADS_MAX = 7 };
struct memory {
    float *a, *b, *one, *many;
    struct pool *pool[THREADS_MAX + 1]; /* the first is none */
};

static struct memory memory_open(uint64_t seed, int64_t a_floats, int64_t b_floats, int64_t c_floats)
{
    struct rng r = rng_seed(seed);
    struct memory m = {.a = mem_alloc(sizeof *m.a * (size_t)a_floats),
                       .b = mem_alloc(sizeof *m.b * (size_t)b_floats),
                       .one = mem_alloc(sizeof *m.one * (size_t)(c_floats + ROOM)),
                       .many = mem_alloc(sizeof *m.many * (size_t)(c_floats + ROOM))};
    assert_true(m.a && m.b && m.one && m.many);
    for (int64_t i = 0; i < a_floats; i++) m.a[i] = (float)rng_unit(&r) - 0.5f;
    for (int64_t i = 0; i < b_floats; i++) m.b[i] = (float)rng_unit(&r) - 0.5f;
    for (int i = 1; i <= THREADS_MAX; i++) assert_non_null(m.pool[i] = pool_create(i));
    return m;
}

static void memory_close(struct memory *m)
{
    for (int i = 1; i <= THREADS_MAX; i++) pool_destroy(m->pool[i]);
    mem_free(m->a), mem_free(m->b), mem_free(m->one), mem_free(m->many);
}

/* Columns of A, B and C are contiguous. */
static struct gemm by_columns(int64_t m, int64_t n, int64_t k, int64_t batch)
{
    return (struct gemm){.m = m,
                         .n = n,
                         .k = k,
                         .batch = batch,
                         .a_m = 1,
                         .a_k = m,
                         .a_batch = m * k,
                         .b_k = 1,
                         .b_n = k,
                         .b_batch = k * n,
                         .c_m = 1,
                         .c_n = m,
                         .first = GEMM_FIRST_NONE};
}

/* Planned for `threads`, run by a pool of as many or of others: what one thread gives, which comes first. C
 * is added to, so that what is computed twice is as wrong as what is not. */
static struct gemm_plan check_bits(struct memory *x, const struct gemm *g, const struct kernel_target *t,
                                   int threads, int pool)
{
    struct gemm_plan plan;
    gemm_prepare(&plan, g, t, threads);
    float *to = threads == 1 ? x->one : x->many;
    const int64_t floats = g->m * g->n + ROOM;
    for (int64_t i = 0; i < floats; i++) to[i] = (float)(i % 97);
    const struct gemm_operands o = {.a = x->a, .b = x->b, .c = to};
    gemm_run(&plan, &o, x->pool[pool]);
    if (threads > 1) assert_memory_equal(x->one, x->many, sizeof *to * (size_t)floats);
    return plan;
}

/* Nothing packed, but several chunks; both packed; A packed in blocks and B in place. */
static void test_bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    enum { M = 260, N = 150, K = 1100 };
    struct memory x = memory_open(5, M * K, K * N, M * N);
    static const int64_t strides[][4] = {{1, M, 1, K}, {K, 1, N, 1}, {K, 1, 1, K}}; /* a_m, a_k, b_k, b_n */
    const struct kernel_target *t;
    for (int i = 0; (t = kernel_target_at(i)); i++)
        for (int layout = 0; layout < 3; layout++)
            for (int threads = 1; threads <= THREADS_MAX; threads++) {
                struct gemm g = by_columns(M, N, K, 1);
                g.a_m = strides[layout][0], g.a_k = strides[layout][1];
                g.b_k = strides[layout][2], g.b_n = strides[layout][3];
                const struct gemm_plan plan = check_bits(&x, &g, t, threads, threads);
                assert_int_equal(plan.block_a, layout > 0);
                assert_int_equal(plan.pack_b, layout == 1);
            }
    memory_close(&x);
}

/* Tasks of a product in place get smaller towards the end, down to none: every width. */
static void test_tasks_that_get_smaller(void **state)
{
    (void)state;
    enum { M = 1024, K = 512 };
    static const struct {
        int64_t m, k, from, to;
    } cases[] = {{64, K, 150, 230}, {M, 128, 181, 192}};
    struct memory x = memory_open(17, M * 256, M * 256, M * 256);
    const struct kernel_target *t;
    int in_runs = 0, finest = 0;
    for (int i = 0; (t = kernel_target_at(i)); i++)
        for (int c = 0; c < 2; c++)
            for (int64_t n = cases[c].from; n <= cases[c].to; n++)
                for (int threads = 1; threads <= 3; threads++) {
                    const struct gemm g = by_columns(cases[c].m, n, cases[c].k, 1);
                    const struct gemm_plan plan =
                        check_bits(&x, &g, t, threads, threads == 2 && n % 2 ? 3 : threads);
                    in_runs += plan.in_place && plan.runs > 0 && plan.run_tasks > 1;
                    finest += plan.in_place && plan.runs > 0 && plan.run_tasks == 8;
                }
    assert_true(in_runs > 50 && finest > 5);
    memory_close(&x);
}

/* Runs that begin with rows of their own: the others cut along m or only along n; none of their own; several
 * tasks of their own; chunks of k or of a batch that are not equally long; panels that are not full; run by
 * as many threads as planned for, by more, by fewer and by none but the caller's. */
static void test_rows_of_runs(void **state)
{
    (void)state;
    static const struct {
        int64_t m, n, k, batch;
    } shapes[] = {{512, 300, 320, 1}, {571, 521, 130, 1}, {200, 300, 901, 1},
                  {256, 260, 60, 13}, {68, 3200, 160, 1}, {2048, 257, 65, 1}};
    static const int other_pool[] = {0, 1, 0, 2, 5};
    enum { SHAPES = sizeof shapes / sizeof *shapes, A_FLOATS = 200000, B_FLOATS = 520000, C_FLOATS = 540000 };
    struct memory x = memory_open(23, A_FLOATS, B_FLOATS, C_FLOATS);
    const struct kernel_target *t;
    int along_n = 0, none = 0;
    for (int i = 0; (t = kernel_target_at(i)); i++) {
        int along_m = 0, several = 0, chunks = 0;
        for (int s = 0; s < SHAPES; s++) {
            struct gemm g = by_columns(shapes[s].m, shapes[s].n, shapes[s].k, shapes[s].batch);
            assert_true(g.a_batch * g.batch <= A_FLOATS && g.b_batch * g.batch <= B_FLOATS &&
                        g.m * g.n <= C_FLOATS);
            g.a_m = g.k, g.a_k = 1; /* rows that are contiguous along k are always packed */
            for (int threads = 1; threads <= 4; threads++) {
                const struct gemm_plan p = check_bits(&x, &g, t, threads, threads);
                if (p.runs == 0 || !p.block_a) continue;
                check_bits(&x, &g, t, threads, other_pool[threads]);
                along_m += p.m_parts > 1;
                along_n += p.n_parts > 1;
                several += p.own_tasks > 1;
                chunks += p.chunks > 1;
                none += p.own_rows == 0;
            }
        }
        if (along_m == 0 || several == 0 || chunks == 0)
            fail_msg("%s: %d runs along m, %d with several tasks, %d with chunks", kernel_target_name(t),
                     along_m, several, chunks);
    }
    assert_true(along_n > 0 && none > 0);
    memory_close(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_do_not_depend_on_threads),
        cmocka_unit_test(test_tasks_that_get_smaller),
        cmocka_unit_test(test_rows_of_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
