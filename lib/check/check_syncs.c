/* Do the syncs of a plan keep its cores in step? The walk takes the plan tick by tick, the body of a nest
 * twice, and keeps all touches since the last sync. If two cores touch the same sticks between two syncs and
 * one of them writes, the plan is refused: their order is open. Superfluous syncs are legal.
 *
 * A core runs its own tasks in order: the copies of a tick, the op, the stores. Within one tick the op orders
 * its cores itself, for example when they add up a sum. A scratchpad is read by other cores in ring copies
 * only, and never written by them. A global launch may deal any tile to any core. */
#include "check/check.h"

/* An operand of an op, or (operand -1) the parts of buffer `op`. */
struct toucher {
    int32_t op;
    int operand;
    bool writes, anyone;
    struct parts parts;
    bool alone; /* the cores touch their parts, and no two of them one stick */
};

/* Since the last meeting. */
struct touched {
    struct toucher by;
    int32_t tensor, tick, older; /* older: of the tensor */
    int turn;
    bool apart; /* another part of the tensor in each iteration */
};

/* Bytes of the source that other cores read, per core: [lo, hi). */
struct pulled {
    int32_t source, tick, turn;
    int64_t *lo, *hi;
};

struct meetings {
    struct checker *c;
    const struct parts *parts; /* per buffer */
    const struct lx_nest *nest;
    int turn;
    int32_t tick, count; /* meetings so far */
    int32_t next_sync, next_copy, next_bundle;
    VEC(struct touched) touched;
    VEC(struct pulled) pulled;
    VEC(int32_t) tensors;                      /* touched in HBM */
    VEC(int32_t) early;                        /* copies that are issued before they are due */
    int32_t *newest, *met;                     /* per tensor: its newest touch; 1 + the meetings before it */
    int32_t *filled, *filled_at, *filled_turn; /* per buffer: meetings, tick and turn of its last write */
    struct arena memory;                       /* until the next meeting */
};

/* ---- boxes of cores ---- */

struct box_of {
    bool none;
    int64_t lo[LX_MAX_DEVICE_RANK], hi[LX_MAX_DEVICE_RANK];
};

struct boxes_of {
    int64_t cores;
    int rank;
    int64_t pieces[LX_MAX_DEVICE_RANK], period[LX_MAX_DEVICE_RANK];
    struct box_of *at;
};

static const struct lx_layout *touched_layout(const struct meetings *m, const struct toucher *t)
{
    int32_t tensor =
        t->operand < 0 ? m->c->p->stays[t->op].tensor : op_operand(&m->c->g->ops[t->op], t->operand);
    return &m->c->l->layouts[tensor];
}

/* Does a core with a lower number hold the same part? */
static bool held_before(const struct parts *p, int64_t core)
{
    int64_t first = 0;
    for (int d = 0; d < p->rank; d++) {
        bool counted = p->slices[d] <= 1;
        for (int e = 0; e < d; e++) counted |= p->slices[e] > 1 && p->stride[e] == p->stride[d];
        if (!counted) first += core / p->stride[d] % p->slices[d] * p->stride[d];
    }
    return first < core;
}

static void boxes_of_parts(const struct toucher *t, const struct lx_layout *l, struct boxes_of *b)
{
    for (int d = 0; d < b->rank; d++) b->pieces[d] = t->parts.tiles[d] * t->parts.blocks[d];
    for (int64_t c = 0; c < b->cores; c++) {
        b->at[c].none = t->writes && held_before(&t->parts, c);
        for (int d = 0; d < b->rank; d++)
            b->period[d] = piece_of_part(l, &t->parts, d, c, &b->at[c].lo[d], &b->at[c].hi[d]);
    }
}

static void boxes_of_operand(const struct meetings *m, const struct toucher *t, const struct lx_layout *l,
                             struct boxes_of *b)
{
    struct cut k;
    cut_of_op(m->c, t->op, &k);
    bool whole[LX_MAX_DEVICE_RANK] = {false};
    for (int d = 0; d < b->rank; d++) {
        int v = !k.x.known || l->host_dim[d] < 0 ? -1 : k.x.var[t->operand][(int)l->host_dim[d]];
        int64_t tiles = v < 0 ? 1 : k.tiles[v];
        whole[d] = tiles > 1 && op_index_shifted(&k.x, t->operand);
        b->pieces[d] = whole[d] ? 1 : tiles;
        b->period[d] = l->size[d] / b->pieces[d];
    }
    for (int64_t c = 0; c < b->cores; c++) {
        struct zone z = zone_touched(m->c, &k, t->op, t->operand, c);
        b->at[c].none = zone_empty(&z);
        for (int v = 0; t->writes && k.x.known && v < k.x.var_count; v++)
            if (op_index_summed(&k.x, v) && k.split[v] > 1)
                b->at[c].none |= c / k.stride[v] % k.split[v] > 0; /* the first of a group writes its sum */
        for (int d = 0; d < b->rank; d++) {
            b->at[c].lo[d] = whole[d] ? 0 : z.lo[d];
            b->at[c].hi[d] = whole[d] ? l->size[d] : min_i64(z.hi[d], b->period[d]);
        }
    }
}

