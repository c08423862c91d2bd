/* The relaxation solved over time: dynamic programming over the sections.
 *
 * Where items are large, few sets of them fit a section, and the linear programme is weak even with covers.
 * A label is a set of kept items that are alive, with a bound on all choices that begin like it; labels with
 * equal sets merge. The bound starts at the root's certificate and rises by the reduced cost of each decision
 * against its sign, and by the slack of each row times its dual, as soon as all items of the row are decided;
 * so it grows to the choice's exact value. A section keeps the `width` best labels. The least bound of the
 * dropped ones limits what is proved: no choice costs less than it and the value found. Rows that a set of
 * items must not be kept altogether have a bit in the set, too: one of its items is spilled. Everything is in
 * the integers of the certificate. Not for handovers and linked costs. */
#include "exact/search.h"

#include "base/hash.h"

enum { SET_WORDS = 4, SLOTS = 64 * SET_WORDS, FIRST_WIDTH = 500, MOST_WIDTH = 128000, LABELS_A_STEP = 128 };
enum { MOST_TRAIL = 1 << 23, LEAST_GAIN = 100 };

struct label {
    uint64_t set[SET_WORDS]; /* bits of kept items, and of satisfied rows */
    int128 bound;            /* scaled */
    int64_t load;
    int32_t trail; /* the last decision against the sign of its reduced cost, or -1 */
};

struct against {
    int32_t before, item;
};

struct sweep {
    struct search *s;
    const struct model *m;
    struct certificate cert;
    VEC(struct label) labels, next;
    VEC(struct against) trail;
    int128 *keys, lost, limit;
    int32_t width, *table;
    int32_t *slot, *row_slot;     /* per item and row: its bit, or -1 */
    int32_t *row_left;            /* terms to decide; -1: the row is of no interest */
    int32_t *row_head, *row_next; /* rows of an item: term numbers, in chains */
    int32_t *row_of;              /* per term number */
    int32_t *end_head, *end_next; /* items by their last section */
    int32_t *dual_head, *dual_next;
    uint64_t used[SET_WORDS], stale[SET_WORDS];
    int64_t *room;
    struct arena memory;
};

static bool has_bit(const uint64_t *set, int32_t slot)
{
    return set[slot >> 6] >> (slot & 63) & 1;
}

static void put_bit(uint64_t *set, int32_t slot)
{
    set[slot >> 6] |= UINT64_C(1) << (slot & 63);
}

static int32_t sweep_take_slot(struct sweep *w)
{
    for (int32_t k = 0; k < SET_WORDS; k++)
        if (~w->used[k]) {
            int32_t slot = 64 * k + __builtin_ctzll(~w->used[k]);
            put_bit(w->used, slot);
            return slot;
        }
    return -1;
}

static bool sweep_is_free(const struct sweep *w, int32_t i)
{
    return w->s->fixed_low[i] != w->s->fixed_high[i];
}

static bool sweep_prefers_spill(const struct sweep *w, int32_t i)
{
    return w->cert.reduced[i] < 0;
}

/* The section at which all items of a row with a dual are alive and decided; -1: there is none. */
static int32_t sweep_section_of(const struct sweep *w, const struct model_row *row)
{
    int32_t at = 0;
    for (int32_t e = 0; e < row->count; e++) {
        int32_t first = w->m->items[row->terms[e].column].first;
        if (first > at) at = first;
    }
    for (int32_t e = 0; e < row->count; e++)
        if (sweep_is_free(w, row->terms[e].column) && w->m->items[row->terms[e].column].last < at) return -1;
    return at < w->m->section_count ? at : -1;
}

/* Chains of items by end and of rows by item; the certificate of the duals that a sweep can use. False: a row
 * is of another kind. */
