/* Figures beside the nodes of model_explorer.c, one file per figure: { graph: { name, results: { node: { value } } } }. */
#include "export/export_rows.h"
#include "base/fail.h"
#include "export/explorer_nodes.h"

#include <inttypes.h>

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
    out->failed |= place.failed;
    text_free(&place);
    return true;
}

/* Of a list, what it costs that a buffer is off chip. */
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
        out->failed |= value.failed;
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