static struct boxes_of boxes_make(const struct meetings *m, const struct toucher *t)
{
    const struct lx_layout *l = touched_layout(m, t);
    struct boxes_of b = {.cores = max_i64(t->parts.cores, 1), .rank = l->rank > 0 ? l->rank - 1 : 0};
    b.at = mem_zeroed((size_t)b.cores, sizeof *b.at);
    if (t->operand < 0)
        boxes_of_parts(t, l, &b);
    else
        boxes_of_operand(m, t, l, &b);
    return b;
}

static bool boxes_share(const struct boxes_of *a, int64_t i, const struct boxes_of *b, int64_t k)
{
    if (a->at[i].none || b->at[k].none) return false;
    for (int d = 0; d < a->rank; d++) {
        const struct box_of *x = &a->at[i], *y = &b->at[k];
        bool share = false;
        for (int64_t p = 0; p < a->pieces[d] && !share; p++) {
            int64_t lo = p * a->period[d] + x->lo[d], hi = p * a->period[d] + x->hi[d];
            /* The pieces of b that end behind the begin of this one, and begin before its end. */
            int64_t q = b->pieces[d] > 1 ? max_i64(0, (lo - y->hi[d]) / max_i64(b->period[d], 1)) : 0;
            for (; q < b->pieces[d] && q * b->period[d] + y->lo[d] < hi && !share; q++)
                share = lo < hi && y->lo[d] < y->hi[d] && q * b->period[d] + y->hi[d] > lo;
        }
        if (!share) return false;
    }
    return true;
}

/* The cores that come into each other's way; false: none do. */
static bool touch_crosses(const struct meetings *m, const struct toucher *a, const struct toucher *b,
                          int64_t *one, int64_t *other)
{
    if (a->alone && b->alone && parts_equal(&a->parts, &b->parts)) return false;
    struct boxes_of x = boxes_make(m, a), y = boxes_make(m, b);
    bool found = false;
    for (*one = 0; *one < x.cores && !found; ++*one)
        for (*other = 0; *other < y.cores && !found; ++*other)
            found = (*one != *other || a->anyone || b->anyone) && boxes_share(&x, *one, &y, *other);
    --*one, --*other;
    mem_free(x.at);
    mem_free(y.at);
    return found;
}

/* ---- what was touched since the last meeting ---- */

static bool refuse_order(const struct meetings *m, const char *tensor, int32_t tick, int64_t one,
                         int64_t other)
{
    const struct lx_op *ops = m->c->g->ops;
    return status_set(
        m->c->st, LX_E_NO,
        "no sync stands between op %s (tick %d) and op %s (tick %d), but core %lld must wait for "
        "core %lld because of %s",
        ops[tick].name, (int)tick, ops[m->tick].name, (int)m->tick, (long long)other, (long long)one, tensor);
}

static void all_meet(struct meetings *m)
{
    m->count++;
    m->touched.count = m->pulled.count = m->tensors.count = 0;
    arena_free(&m->memory);
}

/* Another tensor with the same addresses in HBM. */
static bool addresses_free(struct meetings *m, int32_t tensor)
{
    const int64_t *at = m->c->p->hbm_address;
    if (m->met[tensor] == m->count + 1) return true;
    m->met[tensor] = m->count + 1;
    m->newest[tensor] = -1;
    int64_t end = at[tensor] + whole_bytes(m->c, tensor);
    for (size_t i = 0; i < m->tensors.count; i++) {
        int32_t other = m->tensors.at[i];
        if (at[other] < end && at[tensor] < at[other] + whole_bytes(m->c, other))
            return status_set(
                m->c->st, LX_E_NO,
                "no sync stands before op %s (tick %d), where %s begins at the place of %s in HBM",
                m->c->g->ops[m->tick].name, (int)m->tick, m->c->g->tensors[tensor].name,
                m->c->g->tensors[other].name);
    }
    VEC_PUSH(&m->tensors, tensor);
    return true;
}

