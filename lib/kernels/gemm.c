/* Matrix products: blocking, packing of B, and sharing of the rectangles of C.
 *
 * Loops: blocks of columns of B; chunks of the sum over k and over the batch; rectangles of C, which are the
 * tasks (outermost, unless B is packed block by block and chunk by chunk); tiles within one. An element of C
 * is summed chunk after chunk in a fixed order, whatever the number of threads. B is read in place where it
 * behaves in the caches, else all threads pack a block before they use it. A is read in place too where that
 * does no harm, else a worker packs the blocks that it uses; only shared rows are packed before, for all. */
#include "kernels/gemm_rectangle.h"

enum { LINE_FLOATS = 16 }; /* floats of a cache line */

/* ---- chunks and rectangles ---- */

static struct gemm_chunk chunk_at(const struct gemm_plan *plan, int64_t index)
{
    const struct gemm *g = &plan->g;
    struct gemm_chunk c = {.index = index, .first = index == 0, .last = index == plan->chunks - 1};
    if (plan->k_parts > 1) {
        int64_t part = index % plan->k_parts;
        c.batch = index / plan->k_parts;
        c.batches = 1;
        c.k = part_begin(g->k, plan->k_parts, part);
        c.length = part_begin(g->k, plan->k_parts, part + 1) - c.k;
    } else {
        c.batch = index * plan->batch_block;
        c.batches = min_i64(plan->batch_block, g->batch - c.batch);
        c.length = g->k;
    }
    return c;
}

/* Floats of a packed panel of the longest chunk. */
static int64_t panel_room(const struct gemm_plan *plan)
{
    return panel_rows(plan) * plan->depth + PACK_SLACK;
}

static int64_t packed_a_floats(const struct gemm_plan *plan)
{
    if (!plan->block_a || (plan->runs > 0 && plan->own_rows == 0)) return 0;
    const int64_t panels = count_panels(plan, min_i64(plan->m_block, plan->g.m));
    return round_up_i64(panels * panel_room(plan), LINE_FLOATS);
}

/* ---- rows that all threads share ---- */

/* The last rows, all chunks, are packed before for all threads; see choose_runs in gemm_plan.c. */

static int64_t shared_panels(const struct gemm_plan *plan)
{
    return plan->runs > 0 && plan->block_a ? count_panels(plan, plan->g.m - plan->own_rows) : 0;
}

static int64_t shared_chunk_floats(const struct gemm_plan *plan)
{
    return round_up_i64(shared_panels(plan) * panel_room(plan), LINE_FLOATS);
}

static float *shared_panel(const struct gemm_run_state *r, const struct gemm_chunk *c, int64_t panel)
{
    return r->shared_a + c->index * shared_chunk_floats(r->plan) + panel * panel_floats(r->plan, c);
}

/* Task: one chunk of one panel. */
static void pack_shared_panel(void *context, int64_t task, int worker)
{
    (void)worker;
    const struct gemm_run_state *r = context;
    const struct gemm_plan *plan = r->plan;
    const int64_t panel = task / plan->chunks;
    const struct gemm_chunk c = chunk_at(plan, task % plan->chunks);
    const int64_t begin = plan->own_rows + panel * panel_rows(plan);
    gemm_pack_rows(r, &c, begin, min_i64(plan->g.m, begin + panel_rows(plan)), shared_panel(r, &c, panel));
}

/* ---- one chunk of a rectangle of C ---- */

/* Panels of A are shared, packed by the worker in blocks, or read in place. */
static void run_rectangle(const struct gemm_run_state *r, const struct gemm_chunk *c, int64_t begin,
                          int64_t end, const struct gemm_columns *columns, int worker)
{
    const struct gemm_plan *plan = r->plan;
    if (!plan->block_a) {
        gemm_rectangle(r, c, begin, end, *columns);
        return;
    }
    const bool shared = plan->runs > 0 && begin >= plan->own_rows;
    for (int64_t i = begin; i < end; i += plan->m_block) {
        const int64_t to = min_i64(end, i + plan->m_block);
        float *panels = shared ? shared_panel(r, c, count_panels(plan, i - plan->own_rows))
                               : r->packed_a + worker * packed_a_floats(plan);
        if (!shared) gemm_pack_rows(r, c, i, to, panels);
        gemm_packed_rectangle(r, c, i, to, columns, panels);
    }
}

