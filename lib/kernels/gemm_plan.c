/* Decisions of a matrix product, made once: orientation, packing, blocking, the grid of tasks. */
#include "kernels/gemm_rectangle.h"

/* With a sum this long a tile has the time to fetch its part of C, and C is likely to be far. */
enum { PREFETCH_FROM = 128 };

/* Multiply-adds below which a second thread does not pay; the most tasks per thread. */
enum { SHARE_FROM = 80 * 80 * 80, TASKS_A_THREAD = 8 };

/* Costs: packing a panel of A, in tiles; taking and beginning a task, in multiply-adds; the same where all is
 * in place. */
enum { TILES_TO_PACK = 6, WORK_TO_BEGIN = 1 << 16, WORK_TO_BEGIN_IN_PLACE = 1 << 14 };

/* The most tasks per thread in a coarse grid. Tasks of a run, which get smaller, and the tiles of the
 * smallest; multiply-adds from which on it pays to pack rows for all before; the most floats of A in them. */
enum { COARSE = 4, RUN_TASKS = 6, RUN_TILES = 2, RUN_FROM = 1 << 25, SHARED_FLOATS = 1 << 20 };

/* Floats from which on an operand that is read again and again leaves the caches or spreads over too many
 * pages, so that a copy pays: along contiguous vectors, and where a line holds only a tile's few values. */
enum { FAR = 400 * 400, FAR_ACROSS = 128 * 128 };

static void choose_chunks(struct gemm_plan *p)
{
    const struct gemm *g = &p->g;
    const int64_t most = p->block_a && !g->even_sums ? p->target->k_block : PANEL_DEPTH;
    p->k_parts = max_i64(1, ceil_div_i64(g->k, most));
    p->batch_block = p->k_parts > 1 ? 1 : g->k > 0 ? most / g->k : max_i64(1, g->batch);
    p->chunks = p->k_parts > 1 ? g->batch * p->k_parts : max_i64(1, ceil_div_i64(g->batch, p->batch_block));
    if (p->k_parts == 1 && g->batch > 0) p->batch_block = ceil_div_i64(g->batch, p->chunks);
    p->depth = p->k_parts > 1 ? ceil_div_i64(g->k, p->k_parts) : g->k * p->batch_block;
    if (p->chunks == 0) { /* a long sum over an empty batch */
        p->chunks = p->k_parts = p->batch_block = 1;
        p->g.k = p->g.batch = 0;
    }
}

/* Cost of a task, in multiply-adds. Packing a block of A costs some tiles per panel and brings all columns of
 * B into the caches again: a sixteenth of a tile for each tile. */
static double task_cost(const struct gemm_plan *p, int64_t panels, double tiles)
{
    const int64_t height = panel_rows(p);
    const double tile =
        (double)height * p->target->tile_columns[p->vectors - 1] * (double)p->g.k * (double)p->g.batch;
    double work = (double)panels * tiles;
    if (p->block_a)
        work +=
            (double)panels * TILES_TO_PACK + (double)ceil_div_i64(panels * height, p->m_block) * tiles / 16;
    return work * tile + (p->in_place ? WORK_TO_BEGIN_IN_PLACE : WORK_TO_BEGIN);
}

/* Do the tasks of a grid go in runs? See columns_before. */
static bool has_runs(const struct gemm_plan *p, int threads, int64_t m, int64_t n)
{
    return threads > 1 && p->in_place && m == 1 && n % threads == 0;
}

/* Cost of a grid of m x n tasks for the busiest thread. Packed columns are dealt out in the tiles that they
 * are packed for; else a task cuts its own tiles, which cost by their width. */
static double grid_cost(const struct gemm_plan *p, int threads, int64_t m, int64_t n)
{
    const int64_t panels = count_panels(p, p->g.m);
    const int64_t columns = min_i64(p->g.n, p->n_block), wide = p->target->tile_columns[p->vectors - 1];
    const int64_t tiles = ceil_div_i64(columns, wide);
    if (m > panels || n > tiles) return HUGE_VAL;
    const double part = p->pack_b                    ? (double)ceil_div_i64(tiles, n)
                        : has_runs(p, threads, m, n) ? (double)columns / (double)(n * wide)
                                                     : (double)ceil_div_i64(columns, n) / (double)wide;
    return (double)ceil_div_i64(m * n, threads) * task_cost(p, ceil_div_i64(panels, m), part);
}

/* The finest grid of tasks that is within 1 % of the best if all threads are equally fast: it leaves less to
 * wait for when they are not. Of equals the last found, with the most parts along n: columns of C are
 * contiguous, while threads that write rows of the same column have the lines at its cuts fetched away from
 * each other. */
