/* The beam: candidates wait in a list; their nodes and numbers are in pools beside it. When the list is full,
 * and at the end of a step, candidates with equal rows are merged, the rest is sorted and cut to the
 * width. */
#include "network/beam.h"

enum { SLOT_OPEN = 1, SLOT_CHANGED = 2, DOMINATORS = 8, MOST_WAYS = 1 << 21 };
enum { SHORT_RUN = 12, MANY = 512, DIGITS = 1 << 10 }; /* for sorting */

/* --- Sorting: keys mostly come in sorted runs. --- */

struct sorting {
    beam_key_before before;
    const void *context;
    struct beam_key *room;
};

static bool key_before(const struct sorting *s, const struct beam_key *a, const struct beam_key *b)
{
    if (a->rank != b->rank) return a->rank < b->rank;
    if (a->tie != b->tie) return a->tie < b->tie;
    return s->before(s->context, a->at, b->at);
}

static void key_merge_sort(const struct sorting *s, struct beam_key *keys, size_t count)
{
    for (size_t from = 0; from < count; from += SHORT_RUN)
        for (size_t i = from + 1; i < count && i < from + SHORT_RUN; i++) {
            struct beam_key moving = keys[i];
            size_t k = i;
            for (; k > from && key_before(s, &moving, &keys[k - 1]); k--) keys[k] = keys[k - 1];
            keys[k] = moving;
        }
    for (size_t run = SHORT_RUN; run < count; run *= 2)
        for (size_t i = 0; i + run < count; i += 2 * run) {
            struct beam_key *both = &keys[i];
            size_t end = count - i < 2 * run ? count - i : 2 * run, x = 0, y = run, to = 0;
            if (!key_before(s, &both[run], &both[run - 1])) continue;
            memcpy(s->room, both, run * sizeof *both);
            while (x < run && y < end)
                both[to++] = key_before(s, &both[y], &s->room[x]) ? both[y++] : s->room[x++];
            memcpy(&both[to], &s->room[x], (run - x) * sizeof *both);
        }
}

static size_t key_digit(const struct beam_key *k, int64_t least, int shift)
{
    return (size_t)(((uint64_t)k->rank - (uint64_t)least) >> shift);
}

/* Many keys are first distributed by the leading digit of their ranks. */
void beam_sort(struct beam_key *keys, size_t count, struct beam_key *room, beam_key_before before,
               const void *context)
{
    const struct sorting s = {before, context, room};
    size_t at[DIGITS], begin = 0;
    if (count < MANY) {
        key_merge_sort(&s, keys, count);
        return;
    }
    int64_t least = keys[0].rank, most = least;
    int shift = 0;
    for (size_t i = 1; i < count; i++) {
        least = min_i64(least, keys[i].rank);
        most = max_i64(most, keys[i].rank);
    }
    while (((uint64_t)most - (uint64_t)least) >> shift >= DIGITS) shift++;
    memset(at, 0, sizeof at);
    for (size_t i = 0; i < count; i++) at[key_digit(&keys[i], least, shift)]++;
    for (size_t d = 1; d < DIGITS; d++) at[d] += at[d - 1]; /* end of each digit */
    memcpy(room, keys, count * sizeof *room);
    for (size_t i = count; i-- > 0;) keys[--at[key_digit(&room[i], least, shift)]] = room[i];
    for (size_t d = 0; d < DIGITS; d++) { /* `at` now has the start of each digit */
        size_t end = d + 1 < DIGITS ? at[d + 1] : count;
        key_merge_sort(&s, &keys[begin], end - begin);
        begin = end;
    }
}

/* --- Steps. --- */

