/* Blocks double from 4 KiB to 1 MiB; a larger request gets a block of its own size. Memory is handed out from
 * the newest block; the rest of older blocks stays unused. */
#include "base/base.h"

enum { ALIGN = 16, FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(16) unsigned char data[];
};

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 4) memory_out();
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (size == 0) size = ALIGN;
    struct arena_block *b = a->head;
    if (!b || b->size - b->used < size) {
        size_t room = a->next_size ? a->next_size : FIRST_BLOCK;
        if (room < size) room = size;
        b = mem_alloc(sizeof *b + room);
        *b = (struct arena_block){.next = a->head, .size = room};
        a->head = b;
        a->next_size = room < LARGEST_BLOCK / 2 ? room * 2 : LARGEST_BLOCK;
    }
    void *p = b->data + b->used;
    b->used += size;
    return memset(p, 0, size);
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) memory_out();
    return arena_alloc(a, bytes);
}

char *arena_copy(struct arena *a, const char *text, size_t length)
{
    char *p = arena_alloc(a, length + 1);
    memcpy(p, text, length);
    p[length] = 0;
    return p;
}

char *arena_string(struct arena *a, const char *text)
{
    return arena_copy(a, text, strlen(text));
}

char *arena_format(struct arena *a, const char *format, ...)
{
    char brief[128]; /* most texts fit, and are formatted once */
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(brief, sizeof brief, format, args);
    va_end(args);
    char *p = arena_alloc(a, n < 0 ? 1 : (size_t)n + 1);
    if (n >= (int)sizeof brief)
        vsnprintf(p, (size_t)n + 1, format, again);
    else if (n >= 0)
        memcpy(p, brief, (size_t)n);
    va_end(again);
    return p;
}

void *arena_copy_array(struct arena *a, const void *from, size_t count, size_t size)
{
    void *p = arena_array(a, count, size);
    if (count) memcpy(p, from, count * size);
    return p;
}

void arena_adopt(struct arena *a, struct arena *from)
{
    struct arena_block **end = &a->head;
    while (*end) end = &(*end)->next; /* behind the block that is being filled */
    *end = from->head;
    *from = (struct arena){0};
}

void arena_free(struct arena *a)
{
    struct arena_block *b = a->head;
    *a = (struct arena){0};
    for (struct arena_block *next; b; b = next) {
        next = b->next;
        mem_free(b);
    }
}