static void choose_grid(struct gemm_plan *p, int threads)
{
    const struct gemm *g = &p->g;
    p->m_parts = p->n_parts = 1;
    double work = (double)g->m * (double)g->n * (double)g->k * (double)g->batch;
    if (threads <= 1 || work < SHARE_FROM) return;
    const int64_t most = (int64_t)threads * TASKS_A_THREAD;
    double least = HUGE_VAL;
    for (int64_t n = 1; n <= most; n++)
        for (int64_t m = 1; m <= most / n; m++) least = fmin(least, grid_cost(p, threads, m, n));
    const double good = least * 1.01;
    for (int64_t n = 1; n <= most; n++)
        for (int64_t m = 1; m <= most / n; m++)
            if (m * n >= p->m_parts * p->n_parts && grid_cost(p, threads, m, n) <= good) {
                p->m_parts = m;
                p->n_parts = n;
            }
}

/* Where threads pack panels of A for themselves, a task is a block of rows, and waiting for the last ones
 * takes long. So a run begins with blocks of its own, up to three quarters of all rows; the others are packed
 * before, so that an early thread can take over some columns of them. They are cut along m if there are
 * enough: a thread then uses the panels that it packed. A few own rows are not worth reading all of B: then a
 * run has none, and reads all of A for its columns. */
static void choose_runs(struct gemm_plan *p, int threads)
{
    if (threads <= 1 || !p->block_a || p->pack_b) return;
    const struct gemm *g = &p->g;
    const int64_t height = panel_rows(p), panels = count_panels(p, g->m);
    const double panel = (double)height * (double)g->k * (double)g->batch;
    const int64_t most = (int64_t)(SHARED_FLOATS / fmax(1, panel)) - (threads - 1); /* rounding adds some */
    const int64_t least = min_i64(ceil_div_i64(panels, 4), most);
    if (least < 1 || (double)panels * panel * (double)g->n < RUN_FROM) return;
    int64_t own = (panels - least) / threads * threads;
    if (own / threads * height < p->m_block / 4) own = 0;
    if ((double)(panels - own) * panel > SHARED_FLOATS) return;
    const int64_t m_parts = own > 0 && panels - own >= threads ? threads : 1, n_parts = threads / m_parts;
    const int64_t tiles = g->n / n_parts / p->target->tile_columns[p->vectors - 1];
    if (tiles < RUN_TASKS * (RUN_TASKS + 1) / 2 * RUN_TILES) return;
    p->runs = threads;
    p->run_tasks = RUN_TASKS;
    p->own_tasks = ceil_div_i64(own / threads * height, p->m_block);
    p->own_rows = own * height;
    p->m_parts = m_parts;
    p->n_parts = n_parts;
}

void gemm_prepare(struct gemm_plan *plan, const struct gemm *g, const struct kernel_target *target,
                  int threads)
{
    *plan = (struct gemm_plan){.g = *g, .target = target};
    struct gemm *turned = &plan->g;
    if (turned->k <= 0 || turned->batch <= 0) turned->k = turned->batch = 0;
    plan->swapped = turned->c_n == 1 && (turned->c_m != 1 || turned->m == 1);
    if (plan->swapped) {
        /* The transposed product computes the same: C' = B' A'. */
        const struct gemm o = *turned;
        turned->m = o.n, turned->n = o.m;
        turned->a_m = o.b_n, turned->a_k = o.b_k, turned->a_batch = o.b_batch;
        turned->b_n = o.a_m, turned->b_k = o.a_k, turned->b_batch = o.a_batch;
        turned->c_m = o.c_n, turned->c_n = o.c_m;
        turned->init_m = o.init_n, turned->init_n = o.init_m;
    }
    const int64_t deep = min_i64(turned->k, PANEL_DEPTH);
    const int64_t a_reach = (turned->a_k < 0 ? -turned->a_k : turned->a_k) * deep;
    const int64_t b_reach = (turned->b_k < 0 ? -turned->b_k : turned->b_k) * deep;
    /* Tiles read whole vectors of rows of A. */
    plan->pack_a =
        turned->a_m != 1 || (turned->n > 2 * target->tile_columns[target->tile_vectors - 1] && a_reach > FAR);
    /* Columns of B that are contiguous along k are streams of their own, wherever they lie: they are read in
     * place. Else a step of the sum reads a line or a page for each few values. */
    plan->pack_b = turned->b_k != 1 && turned->m > 2 * target->tile_vectors * target->vector_floats &&
                   (turned->b_n != 1 || b_reach > FAR_ACROSS);
    /* Rows in equal panels: five vectors are three and two, not four and one. */
    const int64_t vectors = max_i64(1, ceil_div_i64(turned->m, target->vector_floats));
    plan->vectors = (int)ceil_div_i64(vectors, ceil_div_i64(vectors, target->tile_vectors));
    plan->block_a = plan->pack_a && turned->m > panel_rows(plan);
    plan->m_block = target->m_block / panel_rows(plan) * panel_rows(plan);
    plan->n_block = target->n_block;
    choose_chunks(plan);
    plan->prefetch = plan->depth >= PREFETCH_FROM;
    plan->needs_tile_copy =
        turned->c_m != 1 || (turned->first == GEMM_FIRST_COPY && turned->init_m != 1 && turned->init_m != 0);
    plan->in_place = plan->chunks == 1 && !plan->pack_a && !plan->pack_b && !plan->needs_tile_copy &&
                     turned->n > 0 && turned->n <= plan->n_block && turned->m % target->vector_floats == 0;
    /* A grid; where all is in place it becomes runs along n, where it is coarse, runs with own rows. */
    choose_grid(plan, threads);
    if (has_runs(plan, threads, plan->m_parts, plan->n_parts)) {
        plan->runs = threads;
        plan->run_tasks = plan->n_parts / threads;
        plan->n_parts = threads;
    } else if (plan->m_parts * plan->n_parts <= (int64_t)threads * COARSE) {
        choose_runs(plan, threads);
    }
    plan->small = plan->in_place && plan->m_parts * plan->n_parts == 1;
    if (plan->small) {
        plan->tiles = ceil_div_i64(turned->n, target->tile_columns[plan->vectors - 1]);
        plan->tile_columns = turned->n / plan->tiles;
        plan->wider_tiles = turned->n % plan->tiles;
    }
}

