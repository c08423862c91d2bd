/* The buffers of a plan: each is as large as a core's part of its tensor, no two that live at the same time
 * share a byte, and every handover is legal. A bare list has the buffers of its pattern. */
#include "check/check.h"

/* Sets `out` to the parts of buffer i, by the op and operand of its view. */
static bool check_buffers_find_parts(const struct checker *c, int32_t i, struct parts *out)
{
    const struct lx_stay *s = &c->p->stays[i];
    struct cut k;
    *out = (struct parts){.cores = 1};
    if (c->g->op_count == 0) return true;
    if (s->tensor < 0 || s->tensor >= c->g->tensor_count || s->view_op < 0 || s->view_op >= c->g->op_count ||
        s->view_operand < 0 || s->view_operand >= op_operand_count(&c->g->ops[s->view_op]) ||
        op_operand(&c->g->ops[s->view_op], s->view_operand) != s->tensor) {
        if (c->p->answer.address[i] < 0) return true;
        return status_set(c->st, LX_E_NO, "buffer %s has the view of an op that does not access its tensor",
                          c->p->problem.buffers[i].name);
    }
    cut_of_op(c, s->view_op, &k);
    /* A hold is a level that cuts the tensor; a buffer with a whole tensor has hold 0. */
    bool held = k.nest && s->hold > 0 && s->hold <= k.nest->level_count &&
                (looped_in(c, k.nest, s->tensor).indexed & 1u << (s->hold - 1));
    if (s->hold != 0 && !held)
        return status_set(c->st, LX_E_NO,
                          "buffer %s is held at level %d, which is none of a nest that cuts its tensor",
                          c->p->problem.buffers[i].name, s->hold);
    *out = parts_of_operand(c, &k, s->view_op, s->view_operand, s->hold);
    return true;
}

int64_t part_bytes(const struct checker *c, int32_t tensor, const struct parts *p)
{
    const struct lx_layout *l = &c->l->layouts[tensor];
    int64_t bytes = l->stick_bytes;
    if (l->rank == 0) return c->g->tensors[tensor].bytes;
    for (int d = 0; d < p->rank; d++)
        bytes *= min_i64(l->size[d] / p->tiles[d],
                         ceil_div_i64(l->size[d] / p->tiles[d] / p->blocks[d], p->slices[d]) * p->blocks[d] +
                             p->low[d] + p->high[d]);
    return bytes;
}

bool may_take_place(const struct checker *c, int32_t child, int32_t parent, const struct parts *parts)
{
    const struct lx_stay *s = &c->p->stays[child];
    int64_t tick = c->p->problem.buffers[child].start;
    struct op_index x;
    bool reads = false;
    const struct lx_buffer *own = &c->p->problem.buffers[child], *other = &c->p->problem.buffers[parent];
    if (tick < 0 || tick >= c->g->op_count) return false;
    if (other->end != tick + 1 || own->size > other->size) return false;
    const struct lx_op *op = &c->g->ops[tick];
    const struct lx_access *a = &c->p->accesses[c->p->access_at[tick]];
    op_index_of(c->g, op, &x);
    if (op->output != s->tensor || a[op->input_count].stay != child ||
        c->p->stays[parent].tensor == s->tensor || !(op->kind->traits & LX_IN_PLACE) || op->reduces ||
        !parts_equal(&parts[child], &parts[parent]))
        return false;
    for (int i = 0; i < op->input_count; i++) {
        if (op->inputs[i] != c->p->stays[parent].tensor) continue;
        /* Both have the same indices of the op, so that each element is read before it is overwritten. */
        const struct lx_tensor *in = &c->g->tensors[op->inputs[i]], *out = &c->g->tensors[op->output];
        const struct lx_layout *from = &c->l->layouts[op->inputs[i]], *to = &c->l->layouts[op->output];
        int made = op->input_count;
        bool same = x.known ? !op_index_shifted(&x, i) && !op_index_shifted(&x, made) &&
                                  lx_layout_equal(from, to) && x.rank[i] == x.rank[made] &&
                                  memcmp(x.var[i], x.var[made], (size_t)x.rank[i]) == 0
                            : from->rank == to->rank;
        if (a[i].stay != parent || !same || in->bytes != out->bytes || (in->rank < 0) != (out->rank < 0))
            return false;
        reads = true;
    }
    return reads;
}

