/* The replay. Engines are times at which they are free; a task takes the latest of what it waits for. */
#include "clock/replay.h"
#include "cost/op.h"
#include "stays/draft.h"

const char *lx_wait_word(enum lx_wait w)
{
#define LX_WAIT_WORD(id, word) [id] = word,
    static const char *const words[] = {LX_WAITS(LX_WAIT_WORD)};
#undef LX_WAIT_WORD
    return (int)w >= 0 && w < LX_WAIT_COUNT ? words[w] : "?";
}

/* When each engine is free, on the device's axis; `end` is the last end of any task. */
struct engines {
    double core, copies_in, copies_out, hbm, ring, end;
};

/* Ends of fills that are issued before they are due, the next one first. */
struct fills_ahead {
    double end[LX_MOST_STAGES];
    int count;
};

/* A copy, once per time that it is made. */
struct copy_step {
    double us;
    int hold; /* it is made once per iteration of the levels up to this one */
};

struct replay {
    const struct plan_program *p;
    double loop_us;                             /* of each iteration of a nest */
    double sync_us, latency_us, begin_us, fill; /* fill: bytes per us of a load that a core receives */
    unsigned char *meets; /* per op: SYNC_OUTSIDE, SYNC_INSIDE its nest's body before it */
    double charged;       /* share of HBM bytes that cost time */
    struct lx_op_time *ops;
    enum lx_wait *longest; /* per op: what the longer of streaming and working waits for */
    struct copy_step *copies;
    int32_t *copy_at; /* per op, and one more: its transfers */
    struct early_copies early;
    struct engines now;
    struct fills_ahead *ahead;                /* per stay */
    const struct lx_nest *nest;               /* under way */
    int64_t turn[LX_MAX_LEVELS];              /* of its levels */
    double *stay_ready, *tensor_ready;        /* ends of the last writes, on chip and to HBM */
    struct clock_op *moved;                   /* per op: how far it moved `end` */
    struct clock_span *op_spans, *copy_spans; /* start: INFINITY before the first task */
    struct clock_times sum;
};

enum { SYNC_OUTSIDE = 1, SYNC_INSIDE = 2 };

/* --- What each task takes. --- */

static bool replay_on_chip(const struct plan_program *p, int32_t stay)
{
    return stay >= 0 && p->address[stay] >= 0;
}

static struct lx_core_view replay_view(const struct plan_program *p, int32_t stay)
{
    const struct lx_stay *s = &p->stays[stay];
    return lx_division_held(p->divisions, s->view_op, s->view_operand, s->hold);
}

static double replay_hbm_bytes(const struct plan_program *p)
{
    double bytes = 0;
    for (int32_t a = 0; a < p->access_at[p->layouts->graph->op_count]; a++)
        if (!replay_on_chip(p, p->accesses[a].stay)) bytes += (double)p->accesses[a].bytes;
    for (int32_t i = 0; i < p->transfer_count; i++)
        if (lx_through_hbm(p->transfers[i].kind)) bytes += (double)p->transfers[i].bytes;
    return bytes;
}

static void replay_weigh_op(struct replay *r, int32_t o)
{
    const struct plan_program *p = r->p;
    double share[LX_MAX_OPERANDS];
    struct lx_op_work w;
    for (int i = 0; i < op_operand_count(&p->layouts->graph->ops[o]); i++) {
        const struct lx_access *a = &p->accesses[p->access_at[o] + i];
        int64_t all = operand_bytes(p->divisions, o, i);
        share[i] = replay_on_chip(p, a->stay) || all <= 0 ? 0 : (double)a->bytes / (double)all;
    }
    if (p->work)
        w = p->work[o];
    else
        lx_division_work(p->divisions, o, &w);
    r->ops[o] = lx_op_time_of(&w, share, r->charged);
    r->longest[o] = r->ops[o].stream_us >= r->ops[o].work_us ? LX_WAIT_HBM
                    : w.compute_us >= w.port_us              ? LX_WAIT_COMPUTE
                                                             : LX_WAIT_LX;
}

/* Bytes per microsecond of a load that one core receives. */
static double replay_fill_rate(const struct lx_device *d)
{
    const double unlimited = 1e9, rate = cost_rate(d, COST_FILL);
    return rate < unlimited ? rate * 1e3 : INFINITY;
}

