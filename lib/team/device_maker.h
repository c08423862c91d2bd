/* Construction of one device's graph. Private to the stage.
 *
 * A holding is a local tensor with a box of a tensor of the team's graph. The own block of a tensor is one
 * holding, or several if a group was computed in pieces. An exchange adds others: the sides of a halo, or
 * one box with the own part inside. An op reads a holding equal to the box it needs, otherwise a slice of a
 * larger one, otherwise a tensor joined by insertions.
 *
 * After an error `failed` is set, additions do nothing, and tensor numbers are -1. */
#pragma once

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
    int32_t writer;      /* the op that wrote `own`; -1: a graph input */
    int32_t named;       /* the local tensor with the tensor's name; -1: none yet */
    struct holding part; /* partial sums of this device, for ops that read partial sums */
};

struct maker {
    const struct lx_team_plan *p;
    int device;
    struct graph_builder b;
    struct content *contents; /* per tensor */
    holdings *arrived;        /* per exchange */
    VEC(struct lx_team_message) messages;
    VEC(struct lx_team_place) places;
    VEC(int32_t) steps; /* per op: its step */
    /* Pieces of one loop of the current group. */
    int32_t loops_of;
    int loops_along;
    struct lx_team_range loops[LX_TEAM_LOOPS];
    int loop_count;
    int serial; /* for unique names */
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
/* A local tensor with exactly `box` of tensor `t`, for op `o` (-1: none), from the own block and exchange
 * `e` (-1: none). */
int32_t maker_fetch(struct maker *k, int32_t o, int32_t t, int32_t e, const struct lx_team_box *box);
/* The same from this device's partial sums; zeros if it has none. */
int32_t maker_partial(struct maker *k, int32_t t, const struct lx_team_box *box);
/* A holding that contains the box, or NULL. */
const struct holding *maker_around(struct maker *k, int32_t o, int32_t t, int32_t e,
                                   const struct lx_team_box *box);
/* The own holdings of `t` for op `o`; zeros if the tensor was never written. */
const holdings *maker_own(struct maker *k, int32_t o, int32_t t);
/* The local tensor for a box of a result of op `o`, and a name for the writing op. */
int32_t maker_write(struct maker *k, int32_t o, int result, const struct lx_team_box *box, const char **name);
/* The local tensor with the name and the own block of `t`. */
int32_t maker_named(struct maker *k, int32_t t);
/* Whether a single op may write that tensor. */
bool maker_receives(const struct maker *k, int32_t t);
/* The own block of `t` as one tensor, for an insertion or as a graph output. */
int32_t maker_join(struct maker *k, int32_t t);
/* Makes one holding the own block of `t`; earlier slices are dropped. */
void maker_hold(struct maker *k, int32_t t, int32_t local, const struct lx_team_box *box);

/* device_ops.c: adds a piece of an op, over ranges of its sharded variables. */
void maker_compute(struct maker *k, int32_t o, const struct lx_team_space *space);

/* device_exchange.c */
void maker_start(struct maker *k, int32_t e);
void maker_wait(struct maker *k, int32_t e);
void maker_combine(struct maker *k, int32_t o);

/* device_graph.c: a hash that is equal for graphs that differ only in offsets of slices. Zeros before the
 * first record. */
struct device_shape {
    int64_t unit;
    uint64_t shape;
    uint64_t likely; /* hash of the positions within sticks where slices begin, along the last dimension */
};
/* For a record_taker; `record` is terminated. */
void device_shape_take(void *shape, const struct lx_graph *g, const char *record, size_t length);
