/* The graph of a plan for Model Explorer: kernels and nests are its layers, edges are tensors. All values
 * are texts. */
#include "export/export_rows.h"

enum node_kind { NODE_OP, NODE_TENSOR, NODE_BUFFER };

/* A node: an op (in order), input or output tensor of a graph, or a buffer of a list. Ids are numbers; names
 * of the file occur only in labels. */
struct node {
    enum node_kind kind;
    int32_t number;
};

static bool model_explorer_next_node(const struct lx_plan *p, int32_t *i, struct node *out)
{
    const struct lx_graph *g = p->layouts ? p->layouts->graph : NULL;
    if (!g) {
        *out = (struct node){NODE_BUFFER, *i};
        return (*i)++ < p->problem.count;
    }
    if (*i < g->op_count) {
        *out = (struct node){NODE_OP, (*i)++};
        return true;
    }
    for (; *i < g->op_count + g->tensor_count; ++*i)
        if (g->tensors[*i - g->op_count].role != LX_INTERMEDIATE) break;
    *out = (struct node){NODE_TENSOR, *i - g->op_count};
    return (*i)++ < g->op_count + g->tensor_count;
}

static void model_explorer_add_node_id(struct text *out, struct node n)
{
    static const char *const words[] = {[NODE_OP] = "op", [NODE_TENSOR] = "tensor", [NODE_BUFFER] = "buffer"};
    text_format(out, "\"%s %d\"", words[n.kind], (int)n.number);
}

static void model_explorer_add_graph_id(struct text *out, const struct lx_plan *p)
{
    text_json_string(out, p->graph->name && *p->graph->name ? p->graph->name : "plan");
}

/* The place of an operand of an op (`operand` -1: of its output), of a tensor, of a buffer. */
static void model_explorer_add_place(struct text *out, const struct lx_plan *p, struct node n, int operand)
{
    int32_t stay = n.kind == NODE_BUFFER ? n.number : -1, tensor = n.number;
    if (n.kind == NODE_OP) {
        if (operand < 0) operand = p->layouts->graph->ops[n.number].input_count;
        stay = lx_plan_place(p, n.number, operand);
        tensor = p->accesses[p->access_at[n.number] + operand].tensor;
    }
    if (n.kind == NODE_BUFFER && p->answer.address[stay] < 0)
        text_add(out, "off chip");
    else
        text_format(out, "%s at %" PRId64,
                    n.kind == NODE_BUFFER ? "on chip"
                    : stay >= 0           ? "LX"
                                          : "HBM",
                    stay >= 0 ? p->answer.address[stay] : p->hbm_address[tensor]);
}

struct nodes {
    const struct lx_plan *p;
    struct text *out;
    const char *between; /* separator of attributes and edges */
    int32_t *writer;     /* per tensor: the op that last wrote it; -1: none */
};

static void model_explorer_begin_attribute(struct nodes *x, const char *key)
{
    text_format(x->out, "%s{\"key\": \"%s\", \"value\": ", x->between, key);
    x->between = ", ";
}

static void model_explorer_add_word(struct nodes *x, const char *key, const char *value)
{
    model_explorer_begin_attribute(x, key);
    text_json_string(x->out, value);
    text_add(x->out, "}");
}

static void model_explorer_add_number(struct nodes *x, const char *key, int64_t value)
{
    model_explorer_begin_attribute(x, key);
    text_format(x->out, "\"%" PRId64 "\"}", value);
}

