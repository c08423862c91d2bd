/* Matrix products: blocking, packing and sharing around the register tile.
 *
 * Loops, outermost first: blocks of n columns of B (so that k_block rows of them fit the second-level cache);
 * chunks of the sum, k_block long, over k and over the batch; panels of rows of A, as high as a register tile
 * (one chunk of a panel fits the first-level cache); register tiles along the columns. An element of C is
 * summed chunk after chunk in a fixed order, whatever the number of threads: tasks are rectangles of C.
 *
 * A panel of A is copied to the stack where its rows are not contiguous or are far apart. B is read in place
 * where it behaves in the caches, else a block of it is packed by all threads before they use it. */
#include "device/kernels/target.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

enum { PANEL_FLOATS = TILE_ROWS_MAX * K_BLOCK_MAX };

/* One chunk of the sum: `batches` matrices from `batch` on, columns k .. k + length of A in each. */
struct chunk {
    int64_t batch, batches, k, length;
    bool first, last;
};

struct run {
    const struct gemm_plan *plan;
    const struct gemm_operands *o;
    const struct chunk *chunk; /* of B that is packed */
    int64_t n_begin, n_end;
    float *packed_b;
    float *packed_a; /* one block a worker */
};

/* ---- columns of a block in tiles ---- */

/* `count` in parts of equal width, or one more for the first of them: part i begins at part_begin(i). */
static int64_t part_begin(int64_t count, int64_t parts, int64_t i)
{
    int64_t each = count / parts, extra = count % parts;
    return i * each + min_i64(i, extra);
}

static const float *operand(const float *base, const float *const *list, int64_t batch, int64_t stride)
{
    return list ? list[batch] : base + batch * stride;
}

/* Rows `i` .. of A, one chunk, as a contiguous panel of `width` rows with zeros behind the last. */
static void pack_a_panel(const struct run *r, const struct chunk *c, int64_t i, int count, int width, float *panel)
{
    const struct gemm *g = &r->plan->g;
    for (int64_t s = 0; s < c->batches; s++)
        r->plan->target->pack(panel + s * c->length * width, width,
                              operand(r->o->a, r->o->a_list, c->batch + s, g->a_batch) + i * g->a_m + c->k * g->a_k,
                              g->a_m, g->a_k, count, c->length);
}

/* ---- one tile ---- */

/* C or init in a form that vectors cannot touch, or rows that do not fill them: by way of a copy on the stack. */
static void run_tile_copy(const struct gemm *g, const struct gemm_tile *tile, gemm_kernel *kernel, int rows, int columns,
                          int width)
{
    _Alignas(64) float copy[TILE_ROWS_MAX * TILE_COLUMNS_MAX];
    struct gemm_tile t = *tile;
    const bool from_c = t.init == t.c;
    const int64_t step_m = from_c ? g->c_m : g->init_m;
    if (t.init_kind != TILE_INIT_ZERO) {
        for (int y = 0; y < columns; y++) {
            for (int x = 0; x < rows; x++) copy[y * width + x] = t.init[x * step_m + y * t.init_n];
            for (int x = rows; x < width; x++) copy[y * width + x] = 0;
        }
        t.init_kind = TILE_INIT_ROWS;
        t.init = copy;
        t.init_n = width;
    }
    t.c = copy;
    t.c_n = width;
    t.prefetch = false;
    kernel(&t);
    for (int y = 0; y < columns; y++)
        for (int x = 0; x < rows; x++) tile->c[x * g->c_m + y * g->c_n] = copy[y * width + x];
}

/* ---- one chunk of a rectangle of C ---- */

/* Tiles of a rectangle: the first is as number `first` of a block that begins at column `origin`; all have
 * `each` columns, those of a number below `extra` one more. */
struct columns {
    int64_t origin, count, first, tiles, each, extra;
};

static struct columns cut_columns(int64_t origin, int64_t count, int most)
{
    struct columns c = {.origin = origin, .count = count, .tiles = ceil_div_i64(count, most)};
    c.each = count / c.tiles;
    c.extra = count % c.tiles;
    return c;
}

