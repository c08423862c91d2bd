/* Addresses in HBM: graph inputs, weights and outputs have their own; intermediates share one segment, packed
 * for least height by a solver, or greedily. */
#include "plan/plan_make.h"

/* Is there a sync in the body of the nest behind a tick? */
static bool body_meets(const struct lx_plan *p, const struct lx_nest *n, int64_t tick)
{
    for (int32_t i = 0; i < p->sync_count; i++)
        if (p->syncs[i].in_loop && p->syncs[i].before > tick && p->syncs[i].before <= n->last) return true;
    return false;
}

/* Intermediates in HBM as buffers, from first to last touch there, and on until all cores have met, so that
 * another tensor may have the bytes without a further sync. One that is read before it is fully written
 * holds zeros, so its bytes are its own from the start. */
static struct lx_buffer *lives_in_hbm(const struct lx_plan *p)
{
    const struct lx_graph *g = p->layouts->graph;
    struct lx_buffer *b = mem_zeroed((size_t)g->tensor_count + 1, sizeof *b);
    SCOPED(arena_free) struct arena scratch = {0};
    const int64_t *next = plan_next_syncs(p, &scratch);
    /* Per tensor: is its first access a read? */
    OWNED bool *read_first = mem_zeroed((size_t)g->tensor_count + 1, sizeof *read_first);
    for (int32_t a = p->access_at[g->op_count]; a-- > 0;)
        read_first[p->accesses[a].tensor] = p->accesses[a].reads;
    for (int32_t t = 0; t < g->tensor_count; t++)
        b[t] = (struct lx_buffer){
            .name = g->tensors[t].name, .size = tensor_bytes(p->layouts, t), .start = INT64_MAX, .fixed = -1};
    for (int32_t o = 0; o < g->op_count; o++)
        for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++) {
            const struct lx_access *x = &p->accesses[a];
            if (x->stay >= 0 && p->answer.address[x->stay] >= 0) continue;
            b[x->tensor].start = min_i64(b[x->tensor].start, o);
            b[x->tensor].end = o + 1;
        }
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *x = &p->transfers[i];
        struct lx_buffer *one = &b[p->stays[x->stay].tensor];
        if (!lx_through_hbm(x->kind)) continue;
        one->start = min_i64(one->start, x->tick);
        one->end = max_i64(one->end, x->tick + 1);
    }
    for (int32_t t = 0; t < g->tensor_count; t++) {
        if (b[t].start != INT64_MAX && read_first[t]) b[t].start = 0;
        int64_t touched = b[t].end;
        bool met = false;
        /* What the ops of a nest have in HBM is there in all of its iterations. */
        for (int32_t i = 0; i < p->nest_count && b[t].start < b[t].end; i++) {
            const struct lx_nest *n = &p->nests[i];
            if (b[t].start > n->last || b[t].end <= n->first) continue;
            b[t].start = min_i64(b[t].start, n->first);
            b[t].end = max_i64(b[t].end, n->last + 1);
            met = b[t].end == n->last + 1 && body_meets(p, n, touched - 1);
        }
        if (!met && b[t].start != INT64_MAX) b[t].end = next[b[t].end];
        if (g->tensors[t].role != LX_INTERMEDIATE || b[t].start == INT64_MAX) {
            b[t].reason = "not in the pool";
            if (b[t].start == INT64_MAX) b[t].start = 0, b[t].end = 0;
        }
    }
    return b;
}

/* Quick packing: by start, each buffer into the tightest free hole. */
struct sweep {
    struct hole {
        int64_t from, to;
    } * holes; /* below `top`, sorted by address, not adjacent */
    int32_t count;
    int64_t top;
};

static int64_t take_hole(struct sweep *s, int64_t size)
{
    int32_t best = -1;
    for (int32_t i = 0; i < s->count; i++) {
        int64_t room = s->holes[i].to - s->holes[i].from;
        if (room >= size && (best < 0 || room < s->holes[best].to - s->holes[best].from)) best = i;
    }
    if (best < 0) { /* at the top, or from the hole just below */
        bool open = s->count > 0 && s->holes[s->count - 1].to == s->top;
        int64_t at = open ? s->holes[--s->count].from : s->top;
        s->top = at + size;
        return at;
    }
    int64_t at = s->holes[best].from;
    s->holes[best].from += size;
    if (s->holes[best].from < s->holes[best].to) return at;
    memmove(&s->holes[best], &s->holes[best + 1], (size_t)(--s->count - best) * sizeof *s->holes);
    return at;
}