static bool touch_hbm(struct meetings *m, int32_t tensor, const struct toucher *by, bool apart)
{
    int64_t one, other;
    if (!addresses_free(m, tensor)) return false;
    for (int32_t i = m->newest[tensor]; i >= 0; i = m->touched.at[i].older) {
        const struct touched *x = &m->touched.at[i];
        if (!by->writes && !x->by.writes) continue;
        if (x->tick == m->tick && x->turn == m->turn) continue;
        if (x->apart && apart && x->turn != m->turn) continue;
        if (touch_crosses(m, &x->by, by, &one, &other))
            return refuse_order(m, m->c->g->tensors[tensor].name, x->tick, one, other);
    }
    struct touched now = {*by, tensor, m->tick, m->newest[tensor], m->turn, apart};
    m->newest[tensor] = (int32_t)m->touched.count;
    VEC_PUSH(&m->touched, now);
    return true;
}

static struct toucher toucher_of_buffer(const struct meetings *m, int32_t buffer, bool writes)
{
    struct toucher t = {.op = buffer, .operand = -1, .writes = writes, .parts = m->parts[buffer]};
    int64_t parts = 1;
    t.alone = true;
    for (int d = 0; d < t.parts.rank; d++) {
        parts *= t.parts.slices[d];
        t.alone &= t.parts.low[d] == 0 && t.parts.high[d] == 0;
    }
    t.alone &= parts == t.parts.cores;
    return t;
}

static struct toucher toucher_of_access(const struct meetings *m, int operand)
{
    struct cut k;
    const struct lx_op *op = &m->c->g->ops[m->tick];
    const struct lx_op_launch *launches = m->c->p->launches;
    const struct lx_launch *l = launches ? launches[m->tick].launch : NULL;
    struct toucher t = {.op = m->tick, .operand = operand, .writes = operand >= op->input_count};
    cut_of_op(m->c, m->tick, &k);
    t.parts = parts_of_operand(m->c, &k, m->tick, operand, m->nest ? m->nest->level_count : 0);
    t.anyone = l && l->mode == LX_PARTITION_GLOBAL && (l->core_count > 1 || l->cores[0].core != 0);
    int64_t parts = 1;
    t.alone = k.x.known && t.parts.touched_whole && !t.anyone;
    for (int d = 0; d < t.parts.rank; d++) {
        parts *= t.parts.slices[d];
        t.alone &= t.parts.low[d] == 0 && t.parts.high[d] == 0;
    }
    t.alone &= parts == t.parts.cores;
    return t;
}

/* ---- scratchpads ---- */

static bool buffer_written(struct meetings *m, int32_t buffer)
{
    const struct lx_buffer *b = m->c->p->problem.buffers;
    const int64_t *at = m->c->p->answer.address;
    m->filled[buffer] = m->count;
    m->filled_at[buffer] = m->tick;
    m->filled_turn[buffer] = m->turn;
    for (size_t i = 0; i < m->pulled.count; i++) {
        const struct pulled *x = &m->pulled.at[i];
        if (at[x->source] >= at[buffer] + b[buffer].size || at[buffer] >= at[x->source] + b[x->source].size ||
            (x->tick == m->tick && x->turn == m->turn))
            continue;
        for (int64_t c = 0; c < m->parts[buffer].cores && c < m->parts[x->source].cores; c++)
            if (at[x->source] + x->lo[c] < at[buffer] + b[buffer].size &&
                at[buffer] < at[x->source] + x->hi[c])
                return refuse_order(m, m->c->g->tensors[m->c->p->stays[x->source].tensor].name, x->tick,
                                    c > 0 ? 0 : 1, c);
    }
    return true;
}

/* Widens core i's bytes of the source by what core k takes of it: all of them, unless both parts are single
 * boxes and the source's are of one size. */
