/* The matrix kernels beside OpenBLAS, in one process.
 *
 *     build/bin/bench_kernels [--quick] [--best] [--smallest] [--only TEXT] [--threads N]
 *
 * Each row is one product at one number of threads. Ours, OpenBLAS and a loop of multiply-adds on registers
 * (the peak of the same moment) take turns, so that whatever else the machine does hits all three; figures
 * are medians, the ratio is the median over the turns. Where OpenBLAS does not know the processor and falls
 * back to a kernel for an old one, the program starts itself again with OPENBLAS_CORETYPE set to what the
 * processor can: we compare with its best. After a turn of several threads both get time to put theirs to
 * sleep. */
#include "bench_clock.h"
#include "peak.h"
#include "device/kernels/kernels.h"
#include "device/nest_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_OPENBLAS
#include <cblas.h>
#endif

enum { TURNS_MAX = 41, TILE = 32 };

/* One thread: its own time, which leaves out what others got of the processor. Several: the time that passed.
 */
static clockid_t clock_used = CLOCK_MONOTONIC;

static bool take_best; /* of times: the least */

static double middle(double *values, int count)
{
    return quantile(values, count, take_best ? 0 : 0.5);
}

/* ---- what is measured ---- */

enum kind { CUBE, BATCH, TILED, RELU };

/* TILED: C of 1024 x 1024 in 32 x 32 tiles, `depth` tiles summed into each, as a nest of loops for the
 * executor of nests: the sum over tiles is a loop around the product, or part of it (`batched`). */
struct row {
    const char *name;
    enum kind kind;
    int size, depth;
    bool batched;
    enum gemm_first first;
    enum gemm_last last;
};

static const struct row rows[] = {
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
};
enum { ROWS = sizeof rows / sizeof *rows };

struct job {
    const struct row *row;
    struct gemm_plan plan;
    struct lx_nest_runner *nest; /* TILED: instead of the plan, with threads of its own */
    struct pool *pool;
    float *a, *b, *c;
    float *blas_c; /* of its own, so that values do not grow differently */
    int threads;
    bool borrows; /* the matrices are another's */
};

static double row_flops(const struct row *r)
{
    double n = r->size;
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

enum { RELU_PART = 1 << 16 };

static void relu_task(void *context, int64_t task, int worker)
{
    (void)worker;
    const struct job *j = context;
    relu_2d((struct view){j->c + task * RELU_PART, 0, 1}, (struct const_view){j->a + task * RELU_PART, 0, 1},
            1, RELU_PART);
}

static void run_ours(const struct job *j)
{
    struct job *context = (struct job *)(uintptr_t)j;
    struct gemm_operands o = {.a = j->a, .b = j->b, .c = j->c};
    lx_status st;
    switch (j->row->kind) {
    case CUBE:
    case BATCH:
        gemm_run(&j->plan, &o, j->pool);
        break;
    case TILED:
        lx_nest_runner_run(j->nest, j->a, j->b, j->c, &st);
        break;
    case RELU:
        pool_run(j->pool, j->row->size / RELU_PART, relu_task, context);
        break;
    }
}

static void plain_relu(float *to, const float *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) to[i] = from[i] > 0 ? from[i] : 0;
}

/* OpenBLAS gets the easier problem of a tiled row: the same product, untiled, in one call. */
static void run_blas(const struct job *j)
{
    const struct row *r = j->row;
#ifdef HAVE_OPENBLAS
    int n = r->size, k = r->kind == TILED ? r->depth * TILE : n, calls = r->kind == BATCH ? r->depth : 1;
    for (int i = 0; i < calls && r->kind != RELU; i++)
        cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, k, 1, j->a + (int64_t)i * n * n, n,
                    j->b + (int64_t)i * n * n, k, r->first == GEMM_FIRST_ZERO ? 0 : 1, j->blas_c, n);
    if (r->kind != RELU && r->last == GEMM_LAST_RELU) plain_relu(j->blas_c, j->blas_c, row_outputs(r));
#endif
    if (r->kind == RELU) plain_relu(j->blas_c, j->a, r->size);
}

/* ---- one row ---- */

struct result {
    double ours, blas, ratio, share; /* GFLOPS, GFLOPS, quotient, part of the peak; blas 0: not measured */
    double speedup;                  /* over one thread, of the same moment and by the same clock */
};

