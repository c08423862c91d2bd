/* The graph of a plan for Model Explorer: kernels and nests are its layers, edges are tensors. All values are texts. */
#include "export/export_rows.h"
#include "base/fail.h"
#include "base/memory.h"

#include <inttypes.h>

enum node_kind { NODE_OP, NODE_TENSOR, NODE_BUFFER };

/* A node: of a graph an op (in order), or a tensor that arrives or leaves; of a list a buffer. Ids are made of numbers;
 * names of files stand in labels only. */
struct node {
    enum node_kind kind;
    int32_t number;
};

static bool next_node(const struct lx_plan *p, int32_t *i, struct node *out)
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

static void add_node_id(struct text *out, struct node n)
{
    static const char *const words[] = {[NODE_OP] = "op", [NODE_TENSOR] = "tensor", [NODE_BUFFER] = "buffer"};
    text_format(out, "\"%s %d\"", words[n.kind], (int)n.number);
}

static void add_graph_id(struct text *out, const struct lx_plan *p)
{
    text_json_string(out, p->graph->name && *p->graph->name ? p->graph->name : "plan");
}

/* Where an operand of an op is. */
static void model_explorer_add_place(struct text *out, const struct lx_plan *p, int32_t op, int operand)
{
    int32_t stay = lx_plan_place(p, op, operand);
    int32_t tensor = p->accesses[p->access_at[op] + operand].tensor;
    text_format(out, "%s at %" PRId64, stay >= 0 ? "LX" : "HBM",
                stay >= 0 ? p->answer.address[stay] : p->hbm_address[tensor]);
}

static void add_node_place(struct text *out, const struct lx_plan *p, struct node n)
{
    if (n.kind == NODE_OP)
        model_explorer_add_place(out, p, n.number, p->layouts->graph->ops[n.number].input_count);
    else if (n.kind == NODE_TENSOR)
        text_format(out, "HBM at %" PRId64, p->hbm_address[n.number]);
    else if (p->answer.address[n.number] < 0)
        text_add(out, "off chip");
    else
        text_format(out, "on chip at %" PRId64, p->answer.address[n.number]);
}

struct nodes {
    const struct lx_plan *p;
    struct text *out;
    const char *between; /* of attributes and edges */
    int32_t *writer;     /* per tensor: the last op so far that has written it; -1: none */
};

static void begin_attribute(struct nodes *x, const char *key)
{
    text_format(x->out, "%s{\"key\": \"%s\", \"value\": ", x->between, key);
    x->between = ", ";
}

static void model_explorer_add_word(struct nodes *x, const char *key, const char *value)
{
    begin_attribute(x, key);
    text_json_string(x->out, value);
    text_add(x->out, "}");
}

static void model_explorer_add_number(struct nodes *x, const char *key, int64_t value)
{
    begin_attribute(x, key);
    text_format(x->out, "\"%" PRId64 "\"}", value);
}

static void add_op_attributes(struct nodes *x, int32_t o)
{
    const struct lx_plan *p = x->p;
    const struct lx_op_traffic *t = &p->traffic[o];
    const struct lx_op *op = &p->layouts->graph->ops[o];
    model_explorer_add_word(x, "kind", op->kind->name);
    if (op->einsum) model_explorer_add_word(x, "einsum", op->einsum);
    model_explorer_add_number(x, "tick", o);
    model_explorer_add_number(x, "cores", t->cores);
    /* "m/4, n/8". */
    const char *comma = "";
    begin_attribute(x, "splits");
    text_add(x->out, "\"");
    for (int k = 0; k < p->divisions->at[o].split_count; k++) {
        if (p->divisions->at[o].splits[k].split < 2) continue;
        text_format(x->out, "%s%c/%" PRId64, comma, p->divisions->at[o].splits[k].letter,
                    p->divisions->at[o].splits[k].split);
        comma = ", ";
    }
    text_add(x->out, "\"}");
    model_explorer_add_number(x, "HBM bytes", t->hbm_read + t->hbm_written);
    begin_attribute(x, "device us");
    text_format(x->out, "\"%.9g\"}", t->device_us);
}

static void add_tensor_attributes(struct nodes *x, int32_t t)
{
    const struct lx_tensor *one = &x->p->layouts->graph->tensors[t];
    model_explorer_add_word(x, "role", lx_role_word(one->role));
    model_explorer_add_word(x, "dtype", lx_dtype_word(one->dtype));
    model_explorer_add_number(x, "bytes", one->bytes);
}

static void add_buffer_attributes(struct nodes *x, int32_t i)
{
    const struct lx_buffer *b = &x->p->problem.buffers[i];
    model_explorer_add_number(x, "size", b->size);
    model_explorer_add_number(x, "start", b->start);
    model_explorer_add_number(x, "end", b->end);
    model_explorer_add_number(x, "cost", b->spill_cost);
    if (x->p->reason[i]) model_explorer_add_word(x, "reason", x->p->reason[i]);
}

