/* Mini-buckets (Dechter, Rish 2003): variables are eliminated from the last to the first. All tables whose last variable it
 * is go into its bucket; their sum, minimised over the variable, is a message over the others. Where that would be too large
 * the bucket is taken apart, and each part minimises for itself, which can only be less. So that the parts pull at one
 * rope, each gets the same share of what the variable's values cost in all of them. */
#include "cooptimise/term_bound.h"
#include "base/checked.h"
#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

/* One axis of a bucket: all classes that some table of it tells apart. */
struct joint_axis {
    struct term_axis axis;
    int32_t *member; /* a value of each class */
};

/* A part of a bucket: tables that are added up. */
struct part {
    VEC(const struct term_table *) tables;
    struct joint_axis *axes; /* variables rising; the last is the bucket's own */
    int32_t axis_count;
    int64_t entries;
    int64_t *shift; /* per value of the bucket's variable; NULL: none */
};

struct elimination {
    const struct term_network *n;
    struct term_bound *b;
    struct arena scratch; /* of one bucket */
    int64_t limit, *steps;
};

/* --- Axes. --- */

static bool term_bound_refine(struct elimination *e, struct joint_axis *a, const struct term_axis *with)
{
    int32_t values = e->n->vars[a->axis.var].size, found = 0;
    int32_t *class_of = arena_array(&e->scratch, (size_t)values, sizeof *class_of);
    int32_t *seen = arena_array(&e->scratch, (size_t)a->axis.size * (size_t)with->size, sizeof *seen);
    if (!class_of || !seen) return false;
    for (int32_t v = 0; v < values; v++) {
        int32_t *at = &seen[a->axis.class_of[v] * with->size + with->class_of[v]];
        if (!*at) *at = ++found;
        class_of[v] = *at - 1;
    }
    a->axis.class_of = class_of;
    a->axis.size = found;
    return true;
}

/* The axes of a part with those of one table more. */
static bool term_bound_joined(struct elimination *e, const struct part *p, const struct term_table *t,
                              struct joint_axis **axes, int32_t *count, int64_t *entries)
{
    int32_t i = 0, k = 0;
    *axes = arena_array(&e->scratch, (size_t)(p->axis_count + t->axis_count), sizeof **axes);
    if (!*axes) return false;
    *count = 0;
    *entries = 1;
    while (i < p->axis_count || k < t->axis_count) {
        struct joint_axis *to = &(*axes)[(*count)++];
        bool own = i < p->axis_count && (k == t->axis_count || p->axes[i].axis.var <= t->axes[k].var);
        bool both = own && k < t->axis_count && p->axes[i].axis.var == t->axes[k].var;
        *to = own ? p->axes[i] : (struct joint_axis){t->axes[k], NULL};
        if (both && !term_bound_refine(e, to, &t->axes[k])) return false;
        i += own;
        k += both || !own;
        *entries = min_i64(*entries * to->axis.size, INT64_MAX >> 20);
    }
    return true;
}

static bool find_members(struct elimination *e, struct part *p)
{
    for (int32_t k = 0; k < p->axis_count; k++) {
        struct joint_axis *a = &p->axes[k];
        a->member = arena_array(&e->scratch, (size_t)a->axis.size, sizeof *a->member);
        if (!a->member) return false;
        for (int32_t v = e->n->vars[a->axis.var].size - 1; v >= 0; v--) a->member[a->axis.class_of[v]] = v;
    }
    return true;
}

/* --- Buckets and their parts. --- */

static int larger_first(const void *a, const void *b)
{
    const struct term_table *x = *(const struct term_table *const *)a,
                            *y = *(const struct term_table *const *)b;
    if (x->axis_count != y->axis_count) return y->axis_count - x->axis_count;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return x < y ? -1 : x > y; /* both are in one array, in the order of adding */
}

typedef VEC(const struct term_table *) table_list;
typedef VEC(struct part) part_list;

static bool find_tables(const struct elimination *e, int32_t var, table_list *found)
{
    for (size_t i = 0; i < e->n->tables.count; i++)
        if (e->n->tables.at[i].last == var && !VEC_PUSH(found, &e->n->tables.at[i])) return false;
    if (found->count) qsort(found->at, found->count, sizeof *found->at, larger_first);
    size_t own = found->count;
    for (size_t i = 0; i < e->b->messages.count; i++)
        if (e->b->messages.at[i].table.last == var && !VEC_PUSH(found, &e->b->messages.at[i].table))
            return false;
    if (found->count > own) qsort(found->at + own, found->count - own, sizeof *found->at, larger_first);
    return true;
}

