/* Opcodes of pickles; see pickle.h. Integers are little-endian by the format. */
#include "export/pickle.h"

#include <string.h>

enum opcode {
    PROTO = 0x80,
    MARK = '(',
    STOP = '.',
    BININT = 'J',
    BININT1 = 'K',
    BININT2 = 'M',
    LONG1 = 0x8a,
    BINUNICODE = 'X',
    EMPTY_LIST = ']',
    EMPTY_DICT = '}',
    APPENDS = 'e',
    SETITEMS = 'u',
};

enum { MOST_IN_RUN = 1000 };

static void byte(struct text *t, unsigned b)
{
    char c = (char)(b & 0xff);
    text_add_n(t, &c, 1);
}

/* The low bytes first. */
static void bytes(struct text *t, uint64_t n, int count)
{
    for (int i = 0; i < count; i++, n >>= 8) byte(t, (unsigned)(n & 0xff));
}

void pickle_begin(struct text *t)
{
    byte(t, PROTO);
    byte(t, 2);
}

void pickle_end(struct text *t)
{
    byte(t, STOP);
}

/* Bytes that two's complement needs. */
static int pickle_width_of(int64_t n)
{
    int width = 1;
    while (width < 8 && (n < -((int64_t)1 << (8 * width - 1)) || n >= (int64_t)1 << (8 * width - 1))) width++;
    return width;
}

void pickle_int(struct text *t, int64_t n)
{
    if (n >= 0 && n <= 0xffff) {
        byte(t, n <= 0xff ? BININT1 : BININT2);
        bytes(t, (uint64_t)n, n <= 0xff ? 1 : 2);
    } else if (n >= INT32_MIN && n <= INT32_MAX) {
        byte(t, BININT);
        bytes(t, (uint64_t)n, 4);
    } else {
        byte(t, LONG1);
        byte(t, (unsigned)pickle_width_of(n));
        bytes(t, (uint64_t)n, pickle_width_of(n));
    }
}

/* Bytes that are not UTF-8 would make the whole file unreadable. */
static void add_text(struct text *t, const char *s)
{
    for (size_t left = strlen(s); left > 0;) {
        int n = utf8_length(s, left);
        text_add_n(t, n ? s : "?", n ? (size_t)n : 1);
        s += n ? n : 1;
        left -= n ? (size_t)n : 1;
    }
}

void pickle_string(struct text *t, const char *s)
{
    struct text clean = {0};
    add_text(&clean, s);
    byte(t, BINUNICODE);
    bytes(t, clean.length, 4);
    text_add_n(t, clean.at ? clean.at : "", clean.length);
    t->failed |= clean.failed;
    text_free(&clean);
}

void pickle_dict_begin(struct text *t)
{
    byte(t, EMPTY_DICT);
    byte(t, MARK);
}

void pickle_dict_end(struct text *t)
{
    byte(t, SETITEMS);
}

void pickle_list_begin(struct pickle_list *l, struct text *t)
{
    *l = (struct pickle_list){.t = t};
    byte(t, EMPTY_LIST);
    byte(t, MARK);
}

void pickle_list_next(struct pickle_list *l)
{
    if (l->in_run++ < MOST_IN_RUN) return;
    byte(l->t, APPENDS);
    byte(l->t, MARK);
    l->in_run = 1;
}

void pickle_list_end(struct pickle_list *l)
{
    byte(l->t, APPENDS);
}
