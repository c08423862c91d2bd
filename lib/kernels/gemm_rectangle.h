/* Shared by the parts of a matrix product: gemm.c packs and runs tasks, gemm_plan.c gives a task its
 * rectangle of C, gemm_rectangle.c computes one. */
#pragma once

#include "kernels/kernel_target.h"

/* One chunk of the sum: `batches` matrices from `batch` on, columns k .. k + length of A in each. */
struct gemm_chunk {
    int64_t index, batch, batches, k, length;
    bool first, last;
};

struct gemm_run_state {
    const struct gemm_plan *plan;
    const struct gemm_operands *o;
    const struct gemm_chunk *chunk; /* the chunk whose B is packed */
    int64_t n_begin, n_end;
    float *packed_b;
    float *packed_a; /* one block per worker */
    float *shared_a; /* all chunks of the rows packed for all runs */
};

/* Begin of part i of `count` in equal parts, the first ones one longer. */
static inline int64_t part_begin(int64_t count, int64_t parts, int64_t i)
{
    int64_t each = count / parts, extra = count % parts;
    return i * each + min_i64(i, extra);
}

static inline const float *operand(const float *base, const float *const *list, int64_t batch, int64_t stride)
{
    return list ? list[batch] : base + batch * stride;
}

/* `tiles` tiles from number `first` on, in a block of `count` columns from `origin` on. Tiles have `each`
 * columns, the first `extra` of the block one more. */
struct gemm_columns {
    int64_t origin, count, first, tiles, each, extra;
};

static inline struct gemm_columns cut_columns(int64_t origin, int64_t count, int most)
{
    struct gemm_columns c = {.origin = origin, .count = count, .tiles = ceil_div_i64(count, most)};
    c.each = count / c.tiles;
    c.extra = count % c.tiles;
    return c;
}

static inline int64_t panel_rows(const struct gemm_plan *plan)
{
    return plan->vectors * plan->target->vector_floats;
}

static inline int64_t count_panels(const struct gemm_plan *plan, int64_t rows)
{
    return ceil_div_i64(rows, panel_rows(plan));
}

/* Rows top .. bottom, columns left .. right of C; no columns: nothing to do. */
struct gemm_task {
    int64_t top, bottom, left, right;
};
int64_t gemm_count_tasks(const struct gemm_plan *plan);
struct gemm_task gemm_task_at(const struct gemm_plan *plan, int64_t task);

/* Adds one chunk to rows m_begin .. m_end; panels of A in place, or packed one at a time. */
void gemm_rectangle(const struct gemm_run_state *r, const struct gemm_chunk *c, int64_t m_begin,
                    int64_t m_end, struct gemm_columns columns);
/* Packs one chunk of rows m_begin .. m_end into consecutive panels. */
void gemm_pack_rows(const struct gemm_run_state *r, const struct gemm_chunk *c, int64_t m_begin,
                    int64_t m_end, float *panels);
/* The same as gemm_rectangle for packed panels. */
void gemm_packed_rectangle(const struct gemm_run_state *r, const struct gemm_chunk *c, int64_t m_begin,
                           int64_t m_end, const struct gemm_columns *columns, const float *panels);

/* From one packed panel to the next: packing may write behind a panel while another thread packs the next. */
static inline int64_t panel_floats(const struct gemm_plan *plan, const struct gemm_chunk *c)
{
    return panel_rows(plan) * c->length * c->batches + PACK_SLACK;
}
