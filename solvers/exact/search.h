/* Branch and pack: the exact search for one independent stretch of time. */
#pragma once

#include "exact/lp.h"
#include "exact/ask_fit.h"

/* Statistics, one row each: X(field, name, unit, help). The last one counts choices, which only Spill
 * makes. */
/* clang-format off */
#define EXACT_STATS(X)                                                                                       \
    X(nodes, "nodes", "nodes", "boxes of the branch and bound that were bounded")                            \
    X(pivots, "pivots", "pivots", "steps of the linear programs")                                            \
    X(fit_calls, "packings", "calls", "questions whether a choice packs")                                    \
    X(fit_nodes, "packing nodes", "nodes", "nodes of the searches that answered them")                       \
    X(cuts, "cuts", "rows", "choices that were cut off because they do not pack")                            \
    X(unresolved, "unresolved", "choices", "choices of which it is not known whether they pack")
/* clang-format on */

#define EXACT_FIELD(field, name, unit, help) int64_t field;
struct search_stats {
    EXACT_STATS(EXACT_FIELD)
};
#undef EXACT_FIELD

#define EXACT_ID(field, name, unit, help) EXACT_##field,
enum { EXACT_STATS(EXACT_ID) EXACT_STAT_COUNT };
#undef EXACT_ID

/* exact.c: writes the first `rows` statistics to the answer. */
void exact_report(const struct search_stats *stats, int rows, struct lx_answer *answer);

struct search_tuning {
    int64_t fit_nodes;  /* most nodes of the Fit engine for one choice */
    int64_t core_nodes; /* and for each step of shrinking a core */
    int64_t reserve;    /* bytes beyond the problem's capacity that packing may use */
    bool light;         /* a small problem of many: few rounds of covers, no strong branching */
    double tolerance;   /* stop at a plan this close to the bound, relatively */
};

/* A choice not known to pack. It was cut off together with all choices that keep more. */
struct search_riddle {
    int64_t spill;
    int64_t floor; /* no choice cut off with it costs less */
    bool *kept;    /* then the handovers */
    bool packs;    /* the choice packs after all; others may or may not */
};

/* A node of the tree: one more column decided than in its parent. */
struct search_node {
    int32_t parent, column;
    int64_t bound;
    double objective; /* of the linear programme at its parent */
    double distance;  /* of the column from its value at the parent */
    int64_t leaf;     /* spill of its 0/1 point, if it had one; -1: not */
    bool value;
};

/* The rise in the linear programme's objective on one side of branches. */
struct search_rise {
    double sum;
    int32_t count;
};

struct search {
    struct model *m;
    struct lp *lp;
    struct packer packer;
    struct certificate proof;
    struct budget *budget;
    struct search_tuning tuning;
    struct search_stats stats;

    bool *low, *high;             /* the box of the current node */
    bool *fixed_low, *fixed_high; /* fixed for the whole tree */
    bool *point, *kept, *merged, *core;
    double *section_dual, *row_dual, *row_scale, *fraction;
    int32_t row_dual_room;
    int128 *root_reduced, root_value, root_scale; /* scale 0: no root certificate yet */
    double *root_section_dual, *root_row_dual;
    int32_t root_rows;
    VEC(struct search_node) nodes;
    VEC(int32_t) open; /* heap of node indices, least bound first */

    int64_t best;     /* spill of `address`; the search looks for less */
    int64_t *address; /* per item */
    int64_t *trial;
    VEC(int32_t) leaves;                           /* nodes with a 0/1 point that waits to be packed */
    struct search_rise (*rise)[2], rise_of_all[2]; /* per column and value */
    int64_t patience;                              /* nodes since the Fit engine was last asked */
    int32_t cover_rounds,
        cover_idle; /* rounds and idle rounds of cover.c, its terms, and the last objective */
    int64_t cover_terms;
    double cover_value;
    bool holds_leaves;                 /* packs no leaf now: only raises the bound and collects leaves */
    bool stays_at_root;                /* ends before the root is split */
    bool plunged;                      /* plunged from the root */
    int64_t next_plunge;               /* patience at which to plunge again */
    VEC(struct search_riddle) riddles; /* choices passed over without proof */
    int64_t riddles_until, pause_at;   /* pauses at this many riddles in all, or at this step */
    struct arena memory;               /* all but row_dual, row_scale, vectors and the `kept` of riddles */
};

