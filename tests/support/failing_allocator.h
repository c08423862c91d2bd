/* The allocator of a program that tries what happens when memory is out: glibc's own, but for allocations that are to fail.
 * Included by the one file of the program that has the faults. Counts what is asked for and what is not given back, also
 * by libraries that are loaded. */
#ifndef LX_TESTS_FAILING_ALLOCATOR_H
#define LX_TESTS_FAILING_ALLOCATOR_H

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);
void *memalign(size_t, size_t);

#define SEEN_BY_ALL __attribute__((visibility("default")))

static struct {
    atomic_long asked;   /* allocations since it counts */
    atomic_long held;    /* blocks that nobody has freed, since the program began */
    long first, last;    /* those that fail; first 0: none */
    bool counts;         /* else all is given, and not counted */
    uintptr_t low, high; /* only those that are asked for from between these addresses; high 0: all */
    void (*watch)(long); /* is told of each that counts; NULL: nobody is */
} allocator;

static bool allocation_fails(const void *from)
{
    if (!allocator.counts) return false;
    if (allocator.high && ((uintptr_t)from < allocator.low || (uintptr_t)from >= allocator.high))
        return false;
    long n = atomic_fetch_add(&allocator.asked, 1) + 1;
    if (allocator.watch) allocator.watch(n);
    if (!allocator.first || n < allocator.first || n > allocator.last) return false;
    errno = ENOMEM;
    return true;
}

static void *allocation_held(void *at)
{
    if (at) atomic_fetch_add(&allocator.held, 1);
    return at;
}

/* glibc's memalign: sanitizers take the place of __libc_memalign, too. */
static void *(*allocation_aligned)(size_t, size_t);

__attribute__((constructor)) static void allocation_find_aligned(void)
{
    void *found = dlsym(RTLD_NEXT, "memalign");
    memcpy(&allocation_aligned, &found, sizeof found);
}

SEEN_BY_ALL void *malloc(size_t n)
{
    return allocation_fails(__builtin_return_address(0)) ? NULL : allocation_held(__libc_malloc(n));
}

SEEN_BY_ALL void *calloc(size_t n, size_t size)
{
    return allocation_fails(__builtin_return_address(0)) ? NULL : allocation_held(__libc_calloc(n, size));
}

SEEN_BY_ALL void *realloc(void *at, size_t n)
{
    if (allocation_fails(__builtin_return_address(0))) return NULL;
    void *now = __libc_realloc(at, n);
    if (!at) return allocation_held(now);
    if (!now && n == 0) atomic_fetch_sub(&allocator.held, 1);
    return now;
}

SEEN_BY_ALL void *memalign(size_t alignment, size_t n)
{
    return allocation_fails(__builtin_return_address(0)) ? NULL
                                                         : allocation_held(allocation_aligned(alignment, n));
}

SEEN_BY_ALL void *aligned_alloc(size_t alignment, size_t n)
{
    return memalign(alignment, n);
}

SEEN_BY_ALL int posix_memalign(void **out, size_t alignment, size_t n)
{
    if (allocation_fails(__builtin_return_address(0))) return ENOMEM;
    return (*out = allocation_held(allocation_aligned(alignment, n))) ? 0 : ENOMEM;
}

SEEN_BY_ALL void free(void *at)
{
    if (at) atomic_fetch_sub(&allocator.held, 1);
    __libc_free(at);
}

/* From now on the allocations `first` to `last` fail; 0: none, but they are counted. */
static void allocations_begin(long first, long last)
{
    allocator.first = first;
    allocator.last = last;
    atomic_store(&allocator.asked, 0);
    allocator.counts = true;
}

/* Memory is there again; how many were asked for. */
static long allocations_end(void)
{
    allocator.counts = false;
    return atomic_load(&allocator.asked);
}

#endif
