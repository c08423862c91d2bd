/* Cases of the matmul cost: upstream's formula in its three states, which is the yardstick of lib/cost. */
#include "cases/workdiv.h"
#include "base/checked.h"
#include "support/matmul_yardstick.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    enum matmul_model model;
} versions[] = {{"A", MATMUL_UPSTREAM_A}, {"B", MATMUL_UPSTREAM_B}, {"C", MATMUL_UPSTREAM_C}};

static struct matmul_shape shape_of(const cJSON *one)
{
    const cJSON *shared = cjson_find(one, "shared");
    return (struct matmul_shape){.b = case_int(cjson_find(one, "B"), 1),
                                 .m = case_int(cjson_find(one, "M"), 1),
                                 .n = case_int(cjson_find(one, "N"), 1),
                                 .k = case_int(cjson_find(one, "K"), 1),
                                 .shared_weight = cJSON_IsTrue(shared),
                                 .stick_elements = 64,
                                 .operand_bytes = case_int(cjson_find(one, "operand_bytes"), 2),
                                 .output_bytes = case_int(cjson_find(one, "output_bytes"), 2),
                                 .cores = min_i64(case_int(cjson_find(one, "cores"), 32), 64)};
}

static struct matmul_split split_of(const cJSON *one)
{
    return (struct matmul_split){case_int(cjson_find(one, "b"), 1), case_int(cjson_find(one, "m"), 1),
                                 case_int(cjson_find(one, "n"), 1), case_int(cjson_find(one, "k"), 1), 0};
}

/* The first strict minimum, loops b, m, n, k ascending. */
static double best(enum matmul_model model, const struct matmul_shape *s, struct matmul_split *out)
{
    double least = INFINITY;
    int64_t n_sticks = (s->n + 63) / 64, k_sticks = (s->k + 63) / 64;
    struct matmul_split p;
    for (p.b = 1; p.b <= s->cores; p.b++)
        for (p.m = 1; p.b * p.m <= s->cores; p.m++)
            for (p.n = 1; p.b * p.m * p.n <= s->cores; p.n++)
                for (p.k = 1; p.b * p.m * p.n * p.k <= s->cores; p.k++) {
                    if (s->b % p.b || s->m % p.m || n_sticks % p.n || k_sticks % p.k) continue;
                    double us = matmul_time(model, s, &p);
                    if (us < least) least = us, *out = p;
                }
    return least;
}

static bool same(struct matmul_split a, struct matmul_split b)
{
    return a.b == b.b && a.m == b.m && a.n == b.n && a.k == b.k;
}

static void asserted(struct cases *c, const cJSON *one)
{
    struct matmul_shape s = shape_of(one);
    struct matmul_split got = {0}, want = split_of(cjson_find(one, "best"));
    for (int v = 0; v < 3; v++) {
        best(versions[v].model, &s, &got);
        case_expect(c, same(got, want), "%s picks %lld,%lld,%lld,%lld", versions[v].name, (long long)got.b,
                    (long long)got.m, (long long)got.n, (long long)got.k);
    }
}

static void derived(struct cases *c, const cJSON *one)
{
    struct matmul_shape s = shape_of(one);
    for (int v = 0; v < 3; v++) {
        char key[16];
        struct matmul_split got = {0};
        double us = best(versions[v].model, &s, &got);
        snprintf(key, sizeof key, "best_%s", versions[v].name);
        case_expect(c, same(got, split_of(cjson_find(one, key))), "%s picks %lld,%lld,%lld,%lld",
                    versions[v].name, (long long)got.b, (long long)got.m, (long long)got.n, (long long)got.k);
        snprintf(key, sizeof key, "cost_us_%s", versions[v].name);
        const cJSON *want = cjson_find(one, key);
        case_expect(c, cJSON_IsNumber(want) && fabs(us - want->valuedouble) < 0.001, "%s costs %.4f",
                    versions[v].name, us);
    }
}

static void single(struct cases *c, const cJSON *one)
{
    struct matmul_shape s = shape_of(one);
    struct matmul_split p = split_of(one);
    for (int v = 0; v < 3; v++) {
        const cJSON *want = cjson_find(cjson_find(one, "cost_us"), versions[v].name);
        double us = matmul_time(versions[v].model, &s, &p);
        case_expect(c, cJSON_IsNumber(want) && fabs(us - want->valuedouble) < 0.0001, "%s costs %.5f",
                    versions[v].name, us);
    }
}

static void bytes(struct cases *c, const cJSON *one)
{
    struct matmul_shape s = shape_of(one);
    case_expect(c, matmul_bytes(&s) == (double)case_int(cjson_find(one, "hbm_bytes"), -1), "got %.0f",
                matmul_bytes(&s));
}

