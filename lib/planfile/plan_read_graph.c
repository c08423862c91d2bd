/* Plans of graphs, format 2: the file becomes the plan; nothing is chosen or made again. References to
 * missing objects are errors with their position; lx_plan_check judges the rest. */
#include "planfile/plan_file.h"
#include "layout/stated_layouts.h"

bool plan_in_range(const struct graph_reader *r, const struct json_value *at, const char *what,
                   int64_t number, int64_t least, int64_t count)
{
    if (number >= least && number < count) return true;
    return json_error(r->j, at, r->st, LX_E_MISMATCH, "%s is %lld; it must be from %lld to %lld", what,
                      (long long)number, (long long)least, (long long)count - 1);
}

static bool state_tensor(const struct graph_reader *r, const struct names *names, int32_t i,
                         struct stated_tensor *out)
{
    const struct plan_tensor *x = (const struct plan_tensor *)r->tensors.at + i;
    const struct json_value *at = r->tensors.where[i];
    *out = (struct stated_tensor){.name = x->name, .is_copy = x->of != NULL};
    out->origin = names_find(names, x->of ? x->of : x->name);
    if (out->origin < 0)
        return json_error(r->j, at, r->st, LX_E_MISMATCH, "the pattern has no tensor %s",
                          x->of ? x->of : x->name);
    if (x->of && names_find(names, x->name) >= 0)
        return json_error(r->j, at, r->st, LX_E_MISMATCH,
                          "tensor %s is the pattern's own, no copy that layout added; remove \"of\"",
                          x->name);
    int rank = r->p->graph->tensors[out->origin].rank;
    if (rank < 0 && x->order.count > 0)
        return json_error(r->j, at, r->st, LX_E_MISMATCH,
                          "tensor %s is known by its bytes only; it has no order", x->name);
    if (x->order.count > LX_MAX_RANK + 1 || (x->extents.count && x->extents.count != rank))
        return json_error(r->j, at, r->st, LX_E_MISMATCH, "tensor %s has %d dimensions", x->name, rank);
    out->order_count = x->order.count;
    for (int d = 0; d < x->order.count; d++) {
        if (!plan_in_range(r, at, "an entry of order", x->order.at[d], LX_ROW_BY_ROW, LX_MAX_RANK))
            return false;
        out->order[d] = (int)x->order.at[d];
    }
    for (int d = 0; d < x->extents.count; d++) {
        int64_t extent = r->p->graph->tensors[out->origin].shape[d];
        if (!plan_in_range(r, at, "an entry of extents", x->extents.at[d], extent, LX_INT_MAX)) return false;
        out->extents[d] = x->extents.at[d] == extent ? 0 : x->extents.at[d];
    }
    return true;
}

static bool state_op(const struct graph_reader *r, const struct names *names, int32_t i,
                     struct stated_op *out)
{
    const struct plan_op *x = (const struct plan_op *)r->ops.at + i;
    const struct json_value *at = r->ops.where[i];
    *out = (struct stated_op){.name = x->name, .origin = x->added ? -1 : names_find(names, x->name)};
    if (!x->added && out->origin < 0)
        return json_error(r->j, at, r->st, LX_E_MISMATCH, "the pattern has no op %s", x->name);
    if (!plan_in_range(r, at, "output", x->output, 0, r->tensors.count) ||
        !plan_in_range(r, at, "stick_var", x->stick_var, -1, LX_MAX_VARS) ||
        !plan_in_range(r, at, "the number of inputs", x->inputs.count, 0, LX_MAX_INPUTS + 1) ||
        !plan_in_range(r, at, "the number of further outputs", x->further_outputs.count, 0, LX_MAX_OUTPUTS))
        return false;
    out->outputs[0] = (int32_t)x->output;
    out->output_count = x->further_outputs.count + 1;
    for (int k = 1; k < out->output_count; k++) {
        int64_t tensor = x->further_outputs.at[k - 1];
        if (!plan_in_range(r, at, "a further output", tensor, 0, r->tensors.count)) return false;
        out->outputs[k] = (int32_t)tensor;
    }
    out->stick_var = (int)x->stick_var;
    out->input_count = x->inputs.count;
    for (int k = 0; k < x->inputs.count; k++) {
        if (!plan_in_range(r, at, "an input", x->inputs.at[k], 0, r->tensors.count)) return false;
        out->inputs[k] = (int32_t)x->inputs.at[k];
    }
    return true;
}

