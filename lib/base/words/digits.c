/* From the right, a comma before every third digit but the first. */
#include "base/words/digits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct digits digits_in_groups(int64_t n)
{
    char plain[24];
    struct digits d;
    size_t out = 0;
    snprintf(plain, sizeof plain, "%" PRId64, n);
    size_t length = strlen(plain), sign = n < 0;
    for (size_t i = 0; i < length; i++) {
        if (i > sign && (length - i) % 3 == 0) d.at[out++] = ',';
        d.at[out++] = plain[i];
    }
    d.at[out] = 0;
    return d;
}
