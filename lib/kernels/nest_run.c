/* Nests on kernels: see nest_run.h.
 *
 * A nest is taken apart once, when the runner is made: shared loops, sequential loops, and the loops of the
 * kernel. A missing primitive loop becomes a loop of one turn. When the primitive has only one k and the
 * innermost sequential loop is a k too, that loop becomes the batch of the product, so that output elements
 * stay in registers. Loops that only continue a loop of the product (the outer part of a dimension that was
 * cut into blocks) go back into it: the kernel has its own blocks, and packs operands that it reads twice.
 * When that leaves too few tasks for the threads, tasks run one after the other and each product is shared
 * instead; either way the sums are the same. Products are prepared in four forms, with and without first and
 * last touch; the remaining sequential k loops select one. */
#include "kernels/nest_run.h"
#include "kernels/kernels.h"

enum { IN0 = LX_LOOP_IN0, IN1 = LX_LOOP_IN1, OUT = LX_LOOP_OUT };

/* With fewer tasks per thread the others would wait for the last ones. */
enum { TASKS_A_THREAD = 4 };

static const struct lx_loop single = {.size = 1};

struct lx_nest_runner {
    enum lx_touch first, main, last;
    int shared_count, seq_count;
    struct lx_loop shared[LX_LOOPS_MAX], seq[LX_LOOPS_MAX];
    struct lx_loop m, n, k, batch;
    int64_t tasks;
    struct gemm_plan product[2][2]; /* [has the first touch][has the last touch] */
    const struct kernel_target *target;
    struct pool *pool;   /* NULL: one thread */
    int64_t row;         /* turns of the last shared loop per task */
    bool share_products; /* the pool works inside each product; else each task is one thread's */
    bool even_sums;      /* see struct gemm */
};

/* One run: its operands. */
struct run {
    const struct lx_nest_runner *r;
    const float *in[2];
    float *out;
};

/* Offsets of a task into the operands. */
struct place {
    int64_t at[LX_LOOP_OPERANDS];
};

static struct place nest_run_moved(struct place p, const struct lx_loop *loop, int64_t turns)
{
    for (int o = 0; o < LX_LOOP_OPERANDS; o++) p.at[o] += turns * loop->stride[o];
    return p;
}

/* A touch works on the output alone, so a copy changes nothing. */
static void nest_run_touch(const struct lx_nest_runner *r, enum lx_touch how, float *out)
{
    struct view to = {out, r->n.stride[OUT], r->m.stride[OUT]};
    struct const_view from = {out, r->n.stride[OUT], r->m.stride[OUT]};
    if (how == LX_TOUCH_ZERO) zero_2d(to, r->n.size, r->m.size);
    if (how == LX_TOUCH_RELU) relu_2d(to, from, r->n.size, r->m.size);
}

/* Runs the kernel for `turns` turns of `loop`. */
static void nest_run_body(struct run *run, const struct place *p, const struct lx_loop *loop, int64_t turns,
                          bool first, bool last)
{
    const struct lx_nest_runner *r = run->r;
    const bool contracts = lx_touch_contracts(r->main);
    if (contracts) {
        const struct gemm_operands o = {
            .a = run->in[0] + p->at[IN0], .b = run->in[1] + p->at[IN1], .c = run->out + p->at[OUT]};
        const struct gemm_steps steps = {
            .a = loop->stride[IN0], .b = loop->stride[IN1], .c = loop->stride[OUT]};
        gemm_run_row(&r->product[first][last], &o, turns, &steps, r->share_products ? r->pool : NULL);
        /* A sum that is thrown away: no kernel zeroes at the store. */
        if (!last || r->last != LX_TOUCH_ZERO) return;
    }
    for (int64_t i = 0; i < turns; i++) {
        const struct place at = nest_run_moved(*p, loop, i);
        float *out = run->out + at.at[OUT];
        if (first && !contracts) nest_run_touch(r, r->first, out);
        if (!contracts) {
            struct view to = {out, r->n.stride[OUT], r->m.stride[OUT]};
            struct const_view from = {run->in[0] + at.at[IN0], r->n.stride[IN0], r->m.stride[IN0]};
            if (r->main == LX_TOUCH_ZERO) zero_2d(to, r->n.size, r->m.size);
            if (r->main == LX_TOUCH_COPY) copy_2d(to, from, r->n.size, r->m.size);
            if (r->main == LX_TOUCH_RELU) relu_2d(to, from, r->n.size, r->m.size);
        }
        if (last) nest_run_touch(r, r->last, out);
    }
}

