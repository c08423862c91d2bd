#include "layout/stated_layouts.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/memory.h"
#include "graph/builder.h"
#include "graph/results.h"

#include <stdlib.h>
#include <string.h>

struct statement {
    const struct lx_graph *pattern;
    const struct stated_tensor *tensors;
    const struct stated_op *ops;
    int32_t tensor_count, op_count;
    lx_status *st;
};

void layout_state(const struct lx_layout *l, struct stated_tensor *out)
{
    int n = l->rank > 0 ? l->rank - 1 : 0; /* entries of the order: host dimensions, and -1 of a sparse one */
    out->order_count = l->host_rank == 0 ? 0 : n;
    memset(out->extents, 0, sizeof out->extents);
    for (int i = 0; i < out->order_count; i++) {
        int device = i == n - 1 ? n : i == 0 ? n - 1 : i - 1;
        int dim = out->order[i] = l->host_dim[device];
        if (dim >= 0 && dim != l->stick_dim && l->size[device] != l->host_shape[dim])
            out->extents[dim] = l->size[device];
    }
}

static bool place_elements(const struct statement *s, int32_t t, struct lx_layout *out)
{
    const struct stated_tensor *x = &s->tensors[t];
    const struct lx_tensor *old = &s->pattern->tensors[x->origin];
    lx_status why = {0};
    if (old->rank < 0) return true; /* known by its bytes only */
    bool ok = lx_layout_make(old->dtype, old->rank, old->shape, NULL, x->order, x->order_count,
                             s->pattern->device.stick_bytes, out, &why);
    if (!ok) return status_set(s->st, status_cause(&why, LX_E_LAYOUT), "tensor %s: %s", x->name, why.text);
    for (int d = 0; d < old->rank; d++)
        if (x->extents[d] && !lx_layout_pad(out, d, x->extents[d]))
            return status_set(s->st, LX_E_LAYOUT, "tensor %s: dimension %d cannot have %lld positions",
                              x->name, d, (long long)x->extents[d]);
    return true;
}

static bool add_tensors(const struct statement *s, struct graph_builder *b)
{
    for (int32_t t = 0; t < s->tensor_count; t++) {
        const struct lx_tensor *old = &s->pattern->tensors[s->tensors[t].origin];
        b->here = (struct place){old->line, 1};
        int32_t made =
            builder_tensor(b, s->tensors[t].name, s->tensors[t].is_copy ? LX_INTERMEDIATE : old->role,
                           old->dtype, old->rank, old->shape, old->bytes, s->st);
        if (made < 0) return false;
        if (s->tensors[t].is_copy) continue;
        b->tensors.at[made].memory = old->memory;
        b->tensors.at[made].placing = old->placing;
    }
    return true;
}

/* Of several results those that the tensors stand for: some may not be made. */
static bool state_results(const struct statement *s, const struct stated_op *x, struct lx_op *op)
{
    const struct lx_op all = *op;
    int which[LX_MAX_OUTPUTS];
    for (int i = 0; i < x->output_count; i++)
        which[i] = op_operand_made(&all, s->tensors[x->outputs[i]].origin) - all.input_count;
    for (int i = 0; i < x->output_count; i++)
        if (which[i] < 0) return false;
    return op_with_results(&all, which, x->outputs, x->output_count, op);
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
        if ((op.output_count > 1 || x->output_count > 1) && !state_results(s, x, &op))
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
    if (add_tensors(s, &b) && stated_layouts_add_ops(s, &b)) return builder_finish(&b, s->st);
    builder_abandon(&b);
    return NULL;
}

/* The op that needs the copy that op `o` makes: the next that reads it. */
static int32_t next_reader(const struct lx_graph *g, int32_t o)
{
    for (int32_t n = o + 1; n < g->op_count; n++)
        for (int i = 0; i < g->ops[n].input_count; i++)
            if (g->ops[n].inputs[i] == g->ops[o].output) return n;
    return -1;
}

/* What the stage notes beside the layouts: added ops with what they move, and padded rows. */
static bool note_additions(const struct statement *s, struct lx_layouts *l)
{
    size_t added = 0, padded = 0;
    struct lx_restickify *r = arena_array(l->memory, (size_t)s->op_count, sizeof *r);
    struct lx_padding *p = arena_array(l->memory, (size_t)s->tensor_count * LX_MAX_RANK, sizeof *p);
    if (!r || !p) return status_no_memory(s->st);
    for (int32_t o = 0; o < s->op_count; o++) {
        const struct lx_op *op = &l->graph->ops[o];
        if (s->ops[o].origin >= 0) continue;
        int64_t elements = lx_layout_elements(&l->layouts[op->output]);
        r[added++] = (struct lx_restickify){o, next_reader(l->graph, o), op->inputs[0], op->output, elements};
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
    return true;
}

static bool stated_layouts_fill(const struct statement *s, struct lx_layouts *l)
{
    struct lx_layout *layouts = arena_array(l->memory, (size_t)s->tensor_count, sizeof *layouts);
    int32_t *origin = arena_array(l->memory, (size_t)s->tensor_count, sizeof *origin);
    int32_t *op_origin = arena_array(l->memory, (size_t)s->op_count, sizeof *op_origin);
    signed char *stick_var = arena_array(l->memory, (size_t)s->op_count, sizeof *stick_var);
    if (!layouts || !origin || !op_origin || !stick_var) return status_no_memory(s->st);
    for (int32_t t = 0; t < s->tensor_count; t++) {
        origin[t] = s->tensors[t].origin;
        if (!place_elements(s, t, &layouts[t])) return false;
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
    return l->graph && note_additions(s, l);
}

struct lx_layouts *layouts_stated(const struct lx_graph *pattern, const struct stated_tensor *tensors,
                                  int32_t tensor_count, const struct stated_op *ops, int32_t op_count,
                                  lx_status *st)
{
    struct statement s = {pattern, tensors, ops, tensor_count, op_count, st};
    struct lx_layouts *l = mem_zeroed(1, sizeof *l);
    if (l) l->memory = mem_zeroed(1, sizeof *l->memory);
    if (!l || !l->memory) {
        mem_free(l);
        return status_no_memory(st), NULL;
    }
    if (stated_layouts_fill(&s, l)) return l;
    lx_layouts_free(l);
    return NULL;
}
