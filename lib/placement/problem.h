/* The placement problem: what a solver sees, what it answers, and how it is called.
 *
 * A problem is a capacity, an alignment and a list of buffers. Each buffer is a rectangle: it lives over
 * the half-open ticks [start, end) and takes `size` bytes at one address for its whole life. An answer
 * gives each buffer an address or leaves it off chip. Typical sizes: 5 to 80 buffers for captured
 * graphs, hundreds for packing corpora, 100,000 in stress tests; capacity about 1.6 MB.
 *
 * The three questions:
 *   LX_SPILL   keep a subset on chip; the sum of `spill_cost` of the rest is to be least
 *   LX_FIT     every buffer that may be placed must be placed, or `infeasible` be proved
 *   LX_HEIGHT  every buffer that may be placed must be placed; the highest end is to be least
 *              (the capacity is then only a hint and may be exceeded)
 *
 * What makes an answer legal (checked by check_placement.c, which shares no code with any solver):
 *   - address >= 0, a multiple of the alignment, address + size <= capacity (not for LX_HEIGHT)
 *   - a buffer with `reason` is never placed; one with `fixed` >= 0 only there
 *   - two placed buffers that are live on a common tick do not share a byte, except in a handover:
 *     the parent is one of the child's `parents`, both have the same address, and no other child has
 *     taken the parent's slot. (Data-model rules make sure that a parent and its child share exactly one
 *     tick and that the child is no larger; the parent's bytes above the child stay its own on it.)
 *
 * A solver is one const `struct lx_solver`. Adding one: write solvers/NAME.c with a solve function and
 * that struct, and add it to the list in solvers/registry.c. */
#pragma once

#include "base/option.h"
#include "graph/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lx_problem {
    enum lx_objective objective;
    int64_t capacity, alignment;
    int32_t count;
    const struct lx_buffer *buffers;
    const struct lx_pool *pools; /* NULL: one pool of `capacity` bytes, all free */
    int32_t pool_count; /* 0 or more; with pools `capacity` is the sum of theirs (LX_HEIGHT: a hint) */
    struct lx_bonds bonds;
};

/* A solver's claim about its answer, as far as lx_problem_solve confirms it. */
#define LX_VERDICTS(X)                                                                                       \
    X(LX_FEASIBLE, "feasible")     /* legal; the bound limits the distance to the best */                    \
    X(LX_OPTIMAL, "optimal")       /* legal, and the bound equals the objective */                           \
    X(LX_INFEASIBLE, "infeasible") /* proved: no legal answer exists */                                      \
    X(LX_LIMIT, "limit") /* stopped by a limit with the best so far (for LX_FIT: not all placed) */          \
    X(LX_ERROR, "error") /* the solver failed; the answer holds what it had, all off chip at worst */

#define LX_VERDICT_ENUM(id, word) id,
enum lx_verdict { LX_VERDICTS(LX_VERDICT_ENUM) LX_VERDICT_COUNT };
#undef LX_VERDICT_ENUM

enum { LX_OFF_CHIP = -1, LX_MAX_STATS = 16 };

/* A solver's counters: one row each in the solver's table, in the order of the answer. */
struct lx_stat_row {
    const char *name; /* a key in plan and results files */
    const char *unit, *help;
};

struct lx_stat {
    const char *name; /* of a row of the solver's table; a string constant */
    int64_t value;
};

struct lx_answer {
    enum lx_verdict status;
    int64_t *address;  /* `count` of them, allocated by the caller; LX_OFF_CHIP or >= 0 */
    int32_t *pool;     /* of the placed buffers; NULL: all in pool 0 (the problem has no other) */
    int64_t objective; /* spill bytes or height; recomputed by lx_problem_solve, solvers need not set it */
    int64_t bound;     /* proved: no answer is better; 0 if the solver proves none */
    int64_t steps;     /* nodes, moves or placements: the deterministic measure of work */
    struct lx_stat stats[LX_MAX_STATS];
    int stat_count;
    char message[160]; /* in words, where the status needs any */
};

/* A solver's report: at least every few hundred milliseconds, and for every better answer or bound. The
 * caller of lx_problem_solve gets the best legal objective so far (INT64_MAX: none), which never rises, a
 * bound that never falls, and the last answer at the end. */
