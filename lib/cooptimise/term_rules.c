/* The rules of residency: checked literally, and as tables for the search. */
#include "cooptimise/term_network.h"

enum {
    MOST_COPIES = 12,          /* copies that serve one reader of one buffer */
    MOST_AGREEMENTS = 1 << 20, /* entries of one reader's table */
    MOST_ENTRIES = 1 << 16,    /* entries of a copy's table; a larger rule is checked only in answers */
};

/* --- Taken literally. --- */

ORDER(by_choices, struct lx_choice_pair, ORDER_UP(own) ORDER_UP(theirs));

static bool has_pair(const struct lx_term_reader *r, int32_t own, int32_t theirs)
{
    struct lx_choice_pair wanted = {own, theirs};
    return r->pair_count && bsearch(&wanted, r->pairs, (size_t)r->pair_count, sizeof wanted, by_choices);
}

static const struct lx_term_reader *term_rules_reader_of(const struct lx_term_buffer *b, int32_t reader)
{
    for (int32_t k = 0; k < b->reader_count; k++)
        if (b->readers[k].buffer == reader) return &b->readers[k];
    return NULL;
}

static bool served(const struct lx_term_problem *p, const int32_t *choice, const bool *on, int32_t source,
                   int32_t reader)
{
    for (int32_t c = 0; c < p->buffer_count; c++) {
        if (p->buffers[c].copy_of != source || !on[c]) continue;
        const struct lx_term_reader *r = term_rules_reader_of(&p->buffers[c], reader);
        if (r && has_pair(r, choice[source], choice[reader])) return true;
    }
    return false;
}

static bool copy_may_stay(const struct lx_term_buffer *b, const int32_t *choice, const bool *on)
{
    if (!on[b->copy_of]) return false;
    for (int32_t k = 0; k < b->reader_count; k++)
        if (has_pair(&b->readers[k], choice[b->copy_of], choice[b->readers[k].buffer])) return true;
    return false;
}

bool lx_term_may_stay(const struct lx_term_problem *p, const int32_t *choice, const bool *on, int32_t buffer)
{
    const struct lx_term_buffer *b = &p->buffers[buffer];
    if (b->barred || b->bytes[choice[buffer]] > p->capacity) return false;
    if (b->copy_of >= 0) return copy_may_stay(b, choice, on);
    for (int32_t k = 0; k < b->reader_count; k++)
        if (!has_pair(&b->readers[k], choice[buffer], choice[b->readers[k].buffer]) &&
            !served(p, choice, on, buffer, b->readers[k].buffer))
            return false;
    return true;
}

bool term_is_legal(const struct lx_term_problem *p, const int32_t *choice, const bool *on)
{
    for (int32_t i = 0; i < p->buffer_count; i++)
        if (on[i] && !lx_term_may_stay(p, choice, on, i)) return false;
    return true;
}

bool term_fits_parent(const struct lx_term_problem *p, const int32_t *choice, int32_t child, int32_t parent)
{
    const struct lx_term_reader *r = term_rules_reader_of(&p->buffers[parent], child);
    return p->buffers[parent].end == p->buffers[child].start + 1 &&
           p->buffers[child].bytes[choice[child]] == p->buffers[parent].bytes[choice[parent]] &&
           (!r || has_pair(r, choice[parent], choice[child]));
}

/* --- As tables. Classes come from a grid over the choices of two buffers: bit 0: the choices form a pair;
 * bit k: copy k serves the reader. --- */

struct grid {
    int32_t rows, columns, stride;
    uint16_t *cell;
};

/* In every cell of a value off chip. */
enum { NEEDS_NOTHING = 0xffff };

static struct grid grid_make(struct term_network *n, int32_t rows, int32_t columns)
{
    return (struct grid){rows, columns, columns,
                         arena_array(&n->net.memory, (size_t)rows * (size_t)columns, sizeof(uint16_t))};
}

static void grid_mark(struct grid *g, const struct lx_term_reader *r, int bit)
{
    for (int32_t i = 0; i < r->pair_count; i++)
        g->cell[r->pairs[i].own * g->stride + r->pairs[i].theirs] |= (uint16_t)(1U << bit);
}

/* Classes of values with equal grid rows; all values off chip are one class. `columns`: classes by equal grid
 * columns, on chip or off. */
static struct net_axis grid_axis(struct term_network *n, int32_t var, const struct grid *g, bool columns)
{
    const struct net_var *v = &n->net.vars[var];
    int32_t width = columns ? g->rows : g->columns;
    int32_t *class_of = arena_array(&n->net.memory, (size_t)v->size, sizeof *class_of);
    uint16_t *rows = arena_array(&n->net.memory, (size_t)v->size * (size_t)width, sizeof *rows);
    for (int32_t i = 0; i < v->size; i++)
        for (int32_t k = 0; k < width; k++)
            rows[i * width + k] = columns           ? g->cell[k * g->stride + n->choice[var][i]]
                                  : v->bytes[i] < 0 ? NEEDS_NOTHING
                                                    : g->cell[n->choice[var][i] * g->stride + k];
    int32_t classes = net_classes(rows, (size_t)width * sizeof *rows, v->size, class_of);
    return (struct net_axis){var, classes, class_of};
}

