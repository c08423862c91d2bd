/* Numbers and names as people read them (base/words/words.h), and text that depends on the terminal. */
#pragma once

#include "base/words/words.h"
#include "unstable.h"
#include "base/base.h"

/* The sign of a spread, in letters where the terminal has no other. */
const char *plus_minus(void);

typedef int64_t weigh(const void *things, int32_t i);

/* The numbers of the `most` heaviest of n things (0: of all), malloc'ed; NULL when memory is out. `*count`
 * of them, the heaviest first if some are left out, else, and always with `in_order`, by number. */
int32_t *largest_of(const void *things, int32_t n, weigh *weight, int32_t most, bool in_order,
                    int32_t *count);

/* The shortest tail of `path`, from the beginning of a part, that no other of the paths ends with; the
 * whole path where that does not help (the same path again does not count as another). Points into `path`. */
const char *path_tail(const char *path, const char *const *others, size_t count);

struct progress_words {
    char at[160];
};

/* "12.1 s, best 73,446,548, bound 57,000,000, gap 22.4 %". Objective INT64_MAX: no answer so far. */
struct progress_words progress_words(double seconds, const struct lx_progress *so_far);

/* Two lines, " 12 | {"name": ...", and " | ^" below it; as much of a long line as there are columns for.
 * Nothing where the error has no place, or the file is not there any more. */
void add_source_line(const lx_status *st, int columns, struct text *out);
