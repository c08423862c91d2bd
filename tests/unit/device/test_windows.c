/* Windows on the whole way: patterns with windows drawn at random (strides, dilations that may be negative, pads that may
 * cut, holes, groups, any order of dimensions) are planned, checked and run, and the device's outputs compared with loops
 * that know nothing but the formula of patterns/README.md. Operands are small whole numbers, so that sums are exact. */
#include "base/rng.h"
#include "base/text.h"
#include "base/memory.h"
#include "device/device.h"
#include "device/memory/dtypes.h"
#include "support/sampled.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { TRIALS = OFTEN(100), MOST_DIMS = 8, LETTERS = 128 };

struct slid {
    char in, out, tap;
    int64_t stride, dilation, pad, hole;
    bool count_all;
};

struct trial {
    const char *kind;
    enum lx_dtype type;
    char operand[3][MOST_DIMS + 1]; /* letters of x, of w (empty: none), of y */
    int64_t extent[LETTERS];
    int windows;
    struct slid window[2];
    char summed[LETTERS];
    double *data[2], *got;
};

static bool is_product(const struct trial *t)
{
    return strcmp(t->kind, "matmul") == 0;
}

static void shuffle(char *letters, struct rng *rng)
{
    for (size_t n = strlen(letters); n > 1; n--) {
        size_t k = (size_t)rng_below(rng, n);
        char keep = letters[k];
        letters[k] = letters[n - 1];
        letters[n - 1] = keep;
    }
}

static void draw_window(struct trial *t, int i, struct rng *rng)
{
    struct slid *w = &t->window[i];
    *w = (struct slid){.in = "hw"[i], .out = "pq"[i], .tap = "kl"[i]};
    w->stride = 1 + (int64_t)rng_below(rng, 3);
    w->dilation =
        (int64_t)rng_below(rng, 4) ? 1 + (int64_t)rng_below(rng, 2) : -1 - (int64_t)rng_below(rng, 2);
    w->pad = (int64_t)rng_below(rng, 6) - 2;
    w->hole = (int64_t)rng_below(rng, 3) ? 1 : 1 + (int64_t)rng_below(rng, 3);
    w->count_all = strcmp(t->kind, "mean") == 0 && (int64_t)rng_below(rng, 2);
    t->extent[(int)w->in] = 1 + (int64_t)rng_below(rng, rng_below(rng, 2) ? 9 : 33);
    t->extent[(int)w->out] = 1 + (int64_t)rng_below(rng, rng_below(rng, 2) ? 6 : 17);
    t->extent[(int)w->tap] = 1 + (int64_t)rng_below(rng, 4);
}

/* Letters of one element may be left out of all operands. */
static void add_letter(struct trial *t, int operand, char letter, bool drop)
{
    size_t n = strlen(t->operand[operand]);
    if (drop && t->extent[(int)letter] == 1) return;
    t->operand[operand][n] = letter;
}

static void draw(struct trial *t, struct rng *rng)
{
    static const char *const kinds[] = {"matmul", "matmul", "sum", "max", "min", "mean"};
    static const enum lx_dtype types[] = {LX_FP32, LX_FP32, LX_FP64, LX_INT32};
    memset(t, 0, sizeof *t);
    t->type = types[rng_below(rng, 4)];
    t->kind = kinds[rng_below(rng, t->type == LX_INT32 ? 5 : 6)];
    t->windows = 1 + (int)rng_below(rng, 2);
    bool grouped = (int64_t)rng_below(rng, 2), drop = (int64_t)rng_below(rng, 2);
    bool channels = !is_product(t) || rng_below(rng, 4);
    t->extent['n'] = 1 + (int64_t)rng_below(rng, 4);
    t->extent['g'] = 1 + (int64_t)rng_below(rng, 5);
    t->extent['c'] = (int64_t)rng_below(rng, 2) ? 1 + (int64_t)rng_below(rng, 5) : 64;
    t->extent['o'] = (int64_t)rng_below(rng, 2) ? 1 + (int64_t)rng_below(rng, 5) : 64;
    add_letter(t, 0, 'n', false);
    if (channels) add_letter(t, 0, 'c', false);
    add_letter(t, 2, 'n', false);
    if (is_product(t)) {
        add_letter(t, 1, 'o', false);
        add_letter(t, 2, 'o', false);
        if (channels) add_letter(t, 1, 'c', false), strcat(t->summed, "c");
    } else
        add_letter(t, 2, 'c', false);
    for (int i = 0; grouped && i < 3; i++)
        if (i != 1 || is_product(t)) add_letter(t, i, 'g', false);
    for (int i = 0; i < t->windows; i++) {
        draw_window(t, i, rng);
        add_letter(t, 0, t->window[i].in, drop);
        if (is_product(t)) add_letter(t, 1, t->window[i].tap, drop);
        add_letter(t, 2, t->window[i].out, drop);
        t->summed[strlen(t->summed)] = t->window[i].tap;
    }
    for (int i = 0; i < 3; i++) shuffle(t->operand[i], rng);
}

