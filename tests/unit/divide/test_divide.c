/* Divisions: the rules hold on 10,000 random ops, slices tile the space, every pattern divides. */
#include "base/rng.h"
#include "base/text.h"
#include "base/memory.h"
#include "divide/divide.h"
#include "files/generate.h"
#include "plan/plan.h"
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stages {
    const struct lx_graph *graph;
    struct lx_layouts *layouts;
    struct lx_divisions *divisions;
    lx_status st;
};

static bool divide_graph(struct stages *s, const struct lx_graph *g, const struct lx_divide_options *how)
{
    s->graph = g;
    s->layouts = g ? lx_layouts_make(g, LX_WEIGHTS_FREE, &s->st) : NULL;
    s->divisions = s->layouts ? lx_divide(s->layouts, how, &s->st) : NULL;
    return s->divisions != NULL;
}

static bool divide_body(struct stages *s, const char *body, const struct lx_divide_options *how)
{
    struct text t = {0};
    *s = (struct stages){0};
    text_format(&t, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", %s}", body);
    const struct lx_graph *g = lx_graph_of_text("t", t.at, t.length, &s->st);
    text_free(&t);
    return divide_graph(s, g, how);
}

static bool replace(struct stages *s, int32_t op, const int64_t *splits)
{
    struct lx_divisions *d = s->divisions;
    return lx_division_with(d, op, splits, d->memory, &d->at[op], &s->st);
}

static void free_stages(struct stages *s)
{
    lx_divisions_free(s->divisions);
    lx_layouts_free(s->layouts);
    lx_graph_free(s->graph);
}

static void add_tensor(struct text *t, const char *name, const char *dtype, const char *letters,
                       const int64_t *extent)
{
    text_format(t, "%s{\"name\": \"%s\", \"dtype\": \"%s\", \"shape\": [",
                t->at && strchr(t->at, '{') ? ", " : "", name, dtype);
    for (int i = 0; letters[i]; i++)
        text_format(t, "%s%lld", i ? ", " : "", (long long)extent[letters[i] - 'a']);
    text_add(t, "]}");
}

/* One random op: pointwise with broadcasts, reduction, contraction, view or restickify. `big`: up to
 * gigabytes. */
