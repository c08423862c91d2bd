/* The form of loop nests: a configuration, a pass (or all of them, or the checks), and what comes of it.
 *
 * Each case is put to both rule sets. "document" must give the very nest and the very error number that the
 * document's version gives; where that version's behaviour is undefined, a nest that computes the same will
 * do. "lxplan" must keep the result, pass by pass,
 * and must accept what it has made of a legal contraction. */
#include "cases/cases.h"
#include "base/fail.h"
#include "loops/loops.h"
#include "support/loop_rules.h"

#include <stdlib.h>
#include <string.h>

/* Steps for which nests are run in full: larger ones are sampled. */
static const int64_t run_steps = (int64_t)1 << 25;

static const struct {
    const char *elsewhere, *ours;
} passes[] = {
    {"primitive_identification", "primitives"},
    {"dimension_splitting", "split"},
    {"dimension_fusing", "fuse"},
    {"dimension_reordering_fusing", "reorder_fusing"},
    {"dimension_reordering_shared", "reorder_shared"},
    {"shared_identification", "shared"},
};

static const struct lx_loop_pass *pass_of(const char *name)
{
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (strcmp(passes[i].elsewhere, name) == 0) return lx_loop_pass_find(passes[i].ours);
    return NULL;
}

/* The file's configurations are ours but for the head. */
static bool read_nest(const cJSON *json, struct lx_loops *out, lx_status *st)
{
    struct text body = {0}, all = {0};
    text_json_value(&body, json);
    text_add(&all, "{\"lxplan\": 1, \"kind\": \"loops\", ");
    if (body.at && body.at[0] == '{') text_add(&all, body.at + 1);
    bool ok = lx_loops_parse("case", all.at, all.length, out, st);
    text_free(&body);
    text_free(&all);
    return ok;
}

static void describe(const struct lx_loops *l, struct text *t)
{
    text_format(t, "%s,%s,%s", lx_touch_word(l->first), lx_touch_word(l->main), lx_touch_word(l->last));
    for (int i = 0; i < l->count; i++) {
        const struct lx_loop *p = &l->loop[i];
        text_format(t, " %s/%s %lld(%lld,%lld,%lld)", lx_loop_type_word(p->type), lx_loop_exec_word(p->exec),
                    (long long)p->size, (long long)p->stride[0], (long long)p->stride[1],
                    (long long)p->stride[2]);
    }
}

static void expect_nest(struct cases *c, const struct lx_loops *wanted, const struct lx_loops *got)
{
    struct text w = {0}, g = {0};
    describe(wanted, &w);
    describe(got, &g);
    case_expect(c, lx_loops_equal(wanted, got), "expected %s, got %s", w.at ? w.at : "", g.at ? g.at : "");
    text_free(&w);
    text_free(&g);
}

static bool expect_same(struct cases *c, const char *what, const struct lx_loops *before,
                        const struct lx_loops *after)
{
    lx_status st;
    bool same = lx_loops_same(before, after, 7, run_steps, NULL, &st);
    return case_expect(c, same, "%s does not keep the result: %s", what, same ? "" : st.text);
}

/* The nest after the case's pass, or after all. */
static bool apply(struct cases *c, struct lx_loops *l, const struct lx_loop_pass *pass,
                  const struct lx_loop_rules *rules, int64_t threads)
{
    lx_status st;
    bool ok =
        pass ? lx_loops_run_pass(l, pass, rules, threads, &st) : lx_loops_optimise(l, rules, threads, &st);
    return case_expect(c, ok, "expected a nest, got the error: %s", ok ? "" : st.text);
}

