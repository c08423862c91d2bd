/* Ops known by their operands only: whole tensors, on one core, mixed as bytes. */
#include "graph/online.h"
#include "device/execute/execute.h"

/* ---- ops that make tensors as a whole, in fp64 or whole numbers, rounded once ---- */

struct making {
    const struct lx_op *op;
    const struct lx_tensor *out;
    const struct number_type *type;
    int64_t count, inside, length; /* elements; a step along the axis; its length */
    const wide_number *from;       /* the input, NULL: none */
};

typedef void make_function(const struct making *m, wide_number *to);

/* The start plus a number of steps; whole numbers exactly, and wrapped. */
static void make_iota(const struct making *m, wide_number *to)
{
    const struct lx_op_params *p = m->op->params;
    double start = p ? p->start : 0, step = p ? p->step : 1;
    bool whole = m->type->integer && start == rint(start) && step == rint(step);
    for (int64_t i = 0; i < m->count; i++) {
        int64_t steps = i / m->inside % m->length;
        wide_number x = (wide_number)(start + step * (double)steps);
        if (whole)
            to[i] = number_wrapped(m->type, number_whole((wide_number)start) +
                                                number_whole((wide_number)step) * (whole_number)steps);
        else
            to[i] = m->type->integer ? number_wrapped(m->type, number_whole(truncl(x))) : x;
    }
}

static void make_constant(const struct making *m, wide_number *to)
{
    const struct lx_op_data *d = m->op->data;
    for (int64_t i = 0; i < m->count; i++) {
        int64_t n = d && d->count > 1 ? i : 0;
        to[i] = d ? number_stated(d->numbers[n], d->wholes[n]) : 0;
    }
}

/* Each row along the axis, from its begin or its end. Integers wrap. */
static void make_scan(const struct making *m, wide_number *to)
{
    const struct lx_op_params *p = m->op->params;
    for (int64_t first = 0; first < m->count; first++) {
        wide_number sum = 0;
        for (int64_t k = 0; first / m->inside % m->length == 0 && k < m->length; k++) {
            int64_t i = first + (p->reverse ? m->length - 1 - k : k) * m->inside;
            wide_number with = m->type->integer
                                   ? number_wrapped(m->type, number_whole(sum) + number_whole(m->from[i]))
                                   : (wide_number)((double)sum + (double)m->from[i]);
            to[i] = p->exclusive ? sum : with;
            sum = with;
        }
    }
}

static make_function *const makers[LX_KIND_COUNT] = {
    [LX_KIND_IOTA] = make_iota, [LX_KIND_CONSTANT] = make_constant, [LX_KIND_SCAN] = make_scan};

static void make_items(const struct lx_graph *g, const struct lx_op *op, const void *input, void *items)
{
    struct making m = {
        .op = op, .out = &g->tensors[op->output], .type = &number_types[g->tensors[op->output].dtype]};
    int64_t axis = op->params ? op->params->axis : -1;
    m.count = m.inside = m.length = 1;
    for (int i = m.out->rank - 1; i >= 0; i--) {
        if (i > axis && axis >= 0) m.inside *= m.out->shape[i];
        if (i == axis) m.length = m.out->shape[i];
        m.count *= m.out->shape[i];
    }
    if (axis < 0) m.length = m.count; /* through all elements, in their order */
    wide_number *from = NULL, *to = mem_alloc((size_t)m.count * sizeof *to + 1);
    if (op->input_count > 0) {
        from = mem_alloc((size_t)m.count * sizeof *from + 1);
        items_to_wide(&number_types[g->tensors[op->inputs[0]].dtype], input, m.count, from);
    }
    m.from = from;
    makers[op->kind->id](&m, to);
    items_from_wide(m.type, to, m.count, items);
    mem_free(from);
    mem_free(to);
}

struct whole_operand {
    struct place place;
    struct region region;
    bool usable;
    void *items; /* with room up to whole words, zeros at the end */
    int64_t bytes;
};

static void write_output(struct machine *m, int operand, struct whole_operand *o)
{
    if (!o->usable) return;
    const struct lx_layout *l = &m->layouts[o->place.tensor];
    unsigned char *at = o->place.in->bytes + o->place.address;
    m->access++;
    m->writing = true;
    int64_t sticks = shadow_write(m, &o->place, &o->region, (struct content){value_made(m, operand), 0});
    m->writing = false;
    *(o->place.stay >= 0 ? &m->counted[0].lx_written : &m->counted[0].hbm_written) +=
        sticks_to_bytes(m, o->place.tensor, sticks);
    memset(at, 0, (size_t)(box_sticks(&o->place.box) * m->stick_bytes));
    if (machine_is_bytes(m, o->place.tensor))
        memcpy(at, o->items, (size_t)o->bytes);
    else
        pack_items_in(l, &o->region, o->items, at);
}

