/* From the caller's bytes and ticks to units, sections and parts.
 *
 * Units. All bases are multiples of the greatest common divisor `a` of the alignments, so a size may be
 * rounded up to `a`: what rests on an item starts at a multiple of `a` anyway. The topmost item may use its
 * true size, so the capacity is rounded up too, and each item keeps a highest base computed from its true
 * size. Then everything is divided by the greatest common divisor of the rounded sizes and the fixed bases
 * (and of the alignments, if they differ): canonical bases are sums of sizes above ground or above a fixed
 * item, rounded to alignments, hence multiples of this divisor.
 *
 * Sections. Between two neighbouring ticks the set of live pieces grows, shrinks or does both. A run of
 * ticks that first grow and then shrink is dominated by its peak: every item of the run is live there, with
 * its greatest size of the run. So the run is one section. ("Shrinks" includes a chain's step down.)
 *
 * Parts. Where nothing is live across a boundary the problem falls apart. */
#include "common/taken_bits.h"
#include "exact/fit/fit_core.h"

/* --- Peeling: items that always find a place are left out of the search. A neighbour of height h forbids an
 * item of height s at most h + s - 1 bases, wherever it stands. If all neighbours together forbid fewer bases
 * than the item has, it can wait until the others are placed. Without it others may qualify, so this repeats,
 * small items first. Where sections are overfull nothing is peeled; a list that is tight at few ticks, such
 * as a training step's, loses a third of its items or more. O(pairs) to find them, O(n) to place each. --- */

ORDER(by_height, struct fit_loose, ORDER_UP(height) ORDER_UP(origin));

static bool fit_peel_meet(const struct fit_loose *a, const struct fit_loose *b)
{
    return a->from < b->to && b->from < a->to;
}

/* Moves peeled items to the end, each with a base beside all items before it; returns the number of the
 * others. */
static int32_t fit_peel(struct fit_loose *at, int32_t count)
{
    OWNED struct fit_loose *sorted = mem_alloc(((size_t)count + 1) * sizeof *sorted);
    int32_t *order = mem_alloc(((size_t)count + 1) * sizeof *order), left = 0, end = count;
    qsort(at, (size_t)count, sizeof *at, by_height);
    for (int32_t i = 0; i < count; i++) {
        at[i].near = 0;
        at[i].load = 0;
        for (int32_t k = 0; k < count; k++)
            if (k != i && fit_peel_meet(&at[i], &at[k])) {
                at[i].near++;
                at[i].load += at[k].height;
            }
    }
    for (bool again = true; again;) {
        again = false;
        for (int32_t i = 0; i < count; i++) {
            /* Do its unpeeled neighbours always leave it a base? */
            int128 forbidden = (int128)at[i].near * (at[i].height - 1) + at[i].load;
            if (!(!at[i].kept_out && !at[i].peeled && forbidden <= at[i].high)) continue;
            at[i].peeled = true;
            for (int32_t k = 0; k < count; k++)
                if (k != i && fit_peel_meet(&at[i], &at[k])) {
                    at[k].near--;
                    at[k].load -= at[i].height;
                }
            order[--end] = i;
            again = true;
        }
    }
    for (int32_t i = 0; i < count; i++)
        if (!at[i].peeled) sorted[left++] = at[i];
    for (int32_t k = end; k < count; k++) sorted[k] = at[order[k]];
    memcpy(at, sorted, (size_t)count * sizeof *at);
    mem_free(order);
    return left;
}

