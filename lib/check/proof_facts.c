/* The facts of a graph on which a proof rests. */
#include "check/proof.h"
#include "graph/choice.h"

/* How many tiles a level may cut the dimension of an operand into: a divisor of this. */
static int64_t proof_facts_tiles(const struct lx_layout *l, int dim)
{
    int64_t tiles = l->rank > 0 ? l->host_shape[dim] : 1;
    for (int d = 0; d < l->rank - 1; d++)
        if (l->host_dim[d] == dim)
            tiles = l->size[d] * l->step[d] == l->host_shape[dim] ? gcd_i64(tiles, l->size[d]) : 1;
    if (l->stick_dim != dim) return tiles;
    return l->host_shape[dim] % l->stick_elements ? 1
                                                  : gcd_i64(tiles, l->host_shape[dim] / l->stick_elements);
}

static void proof_facts_op(const struct checker *c, int32_t o, struct proof_op *out)
{
    const struct lx_op *op = &c->g->ops[o];
    bool by_dimensions = (op->kind->traits & LX_VIEW) && !op->map;
    struct op_index x;
    op_index_of(c->g, op, &x);
    out->wipes = op->kind->traits & LX_WIPES;
    out->running = op->kind->id == LX_KIND_LOGSUMEXP;
    out->walks = x.known && (op_is_restickify(op) ||
                             !(by_dimensions || (op->kind->traits & (LX_EXTERN | LX_OPAQUE | LX_ALTERS))));
    for (int i = op->input_count; i < op_operand_count(op); i++)
        out->walks &= c->writer[op_operand(op, i)] == o;
    out->var_count = x.known ? x.var_count : 0;
    for (int v = 0; v < out->var_count; v++) {
        bool window = x.window_count && (op_index_slides(&x, v) || op_index_reduced(&x, v));
        int64_t tiles = window || lx_var_nature(op, v) != LX_ITERATED ? 1 : x.extent[v];
        for (int i = 0; i < x.operand_count; i++)
            for (int d = 0; d < x.rank[i]; d++)
                if (x.var[i][d] == v)
                    tiles = op_index_dim(&x, i, v) == d
                                ? gcd_i64(tiles, proof_facts_tiles(&c->l->layouts[op_operand(op, i)], d))
                                : 1;
        out->divides[v] = tiles;
    }
}

/* Is the tensor off chip by the pattern, or by the passes of the plan? */
static bool proof_facts_barred(const struct checker *c, int32_t tensor)
{
    const struct lx_tensor *t = &c->g->tensors[tensor];
    const struct lx_passes *how = &c->p->passes;
    bool shaped = c->l->layouts[tensor].rank > 0;
    return t->memory == 1 + LX_MEMORY_HBM || t->placing == 1 + LX_INTERLEAVED || t->role == LX_STATE ||
           (lx_role_arrives(t->role) && (how->clone == LX_CLONE_NONE || !shaped)) ||
           (lx_role_leaves(t->role) && (how->no_outputs || !shaped));
}

static void proof_facts_access(const struct checker *c, int32_t o, int i, struct proof_access *out)
{
    const struct lx_op *op = &c->g->ops[o];
    int32_t tensor = op_operand(op, i);
    bool writes = i >= op->input_count;
    struct lx_choice choice;
    struct op_index x;
    struct cut k;
    op_index_of(c->g, op, &x);
    cut_of_op(c, o, &k);
    *out = (struct proof_access){
        .op = o, .tensor = tensor, .reads = !writes || op_keeps_rest(op), .writes = writes};
    out->barred = (op->kind->traits & LX_EXTERN) || proof_facts_barred(c, tensor);
    out->picked = !writes && lx_choice_of(op, &choice) && choice.operand == i;
    out->gives = !writes && op_operand_made(op, tensor) < 0 && (op->kind->traits & LX_IN_PLACE) &&
                 !op->reduces && !c->p->passes.no_in_place &&
                 c->g->tensors[tensor].bytes == c->g->tensors[op->output].bytes;
    out->bytes = touched_bytes(c, &k, o, i);
    out->rank = x.known ? x.rank[i] : 0;
    memcpy(out->var, x.var[i], sizeof out->var);
}

/* Without nests the splits of the ops are given: on each core a tensor takes at least its smallest part, and
 * if all ops see the same parts it is on chip from its first use to its last, or not at all. */
