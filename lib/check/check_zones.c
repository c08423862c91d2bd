/* The sticks of a tensor that a core holds, and the sticks that it touches. A tensor known only by its bytes
 * has no dimensions here: it is one piece, on one core. */
#include "check/check.h"

int64_t whole_bytes(const struct checker *c, int32_t tensor)
{
    const struct lx_layout *l = &c->l->layouts[tensor];
    return l->rank > 0 ? lx_layout_bytes(l) : c->g->tensors[tensor].bytes;
}

int64_t bytes_of_sticks(const struct checker *c, int32_t tensor, int64_t sticks)
{
    const struct lx_layout *l = &c->l->layouts[tensor];
    return l->rank > 0 ? sticks * l->stick_bytes : c->g->tensors[tensor].bytes;
}

static struct zone zone_whole(const struct lx_layout *l)
{
    struct zone z = {.rank = l->rank > 0 ? l->rank - 1 : 0};
    for (int d = 0; d < z.rank; d++) z.hi[d] = z.count[d] = l->size[d];
    return z;
}

struct zone zone_of_part(const struct lx_layout *l, const struct parts *p, int64_t core)
{
    struct zone z = zone_whole(l);
    for (int d = 0; d < z.rank; d++) {
        if (p->slices[d] <= 1) continue;
        int64_t part = ceil_div_i64(l->size[d], p->slices[d]);
        z.lo[d] = min_i64(core / p->stride[d] % p->slices[d] * part, l->size[d]);
        z.hi[d] = min_i64(z.lo[d] + part + p->high[d], l->size[d]);
        z.lo[d] = max_i64(z.lo[d] - p->low[d], 0);
        z.count[d] = z.hi[d] - z.lo[d];
    }
    return z;
}

/* Sets the positions of device dimension d for the indices offset + stride x [from, to) of its host
 * dimension. An access up to the end of a dimension includes its padding. */
static void check_zones_touch(const struct lx_layout *l, int d, int64_t offset, int64_t stride, int64_t from,
                              int64_t to, bool shifted, struct zone *z)
{
    int64_t size = l->host_shape[(int)l->host_dim[d]], step = l->step[d];
    int64_t first = max_i64(from, offset >= 0 ? 0 : ceil_div_i64(-offset, stride));
    int64_t last = min_i64(to - 1, offset < size ? (size - 1 - offset) / stride : -1);
    z->lo[d] = z->hi[d] = z->count[d] = 0;
    if (first > last) return;
    z->lo[d] = (offset + stride * first) / step;
    z->hi[d] = (offset + stride * last) / step + 1;
    z->count[d] = stride >= step ? last - first + 1 : z->hi[d] - z->lo[d];
    if (shifted || to != size) return;
    z->hi[d] = l->size[d];
    z->count[d] = z->hi[d] - z->lo[d];
}

int64_t piece_of_part(const struct lx_layout *l, const struct parts *p, int d, int64_t core, int64_t *lo,
                      int64_t *hi)
{
    int64_t pieces = p->tiles[d] * p->blocks[d], block = pieces > 1 ? l->size[d] / pieces : l->size[d];
    bool cut = p->slices[d] > 1;
    int64_t part = cut ? ceil_div_i64(block, p->slices[d]) : block;
    *lo = cut ? min_i64(core / p->stride[d] % p->slices[d] * part, block) : 0;
    *hi = min_i64(*lo + part + p->high[d], block);
    *lo = max_i64(*lo - p->low[d], 0);
    return block;
}

/* The input of a window is cut with the variable that slides over it: as many slices, each wide enough for
 * the reach of its cores. Where slices do not correspond, or reach everything, each core has the whole
 * dimension. */
