/* What the files of the solver form share: lists of buffers as patterns of ours, and what is said of them. */
#ifndef LX_TESTS_CASES_SOLVER_FORM_H
#define LX_TESTS_CASES_SOLVER_FORM_H

#include "cases/cases.h"

/* A bare list, written as a pattern and read back, so that the reader's own rules
 * (lives, costs) are tested. */
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

/* Holds a plan against a sentence such as "a placed; b spilled with reason containing \"room\"". A clause that is
 * not understood fails the case. */
void expect_sentence(struct cases *c, const char *sentence, const struct lx_plan *plan);
/* Takes the next clause off a sentence: up to ";" or ", " outside of quotes ("gp,p,c" is one list). False at the
 * end. */
bool next_clause(const char **sentence, char *clause, size_t size);
/* Where the clause says that buffers stand: on chip, off it, or nothing of the kind. */
enum said { SAID_NOTHING, SAID_ON, SAID_OFF };
enum said said_place(const char *clause);

/* A case with a menu of core divisions: NULL, or why it is skipped.
 * `c` is between case_begin and case_end. */
const char *check_divisions(struct cases *c, const cJSON *one);

/* One case of the data model, whatever its shape; `c` is between case_begin and case_end. */
void check_data_model(struct cases *c, const cJSON *one);

#endif
