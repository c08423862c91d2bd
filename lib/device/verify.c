/* Reads back, compares with kept items, and judges. */
#include "device/verify.h"

int64_t items_bytes(const struct machine *m, int32_t tensor)
{
    const struct lx_layout *l = &m->layouts[tensor];
    return layout_items(l) * number_types[l->dtype].item;
}

/* The meaning of the result that is operand `operand` of a tick's op: the pattern's op, or a copy that the
 * layout stage added. `one` is room for it. */
static struct op_items verify_meant_by(const struct machine *m, int32_t tick, int operand, struct lx_op *one)
{
    int32_t origin = m->plan->layouts->op_origin[tick];
    const struct lx_op *runs = &m->graph->ops[tick];
    struct op_items x = {.g = m->graph, .op = runs};
    if (origin < 0) return x;
    const struct lx_op *all = &m->program.pattern->ops[origin];
    int32_t tensor = m->plan->layouts->origin[op_operand(runs, operand)];
    x.result = program_made(&m->program, origin, tensor) - m->program.made_at[origin];
    *one = op_of_result(all, x.result);
    x.g = m->program.pattern;
    x.op = one;
    return x;
}

void verifier_make(struct machine *m, struct verifier *v)
{
    const struct lx_graph *g = m->graph;
    v->kept = mem_zeroed((size_t)g->tensor_count + 1, sizeof *v->kept);
    v->last_op = arena_array(m->memory, (size_t)g->tensor_count + 1, sizeof *v->last_op);
    v->tile = arena_array(m->memory, (size_t)m->plan->access_at[g->op_count] + 1, sizeof *v->tile);
    for (int32_t n = 0; n < m->plan->nest_count; n++)
        for (int32_t o = m->plan->nests[n].first; o <= m->plan->nests[n].last; o++)
            for (int i = g->ops[o].input_count; i < op_operand_count(&g->ops[o]); i++) {
                struct lx_op one;
                struct op_items x = verify_meant_by(m, o, i, &one);
                v->tile[m->plan->access_at[o] + i] =
                    tile_op_make(x.g, x.op, &m->plan->nests[n], o, m->memory);
            }
    for (int32_t t = 0; t < g->tensor_count; t++)
        v->last_op[t] = lx_role_leaves(g->tensors[t].role) ? g->op_count : -1;
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < g->ops[o].input_count + op_keeps(&g->ops[o]); i++) {
            int32_t *last = &v->last_op[op_operand(&g->ops[o], i)];
            *last = *last > o ? *last : o;
        }
}

static void drop_before(struct verifier *v)
{
    for (int i = 0; i < LX_MAX_OPERANDS; i++) {
        mem_free(v->own[i]);
        v->before[i] = v->own[i] = NULL;
    }
}

void verifier_free(struct machine *m, struct verifier *v)
{
    drop_before(v);
    for (int32_t t = 0; v->kept && t < m->graph->tensor_count; t++) mem_free(v->kept[t]);
    mem_free(v->kept);
}

void *verify_room(struct machine *m, struct verifier *v, int32_t tensor)
{
    /* Up to whole words, which ops on bytes read. */
    if (!v->kept[tensor]) v->kept[tensor] = mem_zeroed((size_t)items_bytes(m, tensor) / 8 + 1, 8);
    return v->kept[tensor];
}

/* ---- kept tiles ---- */

/* Copies items of a range between a whole tensor and a tile, row by row; `out`: to the tile. */
static void copy_range(const struct lx_layout *l, const struct host_range *r, unsigned char *whole,
                       unsigned char *tile, bool out)
{
    int item = number_types[l->dtype].item, last = r->rank - 1;
    int64_t at[LX_MAX_RANK] = {0}, row = last >= 0 ? r->to[last] - r->from[last] : 1;
    size_t bytes = (size_t)(row * item);
    for (;; tile += bytes) {
        int64_t place = 0;
        for (int h = 0; h < r->rank; h++) place = place * l->host_shape[h] + r->from[h] + at[h];
        if (out)
            memcpy(tile, whole + place * item, bytes);
        else
            memcpy(whole + place * item, tile, bytes);
        int h = last - 1;
        for (; h >= 0 && ++at[h] == r->to[h] - r->from[h]; h--) at[h] = 0;
        if (h < 0) return;
    }
}

/* Keeps the content of a tensor from now on: the whole, or a tile. */
static void verify_keep(struct machine *m, struct verifier *v, int operand, const void *items)
{
    int32_t tensor = op_operand(machine_op(m), operand);
    if (!m->at.nest && v->last_op[tensor] < m->tick) return;
    verify_room(m, v, tensor);
    const struct lx_layout *l = &m->layouts[tensor];
    if (!m->at.nest) {
        memcpy(v->kept[tensor], items, (size_t)items_bytes(m, tensor));
        return;
    }
    struct host_range r = operand_range(m, operand);
    unsigned char *tile = (unsigned char *)(uintptr_t)items; /* only read */
    copy_range(l, &r, v->kept[tensor], tile, false);
}