/* The rectangle of C of a task: one of a grid of equals, or of runs of tasks that get smaller. */

int64_t gemm_count_tasks(const struct gemm_plan *plan)
{
    if (plan->runs == 0) return plan->m_parts * plan->n_parts;
    return plan->runs * (plan->own_tasks + plan->run_tasks);
}

/* Sets the rows to part `part` of `panels` panels from `first` on. Parts are whole panels: every element is
 * in the same tile whatever the grid. */
static void set_rows(struct gemm_task *x, const struct gemm_plan *plan, int64_t first, int64_t panels,
                     int64_t parts, int64_t part)
{
    x->top = (first + part_begin(panels, parts, part)) * panel_rows(plan);
    x->bottom = min_i64(plan->g.m, (first + part_begin(panels, parts, part + 1)) * panel_rows(plan));
}

/* The columns, of `count`, before task `i` of a run of q tasks. The first task is q times as wide as the
 * last: a thread that ends early finds only small ones to wait for or to take over. */
static int64_t columns_before(const struct gemm_plan *plan, int64_t count, int64_t i)
{
    const int64_t q = plan->run_tasks, wide = plan->target->tile_columns[plan->vectors - 1];
    return i == q ? count : count * (i * (2 * q - i + 1)) / (q * (q + 1)) / wide * wide;
}

/* A run begins with its own rows, if any; then comes its part of the others, cut along n. */
static struct gemm_task task_of_run(const struct gemm_plan *plan, int64_t task)
{
    const int64_t tasks = plan->own_tasks + plan->run_tasks, run = task / tasks, i = task % tasks;
    const int64_t own = count_panels(plan, plan->own_rows), others = count_panels(plan, plan->g.m) - own;
    struct gemm_task x = {.right = plan->g.n};
    if (i < plan->own_tasks) {
        const int64_t each = own / plan->runs;
        set_rows(&x, plan, run * each, each, plan->own_tasks, i);
        return x;
    }
    set_rows(&x, plan, own, others, plan->m_parts, run / plan->n_parts);
    const int64_t column = run % plan->n_parts, from = part_begin(plan->g.n, plan->n_parts, column),
                  count = part_begin(plan->g.n, plan->n_parts, column + 1) - from;
    x.left = from + columns_before(plan, count, i - plan->own_tasks);
    x.right = from + columns_before(plan, count, i - plan->own_tasks + 1);
    return x;
}

struct gemm_task gemm_task_at(const struct gemm_plan *plan, int64_t task)
{
    if (plan->runs > 0) return task_of_run(plan, task);
    const int64_t row = task / plan->n_parts, column = task % plan->n_parts;
    struct gemm_task x = {.left = part_begin(plan->g.n, plan->n_parts, column),
                          .right = part_begin(plan->g.n, plan->n_parts, column + 1)};
    set_rows(&x, plan, 0, count_panels(plan, plan->g.m), plan->m_parts, row);
    return x;
}