/* ---- products in place ---- */

/* A product of one chunk, everything in place and in whole vectors. Every cycle counts here: fields are set
 * one by one (a structure that is copied soon after it was filled waits for its bytes) and nothing is
 * divided. */
struct in_place {
    struct gemm_tile t;
    int64_t init_m, init_n;
    const float *init;
};

static inline void in_place_begin(struct in_place *s, const struct gemm_plan *plan,
                                  const struct gemm_operands *o)
{
    const struct gemm *g = &plan->g;
    const bool copies = g->first == GEMM_FIRST_COPY;
    s->init_m = copies ? g->init_m : 1;
    s->init_n = copies ? g->init_n : g->c_n;
    s->init = copies ? o->init : o->c;
    struct gemm_tile *t = &s->t;
    t->k = g->k;
    t->batch = g->batch;
    t->a_list = o->a_list;
    t->b_list = o->b_list;
    t->a_k = g->a_k;
    t->a_batch = g->a_batch;
    t->b_k = g->b_k;
    t->b_n = g->b_n;
    t->b_batch = g->b_batch;
    t->c_n = g->c_n;
    t->init_n = s->init_n;
    t->init_kind = g->first == GEMM_FIRST_ZERO ? TILE_INIT_ZERO
                   : s->init_m == 0            ? TILE_INIT_SPLAT
                                               : TILE_INIT_ROWS;
    t->first_relu = g->first == GEMM_FIRST_RELU;
    t->last_relu = g->last == GEMM_LAST_RELU;
    t->prefetch = plan->prefetch;
}

/* Kernels for the panel at row `i`, by columns. */
static inline gemm_kernel *const *in_place_kernels(const struct gemm_plan *plan, int64_t i)
{
    const int64_t vector = plan->target->vector_floats, left = plan->g.m - i;
    return plan->target->kernel[left < plan->vectors * vector ? left / vector - 1 : plan->vectors - 1];
}

/* Rows m_begin .. m_end, `tiles` tiles from column n_begin on: `wider` ones of `each` + 1 columns, then
 * others of `each`. Tiles of a call are side by side. Inlined, because a product of 16 x 16 feels the cost of
 * a first row and column that are always 0. */
__attribute__((always_inline)) static inline void run_in_place(const struct gemm_plan *plan,
                                                               const struct gemm_operands *o, int64_t m_begin,
                                                               int64_t m_end, int64_t n_begin, int64_t tiles,
                                                               int64_t each, int64_t wider)
{
    const struct gemm *g = &plan->g;
    const int64_t height = panel_rows(plan);
    struct in_place s;
    in_place_begin(&s, plan, o);
    struct gemm_tile *t = &s.t;
    for (int64_t i = m_begin; i < m_end; i += height) {
        gemm_kernel *const *kernel = in_place_kernels(plan, i);
        t->a = o->a_list ? NULL : o->a + i;
        t->a_offset = i;
        t->b_offset = n_begin * g->b_n;
        t->b = o->b_list ? NULL : o->b + t->b_offset;
        t->c = o->c + i + n_begin * g->c_n;
        t->init = s.init + i * s.init_m + n_begin * s.init_n;
        t->a_tile = 0;
        if (wider > 0) {
            const int64_t wide = each + 1, columns = wide * wider;
            t->tiles = wider;
            t->b_tile = wide * g->b_n;
            t->c_tile = wide * g->c_n;
            t->init_tile = wide * s.init_n;
            kernel[wide - 1](t);
            if (!t->b_list) t->b += columns * g->b_n;
            t->b_offset += columns * g->b_n;
            t->c += columns * g->c_n;
            t->init += columns * s.init_n;
        }
        t->tiles = tiles - wider;
        t->b_tile = each * g->b_n;
        t->c_tile = each * g->c_n;
        t->init_tile = each * s.init_n;
        kernel[each - 1](t);
    }
}

