/* Whole numbers with their digits in groups of three, for texts that people read. */
#ifndef LX_BASE_WORDS_DIGITS_H
#define LX_BASE_WORDS_DIGITS_H

#include <stdint.h>

struct digits {
    char at[32];
};

/* 1,625,344 */
struct digits digits_in_groups(int64_t n);

#endif
