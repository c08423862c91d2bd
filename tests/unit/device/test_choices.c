/* Ops that choose by indices and ops that order, on the whole way: small patterns are planned, checked and run, written and
 * read back, and what they leave is compared with numbers that were worked out by hand from patterns/README.md. */
#include "device/device.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 16, TENSORS = 6 };

/* A tensor: what it has before, and what it must have in the end. */
struct expected_tensor {
    const char *name, *shape, *dtype, *role;
    double before[MOST], after[MOST];
    int count;
};

struct lookup {
    const char *ops;
    struct expected_tensor tensors[TENSORS];
};

#define X_4x2                                                                                                \
    {                                                                                                        \
        "x", "[4, 2]", "fp32", "input", {1, 2, 3, 4, 5, 6, 7, 8}, {0}, 8                                     \
    }
#define STATE_4x2(...)                                                                                       \
    {                                                                                                        \
        "s", "[4, 2]", "fp32", "state", {1, 2, 3, 4, 5, 6, 7, 8}, {__VA_ARGS__}, 8                           \
    }

static const struct lookup lookups[] = {
    /* Indices outside are clamped. */
    {"{\"name\": \"g\", \"kind\": \"gather\", \"inputs\": [\"x\", \"i\"], \"output\": \"y\", \"axis\": 0, "
     "\"einsum\": \"vd,t->td\"}",
     {X_4x2,
      {"i", "[3]", "int32", "input", {2, -5, 100}, {0}, 3},
      {"y", "[3, 2]", "fp32", "output", {0}, {5, 6, 1, 2, 7, 8}, 6}}},
    /* A letter that table and index share goes along. */
    {"{\"name\": \"g\", \"kind\": \"gather\", \"inputs\": [\"x\", \"i\"], \"output\": \"y\", \"axis\": 1, "
     "\"einsum\": \"bv,bt->tb\"}",
     {X_4x2,
      {"i", "[4, 2]", "int64", "input", {0, 1, 1, 1, 1, 0, 0, 0}, {0}, 8},
      {"y", "[2, 4]", "fp32", "output", {0}, {1, 4, 6, 7, 2, 4, 5, 7}, 8}}},
    /* Two axes, counted by the last dimension of the index. */
    {"{\"name\": \"g\", \"kind\": \"gather\", \"inputs\": [\"x\", \"i\"], \"output\": \"y\", \"axes\": [1, "
     "0], "
     "\"einsum\": \"vd,tk->t\"}",
     {X_4x2,
      {"i", "[3, 2]", "int32", "input", {0, 3, 1, 0, 1, 2}, {0}, 6},
      {"y", "[3]", "fp32", "output", {0}, {7, 2, 6}, 3}}},
    /* Two rows from place 3 on would leave the tensor: they begin at 2. */
    {"{\"name\": \"g\", \"kind\": \"dynamic_slice\", \"inputs\": [\"x\", \"i\"], \"output\": \"y\", "
     "\"axes\": "
     "[0], \"einsum\": \"vd,o->wd\"}",
     {X_4x2,
      {"i", "[1]", "int32", "input", {3}, {0}, 1},
      {"y", "[2, 2]", "fp32", "output", {0}, {5, 6, 7, 8}, 4}}},
    /* What reads above the insert sees what was there; what reads below it, the new. */
    {"{\"name\": \"old\", \"kind\": \"neg\", \"inputs\": [\"s\"], \"output\": \"a\"},"
     "{\"name\": \"put\", \"kind\": \"dynamic_insert\", \"inputs\": [\"s\", \"p\", \"i\"], \"output\": "
     "\"s\", "
     "\"inplace\": 0, \"axes\": [0], \"einsum\": \"vd,d,o->vd\"},"
     "{\"name\": \"new\", \"kind\": \"neg\", \"inputs\": [\"s\"], \"output\": \"b\"}",
     {STATE_4x2(1, 2, 20, 21, 5, 6, 7, 8),
      {"p", "[2]", "fp32", "input", {20, 21}, {0}, 2},
      {"i", "[1]", "int32", "input", {1}, {0}, 1},
      {"a", "[4, 2]", "fp32", "output", {0}, {-1, -2, -3, -4, -5, -6, -7, -8}, 8},
      {"b", "[4, 2]", "fp32", "output", {0}, {-1, -2, -20, -21, -5, -6, -7, -8}, 8}}},
    /* Where it begins may be known. */
    {"{\"name\": \"put\", \"kind\": \"dynamic_insert\", \"inputs\": [\"s\", \"p\"], \"output\": \"s\", "
     "\"inplace\": 0, \"axes\": [1, 0], \"low\": [1, 2], \"einsum\": \"vd,w->vd\"}",
     {STATE_4x2(1, 2, 3, 4, 5, 20, 7, 21), {"p", "[2]", "fp32", "input", {20, 21}, {0}, 2}}},
    /* Of equal indices the last replaces, one outside is skipped. */
    {"{\"name\": \"put\", \"kind\": \"scatter\", \"inputs\": [\"s\", \"i\", \"p\"], \"output\": \"s\", "
     "\"inplace\": 0, \"axis\": 0, \"einsum\": \"vd,t,td->vd\"}",
     {STATE_4x2(1, 2, 14, 15, 5, 6, 7, 8),
      {"i", "[3]", "int32", "input", {1, 4, 1}, {0}, 3},
      {"p", "[3, 2]", "fp32", "input", {10, 11, 12, 13, 14, 15}, {0}, 6}}},
    /* Another result: the input stays as it is. */
    {"{\"name\": \"put\", \"kind\": \"scatter\", \"inputs\": [\"x\", \"i\", \"p\"], \"output\": \"y\", "
     "\"axis\": 0, \"combine\": \"add\", \"einsum\": \"vd,t,td->vd\"}",
     {X_4x2,
      {"i", "[3]", "int32", "input", {1, -1, 1}, {0}, 3},
      {"p", "[3, 2]", "fp32", "input", {10, 11, 12, 13, 14, 15}, {0}, 6},
      {"y", "[4, 2]", "fp32", "output", {0}, {1, 2, 27, 30, 5, 6, 7, 8}, 8}}},
    /* Of equal ones the first comes first. */
    {"{\"name\": \"top\", \"kind\": \"topk\", \"inputs\": [\"z\"], \"outputs\": [\"y\", \"w\"], \"axis\": 1, "
     "\"k\": 2, \"einsum\": \"bv->bk\"}",
     {{"z", "[2, 4]", "fp32", "input", {3, 9, 9, 1, -2, -7, -1, -4}, {0}, 8},
      {"y", "[2, 2]", "fp32", "output", {0}, {9, 9, -1, -2}, 4},
      {"w", "[2, 2]", "int32", "output", {0}, {1, 2, 2, 0}, 4}}},
    {"{\"name\": \"all\", \"kind\": \"sort\", \"inputs\": [\"z\"], \"outputs\": [\"y\", \"w\"], \"axis\": 0, "
     "\"einsum\": \"vb->vb\"}",
     {{"z", "[4, 2]", "fp32", "input", {3, -2, 9, -7, 3, -1, 1, -4}, {0}, 8},
      {"y", "[4, 2]", "fp32", "output", {0}, {1, -7, 3, -4, 3, -2, 9, -1}, 8},
      {"w", "[4, 2]", "int32", "output", {0}, {3, 1, 0, 3, 2, 0, 1, 2}, 8}}},
    /* The largest and where it is; of equal ones the first. */
    {"{\"name\": \"m\", \"kind\": \"max\", \"inputs\": [\"z\"], \"outputs\": [\"y\", \"w\"], \"einsum\": "
     "\"ab->a\"}",
     {{"z", "[2, 4]", "fp32", "input", {3, 9, 3, 9, -1, -7, -1, -2}, {0}, 8},
      {"y", "[2]", "fp32", "output", {0}, {9, -1}, 2},
      {"w", "[2]", "int32", "output", {0}, {1, 0}, 2}}},
    {"{\"name\": \"all\", \"kind\": \"sort_index\", \"inputs\": [\"z\"], \"output\": \"w\", \"axis\": 0, "
     "\"descending\": true, \"einsum\": \"v->v\"}",
     {{"z", "[4]", "fp32", "input", {3, 9, 3, 1}, {0}, 4},
      {"w", "[4]", "int32", "output", {0}, {1, 0, 2, 3}, 4}}},
};

