/* Values of a pattern in the order of its file. */
#include "device/program.h"
#include "base/fail.h"
#include "layout/op_index.h"

#include <string.h>

bool op_keeps(const struct lx_op *op)
{
    return op_is_insert(op);
}

bool program_make(const struct lx_graph *g, struct arena *memory, struct program *out, lx_status *st)
{
    size_t count = 0, ops = (size_t)g->op_count, tensors = (size_t)g->tensor_count;
    for (int32_t o = 0; o < g->op_count; o++) count += (size_t)g->ops[o].input_count;
    *out = (struct program){.pattern = g, .value_count = g->tensor_count + g->op_count};
    out->input_at = arena_array(memory, ops + 1, sizeof *out->input_at);
    out->inputs = arena_array(memory, count, sizeof *out->inputs);
    out->kept = arena_array(memory, ops, sizeof *out->kept);
    out->final = arena_array(memory, tensors, sizeof *out->final);
    if (!out->input_at || !out->inputs || !out->kept || !out->final) return status_no_memory(st);
    for (int32_t t = 0; t < g->tensor_count; t++) out->final[t] = t;
    int32_t at = 0;
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        out->input_at[o] = at;
        for (int i = 0; i < op->input_count; i++) out->inputs[at++] = out->final[op->inputs[i]];
        out->kept[o] = op_keeps(op) ? out->final[op->output] : -1;
        out->final[op->output] = g->tensor_count + o;
    }
    out->input_at[ops] = at;
    return true;
}

int32_t value_tensor(const struct program *p, int32_t value)
{
    int32_t tensors = p->pattern->tensor_count;
    return value < tensors ? value : p->pattern->ops[value - tensors].output;
}

int32_t program_input(const struct program *p, int32_t op, int i)
{
    return p->inputs[p->input_at[op] + i];
}

bool device_layout(const struct lx_graph *g, const struct lx_layout *planned, int32_t tensor,
                   struct lx_layout *out, lx_status *st)
{
    if (planned && planned->rank > 0) {
        *out = *planned;
        return true;
    }
    return lx_layout_make(LX_INT8, 1, &g->tensors[tensor].bytes, NULL, NULL, 0, g->device.stick_bytes, out,
                          st);
}

int64_t layout_items(const struct lx_layout *l)
{
    int64_t n = 1;
    for (int d = 0; d < l->host_rank; d++) n *= l->host_shape[d];
    return n;
}