static void replay_weigh_copy(struct replay *r, int32_t i)
{
    const struct plan_program *p = r->p;
    const struct lx_transfer *t = &p->transfers[i];
    const struct lx_stay *s = &p->stays[t->stay];
    const struct lx_device *d = &p->layouts->graph->device;
    int64_t fills = nest_fills(p->nests, p->nest_count, s->view_op, s->hold);
    struct lx_core_view to = replay_view(p, t->stay), from = t->source >= 0 ? replay_view(p, t->source) : to;
    double part = t->kind == LX_LOAD ? (double)view_part_bytes(p->layouts, s->tensor, &to) / r->fill : 0;
    double us = lx_through_hbm(t->kind)
                    ? fmax(cost_copy(d, t->bytes) * r->charged / (double)fills, r->charged > 0 ? part : 0)
                : t->kind == LX_MOVE ? cost_local_copy(d, view_part_bytes(p->layouts, s->tensor, &to))
                                     : view_ring_us(p->layouts, s->tensor, &from, &to);
    r->copies[i] = (struct copy_step){us, s->hold};
}

/* --- Tasks. --- */

/* A task of op `o`'s tick has ended. Its step beyond the last end is spent on `wait`. */
static void replay_end(struct replay *r, int32_t o, double end, enum lx_wait wait)
{
    if (end <= r->now.end) return;
    r->moved[o].us[wait] += end - r->now.end;
    r->now.end = end;
}

static void replay_span(struct clock_span *span, double start, double end)
{
    span->start_us = fmin(span->start_us, start);
    span->end_us = end;
}

static void replay_copy(struct replay *r, int32_t i)
{
    const struct lx_transfer *t = &r->p->transfers[i];
    const int32_t tensor = r->p->stays[t->stay].tensor;
    struct engines *now = &r->now;
    double us = r->copies[i].us, start = now->core, end;
    switch (t->kind) {
    case LX_LOAD:
        start = fmax(fmax(start, r->tensor_ready[tensor]), fmax(now->copies_in, now->hbm));
        now->copies_in = now->hbm = start + us;
        end = r->stay_ready[t->stay] = now->hbm + r->latency_us;
        r->sum.hbm_us += us;
        break;
    case LX_STORE:
        start = fmax(start, fmax(now->copies_out, now->hbm));
        end = r->tensor_ready[tensor] = now->copies_out = now->hbm = start + us;
        r->sum.hbm_us += us;
        break;
    case LX_RING:
        start = fmax(fmax(start, r->stay_ready[t->source]), fmax(now->copies_in, now->ring));
        now->copies_in = now->ring = start + us;
        end = r->stay_ready[t->stay] = now->ring + (t->bytes > 0 ? r->latency_us : 0);
        r->sum.ring_us += us;
        break;
    default: /* a move: the core copies its own part */
        start = fmax(start, r->stay_ready[t->source]);
        end = r->stay_ready[t->stay] = now->core = start + us;
    }
    replay_end(r, t->tick, end,
               lx_through_hbm(t->kind)               ? LX_WAIT_HBM
               : t->kind == LX_MOVE || t->bytes == 0 ? LX_WAIT_LX
                                                     : LX_WAIT_RING);
    replay_span(&r->copy_spans[i], start, end);
}

/* A load that was issued before it is due: the op waits for its end. */
static void replay_await(struct replay *r, int32_t i)
{
    const struct lx_transfer *t = &r->p->transfers[i];
    replay_end(r, t->tick, r->stay_ready[t->stay], LX_WAIT_HBM);
}

/* Loads that are issued beside op `o`, which began at `start` or later: behind its own streaming. */
static void replay_issues(struct replay *r, int32_t o, double start)
{
    struct engines *now = &r->now;
    for (int32_t k = r->early.at[o]; k < r->early.at[o + 1]; k++) {
        int32_t i = r->early.copy[k];
        const struct lx_transfer *t = &r->p->transfers[i];
        double from =
            fmax(fmax(start, r->tensor_ready[r->p->stays[t->stay].tensor]), fmax(now->copies_in, now->hbm));
        now->copies_in = now->hbm = from + r->copies[i].us;
        r->stay_ready[t->stay] = now->hbm + r->latency_us;
        r->sum.hbm_us += r->copies[i].us;
        replay_span(&r->copy_spans[i], from, now->hbm);
    }
}