void fit_place_peeled(const struct fit_scaled *s, int64_t *base)
{
    if (s->loose_kept == s->loose_count) return;
    OWNED struct byte_range *taken = mem_alloc((size_t)s->loose_count * sizeof *taken);
    for (int32_t k = s->loose_kept; k < s->loose_count; k++) {
        /* The lowest base beside the items before it. */
        const struct fit_loose *own = &s->loose[k];
        size_t n = 0;
        for (int32_t i = 0; i < k; i++)
            if (fit_peel_meet(own, &s->loose[i])) {
                fit_unit low = base[s->loose[i].origin] / s->unit;
                taken[n++] = (struct byte_range){low, low + s->loose[i].height};
            }
        range_sort(taken, n);
        fit_unit cursor = 0;
        for (size_t i = 0; i < n && taken[i].from < cursor + own->height; i++)
            cursor = max_i64(cursor, taken[i].to);
        base[own->origin] = cursor * s->unit;
    }
}

/* Peeling compares all pairs of items, so longer lists are not peeled. */
enum { MOST_PEELED = 5000 };

struct moment {
    int64_t time;
    bool grows, shrinks;
};

ORDER(fit_prepare_by_time, struct moment, ORDER_UP(time) ORDER_UP(grows) ORDER_UP(shrinks));

struct timeline {
    struct moment *moments;
    int32_t *section_at; /* the section of the ticks from moment m on */
    int32_t count;
};

static int32_t moment_of(const struct timeline *t, int64_t time)
{
    int32_t i;
    BISECT(i, 0, t->count - 1, t->moments[i].time < time);
    return i;
}

/* Trailing pieces of size 0 end the item early; leading ones start it later. */
static void live_pieces(const struct fit_problem *p, const struct fit_item *item, int32_t *first,
                        int32_t *end)
{
    int32_t a = item->first_piece, z = item->first_piece + item->piece_count;
    while (a < z && p->pieces[a].size == 0) a++;
    while (z > a && p->pieces[z - 1].size == 0) z--;
    *first = a;
    *end = z;
}

static void build_timeline(const struct fit_problem *p, struct timeline *t)
{
    size_t room = (size_t)p->piece_count * 2 + 2;
    t->moments = mem_alloc(room * sizeof *t->moments);
    t->section_at = mem_alloc(room * sizeof *t->section_at);
    int32_t n = 0;
    for (int32_t i = 0; i < p->item_count; i++) {
        int32_t first, end;
        live_pieces(p, &p->items[i], &first, &end);
        for (int32_t k = first; k < end; k++) {
            int64_t before = k > first ? p->pieces[k - 1].size : 0, size = p->pieces[k].size;
            t->moments[n++] = (struct moment){p->pieces[k].start, size > before, size < before};
            if (k + 1 == end) t->moments[n++] = (struct moment){p->pieces[k].end, false, true};
        }
    }
    qsort(t->moments, (size_t)n, sizeof *t->moments, fit_prepare_by_time);
    t->count = 0;
    for (int32_t i = 0; i < n; i++) {
        struct moment *last = t->count ? &t->moments[t->count - 1] : NULL;
        if (last && last->time == t->moments[i].time) {
            last->grows |= t->moments[i].grows;
            last->shrinks |= t->moments[i].shrinks;
        } else
            t->moments[t->count++] = t->moments[i];
    }
    /* A section is a run of ticks that grow, then shrink; its peak contains all of its items. */
    int32_t section = 0;
    bool shrunk = false;
    for (int32_t m = 0; m < t->count; m++) {
        if (t->moments[m].shrinks) shrunk = true;
        if (t->moments[m].grows && shrunk && m > 0) {
            section++;
            shrunk = false;
        }
        t->section_at[m] = section;
    }
}

/* An item before it is assigned to a part. */
struct draft {
    int32_t from, to, origin, first, end; /* pieces first..end */
    fit_unit low, high, align;
    bool fixed;
};

ORDER(fit_prepare_by_from, struct draft, ORDER_UP(from) ORDER_UP(origin));

/* A piece covers the sections of its own ticks. The first tick of a piece may belong to an earlier section
 * (after a shrink); there the larger, earlier size holds. */
static int32_t first_section(const struct timeline *t, int64_t start)
{
    return t->section_at[moment_of(t, start)];
}

