/* The cursor: places, spaces, words, brackets and numbers; then bodies. */
#include "import/read/source.h"
#include "import/types/typing.h"

enum { MOST_DIGITS = 400 };

int source_column(const struct source *s)
{
    return (int)(s->at - s->line_start) + 1;
}

bool source_fail(struct source *s, enum lx_code code, const char *format, ...)
{
    char words[sizeof s->st->text]; /* `format` may quote the status that is set */
    va_list args;
    if (s->failed) return false;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    s->failed = true;
    return status_set_at(s->st, code, s->m->file, s->line, source_column(s), "%s", words);
}

bool source_ended(const struct source *s)
{
    return s->failed || s->at >= s->end;
}

char source_peek(const struct source *s)
{
    return source_ended(s) ? 0 : *s->at;
}

static void source_step(struct source *s)
{
    if (*s->at++ != '\n') return;
    s->line++;
    s->line_start = s->at;
}

static bool source_begins(const struct source *s, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(s->end - s->at) >= n && memcmp(s->at, text, n) == 0;
}

void source_skip(struct source *s, bool lines)
{
    while (!source_ended(s)) {
        if (*s->at == ' ' || *s->at == '\t' || *s->at == '\r' || (*s->at == '\n' && lines)) {
            source_step(s);
        } else if (source_begins(s, "//")) {
            const char *end = memchr(s->at, '\n', (size_t)(s->end - s->at));
            s->at = end ? end : s->end;
        } else if (s->spans_comments && source_begins(s, "/*")) {
            s->at += 2;
            while (s->at < s->end && !source_begins(s, "*/")) source_step(s);
            s->at = s->at < s->end ? s->at + 2 : s->end;
        } else {
            break;
        }
    }
}

char source_next(struct source *s)
{
    source_skip(s, true);
    return source_peek(s);
}

bool source_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool source_is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || source_is_digit(c) || c == '_' || c == '.' ||
           c == '-' || c == '$';
}

bool source_is(struct source *s, const char *text)
{
    size_t n = strlen(text);
    source_skip(s, true);
    if (s->failed || !source_begins(s, text)) return false;
    bool word = source_is_name(text[n - 1]) && text[n - 1] != '-';
    return !word || s->at + n >= s->end || !source_is_name(s->at[n]);
}

bool source_take(struct source *s, const char *text)
{
    if (!source_is(s, text)) return false;
    s->at += strlen(text);
    return true;
}

bool source_want(struct source *s, const char *text)
{
    char found[24] = "the end";
    if (source_take(s, text)) return true;
    if (!source_ended(s)) {
        int n = 0;
        while (n < 16 && s->at + n < s->end && s->at[n] >= ' ' && s->at[n] < 127) n++;
        snprintf(found, sizeof found, "\"%.*s\"", n, s->at);
    }
    return source_fail(s, LX_E_SYNTAX, "expected \"%s\", found %s", text, found);
}

const char *source_name(struct source *s, bool (*belongs)(char c), const char *what)
{
    source_skip(s, true);
    const char *from = s->at;
    while (!source_ended(s) && belongs(*s->at)) s->at++;
    size_t n = (size_t)(s->at - from);
    if (n == 0) source_fail(s, LX_E_SYNTAX, "expected %s", what);
    if (n > MODEL_MAX_NAME) source_fail(s, LX_E_LIMIT, "%s of more than %d characters", what, MODEL_MAX_NAME);
    return s->failed ? "" : arena_copy(&s->m->memory, from, n);
}

/* The cursor is at the opening quote and ends behind the closing one. */
static void source_skip_string(struct source *s)
{
    for (s->at++; s->at < s->end && *s->at != '"'; source_step(s))
        if (*s->at == '\\' && s->at + 1 < s->end) s->at++;
    if (s->at < s->end)
        s->at++;
    else
        source_fail(s, LX_E_SYNTAX, "a string that does not end");
}

