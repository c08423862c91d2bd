/* From rows to figures. A *problem* is an instance by content and name; a *cell* is one solver on one
 * problem, over all its seeds and repeats.
 *
 * A *hit* reaches the goal: a legal, complete answer whose value is within the tolerance of
 * the best known value of that problem, or a proof that there is none. A fast solver that gives bad answers
 * must not win a race, so all times that are compared are times of hits; a run without one takes "never". */
#pragma once

#include "bench/bench.h"

/* Added to times before the geometric mean, so that microseconds do not decide it. */
#define SHIFT_SECONDS 0.001
#define SHIFT_GAP     0.01
/* The fastest solver wins, and every solver that is slower by at most this ratio. */
#define WIN_RATIO 1.05
/* Times this many deviations from the median of their cell (of five or more) are named; none is left out. */
#define OUTLIER_DEVIATIONS 3.5

struct problem {
    const char *name, *path, *hash, *question;
    const char *class; /* of the suite; "" */
    const char *label; /* its name, or what tells it from others of that name */
    int64_t buffers, capacity;
    bool is_graph; /* the value is bytes of HBM; else what a list spills */
    bool has_best, has_bound, infeasible;
    int64_t best, bound; /* best legal value; best bound that nothing contradicts */
    double fastest;      /* least `time` of its cells */
    const char *bad;     /* why it could not be read */
};

struct contender {
    const char *label, *solver, *config;
    const char *class;                              /* NULL: of all problems */
    bool is_virtual;                                /* the best of all; wins and outcomes are the others' */
    int64_t runs, solved, proved, hits, wins, only; /* only: problems that no one else hits */
    int64_t outcomes[OUTCOME_COUNT];
    double gap, above_best;    /* means over solved runs, as shares */
    double mean_gap;           /* shifted geometric mean of the gap */
    double median, par2, mean; /* seconds; mean: shifted geometric, unsolved at the limit */
    double contribution;       /* seconds that the virtual best's PAR2 would lose without it */
};

struct cell {
    int64_t runs, solved, proved, hits;
    int64_t outcomes[OUTCOME_COUNT];
    double time;                 /* median; INFINITY when half of the runs are no hits */
    double seconds, least, most; /* median and range of the runs that ended by themselves; NAN: none did */
    double deviation;            /* of these; NAN: fewer than two */
    double par2;
    double value, lowest, highest;   /* median and range; NAN: none */
    double gap;                      /* mean, to the problem's bound */
    double device_us, end_to_end_us; /* predicted: medians; NAN: unknown */
    double measured_us;              /* likewise */
    double steps, steps_a_second;    /* medians; NAN */
    int64_t peak_kb, outliers;
    const char *message; /* of the first run that has one */
};

struct summary {
    VEC(struct problem) problems;
    VEC(struct contender) solvers;
    struct contender best; /* the virtual one, who always knows whom to ask */
    struct cell *cells;    /* problems x solvers; runs 0 where there are none */
    double within, limit;  /* tolerance as a share; the longest time limit of the rows */
    int64_t bad_inputs, outliers;
    struct arena memory;
};

/* The measure of a problem's value: "HBM bytes", "spill", "height" or "placed". */
const char *measure_of(const char *question, bool is_graph);

/* Marks rows as `wrong` whose bound, optimality or infeasibility another row's legal answer contradicts. */
void mark_contradictions(struct results *r);
/* Expects marked rows. */
void summary_make(struct summary *s, const struct results *r, double within);
/* The figures of a solver over the problems of one class of the suite. */
struct contender summary_of_class(struct summary *s, size_t solver, const char *class);
void summary_free(struct summary *s);
/* The number of a row's problem and of its solver; the count of them: it has none. */
size_t summary_problem(const struct summary *s, const struct row *r);
size_t summary_solver(const struct summary *s, const struct row *r);

static inline struct cell *summary_cell(const struct summary *s, size_t problem, size_t solver)
{
    return &s->cells[problem * s->solvers.count + solver];
}

/* Reaches the goal, and is the fastest or hardly slower. */
static inline bool cell_wins(const struct problem *p, const struct cell *c)
{
    return c->runs > 0 && isfinite(c->time) && c->time <= p->fastest * WIN_RATIO;
}

static inline bool row_is_solved(const struct row *r)
{
    if (r->outcome == OUTCOME_INFEASIBLE) return true;
    return r->has_value && r->outcome != OUTCOME_WRONG && r->outcome != OUTCOME_ERROR &&
           r->outcome != OUTCOME_CRASH;
}