static void cut_halo(const struct cut *k, const struct lx_layout *l, int v, int d, struct parts *p)
{
    const struct lx_window *w = NULL;
    for (int i = 0; i < k->x.window_count; i++)
        if (k->x.windows[i].in == v) w = &k->x.windows[i];
    if (!w || w->hole != 1 || l->step[d] != 1 || l->size[d] != k->x.extent[v]) return;
    int64_t n = k->split[(int)w->out], size = l->size[d], outs = k->x.extent[(int)w->out], low = 0, high = 0;
    if (n == 1 || size % n != 0 || outs % n != 0) return;
    int64_t far = w->dilation * (w->size - 1), back = far < 0 ? far : 0, on = far > 0 ? far : 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t from = w->stride * (outs / n * i) + back - w->pad;
        int64_t to = w->stride * (outs / n * (i + 1) - 1) + on - w->pad + 1;
        if (to <= 0 || from >= size) continue;
        low = max_i64(low, size / n * i - max_i64(from, 0));
        high = max_i64(high, min_i64(to, size) - size / n * (i + 1));
    }
    if (size / n + low + high >= size) return;
    p->slices[d] = n;
    p->stride[d] = k->stride[(int)w->out];
    p->low[d] = low;
    p->high[d] = high;
}

struct zone zone_touched(const struct checker *c, const struct cut *k, int32_t op, int operand, int64_t core)
{
    const struct lx_layout *l = &c->l->layouts[op_operand(&c->g->ops[op], operand)];
    struct zone z = zone_whole(l);
    bool shifted = k->x.known && op_index_shifted(&k->x, operand);
    for (int d = 0; k->x.known && d < z.rank; d++) {
        int h = l->host_dim[d];
        if (h < 0) continue;
        int v = k->x.var[operand][h];
        if (core >= 0 && operand == 0 && op_index_follows(&k->x, v)) {
            struct parts p = {.cores = k->cores, .rank = z.rank};
            p.slices[d] = p.tiles[d] = p.blocks[d] = 1;
            cut_halo(k, l, v, d, &p);
            piece_of_part(l, &p, d, core, &z.lo[d], &z.hi[d]);
            z.count[d] = z.hi[d] - z.lo[d];
        } else if (core >= 0 && (k->split[v] > 1 || k->tiles[v] > 1)) {
            int64_t from = core / k->stride[v] % k->split[v] * k->width[v];
            check_zones_touch(l, d, op_index_offset(&k->x, operand, h), op_index_stride(&k->x, operand, h),
                              from, min_i64(from + k->width[v], k->x.extent[v]), shifted, &z);
        } else if (shifted)
            check_zones_touch(l, d, op_index_offset(&k->x, operand, h), op_index_stride(&k->x, operand, h), 0,
                              k->x.extent[v] * (core < 0 ? k->tiles[v] : 1), true, &z);
    }
    return z;
}

bool zone_empty(const struct zone *z)
{
    for (int d = 0; d < z->rank; d++)
        if (z->count[d] <= 0) return true;
    return false;
}

bool zone_within(const struct zone *inner, const struct zone *outer)
{
    if (zone_empty(inner)) return true;
    for (int d = 0; d < inner->rank; d++)
        if (inner->lo[d] < outer->lo[d] || inner->hi[d] > outer->hi[d]) return false;
    return true;
}

int64_t zone_sticks(const struct zone *z)
{
    int64_t n = 1;
    for (int d = 0; d < z->rank; d++)
        if (!mul_i64(n, max_i64(z->count[d], 0), &n)) return INT64_MAX;
    return n;
}

