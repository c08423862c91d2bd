/* The replay of a plan: where every value is at every moment. Private to check_replay.c, check_copies.c and
 * check_tiles.c.
 *
 * Each write makes a new version of what it writes: of a tensor, or, in a nest, of one tile of it. HBM has
 * one version of each tile, and so has a buffer; what it does not have is NOTHING. Outside of nests a tensor
 * is one tile.
 *
 * What happens in an iteration depends on its indices only as far as each is the first, the last, or any
 * other, and equal to another tensor's or not. So loops are walked with at most four iterations a level,
 * which has each of these and every step from one to the next; a tile is numbered by two bits a level. */
#ifndef LX_CHECK_CHECK_REPLAY_H
#define LX_CHECK_CHECK_REPLAY_H

#include "check/check.h"

enum { NOTHING = -1, MOST_TURNS = 4, TILE_BITS = 2, MOST_TILES = 1 << (TILE_BITS * LX_MAX_LEVELS) };

struct versions {
    int32_t of[MOST_TILES];
};

struct held {
    struct versions tiles;
    int32_t wipes;      /* before it was filled; there were more since: nothing is left */
    struct zone *zones; /* per core; NULL: all of the parts */
};

struct replay {
    struct checker *c;
    const struct parts *parts;        /* per buffer */
    struct held *held;                /* per buffer */
    struct versions *latest, *in_hbm; /* per tensor; before the first write 0: what is given */
    int32_t *transfer_at;             /* per op, and one more: its copies */
    int32_t *bundle_of;               /* per op */
    struct hbm_lives *lives;
    struct cut cut;                  /* of the op under way */
    const struct lx_nest *nest;      /* under way, or NULL */
    int32_t *meeting, meeting_count; /* placed buffers that live in its run */
    int turns[LX_MAX_LEVELS], turn[LX_MAX_LEVELS];
    int32_t clock; /* versions */
    int32_t tick, wipes;
    int64_t steps; /* ops that have run, each in every iteration that is walked */
    lx_status *st;
};

static inline bool is_placed(const struct replay *r, int32_t buffer)
{
    return buffer >= 0 && buffer < r->c->p->problem.count && r->c->p->answer.address[buffer] >= 0;
}

static inline bool is_alive(const struct replay *r, int32_t buffer)
{
    const struct lx_buffer *b = &r->c->p->problem.buffers[buffer];
    return b->start <= r->tick && r->tick < b->end;
}

static inline const char *buffer_name(const struct replay *r, int32_t buffer)
{
    return r->c->p->problem.buffers[buffer].name;
}

static inline int64_t moment(const struct replay *r, enum phase phase)
{
    return PHASES * r->steps + phase;
}

/* check_tiles.c */
/* The tile of a tensor that this iteration works on. */
int tile_now(const struct replay *r, const struct looped *t);
/* Is it a tile of the slice that the present indices of the levels up to `hold` fix? */
bool in_slice(const struct replay *r, const struct looped *t, int hold, int tile);
/* Are the indices of these levels the first, or the last, ones? */
bool turns_first(const struct replay *r, unsigned levels);
bool turns_last(const struct replay *r, unsigned levels);
int32_t version_in(const struct replay *r, int32_t buffer, int tile);
bool slice_held(const struct replay *r, int32_t buffer, const struct looped *t, int hold);
bool slice_in_hbm(const struct replay *r, int32_t tensor, const struct looped *t, int hold);
/* The buffer has nothing but the slice, in its latest version. */
void fill_slice(struct replay *r, int32_t buffer, const struct looped *t, int hold);
void store_slice(struct replay *r, int32_t tensor, const struct looped *t, int hold);
void forget(struct replay *r, int32_t buffer);
/* The loops of a nest begin and end: tiles come apart and together again. */
void open_nest(struct replay *r, const struct lx_nest *n);
void close_nest(struct replay *r);
/* From one iteration to the next; false: there is none. */
bool next_turn(struct replay *r);

/* check_copies.c: those of the tick that this iteration makes, into the scratchpads or the stores. */
bool do_copies(struct replay *r, bool stores);

#endif
