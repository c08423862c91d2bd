/* The two passes that change the sizes of loops.
 *
 * split cuts a loop into an outer and an inner one of exact divisors, fuse merges two loops that walk one
 * dimension. A rule set aims at the square root of a size, or at block sizes that suit the primitive;
 * pass_size_split halves these while there would be fewer blocks than threads. */
#include "loops/nest.h"
#include "base/base.h"

/* Which loops the primitive takes in.
 *
 * A matrix primitive has room for one m, one n, one k and, batch-reducing, one more k. A rule set scores
 * every loop for every role by type and strides; where a loop stands does not count. Roles that the user has
 * filled are left alone. */

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

/* The loop for each role, -1 where a role stays empty or the user has filled it. */
static void roles_pick(const struct lx_loops *l, const struct lx_loop_rules *rules, int pick[ROLE_COUNT])
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
        l->loop[pick[r]].type = role_type[r]; /* a c of a unary nest becomes an m or n */
    }
    if (rules->main_follows_roles && lx_touch_contracts(l->main))
        l->main = loops_prims(l, LX_DIM_K) > 1 ? LX_TOUCH_BRGEMM : LX_TOUCH_GEMM;
}

const struct lx_loop_pass pass_primitives = {
    "primitives", "choose the loops that the matrix primitive takes in", primitive_roles_take};

/* The least block: below it the edges cost more than a thread brings. */
enum { LEAST_BLOCK = 16 };

/* The largest divisor of n from 2 up to `most`; 1: none. Past 2^26 the search would take seconds, and no loop
 * has a use for the divisor. */
static int64_t divisor(int64_t n, int64_t most)
{
    if (most > (int64_t)1 << 26) return 1;
    for (int64_t d = most; d > 1; d--)
        if (n % d == 0) return d;
    return 1;
}

/* The inner size of a loop in the role of `type`; 1: no split. */
static int64_t inner_size(const struct lx_loop *loop, enum lx_loop_type type,
                          const struct lx_loop_rules *rules, const int64_t *block)
{
    int64_t aim = block[type];
    if (loop->size < rules->split_from) return 1;
    if (aim == 0) {
        int64_t root = 1, high = (int64_t)1 << 31; /* bisected */
        while (root < high) {
            int64_t mid = (root + high + 1) / 2;
            if (mid <= loop->size / mid)
                root = mid;
            else
                high = mid - 1;
        }
        return divisor(loop->size, root);
    }
    if (loop->size <= aim) return 1;
    /* With small divisors only the loop stays whole: the primitive handles edges. */
    int64_t d = divisor(loop->size, aim);
    return d >= aim / 8 && d > 1 ? d : 1;
}

/* Number of blocks for threads: turns of all loops but k, without inner parts. */
static int64_t blocks(const struct lx_loops *l, const struct lx_loop_rules *rules, const int64_t *block,
                      const int pick[ROLE_COUNT])
{
    int64_t n = 1;
    for (int i = 0; i < l->count; i++) {
        const struct lx_loop *loop = &l->loop[i];
        if (loop->type == LX_DIM_K || loop->exec == LX_EXEC_PRIM) continue;
        bool is_m = pick[ROLE_M] == i, has_role = is_m || pick[ROLE_N] == i;
        int64_t inner = has_role ? inner_size(loop, is_m ? LX_DIM_M : LX_DIM_N, rules, block) : 1;
        int64_t turns = has_role && inner == 1 ? 1 : loop->size / inner;
        if (!mul_i64(n, turns, &n)) return INT64_MAX;
    }
    return n;
}

static void pass_size_split(struct lx_loops *l, const struct lx_loop_rules *rules, int64_t threads)
{
    int pick[ROLE_COUNT];
    int64_t block[LX_DIM_COUNT];
    roles_pick(l, rules, pick);
    for (int t = 0; t < LX_DIM_COUNT; t++) block[t] = rules->block[t];
    while (rules->only_roles && blocks(l, rules, block, pick) < threads) {
        enum lx_loop_type larger = block[LX_DIM_N] >= block[LX_DIM_M] ? LX_DIM_N : LX_DIM_M;
        if (block[larger] / 2 < LEAST_BLOCK) break;
        block[larger] /= 2;
    }
    /* From the back: a split moves only later loops. */
    for (int i = l->count; i-- > 0;) {
        enum lx_loop_type type = rules->only_roles ? LX_DIM_UNDEFINED : l->loop[i].type;
        if (pick[ROLE_M] == i) type = LX_DIM_M; /* a c of a unary nest, too */
        if (pick[ROLE_N] == i) type = LX_DIM_N;
        if (pick[ROLE_K] == i) type = LX_DIM_K;
        if (rules->only_roles && type == LX_DIM_UNDEFINED) continue;
        int64_t inner = inner_size(&l->loop[i], type, rules, block);
        if (inner > 1 && l->count < LX_LOOPS_MAX) {
            l->count++;
            for (int j = l->count - 1; j > i; j--) l->loop[j] = l->loop[j - 1];
            l->loop[i].size /= inner;
            for (int o = 0; o < LX_LOOP_OPERANDS; o++) l->loop[i].stride[o] *= inner;
            l->loop[i + 1].size = inner;
        }
    }
}

static void fuse(struct lx_loops *l, const struct lx_loop_rules *rules, int64_t threads)
{
    (void)threads;
    for (int i = 0; rules->drop_single && i < l->count && l->count > 1;) {
        if (l->loop[i].size == 1 && l->loop[i].exec == LX_EXEC_SEQ)
            loops_remove(l, i);
        else
            i++;
    }
    for (int i = 0; i + 1 < l->count;) {
        struct lx_loop *a = &l->loop[i], *b = &l->loop[i + 1];
        int64_t product;
        bool small = mul_i64(a->size, b->size, &product) && product <= rules->fuse_most;
        bool alike = rules->fuse_any_exec || (a->exec == b->exec && a->exec != LX_EXEC_PRIM);
        if (!small || !alike || !(loops_fit(a, b) || loops_fit(b, a))) {
            i++;
            continue;
        }
        const struct lx_loop *inner = loops_fit(a, b) ? b : a;
        for (int o = 0; o < LX_LOOP_OPERANDS; o++) a->stride[o] = inner->stride[o];
        a->size = product;
        loops_remove(l, i + 1);
    }
}

const struct lx_loop_pass pass_split = {"split", "cut large loops into an outer and an inner one",
                                        pass_size_split};
const struct lx_loop_pass pass_fuse = {"fuse", "make one loop of neighbours that walk one dimension", fuse};
