/* From blocks in a pool to a pile, and back. In-place relatives are left open at first: the pile is then free
 * to lay them across each other. If it does so at unequal addresses, the question splits: one address for
 * both (they become a cluster), or one above the other. Pinned clusters leave the pile and ban their partners
 * from their bytes. */
#include "exact/general/pile.h"

enum decision { LEFT_OPEN, ONE_ADDRESS, KEPT_APART };

struct relatives {
    int32_t a, b; /* members */
    enum decision decision;
};

struct clustering {
    struct pool_question *q;
    int32_t *cluster; /* per member */
    int32_t *item;    /* per cluster: its item in the pile, or -1: pinned */
    int32_t count;
    int64_t *size, *align, *pin; /* per cluster */
    int64_t *gap;                /* count * count: gap if the first is below the second; 0: no constraint */
    bool *soft;                  /* per two members: soft pair to keep apart; NULL: none */
    struct relatives *edges;
    int32_t edge_count;
    struct pile pile;
    VEC(struct byte_range) bans;
    struct arena memory;
};

static bool exclude(const struct clustering *c, int32_t u, int32_t v)
{
    const struct pool_question *q = c->q;
    enum pair_kind kind = pair_of(q->b, q->members[u], q->members[v]);
    if (kind == PAIR_IN_PLACE)
        for (int32_t e = 0; e < c->edge_count; e++)
            if ((c->edges[e].a == u && c->edges[e].b == v) || (c->edges[e].a == v && c->edges[e].b == u))
                return c->edges[e].decision == KEPT_APART;
    return kind != PAIR_FREE || (c->soft && c->soft[(size_t)u * (size_t)q->count + (size_t)v]);
}

/* --- Clusters. --- */

static void number_clusters(struct clustering *c)
{
    int32_t n = c->q->count;
    for (int32_t u = 0; u < n; u++) c->cluster[u] = u;
    for (int32_t e = 0; e < c->edge_count; e++) {
        if (c->edges[e].decision != ONE_ADDRESS) continue;
        int32_t from = c->cluster[c->edges[e].b], to = c->cluster[c->edges[e].a];
        for (int32_t u = 0; u < n; u++)
            if (c->cluster[u] == from) c->cluster[u] = to;
    }
    c->count = 0;
    for (int32_t u = 0; u < n; u++)
        if (c->cluster[u] == u) c->item[u] = c->count++;
    for (int32_t u = 0; u < n; u++) c->cluster[u] = c->item[c->cluster[u]];
}

/* False: a cluster's members cannot share one address. */
static bool measure_clusters(struct clustering *c)
{
    const struct pool_question *q = c->q;
    for (int32_t k = 0; k < c->count; k++) c->size[k] = 0, c->align[k] = 1, c->pin[k] = -1;
    for (int32_t u = 0; u < q->count; u++) {
        const struct block *b = &q->b->at[q->members[u]];
        int32_t k = c->cluster[u];
        c->size[k] = max_i64(c->size[k], b->size);
        c->align[k] = min_i64(lcm_i64(c->align[k], b->align), INT64_C(1) << 60);
        if (b->pin >= 0 && c->pin[k] >= 0 && b->pin != c->pin[k]) return false;
        if (b->pin >= 0) c->pin[k] = b->pin;
    }
    for (int32_t k = 0; k < c->count; k++)
        if (c->pin[k] >= 0 && (c->pin[k] % c->align[k] || c->pin[k] > q->capacity - c->size[k])) return false;
    return true;
}

static bool relate_clusters(struct clustering *c)
{
    size_t n = (size_t)c->count;
    memset(c->gap, 0, n * n * sizeof *c->gap);
    for (int32_t u = 0; u < c->q->count; u++)
        for (int32_t v = u + 1; v < c->q->count; v++) {
            if (!exclude(c, u, v)) continue;
            size_t a = (size_t)c->cluster[u], b = (size_t)c->cluster[v];
            if (a == b) return false;
            c->gap[a * n + b] = max_i64(c->gap[a * n + b], c->q->b->at[c->q->members[u]].size);
            c->gap[b * n + a] = max_i64(c->gap[b * n + a], c->q->b->at[c->q->members[v]].size);
        }
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            if (c->gap[a * n + b] && c->pin[a] >= 0 && c->pin[b] >= 0 &&
                c->pin[a] < c->pin[b] + c->gap[b * n + a] && c->pin[b] < c->pin[a] + c->gap[a * n + b])
                return false;
    return true;
}