static void pull_widen(const struct lx_layout *l, const struct boxes_of *x, int64_t i,
                       const struct boxes_of *y, int64_t k, struct pulled *p)
{
    const struct box_of *part = &x->at[i], *taken = &y->at[k];
    int64_t from = 0, to = 0;
    bool boxes = true;
    for (int d = 0; d < x->rank; d++) {
        int64_t size = part->hi[d] - part->lo[d];
        boxes &= x->pieces[d] == 1 && y->pieces[d] == 1 && size == x->at[0].hi[d] - x->at[0].lo[d];
        from = from * size + max_i64(0, taken->lo[d] - part->lo[d]);
        to = to * size + min_i64(size, taken->hi[d] - part->lo[d]) - 1;
    }
    p->lo[i] = boxes ? min_i64(p->lo[i], from * l->stick_bytes) : 0;
    p->hi[i] = boxes ? max_i64(p->hi[i], (to + 1) * l->stick_bytes) : INT64_MAX / 2;
}

/* The first core with each part sends it to the cores without it. */
static bool pull_over_ring(struct meetings *m, const struct lx_transfer *t)
{
    const struct toucher from = toucher_of_buffer(m, t->source, true),
                         to = toucher_of_buffer(m, t->stay, false);
    if (t->bytes == 0) return true;
    bool now = m->filled_at[t->source] == m->tick && m->filled_turn[t->source] == m->turn;
    if (m->filled[t->source] == m->count && !now)
        return refuse_order(m, m->c->g->tensors[m->c->p->stays[t->source].tensor].name,
                            m->filled_at[t->source], 0, 1);
    struct boxes_of x = boxes_make(m, &from), y = boxes_make(m, &to);
    struct pulled p = {t->source, m->tick, m->turn, arena_array(&m->memory, (size_t)x.cores, sizeof *p.lo),
                       arena_array(&m->memory, (size_t)x.cores, sizeof *p.hi)};
    for (int64_t i = 0; i < x.cores; i++) {
        p.lo[i] = INT64_MAX / 2;
        p.hi[i] = 0;
        for (int64_t k = 0; k < y.cores; k++) {
            bool own = k < x.cores;
            for (int d = 0; d < x.rank && own; d++)
                own = x.at[i].lo[d] == x.at[k].lo[d] && x.at[i].hi[d] == x.at[k].hi[d];
            if (!own && boxes_share(&x, i, &y, k)) pull_widen(touched_layout(m, &from), &x, i, &y, k, &p);
        }
    }
    VEC_PUSH(&m->pulled, p);
    mem_free(x.at);
    mem_free(y.at);
    return true;
}

/* ---- the walk ---- */

static bool copies_in_step(struct meetings *m, bool stores)
{
    const struct lx_plan *p = m->c->p;
    for (int32_t i = m->next_copy; i < p->transfer_count && p->transfers[i].tick == m->tick; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        const struct lx_stay *s = &p->stays[t->stay];
        if ((t->kind == LX_STORE) != stores) continue;
        /* A whole tensor is filled in the first iteration and stored in the last. */
        if (m->nest && s->hold == 0 && m->turn != stores) continue;
        if (t->kind == LX_LOAD || stores) {
            struct toucher by = toucher_of_buffer(m, t->stay, stores);
            struct looped loops = looped_in(m->c, m->nest, s->tensor);
            bool apart = m->nest && s->hold == m->nest->level_count && loops.indexed == all_loops(m->nest);
            if (!touch_hbm(m, s->tensor, &by, apart)) return false;
        }
        if (t->kind == LX_RING && !pull_over_ring(m, t)) return false;
        if (!stores && !buffer_written(m, t->stay)) return false;
    }
    return true;
}

/* A load that is issued here, before it is due, reads HBM and overwrites its buffer from now on. */
static bool issues_in_step(struct meetings *m)
{
    const struct lx_plan *p = m->c->p;
    for (size_t i = 0; m->turn == 0 && i < m->early.count; i++) {
        const struct lx_transfer *t = &p->transfers[m->early.at[i]];
        if (lx_issue_tick(t) != m->tick) continue;
        struct toucher by = toucher_of_buffer(m, t->stay, false);
        if (!touch_hbm(m, p->stays[t->stay].tensor, &by, false) || !buffer_written(m, t->stay)) return false;
    }
    return true;
}

static bool op_in_step(struct meetings *m)
{
    const struct lx_plan *p = m->c->p;
    int32_t first = p->access_at[m->tick];
    for (int32_t a = first; a < p->access_at[m->tick + 1]; a++) {
        const struct lx_access *x = &p->accesses[a];
        bool writes = a - first >= m->c->g->ops[m->tick].input_count;
        if (x->stay >= 0 && p->answer.address[x->stay] >= 0) {
            if (writes && !buffer_written(m, x->stay)) return false;
            continue;
        }
        struct toucher by = toucher_of_access(m, a - first);
        bool apart = m->nest && m->c->looped[a].indexed == all_loops(m->nest);
        if (!touch_hbm(m, x->tensor, &by, apart)) return false;
    }
    return true;
}

