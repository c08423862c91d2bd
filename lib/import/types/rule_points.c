/* Rules of result types: element by element, and what all rules use. */
#include "import/types/rulings.h"

#include <string.h>

void rule_want(struct ruling *r, int64_t extent)
{
    if (r->rank < RULE_RANK) r->want[r->rank++] = extent;
}

void rule_like(struct ruling *r, const struct model_type *t)
{
    r->rank = t->count;
    for (int d = 0; d < t->count; d++) r->want[d] = t->extent[d];
}

bool rule_as_wanted(struct ruling *r)
{
    bool same = r->rank == r->y->count;
    r->told = true;
    for (int d = 0; same && d < r->rank; d++) same = r->want[d] == r->y->extent[d];
    return same;
}

bool rule_schema(struct ruling *r, const char *words)
{
    r->schema = words;
    return false;
}

bool rule_wrong(struct ruling *r, const char *words)
{
    r->why = words;
    return false;
}

const int64_t *rule_ints(const struct ruling *r, const char *key, int *count)
{
    return model_attr_ints(&r->op->attrs, key, count);
}

int rule_dim(int64_t dim, int rank)
{
    if (dim < -rank || dim >= rank) return -1;
    return (int)(dim < 0 ? dim + rank : dim);
}

bool rule_same_shape(struct ruling *r)
{
    rule_like(r, r->in[0]);
    return rule_as_wanted(r);
}

/* Right-aligned, extents of 1 repeated. */
bool rule_broadcasts(struct ruling *r)
{
    for (int i = 0; i < r->op->operand_count && i < RULE_OPERANDS; i++)
        if (r->in[i]->count > r->rank) r->rank = r->in[i]->count;
    for (int d = 0; d < r->rank; d++) r->want[d] = 1;
    for (int i = 0; i < r->op->operand_count && i < RULE_OPERANDS; i++)
        for (int d = 0; d < r->in[i]->count; d++) {
            int64_t *e = &r->want[r->rank - r->in[i]->count + d], n = r->in[i]->extent[d];
            if (*e != n && *e != 1 && n != 1) return false;
            if (*e == 1) *e = n;
        }
    return rule_as_wanted(r);
}

/* Equal shapes; a number may stand for a tensor in select and clamp. */
bool rule_equal_shapes(struct ruling *r)
{
    bool scalars = strcmp(r->op->kind, "select") == 0 || strcmp(r->op->kind, "clamp") == 0, same = true;
    rule_like(r, r->y);
    for (int i = 0; i < r->op->operand_count && i < RULE_OPERANDS; i++)
        same = same && (model_same_shape(r->in[i], r->y) || (scalars && r->in[i]->count == 0));
    return same;
}

bool rule_same_elements(struct ruling *r)
{
    rule_like(r, r->in[0]);
    return r->in[0]->elements == r->y->elements;
}

/* Each part as the operand of its place. */
bool rule_tuple(struct ruling *r)
{
    bool same = r->y->element == MODEL_TUPLE && r->y->count == r->op->operand_count;
    for (int i = 0; same && i < r->y->count; i++) {
        const struct model_type *a = r->y->parts[i], *b = model_type_of(r->m, r->op->operands[i]);
        same = a->leaves == b->leaves && (a->element == MODEL_TUPLE) == (b->element == MODEL_TUPLE) &&
               (a->element == MODEL_TUPLE || model_same_shape(a, b));
    }
    return same;
}

bool rule_part(struct ruling *r)
{
    int64_t index = model_attr_int(&r->op->attrs, "index", -1);
    const struct model_type *t = r->in[0];
    if (t->element != MODEL_TUPLE || index < 0 || index >= t->count)
        return rule_schema(r, "it needs a tuple and an index=N within it");
    const struct model_type *part = t->parts[index];
    if (part->element == MODEL_TUPLE || r->y->element == MODEL_TUPLE)
        return part->element == r->y->element && part->leaves == r->y->leaves;
    rule_like(r, part);
    return rule_as_wanted(r);
}

/* A body takes what it is given and gives what is said; a loop gives to itself. */
bool rule_called(struct ruling *r)
{
    const struct model_op *op = r->op;
    bool loops = strcmp(op->kind, "while") == 0, fits = true;
    for (int i = 0; fits && i < op->body_count; i++) {
        const struct model_body *b = &r->m->bodies.at[op->bodies[i]];
        fits = b->argument_count == op->operand_count;
        for (int k = 0; fits && k < b->argument_count; k++)
            fits =
                model_same_types(model_type_of(r->m, b->arguments[k]), model_type_of(r->m, op->operands[k]));
        const struct model_type *gives = b->result_count > 0 ? model_type_of(r->m, b->results[0]) : NULL;
        bool decides = loops && gives && gives->element == MODEL_BOOL && gives->count == 0;
        for (int k = 0; fits && !decides && k < b->result_count && k < op->result_count; k++)
            fits = model_same_types(model_type_of(r->m, b->results[k]), model_type_of(r->m, op->results[k]));
    }
    return fits && (!loops || model_same_types(r->in[0], r->y));
}