int64_t verify_altered(const struct machine *m, const struct verifier *v, int32_t tensor, const void *items)
{
    const unsigned char *kept = v->kept ? v->kept[tensor] : NULL, *now = items;
    int64_t bytes = items_bytes(m, tensor), item = number_types[m->layouts[tensor].dtype].item, n = 0;
    if (!kept || memcmp(kept, now, (size_t)bytes) == 0) return 0;
    for (int64_t i = 0; i < bytes; i += item) n += memcmp(kept + i, now + i, (size_t)item) != 0;
    return n;
}

/* The kept tile: in place, if it is one piece of the whole, or a copy. */
static const void *kept_tile(struct machine *m, struct verifier *v, int operand, int64_t bytes)
{
    int32_t tensor = op_operand(machine_op(m), operand);
    const struct lx_layout *l = &m->layouts[tensor];
    struct host_range r = operand_range(m, operand);
    int64_t begin = 0;
    bool inside = false, one = true; /* inside: a dimension further out has more than one index */
    for (int h = 0; h < r.rank; h++) {
        one &= !inside || r.to[h] - r.from[h] == l->host_shape[h];
        inside |= r.to[h] - r.from[h] > 1;
        begin = begin * l->host_shape[h] + r.from[h];
    }
    if (one) return (const unsigned char *)v->kept[tensor] + begin * number_types[l->dtype].item;
    void *items = v->own[operand] = mem_alloc((size_t)bytes + 8);
    copy_range(l, &r, v->kept[tensor], items, true);
    return items;
}

/* Reads an operand before the op. An unchanged operand is not copied; elements that no part covers count as
 * unchanged. */
static bool read_before(struct machine *m, struct verifier *v, int operand, struct lx_op_run *op)
{
    int32_t tensor = op_operand(machine_op(m), operand);
    struct host_range r = operand_range(m, operand);
    int64_t differing = 0, bytes = number_types[m->layouts[tensor].dtype].item;
    for (int h = 0; h < r.rank; h++) bytes *= r.to[h] - r.from[h];
    if (v->kept[tensor] && !compare_operand(m, operand, v->kept[tensor], &differing)) return false;
    op->altered += differing;
    const void *kept = v->kept[tensor] ? kept_tile(m, v, operand, bytes) : NULL;
    v->before[operand] = kept;
    if (v->kept[tensor] && !differing) return true;
    void *items = mem_zeroed((size_t)bytes / 8 + 1, 8);
    if (kept) memcpy(items, kept, (size_t)bytes);
    mem_free(v->own[operand]);
    v->before[operand] = v->own[operand] = items;
    return read_operand(m, operand, items);
}

void verify_before(struct machine *m, struct verifier *v, struct lx_op_run *op)
{
    const struct lx_op *o = machine_op(m);
    v->ready = true;
    /* The output is read too, if the op keeps elements or continues a sum of earlier tiles. */
    for (int i = 0; v->ready &&
                    i < o->input_count + (op_keeps(o) ||
                                          (m->at.nest && content_before(m, machine_op(m)->output).parts > 0));
         i++)
        v->ready = read_before(m, v, i, op);
}

static void verify_result(struct machine *m, struct verifier *v, int operand, struct lx_op_run *op,
                          void *items)
{
    int32_t tensor = op_operand(machine_op(m), operand);
    bool there = read_operand(m, operand, items);
    if (!(there && v->ready) && m->fault_count == 0)
        fault_plain(m, LX_FAULT_PLACE, NULL,
                    "an operand cannot be read back, so that nobody can judge the op");
    if (there) {
        /* Only the host knows the result of its own op. */
        if (v->ready && (!m->host.op || !(machine_op(m)->kind->traits & LX_EXTERN))) {
            struct lx_op one;
            struct op_items x = verify_meant_by(m, m->tick, operand, &one);
            const struct tile_op *tile = v->tile[m->plan->access_at[m->tick] + operand];
            int inputs = machine_op(m)->input_count;
            for (int i = 0; i < inputs; i++) x.inputs[i] = v->before[i];
            if (tile) {
                x.g = &tile->graph;
                x.op = &tile->op;
                x.before = v->before[inputs];
                x.divisor = content_after(m, tensor).parts ? 1 : tile->terms;
            } else
                x.kept = op_keeps(x.op) ? v->before[inputs] : NULL;
            struct judged judged;
            x.output = items;
            judge_op(&x, m->pool, &judged);
            /* Over all iterations. */
            struct judged all = {op->wrong, op->error, op->bound, op->share, op->largest};
            judged_add(&all, &judged);
            op->verified = true;
            op->wrong = all.wrong;
            op->error = all.error;
            op->bound = all.bound;
            op->share = all.share;
            op->largest = all.largest;
        }
        verify_keep(m, v, operand, items);
        const void *whole = m->at.nest ? v->kept[tensor] : items;
        bool first = operand == machine_op(m)->input_count;
        if (whole && iteration_inner_last(&m->at, 0))
            op->hash = hash_words(first ? HASH_START : op->hash, whole, (size_t)items_bytes(m, tensor));
    }
}

