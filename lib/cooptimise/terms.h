/* Choices and residency with costs of any form: sums of tables.
 *
 * Every buffer is the output of one op and has the op's menu of choices. A buffer is on chip only if, for
 * every reader, its choice forms a pair with the reader's choice, or a copy on chip serves that reader. A
 * copy is a buffer too: it is on chip only if its source is, and only if it serves a reader. The cost of an
 * answer is the sum of the terms, each a table over choices and residency bits. joint.h has the same problem
 * for costs of one form and thousands of ops; this one takes some hundred. A child may take the place of a
 * parent of the same bytes; if the child reads the parent, their choices must form a pair. */
#pragma once

#include "placement/problem.h"

struct arena;

/* A choice of the buffer that is read (for a copy: of its source) and a choice of the reader. */
struct lx_choice_pair {
    int32_t own, theirs;
};

struct lx_term_reader {
    int32_t buffer;
    const struct lx_choice_pair *pairs; /* sorted by `own`, then by `theirs` */
    int32_t pair_count;
};

struct lx_term_buffer {
    const char *name;
    int64_t start, end;
    bool barred;
    const int64_t *bytes; /* per choice */
    int32_t choice_count; /* > 0 */
    int32_t copy_of;      /* source of a copy; -1: no copy */
    /* readers; of a copy: the readers that it serves; no buffer twice */
    const struct lx_term_reader *readers;
    int32_t reader_count;
    const int32_t *parents; /* buffers whose place it may take: their last tick is its first */
    int32_t parent_count;
};

/* One axis of a table: a residency bit, or the class of a choice. */
struct lx_term_axis {
    int32_t buffer;
    bool is_bit;
    const int32_t *class_of; /* per choice: position along the axis */
    int32_t size;            /* 2 for a bit */
};

struct lx_term {
    const struct lx_term_axis *axes;
    int32_t axis_count;
    const double *values; /* row-major; finite */
};

struct lx_term_problem {
    int64_t capacity, alignment;
    int32_t buffer_count, term_count;
    const struct lx_term_buffer *buffers;
    const struct lx_term *terms;
};

struct lx_term_start {
    const int32_t *choice;
    const int64_t *address;
};

struct lx_term_answer {
    enum lx_verdict status; /* optimal: proved; limit: stopped early */
    int32_t *choice;        /* per buffer */
    int64_t *address;       /* per buffer; LX_OFF_CHIP or >= 0 */
    double objective;
    double bound; /* no answer costs less */
    int64_t steps;
};

/* Solves the problem; the answer's arrays come from `memory`. `run->work_limit`: steps, 0: the default.
 * False: `st` says why. */
bool lx_term_search(const struct lx_term_problem *p, const struct lx_term_start *start,
                    const struct lx_solver *solver, const struct lx_run *run, struct arena *memory,
                    struct lx_term_answer *out, lx_status *st);
/* True if a buffer on chip keeps all rules except those about addresses. */
bool lx_term_may_stay(const struct lx_term_problem *p, const int32_t *choice, const bool *on, int32_t buffer);
/* The sum of the terms, added in their order. */
double lx_term_cost(const struct lx_term_problem *p, const int32_t *choice, const int64_t *address);
