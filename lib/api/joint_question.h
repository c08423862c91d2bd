/* Divisions and placement together, as a caller states them in JSON (lib/README.md has the form). Private to the room. */
#ifndef LX_API_JOINT_QUESTION_H
#define LX_API_JOINT_QUESTION_H

#include "base/arena.h"
#include "scratchpad/cooptimise/joint.h"

/* One choice of a buffer's op. */
struct joint_choice {
    int64_t bytes, cores, squares;
};

struct joint_pair {
    int32_t own, theirs;
};

struct joint_reader {
    int32_t buffer;
    const struct joint_pair *pairs;
    int32_t pair_count;
};

struct joint_buffer {
    const char *name, *barred;
    int64_t start, end, off;
    bool first_use_is_read;
    const int32_t *parents;
    int32_t parent_count, choice_count, reader_count, seed;
    const struct joint_choice *menu;
    const struct joint_reader *readers;
};

struct joint_question {
    int64_t capacity, alignment;
    bool divisions_count; /* lexicographic: most cores, then least squares, among equal costs */
    struct joint_buffer *buffers;
    int32_t count;
    struct arena memory;
};

/* joint_read.c. Free it in any case. */
bool joint_read(struct joint_question *q, const char *text, size_t length, lx_status *st);

/* The problem that the search takes: ops in an order of their own, costs in units. */
struct joint_model {
    struct lx_joint_problem problem;
    int32_t *at;    /* per buffer of the question: its number in the problem */
    int64_t weight; /* of one unit of cost; below it: what divisions count */
    int64_t unit;   /* bytes per unit */
};

/* joint_model_of.c: in the question's memory. */
bool joint_model_of(struct joint_question *q, struct joint_model *m, lx_status *st);

#endif
