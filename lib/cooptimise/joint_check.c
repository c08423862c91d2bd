/* The joint problem taken literally: rules, costs, and the placement problem of given choices. It shares no
 * code with the search, so tests can compare the two. */
#include "cooptimise/joint.h"
#include "base/base.h"

/* --- Tiles. --- */

struct joint_tile {
    bool tiled, cut; /* made in a loop; needed outside the run */
    int32_t label;   /* label of its accesses on chip, or -1 */
    int64_t end;     /* end of its life on chip */
};

static int32_t joint_access_label(const struct lx_joint_access *a, const int32_t *choice)
{
    return a->label ? a->label[choice[a->op]] : -1;
}

static int64_t joint_tiles_of(const struct lx_joint_problem *p, const int32_t *choice, int32_t op)
{
    return p->ops[op].tiles ? p->ops[op].tiles[choice[op]] : 1;
}

/* True if ops `o` and o + 1 have different tile counts, or different labels of a common buffer. */
static bool joint_cut_behind(const struct lx_joint_problem *p, const int32_t *choice, int32_t o)
{
    if (joint_tiles_of(p, choice, o) != joint_tiles_of(p, choice, o + 1)) return true;
    for (int32_t i = 0; i < p->buffer_count; i++) {
        const struct lx_joint_buffer *b = &p->buffers[i];
        for (int32_t k = 0; k + 1 < b->access_count; k++) {
            if (b->accesses[k].op != o || b->accesses[k + 1].op != o + 1) continue;
            int32_t label = joint_access_label(&b->accesses[k], choice);
            if (label < 0 || label != joint_access_label(&b->accesses[k + 1], choice)) return true;
        }
    }
    return false;
}

static int32_t joint_run_end(const struct lx_joint_problem *p, const int32_t *choice, int32_t op)
{
    while (op + 1 < p->op_count && !joint_cut_behind(p, choice, op)) op++;
    return op;
}

static struct joint_tile joint_tile_of(const struct lx_joint_problem *p, const int32_t *choice,
                                       int32_t buffer)
{
    const struct lx_joint_buffer *b = &p->buffers[buffer];
    struct joint_tile t = {.label = -1, .end = b->end};
    if (b->access_count == 0) return t;
    const struct lx_joint_op *maker = &p->ops[b->accesses[0].op];
    int32_t made = choice[b->accesses[0].op];
    t.tiled = joint_tiles_of(p, choice, b->accesses[0].op) > 1;
    int32_t last = b->access_count - 1, used = b->accesses[last].op;
    if (!t.tiled && joint_tiles_of(p, choice, used) > 1) /* the next iteration reads it again */
        t.end = max_i64(t.end, p->ops[joint_run_end(p, choice, used)].tick + 1);
    if (t.tiled) { /* on chip up to the end of the run that makes it */
        int32_t end = joint_run_end(p, choice, b->accesses[0].op);
        t.cut = b->leaves || b->accesses[last].op > end;
        while (b->accesses[last].op > end) last--;
    }
    if (t.cut) t.end = p->ops[b->accesses[last].op].tick + 1;
    if (t.cut && maker->cuts_sums && maker->cuts_sums[made]) return t;
    t.label = joint_access_label(&b->accesses[0], choice);
    for (int32_t k = 1; k <= last; k++)
        if (joint_access_label(&b->accesses[k], choice) != t.label) t.label = -1;
    return t;
}

/* --- Rules. --- */

static bool valid_op(const struct lx_joint_problem *p, int32_t o, int64_t *sum, lx_status *st)
{
    const struct lx_joint_op *op = &p->ops[o];
    if (op->choice_count < 1 || op->seed < 0 || op->seed >= op->choice_count)
        return status_set(st, LX_E_MODEL, "op %s: its seed must be one of its choices", op->name);
    if (op->tick < 0 || op->tick >= LX_INT_MAX || (o > 0 && op->tick <= p->ops[o - 1].tick))
        return status_set(st, LX_E_MODEL, "op %s: every op has its own tick, in their order", op->name);
    int64_t most = 0;
    if (p->cut_toll < 0 || !add_i64(*sum, p->cut_toll, sum))
        return status_set(st, LX_E_MODEL, "a cut with an impossible cost");
    for (int32_t c = 0; c < op->choice_count; c++) {
        int64_t one;
        if (op->tiles && op->tiles[c] < 1)
            return status_set(st, LX_E_MODEL, "op %s: less than one tile", op->name);
        if (joint_at(op->compute, c) < 0 || joint_at(op->extra, c) < 0 ||
            !add_i64(joint_at(op->compute, c), joint_at(op->extra, c), &one))
            return status_set(st, LX_E_MODEL, "op %s: a negative or impossible cost", op->name);
        most = max_i64(most, one);
    }
    if (!add_i64(*sum, most, sum) || *sum > INT64_MAX / 8)
        return status_set(st, LX_E_RANGE, "op %s: the costs up to here add up beyond 2^60", op->name);
    return true;
}

