/* A growable array: `VEC(int) v = {0}; VEC_PUSH(&v, 7); VEC_FREE(&v)`. */
#pragma once

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define VEC(type)                                                                                            \
    struct {                                                                                                 \
        type *at;                                                                                            \
        size_t count, room;                                                                                  \
    }

static inline bool vec_grow(void **at, size_t *room, size_t wanted, size_t size)
{
    if (wanted <= *room) return true;
    size_t bigger = *room < 8 ? 8 : *room + *room / 2;
    if (bigger < wanted) bigger = wanted;
    if (bigger > SIZE_MAX / 2 / size) memory_out();
    *at = mem_resize(*at, bigger * size);
    *room = bigger;
    return true;
}

#define VEC_RESERVE(v, n) vec_grow((void **)&(v)->at, &(v)->room, (n), sizeof *(v)->at)
#define VEC_PUSH(v, ...)  (VEC_RESERVE(v, (v)->count + 1) && ((v)->at[(v)->count++] = (__VA_ARGS__), true))
#define VEC_FREE(v)       (mem_free((v)->at), (v)->at = NULL, (v)->count = (v)->room = 0)
