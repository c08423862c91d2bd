/* Every kind of op has a meaning everywhere: on the device, in the reference, in the tolerances, in the manual of
 * patterns. The meanings, written apart on purpose, agree; and no error of operands shows larger than its kind says. */
#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "device/execute/arith.h"
#include "device/memory/dtypes.h"
#include "device/reference/reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const float samples[] = {-8, -2.5f, -1, -0.75f, -0x1p-20f, 0, 0x1p-12f, 0.3f, 1, 1.5f, 3, 11, NAN};
enum { SAMPLES = sizeof samples / sizeof *samples, COUNT = 512 };

static const struct lx_kind *kind_at(int i)
{
    return lx_kind_at((enum lx_kind_id)i);
}

static bool is_by_element(const struct lx_kind *k)
{
    return arith_of(k) && meaning_of(k) && meaning_of(k)->in_float && !(k->traits & LX_CONTRACTS);
}

/* Values of an operand, above 0 where they must be. */
static float sample(const struct lx_kind *k, int operand, int i)
{
    return k->positive >> operand & 1 ? fabsf(samples[i]) + 0.01f : samples[i];
}

/* Both no number, or at most so many units of fp32 apart: units of a number as large as the operand `from`, of which
 * large parts may cancel, or as the result. */
static void assert_near(const struct lx_kind *k, double got, double want, double from, double ulps)
{
    bool same = got == want || (isnan(got) && isnan(want)) ||
                fabs(got - want) <= ulps * 0x1p-23 * fmax(fabs(want), fabs(from));
    if (!same) fail_msg("%s: %.9g, but the reference has %.9g", k->name, got, want);
}

static void rows_are_complete(void **state)
{
    (void)state;
    for (int i = 0; i < LX_KIND_COUNT; i++) {
        const struct lx_kind *k = kind_at(i);
        assert_int_equal((int)k->id, i);
        assert_ptr_equal(lx_kind_find(k->name), k);
        assert_true(strlen(k->help) > 1 && k->ulps >= 0 && (unsigned)k->carry < LX_CARRY_COUNT);
        assert_true(k->least_inputs <= k->most_inputs && k->most_inputs <= LX_MAX_INPUTS);
        if (k->traits & LX_MIXES) {
            assert_null(arith_of(k));
            assert_null(meaning_of(k));
        } else if (!arith_of(k) || !meaning_of(k))
            fail_msg("%s has no %s", k->name,
                     arith_of(k) ? "meaning in the reference" : "arithmetic on the device");
    }
    assert_null(lx_kind_at(LX_KIND_COUNT));
    assert_null(lx_kind_find("unheard of"));
}

/* patterns/README.md has each kind in the table of its section. */
static void manual_names_them(void **state)
{
    (void)state;
    size_t length;
    lx_status st;
    char *text = file_read(SOURCE_DIR "/patterns/README.md", &length, &st), quoted[60];
    assert_non_null(text);
    char *section = strstr(text, "\n## Kinds of ops"), *end = section ? strstr(section + 2, "\n## ") : NULL;
    assert_true(section && end);
    *end = 0;
    for (int i = 0; i < LX_KIND_COUNT; i++) {
        snprintf(quoted, sizeof quoted, "`%s`", kind_at(i)->name);
        if (!strstr(section, quoted)) fail_msg("patterns/README.md has no row for %s", quoted);
    }
    free(text);
}

/* So does the error of a pattern that has none of them. */
static void errors_list_them(void **state)
{
    (void)state;
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": [{\"name\": \"a\", "
        "\"bytes\": 8}, {\"name\": \"b\", \"bytes\": 8}], \"ops\": [{\"name\": \"o\", \"kind\": "
        "\"unheard\", \"inputs\": [\"a\"], \"output\": \"b\"}]}";
    lx_status st = {0};
    char word[60];
    assert_null(lx_graph_parse("t", text, strlen(text), &st));
    assert_int_equal((int)st.code, (int)LX_E_UNKNOWN_KIND);
    for (int i = 0; i < LX_KIND_COUNT; i++) {
        snprintf(word, sizeof word, " %s%s", kind_at(i)->name, i + 1 < LX_KIND_COUNT ? "," : "");
        if (!strstr(st.text, word)) fail_msg("no%s in: %s", word, st.text);
    }
}

