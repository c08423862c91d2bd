/* From a tile of an op to a nest: see nest_of_op.h. */
#include "loops/nest_of_op.h"
#include "base/words/words.h"
#include "base/base.h"
#include "loops/nest.h"

/* Ops that move elements one by one, and have a kernel for it. */
static const struct {
    bool known;
    enum lx_touch main;
} moves[LX_KIND_COUNT] = {[LX_KIND_CLONE] = {true, LX_TOUCH_COPY},
                          [LX_KIND_RESTICKIFY] = {true, LX_TOUCH_COPY},
                          [LX_KIND_RELU] = {true, LX_TOUCH_RELU}};

LX_WORDS_OF(lx_nest_kind_word, enum lx_nest_kind, [LX_NEST_NONE] = "none",
            [LX_NEST_CONTRACTION] = "contraction", [LX_NEST_MOVE] = "move")

/* The op's operand behind `operand` of the nest; -1: none. */
static int op_side(const struct lx_op_nest *n, const struct op_index *x, int operand)
{
    if (operand == LX_LOOP_OUT) return x->output;
    if (n->kind == LX_NEST_MOVE) return operand == LX_LOOP_IN0 ? 0 : -1;
    return (operand == LX_LOOP_IN1) != n->swapped;
}

enum lx_loop_type lx_nest_type(const struct lx_op_nest *n, const struct op_index *x, int var)
{
    if (n->kind == LX_NEST_MOVE) return LX_DIM_C;
    if (op_index_dim(x, x->output, var) < 0) return LX_DIM_K;
    bool in0 = op_index_dim(x, n->swapped, var) >= 0, in1 = op_index_dim(x, !n->swapped, var) >= 0;
    return in0 && in1 ? LX_DIM_C : in0 ? LX_DIM_M : LX_DIM_N;
}

static struct lx_loop *nest_of_op_add_loop(struct lx_loops *l, enum lx_loop_type type, int64_t size,
                                           lx_status *st)
{
    if (l->count == LX_LOOPS_MAX)
        return status_set(st, LX_E_LIMIT, "a nest of more than %d loops", LX_LOOPS_MAX), NULL;
    struct lx_loop *loop = &l->loop[l->count++];
    *loop = (struct lx_loop){.type = type, .size = size};
    return loop;
}

static bool nest_of_op_add_loops(const struct lx_layouts *l, const struct lx_op *op, const struct op_index *x,
                                 const int64_t *size, struct lx_op_nest *out, lx_status *st)
{
    /* Variables in the order of the output's dimensions, then the summed ones. */
    int vars[LX_MAX_VARS + LX_MAX_RANK], count = 0;
    for (int d = 0; d < x->rank[x->output]; d++) vars[count++] = x->var[x->output][d];
    count += op_index_sum_order(x, vars + count);
    int64_t stride[LX_LOOP_OPERANDS][LX_MAX_VARS] = {{0}};
    for (int o = 0; o < LX_LOOP_OPERANDS; o++) {
        int order[LX_MAX_VARS], side = op_side(out, x, o);
        if (side < 0) continue;
        int n = tile_operand_order(x, out->kind == LX_NEST_CONTRACTION, &l->layouts[op_operand(op, side)],
                                   side, order);
        tile_operand_strides(order, n, x, size, stride[o]);
    }
    for (int i = 0; i < count; i++) {
        struct lx_loop *loop =
            nest_of_op_add_loop(&out->nest, lx_nest_type(out, x, vars[i]), size[vars[i]], st);
        if (!loop) return false;
        for (int o = 0; o < LX_LOOP_OPERANDS; o++) loop->stride[o] = stride[o][vars[i]];
        /* The terms of a sum have one order in both inputs, so several loops over them become one. */
        if (out->nest.count < 2) continue;
        struct lx_loop *outer = &out->nest.loop[out->nest.count - 2],
                       *inner = &out->nest.loop[out->nest.count - 1];
        if (inner->type != LX_DIM_K || !loops_fit(outer, inner)) continue;
        inner->size *= outer->size; /* no overflow: an op has less than 2^63 products */
        *outer = *inner;
        out->nest.count--;
    }
    /* Scalars: one turn. */
    return out->nest.count > 0 || nest_of_op_add_loop(&out->nest, LX_DIM_C, 1, st);
}

static const char *why_not(const struct lx_op *op, const struct op_index *x, struct lx_op_nest *out)
{
    if (op->kind->traits & LX_EXTERN) return "it runs off the device";
    if (!x->known) return "its index map is unknown";
    if (x->window_count) return "no contraction: windows of a tensor, which overlap";
    /* All arithmetic is fp32, whatever type the elements are stored in. */
    if (op->kind->traits & LX_CONTRACTS) {
        out->kind = LX_NEST_CONTRACTION;
        out->nest = (struct lx_loops){
            .first = LX_TOUCH_ZERO, .main = LX_TOUCH_GEMM, .dtype = LX_LOOP_FP32, .has_in1 = true};
        return NULL;
    }
    if (moves[op->kind->id].known) {
        out->kind = LX_NEST_MOVE;
        out->nest = (struct lx_loops){.main = moves[op->kind->id].main, .dtype = LX_LOOP_FP32};
        return NULL;
    }
    return op->kind->traits & LX_VIEW ? "no contraction: it moves a part of a tensor, with offsets"
           : op->reduces              ? "no contraction: a reduction of one tensor"
                                      : "no contraction: each element by itself";
}

