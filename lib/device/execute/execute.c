/* An op of the plan on its cores: what it touches is checked and counted, then the cores compute, sums that
 * are split are made over the reduce ring, and results are written. Cores read everything before any of them
 * writes, so that nothing depends on who is first. */
#include "device/execute/execute.h"
#include "base/checked.h"
#include "device/memory/pack.h"

#include <stdlib.h>
#include <string.h>

int32_t value_wanted(const struct machine *m, int input)
{
    int32_t origin = m->plan->layouts->op_origin[m->tick];
    if (origin < 0) return m->current[machine_op(m)->inputs[input]];
    return program_input(&m->program, origin, input);
}

int32_t value_made(const struct machine *m)
{
    int32_t origin = m->plan->layouts->op_origin[m->tick];
    if (origin < 0) return m->current[machine_op(m)->inputs[0]]; /* a copy that the layout stage added */
    return m->program.pattern->tensor_count + origin;
}

int32_t value_kept(const struct machine *m)
{
    int32_t origin = m->plan->layouts->op_origin[m->tick];
    return origin < 0 ? -1 : m->program.kept[origin];
}

int64_t sticks_to_bytes(const struct machine *m, int32_t tensor, int64_t sticks)
{
    int64_t bytes = sticks * m->stick_bytes;
    return m->graph->tensors[tensor].rank < 0 ? min_i64(bytes, m->graph->tensors[tensor].bytes) : bytes;
}

static enum op_class class_of(const struct op_work *w)
{
    if (!w->x.known || !w->arith) return CLASS_BYTES;
    if (w->op->kind->traits & LX_CONTRACTS) return CLASS_CONTRACTION;
    return w->op->reduces ? CLASS_REDUCTION : CLASS_POINTWISE;
}

static bool prepare_core(struct op_work *w, int64_t core)
{
    struct machine *m = w->m;
    struct core_work *c = &w->core[core];
    c->place = arena_array(m->scratch, (size_t)w->operands, sizeof *c->place);
    c->region = arena_array(m->scratch, (size_t)w->operands, sizeof *c->region);
    c->usable = arena_array(m->scratch, (size_t)w->operands, sizeof *c->usable);
    if (!c->place || !c->region || !c->usable) return false;
    c->slice = slice_of_core(w->division, &w->x, core);
    c->idle = slice_empty(&c->slice, &w->x);
    c->writes = true;
    for (int i = 0; i < w->operands; i++) {
        int32_t tensor = op_operand(w->op, i);
        c->place[i] = place_of_access(m, i, core);
        if (!c->place[i].in) continue;
        if (!region_make(&m->layouts[tensor], &c->place[i].box, &w->x, i, &c->slice, m->scratch,
                         &c->region[i]))
            return false;
        c->usable[i] = c->region[i].within || region_sticks(&c->region[i]) == 0;
        if (!c->usable[i])
            fault_plain(m, LX_FAULT_PART, &c->place[i], "it works on sticks that are not in its part");
    }
    return true;
}

static bool same_group(const struct op_work *w, int64_t a, int64_t b)
{
    const struct lx_division *d = w->division;
    for (int i = 0; i < d->split_count; i++)
        if (!d->splits[i].is_summed && lx_division_slot(d, i, a) != lx_division_slot(d, i, b)) return false;
    return true;
}

int64_t *read_counter(const struct place *p, struct lx_counters *c)
{
    return p->stay >= 0 ? &c->lx_read : &c->hbm_read;
}

int64_t *written_counter(const struct place *p, struct lx_counters *c)
{
    return p->stay >= 0 ? &c->lx_written : &c->hbm_written;
}

/* Checks and counts what is read. */
static void read_operands(struct op_work *w)
{
    struct machine *m = w->m;
    for (int i = 0; i < w->op->input_count; i++) {
        struct expectation want = {value_wanted(m, i), true};
        m->access++;
        for (int64_t c = 0; c < w->cores; c++) {
            struct core_work *core = &w->core[c];
            if (!core->place[i].in) continue;
            if (!core->usable[i] || core->idle) continue;
            int64_t sticks = shadow_read(m, &core->place[i], &core->region[i], want);
            *read_counter(&core->place[i], &m->counted[c]) +=
                sticks_to_bytes(m, core->place[i].tensor, sticks);
        }
    }
}

