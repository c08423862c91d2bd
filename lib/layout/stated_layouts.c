#include "layout/stated_layouts.h"
#include "graph/builder.h"

struct statement {
    const struct lx_graph *pattern;
    const struct stated_tensor *tensors;
    const struct stated_op *ops;
    int32_t tensor_count, op_count;
    lx_status *st;
};

void layout_state(const struct lx_layout *l, struct stated_tensor *out)
{
    int n = l->rank > 0 ? l->rank - 1 : 0; /* entries of the order: host dimensions, then -1 if sparse */
    bool by_row = l->host_rank > 1 && l->stick_dim >= 0 && l->host_dim[n - 1] == l->stick_dim;
    out->order_count = l->host_rank == 0 ? 0 : n;
    memset(out->extents, 0, sizeof out->extents);
    for (int i = 0; i < out->order_count; i++) {
        int device = i == n - 1 ? n : by_row ? i : i == 0 ? n - 1 : i - 1;
        int dim = out->order[i] = l->host_dim[device];
        if (dim >= 0 && dim != l->stick_dim && l->size[device] != l->host_shape[dim])
            out->extents[dim] = l->size[device];
    }
    if (by_row) out->order[out->order_count++] = LX_ROW_BY_ROW;
}

static bool stated_layouts_add_ops(const struct statement *s, struct graph_builder *b)
{
    const struct lx_op turn = {.kind = lx_kind_find("restickify")};
    for (int32_t o = 0; o < s->op_count; o++) {
        const struct stated_op *x = &s->ops[o];
        struct lx_op op = x->origin < 0 ? turn : s->pattern->ops[x->origin];
        if (x->input_count != (x->origin < 0 ? 1 : op.input_count))
            return status_set(s->st, LX_E_MISMATCH, "op %s has %d inputs here", x->name, x->input_count);
        op.name = x->name;
        op.input_count = x->input_count;
        op.inputs = x->inputs;
        op.output = x->outputs[0];
        /* Of several results, keep those with a tensor in the file; dead ones are absent. */
        const struct lx_op all = op;
        int which[LX_MAX_OUTPUTS];
        bool there = true, several = op.output_count > 1 || x->output_count > 1;
        for (int i = 0; several && i < x->output_count; i++) {
            which[i] = op_operand_made(&all, s->tensors[x->outputs[i]].origin) - all.input_count;
            there &= which[i] >= 0;
        }
        if (several && (!there || !op_with_results(&all, which, x->outputs, x->output_count, &op)))
            return status_set(s->st, LX_E_MISMATCH,
                              "op %s does not write results here that the pattern's op has, in its order",
                              x->name);
        b->here = b->here_einsum = (struct place){op.line, 1};
        if (!builder_op(b, &op, s->st)) return false;
    }
    return true;
}

static const struct lx_graph *running_graph(const struct statement *s)
{
    struct graph_builder b = {0};
    builder_begin(&b, s->pattern->file, s->pattern->name);
    b.unhashed = true;
    b.graph->device = s->pattern->device;
    b.graph->summary = arena_string(b.memory, s->pattern->summary);
    b.graph->target_hbm_bytes = s->pattern->target_hbm_bytes;
    bool ok = true;
    for (int32_t t = 0; ok && t < s->tensor_count; t++) {
        const struct stated_tensor *x = &s->tensors[t];
        const struct lx_tensor *old = &s->pattern->tensors[x->origin];
        b.here = (struct place){old->line, 1};
        int32_t made = builder_tensor(&b, x->name, x->is_copy ? LX_INTERMEDIATE : old->role, old->dtype,
                                      old->rank, old->shape, old->bytes, s->st);
        ok = made >= 0;
        if (!ok || x->is_copy) continue;
        b.tensors.at[made].memory = old->memory;
        b.tensors.at[made].placing = old->placing;
    }
    if (ok && stated_layouts_add_ops(s, &b)) return builder_finish(&b, s->st);
    builder_abandon(&b);
    return NULL;
}

