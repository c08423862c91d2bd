/* Literals of HLO: numbers in nested braces, comments between them, or left out. */
#include "import/read/hlo.h"

#include <string.h>

struct numbers {
    VEC(int64_t) ints;
    VEC(double) reals;
    int64_t count;
};

static bool literal_add_number(struct source *s, enum model_element e, struct numbers *n)
{
    int64_t whole;
    double real;
    bool is_whole;
    if (model_element_row(e)->number == MODEL_COMPLEX) {
        double part[2];
        if (!source_complex(s, e, part)) return false;
        if (++n->count > MODEL_MAX_KNOWN) return true;
        VEC_PUSH(&n->reals, part[0]);
        VEC_PUSH(&n->reals, part[1]);
        return true;
    }
    if (!source_number(s, e, &whole, &real, &is_whole)) return false;
    if (++n->count > MODEL_MAX_KNOWN) return true;
    VEC_PUSH(&n->ints, whole);
    VEC_PUSH(&n->reals, real);
    return true;
}

/* Braces only group; *elided: "..." instead of numbers. */
static bool literal_numbers(struct source *s, enum model_element e, struct numbers *n, bool *elided)
{
    int depth = 0;
    do {
        if (source_take(s, ",")) continue;
        if (source_take(s, "...")) {
            *elided = true;
        } else if (source_take(s, "{")) {
            if (++depth > MODEL_MAX_DEPTH) return source_fail(s, LX_E_LIMIT, "braces nest too deep");
        } else if (source_take(s, "}")) {
            depth--;
        } else if (!literal_add_number(s, e, n)) {
            return false;
        }
    } while (depth > 0 && !source_ended(s));
    return depth == 0 ? true : source_fail(s, LX_E_SYNTAX, "a literal that does not end");
}

static bool literal_keep(struct source *s, struct model_data *d, const struct numbers *n)
{
    enum model_number form = model_element_row(d->type->element)->number;
    if (n->count > MODEL_MAX_KNOWN) return true;
    if (form == MODEL_FLOAT || form == MODEL_COMPLEX)
        d->reals = arena_copy_array(&s->m->memory, n->reals.at, n->reals.count, sizeof *n->reals.at);
    else
        d->ints = arena_copy_array(&s->m->memory, n->ints.at, n->ints.count, sizeof *n->ints.at);
    return true;
}

static bool array_literal(struct source *s, struct model_data *d)
{
    struct numbers n = {0};
    bool elided = false;
    bool ok = literal_numbers(s, d->type->element, &n, &elided);
    d->form = elided ? DATA_ELIDED : d->type->count == 0 ? DATA_SPLAT : DATA_LIST;
    if (ok && !elided && n.count != d->type->elements)
        ok = source_fail(s, LX_E_SHAPE, "%lld numbers for a constant of %lld", (long long)n.count,
                         (long long)d->type->elements);
    ok = ok && (elided || literal_keep(s, d, &n));
    VEC_FREE(&n.ints);
    VEC_FREE(&n.reals);
    return ok;
}

bool hlo_literal(struct source *s, const struct model_type *type, const struct model_data **data)
{
    struct model_data *d = arena_alloc(&s->m->memory, sizeof *d);
    const char *from;
    size_t length;
    *data = d;
    d->type = type;
    if (type->element != MODEL_TUPLE && model_element_row(type->element)->bits > 0)
        return array_literal(s, d);
    d->form = DATA_ELIDED;
    while (source_balanced(s, true, &from, &length) && source_take(s, ",")) continue;
    return !s->failed;
}
