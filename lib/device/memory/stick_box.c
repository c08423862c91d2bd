/* Geometry on device layouts; no bytes are touched here. */
#include "device/memory/stick_box.h"

struct box box_whole(const struct lx_layout *l)
{
    struct box b = {.rank = l->rank - 1};
    for (int i = 0; i < b.rank; i++) b.hi[i] = l->size[i];
    return b;
}

struct box box_of_slice(const struct lx_layout *l, const struct lx_core_view *v, const int64_t *begin,
                        int64_t core)
{
    struct box b = box_whole(l);
    for (int k = 0; k < b.rank && core >= v->cores; k++) b.hi[k] = 0;
    for (int k = 0; k < b.rank && k < v->rank && core < v->cores; k++) {
        int64_t size = l->size[k] / max_i64(v->tiles[k], 1);
        b.lo[k] = begin[k];
        b.hi[k] = begin[k] + size;
        /* Slices of a tile; blocks are tiles of an inner loop, each cut into slices. */
        int64_t blocks = max_i64(v->blocks[k], 1), block = size / blocks;
        if (v->slices[k] <= 1 || v->stride[k] < 1) continue;
        int64_t part = ceil_div_i64(block, v->slices[k]), slot = core / v->stride[k] % v->slices[k];
        int64_t lo = begin[k] + min_i64(slot * part, block);
        part = min_i64(part, begin[k] + block - lo);
        b.lo[k] = max_i64(begin[k], lo - v->low[k]);
        b.hi[k] = min_i64(begin[k] + size, lo + (blocks - 1) * block + part + v->high[k]);
        if (blocks > 1) b.run[k] = part, b.step[k] = block;
    }
    return b;
}

bool box_equal(const struct box *a, const struct box *b)
{
    bool same = a->rank == b->rank;
    for (int k = 0; same && k < a->rank; k++)
        same = a->lo[k] == b->lo[k] && a->hi[k] == b->hi[k] && a->run[k] == b->run[k] &&
               a->step[k] == b->step[k];
    return same;
}

int64_t box_stick(const struct box *b, const int64_t *position)
{
    int64_t at = 0;
    for (int k = 0; k < b->rank; k++) {
        int64_t local = box_local(b, k, position[k]);
        if (local < 0) return -1;
        at = at * box_width(b, k) + local;
    }
    return at;
}

int64_t box_sticks(const struct box *b)
{
    int64_t n = 1;
    for (int i = 0; i < b->rank; i++) n *= box_width(b, i);
    return n;
}

void box_strides(const struct box *b, int64_t *strides)
{
    int64_t n = 1;
    for (int i = b->rank - 1; i >= 0; i--) {
        strides[i] = n;
        n *= box_width(b, i);
    }
}

/* A walk along one host dimension: index offset + stride * v for v in [from, to). Its elements are at (first
 * + by * v) / hole. */
struct span {
    int64_t offset, stride, from, to;
    int64_t first, by, hole; /* hole 0: elements are at offset + stride * v */
    bool to_the_end;         /* padding behind the last index is touched too */
};

/* Offset of an index of host dimension h; OUTSIDE: not in the box. */
static int64_t stick_box_element_at(const struct lx_layout *l, const struct box *b, int h,
                                    const int64_t *strides, int64_t index)
{
    int64_t last = l->rank - 1, at = 0;
    if (index < 0 || index >= l->host_shape[h]) return OUTSIDE;
    for (int k = 0; k < last; k++) {
        if (l->host_dim[k] != h) continue;
        int64_t local = box_local(b, k, index / l->step[k]);
        if (local < 0) return OUTSIDE;
        at += local * strides[k] * l->size[last];
    }
    return l->host_dim[last] == h ? at + index % l->size[last] : at;
}