/* Tiles of a call are at the same place in all products: fewer calls, each of more tiles. */
static void run_small_row(const struct gemm_plan *plan, const struct gemm_operands *o, int64_t count,
                          const struct gemm_steps *steps)
{
    const struct gemm *g = &plan->g;
    const int64_t height = panel_rows(plan);
    struct in_place s;
    in_place_begin(&s, plan, o);
    struct gemm_tile *t = &s.t;
    t->tiles = count;
    t->a_tile = steps->a;
    t->b_tile = steps->b;
    t->c_tile = steps->c;
    t->init_tile = g->first == GEMM_FIRST_COPY ? steps->init : steps->c;
    for (int64_t i = 0; i < g->m; i += height) {
        gemm_kernel *const *kernel = in_place_kernels(plan, i);
        t->a = o->a + i;
        for (int64_t tile = 0, column = 0; tile < plan->tiles; tile++) {
            const int64_t wide = plan->tile_columns + (tile < plan->wider_tiles);
            t->b = o->b + column * g->b_n;
            t->c = o->c + i + column * g->c_n;
            t->init = s.init + i * s.init_m + column * s.init_n;
            kernel[wide - 1](t);
            column += wide;
        }
    }
}

/* ---- tasks ---- */

/* Task: all of a rectangle of C, B in place. */
static void run_unpacked(void *context, int64_t task, int worker)
{
    const struct gemm_run_state *r = context;
    const struct gemm_plan *plan = r->plan;
    const struct gemm_task x = gemm_task_at(plan, task);
    const int64_t count = x.right - x.left, most = plan->target->tile_columns[plan->vectors - 1];
    if (count == 0) return; /* less than a tile */
    if (plan->in_place) {
        const struct gemm_columns c = cut_columns(x.left, count, (int)most);
        run_in_place(plan, r->o, x.top, x.bottom, x.left, c.tiles, c.each, c.extra);
        return;
    }
    int64_t blocks = ceil_div_i64(count, plan->n_block);
    for (int64_t b = 0; b < blocks; b++) {
        const int64_t from = part_begin(count, blocks, b), to = part_begin(count, blocks, b + 1);
        const struct gemm_columns columns = cut_columns(x.left + from, to - from, (int)most);
        for (int64_t i = 0; i < plan->chunks; i++) {
            struct gemm_chunk c = chunk_at(plan, i);
            run_rectangle(r, &c, x.top, x.bottom, &columns, worker);
        }
    }
}

static int64_t block_tiles(const struct gemm_run_state *r)
{
    return ceil_div_i64(r->n_end - r->n_begin, r->plan->target->tile_columns[r->plan->vectors - 1]);
}

/* Task: one chunk of a rectangle of C within a packed block. */
static void run_packed(void *context, int64_t task, int worker)
{
    const struct gemm_run_state *r = context;
    const struct gemm_plan *plan = r->plan;
    const struct gemm_task x = gemm_task_at(plan, task);
    const int64_t part = task % plan->n_parts, tiles = block_tiles(r);
    struct gemm_columns columns =
        cut_columns(r->n_begin, r->n_end - r->n_begin, plan->target->tile_columns[plan->vectors - 1]);
    columns.first = part_begin(tiles, plan->n_parts, part);
    columns.tiles = part_begin(tiles, plan->n_parts, part + 1) - columns.first;
    if (columns.tiles == 0)
        return; /* blocks are equally wide: all may have fewer tiles than the grid has parts */
    run_rectangle(r, r->chunk, x.top, x.bottom, &columns, worker);
}

/* Task: one panel of B, as wide as its tile. */
static void pack_b_panel(void *context, int64_t tile, int worker)
{
    (void)worker;
    const struct gemm_run_state *r = context;
    const struct gemm *g = &r->plan->g;
    const struct gemm_chunk *c = r->chunk;
    int64_t count = r->n_end - r->n_begin, tiles = block_tiles(r);
    int64_t begin = part_begin(count, tiles, tile), width = part_begin(count, tiles, tile + 1) - begin;
    float *to = r->packed_b + begin * c->length * c->batches + tile * PACK_SLACK;
    for (int64_t s = 0; s < c->batches; s++, to += c->length * width) {
        const float *from = operand(r->o->b, r->o->b_list, c->batch + s, g->b_batch) +
                            (r->n_begin + begin) * g->b_n + c->k * g->b_k;
        r->plan->target->pack(to, (int)width, from, g->b_n, g->b_k, (int)width, c->length);
    }
}

