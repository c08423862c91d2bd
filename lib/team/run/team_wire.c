/* Rows along the last dimension are copied at once. */
#include "team/run/team_wire.h"
#include "device/memory/dtypes.h"

#include <string.h>

int64_t wire_item(enum lx_dtype dtype)
{
    return number_types[dtype].item;
}

int64_t wire_items_bytes(enum lx_dtype dtype, const struct lx_team_box *box)
{
    return lx_team_box_elements(box) * wire_item(dtype);
}

struct walk {
    const struct lx_team_box *box;
    const int64_t *shape;
    int64_t index[LX_MAX_RANK];
    int64_t run, at, done; /* elements: of a row, its place in the tensor, those before it */
};

static bool walk_begin(struct walk *w, const int64_t *shape, const struct lx_team_box *box)
{
    *w = (struct walk){.box = box, .shape = shape, .run = box->rank ? box->size[box->rank - 1] : 1};
    for (int d = 0; d < box->rank; d++) w->at = w->at * shape[d] + box->offset[d];
    return !lx_team_box_empty(box);
}

static bool team_wire_walk_next(struct walk *w)
{
    int64_t step = w->box->rank > 0 ? w->shape[w->box->rank - 1] : 1;
    w->done += w->run;
    for (int d = w->box->rank - 2; d >= 0; d--) {
        w->at += step;
        if (++w->index[d] < w->box->size[d]) return true;
        w->at -= step * w->box->size[d];
        w->index[d] = 0;
        step *= w->shape[d];
    }
    return false;
}

void wire_take(const void *items, const int64_t *shape, const struct lx_team_box *box, enum lx_dtype dtype,
               void *row)
{
    struct walk w;
    int64_t item = wire_item(dtype);
    if (!walk_begin(&w, shape, box)) return;
    do memcpy((char *)row + w.done * item, (const char *)items + w.at * item, (size_t)(w.run * item));
    while (team_wire_walk_next(&w));
}

void wire_put(void *items, const int64_t *shape, const struct lx_team_box *box, enum lx_dtype dtype,
              const void *row)
{
    struct walk w;
    int64_t item = wire_item(dtype);
    if (!walk_begin(&w, shape, box)) return;
    do memcpy((char *)items + w.at * item, (const char *)row + w.done * item, (size_t)(w.run * item));
    while (team_wire_walk_next(&w));
}

void wire_pack(enum lx_dtype dtype, const void *row, int64_t count, void *message)
{
    items_to_memory(&number_types[dtype], row, count, message, 0);
}

void wire_unpack(enum lx_dtype dtype, const void *message, int64_t count, void *row)
{
    items_from_memory(&number_types[dtype], message, 0, count, row);
}
