/* Geometry on device layouts; no bytes are touched here. */
#include "device/memory/stick_box.h"
#include "base/checked.h"

#include <string.h>

struct box box_whole(const struct lx_layout *l)
{
    struct box b = {.rank = l->rank - 1};
    for (int i = 0; i < b.rank; i++) b.hi[i] = l->size[i];
    return b;
}

struct box box_of_view(const struct lx_layout *l, const struct lx_core_view *v, int64_t core)
{
    struct box b = box_whole(l);
    if (core >= v->cores) {
        for (int i = 0; i < b.rank; i++) b.hi[i] = 0;
        return b;
    }
    for (int i = 0; i < b.rank && i < v->rank; i++) {
        if (v->slices[i] <= 1 || v->stride[i] < 1) continue;
        int64_t part = ceil_div_i64(l->size[i], v->slices[i]);
        b.lo[i] = min_i64(core / v->stride[i] % v->slices[i] * part, l->size[i]);
        b.hi[i] = min_i64(b.lo[i] + part, l->size[i]);
    }
    return b;
}

int64_t box_sticks(const struct box *b)
{
    int64_t n = 1;
    for (int i = 0; i < b->rank; i++) n *= b->hi[i] - b->lo[i];
    return n;
}

void box_strides(const struct box *b, int64_t *strides)
{
    int64_t n = 1;
    for (int i = b->rank - 1; i >= 0; i--) {
        strides[i] = n;
        n *= b->hi[i] - b->lo[i];
    }
}

/* How one host dimension is walked: index offset + stride * v for v in [from, to). */
struct span {
    int64_t offset, stride, from, to;
    bool to_the_end; /* then padding behind the last index is touched too */
};

static bool table_of_dim(const struct lx_layout *l, const struct box *b, int h, const struct span *s,
                         const int64_t *strides, struct arena *memory, struct region *out)
{
    int64_t n = max_i64(s->to - s->from, 0), last = l->rank - 1;
    int64_t *element = arena_array(memory, (size_t)n, sizeof *element);
    if (!element) return false;
    out->count[h] = n;
    out->element[h] = element;
    for (int64_t i = 0; i < n; i++) {
        int64_t index = s->offset + s->stride * (s->from + i), at = 0;
        if (index < 0 || index >= l->host_shape[h]) {
            element[i] = OUTSIDE;
            continue;
        }
        for (int k = 0; k < last; k++)
            if (l->host_dim[k] == h) at += (index / l->step[k] - b->lo[k]) * strides[k] * l->size[last];
        if (l->host_dim[last] == h) at += index % l->size[last];
        element[i] = at;
    }
    return true;
}

/* The positions along device dimension k, each once. */
static bool positions_of_dim(const struct lx_layout *l, const struct box *b, int k, const struct span *s,
                             struct arena *memory, struct region *out)
{
    int h = l->host_dim[k];
    int64_t most = l->size[k], n = 0, room = most;
    if (h >= 0 && !s->to_the_end) room = min_i64(most, max_i64(s->to - s->from, 0));
    int64_t *position = arena_array(memory, (size_t)room, sizeof *position);
    if (!position) return false;
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
    return true;
}

static bool build(const struct lx_layout *l, const struct box *b, const struct span *spans, bool sticks_only,
                  struct arena *memory, struct region *out)
{
    int64_t strides[LX_MAX_DEVICE_RANK];
    box_strides(b, strides);
    out->host_rank = l->host_rank;
    out->rank = l->rank - 1;
    out->within = true;
    for (int h = 0; h < l->host_rank && !sticks_only; h++)
        if (!table_of_dim(l, b, h, &spans[h], strides, memory, out)) return false;
    for (int k = 0; k < out->rank; k++) {
        const struct span none = {0};
        const struct span *s = l->host_dim[k] < 0 ? &none : &spans[(int)l->host_dim[k]];
        if (!positions_of_dim(l, b, k, s, memory, out)) return false;
    }
    return true;
}

static void spans_of(const struct lx_layout *l, const struct op_index *x, int operand, const struct slice *s,
                     struct span *spans)
{
    for (int h = 0; h < l->host_rank; h++) {
        int v = x->var[operand][h];
        bool shifted = x->shifted == operand;
        spans[h] = (struct span){.offset = shifted ? x->offset[h] : 0,
                                 .stride = shifted ? x->stride[h] : 1,
                                 .from = s->from[v],
                                 .to = s->to[v],
                                 .to_the_end = !shifted && s->to[v] == l->host_shape[h]};
    }
}

bool region_make(const struct lx_layout *l, const struct box *b, const struct op_index *x, int operand,
                 const struct slice *s, struct arena *memory, struct region *out)
{
    struct span spans[LX_MAX_RANK] = {{0}};
    spans_of(l, x, operand, s, spans);
    return build(l, b, spans, false, memory, out);
}

bool region_touched(const struct lx_layout *l, const struct box *b, const struct op_index *x, int operand,
                    const struct slice *s, struct arena *memory, struct region *out)
{
    struct span spans[LX_MAX_RANK] = {{0}};
    spans_of(l, x, operand, s, spans);
    return build(l, b, spans, true, memory, out);
}

bool region_whole(const struct lx_layout *l, const struct box *b, bool sticks_only, struct arena *memory,
                  struct region *out)
{
    struct span spans[LX_MAX_RANK] = {{0}};
    for (int h = 0; h < l->host_rank; h++) spans[h] = (struct span){0, 1, 0, l->host_shape[h], true};
    return build(l, b, spans, sticks_only, memory, out);
}

bool region_of_box(const struct lx_layout *l, const struct box *b, struct arena *memory, struct region *out,
                   int64_t *first)
{
    struct span spans[LX_MAX_RANK] = {{0}};
    for (int h = 0; h < l->host_rank; h++) {
        spans[h] = (struct span){0, 1, 0, l->host_shape[h], false};
        for (int k = 0; k < l->rank - 1; k++)
            if (l->host_dim[k] == h) {
                spans[h].from = min_i64(b->lo[k] * l->step[k], l->host_shape[h]);
                spans[h].to = min_i64(b->hi[k] * l->step[k], l->host_shape[h]);
            }
        first[h] = spans[h].from;
    }
    return build(l, b, spans, false, memory, out);
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
            local += (r->position[k][at[k]] - b->lo[k]) * near[k];
            global += r->position[k][at[k]] * far[k];
        }
        for (int64_t i = 0; i < r->touched[inner]; i++) {
            int64_t p = r->position[inner][i];
            visit(context, local + (p - b->lo[inner]) * near[inner], global + p * far[inner]);
        }
        int k = inner - 1;
        for (; k >= 0 && ++at[k] == r->touched[k]; k--) at[k] = 0;
        if (k < 0) return;
    }
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
        for (int64_t p = b->lo[inner]; p < b->hi[inner]; p++)
            visit(context, local++, global + p * far[inner]);
        int k = inner - 1;
        for (; k >= 0 && ++at[k] == b->hi[k]; k--) at[k] = b->lo[k];
        if (k < 0) return;
    }
}