enum lx_nest_kind lx_nest_kind_of(const struct lx_op *op, const struct op_index *x)
{
    struct lx_op_nest n = {0};
    return why_not(op, x, &n) ? LX_NEST_NONE : n.kind;
}

bool lx_nest_of_tile(const struct lx_layouts *l, int32_t op, const struct op_index *x, const int64_t *size,
                     struct lx_op_nest *out, lx_status *st)
{
    const struct lx_op *o = &l->graph->ops[op];
    *out = (struct lx_op_nest){0};
    out->why = why_not(o, x, out);
    if (out->why) return true;
    /* The primitive stores along m: in0 is the input that has the dimension along which the output is
     * dense. */
    int last = x->rank[x->output] - 1;
    out->swapped =
        out->kind == LX_NEST_CONTRACTION && last >= 0 && op_index_dim(x, 0, x->var[x->output][last]) < 0;
    return nest_of_op_add_loops(l, o, x, size, out, st);
}

/* Sizes of the launch's first tile; false: the op has no turns. */
static bool nest_of_op_first_tile(const struct lx_op_launch *o, const struct op_index *x, int64_t *size)
{
    struct lx_launch_piece piece;
    for (int32_t i = 0; o->launch && i < o->launch->core_count; i++) {
        int64_t core = o->launch->cores[i].core;
        if (lx_op_launch_turns(o, core) == 0 || !lx_op_launch_piece(o, x, core, 0, &piece)) continue;
        for (int v = 0; v < x->var_count; v++) size[v] = piece.to[v] - piece.from[v];
        return true;
    }
    return false;
}

bool lx_nest_of(const struct lx_plan *p, int32_t op, struct lx_op_nest *out, lx_status *st)
{
    struct op_index x;
    int64_t size[LX_MAX_VARS] = {0};
    *out = (struct lx_op_nest){0};
    if (!p->layouts) return status_set(st, LX_E_USAGE, "a bare list of buffers has no ops, so no loops");
    op_index_of(p->layouts->graph, &p->layouts->graph->ops[op], &x);
    nest_tile_index(p->nests, p->nest_count, op, &x);
    /* The plan's launch of the op, or one made here. */
    struct lx_op_launch *made = x.known && !p->launches ? lx_plan_launch(p, op, NULL, st) : NULL;
    const struct lx_op_launch *launch = p->launches ? &p->launches[op] : made;
    bool launched = !x.known || (launch && nest_of_op_first_tile(launch, &x, size));
    lx_op_launch_free(made);
    if (!launched) {
        out->why = "it is not launched";
        return true;
    }
    if (!lx_nest_of_tile(p->layouts, op, &x, size, out, st)) return false;
    for (int o = 0; o < LX_LOOP_OPERANDS && out->kind != LX_NEST_NONE; o++) {
        int side = op_side(out, &x, o);
        out->on_chip[o] = side >= 0 && lx_plan_place(p, op, side) >= 0;
    }
    return true;
}

/* Classes of variables in the order of an operand, outermost first. */
enum { OF_BOTH, SUMMED_EARLY, OF_OUTPUT, SUMMED, CLASSES };

int tile_operand_order(const struct op_index *x, bool contracts, const struct lx_layout *l, int operand,
                       int *order)
{
    int output = x->output, all[LX_MAX_VARS + LX_MAX_RANK], count = 0, n = 0;
    bool sums_inside = true;
    if (contracts && operand == 1) /* by its sticks, so that packing copies runs */
        sums_inside = l->stick_dim >= 0 && op_index_reduced(x, x->var[operand][l->stick_dim]);
    for (int d = 0; d < x->rank[output]; d++) all[count++] = x->var[output][d];
    count += op_index_sum_order(x, all + count);
    for (int class = 0; class < CLASSES; class ++)
        for (int i = 0; i < count; i++) {
            int v = all[i];
            bool both = contracts && op_index_dim(x, 0, v) >= 0 && op_index_dim(x, 1, v) >= 0;
            int own = op_index_reduced(x, v) ? (sums_inside ? SUMMED : SUMMED_EARLY)
                      : both                 ? OF_BOTH
                                             : OF_OUTPUT;
            if (op_index_dim(x, operand, v) >= 0 && (operand == output ? OF_OUTPUT : own) == class)
                order[n++] = v;
        }
    return n;
}

void tile_operand_strides(const int *order, int count, const struct op_index *x, const int64_t *size,
                          int64_t *stride)
{
    int64_t step = 1;
    for (int v = 0; v < x->var_count; v++) stride[v] = 0;
    for (int i = count - 1; i >= 0; i--) {
        stride[order[i]] = step;
        step *= size[order[i]];
    }
}
