/* Numbers that fp32 does not have, in ops that choose, order and slide: drawn at random, on the whole way, to the bit. */
#include "support/exact_trial.h"
#include "base/memory.h"

enum { TRIALS = 24 };

static const enum lx_dtype types[] = {LX_INT32, LX_UINT32, LX_INT16,  LX_UINT8,
                                      LX_FP64,  LX_INT64,  LX_UINT64, LX_BF16};

static enum lx_dtype draw_type(struct rng *rng)
{
    return types[rng_below(rng, sizeof types / sizeof *types)];
}

static struct trial_tensor tensor_of(enum lx_dtype type, int64_t a, int64_t b)
{
    return (struct trial_tensor){.type = type, .rank = 2, .shape = {a, b}};
}

/* Indices of which some are outside. */
static struct trial_tensor index_of(struct rng *rng, int64_t count, int64_t rows)
{
    struct trial_tensor t = {.type = LX_INT32, .rank = 1, .shape = {count}};
    t.data = mem_zeroed((size_t)count, sizeof *t.data);
    for (int64_t i = 0; i < count; i++) t.data[i] = (wide_number)rng_between(rng, -1, rows);
    return t;
}

static void result_room(struct trial *t)
{
    t->out.data = mem_zeroed((size_t)trial_count(&t->out) + 1, sizeof *t->out.data);
}

static void rows_are_gathered(void **state)
{
    (void)state;
    struct rng rng = rng_seed(3);
    for (int n = 0; n < TRIALS; n++) {
        enum lx_dtype type = draw_type(&rng);
        int64_t rows = rng_between(&rng, 1, 40), width = rng_between(&rng, 1, 100),
                count = rng_between(&rng, 1, 30);
        struct trial t = {.inputs = 2,
                          .op = "\"kind\": \"gather\", \"axis\": 0, \"einsum\": \"vd,b->bd\"",
                          .in = {tensor_of(type, rows, width), index_of(&rng, count, rows)},
                          .out = tensor_of(type, count, width)};
        trial_fill(&t.in[0], &rng);
        result_room(&t);
        for (int64_t b = 0; b < count; b++)
            for (int64_t d = 0; d < width; d++)
                t.out.data[b * width + d] =
                    t.in[0]
                        .data[(int64_t)fminl(fmaxl(t.in[1].data[b], 0), (wide_number)rows - 1) * width + d];
        trial_run_all(&t);
    }
}

static wide_number combined(const char *how, enum lx_dtype type, wide_number y, wide_number x)
{
    const struct number_type *t = &number_types[type];
    uint64_t a = t->integer ? (uint64_t)number_whole(y) : 0, b = t->integer ? (uint64_t)number_whole(x) : 0;
    if (strcmp(how, "add") == 0) return number_wrapped(t, (whole_number)(a + b));
    if (strcmp(how, "mul") == 0) return number_wrapped(t, (whole_number)(a * b));
    return strcmp(how, "min") == 0 ? fminl(y, x) : strcmp(how, "max") == 0 ? fmaxl(y, x) : x;
}

static void rows_are_scattered(void **state)
{
    static const char *const ways[] = {"replace", "min", "max", "add", "mul"};
    (void)state;
    struct rng rng = rng_seed(4);
    for (int n = 0; n < TRIALS; n++) {
        enum lx_dtype type = draw_type(&rng);
        const char *how = ways[rng_below(&rng, number_types[type].integer ? 5 : 3)];
        int64_t rows = rng_between(&rng, 1, 40), width = rng_between(&rng, 1, 100),
                count = rng_between(&rng, 1, 30);
        struct trial t = {
            .inputs = 3,
            .in = {tensor_of(type, rows, width), index_of(&rng, count, rows), tensor_of(type, count, width)},
            .out = tensor_of(type, rows, width)};
        snprintf(t.op, sizeof t.op,
                 "\"kind\": \"scatter\", \"axis\": 0, \"combine\": \"%s\", \"einsum\": \"vd,b,bd->vd\"", how);
        trial_fill(&t.in[0], &rng);
        trial_fill(&t.in[2], &rng);
        result_room(&t);
        memcpy(t.out.data, t.in[0].data, (size_t)(rows * width) * sizeof *t.out.data);
        for (int64_t i = 0; i < count * width; i++) {
            wide_number row = t.in[1].data[i / width];
            if (row < 0 || row >= (wide_number)rows) continue;
            wide_number *to = &t.out.data[(int64_t)row * width + i % width];
            *to = combined(how, type, *to, t.in[2].data[i]);
        }
        trial_run_all(&t);
    }
}

static void parts_begin_where_told(void **state)
{
    (void)state;
    struct rng rng = rng_seed(5);
    for (int n = 0; n < TRIALS; n++) {
        enum lx_dtype type = draw_type(&rng);
        bool insert = n % 2;
        int64_t rows = rng_between(&rng, 2, 40), part = rng_between(&rng, 2, rows),
                width = rng_between(&rng, 1, 100);
        struct trial t = {.inputs = insert ? 3 : 2, .in = {tensor_of(type, rows, width)}};
        snprintf(t.op, sizeof t.op, "\"kind\": \"dynamic_%s\", \"axes\": [0], \"einsum\": \"sd,%s->%sd\"",
                 insert ? "insert" : "slice", insert ? "wd," : "", insert ? "s" : "w");
        t.in[1] = tensor_of(type, part, width);
        t.out = tensor_of(type, insert ? rows : part, width);
        struct trial_tensor *start = &t.in[t.inputs - 1];
        *start = index_of(&rng, 1, rows);
        start->rank = 0;
        trial_fill(&t.in[0], &rng);
        if (insert) t.in[1] = tensor_of(type, part, width), trial_fill(&t.in[1], &rng);
        result_room(&t);
        int64_t at = (int64_t)fminl(fmaxl(start->data[0], 0), (wide_number)(rows - part));
        if (insert) memcpy(t.out.data, t.in[0].data, (size_t)(rows * width) * sizeof(wide_number));
        for (int64_t i = 0; i < part * width; i++) {
            if (insert)
                t.out.data[at * width + i] = t.in[1].data[i];
            else
                t.out.data[i] = t.in[0].data[at * width + i];
        }
        trial_run_all(&t);
    }
}

