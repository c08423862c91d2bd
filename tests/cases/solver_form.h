/* What the files of the solver form share: lists of buffers as patterns of ours, and what is said of them. */
#ifndef LX_TESTS_CASES_SOLVER_FORM_H
#define LX_TESTS_CASES_SOLVER_FORM_H

#include "cases/cases.h"

/* A bare list, written as a pattern and read back, so that the reader's own rules (lives, costs) are tested.
 */
struct list {
    struct text text;
    int count;
};

void list_open(struct list *l, int64_t capacity, int64_t alignment);
/* A buffer of a case; `name` is for those that have none. */
void list_add(struct list *l, const char *name, const cJSON *buffer);
/* NULL: `st` says why. */
const struct lx_graph *list_close(struct list *l, lx_status *st);

/* The list of a whole case, with its "size" (the capacity) and "alignment". */
const struct lx_graph *list_graph(const cJSON *one, lx_status *st);
struct lx_plan *list_plan(struct cases *c, const cJSON *one, const struct lx_solver *solver);
/* The problem of a list that has only been read: nothing of it has been validated. */
struct lx_problem list_problem(const struct lx_graph *g);

/* The next solver that answers the spill question, NULL after the last; begin with NULL. */
const struct lx_solver *const *next_solver(const struct lx_solver *const *at);

/* Holds a plan against a sentence such as "a placed; b spilled with reason containing \"room\"". False: the
 * sentence has a clause that is not understood. */
bool expect_sentence(struct cases *c, const char *sentence, const struct lx_plan *plan);

/* A case with a menu of core divisions: NULL, or why it is skipped. `c` is between case_begin and case_end.
 */
const char *check_divisions(struct cases *c, const cJSON *one);

/* One case of the data model, whatever its shape; `c` is between case_begin and case_end. */
void check_data_model(struct cases *c, const cJSON *one);

#endif