static bool read_layouts(struct graph_reader *r)
{
    SCOPED(names_free) struct names tensor_names = {0}, op_names = {0};
    OWNED struct stated_tensor *tensors = mem_zeroed((size_t)r->tensors.count + 1, sizeof *tensors);
    OWNED struct stated_op *ops = mem_zeroed((size_t)r->ops.count + 1, sizeof *ops);
    bool ok = true;
    for (int32_t t = 0; t < r->p->graph->tensor_count; t++)
        (void)names_add(&tensor_names, r->p->graph->tensors[t].name, t);
    for (int32_t o = 0; o < r->p->graph->op_count; o++)
        (void)names_add(&op_names, r->p->graph->ops[o].name, o);
    for (int32_t i = 0; ok && i < r->tensors.count; i++) ok = state_tensor(r, &tensor_names, i, &tensors[i]);
    for (int32_t i = 0; ok && i < r->ops.count; i++) ok = state_op(r, &op_names, i, &ops[i]);
    if (ok)
        r->p->own_layouts = layouts_stated(r->p->graph, tensors, r->tensors.count, ops, r->ops.count, r->st);
    r->p->layouts = r->p->own_layouts;
    return ok && r->p->layouts;
}

/* A split of less than two slices is an error: writers omit it. */
static bool take_splits(const struct int_list *rows, struct lx_coeff_split *out, int *count)
{
    if (rows->count / 2 > LX_MAX_RANK) return false;
    for (*count = 0; *count < rows->count / 2; (*count)++) {
        out[*count] = (struct lx_coeff_split){rows->at[2 * *count], rows->at[2 * *count + 1]};
        if (out[*count].split < 2) return false;
    }
    return true;
}

static bool take_all_splits(const struct graph_reader *r, struct lx_coeff_splits *out)
{
    for (int32_t i = 0; i < r->ops.count; i++) {
        const struct plan_op *x = (const struct plan_op *)r->ops.at + i;
        if (x->front != -1 && !plan_in_range(r, r->ops.where[i], "front", x->front, 1, LX_INT_MAX))
            return false;
        out[i].front = x->front == -1 ? 0 : x->front;
        if (!take_splits(&x->output_splits, out[i].output, &out[i].output_count) ||
            !take_splits(&x->reduction_splits, out[i].reduction, &out[i].reduction_count))
            return json_error(r->j, r->ops.where[i], r->st, LX_E_MISMATCH,
                              "op %s has more splits than a tensor has dimensions, or one of less than two "
                              "slices",
                              x->name);
    }
    return true;
}

static bool read_traffic(struct graph_reader *r)
{
    struct lx_plan *p = r->p;
    p->traffic = arena_array(p->memory, (size_t)r->ops.count, sizeof *p->traffic);
    p->hbm_address = arena_array(p->memory, (size_t)r->tensors.count, sizeof *p->hbm_address);
    for (int32_t t = 0; t < r->tensors.count; t++) {
        p->hbm_address[t] = ((const struct plan_tensor *)r->tensors.at)[t].hbm;
        if (!plan_in_range(r, r->tensors.where[t], "hbm", p->hbm_address[t], -1, LX_INT_MAX)) return false;
    }
    for (int32_t o = 0; o < r->ops.count; o++) {
        const struct plan_op *x = (const struct plan_op *)r->ops.at + o;
        p->traffic[o] = (struct lx_op_traffic){x->hbm_read,    x->hbm_written,   x->ring,
                                               x->reduce_ring, x->lx_read,       x->lx_written,
                                               x->device_us,   x->end_to_end_us, x->cores};
    }
    return true;
}

