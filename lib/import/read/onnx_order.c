/* Nodes of ONNX may stand behind their readers: makers first, else in the order of the file. */
#include "import/read/onnx.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct sorting {
    struct onnx *o;
    onnx_nodes *nodes;
    int32_t body; /* whose nodes they are: values know by which of them they are made */
    char *state;  /* 0 not seen, 1 on the way, 2 placed */
    size_t *next; /* by node: which of its waits comes next */
    int32_t *stack, *order;
    size_t placed;
};

static bool sort_cycle(struct sorting *s, int32_t node, const char *graph)
{
    const struct onnx_node *n = &s->nodes->at[node];
    return wire_fail(&n->at, LX_E_CYCLE,
                     "graph %.80s: the node that makes %.80s (%.40s) needs its own result", graph,
                     onnx_node_name(s->o->w.m, &n->op), n->op.kind);
}

static int32_t sort_maker_of(const struct sorting *s, int32_t value)
{
    const struct model_value *v = value < 0 ? NULL : &s->o->w.m->values.at[value];
    return v && v->from == FROM_OP && v->body == s->body ? v->op : -1;
}

/* Everything that `root` waits for, then itself; without recursion. */
static bool sort_place(struct sorting *s, int32_t root, const char *graph)
{
    size_t depth = 0;
    s->stack[depth++] = root;
    s->state[root] = 1;
    while (depth > 0) {
        int32_t node = s->stack[depth - 1];
        const struct onnx_node *n = &s->nodes->at[node];
        if (s->next[node] == n->waits.count) {
            s->state[node] = 2;
            s->order[s->placed++] = node;
            depth--;
            continue;
        }
        int32_t made_by = sort_maker_of(s, n->waits.at[s->next[node]++]);
        if (made_by < 0 || s->state[made_by] == 2) continue;
        if (s->state[made_by] == 1) return sort_cycle(s, made_by, graph);
        s->state[made_by] = 1;
        s->stack[depth++] = made_by;
    }
    return true;
}

static void sort_rearrange(struct sorting *s, bool *changed)
{
    size_t count = s->nodes->count;
    struct onnx_node *sorted = mem_zeroed(count + 1, sizeof *sorted);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = s->nodes->at[s->order[i]];
        *changed |= s->order[i] != (int32_t)i;
        for (int r = 0; r < sorted[i].op.result_count; r++)
            if (sorted[i].op.results[r] >= 0) s->o->w.m->values.at[sorted[i].op.results[r]].op = (int32_t)i;
    }
    if (count) memcpy(s->nodes->at, sorted, count * sizeof *sorted);
    mem_free(sorted);
}

bool onnx_sort(struct onnx *o, onnx_nodes *nodes, int32_t body, const char *graph, bool *changed)
{
    size_t count = nodes->count;
    struct sorting s = {.o = o, .nodes = nodes, .body = body};
    s.state = mem_zeroed(count + 1, 1);
    s.next = mem_zeroed(count + 1, sizeof *s.next);
    s.stack = mem_zeroed(count + 1, sizeof *s.stack);
    s.order = mem_zeroed(count + 1, sizeof *s.order);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        if (s.state[i] == 0) ok = sort_place(&s, (int32_t)i, graph);
    if (ok) sort_rearrange(&s, changed);
    mem_free(s.state);
    mem_free(s.next);
    mem_free(s.stack);
    mem_free(s.order);
    return ok;
}
