/* An op of the plan on its cores: its accesses are checked and counted, then the cores compute, split sums
 * are joined over the reduce ring, and results are written. Cores read everything before any of them writes,
 * so that nothing depends on their speed. */
#include "device/execute/execute.h"

int32_t value_wanted(const struct machine *m, int input)
{
    int32_t origin = m->plan->layouts->op_origin[m->tick];
    if (origin < 0) return m->current[machine_op(m)->inputs[input]];
    return program_input(&m->program, origin, input);
}

int32_t value_made(const struct machine *m, int operand)
{
    int32_t origin = m->plan->layouts->op_origin[m->tick];
    if (origin < 0) return m->current[machine_op(m)->inputs[0]]; /* a copy that the layout stage added */
    return program_made(&m->program, origin, m->plan->layouts->origin[op_operand(machine_op(m), operand)]);
}

static int32_t value_kept(const struct machine *m)
{
    int32_t origin = m->plan->layouts->op_origin[m->tick];
    return origin < 0 ? -1 : m->program.kept[origin];
}

int64_t sticks_to_bytes(const struct machine *m, int32_t tensor, int64_t sticks)
{
    int64_t bytes = sticks * m->stick_bytes;
    return m->graph->tensors[tensor].rank < 0 ? min_i64(bytes, m->graph->tensors[tensor].bytes) : bytes;
}

static enum op_class execute_class_of(const struct op_work *w)
{
    if (!w->x.known || (w->op->kind->traits & LX_MIXES)) return CLASS_BYTES;
    if (w->op->kind->traits & LX_CHOOSES) return CLASS_CHOICE;
    if (w->op->kind->traits & LX_RANKS) return CLASS_RANKING;
    if (w->op->kind->traits & LX_CONTRACTS) return CLASS_CONTRACTION;
    return w->op->reduces ? CLASS_REDUCTION : CLASS_POINTWISE;
}

typedef void region_function(const struct lx_layout *l, const struct box *b, const struct op_index *x,
                             int operand, const struct slice *s, struct arena *memory, struct region *out);

/* The region of an operand that a strip touches. Sets its bit of `usable` if the core can reach the
 * region. */
static void find_region(struct op_work *w, struct strip_work *s, int operand, region_function *make,
                        struct arena *memory, struct region *out)
{
    struct machine *m = w->m;
    const struct place *p = &w->core[s->core].place[operand];
    if (!p->in) return;
    /* On chip a core sees all positions that it has of the input of windows, with halo and padding; in HBM
     * all there are. No stick lies along such a variable: a position is an index. */
    const struct lx_layout *l = &m->layouts[p->tensor];
    struct slice seen = s->slice;
    for (int i = 0; operand == 0 && p->stay >= 0 && i < w->x.window_count; i++) {
        int in = w->x.windows[i].in, h = op_index_dim(&w->x, 0, in);
        for (int k = 0; k < p->box.rank && h >= 0; k++)
            if (l->host_dim[k] == h) {
                seen.from[in] = p->box.lo[k];
                seen.to[in] = min_i64(p->box.hi[k], l->host_shape[h]); /* padding lies behind the end */
            }
    }
    make(l, &p->box, &w->x, operand, &seen, memory, out);
    if (out->within || region_sticks(out) == 0)
        s->usable |= UINT64_C(1) << operand;
    else
        fault_plain(m, LX_FAULT_PART, p, "it works on sticks that are not in its part");
}

bool work_writes(const struct op_work *w, const struct strip_work *s)
{
    return w->core[s->core].place[w->out].in && (s->usable >> w->out & 1) && s->writes;
}

struct dense_operand work_operand(const struct op_work *w, const struct strip_work *s, int operand,
                                  const struct region *r, const struct dense *layout, float *numbers,
                                  wide_number *wide)
{
    const struct place *p = &w->core[s->core].place[operand];
    return (struct dense_operand){.l = &w->m->layouts[p->tensor],
                                  .as = op_number_type(w->m->graph, w->op, operand),
                                  .region = r,
                                  .at = p->in->bytes + p->address,
                                  .x = &w->x,
                                  .operand = operand,
                                  .layout = layout,
                                  .numbers = numbers,
                                  .wide = wide};
}

/* Checks and counts reads; a stick counts once, however many tiles touch it. */
static void read_operands(struct op_work *w)
{
    struct machine *m = w->m;
    for (int i = 0; i < w->op->input_count; i++) {
        /* Expects the result of this iteration for an unfinished sum, where a nest may read that at all. */
        struct expectation want = {{value_wanted(m, i), content_after(m, w->op->inputs[i]).parts}, true};
        m->access++;
        for (size_t k = 0; k < w->strip_count; k++) {
            struct strip_work *s = &w->strip[k];
            const struct place *p = &w->core[s->core].place[i];
            m->actor = s->core;
            SCOPED(arena_free) struct arena memory = {0};
            struct region r;
            find_region(w, s, i, region_touched, &memory, &r);
            if (s->usable >> i & 1) {
                int64_t bytes = sticks_to_bytes(m, p->tensor, shadow_read(m, p, &r, want));
                bool chosen = w->class == CLASS_CHOICE && w->choice.operand == i && p->stay < 0;
                *(p->stay >= 0 ? &m->counted[s->core].lx_read : &m->counted[s->core].hbm_read) +=
                    !chosen  ? bytes
                    : k == 0 ? chosen_hbm_bytes(w)
                             : 0;
            }
        }
    }
}