/* Reads cuts, moves or loaded copies: pairs of tensor and op. */
static bool plan_read_graph_take_cuts(const struct graph_reader *r, const char *key,
                                      const struct int_list *rows, struct cut *out)
{
    const struct json_value *at = json_find(r->graph, key);
    for (int32_t i = 0; i < rows->count / 2; i++) {
        const int64_t *row = &rows->at[2 * i];
        if (!plan_in_range(r, at, "a tensor of these", row[0], 0, r->tensors.count) ||
            !plan_in_range(r, at, "an op of these", row[1], 0, r->ops.count))
            return false;
        out[i] = (struct cut){(int32_t)row[0], (int32_t)row[1]};
    }
    /* Drafts need them sorted. */
    for (int32_t i = 2; i < rows->count; i += 2) {
        const int64_t *x = &rows->at[i], *before = x - 2;
        if (x[0] > before[0] || (x[0] == before[0] && x[1] > before[1])) continue;
        return json_error(r->j, json_find(r->graph, key), r->st, LX_E_MISMATCH,
                          "%s must ascend and have nothing twice", key);
    }
    return true;
}

/* Reads the borders of bundles. Without bundles in the file, the rule of stays/decided.c sets them. */
static bool read_bundles(const struct graph_reader *r, int32_t **borders)
{
    struct lx_plan *p = r->p;
    struct records from;
    *borders = NULL;
    if (!json_find(r->graph, "bundles")) return true;
    if (!plan_read_records(r->j, r->graph, "bundles", PLAN_BUNDLE, p->memory, &from, r->st)) return false;
    struct lx_bundle *bundles = arena_array(p->memory, (size_t)from.count, sizeof *bundles);
    *borders = arena_array(p->memory, (size_t)from.count, sizeof **borders);
    if (from.count == 0 && r->ops.count > 0)
        return json_error(r->j, json_find(r->graph, "bundles"), r->st, LX_E_MISMATCH,
                          "there are ops, but no bundle has them; the first begins with op 0");
    p->bundles = bundles;
    p->bundle_count = from.count;
    const struct lx_graph *g = p->layouts->graph;
    for (int32_t i = 0; i < from.count; i++) {
        const struct plan_bundle *x = (const struct plan_bundle *)from.at + i;
        int64_t least = i > 0 ? bundles[i - 1].first + 1 : 0;
        if (!plan_in_range(r, from.where[i], "first", x->first, least, i > 0 ? r->ops.count : 1))
            return false;
        bundles[i] = (struct lx_bundle){.first = (int32_t)x->first,
                                        .count = r->ops.count - (int32_t)x->first,
                                        .is_extern = g->ops[x->first].kind->traits & LX_WIPES,
                                        .non_terminal = x->non_terminal,
                                        .tensors = x->tensors,
                                        .operands = x->operands,
                                        .cores = x->cores,
                                        .device_us = x->device_us,
                                        .end_to_end_us = x->end_to_end_us};
        (*borders)[i] = bundles[i].first;
        if (i > 0) bundles[i - 1].count = bundles[i].first - bundles[i - 1].first;
    }
    return true;
}

/* Reads the decisions: cuts, moves, loaded copies, borders of bundles. */
static bool plan_read_graph_read_decisions(const struct graph_reader *r, const struct plan_graph *graph)
{
    struct lx_plan *p = r->p;
    int32_t *borders;
    if (!read_bundles(r, &borders)) return false;
    struct cut *cuts = arena_array(p->memory, (size_t)graph->cuts.count / 2, sizeof *cuts);
    struct cut *moves = arena_array(p->memory, (size_t)graph->moves.count / 2, sizeof *moves);
    struct cut *loaded = arena_array(p->memory, (size_t)graph->loaded.count / 2, sizeof *loaded);
    if (!plan_read_graph_take_cuts(r, "cuts", &graph->cuts, cuts) ||
        !plan_read_graph_take_cuts(r, "moves", &graph->moves, moves) ||
        !plan_read_graph_take_cuts(r, "loaded", &graph->loaded, loaded))
        return false;
    struct decisions how = {.passes = p->passes,
                            .cuts = cuts,
                            .cut_count = graph->cuts.count / 2,
                            .moves = moves,
                            .move_count = graph->moves.count / 2,
                            .loaded = loaded,
                            .loaded_count = graph->loaded.count / 2,
                            .borders = borders,
                            .border_count = p->bundle_count};
    struct lx_access *accesses =
        arena_copy_array(p->memory, p->accesses, (size_t)p->access_at[r->ops.count], sizeof *accesses);
    plan_read_holds(r, accesses, &how);
    p->accesses = accesses;
    p->how = arena_copy_array(p->memory, &how, 1, sizeof how);
    return true;
}

