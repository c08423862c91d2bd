/* One chunk of the sum for one rectangle of C, tile by tile; operands are packed where needed.
 *
 * A panel of A, as high as a tile, is copied where its rows are not contiguous, are far apart or do not fill
 * their vectors. Tiles of a rectangle differ by constant steps, so that a tile costs a few additions beside
 * its sum. */
#include "kernels/gemm_rectangle.h"

enum { PANEL_FLOATS = TILE_ROWS_MAX * PANEL_DEPTH };

/* Rows `i` .. of A, one chunk, as a contiguous panel of `width` rows with zeros behind the last. */
static void pack_a_panel(const struct gemm_run_state *r, const struct gemm_chunk *c, int64_t i, int count,
                         int width, float *panel)
{
    const struct gemm *g = &r->plan->g;
    for (int64_t s = 0; s < c->batches; s++)
        r->plan->target->pack(panel + s * c->length * width, width,
                              operand(r->o->a, r->o->a_list, c->batch + s, g->a_batch) + i * g->a_m +
                                  c->k * g->a_k,
                              g->a_m, g->a_k, count, c->length);
}

/* ---- one tile ---- */

/* Runs a tile by way of a copy on the stack, where vectors cannot touch C or init, or rows do not fill
 * them. */
static void run_tile_copy(const struct gemm *g, const struct gemm_tile *tile, gemm_kernel *kernel, int rows,
                          int columns, int width)
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

/* The tile at row `i` and column `j`, without A; the next row or column is a constant step away. */
static struct gemm_tile gemm_rectangle_first_tile(const struct gemm_run_state *r, const struct gemm_chunk *c,
                                                  int64_t i, int64_t j)
{
    const struct gemm *g = &r->plan->g;
    const struct gemm_operands *o = r->o;
    struct gemm_tile t = {.tiles = 1, .k = c->length, .batch = c->batches, .prefetch = r->plan->prefetch};
    if (r->packed_b) {
        t.b_n = 1;
    } else {
        t.b_offset = j * g->b_n + c->k * g->b_k;
        if (o->b_list)
            t.b_list = o->b_list + c->batch;
        else
            t.b = o->b + c->batch * g->b_batch + t.b_offset;
        t.b_k = g->b_k;
        t.b_n = g->b_n;
        t.b_batch = g->b_batch;
    }
    t.c = o->c + i * g->c_m + j * g->c_n;
    t.c_n = g->c_n;
    t.last_relu = c->last && g->last == GEMM_LAST_RELU;
    /* The caller's first touch in the first chunk, else the sum of the chunks before. */
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

/* Sets A of the tile: rows from `i` on, in place or copied to `panel`. */
static void set_a(const struct gemm_run_state *r, const struct gemm_chunk *c, struct gemm_tile *t, int64_t i,
                  int rows, int width, float *panel)
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
        if (r->o->a_list)
            t->a_list = r->o->a_list + c->batch;
        else
            t->a = r->o->a + c->batch * g->a_batch + t->a_offset;
        t->a_k = g->a_k;
        t->a_batch = g->a_batch;
    }
}

/* Sets the step from the B of a tile of `wide` columns to its neighbour's, and for packed B the strides
 * within a panel, which is as wide as its tile. */
static void set_b(const struct gemm_run_state *r, const struct gemm_chunk *c, struct gemm_tile *t,
                  int64_t wide)
{
    t->b_tile = wide * r->plan->g.b_n;
    if (!r->packed_b) return;
    t->b_k = wide;
    t->b_batch = c->length * wide;
    t->b_tile = t->b_batch * c->batches + PACK_SLACK;
}

/* Moves B on by `floats`. */
static void skip_b(struct gemm_tile *t, int64_t floats)
{
    if (t->b_list)
        t->b_offset += floats;
    else
        t->b += floats;
}

/* The number of tiles from `tile` on that are equally wide. */
static int64_t gemm_rectangle_alike(const struct gemm_columns *columns, int64_t tile)
{
    const int64_t end = columns->first + columns->tiles;
    return (tile < columns->extra ? min_i64(end, columns->extra) : end) - tile;
}

