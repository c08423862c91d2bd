#include "support/moving_graph.h"

static int32_t moving_tensor(struct moving_graph *g, int64_t rows)
{
    char name[16];
    int64_t shape[2] = {rows * g->cores, 64};
    snprintf(name, sizeof name, "t%d", g->tensors++);
    int32_t t = builder_tensor(&g->b, name, LX_ROLE_COUNT, LX_FP16, 2, shape, 0, g->st);
    g->ok = g->ok && t >= 0;
    return t;
}

static int32_t moving_op(struct moving_graph *g, int32_t input, int64_t rows)
{
    char name[16];
    struct lx_op op = {.name = name, .inputs = &input, .input_count = 1, .einsum = "ab->ab"};
    op.kind = lx_kind_find(g->ops % 2 ? "neg" : "abs");
    snprintf(name, sizeof name, "op%d", g->ops++);
    op.output = moving_tensor(g, rows);
    g->ok = g->ok && builder_op(&g->b, &op, g->st);
    return op.output;
}

static void moving_begin(struct moving_graph *g, int64_t rows)
{
    struct moving_buffer x = {.rows = rows, .tensor = moving_tensor(g, rows)};
    int32_t made = moving_op(g, x.tensor, rows);
    if (rng_below(g->r, 3) == 0) x.tensor = made;
    g->alive[g->count++] = x;
}

/* Bytes that are free then. */
static int64_t moving_end(struct moving_graph *g)
{
    int at = (int)rng_below(g->r, (uint64_t)g->count);
    struct moving_buffer x = g->alive[at];
    g->alive[at] = g->alive[--g->count];
    int32_t made = moving_op(g, x.tensor, x.rows);
    if (rng_below(g->r, 3) > 0) return x.rows;
    g->alive[g->count++] = (struct moving_buffer){made, x.rows};
    return 0;
}

static void moving_fill(struct moving_graph *g, int64_t rows)
{
    while (rows > 0 && g->count < MOVING_ALIVE - 2) {
        int64_t some = 1 + (int64_t)rng_below(g->r, (uint64_t)(rows < 5 ? rows : 5));
        moving_begin(g, some);
        rows -= some;
    }
}

const struct lx_graph *moving_graph(struct rng *r, int64_t cores, int64_t sticks, int events, lx_status *st)
{
    struct moving_graph g = {.r = r, .cores = cores, .ok = true, .st = st};
    builder_begin(&g.b, "moving", "moving");
    lx_device_preset("spyre", &g.b.graph->device);
    g.b.graph->device.cores = cores;
    g.b.graph->target_hbm_bytes = -1;
    moving_fill(&g, sticks);
    for (int e = 0; g.ok && e < events; e++) {
        int64_t rows = moving_end(&g);
        if (g.count > 0) rows += moving_end(&g);
        moving_fill(&g, rows);
    }
    while (g.ok && g.count > 0) moving_end(&g);
    const struct lx_graph *all = g.ok ? builder_finish(&g.b, st) : NULL;
    builder_abandon(&g.b);
    const struct lx_graph *small = all ? lx_graph_with_capacity(all, sticks * 128, st) : NULL;
    lx_graph_free(all);
    return small;
}
