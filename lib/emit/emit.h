/* From a plan to a program: CUDA C text with one kernel, which needs no header.
 *
 * A block is a core, its dynamic shared memory the scratchpad, and HBM one segment of global memory. Ticks
 * follow each other in the plan's order, nests are loops, and all cores wait for each other exactly where the
 * plan has a sync or a bundle begins. What a core needs of another one's scratchpad goes through global
 * memory (`aside`): whoever fills the source of a ring copy writes its part there too, and the plan's sync
 * lies between. Parts of a split sum meet there as well, in a wait of their group only.
 *
 * The same text runs on a CPU: it has no word that the prelude does not define, and there is a prelude for
 * each. What cannot be written is refused with the op and the reason. */
#pragma once

#include "base/base.h"
#include "plan/plan.h"

/* Where the program runs. */
enum emit_on { EMIT_CUDA, EMIT_HOST };

enum { EMIT_THREADS = 512 }; /* of a block */

struct emit_options {
    enum emit_on on;
    bool traces; /* the result of each op is copied to the trace area, and scratchpads begin with NaNs */
    bool stamps; /* the time of each tick is added to sums in the trace area */
    bool counts; /* like stamps, but bytes of global memory that it asks for instead of time */
};

/* Sums of 8 bytes in the trace area, each of all cores in a row: a tick's kinds of time, one tick after the
 * other, in steps of a core's clock (or bytes); then a whole launch in these steps and in nanoseconds, and the launches. */
enum { EMIT_STAMP_WAIT, EMIT_STAMP_COPIES, EMIT_STAMP_BODY, EMIT_STAMPS };
enum { EMIT_STAMPS_STEPS, EMIT_STAMPS_NS, EMIT_STAMPS_LAUNCHES, EMIT_STAMPS_ALL };

/* A result in the trace area: the whole tensor as HBM would have it, once per iteration of the levels of its
 * nest that do not index it. */
struct emit_trace {
    int64_t at, bytes; /* of the first, of one */
    unsigned levels;   /* that count, outermost slowest */
};

/* The resources of a program. Sizes of memory are in bytes, aligned to sticks. */
struct emit_facts {
    int64_t cores;       /* blocks */
    int threads;         /* of a block */
    int64_t lx_bytes;    /* dynamic shared memory of a block, stages included */
    int64_t hbm_bytes;   /* the plan's segment */
    int64_t aside_bytes; /* mirrors and partial sums */
    int64_t counters;    /* words, zeros before the first launch */
    int64_t trace_bytes;
    struct emit_trace *trace; /* per access of the plan; bytes 0: no result. NULL: no traces; allocated */
};

/* Counters: of all cores, then of groups. */
enum { EMIT_COUNTER_SYNC, EMIT_COUNTER_GROUPS };

/* Appends the program. False: `st` names the op that cannot be written, and why; then nothing is appended. */
bool emit_program(const struct lx_plan *p, const struct emit_options *how, struct text *out,
                  struct emit_facts *facts, lx_status *st);

/* The statement of a sync of all cores. */
#define EMIT_SYNC(tick) "sync_all(counters, waits += ROUND, " tick ", fault);"
/* What every program begins with: its sizes and the functions that it calls. */
void emit_head(const struct emit_facts *f, enum emit_on on, struct text *out);
/* The kernel around a body. */
void emit_kernel(const struct emit_options *how, int32_t ticks, const char *body, struct text *out);
