/* Attributes of MLIR: numbers with their types, lists, words, constants. Anything else is kept as text. */
#include "import/read/ttir.h"

enum { MOST_ATTRS = 2048 }; /* of one op: each is compared with all earlier ones */

static bool ttir_attr_is_float(enum model_element e)
{
    return e < MODEL_TUPLE && model_element_row(e)->number == MODEL_FLOAT;
}

/* A number followed by its type, which decides the meaning of hexadecimal bits. True: a float. */
static bool ttir_attr_number(struct source *s, struct source_number *x)
{
    source_skip(s, true);
    struct source again = *s;
    *x = source_number(s, MODEL_I64);
    enum model_element e = source_take(s, ":") ? ttir_element(s) : MODEL_ELEMENT_COUNT;
    bool hex = again.end - again.at > 1 && again.at[1] == 'x';
    if (hex && e < MODEL_TUPLE && !s->failed) *x = source_number(&again, e);
    return ttir_attr_is_float(e) || (!x->is_whole && !hex);
}

static void ttir_attr_keep_list(struct source *s, struct model_numbers *n, bool reals, struct model_attr *a)
{
    a->form = reals ? ATTR_REALS : ATTR_INTS;
    a->count = (int)n->ints.count;
    a->ints = arena_copy_array(&s->m->memory, n->ints.at, n->ints.count, sizeof *n->ints.at);
    a->reals = arena_copy_array(&s->m->memory, n->reals.at, n->reals.count, sizeof *n->reals.at);
    numbers_free(n);
}

/* "array<i64: 0, 1>", "array<i64>": after the word. */
static void ttir_attr_array(struct source *s, struct model_attr *a)
{
    struct model_numbers n = {.most = INT64_MAX};
    source_want(s, "<");
    enum model_element e = ttir_element(s);
    if (source_take(s, ":")) do {
            struct source_number x = source_number(s, e);
            numbers_push(&n, x.whole, x.real);
        } while (source_take(s, ","));
    source_want(s, ">");
    ttir_attr_keep_list(s, &n, ttir_attr_is_float(e), a);
}

/* "[1 : i32, 2 : i32]"; a list of anything else stays text. */
static void ttir_attr_list(struct source *s, struct model_attr *a)
{
    struct model_numbers n = {.most = INT64_MAX};
    struct source back = *s;
    bool reals = false, numbers = true;
    s->at++;
    if (!source_is(s, "]")) do {
            struct source_number x;
            char c = source_next(s);
            numbers = source_is_digit(c) || c == '-';
            if (!numbers) break;
            reals |= ttir_attr_number(s, &x);
            numbers_push(&n, x.whole, x.real);
        } while (source_take(s, ","));
    numbers = numbers && source_take(s, "]");
    ttir_attr_keep_list(s, &n, reals, a);
    if (numbers || s->failed) return;
    *s = back;
    *a = (struct model_attr){.key = a->key, .form = ATTR_TEXT, .text = source_kept(s, OVER_LINES)};
}

/* "0x0001...": little-endian bytes of all elements, or of a splat; booleans may be eight to a byte, the first
 * in the lowest bit. */
static void ttir_attr_dense_bytes(struct source *s, const char *hex, struct model_data *d,
                                  struct model_numbers *n)
{
    const struct model_type *type = d->type;
    size_t size = (size_t)model_element_row(type->element)->bits / 8, digits = strlen(hex);
    bool known = digits > 2 && strncmp(hex, "0x", 2) == 0 && size > 0 && size <= 8 && type->elements >= 0;
    bool packed = known && type->element == MODEL_BOOL && type->elements > 1 &&
                  digits - 2 == (size_t)(type->elements + 7) / 8 * 2;
    if (known && !packed && digits - 2 == size * 2) d->form = DATA_SPLAT;
    if (!known || (!packed && d->form != DATA_SPLAT && digits - 2 != (size_t)type->bytes * 2))
        source_fail(s, LX_E_SHAPE, "bytes that are not those of the type of the constant");
    for (size_t i = 2; !s->failed && i < digits; i++)
        if (source_hex_digit(hex[i]) < 0)
            source_fail(s, LX_E_SYNTAX, "a character that is no hexadecimal digit");
    int64_t count = d->form == DATA_SPLAT ? 1 : type->elements;
    for (int64_t i = 0; !s->failed && i < count && i < n->most; i++) {
        uint64_t bits = 0;
        if (packed) bits = (uint64_t)source_hex_digit(hex[2 + i / 8 * 2 + (i % 8 < 4)]) >> (i % 4) & 1;
        for (size_t k = size; !packed && k-- > 0;) {
            const char *p = hex + 2 + ((size_t)i * size + k) * 2;
            bits = bits << 8 | (uint64_t)(source_hex_digit(p[0]) * 16 + source_hex_digit(p[1]));
        }
        numbers_add_bits(n, type->element, bits);
    }
    n->count = count;
}

