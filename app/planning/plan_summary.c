/* What `lxplan plan` says of a plan: the answer, its figures, its costliest buffers and ops. */
#include "planning/buffer_table.h"
#include "base/memory.h"
#include "planning/layer_words.h"
#include "planning/planning.h"
#include "planning/show_plan.h"
#include "export/nest_words.h"
#include "export/plan_words.h"
#include "text/format.h"
#include "text/largest.h"
#include "text/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* More rows than this scroll away; the costliest are what one looks for. */
enum { MOST_ROWS = 40 };

static void plan_summary_label(struct text *out, const char *word)
{
    paint_add(out, PAINT_DIM, word);
    text_pad(out, ' ', 10 - strlen(word));
}

static void write_answer_lines(const struct lx_plan *p, struct text *out)
{
    static const enum paint paints[] = {[LX_FEASIBLE] = PAINT_PLAIN,
                                        [LX_OPTIMAL] = PAINT_GOOD,
                                        [LX_INFEASIBLE] = PAINT_BAD,
                                        [LX_LIMIT] = PAINT_PLAIN,
                                        [LX_ERROR] = PAINT_BAD};
    const struct lx_answer *a = &p->answer;
    plan_summary_label(out, "solver");
    text_format(out, "%s, seed %llu%s%s\n", p->solver, (unsigned long long)p->seed, *p->options ? ", " : "",
                p->options);
    plan_summary_label(out, "status");
    paint_add(out, paints[a->status], verdict_words(p));
    add_reason_words(p, out);
    text_add(out, "\n");
}

/* What is moved, and what ops wait for. */
static void write_sums(const struct lx_plan *p, struct text *out)
{
    int32_t ops = p->layouts->graph->op_count;
    int64_t *moved = moved_by_buffers(p);
    struct lx_op_wait *waits = mem_zeroed((size_t)ops + 1, sizeof *waits);
    out->failed |= !moved || !waits;
    if (!out->failed) {
        struct lx_byte_sums sums = lx_plan_byte_sums(p, moved);
        lx_plan_waits(p, waits);
        struct lx_op_wait all = lx_waits_sum(waits, ops);
        plan_summary_label(out, "bytes");
        add_byte_sums(p, &sums, out);
        text_add(out, "\n");
        plan_summary_label(out, "waits");
        add_wait_sums(&all, out);
        text_add(out, "\n");
    }
    mem_free(moved);
    mem_free(waits);
}

/* Beside what nothing on chip costs, where that is an answer. */
static void add_baseline(const struct lx_plan *p, struct text *out)
{
    int64_t all = p->figures.baseline_hbm_bytes;
    bool legal = !p->graph->is_list || !(lx_problem_needs(&p->problem) & (LX_CAN_MUST | LX_CAN_STAGING));
    if (!legal && p->answer.status != LX_INFEASIBLE)
        text_add(out, "; not all may be off chip");
    else if (legal && all > 0)
        text_format(out, "; all off chip%s %s, saved %s", p->graph->came_from ? " as rewritten" : "",
                    in_bytes(all).at, in_percent((double)(all - p->figures.hbm_bytes) / (double)all).at);
}

/* "3 nests, 96 iterations: ticks 2 to 9 x16 over s; ..." as far as a line may go. */
static void plan_summary_write_nests(const struct lx_plan *p, struct text *out)
{
    enum { MOST = 4 };
    if (p->nest_count == 0) return;
    plan_summary_label(out, "nests");
    add_nests_sum(p, out);
    for (int32_t i = 0; i < p->nest_count && i < MOST; i++) {
        text_format(out, "%s%d to %d ", i ? "; " : ": ticks ", (int)p->nests[i].first, (int)p->nests[i].last);
        add_nest_words(p, &p->nests[i], out);
    }
    text_add(out, p->nest_count > MOST ? "; ...\n" : "\n");
}

/* Of a plan whose graph was rewritten. */
static void write_online(const struct lx_plan *p, struct text *out)
{
    int64_t sums = 0;
    const struct lx_graph *g = p->graph, *from = g->came_from;
    if (!from) return;
    for (int32_t o = 0; o < g->op_count; o++) sums += g->ops[o].kind->id == LX_KIND_LOGSUMEXP;
    plan_summary_label(out, "online");
    text_format(out, "%s, in which tiles may cut rows of softmax: %s, %d as it is written\n",
                counted(sums, "running sum").at, counted(g->op_count, "op").at, (int)from->op_count);
}

