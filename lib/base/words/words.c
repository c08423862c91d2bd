/* Edit distances for misspelt words; open addressing with linear probing over a power of two of slots, at
 * most half full, for sets of names; numbers with units; printable names, with their widths in terminal
 * columns. */
#include "base/words/words.h"
#include "base/base.h"

#include <wchar.h>

enum { LONGEST_WORD = 40 };

/* Edit distance: insert, remove, replace, swap neighbours. */
static int words_distance(const char *a, const char *b)
{
    int row[3][LONGEST_WORD + 1];
    size_t la = strlen(a), lb = strlen(b);
    if (la > LONGEST_WORD || lb > LONGEST_WORD) return LONGEST_WORD;
    for (size_t i = 0; i <= la; i++) {
        int *now = row[i % 3], *one = row[(i + 2) % 3], *two = row[(i + 1) % 3];
        for (size_t j = 0; j <= lb; j++) {
            if (i == 0 || j == 0) {
                now[j] = (int)(i + j);
                continue;
            }
            int best = one[j - 1] + (a[i - 1] != b[j - 1]);
            if (one[j] + 1 < best) best = one[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && two[j - 2] + 1 < best)
                best = two[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[la % 3][lb];
}

const char *nearest(const char *word, const char *const *list)
{
    const char *best = NULL;
    int least = (int)strlen(word) / 3 + 2; /* beyond this it would be a guess */
    for (; *list; list++) {
        int d = words_distance(word, *list);
        if (*word && strncmp(word, *list, strlen(word)) == 0) d = 0; /* a prefix of one */
        if (d < least) least = d, best = *list;
    }
    return best;
}

const char *words_listed(const char *const *list, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (const char *const *w = list; *w && n + 10 < size; w++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", w == list ? "" : ", ", *w);
    return out;
}

bool unknown_word(const char *what, const char *word, const char *const *list, enum lx_code code,
                  lx_status *st)
{
    const char *near = nearest(word, list);
    SCOPED(text_free) struct text known = {0};
    for (const char *const *w = list; *w; w++) text_format(&known, "%s%s", w == list ? "" : ", ", *w);
    if (near)
        status_set(st, code, "%s \"%s\"; did you mean \"%s\"? There are: %s", what, word, near,
                   known.at ? known.at : "");
    else
        status_set(st, code, "%s \"%s\"; there are: %s", what, word, known.at ? known.at : "none");
    return false;
}

/* The slot of `key`, or the empty one for it. The table is never full. */
static uint32_t names_slot_of(const struct names *n, const char *key)
{
    uint64_t h = hash_bytes(HASH_START, key, strlen(key));
    uint32_t i = (uint32_t)(h ^ (h >> 32)) & (n->room - 1);
    while (n->key[i] && strcmp(n->key[i], key) != 0) i = (i + 1) & (n->room - 1);
    return i;
}

static void names_grow(struct names *n)
{
    struct names bigger = {.room = n->room ? n->room * 2 : 64};
    bigger.key = mem_zeroed(bigger.room, sizeof *bigger.key + sizeof *bigger.value);
    bigger.value = (int32_t *)(bigger.key + bigger.room);
    for (uint32_t i = 0; i < n->room; i++) {
        if (!n->key[i]) continue;
        uint32_t to = names_slot_of(&bigger, n->key[i]);
        bigger.key[to] = n->key[i];
        bigger.value[to] = n->value[i];
    }
    bigger.count = n->count;
    names_free(n);
    *n = bigger;
}

enum names_result names_add(struct names *n, const char *key, int32_t value)
{
    if (n->count * 2 >= n->room) names_grow(n);
    uint32_t i = names_slot_of(n, key);
    if (n->key[i]) return NAMES_KNOWN;
    n->key[i] = key;
    n->value[i] = value;
    n->count++;
    return NAMES_ADDED;
}

int32_t names_find(const struct names *n, const char *key)
{
    if (n->room == 0) return -1;
    uint32_t i = names_slot_of(n, key);
    return n->key[i] ? n->value[i] : -1;
}

void names_free(struct names *n)
{
    mem_free(n->key);
    *n = (struct names){0};
}

struct words grouped(int64_t n)
{
    char plain[24];
    struct words w;
    size_t out = 0;
    snprintf(plain, sizeof plain, "%" PRId64, n);
    size_t length = strlen(plain), sign = n < 0;
    for (size_t i = 0; i < length; i++) {
        if (i > sign && (length - i) % 3 == 0) w.at[out++] = ',';
        w.at[out++] = plain[i];
    }
    w.at[out] = 0;
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
    /* A nonzero gap must not print as zero. */
    double p = share * 100;
    if (p > 0 && p < 0.001)
        snprintf(w.at, sizeof w.at, "< 0.001 %%");
    else
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
    static const struct {
        double seconds;
        const char *unit;
    } units[] = {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}};
    enum { LAST = sizeof units / sizeof *units - 1 };
    size_t u = seconds == 0 ? LAST : 0;
    while (u < LAST && fabs(seconds) / units[u].seconds >= 999.5) u++;
    double v = seconds / units[u].seconds, size = fabs(v);
    struct words w;
    snprintf(w.at, sizeof w.at, "%.*f %s",
             size >= 99.95 || size == 0 ? 0
             : size >= 9.995            ? 1
                                        : 2,
             v, units[u].unit);
    return w;
}

struct words in_micros(double us)
{
    return in_time(us * 1e-6);
}

struct words counted(int64_t n, const char *thing)
{
    struct words w;
    snprintf(w.at, sizeof w.at, "%.30s %.40s%s", grouped(n).at, thing, n == 1 ? "" : "s");
    return w;
}

/* Copies the whole name, printable; sets `*width`. `out` has room. */
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

/* Bytes of the first characters within `columns`, with combining marks on the last. */
static size_t words_bytes(const char *text, int columns)
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
    /* Nearly all names are ASCII: no decoding, width = length. */
    const char *s = name;
    while (*s >= 0x20 && *s < 0x7f) s++;
    if (!*s && (!columns || s - name <= columns)) return mem_string(name);
    char *out = mem_alloc(strlen(name) + 2);
    int width;
    clean(name, out, &width);
    if (columns > 0 && width > columns) {
        /* Cuts the middle: names mostly differ at either end. */
        int head = columns / 2, tail = columns - 1 - head;
        size_t keep = words_bytes(out, head), from = words_bytes(out, width - tail);
        while (columns_of(out + from) > tail)
            from += words_bytes(out + from, 1) ? words_bytes(out + from, 1) : 1;
        out[keep] = '~';
        memmove(out + keep + 1, out + from, strlen(out + from) + 1);
    }
    return out;
}

void add_printable(struct text *out, const char *name, int columns)
{
    OWNED char *clean = printable(name, columns);
    text_add(out, clean);
}

int next_character(const char *text, uint32_t *code, int *columns)
{
    if (!*text) return 0;
    int length = utf8_length(text, strnlen(text, 4)), w = 1;
    uint32_t c = length == 1 ? (unsigned char)*text : (unsigned char)*text & (0x7fu >> length);
    for (int i = 1; i < length; i++) c = c << 6 | ((unsigned char)text[i] & 0x3fu);
    bool harmful = c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
                   (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff ||
                   c == 0xfffe || c == 0xffff;
    if (!length || harmful) c = '?';
    if (c >= 0x80) w = wcwidth((wchar_t)c);
    *code = c;
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
