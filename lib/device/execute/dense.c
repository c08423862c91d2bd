/* Layouts of packed operands: see execute.h. */
#include "device/execute/execute.h"

void dense_make(const int *order, int count, const int64_t *width, const int64_t *tile, struct dense *out)
{
    bool wide_outside = false; /* a variable further out has more than one position in a tile */
    *out = (struct dense){.count = count, .floats = 1};
    for (int i = 0; i < count; i++) {
        int v = order[i];
        out->order[i] = v;
        out->width[i] = width[v];
        out->tile[i] = min_i64(tile[v], width[v]);
        out->panel[i] = wide_outside && out->tile[i] < width[v];
        out->floats *= out->panel[i] ? round_up_i64(width[v], out->tile[i]) : width[v];
        wide_outside |= out->tile[i] > 1;
    }
}

void dense_part(const struct dense *d, const int64_t *size, struct dense_strides *out)
{
    int64_t step = 1, slot = 1;
    memset(out, 0, sizeof *out);
    for (int i = d->count - 1; i >= 0; i--) {
        int v = d->order[i];
        out->element[v] = step;
        step *= d->panel[i] ? size[v] : d->width[i];
        slot *= d->panel[i] ? d->tile[i] : d->width[i];
        out->tile[v] = out->element[v] * d->tile[i];
    }
    for (int i = d->count - 1; i >= 0; i--) {
        if (!d->panel[i]) continue;
        out->tile[d->order[i]] = slot;
        slot *= ceil_div_i64(d->width[i], d->tile[i]);
    }
}

int64_t dense_offset(const struct dense *d, const int64_t *index)
{
    struct dense_strides s;
    int64_t size[LX_MAX_VARS] = {0}, offset = 0;
    for (int i = 0; i < d->count; i++) {
        int64_t first = index[d->order[i]] / d->tile[i] * d->tile[i];
        size[d->order[i]] = min_i64(d->tile[i], d->width[i] - first);
    }
    dense_part(d, size, &s);
    for (int i = 0; i < d->count; i++) {
        int v = d->order[i];
        offset += d->panel[i] ? index[v] / d->tile[i] * s.tile[v] + index[v] % d->tile[i] * s.element[v]
                              : index[v] * s.element[v];
    }
    return offset;
}

/* --- Elements between device memory and dense layouts: panel by panel, one gather or scatter each. --- */

/* A walk over the panels of a layout. */
struct panels {
    const struct dense *d;
    const struct op_index *x;
    int operand;
    int64_t at[LX_MAX_RANK]; /* tile number along each variable of the layout */
};

/* Sets the region of the current panel and the strides in it; returns the offset of its first element. */
static int64_t panel_now(const struct panels *p, const struct region *all, struct region *part,
                         int64_t *strides)
{
    struct dense_strides s;
    int64_t size[LX_MAX_VARS] = {0}, offset = 0;
    *part = *all;
    for (int i = 0; i < p->d->count; i++) {
        int64_t first = p->d->panel[i] ? p->at[i] * p->d->tile[i] : 0;
        int64_t n = p->d->panel[i] ? min_i64(p->d->tile[i], p->d->width[i] - first) : p->d->width[i];
        int h = op_index_dim(p->x, p->operand, p->d->order[i]);
        size[p->d->order[i]] = n;
        part->element[h] = all->element[h] + first;
        part->count[h] = n;
    }
    dense_part(p->d, size, &s);
    for (int i = 0; i < p->d->count; i++)
        if (p->d->panel[i]) offset += p->at[i] * s.tile[p->d->order[i]];
    for (int h = 0; h < p->x->rank[p->operand]; h++) strides[h] = s.element[(int)p->x->var[p->operand][h]];
    return offset;
}

typedef void panel_function(const struct dense_operand *o, const struct region *part, int64_t offset,
                            const int64_t *strides);

static void dense_panels(const struct dense_operand *o, panel_function *each)
{
    struct panels p = {.d = o->layout, .x = o->x, .operand = o->operand};
    int i = 0;
    do {
        struct region part;
        int64_t strides[LX_MAX_RANK], offset = panel_now(&p, o->region, &part, strides);
        each(o, &part, offset, strides);
        for (i = p.d->count - 1; i >= 0; i--) {
            if (!p.d->panel[i]) continue;
            if (++p.at[i] < ceil_div_i64(p.d->width[i], p.d->tile[i])) break;
            p.at[i] = 0;
        }
    } while (i >= 0);
}

static void dense_gather_panel(const struct dense_operand *o, const struct region *part, int64_t offset,
                               const int64_t *strides)
{
    if (o->wide)
        pack_gather_wide(o->l, o->as, part, o->at, o->wide + offset, strides);
    else
        pack_gather(o->l, part, o->at, o->numbers + offset, strides);
}

static void dense_scatter_panel(const struct dense_operand *o, const struct region *part, int64_t offset,
                                const int64_t *strides)
{
    if (o->wide)
        pack_scatter_wide(o->l, o->as, part, o->wide + offset, strides, o->at);
    else
        pack_scatter(o->l, part, o->numbers + offset, strides, o->at);
}

void dense_gather(const struct dense_operand *o)
{
    dense_panels(o, dense_gather_panel);
}

void dense_scatter(const struct dense_operand *o)
{
    dense_panels(o, dense_scatter_panel);
}
