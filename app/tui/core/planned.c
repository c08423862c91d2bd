/* Plans a pattern (or reads a plan file) and indexes the plan for views. Runs on a worker's thread; an
 * outcome is constant afterwards. */
#include "tui/core/planned.h"

/* The number of outcomes so far. Views know an outcome by its number: its address may be reused. */
static atomic_uint_least64_t outcomes;

/* Producers, readers and stays of every tensor, by counting. */
static void planned_index_tensors(struct outcome *o, const struct lx_graph *g)
{
    size_t tensors = (size_t)g->tensor_count, reads = 0, n = (size_t)o->plan->problem.count;
    for (int32_t i = 0; i < g->op_count; i++) reads += (size_t)g->ops[i].input_count;
    o->producer = mem_alloc((tensors + 1) * sizeof *o->producer);
    o->reader_at = mem_zeroed(tensors + 2, sizeof *o->reader_at);
    o->readers = mem_alloc((reads + 1) * sizeof *o->readers);
    for (size_t t = 0; t < tensors; t++) o->producer[t] = -1;
    for (int32_t i = 0; i < g->op_count; i++) {
        for (int k = 0; k < g->ops[i].output_count; k++) o->producer[g->ops[i].outputs[k]] = i;
        for (int k = 0; k < g->ops[i].input_count; k++) o->reader_at[g->ops[i].inputs[k] + 2]++;
    }
    for (size_t t = 1; t <= tensors; t++) o->reader_at[t + 1] += o->reader_at[t];
    for (int32_t i = 0; i < g->op_count; i++)
        for (int k = 0; k < g->ops[i].input_count; k++)
            o->readers[o->reader_at[g->ops[i].inputs[k] + 1]++] = i;
    o->stay_at = mem_zeroed(tensors + 2, sizeof *o->stay_at);
    o->stays_by_tensor = mem_alloc((n + 1) * sizeof *o->stays_by_tensor);
    for (size_t i = 0; i < n; i++) o->stay_at[o->plan->stays[i].tensor + 2]++;
    for (size_t t = 1; t <= tensors; t++) o->stay_at[t + 1] += o->stay_at[t];
    for (size_t i = 0; i < n; i++)
        o->stays_by_tensor[o->stay_at[o->plan->stays[i].tensor + 1]++] = (int32_t)i;
}

/* Everything that views need to know about the plan in `out`. */
static void planned_index(struct outcome *out)
{
    const struct lx_graph *g = outcome_graph(out);
    out->layouts = out->plan->layouts;
    out->divisions = out->plan->divisions;
    out->off_chip = off_chip_by_cost(out->plan, &out->off_chip_count);
    out->number = atomic_fetch_add(&outcomes, 1) + 1;
    lx_occupancy_make(out->plan, LX_ALL_POOLS, &out->time);
    plan_index_make(out->plan, &out->index);
    out->moved = moved_by_buffers(out->plan);
    out->bytes = lx_plan_byte_sums(out->plan, out->moved);
    if (!out->interim) out->price_count = lx_bound_prices(&out->plan->problem, &out->prices);
    if (!g) return;
    planned_index_tensors(out, g);
    /* Tensors that several ops use, from the first to the last. */
    OWNED struct rail *all = mem_alloc(((size_t)g->tensor_count + 1) * sizeof *all);
    int32_t n = 0;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        int32_t begin = out->reader_at[t], end = out->reader_at[t + 1];
        struct rail r = {.thing = t, .first = out->producer[t], .last = out->producer[t]};
        for (int32_t k = begin; k < end; k++) {
            if (r.first < 0 || out->readers[k] < r.first) r.first = out->readers[k];
            if (out->readers[k] > r.last) r.last = out->readers[k];
        }
        if (r.first >= 0 && r.first < r.last) all[n++] = r;
    }
    rails_make(all, n, g->op_count, &out->rails);
    out->repeats = lx_repeats(g, &out->repeat_count);
    out->waits = mem_zeroed((size_t)g->op_count + 1, sizeof *out->waits);
    lx_plan_waits(out->plan, out->waits);
    out->waits_sum = lx_waits_sum(out->waits, g->op_count);
}

void outcome_make(const struct source_content *from, const struct what_if *how, const struct lx_run *run,
                  bool as_it_is, const struct lx_plan *like, struct outcome *out)
{
    *out = (struct outcome){.how = *how, .st = from->st, .was_read = from->plan && as_it_is};
    out->unread = !from->graph;
    if (out->unread) return;
    if (out->was_read)
        out->plan = lx_plan_ref(from->plan);
    else {
        int64_t values[MOST_SOLVER_OPTIONS];
        struct lx_plan_options options = {.run = *run, .like = like};
        SCOPED(graph_free_at)
        const struct lx_graph *sized = settings_apply(how, from->graph, &options, values, &out->st);
        if (sized) out->plan = lx_plan_make(sized, &options, &out->st);
    }
    if (!out->plan) return;
    out->is_legal = lx_plan_check(out->plan, &out->check);
    planned_index(out);
}

void outcome_of_plan(const struct lx_plan *plan, struct outcome *out)
{
    *out = (struct outcome){.plan = plan, .was_read = true};
    out->is_legal = lx_plan_check(plan, &out->check);
    planned_index(out);
}