static void compute_task(void *context, int64_t task, int worker)
{
    (void)worker;
    compute_core(context, task);
}

static void compute_all(struct op_work *w)
{
    if (w->cores > 1)
        pool_run(w->m->pool, w->cores, compute_task, w);
    else {
        w->inner_pool = w->m->pool;
        compute_core(w, 0);
    }
}

/* A core's part of the output, once over the reduce ring. */
static void count_part(struct op_work *w, int64_t core)
{
    const struct region *part = &w->core[core].region[w->operands - 1];
    w->m->counted[core].reduce_ring += region_sticks(part) * w->m->stick_bytes;
}

/* Sums of the groups in the order of their slots: all parts but the first travel. Cores that keep the sum on chip get
 * the total back the same way; in HBM the first of the group writes it for all. */
static void join_partials(struct op_work *w)
{
    const struct reduction *r = w->arith->sum;
    int out = w->operands - 1;
    if (!r) return;
    for (int64_t first = 0; first < w->cores && w->partial; first++) {
        struct core_work *total = &w->core[first];
        bool leads = true;
        for (int64_t c = 0; c < first && leads; c++) leads = !same_group(w, c, first);
        if (!leads) continue;
        for (int64_t c = first + 1; c < w->cores; c++) {
            if (!same_group(w, c, first) || w->core[c].out_count != total->out_count) continue;
            r->join(total->out, w->core[c].out, total->out_count);
            count_part(w, c);
            w->core[c].writes = w->core[c].place[out].stay >= 0;
            if (w->core[c].writes) count_part(w, c);
        }
        for (int64_t c = first + 1; c < w->cores; c++)
            if (same_group(w, c, first) && w->core[c].out_count == total->out_count)
                memcpy(w->core[c].out, total->out, (size_t)total->out_count * sizeof *total->out);
    }
    if (!r->divides) return;
    int64_t count = 1;
    for (int v = 0; v < w->x.var_count; v++)
        if (op_index_reduced(&w->x, v)) count *= w->x.extent[v];
    for (int64_t c = 0; c < w->cores; c++)
        for (int64_t i = 0; i < w->core[c].out_count; i++) w->core[c].out[i] /= (float)count;
}

/* Working in place: the slot's last owner is read by this op, ends with it, and has the same elements at the
 * same places; what an op has read of it may then be overwritten while it still reads the rest. */
static void check_handover(struct op_work *w, int64_t core)
{
    struct machine *m = w->m;
    int out = w->operands - 1;
    const struct place *p = &w->core[core].place[out];
    if (p->stay < 0 || !p->in || m->plan->problem.buffers[p->stay].start != m->tick) return;
    int32_t parent = m->plan->took_slot_of[p->stay];
    if (parent < 0) return;
    bool read = false, alike = true;
    for (int i = 0; i < w->op->input_count; i++) {
        const struct place *q = &w->core[core].place[i];
        if (q->stay != parent) continue;
        read = true;
        alike = alike && lx_layout_equal(&m->layouts[q->tensor], &m->layouts[p->tensor]) &&
                q->box.rank == p->box.rank && memcmp(q->box.lo, p->box.lo, sizeof p->box.lo) == 0 &&
                memcmp(q->box.hi, p->box.hi, sizeof p->box.hi) == 0 && w->class == CLASS_POINTWISE &&
                w->x.shifted < 0 && memcmp(w->x.var[i], w->x.var[out], (size_t)w->x.rank[out]) == 0;
    }
    if (!read || !alike || m->plan->answer.address[parent] != p->address ||
        m->plan->problem.buffers[parent].end != m->tick + 1)
        fault_plain(m, LX_FAULT_HANDOVER, p, "it cannot work in the place of %.200s",
                    m->plan->problem.buffers[parent].name);
}

struct zeros {
    unsigned char *at;
    int64_t stick_bytes;
};

static void zero_stick(void *context, int64_t local, int64_t global)
{
    const struct zeros *z = context;
    (void)global;
    memset(z->at + local * z->stick_bytes, 0, (size_t)z->stick_bytes);
}