/* Makes a result of the op. */
static void make_output(struct machine *m, int operand, const struct mix_operand *inputs,
                        struct whole_operand *out)
{
    const struct lx_op *op = machine_op(m);
    int32_t tensor = op_operand(op, operand);
    int32_t origin = m->plan->layouts->op_origin[m->tick];
    /* By the pattern's op: a plan may not change an op's meaning. */
    const struct lx_op *meant = origin >= 0 ? &m->program.pattern->ops[origin] : op;
    int result = origin >= 0 ? value_made(m, operand) - m->program.made_at[origin] : 0;
    const struct lx_layout *l = &m->layouts[tensor];
    if (m->host.op && (meant->kind->traits & LX_EXTERN)) {
        const void *items[LX_MAX_INPUTS];
        for (int i = 0; i < op->input_count; i++) items[i] = inputs[i].items;
        lx_status why = {0};
        if (!m->host.op(m->host.context, graph_origin_op(m->plan->graph, origin), items, out->items, &why))
            machine_fail(m, &why);
    } else if (makers[meant->kind->id]) {
        make_items(m->program.pattern, meant, inputs[0].items, out->items);
    } else if (m->graph->tensors[tensor].rank < 0)
        mix_bytes(meant, result, inputs, out->items, out->bytes);
    else
        mix_elements(meant, result, inputs, l->dtype, out->items, layout_items(l));
}

void execute_bytes(struct machine *m)
{
    const struct lx_op *op = machine_op(m);
    struct whole_operand operands[LX_MAX_OPERANDS];
    struct mix_operand inputs[LX_MAX_INPUTS];
    int n = op->input_count, all = op_operand_count(op);
    memset(operands, 0, sizeof operands);
    m->actor = 0;
    if (op->kind->traits & LX_WIPES) machine_wipe(m);
    for (int i = 0; i < all; i++) {
        int32_t tensor = op_operand(op, i);
        const struct lx_layout *l = &m->layouts[tensor];
        operands[i].bytes = layout_items(l) * number_types[l->dtype].item;
        operands[i].items = mem_zeroed((size_t)operands[i].bytes / 8 + 1, 8);
        operands[i].place = place_of_access(m, i, 0);
        if ((op->kind->traits & LX_EXTERN) && operands[i].place.stay >= 0) {
            fault_plain(m, LX_FAULT_PLACE, &operands[i].place, "an extern op works on HBM only");
            operands[i].place.in = NULL;
        }
        if (!operands[i].place.in) continue;
        region_whole(l, &operands[i].place.box, machine_is_bytes(m, tensor), m->scratch, &operands[i].region);
        operands[i].usable = operands[i].region.within;
        if (!operands[i].usable)
            fault_plain(m, LX_FAULT_PART, &operands[i].place, "the op needs all of it on one core");
    }
    for (int i = 0; i < n; i++) {
        struct whole_operand *o = &operands[i];
        inputs[i] = (struct mix_operand){o->items, o->bytes};
        if (!o->usable) continue;
        m->access++;
        int64_t sticks =
            shadow_read(m, &o->place, &o->region, (struct expectation){{value_wanted(m, i), 0}, true});
        *(o->place.stay >= 0 ? &m->counted[0].lx_read : &m->counted[0].hbm_read) +=
            sticks_to_bytes(m, o->place.tensor, sticks);
        const unsigned char *at = o->place.in->bytes + o->place.address;
        if (machine_is_bytes(m, o->place.tensor))
            memcpy(o->items, at, (size_t)o->bytes);
        else
            pack_items_out(&m->layouts[o->place.tensor], &o->region, at, o->items);
    }
    for (int i = n; i < all; i++) make_output(m, i, inputs, &operands[i]);
    for (int i = n; i < all; i++) {
        const struct place *p = &operands[i].place;
        if (p->in && p->stay >= 0 && m->plan->problem.buffers[p->stay].start == m->tick) {
            /* A handed-over slot: the op reads all before it writes, so only the owner matters. */
            int32_t parent = m->plan->took_slot_of[p->stay];
            bool read = false;
            for (int k = 0; k < n; k++) read |= operands[k].place.stay == parent;
            if (parent >= 0 && (!read || m->plan->answer.address[parent] != p->address ||
                                m->plan->problem.buffers[parent].end != m->tick + 1))
                fault_plain(m, LX_FAULT_HANDOVER, p, "it cannot work in the place of %.200s",
                            m->plan->problem.buffers[parent].name);
        }
        write_output(m, i, &operands[i]);
    }
    for (int i = 0; i < all; i++) mem_free(operands[i].items);
}