/* So many come before element i of a row. */
static int64_t rank_of(const wide_number *row, int64_t n, int64_t i, bool descending)
{
    int64_t before = 0;
    for (int64_t k = 0; k < n; k++)
        before += row[k] == row[i] ? k < i : descending ? row[k] > row[i] : row[k] < row[i];
    return before;
}

static void rows_are_ordered(void **state)
{
    static const char *const kinds[] = {"topk", "topk_index", "sort", "sort_index"};
    (void)state;
    struct rng rng = rng_seed(6);
    for (int n = 0; n < TRIALS; n++) {
        enum lx_dtype type = draw_type(&rng);
        bool sorts = n % 4 >= 2, places = n % 2, descending = !sorts || rng_below(&rng, 2);
        int64_t rows = rng_between(&rng, 1, 20), width = rng_between(&rng, 1, 90),
                k = sorts ? width : rng_between(&rng, 1, width);
        struct trial t = {.inputs = 1,
                          .in = {tensor_of(type, rows, width)},
                          .out = tensor_of(places ? LX_INT32 : type, rows, k)};
        snprintf(t.op, sizeof t.op, "\"kind\": \"%s\", \"axis\": 1, \"einsum\": \"%s\"", kinds[n % 4],
                 sorts ? "bv->bv" : "bv->bk");
        size_t used = strlen(t.op);
        if (!sorts) snprintf(t.op + used, sizeof t.op - used, ", \"k\": %lld", (long long)k);
        if (sorts && descending) snprintf(t.op + used, sizeof t.op - used, ", \"descending\": true");
        trial_fill(&t.in[0], &rng);
        result_room(&t);
        for (int64_t i = 0; i < rows * width; i++) {
            const wide_number *row = t.in[0].data + i / width * width;
            int64_t to = rank_of(row, width, i % width, descending);
            if (to < k) t.out.data[i / width * k + to] = places ? (wide_number)(i % width) : row[i % width];
        }
        trial_run_all(&t);
    }
}

/* y[p, c] of x[h, c], h = 2 p + k - 1, and, of products, w[k, c]. */
static wide_number slid(const struct trial *t, const char *kind, int64_t p, int64_t c, int64_t taps)
{
    const struct number_type *type = &number_types[t->out.type];
    int64_t rows = t->in[0].shape[0], width = t->in[0].shape[1];
    wide_number total = strcmp(kind, "max") == 0 ? -INFINITY : strcmp(kind, "min") == 0 ? INFINITY : 0;
    for (int64_t k = 0; k < taps; k++) {
        int64_t h = 2 * p + k - 1;
        if (h < 0 || h >= rows) continue;
        wide_number x = t->in[0].data[h * width + c];
        if (strcmp(kind, "matmul") == 0)
            x = number_wrapped(type, (whole_number)((uint64_t)number_whole(x) *
                                                    (uint64_t)number_whole(t->in[1].data[k * width + c])));
        if (isinf(total) || strcmp(kind, "max") == 0 || strcmp(kind, "min") == 0)
            total = strcmp(kind, "min") == 0 ? fminl(total, x) : fmaxl(total, x);
        else
            total = number_wrapped(type, number_whole(total) + number_whole(x));
    }
    return total;
}

static void windows_slide(void **state)
{
    static const char *const kinds[] = {"max", "min", "sum", "matmul"};
    (void)state;
    struct rng rng = rng_seed(7);
    for (int n = 0; n < TRIALS; n++) {
        enum lx_dtype type = draw_type(&rng);
        const char *kind = kinds[rng_below(&rng, number_types[type].integer ? 4 : 2)];
        bool product = strcmp(kind, "matmul") == 0;
        int64_t outs = rng_between(&rng, 1, 12), width = rng_between(&rng, 1, 70),
                taps = rng_between(&rng, 2, 4);
        struct trial t = {.inputs = 1 + product,
                          .in = {tensor_of(type, 2 * outs + 1, width), tensor_of(type, taps, width)},
                          .out = tensor_of(type, outs, width)};
        snprintf(t.op, sizeof t.op,
                 "\"kind\": \"%s\", \"einsum\": \"hc%s->pc\", \"windows\": [{\"in\": \"h\", \"out\": \"p\", "
                 "\"tap\": \"k\", \"stride\": 2, \"pad\": 1",
                 kind, product ? ",kc" : "");
        size_t used = strlen(t.op);
        snprintf(t.op + used, sizeof t.op - used, "%s%.0d}]",
                 product ? "" : ", \"size\": ", product ? 0 : (int)taps);
        for (int i = 0; i < t.inputs; i++) trial_fill(&t.in[i], &rng);
        result_room(&t);
        for (int64_t i = 0; i < outs * width; i++) t.out.data[i] = slid(&t, kind, i / width, i % width, taps);
        trial_run_all(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_gathered),
                                       cmocka_unit_test(rows_are_scattered),
                                       cmocka_unit_test(parts_begin_where_told),
                                       cmocka_unit_test(rows_are_ordered), cmocka_unit_test(windows_slide)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
