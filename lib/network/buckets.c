/* Mini-buckets (Dechter, Rish 2003): variables are eliminated from the last to the first. A table goes into
 * the bucket of its last variable; the bucket's sum, minimised over the variable, is a message over the
 * others. A bucket that is too large is split, and each part is minimised alone, which can only lower the
 * bound. Costs of the variable's values are first spread equally over the parts. */
#include "network/network.h"

/* --- Tables. --- */

int32_t net_classes(const void *rows, size_t width, int32_t count, int32_t *class_of)
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

struct net_table net_table_make(struct arena *memory, const struct net_axis *axes, int32_t count)
{
    struct net_table t = {.axis_count = count, .last = -1, .count = 1};
    t.axes = arena_array(memory, (size_t)count, sizeof *t.axes);
    for (int32_t k = 0; k < count; k++) {
        int32_t at = k;
        for (; at > 0 && t.axes[at - 1].var > axes[k].var; at--) t.axes[at] = t.axes[at - 1];
        t.axes[at] = axes[k];
        t.count *= axes[k].size;
    }
    if (count) t.last = t.axes[count - 1].var;
    t.values = arena_array(memory, (size_t)t.count, sizeof *t.values);
    return t;
}

int64_t net_cost(const struct network *n, const int32_t *values)
{
    int64_t cost = n->base;
    for (size_t i = 0; i < n->tables.count && cost < NETWORK_HOPELESS; i++) {
        const struct net_table *t = &n->tables.at[i];
        int64_t at = 0;
        for (int32_t k = 0; k < t->axis_count; k++)
            at = at * t->axes[k].size + t->axes[k].class_of[values[t->axes[k].var]];
        cost = t->values[at] >= NETWORK_HOPELESS ? NETWORK_NEVER : cost + t->values[at];
    }
    return cost;
}

void network_free(struct network *n)
{
    VEC_FREE(&n->tables);
    VEC_FREE(&n->handovers);
    arena_free(&n->memory);
}

/* --- Mini-buckets. --- */

/* One axis of a bucket: the coarsest classes that refine those of all its tables. */
struct bucket_axis {
    struct net_axis axis;
    int32_t *member; /* one value of each class */
};

struct bucket_part {
    VEC(const struct net_table *) tables;
    struct bucket_axis *axes; /* by ascending variable; the bucket's own is last */
    int32_t axis_count;
    int64_t entries;
    int64_t *shift; /* per value of the bucket's variable: added cost; NULL: none */
};

typedef VEC(const struct net_table *) bucket_tables;
typedef VEC(struct bucket_part) bucket_parts;

struct elimination {
    const struct network *n;
    struct net_bound *b;
    struct arena scratch; /* for one bucket */
    int64_t limit, *steps;
};

/* --- Axes. --- */

static void bucket_refine(struct elimination *e, struct bucket_axis *a, const struct net_axis *with)
{
    int32_t values = e->n->vars[a->axis.var].size, found = 0;
    int32_t *class_of = arena_array(&e->scratch, (size_t)values, sizeof *class_of);
    int32_t *seen = arena_array(&e->scratch, (size_t)a->axis.size * (size_t)with->size, sizeof *seen);
    for (int32_t v = 0; v < values; v++) {
        int32_t *at = &seen[a->axis.class_of[v] * with->size + with->class_of[v]];
        if (!*at) *at = ++found;
        class_of[v] = *at - 1;
    }
    a->axis.class_of = class_of;
    a->axis.size = found;
}

static struct bucket_axis *bucket_joined(struct elimination *e, const struct bucket_part *p,
                                         const struct net_table *t, int32_t *count, int64_t *entries)
{
    int32_t i = 0, k = 0;
    struct bucket_axis *axes =
        arena_array(&e->scratch, (size_t)(p->axis_count + t->axis_count), sizeof *axes);
    *count = 0;
    *entries = 1;
    while (i < p->axis_count || k < t->axis_count) {
        struct bucket_axis *to = &axes[(*count)++];
        bool own = i < p->axis_count && (k == t->axis_count || p->axes[i].axis.var <= t->axes[k].var);
        bool both = own && k < t->axis_count && p->axes[i].axis.var == t->axes[k].var;
        *to = own ? p->axes[i] : (struct bucket_axis){t->axes[k], NULL};
        if (both) bucket_refine(e, to, &t->axes[k]);
        i += own;
        k += both || !own;
        *entries = min_i64(*entries * to->axis.size, INT64_MAX >> 20);
    }
    return axes;
}

