/* Builds the searchable form of a problem; see items.h. */
#include "common/items.h"

ORDER(items_compare_items, struct item, ORDER_UP(start) ORDER_UP(buffer));

/* An empty buffer conflicts with nothing and is always placed, unless its one address is out of reach. */
static bool empty_is_placed(const struct items *it, const struct lx_buffer *b)
{
    const struct lx_problem *p = it->problem;
    return b->size == 0 && !it->has_empty && !b->reason &&
           (b->fixed <= p->capacity || p->objective == LX_HEIGHT);
}

static void items_fill_items(struct items *it, const struct lx_problem *p)
{
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        bool can = lx_may_be_placed(p, b) && (b->size > 0 || it->has_empty);
        if (!can || (b->fixed >= 0 && p->objective != LX_HEIGHT && b->fixed > p->capacity - b->size)) {
            if (empty_is_placed(it, b)) {
                it->empty_top = max_i64(it->empty_top, b->fixed);
                continue;
            }
            it->lost += b->spill_cost;
            it->hopeless += !b->reason;
            continue;
        }
        it->lost += lx_on_cost(b, 0);
        int64_t unit = p->alignment, align = lx_alignment_of(p, b) / unit;
        int64_t last =
            p->objective == LX_HEIGHT ? ITEM_NO_LIMIT : (p->capacity - b->size) / unit / align * align;
        it->item[it->count++] = (struct item){
            .start = b->start,
            .end = b->end,
            .size = ceil_div_i64(b->size, unit),
            .align = align,
            .fixed = b->fixed < 0 ? -1 : b->fixed / unit,
            .last = last,
            .bytes = b->size,
            .cost = b->spill_cost - lx_on_cost(b, 0),
            .buffer = i,
        };
    }
    qsort(it->item, (size_t)it->count, sizeof *it->item, items_compare_items);
}

/* One pass over the starts: `live` holds earlier items that may be alive. With `near` NULL it only counts; it
 * stops early once there are more pairs than allowed. */
static int64_t items_pair_up(const struct items *it, int32_t *live, size_t *fill, int32_t *near,
                             int64_t max_pairs, struct poll *poll)
{
    int64_t pairs = 0;
    int32_t alive = 0;
    for (int32_t i = 0; i < it->count; i++) {
        int32_t kept = 0;
        if (it->item[i].size == 0) continue;
        for (int32_t k = 0; k < alive; k++) {
            int32_t other = live[k];
            if (it->item[other].end <= it->item[i].start) continue;
            live[kept++] = other;
            if (near) {
                near[fill[i]] = other;
                near[fill[other]] = i;
            }
            fill[i]++;
            fill[other]++;
        }
        pairs += kept;
        if (pairs > max_pairs || poll_stopped(poll, 8 + alive)) return pairs;
        live[kept] = i;
        alive = kept + 1;
    }
    return pairs;
}

/* Fills the conflict lists. If cancelled, `near` stays NULL, as with too many pairs. */
static void make_pairs(struct items *it, int64_t max_pairs, const struct lx_run *run)
{
    size_t n = (size_t)it->count;
    struct poll poll = {.run = run};
    OWNED int32_t *live = mem_alloc((n + 1) * sizeof *live);
    OWNED size_t *fill = mem_zeroed(n + 1, sizeof *fill);
    it->first = arena_array(&it->memory, n + 1, sizeof *it->first);
    it->pairs = items_pair_up(it, live, fill, NULL, max_pairs, &poll);
    if (it->pairs <= max_pairs && !poll.stopped) {
        for (size_t i = 0; i < n; i++) {
            it->first[i + 1] = it->first[i] + fill[i];
            fill[i] = it->first[i];
        }
        it->near = arena_array(&it->memory, it->first[n] + 1, sizeof *it->near);
        items_pair_up(it, live, fill, it->near, max_pairs, &poll);
    }
    if (poll.stopped) it->near = NULL;
}