static void write_task(void *context, int64_t core, int worker)
{
    struct op_work *w = context;
    struct core_work *c = &w->core[core];
    int out = w->operands - 1;
    const struct lx_layout *l = &w->m->layouts[w->op->output];
    (void)worker;
    if (!c->writes || !c->usable[out] || !c->out) return;
    const struct place *p = &c->place[out];
    bool padded = region_items(&c->region[out]) < region_sticks(&c->region[out]) * l->stick_elements;
    if (padded && !op_keeps(w->op)) {
        struct zeros z = {p->in->bytes + p->address, w->m->stick_bytes};
        region_visit(&c->region[out], l, &p->box, zero_stick, &z);
    }
    if (!c->idle || w->partial)
        pack_scatter(l, &c->region[out], c->out, c->out_strides, p->in->bytes + p->address);
}

static void write_output(struct op_work *w)
{
    struct machine *m = w->m;
    int out = w->operands - 1;
    int32_t made = value_made(m), kept = value_kept(m), tensor = w->op->output;
    bool keeps = op_keeps(w->op);
    m->access++;
    m->writing = true;
    for (int64_t c = 0; c < w->cores; c++) {
        struct core_work *core = &w->core[c];
        const struct place *p = &core->place[out];
        if (!p->in) continue;
        check_handover(w, c);
        if (!core->usable[out] || !core->writes) continue;
        if (keeps) shadow_read(m, p, &core->region[out], (struct expectation){kept, false});
        int64_t sticks = shadow_write(m, p, &core->region[out], made);
        *written_counter(p, &m->counted[c]) += sticks_to_bytes(m, tensor, sticks);
    }
    for (int64_t c = 0; c < w->cores && keeps; c++)
        if (w->core[c].place[out].in) shadow_keep(m, &w->core[c].place[out], kept, made);
    m->writing = false;
    /* Two elements of 4 bits share a byte; cores might share it. */
    if (m->layouts[tensor].dtype == LX_INT4)
        for (int64_t c = 0; c < w->cores; c++) write_task(w, c, 0);
    else
        pool_run(m->pool, w->cores, write_task, w);
}

/* Zeros that an op finds where it keeps what nobody has written: the host has put them there. */
static void put_zeros(struct machine *m)
{
    int32_t t = machine_op(m)->output;
    enum lx_role role = m->graph->tensors[t].role;
    if (op_keeps(machine_op(m)) && m->first_op[t] == m->tick && role != LX_INPUT && role != LX_WEIGHT &&
        m->plan->hbm_address[t] >= 0)
        machine_put_input(m, t, NULL);
}

void execute_prepare(struct machine *m)
{
    put_zeros(m);
}

void execute_op(struct machine *m)
{
    const struct lx_op *op = machine_op(m);
    struct op_work w = {.m = m,
                        .op = op,
                        .division = &m->plan->divisions->at[m->tick],
                        .arith = arith_of(op->kind),
                        .operands = op->input_count + 1};
    op_index_of(m->graph, op, &w.x);
    w.class = class_of(&w);
    w.cores = w.division->cores_used;
    if (w.class == CLASS_BYTES)
        execute_bytes(m);
    else if (w.cores < 1 || w.cores > m->cores)
        fault_plain(m, LX_FAULT_PLAN, NULL, "it wants %lld of %lld cores", (long long)w.cores,
                    (long long)m->cores);
    else {
        w.core = arena_array(m->scratch, (size_t)w.cores, sizeof *w.core);
        bool ok = w.core != NULL;
        for (int64_t c = 0; c < w.cores && ok; c++) ok = prepare_core(&w, c);
        for (int i = 0; i < w.division->split_count; i++)
            w.partial |= w.division->splits[i].is_summed && w.division->splits[i].split > 1;
        if (ok) {
            read_operands(&w);
            compute_all(&w);
        }
        ok = ok && !w.no_memory;
        if (ok) {
            join_partials(&w);
            write_output(&w);
        }
        for (int64_t c = 0; w.core && c < w.cores; c++) free(w.core[c].out);
        if (!ok) m->no_memory = true;
    }
    m->current[op->output] = value_made(m);
}
