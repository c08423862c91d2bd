/* Why a tensor or a residency is not on chip: one table of words. $o and $p stand for ops, $s and $t for their
 * splits, $n and $m for bytes. */
#pragma once

#include "stays/draft.h"

/* clang-format off */
#define LX_REASONS(X)                                                                                        \
    X(REASON_HBM,         "the pattern says hbm")                                                            \
    X(REASON_INTERLEAVED, "the pattern says interleaved, which only HBM is")                                 \
    X(REASON_STATE,       "a state: its home is HBM, and what changes is written there")                     \
    X(REASON_INPUT,       "graph input: it arrives in HBM")                                                  \
    X(REASON_OUTPUT,      "graph output: it leaves through HBM")                                             \
    X(REASON_UNUSED,      "no op uses it")                                                                   \
    X(REASON_EXTERN,      "op $o is extern and works on HBM only")                                           \
    X(REASON_NO_DUMP,     "an extern op wipes the scratchpads while it lives, and dumps are switched off")   \
    X(REASON_STAGE,       "the stage that is asked for leaves it in HBM")                                    \
    X(REASON_PARTIAL,     "op $o splits it $s, and then cores would need parts that are not theirs")         \
    X(REASON_NEST,        "a copy of it would be made before the nest has made all of it")                   \
    X(REASON_SPLIT,       "split differs from op $p: op $o has $s, op $p $t")                                \
    X(REASON_SIZE,        "too large: $n of $m B per core")                                                  \
    X(REASON_SIZE_THERE,  "too large where op $o has it: $n of $m B per core")                               \
    X(REASON_READ_ONCE,   "compulsory: only op $o reads it")                                                 \
    X(REASON_WRITTEN,     "compulsory: a graph output that no op reads")                                     \
    X(REASON_UNREAD,      "no op reads it")                                                                  \
    X(REASON_WIPED,       "the scratchpads are wiped between op $o and op $p")                               \
    X(REASON_LEAVES,      "it leaves the scratchpads between op $o and op $p")                               \
    X(REASON_NO_GAIN,     "a place on chip would save nothing")
/* clang-format on */

#define LX_REASON_ENUM(id, words) id,
enum lx_reason { LX_REASONS(LX_REASON_ENUM) LX_REASON_COUNT };
#undef LX_REASON_ENUM

struct reason_facts {
    const char *op, *split, *other, *other_split;
    int64_t bytes, room;
};

/* The words of a reason without facts. */
const char *reason_plain(enum lx_reason reason);
/* The words of a reason, in `memory` where they state facts. */
const char *reason_text(struct arena *memory, enum lx_reason reason, struct reason_facts facts);

/* Why a stay that would save nothing saves nothing: the first obstacle to sharing it with another access of
 * its tensor; compulsory where there is no other. */
const char *reason_of_no_gain(const struct draft *x, int32_t stay);
