/* A beam: steps are taken in order, and behind each one the best `width` states go on.
 *
 * A state is a row of slots, one number each, and a node of its user: what it has cost, and a rank that no
 * completion costs less than. All that happened before meets in the row: of two ways to the same row the
 * better one stays. The least rank that had no room proves how much better a complete answer could still be
 * (`dropped`). A step changes few slots, so a candidate is its parent, the numbers of these slots and a
 * node; rows are written out only for those that go on.
 *
 * Ties are broken by rank, `tie`, `before` and the order of finding (or, with `vary`, by where candidates
 * lie, which changes from step to step), so that two runs do the same.
 *
 *     beam_begin(&b, &rules, &root, row);
 *     for (each step) {
 *         beam_step(&b, slots, count);
 *         for (i < b.count) for (each choice) beam_offer(&b, i, choice, &node, numbers);
 *         beam_settle(&b);
 *     }
 *     beam_trace(&b, 0, choices);
 *     beam_end(&b);
 *
 * Sizes: widths of 12 to 32,768, slots up to thousands, steps up to hundreds of thousands. */
#ifndef LX_NETWORK_BEAM_H
#define LX_NETWORK_BEAM_H

#include "base/arena.h"
#include "base/vec.h"

/* The cost of what cannot be: more than any answer costs; a few of them add up without overflow. Less real
 * costs taken from it, it is still hopeless. */
#define NETWORK_NEVER    (INT64_MAX / 4)
#define NETWORK_HOPELESS (NETWORK_NEVER / 2)

/* The first member of every user's node. */
struct beam_node {
    int64_t rank, tie;
    uint64_t kind; /* see of_a_kind */
};

struct beam_rules {
    int32_t width, slots;
    int32_t changes;   /* slots that one step changes, at most */
    int32_t room;      /* candidates that wait before the worst of them go; 0: all of a step */
    int32_t of_a_kind; /* at most so many states of one kind come first; 0: as they rank */
    size_t node_size;
    int64_t cut; /* what ranks there or above is of no use */
    /* Decides between nodes of equal rank and tie; NULL: they are equal. */
    bool (*before)(const void *a, const void *b);
    /* May state a, which ranks no worse, take the place of b in every answer? NULL: that is not asked. */
    bool (*dominates)(const void *context, const void *a, const int32_t *row_a, const void *b,
                      const int32_t *row_b);
    /* So many states that are safe to have an answer go on beyond the width. NULL: none. */
    bool (*safe)(const void *context, const int32_t *row);
    int32_t safe_states;
    const void *context;
    bool first_place; /* one that is found again in a better way keeps its place among equals */
    bool vary;        /* among equal choices of a state it is not always the first found that goes before */
    bool by_tie;      /* of two with the same row the one with the greater tie stays */
    bool histories;   /* ways to the same row are told apart as long as all have room */
    bool all_ways;    /* ways into a state that are no better are remembered, too */
};

struct beam_candidate {
    int64_t rank, tie;
    uint64_t hash;
    int32_t from, choice;
    int32_t place; /* of its node and its numbers */
    int32_t ways;  /* others, or -1 */
    uint32_t order;
};

struct beam_origin {
    int32_t from, choice;
    int32_t ways; /* others into the same state, or -1 */
};

struct beam_way {
    int64_t rank;
    int32_t from, choice, next;
};

struct beam_key {
    int64_t rank, tie;
    uint32_t at;
};

struct beam {
    struct beam_rules rules;
    int32_t width;   /* may be lowered between steps */
    int32_t count;   /* states behind the last step, best first */
    int64_t limit;   /* of this step: ranks from here on have no room */
    int64_t dropped; /* least rank that was dropped for want of room */
    bool exact;      /* none was */
    bool merged;     /* two ways to the same row were */
    /* Private. */
    char *nodes, *next_nodes;
    int32_t *rows, *next_rows;
    uint64_t *hashes, *next_hashes; /* per state */
    const int32_t *changed;
    int32_t changed_count;
    int32_t *open, open_count;         /* slots in which states differ */
    int32_t *compared, compared_count; /* open ones that this step does not change */
    unsigned char *slot_flags;
    VEC(struct beam_candidate) found, sorted;
    VEC(struct beam_key) keys;
    VEC(char) found_nodes;
    VEC(int32_t) found_numbers;
    VEC(uint32_t) table;
    int32_t places; /* each candidate of the list has one, those behind its end, too */
    uint32_t order;
    VEC(struct beam_origin) trace;
    VEC(struct beam_way) ways;
    bool ways_lost;     /* there were too many of them */
    VEC(size_t) layers; /* per step: where its states begin in `trace` */
    struct arena memory;
};

/* `row` NULL: all zero. The root's rank is the user's. */
void beam_begin(struct beam *b, const struct beam_rules *rules, const void *root, const int32_t *row);
void beam_end(struct beam *b);
/* A step begins that changes these slots of every state; they are the caller's until beam_settle. */
void beam_step(struct beam *b, const int32_t *slots, int32_t count);
/* State `from` may go on so: `numbers`, one per slot that the step changes. */
void beam_offer(struct beam *b, int32_t from, int32_t choice, const void *node, const int32_t *numbers);
/* Something of this rank was not even offered. */
void beam_drop(struct beam *b, int64_t rank);
/* The step ends: what leads to the same row is merged, and the best go on. */
void beam_settle(struct beam *b);
/* The choice of every step that led to state `at`. */
void beam_trace(const struct beam *b, int32_t at, int32_t *choices);

static inline const void *beam_node_of(const struct beam *b, int32_t at)
{
    return b->nodes + (size_t)at * b->rules.node_size;
}

static inline const int32_t *beam_row_of(const struct beam *b, int32_t at)
{
    return b->rows + (size_t)at * (size_t)b->rules.slots;
}

/* Where state `at` behind a step came from. */
static inline struct beam_origin beam_origin_of(const struct beam *b, size_t step, int32_t at)
{
    return b->trace.at[b->layers.at[step] + (size_t)at];
}

/* How many states went on behind a step. */
static inline int32_t beam_count_of(const struct beam *b, size_t step)
{
    size_t end = step + 1 < b->layers.count ? b->layers.at[step + 1] : b->trace.count;
    return (int32_t)(end - b->layers.at[step]);
}

/* Sorts by rank and tie, then by `before` of two positions. `room`: for as many. */
typedef bool (*beam_key_before)(const void *context, uint32_t a, uint32_t b);
void beam_sort(struct beam_key *keys, size_t count, struct beam_key *room, beam_key_before before,
               const void *context);

/* Allocates slots as a linear-scan register allocator does: things that live in [from, to), in the order of
 * `from`, get the lowest free slot. Returns the number of slots. */
int32_t beam_slots(const int32_t *from, const int32_t *to, int32_t count, int32_t *slot);

/* Of a number in a slot; those of a row are XORed. */
static inline uint64_t beam_mix(int32_t slot, int32_t number)
{
    uint64_t z = ((uint64_t)(uint32_t)slot << 32 | (uint32_t)number) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ? z ^ (z >> 31) : 0;
}

#endif