static int64_t elements(const struct trial *t, int operand)
{
    int64_t n = 1;
    for (const char *p = t->operand[operand]; *p; p++) n *= t->extent[(int)*p];
    return n;
}

static void write_tensor(struct text *s, const struct trial *t, const char *name, const char *letters,
                         const char *role)
{
    text_format(s, "%s{\"name\": \"%s\", \"dtype\": \"%s\", \"shape\": [", strcmp(name, "x") == 0 ? "" : ", ",
                name, lx_dtype_word(t->type));
    for (const char *p = letters; *p; p++)
        text_format(s, "%s%lld", p == letters ? "" : ", ", (long long)t->extent[(int)*p]);
    text_format(s, "]%s%s%s}", *role ? ", \"role\": \"" : "", role, *role ? "\"" : "");
}

static bool letter_given(const struct trial *t, char letter)
{
    return strchr(t->operand[0], letter) || strchr(t->operand[1], letter) || strchr(t->operand[2], letter);
}

/* x is copied first and y negated, so that both can be on chip. */
static char *pattern_of(const struct trial *t)
{
    struct text s = {0};
    text_add(&s,
             "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"device\": \"spyre\", \"tensors\": [");
    write_tensor(&s, t, "x", t->operand[0], "input");
    write_tensor(&s, t, "x2", t->operand[0], "");
    if (is_product(t)) write_tensor(&s, t, "w", t->operand[1], "weight");
    write_tensor(&s, t, "y", t->operand[2], "");
    write_tensor(&s, t, "z", t->operand[2], "output");
    text_format(&s,
                "], \"ops\": [{\"name\": \"a\", \"kind\": \"neg\", \"inputs\": [\"x\"], \"output\": \"x2\"}, "
                "{\"name\": \"b\", \"kind\": \"%s\", \"inputs\": [\"x2\"%s], \"output\": \"y\", "
                "\"einsum\": \"%s%s%s->%s\", \"windows\": [",
                t->kind, is_product(t) ? ", \"w\"" : "", t->operand[0], is_product(t) ? "," : "",
                is_product(t) ? t->operand[1] : "", t->operand[2]);
    for (int i = 0; i < t->windows; i++) {
        const struct slid *w = &t->window[i];
        text_format(&s, "%s{\"in\": \"%c\", \"out\": \"%c\", \"tap\": \"%c\"", i ? ", " : "", w->in, w->out,
                    w->tap);
        if (!letter_given(t, w->tap)) text_format(&s, ", \"size\": %lld", (long long)t->extent[(int)w->tap]);
        text_format(&s, ", \"stride\": %lld, \"dilation\": %lld, \"pad\": %lld, \"hole\": %lld%s}",
                    (long long)w->stride, (long long)w->dilation, (long long)w->pad, (long long)w->hole,
                    w->count_all ? ", \"count_all\": true" : "");
    }
    text_add(&s, "]}, {\"name\": \"c\", \"kind\": \"neg\", \"inputs\": [\"y\"], \"output\": \"z\"}]}");
    return s.at;
}

static int64_t place(const struct trial *t, int operand, const int64_t *index)
{
    int64_t at = 0;
    for (const char *p = t->operand[operand]; *p; p++) at = at * t->extent[(int)*p] + index[(int)*p];
    return at;
}