void beam_begin(struct beam *b, const struct beam_rules *rules, const void *root, const int32_t *row)
{
    size_t width = (size_t)rules->width + (size_t)rules->safe_states + 1, slots = (size_t)rules->slots;
    *b = (struct beam){.rules = *rules,
                       .width = rules->width,
                       .count = 1,
                       .limit = INT64_MAX,
                       .dropped = INT64_MAX,
                       .exact = true};
    b->nodes = arena_array(&b->memory, width, rules->node_size);
    b->next_nodes = arena_array(&b->memory, width, rules->node_size);
    b->rows = arena_array(&b->memory, width * slots, sizeof *b->rows);
    b->next_rows = arena_array(&b->memory, width * slots, sizeof *b->rows);
    b->hashes = arena_array(&b->memory, width, sizeof *b->hashes);
    b->next_hashes = arena_array(&b->memory, width, sizeof *b->hashes);
    b->open = arena_array(&b->memory, slots, sizeof *b->open);
    b->compared = arena_array(&b->memory, slots, sizeof *b->compared);
    b->slot_flags = arena_array(&b->memory, slots, sizeof *b->slot_flags);
    memcpy(b->nodes, root, rules->node_size);
    for (int32_t s = 0; row && s < rules->slots; s++) {
        b->rows[s] = row[s];
        b->hashes[0] ^= beam_mix(s, row[s]);
    }
}

void beam_end(struct beam *b)
{
    VEC_FREE(&b->found);
    VEC_FREE(&b->sorted);
    VEC_FREE(&b->keys);
    VEC_FREE(&b->found_nodes);
    VEC_FREE(&b->found_numbers);
    VEC_FREE(&b->table);
    VEC_FREE(&b->trace);
    VEC_FREE(&b->ways);
    VEC_FREE(&b->layers);
    arena_free(&b->memory);
}

void beam_step(struct beam *b, const int32_t *slots, int32_t count)
{
    b->changed = slots;
    b->changed_count = count;
    b->found.count = 0;
    b->order = 0;
    b->limit = INT64_MAX;
    (void)VEC_RESERVE(&b->found_numbers, (size_t)b->places * (size_t)count + 1);
    for (int32_t k = 0; k < count; k++) b->slot_flags[slots[k]] |= SLOT_CHANGED;
    b->compared_count = 0;
    for (int32_t k = 0; k < b->open_count; k++)
        if (!(b->slot_flags[b->open[k]] & SLOT_CHANGED)) b->compared[b->compared_count++] = b->open[k];
}

static const int32_t *beam_numbers(const struct beam *b, const struct beam_candidate *c)
{
    return &b->found_numbers.at[(size_t)c->place * (size_t)b->changed_count];
}

static const void *beam_found_node(const struct beam *b, const struct beam_candidate *c)
{
    return b->found_nodes.at + (size_t)c->place * b->rules.node_size;
}

static bool beam_goes_before(const struct beam *b, const struct beam_candidate *x,
                             const struct beam_candidate *y)
{
    if (x->rank != y->rank) return x->rank < y->rank;
    if (x->tie != y->tie) return x->tie < y->tie;
    if (b->rules.before) {
        const void *p = beam_found_node(b, x), *q = beam_found_node(b, y);
        if (b->rules.before(p, q)) return true;
        if (b->rules.before(q, p)) return false;
    }
    if (!b->rules.vary) return x->order < y->order;
    if (x->from != y->from) return x->from < y->from;
    return x->choice != y->choice ? x->choice < y->choice : x->place < y->place;
}

static bool beam_same_row(const struct beam *b, const struct beam_candidate *x,
                          const struct beam_candidate *y)
{
    if (x->hash != y->hash) return false;
    const int32_t *p = beam_numbers(b, x), *q = beam_numbers(b, y);
    for (int32_t k = 0; k < b->changed_count; k++)
        if (p[k] != q[k]) return false;
    if (x->from == y->from) return true;
    p = beam_row_of(b, x->from);
    q = beam_row_of(b, y->from);
    for (int32_t k = 0; k < b->compared_count; k++)
        if (p[b->compared[k]] != q[b->compared[k]]) return false;
    return true;
}

