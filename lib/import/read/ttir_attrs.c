/* Attributes of MLIR: numbers with their types, lists, words, constants. What is none of these is kept as
 * text. */
#include "import/read/ttir.h"
#include "import/types/typing.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ATTRS = 2048 }; /* of one op: each is compared with those before it */

static bool ttir_attr_is_key(char c)
{
    return source_is_name(c);
}

/* "si32" is what others call i32; MODEL_ELEMENT_COUNT: none of ours. */
static enum model_element ttir_attr_element_named(const char *word)
{
    return model_element_find(MODEL_TTIR, word[0] == 's' && word[1] == 'i' ? word + 1 : word);
}

/* ": f32" behind a number; MODEL_ELEMENT_COUNT: none, or "index". */
static enum model_element ttir_attr_number_type(struct source *s)
{
    char word[16];
    size_t n = 0;
    if (!source_take(s, ":")) return MODEL_ELEMENT_COUNT;
    source_skip(s, true);
    while (n + 1 < sizeof word && source_is_name(source_peek(s))) word[n++] = *s->at++;
    word[n] = 0;
    return ttir_attr_element_named(word);
}

static bool ttir_attr_is_float(enum model_element e)
{
    return e < MODEL_TUPLE && model_element_row(e)->number == MODEL_FLOAT;
}

/* A number of a type that is known: hex is the bits of one, those of a negative number among them. */
static bool ttir_attr_number_of(struct source *s, enum model_element e, int64_t *whole, double *real)
{
    bool is_whole;
    if (!source_number(s, e, whole, real, &is_whole)) return false;
    enum model_number n = e < MODEL_TUPLE ? model_element_row(e)->number : MODEL_NO_NUMBER;
    if (!is_whole && (n == MODEL_SIGNED || n == MODEL_UNSIGNED)) *whole = fold_kept_int(e, *whole);
    return true;
}

/* Hex stands before the type that says what its bits are: it is read twice. */
static bool ttir_attr_number(struct source *s, int64_t *whole, double *real, bool *is_real)
{
    struct source again = *s;
    bool is_whole;
    if (!source_number(s, MODEL_I64, whole, real, &is_whole)) return false;
    enum model_element e = ttir_attr_number_type(s);
    bool hex = again.at + 1 < again.end && again.at[0] == '0' && again.at[1] == 'x';
    if (hex && e < MODEL_TUPLE && !ttir_attr_number_of(&again, e, whole, real)) return false;
    *is_real = ttir_attr_is_float(e) || (!is_whole && !hex);
    if (!*is_real && !is_whole && !hex) *whole = (int64_t)*real;
    return true;
}

/* One attribute's numbers, as they come. */
struct gathered {
    VEC(int64_t) ints;
    VEC(double) reals;
    bool any_real;
};

static void ttir_attr_gathered_free(struct gathered *g)
{
    VEC_FREE(&g->ints);
    VEC_FREE(&g->reals);
}

static void ttir_attr_gather(struct gathered *g, int64_t whole, double real)
{
    VEC_PUSH(&g->ints, whole);
    VEC_PUSH(&g->reals, real);
}

static void ttir_attr_attr_of_list(struct source *s, struct gathered *g, struct model_attr *a)
{
    a->form = g->any_real ? ATTR_REALS : ATTR_INTS;
    a->count = (int)g->ints.count;
    a->ints = arena_copy_array(&s->m->memory, g->ints.at, g->ints.count, sizeof *g->ints.at);
    a->reals = arena_copy_array(&s->m->memory, g->reals.at, g->reals.count, sizeof *g->reals.at);
}

/* "array<i64: 0, 1>", "array<i64>": what stands behind the word. */
static bool ttir_attr_array(struct source *s, struct model_attr *a, struct gathered *g)
{
    int64_t whole;
    double real;
    if (!source_want(s, "<")) return false;
    source_skip(s, true);
    const char *word = source_name(s, ttir_attr_is_key, "a type");
    if (!word) return false;
    enum model_element e = ttir_attr_element_named(word);
    g->any_real = ttir_attr_is_float(e);
    if (source_take(s, ":")) do {
            if (!ttir_attr_number_of(s, e, &whole, &real)) return false;
            ttir_attr_gather(g, whole, real);
        } while (source_take(s, ","));
    if (!source_want(s, ">")) return false;
    ttir_attr_attr_of_list(s, g, a);
    return true;
}

/* "[1 : i32, 2 : i32]"; false without a failure: not a list of numbers. */
static bool ttir_attr_number_list(struct source *s, struct model_attr *a, struct gathered *g)
{
    int64_t whole;
    double real;
    bool is_real;
    s->at++;
    if (!source_is(s, "]")) do {
            source_skip(s, true);
            if (!source_is_digit(source_peek(s)) && source_peek(s) != '-') return false;
            if (!ttir_attr_number(s, &whole, &real, &is_real)) return false;
            ttir_attr_gather(g, whole, real);
            g->any_real |= is_real;
        } while (source_take(s, ","));
    if (!source_take(s, "]")) return false;
    ttir_attr_attr_of_list(s, g, a);
    return true;
}