static void inequality(struct cases *c, const cJSON *one)
{
    struct matmul_shape s = shape_of(one);
    struct matmul_split p = split_of(one);
    for (int v = 0; v < MATMUL_MODEL_COUNT; v++) {
        s.shared_weight = true;
        double shared = matmul_time((enum matmul_model)v, &s, &p);
        s.shared_weight = false;
        case_expect(c, shared < matmul_time((enum matmul_model)v, &s, &p), "%s has it the other way",
                    matmul_model_names[v]);
    }
}

/* x[b,m,k] w[k,n]: what distribution alone gives is `before`. `after` was picked with constants since
 * changed: it is checked where a state of the formula that we have still picks it,
 * else passed over by name. */
static void history_after(struct cases *c, const cJSON *one)
{
    int64_t x[3], w[2], after[3];
    ints_of(cjson_find(one, "x"), x, 3);
    ints_of(cjson_find(one, "w"), w, 2);
    ints_of(cjson_find(one, "after"), after, 3);
    struct matmul_shape s = {.b = 1,
                             .m = x[0] * x[1],
                             .n = w[1],
                             .k = w[0],
                             .shared_weight = true,
                             .operand_bytes = 2,
                             .output_bytes = 2,
                             .cores = 32,
                             .stick_elements = 64};
    struct matmul_split want = {1, after[0], after[1], after[2], 0}, got = {0};
    for (int v = 0; v < MATMUL_MODEL_COUNT; v++) {
        best((enum matmul_model)v, &s, &got);
        if (same(got, want)) case_expect(c, true, "picked");
    }
    if (c->checks > 0)
        case_end(c, one);
    else
        case_skip(c, "picked by a formula whose constants have changed since, as the case says");
}

static void history(struct cases *c, const cJSON *one)
{
    int64_t x[3], w[2], before[3];
    struct stages s;
    struct text t = {0};
    ints_of(cjson_find(one, "x"), x, 3);
    ints_of(cjson_find(one, "w"), w, 2);
    ints_of(cjson_find(one, "before"), before, 3);
    text_format(&t,
                "\"tensors\": [{\"name\": \"x\", \"shape\": [%lld, %lld, %lld]}, {\"name\": \"w\", "
                "\"shape\": [%lld, %lld]}, "
                "{\"name\": \"y\", \"shape\": [%lld, %lld, %lld]}], \"ops\": [{\"name\": \"op\", \"kind\": "
                "\"matmul\", "
                "\"inputs\": [\"x\", \"w\"], \"output\": \"y\", \"einsum\": \"bmk,kn->bmn\"}]",
                (long long)x[0], (long long)x[1], (long long)x[2], (long long)w[0], (long long)w[1],
                (long long)x[0], (long long)x[1], (long long)w[1]);
    struct lx_divide_options how = {.no_cost = true};
    if (case_expect(c, run_stages(&s, t.at, &how), "an error: %s", s.st.text)) {
        const struct lx_division *d = &s.divisions->at[0];
        int64_t rows = 1, n = 1, k = 1;
        for (int i = 0; i < d->split_count; i++) {
            char letter = d->splits[i].letter;
            *(letter == 'n' ? &n : letter == 'k' ? &k : &rows) *= d->splits[i].split;
        }
        case_expect(c, rows == before[0] && n == before[1] && k == before[2], "before is %lld,%lld,%lld",
                    (long long)rows, (long long)n, (long long)k);
    }
    free_stages(&s);
    text_free(&t);
}

