/* Index maps: checks an op's einsum string, or a view, against the shapes of its operands.
 *
 * "bhmd,bhnd->bhmn" has one letter per dimension; a letter has the same extent everywhere. The kind's traits
 * decide legality: a pointwise op keeps every index of its inputs, a reduction drops some, a
 * contraction has two inputs and drops only indices of both. */
#include "graph/op_walks.h"

bool op_error(const struct op_check *c, enum lx_code code, const char *format, ...)
{
    char text[768];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return builder_error(c->b, c->at, c->st, code, "op %s%s", c->op->name, text);
}

/* Reads the letters of one operand up to a comma, the arrow or the end. */
static bool map_operand(struct op_check *c, int i, const char **at)
{
    const struct lx_tensor *t = check_operand(c, i);
    struct lx_einsum *m = c->map;
    int d = 0;
    for (; lx_is_letter(**at); (*at)++, d++) {
        if (d >= t->rank) break;
        int v = 0;
        while (v < m->var_count && m->letter[v] != **at) v++;
        if (v == m->var_count) m->letter[m->var_count++] = **at;
        for (int e = 0; e < d; e++)
            if (c->index[i][e] == v)
                return op_error(c, LX_E_EINSUM,
                                ": %s indexes %s twice with '%c'; diagonals are not supported", c->op->einsum,
                                t->name, **at);
        bool plain = !op_walks(c->op, i);
        if (plain && m->extent[v] == 0) m->extent[v] = t->shape[d];
        if (plain && m->extent[v] != t->shape[d])
            return op_error(c, LX_E_SHAPE,
                            ": '%c' is %lld long in %s but %lld elsewhere in %s; make the shapes agree", **at,
                            (long long)t->shape[d], t->name, (long long)m->extent[v], c->op->einsum);
        c->index[i][d] = (signed char)v;
    }
    int letters = d;
    for (const char *p = *at; lx_is_letter(*p); p++) letters++;
    if (letters != t->rank)
        return op_error(c, LX_E_EINSUM,
                        ": %s has %d letter%s for %s, which has %d dimensions; give one letter per dimension",
                        c->op->einsum, letters, letters == 1 ? "" : "s", t->name, t->rank);
    return true;
}

static bool einsum_parse(struct op_check *c)
{
    const char *at = c->op->einsum;
    int inputs = c->op->input_count;
    for (const char *p = at; *p; p++) {
        if (lx_is_letter(*p) || *p == ',' || (*p == '-' && p[1] == '>') ||
            (*p == '>' && p > at && p[-1] == '-'))
            continue;
        return op_error(
            c, LX_E_EINSUM,
            ": '%c' in the index string; it has letters, commas and one ->, such as \"mk,kn->mn\"",
            isprint((unsigned char)*p) ? *p : '?');
    }
    const char *result = NULL;
    for (int i = 0; i <= inputs; i++) {
        if (i == inputs) result = at;
        if (!map_operand(c, i, &at)) return false;
        const char *want = i == inputs ? "" : i == inputs - 1 ? "->" : ",";
        size_t n = strlen(want);
        if (n ? strncmp(at, want, n) != 0 : *at != 0)
            return op_error(c, LX_E_EINSUM,
                            ": %s does not have one operand for each of its %d input%s and its output",
                            c->op->einsum, inputs, inputs == 1 ? "" : "s");
        at += n;
    }
    /* Further results are indexed like the first. */
    for (int i = inputs + 1; i < op_operand_count(c->op); i++)
        if (at = result, !map_operand(c, i, &at)) return false;
    return true;
}

