/* Ops of patterns with several results: one op a result stands in the graph, in order, the first under the op's own name.
 * Each result has its own life; what they all read is read where it is, on chip if it stays there. */
#include "graph/builder.h"
#include "base/fail.h"

#include <stdio.h>

/* What a further result of a kind is; NULL: it has none. */
static const struct lx_kind *kind_of_result(const struct lx_op *op, int result)
{
    static const struct {
        enum lx_kind_id of, second;
        int most;
    } rows[] = {{LX_KIND_TOPK, LX_KIND_TOPK_INDEX, 2},
                {LX_KIND_SORT, LX_KIND_SORT_INDEX, 2},
                {LX_KIND_GENERIC, LX_KIND_GENERIC, LX_MAX_INPUTS}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].of == op->kind->id && result < rows[i].most) return lx_kind_at(rows[i].second);
    return NULL;
}

bool builder_results(struct graph_builder *b, const struct lx_op *op, const int32_t *outputs, int count,
                     lx_status *st)
{
    struct lx_op own = *op;
    char name[300];
    for (int r = 0; r < count; r++) {
        const struct lx_kind *kind = r == 0 ? op->kind : kind_of_result(op, r);
        if (!kind)
            return builder_error(b, b->here, st, LX_E_SCHEMA,
                                 "op %s: the kind %s has not %d results; leave some out", op->name,
                                 op->kind->name, count);
        snprintf(name, sizeof name, "%.280s/%d", op->name, r);
        own.name = r == 0 ? op->name : name;
        own.kind = kind;
        own.output = outputs[r];
        if (!builder_op(b, &own, st)) return false;
    }
    return true;
}