static void random_op(struct rng *r, bool big, struct text *t)
{
    static const char *const dtypes[] = {"fp16", "fp16", "bf16", "fp32", "int8", "fp8", "int32", "bool"};
    static const int64_t nice[] = {1,   2,   3,   4,   8,    16,   32,   64,   96,   128,  192,   256,
                                   320, 512, 576, 640, 1000, 1024, 2048, 4096, 5120, 8192, 12800, 65536};
    int64_t extent[8];
    const char *d0 = dtypes[rng_below(r, 8)], *d1 = dtypes[rng_below(r, 8)];
    for (int i = 0; i < 8; i++)
        extent[i] = big               ? nice[rng_below(r, sizeof nice / sizeof *nice)]
                    : rng_below(r, 3) ? rng_between(r, 1, 12)
                                      : 64 * rng_between(r, 1, 3);
    char x[9] = "", w[9] = "", y[9] = "", einsum[40] = "";
    int rank = (int)rng_between(r, 1, big ? 3 : 4), kind = (int)rng_below(r, 5);
    const char *op = "relu", *extra = "";
    char more[200] = "";
    for (int i = 0; i < rank; i++) x[i] = y[i] = (char)('a' + i);
    bool two = false;
    if (kind == 0) { /* x with some of its dimensions as the second operand */
        op = "add";
        two = true;
        for (int i = 0, n = 0; i < rank; i++)
            if (rng_below(r, 2)) w[n++] = x[i];
        if (!w[0]) strcpy(w, x);
    } else if (kind == 1) {
        int drop = (int)rng_below(r, (uint64_t)rank), n = 0;
        op = "sum";
        memset(y, 0, sizeof y);
        for (int i = 0; i < rank; i++)
            if (i != drop && !(rank > 2 && i == 0)) y[n++] = x[i];
    } else if (kind == 2) {
        static const char *const forms[][3] = {
            {"ab", "bc", "ac"},       {"ab", "cb", "ac"}, {"dab", "dbc", "dac"}, {"dab", "bc", "dac"},
            {"deab", "decb", "deac"}, {"ab", "b", "a"},   {"ba", "bc", "ac"}};
        const char *const *f = forms[rng_below(r, sizeof forms / sizeof *forms)];
        op = "matmul";
        two = true;
        strcpy(x, f[0]), strcpy(w, f[1]), strcpy(y, f[2]);
    } else if (kind == 3) {
        op = "shift";
        int n = snprintf(more, sizeof more, ", \"offset\": [");
        for (int i = 0; i < rank; i++)
            n += snprintf(more + n, sizeof more - (size_t)n, "%s%lld", i ? ", " : "",
                          (long long)rng_between(r, -3, 70));
        snprintf(more + n, sizeof more - (size_t)n, "]");
        extra = more;
    } else
        op = "restickify";
    if (kind < 3) snprintf(einsum, sizeof einsum, "%s%s%s->%s", x, two ? "," : "", w, y);
    struct text tensors = {0};
    add_tensor(&tensors, "x", d0, x, extent);
    if (two) add_tensor(&tensors, "w", d1, w, extent);
    add_tensor(&tensors, "y", kind >= 3 ? d0 : d1, y, extent);
    text_format(t,
                "\"tensors\": [%s], \"ops\": [{\"name\": \"op\", \"kind\": \"%s\", \"inputs\": [\"x\"%s], "
                "\"output\": \"y\"",
                tensors.at, op, two ? ", \"w\"" : "");
    if (*einsum) text_format(t, ", \"einsum\": \"%s\"", einsum);
    text_format(t, "%s}]", extra);
    text_free(&tensors);
}

/* What must hold of any division. `uneven` counts splits. */
static int uneven;
static void check_rules(const struct lx_divisions *all, int32_t op)
{
    const struct lx_division *d = &all->at[op];
    if (d->kind != LX_DIVIDED) return;
    int64_t product = 1;
    int reductions = 0;
    for (int i = 0; i < d->split_count; i++) {
        const struct lx_split *s = &d->splits[i];
        assert_int_equal(s->units, (s->extent + s->unit - 1) / s->unit);
        uneven += s->units % s->split != 0;
        assert_true(s->units % s->split == 0 || (all->layouts->graph->device.uneven && !s->is_summed));
        assert_true(s->rule != LX_SPLIT_BLOCKED || s->split == 1);
        product *= s->split;
        reductions += s->is_summed && s->split > 1;
    }
    assert_true(reductions <= 1);
    assert_int_equal(product, d->cores_used);
    assert_true(product <= all->cores);
    for (int i = 0; i < d->operand_count; i++) {
        assert_true(d->operands[i].bytes <= all->layouts->graph->device.span_bytes);
        assert_true(d->operands[i].core_bytes <=
                    lx_layout_bytes(&all->layouts->layouts[d->operands[i].tensor]));
    }
    assert_true(d->predicted_us > 0);
}

/* Counts how often each point of a small space is worked on: exactly once, in whole sticks. */
static void check_tiling(const struct lx_division *d)
{
    int64_t points = 1;
    if (d->kind != LX_DIVIDED) return;
    for (int i = 0; i < d->split_count; i++) points *= d->splits[i].extent;
    if (points > 60000) return;
    unsigned char *count = mem_zeroed((size_t)points, 1);
    assert_non_null(count);
    for (int64_t core = 0; core < d->cores_used; core++) {
        int64_t from[LX_MAX_VARS] = {0}, to[LX_MAX_VARS] = {0}, at[LX_MAX_VARS] = {0};
        bool empty = false;
        for (int i = 0; i < d->split_count; i++) {
            lx_division_slice(d, i, core, &from[i], &to[i]);
            assert_true(from[i] % d->splits[i].unit == 0 && to[i] - from[i] <= d->splits[i].per_core);
            empty |= from[i] >= to[i];
            at[i] = from[i];
        }
        while (!empty) {
            int64_t point = 0;
            for (int i = 0; i < d->split_count; i++) point = point * d->splits[i].extent + at[i];
            count[point]++;
            int i = d->split_count - 1;
            for (; i >= 0 && ++at[i] == to[i]; i--) at[i] = from[i];
            if (i < 0) break;
        }
    }
    for (int64_t p = 0; p < points; p++) assert_int_equal(count[p], 1);
    mem_free(count);
}

