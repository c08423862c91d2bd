/* The two passes that change the order of loops, and the pass that shares them.
 *
 * reorder_fusing brings loops together that walk one dimension, so that they can be fused. reorder_shared
 * puts the loops worth sharing in front and the primitives behind all others. shared then marks loops from
 * the front, until the work is spread evenly over the threads. */
#include "loops/nest.h"
#include "base/base.h"

/* Orders the primitive loops "batch k, m, n, k" at the end, exchanging each with the last free place. The
 * positions are looked up once: after an exchange moved a loop that is still to come, a wrong one is
 * exchanged. So does the document's version, and its results depend on it. */
static void exchange_prims(struct lx_loops *l)
{
    int m = loops_find(l, LX_DIM_M, LX_EXEC_PRIM, 0), n = loops_find(l, LX_DIM_N, LX_EXEC_PRIM, 0);
    int k = loops_find(l, LX_DIM_K, LX_EXEC_PRIM, 0);
    int second = k < 0 ? -1 : loops_find(l, LX_DIM_K, LX_EXEC_PRIM, k + 1);
    int order[ROLE_COUNT] = {second < 0 ? k : second, n, m, second < 0 ? -1 : k};
    int place = l->count - 1;
    for (int i = 0; i < ROLE_COUNT; i++)
        if (order[i] >= 0) loops_exchange(l, order[i], place--);
}

/* Where a primitive loop belongs: of two k the one with the longer steps is the batch. */
static int prim_rank(const struct lx_loops *l, int i)
{
    const struct lx_loop *loop = &l->loop[i];
    if (loop->type == LX_DIM_M) return 2;
    if (loop->type == LX_DIM_N) return 3;
    if (loop->type != LX_DIM_K) return 0;
    for (int j = 0; j < l->count; j++) {
        const struct lx_loop *other = &l->loop[j];
        if (j == i || other->type != LX_DIM_K || other->exec != LX_EXEC_PRIM) continue;
        int64_t mine = loop->stride[LX_LOOP_IN0] + loop->stride[LX_LOOP_IN1];
        int64_t theirs = other->stride[LX_LOOP_IN0] + other->stride[LX_LOOP_IN1];
        if (mine > theirs || (mine == theirs && i < j)) return 1;
    }
    return 4;
}

static int pass_order_place_of(const struct lx_loops *l, int i)
{
    enum lx_loop_exec exec = l->loop[i].exec;
    return exec == LX_EXEC_SHARED ? 0 : exec == LX_EXEC_SEQ ? 1 : 2 + prim_rank(l, i);
}

static void prims_to_back(struct lx_loops *l, const struct lx_loop_rules *rules)
{
    if (rules->exchanges)
        exchange_prims(l);
    else {
        /* Shared, seq, prim; insertion keeps the order of equals. */
        for (int i = 1; i < l->count; i++) {
            int to = i;
            while (to > 0 && pass_order_place_of(l, to - 1) > pass_order_place_of(l, i)) to--;
            if (to < i) loops_move(l, i, to);
        }
    }
}

/* Moves a loop that can be fused with loop i next to it. True: another loop is at i now. */
static bool pass_order_join(struct lx_loops *l, const struct lx_loop_rules *rules, int i, int end)
{
    for (int j = i + 1; j < end; j++) {
        struct lx_loop *a = &l->loop[i], *b = &l->loop[j];
        if ((a->exec == LX_EXEC_SHARED) != (b->exec == LX_EXEC_SHARED)) continue;
        if (loops_fit(a, b)) {
            /* Exchanged even if adjacent already: the document's version reverses them. */
            if (rules->exchanges)
                loops_exchange(l, i, j);
            else
                loops_move(l, j, i + 1);
            return false;
        }
        if (loops_fit(b, a)) {
            loops_move(l, j, i);
            return true;
        }
    }
    return false;
}

static void reorder_fusing(struct lx_loops *l, const struct lx_loop_rules *rules, int64_t threads)
{
    (void)threads;
    prims_to_back(l, rules);
    int end = loops_first_prim(l);
    for (int i = 0; i < end; i++) {
        /* A loop moved before its partner may itself have a partner further out. */
        int again = rules->exchanges ? 0 : end;
        while (pass_order_join(l, rules, i, end) && again-- > 0) continue;
    }
}

/* The weight of loop j for place i; in the document's version half of it where the loop before that place has
 * the same type, unless that is c. */
static uint64_t pass_order_weight(const struct lx_loops *l, const struct lx_loop_rules *rules, int i, int j)
{
    enum lx_loop_type type = l->loop[j].type;
    bool repeats = rules->exchanges && i > 0 && l->loop[i - 1].type == type && type != LX_DIM_C;
    return rules->weight(&l->loop[j]) >> repeats;
}

static void reorder_shared(struct lx_loops *l, const struct lx_loop_rules *rules, int64_t threads)
{
    (void)threads;
    if (!rules->exchanges) prims_to_back(l, rules);
    int end = loops_first_prim(l);
    for (int i = 0; i < end; i++) {
        int found = i;
        for (int j = i + 1; j < end; j++)
            if ((l->loop[i].exec == LX_EXEC_SHARED) == (l->loop[j].exec == LX_EXEC_SHARED) &&
                pass_order_weight(l, rules, i, j) > pass_order_weight(l, rules, i, found))
                found = j;
        int j = found;
        if (rules->exchanges)
            loops_exchange(l, i, j);
        else
            loops_move(l, j, i);
    }
    /* The document's version sorts what stands before the first primitive, and only then moves primitives. */
    if (rules->exchanges) prims_to_back(l, rules);
}

static void pass_order_share(struct lx_loops *l, const struct lx_loop_rules *rules, int64_t threads)
{
    int64_t tasks = 1;
    if (threads == 1 && !rules->share_alone) return;
    for (int i = 0; i < l->count; i++) {
        struct lx_loop *loop = &l->loop[i];
        if (loop->exec == LX_EXEC_PRIM || (loop->exec == LX_EXEC_SEQ && loop->type == LX_DIM_K)) return;
        loop->exec = LX_EXEC_SHARED;
        if (!mul_i64(tasks, loop->size, &tasks) || rules->enough(tasks, threads)) return;
    }
}

const struct lx_loop_pass pass_reorder_fusing = {
    "reorder_fusing", "bring loops together that walk one dimension", reorder_fusing};
const struct lx_loop_pass pass_reorder_shared = {
    "reorder_shared", "heavy loops to the front, primitives to the back", reorder_shared};
const struct lx_loop_pass pass_shared = {
    "shared", "share loops from the front until the threads are evenly loaded", pass_order_share};
