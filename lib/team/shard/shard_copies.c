/* Some ops cannot make their result in the shards stated by the pattern: a sort needs complete rows, a
 * concat is not sharded along its axis, results of one op have equal partitions. Such an op writes a new
 * tensor with free shards, and a copy has the stated shards. A tensor with several writers stays
 * unchanged. */
#include "graph/builder.h"
#include "team/shard/shard_search.h"

struct copies {
    const struct lx_graph *g;
    const struct lx_team_grid *grid;
    bool *partial;    /* see shard_find_partial */
    bool *copied;     /* per tensor */
    int32_t *writers; /* per tensor: number of writers */
    shard_ways ways;
    struct graph_builder b;
    lx_status *st;
};

/* Whether some way gives all results their stated shards, directly or after a join. */
static bool shard_copies_can_make(const struct copies *c, const struct lx_op *op)
{
    for (size_t w = 0; w < c->ways.count; w++) {
        bool all = true;
        for (int i = op->input_count; all && i < op_operand_count(op); i++) {
            const struct lx_tensor *t = &c->g->tensors[op_operand(op, i)];
            struct shard_state joined[SHARD_JOINS] = {c->ways.at[w].out}, stated = shard_replicated;
            int count = op->output_count > 1 ? 1 : shard_joins_of(t, c->grid, c->ways.at[w].out, joined);
            bool found = !t->cut_stated;
            for (int a = 0; a < c->grid->axes; a++) stated.at[a] = t->cut[a];
            for (int n = 0; n < count; n++) found |= shard_same(joined[n], stated);
            all = found;
        }
        if (all) return true;
    }
    return false;
}

/* Whether the tensor has stated shards and a single writer. */
static bool shard_copies_is_stated(const struct copies *c, int32_t t)
{
    return c->g->tensors[t].cut_stated && c->writers[t] == 1;
}

static bool shard_copies_find(struct copies *c)
{
    const struct lx_graph *g = c->g;
    bool any = false;
    /* A tensor with stated shards, or an output, is joined by its op: no op reads its partial sums. `copied`
     * is used as scratch here. */
    for (int32_t t = 0; t < g->tensor_count; t++)
        c->copied[t] = g->tensors[t].cut_stated || lx_role_leaves(g->tensors[t].role);
    shard_find_partial(g, c->copied, c->partial);
    memset(c->copied, 0, (size_t)g->tensor_count * sizeof *c->copied);
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = g->ops[o].input_count; i < op_operand_count(&g->ops[o]); i++)
            c->writers[op_operand(&g->ops[o], i)]++;
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        bool stated = false;
        for (int i = op->input_count; i < op_operand_count(op); i++)
            stated |= shard_copies_is_stated(c, op_operand(op, i));
        if (!stated) continue;
        shard_ways_of(g, c->grid, o, c->partial, &c->ways);
        if (shard_copies_can_make(c, op)) continue;
        for (int i = op->input_count; i < op_operand_count(op); i++)
            any |= c->copied[op_operand(op, i)] = shard_copies_is_stated(c, op_operand(op, i));
    }
    return any;
}

static int32_t shard_copies_add_tensor(struct copies *c, int32_t t, const char *name, enum lx_role role)
{
    const struct lx_tensor *x = &c->g->tensors[t];
    c->b.here = (struct place){x->line, x->column};
    return builder_tensor(&c->b, name, role, x->dtype, x->rank, x->shape, x->bytes, c->st);
}

/* Adds the op, with new result tensors where copies have the stated shards. */
static bool shard_copies_add_op(struct copies *c, const struct lx_op *op)
{
    int32_t made[LX_MAX_OPERANDS];
    struct lx_op to = *op;
    bool ok = true;
    char name[300];
    int results = op_operand_count(op) - op->input_count;
    for (int i = 0; ok && i < results; i++) {
        int32_t t = op_operand(op, op->input_count + i);
        made[i] = t;
        snprintf(name, sizeof name, "%.280s~made", c->g->tensors[t].name);
        if (c->copied[t]) ok = (made[i] = shard_copies_add_tensor(c, t, name, LX_INTERMEDIATE)) >= 0;
    }
    to.output = made[0];
    to.outputs = made;
    c->b.here = (struct place){op->line, 0};
    ok = ok && builder_op(&c->b, &to, c->st);
    for (int i = 0; ok && i < results; i++) {
        int32_t t = op_operand(op, op->input_count + i);
        snprintf(name, sizeof name, "%.280s~cut", c->g->tensors[t].name);
        struct lx_op copy = builder_plain(name, LX_KIND_CLONE, 1, &made[i], t);
        if (c->copied[t]) ok = builder_op(&c->b, &copy, c->st);
    }
    return ok;
}

static const struct lx_graph *shard_copies_build(struct copies *c)
{
    const struct lx_graph *g = c->g;
    bool ok = true;
    team_begin_copy(&c->b, g);
    for (int32_t t = 0; ok && t < g->tensor_count; t++) {
        ok = shard_copies_add_tensor(c, t, g->tensors[t].name, g->tensors[t].role) == t;
        if (!ok) break;
        c->b.tensors.at[t].cut_stated = g->tensors[t].cut_stated;
        memcpy(c->b.tensors.at[t].cut, g->tensors[t].cut, sizeof g->tensors[t].cut);
    }
    for (int32_t o = 0; ok && o < g->op_count; o++) ok = shard_copies_add_op(c, &g->ops[o]);
    if (ok) return builder_finish(&c->b, c->st);
    builder_abandon(&c->b);
    return NULL;
}

const struct lx_graph *team_with_copies(const struct lx_graph *g, const struct lx_team_grid *grid,
                                        lx_status *st)
{
    size_t tensors = (size_t)g->tensor_count + 1;
    struct copies c = {.g = g,
                       .grid = grid,
                       .st = st,
                       .partial = mem_zeroed(tensors, sizeof *c.partial),
                       .copied = mem_zeroed(tensors, sizeof *c.copied),
                       .writers = mem_zeroed(tensors, sizeof *c.writers)};
    const struct lx_graph *with = shard_copies_find(&c) ? shard_copies_build(&c) : lx_graph_ref(g);
    VEC_FREE(&c.ways);
    mem_free(c.partial);
    mem_free(c.copied);
    mem_free(c.writers);
    return with;
}