static void proof_facts_part(const struct checker *c, struct proof_facts *f, const struct proof_access *a,
                             int operand)
{
    struct proof_tensor *t = &f->tensors[a->tensor];
    struct parts own, first;
    struct cut k;
    const struct proof_access *b = f->accesses;
    while (b < a && b->tensor != a->tensor) b++;
    cut_of_op(c, a->op, &k);
    own = parts_of_operand(c, &k, a->op, operand, 0);
    t->size = min_i64(t->size, round_up_i64(part_bytes(c, a->tensor, &own), c->g->device.stick_bytes));
    cut_of_op(c, b->op, &k);
    first = parts_of_operand(c, &k, b->op, (int)(b - &f->accesses[c->p->access_at[b->op]]), 0);
    t->cuts |=
        a->barred || !parts_equal(&own, &first) || (c->l->layouts[a->tensor].rank > 0 && !own.touched_whole);
}

/* Do bundles wipe the scratchpads between them: for a limit of the device, or because the plan has it so? */
static bool proof_facts_wiped(const struct checker *c)
{
    const struct lx_device *d = &c->g->device;
    bool wiped = d->bundle_tensors > 0 && !d->lx_survives;
    for (int32_t i = 1; i < c->p->bundle_count; i++) {
        int32_t before = c->p->bundles[i - 1].first, first = c->p->bundles[i].first;
        bool alone = (c->g->ops[before].kind->traits | c->g->ops[first].kind->traits) & LX_WIPES;
        wiped |= !alone && !c->p->bundles[i - 1].non_terminal;
    }
    return wiped;
}

void proof_facts_find(const struct checker *c, struct proof_facts *f)
{
    const struct lx_graph *g = c->g;
    const struct lx_passes *how = &c->p->passes;
    int64_t cores = c->p->divisions->cores, usable = lx_device_usable(&g->device);
    bool wiped = proof_facts_wiped(c);
    *f = (struct proof_facts){.nests = how->tile != LX_TILE_NONE,
                              .tensor_count = g->tensor_count,
                              .op_count = g->op_count,
                              .access_count = c->p->access_at[g->op_count]};
    if (!mul_i64(usable, f->nests ? cores : 1, &f->room) || f->room > LX_INT_MAX) f->room = LX_INT_MAX;
    f->tensors = arena_array(c->memory, (size_t)g->tensor_count, sizeof *f->tensors);
    f->ops = arena_array(c->memory, (size_t)g->op_count, sizeof *f->ops);
    f->accesses = arena_array(c->memory, (size_t)f->access_count, sizeof *f->accesses);
    for (int32_t t = 0; t < g->tensor_count; t++) {
        struct proof_tensor *to = &f->tensors[t];
        to->whole = to->size = whole_bytes(c, t);
        /* A tensor known by its bytes is on every core as a whole. */
        if (f->nests && c->l->layouts[t].rank == 0 && !mul_i64(to->whole, cores, &to->size))
            to->size = LX_INT_MAX;
        to->leaves = lx_role_leaves(g->tensors[t].role);
        to->cuts = f->nests || how->evict || wiped;
        f->grain = gcd_i64(f->grain, to->whole);
    }
    struct proof_access *next = f->accesses;
    for (int32_t o = 0; o < g->op_count; o++) {
        proof_facts_op(c, o, &f->ops[o]);
        for (int i = 0; i < op_operand_count(&g->ops[o]); i++, next++) {
            proof_facts_access(c, o, i, next);
            f->grain = gcd_i64(f->grain, next->bytes);
            if (!f->nests) proof_facts_part(c, f, next, i);
        }
    }
}

/* A buffer that can be placed, in units. */
static int64_t proof_facts_units(const struct lx_problem *q, const struct lx_buffer *b, int64_t unit)
{
    return lx_may_be_placed(q, b) ? ceil_div_i64(b->size, unit) : 0;
}

static int32_t proof_facts_tick(const int64_t *ticks, int32_t count, int64_t tick)
{
    int32_t i;
    BISECT(i, 0, count, ticks[i] < tick);
    return i;
}

struct proof_life {
    int32_t op, tensor;
    bool last;
};
ORDER(proof_facts_by_op, struct proof_life, ORDER_UP(op) ORDER_UP(tensor));

