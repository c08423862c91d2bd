/* Operands that an op reads once, and so streams from HBM. A place on chip saves no bytes, but then the load
 * may be issued while earlier ops work. The largest operands come first. Each takes the lowest free place for
 * its longer life, with the issue that makes the plan fastest, and keeps it if the plan is faster and moves
 * the same bytes. A slice that a nest streams gets stages. Other buffers keep their places. */
#include "search/search_steps.h"
#include "search/time.h"
#include "cost/op.h"

static const double WORTH = 1e-4; /* share of the time that an operand must save */

struct streamed_operand {
    int32_t stay;
    int64_t bytes;
};

struct streaming {
    struct search *search;
    VEC(struct streamed_operand) operands;
    double us;
    int64_t tries;
    bool ok;
};

ORDER(streaming_compare, struct streamed_operand, ORDER_DOWN(bytes) ORDER_UP(stay));

/* The bytes that each stay would load if it only reads, and reads what one load brings; else 0. The caller
 * frees them. */
static int64_t *streaming_bytes(const struct draft *x)
{
    int64_t *bytes = mem_zeroed((size_t)x->problem.count + 1, sizeof *bytes);
    OWNED bool *written = mem_zeroed((size_t)x->problem.count + 1, sizeof *written);
    for (int32_t a = 0; a < x->access_at[x->graph->op_count]; a++) {
        int32_t stay = x->accesses[a].stay;
        if (stay < 0) continue;
        bytes[stay] += x->accesses[a].bytes;
        written[stay] |= x->accesses[a].writes;
    }
    for (int32_t i = 0; i < x->problem.count; i++) /* a source of relayouts would be read by copies */
        if (x->stays[i].ring_source >= 0) written[x->stays[i].ring_source] = true;
    for (int32_t i = 0; i < x->problem.count; i++) {
        const struct lx_stay *y = &x->stays[i];
        bool barred = y->exclusion != LX_EXCLUDED_NONE && y->exclusion != LX_EXCLUDED_NO_GAIN;
        if (barred || written[i] || y->begins_written || y->ring_source >= 0 || y->moved_from >= 0 ||
            bytes[i] != stay_load_bytes(x, i))
            bytes[i] = 0;
    }
    return bytes;
}

static void streaming_list(struct streaming *s)
{
    const struct attempt *best = &s->search->best;
    OWNED int64_t *bytes = streaming_bytes(&best->draft);
    for (int32_t i = 0; i < best->draft.problem.count; i++)
        if (best->answer.address[i] < 0 && bytes[i] > 0)
            VEC_PUSH(&s->operands, ((struct streamed_operand){i, bytes[i]}));
    if (s->operands.count > 1)
        qsort(s->operands.at, s->operands.count, sizeof *s->operands.at, streaming_compare);
}

/* The time of a load of the stay. */
static double streaming_load_us(const struct draft *x, int32_t stay, int64_t bytes)
{
    const struct lx_device *d = &x->graph->device;
    struct lx_core_view v = stay_view(x, stay);
    double part = (double)view_part_bytes(x->layouts, x->stays[stay].tensor, &v);
    return fmax(cost_copy(d, bytes), part / (cost_rate(d, COST_FILL) * 1e3));
}

void stream_slow_operands(struct draft *x)
{
    static const double SLOW = 2;
    OWNED int64_t *bytes = streaming_bytes(x);
    int32_t count = x->how.early_count;
    struct early *early = arena_array(x->memory, (size_t)count + (size_t)x->problem.count, sizeof *early);
    if (count) memcpy(early, x->how.early, (size_t)count * sizeof *early);
    draft_weigh(x);
    for (int32_t a = 0, o = 0; a < x->access_at[x->graph->op_count]; a++) {
        while (x->access_at[o + 1] <= a) o++;
        const int32_t i = x->accesses[a].stay, k = a - x->access_at[o];
        if (i < 0 || bytes[i] == 0 || x->stays[i].exclusion != LX_EXCLUDED_NO_GAIN || x->stays[i].hold > 0 ||
            k >= x->work[o].operand_count ||
            x->work[o].stream_us[k] <= SLOW * streaming_load_us(x, i, bytes[i]) ||
            early_find(&x->how, x->stays[i].tensor, x->stays[i].first))
            continue;
        bytes[i] = 0;
        early[count++] = (struct early){x->stays[i].tensor, x->stays[i].first, x->stays[i].first, 1, true};
    }
    if (count == x->how.early_count) return;
    qsort(early, (size_t)count, sizeof *early, early_compare);
    x->how.early = early;
    x->how.early_count = count;
    for (int32_t i = 0; i < x->problem.count; i++)
        if (x->stays[i].exclusion == LX_EXCLUDED_NO_GAIN) draft_early_stay(x, i);
}

/* The lowest address with `size` free bytes on the ticks [start, end); -1: there is none. */
static int64_t streaming_place(const struct attempt *of, int64_t size, int64_t start, int64_t end)
{
    const struct lx_problem *p = &of->draft.problem;
    const int64_t *address = of->answer.address;
    int64_t at = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int32_t i = 0; i < p->count; i++) {
            const struct lx_buffer *b = &p->buffers[i];
            if (address[i] < 0 || b->start >= end || start >= b->end || address[i] >= at + size ||
                at >= address[i] + b->size)
                continue;
            at = round_up_i64(address[i] + b->size, p->alignment);
            moved = true;
        }
    }
    return at + size <= p->capacity ? at : -1;
}

