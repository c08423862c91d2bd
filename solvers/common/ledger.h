/* What an answer costs, kept up to date while buffers go on chip and off: costs of being off and of being
 * where one is, linked costs, and how many rules about on and off are broken (forbidden linked costs,
 * must, together, staging). Each rule about on and off is a linked cost: `must` forbids one to be off,
 * `together` is a ring of forbidden ones, staging forbids both on and both off. Per linked cost it is
 * counted how many of its `all` conditions fail and how many of its `any` conditions hold; a buffer that
 * changes touches only the linked costs it is in. */
#ifndef LX_SOLVERS_COMMON_LEDGER_H
#define LX_SOLVERS_COMMON_LEDGER_H

#include "base/arena.h"
#include "placement/problem.h"

struct ledger_entry {
    int32_t linked;
    bool in_all, when_on; /* one of the `all` conditions, else of the `any`; it holds when the buffer is on */
};

struct ledger_charge {
    int64_t cost;         /* LX_FORBIDDEN: a broken rule */
    int32_t failing, any; /* `all` conditions that fail, `any` conditions that hold */
    bool has_any;
};

struct ledger {
    const struct lx_problem *p;
    bool *on;
    int64_t *here; /* per buffer that is on: the cost of being where it is */
    struct ledger_charge *linked;
    int32_t linked_cost_count;
    size_t *first; /* per buffer, count + 1: its entries */
    struct ledger_entry *entry;
    int64_t cost, broken; /* of the present answer */
    struct arena memory;
};

/* All off chip. `all_must`: every buffer is to be placed. The caller frees `memory`. */
void ledger_init(struct ledger *l, const struct lx_problem *p, bool all_must);

/* The buffer goes on chip, where it costs `here`; or off. */
void ledger_set(struct ledger *l, int32_t i, bool on, int64_t here);

/* Units: buffers whose being on chip or off hangs together. A group that goes together is on or off as a
 * whole, and a staging buffer is on when what it stands in for is off; so each such set has two states.
 * In state 1 its members with the first sign are on, in state 0 those with the other. */

struct units {
    int32_t count;
    int32_t *first;  /* count + 1: members of a unit */
    int32_t *member; /* buffers, by number */
    bool *against;   /* parallel to `member`: on in state 0 */
    int32_t *of;     /* per buffer: its unit */
    struct arena memory;
};

/* Signs that contradict each other give a unit that no answer satisfies. The caller frees `memory`. */
void units_make(struct units *u, const struct lx_problem *p);

#endif