static bool sweep_open(struct sweep *w, struct search *s)
{
    const struct model *m = s->m;
    size_t n = (size_t)m->item_count + 1, sections = (size_t)m->section_count + 2,
           rows = (size_t)m->row_count + 1, terms = 1;
    for (int32_t k = 0; k < m->row_count; k++) terms += m->rows[k].implied ? 0 : (size_t)m->rows[k].count;
    struct arena *memory = &w->memory;
    int32_t **per_item[] = {&w->slot, &w->row_head, &w->end_next},
            **per_row[] = {&w->row_slot, &w->row_left, &w->dual_next},
            **per_section[] = {&w->end_head, &w->dual_head};
    for (size_t k = 0; k < 3; k++) *per_item[k] = arena_array(memory, n, sizeof **per_item[k]);
    for (size_t k = 0; k < 3; k++) *per_row[k] = arena_array(memory, rows, sizeof **per_row[k]);
    for (size_t k = 0; k < 2; k++) *per_section[k] = arena_array(memory, sections, sizeof **per_section[k]);
    w->row_next = arena_array(memory, terms, sizeof *w->row_next);
    w->row_of = arena_array(memory, terms, sizeof *w->row_of);
    w->room = arena_array(memory, sections, sizeof *w->room);
    w->cert.section = arena_array(memory, sections, sizeof *w->cert.section);
    w->cert.reduced = arena_array(memory, n, sizeof *w->cert.reduced);
    w->cert.prefix = arena_array(memory, sections, sizeof *w->cert.prefix);
    for (size_t t = 0; t < sections; t++) w->end_head[t] = w->dual_head[t] = -1;
    for (int32_t i = 0; i < m->item_count; i++) {
        const struct model_item *it = &m->items[i];
        w->slot[i] = w->row_head[i] = -1;
        if (it->first > it->last) continue;
        w->end_next[i] = w->end_head[it->last];
        w->end_head[it->last] = i;
        if (sweep_is_free(w, i) || s->fixed_low[i]) continue;
        w->room[it->first] -= it->size;
        w->room[it->last + 1] += it->size;
    }
    for (int32_t t = 1; t < m->section_count; t++) w->room[t] += w->room[t - 1];
    for (int32_t t = 0; t < m->section_count; t++) w->room[t] += m->capacity;
    double *dual = arena_array(memory, rows, sizeof *dual);
    for (int32_t k = 0, term = 0; k < m->row_count; k++) {
        const struct model_row *row = &m->rows[k];
        int32_t at = k < s->root_rows && s->root_row_dual[k] > 0 ? sweep_section_of(w, row) : -1;
        if (at >= 0) {
            dual[k] = s->root_row_dual[k];
            w->dual_next[k] = w->dual_head[at];
            w->dual_head[at] = k;
        }
        w->row_slot[k] = -1;
        bool satisfied = row->implied;
        for (int32_t e = 0; e < row->count && !row->implied; e++) {
            if (row->terms[e].coefficient != 1 || row->need != 1) return false;
            satisfied |= s->fixed_low[row->terms[e].column];
        }
        for (int32_t e = 0; e < row->count && !satisfied; e++) {
            int32_t i = row->terms[e].column;
            if (!sweep_is_free(w, i)) continue;
            w->row_left[k]++;
            w->row_of[term] = k;
            w->row_next[term] = w->row_head[i];
            w->row_head[i] = term++;
        }
        if (!satisfied && w->row_left[k] == 0) return false;
    }
    certify(&w->cert, m, s->root_section_dual, dual, s->fixed_low, s->fixed_high);
    return true;
}

/* Keeps the `width` labels of least bound. */
static void sweep_truncate(struct sweep *w)
{
    size_t n = w->labels.count, low = 0, high = n - 1, width = (size_t)w->width, left = 0, ties = width;
    if (n <= width) return;
    int128 *key = w->keys = mem_resize(w->keys, n * sizeof *key);
    for (size_t k = 0; k < n; k++) key[k] = w->labels.at[k].bound;
    while (low < high) { /* quickselect: afterwards key[width] is in its place */
        int128 pivot = key[low + (high - low) / 2];
        size_t a = low, b = high;
        for (;; a++, b--) {
            while (key[a] < pivot) a++;
            while (key[b] > pivot) b--;
            if (a >= b) break;
            int128 other = key[a];
            key[a] = key[b];
            key[b] = other;
        }
        if (width <= b)
            high = b;
        else
            low = b + 1;
    }
    int128 least = key[width];
    if (least < w->lost) w->lost = least;
    for (size_t k = 0; k < n; k++) ties -= w->labels.at[k].bound < least;
    for (size_t k = 0; k < n; k++) {
        const struct label *l = &w->labels.at[k];
        if (l->bound > least || (l->bound == least && ties == 0)) continue;
        ties -= l->bound == least;
        w->labels.at[left++] = *l;
    }
    w->labels.count = left;
}