static bool throw_in(struct elimination *e, part_list *parts, const struct term_table *t)
{
    for (size_t i = 0; i <= parts->count; i++) {
        struct joint_axis *axes;
        int32_t count;
        int64_t entries;
        if (i == parts->count && !VEC_PUSH(parts, (struct part){.entries = 1})) return false;
        struct part *p = &parts->at[i];
        if (!term_bound_joined(e, p, t, &axes, &count, &entries)) return false;
        if (p->tables.count && entries > max_i64(e->limit, max_i64(p->entries, t->count))) continue;
        p->axes = axes;
        p->axis_count = count;
        p->entries = entries;
        return VEC_PUSH(&p->tables, t);
    }
    return true;
}

/* --- The sum of a part, minimised over its last variable, or over all but that. --- */

/* Where each table of a part has its entries, by class of each axis of the part. */
struct offsets {
    int64_t **of; /* [table * axis_count + axis]: per class */
    int64_t *at;  /* per table, under all axes but the last */
    int32_t *class;
};

static bool offsets_make(struct elimination *e, const struct part *p, struct offsets *o)
{
    size_t cells = p->tables.count * (size_t)p->axis_count;
    o->of = arena_array(&e->scratch, cells, sizeof *o->of);
    o->at = arena_array(&e->scratch, p->tables.count, sizeof *o->at);
    o->class = arena_array(&e->scratch, (size_t)p->axis_count, sizeof *o->class);
    if (!o->of || !o->at || !o->class) return false;
    for (size_t c = 0; c < cells; c++) {
        const struct joint_axis *a = &p->axes[c % (size_t)p->axis_count];
        const struct term_table *t = p->tables.at[c / (size_t)p->axis_count];
        int64_t stride = 1;
        int32_t k = t->axis_count - 1;
        for (; k >= 0 && t->axes[k].var != a->axis.var; k--) stride *= t->axes[k].size;
        o->of[c] = arena_array(&e->scratch, (size_t)a->axis.size, sizeof **o->of);
        if (!o->of[c]) return false;
        for (int32_t i = 0; k >= 0 && i < a->axis.size; i++)
            o->of[c][i] = stride * t->axes[k].class_of[a->member[i]];
    }
    return true;
}

static int64_t term_bound_part_sum(const struct part *p, const struct offsets *o, int32_t class)
{
    int64_t sum = p->shift ? p->shift[class] : 0;
    for (size_t t = 0; t < p->tables.count && !term_is_never(sum); t++) {
        int64_t more = p->tables.at[t]->values[o->at[t] + o->of[(t + 1) * (size_t)p->axis_count - 1][class]];
        sum = term_is_never(more) ? TERM_NEVER : sum + more;
    }
    return term_is_never(sum) ? TERM_NEVER : sum;
}

static void move_to(const struct part *p, struct offsets *o)
{
    for (size_t t = 0; t < p->tables.count; t++) {
        o->at[t] = 0;
        for (int32_t k = 0; k + 1 < p->axis_count; k++)
            o->at[t] += o->of[t * (size_t)p->axis_count + (size_t)k][o->class[k]];
    }
}

static bool term_bound_move_on(const struct part *p, struct offsets *o)
{
    int32_t k = p->axis_count - 2;
    while (k >= 0 && ++o->class[k] == p->axes[k].axis.size) o->class[k--] = 0;
    return k >= 0;
}

/* Over the last variable. */
static bool minimise_last(struct elimination *e, const struct part *p, int64_t *least)
{
    struct offsets o;
    if (!offsets_make(e, p, &o)) return false;
    do {
        *least = TERM_NEVER;
        move_to(p, &o);
        for (int32_t c = 0; c < p->axes[p->axis_count - 1].axis.size; c++)
            *least = min_i64(*least, term_bound_part_sum(p, &o, c));
        least++;
    } while (term_bound_move_on(p, &o));
    *e->steps += p->entries * (int64_t)p->tables.count / 16 + 1;
    return true;
}

/* Over all others. */
static bool minimise_others(struct elimination *e, const struct part *p, int64_t *least)
{
    struct offsets o;
    int32_t classes = p->axes[p->axis_count - 1].axis.size;
    if (!offsets_make(e, p, &o)) return false;
    for (int32_t c = 0; c < classes; c++) least[c] = TERM_NEVER;
    do {
        move_to(p, &o);
        for (int32_t c = 0; c < classes; c++) least[c] = min_i64(least[c], term_bound_part_sum(p, &o, c));
    } while (term_bound_move_on(p, &o));
    *e->steps += p->entries * (int64_t)p->tables.count / 16 + 1;
    return true;
}

