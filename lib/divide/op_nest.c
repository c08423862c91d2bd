/* Which runs of ops form a nest, and how it tiles their tensors. */
#include "divide/op_nest.h"
#include "base/base.h"
#include "layout/op_index.h"

int64_t nest_product(const struct lx_nest *n, unsigned levels)
{
    int64_t product = 1;
    for (int l = 0; l < n->level_count; l++)
        if (levels & level_bit(l)) product *= n->tiles[l];
    return product;
}

void nest_op_tiles(const struct lx_nest *n, int32_t op, int64_t *tiles)
{
    for (int v = 0; v < LX_MAX_VARS; v++) tiles[v] = 1;
    for (int l = 0; l < n->level_count; l++) tiles[n->var[op - n->first][l]] = n->tiles[l];
}

void nest_tile_index(const struct lx_nest *nests, int32_t count, int32_t op, struct op_index *x)
{
    int32_t n = nest_of_op(nests, count, op);
    int64_t tiles[LX_MAX_VARS];
    if (n < 0) return;
    nest_op_tiles(&nests[n], op, tiles);
    for (int v = 0; v < x->var_count; v++) x->extent[v] /= tiles[v];
}

int32_t nest_of_op(const struct lx_nest *nests, int32_t count, int32_t op)
{
    int32_t i;
    BISECT(i, 0, count, nests[i].last < op); /* the first nest that ends at the op or later */
    return i < count && nests[i].first <= op ? i : -1;
}

int64_t nest_fills(const struct lx_nest *nests, int32_t count, int32_t op, int hold)
{
    int32_t n = nest_of_op(nests, count, op);
    return n < 0 ? 1 : nest_product(&nests[n], levels_to(hold));
}

int64_t nest_runs(const struct lx_nest *nests, int32_t count, int32_t op)
{
    return nest_fills(nests, count, op, LX_MAX_LEVELS);
}

char nest_letter(const struct lx_layouts *l, const struct lx_nest *n, int32_t op, int level)
{
    struct op_index x;
    op_index_of(l->graph, &l->graph->ops[op], &x);
    return x.letter[n->var[op - n->first][level]];
}

/* Records where each level tiles one operand of an op. */
static void op_nest_take_operand(const struct lx_nest *n, const struct op_index *x, int32_t op, int operand,
                                 struct nest_tensor *t)
{
    t->accessed = true;
    for (int l = 0; l < n->level_count; l++) {
        int dim = op_index_dim(x, operand, n->var[op - n->first][l]);
        t->dim[l] = (signed char)dim;
        if (dim >= 0) t->indexed |= level_bit(l);
        if (operand >= x->output && dim < 0) t->summed |= level_bit(l);
    }
    t->made |= operand >= x->output;
}

struct nest_tensor nest_tensor_of(const struct lx_layouts *l, const struct lx_nest *n, int32_t tensor)
{
    struct nest_tensor t = {.dim = {-1, -1, -1}};
    for (int32_t o = n->first; o <= n->last; o++) {
        const struct lx_op *op = &l->graph->ops[o];
        struct op_index x;
        for (int i = 0; i < op_operand_count(op); i++) {
            if (op_operand(op, i) != tensor) continue;
            op_index_of(l->graph, op, &x);
            op_nest_take_operand(n, &x, o, i, &t);
        }
    }
    return t;
}

static bool op_nest_wrong(const struct lx_layouts *l, int32_t op, lx_status *st, const char *what)
{
    const struct lx_op *o = &l->graph->ops[op];
    return status_set_at(st, LX_E_NEST, l->graph->file, o->line, 1, "op %s cannot be in this nest: %s",
                         o->name, what);
}

int64_t nest_tile_basis(const struct lx_layout *y, int dim)
{
    if (dim < 0) return 0;
    int64_t basis = y->stick_dim == dim ? y->host_shape[dim] / y->stick_elements : y->host_shape[dim];
    if (y->stick_dim == dim && y->host_shape[dim] % y->stick_elements != 0) return 1;
    for (int k = 0; k < y->rank - 1; k++) {
        if (y->host_dim[k] != dim) continue;
        basis = y->size[k] * y->step[k] == y->host_shape[dim] ? gcd_i64(basis, y->size[k]) : 1;
    }
    return basis;
}

/* Why no nest can have the op, but for other ops that write its results; NULL: one can. */
static const char *nest_never_walks(const struct lx_layouts *l, int32_t op)
{
    const struct lx_op *o = &l->graph->ops[op];
    struct op_index x;
    op_index_of(l->graph, o, &x);
    if (o->kind->traits & LX_EXTERN) return "it runs off the device";
    if (o->kind->traits & LX_ALTERS) return "it changes a tensor of which it keeps the rest";
    if (op_is_restickify(o) && x.known) return NULL;
    if (o->kind->traits & LX_OPAQUE || !x.known) return "which elements it takes from where is not known";
    /* A view without index strings may shift dimensions. */
    return o->kind->traits & LX_VIEW && !o->map ? "it is a view without an \"einsum\"" : NULL;
}

