#include "tui/outcome.h"
#include "base/fail.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

/* Producers and readers of every tensor, by counting. */
static bool index_tensors(struct outcome *o)
{
    const struct lx_graph *g = outcome_graph(o);
    if (!g) return true;
    size_t tensors = (size_t)g->tensor_count, reads = 0;
    for (int32_t i = 0; i < g->op_count; i++) reads += (size_t)g->ops[i].input_count;
    o->producer = malloc((tensors + 1) * sizeof *o->producer);
    o->reader_at = calloc(tensors + 2, sizeof *o->reader_at);
    o->readers = malloc((reads + 1) * sizeof *o->readers);
    if (!o->producer || !o->reader_at || !o->readers) return false;
    for (size_t t = 0; t < tensors; t++) o->producer[t] = -1;
    for (int32_t i = 0; i < g->op_count; i++) {
        if (g->ops[i].output >= 0) o->producer[g->ops[i].output] = i;
        for (int k = 0; k < g->ops[i].input_count; k++) o->reader_at[g->ops[i].inputs[k] + 2]++;
    }
    for (size_t t = 1; t <= tensors; t++) o->reader_at[t + 1] += o->reader_at[t];
    for (int32_t i = 0; i < g->op_count; i++)
        for (int k = 0; k < g->ops[i].input_count; k++)
            o->readers[o->reader_at[g->ops[i].inputs[k] + 1]++] = i;
    return true;
}

/* Layouts and divisions, where the pattern has shapes. That there are none is no error of the plan. */
static void divide(struct outcome *o)
{
    if (o->plan->graph->is_list) {
        status_set(&o->division_st, LX_E_UNSUPPORTED,
                   "this pattern is a list of buffers: it has no ops to divide over cores");
        return;
    }
    o->layouts = lx_layouts_make(o->plan->graph, &o->division_st);
    if (o->layouts) o->divisions = lx_divide(o->layouts, NULL, &o->division_st);
}

static struct lx_graph *graph_of_plan(const struct lx_plan *plan, lx_status *st)
{
    size_t length = 0;
    char *json = lx_graph_to_json(plan->graph, &length);
    struct lx_graph *g = NULL;
    if (json)
        g = lx_graph_parse(plan->graph->file, json, length, st);
    else
        status_no_memory(st);
    free(json);
    return g;
}

static struct lx_plan *make(const char *path, const struct what_if *how, const struct lx_run *run,
                            bool as_it_is, struct outcome *out)
{
    int64_t values[MOST_SOLVER_OPTIONS];
    struct lx_plan_options options = {.run = *run};
    size_t length = 0;
    char *text = file_read(path, &length, &out->st);
    if (!text) return NULL;
    struct lx_graph *g = NULL;
    if (lx_is_plan(text, length)) {
        struct lx_plan *plan = lx_plan_parse(path, text, length, &out->st);
        free(text);
        out->was_read = plan && as_it_is;
        if (!plan || as_it_is) return plan;
        g = graph_of_plan(plan, &out->st);
        lx_plan_free(plan);
    } else {
        g = lx_graph_parse(path, text, length, &out->st);
        free(text);
    }
    if (g && settings_apply(how, g, &options, values, &out->st)) return lx_plan_make(g, &options, &out->st);
    lx_graph_free(g);
    return NULL;
}

bool outcome_make(const char *path, const struct what_if *how, const struct lx_run *run, bool as_it_is,
                  struct outcome *out)
{
    *out = (struct outcome){.how = *how};
    out->plan = make(path, how, run, as_it_is, out);
    if (!out->plan) return false;
    divide(out);
    out->off_chip = off_chip_by_cost(out->plan, &out->off_chip_count);
    if (timeline_make(out->plan, &out->time) && out->off_chip && index_tensors(out)) return true;
    status_no_memory(&out->st);
    lx_plan_free(out->plan);
    out->plan = NULL;
    return false;
}

void outcome_free(struct outcome *o)
{
    free(o->producer);
    free(o->readers);
    free(o->reader_at);
    free(o->off_chip);
    timeline_free(&o->time);
    lx_divisions_free(o->divisions);
    lx_layouts_free(o->layouts);
    lx_plan_free(o->plan);
    *o = (struct outcome){0};
}

const struct lx_graph *outcome_graph(const struct outcome *o)
{
    return o->plan && !o->plan->graph->is_list ? o->plan->graph : NULL;
}

int32_t outcome_tensor(const struct outcome *o, int32_t buffer)
{
    return outcome_graph(o) && buffer >= 0 && buffer < outcome_graph(o)->tensor_count ? buffer : -1;
}

int32_t outcome_buffer(const struct outcome *o, int32_t tensor)
{
    return o->plan && tensor >= 0 && tensor < o->plan->problem.count ? tensor : -1;
}

int32_t outcome_identity(const struct outcome *o, int32_t buffer)
{
    int32_t tensor = outcome_tensor(o, buffer);
    return tensor >= 0 ? tensor : buffer;
}

char outcome_letter(int32_t identity)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    return letters[(uint32_t)identity % (sizeof letters - 1)];
}

const struct lx_division *outcome_division(const struct outcome *o, int32_t op)
{
    if (!o->divisions) return NULL;
    for (int32_t i = op < o->divisions->count ? op : 0; i < o->divisions->count; i++)
        if (o->layouts->op_origin[i] == op) return &o->divisions->at[i];
    for (int32_t i = 0; i < o->divisions->count; i++)
        if (o->layouts->op_origin[i] == op) return &o->divisions->at[i];
    return NULL;
}

bool outcome_on_chip(const struct outcome *o, int32_t op, int operand)
{
    const struct lx_graph *g = outcome_graph(o);
    int32_t buffer = g ? outcome_buffer(o, operand_tensor(&g->ops[op], operand)) : -1;
    return buffer >= 0 && o->plan->answer.address[buffer] >= 0;
}

int64_t outcome_traffic(const struct outcome *o, int32_t op)
{
    const struct lx_graph *g = outcome_graph(o);
    int64_t sum = 0;
    for (int k = 0; g && k <= g->ops[op].input_count; k++)
        if (!outcome_on_chip(o, op, k)) sum += g->tensors[operand_tensor(&g->ops[op], k)].bytes;
    return sum;
}