/* Sets the input's indices; false: the tap lies nowhere. */
static bool inside(const struct trial *t, int64_t *index)
{
    for (int i = 0; i < t->windows; i++) {
        const struct slid *w = &t->window[i];
        int64_t at = w->stride * index[(int)w->out] + w->dilation * index[(int)w->tap] - w->pad;
        if (at < 0 || at % w->hole != 0 || at / w->hole >= t->extent[(int)w->in]) return false;
        index[(int)w->in] = at / w->hole;
    }
    return true;
}

static bool next(const struct trial *t, const char *letters, int64_t *index)
{
    for (size_t k = strlen(letters); k-- > 0;) {
        if (++index[(int)letters[k]] < t->extent[(int)letters[k]]) return true;
        index[(int)letters[k]] = 0;
    }
    return false;
}

/* Does a mean count the terms of this index? */
static bool counts(const struct trial *t, const int64_t *index)
{
    for (int i = 0; i < t->windows; i++) {
        struct trial one = *t;
        int64_t own[LETTERS];
        memcpy(own, index, sizeof own);
        one.windows = 1;
        one.window[0] = t->window[i];
        if (!t->window[i].count_all && !inside(&one, own)) return false;
    }
    return true;
}

static double fold(const char *kind, double a, double b)
{
    return strcmp(kind, "max") == 0 ? fmax(a, b) : strcmp(kind, "min") == 0 ? fmin(a, b) : a + b;
}

/* A window that is outside as a whole leaves the end of the type; the least integer is its own negative. */
static double stored(enum lx_dtype type, double x)
{
    if (type == LX_FP32) return (double)(float)x;
    return type == LX_FP64 || isfinite(x) ? x : x > 0 ? 0x1p31 - 1 : 0x1p31;
}

static double naive(const struct trial *t, int64_t *index)
{
    double sum = strcmp(t->kind, "max") == 0 ? -INFINITY : strcmp(t->kind, "min") == 0 ? INFINITY : 0;
    int64_t counted = 0;
    do {
        counted += counts(t, index);
        if (!inside(t, index)) continue;
        double term = -t->data[0][place(t, 0, index)];
        if (is_product(t)) term *= t->data[1][place(t, 1, index)];
        sum = fold(t->kind, sum, term);
    } while (next(t, t->summed, index));
    double part = t->type == LX_FP64 ? 1 / (double)counted : (double)(1 / (float)counted);
    if (strcmp(t->kind, "mean") == 0) sum = counted ? sum * part : 0;
    return -stored(t->type, sum);
}

static void put(void *context, int32_t tensor, void *items)
{
    const struct trial *t = context;
    int which = tensor == 0 ? 0 : 1; /* tensors of the pattern: x, x2, w, ... */
    items_narrow(&number_types[t->type], t->data[which], elements(t, which), items);
}

static void take(void *context, int32_t tensor, const void *items)
{
    struct trial *t = context;
    (void)tensor;
    items_widen(&number_types[t->type], items, elements(t, 2), t->got);
}

static void compare(const struct trial *t, const char *text)
{
    int64_t index[LETTERS] = {0};
    do {
        double want = naive(t, index), got = t->got[place(t, 2, index)];
        if (got != want)
            fail_msg("%g, but it is %g at %lld of %s", got, want, (long long)place(t, 2, index), text);
    } while (next(t, t->operand[2], index));
}

/* What is written reads back as the same. */
static void comes_back(const struct lx_graph *g)
{
    size_t length;
    lx_status st = {0};
    char *json = lx_graph_to_json(g, &length);
    const struct lx_graph *again = lx_graph_of_text("t", json, length, &st);
    assert_non_null(again);
    assert_true(again->hash == g->hash);
    lx_graph_free(again);
    mem_free(json);
}

static void fill(struct trial *t, struct rng *rng)
{
    for (int i = 0; i < 2; i++) {
        int64_t n = i == 0 || is_product(t) ? elements(t, i) : 0;
        t->data[i] = mem_zeroed((size_t)n + 1, sizeof(double));
        for (int64_t k = 0; k < n; k++) t->data[i][k] = (double)((int64_t)rng_below(rng, 17) - 8);
    }
    t->got = mem_zeroed((size_t)elements(t, 2) + 1, sizeof(double));
}

