/* Numbers with units and separators, and names made safe: nothing that comes from a file may move the cursor,
 * and widths are counted in columns of a terminal, not in bytes. */
#include "base/words/human_words.h"
#include "base/words/digits.h"
#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

struct words grouped(int64_t n)
{
    struct words w;
    snprintf(w.at, sizeof w.at, "%s", digits_in_groups(n).at);
    return w;
}

struct words in_bytes(int64_t n)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct words w;
    double v = fabs((double)n) / 1024;
    int unit = 0;
    for (; v >= 1024 && unit < 5; unit++) v /= 1024;
    if (unit == 0 && v < 10)
        snprintf(w.at, sizeof w.at, "%.30s B", grouped(n).at);
    else
        snprintf(w.at, sizeof w.at, "%.30s B (%s%.*f %s)", grouped(n).at, n < 0 ? "-" : "",
                 v < 10    ? 2
                 : v < 100 ? 1
                           : 0,
                 v, units[unit]);
    return w;
}

struct words in_enough(int64_t n, bool brief)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct words w, all;
    double v = (double)n / 1024;
    int unit = 0;
    for (; v >= 1000 && unit < 5; unit++) v /= 1024;
    double step = unit ? 100 : 10;
    if (unit == 0 && v < 10) return in_bytes(n);
    snprintf(w.at, sizeof w.at, "%.6g %s", ceil(v * step - 1e-9) / step, units[unit]);
    if (brief) return w;
    snprintf(all.at, sizeof all.at, "%.30s B (%.30s)", grouped(n).at, w.at);
    return all;
}

struct words in_percent(double share)
{
    struct words w;
    /* A gap that is not zero must not look like zero. */
    double p = share * 100;
    snprintf(w.at, sizeof w.at, p != 0 && fabs(p) < 0.05 ? "%.2g %%" : "%.1f %%", p);
    return w;
}

struct words in_gap(double gap)
{
    struct words w = {"not known, nothing above 0 is proved"};
    return isinf(gap) ? w : in_percent(gap);
}

double share_shown(double share)
{
    return share < 1 ? floor(share * 1000) / 1000 : share;
}

struct words in_time(double seconds)
{
    struct words w;
    if (seconds < 1)
        snprintf(w.at, sizeof w.at, "%.*f ms", seconds < 0.01 ? 3 : 1, seconds * 1e3);
    else
        snprintf(w.at, sizeof w.at, "%.2f s", seconds);
    return w;
}

struct words in_micros(double us)
{
    struct words w;
    snprintf(w.at, sizeof w.at, "%.*f us", us < 1 ? 3 : 2, us);
    return w;
}

struct words counted(int64_t n, const char *thing)
{
    struct words w;
    snprintf(w.at, sizeof w.at, "%.30s %.40s%s", grouped(n).at, thing, n == 1 ? "" : "s");
    return w;
}

/* One UTF-8 character: its length, or 0 if the bytes are none. */
static int human_words_decode(const unsigned char *s, uint32_t *c)
{
    int length = *s < 0x80                 ? 1
                 : *s >= 0xc2 && *s < 0xe0 ? 2
                 : *s >= 0xe0 && *s < 0xf0 ? 3
                 : *s >= 0xf0 && *s < 0xf5 ? 4
                                           : 0;
    if (!length) return 0;
    *c = length == 1 ? *s : *s & (0x7fu >> length);
    for (int i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
        *c = *c << 6 | (s[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool legal = *c >= least[length] && *c <= 0x10ffff && !(*c >= 0xd800 && *c < 0xe000);
    return legal ? length : 0;
}

static bool is_harmful(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff || c == 0xfffe ||
           c == 0xffff;
}

/* All of it, made harmless; its columns in `*width`. `out` has room for it. */
static void clean(const char *name, char *out, int *width)
{
    uint32_t c;
    int columns, length;
    *width = 0;
    for (const char *s = name; (length = next_character(s, &c, &columns)) > 0;
         s += length, *width += columns) {
        bool kept = c != '?' && length > 0;
        if (kept) memcpy(out, s, (size_t)length);
        if (!kept) *out = '?';
        out += kept ? length : 1;
    }
    *out = 0;
}

/* Bytes of the first characters that take at most so many columns, marks on the last one included. */
static size_t human_words_bytes_of(const char *text, int columns)
{
    uint32_t c;
    int width, length, used = 0;
    const char *s = text;
    while ((length = next_character(s, &c, &width)) > 0 && used + width <= columns) {
        used += width;
        s += length;
    }
    return (size_t)(s - text);
}

char *printable(const char *name, int columns)
{
    /* Nearly all names are: nothing to decode, and as wide as they are long. */
    const char *s = name;
    while (*s >= 0x20 && *s < 0x7f) s++;
    if (!*s && (!columns || s - name <= columns)) return mem_string(name);
    char *out = mem_alloc(strlen(name) + 2);
    int width;
    clean(name, out, &width);
    if (columns > 0 && width > columns) {
        /* The middle out: names that differ do so at either end. */
        int head = columns / 2, tail = columns - 1 - head;
        size_t keep = human_words_bytes_of(out, head), from = human_words_bytes_of(out, width - tail);
        while (columns_of(out + from) > tail)
            from += human_words_bytes_of(out + from, 1) ? human_words_bytes_of(out + from, 1) : 1;
        out[keep] = '~';
        memmove(out + keep + 1, out + from, strlen(out + from) + 1);
    }
    return out;
}

void add_printable(struct text *out, const char *name, int columns)
{
    char *clean = printable(name, columns);
    if (clean)
        text_add(out, clean);
    else
        out->failed = true;
    mem_free(clean);
}

int next_character(const char *text, uint32_t *code, int *columns)
{
    if (!*text) return 0;
    int length = human_words_decode((const unsigned char *)text, code);
    if (!length || is_harmful(*code)) *code = '?';
    uint32_t c = *code;
    int w = c < 0x80 ? 1 : wcwidth((wchar_t)c);
    *columns = w < 0 ? 1 : w;
    return length ? length : 1;
}

int encode_character(uint32_t code, char out[4])
{
    static const uint32_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = n - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[n] | code);
    return n;
}

int columns_of(const char *text)
{
    uint32_t c;
    int width, length, all = 0;
    for (; (length = next_character(text, &c, &width)) > 0; text += length) all += width;
    return all;
}
