/* Evaluates the op in fp64 on its inputs, block by block, and compares each block with the output at once. */
#include "device/reference/judge_op.h"
#include "device/execute/arith.h"
#include "device/reference/evaluate.h"
#include "layout/op_index.h"

struct judging {
    const void *items;
    enum lx_dtype dtype;
    struct judged *by_worker;
};

static void judge_op_compare(void *context, int worker, int64_t at, const struct expected *x)
{
    const struct judging *j = context;
    int item = number_types[j->dtype].item;
    judge_elements(x, j->dtype, (const char *)j->items + at * item, &j->by_worker[worker]);
}

static struct operand judge_op_operand_of(const struct lx_graph *g, int32_t tensor, const void *items)
{
    return (struct operand){.items = items, .type = &number_types[g->tensors[tensor].dtype]};
}

static int64_t judge_op_bytes_of(const struct lx_graph *g, int32_t tensor)
{
    const struct lx_tensor *t = &g->tensors[tensor];
    int64_t n = 1;
    if (t->rank < 0) return t->bytes;
    for (int d = 0; d < t->rank; d++) n *= t->shape[d];
    return n * number_types[t->dtype].item;
}

/* Judges tensors that are made as a whole. */
static void judge_made(const struct op_items *x, struct judged *out)
{
    const struct lx_tensor *t = &x->g->tensors[x->op->output];
    const struct number_type *type = &number_types[t->dtype];
    int64_t count = judge_op_bytes_of(x->g, x->op->output) / type->item;
    struct operand in = {0};
    OWNED wide_number *value = mem_zeroed((size_t)count + 1, sizeof *value);
    double *slack = mem_zeroed((size_t)count + 1, sizeof *slack), near[JUDGED_MOST];
    bool sums = x->op->kind->id == LX_KIND_SCAN && !type->integer;
    if (x->op->input_count > 0) in = judge_op_operand_of(x->g, x->op->inputs[0], x->inputs[0]);
    made_values(x->g, x->op, &in, value, slack);
    for (int64_t at = 0, n; at < count; at += n) {
        n = count - at < JUDGED_MOST ? count - at : JUDGED_MOST;
        for (int64_t i = 0; i < n; i++) near[i] = (double)value[at + i];
        struct expected e = {.count = n, .value = near, .signless = true};
        if (sums)
            e.slack = slack + at;
        else
            e.exact = value + at;
        judge_elements(&e, t->dtype, (const char *)x->output + at * type->item, out);
    }
    mem_free(slack);
}

void judge_op(const struct op_items *x, struct pool *pool, struct judged *out)
{
    *out = (struct judged){0};
    if (made_known(x->op))
        judge_made(x, out);
    else if (op_is_shaped(x->g, x->op)) {
        int workers = pool_threads(pool);
        /* The type of the op's result. */
        struct judging j = {
            .items = x->output,
            .dtype = (enum lx_dtype)(op_number_type(x->g, x->op, x->op->input_count) - number_types)};
        struct evaluation e = {
            .g = x->g, .op = x->op, .bounded = true, .take = judge_op_compare, .context = &j};
        for (int i = 0; i < x->op->input_count && i < EVALUATED_MOST; i++)
            e.in[i] = (struct operand){.items = x->inputs[i], .type = op_number_type(x->g, x->op, i)};
        e.kept = judge_op_operand_of(x->g, x->op->output, x->kept);
        e.before = judge_op_operand_of(x->g, x->op->output, x->before);
        e.divisor = x->divisor;
        j.by_worker = mem_zeroed((size_t)workers, sizeof *j.by_worker);
        evaluate_op(&e, pool);
        for (int i = 0; i < workers; i++) judged_add(out, &j.by_worker[i]);
        mem_free(j.by_worker);
    } else {
        /* Mixed bytes must agree bit for bit. */
        struct mix_operand inputs[LX_MAX_INPUTS];
        const struct lx_tensor *t = &x->g->tensors[x->op->output];
        int64_t bytes = judge_op_bytes_of(x->g, x->op->output);
        OWNED unsigned char *want = mem_zeroed((size_t)bytes / 8 + 1, 8);
        for (int i = 0; i < x->op->input_count; i++)
            inputs[i] = (struct mix_operand){x->inputs[i], judge_op_bytes_of(x->g, x->op->inputs[i])};
        if (t->rank < 0)
            mix_bytes(x->op, x->result, inputs, want, bytes);
        else
            mix_elements(x->op, x->result, inputs, t->dtype, want, bytes / number_types[t->dtype].item);
        for (int64_t i = 0; i < bytes; i++) out->wrong += want[i] != ((const unsigned char *)x->output)[i];
        if (out->wrong > 0) out->share = INFINITY;
    }
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
    if (op->map) {
        struct lx_einsum *map = arena_copy_array(memory, op->map, 1, sizeof *map);
        for (int v = 0; v < map->var_count; v++) map->extent[v] /= tiles[v];
        t->op.map = map;
    }
    for (int i = 0; i < count; i++) {
        inputs[i] = i;
        /* One operand: a dimension cut by a level has the length of a tile. */
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
