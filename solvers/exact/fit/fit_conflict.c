/* Explains a dead end by the decisions that imply it.
 *
 * Every time the search raises an item's bound it pushes an event, so each bound is a chain of events. A dead
 * end asks for facts "item k is at or above v"; each is answered by the event that first made it true,
 * which in turn is explained by decisions and by facts that held before it:
 *
 *   x was placed under k at a: the decision on x; and k could not be below x, that is
 *       low[k] + height of k > a at that time, a fact about k with a smaller value.
 *   k waits for support: it was postponed from p (that decision), it was at or above p (a fact), and
 *       nothing can carry it at a base in (p, v): its placed neighbours do not reach that high where they
 *       are (their decisions), and each unplaced neighbour m would have to end there, but ends higher
 *       (the fact m >= v - height of m).
 *
 * Facts only ever refer to earlier events, so one downward sweep over the event trail answers them all; the
 * wanted facts are bits over the trail. Asking for v and for v' > v of one item at once is one question for
 * v': both askers are later than the event that answers v'.
 *
 * A walk down an item's events starts at the sweep's position.
 *
 * The result is sound for any decisions that are kept together: the search may return to the last level in
 * the conflict, and an empty conflict proves that there is no answer at all. */
#include "exact/fit/fit_search.h"

/* Limit on neighbours visited for one dead end. In a more crowded part backjumping would not pay for the
 * explanation. */
enum { MOST_WORK = 1 << 13 };

static void fit_explain_ask(struct fit_search *s, int32_t item, fit_unit value)
{
    if (value <= s->asked[item]) return;
    const struct fit_event *events = s->events.at;
    int32_t e = s->explained[item] == s->explanation ? s->cursor[item] : s->last_event[item];
    while (e >= s->sweep) e = events[e].earlier;
    s->explained[item] = s->explanation;
    s->cursor[item] = e;
    while (e >= 0 && events[e].old >= value) e = events[e].earlier;
    if (e < 0) return; /* true at the root */
    s->asked[item] = value;
    s->pending.at[e >> 6] |= UINT64_C(1) << (e & 63);
    if (e > s->highest_pending) s->highest_pending = e;
}

static void explain_wait(struct fit_search *s, int32_t e, fit_unit value)
{
    const struct fit_part *part = s->part;
    const struct fit_event *event = &s->events.at[e];
    int32_t k = event->item;
    fit_unit align = part->align[k], wanted = fit_round_up(value, align);
    fit_conflict_add(s, event->wait_level);
    fit_explain_ask(s, k, event->waits);
    if (wanted <= event->waits + align) return; /* not there, so at least at the next base */
    for (int32_t i = part->first_near[k]; i < part->first_near[k + 1]; i++) {
        int32_t m = part->near[i];
        if (s->placed[m] && s->placed_event[m] <= e)
            fit_conflict_add(s, s->level[m]);
        else
            fit_explain_ask(s, m, wanted - align + 1 - fit_theirs(part, i));
    }
}

static void answer_all(struct fit_search *s)
{
    int64_t work = 0;
    for (int32_t word = s->highest_pending >> 6; word >= 0; word--)
        while (s->pending.at[word]) {
            int32_t bit = 63 - __builtin_clzll(s->pending.at[word]), e = word * 64 + bit;
            s->pending.at[word] &= ~(UINT64_C(1) << bit);
            s->sweep = e;
            const struct fit_event *event = &s->events.at[e];
            fit_unit value = s->asked[event->item];
            if (value <= event->old) continue; /* a higher question about the item covers this one */
            s->asked[event->item] = 0;
            if (work > MOST_WORK) continue;
            if (event->cause >= 0) {
                const struct fit_part *part = s->part;
                int32_t k = s->events.at[e].item, x = s->events.at[e].cause;
                fit_conflict_add(s, s->level[x]);
                fit_unit height = part->height[k];
                if (part->first_step[k + 1] - part->first_step[k] > 1)
                    for (int32_t i = part->first_near[k]; i < part->first_near[k + 1]; i++)
                        if (part->near[i] == x) height = fit_mine(part, k, i);
                fit_explain_ask(s, k, s->base[x] - height + 1);
            } else {
                explain_wait(s, e, value);
                work += s->part->first_near[event->item + 1] - s->part->first_near[event->item];
            }
        }
    s->highest_pending = -1;
    if (work > MOST_WORK) {
        /* All decisions together always are an explanation. */
        for (int32_t level = 1; level <= s->depth; level++) fit_conflict_add(s, level);
    }
}

void fit_conflict_clear(struct fit_search *s)
{
    memset(s->conflict, 0, (size_t)s->conflict_words * sizeof *s->conflict);
    s->explanation++;
    s->sweep = INT32_MAX;
}

void fit_explain_item(struct fit_search *s, int32_t item)
{
    fit_conflict_clear(s);
    fit_explain_ask(s, item, s->part->high[item] + 1);
    answer_all(s);
}

void fit_explain_section(struct fit_search *s, int32_t section)
{
    const struct fit_part *part = s->part;
    fit_conflict_clear(s);
    /* All unplaced items of the section at or above this is one unit more than the capacity. */
    fit_unit value = part->capacity - s->left[section] + 1;
    for (int32_t i = part->first_in_section[section]; i < part->first_in_section[section + 1]; i++)
        if (!s->placed[part->in_section[i]]) fit_explain_ask(s, part->in_section[i], value);
    answer_all(s);
}