/* Adds the way of a merged candidate, and its other ways, to the better candidate. */
static void beam_add_ways(struct beam *b, const struct beam_candidate *worse, struct beam_candidate *better)
{
    if (b->ways.count >= MOST_WAYS) {
        b->ways_lost = true;
        return;
    }
    (void)VEC_PUSH(&b->ways, (struct beam_way){worse->rank, worse->from, worse->choice, better->ways});
    better->ways = (int32_t)b->ways.count - 1;
    if (worse->ways < 0) return;
    int32_t *end = &b->ways.at[better->ways].next;
    while (*end >= 0) end = &b->ways.at[*end].next;
    *end = worse->ways;
}

static void beam_swap(struct beam_candidate *x, struct beam_candidate *y)
{
    struct beam_candidate t = *x;
    *x = *y;
    *y = t;
}

/* Of candidates with equal rows the best stays; others move to the end of the list, where their places are
 * reused. */
static void beam_merge(struct beam *b)
{
    size_t room = 16, kept = 0;
    while (room < 2 * b->found.count) room *= 2;
    (void)VEC_RESERVE(&b->table, room);
    memset(b->table.at, 0, room * sizeof *b->table.at);
    for (size_t i = 0; i < b->found.count; i++) {
        struct beam_candidate *c = &b->found.at[i], *other = NULL;
        size_t h = (size_t)c->hash & (room - 1);
        for (; b->table.at[h]; h = (h + 1) & (room - 1)) {
            other = &b->found.at[b->table.at[h] - 1];
            if (beam_same_row(b, other, c)) break;
        }
        if (!b->table.at[h]) {
            beam_swap(&b->found.at[kept], c);
            b->table.at[h] = (uint32_t)++kept;
            continue;
        }
        if (b->rules.by_tie ? c->tie > other->tie : beam_goes_before(b, c, other)) {
            beam_swap(c, other);
            if (b->rules.first_place) other->order = c->order;
        }
        if (b->rules.all_ways) beam_add_ways(b, c, other);
    }
    b->merged |= kept < b->found.count;
    b->found.count = kept;
}

static bool beam_key_order(const void *context, uint32_t x, uint32_t y)
{
    const struct beam *b = context;
    return beam_goes_before(b, &b->found.at[x], &b->found.at[y]);
}

/* Reorders sorted into found: the first few of each kind come first, then the others. */
static void beam_diversify(struct beam *b)
{
    size_t count = b->sorted.count, room = 16, first = 0, later = 0;
    while (room < 2 * count) room *= 2;
    memset(b->table.at, 0, room * sizeof *b->table.at); /* beam_merge reserved this room or more */
    /* rank: number of states of the kind that begins there */
    for (size_t i = 0; i < count; i++) b->keys.at[i].rank = 0;
    for (size_t i = 0; i < count; i++) {
        const struct beam_node *n = beam_found_node(b, &b->sorted.at[i]), *m;
        size_t h = (size_t)n->kind & (room - 1);
        for (; b->table.at[h]; h = (h + 1) & (room - 1)) {
            m = beam_found_node(b, &b->sorted.at[b->table.at[h] - 1]);
            if (m->kind == n->kind) break;
        }
        if (!b->table.at[h]) b->table.at[h] = (uint32_t)i + 1;
        b->keys.at[i].at = ++b->keys.at[b->table.at[h] - 1].rank <= b->rules.of_a_kind;
        first += b->keys.at[i].at;
    }
    for (size_t i = 0, early = 0; i < count; i++) {
        size_t to = b->keys.at[i].at ? early++ : first + later++;
        b->found.at[to] = b->sorted.at[i];
    }
}

/* Merges and sorts `found`, best first. */
static void beam_condense(struct beam *b)
{
    if (!b->rules.histories || b->found.count > (size_t)b->width) beam_merge(b);
    size_t count = b->found.count;
    (void)VEC_RESERVE(&b->keys, 2 * count + 1);
    (void)VEC_RESERVE(&b->sorted, count + 1);
    for (size_t i = 0; i < count; i++)
        b->keys.at[i] = (struct beam_key){b->found.at[i].rank, b->found.at[i].tie, (uint32_t)i};
    beam_sort(b->keys.at, count, b->keys.at + count, beam_key_order, b);
    for (size_t i = 0; i < count; i++) b->sorted.at[i] = b->found.at[b->keys.at[i].at];
    b->sorted.count = count;
    if (b->rules.of_a_kind > 0 && b->sorted.count > (size_t)b->width)
        beam_diversify(b);
    else if (b->sorted.count > 0)
        memcpy(b->found.at, b->sorted.at, b->sorted.count * sizeof *b->sorted.at);
}