static void bucket_find_members(struct elimination *e, struct bucket_part *p)
{
    for (int32_t k = 0; k < p->axis_count; k++) {
        struct bucket_axis *a = &p->axes[k];
        a->member = arena_array(&e->scratch, (size_t)a->axis.size, sizeof *a->member);
        for (int32_t v = e->n->vars[a->axis.var].size - 1; v >= 0; v--) a->member[a->axis.class_of[v]] = v;
    }
}

/* --- Buckets and their parts. --- */

static int bucket_larger_first(const void *a, const void *b)
{
    const struct net_table *x = *(const struct net_table *const *)a, *y = *(const struct net_table *const *)b;
    if (x->axis_count != y->axis_count) return y->axis_count - x->axis_count;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return x < y ? -1 : x > y; /* both point into one array, in the order of adding */
}

/* Adds a table to the first part that stays within the limit, or to a new one. */
static void bucket_throw_in(struct elimination *e, bucket_parts *parts, const struct net_table *t)
{
    for (size_t i = 0; i <= parts->count; i++) {
        int32_t count;
        int64_t entries;
        if (i == parts->count) (void)VEC_PUSH(parts, (struct bucket_part){.entries = 1});
        struct bucket_part *p = &parts->at[i];
        struct bucket_axis *axes = bucket_joined(e, p, t, &count, &entries);
        if (p->tables.count && entries > max_i64(e->limit, max_i64(p->entries, t->count))) continue;
        p->axes = axes;
        p->axis_count = count;
        p->entries = entries;
        (void)VEC_PUSH(&p->tables, t);
        return;
    }
}

/* --- The sum of a part, minimised over its last variable, or over all others. --- */

/* Position of each table's entries, by class of each axis of the part. */
struct bucket_offsets {
    int64_t **of; /* [table * axis_count + axis]: per class */
    int64_t *at;  /* per table: position for the classes of all axes but the last */
    int32_t *class;
};

static struct bucket_offsets bucket_offsets_of(struct elimination *e, const struct bucket_part *p)
{
    size_t cells = p->tables.count * (size_t)p->axis_count;
    struct bucket_offsets o = {arena_array(&e->scratch, cells, sizeof *o.of),
                               arena_array(&e->scratch, p->tables.count, sizeof *o.at),
                               arena_array(&e->scratch, (size_t)p->axis_count, sizeof *o.class)};
    for (size_t c = 0; c < cells; c++) {
        const struct bucket_axis *a = &p->axes[c % (size_t)p->axis_count];
        const struct net_table *t = p->tables.at[c / (size_t)p->axis_count];
        int64_t stride = 1;
        int32_t k = t->axis_count - 1;
        for (; k >= 0 && t->axes[k].var != a->axis.var; k--) stride *= t->axes[k].size;
        o.of[c] = arena_array(&e->scratch, (size_t)a->axis.size, sizeof **o.of);
        for (int32_t i = 0; k >= 0 && i < a->axis.size; i++)
            o.of[c][i] = stride * t->axes[k].class_of[a->member[i]];
    }
    return o;
}

/* Minimises over the last variable (`others` false: one entry per combination of the other classes), or over
 * all others (one entry per class of the last). */
static void bucket_minimise(struct elimination *e, const struct bucket_part *p, bool others, int64_t *least)
{
    struct bucket_offsets o = bucket_offsets_of(e, p);
    int32_t classes = p->axes[p->axis_count - 1].axis.size, last;
    for (int32_t c = 0; others && c < classes; c++) least[c] = NETWORK_NEVER;
    do {
        for (size_t t = 0; t < p->tables.count; t++) {
            o.at[t] = 0;
            for (int32_t k = 0; k + 1 < p->axis_count; k++)
                o.at[t] += o.of[t * (size_t)p->axis_count + (size_t)k][o.class[k]];
        }
        if (!others) *least = NETWORK_NEVER;
        for (int32_t c = 0; c < classes; c++) {
            int64_t *to = others ? &least[c] : least;
            int64_t sum = p->shift ? p->shift[c] : 0;
            for (size_t t = 0; t < p->tables.count && sum < NETWORK_HOPELESS; t++) {
                int64_t more =
                    p->tables.at[t]->values[o.at[t] + o.of[(t + 1) * (size_t)p->axis_count - 1][c]];
                sum = more >= NETWORK_HOPELESS ? NETWORK_NEVER : sum + more;
            }
            *to = min_i64(*to, sum >= NETWORK_HOPELESS ? NETWORK_NEVER : sum);
        }
        least += !others;
        last = p->axis_count - 2; /* next classes of all axes but the last */
        while (last >= 0 && ++o.class[last] == p->axes[last].axis.size) o.class[last--] = 0;
    } while (last >= 0);
    *e->steps += p->entries * (int64_t)p->tables.count / 16 + 1;
}

