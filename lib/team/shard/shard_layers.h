/* What the search for cuts has between two ops, and layers that repeat in it (graph/repeats.h). Private to
 * the stage.
 *
 * Layers are searched until what stands at the end of one stood at the end of the one before, and every
 * choice grows by what the choice grows by that it came from: if the next layers decide alike, costs are
 * then straight lines. One layer far ahead is searched with costs from these lines. Where it finds nothing
 * cheaper than on them, neither do those between, as the difference of two lines that is not below 0 at two
 * places is not below 0 between them; else a layer half as far ahead is tried. What is found costs what it
 * would had all been searched, unless choices were dropped (shard_beam.c). */
#ifndef LX_TEAM_SHARD_SHARD_LAYERS_H
#define LX_TEAM_SHARD_SHARD_LAYERS_H

#include "graph/repeats.h"
#include "team/shard/shard_search.h"
#include "team/tensor_ops.h"

enum { SHARD_NOT_JOINED = -100, SHARD_ANYHOW = -101 };

/* A tensor that is still to be touched: as it was made, and as it is joined if it is. */
struct slot {
    struct shard_state made, state;
    bool joined;
    bool apart; /* its parts were read, or it was made of parts: blocks are the default ones */
    uint32_t brought[SHARD_BROUGHT];
};

/* Rows of numbers told apart: per row its place in a list of them, which its user keeps. */
struct shard_index {
    int32_t *table;
    size_t room;
};

/* shard_slots.c: every slot that a search meets, once; it is known by its number. */
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

/* What an op may do where its operands stand in some way, and what it costs. */
struct outcome {
    struct shard_cost cost;
    int32_t way;
};

struct hypothesis {
    struct shard_cost cost;
    int32_t parent, outcome; /* of the layer before, of this one */
};

/* All that stand between two ops: slot k of hypothesis h is slots.at[h * live + k]. Per outcome, `firsts`
 * are states of tensors that the op was the first to touch, `joins` those in which operands were joined for
 * it, or SHARD_NOT_JOINED. */
struct layer {
    VEC(struct hypothesis) all;
    VEC(int32_t) slots;
    VEC(struct outcome) outcomes;
    VEC(struct shard_state) firsts;
    VEC(struct shard_state) joins;
    int32_t *tensors; /* live ones, and how many */
    int live, first_count, operand_count;
    int32_t first[LX_MAX_OPERANDS]; /* tensors */
    bool borrowed;                  /* all but tensors and slots are those of another */
};
void shard_layer_free(struct layer *l);
/* Those that go on, in the order in which they stood. */
void shard_layer_keep(struct layer *l, const bool *goes);

/* What the search knows of each tensor: the last op that touches it, the last op so far that wrote it, who
 * reads it, whether it may be read as parts, whether some of it is changed later. */
struct shard_uses {
    int32_t *last, *writer;
    struct tensor_ops reads;
    bool *partial, *changed;
};

/* shard_outcomes.c: an op and the places of its operands, each once: those that stood before, then those that
 * it is the first to touch. */
struct shard_operands {
    const struct shard_question *q;
    struct shard_prices *prices;
    const struct shard_uses *uses;
    enum shard_along along;
    int32_t o;
    struct op_index x;
    shard_ways ways;
    int at[LX_MAX_OPERANDS]; /* per operand */
    int count, old;          /* places; those that stood before */
    int32_t tensor[LX_MAX_OPERANDS];
    VEC(int32_t) after; /* per outcome of the layer and place: its slot; -1: it is not needed any more */
    struct shard_index index;
};
/* Adds to the layer what the op may do where the old places have these slots; of outcomes that leave the
 * same the cheapest. */
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
/* shard_beam.c: the best `most` of what stands behind op `o` go on, in their order, and one in which nothing
 * is cut; *dropped where some do not. */
struct shard_beam {
    const struct shard_question *q;
    struct shard_prices *prices;
    int32_t o;
    const struct shard_uses *uses;
    const struct shard_slots *slots;
    size_t most;
    struct shard_outlook **
        outlooks; /* what readers of live tensors cost, as far as it is known: made by the first, to be freed */
};
bool shard_drop(const struct shard_beam *b, struct layer *l, bool *dropped);

/* shard_bound.c: the state that suits whoever reads or changes a tensor; is it that? */
extern const struct shard_state shard_anyhow;
static inline bool shard_is_anyhow(struct shard_state s)
{
    return s.at[0] == SHARD_ANYHOW;
}
/* Choices that are no better than others in any way do not go on. Of the rest the `most` cheapest do; all
 * others go on as one, for the least that one of them costs, in which tensors are as suits where they
 * differ: whatever they lead to costs no less than what that does. */
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