void beam_drop(struct beam *b, int64_t rank)
{
    if (rank >= b->rules.cut) return;
    b->dropped = min_i64(b->dropped, rank);
    b->exact = false;
}

/* Writes candidate c as state `at` of the next layer. */
static void beam_write_out(struct beam *b, const struct beam_candidate *c, int32_t at)
{
    size_t slots = (size_t)b->rules.slots;
    int32_t *row = &b->next_rows[(size_t)at * slots];
    const int32_t *numbers = beam_numbers(b, c);
    memcpy(row, beam_row_of(b, c->from), slots * sizeof *row);
    for (int32_t k = 0; k < b->changed_count; k++) row[b->changed[k]] = numbers[k];
    memcpy(b->next_nodes + (size_t)at * b->rules.node_size, beam_found_node(b, c), b->rules.node_size);
    b->next_hashes[at] = c->hash;
}

/* Its row is written after the last kept state. */
static bool beam_is_safe(struct beam *b, const struct beam_candidate *c)
{
    int32_t at = b->rules.width + b->rules.safe_states;
    beam_write_out(b, c, at);
    return b->rules.safe(b->rules.context, &b->next_rows[(size_t)at * (size_t)b->rules.slots]);
}

/* The list is full: drops candidates beyond the width. */
static void beam_make_room(struct beam *b)
{
    int64_t least = INT64_MAX;
    size_t kept = 0;
    int32_t safe = 0;
    beam_condense(b);
    for (size_t i = 0; i < b->found.count; i++) {
        struct beam_candidate *c = &b->found.at[i];
        bool is_safe = safe < b->rules.safe_states && beam_is_safe(b, c);
        safe += is_safe;
        if (i < (size_t)b->width || is_safe)
            beam_swap(&b->found.at[kept++], c);
        else
            least = min_i64(least, c->rank);
    }
    if (kept == b->found.count) return;
    b->found.count = kept;
    beam_drop(b, least);
    if (b->rules.of_a_kind == 0) b->limit = min_i64(b->limit, least);
}

void beam_offer(struct beam *b, int32_t from, int32_t choice, const void *node, const int32_t *numbers)
{
    const struct beam_node *n = node;
    size_t changed = (size_t)b->changed_count, size = b->rules.node_size;
    if (n->rank >= b->rules.cut) return;
    if (n->rank >= b->limit) {
        beam_drop(b, n->rank);
        return;
    }
    if (b->rules.room > 0 && b->found.count == (size_t)b->rules.room) beam_make_room(b);
    if (b->found.count == (size_t)b->places) {
        (void)VEC_RESERVE(&b->found, b->found.count + 1);
        b->found.at[b->found.count].place = b->places++;
        (void)VEC_RESERVE(&b->found_nodes, (size_t)b->places * size);
        (void)VEC_RESERVE(&b->found_numbers, (size_t)b->places * changed + 1);
    }
    struct beam_candidate *c = &b->found.at[b->found.count++];
    *c = (struct beam_candidate){n->rank, n->tie, b->hashes[from], from, choice, c->place, -1, b->order++};
    memcpy(b->found_nodes.at + (size_t)c->place * size, node, size);
    int32_t *to = &b->found_numbers.at[(size_t)c->place * changed];
    const int32_t *row = beam_row_of(b, from);
    for (size_t k = 0; k < changed; k++) {
        int32_t slot = b->changed[k];
        to[k] = numbers[k];
        if (numbers[k] != row[slot]) c->hash ^= beam_mix(slot, row[slot]) ^ beam_mix(slot, numbers[k]);
    }
}

