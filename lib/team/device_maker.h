/* A device's graph in the making. Private to the stage.
 *
 * What the device has of a tensor at a time are holdings: local tensors that each hold a box of it. Its own
 * block is one holding or, where ops of a group were computed piece by piece, several; what an exchange
 * brought are others: parts of a halo, or one with the own part in it. An op reads a holding as it is if that is just what it needs, else a slice of
 * one, else what it needs is put together by insertions. */
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
    holdings own;        /* of what was written last; disjoint */
    holdings old;        /* what `own` was before `writer`, which may read it piece by piece */
    holdings made;       /* slices and joins of `own`, to be used again */
    int32_t writer;      /* the op that wrote `own`; -1: it was given */
    int32_t named;       /* the local tensor of the same name; -1: none yet */
    struct holding part; /* what this device adds to sums that may be joined elsewhere */
};

struct maker {
    const struct lx_team_plan *p;
    int device;
    struct graph_builder b;
    struct content *contents; /* per tensor */
    holdings *arrived;        /* per exchange: what lies around what is owned, dimension by dimension */
    VEC(struct lx_team_message) messages;
    VEC(struct lx_team_place) places;
    VEC(int32_t) steps; /* per op */
    /* Along one loop of the group whose pieces are being added. */
    int32_t loops_of;
    int loops_along;
    struct lx_team_range loops[LX_TEAM_LOOPS];
    int loop_count;
    int serial; /* of names */
    lx_status *st;
};

/* device_data.c. Tensors and ops of the device; -1 or false: `st` is set. */
const char *maker_name(struct maker *k, const char *of, const char *what); /* a new one; NULL: no memory */
int32_t maker_tensor(struct maker *k, const char *name, int32_t t, enum lx_role role,
                     const struct lx_team_box *box);
bool maker_op(struct maker *k, const struct lx_op *op);
bool maker_view(struct maker *k, enum lx_kind_id kind, const char *name, int32_t from, int32_t to,
                const int64_t *offset, const int64_t *stride);
/* A local tensor that holds just `box` of tensor `t`, as op `o` (-1: none) reads it, of what is owned and
 * what exchange `e` (-1: none) has brought. */
int32_t maker_fetch(struct maker *k, int32_t o, int32_t t, int32_t e, const struct lx_team_box *box);
/* The same of this device's part of the tensor; zeros where it has none. */
int32_t maker_part(struct maker *k, int32_t t, const struct lx_team_box *box);
/* A holding that has all of the box, which may be more; NULL: there is none. */
const struct holding *maker_around(struct maker *k, int32_t o, int32_t t, int32_t e,
                                   const struct lx_team_box *box);
/* The holdings that op `o` reads of what is owned of `t`; what was never written is zeros. */
const holdings *maker_own(struct maker *k, int32_t o, int32_t t);
/* The tensor that op `o` writes a box of a result to, and the name of the op that does it. */
int32_t maker_write(struct maker *k, int32_t o, int result, const struct lx_team_box *box, const char **name);
/* The tensor of the device that has the name of `t`, of its own block. */
int32_t maker_named(struct maker *k, int32_t t);
/* May it be written by one op, and that be all? */
bool maker_receives(const struct maker *k, int32_t t);
/* The own block of `t` in one tensor, to be changed by an insertion or to be a graph output. */
int32_t maker_join(struct maker *k, int32_t t);

/* device_ops.c: a piece of an op, over values of its cut variables. */
bool maker_compute(struct maker *k, int32_t o, const struct lx_team_space *space);

/* device_exchange.c. Boxes `give` (per device, of tensor `t`) leave; a part of an exchange arrives. */
bool maker_start(struct maker *k, int32_t e);
bool maker_wait(struct maker *k, int32_t e);
bool maker_combine(struct maker *k, int32_t o);

#endif
