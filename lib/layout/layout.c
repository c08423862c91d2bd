/* One layout: sizes, strides, equality. The stride map is filled from the innermost device dimension
 * outwards, so dot(device coordinates, stride_map) is the host offset for any dimension order. */
#include "layout/layout.h"
#include "layout/stated_layouts.h"
#include "base/base.h"

/* Bits per element on the device. bool takes 16. Block floats (bfp8, bfp4) count sticks like bf16 but store
 * fewer bytes. */
static const int device_bits[LX_DTYPE_COUNT] = {
    [LX_FP16] = 16,   [LX_BF16] = 16,   [LX_FP32] = 32,   [LX_FP8] = 8,      [LX_INT64] = 64, [LX_INT32] = 32,
    [LX_INT8] = 8,    [LX_INT4] = 4,    [LX_BOOL] = 16,   [LX_FP64] = 64,    [LX_INT16] = 16, [LX_UINT8] = 8,
    [LX_UINT16] = 16, [LX_UINT32] = 32, [LX_UINT64] = 64, [LX_FP8_E5M2] = 8, [LX_BFP8] = 16,  [LX_BFP4] = 16,
};

static void put_dim(struct lx_layout *l, int64_t size, int host_dim, int64_t step)
{
    l->size[l->rank] = size;
    l->host_dim[l->rank] = (signed char)host_dim;
    l->step[l->rank++] = step;
}

static bool layout_check_order(const int *order, int count, int rank, lx_status *st)
{
    bool seen[LX_MAX_RANK] = {0};
    bool marked = count == rank + 1 && (order[rank] == -1 || (order[rank] == LX_ROW_BY_ROW && rank > 1));
    if (count != rank && !marked)
        return status_set(st, LX_E_LAYOUT,
                          "a dimension order of %d entries for a tensor of %d dimensions; give one a "
                          "dimension, and last -1 for a sparse layout or -2 for one row by row",
                          count, rank);
    for (int i = 0; i < rank; i++) {
        if (order[i] < 0 || order[i] >= rank || seen[order[i]])
            return status_set(st, LX_E_LAYOUT,
                              "dimension %d stands wrongly in the order; each of 0 to %d stands once",
                              order[i], rank - 1);
        seen[order[i]] = true;
    }
    return true;
}

int64_t lx_stick_elements(enum lx_dtype dtype, int64_t stick_bytes)
{
    int64_t n = stick_bytes * 8 / device_bits[dtype];
    return max_i64(n, 1);
}