static int64_t packed_b_floats(const struct gemm_plan *plan)
{
    if (!plan->pack_b) return 0;
    const int64_t width = ceil_div_i64(plan->g.n, ceil_div_i64(plan->g.n, plan->n_block));
    const int64_t tiles = width / plan->target->tile_columns[plan->vectors - 1] + 2;
    return round_up_i64(width * plan->depth + tiles * PACK_SLACK, LINE_FLOATS);
}

static void run_with_packed_b(struct gemm_run_state *r, struct pool *pool)
{
    const struct gemm_plan *plan = r->plan;
    const int64_t blocks = ceil_div_i64(plan->g.n, plan->n_block), tasks = plan->m_parts * plan->n_parts;
    for (int64_t b = 0; b < blocks; b++) {
        r->n_begin = part_begin(plan->g.n, blocks, b);
        r->n_end = part_begin(plan->g.n, blocks, b + 1);
        for (int64_t i = 0; i < plan->chunks; i++) {
            struct gemm_chunk c = chunk_at(plan, i);
            r->chunk = &c;
            pool_run(pool, block_tiles(r), pack_b_panel, r);
            pool_run(pool, tasks, run_packed, r);
        }
    }
}

/* ---- the whole product ---- */

void gemm_run(const struct gemm_plan *plan, const struct gemm_operands *o, struct pool *pool)
{
    struct gemm_operands turned;
    if (plan->swapped) {
        turned = (struct gemm_operands){o->b, o->a, o->b_list, o->a_list, o->init, o->c};
        o = &turned;
    }
    if (plan->small) {
        run_in_place(plan, o, 0, plan->g.m, 0, plan->tiles, plan->tile_columns, plan->wider_tiles);
        return;
    }
    if (plan->g.m <= 0 || plan->g.n <= 0) return;
    struct gemm_run_state r = {.plan = plan, .o = o, .n_end = plan->g.n};
    const int64_t b_floats = packed_b_floats(plan), shared_floats = shared_chunk_floats(plan) * plan->chunks,
                  floats = b_floats + shared_floats + pool_threads(pool) * packed_a_floats(plan);
    OWNED float *own = NULL;
    if (floats > 0) {
        const size_t bytes = (size_t)floats * sizeof(float);
        float *scratch = pool ? pool_scratch(pool, bytes) : (own = mem_aligned(64, bytes));
        if (plan->pack_b) r.packed_b = scratch;
        r.shared_a = scratch + b_floats;
        r.packed_a = r.shared_a + shared_floats;
    }
    if (plan->pack_b) {
        run_with_packed_b(&r, pool);
    } else {
        pool_run(pool, shared_panels(plan) * plan->chunks, pack_shared_panel, &r);
        pool_run(pool, gemm_count_tasks(plan), run_unpacked, &r);
    }
}

void gemm_run_row(const struct gemm_plan *plan, const struct gemm_operands *o, int64_t count,
                  const struct gemm_steps *steps, struct pool *pool)
{
    if (plan->small && count > plan->tiles) {
        const struct gemm_operands turned = {o->b, o->a, NULL, NULL, o->init, o->c};
        const struct gemm_steps turned_steps = {steps->b, steps->a, steps->init, steps->c};
        run_small_row(plan, plan->swapped ? &turned : o, count, plan->swapped ? &turned_steps : steps);
        return;
    }
    struct gemm_operands at = *o;
    for (int64_t i = 0; i < count; i++) {
        gemm_run(plan, &at, pool);
        at.a += steps->a;
        at.b += steps->b;
        if (at.init) at.init += steps->init;
        at.c += steps->c;
    }
}
