/* The part of a plan file that only plans of graphs have, format 2: what it states becomes the plan. Nothing is
 * chosen or made again here, so that a plan reads the same whatever this version of the planner would do. What
 * refers to something that is not there is an error with its place; whether the plan is legal, and its figures
 * true, is for lx_plan_check to say. */
#include "plan/plan_file.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/names.h"
#include "layout/stated_layouts.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    const struct json *j;
    const cJSON *root, *graph;
    struct lx_plan *p;
    struct plan_tensor *tensors;
    struct plan_op *ops;
    int32_t tensor_count, op_count;
    lx_status *st;
};

/* The i-th element of an array, for errors. */
static const cJSON *element(const cJSON *object, const char *key, int32_t i)
{
    return cJSON_GetArrayItem(json_find(object, key), i);
}

static bool in_range(const struct reader *r, const cJSON *at, const char *what, int64_t number, int64_t least,
                     int64_t count)
{
    if (number >= least && number < count) return true;
    return json_error(r->j, at, r->st, LX_E_MISMATCH, "%s is %lld; it must be from %lld to %lld", what,
                      (long long)number, (long long)least, (long long)count - 1);
}

static bool state_tensor(const struct reader *r, const struct names *names, int32_t i,
                         struct stated_tensor *out)
{
    const struct plan_tensor *x = &r->tensors[i];
    const cJSON *at = element(r->graph, "tensors", i);
    *out = (struct stated_tensor){.name = x->name, .is_copy = x->of != NULL};
    out->origin = names_find(names, x->of ? x->of : x->name);
    if (out->origin < 0)
        return json_error(r->j, at, r->st, LX_E_MISMATCH, "the pattern has no tensor %s",
                          x->of ? x->of : x->name);
    int rank = r->p->graph->tensors[out->origin].rank;
    if (x->order.count > LX_MAX_RANK + 1 || (x->extents.count && x->extents.count != rank))
        return json_error(r->j, at, r->st, LX_E_MISMATCH, "tensor %s has %d dimensions", x->name, rank);
    out->order_count = x->order.count;
    for (int d = 0; d < x->order.count; d++) {
        if (!in_range(r, at, "an entry of order", x->order.at[d], -1, LX_MAX_RANK)) return false;
        out->order[d] = (int)x->order.at[d];
    }
    for (int d = 0; d < x->extents.count; d++) {
        int64_t extent = r->p->graph->tensors[out->origin].shape[d];
        if (!in_range(r, at, "an entry of extents", x->extents.at[d], extent, LX_INT_MAX)) return false;
        out->extents[d] = x->extents.at[d] == extent ? 0 : x->extents.at[d];
    }
    return true;
}

static bool state_op(const struct reader *r, const struct names *names, int32_t i, struct stated_op *out)
{
    const struct plan_op *x = &r->ops[i];
    const cJSON *at = element(r->graph, "ops", i);
    *out = (struct stated_op){.name = x->name, .origin = x->added ? -1 : names_find(names, x->name)};
    if (!x->added && out->origin < 0)
        return json_error(r->j, at, r->st, LX_E_MISMATCH, "the pattern has no op %s", x->name);
    if (!in_range(r, at, "output", x->output, 0, r->tensor_count) ||
        !in_range(r, at, "stick_var", x->stick_var, -1, LX_MAX_VARS) ||
        !in_range(r, at, "the number of inputs", x->inputs.count, 0, LX_MAX_INPUTS + 1))
        return false;
    out->output = (int32_t)x->output;
    out->stick_var = (int)x->stick_var;
    out->input_count = x->inputs.count;
    for (int k = 0; k < x->inputs.count; k++) {
        if (!in_range(r, at, "an input", x->inputs.at[k], 0, r->tensor_count)) return false;
        out->inputs[k] = (int32_t)x->inputs.at[k];
    }
    return true;
}

static bool find_names(const struct lx_graph *g, struct names *tensors, struct names *ops)
{
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (names_add(tensors, g->tensors[t].name, t) == NAMES_NO_MEMORY) return false;
    for (int32_t o = 0; o < g->op_count; o++)
        if (names_add(ops, g->ops[o].name, o) == NAMES_NO_MEMORY) return false;
    return true;
}

static bool read_layouts(struct reader *r)
{
    struct names tensor_names = {0}, op_names = {0};
    struct stated_tensor *tensors = calloc((size_t)r->tensor_count + 1, sizeof *tensors);
    struct stated_op *ops = calloc((size_t)r->op_count + 1, sizeof *ops);
    bool ok = tensors && ops && find_names(r->p->graph, &tensor_names, &op_names);
    if (!ok) status_no_memory(r->st);
    for (int32_t i = 0; ok && i < r->tensor_count; i++) ok = state_tensor(r, &tensor_names, i, &tensors[i]);
    for (int32_t i = 0; ok && i < r->op_count; i++) ok = state_op(r, &op_names, i, &ops[i]);
    if (ok)
        r->p->own_layouts = layouts_stated(r->p->graph, tensors, r->tensor_count, ops, r->op_count, r->st);
    r->p->layouts = r->p->own_layouts;
    names_free(&tensor_names);
    names_free(&op_names);
    free(tensors);
    free(ops);
    return ok && r->p->layouts;
}

