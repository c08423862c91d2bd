/* Nests: can the ops of their runs be in these loops, and how do the loops cut the ops' tensors?
 *
 * A nest is a run of ops, walked once per iteration; each of its one to three levels cuts one variable of
 * every op into equal tiles. All ops cut a tensor in one way, tensors join the variables of a level, no stick
 * and no padding is cut, and no op reads an incomplete sum. Nests stand in order and share no op. */
#include "check/check.h"

static bool check_nests_refuse(const struct checker *c, int32_t op, const char *why)
{
    return status_set(c->st, LX_E_NO, "op %s cannot be in its nest: %s", c->g->ops[op].name, why);
}

static bool level_right(const struct checker *c, const struct lx_nest *n, int32_t o, const struct op_index *x,
                        int level)
{
    int v = n->var[o - n->first][level];
    if (v < 0 || v >= x->var_count)
        return check_nests_refuse(c, o, "it does not have the variable of a level");
    if (x->window_count && (op_index_slides(x, v) || op_index_reduced(x, v)))
        return check_nests_refuse(c, o, "a level cuts a window, or what is summed beside it");
    for (int k = 0; k < level; k++)
        if (n->var[o - n->first][k] == v)
            return check_nests_refuse(c, o, "two levels cut one of its variables");
    if (lx_var_nature(&c->g->ops[o], v) != LX_ITERATED)
        return check_nests_refuse(c, o, "it takes the axis as a whole");
    if (x->extent[v] % n->tiles[level] != 0)
        return check_nests_refuse(c, o, "the tiles of a level do not divide it");
    for (int i = 0; i < x->operand_count; i++) {
        const struct lx_layout *l = &c->l->layouts[op_operand(&c->g->ops[o], i)];
        int64_t tiles = n->tiles[level];
        int h = -1;
        for (int d = 0; d < x->rank[i]; d++) {
            if (x->var[i][d] != v) continue;
            if (h >= 0) return check_nests_refuse(c, o, "a level cuts an operand along two dimensions");
            h = d;
        }
        if (h < 0) continue;
        /* Equal tiles of whole sticks, without padding. */
        bool equal = l->rank > 0 && l->host_shape[h] % tiles == 0;
        for (int d = 0; equal && d < l->rank - 1; d++)
            equal = l->host_dim[d] != h ||
                    (l->size[d] * l->step[d] == l->host_shape[h] && l->size[d] % tiles == 0);
        if (!equal || (l->stick_dim == h && l->host_shape[h] / tiles % l->stick_elements != 0))
            return check_nests_refuse(c, o, "the tiles of a level do not divide the sticks of an operand");
    }
    return true;
}

static bool check_nests_op_right(const struct checker *c, const struct lx_nest *n, int32_t o)
{
    const struct lx_op *op = &c->g->ops[o];
    struct op_index x;
    op_index_of(c->g, op, &x);
    unsigned never = LX_EXTERN | LX_OPAQUE | LX_ALTERS;
    bool by_dimensions = (op->kind->traits & LX_VIEW) && !op->map;
    if (!x.known || (((op->kind->traits & never) || by_dimensions) && !op_is_restickify(op)))
        return check_nests_refuse(c, o, "it has no variables that could be cut");
    for (int i = op->input_count; i < op_operand_count(op); i++)
        if (c->writer[op_operand(op, i)] != o)
            return check_nests_refuse(c, o, "another op writes its output, too");
    for (int l = 0; l < n->level_count; l++)
        if (!level_right(c, n, o, &x, l)) return false;
    return true;
}

/* The effect of the nest on an operand, by one access. */
static struct looped check_nests_look(const struct checker *c, const struct lx_nest *n, int32_t o,
                                      int operand)
{
    struct looped t = {.dim = {-1, -1, -1}};
    struct op_index x;
    op_index_of(c->g, &c->g->ops[o], &x);
    for (int l = 0; l < n->level_count && l < LX_MAX_LEVELS; l++) {
        t.dim[l] = (signed char)op_index_dim(&x, operand, n->var[o - n->first][l]);
        if (t.dim[l] >= 0) t.indexed |= 1u << l;
    }
    return t;
}

