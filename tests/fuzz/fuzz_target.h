/* What targets of the fuzzer share: one reader each, fed with whatever bytes there are, and what must hold of all that it
 * takes. libFuzzer (preset fuzz, ./bootstrap fuzz) drives a target for minutes; drive_corpus.c, in every other build, over
 * its seeds and a few thousand damaged ones. A target keeps nothing between two inputs. */
#ifndef LX_TESTS_FUZZ_TARGET_H
#define LX_TESTS_FUZZ_TARGET_H

#include "base/status.h"
#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

/* Ends the program, so that whoever drives it keeps the input. */
static inline void fuzz_must(bool holds, const char *what, const lx_status *st)
{
    if (holds) return;
    fprintf(stderr, "fuzz: %s%s%s\n", what, st ? ": " : "", st ? st->text : "");
    abort();
}

/* Whoever refuses says why. */
static inline void fuzz_refused(const lx_status *st)
{
    fuzz_must(st->code != LX_OK && st->text[0], "refused without a word", NULL);
}

/* A copy of the very length, so that a byte too far is seen, without the zero that files end with. */
static inline char *fuzz_text(const uint8_t *data, size_t length)
{
    char *text = mem_alloc(length ? length : 1);
    if (text && length) memcpy(text, data, length);
    fuzz_must(text != NULL, "no memory", NULL);
    return text;
}

/* Two texts that must be the same; frees both. */
static inline void fuzz_same(char *a, size_t n, char *b, size_t m, const char *what)
{
    fuzz_must(a && b && n == m && memcmp(a, b, n) == 0, what, NULL);
    mem_free(a);
    mem_free(b);
}

#endif
