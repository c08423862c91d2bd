/* The summary of `lxplan plan`: the answer, its figures, the costliest buffers and ops. */
#include "planning/buffer_table.h"
#include "planning/planning.h"
#include "interrupt.h"
#include "planning/show_plan.h"
#include "export/nest_words.h"

/* The device, in words: its parameters in a help, and the one of a plan. */

void device_help(const struct call *call, struct text *out)
{
    (void)call;
    text_add(out, "\n");
    paint_add(out, PAINT_HEADING, "parameters of a device (-D KEY=VALUE):\n");
    char known[300], words[340];
    snprintf(words, sizeof words, "a whole device: %s; a device file stands by itself: -D FILE.json",
             lx_device_names(" or ", known, sizeof known));
    help_entry(out, "preset", words);
    for (const struct lx_device_parameter *p = lx_device_parameters(); p->key; p++)
        help_entry(out, p->key, p->help);
}

/* Repeated layers of a graph: count, ops, first and last op; and whether the plan treats all layers alike
 * (layouts, splits, nests). */

enum { MOST_LAYERS = 4, MOST_NAME = 40 };

static uint64_t layer_words_mix(uint64_t hash, int64_t value)
{
    return hash_words(hash, &value, sizeof value);
}

/* A hash of the decisions about the op of a tick. */
static uint64_t mix_tick(uint64_t hash, const struct lx_plan *p, int32_t tick)
{
    const struct lx_op *op = &p->layouts->graph->ops[tick];
    const struct lx_division *d = &p->divisions->at[tick];
    hash = layer_words_mix(layer_words_mix(hash, (int64_t)op->kind->id),
                           p->layouts->layouts[op->output].stick_dim);
    for (int i = 0; i < d->split_count; i++) hash = layer_words_mix(hash, d->splits[i].split);
    for (int32_t i = 0; i < p->nest_count; i++) {
        const struct lx_nest *n = &p->nests[i];
        if (tick < n->first || tick > n->last) continue;
        hash = layer_words_mix(layer_words_mix(hash, tick - n->first), n->last - tick);
        for (int l = 0; l < n->level_count; l++)
            hash = layer_words_mix(layer_words_mix(hash, n->tiles[l]), n->var[tick - n->first][l]);
    }
    return hash;
}

