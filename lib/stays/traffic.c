/* What a placement really moves: each tensor's accesses are walked in order of time, with an eye on where
 * its latest value is. A stay that begins with a read is filled when it begins, from the stay it is a
 * relayout of if that has the value, else from HBM; HBM is brought up to date by a store when somebody
 * needs it there. In nests all iterations count. */
#include "stays/draft.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/vec.h"

#include <stdlib.h>

struct walk {
    const struct draft *x;
    const int64_t *address;    /* NULL: nothing is on chip */
    struct lx_op_traffic *ops; /* NULL: only the sum is wanted */
    VEC(struct lx_transfer) transfers;
    int64_t hbm, ring;
    bool overflow;
    /* Of the tensor under way. */
    int64_t whole;
    bool hbm_has_it;
    int32_t keeper, written_at; /* the stay with the latest value that HBM lacks, and since when */
};

const char *lx_transfer_word(enum lx_transfer_kind kind)
{
    static const char *const words[] = {
        [LX_LOAD] = "load", [LX_STORE] = "store", [LX_RING] = "ring", [LX_MOVE] = "move"};
    return (int)kind >= 0 && kind < LX_TRANSFER_KINDS ? words[kind] : "?";
}

static bool traffic_placed(const struct walk *w, int32_t stay)
{
    return w->address && stay >= 0 && w->address[stay] >= 0;
}

static void traffic_add(struct walk *w, int64_t bytes, int64_t *per_op)
{
    if (!add_i64(w->hbm, bytes, &w->hbm)) w->overflow = true;
    if (per_op) *per_op += bytes;
}

static void transfer(struct walk *w, enum lx_transfer_kind kind, int32_t tick, int32_t stay, int32_t source,
                     int64_t bytes)
{
    if (w->ops) VEC_PUSH(&w->transfers, (struct lx_transfer){kind, tick, stay, source, bytes});
}

/* Somebody reads it in HBM. */
static void need_in_hbm(struct walk *w)
{
    if (w->hbm_has_it) return;
    w->hbm_has_it = true;
    transfer(w, LX_STORE, w->written_at, w->keeper, -1, w->whole);
    traffic_add(w, w->whole, w->ops ? &w->ops[w->written_at].hbm_written : NULL);
}

/* Does it only stand between two moves? */
static bool is_idle(const struct draft *x, int32_t stay)
{
    int32_t tensor = x->stays[stay].tensor;
    for (int32_t k = x->tensor_at[tensor]; k < x->tensor_at[tensor + 1]; k++)
        if (x->accesses[x->tensor_access[k]].stay == stay) return false;
    return x->stays[stay].moved_from >= 0;
}

/* Each core copies its part; an idle stay on the way is filled before. */
static void traffic_move(struct walk *w, int32_t stay)
{
    const struct draft *x = w->x;
    const struct lx_stay *s = &x->stays[stay];
    int32_t tick = (int32_t)x->problem.buffers[stay].start, from = s->moved_from;
    if (is_idle(x, from)) traffic_move(w, from);
    struct lx_core_view v = stay_view(x, stay);
    int64_t bytes = view_all_bytes(x->layouts, s->tensor, &v) * stay_fills(x, stay);
    transfer(w, LX_MOVE, tick, stay, from, bytes);
    if (w->ops) w->ops[tick].lx_read += bytes, w->ops[tick].lx_written += bytes;
}

static void traffic_fill(struct walk *w, int32_t stay, int32_t tick)
{
    const struct lx_stay *s = &w->x->stays[stay];
    if (traffic_placed(w, s->moved_from)) {
        traffic_move(w, stay);
        return;
    }
    if (!traffic_placed(w, s->ring_source)) {
        int64_t bytes = stay_load_bytes(w->x, stay);
        need_in_hbm(w);
        transfer(w, LX_LOAD, tick, stay, -1, bytes);
        traffic_add(w, bytes, w->ops ? &w->ops[tick].hbm_read : NULL);
        return;
    }
    struct lx_core_view from = stay_view(w->x, s->ring_source), to = stay_view(w->x, stay);
    int64_t bytes = view_ring_bytes(w->x->layouts, s->tensor, &from, &to) * stay_fills(w->x, stay);
    transfer(w, LX_RING, tick, stay, s->ring_source, bytes);
    w->ring += bytes;
    if (w->ops) w->ops[tick].ring += bytes;
}

