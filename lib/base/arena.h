/* Memory freed all at once.
 *
 * A graph, a problem or a plan allocates thousands of small things that die together; an arena hands them out
 * from growing blocks and frees the blocks. Allocations are zeroed and aligned to 16 bytes. No function
 * returns NULL (base/memory.h). */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena_block;

struct arena {
    struct arena_block *head;
    size_t next_size;
};

void *arena_alloc(struct arena *a, size_t size);
/* `count` things of `size` bytes; a count of 0 gives a valid pointer. */
void *arena_array(struct arena *a, size_t count, size_t size);
char *arena_copy(struct arena *a, const char *text, size_t length);
char *arena_string(struct arena *a, const char *text);
char *arena_format(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *arena_copy_array(struct arena *a, const void *from, size_t count, size_t size);
/* Moves all memory of `from` to `a`; `from` becomes empty. */
void arena_adopt(struct arena *a, struct arena *from);
void arena_free(struct arena *a);
