/* Reads operands back to the host, from their planned places. */
#include "device/memory/machine.h"

/* Reading of an operand's parts: the range is copied to `to`, which has its shape, or compared with `with`,
 * which is the whole tensor. */
struct reading {
    struct host_range range;
    void *to;
    const void *with;
    int64_t differing;
};

static struct host_range whole_range(const struct machine *m, int32_t tensor)
{
    const struct lx_layout *l = &m->layouts[tensor];
    struct host_range r = {.rank = l->host_rank};
    for (int h = 0; h < l->host_rank; h++) r.to[h] = l->host_shape[h];
    return r;
}

struct host_range operand_range(const struct machine *m, int operand)
{
    const struct lx_op *op = machine_op(m);
    const struct lx_layout *l = &m->layouts[op_operand(op, operand)];
    struct host_range r = whole_range(m, op_operand(op, operand));
    struct op_index x;
    if (!m->at.nest) return r;
    op_index_of(m->graph, op, &x);
    for (int i = 0; i < m->at.nest->level_count; i++) {
        int h = op_index_dim(&x, operand, m->at.nest->var[m->tick - m->at.nest->first][i]);
        if (h < 0) continue;
        int64_t tile = l->host_shape[h] / m->at.nest->tiles[i];
        r.from[h] = tile * m->at.index[i];
        r.to[h] = r.from[h] + tile;
    }
    return r;
}

static void part_out(struct machine *m, const struct place *p, struct reading *x)
{
    const struct lx_layout *l = &m->layouts[p->tensor];
    const unsigned char *at = p->in->bytes + p->address;
    struct region r = {0};
    int64_t first[LX_MAX_RANK];
    if (machine_is_bytes(m, p->tensor)) {
        const unsigned char *with = x->with;
        int64_t bytes = m->graph->tensors[p->tensor].bytes;
        if (x->to) memcpy(x->to, at, (size_t)bytes);
        for (int64_t i = 0; with && i < bytes; i++) x->differing += with[i] != at[i];
        return;
    }
    region_of_box(l, &p->box, x->range.from, x->range.to, m->scratch, &r, first);
    if (x->with) x->differing += pack_items_differing(l, &r, first, at, x->with);
    int64_t shape[LX_MAX_RANK];
    for (int h = 0; h < l->host_rank; h++) {
        shape[h] = x->range.to[h] - x->range.from[h];
        first[h] -= x->range.from[h];
    }
    if (x->to) pack_items_part_out(l, &r, first, shape, at, x->to);
}

/* Reads all parts, also where several cores hold the same elements. */
static bool readback_read_parts(struct machine *m, int operand, struct reading *x)
{
    int32_t stay = m->plan->accesses[m->plan->access_at[m->tick] + operand].stay;
    int64_t faults = m->fault_count;
    const struct stay_view *view = stay_placed(m, stay) ? machine_view(m, stay) : NULL;
    bool ok = !stay_placed(m, stay) || view;
    for (int64_t c = 0; ok && c < (view ? view->view.cores : 1) && c < m->cores; c++) {
        struct place p = place_of_access(m, operand, c);
        ok = p.in != NULL;
        if (ok) part_out(m, &p, x);
    }
    /* Execution reports the same faults. */
    if (m->fault_count > faults) m->fault_count = faults;
    if (m->faults.count > (size_t)m->fault_count && m->fault_count <= LX_MAX_FAULTS)
        m->faults.count = (size_t)m->fault_count;
    return ok;
}

bool read_operand(struct machine *m, int operand, void *items)
{
    struct reading x = {.range = operand_range(m, operand), .to = items};
    return readback_read_parts(m, operand, &x);
}

bool compare_operand(struct machine *m, int operand, const void *items, int64_t *differing)
{
    struct reading x = {.range = operand_range(m, operand), .with = items};
    bool ok = readback_read_parts(m, operand, &x);
    *differing = x.differing;
    return ok;
}

bool read_hbm(struct machine *m, int32_t tensor, void *items)
{
    struct place p = place_in_hbm(m, tensor);
    struct lx_fault first = {0};
    if (!p.in) return false;
    const struct content value = {m->program.final[m->plan->layouts->origin[tensor]], 0};
    m->actor = -1; /* the host, when all is over */
    for (int64_t i = 0; i < box_sticks(&p.box); i++) shadow_stick_read(m, &p, i, i, value, &first);
    if (first.sticks > 0) {
        first.kind = LX_FAULT_LOST;
        fault_add(m, &first);
    }
    struct reading x = {.range = whole_range(m, tensor), .to = items};
    part_out(m, &p, &x);
    return first.sticks == 0;
}
