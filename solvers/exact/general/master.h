/* The master programme chooses the placed blocks, their pools, and the soft pairs to pay. Its points are
 * packed into addresses, and a set that does not pack comes back as a row (Benders decomposition).
 *
 * Columns: one per free variable, turned so that its cost is not negative; one per option of a block with
 * several; one per linked cost; one per soft pair (1: paid). A literal is a column, its opposite, or a
 * constant. */
#pragma once

#include "exact/general/block_model.h"
#include "exact/general/clique.h"
#include "exact/fit/fit.h"
#include "exact/general/programme.h"

struct literal {
    int32_t column; /* -1: a constant */
    bool positive;  /* x, or 1 - x; the value of a constant */
};

/* A placement of blocks; pool -1: off chip. */
struct layout {
    int32_t *pool;
    int64_t *address;
    int64_t cost;
    bool known;
};

struct master {
    const struct blocks *b;
    struct programme programme;
    struct literal *variable; /* the variable as a literal */
    struct literal *in_pool;  /* per option of each block */
    int32_t first_soft;       /* column of the first soft pair */
    int32_t first_linked;
    int64_t constant;            /* cost of every answer */
    struct clique_graph *graphs; /* per pool: blocks that exclude each other in it */
    VEC(struct term) row;
    int64_t row_need;
    bool *soft_apart;
    int32_t *soft_at; /* per two blocks: their soft pair plus one; NULL: search it */
    int32_t *members;
    struct layout now, *best;
    bool any; /* every answer costs the same: stop at the first */
    int64_t pack_nodes, core_nodes, asked, spent, failures, pivots;
    uint64_t seed;
    struct arena memory;
};

void master_open(struct master *m, const struct blocks *b, struct budget *budget, struct layout *best);
void master_close(struct master *m);
/* Afterwards `programme.proved` + `constant` is a bound. */
void master_solve(struct master *m);

void layout_open(struct layout *l, int32_t blocks);
void layout_close(struct layout *l);
void layout_copy(struct layout *to, const struct layout *from, int32_t blocks);
/* The blocks of a pool into `members`; returns how many. */
int32_t layout_members(const struct layout *l, int32_t blocks, int32_t pool, int32_t *members);
/* Makes `from` the best layout and reports it; `bound`: the proved bound, or 0. */
void layout_take(const struct blocks *b, const struct budget *budget, const struct layout *from,
                 struct layout *best, int64_t bound);
/* The cost of the layout, summed from scratch. */
int64_t layout_cost(const struct blocks *b, const struct layout *l);
bool layout_triggers(const struct blocks *b, const struct layout *l, int32_t linked);

/* Begins a row: sum coefficient * literal >= need. */
static inline void row_begin(struct master *m, int64_t need)
{
    m->row.count = 0;
    m->row_need = need;
}

static inline void row_add(struct master *m, struct literal l, int64_t coefficient)
{
    if (l.column < 0)
        m->row_need -= l.positive ? coefficient : 0;
    else {
        VEC_PUSH(&m->row, (struct term){l.column, l.positive ? coefficient : -coefficient});
        if (!l.positive) m->row_need -= coefficient;
    }
}

static inline void row_end(struct master *m)
{
    programme_add_row(&m->programme, m->row.at, (int32_t)m->row.count, m->row_need);
}

static inline struct literal opposite(struct literal l)
{
    return (struct literal){l.column, !l.positive};
}

static inline struct literal placed(const struct master *m, int32_t block)
{
    struct literal l = m->variable[m->b->at[block].variable];
    return m->b->at[block].on_if ? l : opposite(l);
}

static inline double literal_value(struct literal l, const double *point)
{
    double x = l.column < 0 ? 1 : point[l.column];
    return l.positive ? x : 1 - x;
}

/* master_rows.c: rows of linked costs, options and overfull sections. */
void master_first_rows(struct master *m);
/* Adds rows of cliques that the point violates; returns how many. */
int32_t master_separate(void *context, const double *point);
/* master_visit.c */
enum visit master_visit(void *context, const bool *point);

/* master_parts.c: solves the programme part by part; true: settled. */
bool master_solve_parts(struct master *m);

/* The literal of "this block is in this pool"; constant false if impossible. */
static inline struct literal master_in_pool(const struct master *m, int32_t block, int32_t pool)
{
    int32_t option = blocks_option(m->b, block, pool);
    return option < 0 ? (struct literal){-1, false} : m->in_pool[option];
}

/* Height: places all blocks with the least sum of the pools' heights. Fills `best`, and bound and status of
 * the answer. */
void solve_heights(const struct blocks *b, struct budget *budget, uint64_t seed, struct layout *best,
                   struct lx_answer *answer);

/* Local search for the cost of reuse: placed blocks stay placed, addresses and pools change. Improves a known
 * layout in place until it costs at most `enough`, or the steps or the budget are spent. */
void reuse_improve(const struct blocks *b, struct budget *budget, uint64_t seed, int64_t steps,
                   int64_t enough, struct layout *best);
