/* Which rectangle of C a task is: one of a grid of equals, or of runs of tasks that get smaller. */
#include "kernels/gemm_rectangle.h"

int64_t gemm_count_tasks(const struct gemm_plan *plan)
{
    if (plan->runs == 0) return plan->m_parts * plan->n_parts;
    return plan->runs * (plan->own_tasks + plan->run_tasks);
}

/* Part `part` of so many panels from `first` on. Rows are given out in whole panels: every element is in the
 * same tile whatever the grid. */
static void set_rows(struct gemm_task *x, const struct gemm_plan *plan, int64_t first, int64_t panels,
                     int64_t parts, int64_t part)
{
    x->top = (first + part_begin(panels, parts, part)) * panel_rows(plan);
    x->bottom = min_i64(plan->g.m, (first + part_begin(panels, parts, part + 1)) * panel_rows(plan));
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

static struct gemm_task task_of_grid(const struct gemm_plan *plan, int64_t task)
{
    const int64_t row = task / plan->n_parts, column = task % plan->n_parts;
    struct gemm_task x = {.left = part_begin(plan->g.n, plan->n_parts, column),
                          .right = part_begin(plan->g.n, plan->n_parts, column + 1)};
    set_rows(&x, plan, 0, count_panels(plan, plan->g.m), plan->m_parts, row);
    return x;
}

struct gemm_task gemm_task_at(const struct gemm_plan *plan, int64_t task)
{
    return plan->runs > 0 ? task_of_run(plan, task) : task_of_grid(plan, task);
}