struct parts parts_of_operand(const struct checker *c, const struct cut *k, int32_t op, int operand, int hold)
{
    const struct lx_layout *l = &c->l->layouts[op_operand(&c->g->ops[op], operand)];
    struct parts p = {
        .cores = k->cores, .rank = l->rank > 0 ? l->rank - 1 : 0, .touched_whole = true, .within = true};
    for (int d = 0; d < p.rank; d++) {
        int h = l->host_dim[d];
        p.slices[d] = 1;
        if (!k->x.known || h < 0) continue;
        int v = k->x.var[operand][h];
        /* Does a view walk this dimension other than from begin to end in steps of 1? */
        bool jumps = op_index_shifted(&k->x, operand) &&
                     (op_index_stride(&k->x, operand, h) != 1 || op_index_offset(&k->x, operand, h) != 0 ||
                      l->host_shape[h] != k->x.extent[v] * k->tiles[v]);
        p.touched_whole &= !jumps;
        /* Views leave out the padding. */
        p.touched_whole &=
            !op_index_shifted(&k->x, operand) || ceil_div_i64(l->host_shape[h], l->step[d]) == l->size[d];
        if (operand == 0) cut_halo(k, l, v, d, &p);
        if (k->split[v] == 1) continue;
        p.slices[d] = k->split[v];
        p.stride[d] = k->stride[v];
        /* One of each `step` positions is read: a core has whole groups of them. */
        int64_t step = op_index_stride(&k->x, operand, h), begin = op_index_offset(&k->x, operand, h);
        bool groups = jumps && operand < k->x.output && step > 1 && begin >= 0 && begin < step &&
                      l->host_shape[h] == k->x.extent[v] * k->tiles[v] * step;
        int64_t width = k->width[v] * (groups ? step : 1);
        bool exactly = width % l->step[d] == 0 &&
                       width / l->step[d] == ceil_div_i64(l->size[d] / k->tiles[v], k->split[v]);
        p.touched_whole &= exactly;
        p.within &= exactly && (!jumps || groups);
    }
    /* Tiles of the loops inside the hold lie one behind the other, each cut into slices, unless no tile is
     * cut. */
    bool cut = false;
    for (int d = 0; d < p.rank; d++) p.tiles[d] = p.blocks[d] = 1;
    for (int n = 0; k->nest && n < k->nest->level_count; n++)
        for (int d = 0; d < p.rank; d++) {
            int h = l->host_dim[d], v = h < 0 ? -1 : k->x.var[operand][h];
            if (v < 0 || k->tiles[v] == 1 || v != k->level_var[n]) continue;
            *(n < hold ? &p.tiles[d] : &p.blocks[d]) = k->tiles[v];
            cut |= n >= hold && p.slices[d] > 1;
        }
    for (int d = 0; d < p.rank && !cut; d++) p.blocks[d] = 1;
    return p;
}

bool parts_equal(const struct parts *a, const struct parts *b)
{
    if (a->cores != b->cores || a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->slices[d] != b->slices[d] || (a->slices[d] > 1 && a->stride[d] != b->stride[d]) ||
            a->tiles[d] != b->tiles[d] || a->blocks[d] != b->blocks[d] || a->low[d] != b->low[d] ||
            a->high[d] != b->high[d])
            return false;
    return true;
}

int64_t part_sticks(const struct lx_layout *l, const struct parts *p, int64_t core)
{
    int64_t sticks = 1, lo, hi;
    for (int d = 0; d < p->rank; d++) {
        piece_of_part(l, p, d, core, &lo, &hi);
        sticks *= (hi - lo) * p->blocks[d];
    }
    return sticks;
}

int64_t part_common_sticks(const struct lx_layout *l, const struct parts *a, const struct parts *b,
                           int64_t core)
{
    int64_t sticks = core < a->cores && core < b->cores;
    for (int d = 0; d < a->rank; d++) {
        /* Walks both layouts from piece to piece; the one whose piece ends first steps on. */
        int64_t lo, hi, from, to, sum = 0, i = 0, k = 0;
        int64_t block = piece_of_part(l, a, d, core, &lo, &hi),
                other = piece_of_part(l, b, d, core, &from, &to);
        while (i < a->blocks[d] && k < b->blocks[d]) {
            int64_t end = i * block + hi, ends = k * other + to;
            sum += max_i64(0, min_i64(end, ends) - max_i64(i * block + lo, k * other + from));
            if (end <= ends)
                i++;
            else
                k++;
        }
        sticks *= sum;
    }
    return sticks;
}
