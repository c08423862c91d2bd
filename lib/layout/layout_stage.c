/* The whole layout stage: drops dead ops and results, chooses sticks, inserts restickifies; and writes the
 * result as JSON. */
#include "layout/propagate.h"

struct lx_layouts *lx_layouts_make(const struct lx_graph *g, enum lx_weights weights, lx_status *st)
{
    if (g->list) {
        status_set_at(st, LX_E_UNSUPPORTED, g->file, 0, 0,
                      "%s is a bare list of buffers; it has no tensors to lay out", g->name);
        return NULL;
    }
    struct lx_layouts *out = mem_zeroed(1, sizeof *out);
    struct arena *memory = out->memory = mem_zeroed(1, sizeof *memory);
    OWNED bool *alive = mem_zeroed((size_t)g->op_count + 1, sizeof *alive);
    struct lx_op *ops = arena_copy_array(memory, g->ops, (size_t)g->op_count, sizeof *ops);
    struct lx_graph live = *g;
    struct stick_plan plan;
    out->dead_ops = find_dead_ops(g, alive, ops, memory);
    live.ops = ops;
    bool ok = propagate_sticks(&live, alive, weights, memory, &plan, st) &&
              insert_restickifies(&live, alive, &plan, out, st);
    if (ok) out->moved_elements = plan.moved, out->moved_bound = plan.bound;
    if (ok) return out;
    lx_layouts_free(out);
    return NULL;
}

void lx_layouts_free(struct lx_layouts *l)
{
    if (!l) return;
    lx_graph_free(l->graph);
    if (l->memory) arena_free(l->memory);
    mem_free(l->memory);
    mem_free(l);
}

static void write_array(struct text *t, const char *key, const int64_t *at, int count)
{
    text_format(t, ", \"%s\": [", key);
    for (int i = 0; i < count; i++) text_format(t, "%s%lld", i ? ", " : "", (long long)at[i]);
    text_add(t, "]");
}

static void layout_stage_write_tensor(struct text *t, const struct lx_layouts *l, int32_t i)
{
    const struct lx_tensor *tensor = &l->graph->tensors[i];
    const struct lx_layout *y = &l->layouts[i];
    text_add(t, i ? ",\n    {\"name\": " : "\n    {\"name\": ");
    text_json_string(t, tensor->name);
    text_format(t, ", \"role\": \"%s\"", lx_role_word(tensor->role));
    if (y->rank == 0) {
        text_format(t, ", \"bytes\": %lld}", (long long)tensor->bytes);
        return;
    }
    text_format(t, ", \"dtype\": \"%s\"", lx_dtype_word(tensor->dtype));
    write_array(t, "shape", tensor->shape, tensor->rank);
    write_array(t, "device_size", y->size, y->rank);
    write_array(t, "stride_map", y->stride_map, y->rank);
    if (y->stick_dim >= 0) text_format(t, ", \"stick_dim\": %d", y->stick_dim);
    text_format(t, ", \"stick_elements\": %lld, \"device_bytes\": %lld}", (long long)y->stick_elements,
                (long long)lx_layout_bytes(y));
}

char *lx_layouts_to_json(const struct lx_layouts *l, size_t *length)
{
    struct text t = {0};
    const struct lx_graph *g = l->graph;
    text_add(&t, "{\n  \"lxplan\": 1,\n  \"kind\": \"layout\",\n  \"name\": ");
    text_json_string(&t, g->name);
    text_format(
        &t, ",\n  \"dead_ops\": %d,\n  \"moved_elements\": %lld,\n  \"moved_bound\": %lld,\n  \"tensors\": [",
        (int)l->dead_ops, (long long)l->moved_elements, (long long)l->moved_bound);
    for (int32_t i = 0; i < g->tensor_count; i++) layout_stage_write_tensor(&t, l, i);
    text_add(&t, "\n  ],\n  \"restickifies\": [");
    for (int32_t i = 0; i < l->restickify_count; i++) {
        const struct lx_restickify *r = &l->restickifies[i];
        text_add(&t, i ? ",\n    {\"op\": " : "\n    {\"op\": ");
        text_json_string(&t, g->ops[r->op].name);
        text_add(&t, ", \"before\": ");
        text_json_string(&t, g->ops[r->before].name);
        text_add(&t, ", \"from\": ");
        text_json_string(&t, g->tensors[r->from].name);
        text_add(&t, ", \"to\": ");
        text_json_string(&t, g->tensors[r->to].name);
        text_format(&t, ", \"elements\": %lld}", (long long)r->elements);
    }
    text_add(&t, "\n  ],\n  \"paddings\": [");
    for (int32_t i = 0; i < l->padding_count; i++) {
        const struct lx_padding *p = &l->paddings[i];
        text_add(&t, i ? ",\n    {\"op\": " : "\n    {\"op\": ");
        text_json_string(&t, g->ops[p->op].name);
        text_add(&t, ", \"tensor\": ");
        text_json_string(&t, g->tensors[p->tensor].name);
        text_format(&t, ", \"dim\": %d, \"from\": %lld, \"to\": %lld}", p->dim, (long long)p->from,
                    (long long)p->to);
    }
    text_add(&t, "\n  ]\n}\n");
    *length = t.length;
    return t.at;
}

/* A dead op or result reaches no output and no extern op. One pass from the last op: a full write ends the
 * tensor's old value, an insert does not. */

int32_t find_dead_ops(const struct lx_graph *g, bool *alive, struct lx_op *ops, struct arena *memory)
{
    OWNED bool *wanted = mem_zeroed((size_t)g->tensor_count + 1, sizeof *wanted);
    int32_t dead = 0;
    for (int32_t t = 0; t < g->tensor_count; t++) wanted[t] = lx_role_leaves(g->tensors[t].role);
    for (int32_t o = g->op_count; o-- > 0;) {
        const struct lx_op *op = &g->ops[o];
        int which[LX_MAX_OUTPUTS], count = 0;
        struct lx_op less;
        alive[o] = (op->kind->traits & LX_EXTERN) != 0;
        for (int i = op->input_count; !alive[o] && i < op_operand_count(op); i++)
            alive[o] = wanted[op_operand(op, i)];
        dead += !alive[o];
        if (!alive[o]) continue;
        if (op->output_count > 1) { /* drop results that no op reads, if the op may leave them out */
            int32_t *outputs = arena_array(memory, (size_t)op->output_count, sizeof *outputs);
            for (int i = 0; i < op->output_count; i++)
                if (wanted[op->outputs[i]]) which[count] = i, outputs[count++] = op->outputs[i];
            if (op_with_results(op, which, outputs, count, &less)) ops[o] = less;
        }
        for (int i = op->input_count; !op_keeps_rest(op) && i < op_operand_count(op); i++)
            wanted[op_operand(op, i)] = false;
        for (int i = 0; i < op->input_count; i++) wanted[op->inputs[i]] = true;
    }
    return dead;
}