const char *source_string(struct source *s)
{
    if (source_next(s) != '"') source_want(s, "\"");
    const char *from = s->at + 1;
    if (!s->failed) source_skip_string(s);
    if (s->failed) return "";
    size_t n = (size_t)(s->at - 1 - from), k = 0;
    char *out = arena_copy(&s->m->memory, from, n);
    for (size_t i = 0; i < n; i++) {
        if (out[i] == '\\' && i + 1 < n && strchr("\"\\'", out[i + 1])) i++;
        out[k++] = out[i];
    }
    out[k] = 0;
    return out;
}

struct span source_balanced(struct source *s, int over)
{
    static const char open[] = "([{<", close[] = ")]}>";
    bool lines = over & OVER_LINES;
    char stack[MODEL_MAX_DEPTH];
    int depth = 0;
    source_skip(s, lines);
    const char *from = s->at;
    while (!source_ended(s)) {
        char c = *s->at;
        const char *opens = c ? strchr(open, c) : NULL;
        bool closes = c && strchr(close, c), comma = c == ',' && !(over & OVER_COMMAS);
        if (source_begins(s, "<=")) opens = NULL;
        if (c == '>' && s->at > from && strchr("-=", s->at[-1])) closes = false; /* of "->" */
        if (depth == 0 && (comma || (c == '\n' && !lines) || closes)) break;
        if (depth == 0 && c == ' ' && s->ends && s->ends(s)) break;
        if (c == 0) source_fail(s, LX_E_SYNTAX, "a NUL character");
        if (opens && depth == MODEL_MAX_DEPTH)
            source_fail(s, LX_E_LIMIT, "brackets nest more than %d deep", MODEL_MAX_DEPTH);
        else if (opens)
            stack[depth++] = close[opens - open];
        if (closes && stack[--depth] != c)
            source_fail(s, LX_E_SYNTAX, "\"%c\" where \"%c\" should close", c, stack[depth]);
        if (c == '"')
            source_skip_string(s);
        else if (!s->failed)
            source_step(s);
    }
    if (depth > 0) source_fail(s, LX_E_SYNTAX, "\"%c\" is missing at the end", stack[depth - 1]);
    const char *to = s->at;
    while (to > from && strchr(" \t\r\n", to[-1])) to--;
    return (struct span){from, (size_t)(to - from)};
}

const char *source_kept(struct source *s, int over)
{
    struct span text = source_balanced(s, over);
    return arena_copy(&s->m->memory, text.at, text.length);
}

/* ---- numbers ---- */

int64_t source_int(struct source *s)
{
    bool negative = source_next(s) == '-';
    uint64_t n = 0;
    if (negative) s->at++;
    if (!source_is_digit(source_peek(s))) source_fail(s, LX_E_SYNTAX, "expected a whole number");
    for (; source_is_digit(source_peek(s)); s->at++) {
        uint64_t digit = (uint64_t)(*s->at - '0');
        if (n > (INT64_MAX - digit) / 10) return source_fail(s, LX_E_RANGE, "a number beyond 2^63");
        n = n * 10 + digit;
    }
    return negative ? -(int64_t)n : (int64_t)n;
}

int64_t source_extent(struct source *s, int rank)
{
    if (rank == MODEL_MAX_RANK) source_fail(s, LX_E_LIMIT, "more than %d dimensions", rank);
    if (source_take(s, "?")) return -1;
    int64_t extent = source_int(s);
    if (extent < 0) source_fail(s, LX_E_RANGE, "an extent below 0");
    return extent;
}

int source_hex_digit(char c)
{
    if (source_is_digit(c)) return c - '0';
    return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ? (c | 32) - 'a' + 10 : -1;
}

