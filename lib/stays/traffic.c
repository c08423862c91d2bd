/* Bytes that a placement moves. The walk goes through each tensor's accesses in order of time and tracks the
 * place of its latest value. A stay that begins with a read is filled from its relayout's source, else from
 * HBM; a store updates HBM when needed. In nests all iterations count. */
#include "stays/draft.h"
#include "base/words/words.h"
#include "base/slot.h"
#include "layout/op_index.h"

struct walk {
    const struct draft *x;
    const int64_t *address;    /* NULL: nothing is on chip */
    struct lx_op_traffic *ops; /* NULL: only the sum is wanted */
    VEC(struct lx_transfer) transfers;
    int64_t hbm, ring;
    bool overflow;
    int64_t whole;
    bool hbm_has_it;
    int32_t keeper, written_at; /* the stay with the latest value that HBM lacks, and the tick of its write */
};

LX_WORDS_OF(
    lx_transfer_word,
    enum lx_transfer_kind, [LX_LOAD] = "load", [LX_STORE] = "store", [LX_RING] = "ring", [LX_MOVE] = "move")

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
    if (w->ops) VEC_PUSH(&w->transfers, (struct lx_transfer){kind, tick, stay, source, bytes, 0});
}

/* Stores the latest value unless HBM has it. */
static void need_in_hbm(struct walk *w)
{
    if (w->hbm_has_it) return;
    w->hbm_has_it = true;
    transfer(w, LX_STORE, w->written_at, w->keeper, -1, w->whole);
    traffic_add(w, w->whole, w->ops ? &w->ops[w->written_at].hbm_written : NULL);
}

/* Each core copies its part. A source that serves no access and was itself moved is filled first. */
static void traffic_move(struct walk *w, int32_t stay)
{
    const struct draft *x = w->x;
    const struct lx_stay *s = &x->stays[stay];
    int32_t tick = (int32_t)x->problem.buffers[stay].start, from = s->moved_from;
    bool idle = x->stays[from].moved_from >= 0;
    for (int32_t k = x->tensor_at[s->tensor]; idle && k < x->tensor_at[s->tensor + 1]; k++)
        idle = x->accesses[x->tensor_access[k]].stay != from;
    if (idle) traffic_move(w, from);
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
        if (w->ops) w->transfers.at[w->transfers.count - 1].ahead = stay_ahead(w->x, stay);
        traffic_add(w, bytes, w->ops ? &w->ops[tick].hbm_read : NULL);
        return;
    }
    int64_t bytes = stay_ring_bytes(w->x, stay) * stay_fills(w->x, stay);
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
        /* Partial sums: each is stored, all but the first are loaded before. */
        int64_t stored = parts * w->whole, loaded = stored - w->whole;
        transfer(w, LX_LOAD, tick, a->stay, -1, loaded);
        transfer(w, LX_STORE, tick, a->stay, -1, stored);
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
        /* The op's first access of a stay that begins here fills it. */
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
    slot_end_abandoned();
    for (int32_t t = 0; t < x->graph->tensor_count; t++) walk_tensor(&w, t);
    *hbm_bytes = w.overflow ? INT64_MAX : w.hbm;
    return !w.overflow;
}

/* Order of transfers in a tick: moves, then loads and ring copies, then stores. Moves down come first, from
 * the bottom on, then moves up, from the top on: none overwrites bytes that a later one copies. */
static bool traffic_before(const struct lx_transfer *a, const struct lx_transfer *b, const int64_t *address)
{
    static const int rank[] = {[LX_MOVE] = 0, [LX_LOAD] = 1, [LX_RING] = 1, [LX_STORE] = 2};
    if (a->tick != b->tick) return a->tick < b->tick;
    if (rank[a->kind] != rank[b->kind]) return rank[a->kind] < rank[b->kind];
    if (a->kind == LX_MOVE) {
        bool up = address[a->stay] > address[a->source], other_up = address[b->stay] > address[b->source];
        int64_t from = address[a->source], other = address[b->source];
        if (up != other_up) return other_up;
        if (from != other) return up ? from > other : from < other;
    }
    return a->stay < b->stay;
}

void traffic_list(const struct draft *x, const int64_t *address, struct arena *memory, struct traffic *out,
                  struct lx_op_traffic *ops)
{
    struct walk w = {.x = x, .address = address, .ops = ops};
    for (int32_t t = 0; t < x->graph->tensor_count; t++) walk_tensor(&w, t);
    /* Stable merge sort. */
    size_t count = w.transfers.count;
    OWNED struct lx_transfer *room = mem_alloc(count * sizeof *room);
    for (size_t run = 1; run < count; run *= 2)
        for (size_t i = 0; i + run < count; i += 2 * run) {
            size_t end = count - i < 2 * run ? count : i + 2 * run, a = 0, b = i + run, to = i;
            memcpy(room, &w.transfers.at[i], run * sizeof *room);
            while (a < run && b < end)
                w.transfers.at[to++] =
                    traffic_before(&w.transfers.at[b], &room[a], address) ? w.transfers.at[b++] : room[a++];
            memcpy(&w.transfers.at[to], &room[a], (run - a) * sizeof *room);
        }
    *out = (struct traffic){.transfer_count = (int32_t)w.transfers.count,
                            .hbm_bytes = w.overflow ? INT64_MAX : w.hbm,
                            .ring_bytes = w.ring};
    out->transfers = arena_copy_array(memory, w.transfers.at, w.transfers.count, sizeof *out->transfers);
    VEC_FREE(&w.transfers);
}