/* Checks the letters against the op's kind. */
static bool check_kind(struct op_check *c, struct lx_op *op)
{
    unsigned traits = op->kind->traits;
    int out = op->input_count;
    char added = 0; /* a letter that is only in the output */
    for (int v = 0; v < c->map->var_count; v++) {
        bool in_output = (lx_einsum_dim(c->map, out, v) >= 0);
        int holders = 0;
        for (int i = 0; i < out; i++) holders += (lx_einsum_dim(c->map, i, v) >= 0);
        /* A view may take one element of a dimension; that is not a reduction. */
        if (c->map->walks && c->map->extent[v] == 1 && holders == 1 && !in_output) continue;
        if (!in_output) op->reduces = true;
        /* Window variables: `in` and `tap` need not be in the other input; `out` comes from both. */
        if (lx_window_of(op, v) != NULL) continue;
        if (holders == 0) added = c->map->letter[v];
        if ((traits & LX_CONTRACTS) && !in_output && holders == 1)
            return op_error(c, LX_E_EINSUM,
                            ": '%c' is summed but only one input of %s has it; sum that input first",
                            c->map->letter[v], op->einsum);
    }
    /* Only a pointwise op may broadcast, and only if it does not reduce. */
    if (added && (op->reduces || !(traits & (LX_POINTWISE | LX_PLACES))))
        return op_error(c, LX_E_EINSUM, ": '%c' stands only in the output of %s", added, op->einsum);
    if (op->reduces && !(traits & (LX_REDUCES | LX_CONTRACTS)))
        return op_error(c, LX_E_EINSUM, ": %s drops an index, but %s is pointwise; use sum, max, mean or min",
                        op->einsum, op->kind->name);
    if (op->reduces && (traits & LX_REDUCES) && (op->input_count != 1 || op->has_value))
        return op_error(c, LX_E_EINSUM, ": a reduction takes one input");
    if (!op->reduces && (traits & LX_REDUCES) && op->output_count > 1)
        return op_error(c, LX_E_EINSUM, ": %s drops no index, so that %s has one result; leave the other out",
                        op->einsum, op->kind->name);
    bool picks = op->kind->id == LX_KIND_ARGMAX || op->kind->id == LX_KIND_ARGMIN || op->output_count > 1;
    for (int v = 0; picks && v < c->map->var_count; v++)
        if (lx_einsum_dim(c->map, out, v) < 0) c->map->nature[v] = LX_JOINED;
    if (!op->reduces && (traits & LX_REDUCES) &&
        (!(traits & LX_POINTWISE) || (op->input_count == 1 && !op->has_value)))
        return op_error(c, LX_E_EINSUM, ": %s drops no index, so %s has nothing to reduce", op->einsum,
                        op->kind->name);
    return true;
}

/* Without an index string, operands of equal shape get one letter per dimension. */
static bool imply_einsum(struct op_check *c, struct lx_op *op)
{
    const struct lx_tensor *out = check_operand(c, op->input_count);
    bool same = (op->kind->traits & (LX_POINTWISE | LX_PLACES)) != 0, sized = !op_walks(op, 0);
    for (int i = 0; i < op->input_count && same; i++) {
        const struct lx_tensor *t = check_operand(c, i);
        same = t->rank == out->rank &&
               (!sized || memcmp(t->shape, out->shape, (size_t)t->rank * sizeof *t->shape) == 0);
    }
    if (!same)
        return op_error(
            c, LX_E_EINSUM,
            " (%s) needs an \"einsum\" that says how its operands are indexed, such as \"mn,n->mn\"",
            op->kind->name);
    char letters[LX_MAX_RANK + 1] = {0}, string[(LX_MAX_RANK + 2) * (LX_MAX_INPUTS + 1)] = "";
    for (int d = 0; d < out->rank; d++) letters[d] = (char)('a' + d);
    for (int i = 0; i <= op->input_count; i++) {
        if (i > 0) strcat(string, i == op->input_count ? "->" : ",");
        strcat(string, letters);
    }
    op->einsum = arena_string(c->b->memory, string);
    return true;
}

/* A view reads or writes the part of the larger operand that starts at `offset`, with step `stride`. */
static bool check_view(struct op_check *c, const struct lx_op *op)
{
    const struct lx_tensor *in = check_operand(c, 0), *out = check_operand(c, 1);
    bool insert = op->kind->id == LX_KIND_INSERT, shift = op->kind->id == LX_KIND_SHIFT;
    const struct lx_tensor *whole = insert ? out : in, *part = insert ? in : out;
    if (op->einsum) return op_error(c, LX_E_EINSUM, ": a %s has an offset, not an einsum", op->kind->name);
    if (!op->offset || in->rank != out->rank)
        return op_error(c, LX_E_SHAPE,
                        ": a %s needs an \"offset\" with one entry per dimension, and operands of equal rank",
                        op->kind->name);
    for (int d = 0; d < whole->rank; d++) {
        int64_t stride = op->stride ? op->stride[d] : 1;
        if (shift ? whole->shape[d] != part->shape[d] || stride != 1
                  : op->offset[d] < 0 || stride < 1 || op->offset[d] >= whole->shape[d] ||
                        (part->shape[d] - 1) > (whole->shape[d] - 1 - op->offset[d]) / stride)
            return op_error(
                c, LX_E_SHAPE,
                ": in dimension %d, %lld elements from offset %lld by %lld do not lie within %s (%lld)", d,
                (long long)part->shape[d], (long long)op->offset[d], (long long)stride, whole->name,
                (long long)whole->shape[d]);
    }
    return true;
}