/* All triples of samples: the device, the reference, and the reference in double. */
static void elements_agree(void **state)
{
    (void)state;
    for (int kind = 0; kind < LX_KIND_COUNT; kind++) {
        const struct lx_kind *k = kind_at(kind);
        if (!is_by_element(k)) continue;
        for (int n = 0; n < SAMPLES * SAMPLES * SAMPLES; n++) {
            float v[3] = {sample(k, 0, n % SAMPLES), sample(k, 1, n / SAMPLES % SAMPLES),
                          sample(k, 2, n / SAMPLES / SAMPLES)};
            double wide[3] = {(double)v[0], (double)v[1], (double)v[2]};
            float got, want = meaning_of(k)->in_float(v);
            arith_of(k)->row(&got, &v[0], &v[1], &v[2], 1);
            assert_near(k, (double)got, (double)want, wide[0], k->ulps <= 1 ? 0 : k->ulps);
            assert_near(k, (double)want, meaning_of(k)->in_double(wide), wide[0], k->ulps + 8);
        }
    }
}

/* Rows in vectors do as elements one by one. */
static void rows_agree_with_elements(void **state)
{
    (void)state;
    struct rng r = rng_seed(7);
    for (int kind = 0; kind < LX_KIND_COUNT; kind++) {
        const struct lx_kind *k = kind_at(kind);
        float in[3][100], out[101], one;
        if (!is_by_element(k)) continue;
        for (int64_t count = 0; count <= 100; count++) {
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 100; j++) in[i][j] = sample(k, i, (int)rng_below(&r, SAMPLES));
            out[count] = 5;
            arith_of(k)->row(out, in[0], in[1], in[2], count);
            assert_true(out[count] == 5);
            for (int64_t j = 0; j < count; j++) {
                arith_of(k)->row(&one, &in[0][j], &in[1][j], &in[2][j], 1);
                assert_near(k, (double)out[j], (double)one, (double)in[0][j], k->ulps <= 1 ? 0 : k->ulps);
            }
        }
    }
}

static double folded(const struct meaning_fold *f, const float *row, int64_t count)
{
    double pair[2] = {f->start, 0};
    for (int64_t i = 0; i < count; i++) {
        pair[1] = (double)row[i];
        pair[0] = f->in_double(pair);
    }
    return pair[0];
}

/* Reductions of rows of any length, whole and in two parts that are joined. */
static void folds_agree(void **state)
{
    (void)state;
    struct rng r = rng_seed(8);
    for (int kind = 0; kind < LX_KIND_COUNT; kind++) {
        const struct lx_kind *k = kind_at(kind);
        if (!(k->traits & (LX_REDUCES | LX_CONTRACTS)) || !arith_of(k) || !meaning_of(k)) continue;
        const struct reduction *device = arith_of(k)->sum;
        const struct meaning_fold *fold = meaning_of(k)->fold;
        assert_true((double)device->neutral == fold->start && device->divides == fold->divides);
        for (int64_t count = 0; count < 300; count++) {
            float row[300], left, right;
            for (int64_t i = 0; i < count; i++) row[i] = (float)rng_between(&r, -64, 64) * 0x1p-6f;
            if (count > 3 && count % 8 == 0) row[2] = NAN;
            int64_t cut = (int64_t)rng_below(&r, (uint64_t)count + 1);
            left = device->row(row, cut);
            right = device->row(row + cut, count - cut);
            device->join(&left, &right, 1);
            /* The samples are so short that every order of summation is exact. */
            assert_near(k, (double)device->row(row, count), folded(fold, row, count), 0, 0);
            assert_near(k, (double)left, folded(fold, row, count), 0, 0);
        }
    }
}