/* Classes: on chip and off chip; `each`: every value on chip has its own class. */
static struct net_axis bit_axis(struct term_network *n, int32_t var, bool each)
{
    const struct net_var *v = &n->net.vars[var];
    int32_t *class_of = arena_array(&n->net.memory, (size_t)v->size, sizeof *class_of),
            classes = each ? 1 : 2;
    for (int32_t i = 0; i < v->size; i++)
        if (v->bytes[i] >= 0) class_of[i] = each ? classes++ : 1;
    return (struct net_axis){var, classes, class_of};
}

/* An answer that stands for one table entry; buffers outside the table are off chip. */
struct sample {
    int32_t *choice;
    bool *on;
};

static void sample_entry(const struct term_network *n, const struct net_table *t, int64_t entry,
                         struct sample *s)
{
    for (int32_t k = t->axis_count - 1; k >= 0; entry /= t->axes[k].size, k--) {
        int32_t var = t->axes[k].var, buffer = n->buffer_of[var];
        int32_t value = 0; /* any value of the class */
        while (t->axes[k].class_of[value] != entry % t->axes[k].size) value++;
        s->choice[buffer] = n->choice[var][value];
        s->on[buffer] = n->net.vars[var].bytes[value] >= 0;
    }
}

static void sample_clear(const struct term_network *n, const struct net_table *t, struct sample *s)
{
    for (int32_t k = 0; k < t->axis_count; k++) s->on[n->buffer_of[t->axes[k].var]] = false;
}

/* Adds the rule: a buffer on chip forms a pair with the reader, or a copy on chip serves the reader. */
static bool add_agreement(struct term_network *n, struct sample *s, int32_t buffer,
                          const struct lx_term_reader *r, lx_status *st)
{
    int32_t copies[MOST_COPIES], count = 0;
    struct net_axis axes[MOST_COPIES + 2];
    for (int32_t c = 0; c < n->p->buffer_count; c++) {
        const struct lx_term_buffer *b = &n->p->buffers[c];
        if (b->copy_of != buffer || !n->net.vars[n->var_of[c]].may_be_on ||
            !term_rules_reader_of(b, r->buffer))
            continue;
        if (count == MOST_COPIES)
            return status_set(st, LX_E_LIMIT, "buffer %s: more than %d copies serve one reader",
                              n->p->buffers[buffer].name, (int)MOST_COPIES);
        copies[count++] = c;
    }
    struct grid g = grid_make(n, n->p->buffers[buffer].choice_count, n->p->buffers[r->buffer].choice_count);
    grid_mark(&g, r, 0);
    for (int32_t k = 0; k < count; k++)
        grid_mark(&g, term_rules_reader_of(&n->p->buffers[copies[k]], r->buffer), k + 1);
    axes[0] = grid_axis(n, n->var_of[buffer], &g, false);
    axes[1] = grid_axis(n, n->var_of[r->buffer], &g, true);
    for (int32_t k = 0; k < count; k++) axes[k + 2] = bit_axis(n, n->var_of[copies[k]], false);
    if ((int64_t)axes[0].size * axes[1].size << count > MOST_AGREEMENTS)
        return status_set(st, LX_E_LIMIT, "buffer %s: too many cuts and copies between it and its reader %s",
                          n->p->buffers[buffer].name, n->p->buffers[r->buffer].name);
    struct net_table table = net_table_make(&n->net.memory, axes, count + 2);
    for (int64_t e = 0; e < table.count; e++) {
        sample_entry(n, &table, e, s);
        if (s->on[buffer] && !has_pair(r, s->choice[buffer], s->choice[r->buffer]) &&
            !served(n->p, s->choice, s->on, buffer, r->buffer))
            table.values[e] = NETWORK_NEVER;
    }
    sample_clear(n, &table, s);
    (void)VEC_PUSH(&n->net.tables, table);
    return true;
}

/* Adds the rule: a copy on chip has its source on chip and serves some reader. If the table would be too
 * large, only the first half. */
