/* From an op of a plan to a nest: see nest_of_op.h.
 *
 * A device layout stores position v of a dimension in pieces, v / step of each device dimension that belongs
 * to it. The steps of all operands that walk v are the places where it is cut into loops: between two
 * neighbouring steps every operand moves at one stride. */
#include "loops/nest_of_op.h"
#include "base/fail.h"
#include "base/checked.h"
#include "layout/op_index.h"

#include <string.h>

enum { MOST_STEPS = LX_LOOP_OPERANDS * 2 };

static const char *const kind_words[LX_NEST_KINDS] = {
    [LX_NEST_NONE] = "none", [LX_NEST_CONTRACTION] = "contraction", [LX_NEST_MOVE] = "move"};

/* Ops that move elements one by one, and have a kernel for it. */
static const struct {
    bool known;
    enum lx_touch main;
} moves[LX_KIND_COUNT] = {[LX_KIND_CLONE] = {true, LX_TOUCH_COPY},
                          [LX_KIND_RESTICKIFY] = {true, LX_TOUCH_COPY},
                          [LX_KIND_RELU] = {true, LX_TOUCH_RELU}};

static const struct {
    enum lx_dtype of;
    enum lx_loop_dtype to;
} dtypes[] = {{LX_FP16, LX_LOOP_FP16}, {LX_BF16, LX_LOOP_BF16}, {LX_FP32, LX_LOOP_FP32}};

const char *lx_nest_kind_word(enum lx_nest_kind kind)
{
    return (int)kind >= 0 && kind < LX_NEST_KINDS ? kind_words[kind] : "?";
}

/* An operand as a core sees it. */
struct box {
    int operand; /* of the op; -1: the nest has none */
    const struct lx_layout *layout;
    int64_t size[LX_MAX_DEVICE_RANK], stride[LX_MAX_DEVICE_RANK];
    bool on_chip;
};

struct lowering {
    const struct lx_plan *plan;
    const struct lx_division *division;
    struct op_index index;
    struct box box[LX_LOOP_OPERANDS];
    struct lx_op_nest *out;
};

static void describe_box(const struct lowering *w, int32_t op, int operand, struct box *b)
{
    const struct lx_layouts *l = w->plan->layouts;
    struct lx_core_view view = lx_division_view(w->plan->divisions, op, operand);
    *b = (struct box){.operand = operand,
                      .layout = &l->layouts[op_operand(&l->graph->ops[op], operand)],
                      .on_chip = lx_plan_place(w->plan, op, operand) >= 0};
    int64_t behind = 1;
    for (int i = b->layout->rank; i-- > 0;) {
        int64_t slices = b->on_chip && i < view.rank ? view.slices[i] : 1;
        b->size[i] = ceil_div_i64(b->layout->size[i], slices);
        b->stride[i] = behind;
        behind *= b->size[i]; /* a layout has less than 2^53 bytes */
    }
}

static const struct lx_split *split_of(const struct lowering *w, int var)
{
    for (int i = 0; i < w->division->split_count; i++)
        if (w->division->splits[i].letter == w->index.letter[var]) return &w->division->splits[i];
    return NULL;
}

static int64_t local_extent(const struct lowering *w, int var)
{
    const struct lx_split *v = split_of(w, var);
    return v ? min_i64(v->per_core, v->extent) : w->index.extent[var];
}

/* The dimension of a box that variable `var` walks, -1: none. */
static int walked(const struct lowering *w, const struct box *b, int var)
{
    return b->operand < 0 ? -1 : op_index_dim(&w->index, b->operand, var);
}

static bool reaches_end(const struct lowering *w, const struct box *b, int var, int64_t padded)
{
    const struct lx_split *v = split_of(w, var);
    int64_t room = 0, dim = walked(w, b, var);
    for (int i = 0; i < b->layout->rank; i++)
        if (b->layout->host_dim[i] == dim) room = max_i64(room, b->size[i] * b->layout->step[i]);
    /* Of HBM all slices are seen: the last one begins `split - 1` parts from the start. */
    if (!b->on_chip && v && v->split > 1) room -= (v->split - 1) * v->per_core;
    return room >= padded;
}

