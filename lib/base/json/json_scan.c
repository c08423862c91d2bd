/* A strict reading of RFC 8259 that makes the tree as it goes: one pass, no recursion, one allocation from
 * the arena per value, key and string. Open arrays and objects are on a stack, each with the link for its
 * next value. */
#include "base/json/json.h"
#include "base/base.h"
#include "base/words/words.h"

#include <locale.h>

/* An array or object not closed yet. */
struct open_value {
    char begins; /* '{' or '[' */
    struct json_value **end;
};

struct scan {
    struct json *json;
    const unsigned char *begin, *at, *end, *line_start;
    int line;
    int key_line, key_column; /* of the last key */
    const char *key;          /* of the next value; NULL: none */
    struct open_value open[JSON_MAX_DEPTH];
    int depth;
    int64_t count; /* of values */
    lx_status *st;
};

__attribute__((format(printf, 3, 4))) static bool fail(struct scan *s, enum lx_code code, const char *format,
                                                       ...)
{
    va_list args;
    va_start(args, format);
    status_vset_at(s->st, code, s->json->file, s->line, (int)(s->at - s->line_start) + 1, format, args);
    va_end(args);
    return false;
}

static void skip_space(struct scan *s)
{
    for (; s->at < s->end; s->at++) {
        if (*s->at == '\n') {
            s->line++;
            s->line_start = s->at + 1;
        } else if (*s->at != ' ' && *s->at != '\t' && *s->at != '\r')
            return;
    }
}

/* Names the current character for a message. */
static const char *scan_seen(const struct scan *s, char out[24])
{
    if (s->at >= s->end) return "the end of the text";
    if (*s->at == '/' || *s->at == '#')
        return *s->at == '/' ? "'/'; JSON has no comments" : "'#'; JSON has no comments";
    if (*s->at < 0x20 || *s->at >= 0x7f)
        snprintf(out, 24, "the byte 0x%02x", *s->at);
    else
        snprintf(out, 24, "'%c'", *s->at);
    return out;
}

static bool is_digit(const struct scan *s)
{
    return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

static bool hex4(const unsigned char *p, const unsigned char *end, unsigned *out)
{
    if (end - p < 4) return false;
    unsigned v = 0;
    for (int i = 0; i < 4; i++) {
        if ((p[i] < '0' || p[i] > '9') && (p[i] < 'a' || p[i] > 'f') && (p[i] < 'A' || p[i] > 'F'))
            return false;
        v = v * 16 + (unsigned)(p[i] <= '9' ? p[i] - '0' : (p[i] | 0x20) - 'a' + 10);
    }
    *out = v;
    return true;
}

static bool scan_escape(struct scan *s)
{
    unsigned code, low;
    s->at++;
    if (s->at >= s->end) return fail(s, LX_E_SYNTAX, "the text ends inside a string");
    if (strchr("\"\\/bfnrt", *s->at) && *s->at) return s->at++, true;
    if (*s->at != 'u' || !hex4(s->at + 1, s->end, &code))
        return fail(s, LX_E_SYNTAX, "a bad escape in a string; write \\\\ for a backslash");
    if (code == 0) return fail(s, LX_E_SYNTAX, "a NUL character in a string");
    const unsigned char *next = s->at + 5;
    if (code >= 0xd800 && code <= 0xdfff) {
        if (code > 0xdbff || s->end - next < 6 || next[0] != '\\' || next[1] != 'u' ||
            !hex4(next + 2, s->end, &low) || low < 0xdc00 || low > 0xdfff)
            return fail(s, LX_E_SYNTAX,
                        "half of a surrogate pair in a string; write both halves or the character itself");
        next += 6;
    }
    s->at = next;
    return true;
}

/* Decodes the escape at `*at`, checked by scan_escape, and moves past it. */
static unsigned escaped(const unsigned char **at, const unsigned char *end)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    unsigned code = (*at)[1], low = 0;
    *at += 2;
    if (code != 'u') {
        const char *known = strchr(from, (int)code);
        return known ? (unsigned)to[known - from] : code;
    }
    hex4(*at, end, &code);
    *at += 4;
    if (code < 0xd800 || code > 0xdfff) return code;
    hex4(*at + 2, end, &low);
    *at += 6;
    return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
}

/* Stores a string of `n` bytes between its quotes; unescaped it is no longer. */
static const char *keep_string(struct scan *s, const unsigned char *from, size_t n, bool has_escapes)
{
    char *text = arena_alloc(&s->json->memory, n + 1), *out = text; /* zero-filled after the string */
    if (!has_escapes) return memcpy(text, from, n);
    for (const unsigned char *at = from; at < from + n;)
        if (*at == '\\')
            out += encode_character(escaped(&at, s->end), out);
        else
            *out++ = (char)*at++;
    return text;
}

