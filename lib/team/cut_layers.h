/* What the search for cuts has between two ops, and layers that repeat in it (graph/repeats.h): searched until what stands
 * at the end of one is what stood at the end of the one before, but for a constant in what it costs; those behind it then
 * go as the last one did, and what is found is the same. Private to the stage. */
#ifndef LX_TEAM_CUT_LAYERS_H
#define LX_TEAM_CUT_LAYERS_H

#include "graph/repeats.h"
#include "team/cut_search.h"

enum { CUT_BROUGHT = 2 };

/* A tensor that is still to be touched: as it was made, and as it is joined if it is. */
struct slot {
    struct cut_state made, state;
    bool joined;
    bool apart; /* its parts were read, or it was made of parts: blocks are the default ones */
    uint32_t brought[CUT_BROUGHT];
};

struct hypothesis {
    struct cut_cost cost;
    int32_t parent, way; /* of the layer before, of the op */
};

/* All that stand between two ops: slot k of hypothesis h is slots.at[h * live + k]. `firsts` are states of tensors that the
 * op was the first to touch, `joins` those in which operands were joined for it. */
struct layer {
    VEC(struct hypothesis) all;
    VEC(struct slot) slots;
    VEC(struct cut_state) firsts;
    VEC(struct cut_state) joins;
    int32_t *tensors; /* live ones, and how many */
    int live, first_count, operand_count;
    int32_t first[LX_MAX_OPERANDS]; /* tensors */
    bool borrowed;                  /* all but tensors and slots are those of another */
};

/* Per op: `class`, the first that is like it; per tensor: the last op that touches it, how many inputs it is, and flags
 * that must agree. */
struct cut_repeats {
    const struct cut_question *q;
    struct layer *layers;
    const int32_t *class, *last, *readers;
    const bool *flags[2];
    struct lx_repeat *runs;
    int32_t run_count;
    int32_t *twin, *of; /* per tensor of a layer: that of the next one, and back; -1: none */
};

/* Finds the runs; false: memory is out. Free it either way. */
bool cut_repeats_find(struct cut_repeats *r);
void cut_repeats_free(struct cut_repeats *r);
/* Does a layer begin before op `o`, or end there? Then its slots are wanted. */
bool cut_repeats_border(const struct cut_repeats *r, int32_t o);
/* The op up to which the search can go on from `o` without searching; `o`: it cannot. *ok: false, memory is out. */
int32_t cut_repeats_go(struct cut_repeats *r, int32_t o, bool *ok);
bool cut_same_slots(const struct slot *a, const struct slot *b, int count);
uint64_t cut_hash_slots(const struct slot *slots, int count);

/* cut_beam.c: the best `most` of what stands behind op `o` go on, in their order; *dropped where some do not. Per tensor:
 * may it be read as parts; the last op so far that wrote it. */
struct cut_beam {
    const struct cut_question *q;
    struct cut_prices *prices;
    int32_t o;
    const bool *parts;
    const int32_t *writer;
    size_t most;
};
bool cut_drop(const struct cut_beam *b, struct layer *l, bool *dropped);

#endif