struct lx_progress {
    int64_t steps, objective, bound;
    const int64_t *address; /* the answer with that objective if it is legal and a new best; else NULL */
    const int32_t *pool;
    const char *step; /* of the search for a graph's plan, in a word; NULL: a solver reports */
};

/* How a solver is run. Limits are advice to stop soon; a solver then returns its best. */
struct lx_run {
    uint64_t seed;
    int64_t work_limit;          /* steps in the solver's own unit; 0: the solver's default */
    double time_limit;           /* seconds of wall clock until the deadline; 0: none */
    const int64_t *options;      /* one value per row of the solver's table; NULL: the defaults */
    bool (*stop)(void *context); /* may be NULL */
    void (*progress)(void *context, const struct lx_progress *so_far); /* may be NULL */
    void *context;
    /* Set by lx_problem_solve: an answer known to be legal, and a bound known to hold. */
    const int64_t *incumbent;      /* addresses, or NULL */
    const int32_t *incumbent_pool; /* their pools; NULL: all in pool 0 */
    int64_t known_bound;
    int64_t stop_at;       /* an objective below which nothing is gained; 0: none */
    int64_t most;          /* an objective above which an answer is of no use; 0: none */
    int64_t default_steps; /* steps to take without a limit, for frequent callers; 0: any */
    /* The caller waits for any legal answer: no proof, no search for a better plan. */
    bool quick;
};

enum lx_solver_caps {
    LX_CAN_SPILL = 1 << 0,
    LX_CAN_FIT = 1 << 1,
    LX_CAN_HEIGHT = 1 << 2,
    LX_CAN_PROVE = 1 << 3, /* may return optimal or infeasible by its own proof */
    LX_IS_SEEDED = 1 << 4, /* the seed changes the answer */
    /* Features beyond a list of buffers with one life each in one pool; see lx_problem_needs. */
    LX_CAN_POOLS = 1 << 5,    /* more than one pool, or buffers with pools of their own */
    LX_CAN_LIVES = 1 << 6,    /* several lives */
    LX_CAN_PAIRS = 1 << 7,    /* apart, exclusive, alone */
    LX_CAN_RESERVED = 1 << 8, /* reserved bytes of pools */
    LX_CAN_TOGETHER = 1 << 9,
    LX_CAN_LINKED_COSTS = 1 << 10, /* linked costs, and costs of being placed */
    LX_CAN_MUST = 1 << 11,         /* for LX_SPILL: buffers that must be placed, forbidden linked costs */
    LX_CAN_STAGING = 1 << 12,
    LX_CAN_REUSE = 1 << 13,
    LX_CAN_SAME_PLACE = 1 << 14, /* not needed: the driver makes one buffer of each group */
    LX_CAN_ALL = (1 << 15) - (1 << 5),
};

#define LX_SOLVER_ABI 4

struct lx_solver {
    int abi; /* LX_SOLVER_ABI */
    const char *name, *summary;
    unsigned caps;
    const struct lx_option *options;
    int option_count;
    const struct lx_stat_row *stats; /* at most LX_MAX_STATS */
    int stat_count;
    /* Fills `answer->address` (on entry: all LX_OFF_CHIP) and the rest. False: out of memory, or stopped
     * before it had an answer; the answer is still legal. */
    bool (*solve)(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer);
};

/* The rules of legal answers; the words name the broken one. */
#define LX_RULES(X)                                                                                          \
    X(LX_RULE_NONE, "none")                                                                                  \
    X(LX_RULE_OFF, "off")                                                                                    \
    X(LX_RULE_BARRED, "barred")                                                                              \
    X(LX_RULE_POOL, "pool")                                                                                  \
    X(LX_RULE_PIN, "pin")                                                                                    \
    X(LX_RULE_ALIGNMENT, "alignment")                                                                        \
    X(LX_RULE_CAPACITY, "capacity")                                                                          \
    X(LX_RULE_RESERVED, "reserved")                                                                          \
    X(LX_RULE_OVERLAP, "overlap")                                                                            \
    X(LX_RULE_APART, "apart")                                                                                \
    X(LX_RULE_ALONE, "alone")                                                                                \
    X(LX_RULE_SAME_PLACE, "same-place")                                                                      \
    X(LX_RULE_TOGETHER, "together")                                                                          \
    X(LX_RULE_STAGING, "staging")                                                                            \
    X(LX_RULE_FORBIDDEN, "forbidden")

