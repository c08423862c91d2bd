/* The box that each core touches, and whether two sets of boxes cross. Views are compared first; boxes are
 * made only for views that differ. */
#include "clock/footprint.h"
#include "base/base.h"
#include "layout/op_index.h"

static const struct lx_layout *footprint_layout(const struct footprint *f)
{
    const struct lx_layouts *l = f->program->layouts;
    return &l->layouts[op_operand(&l->graph->ops[f->op], f->operand)];
}

/* Has every part of the view one core? */
static bool footprint_view_sole(const struct lx_core_view *v)
{
    int64_t parts = 1;
    bool halo = false;
    for (int d = 0; d < v->rank; d++) {
        bool again = false; /* a variable that cuts two dimensions of the device layout */
        for (int e = 0; e < d; e++) again |= v->slices[e] > 1 && v->stride[e] == v->stride[d];
        if (!again) parts *= v->slices[d];
        halo |= v->low[d] || v->high[d];
    }
    return parts == v->cores && !halo;
}

static bool footprint_on_chip(const struct plan_program *p, int32_t access)
{
    int32_t stay = p->accesses[access].stay;
    return stay >= 0 && p->address[stay] >= 0;
}

struct footprint footprint_of_access(const struct plan_program *p, int32_t op, int operand)
{
    const struct lx_op *o = &p->layouts->graph->ops[op];
    const struct lx_division *d = &p->divisions->at[op];
    struct footprint f = {.program = p,
                          .op = op,
                          .operand = operand,
                          .hold = -1,
                          .writes = operand >= o->input_count,
                          .view = lx_division_view(p->divisions, op, operand)};
    /* A global launch deals out tiles, and knows nothing of the division. */
    f.anyone = d->cores_used > 1;
    for (int32_t a = p->access_at[op]; a < p->access_at[op + 1]; a++) f.anyone &= !footprint_on_chip(p, a);
    struct op_index x;
    op_index_of(p->layouts->graph, o, &x);
    f.plain = d->kind == LX_DIVIDED && x.known && f.view.representable && !f.view.partial &&
              !op_index_shifted(&x, operand) && !(operand == 0 && x.window_count > 0);
    f.sole = f.plain && !f.anyone && footprint_view_sole(&f.view);
    return f;
}

struct footprint footprint_of_holders(const struct plan_program *p, int32_t stay, bool first_only)
{
    const struct lx_stay *s = &p->stays[stay];
    struct footprint f = {.program = p,
                          .op = s->view_op,
                          .operand = s->view_operand,
                          .hold = s->hold,
                          .writes = first_only,
                          .plain = true,
                          .view = lx_division_held(p->divisions, s->view_op, s->view_operand, s->hold)};
    f.sole = footprint_view_sole(&f.view);
    return f;
}

struct footprint footprint_of_copy(const struct plan_program *p, const struct lx_transfer *t)
{
    return footprint_of_holders(p, t->stay, t->kind == LX_STORE);
}

/* ---- boxes ---- */

/* Per core positions [lo, hi) of each dimension. They repeat in each of the dimension's `pieces` pieces of
 * `period` positions. */
struct core_boxes {
    int64_t cores;
    int rank;
    int64_t period[LX_MAX_DEVICE_RANK], pieces[LX_MAX_DEVICE_RANK];
    bool *none;       /* per core: it touches nothing */
    int64_t *lo, *hi; /* per core, rank each */
};

/* Is another core, with a lower number, the first with the same slices? */
static bool footprint_second(const struct lx_core_view *v, int64_t core)
{
    int64_t first = 0;
    for (int d = 0; d < v->rank; d++) {
        bool again = v->slices[d] <= 1;
        for (int e = 0; e < d; e++) again |= v->slices[e] > 1 && v->stride[e] == v->stride[d];
        if (!again) first += core / v->stride[d] % v->slices[d] * v->stride[d];
    }
    return first != core;
}

static void footprint_view_boxes(const struct footprint *f, struct core_boxes *b)
{
    const struct lx_core_view *v = &f->view;
    const struct lx_layout *y = footprint_layout(f);
    for (int d = 0; d < b->rank; d++) {
        b->pieces[d] = v->tiles[d] * v->blocks[d];
        b->period[d] = y->size[d] / b->pieces[d];
    }
    for (int64_t c = 0; c < b->cores; c++) {
        b->none[c] = f->writes && f->hold >= 0 && footprint_second(v, c);
        for (int d = 0; d < b->rank; d++)
            core_view_reach(v, d, y->size[d] / v->tiles[d], c, &b->lo[c * b->rank + d],
                            &b->hi[c * b->rank + d]);
    }
}