static void walk_access(struct walk *w, int32_t access)
{
    const struct lx_access *a = &w->x->accesses[access];
    int32_t tick = w->x->access_op[access];
    struct lx_op_traffic *op = w->ops ? &w->ops[tick] : NULL;
    if (!traffic_placed(w, a->stay)) {
        if (a->reads) need_in_hbm(w);
        traffic_add(w, a->bytes - a->again, !op ? NULL : a->writes ? &op->hbm_written : &op->hbm_read);
        traffic_add(w, a->again, op ? &op->hbm_read : NULL);
        if (a->writes) w->hbm_has_it = true;
        return;
    }
    if (!a->writes) return;
    int64_t parts = stay_parts(w->x, a->stay);
    if (parts > 1) {
        /* A sum whose parts come and go: each part is stored, all but the first are loaded before, and
         * the last leaves HBM with the whole. */
        int32_t stay = a->stay;
        int64_t stored = parts * w->whole;
        int64_t loaded = stored - w->whole;
        transfer(w, LX_LOAD, tick, stay, -1, loaded);
        transfer(w, LX_STORE, tick, stay, -1, stored);
        traffic_add(w, loaded, op ? &op->hbm_read : NULL);
        traffic_add(w, stored, op ? &op->hbm_written : NULL);
        w->hbm_has_it = true;
        return;
    }
    w->hbm_has_it = false;
    w->keeper = a->stay;
    w->written_at = tick;
}

static void walk_tensor(struct walk *w, int32_t tensor)
{
    const struct draft *x = w->x;
    w->whole = tensor_bytes(x->layouts, tensor);
    w->hbm_has_it = true; /* before the first write: an input, or the zeros that an insert leaves */
    for (int32_t k = x->tensor_at[tensor]; k < x->tensor_at[tensor + 1]; k++) {
        int32_t access = x->tensor_access[k], stay = x->accesses[access].stay;
        /* An op's first access of a stay that it begins; later ones find it filled. */
        if (traffic_placed(w, stay) && x->stays[stay].first == x->access_op[access] &&
            !x->stays[stay].begins_written) {
            bool again = false;
            for (int32_t j = k - 1; j >= x->tensor_at[tensor] && !again &&
                                    x->access_op[x->tensor_access[j]] == x->access_op[access];
                 j--)
                again = x->accesses[x->tensor_access[j]].stay == stay;
            if (!again) traffic_fill(w, stay, x->stays[stay].first);
        }
        walk_access(w, access);
    }
    if (lx_role_leaves(x->graph->tensors[tensor].role)) need_in_hbm(w);
}

bool traffic_count(const struct draft *x, const int64_t *address, int64_t *hbm_bytes)
{
    struct walk w = {.x = x, .address = address};
    for (int32_t t = 0; t < x->graph->tensor_count; t++) walk_tensor(&w, t);
    *hbm_bytes = w.overflow ? INT64_MAX : w.hbm;
    return !w.overflow;
}

/* Of the copies of a tick: moves, those from elsewhere, stores. */
static int traffic_rank_of(enum lx_transfer_kind kind)
{
    return kind == LX_MOVE ? 0 : kind == LX_STORE ? 2 : 1;
}

static int traffic_by_time(const void *a, const void *b)
{
    const struct lx_transfer *x = a, *y = b;
    int late = traffic_rank_of(x->kind), later = traffic_rank_of(y->kind);
    if (x->tick != y->tick) return x->tick < y->tick ? -1 : 1;
    if (late != later) return late - later;
    return (x->stay > y->stay) - (x->stay < y->stay);
}

/* Must move `a` be made before move `b`? Those that go down first, from the bottom on, then those that go
 * up, from the top on: where all keep their order none overwrites what another still has to copy. */
static bool moves_before(const int64_t *address, const struct lx_transfer *a, const struct lx_transfer *b)
{
    bool up = address[a->stay] > address[a->source], other_up = address[b->stay] > address[b->source];
    if (up != other_up) return other_up;
    return up ? address[a->source] > address[b->source] : address[a->source] < address[b->source];
}

static void order_moves(const int64_t *address, struct lx_transfer *t, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct lx_transfer x = t[i];
        size_t k = i;
        for (; x.kind == LX_MOVE && k > 0 && t[k - 1].tick == x.tick && moves_before(address, &x, &t[k - 1]);
             k--)
            t[k] = t[k - 1];
        t[k] = x;
    }
}

void traffic_list(const struct draft *x, const int64_t *address, struct arena *memory, struct traffic *out,
                  struct lx_op_traffic *ops)
{
    struct walk w = {.x = x, .address = address, .ops = ops};
    for (int32_t t = 0; t < x->graph->tensor_count; t++) walk_tensor(&w, t);
    if (w.transfers.count) qsort(w.transfers.at, w.transfers.count, sizeof *w.transfers.at, traffic_by_time);
    order_moves(address, w.transfers.at, w.transfers.count);
    *out = (struct traffic){.transfer_count = (int32_t)w.transfers.count,
                            .hbm_bytes = w.overflow ? INT64_MAX : w.hbm,
                            .ring_bytes = w.ring};
    out->transfers = arena_copy_array(memory, w.transfers.at, w.transfers.count, sizeof *out->transfers);
    VEC_FREE(&w.transfers);
}