static void nest_run_walk(struct run *run, int level, struct place p, bool first, bool last)
{
    const struct lx_nest_runner *r = run->r;
    if (level == r->seq_count) {
        nest_run_body(run, &p, &single, 1, first, last);
        return;
    }
    const struct lx_loop *loop = &r->seq[level];
    bool is_k = loop->type == LX_DIM_K;
    for (int64_t i = 0; i < loop->size; i++)
        nest_run_walk(run, level + 1, nest_run_moved(p, loop, i), first && (!is_k || i == 0),
                      last && (!is_k || i == loop->size - 1));
}

/* Task: turns of the last shared loop. The first loop is the slowest. For products the last loop is cut into
 * rows, and the loop before it turns fastest, as it reads the same again. Moves read nothing twice. */
static void nest_run_task(void *context, int64_t number, int worker)
{
    struct run *run = context;
    const struct lx_nest_runner *r = run->r;
    (void)worker;
    int i = r->shared_count;
    const struct lx_loop *inner = i > 0 ? &r->shared[--i] : &single;
    const struct lx_loop *outer = i > 0 && lx_touch_contracts(r->main) ? &r->shared[--i] : &single;
    const int64_t rows = ceil_div_i64(inner->size, r->row);
    const int64_t begin = number / outer->size % rows * r->row, turns = min_i64(r->row, inner->size - begin);
    struct place p =
        nest_run_moved(nest_run_moved((struct place){{0}}, outer, number % outer->size), inner, begin);
    number /= outer->size * rows;
    while (i-- > 0) {
        const struct lx_loop *loop = &r->shared[i];
        p = nest_run_moved(p, loop, number % loop->size);
        number /= loop->size;
    }
    if (r->seq_count == 0) {
        nest_run_body(run, &p, inner, turns, true, true);
        return;
    }
    for (int64_t turn = 0; turn < turns; turn++, p = nest_run_moved(p, inner, 1))
        nest_run_walk(run, 0, p, true, true);
}

/* Turns of the last shared loop per task. Products in a row go through the kernel in one call. The operands
 * of a row, which turns of the loop before read again, should stay in the second-level cache. */
static int64_t choose_row(const struct lx_nest_runner *r, int threads)
{
    if (!lx_touch_contracts(r->main) || r->shared_count == 0) return 1;
    const struct lx_loop *inner = &r->shared[r->shared_count - 1];
    const struct lx_loop *const product[] = {&r->m, &r->n, &r->k, &r->batch};
    double floats = 0;
    for (int o = IN0; o <= IN1; o++) {
        double read = inner->stride[o] != 0;
        for (int i = 0; i < 4; i++) read *= product[i]->stride[o] ? (double)product[i]->size : 1;
        for (int i = 0; i < r->seq_count; i++) read *= r->seq[i].stride[o] ? (double)r->seq[i].size : 1;
        floats += read;
    }
    int64_t most = inner->size;
    if (threads > 1) most = min_i64(most, r->tasks / ((int64_t)TASKS_A_THREAD * threads));
    if (floats * (double)most > kernel_target_near_floats(r->target))
        most = (int64_t)(kernel_target_near_floats(r->target) / floats);
    return ceil_div_i64(inner->size, ceil_div_i64(inner->size, max_i64(1, most))); /* equally long */
}

