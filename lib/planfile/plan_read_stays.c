/* Reads the buffers of a plan file, their stays, accesses and copies. References must exist; the checker
 * compares the rest. */
#include "planfile/plan_file.h"

static bool take_stay(const struct graph_reader *r, const struct json_value *at, const struct plan_buffer *x,
                      struct lx_stay *out)
{
    /* A graph without ops still has stays, of unused tensors: they name tick 0. */
    int32_t ops = r->ops.count > 0 ? r->ops.count : 1;
    const struct lx_op *viewer =
        x->view_op >= 0 && x->view_op < r->ops.count ? &r->p->layouts->graph->ops[x->view_op] : NULL;
    if (!plan_in_range(r, at, "tensor", x->tensor, 0, r->tensors.count) ||
        !plan_in_range(r, at, "first", x->first, -1, ops) ||
        !plan_in_range(r, at, "last", x->last, -1, ops) ||
        !plan_in_range(r, at, "view_op", x->view_op, 0, ops) ||
        !plan_in_range(r, at, "view_operand", x->view_operand, 0, viewer ? op_operand_count(viewer) : 1) ||
        !plan_in_range(r, at, "ring_source", x->ring_source, -1, r->buffers.count) ||
        !plan_in_range(r, at, "stages", x->stages, 1, LX_MOST_STAGES + 1) ||
        !plan_in_range(r, at, "moved_from", x->moved_from, -1, r->buffers.count))
        return false;
    *out = (struct lx_stay){.tensor = (int32_t)x->tensor,
                            .first = (int32_t)x->first,
                            .last = (int32_t)x->last,
                            .view_op = (int32_t)x->view_op,
                            .view_operand = (int)x->view_operand,
                            .stages = (int)x->stages,
                            .ring_source = (int32_t)x->ring_source,
                            .moved_from = (int32_t)x->moved_from,
                            .begins_written = x->begins_written,
                            .cost_unstated = x->cost < 0};
    if (!plan_read_hold(r, at, x, out)) return false;
    const char *word = x->bar;
    for (int which = 0; which < LX_EXCLUDED_COUNT; which++)
        if (strcmp(lx_exclusion_word((enum lx_exclusion)which), word ? word : "none") == 0) {
            out->exclusion = (enum lx_exclusion)which;
            return true;
        }
    return json_error(r->j, at, r->st, LX_E_SCHEMA, "there is no bar \"%s\"", word);
}

static bool plan_read_stays_take_buffer(const struct graph_reader *r, const struct json_value *at,
                                        const struct plan_buffer *x, struct lx_buffer *out)
{
    int32_t count = x->parents.count,
            *parents = arena_array(r->p->memory, (size_t)count + 1, sizeof *parents);
    if (count == 0 && x->in_place_of >= 0) {
        if (!plan_in_range(r, at, "in_place_of", x->in_place_of, 0, r->buffers.count)) return false;
        parents[count++] = (int32_t)x->in_place_of;
    }
    for (int32_t k = 0; k < x->parents.count; k++) {
        if (!plan_in_range(r, at, "a parent", x->parents.at[k], 0, r->buffers.count)) return false;
        parents[k] = (int32_t)x->parents.at[k];
    }
    *out = (struct lx_buffer){.name = x->name ? x->name : r->p->layouts->graph->tensors[x->tensor].name,
                              .size = x->size,
                              .start = x->start,
                              .end = x->end,
                              .parents = parents,
                              .parent_count = count,
                              .fixed = -1,
                              .spill_cost = x->cost >= 0 ? x->cost : 0,
                              .reason = x->bar && !x->reason ? x->bar
                                        : x->bar             ? x->reason
                                                             : NULL};
    return true;
}

/* The uses of each buffer: the ticks of the accesses that it serves. */
static void plan_read_stays_find_uses(struct lx_plan *p, struct lx_buffer *buffers, int32_t count)
{
    int32_t ops = p->layouts->graph->op_count;
    int64_t *uses = arena_array(p->memory, (size_t)p->access_at[ops], sizeof *uses);
    int32_t *first = arena_array(p->memory, (size_t)count + 1, sizeof *first);
    for (int32_t a = 0; a < p->access_at[ops]; a++)
        if (p->accesses[a].stay >= 0) first[p->accesses[a].stay + 1]++;
    for (int32_t i = 0; i < count; i++) {
        first[i + 1] += first[i];
        buffers[i].uses = uses + first[i];
    }
    for (int32_t o = 0; o < ops; o++)
        for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++) {
            int32_t stay = p->accesses[a].stay;
            if (stay < 0) continue;
            struct lx_buffer *b = &buffers[stay];
            int64_t *to = uses + first[stay];
            if (b->use_count == 0) b->first_use_is_read = !p->accesses[a].writes;
            if (b->use_count == 0 || to[b->use_count - 1] != o) to[b->use_count++] = o;
        }
}

