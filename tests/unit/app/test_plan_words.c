/* What plans and their ops say in words: one word for one thing, a reason wherever no proof is, and no line that
 * contradicts another. */
#include "planning/op_words.h"
#include "export/plan_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A plan of a pattern with "name value ..." set; NULL ends them. */
static const struct lx_plan *plan_of(const char *file, const char *const *set)
{
    struct lx_settings o = {.solvers = lx_solvers()};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    struct lx_plan_options how = {0};
    lx_status st = {0};
    for (; *set; set += 2) assert_true(lx_settings_set(&o, set[0], set[1], &st));
    const struct lx_graph *g = lx_graph_read(file, &st), *sized = g ? lx_settings_graph(&o, g, &st) : NULL;
    if (!sized) fail_msg("%s", st.text);
    assert_true(lx_settings_plan(&o, sized, &how, values, &st));
    const struct lx_plan *p = lx_plan_make(sized, &how, &st);
    if (!p) fail_msg("%s", st.text);
    lx_graph_free(g);
    lx_graph_free(sized);
    return p;
}

#define MOE      SOURCE_DIR "/patterns/graphs/moe_mlp.json"
#define GQ       SOURCE_DIR "/patterns/graphs/gq_attention.json"
#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static bool says(void (*add)(const struct lx_plan *, struct text *), const struct lx_plan *p,
                 const char *words)
{
    struct text t = {0};
    add(p, &t);
    bool found = t.at && strstr(t.at, words);
    if (!found) print_message("looking for \"%s\" in \"%s\"\n", words, t.at ? t.at : "");
    text_free(&t);
    return found;
}

static void add_value(const struct lx_plan *p, struct text *out)
{
    add_value_words(p, true, out);
}

static void every_plan_says_what_is_proved(void **state)
{
    (void)state;
    const struct {
        const char *const *set;
        const char *value, *status;
    } cases[] = {
        {SET("weights", "fixed", "tile", "none", "lx", "60k", "solver", "exact"),
         "MiB, optimal for this work split", "optimal for this work split"},
        {SET("weights", "fixed", "tile", "none", "lx", "60k", "solver", "greedy"), ", proven least ",
         "heuristic: it proves nothing"},
        {SET("weights", "fixed", "tile", "none", "lx", "60k", "evict", "on"), ", proven least ",
         "not proved optimal"},
        {SET("weights", "fixed", "tile", "none", "lx", "60k", "objective", "time"),
         " us end to end, proven least ", "not proved optimal"},
        {SET("weights", "fixed", "tile", "none", "lx", "60k", "solver", "exact", "work", "1"),
         ", proven least ", "the work limit (--work) is reached"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct lx_plan *p = plan_of(MOE, cases[i].set);
        assert_true(says(add_value, p, cases[i].value));
        assert_true(says(add_status_words, p, cases[i].status));
        assert_int_equal(p->answer.status == LX_OPTIMAL, p->unproved == NULL);
        lx_plan_free(p);
    }
}

/* "optimal" alone leaves no other plan: a list has no divisions, and co-optimisation looks at all of them. */
static void optimal_says_of_what(void **state)
{
    (void)state;
    const struct lx_plan *list =
                             plan_of(SOURCE_DIR "/patterns/lists/store_once.json", SET("solver", "exact")),
                         *joint = plan_of(GQ, SET("tile", "none", "lx", "100k", "cooptimise", "full")),
                         *own = plan_of(GQ, SET("tile", "none", "lx", "100k"));
    assert_string_equal(verdict_words(list), "optimal");
    assert_string_equal(verdict_words(joint), "optimal");
    assert_string_equal(verdict_words(own), "optimal for this work split");
    assert_true(joint->figures.hbm_bytes < own->figures.hbm_bytes);
    lx_plan_free(list);
    lx_plan_free(joint);
    lx_plan_free(own);
}

/* Bytes of an op as its operands' words say it, which are those of its row. */
static int64_t bytes_in(const char *words)
{
    int64_t sum = 0;
    for (const char *at = strchr(words, ':'); at; at = strchr(at + 1, ':')) {
        int64_t n = 0;
        for (at += 2; (*at >= '0' && *at <= '9') || *at == ','; at++)
            if (*at != ',') n = n * 10 + (*at - '0');
        sum += n;
    }
    return sum;
}

static void places_add_up(void **state)
{
    (void)state;
    const struct lx_plan *p = plan_of(GQ, SET("lx", "60k", "evict", "on"));
    const struct lx_graph *g = p->layouts->graph;
    for (int32_t o = 0; o < g->op_count; o++) {
        int64_t sum = 0;
        for (int k = 0; k < op_operand_count(&g->ops[o]); k++) {
            struct text t = {0};
            bool twice = k > 0 && k < g->ops[o].input_count && g->ops[o].inputs[k] == g->ops[o].inputs[k - 1];
            add_place_words(p, o, k, &t);
            if (!twice) sum += bytes_in(t.at);
            text_free(&t);
        }
        assert_true(sum <= p->traffic[o].hbm_read + p->traffic[o].hbm_written);
        if (sum == 0) assert_int_equal(p->traffic[o].hbm_read + p->traffic[o].hbm_written, 0);
    }
    lx_plan_free(p);
}

struct reasons {
    int chosen, agreed, smaller, relaid;
};

static void count_splits(const struct lx_plan *p, int32_t o, struct reasons *r)
{
    for (int i = 0; i < p->divisions->at[o].split_count; i++) {
        struct text t = {0};
        add_split_words(p, o, i, &t);
        assert_null(strstr(t.at, "asked for"));
        r->chosen += strncmp(t.at, "co-optimised: ", 14) == 0;
        r->agreed += strstr(t.at, "same split as op ") != NULL;
        r->smaller += strstr(t.at, " per core, alone it would be ") != NULL;
        text_free(&t);
    }
}

static void count_cuts(const struct lx_plan *p, int32_t o, struct reasons *r)
{
    const struct lx_graph *g = p->layouts->graph;
    for (int k = 0; k < g->ops[o].input_count; k++)
        for (int32_t other = 0; other < o; other++) {
            struct text t = {0};
            if (g->ops[other].output != g->ops[o].inputs[k]) continue;
            enum cut_agreement cut = add_cut_words(p, o, k, other, &t);
            assert_int_equal(strncmp(t.at, "split differs from op ", 22) == 0, cut != CUT_SAME);
            r->relaid += cut == CUT_RING && strstr(t.at, "over the ring, ");
            text_free(&t);
        }
}

/* Nobody asked for a division that co-optimisation chose; a cut that differs says what resolves it. */
static void divisions_have_their_reasons(void **state)
{
    (void)state;
    static const char *const files[] = {MOE, SOURCE_DIR "/patterns/graphs/transformer_block.json"};
    struct reasons r = {0};
    for (int i = 0; i < 2; i++) {
        const struct lx_plan *p =
            plan_of(files[i], SET("weights", "fixed", "tile", "none", "lx", "100k", "cooptimise", "full"));
        for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
            count_splits(p, o, &r);
            count_cuts(p, o, &r);
        }
        lx_plan_free(p);
    }
    assert_true(r.chosen > 0 && r.agreed > 0 && r.smaller > 0 && r.relaid > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plan_says_what_is_proved),
        cmocka_unit_test(optimal_says_of_what),
        cmocka_unit_test(places_add_up),
        cmocka_unit_test(divisions_have_their_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