/* A slice with several stages, which is due: the first is loaded now, the others are on their way. */
static void replay_stage_due(struct replay *r, int32_t i, bool first)
{
    struct fills_ahead *a = &r->ahead[r->p->transfers[i].stay];
    if (first) {
        a->count = 0;
        replay_copy(r, i);
        return;
    }
    r->stay_ready[r->p->transfers[i].stay] = a->end[0];
    for (int k = 0; k + 1 < a->count; k++) a->end[k] = a->end[k + 1];
    a->count--;
    replay_await(r, i);
}

/* Fills of the hold that come after this one. */
static int64_t replay_fills_left(const struct replay *r, int hold)
{
    int64_t left = 0;
    for (int l = 0; l < hold && l < r->nest->level_count; l++)
        left = left * r->nest->tiles[l] + r->nest->tiles[l] - 1 - r->turn[l];
    return left;
}

/* The next slices of stays with several stages. */
static void replay_stages_ahead(struct replay *r, int32_t o, int first, double start)
{
    struct engines *now = &r->now;
    for (int32_t i = r->copy_at[o]; r->nest && i < r->copy_at[o + 1]; i++) {
        const struct lx_transfer *t = &r->p->transfers[i];
        int stages = lx_stages(&r->p->stays[t->stay]);
        struct fills_ahead *a = &r->ahead[t->stay];
        if (stages == 1 || t->kind != LX_LOAD || first > r->copies[i].hold) continue;
        int64_t most = min_i64(replay_fills_left(r, r->copies[i].hold), stages - 1);
        while (a->count < most) {
            double from = fmax(start, fmax(now->copies_in, now->hbm));
            a->end[a->count++] = now->copies_in = now->hbm = from + r->copies[i].us;
            r->sum.hbm_us += r->copies[i].us;
            replay_span(&r->copy_spans[i], from, now->hbm);
        }
    }
}

static void replay_op(struct replay *r, int32_t o)
{
    const struct plan_program *p = r->p;
    const struct lx_op_time *t = &r->ops[o];
    const struct lx_op *op = &p->layouts->graph->ops[o];
    struct engines *now = &r->now;
    double start = now->core;
    for (int i = 0; i < op_operand_count(op); i++) {
        const struct lx_access *a = &p->accesses[p->access_at[o] + i];
        bool on_chip = replay_on_chip(p, a->stay);
        if (a->reads) start = fmax(start, on_chip ? r->stay_ready[a->stay] : r->tensor_ready[a->tensor]);
    }
    bool reads = false; /* from HBM, and so waits for the first byte */
    for (int i = 0; i < op->input_count; i++)
        reads |= !replay_on_chip(p, p->accesses[p->access_at[o] + i].stay);
    double stream = t->stream_us > 0 ? fmax(start, now->hbm) + t->stream_us : start,
           work = fmax(start + t->work_us, stream + (reads ? r->latency_us : 0)),
           end = work + t->exposed_us + t->ring_us;
    if (t->stream_us > 0) now->hbm = stream;
    r->sum.hbm_us += t->stream_us;
    r->sum.compute_us += t->work_us + t->exposed_us;
    r->sum.ring_us += t->ring_us;
    now->core = end;
    replay_end(r, o, work, r->longest[o]);
    replay_end(r, o, work + t->exposed_us, LX_WAIT_COMPUTE);
    replay_end(r, o, end, LX_WAIT_RING);
    for (int i = op->input_count; i < op_operand_count(op); i++) {
        const struct lx_access *a = &p->accesses[p->access_at[o] + i];
        *(replay_on_chip(p, a->stay) ? &r->stay_ready[a->stay] : &r->tensor_ready[a->tensor]) = end;
    }
    replay_span(&r->op_spans[o], start, end);
}

static void replay_sync(struct replay *r, int32_t o, unsigned where)
{
    if (!(r->meets[o] & where)) return;
    r->now.core += r->sync_us;
    replay_end(r, o, r->now.core, LX_WAIT_SYNC);
}

