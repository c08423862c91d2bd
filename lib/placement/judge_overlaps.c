/* Overlaps: rectangles of time and bytes, one per life of a placed buffer, reserved range and pinned `alone`
 * (for all time). Time is swept, one pool after the other. A binary tree has the rectangles by their lowest
 * byte; a node holds the highest end of the live ones below it. A rectangle that starts asks for all live
 * ones on its bytes. O(n log n), and O(log n) for each pair that may overlap. */
#include "placement/judge.h"
#include "base/base.h"

enum who { LIFE, RESERVED, ALONE };

struct rect {
    int64_t from, to, start, end;
    int32_t pool, buffer; /* RESERVED: index of the range */
    enum who who;
};

struct sweep {
    struct judge *j;
    struct rect *rect; /* by pool, then by lowest byte */
    size_t count, first, last, width;
    int64_t *top; /* per node: the highest `to` of the live rectangles below, INT64_MIN for none */
    struct exclusive_pairs exclusive;
};

static bool judge_overlaps_is_parent(const struct lx_buffer *child, int32_t index)
{
    for (int32_t k = 0; k < child->parent_count; k++)
        if (child->parents[k] == index) return true;
    return false;
}

static bool may_meet(struct sweep *s, const struct rect *x, const struct rect *y)
{
    struct judge *j = s->j;
    if (x->who == RESERVED || y->who == RESERVED) {
        const struct rect *life = x->who == RESERVED ? y : x;
        const struct rect *r = life == x ? y : x;
        if (life->who != LIFE) return true;
        return broken(j, LX_RULE_RESERVED,
                      "buffer %s at [%lld, %lld) is on bytes [%lld, %lld) of pool %s, reserved on tick %lld",
                      j->p->buffers[life->buffer].name, (long long)life->from, (long long)life->to,
                      (long long)r->from, (long long)r->to, j->p->pools[r->pool].name,
                      (long long)max_i64(life->start, r->start));
    }
    if (judge_block(j, x->buffer) == judge_block(j, y->buffer)) return true;
    if (x->who == ALONE || y->who == ALONE) {
        const struct rect *life = x->who == ALONE ? y : x;
        return broken(s->j, LX_RULE_ALONE, "buffer %s at [%lld, %lld) is on bytes that belong to %s alone",
                      s->j->p->buffers[life->buffer].name, (long long)life->from, (long long)life->to,
                      s->j->p->buffers[(x->who == ALONE ? x : y)->buffer].name);
    }
    if (exclusive_has(&s->exclusive, x->buffer, y->buffer)) return true;
    const struct lx_buffer *one = &j->p->buffers[x->buffer], *two = &j->p->buffers[y->buffer];
    bool is_edge = judge_overlaps_is_parent(one, y->buffer) || judge_overlaps_is_parent(two, x->buffer);
    if (is_edge && j->address[x->buffer] == j->address[y->buffer]) return true;
    bool siblings = false;
    for (int32_t k = 0; k < one->parent_count; k++)
        siblings |= judge_overlaps_is_parent(two, one->parents[k]) &&
                    j->address[one->parents[k]] == j->address[x->buffer];
    const struct rect *later = x->buffer > y->buffer ? x : y, *other = later == x ? y : x;
    const char *why = siblings  ? "and the slot has been handed to another child"
                      : is_edge ? "and a handover needs the same address"
                                : "and neither may take the other's place";
    return broken(j, LX_RULE_OVERLAP,
                  "buffers %s at [%lld, %lld) and %s at [%lld, %lld) overlap on tick %lld, %s",
                  j->p->buffers[later->buffer].name, (long long)later->from, (long long)later->to,
                  j->p->buffers[other->buffer].name, (long long)other->from, (long long)other->to,
                  (long long)max_i64(x->start, y->start), why);
}

/* Meets all live rectangles below `node`, [left, left + width), with bytes in [x->from, x->to). */
static bool meet_living(struct sweep *s, size_t node, size_t left, size_t width, const struct rect *x)
{
    if (s->top[node] <= x->from || s->first + left >= s->last || s->rect[s->first + left].from >= x->to)
        return true;
    if (width == 1) return may_meet(s, x, &s->rect[s->first + left]);
    return meet_living(s, 2 * node, left, width / 2, x) &&
           meet_living(s, 2 * node + 1, left + width / 2, width / 2, x);
}

static void set_top(struct sweep *s, size_t rect, int64_t to)
{
    size_t node = s->width + rect - s->first;
    for (s->top[node] = to; node > 1;) {
        node /= 2;
        int64_t top = max_i64(s->top[2 * node], s->top[2 * node + 1]);
        if (top == s->top[node]) return; /* the nodes above are right already */
        s->top[node] = top;
    }
}

struct event {
    int64_t tick;
    size_t rect;
};

ORDER(judge_overlaps_compare_events, struct event, ORDER_UP(tick) ORDER_UP(rect));

ORDER(compare_rects, struct rect,
      ORDER_UP(pool) ORDER_UP(from) ORDER_UP(buffer) ORDER_UP(start) ORDER_UP(who) ORDER_UP(to)
          ORDER_UP(end));

