/* Arithmetic on values that are known ahead, as the ops would do it: whole numbers in two's complement of their type,
 * fractions rounded to theirs. */
#ifndef LX_IMPORT_FOLD_NUMBERS_H
#define LX_IMPORT_FOLD_NUMBERS_H

#include "import/model_parts.h"

enum binary { ADD, SUB, MUL, DIV, MOD, MIN, MAX, EQUAL, LESS, GREATER, AND, OR };

/* Division truncates, as the kind says of whole numbers; Mod has the sign of the divisor unless `fmod` is set. False:
 * it is left to the op. */
bool fold_whole(enum model_element e, enum binary op, int64_t a, int64_t b, bool fmod, int64_t *y);
bool fold_fraction(enum binary op, double a, double b, double *y);
/* What is left of a number in an element of that type. */
int64_t fold_kept_int(enum model_element e, int64_t n);
double fold_kept_real(enum model_element e, double x);
/* Conversions: toward 0, into the range of the type, nothing of what is no number. */
int64_t fold_to_int(enum model_element e, double x);
double fold_to_real(enum model_element to, enum model_element from, int64_t n);

#endif