/* Frees the bits of what is over at section t, and merges labels that have become equal. */
static void sweep_release(struct sweep *w, int32_t t)
{
    int32_t ended = t > 0 ? w->end_head[t - 1] : -1;
    for (int32_t i = ended; i >= 0; i = w->end_next[i])
        if (w->slot[i] >= 0) put_bit(w->stale, w->slot[i]);
    uint64_t any = 0;
    for (int32_t k = 0; k < SET_WORDS; k++) any |= w->stale[k];
    if (!any) return;
    size_t room = 64, left = 0;
    while (room < 2 * w->labels.count) room *= 2;
    w->table = mem_resize(w->table, room * sizeof *w->table);
    memset(w->table, 0, room * sizeof *w->table);
    for (size_t k = 0; k < w->labels.count; k++) {
        struct label l = w->labels.at[k];
        for (int32_t i = ended; i >= 0; i = w->end_next[i])
            if (w->slot[i] >= 0 && has_bit(l.set, w->slot[i])) l.load -= w->m->items[i].size;
        for (int32_t v = 0; v < SET_WORDS; v++) l.set[v] &= ~w->stale[v];
        size_t at = hash_words(HASH_START, l.set, sizeof l.set) & (room - 1);
        while (w->table[at] && memcmp(w->labels.at[w->table[at] - 1].set, l.set, sizeof l.set) != 0)
            at = (at + 1) & (room - 1);
        if (!w->table[at]) {
            w->labels.at[left] = l;
            w->table[at] = (int32_t)++left;
        } else if (l.bound < w->labels.at[w->table[at] - 1].bound)
            w->labels.at[w->table[at] - 1] = l;
    }
    w->labels.count = left;
    for (int32_t v = 0; v < SET_WORDS; v++) w->used[v] &= ~w->stale[v];
    memset(w->stale, 0, sizeof w->stale);
    for (int32_t i = ended; i >= 0; i = w->end_next[i]) w->slot[i] = -1;
}

/* Decides item i in all labels. False: no bit is left. */
static bool sweep_decide(struct sweep *w, int32_t i, int64_t room)
{
    const struct model_item *it = &w->m->items[i];
    bool lives = it->first <= it->last, spill_first = sweep_prefers_spill(w, i);
    int128 rise = spill_first ? -w->cert.reduced[i] : w->cert.reduced[i];
    uint64_t met[SET_WORDS] = {0}, last[SET_WORDS] = {0};
    if (!lives && w->row_head[i] < 0) return true;
    if (lives && (w->slot[i] = sweep_take_slot(w)) < 0) return false;
    for (int32_t e = w->row_head[i]; e >= 0; e = w->row_next[e]) {
        int32_t k = w->row_of[e];
        if (w->row_slot[k] < 0 && (w->row_slot[k] = sweep_take_slot(w)) < 0) return false;
        put_bit(met, w->row_slot[k]);
        if (--w->row_left[k] > 0) continue;
        put_bit(last, w->row_slot[k]);
        put_bit(w->stale, w->row_slot[k]);
    }
    w->next.count = 0;
    VEC_RESERVE(&w->next, 2 * w->labels.count);
    for (size_t k = 0; k < w->labels.count; k++)
        for (int keep = 0; keep < 2; keep++) {
            struct label l = w->labels.at[k];
            bool legal = true;
            for (int32_t v = 0; keep && v < SET_WORDS; v++) legal &= !(last[v] & ~l.set[v]);
            if (keep && lives) {
                l.load += it->size;
                put_bit(l.set, w->slot[i]);
            }
            for (int32_t v = 0; !keep && v < SET_WORDS; v++) l.set[v] |= met[v];
            if (keep == spill_first) l.bound += rise;
            if (!legal || l.load > room || l.bound > w->limit) continue;
            if (keep == spill_first) {
                VEC_PUSH(&w->trail, (struct against){l.trail, i});
                l.trail = (int32_t)w->trail.count - 1;
            }
            w->next.at[w->next.count++] = l;
        }
    w->s->budget->steps += (int64_t)w->next.count / LABELS_A_STEP + 1;
    struct label *old = w->labels.at;
    size_t old_room = w->labels.room;
    w->labels.at = w->next.at;
    w->labels.room = w->next.room;
    w->labels.count = w->next.count;
    w->next.at = old;
    w->next.room = old_room;
    if (w->labels.count > 2 * (size_t)w->width) sweep_truncate(w);
    return true;
}

/* Adds the slack of section t and of its rows. */
static void sweep_pay_slack(struct sweep *w, int32_t t)
{
    const struct model *m = w->m;
    int128 credit[SLOTS] = {0}, all = 0, dual = w->cert.section[t];
    uint64_t priced[SET_WORDS] = {0};
    for (int32_t k = w->dual_head[t]; k >= 0; k = w->dual_next[k]) {
        const struct model_row *row = &m->rows[k];
        all -= (int128)w->cert.row[k] * row->need;
        for (int32_t e = 0; e < row->count; e++) {
            int32_t i = row->terms[e].column;
            int128 part = (int128)w->cert.row[k] * row->terms[e].coefficient;
            bool free = sweep_is_free(w, i);
            if (free || w->s->fixed_low[i]) all += part;
            if (!free) continue;
            credit[w->slot[i]] += part;
            put_bit(priced, w->slot[i]);
        }
    }
    size_t left = 0;
    for (size_t k = 0; k < w->labels.count; k++) {
        struct label l = w->labels.at[k];
        if (l.load > w->room[t]) continue; /* kept items that are fixed may have begun */
        l.bound += all + dual * (w->room[t] - l.load);
        for (int32_t v = 0; v < SET_WORDS; v++)
            for (uint64_t set = l.set[v] & priced[v]; set; set &= set - 1)
                l.bound -= credit[64 * v + __builtin_ctzll(set)];
        if (l.bound <= w->limit) w->labels.at[left++] = l;
    }
    w->labels.count = left;
    sweep_truncate(w);
}