/* NULL: an error. */
static const char *scan_string(struct scan *s)
{
    const unsigned char *from = ++s->at;
    bool has_escapes = false;
    while (s->at < s->end) {
        unsigned char c = *s->at;
        if (c == '"') return s->at++, keep_string(s, from, (size_t)(s->at - 1 - from), has_escapes);
        if (c == '\\') {
            has_escapes = true;
            if (!scan_escape(s)) return NULL;
            continue;
        }
        if (c < 0x20 || c == 0x7f)
            return fail(s, LX_E_SYNTAX,
                        "a control character (0x%02x) in a string; is its closing quote missing?", c),
                   NULL;
        int n = c < 0x80 ? 1 : utf8_length((const char *)s->at, (size_t)(s->end - s->at));
        if (n == 0) return fail(s, LX_E_SYNTAX, "not UTF-8 (byte 0x%02x); save the file as UTF-8", c), NULL;
        s->at += n;
    }
    return fail(s, LX_E_SYNTAX, "the text ends inside a string"), NULL;
}

/* Parses with a decimal point in any locale of the calling program. */
static bool keep_decimal(struct scan *s, struct json_value *v, size_t length)
{
    char copy[64];
    if (length > 60) return fail(s, LX_E_RANGE, "a number of %zu characters; at most 60 are read", length);
    memcpy(copy, s->at, length);
    copy[length] = 0;
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!plain) memory_out();
    v->number = strtod_l(copy, NULL, plain);
    freelocale(plain);
    return isfinite(v->number) ? true : fail(s, LX_E_RANGE, "a number too large for a double");
}

/* Skips at least one digit; `where` for the error. */
static bool scan_digits(struct scan *s, const char *where)
{
    char seen_text[24];
    if (!is_digit(s))
        return fail(s, LX_E_SYNTAX, "expected a digit%s, found %s", where, scan_seen(s, seen_text));
    while (is_digit(s)) s->at++;
    return true;
}

static bool scan_number(struct scan *s, struct json_value *v)
{
    const unsigned char *start = s->at;
    bool negative = *start == '-', integer = true, fits = true;
    uint64_t value = 0;
    s->at += negative;
    const unsigned char *digits = s->at;
    if (s->end - s->at > 1 && *s->at == '0' && s->at[1] >= '0' && s->at[1] <= '9')
        return fail(s, LX_E_SYNTAX, "a number may not begin with 0; remove the zeros");
    if (!scan_digits(s, "")) return false;
    for (; digits < s->at; digits++)
        fits = fits && !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_add_overflow(value, (uint64_t)(*digits - '0'), &value);
    if (s->at < s->end && *s->at == '.') {
        integer = false;
        s->at++;
        if (!scan_digits(s, " after the point")) return false;
    }
    if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
        integer = false;
        s->at++;
        if (s->at < s->end && (*s->at == '+' || *s->at == '-')) s->at++;
        if (!scan_digits(s, " in the exponent")) return false;
    }
    size_t length = (size_t)(s->at - start);
    s->at = start;
    if (integer && fits && value <= LX_INT_MAX) {
        v->number = negative ? -(double)value : (double)value;
    } else {
        if (integer && (!fits || (negative && value > UINT64_C(1) << 63)))
            return fail(s, LX_E_RANGE, "an integer beyond 2^53 (9007199254740992) that 64 bits do not hold");
        v->wide = integer;
        if (integer) v->bits = (int64_t)(negative ? 0 - value : value);
        if (!keep_decimal(s, v, length)) return false;
    }
    s->at = start + length;
    return true;
}

static bool scan_word(struct scan *s, struct json_value *v)
{
    static const char *const words[] = {[JSON_NULL] = "null", [JSON_FALSE] = "false", [JSON_TRUE] = "true"};
    char seen_text[24];
    for (unsigned char kind = 0; kind < 3; kind++) {
        size_t n = strlen(words[kind]);
        if ((size_t)(s->end - s->at) < n || memcmp(s->at, words[kind], n) != 0) continue;
        v->kind = kind;
        s->at += n;
        return true;
    }
    if (*s->at == 'N' || *s->at == 'I' || *s->at == 'n' || *s->at == 'i')
        return fail(s, LX_E_SYNTAX,
                    "not a JSON value; NaN and Infinity do not exist in JSON, write a number");
    return fail(s, LX_E_SYNTAX,
                "expected a value (a string in quotes, a number, true, false, null, [ or {), found %s",
                scan_seen(s, seen_text));
}