/* Opens a search with a plan `address` (per item of the model) of spill `best`, which it improves in
 * place. */
void search_open(struct search *s, struct model *m, struct budget *budget, const struct search_tuning *tuning,
                 int64_t *address, int64_t best);
/* Searches until the proof is complete, `steps` are spent, or `riddles` more choices were passed over. */
void search_continue(struct search *s, int64_t steps, int32_t riddles);

/* Solves the relaxation over time (spill_sweep.c), packs its choices and cuts them off, for at most `steps`. */
void search_sweep(struct search *s, int64_t steps);
/* Asks the Fit engine again, with more nodes, about choices passed over. */
void search_riddles(struct search *s, int64_t nodes, int64_t steps);
/* search_offer takes a plan from elsewhere; search_bound returns the proved bound. */
void search_offer(struct search *s, const int64_t *address);
int64_t search_bound(const struct search *s);
void search_close(struct search *s, struct search_stats *stats);

/* --- Between the files of the search. --- */

enum leaf { LEAF_DONE, LEAF_AGAIN, LEAF_SPLIT, LEAF_WAITS };

/* The unit of a column in the linear programme. */
static inline double search_size(const struct model *m, int32_t j)
{
    if (j >= model_choices(m)) return (double)m->linked_costs[j - model_choices(m)].scale;
    int32_t i = j < m->item_count ? j : m->edges[j - m->item_count].child;
    return (double)max_i64(m->items[i].size, 1);
}

/* The objective of the linear programme at which no better plan is left; it excludes the base. */
static inline double search_cutoff(const struct search *s)
{
    double best = (double)(s->best - s->m->base);
    return best + 1e-9 * (best < 0 ? -best : best) + 1e-6;
}

static inline bool search_paused(struct search *s)
{
    return budget_spent(s->budget) || s->budget->steps >= s->pause_at ||
           s->stats.unresolved >= s->riddles_until;
}

/* Restricts a column in the current box. */
void search_decide(struct search *s, int32_t j, bool low, bool high);
/* Fixes columns for the whole tree by the root's certificate. */
void search_fix_at_root(struct search *s);
/* The node has a 0/1 point: packs it or lets it wait. */
enum leaf search_visit_leaf(struct search *s, int32_t node, int64_t bound);
/* Packs the point, cuts it off or passes it over. */
void search_try_point(struct search *s);
bool search_too_early(const struct search *s, int64_t spill);
/* Does the choice pack with any handovers? FIT_NO: with none. FIT_LIMIT: unknown, or too many ways. */
enum fit_result search_pack_somehow(struct search *s, const bool *kept, int64_t nodes, int64_t *address);
/* Adds cover rows that the root's point violates (cover.c); returns how many. */
int32_t search_add_covers(struct search *s);
/* Plunges from the current box to a leaf by rounding; changes the box. */
void search_plunge(struct search *s);
/* Adds a row to the model and the linear programme. */
void search_add_row(struct search *s, const struct model_term *terms, int32_t count, int64_t need);
/* The choice kept/merged does not pack: shrinks it to a core and adds cuts. */
void search_cut_off(struct search *s);

/* Large-neighbourhood search: solves parts of a plan again, exactly. */

/* Improves `address` and `*best` of the model until the bound is reached, or the steps or the budget are
 * spent. */
void lns_improve(const struct model *m, struct budget *budget, int64_t steps, int64_t *address, int64_t *best,
                 int64_t bound, struct search_stats *stats);

/* Plans that keep all small items in a strip of their own. */

/* Improves `address` and `*best` of the model `m` within `steps`. Does nothing if few items are small. */
void strip_plans(struct model *m, struct budget *budget, const struct search_tuning *tuning, int64_t steps,
                 int64_t *address, int64_t *best, struct search_stats *stats);

/* Plans from the relaxation at a slightly smaller capacity. */

/* Improves `address` and `*best`, both of the model `m`, within `steps`. */
void slack_plans(const struct model *m, struct budget *budget, const struct search_tuning *tuning,
                 int64_t steps, int64_t *address, int64_t *best, struct search_stats *stats);
