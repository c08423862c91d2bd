/* Choices and residency under costs of any form: sums of tables.
 *
 * Every buffer is the output of one op and has the op's menu of choices. It is on chip only if its choice
 * makes a pair with that of every reader, or a copy on chip serves that reader. A copy is a buffer too: on
 * chip only beside its source, and only if it serves a reader. The cost of an answer is the sum of the terms,
 * each a table over choices and bits of residency. joint.h has the same problem for costs of one form and
 * thousands of ops; this one takes some hundred. A child may take the place of a parent of the same bytes,
 * and if it reads it, under one of their pairs. */
#ifndef LX_COOPTIMISE_TERMS_H
#define LX_COOPTIMISE_TERMS_H

#include "placement/problem.h"

struct arena;

/* A choice of the buffer that is read (of the source, where a copy serves) and one of the reader's. */
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
    const int64_t *bytes;                 /* per choice */
    int32_t choice_count;                 /* > 0 */
    int32_t copy_of;                      /* the source of a copy; -1: it is none */
    const struct lx_term_reader *readers; /* of a copy: whom it serves; no buffer twice */
    int32_t reader_count;
    const int32_t *parents; /* whose place it may take: their last tick is its first */
    int32_t parent_count;
};

/* One variable of a table: a bit, or a choice whose class is the position along the axis. */
struct lx_term_axis {
    int32_t buffer;
    bool is_bit;
    const int32_t *class_of; /* per choice */
    int32_t size;            /* 2 of a bit */
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
    double bound; /* proved: no answer costs less */
    int64_t steps;
};

/* The answer's arrays come from `memory`. `run->work_limit`: steps, 0: the default. False: `st` says why. */
bool lx_term_search(const struct lx_term_problem *p, const struct lx_term_start *start,
                    const struct lx_solver *solver, const struct lx_run *run, struct arena *memory,
                    struct lx_term_answer *out, lx_status *st);
/* Does a buffer that is on chip keep all rules but those of addresses? */
bool lx_term_may_stay(const struct lx_term_problem *p, const int32_t *choice, const bool *on, int32_t buffer);
/* The sum of the terms, in their order. */
double lx_term_cost(const struct lx_term_problem *p, const int32_t *choice, const int64_t *address);

#endif