static void one_trial(struct rng *rng)
{
    struct trial t;
    lx_status st = {0};
    draw(&t, rng);
    fill(&t, rng);
    char *text = pattern_of(&t);
    const struct lx_graph *g = lx_graph_of_text("t", text, strlen(text), &st);
    if (!g) fail_msg("%s: %s", st.text, text);
    comes_back(g);
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s: %s", st.text, text);
    if (!lx_plan_check(p, &st)) fail_msg("%s: %s", st.text, text);
    struct lx_device_options run = {.verify = LX_VERIFY_FULL, .input = put, .output = take, .context = &t};
    struct lx_run_result *r = lx_device_run(p, &run, &st);
    if (!r) fail_msg("%s: %s", st.text, text);
    if (!r->ok)
        fail_msg("%s: %s", r->fault_count ? r->faults[0].text : r->unequal ? r->unequal : "wrong", text);
    compare(&t, text);
    lx_run_result_free(r);
    lx_plan_free(p);
    lx_graph_free(g);
    mem_free(text);
    for (int i = 0; i < 2; i++) mem_free(t.data[i]);
    mem_free(t.got);
}

static void run_as_their_formula(void **state)
{
    (void)state;
    struct rng rng = rng_seed(11);
    for (int i = 0; i < TRIALS; i++) one_trial(&rng);
}

static void refused(const char *einsum, const char *window, const char *word)
{
    char text[1200];
    lx_status st = {0};
    snprintf(text, sizeof text,
             "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": ["
             "{\"name\": \"x\", \"shape\": [4, 8]}, {\"name\": \"w\", \"shape\": [3, 8]}, "
             "{\"name\": \"y\", \"shape\": [4, 8]}], \"ops\": [{\"name\": \"o\", \"kind\": \"matmul\", "
             "\"inputs\": [\"x\", \"w\"], \"output\": \"y\", \"einsum\": \"%s\", \"windows\": [%s]}]}",
             einsum, window);
    const struct lx_graph *g = lx_graph_of_text("t", text, strlen(text), &st);
    if (g || !strstr(st.text, word)) fail_msg("%s %s: %s", einsum, window, g ? "accepted" : st.text);
}

static void wrong_ones_are_refused(void **state)
{
    (void)state;
    refused("ha,ka->pa", "{\"in\": \"h\", \"out\": \"p\", \"tap\": \"k\", \"size\": 2}", "size");
    refused("ha,ka->pa", "{\"in\": \"a\", \"out\": \"p\", \"tap\": \"k\"}", "in");
    refused("ha,ka->pa", "{\"in\": \"h\", \"out\": \"a\", \"tap\": \"k\"}", "out");
    refused("ha,ka->pa", "{\"in\": \"h\", \"out\": \"p\", \"tap\": \"a\"}", "tap");
    refused("ha,ka->pa", "{\"in\": \"h\", \"out\": \"p\", \"tap\": \"z\"}", "size");
    refused("ha,ka->pa", "{\"in\": \"h\", \"out\": \"p\", \"tap\": \"k\", \"dilation\": 0}", "dilation");
    refused("ha,ka->pa", "{\"in\": \"h\", \"out\": \"p\", \"tap\": \"k\", \"pad\": 9007199254740991}",
            "2^30");
    refused("ha,ka->pa", "{\"in\": \"hh\", \"out\": \"p\", \"tap\": \"k\"}", "letter");
    refused("ha,ka->pa", "", "windows");
    refused(
        "ha,ka->pa",
        "{\"in\": \"h\", \"out\": \"p\", \"tap\": \"k\"}, {\"in\": \"x\", \"out\": \"y\", \"tap\": \"z\", "
        "\"size\": 1073741824}, {\"in\": \"u\", \"out\": \"v\", \"tap\": \"w\", \"size\": 1073741824}",
        "2^60");
    refused(
        "ha,ka->pa",
        "{\"in\": \"h\", \"out\": \"p\", \"tap\": \"k\"}, {\"in\": \"h\", \"out\": \"p\", \"tap\": \"k\"}",
        "letter");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_as_their_formula),
        cmocka_unit_test(wrong_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
