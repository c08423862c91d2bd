/* The rates of a device: numbers of a cost table, scaled to the device. A preset of graph/target.c names its
 * table. Numbers are measured or fitted on a device with the table's nominal rates, and scale with the
 * device's own rates. The table `roofline` has nominal rates of 1. Microseconds throughout; 1 GB/s is 1000
 * bytes per microsecond. */
#ifndef LX_COST_RATES_H
#define LX_COST_RATES_H

#include "graph/target.h"

#include <stdbool.h>

/* Each with its unit, where it has one. */
enum cost_constant_id {
    COST_ONE_WAY,         /* GB/s: HBM in one direction */
    COST_TURNAROUND,      /* ns per byte that goes both ways */
    COST_CORE_PORT,       /* GB/s: HBM bandwidth that one core can take */
    COST_ROW_FLOOR,       /* GB/s: a row reduction of very many rows */
    COST_ROW_GAIN,        /* GB/s: its gain with few rows */
    COST_ROW_SCALE,       /* rows at which the gain falls to 1/e */
    COST_OUTER,           /* GB/s: a reduction across rows */
    COST_RESTICK,         /* GB/s: a copy with the stick along another dimension */
    COST_BROADCASTS,      /* GB/s: an op with an operand of fewer indices */
    COST_SHARE_1,         /* share of its rate that a row reduction reaches on one core */
    COST_SHARE_2,         /* and on 2 */
    COST_SHARE_4,         /* and on 4 */
    COST_SHARE_8,         /* and on 8 */
    COST_SHARE_16,        /* and on 16 */
    COST_SHARE_32,        /* and on 32 and more */
    COST_STREAM_CAP,      /* GB/s: all readers of one operand of a matmul together */
    COST_RUN_OVERHEAD,    /* sticks: start of a run of consecutive sticks */
    COST_PSUM,            /* us/KB: a core's partial sums through one reduce step */
    COST_COMPUTE_SHOWN,   /* share of a matmul's compute time that transfers do not hide */
    COST_COMPUTE_REDUCED, /* the same where K is split: one corelet, and sums wait */
    COST_KERNEL_PASSES,   /* added share of read time: batched kernel, several K sticks per core */
    COST_SLICE_1,         /* GB/s: one slice of an operand, wanted by one core */
    COST_SLICE_2,         /* GB/s: by 2 */
    COST_SLICE_4,         /* GB/s: by 4 */
    COST_SLICE_8,         /* GB/s: by 8 */
    COST_SLICE_16,        /* GB/s: by 16 */
    COST_SLICE_32,        /* GB/s: by 32 and more */
    COST_MACS,            /* 1/us: multiply-adds of one core */
    COST_PE_ROWS,         /* rows of the PE array */
    COST_PE_PASSES,       /* passes over the array that keep it busy */
    COST_PE_EXPONENT,     /* power by which fewer passes slow it down */
    COST_HOP,             /* ns per run and doubling of the parts of a relayout */
    COST_RUN,             /* ns subtracted per run (cost_relayout) */
    COST_RELAYOUT,        /* GB/s that each core receives in a relayout */
    COST_LX_PORT,         /* GB/s: scratchpad bandwidth of one core */
    COST_LAUNCH,          /* us per bundle */
    COST_LAUNCH_OPERAND,  /* us per operand through HBM */
    COST_LAUNCH_DOUBLING, /* us per doubling of the cores */
    COST_CREDIT,          /* bytes of a plan that cost no HBM time (cost_charged_bytes) */
    COST_CONSTANT_COUNT
};

/* The six that were fitted, next to each other: tests/measure/bench_matmul_picks.c fits them again. */
enum {
    COST_FITTED = COST_STREAM_CAP,
    COST_FITTED_COUNT = COST_KERNEL_PASSES - COST_STREAM_CAP + 1,
    COST_DOUBLINGS = 6
};

/* How a number scales: not at all, with a rate of the device (BY), or against it (OVER). */
enum cost_scale {
    COST_FIXED,
    COST_BY_HBM,
    COST_OVER_HBM,
    COST_BY_RING,
    COST_OVER_PSUM,
    COST_BY_LX,
    COST_BY_PEAK,
    COST_SCALE_COUNT
};

struct cost_number {
    double value;
    enum cost_scale scale;
    const char *origin;
};

struct cost_table {
    const char *name, *help;
    double hbm_gb_per_s, ring_gb_per_s, psum_ring_gb_per_s, lx_gb_per_s, peak_gflop_per_s; /* nominal */
    /* Transfers hide as much compute time as they can; a core computes whole tiles. */
    bool hides_compute, whole_tiles;
    struct cost_number number[COST_CONSTANT_COUNT];
};

/* cost_tables.c: NULL behind the last, or if there is none of that name. */
const struct cost_table *cost_table_at(int i);
const struct cost_table *cost_table_find(const char *name);

struct cost_rates {
    double value[COST_CONSTANT_COUNT];
    double tile_rows, tile_columns; /* 0: no rounding to whole tiles */
    bool hides_compute;
};

struct cost_rates cost_rates_of(const struct lx_device *d);
double cost_rate(const struct lx_device *d, enum cost_constant_id id);

#endif
