/* Graphs from texts and as texts, planned, and plans executed. */
#include "api/api_team.h"

#include <stdlib.h>
#include <string.h>

/* A list of buffers is a pattern, too, and everybody may plan it. */
lx_graph *lx_graph_parse(const char *bytes, int64_t size, const char *format, lx_error *e)
{
    API_CALL(e, NULL);
    union {
        const struct lx_graph *in;
        struct lx_graph *out;
    } g = {.in = api_read(bytes, size, format, st)}; /* constant for both sides */
    return g.out;
}

lx_text *lx_graph_write(const lx_graph *g, const char *format, lx_error *e)
{
    API_CALL(e, NULL);
    if (!g) return status_set(st, LX_E_USAGE, "there is no graph to write"), NULL;
    return api_write(g, format, st);
}

static double all_bytes(const lx_graph *g)
{
    double sum = 0;
    for (int32_t i = 0; i < g->tensor_count; i++) sum += (double)g->tensors[i].bytes;
    for (int32_t i = 0; g->list && i < g->list->buffer_count; i++) sum += (double)g->list->buffers[i].size;
    return sum;
}

int32_t lx_graph_number(const lx_graph *g, const char *name, double *value)
{
    double found;
    if (!g || !name) return -1;
    if (strcmp(name, "tensors") == 0)
        found = g->tensor_count;
    else if (strcmp(name, "ops") == 0)
        found = g->op_count;
    else if (strcmp(name, "buffers") == 0)
        found = g->list ? g->list->buffer_count : 0;
    else if (strcmp(name, "cores") == 0)
        found = (double)g->device.cores;
    else if (strcmp(name, "bytes") == 0)
        found = all_bytes(g);
    else
        return -1;
    if (value) *value = found;
    return 0;
}

const char *lx_graph_word(const lx_graph *g, const char *name)
{
    if (!g || !name) return NULL;
    if (strcmp(name, "name") == 0) return g->name;
    if (strcmp(name, "hash") == 0) return g->hash_word;
    if (strcmp(name, "summary") == 0) return g->summary;
    return strcmp(name, "device") == 0 ? g->device.preset : NULL;
}

lx_result *api_plan_any(const struct lx_graph *g, const lx_options *o, lx_status *st)
{
    return o && o->team.axes ? team_plan(g, o, st) : api_plan(g, o, st);
}

/* What the option file names, planned. */
static lx_result *plan_file(const lx_options *o, lx_status *st)
{
    const struct lx_graph *g = lx_graph_read(o->file, st);
    lx_result *r = g ? api_plan_any(g, o, st) : NULL;
    lx_graph_free(g);
    return r;
}

lx_result *lx_plan(const lx_graph *g, const lx_options *o, lx_error *e)
{
    API_CALL(e, NULL);
    if (!g && (!o || !o->file))
        return status_set(st, LX_E_USAGE, "there is no graph to plan, and the option file names none"), NULL;
    return g ? api_plan_any(g, o, st) : plan_file(o, st);
}

lx_result *lx_plan_parse(const char *bytes, int64_t size, lx_error *e)
{
    API_CALL(e, NULL);
    if (!bytes || size < 0) return status_set(st, LX_E_USAGE, "there is no text to read"), NULL;
    if (lx_is_team_plan(bytes, (size_t)size))
        return team_result_of(lx_team_plans_parse("", bytes, (size_t)size, st));
    return api_result(lx_plan_of_text("", bytes, (size_t)size, st), NULL);
}

static lx_result *run_plan(const struct lx_plan *plan, const lx_options *o, lx_status *st)
{
    struct lx_device_options how = {.seed = o ? (uint64_t)o->settings.value[LX_OPTION_SEED] : 0,
                                    .verify = (enum lx_verify)api_own_option(o, API_VERIFY),
                                    .in_use = true,
                                    .threads = (int)api_own_option(o, API_THREADS),
                                    .stop = api_stop(o),
                                    .context = api_context(o)};
    struct lx_run_result *run = lx_device_run(plan, &how, st);
    return run ? api_result(lx_plan_ref(plan), run) : NULL;
}

lx_result *lx_run(const lx_result *plan, const lx_options *o, lx_error *e)
{
    API_CALL(e, NULL);
    if (!plan || (!plan->plan && !plan->team))
        return status_set(st, LX_E_USAGE, "there is no plan to run"), NULL;
    return plan->team ? team_run(plan->team, o, st) : run_plan(plan->plan, o, st);
}
