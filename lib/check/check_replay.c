/* The plan, gone through tick by tick: does every op find the value that it reads, in the part that its core
 * holds?
 *
 * At tick t: copies into the scratchpads, the op, stores; the run of a nest again in each iteration. A
 * buffer has its values in all of its parts, or, where an op has written less than these, in a zone of each.
 * Scratchpads are wiped where a bundle begins. An op reads all before it writes; a buffer whose place
 * another takes has nothing after that. */
#include "check/check_replay.h"
#include "base/checked.h"
#include "base/fail.h"

static const struct lx_op *op_now(const struct replay *r)
{
    return &r->c->g->ops[r->tick];
}

static const struct looped *looped_now(const struct replay *r, int operand)
{
    return &r->c->looped[r->c->p->access_at[r->tick] + operand];
}

/* Has every core what it works on in its own part? */
static bool on_its_core(const struct replay *r, int operand, int32_t buffer, bool *whole)
{
    struct parts seen =
        parts_of_operand(r->c, &r->cut, r->tick, operand, r->nest ? r->c->p->stays[buffer].hold : 0);
    bool equal = parts_equal(&seen, &r->parts[buffer]), reads = operand < op_now(r)->input_count;
    *whole = seen.touched_whole && equal;
    if ((*whole || (equal && reads && seen.within)) && !r->held[buffer].zones) return true;
    if (r->nest) return false;
    /* Is a core's part in one piece, so that zones tell what is within? */
    const struct parts *p = &r->parts[buffer];
    for (int d = 0; d < p->rank; d++)
        if (p->tiles[d] != 1 || p->blocks[d] != 1) return false;
    if (r->cut.cores > r->parts[buffer].cores) return false;
    const struct lx_layout *l = &r->c->l->layouts[r->c->p->stays[buffer].tensor];
    const struct held *h = &r->held[buffer];
    for (int64_t core = 0; core < r->cut.cores; core++) {
        struct zone z = zone_touched(r->c, &r->cut, r->tick, operand, core);
        struct zone part = zone_of_part(l, &r->parts[buffer], core);
        if (!zone_within(&z, h->zones && operand < op_now(r)->input_count ? &h->zones[core] : &part))
            return false;
    }
    return true;
}

static bool use_buffer(struct replay *r, int operand, int32_t buffer, int32_t tensor, bool *whole)
{
    const struct lx_op *op = op_now(r);
    const char *name = r->c->g->tensors[tensor].name;
    if (op->kind->traits & LX_EXTERN)
        return status_set(r->st, LX_E_NO, "op %s runs off the device, but its operand %s is on chip",
                          op->name, name);
    /* A slice is held for the ops of its nest only. That the tick is in the buffer's life is check_claims'
     * to say: a life is exactly from the first access to the last. */
    const struct lx_stay *s = &r->c->p->stays[buffer];
    if (s->tensor != tensor || (s->hold != 0 && loops_of(r->c, s->view_op) != r->nest))
        return status_set(r->st, LX_E_NO,
                          "op %s uses %s, which holds another tensor, or a slice of another nest", op->name,
                          buffer_name(r, buffer));
    if (!on_its_core(r, operand, buffer, whole))
        return status_set(r->st, LX_E_NO, "op %s cuts %s in another way than it lies on chip", op->name,
                          name);
    return true;
}

static bool do_read(struct replay *r, int operand, const struct lx_access *a)
{
    const struct lx_op *op = op_now(r);
    int32_t tensor = op_operand(op, operand);
    int tile = tile_now(r, looped_now(r, operand));
    bool whole;
    if (!is_placed(r, a->stay)) {
        if (r->in_hbm[tensor].of[tile] != r->latest[tensor].of[tile])
            return status_set(r->st, LX_E_NO, "op %s reads %s in HBM, where its value is not", op->name,
                              r->c->g->tensors[tensor].name);
        hbm_seen(r->lives, tensor, moment(r, PHASE_OP));
        return true;
    }
    if (!use_buffer(r, operand, a->stay, tensor, &whole)) return false;
    if (version_in(r, a->stay, tile) != r->latest[tensor].of[tile])
        return status_set(r->st, LX_E_NO, "op %s reads %s on chip, where its value is not", op->name,
                          r->c->g->tensors[tensor].name);
    return true;
}

