/* Two tables: the parameters of a device with their ranges, and the presets. All code that reads, writes,
 * lists or completes devices walks them. */
#include "graph/target.h"
#include "base/base.h"

/* clang-format off */
#define ROW(key, integer, low, high, help) {#key, integer, low, high, help, offsetof(struct lx_device, key)}
/* clang-format on */

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
    ROW(tiled, true, 0, 1, "1: tensors lie in tiles, and cores take whole ones"),
    ROW(uneven, true, 0, 1, "1: the last core of a dimension may have less of it than the others"),
    ROW(turns, true, 0, 1, "1: contractions also take two inputs whose sticks both run along the sum"),
    ROW(hbm_gb_per_s, false, 1e-3, 1e6, "off-chip bandwidth of the device"),
    ROW(ring_gb_per_s, false, 1e-3, 1e6, "data ring, each direction"),
    ROW(psum_ring_gb_per_s, false, 1e-3, 1e6, "reduce ring"),
    ROW(lx_gb_per_s, false, 1e-3, 1e6, "scratchpad port of a core"),
    ROW(peak_gflop_per_s, false, 1e-3, 1e9, "fp16 peak of one core"),
    ROW(link_gb_per_s, false, 1e-3, 1e6, "link to another device of a team, each direction"),
    ROW(link_us, false, 0, 1e6, "what a message over it takes beside its bytes"),
    ROW(link2_gb_per_s, false, 0, 1e6, "link along the axes of a grid before the last; 0: as link_gb_per_s"),
    ROW(link2_us, false, -1, 1e6, "what a message over it takes; -1: as link_us"),
    ROW(bundle_tensors, true, 0, 0x1p20, "tensors in HBM that one bundle of ops may have; 0: no limit"),
    ROW(lx_survives, true, 0, 1, "1: scratchpads survive bundles that plans mark non-terminal; 0: none"),
    {0},
};

/* The first is the default. A row names its cost table (cost_tables.c): one that was measured on
 * such a device, or `roofline`, which goes by the numbers of the row. */
/* clang-format off */
static const struct lx_device presets[] = {
    /* Public documents of the project: LPDDR5, a data ring of 166 GB/s, a PSUM ring of 35 GB/s, LX ports of
     * 140 GB/s; cards are connected by PCI Express. */
    {
        .preset = "spyre",
        .help = "a Spyre card: 32 cores in a row, 2 MiB of scratchpad each, sticks of 128 bytes",
        .cost_table = "spyre",
        .cores = 32, .grid_y = 1, .grid_x = 32,
        .lx_bytes = 2 << 20, .lx_reserved_bytes = 64 << 10, .lx_reserved_fraction = 0.2,
        .lx_usable_bytes = -1,
        .stick_bytes = 128,
        .span_bytes = 256 << 20,
        .tile_rows = 1, .tile_columns = 64,
        .hbm_gb_per_s = 204.8, .ring_gb_per_s = 166.4, .psum_ring_gb_per_s = 35.2, .lx_gb_per_s = 140.8,
        .peak_gflop_per_s = 3072,
        .link_gb_per_s = 32, .link_us = 5, .link2_us = -1,
    },
    /* Wormhole: an 8x8 grid of Tensix cores with 1.5 MiB of L1 each (1,464 KiB usable), and 32x32 tiles
     * of fp16 (64-byte rows, 32-byte L1 alignment); bandwidths are those of a Wormhole card,
     * links are two of its Ethernet ports. */
    {
        .preset = "tenstorrent",
        .help = "a Wormhole card: 8x8 Tensix cores, 1,464 KiB of L1 usable in each, tiles of 32x32",
        .cost_table = "roofline",
        .cores = 64, .grid_y = 8, .grid_x = 8,
        .lx_bytes = 1536 << 10, .lx_reserved_bytes = 72 << 10, .lx_reserved_fraction = 0,
        .lx_usable_bytes = -1,
        .stick_bytes = 32,
        .span_bytes = INT64_C(4) << 30,
        .tile_rows = 32, .tile_columns = 32, .tiled = 1,
        .hbm_gb_per_s = 288, .ring_gb_per_s = 96, .psum_ring_gb_per_s = 96, .lx_gb_per_s = 96,
        .peak_gflop_per_s = 1164,
        .link_gb_per_s = 25, .link_us = 1, .link2_us = -1,
    },
    /* An H200: one block per streaming multiprocessor, each with the 232,448 bytes of shared memory that a
     * block may have. 132,096 of them are kept: 128 KiB in which contractions stage their streams, and 1 KiB
     * in which the warps of a block meet. Rates are measured (cost_tables.c); a link is one of NVLink's
     * directions. */
    {
        .preset = "h200",
        .help = "an NVIDIA H200: 132 multiprocessors, 98 KiB of shared memory planned in each",
        .cost_table = "h200",
        .cores = 132, .grid_y = 1, .grid_x = 132,
        .lx_bytes = 232448, .lx_reserved_bytes = 132096, .lx_reserved_fraction = 0,
        .lx_usable_bytes = -1,
        .stick_bytes = 128,
        .span_bytes = INT64_C(1) << 40,
        .tile_rows = 16, .tile_columns = 64, .uneven = 1, .turns = 1,
        .hbm_gb_per_s = 4620, .ring_gb_per_s = 11.5, .psum_ring_gb_per_s = 11.5, .lx_gb_per_s = 126,
        .peak_gflop_per_s = 4660,
        .link_gb_per_s = 450, .link_us = 2, .link2_us = -1,
    },
};
/* clang-format on */

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

