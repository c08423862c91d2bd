/* FNV-1a, 64 bit: the identity of a pattern in plans and results. Not for security. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t hash_bytes(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* Hashes a number alike on both byte orders. */
static inline uint64_t hash_number(uint64_t h, int64_t n)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)((uint64_t)n >> 8 * i & 0xff);
    return hash_bytes(h, bytes, sizeof bytes);
}

/* The same by words of 8 bytes, for long data; pads the last one with zeros. */
static inline uint64_t hash_words(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = 0;
        memcpy(&word, p + i, n - i < 8 ? n - i : 8);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return h;
}

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* SHA-256 of a file's bytes, which identifies the file in reports: 64 hexadecimal digits and a zero. */
void sha256_hex(const void *bytes, size_t length, char out[65]);
