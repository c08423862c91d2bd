#include "support/problem_builder.h"

#include <string.h>

static void problem_grow(struct problem_builder *builder, int32_t room)
{
    struct lx_buffer *larger = arena_array(&builder->memory, (size_t)room, sizeof *larger);
    if (builder->problem.count)
        memcpy(larger, builder->problem.buffers, (size_t)builder->problem.count * sizeof *larger);
    builder->problem.buffers = builder->buffers = larger;
    builder->room = room;
}

struct problem_builder problem_begin(enum lx_objective objective, int64_t capacity, int64_t alignment)
{
    return problem_copy(
        &(struct lx_problem){.objective = objective, .capacity = capacity, .alignment = alignment});
}

struct problem_builder problem_copy(const struct lx_problem *from)
{
    struct problem_builder builder = {.problem = *from};
    problem_grow(&builder, from->count + 8);
    return builder;
}

struct lx_buffer *problem_add(struct problem_builder *builder, int64_t size, int64_t start, int64_t end,
                              int64_t spill_cost)
{
    if (builder->problem.count == builder->room) problem_grow(builder, 2 * builder->room);
    int32_t i = builder->problem.count++;
    builder->buffers[i] = (struct lx_buffer){.name = arena_format(&builder->memory, "b%d", (int)i),
                                             .size = size,
                                             .start = start,
                                             .end = end,
                                             .fixed = -1,
                                             .spill_cost = spill_cost};
    return &builder->buffers[i];
}

void problem_uses(struct problem_builder *builder, int32_t buffer, int64_t first, int64_t last)
{
    int64_t uses[] = {first, last};
    builder->buffers[buffer].uses = arena_copy_array(&builder->memory, uses, 2, sizeof *uses);
    builder->buffers[buffer].use_count = first < last ? 2 : 1;
}

void problem_parent(struct problem_builder *builder, int32_t child, int32_t parent)
{
    struct lx_buffer *b = &builder->buffers[child];
    int32_t *parents = arena_array(&builder->memory, (size_t)b->parent_count + 1, sizeof *parents);
    for (int32_t k = 0; k < b->parent_count; k++) parents[k] = b->parents[k];
    parents[b->parent_count++] = parent;
    b->parents = parents;
}

void problem_end(struct problem_builder *builder)
{
    arena_free(&builder->memory);
}
