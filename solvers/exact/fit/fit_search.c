/* Exact search on one part: place at the bound, or postpone.
 *
 * Canonical answers. Push every item of an answer down until none can move: each then stands at the least
 * aligned base above the items under it (or on the ground, or at its fixed base). So it is enough to look
 * for answers of this kind. Fix one, A; each decision below has one branch that agrees with A.
 *
 * State. Some items are placed. Every unplaced item k has low[k], a lower bound of its base in A, and
 * rest[k], the least aligned base above its placed neighbours, which are all under it. If low[k] = rest[k],
 * k could be put down there now. Otherwise k was postponed from rest[k]: in A it is higher, so it stands on
 * a neighbour that is still unplaced.
 *
 * Decision. An item j may be placed at low[j] = rest[j] if no unplaced neighbour k could be under it, that is
 * low[k] + height[k] > low[j] for all of them (heights over the common sections). Either j is there in A, and
 * then all its unplaced neighbours are above it, so the state stays true; or it is not, and j is postponed.
 * The item with the least bound always qualifies, but any that does may be taken, anywhere in time: unlike a
 * search by non-decreasing address, regions do not wait for each other. (An item with a fixed base is
 * placed under the same condition and has no second branch; it need not stand on anything.)
 *
 * Bounds. Placing x lifts its unplaced neighbours above it. A postponed k stands on an unplaced m, so
 * low[k] >= min over unplaced neighbours m of low[m] + height[m], rounded up, and more than the base it was
 * postponed from. A section whose unplaced items are all at or above b needs b plus their heights within
 * the capacity. An item's bound must not pass its highest base.
 *
 * Exchange. If y stands exactly on x, both live in exactly the same sections and are free to move, swapping
 * them gives another canonical answer: nothing else stands on x, and items on y keep their support. Let A be
 * the answer whose vector of bases, read in order of rank, is lexicographically least. If y had the lower
 * rank, the swap would lower y and raise only x: contradiction. So y is never put on x then.
 *
 * Dead ends are explained (fit_conflict.c): the search returns to the last decision that is part of the
 * conflict, and drops the decisions in between without trying their second branch. */
#include "exact/fit/fit_search.h"

static void fit_search_change(struct fit_search *s, fit_unit *where, fit_unit value)
{
    VEC_PUSH(&s->changes, (struct fit_change){where, *where});
    *where = value;
}

static void mark_dirty(struct fit_search *s, int32_t section)
{
    if (s->is_dirty[section]) return;
    s->is_dirty[section] = true;
    s->dirty[s->dirty_count++] = section;
}

/* Raises an item's bound. False: no base is left. Sections where it was the lowest become stale. */
static bool raise_bound(struct fit_search *s, int32_t k, fit_unit value, int32_t cause)
{
    const struct fit_part *part = s->part;
    fit_unit old = s->low[k];
    struct fit_event event = {.item = k,
                              .cause = cause,
                              .earlier = s->last_event[k],
                              .wait_level = s->wait_level[k],
                              .old = old,
                              .waits = s->waits[k]};
    VEC_PUSH(&s->events, event);
    VEC_RESERVE(&s->pending, s->events.count / 64 + 1);
    while (s->pending.count <= s->events.count / 64) s->pending.at[s->pending.count++] = 0;
    s->last_event[k] = (int32_t)s->events.count - 1;
    s->low[k] = value;
    for (int32_t i = part->from[k]; i < part->to[k]; i++) {
        s->stale[i] = true;
        if (s->lowest[i] == old) mark_dirty(s, i);
    }
    return value <= part->high[k];
}

/* The least base at which an unplaced neighbour may carry k. */
static fit_unit least_support(struct fit_search *s, int32_t k)
{
    const struct fit_part *part = s->part;
    fit_unit least = FIT_FAR;
    int32_t witness = -1;
    for (int32_t i = part->first_near[k]; i < part->first_near[k + 1]; i++) {
        fit_unit top = s->low[part->near[i]] + fit_theirs(part, i);
        if (top < least) {
            least = top;
            witness = i;
        }
    }
    s->witness[k] = witness;
    if (least >= FIT_FAR) return FIT_FAR;
    least = fit_round_up(least, part->align[k]);
    return least > s->waits[k] ? least : s->waits[k] + part->align[k];
}

