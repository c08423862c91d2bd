/* The form of layout and division cases, in several files; what they share. */
#ifndef LX_TESTS_CASES_WORKDIV_H
#define LX_TESTS_CASES_WORKDIV_H

#include "cases/cases.h"
#include "base/arena.h"
#include "divide/space.h"

#include <stdio.h>

/* Named integers of an object, in order. */
enum { MAX_NAMED = 16 };

struct named_ints {
    int count;
    const char *name[MAX_NAMED];
    int64_t value[MAX_NAMED];
};

struct named_ints named_ints_of(const cJSON *object);
/* The value of a name, or `otherwise`. */
int64_t named_int(const struct named_ints *n, const char *name, int64_t otherwise);
/* Integers of an array; the count, at most `most`. */
int ints_of(const cJSON *array, int64_t *out, int most);
/* Are all of them at least 1 and at most 2^40? */
bool all_sane(const int64_t *at, int count);
/* Strings that may not be there: a value's, an array item's, a value's key. "" then. */
const char *text_of(const cJSON *value);
const char *item_text(const cJSON *array, int item);
const char *key_of(const cJSON *value);
/* "fp16", also with a remark in brackets behind it. */
enum lx_dtype dtype_of(const char *word);

/* A space of the case's own making: one axis per name of `it`, with no operands. Free `memory` afterwards. */
struct made_space {
    struct arena memory;
    struct space s;
    struct axis axes[MAX_NAMED];
    struct operand operands[4];
};

void make_space(struct made_space *m, const cJSON *it, int64_t cores);
int axis_of(const struct space *s, const char *name);
/* An operand of this shape whose dimension d is walked by axis axes[d]. */
void add_tensor(struct made_space *m, enum lx_dtype dtype, int rank, const int64_t *shape, const int *axes);
/* Floors, allowed factors, blocked and reduction axes as the case gives them. */
bool apply_case_rules(struct made_space *m, const cJSON *one);
struct factor_set factor_set_of(const cJSON *array);
bool factor_sets_equal(const struct factor_set *a, const struct factor_set *b);
/* Splits by name against expected ones; omitted is 1. */
void expect_splits(struct cases *c, const struct space *s, const int64_t *got, const cJSON *expected);

/* Through the stages: a graph from its JSON body. NULL: complained. */
struct stages {
    const struct lx_graph *graph;
    struct lx_layouts *layouts;
    struct lx_divisions *divisions;
    lx_status st;
};

/* False: `st` has the error of the stage that refused. */
bool run_stages(struct stages *s, const char *body, const struct lx_divide_options *how);
void free_stages(struct stages *s);

void workdiv_layout(struct cases *c, const cJSON *root);
void workdiv_mapping(struct cases *c, const cJSON *root);
void workdiv_rules(struct cases *c, const cJSON *root);
void workdiv_splits(struct cases *c, const cJSON *root);
void workdiv_end_to_end(struct cases *c, const cJSON *root);
void workdiv_span(struct cases *c, const cJSON *root);
void workdiv_cost(struct cases *c, const cJSON *root);

#endif
