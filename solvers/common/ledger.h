/* What an answer costs, kept up to date while buffers go on chip and off: costs of being off and of being where one
 * is, charges, and how many rules about on and off are broken (forbidden charges, must, together, staging).
 *
 * Each rule about on and off is a charge: `must` forbids one to be off, `together` is a ring of forbidden ones,
 * staging forbids both on and both off. Per charge it is counted how many of its `all` conditions fail and how many of
 * its `any` conditions hold; a buffer that changes touches only the charges it is in. */
#ifndef LX_SOLVERS_COMMON_LEDGER_H
#define LX_SOLVERS_COMMON_LEDGER_H

#include "placement/problem.h"

struct ledger_entry {
    int32_t charge;
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
    struct ledger_charge *charge;
    int32_t charge_count;
    size_t *first; /* per buffer, count + 1: its entries */
    struct ledger_entry *entry;
    int64_t cost, broken; /* of the answer as it is */
};

/* All off chip. `all_must`: every buffer is to be placed. False: memory is out. */
void ledger_init(struct ledger *l, const struct lx_problem *p, bool all_must);
void ledger_free(struct ledger *l);
/* The buffer goes on chip, where it costs `here`; or off. */
void ledger_on(struct ledger *l, int32_t i, int64_t here);
void ledger_off(struct ledger *l, int32_t i);

#endif
