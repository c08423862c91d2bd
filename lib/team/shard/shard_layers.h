/* Choices of the shard search between two ops, and its repeated layers (graph/graph.h). Private to the
 * stage.
 *
 * Layers are searched until a layer ends with the same choices as the layer before, and each choice has
 * grown in cost as much as its predecessor did. If the next layers decide alike, costs grow linearly with
 * the number of layers. One layer far ahead is searched with these extrapolated costs. If it finds nothing
 * cheaper, neither do the layers between, because the difference of two lines that is not negative at two
 * points is not negative between them. Otherwise a layer half as far ahead is tried. The answer costs the
 * same as a full search, unless choices were dropped (shard_beam.c). */
#pragma once

#include "team/shard/shard_search.h"

enum { SHARD_NOT_JOINED = -100, SHARD_ANYHOW = -101 };

/* State of a live tensor: as made, and as joined. */
struct slot {
    struct shard_state made, state;
    bool joined;
    bool apart; /* it was read as, or made from, partial sums: its blocks are the default ones */
    uint32_t brought[SHARD_BROUGHT];
};

/* A hash index of rows of numbers; the user keeps the rows in a list. */
struct shard_index {
    int32_t *table;
    size_t room;
};

/* shard_slots.c: numbers every distinct slot of a search. */
struct shard_slots {
    VEC(struct slot) all;
    VEC(int32_t) rows;
    struct shard_index index;
};
int32_t shard_slot_number(struct shard_slots *s, const struct slot *slot);
void shard_slots_free(struct shard_slots *s);
/* Where the row's number is stored; -1 there if the row is new. `rows` has `count` rows of `width`. */
int32_t *shard_index_find(struct shard_index *x, const int32_t *rows, size_t count, size_t width,
                          const int32_t *row);
void shard_index_clear(struct shard_index *x);

/* A way of an op for given operand states, and its cost. */
struct outcome {
    struct shard_cost cost;
    int32_t way;
};

struct hypothesis {
    struct shard_cost cost;
    int32_t parent, outcome; /* parent: in the layer before; outcome: in this one */
};

/* All hypotheses between two ops: slot k of hypothesis h is slots.at[h * live + k]. Per outcome, `firsts`
 * are the states of tensors first touched by the op, `joins` the states into which its operands were joined,
 * or SHARD_NOT_JOINED. */
struct layer {
    VEC(struct hypothesis) all;
    VEC(int32_t) slots;
    VEC(struct outcome) outcomes;
    VEC(struct shard_state) firsts;
    VEC(struct shard_state) joins;
    int32_t *tensors; /* live tensors */
    int live, first_count, operand_count;
    int32_t first[LX_MAX_OPERANDS]; /* tensors first touched by the op */
    bool borrowed;                  /* all but tensors and slots belong to another layer */
};
void shard_layer_free(struct layer *l);
/* Keeps hypothesis h if goes[h], in order. */
void shard_layer_keep(struct layer *l, const bool *goes);

/* Per tensor: its last op, its last writer so far, its readers, whether it may be read as partial sums,
 * whether it is changed later. */
struct shard_uses {
    int32_t *last, *writer;
    struct tensor_ops reads;
    bool *partial, *changed;
};

/* shard_outcomes.c: an op and the distinct places of its operands: first tensors that are live before it,
 * then tensors it touches first. */
struct shard_operands {
    const struct shard_question *q;
    struct shard_prices *prices;
    const struct shard_uses *uses;
    enum shard_along along;
    int32_t o;
    struct op_index x;
    shard_ways ways;
    int at[LX_MAX_OPERANDS]; /* per operand: its place */
    int count, old;          /* places; places of live tensors */
    int32_t tensor[LX_MAX_OPERANDS];
    VEC(int32_t) after; /* per outcome of the layer and place: its slot; -1: not live any more */
    struct shard_index index;
};
/* Adds the op's outcomes for these slots of the old places. Of outcomes with the same slots afterwards the
 * cheapest is kept. */
void shard_outcomes_add(struct shard_operands *p, struct shard_slots *slots, const int32_t *old,
                        struct layer *to);

/* Repeated layers of a search. class[op]: the first op with equal ways and prices. */
struct shard_repeats {
    const struct shard_question *q;
    struct layer *layers;
    const int32_t *class;
    const struct shard_uses *uses;
    struct lx_repeat *runs;
    int32_t run_count;
    int32_t *twin, *of; /* per tensor of a layer: its counterpart in the next layer, and back; -1: none */
    int32_t from, reach, check_at; /* skipped layers, and the op before which they are checked; -1: none */
};

/* Finds the runs. */
void shard_repeats_find(struct shard_repeats *r);
void shard_repeats_free(struct shard_repeats *r);
/* Whether a layer begins or ends before op `o`; its slots are then needed. */
bool shard_repeats_border(const struct shard_repeats *r, int32_t o);
/* The op where the search continues: `o`, an op behind skipped layers or, if the check failed, the op where
 * they began. */
int32_t shard_repeats_go(struct shard_repeats *r, int32_t o);

struct shard_outlook;
/* shard_beam.c: keeps the best `most` hypotheses behind op `o`, in order, and one that shards nothing.
 * *dropped is set if others were dropped. */
struct shard_beam {
    const struct shard_question *q;
    struct shard_prices *prices;
    int32_t o;
    const struct shard_uses *uses;
    const struct shard_slots *slots;
    size_t most;
    struct shard_outlook **outlooks; /* cache of reader costs: made by the first call, freed by the caller */
};
/* False: cancelled. */
bool shard_drop(const struct shard_beam *b, struct layer *l, bool *dropped);

/* shard_bound.c: a state that suits every reader of a tensor. */
extern const struct shard_state shard_anyhow;
static inline bool shard_is_anyhow(struct shard_state s)
{
    return s.at[0] == SHARD_ANYHOW;
}
/* Removes dominated hypotheses. Of the rest it keeps the `most` cheapest and merges all others into one,
 * with their least cost; where they differ, a tensor gets the state that suits every reader. So no result
 * costs less than the bound. False: cancelled. */
struct shard_merger {
    const struct shard_question *q;
    int32_t o; /* the merge is behind this op */
    const struct shard_uses *uses;
    struct shard_slots *slots;
    struct shard_index *index; /* index of the layer's rows */
    struct layer *l;
    size_t most;
};
bool shard_merge(const struct shard_merger *k, bool *merged);
