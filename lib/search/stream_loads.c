/* Operands that an op reads once, and so streams from HBM. A place on chip saves no bytes, but then the load
 * may be issued while earlier ops work. The largest operands come first. Each takes the lowest free place for
 * its longer life, with the issue that makes the plan fastest, and keeps it if the plan is faster and moves
 * the same bytes. A slice that a nest streams gets stages. Other buffers keep their places. */
#include "search/search_steps.h"
#include "search/time.h"
#include "base/log.h"

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

/* Stays off chip that only read what one load brings, as many bytes as their accesses do. */
static void streaming_list(struct streaming *s)
{
    const struct draft *x = &s->search->best.draft;
    int64_t *bytes = mem_zeroed((size_t)x->problem.count + 1, sizeof *bytes);
    bool *written = mem_zeroed((size_t)x->problem.count + 1, sizeof *written);
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
        if (s->search->best.answer.address[i] < 0 && !barred && !written[i] && !y->begins_written &&
            y->ring_source < 0 && y->moved_from < 0 && bytes[i] > 0 && bytes[i] == stay_load_bytes(x, i))
            VEC_PUSH(&s->operands, ((struct streamed_operand){i, bytes[i]}));
    }
    if (s->operands.count > 1)
        qsort(s->operands.at, s->operands.count, sizeof *s->operands.at, streaming_compare);
    mem_free(bytes);
    mem_free(written);
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

/* The best attempt with one more early load; `next` has no memory: it has no room, or moves other bytes. */
static bool streaming_make(struct streaming *s, int32_t stay, struct early one, struct attempt *next)
{
    const struct attempt *best = &s->search->best;
    const struct draft *x = &best->draft;
    const struct lx_buffer *b = &x->problem.buffers[stay];
    int32_t nest = one.stages > 1 ? nest_of_op(x->how.nests, x->how.nest_count, one.due) : -1, n = 0;
    int64_t start = nest >= 0 ? x->how.nests[nest].first : min_i64(b->start, one.issue),
            end = nest >= 0 ? x->how.nests[nest].last + 1 : b->end,
            at = streaming_place(best, b->size * one.stages, start, end), bytes;
    *next = (struct attempt){0};
    if (at < 0) return true;
    struct arena scratch = {0};
    struct attempt from = *best;
    struct early *early = arena_array(&scratch, (size_t)x->how.early_count + 1, sizeof *early);
    for (; n < x->how.early_count; n++) early[n] = x->how.early[n];
    early[n++] = one;
    qsort(early, (size_t)n, sizeof *early, early_compare);
    from.draft.how.early = early;
    from.draft.how.early_count = n;
    from.answer.address = arena_copy_array(&scratch, best->answer.address, (size_t)x->problem.count,
                                           sizeof *from.answer.address);
    from.answer.address[stay] = at;
    bool ok = attempt_copy(s->search, &from, next);
    arena_free(&scratch);
    if (ok && (!traffic_count(&next->draft, next->answer.address, &bytes) || bytes != best->hbm_bytes))
        attempt_free(next);
    return ok;
}

/* Tries a number of stages; keeps the fastest attempt so far in `fastest`. */
static void streaming_stages(struct streaming *s, int32_t stay, struct early one, struct attempt *fastest)
{
    struct attempt next;
    s->ok = s->ok && streaming_make(s, stay, one, &next);
    if (!s->ok || !next.memory) return;
    s->tries--;
    double us = draft_times(&next.draft, next.answer.address, NULL).end_to_end_us;
    if (us > s->us * (1 - WORTH)) {
        attempt_free(&next);
        return;
    }
    if (fastest->memory) attempt_free(fastest);
    *fastest = next;
    s->us = us;
}

/* Times a load's issues on one draft, in which only its place and its life change. */
static void streaming_issues(struct streaming *s, int32_t stay, struct early one, struct attempt *fastest)
{
    const struct attempt *best = &s->search->best;
    struct attempt next;
    s->ok = streaming_make(s, stay, one, &next);
    if (!s->ok || !next.memory) return;
    struct arena scratch = {0};
    struct traffic t;
    struct draft *x = &next.draft;
    struct lx_op_traffic *ops = arena_array(&scratch, (size_t)x->graph->op_count, sizeof *ops);
    struct lx_buffer *b = &x->buffers[stay];
    const struct lx_buffer due = *b;
    int32_t ready = load_source_ready(x, one.tensor, one.due), load = 0, steps = 0;
    draft_weigh(x);
    traffic_list(x, next.answer.address, &scratch, &t, ops);
    while (load < t.transfer_count && t.transfers[load].stay != stay) load++;
    for (int32_t tick = one.due - 1; load < t.transfer_count && s->tries > 0 && tick >= ready; tick--) {
        if (!load_may_issue(x, tick)) continue;
        steps++;
        if ((steps & (steps - 1)) != 0) continue;
        b->start = min_i64(due.start, tick);
        next.answer.address[stay] = streaming_place(best, b->size, b->start, b->end);
        if (next.answer.address[stay] < 0) break;
        t.transfers[load].ahead = one.due - tick;
        s->tries--;
        double us = program_us(plan_program_of_draft(x, next.answer.address, t.transfers, t.transfer_count));
        if (us > s->us * (1 - WORTH)) continue;
        s->us = us;
        one.issue = tick;
    }
    arena_free(&scratch);
    attempt_free(&next);
    if (one.issue < one.due) s->ok = streaming_make(s, stay, one, fastest);
}

static void streaming_operand(struct streaming *s, int32_t stay)
{
    const struct draft *x = &s->search->best.draft;
    const struct lx_stay *y = &x->stays[stay];
    struct early one = {y->tensor, y->first, y->first, 1, true};
    struct attempt fastest = {0};
    if (y->hold > 0) {
        int32_t nest = nest_of_op(x->how.nests, x->how.nest_count, y->first);
        if (nest < 0 || load_source_ready(x, y->tensor, x->how.nests[nest].last) > x->how.nests[nest].first)
            return;
        for (one.stages = 2; s->ok && one.stages <= LX_MOST_STAGES; one.stages++)
            streaming_stages(s, stay, one, &fastest);
    } else {
        streaming_issues(s, stay, one, &fastest);
    }
    if (!fastest.memory) return;
    if (asks_time(s->search))
        fastest.us = attempt_us(s->search, &fastest.draft, fastest.answer.address, INFINITY);
    replace_best(s->search, &fastest);
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