/* The best attempt with one more early load. It shares all but its stays, buffers and addresses, which are in
 * `memory`. False: there is no room, or it moves other bytes. */
static bool streaming_look(const struct streaming *s, int32_t stay, struct early one, struct arena *memory,
                           struct attempt *next)
{
    const struct attempt *best = &s->search->best;
    struct draft *x = &next->draft;
    *next = *best;
    size_t n = (size_t)x->problem.count;
    struct early *early = arena_array(memory, (size_t)x->how.early_count + 1, sizeof *early);
    int32_t early_count = x->how.early_count;
    int64_t bytes;
    if (early_count) memcpy(early, x->how.early, (size_t)early_count * sizeof *early);
    early[early_count++] = one;
    qsort(early, (size_t)early_count, sizeof *early, early_compare);
    x->how.early = early;
    x->how.early_count = early_count;
    x->stays = arena_copy_array(memory, x->stays, n, sizeof *x->stays);
    x->problem.buffers = x->buffers = arena_copy_array(memory, x->buffers, n, sizeof *x->buffers);
    draft_early_stay(x, stay);
    next->answer.address = arena_copy_array(memory, best->answer.address, n, sizeof *next->answer.address);
    struct lx_buffer *b = &x->buffers[stay];
    next->answer.address[stay] = streaming_place(best, b->size, b->start, b->end);
    return next->answer.address[stay] >= 0 && traffic_count(x, next->answer.address, &bytes) &&
           bytes == best->hbm_bytes;
}

/* Times a number of stages; sets `*best` to it if that is the fastest so far. */
static void streaming_stages(struct streaming *s, int32_t stay, struct early one, struct early *best)
{
    SCOPED(arena_free) struct arena scratch = {0};
    struct attempt next;
    if (streaming_look(s, stay, one, &scratch, &next)) {
        s->tries--;
        double us = draft_times(&next.draft, next.answer.address, NULL).end_to_end_us;
        if (us <= s->us * (1 - WORTH)) s->us = us, *best = one;
    }
}

/* Times a load's issues; sets `*best` to the fastest. */
static void streaming_issues(struct streaming *s, int32_t stay, struct early one, struct early *best)
{
    SCOPED(arena_free) struct arena scratch = {0};
    struct attempt next;
    struct traffic t;
    struct draft *x = &next.draft;
    if (!streaming_look(s, stay, one, &scratch, &next)) {
        return;
    }
    struct lx_op_traffic *ops = arena_array(&scratch, (size_t)x->graph->op_count, sizeof *ops);
    struct lx_buffer *b = &x->buffers[stay];
    const struct lx_buffer due = *b;
    int32_t ready = load_source_ready(x, one.tensor, one.due), load = 0, steps = 0;
    traffic_list(x, next.answer.address, &scratch, &t, ops);
    while (load < t.transfer_count && t.transfers[load].stay != stay) load++;
    for (int32_t tick = one.due - 1; load < t.transfer_count && s->tries > 0 && tick >= ready; tick--) {
        if (!load_may_issue(x, tick)) continue;
        steps++;
        if ((steps & (steps - 1)) != 0) continue;
        b->start = min_i64(due.start, tick);
        next.answer.address[stay] = streaming_place(&s->search->best, b->size, b->start, b->end);
        if (next.answer.address[stay] < 0) break;
        t.transfers[load].ahead = one.due - tick;
        s->tries--;
        double us = program_us(plan_program_of_draft(x, next.answer.address, t.transfers, t.transfer_count));
        if (us > s->us * (1 - WORTH)) continue;
        s->us = us;
        *best = one;
        best->issue = tick;
    }
}

static void streaming_operand(struct streaming *s, int32_t stay)
{
    struct draft *x = &s->search->best.draft;
    const struct lx_stay *y = &x->stays[stay];
    struct early one = {y->tensor, y->first, y->first, 1, true}, best = one;
    SCOPED(arena_free) struct arena scratch = {0};
    struct attempt from, fastest;
    draft_weigh(x);
    draft_rings(x);
    if (y->hold > 0) {
        int32_t nest = nest_of_op(x->how.nests, x->how.nest_count, y->first);
        if (nest < 0 || load_source_ready(x, y->tensor, x->how.nests[nest].last) > x->how.nests[nest].first)
            return;
        for (one.stages = 2; one.stages <= LX_MOST_STAGES; one.stages++)
            streaming_stages(s, stay, one, &best);
    } else {
        streaming_issues(s, stay, one, &best);
    }
    if (best.issue == best.due && best.stages == 1) return;
    if (streaming_look(s, stay, best, &scratch, &from)) {
        s->ok = attempt_copy(s->search, &from, &fastest);
        if (s->ok && asks_time(s->search))
            fastest.us = attempt_us(s->search, &fastest.draft, fastest.answer.address, INFINITY);
        if (s->ok) replace_best(s->search, &fastest);
    }
}

bool stream_loads(struct search *search, double *us)
{
    struct streaming s = {.search = search, .us = *us, .ok = true};
    s.tries = max_i64(16, 40000 / (search->divided->count + 1));
    streaming_list(&s);
    for (size_t i = 0; s.ok && i < s.operands.count && s.tries > 0 && !search_is_over(search); i++)
        streaming_operand(&s, s.operands.at[i].stay);
    LOG(attempt, "%d operands are streamed, %.3f us instead of %.3f", (int)s.operands.count, s.us, *us);
    *us = s.us;
    VEC_FREE(&s.operands);
    return s.ok;
}