/* Elements of `b` that a move of `step` positions of `var` goes over. */
static int64_t stride_at(const struct lowering *w, const struct box *b, int var, int64_t step)
{
    int dim = walked(w, b, var), best = -1;
    if (dim < 0) return 0;
    for (int i = 0; i < b->layout->rank; i++)
        if (b->layout->host_dim[i] == dim && b->layout->step[i] <= step &&
            (best < 0 || b->layout->step[i] > b->layout->step[best]))
            best = i;
    /* A dimension of one position may have no device dimension: nobody moves along it. */
    return best < 0 ? 0 : step / b->layout->step[best] * b->stride[best];
}

/* The places where a variable is cut, from 1 up, each a multiple of the one before it; those that one core
 * does not reach are left out. False: they are no such multiples. */
static bool steps_of(const struct lowering *w, int var, int64_t *steps, int *count)
{
    int64_t extent = local_extent(w, var);
    *count = 0;
    steps[(*count)++] = 1;
    for (int o = 0; o < LX_LOOP_OPERANDS; o++) {
        const struct box *b = &w->box[o];
        int dim = walked(w, b, var);
        for (int i = 0; dim >= 0 && i < b->layout->rank; i++) {
            int64_t step = b->layout->step[i];
            if (b->layout->host_dim[i] != dim || step >= extent) continue;
            int at = *count;
            while (at > 0 && steps[at - 1] >= step) at--;
            if (at < *count && steps[at] == step) continue;
            if (*count == MOST_STEPS) return false;
            memmove(&steps[at + 1], &steps[at], (size_t)(*count - at) * sizeof *steps);
            steps[at] = step;
            ++*count;
        }
    }
    for (int i = 1; i < *count; i++)
        if (steps[i] % steps[i - 1] != 0) return false;
    return true;
}

static enum lx_loop_type type_of(const struct lowering *w, int var)
{
    if (w->box[LX_LOOP_IN1].operand < 0) return LX_DIM_C;
    if (walked(w, &w->box[LX_LOOP_OUT], var) < 0) return LX_DIM_K;
    bool in0 = walked(w, &w->box[LX_LOOP_IN0], var) >= 0, in1 = walked(w, &w->box[LX_LOOP_IN1], var) >= 0;
    return in0 && in1 ? LX_DIM_C : in0 ? LX_DIM_M : LX_DIM_N;
}

static struct lx_loop *add_loop(struct lx_loops *l, enum lx_loop_type type, int64_t size, lx_status *st)
{
    if (l->count == LX_LOOPS_MAX)
        return status_set(st, LX_E_LIMIT, "a nest of more than %d loops", LX_LOOPS_MAX), NULL;
    struct lx_loop *loop = &l->loop[l->count++];
    *loop = (struct lx_loop){.type = type, .size = size};
    return loop;
}

/* The loops of a variable by its device layouts, outermost first. `*fits` false: an operand has no room. */
static bool add_device_loops(struct lowering *w, int var, bool *fits, lx_status *st)
{
    int64_t steps[MOST_STEPS + 1], extent = local_extent(w, var);
    int count;
    if (!(*fits = steps_of(w, var, steps, &count))) return true;
    int64_t outer = ceil_div_i64(extent, steps[count - 1]), padded = outer * steps[count - 1];
    for (int o = 0; padded != extent && o < LX_LOOP_OPERANDS; o++)
        if (walked(w, &w->box[o], var) >= 0) *fits = *fits && reaches_end(w, &w->box[o], var, padded);
    w->out->padded |= padded != extent;
    for (int i = count; *fits && i-- > 0;) {
        int64_t size = i == count - 1 ? outer : steps[i + 1] / steps[i];
        struct lx_loop *loop = add_loop(&w->out->nest, type_of(w, var), size, st);
        if (!loop) return false;
        for (int o = 0; o < LX_LOOP_OPERANDS; o++) loop->stride[o] = stride_at(w, &w->box[o], var, steps[i]);
    }
    return true;
}

static int64_t host_stride(const struct lowering *w, const struct box *b, int var)
{
    int dim = walked(w, b, var);
    int64_t stride = 1;
    if (dim < 0) return 0;
    for (int d = w->index.rank[b->operand] - 1; d > dim; d--)
        stride *= local_extent(w, w->index.var[b->operand][d]);
    return stride;
}

static bool add_host_loop(struct lowering *w, int var, lx_status *st)
{
    struct lx_loop *loop = add_loop(&w->out->nest, type_of(w, var), local_extent(w, var), st);
    for (int o = 0; loop && o < LX_LOOP_OPERANDS; o++) loop->stride[o] = host_stride(w, &w->box[o], var);
    return loop != NULL;
}

