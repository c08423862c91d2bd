/* Items of a box on their way between devices. Private to the stage. */
#ifndef LX_TEAM_RUN_TEAM_WIRE_H
#define LX_TEAM_RUN_TEAM_WIRE_H

#include "team/team.h"

/* Bytes of an element in host order, as a device hands it out. */
int64_t wire_item(enum lx_dtype dtype);
int64_t wire_items_bytes(enum lx_dtype dtype, const struct lx_team_box *box);
/* A box of a tensor of `shape` (items in host order) to and from a row of items. */
void wire_take(const void *items, const int64_t *shape, const struct lx_team_box *box, enum lx_dtype dtype,
               void *row);
void wire_put(void *items, const int64_t *shape, const struct lx_team_box *box, enum lx_dtype dtype,
              const void *row);
/* A row of items to and from a message; elements of 4 bits go two to a byte, all others as they are.
 * The message must be zero before. */
void wire_pack(enum lx_dtype dtype, const void *row, int64_t count, void *message);
void wire_unpack(enum lx_dtype dtype, const void *message, int64_t count, void *row);

#endif
