/* The request for a plan: the objective, the passes, the solver and its limits. */
#pragma once

#include "base/vec.h"
#include "launch/launch_of_op.h"
#include "stays/stay.h"

/* A pass of the planner. Value 0 is the default of each. */
struct lx_pass {
    const char *name;         /* key in plan files; NULL ends the table */
    const char *option;       /* on the command line, without dashes */
    const char *const *words; /* names of the values; NULL: a switch, off or on */
    const char *help;
    unsigned offset;       /* into struct lx_passes */
    unsigned fixed_stages; /* a bit per enum lx_stage at which the value is always `fixed` */
    int fixed;
    int off;        /* the value that disables the pass; plan files that omit the pass have it */
    bool of_search; /* acts on the search for a plan, not on the solver's problem */
};

enum { LX_MOST_PASSES = 32 };
const struct lx_pass *lx_passes(void);
int lx_pass_count(void);
int lx_pass_get(const struct lx_passes *p, const struct lx_pass *row);
void lx_pass_set(struct lx_passes *p, const struct lx_pass *row, int value);
/* The options of work division that the passes imply. */
struct lx_divide_options lx_passes_divide(const struct lx_passes *p);
/* The passes, limited to the stage that `asked` selects. */
struct lx_passes passes_of_stage(const struct lx_passes *asked);

/* Objectives of a plan, in the words of `--objective`; 0: the pattern's own. X(id, word, the solver's
 * objective) */
#define LX_ASKS(X)                                                                                           \
    X(LX_ASK_OWN, "pattern's own", LX_SPILL)                                                                 \
    X(LX_ASK_TRAFFIC, "bytes", LX_SPILL)                                                                     \
    X(LX_ASK_TIME, "time", LX_SPILL)                                                                         \
    X(LX_ASK_BALANCED, "balanced", LX_SPILL)                                                                 \
    X(LX_ASK_FIT, "fit", LX_FIT)                                                                             \
    X(LX_ASK_HEIGHT, "height", LX_HEIGHT)

#define LX_ASK_ENUM(id, word, question) id,
enum lx_ask { LX_ASKS(LX_ASK_ENUM) LX_ASK_COUNT };
#undef LX_ASK_ENUM

const char *lx_ask_word(enum lx_ask a);
/* Finds an objective by its word, by the solver's word (spill) or as `traffic`; LX_ASK_COUNT: none. */
enum lx_ask lx_ask_find(const char *word);
/* The solver's objective; `own`: the pattern's. */
enum lx_objective lx_asked(enum lx_ask a, enum lx_objective own);

enum { LX_NESTS_TEXT = 400 };

/* What searches for the same answer leave to later ones. */
struct search_states {
    VEC(uint64_t) of; /* hashes of states */
    /* Plans with few bytes that searches by time came to, at most `slower` times as slow as the fastest; 0: none
     * are kept. */
    double slower;
    VEC(struct lx_plan *) lean;
};

/* Zero, except for the solver, means the pattern's objective with every default. */
struct lx_plan_options {
    const struct lx_solver *solver;
    struct lx_run run;
    enum lx_ask objective;
    double fast_us;   /* of balanced: plans that take no longer are compared by bytes; 0: find the fastest */
    bool overlaps;    /* of balanced: loads may be issued early though plans are compared by bytes */
    bool keeps_quiet; /* no plans are offered on the way (base/slot.h) */
    /* Bytes of known plans, by bytes; 0: none. A plan is of use only if it moves less than the rival, and the
     * search for nests ends with one that moves no more than enough. */
    int64_t rival_bytes, enough_bytes;
    struct lx_passes passes;
    bool any_division; /* by bytes: co-optimises where the plan without leaves much room and moves much */
    bool certify;      /* the caller proves the bound (lx_plan_certify) */
    struct lx_launch_options launch; /* of ops; a list of tiles is read from its file */
    /* nests that the plan must have, and no others: see --nests; empty: free choice */
    char nests[LX_NESTS_TEXT];
    /* Packs HBM, and tries cuts and orders on large graphs, which `solver` then solves once more. NULL:
     * `solver`. */
    const struct lx_solver *quick_solver;
    const struct lx_solver *other_solver; /* by time, for a portfolio: as quick; NULL: none */
    /* A plan of the same graph whose layouts and divisions are shared if equal. NULL: none. */
    const struct lx_plan *like;
    const struct lx_plan
        *from; /* a plan of the same graph, from whose decisions the search starts; NULL: none */
    /* States of earlier searches for the same answer before their engines ran: a search that comes to one of
     * them ends, since it would find the same again. NULL: none are noted. */
    struct search_states *states;
    /* Called with every plan that may be the answer, on the thread that made it: makes the
     * answer (`ready` of the plan), so that nobody waits for it after an interrupt. NULL: nothing. */
    void (*make_ready)(struct lx_plan *p);
};

/* Results of co-optimisation, if it ran; not in plan files. */
struct lx_joint {
    bool searched;
    int32_t divided_anew; /* ops with other divisions than by work division alone */
    int64_t bound_bytes;  /* no plan with these passes moves less under any divisions */
};

/* The best plan after a step of the search; not in plan files. */
struct lx_gain {
    const char *step;
    int64_t hbm_bytes;
    double us; /* 0 unless the objective is time */
};
enum { LX_MOST_GAINS = 16 };