static void make_edges(struct items *it, const struct lx_problem *p)
{
    size_t n = (size_t)it->count, total = 0;
    OWNED int32_t *of_buffer = mem_alloc(((size_t)p->count + 1) * sizeof *of_buffer);
    it->edge_first = arena_array(&it->memory, n + 2, sizeof *it->edge_first);
    for (int32_t i = 0; i < p->count; i++) of_buffer[i] = NO_ITEM;
    for (int32_t i = 0; i < it->count; i++) {
        of_buffer[it->item[i].buffer] = i;
        total += (size_t)p->buffers[it->item[i].buffer].parent_count;
    }
    it->edge = arena_array(&it->memory, total + 1, sizeof *it->edge);
    it->edge_of = arena_array(&it->memory, 2 * total + 1, sizeof *it->edge_of);
    for (int32_t i = 0; i < it->count; i++) {
        const struct lx_buffer *b = &p->buffers[it->item[i].buffer];
        for (int32_t k = 0; k < b->parent_count; k++) {
            int32_t parent = of_buffer[b->parents[k]];
            if (parent == NO_ITEM || it->item[i].size == 0) continue;
            /* Alignments never forbid sharing: 0 and every other common multiple is a base for both. */
            int64_t high = it->item[parent].fixed, low = it->item[i].fixed;
            bool agree = high >= 0 && low >= 0 ? high == low
                                               : (high < 0 || high % it->item[i].align == 0) &&
                                                     (low < 0 || low % it->item[parent].align == 0);
            if (!agree) continue;
            it->edge[it->edge_count++] = (struct edge){parent, i};
            it->edge_first[parent + 2]++;
            it->edge_first[i + 2]++;
        }
    }
    for (size_t i = 2; i < n + 2; i++) it->edge_first[i] += it->edge_first[i - 1];
    for (int32_t e = 0; e < it->edge_count; e++) {
        it->edge_of[it->edge_first[it->edge[e].parent + 1]++] = e;
        it->edge_of[it->edge_first[it->edge[e].child + 1]++] = e;
    }
}

void items_make(struct items *it, const struct lx_problem *p, int64_t max_pairs, const struct lx_run *run)
{
    const unsigned links = LX_CAN_LINKED_COSTS | LX_CAN_MUST | LX_CAN_TOGETHER;
    *it = (struct items){.problem = p};
    it->has_empty = p->objective == LX_SPILL && (lx_problem_needs(p) & links) != 0;
    it->item = arena_array(&it->memory, (size_t)p->count + 1, sizeof *it->item);
    items_fill_items(it, p);
    make_pairs(it, max_pairs, run);
    make_edges(it, p);
}

void items_answer(const struct items *it, const int64_t *base, int64_t *address)
{
    const struct lx_problem *p = it->problem;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        address[i] = !empty_is_placed(it, b) ? LX_OFF_CHIP : b->fixed >= 0 ? b->fixed : 0;
    }
    for (int32_t i = 0; i < it->count; i++)
        if (base[i] >= 0) address[it->item[i].buffer] = base[i] * p->alignment;
}

void items_from_answer(const struct items *it, const int64_t *address, int64_t *base)
{
    for (int32_t i = 0; i < it->count; i++) {
        int64_t at = address[it->item[i].buffer];
        base[i] = at < 0 ? NOT_PLACED : at / it->problem->alignment;
    }
}

int64_t items_spill(const struct items *it, const int64_t *base)
{
    int64_t spill = 0;
    for (int32_t i = 0; i < it->count; i++)
        if (base[i] < 0) spill += it->item[i].cost;
    return spill;
}

int64_t items_height(const struct items *it, const int64_t *base)
{
    int64_t height = it->empty_top;
    for (int32_t i = 0; i < it->count; i++)
        if (base[i] >= 0) height = max_i64(height, base[i] * it->problem->alignment + it->item[i].bytes);
    return height;
}

bool items_all_placed(const struct items *it, const int64_t *base)
{
    for (int32_t i = 0; i < it->count; i++)
        if (base[i] < 0) return false;
    return true;
}

/* Are all of the group placed, or all off? */
static bool placing_all_agrees(const struct lx_problem *p, const struct lx_group *g, bool placed)
{
    for (int32_t k = 0; k < g->count; k++)
        if (!p->buffers[g->at[k]].reason != placed) return false;
    return true;
}