bool lx_layout_make(enum lx_dtype dtype, int rank, const int64_t *shape, const int64_t *stride,
                    const int *order, int order_count, int64_t stick_bytes, struct lx_layout *out,
                    lx_status *st)
{
    static const int identity[LX_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    _Static_assert(LX_MAX_RANK == 8, "one entry per host dimension");
    int64_t plain[LX_MAX_RANK], e = lx_stick_elements(dtype, stick_bytes);
    if (rank < 0 || rank > LX_MAX_RANK)
        return status_set(st, LX_E_LAYOUT, "a tensor of %d dimensions has no layout; at most %d", rank,
                          LX_MAX_RANK);
    if (stick_bytes < 1 || stick_bytes * 8 % device_bits[dtype] != 0)
        return status_set(st, LX_E_LAYOUT,
                          "a stick of %lld bytes is no whole number of elements of %s; give the device "
                          "other stick_bytes",
                          (long long)stick_bytes, lx_dtype_word(dtype));
    if (!order) order = identity, order_count = rank;
    if (!layout_check_order(order, order_count, rank, st)) return false;
    *out = (struct lx_layout){
        .dtype = dtype, .host_rank = rank, .stick_dim = -1, .stick_elements = e, .stick_bytes = stick_bytes};
    int64_t bits; /* bits of a block-float stick */
    if (lx_dtype_shares(dtype) && lx_dtype_size(dtype, e, &bits)) out->stick_bytes = ceil_div_i64(bits, 8);
    memcpy(out->host_shape, shape, (size_t)rank * sizeof *shape);
    int64_t elements = 1; /* row-major */
    for (int d = rank - 1; !stride && d >= 0; d--) {
        plain[d] = elements;
        if (!mul_i64(elements, shape[d], &elements))
            return status_set(st, LX_E_RANGE, "a tensor has more than 2^63 elements");
    }
    if (!stride) stride = plain;
    bool by_row = order_count > rank && order[rank] == LX_ROW_BY_ROW;
    int n = order_count - by_row, last = n > 0 ? order[n - 1] : -1;
    for (int i = !by_row; i < n - 1; i++) put_dim(out, shape[order[i]], order[i], 1);
    put_dim(out, last >= 0 ? ceil_div_i64(shape[last], e) : 1, last, e);
    if (n > 1 && !by_row) put_dim(out, shape[order[0]], order[0], 1);
    put_dim(out, e, last, 1);
    out->stick_dim = last;
    int64_t next[LX_MAX_RANK] = {0};
    bool seen[LX_MAX_RANK] = {0};
    for (int i = out->rank - 1; i >= 0; i--) {
        int h = out->host_dim[i];
        if (h < 0 || out->host_shape[h] == 1) {
            out->stride_map[i] = -1;
            continue;
        }
        out->stride_map[i] = seen[h] ? next[h] : stride[h];
        if (!mul_i64(out->stride_map[i], out->size[i], &next[h]))
            return status_set(st, LX_E_RANGE, "a device layout is larger than 2^53 bytes");
        seen[h] = true;
    }
    if (lx_layout_bytes(out) > LX_INT_MAX)
        return status_set(st, LX_E_RANGE, "a device layout is larger than 2^53 bytes");
    return true;
}

bool lx_layout_with_stick(enum lx_dtype dtype, int rank, const int64_t *shape, int stick_dim,
                          int64_t stick_bytes, struct lx_layout *out, lx_status *st)
{
    int order[LX_MAX_RANK + 1];
    for (int i = 0; i < rank; i++) order[i] = i;
    int count = rank;
    if (stick_dim < 0) {
        if (rank > 0) order[count++] = -1;
    } else {
        order[stick_dim] = rank - 1;
        order[rank - 1] = stick_dim;
    }
    return lx_layout_make(dtype, rank, shape, NULL, order, count, stick_bytes, out, st);
}

bool lx_layout_pad(struct lx_layout *l, int dim, int64_t extent)
{
    for (int i = 0; i < l->rank - 1; i++)
        if (l->host_dim[i] == dim && l->step[i] == 1 && dim != l->stick_dim && extent >= l->size[i]) {
            l->size[i] = extent;
            return lx_layout_bytes(l) <= LX_INT_MAX;
        }
    return false;
}

int64_t lx_layout_elements(const struct lx_layout *l)
{
    int64_t n = l->rank > 0;
    for (int i = 0; i < l->rank; i++)
        if (!mul_i64(n, l->size[i], &n)) return INT64_MAX;
    return n;
}

int64_t lx_layout_bytes(const struct lx_layout *l)
{
    int64_t n = l->rank > 0 ? l->stick_bytes : 0;
    for (int i = 0; i < l->rank - 1; i++)
        if (!mul_i64(n, l->size[i], &n)) return INT64_MAX;
    return n;
}

bool lx_layout_equal(const struct lx_layout *a, const struct lx_layout *b)
{
    size_t n = (size_t)a->rank;
    return a->rank == b->rank && a->dtype == b->dtype && a->stick_dim == b->stick_dim &&
           memcmp(a->size, b->size, n * sizeof *a->size) == 0 && memcmp(a->host_dim, b->host_dim, n) == 0 &&
           memcmp(a->step, b->step, n * sizeof *a->step) == 0;
}