static void term_rules_add_copy(struct term_network *n, struct sample *s, int32_t copy)
{
    const struct lx_term_buffer *b = &n->p->buffers[copy];
    struct net_axis *axes = arena_array(&n->net.memory, (size_t)b->reader_count + 2, sizeof *axes);
    int64_t entries = 1;
    axes[0] = bit_axis(n, n->var_of[copy], false);
    /* A grid of the source's choices against the choices of all readers that the copy serves, side by
     * side. */
    int32_t columns = 0, first = 0;
    for (int32_t k = 0; k < b->reader_count; k++) columns += n->p->buffers[b->readers[k].buffer].choice_count;
    struct grid g = grid_make(n, n->p->buffers[b->copy_of].choice_count, columns);
    for (int32_t k = 0; k < b->reader_count; k++) {
        int32_t reader = b->readers[k].buffer, choices = n->p->buffers[reader].choice_count;
        struct grid part = {g.rows, choices, g.stride, g.cell + first};
        grid_mark(&part, &b->readers[k], 0);
        axes[k + 2] = grid_axis(n, n->var_of[reader], &part, true);
        first += choices;
    }
    axes[1] = grid_axis(n, n->var_of[b->copy_of], &g, false);
    for (int32_t k = 0; k < b->reader_count + 2; k++)
        entries = min_i64(entries * axes[k].size, MOST_ENTRIES + 1);
    bool whole = entries <= MOST_ENTRIES;
    struct net_table table = net_table_make(&n->net.memory, axes, whole ? b->reader_count + 2 : 2);
    for (int64_t e = 0; e < table.count; e++) {
        sample_entry(n, &table, e, s);
        if (s->on[copy] && !(whole ? copy_may_stay(b, s->choice, s->on) : s->on[b->copy_of]))
            table.values[e] = NETWORK_NEVER;
    }
    sample_clear(n, &table, s);
    (void)VEC_PUSH(&n->net.tables, table);
}

/* Merges classes of axis k with equal entries. The table has two axes. */
static void fold_axis(struct term_network *n, struct net_table *t, int32_t k)
{
    int32_t size = t->axes[k].size, other = t->axes[1 - k].size, values = n->net.vars[t->axes[k].var].size;
    int64_t *rows = arena_array(&n->net.memory, (size_t)size * (size_t)other, sizeof *rows);
    int32_t *joined = arena_array(&n->net.memory, (size_t)size, sizeof *joined);
    int32_t *class_of = arena_array(&n->net.memory, (size_t)values, sizeof *class_of);
    for (int32_t i = 0; i < size; i++)
        for (int32_t o = 0; o < other; o++)
            rows[i * other + o] = t->values[k == 0 ? i * other + o : o * size + i];
    int32_t classes = net_classes(rows, (size_t)other * sizeof *rows, size, joined);
    for (int32_t i = 0; i < size; i++)
        for (int32_t o = 0; o < other; o++)
            t->values[k == 0 ? joined[i] * other + o : o * classes + joined[i]] = rows[i * other + o];
    for (int32_t i = 0; i < values; i++) class_of[i] = joined[t->axes[k].class_of[i]];
    t->axes[k] = (struct net_axis){t->axes[k].var, classes, class_of};
    t->count = (int64_t)classes * other;
}

/* Each value of parent and child on chip is its own class at first; fold_axis then merges equal ones. */
static void add_handover(struct term_network *n, struct sample *s, int32_t child, int32_t parent)
{
    struct net_handover h = {.parent = n->var_of[parent], .child = n->var_of[child]};
    if (!n->net.vars[h.parent].may_be_on || !n->net.vars[h.child].may_be_on) return;
    const struct net_axis axes[2] = {bit_axis(n, h.parent, true), bit_axis(n, h.child, true)};
    h.fits = net_table_make(&n->net.memory, axes, 2);
    for (int64_t e = 0; e < h.fits.count; e++) {
        sample_entry(n, &h.fits, e, s);
        h.fits.values[e] = s->on[child] && s->on[parent] && term_fits_parent(n->p, s->choice, child, parent);
    }
    sample_clear(n, &h.fits, s);
    fold_axis(n, &h.fits, 0);
    fold_axis(n, &h.fits, 1);
    (void)VEC_PUSH(&n->net.handovers, h);
}

bool term_rules_add(struct term_network *n, lx_status *st)
{
    const struct lx_term_problem *p = n->p;
    struct sample s = {arena_array(&n->net.memory, (size_t)p->buffer_count, sizeof *s.choice),
                       arena_array(&n->net.memory, (size_t)p->buffer_count, sizeof *s.on)};
    for (int32_t i = 0; i < p->buffer_count; i++) {
        const struct lx_term_buffer *b = &p->buffers[i];
        bool may = n->net.vars[n->var_of[i]].may_be_on;
        if (may && b->copy_of >= 0) term_rules_add_copy(n, &s, i);
        for (int32_t k = 0; may && b->copy_of < 0 && k < b->reader_count; k++)
            if (!add_agreement(n, &s, i, &b->readers[k], st)) return false;
        for (int32_t k = 0; k < b->parent_count; k++) add_handover(n, &s, i, b->parents[k]);
    }
    return true;
}
