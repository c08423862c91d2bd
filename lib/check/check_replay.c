/* The plan, gone through tick by tick: does every op find the value that it reads, in the part that its core holds?
 *
 * Each write makes a new version of a tensor. HBM has one version of it; a buffer has one in all of its parts, or,
 * where an op has written less than these, in a zone of each. Scratchpads are wiped where a bundle begins. At tick t:
 * copies into the scratchpads, the op, stores. An op reads all before it writes; a buffer whose place another takes
 * has nothing after that. What moves is counted on the way. */
#include "check/check.h"
#include "base/checked.h"
#include "base/fail.h"

enum { NOTHING = -1 };

struct held {
    int64_t version;
    int32_t wipes;      /* before it was filled; there were more since: nothing is left */
    struct zone *zones; /* per core; NULL: all of the parts */
};

struct replay {
    struct checker *c;
    const struct parts *parts; /* per buffer */
    struct held *held;         /* per buffer */
    int64_t *latest, *in_hbm;  /* per tensor; before the first write 0: what is given */
    struct hbm_lives *lives;
    struct cut cut; /* of the op under way */
    int32_t filled; /* transfers of this tick from here on have filled buffers */
    int32_t tick, wipes;
    lx_status *st;
};

static const char *buffer_name(const struct replay *r, int32_t buffer)
{
    return r->c->p->problem.buffers[buffer].name;
}

static const struct lx_op *op_now(const struct replay *r)
{
    return &r->c->g->ops[r->tick];
}

static bool placed(const struct replay *r, int32_t buffer)
{
    return buffer >= 0 && buffer < r->c->p->problem.count && r->c->p->answer.address[buffer] >= 0;
}

static bool alive(const struct replay *r, int32_t buffer)
{
    const struct lx_buffer *b = &r->c->p->problem.buffers[buffer];
    return b->start <= r->tick && r->tick < b->end;
}

static int64_t moment(const struct replay *r, enum phase phase)
{
    return PHASES * (int64_t)r->tick + phase;
}

static int64_t version_in(const struct replay *r, int32_t buffer)
{
    return r->held[buffer].wipes == r->wipes ? r->held[buffer].version : NOTHING;
}

static bool holds_all(const struct replay *r, int32_t buffer, int32_t tensor)
{
    return version_in(r, buffer) == r->latest[tensor] && !r->held[buffer].zones;
}

static void set_held(struct replay *r, int32_t buffer, int64_t version)
{
    r->held[buffer] = (struct held){version, r->wipes, NULL};
}

/* Bytes that cores get from others when a tensor is laid out anew. */
static int64_t ring_bytes(const struct replay *r, int32_t tensor, const struct parts *from,
                          const struct parts *to)
{
    const struct lx_layout *l = &r->c->l->layouts[tensor];
    int64_t sticks = 0;
    if (l->rank == 0) return whole_bytes(r->c, tensor) * to->cores;
    for (int64_t core = 0; core < to->cores; core++) {
        struct zone want = zone_of_part(l, to, core), have = zone_of_part(l, from, core);
        sticks += zone_sticks(&want) - (core < from->cores ? zone_common_sticks(&want, &have) : 0);
    }
    return bytes_of_sticks(r->c, tensor, sticks);
}

static bool copy_from_hbm(struct replay *r, int32_t buffer, int32_t tensor, int64_t *bytes)
{
    if (r->in_hbm[tensor] != r->latest[tensor])
        return status_set(r->st, LX_E_NO, "tick %d loads %s, but HBM does not have its value", (int)r->tick,
                          buffer_name(r, buffer));
    hbm_seen(r->lives, tensor, moment(r, PHASE_COPIES_IN));
    set_held(r, buffer, r->latest[tensor]);
    r->c->traffic[r->tick].hbm_read += *bytes = whole_bytes(r->c, tensor);
    return true;
}