static bool take_splits(const struct int_list *rows, struct lx_coeff_split *out, int *count)
{
    if (rows->count / 2 > LX_MAX_RANK) return false;
    for (*count = 0; *count < rows->count / 2; (*count)++)
        out[*count] = (struct lx_coeff_split){rows->at[2 * *count], rows->at[2 * *count + 1]};
    return true;
}

static bool read_divisions(struct reader *r, int64_t cores)
{
    struct lx_coeff_splits *splits = calloc((size_t)r->op_count + 1, sizeof *splits);
    bool ok = splits ? true : status_no_memory(r->st);
    for (int32_t i = 0; ok && i < r->op_count; i++)
        if (!take_splits(&r->ops[i].output_splits, splits[i].output, &splits[i].output_count) ||
            !take_splits(&r->ops[i].reduction_splits, splits[i].reduction, &splits[i].reduction_count))
            ok = json_error(r->j, element(r->graph, "ops", i), r->st, LX_E_MISMATCH,
                            "op %s has more splits than a tensor has dimensions", r->ops[i].name);
    int32_t wrong = -1;
    if (ok) r->p->own_divisions = lx_divisions_stated(r->p->layouts, cores, splits, &wrong, r->st);
    r->p->divisions = r->p->own_divisions;
    free(splits);
    if (r->p->divisions) return true;
    if (ok && wrong >= 0) {
        lx_status why = *r->st;
        json_error(r->j, element(r->graph, "ops", wrong), r->st, LX_E_MISMATCH, "%s", why.text);
    }
    return false;
}

static bool read_accesses(struct reader *r, int32_t buffer_count)
{
    const struct lx_graph *g = r->p->layouts->graph;
    struct arena *memory = r->p->memory;
    size_t count = 0;
    for (int32_t o = 0; o < r->op_count; o++) count += (size_t)g->ops[o].input_count + 1;
    struct lx_access *a = arena_array(memory, count, sizeof *a);
    int32_t *at = arena_array(memory, (size_t)r->op_count + 1, sizeof *at), n = 0;
    if (!a || !at) return status_no_memory(r->st);
    for (int32_t o = 0; o < r->op_count; o++) {
        const struct int_list *rows = &r->ops[o].accesses;
        const cJSON *place = element(r->graph, "ops", o);
        int operands = g->ops[o].input_count + 1;
        if (rows->count != 4 * operands)
            return json_error(r->j, place, r->st, LX_E_MISMATCH,
                              "op %s must have %d accesses, one per operand", g->ops[o].name, operands);
        for (int k = 0; k < operands; k++, n++) {
            const int64_t *row = &rows->at[4 * k];
            if (!in_range(r, place, "the buffer of an access", row[0], -1, buffer_count) ||
                !in_range(r, place, "the bytes of an access", row[3], 0, LX_INT_MAX))
                return false;
            a[n] = (struct lx_access){.tensor = k < operands - 1 ? g->ops[o].inputs[k] : g->ops[o].output,
                                      .stay = (int32_t)row[0],
                                      .reads = row[1] != 0,
                                      .writes = row[2] != 0,
                                      .bytes = row[3]};
        }
        at[o + 1] = n;
    }
    r->p->accesses = a;
    r->p->access_at = at;
    return true;
}

static bool take_stay(const struct reader *r, int32_t i, const struct plan_buffer *x, int32_t count,
                      struct lx_stay *out)
{
    const cJSON *at = element(r->root, "buffers", i);
    int32_t ticks = r->op_count > 0 ? r->op_count : 1;
    if (!in_range(r, at, "tensor", x->tensor, 0, r->tensor_count) ||
        !in_range(r, at, "first", x->first, -1, ticks) || !in_range(r, at, "last", x->last, -1, ticks) ||
        !in_range(r, at, "view_op", x->view_op, -1, ticks) ||
        !in_range(r, at, "ring_source", x->ring_source, -1, count))
        return false;
    const struct lx_op *viewer =
        x->view_op < 0 || r->op_count == 0 ? NULL : &r->p->layouts->graph->ops[x->view_op];
    int operands = viewer ? viewer->input_count + 1 : 1;
    if (!in_range(r, at, "view_operand", x->view_operand, -1, operands)) return false;
    *out = (struct lx_stay){.tensor = (int32_t)x->tensor,
                            .first = (int32_t)x->first,
                            .last = (int32_t)x->last,
                            .view_op = (int32_t)x->view_op,
                            .view_operand = (int)x->view_operand,
                            .ring_source = (int32_t)x->ring_source,
                            .begins_written = x->begins_written};
    while (out->bar < LX_BAR_COUNT && strcmp(lx_bar_word(out->bar), x->bar ? x->bar : "none") != 0)
        out->bar++;
    if (out->bar < LX_BAR_COUNT) return true;
    return json_error(r->j, at, r->st, LX_E_SCHEMA, "there is no bar \"%s\"", x->bar);
}

