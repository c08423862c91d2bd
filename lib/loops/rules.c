/* The rule sets, the order of the passes, and running them.
 *
 * "document" is the version that the source document describes, so that the two can be compared: unit strides
 * are asked for, loops change places by exchange, loops of up to 256 are one primitive. "lxplan" accepts
 * every legal contraction: it takes the loop with the shortest steps for each role, fuses all that can be
 * fused and then cuts blocks that suit the kernel and the threads,
 * keeps sums inside and never shares them. */
#include "loops/nest.h"
#include "base/base.h"

/* Far above every stride: a loop of one turn gets a role only when no other can. */
static const int64_t single = (int64_t)1 << 58;

static int64_t unit_m(const struct lx_loops *l, const struct lx_loop *loop)
{
    (void)l;
    return loop->type == LX_DIM_M && loop->stride[LX_LOOP_IN0] == 1 ? 0 : -1;
}

static int64_t short_n(const struct lx_loops *l, const struct lx_loop *loop)
{
    (void)l;
    return loop->type == LX_DIM_N ? min_i64(loop->stride[LX_LOOP_OUT], loop->stride[LX_LOOP_IN1]) : -1;
}

static int64_t short_out_n(const struct lx_loops *l, const struct lx_loop *loop)
{
    (void)l;
    return loop->type == LX_DIM_N ? loop->stride[LX_LOOP_OUT] : -1;
}

static int64_t unit_k(const struct lx_loops *l, const struct lx_loop *loop)
{
    return lx_touch_contracts(l->main) && loop->type == LX_DIM_K && loop->stride[LX_LOOP_IN1] == 1 ? 0 : -1;
}

static int64_t batch_if_asked(const struct lx_loops *l, const struct lx_loop *loop)
{
    if (l->main != LX_TOUCH_BRGEMM || loop->type != LX_DIM_K) return -1;
    return min_i64(loop->stride[LX_LOOP_IN0], loop->stride[LX_LOOP_IN1]);
}

static int64_t rules_worth(const struct lx_loop *loop, int64_t steps)
{
    return loop->size > 1 ? steps : single;
}

/* The store counts twice: it is read and written. */
static int64_t any_m(const struct lx_loops *l, const struct lx_loop *loop)
{
    if (loop->type != LX_DIM_M || !lx_touch_contracts(l->main)) return -1;
    return rules_worth(loop, 2 * loop->stride[LX_LOOP_OUT] + loop->stride[LX_LOOP_IN0]);
}

static int64_t any_n(const struct lx_loops *l, const struct lx_loop *loop)
{
    if (loop->type != LX_DIM_N || !lx_touch_contracts(l->main)) return -1;
    return rules_worth(loop, min_i64(loop->stride[LX_LOOP_OUT], loop->stride[LX_LOOP_IN1]));
}

static int64_t any_k(const struct lx_loops *l, const struct lx_loop *loop)
{
    if (loop->type != LX_DIM_K || !lx_touch_contracts(l->main)) return -1;
    return rules_worth(loop, loop->stride[LX_LOOP_IN0] + loop->stride[LX_LOOP_IN1]);
}

/* A unary nest moves elements: m reads, n writes in short steps; a c may be either. */
static int64_t moved_m(const struct lx_loops *l, const struct lx_loop *loop)
{
    (void)l;
    if (loop->type != LX_DIM_M && loop->type != LX_DIM_C) return -1;
    return rules_worth(loop, loop->stride[LX_LOOP_IN0]);
}

static int64_t moved_n(const struct lx_loops *l, const struct lx_loop *loop)
{
    (void)l;
    if (loop->type != LX_DIM_N && loop->type != LX_DIM_C) return -1;
    return rules_worth(loop, loop->stride[LX_LOOP_OUT]);
}

/* Squares wrap modulo 2^64, like the document's. */
static uint64_t squared_strides(const struct lx_loop *loop)
{
    uint64_t sum = 0;
    for (int o = 0; o < LX_LOOP_OPERANDS; o++) sum += (uint64_t)loop->stride[o] * (uint64_t)loop->stride[o];
    return loop->type == LX_DIM_K ? sum >> 3 : sum;
}

/* k innermost, so that an output block is finished before the next begins;
 * else the longest steps outermost. */
static uint64_t steps_but_k_last(const struct lx_loop *loop)
{
    uint64_t sum = 0;
    for (int o = 0; o < LX_LOOP_OPERANDS; o++) sum += (uint64_t)loop->stride[o];
    return loop->type == LX_DIM_K ? sum : sum + (UINT64_C(1) << 60);
}

