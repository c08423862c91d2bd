/* Ops of which only the operands are known: whole tensors, on one core, mixed as bytes. */
#include "graph/online.h"
#include "device/execute/execute.h"
#include "device/execute/arith.h"
#include "base/checked.h"
#include "base/memory.h"
#include "device/memory/dtypes.h"
#include "device/memory/stick_box.h"

#include <stdlib.h>
#include <string.h>

struct whole_operand {
    struct place place;
    struct region region;
    bool usable;
    void *items; /* with room up to whole words, zeros behind */
    int64_t bytes;
};

static void execute_bytes_read_input(struct machine *m, int i, struct whole_operand *o)
{
    if (!o->usable) return;
    m->access++;
    int64_t sticks =
        shadow_read(m, &o->place, &o->region, (struct expectation){{value_wanted(m, i), 0}, true});
    *read_counter(&o->place, &m->counted[0]) += sticks_to_bytes(m, o->place.tensor, sticks);
    const unsigned char *at = o->place.in->bytes + o->place.address;
    if (machine_is_bytes(m, o->place.tensor))
        memcpy(o->items, at, (size_t)o->bytes);
    else
        pack_items_out(&m->layouts[o->place.tensor], &o->region, at, o->items);
}

/* A slot that is handed over: the op reads all before it writes, so only who owns it matters. */
static void execute_bytes_check_handover(struct machine *m, const struct whole_operand *inputs,
                                         int count_of_inputs, const struct place *p)
{
    if (p->stay < 0 || m->plan->problem.buffers[p->stay].start != m->tick) return;
    int32_t parent = m->plan->took_slot_of[p->stay];
    bool read = false;
    for (int i = 0; i < count_of_inputs; i++) read |= inputs[i].place.stay == parent;
    if (parent >= 0 && (!read || m->plan->answer.address[parent] != p->address ||
                        m->plan->problem.buffers[parent].end != m->tick + 1))
        fault_plain(m, LX_FAULT_HANDOVER, p, "it cannot work in the place of %.200s",
                    m->plan->problem.buffers[parent].name);
}

static void write_output(struct machine *m, int operand, struct whole_operand *o)
{
    if (!o->usable) return;
    const struct lx_layout *l = &m->layouts[o->place.tensor];
    unsigned char *at = o->place.in->bytes + o->place.address;
    m->access++;
    m->writing = true;
    int64_t sticks = shadow_write(m, &o->place, &o->region, (struct content){value_made(m, operand), 0});
    m->writing = false;
    *written_counter(&o->place, &m->counted[0]) += sticks_to_bytes(m, o->place.tensor, sticks);
    memset(at, 0, (size_t)(box_sticks(&o->place.box) * m->stick_bytes));
    if (machine_is_bytes(m, o->place.tensor))
        memcpy(at, o->items, (size_t)o->bytes);
    else
        pack_items_in(l, &o->region, o->items, at);
}

/* What the op leaves in a result. */
static void make_output(struct machine *m, int operand, const struct mix_operand *inputs,
                        struct whole_operand *out)
{
    const struct lx_op *op = machine_op(m);
    int32_t tensor = op_operand(op, operand);
    int32_t origin = m->plan->layouts->op_origin[m->tick];
    /* As the pattern names it: a plan may not change what an op does. */
    const struct lx_op *meant = origin >= 0 ? &m->program.pattern->ops[origin] : op;
    int result = origin >= 0 ? value_made(m, operand) - m->program.made_at[origin] : 0;
    const struct lx_layout *l = &m->layouts[tensor];
    if (m->host.op && (meant->kind->traits & LX_EXTERN)) {
        const void *items[LX_MAX_INPUTS];
        for (int i = 0; i < op->input_count; i++) items[i] = inputs[i].items;
        lx_status why = {0};
        if (!m->host.op(m->host.context, graph_origin_op(m->plan->graph, origin), items, out->items, &why))
            machine_fail(m, &why);
    } else if (is_made(meant)) {
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
        execute_bytes_read_input(m, i, &operands[i]);
        inputs[i] = (struct mix_operand){operands[i].items, operands[i].bytes};
    }
    for (int i = n; i < all; i++) make_output(m, i, inputs, &operands[i]);
    for (int i = n; i < all; i++) {
        if (operands[i].place.in) execute_bytes_check_handover(m, operands, n, &operands[i].place);
        write_output(m, i, &operands[i]);
    }
    for (int i = 0; i < all; i++) mem_free(operands[i].items);
}