static void model_explorer_add_attributes(struct nodes *x, struct node n)
{
    const struct lx_plan *p = x->p;
    if (n.kind == NODE_BUFFER) {
        const struct lx_buffer *b = &p->problem.buffers[n.number];
        model_explorer_add_number(x, "size", b->size);
        model_explorer_add_number(x, "start", b->start);
        model_explorer_add_number(x, "end", b->end);
        model_explorer_add_number(x, "cost", b->spill_cost);
        if (p->reason[n.number]) model_explorer_add_word(x, "reason", p->reason[n.number]);
        return;
    }
    if (n.kind == NODE_TENSOR) {
        const struct lx_tensor *one = &p->layouts->graph->tensors[n.number];
        model_explorer_add_word(x, "role", lx_role_word(one->role));
        model_explorer_add_word(x, "dtype", lx_dtype_word(one->dtype));
        model_explorer_add_number(x, "bytes", one->bytes);
        return;
    }
    const struct lx_op_traffic *t = &p->traffic[n.number];
    const struct lx_op *op = &p->layouts->graph->ops[n.number];
    const struct lx_division *d = &p->divisions->at[n.number];
    model_explorer_add_word(x, "kind", op->kind->name);
    if (op->einsum) model_explorer_add_word(x, "einsum", op->einsum);
    model_explorer_add_number(x, "tick", n.number);
    model_explorer_add_number(x, "cores", t->cores);
    const char *comma = ""; /* "m/4, n/8" */
    model_explorer_begin_attribute(x, "splits");
    text_add(x->out, "\"");
    for (int k = 0; k < d->split_count; k++) {
        if (d->splits[k].split < 2) continue;
        text_format(x->out, "%s%c/%" PRId64, comma, d->splits[k].letter, d->splits[k].split);
        comma = ", ";
    }
    text_add(x->out, "\"}");
    model_explorer_add_number(x, "HBM bytes", t->hbm_read + t->hbm_written);
    model_explorer_begin_attribute(x, "device us");
    text_format(x->out, "\"%.9g\"}", t->device_us);
}

static void model_explorer_add_edge(struct nodes *x, struct node from, int input)
{
    text_format(x->out, "%s{\"sourceNodeId\": ", x->between);
    model_explorer_add_node_id(x->out, from);
    text_format(x->out, ", \"sourceNodeOutputId\": \"0\", \"targetNodeInputId\": \"%d\"}", input);
    x->between = ", ";
}

/* Edges: inputs of an op, the writer of an output, the buffer whose memory is reused. An input comes from its
 * last writer, else from the node of an input tensor. */
static void model_explorer_add_edges(struct nodes *x, struct node n)
{
    const struct lx_plan *p = x->p;
    int32_t first = n.kind == NODE_OP ? p->access_at[n.number] : 0,
            end = n.kind == NODE_OP ? p->access_at[n.number + 1] : 0;
    text_add(x->out, ", \"incomingEdges\": [");
    x->between = "";
    if (n.kind == NODE_BUFFER && p->took_slot_of[n.number] >= 0)
        model_explorer_add_edge(x, (struct node){NODE_BUFFER, p->took_slot_of[n.number]}, 0);
    if (n.kind == NODE_TENSOR && x->writer[n.number] >= 0)
        model_explorer_add_edge(x, (struct node){NODE_OP, x->writer[n.number]}, 0);
    for (int32_t a = first; a < end; a++) {
        int32_t tensor = p->accesses[a].tensor, op = x->writer[tensor];
        if (!p->accesses[a].reads) continue;
        if (op >= 0)
            model_explorer_add_edge(x, (struct node){NODE_OP, op}, (int)(a - first));
        else if (lx_role_arrives(p->layouts->graph->tensors[tensor].role))
            model_explorer_add_edge(x, (struct node){NODE_TENSOR, tensor}, (int)(a - first));
    }
    text_add(x->out, "]");
    for (int32_t a = first; a < end; a++)
        if (p->accesses[a].writes) x->writer[p->accesses[a].tensor] = n.number;
}

