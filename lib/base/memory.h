/* Memory of the heap: every block that the project makes comes from here and goes back here. */
#ifndef LX_BASE_MEMORY_H
#define LX_BASE_MEMORY_H

#include <stddef.h>

void *mem_alloc(size_t size);
void *mem_zeroed(size_t count, size_t size);
void *mem_resize(void *block, size_t size);
void *mem_aligned(size_t alignment, size_t size);
char *mem_string(const char *text);
/* The first `length` bytes of a text, terminated. */
char *mem_string_n(const char *text, size_t length);
char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mem_free(void *block);

#endif