static bool take_buffer(const struct reader *r, int32_t i, const struct plan_buffer *x, int32_t count,
                        struct lx_buffer *out)
{
    const cJSON *at = element(r->root, "buffers", i);
    int32_t *parents = arena_array(r->p->memory, (size_t)x->parents.count, sizeof *parents);
    if (!parents) return status_no_memory(r->st);
    for (int32_t k = 0; k < x->parents.count; k++) {
        if (!in_range(r, at, "a parent", x->parents.at[k], 0, count)) return false;
        parents[k] = (int32_t)x->parents.at[k];
    }
    *out = (struct lx_buffer){.name = x->name,
                              .size = x->size,
                              .start = x->start,
                              .end = x->end,
                              .parents = parents,
                              .parent_count = x->parents.count,
                              .fixed = -1,
                              .spill_cost = x->cost,
                              .reason = x->bar ? x->reason : NULL};
    return true;
}

/* The ticks at which each buffer is used: those of the accesses that it serves. */
static bool find_uses(struct lx_plan *p, struct lx_buffer *buffers, int32_t count, lx_status *st)
{
    int32_t ops = p->layouts->graph->op_count;
    int64_t *uses = arena_array(p->memory, (size_t)p->access_at[ops], sizeof *uses);
    int32_t *room = arena_array(p->memory, (size_t)count, sizeof *room), used = 0;
    if (!uses || !room) return status_no_memory(st);
    for (int32_t a = 0; a < p->access_at[ops]; a++)
        if (p->accesses[a].stay >= 0) room[p->accesses[a].stay]++;
    for (int32_t i = 0; i < count; used += room[i++]) buffers[i].uses = uses + used;
    for (int32_t o = 0; o < ops; o++)
        for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++) {
            int32_t stay = p->accesses[a].stay;
            if (stay < 0) continue;
            struct lx_buffer *b = &buffers[stay];
            int64_t *mine = uses + (b->uses - uses);
            if (b->use_count == 0) b->first_use_is_read = !p->accesses[a].writes;
            if (b->use_count == 0 || mine[b->use_count - 1] != o) mine[b->use_count++] = o;
        }
    return true;
}

static bool read_stays(struct reader *r, const struct plan_buffer *list, int32_t count)
{
    struct lx_plan *p = r->p;
    struct lx_buffer *buffers = arena_array(p->memory, (size_t)count, sizeof *buffers);
    struct lx_stay *stays = arena_array(p->memory, (size_t)count, sizeof *stays);
    if (!buffers || !stays) return status_no_memory(r->st);
    for (int32_t i = 0; i < count; i++)
        if (!take_stay(r, i, &list[i], count, &stays[i]) || !take_buffer(r, i, &list[i], count, &buffers[i]))
            return false;
    p->stays = stays;
    p->problem.buffers = buffers;
    p->problem.count = count;
    return read_accesses(r, count) && find_uses(p, buffers, count, r->st);
}

static bool read_transfers(struct reader *r)
{
    struct lx_plan *p = r->p;
    int32_t count;
    struct plan_transfer *list =
        plan_read_records(r->j, r->graph, "transfers", PLAN_TRANSFER, sizeof *list, p->memory, &count, r->st);
    struct lx_transfer *out = list ? arena_array(p->memory, (size_t)count, sizeof *out) : NULL;
    if (!list) return false;
    if (!out) return status_no_memory(r->st);
    for (int32_t i = 0; i < count; i++) {
        const cJSON *at = element(r->graph, "transfers", i);
        int kind = 0;
        while (kind < LX_TRANSFER_KINDS &&
               strcmp(lx_transfer_word((enum lx_transfer_kind)kind), list[i].kind) != 0)
            kind++;
        if (kind == LX_TRANSFER_KINDS)
            return json_error(r->j, at, r->st, LX_E_SCHEMA, "kind is load, store or ring, not \"%s\"",
                              list[i].kind);
        if (!in_range(r, at, "tick", list[i].tick, 0, r->op_count) ||
            !in_range(r, at, "buffer", list[i].buffer, 0, p->problem.count) ||
            !in_range(r, at, "from", list[i].from, kind == LX_RING ? 0 : -1,
                      kind == LX_RING ? p->problem.count : 0))
            return false;
        out[i] = (struct lx_transfer){(enum lx_transfer_kind)kind, (int32_t)list[i].tick,
                                      (int32_t)list[i].buffer, (int32_t)list[i].from, list[i].bytes};
    }
    p->transfers = out;
    p->transfer_count = count;
    return true;
}

