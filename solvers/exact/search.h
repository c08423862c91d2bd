/* Branch and pack: the exact search for one independent stretch of time. */
#ifndef LX_SOLVERS_EXACT_SEARCH_H
#define LX_SOLVERS_EXACT_SEARCH_H

#include "exact/lp.h"
#include "exact/ask_fit.h"
#include "base/vec.h"
#include "exact/model.h"

/* What is counted, one row each: X(field, name, unit, help). The last is of choices, so of Spill only. */
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

/* exact.c: the first `rows` of them into the answer. */
void exact_report(const struct search_stats *stats, int rows, struct lx_answer *answer);

struct search_tuning {
    int64_t fit_nodes;  /* most nodes of the Fit engine for one choice */
    int64_t core_nodes; /* and for each step of shrinking a core */
    int64_t reserve;    /* bytes beyond the problem's capacity that packing may use */
    bool light;         /* a small problem of many: few rounds of covers, no trials of branches */
    double tolerance;   /* be content with a plan that is so close to the bound, relatively */
};

/* A choice of which nobody knows whether it packs. Choices that keep even more were cut off with it. */
struct search_riddle {
    int64_t spill;
    int64_t floor; /* neither it nor one of those costs less */
    bool *kept;    /* then the handovers */
    bool packs;    /* it does after all; those may or may not */
};

/* A node of the tree: one more column decided than in its parent. */
struct search_node {
    int32_t parent, column;
    int64_t bound;
    double objective; /* of the linear programme at its parent */
    double distance;  /* of the column from the value there */
    int64_t leaf;     /* the spill of its point when that was seen to be 0/1, or -1 */
    bool value;
};

/* By how much one side of a branch raised the linear programme's objective. */
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
    bool *fixed_low, *fixed_high; /* decided for the whole tree */
    bool *point, *kept, *merged, *core;
    double *section_dual, *row_dual, *row_scale, *fraction;
    int32_t row_dual_room;
    int128 *root_reduced, root_value, root_scale; /* scale 0: no root certificate yet */
    VEC(struct search_node) nodes;
    VEC(int32_t) open; /* heap of node indices, least bound first */

    int64_t best;     /* spill of `address`; the search looks for less */
    int64_t *address; /* per item */
    int64_t *trial;
    int64_t bound;       /* what was known before */
    VEC(int32_t) leaves; /* nodes whose point is 0/1 and waits for its turn to be packed */
    struct search_rise (*rise)[2], rise_of_all[2]; /* per column and value */
    int64_t patience;                              /* nodes since the Fit engine was last asked */
    int32_t cover_rounds, cover_idle;              /* spent by cover.c, with terms, and the objective then */
    int64_t cover_terms;
    double cover_value;
    bool holds_leaves;   /* no leaf is packed now: only the bound rises and leaves are collected */
    bool plunged;        /* from the root */
    int64_t next_plunge; /* patience at which to look ahead again */
    VEC(struct search_riddle) riddles; /* choices that were passed over without proof */
    int64_t riddles_until, pause_at;   /* pause when so many were met in all, or at that step */
    struct arena memory;               /* of all but row_dual, row_scale, vectors and the kept of riddles */
};

/* A search starts with a plan `address` (per item of the model) of spill `best`, which it improves in
 * place, and goes on, a part of the budget at a time. */
void search_open(struct search *s, struct model *m, struct budget *budget, const struct search_tuning *tuning,
                 int64_t *address, int64_t best, int64_t bound);
/* Goes on until the proof is complete, `steps` are spent, or `riddles` more choices were passed over. */
void search_continue(struct search *s, int64_t steps, int32_t riddles);

/* Asks the Fit engine again, and for longer, about choices that were passed over. */
void search_riddles(struct search *s, int64_t nodes, int64_t steps);
/* A plan from elsewhere; what is proved so far. */
void search_offer(struct search *s, const int64_t *address);
int64_t search_bound(const struct search *s);
void search_close(struct search *s, struct search_stats *stats);

/* --- Between the files of the search. --- */

enum leaf { LEAF_DONE, LEAF_AGAIN, LEAF_SPLIT, LEAF_WAITS };

/* What the linear programme measures a column in. */
static inline double search_size(const struct model *m, int32_t j)
{
    if (j >= model_choices(m)) return (double)m->linked_costs[j - model_choices(m)].scale;
    int32_t i = j < m->item_count ? j : m->edges[j - m->item_count].child;
    return (double)max_i64(m->items[i].size, 1);
}

/* The linear programme's objective at which nothing better is left; it knows nothing of the base. */
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

/* Restrict a column in the current box. */
void search_decide(struct search *s, int32_t j, bool low, bool high);
/* Decide columns for the whole tree by the root's certificate. */
void search_fix_at_root(struct search *s);
/* The programme's point at this node is 0/1. */
enum leaf search_visit_leaf(struct search *s, int32_t node, int64_t bound);
bool search_too_early(const struct search *s, int64_t spill);
/* Does the choice pack, however its handovers are decided? FIT_NO: in no way. FIT_LIMIT: nobody knows, or
 * there are too many ways. */
enum fit_result search_pack_somehow(struct search *s, const bool *kept, int64_t nodes, int64_t *address);
/* Adds rows that the programme's point at the root violates (cover.c); returns how many. */
int32_t search_add_covers(struct search *s);
/* From the current box to a leaf by rounding; the box is lost. */
void search_plunge(struct search *s);
/* A row joins the model and the linear programme at once. */
void search_add_row(struct search *s, const struct model_term *terms, int32_t count, int64_t need);
/* The choice kept/merged does not pack: shrink it, cut it off and all that is worse in the same way. */
void search_cut_off(struct search *s);

/* Large-neighbourhood search: parts of a plan are solved again, exactly. */

/* Improves `address` and `*best` of the model until the bound is reached, or the steps or the budget are
 * spent. */
void lns_improve(const struct model *m, struct budget *budget, int64_t steps, int64_t *address, int64_t *best,
                 int64_t bound, struct search_stats *stats);

/* Plans that keep all small items in a strip of their own. */

/* Improves `address` and `*best` of the model `m` within `steps`. Does nothing where small items are few. */
void strip_plans(struct model *m, struct budget *budget, const struct search_tuning *tuning, int64_t steps,
                 int64_t *address, int64_t *best, struct search_stats *stats);

/* Plans from the relaxation at a slightly smaller capacity. */

/* Improves `address` and `*best`, both of the model `m`, within `steps`. */
void slack_plans(const struct model *m, struct budget *budget, const struct search_tuning *tuning,
                 int64_t steps, int64_t *address, int64_t *best, struct search_stats *stats);

#endif
