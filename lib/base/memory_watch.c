/* What our own calls of the allocator go through where the linker is told so (--wrap): the allocator, and a count of what it could
 * not give. Those of other libraries do not, nor do programs that link the archive. */
#include "base/failed_memory.h"

#include <stddef.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *at, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *at, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);

static void *memory_watch_seen(void *at)
{
    if (!at) memory_failed();
    return at;
}

void *__wrap_malloc(size_t n)
{
    return memory_watch_seen(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return memory_watch_seen(__real_calloc(n, size));
}

void *__wrap_realloc(void *at, size_t n)
{
    return memory_watch_seen(__real_realloc(at, n));
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
    return memory_watch_seen(__real_aligned_alloc(alignment, n));
}

char *__wrap_strdup(const char *s)
{
    return memory_watch_seen(__real_strdup(s));
}

char *__wrap_strndup(const char *s, size_t n)
{
    return memory_watch_seen(__real_strndup(s, n));
}
