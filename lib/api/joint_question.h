/* lx_joint_solve: solves divisions and placement together. The caller states the question in JSON
 * (lib/library.md has the form); the answer has the caller's order and units. Private to this folder. */
#pragma once

#include "base/base.h"
#include "cooptimise/joint.h"
#include "cooptimise/terms.h"

/* One choice of a buffer's op. */
struct joint_choice {
    int64_t bytes, cores, squares;
};

struct joint_buffer {
    const char *name, *barred;
    int64_t start, end, off;
    bool first_use_is_read, kept; /* kept: may be on chip though unread */
    const int32_t *parents;
    int32_t parent_count, choice_count, reader_count, price_count, seed;
    const struct joint_choice *menu;
    const struct lx_term_reader *readers; /* of a copy: the readers it serves, by the source's choices */
    int32_t copy_of;                      /* the source of a copy, or -1 */
    const double *prices;                 /* of a copy on chip, per choice of its source; NULL: free */
    const int64_t *extra; /* joint_costs_of: cost of each choice if divisions count, else NULL */
};

struct joint_question {
    int64_t capacity, alignment;
    bool divisions_count; /* lexicographic: among equal costs most cores, then least squares */
    bool has_copies;
    struct joint_buffer *buffers;
    const struct lx_term *terms;
    int32_t count, term_count;
    int64_t weight; /* joint_costs_of: factor of one unit of cost, above all division costs */
    int64_t unit;   /* joint_costs_of: bytes per unit */
    struct arena memory;
};

/* joint_read.c. Call joint_free in any case. */
bool joint_read(struct joint_question *q, const char *text, size_t length, lx_status *st);
/* joint_model_of.c: weight, unit and extra. */
bool joint_costs_of(struct joint_question *q, lx_status *st);

/* The problem for the search: ops in their own order, costs in units. */
struct joint_model {
    struct lx_joint_problem problem;
    int32_t *at; /* per buffer of the question: its number in the problem */
};

/* Allocated in the question's memory. `unsupported`: the pairs form no labels. */
bool joint_model_of(struct joint_question *q, struct joint_model *m, lx_status *st);
/* The question as terms; allows any pairs and copies. */
bool joint_terms_of(struct joint_question *q, struct lx_term_problem *p, lx_status *st);

struct joint_item {
    const char *name, *reason; /* reason: why it is off chip, or "" */
    int32_t choice;
    int64_t address, size, start, end, cost;
};

struct joint_result {
    enum lx_verdict status;
    const char *solver;
    double objective, bound;
    int64_t cores, squares, steps;
    int32_t count;
    struct joint_item *items;
};