/* Decimal digits, inf and nan; "nan(0x7fc01)" has a payload. */
static struct source_number source_decimal(struct source *s)
{
    char digits[MOST_DIGITS + 1], *end;
    struct source_number out = {0};
    size_t n = 0;
    while (n < MOST_DIGITS && s->at + n < s->end && s->at[n] && strchr("0123456789+-.eEinfa", s->at[n])) n++;
    memcpy(digits, s->at, n);
    digits[n] = 0;
    out.real = strtod(digits, &end);
    if (end == digits || s->failed) return source_fail(s, LX_E_SYNTAX, "expected a number"), out;
    out.is_whole = isfinite(out.real) && strcspn(digits, ".eE") >= (size_t)(end - digits);
    out.whole = out.is_whole ? (int64_t)strtoull(digits, NULL, 10) : 0;
    s->at += end - digits;
    const char *close =
        isnan(out.real) && source_begins(s, "(0x") ? memchr(s->at, ')', (size_t)(s->end - s->at)) : NULL;
    if (close) s->at = close + 1;
    return out;
}

struct source_number source_number(struct source *s, enum model_element element)
{
    struct source_number out = {0};
    enum model_number number = element < MODEL_TUPLE ? model_element_row(element)->number : MODEL_NO_NUMBER;
    if (source_next(s) == '0' && source_begins(s, "0x")) {
        uint64_t bits = 0;
        int digits = 0;
        for (s->at += 2; digits < 16 && source_hex_digit(source_peek(s)) >= 0; s->at++, digits++)
            bits = bits << 4 | (uint64_t)source_hex_digit(*s->at);
        if (digits == 0) source_fail(s, LX_E_SYNTAX, "expected hexadecimal digits after 0x");
        out.whole = (int64_t)bits;
        out.real = number == MODEL_FLOAT ? model_float_of_bits(element, bits) : (double)out.whole;
    } else if (source_take(s, "true")) {
        out.whole = 1;
        out.real = 1;
    } else if (!source_take(s, "false")) {
        out = source_decimal(s);
    }
    if (!out.is_whole && (number == MODEL_SIGNED || number == MODEL_UNSIGNED))
        out.whole = fold_kept_int(element, out.whole); /* the bits of a negative number */
    return out;
}

bool source_elements(struct source *s, enum model_element element, const char *open, const char *close,
                     struct model_numbers *n)
{
    bool elided = false, complex = element == MODEL_C64;
    int depth = 0;
    do {
        if (source_take(s, ",")) continue;
        if (source_take(s, "...")) {
            elided = true;
        } else if (source_take(s, close)) {
            depth--;
        } else if (source_take(s, open)) {
            if (++depth > MODEL_MAX_DEPTH) source_fail(s, LX_E_LIMIT, "lists nest too deep");
        } else { /* a number, or "(1, -2)" */
            bool pair = complex && source_take(s, "(");
            for (int i = 0; i < 1 + complex; i++) {
                struct source_number x = {0};
                if (i > 0 && pair) source_want(s, ",");
                if (i == 0 || pair) x = source_number(s, complex ? MODEL_F32 : element);
                numbers_push(n, x.whole, x.real);
            }
            if (pair) source_want(s, ")");
            n->count++;
        }
    } while (depth > 0 && !source_ended(s));
    if (depth > 0) source_fail(s, LX_E_SYNTAX, "a list that does not end");
    return elided;
}

/* ---- types ---- */

const struct model_type *source_type(struct source *s, enum model_element e, int rank, const int64_t *extent)
{
    static const struct model_type none = {.element = MODEL_F32, .elements = 1, .bytes = 4, .leaves = 1};
    const struct model_type *type = s->failed ? NULL : model_type_make(s->m, e, rank, extent, s->st);
    if (!type) source_fail(s, s->st->code, "%s", s->st->text);
    return type ? type : &none;
}

/* tensor<2x8xf32>, f32[2,8] */
static void source_type_words(const struct source *s, const struct model_type *t, char *out, size_t size)
{
    bool mlir = s->m->format == MODEL_TTIR;
    const char *word = model_element_word(s->m->format, t->element);
    size_t n = (size_t)snprintf(out, size, "%s", mlir ? "tensor<" : word);
    int rank = t->element == MODEL_TUPLE ? 0 : t->count;
    if (!mlir) model_shape_words(rank, t->extent, out + n, size - n);
    for (int d = 0; mlir && d < rank && n + 40 < size; d++)
        n += (size_t)snprintf(out + n, size - n, "%lldx", (long long)t->extent[d]);
    if (mlir) snprintf(out + n, size - n, "%s>", word);
}

