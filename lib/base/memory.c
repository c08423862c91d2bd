/* The allocator of the C library. */
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *mem_alloc(size_t size)
{
    return malloc(size);
}

void *mem_zeroed(size_t count, size_t size)
{
    return calloc(count, size);
}

void *mem_resize(void *block, size_t size)
{
    return realloc(block, size);
}

void *mem_aligned(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

char *mem_string(const char *text)
{
    return strdup(text);
}

char *mem_string_n(const char *text, size_t length)
{
    return strndup(text, length);
}

char *mem_format(const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = n < 0 ? NULL : malloc((size_t)n + 1);
    if (text) vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}

void mem_free(void *block)
{
    free(block);
}
