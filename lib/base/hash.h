/* FNV-1a, 64 bit: the identity of a pattern in plans and results. Not for security. */
#ifndef LX_BASE_HASH_H
#define LX_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t hash_bytes(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

#define HASH_START UINT64_C(0xcbf29ce484222325)

#endif