static bool valid_access(const struct lx_joint_problem *p, const struct lx_joint_buffer *b, int32_t k,
                         int64_t *sum, lx_status *st)
{
    const struct lx_joint_access *a = &b->accesses[k];
    if (a->op < 0 || a->op >= p->op_count || (k > 0 && a->op < b->accesses[k - 1].op))
        return status_set(st, LX_E_MODEL, "buffer %s: its accesses must stand in the order of the ops",
                          b->name);
    const struct lx_joint_op *op = &p->ops[a->op];
    if (op->tick < b->start || op->tick >= b->end)
        return status_set(st, LX_E_MODEL, "buffer %s: op %s uses it outside its life", b->name, op->name);
    int64_t most = 0;
    for (int32_t c = 0; c < op->choice_count; c++) {
        if (joint_at(a->memory, c) < 0)
            return status_set(st, LX_E_MODEL, "buffer %s: a negative cost", b->name);
        if (a->label && (a->label[c] < -1 || a->label[c] >= p->label_count))
            return status_set(st, LX_E_MODEL, "buffer %s: a label that does not exist", b->name);
        most = max_i64(most, joint_at(a->memory, c));
    }
    if (a->toll < 0 || !add_i64(*sum, a->toll, sum) || !add_i64(*sum, most, sum) || *sum > INT64_MAX / 8)
        return status_set(st, LX_E_RANGE, "buffer %s: the costs up to here add up beyond 2^60", b->name);
    return true;
}

bool lx_joint_validate(const struct lx_joint_problem *p, lx_status *st)
{
    int64_t sum = 0;
    if (p->capacity < 0 || p->capacity > LX_INT_MAX || p->alignment < 1 || p->alignment > LX_INT_MAX)
        return status_set(st, LX_E_MODEL, "a capacity or alignment that cannot be");
    for (int32_t o = 0; o < p->op_count; o++)
        if (!valid_op(p, o, &sum, st)) return false;
    for (int32_t l = 0; l < p->label_count; l++)
        if (p->label_size[l] < 0) return status_set(st, LX_E_MODEL, "a label with a negative size");
    for (int32_t i = 0; i < p->buffer_count; i++) {
        const struct lx_joint_buffer *b = &p->buffers[i];
        if (b->start < 0 || b->start >= b->end || b->end > LX_INT_MAX)
            return status_set(st, LX_E_MODEL, "buffer %s: its life is empty", b->name);
        if (b->access_count > 0 && p->ops[b->accesses[0].op].tick != b->start)
            return status_set(st, LX_E_MODEL, "buffer %s: its life must begin with its first access",
                              b->name);
        for (int32_t k = 0; k < b->access_count; k++)
            if (!valid_access(p, b, k, &sum, st)) return false;
        if (b->copy_toll < 0 || !add_i64(sum, b->copy_toll, &sum) || !add_i64(sum, p->cut_toll, &sum) ||
            sum > INT64_MAX / 8)
            return status_set(st, LX_E_RANGE, "buffer %s: the costs up to here add up beyond 2^60", b->name);
        for (int32_t k = 0; k < b->parent_count; k++)
            if (b->parents[k] < 0 || b->parents[k] >= p->buffer_count || b->parents[k] == i)
                return status_set(st, LX_E_MODEL, "buffer %s: an in-place parent must be another buffer",
                                  b->name);
    }
    return true;
}

int32_t lx_joint_label(const struct lx_joint_problem *p, const int32_t *choice, int32_t buffer)
{
    const struct lx_joint_buffer *b = &p->buffers[buffer];
    int32_t label = -1;
    if (p->tiled) return joint_tile_of(p, choice, buffer).label;
    for (int32_t k = 0; k < b->access_count; k++) {
        const struct lx_joint_access *a = &b->accesses[k];
        int32_t here = joint_access_label(a, choice);
        if (here < 0 || (k > 0 && here != label)) return -1;
        label = here;
    }
    return label;
}

static int64_t op_cost(const struct lx_joint_op *op, int32_t c, int64_t toll, int64_t memory)
{
    return toll + max_i64(joint_at(op->compute, c), memory) + joint_at(op->extra, c);
}

static void op_sums(const struct lx_joint_problem *p, const int32_t *choice, const bool *on, int64_t **toll,
                    int64_t **memory)
{
    *toll = mem_zeroed((size_t)p->op_count + 1, sizeof **toll);
    *memory = mem_zeroed((size_t)p->op_count + 1, sizeof **memory);
    for (int32_t i = 0; i < p->buffer_count; i++)
        for (int32_t k = 0; k < p->buffers[i].access_count; k++) {
            const struct lx_joint_access *a = &p->buffers[i].accesses[k];
            if (on && on[i] && !a->always) continue;
            (*toll)[a->op] += a->toll;
            (*memory)[a->op] += joint_at(a->memory, choice[a->op]);
        }
}