static void test_random_ops(void **state)
{
    (void)state;
    struct rng r = rng_seed(2026);
    int divided = 0, refused = 0, tiled = 0;
    for (int n = 0; n < 10000; n++) {
        struct text t = {0};
        struct stages s;
        random_op(&r, n % 2 == 0, &t);
        if (n % 4 == 1) text_add(&t, ", \"device\": {\"preset\": \"spyre\", \"uneven\": 1}");
        struct lx_divide_options how = {.cores = rng_between(&r, 1, 32), .no_cost = rng_below(&r, 4) == 0};
        if (divide_body(&s, t.at, &how)) {
            for (int32_t o = 0; o < s.divisions->count; o++) {
                check_rules(s.divisions, o);
                check_tiling(&s.divisions->at[o]);
            }
            divided++;
            tiled += n % 2;
        } else {
            bool expected = s.st.code == LX_E_SPAN || s.st.code == LX_E_TWO_REDUCTIONS ||
                            s.st.code == LX_E_STICK_SPAN || s.st.code == LX_E_DOMAIN;
            if (!expected) fail_msg("%s: %s: %s", t.at, lx_code_word(s.st.code), s.st.text);
            refused++;
        }
        free_stages(&s);
        text_free(&t);
    }
    assert_int_equal(divided + refused, 10000);
    assert_true(divided > 8000 && tiled > 4900 && refused > 0 && uneven > 500);
}

/* The splits survive being encoded. */
static void check_encoding(struct stages *s, int32_t op, const int64_t *splits, int count)
{
    struct lx_coeff_splits stored;
    int64_t back[LX_MAX_VARS];
    assert_true(lx_division_encode(s->layouts, op, splits, &stored));
    assert_true(lx_division_decode(s->layouts, op, &stored, back, &s->st));
    for (int k = 0; k < count; k++) assert_int_equal(back[k], splits[k]);
}

/* Candidates are legal, in order, without repetition, and have the default among them. */
static void test_candidates(void **state)
{
    (void)state;
    struct rng r = rng_seed(7);
    for (int n = 0; n < 300; n++) {
        struct text t = {0};
        struct stages s;
        random_op(&r, false, &t);
        struct lx_divide_options how = {.cores = rng_between(&r, 1, 32)};
        assert_true(divide_body(&s, t.at, &how));
        int32_t op = s.divisions->count - 1;
        const struct lx_division *d = &s.divisions->at[op];
        struct arena memory = {0};
        struct division_menu m;
        division_menu_make(s.divisions, op, false, &memory, &m);
        bool found = false;
        for (int32_t i = 0; i < m.count; i++) {
            const int64_t *splits = &m.splits[i * m.split_count];
            bool same = true;
            int order = 0;
            for (int k = 0; k < m.split_count; k++) {
                same &= splits[k] == d->splits[k].split;
                if (i > 0 && order == 0)
                    order = (splits[k] > splits[k - m.split_count]) - (splits[k] < splits[k - m.split_count]);
            }
            assert_true(i == 0 || order == 1);
            found |= same;
        }
        assert_true(found);
        /* The last one can take the place of the default. */
        const int64_t *last = &m.splits[(m.count - 1) * m.split_count];
        assert_true(replace(&s, op, last));
        check_rules(s.divisions, op);
        check_tiling(&s.divisions->at[op]);
        check_encoding(&s, op, last, m.split_count);
        arena_free(&memory);
        free_stages(&s);
        text_free(&t);
    }
}