bool outcome_make_hastily(const struct source_content *from, const struct what_if *how,
                          const struct lx_run *run, const struct lx_plan *like, struct outcome *out)
{
    enum { LONG = 4000 };
    int64_t values[MOST_SOLVER_OPTIONS];
    struct lx_plan_options options = {.like = like};
    *out = (struct outcome){.how = *how, .interim = true, .is_legal = true};
    SCOPED(graph_free_at)
    const struct lx_graph *sized = settings_apply(how, from->graph, &options, values, &out->st);
    if (!sized) return false;
    const struct lx_solver *wanted = options.solver;
    uint64_t seed = options.run.seed;
    if (!run && wanted->caps & (LX_CAN_PROVE | LX_IS_SEEDED) && options.quick_solver)
        options.solver = options.quick_solver;
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++) /* sorts a long list and places it once */
        if (!run && sized->list && sized->list->buffer_count > LONG && strcmp((*s)->name, "greedy") == 0)
            options.solver = *s;
    options.run = run ? *run : (struct lx_run){0};
    options.run.seed = seed;
    options.run.quick = true;
    if (options.solver == wanted) options.run.options = values;
    out->plan = lx_plan_make(sized, &options, &out->st);
    if (!out->plan || out->plan->answer.status == LX_ERROR) return false;
    planned_index(out);
    return true;
}

bool outcome_of_answer(const struct source_content *from, const struct what_if *how,
                       const struct lx_progress *so_far, struct outcome *out)
{
    int64_t values[MOST_SOLVER_OPTIONS];
    struct lx_plan_options options = {0};
    *out = (struct outcome){.how = *how, .interim = true, .is_legal = true};
    SCOPED(graph_free_at)
    const struct lx_graph *sized = settings_apply(how, from->graph, &options, values, &out->st);
    if (sized && sized->list) out->plan = lx_plan_of_answer(sized, &options, so_far, &out->st);
    if (out->plan) planned_index(out);
    return out->plan;
}

void outcome_free(struct outcome *o)
{
    rails_free(&o->rails);
    mem_free(o->stay_at);
    mem_free(o->stays_by_tensor);
    mem_free(o->moved);
    mem_free(o->waits);
    mem_free(o->prices);
    mem_free(o->repeats);
    mem_free(o->producer);
    mem_free(o->readers);
    mem_free(o->reader_at);
    mem_free(o->off_chip);
    lx_occupancy_free(&o->time);
    plan_index_free(&o->index);
    lx_plan_free(o->plan);
    *o = (struct outcome){0};
}

const struct lx_graph *outcome_graph(const struct outcome *o)
{
    return o->plan && o->plan->layouts ? o->plan->layouts->graph : NULL;
}

int32_t outcome_tensor(const struct outcome *o, int32_t buffer)
{
    if (!outcome_graph(o) || !o->plan->stays || buffer < 0 || buffer >= o->plan->problem.count) return -1;
    return o->plan->stays[buffer].tensor;
}

int32_t outcome_buffer(const struct outcome *o, int32_t tensor)
{
    return outcome_graph(o) && tensor >= 0 && tensor < o->plan->problem.count ? tensor : -1;
}

const struct lx_repeat *outcome_repeat(const struct outcome *o, int32_t op)
{
    int32_t i;
    BISECT(i, 0, o->repeat_count, o->repeats[i].first + o->repeats[i].ops * o->repeats[i].times <= op);
    return i < o->repeat_count && o->repeats[i].first <= op ? &o->repeats[i] : NULL;
}

const struct lx_division *outcome_division(const struct outcome *o, int32_t op)
{
    return o->divisions && op >= 0 && op < o->divisions->count ? &o->divisions->at[op] : NULL;
}

void rails_make(const struct rail *all, int32_t count, int32_t rows, struct rails *out)
{
    OWNED struct laned *lives = mem_alloc(((size_t)count + 1) * sizeof *lives);
    int32_t next[MOST_RAILS];
    *out = (struct rails){.rows = rows};
    out->at = mem_alloc(((size_t)count + 1) * sizeof *out->at);
    out->live = mem_zeroed((size_t)rows + 2, sizeof *out->live);
    for (int32_t i = 0; i < count; i++) {
        lives[i] = (struct laned){all[i].first, (int64_t)all[i].last + 1, all[i].thing, 0};
        out->live[all[i].first]++;
        out->live[all[i].last + 1]--;
    }
    out->lanes = lanes_sweep(lives, (size_t)count, MOST_RAILS);
    for (int32_t i = 0; i < count; i++) /* counts, one further on */
        if (lives[i].lane >= 0) out->lane_at[lives[i].lane + 1]++;
    for (int k = 0; k < MOST_RAILS; k++) {
        out->lane_at[k + 1] += out->lane_at[k];
        next[k] = out->lane_at[k];
    }
    for (int32_t i = 0; i < count; i++)
        if (lives[i].lane >= 0)
            out->at[next[lives[i].lane]++] =
                (struct rail){lives[i].who, (int32_t)lives[i].from, (int32_t)lives[i].to - 1};
    for (int32_t row = 1; row <= out->rows; row++) out->live[row] += out->live[row - 1];
}

void rails_free(struct rails *r)
{
    mem_free(r->at);
    mem_free(r->live);
    *r = (struct rails){0};
}

const struct rail *rails_at(const struct rails *r, int lane, int32_t row)
{
    int32_t i;
    if (lane < 0 || lane >= r->lanes) return NULL;
    BISECT(i, r->lane_at[lane], r->lane_at[lane + 1], r->at[i].last < row);
    return i < r->lane_at[lane + 1] && r->at[i].first <= row ? &r->at[i] : NULL;
}

int32_t rails_folded(const struct rails *r, int lanes, int32_t row)
{
    if (row < 0 || row >= r->rows) return 0;
    int32_t folded = r->live[row];
    for (int k = 0; k < lanes && k < r->lanes; k++) folded -= rails_at(r, k, row) != NULL;
    return folded;
}
