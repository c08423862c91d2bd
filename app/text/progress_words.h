/* How far a solver is, in words. */
#ifndef LX_APP_TEXT_PROGRESS_WORDS_H
#define LX_APP_TEXT_PROGRESS_WORDS_H

#include "unstable.h"

struct progress_words {
    char at[160];
};

/* "12.1 s, best 73,446,548, bound 57,000,000, gap 22.4 %". Objective INT64_MAX: no answer so far. */
struct progress_words progress_words(double seconds, const struct lx_progress *so_far);

#endif
