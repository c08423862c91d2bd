/* Makes the network: the order of the variables, their values, and the terms as tables. */
#include "cooptimise/term_network.h"
#include "base/checked.h"
#include "base/fail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_CHOICES = 1 << 10, /* on a menu */
    COST_BITS = 50,         /* of all costs together: sums of shifted ones have room above */
    MOST_SHIFT = 200,
};

int32_t term_classes(const void *rows, size_t width, int32_t count, int32_t *class_of)
{
    const unsigned char *row = rows;
    int32_t found = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t like = 0;
        while (like < i && memcmp(row + (size_t)like * width, row + (size_t)i * width, width) != 0) like++;
        class_of[i] = like < i ? class_of[like] : found++;
    }
    return found;
}

bool term_table_make(struct arena *memory, const struct term_axis *axes, int32_t count,
                     struct term_table *out)
{
    *out = (struct term_table){.axis_count = count, .last = -1, .count = 1};
    out->axes = arena_array(memory, (size_t)count, sizeof *out->axes);
    for (int32_t k = 0; out->axes && k < count; k++) {
        int32_t at = k;
        for (; at > 0 && out->axes[at - 1].var > axes[k].var; at--) out->axes[at] = out->axes[at - 1];
        out->axes[at] = axes[k];
        out->count *= axes[k].size;
    }
    if (count && out->axes) out->last = out->axes[count - 1].var;
    out->values = out->axes ? arena_array(memory, (size_t)out->count, sizeof *out->values) : NULL;
    return out->values;
}

int64_t term_table_at(const struct term_table *t, const int32_t *value)
{
    int64_t at = 0;
    for (int32_t k = 0; k < t->axis_count; k++)
        at = at * t->axes[k].size + t->axes[k].class_of[value[t->axes[k].var]];
    return t->values[at];
}

/* --- Variables. --- */

struct rank {
    int64_t start;
    int32_t is_no_copy, takes, buffer;
};

static int term_network_compare_ranks(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->is_no_copy != y->is_no_copy) return x->is_no_copy - y->is_no_copy;
    if (x->takes != y->takes) return x->takes - y->takes;
    return x->buffer - y->buffer;
}

/* A copy is decided before those whom it serves: then they know whether they may rely on it. */
static struct rank term_network_rank_of(const struct lx_term_problem *p, int32_t i)
{
    const struct lx_term_buffer *b = &p->buffers[i];
    return (struct rank){b->start, b->copy_of<0, b->parent_count> 0, i};
}

static bool fill_var(struct term_network *n, int32_t buffer, struct term_var *v)
{
    const struct lx_term_buffer *b = &n->p->buffers[buffer];
    int64_t unit = n->p->alignment;
    *v = (struct term_var){.buffer = buffer, .start = b->start, .end = b->end};
    v->choice = arena_array(&n->memory, (size_t)b->choice_count * 2, sizeof *v->choice);
    v->bytes = arena_array(&n->memory, (size_t)b->choice_count * 2, sizeof *v->bytes);
    if (!v->choice || !v->bytes) return false;
    for (int32_t c = 0; c < b->choice_count; c++, v->size++) {
        v->choice[v->size] = c;
        v->bytes[v->size] = -1;
    }
    for (int32_t c = 0; c < b->choice_count && !b->barred; c++) {
        if (b->bytes[c] > n->p->capacity) continue;
        v->choice[v->size] = c;
        v->bytes[v->size++] = round_up_i64(b->bytes[c], unit);
    }
    v->may_be_on = v->size > b->choice_count;
    return true;
}

static bool term_network_make_vars(struct term_network *n, lx_status *st)
{
    const struct lx_term_problem *p = n->p;
    struct rank *ranks = arena_array(&n->memory, (size_t)p->buffer_count, sizeof *ranks);
    n->vars = arena_array(&n->memory, (size_t)p->buffer_count, sizeof *n->vars);
    n->var_of = arena_array(&n->memory, (size_t)p->buffer_count, sizeof *n->var_of);
    if (!ranks || !n->vars || !n->var_of) return status_no_memory(st);
    for (int32_t i = 0; i < p->buffer_count; i++) {
        if (p->buffers[i].choice_count > MOST_CHOICES)
            return status_set(st, LX_E_LIMIT,
                              "buffer %s: a menu of %d choices; under terms it may have %d at most",
                              p->buffers[i].name, (int)p->buffers[i].choice_count, (int)MOST_CHOICES);
        ranks[i] = term_network_rank_of(p, i);
    }
    if (p->buffer_count) qsort(ranks, (size_t)p->buffer_count, sizeof *ranks, term_network_compare_ranks);
    for (int32_t v = 0; v < p->buffer_count; v++) {
        n->var_of[ranks[v].buffer] = v;
        if (!fill_var(n, ranks[v].buffer, &n->vars[v])) return status_no_memory(st);
    }
    n->count = p->buffer_count;
    return true;
}