static void model_explorer_add_metadata(struct nodes *x, int32_t op, bool of_inputs)
{
    const struct lx_plan *p = x->p;
    const char *comma = "";
    text_format(x->out, ", \"%s\": [", of_inputs ? "inputsMetadata" : "outputsMetadata");
    for (int32_t a = p->access_at[op], output = 0; a < p->access_at[op + 1]; a++) {
        const struct lx_access *one = &p->accesses[a];
        if (of_inputs ? !one->reads : !one->writes) continue;
        text_format(x->out, "%s{\"id\": \"%d\", \"attrs\": [", comma,
                    of_inputs ? (int)(a - p->access_at[op]) : (int)output++);
        x->between = "";
        model_explorer_add_word(x, of_inputs ? "__tensor_tag" : "tensor_name",
                                p->layouts->graph->tensors[one->tensor].name);
        model_explorer_begin_attribute(x, "place");
        text_add(x->out, "\"");
        model_explorer_add_place(x->out, p, (struct node){NODE_OP, op}, (int)(a - p->access_at[op]));
        text_add(x->out, "\"}]}");
        comma = ", ";
    }
    text_add(x->out, "]");
}

static int32_t model_explorer_kernel_of(const struct lx_plan *p, int32_t op)
{
    int32_t k = 0;
    while (k + 1 < p->bundle_count && p->bundles[k + 1].first <= op) k++;
    return k;
}

static void model_explorer_add_node(struct nodes *x, struct node n)
{
    text_add(x->out, "      {\"id\": ");
    model_explorer_add_node_id(x->out, n);
    text_add(x->out, ", \"label\": ");
    text_json_string(x->out, n.kind == NODE_OP       ? x->p->layouts->graph->ops[n.number].name
                             : n.kind == NODE_TENSOR ? x->p->layouts->graph->tensors[n.number].name
                                                     : x->p->problem.buffers[n.number].name);
    const struct lx_plan *p = x->p;
    int32_t nest = n.kind == NODE_OP ? nest_of_op(p->nests, p->nest_count, n.number) : -1;
    text_add(x->out, ", \"namespace\": \"");
    if (n.kind == NODE_OP) text_format(x->out, "kernel %d", (int)model_explorer_kernel_of(p, n.number) + 1);
    if (nest >= 0) text_format(x->out, "/nest %d", (int)nest + 1);
    if (n.kind == NODE_TENSOR) text_add(x->out, lx_role_word(p->layouts->graph->tensors[n.number].role));
    text_add(x->out, "\"");
    text_add(x->out, ", \"attrs\": [");
    x->between = "";
    model_explorer_begin_attribute(x, "place");
    text_add(x->out, "\"");
    model_explorer_add_place(x->out, x->p, n, -1);
    text_add(x->out, "\"}");
    model_explorer_add_attributes(x, n);
    text_add(x->out, "]");
    model_explorer_add_edges(x, n);
    if (n.kind == NODE_OP) {
        model_explorer_add_metadata(x, n.number, true);
        model_explorer_add_metadata(x, n.number, false);
    }
    text_add(x->out, "}");
}

bool explorer_graph_write(const struct lx_plan *p, const struct lx_plan *other, struct text *out,
                          lx_status *st)
{
    int32_t tensors = p->layouts ? p->layouts->graph->tensor_count : 0, i = 0;
    struct nodes x = {.p = p, .out = out, .writer = mem_alloc(((size_t)tensors + 1) * sizeof *x.writer)};
    struct node n;
    (void)other, (void)st;
    for (int32_t t = 0; t < tensors; t++) x.writer[t] = -1;
    text_add(out, "{\"label\": ");
    model_explorer_add_graph_id(out, p);
    text_add(out, ",\n  \"graphs\": [{\"id\": ");
    model_explorer_add_graph_id(out, p);
    text_add(out, ",\n    \"nodes\": [");
    for (const char *between = "\n"; model_explorer_next_node(p, &i, &n); between = ",\n") {
        text_add(out, between);
        model_explorer_add_node(&x, n);
    }
    text_add(out, "\n    ],\n    \"groupNodeAttributes\": {"); /* loops of nests */
    for (i = 0; i < p->nest_count; i++) {
        const struct lx_nest *nest = &p->nests[i];
        text_format(out, "%s\"kernel %d/nest %d\": {\"loops\": \"", i ? ", " : "",
                    (int)model_explorer_kernel_of(p, nest->first) + 1, (int)i + 1);
        for (int l = 0; l < nest->level_count; l++)
            text_format(out, "%sx%" PRId64 " over %c", l ? ", " : "", nest->tiles[l],
                        nest_letter(p->layouts, nest, nest->first, l));
        text_add(out, "\"}");
    }
    text_add(out, "}}]\n}\n");
    mem_free(x.writer);
    return true;
}