static bool read_syncs(const struct graph_reader *r, const struct int_list *rows)
{
    const struct json_value *at = json_find(r->graph, "syncs");
    if (!at) return true;
    struct lx_sync *syncs = arena_array(r->p->memory, (size_t)rows->count / 2, sizeof *syncs);
    for (int32_t i = 0; i < rows->count / 2; i++) {
        if (!plan_in_range(r, at, "the op of a sync", rows->at[2 * i], 0, r->ops.count) ||
            !plan_in_range(r, at, "the switch of a sync", rows->at[2 * i + 1], 0, 2))
            return false;
        syncs[i] = (struct lx_sync){(int32_t)rows->at[2 * i], rows->at[2 * i + 1] == 1};
    }
    r->p->syncs = syncs;
    r->p->sync_count = rows->count / 2;
    return true;
}

static bool plan_read_graph_read_parts(struct graph_reader *r, struct plan_graph *graph)
{
    struct arena *memory = r->p->memory;
    if (!plan_read_record(r->j, r->graph, PLAN_GRAPH, graph, memory, r->st) ||
        !plan_read_passes(r->j, r->graph, &r->p->passes, r->st) ||
        !plan_read_records(r->j, r->graph, "tensors", PLAN_TENSOR, memory, &r->tensors, r->st) ||
        !plan_read_records(r->j, r->graph, "ops", PLAN_OP, memory, &r->ops, r->st) || !read_layouts(r) ||
        !plan_read_nests(r))
        return false;
    OWNED struct lx_coeff_splits *splits = mem_zeroed((size_t)r->ops.count + 1, sizeof *splits);
    int32_t wrong = -1;
    lx_status why = {0};
    bool ok = take_all_splits(r, splits);
    if (ok)
        r->p->divisions = r->p->own_divisions = lx_divisions_stated(r->p->layouts, graph->cores, r->p->nests,
                                                                    r->p->nest_count, splits, &wrong, &why);
    if (!ok) return false;
    if (!r->p->divisions && wrong < 0) return json_error(r->j, r->graph, r->st, why.code, "%s", why.text);
    if (!r->p->divisions)
        return json_error(r->j, r->ops.where[wrong], r->st, status_cause(&why, LX_E_MISMATCH), "%s",
                          why.text);
    return plan_read_transfers(r) && plan_read_stays(r) && plan_read_graph_read_decisions(r, graph) &&
           read_traffic(r) && read_syncs(r, &graph->syncs) &&
           plan_read_launching(r->j, r->graph, graph, &r->p->launch, r->st) &&
           plan_read_launches(r->j, r->graph, r->p, r->st);
}

bool plan_read_graph(const struct json *j, const struct json_value *root, const struct records *buffers,
                     struct lx_plan *p, lx_status *st)
{
    struct graph_reader r = {
        .j = j, .graph = json_find(root, "graph"), .buffers = *buffers, .p = p, .st = st};
    struct plan_graph graph;
    if (!r.graph)
        return json_error(j, root, st, LX_E_SCHEMA,
                          "the key \"graph\" is missing here; plan the pattern again");
    if (!plan_read_graph_read_parts(&r, &graph)) return false;
    p->figures.perfect_hbm_bytes = graph.perfect_hbm_bytes;
    p->figures.ring_bytes = graph.ring_bytes;
    p->figures.sync_times = graph.sync_times;
    p->figures.device_us = graph.device_us;
    p->figures.end_to_end_us = graph.end_to_end_us;
    p->figures.bound_us = isnan(graph.bound_us) ? 0 : graph.bound_us;
    const int64_t *imported = graph.imported.at;
    if (graph.imported.count == 5)
        p->imported = (struct lx_imported){imported[0], imported[1], imported[2], imported[3], imported[4]};
    p->pool_at = graph.pool_at;
    p->pool_bytes = graph.pool_bytes;
    p->segment_bytes = graph.segment_bytes;
    return true;
}