/* Op `o` with the copies of its tick, in one iteration. `first` is the outermost level whose iteration begins
 * here, `last` the outermost whose iteration ends; 0: the nest itself. */
static void replay_tick(struct replay *r, int32_t o, int first, int last)
{
    int32_t i = r->copy_at[o];
    for (; i < r->copy_at[o + 1] && r->p->transfers[i].kind != LX_STORE; i++)
        if (first <= r->copies[i].hold) {
            const struct lx_transfer *t = &r->p->transfers[i];
            if (t->ahead > 0)
                replay_await(r, i);
            else if (t->kind == LX_LOAD && r->nest && lx_stages(&r->p->stays[t->stay]) > 1)
                replay_stage_due(r, i, first == 0);
            else
                replay_copy(r, i);
        }
    double begin = r->now.core;
    replay_op(r, o);
    if (first == 0) replay_issues(r, o, begin);
    replay_stages_ahead(r, o, first, begin);
    for (; i < r->copy_at[o + 1]; i++)
        if (last <= r->copies[i].hold) replay_copy(r, i);
}

/* --- Nests. --- */

struct nest_replay {
    struct replay *r;
    const struct lx_nest *nest;
    struct clock_op
        *before; /* per level and op of the nest: `moved` before the last iteration that was stepped */
};

/* What an iteration does not touch, as it waits for a load that was issued before, stays where it is. */
static void nest_replay_shift(double *at, double before, double since, double by)
{
    if (*at > since && *at != before) *at += by;
}

/* Adds `times` more iterations like the last one, which began with the engines at `from`. */
static void nest_replay_multiply(struct nest_replay *n, const struct engines *from,
                                 const struct clock_op *moved, const struct clock_times *sum, double times)
{
    struct replay *r = n->r;
    const struct plan_program *p = r->p;
    struct engines *now = &r->now;
    double by = times * (now->end - from->end), since = from->core;
    for (int32_t o = n->nest->first; o <= n->nest->last; o++) {
        for (int w = 0; w < LX_WAIT_COUNT; w++)
            r->moved[o].us[w] += times * (r->moved[o].us[w] - moved[o - n->nest->first].us[w]);
        r->op_spans[o].end_us += by;
        for (int32_t i = r->copy_at[o]; i < r->copy_at[o + 1]; i++)
            if (r->p->transfers[i].ahead == 0) nest_replay_shift(&r->copy_spans[i].end_us, 0, since, by);
    }
    for (int32_t i = r->copy_at[n->nest->first]; i < r->copy_at[n->nest->last + 1]; i++) {
        struct fills_ahead *a = &r->ahead[r->p->transfers[i].stay];
        for (int k = 0; r->p->transfers[i].kind == LX_LOAD && k < a->count; k++) a->end[k] += by;
    }
    /* Data is as old as it was, seen from the next iteration. */
    for (int32_t o = n->nest->first; o <= n->nest->last; o++)
        for (int i = 0; i < op_operand_count(&p->layouts->graph->ops[o]); i++) {
            const struct lx_access *a = &p->accesses[p->access_at[o] + i];
            if (a->stay >= 0) r->stay_ready[a->stay] = fmin(r->stay_ready[a->stay], now->end);
            r->tensor_ready[a->tensor] = fmin(r->tensor_ready[a->tensor], now->end);
        }
    double *engines[] = {&now->core, &now->copies_in, &now->copies_out, &now->hbm, &now->ring};
    const double before[] = {from->core, from->copies_in, from->copies_out, from->hbm, from->ring};
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        nest_replay_shift(engines[i], before[i], since, by);
    now->end += by;
    r->sum.hbm_us += times * (r->sum.hbm_us - sum->hbm_us);
    r->sum.ring_us += times * (r->sum.ring_us - sum->ring_us);
    r->sum.compute_us += times * (r->sum.compute_us - sum->compute_us);
}

