/* The checks of a nest, one per question.
 *
 * The numbers are the source document's; each has a status code of its own. A rule set lists its checks in
 * order, and the first that fails is the answer. The document's list asks for unit strides and for exactly
 * one m and one n; ours asks only for what a contraction must have: strides that fit the types, one turn of
 * the loops other than k per output element, and no more primitive loops than the primitive has room for. */
#include "loops/nest.h"
#include "base/base.h"

/* The document's numbers; 3, 5, 7 and 15 are never given. */
enum {
    OK = 0,
    BAD_DTYPE = 1,
    BAD_DIMENSION = 2,
    BAD_FIRST_TOUCH = 4,
    BAD_LAST_TOUCH = 6,
    BAD_PRIMITIVE = 8,
    EMPTY_FIRST = 9,
    EMPTY_MAIN = 10,
    EMPTY_LAST = 11,
    BAD_ORDER = 12,
    BAD_STRIDE = 13,
    SHARED_K = 14,
    NUMBERS
};

static const enum lx_code codes[NUMBERS] = {
    [BAD_DTYPE] = LX_E_LOOP_DTYPE,
    [BAD_DIMENSION] = LX_E_LOOP_DIMENSION,
    [BAD_FIRST_TOUCH] = LX_E_LOOP_FIRST_TOUCH,
    [BAD_LAST_TOUCH] = LX_E_LOOP_LAST_TOUCH,
    [BAD_PRIMITIVE] = LX_E_LOOP_PRIMITIVE,
    [EMPTY_FIRST] = LX_E_LOOP_FIRST_EMPTY,
    [EMPTY_MAIN] = LX_E_LOOP_MAIN_EMPTY,
    [EMPTY_LAST] = LX_E_LOOP_LAST_EMPTY,
    [BAD_ORDER] = LX_E_LOOP_ORDER,
    [BAD_STRIDE] = LX_E_LOOP_STRIDE,
    [SHARED_K] = LX_E_LOOP_SHARED_K,
};

static int validate_fail(struct loop_fault *fault, int number, int loop, const char *words)
{
    *fault = (struct loop_fault){loop, words};
    return number;
}

static int check_dimensions(const struct lx_loops *l, struct loop_fault *fault)
{
    if (l->count == 0) return validate_fail(fault, BAD_DIMENSION, -1, "there are no loops");
    bool reads = lx_touch_contracts(l->first) || lx_touch_contracts(l->main) || lx_touch_contracts(l->last);
    if (!l->has_in1 && reads)
        return validate_fail(fault, BAD_DIMENSION, -1, "in1 is read, but has no strides; give strides_in1");
    return OK;
}

static int check_shared_k(const struct lx_loops *l, struct loop_fault *fault)
{
    int k = loops_find(l, LX_DIM_K, LX_EXEC_SHARED, 0);
    return k < 0 ? OK
                 : validate_fail(fault, SHARED_K, k,
                                 "a k loop is shared, so threads would add to one element; make "
                                 "it seq");
}

static int check_fp32(const struct lx_loops *l, struct loop_fault *fault)
{
    return l->dtype == LX_LOOP_FP32 ? OK : validate_fail(fault, BAD_DTYPE, -1, "only fp32 is supported");
}

static int check_dtype(const struct lx_loops *l, struct loop_fault *fault)
{
    return l->dtype != LX_LOOP_FP64
               ? OK
               : validate_fail(fault, BAD_DTYPE, -1, "there are no kernels for fp64; use fp32");
}

static int validate_check_order(const struct lx_loops *l, struct loop_fault *fault)
{
    static const int rank[] = {[LX_EXEC_SHARED] = 0, [LX_EXEC_SEQ] = 1, [LX_EXEC_PRIM] = 2};
    for (int i = 1; i < l->count; i++)
        if (rank[l->loop[i].exec] < rank[l->loop[i - 1].exec])
            return validate_fail(fault, BAD_ORDER, i, "shared loops come first, then seq, then prim");
    return OK;
}

static int check_one_m_and_n(const struct lx_loops *l, struct loop_fault *fault)
{
    if (loops_prims(l, LX_DIM_M) != 1 || loops_prims(l, LX_DIM_N) != 1)
        return validate_fail(fault, BAD_PRIMITIVE, -1, "exactly one m and one n must be prim");
    return OK;
}

static int check_unit_m(const struct lx_loops *l, struct loop_fault *fault)
{
    int m = loops_find(l, LX_DIM_M, LX_EXEC_PRIM, 0);
    if (l->loop[m].stride[LX_LOOP_IN0] != 1 || l->loop[m].stride[LX_LOOP_OUT] != 1)
        return validate_fail(fault, BAD_PRIMITIVE, m, "the prim m must have stride 1 in in0 and out");
    return OK;
}