/* The tile at row 0 and column `j` of the rectangle's chunk; a row or a column further is a constant step. */
static struct gemm_tile first_tile(const struct run *r, const struct chunk *c, int64_t i, int64_t j)
{
    const struct gemm *g = &r->plan->g;
    const struct gemm_operands *o = r->o;
    struct gemm_tile t = {.k = c->length, .batch = c->batches, .prefetch = !r->plan->direct};
    if (r->packed_b) {
        t.b_n = g->b_k == 1 ? c->length : 1;
        t.b_k = 1;
    } else {
        t.b_offset = j * g->b_n + c->k * g->b_k;
        if (o->b_list) t.b_list = o->b_list + c->batch;
        else t.b = o->b + c->batch * g->b_batch + t.b_offset;
        t.b_k = g->b_k;
        t.b_n = g->b_n;
        t.b_batch = g->b_batch;
    }
    t.c = o->c + i * g->c_m + j * g->c_n;
    t.c_n = g->c_n;
    t.last_relu = c->last && g->last == GEMM_LAST_RELU;
    /* The caller's first touch in the first chunk, then what the chunk before has left. */
    t.init = t.c;
    t.init_n = g->c_n;
    t.init_kind = TILE_INIT_ROWS;
    if (c->first && g->first == GEMM_FIRST_ZERO) t.init_kind = TILE_INIT_ZERO;
    if (c->first && g->first == GEMM_FIRST_RELU) t.first_relu = true;
    if (c->first && g->first == GEMM_FIRST_COPY) {
        t.init = o->init + i * g->init_m + j * g->init_n;
        t.init_n = g->init_n;
        if (g->init_m == 0) t.init_kind = TILE_INIT_SPLAT;
    }
    return t;
}

/* Rows `i` .. of A, in place or copied to the panel. */
static void set_a(const struct run *r, const struct chunk *c, struct gemm_tile *t, int64_t i, int rows, int width,
                  float *panel)
{
    const struct gemm *g = &r->plan->g;
    if (r->plan->pack_a || rows != width) {
        pack_a_panel(r, c, i, rows, width, panel);
        t->a = panel;
        t->a_list = NULL;
        t->a_k = width;
        t->a_batch = c->length * width;
    } else {
        t->a_offset = i * g->a_m + c->k * g->a_k;
        if (r->o->a_list) t->a_list = r->o->a_list + c->batch;
        else t->a = r->o->a + c->batch * g->a_batch + t->a_offset;
        t->a_k = g->a_k;
        t->a_batch = g->a_batch;
    }
}

static void run_rectangle(const struct run *r, const struct chunk *c, int64_t m_begin, int64_t m_end,
                          struct columns columns)
{
    const struct gemm_plan *plan = r->plan;
    const struct gemm *g = &plan->g;
    const struct kernel_target *target = plan->target;
    const int vector = target->vector_floats, height = plan->vectors * vector;
    const int64_t depth = c->length * c->batches;
    _Alignas(64) float panel[PANEL_FLOATS + PACK_SLACK];
    for (int64_t i = m_begin; i < m_end; i += height) {
        const int rows = (int)min_i64(height, m_end - i), vectors = rows > vector ? (rows + vector - 1) / vector : 1;
        const int width = vectors * vector;
        const bool copied = rows != width || plan->needs_tile_copy;
        /* Where nobody else depends on the cut, a lower panel has wider tiles. */
        if (vectors != plan->vectors && !r->packed_b)
            columns = cut_columns(columns.origin, columns.count, target->tile_columns[vectors - 1]);
        struct gemm_tile t = first_tile(r, c, i, columns.origin + columns.first * columns.each +
                                                     min_i64(columns.first, columns.extra));
        set_a(r, c, &t, i, rows, width, panel);
        if (r->packed_b)
            t.b = r->packed_b + (columns.first * columns.each + min_i64(columns.first, columns.extra)) * depth +
                  columns.first * PACK_SLACK;
        for (int64_t tile = columns.first; tile < columns.first + columns.tiles; tile++) {
            const int wide = (int)columns.each + (tile < columns.extra);
            gemm_kernel *kernel = target->kernel[vectors - 1][wide - 1];
            if (r->packed_b) {
                if (g->b_k != 1) t.b_k = wide;
                t.b_batch = c->length * wide;
            }
            if (copied) run_tile_copy(g, &t, kernel, rows, wide, width);
            else kernel(&t);
            if (r->packed_b) t.b += wide * depth + PACK_SLACK;
            else if (t.b_list) t.b_offset += wide * g->b_n;
            else t.b += wide * g->b_n;
            t.c += wide * g->c_n;
            t.init += wide * t.init_n;
        }
    }
}