int64_t lx_joint_cost(const struct lx_joint_problem *p, const int32_t *choice, const bool *on)
{
    int64_t *toll, *memory, cost = 0;
    op_sums(p, choice, on, &toll, &memory);
    for (int32_t o = 0; o < p->op_count; o++) cost += op_cost(&p->ops[o], choice[o], toll[o], memory[o]);
    mem_free(toll);
    mem_free(memory);
    /* Tolls of all cuts and of the copies that they require. */
    for (int32_t o = 0; p->tiled && o + 1 < p->op_count; o++)
        if (joint_cut_behind(p, choice, o)) cost += p->cut_toll;
    for (int32_t i = 0; p->tiled && i < p->buffer_count; i++)
        if (joint_tile_of(p, choice, i).cut)
            cost += p->buffers[i].copy_toll + (p->buffers[i].leaves ? p->cut_toll : 0);
    return cost;
}

/* Cost of moving one buffer off chip with all others on chip: exact for tolls; exact for time if no other
 * buffer of the op is off. */
static int64_t marginal_cost(const struct lx_joint_problem *p, const int32_t *choice, int32_t buffer,
                             const int64_t *toll, const int64_t *memory)
{
    const struct lx_joint_buffer *b = &p->buffers[buffer];
    int64_t cost = 0;
    for (int32_t k = 0; k < b->access_count;) {
        int32_t o = b->accesses[k].op;
        int64_t tolls = 0, bytes = 0;
        for (; k < b->access_count && b->accesses[k].op == o; k++)
            if (!b->accesses[k].always) {
                tolls += b->accesses[k].toll;
                bytes += joint_at(b->accesses[k].memory, choice[o]);
            }
        cost += op_cost(&p->ops[o], choice[o], toll[o] + tolls, memory[o] + bytes) -
                op_cost(&p->ops[o], choice[o], toll[o], memory[o]);
    }
    return cost;
}

/* Keeps the in-place parents that a placement problem allows under these sizes. */
static void fill_parents(const struct lx_joint_problem *p, struct lx_buffer *buffers, int32_t i,
                         struct arena *memory)
{
    const struct lx_joint_buffer *b = &p->buffers[i];
    struct lx_buffer *child = &buffers[i];
    int32_t *parents = arena_array(memory, (size_t)b->parent_count, sizeof *parents);
    for (int32_t k = 0; k < b->parent_count; k++) {
        const struct lx_buffer *parent = &buffers[b->parents[k]];
        if (child->reason || parent->reason || child->first_use_is_read) continue;
        if (parent->end == child->start + 1 && child->size <= parent->size && lx_read_count(parent) > 0)
            parents[child->parent_count++] = b->parents[k];
    }
    child->parents = parents;
}

void lx_joint_placement(const struct lx_joint_problem *p, const int32_t *choice, struct arena *memory,
                        struct lx_problem *out)
{
    struct lx_buffer *buffers = arena_array(memory, (size_t)p->buffer_count, sizeof *buffers);
    bool *on = arena_array(memory, (size_t)p->buffer_count, sizeof *on);
    int64_t *toll, *through, total = 0;
    for (int32_t i = 0; i < p->buffer_count; i++) {
        const struct lx_joint_buffer *b = &p->buffers[i];
        int32_t label = lx_joint_label(p, choice, i);
        buffers[i] = (struct lx_buffer){.name = b->name,
                                        .start = b->start,
                                        .end = b->end,
                                        .fixed = -1,
                                        .first_use_is_read = b->first_use_is_read,
                                        .reason = b->reason   ? b->reason
                                                  : label < 0 ? "core div mismatch"
                                                              : NULL};
        if (label >= 0) buffers[i].size = p->label_size[label];
        if (p->tiled) {
            struct joint_tile t = joint_tile_of(p, choice, i);
            buffers[i].end = t.end;
            if (t.tiled && b->tile_stays && t.label >= 0) buffers[i].reason = NULL;
            if (b->size && b->access_count > 0) buffers[i].size = b->size[choice[b->accesses[0].op]];
        }
        on[i] = !buffers[i].reason && buffers[i].size <= p->capacity;
        if (buffers[i].reason) buffers[i].size = 0; /* a barred buffer takes no room */
        int64_t *uses = arena_array(memory, (size_t)b->access_count, sizeof *uses);
        for (int32_t k = 0; k < b->access_count; k++) {
            int64_t tick = p->ops[b->accesses[k].op].tick;
            if (tick >= buffers[i].end) break; /* the tile has ended */
            if (buffers[i].use_count == 0 || uses[buffers[i].use_count - 1] != tick)
                uses[buffers[i].use_count++] = tick;
        }
        buffers[i].uses = uses;
    }
    op_sums(p, choice, on, &toll, &through);
    for (int32_t i = 0; i < p->buffer_count; i++) {
        if (!buffers[i].reason) buffers[i].spill_cost = marginal_cost(p, choice, i, toll, through);
        total += buffers[i].spill_cost;
        fill_parents(p, buffers, i, memory);
    }
    /* A placement problem allows sums up to 2^53: scale the costs down. */
    while (total > LX_INT_MAX / 2) {
        total = 0;
        for (int32_t i = 0; i < p->buffer_count; i++) total += buffers[i].spill_cost /= 16;
    }
    mem_free(toll);
    mem_free(through);
    *out = (struct lx_problem){.objective = LX_SPILL,
                               .capacity = p->capacity,
                               .alignment = p->alignment,
                               .count = p->buffer_count,
                               .buffers = buffers};
}