/* One sweep. Returns what is proved, -1: the sets are too large. `*value`: of the choice found, which becomes
 * the point; INT64_MAX: none is below the best. */
static int64_t sweep_run(struct search *s, int32_t width, int64_t *value)
{
    const struct model *m = s->m;
    struct sweep w = {.s = s, .m = m, .width = width};
    int64_t proved = -1;
    bool ok = sweep_open(&w, s);
    w.limit = (s->best - m->base - m->cost_step) * w.cert.scale;
    w.lost = w.limit + 1;
    VEC_PUSH(&w.labels, (struct label){.bound = w.cert.value, .trail = -1});
    for (int32_t t = 0, i = 0; ok && t <= m->section_count; t++) {
        if (t > 0) sweep_release(&w, t);
        for (; ok && i < m->item_count && m->items[i].first == t; i++)
            if (sweep_is_free(&w, i))
                ok = !budget_spent(s->budget) && w.trail.count < MOST_TRAIL &&
                     sweep_decide(&w, i, t < m->section_count ? w.room[t] : INT64_MAX);
        if (ok && t < m->section_count) sweep_pay_slack(&w, t);
    }
    const struct label *best = NULL;
    for (size_t k = 0; ok && k < w.labels.count; k++)
        if (!best || w.labels.at[k].bound < best->bound) best = &w.labels.at[k];
    *value = INT64_MAX;
    if (best) {
        for (int32_t i = 0; i < m->item_count; i++)
            s->point[i] = sweep_is_free(&w, i) ? sweep_prefers_spill(&w, i) : s->fixed_low[i];
        for (int32_t e = best->trail; e >= 0; e = w.trail.at[e].before)
            s->point[w.trail.at[e].item] = !s->point[w.trail.at[e].item];
        w.cert.value = best->bound;
        *value = certified_bound(&w.cert, m);
        if (best->bound < w.lost) w.lost = best->bound;
    }
    w.cert.value = w.lost;
    if (ok) proved = certified_bound(&w.cert, m);
    VEC_FREE(&w.labels);
    VEC_FREE(&w.next);
    VEC_FREE(&w.trail);
    mem_free(w.keys);
    mem_free(w.table);
    mem_free(w.cert.row);
    arena_free(&w.memory);
    return proved;
}

void search_sweep(struct search *s, int64_t steps)
{
    int64_t end = s->budget->steps + min_i64(steps, s->budget->limit);
    if (s->m->linked || s->m->edge_count > 0) return;
    if (s->nodes.count == 1) { /* the root's rows first */
        s->holds_leaves = s->stays_at_root = true;
        search_continue(s, steps, INT32_MAX);
        s->holds_leaves = s->stays_at_root = false;
    }
    if (s->root_scale == 0) return;
    int64_t bound = search_bound(s), last = 0;
    for (int32_t width = FIRST_WIDTH; search_bound(s) < s->best && s->budget->steps < end;) {
        int64_t value, proved = sweep_run(s, width, &value), aim = min_i64(value, s->best);
        LOG(exact, "sweep of width %d: %" PRId64 ", proved %" PRId64 " of %" PRId64 ", %" PRId64 " steps",
            (int)width, value, proved, s->best, s->budget->steps);
        /* Labels that part too late: branching gets further. */
        bool hopeless = value > s->best && (proved < bound || proved - last < (aim - proved) / LEAST_GAIN);
        if (proved < 0) return;
        for (size_t k = 0; k < s->open.count + s->leaves.count; k++) {
            bool open = k < s->open.count;
            int32_t node = open ? s->open.at[k] : s->leaves.at[k - s->open.count];
            s->nodes.at[node].bound = max_i64(s->nodes.at[node].bound, proved);
        }
        if (value < s->best) search_try_point(s);
        if (proved >= s->best || hopeless) return;
        if (proved >= value) continue;
        if (width == MOST_WIDTH && value == INT64_MAX) return;
        last = proved;
        width = 2 * width < MOST_WIDTH ? 2 * width : MOST_WIDTH;
    }
}
