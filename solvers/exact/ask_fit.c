/* Asks the Fit engine whether a choice packs; shrinks a choice that does not to a small core.
 *
 * A chain of handovers is one item of the Fit problem with one piece per buffer. A core stays a core when an
 * item is left out together with its handovers: a placement of all would place the rest. */
#include "exact/ask_fit.h"

void packer_new(struct packer *k, const struct model *m, struct budget *budget)
{
    size_t n = (size_t)m->item_count + 1;
    *k = (struct packer){.m = m, .capacity = m->p->capacity};
    k->items = arena_array(&k->memory, n, sizeof *k->items);
    k->pieces = arena_array(&k->memory, n, sizeof *k->pieces);
    k->head = arena_array(&k->memory, n, sizeof *k->head);
    k->next = arena_array(&k->memory, n, sizeof *k->next);
    k->base = arena_array(&k->memory, n, sizeof *k->base);
    k->limits = (struct fit_limits){.seed = budget->run->seed, .stop = budget_stopped, .context = budget};
}

/* Adds the chain that starts with item `i`. */
static bool add_chain(struct packer *k, int32_t i)
{
    const struct model *m = k->m;
    struct fit_item *item = &k->items[k->item_count];
    *item = (struct fit_item){k->piece_count, 0, 1, -1};
    k->head[k->item_count++] = i;
    int64_t until = m->items[i].start;
    bool only_zero = false, agrees = true;
    for (; i >= 0; i = k->next[i]) {
        const struct lx_buffer *b = model_buffer(m, i);
        int64_t own = lx_alignment_of(m->p, b), common;
        if (!mul_i64(item->alignment / gcd_i64(item->alignment, own), own, &common) || common > k->capacity)
            only_zero = true;
        else
            item->alignment = common;
        if (b->fixed >= 0) {
            agrees &= item->fixed < 0 || item->fixed == b->fixed;
            item->fixed = b->fixed;
        }
        if (b->end <= until) continue;
        k->pieces[k->piece_count++] = (struct fit_piece){until, b->end, b->size};
        item->piece_count++;
        until = b->end;
    }
    if (only_zero) {
        agrees &= item->fixed <= 0;
        item->fixed = 0;
        item->alignment = 1;
    }
    agrees &= item->fixed < 0 || item->fixed % item->alignment == 0;
    return agrees && (item->fixed < 0 || item->fixed <= k->capacity - k->pieces[item->first_piece].size);
}

bool packer_chains(struct packer *k, const bool *kept, const bool *merged, int32_t *broken)
{
    const struct model *m = k->m;
    k->item_count = k->piece_count = 0;
    /* k->next of a parent marks its child as taken; heads are the items not taken. */
    for (int32_t i = 0; i < m->item_count; i++) k->next[i] = -1;
    OWNED bool *taken = mem_zeroed((size_t)m->item_count + 1, sizeof *taken);
    for (int32_t e = 0; e < m->edge_count; e++) {
        int32_t parent = m->edges[e].parent, child = m->edges[e].child;
        if (!merged[e] || !kept[parent] || !kept[child] || k->next[parent] >= 0 || taken[child]) continue;
        k->next[parent] = child;
        taken[child] = true;
    }
    bool ok = true;
    for (int32_t i = 0; ok && i < m->item_count; i++) {
        if (!kept[i] || taken[i] || m->items[i].size == 0) continue;
        ok = add_chain(k, i);
        *broken = i;
    }
    return ok;
}