static bool copy_to_hbm(struct replay *r, int32_t tensor, int64_t *bytes)
{
    r->in_hbm[tensor] = r->latest[tensor];
    hbm_written(r->lives, tensor, moment(r, PHASE_STORES));
    r->c->traffic[r->tick].hbm_written += *bytes = whole_bytes(r->c, tensor);
    return true;
}

static bool copy_over_ring(struct replay *r, const struct lx_transfer *x, int32_t tensor, int64_t *bytes)
{
    set_held(r, x->stay, r->latest[tensor]);
    *bytes = ring_bytes(r, tensor, &r->parts[x->source], &r->parts[x->stay]);
    r->c->traffic[r->tick].ring += *bytes;
    return true;
}

/* Each core's part from one place to another: what it holds, be it all or less. */
static bool copy_inside(struct replay *r, const struct lx_transfer *x, int32_t tensor, int64_t *bytes)
{
    const struct parts *p = &r->parts[x->stay];
    const struct lx_layout *l = &r->c->l->layouts[tensor];
    int64_t sticks = 0;
    r->held[x->stay] = r->held[x->source];
    for (int64_t core = 0; l->rank > 0 && core < p->cores; core++) {
        struct zone z = zone_of_part(l, p, core);
        sticks += zone_sticks(&z);
    }
    *bytes = l->rank > 0 ? bytes_of_sticks(r->c, tensor, sticks) : whole_bytes(r->c, tensor) * p->cores;
    r->c->traffic[r->tick].lx_read += *bytes;
    r->c->traffic[r->tick].lx_written += *bytes;
    return true;
}

static bool share_bytes(const struct replay *r, int32_t a, int32_t b)
{
    const int64_t *at = r->c->p->answer.address;
    const struct lx_buffer *x = r->c->p->problem.buffers;
    return at[a] < at[b] + x[b].size && at[b] < at[a] + x[a].size;
}

/* The old place was its own up to this tick, and no copy of the tick has come there yet. */
static bool may_move(const struct replay *r, const struct lx_transfer *x)
{
    const struct lx_plan *p = r->c->p;
    int32_t from = x->source, tensor = p->stays[x->stay].tensor;
    bool right = placed(r, from) && p->stays[from].tensor == tensor && from != x->stay &&
                 p->problem.buffers[from].start < r->tick && r->tick <= p->problem.buffers[from].end &&
                 parts_equal(&r->parts[from], &r->parts[x->stay]) && version_in(r, from) == r->latest[tensor];
    for (const struct lx_transfer *y = &p->transfers[r->filled]; right && y < x; y++)
        right = y->kind == LX_STORE || !share_bytes(r, y->stay, from);
    return right ? true
                 : status_set(r->st, LX_E_NO, "tick %d moves %s from where its value is not", (int)r->tick,
                              buffer_name(r, x->stay));
}

static bool may_copy(const struct replay *r, const struct lx_transfer *x)
{
    if (!placed(r, x->stay) || !alive(r, x->stay))
        return status_set(r->st, LX_E_NO, "a copy at tick %d is of a buffer that is not on chip then",
                          (int)r->tick);
    if (x->kind != LX_STORE && r->c->p->took_slot_of[x->stay] >= 0)
        return status_set(r->st, LX_E_NO, "buffer %s is filled by a copy and cannot take another's place",
                          buffer_name(r, x->stay));
    if (x->kind == LX_LOAD) return true;
    if (x->kind == LX_MOVE) return may_move(r, x);
    int32_t from = x->kind == LX_STORE ? x->stay : x->source, tensor = r->c->p->stays[x->stay].tensor;
    if (placed(r, from) && alive(r, from) && r->c->p->stays[from].tensor == tensor &&
        holds_all(r, from, tensor))
        return true;
    return status_set(r->st, LX_E_NO, "tick %d copies %s from %s, which does not have its value",
                      (int)r->tick, buffer_name(r, x->stay),
                      placed(r, from) ? buffer_name(r, from) : "nowhere");
}