static void as_document(struct cases *c, const cJSON *json, const struct lx_loops *input,
                        const struct lx_loop_pass *pass, int64_t threads)
{
    const struct lx_loop_rules *rules = rules_named("document");
    const cJSON *wanted = cjson_find(json, "expected_seed"), *error = cjson_find(json, "expected_error_seed");
    struct lx_loops after = *input, expected;
    lx_status st;
    if (wanted || pass) {
        if (!apply(c, &after, pass, rules, threads)) return;
        if (cJSON_IsObject(wanted) && case_true(json, "reference_ub"))
            expect_same(c, "the document's rules", input, &after);
        else if (cJSON_IsObject(wanted) &&
                 case_expect(c, read_nest(wanted, &expected, &st), "expected a nest: %s", st.text))
            expect_nest(c, &expected, &after);
    }
    if (error) {
        int got = lx_loops_validate(&after, rules, &st);
        case_expect(c, got == case_int(error, -1), "expected error %lld, got %d (%s)",
                    (long long)case_int(error, -1), got, got ? st.text : "none");
    }
}

/* Legal as it is: nothing but primitives that the user chose can stand in the way of accepting
 * it afterwards. */
static void as_lxplan(struct cases *c, const struct lx_loops *input, const struct lx_loop_pass *pass,
                      int64_t threads)
{
    const struct lx_loop_rules *rules = rules_named("lxplan");
    lx_status st;
    struct lx_loops after = *input;
    if (pass) {
        if (apply(c, &after, pass, rules, threads)) expect_same(c, pass->name, input, &after);
        return;
    }
    for (int i = 0; i < LX_LOOP_PASSES; i++) {
        struct lx_loops before = after;
        const struct lx_loop_pass *next = lx_loop_pass_at(rules, i);
        if (!apply(c, &after, next, rules, threads) || !expect_same(c, next->name, &before, &after)) return;
    }
    expect_same(c, "all passes", input, &after);
    if (lx_loops_validate(input, rules, &st) != 0) return;
    int got = lx_loops_validate(&after, rules, &st);
    case_expect(c, got == 0, "rules lxplan refuse what they made of a legal contraction: %d, %s", got,
                got ? st.text : "");
}

static void run_case(struct cases *c, const cJSON *json)
{
    const char *name = case_text(json, "pass");
    const struct lx_loop_pass *pass = pass_of(name);
    bool only_checks = strcmp(name, "setup_no_optimization") == 0;
    bool all = strcmp(name, "optimize") == 0 || strcmp(name, "setup(optimize+validate)") == 0;
    int64_t threads = case_int(cjson_find(json, "threads"), 1);
    struct lx_loops input;
    lx_status st = {0};
    case_begin(c, "%s/%s", name, case_text(json, "name"));
    if (!read_nest(cjson_find(json, "input"), &input, &st)) {
        /* Lists of unequal length are refused by the reader: the document's number 2. */
        int64_t wanted = case_int(cjson_find(json, "expected_error_seed"), -1);
        case_expect(c, wanted == 2 && st.code == LX_E_LOOP_DIMENSION, "cannot read the nest: %s", st.text);
    } else if (only_checks) {
        int64_t wanted = case_int(cjson_find(json, "expected_error_seed"), -1);
        int got = lx_loops_validate(&input, rules_named("document"), &st);
        case_expect(c, got == wanted, "expected error %lld, got %d (%s)", (long long)wanted, got,
                    got ? st.text : "none");
    } else if (pass || all) {
        as_document(c, json, &input, pass, threads);
        as_lxplan(c, &input, pass, threads);
    } else {
        case_expect(c, false, "there is no pass \"%s\"", name);
    }
    case_end(c, json);
}

static bool fits(const cJSON *root)
{
    const cJSON *first = cJSON_GetArrayItem(cjson_find(root, "cases"), 0);
    return cjson_find(cjson_find(first, "input"), "dim_types") && cjson_find(first, "pass");
}

static void run(struct cases *c, const cJSON *root)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, cjson_find(root, "cases")) run_case(c, one);
}

/* What later versions of the original do (ours are the rules of the document), and whose tests say so. */
static const char *const remarks[] = {"expected_head",
                                      "expected_error_head",
                                      "abort_head",
                                      "abort_seed",
                                      "verified_against_repo_test_head",
                                      "verified_against_repo_test_seed",
                                      NULL};

const struct case_form form_loops = {"loops", fits, run, remarks};
