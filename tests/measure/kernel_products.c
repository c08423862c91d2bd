/* Products, their matrices and who computes them. */
#include "measure/kernel_products.h"
#include "base/memory.h"
#include "support/peak.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_OPENBLAS
#include <cblas.h>
#endif

const struct row rows[] = {
    {"registers only", PEAK, 0, 1, false, GEMM_FIRST_NONE, GEMM_LAST_NONE},
    {"16^3", CUBE, 16, 1, false, GEMM_FIRST_ZERO, GEMM_LAST_NONE},
    {"32^3", CUBE, 32, 1, false, GEMM_FIRST_ZERO, GEMM_LAST_NONE},
    {"64^3", CUBE, 64, 1, false, GEMM_FIRST_ZERO, GEMM_LAST_NONE},
    {"128^3", CUBE, 128, 1, false, GEMM_FIRST_ZERO, GEMM_LAST_NONE},
    {"256^3", CUBE, 256, 1, false, GEMM_FIRST_ZERO, GEMM_LAST_NONE},
    {"512^3", CUBE, 512, 1, false, GEMM_FIRST_ZERO, GEMM_LAST_NONE},
    {"1024^3", CUBE, 1024, 1, false, GEMM_FIRST_ZERO, GEMM_LAST_NONE},
    {"2048^3", CUBE, 2048, 1, false, GEMM_FIRST_ZERO, GEMM_LAST_NONE},
    {"batch 16 x 16^3", BATCH, 16, 16, true, GEMM_FIRST_NONE, GEMM_LAST_NONE},
    {"batch 16 x 32^3", BATCH, 32, 16, true, GEMM_FIRST_NONE, GEMM_LAST_NONE},
    {"batch 16 x 64^3", BATCH, 64, 16, true, GEMM_FIRST_NONE, GEMM_LAST_NONE},
    {"GEMM", TILED, 1024, 8, false, GEMM_FIRST_NONE, GEMM_LAST_NONE},
    {"BRGEMM", TILED, 1024, 8, true, GEMM_FIRST_NONE, GEMM_LAST_NONE},
    {"Zero+BRGEMM", TILED, 1024, 8, true, GEMM_FIRST_ZERO, GEMM_LAST_NONE},
    {"Zero+BRGEMM+ReLU", TILED, 1024, 8, true, GEMM_FIRST_ZERO, GEMM_LAST_RELU},
    {"BRGEMM+ReLU", TILED, 1024, 8, true, GEMM_FIRST_NONE, GEMM_LAST_RELU},
    {"BRGEMM+ReLU, k 512", TILED, 1024, 16, true, GEMM_FIRST_NONE, GEMM_LAST_RELU},
    {"ReLU", RELU, 8388608, 1, false, GEMM_FIRST_NONE, GEMM_LAST_RELU},
    {NULL, RELU, 0, 0, false, GEMM_FIRST_NONE, GEMM_LAST_NONE},
};

/* Long enough that beginning does not count. */
enum { PEAK_ROUNDS = 400000 };

/* A thread's share. */
static struct peak_task peak_task(int threads)
{
    return (struct peak_task){.loop = choose_peak(), .rounds = PEAK_ROUNDS / threads};
}

double job_flops(const struct job *j)
{
    const struct row *r = j->row;
    const double n = r->size;
    if (r->kind == PEAK) return (double)peak_task(j->threads).rounds * choose_peak()(1) * j->threads;
    if (r->kind == RELU) return 2 * n; /* as the source document counts */
    return r->kind == TILED ? 2 * n * n * r->depth * TILE : 2 * n * n * n * r->depth;
}

static int64_t row_inputs(const struct row *r)
{
    int64_t n = r->size;
    return r->kind == RELU ? n : r->kind == TILED ? n * r->depth * TILE : n * n * r->depth;
}

static int64_t row_outputs(const struct row *r)
{
    return r->kind == RELU ? r->size : (int64_t)r->size * r->size;
}

bool row_has_rival(const struct row *r)
{
#ifdef HAVE_OPENBLAS
    return r->kind != PEAK;
#else
    return r->kind == RELU;
#endif
}

/* ---- who computes ---- */

enum { RELU_PART = 1 << 20 };

static void relu_task(void *context, int64_t task, int worker)
{
    (void)worker;
    const struct job *j = context;
    relu_2d((struct view){j->c + task * RELU_PART, 0, 1}, (struct const_view){j->a + task * RELU_PART, 0, 1},
            1, RELU_PART);
}

void run_ours(const struct job *j)
{
    struct job *context = (struct job *)(uintptr_t)j;
    struct gemm_operands o = {.a = j->a, .b = j->b, .c = j->c};
    struct peak_task peak = peak_task(j->threads);
    switch (j->row->kind) {
    case PEAK: pool_run(j->pool, j->threads, peak_run, &peak); break;
    case CUBE:
    case BATCH: gemm_run(&j->plan, &o, j->pool); break;
    case TILED: lx_nest_runner_run(j->nest, j->a, j->b, j->c); break;
    case RELU: pool_run(j->pool, j->row->size / RELU_PART, relu_task, context); break;
    }
}

/* In one thread, whatever the row says: OpenBLAS has none to compare with. */
static void plain_relu(float *to, const float *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) to[i] = from[i] > 0 ? from[i] : 0;
}

