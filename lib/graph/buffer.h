/* A buffer: what is placed in a scratchpad. Patterns may list buffers outright; for graphs the
 * scratchpad stage derives them from tensors and ops. Solvers see nothing else. */
#ifndef LX_GRAPH_BUFFER_H
#define LX_GRAPH_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

/* What is asked of a solver; see scratchpad/placement/problem.h. */
enum lx_objective { LX_SPILL, LX_FIT, LX_HEIGHT, LX_OBJECTIVE_COUNT };

const char *lx_objective_word(enum lx_objective o);

struct lx_buffer {
    const char *name;
    int64_t size;        /* bytes on each core; 0 is allowed and conflicts with nothing */
    int64_t start, end;  /* live on [start, end), start < end */
    const int64_t *uses; /* strictly increasing ticks, one per accessing op; may be empty */
    int32_t use_count;
    bool first_use_is_read; /* a graph input: it exists before its first use */
    const int32_t *parents; /* buffers whose slot this one may take over, in order of preference */
    int32_t parent_count;
    int64_t fixed;      /* the only address it may have, or -1 */
    int64_t alignment;  /* of this buffer: a multiple of the problem's, or 0 for the problem's own */
    int64_t spill_cost; /* bytes of HBM traffic that being off chip costs; >= 0 */
    const char *reason; /* why it may not be placed; NULL if it may */
    int line, column;   /* where the pattern declares it; 0 if it was generated */
};

/* Buffers that go together: what a list in a file, a placement problem and a choice out of one have in common. */
struct lx_buffers {
    const struct lx_buffer *at;
    int32_t count;
    int64_t alignment; /* of those that have none of their own */
};

#endif
