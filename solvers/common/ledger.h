/* The cost of an answer, updated as buffers go on and off chip: off-chip costs, costs of a placed buffer's
 * spot, linked costs, and the number of broken rules about on and off (forbidden linked costs, must,
 * together, staging). Each rule about on and off is a linked cost: `must` forbids one to be off, `together`
 * is a ring of forbidden ones, staging forbids both on and both off. Each linked cost counts its failing
 * `all` conditions and its holding `any` conditions; changing a buffer touches only its own linked costs. */
#pragma once

#include "base/base.h"
#include "placement/problem.h"

struct ledger_entry {
    int32_t linked;
    bool in_all, when_on; /* an `all` condition, else an `any`; it holds if (buffer is on) == when_on */
};

struct ledger_charge {
    int64_t cost;         /* LX_FORBIDDEN: a broken rule */
    int32_t failing, any; /* `all` conditions that fail, `any` conditions that hold */
    bool has_any;
};

struct ledger {
    const struct lx_problem *p;
    bool *on;
    int64_t *here; /* per buffer on chip: the cost of its spot */
    struct ledger_charge *linked;
    int32_t linked_cost_count;
    size_t *first; /* per buffer, count + 1: its entries */
    struct ledger_entry *entry;
    int64_t cost, broken; /* of the present answer */
    struct arena memory;
};

/* Starts all off chip. `all_must`: every buffer must be placed. The caller frees `memory`. */
void ledger_init(struct ledger *l, const struct lx_problem *p, bool all_must);

/* Puts the buffer on chip at cost `here`, or off. */
void ledger_set(struct ledger *l, int32_t i, bool on, int64_t here);

/* Units: sets of buffers whose states imply each other. A group is on or off as a whole, and a staging buffer
 * is on when its owner is off; so a unit has two states. In state 1 its members with the first sign are on,
 * in state 0 the others. */

struct units {
    int32_t count;
    int32_t *first;  /* count + 1: members of a unit */
    int32_t *member; /* buffers, by number */
    bool *against;   /* parallel to `member`: on in state 0 */
    int32_t *of;     /* per buffer: its unit */
    struct arena memory;
};

/* Contradicting signs give a unit that no answer satisfies. The caller frees `memory`. */
void units_make(struct units *u, const struct lx_problem *p);