static const char two_ops[] = "\"tensors\": [{\"name\": \"x\", \"shape\": [512, 1024]}, {\"name\": \"h\", "
                              "\"shape\": [512, 1024]}, {\"name\": \"y\", \"shape\": [512]}], "
                              "\"ops\": [{\"name\": \"a\", \"kind\": \"exp\", \"inputs\": [\"x\"], "
                              "\"output\": \"h\"}, {\"name\": \"b\", \"kind\": \"sum\", \"inputs\": "
                              "[\"h\"], \"output\": \"y\", \"einsum\": \"mn->m\"}]";

/* A stored split whose coefficient no variable has: of another op, or of another shape. */
static void test_foreign_coefficient(void **state)
{
    (void)state;
    struct stages s;
    struct lx_coeff_splits other = {.output_count = 1, .output = {{1024, 2}}};
    int64_t back[LX_MAX_VARS];
    assert_true(divide_body(&s, two_ops, &(struct lx_divide_options){.cores = 4}));
    assert_true(lx_division_decode(s.layouts, 0, &other, back, &s.st));
    assert_int_equal(back[0], 2);
    assert_false(lx_division_decode(s.layouts, 1, &other, back, &s.st));
    assert_non_null(strstr(s.st.text, "op b: a stored split has a coefficient"));
    free_stages(&s);
}

/* Rows on both sides: alike. The sum over split columns: a part of a sum each, so not. */
static void test_mismatch(void **state)
{
    (void)state;
    struct stages s;
    assert_true(divide_body(&s, two_ops, NULL));
    assert_false(lx_core_div_mismatch(s.divisions, 0, 1, s.layouts->graph->ops[0].output));
    int64_t columns[2] = {2, 16};
    assert_true(replace(&s, 1, columns));
    assert_true(lx_core_div_mismatch(s.divisions, 0, 1, s.layouts->graph->ops[0].output));
    struct lx_core_view sums = lx_division_view(s.divisions, 1, 1);
    assert_true(sums.partial);
    int64_t bad[2] = {3, 1};
    assert_false(replace(&s, 1, bad));
    assert_int_equal(s.st.code, LX_E_DOMAIN);
    free_stages(&s);
}

/* The two ops, each with its hints. */
static void hinted(struct text *t, const char *body, const char *first, const char *second)
{
    const char *a = strstr(body, "\"output\": \"h\""), *b = strstr(body, "\"einsum\"");
    text_format(t, "%.*s\"hints\": %s, %.*s\"hints\": %s, %s", (int)(a - body), body, first, (int)(b - a), a,
                second, b);
}

static void test_bad_hints(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second, *text;
        enum lx_code code;
    } rows[] = {
        {"{\"z\": 2}", "{}", "op a: a split of 'z' into 2 was asked for, but that dimension is not in",
         LX_E_HINT},
        {"{\"a\": 3}", "{}", "op a: a split of 'a' into 3 was asked for, but it is not evenly divisible",
         LX_E_HINT},
        {"{\"rows\": 2}", "{}", "op a: a hint names a dimension by its letter, not \"rows\"", LX_E_HINT},
        {"{\"a\": 0}", "{}", "a split is 0; it must be from 1", LX_E_RANGE},
        {"{\"a\": true}", "{}", "a split must be", LX_E_SCHEMA},
        {"{\"a\": 4, \"a\": 2}", "{}", "stands twice", LX_E_DUPLICATE},
        {"8", "{}", "op a: hints must be an object of splits", LX_E_SCHEMA},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stages s;
        struct text t = {0};
        hinted(&t, two_ops, rows[i].first, rows[i].second);
        assert_false(divide_body(&s, t.at, NULL));
        if (!strstr(s.st.text, rows[i].text) || s.st.code != rows[i].code)
            fail_msg("row %d: %s (%s)", (int)i, s.st.text, lx_code_word(s.st.code));
        free_stages(&s);
        text_free(&t);
    }
}