static void forget_dirty(struct fit_search *s)
{
    for (int32_t i = 0; i < s->dirty_count; i++) s->is_dirty[s->dirty[i]] = false;
    s->dirty_count = 0;
}

static bool check_sections(struct fit_search *s)
{
    const struct fit_part *part = s->part;
    bool fine = true;
    for (int32_t d = 0; d < s->dirty_count && fine; d++) {
        int32_t section = s->dirty[d];
        fit_unit lowest = FIT_FAR;
        for (int32_t i = part->first_in_section[section]; i < part->first_in_section[section + 1]; i++) {
            fit_unit low = s->low[part->in_section[i]];
            lowest = low < lowest ? low : lowest;
        }
        if (lowest == s->lowest[section]) continue;
        fit_search_change(s, &s->lowest[section], lowest);
        if (lowest < FIT_FAR && lowest + s->left[section] > part->capacity) {
            fit_branch_blame(s, section);
            fit_explain_section(s, section);
            fine = false;
        }
    }
    forget_dirty(s);
    return fine;
}

/* Raises bounds of waiting items to their fixed point, then checks the sections. */
static bool fit_search_settle(struct fit_search *s)
{
    for (bool again = true; again;) {
        again = false;
        for (int32_t w = 0; w < s->waiting_count; w++) {
            int32_t k = s->waiting[w];
            if (s->placed[k] || s->rest[k] != s->waits[k]) continue;
            /* A witness that may still end at or below the bound proves that the bound need not rise. */
            int32_t at = s->witness[k];
            if (at >= 0 && s->low[k] > s->waits[k] &&
                s->low[s->part->near[at]] + fit_theirs(s->part, at) <= s->low[k])
                continue;
            fit_unit support = least_support(s, k);
            if (support <= s->low[k]) continue;
            if (support > s->part->high[k]) support = s->part->high[k] + 1;
            if (!raise_bound(s, k, support, -1)) {
                fit_explain_item(s, k);
                forget_dirty(s);
                return false;
            }
            again = true;
        }
    }
    return check_sections(s);
}

static void fit_search_take(struct fit_search *s, int32_t x)
{
    const struct fit_part *part = s->part;
    int32_t slot = s->slot[x], last = s->free_items[--s->free_count];
    s->free_items[slot] = last;
    s->slot[last] = slot;
    s->placed[x] = true;
    s->base[x] = s->low[x];
    s->low[x] = FIT_FAR;
    for (int32_t i = part->first_step[x]; i < part->first_step[x + 1]; i++)
        for (int32_t t = part->steps[i].from; t < part->steps[i].to; t++) s->left[t] -= part->steps[i].size;
    for (int32_t t = part->from[x]; t < part->to[x]; t++) {
        s->stale[t] = true;
        if (s->lowest[t] == s->base[x]) mark_dirty(s, t);
    }
    s->split = false;
    for (int32_t t = part->from[x] + 1; t < part->to[x]; t++)
        if (--s->crossing[t] == 0) s->split = true;
    if (s->left[part->from[x]] == 0 || s->left[part->to[x] - 1] == 0) s->split = true;
}

static bool is_chain(const struct fit_part *part, int32_t item)
{
    return part->first_step[item + 1] - part->first_step[item] > 1;
}

/* The exchange rule, for plain parts. */
static bool stands_on_later_rank(struct fit_search *s, int32_t y)
{
    const struct fit_part *part = s->part;
    for (int32_t i = part->first_near[y]; i < part->first_near[y + 1]; i++) {
        int32_t x = part->near[i];
        if (!s->placed[x] || s->base[x] + part->height[x] != s->low[y] || s->rank[y] > s->rank[x]) continue;
        if (part->from[x] != part->from[y] || part->to[x] != part->to[y]) continue;
        if (is_chain(part, x) || is_chain(part, y)) continue;
        fit_conflict_clear(s);
        fit_conflict_add(s, s->level[x]);
        return true;
    }
    return false;
}