/* "dense<VALUE> : TYPE", after the word. Reads the value after its type. */
static void ttir_attr_dense(struct source *s, struct model_attr *a)
{
    struct model_numbers n = {.most = MODEL_MAX_KNOWN};
    struct model_data *d = arena_alloc(&s->m->memory, sizeof *d);
    source_want(s, "<");
    struct source value = *s;
    source_balanced(s, OVER_LINES | OVER_COMMAS);
    source_want(s, ">");
    source_want(s, ":");
    d->type = ttir_type(s);
    if (s->failed) return;
    char c = source_next(&value);
    d->form = c == '"' ? DATA_BYTES : c == '[' ? DATA_LIST : DATA_SPLAT;
    if (c == '"')
        ttir_attr_dense_bytes(&value, source_string(&value), d, &n);
    else if (c != '>')
        source_elements(&value, d->type->element, "[", "]", &n);
    else { /* empty */
        numbers_push(&n, 0, 0);
        numbers_push(&n, 0, 0);
        n.count = 1;
    }
    if (!value.failed && !numbers_keep(s->m, &n, d))
        source_fail(&value, LX_E_SHAPE, "%lld numbers for a constant of %lld", (long long)n.count,
                    (long long)d->type->elements);
    s->failed |= value.failed;
    numbers_free(&n);
    a->form = ATTR_DATA;
    a->data = d;
}

void ttir_attr_value(struct source *s, struct model_attr *a)
{
    char c = source_next(s);
    struct source_number x;
    if (c == '"') {
        a->form = ATTR_WORD;
        a->text = source_string(s);
    } else if (source_take(s, "true") || source_take(s, "false")) {
        a->number = c == 't';
    } else if (source_is_digit(c) || c == '-') {
        a->form = ttir_attr_number(s, &x) ? ATTR_REAL : ATTR_INT;
        a->number = x.whole;
        a->real = x.real;
    } else if (c == '[') {
        ttir_attr_list(s, a);
    } else if (source_take(s, "dense")) {
        ttir_attr_dense(s, a);
    } else if (source_take(s, "array")) {
        ttir_attr_array(s, a);
    } else {
        a->form = ATTR_TEXT;
        a->text = source_kept(s, OVER_LINES);
    }
}

void ttir_push_attr(struct ttir *t, struct model_attr a)
{
    struct source *s = &t->r.s;
    bool known = false;
    if (t->r.attrs.count == MOST_ATTRS) source_fail(s, LX_E_LIMIT, "more than %d attributes", MOST_ATTRS);
    for (size_t i = 0; i < t->r.attrs.count; i++) known |= strcmp(t->r.attrs.at[i].key, a.key) == 0;
    if (!known && !s->failed) VEC_PUSH(&t->r.attrs, a);
}

void ttir_attrs(struct ttir *t)
{
    struct source *s = &t->r.s;
    source_want(s, "{");
    if (source_take(s, "}")) return;
    do {
        struct model_attr a = {.form = ATTR_BOOL, .number = 1};
        bool quoted = source_next(s) == '"';
        a.key = quoted ? source_string(s) : source_name(s, source_is_name, "the name of an attribute");
        if (strncmp(a.key, "tt.", 3) == 0) /* an older name of the dialect */
            a.key = arena_format(&s->m->memory, "ttcore.%s", a.key + 3);
        if (source_take(s, "=")) ttir_attr_value(s, &a);
        ttir_push_attr(t, a);
    } while (source_take(s, ","));
    source_want(s, "}");
}