/* Variables in the order of the output's dimensions, then those that are summed. */
static int ordered_vars(const struct op_index *x, int *vars)
{
    int count = 0, output = x->operand_count - 1;
    for (int d = 0; d < x->rank[output]; d++) vars[count++] = x->var[output][d];
    for (int v = 0; v < x->var_count; v++)
        if (op_index_reduced(x, v)) vars[count++] = v;
    return count;
}

static bool add_loops(struct lowering *w, lx_status *st)
{
    int vars[LX_MAX_VARS + LX_MAX_RANK], count = ordered_vars(&w->index, vars);
    bool fits = true;
    for (int i = 0; fits && i < count; i++)
        if (!add_device_loops(w, vars[i], &fits, st)) return false;
    if (!fits) {
        w->out->row_major = true;
        w->out->padded = false;
        w->out->nest.count = 0;
        for (int i = 0; i < count; i++)
            if (!add_host_loop(w, vars[i], st)) return false;
    }
    /* A scalar from scalars is one turn. */
    return w->out->nest.count > 0 || add_loop(&w->out->nest, LX_DIM_C, 1, st);
}

/* The primitive stores along m: in0 is the input that has the dimension along which the output is dense. */
static bool second_is_in0(const struct lowering *w, const struct lx_op *op)
{
    const struct lx_layout *y = &w->plan->layouts->layouts[op->output];
    int output = w->index.operand_count - 1,
        dim = y->stick_dim >= 0 ? y->stick_dim : w->index.rank[output] - 1;
    return dim >= 0 && op_index_dim(&w->index, 0, w->index.var[output][dim]) < 0;
}

static bool find_main(const struct lx_op *op, struct lx_op_nest *out)
{
    if (op->kind->traits & LX_CONTRACTS) {
        out->kind = LX_NEST_CONTRACTION;
        out->nest = (struct lx_loops){.first = LX_TOUCH_ZERO, .main = LX_TOUCH_GEMM, .has_in1 = true};
        return true;
    }
    if (!moves[op->kind->id].known) return false;
    out->kind = LX_NEST_MOVE;
    out->nest = (struct lx_loops){.main = moves[op->kind->id].main};
    return true;
}

static const char *why_not(const struct lx_plan *p, const struct lx_op *op, const struct op_index *x,
                           struct lx_op_nest *out)
{
    if (op->kind->traits & LX_EXTERN) return "it runs off the device";
    if (!x->known) return "its index map is unknown";
    if (!find_main(op, out))
        return op->kind->traits & LX_VIEW ? "no contraction: it moves a part of a tensor, with offsets"
               : op->reduces              ? "no contraction: a reduction of one tensor"
                                          : "no contraction: each element by itself";
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].of == p->layouts->graph->tensors[op->output].dtype) {
            out->nest.dtype = dtypes[i].to;
            return NULL;
        }
    return "there are no kernels for its element type";
}

bool lx_nest_of(const struct lx_plan *p, int32_t op, struct lx_op_nest *out, lx_status *st)
{
    *out = (struct lx_op_nest){0};
    if (!p->layouts) return status_set(st, LX_E_USAGE, "a bare list of buffers has no ops, so no loops");
    const struct lx_op *o = &p->layouts->graph->ops[op];
    struct lowering w = {.plan = p, .division = &p->divisions->at[op], .out = out};
    op_index_of(p->layouts->graph, o, &w.index);
    out->why = why_not(p, o, &w.index, out);
    if (out->why) {
        *out = (struct lx_op_nest){.why = out->why};
        return true;
    }
    bool contracts = out->kind == LX_NEST_CONTRACTION;
    out->swapped = contracts && second_is_in0(&w, o);
    describe_box(&w, op, out->swapped ? 1 : 0, &w.box[LX_LOOP_IN0]);
    describe_box(&w, op, o->input_count, &w.box[LX_LOOP_OUT]);
    w.box[LX_LOOP_IN1].operand = -1;
    if (contracts) describe_box(&w, op, out->swapped ? 0 : 1, &w.box[LX_LOOP_IN1]);
    for (int i = 0; i < LX_LOOP_OPERANDS; i++) out->on_chip[i] = w.box[i].on_chip;
    return add_loops(&w, st);
}