static bool write_hbm(struct replay *r, int operand, int32_t tensor, bool keeps)
{
    const struct looped *t = looped_now(r, operand);
    int tile = tile_now(r, t);
    if (keeps && r->in_hbm[tensor].of[tile] != r->latest[tensor].of[tile])
        return status_set(r->st, LX_E_NO,
                          "op %s keeps what it does not write of %s, but HBM does not have it",
                          op_now(r)->name, r->c->g->tensors[tensor].name);
    /* The first tile that a nest writes begins a new life of the tensor, the others are of the same. */
    if (!keeps && turns_first(r, t->indexed))
        hbm_written(r->lives, tensor, moment(r, PHASE_OP));
    else
        hbm_seen(r->lives, tensor, moment(r, PHASE_OP));
    r->in_hbm[tensor].of[tile] = r->latest[tensor].of[tile] = ++r->clock;
    return true;
}

static bool check_replay_write_buffer(struct replay *r, int operand, int32_t buffer, int32_t tensor,
                                      bool keeps)
{
    const struct looped *t = looped_now(r, operand);
    int tile = tile_now(r, t);
    bool whole;
    if (keeps && (version_in(r, buffer, tile) != r->latest[tensor].of[tile] || r->held[buffer].zones))
        return status_set(r->st, LX_E_NO,
                          "op %s keeps what it does not write of %s, but the buffer does not have it",
                          op_now(r)->name, buffer_name(r, buffer));
    if (!keeps && !r->nest) forget(r, buffer);
    if (!use_buffer(r, operand, buffer, tensor, &whole)) return false;
    if (r->c->p->took_slot_of[buffer] >= 0) forget(r, r->c->p->took_slot_of[buffer]);
    if (!keeps && !whole) {
        /* What the cores have written of a buffer, where that is less than their parts. */
        const struct parts *p = &r->parts[buffer];
        struct zone *z = arena_array(r->c->memory, (size_t)p->cores, sizeof *z);
        for (int64_t core = 0; core < p->cores; core++) {
            z[core] = zone_touched(r->c, &r->cut, r->tick, operand, core < r->cut.cores ? core : 0);
            for (int d = 0; d < z[core].rank; d++) /* a view that jumps leaves holes */
                if (core >= r->cut.cores || z[core].count[d] != z[core].hi[d] - z[core].lo[d])
                    z[core].lo[0] = z[core].hi[0] = 0;
        }
        r->held[buffer].zones = z;
    }
    if (r->nest) {
        /* A new slice writes over the one before. */
        struct held *h = &r->held[buffer];
        int hold = r->c->p->stays[buffer].hold;
        if (h->wipes != r->wipes) forget(r, buffer);
        for (int i = 0; i < MOST_TILES; i++)
            if (!in_slice(r, t, hold, i)) h->tiles.of[i] = NOTHING;
    }
    r->held[buffer].tiles.of[tile] = r->latest[tensor].of[tile] = ++r->clock;
    return true;
}

/* An op that reads a tensor which it writes in HBM as another's place is found by the lives; here its own.
 * What is summed over levels is made in the first of their iterations, and goes on in the others. */
static bool check_replay_do_op(struct replay *r)
{
    const struct lx_op *op = op_now(r);
    const struct lx_access *a = &r->c->p->accesses[r->c->p->access_at[r->tick]];
    int n = op->input_count;
    for (int i = 0; i < n; i++)
        if (!do_read(r, i, &a[i])) return false;
    for (int i = n; i < op_operand_count(op); i++) {
        bool keeps = op_keeps_rest(op) || !turns_first(r, looped_now(r, i)->summed);
        int32_t tensor = op_operand(op, i);
        if (!(is_placed(r, a[i].stay) ? check_replay_write_buffer(r, i, a[i].stay, tensor, keeps)
                                      : write_hbm(r, i, tensor, keeps)))
            return false;
    }
    return true;
}

/* Before an op that keeps what nobody has written the host has put zeros there. */
static void check_replay_put_zeros(struct replay *r)
{
    const struct lx_op *op = op_now(r);
    if (!op_keeps_rest(op) || r->latest[op->output].of[0] > 0 || r->in_hbm[op->output].of[0] == 0) return;
    if (r->c->p->hbm_address[op->output] < 0) return;
    r->in_hbm[op->output].of[0] = 0;
    hbm_written(r->lives, op->output, 0);
}