#define LX_RULE_ENUM(id, word) id,
enum lx_rule { LX_RULES(LX_RULE_ENUM) LX_RULE_COUNT };
#undef LX_RULE_ENUM

const char *lx_rule_word(enum lx_rule r);
const char *lx_verdict_word(enum lx_verdict v);

static inline void lx_answer_count(struct lx_answer *a, const struct lx_solver *s, int row, int64_t value)
{
    if (a->stat_count < LX_MAX_STATS) a->stats[a->stat_count++] = (struct lx_stat){s->stats[row].name, value};
}

static inline bool lx_can(const struct lx_solver *s, enum lx_objective question)
{
    static const unsigned caps[] = {
        [LX_SPILL] = LX_CAN_SPILL, [LX_FIT] = LX_CAN_FIT, [LX_HEIGHT] = LX_CAN_HEIGHT};
    return s->caps & caps[question];
}

static inline int64_t lx_alignment_of(const struct lx_problem *p, const struct lx_buffer *b)
{
    return b->alignment ? b->alignment : p->alignment;
}

static inline int32_t lx_pool_count(const struct lx_problem *p)
{
    return p->pool_count ? p->pool_count : 1;
}

/* The capacity of one pool; LX_NO_LIMIT where it has none. */
static inline int64_t lx_pool_capacity(const struct lx_problem *p, int32_t pool)
{
    if (p->pool_count) return p->pools[pool].capacity;
    return p->objective == LX_HEIGHT ? LX_NO_LIMIT : p->capacity;
}

/* The number of pools that a buffer may be in, and the k-th, best first. */
static inline int32_t lx_choice_count(const struct lx_problem *p, const struct lx_buffer *b)
{
    return b->pools ? b->pool_count : lx_pool_count(p);
}

static inline int32_t lx_choice_at(const struct lx_buffer *b, int32_t k)
{
    return b->pools ? b->pools[k] : k;
}

static inline bool lx_allows_pool(const struct lx_buffer *b, int32_t pool)
{
    for (int32_t k = 0; b->pools && k < b->pool_count; k++)
        if (b->pools[k] == pool) return true;
    return !b->pools;
}

/* The cost of a buffer's being in `pool`. */
static inline int64_t lx_on_cost(const struct lx_buffer *b, int32_t pool)
{
    for (int32_t k = 0; b->on_costs && k < b->pool_count; k++)
        if (lx_choice_at(b, k) == pool) return b->on_costs[k];
    return 0;
}

static inline int32_t lx_life_count(const struct lx_buffer *b)
{
    return b->life_count ? b->life_count : 1;
}

static inline struct lx_life lx_life_at(const struct lx_buffer *b, int32_t i)
{
    return b->life_count ? b->lives[i] : (struct lx_life){b->start, b->end};
}

/* Are two buffers ever alive at once, by their lives alone? */
static inline bool lx_lives_meet(const struct lx_buffer *a, const struct lx_buffer *b)
{
    for (int32_t i = 0, k = 0; i < lx_life_count(a) && k < lx_life_count(b);) {
        struct lx_life x = lx_life_at(a, i), y = lx_life_at(b, k);
        if (x.start < y.end && y.start < x.end) return true;
        if (x.end <= y.end)
            i++;
        else
            k++;
    }
    return false;
}

/* False if the buffer is barred or larger than every pool it may be in. */
static inline bool lx_may_be_placed(const struct lx_problem *p, const struct lx_buffer *b)
{
    if (b->reason) return false;
    if (!p->pool_count) return p->objective == LX_HEIGHT || b->size <= p->capacity;
    for (int32_t k = 0; k < lx_choice_count(p, b); k++) {
        int64_t capacity = lx_pool_capacity(p, lx_choice_at(b, k));
        if (capacity == LX_NO_LIMIT || b->size <= capacity) return true;
    }
    return false;
}