/* Device positions of dimension d that the op touches with [from, to) of its variable, of one tile. */
static void footprint_touch(const struct footprint *f, const struct op_index *x, int d, int64_t from,
                            int64_t to, int64_t period, int64_t *lo, int64_t *hi)
{
    const struct lx_layout *y = footprint_layout(f);
    int h = y->host_dim[d];
    int64_t offset = op_index_offset(x, f->operand, h), stride = op_index_stride(x, f->operand, h),
            size = y->host_shape[h];
    if (!op_index_shifted(x, f->operand)) {
        *lo = from / y->step[d];
        *hi = to == x->extent[x->var[f->operand][h]] ? period : ceil_div_i64(to, y->step[d]);
        return;
    }
    int64_t first = offset >= 0 ? from : max_i64(from, ceil_div_i64(-offset, stride));
    int64_t last = min_i64(to - 1, offset < size ? (size - 1 - offset) / stride : -1);
    *lo = *hi = 0;
    if (first > last) return;
    *lo = (offset + stride * first) / y->step[d];
    *hi = (offset + stride * last) / y->step[d] + 1;
}

static void footprint_op_boxes(const struct footprint *f, struct core_boxes *b)
{
    const struct plan_program *p = f->program;
    const struct lx_division *v = &p->divisions->at[f->op];
    const struct lx_layout *y = footprint_layout(f);
    struct op_index x;
    int64_t tiles[LX_MAX_VARS];
    int32_t nest = nest_of_op(p->nests, p->nest_count, f->op);
    op_index_of(p->layouts->graph, &p->layouts->graph->ops[f->op], &x);
    for (int i = 0; i < LX_MAX_VARS; i++) tiles[i] = 1;
    if (nest >= 0) nest_op_tiles(&p->nests[nest], f->op, tiles);
    nest_tile_index(p->nests, p->nest_count, f->op, &x);
    bool divided = v->kind == LX_DIVIDED && x.known;
    for (int d = 0; d < b->rank; d++) {
        int h = y->host_dim[d], var = h < 0 || !divided ? -1 : x.var[f->operand][h];
        /* Along a dimension without slices, or of a window, or shifted inside a nest, a core has all. */
        bool all = var < 0 || (f->operand == 0 && op_index_follows(&x, var)) ||
                   (op_index_shifted(&x, f->operand) && tiles[var] > 1);
        b->pieces[d] = all || op_index_shifted(&x, f->operand) ? 1 : tiles[var];
        b->period[d] = y->size[d] / b->pieces[d];
        for (int64_t c = 0; c < b->cores; c++) {
            int64_t from = 0, to = all ? 0 : x.extent[var];
            b->lo[c * b->rank + d] = 0;
            b->hi[c * b->rank + d] = b->period[d];
            for (int i = 0; !all && i < v->split_count; i++)
                if (v->splits[i].letter == x.letter[var]) lx_division_slice(v, i, c, &from, &to);
            if (!all)
                footprint_touch(f, &x, d, from, to, b->period[d], &b->lo[c * b->rank + d],
                                &b->hi[c * b->rank + d]);
        }
    }
    /* The root of each group writes its sum; a slice behind the end of its dimension is nothing. */
    for (int64_t c = 0; c < b->cores; c++)
        for (int i = 0; divided && i < v->split_count; i++) {
            int64_t from, to;
            lx_division_slice(v, i, c, &from, &to);
            if (f->writes ? v->splits[i].is_summed && from > 0 : from >= to) b->none[c] = true;
        }
}

static struct core_boxes footprint_boxes(const struct footprint *f)
{
    struct core_boxes b = {.cores = max_i64(f->view.cores, 1), .rank = f->view.rank};
    size_t n = (size_t)b.cores * (size_t)(b.rank + 1);
    b.none = mem_zeroed((size_t)b.cores, sizeof *b.none);
    b.lo = mem_alloc(2 * n * sizeof *b.lo);
    b.hi = b.lo + n;
    if (f->plain)
        footprint_view_boxes(f, &b);
    else
        footprint_op_boxes(f, &b);
    return b;
}

static void core_boxes_free(struct core_boxes *b)
{
    mem_free(b->none);
    mem_free(b->lo);
}