static bool ttir_attr_list(struct source *s, struct model_attr *a)
{
    struct source back = *s;
    struct gathered g = {0};
    bool ok = ttir_attr_number_list(s, a, &g);
    ttir_attr_gathered_free(&g);
    if (ok || s->failed) return ok;
    *s = back;
    a->form = ATTR_TEXT;
    return (a->text = source_kept(s, true)) != NULL;
}

static bool ttir_attr_dense_number(struct source *s, enum model_element e, struct gathered *g, bool keep)
{
    double part[2];
    int64_t whole;
    if (model_element_row(e)->number == MODEL_COMPLEX) {
        if (!source_complex(s, e, part)) return false;
        if (keep) ttir_attr_gather(g, 0, part[0]);
        if (keep) ttir_attr_gather(g, 0, part[1]);
        return true;
    }
    if (!ttir_attr_number_of(s, e, &whole, part)) return false;
    if (keep) ttir_attr_gather(g, whole, *part);
    return true;
}

/* Nested lists of numbers: brackets only group. The type behind them says how many there must be. */
static bool ttir_attr_dense_list(struct source *s, enum model_element e, struct gathered *g, int64_t *count)
{
    int depth = 0;
    do {
        if (source_take(s, ",")) continue;
        if (source_take(s, "]")) {
            depth--;
        } else if (source_take(s, "[")) {
            if (++depth > MODEL_MAX_DEPTH) return source_fail(s, LX_E_LIMIT, "lists nest too deep");
        } else {
            if (!ttir_attr_dense_number(s, e, g, *count < MODEL_MAX_KNOWN)) return false;
            ++*count;
        }
    } while (depth > 0 && !source_ended(s));
    return depth == 0 ? true : source_fail(s, LX_E_SYNTAX, "a list that does not end");
}