static void leave_hole(struct sweep *s, int64_t from, int64_t to)
{
    int32_t i = 0;
    while (i < s->count && s->holes[i].to < from) i++;
    if (i < s->count && s->holes[i].to == from) /* the hole below grows, and may meet the next */
        s->holes[i].to = to;
    else if (i < s->count && s->holes[i].from == to) {
        s->holes[i].from = from;
        return;
    } else {
        memmove(&s->holes[i + 1], &s->holes[i], (size_t)(s->count++ - i) * sizeof *s->holes);
        s->holes[i] = (struct hole){from, to};
        return;
    }
    if (i + 1 == s->count || s->holes[i + 1].from != to) return;
    s->holes[i].to = s->holes[i + 1].to;
    memmove(&s->holes[i + 1], &s->holes[i + 2], (size_t)(--s->count - i - 1) * sizeof *s->holes);
}

/* Start or end of a buffer's life; at equal ticks ends come first. */
struct event {
    int64_t tick;
    int32_t buffer;
    bool birth;
};

ORDER(hbm_segments_by_tick, struct event, ORDER_UP(tick) ORDER_UP(birth) ORDER_UP(buffer));

static void pack_quickly(const struct lx_problem *p, int64_t *address)
{
    size_t n = (size_t)p->count;
    OWNED struct event *events = mem_alloc((2 * n + 1) * sizeof *events);
    struct sweep s = {.holes = mem_alloc((n + 1) * sizeof *s.holes)};
    for (int32_t i = 0; i < p->count; i++) {
        events[2 * i] = (struct event){p->buffers[i].start, i, true};
        events[2 * i + 1] = (struct event){p->buffers[i].end, i, false};
    }
    qsort(events, 2 * n, sizeof *events, hbm_segments_by_tick);
    for (size_t k = 0; k < 2 * n; k++) {
        int32_t i = events[k].buffer;
        int64_t size = round_up_i64(p->buffers[i].size, p->alignment);
        if (size == 0) continue;
        if (events[k].birth)
            address[i] = take_hole(&s, size);
        else
            leave_hole(&s, address[i], address[i] + size);
    }
    mem_free(s.holes);
}

bool pool_pack(struct lx_plan *p, const struct lx_solver *solver, bool quickly, lx_status *st)
{
    const struct lx_graph *g = p->layouts->graph;
    struct lx_buffer *all = lives_in_hbm(p);
    struct lx_problem problem = {.objective = LX_HEIGHT, .alignment = g->device.stick_bytes, .buffers = all};
    OWNED int32_t *number = mem_alloc(((size_t)g->tensor_count + 1) * sizeof *number);
    struct lx_answer answer = {.address = mem_zeroed((size_t)g->tensor_count + 1, sizeof *answer.address)};
    struct lx_run run = {0}; /* no limits: all buffers must be packed */
    bool able = !quickly && solver && (solver->caps & LX_CAN_HEIGHT), ok = true;
    p->hbm_address = arena_array(p->memory, (size_t)g->tensor_count, sizeof *p->hbm_address);
    p->pool_at = p->pool_bytes = 0;
    /* Graph inputs, weights and outputs, one after the other; then the segment of intermediates. */
    for (int32_t t = 0; ok && t < g->tensor_count; t++) {
        p->hbm_address[t] = number[t] = -1;
        if (g->tensors[t].role != LX_INTERMEDIATE) {
            p->hbm_address[t] = p->pool_at;
            if (!add_i64(p->pool_at, round_up_i64(all[t].size, problem.alignment), &p->pool_at) ||
                p->pool_at > LX_INT_MAX)
                ok = status_set(st, LX_E_RANGE, "the tensors together are beyond 2^53 bytes");
        } else if (!all[t].reason) {
            number[t] = problem.count;
            all[problem.count++] = all[t];
        }
    }
    ok = ok && (quickly ? lx_problem_validate(&problem, st)
                : able  ? lx_problem_solve(&problem, solver, &run, &answer, st)
                        : true);
    if (ok && quickly)
        pack_quickly(&problem, answer.address);
    else if (ok && (!able || answer.status == LX_ERROR)) /* addresses one after the other are always legal */
        for (int64_t i = 0, at = 0; i < problem.count; i++) {
            answer.address[i] = at;
            at += round_up_i64(problem.buffers[i].size, problem.alignment);
        }
    for (int32_t t = 0; ok && t < g->tensor_count; t++) {
        if (number[t] < 0) continue;
        int64_t at = answer.address[number[t]];
        p->hbm_address[t] = p->pool_at + at;
        p->pool_bytes = max_i64(p->pool_bytes, at + problem.buffers[number[t]].size);
    }
    p->segment_bytes = p->pool_at + p->pool_bytes;
    mem_free(answer.address);
    mem_free(all);
    return ok;
}