/* Figures beside the nodes, one file per figure: { graph: { name, results: { node: { value } } } }.
 * Residency has a colour per node, the others are shades of a gradient. Lists have residency and bytes
 * only. */
enum figure { RESIDENCY, BYTES, TIME, CORES };

static const char *const figure_names[] = {[RESIDENCY] = "residency",
                                           [BYTES] = "HBM bytes",
                                           [TIME] = "predicted device time, us",
                                           [CORES] = "cores"};

/* False: the node has no such figure. The bytes of a list's buffer are its off-chip cost. */
static bool model_explorer_add_figure(const struct lx_plan *p, enum figure figure, struct node n,
                                      struct text *out)
{
    if (figure == RESIDENCY) {
        text_add(out, "\"");
        model_explorer_add_place(out, p, n, -1);
        text_format(out, "\", \"bgColor\": \"%s\"",
                    out->at[1] == 'L' || out->at[2] == 'n' ? "#a6dba0" : "#f4a582");
        return true;
    }
    if (n.kind == NODE_TENSOR || (n.kind == NODE_BUFFER && figure != BYTES)) return false;
    const struct lx_op_traffic *t = n.kind == NODE_OP ? &p->traffic[n.number] : NULL;
    if (figure == BYTES)
        text_format(out, "%" PRId64,
                    t                                 ? t->hbm_read + t->hbm_written
                    : p->answer.address[n.number] < 0 ? p->problem.buffers[n.number].spill_cost
                                                      : 0);
    else if (figure == TIME)
        text_format(out, "%.9g", t->device_us);
    else
        text_format(out, "%" PRId64, t->cores);
    return true;
}

static bool model_explorer_write_figure(const struct lx_plan *p, enum figure figure, struct text *out,
                                        lx_status *st)
{
    const char *between = "\n";
    struct node n;
    if (!p->layouts && figure > BYTES)
        return status_set(st, LX_E_UNSUPPORTED, "a list of buffers has no %s; plan a pattern with ops",
                          figure_names[figure]);
    text_add(out, "{");
    model_explorer_add_graph_id(out, p);
    text_format(out, ": {\"name\": \"%s\", \"results\": {", figure_names[figure]);
    for (int32_t i = 0; model_explorer_next_node(p, &i, &n);) {
        SCOPED(text_free) struct text value = {0};
        if (model_explorer_add_figure(p, figure, n, &value)) {
            text_format(out, "%s  ", between);
            model_explorer_add_node_id(out, n);
            text_format(out, ": {\"value\": %s}", value.at);
            between = ",\n";
        }
    }
    text_format(out, "\n}%s}}\n",
                figure == RESIDENCY
                    ? ""
                    : ", \"gradient\": [{\"stop\": 0, \"bgColor\": \"#fff7bc\"}, {\"stop\": 1, "
                      "\"bgColor\": \"#d95f0e\"}]");
    return true;
}

#define NODE_FIGURE(function, figure)                                                                        \
    bool function(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st)     \
    {                                                                                                        \
        (void)other;                                                                                         \
        return model_explorer_write_figure(p, figure, out, st);                                              \
    }

NODE_FIGURE(explorer_residency_write, RESIDENCY)
NODE_FIGURE(explorer_hbm_write, BYTES)
NODE_FIGURE(explorer_time_write, TIME)
NODE_FIGURE(explorer_cores_write, CORES)