/* Sets the positions touched along device dimension k, each once. */
static void positions_of_dim(const struct lx_layout *l, const struct box *b, int k, const struct span *s,
                             struct arena *memory, struct region *out)
{
    int h = l->host_dim[k];
    int64_t most = l->size[k], n = 0, room = most;
    if (h >= 0 && !s->to_the_end) room = min_i64(most, max_i64(s->to - s->from, 0));
    int64_t *position = arena_array(memory, (size_t)room, sizeof *position);
    if (h < 0)
        for (int64_t p = 0; p < most; p++) position[n++] = p;
    for (int64_t v = h < 0 ? 0 : s->from; h >= 0 && v < s->to; v++) {
        int64_t index = s->offset + s->stride * v;
        if (index < 0 || index >= l->host_shape[h]) continue;
        int64_t p = index / l->step[k];
        if (n == 0 || position[n - 1] != p) position[n++] = p;
        if (s->stride == 1) v += l->step[k] - 1 - index % l->step[k]; /* on to the next step */
    }
    if (h >= 0 && n > 0 && s->to_the_end)
        for (int64_t p = position[n - 1] + 1; p < most; p++) position[n++] = p;
    out->touched[k] = n;
    out->position[k] = position;
    if (n > 0 && (position[0] < b->lo[k] || position[n - 1] >= b->hi[k])) out->within = false;
    for (int64_t i = 0; b->run[k] > 0 && i < n && out->within; i++)
        out->within = box_local(b, k, position[i]) >= 0;
}

static void stick_box_build(const struct lx_layout *l, const struct box *b, const struct span *spans,
                            bool sticks_only, struct arena *memory, struct region *out)
{
    int64_t strides[LX_MAX_DEVICE_RANK];
    box_strides(b, strides);
    out->host_rank = l->host_rank;
    out->rank = l->rank - 1;
    out->within = true;
    for (int h = 0; h < l->host_rank && !sticks_only; h++) {
        bool plain = spans[h].hole == 0 || (spans[h].hole == 1 && spans[h].by == spans[h].stride);
        /* Indices in a stick are side by side wherever the first of them is. */
        int last = l->rank - 1;
        int64_t n = max_i64(spans[h].to - spans[h].from, 0), count;
        int64_t stick = plain && spans[h].stride == 1 && l->host_dim[last] == h ? l->size[last] : 1,
                run = stick;
        for (int k = 0; k < last; k++)
            if (l->host_dim[k] == h && l->step[k] != stick) run = 1;
        int64_t *element = arena_array(memory, (size_t)n, sizeof *element);
        out->count[h] = n;
        out->element[h] = element;
        for (int64_t i = 0; i < n; i += count) {
            int64_t index = spans[h].offset + spans[h].stride * (spans[h].from + i);
            if (!plain) { /* -1: no element */
                int64_t at = spans[h].first + spans[h].by * (spans[h].from + i);
                index = at < 0 || at % spans[h].hole != 0 ? -1 : at / spans[h].hole;
            }
            element[i] = stick_box_element_at(l, b, h, strides, index);
            count = 1;
            if (run == 1 || element[i] == OUTSIDE) continue;
            count = min_i64(min_i64(run - index % run, n - i), l->host_shape[h] - index);
            for (int64_t k = 1; k < count; k++) element[i + k] = element[i] + k;
        }
    }
    for (int k = 0; k < out->rank; k++) {
        const struct span none = {0};
        const struct span *s = l->host_dim[k] < 0 ? &none : &spans[(int)l->host_dim[k]];
        positions_of_dim(l, b, k, s, memory, out);
    }
}

static void spans_of(const struct lx_layout *l, const struct op_index *x, int operand, const struct slice *s,
                     struct span *spans)
{
    for (int h = 0; h < l->host_rank; h++) {
        int v = x->var[operand][h];
        bool shifted = op_index_shifted(x, operand);
        const struct lx_walk *w = x->walks ? &x->walks[operand] : NULL;
        spans[h] = (struct span){.offset = op_index_offset(x, operand, h),
                                 .stride = op_index_stride(x, operand, h),
                                 .first = w && w->offset ? w->first[h] : 0,
                                 .by = w && w->offset ? w->by[h] : 0,
                                 .hole = w && w->offset ? w->hole[h] : 0,
                                 .from = s->from[v],
                                 .to = s->to[v],
                                 .to_the_end = !shifted && s->to[v] == l->host_shape[h]};
    }
}

void region_make(const struct lx_layout *l, const struct box *b, const struct op_index *x, int operand,
                 const struct slice *s, struct arena *memory, struct region *out)
{
    struct span spans[LX_MAX_RANK] = {{0}};
    spans_of(l, x, operand, s, spans);
    stick_box_build(l, b, spans, false, memory, out);
}

