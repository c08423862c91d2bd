/* From the caller's bytes and ticks to units, sections and parts.
 *
 * Units. All bases are multiples of the greatest common divisor `a` of the alignments, so a size may be
 * rounded up to `a`: what rests on an item starts at a multiple of `a` anyway. Only the topmost end is
 * different, it may use the true size; so the capacity is rounded up too, and each item keeps its own
 * highest base, computed from its true size. Then everything is divided by the greatest common divisor of
 * the rounded sizes and the fixed bases (and of the alignments, if they differ): canonical bases are sums
 * of sizes above ground or above a fixed item, rounded to alignments, hence multiples of it.
 *
 * Sections. Between two neighbouring ticks the set of live pieces grows, shrinks or does both. A run of
 * ticks that first grow and then shrink is dominated by its peak: every item of the run is live there, with
 * its greatest size of the run. So the run is one section. ("Shrinks" includes a chain's step down.)
 *
 * Parts. Where nothing is live across a boundary the problem falls apart. */
#include "base/checked.h"
#include "base/bisect.h"
#include "base/memory.h"
#include "base/order.h"
#include "exact/fit/fit_core.h"

#include <stdlib.h>
#include <string.h>

/* Peeling looks at all pairs. */
enum { MOST_PEELED = 5000 };

struct moment {
    int64_t time;
    bool grows, shrinks;
};

ORDER(fit_prepare_by_time, struct moment, ORDER_UP(time));

struct timeline {
    struct moment *moments;
    int32_t *section_at; /* the section that the tick from moment m on counts to */
    int32_t count;
};

static int32_t moment_of(const struct timeline *t, int64_t time)
{
    int32_t i;
    BISECT(i, 0, t->count - 1, t->moments[i].time < time);
    return i;
}

/* Sizes that are 0 from some piece on end the item there; a leading 0 starts it later. */
static void live_pieces(const struct fit_problem *p, const struct fit_item *item, int32_t *first,
                        int32_t *end)
{
    int32_t a = item->first_piece, z = item->first_piece + item->piece_count;
    while (a < z && p->pieces[a].size == 0) a++;
    while (z > a && p->pieces[z - 1].size == 0) z--;
    *first = a;
    *end = z;
}

static void fit_prepare_note(struct moment *m, int32_t *n, int64_t time, bool grows, bool shrinks)
{
    m[(*n)++] = (struct moment){time, grows, shrinks};
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
            fit_prepare_note(t->moments, &n, p->pieces[k].start, size > before, size < before);
            if (k + 1 == end) fit_prepare_note(t->moments, &n, p->pieces[k].end, false, true);
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
    /* A section is a run of ticks that grow first and then shrink; its peak holds all of their items. */
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

/* What an item becomes before it is given to a part. */
struct draft {
    int32_t from, to, origin, first, end; /* pieces first..end */
    fit_unit low, high, align;
    bool fixed;
};

ORDER(fit_prepare_by_from, struct draft, ORDER_UP(from) ORDER_UP(origin));

/* A piece covers the sections of its own ticks. The first tick of a piece may count to a section that
 * belongs to what came before (after a shrink); there the larger, earlier size holds. */
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

static void allocate_part(struct fit_part *part, int32_t count, int32_t sections, int64_t steps)
{
    size_t n = (size_t)count, m = (size_t)sections;
    part->count = count;
    part->sections = sections;
    part->from = mem_alloc(n * sizeof *part->from);
    part->to = mem_alloc(n * sizeof *part->to);
    part->height = mem_alloc(n * sizeof *part->height);
    part->low = mem_alloc(n * sizeof *part->low);
    part->high = mem_alloc(n * sizeof *part->high);
    part->align = mem_alloc(n * sizeof *part->align);
    part->fixed = mem_alloc(n * sizeof *part->fixed);
    part->origin = mem_alloc(n * sizeof *part->origin);
    part->first_step = mem_alloc((n + 1) * sizeof *part->first_step);
    part->steps = mem_alloc((size_t)steps * sizeof *part->steps);
    part->total = mem_zeroed(m, sizeof *part->total);
    part->first_in_section = mem_zeroed(m + 1, sizeof *part->first_in_section);
    part->first_near = mem_zeroed(n + 1, sizeof *part->first_near);
}

/* Items are sorted by their first section: those after i that start before i ends are its neighbours. */
static bool link_neighbours(struct fit_part *part)
{
    int32_t n = part->count;
    int64_t pairs = 0, entries = 0;
    if (n > FIT_MOST_SEARCHED) return true;
    for (int32_t i = 0; i < n; i++) {
        entries += part->to[i] - part->from[i];
        int32_t behind;
        BISECT(behind, i + 1, n, part->from[behind] < part->to[i]);
        pairs += behind - i - 1;
    }
    if (2 * pairs > FIT_MOST_ENTRIES || entries > FIT_MOST_ENTRIES) return true;
    part->near = mem_alloc((size_t)(2 * pairs + 1) * sizeof *part->near);
    if (part->first_step[n] > n) part->heights = mem_alloc((size_t)(2 * pairs + 1) * sizeof *part->heights);
    part->in_section = mem_alloc((size_t)entries * sizeof *part->in_section);
    int32_t *fill = mem_alloc(((size_t)n + (size_t)part->sections + 2) * sizeof *fill);
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
    mem_free(fill);
    return true;
}

/* Sums of heights, from where they begin and end. */
static void add_totals(struct fit_part *part)
{
    for (int32_t k = 0; k < part->first_step[part->count]; k++) {
        part->total[part->steps[k].from] += part->steps[k].size;
        if (part->steps[k].to < part->sections) part->total[part->steps[k].to] -= part->steps[k].size;
    }
    for (int32_t s = 1; s < part->sections; s++) part->total[s] += part->total[s - 1];
}

static bool fill_part(const struct fit_problem *p, const struct timeline *t, const struct draft *drafts,
                      int32_t count, int64_t rounding, int64_t unit, struct fit_part *part)
{
    int32_t base = drafts[0].from, end = 0;
    int64_t steps = 0;
    for (int32_t i = 0; i < count; i++) {
        if (drafts[i].to > end) end = drafts[i].to;
        steps += drafts[i].end - drafts[i].first;
    }
    allocate_part(part, count, end - base, steps);
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
    add_totals(part);
    return link_neighbours(part);
}

void fit_scaled_free(struct fit_scaled *s)
{
    mem_free(s->loose);
    for (int32_t i = 0; i < s->part_count; i++) {
        mem_free(s->parts[i].from);
        mem_free(s->parts[i].to);
        mem_free(s->parts[i].height);
        mem_free(s->parts[i].low);
        mem_free(s->parts[i].high);
        mem_free(s->parts[i].align);
        mem_free(s->parts[i].fixed);
        mem_free(s->parts[i].origin);
        mem_free(s->parts[i].first_step);
        mem_free(s->parts[i].steps);
        mem_free(s->parts[i].total);
        mem_free(s->parts[i].first_in_section);
        mem_free(s->parts[i].in_section);
        mem_free(s->parts[i].first_near);
        mem_free(s->parts[i].near);
        mem_free(s->parts[i].heights);
    }
    mem_free(s->parts);
}

static int64_t greatest_size(const struct fit_problem *p, int32_t first, int32_t end)
{
    int64_t size = 0;
    for (int32_t k = first; k < end; k++) size = max_i64(size, p->pieces[k].size);
    return size;
}

/* Drafts of all items that take room; `*count` of them. Sets `out->impossible` where one can never fit. */
static void draft_items(const struct fit_problem *p, const struct timeline *t, bool mixed,
                        struct fit_scaled *out, struct draft *drafts, int32_t *count)
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
    *count = n;
}

