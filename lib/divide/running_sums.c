/* From the sum down to who reads the weights, and from a blend up to where its weights come from. */
#include "divide/op_nest.h"
#include "layout/op_index.h"

static const struct lx_op *running_sums_op_of(const struct lx_layouts *l, int32_t op)
{
    return &l->graph->ops[op];
}

/* The op of the nest that makes a tensor; -1: none. */
static int32_t maker_in(const struct lx_layouts *l, const struct lx_nest *n, int32_t tensor)
{
    for (int32_t o = n->first; o <= n->last; o++)
        if (op_operand_made(running_sums_op_of(l, o), tensor) >= 0) return o;
    return -1;
}

/* What a tensor is a copy of. */
static int32_t running_sums_copied(const struct lx_layouts *l, int32_t tensor)
{
    for (int32_t o = l->graph->op_count - 1; o >= 0; o--)
        if (running_sums_op_of(l, o)->output == tensor && op_is_restickify(running_sums_op_of(l, o)))
            tensor = running_sums_op_of(l, o)->inputs[0];
    return tensor;
}

/* Levels of the nest over which an op sums. */
static unsigned running_sums_summed_by(const struct lx_layouts *l, const struct lx_nest *n, int32_t op)
{
    struct op_index x;
    unsigned levels = 0;
    op_index_of(l->graph, running_sums_op_of(l, op), &x);
    for (int k = 0; k < n->level_count; k++)
        if (op_index_dim(&x, x.output, n->var[op - n->first][k]) < 0) levels |= level_bit(k);
    return levels;
}

/* How far on the way from scores to weights a tensor is. */
enum stage { DIFFERENCES, WEIGHTS };

static bool used_well(const struct lx_layouts *l, const struct lx_nest *n, int32_t tensor, enum stage stage,
                      unsigned levels);

/* One that reads differences or weights, at its operand `operand`. */
static bool reader_is_right(const struct lx_layouts *l, const struct lx_nest *n, int32_t op, int operand,
                            enum stage stage, unsigned levels)
{
    const struct lx_op *o = running_sums_op_of(l, op);
    if (n->first > op || op > n->last) return false;
    if (op_is_restickify(o)) return used_well(l, n, o->output, stage, levels);
    if (stage == WEIGHTS)
        return o->kind->id == LX_KIND_BLEND && operand == 0 && running_sums_summed_by(l, n, op) == levels;
    return o->kind->id == LX_KIND_EXP && used_well(l, n, o->output, WEIGHTS, levels);
}

static bool used_well(const struct lx_layouts *l, const struct lx_nest *n, int32_t tensor, enum stage stage,
                      unsigned levels)
{
    if (l->graph->tensors[tensor].role != LX_INTERMEDIATE) return false;
    for (int32_t o = 0; o < l->graph->op_count; o++)
        for (int i = 0; i < running_sums_op_of(l, o)->input_count; i++)
            if (running_sums_op_of(l, o)->inputs[i] == tensor && !reader_is_right(l, n, o, i, stage, levels))
                return false;
    return true;
}

bool nest_reads_running(const struct lx_layouts *l, const struct lx_nest *n, int32_t op, int32_t tensor)
{
    const struct lx_op *o = running_sums_op_of(l, op);
    int32_t maker = maker_in(l, n, tensor);
    if (maker < 0 || maker > op || running_sums_op_of(l, maker)->kind->id != LX_KIND_LOGSUMEXP) return false;
    if (o->kind->id != LX_KIND_SUB || o->input_count != 2 || o->inputs[1] != tensor) return false;
    return running_sums_copied(l, o->inputs[0]) ==
               running_sums_copied(l, running_sums_op_of(l, maker)->inputs[0]) &&
           used_well(l, n, o->output, DIFFERENCES, running_sums_summed_by(l, n, maker));
}

/* The op of the nest behind copies, of a kind; -1: another. */
static int32_t maker_of_kind(const struct lx_layouts *l, const struct lx_nest *n, int32_t tensor,
                             enum lx_kind_id kind)
{
    int32_t op = maker_in(l, n, running_sums_copied(l, tensor));
    return op >= 0 && running_sums_op_of(l, op)->kind->id == kind ? op : -1;
}

bool nest_sums_op(const struct lx_layouts *l, const struct lx_nest *n, int32_t op)
{
    unsigned levels = running_sums_summed_by(l, n, op);
    if (running_sums_op_of(l, op)->kind->id != LX_KIND_BLEND || !levels) return true;
    int32_t exp = maker_of_kind(l, n, running_sums_op_of(l, op)->inputs[0], LX_KIND_EXP);
    int32_t sub = exp >= 0 ? maker_of_kind(l, n, running_sums_op_of(l, exp)->inputs[0], LX_KIND_SUB) : -1;
    if (sub < 0 || running_sums_op_of(l, sub)->input_count != 2) return false;
    int32_t sum = maker_in(l, n, running_sums_op_of(l, sub)->inputs[1]);
    return sum >= 0 && running_sums_summed_by(l, n, sum) == levels &&
           nest_reads_running(l, n, sub, running_sums_op_of(l, sub)->inputs[1]);
}