/* A buffer that may be placed but is not, staging buffers aside; NULL: none. */
static inline const struct lx_buffer *lx_left_out(const struct lx_problem *p, const int64_t *address)
{
    for (int32_t i = 0; i < p->count; i++) {
        bool counts = address[i] < 0 && !p->buffers[i].reason;
        for (int32_t k = 0; counts && k < p->bonds.staging_count; k++) counts = p->bonds.staging[k].a != i;
        if (counts) return &p->buffers[i];
    }
    return NULL;
}

/* The number of uses that read the buffer. */
static inline int64_t lx_read_count(const struct lx_buffer *b)
{
    return b->use_count - (b->use_count > 0 && !b->first_use_is_read);
}

static inline int64_t lx_run_option(const struct lx_solver *s, const struct lx_run *run, int row)
{
    return run->options ? run->options[row] : s->options[row].def;
}

static inline bool lx_run_stopped(const struct lx_run *run)
{
    return run->stop && run->stop(run->context);
}

/* The LX_CAN_... bits, from LX_CAN_POOLS on, that a solver needs for this problem. */
unsigned lx_problem_needs(const struct lx_problem *p);
/* Such bits in words, with commas between; always terminated, returns `out`. */
const char *lx_needs_words(unsigned needs, char *out, size_t size);

/* Checks the data model that solvers rely on: sizes, lives, increasing uses, fixed addresses, legal in-place
 * edges. */
bool lx_problem_validate(const struct lx_problem *p, lx_status *st);

/* Is `address` a legal answer? For LX_FIT buffers may be missing. Recomputes `*objective`. False: `st` (code
 * LX_E_NO) names the first broken rule, the buffers and the bytes. O(n log n). */
bool lx_problem_check(const struct lx_problem *p, const int64_t *address, int64_t *objective, lx_status *st);

/* The same for several pools (`pool` NULL: all in pool 0) and complete answers: for LX_FIT every buffer that
 * may be placed is, and a legal answer is worth 0. `*rule`: the broken one. */
bool lx_check_places(const struct lx_problem *p, const int32_t *pool, const int64_t *address, int64_t *value,
                     enum lx_rule *rule, lx_status *st);

/* A bound that every legal answer respects; INT64_MAX: none exists. O(n log n). Weaker if cancelled. */
int64_t lx_bound(const struct lx_problem *p);

/* The ticks at which more wants room than there is, in order of time, as far as none implies another; and by
 * how much a byte more there would lower the bound (its multiplier). Linked costs are not in it. malloc'ed. */
struct lx_price {
    int64_t tick;
    int64_t need;    /* bytes that must go */
    int64_t forced;  /* traffic that this tick alone forces */
    double per_byte; /* traffic that one byte more would save, by the bound */
};
int32_t lx_bound_prices(const struct lx_problem *p, struct lx_price **out);

/* Validates, runs the solver, checks its answer and completes it: objective, the better bound, `optimal`
 * where they meet. A refused answer becomes "all off chip" with status LX_ERROR and the checker's words.
 * False: `st` says why. */
bool lx_problem_solve(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                      struct lx_answer *answer, lx_status *st);

/* The same for a problem that lx_problem_validate has accepted. */
bool solve_valid(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                 struct lx_answer *answer, lx_status *st);

/* Why no answer places all buffers of an infeasible plain problem, where that is plain to see: which buffers
 * clash, on which tick and with how many bytes. "": it is not. */
void lx_clash_words(const struct lx_problem *p, char *out, size_t size);

/* (objective - bound) / bound, 0 when they are equal; INFINITY: no bound above 0 is proved. */
double lx_gap(int64_t objective, int64_t bound);

/* All solvers, in the order for display; NULL-terminated. In the solvers' library. */
const struct lx_solver *const *lx_solvers(void);
const struct lx_solver *lx_solver_find(const char *name);
/* Adds the solver of a plug-in before the others are asked for; false: its name is taken, or too many. */
bool lx_solver_add(const struct lx_solver *s);
/* Takes a solver off the list; at the same time. */
void lx_solver_drop(const char *name);