static int check_k_count(const struct lx_loops *l, struct loop_fault *fault)
{
    int k = loops_prims(l, LX_DIM_K), last = -1;
    for (int i = 0; i < l->count; i++)
        if (l->loop[i].type == LX_DIM_K && l->loop[i].exec == LX_EXEC_PRIM) last = i;
    if (lx_touch_is_unary(l->main) && k != 0)
        return validate_fail(fault, BAD_PRIMITIVE, last, "a unary primitive has no k");
    if (!lx_touch_contracts(l->main)) return OK;
    if (k != (l->main == LX_TOUCH_GEMM ? 1 : 2))
        return validate_fail(fault, BAD_PRIMITIVE, last, "gemm has one prim k, brgemm two");
    if (l->loop[last].stride[LX_LOOP_IN1] != 1)
        return validate_fail(fault, BAD_PRIMITIVE, last, "the last prim k must have stride 1 in in1");
    return OK;
}

static int check_roles(const struct lx_loops *l, struct loop_fault *fault)
{
    if (loops_prims(l, LX_DIM_M) > 1 || loops_prims(l, LX_DIM_N) > 1)
        return validate_fail(fault, BAD_PRIMITIVE, -1, "at most one m and one n may be prim");
    if (loops_prims(l, LX_DIM_K) > (l->main == LX_TOUCH_BRGEMM ? 2 : l->main == LX_TOUCH_GEMM))
        return validate_fail(fault, BAD_PRIMITIVE, -1,
                             "gemm has room for one prim k, brgemm for two, others for none");
    for (int i = 0; i < l->count; i++)
        if (l->loop[i].exec == LX_EXEC_PRIM &&
            (l->loop[i].type == LX_DIM_C || l->loop[i].type == LX_DIM_UNDEFINED))
            return validate_fail(fault, BAD_PRIMITIVE, i,
                                 "a primitive has no place for this type; make it seq");
    return OK;
}

/* A loop has stride 0 in the operand that its type does not walk. */
static int check_zeros(const struct lx_loops *l, struct loop_fault *fault)
{
    if (!lx_touch_contracts(l->main)) return OK;
    for (int i = 0; i < l->count; i++) {
        const struct lx_loop *loop = &l->loop[i];
        if (loop->type == LX_DIM_N && loop->stride[LX_LOOP_IN0] != 0)
            return validate_fail(fault, BAD_STRIDE, i, "an n does not walk in0: its stride there must be 0");
        if (loop->type == LX_DIM_M && loop->stride[LX_LOOP_IN1] != 0)
            return validate_fail(fault, BAD_STRIDE, i, "an m does not walk in1: its stride there must be 0");
        if (loop->type == LX_DIM_K && loop->stride[LX_LOOP_OUT] != 0)
            return validate_fail(fault, BAD_STRIDE, i, "a k does not walk out: its stride there must be 0");
    }
    return OK;
}

static int by_stride(const void *a, const void *b)
{
    const struct lx_loop *const *x = a, *const *y = b;
    int64_t s = (*x)->stride[LX_LOOP_OUT], t = (*y)->stride[LX_LOOP_OUT];
    return (s > t) - (s < t);
}

/* Marks every element that `loops` write from offset `at` on; false: one was marked already. */
static bool validate_mark(unsigned char *marks, const struct lx_loop *const *loops, int count, int64_t at)
{
    if (count == 0) {
        unsigned char bit = (unsigned char)(1u << (at & 7));
        if (marks[at >> 3] & bit) return false;
        marks[at >> 3] |= bit;
        return true;
    }
    for (int64_t i = 0; i < loops[0]->size; i++)
        if (!validate_mark(marks, loops + 1, count - 1, at + i * loops[0]->stride[LX_LOOP_OUT])) return false;
    return true;
}

/* Does one turn write each output element? Yes, if every stride exceeds the reach of the shorter ones.
 * Interleaved strides (3 x 2 beside 2 x 3) may be right or wrong; they are counted out, up to 2^24 turns. */
static bool writes_once(const struct lx_loops *l)
{
    const struct lx_loop *loops[LX_LOOPS_MAX];
    int count = 0;
    int64_t reach = 0, turns = 1;
    bool nested = true;
    for (int i = 0; i < l->count; i++)
        if (l->loop[i].type != LX_DIM_K && l->loop[i].size > 1) loops[count++] = &l->loop[i];
    qsort(loops, (size_t)count, sizeof *loops, by_stride);
    for (int i = 0; i < count; i++) {
        nested = nested && loops[i]->stride[LX_LOOP_OUT] > reach;
        reach += (loops[i]->size - 1) * loops[i]->stride[LX_LOOP_OUT];
        if (!mul_i64(turns, loops[i]->size, &turns)) turns = INT64_MAX;
    }
    if (nested) return true;
    if (turns > reach + 1) return false; /* more turns than elements */
    if (turns > (int64_t)1 << 24 || reach > (int64_t)1 << 30) return true;
    OWNED unsigned char *marks = mem_zeroed((size_t)(reach >> 3) + 1, 1);
    return validate_mark(marks, loops, count, 0);
}