/* The bundle under way begins with its first op; one that a nest leaves begins anew in each iteration. */
static void bundles_meet(struct meetings *m)
{
    const struct lx_plan *p = m->c->p;
    int32_t b = m->next_bundle;
    while (b > 0 && p->bundles[b].first > m->tick) b--;
    while (b + 1 < p->bundle_count && p->bundles[b + 1].first <= m->tick) b++;
    m->next_bundle = b;
    bool again = m->nest && m->turn > 0 && m->tick == m->nest->first;
    if (again ? p->bundles[b].first + p->bundles[b].count <= m->nest->last : p->bundles[b].first == m->tick)
        all_meet(m);
}

static bool tick_in_step(struct meetings *m)
{
    const struct lx_plan *p = m->c->p;
    bundles_meet(m);
    while (m->next_sync > 0 && p->syncs[m->next_sync - 1].before >= m->tick) m->next_sync--;
    while (m->next_sync < p->sync_count && p->syncs[m->next_sync].before < m->tick) m->next_sync++;
    for (int32_t i = m->next_sync; i < p->sync_count && p->syncs[i].before == m->tick; i++)
        if (p->syncs[i].in_loop || m->turn == 0) all_meet(m);
    while (m->next_copy > 0 && p->transfers[m->next_copy - 1].tick >= m->tick) m->next_copy--;
    while (m->next_copy < p->transfer_count && p->transfers[m->next_copy].tick < m->tick) m->next_copy++;
    return copies_in_step(m, false) && issues_in_step(m) && op_in_step(m) && copies_in_step(m, true);
}

/* In order of time, each once, inside nests those in the loop and only these. */
static bool syncs_sound(const struct checker *c, int64_t *times)
{
    const struct lx_sync *s = c->p->syncs;
    for (int32_t i = 0; i < c->p->sync_count; i++) {
        const struct lx_nest *n = loops_of(c, s[i].before);
        bool inside = n && (s[i].in_loop || n->first != s[i].before);
        bool ordered = i == 0 || s[i - 1].before < s[i].before ||
                       (s[i - 1].before == s[i].before && !s[i - 1].in_loop && s[i].in_loop);
        if (!ordered || s[i].in_loop != inside)
            return status_set(c->st, LX_E_NO, "sync %d of the plan, before tick %d, is %s", (int)i,
                              (int)s[i].before,
                              !ordered ? "not behind the one before it"
                              : inside ? "inside a nest, but not in its loop"
                                       : "in a loop, but in no nest");
        *times += s[i].in_loop ? loop_count(n, all_loops(n)) : 1;
    }
    return true;
}

bool check_syncs(struct checker *c, const struct parts *parts)
{
    struct meetings m = {.c = c, .parts = parts};
    size_t tensors = (size_t)c->g->tensor_count, buffers = (size_t)c->p->problem.count;
    bool ok = syncs_sound(c, &c->figures.sync_times);
    m.newest = arena_array(c->memory, tensors, sizeof *m.newest);
    m.met = arena_array(c->memory, tensors, sizeof *m.met);
    m.filled = arena_array(c->memory, buffers, sizeof *m.filled);
    m.filled_at = arena_array(c->memory, buffers, sizeof *m.filled_at);
    m.filled_turn = arena_array(c->memory, buffers, sizeof *m.filled_turn);
    for (size_t i = 0; i < buffers; i++) m.filled[i] = -1;
    for (int32_t i = 0; i < c->p->transfer_count; i++)
        if (c->p->transfers[i].ahead != 0) VEC_PUSH(&m.early, i);
    for (int32_t o = 0; ok && c->p->divisions->cores > 1 && o < c->g->op_count; o++) {
        m.nest = loops_of(c, o);
        int32_t last = m.nest ? m.nest->last : o;
        for (m.turn = 0; ok && m.turn < (m.nest ? 2 : 1); m.turn++)
            for (m.tick = o; ok && m.tick <= last; m.tick++) ok = tick_in_step(&m);
        o = last;
    }
    VEC_FREE(&m.touched);
    VEC_FREE(&m.pulled);
    VEC_FREE(&m.tensors);
    VEC_FREE(&m.early);
    arena_free(&m.memory);
    return ok;
}
