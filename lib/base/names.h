/* A set of names, each with the number it was added under. The strings stay the caller's. */
#ifndef LX_BASE_NAMES_H
#define LX_BASE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct names {
    const char **key;
    int32_t *value;
    uint32_t count, room; /* room: a power of two, or 0 */
};

/* Room for so many more; true. */
bool names_reserve(struct names *n, uint32_t more);
enum names_result { NAMES_ADDED, NAMES_KNOWN, NAMES_NO_MEMORY /* never */ };
enum names_result names_add(struct names *n, const char *key, int32_t value);
/* The number of a name, or -1. */
int32_t names_find(const struct names *n, const char *key);
void names_free(struct names *n);

#endif