/* Does `outer` continue where `inner` ends, in all operands? */
static bool nest_run_goes_on(const struct lx_loop *outer, const struct lx_loop *inner)
{
    for (int o = 0; o < LX_LOOP_OPERANDS; o++) {
        int64_t end;
        if (!mul_i64(inner->size, inner->stride[o], &end) || outer->stride[o] != end) return false;
    }
    return true;
}

/* Puts loops of a list back into the product, the innermost first, for as long as one fits. */
static void absorb(struct lx_nest_runner *r, struct lx_loop *list, int *count)
{
    struct lx_loop *const roles[] = {&r->m, &r->n, &r->k, &r->batch};
    for (int i = *count; i-- > 0;)
        for (size_t role = 0; role < sizeof roles / sizeof *roles; role++) {
            if (list[i].type != roles[role]->type || !nest_run_goes_on(&list[i], roles[role])) continue;
            roles[role]->size *= list[i].size; /* no overflow: operands have less than 2^53 elements */
            for (int j = i; j + 1 < *count; j++) list[j] = list[j + 1];
            --*count;
            i = *count; /* earlier ones may fit now */
            break;
        }
}

static void nest_run_take_apart(struct lx_nest_runner *r, const struct lx_loops *l)
{
    r->m = r->n = r->k = r->batch = single;
    bool has_k = false;
    for (int i = 0; i < l->count; i++) {
        const struct lx_loop *loop = &l->loop[i];
        if (loop->exec == LX_EXEC_SHARED) {
            r->shared[r->shared_count++] = *loop;
        } else if (loop->exec == LX_EXEC_SEQ) {
            r->seq[r->seq_count++] = *loop;
        } else if (loop->type == LX_DIM_M) {
            r->m = *loop;
        } else if (loop->type == LX_DIM_N) {
            r->n = *loop;
        } else if (has_k) { /* the last of two k is the product's own */
            r->batch = r->k;
            r->k = *loop;
        } else {
            r->k = *loop;
            has_k = true;
        }
    }
    if (lx_touch_contracts(r->main)) {
        absorb(r, r->seq, &r->seq_count);
        absorb(r, r->shared, &r->shared_count);
        if (r->batch.size == 1 && r->seq_count > 0 && r->seq[r->seq_count - 1].type == LX_DIM_K)
            r->batch = r->seq[--r->seq_count];
    }
    r->tasks = 1;
    for (int i = 0; i < r->shared_count; i++)
        r->tasks *= r->shared[i].size; /* at most the number of output elements */
}

/* Turns that continue m or n merge into that role, the innermost first, for as long as one fits. The others
 * become sequential loops around all. */
static void nest_run_take_turns(struct lx_nest_runner *r, const struct lx_loop *turns, int count)
{
    for (; count > 0; count--) {
        const struct lx_loop *turn = &turns[count - 1];
        /* In a move either role may be any loop. */
        bool any = !lx_touch_contracts(r->main);
        bool is_m = (any || turn->type == LX_DIM_M) && (r->m.size == 1 || nest_run_goes_on(turn, &r->m));
        bool is_n = (any || turn->type == LX_DIM_N) && (r->n.size == 1 || nest_run_goes_on(turn, &r->n));
        if (!is_m && !is_n) break;
        struct lx_loop *role = is_m ? &r->m : &r->n;
        const int64_t size = role->size;
        if (size == 1) *role = *turn;
        role->size = size * turn->size; /* no overflow: operands have less than 2^53 elements */
    }
    memmove(&r->seq[count], r->seq, (size_t)r->seq_count * sizeof *r->seq);
    memcpy(r->seq, turns, (size_t)count * sizeof *turns);
    r->seq_count += count;
}