static int32_t end_section(const struct timeline *t, int64_t end)
{
    return t->section_at[moment_of(t, end) - 1] + 1;
}

static fit_unit greatest_between(const struct fit_part *part, int32_t item, int32_t from, int32_t to)
{
    fit_unit greatest = 0;
    for (int32_t k = part->first_step[item]; k < part->first_step[item + 1]; k++) {
        const struct fit_step *s = &part->steps[k];
        if (s->from < to && from < s->to && s->size > greatest) greatest = s->size;
    }
    return greatest;
}

static void allocate_part(struct fit_part *part, struct arena *memory, int32_t count, int32_t sections,
                          int64_t steps)
{
    size_t n = (size_t)count, m = (size_t)sections;
    part->count = count;
    part->sections = sections;
    part->from = arena_array(memory, n, sizeof *part->from);
    part->to = arena_array(memory, n, sizeof *part->to);
    part->height = arena_array(memory, n, sizeof *part->height);
    part->low = arena_array(memory, n, sizeof *part->low);
    part->high = arena_array(memory, n, sizeof *part->high);
    part->align = arena_array(memory, n, sizeof *part->align);
    part->fixed = arena_array(memory, n, sizeof *part->fixed);
    part->origin = arena_array(memory, n, sizeof *part->origin);
    part->first_step = arena_array(memory, n + 1, sizeof *part->first_step);
    part->steps = arena_array(memory, (size_t)steps, sizeof *part->steps);
    part->total = arena_array(memory, m, sizeof *part->total);
    part->first_in_section = arena_array(memory, m + 1, sizeof *part->first_in_section);
    part->first_near = arena_array(memory, n + 1, sizeof *part->first_near);
}

/* Items are sorted by first section: later items that start before i ends are i's neighbours. */
static void link_neighbours(struct fit_part *part, struct arena *memory)
{
    int32_t n = part->count;
    int64_t pairs = 0, entries = 0;
    if (n > FIT_MOST_SEARCHED) return;
    for (int32_t i = 0; i < n; i++) {
        entries += part->to[i] - part->from[i];
        int32_t behind;
        BISECT(behind, i + 1, n, part->from[behind] < part->to[i]);
        pairs += behind - i - 1;
    }
    if (2 * pairs > FIT_MOST_ENTRIES || entries > FIT_MOST_ENTRIES) return;
    part->near = arena_array(memory, (size_t)(2 * pairs + 1), sizeof *part->near);
    if (part->first_step[n] > n)
        part->heights = arena_array(memory, (size_t)(2 * pairs + 1), sizeof *part->heights);
    part->in_section = arena_array(memory, (size_t)entries, sizeof *part->in_section);
    OWNED int32_t *fill = mem_alloc(((size_t)n + (size_t)part->sections + 2) * sizeof *fill);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = i + 1; k < n && part->from[k] < part->to[i]; k++) {
            part->first_near[i + 1]++;
            part->first_near[k + 1]++;
        }
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t s = part->from[i]; s < part->to[i]; s++) part->first_in_section[s + 1]++;
        part->first_near[i + 1] += part->first_near[i];
    }
    for (int32_t s = 0; s < part->sections; s++) part->first_in_section[s + 1] += part->first_in_section[s];
    memcpy(fill, part->first_near, (size_t)n * sizeof *fill);
    int32_t *fill_section = fill + n;
    memcpy(fill_section, part->first_in_section, (size_t)part->sections * sizeof *fill);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t s = part->from[i]; s < part->to[i]; s++) part->in_section[fill_section[s]++] = i;
        for (int32_t k = i + 1; k < n && part->from[k] < part->to[i]; k++) {
            int32_t to = part->to[k] < part->to[i] ? part->to[k] : part->to[i];
            if (part->heights) {
                fit_unit a = greatest_between(part, i, part->from[k], to);
                fit_unit b = greatest_between(part, k, part->from[k], to);
                part->heights[fill[i]] = (struct fit_near){a, b};
                part->heights[fill[k]] = (struct fit_near){b, a};
            }
            part->near[fill[i]++] = k;
            part->near[fill[k]++] = i;
        }
    }
}