/* ring_source and moved_from are absent: the copies that fill the stays name them. Where none does, because
 * the source or the stay is off chip, a stay that outlives its own uses until another of its tensor begins is
 * the other's source. */
static void find_sources(const struct graph_reader *r, const struct lx_buffer *buffers, struct lx_stay *stays)
{
    const struct lx_plan *p = r->p;
    bool *loaded = arena_array(p->memory, (size_t)r->buffers.count, sizeof *loaded);
    for (int32_t k = 0; k < p->transfer_count; k++) {
        const struct lx_transfer *t = &p->transfers[k];
        loaded[t->stay] |= t->kind == LX_LOAD;
        if (t->kind == LX_RING && stays[t->stay].ring_source < 0) stays[t->stay].ring_source = t->source;
        if (t->kind == LX_MOVE && stays[t->stay].moved_from < 0) stays[t->stay].moved_from = t->source;
    }
    for (int32_t i = 0; i < r->buffers.count; i++)
        for (int32_t k = 0; k < i && !loaded[i] && stays[i].ring_source < 0 && stays[i].moved_from < 0; k++) {
            const struct lx_buffer *b = &buffers[k];
            if (stays[k].tensor == stays[i].tensor && b->use_count > 0 && buffers[i].use_count > 0 &&
                b->end > buffers[i].start && b->uses[b->use_count - 1] < buffers[i].start)
                stays[i].ring_source = k;
        }
}

/* All bars are absent: where all is to be placed, what a plan leaves off chip cannot be there. */
static void plan_read_stays_excuse(const struct graph_reader *r, struct lx_buffer *buffers)
{
    const struct plan_buffer *x = (const struct plan_buffer *)r->buffers.at;
    if (r->p->problem.objective == LX_SPILL || r->p->answer.status == LX_INFEASIBLE) return;
    for (int32_t i = 0; i < r->buffers.count; i++)
        if (buffers[i].reason) return;
    for (int32_t i = 0; i < r->buffers.count; i++)
        if (x[i].address < 0) buffers[i].reason = "not told";
}