bool nest_walks_op(const struct lx_layouts *l, int32_t op)
{
    return !nest_never_walks(l, op);
}

const char *nest_never_takes(const struct lx_layouts *l, int32_t op)
{
    const struct lx_op *o = &l->graph->ops[op];
    const char *why = nest_never_walks(l, op);
    for (int i = o->input_count; !why && i < op_operand_count(o); i++) {
        int writers = l->rewritten ? l->rewritten[op_operand(o, i)] + 1 : 0;
        for (int32_t k = 0; !l->rewritten && k < l->graph->op_count; k++)
            writers += op_operand_made(&l->graph->ops[k], op_operand(o, i)) >= 0;
        if (writers > 1) why = "another op writes its output too";
    }
    return why;
}

static bool op_valid(const struct lx_layouts *l, const struct lx_nest *n, int32_t o, lx_status *st)
{
    const struct lx_op *op = &l->graph->ops[o];
    struct op_index x;
    op_index_of(l->graph, op, &x);
    const char *never = nest_never_takes(l, o);
    if (never) return op_nest_wrong(l, o, st, never);
    for (int level = 0; level < n->level_count; level++) {
        int v = n->var[o - n->first][level];
        if (v < 0 || v >= x.var_count) return op_nest_wrong(l, o, st, "it does not have the axis");
        if (!op_index_tileable(&x, v))
            return op_nest_wrong(l, o, st, "the axis is that of a window, or summed beside one");
        for (int k = 0; k < level; k++)
            if (n->var[o - n->first][k] == v) return op_nest_wrong(l, o, st, "two levels cut one variable");
        if (lx_var_nature(op, v) != LX_ITERATED)
            return op_nest_wrong(l, o, st, "it takes the axis as a whole");
        if (x.extent[v] % n->tiles[level] != 0)
            return op_nest_wrong(l, o, st, "the tiles do not divide the axis");
        for (int i = 0; i < x.operand_count; i++)
            if (nest_tile_basis(&l->layouts[op_operand(op, i)], op_index_dim(&x, i, v)) % n->tiles[level] !=
                0)
                return op_nest_wrong(l, o, st, "the tiles do not divide the whole sticks of an operand");
    }
    if (!nest_sums_op(l, n, o))
        return op_nest_wrong(l, o, st, "it sums weights that are not those of a running sum of the nest");
    return true;
}

/* Every access to a tensor in the run must be tiled alike, and an incomplete sum must not be read. */
static bool operand_valid(const struct lx_layouts *l, const struct lx_nest *n, int32_t o, int operand,
                          lx_status *st)
{
    const struct lx_op *op = &l->graph->ops[o];
    struct nest_tensor all = nest_tensor_of(l, n, op_operand(op, operand)), own = {.dim = {-1, -1, -1}};
    struct op_index x;
    op_index_of(l->graph, op, &x);
    op_nest_take_operand(n, &x, o, operand, &own);
    if (memcmp(all.dim, own.dim, sizeof own.dim) != 0 || all.indexed != own.indexed)
        return op_nest_wrong(l, o, st,
                             "it sees a tensor along another dimension than another op of the nest");
    if (operand < op->input_count && all.summed && !nest_reads_running(l, n, o, op_operand(op, operand)))
        return op_nest_wrong(l, o, st, "it reads a sum that is complete only when the nest has ended");
    return true;
}

bool nest_valid(const struct lx_layouts *l, const struct lx_nest *n, lx_status *st)
{
    bool ok = n->first >= 0 && n->first <= n->last && n->last < l->graph->op_count && n->level_count >= 1 &&
              n->level_count <= LX_MAX_LEVELS;
    for (int i = 0; ok && i < n->level_count; i++) ok = n->tiles[i] >= 2;
    if (!ok)
        return status_set(st, LX_E_NEST,
                          "a nest is a run of ops with one to three levels of at least two tiles each");
    /* A loop around one op saves traffic only if the op accesses a tensor twice; or it keeps a span small. */
    const struct lx_op *op = &l->graph->ops[n->first];
    bool worth = n->first < n->last;
    for (int i = 0; i < op_operand_count(op); i++) {
        for (int k = 0; k < i; k++) worth |= op_operand(op, k) == op_operand(op, i);
        worth |= lx_layout_bytes(&l->layouts[op_operand(op, i)]) > l->graph->device.span_bytes;
    }
    if (!worth)
        return op_nest_wrong(l, n->first, st,
                             "it is alone in it and accesses no tensor twice, so that tiles save nothing");
    for (int32_t o = n->first; ok && o <= n->last; o++) ok = op_valid(l, n, o, st);
    for (int32_t o = n->first; ok && o <= n->last; o++)
        for (int i = 0; ok && i < op_operand_count(&l->graph->ops[o]); i++)
            ok = operand_valid(l, n, o, i, st);
    return ok;
}

