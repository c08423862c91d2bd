/* Which rows of a long table are worth a line. */
#ifndef LX_APP_TEXT_LARGEST_H
#define LX_APP_TEXT_LARGEST_H

#include <stdbool.h>
#include <stdint.h>

typedef int64_t weigh(const void *things, int32_t i);

/* The numbers of the `most` heaviest of n things (0: of all), malloc'ed; NULL when memory is out. `*count` of them,
 * the heaviest first if some are left out, else, and always with `in_order`, by number. */
int32_t *largest_of(const void *things, int32_t n, weigh *weight, int32_t most, bool in_order,
                    int32_t *count);

#endif
