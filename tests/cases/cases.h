/* Cases: facts from outside, in files of several forms, checked against the library.
 *
 * A form is one const `struct case_form` in a file form_NAME.c; run_cases.c has the list of them and does all
 * the counting and printing. Adding a form: write that file and add it to the list.
 *
 * A form works through the file like this:
 *     case_begin(c, "section/%s", name);
 *     case_expect(c, got == wanted, "expected %d, got %d", wanted, got);   any number of times
 *     case_end(c, one);                                                    or case_skip(c, reason)
 * Everything in the file may be missing or of another type: the readers below then give nothing. What is there
 * and was not read fails the case: a fact that nobody looks at is no test. */
#ifndef LX_TESTS_CASES_CASES_H
#define LX_TESTS_CASES_CASES_H

#include "support/cjson_find.h"
#include "base/text.h"
#include "plan/plan.h"

struct cases {
    const char *file;
    bool verbose;
    int passed, failed, skipped;
    char name[256];      /* of the case under way */
    int checks, broken;  /* in it: expectations looked at, and those that did not hold */
    char complaint[900]; /* the first of these */
    const char *const *remarks;
};

struct case_form {
    const char *name;
    bool (*fits)(const cJSON *root);
    void (*run)(struct cases *c, const cJSON *root);
    const char *const *remarks; /* keys of data that is known and on purpose not compared, NULL-terminated */
};

extern const struct case_form form_patterns, form_solver, form_workdiv, form_partition, form_loops,
    form_einsum, form_team, form_constraints, form_tiling, form_models;

void case_begin(struct cases *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns `holds`. */
bool case_expect(struct cases *c, bool holds, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* `one`: the data of the case, all of which must have been read; NULL: a case that shares its data with a later
 * one. A case in which nothing was checked is skipped if it is made of words only, and fails otherwise. */
void case_end(struct cases *c, const cJSON *one);
void case_skip(struct cases *c, const char *reason);

/* looked.c. The cjson_find of run_cases: remembers which values were read. */
cjson_finder case_find;
/* Strings only (and null, which says nothing), through all objects. */
bool words_only(const cJSON *value);
/* For values that are found otherwise, or that the rest of this one case implies. */
void case_looked(const cJSON *value);
bool case_is_looked(const cJSON *value);
/* The first value of a case that was never looked at and is no remark, or NULL. */
const cJSON *case_unread(const cJSON *one, const char *const *remarks);
/* At the end of a file. */
void looked_forget(void);

bool has_any_key(const cJSON *object, const char *const *keys);
/* The string under a key, or "". */
const char *case_text(const cJSON *object, const char *key);
/* The integer in a value, or `otherwise`. */
int64_t case_int(const cJSON *value, int64_t otherwise);
bool case_true(const cJSON *object, const char *key);
/* What a case must be refused with: the words under "error" or "raises", or those of an "expect" that begins with
 * "raises" or "rejected"; "" where it only says that; NULL: it is to be accepted. */
const char *case_refusal(const cJSON *one);
/* A value of the file, added to a text as it stands. */
void text_json_value(struct text *t, const cJSON *value);

/* A solver by the name that a case uses: ours, or the one it goes by elsewhere. NULL: we do not have it. */
const struct lx_solver *case_solver(const char *name);
/* What an object of a case, keyed by solvers, has for one of ours; NULL: nothing. */
const cJSON *case_of_solver(const cJSON *by_solver, const struct lx_solver *solver);
/* Greedy, first-fit and best-fit are laid down step by step:
 * theirs must be the reference's very addresses. */
bool solver_is_exact(const struct lx_solver *solver);
/* Reports, once per section, each solver that its cases name under `key` and that we do not have. */
void skip_missing_solvers(struct cases *c, const char *section, const cJSON *list, const char *key);

/* Plans and lets the plan be checked from scratch. Gives the reference to the graph back; NULL: the case has been told why. */
struct lx_plan *case_plan(struct cases *c, const struct lx_graph *g, const struct lx_solver *solver);
int32_t buffer_find(const struct lx_problem *p, const char *name);
/* An address of a case: null is off chip. */
int64_t case_address(const cJSON *value);
/* Addresses by name, and everybody else off chip; false (and a complaint) for a name that is no buffer. */
bool case_addresses(struct cases *c, const struct lx_problem *p, const cJSON *by_name, int64_t *out);
/* Expects these very addresses. */
void expect_addresses(struct cases *c, const struct lx_problem *p, const int64_t *wanted, const int64_t *got);
/* Expects the checker to accept an answer from outside; its objective, or -1. */
int64_t expect_legal(struct cases *c, const struct lx_problem *p, const int64_t *address, const char *whose);

#endif