/* ---- tolerances ---- */

/* The one op of a graph: its key besides kind and operands, and the shapes of what differs. */
struct form {
    const char *more, *second, *result;
};

static struct form form_of(const struct lx_kind *k, bool folds)
{
    static const struct form product = {", \"einsum\": \"ak,kb->ab\"", "[64, 8]", "[8, 8]"},
                             fold = {", \"einsum\": \"ab->a\"", "[8, 64]", "[8]"},
                             view = {", \"offset\": [0, 0]", "[8, 64]", "[8, 64]"},
                             plain = {"", "[8, 64]", "[8, 64]"};
    return k->traits & LX_CONTRACTS ? product : folds ? fold : k->traits & LX_VIEW ? view : plain;
}

/* A graph of one op of this kind: element by element, or along the last index, or a product. All is fp32. */
static const struct lx_graph *graph_of(const struct lx_kind *k, bool folds)
{
    const struct form f = form_of(k, folds);
    static const char *const inputs[] = {"", "\"a\"", "\"a\", \"b\"", "\"a\", \"b\", \"c\""};
    const char *all = inputs[folds && !(k->traits & LX_CONTRACTS) ? 1 : k->most_inputs];
    struct text t = {0};
    text_add(&t, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": [");
    for (const char *name = "abcy"; *name; name++)
        text_format(&t, "%s{\"name\": \"%c\", \"dtype\": \"fp32\", \"shape\": %s}", *name == 'a' ? "" : ", ",
                    *name,
                    *name == 'b'   ? f.second
                    : *name == 'y' ? f.result
                                   : "[8, 64]");
    text_format(&t,
                "], \"ops\": [{\"name\": \"o\", \"kind\": \"%s\", \"inputs\": [%s], \"output\": \"y\"%s}, ",
                k->name, all, f.more);
    text_add(&t, "{\"name\": \"rest\", \"kind\": \"generic\", \"inputs\": [\"a\", \"b\", \"c\"], \"output\": "
                 "\"y\"}]}");
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_parse("t", t.at, t.length, &st);
    if (!g) fail_msg("%s: %s", k->name, st.text);
    text_free(&t);
    return g;
}

static struct reference_value value_of(const float *items, int64_t count, double tolerance)
{
    struct reference_value v = {
        .count = count, .dtype = LX_FP32, .tolerance = tolerance, .smallest = INFINITY};
    for (int64_t i = 0; i < count; i++) {
        double x = fabs((double)items[i]);
        if (x > v.largest) v.largest = x;
        if (x < v.smallest) v.smallest = x;
        v.rms += x * x / (double)count;
    }
    v.rms = sqrt(v.rms);
    return v;
}

/* What the op makes of its operands, in double: `out` has 512, 8 or 64 elements. */
static int64_t evaluate(const struct lx_kind *k, bool reduces, float (*in)[COUNT], float *out)
{
    const struct meaning *m = meaning_of(k);
    bool product = k->traits & LX_CONTRACTS;
    int64_t count = product ? 64 : reduces ? 8 : COUNT;
    for (int64_t n = 0; n < count; n++) {
        double v[3] = {(double)in[0][n], (double)in[1][n], (double)in[2][n]}, pair[2];
        if (!product && !reduces) {
            out[n] = (float)m->in_double(v);
            continue;
        }
        pair[0] = m->fold->start;
        for (int64_t i = 0; i < 64; i++) {
            double ab[2] = {(double)in[0][(product ? n / 8 : n) * 64 + i], (double)in[1][i * 8 + n % 8]};
            pair[1] = product ? m->in_double(ab) : ab[0];
            pair[0] = m->fold->in_double(pair);
        }
        out[n] = (float)(m->fold->divides ? pair[0] / 64 : pair[0]);
    }
    return count;
}