/* Moves candidates in order into the next layer, up to the width. */
static void beam_take(struct beam *b)
{
    size_t slots = (size_t)b->rules.slots, size = b->rules.node_size;
    int32_t kept = 0, safe = 0;
    bool full = false;
    (void)VEC_PUSH(&b->layers, b->trace.count);
    for (size_t i = 0; i < b->found.count; i++) {
        const struct beam_candidate *c = &b->found.at[i];
        full |= kept == b->width;
        bool is_safe = safe < b->rules.safe_states && beam_is_safe(b, c);
        if (!full || is_safe || b->rules.dominates) beam_write_out(b, c, kept);
        bool dominated = false;
        for (int32_t k = 0; b->rules.dominates && !dominated && k < kept && k < DOMINATORS; k++)
            dominated = b->rules.dominates(
                b->rules.context, b->next_nodes + (size_t)k * size, &b->next_rows[(size_t)k * slots],
                b->next_nodes + (size_t)kept * size, &b->next_rows[(size_t)kept * slots]);
        if (dominated) continue;
        safe += is_safe;
        if (!full || is_safe) {
            (void)VEC_PUSH(&b->trace, (struct beam_origin){c->from, c->choice, c->ways});
            kept++;
            continue;
        }
        beam_drop(b, c->rank);
        if (b->rules.of_a_kind == 0 && safe == b->rules.safe_states) break;
    }
    b->count = kept;
}

void beam_settle(struct beam *b)
{
    beam_condense(b);
    beam_take(b);
    char *nodes = b->nodes;
    int32_t *rows = b->rows;
    uint64_t *hashes = b->hashes;
    b->nodes = b->next_nodes, b->next_nodes = nodes;
    b->rows = b->next_rows, b->next_rows = rows;
    b->hashes = b->next_hashes, b->next_hashes = hashes;
    /* A slot closes if all states have the same number in it. */
    size_t slots = (size_t)b->rules.slots;
    int32_t kept = 0;
    for (int32_t k = 0; k < b->changed_count; k++) {
        int32_t slot = b->changed[k];
        if (!(b->slot_flags[slot] & SLOT_OPEN)) b->open[b->open_count++] = slot;
        b->slot_flags[slot] = SLOT_OPEN;
    }
    for (int32_t k = 0; k < b->open_count; k++) {
        int32_t slot = b->open[k];
        bool differ = false;
        for (int32_t i = 1; i < b->count && !differ; i++)
            differ = b->rows[(size_t)i * slots + (size_t)slot] != b->rows[slot];
        b->slot_flags[slot] = differ ? SLOT_OPEN : 0;
        if (differ) b->open[kept++] = slot;
    }
    b->open_count = kept;
}

void beam_trace(const struct beam *b, int32_t at, int32_t *choices)
{
    for (size_t step = b->layers.count; step-- > 0;) {
        struct beam_origin o = beam_origin_of(b, step, at);
        choices[step] = o.choice;
        at = o.from;
    }
}

int32_t beam_slots(const int32_t *from, const int32_t *to, int32_t count, int32_t *slot)
{
    int32_t steps = 0, slots = 0;
    for (int32_t i = 0; i < count; i++) steps = from[i] >= steps ? from[i] + 1 : steps;
    OWNED int32_t *first = mem_zeroed((size_t)steps + 1, sizeof *first); /* per step: index in `order` */
    OWNED int32_t *order = mem_alloc((size_t)count * sizeof *order);
    OWNED int32_t *end = mem_zeroed((size_t)count, sizeof *end); /* per slot: first free step */
    for (int32_t i = 0; i < count; i++) first[from[i] + 1]++;
    for (int32_t s = 0; s < steps; s++) first[s + 1] += first[s];
    for (int32_t i = 0; i < count; i++) order[first[from[i]]++] = i;
    for (int32_t k = 0; k < count; k++) {
        int32_t s = 0, i = order[k];
        while (s < slots && end[s] > from[i]) s++;
        if (s == slots) slots++;
        end[s] = to[i];
        slot[i] = s;
    }
    return slots;
}