/* --- Learned sets (nogoods).
 *
 * When a placement is refuted, its conflict, with every postponement in it replaced by the reasons of that
 * postponement, is a set of placements "item at base" that no canonical answer contains together. Typical: 10
 * to 40 placements out of 100 to 300 on the stack, so the same set recurs while unrelated items are permuted.
 * It stays true in later runs, as it does not depend on the order of decisions.
 *
 * Each set is filed under one of its placements that does not hold at present (its watch). When an item is
 * placed, only the sets filed under that placement are looked at: each either finds another placement that
 * does not hold, and moves there, or is complete: a dead end. Undoing placements never disturbs a watch.
 * --- */

enum { BUCKETS = 1 << 12, MOST_SETS = 1 << 14, LONGEST_SET = 96 };

static uint32_t fit_nogood_bucket_of(int32_t item, fit_unit base)
{
    uint64_t h = ((uint64_t)base * 0x9e3779b1u + (uint64_t)item) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 52) & (BUCKETS - 1);
}

static bool fit_nogood_holds(const struct fit_search *s, const struct fit_placement *p)
{
    return s->placed[p->item] && s->base[p->item] == p->base;
}

static void file_under(struct fit_search *s, int32_t set, const struct fit_placement *watch)
{
    int32_t *head = &s->bucket[fit_nogood_bucket_of(watch->item, watch->base)];
    s->sets.at[set].next = *head;
    *head = set;
}

/* Writes the conflict below `level`, without postponements, to `resolved`. */
static void fit_nogood_resolve(struct fit_search *s, int32_t level)
{
    memcpy(s->resolved, s->conflict, (size_t)s->conflict_words * sizeof *s->resolved);
    for (int32_t word = level >> 6; word >= 0; word--)
        for (uint64_t bits = s->resolved[word]; bits;) {
            int32_t bit = 63 - __builtin_clzll(bits);
            const struct fit_frame *frame = &s->frames[word * 64 + bit - 1];
            if (frame->waiting) {
                s->resolved[word] &= ~(UINT64_C(1) << bit);
                for (int32_t i = 0; i < frame->reasons; i++) {
                    int32_t reason = s->reasons.at[frame->reason + i];
                    s->resolved[reason >> 6] |= UINT64_C(1) << (reason & 63);
                }
            }
            bits = s->resolved[word] & ((UINT64_C(1) << bit) - 1);
        }
}

void fit_nogood_open(struct fit_search *s)
{
    s->bucket = arena_array(&s->memory, BUCKETS, sizeof *s->bucket);
    for (int32_t i = 0; i < BUCKETS; i++) s->bucket[i] = -1;
}

void fit_nogood_learn(struct fit_search *s, int32_t item, fit_unit base, int32_t level)
{
    fit_nogood_resolve(s, level);
    if (s->sets.count == MOST_SETS) {
        /* Drops the older half. Every set has a placement that does not hold, else the search would have
         * ended here. */
        int32_t half = (int32_t)s->sets.count / 2, from = s->sets.at[half].first;
        s->placements.count -= (size_t)from;
        memmove(s->placements.at, s->placements.at + from, s->placements.count * sizeof *s->placements.at);
        s->sets.count -= (size_t)half;
        memmove(s->sets.at, s->sets.at + half, s->sets.count * sizeof *s->sets.at);
        for (int32_t i = 0; i < BUCKETS; i++) s->bucket[i] = -1;
        for (int32_t i = 0; i < (int32_t)s->sets.count; i++) {
            s->sets.at[i].first -= from;
            const struct fit_placement *p = s->placements.at + s->sets.at[i].first;
            int32_t watch = 0;
            while (watch + 1 < s->sets.at[i].count && fit_nogood_holds(s, &p[watch])) watch++;
            file_under(s, i, &p[watch]);
        }
    }
    struct fit_placement mine = {item, base};
    struct fit_set set = {.first = (int32_t)s->placements.count};
    VEC_PUSH(&s->placements, mine);
    set.count = 1;
    for (int32_t word = level >> 6; word >= 0; word--)
        for (uint64_t bits = s->resolved[word]; bits; bits &= bits - 1) {
            int32_t other = s->frames[word * 64 + __builtin_ctzll(bits) - 1].item;
            if (s->part->fixed[other]) continue;
            VEC_PUSH(&s->placements, (struct fit_placement){other, s->base[other]});
            set.count++;
        }
    if (set.count > LONGEST_SET) {
        s->placements.count = (size_t)set.first; /* dropping a set is safe */
        return;
    }
    VEC_PUSH(&s->sets, set);
    file_under(s, (int32_t)s->sets.count - 1, &mine);
}

bool fit_nogood_allows(struct fit_search *s, int32_t item, fit_unit base)
{
    int32_t *link = &s->bucket[fit_nogood_bucket_of(item, base)];
    while (*link >= 0) {
        int32_t set = *link;
        const struct fit_placement *p = s->placements.at + s->sets.at[set].first;
        int32_t count = s->sets.at[set].count, other = -1;
        bool filed_here = false;
        for (int32_t i = 0; i < count && other < 0; i++) {
            if (p[i].item == item && p[i].base == base)
                filed_here = true;
            else if (!fit_nogood_holds(s, &p[i]))
                other = i;
        }
        if (other < 0 && filed_here) {
            fit_conflict_clear(s);
            for (int32_t i = 0; i < count; i++)
                if (p[i].item != item) fit_conflict_add(s, s->level[p[i].item]);
            return false;
        }
        /* A set in the bucket by hash collision stays if one of its placements there does not hold. */
        if (other < 0 ||
            fit_nogood_bucket_of(p[other].item, p[other].base) == fit_nogood_bucket_of(item, base)) {
            link = &s->sets.at[set].next;
            continue;
        }
        *link = s->sets.at[set].next;
        file_under(s, set, &p[other]);
    }
    return true;
}
