/* Words that stand for something: lists of them, and which one was meant by a misspelt one. */
#ifndef LX_BASE_WORDS_WORDS_H
#define LX_BASE_WORDS_WORDS_H

#include "base/status.h"

/* The word of the NULL-terminated list that is nearest to a misspelt one; NULL if none is near. */
const char *nearest(const char *word, const char *const *list);
/* Says "WHAT "WORD"; did you mean ...? There are: ...", where WHAT is like "there is no solver". Always false. */
bool unknown_word(const char *what, const char *word, const char *const *list, enum lx_code code,
                  lx_status *st);

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

#endif
