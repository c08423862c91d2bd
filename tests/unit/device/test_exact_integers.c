/* Integers of 64 bits on the whole way, from the pattern's text to what the device leaves: constants beyond 2^53, sums
 * that wrap, casts, bits of fp64, running sums, compared with plain arithmetic of the test. */
#include "support/exact_trial.h"
#include "base/memory.h"

enum { ROWS = 12, COLUMNS = 40 };

static struct trial trial_of(enum lx_dtype from, enum lx_dtype to, struct rng *rng)
{
    struct trial t = {.inputs = 1};
    t.in[0] = (struct trial_tensor){.type = from, .rank = 2, .shape = {ROWS, COLUMNS}};
    t.out = (struct trial_tensor){.type = to, .rank = 2, .shape = {ROWS, COLUMNS}};
    trial_fill(&t.in[0], rng);
    t.out.data = mem_zeroed((size_t)ROWS * COLUMNS, sizeof *t.out.data);
    return t;
}

static void constants_have_all_bits(void **state)
{
    (void)state;
    struct rng rng = rng_seed(11);
    static const struct {
        const char *kind, *value;
        enum lx_dtype type;
        uint64_t bits;
    } rows[] = {
        {"add", "9007199254740993", LX_INT64, UINT64_C(9007199254740993)},
        {"mul", "11400714819323198485", LX_UINT64, UINT64_C(11400714819323198485)},
        {"xor", "-9007199254740993", LX_INT64, UINT64_C(0) - UINT64_C(9007199254740993)},
        {"min", "9223372036854775807", LX_INT64, INT64_MAX},
        {"max", "18446744073709551615", LX_UINT64, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct trial t = trial_of(rows[i].type, rows[i].type, &rng);
        const struct number_type *type = &number_types[rows[i].type];
        snprintf(t.op, sizeof t.op, "\"kind\": \"%s\", \"value\": %s", rows[i].kind, rows[i].value);
        for (int n = 0; n < ROWS * COLUMNS; n++) {
            uint64_t x = (uint64_t)number_whole(t.in[0].data[n]), c = rows[i].bits;
            uint64_t y = i == 0 ? x + c : i == 1 ? x * c : i == 2 ? x ^ c : i == 3 ? x : c;
            t.out.data[n] = number_wrapped(type, (whole_number)y);
        }
        trial_run_all(&t);
    }
}

static void casts_keep_what_fits(void **state)
{
    (void)state;
    struct rng rng = rng_seed(12);
    static const enum lx_dtype types[][2] = {
        {LX_INT64, LX_INT8},  {LX_UINT64, LX_INT64}, {LX_INT32, LX_UINT64},
        {LX_INT64, LX_INT32}, {LX_INT64, LX_BOOL},   {LX_INT16, LX_UINT8},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct trial t = trial_of(types[i][0], types[i][1], &rng);
        snprintf(t.op, sizeof t.op, "\"kind\": \"cast\"");
        for (int n = 0; n < ROWS * COLUMNS; n++)
            t.out.data[n] = number_wrapped(&number_types[types[i][1]], number_whole(t.in[0].data[n]));
        trial_run_all(&t);
    }
}

/* To nearest even, once; what C makes of it. */
static void casts_to_floats_round_once(void **state)
{
    (void)state;
    struct rng rng = rng_seed(13);
    for (int i = 0; i < 2; i++) {
        struct trial t = trial_of(i ? LX_UINT64 : LX_INT64, LX_FP32, &rng);
        t.in[0].data[0] = 0x1p62L + 0x1p38L + 1; /* fp64 would round it to the half */
        snprintf(t.op, sizeof t.op, "\"kind\": \"cast\"");
        for (int n = 0; n < ROWS * COLUMNS; n++)
            t.out.data[n] = (wide_number)(i ? (float)(uint64_t)number_whole(t.in[0].data[n])
                                            : (float)(int64_t)number_whole(t.in[0].data[n]));
        trial_run_all(&t);
    }
}

static void sums_wrap(void **state)
{
    (void)state;
    struct rng rng = rng_seed(14);
    for (int i = 0; i < 2; i++) {
        enum lx_dtype type = i ? LX_UINT64 : LX_INT64;
        struct trial t = trial_of(type, type, &rng);
        snprintf(t.op, sizeof t.op, "\"kind\": \"scan\", \"axis\": 1");
        for (int n = 0; n < ROWS * COLUMNS; n++) {
            whole_number before = n % COLUMNS ? number_whole(t.out.data[n - 1]) : 0;
            t.out.data[n] = number_wrapped(&number_types[type], before + number_whole(t.in[0].data[n]));
        }
        trial_run_all(&t);
        struct trial s = trial_of(type, type, &rng);
        s.out.rank = 1;
        snprintf(s.op, sizeof s.op, "\"kind\": \"sum\", \"einsum\": \"rc->r\"");
        for (int r = 0; r < ROWS; r++) {
            whole_number sum = 0;
            for (int c = 0; c < COLUMNS; c++) sum += number_whole(s.in[0].data[r * COLUMNS + c]);
            s.out.data[r] = number_wrapped(&number_types[type], sum);
        }
        trial_run_all(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_have_all_bits),
        cmocka_unit_test(casts_keep_what_fits),
        cmocka_unit_test(casts_to_floats_round_once),
        cmocka_unit_test(sums_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
