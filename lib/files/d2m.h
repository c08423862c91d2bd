/* Variables of tt-mlir's D2M allocator: each is in scratch memory or spilled, and claims other requests
 * there. */
#pragma once

#include "graph/builder.h"

/* Bytes claimed on the ticks first to last. */
struct d2m_request {
    int64_t first, last, size, offset;
    struct place place;
};

enum d2m_bound { D2M_FREE, D2M_IN_SCRATCH, D2M_SPILLED };

struct d2m_variable {
    const int32_t *scratch, *spill; /* request numbers */
    int32_t scratch_count, spill_count;
    enum d2m_bound bound;
    bool placed; /* the file's own choice */
    struct place place;
};

/* Adds buffers and bonds to a list: the scratch requests of a variable form a group, and the first carries
 * their summed off-chip cost (a variable without any gets a buffer of 0 bytes); the spill requests are staged
 * instead of the group. */
bool d2m_add(struct graph_builder *b, const struct d2m_variable *variables, int32_t count,
             const struct d2m_request *requests, lx_status *st);
