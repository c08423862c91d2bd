/* SHA-256 of a file's bytes, so that a report says which file it is about. */
#ifndef LX_BASE_SHA256_H
#define LX_BASE_SHA256_H

#include <stddef.h>

/* 64 hexadecimal digits and the end. */
void sha256_hex(const void *bytes, size_t length, char out[65]);

#endif
