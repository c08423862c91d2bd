/* What is asked of a plan: the objective, the passes, the solver and its limits. */
#ifndef LX_SEARCH_REQUEST_H
#define LX_SEARCH_REQUEST_H

#include "launch/launch_of_op.h"
#include "stays/stay.h"

/* A pass: a switch that plans are made with or without. `value` 0 is the default of each. */
struct lx_pass {
    const char *name;         /* key in plan files; NULL ends the table */
    const char *option;       /* on the command line, without dashes */
    const char *const *words; /* of the values; NULL: a switch, off or on */
    const char *help;
    unsigned offset;       /* into struct lx_passes */
    unsigned fixed_stages; /* a bit per enum lx_stage: up to there its value is `fixed` whatever is asked */
    int fixed;
    int off;        /* the value with which it does nothing: that of a plan file which does not say */
    bool of_search; /* acts on the search for a plan, not on the problem that a solver is given */
};

enum { LX_MOST_PASSES = 32 };
const struct lx_pass *lx_passes(void);
int lx_pass_count(void);
int lx_pass_get(const struct lx_passes *p, const struct lx_pass *row);
void lx_pass_set(struct lx_passes *p, const struct lx_pass *row, int value);
/* What the passes say about the division. */
struct lx_divide_options lx_passes_divide(const struct lx_passes *p);
/* The passes without those that come behind the stage that is asked for. */
struct lx_passes passes_of_stage(const struct lx_passes *asked);

/* What is asked of a plan, in the words of `--objective`; 0: what the pattern itself asks.
 * X(id, word, the question that the solver then answers) */
#define LX_ASKS(X)                                                                                           \
    X(LX_ASK_OWN, "pattern's own", LX_SPILL)                                                                 \
    X(LX_ASK_TRAFFIC, "traffic", LX_SPILL)                                                                   \
    X(LX_ASK_TIME, "time", LX_SPILL)                                                                         \
    X(LX_ASK_FIT, "fit", LX_FIT)                                                                             \
    X(LX_ASK_HEIGHT, "height", LX_HEIGHT)

#define LX_ASK_ENUM(id, word, question) id,
enum lx_ask { LX_ASKS(LX_ASK_ENUM) LX_ASK_COUNT };
#undef LX_ASK_ENUM

const char *lx_ask_word(enum lx_ask a);
/* By its word, or by the word of a question (spill); LX_ASK_COUNT: there is none. */
enum lx_ask lx_ask_find(const char *word);
/* The question for the solver, where the pattern's own is `own`. */
enum lx_objective lx_asked(enum lx_ask a, enum lx_objective own);

enum { LX_NESTS_TEXT = 400 };

/* All zero but for the solver: what the pattern asks, with every default. */
struct lx_plan_options {
    const struct lx_solver *solver;
    struct lx_run run;
    enum lx_ask objective;
    struct lx_passes passes;
    struct lx_launch_options launch; /* how ops are launched; a list of tiles is read from its file */
    char nests[LX_NESTS_TEXT];       /* that the plan must have, and no others: see --nests; empty: none */
    /* For packing what is off chip in HBM, and for tries of cuts and orders on large graphs, which are then
     * solved once more by `solver`. NULL: `solver` does it all. */
    const struct lx_solver *quick_solver;
    /* A plan of the same graph, divided by the same rules: its layouts and divisions are shared instead of made
     * again. One that does not fit is left alone; NULL: none. */
    const struct lx_plan *like;
};

/* Of the co-optimisation of bytes, when a plan was made with it; not in plan files. */
struct lx_joint {
    bool searched;
    int32_t divided_anew; /* ops with another division than work division alone gave them */
    int64_t bound_bytes;  /* proved: no plan with these passes moves less, however its ops are divided */
};

/* The best plan behind a step of the search; not in plan files. */
struct lx_gain {
    const char *step;
    int64_t hbm_bytes;
    double us; /* where time is asked for */
};
enum { LX_MOST_GAINS = 16 };

#endif