/* "Declines": the pass leaves the default division alone. One graph a rule. */
static void declines(struct cases *c, const char *rule)
{
    static const struct {
        const char *words, *body;
        int64_t cores;
    } rows[] = {
        {"not a (batch) matmul",
         "\"tensors\": [{\"name\": \"x\", \"shape\": [64, 4096]}, {\"name\": \"y\", \"shape\": [64]}], "
         "\"ops\": "
         "[{\"name\": \"op\", \"kind\": \"sum\", \"inputs\": [\"x\"], \"output\": \"y\", \"einsum\": "
         "\"mk->m\"}]",
         32},
        {"span pass committed",
         "\"tensors\": [{\"name\": \"x\", \"shape\": [8192, 32768]}, {\"name\": \"w\", \"shape\": [32768, "
         "4096]}, "
         "{\"name\": \"y\", \"shape\": [8192, 4096]}], \"ops\": [{\"name\": \"op\", \"kind\": \"matmul\", "
         "\"inputs\": [\"x\", \"w\"], "
         "\"output\": \"y\", \"einsum\": \"mk,kn->mn\"}]",
         32},
        {"exactly one stick symbol",
         "\"tensors\": [{\"name\": \"x\", \"shape\": [512]}, {\"name\": \"w\", \"shape\": [512, 4096]}, "
         "{\"name\": \"y\", \"shape\": [4096]}], \"ops\": [{\"name\": \"op\", \"kind\": \"matmul\", "
         "\"inputs\": [\"x\", \"w\"], "
         "\"output\": \"y\", \"einsum\": \"k,kn->n\"}]",
         32},
        {"no row symbol that appears in exactly one input",
         "\"tensors\": [{\"name\": \"x\", \"shape\": [64, 512]}, {\"name\": \"w\", "
         "\"shape\": [64, 512, 128]}, {\"name\": \"y\", \"shape\": [64, 128]}], \"ops\": [{\"name\": \"op\", "
         "\"kind\": \"matmul\", "
         "\"inputs\": [\"x\", \"w\"], \"output\": \"y\", \"einsum\": \"bk,bkn->bn\"}]",
         32},
        {"more than one reduction symbol",
         "\"tensors\": [{\"name\": \"x\", \"shape\": [64, 8, 128]}, {\"name\": \"w\", \"shape\": "
         "[8, 128, 512]}, {\"name\": \"y\", \"shape\": [64, 512]}], \"ops\": [{\"name\": \"op\", \"kind\": "
         "\"matmul\", \"inputs\": "
         "[\"x\", \"w\"], \"output\": \"y\", \"einsum\": \"mhk,hkn->mn\"}]",
         32},
        {"hint is present",
         "\"tensors\": [{\"name\": \"x\", \"shape\": [512, 4096]}, {\"name\": \"w\", \"shape\": [4096, "
         "4096]}, "
         "{\"name\": \"y\", \"shape\": [512, 4096]}], \"ops\": [{\"name\": \"op\", \"kind\": \"matmul\", "
         "\"inputs\": [\"x\", \"w\"], "
         "\"output\": \"y\", \"einsum\": \"mk,kn->mn\", \"hints\": {\"m\": 2}}]",
         32},
    };
    if (strstr(rule, "fewer cores than the default")) {
        /* On every small shape and core count the answer uses at least the default's cores. */
        for (int64_t cores = 1; cores <= 32; cores++)
            for (int64_t m = 1; m <= 12; m += 3) {
                struct text t = {0};
                struct stages s[2];
                text_format(&t,
                            "\"tensors\": [{\"name\": \"x\", \"shape\": [%lld, 192]}, {\"name\": \"w\", "
                            "\"shape\": [192, 320]}, "
                            "{\"name\": \"y\", \"shape\": [%lld, 320]}], \"ops\": [{\"name\": \"op\", "
                            "\"kind\": \"matmul\", \"inputs\": "
                            "[\"x\", \"w\"], \"output\": \"y\", \"einsum\": \"mk,kn->mn\"}]",
                            (long long)m, (long long)m);
                for (int i = 0; i < 2; i++) {
                    struct lx_divide_options how = {.cores = cores, .no_cost = i == 0};
                    case_expect(c, run_stages(&s[i], t.at, &how), "an error");
                }
                if (s[0].divisions && s[1].divisions)
                    case_expect(c, s[1].divisions->at[0].cores_used >= s[0].divisions->at[0].cores_used,
                                "fewer cores on %lld", (long long)cores);
                for (int i = 0; i < 2; i++) free_stages(&s[i]);
                text_free(&t);
            }
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!strstr(rule, rows[i].words)) continue;
        struct stages s;
        struct lx_divide_options how = {.cores = rows[i].cores};
        if (case_expect(c, run_stages(&s, rows[i].body, &how), "an error: %s", s.st.text))
            case_expect(c, !s.divisions->at[s.divisions->count - 1].by_cost, "the cost pass did not decline");
        free_stages(&s);
    }
}

void workdiv_cost(struct cases *c, const cJSON *root)
{
    static const struct {
        const char *name;
        void (*check)(struct cases *, const cJSON *);
    } lists[] = {{"byte_checks", bytes},           {"best_split_asserted", asserted},
                 {"inequalities", inequality},     {"best_split_derived", derived},
                 {"single_costs_derived", single}, {"upstream_history_picks", history}};
    const cJSON *section = cjson_find(root, "matmul_cost"), *one;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        int n = 0;
        cJSON_ArrayForEach(one, cjson_find(section, lists[i].name))
        {
            case_begin(c, "matmul_cost/%s/%d", lists[i].name, n++);
            lists[i].check(c, one);
            case_end(c, lists[i].check == history ? NULL : one); /* the rest of these is the next case */
            if (lists[i].check != history) continue;
            case_begin(c, "matmul_cost/%s/%d after", lists[i].name, n - 1);
            history_after(c, one);
        }
    }
    int n = 0;
    cJSON_ArrayForEach(one, cjson_find(section, "decline_rules"))
    {
        case_begin(c, "matmul_cost/decline_rules/%d: %.50s", n++,
                   cJSON_IsString(one) ? one->valuestring : "");
        if (cJSON_IsString(one)) declines(c, one->valuestring);
        case_end(c, one);
    }
}
