/* A sweep: one pattern planned with many sizes of scratchpad, by several solvers, on several numbers of
 * cores.
 *
 * A *line* is a solver on a number of cores; a *value* is what the line's plan comes to with one size. The
 * sizes are the same for every line. A *task* is one value, or a search for the least size that has a
 * property, between a size that has it and one that has not; a maker of tasks (processes, ranks, jobs behind
 * a screen) needs nothing but the sweep and the task, and gives back a value. Plain data, so that tasks and
 * values travel as bytes. Sizes: some 100 lines of some 1,000 values of 300 bytes. */
#pragma once

#include "unstable.h"
#include "base/base.h"

typedef VEC(int64_t) sweep_numbers;

/* X(id, word) */
#define SWEEP_STATES(X)                                                                                      \
    X(SWEEP_UNKNOWN, "unknown") /* not planned so far */                                                     \
    X(SWEEP_PLANNED, "planned")                                                                              \
    X(SWEEP_REFUSED, "refused") /* it cannot be planned: `why` */                                            \
    X(SWEEP_LOST, "lost")       /* the process that planned it died */

#define SWEEP_STATE_ENUM(id, word) id,
enum sweep_state { SWEEP_STATES(SWEEP_STATE_ENUM) SWEEP_STATE_COUNT };
#undef SWEEP_STATE_ENUM

const char *sweep_state_word(enum sweep_state s);

struct sweep_value {
    int64_t lx, hbm, least, spill, height;
    int64_t nests, iterations; /* of the plan; iterations of all nests together */
    double us, least_us;       /* end to end; least_us 0: no bound */
    double limit_us;           /* up to it plans are compared by bytes: balanced; INFINITY: by bytes alone */
    int32_t state, code;       /* sweep_state; lx_code where refused */
    bool proved, fits;         /* the least there is; nothing is spilled */
    char why[160];
};

/* The least size from which on a line has a property. */
enum sweep_find { FIND_PLAN, FIND_FIT, FIND_COUNT };

struct sweep_line {
    struct lx_settings how; /* solver and cores are set; the size is not */
    char solver[24];
    int64_t cores; /* that its plans have */
    struct sweep_value *at;
    struct sweep_value found[FIND_COUNT]; /* UNKNOWN: not searched for, or not found */
};

struct sweep {
    const struct lx_graph *graph; /* a reference */
    sweep_numbers sizes, cores;   /* rising */
    VEC(struct sweep_line) lines; /* by cores, then by solver */
    int solver_count;
    bool by_time; /* the value is time instead of HBM bytes */
};

enum { SWEEP_POINT = -1 };

struct sweep_task {
    int32_t line, find; /* SWEEP_POINT: just `lx` */
    int32_t size;       /* of a point: its number */
    int64_t lx, below;  /* has the property; has it not */
    int64_t more, less; /* of a point: HBM bytes of plans of a smaller and of a larger size; 0: unknown */
};

enum { SWEEP_STEPS = 40, SWEEP_MOST_STEPS = 2000 };

/* sweep_range.c */
/* "16k..2m", "100k", "64k,1m": `what` names the option in errors. The values rise. `steps` of a range, in
 * equal proportions. False with `st`. */
bool sweep_sizes_read(const char *what, const char *text, int64_t steps, sweep_numbers *out, lx_status *st);
/* The same of cores: a range is doubled from its low end up to its high end, which is there too. */
bool sweep_cores_read(const char *what, const char *text, sweep_numbers *out, lx_status *st);
/* From a 64th of the pattern's size up to its full size; if it needs more, a third of the steps lies
 * beyond. */
bool sweep_sizes_own(const struct lx_graph *g, int64_t need, int64_t steps, sweep_numbers *out,
                     lx_status *st);
/* The bytes that all buffers worth a place need at once in a quick plan without nests; 0: unknown. */
int64_t sweep_need(const struct lx_graph *g, const struct lx_settings *asked);

/* sweep_lines.c */
/* A line per number of cores and solver; `cores` empty: the pattern's own. False with `st`. */
bool sweep_begin(struct sweep *s, const struct lx_graph *g, const struct lx_settings *solvers,
                 int solver_count, const sweep_numbers *sizes, const sweep_numbers *cores, lx_status *st);
void sweep_free(struct sweep *s);
/* The sizes to plan next, a task each; none: all values are known. A plan of a smaller size is one of a larger
 * size as well, and a bound of a larger size one of a smaller size. So between two sizes with equal plans nothing
 * is planned. */
typedef VEC(struct sweep_task) sweep_tasks;
void sweep_next(struct sweep *s, sweep_tasks *out);
/* The remaining searches. */
void sweep_searches(const struct sweep *s, sweep_tasks *out);
void sweep_keep(struct sweep *s, const struct sweep_task *t, const struct sweep_value *v);
/* The shown figure of a value, and the best bound of any line for this size and number of cores; NAN:
 * none. */
double sweep_shown(const struct sweep *s, const struct sweep_value *v);
double sweep_least(const struct sweep *s, int64_t cores, size_t size);
/* Does this line have the same values as one before it? That one's number, or -1. */
int sweep_twin(const struct sweep *s, int line);

/* One task, on this thread. `like`: kept by the caller from one task to the next, begun as NULL and freed
 * by it in the end. */
void sweep_do(const struct sweep *s, const struct sweep_task *t, const struct lx_run *run,
              const struct lx_plan **like, struct sweep_value *out);

/* "from 118,144 B (115.4 KiB) nothing spills", `briefly` without the bytes; nothing where nothing is
 * known. */
void sweep_say_fit(const struct sweep *s, const struct sweep_line *l, bool briefly, struct text *out);
/* With "; below 24 KiB it cannot be planned" behind it, where that is so. */
void sweep_say(const struct sweep *s, const struct sweep_line *l, bool briefly, struct text *out);
/* "HBM bytes", "off-chip cost", "time from end to end". */
const char *sweep_value_name(const struct sweep *s);
