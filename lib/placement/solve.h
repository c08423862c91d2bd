/* Private to the stages that make problems: lx_problem_solve of a problem that lx_problem_validate has
 * let through. */
#ifndef LX_PLACEMENT_SOLVE_H
#define LX_PLACEMENT_SOLVE_H

#include "placement/problem.h"

bool solve_valid(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                 struct lx_answer *answer, lx_status *st);

/* solve.c: of a problem that a solver can be given as it is. */
bool solve_plain(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                 struct lx_answer *answer, lx_status *st);
/* solve_parts.c: of any other. */
bool solve_parts(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                 struct lx_answer *answer, lx_status *st);
/* lx_problem_check for places in several pools. */
bool check_so_far(const struct lx_problem *p, const int32_t *pool, const int64_t *address, int64_t *value,
                  lx_status *st);

/* whole_lists.c: do fixed addresses of a plain list exclude each other? */
bool pins_clash(const struct lx_problem *p);
/* Of a plain list whose height is asked: those without a place one on the other above everything. */
void stack_left_out(const struct lx_problem *p, int64_t *address);

/* incumbents.c: what the solver reports, as whoever watches gets it. */
struct incumbents {
    const struct lx_problem *p;
    const struct lx_run *run; /* the caller's */
    int64_t best, bound, steps;
    bool memory_is_out; /* in a report: the solver, which may be anybody's, is asked to stop */
};

/* The run that the solver is given; `run` must outlive it. */
struct lx_run incumbents_watch(struct incumbents *w, const struct lx_problem *p, const struct lx_run *run);
void incumbents_pass(void *incumbents, const struct lx_progress *so_far);
bool incumbents_stop(void *incumbents);
/* Reports the final answer if it is better than all that were. */
void incumbents_end(struct incumbents *w, const struct lx_answer *a);

#endif
