/* The device that a pattern is planned for: its parameters and its cost table. Each parameter is a row of the
 * table in target.c, from which pattern files, the command line and the help take it. Plain values: some 7
 * KiB that are copied. */
#pragma once

#include "base/status.h"
#include "graph/cost_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LX_DEVICE_NAME = 24, LX_DEVICE_HELP = 120 };

struct lx_device {
    char preset[LX_DEVICE_NAME]; /* its name, by its preset or its device file */
    char help[LX_DEVICE_HELP];
    const char *cost_table; /* of graph/cost_tables.c; NULL: own_costs, or `roofline` if that has no name */
    struct cost_table own_costs;
    int64_t cores, grid_y, grid_x;
    int64_t lx_bytes, lx_reserved_bytes; /* per core */
    double lx_reserved_fraction;         /* share of the bytes left after the reserved ones */
    int64_t lx_usable_bytes;             /* if >= 0, overrides the three above */
    int64_t stick_bytes;                 /* the unit of memory, and the alignment in LX */
    int64_t span_bytes;                  /* most bytes of a tensor that one core may address */
    int64_t tile_rows, tile_columns;
    int64_t tiled;  /* 1: tensors lie in such tiles, and ops are divided in whole ones */
    int64_t uneven; /* 1: the last core of a dimension may have less of it than the others */
    int64_t turns;  /* 1: contractions turn what they read: the sticks of both inputs may run along the sum */
    double hbm_gb_per_s, ring_gb_per_s, psum_ring_gb_per_s, lx_gb_per_s;
    double peak_gflop_per_s; /* per core, fp16 */
    /* Links between neighbouring devices of a team: rate, and latency per message. link_*: along the last
     * axis of the grid; link2_*: along the other axes. */
    double link_gb_per_s, link2_gb_per_s; /* link2 0: as the first */
    double link_us, link2_us;             /* link2 below 0: as the first */
    int64_t bundle_tensors;               /* most HBM tensors of a kernel's ops; 0: no limit */
    int64_t lx_survives; /* 1: nothing wipes the scratchpads behind a bundle that a plan marks non-terminal */
};

/* One parameter: its key in files and on the command line. */
struct lx_device_parameter {
    const char *key;
    bool integer;
    double low, high;
    const char *help;
    unsigned offset; /* into struct lx_device */
};

/* Ends with a NULL key. */
const struct lx_device_parameter *lx_device_parameters(void);
const struct lx_device_parameter *lx_device_parameter_find(const char *key);
double lx_device_get(const struct lx_device *d, const struct lx_device_parameter *p);
/* Checks the range; false: see `st`. */
bool lx_device_set(struct lx_device *d, const struct lx_device_parameter *p, double value, lx_status *st);

/* The presets, the default first. NULL after the last. */
const struct lx_device *lx_device_at(int i);
/* False if there is no preset `name`. */
bool lx_device_preset(const char *name, struct lx_device *out);
/* The cost table that times are predicted by. */
const struct cost_table *lx_device_costs(const struct lx_device *d);
/* Same name, help, parameters and cost table. */
bool lx_device_same(const struct lx_device *a, const struct lx_device *b);
/* All names in a line, for words to a user: "spyre, tenstorrent". */
const char *lx_device_names(const char *between, char *out, size_t size);

/* Rate and latency of the link along a grid axis, counted from the last axis. */
void lx_device_link(const struct lx_device *d, int from_last, double *gb_per_s, double *us);

/* LX bytes that the planner may use on each core: round_up_to_stick(int((lx_bytes - lx_reserved_bytes) * (1
 * - lx_reserved_fraction))). */
int64_t lx_device_usable(const struct lx_device *d);