/* --- Running sums: followed from the sum to readers of the weights, and from a blend to its source. --- */

/* The op of the nest that writes `tensor`; -1: none. */
static int32_t maker_in(const struct lx_layouts *l, const struct lx_nest *n, int32_t tensor)
{
    for (int32_t o = n->first; o <= n->last; o++)
        if (op_operand_made(&l->graph->ops[o], tensor) >= 0) return o;
    return -1;
}

static int32_t running_sums_copied(const struct lx_layouts *l, int32_t tensor)
{
    for (int32_t o = l->graph->op_count - 1; o >= 0; o--)
        if (l->graph->ops[o].output == tensor && op_is_restickify(&l->graph->ops[o]))
            tensor = l->graph->ops[o].inputs[0];
    return tensor;
}

static unsigned running_sums_summed_by(const struct lx_layouts *l, const struct lx_nest *n, int32_t op)
{
    struct op_index x;
    unsigned levels = 0;
    op_index_of(l->graph, &l->graph->ops[op], &x);
    for (int k = 0; k < n->level_count; k++)
        if (op_index_dim(&x, x.output, n->var[op - n->first][k]) < 0) levels |= level_bit(k);
    return levels;
}

/* Stage of a tensor on the way from scores to weights. */
enum stage { DIFFERENCES, WEIGHTS };

/* Whether only the right ops read the differences or weights in `tensor`. */
static bool used_well(const struct lx_layouts *l, const struct lx_nest *n, int32_t tensor, enum stage stage,
                      unsigned levels)
{
    bool well = l->graph->tensors[tensor].role == LX_INTERMEDIATE;
    for (int32_t o = 0; well && o < l->graph->op_count; o++) {
        const struct lx_op *op = &l->graph->ops[o];
        for (int i = 0; well && i < op->input_count; i++) {
            if (op->inputs[i] != tensor) continue;
            if (n->first > o || o > n->last)
                well = false;
            else if (op_is_restickify(op))
                well = used_well(l, n, op->output, stage, levels);
            else if (stage == WEIGHTS)
                well = op->kind->id == LX_KIND_BLEND && i == 0 && running_sums_summed_by(l, n, o) == levels;
            else
                well = op->kind->id == LX_KIND_EXP && used_well(l, n, op->output, WEIGHTS, levels);
        }
    }
    return well;
}

bool nest_reads_running(const struct lx_layouts *l, const struct lx_nest *n, int32_t op, int32_t tensor)
{
    const struct lx_op *o = &l->graph->ops[op];
    int32_t maker = maker_in(l, n, tensor);
    if (maker < 0 || maker > op || l->graph->ops[maker].kind->id != LX_KIND_LOGSUMEXP) return false;
    if (o->kind->id != LX_KIND_SUB || o->input_count != 2 || o->inputs[1] != tensor) return false;
    return running_sums_copied(l, o->inputs[0]) == running_sums_copied(l, l->graph->ops[maker].inputs[0]) &&
           used_well(l, n, o->output, DIFFERENCES, running_sums_summed_by(l, n, maker));
}

/* The op of kind `kind` in the nest that makes `tensor`, possibly through copies; -1: none. */
static int32_t maker_of_kind(const struct lx_layouts *l, const struct lx_nest *n, int32_t tensor,
                             enum lx_kind_id kind)
{
    int32_t op = maker_in(l, n, running_sums_copied(l, tensor));
    return op >= 0 && l->graph->ops[op].kind->id == kind ? op : -1;
}

bool nest_sums_op(const struct lx_layouts *l, const struct lx_nest *n, int32_t op)
{
    unsigned levels = running_sums_summed_by(l, n, op);
    if (l->graph->ops[op].kind->id != LX_KIND_BLEND || !levels) return true;
    int32_t exp = maker_of_kind(l, n, l->graph->ops[op].inputs[0], LX_KIND_EXP);
    int32_t sub = exp >= 0 ? maker_of_kind(l, n, l->graph->ops[exp].inputs[0], LX_KIND_SUB) : -1;
    if (sub < 0 || l->graph->ops[sub].input_count != 2) return false;
    int32_t sum = maker_in(l, n, l->graph->ops[sub].inputs[1]);
    return sum >= 0 && running_sums_summed_by(l, n, sum) == levels &&
           nest_reads_running(l, n, sub, l->graph->ops[sub].inputs[1]);
}