/* A buffer off chip pays at its first op. A child that may sit on a dying parent is there one tick later. */
bool proof_facts_of_list(const struct lx_problem *q, struct arena *memory, struct proof_facts *f)
{
    enum { MOST = 2000 };
    int64_t unit = 0;
    bool tail = false;
    *f = (struct proof_facts){.tensor_count = q->count};
    if (q->pool_count || lx_problem_needs(q) || q->objective != LX_SPILL || q->count > MOST) return false;
    for (int32_t i = 0; i < q->count; i++)
        if (lx_may_be_placed(q, &q->buffers[i]) && q->buffers[i].size > 0)
            unit = gcd_i64(lx_alignment_of(q, &q->buffers[i]), unit);
    unit = max_i64(unit, 1);
    for (int32_t i = 0; i < q->count; i++) {
        int64_t odd = q->buffers[i].size % unit;
        tail |= odd > 0 && odd <= q->capacity % unit;
    }
    f->room = q->capacity / unit + tail;
    f->tensors = arena_array(memory, (size_t)q->count, sizeof *f->tensors);
    f->accesses = arena_array(memory, 2 * (size_t)q->count, sizeof *f->accesses);
    int64_t *ticks = arena_array(memory, (size_t)q->count, sizeof *ticks);
    for (int32_t i = 0; i < q->count; i++) ticks[i] = q->buffers[i].start + (q->buffers[i].parent_count > 0);
    qsort(ticks, (size_t)q->count, sizeof *ticks, order_i64);
    for (int32_t i = 0; i < q->count; i++)
        if (i == 0 || ticks[i] != ticks[f->op_count - 1]) ticks[f->op_count++] = ticks[i];
    f->ops = arena_array(memory, (size_t)f->op_count, sizeof *f->ops);
    struct proof_life *lives = arena_array(memory, 2 * (size_t)q->count, sizeof *lives);
    for (int32_t i = 0; i < q->count; i++) {
        const struct lx_buffer *b = &q->buffers[i];
        int32_t first = proof_facts_tick(ticks, f->op_count, b->start + (b->parent_count > 0)),
                last = proof_facts_tick(ticks, f->op_count, b->end) - 1;
        f->tensors[i].size = last < first ? 0 : proof_facts_units(q, b, unit);
        f->grain = gcd_i64(f->grain, b->spill_cost);
        lives[f->access_count++] = (struct proof_life){first, i, false};
        if (last > first) lives[f->access_count++] = (struct proof_life){last, i, true};
    }
    qsort(lives, (size_t)f->access_count, sizeof *lives, proof_facts_by_op);
    for (int32_t k = 0; k < f->access_count; k++) {
        const struct lx_buffer *b = &q->buffers[lives[k].tensor];
        f->accesses[k] = (struct proof_access){.op = lives[k].op,
                                               .tensor = lives[k].tensor,
                                               .reads = lives[k].last,
                                               .writes = !lives[k].last,
                                               .barred = !lx_may_be_placed(q, b),
                                               .bytes = lives[k].last ? 0 : b->spill_cost};
    }
    return true;
}

static void proof_facts_row(const int64_t *values, int count, bool last, struct text *t)
{
    for (int i = 0; i < count; i++) {
        text_add(t, i ? "," : "[");
        text_int(t, values[i]);
    }
    text_add(t, last ? "]" : "],\n");
}

void proof_facts_write(const struct proof_facts *f, struct text *t)
{
    text_format(t, "\"room\": %lld, \"nests\": %s,\n\"tensors\": [", (long long)f->room,
                f->nests ? "true" : "false");
    for (int32_t i = 0; i < f->tensor_count; i++) {
        const struct proof_tensor *x = &f->tensors[i];
        proof_facts_row((const int64_t[]){x->whole, x->size, x->leaves, x->cuts}, 4, i + 1 == f->tensor_count,
                        t);
    }
    text_add(t, "],\n\"ops\": [");
    for (int32_t i = 0; i < f->op_count; i++) {
        const struct proof_op *x = &f->ops[i];
        int64_t row[3 + LX_MAX_VARS] = {x->walks, x->wipes, x->running};
        memcpy(row + 3, x->divides, sizeof x->divides);
        proof_facts_row(row, 3 + x->var_count, i + 1 == f->op_count, t);
    }
    text_add(t, "],\n\"accesses\": [");
    for (int32_t i = 0; i < f->access_count; i++) {
        const struct proof_access *x = &f->accesses[i];
        int64_t row[8 + LX_MAX_RANK] = {x->op,     x->tensor, x->reads, x->writes,
                                        x->barred, x->picked, x->gives, x->bytes};
        for (int d = 0; d < x->rank; d++) row[8 + d] = x->var[d];
        proof_facts_row(row, 8 + x->rank, i + 1 == f->access_count, t);
    }
    text_add(t, "]");
}
