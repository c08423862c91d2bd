/* The graph of one device in the making. Private to the stage.
 *
 * A holding is a local tensor that has a box of a tensor of the team's graph. The own block of a tensor is
 * one holding or, where ops of a group were computed piece by piece, several. An exchange adds others: the
 * sides of a halo, or one box with the own part in it. An op reads a holding that is just the box it needs,
 * else a slice of a larger one, else a tensor that insertions put together.
 *
 * After an error `failed` is set, nothing is added any more, and numbers of tensors are -1. */
#ifndef LX_TEAM_DEVICE_MAKER_H
#define LX_TEAM_DEVICE_MAKER_H

#include "base/vec.h"
#include "graph/builder.h"
#include "team/team_private.h"

struct holding {
    int32_t local; /* tensor of the device's graph */
    struct lx_team_box box;
};

typedef VEC(struct holding) holdings;

struct content {
    holdings own;        /* written last; disjoint */
    holdings old;        /* `own` before `writer`, which may read it piece by piece */
    holdings made;       /* slices and joins of `own`, for later reads */
    int32_t writer;      /* the op that wrote `own`; -1: it was given */
    int32_t named;       /* the local tensor of the same name; -1: none yet */
    struct holding part; /* partial sums of this device, for ops that read them as such */
};

struct maker {
    const struct lx_team_plan *p;
    int device;
    struct graph_builder b;
    struct content *contents; /* per tensor */
    holdings *arrived;        /* per exchange */
    VEC(struct lx_team_message) messages;
    VEC(struct lx_team_place) places;
    VEC(int32_t) steps; /* per op */
    /* The pieces of one loop of the group that is being added. */
    int32_t loops_of;
    int loops_along;
    struct lx_team_range loops[LX_TEAM_LOOPS];
    int loop_count;
    int serial; /* of names */
    bool failed;
    lx_status *st;
};

/* device_data.c. A new name, "of~what7". */
const char *maker_name(struct maker *k, const char *of, const char *what);
int32_t maker_tensor(struct maker *k, const char *name, int32_t t, enum lx_role role,
                     const struct lx_team_box *box);
void maker_op(struct maker *k, const struct lx_op *op);
void maker_view(struct maker *k, enum lx_kind_id kind, const char *name, int32_t from, int32_t to,
                const int64_t *offset, const int64_t *stride);
/* A local tensor that has just `box` of tensor `t`, as op `o` (-1: none) reads it, of the own block and of
 * exchange `e` (-1: none). */
int32_t maker_fetch(struct maker *k, int32_t o, int32_t t, int32_t e, const struct lx_team_box *box);
/* The same of this device's partial sums; zeros where it has none. */
int32_t maker_partial(struct maker *k, int32_t t, const struct lx_team_box *box);
/* A holding around the box; NULL: there is none. */
const struct holding *maker_around(struct maker *k, int32_t o, int32_t t, int32_t e,
                                   const struct lx_team_box *box);
/* The own holdings of `t` that op `o` reads; a tensor that was never written is zeros. */
const holdings *maker_own(struct maker *k, int32_t o, int32_t t);
/* The tensor for a box of a result of op `o`, and a name for the op that writes it. */
int32_t maker_write(struct maker *k, int32_t o, int result, const struct lx_team_box *box, const char **name);
/* The local tensor that has the name of `t`, and its own block. */
int32_t maker_named(struct maker *k, int32_t t);
/* May a single op write that one? */
bool maker_receives(const struct maker *k, int32_t t);
/* The own block of `t` in one tensor, for an insertion or as an output of the graph. */
int32_t maker_join(struct maker *k, int32_t t);
/* The own block of `t` is one holding now; no earlier slice counts. */
void maker_hold(struct maker *k, int32_t t, int32_t local, const struct lx_team_box *box);

/* device_ops.c: a piece of an op, over values of its sharded variables. */
void maker_compute(struct maker *k, int32_t o, const struct lx_team_space *space);

/* device_exchange.c */
void maker_start(struct maker *k, int32_t e);
void maker_wait(struct maker *k, int32_t e);
void maker_combine(struct maker *k, int32_t o);

/* device_graph.c: a hash that graphs share which differ only in the offsets of slices. Zeros before the first
 * record. */
struct device_shape {
    int64_t unit;
    uint64_t shape;
    uint64_t likely; /* of the places in sticks where slices begin, along their last dimension */
};
/* For a record_taker; the text is terminated. */
void device_shape_take(void *shape, const struct lx_graph *g, const char *record, size_t length);

#endif