/* Checks the placement as a problem of its own, without the buffers off chip. */
static bool places_legal(const struct checker *c)
{
    const struct lx_plan *p = c->p;
    struct lx_buffer *b = arena_array(c->memory, (size_t)p->problem.count, sizeof *b);
    struct lx_problem own = {.objective = p->problem.objective,
                             .capacity = lx_device_usable(&c->g->device),
                             .alignment = c->g->device.stick_bytes,
                             .count = p->problem.count,
                             .buffers = b};
    lx_status why = {0};
    int64_t ignored;
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *x = &p->problem.buffers[i];
        bool placed = p->answer.address[i] >= 0;
        b[i] = (struct lx_buffer){.name = x->name,
                                  .size = x->size,
                                  .start = x->start,
                                  .end = x->end,
                                  .fixed = -1,
                                  .parents = &p->took_slot_of[i],
                                  .parent_count = placed && p->took_slot_of[i] >= 0,
                                  .reason = placed ? NULL : x->reason};
    }
    if (lx_problem_check(&own, p->answer.address, &ignored, &why)) return true;
    return status_set(c->st, LX_E_NO, "%s", why.text);
}

bool check_buffers(const struct checker *c, struct parts *parts)
{
    const struct lx_problem *own = &c->p->problem;
    int64_t capacity = lx_device_usable(&c->g->device), alignment = c->g->device.stick_bytes;
    if (own->capacity != capacity || own->alignment != alignment)
        return status_set(
            c->st, LX_E_NO,
            "the plan has scratchpads of %lld bytes and an alignment of %lld, but its device has %lld and "
            "%lld",
            (long long)own->capacity, (long long)own->alignment, (long long)capacity, (long long)alignment);
    for (int32_t i = 0; i < c->p->problem.count; i++) {
        const struct lx_buffer *b = &c->p->problem.buffers[i];
        if (b->start < 0 || b->start >= b->end)
            return status_set(c->st, LX_E_NO, "buffer %s lives from tick %lld to before %lld", b->name,
                              (long long)b->start, (long long)b->end);
        if (!check_buffers_find_parts(c, i, &parts[i])) return false;
        int64_t size = c->p->problem.buffers[i].size,
                part = part_bytes(c, c->p->stays[i].tensor, &parts[i]) * lx_stages(&c->p->stays[i]);
        if (size != part && c->p->answer.address[i] >= 0)
            return status_set(c->st, LX_E_NO, "buffer %s has %lld bytes, but a core's part of it has %lld",
                              c->p->problem.buffers[i].name, (long long)size, (long long)part);
    }
    for (int32_t i = 0; i < c->p->problem.count; i++) {
        int32_t from = c->p->took_slot_of[i];
        if (from < 0 || (c->p->answer.address[i] >= 0 && c->p->answer.address[from] >= 0 &&
                         may_take_place(c, i, from, parts)))
            continue;
        return status_set(c->st, LX_E_NO, "buffer %s cannot be written in the place of %s",
                          c->p->problem.buffers[i].name, c->p->problem.buffers[from].name);
    }
    /* Buffers of a stated handover must have one address. */
    const struct lx_plan *p = c->p;
    for (int32_t i = 0; i < p->problem.count; i++) {
        int32_t from = p->took_slot_of[i];
        if (from >= 0 && p->answer.address[i] >= 0 && p->answer.address[i] != p->answer.address[from])
            return status_set(c->st, LX_E_NO, "buffer %s is not where %s is, whose place it takes",
                              c->p->problem.buffers[i].name, c->p->problem.buffers[from].name);
    }
    if (!places_legal(c)) return false;
    for (int32_t i = 0; p->problem.objective == LX_FIT && i < p->problem.count; i++)
        if (p->answer.address[i] < 0 && !p->problem.buffers[i].reason)
            return status_set(c->st, LX_E_NO, "not every buffer is placed (%s): %s is not",
                              lx_verdict_word(p->answer.status), c->p->problem.buffers[i].name);
    return true;
}

