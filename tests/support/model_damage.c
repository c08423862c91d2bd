#include "support/model_damage.h"

static const char *const damage_snippets[] = {"(",
                                              ")",
                                              "{",
                                              "}",
                                              "<",
                                              ">",
                                              "[",
                                              "]",
                                              "\"",
                                              "%",
                                              ",",
                                              "->",
                                              "-1",
                                              "?",
                                              "x",
                                              "#",
                                              "9223372036854775807",
                                              "dense<",
                                              "tensor<",
                                              "loc(",
                                              "/*",
                                              "//",
                                              "while",
                                              "=",
                                              "\n",
                                              "f32[0]",
                                              "tensor<0xf32>",
                                              "0x",
                                              "-",
                                              ":",
                                              "tensor<?xf32>"};
static const char *const damage_numbers[] = {"0",
                                             "1",
                                             "2",
                                             "3",
                                             "-1",
                                             "-2",
                                             "7",
                                             "16",
                                             "31",
                                             "64",
                                             "127",
                                             "4096",
                                             "65536",
                                             "2147483648",
                                             "1048577",
                                             "4294967296",
                                             "9007199254740992",
                                             "9223372036854775807",
                                             "18446744073709551616",
                                             "1e400",
                                             "?"};

static size_t damage_put(char *to, size_t n, size_t room, size_t at, size_t old, const char *s, size_t m)
{
    if (n - old + m > room) return n;
    memmove(to + at + m, to + at + old, n - at - old);
    memcpy(to + at, s, m);
    return n - old + m;
}

static bool damage_fits(char c, bool word)
{
    return word ? isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-'
                : isdigit((unsigned char)c) != 0;
}

/* A word or a number at or behind a place; its length, 0: none within reach. */
static size_t damage_find(struct rng *r, const char *text, size_t n, bool word, size_t *at)
{
    size_t i = n ? (size_t)rng_below(r, n) : 0, most = i + 4096 < n ? i + 4096 : n;
    while (i < most && damage_fits(text[i], word)) i++;
    while (i < most && !damage_fits(text[i], word)) i++;
    *at = i;
    while (i < n && damage_fits(text[i], word)) i++;
    return *at < most ? i - *at : 0;
}

static size_t damage_number(struct rng *r, char *to, size_t n, size_t room, bool everywhere)
{
    size_t at, length = damage_find(r, to, n, false, &at);
    const char *s = damage_numbers[rng_below(r, sizeof damage_numbers / sizeof *damage_numbers)];
    char old[24];
    if (length == 0 || length >= sizeof old) return n;
    memcpy(old, to + at, length);
    if (!everywhere) return damage_put(to, n, room, at, length, s, strlen(s));
    size_t m = strlen(s) < length ? strlen(s) : length; /* of one length: the text stays where it is */
    for (size_t i = 0; i + length <= n; i++)
        if (memcmp(to + i, old, length) == 0 && (i == 0 || !isdigit((unsigned char)to[i - 1])) &&
            (i + length == n || !isdigit((unsigned char)to[i + length]))) {
            memset(to + i, '0', length - m);
            memcpy(to + i + length - m, s, m);
        }
    return n;
}

static size_t damage_word(struct rng *r, char *to, size_t n, size_t room)
{
    size_t from, at, length = damage_find(r, to, n, true, &from), old = damage_find(r, to, n, true, &at);
    char word[256];
    if (length == 0 || length >= sizeof word || old == 0) return n;
    memcpy(word, to + from, length);
    return damage_put(to, n, room, at, old, word, length);
}

/* Bytes doubled or cut out, by `k` and a place. */
static size_t damage_piece(char *to, size_t n, size_t room, size_t at, size_t k, bool doubled)
{
    char piece[64];
    if (k > n - at) k = n - at;
    memcpy(piece, to + at, k);
    return damage_put(to, n, room, at, doubled ? 0 : k, piece, doubled ? k : 0);
}

size_t damage_model(struct rng *r, char *to, const char *from, size_t length, size_t room)
{
    size_t n = length, at = (size_t)rng_below(r, length + 1), k = 1 + (size_t)rng_below(r, 64);
    const char *s = damage_snippets[rng_below(r, sizeof damage_snippets / sizeof *damage_snippets)];
    memcpy(to, from, length);
    switch (rng_below(r, 10)) {
    case 0:
        for (size_t i = 0; i < 1 + k % 4 && n; i++) to[rng_below(r, n)] = (char)rng_below(r, 256);
        return n;
    case 1: return at;
    case 2:
    case 3: return damage_piece(to, n, room, at, k, k % 2 != 0);
    case 4: return damage_put(to, n, room, at, 0, s, strlen(s));
    case 5:
        if (at < n) to[at] = (char)(to[at] + (k % 2 ? 1 : -1));
        return n;
    case 6: return damage_number(r, to, n, room, false);
    case 7: return damage_number(r, to, n, room, true);
    default: return damage_word(r, to, n, room);
    }
}