const struct lx_device *lx_device_at(int i)
{
    return i >= 0 && i < (int)(sizeof presets / sizeof *presets) ? &presets[i] : NULL;
}

bool lx_device_preset(const char *name, struct lx_device *out)
{
    const struct lx_device *d;
    for (int i = 0; (d = lx_device_at(i)); i++)
        if (strcmp(d->preset, name) == 0) {
            *out = *d;
            return true;
        }
    return false;
}

const char *lx_device_names(const char *between, char *out, size_t size)
{
    const struct lx_device *d;
    size_t n = 0;
    if (size > 0) out[0] = 0;
    for (int i = 0; (d = lx_device_at(i)) && n < size; i++) {
        int wrote = snprintf(out + n, size - n, "%s%s", i ? between : "", d->preset);
        n += wrote > 0 ? (size_t)wrote : 0;
    }
    return out;
}

const struct cost_table *lx_device_costs(const struct lx_device *d)
{
    const struct cost_table *t = d->cost_table ? cost_table_find(d->cost_table) : NULL;
    if (t) return t;
    return d->own_costs.name[0] ? &d->own_costs : cost_table_find("roofline");
}

bool lx_device_same(const struct lx_device *a, const struct lx_device *b)
{
    bool same = strcmp(a->preset, b->preset) == 0 && strcmp(a->help, b->help) == 0 &&
                cost_table_same(lx_device_costs(a), lx_device_costs(b));
    for (const struct lx_device_parameter *p = parameters; p->key; p++)
        same = same && lx_device_get(a, p) == lx_device_get(b, p);
    return same;
}

void lx_device_link(const struct lx_device *d, int from_last, double *gb_per_s, double *us)
{
    bool outer = from_last > 0;
    *gb_per_s = outer && d->link2_gb_per_s > 0 ? d->link2_gb_per_s : d->link_gb_per_s;
    *us = outer && d->link2_us >= 0 ? d->link2_us : d->link_us;
}

int64_t lx_device_usable(const struct lx_device *d)
{
    if (d->lx_usable_bytes >= 0) return d->lx_usable_bytes;
    int64_t left = max_i64(d->lx_bytes - d->lx_reserved_bytes, 0);
    return round_up_i64((int64_t)((double)left * (1 - d->lx_reserved_fraction)), d->stick_bytes);
}