/* OpenBLAS gets the easier problem of a tiled row: the same product, untiled, in one call. */
void run_rival(const struct job *j)
{
    const struct row *r = j->row;
#ifdef HAVE_OPENBLAS
    int n = r->size, k = r->kind == TILED ? r->depth * TILE : n, calls = r->kind == BATCH ? r->depth : 1;
    for (int i = 0; i < calls && r->kind != RELU; i++)
        cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, k, 1, j->a + (int64_t)i * n * n, n,
                    j->b + (int64_t)i * n * n, k, r->first == GEMM_FIRST_ZERO ? 0 : 1, j->c, n);
    if (r->kind != RELU && r->last == GEMM_LAST_RELU) plain_relu(j->c, j->c, row_outputs(r));
#endif
    if (r->kind == RELU) plain_relu(j->c, j->a, r->size);
}

/* ---- jobs ---- */

/* Tiles of A and B lie along the sum: A is [m][k][TILE of k][TILE of m],
 * B is [n][k][TILE of n][TILE of k]. */
static struct lx_nest_runner *tiled_nest(const struct row *r, int threads)
{
    const int64_t across = r->size / TILE, tile = TILE * TILE, strip = r->depth * tile;
    const struct lx_loops nest = {
        .first = r->first == GEMM_FIRST_ZERO ? LX_TOUCH_ZERO : LX_TOUCH_NONE,
        .main = r->batched ? LX_TOUCH_BRGEMM : LX_TOUCH_GEMM,
        .last = r->last == GEMM_LAST_RELU ? LX_TOUCH_RELU : LX_TOUCH_NONE,
        .dtype = LX_LOOP_FP32,
        .has_in1 = true,
        .count = 6,
        .loop = {{LX_DIM_N, LX_EXEC_SHARED, across, {0, strip, across * tile}},
                 {LX_DIM_M, LX_EXEC_SHARED, across, {strip, 0, tile}},
                 {LX_DIM_K, r->batched ? LX_EXEC_PRIM : LX_EXEC_SEQ, r->depth, {tile, tile, 0}},
                 {LX_DIM_M, LX_EXEC_PRIM, TILE, {1, 0, 1}},
                 {LX_DIM_N, LX_EXEC_PRIM, TILE, {0, TILE, TILE}},
                 {LX_DIM_K, LX_EXEC_PRIM, TILE, {TILE, 1, 0}}},
    };
    lx_status st;
    return lx_nest_runner_make(&nest, threads, &st);
}

/* Each matrix at a place of its own within its first page: where they all begin alike, a store to one delays
 * loads from the others, and who is measured has it by luck. */
static bool make_matrices(struct job *j)
{
    enum { PAGE = 4096, APART = 1344 };
    const struct row *r = j->row;
    const size_t in = ((size_t)row_inputs(r) * sizeof(float) / PAGE + 2) * PAGE,
                 out = ((size_t)row_outputs(r) * sizeof(float) / PAGE + 2) * PAGE;
    char *memory = j->memory = mem_aligned(PAGE, 2 * in + out);
    if (!memory) return false;
    memset(memory, 0, 2 * in + out);
    j->a = (float *)(void *)memory;
    j->b = (float *)(void *)(memory + in + APART);
    j->c = (float *)(void *)(memory + 2 * in + 2 * APART);
    /* Small values of both signs: sums over many calls neither overflow nor become subnormal. */
    for (int64_t i = 0; i < row_inputs(r); i++) {
        j->a[i] = (float)(i % 7 - 3) * 0x1p-10f;
        j->b[i] = (float)(i % 5 - 2) * 0x1p-10f;
    }
    return true;
}

bool job_open(struct job *j, const struct row *r, int threads, const struct job *other)
{
    *j = (struct job){.row = r, .threads = threads, .pool = pool_create(threads)};
    if (other) j->a = other->a, j->b = other->b, j->c = other->c;
    if (!j->pool || (!other && !make_matrices(j))) return false;
    if (r->kind == PEAK) return true;
    if (r->kind == TILED) return (j->nest = tiled_nest(r, threads)) != NULL;
    int64_t n = r->size;
    struct gemm g = {
        .m = n, .n = n, .k = n, .batch = r->batched ? r->depth : 1, .first = r->first, .last = r->last};
    g.a_m = g.b_k = g.c_m = 1;
    g.a_k = g.b_n = g.c_n = n;
    g.a_batch = g.b_batch = n * n;
    gemm_prepare(&j->plan, &g, kernel_target_best(), threads);
    return true;
}

void job_close(struct job *j)
{
    lx_nest_runner_free(j->nest);
    pool_destroy(j->pool);
    mem_free(j->memory);
}

/* ---- OpenBLAS ---- */

#ifdef HAVE_OPENBLAS
static void use_best_openblas(char **argv)
{
#ifdef __x86_64__
    static const char *const old[] = {"Prescott", "Core2", "Penryn", "Nehalem", "Generic", "Unknown", NULL};
    const char *best = __builtin_cpu_supports("avx512f") ? "SkylakeX" : "Haswell";
    if (getenv("OPENBLAS_CORETYPE") || !__builtin_cpu_supports("avx2")) return;
    for (int i = 0; old[i]; i++)
        if (strcasecmp(openblas_get_corename(), old[i]) == 0 && setenv("OPENBLAS_CORETYPE", best, 1) == 0)
            execv("/proc/self/exe", argv);
#else
    (void)argv;
#endif
}
#endif

void rival_open(char **argv, char *text, size_t size)
{
#ifdef HAVE_OPENBLAS
    use_best_openblas(argv);
    snprintf(text, size, "rival: %s, kernels for %s", openblas_get_config(), openblas_get_corename());
#else
    (void)argv;
    snprintf(text, size, "OpenBLAS was not there when this was built");
#endif
}

void rival_threads(int threads)
{
#ifdef HAVE_OPENBLAS
    openblas_set_num_threads(threads);
#else
    (void)threads;
#endif
}