/* Operands that are off by as much as their tolerance make a result that is off by no more than its own. Bounds go by
 * derivatives: what is of second order, a little is granted for. */
static void check_carry(const struct lx_kind *k, bool reduces, double off, struct rng *r)
{
    static float in[3][COUNT], moved[3][COUNT], out[COUNT], other[COUNT];
    const struct lx_graph *g = graph_of(k, reduces);
    struct reference_value values[3], result;
    const struct reference_value *inputs[3] = {&values[0], &values[1], &values[2]};
    for (int i = 0; i < 3; i++) {
        for (int n = 0; n < COUNT; n++) {
            in[i][n] = (float)rng_between(r, -200, 200) * 0.01f;
            if (k->positive >> i & 1) in[i][n] = fabsf(in[i][n]) + 0.5f;
            if (k->carry == LX_CARRY_CHOICE && i == 0) in[i][n] = (float)rng_below(r, 2);
            moved[i][n] = in[i][n] + (rng_below(r, 2) ? 1 : -1) * (float)off;
        }
        values[i] = value_of(in[i], COUNT, off);
    }
    int64_t count = evaluate(k, reduces, in, out);
    evaluate(k, reduces, moved, other);
    result = value_of(out, count, 0);
    double tolerance = tolerance_of(&g->ops[0], inputs, 0, &result), worst = 0;
    for (int64_t n = 0; n < count; n++) {
        double difference = fabs((double)other[n] - (double)out[n]);
        if (!(difference <= worst)) worst = difference;
    }
    if (!(worst <= 1.02 * tolerance)) fail_msg("%s: off by %g, but %g is allowed", k->name, worst, tolerance);
    if (off == 0 && k->ulps == 0) assert_true(tolerance == 0);
    if (off == 0) assert_true(tolerance <= 1e-5 * (1 + result.largest));
    lx_graph_free(g);
}

static void errors_are_carried(void **state)
{
    (void)state;
    struct rng r = rng_seed(9);
    for (int kind = 0; kind < LX_KIND_COUNT; kind++) {
        const struct lx_kind *k = kind_at(kind);
        if (!meaning_of(k)) continue;
        bool folds = k->traits & (LX_REDUCES | LX_CONTRACTS);
        for (int round = 0; round < 20; round++)
            for (double off = 0; off < 0.01; off = off * 8 + 0.0005) {
                if (is_by_element(k)) check_carry(k, false, off, &r);
                if (folds) check_carry(k, true, off, &r);
            }
    }
}

/* ---- what is not known ---- */

static void unknown_kinds_are_refused(void **state)
{
    (void)state;
    struct lx_kind fresh = *lx_kind_at(LX_KIND_TANH);
    const struct lx_graph *g = graph_of(lx_kind_at(LX_KIND_TANH), false);
    struct lx_graph changed = *g;
    struct lx_op ops[2] = {g->ops[0], g->ops[1]};
    lx_status st = {0};
    fresh.id = LX_KIND_COUNT;
    fresh.name = "softest";
    ops[0].kind = &fresh;
    changed.ops = ops;
    assert_true(arith_known(g, &st) && meanings_known(g, &st));
    assert_false(arith_known(&changed, &st));
    assert_int_equal((int)st.code, (int)LX_E_UNSUPPORTED);
    assert_non_null(strstr(st.text, "op o: the device has no arithmetic for the kind softest"));
    assert_null(lx_reference_make(&changed, 1, 1, &st));
    assert_non_null(strstr(st.text, "what the kind softest computes"));
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),        cmocka_unit_test(manual_names_them),
        cmocka_unit_test(errors_list_them),         cmocka_unit_test(elements_agree),
        cmocka_unit_test(rows_agree_with_elements), cmocka_unit_test(folds_agree),
        cmocka_unit_test(errors_are_carried),       cmocka_unit_test(unknown_kinds_are_refused),
    };
    return cmocka_run_group_tests_name("kinds", tests, NULL, NULL);
}