/* The same with all panels of the rectangle packed first, for products so large that both operands are. Tiles go
 * down the rows first: a tile's columns of B stay in the first-level cache and those of C on their pages, while
 * the panels of A come from the second-level cache. */
static void run_packed_rectangle(const struct run *r, const struct chunk *c, int64_t m_begin, int64_t m_end,
                                 const struct columns *columns, float *panels)
{
    const struct gemm_plan *plan = r->plan;
    const struct kernel_target *target = plan->target;
    const int vector = target->vector_floats, height = plan->vectors * vector;
    const int64_t depth = c->length * c->batches, c_n = plan->g.c_n;
    for (int64_t i = m_begin; i < m_end; i += height) {
        const int rows = (int)min_i64(height, m_end - i), width = (rows + vector - 1) / vector * vector;
        pack_a_panel(r, c, i, rows, width, panels + (i - m_begin) * depth);
    }
    const int64_t skip = columns->first * columns->each + min_i64(columns->first, columns->extra);
    struct gemm_tile t = first_tile(r, c, m_begin, columns->origin + skip);
    t.b = r->packed_b + skip * depth + columns->first * PACK_SLACK;
    const int64_t init_m = t.init == t.c ? plan->g.c_m : plan->g.init_m;
    for (int64_t tile = columns->first; tile < columns->first + columns->tiles; tile++) {
        const int wide = (int)columns->each + (tile < columns->extra);
        if (plan->g.b_k != 1) t.b_k = wide;
        t.b_batch = c->length * wide;
        float *const top = t.c;
        const float *const top_init = t.init;
        for (int64_t i = m_begin; i < m_end; i += height) {
            const int rows = (int)min_i64(height, m_end - i), vectors = (rows + vector - 1) / vector;
            const int width = vectors * vector;
            t.a = panels + (i - m_begin) * depth;
            t.a_k = width;
            t.a_batch = c->length * width;
            gemm_kernel *kernel = target->kernel[vectors - 1][wide - 1];
            if (rows != width || plan->needs_tile_copy) run_tile_copy(&plan->g, &t, kernel, rows, wide, width);
            else kernel(&t);
            t.c += height * plan->g.c_m;
            t.init += height * init_m;
        }
        t.b += wide * depth + PACK_SLACK;
        t.c = top + wide * c_n;
        t.init = top_init + wide * t.init_n;
    }
}

/* ---- chunks and tasks ---- */

