/* What the files of the beam share. */
#ifndef LX_COOPTIMISE_JOINT_BEAM_H
#define LX_COOPTIMISE_JOINT_BEAM_H

#include "cooptimise/joint_model.h"

struct state {
    int64_t rank, cost, ahead; /* cost: so far; ahead: messages to come */
    int64_t load;              /* bytes of its variables that live on */
    int128 owed;               /* load times the prices up to each one's end */
    uint64_t hash;
};

struct candidate {
    struct state then;
    int32_t from, choice;
    unsigned on;  /* touches that begin here, bit 0 the first of them, that are on chip */
    uint64_t off; /* old touches that go off chip after all */
};

struct layer {
    struct state *at;
    int32_t *x;    /* per state and slot */
    int64_t *undo; /* per state and slot: what going off chip after all would cost */
    int32_t count;
};

struct step {
    int32_t from, choice;
};

struct beam {
    const struct joint_model *m;
    const struct joint_beam_options *how;
    struct joint_beam_result *out;
    int32_t width; /* at most; 1 once the steps are used up */
    struct layer now, next;
    int32_t *scratch; /* two states */
    struct candidate *found;
    size_t found_count, found_room;
    uint32_t *table; /* candidates by hash, one more than their index; 0: empty */
    size_t table_room;
    int64_t limit;               /* ranks from here on have no room */
    int64_t dropped;             /* least rank that was dropped for want of room */
    struct step **trace;         /* per op */
    int64_t **left;              /* per variable: messages that are still to come, per state */
    int32_t *ending, *ending_at; /* variables by the position after which they are dead */
};

/* joint_select.c. The states of all slots behind op `o` if the candidate is taken. */
void beam_successor(const struct beam *b, int32_t o, const struct candidate *c, int32_t *x);
/* A candidate of op `o` is found: kept if there may be room for it. */
void beam_offer(struct beam *b, int32_t o, const struct candidate *c);
/* Merges what leads to the same state, then leaves the best `width`, in order. */
void beam_condense(struct beam *b, int32_t o);

#endif
