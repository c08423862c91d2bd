/* Which rectangle of C a task is: one of a grid of equals, or of runs of tasks that get smaller. */
#include "device/kernels/gemm_rectangle.h"

int64_t gemm_count_tasks(const struct gemm_plan *plan)
{
    if (plan->runs == 0) return plan->m_parts * plan->n_parts;
    return plan->runs * (plan->run_tasks + (plan->own_rows > 0));
}

/* Part `part` of the rows from `first` to `last`, in whole panels: every element is in the same tile whatever
 * the grid. */
static void set_rows(struct gemm_task *x, const struct gemm_plan *plan, int64_t first, int64_t last,
                     int64_t parts, int64_t part)
{
    const int64_t panels = count_panels(plan, last - first);
    x->top = first + part_begin(panels, parts, part) * panel_rows(plan);
    x->bottom = min_i64(last, first + part_begin(panels, parts, part + 1) * panel_rows(plan));
}

/* How many of `count` columns are before task `i` of a run. The first task is as many times as wide as the
 * last as there are tasks: whoever ends early finds only small ones to wait for or to take over. */
static int64_t columns_before(const struct gemm_plan *plan, int64_t count, int64_t i)
{
    const int64_t q = plan->run_tasks, wide = plan->target->tile_columns[plan->vectors - 1];
    return i == q ? count : count * (i * (2 * q - i + 1)) / (q * (q + 1)) / wide * wide;
}

/* A run begins with rows of its own, if there are such; then comes its part of the others, cut along n. */
static struct gemm_task task_of_run(const struct gemm_plan *plan, int64_t task)
{
    const int64_t first = plan->own_rows > 0, tasks = plan->run_tasks + first;
    const int64_t run = task / tasks, i = task % tasks - first;
    struct gemm_task x = {.right = plan->g.n};
    if (i < 0) {
        set_rows(&x, plan, 0, plan->own_rows, plan->runs, run);
        return x;
    }
    const int64_t row = run / plan->n_parts, column = run % plan->n_parts;
    set_rows(&x, plan, plan->own_rows, plan->g.m, plan->m_parts, row);
    const int64_t from = part_begin(plan->g.n, plan->n_parts, column),
                  count = part_begin(plan->g.n, plan->n_parts, column + 1) - from;
    x.left = from + columns_before(plan, count, i);
    x.right = from + columns_before(plan, count, i + 1);
    return x;
}

static struct gemm_task task_of_grid(const struct gemm_plan *plan, int64_t task)
{
    const int64_t row = task / plan->n_parts, column = task % plan->n_parts;
    struct gemm_task x = {.left = part_begin(plan->g.n, plan->n_parts, column),
                          .right = part_begin(plan->g.n, plan->n_parts, column + 1)};
    set_rows(&x, plan, 0, plan->g.m, plan->m_parts, row);
    return x;
}

struct gemm_task gemm_task_at(const struct gemm_plan *plan, int64_t task)
{
    return plan->runs > 0 ? task_of_run(plan, task) : task_of_grid(plan, task);
}