struct run {
    const struct lookup *l;
    const struct lx_graph *g;
    int seen;
};

static const struct expected_tensor *tensor_of(const struct run *r, int32_t tensor)
{
    for (int i = 0; i < TENSORS && r->l->tensors[i].name; i++)
        if (strcmp(r->l->tensors[i].name, r->g->tensors[tensor].name) == 0) return &r->l->tensors[i];
    fail_msg("%s is not in the table", r->g->tensors[tensor].name);
    return NULL;
}

static void put(void *context, int32_t tensor, void *items)
{
    const struct expected_tensor *t = tensor_of(context, tensor);
    for (int i = 0; i < t->count; i++)
        if (t->dtype[0] == 'f')
            ((float *)items)[i] = (float)t->before[i];
        else if (strcmp(t->dtype, "int64") == 0)
            ((int64_t *)items)[i] = (int64_t)t->before[i];
        else
            ((int32_t *)items)[i] = (int32_t)t->before[i];
}

static void take(void *context, int32_t tensor, const void *items)
{
    struct run *r = context;
    const struct expected_tensor *t = tensor_of(r, tensor);
    r->seen++;
    for (int i = 0; i < t->count; i++) {
        double got = t->dtype[0] == 'f' ? (double)((const float *)items)[i] : ((const int32_t *)items)[i];
        if (got != t->after[i]) fail_msg("%s[%d] is %g, not %g: %s", t->name, i, got, t->after[i], r->l->ops);
    }
}

