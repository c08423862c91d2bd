#include "graph/target.h"
#include "base/fail.h"
#include "base/checked.h"

#include <math.h>
#include <stdio.h>
#include <stddef.h>
#include <string.h>

#define ROW(key, integer, low, high, help)                                                                   \
    {                                                                                                        \
#key, integer, low, high, help, offsetof(struct lx_device, key)                                      \
    }

static const struct lx_device_parameter parameters[] = {
    ROW(cores, true, 1, 1024, "cores of the device"),
    ROW(grid_y, true, 1, 1024, "rows of the core grid"),
    ROW(grid_x, true, 1, 1024, "columns of the core grid"),
    ROW(lx_bytes, true, 0, 0x1p53, "scratchpad bytes of each core"),
    ROW(lx_reserved_bytes, true, 0, 0x1p53, "of these, bytes kept by the runtime"),
    ROW(lx_reserved_fraction, false, 0, 1, "of the rest, the share kept by the backend"),
    ROW(lx_usable_bytes, true, -1, 0x1p53, "what the planner may use, outright; -1: by the three above"),
    ROW(stick_bytes, true, 1, 0x1p30, "the grain of memory and the alignment in LX"),
    ROW(span_bytes, true, 1, 0x1p53, "the most that one core may address of a tensor"),
    ROW(tile_rows, true, 1, 0x1p20, "rows of a compute tile"),
    ROW(tile_columns, true, 1, 0x1p20, "columns of a compute tile"),
    ROW(hbm_gb_per_s, false, 1e-3, 1e6, "off-chip bandwidth of the device"),
    ROW(ring_gb_per_s, false, 1e-3, 1e6, "data ring, each direction"),
    ROW(psum_ring_gb_per_s, false, 1e-3, 1e6, "reduce ring"),
    ROW(lx_gb_per_s, false, 1e-3, 1e6, "scratchpad port of a core"),
    ROW(peak_gflop_per_s, false, 1e-3, 1e9, "fp16 peak of one core"),
    {0},
};

/* spyre: public documents of the project (32 cores, 2 MiB LX less 64 KiB less 20 %, 128-byte sticks,
 * 256 MiB span, LPDDR5 204.8 GB/s, data ring 166 GB/s, PSUM ring 35 GB/s, LX port 140 GB/s).
 * tenstorrent: an 8x8 grid of Tensix cores with 1.5 MB of L1 each and 32x32 tiles of fp16 (64-byte
 * rows, 32-byte L1 alignment); bandwidths are those of a Wormhole card. */
static const struct lx_device presets[] = {
    {"spyre", 32, 1, 32, 2 << 20, 64 << 10, 0.2, -1, 128, 256 << 20, 1, 64, 204.8, 166.4, 35.2, 140.8, 3072},
    {"tenstorrent", 64, 8, 8, 1536 << 10, 0, 0, -1, 32, INT64_C(4) << 30, 32, 32, 288, 96, 96, 96, 1164},
};

static const char *const preset_names[] = {"spyre", "tenstorrent", NULL};

const struct lx_device_parameter *lx_device_parameters(void)
{
    return parameters;
}

const struct lx_device_parameter *lx_device_parameter_find(const char *key)
{
    for (const struct lx_device_parameter *p = parameters; p->key; p++)
        if (strcmp(p->key, key) == 0) return p;
    return NULL;
}

double lx_device_get(const struct lx_device *d, const struct lx_device_parameter *p)
{
    const void *at = (const char *)d + p->offset;
    return p->integer ? (double)*(const int64_t *)at : *(const double *)at;
}

bool lx_device_set(struct lx_device *d, const struct lx_device_parameter *p, double value, lx_status *st)
{
    if (!(value >= p->low && value <= p->high))
        return status_set(st, LX_E_RANGE, "%s is %.15g; it must be from %.15g to %.15g (%s)", p->key, value,
                          p->low, p->high, p->help);
    if (p->integer && value != floor(value))
        return status_set(st, LX_E_RANGE, "%s is %.15g; it must be an integer (%s)", p->key, value, p->help);
    void *at = (char *)d + p->offset;
    if (p->integer)
        *(int64_t *)at = (int64_t)value;
    else
        *(double *)at = value;
    return true;
}

bool lx_device_preset(const char *name, struct lx_device *out)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strcmp(presets[i].preset, name) == 0) {
            *out = presets[i];
            return true;
        }
    return false;
}

const char *const *lx_device_presets(void)
{
    return preset_names;
}

int64_t lx_device_usable(const struct lx_device *d)
{
    if (d->lx_usable_bytes >= 0) return d->lx_usable_bytes;
    int64_t left = max_i64(d->lx_bytes - d->lx_reserved_bytes, 0);
    return round_up_i64((int64_t)((double)left * (1 - d->lx_reserved_fraction)), d->stick_bytes);
}