static bool do_tick(struct replay *r)
{
    cut_of_op(r->c, r->tick, &r->cut);
    /* Loops within a bundle are its own; those over several launch each of them anew. */
    bool again = r->nest && r->tick == r->nest->first && !turns_first(r, all_loops(r->nest));
    bool border = r->tick > 0 && r->bundle_of[r->tick] != r->bundle_of[r->tick - 1];
    r->wipes += again ? (r->nest && r->bundle_of[r->nest->first] != r->bundle_of[r->nest->last]) : border;
    check_replay_put_zeros(r);
    if (!do_copies(r, false)) return false;
    r->wipes += op_now(r)->kind->traits & LX_WIPES ? 1 : 0;
    if (!check_replay_do_op(r) || !do_copies(r, true)) return false;
    r->steps++;
    return true;
}

static bool check_replay_do_nest(struct replay *r, const struct lx_nest *n)
{
    open_nest(r, n);
    do
        for (r->tick = n->first; r->tick <= n->last; r->tick++)
            if (!do_tick(r)) return false;
    while (next_turn(r));
    close_nest(r);
    r->tick = n->last;
    return true;
}

static bool check_replay_go_through(struct replay *r)
{
    for (r->tick = 0; r->tick < r->c->g->op_count; r->tick++) {
        const struct lx_nest *n = loops_of(r->c, r->tick);
        if (n ? !check_replay_do_nest(r, n) : !do_tick(r)) return false;
    }
    for (int32_t t = 0; t < r->c->g->tensor_count; t++)
        if (lx_role_leaves(r->c->g->tensors[t].role) && r->latest[t].of[0] > 0 &&
            r->in_hbm[t].of[0] != r->latest[t].of[0])
            return status_set(r->st, LX_E_NO, "graph output %s never reaches HBM", r->c->g->tensors[t].name);
    return hbm_check(r->c, r->lives);
}

static void number_bundles(struct replay *r)
{
    const struct lx_plan *p = r->c->p;
    int32_t bundle = 0;
    for (int32_t o = 0; o < r->c->g->op_count; o++) {
        if (bundle + 1 < p->bundle_count && p->bundles[bundle + 1].first == o) bundle++;
        r->bundle_of[o] = bundle;
    }
}

static bool check_replay_begin(struct replay *r)
{
    struct checker *c = r->c;
    size_t tensors = (size_t)c->g->tensor_count, ops = (size_t)c->g->op_count,
           buffers = (size_t)c->p->problem.count;
    r->latest = arena_array(c->memory, tensors, sizeof *r->latest);
    r->in_hbm = arena_array(c->memory, tensors, sizeof *r->in_hbm);
    r->held = arena_array(c->memory, buffers, sizeof *r->held);
    r->transfer_at = arena_array(c->memory, ops + 1, sizeof *r->transfer_at);
    r->bundle_of = arena_array(c->memory, ops, sizeof *r->bundle_of);
    r->meeting = arena_array(c->memory, buffers, sizeof *r->meeting);
    r->lives = hbm_begin(c);
    for (size_t i = 0; i < buffers; i++) r->held[i].tiles.of[0] = NOTHING;
    for (size_t t = 0; t < tensors; t++) {
        bool given = lx_role_arrives(c->g->tensors[t].role);
        r->in_hbm[t].of[0] = given ? 0 : NOTHING;
    }
    number_bundles(r);
    /* Where the copies of each tick begin. */
    const struct lx_plan *p = r->c->p;
    int32_t next = 0;
    for (int32_t o = 0; o < r->c->g->op_count; o++) {
        r->transfer_at[o] = next;
        while (next < p->transfer_count && p->transfers[next].tick == o) next++;
    }
    r->transfer_at[r->c->g->op_count] = next;
    if (next == p->transfer_count) return true;
    return status_set(r->st, LX_E_NO, "the copies of the plan are not in order of time");
}

bool check_replay(struct checker *c, const struct parts *parts)
{
    struct replay r = {.c = c, .parts = parts, .st = c->st};
    bool ok = check_replay_begin(&r) && check_replay_go_through(&r);
    hbm_end(r.lives);
    return ok;
}