/* --- Traffic on chip: the sticks that an op's cores touch in their scratchpads, by the slices of its
 * division, and sums on the reduce ring. In a nest each iteration moves its tile, and a continued sum reads
 * the partial result. --- */

static int64_t sticks_of_core(const struct draft *x, int32_t o, const struct op_index *index, int operand,
                              int64_t core)
{
    const struct lx_layout *y = &x->layouts->layouts[op_operand(&x->graph->ops[o], operand)];
    int64_t sticks = 1;
    for (int k = 0; k < y->rank - 1; k++) {
        if (y->host_dim[k] < 0) {
            sticks *= y->size[k];
            continue;
        }
        if (operand == 0 && op_index_follows(index, index->var[0][(int)y->host_dim[k]])) {
            struct lx_core_view v = lx_division_view(x->divisions, o, operand);
            int64_t lo, hi;
            core_view_reach(&v, k, y->size[k], core, &lo, &hi);
            sticks *= hi - lo;
            continue;
        }
        /* Indices offset + stride * v for v in [from, to); the last slice includes the padding. */
        const struct lx_division *d = &x->divisions->at[o];
        int h = y->host_dim[k], v = index->var[operand][h];
        int64_t from = 0, to = index->extent[v], size = y->host_shape[h];
        bool shifted = op_index_shifted(index, operand);
        for (int i = 0; i < d->split_count; i++)
            if (d->splits[i].letter == index->letter[v]) lx_division_slice(d, i, core, &from, &to);
        if (!shifted && to == size && from < to)
            sticks *= y->size[k] - from / y->step[k];
        else
            sticks *=
                steps_touched(shifted ? op_index_offset(index, operand, h) : 0,
                              shifted ? op_index_stride(index, operand, h) : 1, from, to, size, y->step[k]);
    }
    return sticks;
}

/* Bytes that all cores touch. A core without work reads nothing; it still writes its part of a sum. */
static int64_t lx_traffic_touched_bytes(const struct draft *x, int32_t o, const struct op_index *index,
                                        int operand)
{
    const struct lx_division *d = &x->divisions->at[o];
    int32_t tensor = op_operand(&x->graph->ops[o], operand);
    if (d->kind != LX_DIVIDED || !index->known || x->layouts->layouts[tensor].rank == 0)
        return tensor_bytes(x->layouts, tensor);
    int64_t sticks = 0, from, to;
    for (int64_t c = 0; c < d->cores_used; c++) {
        bool idle = false; /* its slice is behind the end of a dimension */
        for (int i = 0; operand < x->graph->ops[o].input_count && i < d->split_count && !idle; i++) {
            lx_division_slice(d, i, c, &from, &to);
            idle = from >= to;
        }
        if (!idle) sticks += sticks_of_core(x, o, index, operand, c);
    }
    return sticks * x->layouts->layouts[tensor].stick_bytes;
}

/* The parts of all groups make up the whole output, even if the last group's are smaller. */
static int64_t reduce_ring_bytes(const struct draft *x, int32_t o, const int64_t *address, int64_t sums)
{
    const struct lx_division *d = &x->divisions->at[o];
    const struct lx_op *op = &x->graph->ops[o];
    int64_t slices = 1, bytes = 0;
    if (d->kind != LX_DIVIDED) return 0;
    for (int i = 0; i < d->split_count; i++)
        if (d->splits[i].is_summed) slices *= d->splits[i].split;
    for (int i = op->input_count; i < op_operand_count(op); i++) {
        int32_t stay = x->accesses[x->access_at[o] + i].stay;
        bool on_chip = stay >= 0 && address[stay] >= 0;
        bytes += (slices - 1) * sums * tensor_bytes(x->layouts, op_operand(op, i)) * (on_chip ? 2 : 1);
    }
    return bytes;
}

void traffic_on_chip(const struct draft *x, const int64_t *address, struct lx_op_traffic *ops)
{
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        const struct lx_op *op = &x->graph->ops[o];
        struct op_index index;
        int64_t sums = 1, times = 1; /* writes of each output element; runs of the op */
        slot_end_abandoned();
        int32_t n = nest_of_op(x->how.nests, x->how.nest_count, o);
        if (n >= 0) {
            struct nest_tensor made = nest_tensor_of(x->layouts, &x->how.nests[n], op->output);
            sums = nest_product(&x->how.nests[n], made.summed);
            times = nest_iterations(&x->how.nests[n]);
        }
        op_index_of(x->graph, op, &index);
        nest_tile_index(x->how.nests, x->how.nest_count, o, &index);
        for (int i = 0; i < op_operand_count(op); i++) {
            int32_t stay = x->accesses[x->access_at[o] + i].stay;
            if (stay < 0 || address[stay] < 0) continue;
            int64_t bytes = lx_traffic_touched_bytes(x, o, &index, i) * times;
            *(i < op->input_count ? &ops[o].lx_read : &ops[o].lx_written) += bytes;
            if (i >= op->input_count) ops[o].lx_read += bytes / sums * (sums - 1);
        }
        ops[o].reduce_ring = reduce_ring_bytes(x, o, address, sums);
    }
}