static bool remainder_is_small(int64_t tasks, int64_t threads)
{
    int64_t left = tasks % threads;
    return left == 0 || (double)left / (double)tasks < 0.01;
}

/* With the balanced share q + (i < r) the last round leaves threads - r idle: less than 1 % of all turns. */
static bool idle_is_small(int64_t tasks, int64_t threads)
{
    int64_t left = tasks % threads;
    return left == 0 || (threads - left) < tasks / 100;
}

static const struct lx_loop_pass *const document_order[LX_LOOP_PASSES] = {
    &pass_reorder_fusing, &pass_split, &pass_fuse, &pass_primitives, &pass_reorder_shared, &pass_shared};
/* Fusing first: blocks are then cut from whole dimensions. */
static const struct lx_loop_pass *const lxplan_order[LX_LOOP_PASSES] = {
    &pass_reorder_fusing, &pass_fuse, &pass_split, &pass_primitives, &pass_reorder_shared, &pass_shared};

static const struct lx_loop_rules rule_sets[] = {
    {
        .name = "lxplan",
        .summary = "roles by stride and type, every legal contraction, blocks for kernel and threads",
        .order = lxplan_order,
        .block = {[LX_DIM_M] = 64, [LX_DIM_N] = 64, [LX_DIM_K] = 256},
        .only_roles = true,
        .fuse_most = LX_INT_MAX,
        .drop_single = true,
        .score = {any_m, any_n, any_k, any_k},
        .unary_score = {moved_m, moved_n, NULL, NULL},
        .main_follows_roles = true,
        .weight = steps_but_k_last,
        .enough = idle_is_small,
        .checks = checks_lxplan,
    },
    {
        .name = "document",
        .summary = "what the source document's version does, defects included",
        .order = document_order,
        .exchanges = true,
        .split_from = 256,
        .fuse_most = 256,
        .fuse_any_exec = true,
        .score = {unit_m, short_n, unit_k, batch_if_asked},
        .unary_score = {unit_m, short_out_n, NULL, NULL},
        .weight = squared_strides,
        .enough = remainder_is_small,
        .share_alone = true,
        .checks = checks_document,
    },
};

enum { RULE_SETS = sizeof rule_sets / sizeof *rule_sets };

const struct lx_loop_rules *lx_loop_rules_at(int i)
{
    return i >= 0 && i < RULE_SETS ? &rule_sets[i] : NULL;
}

const char *lx_loop_rules_name(const struct lx_loop_rules *r)
{
    return r->name;
}

const char *lx_loop_rules_summary(const struct lx_loop_rules *r)
{
    return r->summary;
}

const struct lx_loop_pass *lx_loop_pass_at(const struct lx_loop_rules *rules, int i)
{
    return i >= 0 && i < LX_LOOP_PASSES ? rules->order[i] : NULL;
}

const struct lx_loop_pass *lx_loop_pass_find(const char *name)
{
    for (int i = 0; i < LX_LOOP_PASSES; i++)
        if (strcmp(document_order[i]->name, name) == 0) return document_order[i];
    return NULL;
}

/* Checks the limits that keep products of sizes and strides from overflowing in the passes. */
static bool in_range(const struct lx_loops *l, int64_t threads, lx_status *st)
{
    if (threads < 1) return status_set(st, LX_E_RANGE, "at least one thread must do the work");
    if (l->count < 0 || l->count > LX_LOOPS_MAX)
        return status_set(st, LX_E_LIMIT, "a nest has at most %d loops", LX_LOOPS_MAX);
    for (int o = 0; o < LX_LOOP_OPERANDS; o++)
        if (lx_loops_extent(l, (enum lx_loop_operand)o) < 0)
            return status_set(st, LX_E_RANGE, "an operand of the nest reaches beyond 2^53 elements");
    for (int i = 0; i < l->count; i++)
        for (int o = 0; o < LX_LOOP_OPERANDS; o++)
            if (l->loop[i].size > LX_INT_MAX || l->loop[i].stride[o] > LX_INT_MAX)
                return status_set(st, LX_E_RANGE, "loop %d has a size or stride beyond 2^53", i);
    return true;
}

bool lx_loops_run_pass(struct lx_loops *l, const struct lx_loop_pass *pass, const struct lx_loop_rules *rules,
                       int64_t threads, lx_status *st)
{
    if (!in_range(l, threads, st)) return false;
    pass->run(l, rules, threads);
    return true;
}

bool lx_loops_optimise(struct lx_loops *l, const struct lx_loop_rules *rules, int64_t threads, lx_status *st)
{
    if (!in_range(l, threads, st)) return false;
    for (int i = 0; i < LX_LOOP_PASSES; i++) rules->order[i]->run(l, rules, threads);
    return true;
}
