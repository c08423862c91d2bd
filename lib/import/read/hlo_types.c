/* Types of HLO: arrays with layouts, tuples of them. */
#include "import/read/hlo.h"

#include <stdio.h>
#include <string.h>

/* "[2,<=8,?]". */
static bool hlo_type_extents(struct source *s, int64_t *extent, int *rank)
{
    *rank = 0;
    if (!source_want(s, "[")) return false;
    if (source_take(s, "]")) return true;
    do {
        if (*rank == MODEL_MAX_RANK) return source_fail(s, LX_E_LIMIT, "more than %d dimensions", *rank);
        source_take(s, "<=");
        source_skip(s, true);
        extent[*rank] = -1;
        if (source_peek(s) == '?')
            s->at++;
        else if (!source_int(s, &extent[*rank]))
            return false;
        if (extent[*rank] < -1) return source_fail(s, LX_E_RANGE, "an extent below 0");
        (*rank)++;
    } while (source_take(s, ","));
    return source_want(s, "]");
}

/* "{1,0:T(8,128)}", right behind the type; *plain: it is row-major. Tiling and memory space are passed
 * over. */
static bool hlo_type_layout(struct source *s, int rank, int32_t *order, bool *plain)
{
    int n = 0;
    const char *from;
    size_t length;
    *plain = true;
    if (source_peek(s) != '{') return true;
    s->at++;
    while (source_is_digit(source_peek(s))) {
        int64_t dim;
        if (!source_int(s, &dim)) return false;
        if (n == rank || dim >= rank)
            return source_fail(s, LX_E_SHAPE, "a layout of other dimensions than the shape");
        *plain &= dim == rank - 1 - n;
        order[n++] = (int32_t)dim;
        source_take(s, ",");
        source_skip(s, false);
    }
    while (!source_ended(s) && *s->at != '}') {
        if (!source_balanced(s, true, &from, &length)) return false;
        if (source_peek(s) == ',')
            s->at++;
        else if (source_peek(s) != '}')
            return source_fail(s, LX_E_SYNTAX, "a layout that does not end");
    }
    if (n != 0 && n != rank) return source_fail(s, LX_E_SHAPE, "a layout of other dimensions than the shape");
    return source_want(s, "}");
}

const struct model_type *hlo_type_behind(struct source *s, const char *word)
{
    int64_t extent[MODEL_MAX_RANK];
    int32_t order[MODEL_MAX_RANK] = {0};
    int rank;
    bool plain;
    enum model_element e = model_element_find(MODEL_HLO, word);
    if (e == MODEL_ELEMENT_COUNT)
        return source_fail(s, LX_E_UNKNOWN_KIND, "an element type that has no size: \"%.40s\"", word), NULL;
    if (!hlo_type_extents(s, extent, &rank) || !hlo_type_layout(s, rank, order, &plain)) return NULL;
    const struct model_type *type = model_type_make(s->m, e, rank, extent, s->st);
    if (!type) return source_fail(s, s->st->code, "%s", s->st->text), NULL;
    if (plain) return type;
    struct model_type *turned = arena_copy_array(&s->m->memory, type, 1, sizeof *type);
    if (turned) turned->order = arena_copy_array(&s->m->memory, order, (size_t)rank, sizeof *order);
    return turned;
}

static bool hlo_type_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || source_is_digit(c);
}

static const struct model_type *hlo_type_type_at(struct source *s, int depth);

/* What stands behind the opening bracket. */
static const struct model_type *hlo_type_tuple(struct source *s, int depth)
{
    VEC(const struct model_type *) parts = {0};
    const struct model_type *made = NULL;
    bool ok = source_is(s, ")");
    if (!ok) do {
            const struct model_type *part = hlo_type_type_at(s, depth + 1);
            ok = part != NULL;
            if (ok) VEC_PUSH(&parts, part);
        } while (ok && source_take(s, ","));
    if (ok && source_want(s, ")")) made = model_tuple_make(s->m, parts.at, (int)parts.count, s->st);
    if (ok && !made) source_fail(s, s->st->code, "%s", s->st->text);
    VEC_FREE(&parts);
    return made;
}

static const struct model_type *hlo_type_type_at(struct source *s, int depth)
{
    if (depth > MODEL_MAX_DEPTH)
        return source_fail(s, LX_E_LIMIT, "tuples nest more than %d deep", depth), NULL;
    if (source_take(s, "(")) return hlo_type_tuple(s, depth);
    source_skip(s, true);
    const char *word = source_name(s, hlo_type_is_word, "a type");
    return word ? hlo_type_behind(s, word) : NULL;
}

const struct model_type *hlo_type(struct source *s)
{
    return hlo_type_type_at(s, 0);
}

static void hlo_type_words_of(const struct model_type *t, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "%s[", model_element_word(MODEL_HLO, t->element));
    for (int d = 0; t->element != MODEL_TUPLE && d < t->count && n + 24 < size; d++)
        n += (size_t)snprintf(out + n, size - n, "%s%lld", d ? "," : "", (long long)t->extent[d]);
    snprintf(out + n, size - n, "]");
}

/* Of tuples the number of tensors, or the first one that differs. */
static bool hlo_type_tuples_differ(struct source *s, const struct model_type *a, const struct model_type *b,
                                   const char *name)
{
    char one[160], other[160];
    int i = 0;
    if (a->leaves != b->leaves)
        return source_fail(s, LX_E_SHAPE, "%.60s has %d tensors, but %d stand here", name, a->leaves,
                           b->leaves);
    while (i + 1 < a->leaves && model_same_types(model_leaf_type(a, i), model_leaf_type(b, i))) i++;
    hlo_type_words_of(model_leaf_type(a, i), one, sizeof one);
    hlo_type_words_of(model_leaf_type(b, i), other, sizeof other);
    return source_fail(s, LX_E_SHAPE, "tensor %d of %.60s is %s, but %s stands here", i, name, one, other);
}

bool hlo_same_types(struct source *s, const struct model_type *a, const struct model_type *b,
                    const char *name)
{
    char one[160], other[160];
    if (model_same_types(a, b)) return true;
    if (a->element == MODEL_TUPLE && b->element == MODEL_TUPLE) return hlo_type_tuples_differ(s, a, b, name);
    hlo_type_words_of(a, one, sizeof one);
    hlo_type_words_of(b, other, sizeof other);
    return source_fail(s, LX_E_SHAPE, "%.60s is %s, but %s stands here", name, one, other);
}
