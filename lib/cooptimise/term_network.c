/* Makes the network: the order of the variables, their values, and the terms as tables. */
#include "cooptimise/term_network.h"

enum {
    MOST_CHOICES = 1 << 10, /* of a buffer */
    COST_BITS = 50,         /* bits of the sum of all costs; leaves headroom for shifted sums */
    MOST_SHIFT = 200,
};

/* --- Variables. --- */

struct rank {
    int64_t start;
    int32_t is_no_copy, takes, buffer;
};

ORDER(by_rank, struct rank, ORDER_UP(start) ORDER_UP(is_no_copy) ORDER_UP(takes) ORDER_UP(buffer));

static void fill_var(struct term_network *n, int32_t buffer, int32_t var)
{
    const struct lx_term_buffer *b = &n->p->buffers[buffer];
    struct net_var *v = &n->net.vars[var];
    size_t most = (size_t)b->choice_count * 2;
    *v = (struct net_var){.start = b->start, .end = b->end};
    v->bytes = arena_array(&n->net.memory, most, sizeof *v->bytes);
    n->choice[var] = arena_array(&n->net.memory, most, sizeof **n->choice);
    n->var_of[buffer] = var;
    n->buffer_of[var] = buffer;
    for (int32_t c = 0; c < b->choice_count; c++) {
        n->choice[var][v->size] = c;
        v->bytes[v->size++] = -1;
    }
    for (int32_t c = 0; c < b->choice_count && !b->barred; c++) {
        if (b->bytes[c] > n->p->capacity) continue;
        n->choice[var][v->size] = c;
        v->bytes[v->size++] = round_up_i64(b->bytes[c], n->p->alignment);
    }
    v->may_be_on = v->size > b->choice_count;
}

static bool make_vars(struct term_network *n, lx_status *st)
{
    const struct lx_term_problem *p = n->p;
    struct arena *memory = &n->net.memory;
    size_t count = (size_t)p->buffer_count;
    struct rank *ranks = arena_array(memory, count, sizeof *ranks);
    n->net.vars = arena_array(memory, count, sizeof *n->net.vars);
    n->var_of = arena_array(memory, count, sizeof *n->var_of);
    n->buffer_of = arena_array(memory, count, sizeof *n->buffer_of);
    n->choice = arena_array(memory, count, sizeof *n->choice);
    n->net.count = p->buffer_count;
    for (int32_t i = 0; i < p->buffer_count; i++) {
        if (p->buffers[i].choice_count > MOST_CHOICES)
            return status_set(st, LX_E_LIMIT,
                              "buffer %s: a menu of %d choices; under terms it may have %d at most",
                              p->buffers[i].name, (int)p->buffers[i].choice_count, (int)MOST_CHOICES);
        /* A copy comes before its readers, so its value is known when theirs are chosen. */
        ranks[i] =
            (struct rank){p->buffers[i].start, p->buffers[i].copy_of<0, p->buffers[i].parent_count> 0, i};
    }
    if (count) qsort(ranks, count, sizeof *ranks, by_rank);
    for (int32_t v = 0; v < p->buffer_count; v++) fill_var(n, ranks[v].buffer, v);
    return true;
}

/* --- Costs. --- */

/* Chooses the most fraction bits that keep the sum below 2^COST_BITS; none if all values are whole. */
static void choose_shift(struct term_network *n)
{
    double sum = 1;
    bool whole = true;
    int bits;
    for (int32_t i = 0; i < n->p->term_count; i++) {
        const struct lx_term *t = &n->p->terms[i];
        double most = 0;
        int64_t entries = 1;
        for (int32_t k = 0; k < t->axis_count; k++) entries *= t->axes[k].size;
        for (int64_t k = 0; k < entries; k++) {
            most = fmax(most, fabs(t->values[k]));
            whole = whole && t->values[k] == floor(t->values[k]);
        }
        sum += most;
    }
    frexp(sum, &bits);
    n->shift = whole && bits <= COST_BITS ? 0 : COST_BITS - bits;
    if (n->shift > MOST_SHIFT) n->shift = MOST_SHIFT;
}

/* Joins the axes of a term that belong to one buffer into one axis; shares[class] is its part of the position
 * in the term's table. */
static struct net_axis join_axes(struct term_network *n, const struct lx_term *t, int32_t var,
                                 int64_t **shares)
{
    const struct net_var *v = &n->net.vars[var];
    int32_t *class_of = arena_array(&n->net.memory, (size_t)v->size, sizeof *class_of);
    int64_t *share = arena_array(&n->net.memory, (size_t)v->size, sizeof *share), stride = 1;
    *shares = arena_array(&n->net.memory, (size_t)v->size, sizeof **shares);
    for (int32_t k = t->axis_count - 1; k >= 0; stride *= t->axes[k].size, k--)
        for (int32_t i = 0; i < v->size && n->var_of[t->axes[k].buffer] == var; i++)
            share[i] +=
                stride * (t->axes[k].is_bit ? v->bytes[i] >= 0 : t->axes[k].class_of[n->choice[var][i]]);
    int32_t classes = net_classes(share, sizeof *share, v->size, class_of);
    for (int32_t i = 0; i < v->size; i++) (*shares)[class_of[i]] = share[i];
    return (struct net_axis){var, classes, class_of};
}

static void add_term(struct term_network *n, const struct lx_term *t)
{
    struct arena *memory = &n->net.memory;
    struct net_axis *axes = arena_array(memory, (size_t)t->axis_count, sizeof *axes);
    int64_t **shares = arena_array(memory, (size_t)n->net.count, sizeof *shares);
    int32_t count = 0;
    for (int32_t k = 0; k < t->axis_count; k++) {
        int32_t var = n->var_of[t->axes[k].buffer];
        if (!shares[var]) axes[count++] = join_axes(n, t, var, &shares[var]);
    }
    struct net_table table = net_table_make(memory, axes, count);
    for (int64_t entry = 0; entry < table.count; entry++) {
        int64_t from = 0, rest = entry;
        for (int32_t k = count - 1; k >= 0; rest /= table.axes[k].size, k--)
            from += shares[table.axes[k].var][rest % table.axes[k].size];
        table.values[entry] = (int64_t)llround(ldexp(t->values[from], n->shift));
    }
    if (count)
        (void)VEC_PUSH(&n->net.tables, table);
    else
        n->net.base += table.values[0];
}

bool term_network_make(struct term_network *n, const struct lx_term_problem *p, lx_status *st)
{
    *n = (struct term_network){.p = p, .net.room = round_up_i64(p->capacity, p->alignment)};
    if (!make_vars(n, st)) return false;
    choose_shift(n);
    for (int32_t i = 0; i < p->term_count; i++) add_term(n, &p->terms[i]);
    return term_rules_add(n, st);
}
