/* Sorting long lists while somebody may want it to end (stop.h): qsort would not look for tenths of a second. Short lists are
 * left to qsort; equal elements keep their order as far as they do in that. */
#ifndef LX_BASE_SORT_H
#define LX_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>

typedef int (*sort_compare)(const void *a, const void *b);

/* False: it was stopped; the elements are all there, in some order. */
bool sort_or_stop(void *at, size_t count, size_t size, sort_compare compare);
/* Looks at the stop, too, but ends only when all is sorted. */
void sort_in_full(void *at, size_t count, size_t size, sort_compare compare);

#endif
