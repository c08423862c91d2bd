/* Words for people: the nearest known word to a misspelt one, tables of words, sets of names, numbers with
 * units, and names made safe for a screen. */
#ifndef LX_BASE_WORDS_WORDS_H
#define LX_BASE_WORDS_WORDS_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* The word of the NULL-terminated list that is nearest to a misspelt one; NULL if none is near. */
const char *nearest(const char *word, const char *const *list);
/* Says "WHAT "WORD"; did you mean ...? There are: ...", where WHAT is like "there is no solver". Always
 * false. */
bool unknown_word(const char *what, const char *word, const char *const *list, enum lx_code code,
                  lx_status *st);

/* "a, b, c" of a NULL-terminated list, as much of it as has room. Returns `out`. */
const char *words_listed(const char *const *list, char *out, size_t size);

/* Of a list X(id, word, ...): the function that gives the word of an id, or "unknown". */
#define LX_WORDS(function, type, LIST) LX_TEXTS(function, type, LIST, LX_WORD_ROW)
#define LX_HELPS(function, type, LIST) LX_TEXTS(function, type, LIST, LX_HELP_ROW)
#define LX_WORD_ROW(id, ...)           [id] = LX_FIRST(__VA_ARGS__, 0),
#define LX_HELP_ROW(id, ...)           [id] = LX_SECOND(__VA_ARGS__, 0, 0),
#define LX_FIRST(a, ...)               a
#define LX_SECOND(a, b, ...)           b
#define LX_TEXTS(function, type, LIST, ROW)                                                                  \
    const char *function(type v)                                                                             \
    {                                                                                                        \
        static const char *const texts[] = {LIST(ROW)};                                                      \
        return (unsigned)v < sizeof texts / sizeof *texts ? texts[v] : "unknown";                            \
    }

/* --- A set of names, each with the number it was added under. The strings stay the caller's. --- */

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

/* --- Numbers and names as people read them. ---
 *
 * The functions return a small struct by value, so that `grouped(n).at` can stand in a call to a printing
 * function: the text lives until the end of that statement. */

struct words {
    char at[80];
};

/* 1,625,344 */
struct words grouped(int64_t n);
/* 1,625,344 B (1.55 MiB); the bracket only from 10 KiB on, where it helps. */
struct words in_bytes(int64_t n);
/* A size that is just enough: 117,248 B (114.5 KiB); the bracket is rounded up. `brief`: only that; below 10
 * KiB in bytes. */
struct words in_enough(int64_t n, bool brief);
/* 14.3 % */
struct words in_percent(double share);
/* How far above a bound: the same, or words where the bound is 0. */
struct words in_gap(double gap);
/* For three digits: 0.9999 is shown as 0.999, so that less than 1 does not look like 1. */
double share_shown(double share);
/* 812 ns, 4.53 us, 29.2 ms, 4.56 s: every time that people read; JSON and CSV have plain microseconds or seconds. */
struct words in_time(double seconds);
/* The same of microseconds. */
struct words in_micros(double us);
/* "1 buffer", "1,234 buffers" */
struct words counted(int64_t n, const char *thing);

/* A name from a file for a screen: control characters, broken UTF-8 and characters that reorder text become
 * '?'; longer than `columns` (0: no limit) it loses its middle to a "~". malloc'ed, NULL when memory is
 * out. */
char *printable(const char *name, int columns);
/* The same, appended. */
void add_printable(struct text *out, const char *name, int columns);
/* One character of a text for a screen: what to show (`?` for what must not be shown) and its columns, 0 for
 * a character that combines with the one before. Returns the bytes it took, 0 at the end of the text. */
int next_character(const char *text, uint32_t *code, int *columns);
/* The reverse: a character as UTF-8, one to four bytes, not terminated; returns how many. */
int encode_character(uint32_t code, char out[4]);
/* Columns on a screen that a printable text takes. */
int columns_of(const char *text);

#endif