static bool do_copy(struct replay *r, const struct lx_transfer *x)
{
    int64_t bytes = 0;
    if (!may_copy(r, x)) return false;
    int32_t tensor = r->c->p->stays[x->stay].tensor;
    bool ok = x->kind == LX_LOAD    ? copy_from_hbm(r, x->stay, tensor, &bytes)
              : x->kind == LX_STORE ? copy_to_hbm(r, tensor, &bytes)
              : x->kind == LX_MOVE  ? copy_inside(r, x, tensor, &bytes)
                                    : copy_over_ring(r, x, tensor, &bytes);
    if (!ok || bytes == x->bytes) return ok;
    return status_set(r->st, LX_E_NO,
                      "the plan claims that a copy of %s at tick %d moves %lld bytes, but it moves %lld",
                      buffer_name(r, x->stay), (int)r->tick, (long long)x->bytes, (long long)bytes);
}

/* The copies of this tick, from `*next` on: those in, or the stores. */
static bool do_copies(struct replay *r, int32_t next, bool stores)
{
    const struct lx_plan *p = r->c->p;
    r->filled = next;
    for (; next < p->transfer_count && p->transfers[next].tick == r->tick; next++)
        if ((p->transfers[next].kind == LX_STORE) == stores && !do_copy(r, &p->transfers[next])) return false;
    return true;
}