void verify_after(struct machine *m, struct verifier *v, struct lx_op_run *op, void *items)
{
    const struct lx_op *o = machine_op(m);
    if (m->failed) return;
    for (int i = o->input_count; i < op_operand_count(o); i++) verify_result(m, v, i, op, items);
    drop_before(v);
    if (!iteration_inner_last(&m->at, 0)) return;
    for (int i = 0; i < op_operand_count(o); i++) {
        int32_t t = op_operand(o, i);
        if (v->last_op[t] > m->tick) continue;
        mem_free(v->kept[t]);
        v->kept[t] = NULL;
    }
}

/* --- The verdict on a run: counts against the plan, results against their bounds. --- */

/* Counts of both the device and the plan. */
static const struct {
    const char *what;
    size_t counted, planned;
} rows[] = {
    {"bytes read from HBM", offsetof(struct lx_counters, hbm_read), offsetof(struct lx_op_traffic, hbm_read)},
    {"bytes written to HBM", offsetof(struct lx_counters, hbm_written),
     offsetof(struct lx_op_traffic, hbm_written)},
    {"bytes over the data ring", offsetof(struct lx_counters, ring), offsetof(struct lx_op_traffic, ring)},
    {"bytes over the reduce ring", offsetof(struct lx_counters, reduce_ring),
     offsetof(struct lx_op_traffic, reduce_ring)},
    {"bytes read from LX", offsetof(struct lx_counters, lx_read), offsetof(struct lx_op_traffic, lx_read)},
    {"bytes written to LX", offsetof(struct lx_counters, lx_written),
     offsetof(struct lx_op_traffic, lx_written)},
};

void lx_counters_add(struct lx_counters *to, const struct lx_counters *from)
{
    to->hbm_read += from->hbm_read;
    to->hbm_written += from->hbm_written;
    to->lx_read += from->lx_read;
    to->lx_written += from->lx_written;
    to->ring += from->ring;
    to->reduce_ring += from->reduce_ring;
    to->flops += from->flops;
}

static void unequal(struct lx_run_result *r, const char *where, const char *what, int64_t counted,
                    int64_t planned)
{
    if (!r->unequal)
        r->unequal =
            arena_format(r->memory, "%s: %" PRId64 " %s, planned %" PRId64, where, counted, what, planned);
}

void judge(const struct lx_plan *p, struct lx_run_result *r, struct lx_op_run *ops)
{
    for (int32_t o = 0; o < r->op_count; o++) {
        for (int64_t c = 0; c < r->cores; c++)
            lx_counters_add(&ops[o].counted, &r->by_core[o * r->cores + c]);
        lx_counters_add(&r->total, &ops[o].counted);
        ops[o].cores_used = p->divisions->at[o].cores_used;
        ops[o].device_us = p->traffic[o].device_us;
        ops[o].end_to_end_us = p->traffic[o].end_to_end_us;
        ops[o].counts_agree = true;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            int64_t counted =
                        *(const int64_t *)(const void *)((const char *)&ops[o].counted + rows[i].counted),
                    planned =
                        *(const int64_t *)(const void *)((const char *)&p->traffic[o] + rows[i].planned);
            if (counted == planned) continue;
            ops[o].counts_agree = false;
            unequal(r, p->layouts->graph->ops[o].name, rows[i].what, counted, planned);
        }
        r->unequal_ops += !ops[o].counts_agree;
    }
    int64_t hbm = r->total.hbm_read + r->total.hbm_written;
    for (int32_t i = 0; i < p->transfer_count; i++)
        if (r->transfer_bytes[i] != p->transfers[i].bytes)
            unequal(r, "a transfer", "bytes", r->transfer_bytes[i], p->transfers[i].bytes);
    if (hbm != p->figures.hbm_bytes)
        unequal(r, "all ops", "bytes to and from HBM", hbm, p->figures.hbm_bytes);
    if (r->height_bytes != p->figures.height_bytes)
        unequal(r, "scratchpad", "bytes in use", r->height_bytes, p->figures.height_bytes);
    if (r->total.ring != p->figures.ring_bytes)
        unequal(r, "all ops", "bytes over the data ring", r->total.ring, p->figures.ring_bytes);
    for (int32_t o = 0; o < r->op_count; o++) {
        const struct lx_op_run *op = &r->ops[o];
        r->wrong_ops += op->wrong > 0 || op->altered > 0;
        if (!op->verified || (r->worst_op >= 0 && op->share <= r->share)) continue;
        r->worst_op = o;
        r->share = op->share;
    }
    r->relative_error = -1;
    for (int32_t i = 0; i < r->output_count; i++)
        if (r->outputs[i].known) r->relative_error = fmax(r->relative_error, r->outputs[i].relative);
    r->ok = r->fault_count == 0 && r->wrong_ops == 0 && !r->unequal;
}