static const struct lx_graph *graph_of(const struct lookup *l)
{
    char text[4000];
    int n =
        snprintf(text, sizeof text, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": [");
    for (int i = 0; i < TENSORS && l->tensors[i].name; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "%s{\"name\": \"%s\", \"shape\": %s, \"dtype\": \"%s\", \"role\": \"%s\"}",
                      i ? ", " : "", l->tensors[i].name, l->tensors[i].shape, l->tensors[i].dtype,
                      l->tensors[i].role);
    n += snprintf(text + n, sizeof text - (size_t)n, "], \"ops\": [%s]}", l->ops);
    lx_status st;
    const struct lx_graph *g = lx_graph_of_text("t", text, (size_t)n, &st);
    if (!g) fail_msg("%s: %s", st.text, l->ops);
    return g;
}

/* Written and read back it is the same. */
static void comes_back(const struct lx_graph *g)
{
    size_t length;
    lx_status st;
    char *json = lx_graph_to_json(g, &length);
    assert_non_null(json);
    const struct lx_graph *again = lx_graph_of_text("t", json, length, &st);
    if (!again) fail_msg("%s: %s", st.text, json);
    assert_true(again->hash == g->hash);
    lx_graph_free(again);
    mem_free(json);
}

static void they_give_what_was_worked_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lookups / sizeof *lookups; i++) {
        const struct lx_graph *g = graph_of(&lookups[i]);
        struct run r = {&lookups[i], g, 0};
        lx_status st;
        comes_back(g);
        struct lx_plan_options how = {.solver = lx_solver_find("auto")};
        struct lx_plan *p = lx_plan_make(g, &how, &st);
        if (!p) fail_msg("%s: %s", st.text, lookups[i].ops);
        if (!lx_plan_check(p, &st)) fail_msg("%s: %s", st.text, lookups[i].ops);
        struct lx_device_options run = {
            .verify = LX_VERIFY_FULL, .input = put, .output = take, .context = &r};
        struct lx_run_result *result = lx_device_run(p, &run, &st);
        if (!result) fail_msg("%s: %s", st.text, lookups[i].ops);
        if (!result->ok)
            fail_msg("%s: %s", result->fault_count ? result->faults[0].text : "wrong", lookups[i].ops);
        assert_true(r.seen > 0);
        lx_run_result_free(result);
        lx_plan_free(p);
        lx_graph_free(g);
    }
}

/* Only what is chosen moves: a row of 256 B each of two tables in HBM, its index, and what comes of it. */
static void only_what_is_chosen_moves(void **state)
{
    (void)state;
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": ["
        "{\"name\": \"x\", \"shape\": [1000, 128], \"role\": \"weight\"},"
        "{\"name\": \"i\", \"shape\": [8], \"dtype\": \"int32\", \"role\": \"input\"},"
        "{\"name\": \"y\", \"shape\": [8, 128]},"
        "{\"name\": \"s\", \"shape\": [1000, 128], \"role\": \"state\"}], \"ops\": ["
        "{\"name\": \"g\", \"kind\": \"gather\", \"inputs\": [\"x\", \"i\"], \"output\": \"y\", \"axis\": 0, "
        "\"einsum\": \"vd,t->td\"},"
        "{\"name\": \"p\", \"kind\": \"scatter\", \"inputs\": [\"s\", \"i\", \"y\"], \"output\": \"s\", "
        "\"inplace\": 0, \"axis\": 0, \"einsum\": \"vd,t,td->vd\"}]}";
    lx_status st;
    const struct lx_graph *g = lx_graph_of_text("t", text, strlen(text), &st);
    assert_non_null(g);
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    assert_non_null(p);
    assert_true(lx_plan_check(p, &st));
    assert_int_equal(p->figures.hbm_bytes, 2 * 8 * 256 + 128);
    lx_plan_free(p);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(they_give_what_was_worked_out),
                                       cmocka_unit_test(only_what_is_chosen_moves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