static bool has_rival(const struct row *r)
{
#ifdef HAVE_OPENBLAS
    (void)r;
    return true;
#else
    return r->kind == RELU;
#endif
}

typedef void run_function(const struct job *);

static double time_calls(run_function *run, const struct job *j, int64_t calls)
{
    double start = now_by(clock_used);
    for (int64_t i = 0; i < calls; i++) run(j);
    return (now_by(clock_used) - start) / (double)calls;
}

static int64_t calls_for(run_function *run, const struct job *j, double seconds)
{
    double once = time_calls(run, j, 1);
    once = time_calls(run, j, 1 + (int64_t)(seconds / 10 / (once + 1e-9)));
    return 1 + (int64_t)(seconds / once);
}

/* `alone` is the same product on one thread. */
static struct result measure(const struct job *j, const struct job *alone, struct peak_task *peak, int turns,
                             double seconds)
{
    double ours[TURNS_MAX], blas[TURNS_MAX], ratio[TURNS_MAX], top[TURNS_MAX];
    double single[TURNS_MAX], speedup[TURNS_MAX];
    const bool rival = has_rival(j->row);
    const double rest = j->threads > 1 ? 0.15 : 0;
    int64_t calls = calls_for(run_ours, j, seconds), blas_calls = rival ? calls_for(run_blas, j, seconds) : 0;
    int64_t alone_calls = j->threads > 1 ? calls_for(run_ours, alone, seconds) : 0;
    for (int i = 0; i < turns; i++) {
        pause_seconds(rest);
        pool_run(j->pool, j->threads, peak_run, peak); /* wakes the threads */
        double start = now_by(clock_used);
        pool_run(j->pool, j->threads, peak_run, peak);
        top[i] = (now_by(clock_used) - start) / ((double)peak->rounds * peak->loop(1) * j->threads);
        time_calls(run_ours, j, 1 + calls / 20); /* caches and threads */
        ours[i] = time_calls(run_ours, j, calls);
        single[i] = ours[i];
        if (j->threads > 1) {
            time_calls(run_ours, alone, 1 + alone_calls / 20);
            single[i] = time_calls(run_ours, alone, alone_calls);
        }
        speedup[i] = single[i] / ours[i];
        if (!rival) continue;
        pause_seconds(rest / 4);
        time_calls(run_blas, j, 1 + blas_calls / 20);
        blas[i] = time_calls(run_blas, j, blas_calls);
        ratio[i] = blas[i] / ours[i];
    }
    double flops = row_flops(j->row) * 1e-9;
    struct result r = {.ours = flops / middle(ours, turns)};
    if (rival) r.blas = flops / middle(blas, turns);
    if (rival) r.ratio = take_best ? r.ours / r.blas : middle(ratio, turns);
    r.share = r.ours * 1e9 * middle(top, turns);
    r.speedup = take_best ? middle(single, turns) / middle(ours, turns) : middle(speedup, turns);
    return r;
}

/* Tiles of A and B lie along the sum: A is [m][k][TILE of k][TILE of m], B is [n][k][TILE of n][TILE of k].
 */
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

static bool make_matrices(struct job *j)
{
    const struct row *r = j->row;
    size_t in = ((size_t)row_inputs(r) * sizeof(float) + 63) / 64 * 64,
           out = (size_t)row_outputs(r) * sizeof(float);
    j->a = aligned_alloc(64, in);
    j->b = aligned_alloc(64, in);
    j->c = aligned_alloc(64, out);
    j->blas_c = aligned_alloc(64, out);
    if (!j->a || !j->b || !j->c || !j->blas_c) return false;
    /* Small values of both signs: sums over many calls neither overflow nor become subnormal. */
    for (int64_t i = 0; i < row_inputs(r); i++) {
        j->a[i] = (float)(i % 7 - 3) * 0x1p-10f;
        j->b[i] = (float)(i % 5 - 2) * 0x1p-10f;
    }
    memset(j->c, 0, out);
    memset(j->blas_c, 0, out);
    return true;
}