static int ttir_attr_hex_digit(char c)
{
    return source_is_digit(c)     ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Truths, eight a byte, the first in its lowest bit. */
static bool ttir_attr_dense_bits(struct source *s, const char *digits, int64_t count, struct gathered *g)
{
    for (int64_t i = 0; i < count && i < MODEL_MAX_KNOWN; i++) {
        int nibble = ttir_attr_hex_digit(digits[i / 8 * 2 + (i % 8 < 4)]);
        if (nibble < 0) return source_fail(s, LX_E_SYNTAX, "a character that is no hexadecimal digit");
        int bit = nibble >> (i % 4) & 1;
        ttir_attr_gather(g, bit, bit);
    }
    return true;
}

/* "0x0001...": little-endian bytes of all elements, or of one for all. */
static bool ttir_attr_dense_bytes(struct source *s, const char *hex, struct model_data *d, struct gathered *g)
{
    const struct model_type *type = d->type;
    size_t size = (size_t)model_element_row(type->element)->bits / 8, digits = strlen(hex);
    bool known = digits > 2 && strncmp(hex, "0x", 2) == 0 && size > 0 && size <= 8 && type->elements >= 0;
    bool packed = known && type->element == MODEL_BOOL && type->elements > 1 &&
                  digits - 2 == (size_t)(type->elements + 7) / 8 * 2;
    if (packed) return ttir_attr_dense_bits(s, hex + 2, type->elements, g);
    if (known && digits - 2 == size * 2) d->form = DATA_SPLAT;
    if (!known || (d->form != DATA_SPLAT && digits - 2 != (size_t)type->bytes * 2))
        return source_fail(s, LX_E_SHAPE, "bytes that are not those of the type of the constant");
    for (int64_t i = 0; i < (d->form == DATA_SPLAT ? 1 : type->elements) && i < MODEL_MAX_KNOWN; i++) {
        uint64_t bits = 0;
        for (size_t k = size; k-- > 0;) {
            const char *p = hex + 2 + ((size_t)i * size + k) * 2;
            int high = ttir_attr_hex_digit(p[0]), low = ttir_attr_hex_digit(p[1]);
            if (high < 0 || low < 0)
                return source_fail(s, LX_E_SYNTAX, "a character that is no hexadecimal digit");
            bits = bits << 8 | (uint64_t)(high * 16 + low);
        }
        int shift = 64 - (int)size * 8;
        enum model_number n = model_element_row(type->element)->number;
        int64_t whole = n == MODEL_SIGNED ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
        double real = n == MODEL_FLOAT ? model_float_of_bits(type->element, bits) : (double)whole;
        ttir_attr_gather(g, whole, real);
    }
    return true;
}

static bool ttir_attr_keep_data(struct source *s, struct gathered *g, struct model_data *d)
{
    enum model_number n = model_element_row(d->type->element)->number;
    bool known = d->form == DATA_SPLAT || d->type->elements <= MODEL_MAX_KNOWN;
    if (!known || (n == MODEL_COMPLEX && d->form == DATA_BYTES)) return true;
    if (n == MODEL_FLOAT || n == MODEL_COMPLEX)
        d->reals = arena_copy_array(&s->m->memory, g->reals.at, g->reals.count, sizeof *g->reals.at);
    else
        d->ints = arena_copy_array(&s->m->memory, g->ints.at, g->ints.count, sizeof *g->ints.at);
    return true;
}

/* What stands in dense<...>, once its type is known. The cursor `s` is at the value and ends behind it. */
static bool ttir_attr_dense_value(struct source *s, struct model_data *d, struct gathered *g)
{
    int64_t count = 0;
    source_skip(s, true);
    if (source_peek(s) == '"') {
        const char *hex = source_string(s);
        d->form = DATA_BYTES;
        return hex && ttir_attr_dense_bytes(s, hex, d, g);
    }
    if (source_peek(s) == '[') {
        d->form = DATA_LIST;
        if (!ttir_attr_dense_list(s, d->type->element, g, &count)) return false;
        return count == d->type->elements ? true
                                          : source_fail(s, LX_E_SHAPE, "%lld numbers for a constant of %lld",
                                                        (long long)count, (long long)d->type->elements);
    }
    d->form = DATA_SPLAT;
    bool pairs = model_element_row(d->type->element)->number == MODEL_COMPLEX;
    if (source_peek(s) != '>') return ttir_attr_dense_number(s, d->type->element, g, true);
    for (int i = 0; i <= pairs; i++) ttir_attr_gather(g, 0, 0); /* empty */
    return true;
}

static bool ttir_attr_dense(struct source *s, struct model_attr *a)
{
    struct gathered g = {0};
    struct model_data *d = arena_alloc(&s->m->memory, sizeof *d);
    const char *from;
    size_t length;
    if (!source_want(s, "<")) return false;
    struct source value = *s;
    while (source_balanced(s, true, &from, &length) && source_take(s, ",")) continue;
    if (s->failed || !source_want(s, ">") || !source_want(s, ":")) return false;
    d->type = ttir_type(s);
    bool ok = d->type && ttir_attr_dense_value(&value, d, &g) && ttir_attr_keep_data(s, &g, d);
    s->failed |= value.failed;
    ttir_attr_gathered_free(&g);
    a->form = ATTR_DATA;
    a->data = d;
    return ok;
}

static bool ttir_attr_plain_number(struct source *s, struct model_attr *a)
{
    bool is_real;
    if (!ttir_attr_number(s, &a->number, &a->real, &is_real)) return false;
    a->form = is_real ? ATTR_REAL : ATTR_INT;
    if (!is_real) a->real = (double)a->number;
    return true;
}

static bool ttir_attr_value(struct source *s, struct model_attr *a)
{
    struct gathered g = {0};
    source_skip(s, true);
    char c = source_peek(s);
    if (c == '"') {
        a->form = ATTR_WORD;
        return (a->text = source_string(s)) != NULL;
    }
    if (source_is(s, "true") || source_is(s, "false")) {
        a->form = ATTR_BOOL;
        a->number = c == 't';
        s->at += c == 't' ? 4 : 5;
        return true;
    }
    if (source_is_digit(c) || c == '-') return ttir_attr_plain_number(s, a);
    if (c == '[') return ttir_attr_list(s, a);
    if (source_take(s, "dense")) return ttir_attr_dense(s, a);
    if (source_take(s, "array")) {
        bool ok = ttir_attr_array(s, a, &g);
        ttir_attr_gathered_free(&g);
        return ok;
    }
    if (source_is(s, "tensor")) {
        a->form = ATTR_TYPE;
        return (a->type = ttir_type(s)) != NULL;
    }
    a->form = ATTR_TEXT;
    return (a->text = source_kept(s, true)) != NULL;
}

/* The dialect ttcore was called tt once. */
static const char *ttir_attr_key_of_today(struct source *s, const char *key)
{
    return key && strncmp(key, "tt.", 3) == 0 ? arena_format(&s->m->memory, "ttcore.%s", key + 3) : key;
}

static bool ttir_attr_one(struct ttir *t)
{
    struct source *s = &t->s;
    struct model_attr a = {.form = ATTR_BOOL, .number = 1};
    source_skip(s, true);
    a.key = source_peek(s) == '"' ? source_string(s)
                                  : source_name(s, ttir_attr_is_key, "the name of an attribute");
    a.key = ttir_attr_key_of_today(s, a.key);
    if (!a.key || (source_take(s, "=") && !ttir_attr_value(s, &a))) return false;
    if (t->attrs.count == MOST_ATTRS)
        return source_fail(s, LX_E_LIMIT, "more than %d attributes", MOST_ATTRS);
    for (size_t i = 0; i < t->attrs.count; i++)
        if (strcmp(t->attrs.at[i].key, a.key) == 0) return true;
    VEC_PUSH(&t->attrs, a);
    return true;
}

bool ttir_attrs(struct ttir *t)
{
    if (!source_want(&t->s, "{")) return false;
    if (source_take(&t->s, "}")) return true;
    do {
        if (!ttir_attr_one(t)) return false;
    } while (source_take(&t->s, ","));
    return source_want(&t->s, "}");
}

void ttir_attrs_kept(struct ttir *t, struct model_attrs *out)
{
    out->count = (int)t->attrs.count;
    out->at = arena_copy_array(&t->s.m->memory, t->attrs.at, t->attrs.count, sizeof *t->attrs.at);
    t->attrs.count = 0;
}
