#include "support/random_nest.h"

static void lay_out(struct rng *r, struct lx_loops *l, int operand, const bool *walks)
{
    int order[LX_LOOPS_MAX], n = 0;
    for (int i = 0; i < l->count; i++)
        if (walks[i]) order[n++] = i;
    int64_t stride = rng_below(r, 5) == 0 ? 2 : 1;
    for (; n > 0; n--) {
        int pick = (int)rng_below(r, (uint64_t)n), i = order[pick];
        order[pick] = order[n - 1];
        uint64_t dice = operand == LX_LOOP_OUT ? 99 : rng_below(r, 24);
        l->loop[i].stride[operand] = dice == 0 ? 0 : stride;
        if (dice <= 1) continue; /* the next one walks at this stride, too */
        stride = stride * l->loop[i].size + (rng_below(r, 8) == 0 ? 3 : 0);
    }
}

static int64_t random_size(struct rng *r, int64_t *room)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 40, 97, 128, 256, 300};
    int64_t size = sizes[rng_below(r, sizeof sizes / sizeof *sizes)];
    while (size > *room) size = (size + 1) / 2;
    *room /= size > 0 ? size : 1;
    return size > 0 ? size : 1;
}

struct lx_loops random_nest(struct rng *r, enum random_main which)
{
    static const enum lx_touch touches[] = {LX_TOUCH_NONE, LX_TOUCH_ZERO, LX_TOUCH_COPY, LX_TOUCH_RELU};
    static const enum lx_touch mains[] = {LX_TOUCH_GEMM,   LX_TOUCH_GEMM, LX_TOUCH_GEMM, LX_TOUCH_BRGEMM,
                                          LX_TOUCH_BRGEMM, LX_TOUCH_COPY, LX_TOUCH_RELU, LX_TOUCH_ZERO};
    struct lx_loops l = {
        .first = touches[rng_below(r, 4)], .last = touches[rng_below(r, 4)], .has_in1 = true};
    l.main = mains[rng_below(r, which == ONLY_CONTRACTIONS ? 5 : 8)];
    bool unary = lx_touch_is_unary(l.main);
    int64_t room = 9000;
    l.count = 1 + (int)rng_below(r, 9);
    bool walks[LX_LOOP_OPERANDS][LX_LOOPS_MAX];
    for (int i = 0; i < l.count; i++) {
        enum lx_loop_type type = (enum lx_loop_type)(1 + rng_below(r, unary ? 3 : 4));
        l.loop[i] = (struct lx_loop){.type = type, .size = random_size(r, &room)};
        walks[LX_LOOP_IN0][i] = unary || type != LX_DIM_N;
        walks[LX_LOOP_IN1][i] = !unary && type != LX_DIM_M;
        walks[LX_LOOP_OUT][i] = type != LX_DIM_K;
    }
    for (int o = 0; o < LX_LOOP_OPERANDS; o++) lay_out(r, &l, o, walks[o]);
    return l;
}

bool choose_some(struct rng *r, struct lx_loops *l)
{
    bool taken[LX_DIM_COUNT] = {false};
    if (rng_below(r, 3) > 0) return false;
    for (int i = 0; i < l->count; i++) {
        struct lx_loop *loop = &l->loop[i];
        uint64_t dice = rng_below(r, 6);
        if (dice == 0 && loop->type != LX_DIM_C && !taken[loop->type]) {
            loop->exec = LX_EXEC_PRIM;
            taken[loop->type] = true;
        } else if (dice == 1 && loop->type != LX_DIM_K) {
            loop->exec = LX_EXEC_SHARED;
        }
    }
    return true;
}
