/* The order that data asks for: an op stays behind the writer of what it reads, a writer behind the readers of the old
 * value, and nothing passes an extern op. */
#include "search/reorder.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static int by_before(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    return (x->after > y->after) - (x->after < y->after);
}

void op_order_make(struct op_order *s, const struct lx_graph *g)
{
    *s = (struct op_order){.g = g};
    size_t tensors = (size_t)g->tensor_count + 1, ops = (size_t)g->op_count;
    int32_t *writer = mem_alloc(tensors * sizeof *writer), barrier = -1;
    VEC(int32_t) *readers = mem_zeroed(tensors, sizeof *readers);
    memset(writer, 0xff, tensors * sizeof *writer);
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        if (barrier >= 0) VEC_PUSH(&s->edges, (struct edge){barrier, o});
        if (op->kind->traits & LX_EXTERN) {
            for (int32_t b = barrier + 1; b < o; b++) VEC_PUSH(&s->edges, (struct edge){b, o});
            barrier = o;
        }
        for (int i = 0; i < op->input_count; i++) {
            if (writer[op->inputs[i]] >= 0) VEC_PUSH(&s->edges, (struct edge){writer[op->inputs[i]], o});
            VEC_PUSH(&readers[op->inputs[i]], o);
        }
        for (int i = op->input_count; i < op_operand_count(op); i++) {
            int32_t t = op_operand(op, i);
            if (writer[t] >= 0) VEC_PUSH(&s->edges, (struct edge){writer[t], o});
            for (size_t k = 0; k < readers[t].count; k++)
                if (readers[t].at[k] != o) VEC_PUSH(&s->edges, (struct edge){readers[t].at[k], o});
            readers[t].count = 0;
            writer[t] = o;
        }
    }
    for (size_t t = 0; t < tensors; t++) VEC_FREE(&readers[t]);
    mem_free(readers);
    mem_free(writer);
    s->first_edge = mem_zeroed(ops + 2, sizeof *s->first_edge);
    s->waits = mem_zeroed(ops + 1, sizeof *s->waits);
    if (s->edges.count) qsort(s->edges.at, s->edges.count, sizeof *s->edges.at, by_before);
    for (size_t e = 0; e < s->edges.count; e++) s->first_edge[s->edges.at[e].before + 1]++;
    for (size_t o = 0; o < ops; o++) s->first_edge[o + 1] += s->first_edge[o];
}

void op_order_free(struct op_order *s)
{
    VEC_FREE(&s->edges);
    mem_free(s->first_edge);
    mem_free(s->waits);
}

bool reorder_legal(const struct lx_graph *g, const int32_t *order)
{
    struct op_order s;
    int32_t *place = mem_zeroed((size_t)g->op_count + 1, sizeof *place);
    bool legal = true;
    op_order_make(&s, g);
    for (int32_t t = 0; t < g->op_count; t++) place[order[t]] = t;
    for (size_t e = 0; legal && e < s.edges.count; e++)
        legal = place[s.edges.at[e].before] < place[s.edges.at[e].after];
    op_order_free(&s);
    mem_free(place);
    return legal;
}