/* --- The pile. --- */

static void add_bans(struct clustering *c, int32_t cluster, struct byte_range *spans, struct pile_item *item)
{
    size_t first = c->bans.count;
    const struct pool_question *q = c->q;
    for (int32_t u = 0; u < q->count; u++) {
        if (c->cluster[u] != cluster) continue;
        int32_t n = blocks_reserved(q->b, q->members[u], q->pool, spans);
        for (int32_t k = 0; k < n; k++)
            VEC_PUSH(&c->bans,
                     (struct byte_range){spans[k].from - q->b->at[q->members[u]].size, spans[k].to});
    }
    size_t n = (size_t)c->count, a = (size_t)cluster;
    for (size_t k = 0; k < n; k++)
        if (c->pin[k] >= 0 && k != a && c->gap[a * n + k])
            VEC_PUSH(&c->bans,
                     (struct byte_range){c->pin[k] - c->gap[a * n + k], c->pin[k] + c->gap[k * n + a]});
    if (c->bans.count > first)
        c->bans.count = first + range_join(c->bans.at + first, c->bans.count - first, false);
    item->first_ban = (int32_t)first;
    item->ban_count = (int32_t)(c->bans.count - first);
}

/* False: a pinned block lies in a banned range. */
static bool make_pile(struct clustering *c)
{
    OWNED struct byte_range *spans =
        mem_alloc(((size_t)c->q->b->rooms[c->q->pool].reserved_count + 1) * sizeof *spans);
    int32_t used = 0;
    bool banned = false;
    size_t n = (size_t)c->count * (size_t)c->count, near = 1;
    for (size_t k = 0; k < n; k++) near += c->gap[k] > 0;
    mem_free(c->pile.near);
    c->pile.near = mem_alloc(near * sizeof *c->pile.near);
    c->bans.count = 0;
    c->pile.count = 0;
    c->pile.capacity = c->q->capacity;
    for (int32_t k = 0; k < c->count; k++) c->item[k] = c->pin[k] >= 0 ? -1 : c->pile.count++;
    for (int32_t k = 0; k < c->count; k++) {
        struct pile_item pinned, *item = c->item[k] < 0 ? &pinned : &c->pile.items[c->item[k]];
        item->size = c->size[k];
        item->align = c->align[k];
        add_bans(c, k, spans, item);
        for (int32_t e = 0; c->item[k] < 0 && e < item->ban_count; e++) {
            struct byte_range *ban = &c->bans.at[item->first_ban + e];
            banned |= c->size[k] > 0 && ban->from < c->pin[k] && c->pin[k] < ban->to;
        }
        if (c->item[k] < 0) continue;
        item->first_near = used;
        for (int32_t q = 0; q < c->count; q++) {
            size_t to = (size_t)k * (size_t)c->count + (size_t)q,
                   back = (size_t)q * (size_t)c->count + (size_t)k;
            if (c->item[q] >= 0 && c->gap[to])
                c->pile.near[used++] = (struct pile_near){c->item[q], c->gap[to], c->gap[back]};
        }
        item->near_count = used - item->first_near;
    }
    c->pile.bans = c->bans.at;
    return !banned;
}

/* --- The question. --- */

static void clustering_open(struct clustering *c, struct pool_question *q)
{
    size_t n = (size_t)q->count + 1, edges = 0;
    *c = (struct clustering){.q = q};
    c->cluster = arena_array(&c->memory, n, sizeof *c->cluster);
    c->item = arena_array(&c->memory, n, sizeof *c->item);
    c->size = arena_array(&c->memory, n, sizeof *c->size);
    c->align = arena_array(&c->memory, n, sizeof *c->align);
    c->pin = arena_array(&c->memory, n, sizeof *c->pin);
    c->gap = arena_array(&c->memory, n * n, sizeof *c->gap);
    c->pile.items = arena_array(&c->memory, n, sizeof *c->pile.items);
    for (int pass = 0; pass < 2; pass++) {
        if (pass) c->edges = arena_array(&c->memory, edges, sizeof *c->edges);
        for (int32_t u = 0; u < q->count; u++)
            for (int32_t v = u + 1; v < q->count; v++) {
                if (pair_of(q->b, q->members[u], q->members[v]) != PAIR_IN_PLACE) continue;
                if (pass)
                    c->edges[c->edge_count++] = (struct relatives){u, v, LEFT_OPEN};
                else
                    edges++;
            }
    }
}

