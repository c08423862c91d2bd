/* Words, sizes and the small moves that passes are made of.
 *
 * Invariant of every move: the set of loops stays the same, only their order changes. Nests are small values
 * (3 KB) that are copied rather than shared. */
#include "loops/nest.h"
#include "base/base.h"

#define WORD(id, word) [id] = word,
const char *const loop_type_words[] = {LX_LOOP_TYPES(WORD)};
const char *const loop_exec_words[] = {LX_LOOP_EXECS(WORD)};
const char *const loop_touch_words[] = {LX_TOUCHES(WORD)};
const char *const loop_dtype_words[] = {LX_LOOP_DTYPES(WORD)};
#undef WORD

static const char *nest_word_at(const char *const *words, int count, int i)
{
    return i >= 0 && i < count ? words[i] : "?";
}

const char *lx_loop_type_word(enum lx_loop_type t)
{
    return nest_word_at(loop_type_words, LX_DIM_COUNT, (int)t);
}

const char *lx_loop_exec_word(enum lx_loop_exec e)
{
    return nest_word_at(loop_exec_words, LX_EXEC_COUNT, (int)e);
}

const char *lx_touch_word(enum lx_touch t)
{
    return nest_word_at(loop_touch_words, LX_TOUCH_COUNT, (int)t);
}

const char *lx_loop_dtype_word(enum lx_loop_dtype d)
{
    return nest_word_at(loop_dtype_words, LX_LOOP_DTYPE_COUNT, (int)d);
}

bool lx_touch_is_unary(enum lx_touch t)
{
    return t == LX_TOUCH_ZERO || t == LX_TOUCH_COPY || t == LX_TOUCH_RELU;
}

bool lx_touch_contracts(enum lx_touch t)
{
    return t == LX_TOUCH_GEMM || t == LX_TOUCH_BRGEMM;
}

bool lx_loops_equal(const struct lx_loops *a, const struct lx_loops *b)
{
    if (a->first != b->first || a->main != b->main || a->last != b->last || a->dtype != b->dtype ||
        a->has_in1 != b->has_in1 || a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->loop[i].type != b->loop[i].type || a->loop[i].exec != b->loop[i].exec ||
            a->loop[i].size != b->loop[i].size ||
            memcmp(a->loop[i].stride, b->loop[i].stride, sizeof a->loop[i].stride) != 0)
            return false;
    return true;
}

int64_t lx_loops_extent(const struct lx_loops *l, enum lx_loop_operand operand)
{
    int64_t last = 0;
    for (int i = 0; i < l->count; i++) {
        const struct lx_loop *loop = &l->loop[i];
        int64_t reach;
        if (loop->size < 0 || loop->stride[operand] < 0) return -1;
        if (loop->size == 0) continue;
        if (!mul_i64(loop->size - 1, loop->stride[operand], &reach) || !add_i64(last, reach, &last))
            return -1;
    }
    return last < LX_INT_MAX ? last + 1 : -1;
}

int64_t lx_loops_work(const struct lx_loops *l)
{
    int64_t work = 1;
    bool fits = true;
    for (int i = 0; i < l->count; i++) {
        if (l->loop[i].size == 0) return 0;
        fits = fits && mul_i64(work, l->loop[i].size, &work);
    }
    return fits ? work : INT64_MAX;
}

bool loops_fit(const struct lx_loop *x, const struct lx_loop *y)
{
    if (x->type != y->type) return false;
    for (int i = 0; i < LX_LOOP_OPERANDS; i++) {
        int64_t end;
        if (!mul_i64(y->size, y->stride[i], &end) || x->stride[i] != end) return false;
    }
    return true;
}

void loops_exchange(struct lx_loops *l, int i, int j)
{
    struct lx_loop kept = l->loop[i];
    l->loop[i] = l->loop[j];
    l->loop[j] = kept;
}

void loops_move(struct lx_loops *l, int from, int to)
{
    struct lx_loop moved = l->loop[from];
    if (from < to)
        memmove(&l->loop[from], &l->loop[from + 1], (size_t)(to - from) * sizeof moved);
    else
        memmove(&l->loop[to + 1], &l->loop[to], (size_t)(from - to) * sizeof moved);
    l->loop[to] = moved;
}

void loops_remove(struct lx_loops *l, int i)
{
    l->count--;
    memmove(&l->loop[i], &l->loop[i + 1], (size_t)(l->count - i) * sizeof l->loop[0]);
}

int loops_first_prim(const struct lx_loops *l)
{
    int i = 0;
    while (i < l->count && l->loop[i].exec != LX_EXEC_PRIM) i++;
    return i;
}

int loops_find(const struct lx_loops *l, enum lx_loop_type type, enum lx_loop_exec exec, int start)
{
    for (int i = start; i < l->count; i++)
        if (l->loop[i].type == type && l->loop[i].exec == exec) return i;
    return -1;
}

int loops_prims(const struct lx_loops *l, enum lx_loop_type type)
{
    int n = 0;
    for (int i = 0; i < l->count; i++) n += l->loop[i].type == type && l->loop[i].exec == LX_EXEC_PRIM;
    return n;
}
