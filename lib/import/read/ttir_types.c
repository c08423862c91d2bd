/* Types of MLIR: ranked tensors. */
#include "import/read/ttir.h"

#include <stdio.h>
#include <string.h>

static bool ttir_type_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || source_is_digit(c);
}

/* bf16, si32, complex<f32>. Signless and signed are one. */
static enum model_element ttir_type_element(struct source *s)
{
    char word[40];
    size_t n = 0;
    const char *from = s->at;
    while (n + 1 < sizeof word && ttir_type_is_word(source_peek(s))) word[n++] = *s->at++;
    if (n == 7 && memcmp(word, "complex", 7) == 0 && source_peek(s) == '<') {
        while (n + 2 < sizeof word && source_peek(s) && word[n - 1] != '>') word[n++] = *s->at++;
    }
    word[n] = 0;
    if (strcmp(word, "index") == 0) return MODEL_I64;
    if (strcmp(word, "tf32") == 0) return MODEL_F32; /* as which it is stored */
    enum model_element e = model_element_find(MODEL_TTIR, word[0] == 's' && word[1] == 'i' ? word + 1 : word);
    if (e < MODEL_TUPLE && model_element_row(e)->bits > 0) return e;
    struct source rest = *s;
    source_skip(&rest, true);
    if (source_ended(&rest)) {
        source_fail(s, LX_E_SYNTAX, "the file ends within a type");
        return MODEL_ELEMENT_COUNT;
    }
    s->at = from;
    for (n = 0; n + 1 < sizeof word && s->at + n < s->end && !strchr(">, \n", from[n]); n++)
        word[n] = from[n];
    word[n] = 0;
    source_fail(s, LX_E_UNKNOWN_KIND,
                "an element type that has no size: \"%s\"; numbers such as f32, bf16, i32, i1 are known",
                word);
    return MODEL_ELEMENT_COUNT;
}

const struct model_type *ttir_type(struct source *s)
{
    int64_t extent[MODEL_MAX_RANK];
    int rank = 0;
    const char *rest;
    size_t length;
    if (!source_want(s, "tensor") || !source_want(s, "<")) return NULL;
    for (source_skip(s, true); source_is_digit(source_peek(s)) || source_peek(s) == '?'; rank++) {
        if (rank == MODEL_MAX_RANK) return source_fail(s, LX_E_LIMIT, "more than %d dimensions", rank), NULL;
        extent[rank] = -1;
        if (*s->at == '?')
            s->at++;
        else if (!source_int(s, &extent[rank]))
            return NULL;
        if (source_peek(s) != 'x') return source_fail(s, LX_E_SYNTAX, "expected \"x\" after an extent"), NULL;
        s->at++;
    }
    enum model_element e = ttir_type_element(s);
    while (!s->failed && source_take(s, ","))
        if (!source_balanced(s, true, &rest, &length)) return NULL;
    if (s->failed || !source_want(s, ">")) return NULL;
    const struct model_type *type = model_type_make(s->m, e, rank, extent, s->st);
    if (!type) source_fail(s, s->st->code, "%s", s->st->text);
    return type;
}

static void ttir_type_words_of(const struct model_type *t, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "tensor<");
    for (int d = 0; d < t->count && n + 40 < size; d++)
        n += t->extent[d] < 0 ? (size_t)snprintf(out + n, size - n, "?x")
                              : (size_t)snprintf(out + n, size - n, "%lldx", (long long)t->extent[d]);
    snprintf(out + n, size - n, "%s>", model_element_word(MODEL_TTIR, t->element));
}

bool ttir_same_types(struct source *s, const struct model_type *a, const struct model_type *b,
                     const char *what, int number)
{
    char one[160], other[160];
    if (a->element == b->element && model_same_shape(a, b)) return true;
    ttir_type_words_of(a, one, sizeof one);
    ttir_type_words_of(b, other, sizeof other);
    return source_fail(s, LX_E_SHAPE, "%s %d is %s, but %s stands here", what, number, one, other);
}

bool ttir_type_list(struct source *s, ttir_types *types)
{
    const struct model_type *type;
    bool list = source_take(s, "(");
    if (list && source_take(s, ")")) return true;
    do {
        type = ttir_type(s);
        if (!type) return false;
        VEC_PUSH(types, type);
    } while (list && source_take(s, ","));
    return !list || source_want(s, ")");
}