static void write_traffic_lines(const struct lx_plan *p, struct text *out)
{
    plan_summary_label(out, p->graph->is_list ? "cost" : "HBM");
    text_add(out, in_bytes(p->figures.hbm_bytes).at);
    if (p->problem.objective == LX_SPILL && !p->asks_time) add_least_words(p, false, out);
    add_baseline(p, out);
    text_add(out, "\n");
    if (p->problem.objective == LX_SPILL && !p->graph->is_list) {
        plan_summary_label(out, "spill");
        text_format(out, "%s that a scratchpad without limit would save\n",
                    in_bytes(p->figures.spill_bytes).at);
    }
    if (p->joint.searched) {
        plan_summary_label(out, "joint");
        text_format(out, "%s divided anew; no choice of divisions moves less than %s\n",
                    counted(p->joint.divided_anew, "op").at, in_bytes(p->joint.bound_bytes).at);
    }
    plan_summary_write_nests(p, out);
    write_online(p, out);
    if (!p->graph->is_list) {
        plan_summary_label(out, "pool");
        text_format(out, "%s of HBM for what is off chip\n", in_bytes(p->pool_bytes).at);
        plan_summary_label(out, "time");
        text_format(out, "%.2f us of the device, %.2f us end to end in %s, predicted", p->figures.device_us,
                    p->figures.end_to_end_us, counted(p->bundle_count, "bundle").at);
        if (p->asks_time) add_least_words(p, false, out);
        text_add(out, "\n");
        write_sums(p, out);
    }
    plan_summary_label(out, "height");
    text_format(out, "%s", in_bytes(p->figures.height_bytes).at);
    if (p->problem.objective == LX_HEIGHT && lx_plan_objective(p) != INT64_MAX) {
        add_least_words(p, false, out);
        text_add(out, "\n");
    } else
        text_format(out, " of %s\n", in_bytes(p->problem.capacity).at);
    if (p->graph->target_hbm_bytes < 0) return;
    bool met = lx_plan_meets_target(p);
    plan_summary_label(out, "target");
    text_format(out, "%s: ", in_bytes(p->graph->target_hbm_bytes).at);
    paint_add(out, met ? PAINT_GOOD : PAINT_BAD, met ? "met" : "missed");
    if (!met) text_format(out, " by %s", in_bytes(p->figures.hbm_bytes - p->graph->target_hbm_bytes).at);
    text_add(out, "\n");
}

static int64_t plan_summary_cost_of(const void *plan, int32_t i)
{
    return ((const struct lx_plan *)plan)->problem.buffers[i].spill_cost;
}

/* All buffers in their own order if they are few; else the costliest first. */
static void plan_summary_write_buffers(const struct lx_plan *p, bool all, struct text *out)
{
    int32_t n = p->problem.count, shown;
    int32_t k = p->problem.count, placed = 0, barred = 0;
    for (int32_t i = 0; i < k; i++) {
        placed += p->answer.address[i] >= 0;
        barred += p->problem.buffers[i].reason != NULL;
    }
    text_format(out, "\n%s: %s on chip, %s off chip", counted(k, "buffer").at, grouped(placed).at,
                grouped(k - placed).at);
    if (barred) text_format(out, " (%s of them may not be on chip)", grouped(barred).at);
    text_add(out, "\n");
    if (n == 0) return;
    int32_t *order = largest_of(p, n, plan_summary_cost_of, all ? 0 : MOST_ROWS, false, &shown);
    struct buffer_row *buffers = mem_alloc((size_t)n * sizeof *buffers);
    int64_t *moved = moved_by_buffers(p);
    out->failed |= !order || !buffers || !moved;
    if (!out->failed) {
        for (int32_t i = 0; i < shown; i++) buffers[i] = (struct buffer_row){p, moved, order[i]};
        table_add_text(&TABLE(plan_buffer_columns, buffers, shown), out);
    }
    mem_free(moved);
    mem_free(order);
    mem_free(buffers);
    if (shown < n)
        text_format(out, "  ... %s more, each of them cheaper; --all lists them\n",
                    counted(n - shown, "buffer").at);
}

void show_summary(const struct lx_plan *p, const char *when, bool all, struct text *out)
{
    const struct lx_graph *g = p->graph;
    char *name = printable(g->name, 60);
    plan_summary_label(out, "pattern");
    paint_add(out, PAINT_HEADING, name ? name : "?");
    mem_free(name);
    if (g->is_list)
        text_format(out, ": %s\n", counted(g->buffer_count, "buffer").at);
    else
        text_format(out, ": %s, %s\n", counted(g->op_count, "op").at, counted(g->tensor_count, "tensor").at);
    /* Of a graph that repeats some of itself. */
    struct text layers = {0};
    add_layers(p, &layers);
    if (layers.at && layers.length) {
        plan_summary_label(out, "layers");
        text_format(out, "%s\n", layers.at);
    }
    text_free(&layers);
    plan_summary_label(out, "device");
    device_line(p, out);
    text_add(out, "\n");
    write_answer_lines(p, out);
    write_traffic_lines(p, out);
    plan_summary_label(out, "work");
    text_format(out, "%s in %s\n", counted(p->answer.steps, "step").at, when);
    plan_summary_write_buffers(p, all, out);
    if (p->graph->is_list) return;
    show_copies(p, out);
    show_ops(p, all ? 0 : MOST_ROWS, out);
}