/* Shifts the cost of each value between the parts so that their minima become equal. */
static void bucket_share_out(struct elimination *e, bucket_parts *parts, int32_t var)
{
    int32_t values = e->n->vars[var].size, *own = arena_array(&e->scratch, (size_t)values, sizeof *own);
    int64_t **least = arena_array(&e->scratch, parts->count, sizeof *least), count = (int64_t)parts->count;
    for (int32_t v = 0; v < values; v++) own[v] = v;
    struct net_axis each = {var, values, own};
    for (int64_t i = 0; i < count; i++) {
        struct bucket_part *p = &parts->at[i];
        least[i] = arena_array(&e->scratch, (size_t)values, sizeof **least);
        bucket_refine(e, &p->axes[p->axis_count - 1], &each);
        bucket_find_members(e, p);
        bucket_minimise(e, p, true, least[i]);
    }
    for (int64_t i = 0; i < count; i++)
        parts->at[i].shift = arena_array(&e->scratch, (size_t)values, sizeof *parts->at[i].shift);
    for (int32_t v = 0; v < values; v++) {
        int64_t sum = 0;
        for (int64_t i = 0; i < count && sum < NETWORK_HOPELESS; i++)
            sum = least[i][v] >= NETWORK_HOPELESS ? NETWORK_NEVER : sum + least[i][v];
        int64_t rest = (sum % count + count) % count; /* the first `rest` parts get one more */
        for (int64_t i = 0; i < count; i++)
            parts->at[i].shift[v] =
                sum >= NETWORK_HOPELESS ? NETWORK_NEVER : (sum - rest) / count + (i < rest) - least[i][v];
    }
}

/* Replaces the tables of a variable by messages. A variable without tables costs nothing. */
static void bucket_eliminate(struct elimination *e, int32_t var)
{
    OWNED bucket_tables tables = {0};
    OWNED bucket_parts parts = {0};
    /* Reserved so that messages do not move: `tables` points to them while new ones are added. */
    (void)VEC_RESERVE(&e->b->messages, e->n->tables.count + 2 * e->b->messages.count + 1);
    for (size_t i = 0; i < e->n->tables.count; i++)
        if (e->n->tables.at[i].last == var) (void)VEC_PUSH(&tables, &e->n->tables.at[i]);
    if (tables.count) qsort(tables.at, tables.count, sizeof *tables.at, bucket_larger_first);
    size_t own = tables.count;
    for (size_t i = 0; i < e->b->messages.count; i++)
        if (e->b->messages.at[i].table.last == var) (void)VEC_PUSH(&tables, &e->b->messages.at[i].table);
    if (tables.count > own)
        qsort(tables.at + own, tables.count - own, sizeof *tables.at, bucket_larger_first);
    for (size_t i = 0; i < tables.count; i++) bucket_throw_in(e, &parts, tables.at[i]);
    if (parts.count > 1) {
        e->b->exact = false;
        bucket_share_out(e, &parts, var);
    }
    for (size_t i = 0; i < parts.count; i++) {
        bucket_find_members(e, &parts.at[i]);
        struct net_axis *axes = arena_array(&e->b->memory, (size_t)parts.at[i].axis_count, sizeof *axes);
        for (int32_t k = 0; k + 1 < parts.at[i].axis_count; k++) {
            size_t values = (size_t)e->n->vars[parts.at[i].axes[k].axis.var].size;
            axes[k] = parts.at[i].axes[k].axis;
            axes[k].class_of =
                arena_copy_array(&e->b->memory, axes[k].class_of, values, sizeof *axes[k].class_of);
        }
        struct net_message m = {net_table_make(&e->b->memory, axes, parts.at[i].axis_count - 1), var};
        bucket_minimise(e, &parts.at[i], false, m.table.values);
        (void)VEC_PUSH(&e->b->messages, m);
        VEC_FREE(&parts.at[i].tables);
    }
    arena_free(&e->scratch);
    e->scratch = (struct arena){0};
}

void net_bound_make(struct net_bound *b, const struct network *n, int64_t limit, int64_t *steps)
{
    struct elimination e = {.n = n, .b = b, .limit = limit, .steps = steps};
    *b = (struct net_bound){.exact = true, .least = n->base};
    for (int32_t v = n->count - 1; v >= 0; v--) bucket_eliminate(&e, v);
    for (size_t i = 0; i < b->messages.count; i++)
        if (b->messages.at[i].table.last < 0) b->least += b->messages.at[i].table.values[0];
}

void net_bound_free(struct net_bound *b)
{
    VEC_FREE(&b->messages);
    arena_free(&b->memory);
}
