/* Which loops the primitive takes in.
 *
 * A matrix primitive has room for one m, one n, one k and, batch-reducing, one more k. A rule set scores
 * every loop for every role by type and strides; where a loop stands does not count. Roles that the user has
 * filled are left alone. */
#include "loops/nest.h"

static const enum lx_loop_type role_type[ROLE_COUNT] = {
    [ROLE_M] = LX_DIM_M, [ROLE_N] = LX_DIM_N, [ROLE_K] = LX_DIM_K, [ROLE_BATCH] = LX_DIM_K};

/* The best free loop for a role. */
static int best(const struct lx_loops *l, role_score *score, const int pick[ROLE_COUNT])
{
    int found = -1;
    int64_t least = -1;
    for (int i = 0; score && i < l->count; i++) {
        if (l->loop[i].exec == LX_EXEC_PRIM) continue;
        bool taken = false;
        for (int r = 0; r < ROLE_COUNT; r++) taken |= pick[r] == i;
        int64_t s = taken ? -1 : score(l, &l->loop[i]);
        if (s >= 0 && (least < 0 || s < least)) {
            least = s;
            found = i;
        }
    }
    return found;
}

void roles_pick(const struct lx_loops *l, const struct lx_loop_rules *rules, int pick[ROLE_COUNT])
{
    role_score *const *score = lx_touch_is_unary(l->main) ? rules->unary_score : rules->score;
    int held[LX_DIM_COUNT] = {0};
    for (int t = 0; t < LX_DIM_COUNT; t++) held[t] = loops_prims(l, (enum lx_loop_type)t);
    for (int r = 0; r < ROLE_COUNT; r++) pick[r] = -1;
    for (int r = 0; r < ROLE_COUNT; r++) {
        int room = r == ROLE_BATCH ? 2 : 1;
        if (held[role_type[r]] < room) pick[r] = best(l, score[r], pick);
    }
}

static void primitive_roles_take(struct lx_loops *l, const struct lx_loop_rules *rules, int64_t threads)
{
    int pick[ROLE_COUNT];
    (void)threads;
    roles_pick(l, rules, pick);
    for (int r = 0; r < ROLE_COUNT; r++) {
        if (pick[r] < 0) continue;
        l->loop[pick[r]].exec = LX_EXEC_PRIM;
        l->loop[pick[r]].type = role_type[r]; /* a c of a unary nest becomes an m or n: it moves elements */
    }
    if (rules->main_follows_roles && lx_touch_contracts(l->main))
        l->main = loops_prims(l, LX_DIM_K) > 1 ? LX_TOUCH_BRGEMM : LX_TOUCH_GEMM;
}

const struct lx_loop_pass pass_primitives = {
    "primitives", "choose the loops that the matrix primitive takes in", primitive_roles_take};