/* Sums that are read before they are complete: labels of the tensors of a run, op by op.
 *
 * A logsumexp over levels of the nest is *running*: it covers the tiles so far. It may only be subtracted
 * from its own scores, which makes differences; of these only powers may be taken, the weights of a tile
 * among the tiles so far; of weights only blends over the same levels, which make up for later tiles; and
 * copies of all these. Differences and weights must not leave the run: they mean nothing without the loops.
 * No op of the run may read any other sum over levels. */

enum meaning { COMPLETE, PARTIAL, RUNNING, DIFFERENCE, WEIGHT };

struct label {
    enum meaning is;
    unsigned levels; /* over which it sums */
    int32_t scores;  /* the scores that it sums */
};

struct labels {
    const struct checker *c;
    const struct lx_nest *n;
    struct label *of; /* per tensor */
    int32_t *source;  /* per tensor: the tensor that it copies with other sticks, or itself */
};

/* Sets `out` to the label that an op gives its result for an incomplete input; false: it may not read
 * that. */
static bool check_running_derive(const struct labels *b, const struct lx_op *op, int operand, unsigned sums,
                                 struct label *out)
{
    const struct label *in = &b->of[op->inputs[operand]];
    bool difference = op->kind->id == LX_KIND_SUB && operand == 1 && op->input_count == 2;
    *out = *in;
    switch (in->is) {
    case RUNNING: out->is = DIFFERENCE; return difference && b->source[op->inputs[0]] == in->scores;
    case DIFFERENCE:
        out->is = op_is_restickify(op) ? DIFFERENCE : WEIGHT;
        return op_is_restickify(op) || op->kind->id == LX_KIND_EXP;
    case WEIGHT:
        if (op_is_restickify(op)) return true;
        *out = (struct label){.is = PARTIAL, .levels = sums};
        return op->kind->id == LX_KIND_BLEND && operand == 0 && sums == in->levels;
    case COMPLETE:
    case PARTIAL: break;
    }
    return false;
}

static bool check_running_take_op(const struct labels *b, int32_t o)
{
    const struct lx_op *op = &b->c->g->ops[o];
    unsigned sums = b->c->looped[b->c->p->access_at[o] + b->c->g->ops[o].input_count].summed;
    struct label made = {.is = sums ? PARTIAL : COMPLETE, .levels = sums};
    bool weighted = false;
    if (sums && op->kind->id == LX_KIND_LOGSUMEXP)
        made = (struct label){RUNNING, sums, b->source[op->inputs[0]]};
    for (int i = 0; i < op->input_count; i++) {
        if (b->of[op->inputs[i]].is == COMPLETE) continue;
        if (!check_running_derive(b, op, i, sums, &made))
            return check_nests_refuse(b->c, o,
                                      "it reads a sum that is complete only when the loops have ended");
        weighted |= b->of[op->inputs[i]].is == WEIGHT;
    }
    if (sums && op->kind->id == LX_KIND_BLEND && !weighted)
        return check_nests_refuse(b->c, o, "it blends with weights that do not run along with its sum");
    for (int i = op->input_count; i < op_operand_count(op); i++) b->of[op_operand(op, i)] = made;
    if (op_is_restickify(op)) b->source[op->output] = b->source[op->inputs[0]];
    return true;
}

static bool check_running_is_inner(const struct label *l)
{
    return l->is == DIFFERENCE || l->is == WEIGHT;
}

