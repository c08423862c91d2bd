/* Roles and order: every tensor is written before it is read, and used as its role allows.
 *
 * Ops run in file order, because a tensor may be written more than once. If a tensor is read too early,
 * either another order would do or the graph is cyclic; the two get different errors, so that the author
 * knows the remedy. No recursion: a graph may be a chain of half a million ops. */
#include "graph/builder.h"

struct usage {
    int32_t first_writer; /* op, or -1 */
    bool read;
};

/* Depth-first search from `start` along "needs the first writer of an input" for a cycle. `state`: 0 new, 1
 * on the path, 2 done. A cycle is left in path[*from .. *length). */
static bool find_cycle(const struct graph_builder *b, const struct usage *use, int32_t start,
                       unsigned char *state, int32_t *path, int *next_input, size_t *from, size_t *length)
{
    size_t n = 0;
    path[n] = start;
    next_input[n++] = 0;
    state[start] = 1;
    while (n > 0) {
        const struct lx_op *op = &b->ops.at[path[n - 1]];
        int i = next_input[n - 1]++;
        if (i >= op->input_count) {
            state[path[--n]] = 2;
            continue;
        }
        int32_t needs = use[op->inputs[i]].first_writer;
        if (needs < 0 || state[needs] == 2) continue;
        if (state[needs] == 1) {
            size_t k = n;
            while (path[k - 1] != needs) k--;
            *from = k - 1;
            *length = n;
            return true;
        }
        state[needs] = 1;
        path[n] = needs;
        next_input[n++] = 0;
    }
    return false;
}

static bool report_early_read(const struct graph_builder *b, const struct usage *use, int32_t reader,
                              int32_t tensor, lx_status *st)
{
    size_t ops = b->ops.count, from = 0, length = 0;
    const char *name = b->tensors.at[tensor].name;
    int32_t writer = use[tensor].first_writer;
    struct place at = b->op_places.at[reader].op;
    OWNED unsigned char *state = mem_zeroed(ops, 1);
    OWNED int32_t *path = mem_alloc(ops * sizeof *path);
    OWNED int *next_input = mem_alloc(ops * sizeof *next_input);
    if (find_cycle(b, use, reader, state, path, next_input, &from, &length)) {
        char text[400] = "";
        size_t n = 0;
        for (size_t i = length; i-- > from && n < sizeof text - 1;) {
            int wrote = snprintf(text + n, sizeof text - n, "%s -> ", b->ops.at[path[i]].name);
            n += wrote > 0 ? (size_t)wrote : 0;
        }
        builder_error(b, at, st, LX_E_CYCLE,
                      "the graph is cyclic: %.380s%s%s; no order of its ops exists, break the circle", text,
                      n > 380 ? "... -> " : "", b->ops.at[path[length - 1]].name);
    } else
        builder_error(b, at, st, LX_E_ORDER, "op %s reads %s before op %s (line %d) writes it; move %s up",
                      b->ops.at[reader].name, name, b->ops.at[writer].name, b->op_places.at[writer].op.line,
                      b->ops.at[writer].name);
    return false;
}

bool builder_check_written(struct graph_builder *b, lx_status *st)
{
    for (size_t o = 0; o < b->ops.count; o++) {
        const struct lx_op *op = &b->ops.at[o];
        struct place at = b->op_places.at[o].op;
        if (!lx_result_kind(op->kind, op->output_count - 1))
            return builder_error(b, at, st, LX_E_SCHEMA,
                                 "op %s: the kind %s has not %d results; leave some out", op->name,
                                 op->kind->name, op->output_count);
        for (int i = op->input_count + 1; i < op_operand_count(op); i++)
            if (op_operand_made(op, op_operand(op, i)) < i)
                return builder_error(b, at, st, LX_E_SCHEMA,
                                     "op %s writes %s twice; give each of its results a tensor of its own",
                                     op->name, b->tensors.at[op_operand(op, i)].name);
        for (int i = op->input_count; i < op_operand_count(op); i++) {
            const struct lx_tensor *t = &b->tensors.at[op_operand(op, i)];
            if (t->role == LX_INPUT || t->role == LX_WEIGHT)
                return builder_error(b, b->tensor_places.at[op_operand(op, i)], st, LX_E_ROLE,
                                     "tensor %s is %s but op %s writes it; make it a state or an "
                                     "intermediate, or write another",
                                     t->name, t->role == LX_INPUT ? "an input" : "a weight", op->name);
        }
    }
    return true;
}

bool builder_check_order(struct graph_builder *b, lx_status *st)
{
    size_t tensors = b->tensors.count;
    OWNED struct usage *use = mem_zeroed(tensors + 1, sizeof *use);
    for (size_t i = 0; i < tensors; i++) use[i].first_writer = -1;
    for (size_t o = b->ops.count; o-- > 0;)
        for (int i = 0; i < b->ops.at[o].output_count; i++)
            use[b->ops.at[o].outputs[i]].first_writer = (int32_t)o;
    bool ok = true;
    for (size_t o = 0; o < b->ops.count && ok; o++) {
        const struct lx_op *op = &b->ops.at[o];
        for (int i = 0; i < op->input_count && ok; i++) {
            struct usage *u = &use[op->inputs[i]];
            u->read = true;
            if (u->first_writer >= (int32_t)o && b->tensors.at[op->inputs[i]].role != LX_STATE)
                ok = report_early_read(b, use, (int32_t)o, op->inputs[i], st);
        }
    }
    /* Inferred roles: without a writer an input, without a reader an output, altered by its first writer a
     * state. */
    for (size_t i = 0; i < tensors && ok; i++) {
        struct lx_tensor *t = &b->tensors.at[i];
        bool written = use[i].first_writer >= 0;
        bool altered = written && (b->ops.at[use[i].first_writer].kind->traits & LX_ALTERS);
        if (t->role == LX_ROLE_COUNT)
            t->role = altered ? LX_STATE : !written ? LX_INPUT : use[i].read ? LX_INTERMEDIATE : LX_OUTPUT;
        if (!written && (t->role == LX_INTERMEDIATE || t->role == LX_OUTPUT))
            ok = builder_error(b, b->tensor_places.at[i], st, LX_E_ROLE,
                               "tensor %s is an %s but no op writes it; make it an input or remove it",
                               t->name, lx_role_word(t->role));
    }
    return ok;
}