static bool zones_within(const struct replay *r, int operand, int32_t buffer)
{
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

/* Has every core what it works on in its own part? */
static bool on_its_core(const struct replay *r, int operand, int32_t buffer, bool *whole)
{
    struct parts seen = parts_of_operand(r->c, &r->cut, r->tick, operand);
    *whole = seen.touched_whole && parts_equal(&seen, &r->parts[buffer]);
    if (*whole && !r->held[buffer].zones) return true;
    return r->cut.cores <= r->parts[buffer].cores && zones_within(r, operand, buffer);
}

/* Where all parts are of one size there is no need to go over the cores. */
static bool equal_parts(const struct lx_layout *l, const struct parts *p, int64_t *sticks)
{
    *sticks = p->cores;
    for (int d = 0; d < p->rank; d++) {
        if (l->size[d] % p->slices[d] != 0) return false;
        *sticks *= l->size[d] / p->slices[d];
    }
    return p->touched_whole;
}

static int64_t lx_bytes(const struct replay *r, int operand, int32_t tensor)
{
    struct parts seen = parts_of_operand(r->c, &r->cut, r->tick, operand);
    int64_t sticks;
    if (equal_parts(&r->c->l->layouts[tensor], &seen, &sticks)) return bytes_of_sticks(r->c, tensor, sticks);
    sticks = 0;
    for (int64_t core = 0; core < r->cut.cores; core++) {
        struct zone z = zone_touched(r->c, &r->cut, r->tick, operand, core);
        sticks += zone_sticks(&z);
    }
    return bytes_of_sticks(r->c, tensor, sticks);
}

static bool use_buffer(struct replay *r, int operand, int32_t buffer, int32_t tensor, bool *whole)
{
    const struct lx_op *op = op_now(r);
    const char *name = r->c->g->tensors[tensor].name;
    if (op->kind->traits & LX_EXTERN)
        return status_set(r->st, LX_E_NO, "op %s runs off the device, but its operand %s is on chip",
                          op->name, name);
    if (r->c->p->stays[buffer].tensor != tensor || !alive(r, buffer))
        return status_set(r->st, LX_E_NO, "op %s uses %s, which does not live then", op->name,
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
    struct lx_op_traffic *t = &r->c->traffic[r->tick];
    bool whole;
    if (!placed(r, a->stay)) {
        if (r->in_hbm[tensor] != r->latest[tensor])
            return status_set(r->st, LX_E_NO, "op %s reads %s in HBM, where its value is not", op->name,
                              r->c->g->tensors[tensor].name);
        struct zone z = zone_of_access(r->c, &r->cut, r->tick, operand);
        t->hbm_read += bytes_of_sticks(r->c, tensor, zone_sticks(&z));
        hbm_seen(r->lives, tensor, moment(r, PHASE_OP));
        return true;
    }
    if (!use_buffer(r, operand, a->stay, tensor, &whole)) return false;
    if (version_in(r, a->stay) != r->latest[tensor])
        return status_set(r->st, LX_E_NO, "op %s reads %s on chip, where its value is not", op->name,
                          r->c->g->tensors[tensor].name);
    t->lx_read += lx_bytes(r, operand, tensor);
    return true;
}

/* What the cores have written of a buffer, where that is less than their parts. */
static bool note_zones(struct replay *r, int operand, int32_t buffer)
{
    const struct parts *p = &r->parts[buffer];
    struct zone *z = arena_array(r->c->memory, (size_t)p->cores, sizeof *z);
    if (!z) return status_no_memory(r->st);
    for (int64_t core = 0; core < p->cores; core++) {
        z[core] = zone_touched(r->c, &r->cut, r->tick, operand, core < r->cut.cores ? core : 0);
        for (int d = 0; d < z[core].rank; d++) /* a view that jumps leaves holes */
            if (core >= r->cut.cores || z[core].count[d] != z[core].hi[d] - z[core].lo[d])
                z[core].lo[0] = z[core].hi[0] = 0;
    }
    r->held[buffer].zones = z;
    return true;
}

static bool write_hbm(struct replay *r, int operand, int32_t tensor, bool keeps)
{
    struct zone z = zone_of_access(r->c, &r->cut, r->tick, operand);
    if (keeps && r->in_hbm[tensor] != r->latest[tensor])
        return status_set(r->st, LX_E_NO,
                          "op %s keeps what it does not write of %s, but HBM does not have it",
                          op_now(r)->name, r->c->g->tensors[tensor].name);
    r->c->traffic[r->tick].hbm_written += bytes_of_sticks(r->c, tensor, zone_sticks(&z));
    if (keeps)
        hbm_seen(r->lives, tensor, moment(r, PHASE_OP));
    else
        hbm_written(r->lives, tensor, moment(r, PHASE_OP));
    r->in_hbm[tensor] = ++r->latest[tensor];
    return true;
}

static bool write_buffer(struct replay *r, int operand, int32_t buffer, int32_t tensor, bool keeps)
{
    bool whole;
    if (keeps && !holds_all(r, buffer, tensor))
        return status_set(r->st, LX_E_NO,
                          "op %s keeps what it does not write of %s, but the buffer does not have it",
                          op_now(r)->name, buffer_name(r, buffer));
    if (!keeps) set_held(r, buffer, NOTHING);
    if (!use_buffer(r, operand, buffer, tensor, &whole)) return false;
    if (r->c->p->took_slot_of[buffer] >= 0) set_held(r, r->c->p->took_slot_of[buffer], NOTHING);
    if (!keeps && !whole && !note_zones(r, operand, buffer)) return false;
    r->held[buffer].version = ++r->latest[tensor];
    r->c->traffic[r->tick].lx_written += lx_bytes(r, operand, tensor);
    return true;
}

/* Partial sums go to the first core of their group, and the total comes back where it stays on chip. */
static void count_sums(struct replay *r, int operand, int32_t tensor, bool on_chip)
{
    const struct cut *k = &r->cut;
    if (k->sum_slices <= 1) return;
    int64_t sticks = 0, slot;
    for (int64_t core = 0; core < k->cores; core++) {
        slot = 0;
        for (int v = 0; v < k->x.var_count; v++)
            if (op_index_reduced(&k->x, v)) slot += core / k->stride[v] % k->split[v];
        struct zone z = zone_touched(r->c, k, r->tick, operand, core);
        if (slot > 0) sticks += zone_sticks(&z);
    }
    r->c->traffic[r->tick].reduce_ring = bytes_of_sticks(r->c, tensor, sticks) * (on_chip ? 2 : 1);
}

/* An op that reads a tensor which it writes in HBM as another's place is found by the lives; here its own. */
static bool do_op(struct replay *r)
{
    const struct lx_op *op = op_now(r);
    const struct lx_access *a = &r->c->p->accesses[r->c->p->access_at[r->tick]];
    int n = op->input_count;
    bool keeps = op_is_insert(op), on_chip = placed(r, a[n].stay);
    r->wipes += op->kind->traits & LX_WIPES ? 1 : 0;
    for (int i = 0; i < n; i++)
        if (!do_read(r, i, &a[i])) return false;
    count_sums(r, n, op->output, on_chip);
    r->c->traffic[r->tick].cores = r->cut.cores;
    return on_chip ? write_buffer(r, n, a[n].stay, op->output, keeps) : write_hbm(r, n, op->output, keeps);
}

/* Before an op that keeps what nobody has written the host has put zeros there. */
static void put_zeros(struct replay *r)
{
    const struct lx_op *op = op_now(r);
    if (!op_is_insert(op) || r->latest[op->output] > 0 || r->in_hbm[op->output] == 0) return;
    if (r->c->p->hbm_address[op->output] < 0) return;
    r->in_hbm[op->output] = 0;
    hbm_written(r->lives, op->output, 0);
}

static bool outputs_there(const struct replay *r)
{
    for (int32_t t = 0; t < r->c->g->tensor_count; t++)
        if (r->c->g->tensors[t].role == LX_OUTPUT && r->latest[t] > 0 && r->in_hbm[t] != r->latest[t])
            return status_set(r->st, LX_E_NO, "graph output %s never reaches HBM", r->c->g->tensors[t].name);
    return true;
}

static bool go_through(struct replay *r)
{
    const struct lx_plan *p = r->c->p;
    int32_t next = 0, bundle = 1;
    for (r->tick = 0; r->tick < r->c->g->op_count; r->tick++) {
        cut_of_op(r->c, r->tick, &r->cut);
        if (bundle < p->bundle_count && p->bundles[bundle].first == r->tick) r->wipes++, bundle++;
        put_zeros(r);
        if (!do_copies(r, next, false) || !do_op(r) || !do_copies(r, next, true)) return false;
        while (next < p->transfer_count && p->transfers[next].tick == r->tick) next++;
    }
    if (next != p->transfer_count)
        return status_set(r->st, LX_E_NO, "the copies of the plan are not in order of time");
    return outputs_there(r) && hbm_check(r->c, r->lives);
}

static bool begin(struct replay *r)
{
    struct checker *c = r->c;
    size_t tensors = (size_t)c->g->tensor_count, buffers = (size_t)c->p->problem.count;
    r->latest = arena_array(c->memory, tensors, sizeof *r->latest);
    r->in_hbm = arena_array(c->memory, tensors, sizeof *r->in_hbm);
    r->held = arena_array(c->memory, buffers, sizeof *r->held);
    r->lives = hbm_begin(c);
    if (!r->latest || !r->in_hbm || !r->held || !r->lives) return status_no_memory(c->st);
    for (size_t i = 0; i < buffers; i++) r->held[i].version = NOTHING;
    for (size_t t = 0; t < tensors; t++) {
        bool given = c->g->tensors[t].role == LX_INPUT || c->g->tensors[t].role == LX_WEIGHT;
        r->in_hbm[t] = given ? 0 : NOTHING;
    }
    return true;
}

bool check_replay(struct checker *c, const struct parts *parts)
{
    struct replay r = {.c = c, .parts = parts, .st = c->st};
    bool ok = begin(&r) && go_through(&r);
    hbm_end(r.lives);
    return ok;
}
