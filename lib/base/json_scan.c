/* A strict reading of RFC 8259 that builds nothing: it checks the text and records where each value
 * begins. One pass, no recursion, memory for the places only. */
#include "base/json.h"
#include "base/fail.h"
#include "base/checked.h"
#include "base/text.h"
#include "base/vec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct scan {
    const char *file;
    const unsigned char *at, *end, *line_start;
    int line;
    int key_line, key; /* of the last key: its line and column */
    VEC(struct json_place) places;
    VEC(struct json_wide) wide;
    lx_status *st;
};

__attribute__((format(printf, 3, 4))) static bool fail(struct scan *s, enum lx_code code, const char *format,
                                                       ...)
{
    va_list args;
    va_start(args, format);
    status_vset_at(s->st, code, s->file, s->line, (int)(s->at - s->line_start) + 1, format, args);
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

/* How the character here would be named to a person. */
static const char *seen(const struct scan *s, char out[24])
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

static bool is_hex(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool hex4(const unsigned char *p, const unsigned char *end, unsigned *out)
{
    if (end - p < 4) return false;
    unsigned v = 0;
    for (int i = 0; i < 4; i++) {
        if (!is_hex(p[i])) return false;
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

static bool scan_string(struct scan *s)
{
    for (s->at++; s->at < s->end;) {
        if (*s->at == '"') return s->at++, true;
        if (*s->at == '\\') {
            if (!scan_escape(s)) return false;
            continue;
        }
        if (*s->at < 0x20 || *s->at == 0x7f)
            return fail(s, LX_E_SYNTAX,
                        "a control character (0x%02x) in a string; is its closing quote missing?", *s->at);
        int n = utf8_length((const char *)s->at, (size_t)(s->end - s->at));
        if (n == 0) return fail(s, LX_E_SYNTAX, "not UTF-8 (byte 0x%02x); save the file as UTF-8", *s->at);
        s->at += n;
    }
    return fail(s, LX_E_SYNTAX, "the text ends inside a string");
}

/* An integer beyond 2^53, exactly; `size` without its sign. */
static bool keep_wide(struct scan *s, bool negative, uint64_t size, bool fits)
{
    struct json_wide w = {s->places.count - 1, (int64_t)(negative ? 0 - size : size)};
    if (!fits || (negative && size > UINT64_C(1) << 63))
        return fail(s, LX_E_RANGE, "an integer beyond 2^53 (9007199254740992) that 64 bits do not hold");
    return VEC_PUSH(&s->wide, w) ? true : status_no_memory(s->st);
}

static bool scan_number(struct scan *s)
{
    const unsigned char *start = s->at;
    char seen_text[24];
    bool integer = true, fits = true;
    uint64_t value = 0;
    if (*s->at == '-') s->at++;
    if (!is_digit(s)) return fail(s, LX_E_SYNTAX, "expected a digit, found %s", seen(s, seen_text));
    if (*s->at == '0' && s->at + 1 < s->end && s->at[1] >= '0' && s->at[1] <= '9')
        return fail(s, LX_E_SYNTAX, "a number may not begin with 0; remove the zeros");
    for (; is_digit(s); s->at++)
        fits = fits && !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_add_overflow(value, (uint64_t)(*s->at - '0'), &value);
    if (s->at < s->end && *s->at == '.') {
        integer = false;
        s->at++;
        if (!is_digit(s))
            return fail(s, LX_E_SYNTAX, "expected a digit after the point, found %s", seen(s, seen_text));
        while (is_digit(s)) s->at++;
    }
    if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
        integer = false;
        s->at++;
        if (s->at < s->end && (*s->at == '+' || *s->at == '-')) s->at++;
        if (!is_digit(s))
            return fail(s, LX_E_SYNTAX, "expected a digit in the exponent, found %s", seen(s, seen_text));
        while (is_digit(s)) s->at++;
    }
    size_t length = (size_t)(s->at - start);
    s->at = start;
    if (integer && (!fits || value > LX_INT_MAX) && !keep_wide(s, *start == '-', value, fits)) return false;
    /* cJSON cuts a number at 63 characters; nobody writes a longer one by hand. */
    if (length > 60) return fail(s, LX_E_RANGE, "a number of %zu characters; at most 60 are read", length);
    char copy[64];
    memcpy(copy, start, length);
    copy[length] = 0;
    if (!isfinite(strtod(copy, NULL))) return fail(s, LX_E_RANGE, "a number too large for a double");
    s->at = start + length;
    return true;
}

static bool scan_word(struct scan *s)
{
    static const char *const words[] = {"true", "false", "null"};
    char seen_text[24];
    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(s->end - s->at) >= n && memcmp(s->at, words[i], n) == 0) return s->at += n, true;
    }
    if (*s->at == 'N' || *s->at == 'I' || *s->at == 'n' || *s->at == 'i')
        return fail(s, LX_E_SYNTAX,
                    "not a JSON value; NaN and Infinity do not exist in JSON, write a number");
    return fail(s, LX_E_SYNTAX,
                "expected a value (a string in quotes, a number, true, false, null, [ or {), found %s",
                seen(s, seen_text));
}

static bool scan_key(struct scan *s)
{
    char seen_text[24];
    if (s->at >= s->end || *s->at != '"')
        return fail(s, LX_E_SYNTAX, "expected a key in quotes, found %s", seen(s, seen_text));
    s->key_line = s->line;
    s->key = (int)(s->at - s->line_start) + 1;
    if (!scan_string(s)) return false;
    skip_space(s);
    if (s->at >= s->end || *s->at != ':')
        return fail(s, LX_E_SYNTAX, "expected ':' after a key, found %s", seen(s, seen_text));
    s->at++;
    skip_space(s);
    return true;
}

/* Notes the place of a value and reads it; an array or object is only opened. */
static bool scan_value(struct scan *s, char *stack, int *depth)
{
    if (s->at >= s->end) return fail(s, LX_E_SYNTAX, "the text ends where a value was expected");
    if (s->places.count >= JSON_MAX_VALUES)
        return fail(
            s, LX_E_LIMIT,
            "more than %d values in one file, which is more than any graph that is planned needs; split it",
            JSON_MAX_VALUES);
    if (!VEC_PUSH(&s->places, (struct json_place){s->line, (int)(s->at - s->line_start) + 1,
                                                  s->key_line == s->line ? s->key : 0}))
        return status_no_memory(s->st);
    s->key_line = 0; /* what stands inside has its own, or none */
    unsigned char c = *s->at;
    if (c == '{' || c == '[') {
        if (*depth >= JSON_MAX_DEPTH)
            return fail(s, LX_E_LIMIT, "nested deeper than %d levels", JSON_MAX_DEPTH);
        stack[(*depth)++] = (char)c;
        s->at++;
        return true;
    }
    if (c == '"') return scan_string(s);
    if (c == '-' || (c >= '0' && c <= '9')) return scan_number(s);
    return scan_word(s);
}

static bool scan_all(struct scan *s)
{
    char stack[JSON_MAX_DEPTH], seen_text[24];
    int depth = 0;
    if (s->end - s->at >= 2 && (memcmp(s->at, "\xff\xfe", 2) == 0 || memcmp(s->at, "\xfe\xff", 2) == 0))
        return fail(s, LX_E_SYNTAX, "UTF-16 text; save the file as UTF-8");
    skip_space(s);
    if (s->at >= s->end) return fail(s, LX_E_SYNTAX, "the file is empty; a pattern begins with '{'");
    if (!scan_value(s, stack, &depth)) return false;
    bool opened = depth > 0;
    while (depth > 0) {
        bool object = stack[depth - 1] == '{';
        char close = object ? '}' : ']';
        skip_space(s);
        if (s->at >= s->end)
            return fail(s, LX_E_SYNTAX, "the text ends inside %s; '%c' is missing",
                        object ? "an object" : "an array", close);
        if (*s->at == close) {
            depth--;
            s->at++;
            opened = false;
            continue;
        }
        if (!opened) {
            if (*s->at != ',')
                return fail(s, LX_E_SYNTAX, "expected ',' or '%c', found %s", close, seen(s, seen_text));
            s->at++;
            skip_space(s);
            if (s->at < s->end && *s->at == close)
                return fail(s, LX_E_SYNTAX, "a comma before '%c'; remove it", close);
        }
        if (object && !scan_key(s)) return false;
        int before = depth;
        if (!scan_value(s, stack, &depth)) return false;
        opened = depth > before;
    }
    skip_space(s);
    if (s->at < s->end)
        return fail(s, LX_E_SYNTAX, "text after the end of the value: %s", seen(s, seen_text));
    return true;
}

bool json_scan(struct json *j, const char *file, const char *text, size_t length, lx_status *st)
{
    const unsigned char *p = (const unsigned char *)text;
    struct scan s = {.file = file, .at = p, .end = p + length, .line_start = p, .line = 1, .st = st};
    if (!scan_all(&s)) {
        VEC_FREE(&s.places);
        VEC_FREE(&s.wide);
        return false;
    }
    j->places = s.places.at;
    j->place_count = s.places.count;
    j->wide = s.wide.at;
    j->wide_count = s.wide.count;
    return true;
}