bool placing_all_is_wrong(const struct lx_problem *p)
{
    const struct lx_bonds *b = &p->bonds;
    for (int32_t g = 0; g < b->together_count; g++)
        if (!placing_all_agrees(p, &b->together[g], true) && !placing_all_agrees(p, &b->together[g], false))
            return true;
    for (int32_t c = 0; c < b->linked_cost_count; c++) {
        const struct lx_linked_cost *linked = &b->linked_costs[c];
        bool some = linked->any_on.count + linked->any_off.count == 0 ||
                    !placing_all_agrees(p, &linked->any_on, false) ||
                    !placing_all_agrees(p, &linked->any_off, true);
        if (linked->cost == LX_FORBIDDEN && some && placing_all_agrees(p, &linked->all_on, true) &&
            placing_all_agrees(p, &linked->all_off, false))
            return true;
    }
    return false;
}

/* Parts by union-find: over lives without a gap in a pool, and over bonds. */

struct life_of {
    struct lx_life life;
    int32_t buffer;
};

ORDER(largest_part_compare_lives, struct life_of, ORDER_UP(life.start) ORDER_UP(buffer));

static void largest_part_join_group(int32_t *up, const struct lx_group *g, int32_t *last)
{
    for (int32_t k = 0; k < g->count; k++) {
        if (*last >= 0) sets_join(up, *last, g->at[k]);
        *last = g->at[k];
    }
}

static void join_bonds(int32_t *up, const struct lx_bonds *b)
{
    int32_t last;
    for (int32_t k = 0; k < b->apart_count; k++) sets_join(up, b->apart[k].a, b->apart[k].b);
    for (int32_t k = 0; k < b->staging_count; k++) sets_join(up, b->staging[k].a, b->staging[k].b);
    for (int32_t k = 0; k < b->reuse_count; k++) sets_join(up, b->reuse[k].a, b->reuse[k].b);
    for (int32_t k = 0; k < b->same_place_count; k++)
        last = -1, largest_part_join_group(up, &b->same_place[k], &last);
    for (int32_t k = 0; k < b->together_count; k++)
        last = -1, largest_part_join_group(up, &b->together[k], &last);
    for (int32_t k = 0; k < b->linked_cost_count; k++) {
        const struct lx_linked_cost *c = &b->linked_costs[k];
        last = -1;
        largest_part_join_group(up, &c->all_on, &last);
        largest_part_join_group(up, &c->all_off, &last);
        largest_part_join_group(up, &c->any_on, &last);
        largest_part_join_group(up, &c->any_off, &last);
    }
}

int32_t largest_part(const struct lx_problem *p)
{
    SCOPED(arena_free) struct arena memory = {0};
    size_t n = (size_t)p->count + 1, room = 1, count = 0;
    int32_t *up = arena_array(&memory, n, sizeof *up), *size = arena_array(&memory, n, sizeof *size),
            most = 0;
    for (int32_t i = 0; i < p->count; i++) room += (size_t)lx_life_count(&p->buffers[i]);
    struct life_of *lives = arena_array(&memory, room, sizeof *lives);
    for (int32_t i = 0; i < p->count; i++)
        for (int32_t k = 0; k < lx_life_count(&p->buffers[i]); k++)
            lives[count++] = (struct life_of){lx_life_at(&p->buffers[i], k), i};
    qsort(lives, count, sizeof *lives, largest_part_compare_lives);

    sets_begin(up, p->count);
    join_bonds(up, &p->bonds);
    for (int32_t pool = 0; pool < lx_pool_count(p); pool++) {
        int32_t last = -1;
        int64_t until = INT64_MIN;
        for (size_t k = 0; k < count; k++) {
            const struct lx_buffer *b = &p->buffers[lives[k].buffer];
            if (!lx_may_be_placed(p, b) || !lx_allows_pool(b, pool)) continue;
            if (last >= 0 && lives[k].life.start < until) sets_join(up, last, lives[k].buffer);
            until = max_i64(until, lives[k].life.end);
            last = lives[k].buffer;
        }
    }
    for (int32_t i = 0; i < p->count; i++) {
        int32_t now = ++size[sets_root(up, i)];
        if (now > most) most = now;
    }
    return most;
}