static void fill_part(const struct fit_problem *p, const struct timeline *t, const struct draft *drafts,
                      int32_t count, int64_t rounding, struct fit_scaled *out, struct fit_part *part)
{
    int32_t base = drafts[0].from, end = 0;
    int64_t steps = 0, unit = out->unit;
    for (int32_t i = 0; i < count; i++) {
        if (drafts[i].to > end) end = drafts[i].to;
        steps += drafts[i].end - drafts[i].first;
    }
    allocate_part(part, &out->memory, count, end - base, steps);
    part->capacity = round_up_i64(p->capacity, rounding) / unit;
    part->plain = true;
    int32_t step = 0;
    for (int32_t i = 0; i < count; i++) {
        const struct draft *d = &drafts[i];
        part->from[i] = d->from - base;
        part->to[i] = d->to - base;
        part->low[i] = d->low;
        part->high[i] = d->high;
        part->align[i] = d->align;
        part->fixed[i] = d->fixed;
        part->origin[i] = d->origin;
        part->first_step[i] = step;
        part->height[i] = 0;
        int32_t reached = d->from;
        for (int32_t k = d->first; k < d->end; k++) {
            fit_unit size = round_up_i64(p->pieces[k].size, rounding) / unit;
            int32_t from = first_section(t, p->pieces[k].start), to = end_section(t, p->pieces[k].end);
            /* A section shared by two pieces of a chain takes the larger one, which is the earlier unless
             * the caller's chain grows. */
            if (from < reached && step > part->first_step[i]) {
                struct fit_step *last = &part->steps[step - 1];
                if (size > last->size && last->to == reached)
                    last->to = from;
                else
                    from = reached;
            }
            if (from < to) {
                part->steps[step++] = (struct fit_step){from - base, to - base, size};
                reached = to;
            }
            if (size > part->height[i]) part->height[i] = size;
        }
        if (d->fixed || d->align != 1 || d->high != part->capacity - part->height[i]) part->plain = false;
    }
    part->first_step[count] = step;
    for (int32_t k = 0; k < step; k++) {
        part->total[part->steps[k].from] += part->steps[k].size;
        if (part->steps[k].to < part->sections) part->total[part->steps[k].to] -= part->steps[k].size;
    }
    for (int32_t s = 1; s < part->sections; s++) part->total[s] += part->total[s - 1];
    link_neighbours(part, &out->memory);
}

static int64_t greatest_size(const struct fit_problem *p, int32_t first, int32_t end)
{
    int64_t size = 0;
    for (int32_t k = first; k < end; k++) size = max_i64(size, p->pieces[k].size);
    return size;
}

/* Drafts all items of positive size; returns how many. Sets `out->impossible` if one can never fit. */
static int32_t draft_items(const struct fit_problem *p, const struct timeline *t, bool mixed,
                           struct fit_scaled *out, struct draft *drafts)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->item_count; i++) {
        const struct fit_item *item = &p->items[i];
        struct draft d = {.origin = i, .fixed = item->fixed >= 0};
        d.align = mixed ? item->alignment / out->unit : 1;
        live_pieces(p, item, &d.first, &d.end);
        int64_t size = greatest_size(p, d.first, d.end);
        if (size > p->capacity) out->impossible = true;
        bool misplaced = d.fixed && (item->fixed % item->alignment || item->fixed > p->capacity - size);
        if (misplaced) out->impossible = true;
        if (d.first == d.end || out->impossible) continue;
        d.from = first_section(t, p->pieces[d.first].start);
        d.to = end_section(t, p->pieces[d.end - 1].end);
        d.low = d.fixed ? item->fixed / out->unit : 0;
        d.high = d.fixed ? d.low : (p->capacity - size) / out->unit / d.align * d.align;
        drafts[n++] = d;
    }
    return n;
}

