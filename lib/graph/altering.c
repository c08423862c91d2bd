/* Ops whose result is an input with some of it changed (LX_ALTERS): dynamic_insert, scatter.
 *
 * A pattern names the input that is changed; in a graph such an op has only what it puts into it as inputs,
 * and keeps the rest of its output, as an insert does. Where the result is another tensor than the input, a
 * copy comes first. */
#include "graph/builder.h"
#include "base/fail.h"

#include <stdio.h>
#include <string.h>

/* The index string without the input that is changed, which must be indexed as the result is. */
static bool without_input(const struct graph_builder *b, const struct lx_op *op, int input,
                          const char **einsum, lx_status *st)
{
    const char *from, *to, *arrow = op->einsum ? strstr(op->einsum, "->") : NULL;
    if (!arrow)
        return builder_error(b, b->here, st, LX_E_EINSUM,
                             "op %s (%s) needs an \"einsum\" that says how its operands are indexed",
                             op->name, op->kind->name);
    /* The letters of operand `operand` of an index string: [*begin, *end). */
    const char **begin = &from;
    const char **end = &to;
    const char *p = op->einsum;
    for (int i = 0; i < input; i++) {
        p += strcspn(p, ",-");
        if (*p != ',')
            return builder_error(b, b->here, st, LX_E_EINSUM,
                                 "op %s (%s) needs an \"einsum\" that says how its operands are indexed",
                                 op->name, op->kind->name);
        p++;
    }
    *begin = p;
    *end = p + strcspn(p, ",-");
    if (from > arrow)
        return builder_error(b, b->here, st, LX_E_EINSUM,
                             "op %s (%s) needs an \"einsum\" that says how its operands are indexed",
                             op->name, op->kind->name);
    if (strlen(arrow + 2) != (size_t)(to - from) || strncmp(arrow + 2, from, (size_t)(to - from)) != 0)
        return builder_error(b, b->here, st, LX_E_EINSUM,
                             "op %s: %s must index the result as the input that is changed", op->name,
                             op->einsum);
    char *copy = arena_alloc(b->memory, strlen(op->einsum) + 1);
    sprintf(copy, "%.*s%s", (int)(from - op->einsum), op->einsum, *to == ',' ? to + 1 : to);
    char *comma = strstr(copy, ",->"); /* the last input is gone */
    if (comma && *to == '-') memmove(comma, comma + 1, strlen(comma));
    *einsum = copy;
    return true;
}

bool builder_altering(struct graph_builder *b, const struct lx_op *op, lx_status *st)
{
    struct lx_op own = *op;
    int32_t inputs[LX_MAX_INPUTS];
    int changed = op->inplace >= 0 ? op->inplace : 0, n = 0;
    if (op->input_count < 2 || changed >= op->input_count)
        return builder_error(b, b->here, st, LX_E_SCHEMA,
                             "op %s: %s takes what is changed, what goes into it and where, not %d inputs",
                             op->name, op->kind->name, op->input_count);
    if (!without_input(b, op, changed, &own.einsum, st)) return false;
    if (op->inputs[changed] != op->output) {
        if (op->inplace >= 0)
            return builder_error(
                b, b->here, st, LX_E_ROLE,
                "op %s works in place of %s, but its output is %s; name one tensor for both, or "
                "leave \"inplace\" out",
                op->name, b->tensors.at[op->inputs[changed]].name, b->tensors.at[op->output].name);
        int32_t from = op->inputs[changed];
        char name[300];
        snprintf(name, sizeof name, "%.280s/whole", op->name);
        struct lx_op copy = {.name = name,
                             .kind = lx_kind_at(LX_KIND_CLONE),
                             .input_count = 1,
                             .inputs = &from,
                             .output = op->output};
        if (!builder_op(b, &copy, st)) return false;
    }
    for (int i = 0; i < op->input_count; i++)
        if (i != changed) inputs[n++] = op->inputs[i];
    own.inputs = inputs;
    own.input_count = n;
    own.inplace = changed;
    return builder_op(b, &own, st);
}