enum fit_result pack_exactly(struct packer *k, const bool *kept, const bool *merged, int64_t nodes,
                             int64_t *address)
{
    const struct model *m = k->m;
    int32_t broken = 0;
    if (!packer_chains(k, kept, merged, &broken)) return FIT_NO;
    struct fit_problem q = {k->capacity, k->item_count, k->piece_count, k->items, k->pieces};
    struct fit_stats stats = {0};
    k->limits.nodes = nodes;
    k->calls++;
    enum fit_result result = fit_solve(&q, &k->limits, k->base, &stats);
    k->nodes += stats.nodes + 1;
    if (result != FIT_YES || !address) return result;
    for (int32_t i = 0; i < m->item_count; i++)
        address[i] = kept[i] && m->items[i].size == 0 ? packer_empty(k, i) : LX_OFF_CHIP;
    for (int32_t f = 0; f < k->item_count; f++)
        for (int32_t i = k->head[f]; i >= 0; i = k->next[i]) address[i] = k->base[f];
    return FIT_YES;
}

void merge_greedily(const struct model *m, const bool *kept, bool *merged)
{
    enum { GIVES = 1, TAKES = 2 };
    OWNED char *used = mem_zeroed((size_t)m->item_count + 1, 1);
    memset(merged, 0, (size_t)m->edge_count * sizeof *merged);
    for (int32_t e = 0; e < m->edge_count; e++) {
        int32_t parent = m->edges[e].parent, child = m->edges[e].child;
        merged[e] = kept[parent] && kept[child] && !(used[parent] & GIVES) && !(used[child] & TAKES);
        if (!merged[e]) continue;
        used[parent] |= GIVES;
        used[child] |= TAKES;
    }
}

struct shrinker {
    struct packer *k;
    bool *kept, *trial;
    const bool *merged;
    int64_t nodes;
};

/* Does the choice without the marked items still not pack? Then it becomes the choice. */
static bool ask_fit_try_without(struct shrinker *s, const bool *without)
{
    int32_t n = s->k->m->item_count, left = 0;
    for (int32_t i = 0; i < n; i++) left += s->trial[i] = s->kept[i] && !without[i];
    if (left == 0 || pack_exactly(s->k, s->trial, s->merged, s->nodes, NULL) != FIT_NO) return false;
    memcpy(s->kept, s->trial, (size_t)n * sizeof *s->kept);
    return true;
}

/* The shortest window of time that still does not pack, by two binary searches: lowers the latest start, then
 * raises the earliest end. */
static void shrink_window(struct shrinker *s, bool *without)
{
    const struct model *m = s->k->m;
    for (int raise = 0; raise < 2; raise++) {
        int64_t low = INT64_MAX, high = 0;
        for (int32_t i = 0; i < m->item_count; i++) {
            int64_t tick = raise ? m->items[i].end : m->items[i].start;
            if (s->kept[i]) low = min_i64(low, tick), high = max_i64(high, tick);
        }
        while (low < high) {
            int64_t middle = low + (high - low + raise) / 2;
            for (int32_t i = 0; i < m->item_count; i++)
                without[i] = raise ? m->items[i].end < middle : m->items[i].start > middle;
            bool shrinks = ask_fit_try_without(s, without);
            if (raise == shrinks)
                low = raise ? middle : middle + 1;
            else
                high = raise ? middle - 1 : middle;
        }
    }
}

void shrink_core(struct packer *k, bool *kept, const bool *merged, int64_t nodes)
{
    size_t n = (size_t)k->m->item_count;
    struct shrinker s = {k, kept, mem_alloc(n + 1), merged, nodes};
    OWNED bool *without = mem_alloc(n + 1);
    shrink_window(&s, without);
    for (size_t i = 0; i < n; i++) without[i] = false;
    /* Drops small and short items first: a core of large, long items lifts the bound best. Chunks halve down
     * to one. */
    for (size_t chunk = n / 4 ? n / 4 : 1; chunk > 0; chunk /= 2)
        for (size_t from = 0; from < n; from += chunk) {
            bool any = false;
            for (size_t i = from; i < n && i < from + chunk; i++) any |= without[i] = kept[i];
            if (any) ask_fit_try_without(&s, without);
            for (size_t i = from; i < n && i < from + chunk; i++) without[i] = false;
        }
    mem_free(s.trial);
}