static int layer_words_by_value(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* In how many ways the layers of a run are planned. */
static int32_t ways_of(const struct lx_plan *p, const struct lx_repeat *r)
{
    OWNED uint64_t *hash = mem_zeroed((size_t)r->times, sizeof *hash);
    int32_t ways = 1;
    /* Per layer a hash of the decisions about its ops, and about ops that were added before them. */
    int32_t begun = 0; /* the first tick that belongs to the next op */
    for (int32_t i = 0; i < r->times; i++) hash[i] = HASH_START;
    for (int32_t tick = 0; tick < p->layouts->graph->op_count; tick++) {
        int32_t from = p->layouts->op_origin[tick], layer = from < r->first ? -1 : (from - r->first) / r->ops;
        if (from < 0) continue;
        for (; begun <= tick; begun++)
            if (layer >= 0 && layer < r->times) hash[layer] = mix_tick(hash[layer], p, begun);
    }
    qsort(hash, (size_t)r->times, sizeof *hash, layer_words_by_value);
    for (int32_t i = 1; i < r->times; i++) ways += hash[i] != hash[i - 1];
    return ways;
}

/* "x32 of 94 ops, planned once: norm to add; x4 of 12 ops, planned in 2 ways: .."; nothing where nothing
 * repeats. "planned once": all layers have the same layouts, splits and nests. */
static void add_layers(const struct lx_plan *p, struct text *out)
{
    int32_t count;
    const struct lx_graph *g = p->graph;
    OWNED struct lx_repeat *r = lx_repeats(g, &count);
    for (int32_t i = 0; r && i < count && i < MOST_LAYERS; i++) {
        text_format(out, "%sx%d of %s", i ? "; " : "", (int)r[i].times, counted(r[i].ops, "op").at);
        int32_t ways = p->layouts && !p->order ? ways_of(p, &r[i]) : 0;
        if (ways == 1) text_add(out, ", planned once");
        if (ways > 1) text_format(out, ", planned in %d ways", (int)ways);
        text_add(out, ": ");
        add_printable(out, g->ops[r[i].first].name, MOST_NAME);
        text_add(out, " to ");
        add_printable(out, g->ops[r[i].first + r[i].ops - 1].name, MOST_NAME);
    }
    if (count > MOST_LAYERS) text_add(out, "; ...");
}

/* More rows than this scroll away; the costliest are what one looks for. */
enum { MOST_ROWS = 40 };

/* Bytes moved, and waits. */
static void write_sums(const struct lx_plan *p, const struct lx_op_wait *waits, struct text *out)
{
    OWNED int64_t *moved = moved_by_buffers(p);
    struct lx_byte_sums sums = lx_plan_byte_sums(p, moved);
    struct lx_op_wait all = lx_waits_sum(waits, p->layouts->graph->op_count);
    add_labelled(out, "bytes", "%s", "");
    add_byte_sums(p, &sums, out);
    text_add(out, "\n");
    add_labelled(out, "waits", "%s", "");
    add_wait_sums(&all, out);
    text_add(out, "\n");
}

/* Traffic beside what nothing on chip costs, where that is an answer; and how it came about. */
static void write_traffic_lines(const struct lx_plan *p, struct text *out)
{
    enum { MOST_NESTS = 4 };
    const struct lx_graph *g = p->graph, *from = g->came_from;
    int64_t all = p->figures.baseline_hbm_bytes, sums = 0;
    bool spill = p->problem.objective == LX_SPILL,
         legal = !g->list || !(lx_problem_needs(&p->problem) & (LX_CAN_MUST | LX_CAN_STAGING));
    add_labelled(out, g->list ? "cost" : "HBM", "%s", in_bytes(p->figures.hbm_bytes).at);
    if (spill && !p->asks_time) add_least_words(p, false, out);
    if (!legal && p->answer.status != LX_INFEASIBLE)
        text_add(out, "; some buffers must be on chip");
    else if (legal && all > 0)
        text_format(out, "; with nothing on chip%s %s, saved %s", from ? " as rewritten" : "",
                    in_bytes(all).at, in_percent((double)(all - p->figures.hbm_bytes) / (double)all).at);
    text_add(out, "\n");
    if (spill && !g->list)
        add_labelled(out, "spill", "%s that an unlimited scratchpad would save\n",
                     in_bytes(p->figures.spill_bytes).at);
    if (p->joint.searched)
        add_labelled(out, "joint", "%s re-split; lower bound over all work splits %s\n",
                     counted(p->joint.divided_anew, "op").at, in_bytes(p->joint.bound_bytes).at);
    if (p->nest_count) { /* "3 nests, 96 iterations: ticks 2 to 9 x16 over s; ..." as far as a line may go */
        add_labelled(out, "nests", "%s", "");
        add_nests_sum(p, out);
        for (int32_t i = 0; i < p->nest_count && i < MOST_NESTS; i++) {
            text_format(out, "%s%d to %d ", i ? "; " : ": ticks ", (int)p->nests[i].first,
                        (int)p->nests[i].last);
            add_nest_words(p, &p->nests[i], out);
        }
        text_add(out, p->nest_count > MOST_NESTS ? "; ...\n" : "\n");
    }
    for (int32_t o = 0; o < g->op_count; o++) sums += g->ops[o].kind->id == LX_KIND_LOGSUMEXP;
    if (from)
        add_labelled(out, "online", "%s, so that tiles may split softmax rows: %s instead of %d\n",
                     counted(sums, "running sum").at, counted(g->op_count, "op").at, (int)from->op_count);
}

static void write_size_lines(const struct lx_plan *p, const struct lx_op_wait *waits, struct text *out)
{
    if (!p->graph->list) {
        add_labelled(out, "pool", "%s of HBM for buffers that are not on chip\n", in_bytes(p->pool_bytes).at);
        add_labelled(out, "time", "%s on the device, %s end to end in %s, syncs %lld, predicted",
                     in_micros(p->figures.device_us).at, in_micros(p->figures.end_to_end_us).at,
                     counted(p->bundle_count, "bundle").at, (long long)p->figures.sync_times);
        if (p->asks_time) add_least_words(p, false, out);
        if (p->balanced) text_format(out, ", proven least %s", in_micros(p->figures.bound_us).at);
        if (p->fewer_bytes > 0) {
            text_add(out, "\n          ");
            add_fewer_bytes_words(p, out);
        }
        text_add(out, "\n");
        write_sums(p, waits, out);
    }
    add_labelled(out, "height", "%s", in_bytes(p->figures.height_bytes).at);
    if (p->problem.objective == LX_HEIGHT && lx_plan_objective(p) != INT64_MAX) {
        add_least_words(p, false, out);
        text_add(out, "\n");
    } else
        text_format(out, " of %s\n", in_bytes(p->problem.capacity).at);
    if (p->graph->target_hbm_bytes < 0) return;
    bool met = lx_plan_meets_target(p);
    add_labelled(out, "target", "%s: ", in_bytes(p->graph->target_hbm_bytes).at);
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
    int32_t n = p->problem.count, placed = 0, barred = 0, shown;
    for (int32_t i = 0; i < n; i++) {
        placed += p->answer.address[i] >= 0;
        barred += p->problem.buffers[i].reason != NULL;
    }
    text_format(out, "\n%s: %s on chip, %s %s", counted(n, "buffer").at, grouped(placed).at,
                grouped(n - placed).at, p->graph->list ? "off chip" : "in HBM");
    if (barred) text_format(out, " (%s HBM only)", barred == n - placed ? "all" : grouped(barred).at);
    text_add(out, "\n");
    if (n == 0) return;
    OWNED int32_t *order = largest_of(p, n, plan_summary_cost_of, all ? 0 : MOST_ROWS, false, &shown);
    OWNED struct buffer_row *buffers = mem_alloc((size_t)n * sizeof *buffers);
    OWNED int64_t *moved = moved_by_buffers(p);
    for (int32_t i = 0; i < shown; i++) buffers[i] = (struct buffer_row){p, moved, order[i]};
    table_add_text(&TABLE(plan_buffer_columns, buffers, shown), out);
    if (shown < n)
        text_format(out, "  ... %s more, all cheaper; --all lists them\n", counted(n - shown, "buffer").at);
}

void show_summary(const struct lx_plan *p, const char *when, bool all, struct text *out)
{
    static const enum paint paints[] = {[LX_FEASIBLE] = PAINT_PLAIN,
                                        [LX_OPTIMAL] = PAINT_GOOD,
                                        [LX_INFEASIBLE] = PAINT_BAD,
                                        [LX_LIMIT] = PAINT_PLAIN,
                                        [LX_ERROR] = PAINT_BAD};
    const struct lx_graph *g = p->graph;
    const struct lx_device *d = &g->device;
    char *name = printable(g->name, 60);
    struct text layers = {0};
    struct lx_op_wait *waits = NULL;
    if (!g->list) {
        waits = mem_zeroed((size_t)p->layouts->graph->op_count + 1, sizeof *waits);
        lx_plan_waits(p, waits);
    }
    add_labelled(out, "pattern", "%s", "");
    paint_add(out, PAINT_HEADING, name ? name : "?");
    mem_free(name);
    if (g->list)
        text_format(out, ": %s\n", counted(g->list->buffer_count, "buffer").at);
    else
        text_format(out, ": %s, %s\n", counted(g->op_count, "op").at, counted(g->tensor_count, "tensor").at);
    if (p->imported.ops) {
        add_labelled(out, "model", "%s", "");
        add_imported_words(p, out);
        text_add(out, "\n");
    }
    add_layers(p, &layers);
    if (layers.length) {
        add_labelled(out, "layers", "%s", "");
        text_format(out, "%s\n", layers.at);
    }
    text_free(&layers);
    if (g->list)
        add_labelled(out, "device", "%s of scratchpad, alignment %s B\n", in_bytes(p->problem.capacity).at,
                     grouped(p->problem.alignment).at);
    else
        add_labelled(out, "device", "%s, %s, %s of scratchpad each, in sticks of %s B\n", d->preset,
                     counted(d->cores, "core").at, in_bytes(p->problem.capacity).at,
                     grouped(p->problem.alignment).at);
    add_labelled(out, "solver", "%s, seed %llu%s", p->solver, (unsigned long long)p->seed,
                 *p->options ? ", " : "");
    text_format(out, "%s\n", p->options);
    add_labelled(out, "status", "%s", "");
    paint_add(out, paints[p->answer.status], verdict_words(p));
    add_reason_words(p, out);
    text_add(out, "\n");
    write_traffic_lines(p, out);
    write_size_lines(p, waits, out);
    add_labelled(out, "work", "%s in %s\n", counted(p->answer.steps, "step").at, when);
    plan_summary_write_buffers(p, all, out);
    if (g->list) return;
    show_copies(p, out);
    show_ops(p, waits, all ? 0 : MOST_ROWS, out);
    mem_free(waits);
}

static bool show_faster_stops(void *context)
{
    (void)context;
    return interrupted;
}

void show_faster(struct call *call, const struct lx_plan *p, struct text *out)
{
    static const char *const asks[] = {"time", "balanced"}; /* the second knows the bound */
    const double us = p->figures.end_to_end_us;
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    struct lx_plan *made[2] = {0};
    lx_status ignored = {0};
    if (p->graph->list || p->asks_time || p->balanced || p->problem.objective != LX_SPILL) return;
    for (int i = 0; i < 2; i++) {
        struct lx_settings by_time; /* all else as asked */
        struct lx_plan_options how = {.keeps_quiet = true, .like = p};
        if (!read_options(call, &by_time) || !lx_settings_set(&by_time, "objective", asks[i], &ignored) ||
            !lx_settings_plan(&by_time, p->graph, &how, values, &ignored))
            continue;
        how.run.quick = true;
        how.run.stop = show_faster_stops;
        made[i] = lx_plan_make(p->graph, &how, &ignored);
    }
    const struct lx_figures *f = made[0] ? &made[0]->figures : NULL;
    if (f && made[1] && us > 1.5 * made[1]->figures.bound_us) {
        text_format(out, "\nby time   no less than %s", in_micros(made[1]->figures.bound_us).at);
        if (f->end_to_end_us < us) {
            text_format(out, ", at most %s", in_micros(f->end_to_end_us).at);
            text_format(out, " with %s of HBM traffic, %s", in_bytes(f->hbm_bytes).at,
                        counted(f->sync_times, "sync").at);
        }
        text_format(out, "; this plan takes %s (--objective time, or balanced)\n", in_micros(us).at);
    }
    for (int i = 0; i < 2; i++) lx_plan_free(made[i]);
}
