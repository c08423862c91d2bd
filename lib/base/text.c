/* A growing, always terminated string, whose room doubles from 256 bytes; and the escapes of JSON and XML. */
#include "base/base.h"

static void text_make_room(struct text *t, size_t more)
{
    if (t->room - t->length > more) return;
    size_t room = t->room < 256 ? 256 : t->room * 2;
    while (room - t->length <= more) {
        if (room > SIZE_MAX / 4) memory_out();
        room *= 2;
    }
    t->at = mem_resize(t->at, room);
    t->room = room;
}

void text_add_n(struct text *t, const char *s, size_t n)
{
    text_make_room(t, n);
    if (n) memcpy(t->at + t->length, s, n);
    t->length += n;
    t->at[t->length] = 0;
}

void text_add(struct text *t, const char *s)
{
    text_add_n(t, s, strlen(s));
}

void text_pad(struct text *t, char c, size_t times)
{
    text_make_room(t, times);
    memset(t->at + t->length, c, times);
    t->length += times;
    t->at[t->length] = 0;
}

void text_format(struct text *t, const char *format, ...)
{
    enum { USUAL = 80 };
    va_list args, again;
    text_make_room(t, USUAL);
    va_start(args, format);
    va_copy(again, args);
    size_t room =
        t->room - t->length < INT_MAX ? t->room - t->length : INT_MAX; /* some libraries reject more */
    int n = vsnprintf(t->at + t->length, room, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n >= room) {
        text_make_room(t, (size_t)n);
        vsnprintf(t->at + t->length, (size_t)n + 1, format, again);
    }
    va_end(again);
    if (n >= 0) t->length += (size_t)n;
    t->at[t->length] = 0;
}

void text_int(struct text *t, int64_t value)
{
    enum { MOST = 24 };
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t digits = 1;
    for (uint64_t more = left; more >= 10; more /= 10) digits++;
    text_make_room(t, MOST);
    if (value < 0) t->at[t->length++] = '-';
    t->length += digits;
    for (char *at = t->at + t->length; digits > 0; digits--, left /= 10) *--at = (char)('0' + left % 10);
    t->at[t->length] = 0;
}

int utf8_length(const char *s, size_t left)
{
    const unsigned char *p = (const unsigned char *)s;
    if (left == 0) return 0;
    int n = p[0] < 0x80                    ? 1
            : p[0] >= 0xc2 && p[0] <= 0xdf ? 2
            : (p[0] & 0xf0) == 0xe0        ? 3
            : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4
                                           : 0;
    if (left < (size_t)n) return 0;
    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if (n == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0))) return 0;
    if (n == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))) return 0;
    return n;
}

/* Direction and line marks, U+200E to U+2069, which a terminal or editor would obey. */
static bool turns_text(const char *s)
{
    unsigned code = (unsigned)(s[1] & 0x3f) << 6 | (unsigned)(s[2] & 0x3f);
    if ((unsigned char)*s != 0xe2) return false;
    return (code >= 0x0b && code <= 0x0f) || (code >= 0x28 && code <= 0x2e) || (code >= 0x66 && code <= 0x69);
}

void text_json_string(struct text *t, const char *s)
{
    size_t left = strlen(s), plain;
    text_add_n(t, "\"", 1);
    for (int n; left > 0; s += n, left -= (size_t)n) {
        /* Counts the bytes that need no escape in JSON. */
        size_t i = 0;
        while (s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '\\') i++;
        text_add_n(t, s, plain = i);
        s += plain;
        if ((left -= plain) == 0) break;
        int known = utf8_length(s, left);
        n = known ? known : 1;
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            text_format(t, "\\%c", c);
        else if (c == '\n')
            text_add(t, "\\n");
        else if (c == '\t')
            text_add(t, "\\t");
        else if (c < 0x20 || c == 0x7f)
            text_format(t, "\\u%04x", c);
        else if (known == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0)
            text_format(t, "\\u%04x", (unsigned char)s[1]);
        else if (known == 3 && turns_text(s))
            text_format(t, "\\u%04x",
                        0x2000u | ((unsigned)(s[1] & 0x3f) << 6 & 0xfc0) | (unsigned)(s[2] & 0x3f));
        else if (known)
            text_add_n(t, s, (size_t)known);
        else
            text_add(t, "\xef\xbf\xbd"); /* U+FFFD: file names may hold any bytes, JSON must not */
    }
    text_add_n(t, "\"", 1);
}

void text_xml(struct text *t, const char *s)
{
    static const char *const entities[128] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&apos;"};
    for (; *s; s++) {
        const char *entity = *s > 0 ? entities[(int)*s] : NULL;
        if (entity)
            text_add(t, entity);
        else
            text_add_n(t, (unsigned char)*s < 0x20 ? "?" : s, 1);
    }
}

void text_free(struct text *t)
{
    mem_free(t->at);
    *t = (struct text){0};
}

void text_json_number(struct text *t, double v)
{
    char s[40];
    if (!isfinite(v)) {
        text_add(t, isnan(v) ? "\"nan\"" : v > 0 ? "\"inf\"" : "\"-inf\"");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, v);
        if (strtod(s, NULL) == v) break;
    }
    text_add(t, s);
}

void text_json_ints(struct text *t, const char *key, const int64_t *values, int count)
{
    text_add_n(t, ", \"", 3);
    text_add(t, key);
    text_add_n(t, "\": [", 4);
    for (int i = 0; i < count; i++) {
        if (i) text_add_n(t, ", ", 2);
        text_int(t, values[i]);
    }
    text_add_n(t, "]", 1);
}
