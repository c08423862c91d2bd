/* The stick rules of each kind of op.
 *
 *   pointwise, reductions   every operand with the stick variable has its stick there, the others have none
 *   contractions            the first operand's stick runs along a summed variable; the second's and the
 *                           output's run along a variable that only the second has. Inputs may swap roles.
 *                           Where the device turns what it reads, the second's may run along the sum, too.
 *                           The rule of reductions holds instead if neither input has a variable of its own
 *                           (the product has no columns), or if only window taps are summed
 *   views                   as pointwise; an offset within a stick moves every element
 *   restickify              any two different layouts
 *   opaque                  any; the output takes the default layout
 *
 * Window variables carry no sticks: neighbouring elements are not used together.
 *
 * A variable of one element needs no stick: its operands count as having none. */
#include "layout/propagate.h"
#include "graph/choice.h"

static int stick_rules_need_of(const struct op_index *x, int operand, int v)
{
    int d = v < 0 || x->extent[v] == 1 ? -1 : op_index_dim(x, operand, v);
    return d < 0 ? STICK_NONE : d;
}

static bool stick_rules_aligned(const struct lx_graph *g, const struct lx_op *op, int64_t extent)
{
    return extent % lx_stick_elements(g->tensors[op->output].dtype, g->device.stick_bytes) == 0;
}

/* Writes variables of the output from its last dimension to its first, then reduced ones from last to first.
 * Skips windows. */
static int preference(const struct op_index *x, int *order)
{
    int n = 0, out = x->output;
    for (int d = x->rank[out] - 1; d >= 0; d--)
        if (!op_index_slides(x, x->var[out][d])) order[n++] = x->var[out][d];
    for (int v = x->var_count - 1; v >= 0; v--)
        if (op_index_reduced(x, v) && !op_index_slides(x, v)) order[n++] = v;
    return n;
}

static bool unaligned_view(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x, int v)
{
    for (int i = 0; v >= 0 && i < x->operand_count; i++) {
        int d = op_index_shifted(x, i) ? op_index_dim(x, i, v) : -1;
        int64_t e = lx_stick_elements(g->tensors[op_operand(op, i)].dtype, g->device.stick_bytes);
        if (d >= 0 && op_index_leaves_sticks(x, i, d, e)) return true;
    }
    return false;
}

static struct stick_way shared_way(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                                   int v)
{
    struct stick_way w = {
        .stick_var = v >= 0 && x->extent[v] > 1 ? v : STICK_NONE, .kernel_row = -1, .kernel = -1};
    w.realigns = unaligned_view(g, op, x, v);
    for (int i = 0; i < x->operand_count; i++) w.need[i] = (signed char)stick_rules_need_of(x, i, v);
    return w;
}

static int shared_ways(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                       struct stick_way *out)
{
    int order[LX_MAX_VARS], count = preference(x, order), n = 0;
    for (int want_aligned = 1; want_aligned >= 0; want_aligned--)
        for (int i = 0; i < count; i++)
            if (x->extent[order[i]] > 1 &&
                stick_rules_aligned(g, op, x->extent[order[i]]) == (want_aligned == 1))
                out[n++] = shared_way(g, op, x, order[i]);
    out[n++] = shared_way(g, op, x, -1);
    /* If the inserted part has one element along d, the whole tensor may have its stick along d. */
    const struct lx_tensor *whole = &g->tensors[op->output];
    for (int d = whole->rank - 1; op_is_insert(op) && d >= 0; d--) {
        if (x->extent[x->var[1][d]] > 1 || whole->shape[d] == 1) continue;
        out[n] = shared_way(g, op, x, -1);
        out[n].need[1] = (signed char)d;
        out[n++].realigns = unaligned_view(g, op, x, x->var[1][d]);
    }
    return n;
}

/* Contractions: `kernel` is the input whose own variable carries the output's stick; its own stick runs along
 * that variable, or if it is `turned` along the sum. */
static int contraction_ways(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                            int kernel, bool turned, struct stick_way *out)
{
    int order[LX_MAX_VARS], count = preference(x, order), n = 0;
    for (int i = 0; i < count; i++) {
        int k = order[i];
        if (!op_index_reduced(x, k)) continue;
        int before = n;
        for (int j = 0; j <= count; j++) {
            int own = j < count ? order[j] : -1;
            bool fits = own >= 0 ? !op_index_reduced(x, own) && op_index_dim(x, kernel, own) >= 0 &&
                                       op_index_dim(x, 1 - kernel, own) < 0
                                 : n == before; /* a kernel of one column */
            if (!fits || (turned && (own < 0 || !stick_rules_aligned(g, op, x->extent[own])))) continue;
            struct stick_way w = {.stick_var = own >= 0 && x->extent[own] > 1 ? own : STICK_NONE,
                                  .kernel_row = k,
                                  .kernel = kernel};
            w.need[kernel] = (signed char)stick_rules_need_of(x, kernel, turned ? k : own);
            w.need[1 - kernel] = (signed char)stick_rules_need_of(x, 1 - kernel, k);
            w.need[2] = (signed char)stick_rules_need_of(x, 2, own);
            out[n++] = w;
        }
    }
    return n;
}

/* Ops that choose (gather, scatter): rows run along a variable of both sides, indices are read one by one.
 * If there is no such variable, or the result's sticks lie elsewhere, elements are read one by one, too. */