/* All iterations of level `level`, counted from 1, and the levels inside. */
static void nest_replay_level(struct nest_replay *n, int level, int first, int last)
{
    enum { MOST_STEPPED = 6 };
    struct replay *r = n->r;
    const size_t ops = (size_t)(n->nest->last - n->nest->first + 1);
    if (level > n->nest->level_count || level > LX_MAX_LEVELS) {
        r->now.core += r->loop_us;
        replay_end(r, n->nest->first, r->now.core, LX_WAIT_SYNC);
        for (int32_t o = n->nest->first; o <= n->nest->last; o++) {
            replay_sync(r, o, SYNC_INSIDE);
            replay_tick(r, o, first, last);
        }
        return;
    }
    struct clock_op *before = &n->before[ops * (size_t)(level - 1)];
    int64_t tiles = n->nest->tiles[level - 1];
    double step = -1;
    for (int64_t i = 0; i < tiles; i++) {
        struct engines from = r->now;
        struct clock_times sum = r->sum;
        r->turn[level - 1] = i;
        memcpy(before, &r->moved[n->nest->first], ops * sizeof *before);
        nest_replay_level(n, level + 1, i == 0 ? first : level, i == tiles - 1 ? last : level);
        double now = r->now.end - from.end;
        bool alike = i > 1 && fabs(now - step) <= 1e-12 * now;
        step = now;
        if ((alike || i == MOST_STEPPED) && i + 2 < tiles) {
            nest_replay_multiply(n, &from, before, &sum, (double)(tiles - i - 2));
            i = tiles - 2;
        }
    }
}

/* --- Bundles. --- */

/* Tensors that a bundle has in HBM. `seen`: per tensor 1 + the bundle that had it there last. */
static void replay_count_tensor(struct lx_bundle *b, int32_t tensor, int32_t bundle, int32_t *seen)
{
    b->operands++;
    b->tensors += seen[tensor] != bundle + 1;
    seen[tensor] = bundle + 1;
}

static void replay_count_bundles(const struct replay *r, struct lx_bundle *bundles)
{
    const struct plan_program *p = r->p;
    const struct lx_graph *g = p->layouts->graph;
    OWNED int32_t *seen = mem_zeroed((size_t)g->tensor_count + 1, sizeof *seen);
    for (int32_t o = 0; o < g->op_count; o++) {
        int32_t number = p->bundle_of[o];
        struct lx_bundle *b = &bundles[number];
        if (b->count++ == 0) b->first = o;
        b->is_extern = g->ops[o].kind->traits & LX_WIPES;
        b->cores = max_i64(b->cores, p->divisions->at[o].cores_used);
        for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++)
            if (!replay_on_chip(p, p->accesses[a].stay))
                replay_count_tensor(b, p->accesses[a].tensor, number, seen);
        for (int32_t i = r->copy_at[o]; i < r->copy_at[o + 1]; i++)
            if (lx_through_hbm(p->transfers[i].kind))
                replay_count_tensor(b, p->stays[p->transfers[i].stay].tensor, number, seen);
    }
}

/* The bundle's device work ends its time from end to end; the launch comes before. */
static void replay_bundle(struct replay *r, struct lx_bundle *b)
{
    const struct plan_program *p = r->p;
    const struct lx_device *d = &p->layouts->graph->device;
    const double begin = r->now.end, first = begin + r->begin_us;
    r->now = (struct engines){first, first, first, first, first, begin};
    replay_end(r, b->first, first, LX_WAIT_SYNC);
    for (int32_t o = b->first, end = b->first + b->count; o < end;) {
        int32_t nest = nest_of_op(p->nests, p->nest_count, o);
        replay_sync(r, o, SYNC_OUTSIDE);
        if (nest < 0) {
            replay_tick(r, o++, 0, 0);
            continue;
        }
        struct nest_replay n = {.r = r, .nest = &p->nests[nest]};
        size_t ops = (size_t)(n.nest->last - n.nest->first + 1);
        n.before = mem_zeroed(ops * (size_t)n.nest->level_count, sizeof *n.before);
        r->nest = n.nest;
        nest_replay_level(&n, 1, 0, 0);
        r->nest = NULL;
        mem_free(n.before);
        o = n.nest->last + 1;
    }
    b->device_us = r->now.end - begin;
    b->end_to_end_us =
        cost_end_to_end(b->is_extern ? 0 : cost_launch(d, b->operands, b->cores), b->device_us);
    double launch = b->end_to_end_us - b->device_us, shift = r->sum.end_to_end_us + launch - begin;
    for (int32_t o = b->first; o < b->first + b->count; o++) {
        double own = 0;
        for (int w = 0; w < LX_WAIT_LAUNCH; w++) own += r->moved[o].us[w];
        r->moved[o].us[LX_WAIT_LAUNCH] = launch * (b->device_us > 0 ? own / b->device_us : 1.0 / b->count);
        r->op_spans[o].start_us += shift;
        r->op_spans[o].end_us += shift;
        for (int32_t i = r->copy_at[o]; i < r->copy_at[o + 1]; i++) {
            r->copy_spans[i].start_us += shift;
            r->copy_spans[i].end_us += shift;
        }
    }
    r->sum.device_us += b->device_us;
    r->sum.end_to_end_us += b->end_to_end_us;
}