static void prepare_products(struct lx_nest_runner *r, int threads)
{
    static const enum gemm_first firsts[LX_TOUCH_COUNT] = {
        [LX_TOUCH_ZERO] = GEMM_FIRST_ZERO, [LX_TOUCH_RELU] = GEMM_FIRST_RELU};
    static const enum gemm_last lasts[LX_TOUCH_COUNT] = {[LX_TOUCH_RELU] = GEMM_LAST_RELU};
    for (int f = 0; f < 2; f++)
        for (int l = 0; l < 2; l++) {
            struct gemm g = {.m = r->m.size,
                             .n = r->n.size,
                             .k = r->k.size,
                             .batch = r->batch.size,
                             .a_m = r->m.stride[IN0],
                             .a_k = r->k.stride[IN0],
                             .a_batch = r->batch.stride[IN0],
                             .b_k = r->k.stride[IN1],
                             .b_n = r->n.stride[IN1],
                             .b_batch = r->batch.stride[IN1],
                             .c_m = r->m.stride[OUT],
                             .c_n = r->n.stride[OUT],
                             .first = f ? firsts[r->first] : GEMM_FIRST_NONE,
                             .last = l ? lasts[r->last] : GEMM_LAST_NONE,
                             .even_sums = r->even_sums};
            gemm_prepare(&r->product[f][l], &g, r->target, r->share_products ? threads : 1);
        }
}

struct lx_nest_runner *lx_nest_runner_make(const struct lx_loops *nest, int threads, lx_status *st)
{
    if (lx_loops_validate(nest, lx_loop_rules_at(0), st) != 0) return NULL;
    for (int o = 0; o < LX_LOOP_OPERANDS; o++)
        if (lx_loops_extent(nest, (enum lx_loop_operand)o) < 0)
            return status_set(st, LX_E_RANGE, "an operand of the nest reaches beyond 2^53 elements"), NULL;
    struct lx_nest_runner *r = mem_zeroed(1, sizeof *r);
    r->first = nest->first;
    r->main = nest->main;
    r->last = nest->last;
    r->target = kernel_target_best();
    nest_run_take_apart(r, nest);
    int useful = (int)min_i64(threads, POOL_THREADS_MAX);
    r->row = choose_row(r, useful);
    r->share_products = useful > 1 && r->tasks < 2 * useful && lx_touch_contracts(r->main);
    if (lx_touch_contracts(r->main)) prepare_products(r, useful);
    if (useful <= 1 || (r->tasks == 1 && !r->share_products)) return r;
    r->pool = pool_create(useful);
    return r;
}

struct lx_nest_runner *lx_nest_runner_turns(const struct lx_loops *nest, const struct lx_loop *turns,
                                            int turn_count, lx_status *st)
{
    if (turn_count + nest->count > LX_LOOPS_MAX)
        return status_set(st, LX_E_LIMIT, "a nest and its turns have more than %d loops", LX_LOOPS_MAX), NULL;
    struct lx_nest_runner *r = lx_nest_runner_make(nest, 1, st);
    if (!r) return NULL;
    r->even_sums = true;
    /* A k that the passes have split is one again: the order of its sum depends on its length alone. */
    if (nest_run_goes_on(&r->batch, &r->k)) {
        r->k.size *= r->batch.size;
        r->batch = single;
    }
    nest_run_take_turns(r, turns, turn_count);
    if (lx_touch_contracts(r->main)) prepare_products(r, 1);
    return r;
}

void lx_nest_runner_free(struct lx_nest_runner *r)
{
    if (!r) return;
    pool_destroy(r->pool);
    mem_free(r);
}

void lx_nest_runner_run(struct lx_nest_runner *r, const float *in0, const float *in1, float *out)
{
    struct run run = {.r = r, .in = {in0, in1}, .out = out};
    int64_t tasks = 1;
    if (r->shared_count > 0) {
        const int64_t inner = r->shared[r->shared_count - 1].size;
        tasks = r->tasks / inner * ceil_div_i64(inner, r->row);
    }
    pool_run(r->share_products ? NULL : r->pool, tasks, nest_run_task, &run);
}

int64_t lx_nest_runner_tasks(const struct lx_nest_runner *r)
{
    return r->tasks;
}

const char *lx_nest_runner_target(const struct lx_nest_runner *r)
{
    return kernel_target_name(r->target);
}
