/* Tiles of a core put together. Private to the stage.
 *
 * A core's persistent loop gives one tile after the other; thousands of them are as small as one row of a
 * stick. Tiles that follow each other and make up a box are kept as one strip: the box and the sides of its tiles,
 * which are all equal but for the last along each variable. Nothing but tiles that were recovered is ever in a strip,
 * and none is twice.
 *
 * Sizes: usually one strip per core, a few where a run of tiles begins inside a row; at worst one per tile. */
#ifndef LX_DEVICE_EXECUTE_STRIPS_H
#define LX_DEVICE_EXECUTE_STRIPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strips {
    int vars;
    size_t count, room;
    int64_t *at; /* per strip: `vars` times from, to, and the side of a tile */
};

struct strip {
    const int64_t *from, *to, *tile;
};

static inline struct strip strip_at(const struct strips *s, size_t i)
{
    const int64_t *at = s->at + i * 3 * (size_t)s->vars;
    return (struct strip){at, at + s->vars, at + 2 * s->vars};
}

/* One more tile, [from, to) of each variable. `alone`: it stays a strip of its own. False: memory is out. */
void strips_add(struct strips *s, const int64_t *from, const int64_t *to, bool alone);
void strips_free(struct strips *s);

#endif