void gemm_rectangle(const struct gemm_run_state *r, const struct gemm_chunk *c, int64_t m_begin,
                    int64_t m_end, struct gemm_columns columns)
{
    const struct gemm_plan *plan = r->plan;
    const struct gemm *g = &plan->g;
    const struct kernel_target *target = plan->target;
    const int vector = target->vector_floats, height = plan->vectors * vector;
    const int64_t depth = c->length * c->batches;
    _Alignas(64) float panel[PANEL_FLOATS + PACK_SLACK];
    for (int64_t i = m_begin; i < m_end; i += height) {
        const int rows = (int)min_i64(height, m_end - i),
                  vectors = rows > vector ? (rows + vector - 1) / vector : 1;
        const int width = vectors * vector;
        const bool copied = rows != width || plan->needs_tile_copy;
        /* Unless B is packed in tiles, a lower panel has wider tiles. */
        if (vectors != plan->vectors && !r->packed_b)
            columns = cut_columns(columns.origin, columns.count, target->tile_columns[vectors - 1]);
        struct gemm_tile t = gemm_rectangle_first_tile(
            r, c, i, columns.origin + columns.first * columns.each + min_i64(columns.first, columns.extra));
        set_a(r, c, &t, i, rows, width, panel);
        if (r->packed_b)
            t.b = r->packed_b +
                  (columns.first * columns.each + min_i64(columns.first, columns.extra)) * depth +
                  columns.first * PACK_SLACK;
        for (int64_t tile = columns.first; tile < columns.first + columns.tiles; tile += t.tiles) {
            const int wide = (int)columns.each + (tile < columns.extra);
            gemm_kernel *kernel = target->kernel[vectors - 1][wide - 1];
            set_b(r, c, &t, wide);
            t.c_tile = wide * g->c_n;
            t.init_tile = wide * t.init_n;
            t.tiles = copied ? 1 : gemm_rectangle_alike(&columns, tile);
            if (copied)
                run_tile_copy(g, &t, kernel, rows, wide, width);
            else
                kernel(&t);
            skip_b(&t, t.tiles * t.b_tile);
            t.c += t.tiles * t.c_tile;
            t.init += t.tiles * t.init_tile;
        }
    }
}

void gemm_pack_rows(const struct gemm_run_state *r, const struct gemm_chunk *c, int64_t m_begin,
                    int64_t m_end, float *panels)
{
    const int vector = r->plan->target->vector_floats, height = r->plan->vectors * vector;
    for (int64_t i = m_begin; i < m_end; i += height, panels += panel_floats(r->plan, c)) {
        const int rows = (int)min_i64(height, m_end - i);
        pack_a_panel(r, c, i, rows, (rows + vector - 1) / vector * vector, panels);
    }
}

/* For products so large that A is packed in blocks. Tiles go down the rows first: a tile's columns of B
 * stay in the first-level cache and those of C on their pages, while the panels of A come from the
 * second-level cache. */
void gemm_packed_rectangle(const struct gemm_run_state *r, const struct gemm_chunk *c, int64_t m_begin,
                           int64_t m_end, const struct gemm_columns *columns, const float *panels)
{
    const struct gemm_plan *plan = r->plan;
    const struct kernel_target *target = plan->target;
    const int vector = target->vector_floats, height = plan->vectors * vector;
    const int64_t depth = c->length * c->batches, c_n = plan->g.c_n;
    const int64_t skip = columns->first * columns->each + min_i64(columns->first, columns->extra);
    struct gemm_tile t = gemm_rectangle_first_tile(r, c, m_begin, columns->origin + skip);
    if (r->packed_b) t.b = r->packed_b + skip * depth + columns->first * PACK_SLACK;
    t.a_tile = panel_floats(plan, c);
    t.c_tile = height * plan->g.c_m;
    t.init_tile = height * (t.init == t.c ? plan->g.c_m : plan->g.init_m);
    for (int64_t tile = columns->first; tile < columns->first + columns->tiles; tile++) {
        const int wide = (int)columns->each + (tile < columns->extra);
        set_b(r, c, &t, wide);
        const int64_t to_next = t.b_tile;
        t.b_tile = 0; /* the tiles of a call have the same columns */
        float *const top = t.c;
        const float *const top_init = t.init;
        t.a = panels;
        for (int64_t i = m_begin; i < m_end; i += t.tiles * height) {
            const int rows = (int)min_i64(height, m_end - i), vectors = (rows + vector - 1) / vector;
            const int width = vectors * vector;
            const bool copied = rows != width || plan->needs_tile_copy;
            t.a_k = width;
            t.a_batch = c->length * width;
            t.tiles = copied || rows < height ? 1 : (m_end - i) / height;
            gemm_kernel *kernel = target->kernel[vectors - 1][wide - 1];
            if (copied)
                run_tile_copy(&plan->g, &t, kernel, rows, wide, width);
            else
                kernel(&t);
            t.a += t.tiles * t.a_tile;
            t.c += t.tiles * t.c_tile;
            t.init += t.tiles * t.init_tile;
        }
        skip_b(&t, to_next);
        t.c = top + wide * c_n;
        t.init = top_init + wide * t.init_n;
    }
}
