/* What the cores have computed goes to its places: checked against who is live there and counted, stick by
 * stick, then written. */
#include "device/execute/execute.h"

#include <string.h>

/* Working in place: the slot's last owner is read by this op, ends with it, and has the same elements at the
 * same places; what an op has read of it may then be overwritten while it still reads the rest. */
static void write_back_check_handover(struct op_work *w, int64_t core)
{
    struct machine *m = w->m;
    int out = w->out;
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
                box_equal(&q->box, &p->box) && w->class == CLASS_POINTWISE && !op_index_shifted(&w->x, i) &&
                !op_index_shifted(&w->x, out) &&
                memcmp(w->x.var[i], w->x.var[out], (size_t)w->x.rank[out]) == 0;
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

static void write_task(void *context, int64_t strip, int worker)
{
    struct op_work *w = context;
    const struct strip_work *s = &w->strip[strip];
    (void)worker;
    if (!work_writes(w, s)) return;
    struct dense_operand o = work_operand(w, s, w->out, &s->written, &s->layout, s->out, s->wide);
    dense_scatter(&o);
}

void write_strips(struct op_work *w)
{
    struct machine *m = w->m;
    m->access++;
    m->writing = true;
    for (int64_t c = 0; c < w->cores; c++)
        if (w->core[c].place) write_back_check_handover(w, c);
    if (op_keeps(w->op)) {
        /* An op that keeps what it does not write finds the value before it in all sticks that it touches. */
        for (size_t i = 0; i < w->strip_count; i++)
            if (work_writes(w, &w->strip[i]))
                shadow_read(w->m, &w->core[w->strip[i].core].place[w->out], &w->strip[i].written,
                            (struct expectation){{value_kept(w->m), 0}, false});
    }
    for (size_t i = 0; i < w->strip_count; i++)
        if (work_writes(w, &w->strip[i])) {
            const struct place *p = &w->core[w->strip[i].core].place[w->out];
            const struct content made = {value_made(m, w->out), iteration_parts_after(&m->at, w->summed)};
            int64_t sticks = shadow_write(m, p, &w->strip[i].written, made);
            int64_t bytes = sticks_to_bytes(m, w->op->output, sticks);
            bool chosen = w->class == CLASS_CHOICE && w->choice.operand == w->out && p->stay < 0;
            if (chosen) bytes = &w->strip[i] == w->strip ? chosen_hbm_bytes(w) : 0;
            struct lx_counters *c = &m->counted[w->strip[i].core];
            *(p->stay >= 0 ? &c->lx_written : &c->hbm_written) += bytes;
            if (!op_keeps(w->op)) {
                /* Padding of its sticks, before anybody writes elements: others may share a stick with it. */
                const struct lx_layout *l = &w->m->layouts[w->op->output];
                struct zeros z = {p->in->bytes + p->address, w->m->stick_bytes};
                if (region_items(&w->strip[i].written) <
                    region_sticks(&w->strip[i].written) * l->stick_elements)
                    region_visit(&w->strip[i].written, l, &p->box, zero_stick, &z);
            }
        }
    if (op_keeps(w->op)) {
        /* All other sticks, on all cores that hold a part, have the new value, too. */
        int32_t stay = m->plan->accesses[m->plan->access_at[m->tick] + w->out].stay;
        const struct stay_view *view = stay_placed(m, stay) ? machine_view(m, stay) : NULL;
        int64_t holders = view ? view->view.cores : stay_placed(m, stay) ? 0 : 1;
        for (int64_t c = 0; c < holders && c < m->cores; c++) {
            struct place p = place_of_access(m, w->out, c);
            if (p.in) shadow_keep(m, &p, value_kept(m), value_made(m, w->out));
        }
    }
    m->writing = false;
    /* Two elements of 4 bits share a byte; cores might share it. */
    bool one_by_one = m->layouts[w->op->output].dtype == LX_INT4 || w->shared;
    pool_run(one_by_one ? NULL : m->pool, (int64_t)w->strip_count, write_task, w);
}