/* Differences and weights stay in the run. */
static bool stays_inside(const struct labels *b)
{
    const struct lx_graph *g = b->c->g;
    for (int32_t o = 0; o < g->op_count; o++) {
        bool inside = b->n->first <= o && o <= b->n->last;
        for (int i = 0; i < g->ops[o].output_count && inside; i++)
            if (check_running_is_inner(&b->of[g->ops[o].outputs[i]]) &&
                g->tensors[g->ops[o].outputs[i]].role != LX_INTERMEDIATE)
                return check_nests_refuse(
                    b->c, o, "its output is complete only when the loops have ended, and wanted as it is");
        for (int i = 0; i < g->ops[o].input_count && !inside; i++)
            if (check_running_is_inner(&b->of[g->ops[o].inputs[i]]))
                return status_set(b->c->st, LX_E_NO,
                                  "op %s reads %s, which is right in the loops of a nest only",
                                  g->ops[o].name, g->tensors[g->ops[o].inputs[i]].name);
    }
    return true;
}

static bool check_running(const struct checker *c, const struct lx_nest *n)
{
    size_t tensors = (size_t)c->g->tensor_count;
    struct labels b = {.c = c,
                       .n = n,
                       .of = arena_array(c->memory, tensors, sizeof *b.of),
                       .source = arena_array(c->memory, tensors, sizeof *b.source)};
    const struct lx_graph *g = b.c->g;
    for (int32_t t = 0; t < g->tensor_count; t++) b.source[t] = t;
    for (int32_t o = 0; o < b.n->first; o++)
        if (op_is_restickify(&g->ops[o])) b.source[g->ops[o].output] = b.source[g->ops[o].inputs[0]];
    for (int32_t o = n->first; o <= n->last; o++)
        if (!check_running_take_op(&b, o)) return false;
    return stays_inside(&b);
}

/* `first`: per tensor 1 + its first access in this nest. */
static bool check_nests_accesses_right(const struct checker *c, const struct lx_nest *n, int32_t o,
                                       int32_t *first)
{
    const struct lx_op *op = &c->g->ops[o];
    for (int i = 0; i < op_operand_count(op); i++) {
        int32_t tensor = op_operand(op, i), access = c->p->access_at[o] + i;
        struct looped *t = &c->looped[access];
        *t = check_nests_look(c, n, o, i);
        int32_t maker = c->writer[tensor];
        if (maker >= n->first && maker <= n->last)
            t->summed = all_loops(n) &
                        ~check_nests_look(c, n, maker, op_operand_made(&c->g->ops[maker], tensor)).indexed;
        if (first[tensor] <= c->p->access_at[n->first]) first[tensor] = access + 1;
        const struct looped *b = &c->looped[first[tensor] - 1];
        for (int l = 0; l < LX_MAX_LEVELS; l++)
            if (t->dim[l] != b->dim[l])
                return check_nests_refuse(
                    c, o, "it has a tensor along another dimension than another op of the run");
        /* Bytes that an operand moves on all cores in all iterations can be counted. */
        int64_t bytes = whole_bytes(c, tensor);
        if (!mul_i64(bytes, loop_count(n, all_loops(n)), &bytes) ||
            !mul_i64(bytes, 4 * c->g->device.cores, &bytes))
            return check_nests_refuse(c, o, "it would move more than can be counted");
    }
    return true;
}

/* The tensors that a level cuts join all ops of the run: proofs know no other nests, nor does the planner. */
static bool check_nests_joined(const struct checker *c, const struct lx_nest *n)
{
    int32_t ops = n->last - n->first + 1, nodes = ops + c->g->tensor_count;
    int32_t *root = arena_array(c->memory, (size_t)nodes, sizeof *root);
    for (int l = 0; l < n->level_count; l++) {
        sets_begin(root, nodes);
        for (int32_t o = 0; o < ops; o++)
            for (int i = 0; i < op_operand_count(&c->g->ops[n->first + o]); i++)
                if (c->looped[c->p->access_at[n->first + o] + i].dim[l] >= 0)
                    sets_join(root, o, ops + op_operand(&c->g->ops[n->first + o], i));
        for (int32_t o = 1; o < ops; o++)
            if (sets_root(root, o) != sets_root(root, 0))
                return check_nests_refuse(c, n->first + o, "no tensor that a level cuts joins it to the run");
    }
    return true;
}