static int check_writes(const struct lx_loops *l, struct loop_fault *fault)
{
    for (int i = 0; i < l->count; i++) {
        const struct lx_loop *loop = &l->loop[i];
        if (loop->type == LX_DIM_K && loop->size > 1 && loop->stride[LX_LOOP_OUT] != 0)
            return validate_fail(fault, BAD_STRIDE, i, "a k does not walk out: its stride there must be 0");
        if (loop->type != LX_DIM_K && loop->size > 1 && loop->stride[LX_LOOP_OUT] == 0)
            return validate_fail(fault, BAD_STRIDE, i,
                                 "only a k may stand still in out; call it k or give it a stride");
    }
    if (lx_loops_extent(l, LX_LOOP_OUT) < 0)
        return validate_fail(fault, BAD_STRIDE, -1, "out reaches beyond 2^53 elements");
    return writes_once(l)
               ? OK
               : validate_fail(fault, BAD_STRIDE, -1, "some output elements are written by several turns");
}

static bool any_empty(const struct lx_loops *l, bool only_prims)
{
    for (int i = 0; i < l->count; i++)
        if (l->loop[i].size == 0 && (!only_prims || l->loop[i].exec == LX_EXEC_PRIM)) return true;
    return false;
}

/* A touch covers the m and n of the primitive. */
static bool touches_nothing(const struct lx_loops *l)
{
    for (int i = 0; i < l->count; i++)
        if (l->loop[i].size == 0 && l->loop[i].exec == LX_EXEC_PRIM && l->loop[i].type != LX_DIM_K)
            return true;
    return false;
}

static int check_first(const struct lx_loops *l, struct loop_fault *fault)
{
    if (l->first == LX_TOUCH_NONE) return OK;
    if (!lx_touch_is_unary(l->first))
        return validate_fail(fault, BAD_FIRST_TOUCH, -1, "a first touch is zero, copy or relu");
    return touches_nothing(l) ? validate_fail(fault, EMPTY_FIRST, -1, "the first touch has no elements") : OK;
}

static int check_main(const struct lx_loops *l, struct loop_fault *fault)
{
    if (l->main == LX_TOUCH_NONE || !any_empty(l, true)) return OK;
    return validate_fail(fault, EMPTY_MAIN, -1, "the main primitive has a size of 0");
}

static int check_last(const struct lx_loops *l, struct loop_fault *fault)
{
    if (l->last == LX_TOUCH_NONE) return OK;
    if (!lx_touch_is_unary(l->last))
        return validate_fail(fault, BAD_LAST_TOUCH, -1, "a last touch is zero, copy or relu");
    return touches_nothing(l) ? validate_fail(fault, EMPTY_LAST, -1, "the last touch has no elements") : OK;
}

static int check_not_empty(const struct lx_loops *l, struct loop_fault *fault)
{
    return any_empty(l, false) ? validate_fail(fault, EMPTY_MAIN, -1, "a loop of no turns") : OK;
}

loop_check *const checks_document[] = {check_dimensions,  check_shared_k, check_fp32,    validate_check_order,
                                       check_one_m_and_n, check_unit_m,   check_k_count, check_zeros,
                                       check_first,       check_main,     check_last,    NULL};

loop_check *const checks_lxplan[] = {check_dimensions, check_shared_k, check_dtype, validate_check_order,
                                     check_roles,      check_zeros,    check_first, check_last,
                                     check_not_empty,  check_writes,   NULL};

int lx_loops_validate(const struct lx_loops *l, const struct lx_loop_rules *rules, lx_status *st)
{
    struct loop_fault fault = {-1, ""};
    for (loop_check *const *check = rules->checks; *check; check++) {
        int number = (*check)(l, &fault);
        if (number == OK) continue;
        if (fault.loop >= 0)
            status_set(st, codes[number], "loop %d (%s, %s): %s", fault.loop,
                       lx_loop_type_word(l->loop[fault.loop].type),
                       lx_loop_exec_word(l->loop[fault.loop].exec), fault.words);
        else
            status_set(st, codes[number], "%s", fault.words);
        return number;
    }
    return OK;
}