void execute_prepare(struct machine *m)
{
    /* An op keeps elements that no op has written: the host has put zeros there. */
    int32_t t = machine_op(m)->output;
    enum lx_role role = m->graph->tensors[t].role;
    if (op_keeps(machine_op(m)) && m->first_op[t] == m->tick && !lx_role_arrives(role) &&
        m->plan->hbm_address[t] >= 0)
        machine_put_input(m, t, NULL);
}

/* Sets the arithmetic of a result: kind, class and numbers. */
static void set_arithmetic(struct op_work *w)
{
    w->arith = arith_of(w->op->kind);
    w->class = execute_class_of(w);
    if (w->class == CLASS_BYTES) return;
    w->wide = wide_arith_of(w->op, op_numbers(w->m->graph, w->op));
    w->nests = !w->wide && lx_nest_kind_of(w->op, &w->x) != LX_NEST_NONE;
}

/* --- Writing results: checked against live buffers and counted, stick by stick, then written. --- */

/* Working in place: this op must read the slot's last owner, which ends with the op and has the same elements
 * at the same places; elements that the op has read may then be overwritten while it still reads the rest. */
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

static void write_strips(struct op_work *w)
{
    struct machine *m = w->m;
    m->access++;
    m->writing = true;
    for (int64_t c = 0; c < w->cores; c++)
        if (w->core[c].place) write_back_check_handover(w, c);
    if (op_keeps(w->op)) {
        /* An op that keeps other elements must find the value before it in all sticks that it touches. */
        for (size_t i = 0; i < w->strip_count; i++)
            if (work_writes(w, &w->strip[i])) {
                m->actor = w->strip[i].core;
                shadow_read(w->m, &w->core[w->strip[i].core].place[w->out], &w->strip[i].written,
                            (struct expectation){{value_kept(w->m), 0}, false});
            }
    }
    for (size_t i = 0; i < w->strip_count; i++)
        if (work_writes(w, &w->strip[i])) {
            const struct place *p = &w->core[w->strip[i].core].place[w->out];
            const struct content made = {value_made(m, w->out), iteration_parts_after(&m->at, w->summed)};
            m->actor = w->strip[i].core;
            int64_t sticks = shadow_write(m, p, &w->strip[i].written, made);
            int64_t bytes = sticks_to_bytes(m, w->op->output, sticks);
            bool chosen = w->class == CLASS_CHOICE && w->choice.operand == w->out && p->stay < 0;
            if (chosen) bytes = &w->strip[i] == w->strip ? chosen_hbm_bytes(w) : 0;
            struct lx_counters *c = &m->counted[w->strip[i].core];
            *(p->stay >= 0 ? &c->lx_written : &c->hbm_written) += bytes;
            if (!op_keeps(w->op)) {
                /* The padding of its sticks, before any core writes elements: others may share a stick with
                 * it. */
                const struct lx_layout *l = &w->m->layouts[w->op->output];
                struct zeros z = {p->in->bytes + p->address, w->m->stick_bytes};
                if (region_items(&w->strip[i].written) <
                    region_sticks(&w->strip[i].written) * l->stick_elements)
                    region_visit(&w->strip[i].written, l, &p->box, zero_stick, &z);
            }
        }
    if (op_keeps(w->op)) {
        /* All other sticks, on all cores that hold a part, get the new value's tag, too. */
        int32_t stay = m->plan->accesses[m->plan->access_at[m->tick] + w->out].stay;
        const struct stay_view *view = stay_placed(m, stay) ? machine_view(m, stay) : NULL;
        int64_t holders = view ? view->view.cores : stay_placed(m, stay) ? 0 : 1;
        for (int64_t c = 0; c < holders && c < m->cores; c++) {
            struct place p = place_of_access(m, w->out, c);
            if (p.in) shadow_keep(m, &p, value_kept(m), value_made(m, w->out));
        }
    }
    m->writing = false;
    /* Two elements of 4 bits share a byte, perhaps from two cores. */
    bool one_by_one = m->layouts[w->op->output].dtype == LX_INT4 || w->shared;
    pool_run(one_by_one ? NULL : m->pool, (int64_t)w->strip_count, write_task, w);
}