static bool check_buffers_list_totals(const struct lx_plan *p, int64_t objective, lx_status *st)
{
    int64_t height = 0, spill = 0, all = 0;
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->graph->list->buffers[i];
        all += b->spill_cost;
        if (p->answer.address[i] < 0) spill += b->spill_cost;
    }
    if (p->problem.objective == LX_SPILL) spill = objective;
    for (int32_t k = 0; k < (p->graph->list->pool_count ? p->graph->list->pool_count : 1); k++) {
        /* The highest end of a buffer or reservation in the pool. */
        int64_t top = 0;
        for (int32_t i = 0; i < p->graph->list->buffer_count; i++)
            if (p->answer.address[i] >= 0 && (!p->answer.pool || p->answer.pool[i] == k))
                top = max_i64(top, p->answer.address[i] + p->graph->list->buffers[i].size);
        for (int32_t i = 0; p->graph->list->pool_count && i < p->graph->list->pools[k].reserved_count; i++)
            top = max_i64(top, p->graph->list->pools[k].reserved[i].to);
        height += top;
    }
    const struct lx_figures *f = &p->figures;
    if (f->hbm_bytes == spill && f->spill_bytes == spill && f->baseline_hbm_bytes == all &&
        f->height_bytes == height && p->answer.objective == objective)
        return true;
    return status_set(
        st, LX_E_NO,
        "the plan claims %lld bytes of traffic, %lld of spill, %lld with nothing on chip and a height of "
        "%lld, but has %lld, %lld, %lld and %lld",
        (long long)f->hbm_bytes, (long long)f->spill_bytes, (long long)f->baseline_hbm_bytes,
        (long long)f->height_bytes, (long long)spill, (long long)spill, (long long)all, (long long)height);
}

/* A buffer that states a handover has the address and pool of one of its parents. */
static bool list_handovers(const struct lx_plan *p, lx_status *st)
{
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->graph->list->buffers[i];
        int32_t from = p->took_slot_of[i];
        bool found = false, shares = false;
        for (int32_t k = 0; k < b->parent_count; k++) {
            int32_t parent = b->parents[k];
            bool pool = !p->answer.pool || p->answer.pool[parent] == p->answer.pool[i];
            found |= parent == from && pool;
            shares |= p->answer.address[parent] == p->answer.address[i] && pool;
        }
        bool right = from < 0 || (found && p->answer.address[i] == p->answer.address[from]);
        if (p->answer.address[i] < 0 ? from < 0 : right && (from >= 0 || !shares || b->size == 0)) continue;
        return status_set(st, LX_E_NO, "buffer %s does not stand in the place that the plan says", b->name);
    }
    return true;
}

bool check_list(const struct lx_plan *p, lx_status *st)
{
    const struct lx_graph *g = p->graph;
    int64_t capacity = g->list->capacity >= 0 ? g->list->capacity : lx_device_usable(&g->device), objective;
    enum lx_rule rule;
    lx_status why = {0};
    if (g->list->pool_count) capacity = 0;
    for (int32_t k = 0; k < g->list->pool_count; k++) capacity += max_i64(g->list->pools[k].capacity, 0);
    struct lx_problem own = {.objective = p->problem.objective,
                             .capacity = capacity,
                             .alignment = g->list->alignment,
                             .count = g->list->buffer_count,
                             .buffers = g->list->buffers,
                             .pools = g->list->pools,
                             .pool_count = g->list->pool_count,
                             .bonds = g->list->bonds};
    if (p->problem.count != g->list->buffer_count || p->problem.capacity != capacity ||
        p->problem.alignment != g->list->alignment)
        return status_set(st, LX_E_NO,
                          "the plan is of other buffers, capacity or alignment than its pattern");
    if (own.objective == LX_FIT && lx_left_out(&own, p->answer.address))
        return status_set(st, LX_E_NO, "not every buffer is placed (%s): %s is not",
                          lx_verdict_word(p->answer.status), lx_left_out(&own, p->answer.address)->name);
    if (!lx_check_places(&own, p->answer.pool, p->answer.address, &objective, &rule, &why)) {
        bool plain = !g->list->pool_count && !lx_problem_needs(&own);
        if (rule == LX_RULE_OVERLAP && !check_loops(g->list, p->answer.address, p->answer.pool, st))
            return false;
        return status_set(st, why.code, "%s%s%s", plain ? "" : lx_rule_word(rule), plain ? "" : ": ",
                          why.text);
    }
    if (own.objective == LX_FIT) objective = p->answer.objective; /* the cost of barred buffers */
    return list_handovers(p, st) && check_buffers_list_totals(p, objective, st);
}
