/* The choices that the search for shards has between two ops, and layers that repeat in it
 * (graph/graph.h). Private to the stage.
 *
 * Layers are searched until a layer ends with the same choices as the layer before, and each choice costs as
 * much more as its predecessor did: if the next layers decide alike, costs grow linearly with the number of
 * layers, as straight lines. One layer far ahead is searched with costs from these lines. Where it finds nothing cheaper than
 * on them, neither do the layers between, as the difference of two lines that is not below 0 at two places
 * is not below 0 between them; else a layer half as far ahead is tried. The answer costs as much as if all
 * had been searched, unless choices were dropped (shard_beam.c). */
#ifndef LX_TEAM_SHARD_SHARD_LAYERS_H
#define LX_TEAM_SHARD_SHARD_LAYERS_H

#include "graph/graph.h"
#include "team/shard/shard_search.h"

enum { SHARD_NOT_JOINED = -100, SHARD_ANYHOW = -101 };

/* The state of a tensor that later ops touch: as it was made, and as it was joined. */
struct slot {
    struct shard_state made, state;
    bool joined;
    bool apart; /* it was read as, or made of, partial sums: blocks are the default ones */
    uint32_t brought[SHARD_BROUGHT];
};

/* An index of rows of numbers, which its user keeps in a list. */
struct shard_index {
    int32_t *table;
    size_t room;
};

/* shard_slots.c: every slot that a search meets, once, by its number. */
struct shard_slots {
    VEC(struct slot) all;
    VEC(int32_t) rows;
    struct shard_index index;
};
int32_t shard_slot_number(struct shard_slots *s, const struct slot *slot);
void shard_slots_free(struct shard_slots *s);
/* Where the number of a row is, or -1 for it to be put there. `rows` has `count` rows of `width`. */
int32_t *shard_index_find(struct shard_index *x, const int32_t *rows, size_t count, size_t width,
                          const int32_t *row);
void shard_index_clear(struct shard_index *x);

/* A way of an op for some states of its operands, and its cost. */
struct outcome {
    struct shard_cost cost;
    int32_t way;
};

struct hypothesis {
    struct shard_cost cost;
    int32_t parent, outcome; /* of the layer before, of this one */
};

/* All hypotheses between two ops: slot k of hypothesis h is slots.at[h * live + k]. Per outcome, `firsts`
 * are states of tensors that the op was the first to touch, `joins` the states into which operands were
 * joined for it, or SHARD_NOT_JOINED. */
struct layer {
    VEC(struct hypothesis) all;
    VEC(int32_t) slots;
    VEC(struct outcome) outcomes;
    VEC(struct shard_state) firsts;
    VEC(struct shard_state) joins;
    int32_t *tensors; /* live ones, and how many */
    int live, first_count, operand_count;
    int32_t first[LX_MAX_OPERANDS]; /* tensors */
    bool borrowed;                  /* all but tensors and slots belong to another layer */
};
void shard_layer_free(struct layer *l);
/* Keeps the hypotheses that go on, in their order. */
void shard_layer_keep(struct layer *l, const bool *goes);

/* Per tensor: the last op that touches it, the last op so far that wrote it, its readers, whether it may be
 * read as partial sums, whether some of it is changed later. */
struct shard_uses {
    int32_t *last, *writer;
    struct tensor_ops reads;
    bool *partial, *changed;
};

/* shard_outcomes.c: an op and the places of its operands, each once: tensors that are live before it, then
 * tensors that it is the first to touch. */
struct shard_operands {
    const struct shard_question *q;
    struct shard_prices *prices;
    const struct shard_uses *uses;
    enum shard_along along;
    int32_t o;
    struct op_index x;
    shard_ways ways;
    int at[LX_MAX_OPERANDS]; /* per operand */
    int count, old;          /* places; those of live tensors */
    int32_t tensor[LX_MAX_OPERANDS];
    VEC(int32_t) after; /* per outcome of the layer and place: its slot; -1: it is not needed any more */
    struct shard_index index;
};
/* Adds the outcomes of the op for these slots of the old places; of outcomes that leave the same the
 * cheapest. */
void shard_outcomes_add(struct shard_operands *p, struct shard_slots *slots, const int32_t *old,
                        struct layer *to);

/* Per op: `class`, the first that is like it. */
struct shard_repeats {
    const struct shard_question *q;
    struct layer *layers;
    const int32_t *class;
    const struct shard_uses *uses;
    struct lx_repeat *runs;
    int32_t run_count;
    int32_t *twin, *of; /* per tensor of a layer: that of the next one, and back; -1: none */
    int32_t from, reach,
        check_at; /* layers that were passed, and the op before which that is checked; -1: none */
};

/* Finds the runs. */
void shard_repeats_find(struct shard_repeats *r);
void shard_repeats_free(struct shard_repeats *r);
/* Does a layer begin before op `o`, or end there? Then its slots are wanted. */
bool shard_repeats_border(const struct shard_repeats *r, int32_t o);
/* The op from which the search is to go on: `o`, one behind layers that were passed, or, where those were
 * not right to pass, the one that it passed them from. */
int32_t shard_repeats_go(struct shard_repeats *r, int32_t o);

struct shard_outlook;
/* shard_beam.c: the best `most` hypotheses behind op `o` go on, in their order, and one in which nothing is
 * sharded; *dropped where some do not. */
struct shard_beam {
    const struct shard_question *q;
    struct shard_prices *prices;
    int32_t o;
    const struct shard_uses *uses;
    const struct shard_slots *slots;
    size_t most;
    struct shard_outlook **outlooks; /* known costs of readers: made by the first call, to be freed */
};
/* False: it was stopped. */
bool shard_drop(const struct shard_beam *b, struct layer *l, bool *dropped);

/* shard_bound.c: a state that suits every reader of a tensor. */
extern const struct shard_state shard_anyhow;
static inline bool shard_is_anyhow(struct shard_state s)
{
    return s.at[0] == SHARD_ANYHOW;
}
/* Hypotheses that are no better than others in any way do not go on. Of the rest the `most` cheapest do;
 * all others go on as one, for the least cost of them, in which tensors have a state that suits where they
 * differ: nothing that they lead to costs less than that. False: it was stopped. */
struct shard_merger {
    const struct shard_question *q;
    int32_t o; /* it stands behind this op */
    const struct shard_uses *uses;
    struct shard_slots *slots;
    struct shard_index *index; /* of the layer's rows */
    struct layer *l;
    size_t most;
};
bool shard_merge(const struct shard_merger *k, bool *merged);

#endif
