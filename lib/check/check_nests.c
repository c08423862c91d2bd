/* Nests: are they loops that the ops of their runs can be in, and what do they do to the tensors of these?
 *
 * A nest is a run of ops, walked once per iteration; each of its one to three levels cuts one variable of
 * every op into equal tiles. Every op finds each tensor cut in one way, no stick and no padding is cut, and
 * nobody reads what is still being summed. Nests stand in order and share no op. */
#include "check/check.h"
#include "base/checked.h"
#include "base/fail.h"

static bool check_nests_refuse(const struct checker *c, int32_t op, const char *why)
{
    return status_set(c->st, LX_E_NO, "op %s cannot be in its nest: %s", c->g->ops[op].name, why);
}

static bool shape_right(const struct checker *c, int32_t i)
{
    const struct lx_nest *n = &c->p->nests[i], *before = i > 0 ? n - 1 : NULL;
    int64_t iterations = 1;
    bool ok = n->first >= 0 && n->first <= n->last && n->last < c->g->op_count && n->level_count >= 1 &&
              n->level_count <= LX_MAX_LEVELS && n->var && (!before || before->last < n->first);
    for (int l = 0; ok && l < n->level_count; l++)
        ok = n->tiles[l] >= 2 && mul_i64(iterations, n->tiles[l], &iterations) && iterations <= LX_INT_MAX;
    return ok ? true
              : status_set(c->st, LX_E_NO,
                           "nest %d is no run of ops behind the nest before it, with one to three levels of "
                           "at least two tiles each",
                           (int)i);
}

/* Equal tiles of whole sticks, without padding. */
static bool dim_cut(const struct lx_layout *l, int h, int64_t tiles)
{
    if (l->rank == 0 || l->host_shape[h] % tiles != 0) return false;
    for (int d = 0; d < l->rank - 1; d++)
        if (l->host_dim[d] == h && (l->size[d] * l->step[d] != l->host_shape[h] || l->size[d] % tiles != 0))
            return false;
    return l->stick_dim != h || l->host_shape[h] / tiles % l->stick_elements == 0;
}

/* The dimension of an operand that a variable walks, or -1; false: there are several. */
static bool only_dim(const struct op_index *x, int operand, int v, int *dim)
{
    *dim = -1;
    for (int d = 0; d < x->rank[operand]; d++) {
        if (x->var[operand][d] != v) continue;
        if (*dim >= 0) return false;
        *dim = d;
    }
    return true;
}

static bool level_right(const struct checker *c, const struct lx_nest *n, int32_t o, const struct op_index *x,
                        int level)
{
    int v = n->var[o - n->first][level], dim;
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
        if (!only_dim(x, i, v, &dim))
            return check_nests_refuse(c, o, "a level cuts an operand along two dimensions");
        if (dim >= 0 && !dim_cut(l, dim, n->tiles[level]))
            return check_nests_refuse(c, o, "the tiles of a level do not divide the sticks of an operand");
    }
    return true;
}

/* One op alone is walked in tiles only if two of its operands are one tensor. */
static bool alone_right(const struct checker *c, const struct lx_nest *n)
{
    const struct lx_op *op = &c->g->ops[n->first];
    int twice = 0;
    if (n->first < n->last) return true;
    for (int i = 0; i < op->input_count; i++) {
        twice += op_operand_made(op, op->inputs[i]) >= 0;
        for (int k = i + 1; k < op->input_count; k++) twice += op->inputs[i] == op->inputs[k];
    }
    return twice ? true
                 : check_nests_refuse(c, n->first,
                                      "it is alone there, and none of its tensors is accessed twice");
}

static bool check_nests_op_right(const struct checker *c, const struct lx_nest *n, int32_t o)
{
    const struct lx_op *op = &c->g->ops[o];
    struct op_index x;
    op_index_of(c->g, op, &x);
    unsigned never = LX_EXTERN | LX_OPAQUE | LX_CHOOSES;
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

/* What one access says of its tensor. */
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

/* The levels that the op which makes the tensor in the run sums over. */
static unsigned summed_levels(const struct checker *c, const struct lx_nest *n, int32_t tensor)
{
    int32_t maker = c->writer[tensor];
    if (maker < n->first || maker > n->last) return 0;
    struct looped t = check_nests_look(c, n, maker, op_operand_made(&c->g->ops[maker], tensor));
    return ((1u << n->level_count) - 1) & ~t.indexed;
}

/* `first`: per tensor one more than the access that this nest has seen first. */
static bool check_nests_accesses_right(const struct checker *c, const struct lx_nest *n, int32_t o,
                                       int32_t *first)
{
    const struct lx_op *op = &c->g->ops[o];
    for (int i = 0; i < op_operand_count(op); i++) {
        int32_t tensor = op_operand(op, i), access = c->p->access_at[o] + i;
        struct looped *t = &c->looped[access];
        *t = check_nests_look(c, n, o, i);
        t->summed = summed_levels(c, n, tensor);
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
        if (!shape_right(c, i) || !alone_right(c, n)) return false;
        for (int32_t o = n->first; o <= n->last; o++) {
            if (!check_nests_op_right(c, n, o)) return false;
            c->nest_of[o] = i;
        }
        for (int32_t o = n->first; o <= n->last; o++)
            if (!check_nests_accesses_right(c, n, o, first)) return false;
        if (!check_running(c, n)) return false;
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