/* What part `i` of `count` gets of a sum. */
static int64_t term_bound_share_of(int64_t sum, int64_t i, int64_t count)
{
    int64_t rest = (sum % count + count) % count;
    return (sum - rest) / count + (i < rest);
}

static void shift_value(part_list *parts, int64_t *const *least, int32_t value)
{
    int64_t sum = 0, count = (int64_t)parts->count;
    for (int64_t i = 0; i < count && !term_is_never(sum); i++)
        sum = term_is_never(least[i][value]) ? TERM_NEVER : sum + least[i][value];
    for (int64_t i = 0; i < count; i++)
        parts->at[i].shift[value] =
            term_is_never(sum) ? TERM_NEVER : term_bound_share_of(sum, i, count) - least[i][value];
}

/* Every part has its own opinion of what a value costs at least: from now on an equal share of all. */
static bool term_bound_share_out(struct elimination *e, part_list *parts, int32_t var)
{
    int32_t values = e->n->vars[var].size, *own = arena_array(&e->scratch, (size_t)values, sizeof *own);
    int64_t **least = arena_array(&e->scratch, parts->count, sizeof *least);
    if (!own || !least) return false;
    for (int32_t v = 0; v < values; v++) own[v] = v;
    struct term_axis each = {var, values, own};
    for (size_t i = 0; i < parts->count; i++) {
        struct part *p = &parts->at[i];
        least[i] = arena_array(&e->scratch, (size_t)values, sizeof **least);
        if (!least[i] || !term_bound_refine(e, &p->axes[p->axis_count - 1], &each) || !find_members(e, p) ||
            !minimise_others(e, p, least[i]))
            return false;
    }
    for (size_t i = 0; i < parts->count; i++) {
        parts->at[i].shift = arena_array(&e->scratch, (size_t)values, sizeof *parts->at[i].shift);
        if (!parts->at[i].shift) return false;
    }
    for (int32_t v = 0; v < values; v++) shift_value(parts, least, v);
    return true;
}

static bool term_bound_send(struct elimination *e, const struct part *p, int32_t var)
{
    struct term_axis *axes = arena_array(&e->b->memory, (size_t)p->axis_count, sizeof *axes);
    struct term_message m = {.from = var};
    if (!axes) return false;
    for (int32_t k = 0; k + 1 < p->axis_count; k++) {
        size_t values = (size_t)e->n->vars[p->axes[k].axis.var].size;
        axes[k] = p->axes[k].axis;
        axes[k].class_of =
            arena_copy_array(&e->b->memory, axes[k].class_of, values, sizeof *axes[k].class_of);
        if (!axes[k].class_of) return false;
    }
    if (!term_table_make(&e->b->memory, axes, p->axis_count - 1, &m.table)) return false;
    return minimise_last(e, p, m.table.values) && VEC_PUSH(&e->b->messages, m);
}

/* A variable that no table has costs nothing. */
static bool eliminate(struct elimination *e, int32_t var)
{
    table_list tables = {0};
    part_list parts = {0};
    /* Tables of messages are pointed to while new ones are added: these must not move. */
    size_t most = e->n->tables.count + 2 * e->b->messages.count + 1;
    bool ok = VEC_RESERVE(&e->b->messages, most) && find_tables(e, var, &tables);
    for (size_t i = 0; ok && i < tables.count; i++) ok = throw_in(e, &parts, tables.at[i]);
    if (parts.count > 1) {
        e->b->exact = false;
        ok = ok && term_bound_share_out(e, &parts, var);
    }
    for (size_t i = 0; ok && i < parts.count; i++)
        ok = find_members(e, &parts.at[i]) && term_bound_send(e, &parts.at[i], var);
    for (size_t i = 0; i < parts.count; i++) VEC_FREE(&parts.at[i].tables);
    VEC_FREE(&parts);
    VEC_FREE(&tables);
    arena_free(&e->scratch);
    e->scratch = (struct arena){0};
    return ok;
}

bool term_bound_make(struct term_bound *b, const struct term_network *n, int64_t limit, int64_t *steps,
                     lx_status *st)
{
    struct elimination e = {.n = n, .b = b, .limit = limit, .steps = steps};
    *b = (struct term_bound){.exact = true, .least = n->base};
    for (int32_t v = n->count - 1; v >= 0; v--)
        if (!eliminate(&e, v)) return status_no_memory(st);
    for (size_t i = 0; i < b->messages.count; i++)
        if (b->messages.at[i].table.last < 0) b->least += b->messages.at[i].table.values[0];
    return true;
}

void term_bound_free(struct term_bound *b)
{
    VEC_FREE(&b->messages);
    arena_free(&b->memory);
}