enum lx_nature lx_var_nature(const struct lx_op *op, int v)
{
    return op->map ? (enum lx_nature)op->map->nature[v] : LX_ITERATED;
}

static bool check_arity(struct op_check *c, const struct lx_op *op)
{
    const struct lx_kind *k = op->kind;
    int given = op->input_count + op->has_value;
    if (op->has_value && !k->takes_value)
        return op_error(c, LX_E_SCHEMA, ": %s takes no constant \"value\"", k->name);
    /* `least_inputs` of an op with a constant counts tensors only; with the constant there are
     * `most_inputs`. */
    int least = k->takes_value && !(k->traits & LX_REDUCES) ? k->most_inputs : k->least_inputs;
    if (given < least || given > k->most_inputs || op->input_count < k->least_inputs) {
        char range[32];
        if (least == k->most_inputs)
            snprintf(range, sizeof range, "%d", least);
        else
            snprintf(range, sizeof range, "%d to %d", least, k->most_inputs);
        return op_error(c, LX_E_SCHEMA, ": %s takes %s input%s%s, not %d", k->name, range,
                        k->most_inputs == 1 ? "" : "s",
                        k->takes_value ? " (a constant \"value\" counts as one)" : "", given);
    }
    if ((op->offset || op->stride) && !(k->traits & LX_VIEW))
        return op_error(c, LX_E_SCHEMA, ": only slice, shift and insert have \"offset\" and \"stride\"");
    return true;
}

bool builder_map_op(struct graph_builder *b, size_t number, lx_status *st)
{
    struct lx_op *op = &b->ops.at[number];
    const struct op_places *places = &b->op_places.at[number];
    struct op_check c = {.b = b, .op = op, .at = places->op, .st = st};
    unsigned traits = op->kind->traits;
    int operands = op_operand_count(op);
    if (!check_arity(&c, op) || !op_check_types(&c)) return false;
    bool shaped = true;
    for (int i = 0; i < operands; i++) shaped = shaped && check_operand(&c, i)->rank >= 0;
    c.at = places->einsum;
    if (!shaped || (traits & LX_OPAQUE)) {
        if (op->einsum)
            return op_error(&c, LX_E_EINSUM, " has an einsum, but %s; remove it%s",
                            shaped ? "its kind has no index map" : "an operand is known by its bytes only",
                            shaped ? "" : " or give shapes");
        if (op->window_count)
            return op_error(&c, LX_E_SCHEMA, " has windows, but no index map; remove them or give shapes");
        if (op->offset || op->stride)
            return op_error(
                &c, LX_E_SHAPE,
                " has an offset or stride, but an operand is known by its bytes only; give shapes");
        op->reduces = (traits & LX_REDUCES) && !(traits & LX_POINTWISE);
        if (op->kind->id != LX_KIND_RESHAPE) return true;
        const struct lx_tensor *in = check_operand(&c, 0), *out = check_operand(&c, 1);
        if (in->bytes == out->bytes && (in->rank < 0 || out->rank < 0 || in->dtype == out->dtype))
            return true;
        return op_error(&c, LX_E_SHAPE, ": %s and %s do not have the same number of elements of one type",
                        in->name, out->name);
    }
    if (op->window_count && op->views)
        return op_error(&c, LX_E_EINSUM, " has windows and views; slice what the windows go over first");
    if (op->window_count && (!op->einsum || (traits & LX_VIEW)))
        return op_error(&c, LX_E_EINSUM, " has windows, which name letters of an \"einsum\"; give it one");
    if ((traits & LX_VIEW) && (op->kind->id != LX_KIND_SLICE || !op->einsum || !op->offset))
        return check_view(&c, op);
    if (!op->einsum && !imply_einsum(&c, op)) return false;

    int *rank = arena_array(b->memory, (size_t)operands, sizeof *rank);
    c.map = arena_alloc(b->memory, sizeof *c.map);
    c.index = arena_array(b->memory, (size_t)operands, sizeof *c.index);
    for (int i = 0; i < operands; i++) {
        rank[i] = check_operand(&c, i)->rank;
        c.index[i] = arena_array(b->memory, (size_t)rank[i], sizeof **c.index);
    }
    c.map->operand_count = operands;
    c.map->rank = rank;
    c.map->index = (const signed char *const *)c.index;
    if (!einsum_parse(&c) || !op_map_windows(&c) || !op_map_walks(&c)) return false;
    if (!(traits & LX_CHOOSES ? op_check_choice(&c)
          : traits & LX_RANKS ? op_check_ranking(&c)
                              : check_kind(&c, op)))
        return false;
    op->map = c.map;
    return true;
}