/* `other`: whose matrices to use, NULL for new ones. */
static bool job_open(struct job *j, const struct row *r, int threads, const struct job *other)
{
    *j = (struct job){.row = r, .threads = threads, .pool = pool_create(threads), .borrows = other};
    if (other) j->a = other->a, j->b = other->b, j->c = other->c, j->blas_c = other->blas_c;
    if (!j->pool || (!other && !make_matrices(j))) return false;
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

static void job_close(struct job *j)
{
    lx_nest_runner_free(j->nest);
    pool_destroy(j->pool);
    if (j->borrows) return;
    free(j->a);
    free(j->b);
    free(j->c);
    free(j->blas_c);
}

/* ---- the program ---- */

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

static void print_head(const char *rival)
{
    printf("kernels: %s; %s\nGFLOPS, %s of turns; ratio: ours / rival; peak: share of multiply-adds on "
           "registers\n",
           kernel_target_name(kernel_target_best()), rival, take_best ? "best" : "medians");
    printf("%-20s %7s %9s %9s %7s %7s %8s\n", "", "threads", "ours", "rival", "ratio", "peak", "speed-up");
}

/* What the machine itself gives to more threads: the speed-up of a product can hardly be more. */
static void print_peaks(struct peak_task *peak, int threads, int turns)
{
    const double flops = (double)peak->rounds * peak->loop(1) * 1e-9;
    for (int t = 2; t <= threads; t *= 2) {
        double one[TURNS_MAX], all[TURNS_MAX], speedup[TURNS_MAX];
        struct pool *pool = pool_create(t);
        for (int i = 0; i < turns; i++) {
            double start = now();
            pool_run(NULL, 1, peak_run, peak);
            one[i] = now() - start;
            pool_run(pool, t, peak_run, peak); /* wakes the threads */
            start = now();
            pool_run(pool, t, peak_run, peak);
            all[i] = now() - start;
            speedup[i] = one[i] * t / all[i];
        }
        pool_destroy(pool);
        printf("%-20s %7d %9.1f %9s %7s %6d%% %8.2f\n", "registers only", t, flops * t / middle(all, turns),
               "-", "-", 100, quantile(speedup, turns, 0.5));
    }
}

static int usage(FILE *to, int code)
{
    fputs("usage: bench_kernels [--quick] [--best] [--smallest] [--only TEXT] [--threads N]\n"
          "Measures the matrix kernels beside OpenBLAS.\n\n"
          "  --quick      fewer and shorter turns\n"
          "  --best       the best turn of each instead of the median, for a busy machine\n"
          "  --smallest   only the first product: does it work at all?\n"
          "  --only TEXT  only rows whose name contains TEXT\n"
          "  --threads N  up to N threads, doubling from 1 (default 2)\n",
          to);
    return code;
}

int main(int argc, char **argv)
{
    bool quick = false, smallest = false;
    const char *only = "";
    int threads = 2;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return usage(stdout, 0);
        else if (strcmp(argv[i], "--best") == 0)
            take_best = true;
        else if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--smallest") == 0)
            smallest = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            threads = atoi(argv[++i]);
        else
            return usage(stderr, 2);
    }
    if (threads < 1 || threads > POOL_THREADS_MAX) return usage(stderr, 2);
    char rival[160] = "OpenBLAS was not there when this was built";
#ifdef HAVE_OPENBLAS
    use_best_openblas(argv);
    snprintf(rival, sizeof rival, "rival: %s, kernels for %s", openblas_get_config(),
             openblas_get_corename());
#endif
    print_head(rival);
    struct peak_task peak = {.loop = choose_peak(), .rounds = 400000};
    if (!smallest) print_peaks(&peak, threads, quick ? 7 : 31);
    for (int i = 0; i < (smallest ? 1 : (int)ROWS); i++) {
        if (!strstr(rows[i].name, only)) continue;
        for (int t = 1; t <= threads; t *= 2) {
#ifdef HAVE_OPENBLAS
            openblas_set_num_threads(t);
#endif
            struct job j, alone;
            if (!job_open(&j, &rows[i], t, NULL) || !job_open(&alone, &rows[i], 1, &j)) {
                fputs("bench_kernels: out of memory\n", stderr);
                return 3;
            }
            clock_used = t == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
            struct result r = measure(&j, &alone, &peak, quick ? 7 : 31, quick ? 0.002 : 0.008);
            printf("%-20s %7d %9.1f ", rows[i].name, t, r.ours);
            if (r.blas > 0)
                printf("%9.1f %7.2f ", r.blas, r.ratio);
            else
                printf("%9s %7s ", "-", "-");
            printf("%6.0f%% %8.2f\n", rows[i].kind == RELU ? 0.0 : r.share * 100, r.speedup);
            fflush(stdout);
            job_close(&alone);
            job_close(&j);
        }
    }
    return 0;
}