static void take_made_task(void *context, int64_t strip, int worker)
{
    struct op_work *w = context;
    struct strip_work *s = &w->strip[strip];
    const struct lx_layout *l = &w->m->layouts[w->op->output];
    struct box whole = box_whole(l);
    SCOPED(arena_free) struct arena memory = {0};
    struct region r;
    (void)worker;
    if (!work_writes(w, s)) return;
    region_make(l, &whole, &w->x, w->out, &s->slice, &memory, &r);
    struct dense_operand o = work_operand(w, s, w->out, &r, &s->layout, s->out, s->wide);
    const struct machine_host *host = &w->m->host;
    union {
        const void *read;
        void *at;
    } made = {host->made(host->context, w->m->tick, w->out, w->m->at.index)};
    o.at = made.at; /* only read */
    dense_gather(&o);
}

/* Makes one op_work per result, on the same tiles of the same inputs. */
static void split_results(struct op_work *w)
{
    const struct lx_op *op = w->op;
    struct op_work *all = arena_array(w->m->scratch, (size_t)op->output_count, sizeof *all);
    for (int i = 0; i < op->output_count; i++) {
        struct op_work *r = &all[i];
        *r = *w;
        r->one = op_of_result(op, i);
        r->op = &r->one;
        r->out = op->input_count + i;
        r->strip = arena_copy_array(w->m->scratch, w->strip, w->strip_count, sizeof *w->strip);
        r->results = all;
        r->result_count = op->output_count;
        if (r->m->at.nest) r->summed = r->m->summed[r->op->output];
        set_arithmetic(r);
    }
    w->results = all;
    w->result_count = op->output_count;
}

/* Checks and reads the cores' strips, computes every result, then writes. */
static void execute_tiles(struct op_work *w)
{
    struct machine *m = w->m;
    w->core = arena_array(m->scratch, (size_t)w->cores, sizeof *w->core);
    w->results = w;
    w->result_count = 1;
    walk_launch(w);
    check_coverage(w);
    if (w->groups > 1 && !partials_meet(w) && !w->shared) {
        /* If groups deal out the tiles of one sum differently, each tile becomes a strip, so that parts
         * meet. */
        int64_t faults = m->fault_count;
        w->alone = true;
        walk_launch(w);
        check_coverage(w);
        if (!partials_meet(w) && m->fault_count == faults)
            fault_plain(m, LX_FAULT_PLAN, NULL,
                        "groups of cores cut their parts of one sum into different tiles");
    }
    for (int64_t c = 0; c < w->cores; c++) {
        struct core_work *core = &w->core[c];
        if (core->strips.count == 0) continue;
        core->place = arena_array(m->scratch, (size_t)w->operands, sizeof *core->place);
        for (int i = 0; i < w->operands; i++) core->place[i] = place_of_access(m, i, c);
    }
    read_operands(w);
    if (w->op->output_count > 1) split_results(w);
    for (int k = 0; k < w->result_count; k++) {
        struct op_work *result = &w->results[k];
        for (size_t i = 0; i < w->strip_count; i++)
            find_region(result, &result->strip[i], result->out, region_make, m->scratch,
                        &result->strip[i].written);
        if (m->host.made)
            for (size_t i = 0; i < w->strip_count; i++) strip_prepare(result, &result->strip[i]);
        else
            compute_strips(result);
        if (m->failed || cancel_requested()) break;
        join_partials(result);
        add_to_sums(result);
    }
    for (int k = 0; k < w->result_count && !m->failed && !cancel_requested(); k++) {
        divide_means(&w->results[k]);
        if (m->host.made) pool_run(m->pool, (int64_t)w->strip_count, take_made_task, &w->results[k]);
        write_strips(&w->results[k]);
        count_partials(&w->results[k]);
    }
    for (int k = 0; k < w->result_count; k++)
        for (size_t i = 0; i < w->strip_count; i++) {
            mem_free(w->results[k].strip[i].out);
            mem_free(w->results[k].strip[i].wide);
        }
    for (int64_t c = 0; c < w->cores; c++) strips_free(&w->core[c].strips);
}

void execute_op(struct machine *m)
{
    const struct lx_op *op = machine_op(m);
    struct op_work w = {.m = m,
                        .op = op,
                        .operands = op_operand_count(op),
                        .out = op->input_count,
                        .cores = m->cores,
                        .groups = 1};
    op_index_of(m->graph, op, &w.x);
    lx_choice_of(op, &w.choice);
    w.launch = &m->launches[m->tick];
    w.class = execute_class_of(&w);
    if (w.class != CLASS_BYTES) {
        iteration_offsets(&m->at, w.launch->launch, w.offset);
        w.terms = 1;
        for (int v = 0; v < w.x.var_count; v++)
            if (op_index_summed(&w.x, v)) w.terms *= w.x.extent[v];
        if (m->at.nest) {
            w.summed = m->summed[op->output];
            nest_tile_index(m->plan->nests, m->plan->nest_count, m->tick, &w.x);
        }
    }
    set_arithmetic(&w);
    check_arguments(m);
    if (w.class == CLASS_BYTES) {
        check_whole(m);
        execute_bytes(m);
    } else
        execute_tiles(&w);
    skews_step(m);
    for (int i = op->input_count; i < op_operand_count(op); i++)
        m->current[op_operand(op, i)] = value_made(m, i);
}
