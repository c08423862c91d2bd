/* Coarse tiles: an op whose spans no division can satisfy, run as a loop over parts of it. Private to the
 * stage. */
#ifndef LX_DIVIDE_TILES_H
#define LX_DIVIDE_TILES_H

#include "divide/space.h"

enum { MAX_AUTO_TILES = 64 };

/* The smallest number of tiles (at most `most` altogether) under which every span fits, one count per axis.
 * Only output axes are tiled, never within a stick. False: none; `st` says what was tried. */
bool span_tiles(const struct space *s, int64_t most, int64_t *tiles, lx_status *st);
/* The space of one tile: extents divided, device sizes as they were, since a tile is read in place. */
bool tile_space(const struct space *s, const int64_t *tiles, struct space *out, lx_status *st);

#endif