static struct chunk chunk_at(const struct gemm_plan *plan, int64_t index)
{
    const struct gemm *g = &plan->g;
    struct chunk c = {.first = index == 0, .last = index == plan->chunks - 1};
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

/* Rows are given out in whole panels, so that every element is in the same tile whatever the grid. */
static void task_rows(const struct gemm_plan *plan, int64_t task, int64_t *begin, int64_t *end)
{
    const int64_t height = plan->vectors * plan->target->vector_floats;
    const int64_t panels = ceil_div_i64(plan->g.m, height), part = task / plan->n_parts;
    *begin = part_begin(panels, plan->m_parts, part) * height;
    *end = min_i64(plan->g.m, part_begin(panels, plan->m_parts, part + 1) * height);
}

/* All of a rectangle of C, B in place. */
static void run_unpacked(void *context, int64_t task, int worker)
{
    (void)worker;
    const struct run *r = context;
    const struct gemm_plan *plan = r->plan;
    int64_t begin, end, part = task % plan->n_parts;
    task_rows(plan, task, &begin, &end);
    int64_t left = part_begin(plan->g.n, plan->n_parts, part), right = part_begin(plan->g.n, plan->n_parts, part + 1);
    int64_t blocks = ceil_div_i64(right - left, plan->n_block);
    for (int64_t b = 0; b < blocks; b++) {
        int64_t from = left + part_begin(right - left, blocks, b), to = left + part_begin(right - left, blocks, b + 1);
        struct columns columns = cut_columns(from, to - from, plan->target->tile_columns[plan->vectors - 1]);
        for (int64_t i = 0; i < plan->chunks; i++) {
            struct chunk c = chunk_at(plan, i);
            run_rectangle(r, &c, begin, end, columns);
        }
    }
}

static int64_t packed_a_floats(const struct gemm_plan *plan)
{
    return plan->m_block * plan->depth + 4 * PACK_SLACK;
}

static int64_t block_tiles(const struct run *r)
{
    return ceil_div_i64(r->n_end - r->n_begin, r->plan->target->tile_columns[r->plan->vectors - 1]);
}

/* One chunk of a rectangle of C within a packed block. */
static void run_packed(void *context, int64_t task, int worker)
{
    const struct run *r = context;
    const struct gemm_plan *plan = r->plan;
    int64_t begin, end, part = task % plan->n_parts, tiles = block_tiles(r);
    task_rows(plan, task, &begin, &end);
    struct columns columns = cut_columns(r->n_begin, r->n_end - r->n_begin, plan->target->tile_columns[plan->vectors - 1]);
    columns.first = part_begin(tiles, plan->n_parts, part);
    columns.tiles = part_begin(tiles, plan->n_parts, part + 1) - columns.first;
    if (!r->packed_a) {
        run_rectangle(r, r->chunk, begin, end, columns);
        return;
    }
    for (int64_t i = begin; i < end; i += plan->m_block)
        run_packed_rectangle(r, r->chunk, i, min_i64(end, i + plan->m_block), &columns,
                             r->packed_a + worker * packed_a_floats(plan));
}

/* Task: one panel of B, as wide as its tile. */
static void pack_b_panel(void *context, int64_t tile, int worker)
{
    (void)worker;
    const struct run *r = context;
    const struct gemm *g = &r->plan->g;
    const struct chunk *c = r->chunk;
    int64_t count = r->n_end - r->n_begin, tiles = block_tiles(r);
    int64_t begin = part_begin(count, tiles, tile), width = part_begin(count, tiles, tile + 1) - begin;
    float *to = r->packed_b + begin * c->length * c->batches + tile * PACK_SLACK;
    for (int64_t s = 0; s < c->batches; s++, to += c->length * width) {
        const float *from = operand(r->o->b, r->o->b_list, c->batch + s, g->b_batch) + (r->n_begin + begin) * g->b_n +
                            c->k * g->b_k;
        if (g->b_k == 1)
            for (int64_t j = 0; j < width; j++)
                memcpy(to + j * c->length, from + j * g->b_n, (size_t)c->length * sizeof *to);
        else r->plan->target->pack(to, (int)width, from, g->b_n, g->b_k, (int)width, c->length);
    }
}

static bool run_with_packed_b(struct run *r, struct pool *pool)
{
    const struct gemm_plan *plan = r->plan;
    const struct gemm *g = &plan->g;
    const int64_t blocks = ceil_div_i64(g->n, plan->n_block), tasks = plan->m_parts * plan->n_parts;
    const int64_t width = ceil_div_i64(g->n, blocks);
    const int64_t b_floats = round_up_i64(
        width * plan->depth + (width / plan->target->tile_columns[plan->vectors - 1] + 2) * PACK_SLACK, 16);
    const int64_t a_floats = plan->pack_a ? pool_threads(pool) * packed_a_floats(plan) : 0;
    const size_t bytes = (size_t)round_up_i64((b_floats + a_floats) * (int64_t)sizeof(float), 64);
    float *own = pool ? NULL : aligned_alloc(64, bytes);
    r->packed_b = pool ? pool_scratch(pool, bytes) : own;
    if (!r->packed_b) return false;
    if (plan->pack_a) r->packed_a = r->packed_b + b_floats;
    for (int64_t b = 0; b < blocks; b++) {
        r->n_begin = part_begin(g->n, blocks, b);
        r->n_end = part_begin(g->n, blocks, b + 1);
        for (int64_t i = 0; i < plan->chunks; i++) {
            struct chunk c = chunk_at(plan, i);
            r->chunk = &c;
            pool_run(pool, block_tiles(r), pack_b_panel, r);
            pool_run(pool, tasks, run_packed, r);
        }
    }
    free(own);
    return true;
}

/* One task, one chunk, everything in place and in whole vectors. Every cycle counts here: fields are set one by
 * one (a structure that is copied soon after it was filled waits for its bytes) and nothing is divided. */
static void run_small(const struct gemm_plan *plan, const struct gemm_operands *o)
{
    const struct gemm *g = &plan->g;
    const int64_t vector = plan->target->vector_floats, height = plan->vectors * vector;
    const bool copies = g->first == GEMM_FIRST_COPY;
    const int64_t init_m = copies ? g->init_m : 1, init_n = copies ? g->init_n : g->c_n;
    const float *const init = copies ? o->init : o->c;
    struct gemm_tile t;
    t.k = g->k;
    t.batch = g->batch;
    t.a_list = o->a_list;
    t.b_list = o->b_list;
    t.a_k = g->a_k;
    t.a_batch = g->a_batch;
    t.b_k = g->b_k;
    t.b_n = g->b_n;
    t.b_batch = g->b_batch;
    t.c_n = g->c_n;
    t.init_n = init_n;
    t.init_kind = g->first == GEMM_FIRST_ZERO ? TILE_INIT_ZERO : init_m == 0 ? TILE_INIT_SPLAT : TILE_INIT_ROWS;
    t.first_relu = g->first == GEMM_FIRST_RELU;
    t.last_relu = g->last == GEMM_LAST_RELU;
    t.prefetch = false;
    for (int64_t i = 0; i < g->m; i += height) {
        gemm_kernel *const *kernel = plan->target->kernel[plan->vectors - 1];
        if (g->m - i < height) kernel = plan->target->kernel[(g->m - i) / vector - 1];
        t.a = o->a + i;
        t.a_offset = i;
        t.b = o->b;
        t.b_offset = 0;
        t.c = o->c + i;
        t.init = init + i * init_m;
        for (int64_t tile = 0; tile < plan->tiles; tile++) {
            int64_t wide = plan->tile_columns + (tile < plan->wider_tiles);
            kernel[wide - 1](&t);
            t.b += wide * g->b_n;
            t.b_offset += wide * g->b_n;
            t.c += wide * g->c_n;
            t.init += wide * init_n;
        }
    }
}

bool gemm_run(const struct gemm_plan *plan, const struct gemm_operands *o, struct pool *pool)
{
    struct gemm_operands turned;
    if (plan->swapped) {
        turned = (struct gemm_operands){o->b, o->a, o->b_list, o->a_list, o->init, o->c};
        o = &turned;
    }
    if (plan->small) {
        run_small(plan, o);
        return true;
    }
    if (plan->g.m <= 0 || plan->g.n <= 0) return true;
    struct run r = {.plan = plan, .o = o, .n_end = plan->g.n};
    if (plan->pack_b) return run_with_packed_b(&r, pool);
    pool_run(pool, plan->m_parts * plan->n_parts, run_unpacked, &r);
    return true;
}