/* Lists added restickifies with the elements they move, and padded rows. */
static void note_additions(const struct statement *s, struct lx_layouts *l)
{
    size_t added = 0, padded = 0;
    struct lx_restickify *r = arena_array(l->memory, (size_t)s->op_count, sizeof *r);
    struct lx_padding *p = arena_array(l->memory, (size_t)s->tensor_count * LX_MAX_RANK, sizeof *p);
    for (int32_t o = 0; o < s->op_count; o++) {
        const struct lx_op *op = &l->graph->ops[o];
        if (s->ops[o].origin >= 0) continue;
        int64_t elements = lx_layout_elements(&l->layouts[op->output]);
        int32_t reader = -1; /* the next op that reads the copy */
        for (int32_t n = o + 1; reader < 0 && n < l->graph->op_count; n++)
            for (int i = 0; i < l->graph->ops[n].input_count; i++)
                if (l->graph->ops[n].inputs[i] == op->output) reader = n;
        r[added++] = (struct lx_restickify){o, reader, op->inputs[0], op->output, elements};
        l->moved_elements += elements;
    }
    for (int32_t t = 0; t < s->tensor_count; t++)
        for (int d = 0; d < l->layouts[t].host_rank; d++)
            if (s->tensors[t].extents[d])
                p[padded++] =
                    (struct lx_padding){-1, t, d, l->layouts[t].host_shape[d], s->tensors[t].extents[d]};
    l->restickifies = r;
    l->restickify_count = (int32_t)added;
    l->paddings = p;
    l->padding_count = (int32_t)padded;
}

static bool stated_layouts_fill(const struct statement *s, struct lx_layouts *l)
{
    struct lx_layout *layouts = arena_array(l->memory, (size_t)s->tensor_count, sizeof *layouts);
    int32_t *origin = arena_array(l->memory, (size_t)s->tensor_count, sizeof *origin);
    int32_t *op_origin = arena_array(l->memory, (size_t)s->op_count, sizeof *op_origin);
    signed char *stick_var = arena_array(l->memory, (size_t)s->op_count, sizeof *stick_var);
    for (int32_t t = 0; t < s->tensor_count; t++) {
        const struct stated_tensor *x = &s->tensors[t];
        const struct lx_tensor *old = &s->pattern->tensors[x->origin];
        lx_status why = {0};
        origin[t] = x->origin;
        if (old->rank < 0) continue; /* only its bytes are known */
        if (!lx_layout_make(old->dtype, old->rank, old->shape, NULL, x->order, x->order_count,
                            s->pattern->device.stick_bytes, &layouts[t], &why))
            return status_set(s->st, status_cause(&why, LX_E_LAYOUT), "tensor %s: %s", x->name, why.text);
        for (int d = 0; d < old->rank; d++)
            if (x->extents[d] && !lx_layout_pad(&layouts[t], d, x->extents[d]))
                return status_set(s->st, LX_E_LAYOUT, "tensor %s: dimension %d cannot have %lld positions",
                                  x->name, d, (long long)x->extents[d]);
    }
    for (int32_t o = 0; o < s->op_count; o++) {
        op_origin[o] = s->ops[o].origin;
        stick_var[o] = (signed char)s->ops[o].stick_var;
    }
    l->layouts = layouts;
    l->origin = origin;
    l->op_origin = op_origin;
    l->stick_var = stick_var;
    l->graph = running_graph(s);
    if (l->graph) note_additions(s, l);
    return l->graph != NULL;
}

struct lx_layouts *layouts_stated(const struct lx_graph *pattern, const struct stated_tensor *tensors,
                                  int32_t tensor_count, const struct stated_op *ops, int32_t op_count,
                                  lx_status *st)
{
    struct statement s = {pattern, tensors, ops, tensor_count, op_count, st};
    struct lx_layouts *l = mem_zeroed(1, sizeof *l);
    l->memory = mem_zeroed(1, sizeof *l->memory);
    if (stated_layouts_fill(&s, l)) return l;
    lx_layouts_free(l);
    return NULL;
}