static bool fit_search_place(struct fit_search *s, int32_t x)
{
    const struct fit_part *part = s->part;
    bool refuted = (part->plain && stands_on_later_rank(s, x)) || !fit_nogood_allows(s, x, s->low[x]);
    fit_unit fullest = s->room[x];
    s->level[x] = s->depth;
    s->placed_event[x] = (int32_t)s->events.count;
    fit_search_take(s, x);
    if (refuted) {
        fit_conflict_add(s, s->depth);
        forget_dirty(s);
        return false;
    }
    for (int32_t i = part->first_near[x]; i < part->first_near[x + 1]; i++) {
        int32_t k = part->near[i];
        if (s->placed[k]) continue;
        if (s->room[k] <= fullest) {
            /* The greatest sum over an item's sections. Unchanged if the item's fullest section was fuller
             * than every section that shrank. */
            fit_unit most = 0;
            for (int32_t j = part->from[k]; j < part->to[k]; j++)
                most = s->left[j] > most ? s->left[j] : most;
            if (most != s->room[k]) fit_search_change(s, &s->room[k], most);
        }
        fit_unit rest = fit_round_up(s->base[x] + fit_mine(part, x, i), part->align[k]);
        if (rest <= s->rest[k]) continue;
        fit_search_change(s, &s->rest[k], rest);
        if (rest > s->low[k] && !raise_bound(s, k, rest, x)) {
            fit_explain_item(s, k);
            forget_dirty(s);
            return false;
        }
    }
    return fit_search_settle(s);
}

static void fit_search_undo(struct fit_search *s, const struct fit_frame *frame)
{
    while (s->events.count > (size_t)frame->events) {
        const struct fit_event *event = &s->events.at[--s->events.count];
        s->low[event->item] = event->old;
        s->last_event[event->item] = event->earlier;
        for (int32_t t = s->part->from[event->item]; t < s->part->to[event->item]; t++) s->stale[t] = true;
    }
    while (s->changes.count > (size_t)frame->changes) {
        const struct fit_change *old = &s->changes.at[--s->changes.count];
        *old->where = old->old;
    }
    if (frame->waiting) {
        s->waiting_count--;
        s->wait_level[frame->item] = frame->old_wait_level;
    } else {
        const struct fit_part *part = s->part;
        for (int32_t t = part->from[frame->item] + 1; t < part->to[frame->item]; t++) s->crossing[t]++;
        for (int32_t t = part->from[frame->item]; t < part->to[frame->item]; t++) s->stale[t] = true;
        for (int32_t i = part->first_step[frame->item]; i < part->first_step[frame->item + 1]; i++)
            for (int32_t t = part->steps[i].from; t < part->steps[i].to; t++)
                s->left[t] += part->steps[i].size;
        s->low[frame->item] = s->base[frame->item];
        s->placed[frame->item] = false;
        int32_t slot = s->slot[frame->item];
        s->slot[s->free_items[slot]] = s->free_count;
        s->free_items[s->free_count++] = s->free_items[slot];
        s->free_items[slot] = frame->item;
    }
    s->window_from = frame->window_from;
    s->window_to = frame->window_to;
}

/* After a dead end: returns to the conflict's last decision with a second branch and takes that branch, until
 * one is not a dead end. False: none is left, the part cannot be packed. */