/* The documented rule: batch, M and N by decreasing size, K only for what is left. */
static void test_matmul_rule(void **state)
{
    (void)state;
    static const struct {
        int64_t m, k, n, cores, m_split, n_split, k_split;
    } rows[] = {
        {1024, 4096, 4096, 32, 32, 1, 1}, /* 1024 rows before 64 sticks */
        {16, 4096, 4096, 32, 1, 32, 1},   /* 64 sticks before 16 rows */
        {16, 4096, 512, 32, 16, 2, 1},    /* 16 rows, then 8 sticks */
        {2, 4096, 128, 32, 2, 2, 8},      /* and K for the rest */
        {1024, 4096, 4096, 1, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int by_rule = 0; by_rule < 2; by_rule++) {
            struct text t = {0};
            struct stages s;
            struct lx_passes passes = {.matmul = by_rule ? LX_MATMUL_RULE : LX_MATMUL_COST};
            struct lx_divide_options how = lx_passes_divide(&passes);
            how.cores = rows[i].cores;
            text_format(&t,
                        "\"tensors\": [{\"name\": \"x\", \"shape\": [%lld, %lld]}, {\"name\": \"w\", "
                        "\"shape\": [%lld, %lld]}, {\"name\": \"y\", \"shape\": [%lld, %lld]}], \"ops\": "
                        "[{\"name\": \"mm\", \"kind\": \"matmul\", \"inputs\": [\"x\", \"w\"], \"output\": "
                        "\"y\", \"einsum\": \"mk,kn->mn\"}]",
                        (long long)rows[i].m, (long long)rows[i].k, (long long)rows[i].k,
                        (long long)rows[i].n, (long long)rows[i].m, (long long)rows[i].n);
            assert_true(divide_body(&s, t.at, &how));
            const struct lx_division *d = &s.divisions->at[s.divisions->count - 1];
            assert_int_equal(d->by_cost, !by_rule);
            bool same = d->splits[0].split == rows[i].m_split && d->splits[1].split == rows[i].n_split &&
                        d->splits[2].split == rows[i].k_split;
            if (by_rule && !same)
                fail_msg("row %d: m/%lld n/%lld k/%lld", (int)i, (long long)d->splits[0].split,
                         (long long)d->splits[1].split, (long long)d->splits[2].split);
            if (i == 0 && !by_rule) assert_false(same);
            free_stages(&s);
            text_free(&t);
        }
}

/* On a device of tiles cores take whole ones: 8 by 8 tiles on 64 cores are one tile each, without hints. */
static void test_tiles(void **state)
{
    static const struct {
        int64_t m, n, m_unit, n_unit;
    } rows[] = {{256, 256, 32, 32}, {48, 256, 16, 32}, {256, 96, 32, 32}, {8, 80, 8, 16}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text t = {0};
        struct stages s;
        struct lx_divide_options how = {.cores = 64};
        text_format(&t,
                    "\"device\": \"tenstorrent\", \"tensors\": [{\"name\": \"x\", \"shape\": [%lld, 64]}, "
                    "{\"name\": \"w\", \"shape\": [64, %lld]}, {\"name\": \"y\", \"shape\": [%lld, %lld]}], "
                    "\"ops\": [{\"name\": \"mm\", \"kind\": \"matmul\", \"inputs\": [\"x\", \"w\"], "
                    "\"output\": \"y\", \"einsum\": \"mk,kn->mn\"}]",
                    (long long)rows[i].m, (long long)rows[i].n, (long long)rows[i].m, (long long)rows[i].n);
        if (!divide_body(&s, t.at, &how)) fail_msg("row %d: %s", (int)i, s.st.text);
        const struct lx_split *m = s.divisions->at[0].splits, *n = m + 1;
        assert_int_equal(m->unit, rows[i].m_unit);
        assert_int_equal(n->unit, rows[i].n_unit);
        assert_int_equal(m->per_core % m->unit, 0);
        assert_int_equal(n->per_core % n->unit, 0);
        if (i == 0) assert_true(m->split == 8 && n->split == 8);
        free_stages(&s);
        text_free(&t);
    }
}

static void test_hints_and_cores(void **state)
{
    (void)state;
    struct stages s;
    struct text t = {0};
    hinted(&t, two_ops, "{\"a\": 4}", "{\"m\": 8, \"n\": 4}");
    assert_true(divide_body(&s, t.at, NULL));
    text_free(&t);
    assert_int_equal(s.divisions->at[0].cores_used, 4);
    assert_int_equal(s.divisions->at[1].cores_used, 32);
    assert_int_equal(s.divisions->at[1].contiguous, 1);
    /* Nor is there another choice for whoever divides anew. */
    struct arena memory = {0};
    struct division_menu m;
    division_menu_make(s.divisions, 1, false, &memory, &m);
    assert_true(m.count == 1 && m.splits[0] == 8 && m.splits[1] == 4);
    arena_free(&memory);
    size_t length;
    char *json = lx_divisions_to_json(s.divisions, &length);
    assert_non_null(json);
    mem_free(json);
    free_stages(&s);
    static const int64_t wrong[] = {-1, 33, 64, INT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct lx_divide_options bad = {.cores = wrong[i]};
        assert_false(divide_body(&s, two_ops, &bad));
        assert_int_equal(s.st.code, LX_E_CORES);
        free_stages(&s);
    }
}

/* No output axis could be cut further with the cores that are there, whoever committed it before. */
static void check_no_axis_can_grow(const struct lx_division *d)
{
    for (int i = 0; i < d->split_count; i++) {
        const struct lx_split *s = &d->splits[i];
        if (s->is_reduction || s->rule == LX_SPLIT_BLOCKED || s->constraint) continue;
        for (int64_t more = s->split + 1; d->cores_used / s->split * more <= d->cores; more++)
            if (s->units % more == 0)
                fail_msg("'%c' of %lld units is cut into %lld, and %lld would do on %lld cores", s->letter,
                         (long long)s->units, (long long)s->split, (long long)more, (long long)d->cores);
    }
}

/* What the span pass commits is a floor: the cores that are left still go to it. 2^28 elements of fp16 need two
 * cores for their span and get all; 192 million on 3 or 5 cores need two, too, and get the next divisor, which is
 * no multiple. */
static void test_span_splits_grow(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        int64_t cores, used;
    } rows[] = {{"268435456", 32, 32}, {"192000000", 3, 3}, {"192000000", 5, 5}, {"4096, 65536", 7, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stages s;
        struct text t = {0};
        struct lx_divide_options how = {.cores = rows[i].cores};
        text_format(&t,
                    "\"tensors\": [{\"name\": \"x\", \"shape\": [%s]}, {\"name\": \"y\", \"shape\": [%s]}], "
                    "\"ops\": [{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": \"y\"}]",
                    rows[i].shape, rows[i].shape);
        if (!divide_body(&s, t.at, &how)) fail_msg("%s: %s", rows[i].shape, s.st.text);
        check_rules(s.divisions, 0);
        check_no_axis_can_grow(&s.divisions->at[0]);
        assert_int_equal(s.divisions->at[0].cores_used, rows[i].used);
        text_free(&t);
        free_stages(&s);
    }
}

/* Every file of a folder on 1 to 32 cores: divided by the rules, or refused with the code it expects. */
static void divide_folder(const char *folder, bool errors)
{
    DIR *dir = opendir(folder);
    int files = 0;
    if (!dir) fail_msg("%s cannot be opened", folder);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        char path[600];
        if (!strstr(e->d_name, ".json")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        for (int64_t cores = errors ? 0 : 1; cores <= (errors ? 0 : 32); cores = cores ? cores * 2 : 1) {
            struct stages s = {0};
            struct lx_divide_options how = {.cores = cores};
            const struct lx_graph *g = lx_graph_read(path, &s.st);
            if (!g && errors) break; /* refused by an earlier stage, which has its own tests */
            assert_non_null(g);
            if (cores > g->device.cores) { /* the pattern's device has no more */
                lx_graph_free(g);
                break;
            }
            if (errors && (!g->expect_stage || strcmp(g->expect_stage, "divide") != 0)) {
                lx_graph_free(g);
                break;
            }
            bool ok = g->list || divide_graph(&s, g, &how);
            s.graph = g;
            if (errors) {
                if (ok || strcmp(lx_code_word(s.st.code), g->expect_code) != 0)
                    fail_msg("%s: got %s", path, ok ? "a division" : lx_code_word(s.st.code));
            } else {
                /* With few cores a large tensor may be beyond the span; at 32 all of these must divide. */
                if (!ok && (cores == 32 || s.st.code != LX_E_SPAN))
                    fail_msg("%s on %lld cores: %s", path, (long long)cores, s.st.text);
                for (int32_t o = 0; ok && s.divisions && o < s.divisions->count; o++)
                    check_rules(s.divisions, o);
            }
            files += cores == 32 || cores == 0;
            free_stages(&s);
        }
    }
    closedir(dir);
    assert_true(files > 0);
}

static void test_patterns(void **state)
{
    (void)state;
    divide_folder(SOURCE_DIR "/patterns/graphs", false);
    divide_folder(SOURCE_DIR "/patterns/targets", false);
    divide_folder(SOURCE_DIR "/patterns/errors", true);
}

/* The generated decode graph divides, and dividing it twice gives the same. */
static void test_decode_graph(void **state)
{
    (void)state;
    const struct lx_generator *gen = lx_generator_find("decode");
    assert_non_null(gen);
    char *json[2];
    size_t length[2];
    for (int i = 0; i < 2; i++) {
        struct stages s = {0};
        int64_t values[32];
        assert_true(gen->option_count <= 32);
        lx_values_default(gen->options, gen->option_count, values);
        assert_true(divide_graph(&s, gen->build(values, &s.st), NULL));
        assert_true(s.divisions->count >= 304);
        for (int32_t o = 0; o < s.divisions->count; o++) check_rules(s.divisions, o);
        json[i] = lx_divisions_to_json(s.divisions, &length[i]);
        assert_non_null(json[i]);
        free_stages(&s);
    }
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(json[0], json[1], length[0]);
    mem_free(json[0]);
    mem_free(json[1]);
}

/* Cores that share a slice of every other row have whole pairs of rows, whichever of two it takes. */
static void test_every_other(void **state)
{
    static const int64_t splits[] = {4, 1};
    (void)state;
    for (int from = 0; from < 3; from++) {
        struct stages s;
        char body[1000];
        snprintf(body, sizeof body,
                 "\"tensors\": [{\"name\": \"x\", \"shape\": [64, 128]}, {\"name\": \"y\", \"shape\": "
                 "[%d, 128]}], \"ops\": [{\"name\": \"a\", \"kind\": \"slice\", \"inputs\": [\"x\"], "
                 "\"output\": \"y\", \"offset\": [%d, 0], \"stride\": [2, 1]}]",
                 from < 2 ? 32 : 28, from);
        assert_true(divide_body(&s, body, NULL));
        assert_true(replace(&s, 0, splits));
        struct lx_core_view v = lx_division_view(s.divisions, 0, 0);
        assert_int_equal(v.representable, from < 2);
        assert_int_equal(v.slices[1], 4);
        free_stages(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_other),  cmocka_unit_test(test_random_ops),
        cmocka_unit_test(test_candidates),   cmocka_unit_test(test_foreign_coefficient),
        cmocka_unit_test(test_mismatch),     cmocka_unit_test(test_hints_and_cores),
        cmocka_unit_test(test_bad_hints),    cmocka_unit_test(test_matmul_rule),
        cmocka_unit_test(test_tiles),        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_decode_graph), cmocka_unit_test(test_span_splits_grow),
    };
    return cmocka_run_group_tests_name("divide", tests, NULL, NULL);
}
