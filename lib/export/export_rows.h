/* Writers of the formats that only plans have, one per row of exports.c. Private to this folder. */
#pragma once

#include "base/base.h"
#include "export/exports.h"

#define EXPORT_WRITES(name)                                                                                  \
    bool name(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st)

EXPORT_WRITES(handover_write);
EXPORT_WRITES(perfetto_write);
EXPORT_WRITES(memory_viz_write);
EXPORT_WRITES(explorer_graph_write);
EXPORT_WRITES(explorer_residency_write);
EXPORT_WRITES(explorer_hbm_write);
EXPORT_WRITES(explorer_time_write);
EXPORT_WRITES(explorer_cores_write);
EXPORT_WRITES(assignment_write);
EXPORT_WRITES(allocinfo_write);
EXPORT_WRITES(html_write);

enum { PS_PER_NS = 1000, PS_PER_US = 1000000 };

struct tick_times {
    int64_t first, last; /* ticks in [first, last) have a length */
    int64_t *at;         /* per tick of [first, last]: its begin; NULL: one microsecond each. Allocated */
};

void tick_times_make(const struct lx_plan *p, struct tick_times *out);
/* In picoseconds. Ticks outside map to the nearer end. */
int64_t tick_time(const struct tick_times *t, int64_t tick);
