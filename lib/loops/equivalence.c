/* Do two nests compute the same?
 *
 * Two questions are asked. The first is exact and cheap: a nest visits triples of offsets (a, b, c), and the
 * sum of x^a y^b z^c over all visits is a product over its loops of geometric sums. Two nests visit the same
 * triples equally often just when these polynomials are equal. They are compared at three random points of a
 * field of 2^61 - 1 elements: a difference hides with a chance below 2^-20 even for the largest nests. The
 * second runs both nests: in full when there is time, else for some output elements, chosen from the first
 * nest and found in the second by their offsets.
 *
 * Data are integers from -4 to 4, a function of seed, operand and offset; sums of their products are exact in
 * double in every order, so results must agree to the last bit. */
#include "loops/nest.h"
#include "base/base.h"
#include "base/rng.h"

enum { POINTS = 3, SAMPLES = 48 };

/* Most elements of an array: 128 MiB for each of four. */
static const int64_t most_elements = (int64_t)1 << 24;

static const uint64_t prime = (UINT64_C(1) << 61) - 1;
__extension__ typedef unsigned __int128 wide;

static uint64_t equivalence_times(uint64_t a, uint64_t b)
{
    return (uint64_t)((wide)a * b % prime);
}

static uint64_t equivalence_power(uint64_t base, int64_t exponent)
{
    uint64_t result = 1;
    for (; exponent > 0; exponent >>= 1, base = equivalence_times(base, base))
        if (exponent & 1) result = equivalence_times(result, base);
    return result;
}

/* 1 + g + ... + g^(n-1), by halving: S(2n) = S(n) (1 + g^n). */
static uint64_t geometric(uint64_t g, int64_t n)
{
    if (n == 0) return 0;
    if (n == 1) return 1;
    uint64_t half = geometric(g, n / 2);
    uint64_t sum = equivalence_times(half, (1 + equivalence_power(g, n / 2)) % prime);
    return n % 2 ? (sum + equivalence_power(g, n - 1)) % prime : sum;
}

/* The polynomial's value at `point`, without operands that the main primitive does not read. */
static uint64_t equivalence_value_at(const struct lx_loops *l, const uint64_t *point)
{
    bool reads[LX_LOOP_OPERANDS] = {l->main != LX_TOUCH_ZERO && l->main != LX_TOUCH_NONE,
                                    lx_touch_contracts(l->main), true};
    uint64_t value = 1;
    for (int i = 0; i < l->count; i++) {
        uint64_t g = 1;
        for (int o = 0; o < LX_LOOP_OPERANDS; o++)
            if (reads[o]) g = equivalence_times(g, equivalence_power(point[o], l->loop[i].stride[o]));
        value = equivalence_times(value, geometric(g, l->loop[i].size));
    }
    return value;
}

/* The element of an operand at an offset. */
static double datum(uint64_t seed, enum lx_loop_operand operand, int64_t offset)
{
    uint64_t z = seed + (uint64_t)operand * UINT64_C(0x9e3779b97f4a7c15) +
                 (uint64_t)offset * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 30)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(int64_t)(z % 9) - 4;
}

/* One output element, computed alone: probe_walk prunes all branches that do not lead to it. */
struct probe {
    const struct lx_loops *nest;
    uint64_t seed;
    int64_t target;                  /* offset of the element */
    int64_t reach[LX_LOOPS_MAX + 1]; /* largest output offset that the loops from a level on add */
    double value;
    int64_t steps;
};

static void probe_touch(struct probe *p, enum lx_touch how)
{
    if (how == LX_TOUCH_ZERO || (how == LX_TOUCH_RELU && p->value < 0)) p->value = 0;
}

static void probe_walk(struct probe *p, int level, const int64_t *at, bool first, bool last)
{
    if (level == p->nest->count) {
        if (at[LX_LOOP_OUT] == p->target) {
            const struct lx_loops *l = p->nest;
            double a = datum(p->seed, LX_LOOP_IN0, at[LX_LOOP_IN0]);
            p->steps++;
            if (first) probe_touch(p, l->first);
            if (lx_touch_contracts(l->main))
                p->value += a * datum(p->seed, LX_LOOP_IN1, at[LX_LOOP_IN1]);
            else if (l->main == LX_TOUCH_COPY)
                p->value = a;
            else if (l->main == LX_TOUCH_RELU)
                p->value = a > 0 ? a : 0;
            else if (l->main == LX_TOUCH_ZERO)
                p->value = 0;
            if (last) probe_touch(p, l->last);
        }
        return;
    }
    const struct lx_loop *loop = &p->nest->loop[level];
    int64_t stride = loop->stride[LX_LOOP_OUT], from = 0, to = loop->size - 1;
    int64_t missing = p->target - at[LX_LOOP_OUT];
    if (missing < 0) return;
    if (stride > 0) {
        to = min_i64(to, missing / stride);
        if (missing > p->reach[level + 1]) from = ceil_div_i64(missing - p->reach[level + 1], stride);
    }
    bool is_k = loop->type == LX_DIM_K;
    for (int64_t i = from; i <= to; i++) {
        int64_t next[LX_LOOP_OPERANDS];
        for (int o = 0; o < LX_LOOP_OPERANDS; o++) next[o] = at[o] + i * loop->stride[o];
        probe_walk(p, level + 1, next, first && (!is_k || i == 0), last && (!is_k || i == loop->size - 1));
    }
}