/* Have core i of `a` and core k of `b` a position of dimension d in common? */
static bool core_boxes_meet_along(const struct core_boxes *a, int64_t i, const struct core_boxes *b,
                                  int64_t k, int d)
{
    int64_t lo = a->lo[i * a->rank + d], hi = a->hi[i * a->rank + d], from = b->lo[k * b->rank + d],
            to = b->hi[k * b->rank + d];
    if (lo >= hi || from >= to) return false;
    if (a->pieces[d] == b->pieces[d]) return lo < to && from < hi;
    int64_t x = 0, y = 0; /* both walk from piece to piece; the one that ends first goes on */
    while (x < a->pieces[d] && y < b->pieces[d]) {
        int64_t begin = x * a->period[d] + lo, end = x * a->period[d] + hi, other = y * b->period[d] + from,
                last = y * b->period[d] + to;
        if (begin < last && other < end) return true;
        if (end <= last)
            x++;
        else
            y++;
    }
    return false;
}

static bool core_boxes_meet(const struct core_boxes *a, int64_t i, const struct core_boxes *b, int64_t k)
{
    bool meet = !a->none[i] && !b->none[k];
    for (int d = 0; meet && d < a->rank && d < b->rank; d++) meet = core_boxes_meet_along(a, i, b, k, d);
    return meet;
}

/* The same parts, however tiles and blocks make them up. */
static bool footprint_parts_equal(const struct lx_core_view *a, const struct lx_core_view *b)
{
    if (a->cores != b->cores || a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++) {
        bool cut = a->slices[d] > 1 || b->slices[d] > 1;
        if (a->slices[d] != b->slices[d] ||
            (cut &&
             (a->stride[d] != b->stride[d] || a->tiles[d] * a->blocks[d] != b->tiles[d] * b->blocks[d])))
            return false;
    }
    return true;
}

bool footprints_cross(const struct footprint *a, const struct footprint *b)
{
    if (a->sole && b->sole && footprint_parts_equal(&a->view, &b->view)) return false;
    SCOPED(core_boxes_free) struct core_boxes x = footprint_boxes(a), y = footprint_boxes(b);
    bool cross = false, any = a->anyone || b->anyone;
    for (int64_t i = 0; !cross && i < x.cores; i++)
        for (int64_t k = 0; !cross && k < y.cores; k++)
            cross = (any || i != k) && core_boxes_meet(&x, i, &y, k);
    return cross;
}

/* The range of core i's part around what core k has in common with it. Parts that pieces make up count as a
 * whole. */
static struct part_range footprint_common(const struct lx_layout *y, const struct core_boxes *a, int64_t i,
                                          const struct core_boxes *b, int64_t k)
{
    int64_t first = 0, last = 0, sticks = 1;
    bool plain = true;
    for (int d = a->rank; d-- > 0;) {
        int64_t lo = a->lo[i * a->rank + d], hi = a->hi[i * a->rank + d];
        plain &= a->pieces[d] == 1 && b->pieces[d] == 1 && hi - lo == a->hi[d] - a->lo[d];
        first += (max_i64(lo, b->lo[k * b->rank + d]) - lo) * sticks;
        last += (min_i64(hi, b->hi[k * b->rank + d]) - 1 - lo) * sticks;
        sticks *= hi - lo;
    }
    return plain ? (struct part_range){first * y->stick_bytes, (last + 1) * y->stick_bytes}
                 : (struct part_range){0, INT64_MAX};
}

void footprint_pulled(const struct footprint *from, const struct footprint *to, bool exactly,
                      struct part_range *pulled)
{
    SCOPED(core_boxes_free) struct core_boxes x = footprint_boxes(from), y = footprint_boxes(to);
    for (int64_t i = 0; i < x.cores; i++) {
        struct part_range *all = &pulled[i];
        *all = (struct part_range){INT64_MAX, 0};
        for (int64_t k = 0; k < y.cores && (exactly || all->end == 0); k++) {
            bool own = k < x.cores; /* has core k the same part of the source? */
            for (int d = 0; own && d < x.rank; d++) own = x.lo[i * x.rank + d] == x.lo[k * x.rank + d];
            if (own || !core_boxes_meet(&x, i, &y, k)) continue;
            struct part_range r = {0, INT64_MAX};
            if (exactly) r = footprint_common(footprint_layout(from), &x, i, &y, k);
            *all = (struct part_range){min_i64(all->begin, r.begin), max_i64(all->end, r.end)};
        }
    }
}