static bool read_traffic(struct reader *r)
{
    struct lx_plan *p = r->p;
    p->traffic = arena_array(p->memory, (size_t)r->op_count, sizeof *p->traffic);
    p->hbm_address = arena_array(p->memory, (size_t)r->tensor_count, sizeof *p->hbm_address);
    if (!p->traffic || !p->hbm_address) return status_no_memory(r->st);
    for (int32_t t = 0; t < r->tensor_count; t++) {
        if (!in_range(r, element(r->graph, "tensors", t), "hbm", r->tensors[t].hbm, -1, LX_INT_MAX))
            return false;
        p->hbm_address[t] = r->tensors[t].hbm;
    }
    for (int32_t o = 0; o < r->op_count; o++) {
        const struct plan_op *x = &r->ops[o];
        p->traffic[o] = (struct lx_op_traffic){x->hbm_read, x->hbm_written, x->ring, x->reduce_ring,
                                               x->lx_read,  x->lx_written,  x->us};
    }
    return true;
}

/* Cuts and tensors taken apart, as they were decided. */
static bool read_decisions(struct reader *r, const struct plan_graph *graph)
{
    struct lx_plan *p = r->p;
    struct cut *cuts = arena_array(p->memory, (size_t)graph->cuts.count / 2, sizeof *cuts);
    int32_t *apart = arena_array(p->memory, (size_t)graph->apart.count, sizeof *apart);
    if (!cuts || !apart) return status_no_memory(r->st);
    for (int32_t i = 0; i < graph->cuts.count / 2; i++) {
        const int64_t *row = &graph->cuts.at[2 * i];
        if (!in_range(r, json_find(r->graph, "cuts"), "a tensor of cuts", row[0], 0, r->tensor_count) ||
            !in_range(r, json_find(r->graph, "cuts"), "an op of cuts", row[1], 0, r->op_count))
            return false;
        cuts[i] = (struct cut){(int32_t)row[0], (int32_t)row[1]};
    }
    for (int32_t i = 0; i < graph->apart.count; i++) {
        if (!in_range(r, json_find(r->graph, "apart"), "a tensor of apart", graph->apart.at[i], 0,
                      r->tensor_count))
            return false;
        apart[i] = (int32_t)graph->apart.at[i];
    }
    struct decisions how = {.passes = p->passes,
                            .cuts = cuts,
                            .cut_count = graph->cuts.count / 2,
                            .apart = apart,
                            .apart_count = graph->apart.count};
    p->how = arena_copy_array(p->memory, &how, 1, sizeof how);
    return p->how ? true : status_no_memory(r->st);
}

bool plan_read_graph(const struct json *j, const cJSON *root, struct lx_plan *p, lx_status *st)
{
    struct reader r = {.j = j, .root = root, .graph = json_find(root, "graph"), .p = p, .st = st};
    struct plan_graph graph;
    int32_t count;
    if (!r.graph)
        return json_error(j, root, st, LX_E_SCHEMA,
                          "the key \"graph\" is missing here; plan the pattern again");
    if (!plan_read_record(j, r.graph, PLAN_GRAPH, &graph, p->memory, st) ||
        !plan_read_passes(j, r.graph, &p->passes, st))
        return false;
    r.tensors = plan_read_records(j, r.graph, "tensors", PLAN_TENSOR, sizeof *r.tensors, p->memory,
                                  &r.tensor_count, st);
    r.ops = r.tensors
                ? plan_read_records(j, r.graph, "ops", PLAN_OP, sizeof *r.ops, p->memory, &r.op_count, st)
                : NULL;
    struct plan_buffer *buffers =
        r.ops ? plan_read_records(j, root, "buffers", PLAN_BUFFER, sizeof *buffers, p->memory, &count, st)
              : NULL;
    if (!buffers || !read_layouts(&r) || !read_divisions(&r, graph.cores) ||
        !read_stays(&r, buffers, count) || !read_decisions(&r, &graph) || !read_transfers(&r) ||
        !read_traffic(&r) || !plan_read_launches(j, r.graph, p, st))
        return false;
    p->figures.perfect_hbm_bytes = graph.perfect_hbm_bytes;
    p->figures.ring_bytes = graph.ring_bytes;
    p->figures.predicted_us = graph.predicted_us;
    p->pool_at = graph.pool_at;
    p->pool_bytes = graph.pool_bytes;
    p->segment_bytes = graph.segment_bytes;
    return true;
}