/* Sorts the loops for probing. For one element only the order of the k loops counts, so the others go first,
 * the longest steps outermost: pruning then leaves one branch at each. */
static struct lx_loops for_probing(const struct lx_loops *l)
{
    struct lx_loops sorted = *l;
    for (int i = 1; i < sorted.count; i++) {
        struct lx_loop loop = sorted.loop[i];
        int to = i;
        for (; to > 0 && loop.type != LX_DIM_K; to--) {
            const struct lx_loop *before = &sorted.loop[to - 1];
            if (before->type != LX_DIM_K && before->stride[LX_LOOP_OUT] >= loop.stride[LX_LOOP_OUT]) break;
        }
        if (to < i) loops_move(&sorted, i, to);
    }
    return sorted;
}

static double probe_run(const struct lx_loops *l, uint64_t seed, int64_t target, int64_t *steps)
{
    struct probe p = {.nest = l, .seed = seed, .target = target, .value = datum(seed, LX_LOOP_OUT, target)};
    int64_t at[LX_LOOP_OPERANDS] = {0};
    for (int i = l->count; i-- > 0;)
        p.reach[i] = p.reach[i + 1] + (l->loop[i].size - 1) * l->loop[i].stride[LX_LOOP_OUT];
    probe_walk(&p, 0, at, true, true);
    *steps += p.steps;
    return p.value;
}

static bool differ(int64_t offset, double a, double b, lx_status *st)
{
    return status_set(st, LX_E_NO, "output element %" PRId64 " is %.17g before and %.17g after", offset, a,
                      b);
}

/* Compares random elements, while the next one takes no more than the steps left of `work`. */
static bool same_samples(const struct lx_loops *a, const struct lx_loops *b, uint64_t seed, int64_t work,
                         struct rng *rng, int64_t *steps, lx_status *st)
{
    struct lx_loops first = for_probing(a), second = for_probing(b);
    int64_t summed = 1;
    for (int i = 0; i < a->count; i++)
        if (a->loop[i].type == LX_DIM_K && !mul_i64(summed, a->loop[i].size, &summed)) return true;
    for (int s = 0; s < SAMPLES && summed <= work - *steps; s++) {
        int64_t target = 0;
        for (int i = 0; i < a->count; i++)
            target += (int64_t)rng_below(rng, (uint64_t)a->loop[i].size) * a->loop[i].stride[LX_LOOP_OUT];
        double x = probe_run(&first, seed, target, steps), y = probe_run(&second, seed, target, steps);
        if (x != y) return differ(target, x, y, st);
    }
    return true;
}

static double *equivalence_filled(uint64_t seed, enum lx_loop_operand operand, int64_t elements)
{
    double *data = mem_alloc((size_t)elements * sizeof *data);
    for (int64_t i = 0; i < elements; i++) data[i] = datum(seed, operand, i);
    return data;
}

bool lx_loops_same(const struct lx_loops *a, const struct lx_loops *b, uint64_t seed, int64_t work,
                   int64_t *steps, lx_status *st)
{
    struct rng rng = rng_seed(seed);
    int64_t elements[LX_LOOP_OPERANDS], unused, *run = steps ? steps : &unused;
    bool small = true;
    *run = 0;
    /* gemm and brgemm are one operation with another primitive. */
    if (a->first != b->first || a->last != b->last || a->dtype != b->dtype ||
        (a->main != b->main && (!lx_touch_contracts(a->main) || !lx_touch_contracts(b->main))))
        return status_set(st, LX_E_NO, "the two have other touches, another main primitive or element type");
    for (int o = 0; o < LX_LOOP_OPERANDS; o++) {
        elements[o] = lx_loops_extent(a, (enum lx_loop_operand)o);
        if (elements[o] < 0 || lx_loops_extent(b, (enum lx_loop_operand)o) < 0)
            return status_set(st, LX_E_RANGE, "an operand of the nest reaches beyond 2^53 elements");
        elements[o] = max_i64(elements[o], lx_loops_extent(b, (enum lx_loop_operand)o));
        small = small && elements[o] <= most_elements;
    }
    for (int i = 0; i < POINTS; i++) {
        uint64_t point[LX_LOOP_OPERANDS];
        for (int o = 0; o < LX_LOOP_OPERANDS; o++) point[o] = 2 + rng_below(&rng, prime - 2);
        if (equivalence_value_at(a, point) != equivalence_value_at(b, point))
            return status_set(st, LX_E_NO, "the two visit other elements, or not equally often");
    }
    int64_t visits = lx_loops_work(a);
    if (visits == 0) return true;
    if (!small || visits > work / 2) return same_samples(a, b, seed, work, &rng, run, st);
    *run = 2 * visits;
    double *data[LX_LOOP_OPERANDS], *other = equivalence_filled(seed, LX_LOOP_OUT, elements[LX_LOOP_OUT]);
    bool ok = true;
    for (int o = 0; o < LX_LOOP_OPERANDS; o++)
        data[o] = equivalence_filled(seed, (enum lx_loop_operand)o, elements[o]);
    double *out = data[LX_LOOP_OUT];
    lx_loops_execute(a, data[LX_LOOP_IN0], data[LX_LOOP_IN1], out);
    lx_loops_execute(b, data[LX_LOOP_IN0], data[LX_LOOP_IN1], other);
    for (int64_t i = 0; ok && i < elements[LX_LOOP_OUT]; i++)
        if (out[i] != other[i]) ok = differ(i, out[i], other[i], st);
    for (int o = 0; o < LX_LOOP_OPERANDS; o++) mem_free(data[o]);
    mem_free(other);
    return ok;
}

