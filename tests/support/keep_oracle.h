/* The least HBM traffic of a tiny graph on one core, found by trying everything: what is on chip between which uses,
 * in every packing, in one order of the ops or in all. Shares no code with the planner; of the plan it takes the
 * operands, their bytes, and which op may write over which of its inputs. Every tensor has one writer at most. */
#ifndef LX_TESTS_SUPPORT_KEEP_ORACLE_H
#define LX_TESTS_SUPPORT_KEEP_ORACLE_H

#include "plan/plan.h"
#include "search/plan_search.h"
#include "layout/op_index.h"

enum { ORACLE_OPS = 18, ORACLE_TENSORS = 40, ORACLE_USES = 14, ORACLE_STAYS = 40 };

struct oracle_use {
    int tick;
    bool reads, writes;
    int64_t bytes;
};

struct oracle_stay {
    int tensor, first, last;
    int64_t size, address;
    int over; /* the stay whose place it takes, or -1 */
    bool given;
};

struct oracle {
    int ops, tensors;
    int operands[ORACLE_OPS][8], operand_count[ORACLE_OPS]; /* the output last */
    int64_t bytes[ORACLE_OPS][8];
    bool over[ORACLE_OPS][8]; /* its output may be written over this input */
    int64_t whole[ORACLE_TENSORS], size[ORACLE_TENSORS];
    bool output[ORACLE_TENSORS];
    int64_t capacity;
    bool cuts, moves; /* stays may be cut; may change their places: only the load counts */
    /* Under way. */
    int order[ORACLE_OPS];
    struct oracle_use uses[ORACLE_TENSORS][ORACLE_USES];
    int use_count[ORACLE_TENSORS];
    unsigned kept[ORACLE_TENSORS];  /* bit k: between uses k and k + 1 */
    unsigned alone[ORACLE_TENSORS]; /* bit k: loaded for use k only, which reads it several times */
    int64_t best;
};

/* False: too large for this. */
bool oracle_of(const struct lx_plan *p, struct oracle *x);

/* The least of all; `below`: that of a plan that is known, and one more. */
int64_t oracle_least(struct oracle *x, bool any_order, int64_t below);

#endif
