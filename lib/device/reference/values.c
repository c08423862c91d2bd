/* Values of a pattern in the order of its file. */
#include "device/reference/values.h"
#include "graph/op_params.h"
#include "graph/op_walks.h"
#include "layout/op_index.h"

bool op_keeps(const struct lx_op *op)
{
    return op_keeps_rest(op);
}

static uint64_t hash_string(uint64_t h, const char *s)
{
    return s ? hash_bytes(h, s, strlen(s) + 1) : hash_bytes(h, "", 1);
}

static uint64_t hash_array(uint64_t h, const int64_t *a, int count)
{
    return a ? hash_bytes(h, a, (size_t)count * sizeof *a) : hash_bytes(h, "", 1);
}

uint64_t program_identity(const struct lx_graph *g)
{
    uint64_t h = HASH_START;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        const struct lx_tensor *x = &g->tensors[t];
        int64_t facts[] = {x->role, x->dtype, x->rank, x->bytes};
        h = hash_array(hash_string(h, x->name), facts, 4);
        if (x->rank > 0) h = hash_array(h, x->shape, x->rank);
    }
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *x = &g->ops[o];
        int rank = g->tensors[x->output].rank;
        h = hash_string(hash_string(hash_string(h, x->name), x->kind->name), x->einsum);
        h = hash_bytes(h, x->inputs, (size_t)x->input_count * sizeof *x->inputs);
        h = hash_bytes(h, x->outputs, (size_t)x->output_count * sizeof *x->outputs);
        h = hash_bytes(h, &x->value, sizeof x->value);
        h = hash_bytes(h, &x->whole, sizeof x->whole);
        h = hash_array(hash_array(h, x->offset, rank), x->stride, rank);
        h = op_views_hash(op_params_hash(h, x->params), x);
        if (x->data) h = hash_bytes(h, x->data->numbers, (size_t)x->data->count * sizeof *x->data->numbers);
        if (x->data) h = hash_bytes(h, x->data->wholes, (size_t)x->data->count * sizeof *x->data->wholes);
    }
    return h;
}

void program_make(const struct lx_graph *g, struct arena *memory, struct program *out)
{
    size_t count = 0, ops = (size_t)g->op_count, tensors = (size_t)g->tensor_count;
    *out = (struct program){.pattern = g, .value_count = g->tensor_count};
    for (int32_t o = 0; o < g->op_count; o++) {
        count += (size_t)g->ops[o].input_count;
        out->value_count += g->ops[o].output_count;
    }
    out->made_at = arena_array(memory, ops, sizeof *out->made_at);
    out->tensor = arena_array(memory, (size_t)out->value_count, sizeof *out->tensor);
    out->input_at = arena_array(memory, ops + 1, sizeof *out->input_at);
    out->inputs = arena_array(memory, count, sizeof *out->inputs);
    out->kept = arena_array(memory, ops, sizeof *out->kept);
    out->final = arena_array(memory, tensors, sizeof *out->final);
    for (int32_t t = 0; t < g->tensor_count; t++) out->final[t] = out->tensor[t] = t;
    int32_t at = 0, value = g->tensor_count;
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        out->input_at[o] = at;
        for (int i = 0; i < op->input_count; i++) out->inputs[at++] = out->final[op->inputs[i]];
        out->kept[o] = op_keeps(op) ? out->final[op->output] : -1;
        out->made_at[o] = value;
        for (int i = 0; i < op->output_count; i++) {
            out->tensor[value] = op->outputs[i];
            out->final[op->outputs[i]] = value++;
        }
    }
    out->input_at[ops] = at;
    out->identity = program_identity(g);
}

int32_t program_made(const struct program *p, int32_t op, int32_t tensor)
{
    const struct lx_op *o = &p->pattern->ops[op];
    int made = op_operand_made(o, tensor);
    return p->made_at[op] + (made < 0 ? 0 : made - o->input_count);
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
