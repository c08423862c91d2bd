/* A divided graph as a joint problem, with what is needed to read an answer back. */
#ifndef LX_COOPTIMISE_COOPTIMISE_PROBLEM_H
#define LX_COOPTIMISE_COOPTIMISE_PROBLEM_H

#include "cooptimise/cooptimise_menu.h"

struct tensor_use {
    int32_t first_op, last_op, last_writer, access_count, reader_count;
    const struct lx_op *stuck; /* an op that works through memory only */
};

struct graph_problem {
    const struct lx_divisions *d;
    const struct lx_graph *g;
    struct arena memory;
    struct tensor_use *use;            /* per tensor */
    const char **reason;               /* per tensor: why it is never on chip, or NULL */
    int64_t *bytes;                    /* per tensor, on the device */
    struct lx_joint_access **accesses; /* per tensor: those of the problem, ours to change */
    struct op_menus menus;
    struct lx_joint_problem problem;
    int64_t traffic;    /* of everything off chip, in bytes */
    int64_t grain;      /* every traffic is a multiple of it */
    int64_t worst_time; /* of all ops together, in time units */
    int shift;          /* a time unit is 2^shift picoseconds */
};

/* Tolls are 0: the objective is time. To be freed with graph_problem_free, also after a failure. */
bool graph_problem_make(struct graph_problem *w, const struct lx_divisions *d,
                        const struct lx_cooptimise_options *how, lx_status *st);
void graph_problem_free(struct graph_problem *w);
/* Makes a byte through memory cost that many time units beside the time it takes. */
void graph_problem_toll(struct graph_problem *w, int64_t units_per_byte);
/* Traffic and predicted time of an answer; time units too. */
void graph_problem_measure(const struct graph_problem *w, const int32_t *choice, const int64_t *address,
                           struct lx_cooptimise_figures *out, int64_t *units);

#endif