/* The node that wrote a tensor last: an op, or the tensor's own node. */
static struct node model_explorer_source_of(const struct nodes *x, int32_t tensor)
{
    if (x->writer[tensor] >= 0) return (struct node){NODE_OP, x->writer[tensor]};
    bool arrives = lx_role_arrives(x->p->layouts->graph->tensors[tensor].role);
    return (struct node){NODE_TENSOR, arrives ? tensor : -1};
}

static void add_edge(struct nodes *x, struct node from, int input)
{
    if (from.number < 0) return;
    text_format(x->out, "%s{\"sourceNodeId\": ", x->between);
    add_node_id(x->out, from);
    text_format(x->out, ", \"sourceNodeOutputId\": \"0\", \"targetNodeInputId\": \"%d\"}", input);
    x->between = ", ";
}

/* Edges: inputs of an op, the writer of an output, the buffer whose memory is reused. */
static void add_edges(struct nodes *x, struct node n)
{
    const struct lx_plan *p = x->p;
    text_add(x->out, ", \"incomingEdges\": [");
    x->between = "";
    if (n.kind == NODE_BUFFER && p->took_slot_of[n.number] >= 0)
        add_edge(x, (struct node){NODE_BUFFER, p->took_slot_of[n.number]}, 0);
    if (n.kind == NODE_TENSOR && x->writer[n.number] >= 0)
        add_edge(x, (struct node){NODE_OP, x->writer[n.number]}, 0);
    for (int32_t a = n.kind == NODE_OP ? p->access_at[n.number] : 0;
         n.kind == NODE_OP && a < p->access_at[n.number + 1]; a++)
        if (p->accesses[a].reads)
            add_edge(x, model_explorer_source_of(x, p->accesses[a].tensor),
                     (int)(a - p->access_at[n.number]));
    text_add(x->out, "]");
    for (int32_t a = n.kind == NODE_OP ? p->access_at[n.number] : 0;
         n.kind == NODE_OP && a < p->access_at[n.number + 1]; a++)
        if (p->accesses[a].writes) x->writer[p->accesses[a].tensor] = n.number;
}

static void add_metadata(struct nodes *x, int32_t op, bool of_inputs)
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
        begin_attribute(x, "place");
        text_add(x->out, "\"");
        model_explorer_add_place(x->out, p, op, (int)(a - p->access_at[op]));
        text_add(x->out, "\"}]}");
        comma = ", ";
    }
    text_add(x->out, "]");
}

static int32_t kernel_of(const struct lx_plan *p, int32_t op)
{
    int32_t k = 0;
    while (k + 1 < p->bundle_count && p->bundles[k + 1].first <= op) k++;
    return k;
}

static void model_explorer_add_node(struct nodes *x, struct node n)
{
    text_add(x->out, "      {\"id\": ");
    add_node_id(x->out, n);
    text_add(x->out, ", \"label\": ");
    text_json_string(x->out, n.kind == NODE_OP       ? x->p->layouts->graph->ops[n.number].name
                             : n.kind == NODE_TENSOR ? x->p->layouts->graph->tensors[n.number].name
                                                     : x->p->problem.buffers[n.number].name);
    const struct lx_plan *p = x->p;
    int32_t nest = n.kind == NODE_OP ? nest_of_op(p->nests, p->nest_count, n.number) : -1;
    text_add(x->out, ", \"namespace\": \"");
    if (n.kind == NODE_OP) text_format(x->out, "kernel %d", (int)kernel_of(p, n.number) + 1);
    if (nest >= 0) text_format(x->out, "/nest %d", (int)nest + 1);
    if (n.kind == NODE_TENSOR) text_add(x->out, lx_role_word(p->layouts->graph->tensors[n.number].role));
    text_add(x->out, "\"");
    text_add(x->out, ", \"attrs\": [");
    x->between = "";
    begin_attribute(x, "place");
    text_add(x->out, "\"");
    add_node_place(x->out, x->p, n);
    text_add(x->out, "\"}");
    (n.kind == NODE_OP       ? add_op_attributes
     : n.kind == NODE_TENSOR ? add_tensor_attributes
                             : add_buffer_attributes)(x, n.number);
    text_add(x->out, "]");
    add_edges(x, n);
    if (n.kind == NODE_OP) {
        add_metadata(x, n.number, true);
        add_metadata(x, n.number, false);
    }
    text_add(x->out, "}");
}