/* --- Costs. --- */

static int64_t entries_of(const struct lx_term *t)
{
    int64_t entries = 1;
    for (int32_t k = 0; k < t->axis_count; k++) entries *= t->axes[k].size;
    return entries;
}

/* As many bits behind the point as leave the sum below 2^COST_BITS; none where all are whole. */
static void choose_shift(struct term_network *n)
{
    double sum = 1;
    bool whole = true;
    int bits;
    for (int32_t i = 0; i < n->p->term_count; i++) {
        const struct lx_term *t = &n->p->terms[i];
        double most = 0;
        for (int64_t k = entries_of(t) - 1; k >= 0; k--) {
            most = fmax(most, fabs(t->values[k]));
            whole = whole && t->values[k] == floor(t->values[k]);
        }
        sum += most;
    }
    frexp(sum, &bits);
    n->shift = whole && bits <= COST_BITS ? 0 : COST_BITS - bits;
    if (n->shift > MOST_SHIFT) n->shift = MOST_SHIFT;
}

/* The axes of one term that belong to one buffer become one axis; a value's share of the position in the term's table tells
 * its class. */
static bool join_axes(struct term_network *n, const struct lx_term *t, int32_t var, struct term_axis *out,
                      int64_t **shares)
{
    const struct term_var *v = &n->vars[var];
    int32_t *class_of = arena_array(&n->memory, (size_t)v->size, sizeof *class_of);
    int64_t *share = arena_array(&n->memory, (size_t)v->size, sizeof *share), stride = 1;
    *shares = arena_array(&n->memory, (size_t)v->size, sizeof **shares);
    if (!class_of || !share || !*shares) return false;
    for (int32_t k = t->axis_count - 1; k >= 0; stride *= t->axes[k].size, k--)
        for (int32_t i = 0; i < v->size && n->var_of[t->axes[k].buffer] == var; i++)
            share[i] += stride * (t->axes[k].is_bit ? v->bytes[i] >= 0 : t->axes[k].class_of[v->choice[i]]);
    *out = (struct term_axis){var, term_classes(share, sizeof *share, v->size, class_of), class_of};
    for (int32_t i = 0; i < v->size; i++) (*shares)[class_of[i]] = share[i];
    return true;
}

/* Walks over all entries of a table, the last axis fastest. */
static bool next_entry(const struct term_table *t, int32_t *at)
{
    int32_t k = t->axis_count - 1;
    while (k >= 0 && ++at[k] == t->axes[k].size) at[k--] = 0;
    return k >= 0;
}

static bool term_network_add_term(struct term_network *n, const struct lx_term *t)
{
    struct term_axis *axes = arena_array(&n->memory, (size_t)t->axis_count, sizeof *axes);
    int64_t **shares = arena_array(&n->memory, (size_t)n->count, sizeof *shares), entry = 0;
    int32_t *at = arena_array(&n->memory, (size_t)t->axis_count, sizeof *at), count = 0;
    struct term_table table;
    if (!axes || !shares || !at) return false;
    for (int32_t k = 0; k < t->axis_count; k++) {
        int32_t var = n->var_of[t->axes[k].buffer];
        if (!shares[var] && !join_axes(n, t, var, &axes[count++], &shares[var])) return false;
    }
    if (!term_table_make(&n->memory, axes, count, &table)) return false;
    do {
        int64_t from = 0;
        for (int32_t k = 0; k < count; k++) from += shares[table.axes[k].var][at[k]];
        table.values[entry++] = (int64_t)llround(ldexp(t->values[from], n->shift));
    } while (next_entry(&table, at));
    if (count) return VEC_PUSH(&n->tables, table);
    n->base += table.values[0];
    return true;
}

bool term_network_make(struct term_network *n, const struct lx_term_problem *p, lx_status *st)
{
    *n = (struct term_network){.p = p, .room = round_up_i64(p->capacity, p->alignment)};
    if (!term_network_make_vars(n, st)) return false;
    choose_shift(n);
    for (int32_t i = 0; i < p->term_count; i++)
        if (!term_network_add_term(n, &p->terms[i])) return status_no_memory(st);
    return term_rules_add(n, st);
}

void term_network_free(struct term_network *n)
{
    VEC_FREE(&n->tables);
    VEC_FREE(&n->handovers);
    arena_free(&n->memory);
}