static void *replay_room(struct arena *memory, void *wanted, int64_t count, size_t size)
{
    return wanted ? wanted : arena_array(memory, (size_t)count + 1, size);
}

struct clock_times clock_replay(const struct plan_program *p, const struct clock_details *out)
{
    const struct lx_graph *g = p->layouts->graph;
    const int32_t ops = g->op_count, copies = p->transfer_count;
    const struct clock_details none = {0};
    SCOPED(arena_free) struct arena memory = {0};
    if (!out) out = &none;
    struct replay r = {.p = p,
                       .loop_us = cost_rate(&g->device, COST_LOOP),
                       .sync_us = cost_rate(&g->device, COST_SYNC),
                       .latency_us = cost_rate(&g->device, COST_LATENCY),
                       .begin_us = cost_rate(&g->device, COST_BEGIN),
                       .fill = replay_fill_rate(&g->device),
                       .meets = arena_array(&memory, (size_t)ops + 1, sizeof *r.meets),
                       .ops = replay_room(&memory, out->op_times, ops, sizeof *r.ops),
                       .longest = arena_array(&memory, (size_t)ops + 1, sizeof *r.longest),
                       .copies = arena_array(&memory, (size_t)copies + 1, sizeof *r.copies),
                       .copy_at = arena_array(&memory, (size_t)ops + 1, sizeof *r.copy_at),
                       .early = program_early_copies(p, &memory),
                       .ahead = arena_array(&memory, (size_t)p->stay_count + 1, sizeof *r.ahead),
                       .stay_ready = arena_array(&memory, (size_t)p->stay_count + 1, sizeof *r.stay_ready),
                       .tensor_ready =
                           arena_array(&memory, (size_t)g->tensor_count + 1, sizeof *r.tensor_ready),
                       .moved = replay_room(&memory, out->ops, ops, sizeof *r.moved),
                       .op_spans = replay_room(&memory, out->op_spans, ops, sizeof *r.op_spans),
                       .copy_spans = replay_room(&memory, out->copies, copies, sizeof *r.copy_spans)};
    struct lx_bundle *bundles = replay_room(&memory, out->bundles, p->bundle_count, sizeof *bundles);
    double bytes = replay_hbm_bytes(p), charged = cost_charged_bytes(&g->device, bytes);
    r.charged = bytes > 0 ? charged / bytes : 1;
    r.sum.credit_bytes = bytes - charged;
    for (int32_t i = 0; i < p->sync_count; i++)
        r.meets[p->syncs[i].before] |= p->syncs[i].in_loop ? SYNC_INSIDE : SYNC_OUTSIDE;
    memset(bundles, 0, (size_t)p->bundle_count * sizeof *bundles);
    for (int32_t i = 0; i < copies; i++) {
        replay_weigh_copy(&r, i);
        r.copy_spans[i] = (struct clock_span){INFINITY, 0, r.copies[i].us};
    }
    for (int32_t o = 0, i = 0; o < ops; o++) {
        r.copy_at[o] = i;
        while (i < copies && p->transfers[i].tick == o) i++;
        r.copy_at[o + 1] = i;
        r.moved[o] = (struct clock_op){{0}};
        r.op_spans[o] = (struct clock_span){.start_us = INFINITY};
        replay_weigh_op(&r, o);
    }
    replay_count_bundles(&r, bundles);
    for (int32_t i = 0; i < p->bundle_count; i++) replay_bundle(&r, &bundles[i]);
    return r.sum;
}
