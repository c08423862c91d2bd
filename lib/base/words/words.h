/* Words for people: the nearest known word to a misspelt one, tables of words, sets of names, numbers with
 * units, and names made safe for a screen. */
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* The word of the NULL-terminated list nearest to a misspelt one; NULL: none is near. */
const char *nearest(const char *word, const char *const *list);
/* Sets the error: WHAT "WORD"; did you mean ...? There are: ... An example of `what` is "there is no solver".
 * Always false. */
bool unknown_word(const char *what, const char *word, const char *const *list, enum lx_code code,
                  lx_status *st);

/* "a, b, c" of a NULL-terminated list, as much as fits. Returns `out`. */
const char *words_listed(const char *const *list, char *out, size_t size);

/* For a list X(id, word, ...), or words in brackets: defines the function from an id to its word, or
 * "unknown". */
#define LX_WORDS(function, type, LIST)      LX_TEXTS(function, type, LIST, LX_WORD_ROW)
#define LX_HELPS(function, type, LIST)      LX_TEXTS(function, type, LIST, LX_HELP_ROW)
#define LX_WORD_ROW(id, ...)                [id] = LX_FIRST(__VA_ARGS__, 0),
#define LX_HELP_ROW(id, ...)                [id] = LX_SECOND(__VA_ARGS__, 0, 0),
#define LX_FIRST(a, ...)                    a
#define LX_SECOND(a, b, ...)                b
#define LX_TEXTS(function, type, LIST, ROW) LX_WORDS_OF(function, type, LIST(ROW))
#define LX_WORDS_OF(function, type, ...)                                                                     \
    const char *function(type v)                                                                             \
    {                                                                                                        \
        static const char *const texts[] = {__VA_ARGS__};                                                    \
        return (unsigned)v < sizeof texts / sizeof *texts ? texts[v] : "unknown";                            \
    }

/* --- A set of names, numbered in the order of adding. The caller owns the strings. --- */

struct names {
    const char **key;
    int32_t *value;
    uint32_t count, room; /* room: a power of two, or 0 */
};

enum names_result { NAMES_ADDED, NAMES_KNOWN };
enum names_result names_add(struct names *n, const char *key, int32_t value);
/* The number of a name, or -1. */
int32_t names_find(const struct names *n, const char *key);
void names_free(struct names *n);

/* --- Numbers and names for people. ---
 * The functions return a small struct by value, so `grouped(n).at` can be an argument of a printing function:
 * the text lives until the end of the statement. */

struct words {
    char at[80];
};

/* 1,625,344 */
struct words grouped(int64_t n);
/* 1,625,344 B (1.55 MiB); with the bracket from 10 KiB on. */
struct words in_bytes(int64_t n);
/* A minimum size: 117,248 B (114.5 KiB), the bracket rounded up. `brief`: only the bracket; below 10 KiB
 * bytes. */
struct words in_enough(int64_t n, bool brief);
/* 14.3 % */
struct words in_percent(double share);
/* A gap above a bound: in percent, or in words if the bound is 0. */
struct words in_gap(double gap);
/* Rounds 0.9999 to 0.999 for three digits, so that less than 1 does not print as 1. */
double share_shown(double share);
/* 812 ns, 4.53 us, 29.2 ms, 4.56 s: every time that people read; JSON and CSV have plain microseconds or
 * seconds. */
struct words in_time(double seconds);
/* The same of microseconds. */
struct words in_micros(double us);
/* "1 buffer", "1,234 buffers" */
struct words counted(int64_t n, const char *thing);

/* A name from a file for a screen: control characters, broken UTF-8 and direction marks become '?'; one
 * longer than `columns` (0: no limit) has "~" for its middle. malloc'ed. */
char *printable(const char *name, int columns);
/* The same, appended to `out`. */
void add_printable(struct text *out, const char *name, int columns);
/* Decodes one character for a screen: `*code` ('?' if it must not be shown) and `*columns`, 0 for a combining
 * one. Returns its bytes, 0 at the end of the text. */
int next_character(const char *text, uint32_t *code, int *columns);
/* The reverse: writes a character as UTF-8, one to four bytes, not terminated; returns how many. */
int encode_character(uint32_t code, char out[4]);
/* The screen columns of a printable text. */
int columns_of(const char *text);