/* The reference executor: runs the nest as written, in double.
 *
 * Loops run from the outermost in, whatever their execution: shared and primitive loops are loops. An output
 * element is touched first where all k indices are 0, and last where all are at their end. The innermost loop
 * is written out, since a call per element would be ten times slower; nothing else is done for speed. */

struct run {
    const struct lx_loops *nest;
    const double *in0, *in1;
    double *out;
};

/* Offsets into the operands. */
struct at {
    int64_t in0, in1, out;
};

static double relu(double x)
{
    return x > 0 ? x : 0;
}

/* A touch works on the output alone, so a copy changes nothing. */
static void execute_nest_touch(double *out, enum lx_touch how)
{
    if (how == LX_TOUCH_ZERO)
        *out = 0;
    else if (how == LX_TOUCH_RELU)
        *out = relu(*out);
}

static void execute_nest_body(const struct run *r, struct at at)
{
    switch (r->nest->main) {
    case LX_TOUCH_GEMM:
    case LX_TOUCH_BRGEMM: r->out[at.out] += r->in0[at.in0] * r->in1[at.in1]; break;
    case LX_TOUCH_ZERO: r->out[at.out] = 0; break;
    case LX_TOUCH_COPY: r->out[at.out] = r->in0[at.in0]; break;
    case LX_TOUCH_RELU: r->out[at.out] = relu(r->in0[at.in0]); break;
    default: break;
    }
}

static struct at execute_nest_step(struct at at, const struct lx_loop *loop)
{
    return (struct at){at.in0 + loop->stride[LX_LOOP_IN0], at.in1 + loop->stride[LX_LOOP_IN1],
                       at.out + loop->stride[LX_LOOP_OUT]};
}

/* The innermost loop: over k it adds to one output element, else it walks over loop->size of them. */
static void innermost(const struct run *r, const struct lx_loop *loop, struct at at, bool first, bool last)
{
    const struct lx_loops *l = r->nest;
    bool is_k = loop->type == LX_DIM_K;
    first = first && l->first != LX_TOUCH_NONE;
    last = last && l->last != LX_TOUCH_NONE;
    if (lx_touch_contracts(l->main) && ((!first && !last) || is_k)) {
        if (loop->size == 0) return;
        if (first) execute_nest_touch(r->out + at.out, l->first);
        const double *a = r->in0 + at.in0, *b = r->in1 + at.in1;
        double *c = r->out + at.out;
        int64_t sa = loop->stride[LX_LOOP_IN0], sb = loop->stride[LX_LOOP_IN1],
                sc = loop->stride[LX_LOOP_OUT];
        for (int64_t i = 0; i < loop->size; i++) c[i * sc] += a[i * sa] * b[i * sb];
        if (last) execute_nest_touch(r->out + at.out + (loop->size - 1) * loop->stride[LX_LOOP_OUT], l->last);
        return;
    }
    for (int64_t i = 0; i < loop->size; i++, at = execute_nest_step(at, loop)) {
        if (first && (!is_k || i == 0)) execute_nest_touch(r->out + at.out, l->first);
        execute_nest_body(r, at);
        if (last && (!is_k || i == loop->size - 1)) execute_nest_touch(r->out + at.out, l->last);
    }
}

static void execute_nest_walk(const struct run *r, int level, struct at at, bool first, bool last)
{
    const struct lx_loop *loop = &r->nest->loop[level];
    if (level == r->nest->count - 1) {
        innermost(r, loop, at, first, last);
        return;
    }
    bool is_k = loop->type == LX_DIM_K;
    for (int64_t i = 0; i < loop->size; i++, at = execute_nest_step(at, loop))
        execute_nest_walk(r, level + 1, at, first && (!is_k || i == 0),
                          last && (!is_k || i == loop->size - 1));
}

void lx_loops_execute(const struct lx_loops *l, const double *in0, const double *in1, double *out)
{
    struct run r = {l, in0, in1, out};
    if (l->count > 0 && lx_loops_work(l) > 0) execute_nest_walk(&r, 0, (struct at){0, 0, 0}, true, true);
}