static bool recover(struct fit_search *s)
{
    bool alive = false;
    while (!alive) {
        while (s->depth > 0 && !fit_conflict_has(s, s->depth)) {
            struct fit_frame *skipped = &s->frames[--s->depth];
            fit_search_undo(s, skipped);
            if (skipped->waiting) s->reasons.count = (size_t)skipped->reason;
        }
        if (s->depth == 0) return false;
        struct fit_frame *frame = &s->frames[s->depth - 1];
        fit_search_undo(s, frame);
        s->conflict[s->depth >> 6] &= ~(UINT64_C(1) << (s->depth & 63));
        if (!frame->waiting && !s->part->fixed[frame->item]) {
            fit_nogood_learn(s, frame->item, s->base[frame->item], s->depth);
            frame->reason = (int32_t)s->reasons.count;
            for (int32_t word = 0; word < s->conflict_words; word++)
                for (uint64_t bits = s->conflict[word]; bits; bits &= bits - 1)
                    VEC_PUSH(&s->reasons, word * 64 + __builtin_ctzll(bits));
            frame->reasons = (int32_t)s->reasons.count - frame->reason;
            frame->waiting = true;
            frame->old_wait_level = s->wait_level[frame->item];
            s->nodes++;
            s->split = false;
            int32_t j = frame->item;
            fit_search_change(s, &s->waits[j], s->low[j]);
            s->wait_level[j] = s->depth;
            s->waiting[s->waiting_count++] = j;
            alive = fit_search_settle(s);
            if (!alive) s->failures++;
        } else {
            if (frame->waiting) {
                for (int32_t i = 0; i < frame->reasons; i++)
                    fit_conflict_add(s, s->reasons.at[frame->reason + i]);
                s->reasons.count = (size_t)frame->reason;
            }
            s->depth--;
        }
    }
    return true;
}

/* Resets to the root, with nothing placed. False: a section overflows. */
static bool reset(struct fit_search *s)
{
    const struct fit_part *part = s->part;
    s->changes.count = s->events.count = s->reasons.count = 0;
    s->depth = s->waiting_count = s->dirty_count = 0;
    s->highest_pending = -1;
    memset(s->crossing, 0, (size_t)part->sections * sizeof *s->crossing);
    for (int32_t t = 0; t < part->sections; t++) {
        s->left[t] = part->total[t];
        s->lowest[t] = FIT_FAR;
        s->stale[t] = true;
    }
    s->free_count = part->count;
    for (int32_t i = 0; i < part->count; i++) {
        s->low[i] = part->low[i];
        s->rest[i] = 0;
        s->waits[i] = -1;
        s->asked[i] = 0;
        s->placed[i] = false;
        s->last_event[i] = -1;
        s->witness[i] = -1;
        s->wait_level[i] = 0;
        s->free_items[i] = s->slot[i] = i;
        s->room[i] = 0;
        for (int32_t t = part->from[i]; t < part->to[i]; t++) {
            if (part->low[i] < s->lowest[t]) s->lowest[t] = part->low[i];
            if (part->total[t] > s->room[i]) s->room[i] = part->total[t];
            if (t > part->from[i]) s->crossing[t]++;
        }
    }
    s->window_from = 0;
    s->window_to = part->sections;
    s->split = false;
    for (int32_t t = 0; t < part->sections; t++)
        if (s->lowest[t] < FIT_FAR && s->lowest[t] + s->left[t] > part->capacity) return false;
    return true;
}

enum fit_result fit_search_run(struct fit_search *s, int64_t nodes, int64_t failures,
                               bool (*stop)(void *context), void *context)
{
    enum { MANY = 200 };
    if (!reset(s)) return FIT_NO;
    int64_t rounds = 0, last_node = s->nodes + nodes, last_failure = s->failures + failures;
    while (s->free_count > 0) {
        if (s->nodes >= last_node || s->failures >= last_failure) return FIT_LIMIT;
        if (s->depth == s->most_depth) return FIT_LIMIT;
        /* With many items a node takes some milliseconds. */
        if (stop && (rounds++ & (s->free_count > MANY ? 3 : 255)) == 0 && stop(context)) return FIT_LIMIT;
        if (s->split) fit_branch_focus(s);
        int32_t item = fit_branch_choose(s);
        s->frames[s->depth++] = (struct fit_frame){.item = item,
                                                   .changes = (int32_t)s->changes.count,
                                                   .events = (int32_t)s->events.count,
                                                   .window_from = s->window_from,
                                                   .window_to = s->window_to};
        s->nodes++;
        if (fit_search_place(s, item)) continue;
        s->failures++;
        if (!recover(s)) return FIT_NO;
    }
    return FIT_YES;
}
