/* A beam search: after each step, the best `width` states go on.
 *
 * A state is a row of slots, one number each, and a node of the caller with a rank: a lower bound on every
 * completion. Of two ways to the same row the better one stays. `dropped`, the least rank dropped for lack of
 * room, bounds how much better a complete answer could be. A step changes few slots, so a candidate is its
 * parent, the numbers of these slots and a node. Ties are broken by rank, `tie`, `before` and the order of
 * finding (with `vary`: by parent and choice), so two runs do the same.
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
#pragma once

#include "base/base.h"

/* The cost of an impossible choice: four of them add up without overflow. A sum stays above NETWORK_HOPELESS
 * after real costs are subtracted. */
#define NETWORK_NEVER    (INT64_MAX / 4)
#define NETWORK_HOPELESS (NETWORK_NEVER / 2)

/* The first member of every user's node. */
struct beam_node {
    int64_t rank, tie;
    uint64_t kind; /* see of_a_kind */
};

struct beam_rules {
    int32_t width, slots;
    int32_t room;      /* candidates kept before the worst are dropped; 0: no limit */
    int32_t of_a_kind; /* up to this many states of one kind rank first; 0: no limit */
    size_t node_size;
    int64_t cut; /* candidates of this rank or above are dropped */
    /* Orders nodes of equal rank and tie; NULL: they are equal. */
    bool (*before)(const void *a, const void *b);
    /* True if state a, which ranks no worse, can replace b in every answer. NULL: never. */
    bool (*dominates)(const void *context, const void *a, const int32_t *row_a, const void *b,
                      const int32_t *row_b);
    /* True if a state certainly has an answer; up to `safe_states` of them are kept beyond the width. NULL:
     * none. */
    bool (*safe)(const void *context, const int32_t *row);
    int32_t safe_states;
    const void *context;
    bool first_place; /* a better way to a known row keeps that row's place among equals */
    bool vary;        /* ties go by parent and choice, not by the order of finding */
    bool by_tie;      /* of two states with equal rows the greater tie stays, not the better rank */
    bool histories;   /* equal rows are merged only when the list exceeds the width */
    bool all_ways;    /* worse ways into a state are kept, too */
};

struct beam_candidate {
    int64_t rank, tie;
    uint64_t hash;
    int32_t from, choice;
    int32_t place; /* index of its node and its numbers */
    int32_t ways;  /* list of other ways, or -1 */
    uint32_t order;
};

struct beam_origin {
    int32_t from, choice;
    int32_t ways; /* list of other ways into the state, or -1 */
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
    int32_t width;   /* the caller may lower it between steps */
    int32_t count;   /* states after the last step, best first */
    int64_t limit;   /* in this step, candidates of this rank or above are dropped */
    int64_t dropped; /* least rank dropped for lack of room */
    bool exact;      /* no state was dropped */
    bool merged;     /* two ways to the same row were merged */
    /* Private. */
    char *nodes, *next_nodes;
    int32_t *rows, *next_rows;
    uint64_t *hashes, *next_hashes; /* per state */
    const int32_t *changed;
    int32_t changed_count;
    int32_t *open, open_count;         /* slots in which states differ */
    int32_t *compared, compared_count; /* open slots that this step does not change */
    unsigned char *slot_flags;
    VEC(struct beam_candidate) found, sorted;
    VEC(struct beam_key) keys;
    VEC(char) found_nodes;
    VEC(int32_t) found_numbers;
    VEC(uint32_t) table;
    int32_t places; /* each candidate in `found` has one, also those beyond its count */
    uint32_t order;
    VEC(struct beam_origin) trace;
    VEC(struct beam_way) ways;
    bool ways_lost;     /* more ways than MOST_WAYS */
    VEC(size_t) layers; /* per step: index of its first state in `trace` */
    struct arena memory;
};

/* Starts with one state. `row` NULL: all zero. */
void beam_begin(struct beam *b, const struct beam_rules *rules, const void *root, const int32_t *row);
void beam_end(struct beam *b);
/* Begins a step that changes these slots of every state; `slots` must live until beam_settle. */
void beam_step(struct beam *b, const int32_t *slots, int32_t count);
/* Offers a successor of state `from`. `numbers`: one per slot that the step changes. */
void beam_offer(struct beam *b, int32_t from, int32_t choice, const void *node, const int32_t *numbers);
/* Records that the caller dropped a candidate of this rank. */
void beam_drop(struct beam *b, int64_t rank);
/* Ends the step: merges equal rows and keeps the best. */
void beam_settle(struct beam *b);
/* Writes the choice of every step that led to state `at`. */
void beam_trace(const struct beam *b, int32_t at, int32_t *choices);

static inline const void *beam_node_of(const struct beam *b, int32_t at)
{
    return b->nodes + (size_t)at * b->rules.node_size;
}

static inline const int32_t *beam_row_of(const struct beam *b, int32_t at)
{
    return b->rows + (size_t)at * (size_t)b->rules.slots;
}

/* The origin of state `at` after a step. */
static inline struct beam_origin beam_origin_of(const struct beam *b, size_t step, int32_t at)
{
    return b->trace.at[b->layers.at[step] + (size_t)at];
}

/* Sorts by rank and tie, then by `before` on `at`. `room`: space for `count` keys. */
typedef bool (*beam_key_before)(const void *context, uint32_t a, uint32_t b);
void beam_sort(struct beam_key *keys, size_t count, struct beam_key *room, beam_key_before before,
               const void *context);

/* Allocates slots as a linear-scan register allocator does. Returns the number of slots. */
int32_t beam_slots(const int32_t *from, const int32_t *to, int32_t count, int32_t *slot);

/* Hash of a number in a slot; the hash of a row is their XOR. */
static inline uint64_t beam_mix(int32_t slot, int32_t number)
{
    uint64_t z = ((uint64_t)(uint32_t)slot << 32 | (uint32_t)number) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ? z ^ (z >> 31) : 0;
}
