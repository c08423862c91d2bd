/* Placement problems, buffer by buffer:
 *
 *     struct problem_builder list = problem_begin(LX_SPILL, 16, 1);
 *     problem_add(&list, 8, 0, 3, 10)->alignment = 4;
 *     problem_add(&list, 8, 2, 5, 10);
 *     problem_uses(&list, 0, 0, 2);
 *     problem_parent(&list, 1, 0);
 *     solve(&list.problem);
 *     problem_end(&list); */
#ifndef LX_TESTS_SUPPORT_PROBLEM_BUILDER_H
#define LX_TESTS_SUPPORT_PROBLEM_BUILDER_H

#include "base/arena.h"
#include "placement/problem.h"

struct problem_builder {
    struct lx_problem problem;
    struct lx_buffer *buffers; /* the problem's; each of them may be changed at any time */
    int32_t room;
    struct arena memory;
};

struct problem_builder problem_begin(enum lx_objective objective, int64_t capacity, int64_t alignment);

/* The same problem with buffers of its own; what they point to is shared. */
struct problem_builder problem_copy(const struct lx_problem *from);

/* Buffer number `count`, alive in [start, end), at no fixed address; the pointer holds until the next call. */
struct lx_buffer *problem_add(struct problem_builder *builder, int64_t size, int64_t start, int64_t end,
                              int64_t spill_cost);

/* Two uses, or one where they are equal. */
void problem_uses(struct problem_builder *builder, int32_t buffer, int64_t first, int64_t last);

/* The child may take over the parent's slot. */
void problem_parent(struct problem_builder *builder, int32_t child, int32_t parent);
void problem_end(struct problem_builder *builder);

#endif
