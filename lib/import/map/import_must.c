/* What a file's own arguments and results must cross: each once, dense, whatever the import made of it. Of a
 * table only the rows that are read count, of a tensor that is changed in place only what changes. */
#include "import/map/import.h"

/* Bytes of one argument: the most that an op reads, what slices without common elements read, the most that
 * an op changes. */
struct crossing {
    int64_t read, sliced, changed;
};

/* Whether two slices of a tensor have no element in common, since they step past each other. */
static bool must_be_apart(const struct lx_graph *g, const struct lx_op *a, const struct lx_op *b)
{
    bool apart = false;
    for (int d = 0; d < g->tensors[a->inputs[0]].rank; d++)
        apart |= a->stride[d] == b->stride[d] && (a->offset[d] - b->offset[d]) % a->stride[d] != 0;
    return apart;
}

static void must_add_slice(const struct lx_graph *g, const struct lx_op *op, struct crossing *c)
{
    bool apart = true;
    for (const struct lx_op *b = g->ops; b < op && apart; b++)
        apart = b->kind->id != LX_KIND_SLICE || b->inputs[0] != op->inputs[0] || must_be_apart(g, b, op);
    if (apart) c->sliced += g->tensors[op->output].bytes;
    c->read = max_i64(c->read, min_i64(g->tensors[op->inputs[0]].bytes, c->sliced));
}

static void must_add_use(const struct lx_graph *g, const struct lx_op *op, int place, struct crossing *c)
{
    int64_t whole = g->tensors[op->inputs[place]].bytes;
    bool picks = op->kind->id == LX_KIND_GATHER || op->kind->id == LX_KIND_DYNAMIC_SLICE ||
                 op->kind->id == LX_KIND_SLICE;
    if (place == 0 && op->inplace == 0 && op->input_count > 1)
        c->changed = max_i64(c->changed, min_i64(whole, g->tensors[op->inputs[1]].bytes));
    else if (place == 0 && picks)
        c->read = max_i64(c->read, min_i64(whole, g->tensors[op->output].bytes));
    else
        c->read = max_i64(c->read, whole);
}

void import_must(const struct lx_graph *g, struct lx_imported *out)
{
    OWNED struct crossing *of = mem_zeroed((size_t)g->tensor_count + 1, sizeof *of);
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        for (int i = 0; i < op->input_count; i++) must_add_use(g, op, i, &of[op->inputs[i]]);
        if (op->kind->id == LX_KIND_SLICE) must_add_slice(g, op, &of[op->inputs[0]]);
        if (op->kind->id != LX_KIND_RESHAPE && op->kind->id != LX_KIND_CLONE) continue;
        out->copies++;
        out->copied_bytes += g->tensors[op->inputs[0]].bytes + g->tensors[op->output].bytes;
    }
    for (int32_t t = 0; t < g->tensor_count; t++) {
        if (lx_role_arrives(g->tensors[t].role)) out->must_bytes += of[t].read + of[t].changed;
        if (g->tensors[t].role == LX_OUTPUT) out->must_bytes += g->tensors[t].bytes;
    }
}
