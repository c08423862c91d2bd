/* Executes a loop nest with the device's kernels, in fp32.
 *
 * The primitive loops of a nest become one call of a kernel: m, n, k and the batch of a product, with
 * whatever strides they have, or the two loops of a move. Shared loops are one flat space of tasks, the first
 * loop slowest and the last one in rows, over the threads of a pool; the sequential ones run inside a
 * task. First and last touch are part of the first and last product of each output element.
 *
 * Any nest that the rules of lxplan accept can be run. How fast depends on the passes: a nest without
 * primitive loops is one product of single elements after the other. Same nest, same machine: same bits,
 * whatever the number of threads. */
#pragma once

#include "loops/loops.h"

struct lx_nest_runner;

/* NULL: the nest is not valid; `st` has the code. */
struct lx_nest_runner *lx_nest_runner_make(const struct lx_loops *nest, int threads, lx_status *st);
/* A runner of one thread that runs the nest again and again: `turns` are loops around it, outermost first, of
 * any type but k; `nest` has no shared ones. An element has the same bits whatever the turns, m and n are.
 * Several runners may run at once. */
struct lx_nest_runner *lx_nest_runner_turns(const struct lx_loops *nest, const struct lx_loop *turns,
                                            int turn_count, lx_status *st);
void lx_nest_runner_free(struct lx_nest_runner *r);
/* The arrays have lx_loops_extent elements; in1 may be NULL where the main primitive does not contract. */
void lx_nest_runner_run(struct lx_nest_runner *r, const float *in0, const float *in1, float *out);
int64_t lx_nest_runner_tasks(const struct lx_nest_runner *r);
/* The instruction set that the kernels use. */
const char *lx_nest_runner_target(const struct lx_nest_runner *r);

/* Measurements of one nest. */
struct lx_nest_measure {
    double seconds; /* the shortest of all runs */
    double gflops;  /* two for each product that is summed; 0 for moves */
    int64_t runs, tasks, compared;
    bool sampled;      /* only a part of the output was compared */
    double difference; /* the largest, to the reference in double */
    double allowed;    /* no correct order of summation in fp32 differs by more */
    const char *target;
};

/* Runs `nest` on random numbers, again and again for about `seconds` but at least once, and compares with the
 * scalar executor on `reference`: the whole output if that takes at most `work` steps, else a part. False:
 * `st`; a difference beyond `allowed` is no failure here. */
bool lx_nest_measure(const struct lx_loops *nest, const struct lx_loops *reference, int threads,
                     double seconds, int64_t work, struct lx_nest_measure *out, lx_status *st);

/* Measurements of a contraction tree on random leaves. */
struct lx_tree_measure {
    double seconds, gflops; /* of one run */
    int64_t compared;       /* elements of the result; 0: not compared, the reference would take too long */
    double difference;      /* the largest, to the reference in double */
    double share;           /* the largest, as a share of the error bound there; above 1: wrong */
};

/* Runs every node through the passes of `rules` and on the kernels; compares the result with lx_tree_execute
 * where that takes at most `work` products. */
bool lx_tree_measure(const struct lx_tree *t, const struct lx_loop_rules *rules, int threads, int64_t work,
                     struct lx_tree_measure *out, lx_status *st);
