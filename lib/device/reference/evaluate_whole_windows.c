/* Windows of whole numbers: each element of the output by itself, its terms one after the other; exact. The
 * operands are decoded once. */
#include "device/reference/evaluate.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/cancel.h"

#include <stdlib.h>

enum { BLOCK = 256, TASKS = 64 };

struct slid {
    const struct evaluation *e;
    const struct whole_meaning *m;
    whole_number *in[2];
    int64_t step[2][LX_MAX_VARS];
    int summed[LX_MAX_VARS], summed_count; /* variables that the output lacks, but for those that follow */
    int64_t per_task;
};

static bool is_in_output(const struct lx_op *op, int v)
{
    for (int d = 0; d < op->map->rank[op->input_count]; d++)
        if (op->map->index[op->input_count][d] == v) return true;
    return false;
}

static bool is_slid(const struct lx_op *op, int v)
{
    bool slides = false;
    for (int i = 0; i < op->window_count; i++) slides |= op->windows[i].in == v;
    return slides;
}

static void decode_whole(struct slid *s, int operand)
{
    const struct lx_einsum *map = s->e->op->map;
    int64_t n = 1;
    for (int d = map->rank[operand] - 1; d >= 0; d--) {
        s->step[operand][(int)map->index[operand][d]] = n;
        n *= map->extent[(int)map->index[operand][d]];
    }
    s->in[operand] = mem_alloc((size_t)n * sizeof *s->in[operand]);
    for (int64_t at = 0, count; at < n; at += count) {
        wide_number row[BLOCK];
        count = min_i64(n - at, BLOCK);
        operand_wide_row(&s->e->in[operand], at, 1, count, row);
        for (int64_t i = 0; i < count; i++) s->in[operand][at + i] = number_whole(row[i]);
    }
}

/* Sets what follows from the other indices; false: there is no such element. */
static bool slide(const struct lx_op *op, int64_t *index)
{
    for (int i = 0; i < op->window_count; i++) {
        const struct lx_window *w = &op->windows[i];
        int64_t at = w->stride * index[(int)w->out] + w->dilation * index[(int)w->tap] - w->pad;
        if (at < 0 || at % w->hole != 0 || at / w->hole >= op->map->extent[(int)w->in]) return false;
        index[(int)w->in] = at / w->hole;
    }
    return true;
}

static bool evaluate_whole_windows_next_term(const struct slid *s, int64_t *index)
{
    for (int k = s->summed_count - 1; k >= 0; k--) {
        if (++index[s->summed[k]] < s->e->op->map->extent[s->summed[k]]) return true;
        index[s->summed[k]] = 0;
    }
    return false;
}

/* Of no terms at all a maximum is infinite: an end of its type when it is stored. */
static wide_number evaluate_whole_windows_element_at(const struct slid *s, int64_t n)
{
    const struct evaluation *e = s->e;
    const struct lx_tensor *out = &e->g->tensors[e->op->output];
    int64_t index[LX_MAX_VARS] = {0}, rest = n;
    whole_number total = s->m->start;
    bool none = s->m->from_first;
    for (int d = out->rank - 1; d >= 0; d--) {
        index[(int)e->op->map->index[e->op->input_count][d]] = rest % out->shape[d];
        rest /= out->shape[d];
    }
    if (e->before.items) {
        wide_number before;
        operand_wide_row(&e->before, n, 1, 1, &before);
        total = number_whole(before);
        none = false;
    }
    do {
        if (!slide(e->op, index)) continue;
        int64_t at[2] = {0, 0};
        for (int v = 0; v < s->e->op->map->var_count; v++)
            for (int i = 0; i < s->e->op->input_count; i++) at[i] += index[v] * s->step[i][v];
        whole_number a = s->in[0][at[0]];
        whole_number term = s->in[1] ? s->m->element(a, s->in[1][at[1]], 0, 64) : a;
        total = none ? term : s->m->fold(total, term, 0, 64);
        none = false;
    } while (evaluate_whole_windows_next_term(s, index));
    return none ? (wide_number)e->meaning->fold->start : number_wrapped(&number_types[out->dtype], total);
}

static void slide_task(void *context, int64_t number, int worker)
{
    const struct slid *s = context;
    int64_t from = number * s->per_task, to = min_i64(from + s->per_task, s->e->out_count);
    for (int64_t n = from, count; n < to && !cancel_requested(); n += count) {
        wide_number exact[BLOCK];
        count = min_i64(to - n, BLOCK);
        for (int64_t i = 0; i < count; i++) exact[i] = evaluate_whole_windows_element_at(s, n + i);
        s->e->take(s->e->context, worker, n, &(struct expected){.count = count, .exact = exact});
    }
}

void evaluate_whole_windows(struct evaluation *e, struct pool *pool)
{
    struct slid s = {.e = e, .m = whole_meaning_of(e->op->kind), .per_task = e->out_count / TASKS + 1};
    for (int v = 0; v < e->op->map->var_count; v++)
        if (!is_in_output(e->op, v) && !is_slid(e->op, v)) s.summed[s.summed_count++] = v;
    decode_whole(&s, 0);
    if (e->op->input_count > 1) decode_whole(&s, 1);
    pool_run(pool, ceil_div_i64(e->out_count, s.per_task), slide_task, &s);
    mem_free(s.in[0]);
    mem_free(s.in[1]);
}