static void split_parts(const struct fit_problem *p, const struct timeline *t, int64_t rounding,
                        struct draft *drafts, int32_t count, struct fit_scaled *out)
{
    qsort(drafts, (size_t)count, sizeof *drafts, fit_prepare_by_from);
    int32_t parts = 0, reached = -1;
    for (int32_t i = 0; i < count; i++) {
        if (drafts[i].from >= reached) parts++;
        if (drafts[i].to > reached) reached = drafts[i].to;
    }
    out->parts = arena_array(&out->memory, (size_t)parts + 1, sizeof *out->parts);
    for (int32_t i = 0, next; i < count; i = next) {
        reached = drafts[i].to;
        for (next = i + 1; next < count && drafts[next].from < reached; next++)
            if (drafts[next].to > reached) reached = drafts[next].to;
        struct fit_part *part = &out->parts[out->part_count++];
        fill_part(p, t, drafts + i, next - i, rounding, out, part);
        for (int32_t s = 0; s < part->sections; s++)
            if (part->total[s] > part->capacity) out->impossible = true;
    }
}

/* Peels easy drafts; returns the number of the others. */
static int32_t leave_out_easy(const struct fit_problem *p, int64_t rounding, struct draft *drafts,
                              int32_t count, struct fit_scaled *out)
{
    if (count > MOST_PEELED) return count;
    OWNED bool *stays = mem_zeroed((size_t)p->item_count + 1, sizeof *stays);
    out->loose = arena_array(&out->memory, (size_t)count + 1, sizeof *out->loose);
    for (int32_t i = 0; i < count; i++) {
        const struct draft *d = &drafts[i];
        fit_unit height = round_up_i64(greatest_size(p, d->first, d->end), rounding) / out->unit;
        out->loose[i] = (struct fit_loose){.from = d->from,
                                           .to = d->to,
                                           .origin = d->origin,
                                           .height = height,
                                           .high = d->high,
                                           .kept_out = d->fixed || d->align != 1};
    }
    out->loose_count = count;
    out->loose_kept = fit_peel(out->loose, count);
    for (int32_t i = 0; i < out->loose_kept; i++) stays[out->loose[i].origin] = true;
    int32_t left = 0;
    for (int32_t i = 0; i < count; i++)
        if (stays[drafts[i].origin]) drafts[left++] = drafts[i];
    return left;
}

void fit_scale(const struct fit_problem *p, bool peel, struct fit_scaled *out)
{
    *out = (struct fit_scaled){0};
    int64_t rounding = 0;
    bool mixed = false;
    for (int32_t i = 0; i < p->item_count; i++) {
        rounding = gcd_i64(rounding, p->items[i].alignment);
        mixed |= p->items[i].alignment != p->items[0].alignment;
    }
    if (rounding == 0) rounding = 1;
    /* The unit, and whether alignments differ (they then survive scaling). */
    int64_t unit = mixed ? rounding : 0;
    for (int32_t i = 0; i < p->item_count; i++) {
        int32_t first, end;
        live_pieces(p, &p->items[i], &first, &end);
        if (first == end) continue;
        for (int32_t k = first; k < end; k++) unit = gcd_i64(unit, round_up_i64(p->pieces[k].size, rounding));
        if (p->items[i].fixed > 0) unit = gcd_i64(unit, p->items[i].fixed);
    }
    out->unit = unit ? unit : 1;
    struct timeline t = {0};
    OWNED struct draft *drafts = mem_alloc(((size_t)p->item_count + 1) * sizeof *drafts);
    build_timeline(p, &t);
    int32_t count = draft_items(p, &t, mixed, out, drafts);
    if (peel && !out->impossible) count = leave_out_easy(p, rounding, drafts, count, out);
    if (!out->impossible) split_parts(p, &t, rounding, drafts, count, out);
    mem_free(t.moments);
    mem_free(t.section_at);
}