bool check_nests(struct checker *c)
{
    size_t ops = (size_t)c->g->op_count, tensors = (size_t)c->g->tensor_count;
    int32_t *first = arena_array(c->memory, tensors, sizeof *first);
    c->nest_of = arena_array(c->memory, ops, sizeof *c->nest_of);
    c->writer = arena_array(c->memory, tensors, sizeof *c->writer);
    c->looped = arena_array(c->memory, (size_t)c->p->access_at[ops], sizeof *c->looped);
    for (size_t o = 0; o < ops; o++) c->nest_of[o] = -1;
    for (int32_t t = 0; t < c->g->tensor_count; t++) c->writer[t] = WRITTEN_NEVER;
    for (int32_t o = 0; o < c->g->op_count; o++) {
        const struct lx_op *op = &c->g->ops[o];
        for (int i = op->input_count; i < op_operand_count(op); i++) {
            int32_t *w = &c->writer[op_operand(op, i)];
            *w = *w == WRITTEN_NEVER ? o : WRITTEN_OFTEN;
        }
    }
    for (int32_t i = 0; i < c->p->nest_count; i++) {
        const struct lx_nest *n = &c->p->nests[i];
        int64_t iterations = 1;
        bool ok = n->first >= 0 && n->first <= n->last && n->last < c->g->op_count && n->level_count >= 1 &&
                  n->level_count <= LX_MAX_LEVELS && n->var && (i == 0 || n[-1].last < n->first);
        for (int l = 0; ok && l < n->level_count; l++)
            ok =
                n->tiles[l] >= 2 && mul_i64(iterations, n->tiles[l], &iterations) && iterations <= LX_INT_MAX;
        if (!ok)
            return status_set(c->st, LX_E_NO,
                              "nest %d is no run of ops behind the nest before it, with one to three levels "
                              "of at least two tiles each",
                              (int)i);
        /* A nest of one op is allowed only if two of its operands are one tensor, or one exceeds a span. */
        const struct lx_op *op = &c->g->ops[n->first];
        int twice = n->last - n->first;
        for (int k = 0; k < op_operand_count(op); k++)
            twice += lx_layout_bytes(&c->l->layouts[op_operand(op, k)]) > c->g->device.span_bytes;
        for (int k = 0; k < op->input_count; k++) {
            twice += op_operand_made(op, op->inputs[k]) >= 0;
            for (int j = k + 1; j < op->input_count; j++) twice += op->inputs[k] == op->inputs[j];
        }
        if (twice == 0)
            return check_nests_refuse(c, n->first,
                                      "it is alone there, and none of its tensors is accessed twice");
        for (int32_t o = n->first; o <= n->last; o++) {
            if (!check_nests_op_right(c, n, o)) return false;
            c->nest_of[o] = i;
        }
        for (int32_t o = n->first; o <= n->last; o++)
            if (!check_nests_accesses_right(c, n, o, first)) return false;
        if (!check_nests_joined(c, n) || !check_running(c, n)) return false;
    }
    return true;
}

const struct lx_nest *loops_of(const struct checker *c, int32_t op)
{
    return c->p->nest_count > 0 && c->nest_of[op] >= 0 ? &c->p->nests[c->nest_of[op]] : NULL;
}

struct looped looped_in(const struct checker *c, const struct lx_nest *n, int32_t tensor)
{
    for (int32_t o = n ? n->first : 0; n && o <= n->last; o++)
        for (int i = 0; i < op_operand_count(&c->g->ops[o]); i++)
            if (op_operand(&c->g->ops[o], i) == tensor) return c->looped[c->p->access_at[o] + i];
    return (struct looped){.dim = {-1, -1, -1}};
}

int64_t loop_count(const struct lx_nest *n, unsigned levels)
{
    int64_t product = 1;
    for (int l = 0; n && l < n->level_count; l++)
        if (levels & 1u << l) product *= n->tiles[l];
    return product;
}
