/* Damage to the text or the bytes of a model, another one at each call: bytes changed, cut out, doubled or put in, an early
 * end; and such that readers do not see: a number in another's place, once or wherever it stands, a word in place of
 * another word. `room` bytes must be there; what would not fit is left out. */
#ifndef LX_TESTS_MODEL_DAMAGE_H
#define LX_TESTS_MODEL_DAMAGE_H

#include "base/rng.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* clang-format off */
/* clang-format on */

size_t damage_model(struct rng *r, char *to, const char *from, size_t length, size_t room);

#endif
