/* Binary search: `int32_t i; BISECT(i, 0, count, ticks[i] < tick);` leaves in `i` the first number of [low, high) for which
 * `before` is false, or `high`. `before` is an expression of `i` that is true up to some number and false from there on. */
#ifndef LX_BASE_BISECT_H
#define LX_BASE_BISECT_H

#include <stdint.h>

#define BISECT(i, low, high, before)                                                                         \
    do {                                                                                                     \
        int32_t bisect_low = (low), bisect_high = (high);                                                    \
        while (bisect_low < bisect_high) {                                                                   \
            (i) = bisect_low + (bisect_high - bisect_low) / 2;                                               \
            if (before)                                                                                      \
                bisect_low = (i) + 1;                                                                        \
            else                                                                                             \
                bisect_high = (i);                                                                           \
        }                                                                                                    \
        (i) = bisect_low;                                                                                    \
    } while (0)

#endif
