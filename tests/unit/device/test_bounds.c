/* Bounds of rounding errors: they hold for whatever order a right device sums in, they are no wider than they must be,
 * and what is beyond them is found. */
#include "support/device_plans.h"
#include "support/kind_lists.h"
#include "base/memory.h"
#include "base/rng.h"
#include "device/execute/arith.h"
#include "device/memory/dtypes.h"
#include "device/reference/evaluate.h"
#include "device/reference/judge_op.h"
#include "device/verify.h"
#include "support/sampled.h"

#include <float.h>
#include <math.h>

/* ---- elements ---- */

static struct judged judge_one(enum lx_dtype dtype, double value, double slack, double peak, float got)
{
    struct judged j = {0};
    uint32_t item = 0;
    struct expected x = {.count = 1, .value = &value, .slack = &slack, .peak = &peak};
    items_encode(&number_types[dtype], &got, 1, &item);
    judge_elements(&x, dtype, &item, &j);
    return j;
}

/* Beyond the range, at its end, between integers, and where there is no number. */
static void ends_of_types(void **state)
{
    (void)state;
    const struct {
        enum lx_dtype dtype;
        double value, slack, peak;
        float got;
        bool right;
    } rows[] = {
        {LX_FP16, 65519, 0.5, 0, 65504, true},
        {LX_FP16, 65519, 0.5, 0, INFINITY, false},
        {LX_FP16, 65519, 2, 0, INFINITY, true}, /* 65520 is infinite, and no further off than 2 */
        {LX_FP16, 65530, 2, 0, 65504, false},   /* though it is within half a unit */
        {LX_FP16, 70000, 2, 0, INFINITY, true},
        {LX_FP16, 70000, 2, 0, -INFINITY, false},
        {LX_FP16, 1, 0x1p-20, 0, NAN, false},
        {LX_FP16, NAN, 0, 0, NAN, true},
        {LX_FP16, NAN, 0, 0, 1, false},
        {LX_FP16, INFINITY, 0, 0, INFINITY, true},
        {LX_FP16, 0x1p-26, 0x1p-40, 0, 0, true}, /* below the subnormals */
        {LX_FP16, 0x1p-26, 0x1p-40, 0, 0x1p-24f, false},
        {LX_FP16, 1 + 0x1p-12, 0x1p-24, 0, 1, true},
        {LX_FP16, 1 + 0x1p-12, 0x1p-24, 0, 1 + 0x1p-10f, false},
        {LX_BF16, 1e39, 1e33, 0, INFINITY, true},
        {LX_FP32, 3.5e38, 1e30, 0, INFINITY, true},
        {LX_FP32, 3.5e38, 1e30, 0, FLT_MAX, false},
        {LX_FP32, 1, 0x1p-24, 1e39, INFINITY, true}, /* partial sums leave the range in some order */
        {LX_FP32, 1, 0x1p-24, 1e39, NAN, true},
        {LX_FP32, 1, 0x1p-24, 1e39, 1.5f, false},
        {LX_FP8, 500, 1, 0, NAN, true}, /* there is no infinity */
        {LX_FP8, 500, 1, 0, 448, false},
        {LX_FP8, 460, 1, 0, 448, true},
        {LX_FP8, 460, 6, 0, NAN, true},
        {LX_INT8, 300, 0.25, 0, 127, true},
        {LX_INT8, 300, 0.25, 0, 126, false},
        {LX_INT8, 2.5, 0, 0, 2, true}, /* to even, if nothing was rounded before */
        {LX_INT8, 2.5, 0, 0, 3, false},
        {LX_INT8, 2.5, 0x1p-20, 0, 3, true},
        {LX_INT8, NAN, 0, 0, 0, true},
        {LX_INT32, 1e12, 1, 0, 0x1p31f, true},
        {LX_BOOL, 1e-3, 1e-4, 0, 1, true},
        {LX_BOOL, 1e-3, 1e-4, 0, 0, false},
        {LX_BOOL, 1e-3, 1e-2, 0, 0, true}, /* it may be 0 */
        {LX_BOOL, 0, 0, 0, 1, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct judged j = judge_one(rows[i].dtype, rows[i].value, rows[i].slack, rows[i].peak, rows[i].got);
        if ((j.wrong == 0) != rows[i].right)
            fail_msg("row %d: %g for %g was %s", (int)i, (double)rows[i].got, rows[i].value,
                     j.wrong ? "refused" : "taken");
        assert_true(j.wrong ? j.share >= 1 : j.share <= 1);
    }
}

/* Bits that are determined: zeros have a sign, unless the order decides on it. */
static void exact_bits(void **state)
{
    (void)state;
    double value[2] = {0, 5};
    float got[2] = {-0.0f, 5};
    uint16_t items[2];
    struct expected x = {.count = 2, .value = value};
    struct judged j = {0}, lenient = {0};
    items_encode(&number_types[LX_FP16], got, 2, items);
    judge_elements(&x, LX_FP16, items, &j);
    assert_true(j.wrong == 1 && isinf(j.share));
    x.signless = true;
    judge_elements(&x, LX_FP16, items, &lenient);
    assert_true(lenient.wrong == 0 && lenient.share == 0 && lenient.largest == 5);
}

/* ---- random ops ---- */

/* One op with its operands as items, and what it should give. */
struct subject {
    const struct lx_graph *g;
    void *items[4]; /* the output last */
    int64_t count[4];
    int inputs;
    double *value, *slack;
    bool exact;
};

static const char *const dtype_words[] = {"fp16",  "bf16", "fp32", "fp8", "int64",
                                          "int32", "int8", "int4", "bool"};
enum { DTYPE_WORDS = sizeof dtype_words / sizeof *dtype_words };

/* Of the form of the kind: along the last index, or a product, or element by element. */
static const char *einsum_of(struct rng *r, const struct lx_kind *k, int inputs)
{
    static const char *const products[] = {"ab,bc->ac",  "ab,cb->ac", "ba,bc->ca",    "ab,ab->a",
                                           "bca,ba->ca", "ab,bc->c",  "cab,cbd->cad", "cba,cbd->dca"};
    if (k->traits & LX_CONTRACTS) return products[rng_below(r, 5)];
    if (k->traits & LX_POINTWISE && (inputs > 1 || !(k->traits & LX_REDUCES)))
        return inputs == 1   ? "ab->ab"
               : inputs == 2 ? (rng_below(r, 2) ? "ab,b->ab" : "ab,ba->ab")
                             : "ab,a,b->ab";
    static const char *const sums[] = {"ab->a", "ab->b", "abc->ac", "abc->b", "ab->"};
    return sums[rng_below(r, 5)];
}

static const struct lx_graph *graph_of(struct rng *r, const struct lx_kind *k, int inputs, int *dtypes)
{
    const int64_t extent[4] = {rng_between(r, 1, 40), rng_between(r, 1, 300), rng_between(r, 1, 20), 7};
    struct text t = {0};
    const char *map = einsum_of(r, k, inputs), *at = map;
    text_add(&t, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": [");
    for (int i = 0; i <= inputs; i++) {
        text_format(&t, "%s{\"name\": \"t%d\", \"dtype\": \"%s\", \"shape\": [", i ? ", " : "", i,
                    dtype_words[dtypes[i]]);
        for (bool first = true; *at && *at != ',' && *at != '-'; at++, first = false)
            text_format(&t, "%s%d", first ? "" : ", ", (int)extent[*at - 'a']);
        at += *at == '-' ? 2 : 1;
        text_add(&t, "]}");
    }
    text_format(&t, "], \"ops\": [{\"name\": \"o\", \"kind\": \"%s\", \"einsum\": \"%s\", \"inputs\": [",
                k->name, map);
    for (int i = 0; i < inputs; i++) text_format(&t, "%s\"t%d\"", i ? ", " : "", i);
    text_format(&t, "], \"output\": \"t%d\"}]}", inputs);
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("t", t.at, t.length, &st);
    if (!g) fail_msg("%s: %s", t.at, st.text);
    text_free(&t);
    return g;
}

static void note(void *context, int worker, int64_t at, const struct expected *x)
{
    struct subject *s = context;
    (void)worker;
    for (int64_t i = 0; i < x->count; i++) {
        s->value[at + i] = expected_number(x, i);
        s->slack[at + i] = x->slack ? x->slack[i] : 0;
    }
    s->exact = !x->slack;
}

static void fill_items(struct subject *s, int i, struct rng *r, double offset, double scale)
{
    const struct lx_tensor *t = &s->g->tensors[i];
    const struct number_type *type = &number_types[t->dtype];
    s->count[i] = 1;
    for (int d = 0; d < t->rank; d++) s->count[i] *= t->shape[d];
    s->items[i] = mem_zeroed((size_t)(s->count[i] * type->item) / 8 + 1, 8);
    assert_non_null(s->items[i]);
    for (int64_t n = 0; n < s->count[i]; n++) {
        float f = (float)(offset + scale * ((double)rng_below(r, 1 << 20) * 0x1p-19 - 1));
        items_encode(type, &f, 1, (char *)s->items[i] + n * type->item);
    }
}

static struct evaluation evaluation_of(struct subject *s)
{
    struct evaluation e = {.g = s->g, .op = &s->g->ops[0], .bounded = true, .take = note, .context = s};
    for (int i = 0; i < s->inputs; i++)
        e.in[i] = (struct operand){.items = s->items[i], .type = &number_types[s->g->tensors[i].dtype]};
    return e;
}

/* The output is the exact one, stored. */
static void subject_make(struct subject *s, struct rng *r, const struct lx_kind *k)
{
    int dtypes[4];
    *s = (struct subject){
        .inputs = k->traits & LX_CONTRACTS ? 2 : (int)rng_between(r, k->least_inputs, k->most_inputs)};
    if (!k->takes_value || s->inputs == 1) s->inputs = k->most_inputs;
    if (k->traits == LX_REDUCES) s->inputs = 1;
    if (k->traits & LX_REDUCES && rng_below(r, 2)) s->inputs = 1;
    for (int i = 0; i <= s->inputs; i++)
        dtypes[i] = (int)rng_below(r, rng_below(r, 3) ? 3 : (uint64_t)DTYPE_WORDS);
    s->g = graph_of(r, k, s->inputs, dtypes);
    for (int i = 0; i < s->inputs; i++) {
        bool positive = k->positive >> i & 1;
        fill_items(s, i, r, positive ? 1 : 0, positive ? 0.5 : rng_below(r, 2) ? 1 : 4);
    }
    fill_items(s, s->inputs, r, 0, 0);
    s->value = mem_zeroed((size_t)s->count[s->inputs], sizeof *s->value);
    s->slack = mem_zeroed((size_t)s->count[s->inputs], sizeof *s->slack);
    assert_true(s->value && s->slack);
    struct evaluation e = evaluation_of(s);
    evaluate_op(&e, NULL);
    const struct number_type *type = &number_types[s->g->tensors[s->inputs].dtype];
    for (int64_t n = 0; n < s->count[s->inputs]; n++) {
        float f = (float)s->value[n];
        items_encode(type, &f, 1, (char *)s->items[s->inputs] + n * type->item);
    }
}

static void subject_free(struct subject *s)
{
    for (int i = 0; i < 4; i++) mem_free(s->items[i]);
    mem_free(s->value);
    mem_free(s->slack);
    lx_graph_free(s->g);
}

static struct judged judge_subject(const struct subject *s, struct pool *pool)
{
    struct op_items x = {.g = s->g, .op = &s->g->ops[0], .output = s->items[s->inputs]};
    struct judged j;
    for (int i = 0; i < s->inputs; i++) x.inputs[i] = s->items[i];
    judge_op(&x, pool, &j);
    return j;
}

/* The nearest number of the type that is at least 1.5 bounds away from the exact result, to one side. */
static float moved(enum lx_dtype dtype, double value, double bound, bool up)
{
    double away = 1.5 * bound, got;
    do {
        got = stored_number(dtype, up ? value + away : value - away);
        away = away * 1.05 + 1e-300;
    } while (fabs(got - value) < 1.5 * bound);
    return (float)got;
}

static bool has_arithmetic(const struct lx_kind *k)
{
    return arith_of(k) && !arith_of(k)->whole && meaning_of(k) &&
           !(k->traits & (LX_VIEW | LX_OPAQUE | LX_CHOOSES | LX_RANKS | LX_PLACES));
}

/* A thousand elements, each moved by one and a half of its bound: each is found, and it alone. */
enum { WANTED = OFTEN(1000) };

static void moved_elements_are_found(void **state)
{
    (void)state;
    const struct kind_list kinds = kinds_that(has_arithmetic);
    struct rng r = rng_seed(21);
    struct pool *pool = pool_create(3);
    int found = 0, kept_bits = 0;
    assert_non_null(pool);
    for (int tries = 0; found < WANTED; tries++) {
        struct subject s;
        assert_true(tries < 4 * WANTED);
        subject_make(&s, &r, kinds.at[tries % kinds.count]);
        struct judged first = judge_subject(&s, pool), alone = judge_subject(&s, NULL);
        if (first.wrong) fail_msg("%s: the exact result is refused", s.g->ops[0].kind->name);
        assert_memory_equal(&first, &alone, sizeof first);
        enum lx_dtype dtype = s.g->tensors[s.inputs].dtype;
        const struct number_type *type = &number_types[dtype];
        int64_t n = (int64_t)rng_below(&r, (uint64_t)s.count[s.inputs]);
        double bound = judge_one(dtype, s.value[n], s.slack[n], 0, (float)s.value[n]).bound;
        double reach = fabs(s.value[n]) + 4 * bound, limit = type->integer     ? (double)type->high
                                                             : dtype == LX_FP8 ? 448
                                                                               : 6e4;
        if (isfinite(s.value[n]) && dtype != LX_BOOL && reach < limit) {
            if (s.exact || bound == 0)
                bound = fmax(bound, type->integer ? 0.7 : 0x1p-9 * fabs(s.value[n]) + 0x1p-9);
            float to = moved(dtype, s.value[n], bound, rng_below(&r, 2) == 0);
            items_encode(type, &to, 1, (char *)s.items[s.inputs] + n * type->item);
            struct judged j = judge_subject(&s, pool);
            if (j.wrong != 1)
                fail_msg("%s, element %lld: %.9g for %.9g was not found", s.g->ops[0].kind->name,
                         (long long)n, (double)to, s.value[n]);
            assert_true(j.share >= 1.49);
            found++;
            kept_bits += s.exact;
        }
        subject_free(&s);
    }
    print_message("%d elements moved, %d of them of ops that round nothing\n", found, kept_bits);
    pool_destroy(pool);
}

/* ---- sums ---- */

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Thousands of sums in the device's own order: what they use of their bound is neither all nor nothing. */
static void shares_of_sums(void **state)
{
    (void)state;
    enum { SUMS = 3000, MOST = 400 };
    static double share[SUMS];
    struct rng r = rng_seed(3);
    const struct reduction *sum = arith_of(lx_kind_at(LX_KIND_SUM))->sum;
    for (int one_sign = 0; one_sign < 2; one_sign++) {
        for (int i = 0; i < SUMS; i++) {
            float term[MOST];
            int64_t n = rng_between(&r, 3, MOST);
            double exact = 0, size = 0;
            for (int64_t k = 0; k < n; k++) {
                term[k] = (float)((double)rng_below(&r, 1 << 24) * 0x1p-23 - (one_sign ? 0 : 1));
                exact += (double)term[k];
                size += fabs((double)term[k]);
            }
            double slack = expm1((double)n * log1p(0x1p-24)) * size;
            struct judged j = judge_one(LX_FP32, exact, slack, size, sum->row(term, n));
            assert_int_equal(j.wrong, 0);
            share[i] = j.share;
        }
        qsort(share, SUMS, sizeof *share, by_size);
        print_message("shares of sums: median %.4f, largest %.3f\n", share[SUMS / 2], share[SUMS - 1]);
        assert_true(share[SUMS / 2] > 0 && share[SUMS / 2] < 0.9 && share[SUMS - 1] < 1);
    }
}

/* Long sums of one sign, by one core and split over many, in each type, through the whole device. */
static void long_sums_are_right(void **state)
{
    (void)state;
    static const char *const types[] = {"fp32", "bf16", "fp16"};
    static const char pattern[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"sums\", \"tensors\": ["
        "{\"name\": \"x\", \"role\": \"input\", \"dtype\": \"%s\", \"shape\": [%d, %d]},"
        "{\"name\": \"a\", \"dtype\": \"%s\", \"shape\": [%d, %d]},"
        "{\"name\": \"s\", \"role\": \"output\", \"dtype\": \"%s\", \"shape\": [%d]},"
        "{\"name\": \"m\", \"role\": \"output\", \"dtype\": \"%s\", \"shape\": [%d]},"
        "{\"name\": \"d\", \"role\": \"output\", \"dtype\": \"%s\", \"shape\": [%d]}], \"ops\": ["
        "{\"name\": \"a\", \"kind\": \"abs\", \"inputs\": [\"x\"], \"output\": \"a\"},"
        "{\"name\": \"s\", \"kind\": \"sum\", \"inputs\": [\"a\"], \"output\": \"s\", \"einsum\": \"mk->m\"},"
        "{\"name\": \"m\", \"kind\": \"mean\", \"inputs\": [\"a\"], \"output\": \"m\", \"einsum\": "
        "\"mk->m\"},"
        "{\"name\": \"d\", \"kind\": \"matmul\", \"inputs\": [\"a\", \"a\"], \"output\": \"d\", \"einsum\": "
        "\"mk,mk->m\"}]}";
    for (int i = 0; i < 9; i++) {
        int terms = i % 3 == 0 ? 1 << 20 : i % 3 == 1 ? 77777 : 4096, rows = terms > 100000 ? 1 : 4;
        const char *t = types[i / 3];
        struct text text = {0};
        lx_status st = {0};
        text_format(&text, pattern, t, rows, terms, t, rows, terms, t, rows, t, rows, t, rows);
        const struct lx_graph *g = lx_graph_of_text("sums", text.at, text.length, &st);
        if (!g) fail_msg("%s", st.text);
        struct lx_plan *p = plan_graph(with_cores(g, i % 2 ? 32 : 1), "greedy", &(struct lx_passes){0});
        struct lx_run_result *r = lx_device_run(p, NULL, &st);
        if (!r || !r->ok) fail_msg("%s, %d terms: %s", t, terms, r ? what_is_wrong(r) : st.text);
        for (int o = 1; o < 4; o++) assert_true(r->ops[o].verified && r->ops[o].share < 1);
        lx_run_result_free(r);
        lx_plan_free(p);
        text_free(&text);
    }
}

/* ---- contractions ---- */

/* Element by element, as the map says. */
static double contracted(const struct subject *s, int64_t out, double *absolute)
{
    const struct lx_einsum *map = s->g->ops[0].map;
    int64_t index[LX_MAX_VARS] = {0}, total = 0, sums = 1;
    bool kept[LX_MAX_VARS] = {0};
    double sum = 0;
    for (int d = map->rank[2] - 1; d >= 0; d--) {
        int v = map->index[2][d];
        index[v] = out % map->extent[v];
        out /= map->extent[v];
        kept[v] = true;
    }
    for (int v = 0; v < map->var_count; v++) sums *= kept[v] ? 1 : map->extent[v];
    *absolute = 0;
    for (int64_t j = 0; j < sums; j++, total = j) {
        double factor[2];
        for (int v = 0; v < map->var_count; v++)
            if (!kept[v]) {
                index[v] = total % map->extent[v];
                total /= map->extent[v];
            }
        for (int i = 0; i < 2; i++) {
            int64_t at = 0;
            for (int d = 0; d < map->rank[i]; d++)
                at = at * map->extent[map->index[i][d]] + index[map->index[i][d]];
            const struct number_type *type = &number_types[s->g->tensors[i].dtype];
            float f;
            items_decode(type, (const char *)s->items[i] + at * type->item, 1, &f);
            factor[i] = (double)f;
        }
        sum += factor[0] * factor[1];
        *absolute += fabs(factor[0] * factor[1]);
    }
    return sum;
}

/* Blocks, panels and tiles give what one sum after the other gives, and the slack is that of the absolute terms, low
 * never and high by next to nothing. */
static void contractions_agree(void **state)
{
    (void)state;
    struct rng r = rng_seed(5);
    for (int i = 0; i < 60; i++) {
        struct subject s;
        subject_make(&s, &r, lx_kind_at(LX_KIND_MATMUL));
        struct evaluation e = evaluation_of(&s);
        evaluate_op(&e, NULL);
        for (int64_t n = 0; n < s.count[2]; n += 1 + s.count[2] / 200) {
            double absolute, value = contracted(&s, n, &absolute);
            if (fabs(value - s.value[n]) > 1e-12 * absolute)
                fail_msg("%s: element %lld is %.15g, not %.15g", s.g->ops[0].einsum, (long long)n, s.value[n],
                         value);
            double slack = e.growth * absolute;
            bool exact = e.integers && absolute <= 0x1p24;
            if (!exact)
                assert_true(s.slack[n] >= slack * (1 - 1e-12) && s.slack[n] <= slack * 1.0002 + 1e-37);
            else
                assert_true(s.slack[n] == 0);
        }
        subject_free(&s);
    }
}

/* Absolute terms beyond fp32 do not make a bound without end. */
static void large_terms_are_bounded(void **state)
{
    (void)state;
    struct rng r = rng_seed(6);
    struct subject s;
    subject_make(&s, &r, lx_kind_at(LX_KIND_MATMUL));
    while (strcmp(s.g->ops[0].einsum, "ab,bc->ac") != 0 || s.g->tensors[0].dtype != LX_FP32 ||
           s.g->tensors[1].dtype != LX_FP32 || s.g->tensors[2].dtype != LX_FP32 ||
           s.g->tensors[0].shape[1] < 8) {
        subject_free(&s);
        subject_make(&s, &r, lx_kind_at(LX_KIND_MATMUL));
    }
    for (int i = 0; i < 2; i++)
        for (int64_t n = 0; n < s.count[i]; n++) {
            int64_t along = i == 0 ? n % s.g->tensors[0].shape[1] : n / s.g->tensors[1].shape[1];
            ((float *)s.items[i])[n] = (float)(i == 0 && along % 2 ? -1e19 : 2e19);
        }
    struct evaluation e = evaluation_of(&s);
    evaluate_op(&e, NULL);
    for (int64_t n = 0; n < s.count[2]; n++) assert_true(isfinite(s.slack[n]) && s.slack[n] < 1e37);
    subject_free(&s);
}

/* ---- what was moved ---- */

/* A byte that changes on the way is an altered element, whatever comes of it. */
static void altered_bytes_are_counted(void **state)
{
    (void)state;
    struct lx_graph g = {.tensor_count = 1};
    struct lx_layout l = {.host_rank = 1, .host_shape = {100}, .dtype = LX_FP16};
    struct machine m = {.graph = &g, .layouts = &l};
    unsigned char kept[200], now[200];
    void *all[1] = {kept};
    struct verifier v = {.kept = all};
    for (int i = 0; i < 200; i++) kept[i] = now[i] = (unsigned char)(i * 7);
    assert_int_equal(verify_altered(&m, &v, 0, now), 0);
    for (int i = 0; i < 200; i++) {
        now[i] ^= 0x80;
        assert_int_equal(verify_altered(&m, &v, 0, now), 1);
        now[i] ^= 0x80;
    }
}

/* A bit of an operand of the next op changes in the memory of some core, or in HBM: the tags know nothing of it, but
 * the op is not what it would have been. */
static bool flip_before(struct machine *m, struct rng *r)
{
    struct arena scratch = {0};
    const struct lx_op *op = machine_op(m);
    int operand = (int)rng_below(r, (uint64_t)op->input_count);
    int32_t stay = m->plan->accesses[m->plan->access_at[m->tick] + operand].stay;
    m->scratch = &scratch;
    struct place p = place_of_access(
        m, operand,
        (int64_t)rng_below(r,
                           stay_placed(m, stay) ? (uint64_t)m->plan->divisions->at[m->tick].cores_used : 1));
    m->scratch = NULL;
    arena_free(&scratch);
    if (!p.in || m->fault_count > 0) return false;
    int64_t bytes = box_sticks(&p.box) * m->stick_bytes;
    if (bytes == 0) return false;
    p.in->bytes[p.address + (int64_t)rng_below(r, (uint64_t)bytes)] ^= (unsigned char)(1 << rng_below(r, 8));
    return true;
}

/* What a run of the plan gives if a bit is flipped before op `at`; -1: nowhere. */
static struct lx_run_result *run_flipped(const struct lx_plan *p, int32_t at, struct rng *r, bool *flipped)
{
    lx_status st = {0};
    struct lx_device_options how = {.verify = LX_VERIFY_OPS};
    struct lx_execution *d = lx_device_begin(p, &how, &st);
    assert_non_null(d);
    for (int32_t o = 0; lx_device_next(d) < p->layouts->graph->op_count; o++) {
        if (o == at) *flipped = flip_before((struct machine *)(void *)d, r); /* its first member */
        assert_true(lx_device_tick(d, &st));
    }
    return lx_device_end(d, &st);
}

static void flipped_bits_are_found(void **state)
{
    (void)state;
    struct rng r = rng_seed(31);
    int found = 0, harmless = 0;
    for (int k = 0; k < 3; k++) {
        static const char *const patterns[] = {"graphs/softmax_512x1024.json", "graphs/rms_norm.json",
                                               "graphs/mha_4h.json"};
        struct lx_plan *p = plan_graph(with_cores(device_test_graph(patterns[k]), 4), "bestfit",
                                       &(struct lx_passes){.evict = true});
        bool flipped = false;
        struct lx_run_result *good = run_flipped(p, -1, &r, &flipped);
        assert_true(good && good->ok);
        for (int i = 0; i < (SAMPLED ? 3 : 15); i++) {
            int32_t at = (int32_t)rng_below(&r, (uint64_t)good->op_count);
            struct lx_run_result *bad = run_flipped(p, at, &r, &flipped);
            assert_non_null(bad);
            bool same = bad->output_hash == good->output_hash;
            for (int32_t o = 0; o < good->op_count; o++) same &= bad->ops[o].hash == good->ops[o].hash;
            if (flipped && bad->ok && !same)
                fail_msg("%s: a bit changed before op %d and nobody saw it", patterns[k], (int)at);
            found += flipped && !bad->ok;
            harmless += flipped && bad->ok; /* padding, or what a load has written over */
            lx_run_result_free(bad);
        }
        lx_run_result_free(good);
        lx_plan_free(p);
    }
    print_message("%d flipped bits found, %d did nothing\n", found, harmless);
    assert_true(found > (SAMPLED ? 2 : 5));
}

/* ---- patterns ---- */

/* Behind 43 ops each is still within its own bound, and no bound is beyond a hundredth of what the op makes. */
static void a_block_of_43_ops(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_plan *p = plan_graph(with_cores(device_test_graph("graphs/transformer_block.json"), 32),
                                   "greedy", &(struct lx_passes){0});
    struct lx_device_options how = {.threads = 2};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    if (!r || !r->ok) fail_msg("%s", r ? what_is_wrong(r) : st.text);
    int judged = 0;
    for (int32_t o = 0; o < r->op_count; o++) {
        const struct lx_op_run *op = &r->ops[o];
        const char *name = p->layouts->graph->ops[o].name;
        judged += op->verified && p->layouts->op_origin[o] >= 0;
        if (!(op->share < 1)) fail_msg("%s: %g of its bound", name, op->share);
        if (op->bound > 1e-2 * op->largest)
            fail_msg("%s: a bound of %g for %g", name, op->bound, op->largest);
    }
    assert_int_equal(judged, p->graph->op_count);
    assert_true(r->relative_error > 0 && r->relative_error < 0.05);
    lx_run_result_free(r);
    lx_plan_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_of_types),           cmocka_unit_test(exact_bits),
        cmocka_unit_test(shares_of_sums),          cmocka_unit_test(contractions_agree),
        cmocka_unit_test(large_terms_are_bounded), cmocka_unit_test(moved_elements_are_found),
        cmocka_unit_test(long_sums_are_right),     cmocka_unit_test(altered_bytes_are_counted),
        cmocka_unit_test(flipped_bits_are_found),  cmocka_unit_test(a_block_of_43_ops),
    };
    return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
