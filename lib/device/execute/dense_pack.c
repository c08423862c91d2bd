/* Elements between device memory and dense layouts: panel by panel, each of them one gather or scatter. */
#include "device/execute/dense.h"
#include "base/checked.h"
#include "device/memory/stick_box.h"

#include <string.h>

/* A walk over the panels of a layout. */
struct panels {
    const struct dense *d;
    const struct op_index *x;
    int operand;
    int64_t at[LX_MAX_RANK]; /* tile number along each variable of the layout */
};

/* The region of the panel, the place of its first element and the strides in it. */
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

static bool panel_next(struct panels *p)
{
    for (int i = p->d->count - 1; i >= 0; i--) {
        if (!p->d->panel[i]) continue;
        if (++p->at[i] < ceil_div_i64(p->d->width[i], p->d->tile[i])) return true;
        p->at[i] = 0;
    }
    return false;
}

void dense_gather(const struct lx_layout *l, const struct region *r, const void *at, const struct op_index *x,
                  int operand, const struct dense *d, float *to)
{
    struct panels p = {.d = d, .x = x, .operand = operand};
    do {
        struct region part;
        int64_t strides[LX_MAX_RANK], offset = panel_now(&p, r, &part, strides);
        pack_gather(l, &part, at, to + offset, strides);
    } while (panel_next(&p));
}

void dense_scatter(const struct lx_layout *l, const struct region *r, const float *from,
                   const struct op_index *x, int operand, const struct dense *d, void *at)
{
    struct panels p = {.d = d, .x = x, .operand = operand};
    do {
        struct region part;
        int64_t strides[LX_MAX_RANK], offset = panel_now(&p, r, &part, strides);
        pack_scatter(l, &part, from + offset, strides, at);
    } while (panel_next(&p));
}

void dense_gather_wide(const struct lx_layout *l, const struct number_type *as, const struct region *r,
                       const void *at, const struct op_index *x, int operand, const struct dense *d,
                       wide_number *to)
{
    struct panels p = {.d = d, .x = x, .operand = operand};
    do {
        struct region part;
        int64_t strides[LX_MAX_RANK], offset = panel_now(&p, r, &part, strides);
        pack_gather_wide(l, as, &part, at, to + offset, strides);
    } while (panel_next(&p));
}

void dense_scatter_wide(const struct lx_layout *l, const struct number_type *as, const struct region *r,
                        const wide_number *from, const struct op_index *x, int operand, const struct dense *d,
                        void *at)
{
    struct panels p = {.d = d, .x = x, .operand = operand};
    do {
        struct region part;
        int64_t strides[LX_MAX_RANK], offset = panel_now(&p, r, &part, strides);
        pack_scatter_wide(l, as, &part, from + offset, strides, at);
    } while (panel_next(&p));
}