/* One pool: rectangles [first, last). */
static bool sweep_pool(struct sweep *s, struct event *starts, struct event *ends)
{
    size_t n = s->last - s->first;
    for (s->width = 1; s->width < n;) s->width *= 2;
    for (size_t i = 0; i < 2 * s->width; i++) s->top[i] = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        starts[i] = (struct event){s->rect[s->first + i].start, s->first + i};
        ends[i] = (struct event){s->rect[s->first + i].end, s->first + i};
    }
    qsort(starts, n, sizeof *starts, judge_overlaps_compare_events);
    qsort(ends, n, sizeof *ends, judge_overlaps_compare_events);
    for (size_t a = 0, e = 0; a < n; a++) {
        const struct rect *x = &s->rect[starts[a].rect];
        for (; ends[e].tick <= x->start; e++) set_top(s, ends[e].rect, INT64_MIN);
        /* Meets all live rectangles, the neighbours first: they are found soon. The error names the
         * lowest. */
        bool ok = true;
        for (size_t node = s->width + starts[a].rect - s->first, wide = 1; ok && node > 1;
             node /= 2, wide *= 2) {
            size_t beside = node ^ 1;
            if (s->top[beside] > x->from) ok = meet_living(s, beside, beside * wide - s->width, wide, x);
        }
        if (!ok && !meet_living(s, 1, 0, s->width, x)) return false;
        set_top(s, starts[a].rect, x->to);
    }
    return true;
}

static bool sweep_pools(struct sweep *s)
{
    size_t width = 2;
    while (width < s->count) width *= 2;
    OWNED struct event *starts = mem_alloc((s->count + 1) * sizeof *starts),
                       *ends = mem_alloc((s->count + 1) * sizeof *ends);
    s->top = mem_alloc(2 * width * sizeof *s->top);
    bool ok = true;
    for (s->first = 0; ok && s->first < s->count; s->first = s->last) {
        for (s->last = s->first; s->last < s->count && s->rect[s->last].pool == s->rect[s->first].pool;)
            s->last++;
        ok = sweep_pool(s, starts, ends);
    }
    mem_free(s->top);
    return ok;
}

static void list_rects(struct sweep *s)
{
    const struct judge *j = s->j;
    for (int32_t i = 0; i < j->p->count; i++) {
        const struct lx_buffer *b = &j->p->buffers[i];
        int64_t from = j->address[i], to = from + judge_bytes(j, i);
        if (!judge_is_placed(j, i) || from == to) continue;
        for (int32_t k = 0; k < lx_life_count(b); k++) {
            struct lx_life l = lx_life_at(b, k);
            s->rect[s->count++] = (struct rect){from, to, l.start, l.end, judge_pool(j, i), i, LIFE};
        }
        if (b->alone)
            s->rect[s->count++] = (struct rect){from, to, INT64_MIN, INT64_MAX, judge_pool(j, i), i, ALONE};
    }
    for (int32_t k = 0; k < j->p->pool_count; k++)
        for (int32_t i = 0; i < j->p->pools[k].reserved_count; i++) {
            const struct lx_reserved *r = &j->p->pools[k].reserved[i];
            s->rect[s->count++] = (struct rect){r->from, r->to, r->start, r->end, k, i, RESERVED};
        }
    qsort(s->rect, s->count, sizeof *s->rect, compare_rects);
}

bool judge_overlaps(struct judge *j)
{
    size_t n = 1;
    for (int32_t i = 0; i < j->p->count; i++) n += (size_t)lx_life_count(&j->p->buffers[i]) + 1;
    for (int32_t k = 0; k < j->p->pool_count; k++) n += (size_t)j->p->pools[k].reserved_count;
    struct sweep s = {.j = j, .rect = mem_alloc(n * sizeof *s.rect)};
    exclusive_sorted(j->p, &s.exclusive);
    list_rects(&s);
    /* Drops rectangles whose bytes no other rectangle has: in a stack these are all. */
    size_t kept = 0;
    int64_t top = INT64_MIN; /* highest end of the rectangles before it in its pool */
    for (size_t i = 0; i < s.count; i++) {
        struct rect r = s.rect[i];
        if (i > 0 && s.rect[i - 1].pool != r.pool) top = INT64_MIN;
        bool last = i + 1 == s.count || s.rect[i + 1].pool != r.pool;
        bool single = top <= r.from && (last || s.rect[i + 1].from >= r.to);
        top = max_i64(top, r.to);
        if (!single) s.rect[kept++] = r;
    }
    s.count = kept;
    bool ok = sweep_pools(&s);
    mem_free(s.exclusive.at);
    mem_free(s.rect);
    return ok;
}

/* Exclusive pairs are never alive at once. */

ORDER(exclusive_pairs_compare_pairs, struct lx_pair, ORDER_UP(a) ORDER_UP(b));

void exclusive_sorted(const struct lx_problem *p, struct exclusive_pairs *e)
{
    *e = (struct exclusive_pairs){0};
    if (p->bonds.exclusive_count == 0) return;
    e->at = mem_alloc((size_t)p->bonds.exclusive_count * sizeof *e->at);
    for (int32_t i = 0; i < p->bonds.exclusive_count; i++) {
        int32_t a = p->bonds.exclusive[i].a, b = p->bonds.exclusive[i].b;
        e->at[e->count++] = (struct lx_pair){a < b ? a : b, a < b ? b : a};
    }
    qsort(e->at, (size_t)e->count, sizeof *e->at, exclusive_pairs_compare_pairs);
}

bool exclusive_has(const struct exclusive_pairs *e, int32_t a, int32_t b)
{
    struct lx_pair key = {a < b ? a : b, a < b ? b : a};
    return e->count > 0 && bsearch(&key, e->at, (size_t)e->count, sizeof key, exclusive_pairs_compare_pairs);
}