static bool split_parts(const struct fit_problem *p, const struct timeline *t, int64_t rounding,
                        struct draft *drafts, int32_t count, struct fit_scaled *out)
{
    qsort(drafts, (size_t)count, sizeof *drafts, fit_prepare_by_from);
    int32_t parts = 0, reached = -1;
    for (int32_t i = 0; i < count; i++) {
        if (drafts[i].from >= reached) parts++;
        if (drafts[i].to > reached) reached = drafts[i].to;
    }
    out->parts = mem_zeroed((size_t)parts + 1, sizeof *out->parts);
    for (int32_t i = 0, next; i < count; i = next) {
        reached = drafts[i].to;
        for (next = i + 1; next < count && drafts[next].from < reached; next++)
            if (drafts[next].to > reached) reached = drafts[next].to;
        struct fit_part *part = &out->parts[out->part_count++];
        if (!fill_part(p, t, drafts + i, next - i, rounding, out->unit, part)) return false;
        for (int32_t s = 0; s < part->sections; s++)
            if (part->total[s] > part->capacity) out->impossible = true;
    }
    return true;
}

/* The drafts that are worth a search; their number. */
static int32_t leave_out_easy(const struct fit_problem *p, int64_t rounding, struct draft *drafts,
                              int32_t count, struct fit_scaled *out)
{
    bool *stays = mem_zeroed((size_t)p->item_count + 1, sizeof *stays);
    out->loose = count <= MOST_PEELED ? mem_alloc(((size_t)count + 1) * sizeof *out->loose) : NULL;
    if (!out->loose) {
        mem_free(stays);
        return count;
    }
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
    mem_free(stays);
    return left;
}

bool fit_scale(const struct fit_problem *p, bool peel, struct fit_scaled *out)
{
    *out = (struct fit_scaled){0};
    int64_t rounding = 0;
    bool mixed = false;
    for (int32_t i = 0; i < p->item_count; i++) {
        rounding = gcd_i64(rounding, p->items[i].alignment);
        mixed |= p->items[i].alignment != p->items[0].alignment;
    }
    if (rounding == 0) rounding = 1;
    /* The unit, and whether alignments differ (then they survive scaling). */
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
    struct draft *drafts = mem_alloc(((size_t)p->item_count + 1) * sizeof *drafts);
    int32_t count = 0;
    build_timeline(p, &t);
    bool done = true;
    if (done) draft_items(p, &t, mixed, out, drafts, &count);
    if (done && peel && !out->impossible) count = leave_out_easy(p, rounding, drafts, count, out);
    if (done && !out->impossible) done = split_parts(p, &t, rounding, drafts, count, out);
    mem_free(drafts);
    mem_free(t.moments);
    mem_free(t.section_at);
    return done;
}