void source_same_types(struct source *s, const struct model_type *a, const struct model_type *b,
                       const char *name)
{
    char one[160], other[160], tensor[40] = "";
    if (s->failed || model_same_types(a, b)) return;
    if (a->element == MODEL_TUPLE && b->element == MODEL_TUPLE) {
        int i = 0;
        if (a->leaves != b->leaves) {
            source_fail(s, LX_E_SHAPE, "%.60s has %d tensors, but %d stand here", name, a->leaves, b->leaves);
            return;
        }
        while (i + 1 < a->leaves && model_same_types(model_leaf_type(a, i), model_leaf_type(b, i))) i++;
        snprintf(tensor, sizeof tensor, "tensor %d of ", i);
        a = model_leaf_type(a, i);
        b = model_leaf_type(b, i);
    }
    source_type_words(s, a, one, sizeof one);
    source_type_words(s, b, other, sizeof other);
    source_fail(s, LX_E_SHAPE, "%s%.60s is %s, but %s stands here", tensor, name, one, other);
}

/* ---- bodies ---- */

void reader_begin(struct reader *r, struct lx_model *m, const char *text, size_t length, lx_status *st)
{
    r->s = (struct source){.m = m, .at = text, .end = text + length, .line_start = text, .line = 1, .st = st};
}

void reader_free(struct reader *r)
{
    names_free(&r->values);
    VEC_FREE(&r->ops);
    VEC_FREE(&r->list);
    VEC_FREE(&r->attrs);
}

void reader_begin_body(struct reader *r)
{
    names_free(&r->values);
    r->values = (struct names){0};
    r->body = (int32_t)r->s.m->bodies.count;
    VEC_PUSH(&r->s.m->bodies, (struct model_body){0});
    r->ops.count = r->list.count = r->attrs.count = 0;
}

void reader_end_body(struct reader *r, struct model_body *body)
{
    body->op_count = (int)r->ops.count;
    body->ops = arena_copy_array(&r->s.m->memory, r->ops.at, r->ops.count, sizeof *r->ops.at);
    r->s.m->bodies.at[r->body] = *body;
}

void reader_add_value(struct reader *r, struct model_value v)
{
    struct source *s = &r->s;
    if (s->failed) return;
    v.body = r->body;
    int32_t number = model_add_value(s->m, &v, s->st);
    if (number < 0) source_fail(s, s->st->code, "%s", s->st->text);
    if (number >= 0 && names_add(&r->values, v.name, number) == NAMES_KNOWN)
        source_fail(s, LX_E_DUPLICATE, "%.80s is made twice", v.name);
    VEC_PUSH(&r->list, number);
}

void reader_push_operand(struct reader *r, const char *name)
{
    int32_t v = r->s.failed ? 0 : names_find(&r->values, name);
    if (v < 0) {
        r->s.at -= strlen(name);
        r->s.at -= r->s.at[-1] == '%';
        source_fail(&r->s, LX_E_UNKNOWN_NAME, "%.80s has not been made above", name);
    }
    VEC_PUSH(&r->list, v);
}

const int32_t *reader_list(struct reader *r, int *count)
{
    *count = (int)r->list.count;
    r->list.count = 0;
    return arena_copy_array(&r->s.m->memory, r->list.at, (size_t)*count, sizeof *r->list.at);
}

struct model_attrs reader_attrs(struct reader *r)
{
    struct model_attrs attrs = {.count = (int)r->attrs.count};
    attrs.at = arena_copy_array(&r->s.m->memory, r->attrs.at, r->attrs.count, sizeof *r->attrs.at);
    r->attrs.count = 0;
    return attrs;
}