bool plan_read_stays(const struct graph_reader *r)
{
    struct lx_plan *p = r->p;
    int32_t count = r->buffers.count;
    struct lx_buffer *buffers = arena_array(p->memory, (size_t)count, sizeof *buffers);
    struct lx_stay *stays = arena_array(p->memory, (size_t)count, sizeof *stays);
    for (int32_t i = 0; i < count; i++) {
        struct plan_buffer *x = (struct plan_buffer *)r->buffers.at + i;
        if (x->view_op < 0) {
            /* view_op is absent: the first access that the buffer serves gives its view. */
            const struct lx_graph *g = r->p->layouts->graph;
            for (int32_t o = 0; o < g->op_count && x->view_op < 0; o++) {
                const struct int_list *rows = &((const struct plan_op *)r->ops.at)[o].accesses;
                for (int k = 0; k < op_operand_count(&g->ops[o]) && 4 * k < rows->count && x->view_op < 0;
                     k++)
                    if (rows->at[4 * k] == i) x->view_op = o, x->view_operand = k;
            }
        }
        if (!take_stay(r, r->buffers.where[i], x, &stays[i]) ||
            !plan_read_stays_take_buffer(r, r->buffers.where[i], x, &buffers[i]))
            return false;
    }
    plan_read_stays_excuse(r, buffers);
    p->stays = stays;
    p->problem.buffers = buffers;
    p->problem.count = count;
    const struct lx_graph *g = r->p->layouts->graph;
    int32_t *at = arena_array(r->p->memory, (size_t)g->op_count + 1, sizeof *at);
    for (int32_t o = 0; o < g->op_count; o++) at[o + 1] = at[o] + op_operand_count(&g->ops[o]);
    struct lx_access *a = arena_array(r->p->memory, (size_t)at[g->op_count], sizeof *a);
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct int_list *rows = &((const struct plan_op *)r->ops.at)[o].accesses;
        const struct json_value *where = r->ops.where[o];
        int operands = op_operand_count(&g->ops[o]);
        if (rows->count != 4 * operands)
            return json_error(r->j, where, r->st, LX_E_MISMATCH,
                              "op %s must have %d accesses, one per operand", g->ops[o].name, operands);
        for (int k = 0; k < operands; k++) {
            const int64_t *row = &rows->at[4 * k];
            a[at[o] + k] = (struct lx_access){.tensor = op_operand(&g->ops[o], k),
                                              .stay = (int32_t)row[0],
                                              .reads = row[1] != 0,
                                              .writes = row[2] != 0,
                                              .bytes = row[3]};
            if (!plan_in_range(r, where, "the buffer of an access", row[0], -1, r->buffers.count) ||
                !plan_in_range(r, where, "the reads of an access", row[1], 0, 2) ||
                !plan_in_range(r, where, "the writes of an access", row[2], 0, 2) ||
                !plan_in_range(r, where, "the bytes of an access", row[3], 0, LX_INT_MAX))
                return false;
        }
    }
    r->p->accesses = a;
    r->p->access_at = at;
    plan_read_stays_find_uses(p, buffers, count);
    find_sources(r, buffers, stays);
    /* begins_written is absent: the first access decides. */
    for (int32_t k = at[g->op_count]; k-- > 0;)
        if (a[k].stay >= 0 && stays[a[k].stay].moved_from < 0 &&
            !json_find(r->buffers.where[a[k].stay], "begins_written"))
            stays[a[k].stay].begins_written = a[k].writes && !a[k].reads;
    for (int32_t i = 0; i < count; i++) {
        const struct lx_access *seen =
            at[g->op_count] ? &a[at[stays[i].view_op] + stays[i].view_operand] : NULL;
        if (seen && !buffers[i].use_count && stays[i].moved_from < 0 &&
            !json_find(r->buffers.where[i], "begins_written"))
            stays[i].begins_written = seen->tensor == stays[i].tensor && seen->writes && !seen->reads;
        /* first or last is absent: the accesses decide. */
        if (stays[i].first < 0)
            stays[i].first = (int32_t)(buffers[i].use_count ? buffers[i].uses[0] : buffers[i].start);
        if (stays[i].last < 0)
            stays[i].last = (int32_t)(buffers[i].use_count ? buffers[i].uses[buffers[i].use_count - 1]
                                                           : buffers[i].end - 1);
    }
    plan_cover_nests(r, buffers);
    for (int32_t i = 0; i < count; i++) {
        /* A stay moved from another address, or loaded before it is due, is first used by that copy. */
        struct lx_buffer *b = &buffers[i];
        bool early = b->first_use_is_read && b->use_count > 0 && b->start >= 0;
        if ((stays[i].moved_from < 0 && !early) || (b->use_count > 0 && b->uses[0] <= b->start)) continue;
        int64_t *uses = arena_array(p->memory, (size_t)b->use_count + 1, sizeof *uses);
        uses[0] = b->start;
        for (int32_t k = 0; k < b->use_count; k++) uses[k + 1] = b->uses[k];
        b->uses = uses;
        b->use_count++;
        b->first_use_is_read = true;
    }
    return true;
}

static bool take_transfer(const struct graph_reader *r, const struct json_value *at,
                          const struct plan_transfer *x, struct lx_transfer *out)
{
    int kind = 0;
    int32_t buffers = r->buffers.count;
    while (kind < LX_TRANSFER_KINDS && strcmp(lx_transfer_word((enum lx_transfer_kind)kind), x->kind) != 0)
        kind++;
    if (kind == LX_TRANSFER_KINDS)
        return json_error(r->j, at, r->st, LX_E_SCHEMA, "kind is load, store, ring or move, not \"%s\"",
                          x->kind);
    bool load = kind == LX_LOAD;
    *out = (struct lx_transfer){(enum lx_transfer_kind)kind,
                                (int32_t)x->tick,
                                (int32_t)x->buffer,
                                (int32_t)x->from,
                                x->bytes,
                                x->issue < 0 ? 0 : (int32_t)(x->tick - x->issue)};
    return plan_in_range(r, at, "tick", x->tick, 0, r->ops.count) &&
           plan_in_range(r, at, "issue", x->issue, -1, load ? x->tick + 1 : 0) &&
           plan_in_range(r, at, "buffer", x->buffer, 0, buffers) &&
           (lx_through_hbm((enum lx_transfer_kind)kind) ? plan_in_range(r, at, "from", x->from, -1, 0)
                                                        : plan_in_range(r, at, "from", x->from, 0, buffers));
}

bool plan_read_transfers(const struct graph_reader *r)
{
    struct records list;
    if (!plan_read_records(r->j, r->graph, "transfers", PLAN_TRANSFER, r->p->memory, &list, r->st))
        return false;
    struct lx_transfer *out = arena_array(r->p->memory, (size_t)list.count, sizeof *out);
    for (int32_t i = 0; i < list.count; i++)
        if (!take_transfer(r, list.where[i], (const struct plan_transfer *)list.at + i, &out[i]))
            return false;
    r->p->transfers = out;
    r->p->transfer_count = list.count;
    return true;
}
