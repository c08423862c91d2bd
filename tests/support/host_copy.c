#include "support/host_copy.h"

void layout_strides(const struct lx_layout *l, int64_t *strides)
{
    int64_t n = 1;
    for (int i = l->rank - 1; i >= 0; i--) {
        strides[i] = n;
        n *= l->size[i];
    }
}

/* Steps `at` through the box `size`; false after the last. */
static bool next_position(int rank, const int64_t *size, int64_t *at)
{
    for (int i = rank - 1; i >= 0; i--) {
        if (++at[i] < size[i]) return true;
        at[i] = 0;
    }
    return false;
}

/* The host element of a device position, or -1. */
static int64_t host_offset(const struct lx_layout *l, const int64_t *at, int64_t host_count)
{
    int64_t offset = 0;
    for (int i = 0; i < l->rank; i++) {
        if (l->stride_map[i] < 0 && at[i] > 0) return -1;
        if (l->stride_map[i] > 0) offset += at[i] * l->stride_map[i];
    }
    return offset < host_count ? offset : -1;
}

void layout_to_device(const struct lx_layout *l, const int64_t *index, int64_t *coordinates)
{
    for (int i = 0; i < l->rank; i++) {
        int h = l->host_dim[i];
        int64_t v = h < 0 ? 0 : index[h];
        if (h >= 0 && h == l->stick_dim)
            v = l->step[i] > 1 ? v / l->step[i] : i == l->rank - 1 ? v % l->stick_elements : v;
        coordinates[i] = v;
    }
}

bool layout_to_host(const struct lx_layout *l, const int64_t *coordinates, int64_t *index)
{
    for (int d = 0; d < l->host_rank; d++) index[d] = 0;
    for (int i = 0; i < l->rank; i++) {
        if (l->host_dim[i] >= 0)
            index[l->host_dim[i]] += coordinates[i] * l->step[i];
        else if (coordinates[i] > 0)
            return false;
    }
    for (int d = 0; d < l->host_rank; d++)
        if (index[d] >= l->host_shape[d]) return false;
    return true;
}

void layout_copy_in(const struct lx_layout *l, const void *host, int64_t host_count, size_t item,
                    void *device)
{
    int64_t at[LX_MAX_DEVICE_RANK] = {0};
    unsigned char *to = device;
    do {
        int64_t offset = host_offset(l, at, host_count);
        if (offset < 0)
            memset(to, 0, item);
        else
            memcpy(to, (const unsigned char *)host + (size_t)offset * item, item);
        to += item;
    } while (next_position(l->rank, l->size, at));
}

void layout_copy_out(const struct lx_layout *l, const void *device, size_t item, void *host,
                     int64_t host_count)
{
    int64_t at[LX_MAX_DEVICE_RANK] = {0};
    const unsigned char *from = device;
    do {
        int64_t offset = host_offset(l, at, host_count);
        if (offset >= 0) memcpy((unsigned char *)host + (size_t)offset * item, from, item);
        from += item;
    } while (next_position(l->rank, l->size, at));
}