/* Loops of nests. */
static void add_groups(struct nodes *x)
{
    const struct lx_plan *p = x->p;
    text_add(x->out, "\n    ],\n    \"groupNodeAttributes\": {");
    for (int32_t i = 0; i < p->nest_count; i++) {
        const struct lx_nest *n = &p->nests[i];
        text_format(x->out, "%s\"kernel %d/nest %d\": {\"loops\": \"", i ? ", " : "",
                    (int)kernel_of(p, n->first) + 1, (int)i + 1);
        for (int l = 0; l < n->level_count; l++)
            text_format(x->out, "%sx%" PRId64 " over %c", l ? ", " : "", n->tiles[l],
                        nest_letter(p->layouts, n, n->first, l));
        text_add(x->out, "\"}");
    }
    text_add(x->out, "}}]\n}\n");
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
    add_graph_id(out, p);
    text_add(out, ",\n  \"graphs\": [{\"id\": ");
    add_graph_id(out, p);
    text_add(out, ",\n    \"nodes\": [");
    for (const char *between = "\n"; next_node(p, &i, &n); between = ",\n") {
        text_add(out, between);
        model_explorer_add_node(&x, n);
    }
    add_groups(&x);
    mem_free(x.writer);
    return true;
}

/* Figures beside the nodes of model_explorer.c, one file per figure: { graph: { name, results: { node: { value } } } }. */

struct figure {
    const char *name;
    /* False: the node has none. */
    bool (*add)(const struct lx_plan *p, struct node n, struct text *out);
    bool is_number; /* shown as a shade of a gradient */
    bool of_lists;
};

static bool add_residency(const struct lx_plan *p, struct node n, struct text *out)
{
    struct text place = {0};
    add_node_place(&place, p, n);
    bool on_chip = place.at && (place.at[0] == 'L' || place.at[1] == 'n');
    text_format(out, "\"%s\", \"bgColor\": \"%s\"", place.at ? place.at : "",
                on_chip ? "#a6dba0" : "#f4a582");
    text_free(&place);
    return true;
}

/* The cost of a list's buffer off chip. */
static bool node_data_add_bytes(const struct lx_plan *p, struct node n, struct text *out)
{
    int64_t bytes = 0;
    if (n.kind == NODE_TENSOR) return false;
    if (n.kind == NODE_OP) bytes = p->traffic[n.number].hbm_read + p->traffic[n.number].hbm_written;
    if (n.kind == NODE_BUFFER && p->answer.address[n.number] < 0)
        bytes = p->problem.buffers[n.number].spill_cost;
    text_format(out, "%" PRId64, bytes);
    return true;
}

static bool node_data_add_time(const struct lx_plan *p, struct node n, struct text *out)
{
    if (n.kind != NODE_OP) return false;
    text_format(out, "%.9g", p->traffic[n.number].device_us);
    return true;
}

static bool node_data_add_cores(const struct lx_plan *p, struct node n, struct text *out)
{
    if (n.kind != NODE_OP) return false;
    text_format(out, "%" PRId64, p->traffic[n.number].cores);
    return true;
}

static bool write_figure(const struct lx_plan *p, const struct figure *f, struct text *out, lx_status *st)
{
    const char *between = "\n";
    struct node n;
    if (!p->layouts && !f->of_lists)
        return status_set(st, LX_E_UNSUPPORTED, "a list of buffers has no %s; plan a pattern with ops",
                          f->name);
    text_add(out, "{");
    add_graph_id(out, p);
    text_format(out, ": {\"name\": \"%s\", \"results\": {", f->name);
    for (int32_t i = 0; next_node(p, &i, &n);) {
        struct text value = {0};
        if (f->add(p, n, &value)) {
            text_format(out, "%s  ", between);
            add_node_id(out, n);
            text_format(out, ": {\"value\": %s}", value.at ? value.at : "0");
            between = ",\n";
        }
        text_free(&value);
    }
    text_format(out, "\n}%s}}\n",
                f->is_number ? ", \"gradient\": [{\"stop\": 0, \"bgColor\": \"#fff7bc\"}, {\"stop\": 1, "
                               "\"bgColor\": \"#d95f0e\"}]"
                             : "");
    return true;
}

#define NODE_FIGURE(function, ...)                                                                           \
    bool function(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st)     \
    {                                                                                                        \
        static const struct figure figure = {__VA_ARGS__};                                                   \
        (void)other;                                                                                         \
        return write_figure(p, &figure, out, st);                                                            \
    }

NODE_FIGURE(explorer_residency_write, "residency", add_residency, false, true)
NODE_FIGURE(explorer_hbm_write, "HBM bytes", node_data_add_bytes, true, true)
NODE_FIGURE(explorer_time_write, "predicted device time, us", node_data_add_time, true, false)
NODE_FIGURE(explorer_cores_write, "cores", node_data_add_cores, true, false)
