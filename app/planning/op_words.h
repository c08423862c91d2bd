/* An op of a plan in words: places and bytes of its operands, neighbours that split them differently, and the
 * reason of its split; how far a run is. */
#pragma once

#include "unstable.h"
#include "base/base.h"
#include "base/words/words.h"

/* "on chip", "on chip, and stored: 262,144 B", "on chip, loaded: 32,768 B", "HBM: 1,048,576 B". Operands are
 * inputs in order, then the output. */
void add_place_words(const struct lx_plan *p, int32_t op, int operand, struct text *out);

/* How another op of the same tensor cuts it. */
enum cut_agreement {
    CUT_SAME,
    CUT_RING, /* otherwise, and it is relaid over the data ring */
    CUT_HBM   /* otherwise, and it goes through HBM */
};
/* "same cut as op e0_silu", "MISMATCH with op e0_silu: relaid over the ring, 983,040 B", "MISMATCH with op y:
 * through HBM, 262,144 B". `other` writes the operand, or reads it where `op` writes it. */
enum cut_agreement add_cut_words(const struct lx_plan *p, int32_t op, int operand, int32_t other,
                                 struct text *out);

/* "cost: the cheapest division of this matmul by the cost model"; of an op that was divided anew together
 * with its neighbours: "co-optimised: agrees with op e0_silu, 262,144 B stay on chip". */
void add_split_words(const struct lx_plan *p, int32_t op, int split, struct text *out);

/* "filling inputs: 1200.0 of 2100.0 MB", "op 3 of 112, iteration 5 of 16". */
struct words run_progress_words(const struct lx_run_progress *so_far);