static bool scan_key(struct scan *s)
{
    char seen_text[24];
    if (s->at >= s->end || *s->at != '"')
        return fail(s, LX_E_SYNTAX, "expected a key in quotes, found %s", scan_seen(s, seen_text));
    s->key_line = s->line;
    s->key_column = (int)(s->at - s->line_start) + 1;
    s->key = scan_string(s);
    if (!s->key) return false;
    skip_space(s);
    if (s->at >= s->end || *s->at != ':')
        return fail(s, LX_E_SYNTAX, "expected ':' after a key, found %s", scan_seen(s, seen_text));
    s->at++;
    skip_space(s);
    return true;
}

/* Adds a value that begins here to its parent. NULL: an error. */
static struct json_value *scan_add_value(struct scan *s)
{
    /* More values than any file needs? */
    if (s->count >= JSON_MAX_VALUES && (s->at - s->begin) / JSON_BYTES_PER_VALUE < s->count)
        return fail(s, LX_E_LIMIT,
                    "more than %d values of fewer than %d bytes each in one file, which is more than any "
                    "graph that is planned needs; split it",
                    JSON_MAX_VALUES, JSON_BYTES_PER_VALUE),
               NULL;
    s->count++;
    struct json_value *v = arena_alloc(&s->json->memory, sizeof *v);
    v->place = (struct json_place){s->line, (int)(s->at - s->line_start) + 1,
                                   s->key_line == s->line ? s->key_column : 0};
    v->key = s->key;
    s->key_line = 0; /* inner values have their own place, or none */
    s->key = NULL;
    if (s->depth > 0) {
        *s->open[s->depth - 1].end = v;
        s->open[s->depth - 1].end = &v->next;
    } else
        s->json->root = v;
    return v;
}

/* Reads a value; only opens an array or object. */
static bool scan_value(struct scan *s)
{
    if (s->at >= s->end) return fail(s, LX_E_SYNTAX, "the text ends where a value was expected");
    struct json_value *v = scan_add_value(s);
    if (!v) return false;
    unsigned char c = *s->at;
    if (c == '{' || c == '[') {
        if (s->depth >= JSON_MAX_DEPTH)
            return fail(s, LX_E_LIMIT, "nested deeper than %d levels", JSON_MAX_DEPTH);
        v->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        s->open[s->depth++] = (struct open_value){(char)c, &v->child};
        s->at++;
        return true;
    }
    v->kind = c == '"' ? JSON_STRING : JSON_NUMBER;
    if (c == '"') return (v->text = scan_string(s)) != NULL;
    if (c == '-' || (c >= '0' && c <= '9')) return scan_number(s, v);
    return scan_word(s, v);
}

static bool scan_all(struct scan *s)
{
    char seen_text[24];
    if (s->end - s->at >= 2 && (memcmp(s->at, "\xff\xfe", 2) == 0 || memcmp(s->at, "\xfe\xff", 2) == 0))
        return fail(s, LX_E_SYNTAX, "UTF-16 text; save the file as UTF-8");
    skip_space(s);
    if (s->at >= s->end) return fail(s, LX_E_SYNTAX, "the file is empty; a pattern begins with '{'");
    if (!scan_value(s)) return false;
    bool opened = s->depth > 0;
    while (s->depth > 0) {
        bool object = s->open[s->depth - 1].begins == '{';
        char close = object ? '}' : ']';
        skip_space(s);
        if (s->at >= s->end)
            return fail(s, LX_E_SYNTAX, "the text ends inside %s; '%c' is missing",
                        object ? "an object" : "an array", close);
        if (*s->at == close) {
            s->depth--;
            s->at++;
            opened = false;
            continue;
        }
        if (!opened) {
            if (*s->at != ',')
                return fail(s, LX_E_SYNTAX, "expected ',' or '%c', found %s", close, scan_seen(s, seen_text));
            s->at++;
            skip_space(s);
            if (s->at < s->end && *s->at == close)
                return fail(s, LX_E_SYNTAX, "a comma before '%c'; remove it", close);
        }
        if (object && !scan_key(s)) return false;
        int before = s->depth;
        if (!scan_value(s)) return false;
        opened = s->depth > before;
    }
    skip_space(s);
    if (s->at < s->end)
        return fail(s, LX_E_SYNTAX, "text after the end of the value: %s", scan_seen(s, seen_text));
    return true;
}

bool json_scan(struct json *j, const char *text, size_t length, lx_status *st)
{
    const unsigned char *p = (const unsigned char *)text;
    struct scan s = {.json = j, .begin = p, .at = p, .end = p + length, .line_start = p, .line = 1, .st = st};
    return scan_all(&s);
}
