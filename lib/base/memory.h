/* Allocation that never returns NULL.
 *
 * When memory is out, or a size overflows, the thread unwinds to its innermost border (base/border.h), and no
 * function on the way checks for it. Each block has a header of 32 bytes that links it to the others of its
 * border. Any thread may free it. */
#pragma once

#include <stddef.h>
#include <string.h>

/* Sizes may be 0. Blocks are aligned to 16 bytes. */
void *mem_alloc(size_t size);
void *mem_zeroed(size_t count, size_t size);
void *mem_resize(void *block, size_t size);
/* `alignment` is a power of two. */
void *mem_aligned(size_t alignment, size_t size);
char *mem_string(const char *text);
/* Copies at most `most` bytes. */
char *mem_string_n(const char *text, size_t most);
char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mem_free(void *block);

/* SCOPED: the variable is released where its scope ends, by a function that takes its address; FREED_AT makes one
 * for pointers. OWNED: the memory of a pointer, or of a VEC. Where a thread unwinds, the border releases both. */
#define SCOPED(release) __attribute__((cleanup(release), unused))
#define OWNED           SCOPED(mem_free_at)
#define FREED_AT(name, type, release)                                                                        \
    static inline void name(void *variable)                                                                  \
    {                                                                                                        \
        type held;                                                                                           \
        memcpy(&held, variable, sizeof held);                                                                \
        release(held);                                                                                       \
    }
FREED_AT(mem_free_at, void *, mem_free)

/* Removes the block from its border, for another thread. */
void mem_disown(void *block);

/* For sizes chosen by a user, with a better answer than "out of memory": NULL if memory is out. */
void *mem_try_zeroed(size_t count, size_t size);

/* Unwinds, when another library got no memory. */
_Noreturn void memory_out(void);