static int choice_ways(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                       const struct lx_choice *c, struct stick_way *out)
{
    int order[LX_MAX_VARS], count = preference(x, order), n = 0;
    for (int want_aligned = 1; want_aligned >= 0; want_aligned--)
        for (int i = 0; i < count; i++) {
            int v = order[i];
            if (x->extent[v] == 1 || op_index_dim(x, c->operand, v) < 0 || op_index_dim(x, c->other, v) < 0 ||
                stick_rules_aligned(g, op, x->extent[v]) != (want_aligned == 1))
                continue;
            out[n] = shared_way(g, op, x, v);
            for (int k = 0; k < c->index_count; k++) out[n].need[c->index + k] = STICK_ANY;
            n++;
        }
    if (n > 0 && !(op->kind->traits & LX_ALTERS)) return n;
    out[n] = shared_way(g, op, x, -1);
    for (int k = 0; k < x->operand_count; k++) out[n].need[k] = STICK_ANY;
    return n + 1;
}

/* Whether input `input` has a variable of several elements that the other input lacks. */
static bool stick_rules_has_own(const struct op_index *x, int input)
{
    for (int v = 0; v < x->var_count; v++)
        if (x->extent[v] > 1 && op_index_dim(x, input, v) >= 0 && op_index_dim(x, 1 - input, v) < 0 &&
            !op_index_slides(x, v))
            return true;
    return false;
}

static int any_way(const struct lx_op *op, struct stick_way *out)
{
    out[0] = (struct stick_way){.stick_var = STICK_NONE, .kernel_row = -1, .kernel = -1};
    for (int i = 0; i < op_operand_count(op); i++) out[0].need[i] = STICK_ANY;
    return 1;
}

int stick_ways(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
               struct stick_way *out)
{
    if (!x->known) return any_way(op, out);
    if (op_is_restickify(op)) {
        int n = 0;
        for (int v = x->var_count - 1; v >= -1; v--) {
            if (v >= 0 && x->extent[v] == 1) continue;
            struct stick_way w = {.stick_var = v, .kernel_row = -1, .kernel = -1, .turns = true};
            w.need[0] = STICK_ANY;
            w.need[1] = (signed char)v; /* dimension v is variable v; -1 is STICK_NONE */
            out[n++] = w;
        }
        return n;
    }
    /* Depthwise and one-channel convolutions sum only window taps. */
    bool only_taps = x->window_count > 0;
    for (int v = 0; v < x->var_count; v++)
        only_taps = only_taps && (!op_index_reduced(x, v) || op_index_slides(x, v));
    if ((op->kind->traits & LX_CONTRACTS) && op->reduces && !only_taps &&
        (stick_rules_has_own(x, 0) || stick_rules_has_own(x, 1))) {
        int n = 0;
        bool turns = g->device.turns && lx_dtype_bits(g->tensors[op->inputs[0]].dtype) == 16;
        for (int turned = 0; turned <= turns; turned++)
            for (int kernel = 1; kernel >= 0; kernel--)
                n += contraction_ways(g, op, x, kernel, turned, out + n);
        return n;
    }
    if (op->kind->traits & LX_RANKS) return any_way(op, out);
    struct lx_choice c;
    return lx_choice_of(op, &c) ? choice_ways(g, op, x, &c, out) : shared_ways(g, op, x, out);
}

/* Costs of a tensor's layouts: padded sizes, and moves between them. */

int64_t add_saturated(int64_t a, int64_t b)
{
    int64_t sum;
    return add_i64(a, b, &sum) ? sum : INT64_MAX;
}

void stick_costs_make(const struct lx_graph *g, struct arena *memory, struct stick_costs *out)
{
    out->at = arena_array(memory, (size_t)g->tensor_count, sizeof *out->at);
    for (int32_t t = 0; t < g->tensor_count; t++)
        for (int stick = -1; stick < g->tensors[t].rank; stick++) {
            const struct lx_tensor *tensor = &g->tensors[t];
            int64_t e = lx_stick_elements(tensor->dtype, g->device.stick_bytes), n = e;
            for (int d = 0; d < tensor->rank; d++)
                if (!mul_i64(n, d == stick ? ceil_div_i64(tensor->shape[d], e) : tensor->shape[d], &n)) {
                    n = INT64_MAX;
                    break;
                }
            out->at[t][stick + 1] = n;
        }
}

int stick_source(const struct stick_costs *c, int32_t tensor, unsigned have, int primary)
{
    int best = primary;
    for (int stick = -1; stick < LX_MAX_RANK; stick++)
        if ((have >> (stick + 1) & 1) && c->at[tensor][stick + 1] < c->at[tensor][best + 1]) best = stick;
    return best;
}

int64_t stick_move_cost(const struct stick_costs *c, int32_t tensor, unsigned have, int wanted)
{
    int64_t least = INT64_MAX;
    for (int stick = -1; stick < LX_MAX_RANK; stick++)
        if (have >> (stick + 1) & 1) least = min_i64(least, c->at[tensor][stick + 1]);
    return max_i64(least, c->at[tensor][wanted + 1]);
}

int stick_default(const struct lx_tensor *t)
{
    return t->rank > 0 ? t->rank - 1 : -1;
}

int stick_first(const struct lx_tensor *t, int need)
{
    return need < 0 ? stick_default(t) : need;
}

int stick_for_need(int need)
{
    return need == STICK_NONE ? -1 : need;
}

bool stick_satisfies(const struct lx_tensor *t, int stick, int need)
{
    if (need == STICK_ANY) return true;
    bool none = stick < 0 || t->shape[stick] == 1;
    return need == STICK_NONE ? none : stick == need;
}
