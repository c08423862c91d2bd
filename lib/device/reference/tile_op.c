/* Shapes and extents of one tile; see tile_op.h. */
#include "device/reference/judge_op.h"
#include "layout/op_index.h"

static void cut_map(const struct lx_op *op, const int64_t *tiles, struct arena *memory, struct tile_op *t)
{
    if (!op->map) return;
    struct lx_einsum *map = arena_copy_array(memory, op->map, 1, sizeof *map);
    for (int v = 0; v < map->var_count; v++) map->extent[v] /= tiles[v];
    t->op.map = map;
}

struct tile_op *tile_op_make(const struct lx_graph *g, const struct lx_op *op, const struct lx_nest *n,
                             int32_t tick, struct arena *memory)
{
    int count = op_operand_count(op);
    struct op_index x;
    int64_t tiles[LX_MAX_VARS];
    struct tile_op *t = arena_array(memory, 1, sizeof *t);
    struct lx_tensor *tensors = arena_array(memory, (size_t)count, sizeof *tensors);
    int32_t *inputs = arena_array(memory, (size_t)count, sizeof *inputs);
    op_index_of(g, op, &x);
    nest_op_tiles(n, tick, tiles);
    t->graph = *g;
    t->graph.tensors = tensors;
    t->graph.tensor_count = count;
    t->graph.ops = &t->op;
    t->graph.op_count = 1;
    t->op = *op;
    t->op.inputs = inputs;
    t->op.output = count - 1;
    t->terms = 1;
    for (int v = 0; v < x.var_count; v++)
        if (op_index_summed(&x, v)) t->terms *= x.extent[v];
    cut_map(op, tiles, memory, t);
    for (int i = 0; i < count; i++) {
        inputs[i] = i;
        /* One operand: what a level cuts has the length of a tile. */
        const struct lx_tensor *whole = &g->tensors[op_operand(op, i)];
        struct lx_tensor *out = &tensors[i];
        *out = *whole;
        int64_t *shape = arena_array(memory, (size_t)whole->rank + 1, sizeof *shape);
        out->shape = shape;
        for (int d = 0; d < whole->rank; d++) {
            shape[d] = whole->shape[d] / tiles[(int)x.var[i][d]];
            out->bytes /= tiles[(int)x.var[i][d]];
        }
    }
    return t;
}