static void clustering_close(struct clustering *c)
{
    mem_free(c->pile.near);
    VEC_FREE(&c->bans);
    arena_free(&c->memory);
}

static enum fit_result pack_open(struct clustering *c, int64_t *address)
{
    struct pool_question *q = c->q;
    number_clusters(c);
    if (!measure_clusters(c) || !relate_clusters(c) || !make_pile(c)) return FIT_NO;
    OWNED int64_t *found = mem_alloc(((size_t)c->pile.count + 1) * sizeof *found);
    enum fit_result result = pile_solve(&c->pile, &q->limits, found, &q->nodes);
    for (int32_t u = 0; result == FIT_YES && u < q->count; u++) {
        int32_t k = c->cluster[u];
        address[q->members[u]] = c->item[k] >= 0 ? found[c->item[k]] : c->pin[k];
    }
    return result;
}

static enum fit_result pool_pack_block(struct clustering *c, int64_t *address)
{
    enum fit_result result = pack_open(c, address), other;
    if (result != FIT_YES) return result;
    /* An in-place edge left open that is neither handed over nor kept apart. */
    int32_t e = 0;
    for (; e < c->edge_count; e++) {
        int32_t i = c->q->members[c->edges[e].a], k = c->q->members[c->edges[e].b];
        if (c->edges[e].decision == LEFT_OPEN && address[i] != address[k] &&
            blocks_touch(c->q->b, i, k, address))
            break;
    }
    if (e == c->edge_count) return result;
    c->edges[e].decision = ONE_ADDRESS;
    result = pool_pack_block(c, address);
    if (result == FIT_YES) return result;
    c->edges[e].decision = KEPT_APART;
    other = pool_pack_block(c, address);
    c->edges[e].decision = LEFT_OPEN;
    return other == FIT_NO ? result : other;
}

enum fit_result pack_into_pool(struct pool_question *q, int64_t *address)
{
    struct clustering c;
    clustering_open(&c, q);
    if (q->soft_apart && q->b->soft_count) {
        size_t n = (size_t)q->count;
        int32_t *member = arena_array(&c.memory, (size_t)q->b->count + 1, sizeof *member);
        c.soft = arena_array(&c.memory, n * n + 1, sizeof *c.soft);
        for (int32_t i = 0; i < q->b->count; i++) member[i] = -1;
        for (int32_t u = 0; u < q->count; u++) member[q->members[u]] = u;
        for (int32_t k = 0; k < q->b->soft_count; k++) {
            int32_t u = member[q->b->softs[k].a], v = member[q->b->softs[k].b];
            if (q->soft_apart[k] && u >= 0 && v >= 0)
                c.soft[(size_t)u * n + (size_t)v] = c.soft[(size_t)v * n + (size_t)u] = true;
        }
    }
    enum fit_result result = pool_pack_block(&c, address);
    clustering_close(&c);
    return result;
}

int64_t pool_least_height(const struct blocks *b, int32_t pool, const int32_t *members, int32_t count)
{
    struct pool_question q = {b, pool, b->rooms[pool].capacity, members, count, NULL, {0}, 0};
    struct clustering c;
    int64_t least = INT64_MAX;
    clustering_open(&c, &q);
    number_clusters(&c);
    if (measure_clusters(&c) && relate_clusters(&c) && make_pile(&c)) {
        struct cliques cliques;
        least = pile_cliques(&c.pile, 20000, &cliques);
        cliques_free(&cliques);
        for (int32_t k = 0; k < c.count; k++) {
            int64_t at = c.item[k] < 0 ? c.pin[k] : pile_free_from(&c.pile, c.item[k], 0);
            least = max_i64(least, at + c.size[k]);
        }
    }
    clustering_close(&c);
    return least;
}