void region_touched(const struct lx_layout *l, const struct box *b, const struct op_index *x, int operand,
                    const struct slice *s, struct arena *memory, struct region *out)
{
    struct span spans[LX_MAX_RANK] = {{0}};
    spans_of(l, x, operand, s, spans);
    stick_box_build(l, b, spans, true, memory, out);
}

void region_whole(const struct lx_layout *l, const struct box *b, bool sticks_only, struct arena *memory,
                  struct region *out)
{
    struct span spans[LX_MAX_RANK] = {{0}};
    for (int h = 0; h < l->host_rank; h++)
        spans[h] = (struct span){.stride = 1, .to = l->host_shape[h], .to_the_end = true};
    stick_box_build(l, b, spans, sticks_only, memory, out);
}

void region_of_box(const struct lx_layout *l, const struct box *b, const int64_t *from, const int64_t *to,
                   struct arena *memory, struct region *out, int64_t *first)
{
    struct span spans[LX_MAX_RANK] = {{0}};
    for (int h = 0; h < l->host_rank; h++) {
        spans[h] = (struct span){.stride = 1, .from = from[h], .to = to[h]};
        for (int k = 0; k < l->rank - 1; k++)
            if (l->host_dim[k] == h) {
                spans[h].from = max_i64(from[h], min_i64(b->lo[k] * l->step[k], to[h]));
                spans[h].to = max_i64(spans[h].from, min_i64(b->hi[k] * l->step[k], to[h]));
            }
        first[h] = spans[h].from;
    }
    stick_box_build(l, b, spans, false, memory, out);
}

int64_t region_sticks(const struct region *r)
{
    int64_t n = 1;
    for (int k = 0; k < r->rank; k++) n *= r->touched[k];
    return n;
}

int64_t region_items(const struct region *r)
{
    int64_t n = 1;
    for (int h = 0; h < r->host_rank; h++) n *= r->count[h];
    return n;
}

void region_visit(const struct region *r, const struct lx_layout *l, const struct box *b, stick_visit *visit,
                  void *context)
{
    int64_t at[LX_MAX_DEVICE_RANK] = {0}, near[LX_MAX_DEVICE_RANK], far[LX_MAX_DEVICE_RANK];
    struct box whole = box_whole(l);
    if (region_sticks(r) == 0) return;
    box_strides(b, near);
    box_strides(&whole, far);
    for (int inner = r->rank - 1;;) {
        int64_t local = 0, global = 0;
        for (int k = 0; k < inner; k++) {
            local += box_local(b, k, r->position[k][at[k]]) * near[k];
            global += r->position[k][at[k]] * far[k];
        }
        for (int64_t i = 0; i < r->touched[inner]; i++) {
            int64_t p = r->position[inner][i];
            visit(context, local + box_local(b, inner, p) * near[inner], global + p * far[inner]);
        }
        int k = inner - 1;
        for (; k >= 0 && ++at[k] == r->touched[k]; k--) at[k] = 0;
        if (k < 0) return;
    }
}

/* The next position of the box after p, or hi. */
static int64_t next_in(const struct box *b, int k, int64_t p)
{
    p++;
    if (b->run[k] > 0 && p < b->hi[k] && (p - b->lo[k]) % b->step[k] == b->run[k])
        p += b->step[k] - b->run[k];
    return p;
}

void box_visit(const struct lx_layout *l, const struct box *b, stick_visit *visit, void *context)
{
    int64_t at[LX_MAX_DEVICE_RANK], far[LX_MAX_DEVICE_RANK], local = 0;
    struct box whole = box_whole(l);
    if (box_sticks(b) <= 0) return;
    box_strides(&whole, far);
    memcpy(at, b->lo, sizeof at);
    for (int inner = b->rank - 1;;) {
        int64_t global = 0;
        for (int k = 0; k < inner; k++) global += at[k] * far[k];
        for (int64_t p = b->lo[inner]; p < b->hi[inner]; p = next_in(b, inner, p))
            visit(context, local++, global + p * far[inner]);
        int k = inner - 1;
        for (; k >= 0 && (at[k] = next_in(b, k, at[k])) == b->hi[k]; k--) at[k] = b->lo[k];
        if (k < 0) return;
    }
}
